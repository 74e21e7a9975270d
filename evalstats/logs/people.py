"""People's scores of some items beside a judge's of all: a file of its own, or a column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalstats.checks import shown
from evalstats.designs.judges.judged import Judged, joined_rows
from evalstats.errors import InputError
from evalstats.metrics import Mean
from evalstats.results.records import distinct
from evalstats.statistics.segments import SegmentStatistics


def corrected(
    tasks: Mapping[str, Sequence[SegmentStatistics]],
    people: Mapping[str, Sequence[SegmentStatistics]],
    notes: list[str],
) -> dict[str, list[SegmentStatistics]]:
    """Return a judge's statistics, by task, corrected by people's; what is left out is noted."""
    judged = {}
    for task, tables in tasks.items():
        labels = _labels(people, task, tables)
        judged[task] = [_judged(table, labels, notes) for table in tables]
    return judged


def _labels(
    people: Mapping[str, Sequence[SegmentStatistics]],
    task: str,
    tables: Sequence[SegmentStatistics],
) -> SegmentStatistics:
    """Return people's scores of a task; where they name no task they are those of an only one."""
    named = people.get(task, people.get(""))
    if named is None:
        raise InputError(
            f"has no scores of task {task!r}; it has {', '.join(map(shown, people))}",
            argument="human",
        )
    # Systems that are not paired have a table each.
    metrics = distinct(table.metric.name for table in tables)
    fitting = [table for table in named if table.metric.name in metrics] or named
    if len(fitting) > 1 or len(metrics) > 1:
        raise InputError(
            f"must be people's scores under one metric; they are of "
            f"{', '.join(table.metric.name for table in named)}, and the judge's of "
            f"{', '.join(metrics)}; give one metric",
            argument="human",
        )
    (table,) = fitting
    for wrong in (one for one in (*tables, table) if not isinstance(one.metric, Mean)):
        raise InputError(
            f"is of scores whose mean is taken, and {wrong.metric.name} is none", argument="human"
        )
    for system in (name for one in tables for name in one.systems):
        if system not in table.systems:
            raise InputError(
                f"has no scores of {system!r}; it has {', '.join(table.systems)}", argument="human"
            )
    return table


def _judged(
    table: SegmentStatistics, people: SegmentStatistics, notes: list[str]
) -> SegmentStatistics:
    """Return the statistics of both, joined by the ids of the items; what is left out is noted."""
    assert table.segment_ids is not None
    assert people.segment_ids is not None
    places = {item: i for i, item in enumerate(table.segment_ids)}
    known = [i for i, item in enumerate(people.segment_ids) if item in places]
    if not known:
        raise InputError(
            f"and the logs have no item in common: {shown(people.segment_ids[0])} and "
            f"{shown(table.segment_ids[0])} are the first ones",
            argument="human",
        )
    if n_unknown := len(people.segment_ids) - len(known):
        what = "1 item" if n_unknown == 1 else f"{n_unknown:,} items"
        notes.append(f"People's scores of {what} that no log has are left out")
    rows: NDArray[Any] = np.zeros(table.values.shape)
    systems = [people.systems.index(name) for name in table.systems]
    at = [places[people.segment_ids[i]] for i in known]
    rows[:, at] = people.values[systems][:, known]
    # An item that the judge has not scored says nothing of the judge.
    labelled = ((rows[..., 1:] > 0) & (table.values[..., 1:] > 0)).astype(np.float64)
    for name, marks in zip(table.systems, labelled[..., 0], strict=True):
        n = int(np.sum(marks))
        if not 0 < n < len(marks):
            raise InputError(
                f"must have scores of a part of the items of {name!r}, got {n:,} of {len(marks):,}",
                argument="human",
            )
    values = joined_rows(labelled, rows, table.values.astype(np.float64))
    return replace(table, values=values, metric=Judged(table.metric), metric_signature="")
