"""Differences in units of their own standard error, as they are and after swaps.

Approximate randomisation swaps two systems' outputs at random. It is exact where the systems are
exchangeable. Where only their scores are equal it is not: after swaps both systems are alike, and
the spread of their difference need not be that of the difference of two unlike systems. Dividing
every difference by its own standard error mends that where the score is smooth: the test stays
exact under exchangeability and holds its level asymptotically where only the scores are equal
(Janssen, 1997; Chung and Romano, 2013). Where the score has a kink between the two systems, as BLEU
has at a length ratio of 1, it still rejects too often, and `compare` asks a t test as well.

With the rows a and b of a segment, their mean m = (a + b)/2, half their difference e = (b - a)/2
and a sign s = ±1, the swapped rows are m - s·e and m + s·e. With the gradients g and g' of the
score at the totals of each system, the influence of the segment on their difference is

    u = m·(g' - g) + s·e·(g' + g),

two matrix products for all segments and arrangements.

Where units are few and some weigh much, as documents do, a t of skewed differences is far out on
one side too often. Hall's transformation takes that off (`inference.skewness`), with the skewness
of each arrangement from two sums: of v and v³, the linear part v = s·2e·∇f of the influence values,
whose size no swap changes. The test stays exact under exchangeability.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evalstats.metrics.base import Metric

Floats = NDArray[np.float64]

#: A standard error that is so small a share of its difference is what rounding left of none.
_ROUNDING = 1e-8


def skew_columns(metric: Metric, first: Floats, second: Floats) -> Floats:
    """Return v and v³ of every segment, `(N, 2)`, v as a share of the largest.

    `skewness.of_signed` makes the skewness of an arrangement of their signed sums.
    """
    values = (second - first) @ metric.gradient(np.sum(first + second, axis=0) / 2)
    largest = np.max(np.abs(values))
    if largest > 0:
        values = values / largest
    return np.stack([values, values * values * values], axis=1)


def studentised_difference(metric: Metric, first: Floats, second: Floats) -> float:
    """Return the difference of two systems' scores, second - first, over its standard error.

    Parameters
    ----------
    metric : Metric
    first, second : ndarray, shape (N, k)
        Statistics of every segment.
    """
    totals = np.sum(first, axis=0), np.sum(second, axis=0)
    difference = metric.score(totals[1]) - metric.score(totals[0])
    values = second @ metric.gradient(totals[1]) - first @ metric.gradient(totals[0])
    n = len(values)
    variance = n / (n - 1) * np.sum((values - np.mean(values)) ** 2)
    return float(ratio(np.asarray(difference), np.asarray(variance)))


class Swaps:
    """Differences of two systems after swaps, over their standard errors.

    Parameters
    ----------
    metric : Metric
    first, second : ndarray, shape (N, k)
        Statistics of every segment.
    moved : ndarray, shape (B, k)
        What moves from the second system to the first, Σ (b - a) over the swapped segments.

    Attributes
    ----------
    powers : ndarray, shape (N, 2)
        Those of `skew_columns`.
    power_sums : ndarray, shape (B, 2)
        Their signed sums, of what was added.
    """

    def __init__(self, metric: Metric, first: Floats, second: Floats, moved: Floats) -> None:
        self.mean, self.half = (first + second) / 2, (second - first) / 2
        totals = np.sum(first, axis=0) + moved, np.sum(second, axis=0) - moved
        gradients = metric.gradient(totals[0]), metric.gradient(totals[1])
        self.change, self.both = gradients[1] - gradients[0], gradients[1] + gradients[0]
        self.differences = metric.score(totals[1]) - metric.score(totals[0])
        self.sums = np.einsum("bk,bk->b", gradients[1], totals[1])
        self.sums -= np.einsum("bk,bk->b", gradients[0], totals[0])
        self.squares = np.empty(len(moved))
        self.powers = skew_columns(metric, first, second)
        self.power_sums = np.empty((len(moved), 2))

    def add(self, some: slice, signs: Floats) -> None:
        """Reckon with some arrangements, whose signs `(R, N)` are -1 for segments that swap."""
        values = self.both[some] @ self.half.T
        values *= signs
        values += self.change[some] @ self.mean.T
        self.squares[some] = np.einsum("bn,bn->b", values, values)
        self.power_sums[some] = signs @ self.powers

    def ratios(self) -> Floats:
        """Return the differences over their standard errors, `(B,)`, of what was added."""
        n = len(self.mean)
        return ratio(self.differences, n / (n - 1) * (self.squares - self.sums**2 / n))


def ratio(difference: Floats, variance: Floats) -> Floats:
    """Return differences over the roots of their variances; 0 stays 0, whatever its variance."""
    # A difference without spread, but for rounding, lies infinitely many standard errors from zero.
    far = np.where(difference == 0, 0.0, np.copysign(np.inf, difference))
    spread = (variance > (_ROUNDING * difference) ** 2) & (difference != 0)
    return np.divide(difference, np.sqrt(np.abs(variance)), where=spread, out=far)
