"""The t statistic of skewed values, by Hall's transformation.

Where the values are skewed, t is too often far out on one side, and not often enough on the other.
Hall's cubic of it, which is monotone, is nearer to Student's t (Hall, 1992, "On the removal of
skewness by transformation", Journal of the Royal Statistical Society B 54):

    g(t) = √n·(((1 + γ·t/(3√n))³ - 1)/γ + γ/(6n)),  γ the skewness of the n values

With few values γ is hardly known, and the transformed statistic alone rejects too often. The
more careful of both is therefore taken: the larger p-value, the wider bound.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: The cubic is a straight line, and division by γ loses digits.
_SYMMETRIC = 1e-6


def skewness(values: Floats) -> float:
    """Return the third central moment over the third power of the standard deviation, `(N,)`."""
    centred = values - np.mean(values)
    spread = float(np.sqrt(np.mean(centred**2)))
    if spread == 0:
        return 0.0
    scaled = centred / spread
    # NumPy's third power takes twenty times as long.
    return float(np.mean(scaled * scaled * scaled))


def of_signed(powers: Floats, sums: Floats) -> Floats:
    """Return the skewness of values v with signs, `(...)`.

    Parameters
    ----------
    powers : ndarray, shape (N, 2)
        v and v³.
    sums : ndarray, shape (..., 2)
        Their sums with the signs.
    """
    n = len(powers)
    square = np.mean(powers[:, 0] ** 2)
    mean, third = sums[..., 0] / n, sums[..., 1] / n
    moment = third - 3 * mean * square + 2 * mean * mean * mean
    variance = np.maximum(square - mean * mean, 0.0)
    power = variance * np.sqrt(variance)
    return np.asarray(np.divide(moment, power, where=power > 0, out=np.zeros(np.shape(power))))


def degrees_of_spread(values: Floats) -> float:
    """Return the degrees of freedom of a spread estimated from values with heavy tails, `(N,)`.

    2N/(κ - 1) with the kurtosis κ, where a χ² has the variance of the variance (Satterthwaite,
    1946): N - 1 for normal values or lighter tails, few where a few values make the spread.
    """
    centred = values - np.mean(values)
    squares = centred * centred
    spread, n = float(np.mean(squares)), len(values)
    if spread == 0:
        return n - 1.0
    kurtosis = float(np.mean((squares / spread) ** 2))
    return min(n - 1.0, 2 * n / (kurtosis - 1)) if kurtosis > 1 else n - 1.0


def transformed(t: float | Floats, skew: float | Floats, n: int) -> Floats:
    """Return g(t), or t itself where it is infinite or the values are symmetric."""
    straight = (np.abs(skew) < _SYMMETRIC) | ~np.isfinite(t)
    bent, finite = np.where(straight, 1.0, skew), np.where(straight, 0.0, t)
    base = 1 + bent * finite / (3 * np.sqrt(n))
    cubic = (base * base * base - 1) / bent
    return np.asarray(np.where(straight, t, np.sqrt(n) * (cubic + bent / (6 * n))))


def untransformed(quantile: float | Floats, skew: float | Floats, n: int) -> Floats:
    """Return the t at which g(t) is the quantile, for each skewness."""
    straight = np.abs(skew) < _SYMMETRIC
    bent = np.where(straight, 1.0, skew)
    cube = 1 + bent * (quantile / np.sqrt(n) - bent / (6 * n))
    return np.asarray(np.where(straight, quantile, 3 * np.sqrt(n) * (np.cbrt(cube) - 1) / bent))


def interval(
    observed: Floats, error: Floats, degrees_of_freedom: float, level: float, skew: float, n: int
) -> tuple[Floats, Floats]:
    """Return, on each side, the wider bound of θ ∓ t·se and of θ - g⁻¹(±t)·se."""
    from scipy.special import stdtrit

    quantile = -float(stdtrit(degrees_of_freedom, (1 - level) / 2))
    right = max(quantile, float(untransformed(quantile, skew, n)))
    left = min(-quantile, float(untransformed(-quantile, skew, n)))
    return observed - right * error, observed - left * error
