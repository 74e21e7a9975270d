"""The tables of scores and of comparisons: their rows and columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from evalstats.results import tabular
from evalstats.results.records import (
    Difference,
    by_metric,
    by_pair,
    counted,
    decimals_of,
    distinct,
    has_tasks,
    is_mixed,
    mark_of,
    metric_name,
    only,
    oriented,
    plural,
    ranked,
    whole_sizes,
)
from evalstats.results.signatures import part_name, system_name
from evalstats.results.tabular import Column, Table, table_of

if TYPE_CHECKING:
    from evalstats.analysis.comparison import Comparison
    from evalstats.pictures.marks import Forest
    from evalstats.results.estimates import Estimate

#: Up to this number of systems all pairs are listed; up to this number of more, in a matrix.
LISTED_SYSTEMS, _IN_MATRIX = 4, 12
#: Number of systems side by side in a row.
_SIDE_BY_SIDE = 5
#: Number of systems up to which there is room for intervals beside their scores on tasks.
_WITH_INTERVALS = 3
#: Number of pairs up to which each has a table of its tasks; for more, only totals are shown.
LISTED_PAIRS = 6
#: Length of all names up to which a row names the systems that it is better than.
_SAID = 40
#: Number of metrics that a title names.
_NAMED = 6
#: Columns that only verbose tables have.
_ERROR = ("std. error",)
#: A column with its cells.
_Cells = tuple[str, str, list[str]]
_BATTLES: Column = ("battles", ">", lambda e: f"{e.n_battles:,}")


def score_tables(estimates: Sequence[Estimate], digits: int | None = None) -> list[Table]:
    """Lay out scores with their intervals: the best system first, or one row per task."""
    systems = distinct(e.system for e in estimates)
    if has_tasks(estimates) or (len(systems) == 1 and len(estimates) > 1):
        return [_task_table(panel, systems, digits) for panel in _panels(estimates)]
    tables = []
    for panel in by_metric(estimates).values():
        rows = ranked(panel)
        columns: list[Column] = [
            (system_name(rows), "<", lambda e: e.system),
            *_score_columns(rows, decimals_of(rows, digits)),
            *([] if rows[0].n_battles is None else [_BATTLES]),
        ]
        draw = partial(_drawn, [[e] for e in rows], 1)
        tables.append(table_of(_title(panel), rows, columns, draw=draw, details=_ERROR))
    return tables


def _task_table(panel: Sequence[Estimate], systems: Sequence[str], digits: int | None) -> Table:
    """Lay out the scores of all systems, with one row per task or metric."""
    lines: dict[Any, dict[str, Estimate]] = {}
    for e in panel:
        lines.setdefault((e.task, e.aggregate, e.metric), {})[e.system] = e
    rows = [[line[system] for system in systems] for line in lines.values()]
    places, names = decimals_of(panel, digits), _name_columns([row[0] for row in rows])
    if len(systems) == 1:
        title, shown = systems[0], _score_columns([row[0] for row in rows], places)
    else:
        title, shown, n_cells = "scores", [], 2 if len(systems) <= _WITH_INTERVALS else 1
        for system, scores in zip(systems, zip(*rows, strict=True), strict=True):
            cells = [column[2] for column in _score_columns(scores, places)[:n_cells]]
            shown.append((system, ">", list(map(" ".join, zip(*cells, strict=True)))))
        if n_cells > 1:
            title += f" with {tabular.level(panel[0].confidence_level)}s"
    n_totals = sum(aggregate is not None for _, aggregate, _ in lines)
    is_drawn = len(systems) <= _SIDE_BY_SIDE and len({e.metric for e in panel}) == 1
    return table_of(
        f"{_title(panel)}, {title}",
        rows,
        [*names, *shown],
        n_totals=n_totals,
        spare=[name for name, side, _ in names if side == ">"],
        draw=partial(_drawn, rows, len(names)) if is_drawn else None,
        details=_ERROR,
    )


def _score_columns(rows: Sequence[Estimate], places: dict[str, int]) -> list[_Cells]:
    """Return columns with their cells: the score, its interval and its standard error."""
    level = tabular.level(rows[0].confidence_level)
    return [
        (score_name(rows[0]), ">", [tabular.number(e.score, places[e.metric]) for e in rows]),
        (f"[{level}]", ">", [tabular.interval(e.low, e.high, places[e.metric]) for e in rows]),
        ("std. error", ">", [tabular.number(e.standard_error, places[e.metric]) for e in rows]),
    ]


def score_name(row: Any) -> str:
    """Return the name of a score; in an arena it is "log odds", or "Elo"."""
    names = {"log-odds": "log odds", "elo": "Elo points"}
    return names.get(row.signature.setting("scale"), "score")


def comparison_tables(
    c: Comparison,
    digits: int | None = None,
    asked: Sequence[Difference] | None = None,
    each_task: bool = False,
) -> list[Table]:
    """Lay out all differences, or the `asked` ones: of a pair by task or metric, or by system.

    If there are too many pairs for their tasks, there are tables of totals, and of `each_task` if
    requested.
    """
    shown = c.differences if asked is None else asked
    n_pairs, of_tasks = len(by_pair(shown)), has_tasks(shown)
    is_of_pair = n_pairs == 1 and (c.baseline is None or len(shown) > 1)
    tables: list[Table] = []
    if is_of_pair or (of_tasks and (n_pairs <= LISTED_PAIRS or not c.totals)):
        for panel in _panels(oriented(c, shown)):
            tables += _on_one_axis([_pair_table(c, d, digits) for d in by_pair(panel).values()])
        return tables
    if n_pairs < len(by_pair(c.differences)):
        main = shown if not of_tasks else [d for d in shown if d.aggregate is not None]
        return [all_pairs(c, rows, digits) for rows in by_metric(main).values()]
    metrics = {d.metric for d in shown}
    scores = [e for e in c.estimates if e.metric in metrics]
    if of_tasks:
        tables = score_tables(scores, digits)
        scores = scores if each_task else [e for e in scores if e.aggregate is not None]
    of_metrics: dict[str, list[Table]] = {}
    for panel in _by_task_and_metric(scores):
        best_first = ranked(panel)
        metric, task = panel[0].metric, panel[0].task
        rows = [d for d in shown if (d.metric, d.task) == (metric, task)]
        lay_out = _rank_tables if c.baseline is None else _baseline_table
        of_metrics.setdefault(metric, []).extend(lay_out(c, rows, best_first, digits))
    return [*tables, *chain.from_iterable(map(_on_one_axis, of_metrics.values()))]


def _by_task_and_metric(scores: Sequence[Estimate]) -> list[list[Estimate]]:
    """Return the scores of each task and metric."""
    panels: dict[tuple[str, str], list[Estimate]] = {}
    for e in scores:
        panels.setdefault((e.task, e.metric), []).append(e)
    return list(panels.values())


def _places(c: Comparison, rows: Sequence[Any], digits: int | None) -> dict[str, int]:
    """Return the decimals of each metric, from the scores on the tasks of these rows.

    Scores and differences have the same decimals.
    """
    tasks = {row.task for row in rows}
    return decimals_of([e for e in c.estimates if e.task in tasks], digits)


def _difference_columns(
    c: Comparison,
    rows: Sequence[Difference | None],
    places: dict[str, int],
    digits: int | None,
) -> list[_Cells]:
    """Return columns with their cells: difference, interval, p-values, verdict, claim.

    A row without a difference is empty.
    """
    known = [d for d in rows if d is not None]
    several = c.adjustment != "none" and any(c.adjusted.n_compared(d) > 1 for d in known)
    p = partial(tabular.pvalue, level=c.significance_level, digits=digits)
    noted = {e.task: mark_of(c, e) for e in c.estimates}

    def interval(d: Difference) -> str:
        # If nothing differs, nothing was measured, except for counts, which are evidence even then.
        is_none = d.n_differing == 0 and d.low == d.high
        return "-" if is_none else tabular.interval(d.low, d.high, places[d.metric], sign=True)

    columns: list[tuple[str, str, Callable[[Difference], str]]] = [
        ("difference", ">", lambda d: tabular.number(d.difference, places[d.metric], sign=True)),
        (f"[{tabular.level(c.confidence_level)}]", ">", interval),
        ("std. error", ">", lambda d: tabular.number(d.standard_error, places[d.metric])),
        (
            "correlation",
            ">",
            lambda d: "-" if (r := c.correlation(d)) is None else tabular.number(r, 2),
        ),
    ]
    if any(d.gained is not None for d in known):
        columns.append(("gained, lost", ">", gained_lost))
    columns.append(("p", ">", lambda d: p(d.pvalue)))
    if several:
        columns.append((c.adjusted.pvalue_name, ">", partial(_adjusted, p=p)))
    columns.append(
        ("verdict", "<", lambda d: d.verdict + (noted[d.task] if d.kind != "open" else ""))
    )
    limits = (("margin", c.margin), ("recovery", c.recovery))
    columns += [(f"{x} {y:g}", "<", lambda d: d.claim) for x, y in limits if y is not None]
    return [
        (name, side, ["" if d is None else cell(d) for d in rows]) for name, side, cell in columns
    ]


def _adjusted(d: Difference, p: Callable[[float], str]) -> str:
    """Return the p-value that verdicts use."""
    # If no data could bring it to the level, it is not evidence for or against a difference.
    return "-" if d.verdict == "cannot tell" else p(d.pvalue_adjusted)


def _details(columns: Sequence[Column]) -> list[str]:
    """Return the columns that only verbose tables have; of two p-values, the first."""
    return [*_ERROR, "correlation", *["p"] * any(name == "p (adjusted)" for name, _, _ in columns)]


def gained_lost(d: Difference) -> str:
    """Return ``14, 6``, or ""."""
    return "" if d.gained is None else f"{d.gained}, {d.lost}"


def _baseline_table(
    c: Comparison,
    rows: Sequence[Difference],
    best_first: Sequence[Estimate],
    digits: int | None,
    reference: str = "baseline",
    more: Sequence[Column] = (),
    notes: tuple[str, ...] = (),
    hints: tuple[str, ...] = (),
) -> list[Table]:
    """Lay out the baseline, and the other systems with their differences from it, best first.

    The row of the baseline has the word `reference`; `more` columns come after the verdict.
    """
    by_system, places = {d.system: d for d in rows}, _places(c, rows, digits)
    systems = sorted(best_first, key=lambda e: e.system in by_system)
    shown = [by_system.get(e.system) for e in systems]
    score, interval, _ = _score_columns(systems, places)
    (name, side, cells), *others = _difference_columns(c, shown, places, digits)
    columns: list[Column] = [
        (system_name(systems), "<", lambda e: e.system),
        *(score, interval, (name, side, [cell or reference for cell in cells]), *others, *more),
    ]
    spare = ["gained, lost", *(name for name, *_ in more)]
    details = [interval[0], *_details(columns)]
    draw = partial(_forest, c, shown, 3)
    title = _title(best_first)
    return [
        table_of(title, systems, columns, notes, 0, hints, spare=spare, draw=draw, details=details)
    ]


def _pair_table(c: Comparison, rows: Sequence[Difference], digits: int | None) -> Table:
    """Lay out the differences of one pair, with one row per task or metric."""
    first, places = rows[0], _places(c, rows, digits)
    scores = [c.scores_of(d) for d in rows]
    names = _name_columns([new for _, new in scores])
    names = names or [("metric", "<", [metric_name(d) for d in rows])]
    columns: list[Column] = [
        *names,
        (first.baseline, ">", lambda d: tabular.number(d.baseline_score, places[d.metric])),
        (first.system, ">", lambda d: tabular.number(d.system_score, places[d.metric])),
        *_difference_columns(c, rows, places, digits),
    ]
    title = f"{_title([e for both in scores for e in both])}, {first.system} - {first.baseline}"
    spare = ["gained, lost", *(name for name, side, _ in names if side == ">")]
    n_totals = sum(d.aggregate is not None for d in rows)
    draw = partial(_forest, c, rows, len(names) + 2, one_pair=True)
    details = _details(columns)
    scores_at = len(names), len(names) + 1
    return table_of(title, rows, columns, (), n_totals, (), spare, draw, details, scores_at)


def all_pairs(c: Comparison, rows: Sequence[Difference], digits: int | None = None) -> Table:
    """Lay out the differences of several pairs, the largest first, or of each pair by task."""
    shown, name = oriented(c, rows), system_name(c.estimates)
    names: list[Column] = [
        (name, "<", lambda d: d.system),
        ("baseline", "<", lambda d: d.baseline),
    ]
    if has_tasks(shown):
        names.append((part_name(c.estimates), "<", lambda d: d.task))
    else:
        shown = sorted(shown, key=lambda d: d.difference * (-1 if d.higher_is_better else 1))
    columns = [*names, *_difference_columns(c, shown, _places(c, rows, digits), digits)]
    title, draw = f"differences, {name} - baseline", partial(_forest, c, shown, len(names))
    spare, details = ["gained, lost"], _details(columns)
    return table_of(title, shown, columns, spare=spare, draw=draw, details=details)


def _rank_tables(
    c: Comparison,
    rows: Sequence[Difference],
    best_first: Sequence[Estimate],
    digits: int | None,
) -> list[Table]:
    """Lay out differences from the best system, and which systems it beats; then all pairs.

    One-sided p-values, and claims of no loss, have a direction. Then the first table has scores,
    and all pairs are always shown.
    """
    place = {e.system: i + 1 for i, e in enumerate(best_first)}
    mark, places, n = mark_of(c, best_first[0]), _places(c, rows, digits), len(best_first)
    better = _better_than(rows, list(place), mark)
    more: list[Column] = [] if best_first[0].n_battles is None else [_BATTLES]
    more.append(("better than", "<", lambda e: better[e.system]))
    pvalue = c.adjusted.pvalue_name if len(rows) > 1 else "p"
    notes = (f"better than: {pvalue} <= {c.significance_level:g}{mark}",)
    is_directed = c.alternative != "two-sided" or bool(rows[0].claim)
    hints = () if n <= _IN_MATRIX else ("to_csv() writes all pairs.",)
    if is_directed:
        score, interval, _ = _score_columns(best_first, places)
        columns: list[Column] = [
            (system_name(best_first), "<", lambda e: e.system),
            *(score, interval, *more),
        ]
        draw = partial(_drawn, [[e] for e in best_first], 1)
        tables = [table_of(_title(best_first), best_first, columns, notes, 0, hints, draw=draw)]
    else:
        best = best_first[0].system
        from_best = [
            d if d.baseline == best else d.turned() for d in rows if best in (d.system, d.baseline)
        ]
        tables = _baseline_table(c, from_best, best_first, digits, "best", more, notes, hints)
    if n > _IN_MATRIX:
        return tables
    is_listed = n <= LISTED_SYSTEMS or is_directed
    pairs = all_pairs(c, rows, digits) if is_listed else _pair_matrix(c, rows, place, places)
    return [*tables, replace(pairs, is_detail=not is_directed)]


def _better_than(rows: Sequence[Difference], names: Sequence[str], mark: str) -> dict[str, str]:
    """Return, for each system, the few others that it is better than, or their number."""
    beaten: dict[str, list[str]] = {name: [] for name in names}
    for d in rows:
        if d.winner is not None and d.kind != "open":
            beaten[d.winner].append(d.baseline if d.winner == d.system else d.system)
    is_named = len(names) <= LISTED_SYSTEMS and sum(map(len, names)) <= _SAID
    better = {}
    for name, others in beaten.items():
        ranked_others = ", ".join(sorted(others, key=names.index)) or "-"
        said = ranked_others if is_named else f"{len(others)} of {len(names) - 1}"
        better[name] = said + mark * bool(others)
    return better


def _pair_matrix(
    c: Comparison, rows: Sequence[Difference], place: dict[str, int], places: dict[str, int]
) -> Table:
    """Lay out all pairs in order of rank: differences above the diagonal, p-values below."""
    n, name, level = len(place), c.adjusted.pvalue_name, c.significance_level
    star = mark_of(c, c.scores_of(rows[0])[0]).strip() or "*"
    cells = [["· " if i == j else "" for j in range(n)] for i in range(n)]
    for d in rows:
        first, second = sorted((place[d.system] - 1, place[d.baseline] - 1))
        value = d.difference if place[d.system] < place[d.baseline] else -d.difference
        said = tabular.number(value, places[d.metric], sign=True)
        cells[first][second] = said + (" " if d.kind == "open" else star)
        cells[second][first] = _adjusted(d, partial(tabular.pvalue, level=level)) + " "
    columns: list[Column] = [
        ("#", ">", list(map(str, place.values()))),
        (system_name(c.estimates), "<", list(place)),
    ]
    columns += [(f"{j + 1} ", ">", [row[j] for row in cells]) for j in range(n)]
    note = f"{star} {name} <= {level:g}"
    hint = "to_csv() writes the intervals of the differences."
    title = f"{rows[0].metric}: differences (row - column) above the diagonal, {name} below"
    return table_of(title, place, columns, (note,), hints=(hint,))


def _drawn(rows: Sequence[Sequence[Estimate]], at: int) -> Forest:
    """Return the drawing of scores, which is placed before column `at`."""
    from evalstats.pictures import marks

    return marks.of_scores(rows, at)


def _forest(
    c: Comparison, rows: Sequence[Difference | None], at: int, one_pair: bool = False
) -> Forest:
    """Return the drawing of differences, which is placed before column `at`."""
    from evalstats.pictures import marks

    return marks.of_comparison(c, rows, at, one_pair)


def _on_one_axis(panel: Sequence[Table]) -> list[Table]:
    """Return the tables of a metric, whose drawings share an axis, except tables of details."""
    return [replace(one, draw=partial(_among, one, panel)) if one.draw else one for one in panel]


def _among(table: Table, panel: Sequence[Table]) -> Forest:
    """Return the drawing of a table, on the axis of all tables of its metric."""
    forest, *others = (x.forest for x in (table, *panel) if x.is_detail == table.is_detail)
    assert forest is not None
    alike = [x for x in others if x and (x.is_free, x.label) == (forest.is_free, forest.label)]
    return replace(forest, among=tuple(alike))


def _panels(rows: Sequence[Any]) -> list[list[Any]]:
    """Return the rows of each table: those of a metric with its totals, or all single rows."""
    if is_mixed(rows):
        return [list(rows)]
    groups = by_metric(rows).values()
    singles = [row for panel in groups if not has_tasks(panel) for row in panel]
    panels = [panel for panel in groups if has_tasks(panel)]
    return [*panels, singles] if singles else panels


def _name_columns(rows: Sequence[Estimate]) -> list[_Cells]:
    """Return the columns that identify a row, with their cells: task, metric, size."""
    columns = []
    if has_tasks(rows):
        columns.append((part_name(rows), "<", [e.task for e in rows]))
    if any(e.metric != rows[0].metric for e in rows):
        directions = len({e.higher_is_better for e in rows}) > 1
        cells = [metric_name(e) if directions else e.metric for e in rows]
        columns.append(("metric", "<", cells))
    if has_tasks(rows):
        units = plural(only((e.unit for e in rows), "unit"))
        columns.append((units, ">", [f"{e.n_segments:,}" for e in rows]))
    return columns


def title(rows: Sequence[Estimate]) -> str:
    """Return ``BLEU, chrF2: 480 segments``."""
    return f"{', '.join(distinct(e.metric for e in rows))}: {_sizes(rows)}"


def _title(panel: Sequence[Estimate]) -> str:
    """Return ``BLEU ↑ (higher is better), 480 segments``, or the number of tasks."""
    rows = [e for e in panel if e.aggregate is None] or panel
    metrics = distinct(e.metric for e in rows)
    shown = ", ".join(metrics) if len(metrics) <= _NAMED else f"{len(metrics)} metrics"
    if len({e.higher_is_better for e in panel}) == 1:
        shown += f" {tabular.which_is_better(panel[0].higher_is_better)}"
    task = "" if has_tasks(rows) or not rows[0].task else f"{rows[0].task}: "
    return f"{task}{shown}, {_sizes(rows)}"


def _sizes(rows: Sequence[Estimate]) -> str:
    """Return ``480 segments``, with the runs of each system, or ``3 tasks``."""
    if has_tasks(rows):
        return counted(len({e.task for e in rows if e.aggregate is None}), part_name(rows))
    runs = rows[0].signature.setting("runs")
    return whole_sizes(rows) + (f", {runs} runs" if runs else "")
