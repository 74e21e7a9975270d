"""Step-down max-T: p-values of many comparisons from their joint distribution.

Holm's and Bonferroni's adjustments allow for the worst dependence there could be, and multiply by
the number of comparisons, also what a number of resamples leaves uncertain. The differences of
pairs of systems depend on one another strongly, and resampling them together shows how: a
difference is significant where the largest of all differences rarely is as large under the null
hypothesis (Westfall and Young, 1993). What has been rejected no longer takes part in that maximum
(Romano and Wolf, 2005; 2016, the p-values).

Null values come from signs ±1, one for each segment, which all systems and metrics share, times
the centred influence values (the wild bootstrap; Mammen, 1993). In units of its own standard error
a flipped difference D* is a monotone function of ``D*/σ`` with σ² the sum of squares, which no sign
changes: `flip_units` turns an observed t into those units, and nothing but D* has to be resampled.

Flipped values are symmetric about 0. Where few segments of skewed scores decide, the t of unlike
systems of equal scores is not, and its far tail is what many comparisons look at. There the
bootstrap has to agree, each difference over the standard error of its own resample
(`resampled_errors`).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: Pairs whose errors in every resample are worked out together; they bound the memory.
_TOGETHER = 256
#: Values this close, relative to their size, are ties.
_TIE = 1e-9


def flip_units(t: Floats, degrees: float) -> Floats:
    """Return differences over √Σd² instead of over their standard errors, t√((ν+1)/(ν+t²))."""
    with np.errstate(divide="ignore"):
        # Also where there is no spread, and t is infinite.
        return np.asarray(np.sign(t) * np.sqrt((degrees + 1) / (1 + degrees / np.square(t))))


def t_of_units(units: Floats, degrees: float) -> Floats:
    """Return the t that `flip_units` turns into these units; infinite where none is as large."""
    rest = degrees + 1 - np.square(units)
    far = np.copysign(np.inf, units)
    root = np.sqrt(np.divide(degrees, rest, where=rest > 0, out=np.zeros(rest.shape)))
    return np.where(rest > 0, units * root, far)


def resampled_errors(deviates: Floats, squares: Floats, errors: Floats, n: int) -> Floats:
    """Return the standard error of differences within each bootstrap resample, `(B, P)`.

    With the resampled sums D* of influence values and Q* of their squares it is √(Q* - D*²/n), but
    at least half of the standard error itself: a resample that misses the few segments on which
    two systems differ says nothing about the others.
    """
    variance = squares - deviates**2 / n
    return np.asarray(np.sqrt(np.maximum(variance, errors**2 / 4) * n / (n - 1)))


def step_down(
    deviates: Floats,
    pairs: NDArray[np.intp],
    errors: Floats | Callable[[NDArray[np.intp]], Floats],
    observed: Floats,
    alternative: str = "two-sided",
) -> tuple[Floats, Floats]:
    """Return p-values adjusted for all pairs, `(P,)`, and the largest null values, `(B,)`.

    Parameters
    ----------
    deviates : ndarray, shape (B, K)
        Scores of K systems under the null hypothesis, less their expectation.
    pairs : ndarray of int, shape (P, 2)
        Columns (first, second) whose difference, second - first, is tested.
    errors : ndarray, shape (P,), or callable
        What the null differences are divided by; those with error 0 stay 0. A callable returns
        those of some pairs in every resample, `(B, p)`.
    observed : ndarray, shape (P,)
        The differences in the same units.
    alternative : {"two-sided", "greater", "less"}

    Notes
    -----
    With the observed values in descending order, r_1 >= r_2 >= ..., the p-value of the j-th is
    ``(#{max_{l >= j} |d*_l| >= r_j} + 1)/(B + 1)``, and none is below one before it (Romano and
    Wolf, 2016, algorithm 4.2). The maxima over all pairs are those of the single-step test, whose
    quantile makes simultaneous intervals.
    """
    sign = -1.0 if alternative == "less" else 1.0
    values = np.abs(observed) if alternative == "two-sided" else sign * observed
    columns = np.asarray(deviates.T, order="C")
    largest = np.full(columns.shape[1], -np.inf)
    stepped = np.empty(len(pairs))
    order = np.argsort(values, kind="stable")
    for some in np.split(order, range(_TOGETHER, len(order), _TOGETHER)):
        spread = errors(some).T if callable(errors) else errors[some]
        for j, error in zip(some, spread, strict=True):
            null = sign * (columns[pairs[j, 1]] - columns[pairs[j, 0]])
            np.divide(null, error, where=error > 0, out=null)
            if alternative == "two-sided":
                np.abs(null, out=null)
            np.maximum(largest, null, out=largest)
            tie = _TIE * abs(values[j]) if np.isfinite(values[j]) else 0.0
            count = np.count_nonzero(largest >= values[j] - tie)
            stepped[j] = (count + 1) / (len(largest) + 1)
    return _monotone(stepped, values), largest


def _monotone(pvalues: Floats, values: Floats) -> Floats:
    """Let no p-value be below that of a larger value."""
    order = np.argsort(-values, kind="stable")
    adjusted = np.empty(pvalues.shape)
    adjusted[order] = np.maximum.accumulate(pvalues[order])
    return adjusted
