"""Arrays in, arrays out: how probable it is that each unit is drawn, the draw, and its worth."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evalstats.metrics.base import Floats, Metric

#: The part of active probabilities that is the same for all, so that none is nearly 0.
_EQUAL = 0.25


def probabilities(sizes: Floats, n: int, squares: Floats | None = None) -> Floats:
    """Return the probability that each unit is drawn, `(U,)`, with n items to be expected.

    The same for all, or in proportion to the root of squared residuals over the size, of units with
    so many items, mixed with what is the same for all. None is above 1.

    >>> probabilities(np.ones(4), 2, np.array([0.0, 1.0, 4.0, 9.0])).round(3).tolist()
    [0.125, 0.375, 0.625, 0.875]
    """
    if squares is None or not np.any(squares > 0):
        return np.full(len(sizes), n / np.sum(sizes))
    roots = np.sqrt(squares / sizes)
    shares = _EQUAL / np.sum(sizes) + (1 - _EQUAL) * roots / np.sum(roots * sizes)
    # What is sure leaves its part to the others.
    sure = np.zeros(len(sizes), dtype=np.bool_)
    while True:
        rest = n - np.sum(sizes[sure])
        found = np.where(sure, 1.0, shares * rest / max(np.sum((shares * sizes)[~sure]), 1e-300))
        if not np.any(above := ~sure & (found >= 1)):
            return found
        sure |= above


def drawn(chances: Floats, strata: NDArray[np.intp], rng: np.random.Generator) -> NDArray[np.intp]:
    """Return which units are drawn with these probabilities: a systematic draw in random order.

    Stratum after stratum, so that each has its part but for one unit.
    """
    order = np.lexsort((rng.random(len(chances)), strata))
    # Sums of probabilities may be whole numbers but for rounding.
    steps = np.floor(np.round(np.cumsum(chances[order]), 9) + rng.random())
    return np.sort(order[np.diff(steps, prepend=0.0) > 0])


def influence(metric: Metric, values: Floats, rows: Floats) -> Floats:
    """Return what rows `(U, k)` add to the score of a system with these `values`, less the mean."""
    found = rows @ metric.gradient(np.sum(values, axis=0))
    return np.asarray(found - np.mean(found))


def residuals(metric: Metric, values: Floats, i: int) -> Floats:
    """Return what rows of system i of K add beyond λ times the others' mean, `(K, U, k) -> (U,)`.

    With the λ of least squares.
    """
    added = influence(metric, values[i], values[i])
    others = influence(metric, values[i], np.mean(np.delete(values, i, axis=0), axis=0))
    squares = float(others @ others)
    weight = min(max(float(added @ others) / squares, 0.0), 1.0) if squares > 0 else 0.0
    return added - weight * others


def residual_squares(metric: Metric, values: Floats) -> Floats:
    """Return the squared residuals to be expected of units, in their mean, `(K, U, k) -> (U,)`.

    Means over few systems are mostly chance: they are shrunk to the mean of all units by the part
    of their variance which is that of a mean of K.
    """
    squares = np.stack([residuals(metric, values, i) ** 2 for i in range(len(values))])
    means = np.mean(squares, axis=0)
    chance = float(np.mean(np.var(squares, axis=0, ddof=1))) / len(values)
    spread = float(np.var(means))
    kept = max(0.0, 1 - chance / spread) if spread > 0 else 0.0
    return np.asarray(kept * means / (np.mean(means) or 1.0) + (1 - kept))


def penalty(residual: Floats, chances: Floats) -> float:
    """Return the variance that the draw adds to a total of these residuals, `(U,)` (Hájek, 1964).

    Σ(1 - π)/π·(e - πB)², with B that of least squares, since as many are drawn whatever is drawn.
    """
    odds = (1 - chances) / chances
    size = float(np.sum((1 - chances) * chances))
    level = float(np.sum((1 - chances) * residual)) / size if size > 0 else 0.0
    return float(np.sum(odds * (residual - chances * level) ** 2))
