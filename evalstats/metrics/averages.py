"""Means of scores: over strata (domains, languages, tasks), or over several runs of a system.

A mean of corpus scores is a function of sums too, of more of them: the totals of every stratum, or
of every run, side by side. What a metric says of each block, its gradient too, is averaged, or put
into another function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalstats.checks import integer, listed
from evalstats.errors import InputError, InputTypeError
from evalstats.metrics.base import Metric

#: Different metrics that a name names; more are counted.
_NAMED = 3


def tagged(signature: str, tag: str) -> str:
    """Return a signature with one more part, before the version of sacreBLEU, which comes last."""
    parts, bar, version = signature.partition("|sacrebleu:")
    return f"{parts}|{tag}{bar}{version}"


class _OfBlocks(Metric):
    """A function of a metric's scores of T blocks of totals, `(..., T k) -> (...)`."""

    metric: Metric

    @property
    def n_blocks(self) -> int:
        """The number of blocks, T."""
        raise NotImplementedError

    def _combined(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the function of the scores of all blocks, `(..., T) -> (...)`."""
        raise NotImplementedError

    def _slopes(self, scores: Callable[[], NDArray[np.float64]]) -> NDArray[np.float64]:
        """Return its derivatives by the scores of the blocks, `(..., T)`, or `(T,)`."""
        raise NotImplementedError

    def _blocks(self, totals: ArrayLike) -> NDArray[np.float64]:
        wide = np.asarray(totals, dtype=np.float64)
        return wide.reshape(*wide.shape[:-1], self.n_blocks, -1)

    def score(self, totals: ArrayLike) -> NDArray[np.float64]:
        """Return the function of the scores of the blocks, `(..., T k) -> (...)`."""
        return self._combined(self.metric.score(self._blocks(totals)))

    def gradient(self, totals: ArrayLike) -> NDArray[np.float64]:
        """Return its gradient, `(..., T k) -> (..., T k)`."""
        blocks = self._blocks(totals)
        slopes = self._slopes(lambda: self.metric.score(blocks))
        gradient = self.metric.gradient(blocks) * slopes[..., None]
        return np.asarray(gradient.reshape(np.shape(totals)))


class _Average(_OfBlocks):
    """The weighted mean of the scores of the blocks."""

    @property
    def _weights(self) -> NDArray[np.float64]:
        """Weights of the blocks, `(T,)`, which sum to 1."""
        raise NotImplementedError

    @property
    def n_blocks(self) -> int:
        """The number of blocks, T."""
        return len(self._weights)

    def _combined(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        # One after the other: in a product of matrices, sums depend on how many rows there are.
        return np.asarray(sum(w * scores[..., t] for t, w in enumerate(self._weights)))

    def _slopes(self, scores: Callable[[], NDArray[np.float64]]) -> NDArray[np.float64]:
        return self._weights


class OfStrata(_OfBlocks):
    """A score of all strata, whose totals have the columns of each, T k of them."""

    label: str

    def __post_init__(self) -> None:
        inner = self.metric
        vars(self).update(name=f"{self.label} {inner.name}", columns=inner.columns)
        vars(self).update(higher_is_better=inner.higher_is_better)

    @property
    def tag(self) -> str:
        """What is added to the metric's signature."""
        raise NotImplementedError

    @property
    def signature(self) -> str:
        """Identity: that of the metric, and what is made of the strata."""
        return tagged(self.metric.signature, self.tag)

    def statistics(self, hypotheses: Any, references: Any = None) -> NDArray[Any]:
        """Return the statistics of the metric, `(N, k)`; they do not know their stratum."""
        return self.metric.statistics(hypotheses, references)


@dataclass(frozen=True)
class MeanOfStrata(_Average, OfStrata):
    """The macro-average of a metric: the mean of its scores of each stratum.

    Made by ``aggregate="macro"`` or weights. `columns` are those of one stratum, in which a segment
    has its statistics; totals have them for every stratum, T k of them.

    Parameters
    ----------
    metric : Metric
    weights : tuple of float
        Of the T strata, summing to 1.
    label : str
        ``"macro"``, ``"weighted"``, or ``"micro"`` where the weights are the sizes of strata.
    """

    metric: Metric
    weights: tuple[float, ...]
    label: str = "macro"
    name: str = field(init=False)
    higher_is_better: bool = field(init=False)
    columns: tuple[str, ...] = field(init=False)

    @property
    def _weights(self) -> NDArray[np.float64]:
        return np.array(self.weights)

    @property
    def tag(self) -> str:
        """What is added to the metric's signature."""
        if self.label != "weighted":
            return f"aggregate:{self.label}"
        return "aggregate:" + ",".join(f"{weight:.4g}" for weight in self.weights)


@dataclass(frozen=True)
class FunctionOfStrata(OfStrata):
    """A function of a metric's scores of all strata, such as their geometric mean.

    Parameters
    ----------
    metric : Metric
    n_strata : int
        T.
    function : callable
        Maps scores `(..., T)` to `(...)`.
    label : str
        What to call it.
    """

    metric: Metric
    n_strata: int
    function: Callable[[NDArray[np.float64]], ArrayLike]
    label: str
    name: str = field(init=False)
    higher_is_better: bool = field(init=False)
    columns: tuple[str, ...] = field(init=False)

    @property
    def n_blocks(self) -> int:
        """The number of strata, T."""
        return self.n_strata

    def _combined(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        found = np.asarray(self.function(scores), dtype=np.float64)
        if found.shape != scores.shape[:-1]:
            raise InputError(
                f"aggregate must map scores (..., T) of T strata to (...): of {scores.shape} it "
                f"made {found.shape}; take means over axis=-1"
            )
        return found

    def _slopes(self, scores: Callable[[], NDArray[np.float64]]) -> NDArray[np.float64]:
        at = scores()
        slopes = np.empty(at.shape)
        for t in range(self.n_strata):
            step = 1e-6 * np.maximum(np.abs(at[..., t]), 1.0)
            ends = []
            for side in (step, -step):
                moved = at.copy()
                moved[..., t] += side
                ends.append(self._combined(moved))
            slopes[..., t] = (ends[0] - ends[1]) / (2 * step)
        return slopes

    @property
    def tag(self) -> str:
        """What is added to the metric's signature."""
        return f"aggregate:function {self.label}"


@dataclass(frozen=True)
class MetricsOfStrata(Metric):
    """A metric for each of T strata, in as many columns as the widest has.

    Scores of blocks, `(..., T, K) -> (..., T)`: to be put into a mean or a function of strata.

    Parameters
    ----------
    metrics : tuple of Metric
        One a stratum, all of one direction.
    """

    metrics: tuple[Metric, ...]
    name: str = field(init=False)
    higher_is_better: bool = field(init=False)
    columns: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        first, widest = self.metrics[0], max(len(metric.columns) for metric in self.metrics)
        names = list(dict.fromkeys(metric.name for metric in self.metrics))
        name = " + ".join(names) if len(names) <= _NAMED else f"{len(names)} metrics"
        vars(self).update(name=name, higher_is_better=first.higher_is_better)
        vars(self).update(columns=tuple(f"column {j}" for j in range(widest)))

    def _parts(self) -> list[tuple[Metric, list[int], int]]:
        """Return each different metric, its strata and its number of columns."""
        places: dict[int, list[int]] = {}
        first: dict[tuple[str, str], int] = {}
        for t, metric in enumerate(self.metrics):
            same = first.setdefault((metric.name, metric.signature), t)
            # Signatures round: only what is equal is scored together.
            key = same if self.metrics[same] == metric else t
            places.setdefault(key, []).append(t)
        return [(self.metrics[t], some, len(self.metrics[t].columns)) for t, some in places.items()]

    def score(self, totals: ArrayLike) -> NDArray[np.float64]:
        """Return the scores of all strata, `(..., T, K) -> (..., T)`."""
        blocks = np.asarray(totals, dtype=np.float64)
        scores = np.empty(blocks.shape[:-1])
        for metric, places, k in self._parts():
            scores[..., places] = metric.score(blocks[..., places, :k])
        return scores

    def gradient(self, totals: ArrayLike) -> NDArray[np.float64]:
        """Return the gradient of each score by its own block, `(..., T, K) -> (..., T, K)`."""
        blocks = np.asarray(totals, dtype=np.float64)
        gradient = np.zeros(blocks.shape)
        for metric, places, k in self._parts():
            gradient[..., places, :k] = metric.gradient(blocks[..., places, :k])
        return gradient

    @property
    def signature(self) -> str:
        """Identity: those of the different metrics, with the version of sacreBLEU last."""
        apart = [
            (metric.name, metric.signature.partition("|sacrebleu:")) for metric in self.metrics
        ]
        found = " + ".join(dict.fromkeys(f"{name}|{parts}" for name, (parts, _, _) in apart))
        versions = sorted({version for _, (_, _, version) in apart if version})
        return f"{found}|sacrebleu:{','.join(versions)}" if versions else found

    def statistics(self, hypotheses: Any, references: Any = None) -> NDArray[Any]:
        """Raise: what a text scores depends on its stratum."""
        raise InputError("statistics come from the metric of each task; join those")


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
        if not isinstance(inner, Metric) or isinstance(inner, _OfBlocks):
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
