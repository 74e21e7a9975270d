"""The share of a score a that the score b keeps (after Fieller, 1954).

A ratio r is tested with b - r·a, whose standard error √(v_b - 2cr + v_a r²) depends on r. If a does
not differ significantly from 0, the ratios that are not rejected are not an interval. So a share r
of a counts as kept only if every smaller share is; the kept shares are then all shares up to a
bound.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evalstats.inference.student import standardised


class Pair(NamedTuple):
    """Scores a and b with the standard errors of a, of b and of b - a."""

    a: float
    b: float
    error_a: float
    error_b: float
    error_difference: float

    def scaled(self) -> Pair:
        """Return the same in units of the largest, so that squares do not overflow."""
        unit = max(map(abs, self)) or 1.0
        return Pair(*(value / unit for value in self))

    @property
    def squares(self) -> tuple[float, float, float]:
        """Variances of a and b, and their covariance."""
        v_a, v_b = self.error_a**2, self.error_b**2
        return v_a, v_b, (v_a + v_b - self.error_difference**2) / 2

    def t(self, ratio: float) -> float:
        """Return (b - r·a) over its standard error; 0 for a distance of 0."""
        # As (b - a) + (1 - r)·a, to avoid cancellation in the error of b - a.
        rest = 1 - ratio
        distance = self.b - self.a + rest * self.a
        v_a, _, covariance = self.squares
        square = self.error_difference**2 + rest * 2 * (covariance - v_a) + rest**2 * v_a
        return standardised(distance, float(np.sqrt(max(square, 0.0))))


def t_between(pair: Pair, low: float, high: float) -> tuple[float, float]:
    """Return the least and the largest t(r) of ratios from `low` to `high`.

    t has one stationary point, r = (a·v_b - b·c)/(a·c - b·v_a).
    """
    pair = pair.scaled()
    ends = [pair.t(low), pair.t(high)]
    v_a, v_b, covariance = pair.squares
    below = pair.a * covariance - pair.b * v_a
    if below:
        between = (pair.a * v_b - pair.b * covariance) / below
        if low < between < high:
            ends.append(pair.t(between))
    return min(ends), max(ends)


def kept(pair: Pair, quantile: float) -> float:
    """Return the bound below which t(r) > quantile for every r from 0 on, or 0.

    Examples
    --------
    >>> round(kept(Pair(10.0, 12.0, 1.0, 1.0, 2**0.5), 1.96), 3)
    0.932
    >>> kept(Pair(1.0, 1.2, 1.0, 1.0, 2**0.5), 1.96)    # b is not significant
    0.0
    """
    pair = pair.scaled()
    if not pair.t(0.0) > quantile:
        return 0.0
    # a² - q²v_a, ab - q²c, and a quarter of the discriminant of t(r)² = q².
    v_a, v_b, covariance = pair.squares
    lead = pair.a**2 - quantile**2 * v_a
    middle = pair.a * pair.b - quantile**2 * covariance
    last = pair.b**2 - quantile**2 * v_b
    rest = middle**2 - lead * last
    if rest < 0:
        return np.inf
    root = float(np.sqrt(rest))
    # Either side of the parabola lead·r² - 2·middle·r + last, without cancelling.
    far = middle + root if middle > 0 else middle - root
    roots = [far / lead if lead else np.inf, last / far if far else np.inf]
    return min((r for r in roots if r > 0 and pair.b > r * pair.a), default=np.inf)
