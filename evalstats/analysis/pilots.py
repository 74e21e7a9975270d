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

from evalstats.analysis import sampling
from evalstats.analysis.plan import Plan
from evalstats.analysis.sampling import Sample
from evalstats.errors import InputError
from evalstats.inference import power, skewness
from evalstats.inference.proportions import wilson
from evalstats.resampling.totals import recipe, weighted_totals

Floats = NDArray[np.float64]
Pair = tuple[int, int]

#: Sizes that are drawn; what is needed for a difference is interpolated between them.
DRAWN = (10, 20, 50, 100, 200, 500, 1000, 2000)
#: Pairs whose draws are in memory together, and weights.
_PAIRS, _WEIGHTS = 50, 1 << 22
#: Of one group's share in the segments that are drawn; few groups may be unlike in size.
_LARGEST_SHARE = 0.9


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
            degrees = degrees_for(n, self.n, self.degrees_of_freedom)
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
            for draws, thresholds in zip(
                found, _thresholds(sample, some, n, plan, setting), strict=True
            ):
                draws[n] = thresholds
        for pair, draws in zip(some, found, strict=True):
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
                draws,
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


def degrees_for(n: int, n_pilot: int, degrees_of_freedom: float) -> float:
    """Return the degrees of freedom of n groups like the pilot's; of segments, n - 1."""
    return max((degrees_of_freedom + 1) * n / n_pilot - 1, 1e-3)


def _thresholds(
    sample: Sample, pairs: Sequence[Pair], n: int, plan: Plan, setting: Setting
) -> Iterator[tuple[Floats, Floats]]:
    """Yield the true differences from which on draws of n segments are significant, both ways."""
    from scipy.special import stdtrit

    n_systems, n_pilot, k = sample.values.shape
    influences = [sampling.influences(sample, pair) for pair in pairs]
    # In points of the score, of one segment.
    moves = n_pilot * np.stack([values for values, _, _ in influences], axis=1)
    squares, divisor = moves**2, n - 1
    if sample.sizes is not None:
        # The bias-reduced variance divides by one less than the groups in its own way.
        divisor = n
        shares = sample.sizes / (n * np.mean(sample.sizes))
        squares = squares / (1 - np.minimum(shares, _LARGEST_SHARE))[:, None]
    statistics = sample.values.transpose(1, 0, 2).reshape(n_pilot, -1).astype(np.float64)
    columns = np.concatenate([statistics, moves, squares, moves**3], axis=1)
    sums = _draw(columns, n, plan)
    totals, *powers = np.split(sums, n_systems * k + len(pairs) * np.arange(3), axis=1)
    totals = totals.reshape(-1, n_systems, k)
    scores = sample.table.metric.score(totals)
    if not np.all(np.isfinite(scores)):
        raise InputError(
            f"{sample.table.metric.name} of {n} segments drawn from the pilot is not finite; "
            f"define the score for every total, for example where a denominator is 0"
        )
    gradients = n * sample.table.metric.gradient(totals)
    tail = setting.level / 2 if setting.alternative == "two-sided" else setting.level
    for i, (a, b) in enumerate(pairs):
        first, second, third = (block[:, i] / n for block in powers)
        variance = np.maximum(second - first**2, 0.0)
        errors = np.sqrt(variance * _bends(sample, (a, b), gradients) / divisor)
        central = third - 3 * first * second + 2 * first**3
        skew = np.divide(central, variance**1.5, where=variance > 0, out=np.zeros_like(variance))
        degrees = degrees_for(n, n_pilot, influences[i][2])
        quantile = -float(stdtrit(degrees, tail))
        centred = scores[:, b] - scores[:, a] - (sample.scores[b] - sample.scores[a])
        # As in the default test, the more careful of t and Hall's transformation decides.
        yield (
            power.found_from(
                centred, errors, np.maximum(quantile, skewness.untransformed(quantile, skew, n))
            ),
            power.found_from(
                centred, errors, np.minimum(-quantile, skewness.untransformed(-quantile, skew, n))
            ),
        )


def _bends(sample: Sample, pair: Pair, gradients: Floats) -> Floats:
    """Return by how much the variance changes where the gradient does, `(B, S, k) -> (B,)`.

    BLEU has two gradients at a length ratio of 1, and draws fall on either side.
    """
    rows = np.concatenate([sample.values[i] for i in pair], axis=1).astype(np.float64)
    rows -= np.mean(rows, axis=0)
    covariance = rows.T @ rows / len(rows)
    signs = np.array([[-1.0], [1.0]])

    def variance(gradient: Floats) -> Floats:
        flat = (signs * gradient).reshape(*gradient.shape[:-2], -1)
        return np.asarray(np.einsum("...i,...i->...", flat @ covariance, flat))

    pilot = len(rows) * sample.table.metric.gradient(sample.totals[list(pair)])
    change = variance(gradients[:, list(pair)]) / variance(pilot)
    # Few segments may leave a draw without a gradient, where the score is not smooth.
    return np.where(np.isfinite(change), change, 1.0)


def _draw(columns: Floats, n: int, plan: Plan) -> Floats:
    """Sum columns over draws of n segments, with replacement, `(N, K) -> (B, K)`."""
    n_pilot = len(columns)
    if n <= n_pilot:
        weights = recipe(n_pilot, plan.seed, "multinomial", n)
        return weighted_totals(weights, columns, plan.n_resamples, plan.executor)
    # More draws than segments: counts of segments are drawn at once, not one by one.
    rng = np.random.default_rng([plan.seed, n])
    shares = np.full(n_pilot, 1 / n_pilot)
    step = max(1, _WEIGHTS // n_pilot)
    blocks = [
        rng.multinomial(n, shares, size=min(step, plan.n_resamples - done)) @ columns
        for done in range(0, plan.n_resamples, step)
    ]
    return np.concatenate(blocks)
