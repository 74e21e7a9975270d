"""Scores that are shares of segments (accuracy, pass rates): which segments succeed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.aggregates import Aggregate
from evalstats.analysis.units import Units
from evalstats.inference import counts, student
from evalstats.inference.student import Spread
from evalstats.statistics.segments import SegmentStatistics

Floats = NDArray[np.float64]

#: Items with the pooled share that are added to each stratum (Agresti and Coull, 1998).
_ADDED = 4.0
#: Answers that are added to those that vary, of groups.
_HALF = 0.5


class Counts(Protocol):
    """The difference of two shares, counted: its score interval and score test."""

    @property
    def test(self) -> str:
        """What the test is called."""
        ...

    @property
    def method(self) -> str:
        """What the interval is called."""
        ...

    @property
    def scale(self) -> float:
        """What a share of 1 scores."""
        ...

    def interval(self, alpha: float) -> tuple[float, float]:
        """Return the interval of confidence 1 - α."""
        ...

    def pvalue(self, null: float, alternative: str) -> float:
        """Return the p-value of a null value."""
        ...


class Share(NamedTuple):
    """The share of segments on which a system succeeds, of an effective number of them."""

    share: float
    n: float
    error: float  # of the score
    degrees: float  # of the error, infinite where segments are drawn freely
    scale: float


class Changes(NamedTuple):
    """Effective numbers of segments gained and lost, and of all: by Tango's method (1998)."""

    gained: float
    lost: float
    n: float
    degrees: float
    scale: float

    @property
    def test(self) -> str:
        """What the test is called."""
        return "mcnemar"

    @property
    def method(self) -> str:
        """What the interval is called."""
        return "tango"

    def interval(self, alpha: float) -> tuple[float, float]:
        """Return Tango's interval of confidence 1 - α."""
        quantile = student.quantile(self.degrees, alpha)
        low, high = counts.tango(self.gained, self.lost, self.n, quantile)
        return self.scale * low, self.scale * high

    def pvalue(self, null: float, alternative: str) -> float:
        """Return the p-value of Tango's score test."""
        distance = counts.tango_distance(self.gained, self.lost, self.n, null / self.scale)
        return student.pvalue(distance, 1.0, self.degrees, alternative)


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
        spread = self.units.spread(influence, self._unseen(self.success[i].astype(float)))
        share = 1.0 if np.all(self.success[i]) else self._share(self.success[i])
        n = self._effective(share * (1 - share), spread)
        return Share(share, n, spread.error, self._degrees(spread), self.scale)

    def score_interval(self, i: int, influence: Floats, alpha: float) -> tuple[float, float]:
        """Return Wilson's interval of a score with these influence values of units, `(N,)`."""
        of = self.share_of(influence, i)
        low, high = counts.wilson(of.share, of.n, student.quantile(of.degrees, alpha))
        return self.scale * low, self.scale * high

    def counted(self, a: int, b: int, influence: Floats) -> Changes:
        """Return what counts the difference of two scores with these influence values."""
        spread = self.spread(a, b, influence)
        return Changes(*self.changed(a, b, spread), self._degrees(spread), self.scale)

    def spread(self, a: int, b: int, influence: Floats) -> Spread:
        """Return the spread of a difference with these influence values of units, `(N,)`."""
        first, second = self.success[[a, b]].astype(float)
        return self.units.spread(influence, self._unseen(second - first))

    def _unseen(self, values: Floats) -> Floats | None:
        """Return what the strata's Σu² lack, `(T,)`: of few items, failures may be unseen.

        The variance of a stratum is that of its values (0 and 1, or of a difference -1, 0 and 1)
        with four items more that are as all items are on average: of a share x/n that of
        p̃ = (x + 4·pooled)/(n + 4). Strata of the same shares lack nothing.
        """
        codes = self.units.segment_codes
        if codes is None:
            return None
        n = np.bincount(codes)

        def variances(added: float) -> Floats:
            mean, square = (
                (np.bincount(codes, powers) + added * np.mean(powers)) / (n + added)
                for powers in (values, values**2)
            )
            return np.asarray(square - mean**2)

        squares = np.bincount(codes, self._weights() ** 2)
        return np.asarray(squares * (variances(_ADDED) - variances(0.0)))

    def changed(self, a: int, b: int, spread: Spread) -> tuple[float, float, float]:
        """Return effective numbers of gained and lost segments, and of all."""
        first, second = self.success[[a, b]]
        gained, lost = self._share(second & ~first), self._share(first & ~second)
        n = self._effective(gained + lost - (gained - lost) ** 2, spread)
        return n * gained, n * lost, n

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
        if self.units.sizes is None:
            return segments if self.units.plain or found == np.inf else found
        groups = self._groups(self.units.sizes)
        return min(found, (variance + _HALF / segments) / (squared + _HALF / (segments * groups)))

    def _groups(self, sizes: NDArray[np.int64]) -> float:
        """Return Kish's number of groups of these sizes, by what their segments weigh."""
        members = self.units.members
        if self.weights is None or members is None:
            return student.kish(sizes)
        return student.kish(np.bincount(members, self.weights))

    def _share(self, marks: NDArray[np.bool_]) -> float:
        return float(np.mean(marks) if self.weights is None else self.weights @ marks)

    def _weights(self) -> Floats:
        n = self.success.shape[1]
        return np.full(n, 1 / n) if self.weights is None else self.weights

    def _degrees(self, spread: Spread) -> float:
        return np.inf if self.units.plain else spread.degrees


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
