"""Tasks: statistics with the design of their evaluation, from what a caller passes; totals.

A total has several tasks as its strata, or averages their scores.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from itertools import combinations
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, TypeGuard, cast

import numpy as np

from evalstats.analysis.counts import joined
from evalstats.analysis.design import (
    Aggregate,
    Aggregated,
    Labels,
    NamedTotal,
    Units,
    as_aggregate,
    as_units,
    check_enough,
    design,
    drawn_within,
    names_of_labels,
    unit_name,
)
from evalstats.analysis.options import Options
from evalstats.analysis.scores import Scores, Stratum, distinct_names, drawn, of_strata, of_table
from evalstats.analysis.summaries import Summary, summaries_of
from evalstats.checks import is_missing, listed, shown
from evalstats.errors import Argument, InputError, InputTypeError
from evalstats.metrics.base import MetricSignature, merged
from evalstats.metrics.ratios import MeanOfRuns
from evalstats.resampling.executors import Workers
from evalstats.results.records import counted, distinct, only, plural
from evalstats.statistics.extraction import (
    Metrics,
    Progress,
    as_metrics,
    as_systems,
    check_same_rows,
    extract_all,
    has_runs,
)
from evalstats.statistics.segments import (
    SegmentStatistics,
    check_same_segments,
    group_codes,
    joined_by_metric,
)
from evalstats.text.references import columns_of

if TYPE_CHECKING:
    from evalstats.designs.samples import Unpaired

Statistics = SegmentStatistics | Sequence[SegmentStatistics]
#: What is scored, of systems with the same segments or not.
Part: TypeAlias = "Task | Total | Unpaired"
#: Different metrics that the name of a total names; more are counted.
_NAMED = 3


@dataclass(frozen=True, eq=False)
class Task:
    """Statistics of systems under some metrics, or summaries of them, and their design.

    `groups` and `strata` have one label a segment, or name a label that the statistics have.
    """

    statistics: Sequence[SegmentStatistics] | Sequence[Summary]
    name: str = ""
    groups: Labels = None
    strata: Labels = None
    aggregate: Aggregated = "micro"
    #: Texts of the systems, and the references of each segment, where that is what came.
    outputs: Mapping[str, Sequence[str]] = field(default_factory=dict)
    references: Sequence[Any] = ()
    #: What kind of total it is, where it is that of its own strata.
    total: str | None = None

    metric: ClassVar[str] = ""
    is_paired: ClassVar[bool] = True

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of the systems."""
        return self.statistics[0].systems

    @property
    def tables(self) -> Sequence[SegmentStatistics]:
        """The statistics of segments, of a task that has them."""
        assert is_statistics(self.statistics)
        return cast(Sequence[SegmentStatistics], self.statistics)

    def drawn(self, options: Options) -> list[Scores]:
        """Return the scores under each metric, to be resampled; errors name the task."""
        summaries = summaries_of(self.statistics)
        try:
            if not summaries:
                return drawn(self.scores(), options)
            names = distinct_names([summary.metric for summary in summaries])
            return [
                summary.labelled(self.groups, self.strata).drawn(name, self.aggregate, options)
                for summary, name in zip(summaries, names, strict=True)
            ]
        except InputError as error:
            if not self.name:
                raise
            raise error.within(f"task {self.name!r}") from None

    def units(self) -> Units:
        """Return what is drawn."""
        tables = self.tables
        groups = labels_of(tables, self.groups, "groups")
        strata = labels_of(tables, self.strata, "strata")
        name, first = unit_name(self.groups), tables[0]
        units = as_units(first.n_segments, groups, strata, name, (first.unit, first.part))
        check_enough(units.n, units.unit)
        labelled = [table.metric.labelled(table.values) for table in tables]
        return units.within([marks for marks in labelled if marks is not None])

    def scores(self) -> list[Scores]:
        """Return the scores under each metric, of which nothing is drawn yet."""
        tables, units = self.tables, self.units()
        aggregate = as_aggregate(self.aggregate, units.labels)
        names = distinct_names([table.metric for table in tables])
        return [
            of_table(table, name, units, aggregate, self.name)
            for table, name in zip(tables, names, strict=True)
        ]

    def unit_names(self) -> list[str]:
        """Return what the unit of each segment is called: its group, or its id."""
        groups: Any = labels_of(self.tables, self.groups, "groups")
        is_one = groups is not None and not isinstance(groups, Mapping)
        return list(map(str, groups)) if is_one else self.segment_names()

    def segment_names(self) -> list[str]:
        """Return the id of each segment, or its place from 0."""
        first = self.tables[0]
        return list(first.segment_ids or map(str, range(first.n_segments)))


def as_task(
    hypotheses: Any,
    references: Any = None,
    metrics: Metrics | None = None,
    *,
    groups: Labels = None,
    strata: Labels = None,
    aggregate: Aggregated = "micro",
    human: object = None,
    executor: Workers = None,
    progress: Progress | None = None,
) -> Task:
    """Return the only task of a call; texts are extracted, by default under BLEU."""
    # Labels are looked at more than once.
    groups, strata = (list(x) if isinstance(x, Iterator) else x for x in (groups, strata))
    labels = {"groups": groups, "strata": strata}
    _check_columns(hypotheses, {"references": references, **labels})
    if summaries := summaries_of(hypotheses):
        _check_summaries(summaries, metrics, {"references": references, "human": human})
        return Task(summaries, groups=groups, strata=strata, aggregate=aggregate)
    if is_statistics(hypotheses):
        if human is not None:
            raise InputError(
                "must be left out when SegmentStatistics are given; extract them under es.Judged",
                argument="human",
            )
        tables = tables_of(hypotheses, references, metrics)
        return Task(tables, groups=groups, strata=strata, aggregate=aggregate)
    known = {name: value for name, value in labels.items() if value is not None}
    if isinstance(groups, Mapping):
        del known["groups"]
        known |= {f"groups[{name!r}]": given for name, given in groups.items()}
    for name, value in known.items():
        listed(value, name, "labels, one a segment")
    if known:
        check_same_rows(as_systems(hypotheses), references=references, **known)
    metrics = "bleu" if metrics is None else metrics
    outputs, texts = _texts(hypotheses, references)
    if human is not None:
        from evalstats.designs.judges import with_people

        hypotheses, references, metrics = with_people(hypotheses, references, metrics, human)
    extract = extract_all
    if has_runs(hypotheses, metrics):
        from evalstats.designs.runs import extract_runs

        extract = extract_runs
    extracted = extract(hypotheses, references, metrics, progress, executor)
    return Task(
        extracted,
        groups=groups,
        strata=strata,
        aggregate=aggregate,
        outputs=outputs,
        references=texts,
    )


def systems_of(hypotheses: Any) -> tuple[str, ...]:
    """Return the names of the systems, before anything is read that takes time."""
    if summaries := summaries_of(hypotheses):
        return tuple(summaries[0].systems)
    if is_statistics(hypotheses):
        return tables_of(hypotheses)[0].systems
    return tuple(as_systems(hypotheses))


def is_statistics(value: object) -> TypeGuard[Statistics]:
    """Return whether statistics came in place of texts."""
    return isinstance(value, SegmentStatistics) or (
        isinstance(value, (list, tuple))
        and bool(value)
        and all(isinstance(item, SegmentStatistics) for item in value)
    )


def tables_of(
    statistics: Statistics, references: object = None, metrics: Metrics | None = None
) -> list[SegmentStatistics]:
    """Return statistics that the caller extracted, as a list; other arguments are left out."""
    if references is not None:
        raise InputError("must be left out when SegmentStatistics are given", argument="references")
    several = [statistics] if isinstance(statistics, SegmentStatistics) else statistics
    tables = joined_by_metric(several)
    check_same_segments(tables)
    if metrics is not None and as_metrics(metrics) != [table.metric for table in tables]:
        raise InputError(
            "must be left out when SegmentStatistics are given: theirs are "
            + ", ".join(table.metric.name for table in tables),
            argument="metrics",
        )
    return tables


def labels_of(tables: Sequence[SegmentStatistics], labels: Labels | str, argument: str) -> Labels:
    """Return labels, one a segment, that may be named by a label that statistics have."""
    several = names_of_labels(labels, tables[0].n_segments) if tables[0].labels else ()
    by_name = labels if isinstance(labels, Mapping) else dict(zip(several, several, strict=True))
    if by_name:
        return {name: labels_of(tables, given, argument) for name, given in by_name.items()}
    if not isinstance(labels, str):
        return labels
    known = tables[0].labels
    if labels not in known:
        names = ", ".join(known) or "none"
        raise InputError(
            Argument(argument, labels), f" is no label of the segments; they have {names}"
        )
    values = known[labels]
    if n_without := values.count(""):
        raise InputError(
            Argument(argument, labels),
            f": {n_without:,} of {len(values):,} segments have none; give each one, or leave them "
            f"out",
        )
    return values


def is_extracted(value: object) -> bool:
    """Return whether statistics came in place of texts, or summaries of them."""
    return is_statistics(value) or bool(summaries_of(value))


def as_decided(hypotheses: object, options: Options) -> Options:
    """Return the options with what a summary has decided: t, where nothing can be drawn of it."""
    summaries = summaries_of(hypotheses)
    if summaries and options.paired_runs:
        raise InputError(
            f"is for several runs of each system, and {summaries[0].why}; leave it out",
            argument="paired_runs",
        )
    return replace(options, method="t") if summaries and summaries[0].is_by_t else options


def _check_summaries(
    summaries: Sequence[Summary], metrics: Metrics | None, others: Mapping[str, object]
) -> None:
    """Refuse arguments that summaries have decided, or know nothing of."""
    first = summaries[0]
    for name, value in others.items():
        if value is not None:
            raise InputError(f"must be left out when {first.name} is given", argument=name)
    known = [summary.metric for summary in summaries]
    asked = known if metrics is None else as_metrics(metrics)
    if [(m.name, m.signature) for m in asked] != [(m.name, m.signature) for m in known]:
        raise InputError(
            f"must be left out when {first.name} is given: its are "
            + ", ".join(metric.name for metric in known),
            argument="metrics",
        )
    if len({summary.systems for summary in summaries}) > 1:
        raise InputError(
            f"{first.name} of each metric must have the same systems, in one order",
            argument="hypotheses",
        )
    for summary in summaries:
        check_enough(summary.n_segments, summary.unit)


def _check_columns(hypotheses: object, others: Mapping[str, object]) -> None:
    """Refuse a frame with a row a score, and a column of systems as another argument too."""
    kinds: dict[bool, Any] = {}
    for name, column in columns_of(hypotheses) or ():
        there = [
            cell for cell in listed(column[:99], "hypotheses", "cells") if not is_missing(cell)
        ]
        if there:
            kinds.setdefault(isinstance(there[0], str), name)
    if len(kinds) > 1:
        raise InputTypeError(
            f"is a frame with texts ({kinds[True]!r}) and numbers ({kinds[False]!r}), and each "
            f"column must be a system; compare_logs and estimate_logs read frames with a row a "
            f"score, and columns such as model, item and score",
            argument="hypotheses",
        )
    columns = [name for name, _ in columns_of(hypotheses) or ()]
    for argument, value in others.items():
        name = getattr(value, "name", None)
        if name is not None and name in columns:
            raise InputError(
                f"is column {name!r} of the frame of hypotheses, where each column is a "
                f"system; give only the columns of systems",
                argument=argument,
            )


def _texts(hypotheses: object, references: object) -> tuple[dict[str, Sequence[str]], list[Any]]:
    """Return outputs by system where all are lists of texts, and references that are a list."""
    systems = dict(hypotheses) if isinstance(hypotheses, Mapping) else {}
    for outputs in systems.values():
        is_list = isinstance(outputs, (list, tuple))
        if not is_list or not all(isinstance(text, str) for text in outputs):
            systems = {}
            break
    several = references if isinstance(references, (list, tuple)) else []
    is_text = all(isinstance(one, (str, list, tuple)) for one in several)
    return systems, list(several) if is_text else []


def as_pairs(
    systems: tuple[str, ...], baseline: str | None, asking: str = "compare"
) -> list[tuple[int, int]]:
    """Return (baseline, system) as numbers of systems."""
    if len(systems) < 2:
        raise InputError(f"{asking} needs at least 2 systems, got {len(systems)}: {list(systems)}")
    if baseline is None:
        return list(combinations(range(len(systems)), 2))
    if baseline not in systems:
        raise InputError(
            f"must be one of {', '.join(systems)}; got {shown(baseline)}", argument="baseline"
        )
    first = systems.index(baseline)
    return [(first, i) for i in range(len(systems)) if i != first]


@dataclass(frozen=True, eq=False)
class Total:
    """A total over tasks: their blocks are scored together, and they are its strata."""

    tables: Mapping[str, SegmentStatistics]  # of its tasks, under one metric or several
    aggregate: Aggregated
    name: str
    groups: Mapping[str, Labels]  # of the segments of some tasks
    suite: Mapping[str, Sequence[SegmentStatistics]]  # all tasks with all metrics
    #: The texts are those of its tasks.
    outputs: ClassVar[Mapping[str, Sequence[str]]] = MappingProxyType({})
    is_paired: ClassVar[bool] = True

    @property
    def total(self) -> str:
        """What it is, whatever it is called: "macro" or "weighted"."""
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
            numbers = ", ".join(f"{n} for {name!r}" for name, n in counts.items())
            raise InputError(
                f"a total needs as many runs of each system on each task, got {numbers}"
            )

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
            contents = []
            for table in tables:
                # Numbers as floats, whatever their type.
                rows = (np.ascontiguousarray(values, np.float64) for values in table.values)
                digests = sorted(sha256(values.tobytes()).hexdigest() for values in rows)
                contents.append((table.metric.name, table.metric_signature, digests))
            design = repr(tables[0].segment_ids), repr((codes, weight))
            identities[name] = tables[0].n_segments, *design, sorted(contents)
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

    def drawn(self, options: Options) -> list[Scores]:
        """Return its scores, to be resampled."""
        summaries = summaries_of(self.statistics)
        if not summaries:
            return drawn(self.scores(), options)
        aggregate = self._aggregate(list(self.tables))
        scores = summaries[0].total(self.tables, aggregate)
        signature = _signature(self.statistics, aggregate.tag)
        name = f"{self.name} {self.metric}"
        return [replace(scores, name=self.metric, metric_name=name, signature=signature)]

    def unit_names(self) -> list[str]:
        """Return what the unit of each segment is called, after its task."""
        return [f"{task.name}: {name}" for task in self.tasks() for name in task.unit_names()]

    def scores(self) -> list[Scores]:
        """Return its only scores: the strata of its tasks, one after the other."""
        parts = [task.scores()[0] for task in self.tasks()]
        tables = [self.tables[name] for name in self.order]
        aggregate = self._aggregate(self.order)
        n_segments = sum(table.n_segments for table in tables)
        shares = aggregate.weights or tuple(table.n_segments / n_segments for table in tables)
        strata: list[Stratum] = []
        members, tasks, codes = [], [], []
        n_units = n_before = n_strata = 0
        for t, (part, share) in enumerate(zip(parts, shares, strict=True)):
            (stratum,), units = part.strata, part.units
            at = np.arange(n_units, n_units + units.n)
            of_segments = np.arange(n_before, n_before + units.n_segments)
            strata.append(replace(stratum, places=at, segment_places=of_segments, weight=share))
            # A segment without label is a group of its own.
            members.append(n_units + units.of_segments)
            tasks.append(np.full(units.n, t))
            # What is drawn apart within a task stays so.
            codes.append(n_strata + (0 * tasks[-1] if units.codes is None else units.codes))
            n_units, n_before = n_units + units.n, n_before + units.n_segments
            n_strata = int(codes[-1].max()) + 1
        groups = np.concatenate(members) if any(x in self.groups for x in self.order) else None
        unit = only((part.units.unit for part in parts), "group")
        called = only((part.units.segment for part in parts), "item"), parts[0].units.part
        units = design(n_segments, groups, np.concatenate(tasks), self.order, unit, called)
        units = replace(units, codes=drawn_within(np.concatenate(codes)))
        if aggregate.label == "micro":
            metrics = [stratum.metric for stratum in strata]
            metric = metrics[0].pooled(metrics, [stratum.rows.shape[1] for stratum in strata])
            arrays = ((stratum.rows, stratum.plain, stratum.segments) for stratum in strata)
            rows, plain, segments = (
                np.concatenate(sides, axis=1) for sides in zip(*arrays, strict=True)
            )
            strata = [Stratum(metric, rows, plain, segments)]
        known = [part.unseen for part in parts if part.unseen is not None]
        unseen = None
        if len(known) == len(parts):
            squares = [w**2 * part for w, part in zip(shares, known, strict=True)]
            unseen = np.concatenate(squares, axis=1)
        references = {part.reference_label for part in parts}
        total = of_strata(
            strata,
            units,
            name=self.metric,
            metric_name=f"{self.name} {self.metric}",
            systems=self.systems,
            higher_is_better=parts[0].higher_is_better,
            signature=_signature(tables, aggregate.tag),
            reference_label=references.pop() if len(references) == 1 else None,
            unseen=unseen,
            outcomes=joined([part.outcomes for part in parts], list(shares), units),
        )
        return [total]

    def _aggregate(self, names: Sequence[str]) -> Aggregate:
        """Return the aggregate of the tasks in the order in which they are drawn."""
        asked = self.aggregate
        if isinstance(asked, Mapping):
            asked = {name: asked[name] for name in names}
        return as_aggregate(asked, names, "tasks")


def name_of_all(tables: Collection[SegmentStatistics]) -> str:
    """Return what the total over tasks with these tables is called: "all 3 domains"."""
    part = only((getattr(table, "part", "task") for table in tables), "task")
    return f"both {plural(part)}" if len(tables) == 2 else f"all {counted(len(tables), part)}"


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
    settings = distinct(f"{name}|{MetricSignature.of(text).unversioned}" for name, text in metrics)
    if len(settings) > 1:
        signature = replace(signature, settings=(" + ".join(settings),))
    return signature if tag is None else signature.tagged(tag)
