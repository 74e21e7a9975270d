"""The only composer: texts or statistics in, estimates and comparisons out."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, overload

import numpy as np

from evalstats import multiplicity, resampling, sampling, significance
from evalstats._signature import signature
from evalstats.errors import InputError
from evalstats.extraction import Metrics, Progress, as_metrics, as_systems, extract_all
from evalstats.metrics import Metric
from evalstats.metrics.texts import listed
from evalstats.notes import comparison_notes, size_notes
from evalstats.options import ADJUSTMENTS, ALTERNATIVES, TESTS, Plan, make_plan, option
from evalstats.results import Comparison, Difference, Estimate, Estimates
from evalstats.sampling import Sample
from evalstats.segments import SegmentStatistics, check_same_segments, joined_by_metric
from evalstats.shards import Shard
from evalstats.tasks import Workers
from evalstats.weights import Rng

Statistics = SegmentStatistics | Sequence[SegmentStatistics]

#: Scores whose relative distance is below this are ties; so is what rounding to the grid may move.
_TIE = 1e-12
_GRID = 2.0**-51
#: Defaults, which a Shard overrules.
_N_RESAMPLES, _SEED = 9999, 12345


@overload
def estimate(
    hypotheses: Sequence[Any],
    references: Any = None,
    metric: str | Metric = "bleu",
    *,
    method: str = ...,
    confidence_level: float = ...,
    n_resamples: int = ...,
    groups: Iterable[Hashable] | None = ...,
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
    groups: Iterable[Hashable] | None = ...,
    rng: Rng = ...,
    weights: str = ...,
    n_draws: int | None = ...,
    executor: Workers = ...,
    progress: Progress | None = ...,
) -> Any: ...
def estimate(
    hypotheses: Any,
    references: Any = None,
    metric: Metrics = "bleu",
    *,
    method: str = "expanded",
    confidence_level: float = 0.95,
    n_resamples: int = _N_RESAMPLES,
    groups: Iterable[Hashable] | None = None,
    rng: Rng = _SEED,
    weights: str = "multinomial",
    n_draws: int | None = None,
    executor: Workers = None,
    progress: Progress | None = None,
) -> Estimate | Estimates:
    """Score a system and say how sure the score is.

    Parameters
    ----------
    hypotheses
        N outputs of one system; or a mapping from system names to outputs; or a
        `SegmentStatistics`, or a list of them, and then no references; or a `Shard`, which has its
        metrics, resamples and seed, for the first three intervals.
    references
        One entry per segment: a string, a list of strings with `None` for an absent one, or a
        `References`.
    metric : str or Metric, or a list of them
        Names or configured objects.
    method : {"expanded", "percentile", "basic", "bca", "studentized", "t"}
        Interval: expanded percentile (Hesterberg, 2015), percentile (Efron, 1979), basic (Davison
        and Hinkley, 1997), BCa (Efron, 1987), studentised (Hall, 1988), or t from the influence
        values, which needs no resampling.
    confidence_level : float
        In (0, 1).
    n_resamples : int
        B, at least 2.
    groups : sequence, optional
        One label (a document, a speaker) per segment: resamples whole groups.
    rng : int or numpy.random.Generator, optional
        Seed or generator; `None` asks for fresh entropy.
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
        Called as ``progress(done, total, label)`` before each extraction.

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
    plan = make_plan(method, confidence_level, n_resamples, rng, weights, n_draws, executor)
    single_metric = isinstance(metric, (str, Metric))
    unit = "segment" if groups is None else "group"
    if isinstance(hypotheses, Shard):
        single = len(hypotheses.metrics) == len(hypotheses.systems) == 1
        plan = _plan_of_shard(hypotheses, plan, references, metric, groups)
        unit = hypotheses.unit
        samples = sampling.from_shard(hypotheses)
    else:
        if is_statistics(hypotheses):
            tables = given_tables(hypotheses, references, metric)
            single = isinstance(hypotheses, SegmentStatistics) and len(tables[0].systems) == 1
        else:
            single = single_metric and not isinstance(hypotheses, Mapping)
            systems = hypotheses if isinstance(hypotheses, Mapping) else {"system": hypotheses}
            tables = extract_all(systems, references, metric, progress, plan.executor)
        tables = _grouped(tables, groups)
        _check_enough(tables[0].n_segments, unit)
        samples = sampling.bootstrap(tables, plan)
    notes = size_notes(samples[0].n_segments, unit)
    found = tuple(e for sample in samples for e in _estimates(sample, plan, unit, notes))
    return found[0] if single else Estimates(found)


def compare(
    hypotheses: Any,
    references: Any = None,
    metrics: Metrics = "bleu",
    *,
    baseline: str | None = None,
    test: str = "ar",
    method: str = "expanded",
    alternative: str = "two-sided",
    adjustment: str = "holm",
    confidence_level: float = 0.95,
    n_resamples: int = _N_RESAMPLES,
    groups: Iterable[Hashable] | None = None,
    rng: Rng = _SEED,
    weights: str = "multinomial",
    n_draws: int | None = None,
    executor: Workers = None,
    progress: Progress | None = None,
) -> Comparison:
    """Say which systems differ, by how much, and how sure that is.

    Parameters
    ----------
    hypotheses : mapping of str to sequence, or SegmentStatistics, or a list of them, or Shard
        Outputs of at least two systems, by name; or their statistics, and then no references
        (those of one metric are joined, `SegmentStatistics.join`); or a `Shard`, for the bootstrap
        test and the first three intervals.
    references
        One entry per segment: a string, a list of strings with `None` for an absent one, or a
        `References`.
    metrics : str or Metric, or a list of them
        Names or configured objects.
    baseline : str, optional
        The system to compare all others with; by default all pairs are compared.
    test : {"ar", "bootstrap"}
        Paired approximate randomisation (Noreen, 1989; Riezler and Maxwell, 2005), which
        enumerates all swaps where 2^n <= n_resamples for the n segments that differ; or the
        centred paired bootstrap (Hall and Wilson, 1991).
    method : {"expanded", "percentile", "basic", "bca", "studentized", "t"}
        Interval of scores and differences, as in `estimate`.
    alternative : {"two-sided", "greater", "less"}
        ``"greater"``: the system's score is greater than the baseline's; without `baseline`, the
        later system's than the earlier one's. It speaks of the number, not of quality: a better
        system has a lower TER. Intervals are two-sided all the same.
    adjustment : {"holm", "benjamini-hochberg", "bonferroni", "none"}
        How p-values are adjusted for the comparisons under one metric.
    confidence_level : float
        In (0, 1).
    n_resamples : int
        B, at least 2.
    groups : sequence, optional
        One label (a document, a speaker) per segment: resamples and swaps whole groups.
    rng : int or numpy.random.Generator, optional
        Seed or generator; `None` asks for fresh entropy.
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
        Called as ``progress(done, total, label)`` before each extraction.

    Returns
    -------
    Comparison
        Iterating gives a `Difference` for each pair and metric.

    Raises
    ------
    InputError
        For bad input; the message names the argument.

    Notes
    -----
    p = (count + 1)/(B + 1) with ties counted (Phipson and Smyth, 2010), or count/2^n when
    enumerated; identical systems have p = 1 exactly.

    Examples
    --------
    >>> from evalstats.data import load_sample
    >>> sample = load_sample()
    >>> result = compare(sample.systems, sample.references, "bleu", baseline="baseline")
    >>> [(d.system, d.pvalue) for d in result if d.pvalue == 1]
    [('copy', 1.0)]
    """
    plan = make_plan(method, confidence_level, n_resamples, rng, weights, n_draws, executor)
    test = option(test, TESTS, "test")
    alternative = option(alternative, ALTERNATIVES, "alternative")
    adjustment = option(adjustment, ADJUSTMENTS, "adjustment")
    unit = "segment" if groups is None else "group"
    if isinstance(hypotheses, Shard):
        pairs = _pairs(hypotheses.systems, baseline)
        plan = _plan_of_shard(hypotheses, plan, references, metrics, groups, test)
        unit = hypotheses.unit
        samples = sampling.from_shard(hypotheses)
    else:
        if is_statistics(hypotheses):
            tables = given_tables(hypotheses, references, metrics)
            pairs = _pairs(tables[0].systems, baseline)
        else:
            # What costs nothing is checked before what costs seconds.
            pairs = _pairs(tuple(as_systems(hypotheses)), baseline)
            tables = extract_all(hypotheses, references, metrics, progress, plan.executor)
        tables = _grouped(tables, groups)
        _check_enough(tables[0].n_segments, unit)
        samples = sampling.bootstrap(tables, plan, always=test == "bootstrap")
        if test == "ar":
            samples = sampling.swap(samples, plan)

    adjust = multiplicity.ADJUSTMENTS[adjustment]
    estimates: list[Estimate] = []
    differences: list[Difference] = []
    signatures: list[str] = []
    for sample in samples:
        found = [_difference(sample, a, b, plan, test, alternative) for a, b in pairs]
        adjusted = adjust([d.pvalue for d in found])
        differences += [
            replace(d, pvalue_adjusted=float(p)) for d, p in zip(found, adjusted, strict=True)
        ]
        estimates += _estimates(sample, plan, unit, ())
        signatures.append(
            _signature(sample, plan, unit, test=test, alt=alternative, adj=adjustment)
        )
    result = Comparison(
        estimates=tuple(estimates),
        differences=tuple(differences),
        baseline=baseline,
        test=test,
        method=plan.method,
        alternative=alternative,
        adjustment=adjustment,
        confidence_level=plan.confidence_level,
        n_resamples=plan.n_resamples,
        seed=plan.seed,
        signatures=tuple(signatures),
    )
    notes = size_notes(samples[0].n_segments, unit) + comparison_notes(result, len(pairs))
    return replace(result, notes=notes)


def is_statistics(value: object) -> bool:
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


def _plan_of_shard(
    shard: Shard,
    plan: Plan,
    references: object,
    metrics: Metrics,
    groups: object,
    test: str = "bootstrap",
) -> Plan:
    """Return the plan with what the shard has decided, or say what cannot be had from it."""
    for name, value in (("references", references), ("groups", groups)):
        if value is not None:
            raise InputError(f"{name} must be left out when a Shard is given")
    if (plan.kind, plan.n_draws) != ("multinomial", None):
        raise InputError("weights and n_draws must be left out when a Shard is given")
    if plan.method not in ("expanded", "percentile", "basic"):
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
        ("n_resamples", plan.n_resamples, _N_RESAMPLES, shard.n_resamples),
        ("rng", plan.seed, _SEED, shard.seed),
    ):
        if given not in (default, own):
            raise InputError(
                f"{name} must be left out when a Shard is given: it was resampled with "
                f"{name}={own}, got {given}"
            )
    _check_enough(shard.n_segments, shard.unit)
    return replace(plan, n_resamples=shard.n_resamples, seed=shard.seed)


def _grouped(
    tables: list[SegmentStatistics], groups: Iterable[Hashable] | None
) -> list[SegmentStatistics]:
    if groups is None:
        return tables
    labels = listed(groups, "groups", "labels, one a segment")
    return [table.grouped(labels) for table in tables]


def _check_enough(n_segments: int, unit: str) -> None:
    if n_segments < 2:
        raise InputError(
            f"at least 2 {unit}s are needed to say anything about uncertainty, got {n_segments}"
        )


def _pairs(systems: tuple[str, ...], baseline: str | None) -> list[tuple[int, int]]:
    """Return (baseline, system) as numbers of systems."""
    if len(systems) < 2:
        raise InputError(f"compare needs at least 2 systems, got {len(systems)}: {list(systems)}")
    if baseline is None:
        return list(combinations(range(len(systems)), 2))
    if baseline not in systems:
        raise InputError(f"baseline must be one of {', '.join(systems)}; got {baseline!r}")
    first = systems.index(baseline)
    return [(first, i) for i in range(len(systems)) if i != first]


def _estimates(sample: Sample, plan: Plan, unit: str, notes: tuple[str, ...]) -> Iterable[Estimate]:
    for i, system in enumerate(sample.table.systems):
        replicates = np.ascontiguousarray(sample.replicates[:, i])
        replicates.setflags(write=False)
        low, high, error = sampling.bounds(sample, plan, replicates, sample.scores[i], (i,))
        yield Estimate(
            metric=sample.name,
            system=system,
            score=float(sample.scores[i]),
            low=low,
            high=high,
            standard_error=error,
            replicates=replicates,
            confidence_level=plan.confidence_level,
            method=plan.method,
            n_segments=sample.n_segments,
            unit=unit,
            higher_is_better=sample.table.metric.higher_is_better,
            signature=_signature(sample, plan, unit),
            notes=notes,
        )


def _difference(
    sample: Sample, a: int, b: int, plan: Plan, test: str, alternative: str
) -> Difference:
    """Compare system b with baseline a; the adjusted p-value is filled in by the caller."""
    observed = sample.scores[b] - sample.scores[a]
    replicates = sample.replicates[:, b] - sample.replicates[:, a]
    low, high, error = sampling.bounds(sample, plan, replicates, observed, (a, b))
    n_differing = sample.n_differing(a, b)
    tie = _TIE + _GRID * sample.n_segments
    tolerance = tie * float(max(abs(sample.scores[a]), abs(sample.scores[b])))
    exact = test == "ar" and 2**n_differing <= plan.n_resamples
    if exact:
        differs = np.any(sample.table.values[a] != sample.table.values[b], axis=1)
        swaps = [resampling.all_swap_totals(sample.values[i][differs]) for i in (a, b)]
        shuffled = sampling.swapped_differences(sample, a, b, swaps[1] - swaps[0])
        pvalue = significance.exact_randomization_pvalue(observed, shuffled, alternative, tolerance)
    elif test == "ar":
        shuffled = sampling.swapped_differences(sample, a, b, sample.moved(a, b))
        pvalue = significance.randomization_pvalue(observed, shuffled, alternative, tolerance)
    else:
        pvalue = significance.centred_bootstrap_pvalue(observed, replicates, alternative, tolerance)
    return Difference(
        metric=sample.name,
        baseline=sample.table.systems[a],
        system=sample.table.systems[b],
        baseline_score=float(sample.scores[a]),
        system_score=float(sample.scores[b]),
        difference=float(observed),
        low=low,
        high=high,
        standard_error=error,
        pvalue=pvalue,
        pvalue_adjusted=pvalue,
        pvalue_error=0.0 if exact else significance.monte_carlo_error(pvalue, plan.n_resamples),
        exact=exact,
        n_differing=n_differing,
        higher_is_better=sample.table.metric.higher_is_better,
    )


def _signature(sample: Sample, plan: Plan, unit: str, **test: str) -> str:
    table = sample.table
    parts = {"nrefs": table.reference_label} if table.reference_label else {}
    resamples = sample.replicates.shape[0] or (plan.n_resamples if "test" in test else 0)
    return signature(
        table.metric.name,
        table.metric_signature,
        {
            **parts,
            **test,
            "ci": plan.method,
            "level": f"{plan.confidence_level:.10g}",
            **({"n": str(resamples), "seed": str(plan.seed)} if resamples else {}),
            **({"weights": plan.kind} if plan.kind != "multinomial" else {}),
            **({"draws": str(plan.n_draws)} if plan.n_draws is not None else {}),
            **({} if sample.shard is None else _shard_parts(sample.shard)),
            "unit": unit,
        },
    )


def _shard_parts(shard: Shard) -> dict[str, str]:
    rounded = {"resolution": f"{shard.resolution:g}"} if shard.resolution < 1 else {}
    return {"weights": shard.weights, **rounded}
