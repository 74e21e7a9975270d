"""Pairs of systems under one metric: their differences with intervals and p-values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis import sampling, swaps, variances
from evalstats.analysis.flips import flip
from evalstats.analysis.plan import MID_P, Plan
from evalstats.analysis.sampling import Pair, Sample
from evalstats.errors import InputError
from evalstats.inference import significance, stepdown, studentised
from evalstats.inference.proportions import mcnemar_pvalue
from evalstats.inference.skewness import skewness, transformed
from evalstats.metrics import Mean
from evalstats.results.records import Difference

Floats = NDArray[np.float64]

_BOTH = "two-sided"
#: From so many segments on, swapped scores are linear in the signs but for about the
#: Monte-Carlo error of their p-value: flipped influence values stand for them, at a hundredth of
#: the time (`benchmarks/families.py`).
_MANY_SEGMENTS = 500
#: The same where single segments weigh much.
_MANY_OF_HEAVY_TAILS = 5000


def differences(
    sample: Sample, pairs: Sequence[Pair], plan: Plan, test: str, alternative: str
) -> Iterator[Difference]:
    """Yield the difference of each pair (baseline, system); p-values are adjusted by the caller."""
    counted = is_counted(sample, test)
    if test == MID_P and not counted:
        raise InputError(
            f"test {MID_P!r} is for 0/1 scores, one on each segment, and {sample.name} has others; "
            f"leave test out"
        )
    is_swapped = test == "studentized" and not (
        counted or _is_mean(sample) or is_flipped(sample, test) or _is_by_t(sample)
    )
    swapped = [pair for pair in pairs if is_swapped or swaps.is_enumerated(sample, pair, plan)]
    by_swaps = swaps.studentised_pvalues(sample, swapped, plan, alternative)
    for a, b in pairs:
        observed = sample.scores[b] - sample.scores[a]
        replicates = sample.replicates[:, b] - sample.replicates[:, a]
        low, high, error = sampling.bounds(sample, plan, replicates, observed, (a, b))
        flips = None if sample.outcomes is None else sample.outcomes.changes(a, b)
        exact = certain = counted or (
            test != "bootstrap" and swaps.is_enumerated(sample, (a, b), plan)
        )
        if counted:
            assert flips is not None
            pvalue = mcnemar_pvalue(*flips, alternative, mid=test == MID_P)
        elif test == "studentized" and _is_by_t(sample):
            by_t = _t_pvalue(sample, (a, b), float(observed), alternative)
            pvalue, exact, certain = max(by_t, _floor(sample, alternative)), False, True
        elif test == "studentized":
            if _is_mean(sample):
                pvalue = swaps.randomization_pvalue(sample, (a, b), exact, alternative)
            elif exact or is_swapped:
                pvalue = next(by_swaps)
            else:
                pvalue = _flips_pvalue(sample, (a, b), float(observed), alternative)
            if not sample.is_uneven or sample.table.metric.heavy_tails:
                # Swaps are exact for exchangeable systems, and t is as valid for equal scores: the
                # null hypothesis is that one or the other is true, and both have to be rejected.
                # Groups of unlike sizes weigh so differently in both that both at once find
                # nothing; their swaps have the correction of t themselves.
                by_t = _t_pvalue(sample, (a, b), float(observed), alternative)
                pvalue, certain = max(pvalue, by_t), exact or by_t > pvalue
        elif test == "ar":
            pvalue = swaps.randomization_pvalue(sample, (a, b), exact, alternative)
        else:
            pvalue = significance.centred_bootstrap_pvalue(
                observed, replicates, alternative, swaps.tolerance_of(sample, (a, b))
            )
            pvalue = _expanded(pvalue, sample, (a, b), alternative)
        yield Difference(
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
            pvalue_error=0.0
            if certain
            else significance.monte_carlo_error(pvalue, plan.n_resamples),
            exact=exact,
            n_differing=sample.n_differing(a, b),
            higher_is_better=sample.table.metric.higher_is_better,
            test={MID_P: "mcnemar-mid-p"}.get(test, "mcnemar") if counted else test,
            method=sampling.method_of(sample, plan, (a, b)),
            gained=flips and flips[0],
            lost=flips and flips[1],
        )


def prepared(samples: list[Sample], plan: Plan, test: str, jointly: bool) -> list[Sample]:
    """Add the sums over random halves that the test of each metric, or all tests jointly, need."""
    many = test == "studentized" and samples[0].n_segments >= _MANY_SEGMENTS
    if jointly or (many and not all(_is_mean(s) or is_counted(s, test) for s in samples)):
        samples = flip(samples, plan)
    swapped = [
        test != "bootstrap" and not (is_counted(s, test) or is_flipped(s, test)) for s in samples
    ]
    if not any(swapped):
        return samples
    done = iter(sampling.swap([s for s, w in zip(samples, swapped, strict=True) if w], plan))
    return [next(done) if w else s for s, w in zip(samples, swapped, strict=True)]


def is_counted(sample: Sample, test: str) -> bool:
    """Return whether the test counts gains and losses of 0/1 scores."""
    return sample.outcomes is not None and test in ("studentized", MID_P)


def is_flipped(sample: Sample, test: str) -> bool:
    """Return whether flipped influence values stand for swapped outputs."""
    least = _MANY_OF_HEAVY_TAILS if sample.table.metric.heavy_tails else _MANY_SEGMENTS
    many = sample.n_segments >= least and sample.flips is not None and not sample.is_uneven
    return test == "studentized" and many and not is_counted(sample, test) and not _is_mean(sample)


def _is_by_t(sample: Sample) -> bool:
    """Return whether the t test decides alone: groups, and strata or runs, which swaps ignore."""
    return sample.sizes is not None and (sample.codes is not None or sample.has_runs)


def _floor(sample: Sample, alternative: str) -> float:
    """Return the smallest p-value that swaps of so few groups could give, 2^(1-G)."""
    return (2.0 if alternative == "two-sided" else 1.0) * 0.5**sample.n_segments


def _is_mean(sample: Sample) -> bool:
    """Return whether a difference over its own standard error orders swaps as it does itself."""
    return type(sample.table.metric) is Mean and sample.sizes is None


def _expanded(pvalue: float, sample: Sample, pair: Pair, alternative: str) -> float:
    """Return a bootstrap p-value with the correction of the expanded percentile interval."""
    if sample.codes is None:
        return significance.expanded_pvalue(pvalue, sample.n_segments, alternative)
    moves, _, degrees = sampling.influences(sample, pair)
    factor = variances.widening(moves, sample.sizes, sample.codes)
    return significance.widened_pvalue(pvalue, factor, degrees, alternative)


def single_pvalue(sample: Sample, pair: Pair) -> float:
    """Return the two-sided p-value of one pair without resampling: of t, or McNemar's."""
    if sample.outcomes is not None:
        return mcnemar_pvalue(*sample.outcomes.changes(*pair))
    return _t_pvalue(sample, pair, float(sample.scores[pair[1]] - sample.scores[pair[0]]), _BOTH)


def _t_pvalue(sample: Sample, pair: Pair, observed: float, alternative: str) -> float:
    """Return the larger p-value of t on influence values, and of Hall's transformation of it."""
    if sample.n_differing(*pair) == 0:
        return 1.0
    moves, error, degrees = sampling.influences(sample, pair)
    # Where few segments differ randomisation says so.
    error, degrees = sampling.widened(sample, pair, moves, error, degrees, unseen=False)
    return tail_pvalue(observed, moves, float(error), degrees, alternative)


def tail_pvalue(
    distance: float,
    moves: Floats,
    error: float,
    degrees: float,
    alternative: str,
    corrected: bool = True,
) -> float:
    """Return the p-value of so large a distance from a null hypothesis; Hall's correction or t."""
    if distance == 0:
        t = 0.0
    else:
        t = distance / error if error > 0 else float(np.copysign(np.inf, distance))
    skewed = t
    if corrected and distance:
        skewed = float(transformed(t, skewness(moves), len(moves)))
    return max(significance.student_t_pvalue(x, degrees, alternative) for x in (t, skewed))


def _flips_pvalue(sample: Sample, pair: Pair, observed: float, alternative: str) -> float:
    """Return the p-value of flipped influence values, which stand for exchanged outputs."""
    _, error, degrees = sampling.influences(sample, pair)
    assert sample.flips is not None
    flipped = sample.flips[:, pair[1]] - sample.flips[:, pair[0]]
    t = studentised.ratio(np.array(observed), error**2)
    if error > 0:
        flipped = flipped / error
    units = float(stepdown.flip_units(t, degrees))
    return significance.randomization_pvalue(units, flipped, alternative)
