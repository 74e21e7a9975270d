"""Rates of classes and agreement beyond chance, as functions of three sums a class.

Sums are `(..., K, 3)`: of each class the items that have it both predicted and gold (hits), that
have it predicted, that have it gold. Every function returns a score and its gradient.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evalstats.metrics.ratios import ratio, ratio_gradient

Floats = NDArray[np.float64]

#: Rates of a class: a factor on its hits, and the coefficients of hits, predicted and gold in what
#: they are divided by.
RATES: dict[str, tuple[float, tuple[float, float, float]]] = {
    "f1": (2.0, (0.0, 1.0, 1.0)),
    "precision": (1.0, (0.0, 1.0, 0.0)),
    "recall": (1.0, (0.0, 0.0, 1.0)),
    "iou": (1.0, (-1.0, 1.0, 1.0)),
}
#: The share of squared sums below which their difference is rounding.
_ROUNDING = 1e-14


def over(top: Floats, bottom: Floats) -> Floats:
    """Return the quotient of what broadcasts to the shape of `top`, 0 where it is undefined."""
    return ratio(top, np.broadcast_to(bottom, top.shape), 0.0)


def rates_of(parts: Floats, rate: str) -> tuple[Floats, Floats]:
    """Return a rate of each class, `(..., K, 3) -> (..., K)`, and its gradient `(..., K, 3)`."""
    factor, (by_hits, by_predicted, by_gold) = RATES[rate]
    hits, predicted, gold = (parts[..., j] for j in range(3))
    below = by_hits * hits + by_predicted * predicted + by_gold * gold
    of_top, of_below = ratio_gradient(factor * hits, below, 1.0)
    slopes = of_below[..., None] * np.array(RATES[rate][1])
    slopes[..., 0] += factor * of_top
    return ratio(factor * hits, below, 0.0), slopes


def beyond_chance(parts: Floats, correlation: bool) -> tuple[Floats, Floats]:
    """Return kappa (Cohen, 1960) or MCC (Gorodkin, 2004), `(..., K, 3) -> (...)`, and gradient.

    One class only, predicted or gold, leaves nothing to agree on or to correlate: 0.
    """
    hits, predicted, gold = (parts[..., j] for j in range(3))
    nothing = np.zeros_like(hits)
    items, right = (np.sum(x, axis=-1, keepdims=True) for x in (gold, hits))
    chance = np.sum(predicted * gold, axis=-1, keepdims=True)
    top = items * right - chance
    by_top = np.stack([items + nothing, -gold, right - predicted], axis=-1)
    if correlation:
        # Weights that are no whole numbers leave a rounding error where there is one class.
        sides = [items**2 - np.sum(x**2, axis=-1, keepdims=True) for x in (predicted, gold)]
        first, second = (np.where(side > _ROUNDING * items**2, side, 0.0) for side in sides)
        bottom = np.sqrt(first * second)
        by_first = np.stack([nothing, -2 * predicted, 2 * items + nothing], axis=-1)
        by_second = np.stack([nothing, nothing, 2 * (items - gold)], axis=-1)
        relative = over(by_first, first[..., None]) + over(by_second, second[..., None])
        by_bottom = bottom[..., None] * relative / 2
    else:
        bottom = items**2 - chance
        by_bottom = np.stack([nothing, -gold, 2 * items - predicted], axis=-1)
    score = over(top, bottom)
    change = by_top - score[..., None] * by_bottom
    return score[..., 0], over(change, bottom[..., None])
