"""The table of papers: a row a system, a column a metric, with the best and what is significant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evalstats.results import tabular
from evalstats.results.records import (
    by_pair,
    counted,
    distinct,
    kind_of,
    listed,
    mark_of,
    metric_name,
    ranked,
    size,
)
from evalstats.results.tabular import Table

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
    title = _title(columns)
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


def _title(columns: Sequence[Sequence[Any]]) -> str:
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
