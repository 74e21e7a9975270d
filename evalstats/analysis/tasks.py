"""Tasks: statistics with the design of their evaluation, from what a caller passes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, TypeGuard, cast

from evalstats.analysis.design import (
    Aggregated,
    Labels,
    as_aggregate,
    as_units,
    check_enough,
    names_of_labels,
    unit_name,
)
from evalstats.analysis.drawn import Drawn, Maker, Summary, from_segments, maker_of, summaries_of
from evalstats.analysis.options import SEED, Options
from evalstats.analysis.scores import Segments, distinct_names, segments_of
from evalstats.checks import is_missing, listed, shown
from evalstats.errors import Argument, InputError, InputTypeError
from evalstats.resampling.executors import Workers
from evalstats.resampling.weights import Rng
from evalstats.statistics.extraction import (
    Metrics,
    Progress,
    as_metrics,
    as_systems,
    check_same_rows,
    extract_all,
    has_runs,
)
from evalstats.statistics.runs import extract_all_runs
from evalstats.statistics.segments import SegmentStatistics, check_same_segments, joined_by_metric
from evalstats.text.references import columns_of

if TYPE_CHECKING:
    from evalstats.analysis.totals import Total
    from evalstats.designs.unpaired.independent import Unpaired

Statistics = SegmentStatistics | Sequence[SegmentStatistics]
#: What is scored, of systems with the same segments or not.
Part: TypeAlias = "Task | Total | Unpaired"


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

    def drawn(self, options: Options) -> list[Drawn]:
        """Return what is drawn, one a metric; errors name the task."""
        maker = maker_of(self.statistics)
        try:
            if maker is None:
                return from_segments(self.segments(), options)
            summaries: Sequence[Any] = self.statistics
            # Most summaries have decided what their groups and strata are.
            if maker.design is None:
                _refuse_all(maker, {"groups": self.groups, "strata": self.strata})
            elif self.groups is not None or self.strata is not None:
                summaries = [maker.design(one, self.groups, self.strata) for one in summaries]
            return maker.drawn(summaries, self.aggregate, options)
        except InputError as error:
            if not self.name:
                raise
            raise error.within(f"task {self.name!r}") from None

    def segments(self) -> list[Segments]:
        """Return how the systems are scored under each metric, and what is drawn of them."""
        tables = self.tables
        groups = labels_of(tables, self.groups, "groups")
        strata = labels_of(tables, self.strata, "strata")
        name, first = unit_name(self.groups), tables[0]
        units = as_units(first.n_segments, groups, strata, name, (first.unit, first.part))
        check_enough(units.n, units.unit)
        labelled = [table.metric.labelled(table.values) for table in tables]
        units = units.within([marks for marks in labelled if marks is not None])
        aggregate = as_aggregate(self.aggregate, units.labels)
        names = distinct_names([table.metric for table in tables])
        by_stratum = bool(units.labels) and aggregate.label != "micro"
        each = [table.metric.tuned(table, units, by_stratum) for table in tables]
        return [
            replace(
                segments_of(table, name, units, aggregate, self.name),
                corrections=() if correction is None else (correction,),
                unseen=table.metric.unseen(table, units),
            )
            for (table, correction), name in zip(each, names, strict=True)
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
    if (maker := maker_of(hypotheses)) is not None:
        others = {"references": references, "human": human}
        others |= labels if maker.design is None else {}
        given = _summaries(maker, hypotheses, metrics, others)
        return Task(given, groups=groups, strata=strata, aggregate=aggregate)
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
        known |= {f"groups[{name!r}]": of for name, of in groups.items()}
    for name, value in known.items():
        listed(value, name, "labels, one a segment")
    if known:
        check_same_rows(as_systems(hypotheses), references=references, **known)
    metrics = "bleu" if metrics is None else metrics
    outputs, texts = _texts(hypotheses, references)
    if human is not None:
        from evalstats.designs.judges.human import with_people

        hypotheses, references, metrics = with_people(hypotheses, references, metrics, human)
    extract = extract_all_runs if has_runs(hypotheses, metrics) else extract_all
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
    if maker_of(hypotheses) is not None:
        return summaries_of(hypotheses)[0].systems
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
        return {name: labels_of(tables, of, argument) for name, of in by_name.items()}
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
    return is_statistics(value) or maker_of(value) is not None


def as_decided(hypotheses: object, options: Options, n_resamples: int | None, rng: Rng) -> Options:
    """Return the options with what a summary has decided, which nobody may have asked otherwise.

    `n_resamples` and `rng` are what the caller passed: `None`, or the default, asks for nothing.
    """
    maker = maker_of(hypotheses)
    if maker is None:
        return options
    if options.paired_runs:
        raise InputError(
            f"is for several runs of each system, and {maker.why}; leave it out",
            argument="paired_runs",
        )
    asked: dict[str, int] = {}
    if n_resamples is not None:
        asked["n_resamples"] = options.n_resamples
    if rng != SEED:
        asked["rng"] = options.seed
    for summary in summaries_of(cast(Any, hypotheses)):
        options = maker.decide(summary, options, asked)
    return options


def _summaries(
    maker: Maker, hypotheses: Any, metrics: Metrics | None, others: Mapping[str, object]
) -> list[Summary]:
    """Return summaries; arguments that they have decided, or know nothing of, are refused."""
    summaries = summaries_of(hypotheses)
    _refuse_all(maker, others)
    known = [metric for summary in summaries for metric in summary.metrics]
    asked = known if metrics is None else as_metrics(metrics)
    if [(m.name, m.signature) for m in asked] != [(m.name, m.signature) for m in known]:
        raise InputError(
            f"must be left out when {maker.name} is given: its are "
            + ", ".join(metric.name for metric in known),
            argument="metrics",
        )
    for summary in summaries:
        check_enough(summary.n_segments, summary.unit)
    return summaries


def _refuse_all(maker: Maker, others: Mapping[str, object]) -> None:
    """Refuse arguments that summaries know nothing of."""
    for name, value in others.items():
        if value is not None:
            raise InputError(f"must be left out when {maker.name} is given", argument=name)


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
