"""Exact tests of two shares, x of n against y of m: p-values of many tables at once."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: Probabilities, and p-values, that differ by less than this share are the same.
_SAME = 1 + 1e-9
#: Shares over which the largest p-value is taken, and so many of them at a time.
_GRID, _AT_ONCE = 1001, 50


@lru_cache(maxsize=4096)
def fisher(n: int, m: int, total: int) -> Floats:
    """Return Fisher's two-sided p-values (1935) of x of n against total - x of m, of each x.

    x goes from max(0, total - m) to min(n, total). The p-value is the probability, with the total
    as it is, of what is at most as probable.

    >>> fisher(5, 5, 5).round(4).tolist()
    [0.0079, 0.2063, 1.0, 1.0, 0.2063, 0.0079]
    """
    from scipy.stats import hypergeom

    x = np.arange(max(0, total - m), min(n, total) + 1)
    chances: Floats = np.asarray(hypergeom.pmf(x, n + m, total, n))
    order = np.sort(chances)
    last = np.searchsorted(order, chances * _SAME, side="right") - 1
    return np.minimum(np.cumsum(order)[last], 1.0)


@lru_cache(maxsize=256)
def boschloo(n: int, m: int) -> Floats:
    """Return the two-sided p-value of Boschloo's test (1970), `(n + 1, m + 1)`.

    Twice the smaller one-sided p-value, at most 1: the largest chance, over shares π that both
    have, of tables whose one-sided p-value by Fisher is at most as small. The shares are sin²θ of
    1,001 values of θ, at which the variance of a share is the same everywhere.

    >>> print(boschloo(5, 5)[5, 0].round(5))
    0.00195
    """
    from scipy.stats import binom, hypergeom

    x, y = np.arange(n + 1)[:, None], np.arange(m + 1)[None, :]
    less: Floats = np.asarray(hypergeom.cdf(x, n + m, x + y, n))
    greater: Floats = np.asarray(hypergeom.sf(x - 1, n + m, x + y, n))
    shares = np.sin(np.linspace(0, np.pi / 2, _GRID)) ** 2
    pvalues = np.ones(less.size)
    for one_sided in (less.ravel(), greater.ravel()):
        order = np.argsort(one_sided, kind="stable")
        # A table is at most as small as all that are not clearly larger.
        last = np.searchsorted(one_sided[order], one_sided * _SAME, side="right") - 1
        largest = np.zeros(less.size)
        for block in np.array_split(shares, -(-_GRID // _AT_ONCE)):
            first: Floats = np.asarray(binom.pmf(x.T, n, block[:, None]))
            second: Floats = np.asarray(binom.pmf(y, m, block[:, None]))
            chances = (first[:, :, None] * second[:, None, :]).reshape(len(block), -1)
            sums = np.cumsum(chances[:, order], axis=1)
            np.maximum(largest, sums.max(axis=0), out=largest)
        pvalues = np.minimum(pvalues, 2 * largest[last])
    return np.asarray(pvalues.reshape(less.shape))
