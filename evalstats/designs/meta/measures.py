"""How well a metric agrees with people about two systems: on the whole, and on each segment.

Differences between two systems are `(P, N)`, of P pairs on N segments. They are 0 where a score is
missing, and `both` says of which segments a pair has all scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalstats.errors import InputError
from evalstats.metrics import Mean, Metric

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

#: A difference of so small a share of its error is what rounding leaves of none.
_NONE = 1e-9
#: Accuracies of two thresholds that are so near are equal but for rounding.
_EQUAL = 1e-12


@dataclass(frozen=True)
class PairwiseAccuracy(Metric):
    r"""The share of pairs of systems that a metric puts in the order in which people put them.

    Statistics are differences d between the two systems of each pair, people's and the metric's,
    and their squares. With sums D and Q, :math:`z = D/\sqrt{Q}` is nearly normal where the outputs
    of both systems change places at random.

    Parameters
    ----------
    columns : tuple of str
        Names of people's D of each pair, of their Q, of the metric's D, and of its Q.
    """

    columns: tuple[str, ...]

    name = "PA"
    is_smooth: ClassVar[bool] = False
    uses_references: ClassVar[bool] = False
    reads_text: ClassVar[bool] = False
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)

    @property
    def signature(self) -> str:
        """What the systems are, and the number of pairs."""
        return f"systems:metric|pairs:{len(self.columns) // 4}"

    def statistics(self, hypotheses: Any, references: Any = None) -> NDArray[Any]:
        """Refuse what is made of the scores of all systems."""
        raise InputError(f"{self.name} is of the scores of several systems: use evalstats.meta")

    def score(self, totals: ArrayLike) -> Floats:
        """Return the share of pairs in the same order, `(..., k) -> (...)`."""
        people, metric = (np.sign(np.where(np.abs(z) < _NONE, 0, z)) for z, _ in _sizes(totals))
        return np.asarray(np.mean(people == metric, axis=-1))

    def gradient(self, totals: ArrayLike) -> Floats:
        """Return the gradient of the accuracy that is expected where z has an error of 1.

        What is counted does not change with a sum, but at a jump.
        """
        from scipy.special import erf

        people, metric = (z for z, _ in _sizes(totals))
        return _by_sums(totals, erf(metric / np.sqrt(2)), erf(people / np.sqrt(2)))


@dataclass(frozen=True)
class SoftPairwiseAccuracy(PairwiseAccuracy):
    r"""1 less the mean distance between a metric's p-values of pairs and people's.

    The p-values are those of the permutation test that the first system is better, in closed form:
    :math:`\Phi(-z)` (Thompson, Mathur, Deutsch and Khayrallah, 2024).
    """

    name = "SPA"

    def score(self, totals: ArrayLike) -> Floats:
        """Return the soft accuracy, `(..., k) -> (...)`."""
        from scipy.special import ndtr

        people, metric = (ndtr(-z) for z, _ in _sizes(totals))
        return np.asarray(1 - np.mean(np.abs(people - metric), axis=-1))

    def gradient(self, totals: ArrayLike) -> Floats:
        """Return the gradient of the soft accuracy, `(..., k) -> (..., k)`."""
        people, metric = (z for z, _ in _sizes(totals))
        # p falls where z rises.
        farther = np.sign(metric - people)
        return _by_sums(totals, farther, -farther)


def _by_sums(totals: ArrayLike, *slopes: Floats) -> Floats:
    """Return a gradient by all sums, where that by z of people and metric is φ(z)·slope/P."""
    found: list[Floats] = []
    for (z, error), slope in zip(_sizes(totals), slopes, strict=True):
        by_z = slope * np.exp(-z * z / 2) / (np.sqrt(2 * np.pi) * z.shape[-1])
        by_sum = _over(by_z, error)
        found += [by_sum, -by_sum * _over(z, error) / 2]
    return np.concatenate(found, axis=-1)


def _sizes(totals: ArrayLike) -> list[tuple[Floats, Floats]]:
    """Return D/√Q and √Q of people, and of the metric, `(..., P)` each."""
    parts = np.split(np.asarray(totals, dtype=np.float64), 4, axis=-1)
    errors = [np.sqrt(np.maximum(squares, 0.0)) for squares in parts[1::2]]
    return [(_over(x, error), error) for x, error in zip(parts[::2], errors, strict=True)]


def _over(a: Floats, b: Floats) -> Floats:
    """Return a/b, and 0 where b is 0."""
    return np.divide(a, b, where=b > 0, out=np.zeros(np.broadcast_shapes(a.shape, b.shape)))


@dataclass(frozen=True)
class Accuracies(Mean):
    """The mean of the segments' `accuracy`."""

    signature = "systems:metric|within:segments|ties:calibrated"
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)


@dataclass(frozen=True)
class Correlations(Mean):
    """The mean of correlations within segments."""

    signature = "systems:metric|within:segments"
    bounds: ClassVar[tuple[float, float]] = (-1.0, 1.0)


def kendall(people: Floats, metric: Floats) -> Floats:
    """Return Kendall's tau-b of the systems on each segment, `(P, N) -> (N,)`; NaN without it."""
    first, second = np.sign(people), np.sign(metric)
    apart = np.sum(np.abs(first), axis=0) * np.sum(np.abs(second), axis=0)
    return _defined(np.sum(first * second, axis=0), np.sqrt(apart), np.any(first, axis=0))


def pearson(people: Floats, metric: Floats) -> Floats:
    """Return Pearson's correlation of the systems on each segment, `(P, N) -> (N,)`.

    Of n systems sums over pairs of products of differences are n times those about the means.
    """
    first, second = np.sum(people**2, axis=0), np.sum(metric**2, axis=0)
    return _defined(
        np.sum(people * metric, axis=0), np.sqrt(first) * np.sqrt(second), np.any(people, axis=0)
    )


def _defined(top: Floats, bottom: Floats, known: Flags) -> Floats:
    """Return a correlation; 0 where only the metric says nothing, NaN where people do not."""
    return np.where(known, _over(top, bottom), np.nan)


def accuracy(people: Floats, metric: Floats, both: Flags, tie: float) -> Floats:
    """Return the share of pairs on each segment that a metric orders, or ties, as people do.

    Differences of the metric up to `tie` are ties (Deutsch, Foster and Freitag, 2023).
    """
    ordered = np.where(np.abs(metric) <= tie, 0, np.sign(metric))
    right = both & (np.sign(people) == ordered)
    n = np.sum(both, axis=0)
    return np.where(n > 0, np.sum(right, axis=0) / np.maximum(n, 1), np.nan)


def best_tie(people: Floats, metric: Floats, both: Flags) -> float:
    """Return the threshold of ties under which the mean accuracy of the segments is largest.

    Of several the smallest. Each difference that there is is tried, and 0.
    """
    weights = (both / np.maximum(np.sum(both, axis=0), 1))[both]
    first, second = np.sign(people[both]), metric[both]
    # What becomes right, or wrong, where the difference becomes a tie.
    gains = weights * ((first == 0) * 1.0 - (first == np.sign(second)))
    sizes = np.abs(second)
    order = np.argsort(sizes, kind="stable")
    thresholds = np.append(0.0, sizes[order])
    gained = np.append(0.0, np.cumsum(gains[order]))
    # All differences of one size become ties together.
    last = np.append(thresholds[1:] > thresholds[:-1], True)
    thresholds, gained = thresholds[last], gained[last]
    best = np.max(gained)
    return float(thresholds[np.argmax(gained >= best - _EQUAL * len(sizes))])
