"""What a total over tasks is made of: one table of all their segments, and how it is scored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.units import Aggregate, name_of
from evalstats.errors import InputError
from evalstats.metrics import Mean, Metric
from evalstats.metrics.averages import MeanOfRuns, MetricsOfStrata
from evalstats.results.records import distinct
from evalstats.results.signatures import merged_versions
from evalstats.statistics.segments import SegmentStatistics


@dataclass(frozen=True)
class Total:
    """One total: the tables of its tasks, joined.

    Attributes
    ----------
    table : SegmentStatistics
        All segments of all tasks, task by task.
    sizes : dict
        Segments of each task.
    aggregate : str, mapping or callable
        As `compare` takes it.
    label : str
        What the aggregate is called.
    metric : str
        The name of the metric, or of the metrics.
    is_mixed : bool
        Whether the tasks have different metrics.
    """

    table: SegmentStatistics
    sizes: dict[str, int]
    aggregate: Aggregate
    label: str
    metric: str
    is_mixed: bool

    def settings(self, groups: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
        """Return strata, groups and aggregate for `estimate` or `compare`."""
        strata = [name for name, n in self.sizes.items() for _ in range(n)]
        labels: list[Any] | None = None
        if any(name in groups for name in self.sizes):
            # Equal labels of two tasks are two groups, and a segment without label is its own.
            labels = [
                (name, group)
                for name, n in self.sizes.items()
                for group in groups.get(name, range(n))
            ]
        return {"strata": strata, "groups": labels, "aggregate": self.aggregate}


def as_totals(
    tasks: Mapping[str, list[SegmentStatistics]], aggregate: Aggregate | None
) -> list[Total]:
    """Return the totals that there are: one a metric, or one over all tasks, or none."""
    label = _label(aggregate, tasks)
    if len(tasks) < 2:
        return []
    if aggregate is not None and all(len(tables) == 1 for tables in tasks.values()):
        whole = {name: tables[0] for name, tables in tasks.items()}
        return [_total(whole, aggregate, label)]
    totals = []
    for metric in distinct(table.metric.name for tables in tasks.values() for table in tables):
        some = {}
        for name, tables in tasks.items():
            own = [table for table in tables if table.metric.name == metric]
            if len(own) > 1:
                raise InputError(
                    f"task {name!r} has {len(own)} metrics called {metric}; give each a task of "
                    f"its own"
                )
            if own:
                some[name] = own[0]
        # Of several runs there is no mean over tasks.
        has_runs = any(isinstance(table.metric, MeanOfRuns) for table in some.values())
        if len(some) > 1 and not (has_runs and aggregate is None):
            totals.append(_total(some, "macro" if aggregate is None else aggregate, label))
    return totals


def _label(aggregate: Aggregate | None, tasks: Mapping[str, Any]) -> str:
    if aggregate is None:
        return "macro"
    if isinstance(aggregate, str) and aggregate in ("macro", "micro"):
        return aggregate
    if isinstance(aggregate, Mapping):
        if odd := set(aggregate) ^ set(tasks):
            raise InputError(
                f"aggregate must have a weight for each task, and for no other; of "
                f"{min(map(str, odd))!r} it is {'missing' if odd & set(tasks) else 'unknown'}"
            )
        return "weighted"
    if callable(aggregate):
        return name_of(aggregate)
    raise InputError(
        f"aggregate must be 'macro', 'micro', a mapping from tasks to weights or a function of "
        f"their scores, got {aggregate!r}"
    )


def _total(tables: dict[str, SegmentStatistics], aggregate: Aggregate, label: str) -> Total:
    first, *others = tables
    metrics = [table.metric for table in tables.values()]
    for name in others:
        one, other = (tables[task].metric for task in (first, name))
        if one.higher_is_better != other.higher_is_better:
            raise InputError(
                f"a total needs scores of one direction: of {one.name} (task {first!r}) and "
                f"{other.name} (task {name!r}) one is better when higher, the other when lower"
            )
        if aggregate == "micro" and (one.name, one.signature) != (other.name, other.signature):
            raise InputError(
                f"aggregate 'micro' needs one metric, got {one!r} for task {first!r} and "
                f"{other!r} for task {name!r}; use 'macro'"
            )
    sizes = {name: table.n_segments for name, table in tables.items()}
    metric: Metric = metrics[0]
    if aggregate != "micro" and any(m != metric for m in metrics):
        metric = MetricsOfStrata(tuple(metrics))
    if isinstance(aggregate, Mapping):
        aggregate = {name: aggregate[name] for name in tables}
    elif aggregate == "micro" and type(metric) is Mean:
        # The same mean, which is linear in the tasks' means.
        aggregate = {name: float(n) for name, n in sizes.items()}
    names = distinct(m.name for m in metrics)
    table = SegmentStatistics(
        np.concatenate([_padded(t.values, len(metric.columns)) for t in tables.values()], axis=1),
        tables[first].systems,
        metric,
        _same([table.reference_label for table in tables.values()]),
        metric_signature=merged_versions([t.metric_signature for t in tables.values()])
        if metric is metrics[0]
        else "",
    )
    return Total(table, sizes, aggregate, label, metric.name if len(names) > 1 else names[0],
                 len(names) > 1)  # fmt: skip


def _padded(values: NDArray[Any], n_columns: int) -> NDArray[Any]:
    """Return statistics with columns of zeros after their own, `(S, N, K)`."""
    return np.pad(values, ((0, 0), (0, 0), (0, n_columns - values.shape[2])))


def _same(labels: list[str | None]) -> str | None:
    return labels[0] if len(set(labels)) == 1 else None
