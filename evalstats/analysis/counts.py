"""Shares of segments that succeed (accuracy, pass rates), and differences of shares.

Wilson's interval of a share; Tango's (1998) interval and score test of a difference, at effective
numbers of segments in groups and strata (Kott and Carr, 1997; Dean and Pagano, 2015).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.design import Units
from evalstats.inference import counts, student
from evalstats.inference.student import Spread
from evalstats.statistics.segments import SegmentStatistics

Floats = NDArray[np.float64]
#: Number of items (or groups) with the pooled share added to each stratum, and of answers shared by
#: whole groups added to varying ones (Agresti and Coull, 1998).
_ADDED = 4.0
#: A variance below this share of another is rounding.
_ROUNDING = 1e-24


@dataclass(frozen=True)
class Counts(ABC):
    """The difference of two shares, with its score interval and score test."""

    test: ClassVar[str]  # name of the test
    method: ClassVar[str]
    scale: float  # the score of a share of 1
    degrees: float  # of the error, infinite for single segments

    @abstractmethod
    def interval(self, alpha: float) -> tuple[float, float]:
        """Return the interval of confidence 1 - α."""

    @abstractmethod
    def pvalue(self, null: float, alternative: str) -> float:
        """Return the p-value of a null value."""


#: A function from two systems and influence values of units, `(N,)`, to a test.
Counter = Callable[[int, int, Floats], Counts | None]


@dataclass(frozen=True)
class Changes(Counts):
    """Effective numbers of segments gained, lost, and in all, for Tango's method (1998)."""

    gained: float
    lost: float
    n: float

    test = "mcnemar"
    method = "tango"

    @property
    def discordant(self) -> float:
        """The share of segments that are gained or lost."""
        return (self.gained + self.lost) / self.n

    def interval(self, alpha: float) -> tuple[float, float]:
        """Return Tango's interval of confidence 1 - α."""
        quantile = student.quantile(self.degrees, alpha)
        low, high = counts.tango(self.gained, self.lost, self.n, quantile)
        return self.scale * low, self.scale * high

    def pvalue(self, null: float, alternative: str) -> float:
        """Return the p-value of Tango's score test."""
        distance = counts.tango_distance(self.gained, self.lost, self.n, null / self.scale)
        return student.pvalue(distance, 1.0, self.degrees, alternative)


@dataclass(frozen=True)
class GroupedChanges(Counts):
    """Shares of answers gained and lost in groups: the cluster t test, in Buehler's order (1957).

    A null value that requires more changed answers than observed has a larger variance: the
    variance of the missing changes is Tango's (1998), with a design effect halfway between the
    observed changes' and the one of groups that change as a whole.
    """

    gained: float
    lost: float
    squared: float  # squared error of the difference of shares
    worth: float  # effective number of groups (Kish, 1965)
    #: The same with fewer losses, and with fewer gains, by groups.
    fewer_lost: tuple[GroupedChanges, ...] = ()
    fewer_gained: tuple[GroupedChanges, ...] = ()

    test = method = "cluster-t"

    @property
    def discordant(self) -> float:
        """The share of segments that are gained or lost."""
        return self.gained + self.lost

    @property
    def n(self) -> float:
        """Effective number of segments (Korn and Graubard, 1998)."""
        variance = self.discordant - (self.gained - self.lost) ** 2
        return variance / self.squared if self.squared > 0 else self.worth

    def interval(self, alpha: float) -> tuple[float, float]:
        """Return the interval of confidence 1 - α.

        Its lower limit is never higher than with fewer losses, its upper never lower than with
        fewer gains.
        """
        low = -max(part.exchanged.upper_limit(alpha) for part in (self, *self.fewer_lost))
        high = max(part.upper_limit(alpha) for part in (self, *self.fewer_gained))
        return self.scale * low, self.scale * high

    def pvalue(self, null: float, alternative: str) -> float:
        """Return the largest p-value of t tests with all changes and with fewer."""
        if alternative == "two-sided":
            return min(1.0, 2 * min(self.pvalue(null, side) for side in ("greater", "less")))
        fewer = self.fewer_lost if alternative == "greater" else self.fewer_gained
        return max(
            student.pvalue(part.distance(null / self.scale), 1.0, part.degrees, alternative)
            for part in (self, *fewer)
        )

    @property
    def exchanged(self) -> GroupedChanges:
        """The difference with the two systems exchanged."""
        return replace(self, gained=self.lost, lost=self.gained)

    def upper_limit(self, alpha: float) -> float:
        """Return the largest difference of shares that the t test does not reject."""
        quantile = student.quantile(self.degrees, alpha)
        return counts.upper_limit(self.distance, self.gained - self.lost, quantile)

    def distance(self, difference: float) -> float:
        """Return the distance of the observed difference above a difference of shares, in errors.

        A system that is shown to be better is also not worse by any margin, although a margin
        requires more changes, with a larger variance.
        """
        beyond, observed = self._distance(difference), self.gained - self.lost
        if difference * observed >= 0:
            return beyond
        return max(beyond, self._distance(0.0), key=abs)

    def _distance(self, difference: float) -> float:
        """Return the same with the variance under this difference only."""
        whole, seen = 1 / self.worth, 1 / self.n
        effect = max((whole + min(seen, whole)) / 2, seen)
        # A difference of more than all items is impossible, so its distance is infinite.
        error = 0.0
        if abs(difference) < 1:
            variance = counts.tango_variance(self.gained, self.lost, 1.0, difference)
            missing = max(variance - self.discordant, 0.0)
            error = float(np.sqrt(self.squared + missing * effect))
        return student.standardised(self.gained - self.lost - difference, error)


#: Tests of gains and losses on the same segments.
Paired: TypeAlias = Changes | GroupedChanges


class Share(NamedTuple):
    """The share of segments on which a system succeeds, with an effective number of segments."""

    share: float
    n: float
    error: float  # error of the score
    degrees: float  # of the error, infinite for single segments


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Which segments succeed, the weight of each in the share, and the score of a share of 1."""

    success: NDArray[np.bool_]  # (S, N)
    scale: float
    weights: Floats | None  # (N,), summing to 1; None for equal weights
    units: Units  # units that are drawn

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
        share = self.share_of(influence, i)
        low, high = counts.wilson(share.share, share.n, student.quantile(share.degrees, alpha))
        return self.scale * low, self.scale * high

    def counted(self, a: int, b: int, influence: Floats) -> Paired:
        """Return the test of a difference of two scores with these influence values, `(N,)`."""
        first, second = self.success[[a, b]]
        gained, lost = second & ~first, first & ~second
        if self._groups.sizes is None:
            return self._changes(gained, lost, influence)
        return replace(
            self._grouped(gained, lost),
            fewer_lost=tuple(self._grouped(gained, part) for part in self._parts(lost)),
            fewer_gained=tuple(self._grouped(part, lost) for part in self._parts(gained)),
        )

    def _changes(
        self, gained: NDArray[np.bool_], lost: NDArray[np.bool_], influence: Floats
    ) -> Changes:
        """Return the test of segments gained and lost, `(N,)` each, without groups."""
        if self.units.plain and self.weights is None:
            numbers = float(np.count_nonzero(gained)), float(np.count_nonzero(lost))
            return Changes(self.scale, np.inf, *numbers, float(len(gained)))
        spread = self.units.spread(influence, self._added(gained.astype(float) - lost))
        shares = self._share(gained), self._share(lost)
        n = self._effective(sum(shares) - (shares[0] - shares[1]) ** 2, spread)
        degrees = np.inf if self.units.plain else spread.degrees
        return Changes(self.scale, degrees, n * shares[0], n * shares[1], n)

    def _grouped(self, gained: NDArray[np.bool_], lost: NDArray[np.bool_]) -> GroupedChanges:
        """Return the test of segments gained and lost, `(N,)` each, in groups."""
        changed = gained.astype(float) - lost
        weights = 1 / len(changed) if self.weights is None else self.weights
        values = self.scale * weights * (changed - np.mean(changed))
        influence = np.bincount(self.units.of_segments, values).astype(np.float64)
        spread, worth = self.units.spread(influence), student.kish(self._group_weights)
        b, c = self._share(gained), self._share(lost)
        squared, variance = (spread.error / self.scale) ** 2, b + c - (b - c) ** 2
        if squared <= _ROUNDING * variance:
            # All groups changed equally: their answers vary at least like single segments.
            squared = variance / self._n_segments
        return GroupedChanges(self.scale, spread.degrees, b, c, squared, worth)

    def _parts(self, marks: NDArray[np.bool_]) -> Iterator[NDArray[np.bool_]]:
        """Yield none of the marked segments, then the ones in groups with the most marks.

        For groups with 1, 1 and 5 marks: none, and the five.
        """
        members = self._groups.members
        if self._groups.sizes is None or members is None or not np.any(marks):
            return
        in_group = np.bincount(members, marks)[members]
        for more in (np.inf, *np.unique(in_group[marks])[:0:-1]):
            yield marks & (in_group >= more)

    @property
    def _groups(self) -> Units:
        """The groups; with two labels the more numerous ones, since t is for the fewer."""
        return max(self.units.sides, key=lambda side: side.alike.degrees)

    @property
    def _n_segments(self) -> float:
        """Number of segments, by weight."""
        return float(self.success.shape[1]) if self.weights is None else student.kish(self.weights)

    @property
    def _group_weights(self) -> Floats:
        """Total weight of the segments of each group."""
        sizes, members = self._groups.sizes, self._groups.members
        assert sizes is not None
        if self.weights is None or members is None:
            return sizes.astype(np.float64)
        return np.asarray(np.bincount(members, self.weights))

    def _share(self, marks: NDArray[np.bool_]) -> float:
        return float(np.mean(marks) if self.weights is None else self.weights @ marks)

    def _added(self, values: Floats) -> Floats | None:
        """Return the addition to Σu² of strata, `(T,)`, since few items may not show failures.

        The variance of a stratum is the variance of its values (0 and 1, or, for a difference, -1,
        0 and 1) with four more average items: for a share x/n, the variance of p̃ = (x +
        4·pooled)/(n + 4). For groups it is four groups of one answer each, and the variance is
        never reduced. If strata have equal shares, nothing is added.
        """
        codes, n_segments = self.units.segment_codes, self.success.shape[1]
        if codes is None:
            return None
        weights = np.full(n_segments, 1 / n_segments) if self.weights is None else self.weights
        drawn = codes if self.units.codes is None else self.units.codes
        members = self.units.members if len(drawn) < n_segments else None
        if members is not None:
            weights = np.bincount(members, weights)
        numbers, variances = np.bincount(drawn), []
        for added in (_ADDED, 0.0):
            mean, square = (
                (numbers * np.bincount(codes, powers) / np.bincount(codes) + added * powers.mean())
                / (numbers + added)
                for powers in (values, values**2)
            )
            variances.append(square - mean**2)
        more = np.bincount(drawn, weights**2) * (variances[0] - variances[1])
        return np.asarray(more if members is None else np.maximum(more, 0.0))

    def _effective(self, variance: float, spread: Spread) -> float:
        """Return the effective number of segments (Korn and Graubard, 1998).

        Few successes, or few failures, show little about correlation within groups: four more,
        shared by whole groups, are added (Agresti and Coull, 1998). If nothing varies, the number
        is Kish's (1965) for the groups.
        """
        squared = (spread.error / self.scale) ** 2
        varying = variance / squared if variance > 0 and squared > 0 else np.inf
        segments = self._n_segments
        if self._groups.sizes is None:
            return segments if self.units.plain or varying == np.inf else varying
        groups, more = student.kish(self._group_weights), _ADDED / segments
        return min(varying, (variance + more) / (squared + more / groups))


def as_outcomes(
    table: SegmentStatistics, units: Units, shares: Sequence[float] = ()
) -> Outcomes | None:
    """Return the outcomes if every segment counts once and scores 0 or 1; else `None`.

    `shares` are the weights of the strata in a mean of their scores.
    """
    columns = table.metric.outcome_columns()
    if columns is None:
        return None
    succeeded, counted, scale = columns
    marks, ones = table.values[..., succeeded], table.values[..., counted]
    if scale <= 0 or not np.all(ones == 1) or not np.all((marks == 0) | (marks == 1)):
        return None
    strata, weights = units.segment_strata, None
    if strata is not None and len(shares) > 1:
        weights = np.array(shares)[strata] / np.bincount(strata)[strata]
    return Outcomes(marks.astype(np.bool_), scale, weights, units)


def joined(parts: list[Outcomes | None], shares: list[float], units: Units) -> Outcomes | None:
    """Return the outcomes of several tasks together, with the weight of each in a total."""
    known = [part for part in parts if part is not None]
    if len(known) < len(parts) or len({part.scale for part in known}) > 1:
        return None
    weights = [
        np.full(p.success.shape[1], w / p.success.shape[1])
        for w, p in zip(shares, known, strict=True)
    ]
    success = np.concatenate([part.success for part in known], axis=1)
    return Outcomes(success, known[0].scale, np.concatenate(weights), units)
