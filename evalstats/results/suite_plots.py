"""Forest plots of suites: a row a task, and the total below a line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evalstats.errors import InputError
from evalstats.results import report
from evalstats.results.contrasts import contrast_of
from evalstats.results.plots import (
    BLUE,
    GREY,
    SMALL,
    VERMILLION,
    centres_of,
    name_axes,
    rows_axes,
    wrapped,
)
from evalstats.results.records import distinct
from evalstats.results.suite_layout import panels
from evalstats.results.suite_records import R

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_ROWS = 120
#: Colours and marks of systems (Okabe and Ito, 2008).
_SYSTEMS = ((BLUE, "o"), (VERMILLION, "s"), ("#009E73", "^"), ("#CC79A7", "v"), ("#E69F00", "P"))
#: Inches between the whiskers of systems on one task.
_APART = 0.075
#: Characters of a system's name in the legend.
_LEGEND = 22


def scores(suite: Any, metric: str | None = None, ax: Axes | None = None) -> Axes:
    """Draw the scores of up to five systems on every task and in total."""
    panel = _panel(suite.estimates, metric)
    systems = distinct(e.system for e in panel)
    if len(systems) > len(_SYSTEMS):
        raise InputError(
            f"{len(systems)} systems are too many for a figure of tasks, which shows "
            f"{len(_SYSTEMS)}; give those of some systems to Suite"
        )
    extra = 0.12 * len(systems) if len(systems) > 1 else 0.0
    taller = _APART * (len(systems) - 1)
    axes, middles = _axes(ax, panel, extra, taller)
    for i, (system, (colour, marker)) in enumerate(zip(systems, _SYSTEMS, strict=False)):
        some = [e for e in panel if e.system == system]
        places = middles + _APART * (i - (len(systems) - 1) / 2)
        axes.hlines(places, [e.low for e in some], [e.high for e in some], colors=colour,
                    linewidth=1.2)  # fmt: skip
        values = [e.score for e in some]
        axes.plot(
            values, places, marker, color=colour, markersize=4, label=wrapped(system, _LEGEND)
        )
    level = report.level(panel[0].confidence_level)
    name_axes(axes, f"Scores, {_counted(panel)}", f"{_named(panel)}, {level}")
    if len(systems) > 1:
        axes.legend(
            loc="upper right", bbox_to_anchor=(1.0, 0.0), bbox_transform=_below(axes),
            fontsize=SMALL, frameon=False, ncols=2,
        )  # fmt: skip
    return axes


def differences(
    suite: Any,
    metric: str | None = None,
    system: str | None = None,
    baseline: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the differences of one pair on every task and in total."""
    found = _panel(suite.differences, metric)
    chosen = [d for d in found if system in (None, d.system) and baseline in (None, d.baseline)]
    pairs = distinct(f"{d.system!r} and {d.baseline!r}" for d in chosen)
    if len(pairs) != 1:
        every = distinct(f"{d.system!r} and {d.baseline!r}" for d in found)
        raise InputError(
            f"a figure is of one pair; give system and baseline, one of {'; '.join(every)}"
        )
    contrast, first = contrast_of(suite.contrast), chosen[0]
    axes, middles = _axes(ax, chosen, 0.15, labels=[d.task for d in chosen])
    axes.axvline(contrast.null, color=GREY, linewidth=0.6, zorder=0)
    for d, y in zip(chosen, middles, strict=True):
        sure = suite.significant(d) and d.winner is not None
        colour = GREY if not sure else BLUE if d.winner == d.system else VERMILLION
        axes.hlines(y, d.low, d.high, colors=colour, linewidth=1.2 if d.aggregate is None else 2)
        marker, width = ("o", 4) if d.aggregate is None else ("D", 5)
        face = colour if sure else "white"
        axes.plot(d.value, y, marker, color=colour, markerfacecolor=face, markersize=width)
    level = report.level(suite.confidence_level)
    name_axes(
        axes,
        f"{first.system} {contrast.sign} {first.baseline}, {_counted(chosen)}",
        f"{contrast.column} {contrast.within} {_named(chosen)}, {level}",
        f"filled: {suite.shown_pvalue()} ≤ {suite.significance_level:g}",
    )
    return axes


def _panel(rows: Sequence[R], metric: str | None) -> list[R]:
    """Return the rows of one metric, or of the only table there is."""
    every = panels(rows)
    fitting = [p for p in every if metric is None or p[0].metric.lower() == metric.lower()]
    if len(fitting) != 1:
        names = ", ".join(panel[0].metric for panel in every)
        raise InputError(f"metric must be one of {names}; got {metric!r}")
    return fitting[0]


def _axes(
    ax: Axes | None,
    rows: Sequence[R],
    extra: float = 0.0,
    taller: float = 0.0,
    labels: Sequence[str] | None = None,
) -> tuple[Axes, NDArray[np.float64]]:
    """Return axes with a row for each task, a line above the total, and the rows' middles."""
    names = distinct(row.task for row in rows) if labels is None else labels
    if len(names) > _MOST_ROWS:
        raise InputError(
            f"{len(names)} rows are too many for a figure, which shows {_MOST_ROWS}; draw a Suite "
            f"of some tasks"
        )
    n_totals = len({row.task for row in rows if row.aggregate is not None})
    axes, edges = rows_axes(ax, names, extra=extra, taller=taller)
    axes.locator_params(axis="x", nbins=5)
    if n_totals:
        axes.axhline(edges[-1 - n_totals], color=GREY, linewidth=0.6)
    return axes, centres_of(edges)


def _below(axes: Axes) -> Any:
    """Return the transform of the axes, shifted to below the axis label."""
    from matplotlib.transforms import ScaledTranslation

    shift = ScaledTranslation(0, -0.35, axes.figure.dpi_scale_trans)
    return axes.transAxes + shift


def _counted(rows: Sequence[R]) -> str:
    n_tasks = len({row.task for row in rows if row.aggregate is None})
    return f"{n_tasks} task{'s' * (n_tasks > 1)}"


def _named(rows: Sequence[R]) -> str:
    metrics = distinct(row.metric for row in rows if row.aggregate is None)
    shown = metrics[0] if len(metrics) == 1 else "scores"
    return f"{shown} {report.direction(rows[0].higher_is_better)}"
