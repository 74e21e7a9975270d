"""The figure of an influence: the segments, or groups, that move a difference most."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from evalstats.results.plots import BLUE, GREY, VERMILLION, centres_of, name_axes, rows_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def influences(
    ids: Sequence[str], values: Sequence[float], title: str, unit: str, ax: Axes | None = None
) -> Axes:
    """Draw a bar for each segment, the most influential first; `Influence.plot` is the way here."""
    axes, edges = rows_axes(ax, ids)
    rows = centres_of(edges)
    colours = [BLUE if value > 0 else VERMILLION for value in values]
    height = 0.7 * float(min(edges[1:] - edges[:-1]))
    axes.barh(rows, values, height, color=colours)
    axes.axvline(0, color=GREY, linewidth=0.6)
    axes.locator_params(axis="x", nbins=5)
    name_axes(axes, title, f"influence: without the {unit}", "the difference is less by about this")
    return axes
