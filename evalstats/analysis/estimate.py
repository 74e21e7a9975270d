"""How sure is a score: texts or statistics in, estimates out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, overload

import numpy as np

from evalstats.analysis import sampling
from evalstats.analysis.design import design
from evalstats.analysis.inputs import (
    N_RESAMPLES,
    SEED,
    as_tables,
    is_statistics,
    labels_of,
    plan_of_shard,
)
from evalstats.analysis.notes import design_notes, gap_notes, size_notes
from evalstats.analysis.plan import Plan
from evalstats.analysis.sampling import Sample
from evalstats.analysis.sharded import from_shard
from evalstats.analysis.units import Aggregate, Labels
from evalstats.checks import also_called
from evalstats.metrics import Metric
from evalstats.resampling.executors import Workers
from evalstats.resampling.weights import Rng
from evalstats.results.results import Estimate, Estimates
from evalstats.results.signatures import signature
from evalstats.shards.shard import Shard
from evalstats.statistics.extraction import Metrics, Progress, as_systems
from evalstats.statistics.segments import SegmentStatistics
from evalstats.text.frames import columns_of


@overload
def estimate(
    hypotheses: Sequence[Any],
    references: Any = None,
    metric: str | Metric = "bleu",
    *,
    method: str = ...,
    confidence_level: float = ...,
    n_resamples: int = ...,
    groups: Labels = ...,
    strata: Labels = ...,
    aggregate: Aggregate = ...,
    rng: Rng = ...,
    weights: str = ...,
    n_draws: int | None = ...,
    executor: Workers = ...,
    progress: Progress | None = ...,
) -> Estimate: ...
@overload
def estimate(
    hypotheses: Any,
    references: Any = None,
    metric: Metrics = "bleu",
    *,
    method: str = ...,
    confidence_level: float = ...,
    n_resamples: int = ...,
    groups: Labels = ...,
    strata: Labels = ...,
    aggregate: Aggregate = ...,
    rng: Rng = ...,
    weights: str = ...,
    n_draws: int | None = ...,
    executor: Workers = ...,
    progress: Progress | None = ...,
) -> Any: ...
@also_called(metrics="metric", seed="rng")
def estimate(
    hypotheses: Any,
    references: Any = None,
    metric: Metrics = "bleu",
    *,
    method: str = "auto",
    confidence_level: float = 0.95,
    n_resamples: int = N_RESAMPLES,
    groups: Labels = None,
    strata: Labels = None,
    aggregate: Aggregate = "micro",
    rng: Rng = SEED,
    weights: str = "multinomial",
    n_draws: int | None = None,
    executor: Workers = None,
    progress: Progress | None = None,
) -> Estimate | Estimates:
    """Score a system and say how sure the score is.

    Parameters
    ----------
    hypotheses
        N outputs of one system, or at least two lists of them, its runs (training seeds); or a
        mapping from system names to either, or a frame of pandas or polars with one system a
        column; or a
        `SegmentStatistics`, or a list of them, and then no references; or a `Shard`, which has its
        metrics, resamples and seed, for the first three intervals.
    references
        One entry per segment: a string, a list of strings with `None` for an absent one, or a
        `References`.
    metric : str or Metric, or a list of them
        Names, as they are written or printed, or configured objects; `metrics` is understood too.
    method : {"auto", "expanded", "percentile", "basic", "bca", "studentized", "t", "hall"}
        Interval: expanded percentile (Hesterberg, 2015), percentile (Efron, 1979), basic (Davison
        and Hinkley, 1997), BCa (Efron, 1987), studentised (Hall, 1988), or t from the influence
        values, which needs no resampling. ``"auto"`` takes the expanded percentile interval of
        scores and the t interval of differences; for 0/1 scores those of Wilson (1927) and Tango
        (1998), which count segments.
    confidence_level : float
        In (0, 1).
    n_resamples : int
        B, at least 2.
    groups : sequence, optional
        One label (a document, a speaker) per segment, or the name that statistics have for them in
        their `labels`: resamples whole groups.
    strata : sequence, optional
        One label (a domain, a language, a task) per segment: resamples within strata, each of which
        keeps its size, and leaves the spread between them out of the error. Each group must lie in
        one stratum, and each stratum needs two members. For multinomial weights without `n_draws`.
    aggregate : {"micro", "macro"}, mapping or callable
        The score of all segments together; or the mean of the scores of all strata; or their mean
        with a weight for each stratum, ``{label: weight}``; or any smooth function of the scores of
        the T strata, in order of first appearance, that maps `(..., T)` to `(...)`.
    rng : int or numpy.random.Generator, optional
        Seed or generator; `None` asks for fresh entropy. `seed` is understood too.
    weights : {"multinomial", "bayesian"}
        What a resample is: segments drawn with replacement (Efron, 1979), or the Bayesian bootstrap
        (Rubin, 1981), whose percentile interval is a credible interval.
    n_draws : int, optional
        Segments in a resample, 2 to N: the m-out-of-n bootstrap (Bickel, Götze and van Zwet, 1997).
        Replicates are brought back to the spread of N segments, ``score + √(m/N)(score* - score)``,
        but keep the shape of m: below some twenty, intervals of few-valued scores are too short.
    executor : concurrent.futures.Executor, or int, optional
        Where to work: an executor (threads, processes, Dask, MPI), so many threads of this process,
        or all its cores. Changes no bit of the result.
    progress : callable, optional
        Called as ``progress(done, total, label)`` before each extraction and while resampling.

    Returns
    -------
    Estimate
        For one system and one metric; `Estimates` for several.

    Raises
    ------
    InputError
        For bad input; the message names the argument.

    Examples
    --------
    >>> from evalstats.data import load_sample
    >>> sample = load_sample()
    >>> result = estimate(sample.systems["baseline"], sample.references, "chrf")
    >>> result.low < result.score < result.high
    True
    """
    plan = Plan(method, confidence_level, n_resamples, rng, weights, n_draws, executor, progress)
    groups = labels_of(hypotheses, groups, "groups")
    strata = labels_of(hypotheses, strata, "strata")
    unit = "segment" if groups is None else "group"
    if isinstance(hypotheses, Shard):
        single = len(hypotheses.metrics) == len(hypotheses.systems) == 1
        plan = plan_of_shard(hypotheses, plan, references, metric, groups, strata=strata)
        unit = hypotheses.unit
        samples = from_shard(hypotheses)
    else:
        if columns_of(hypotheses) is not None:
            hypotheses = as_systems(hypotheses)
        single = isinstance(metric, (str, Metric)) and not isinstance(hypotheses, Mapping)
        if is_statistics(hypotheses):
            single = isinstance(hypotheses, SegmentStatistics) and len(hypotheses.systems) == 1
        elif not isinstance(hypotheses, Mapping):
            hypotheses = {"system": hypotheses}
        tables, units = as_tables(
            hypotheses, references, metric, groups, plan, progress, strata, aggregate
        )
        samples = sampling.bootstrap(tables, plan, units)
        gaps = [gap_notes([table]) for table in units.segments]
    notes = size_notes(samples[0].n_segments, unit)
    found = []
    for i, sample in enumerate(samples):
        own = () if isinstance(hypotheses, Shard) else gaps[i]
        of_metric = list(score_estimates(sample, plan, unit, notes + own))
        beside = design_notes(of_metric)
        found += [replace(e, notes=e.notes + beside) for e in of_metric]
    return found[0] if single else Estimates(tuple(found))


def score_estimates(
    sample: Sample, plan: Plan, unit: str, notes: tuple[str, ...]
) -> Iterable[Estimate]:
    """Yield the score of each system under one metric, with its interval."""
    for i, system in enumerate(sample.table.systems):
        replicates = np.ascontiguousarray(sample.replicates[:, i])
        replicates.setflags(write=False)
        low, high, error = sampling.bounds(sample, plan, replicates, sample.scores[i], (i,))
        method = sampling.method_of(sample, plan, (i,))
        yield Estimate(
            metric=sample.name,
            system=system,
            score=float(sample.scores[i]),
            low=low,
            high=high,
            standard_error=error,
            replicates=replicates,
            confidence_level=plan.confidence_level,
            method=method,
            n_segments=sample.n_segments,
            unit=unit,
            higher_is_better=sample.table.metric.higher_is_better,
            signature=result_signature(sample, plan, unit, method),
            notes=notes,
            **design(sample, i),
        )


def result_signature(sample: Sample, plan: Plan, unit: str, method: str, **test: str) -> str:
    """Return everything needed to make the numbers under one metric again."""
    table, shard = sample.table, sample.shard
    weights, resolution = (plan.kind, 1.0) if shard is None else (shard.weights, shard.resolution)
    resamples = sample.replicates.shape[0] or (plan.n_resamples if "test" in test else 0)
    return signature(
        table.metric.name,
        table.metric_signature,
        {
            "nrefs": table.reference_label or None,
            **test,
            "ci": method,
            "level": f"{plan.confidence_level:.10g}",
            "n": str(resamples) if resamples else None,
            "seed": str(plan.seed) if resamples else None,
            "weights": weights if weights != "multinomial" else None,
            "draws": None if plan.n_draws is None else str(plan.n_draws),
            "resolution": f"{resolution:g}" if resolution < 1 else None,
            "strata": None if sample.codes is None else str(np.max(sample.codes) + 1),
            "unit": unit,
        },
    )
