"""Shares of segments that succeed (accuracy, pass rates), and the counts of a difference of two."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.design import Aggregate, Units
from evalstats.inference import counts, student
from evalstats.inference.student import Spread
from evalstats.statistics.segments import SegmentStatistics

Floats = NDArray[np.float64]


#: Items with the pooled share that are added to each stratum (Agresti and Coull, 1998).
_ADDED = 4.0
#: Answers that are added to those that vary, of groups.
_HALF = 0.5


@dataclass(frozen=True)
class Counts(ABC):
    """The difference of two shares, counted: its score interval and score test."""

    test: ClassVar[str]  # what the test is called, and the interval
    method: ClassVar[str]
    scale: float  # what a share of 1 scores
    degrees: float  # of the error, infinite where segments are drawn freely

    @abstractmethod
    def interval(self, alpha: float) -> tuple[float, float]:
        """Return the interval of confidence 1 - α."""

    @abstractmethod
    def pvalue(self, null: float, alternative: str) -> float:
        """Return the p-value of a null value."""


@dataclass(frozen=True)
class Changes(Counts):
    """Effective numbers of segments gained and lost, and of all: by Tango's method (1998)."""

    gained: float
    lost: float
    n: float

    test = "mcnemar"
    method = "tango"

    def interval(self, alpha: float) -> tuple[float, float]:
        """Return Tango's interval of confidence 1 - α."""
        quantile = student.quantile(self.degrees, alpha)
        low, high = counts.tango(self.gained, self.lost, self.n, quantile)
        return self.scale * low, self.scale * high

    def pvalue(self, null: float, alternative: str) -> float:
        """Return the p-value of Tango's score test."""
        distance = counts.tango_distance(self.gained, self.lost, self.n, null / self.scale)
        return student.pvalue(distance, 1.0, self.degrees, alternative)


class Share(NamedTuple):
    """The share of segments on which a system succeeds, of an effective number of them."""

    share: float
    n: float
    error: float  # of the score
    degrees: float  # of the error, infinite where segments are drawn freely


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Which segments succeed, what each weighs in the share, and what a share of 1 scores."""

    success: NDArray[np.bool_]  # (S, N)
    scale: float
    weights: Floats | None  # (N,), summing to 1; none where all weigh the same
    units: Units  # what is drawn; segments that are drawn freely count as they are

    def changes(self, a: int, b: int) -> tuple[int, int]:
        """Count the segments that system b gains against a, and those that it loses."""
        first, second = self.success[[a, b]]
        return int(np.count_nonzero(second & ~first)), int(np.count_nonzero(first & ~second))

    def share_of(self, influence: Floats, i: int = 0) -> Share:
        """Return the share of a system with these influence values of units, `(N,)`."""
        marks = self.success[i]
        spread = self.units.spread(influence, self._added(marks.astype(float)))
        share = 1.0 if np.all(marks) else self._share(marks)
        n = self._effective(share * (1 - share), spread)
        return Share(share, n, spread.error, np.inf if self.units.plain else spread.degrees)

    def score_interval(self, i: int, influence: Floats, alpha: float) -> tuple[float, float]:
        """Return Wilson's interval of a score with these influence values of units, `(N,)`."""
        of = self.share_of(influence, i)
        low, high = counts.wilson(of.share, of.n, student.quantile(of.degrees, alpha))
        return self.scale * low, self.scale * high

    def counted(self, a: int, b: int, influence: Floats) -> Changes:
        """Return what counts the difference of two scores with these influence values, `(N,)`."""
        first, second = self.success[[a, b]]
        changed = second.astype(float) - first.astype(float)
        spread = self.units.spread(influence, self._added(changed))
        gained, lost = self._share(second & ~first), self._share(first & ~second)
        n = self._effective(gained + lost - (gained - lost) ** 2, spread)
        degrees = np.inf if self.units.plain else spread.degrees
        return Changes(self.scale, degrees, n * gained, n * lost, n)

    def _share(self, marks: NDArray[np.bool_]) -> float:
        return float(np.mean(marks) if self.weights is None else self.weights @ marks)

    def _added(self, values: Floats) -> Floats | None:
        """Return what is added to Σu² of strata, `(T,)`: of few items, failures may be unseen.

        The variance of a stratum is that of its values (0 and 1, or of a difference -1, 0 and 1)
        with four items more that are as all items are on average: of a share x/n that of
        p̃ = (x + 4·pooled)/(n + 4). To strata of the same shares nothing is added.
        """
        codes, n_segments = self.units.segment_codes, self.success.shape[1]
        if codes is None:
            return None
        variances = []
        for added in (_ADDED, 0.0):
            mean, square = (
                (np.bincount(codes, powers) + added * np.mean(powers))
                / (np.bincount(codes) + added)
                for powers in (values, values**2)
            )
            variances.append(square - mean**2)
        weights = np.full(n_segments, 1 / n_segments) if self.weights is None else self.weights
        squares = np.bincount(codes, weights**2)
        return np.asarray(squares * (variances[0] - variances[1]))

    def _effective(self, variance: float, spread: Spread) -> float:
        """Return how many freely drawn segments vary as these do (Korn and Graubard, 1998).

        Few successes, or few failures, do not tell how groups hang together: half of one more, that
        its whole group shares, is added to them, as Haldane (1956) and Anscombe (1956) add a half
        to counts. Where nothing varies the number is Kish's (1965) of the groups.
        """
        squared = (spread.error / self.scale) ** 2
        found = variance / squared if variance > 0 and squared > 0 else np.inf
        segments = float(self.success.shape[1])
        if self.weights is not None:
            segments = student.kish(self.weights)
        sizes, members = self.units.sizes, self.units.members
        if sizes is None:
            return segments if self.units.plain or found == np.inf else found
        # Groups count by what their segments weigh.
        if self.weights is not None and members is not None:
            sizes = np.bincount(members, self.weights)
        groups = student.kish(sizes)
        return min(found, (variance + _HALF / segments) / (squared + _HALF / (segments * groups)))


def as_outcomes(table: SegmentStatistics, units: Units, aggregate: Aggregate) -> Outcomes | None:
    """Return the outcomes where every segment counts once and scores 0 or 1; else `None`."""
    columns = table.metric.outcome_columns()
    if columns is None or aggregate.function is not None:
        return None
    succeeded, counted, scale = columns
    marks, ones = table.values[..., succeeded], table.values[..., counted]
    if scale <= 0 or not np.all(ones == 1) or not np.all((marks == 0) | (marks == 1)):
        return None
    strata, weights = units.segment_strata, None
    if aggregate.label != "micro" and strata is not None and len(aggregate.weights) > 1:
        weights = np.array(aggregate.weights)[strata] / np.bincount(strata)[strata]
    return Outcomes(marks.astype(np.bool_), scale, weights, units)


def joined(parts: list[Outcomes | None], shares: list[float], units: Units) -> Outcomes | None:
    """Return the outcomes of several tasks together, with the share that each has in a total."""
    known = [part for part in parts if part is not None]
    if len(known) < len(parts) or len({part.scale for part in known}) > 1:
        return None
    weights = [
        np.full(p.success.shape[1], w / p.success.shape[1])
        for w, p in zip(shares, known, strict=True)
    ]
    success = np.concatenate([part.success for part in known], axis=1)
    return Outcomes(success, known[0].scale, np.concatenate(weights), units)
