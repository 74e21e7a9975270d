"""The logarithm of a metric's score: a difference of two of them is the logarithm of a ratio."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalstats.metrics.base import Metric


@dataclass(frozen=True)
class LogScore(Metric):
    """ln f(totals) of a metric's score f; -infinity where that is not above 0.

    Its gradient is ∇f/f, so that influence values on a difference of two are those of the delta
    method, ℓ'/s' - ℓ/s.
    """

    metric: Metric
    name: str = field(init=False)
    higher_is_better: bool = field(init=False)
    columns: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        inner = self.metric
        vars(self).update(name=inner.name, columns=inner.columns)
        vars(self).update(higher_is_better=inner.higher_is_better, heavy_tails=inner.heavy_tails)

    @property
    def signature(self) -> str:
        """Identity: that of the metric."""
        return self.metric.signature

    def statistics(self, hypotheses: Any, references: Any = None) -> NDArray[Any]:
        """Return the statistics of the metric, `(N, k)`."""
        return self.metric.statistics(hypotheses, references)

    def score(self, totals: ArrayLike) -> NDArray[np.float64]:
        """Return logarithms of scores, `(..., k) -> (...)`."""
        return logarithm(self.metric.score(totals))

    def gradient(self, totals: ArrayLike) -> NDArray[np.float64]:
        """Return the gradient, `(..., k) -> (..., k)`; 0 where the logarithm is infinite."""
        scores = np.asarray(self.metric.score(totals))[..., None]
        gradient = self.metric.gradient(totals)
        return np.divide(gradient, scores, where=scores > 0, out=np.zeros(gradient.shape))

    def shares(self, totals: ArrayLike) -> tuple[NDArray[np.float64], ...] | None:
        """Return the metric's shares, with weights over the score."""
        found = self.metric.shares(totals)
        if found is None:
            return None
        scores = np.asarray(self.metric.score(totals))[..., None]
        weights = np.divide(found[0], scores, where=scores > 0, out=np.zeros(found[0].shape))
        return weights, *found[1:]


def logarithm(scores: ArrayLike) -> NDArray[np.float64]:
    """Return natural logarithms, -infinity of what is not above 0."""
    array = np.asarray(scores, dtype=np.float64)
    return np.log(array, where=array > 0, out=np.full(array.shape, -np.inf))


def unlogged(metric: Metric) -> Metric:
    """Return the metric whose logarithm this is, or itself."""
    return metric.metric if isinstance(metric, LogScore) else metric
