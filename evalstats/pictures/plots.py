"""The figures of results: forests, a matrix of p-values, ranks, a curve, bars.

Every function draws into `ax`, or into a figure as high as its rows need, and returns the axes; of
several metrics, panels one below the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from evalstats.errors import InputError
from evalstats.pictures.figures import (
    BLUE,
    GREY,
    SERIES,
    SKY,
    SMALL,
    VERMILLION,
    centres_of,
    forest,
    legend_below,
    limit_bands,
    name_axes,
    own_axes,
    panels,
    room_of,
    rows_axes,
    wrapped,
)
from evalstats.results import tabular
from evalstats.results.lookup import of_metric, of_task
from evalstats.results.marks import Limit
from evalstats.results.records import (
    KINDS,
    Difference,
    by_metric,
    by_pair,
    contrast_of,
    counted,
    distinct,
    has_tasks,
    is_mixed,
    kind_of,
    oriented,
    plural,
    ranked,
    size,
    whole_sizes,
)

if TYPE_CHECKING:
    from evalstats.pictures.figures import Axes, Panels

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
_APART = 0.075


def scores(estimates: Sequence[Any], metric: str | None = None, ax: Panels | None = None) -> Panels:
    """Draw scores with their intervals: systems best first, or a row a task and the total below."""
    groups = _by_metric(estimates, metric)
    order = [] if has_tasks(estimates) else [e.system for e in ranked(groups[0])]
    return panels(partial(_scores, order), groups, ax, beside=bool(order))


def _in_order(order: Sequence[str], estimates: Sequence[Any]) -> list[Any]:
    """Return the scores of systems in an order, those of others, of which there are none, last."""
    return sorted(ranked(estimates), key=lambda e: order.index(e.system) if order else 0)


def _scores(order: Sequence[str], estimates: Sequence[Any], ax: Axes | None) -> Axes:
    systems = distinct(e.system for e in estimates)
    estimates = _fitting(estimates, len(systems), len(SERIES), "systems")
    of_tasks = has_tasks(estimates)
    rows = list(estimates) if of_tasks else _in_order(order, estimates)
    series = systems if of_tasks else [""]
    extra = 0.12 * len(series) if len(series) > 1 else 0.0
    labels = [e.task if of_tasks else e.system for e in rows]
    axes, edges = _rows(ax, rows, labels, extra, _APART * (len(series) - 1))
    middles = centres_of(edges)
    for i, (name, (colour, mark)) in enumerate(zip(series, SERIES, strict=False)):
        some = [e for e in rows if name in ("", e.system)]
        values = [(e.score, e.low, e.high) for e in some]
        places = middles + _APART * (i - (len(series) - 1) / 2)
        colours = [colour] * len(some)
        forest(axes, values, places, colours, marks=mark, label=wrapped(name, 22))
    level = tabular.level(rows[0].confidence_level)
    name_axes(axes, f"Scores, {_about(rows)}", f"{_metric(rows)}, {level}")
    if len(series) > 1:
        legend_below(axes)
    return axes


def differences(
    comparison: Any,
    metric: str | None,
    ax: Panels | None,
    system: str | None,
    baseline: str | None,
) -> Panels:
    """Draw differences with their intervals, the largest first; of tasks, a panel a pair."""
    found = [d for d in comparison if system in (None, d.system)]
    found = [d for d in found if baseline in (None, d.baseline)]
    if not found:
        raise InputError(f"there is no pair of {system!r} and {baseline!r}")
    groups = [group for some in _by_metric(found, metric) for group in _panels_of(some)]
    beside = not any(map(has_tasks, groups)) and len({len(group) for group in groups}) == 1
    order = oriented(comparison, groups[0]) if beside else []
    return panels(partial(_differences, comparison, order), groups, ax, beside)


def _pairs_in_order(
    comparison: Any, order: Sequence[Difference], found: Sequence[Difference]
) -> list[Difference]:
    """Return the differences of one task like those of another panel, or the largest first."""
    if len(found) > MOST_PAIRS:
        raise InputError(
            f"{len(found)} differences are too many rows; use plot_pvalues(), or compare with "
            f"baseline="
        )
    return _like(order, found) if order else oriented(comparison, found)


def _like(order: Sequence[Difference], found: Sequence[Difference]) -> list[Difference]:
    """Return differences of the same pairs in an order, and each in its direction."""
    known = {pair: some[0] for pair, some in by_pair(found).items()}
    turned = {pair: some[0] for pair, some in by_pair(d.turned() for d in found).items()}
    pairs = [(d.system, d.baseline) for d in order]
    return [known.get(pair) or turned[pair] for pair in pairs]


def _by_metric(records: Sequence[Any], metric: str | None) -> list[list[Any]]:
    """Return the records of each metric, or of one; all where a total is of several."""
    if metric is not None:
        return [of_metric(records, metric)]
    if is_mixed(r for r in records if hasattr(r, "aggregate")):
        return [list(records)]
    return list(by_metric(records).values())


def _panels_of(found: list[Difference]) -> list[list[Difference]]:
    """Return the rows of each pair on tasks; of one task, and of totals, all pairs together."""
    found = _fitting(found, len(by_pair(found)), _MOST_PANELS, "pairs")
    return list(by_pair(found).values()) if has_tasks(found) else [found]


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


def _differences(
    comparison: Any, order: Sequence[Difference], found: Sequence[Difference], ax: Axes | None
) -> Axes:
    contrast = contrast_of(comparison.contrast)
    if not has_tasks(found):
        found = _pairs_in_order(comparison, order, found)
    names = [f"{d.system} {contrast.sign} {d.baseline}" for d in found]
    if has_tasks(found):
        title, labels = names[0], [d.task for d in found]
    else:
        labels = [d.system for d in found] if comparison.baseline else names
        title = f"{contrast.column.capitalize()}s{contrast.to(comparison.baseline)}"
    limit = Limit(comparison.margin, comparison.recovery)
    axes, edges = _rows(ax, found, labels, 0.15)
    _limited(axes, edges, found, limit)
    axes.axvline(contrast.null, color=GREY, linewidth=0.6, zorder=0)
    kinds = [kind_of(comparison, d) for d in found]
    colours, sure = [_COLOURS[kind] for kind in kinds], [kind != "open" for kind in kinds]
    marks = ["o" if d.aggregate is None else "D" for d in found]
    intervals = [(d.value, d.low, d.high) for d in found]
    forest(axes, intervals, centres_of(edges), colours, filled=sure, marks=marks)
    of = [e for e in comparison.estimates if e.metric == found[0].metric]
    about = _about(found if has_tasks(found) else of)
    what = f"{contrast.column} {contrast.within} {_metric(found)}"
    level, adjusted = tabular.level(comparison.confidence_level), _adjusted(comparison, found)
    below = [f"{what}, {level}", f"filled: {adjusted}"]
    below += [limit.label] if limit.label else []
    below += [tabular.APART] if any(map(comparison.adjusted.is_apart, found)) else []
    name_axes(axes, f"{title}, {about}", *below)
    return axes


def gate(gate: Any, metric: str | None = None, ax: Panels | None = None) -> Panels:
    """Draw what each check of a gate lost or gained, and the limit of the loss."""
    groups = [[c for c in gate.checks if c.metric in names] for names in _metrics_of(gate, metric)]
    return panels(partial(_checks, gate), groups, ax)


def _metrics_of(gate: Any, metric: str | None) -> list[set[str]]:
    """Return the metrics of each panel: one each, or all where a total is of several."""
    some = _by_metric([check.difference for check in gate.checks], metric)
    return [{d.metric for d in group} for group in some]


def _checks(gate: Any, checks: Sequence[Any], ax: Axes | None) -> Axes:
    found, limit = [c.difference for c in checks], Limit(gate.margin, gate.recovery, of_loss=True)
    axes, edges = _rows(ax, found, [c.task or c.metric for c in checks], 0.15)
    _limited(axes, edges, found, limit)
    axes.axvline(0.0, color=GREY, linewidth=0.6, zorder=0)
    forest(
        axes,
        [(d.difference, d.low, d.high) for d in found],
        centres_of(edges),
        [_COLOURS[KINDS.get(c.verdict, "open")] for c in checks],
        filled=[c.verdict != "undecided" for c in checks],
        marks=["o" if d.aggregate is None else "D" for d in found],
    )
    level = tabular.level(1 - 2 * gate.significance_level)
    below = [f"difference in {_metric(found)}, {level}", "filled: decided; blue: passed"]
    below += [limit.label] if limit.label else []
    title = f"{found[0].system} − {found[0].baseline}: {gate.verdict}"
    name_axes(axes, title, *below)
    return axes


def pvalues(
    comparison: Any, metric: str | None = None, ax: Panels | None = None, task: str | None = None
) -> Panels:
    """Draw the adjusted p-values of all pairs, best first; a dot is a significant difference."""
    if comparison.baseline is not None:
        raise InputError(
            "plot_pvalues needs all pairs, but this comparison has a baseline; use plot(), or "
            "compare without baseline="
        )
    groups = _by_metric(of_task(comparison.estimates, task), metric)
    order = [e.system for e in ranked(groups[0])]
    return panels(partial(_pvalues, comparison, order), groups, ax, beside=True)


def _pvalues(
    comparison: Any, order: Sequence[str], estimates: Sequence[Any], ax: Axes | None
) -> Axes:
    every = _in_order(order, estimates)
    place = {e.system: i for i, e in enumerate(every)}
    # Two-sided p-values stand below the diagonal.
    half = comparison.alternative == "two-sided"
    names = [_cut(e.system) for e in every]
    size_of_names = min(SMALL, _COLUMNS_POINTS / len(every))
    axes, edges = rows_axes(ax, [e.system for e in every], extra=0.4 + room_of(names, SMALL))
    of = every[0].task, every[0].metric
    found = [d for d in comparison.differences if (d.task, d.metric) == of]
    cells = np.full((len(every), len(every)), np.nan)
    certain = np.zeros(cells.shape, dtype=bool)
    for d in found:
        i, j = place[d.system], place[d.baseline]
        if half:
            i, j = max(i, j), min(i, j)
        cells[i, j], certain[i, j] = d.pvalue_adjusted, comparison.significant(d)
    _matrix(axes, edges, cells, certain)
    axes.set_xticks(range(1, len(every) + 1), names, rotation=90)
    title = f"p-values, {_metric(every)}, {size(every[0])}"
    name_axes(axes, title, f"• {_adjusted(comparison, found)}")
    axes.tick_params(axis="x", labelsize=size_of_names)
    return axes


def _cut(name: str) -> str:
    """Return a name for a column: its first line, with dots where there is more."""
    first, *more = wrapped(name, _COLUMN).split("\n")
    return f"{first}…" if more else first


def _matrix(axes: Axes, edges: Any, cells: Any, certain: Any) -> None:
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


def ranks(rankings: Sequence[Any], ax: Panels | None = None) -> Panels:
    """Draw the ranks of systems, best first, with tiers, or how many each beats, to the right."""
    order = [r.system for r in rankings[0].systems]
    alike = all(sorted(order) == sorted(r.system for r in one.systems) for one in rankings)
    return panels(partial(_ranking, order if alike else []), rankings, ax, beside=alike)


def ranking(ranking: Any, ax: Axes | None = None) -> Axes:
    """Draw one ranking."""
    return _ranking([], ranking, ax)


def _ranking(order: Sequence[str], ranking: Any, ax: Axes | None = None) -> Axes:
    systems = sorted(ranking.systems, key=lambda r: order.index(r.system) if order else 0)
    axes, edges = rows_axes(ax, [r.system for r in systems])
    rows = centres_of(edges)
    both = [(r.simultaneous_low, r.simultaneous_high) for r in systems]
    axes.hlines(rows, *np.array(both).T, color=SKY, linewidth=1)
    axes.hlines(rows, *np.array([(r.low, r.high) for r in systems]).T, color=BLUE, linewidth=2.5)
    axes.plot([r.rank for r in systems], rows, "o", color="white", markeredgecolor=BLUE, ms=3.5)
    for row, r in zip(rows, systems, strict=True):
        axes.annotate(
            r.tier if ranking.has_letters else ranking.beaten(r),
            (1.02, row),
            xycoords=("axes fraction", "data"),
            va="center",
            fontsize=SMALL,
            color=GREY,
            annotation_clip=False,
        )
    axes.set_xlim(0.5, len(systems) + 0.8)
    level = tabular.level(ranking.confidence_level)
    beside = "letters: tiers" if ranking.has_letters else "beside: better than"
    name_axes(axes, f"Ranks by {ranking.name}", f"rank, {level}", f"thin: all at once; {beside}")
    return axes


def influences(found: Any, n: int, ax: Axes | None = None) -> Axes:
    """Draw a bar for each of the first segments, the most influential on top."""
    values = found.values[:n]
    axes, edges = rows_axes(ax, found.ids[:n])
    colours = [BLUE if value > 0 else VERMILLION for value in values]
    axes.barh(centres_of(edges), values, 0.7 * float(min(edges[1:] - edges[:-1])), color=colours)
    axes.axvline(0, color=GREY, linewidth=0.6)
    below = f"influence: without the {found.unit}", "the difference is less by about this"
    name_axes(axes, found.name.replace(" - ", " − "), *below)
    return axes


def power(planned: Any, over: str, metric: str | None = None, ax: Panels | None = None) -> Panels:
    """Draw power, or the least difference, over the number of segments, or of runs."""
    return panels(partial(_power, planned, over == "runs"), _by_metric(planned.pairs, metric), ax)


def _power(planned: Any, of_runs: bool, pairs: Sequence[Any], ax: Axes | None) -> Axes:
    if len(pairs) > len(SERIES):
        raise InputError(
            f"{len(pairs)} pairs are too many lines, {len(SERIES)} is the most; plan with "
            f"baseline=, or with fewer systems"
        )
    axes, about = own_axes(ax, 2.4), _metric(pairs)
    least = planned.difference is None
    axes.set_xscale("log")
    for pair, (colour, mark) in zip(pairs, SERIES, strict=False):
        sizes, values = pair.sizes, pair.minimums if least else pair.powers
        if of_runs and (of := pair.of_runs) is not None:
            sizes, values = of.runs, of.run_minimums if least else of.run_powers
        heights = [np.nan if value is None else value for value in values]
        label = wrapped(f"{pair.system} − {pair.baseline}", 30)
        axes.plot(sizes, heights, f"{mark}-", color=colour, ms=3, linewidth=1, label=label)
    n, unit = (planned.n_runs, "run") if of_runs else (planned.n_segments, planned.unit)
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
    pair = f"{pairs[0].system} − {pairs[0].baseline}: " if len(pairs) == 1 else ""
    name_axes(
        axes,
        f"{pair}{title[:1].lower() if pair else title[:1]}{title[1:]}",
        f"{plural(unit)}, dotted: {n:,}",
    )
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


def _rows(
    ax: Axes | None,
    rows: Sequence[Any],
    labels: Sequence[str],
    extra: float = 0.0,
    taller: float = 0.0,
) -> tuple[Axes, Any]:
    """Return axes with a row for each label, a line above the totals, and the rows' edges."""
    names = distinct(labels) if has_tasks(rows) else labels
    if len(names) > _MOST_TASKS:
        raise InputError(
            f"{len(names)} rows are too many for a figure, which shows {_MOST_TASKS}; draw a Suite "
            f"of some tasks"
        )
    axes, edges = rows_axes(ax, names, extra=extra, taller=taller)
    n_totals = len({row.task for row in rows if row.aggregate is not None})
    if 0 < n_totals < len(names):
        axes.axhline(edges[-1 - n_totals], color=GREY, linewidth=0.6)
    return axes, edges


def _limited(axes: Axes, edges: Any, found: Sequence[Difference], limit: Limit) -> None:
    """Draw the limits of each row, where there are some."""
    limit_bands(axes, edges, [limit.band(d) for d in found], [limit.bounds(d) for d in found])


def _about(rows: Sequence[Any]) -> str:
    """Return how many tasks there are, or how large the only one is."""
    tasks = {row.task for row in rows if row.aggregate is None}
    if has_tasks(rows):
        return counted(len(tasks), "task")
    is_one_size = len({row.n_segments for row in rows}) == 1
    return size(rows[0]) if is_one_size else whole_sizes(rows)


def _metric(rows: Sequence[Any]) -> str:
    metrics = distinct(row.metric for row in rows if getattr(row, "aggregate", None) is None)
    shown = metrics[0] if len(metrics) == 1 else "scores" if metrics else rows[0].metric
    return f"{shown} {tabular.direction(rows[0].higher_is_better)}"


def _adjusted(comparison: Any, found: Sequence[Difference]) -> str:
    several = any(comparison.adjusted.n_compared(d) > 1 for d in found)
    return f"{comparison.adjusted.pvalue_name(several)} ≤ {comparison.significance_level:g}"
