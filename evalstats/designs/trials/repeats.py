"""Several answers to each item: how many, and their spread, whatever they are summed up to."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evalstats.checks import as_floats
from evalstats.errors import InputError
from evalstats.metrics import Mean, Metric, Trials
from evalstats.metrics.ratios import MeanOfRuns

Floats = NDArray[np.float64]


class Repeats(NamedTuple):
    """How many answers of S systems to N items there are, their sums, and sums of squares."""

    counts: Floats  # (S, N)
    sums: Floats  # (S, N)
    squares: Floats  # (S, N)

    @classmethod
    def of(cls, metric: Metric, values: NDArray[Any], known: Floats | None) -> Repeats | None:
        """Return the answers behind statistics `(S, N, k)`, or those known beside them `(S, N, 3)`.

        `None` where no item has several answers.
        """
        # Squares of very large scores are no numbers, and say nothing of any spread.
        with np.errstate(over="ignore"):
            repeats = _behind(metric, values, known)
        if repeats is None or not np.any(repeats.counts > 1):
            return None
        return repeats if np.all(np.isfinite(repeats.squares)) else None

    @property
    def are_outcomes(self) -> bool:
        """Whether all answers are 0 or 1: only of such are sums and sums of squares the same."""
        return bool(np.all(self.sums == self.squares) and np.all(self.sums == np.rint(self.sums)))

    @property
    def within(self) -> Floats:
        """The variance of the answers to an item, of each system, `(S,)`: within items, pooled."""
        means = self.sums / np.maximum(self.counts, 1)
        degrees = np.sum(np.maximum(self.counts - 1, 0), axis=1)
        squares = np.sum(np.maximum(self.squares - self.sums * means, 0), axis=1)
        return np.asarray(squares / np.maximum(degrees, 1))

    @property
    def of_means(self) -> Floats:
        """What the chance in answers adds to the variance of the mean of an item, `(S,)`."""
        there = self.counts > 0
        per_trial = np.sum(np.where(there, 1 / np.maximum(self.counts, 1), 0.0), axis=1)
        return np.asarray(self.within * per_trial / np.maximum(np.sum(there, axis=1), 1))

    @property
    def means(self) -> Floats:
        """The mean of the answers to each item, `(S, N)`; NaN of none."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.sums / self.counts)


def as_repeats(values: Any, n_systems: int, n_segments: int) -> Floats:
    """Return counts, sums and sums of squares of answers, `(S, N, 3)`, as a read-only copy."""
    array = np.array(as_floats(np.asarray(values), "repeats"), dtype=np.float64)
    expected = (n_systems, n_segments, 3)
    if array.shape != expected or not np.all(np.isfinite(array)) or np.any(array[..., 0] < 0):
        raise InputError(
            f"repeats must be finite counts, sums and sums of squares of shape {expected}, got "
            f"shape {array.shape}"
        )
    array.setflags(write=False)
    return array


def _behind(metric: Metric, values: NDArray[Any], known: Floats | None) -> Repeats | None:
    """Return the answers behind means, single ones too; None where they are not known."""
    if isinstance(metric, Trials):
        trials, right = (np.asarray(values[..., j], np.float64) for j in (1, 2))
        return Repeats(trials, right, right)
    if isinstance(metric, MeanOfRuns) and isinstance(metric.metric, Mean):
        wide = np.asarray(values, np.float64)
        scores, there = wide[..., 0::2], wide[..., 1::2]
        if np.all((there == 0) | (there == 1)):
            return Repeats(there.sum(-1), scores.sum(-1), (scores**2).sum(-1))
    return None if known is None else Repeats(*np.moveaxis(known, -1, 0))
