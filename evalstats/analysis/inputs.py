"""What an analysis is given: texts, statistics or a shard, and which options go with each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import TypeGuard

from evalstats.analysis.plan import Plan
from evalstats.analysis.units import Aggregate, Labels, Units, as_units
from evalstats.errors import InputError
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

#: Defaults, which a Shard overrules.
N_RESAMPLES, SEED = 9999, 12345


Statistics = SegmentStatistics | Sequence[SegmentStatistics]


def is_statistics(value: object) -> TypeGuard[Statistics]:
    """Return whether statistics came in place of texts."""
    return isinstance(value, SegmentStatistics) or (
        isinstance(value, (list, tuple))
        and bool(value)
        and all(isinstance(item, SegmentStatistics) for item in value)
    )


def given_tables(
    statistics: Statistics, references: object, metrics: Metrics
) -> list[SegmentStatistics]:
    """Return statistics that the caller extracted, as a list."""
    if references is not None:
        raise InputError("references must be left out when SegmentStatistics are given")
    given = [statistics] if isinstance(statistics, SegmentStatistics) else statistics
    tables = joined_by_metric(given)
    check_same_segments(tables)
    # "bleu" is the default: it cannot be told from a metric that was not given.
    if metrics != "bleu" and as_metrics(metrics) != [table.metric for table in tables]:
        raise InputError(
            "metrics must be left out when SegmentStatistics are given: theirs are "
            + ", ".join(table.metric.name for table in tables)
        )
    return tables


def labels_of(statistics: object, labels: Labels | str, name: str) -> Labels:
    """Return labels, one a segment, that may be given by the name that statistics have for them."""
    if not isinstance(labels, str) or not is_statistics(statistics):
        return labels
    first = statistics if isinstance(statistics, SegmentStatistics) else statistics[0]
    if labels not in first.labels:
        known = ", ".join(first.labels) or "none"
        raise InputError(f"{name}={labels!r} is no label of the segments; they have {known}")
    found = first.labels[labels]
    if n_without := found.count(""):
        raise InputError(
            f"{name}={labels!r}: {n_without:,} of {len(found):,} segments have none; give each "
            f"one, or leave them out"
        )
    return found


def plan_of_shard(
    shard: Shard,
    plan: Plan,
    references: object,
    metrics: Metrics,
    groups: object,
    test: str = "bootstrap",
    strata: object = None,
) -> Plan:
    """Return the plan with what the shard has decided, or say what cannot be had from it."""
    for name, value in (("references", references), ("groups", groups), ("strata", strata)):
        if value is not None:
            raise InputError(f"{name} must be left out when a Shard is given")
    if (plan.kind, plan.n_draws) != ("multinomial", None):
        raise InputError("weights and n_draws must be left out when a Shard is given")
    if plan.method not in ("auto", "expanded", "percentile", "basic"):
        raise InputError(
            f"method {plan.method!r} needs the statistics of every segment, and a Shard keeps "
            f"totals only; use 'expanded', 'percentile' or 'basic'"
        )
    if test != "bootstrap":
        raise InputError(
            f"test {test!r} needs the statistics of every segment, and a Shard keeps totals only; "
            f"use test='bootstrap'"
        )
    # The defaults cannot be told from what was not given.
    if metrics != "bleu" and [(m.name, m.signature) for m in as_metrics(metrics)] != [
        (m.name, m.signature) for m in shard.metrics
    ]:
        raise InputError(
            "metrics must be left out when a Shard is given: its are "
            + ", ".join(metric.name for metric in shard.metrics)
        )
    for name, given, default, own in (
        ("n_resamples", plan.n_resamples, N_RESAMPLES, shard.n_resamples),
        ("rng", plan.seed, SEED, shard.seed),
    ):
        if given not in (default, own):
            raise InputError(
                f"{name} must be left out when a Shard is given: it was resampled with "
                f"{name}={own}, got {given}"
            )
    check_enough(shard.n_segments, shard.unit)
    return replace(plan, n_resamples=shard.n_resamples, seed=shard.seed)


def as_tables(
    hypotheses: object,
    references: object,
    metrics: Metrics,
    groups: Labels,
    plan: Plan,
    progress: Progress | None,
    strata: Labels = None,
    aggregate: Aggregate = "micro",
) -> tuple[list[SegmentStatistics], Units]:
    """Return the statistics of what is to be analysed, one table a metric, summed within groups.

    Beside them what a resample is made of.
    """
    if is_statistics(hypotheses):
        tables = given_tables(hypotheses, references, metrics)
    else:
        labels = {"groups": groups, "strata": strata}
        given = {name: value for name, value in labels.items() if value is not None}
        if given:
            check_same_rows(as_systems(hypotheses), references=references, **given)
        extract = extract_all_runs if has_runs(hypotheses, metrics) else extract_all
        tables = extract(hypotheses, references, metrics, progress, plan.executor)
    tables, units = as_units(tables, groups, strata, aggregate)
    check_enough(tables[0].n_segments, "segment" if groups is None else "group")
    return tables, units


def check_enough(n_segments: int, unit: str) -> None:
    """Refuse a single segment or group."""
    if n_segments < 2:
        raise InputError(
            f"at least 2 {unit}s are needed to say anything about uncertainty, got {n_segments}"
        )


def as_pairs(
    systems: tuple[str, ...], baseline: str | None, asking: str = "compare"
) -> list[tuple[int, int]]:
    """Return (baseline, system) as numbers of systems."""
    if len(systems) < 2:
        raise InputError(f"{asking} needs at least 2 systems, got {len(systems)}: {list(systems)}")
    if baseline is None:
        return list(combinations(range(len(systems)), 2))
    if baseline not in systems:
        raise InputError(f"baseline must be one of {', '.join(systems)}; got {baseline!r}")
    first = systems.index(baseline)
    return [(first, i) for i in range(len(systems)) if i != first]
