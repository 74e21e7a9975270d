"""Smoothing of n-gram precisions of zero in corpus BLEU, by sacreBLEU's names.

Each function maps clipped matches c_n and n-gram counts t_n, arrays `(..., m)` for the orders 1 to
m, to precisions `(..., m)`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from evalstats.metrics.base import Floats as Floats


def unsmoothed(correct: Floats, total: Floats) -> Floats:
    """Return c_n / t_n, and 0 without n-grams (Papineni et al., 2002)."""
    return np.divide(correct, total, where=total > 0, out=np.zeros(np.shape(total)))


def floor(correct: Floats, total: Floats, value: float) -> Floats:
    """Replace zero matches by `value` (Chen and Cherry, 2014, method 1)."""
    return unsmoothed(np.where(correct == 0, value, correct), total)


def exponential(correct: Floats, total: Floats) -> Floats:
    """Halve with every order without a match: 1 / (2^k t_n), k = 1, 2, ... (NIST mteval-v13a)."""
    unmatched = correct == 0
    if np.any(unmatched):
        zeros = np.cumsum((total > 0) & unmatched, axis=-1)
        correct = np.where(unmatched, 0.5**zeros, correct)
    return unsmoothed(correct, total)


def add_k(correct: Floats, total: Floats, value: float) -> Floats:
    """Return (c_n + k) / (t_n + k) above the unigrams (Lin and Och, 2004)."""
    added = np.full(np.shape(total)[-1], value)
    added[:1] = 0.0
    return unsmoothed(correct + added, total + added)


#: Functions of matches and n-grams, and the default of their third argument, if any.
METHODS: dict[str, tuple[Callable[..., Floats], float | None]] = {
    "none": (unsmoothed, None),
    "floor": (floor, 0.1),
    "add-k": (add_k, 1.0),
    "exp": (exponential, None),
}
