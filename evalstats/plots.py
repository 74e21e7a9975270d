"""Figures, for a paper's column; the results' `plot` methods draw the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalstats.errors import InputError
from evalstats.inference.influence import influence_values
from evalstats.results import report
from evalstats.results.plots import (
    BLUE,
    GREY,
    SMALL,
    VERMILLION,
    differences,
    name_axes,
    own_axes,
    pvalues,
    replicates,
    scores,
    wrapped,
)
from evalstats.results.power_plot import power
from evalstats.statistics.segments import SegmentStatistics
from evalstats.training.curves import curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["curve", "differences", "influence", "power", "pvalues", "replicates", "scores"]

#: Segments that the figure of influence names.
_MARKED = 5


def influence(
    statistics: SegmentStatistics, system: str, baseline: str, ax: Axes | None = None
) -> Axes:
    """Draw how much each segment moves the difference of two systems.

    Without the segment, the difference would be smaller by about this much (the infinitesimal
    jackknife; Jaeckel, 1972). The five that move it most are marked and named: read these first.

    Parameters
    ----------
    statistics : SegmentStatistics
        With both systems.
    system, baseline : str
        Names; the difference is system minus baseline.
    ax : matplotlib Axes, optional
        Where to draw.
    """
    for name in (system, baseline):
        if name not in statistics.systems:
            raise InputError(f"systems are {', '.join(statistics.systems)}; got {name!r}")
    pair = [statistics.systems.index(name) for name in (system, baseline)]
    first, second = influence_values(statistics.metric, statistics.values[pair].astype(np.float64))
    values = first - second
    axes = own_axes(2.2) if ax is None else ax
    colours = np.where(values > 0, BLUE, VERMILLION)
    places = np.arange(len(values))
    axes.vlines(places, 0, values, colors=colours.tolist(), linewidth=0.7)
    axes.axhline(0, color=GREY, linewidth=0.6)
    top = np.argsort(-np.abs(values), kind="stable")[:_MARKED]
    for i in top:
        marker = "^" if values[i] > 0 else "v"
        axes.plot(i, values[i], marker, color=colours[i], markersize=3, clip_on=False)
    names = statistics.segment_ids or [str(i) for i in places]
    marked = ", ".join(names[i] for i in top)
    name_axes(axes, f"{system} − {baseline}", "segment", f"marked: {marked}")
    arrow = report.direction(statistics.metric.higher_is_better)
    axes.set_ylabel(wrapped(f"influence on {statistics.metric.name} {arrow}", 28), fontsize=SMALL)
    return axes
