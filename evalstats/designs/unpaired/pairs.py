"""Tasks and totals of systems that are not paired, from what a caller passes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from types import MappingProxyType
from typing import Any, ClassVar, TypeAlias

import numpy as np

from evalstats.analysis.aggregates import Aggregated
from evalstats.analysis.blocks import Segments
from evalstats.analysis.drawn import Drawn, from_segments
from evalstats.analysis.options import Options
from evalstats.analysis.summaries import maker_of
from evalstats.analysis.tasks import Task, as_task, is_statistics
from evalstats.analysis.totals import Total
from evalstats.analysis.units import Labels
from evalstats.designs.unpaired.apart import RUNS, apart
from evalstats.errors import InputError
from evalstats.resampling.executors import Workers
from evalstats.statistics.extraction import Metrics, as_systems, has_runs
from evalstats.statistics.interchange import is_same_metric
from evalstats.statistics.segments import SegmentStatistics


@dataclass(frozen=True, eq=False)
class Unpaired:
    """A task, or a total, on which each system has segments of its own.

    `each` are the same of every system alone.
    """

    each: tuple[Task | Total, ...]

    #: The texts of one system say nothing of those of another.
    outputs: ClassVar[Mapping[str, Sequence[str]]] = MappingProxyType({})

    @property
    def name(self) -> str:
        """Name of the task, or total."""
        return self.each[0].name

    @property
    def total(self) -> str | None:
        """What a total is; a task is none."""
        return self.each[0].total

    @property
    def metric(self) -> str:
        """The name of the metric, or metrics, of a total."""
        assert isinstance(self.each[0], Total)
        return self.each[0].metric

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of the systems."""
        return tuple(part.systems[0] for part in self.each)

    def drawn(self, options: Options) -> list[Drawn]:
        """Return what is drawn, one a metric; errors name the system."""
        by_system = []
        for part in self.each:
            try:
                by_system.append(_segments_of(part))
            except InputError as error:
                raise error.within(f"system {part.systems[0]!r}") from None
        order = sorted(range(len(by_system)), key=lambda i: _identity(by_system[i]))
        return from_segments([apart(each, order) for each in zip(*by_system, strict=True)], options)


#: What is scored: a task or a total, of systems with the same segments or each with its own.
Part: TypeAlias = Task | Total | Unpaired


def _segments_of(part: Task | Total) -> list[Segments]:
    return [part.segments()] if isinstance(part, Total) else part.segments()


def _identity(of: Sequence[Segments]) -> tuple[int, list[str]]:
    """Return what tells the statistics of a system from those of another.

    Systems are drawn one after the other in this order, so that neither their names nor the order
    in which they came change a bit.
    """
    rows = [np.ascontiguousarray(block.rows, np.float64) for one in of for block in one.blocks]
    return of[0].units.n, [sha256(values.tobytes()).hexdigest() for values in rows]


def as_unpaired(
    hypotheses: Any,
    references: Any = None,
    metrics: Metrics | None = None,
    *,
    groups: Labels | Mapping[str, Labels] = None,
    strata: Labels | Mapping[str, Labels] = None,
    aggregate: Aggregated = "micro",
    human: object = None,
    executor: Workers = None,
) -> Unpaired:
    """Return the only task of a call whose systems have segments of their own.

    References, people's labels, groups and strata are by system; statistics have one system each.
    """
    inputs = _by_system(hypotheses)
    if not is_statistics(hypotheses) and has_runs(inputs, "bleu" if metrics is None else metrics):
        raise InputError(RUNS, argument="paired")
    names = list(inputs)
    own_references = of_systems(references, names, "references")
    own_human = of_systems(human, names, "human")
    own_groups, own_strata = (
        of_systems(groups, names, "groups"),
        of_systems(strata, names, "strata"),
    )
    return Unpaired(
        tuple(
            as_task(
                value if is_statistics(value) else {name: value},
                own_references[name],
                metrics,
                groups=own_groups[name],
                strata=own_strata[name],
                aggregate=aggregate,
                human=own_human[name],
                executor=executor,
            )
            for name, value in inputs.items()
        )
    )


def names_apart(hypotheses: Any) -> tuple[str, ...]:
    """Return the names of systems that are not paired, before anything is read that takes time."""
    return tuple(_by_system(hypotheses))


def _by_system(hypotheses: Any) -> Mapping[str, Any]:
    """Return outputs, or tables, by the name of their system."""
    _refuse_summaries(hypotheses)
    if not is_statistics(hypotheses):
        return as_systems(hypotheses)
    tables = [hypotheses] if isinstance(hypotheses, SegmentStatistics) else hypotheses
    return systems_apart(tables)


def _refuse_summaries(value: object) -> None:
    if maker := maker_of(value):
        raise InputError(
            f"needs the statistics of every segment, and {maker.why}; leave it out",
            argument="paired",
        )


def of_systems(value: Any, names: Sequence[str], argument: str) -> Mapping[str, Any]:
    """Return what each system has of an argument, whose mapping has them all.

    Nothing, and the name of a label, is the same for all.
    """
    if value is None or (isinstance(value, str) and argument != "references"):
        return dict.fromkeys(names, value)
    if not isinstance(value, Mapping) or set(value) != set(names):
        got = ", ".join(map(str, value)) if isinstance(value, Mapping) else type(value).__name__
        raise InputError(
            f"must be a mapping with those of each system ({', '.join(names)}), as these are "
            f"unpaired; got {got}",
            argument=argument,
        )
    return value


def systems_apart(tables: Iterable[SegmentStatistics]) -> dict[str, list[SegmentStatistics]]:
    """Return the tables of each system, one a metric, all in the order of the first system's."""
    apart: dict[str, list[SegmentStatistics]] = {}
    for table in tables:
        _refuse_summaries(table)
        for i, name in enumerate(table.systems):
            one = table
            if len(table.systems) > 1:
                one = replace(table, values=table.values[i : i + 1], systems=(name,))
            apart.setdefault(name, []).append(one)
    (first, metrics), *others = apart.items()
    for name, theirs in others:
        ordered = [
            next((t for t in theirs if is_same_metric(t.metric, m.metric)), None) for m in metrics
        ]
        known = [table for table in ordered if table is not None]
        if len(known) < len(metrics) or len(theirs) != len(metrics):
            have = [", ".join(t.metric.name for t in tables) for tables in (metrics, theirs)]
            raise InputError(
                f"all systems must have the same metrics, got {have[0]} of {first!r} and "
                f"{have[1]} of {name!r}"
            )
        apart[name] = known
    return apart


def side_by_side(each: Sequence[Sequence[Part]]) -> list[Part]:
    """Return the tasks and totals of systems that have them one by one, in the same order."""
    alone = [[part for part in of_task if not isinstance(part, Unpaired)] for of_task in each]
    return [Unpaired(tuple(parts)) for parts in zip(*alone, strict=True)]
