"""Rows of a suite from the results of each task, and their p-values adjusted together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from evalstats.analysis.suite_totals import Total
from evalstats.inference.multiplicity import ADJUSTMENTS, holm_over
from evalstats.results.records import Difference, distinct
from evalstats.results.results import Comparison, Estimate, Estimates
from evalstats.results.suite_records import TaskDifference, TaskEstimate


def task_estimates(task: str, found: Estimates) -> list[TaskEstimate]:
    """Return estimates as those of a task."""
    return [_task_estimate(e, task) for e in found]


def total_estimates(total: Total, found: Any) -> list[TaskEstimate]:
    """Return one estimate, or several, as those of a total."""
    several = [found] if isinstance(found, Estimate) else found
    named = {"metric": total.metric, "aggregate": total.label}
    return [_task_estimate(e, total.label, **named) for e in several]


def _task_estimate(e: Estimate, task: str, **named: Any) -> TaskEstimate:
    values = {f.name: getattr(e, f.name) for f in fields(e)}
    # Those of many tasks take much memory, and the signature makes them again.
    values |= {"replicates": np.empty(0), "notes": (), **named}
    return TaskEstimate(**values, task=task)


def task_difference(d: Difference, result: Comparison, task: str, **named: Any) -> TaskDifference:
    """Return a difference as that of a task, or with names as that of a total."""
    values = {f.name: getattr(d, f.name) for f in fields(d)} | named
    n_segments = result.estimates[0].n_segments
    return TaskDifference(**values, task=task, n_segments=n_segments)


def adjusted(found: Sequence[TaskDifference], adjustment: str, family: str) -> list[TaskDifference]:
    """Adjust the p-values within each metric, or all together."""
    made = list(found)
    for name in distinct(d.metric for d in found) if family == "metric" else [None]:
        places = [i for i, d in enumerate(found) if name in (None, d.metric)]
        if adjustment == "max-t":
            # Within each task, or total, that is done.
            tasks = [found[i].task for i in places]
            stepped = holm_over(tasks, [found[i].pvalue_adjusted for i in places])
        else:
            stepped = ADJUSTMENTS[adjustment]([found[i].pvalue for i in places])
        for i, p in zip(places, stepped.tolist(), strict=True):
            made[i] = replace(found[i], pvalue_adjusted=p)
    return made
