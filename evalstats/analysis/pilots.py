"""Pilots: two systems on some segments, and how often the default test would find a difference.

What the pilot's differences vary by is taken to be what those of the next test set will. Draws of N
segments from the pilot give differences and standard errors; moved to a true difference, they say
how often the t test with Hall's correction finds it. Beyond 2,000 segments the noncentral t
distribution says the same. For 0/1 scores the exact test's power is a sum, and nothing is drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis import draws, sampling
from evalstats.analysis.plan import Plan
from evalstats.analysis.sampling import Sample
from evalstats.errors import InputError
from evalstats.inference import power
from evalstats.inference.proportions import wilson

Floats = NDArray[np.float64]
Pair = tuple[int, int]

#: Sizes that are drawn; what is needed for a difference is interpolated between them.
DRAWN = (10, 20, 50, 100, 200, 500, 1000, 2000)
#: Pairs whose draws are in memory together.
_PAIRS = 50


@dataclass(frozen=True)
class Setting:
    """The test that is planned, and the power that it should have."""

    level: float
    alternative: str
    target: float


@dataclass(frozen=True)
class Drawn:
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
    inflation: float = 1.0

    def bounds(self) -> tuple[Drawn, Drawn]:
        """Return the pair as it is if the pilot varies by more, or less, than what it is from."""
        low, high = (replace(self, inflation=factor) for factor in self.spreads)
        return low, high

    def power(self, difference: float, n: int) -> float:
        """Return how often a difference of this size is found on n segments."""
        size, alternative = difference / self.inflation, self.setting.alternative
        if n not in self.draws:
            shift = self.direction * size * np.sqrt(n) / self.spread
            degrees = draws.degrees_for(n, self.n, self.degrees_of_freedom)
            return power.t_power(shift, degrees, self.setting.level, alternative)
        above, below = self.draws[n]
        return power.share_found(
            self.direction * size,
            above if alternative != "less" else None,
            below if alternative != "greater" else None,
        )

    def least_difference(self, n: int) -> float:
        """Return the size of the least difference that is found with the target power."""
        # No t that matters lies beyond: of 10 segments, one in 10⁹ lies 20 standard errors out.
        largest = 1e3 * self.inflation * self.spread
        return power.least_difference(lambda d: self.power(d, n), self.setting.target, largest)

    @cached_property
    def _least_of_drawn(self) -> tuple[Floats, Floats]:
        found = {n: replace(self, inflation=1.0).least_difference(n) for n in sorted(self.draws)}
        sizes = [n for n, least in found.items() if np.isfinite(least) and least > 0]
        # As sizes grow the least difference falls, but for the noise of the draws.
        least = np.minimum.accumulate([found[n] for n in sizes])
        return np.array(sizes, dtype=np.float64), least

    def needed(self, difference: float) -> int | None:
        """Return how many segments find a difference with the target power."""
        sizes, least = self._least_of_drawn
        size = difference / self.inflation
        if len(sizes) > 1 and least[-1] <= size <= least[0]:
            where = np.interp(-np.log(size), -np.log(least), np.log(sizes))
            return int(np.ceil(np.exp(where) - 1e-9))
        plain = replace(self, draws={})
        first = int(sizes[-1]) if len(sizes) and size < least[-1] else 2
        return power.least_size(lambda n: plain.power(difference, n), self.setting.target, first)


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


def designs(
    sample: Sample, pairs: Sequence[Pair], sizes: Sequence[int], plan: Plan, setting: Setting
) -> Iterator[Drawn | Counted]:
    """Yield what is known of each pair (baseline, system); `sizes` are drawn where that helps."""
    for pair in pairs:
        _check_varies(sample, pair)
    if sample.outcomes is not None:
        for a, b in pairs:
            n, differing = sample.n_segments, sum(sample.outcomes.changes(a, b))
            interval = wilson(differing, n, plan.confidence_level)
            yield Counted(setting, sample.outcomes.scale, n, differing / n, interval)
        return
    drawn = sorted(n for n in {*DRAWN, *sizes} if n <= DRAWN[-1])
    for start in range(0, len(pairs), _PAIRS):
        some = pairs[start : start + _PAIRS]
        found: list[dict[int, tuple[Floats, Floats]]] = [{} for _ in some]
        for n in drawn:
            differences = draws.found_from(
                sample, some, n, plan, setting.level, setting.alternative
            )
            for of_pair, thresholds in zip(found, differences, strict=True):
                of_pair[n] = thresholds
        for pair, of_pair in zip(some, found, strict=True):
            moves, error, degrees = sampling.influences(sample, pair)
            observed = float(sample.scores[pair[1]] - sample.scores[pair[0]])
            down = setting.alternative == "less" or (
                setting.alternative == "two-sided" and observed < 0
            )
            yield Drawn(
                setting,
                float(error) * float(np.sqrt(len(moves))),
                len(moves),
                degrees,
                of_pair,
                -1 if down else 1,
                power.spread_interval(moves, degrees, plan.confidence_level),
            )


def _check_varies(sample: Sample, pair: Pair) -> None:
    baseline, system = (sample.table.systems[i] for i in pair)
    if sample.n_differing(*pair) == 0:
        raise InputError(
            f"{system!r} and {baseline!r} have identical {sample.name} statistics on every "
            f"segment: nothing varies, and a pilot without differences says nothing of power; "
            f"leave one of them out"
        )
    _, error, _ = sampling.influences(sample, pair)
    rounding = 1e-12 * float(np.max(np.abs(sample.scores[list(pair)]), initial=0.0))
    if sample.outcomes is None and not float(error) > rounding:
        raise InputError(
            f"{system!r} and {baseline!r} differ by the same on every segment under "
            f"{sample.name}: nothing varies, and a pilot without variance says nothing of power"
        )
