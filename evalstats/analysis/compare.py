"""Which systems differ: texts or statistics in, differences with intervals and p-values out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from evalstats.analysis import sampling
from evalstats.analysis.contrasts import as_contrasted, contrast_notes, shown_as
from evalstats.analysis.estimate import result_signature, score_estimates
from evalstats.analysis.families import Family
from evalstats.analysis.inputs import (
    N_RESAMPLES,
    SEED,
    as_pairs,
    as_tables,
    is_statistics,
    labels_of,
    plan_of_shard,
)
from evalstats.analysis.margins import as_limits, claim_notes, claims
from evalstats.analysis.notes import comparison_notes, design_notes, gap_notes, size_notes
from evalstats.analysis.pairs import differences, prepared
from evalstats.analysis.plan import (
    ADJUSTMENTS,
    ALTERNATIVES,
    FAMILIES,
    INTERVALS,
    MID_P,
    TESTS,
    Plan,
    option,
)
from evalstats.analysis.power import Planner
from evalstats.analysis.ranking import Ranker
from evalstats.analysis.removal import Influencer
from evalstats.analysis.sharded import from_shard
from evalstats.analysis.units import Aggregate, Labels, check_test
from evalstats.checks import also_called, share
from evalstats.resampling.executors import Workers
from evalstats.resampling.weights import Rng
from evalstats.results.contrasts import CONTRASTS
from evalstats.results.records import Difference
from evalstats.results.results import Comparison, Estimate, Estimates
from evalstats.shards.shard import Shard
from evalstats.statistics.extraction import Metrics, Progress, as_systems


@also_called(metric="metrics", seed="rng")
def compare(
    hypotheses: Any,
    references: Any = None,
    metrics: Metrics = "bleu",
    *,
    baseline: str | None = None,
    test: str = "studentized",
    method: str = "auto",
    alternative: str = "two-sided",
    adjustment: str = "max-t",
    family: str = "metric",
    intervals: str = "individual",
    confidence_level: float = 0.95,
    significance_level: float = 0.05,
    n_resamples: int = N_RESAMPLES,
    groups: Labels = None,
    strata: Labels = None,
    aggregate: Aggregate = "micro",
    rng: Rng = SEED,
    weights: str = "multinomial",
    n_draws: int | None = None,
    executor: Workers = None,
    progress: Progress | None = None,
    margin: float | None = None,
    recovery: float | None = None,
    contrast: str = "difference",
) -> Comparison:
    """Say which systems differ, by how much, and how sure that is.

    Parameters
    ----------
    hypotheses : mapping of str to sequence, or SegmentStatistics, or a list of them, or Shard
        Outputs of at least two systems, by name, or a frame of pandas or polars with one system a
        column, or several runs of each system, as in `estimate`; or their statistics, and then no
        references
        (those of one metric are joined, `SegmentStatistics.join`); or a `Shard`, for the bootstrap
        test and the first three intervals.
    references, metrics
        As in `estimate`; `metric` is understood too.
    baseline : str, optional
        The system to compare all others with; by default all pairs are compared.
    test : {"studentized", "ar", "bootstrap", "mid-p"}
        Paired approximate randomisation of differences divided by their own standard errors
        (Janssen, 1997; Chung and Romano, 2013) together with a t test of the difference (with
        Hall's correction for skewness, 1992): the larger p-value, for systems that are
        exchangeable or whose scores are equal (an intersection-union test; Berger, 1982); of groups
        of unlike sizes randomisation alone, with Hall's correction of every arrangement, and of
        groups within strata or of several runs the t test alone; for 0/1 scores McNemar's exact
        test, but not of groups. Randomisation of plain differences (Noreen, 1989; Riezler and
        Maxwell, 2005), for exchangeable systems; or the centred paired bootstrap (Hall and Wilson,
        1991), for equal scores. The first two enumerate all swaps where 2^n <= n_resamples for the
        n segments that differ. McNemar's mid-p test (Lancaster, 1961), for 0/1 scores only, is not
        exact, and finds more on few segments.
    method, confidence_level
        Interval of scores and of differences, as in `estimate`.
    significance_level : float
        In (0, 1): adjusted p-values up to it make a verdict.
    alternative : {"two-sided", "greater", "less"}
        ``"greater"``: the system's score is greater than the baseline's; without `baseline`, the
        later system's than the earlier one's. It speaks of the number, not of quality: a better
        system has a lower TER. Intervals are two-sided all the same.
    adjustment : {"max-t", "holm", "benjamini-hochberg", "bonferroni", "none"}
        How p-values are adjusted for several comparisons. Step-down max-T (Romano and Wolf, 2005,
        2016) takes the larger of the p-value itself and of how often the largest of all
        differences, each over its standard error, is as large when the signs of the segments'
        influence are random, or with fewer than 1,000 segments when they are drawn again. Like
        Holm's and Bonferroni's it bounds the probability of any false claim, and loses little to
        many comparisons. Where there are several runs of each system Holm's takes its place.
    family : {"metric", "all"}
        Which comparisons are counted together: all under one metric, or all there are.
    intervals : {"individual", "simultaneous"}
        Whether `confidence_level` is of each interval of a difference, or of all of a family at
        once. Simultaneous ones are as wide as the quantile of the largest difference asks for,
        with Hall's correction at that level.
    groups : sequence, optional
        One label (a document, a speaker) per segment, or the name that statistics have for them in
        their `labels`: resamples and swaps whole groups.
    strata, aggregate
        As in `estimate`.
    n_resamples, rng, weights, n_draws, executor, progress
        As in `estimate`.
    margin : float, optional
        The difference that matters, above 0, in points of each metric. The result then says which
        pairs are *equivalent* (the difference lies within ± margin: two one-sided tests,
        Schuirmann, 1987; Lakens, 2017) and which systems are *not worse* (no loss of the margin or
        more: non-inferiority), by the interval of confidence 1 - 2·`significance_level` of the
        method that the difference has. Each pair is at that level by itself, not adjusted for
        several. Choose it before you see the scores.
    recovery : float, optional
        In place of a margin, the share r of the baseline that must be kept, above 0 and at most 1:
        *not worse* is a system whose score is shown to be above r times the baseline's (or, where
        lower is better, below 1/r times). The test of new - r·base is linear in the influence
        values and has Hall's correction; with method "t" it has not, and 0/1 scores have the score
        test of a ratio (Nam and Blackwelder, 2002).
    contrast : {"difference", "ratio", "log-ratio"}
        What is shown of two scores: system - baseline, system / baseline, or the natural logarithm
        of that, for scores above 0 whose ratio is what matters, as of perplexities. Logarithms of
        scores are then compared: intervals, standard errors (the delta method, from influence
        values ℓ'/s' - ℓ/s) and all tests are of the log ratio; those of a ratio have their bounds
        exponentiated. Their null hypotheses are that of no difference. 0/1 scores have the score
        interval of a ratio (Nam and Blackwelder, 2002).

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
    enumerated; identical systems have p = 1 exactly. The standard error of a difference, its t
    interval and the default test rest on the same influence values.

    Examples
    --------
    >>> from evalstats.data import load_sample
    >>> sample = load_sample()
    >>> result = compare(sample.systems, sample.references, "bleu", baseline="baseline")
    >>> [(d.system, d.pvalue) for d in result if d.pvalue == 1]
    [('copy', 1.0)]
    """
    plan = Plan(method, confidence_level, n_resamples, rng, weights, n_draws, executor, progress)
    test = option(test, (*TESTS, MID_P), "test")
    contrast = option(contrast, CONTRASTS, "contrast")
    limits = as_limits(margin, recovery)
    is_limited = limits != (None, None)
    # An interval of confidence 1 - 2·level has to be one.
    level = share(significance_level, "significance_level", 0.5 if is_limited else 1.0)
    alternative = option(alternative, ALTERNATIVES, "alternative")
    adjustment = option(adjustment, ADJUSTMENTS, "adjustment")
    family = option(family, FAMILIES, "family")
    intervals = option(intervals, INTERVALS, "intervals")
    unit = "segment" if groups is None else "group"
    planner = influencer = None
    gaps: tuple[str, ...] = ()
    groups = labels_of(hypotheses, groups, "groups")
    strata = labels_of(hypotheses, strata, "strata")
    if isinstance(groups, Iterator):
        groups = list(groups)
    if isinstance(hypotheses, Shard):
        pairs = as_pairs(hypotheses.systems, baseline)
        plan = plan_of_shard(hypotheses, plan, references, metrics, groups, test, strata)
        unit = hypotheses.unit
        samples = from_shard(hypotheses)
        compared_as = as_contrasted(samples, contrast, plan, test, limits[0])
    else:
        if not is_statistics(hypotheses):
            # What costs nothing is checked before what costs seconds.
            as_pairs(tuple(as_systems(hypotheses)), baseline)
        tables, units = as_tables(
            hypotheses, references, metrics, groups, plan, progress, strata, aggregate
        )
        check_test(test, tables)
        pairs = as_pairs(tables[0].systems, baseline)
        gaps = gap_notes(units.segments)
        planner = Planner(tables, units, pairs, alternative)
        influencer = Influencer(tables, units, groups, hypotheses)
        samples = sampling.bootstrap(tables, plan, units, always=test == "bootstrap")
        if adjustment == "max-t" and samples[0].has_runs:
            # Signs of segments say nothing of other runs.
            adjustment = "holm"
        jointly = intervals == "simultaneous" or (adjustment == "max-t" and len(pairs) > 1)
        compared_as = as_contrasted(samples, contrast, plan, test, limits[0])
        compared_as = prepared(compared_as, plan, test, jointly)

    whole = compared_as[0]
    # Of groups swaps ignore strata and runs: see `pairs`.
    by_t = test == "studentized" and whole.sizes is not None
    by_t = by_t and (whole.codes is not None or whole.has_runs)
    estimates: list[Estimate] = []
    compared: list[Difference] = []
    signatures: list[str] = []
    for some in [compared_as] if family == "all" else [[sample] for sample in compared_as]:
        together, paired = Family(some, pairs, plan), plan
        if intervals == "simultaneous":
            one = together.simultaneous_level()
            paired = replace(plan, confidence_level=one)
        found = [d for s in some for d in differences(s, pairs, paired, test, alternative)]
        found = [replace(d, test="t") for d in found] if by_t else found
        pvalues = np.array([d.pvalue for d in found])
        adjusted = together.adjusted(pvalues, adjustment, alternative)
        compared += [
            replace(d, pvalue_adjusted=float(p)) for d, p in zip(found, adjusted, strict=True)
        ]
    for i, sample in enumerate(samples):
        own = slice(i * len(pairs), (i + 1) * len(pairs))
        found = [
            shown_as(contrast, d, (sample.scores[a], sample.scores[b]))
            for d, (a, b) in zip(compared[own], pairs, strict=True)
        ]
        compared[own] = claims(sample, pairs, plan, level, limits, found)
        estimates += score_estimates(sample, plan, unit, ())
        first = compared[i * len(pairs)]
        used = dict.fromkeys([estimates[-1].method, first.method])
        named = {"test": first.test, "alt": alternative, "adj": adjustment}
        named |= {"family": family} if family != FAMILIES[0] else {}
        named |= {"intervals": intervals} if intervals != INTERVALS[0] else {}
        named |= {"contrast": contrast} if contrast != CONTRASTS[0] else {}
        named |= {} if margin is None else {"margin": f"{margin:.10g}"}
        named |= {} if recovery is None else {"recovery": f"{recovery:.10g}"}
        signatures.append(result_signature(sample, plan, unit, "+".join(used), **named))
    sizes = size_notes(samples[0].n_segments, unit, samples[0].sizes)
    result = Comparison(
        estimates=Estimates(tuple(estimates)),
        differences=tuple(compared),
        baseline=baseline,
        test=test,
        method=plan.method,
        alternative=alternative,
        adjustment=adjustment,
        confidence_level=plan.confidence_level,
        n_resamples=plan.n_resamples,
        seed=plan.seed,
        signatures=tuple(signatures),
        significance_level=level,
        family=family,
        intervals=intervals,
        planner=planner,
        ranker=Ranker(compared_as, plan, sizes + gaps),
        margin=limits[0],
        recovery=limits[1],
        influencer=influencer,
        contrast=contrast,
    )
    notes = sizes + design_notes(estimates) + gaps
    notes += contrast_notes(contrast) + comparison_notes(result, compared_as, unit)
    notes += claim_notes(result)
    return replace(result, notes=notes)
