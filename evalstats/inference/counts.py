"""Intervals and tests of 0/1 scores: shares, and differences of shares of the same items.

Resampling few items is misleading: if no item differs, or none fails, all replicates are equal.
Items in groups or strata count as their effective number, and the normal quantile becomes that of t
(Kott and Carr, 1997; Dean and Pagano, 2015). Roots of functions are found without `scipy.optimize`,
which is slow to load.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from evalstats.inference.student import standardised

#: Four times the spacing of floats near 1, as in `scipy.optimize`.
_RELATIVE = 4 * 2.0**-52


def wilson(share: float, n: float, quantile: float) -> tuple[float, float]:
    """Return the score interval of a share of n items (Wilson, 1927).

    All p with ``(p̂ - p)² <= z² p(1 - p)/n``, with the quantile z.

    >>> [round(x, 3) for x in wilson(1.0, 10, 1.959964)]
    [0.722, 1.0]
    """
    square = quantile * quantile / n
    centre = (share + square / 2) / (1 + square)
    half = np.sqrt(square * (share * (1 - share) + square / 4)) / (1 + square)
    # Rounding may exceed the range slightly if all items succeed, or none.
    low = 0.0 if share <= 0 else float(centre - half)
    high = 1.0 if share >= 1 else float(centre + half)
    return low, high


def tango(gained: float, lost: float, n: float, quantile: float) -> tuple[float, float]:
    r"""Return the score interval of a difference of paired shares (Tango, 1998).

    All differences Δ that the score test does not reject,

    .. math:: |b - c - n\Delta| \le z \sqrt{n (2 \tilde q + \Delta (1 - \Delta))}

    with b of n items gained (only the system succeeds on them), c lost, z the quantile, and q̃ the
    maximum-likelihood share of lost items given Δ.

    Examples
    --------
    >>> [round(x, 3) for x in tango(0, 0, 100, 1.959964)]
    [-0.037, 0.037]
    """
    # In the same steps, so that the order of the two systems does not change a bit.
    low = upper_limit(partial(tango_distance, lost, gained, n), (lost - gained) / n, quantile)
    high = upper_limit(partial(tango_distance, gained, lost, n), (gained - lost) / n, quantile)
    return -low, high


def upper_limit(distance: Callable[[float], float], observed: float, quantile: float) -> float:
    """Return the largest difference that the score test does not reject, 1 at most."""
    end = 1 - 1e-12  # at 1 nothing varies
    if observed >= end or distance(end) + quantile >= 0:
        return 1.0
    return root(lambda difference: distance(difference) + quantile, observed, end)


def tango_distance(gained: float, lost: float, n: float, difference: float) -> float:
    """Return Tango's (1998) score statistic of a difference: normal under it, positive above it.

    For a difference of 0 its square is McNemar's (1947), (b - c)²/(b + c).

    >>> tango_distance(12, 4, 50, 0.0)
    2.0
    """
    if difference < 0:
        # The same with the two systems exchanged, to the bit.
        return -tango_distance(lost, gained, n, -difference)
    variance = tango_variance(gained, lost, n, difference)
    distance = gained - lost - n * difference
    # A difference of more than all items is impossible, so its distance is infinite.
    return standardised(distance, float(np.sqrt(max(variance, 0.0))) if difference < 1 else 0.0)


def tango_variance(gained: float, lost: float, n: float, difference: float) -> float:
    """Return the maximum-likelihood variance of items gained minus lost, given a difference.

    n (2q̃ + Δ(1 - Δ)), with the maximum-likelihood share q̃ of lost items given Δ (Tango, 1998). For
    a difference of 0 it is b + c.

    >>> tango_variance(12, 4, 50, 0.0), round(tango_variance(0, 0, 50, 0.1), 9)
    (16.0, 4.5)
    """
    if difference < 0:
        return tango_variance(lost, gained, n, -difference)
    linear = (2 * n - gained + lost) * difference - gained - lost
    root = np.sqrt(linear**2 + 8 * n * lost * difference * (1 - difference))
    return float(n * ((root - linear) / (2 * n) + difference * (1 - difference)))


def exact_mcnemar(gained: int, lost: int, share: float = 0.5) -> float:
    """Return the two-sided p-value of the exact form of McNemar's (1947) test, the sign test.

    With m changed items, twice the probability that at most min(gained, lost) of m fair coins show
    heads. For counts from samples of different size, the first is expected to be a `share` of both
    (Przyborowski and Wilenski, 1940).

    >>> exact_mcnemar(4, 0)
    0.125
    """
    from scipy.special import bdtr

    below = bdtr(gained, gained + lost, share), bdtr(lost, gained + lost, 1 - share)
    return min(1.0, 2.0 * float(min(below)))


def root(
    function: Callable[[float], float], low: float, high: float, width: float = 2e-12
) -> float:
    """Return the root of a function with different signs at the ends, to within a width.

    Brent's (1973) method by the steps of `scipy.optimize.brentq`, to the bit.

    >>> root(lambda x: x * x - 2, 0.0, 2.0)
    1.4142135623731364
    """
    before, current = low, high
    at_before, at_current = function(before), function(current)
    if at_before == 0:
        return before
    other, at_other, last, step = before, at_before, current - before, current - before
    while at_current != 0:
        if (at_before < 0) != (at_current < 0):
            other, at_other = before, at_before
            last = step = current - before
        if abs(at_other) < abs(at_current):
            before, current, other = current, other, current
            at_before, at_current, at_other = at_current, at_other, at_current
        least, half = (width + _RELATIVE * abs(current)) / 2, (other - current) / 2
        if abs(half) < least:
            break
        tried = half
        if abs(last) > least and abs(at_current) < abs(at_before):
            if before == other:
                tried = -at_current * (current - before) / (at_current - at_before)
            else:
                a = (at_before - at_current) / (before - current)
                b = (at_other - at_current) / (other - current)
                tried = (
                    -at_current * (at_other * b - at_before * a) / (b * a * (at_other - at_before))
                )
        # If interpolation is slower than halving, halve.
        is_short = 2 * abs(tried) < min(abs(last), 3 * abs(half) - least)
        last, step = (step, tried) if is_short else (half, half)
        before, at_before = current, at_current
        current += step if abs(step) > least else (least if half > 0 else -least)
        at_current = function(current)
    return current
