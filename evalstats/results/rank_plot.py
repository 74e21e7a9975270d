"""The figure of a ranking: ranks with their intervals, and the tiers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from evalstats.results import report
from evalstats.results.plots import BLUE, GREY, SKY, SMALL, centres_of, name_axes, rows_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Letters beside a row; more would leave no room for the ranks.
_LETTERS = 8


def ranks(
    systems: Sequence[Any], metric: str, confidence_level: float, ax: Axes | None = None
) -> Axes:
    """Draw the ranks of systems, best first, with the letters of their tiers to the right.

    The thick line is the interval of a system alone, the thin one that of all systems at once. Of
    long tiers the first letters are shown. `Ranking.plot` is the way here.
    """
    axes, edges = rows_axes(ax, [r.system for r in systems])
    rows = centres_of(edges)
    axes.hlines(
        rows,
        [r.simultaneous_low for r in systems],
        [r.simultaneous_high for r in systems],
        color=SKY,
        linewidth=1,
    )
    low, high = [r.low for r in systems], [r.high for r in systems]
    axes.hlines(rows, low, high, color=BLUE, linewidth=2.5)
    axes.plot([r.rank for r in systems], rows, "o", color="white", markeredgecolor=BLUE, ms=3.5)
    for row, tier in zip(rows, [r.tier for r in systems], strict=True):
        axes.annotate(
            tier if len(tier) <= _LETTERS else f"{tier[: _LETTERS - 1]}…",
            (1.02, row),
            xycoords=("axes fraction", "data"),
            va="center",
            fontsize=SMALL,
            color=GREY,
            annotation_clip=False,
        )
    axes.set_xlim(0.5, len(systems) + 0.5)
    level = report.level(confidence_level)
    name_axes(axes, f"Ranks by {metric}", f"rank, {level}", "thin: all at once; letters: tiers")
    return axes
