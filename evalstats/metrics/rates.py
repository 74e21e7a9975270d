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
    """Return a rate of each class, `(..., K, 3) -> (..., K)`, and how many items it is a share of.

    F1 is the share of hits among half of what is predicted and gold together.
    """
    factor, coefficients = RATES[rate]
    below = sum(c * parts[..., j] for j, c in enumerate(coefficients))
    return ratio(factor * parts[..., 0], np.asarray(below), 0.0), np.asarray(below / factor)


def slopes_of(parts: Floats, rate: str) -> Floats:
    """Return the gradients of the rates by the sums of their classes, `(..., K, 3)`."""
    sizes = rates_of(parts, rate)[1]
    factor, coefficients = RATES[rate]
    by_hits, by_sizes = ratio_gradient(parts[..., 0], sizes, 1.0)
    slopes = by_sizes[..., None] * (np.array(coefficients) / factor)
    slopes[..., 0] += by_hits
    return slopes


def weights_of(parts: Floats, average: str, omit: bool) -> Floats:
    """Return the weights of classes in an average, `(..., K, 3) -> (..., K)`.

    With `omit`, a class that is nowhere has none in a macro-average; in a balanced one no class
    has that is not gold.
    """
    gold = parts[..., 2]
    if average == "weighted":
        return over(gold, np.sum(gold, axis=-1, keepdims=True))
    counting = gold if average == "balanced" else parts[..., 1] + gold
    counts = (counting > 0) | (average != "balanced" and not omit)
    return np.asarray(counts / np.maximum(np.sum(counts, axis=-1, keepdims=True), 1))


def beyond_chance(parts: Floats, correlation: bool) -> Floats:
    """Return kappa (Cohen, 1960) or MCC (Gorodkin, 2004), `(..., K, 3) -> (...)`.

    One class only, predicted or gold, leaves nothing to agree on or to correlate: 0.
    """
    top, *sides = _beyond(parts, correlation)
    return ratio(top, np.sqrt(sides[0] * sides[1]), 0.0)


def beyond_chance_gradient(parts: Floats, correlation: bool) -> Floats:
    """Return the gradient of kappa or MCC, `(..., K, 3)`."""
    hits, predicted, gold = (parts[..., j] for j in range(3))
    nothing = np.zeros_like(hits)
    items, right = (np.sum(x, axis=-1, keepdims=True) for x in (gold, hits))
    top, first, second = (x[..., None] for x in _beyond(parts, correlation))
    bottom = np.sqrt(first * second)
    by_top = np.stack([items + nothing, -gold, right - predicted], axis=-1)
    if correlation:
        by_first = np.stack([nothing, -2 * predicted, 2 * items + nothing], axis=-1)
        by_second = np.stack([nothing, nothing, 2 * (items - gold)], axis=-1)
    else:
        by_first = by_second = np.stack([nothing, -gold, 2 * items - predicted], axis=-1)
    relative = over(by_first, first[..., None]) + over(by_second, second[..., None])
    score = over(top, bottom)
    return over(by_top, bottom[..., None]) - score[..., None] * relative / 2


def right_of_all(parts: Floats, correlation: bool) -> tuple[Floats, Floats, Floats]:
    """Return what the share of right items counts in kappa or MCC, the share, and the items.

    `(..., 1)` each; sums of predicted and of gold classes are taken as they are.
    """
    _, first, second = _beyond(parts, correlation)
    right, _, items = (np.sum(parts[..., j], axis=-1) for j in range(3))
    weights = over(items**2, np.sqrt(first * second))
    return weights[..., None], over(right, items)[..., None], items[..., None]


def _beyond(parts: Floats, correlation: bool) -> tuple[Floats, Floats, Floats]:
    """Return agreement beyond chance, and the two factors whose root it is divided by."""
    hits, predicted, gold = (parts[..., j] for j in range(3))
    items, right, chance = (np.sum(x, axis=-1) for x in (gold, hits, predicted * gold))
    if not correlation:
        side = items**2 - chance
        return items * right - chance, side, side
    # Weights that are no whole numbers leave a rounding error where there is one class.
    sides = [items**2 - np.sum(x**2, axis=-1) for x in (predicted, gold)]
    first, second = (np.where(side > _ROUNDING * items**2, side, 0.0) for side in sides)
    return items * right - chance, first, second
