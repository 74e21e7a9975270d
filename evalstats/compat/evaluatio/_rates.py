"""The four functions that WER, CER and UER share, from edits and reference lengths `(N, 2)`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.bleu import ConfidenceInterval
from evalstats.compat.evaluatio.inference.ci import error_rate_ci, rates
from evalstats.resampling.weights import Rng

Statistics = NDArray[np.int64]


def distances(statistics: Statistics) -> list[int]:
    """Return the edits of every pair."""
    return [int(edits) for edits in statistics[:, 0]]


def rate_per_pair(statistics: Statistics) -> list[float]:
    """Return edits per token of every pair."""
    return [float(rate) for rate in rates(statistics)]


def rate(statistics: Statistics) -> float:
    """Return all edits per token of all references."""
    return float(rates(np.sum(statistics, axis=0)))


def rate_ci(statistics: Statistics, iterations: int, alpha: float, rng: Rng) -> ConfidenceInterval:
    """Return the corpus rate with its interval."""
    return error_rate_ci(statistics[:, 0], statistics[:, 1], iterations, alpha, rng=rng)
