"""Results of suites out of their JSON again, checked as `reading` does."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from evalstats.errors import InputError
from evalstats.results.reading import (
    check_differences,
    differences_of,
    items_of,
    read,
    record_of,
)
from evalstats.results.suite_records import TaskDifference, TaskEstimate

T = TypeVar("T")
Row = TaskEstimate | TaskDifference


def estimates_from(kind: type[T], text: object) -> T:
    """Return the estimates that `SuiteEstimates.to_json` wrote."""

    def make(found: dict[str, Any]) -> T:
        estimates = _estimates(found)
        rest = {k: v for k, v in found.items() if k != "estimates"}
        made = record_of(kind, rest, "estimates", estimates=estimates)
        _check_rows(estimates, rest["tasks"], rest.get("aggregate"))
        return made

    return read("SuiteEstimates", text, make)


def comparison_from(kind: type[T], kind_of_estimates: type[Any], text: object) -> T:
    """Return the comparison that `SuiteComparison.to_json` wrote."""

    def make(found: dict[str, Any]) -> T:
        estimates = _estimates(found)
        differences = differences_of(TaskDifference, found)
        rows = tuple(d for d, _, _ in differences)
        rest = {k: v for k, v in found.items() if k not in ("estimates", "differences")}
        made: Any = record_of(kind, rest, "comparison", estimates=estimates, differences=rows)
        for some in (estimates, rows):
            _check_rows(some, made.tasks, made.aggregate)
        check_differences(made, differences, estimates, _place)
        sizes = {_place(e): e.n_segments for e in estimates}
        for d, _, where in differences:
            if d.n_segments != sizes[_place(d)]:
                raise InputError(f"{where}.n_segments is not that of its scores")
        if {_place(d) for d in rows} != set(sizes):
            raise InputError("differences must be of every task and metric that has estimates")
        whole = kind_of_estimates(estimates, made.tasks, made.aggregate)
        vars(made).update(estimates=whole)
        found_of: T = made
        return found_of

    return read("SuiteComparison", text, make)


def _place(row: Row) -> tuple[str, str | None, str]:
    return row.task, row.aggregate, row.metric


def _estimates(found: dict[str, Any]) -> tuple[TaskEstimate, ...]:
    items = items_of(found, "estimates")
    made = tuple(
        record_of(TaskEstimate, item, f"estimates[{i}]", replicates=np.empty(0))
        for i, item in enumerate(items)
    )
    places = {(*_place(e), e.system) for e in made}
    of_place: dict[Any, set[str]] = {}
    for *place, system in places:
        of_place.setdefault(tuple(place), set()).add(system)
    if not made or len(places) < len(made) or len(set(map(frozenset, of_place.values()))) > 1:
        raise InputError("estimates must be one of each system for each task and metric")
    return made


def _check_rows(rows: tuple[Any, ...], tasks: Any, aggregate: str | None) -> None:
    """Refuse rows of tasks that are not named, and totals that are not what is said."""
    for row in rows:
        if row.aggregate is None and row.task not in tasks:
            raise InputError(f"task {row.task!r} is not among the tasks")
        if row.aggregate is not None and (row.aggregate, row.task) != (aggregate, aggregate):
            raise InputError(f"a total is of {aggregate!r}, got {row.aggregate!r}, {row.task!r}")
    if {row.task for row in rows if row.aggregate is None} != set(tasks):
        raise InputError("each of the tasks must have a row")
