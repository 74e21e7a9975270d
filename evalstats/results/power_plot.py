"""The figure of a plan: what a test finds, over the number of segments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from evalstats.errors import InputError
from evalstats.results import report
from evalstats.results.plots import BLUE, GREY, SKY, SMALL, VERMILLION, name_axes, own_axes, wrapped
from evalstats.results.records import PairPower

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: More lines than these are told apart by nobody; each has a colour and a marker of its own.
_LINES = ((BLUE, "o"), (VERMILLION, "s"), ("#009E73", "^"), ("#CC79A7", "D"), (SKY, "v"))
_HEIGHT = 2.4  # inches


def power(
    panels: Sequence[Sequence[PairPower]],
    unit: str,
    planned: int,
    difference: float | None,
    target: float,
    ax: Any = None,
) -> Any:
    """Draw power for a difference over the number of segments, or of runs, one line a pair.

    Without a difference: the least one that is found with the target power. Each metric has a
    panel. `Power.plot` is the way here.
    """
    if any(len(pairs) > len(_LINES) for pairs in panels):
        raise InputError(
            f"{len(panels[0])} pairs are too many lines, {len(_LINES)} is the most; plan with "
            f"baseline=, or with fewer systems"
        )
    if ax is None:
        figure: Any = own_axes(_HEIGHT * len(panels)).figure
        figure.clear()
        ax = figure.subplots(len(panels), 1)
    axes = np.ravel(ax)
    if len(axes) != len(panels):
        raise InputError(f"ax must be {len(panels)} axes, one for each metric, got {len(axes)}")
    for one, pairs in zip(axes, panels, strict=True):
        _panel(one, pairs, unit, planned, difference, target)
    return axes if len(panels) > 1 else axes[0]


def _panel(
    axes: Axes,
    pairs: Sequence[PairPower],
    unit: str,
    planned: int,
    difference: float | None,
    target: float,
) -> None:
    axes.set_xscale("log")
    for pair, (colour, marker) in zip(pairs, _LINES, strict=False):
        sizes, values = pair.sizes, pair.minimums if difference is None else pair.powers
        if unit == "run" and (of := pair.of_runs) is not None:
            sizes, values = of.runs, of.run_minimums if difference is None else of.run_powers
        heights = [np.nan if value is None else value for value in values]
        name = wrapped(f"{pair.system} − {pair.baseline}", 30)
        axes.plot(sizes, heights, marker, ls="-", color=colour, ms=3, lw=1, label=name)
    axes.axvline(planned, color=GREY, linewidth=0.6, linestyle=":", zorder=0)
    about = f"{pairs[0].metric} {report.direction(pairs[0].higher_is_better)}"
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
