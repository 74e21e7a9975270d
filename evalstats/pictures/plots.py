"""The figures of results: rows of marks, a matrix of p-values, ranks, curves, bars.

Every function draws into `ax`, or into a figure as high as its rows need, and returns the axes; of
several metrics, panels one below the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evalstats.errors import InputError
from evalstats.pictures.figures import (
    BAND,
    BLUE,
    GREY,
    SERIES,
    SKY,
    SMALL,
    VERMILLION,
    centres_of,
    forest,
    legend_below,
    name_axes,
    own_axes,
    panels,
    room_of,
    rows_axes,
    wrapped,
)
from evalstats.pictures.findings import difference_panel, score_panel, significance
from evalstats.results.lookup import of_metric, of_task
from evalstats.results.marks import (
    Limit,
    Panel,
    metric_groups,
    metric_of,
    oriented,
)
from evalstats.results.records import (
    Difference,
    by_metric,
    by_pair,
    counted,
    distinct,
    has_tasks,
    metric_name,
    plural,
    ranked,
)

if TYPE_CHECKING:
    from evalstats.analysis.comparison import Comparison
    from evalstats.designs.looks.looks import Looks
    from evalstats.pictures.figures import Axes, Panels
    from evalstats.questions.influence.influence import Influence
    from evalstats.questions.power.planned import PairPower, Power
    from evalstats.results.estimates import Estimate

#: More rows than these are no figure any more: of pairs, of tasks.
MOST_PAIRS, _MOST_TASKS = 40, 120
#: Pairs that have a panel of their tasks each.
_MOST_PANELS = 6
_ANNOTATED = 9
_COLOURS = {"better": BLUE, "worse": VERMILLION, "open": GREY}
_BINS = (0.0, 0.001, 0.01, 0.05, 0.1, 1.0)
#: Dark blue for what is sure, nearly white for what is not; cells of white ink are dark enough.
_SHADES = ("#08306B", "#2A6299", "#8FBBDC", "#DCE3EA", "#F3F4F6")
#: Characters of a system's name below a column.
_COLUMN = 18
#: Points of room for the names of all columns of a matrix.
_COLUMNS_POINTS = 110
#: Inches between the whiskers of systems on one task.
_BETWEEN = 0.075
#: Intervals of smaller levels are cut off where they leave a figure of looks.
_SMALL_LEVEL = 1e-3


def draw(shown: Sequence[Panel], ax: Panels | None = None, beside: bool = False) -> Panels:
    """Draw panels of rows, one below the other, or `beside` one another where rows are alike."""
    return panels(lambda panel, own: _rows([panel], own), shown, ax, beside)


def _rows(series: Sequence[Panel], ax: Axes | None, names: Sequence[str] = ("",)) -> Axes:
    """Draw the marks of a panel, or side by side those of panels of the same rows, by name."""
    first, n = series[0], len(series)
    labels = [mark.label or mark.name for mark in first.marks]
    if len(labels) > _MOST_TASKS:
        raise InputError(
            f"{len(labels)} rows are too many for a figure, which shows {_MOST_TASKS}; draw a "
            f"Suite of some tasks"
        )
    extra = 0.12 * n if n > 1 else 0.15 if len(first.below) > 1 else 0.0
    axes, edges = rows_axes(ax, labels, extra=extra, taller=_BETWEEN * (n - 1))
    n_totals = sum(mark.is_total for mark in first.marks)
    if 0 < n_totals < len(labels):
        axes.axhline(edges[-1 - n_totals], color=GREY, linewidth=0.6)
    for mark, top, bottom in zip(first.marks, edges[:-1], edges[1:], strict=True):
        # What lies within the limits is a light band, and the limits are dashed.
        if band := mark.band(first.null):
            axes.fill_betweenx([top, bottom], *band, color=BAND, linewidth=0, zorder=0)
        for end in mark.ends:
            axes.plot([end, end], [top, bottom], "--", color="black", linewidth=0.8, zorder=1)
    if first.null is not None:
        axes.axvline(first.null, color=GREY, linewidth=0.6, zorder=0)
    for i, (panel, name, (colour, shape)) in enumerate(zip(series, names, SERIES, strict=False)):
        marks = panel.marks
        forest(
            axes,
            [(mark.value, mark.low, mark.high) for mark in marks],
            centres_of(edges) + _BETWEEN * (i - (n - 1) / 2),
            [_COLOURS.get(mark.kind, colour) for mark in marks],
            filled=[mark.kind != "open" for mark in marks],
            # Of scores a shape is a system's.
            marks=["D" if m.is_total and m.kind != "plain" else shape for m in marks],
            label=wrapped(name, 22),
        )
    name_axes(axes, first.heading, *first.below)
    if n > 1:
        legend_below(axes)
    return axes


def scores(
    estimates: Sequence[Estimate], metric: str | None = None, ax: Panels | None = None
) -> Panels:
    """Draw scores with their intervals: systems best first, or a row a task and the total below."""
    groups = metric_groups(estimates, metric)
    order = [] if has_tasks(estimates) else [e.system for e in ranked(groups[0])]
    return panels(partial(_scores, order), groups, ax, beside=bool(order))


def _scores(order: Sequence[str], estimates: Sequence[Estimate], ax: Axes | None) -> Axes:
    """Draw the scores of systems in an order, or side by side those on tasks."""
    systems = distinct(e.system for e in estimates)
    rows = _fitting(estimates, len(systems), len(SERIES), "systems")
    if not has_tasks(rows):
        return _rows([score_panel(_in_order(order, rows))], ax)
    series = [score_panel([e for e in rows if e.system == name], name) for name in systems]
    return _rows(series, ax, systems)


def _in_order(order: Sequence[str], estimates: Sequence[Estimate]) -> list[Estimate]:
    """Return the scores of systems in an order, those of others, of which there are none, last."""
    return sorted(ranked(estimates), key=lambda e: order.index(e.system) if order else 0)


def differences(
    comparison: Comparison,
    metric: str | None,
    ax: Panels | None,
    system: str | None,
    baseline: str | None,
) -> Panels:
    """Draw differences with their intervals, the largest first; of tasks, a panel a pair."""
    found = [d for d in comparison if system in (None, d.system) and baseline in (None, d.baseline)]
    if not found:
        raise InputError(f"there is no pair of {system!r} and {baseline!r}")
    groups: list[list[Difference]] = []
    for some in metric_groups(found, metric):
        # The rows of each pair on tasks; of one task, and of totals, all pairs together.
        fitting = _fitting(some, len(by_pair(some)), _MOST_PANELS, "pairs")
        groups += by_pair(fitting).values() if has_tasks(fitting) else [fitting]
    beside = not any(map(has_tasks, groups)) and len({len(group) for group in groups}) == 1
    order = oriented(comparison, groups[0]) if beside else []
    for i, group in enumerate(groups):
        if has_tasks(group):
            continue
        if len(group) > MOST_PAIRS:
            raise InputError(
                f"{len(group)} differences are too many rows; use plot_pvalues(), or compare with "
                f"baseline="
            )
        if order:
            # Each panel has the pairs of the first, in its order and direction.
            known = {(d.system, d.baseline): d for d in (*(d.turned() for d in group), *group)}
            groups[i] = [known[d.system, d.baseline] for d in order]
        else:
            groups[i] = oriented(comparison, group)
    return draw([difference_panel(comparison, group) for group in groups], ax, beside)


def _fitting(rows: Sequence[Any], n: int, most: int, what: str) -> list[Any]:
    """Return the rows; of tasks, where more are side by side than can be shown, the totals."""
    if not has_tasks(rows) or n <= most:
        return list(rows)
    if totals := [row for row in rows if row.aggregate is not None]:
        return totals
    raise InputError(
        f"{n} {what} are too many for a figure of tasks without a total, which shows {most}; take "
        f"some of them"
    )


def pvalues(
    comparison: Comparison,
    metric: str | None = None,
    ax: Panels | None = None,
    task: str | None = None,
) -> Panels:
    """Draw the adjusted p-values of all pairs, best first; a dot is a significant difference."""
    if comparison.baseline is not None:
        raise InputError(
            "plot_pvalues needs all pairs, but this comparison has a baseline; use plot(), or "
            "compare without baseline="
        )
    groups = metric_groups(of_task(comparison.estimates, task), metric)
    order = [e.system for e in ranked(groups[0])]
    return panels(partial(_pvalues, comparison, order), groups, ax, beside=True)


def _pvalues(
    comparison: Comparison, order: Sequence[str], estimates: Sequence[Estimate], ax: Axes | None
) -> Axes:
    every = _in_order(order, estimates)
    place = {e.system: i for i, e in enumerate(every)}
    # Below a column is the first line of a name, with dots where there is more.
    lines = [wrapped(e.system, _COLUMN).split("\n") for e in every]
    names = [f"{first}…" if more else first for first, *more in lines]
    axes, edges = rows_axes(ax, [e.system for e in every], extra=0.4 + room_of(names, SMALL))
    of = every[0].task, every[0].metric
    found = [d for d in comparison.differences if (d.task, d.metric) == of]
    cells = np.full((len(every), len(every)), np.nan)
    certain = np.zeros(cells.shape, dtype=bool)
    for d in found:
        i, j = place[d.system], place[d.baseline]
        # Two-sided p-values stand below the diagonal.
        if comparison.alternative == "two-sided":
            i, j = max(i, j), min(i, j)
        cells[i, j], certain[i, j] = d.pvalue_adjusted, comparison.significant(d)
    _matrix(axes, edges, cells, certain)
    axes.set_xticks(range(1, len(every) + 1), names, rotation=90)
    title = f"p-values, {metric_of(every)}, {counted(every[0].n_segments, every[0].unit)}"
    name_axes(axes, title, f"• {significance(comparison, found)}")
    axes.tick_params(axis="x", labelsize=min(SMALL, _COLUMNS_POINTS / len(every)))
    return axes


def _matrix(
    axes: Axes, edges: NDArray[np.float64], cells: NDArray[np.float64], certain: NDArray[np.bool_]
) -> None:
    """Draw p-values as cells, the darker the smaller and pale where not significant, with a bar."""
    from matplotlib.colors import BoundaryNorm, ListedColormap

    centres, written = centres_of(edges), len(cells) <= _ANNOTATED
    mesh = axes.pcolormesh(
        np.arange(cells.shape[1] + 1) + 0.5,
        edges,
        np.ma.masked_invalid(cells),
        cmap=ListedColormap(_SHADES),
        norm=BoundaryNorm(_BINS, len(_SHADES)),
        edgecolors="white",
        linewidth=0.3,
    )
    for i, j in np.argwhere(np.isfinite(cells)):
        p = cells[i, j]
        ink = "white" if p < _BINS[2] else "black"
        if written:
            # What is in the first bin is below its edge, as it is written.
            text = "<.001" if p < _BINS[1] else f"{p:.3f}".lstrip("0") if p < 0.9995 else "1"
            axes.text(j + 1, centres[i], text, ha="center", va="center", color=ink, fontsize=4.5)
        if certain[i, j]:
            x, y = (j + 1.35, edges[i] + 0.04) if written else (j + 1, centres[i])
            axes.plot(x, y, ".", color=ink, markersize=2)
    inch = 1 / float(edges[-1])
    bar = axes.figure.colorbar(
        mesh, ax=axes, orientation="horizontal", fraction=0.09 * inch, pad=0.05 * inch, aspect=40
    )
    bar.set_ticks(list(_BINS), labels=[f"{edge:g}" for edge in _BINS])
    bar.ax.tick_params(labelsize=SMALL - 1)


def ranks(shown: Sequence[Panel], ax: Panels | None = None) -> Panels:
    """Draw the ranks of systems, best first, with tiers, or how many each beats, to the right."""
    order = [mark.name for mark in shown[0].marks]
    alike = all(sorted(order) == sorted(mark.name for mark in one.marks) for one in shown)
    own_order = order if alike else []
    return panels(lambda one, own: ranking(one, own, own_order), shown, ax, beside=alike)


def ranking(panel: Panel, ax: Axes | None = None, order: Sequence[str] = ()) -> Axes:
    """Draw one ranking, with its systems in an order."""
    marks = sorted(panel.marks, key=lambda mark: order.index(mark.name) if order else 0)
    axes, edges = rows_axes(ax, [mark.name for mark in marks])
    rows = centres_of(edges)
    axes.hlines(rows, *np.array([mark.wider for mark in marks]).T, color=SKY, linewidth=1)
    own = np.array([(mark.low, mark.high) for mark in marks])
    axes.hlines(rows, *own.T, color=BLUE, linewidth=2.5)
    axes.plot(
        [mark.value for mark in marks], rows, "o", color="white", markeredgecolor=BLUE, ms=3.5
    )
    for row, mark in zip(rows, marks, strict=True):
        axes.annotate(
            mark.beside,
            (1.02, row),
            xycoords=("axes fraction", "data"),
            va="center",
            fontsize=SMALL,
            color=GREY,
            annotation_clip=False,
        )
    axes.set_xlim(0.5, len(marks) + 0.8)
    name_axes(axes, panel.heading, *panel.below)
    return axes


def influences(found: Influence, n: int, ax: Axes | None = None) -> Axes:
    """Draw a bar for each of the first segments, the most influential on top."""
    values = found.values[:n]
    axes, edges = rows_axes(ax, found.ids[:n])
    colours = [BLUE if value > 0 else VERMILLION for value in values]
    axes.barh(centres_of(edges), values, 0.7 * float(min(edges[1:] - edges[:-1])), color=colours)
    axes.axvline(0, color=GREY, linewidth=0.6)
    below = f"influence: without the {found.unit}", "the difference is less by about this"
    name_axes(axes, found.name.replace(" - ", " − "), *below)
    return axes


def power(planned: Power, over: str, metric: str | None = None, ax: Panels | None = None) -> Panels:
    """Draw power, or the least difference, over the number of segments, or of runs."""
    found = planned.pairs if metric is None else of_metric(planned.pairs, metric)
    groups = list(by_metric(found).values())
    return panels(partial(_power, planned, over == "runs"), groups, ax)


def _power(planned: Power, of_runs: bool, pairs: Sequence[PairPower], ax: Axes | None) -> Axes:
    if len(pairs) > len(SERIES):
        raise InputError(
            f"{len(pairs)} pairs are too many lines, {len(SERIES)} is the most; plan with "
            f"baseline=, or with fewer systems"
        )
    axes, about = own_axes(ax, 2.4), metric_name(pairs[0])
    least = planned.difference is None
    axes.set_xscale("log")
    for pair, (colour, mark) in zip(pairs, SERIES, strict=False):
        sizes, values = pair.sizes, pair.minimums if least else pair.powers
        if of_runs and (of := pair.of_runs) is not None:
            sizes, values = of.runs, of.run_minimums if least else of.run_powers
        heights = [np.nan if value is None else value for value in values]
        label = wrapped(f"{pair.system} − {pair.baseline}", 30)
        axes.plot(sizes, heights, f"{mark}-", color=colour, ms=3, linewidth=1, label=label)
    n, unit = planned.n_segments, planned.unit
    if of_runs and planned.n_runs is not None:
        n, unit = planned.n_runs, "run"
    axes.axvline(n, color=GREY, linewidth=0.6, linestyle=":", zorder=0)
    if least:
        axes.set_yscale("log")
        axes.set_ylabel(wrapped(f"least difference in {about}", 28), fontsize=SMALL)
        title = f"Found with power {planned.target:g}"
    else:
        axes.annotate(
            f"{planned.target:g}",
            (1.01, planned.target),
            xycoords=("axes fraction", "data"),
            va="center",
            fontsize=SMALL - 1,
            color=GREY,
        )
        axes.set_ylim(0, 1.02)
        axes.axhline(planned.target, color=GREY, linewidth=0.6, linestyle=":", zorder=0)
        axes.set_ylabel("power", fontsize=SMALL)
        title = f"Power for a difference of {planned.difference:g} in {about}"
    if len(pairs) == 1:
        title = f"{pairs[0].system} − {pairs[0].baseline}: {title[0].lower()}{title[1:]}"
    name_axes(axes, title, f"{plural(unit)}, dotted: {n:,}")
    axes.tick_params(which="minor", labelsize=SMALL - 1)
    _plain_ticks(axes)
    if len(pairs) > 1:
        # Below the axes, where no curve is.
        legend_below(axes)
    return axes


def _plain_ticks(axes: Axes) -> None:
    """Write numbers on a logarithmic axis as they are, 100 and not 10²."""
    from matplotlib.ticker import FuncFormatter

    plain, none = (FuncFormatter(lambda x, _: f"{x:,g}"), FuncFormatter(lambda x, _: ""))
    for axis in (axes.xaxis, axes.yaxis):
        if axis.get_scale() == "log":
            low, high = axis.get_view_interval()
            axis.set_major_formatter(plain)
            # Within a power of ten minor ticks have numbers too.
            axis.set_minor_formatter(plain if high < 10 * low else none)


def growth(looks: Looks, ax: Axes | None = None) -> Axes:
    """Draw the difference at each look, its interval, the limit, and where it was decided."""
    axes, found, last = own_axes(ax, 2.5), looks.looks, looks.last
    limit = Limit(looks.margin, looks.recovery, of_loss=True)
    at = [look.n_units for look in found]
    if limit.label:
        axes.axhline(0.0, color=GREY, linewidth=0.6, zorder=0)
    end = last.planned or at[-1]
    ends = [limit.bounds(look.difference) or (0.0, np.inf) for look in found]
    line = [low if np.isfinite(low) else high for low, high in ends]
    axes.plot([*at, max(end, at[-1])], [*line, line[-1]], "--", color=VERMILLION, linewidth=0.9)
    axes.vlines(at, [x.low for x in found], [x.high for x in found], colors=SKY, linewidth=3.5)
    axes.plot(at, [x.difference.difference for x in found], "-", color=BLUE, linewidth=0.8)
    for look in found:
        face = BLUE if look.verdict != "go on" else "white"
        place = look.n_units, look.difference.difference
        axes.plot(*place, "o", color=BLUE, markerfacecolor=face, markersize=4, zorder=4)
    # The scale fits the limit and the intervals. The first ones may leave it: an arrow says so.
    some = [x for x in found if x.level > _SMALL_LEVEL] or [last]
    low, high = min(*line, *(x.low for x in some)), max(*line, *(x.high for x in some))
    low, high = low - 0.1 * (high - low), high + 0.1 * (high - low)
    axes.set_ylim(low, high)
    above = [x.n_units for x in found if x.high > high]
    below = [x.n_units for x in found if x.low < low]
    for edge, arrow, cut in ((high, "^", above), (low, "v", below)):
        axes.plot(cut, [edge] * len(cut), arrow, color=SKY, markersize=6, clip_on=False, zorder=3)
    axes.set_xlim(0, 1.03 * end)
    axes.set_ylabel(f"difference in {metric_name(last.difference)}", fontsize=SMALL)
    said = [looks.interval, "filled: decided", limit.label or "dashed: 0"]
    said += ["arrow: goes on"] if above or below else []
    title = f"{last.difference.system} − {last.difference.baseline}: {looks.verdict}"
    name_axes(axes, title, plural(last.unit), "; ".join(said))
    return axes
