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
    0.79 1.00
    """
    _, correlations, density = _posterior(trials, right)
    below = np.append(0.0, np.cumsum(density.sum(axis=0)))
    half = (correlations[1] - correlations[0]) / 2
    edges = np.append(correlations - half, correlations[-1] + half)
    found = np.interp([alpha / 2, 1 - alpha / 2], below / below[-1], edges)
    return float(found[0]), float(found[1])


def chance_in_trials(trials: Floats, right: Floats, k: int) -> Floats:
    """Return the variance of C(c, k)/C(K, k), of c of K trials right, by chance in trials, `(N,)`.

    What is expected of an item of which so many are right: rates have the beta distribution of the
    posterior's means, whatever k is.

    >>> chance_in_trials(np.full(40, 4.0), np.repeat([4.0, 2.0], 20), 1).round(3)[[0, -1]].tolist()
    [0.025, 0.052]
    """
    from scipy.special import betaln, comb
    from scipy.stats import betabinom

    means, correlations, density = _posterior(trials, right)
    mean, correlation = (
        float(of @ density.sum(axis=1 - i) / density.sum())
        for i, of in enumerate((means, correlations))
    )
    size = 1 / correlation - 1
    found = np.empty(len(trials))
    for n, c in np.unique(np.stack([trials, right]), axis=1).T:
        a, b = mean * size + c, (1 - mean) * size + n - c
        each = np.arange(n + 1)
        square = np.sum((comb(each, k) / comb(n, k)) ** 2 * betabinom.pmf(each, n, a, b))
        squared = np.exp(betaln(a + 2 * k, b) - betaln(a, b))
        found[(trials == n) & (right == c)] = max(square - squared, 0.0)
    return found


def _posterior(trials: Floats, right: Floats) -> tuple[Floats, Floats, Floats]:
    """Return values of mean and correlation, `(G,)` each, and the posterior there, `(G, G)`."""
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
    return mean, correlation, density
