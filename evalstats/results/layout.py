"""How scores and comparisons are laid out: what a row says, in which order, how many decimals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from evalstats.results import tabular
from evalstats.results.records import (
    Difference,
    by_metric,
    by_pair,
    contrast_of,
    counted,
    decimals_of,
    distinct,
    has_tasks,
    is_mixed,
    kind_of,
    listed,
    mark_of,
    metric_name,
    plural,
    ranked,
    size,
    whole_sizes,
)
from evalstats.results.tabular import Column, Table, table_of

#: Up to so many systems all pairs are listed; up to so many more they are a matrix, if not asked.
_LISTED_SYSTEMS, _IN_MATRIX = 4, 12
#: Systems whose intervals are beside their scores on tasks; of more there is no room for them.
_WITH_INTERVALS = 3
#: Pairs that have a table of their tasks each; of more the totals are shown.
_LISTED_PAIRS = 6
#: Metrics that a title names.
_NAMED = 6
_SYSTEM: Column = ("system", "<", lambda e: e.system)


def title(estimates: Any) -> str:
    """Return ``BLEU, chrF2: 480 segments``."""
    metrics, tasks = distinct(e.metric for e in estimates.rows), estimates.tasks
    of = counted(len(tasks), "task") if len(tasks) > 1 else whole_sizes(list(estimates))
    return f"{', '.join(metrics)}: {of}"


def score_tables(estimates: Sequence[Any], digits: int | None = None) -> list[Table]:
    """Lay out scores with their intervals: systems best first, or a row a task."""
    systems = distinct(e.system for e in estimates)
    if not has_tasks(estimates) and (len(systems) > 1 or len(estimates) == 1):
        return [_system_table(panel, digits) for panel in by_metric(estimates).values()]
    return [_task_table(panel, systems, digits) for panel in _panels(estimates)]


def _system_table(panel: Sequence[Any], digits: int | None) -> Table:
    columns = [_SYSTEM, *_score(panel, decimals_of(panel, digits))]
    return table_of(_title(panel), ranked(panel), columns)


def _score(panel: Sequence[Any], places: dict[str, int]) -> list[Column]:
    """Return the columns of a score: itself, its interval, its standard error."""
    level = tabular.level(panel[0].confidence_level)
    return [
        ("score", ">", lambda e: tabular.number(e.score, places[e.metric])),
        (f"[{level}]", ">", lambda e: tabular.interval(e.low, e.high, places[e.metric])),
        ("std. error", ">", lambda e: tabular.number(e.standard_error, places[e.metric])),
    ]


def _task_table(panel: Sequence[Any], systems: Sequence[str], digits: int | None) -> Table:
    """Lay out the scores of all systems, a row a task or metric."""
    lines: dict[Any, dict[str, Any]] = {}
    for e in panel:
        lines.setdefault((e.task, e.aggregate, e.metric), {})[e.system] = e
    columns = _through(lambda line: line[systems[0]], _names(panel))
    cells = _score(panel, decimals_of(panel, digits))
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
    n_totals = sum(aggregate is not None for _, aggregate, _ in lines)
    return table_of(title, list(lines.values()), columns, n_totals=n_totals)


def comparison_tables(
    comparison: Any,
    digits: int | None = None,
    matrix: bool | None = None,
    verbose: bool = False,
) -> list[Table]:
    """Lay out differences: of one pair a row a task or metric, of several a row a system.

    `verbose` tables have the standard error of the difference, and the correlation of both scores.
    """
    estimates, found = comparison.estimates, comparison.differences
    pairs = by_pair(found)
    of_tasks = has_tasks(found)
    several = len(pairs) == 1 and len({(d.task, d.metric) for d in found}) > 1
    if several or (of_tasks and (len(pairs) <= _LISTED_PAIRS or not comparison.totals)):
        groups = [group for panel in _panels(found) for group in by_pair(panel).values()]
        return [_pair_table(_Differences(comparison, group, digits, verbose)) for group in groups]
    shown = estimates.totals if of_tasks else estimates
    tables = score_tables(estimates, digits) if of_tasks else []
    for metric, scores in by_metric(shown).items():
        some = ranked(scores)
        of = [d for d in found if (d.metric, d.task) == (metric, some[0].task)]
        differences = _Differences(comparison, of, digits, verbose)
        if comparison.baseline is None:
            tables += _rank_tables(differences, some, matrix)
        else:
            tables.append(_baseline_table(differences, some))
    return tables


class _Differences:
    """Differences that stand in one table, and what its cells say of them."""

    def __init__(
        self,
        comparison: Any,
        found: Sequence[Difference],
        digits: int | None,
        verbose: bool = False,
    ) -> None:
        self.comparison, self.found, self.verbose = comparison, found, verbose
        self.contrast = contrast_of(comparison.contrast)
        tasks = {d.task for d in found}
        units = {e.task: e.unit for e in comparison.estimates}
        self.marks = {task: mark_of(comparison, units[task]) for task in tasks}
        # Decimals of scores, and of differences, which are the same; ratios' are not.
        self.scores = decimals_of([e for e in comparison.estimates if e.task in tasks], digits)
        is_difference = comparison.contrast == "difference"
        self.own = self.scores if is_difference else decimals_of(found, digits)

    def columns(self, one_pair: bool = False) -> list[Column]:
        """Return what is said of a difference: value, interval, p-values, verdict, claim.

        Of one pair there is one p-value, which its verdicts are of.
        """
        c, level = self.comparison, tabular.level(self.comparison.confidence_level)
        if c.method == "simultaneous":
            level = level.replace("interval", "simultaneous")
        several = c.adjustment != "none" and any(c.adjusted.n_compared(d) > 1 for d in self.found)
        columns: list[Column] = [
            (self.contrast.column, ">", lambda d: self.number(d, d.value)),
            (f"[{level}]", ">", self.interval),
        ]
        if self.verbose:
            columns.append(("std. error", ">", self.error))
            columns.append(("correlation", ">", self.correlation))
        if any(d.discordant is not None for d in self.found):
            columns.append(("gained, lost", ">", lambda d: gained_lost(d.discordant)))
        if not (several and one_pair):
            columns.append(("p", ">", lambda d: tabular.pvalue(d.pvalue)))
        if several:
            columns.append((c.adjusted.pvalue_name(), ">", self.adjusted))
        columns.append(("verdict", "<", self.verdict))
        for name in ("margin", "recovery"):
            if (limit := getattr(c, name)) is not None:
                columns.append((f"{name} {limit:g}", "<", c.claim))
        return columns

    def number(self, d: Difference, value: float) -> str:
        """Return a value as it stands in a cell."""
        return tabular.number(value, self.own[d.metric], sign=self.contrast.is_signed)

    def interval(self, d: Difference) -> str:
        """Return the interval, or none where nothing differs and so nothing was measured."""
        # One that counts segments says something of them all the same.
        if d.n_differing == 0 and d.low == d.high:
            return "-"
        return tabular.interval(d.low, d.high, self.own[d.metric], sign=self.contrast.is_signed)

    def error(self, d: Difference) -> str:
        """Return the standard error of the difference, or of the ratio."""
        return tabular.number(d.standard_error, self.own[d.metric])

    def correlation(self, d: Difference) -> str:
        """Return the correlation of the two scores."""
        found = self.comparison.correlation(d)
        return "-" if found is None else tabular.number(found, 2)

    def adjusted(self, d: Difference) -> str:
        """Return the p-value that verdicts are of."""
        # Where no data could bring it to the level it is no evidence, for or against.
        open_ = self.comparison.adjusted.cannot_reject(d) and d.n_differing
        return "-" if open_ else tabular.pvalue(d.pvalue_adjusted)

    def verdict(self, d: Difference) -> str:
        """Return what is known of the pair, in a word or two."""
        if d.n_differing == 0:
            return "identical"
        if self.comparison.adjusted.cannot_reject(d):
            return "cannot tell"
        kind = kind_of(self.comparison, d)
        return "no evidence" if kind == "open" else kind + self.marks[d.task]


def _pair_table(differences: _Differences) -> Table:
    found, places = differences.found, differences.scores
    first = found[0]
    sizes = {(e.task, e.metric): e for e in differences.comparison.estimates}
    of = [sizes[d.task, d.metric] for d in found]
    columns = [
        *_through(lambda d: sizes[d.task, d.metric], _names(of)),
        (first.baseline, ">", lambda d: tabular.number(d.baseline_score, places[d.metric])),
        (first.system, ">", lambda d: tabular.number(d.system_score, places[d.metric])),
        *differences.columns(one_pair=True),
    ]
    sign = differences.contrast.sign.replace("−", "-")
    n_totals = sum(d.aggregate is not None for d in found)
    pair, rows = (first.baseline, first.system), {(d.task, d.metric) for d in found}
    estimates = differences.comparison.estimates
    both = [e for e in estimates if e.system in pair and (e.task, e.metric) in rows]
    title = f"{_title(both)}, {first.system} {sign} {first.baseline}"
    return table_of(title, found, columns, n_totals=n_totals)


def _baseline_table(differences: _Differences, best_first: Sequence[Any]) -> Table:
    """Lay out one row a system: its score, and its difference to the baseline."""
    of = {d.system: d for d in differences.found}
    first, *others = differences.columns()
    columns = [
        _SYSTEM,
        *_score(best_first, differences.scores)[:2],
        *_through(lambda e: of.get(e.system), [first], "baseline"),
        *_through(lambda e: of.get(e.system), others),
    ]
    rows = sorted(best_first, key=lambda e: e.system in of)
    return table_of(_title(best_first), rows, columns)


def _rank_tables(
    differences: _Differences, best_first: Sequence[Any], matrix: bool | None
) -> list[Table]:
    """Lay out a ranking that says who beats whom, then the differences of all pairs."""
    comparison, found = differences.comparison, differences.found
    n = len(best_first)
    place = {e.system: i + 1 for i, e in enumerate(best_first)}
    beaten: dict[str, list[int]] = {e.system: [] for e in best_first}
    for d in found:
        if comparison.significant(d) and d.winner is not None:
            loser = {d.system, d.baseline} - {d.winner}
            beaten[d.winner].append(place[loser.pop()])
    mark = differences.marks[found[0].task]
    note = f"better than: {comparison.adjusted.pvalue_name(len(found) > 1)} <= "
    note += f"{comparison.significance_level:g}{mark}"
    columns: list[Column] = [
        ("#", ">", lambda e: str(place[e.system])),
        _SYSTEM,
        *_score(best_first, differences.scores)[:2],
        (
            "better than",
            "<",
            lambda e: _ranges(beaten[e.system]) + mark if beaten[e.system] else "-",
        ),
    ]
    shows_pairs = n <= _IN_MATRIX if matrix is None else matrix
    hints = () if shows_pairs else ("all pairs: to_text(matrix=True), or --matrix; to_csv()",)
    ranking = table_of(_title(best_first), best_first, columns, (note,), hints=hints)
    if not shows_pairs:
        return [ranking]
    # A one-sided p-value, and a claim of no loss, belong to one direction, which a matrix in order
    # of rank would hide.
    directed = comparison.alternative != "two-sided" or comparison.claim(found[0])
    if n > _LISTED_SYSTEMS and not directed:
        return [ranking, _pair_matrix(differences, best_first)]
    baseline: Column = ("baseline", "<", lambda d: d.baseline)
    columns = [_SYSTEM, baseline, *differences.columns()]
    return [ranking, table_of(differences.contrast.of_pair, found, columns)]


def _pair_matrix(differences: _Differences, best_first: Sequence[Any]) -> Table:
    """Lay out all pairs, best system first: differences above the diagonal, p-values below."""
    comparison, contrast = differences.comparison, differences.contrast
    n = len(best_first)
    place = {e.system: i for i, e in enumerate(best_first)}
    cells = [["· " if i == j else "" for j in range(n)] for i in range(n)]
    for d in differences.found:
        i, j = place[d.system], place[d.baseline]
        value = d.value if i < j else contrast.turned(d.value)
        mark = (differences.marks[d.task].strip() or "*") if comparison.significant(d) else " "
        cells[min(i, j)][max(i, j)] = differences.number(d, value) + mark
        cells[max(i, j)][min(i, j)] = differences.adjusted(d) + " "
    shown = comparison.adjusted.pvalue_name()
    columns: list[Column] = [("#", ">", lambda i: str(i + 1))]
    columns += [(f"{j + 1} ", ">", lambda i, j=j: cells[i][j]) for j in range(n)]  # type: ignore[misc]
    star = differences.marks[differences.found[0].task].strip() or "*"
    note = f"{star} {shown} <= {comparison.significance_level:g}"
    hint = f"intervals of the {contrast.column}s: plot(), to_csv(), to_json()"
    title = f"{best_first[0].metric}: {contrast.of_cells} above the diagonal, {shown} below"
    return table_of(title, range(n), columns, (note,), hints=(hint,))


def gained_lost(discordant: Any) -> str:
    """Return ``14, 6``, or nothing."""
    return "" if discordant is None else f"{discordant.gained}, {discordant.lost}"


def _panels(rows: Sequence[Any]) -> list[list[Any]]:
    """Return what is in one table: the rows and totals of a metric; of those with one row, all."""
    if is_mixed(rows):
        return [list(rows)]
    every = by_metric(rows).values()
    singles = [row for panel in every if not has_tasks(panel) for row in panel]
    panels = [panel for panel in every if has_tasks(panel)]
    return [*panels, singles] if singles else panels


def _through(
    part: Callable[[Any], Any], columns: Sequence[Column], otherwise: str = ""
) -> list[Column]:
    """Return columns of a part of a row, or of what stands where there is none."""

    def of_part(cell: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda row: otherwise if (record := part(row)) is None else cell(record)

    return [(header, side, of_part(cell)) for header, side, cell in columns]


def _names(panel: Sequence[Any]) -> list[Column]:
    """Return the columns that say which row it is, of estimates: task, metric, size."""
    columns: list[Column] = []
    if any(e.task != panel[0].task for e in panel):
        columns.append(("task", "<", lambda e: e.task))
    directions = len({e.higher_is_better for e in panel}) > 1
    if any(e.metric != panel[0].metric for e in panel):
        columns.append(("metric", "<", lambda e: metric_name(e) if directions else e.metric))
    if has_tasks(panel):
        units = {e.unit for e in panel}
        of = plural(units.pop()) if len(units) == 1 else "units"
        columns.append((of, ">", lambda e: f"{e.n_segments:,}"))
    return columns


def _title(panel: Sequence[Any]) -> str:
    """Return ``BLEU ↑ (higher is better), 480 segments``, or how many tasks."""
    rows = [e for e in panel if e.aggregate is None] or panel
    tasks, metrics = distinct(e.task for e in rows), distinct(e.metric for e in rows)
    shown = ", ".join(metrics) if len(metrics) <= _NAMED else f"{len(metrics)} metrics"
    if len({e.higher_is_better for e in panel}) == 1:
        shown += f" {tabular.which_is_better(panel[0].higher_is_better)}"
    if len(tasks) > 1:
        return f"{shown}, {counted(len(tasks), 'task')}"
    return f"{f'{tasks[0]}: ' if tasks[0] else ''}{shown}, {whole_sizes(panel)}"


def _ranges(numbers: Sequence[int]) -> str:
    """Return ``2, 4-6`` for 2, 4, 5, 6."""
    runs: list[list[int]] = []
    for n in sorted(numbers):
        if runs and n == runs[-1][1] + 1:
            runs[-1][1] = n
        else:
            runs.append([n, n])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


#: Marks of a system that is significantly better, or worse, than the baseline.
BETTER, WORSE = "*", "°"
_MARKS = {"better": BETTER, "worse": WORSE, "open": ""}
#: More columns than these are no table of a page: of tasks the totals are shown.
_MOST_COLUMNS = 10


@dataclass(frozen=True)
class Entry:
    """A score, whether it is "better" or "worse" than the baseline's or "open", or the best."""

    score: float
    kind: str
    is_best: bool


def paper_table(estimates: Any, comparison: Any = None, digits: int | None = None) -> Table:
    """Lay out scores: of a comparison with marks against its baseline, or of ties with the best."""
    columns = _columns(estimates)
    systems = _systems(columns, comparison)
    entries = [_entries(rows, comparison) for rows in columns]
    places = [tabular.decimals([e.standard_error for e in rows], digits) for rows in columns]
    marked = [any(entry.kind != "open" for entry in of_column.values()) for of_column in entries]
    rows, bold = [], set()
    for i, system in enumerate(systems):
        cells = [system]
        for j, of_column in enumerate(entries):
            entry = of_column[system]
            # Blanks keep the digits of a column below each other.
            mark = (_MARKS[entry.kind] or " ") if marked[j] else ""
            cells.append(tabular.number(entry.score, places[j]) + mark)
            if entry.is_best:
                bold.add((i, j + 1))
        rows.append(tuple(cells))
    header = ("system", *_headers(columns))
    notes = (_legend(comparison, estimates),)
    title = _paper_title(columns)
    align = "<" + ">" * len(columns)
    return Table(title, header, tuple(rows), align, notes=notes, bold=frozenset(bold))


def paper_records(estimates: Any, comparison: Any = None) -> list[dict[str, Any]]:
    """Return the same as rows of a file: numbers are whole, and marks are words beside them."""
    columns = _columns(estimates)
    entries = [_entries(rows, comparison) for rows in columns]
    names = [name.rstrip(" ↑↓") for name in _headers(columns)]
    lines = []
    for system in _systems(columns, comparison):
        row: dict[str, Any] = {"system": system}
        for name, of_column in zip(names, entries, strict=True):
            entry = of_column[system]
            row |= {name: entry.score, f"{name} best": entry.is_best}
            if comparison is not None and comparison.baseline is not None:
                of_baseline = system == comparison.baseline
                row[f"{name} verdict"] = "baseline" if of_baseline else entry.kind
        lines.append(row)
    return lines


def _columns(estimates: Any) -> list[list[Any]]:
    """Return the scores of each column: a task, or a total, under a metric."""
    by_column: dict[Any, list[Any]] = {}
    for e in estimates:
        by_column.setdefault((e.task, e.aggregate, e.metric), []).append(e)
    columns = list(by_column.values())
    totals = [rows for rows in columns if rows[0].aggregate is not None]
    return totals if totals and len(columns) > _MOST_COLUMNS else columns


def _systems(columns: Sequence[Sequence[Any]], comparison: Any) -> list[str]:
    """Return the baseline, and then the others, the best by the first column first."""
    names = [e.system for e in ranked(columns[0])]
    baseline = None if comparison is None else comparison.baseline
    return sorted(names, key=lambda name: name != baseline)


def _entries(rows: Sequence[Any], comparison: Any) -> dict[str, Entry]:
    """Return the entry of each system in a column."""
    best = ranked(rows)[0]
    kinds = dict.fromkeys((e.system for e in rows), "open")
    firsts = {e.system for e in rows if e.score == best.score}
    if comparison is not None:
        of = [d for d in comparison.differences if (d.task, d.metric) == (best.task, best.metric)]
        if comparison.baseline is not None:
            kinds |= {d.system: kind_of(comparison, d) for d in of}
        else:
            # All that are not significantly worse than the best.
            pairs = by_pair(of)
            for name in kinds:
                pair = pairs.get((name, best.system)) or pairs.get((best.system, name)) or []
                firsts |= {name for d in pair if kind_of(comparison, d) == "open"}
    return {e.system: Entry(e.score, kinds[e.system], e.system in firsts) for e in rows}


def _headers(columns: Sequence[Sequence[Any]]) -> list[str]:
    """Return the metric of each column, after the task where there are several."""
    several = len({rows[0].task for rows in columns}) > 1
    metrics = len({rows[0].metric for rows in columns}) > 1
    heads = []
    for rows in columns:
        e = rows[0]
        name = e.task if several and not metrics else metric_name(e)
        heads.append(f"{e.task} {name}" if several and metrics else name)
    return heads


def _paper_title(columns: Sequence[Sequence[Any]]) -> str:
    firsts = [rows[0] for rows in columns]
    metrics, tasks = distinct(e.metric for e in firsts), distinct(e.task for e in firsts)
    of = counted(len(tasks), "task") if len(tasks) > 1 else size(firsts[0])
    arrow = f" {tabular.direction(firsts[0].higher_is_better)}" if len(metrics) == 1 else ""
    return f"{listed(metrics)}{arrow}, {of}"


def _legend(c: Any, estimates: Any) -> str:
    """Say what is emphasised, and what the marks mean."""
    if c is None:
        return "Emphasised: the best of each column."
    several = any(c.adjusted.n_compared(d) > 1 for d in c.differences)
    mark = mark_of(c, estimates[0].unit)
    level = f"({c.adjusted.pvalue_name(several)} <= {c.significance_level:g}{mark})"
    if c.baseline is None:
        return f"Emphasised: the best of each column, and what is not significantly worse {level}."
    return (
        f"Emphasised: the best of each column. Significantly better ({BETTER}) or worse ({WORSE}) "
        f"than {c.baseline} {level}."
    )
