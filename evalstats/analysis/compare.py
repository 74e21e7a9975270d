"""Which systems differ: texts or statistics in, differences with intervals and p-values out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from evalstats.analysis.aggregates import Aggregated
from evalstats.analysis.claims import families_of, with_adjusted_claims
from evalstats.analysis.estimate import estimates_of, result_signature
from evalstats.analysis.families import Family
from evalstats.analysis.inputs import Given, as_pairs
from evalstats.analysis.margins import with_claims
from evalstats.analysis.notes import held_by_few, limits_of
from evalstats.analysis.options import SEED, Options
from evalstats.analysis.pairs import Compared, check_ratios
from evalstats.analysis.parts import Part, Source, placed, sampled
from evalstats.analysis.sampling import Pair, Sample
from evalstats.analysis.swaps import swapped_pvalues
from evalstats.analysis.units import Labels
from evalstats.checks import also_called
from evalstats.inference.families import ADJUSTMENTS, holm_over
from evalstats.resampling.executors import Workers
from evalstats.resampling.weights import Rng
from evalstats.results.notes import comparison_notes
from evalstats.results.records import Difference
from evalstats.results.results import Comparison, Estimate, Estimates
from evalstats.results.signatures import Signature
from evalstats.statistics.extraction import Metrics, Progress


@also_called(metric="metrics", seed="rng")
def compare(
    hypotheses: Any,
    references: Any = None,
    metrics: Metrics | None = None,
    *,
    baseline: str | None = None,
    test: str = "bootstrap",
    method: str = "bootstrap",
    alternative: str = "two-sided",
    adjustment: str = "max-t",
    confidence_level: float = 0.95,
    n_resamples: int | None = None,
    groups: Labels = None,
    strata: Labels = None,
    aggregate: Aggregated = "micro",
    rng: Rng = SEED,
    executor: Workers = None,
    margin: float | None = None,
    recovery: float | None = None,
    contrast: str = "difference",
    adjust_over: str = "pairs",
) -> Comparison:
    """Say which systems differ, by how much, and how sure that is.

    Parameters
    ----------
    hypotheses : mapping of str to sequence, or SegmentStatistics, or a list of them, or Shard
        At least two systems, as in `estimate`; statistics of one metric are joined
        (`SegmentStatistics.join`).
    references, metrics, groups, strata, aggregate, n_resamples, rng, executor
        As in `estimate`; `metric` is understood too.
    baseline : str, optional
        The system to compare all others with; by default all pairs are compared.
    test : {"bootstrap", "t", "ar"}
        The p-value is the smallest level at which the bootstrap interval leaves the null value out
        (of 0/1 scores Tango's score test, 1998, which of no difference is McNemar's); or that of a
        t test on influence values, which several runs have whatever is asked for; or of approximate
        randomisation (Noreen, 1989), for exchangeable systems, which enumerates all swaps where
        2^m <= n_resamples for the m segments, or groups, that differ.
    method : {"bootstrap", "percentile", "bca", "t", "simultaneous"}
        Interval of scores, as in `estimate`, and of differences (of 0/1 scores Tango's). Those of
        differences are ``"simultaneous"`` where they have to hold for all pairs at once.
    alternative : {"two-sided", "greater", "less"}
        ``"greater"``: the system's score is greater than the baseline's; without `baseline`, the
        later system's than the earlier one's. It speaks of the number, not of quality: a better
        system has a lower TER. Intervals are two-sided all the same.
    adjustment : {"max-t", "holm", "benjamini-hochberg", "none"}
        How p-values are adjusted for all comparisons under one metric. Step-down max-T (Romano and
        Wolf, 2005, 2016) and Holm's method (1979) bound the probability of any false claim; the
        first knows how pairs depend on one another. Where nothing is drawn it is Holm's.
    confidence_level : float
        In (0, 1), of the intervals. Adjusted p-values up to 1 - `confidence_level` make a verdict.
    margin : float, optional
        The difference that matters, above 0, in points of each metric. The result then says which
        pairs are *equivalent* (the difference lies within ± margin: two one-sided tests,
        Schuirmann, 1987; Lakens, 2017) and which systems are *not worse* (no loss of the margin or
        more: non-inferiority). The p-values of these claims are adjusted for all pairs (and tasks)
        as those of differences are, each of the two kinds apart, by Holm's method where
        `adjustment` is "max-t". Choose the margin before you see the scores.
    recovery : float, optional
        In place of a margin, the share r of the baseline that must be kept, above 0 and at most 1:
        *not worse* is a system whose score is shown to be above r times the baseline's (or, where
        lower is better, below 1/r times).
    contrast : {"difference", "ratio", "log-ratio"}
        What is shown of two scores: system - baseline, system / baseline, or the natural logarithm
        of that, for scores above 0 whose ratio is what matters, as of perplexities. All three have
        one p-value: a ratio r is rejected where ``system - r·baseline`` = 0 is. (Of 0/1 scores
        differences are counted and ratios are not.)
    adjust_over : {"pairs", "metrics"}
        What one family is: all pairs under one metric, or under all of them, for who claims
        "better under BLEU or chrF".

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
    The interval is that of `estimate`, and the p-value its rule read backwards: a verdict and an
    interval cannot disagree but by the adjustment. No p-value of no difference is below 2^(1-m),
    for m segments that differ; identical systems have p = 1 exactly. `docs/method.md` has the whole
    rule in forty lines of NumPy.

    Examples
    --------
    >>> from evalstats.data import load_sample
    >>> sample = load_sample()
    >>> result = compare(sample.systems, sample.references, "bleu", baseline="baseline")
    >>> [(d.system, d.pvalue) for d in result if d.pvalue == 1]
    [('copy', 1.0)]
    """
    options = Options(
        confidence_level=confidence_level,
        method=method,
        test=test,
        alternative=alternative,
        adjustment=adjustment,
        n_resamples=n_resamples,
        seed=rng,
        executor=executor,
        margin=margin,
        recovery=recovery,
        contrast=contrast,
        adjust_over=adjust_over,
    )
    given = Given(hypotheses, references, metrics, groups, strata, aggregate)
    return comparison([Part(given)], baseline, given.options(options, n_resamples, rng))


def comparison(
    parts: Sequence[Part],
    baseline: str | None,
    options: Options,
    progress: Progress | None = None,
) -> Comparison:
    """Compare the pairs of all tasks and totals, each metric a family of its own."""
    # What costs nothing is checked before what costs seconds.
    pairs = as_pairs(parts[0].given.systems, baseline)
    estimates: list[Estimate] = []
    found: list[Difference] = []
    signatures: dict[tuple[str, str], Signature] = {}
    limits = []
    applied, with_runs = set(), []
    for part, samples in sampled(parts, options, progress):
        n_together = len(pairs) * (len(samples) if options.is_over_metrics else 1)
        adjustment = _applied(options.adjustment, n_together == 1 < len(parts), samples[0])
        applied.add(adjustment)
        with_runs.append(samples[0].of.has_runs)
        every = differences(samples, pairs, options, adjustment)
        for sample, own in zip(samples, every, strict=True):
            scores = estimates_of(sample, options)
            signature = _signature(sample, options, own, scores[0].method, adjustment)
            signatures[part.task, sample.of.name] = signature
            found += [replace(d, task=part.task, aggregate=part.aggregate) for d in own]
            estimates += placed(scores, part, single=len(parts) == 1)
        held = [few for sample in samples for few in held_by_few(sample, pairs)]
        limits.append(limits_of(part.task, [s.of for s in samples], part.aggregate, held=held))
    # Tasks of different kinds have the adjustment that was asked for.
    adjustment = applied.pop() if len(applied) == 1 else options.adjustment
    if len(parts) == 1:
        parts = [part.keeping(samples)]
    else:
        found = over_tasks(found, adjustment, options.is_over_metrics)
    found = with_adjusted_claims(found, options.adjustment, options.is_over_metrics)
    result = Comparison(
        estimates=Estimates(tuple(estimates)),
        differences=tuple(found),
        baseline=baseline,
        test="t" if all(with_runs) else options.test,
        method=options.method,
        alternative=options.alternative,
        adjustment=adjustment,
        confidence_level=options.confidence_level,
        n_resamples=options.n_resamples,
        seed=options.seed,
        signatures=tuple(map(str, signatures.values())),
        significance_level=options.significance_level,
        margin=options.margin,
        recovery=options.recovery,
        contrast=options.contrast,
        adjust_over=options.adjust_over,
        source=Source(parts, pairs, options, limits, signatures, again=comparison),
    )
    return replace(result, notes=tuple(comparison_notes(result, limits)))


def _applied(adjustment: str, is_alone: bool, sample: Sample) -> str:
    """Return the adjustment of the pairs of a task: max-T where pairs depend on one another.

    Of one pair there are no others, and tasks have Holm's method; without resamples nothing says
    how pairs depend on one another.
    """
    is_drawn = sample.replicates.size > 0
    return "holm" if adjustment == "max-t" and (is_alone or not is_drawn) else adjustment


def over_tasks(
    found: Sequence[Difference], adjustment: str, over_metrics: bool
) -> list[Difference]:
    """Adjust p-values over tasks, within each metric, or all together; totals apart."""
    made = list(found)
    for places in families_of(found, over_metrics):
        if adjustment == "max-t":
            # Within each task, or total, that is done.
            tasks = [found[i].part for i in places]
            stepped = holm_over(tasks, [found[i].pvalue_adjusted for i in places])
        else:
            stepped = ADJUSTMENTS[adjustment]([found[i].pvalue for i in places])
        for i, p in zip(places, stepped.tolist(), strict=True):
            made[i] = replace(found[i], pvalue_adjusted=p)
    return made


def differences(
    samples: Sequence[Sample], pairs: Sequence[Pair], options: Options, adjustment: str
) -> list[list[Difference]]:
    """Return the difference of each pair (baseline, system) under each metric, p adjusted."""
    if options.is_over_metrics:
        every = _family(samples, pairs, options, adjustment)
    else:
        every = [d for s in samples for d in _family([s], pairs, options, adjustment)]
    return [every[i : i + len(pairs)] for i in range(0, len(every), len(pairs))]


def _family(
    samples: Sequence[Sample], pairs: Sequence[Pair], options: Options, adjustment: str
) -> list[Difference]:
    """Return the differences under some metrics, adjusted together."""
    for sample in samples:
        check_ratios(sample, options)
    compared = [Compared(sample, a, b, options) for sample in samples for a, b in pairs]
    swapped = None
    if options.test == "ar":
        swapped = [p for sample in samples for p in swapped_pvalues(sample, pairs, options)]
    together = Family(compared).simultaneous() if options.method == "simultaneous" else None
    found = []
    # All of a pair at a time: its replicates are not kept.
    for i, pair in enumerate(compared):
        p, exact = swapped[i] if swapped else (pair.pvalue(), False)
        bounds = together[i] if together else pair.interval(options.alpha)
        found.append(with_claims(pair, pair.record(p, bounds, exact)))
    adjusted = Family(compared).adjusted(np.array([d.pvalue for d in found]), adjustment)
    return [replace(d, pvalue_adjusted=q) for d, q in zip(found, adjusted.tolist(), strict=True)]


def _signature(
    sample: Sample, options: Options, found: Sequence[Difference], method: str, adjustment: str
) -> Signature:
    # Single pairs that differ on few units may have t.
    test, of_pairs = (
        Counter(getattr(d, x) for d in found).most_common(1)[0][0] for x in ("test", "method")
    )
    limits = {"margin": options.margin, "recovery": options.recovery}
    return result_signature(
        sample,
        options,
        "+".join(dict.fromkeys([method, of_pairs])),
        test=test,
        alt=options.alternative,
        adj=adjustment,
        **{name: None if x is None else f"{x:.10g}" for name, x in limits.items()},
        contrast=None if options.contrast == "difference" else options.contrast,
        over="metrics" if options.is_over_metrics else None,
    )
