"""What stands in the tables of scores and comparisons."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
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
from evalstats.results.signatures import part_name, signed, system_name
from evalstats.results.tabular import Column, Table, table_of

if TYPE_CHECKING:
    from evalstats.analysis.comparison import Comparison
    from evalstats.pictures.marks import Forest
    from evalstats.results.estimates import Estimate, Estimates

#: Up to so many systems all pairs are listed; up to so many more they are a matrix.
LISTED_SYSTEMS, _IN_MATRIX = 4, 12
#: Systems side by side in a row.
_SIDE_BY_SIDE = 5
#: Systems whose intervals are beside their scores on tasks; of more there is no room for them.
_WITH_INTERVALS = 3
#: Pairs that have a table of their tasks each; of more the totals are shown.
LISTED_PAIRS = 6
#: Metrics that a title names.
_NAMED = 6
#: What a narrow terminal leaves out of a table of scores.
_ERROR = ("std. error",)


def title(estimates: Estimates) -> str:
    """Return ``BLEU, chrF2: 480 segments``."""
    metrics, tasks = distinct(e.metric for e in estimates.rows), estimates.tasks
    sizes = _sizes(list(estimates))
    sizes = counted(len(tasks), part_name(estimates)) if len(tasks) > 1 else sizes
    return f"{', '.join(metrics)}: {sizes}"


def _sizes(estimates: Sequence[Estimate]) -> str:
    """Return ``480 segments``, or ``480 segments, 3 runs`` of each system."""
    runs = estimates[0].signature.setting("runs")
    return whole_sizes(estimates) + (f", {runs} runs" if runs else "")


def score_tables(estimates: Sequence[Estimate], digits: int | None = None) -> list[Table]:
    """Lay out scores with their intervals: systems best first, or a row a task."""
    systems = distinct(e.system for e in estimates)
    if has_tasks(estimates) or (len(systems) == 1 and len(estimates) > 1):
        return [_task_table(panel, systems, digits) for panel in _panels(estimates)]
    tables = []
    for panel in by_metric(estimates).values():
        rows = ranked(panel)
        columns = [_system(panel), *_score(panel, digits), *_battles(panel)]
        draw = partial(_drawn, [[e] for e in rows], 1)
        tables.append(table_of(_title(panel), rows, columns, spare=_ERROR, draw=draw))
    return tables


def _drawn(rows: Sequence[Sequence[Estimate]], at: int) -> Forest:
    """Return what is drawn of scores, before the column of such a place."""
    from evalstats.pictures import marks

    return marks.of_scores(rows, at)


def _system(rows: Sequence[Estimate]) -> Column:
    """Return the column with the names of the systems of these scores."""
    return system_name(rows), "<", lambda row: row.system


def _score(panel: Sequence[Estimate], digits: int | None) -> list[Column]:
    """Return the columns of a score: itself, its interval, its standard error."""
    level, places = tabular.level(panel[0].confidence_level), decimals_of(panel, digits)
    return [
        (score_name(panel[0]), ">", lambda e: tabular.number(e.score, places[e.metric])),
        (f"[{level}]", ">", lambda e: tabular.interval(e.low, e.high, places[e.metric])),
        ("std. error", ">", lambda e: tabular.number(e.standard_error, places[e.metric])),
    ]


def _battles(panel: Sequence[Estimate]) -> list[Column]:
    """Return the column of battles, of an arena."""
    if panel[0].n_battles is None:
        return []
    return [("battles", ">", lambda e: f"{e.n_battles:,}")]


def score_name(row: Any) -> str:
    """Return what a score is called: that of an arena is in log odds, or in Elo's points."""
    names = {"log-odds": "log odds", "elo": "Elo points"}
    return names.get(signed(row).setting("scale"), "score")


def _task_table(panel: Sequence[Estimate], systems: Sequence[str], digits: int | None) -> Table:
    """Lay out the scores of all systems, a row a task or metric."""
    lines: dict[Any, dict[str, Estimate]] = {}
    for e in panel:
        lines.setdefault((e.task, e.aggregate, e.metric), {})[e.system] = e
    columns = _through(lambda line: line[systems[0]], _names(panel))
    cells = _score(panel, digits)
    title = f"{_title(panel)}, {systems[0]}"
    if len(systems) == 1:
        columns += _through(lambda line: line[systems[0]], cells)
    else:
        shown = cells[: 2 if len(systems) <= _WITH_INTERVALS else 1]
        for system in systems:
            whole: Column = (system, ">", lambda e: " ".join(cell(e) for _, _, cell in shown))
            columns += _through(lambda line, system=system: line[system], [whole])  # type: ignore[misc]
        what = f" with {cells[1][0][1:-1]}s" if len(shown) > 1 else ""
        title = f"{_title(panel)}, scores{what}"
    n_totals, rows = sum(aggregate is not None for _, aggregate, _ in lines), list(lines.values())
    table = table_of(title, rows, columns, n_totals=n_totals, spare=_ERROR)
    if len(systems) > _SIDE_BY_SIDE or is_mixed(panel) or len(by_metric(panel)) > 1:
        return table
    # A system that is not on all tasks has no place of its own beside the others.
    if any(len(line) < len(systems) for line in rows):
        return table
    at = len(columns) - (len(cells) if len(systems) == 1 else len(systems))
    drawn_rows = [[line[system] for system in systems] for line in rows]
    return replace(table, draw=partial(_drawn, drawn_rows, at))


def comparison_tables(
    c: Comparison,
    digits: int | None = None,
    verbose: bool = False,
    asked: Sequence[Difference] | None = None,
) -> list[Table]:
    """Lay out differences, all or those that are `asked`: of a pair by task or metric, or a system.

    `verbose` tables have the standard error of the difference, and the correlation of both scores.
    """
    shown = c.differences if asked is None else asked
    n_pairs, of_tasks, how = len(by_pair(shown)), has_tasks(shown), (digits, verbose)
    is_of_pair = n_pairs == 1 and (c.baseline is None or len(shown) > 1)
    if is_of_pair or (of_tasks and (n_pairs <= LISTED_PAIRS or not c.totals)):
        tables = []
        for panel in _panels(oriented(c, shown)):
            of_pairs = [_pair_table(c, d, *how) for d in by_pair(panel).values()]
            tables += [replace(one, draw=partial(_among, one, of_pairs)) for one in of_pairs]
        return tables
    if n_pairs < len(by_pair(c.differences)):
        main = shown if not of_tasks else [d for d in shown if d.aggregate is not None]
        return [all_pairs(c, rows, *how) for rows in by_metric(main).values()]
    metrics = {d.metric for d in shown}
    scores = [e for e in c.estimates if e.metric in metrics]
    tables = score_tables(scores, digits) if of_tasks else []
    main_scores = [e for e in scores if e.aggregate is not None] if of_tasks else scores
    for metric, panel in by_metric(main_scores).items():
        best_first = ranked(panel)
        rows = [d for d in shown if (d.metric, d.task) == (metric, best_first[0].task)]
        lay_out = _rank_tables if c.baseline is None else _baseline_table
        tables += lay_out(c, rows, best_first, *how)
    return tables


def _of_task(c: Comparison, rows: Sequence[Difference]) -> list[Estimate]:
    """Return the scores on the tasks of differences."""
    tasks = {d.task for d in rows}
    return [e for e in c.estimates if e.task in tasks]


def _difference_columns(
    c: Comparison,
    rows: Sequence[Difference],
    digits: int | None,
    verbose: bool = False,
    one_pair: bool = False,
) -> list[Column]:
    """Return what is said of a difference: value, interval, p-values, verdict, claim.

    Of one pair there is one p-value, which its verdicts are of.
    """
    scores = _of_task(c, rows)
    # Decimals of scores and of differences are the same.
    places, noted = decimals_of(scores, digits), {e.task: mark_of(c, e) for e in scores}
    several = c.adjustment != "none" and any(c.adjusted.n_compared(d) > 1 for d in rows)

    def correlation(d: Difference) -> str:
        r = c.correlation(d)
        return "-" if r is None else tabular.number(r, 2)

    def interval(d: Difference) -> str:
        # Where nothing differs nothing was measured, but for counts, which say something all the
        # same.
        is_none = d.n_differing == 0 and d.low == d.high
        return "-" if is_none else tabular.interval(d.low, d.high, places[d.metric], sign=True)

    columns: list[Column] = [
        ("difference", ">", lambda d: tabular.number(d.difference, places[d.metric], sign=True)),
        (f"[{tabular.level(c.confidence_level)}]", ">", interval),
    ]
    if verbose:
        columns += [
            ("std. error", ">", lambda d: tabular.number(d.standard_error, places[d.metric])),
            ("correlation", ">", correlation),
        ]
    if any(d.gained is not None for d in rows):
        columns.append(("gained, lost", ">", gained_lost))
    if not (several and one_pair):
        columns.append(("p", ">", lambda d: tabular.pvalue(d.pvalue)))
    if several:
        columns.append((c.adjusted.pvalue_name(), ">", _adjusted))
    columns.append(
        ("verdict", "<", lambda d: d.verdict + (noted[d.task] if d.kind != "open" else ""))
    )
    limits = (("margin", c.margin), ("recovery", c.recovery))
    return columns + [(f"{x} {y:g}", "<", lambda d: d.claim) for x, y in limits if y is not None]


def _adjusted(d: Difference) -> str:
    """Return the p-value that verdicts are of."""
    # Where no data could bring it to the level it is no evidence, for or against.
    return "-" if d.verdict == "cannot tell" else tabular.pvalue(d.pvalue_adjusted)


def gained_lost(d: Difference) -> str:
    """Return ``14, 6``, or nothing."""
    return "" if d.gained is None else f"{d.gained}, {d.lost}"


def _forest(
    c: Comparison, rows: Sequence[Difference | None], at: int, one_pair: bool = False
) -> Forest:
    """Return what is drawn of differences, before the column of such a place."""
    from evalstats.pictures import marks

    return marks.of_comparison(c, rows, at, one_pair)


def _baseline_table(
    c: Comparison,
    rows: Sequence[Difference],
    best_first: Sequence[Estimate],
    digits: int | None,
    verbose: bool,
) -> list[Table]:
    """Lay out the baseline, and the other systems with their differences from it, best first."""
    by_system = {d.system: d for d in rows}
    first, *others = _difference_columns(c, rows, digits, verbose)
    columns = [
        _system(best_first),
        *_score(_of_task(c, rows), digits)[:2],
        *_through(lambda e: by_system.get(e.system), [first], "baseline"),
        *_through(lambda e: by_system.get(e.system), others),
    ]
    systems = sorted(best_first, key=lambda e: e.system in by_system)
    # The verdict is of the adjusted p-value, where there is one.
    names, adjusted = [name for name, _, _ in columns], c.adjusted.pvalue_name()
    spare = [names[2], "gained, lost", *(["p"] if "p" != adjusted in names else [])]
    draw = partial(_forest, c, [by_system.get(e.system) for e in systems], 3)
    return [table_of(_title(best_first), systems, columns, spare=spare, draw=draw)]


def _pair_table(
    c: Comparison, rows: Sequence[Difference], digits: int | None, verbose: bool
) -> Table:
    """Lay out the differences of one pair, a row a task or metric."""
    first, places = rows[0], decimals_of(_of_task(c, rows), digits)
    names = _names([c.scores_of(d)[1] for d in rows]) or [("metric", "<", metric_name)]
    columns = [
        *_through(lambda d: c.scores_of(d)[1], names),
        (first.baseline, ">", lambda d: tabular.number(d.baseline_score, places[d.metric])),
        (first.system, ">", lambda d: tabular.number(d.system_score, places[d.metric])),
        *_difference_columns(c, rows, digits, verbose, one_pair=True),
    ]
    pair, shown = (first.baseline, first.system), {(d.task, d.metric) for d in rows}
    both = [e for e in c.estimates if e.system in pair and (e.task, e.metric) in shown]
    title = f"{_title(both)}, {first.system} - {first.baseline}"
    spare = ["gained, lost", *(name for name, side, _ in names if side == ">")]
    n_totals = sum(d.aggregate is not None for d in rows)
    draw = partial(_forest, c, rows, len(names) + 2, one_pair=True)
    return table_of(title, rows, columns, n_totals=n_totals, spare=spare, draw=draw)


def _among(table: Table, panel: Sequence[Table]) -> Forest:
    """Return what is drawn in a table, on the axis of all tables of its metric."""
    forest, *others = (other.forest for other in (table, *panel))
    assert forest is not None
    alike = [other for other in others if other and other.is_free == forest.is_free]
    return replace(forest, among=tuple(alike))


def all_pairs(
    c: Comparison, rows: Sequence[Difference], digits: int | None = None, verbose: bool = False
) -> Table:
    """Lay out the differences of several pairs, the largest first, or each pair's by task."""
    shown, scores = oriented(c, rows), _of_task(c, rows)
    names: list[Column] = [_system(scores), ("baseline", "<", lambda d: d.baseline)]
    if has_tasks(shown):
        names.append((part_name(c.estimates), "<", lambda d: d.task))
    else:
        shown = sorted(shown, key=lambda d: d.difference * (-1 if d.higher_is_better else 1))
    columns = [*names, *_difference_columns(c, rows, digits, verbose)]
    title = f"differences, {names[0][0]} - baseline"
    return table_of(title, shown, columns, draw=partial(_forest, c, shown, len(names)))


def _rank_tables(
    c: Comparison,
    rows: Sequence[Difference],
    best_first: Sequence[Estimate],
    digits: int | None,
    verbose: bool,
) -> list[Table]:
    """Lay out a ranking that says who beats whom, then the differences of all pairs."""
    place = {e.system: i + 1 for i, e in enumerate(best_first)}
    beaten: dict[str, list[int]] = {e.system: [] for e in best_first}
    for d in rows:
        if d.winner is not None and d.kind != "open":
            beaten[d.winner].append(place[d.baseline if d.winner == d.system else d.system])
    mark, scores = mark_of(c, best_first[0]), _score(_of_task(c, rows), digits)[:2]
    better = {name: _ranges(places) + mark if places else "-" for name, places in beaten.items()}
    shown = c.adjusted.pvalue_name(len(rows) > 1)
    columns: list[Column] = [
        ("#", ">", lambda e: str(place[e.system])),
        _system(best_first),
        *scores,
        *_battles(best_first),
        ("better than", "<", lambda e: better[e.system]),
    ]
    shows_pairs = len(best_first) <= _IN_MATRIX
    ranking = table_of(
        _title(best_first),
        best_first,
        columns,
        (f"better than: {shown} <= {c.significance_level:g}{mark}",),
        hints=() if shows_pairs else ("All pairs: to_csv().",),
        spare=[scores[1][0]],
        draw=partial(_drawn, [[e] for e in best_first], 2),
    )
    if not shows_pairs:
        return [ranking]
    # A one-sided p-value, and a claim of no loss, belong to one direction, which a matrix in order
    # of rank would hide.
    directed = c.alternative != "two-sided" or rows[0].claim
    if len(best_first) > LISTED_SYSTEMS and not directed:
        return [ranking, _pair_matrix(c, rows, place, digits)]
    return [ranking, all_pairs(c, rows, digits, verbose)]


def _pair_matrix(
    c: Comparison, rows: Sequence[Difference], place: Mapping[str, int], digits: int | None
) -> Table:
    """Lay out all pairs in order of rank: differences above the diagonal, p-values below."""
    n, scores = len(place), _of_task(c, rows)
    places, star = decimals_of(scores, digits), mark_of(c, scores[0]).strip() or "*"
    cells = [["· " if i == j else "" for j in range(n)] for i in range(n)]
    for d in rows:
        first, second = sorted((place[d.system] - 1, place[d.baseline] - 1))
        value = d.difference if place[d.system] < place[d.baseline] else -d.difference
        shown = tabular.number(value, places[d.metric], sign=True)
        cells[first][second] = shown + (" " if d.kind == "open" else star)
        cells[second][first] = _adjusted(d) + " "
    adjusted = c.adjusted.pvalue_name()
    columns: list[Column] = [("#", ">", lambda i: str(i + 1))]
    columns += [(f"{j + 1} ", ">", lambda i, j=j: cells[i][j]) for j in range(n)]  # type: ignore[misc]
    note = f"{star} {adjusted} <= {c.significance_level:g}"
    hint = "Intervals of the differences: plot(), or to_csv()."
    title = f"{rows[0].metric}: difference row - column above the diagonal, {adjusted} below"
    return table_of(title, range(n), columns, (note,), hints=(hint,))


def _panels(rows: Sequence[Any]) -> list[list[Any]]:
    """Return what is in one table: the rows and totals of a metric; of those with one row, all."""
    if is_mixed(rows):
        return [list(rows)]
    groups = by_metric(rows).values()
    singles = [row for panel in groups if not has_tasks(panel) for row in panel]
    panels = [panel for panel in groups if has_tasks(panel)]
    return [*panels, singles] if singles else panels


def _through(
    part: Callable[[Any], Any], columns: Iterable[Column], otherwise: str = ""
) -> list[Column]:
    """Return columns of a part of a row, or of what stands where there is none."""

    def of_part(cell: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda row: otherwise if (record := part(row)) is None else cell(record)

    return [(header, side, of_part(cell)) for header, side, cell in columns]


def _names(panel: Sequence[Estimate]) -> list[Column]:
    """Return the columns that say which row it is, of estimates: task, metric, size."""
    columns: list[Column] = []
    if has_tasks(panel):
        columns.append((part_name(panel), "<", lambda e: e.task))
    directions = len({e.higher_is_better for e in panel}) > 1
    if any(e.metric != panel[0].metric for e in panel):
        columns.append(("metric", "<", lambda e: metric_name(e) if directions else e.metric))
    if has_tasks(panel):
        units = plural(only((e.unit for e in panel), "unit"))
        columns.append((units, ">", lambda e: f"{e.n_segments:,}"))
    return columns


def _title(panel: Sequence[Estimate]) -> str:
    """Return ``BLEU ↑ (higher is better), 480 segments``, or how many tasks."""
    rows = [e for e in panel if e.aggregate is None] or panel
    tasks, metrics = distinct(e.task for e in rows), distinct(e.metric for e in rows)
    shown = ", ".join(metrics) if len(metrics) <= _NAMED else f"{len(metrics)} metrics"
    if len({e.higher_is_better for e in panel}) == 1:
        shown += f" {tabular.which_is_better(panel[0].higher_is_better)}"
    if len(tasks) > 1:
        return f"{shown}, {counted(len(tasks), part_name(rows))}"
    return f"{f'{tasks[0]}: ' if tasks[0] else ''}{shown}, {_sizes(panel)}"


def _ranges(numbers: Sequence[int]) -> str:
    """Return ``2, 4-6`` for 2, 4, 5, 6."""
    runs: list[list[int]] = []
    for n in sorted(numbers):
        if runs and n == runs[-1][1] + 1:
            runs[-1][1] = n
        else:
            runs.append([n, n])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)
