"""How much each segment moves a score: influence values, jackknife scores, standard errors.

Influence values come from the gradient alone (the infinitesimal jackknife; Jaeckel, 1972; Efron
and Tibshirani, 1993, chapter 21): the score's derivative by a segment's weight. They cost one
small matrix product and give a standard error without any resampling.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evalstats.metrics.base import Metric


def influence_values(metric: Metric, statistics: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return each segment's influence on the corpus score, `(S, N, k) -> (S, N)`.

    The derivative of the score by the segment's weight, ∇f(T)·s_i, centred. For BLEU, chrF, TER
    and every other score that does not change when the corpus is doubled, the values sum to zero
    by themselves; centring makes the rest (where smoothing acts) comparable.
    """
    gradient = metric.gradient(np.sum(statistics, axis=1))
    influence = np.einsum("snk,sk->sn", statistics, gradient)
    return np.asarray(influence - np.mean(influence, axis=1, keepdims=True))


def jackknife_scores(metric: Metric, statistics: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the scores of the corpus without each segment in turn, `(S, N, k) -> (S, N)`."""
    return metric.score(np.sum(statistics, axis=1, keepdims=True) - statistics)


def with_unseen(influence: NDArray[np.float64]) -> NDArray[np.float64]:
    """Add two segments that differ as much as any, one either way, `(N,) -> (N + 2,)`.

    Where few segments differ, their number is what is uncertain, and the spread of those that were
    seen says too little. For 0/1 scores this is the interval of Bonett and Price (2012).
    """
    largest = np.max(np.abs(influence))
    return np.concatenate([influence, [-largest, largest]])


def standard_error(influence: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the infinitesimal-jackknife standard error, `(..., N) -> (...)`.

    √(N/(N-1) Σ ℓ_i²); for a mean this is the textbook s/√N.
    """
    n = influence.shape[-1]
    return np.asarray(np.sqrt(n / (n - 1) * np.sum(influence**2, axis=-1)))
