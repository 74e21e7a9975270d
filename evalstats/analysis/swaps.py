"""Swaps of two systems' outputs: the p-value of a pair by approximate randomisation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.plan import Plan
from evalstats.analysis.sampling import Pair, Sample
from evalstats.errors import InputError
from evalstats.inference import significance, skewness, studentised
from evalstats.metrics.logarithms import LogScore
from evalstats.resampling.totals import all_swap_totals
from evalstats.resampling.weights import Halves, batches

Floats = NDArray[np.float64]

#: Signs of segments that are worked with together, so few that they stay in the cache.
_TOGETHER = 1 << 16
#: Gradients of pairs whose swaps are made together: they bound the memory.
_GRADIENTS = 1 << 22


def is_enumerated(sample: Sample, pair: Pair, plan: Plan) -> bool:
    """Return whether all swaps are fewer than the resamples that were asked for."""
    return bool(2 ** sample.n_differing(*pair) <= plan.n_resamples)


def studentised_pvalues(
    sample: Sample, pairs: Sequence[Pair], plan: Plan, alternative: str
) -> Iterator[float]:
    """Yield p-values of studentised differences, from random swaps or from all.

    Of groups of unlike sizes each has Hall's correction.
    """
    step = max(1, _GRADIENTS // (plan.n_resamples * sample.values.shape[2]))
    for start in range(0, len(pairs), step):
        some = pairs[start : start + step]
        drawn = [pair for pair in some if not is_enumerated(sample, pair, plan)]
        random = iter(_drawn(sample, drawn, plan))
        for pair in some:
            exact = is_enumerated(sample, pair, plan)
            swaps = _enumerated(sample, pair) if exact else next(random)
            yield _pvalue(sample, pair, swaps, exact, alternative)


def _drawn(sample: Sample, pairs: Sequence[Pair], plan: Plan) -> list[studentised.Swaps]:
    """Swap at random."""
    swaps = [_swaps(sample, pair, sample.moved(*pair)) for pair in pairs]
    if not swaps:
        return []
    n, blocks = sample.n_segments, batches(Halves(sample.n_segments, plan.seed), plan.n_resamples)
    step = max(1, _TOGETHER // n)
    for some, rows in blocks:
        for start in range(0, len(rows), step):
            signs = 1 - 2 * rows[start : start + step].astype(np.float64)
            place = slice(some.start + start, some.start + start + len(signs))
            for of_pair in swaps:
                of_pair.add(place, signs)
    return swaps


def _enumerated(sample: Sample, pair: Pair) -> studentised.Swaps:
    """Make all swaps, of which the first swaps nothing."""
    first, second = _rows(sample, pair)
    differs = np.flatnonzero(_differs(sample, pair))
    swaps = _swaps(sample, pair, all_swap_totals((second - first)[differs]))
    total, step = 2 ** len(differs), max(1, _TOGETHER // len(first))
    for start in range(0, total, step):
        numbers = np.arange(start, min(start + step, total))
        signs = np.ones((len(numbers), len(first)))
        # In the order of `all_swap_totals`.
        signs[:, differs] -= 2 * (numbers[:, None] >> np.arange(len(differs)) & 1)
        swaps.add(slice(start, start + len(signs)), signs)
    return swaps


def _pvalue(
    sample: Sample, pair: Pair, swaps: studentised.Swaps, exact: bool, alternative: str
) -> float:
    shuffled, n = swaps.ratios(), sample.n_segments
    observed = float(shuffled[0])
    if not exact:
        observed = studentised.studentised_difference(sample.table.metric, *_rows(sample, pair))
    if sample.is_uneven:
        skew = skewness.of_signed(swaps.powers, np.sum(swaps.powers, axis=0))
        observed = float(skewness.transformed(observed, skew, n))
        skews = skewness.of_signed(swaps.powers, swaps.power_sums)
        shuffled = skewness.transformed(shuffled, skews, n)
    if np.isnan(observed) or np.any(np.isnan(shuffled)):
        raise _not_finite(sample)
    tolerance = 0.0 if np.isinf(observed) else significance.tie_tolerance(observed, n)
    test = significance.exact_randomization_pvalue if exact else significance.randomization_pvalue
    return test(observed, shuffled, alternative, tolerance)


def _swaps(sample: Sample, pair: Pair, moved: Floats) -> studentised.Swaps:
    metric, (first, second) = sample.table.metric, _rows(sample, pair)
    if not np.all(np.isfinite(metric.gradient(np.sum(first + second, axis=0) / 2))):
        raise _not_finite(sample)
    return studentised.Swaps(metric, first, second, moved)


def randomization_pvalue(sample: Sample, pair: Pair, exact: bool, alternative: str) -> float:
    """Return the p-value of the difference itself, from random swaps or from all."""
    a, b = pair
    observed, tolerance = sample.scores[b] - sample.scores[a], tolerance_of(sample, pair)
    if exact:
        first, second = _rows(sample, pair)
        moved = all_swap_totals((second - first)[_differs(sample, pair)])
    else:
        moved = sample.moved(a, b)
    score = sample.table.metric.score
    shuffled = score(sample.totals[b] - moved) - score(sample.totals[a] + moved)
    if not np.all(np.isfinite(shuffled)):
        raise InputError(
            f"{sample.table.metric.name} of swapped outputs of system "
            f"{sample.table.systems[a]!r} is not finite; define the score for every total, for "
            f"example where a denominator is 0"
        )
    if exact:
        return significance.exact_randomization_pvalue(observed, shuffled, alternative, tolerance)
    return significance.randomization_pvalue(observed, shuffled, alternative, tolerance)


def tolerance_of(sample: Sample, pair: Pair) -> float:
    """Return how far differences of a pair's scores may lie apart and still be ties."""
    largest = float(np.max(np.abs(sample.scores[list(pair)])))
    if isinstance(sample.table.metric, LogScore):
        # The last bit of a score is as much of its logarithm, however small that is.
        largest = max(largest, 1.0)
    return significance.tie_tolerance(largest, sample.n_segments)


def _rows(sample: Sample, pair: Pair) -> tuple[Floats, Floats]:
    first, second = (sample.values[i].astype(np.float64) for i in pair)
    return first, second


def _differs(sample: Sample, pair: Pair) -> NDArray[np.bool_]:
    a, b = pair
    return np.asarray(np.any(sample.table.values[a] != sample.table.values[b], axis=1))


def _not_finite(sample: Sample) -> InputError:
    return InputError(
        f"test 'studentized' needs a finite score and gradient of {sample.name} at the totals of "
        f"swapped outputs; define the score for every total, or use test='ar'"
    )
