"""The mean score of several runs, a function of more sums: those of every run side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalstats.checks import integer, listed
from evalstats.errors import InputError, InputTypeError
from evalstats.metrics.base import Floats, Metric, keep
from evalstats.metrics.identity import MetricSignature
from evalstats.metrics.ratios import Mean


@dataclass(frozen=True)
class MeanOfRuns(Metric):
    """The mean score of several runs of a system: training seeds, sampled answers.

    The score that one more run can be expected to have, and what papers report (Clark et al.,
    2011): the mean of the runs' corpus scores, not the score of all outputs put together.

    `metric` is that of one run, `n_runs` is R, at least 2.

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
        if not isinstance(inner, Metric) or isinstance(inner, MeanOfRuns):
            raise InputTypeError(f"metric must be that of one run, got {inner!r}")
        runs = integer(self.n_runs, "n_runs", 2)
        columns = tuple(f"{column}[{run}]" for run in range(runs) for column in inner.columns)
        better = inner.higher_is_better
        keep(self, n_runs=runs, name=inner.name, columns=columns, higher_is_better=better)

    @property
    def signature(self) -> str:
        """Identity: that of the metric, and the number of runs."""
        return str(MetricSignature.of(self.metric.signature).tagged(f"runs:{self.n_runs}"))

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

    def check_statistics(self, statistics: NDArray[Any]) -> None:
        """Refuse what cannot be of one run, `(..., R k)`."""
        self.metric.check_statistics(self._apart(statistics))

    def score(self, totals: ArrayLike) -> Floats:
        """Return the mean of the scores of the runs, `(..., R k) -> (...)`."""
        scores = self.metric.score(self._apart(totals))
        # One after the other: in a product of matrices, sums depend on the number of rows.
        return np.asarray(sum(1 / self.n_runs * scores[..., run] for run in range(self.n_runs)))

    def gradient(self, totals: ArrayLike) -> Floats:
        """Return the gradient of the mean, `(..., R k) -> (..., R k)`."""
        gradient = self.metric.gradient(self._apart(totals)) * (1 / self.n_runs)
        return np.asarray(gradient.reshape(np.shape(totals)))

    def _apart(self, totals: ArrayLike) -> Floats:
        """Return the totals of each run, `(..., R k) -> (..., R, k)`."""
        wide = np.asarray(totals, dtype=np.float64)
        return wide.reshape(*wide.shape[:-1], self.n_runs, len(self.metric.columns))

    def answers(self, statistics: NDArray[Any]) -> Floats | None:
        """Return number, sum and sum of squares of the runs' scores of an item, where it has such.

        Squares of very large scores are no numbers, and say nothing of any spread.
        """
        wide = np.asarray(statistics, np.float64)
        scores, there = wide[..., 0::2], wide[..., 1::2]
        if not isinstance(self.metric, Mean) or not np.all((there == 0) | (there == 1)):
            return None
        with np.errstate(over="ignore"):
            return np.stack([there.sum(-1), scores.sum(-1), (scores**2).sum(-1)], axis=-1)

    def of_runs(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the statistics of each run, `(..., N, R k) -> (..., R, N, k)`."""
        apart = values.reshape(*values.shape[:-1], self.n_runs, len(self.metric.columns))
        return np.moveaxis(apart, -2, -3)
