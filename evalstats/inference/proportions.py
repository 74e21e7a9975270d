"""Intervals and tests of 0/1 scores: proportions, and differences of paired proportions.

A proportion lies on a lattice, and resampling few segments of it misleads: where no segment
differs, or none fails, every replicate is the same. These methods count instead. They take numbers
of segments: of N, how many succeed; or how many the system gained and lost against its baseline.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evalstats.errors import InputError

Floats = NDArray[np.float64]

#: Below it resamples say too little of a share.
_FEW_ITEMS = 20
#: Distance to the end of the scale at which a root is sought.
_EDGE = 1e-12
#: No logarithm of a ratio of counts is so large.
_FAR = 100.0


def wilson(successes: float, n_segments: float, confidence_level: float) -> tuple[float, float]:
    """Return the score interval of a proportion (Wilson, 1927).

    All p with ``(p̂ - p)² <= z² p(1 - p)/N``. It stays within 0 and 1, and is an interval of
    positive length where all segments succeed, or none.

    Examples
    --------
    >>> [round(x, 3) for x in wilson(10, 10, 0.95)]
    [0.722, 1.0]
    """
    z = _normal_quantile(confidence_level)
    n, share = n_segments, successes / n_segments
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    # Rounding may leave the scale by a bit where all segments succeed, or none.
    low = 0.0 if successes == 0 else float(centre - half)
    high = 1.0 if successes == n else float(centre + half)
    return low, high


def widened_by_shares(
    bounds: tuple[Floats, Floats],
    observed: Floats,
    shares: tuple[Floats, ...],
    confidence_level: float,
) -> tuple[Floats, Floats]:
    """Return an interval of a mean of shares, widened by what few items leave uncertain.

    Where a share is of fewer than 20 items, resamples say too little of it, and nothing where all
    items succeed, or none, however many they are. What Wilson's interval of it has more than the
    normal one is added to both distances, in squares (MOVER: Zou and Donner, 2008); of no items,
    all from 0 to 1.

    Parameters
    ----------
    bounds : pair of ndarray, shape ()
        Of the mean.
    observed : ndarray, shape ()
        The mean.
    shares : tuple of ndarray, shape (K,)
        Weights in the mean, shares, and how many items each is of.
    confidence_level : float
        In (0, 1).
    """
    z = _normal_quantile(confidence_level)
    added = np.zeros(2)
    for weight, share, n in zip(*(x.tolist() for x in shares), strict=True):
        if weight > 0 and (n < _FEW_ITEMS or min(share, 1 - share) * n < 1):
            alone = wilson(share * n, n, confidence_level) if n > 0 else (0.0, 1.0)
            normal = z * z * share * (1 - share) / n if n > 0 else 0.0
            added += weight**2 * np.maximum((np.array(alone) - share) ** 2 - normal, 0)
    low, high = bounds
    if np.any(added > 0):
        low = np.minimum(low, observed - np.sqrt(np.maximum(observed - low, 0) ** 2 + added[0]))
        high = np.maximum(high, observed + np.sqrt(np.maximum(high - observed, 0) ** 2 + added[1]))
    return np.asarray(low), np.asarray(high)


def tango(
    gained: float, lost: float, n_segments: float, confidence_level: float
) -> tuple[float, float]:
    r"""Return the score interval of a difference of paired proportions (Tango, 1998).

    All differences Δ that the score test does not reject,

    .. math:: |b - c - N\Delta| \le z \sqrt{N (2 \tilde q + \Delta (1 - \Delta))}

    with b segments gained, c lost, and q̃ the maximum-likelihood share of lost segments given Δ. For
    Δ = 0 this is McNemar's test. It is an interval of positive length where no segment differs.

    Parameters
    ----------
    gained, lost : int
        Segments on which the system succeeds and the baseline does not, and the reverse.
    n_segments : int
        N, at least 1.
    confidence_level : float
        In (0, 1).

    Examples
    --------
    >>> [round(x, 3) for x in tango(0, 0, 100, 0.95)]
    [-0.037, 0.037]
    """
    from scipy.optimize import brentq

    z = _normal_quantile(confidence_level)
    n, observed = n_segments, (gained - lost) / n_segments

    def standardized(difference: float) -> float:
        return tango_distance(gained, lost, n, difference)

    def bound(end: float, limit: float) -> float:
        if abs(standardized(end)) <= z or observed == np.sign(end):
            return float(np.sign(end))
        return float(
            brentq(lambda d: standardized(d) - limit, min(end, observed), max(end, observed))
        )

    return bound(-1 + _EDGE, z), bound(1 - _EDGE, -z)


def tango_distance(gained: float, lost: float, n_segments: float, difference: float) -> float:
    """Return Tango's (1998) score statistic of a difference, below it negative; normal under it."""
    n = n_segments
    linear = (2 * n - gained + lost) * difference - gained - lost
    share = np.sqrt(linear**2 + 8 * n * lost * difference * (1 - difference)) - linear
    variance = n * (share / (2 * n) + difference * (1 - difference))
    distance = gained - lost - n * difference
    return float(distance / np.sqrt(variance)) if variance > 0 else 0.0


def ratio_distance(both: float, gained: float, lost: float, ratio: float) -> float:
    r"""Return the score statistic of a ratio of paired proportions (Nam and Blackwelder, 2002).

    .. math:: (x_1 - r x_0) / \sqrt{N r (\tilde p_{10} + \tilde p_{01})}

    with the successes of the system x₁ and of the baseline x₀, and the maximum-likelihood shares of
    gained and lost segments given p₁ = r p₀. Normal under that hypothesis, negative below it.

    Parameters
    ----------
    both, gained, lost : int
        Segments on which both succeed, the system alone, and the baseline alone. Where both fail
        says nothing of a ratio.
    ratio : float
        r, in (0, 1].

    Examples
    --------
    >>> round(ratio_distance(60, 8, 1, 1.0) ** 2, 6) == round((8 - 1) ** 2 / (8 + 1), 6)  # McNemar
    True
    """
    n, square = both + gained + lost, ratio * ratio
    distance = both + gained - ratio * (both + lost)
    linear = square * (both + 2 * gained + lost) - both - gained
    root = np.sqrt(linear**2 + 4 * square * (1 - square) * n * gained)
    # Of the n segments on which somebody succeeds; the positive root of a quadratic.
    alone = max((linear + root) / (2 * ratio * (1 + ratio)), 0.0)
    variance = ratio * (alone + ratio * alone + (1 - ratio) * n)
    return float(distance / np.sqrt(variance)) if variance > 0 else 0.0


def ratio_interval(
    both: float, gained: float, lost: float, confidence_level: float
) -> tuple[float, float]:
    """Return the score interval of a ratio of paired proportions (Nam and Blackwelder, 2002).

    All ratios that the test of `ratio_distance` does not reject, two-sided. Both systems succeed
    somewhere. It is an interval of positive length where no segment differs.

    Examples
    --------
    >>> [round(x, 3) for x in ratio_interval(60, 8, 1, 0.95)]
    [1.022, 1.255]
    """
    from scipy.optimize import brentq

    z = _normal_quantile(confidence_level)

    def distance(log_ratio: float) -> float:
        if log_ratio <= 0:
            return ratio_distance(both, gained, lost, float(np.exp(log_ratio)))
        # The statistic of the ratio the other way round, with the opposite sign.
        return -ratio_distance(both, lost, gained, float(np.exp(-log_ratio)))

    low, high = (
        brentq(lambda at: distance(at) - limit, -_FAR, _FAR)  # noqa: B023
        for limit in (z, -z)
    )
    return float(np.exp(low)), float(np.exp(high))


def mcnemar_pvalue(
    gained: int, lost: int, alternative: str = "two-sided", *, mid: bool = False
) -> float:
    """Return the exact p-value of equal proportions on the same segments (McNemar, 1947).

    Of the segments that differ, each is gained or lost with probability 1/2 under the null
    hypothesis; the p-value is the binomial probability of a split at least this uneven. `mid`
    counts the observed split half (Lancaster, 1961; Fagerland, Lydersen and Laake, 2013), which is
    less conservative, and may exceed the level by a little.

    Parameters
    ----------
    gained, lost : int
        Segments on which the system succeeds and the baseline does not, and the reverse.
    alternative : {"two-sided", "greater", "less"}
        ``"greater"``: the system's proportion is greater.
    mid : bool
        Whether the observed split counts half.

    Returns
    -------
    float
        In (0, 1]; 1 where no segment differs.

    Examples
    --------
    >>> mcnemar_pvalue(8, 1), mcnemar_pvalue(8, 1, "greater", mid=True)
    (0.0390625, 0.0107421875)
    """
    from scipy.special import bdtr

    n = gained + lost
    if n == 0:
        return 1.0

    def tail(extreme: int) -> float:
        # P(X <= extreme) of a binomial(n, 1/2).
        here = bdtr(extreme, n, 0.5)
        below = bdtr(extreme - 1, n, 0.5) if extreme else 0.0
        return float((here + below) / 2 if mid else here)

    if alternative == "greater":
        return tail(lost)
    if alternative == "less":
        return tail(gained)
    if alternative != "two-sided":
        raise InputError(
            f"alternative must be one of two-sided, greater, less; got {alternative!r}"
        )
    # Of an even split both tails hold the middle.
    return min(1.0, 2 * tail(min(gained, lost)))


def _normal_quantile(confidence_level: float) -> float:
    from scipy.special import ndtri

    return -float(ndtri((1 - confidence_level) / 2))
