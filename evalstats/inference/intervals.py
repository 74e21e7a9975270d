"""Turn replicates, and influence values, into confidence intervals.

Percentile and basic intervals need replicates only. The expanded percentile adds the number of
segments and corrects what the percentile interval lacks in small samples. BCa also needs the
jackknife scores, the studentised interval the standard error of every replicate, and the t
interval nothing but a standard error: no resampling at all.

Every function takes replicates `(B, ...)` and observed values `(...)`, and returns `(low, high)`,
each `(...)`. Quantiles interpolate linearly, as `numpy.quantile` and `scipy.stats.bootstrap` do.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bounds = tuple[Floats, Floats]

#: A standard error this far below the observed one is rounding.
_NO_SPREAD = 1e-9
#: Stands for infinity where quantiles are interpolated.
_FAR = 1e100


def percentile(replicates: Floats, confidence_level: float) -> Bounds:
    """Return the quantiles α/2 and 1-α/2 of the replicates (Efron, 1979)."""
    tail = (1 - confidence_level) / 2
    # NumPy sorts with vector instructions and selects without them: sorting first is faster.
    low, high = np.quantile(np.sort(replicates, axis=0), [tail, 1 - tail], axis=0)
    return low, high


def basic(replicates: Floats, observed: Floats, confidence_level: float) -> Bounds:
    """Return the percentile interval mirrored at the observed value (Davison and Hinkley, 1997)."""
    low, high = percentile(replicates, confidence_level)
    return 2 * observed - high, 2 * observed - low


def expanded_percentile(
    replicates: Floats,
    n_segments: int,
    confidence_level: float,
    degrees_of_freedom: float = np.inf,
) -> Bounds:
    """Return a percentile interval as wide as a t interval would be (Hesterberg, 2015).

    The quantiles are α'/2 and 1-α'/2 with α'/2 = Φ(-√(n/(n-1)) t_{1-α/2, n-1}): the percentile
    interval is too narrow by the factor √((n-1)/n) and by z instead of t. There may be fewer
    degrees of freedom than n-1.
    """
    factor = float(np.sqrt(n_segments / (n_segments - 1)))
    degrees = min(n_segments - 1, degrees_of_freedom)
    return widened_percentile(replicates, factor, degrees, confidence_level)


def widened_percentile(
    replicates: Floats, factor: float, degrees_of_freedom: float, confidence_level: float
) -> Bounds:
    """Return the same with a factor and degrees of freedom of its own: those of strata, say."""
    from scipy.special import ndtr, stdtrit

    quantile = -stdtrit(degrees_of_freedom, (1 - confidence_level) / 2)
    return percentile(replicates, float(1 - 2 * ndtr(-factor * quantile)))


def bca(replicates: Floats, observed: Floats, jackknife: Floats, confidence_level: float) -> Bounds:
    """Return the bias-corrected and accelerated interval (Efron, 1987).

    Parameters
    ----------
    replicates : ndarray, shape (B, ...)
    observed : ndarray, shape (...)
    jackknife : ndarray, shape (..., N)
        The value without each segment in turn.
    confidence_level : float

    Notes
    -----
    Where all replicates lie on one side of the observed value, the share below it is taken to be
    half a replicate, so that the interval stays finite (`scipy.stats.bootstrap` gives NaN there).
    """
    from scipy.special import ndtr, ndtri

    n_resamples = len(replicates)
    below = np.mean(replicates < observed, axis=0) + np.mean(replicates == observed, axis=0) / 2
    bias = ndtri(np.clip(below, 0.5 / n_resamples, 1 - 0.5 / n_resamples))
    deviation = np.mean(jackknife, axis=-1, keepdims=True) - jackknife
    spread = np.sum(deviation**2, axis=-1) ** 1.5
    skew = np.sum(deviation**3, axis=-1)
    # No spread: every segment counts the same, nothing to accelerate.
    acceleration = np.divide(skew, 6 * spread, where=spread > 0, out=np.zeros(np.shape(spread)))
    tails = []
    # Both from the small tail, which is exact where 1 minus it is not.
    lower = ndtri((1 - confidence_level) / 2)
    for z in (lower, -lower):
        tails.append(ndtr(bias + (bias + z) / (1 - acceleration * (bias + z))))
    return _quantile_each(replicates, tails[0]), _quantile_each(replicates, tails[1])


def _quantile_each(replicates: Floats, probabilities: Floats) -> Floats:
    """Return a different quantile of each column, `(B, ...), (...) -> (...)`."""
    columns = replicates.reshape(len(replicates), -1)
    each = np.broadcast_to(probabilities, replicates.shape[1:]).ravel()
    values = [np.quantile(columns[:, j], each[j]) for j in range(columns.shape[1])]
    return np.array(values).reshape(replicates.shape[1:])


def studentized(
    replicates: Floats,
    replicate_errors: Floats,
    observed: Floats,
    error: Floats,
    confidence_level: float,
) -> Bounds:
    """Return the bootstrap-t interval (Efron, 1982; Hall, 1988).

    The quantiles are those of (θ* - θ)/se*, the standard error of every replicate being its own.
    A replicate without spread (se* = 0) that is not the observed value lies infinitely many
    standard errors away. Where such replicates reach a quantile, as they do for scores of few
    values, that bound is the most extreme replicate.
    """
    spread = replicate_errors > _NO_SPREAD * error
    distance = replicates - observed
    pivots = np.where(distance == 0, 0.0, np.copysign(_FAR, distance))
    np.divide(distance, replicate_errors, where=spread, out=pivots)
    tail = (1 - confidence_level) / 2
    upper, lower = np.quantile(pivots, [tail, 1 - tail], axis=0)
    limit = _FAR / 1e3
    low = np.where(np.abs(lower) < limit, observed - lower * error, np.min(replicates, axis=0))
    high = np.where(np.abs(upper) < limit, observed - upper * error, np.max(replicates, axis=0))
    # With no spread anywhere the interval is a point.
    return np.where(error > 0, low, observed), np.where(error > 0, high, observed)


def student_t(
    observed: Floats, error: Floats, n_segments: float, confidence_level: float
) -> Bounds:
    """Return θ ± t_{1-α/2, n-1}·se, with the standard error from influence values.

    n need not be whole: groups of unlike sizes have n - 1 degrees of freedom of Satterthwaite's.
    """
    from scipy.special import stdtrit

    quantile = -stdtrit(n_segments - 1, (1 - confidence_level) / 2)
    return observed - quantile * error, observed + quantile * error
