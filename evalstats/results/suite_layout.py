"""How suites are laid out in tables: a row a task, and the total set off at the end."""

from __future__ import annotations

from collections.abc import Sequence

from evalstats.results import report
from evalstats.results.contrasts import contrast_of
from evalstats.results.layout import difference_cells, difference_columns
from evalstats.results.records import ComparisonRecord, EstimateRecord, distinct
from evalstats.results.report import Table
from evalstats.results.suite_records import R, TaskDifference, TaskEstimate

#: Systems whose intervals are beside their scores; of more there is no room for them.
_WITH_INTERVALS = 3
#: Pairs that have a table of their tasks each; of more only the totals are listed.
_LISTED_PAIRS = 6


def panels(rows: Sequence[R]) -> list[list[R]]:
    """Return what is in one table: rows and total of each metric, or all of one mixed total."""
    metrics = distinct(row.metric for row in rows if row.aggregate is None)
    if any(row.aggregate is not None and row.metric not in metrics for row in rows):
        return [list(rows)]
    return [[row for row in rows if row.metric == metric] for metric in metrics]


def score_tables(estimates: Sequence[TaskEstimate], digits: int | None = None) -> list[Table]:
    """Lay out the scores of all systems, a row a task."""
    return [_score_table(panel, digits) for panel in panels(estimates)]


def _score_table(panel: Sequence[TaskEstimate], digits: int | None) -> Table:
    systems, level = distinct(e.system for e in panel), report.level(panel[0].confidence_level)
    single = len(systems) == 1
    mixed = len({e.metric for e in panel}) > 1
    decimals = _decimals(panel, digits)
    rows: dict[tuple[str, str | None], list[str]] = {}
    for e in panel:
        start = [e.task, *([e.metric] if mixed else []), f"{e.n_segments:,}"]
        row = rows.setdefault((e.task, e.aggregate), start)
        places = decimals[e.metric]
        interval = report.interval(e.low, e.high, places)
        row.append(report.number(e.score, places))
        if single:
            row += [interval, report.number(e.standard_error, places)]
        elif len(systems) <= _WITH_INTERVALS:
            row[-1] += f" {interval}"
    header = ["task", *(["metric"] if mixed else []), f"{_unit(panel)}s"]
    if single:
        header += ["score", f"[{level}]", "std. error"]
        title = f"{_title(panel)}, {systems[0]}"
    else:
        header += systems
        shown = len(systems) <= _WITH_INTERVALS
        title = _title(panel) + (f", scores with {level}s" if shown else ", scores")
    n_totals = sum(aggregate is not None for _, aggregate in rows)
    align = "<" * (1 + mixed) + ">" * (len(header) - 1 - mixed)
    return Table(title, tuple(header), tuple(map(tuple, rows.values())), align, n_totals=n_totals)


def difference_tables(
    comparison: ComparisonRecord, differences: Sequence[TaskDifference], digits: int | None = None
) -> list[Table]:
    """Lay out the differences of each pair, a row a task; of many pairs the totals only."""
    tables = []
    for panel in panels(differences):
        pairs = list(dict.fromkeys((d.system, d.baseline) for d in panel))
        totals = [d for d in panel if d.aggregate is not None]
        if len(pairs) <= _LISTED_PAIRS or not totals:
            for pair in pairs:
                some = [d for d in panel if (d.system, d.baseline) == pair]
                tables.append(_pair_table(comparison, some, digits))
        else:
            tables.append(_total_table(comparison, panel, totals, digits))
    return tables


def _pair_table(
    comparison: ComparisonRecord, panel: Sequence[TaskDifference], digits: int | None
) -> Table:
    first, mixed = panel[0], len({d.metric for d in panel}) > 1
    columns, align = difference_columns(comparison, panel, adjusted=True)
    decimals, of_scores = _decimals(panel, digits), _score_decimals(comparison, panel, digits)
    rows = []
    for d in panel:
        places = of_scores[d.metric]
        rows.append(
            (
                d.task,
                *([d.metric] if mixed else []),
                f"{d.n_segments:,}",
                report.number(d.baseline_score, places),
                report.number(d.system_score, places),
                *difference_cells(comparison, d, decimals[d.metric], panel, adjusted=True),
            )
        )
    unit = _unit(comparison.estimates)
    header = ("task", *(["metric"] if mixed else []), f"{unit}s", first.baseline, first.system)
    sign = contrast_of(comparison.contrast).sign.replace("−", "-")
    return Table(
        f"{_title(panel)}, {first.system} {sign} {first.baseline}",
        (*header, *columns),
        tuple(rows),
        "<" * (1 + mixed) + ">>>" + align,
        n_totals=sum(d.aggregate is not None for d in panel),
    )


def _total_table(
    comparison: ComparisonRecord,
    panel: Sequence[TaskDifference],
    totals: Sequence[TaskDifference],
    digits: int | None,
) -> Table:
    columns, align = difference_columns(comparison, totals, adjusted=True)
    decimals = _decimals(totals, digits)
    rows = tuple(
        (
            d.system,
            d.baseline,
            *difference_cells(comparison, d, decimals[d.metric], totals, adjusted=True),
        )
        for d in totals
    )
    return Table(
        f"{_title(panel)}, {totals[0].task}: {contrast_of(comparison.contrast).of_pair}",
        ("system", "baseline", *columns),
        rows,
        "<<" + align,
        ("each task: to_dataframe(), plot(), JSON",),
    )


def _title(panel: Sequence[R]) -> str:
    n_tasks = len({row.task for row in panel if row.aggregate is None})
    metrics = distinct(row.metric for row in panel if row.aggregate is None)
    better = "higher" if panel[0].higher_is_better else "lower"
    shown = ", ".join(metrics) if len(metrics) <= _LISTED_PAIRS else f"{len(metrics)} metrics"
    tasks = f"{n_tasks} task{'s' * (n_tasks > 1)}"
    return f"{shown} {report.direction(panel[0].higher_is_better)} ({better} is better), {tasks}"


def _unit(estimates: Sequence[EstimateRecord]) -> str:
    units = {e.unit for e in estimates}
    return units.pop() if len(units) == 1 else "unit"


def _decimals(rows: Sequence[R], digits: int | None) -> dict[str, int]:
    """Return the decimals of each metric: as many as give its smallest error two digits."""
    return {
        metric: digits
        if digits is not None
        else report.decimals([row.standard_error for row in rows if row.metric == metric])
        for metric in distinct(row.metric for row in rows)
    }


def _score_decimals(
    comparison: ComparisonRecord, rows: Sequence[TaskDifference], digits: int | None
) -> dict[str, int]:
    if comparison.contrast == "difference":
        return _decimals(rows, digits)
    return _decimals([e for e in comparison.estimates if isinstance(e, TaskEstimate)], digits)
