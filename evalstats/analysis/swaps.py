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
from evalstats.resampling.totals import all_swap_totals, swap_totals

Floats = NDArray[np.float64]

#: Columns of cross products that are resampled together; they bound the memory.
_CROSS_COLUMNS = 256


def is_enumerated(sample: Sample, pair: Pair, plan: Plan) -> bool:
    """Return whether all swaps are fewer than the resamples that were asked for."""
    return bool(2 ** sample.n_differing(*pair) <= plan.n_resamples)


def sums_over_halves(sample: Sample, pairs: Sequence[Pair], plan: Plan) -> Iterator[Floats]:
    """Yield sums of each pair's `_columns` over the random halves, `(B, k)` or `(B, k + 2)`."""
    step = max(1, _CROSS_COLUMNS // sample.values.shape[2])
    for start in range(0, len(pairs), step):
        some = pairs[start : start + step]
        totals = swap_totals(
            np.concatenate([_columns(sample, pair) for pair in some], axis=1),
            plan.n_resamples,
            plan.seed,
            executor=plan.executor,
            tell=plan.tell("swapping"),
        )
        yield from np.split(totals, len(some), axis=1)


def studentised_pvalue(
    sample: Sample, pair: Pair, halves: Floats | None, alternative: str
) -> float:
    """Return the p-value from random swaps, or from all where no sums over halves are given."""
    metric, (first, second) = sample.table.metric, _rows(sample, pair)
    columns, k = _columns(sample, pair), first.shape[1]
    if halves is not None:
        moved = sample.moved(*pair)
    else:
        differs = _differs(sample, pair)
        moved, halves = (
            all_swap_totals((second - first)[differs]),
            all_swap_totals(columns[differs]),
        )
    is_whole = len(halves) == 2 ** sample.n_differing(*pair)
    shuffled = studentised.studentised_swaps(metric, first, second, moved, halves[:, :k])
    # The first of all arrangements swaps nothing.
    observed = studentised.studentised_difference(metric, first, second)
    observed = float(shuffled[0]) if is_whole else observed
    skews = columns[:, k:]
    if skews.shape[1]:
        whole = np.sum(skews, axis=0)
        skew = skewness.of_signed(skews, whole - 2 * halves[:, k:])
        shuffled = skewness.transformed(shuffled, skew, len(first))
        skew = skewness.of_signed(skews, whole)
        observed = float(skewness.transformed(observed, skew, len(first)))
    if np.isnan(observed) or np.any(np.isnan(shuffled)):
        raise _not_finite(sample)
    tolerance = 0.0 if np.isinf(observed) else significance.tie_tolerance(observed, len(first))
    if is_whole:
        return significance.exact_randomization_pvalue(observed, shuffled, alternative, tolerance)
    return significance.randomization_pvalue(observed, shuffled, alternative, tolerance)


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


def _columns(sample: Sample, pair: Pair) -> Floats:
    """Return what the standard errors of swapped outputs need, of groups their skewness, too."""
    metric, rows = sample.table.metric, _rows(sample, pair)
    columns = studentised.cross_columns(metric, *rows)
    if sample.sizes is not None:
        columns = np.concatenate([columns, studentised.skew_columns(metric, *rows)], axis=1)
    return _finite(columns, sample)


def _rows(sample: Sample, pair: Pair) -> tuple[Floats, Floats]:
    first, second = (sample.values[i].astype(np.float64) for i in pair)
    return first, second


def _differs(sample: Sample, pair: Pair) -> NDArray[np.bool_]:
    a, b = pair
    return np.asarray(np.any(sample.table.values[a] != sample.table.values[b], axis=1))


def _finite(columns: Floats, sample: Sample) -> Floats:
    if not np.all(np.isfinite(columns)):
        raise _not_finite(sample)
    return columns


def _not_finite(sample: Sample) -> InputError:
    return InputError(
        f"test 'studentized' needs a finite score and gradient of {sample.name} at the totals of "
        f"swapped outputs; define the score for every total, or use test='ar'"
    )
