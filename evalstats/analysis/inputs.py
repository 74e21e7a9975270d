"""What an analysis is given: texts, statistics or a shard, and which options go with each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, TypeGuard

from evalstats.analysis.aggregates import Aggregated, as_aggregate
from evalstats.analysis.options import SEED, Default, Options
from evalstats.analysis.sampling import Sample, resample
from evalstats.analysis.scored import Scored, distinct_names, scored_of
from evalstats.analysis.sharded import from_shard
from evalstats.analysis.units import Labels, as_units, check_enough, unit_name
from evalstats.checks import shown
from evalstats.errors import Argument, InputError
from evalstats.resampling.weights import Rng
from evalstats.shards.shard import Shard
from evalstats.statistics.extraction import (
    Metrics,
    Progress,
    as_metrics,
    as_systems,
    check_same_rows,
    extract_all,
)
from evalstats.statistics.runs import extract_all_runs, has_runs
from evalstats.statistics.segments import SegmentStatistics, check_same_segments, joined_by_metric
from evalstats.text.frames import columns_of

Statistics = SegmentStatistics | Sequence[SegmentStatistics]


@dataclass(frozen=True)
class Given:
    """What is analysed: outputs with references and metrics, or statistics, and their labels.

    Fields are the arguments of `estimate` and `compare`. Texts have BLEU where no metrics are
    asked for; statistics and shards have their own.
    """

    hypotheses: Any
    references: Any = None
    metrics: Metrics | None = None
    groups: Labels = None
    strata: Labels = None
    aggregate: Aggregated = "micro"

    def __post_init__(self) -> None:
        # Labels are looked at more than once.
        for name in ("groups", "strata"):
            if isinstance(getattr(self, name), Iterator):
                vars(self).update({name: list(getattr(self, name))})
        columns = [name for name, _ in columns_of(self.hypotheses) or ()]
        for name in ("references", "groups", "strata"):
            own = getattr(getattr(self, name), "name", None)
            if own is not None and own in columns:
                raise InputError(
                    f"is column {own!r} of the frame of hypotheses, where each column is a "
                    f"system; give only the columns of systems",
                    argument=name,
                )

    def kept(self) -> Given:
        """Return what is asked about later: outputs and references, or statistics, and groups."""
        kept = self.hypotheses if is_statistics(self.hypotheses) else self.outputs()
        return replace(self, hypotheses=kept, references=self.reference_texts())

    def reference_texts(self) -> list[Any] | None:
        """Return the references of each segment, where they are a list of texts or of lists."""
        found = self.references
        is_list = isinstance(found, (list, tuple)) and all(
            isinstance(one, (str, list, tuple)) for one in found
        )
        return list(found) if is_list and self.outputs() else None

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of the systems, before anything is read that takes time."""
        if isinstance(self.hypotheses, Shard):
            return self.hypotheses.systems
        if is_statistics(self.hypotheses):
            return given_tables(self.hypotheses)[0].systems
        return tuple(as_systems(self.hypotheses))

    def options(self, options: Options, n_resamples: int | None = None, rng: Rng = SEED) -> Options:
        """Return the options, some of which a shard decides, unless the caller asked for others."""
        if not isinstance(self.hypotheses, Shard):
            return options
        check_shard(self.hypotheses, self, options)
        asked = {
            "n_resamples": None if n_resamples is None else options.n_resamples,
            "rng": None if isinstance(rng, Default) else options.seed,
        }
        return options_of_shard(self.hypotheses, options, asked)

    def samples(self, options: Options, progress: Progress | None = None) -> list[Sample]:
        """Return what is drawn, a sample a metric."""
        if isinstance(self.hypotheses, Shard):
            return from_shard(self.hypotheses)
        return resample(scored_tables(self, tables_of(self, options, progress)), options)

    def names(self, n: int) -> list[str]:
        """Return what the unit of each of n segments is called: its group, or its id."""
        if self.groups is not None:
            groups: Any = labels_of(self.hypotheses, self.groups, "groups")
            return list(map(str, groups))
        ids = _first(self.hypotheses).segment_ids if is_statistics(self.hypotheses) else None
        return list(ids or map(str, range(n)))

    def outputs(self) -> dict[str, Sequence[str]]:
        """Return the outputs of the systems, where they are lists of texts."""
        found = self.hypotheses if isinstance(self.hypotheses, Mapping) else {}
        for outputs in found.values():
            is_list = isinstance(outputs, (list, tuple))
            if not is_list or not all(isinstance(text, str) for text in outputs):
                return {}
        return dict(found)


def is_statistics(value: object) -> TypeGuard[Statistics]:
    """Return whether statistics came in place of texts."""
    return isinstance(value, SegmentStatistics) or (
        isinstance(value, (list, tuple))
        and bool(value)
        and all(isinstance(item, SegmentStatistics) for item in value)
    )


def _first(given: Statistics) -> SegmentStatistics:
    return given if isinstance(given, SegmentStatistics) else given[0]


def given_tables(
    statistics: Statistics, references: object = None, metrics: Metrics | None = None
) -> list[SegmentStatistics]:
    """Return statistics that the caller extracted, as a list."""
    if references is not None:
        raise InputError("must be left out when SegmentStatistics are given", argument="references")
    given = [statistics] if isinstance(statistics, SegmentStatistics) else statistics
    tables = joined_by_metric(given)
    check_same_segments(tables)
    if metrics is not None and as_metrics(metrics) != [table.metric for table in tables]:
        raise InputError(
            "must be left out when SegmentStatistics are given: theirs are "
            + ", ".join(table.metric.name for table in tables),
            argument="metrics",
        )
    return tables


def labels_of(statistics: object, labels: Labels | str, name: str) -> Labels:
    """Return labels, one a segment, that may be given by the name that statistics have for them."""
    if not isinstance(labels, str) or not is_statistics(statistics):
        return labels
    first = _first(statistics)
    if labels not in first.labels:
        known = ", ".join(first.labels) or "none"
        raise InputError(Argument(name, labels), f" is no label of the segments; they have {known}")
    found = first.labels[labels]
    if n_without := found.count(""):
        raise InputError(
            Argument(name, labels),
            f": {n_without:,} of {len(found):,} segments have none; give each one, or leave them "
            f"out",
        )
    return found


def check_shard(shard: Shard, given: Given, options: Options) -> None:
    """Say what cannot be had from a shard."""
    for name in ("references", "groups", "strata"):
        if getattr(given, name) is not None:
            raise InputError("must be left out when a Shard is given", argument=name)
    for name, unknown in (("method", "bca"), ("test", "ar")):
        if getattr(options, name) == unknown:
            raise InputError(
                f"{unknown!r} needs the statistics of every segment, and a Shard keeps totals "
                f"only; leave it out",
                argument=name,
            )
    asked = shard.metrics if given.metrics is None else as_metrics(given.metrics)
    if [(m.name, m.signature) for m in asked] != [(m.name, m.signature) for m in shard.metrics]:
        raise InputError(
            "must be left out when a Shard is given: its are "
            + ", ".join(metric.name for metric in shard.metrics),
            argument="metrics",
        )
    check_enough(shard.n_segments, shard.unit)


def options_of_shard(shard: Shard, options: Options, asked: Mapping[str, int | None]) -> Options:
    """Return the options with what the shard has decided, which nobody may have asked otherwise."""
    for name, own in (("n_resamples", shard.n_resamples), ("rng", shard.seed)):
        if asked[name] not in (None, own):
            raise InputError(
                "must be left out when a Shard is given: it was resampled with "
                f"{name}={own}, got {asked[name]}",
                argument=name,
            )
    return replace(options, n_resamples=shard.n_resamples, seed=shard.seed)


def tables_of(
    given: Given, options: Options, progress: Progress | None = None
) -> list[SegmentStatistics]:
    """Return the statistics of what is to be analysed, one table a metric."""
    if is_statistics(given.hypotheses):
        return given_tables(given.hypotheses, given.references, given.metrics)
    metrics = "bleu" if given.metrics is None else given.metrics
    labels = {"groups": given.groups, "strata": given.strata}
    known = {name: value for name, value in labels.items() if value is not None}
    if known:
        check_same_rows(as_systems(given.hypotheses), references=given.references, **known)
    extract = extract_all_runs if has_runs(given.hypotheses, metrics) else extract_all
    return extract(given.hypotheses, given.references, metrics, progress, options.executor)


def scored_tables(given: Given, tables: Sequence[SegmentStatistics]) -> list[Scored]:
    """Return how the systems are scored under each metric, and what is drawn of them."""
    groups = labels_of(given.hypotheses, given.groups, "groups")
    strata = labels_of(given.hypotheses, given.strata, "strata")
    units = as_units(tables[0].n_segments, groups, strata, unit_name(given.groups))
    check_enough(units.n, units.unit)
    aggregate = as_aggregate(given.aggregate, units.labels)
    names = distinct_names([table.metric for table in tables])
    return [scored_of(t, n, units, aggregate) for t, n in zip(tables, names, strict=True)]


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
