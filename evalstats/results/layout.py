"""What stands in the tables of scores and comparisons."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from math import comb
from typing import TYPE_CHECKING, Any

from evalstats.results import marks, tabular
from evalstats.results.records import (
    Difference,
    by_metric,
    by_pair,
    counted,
    decimals_of,
    distinct,
    has_tasks,
    is_mixed,
    kind_of,
    mark_of,
    metric_name,
    only,
    oriented,
    plural,
    ranked,
    whole_sizes,
)
from evalstats.results.signatures import Signature, part_name, system_name
from evalstats.results.tabular import Column, Table, table_of

if TYPE_CHECKING:
    from evalstats.analysis.comparison import Comparison
    from evalstats.results.estimates import Estimate, Estimates
    from evalstats.results.marks import Forest

#: Up to so many systems all pairs are listed; up to so many more they are a matrix.
_LISTED_SYSTEMS, _IN_MATRIX = 4, 12
#: Systems side by side in a row.
_SIDE_BY_SIDE = 5
#: Systems whose intervals are beside their scores on tasks; of more there is no room for them.
_WITH_INTERVALS = 3
#: Pairs that have a table of their tasks each; of more the totals are shown.
_LISTED_PAIRS = 6
#: Rows of a table that a report folds away.
_MOST_FOLDED = 600
#: Metrics that a title names.
_NAMED = 6
#: What a narrow terminal leaves out of a table of scores.
_ERROR = ("std. error",)


def title(estimates: Estimates) -> str:
    """Return ``BLEU, chrF2: 480 segments``."""
    metrics, tasks = distinct(e.metric for e in estimates.rows), estimates.tasks
    of = _sizes(list(estimates))
    of = counted(len(tasks), part_name(estimates)) if len(tasks) > 1 else of
    return f"{', '.join(metrics)}: {of}"


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
        draw = _drawn([[e] for e in rows], 1)
        tables.append(table_of(_title(panel), rows, columns, spare=_ERROR, draw=draw))
    return tables


def _drawn(rows: Sequence[Sequence[Estimate]], at: int) -> Callable[[], Forest]:
    """Return what draws scores with their intervals, before the column of such a place."""
    first = rows[0][0]
    label = f"{score_name(first.signature)}, {tabular.level(first.confidence_level)}"
    return partial(marks.of_scores, rows, at, label)


def _system(rows: Sequence[Estimate]) -> Column:
    """Return the column with the names of the systems of these scores."""
    return system_name(rows), "<", lambda row: row.system


def _score(panel: Sequence[Estimate], digits: int | None) -> list[Column]:
    """Return the columns of a score: itself, its interval, its standard error."""
    level, places = tabular.level(panel[0].confidence_level), decimals_of(panel, digits)
    return [
        (score_name(panel[0].signature), ">", lambda e: tabular.number(e.score, places[e.metric])),
        (f"[{level}]", ">", lambda e: tabular.interval(e.low, e.high, places[e.metric])),
        ("std. error", ">", lambda e: tabular.number(e.standard_error, places[e.metric])),
    ]


def _battles(panel: Sequence[Estimate]) -> list[Column]:
    """Return the column of battles, of an arena."""
    if panel[0].n_battles is None:
        return []
    return [("battles", ">", lambda e: f"{e.n_battles:,}")]


def score_name(signature: str) -> str:
    """Return what a score is called: that of an arena is in log odds, or in Elo's points."""
    names = {"log-odds": "log odds", "elo": "Elo points"}
    return names.get(Signature.of(signature).setting("scale"), "score")


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
    each = [[line[system] for system in systems] for line in rows]
    return replace(table, draw=_drawn(each, at))


def comparison_tables(
    comparison: Comparison,
    digits: int | None = None,
    verbose: bool = False,
    asked: Sequence[Difference] | None = None,
) -> list[Table]:
    """Lay out differences, all or those that are `asked`: of a pair by task or metric, or a system.

    `verbose` tables have the standard error of the difference, and the correlation of both scores.
    """
    estimates = comparison.estimates
    found = comparison.differences if asked is None else asked
    n_pairs, of_tasks = len(by_pair(found)), has_tasks(found)
    is_of_pair = n_pairs == 1 and (comparison.baseline is None or len(found) > 1)
    if is_of_pair or (of_tasks and (n_pairs <= _LISTED_PAIRS or not comparison.totals)):
        panels = _panels(oriented(comparison, found))
        groups = [group for panel in panels for group in by_pair(panel).values()]
        pairs = [_pair_table(_Differences(comparison, group, digits, verbose)) for group in groups]
        return [replace(table, draw=partial(_among, table, pairs)) for table in pairs]
    if n_pairs < len(by_pair(comparison.differences)):
        main = found if not of_tasks else [d for d in found if d.aggregate is not None]
        each = by_metric(main).values()
        return [_all_pairs(_Differences(comparison, some, digits, verbose)) for some in each]
    metrics = {d.metric for d in found}
    rows = [e for e in estimates if e.metric in metrics]
    shown = [e for e in rows if e.aggregate is not None] if of_tasks else rows
    tables = score_tables(rows, digits) if of_tasks else []
    for metric, scores in by_metric(shown).items():
        best_first = ranked(scores)
        of = [d for d in found if (d.metric, d.task) == (metric, best_first[0].task)]
        differences = _Differences(comparison, of, digits, verbose)
        if comparison.baseline is None:
            tables += _rank_tables(differences, best_first)
        else:
            tables.append(_baseline_table(differences, best_first))
    return tables


def _baseline_table(differences: _Differences, best_first: Sequence[Estimate]) -> Table:
    """Lay out the baseline, and the other systems with their differences from it, best first."""
    of_system = {d.system: d for d in differences.found}
    first, *others = differences.columns()
    columns = [
        _system(best_first),
        *_score(differences.estimates, differences.digits)[:2],
        *_through(lambda e: of_system.get(e.system), [first], "baseline"),
        *_through(lambda e: of_system.get(e.system), others),
    ]
    rows = sorted(best_first, key=lambda e: e.system in of_system)
    names, adjusted = [name for name, _, _ in columns], differences.comparison.adjusted
    # The verdict is of the adjusted p-value, where there is one.
    unadjusted = ["p"] if "p" != adjusted.pvalue_name() in names else []
    spare = [names[2], "gained, lost", *unadjusted]
    draw = partial(differences.forest, [of_system.get(e.system) for e in rows], 3)
    return table_of(_title(best_first), rows, columns, spare=spare, draw=draw)


def folded_tables(comparison: Comparison) -> dict[str, list[Table]]:
    """Lay out what has no room among the tables: all pairs, or those with the best on each task."""
    c, found = comparison, comparison.differences
    n_pairs, of_tasks = len(by_pair(found)), has_tasks(found)
    folded: dict[str, list[Table]] = {}
    if (c.baseline is not None or n_pairs <= comb(_LISTED_SYSTEMS, 2)) and not of_tasks:
        return {}
    if of_tasks and (n_pairs <= _LISTED_PAIRS or not c.totals):
        return {}
    for metric, some in by_metric(oriented(c, found)).items():
        scores = [e for e in c.estimates if e.metric == metric]
        best = ranked([e for e in scores if e.aggregate is not None] or scores)[0].system
        what = f"all {n_pairs:,} pairs"
        if c.baseline is None and (of_tasks or n_pairs > _MOST_FOLDED):
            some = [d for d in some if best in (d.system, d.baseline)]
            what = f"{best} against each of the others"
        if of_tasks:
            some = list(chain(*by_pair(some).values()))
            what += f", by {part_name(c.estimates)}"
        what += "" if len(some) <= _MOST_FOLDED else f", the first {_MOST_FOLDED} rows"
        differences = _Differences(c, some[:_MOST_FOLDED], None)
        folded[f"{metric}: {what}"] = [_all_pairs(differences)]
    return folded


class _Differences:
    """Differences that stand in one table, and what its cells say of them."""

    def __init__(
        self,
        comparison: Comparison,
        found: Sequence[Difference],
        digits: int | None,
        verbose: bool = False,
    ) -> None:
        self.comparison, self.found, self.digits, self.verbose = comparison, found, digits, verbose
        tasks = {d.task for d in found}
        self.estimates = [e for e in comparison.estimates if e.task in tasks]
        self.marks = {e.task: mark_of(comparison, e) for e in self.estimates}
        # Decimals of scores and of differences are the same.
        self.places = decimals_of(self.estimates, digits)

    def columns(self, one_pair: bool = False) -> list[Column]:
        """Return what is said of a difference: value, interval, p-values, verdict, claim.

        Of one pair there is one p-value, which its verdicts are of.
        """
        c, level = self.comparison, tabular.level(self.comparison.confidence_level)
        several = c.adjustment != "none" and any(c.adjusted.n_compared(d) > 1 for d in self.found)
        columns: list[Column] = [
            ("difference", ">", lambda d: self.number(d, d.difference)),
            (f"[{level}]", ">", self.interval),
        ]
        if self.verbose:
            places = self.places
            columns += [
                ("std. error", ">", lambda d: tabular.number(d.standard_error, places[d.metric])),
                (
                    "correlation",
                    ">",
                    lambda d: "-" if (r := c.correlation(d)) is None else tabular.number(r, 2),
                ),
            ]
        if any(d.gained is not None for d in self.found):
            columns.append(("gained, lost", ">", gained_lost))
        if not (several and one_pair):
            columns.append(("p", ">", lambda d: tabular.pvalue(d.pvalue)))
        if several:
            columns.append((c.adjusted.pvalue_name(), ">", self.adjusted))
        columns.append(("verdict", "<", self.verdict))
        for name, limit in (("margin", c.margin), ("recovery", c.recovery)):
            if limit is not None:
                columns.append((f"{name} {limit:g}", "<", lambda d: d.claim))
        return columns

    def forest(self, rows: Sequence[Difference | None], at: int, one_pair: bool = False) -> Forest:
        """Return what is drawn in the rows of a table, before the column of such a place."""
        c = self.comparison
        scores = {(e.task, e.metric, e.system): e for e in c.estimates}

        def replicates(d: Difference) -> Any:
            a, b = (scores[d.task, d.metric, x].replicates for x in (d.system, d.baseline))
            return a - b

        kinds = ["" if d is None else kind_of(d) for d in rows]
        level, limit = tabular.level(c.confidence_level), marks.Limit(c.margin, c.recovery)
        return marks.of_differences(rows, kinds, at, level, limit, one_pair, replicates)

    def number(self, d: Difference, value: float) -> str:
        """Return a value as it stands in a cell."""
        return tabular.number(value, self.places[d.metric], sign=True)

    def interval(self, d: Difference) -> str:
        """Return the interval, or none where nothing differs and so nothing was measured."""
        # One that counts segments says something of them all the same.
        if d.n_differing == 0 and d.low == d.high:
            return "-"
        return tabular.interval(d.low, d.high, self.places[d.metric], sign=True)

    def adjusted(self, d: Difference) -> str:
        """Return the p-value that verdicts are of."""
        # Where no data could bring it to the level it is no evidence, for or against.
        return "-" if d.verdict == "cannot tell" else tabular.pvalue(d.pvalue_adjusted)

    def verdict(self, d: Difference) -> str:
        """Return what is known of the pair, in a word or two, with its mark."""
        return d.verdict if kind_of(d) == "open" else d.verdict + self.marks[d.task]


def _pair_table(differences: _Differences) -> Table:
    """Lay out the differences of one pair, a row a task or metric."""
    found, estimates = differences.found, differences.comparison.estimates
    first, places = found[0], decimals_of(differences.estimates, differences.digits)
    sizes = {(e.task, e.metric): e for e in estimates}
    of = [sizes[d.task, d.metric] for d in found]
    names = _names(of) or [("metric", "<", metric_name)]
    columns = [
        *_through(lambda d: sizes[d.task, d.metric], names),
        (first.baseline, ">", lambda d: tabular.number(d.baseline_score, places[d.metric])),
        (first.system, ">", lambda d: tabular.number(d.system_score, places[d.metric])),
        *differences.columns(one_pair=True),
    ]
    n_totals = sum(d.aggregate is not None for d in found)
    pair, rows = (first.baseline, first.system), {(d.task, d.metric) for d in found}
    both = [e for e in estimates if e.system in pair and (e.task, e.metric) in rows]
    title = f"{_title(both)}, {first.system} - {first.baseline}"
    spare = ["gained, lost", *(name for name, side, _ in names if side == ">")]
    draw = partial(differences.forest, found, len(names) + 2, one_pair=True)
    return table_of(title, found, columns, n_totals=n_totals, spare=spare, draw=draw)


def _among(table: Table, others: Sequence[Table]) -> Forest:
    """Return what is drawn in a table, on the axis of all tables under its metric."""
    of_metric = table.title.partition(",")[0]
    every = [one.forest for one in others if one.title.partition(",")[0] == of_metric]
    forest = table.forest
    assert forest is not None
    alike = [one for one in every if one and one.is_free == forest.is_free]
    return replace(forest, among=tuple(alike))


def _all_pairs(differences: _Differences) -> Table:
    """Lay out the differences of several pairs, the largest first, or each pair's by task."""
    found = oriented(differences.comparison, differences.found)
    names: list[Column] = [_system(differences.estimates), ("baseline", "<", lambda d: d.baseline)]
    if has_tasks(found):
        names.append((part_name(differences.comparison.estimates), "<", lambda d: d.task))
    else:
        found = sorted(found, key=lambda d: d.difference * (-1 if d.higher_is_better else 1))
    draw, columns = partial(differences.forest, found, len(names)), differences.columns()
    title = f"differences, {names[0][0]} - baseline"
    return table_of(title, found, [*names, *columns], draw=draw)


def _rank_tables(differences: _Differences, best_first: Sequence[Estimate]) -> list[Table]:
    """Lay out a ranking that says who beats whom, then the differences of all pairs."""
    comparison, found = differences.comparison, differences.found
    n = len(best_first)
    place = {e.system: i + 1 for i, e in enumerate(best_first)}
    beaten: dict[str, list[int]] = {e.system: [] for e in best_first}
    for d in found:
        if d.winner is not None and kind_of(d) != "open":
            loser = {d.system, d.baseline} - {d.winner}
            beaten[d.winner].append(place[loser.pop()])
    mark = differences.marks[found[0].task]
    note = f"better than: {comparison.adjusted.pvalue_name(len(found) > 1)} <= "
    note += f"{comparison.significance_level:g}{mark}"
    columns: list[Column] = [
        ("#", ">", lambda e: str(place[e.system])),
        _system(best_first),
        *_score(differences.estimates, differences.digits)[:2],
        *_battles(best_first),
        (
            "better than",
            "<",
            lambda e: _ranges(beaten[e.system]) + mark if beaten[e.system] else "-",
        ),
    ]
    shows_pairs = n <= _IN_MATRIX
    hints = () if shows_pairs else ("All pairs: to_csv().",)
    spare = (columns[3][0],)
    title, draw = _title(best_first), _drawn([[e] for e in best_first], 2)
    ranking = table_of(title, best_first, columns, (note,), hints=hints, spare=spare, draw=draw)
    if not shows_pairs:
        return [ranking]
    # A one-sided p-value, and a claim of no loss, belong to one direction, which a matrix in order
    # of rank would hide.
    directed = comparison.alternative != "two-sided" or found[0].claim
    if n > _LISTED_SYSTEMS and not directed:
        return [ranking, _pair_matrix(differences, best_first)]
    return [ranking, _all_pairs(differences)]


def _pair_matrix(differences: _Differences, best_first: Sequence[Estimate]) -> Table:
    """Lay out all pairs, best system first: differences above the diagonal, p-values below."""
    comparison = differences.comparison
    n = len(best_first)
    place = {e.system: i for i, e in enumerate(best_first)}
    cells = [["· " if i == j else "" for j in range(n)] for i in range(n)]
    star = differences.marks[differences.found[0].task].strip() or "*"
    for d in differences.found:
        i, j = place[d.system], place[d.baseline]
        value = d.difference if i < j else -d.difference
        mark = star if kind_of(d) != "open" else " "
        cells[min(i, j)][max(i, j)] = differences.number(d, value) + mark
        cells[max(i, j)][min(i, j)] = differences.adjusted(d) + " "
    shown = comparison.adjusted.pvalue_name()
    columns: list[Column] = [("#", ">", lambda i: str(i + 1))]
    columns += [(f"{j + 1} ", ">", lambda i, j=j: cells[i][j]) for j in range(n)]  # type: ignore[misc]
    note = f"{star} {shown} <= {comparison.significance_level:g}"
    hint = "Intervals of the differences: plot(), or to_csv()."
    title = f"{best_first[0].metric}: difference row - column above the diagonal, {shown} below"
    return table_of(title, range(n), columns, (note,), hints=(hint,))


def gained_lost(d: Difference) -> str:
    """Return ``14, 6``, or nothing."""
    return "" if d.gained is None else f"{d.gained}, {d.lost}"


def _panels(rows: Sequence[Any]) -> list[list[Any]]:
    """Return what is in one table: the rows and totals of a metric; of those with one row, all."""
    if is_mixed(rows):
        return [list(rows)]
    every = by_metric(rows).values()
    singles = [row for panel in every if not has_tasks(panel) for row in panel]
    panels = [panel for panel in every if has_tasks(panel)]
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
        of = plural(only((e.unit for e in panel), "unit"))
        columns.append((of, ">", lambda e: f"{e.n_segments:,}"))
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
