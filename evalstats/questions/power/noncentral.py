"""Power: how often a test finds a difference of a given size, and the size that it needs.

The t test's power is the noncentral t distribution's (Cohen, 1988). The score test of paired 0/1
scores divides the difference by √ψ, for a share ψ of segments that differ, while the standard
deviation of the difference is √(ψ - δ²) (Miettinen, 1968; Connor, 1987): t with infinitely many
degrees of freedom, and a critical value that is √ψ/√(ψ - δ²) times as long. `docs/power.md` has the
formulas.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence

import numpy as np

from evalstats.inference.counts import root
from evalstats.inference.distributions import (
    noncentral_t_above,
    normal_cdf,
    t_quantile,
)
from evalstats.inference.student import Runs, Spread

#: From this many degrees of freedom on, t distributions are taken as normal.
_NORMAL = 1e5
#: The largest difference tried, in standard errors.
_FAR = 1e4
#: Least variance of shares if every segment is gained, and the most segments of a plan.
_LEAST_VARIANCE, _MOST = 1e-6, 10**15


def t_power(
    noncentrality: float, degrees: float, level: float, sides: int = 2, stretch: float = 1.0
) -> float:
    """Return the probability that a t test with these degrees of freedom rejects at a level.

    The noncentrality is the true difference over the standard error, on the tested side if
    one-sided; the critical value is multiplied by the stretch.

    >>> round(t_power(0.2 * 10, 99, 0.05), 4)    # 100 differences, 0.2 standard deviations
    0.5083
    """
    is_normal, tail = degrees >= _NORMAL, level / sides
    critical = -stretch * t_quantile(tail, np.inf if is_normal else degrees)

    def beyond(shift: float) -> float:
        if is_normal:
            return normal_cdf(shift - critical)
        return noncentral_t_above(critical, min(shift, _FAR), degrees)

    # Rounding may exceed the range slightly.
    return min(1.0, beyond(noncentrality) + (beyond(-noncentrality) if sides == 2 else 0.0))


def of_runs(segments: Spread, runs: Sequence[Runs]) -> tuple[float, float, float]:
    """Return error, degrees of freedom and stretch of the t of means over runs, for `t_power`.

    `student.with_runs` estimates the mean squares m, with d degrees of freedom each. Two biases of
    this estimate are corrected. A negative component counts as 0, so standard errors are too large;
    the stretch is the average factor, if the sum of the runs' mean squares has Satterthwaite's
    degrees of freedom. And the squares of estimated mean squares are m²(1 + 2/d) on average, so
    Satterthwaite's formula gives fewer degrees of freedom than with the true m.
    """
    # As shares, since fourth powers of large or small scores overflow.
    scale = segments.error**2 + sum(between for between, _, _ in runs)
    true = expected = segments.error**2 / scale
    parts = [(true, segments.degrees), *((between / scale, n - 1.0) for between, _, n in runs)]
    between, both = (sum(run[i] for run in runs) / scale for i in (0, 1))
    if between > 0:
        from scipy.special import chdtrc

        true += max(between - both, 0.0)
        d = between**2 / sum(m * m / degrees for m, degrees in parts[1:])
        least = d * both / between
        expected += float(between * chdtrc(d + 2, least) - both * chdtrc(d, least))
    noise = sum(m * m / d for m, d in parts)
    squares = sum(m * m / d * (1 + 2 / d) for m, d in parts)
    return (true * scale) ** 0.5, (expected**2 + 2 * noise) / squares, (expected / true) ** 0.5


def mcnemar_power(
    difference: float,
    discordant: float,
    n_segments: float,
    level: float,
    sides: int = 2,
    degrees: float = np.inf,
) -> float:
    """Return the power of McNemar's score test of a difference of paired shares.

    The discordant share (gained or lost) is at least `difference`. Segments in groups or strata
    have an effective number, and t's degrees of freedom.

    >>> round(mcnemar_power(0.4, 0.5, 22, 0.05), 2)    # Connor (1987): 22 for 0.8
    0.8
    """
    psi = max(discordant, difference)
    variance = max(psi - difference**2, _LEAST_VARIANCE)
    shift, stretch = difference * (n_segments / variance) ** 0.5, (psi / variance) ** 0.5
    return t_power(shift, degrees, level, sides, stretch)


def share_power(
    number: float,
    share: float,
    n_segments: float,
    level: float,
    sides: int = 1,
    degrees: float = np.inf,
) -> float:
    """Return the power of the one-sided score test of a share against a number.

    The test uses the standard error at the number; the share itself has another (Fleiss, Levin and
    Paik, 2003, section 2.4).

    >>> round(share_power(0.9, 0.93, 558, 0.05), 2)    # for 0.8
    0.8
    """
    variance = max(share * (1 - share), _LEAST_VARIANCE)
    shift = abs(share - number) * (n_segments / variance) ** 0.5
    stretch = (number * (1 - number) / variance) ** 0.5
    return t_power(shift, degrees, level, sides, stretch)


def least_difference(power: Callable[[float], float], target: float, step: float) -> float | None:
    """Return the least difference whose power reaches the target, if any up to many steps does.

    `power` must not fall as differences grow.
    """
    # In steps, since the root is found to within 2e-12.
    high = 1.0
    while power(high * step) < target:
        if high > _FAR:
            return None
        high *= 2
    return step * root(lambda steps: power(steps * step) - target, 0.0, high)


def least_size(power: Callable[[int], float], target: float) -> int | None:
    """Return the least number from 2 on whose power reaches the target; `None` if none does.

    `power` must not fall as numbers grow.
    """
    sizes = range(2, _MOST)
    place = bisect_left(sizes, target, key=power)
    return sizes[place] if place < len(sizes) else None
