"""Swaps of two systems' outputs: the p-value of a pair by approximate randomisation."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.plan import Plan
from evalstats.analysis.sampling import Pair, Sample
from evalstats.errors import InputError
from evalstats.inference import significance, skewness, studentised
from evalstats.metrics.logarithms import LogScore
from evalstats.resampling.totals import all_swap_totals, swap_totals
from evalstats.resampling.weights import Halves, batches

Floats = NDArray[np.float64]

#: Signs of segments that are worked with together, so few that they stay in the cache.
_TOGETHER = 1 << 16


def is_enumerated(sample: Sample, pair: Pair, plan: Plan) -> bool:
    """Return whether all swaps are fewer than the resamples that were asked for."""
    return bool(2 ** sample.n_differing(*pair) <= plan.n_resamples)


def studentised_pvalue(
    sample: Sample, pair: Pair, plan: Plan, exact: bool, alternative: str
) -> float:
    """Return the p-value of studentised differences, from random swaps or from all.

    Of groups each has Hall's correction.
    """
    metric, (first, second) = sample.table.metric, _rows(sample, pair)
    if not np.all(np.isfinite(metric.gradient(np.sum(first + second, axis=0) / 2))):
        raise _not_finite(sample)
    n, differs = len(first), np.flatnonzero(_differs(sample, pair))
    moved = all_swap_totals((second - first)[differs]) if exact else sample.moved(*pair)
    signs = _signs(n, differs, plan, exact)
    shuffled = studentised.studentised_swaps(metric, first, second, moved, signs)
    # The first of all arrangements swaps nothing.
    observed = studentised.studentised_difference(metric, first, second)
    observed = float(shuffled[0]) if exact else observed
    if sample.sizes is not None:
        powers = studentised.skew_columns(metric, first, second)
        whole = np.sum(powers, axis=0)
        halves = all_swap_totals(powers[differs]) if exact else _over_halves(powers, plan)
        skews = skewness.of_signed(powers, whole - 2 * halves)
        shuffled = skewness.transformed(shuffled, skews, n)
        observed = float(skewness.transformed(observed, skewness.of_signed(powers, whole), n))
    if np.isnan(observed) or np.any(np.isnan(shuffled)):
        raise _not_finite(sample)
    tolerance = 0.0 if np.isinf(observed) else significance.tie_tolerance(observed, n)
    if exact:
        return significance.exact_randomization_pvalue(observed, shuffled, alternative, tolerance)
    return significance.randomization_pvalue(observed, shuffled, alternative, tolerance)


def _over_halves(columns: Floats, plan: Plan) -> Floats:
    return swap_totals(columns, plan.n_resamples, plan.seed, executor=plan.executor)


def _signs(
    n: int, differs: NDArray[np.intp], plan: Plan, exact: bool
) -> Iterator[tuple[slice, Floats]]:
    """Yield signs, -1 where segments swap, in the order of `all_swap_totals` or `swap_totals`."""
    step = max(1, _TOGETHER // n)
    if not exact:
        for some, rows in batches(Halves(n, plan.seed), plan.n_resamples):
            for start in range(0, len(rows), step):
                part = rows[start : start + step]
                first = some.start + start
                yield slice(first, first + len(part)), 1 - 2 * part.astype(np.float64)
        return
    for start in range(0, 2 ** len(differs), step):
        numbers = np.arange(start, min(start + step, 2 ** len(differs)))
        signs = np.ones((len(numbers), n))
        signs[:, differs] -= 2 * (numbers[:, None] >> np.arange(len(differs)) & 1)
        yield slice(start, start + len(signs)), signs


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
