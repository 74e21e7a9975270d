"""The only composer: texts or statistics in, estimates and comparisons out."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from evalstats.analysis import sampling
from evalstats.analysis.estimate import result_signature, score_estimates
from evalstats.analysis.inputs import (
    N_RESAMPLES,
    SEED,
    check_enough,
    given_tables,
    grouped_tables,
    is_statistics,
    plan_of_shard,
)
from evalstats.analysis.notes import comparison_notes, size_notes
from evalstats.analysis.plan import ADJUSTMENTS, ALTERNATIVES, TESTS, Plan, make_plan, option
from evalstats.analysis.sampling import Sample
from evalstats.errors import InputError
from evalstats.inference import multiplicity, significance
from evalstats.resampling.executors import Workers
from evalstats.resampling.totals import all_swap_totals
from evalstats.resampling.weights import Rng
from evalstats.results.records import Difference
from evalstats.results.results import Comparison, Estimate
from evalstats.shards.shard import Shard
from evalstats.statistics.extraction import Metrics, Progress, as_systems, extract_all

#: Scores whose relative distance is below this are ties; so is what rounding to the grid may move.
_TIE = 1e-12
_GRID = 2.0**-51


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
        plan = plan_of_shard(hypotheses, plan, references, metrics, groups, test)
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
        tables = grouped_tables(tables, groups)
        check_enough(tables[0].n_segments, unit)
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
    tie = _TIE + _GRID * sample.n_segments
    tolerance = tie * float(max(abs(sample.scores[a]), abs(sample.scores[b])))
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
