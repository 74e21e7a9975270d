"""How much each segment moves a score: influence values, and the scores without each segment."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalstats.metrics.base import Metric

Floats = NDArray[np.float64]


def influence_values(metric: Metric, statistics: NDArray[Any]) -> Floats:
    """Return each segment's influence on the corpus score, `(S, N, k) -> (S, N)`.

    The derivative of the score by the segment's weight (the infinitesimal jackknife; Jaeckel,
    1972), ∇f(T)·s_i, centred: of a score that does not change when the corpus is doubled, as BLEU,
    the values sum to zero by themselves.
    """
    gradient = metric.gradient(np.sum(statistics, axis=1, dtype=np.float64))
    found = np.einsum("snk,sk->sn", statistics.astype(np.float64, copy=False), gradient)
    return np.asarray(found - np.mean(found, axis=1, keepdims=True))


def jackknife_scores(metric: Metric, statistics: NDArray[Any]) -> Floats:
    """Return the scores of the corpus without each segment in turn, `(S, N, k) -> (S, N)`."""
    return metric.score(np.sum(statistics, axis=1, keepdims=True, dtype=np.float64) - statistics)
