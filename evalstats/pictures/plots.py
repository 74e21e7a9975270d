"""The figures of results: tables with their intervals, curves, bars.

Every function draws into `ax`, or into a new figure of suitable height, and returns the axes;
several metrics have panels one below the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from evalstats.errors import Argument, InputError
from evalstats.pictures.figures import (
    BLUE,
    FRAME,
    GREY,
    LABEL,
    SERIES,
    SMALL,
    VERMILLION,
    centres_of,
    edges_of,
    legend_below,
    name_axes,
    name_rows,
    own_axes,
    panels,
    wrapped,
)
from evalstats.pictures.marks import Curve, Limit, drawing, written
from evalstats.pictures.tables import tables as tables
from evalstats.results.layout import comparison_tables, score_tables
from evalstats.results.records import Difference, metric_name, of_metric, plural

if TYPE_CHECKING:
    from evalstats.analysis.comparison import Comparison
    from evalstats.pictures.figures import Axes, Panels
    from evalstats.questions.influence import Influence
    from evalstats.questions.looks import Looks
    from evalstats.results.estimates import Estimate

#: Scores of systems on tasks, up to which there is a table for each task.
_MOST_SCORES = 48
#: Inches: a curve.
_CURVE = 2.4
#: Characters of the label of a segment's bar.
_SAID = 2 * LABEL - 2
#: Intervals of smaller levels are cut off in a figure of looks.
_SMALL_LEVEL = 1e-3


def differences(comparison: Comparison, asked: Sequence[Difference], ax: Panels | None) -> Panels:
    """Draw the tables of differences, or where there are too many pairs those of scores."""
    each_task = len(comparison.estimates.rows) <= _MOST_SCORES
    tables_of = comparison_tables(comparison, asked=asked, each_task=each_task)
    shown = drawing(table.brief() for table in tables_of if not table.is_detail)
    of_pairs = [table for table in shown if table.forest and table.forest.null is not None]
    return tables(of_pairs or shown, ax)


def scores(
    estimates: Sequence[Estimate], metric: str | None = None, ax: Panels | None = None
) -> Panels:
    """Draw the tables of scores; only totals if there are too many systems."""
    rows = estimates if metric is None else of_metric(estimates, metric)
    totals = [e for e in rows if e.aggregate is not None]
    shown = drawing(score_tables(rows)) or score_tables(totals)
    return tables((table.brief() for table in shown), ax)


def influences(influence: Influence, n: int, ax: Axes | None = None) -> Axes:
    """Draw a bar for each of the first segments, the most influential on top."""
    values, labels = influence.values[:n], list(influence.ids[:n])
    if influence.texts:
        # The beginning of the output is a better label than a number.
        outputs = (" ".join(output.split()) for _, output in influence.texts)
        labels = [f"{x}: {output}" for x, output in zip(labels, outputs, strict=True)]
    labels = [x if len(x) <= _SAID else f"{x[: _SAID - 1].rstrip()}…" for x in labels]
    axes = own_axes(ax, FRAME + float(edges_of(labels)[-1]))
    edges = name_rows(axes, labels)
    colours = [BLUE if value > 0 else VERMILLION for value in values]
    axes.barh(centres_of(edges), values, 0.7 * float(min(edges[1:] - edges[:-1])), color=colours)
    axes.axvline(0, color=GREY, linewidth=0.6)
    below = f"influence: without the {influence.unit}, the difference is smaller by about this"
    name_axes(axes, influence.name.replace(" - ", " − "), below)
    return axes


def curves(shown: Sequence[Curve], ax: Panels | None = None) -> Panels:
    """Draw curves, one below the other."""
    return panels(_curve, shown, ax, [_CURVE] * len(shown))


def _curve(curve: Curve, axes: Axes) -> None:
    """Draw lines over a size, with the target and the place of a plan."""
    if len(curve.lines) > len(SERIES):
        raise InputError(
            f"{len(curve.lines)} pairs are too many for a plot (at most {len(SERIES)}); pass a ",
            Argument("baseline"),
            ", or fewer systems",
        )
    across, up = curve.axes
    axes.set_xscale("log")
    axes.set_yscale("log" if curve.target is None else "linear")
    for (name, points), (colour, _) in zip(curve.lines.items(), SERIES, strict=False):
        axes.plot(
            *zip(*points, strict=True), "-", color=colour, linewidth=1.2, label=wrapped(name, 30)
        )
    for axis, ticks in zip((axes.xaxis, axes.yaxis), curve.ticks, strict=True):
        axis.set_ticks(ticks, [written(tick) for tick in ticks])
        axis.set_ticks([], minor=True)
    axes.set_xlim(*across)
    axes.set_ylim(*up)
    axes.axvline(curve.at, color=GREY, linewidth=0.6, linestyle=":", zorder=0)
    if curve.target is not None:
        axes.axhline(curve.target, color=GREY, linewidth=0.8, linestyle="--", zorder=0)
    axes.set_ylabel(wrapped(curve.up, 28), fontsize=SMALL)
    name_axes(axes, curve.title, f"{curve.across}, dotted: {curve.at:,.10g}")
    if len(curve.lines) > 1:
        # Below the axes, to avoid the curves.
        legend_below(axes)


def growth(looks: Looks, ax: Axes | None = None) -> Axes:
    """Draw the difference at each look, its interval, the limit, and where it was decided."""
    axes, shown, last = own_axes(ax, 2.5), looks.looks, looks.last
    limit = Limit(looks.margin, looks.recovery, of_loss=True)
    at = [look.n_units for look in shown]
    if not limit.is_none:
        axes.axhline(0.0, color=GREY, linewidth=0.6, zorder=0)
    end = last.planned or at[-1]
    ends = [limit.bounds(look.difference) or (0.0, np.inf) for look in shown]
    line = [low if np.isfinite(low) else high for low, high in ends]
    axes.plot([*at, max(end, at[-1])], [*line, line[-1]], "--", color=VERMILLION, linewidth=0.9)
    axes.vlines(at, [x.low for x in shown], [x.high for x in shown], colors=BLUE, linewidth=1.2)
    axes.plot(at, [x.difference.difference for x in shown], "-", color=BLUE, linewidth=0.8)
    for look in shown:
        face = BLUE if look.verdict != "go on" else "white"
        place = look.n_units, look.difference.difference
        axes.plot(*place, "o", color=BLUE, markerfacecolor=face, markersize=4, zorder=4)
    # The scale fits the limit and the intervals. The first ones may exceed it, with an arrow.
    within = [x for x in shown if x.level > _SMALL_LEVEL] or [last]
    low, high = min(*line, *(x.low for x in within)), max(*line, *(x.high for x in within))
    low, high = low - 0.1 * (high - low), high + 0.1 * (high - low)
    axes.set_ylim(low, high)
    above = [x.n_units for x in shown if x.high > high]
    below = [x.n_units for x in shown if x.low < low]
    for edge, arrow, cut in ((high, "^", above), (low, "v", below)):
        axes.plot(cut, [edge] * len(cut), arrow, color=BLUE, markersize=4, clip_on=False, zorder=3)
    axes.set_xlim(0, 1.03 * end)
    axes.set_ylabel(f"difference in {metric_name(last.difference)}", fontsize=SMALL)
    if not limit.is_none:
        # At the beginning of the line, since the decision is at its end.
        axes.annotate(
            limit.named(line[0]),
            (0.0, line[0]),
            (3, 1.5),
            textcoords="offset points",
            fontsize=SMALL - 0.5,
            va="bottom",
        )
    said = [looks.interval, "filled: decided"] + ["dashed: 0"] * limit.is_none
    said += ["arrow: goes on"] if above or below else []
    title = f"{last.difference.system} − {last.difference.baseline}: {looks.verdict}"
    name_axes(axes, title, plural(last.unit), "; ".join(said))
    return axes
