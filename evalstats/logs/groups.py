"""Groups: scores that a harness averages over tasks, by which weights, as totals of a suite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from evalstats.analysis.design import NamedTotal
from evalstats.logs.rows import Key
from evalstats.logs.words import matches
from evalstats.metrics import Mean
from evalstats.statistics.segments import SegmentStatistics

#: The score of each task, metric and system, and the number of its items.
Scores = Mapping[tuple[Key, str], tuple[float, int]]


class Average(NamedTuple):
    """The score of a group under one metric, as the log states it and as its tasks give it.

    `key` has the name of the group in the place of a task. `by_weights` has the mean over all items
    of its tasks, "micro", and the mean of the scores of its tasks, "macro".
    """

    key: Key
    system: str
    tasks: tuple[str, ...]
    n_items: int
    reported: float
    by_weights: Mapping[str, float]

    @property
    def weights(self) -> tuple[str, ...]:
        """Which of the two means the stated score is; both where all tasks are of one size."""
        return tuple(
            name
            for name, score in self.by_weights.items()
            if np.isclose(score, self.reported, rtol=1e-6, atol=1e-9)
        )

    @property
    def score(self) -> float | None:
        """The mean that the stated score is, None where it is neither."""
        return self.by_weights[self.weights[0]] if self.weights else None

    @property
    def disagreement(self) -> str:
        """What the log says, and what its tasks give, where these differ; else empty."""
        if self.weights:
            return ""
        micro, macro = self.by_weights.values()
        return (
            f"{self.key} of {self.system}: the log says {self.reported:.10g}, its {len(self.tasks)}"
            f" tasks give {micro:.10g} over all items and {macro:.10g} over tasks"
        )


def averages_of(
    groups: Mapping[str, Sequence[str]], reported: Mapping[tuple[Key, str], float], scores: Scores
) -> list[Average]:
    """Return the stated scores of the groups of which all tasks are there.

    As the harness does, a task that lacks the metric is in no average of it.
    """
    tasks = {key.task for key, _ in scores}
    averages = []
    for (key, system), stated in reported.items():
        leaves = groups.get(key.task, ())
        each = {task: scores.get((key._replace(task=task), system)) for task in leaves}
        there = {task: own for task, own in each.items() if own is not None}
        if there and tasks.issuperset(leaves):
            values, sizes = zip(*there.values(), strict=True)
            means = {"micro": np.average(values, weights=sizes), "macro": np.mean(values)}
            means = {name: float(mean) for name, mean in means.items()}
            averages.append(Average(key, system, tuple(there), sum(sizes), stated, means))
    return averages


def totals_of(
    averages: Sequence[Average],
    placed: Mapping[Key, tuple[str, SegmentStatistics]],
    asked: Sequence[str],
) -> tuple[NamedTotal, ...]:
    """Return the totals of the largest groups whose tasks are all compared.

    `placed` has the name of the task in the comparison, and the table, of each task, metric and
    filter. Of two groups of the same tasks that which one of the patterns `asked` names is taken.
    """
    by_key: dict[Key, list[Average]] = {}
    for average in averages:
        by_key.setdefault(average.key, []).append(average)
    totals: dict[tuple[str, frozenset[str]], NamedTotal] = {}
    for same in sorted(by_key.values(), key=lambda same: not matches(same[0].key.task, asked)):
        total = _total(same, placed)
        if total is not None:
            totals.setdefault((total.metric, frozenset(total.tasks)), total)
    return tuple(
        total
        for (metric, tasks), total in totals.items()
        if not any(metric == other and tasks < larger for other, larger in totals)
    )


def _total(
    averages: Sequence[Average], placed: Mapping[Key, tuple[str, SegmentStatistics]]
) -> NamedTotal | None:
    """Return the total of one group, metric and filter, of which each system has an average.

    None where systems average other tasks or by other weights, or not all tasks are compared.
    """
    group = averages[0].key
    keys = [group._replace(task=task) for task in averages[0].tasks]
    same_tasks = len({frozenset(one.tasks) for one in averages}) == 1
    shared = set.intersection(*(set(one.weights) for one in averages))
    if len(keys) < 2 or not same_tasks or not shared or not placed.keys() >= set(keys):
        return None
    tables = {placed[key][0]: placed[key][1] for key in keys}
    metrics = {table.metric.name for table in tables.values()}
    if len(metrics) > 1 or len(tables) < len(keys):
        return None
    # A filter that is no metric of its own is in the names of tasks.
    name = group.part if placed[keys[0]][0] == keys[0].part else group.task
    weights: str | dict[str, float] = "micro" if "micro" in shared else "macro"
    if weights == "micro" and not all(isinstance(t.metric, Mean) for t in tables.values()):
        weights = {task: float(table.n_segments) for task, table in tables.items()}
    return NamedTotal(name, metrics.pop(), tuple(tables), weights)
