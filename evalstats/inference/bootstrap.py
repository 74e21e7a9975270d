"""One bootstrap rule: from replicates to an interval, and to the p-value of any null value.

The interval is the expanded percentile interval (Hesterberg, 2015), from the k-th smallest to the
k-th largest replicate; the p-value of a null value is the smallest level at which the interval
excludes it. If no replicate lies beyond a bound (k = 0), or if there are too few units for an
interval from replicates (ν < 5), t is used instead. `docs/method.md` has the formulas.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from evalstats.inference.distributions import normal_cdf, normal_quantile, t_cdf, t_quantile
from evalstats.inference.student import Spread

Floats = NDArray[np.float64]
Bounds = tuple[float, float]

#: With fewer degrees of freedom, intervals from replicates have too little coverage.
LEAST_DEGREES = 5.0


def widened(share: float, spread: Spread, sides: int = 2) -> float:
    """Return the p-value of a null value with a share of the replicates beyond it.

    s·F_ν(Φ⁻¹(share)/f) of s sides, at most 1.
    """
    return min(1.0, sides * t_cdf(normal_quantile(share) / spread.factor, spread.degrees))


def rank(alpha: float, n_resamples: int, spread: Spread) -> int:
    """Return k = ⌊(B + 1)·Φ(f·t_ν(α/2))⌋, the place of the bounds among B replicates.

    The largest number whose p-value is at most α, so that the interval and the p-value agree
    despite rounding.
    """
    n = n_resamples + 1
    k = int(n * normal_cdf(spread.factor * t_quantile(alpha / 2, spread.degrees)))
    while k > 0 and widened(k / n, spread) > alpha:
        k -= 1
    while 2 * (k + 1) <= n and widened((k + 1) / n, spread) <= alpha:
        k += 1
    return k


def interval(
    replicates: Floats, spread: Spread, alpha: float, by_t: Callable[[], Bounds]
) -> Bounds:
    """Return the closed interval of confidence 1 - α: all null values that are not rejected.

    From the replicates `(B,)` of a quantity (none if t is used) and its spread; `by_t` returns the
    t interval at the same level.

    Examples
    --------
    >>> spread = Spread(1.0, 1.0, 1000.0)
    >>> interval(np.arange(999.0), spread, 0.05, lambda: (0.0, 0.0))
    (23.0, 975.0)
    """
    n = len(replicates)
    if n == 0 or spread.degrees < LEAST_DEGREES:
        return by_t()
    if k := rank(alpha, n, spread):
        # One place at a time: a tenth of the time of both under NumPy 2.4, twice under NumPy 2.0.
        low, high = (float(np.partition(replicates, i)[i]) for i in (k - 1, n - k))
        return low, high
    low, high = by_t()
    return min(low, float(np.min(replicates))), max(high, float(np.max(replicates)))


def pvalue(
    distances: Floats, spread: Spread, by_t: Callable[[], float], alternative: str = "two-sided"
) -> float:
    """Return the smallest level at which the interval excludes a null value.

    From replicates minus the null value, `(B,)`; `by_t` returns the p-value of t. One-sided tests
    (alternative "greater" or "less") count the replicates that are not on the claimed side.

    Examples
    --------
    >>> spread = Spread(1.0, 1.0, 1000.0)
    >>> round(pvalue(np.arange(999.0) - 30.5, spread, lambda: 0.0), 3)    # 31 are not above
    0.064
    """
    n = len(distances)
    if n == 0 or spread.degrees < LEAST_DEGREES:
        return by_t()
    not_above = n - int(np.count_nonzero(distances > 0))
    not_below = n - int(np.count_nonzero(distances < 0))
    counts = {"greater": not_above, "less": not_below, "two-sided": min(not_above, not_below)}
    count, sides = counts[alternative], 2 if alternative == "two-sided" else 1
    share = widened((count + 1) / (n + 1), spread, sides)
    return min(share, by_t()) if count == 0 else share


def percentile(replicates: Floats, confidence_level: float) -> Bounds:
    """Return the quantiles α/2 and 1-α/2 of the replicates (Efron, 1979), interpolated."""
    tail = (1 - confidence_level) / 2
    # In the same steps, so that the order of two systems does not change a bit.
    return float(np.quantile(replicates, tail)), -float(np.quantile(-replicates, tail))
