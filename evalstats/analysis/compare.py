"""Which systems differ: texts or statistics in, differences with intervals and p-values out."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from evalstats.analysis import sampling
from evalstats.analysis.estimate import result_signature, score_estimates
from evalstats.analysis.inputs import N_RESAMPLES, SEED, as_tables, is_statistics, plan_of_shard
from evalstats.analysis.notes import comparison_notes, size_notes
from evalstats.analysis.plan import ADJUSTMENTS, ALTERNATIVES, TESTS, Plan, option
from evalstats.analysis.sampling import Sample
from evalstats.errors import InputError
from evalstats.inference import multiplicity, significance
from evalstats.resampling.executors import Workers
from evalstats.resampling.totals import all_swap_totals
from evalstats.resampling.weights import Rng
from evalstats.results.records import Difference
from evalstats.results.results import Comparison, Estimate
from evalstats.shards.shard import Shard
from evalstats.statistics.extraction import Metrics, Progress, as_systems


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
    n_resamples: int = N_RESAMPLES,
    groups: Iterable[Hashable] | None = None,
    rng: Rng = SEED,
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
    references, metrics
        As in `estimate`.
    baseline : str, optional
        The system to compare all others with; by default all pairs are compared.
    test : {"ar", "bootstrap"}
        Paired approximate randomisation (Noreen, 1989; Riezler and Maxwell, 2005), which
        enumerates all swaps where 2^n <= n_resamples for the n segments that differ; or the
        centred paired bootstrap (Hall and Wilson, 1991).
    method, confidence_level
        Interval of scores and of differences, as in `estimate`.
    alternative : {"two-sided", "greater", "less"}
        ``"greater"``: the system's score is greater than the baseline's; without `baseline`, the
        later system's than the earlier one's. It speaks of the number, not of quality: a better
        system has a lower TER. Intervals are two-sided all the same.
    adjustment : {"holm", "benjamini-hochberg", "bonferroni", "none"}
        How p-values are adjusted for the comparisons under one metric.
    groups : sequence, optional
        One label (a document, a speaker) per segment: resamples and swaps whole groups.
    n_resamples, rng, weights, n_draws, executor, progress
        As in `estimate`.

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
    plan = Plan(method, confidence_level, n_resamples, rng, weights, n_draws, executor)
    test = option(test, TESTS, "test")
    alternative = option(alternative, ALTERNATIVES, "alternative")
    adjustment = option(adjustment, ADJUSTMENTS, "adjustment")
    unit = "segment" if groups is None else "group"
    if isinstance(hypotheses, Shard):
        pairs = _pairs(hypotheses.systems, baseline)
        plan = plan_of_shard(hypotheses, plan, references, metrics, groups, test)
        unit = hypotheses.unit
        samples = sampling.from_shard(hypotheses)
    else:
        if not is_statistics(hypotheses):
            # What costs nothing is checked before what costs seconds.
            _pairs(tuple(as_systems(hypotheses)), baseline)
        tables = as_tables(hypotheses, references, metrics, groups, plan, progress)
        pairs = _pairs(tables[0].systems, baseline)
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
        estimates += score_estimates(sample, plan, unit, ())
        signatures.append(
            result_signature(sample, plan, unit, test=test, alt=alternative, adj=adjustment)
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


def _difference(
    sample: Sample, a: int, b: int, plan: Plan, test: str, alternative: str
) -> Difference:
    """Compare system b with baseline a; the adjusted p-value is filled in by the caller."""
    observed = sample.scores[b] - sample.scores[a]
    replicates = sample.replicates[:, b] - sample.replicates[:, a]
    low, high, error = sampling.bounds(sample, plan, replicates, observed, (a, b))
    n_differing = sample.n_differing(a, b)
    largest = float(np.max(np.abs(sample.scores[[a, b]])))
    tolerance = significance.tie_tolerance(largest, sample.n_segments)
    exact = test == "ar" and 2**n_differing <= plan.n_resamples
    if exact:
        differs = np.any(sample.table.values[a] != sample.table.values[b], axis=1)
        swaps = [all_swap_totals(sample.values[i][differs]) for i in (a, b)]
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
