"""Power: how often a test finds a difference of a given size, and what it needs to find it.

The t test's power is the noncentral t distribution's (Student; Cohen, 1988), for normal differences
exactly. Differences of scores are often skewed and have long tails; their power is a share of draws
of the pilot's own values, which are moved so that their difference is the one in question (Efron
and Tibshirani, 1993, chapter 25). McNemar's exact test has an exact power too, a sum over how many
segments may differ (Duffy, 1984; Miettinen, 1968, and Connor, 1987, approximate it).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: From so many degrees of freedom the t distributions are normal ones.
_NORMAL = 1e5
#: Standard errors: of a difference that is never found on the other side, and of the largest.
_OUT_OF_REACH, _FAR = 8.0, 1e4
#: Standard deviations of the number of differing segments that are summed over.
_TAIL = 9.0
#: More segments than these are no plan.
_MOST_SEGMENTS = 10**15
_HALVINGS = 40


def t_power(
    noncentrality: float, degrees_of_freedom: float, level: float, alternative: str = "two-sided"
) -> float:
    """Return how often t with so many degrees of freedom rejects at a level.

    Parameters
    ----------
    noncentrality : float
        The true difference over the standard error.
    degrees_of_freedom : float
    level : float
        In (0, 1).
    alternative : {"two-sided", "greater", "less"}

    Examples
    --------
    >>> round(t_power(0.2 * 10, 99, 0.05), 4)    # 100 differences, 0.2 standard deviations
    0.5083
    """
    from scipy.special import nctdtr, ndtr, ndtri, stdtrit

    if alternative == "less":
        noncentrality = -noncentrality
    tail = level / 2 if alternative == "two-sided" else level
    if degrees_of_freedom >= _NORMAL:
        quantile = -ndtri(tail)
        above, below = ndtr(noncentrality - quantile), ndtr(-noncentrality - quantile)
    else:
        quantile = -stdtrit(degrees_of_freedom, tail)

        def upper(shift: float) -> float:
            # P(T > 0) is Φ(shift): the other side is out of reach, and `nctdtr` lost there.
            if shift < -_OUT_OF_REACH:
                return 0.0
            # By its mirror image, where the distribution function loses no digits.
            return float(nctdtr(degrees_of_freedom, -min(shift, _FAR), -quantile))

        above, below = upper(noncentrality), upper(-noncentrality)
    return float(above + below if alternative == "two-sided" else above)


def mcnemar_power(
    n_segments: int, gained: float, lost: float, level: float, alternative: str = "two-sided"
) -> float:
    r"""Return how often McNemar's exact test rejects at a level, over all numbers that may differ.

    .. math:: \sum_m P(M = m)\,P(\text{reject} \mid m), \quad M \sim \mathrm{Bin}(N, g + l),
        \quad \text{gained} \mid m \sim \mathrm{Bin}(m, g / (g + l))

    Parameters
    ----------
    n_segments : int
        N.
    gained, lost : float
        Probabilities g and l that a segment is gained, or lost; their sum is at most 1.
    level : float
        In (0, 1).
    alternative : {"two-sided", "greater", "less"}
        ``"greater"``: more are gained.

    Examples
    --------
    >>> round(mcnemar_power(144, 0.45, 0.25, 0.025, "greater"), 2)    # Duffy (1984)
    0.8
    """
    from scipy.special import bdtr, gammaln, xlog1py, xlogy

    if alternative == "less":
        gained, lost = lost, gained
    differ = min(gained + lost, 1.0)
    if differ == 0:
        return 0.0
    reach = _TAIL * np.sqrt(n_segments * differ * (1 - differ)) + _TAIL**2
    centre = n_segments * differ
    first, last = max(0, int(centre - reach)), min(n_segments, int(centre + reach))
    m = np.arange(first, last + 1)
    ways = gammaln(n_segments + 1) - gammaln(m + 1) - gammaln(n_segments - m + 1)
    weights = np.exp(ways + xlogy(m, differ) + xlog1py(n_segments - m, -differ))
    critical = _critical(first, last, level / 2 if alternative == "two-sided" else level)

    def rejected(share: float) -> Floats:
        return np.where(critical < 0, 0.0, bdtr(np.maximum(critical, 0), m, share))

    found = rejected(lost / differ)
    if alternative == "two-sided":
        found = np.minimum(found + rejected(gained / differ), 1.0)
    return float(np.sum(weights * found))


@lru_cache(maxsize=64)
def _critical(first: int, last: int, tail: float) -> Floats:
    """Return the largest number of lost segments that is rejected, of each m; -1 where none is."""
    from scipy.special import bdtr, bdtrik

    m = np.arange(first, last + 1)
    impossible = np.exp2(-m.astype(np.float64)) > tail
    critical = np.where(impossible, -1, np.floor(bdtrik(tail, np.maximum(m, 1), 0.5)))
    # The inverse may be wrong by one where it is a whole number.
    critical += (critical >= 0) & (critical < m) & (bdtr(critical + 1, m, 0.5) <= tail)
    critical -= (critical >= 0) & (bdtr(np.maximum(critical, 0), m, 0.5) > tail)
    return np.asarray(critical)


def found_from(centred: Floats, errors: Floats, critical: Floats) -> Floats:
    """Return the true difference from which on each draw is significant, sorted, `(B,)`.

    Parameters
    ----------
    centred : ndarray, shape (B,)
        Differences of draws under a true difference of zero.
    errors : ndarray, shape (B,)
        Their standard errors; a draw without one is never significant.
    critical : ndarray, shape (B,)
        How many standard errors are significant: positive above zero, negative below.
    """
    never = np.copysign(np.inf, critical)
    return np.sort(np.where(errors > 0, critical * errors - centred, never))


def share_found(difference: float, above: Floats | None, below: Floats | None) -> float:
    """Return the share of draws that are significant under a true difference.

    `above` and `below` come from `found_from`; `None` stands for a side that is not tested.
    """
    found = 0.0
    if above is not None:
        found += float(np.searchsorted(above, difference, side="right")) / len(above)
    if below is not None:
        found += 1 - float(np.searchsorted(below, difference, side="left")) / len(below)
    return found


def least_difference(power: Callable[[float], float], target: float, largest: float) -> float:
    """Return the least difference whose power reaches the target; infinity if none up to largest.

    `power` must not fall as differences grow.
    """
    if not power(largest) >= target:
        return float("inf")
    low, high = 0.0, largest
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if power(middle) >= target else (middle, high)
    return high


def least_size(power: Callable[[int], float], target: float, least: int = 2) -> int | None:
    """Return a number of segments whose power reaches the target, where one fewer does not.

    The exact test's power is not quite monotone, so that a smaller number may reach it as well.
    `None` where no number does.
    """
    if power(least) >= target:
        return least
    low, high = least, 2 * least
    while power(high) < target:
        if high > _MOST_SEGMENTS:
            return None
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if power(middle) >= target else (middle, high)
    return high


def spread_interval(
    values: Floats, degrees_of_freedom: float, confidence_level: float
) -> tuple[float, float]:
    """Return bounds of the true standard deviation over the sample's, a chi-square interval.

    Its degrees of freedom are those of `spread_degrees`.

    Examples
    --------
    >>> normal = np.array([-1.3, -0.7, -0.2, 0.2, 0.7, 1.3])
    >>> [round(bound, 3) for bound in spread_interval(normal, 5, 0.95)]
    [0.624, 2.453]
    """
    return spread_bounds(spread_degrees(values, degrees_of_freedom), confidence_level)


def spread_degrees(values: Floats, degrees_of_freedom: float) -> float:
    """Return how many degrees of freedom the variance of values has.

    Long tails leave it less certain: a chi-square variable with these degrees varies as much as the
    variance of values of such a kurtosis (Box, 1953; Shoemaker, 2003). Short tails are taken for
    normal ones.
    """
    centred = values - np.mean(values)
    variance = float(np.mean(centred**2))
    excess = float(np.mean(centred**4)) / variance**2 - 3 if variance > 0 else 0.0
    return 2 / (2 / degrees_of_freedom + max(excess, 0.0) / len(values))


def spread_bounds(degrees: float, confidence_level: float) -> tuple[float, float]:
    """Return bounds of a true standard deviation over that of a sample with these degrees."""
    from scipy.special import chdtri

    tail = (1 - confidence_level) / 2
    low, high = (float(np.sqrt(degrees / chdtri(degrees, p))) for p in (tail, 1 - tail))
    return low, high
