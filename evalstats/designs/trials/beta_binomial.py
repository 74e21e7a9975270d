"""Right answers of items whose rates have a beta distribution: the likelihood on a fine grid."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
#: Values of each parameter, over all and then where the posterior lies.
_GRID = 100
#: Less dense parts of the posterior than such a share of its top are left out.
_DENSITY = 1e-7


def correlation_interval(trials: Floats, right: Floats, alpha: float) -> tuple[float, float]:
    """Return the interval of confidence 1 - α of the correlation of two trials of an item.

    Of N items with so many trials, and right ones, `(N,)` each. The rates of items have a beta
    distribution, so that right answers are beta-binomial (Skellam, 1948) with a mean and a
    correlation (Crowder, 1978); of a uniform prior of both, from 0 to 1, α/2 of the posterior of
    the correlation lies on either side.

    >>> three = np.full(20, 3.0)
    >>> low, high = correlation_interval(three, np.repeat([0.0, 3.0], 10), 0.05)
    >>> print(f"{low:.2f} {high:.2f}")
    0.80 1.00
    """
    from scipy.special import betaln

    kinds, counts = np.unique(np.stack([trials, right]), axis=1, return_counts=True)
    low, high = np.zeros(2), np.ones(2)
    for is_last in (False, True):
        steps = (high - low) / _GRID
        mean, correlation = low[:, None] + steps[:, None] * (np.arange(_GRID) + 0.5)
        size = 1 / correlation - 1
        a, b = np.outer(mean, size), np.outer(1 - mean, size)
        logs = -len(trials) * betaln(a, b)
        for (n, c), count in zip(kinds.T, counts, strict=True):
            logs += count * betaln(a + c, b + n - c)
        density = np.exp(logs - np.max(logs))
        if not is_last:
            for i in range(2):
                along = np.max(density, axis=1 - i)
                first, *_, last = np.flatnonzero(along > _DENSITY).repeat(2)
                low[i], high[i] = low[i] + steps[i] * first, low[i] + steps[i] * (last + 1)
    below = np.append(0.0, np.cumsum(density.sum(axis=0)))
    edges = np.linspace(low[1], high[1], _GRID + 1)
    found = np.interp([alpha / 2, 1 - alpha / 2], below / below[-1], edges)
    return float(found[0]), float(found[1])
