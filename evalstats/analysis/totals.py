"""What a total over tasks is made of: the blocks of its tasks, which are its strata."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from evalstats.analysis.aggregates import Aggregate, Aggregated, NamedTotal, as_aggregate
from evalstats.analysis.blocks import Block, Segments
from evalstats.analysis.drawn import Drawn, from_segments
from evalstats.analysis.makers import maker_of
from evalstats.analysis.options import Options
from evalstats.analysis.outcomes import joined
from evalstats.analysis.tasks import Task, labels_of
from evalstats.analysis.units import Labels, design
from evalstats.designs.judges.judged import Judged
from evalstats.errors import InputError
from evalstats.metrics.identity import MetricSignature, merged
from evalstats.metrics.ratios import MeanOfRuns
from evalstats.results.records import distinct
from evalstats.statistics.names import group_codes
from evalstats.statistics.segments import SegmentStatistics

#: Different metrics that a name names; more are counted.
_NAMED = 3

Tables = Mapping[str, SegmentStatistics]


@dataclass(frozen=True, eq=False)
class Total:
    """A total over tasks: their blocks are scored together, and they are its strata."""

    tables: Tables  # of its tasks, under one metric or several
    aggregate: Aggregated
    name: str
    groups: Mapping[str, Labels]  # of the segments of some tasks
    suite: Mapping[str, Sequence[SegmentStatistics]]  # all tasks with all metrics
    #: The texts are those of its tasks.
    outputs: ClassVar[Mapping[str, Sequence[str]]] = MappingProxyType({})

    @property
    def total(self) -> str:
        """What it is, whatever it is called: "macro", "weighted" or the name of a function."""
        return as_aggregate(self.aggregate, list(self.tables), "tasks").label

    @cached_property
    def order(self) -> list[str]:
        """Names of its tasks in the order in which they are drawn, the same for all metrics.

        It follows from what the tasks are: neither the names nor the order of tasks, or of systems,
        change a bit of a total. Sizes and labels come first, so that another metric seldom does.
        """
        return sorted(self.tables, key=self._identity)

    def _identity(self, name: str) -> tuple[int, str, str, list[tuple[str, str, list[str]]]]:
        """Return number of segments, ids, groups with weight, and statistics of a task."""
        tables = self.suite[name]
        weight = self.aggregate.get(name) if isinstance(self.aggregate, Mapping) else None
        labels = labels_of(tables, self.groups.get(name), "groups")
        codes = [] if labels is None else group_codes(labels, tables[0].n_segments).tolist()
        each = sorted(
            (t.metric.name, t.metric_signature, sorted(map(_digest, t.values))) for t in tables
        )
        return tables[0].n_segments, repr(tables[0].segment_ids), repr((codes, weight)), each

    @property
    def metric(self) -> str:
        """The name of the metric, or of the metrics, whatever the order of the tasks."""
        names = sorted({table.metric.name for table in self.tables.values()})
        return " + ".join(names) if len(names) <= _NAMED else f"{len(names)} metrics"

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of the systems, the same in all tasks."""
        return next(iter(self.tables.values())).systems

    def tasks(self) -> list[Task]:
        """Return its tasks under its metrics, in the order in which they are drawn."""
        return [
            Task([self.tables[name]], name, groups=self.groups.get(name)) for name in self.order
        ]

    @property
    def statistics(self) -> list[SegmentStatistics]:
        """Its tables, one a task."""
        return list(self.tables.values())

    def drawn(self, options: Options) -> list[Drawn]:
        """Return what is drawn of it."""
        maker = maker_of(self.statistics)
        if maker is None or maker.total is None:
            return from_segments([self.segments()], options)
        aggregate = self._aggregate(list(self.tables))
        drawn = maker.total(self.tables, aggregate)
        signature = _signature(self.statistics, aggregate.tag)
        name = f"{self.name} {self.metric}"
        of = replace(drawn.of, name=self.metric, metric_name=name, signature=signature)
        return [replace(drawn, of=of)]

    def unit_names(self) -> list[str]:
        """Return what the unit of each segment is called, after its task."""
        return [f"{task.name}: {name}" for task in self.tasks() for name in task.unit_names()]

    def segments(self) -> Segments:
        """Return how it is scored."""
        parts = [task.segments()[0] for task in self.tasks()]
        tables = [self.tables[name] for name in self.order]
        blocks, members, strata = _blocks(parts, any(name in self.groups for name in self.order))
        aggregate = self._aggregate(self.order)
        sizes = [table.n_segments for table in tables]
        shares = aggregate.weights or tuple(n / sum(sizes) for n in sizes)
        if aggregate.label == "micro":
            blocks = [_whole(blocks)]
        names_of_units = {part.units.unit for part in parts}
        unit = names_of_units.pop() if len(names_of_units) == 1 else "group"
        units = design(sum(sizes), members, strata, self.order, unit)
        if any(part.judge is not None for part in parts):
            units = replace(units, codes=_within_parts(parts))
        outcomes = [None if aggregate.function else part.outcomes for part in parts]
        references = {part.reference_label for part in parts}
        return Segments(
            name=self.metric,
            metric_name=f"{self.name} {self.metric}",
            systems=self.systems,
            higher_is_better=parts[0].higher_is_better,
            signature=_signature(tables, aggregate.tag),
            reference_label=references.pop() if len(references) == 1 else None,
            units=units,
            outcomes=joined(outcomes, list(shares), units),
            blocks=tuple(blocks),
            aggregate=aggregate,
        )

    def _aggregate(self, names: Sequence[str]) -> Aggregate:
        """Return the aggregate of the tasks in the order in which they are drawn."""
        asked = self.aggregate
        if isinstance(asked, Mapping):
            asked = {name: asked[name] for name in names}
        aggregate = as_aggregate(asked, names, "tasks")
        function = aggregate.function
        if function is None:
            return aggregate
        # A function takes the scores in the order in which the caller has the tasks.
        order = [names.index(name) for name in self.tables]
        return replace(aggregate, function=lambda scores: function(scores[..., order]))


def as_totals(
    tasks: Mapping[str, list[SegmentStatistics]],
    aggregate: Aggregated | None,
    groups: Mapping[str, Labels],
) -> list[Total]:
    """Return the totals that there are: one a metric, or one over all tasks, or none."""
    if isinstance(aggregate, tuple):
        return _of_groups(tasks, aggregate, groups)
    label = "macro" if aggregate is None else as_aggregate(aggregate, list(tasks), "tasks").label
    if len(tasks) < 2:
        return []
    if aggregate is not None and all(len(tables) == 1 for tables in tasks.values()):
        whole = {name: tables[0] for name, tables in tasks.items()}
        return [_checked(Total(whole, aggregate, label, groups, tasks))]
    metrics = distinct(table.metric.name for tables in tasks.values() for table in tables)
    totals = []
    for metric in metrics:
        tables = _under(metric, tasks)
        # Of several runs there is no mean over tasks.
        has_runs = any(isinstance(table.metric, MeanOfRuns) for table in tables.values())
        if len(tables) > 1 and not (has_runs and aggregate is None):
            totals.append(_checked(Total(tables, aggregate or "macro", label, groups, tasks)))
    return totals


def _under(metric: str, tasks: Mapping[str, Sequence[SegmentStatistics]]) -> Tables:
    """Return the table under a metric of each task that has one."""
    tables: dict[str, SegmentStatistics] = {}
    for name, of_task in tasks.items():
        fitting = [table for table in of_task if table.metric.name == metric]
        if len(fitting) > 1:
            raise InputError(
                f"task {name!r} has {len(fitting)} metrics called {metric}; give each a task of "
                f"its own"
            )
        if fitting:
            tables[name] = fitting[0]
    return tables


def _of_groups(
    tasks: Mapping[str, list[SegmentStatistics]],
    named: Sequence[NamedTotal],
    groups: Mapping[str, Labels],
) -> list[Total]:
    """Return totals that have names, and the usual ones over tasks that none of them is over."""
    totals = []
    for one in named:
        tables = {
            name: table
            for name in one.tasks
            for table in tasks.get(name, ())
            if table.metric.name == one.metric
        }
        has_runs = any(isinstance(table.metric, MeanOfRuns) for table in tables.values())
        if len(tables) == len(one.tasks) and (one.aggregate == "micro" or not has_runs):
            totals.append(_checked(Total(tables, one.aggregate, one.name, groups, tasks)))
    known = {(total.metric, frozenset(total.tables)) for total in totals}
    others = as_totals(tasks, None, groups)
    return totals + [t for t in others if (t.metric, frozenset(t.tables)) not in known]


def _digest(numbers: ArrayLike) -> str:
    """Return the SHA-256 digest of numbers as floats, whatever their type."""
    return sha256(np.ascontiguousarray(numbers, np.float64).tobytes()).hexdigest()


def _checked(total: Total) -> Total:
    first, *others = total.tables
    for name in others:
        one, other = (total.tables[task].metric for task in (first, name))
        if one.higher_is_better != other.higher_is_better:
            raise InputError(
                f"a total needs scores of one direction: of {one.name} (task {first!r}) and "
                f"{other.name} (task {name!r}) one is better when higher, the other when lower"
            )
        if total.aggregate == "micro" and (one.name, one.signature) != (
            other.name,
            other.signature,
        ):
            raise InputError(
                f"aggregate 'micro' needs one metric, got {one!r} for task {first!r} and "
                f"{other!r} for task {name!r}; use 'macro'"
            )
    if total.aggregate != "micro" and isinstance(total.tables[first].metric, MeanOfRuns):
        raise InputError(
            "must be 'micro' where there are several runs of each system", argument="aggregate"
        )
    return total


def _blocks(parts: Sequence[Segments], grouped: bool) -> tuple[list[Block], Any, Any]:
    """Return the blocks of tasks among the units of all, the groups of segments, the strata."""
    blocks: list[Block] = []
    members: list[Any] = []
    strata: list[Any] = []
    n_units = n_segments = 0
    for t, part in enumerate(parts):
        (block,), units = part.blocks, part.units
        n = units.n_segments
        at = np.arange(n_units, n_units + units.n)
        of_segments = np.arange(n_segments, n_segments + n)
        blocks.append(replace(block, places=at, segment_places=of_segments))
        # A segment without label is a group of its own.
        members.append(n_units + (np.arange(n) if units.members is None else units.members))
        strata.append(np.full(units.n, t))
        n_units, n_segments = n_units + units.n, n_segments + n
    return blocks, np.concatenate(members) if grouped else None, np.concatenate(strata)


def _whole(blocks: Sequence[Block]) -> Block:
    """Put blocks of one metric together, to be scored as one."""
    rows, plain, segments = (
        np.concatenate([getattr(block, name) for block in blocks], axis=1)
        for name in ("rows", "plain", "segments")
    )
    metric = blocks[0].metric
    if isinstance(metric, Judged):
        # Any weight of the judge is right: that of all tasks is the mean of theirs.
        each = [block.metric.weight or 0.0 for block in blocks if isinstance(block.metric, Judged)]
        sizes = [block.rows.shape[1] for block in blocks]
        metric = replace(metric, weight=float(np.average(each, weights=sizes)))
    return Block(metric, rows, plain, segments)


def _within_parts(parts: Sequence[Segments]) -> Any:
    """Return the strata of all units, `(N,)`, which are those within each task."""
    each = [
        np.zeros(part.units.n, dtype=np.intp) if part.units.codes is None else part.units.codes
        for part in parts
    ]
    starts = np.cumsum([0, *(int(codes.max()) + 1 for codes in each[:-1])])
    return np.concatenate([start + codes for start, codes in zip(starts, each, strict=True)])


def _signature(tables: Sequence[SegmentStatistics], tag: str | None) -> MetricSignature:
    """Return the signature of the metric of all tables; of several metrics, theirs with names."""
    signatures = [table.metric_signature for table in tables]
    signature = merged(signatures)
    metrics = zip((table.metric.name for table in tables), signatures, strict=True)
    each = distinct(f"{name}|{MetricSignature.of(text).unversioned}" for name, text in metrics)
    if len(each) > 1:
        signature = replace(signature, settings=(" + ".join(each),))
    return signature if tag is None else signature.tagged(tag)
