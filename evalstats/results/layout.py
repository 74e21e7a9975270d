"""What stands in the tables of scores and comparisons."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
from evalstats.results.signatures import part_name, system_name
from evalstats.results.tabular import Column, Table, table_of

if TYPE_CHECKING:
    from evalstats.analysis.comparison import Comparison
    from evalstats.pictures.marks import Forest
    from evalstats.results.estimates import Estimate

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
#: A column with its cells.
_Cells = tuple[str, str, list[str]]
_BATTLES: Column = ("battles", ">", lambda e: f"{e.n_battles:,}")


def score_tables(estimates: Sequence[Estimate], digits: int | None = None) -> list[Table]:
    """Lay out scores with their intervals: systems best first, or a row a task."""
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
        tables.append(table_of(_title(panel), rows, columns, spare=_ERROR, draw=draw))
    return tables


def _task_table(panel: Sequence[Estimate], systems: Sequence[str], digits: int | None) -> Table:
    """Lay out the scores of all systems, a row a task or metric."""
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
        spare=_ERROR,
        draw=partial(_drawn, rows, len(names)) if is_drawn else None,
    )


def _score_columns(rows: Sequence[Estimate], places: dict[str, int]) -> list[_Cells]:
    """Return the columns of a score, with their cells: itself, its interval, its standard error."""
    level = tabular.level(rows[0].confidence_level)
    return [
        (score_name(rows[0]), ">", [tabular.number(e.score, places[e.metric]) for e in rows]),
        (f"[{level}]", ">", [tabular.interval(e.low, e.high, places[e.metric]) for e in rows]),
        ("std. error", ">", [tabular.number(e.standard_error, places[e.metric]) for e in rows]),
    ]


def score_name(row: Any) -> str:
    """Return what a score is called: that of an arena is in log odds, or in Elo's points."""
    names = {"log-odds": "log odds", "elo": "Elo points"}
    return names.get(row.signature.setting("scale"), "score")


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
    tables: list[Table] = []
    if is_of_pair or (of_tasks and (n_pairs <= LISTED_PAIRS or not c.totals)):
        for panel in _panels(oriented(c, shown)):
            of_pairs = [_pair_table(c, d, *how) for d in by_pair(panel).values()]
            tables += [replace(one, draw=partial(_among, one, of_pairs)) for one in of_pairs]
        return tables
    if n_pairs < len(by_pair(c.differences)):
        main = shown if not of_tasks else [d for d in shown if d.aggregate is not None]
        return [all_pairs(c, rows, *how) for rows in by_metric(main).values()]
    metrics = {d.metric for d in shown}
    scores = [e for e in c.estimates if e.metric in metrics]
    if of_tasks:
        tables = score_tables(scores, digits)
        scores = [e for e in scores if e.aggregate is not None]
    for metric, of_metric in by_metric(scores).items():
        best_first = ranked(of_metric)
        rows = [d for d in shown if (d.metric, d.task) == (metric, best_first[0].task)]
        lay_out = _rank_tables if c.baseline is None else _baseline_table
        tables += lay_out(c, rows, best_first, *how)
    return tables


def _places(c: Comparison, rows: Sequence[Any], digits: int | None) -> dict[str, int]:
    """Return the decimals of each metric, by the scores on the tasks of these rows.

    Those of scores and of differences are the same.
    """
    tasks = {row.task for row in rows}
    return decimals_of([e for e in c.estimates if e.task in tasks], digits)


def _difference_columns(
    c: Comparison,
    rows: Sequence[Difference | None],
    places: dict[str, int],
    verbose: bool = False,
    one_pair: bool = False,
) -> list[_Cells]:
    """Return what is said of a difference, with cells: value, interval, p-values, verdict, claim.

    Of one pair there is one p-value, which its verdicts are of. A row without a difference is
    empty.
    """
    known = [d for d in rows if d is not None]
    several = c.adjustment != "none" and any(c.adjusted.n_compared(d) > 1 for d in known)
    noted = {e.task: mark_of(c, e) for e in c.estimates}

    def interval(d: Difference) -> str:
        # Where nothing differs nothing was measured, but for counts, which say something all the
        # same.
        is_none = d.n_differing == 0 and d.low == d.high
        return "-" if is_none else tabular.interval(d.low, d.high, places[d.metric], sign=True)

    columns: list[tuple[str, str, Callable[[Difference], str]]] = [
        ("difference", ">", lambda d: tabular.number(d.difference, places[d.metric], sign=True)),
        (f"[{tabular.level(c.confidence_level)}]", ">", interval),
    ]
    if verbose:
        columns += [
            ("std. error", ">", lambda d: tabular.number(d.standard_error, places[d.metric])),
            (
                "correlation",
                ">",
                lambda d: "-" if (r := c.correlation(d)) is None else tabular.number(r, 2),
            ),
        ]
    if any(d.gained is not None for d in known):
        columns.append(("gained, lost", ">", gained_lost))
    if not (several and one_pair):
        columns.append(("p", ">", lambda d: tabular.pvalue(d.pvalue)))
    if several:
        columns.append((c.adjusted.pvalue_name, ">", _adjusted))
    columns.append(
        ("verdict", "<", lambda d: d.verdict + (noted[d.task] if d.kind != "open" else ""))
    )
    limits = (("margin", c.margin), ("recovery", c.recovery))
    columns += [(f"{x} {y:g}", "<", lambda d: d.claim) for x, y in limits if y is not None]
    return [
        (name, side, ["" if d is None else cell(d) for d in rows]) for name, side, cell in columns
    ]


def _adjusted(d: Difference) -> str:
    """Return the p-value that verdicts are of."""
    # Where no data could bring it to the level it is no evidence, for or against.
    return "-" if d.verdict == "cannot tell" else tabular.pvalue(d.pvalue_adjusted)


def gained_lost(d: Difference) -> str:
    """Return ``14, 6``, or nothing."""
    return "" if d.gained is None else f"{d.gained}, {d.lost}"


def _baseline_table(
    c: Comparison,
    rows: Sequence[Difference],
    best_first: Sequence[Estimate],
    digits: int | None,
    verbose: bool,
) -> list[Table]:
    """Lay out the baseline, and the other systems with their differences from it, best first."""
    by_system, places = {d.system: d for d in rows}, _places(c, rows, digits)
    systems = sorted(best_first, key=lambda e: e.system in by_system)
    shown = [by_system.get(e.system) for e in systems]
    score, interval, _ = _score_columns(systems, places)
    (name, side, cells), *others = _difference_columns(c, shown, places, verbose)
    # The verdict is of the adjusted p-value, where there is one.
    has_adjusted = any(name == c.adjusted.pvalue_name != "p" for name, _, _ in others)
    columns: list[Column] = [
        (system_name(systems), "<", lambda e: e.system),
        *(score, interval, (name, side, [cell or "baseline" for cell in cells]), *others),
    ]
    spare = [interval[0], "gained, lost", *["p"] * has_adjusted]
    draw = partial(_forest, c, shown, 3)
    return [table_of(_title(best_first), systems, columns, spare=spare, draw=draw)]


def _pair_table(
    c: Comparison, rows: Sequence[Difference], digits: int | None, verbose: bool
) -> Table:
    """Lay out the differences of one pair, a row a task or metric."""
    first, places = rows[0], _places(c, rows, digits)
    scores = [c.scores_of(d) for d in rows]
    names = _name_columns([new for _, new in scores])
    names = names or [("metric", "<", [metric_name(d) for d in rows])]
    columns: list[Column] = [
        *names,
        (first.baseline, ">", lambda d: tabular.number(d.baseline_score, places[d.metric])),
        (first.system, ">", lambda d: tabular.number(d.system_score, places[d.metric])),
        *_difference_columns(c, rows, places, verbose, one_pair=True),
    ]
    title = f"{_title([e for both in scores for e in both])}, {first.system} - {first.baseline}"
    spare = ["gained, lost", *(name for name, side, _ in names if side == ">")]
    n_totals = sum(d.aggregate is not None for d in rows)
    draw = partial(_forest, c, rows, len(names) + 2, one_pair=True)
    return table_of(title, rows, columns, n_totals=n_totals, spare=spare, draw=draw)


def all_pairs(
    c: Comparison, rows: Sequence[Difference], digits: int | None = None, verbose: bool = False
) -> Table:
    """Lay out the differences of several pairs, the largest first, or each pair's by task."""
    shown, name = oriented(c, rows), system_name(c.estimates)
    names: list[Column] = [
        (name, "<", lambda d: d.system),
        ("baseline", "<", lambda d: d.baseline),
    ]
    if has_tasks(shown):
        names.append((part_name(c.estimates), "<", lambda d: d.task))
    else:
        shown = sorted(shown, key=lambda d: d.difference * (-1 if d.higher_is_better else 1))
    columns = [*names, *_difference_columns(c, shown, _places(c, rows, digits), verbose)]
    draw = partial(_forest, c, shown, len(names))
    return table_of(f"differences, {name} - baseline", shown, columns, draw=draw)


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
    mark, places = mark_of(c, best_first[0]), _places(c, rows, digits)
    better = {name: _ranges(ranks) + mark if ranks else "-" for name, ranks in beaten.items()}
    pvalue = c.adjusted.pvalue_name if len(rows) > 1 else "p"
    score, interval, _ = _score_columns(best_first, places)
    columns: list[Column] = [
        ("#", ">", lambda e: str(place[e.system])),
        (system_name(best_first), "<", lambda e: e.system),
        score,
        interval,
        *([] if best_first[0].n_battles is None else [_BATTLES]),
        ("better than", "<", lambda e: better[e.system]),
    ]
    shows_pairs = len(best_first) <= _IN_MATRIX
    ranking = table_of(
        _title(best_first),
        best_first,
        columns,
        (f"better than: {pvalue} <= {c.significance_level:g}{mark}",),
        hints=() if shows_pairs else ("All pairs: to_csv().",),
        spare=[interval[0]],
        draw=partial(_drawn, [[e] for e in best_first], 2),
    )
    if not shows_pairs:
        return [ranking]
    # A one-sided p-value, and a claim of no loss, belong to one direction, which a matrix in order
    # of rank would hide.
    if len(best_first) <= LISTED_SYSTEMS or c.alternative != "two-sided" or rows[0].claim:
        return [ranking, all_pairs(c, rows, digits, verbose)]
    return [ranking, _pair_matrix(c, rows, place, places)]


def _pair_matrix(
    c: Comparison, rows: Sequence[Difference], place: dict[str, int], places: dict[str, int]
) -> Table:
    """Lay out all pairs in order of rank: differences above the diagonal, p-values below."""
    n, name = len(place), c.adjusted.pvalue_name
    star = mark_of(c, c.scores_of(rows[0])[0]).strip() or "*"
    cells = [["· " if i == j else "" for j in range(n)] for i in range(n)]
    for d in rows:
        first, second = sorted((place[d.system] - 1, place[d.baseline] - 1))
        value = d.difference if place[d.system] < place[d.baseline] else -d.difference
        said = tabular.number(value, places[d.metric], sign=True)
        cells[first][second] = said + (" " if d.kind == "open" else star)
        cells[second][first] = _adjusted(d) + " "
    columns: list[Column] = [("#", ">", list(map(str, place.values())))]
    columns += [(f"{j + 1} ", ">", [row[j] for row in cells]) for j in range(n)]
    note = f"{star} {name} <= {c.significance_level:g}"
    hint = "Intervals of the differences: plot(), or to_csv()."
    title = f"{rows[0].metric}: difference row - column above the diagonal, {name} below"
    return table_of(title, place, columns, (note,), hints=(hint,))


def _drawn(rows: Sequence[Sequence[Estimate]], at: int) -> Forest:
    """Return what is drawn of scores, before the column of such a place."""
    from evalstats.pictures import marks

    return marks.of_scores(rows, at)


def _forest(
    c: Comparison, rows: Sequence[Difference | None], at: int, one_pair: bool = False
) -> Forest:
    """Return what is drawn of differences, before the column of such a place."""
    from evalstats.pictures import marks

    return marks.of_comparison(c, rows, at, one_pair)


def _among(table: Table, panel: Sequence[Table]) -> Forest:
    """Return what is drawn in a table, on the axis of all tables of its metric."""
    forest, *others = (other.forest for other in (table, *panel))
    assert forest is not None
    alike = [other for other in others if other and other.is_free == forest.is_free]
    return replace(forest, among=tuple(alike))


def _panels(rows: Sequence[Any]) -> list[list[Any]]:
    """Return what is in one table: the rows and totals of a metric; of those with one row, all."""
    if is_mixed(rows):
        return [list(rows)]
    groups = by_metric(rows).values()
    singles = [row for panel in groups if not has_tasks(panel) for row in panel]
    panels = [panel for panel in groups if has_tasks(panel)]
    return [*panels, singles] if singles else panels


def _name_columns(rows: Sequence[Estimate]) -> list[_Cells]:
    """Return the columns that say which row it is, with cells: task, metric, size."""
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
    """Return ``BLEU ↑ (higher is better), 480 segments``, or how many tasks."""
    rows = [e for e in panel if e.aggregate is None] or panel
    metrics = distinct(e.metric for e in rows)
    shown = ", ".join(metrics) if len(metrics) <= _NAMED else f"{len(metrics)} metrics"
    if len({e.higher_is_better for e in panel}) == 1:
        shown += f" {tabular.which_is_better(panel[0].higher_is_better)}"
    task = "" if has_tasks(rows) or not rows[0].task else f"{rows[0].task}: "
    return f"{task}{shown}, {_sizes(rows)}"


def _sizes(rows: Sequence[Estimate]) -> str:
    """Return ``480 segments``, with the runs of each system; of several tasks ``3 tasks``."""
    if has_tasks(rows):
        return counted(len({e.task for e in rows if e.aggregate is None}), part_name(rows))
    runs = rows[0].signature.setting("runs")
    return whole_sizes(rows) + (f", {runs} runs" if runs else "")


def _ranges(numbers: Sequence[int]) -> str:
    """Return ``2, 4-6`` for 2, 4, 5, 6."""
    runs: list[list[int]] = []
    for n in sorted(numbers):
        if runs and n == runs[-1][1] + 1:
            runs[-1][1] = n
        else:
            runs.append([n, n])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)
