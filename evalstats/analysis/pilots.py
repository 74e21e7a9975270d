"""Pilots: two systems on some segments, and how often the default test would find a difference.

What the pilot's differences vary by is taken to be what those of the next test set will. Draws of N
segments from the pilot give differences and standard errors; moved to a true difference, they say
how often the t test with Hall's correction finds it. Beyond 2,000 segments the noncentral t
distribution says the same. For 0/1 scores the exact test's power is a sum, and nothing is drawn.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis import draws
from evalstats.inference import power

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Setting:
    """The test that is planned, and the power that it should have."""

    level: float
    alternative: str
    target: float


class Design:
    """A pair that is tested by t: what is found on sizes that were drawn, and on all others."""

    setting: Setting
    smallest: int

    @property
    def sizes(self) -> list[int]:
        """The sizes that were drawn."""
        raise NotImplementedError

    def power(self, difference: float, n: int) -> float:
        """Return how often a difference of this size is found on n segments."""
        raise NotImplementedError

    def plain_power(self, difference: float, n: int) -> float:
        """Return the same for normal values, without draws of segments."""
        raise NotImplementedError

    @property
    def largest(self) -> float:
        """A difference that is found wherever one is."""
        raise NotImplementedError

    def least_difference(self, n: int) -> float:
        """Return the size of the least difference that is found with the target power."""
        target = self.setting.target
        return power.least_difference(lambda d: self.power(d, n), target, self.largest)

    @cached_property
    def _least_of_drawn(self) -> tuple[Floats, Floats]:
        found = {n: self.least_difference(n) for n in self.sizes}
        sizes = [n for n, least in found.items() if np.isfinite(least) and least > 0]
        # As sizes grow the least difference falls, but for the noise of the draws.
        least = np.minimum.accumulate([found[n] for n in sizes])
        return np.array(sizes, dtype=np.float64), least

    def needed(self, difference: float) -> int | None:
        """Return how many segments find a difference with the target power."""
        sizes, least = self._least_of_drawn
        if len(sizes) > 1 and least[-1] <= difference <= least[0]:
            where = np.interp(-np.log(difference), -np.log(least), np.log(sizes))
            return int(np.ceil(np.exp(where) - 1e-9))
        beyond = len(sizes) and difference < least[-1]
        first = int(sizes[-1]) if beyond else self.smallest
        return power.least_size(
            lambda n: self.plain_power(difference, n), self.setting.target, first
        )


@dataclass(frozen=True)
class Drawn(Design):
    """A pair under a score that is tested by t.

    `draws` has, for each size, the sorted differences from which on the draws are significant
    above zero and below it. `inflation` multiplies the standard deviation.
    """

    setting: Setting
    spread: float
    n: int
    degrees_of_freedom: float
    draws: dict[int, tuple[Floats, Floats]]
    direction: int
    spreads: tuple[float, float]
    smallest: int
    inflation: float = 1.0

    @property
    def sizes(self) -> list[int]:
        """The sizes that were drawn."""
        return sorted(self.draws)

    def bounds(self) -> tuple[Drawn, Drawn]:
        """Return the pair as it is if the pilot varies by more, or less, than what it is from."""
        low, high = (replace(self, inflation=factor) for factor in self.spreads)
        return low, high

    def power(self, difference: float, n: int) -> float:
        """Return how often a difference of this size is found on n segments."""
        if n not in self.draws:
            return self.plain_power(difference, n)
        size = self.direction * difference / self.inflation
        return share_found(size, self.draws[n], self.setting.alternative)

    def plain_power(self, difference: float, n: int) -> float:
        """Return the same for normal values."""
        shift = self.direction * difference / self.inflation * np.sqrt(n) / self.spread
        degrees = draws.degrees_for(n, self.n, self.degrees_of_freedom)
        return power.t_power(shift, degrees, self.setting.level, self.setting.alternative)

    @property
    def largest(self) -> float:
        """A difference that is found wherever one is."""
        # No t that matters lies beyond: of 10 segments, one in 10⁹ lies 20 standard errors out.
        return 1e3 * self.inflation * self.spread


def share_found(difference: float, found_from: tuple[Floats, Floats], alternative: str) -> float:
    """Return the share of draws that are significant, from `draws.found_from`."""
    above, below = found_from
    return power.share_found(
        difference,
        above if alternative != "less" else None,
        below if alternative != "greater" else None,
    )


@dataclass(frozen=True)
class Counted:
    """A pair under 0/1 scores, which McNemar's exact test compares."""

    setting: Setting
    scale: float
    n: int
    discordant: float
    interval: tuple[float, float]

    @property
    def spread(self) -> float:
        """The standard deviation of a segment's difference where both shares are equal."""
        return float(self.scale * np.sqrt(self.discordant))

    def bounds(self) -> tuple[Counted, Counted]:
        """Return the pair if fewer segments differ, or more, within Wilson's interval."""
        low, high = (replace(self, discordant=share) for share in self.interval)
        return low, high

    def power(self, difference: float, n: int) -> float:
        """Return how often a difference of this size is found on n segments."""
        size = difference / self.scale
        if size > 1:
            return self.power(self.scale, n)
        # No smaller share of segments can make such a difference.
        differ = max(self.discordant, size)
        gained, lost = (differ + size) / 2, (differ - size) / 2
        if self.setting.alternative == "less":
            gained, lost = lost, gained
        return power.mcnemar_power(n, gained, lost, self.setting.level, self.setting.alternative)

    def least_difference(self, n: int) -> float:
        """Return the size of the least difference that is found with the target power."""
        return power.least_difference(lambda d: self.power(d, n), self.setting.target, self.scale)

    def needed(self, difference: float) -> int | None:
        """Return how many segments find a difference with the target power."""
        return power.least_size(lambda n: self.power(difference, n), self.setting.target)
