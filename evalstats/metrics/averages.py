"""Means of scores: over strata (domains, languages, tasks), or over several runs of a system.

A mean of corpus scores is a function of sums too, of more of them: the totals of every stratum, or
of every run, side by side. What a metric says of each block, its gradient too, is averaged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalstats.checks import integer, listed
from evalstats.errors import InputError, InputTypeError
from evalstats.metrics.base import Metric


def tagged(signature: str, tag: str) -> str:
    """Return a signature with one more part, before the version of sacreBLEU, which comes last."""
    parts, bar, version = signature.partition("|sacrebleu:")
    return f"{parts}|{tag}{bar}{version}"


class _Average(Metric):
    """The weighted mean of a metric's scores of T blocks of totals, `(..., T k) -> (...)`."""

    metric: Metric

    @property
    def _weights(self) -> NDArray[np.float64]:
        """Weights of the blocks, `(T,)`, which sum to 1."""
        raise NotImplementedError

    def _blocks(self, totals: ArrayLike) -> NDArray[np.float64]:
        wide = np.asarray(totals, dtype=np.float64)
        return wide.reshape(*wide.shape[:-1], len(self._weights), -1)

    def score(self, totals: ArrayLike) -> NDArray[np.float64]:
        """Return the mean of the scores of the blocks, `(..., T k) -> (...)`."""
        scores = self.metric.score(self._blocks(totals))
        # One after the other: in a product of matrices, sums depend on how many rows there are.
        return np.asarray(sum(w * scores[..., t] for t, w in enumerate(self._weights)))

    def gradient(self, totals: ArrayLike) -> NDArray[np.float64]:
        """Return the gradient of the mean, `(..., T k) -> (..., T k)`."""
        blocks = self._blocks(totals)
        gradient = self.metric.gradient(blocks) * self._weights[:, None]
        return np.asarray(gradient.reshape(np.shape(totals)))


@dataclass(frozen=True)
class MeanOfStrata(_Average):
    """The macro-average of a metric: the mean of its scores of each stratum.

    Made by ``aggregate="macro"`` or weights. `columns` are those of one stratum, in which a segment
    has its statistics; totals have them for every stratum, T k of them.

    Parameters
    ----------
    metric : Metric
    weights : tuple of float
        Of the T strata, summing to 1.
    label : str
        ``"macro"`` or ``"weighted"``.
    """

    metric: Metric
    weights: tuple[float, ...]
    label: str = "macro"
    name: str = field(init=False)
    higher_is_better: bool = field(init=False)
    columns: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        inner = self.metric
        vars(self).update(name=f"{self.label} {inner.name}", columns=inner.columns)
        vars(self).update(higher_is_better=inner.higher_is_better)

    @property
    def _weights(self) -> NDArray[np.float64]:
        return np.array(self.weights)

    @property
    def tag(self) -> str:
        """What is added to the metric's signature."""
        if self.label == "macro":
            return "aggregate:macro"
        return "aggregate:" + ",".join(f"{weight:.4g}" for weight in self.weights)

    @property
    def signature(self) -> str:
        """Identity: that of the metric, and the weights of the strata."""
        return tagged(self.metric.signature, self.tag)

    def statistics(self, hypotheses: Any, references: Any = None) -> NDArray[Any]:
        """Return the statistics of the metric, `(N, k)`; they do not know their stratum."""
        return self.metric.statistics(hypotheses, references)


@dataclass(frozen=True)
class MeanOfRuns(_Average):
    """The mean score of several runs of a system: training seeds, sampled answers.

    The score that one more run can be expected to have, and what papers report (Clark et al.,
    2011): the mean of the runs' corpus scores, not the score of all outputs put together.

    Parameters
    ----------
    metric : Metric
    n_runs : int
        R, at least 2.

    Examples
    --------
    >>> from evalstats import Mean
    >>> accuracy = MeanOfRuns(Mean("accuracy"), n_runs=2)
    >>> rows = accuracy.statistics([[1, 0, 1], [1, 1, 1]])
    >>> rows.shape, round(float(accuracy.score(rows.sum(axis=0))), 4)
    ((3, 4), 0.8333)
    """

    metric: Metric
    n_runs: int
    name: str = field(init=False)
    higher_is_better: bool = field(init=False)
    columns: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        inner = self.metric
        if not isinstance(inner, Metric) or isinstance(inner, _Average):
            raise InputTypeError(f"metric must be that of one run, got {inner!r}")
        runs = integer(self.n_runs, "n_runs", 2)
        columns = tuple(f"{column}[{run}]" for run in range(runs) for column in inner.columns)
        vars(self).update(name=inner.name, columns=columns, higher_is_better=inner.higher_is_better)

    @property
    def _weights(self) -> NDArray[np.float64]:
        return np.full(self.n_runs, 1 / self.n_runs)

    @property
    def signature(self) -> str:
        """Identity: that of the metric, and the number of runs."""
        return tagged(self.metric.signature, f"runs:{self.n_runs}")

    def statistics(self, hypotheses: Any, references: Any = None) -> NDArray[Any]:
        """Return the statistics of every run side by side, `(N, R k)`, of R lists of N outputs."""
        runs: Sequence[Any] = listed(hypotheses, "hypotheses", "runs")
        if len(runs) != self.n_runs:
            raise InputError(f"hypotheses must have {self.n_runs} runs, got {len(runs)}")
        rows = [self.metric.statistics(run, references) for run in runs]
        if len({len(found) for found in rows}) > 1:
            lengths = ", ".join(str(len(found)) for found in rows)
            raise InputError(f"runs must have the same number of segments, got {lengths}")
        return np.concatenate(rows, axis=1)

    def of_runs(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the statistics of each run, `(..., N, R k) -> (..., R, N, k)`."""
        apart = values.reshape(*values.shape[:-1], self.n_runs, -1)
        return np.moveaxis(apart, -2, -3)
