"""The figure of a plan: what a test finds, over the number of segments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from evalstats.errors import InputError
from evalstats.results import report
from evalstats.results.plots import BLUE, GREY, SKY, SMALL, VERMILLION, name_axes, own_axes, wrapped
from evalstats.results.records import PairPower, of_metric

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: More lines than these are told apart by nobody; each has a colour and a marker of its own.
_LINES = ((BLUE, "o"), (VERMILLION, "s"), ("#009E73", "^"), ("#CC79A7", "D"), (SKY, "v"))


def power(
    pairs: Sequence[PairPower],
    unit: str,
    planned: int,
    *,
    difference: float | None,
    target: float,
    metric: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw power for a difference over the number of segments, or of runs, one line a pair.

    Without a difference: the least one that is found with the target power. `Power.plot` is the
    way here. More than five pairs raise an `InputError`: plan with a baseline, or fewer systems.
    """
    shown = of_metric(pairs, metric)
    if len(shown) > len(_LINES):
        raise InputError(
            f"{len(shown)} pairs are too many lines, {len(_LINES)} is the most; plan with "
            f"baseline=, or with fewer systems"
        )
    axes = own_axes(2.4) if ax is None else ax
    axes.set_xscale("log")
    for pair, (colour, marker) in zip(shown, _LINES, strict=False):
        sizes, values = pair.sizes, pair.minimums if difference is None else pair.powers
        if unit == "run" and (of := pair.of_runs) is not None:
            sizes, values = of.runs, of.run_minimums if difference is None else of.run_powers
        heights = [np.nan if value is None else value for value in values]
        axes.plot(
            sizes,
            heights,
            color=colour,
            marker=marker,
            markersize=3,
            linewidth=1,
            label=wrapped(f"{pair.system} − {pair.baseline}", 30),
        )
    axes.axvline(planned, color=GREY, linewidth=0.6, linestyle=":", zorder=0)
    about = f"{shown[0].metric} {report.direction(shown[0].higher_is_better)}"
    if difference is None:
        axes.set_yscale("log")
        axes.set_ylabel(wrapped(f"least difference in {about}", 28), fontsize=SMALL)
        title = f"Found with power {target:g}"
    else:
        axes.set_ylim(0, 1.02)
        axes.axhline(target, color=GREY, linewidth=0.6, linestyle=":", zorder=0)
        axes.set_ylabel("power", fontsize=SMALL)
        title = f"Power for a difference of {difference:g} in {about}"
    name_axes(axes, title, f"{unit}s, dotted: {planned:,}")
    axes.tick_params(which="minor", labelsize=SMALL - 1)
    axes.legend(fontsize=SMALL - 1, frameon=False)
    return axes
