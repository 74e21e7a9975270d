"""The figure of a training run: scores with their intervals, step by step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from evalstats.pictures.figures import (
    BLUE,
    GREY,
    SKY,
    SMALL,
    VERMILLION,
    name_axes,
    own_axes,
    wrapped,
)
from evalstats.results import tabular
from evalstats.results.records import counted
from evalstats.training.check_records import Checkpoint, Selected

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: With up to so many checks, each has a bar; with up to so many, each has an open marker.
_BARS, _OPEN = 25, 60


def curve(
    checks: Sequence[Checkpoint],
    selected: Selected,
    n_segments: int,
    unit: str,
    ax: Axes | None = None,
) -> Axes:
    """Draw the scores of at least one check with their intervals, and the corrected one.

    Filled markers are real improvements; the others are open, and left out beyond 60 checks. Up to
    25 checks have a bar each, more a band.
    """
    axes = own_axes(ax, 2.5)
    _draw_checks(axes, checks)
    _draw_selected(axes, checks, selected)
    _name_ticks(axes, [check.step for check in checks])
    name_axes(
        axes,
        f"{counted(len(checks), 'check')}, {counted(n_segments, unit)}",
        "step",
        "filled: real improvement; diamond: corrected",
    )
    levels = " and ".join(f"{100 * x:.10g}" for x in sorted({c.confidence_level for c in checks}))
    arrow = tabular.direction(checks[0].higher_is_better)
    axes.set_ylabel(wrapped(f"{checks[0].metric} {arrow}, {levels} % interval", 28), fontsize=SMALL)
    return axes


def _draw_checks(axes: Axes, checks: Sequence[Checkpoint]) -> None:
    """Draw the scores with their intervals; filled markers where there is a real improvement."""
    steps = np.array([check.step for check in checks], dtype=np.float64)
    scores, lows, highs = (
        np.array([getattr(c, k) for c in checks]) for k in ("score", "low", "high")
    )
    if len(checks) <= _BARS:
        axes.vlines(steps, lows, highs, colors=SKY, linewidth=3.5, zorder=1)
    else:
        axes.fill_between(steps, lows, highs, color=SKY, alpha=0.6, linewidth=0, zorder=1)
    axes.plot(steps, scores, "-", color=BLUE, linewidth=0.8, zorder=2)
    for check in checks:
        if check.improved:
            axes.plot(check.step, check.score, "o", color=BLUE, markersize=4, zorder=4)
        elif len(checks) <= _OPEN:
            axes.plot(
                check.step,
                check.score,
                "o",
                color=GREY,
                markerfacecolor="white",
                markersize=3,
                markeredgewidth=0.7,
                zorder=3,
            )


def _draw_selected(axes: Axes, checks: Sequence[Checkpoint], selected: Selected) -> None:
    """Draw the corrected score, with a label above the curve (below, if lower is better)."""
    axes.vlines(
        selected.step, selected.low, selected.high, colors=VERMILLION, linewidth=1.2, zorder=5
    )
    axes.plot(
        selected.step,
        selected.corrected,
        "D",
        color=VERMILLION,
        markerfacecolor="none",
        markersize=6,
        zorder=6,
    )
    higher = checks[0].higher_is_better
    bottom = min(selected.low, *(check.low for check in checks))
    top = max(selected.high, *(check.high for check in checks))
    span = float(top - bottom) or 1.0
    limits = (bottom - 0.05 * span, top + 0.38 * span)
    axes.set_ylim(*(limits if higher else (bottom - 0.38 * span, top + 0.05 * span)))
    left, right = axes.get_xlim()
    place = (selected.step - left) / (right - left)
    decimals = tabular.decimals([selected.standard_error])
    observed, corrected = (
        tabular.number(value, decimals) for value in (selected.score, selected.corrected)
    )
    axes.annotate(
        f"step {selected.step:,}: {observed}\ncorrected: {corrected}",
        (selected.step, selected.high if higher else selected.low),
        (selected.step, 0.99 if higher else 0.01),
        textcoords=("data", "axes fraction"),
        ha="left" if place < 1 / 3 else "right" if place > 2 / 3 else "center",
        va="top" if higher else "bottom",
        color=VERMILLION,
        fontsize=SMALL,
        arrowprops={"arrowstyle": "-", "color": VERMILLION, "linewidth": 0.6, "linestyle": ":"},
    )


def _name_ticks(axes: Axes, steps: Sequence[int]) -> None:
    from matplotlib.ticker import FixedLocator, MaxNLocator, ScalarFormatter, StrMethodFormatter

    locator = MaxNLocator(5, integer=True) if len(steps) > 1 else FixedLocator(steps)
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    axes.yaxis.set_major_locator(MaxNLocator(5))
    axes.yaxis.set_major_formatter(ScalarFormatter(useOffset=False))
