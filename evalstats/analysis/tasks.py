"""Tasks: statistics with their design, from a caller's arguments; totals.

A total has several tasks as its strata, or averages their scores. A `Summary` replaces statistics,
for example sums of a corpus or battles.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from hashlib import sha256
from itertools import combinations
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, TypeGuard

import numpy as np

from evalstats.analysis.counts import joined
from evalstats.analysis.design import (
    Aggregate,
    Aggregated,
    Labels,
    Units,
    as_aggregate,
    as_units,
    check_enough,
    names_of_labels,
    stacked,
    unit_name,
)
from evalstats.analysis.options import Options
from evalstats.analysis.scores import (
    Scores,
    Stratum,
    distinct_names,
    drawn,
    of_strata,
    of_table,
    widest_bounds,
)
from evalstats.checks import choice, is_missing, listed, plain
from evalstats.errors import Argument, InputError, InputTypeError
from evalstats.metrics.base import LabelledMetric, MetricSignature, merged
from evalstats.metrics.ratios import MeanOfRuns
from evalstats.resampling.executors import Workers
from evalstats.results.records import counted, distinct, only, plural
from evalstats.statistics.extraction import (
    Metrics,
    as_metrics,
    as_systems,
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
#: A scored part, with paired or unpaired systems.
Part: TypeAlias = "Task | Total | Unpaired"
#: How many metrics the name of a total lists; more are counted.
_NAMED = 3


class Summary(ABC):
    """A replacement for statistics, such as sums of a corpus, or battles.

    A subclass defines how it is resampled; the core needs nothing else.
    """

    #: What it keeps instead of segments, for messages: "sums and products".
    keeps: ClassVar[str]
    #: Whether it cannot be resampled, so that t is used.
    is_by_t: ClassVar[bool] = False
    #: Whether tasks of such summaries have totals, for suites and gates.
    has_totals: ClassVar[bool] = False

    systems: tuple[str, ...]
    metric: Any  # with a name and a signature
    unit: str  # "segment", or the name of groups

    @property
    @abstractmethod
    def n_segments(self) -> int:
        """Number of units."""

    @property
    def name(self) -> str:
        """Its name in messages: "Moments objects"."""
        return f"{type(self).__name__} objects"

    @property
    def why(self) -> str:
        """Why something is unknown: "Moments objects keep only sums and products"."""
        return f"{self.name} keep only {self.keeps}"

    @abstractmethod
    def drawn(self, name: str, aggregate: Aggregated, options: Options) -> Scores:
        """Return the scores of the systems; `name` is the metric's name in tables."""

    @classmethod
    def total(cls, tasks: Mapping[str, Any], aggregate: Aggregate) -> Scores:
        """Return a total over summaries of tasks by name, named after the first metric."""
        raise NotImplementedError

    def labelled(self, groups: Labels, strata: Labels) -> Summary:
        """Return the same with labels for groups and strata, which most summaries refuse."""
        for name, labels in (("groups", groups), ("strata", strata)):
            if labels is not None:
                raise InputError(f"must be left out when you pass {self.name}", argument=name)
        return self


def summaries_of(value: object) -> list[Any]:
    """Return a summary, or several of one type, as a list, empty for anything else.

    >>> summaries_of([1, 0])
    []
    """
    several = list(value) if isinstance(value, (list, tuple)) else [value]
    is_one_type = len({type(summary) for summary in several}) == 1
    return several if is_one_type and isinstance(several[0], Summary) else []


@dataclass(frozen=True, eq=False)
class Task:
    """Statistics of systems for some metrics, or summaries, and their design.

    `groups` and `strata` have one label per segment, or are the name of a label of the statistics.
    """

    statistics: Sequence[Any]  # `SegmentStatistics`, or summaries
    name: str = ""
    groups: Labels = None
    strata: Labels = None
    aggregate: Aggregated = "micro"
    #: Texts of the systems, and the references of each segment, if texts were given.
    outputs: Mapping[str, Sequence[str]] = field(default_factory=dict)
    references: Sequence[Any] = ()
    #: The kind of total, if it is the total of its own strata.
    total: str | None = None

    #: Only totals have the name of a metric.
    metric: ClassVar[str] = ""

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of the systems."""
        return tuple(self.statistics[0].systems)

    def drawn(self, options: Options) -> list[Scores]:
        """Return the scores for each metric, to be resampled; errors name the task."""
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
            raise error.within(f"task {self.name!r}") if self.name else error from None

    def units(self) -> Units:
        """Return the units."""
        tables = self.statistics
        given = {"groups": self.groups, "strata": self.strata}
        groups, strata = (
            None if labels is None else labels_of(tables, labels, name)
            for name, labels in given.items()
        )
        name, first = unit_name(self.groups), tables[0]
        units = as_units(first.n_segments, groups, strata, name, (first.unit, first.part))
        check_enough(units.n, units.unit)
        labelled = [
            table.metric.labelled(table.values)
            for table in tables
            if isinstance(table.metric, LabelledMetric)
        ]
        if not labelled:
            return units
        from evalstats.designs.judges import drawn_apart

        return drawn_apart(units, labelled)

    def scores(self) -> list[Scores]:
        """Return the scores for each metric, without replicates."""
        units = self.units()
        aggregate = as_aggregate(self.aggregate, units.labels)
        names = distinct_names([table.metric for table in self.statistics])
        return [
            of_table(table, name, units, aggregate, self.name)
            for table, name in zip(self.statistics, names, strict=True)
        ]

    def unit_names(self) -> list[str]:
        """Return the name of the unit of each segment: its group, or its id."""
        groups: Any = labels_of(self.statistics, self.groups, "groups")
        is_one = groups is not None and not isinstance(groups, Mapping)
        return list(map(str, groups)) if is_one else self.segment_names()

    def segment_names(self) -> list[str]:
        """Return the id of each segment, or its place from 0."""
        first = self.statistics[0]
        return list(first.segment_ids or map(str, range(first.n_segments)))


@dataclass(frozen=True, eq=False)
class Total:
    """A total over tasks, each with one metric: they are its strata, or are averaged."""

    tasks: Sequence[Task]
    aggregate: Aggregated
    name: str
    suite: Mapping[str, Sequence[SegmentStatistics]]  # all tasks with all metrics
    #: Texts belong to its tasks.
    outputs: ClassVar[Mapping[str, Sequence[str]]] = MappingProxyType({})

    @property
    def total(self) -> str:
        """Its kind, whatever its name: "micro", "macro" or "weighted"."""
        return self.aggregate if isinstance(self.aggregate, str) else "weighted"

    @property
    def statistics(self) -> list[SegmentStatistics]:
        """Its tables, one per task."""
        return [task.statistics[0] for task in self.tasks]

    @property
    def metric(self) -> str:
        """The name of the metric, or of the metrics, independent of the order of tasks."""
        names = sorted({table.metric.name for table in self.statistics})
        return " + ".join(names) if len(names) <= _NAMED else f"{len(names)} metrics"

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of the systems, the same in all tasks."""
        return self.tasks[0].systems

    def __post_init__(self) -> None:
        first, *others = self.tasks
        one = first.statistics[0].metric
        for task in others:
            other = task.statistics[0].metric
            if one.higher_is_better != other.higher_is_better:
                raise InputError(
                    "a total requires metrics with the same direction, but higher is better for "
                    f"only one of {one.name} (task {first.name!r}) and {other.name} (task "
                    f"{task.name!r})"
                )
            is_same = (one.name, one.signature) == (other.name, other.signature)
            if self.aggregate == "micro" and not is_same:
                raise InputError(
                    f"aggregate 'micro' requires the same metric for all tasks, got {one!r} for "
                    f"task {first.name!r} and {other!r} for task {task.name!r}; use 'macro'"
                )
        counts = [_n_runs(table) for table in self.statistics]
        if len(set(counts)) > 1:
            named = zip(counts, self.tasks, strict=True)
            numbers = ", ".join(f"{n} for {task.name!r}" for n, task in named)
            raise InputError(
                f"a total requires the same number of runs on each task, got {numbers}"
            )

    @cached_property
    def ordered(self) -> Sequence[Task]:
        """Its tasks in the order in which they are drawn, the same for all metrics.

        It depends only on the data: names and order of tasks, or of systems, do not change a bit of
        a total. Sizes and labels come first, so the metric rarely matters.
        """
        if summaries_of(self.statistics):
            return self.tasks
        identities = {}
        for task in self.tasks:
            tables, weighted = self.suite[task.name], isinstance(self.aggregate, Mapping)
            weight = self.aggregate.get(task.name) if weighted else None  # type: ignore[union-attr]
            labels = labels_of(tables, task.groups, "groups")
            if isinstance(labels, Mapping):
                raise InputError(
                    f"must be a single label if tasks have a total, got {list(labels)}; pass one",
                    argument="groups",
                )
            codes = [] if labels is None else group_codes(labels, tables[0].n_segments).tolist()
            contents = []
            for table in tables:
                # Numbers as floats, whatever their type.
                rows = (np.ascontiguousarray(values, np.float64) for values in table.values)
                digests = sorted(sha256(values.tobytes()).hexdigest() for values in rows)
                contents.append((table.metric.name, table.metric_signature, digests))
            known = repr(tables[0].segment_ids), repr((codes, weight)), sorted(contents)
            identities[task.name] = tables[0].n_segments, *known
        return sorted(self.tasks, key=lambda task: identities[task.name])

    def drawn(self, options: Options) -> list[Scores]:
        """Return its scores, to be resampled."""
        return drawn(self.scores(), options)

    def unit_names(self) -> list[str]:
        """Return the name of the unit of each segment, after its task."""
        return [f"{task.name}: {name}" for task in self.ordered for name in task.unit_names()]

    def scores(self) -> list[Scores]:
        """Return its scores, without replicates."""
        order = self.ordered
        tables, names = [task.statistics[0] for task in order], [task.name for task in order]
        asked = self.aggregate
        if isinstance(asked, Mapping):
            asked = {name: asked[name] for name in names}
        aggregate = as_aggregate(asked, names, "tasks")
        known: dict[str, Any] = {
            "name": self.metric,
            "metric_name": f"{self.name} {self.metric}",
            "signature": _signature(tables, aggregate.tag),
        }
        if summaries := summaries_of(tables):
            whole = summaries[0].total(dict(zip(names, tables, strict=True)), aggregate)
            return [replace(whole, **known)]
        parts = [task.scores()[0] for task in order]
        units = _as_strata([part.units for part in parts], names)
        ends = np.cumsum([(part.units.n, part.units.n_segments) for part in parts], axis=0)
        shares = aggregate.weights or tuple(one.n_segments / units.n_segments for one in tables)
        strata, unseen = [], []
        for part, end, share in zip(parts, ends, shares, strict=True):
            n, n_segments = part.units.n, part.units.n_segments
            stratum = replace(part.strata[0], places=np.arange(end[0] - n, end[0]), weight=share)
            places = np.arange(end[1] - n_segments, end[1])
            strata.append(replace(stratum, segment_places=places))
            unseen += [] if part.unseen is None else [share**2 * part.unseen]
        if aggregate.label == "micro":
            metrics = [stratum.metric for stratum in strata]
            metric = metrics[0].pooled(metrics, [stratum.rows.shape[1] for stratum in strata])
            arrays = ((stratum.rows, stratum.plain, stratum.segments) for stratum in strata)
            rows, plain, segments = (np.concatenate(x, axis=1) for x in zip(*arrays, strict=True))
            strata = [Stratum(metric, rows, plain, segments)]
        references = {part.reference_label for part in parts}
        total = of_strata(
            strata,
            units,
            **known,
            systems=self.systems,
            higher_is_better=parts[0].higher_is_better,
            bounds=widest_bounds(parts),
            empty_score=parts[0].empty_score,
            reference_label=references.pop() if len(references) == 1 else None,
            unseen=np.concatenate(unseen, axis=1) if len(unseen) == len(parts) else None,
            outcomes=joined([part.outcomes for part in parts], list(shares), units),
        )
        return [total]


def _as_strata(several: Sequence[Units], names: Sequence[str]) -> Units:
    """Return the units of tasks, with tasks as strata."""
    numbers = np.repeat(np.arange(len(several)), [units.n for units in several])
    members = None
    if any(units.members is not None for units in several):
        # A segment without a label is a group of its own.
        starts = np.searchsorted(numbers, np.arange(len(several)))
        apart = zip(several, starts, strict=True)
        members = np.concatenate([start + units.of_segments for units, start in apart])
    together = stacked(several, range(len(several)))
    return replace(together, members=members, strata=numbers, labels=tuple(names))


def name_of_all(tables: Collection[SegmentStatistics]) -> str:
    """Return the name of the total over tasks with these tables: "all 3 domains"."""
    part = only((getattr(table, "part", "task") for table in tables), "task")
    return f"both {plural(part)}" if len(tables) == 2 else f"all {counted(len(tables), part)}"


def as_totals(
    tasks: Mapping[str, list[SegmentStatistics]],
    aggregate: Aggregated | None,
    groups: Mapping[str, Labels],
) -> list[Total]:
    """Return the totals: one per metric, one over all tasks, or none.

    Named totals come first, then default totals over the remaining tasks.
    """
    named = aggregate if isinstance(aggregate, tuple) else ()
    asked = None if isinstance(aggregate, tuple) else aggregate
    if asked is not None:
        as_aggregate(asked, list(tasks), "tasks")

    def total(under: Mapping[str, SegmentStatistics], how: Aggregated, name: str = "") -> Total:
        of_metric = [Task([table], task, groups.get(task)) for task, table in under.items()]
        name = name or name_of_all(under.values())
        refuse_namesake(name, tasks)
        return Total(of_metric, how, name, tasks)

    if asked is not None and len(tasks) > 1 and all(len(parts) == 1 for parts in tasks.values()):
        return [total({name: tables[0] for name, tables in tasks.items()}, asked)]
    totals, known = [], set()
    for one in named:
        pairs = ((name, table) for name in one.tasks for table in tasks.get(name, ()))
        under = {name: table for name, table in pairs if table.metric.name == one.metric}
        if len(under) == len(one.tasks) and len(set(map(_n_runs, under.values()))) == 1:
            totals.append(total(under, one.aggregate, one.name))
            known.add((one.metric, frozenset(under)))
    for metric in distinct(table.metric.name for tables in tasks.values() for table in tables):
        under = _under(tasks, metric)
        # Tasks with different numbers of runs have no mean.
        is_one = asked is not None or len(set(map(_n_runs, under.values()))) == 1
        if len(under) > 1 and is_one and (metric, frozenset(under)) not in known:
            totals.append(total(under, asked or "macro"))
    return totals


def refuse_namesake(total: str, tasks: Collection[str]) -> None:
    """Refuse a task with the name of a total."""
    if total in tasks:
        raise InputError(
            f"a task or stratum is called {total!r}, which is the name of the total; rename it"
        )


def _under(tasks: Mapping[str, list[Any]], metric: str) -> dict[str, SegmentStatistics]:
    """Return the tables of tasks that have this metric."""
    under: dict[str, SegmentStatistics] = {}
    for name, of_task in tasks.items():
        fitting = [table for table in of_task if table.metric.name == metric]
        if len(fitting) > 1:
            raise InputError(
                f"task {name!r} has {len(fitting)} metrics called {metric}; put each of them in "
                "a separate task"
            )
        under.update((name, table) for table in fitting)
    return under


def _n_runs(table: SegmentStatistics) -> int:
    return table.metric.n_runs if isinstance(table.metric, MeanOfRuns) else 1


def _signature(tables: Sequence[SegmentStatistics], tag: str | None) -> MetricSignature:
    """Return the signature of the metric of all tables, or named signatures of several metrics."""
    signatures = [table.metric_signature for table in tables]
    signature = merged(signatures)
    metrics = zip((table.metric.name for table in tables), signatures, strict=True)
    settings = distinct(f"{name}|{MetricSignature.of(text).unversioned}" for name, text in metrics)
    if len(settings) > 1:
        signature = replace(signature, settings=(" + ".join(settings),))
    return signature if tag is None else signature.tagged(tag)


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
) -> Task:
    """Return the task of a call; texts are extracted, by default for BLEU."""
    # Labels are used more than once.
    groups, strata = (list(x) if isinstance(x, Iterator) else x for x in (groups, strata))
    labels = {"groups": groups, "strata": strata}
    task = partial(Task, groups=groups, strata=strata, aggregate=aggregate)
    if columns := columns_of(hypotheses):
        _check_columns(columns, {"references": references, **labels})
    if summaries := summaries_of(hypotheses):
        _check_summaries(summaries, metrics, {"references": references, "human": human})
        return task(summaries)
    if is_statistics(hypotheses):
        if human is not None:
            raise InputError(
                "must be left out when you pass SegmentStatistics; extract them with es.Judged "
                "as the metric",
                argument="human",
            )
        return task(tables_of(hypotheses, references, metrics))
    if isinstance(groups, Mapping):
        del labels["groups"]
        labels |= {f"groups[{name!r}]": given for name, given in groups.items()}
    known = {name: value for name, value in labels.items() if value is not None}
    for name, value in known.items():
        listed(value, name, "labels, one per segment")
    if known:
        as_systems(hypotheses, references=references, **known)
    metrics = "bleu" if metrics is None else metrics
    outputs, texts = _texts(hypotheses, references)
    if human is not None:
        from evalstats.designs.judges import with_people

        hypotheses, references, metrics = with_people(hypotheses, references, metrics, human)
    extract = extract_all
    if has_runs(hypotheses, metrics):
        from evalstats.designs.runs import extract_runs

        extract = extract_runs
    tables = extract(hypotheses, references, metrics, executor)
    return task(tables, outputs=outputs, references=texts)


def systems_of(hypotheses: Any) -> tuple[str, ...]:
    """Return the names of the systems, before any slow reading."""
    if summaries := summaries_of(hypotheses):
        return tuple(summaries[0].systems)
    if is_statistics(hypotheses):
        return tables_of(hypotheses)[0].systems
    return tuple(as_systems(hypotheses))


def is_statistics(value: object) -> TypeGuard[Statistics]:
    """Return whether the argument is statistics."""
    return isinstance(value, SegmentStatistics) or (
        isinstance(value, (list, tuple))
        and bool(value)
        and all(isinstance(item, SegmentStatistics) for item in value)
    )


def tables_of(
    statistics: Statistics, references: object = None, metrics: Metrics | None = None
) -> list[SegmentStatistics]:
    """Return a caller's statistics as a list; other arguments must be left out."""
    if references is not None:
        raise InputError("must be left out when you pass SegmentStatistics", argument="references")
    several = [statistics] if isinstance(statistics, SegmentStatistics) else statistics
    tables = joined_by_metric(several)
    check_same_segments(tables)
    if metrics is not None and as_metrics(metrics) != [table.metric for table in tables]:
        raise InputError(
            "must be left out when you pass SegmentStatistics, which already have "
            + ", ".join(table.metric.name for table in tables),
            argument="metrics",
        )
    return tables


def labels_of(tables: Sequence[SegmentStatistics], labels: Labels | str, argument: str) -> Labels:
    """Return labels, one per segment, given directly or as the name of a label."""
    known = tables[0].labels
    if known and (both := names_of_labels(labels, tables[0].n_segments)):
        labels = dict(zip(both, both, strict=True))
    if isinstance(labels, Mapping):
        return {name: labels_of(tables, given, argument) for name, given in labels.items()}
    if not isinstance(labels, str):
        return labels
    if labels not in known:
        names = ", ".join(known) or "no labels"
        raise InputError(
            Argument(argument, labels), f" is not a label of the segments, which have {names}"
        )
    values = known[labels]
    if n_without := values.count(""):
        raise InputError(
            Argument(argument, labels),
            f": {n_without:,} of {len(values):,} segments have no label; label every segment, or "
            "leave these out",
        )
    return values


def is_extracted(value: object) -> bool:
    """Return whether the argument is statistics or summaries."""
    return is_statistics(value) or bool(summaries_of(value))


def as_decided(hypotheses: object, options: Options) -> Options:
    """Return the options for a summary: t, if it cannot be resampled."""
    summaries = summaries_of(hypotheses)
    if summaries and options.paired_runs:
        raise InputError(
            f"requires several runs of each system, but {summaries[0].why}; leave it out",
            argument="paired_runs",
        )
    return replace(options, method="t") if summaries and summaries[0].is_by_t else options


def _check_summaries(
    summaries: Sequence[Summary], metrics: Metrics | None, others: Mapping[str, object]
) -> None:
    """Refuse arguments that summaries do not support."""
    first = summaries[0]
    for name, value in others.items():
        if value is not None:
            raise InputError(f"must be left out when you pass {first.name}", argument=name)
    known = [summary.metric for summary in summaries]
    asked = known if metrics is None else as_metrics(metrics)
    if [(m.name, m.signature) for m in asked] != [(m.name, m.signature) for m in known]:
        raise InputError(
            f"must be left out when you pass {first.name}, which already have "
            + ", ".join(metric.name for metric in known),
            argument="metrics",
        )
    if len({summary.systems for summary in summaries}) > 1:
        raise InputError(
            f"{first.name} of each metric must have the same systems, in the same order",
            argument="hypotheses",
        )
    for summary in summaries:
        check_enough(summary.n_segments, summary.unit)


#: Names of columns with numbers of rows, such as pandas makes from an index.
_ROW_NUMBERS = ("index", "id", "level0", "unnamed0", "row", "item", "segment")


def _check_columns(columns: Sequence[tuple[str, Any]], others: Mapping[str, object]) -> None:
    """Refuse a frame with one row per score, or a column of systems given twice."""
    kinds: dict[bool, Any] = {}
    for name, column in columns:
        there = [
            cell for cell in listed(column[:99], "hypotheses", "cells") if not is_missing(cell)
        ]
        if there:
            kinds.setdefault(isinstance(there[0], str), name)
    if len(kinds) > 1:
        raise InputTypeError(
            f"is a data frame with texts ({kinds[True]!r}) and numbers ({kinds[False]!r}), but "
            "each column must be a system. For a data frame with one row per score and columns "
            "such as model, item and score, use compare_logs or estimate_logs.",
            argument="hypotheses",
        )
    for name, column in columns:
        cells = listed(column[:99], "hypotheses", "cells")
        if plain(name) in _ROW_NUMBERS and cells in [[*range(i, i + len(cells))] for i in (0, 1)]:
            raise InputError(
                f"has a column {name!r} with the numbers of the rows, but each column counts as a "
                "system; leave this column out",
                argument="hypotheses",
            )
    names = [name for name, _ in columns]
    for argument, value in others.items():
        label = getattr(value, "name", None)
        if label is not None and label in names:
            raise InputError(
                f"is column {label!r} of the data frame in hypotheses, where each column counts "
                "as a system; pass only the columns of systems as hypotheses",
                argument=argument,
            )


def _texts(hypotheses: object, references: object) -> tuple[dict[str, Sequence[str]], list[Any]]:
    """Return outputs by system if all are lists of texts, and references if a list."""
    systems = dict(hypotheses) if isinstance(hypotheses, Mapping) else {}
    are_texts = all(
        isinstance(outputs, (list, tuple)) and all(isinstance(text, str) for text in outputs)
        for outputs in systems.values()
    )
    several = references if isinstance(references, (list, tuple)) else []
    is_text = all(isinstance(one, (str, list, tuple)) for one in several)
    return systems if are_texts else {}, list(several) if is_text else []


def as_pairs(
    systems: tuple[str, ...], baseline: str | None, asking: str = "compare"
) -> list[tuple[int, int]]:
    """Return (baseline, system) as numbers of systems."""
    if len(systems) < 2:
        is_rank = asking in ("compare", "rank")
        more = "; use estimate for a single system" if systems and is_rank else ""
        said = f"{asking} requires at least 2 systems, got {len(systems)}: {list(systems)}{more}"
        raise InputError(said)
    if baseline is None:
        return list(combinations(range(len(systems)), 2))
    first = systems.index(choice(baseline, systems, "baseline"))
    return [(first, i) for i in range(len(systems)) if i != first]
