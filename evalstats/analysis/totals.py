"""Totals: several tasks as the strata of one, and averages of their scores."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from evalstats.analysis.design import (
    Aggregate,
    Aggregated,
    Labels,
    NamedTotal,
    as_aggregate,
    design,
    drawn_within,
)
from evalstats.analysis.drawn import Drawn, from_segments, maker_of
from evalstats.analysis.options import Options
from evalstats.analysis.scores import Block, Segments
from evalstats.analysis.shares import joined
from evalstats.errors import InputError
from evalstats.metrics.identity import MetricSignature, merged
from evalstats.metrics.ratios import MeanOfRuns
from evalstats.results.records import counted, distinct, only
from evalstats.statistics.names import group_codes
from evalstats.statistics.segments import SegmentStatistics

if TYPE_CHECKING:
    pass
from evalstats.analysis.tasks import Task, labels_of

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
    is_paired: ClassVar[bool] = True

    @property
    def total(self) -> str:
        """What it is, whatever it is called: "macro", "weighted" or the name of a function."""
        return as_aggregate(self.aggregate, list(self.tables), "tasks").label

    def __post_init__(self) -> None:
        first, *others = self.tables
        one = self.tables[first].metric
        for name in others:
            other = self.tables[name].metric
            if one.higher_is_better != other.higher_is_better:
                raise InputError(
                    f"a total needs scores of one direction: of {one.name} (task {first!r}) and "
                    f"{other.name} (task {name!r}) one is better when higher, the other when lower"
                )
            is_same = (one.name, one.signature) == (other.name, other.signature)
            if self.aggregate == "micro" and not is_same:
                raise InputError(
                    f"aggregate 'micro' needs one metric, got {one!r} for task {first!r} and "
                    f"{other!r} for task {name!r}; use 'macro'"
                )
        counts = {name: _n_runs(table) for name, table in self.tables.items()}
        if len(set(counts.values())) > 1:
            each = ", ".join(f"{n} for {name!r}" for name, n in counts.items())
            raise InputError(f"a total needs as many runs of each system on each task, got {each}")

    @cached_property
    def order(self) -> list[str]:
        """Names of its tasks in the order in which they are drawn, the same for all metrics.

        It follows from what the tasks are: neither the names nor the order of tasks, or of systems,
        change a bit of a total. Sizes and labels come first, so that another metric seldom does.
        """
        identities = {}
        for name in self.tables:
            tables = self.suite[name]
            weight = self.aggregate.get(name) if isinstance(self.aggregate, Mapping) else None
            labels = labels_of(tables, self.groups.get(name), "groups")
            if isinstance(labels, Mapping):
                raise InputError(
                    f"must be one label a segment where tasks have a total, got {list(labels)}; "
                    f"give one",
                    argument="groups",
                )
            codes = [] if labels is None else group_codes(labels, tables[0].n_segments).tolist()
            each = []
            for table in tables:
                # Numbers as floats, whatever their type.
                rows = (np.ascontiguousarray(of, np.float64) for of in table.values)
                digests = sorted(sha256(of.tobytes()).hexdigest() for of in rows)
                each.append((table.metric.name, table.metric_signature, digests))
            design = repr(tables[0].segment_ids), repr((codes, weight))
            identities[name] = tables[0].n_segments, *design, sorted(each)
        return sorted(self.tables, key=identities.__getitem__)

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
        """Return how it is scored: the blocks of its tasks, one after the other."""
        parts = [task.segments()[0] for task in self.tasks()]
        tables = [self.tables[name] for name in self.order]
        aggregate = self._aggregate(self.order)
        blocks: list[Block] = []
        members, strata, codes = [], [], []
        n_units = n_segments = n_strata = 0
        for t, part in enumerate(parts):
            (block,), own = part.blocks, part.units
            n = own.n_segments
            at = np.arange(n_units, n_units + own.n)
            of_segments = np.arange(n_segments, n_segments + n)
            blocks.append(replace(block, places=at, segment_places=of_segments))
            # A segment without label is a group of its own.
            members.append(n_units + own.of_segments)
            strata.append(np.full(own.n, t))
            # What is drawn apart within a task stays so.
            codes.append(n_strata + (0 * strata[-1] if own.codes is None else own.codes))
            n_units, n_segments = n_units + own.n, n_segments + n
            n_strata = int(codes[-1].max()) + 1
        groups = np.concatenate(members) if any(x in self.groups for x in self.order) else None
        unit = only((part.units.unit for part in parts), "group")
        called = only((part.units.segment for part in parts), "item"), parts[0].units.part
        units = design(n_segments, groups, np.concatenate(strata), self.order, unit, called)
        units = replace(units, codes=drawn_within(np.concatenate(codes)))
        shares = aggregate.weights or tuple(table.n_segments / n_segments for table in tables)
        if aggregate.label == "micro":
            metrics = [block.metric for block in blocks]
            metric = metrics[0].pooled(metrics, [block.rows.shape[1] for block in blocks])
            each = zip(
                *((block.rows, block.plain, block.segments) for block in blocks), strict=True
            )
            blocks = [Block(metric, *(np.concatenate(arrays, axis=1) for arrays in each))]
        outcomes = [None if aggregate.function else part.outcomes for part in parts]
        known = [part.unseen for part in parts if part.unseen is not None]
        unseen = None
        if len(known) == len(parts) and aggregate.function is None:
            squares = [w**2 * part for w, part in zip(shares, known, strict=True)]
            unseen = np.concatenate(squares, axis=1)
        references = {part.reference_label for part in parts}
        return Segments(
            name=self.metric,
            metric_name=f"{self.name} {self.metric}",
            systems=self.systems,
            higher_is_better=parts[0].higher_is_better,
            signature=_signature(tables, aggregate.tag),
            reference_label=references.pop() if len(references) == 1 else None,
            units=units,
            unseen=unseen,
            outcomes=joined(outcomes, list(shares), units),
            undefined=parts[0].undefined,
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


def name_of_all(tables: Collection[SegmentStatistics]) -> str:
    """Return what the total over tasks with these tables is called: "all 3 domains"."""
    part = only((getattr(table, "part", "task") for table in tables), "task")
    return f"all {counted(len(tables), part)}"


def as_totals(
    tasks: Mapping[str, list[SegmentStatistics]],
    aggregate: Aggregated | None,
    groups: Mapping[str, Labels],
) -> list[Total]:
    """Return the totals that there are: one a metric, or one over all tasks, or none."""
    if isinstance(aggregate, tuple):
        return _named_totals(tasks, aggregate, groups)
    if aggregate is not None:
        as_aggregate(aggregate, list(tasks), "tasks")
    if len(tasks) < 2:
        return []
    if aggregate is not None and all(len(tables) == 1 for tables in tasks.values()):
        whole = {name: tables[0] for name, tables in tasks.items()}
        return [Total(whole, aggregate, name_of_all(whole.values()), groups, tasks)]
    totals = []
    for metric in distinct(table.metric.name for tables in tasks.values() for table in tables):
        under: dict[str, SegmentStatistics] = {}
        for name, of_task in tasks.items():
            fitting = [table for table in of_task if table.metric.name == metric]
            if len(fitting) > 1:
                raise InputError(
                    f"task {name!r} has {len(fitting)} metrics called {metric}; give each a task "
                    f"of its own"
                )
            if fitting:
                under[name] = fitting[0]
        # Of tasks with other runs there is no mean.
        n_runs = {_n_runs(table) for table in under.values()}
        if len(under) > 1 and not (len(n_runs) > 1 and aggregate is None):
            name = name_of_all(under.values())
            totals.append(Total(under, aggregate or "macro", name, groups, tasks))
    return totals


def _named_totals(
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
        if len(tables) == len(one.tasks) and len({_n_runs(of) for of in tables.values()}) == 1:
            totals.append(Total(tables, one.aggregate, one.name, groups, tasks))
    known = {(total.metric, frozenset(total.tables)) for total in totals}
    others = as_totals(tasks, None, groups)
    return totals + [t for t in others if (t.metric, frozenset(t.tables)) not in known]


def _n_runs(table: SegmentStatistics) -> int:
    return table.metric.n_runs if isinstance(table.metric, MeanOfRuns) else 1


def _signature(tables: Sequence[SegmentStatistics], tag: str | None) -> MetricSignature:
    """Return the signature of the metric of all tables; of several metrics, theirs with names."""
    signatures = [table.metric_signature for table in tables]
    signature = merged(signatures)
    metrics = zip((table.metric.name for table in tables), signatures, strict=True)
    each = distinct(f"{name}|{MetricSignature.of(text).unversioned}" for name, text in metrics)
    if len(each) > 1:
        signature = replace(signature, settings=(" + ".join(each),))
    return signature if tag is None else signature.tagged(tag)
