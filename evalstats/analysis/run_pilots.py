r"""Pilots of several runs of a system: what more segments find, and what only more runs do.

The variance of a difference has a part that segments share out and a part that runs do,

.. math:: \frac{1}{N}\Bigl(\sigma_s^2 + \frac{\sigma_{eA}^2 + \sigma_{eB}^2}{R}\Bigr)
    + \frac{\sigma_{rA}^2 + \sigma_{rB}^2}{R}

(`inference.runs`). Without σ_r it is Miller's (2024, "Adding error bars to evals", section 5), of
K = R answers to every question. Mean squares of normal runs are chi-square, independent of one
another and of the difference (Searle, Casella and McCulloch, 1992): they are drawn, and each draw
is tested as `compare` would. Segments are drawn from the pilot, as without runs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis import draws
from evalstats.analysis.draws import Draws
from evalstats.analysis.pilots import Design, Setting, share_found
from evalstats.inference import power, runs

Floats = NDArray[np.float64]

#: So many segments, or runs, that more of them find nothing more.
ENDLESS = 10**12
_FEWEST_RUNS = 2


@dataclass(frozen=True)
class Spread:
    """What a pilot of R runs of N segments says of two systems.

    Attributes
    ----------
    n_segments, n_runs : int
        N and R, or groups.
    segment : float
        N times the squared standard error that segments give; with these degrees of freedom.
    run, both, between : ndarray, shape (2,)
        σ_r² and σ_e² of each system, and the variance of its runs' scores.
    degrees, spread_degrees : float
        Of the segments' part in the test; and of its variance, whose tails may be long.
    """

    n_segments: int
    n_runs: int
    segment: float
    run: Floats
    both: Floats
    between: Floats
    degrees: float
    spread_degrees: float

    def segment_for(self, n_runs: int) -> float:
        """Return what `segment` is with another number of runs."""
        together = min(float(np.sum(self.both)) / self.n_runs, self.segment)
        return self.segment + together * (self.n_runs / n_runs - 1)


def spread_of(
    mean_squares: Floats, n_segments: int, n_runs: int, segment: float, degrees: tuple[float, float]
) -> Spread:
    """Return the variances behind mean squares `(2, 2)` of both systems (`runs.mean_squares`)."""
    between, together = mean_squares.T * n_runs
    run = np.maximum(between - together, 0.0)
    return Spread(
        n_segments, n_runs, segment, run, together * n_segments, between, degrees[0], degrees[1]
    )


@dataclass(frozen=True)
class DrawnRuns(Design):
    """A pair of systems of several runs; `n_runs` of each are planned.

    `segments` are draws of segments of each size, of means over the pilot's runs. `side` says
    which bound of the variance is taken for the variance, at `confidence_level`.
    """

    setting: Setting
    pilot: Spread
    n_runs: int
    segments: dict[int, Draws]
    direction: int
    smallest: int
    confidence_level: float
    n_resamples: int
    seed: int
    side: int | None = None
    _found: dict[tuple[int, int, bool], tuple[Floats, Floats]] = field(default_factory=dict)

    @property
    def sizes(self) -> list[int]:
        """The sizes that were drawn."""
        return sorted(self.segments)

    @property
    def spread(self) -> float:
        """The segments' part of the standard error is this over √N."""
        return float(np.sqrt(self.pilot.segment_for(self.n_runs)))

    @property
    def run_spread(self) -> float:
        """The runs' part of the standard error is this over √R."""
        return float(np.sqrt(np.sum(self.pilot.run)))

    @property
    def largest(self) -> float:
        """A difference that is found wherever one is."""
        return 1e6 * float(np.hypot(self.spread, self.run_spread))

    def bounds(self) -> tuple[DrawnRuns, DrawnRuns]:
        """Return the pair as it is if the pilot varies by more, or less, than what it is from."""
        return replace(self, side=0), replace(self, side=1)

    def with_runs(self, n_runs: int) -> DrawnRuns:
        """Return the plan with another number of runs."""
        return replace(self, n_runs=n_runs)

    def power(self, difference: float, n: int) -> float:
        """Return how often a difference of this size is found on n segments."""
        return self._power(difference, n, n in self.segments)

    def plain_power(self, difference: float, n: int) -> float:
        """Return the same for normal values."""
        return self._power(difference, n, False)

    def _power(self, difference: float, n: int, drawn: bool) -> float:
        key = n, self.n_runs, drawn
        if key not in self._found:
            self._found[key] = self._found_from(n, drawn)
        size = self.direction * difference / self._inflation(n)
        return share_found(size, self._found[key], self.setting.alternative)

    def needed(self, difference: float) -> int | None:
        """Return how many segments find it; `None` where the runs that are planned are too few."""
        if self.plain_power(difference, ENDLESS) < self.setting.target:
            return None
        return super().needed(difference)

    def runs_needed(self, difference: float, n: int) -> int | None:
        """Return how many runs of each system are needed on n segments; `None` if none are enough.

        With `ENDLESS` segments these are the fewest with which any number of segments is enough.
        """

        def with_runs(n_runs: int) -> float:
            return self.with_runs(n_runs).power(difference, n)

        return _least(with_runs, self.setting.target)

    def _found_from(self, n: int, drawn: bool) -> tuple[Floats, Floats]:
        """Draw runs, and segments where they are not: see `draws.found_from`."""
        pilot, n_runs, size = self.pilot, self.n_runs, self.n_resamples
        rng = np.random.default_rng([self.seed, n_runs, 1])
        segment, apart = pilot.segment_for(n_runs), rng.normal(size=(2, size))
        if drawn:
            of_segments = self.segments[n]
            scale = np.sqrt(segment / pilot.segment) if pilot.segment > 0 else 1.0
            centred, errors = scale * of_segments.centred, scale * of_segments.errors
        else:
            free = draws.degrees_for(n, pilot.n_segments, pilot.degrees)
            centred = np.sqrt(segment / n) * apart[0]
            errors = np.sqrt(segment / n * _mean_square(rng, free, size))
            of_segments = Draws(centred, errors, np.zeros(size), np.full(size, free))
        added = []
        for run, both in zip(pilot.run, pilot.both / n, strict=True):
            # Mean squares of R - 1 and of (R - 1)(N - 1) degrees of freedom.
            between = (run + both) / n_runs * _mean_square(rng, n_runs - 1.0, size)
            together = both / n_runs * _mean_square(rng, (n_runs - 1.0) * (n - 1.0), size)
            added.append((np.maximum(between - together, 0.0), between, n_runs))
        total, degrees = runs.combined(errors, of_segments.degrees, added)
        centred = centred + self.run_spread / np.sqrt(n_runs) * apart[1]
        tested = Draws(centred, total, of_segments.skew, degrees)
        return draws.found_from(tested, n, self.setting.level, self.setting.alternative)

    def _inflation(self, n: int) -> float:
        """Return a bound of the standard deviation over what the pilot says it is."""
        if self.side is None:
            return 1.0
        pilot, n_runs = self.pilot, self.n_runs
        segment = np.sqrt(pilot.segment_for(n_runs) / n)
        # Where runs seem to add nothing, how much they do is as uncertain as where they do.
        added = [
            (run / n_runs, between / n_runs, pilot.n_runs)
            for run, between in zip(pilot.run, pilot.between, strict=True)
        ]
        _, degrees = runs.combined(segment, pilot.spread_degrees, added)
        return power.spread_bounds(float(degrees), self.confidence_level)[self.side]


def _mean_square(rng: np.random.Generator, degrees: float, size: int) -> Floats:
    """Return mean squares of normal values of variance 1."""
    return np.asarray(rng.chisquare(degrees, size) / degrees)


def _least(found: Callable[[int], float], target: float) -> int | None:
    """Return the fewest runs with the target power; `None` where no number has it."""
    return None if found(ENDLESS) < target else power.least_size(found, target, _FEWEST_RUNS)
