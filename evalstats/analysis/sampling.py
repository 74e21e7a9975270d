"""One metric's statistics with their replicates, and the intervals that follow from them.

This is where the leaves meet: the weights of `resampling`, the scores of a metric, the influence
values and the interval methods. Everything is done for all systems at once.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis import resampled, variances
from evalstats.analysis.grid import on_grid
from evalstats.analysis.outcomes import Outcomes, as_outcomes
from evalstats.analysis.plan import Plan
from evalstats.analysis.units import StratumRows, Units, check_fits
from evalstats.errors import InputError
from evalstats.inference import influence, intervals, proportions, skewness
from evalstats.metrics import Metric, scores_of
from evalstats.metrics.averages import MeanOfRuns, OfStrata
from evalstats.metrics.logarithms import unlogged
from evalstats.resampling.strata import Stratified
from evalstats.resampling.totals import as_kind, bootstrap_errors, recipe
from evalstats.resampling.weights import Weights
from evalstats.shards.shard import Shard
from evalstats.statistics.segments import SegmentStatistics

Floats = NDArray[np.float64]
Pair = tuple[int, int]
Codes = NDArray[np.intp]

#: Where fewer segments differ, how many do is what is uncertain.
FEW_DIFFERING = 10
#: Intervals of 0/1 scores, which count segments.
COUNTED = ("wilson", "tango", "nam-blackwelder")


@dataclass(frozen=True)
class Sample:
    """One metric's statistics, on the exact grid, with what resampling made of them."""

    table: SegmentStatistics
    name: str
    values: NDArray[Any]  # (S, N, k)
    totals: Floats  # (S, k)
    scores: Floats  # (S,)
    replicates: Floats  # (B, S); B = 0 where no interval or test needs them
    bootstrap: Floats  # (B, S, k)
    weights: Weights | None = None  # whose rows the resamples are, where they are drawn here
    moves: Floats | None = None  # (B, S - 1, k): totals of random halves, less the first system's
    shard: Shard | None = None  # where the segments are elsewhere
    differing: NDArray[np.int64] | None = None  # (S, S), of a shard
    outcomes: Outcomes | None = None  # where scores are shares of segments
    sizes: NDArray[np.int64] | None = None  # (N,): segments of each group, where there are groups
    flips: Floats | None = None  # (B, S): signed sums of unbiased influence values
    _counted: dict[tuple[int, int], int] = field(default_factory=dict, repr=False)
    units: Units | None = None  # what a resample is made of
    segments: SegmentStatistics | None = None  # the table before it was summed within groups

    @property
    def codes(self) -> Codes | None:
        """The stratum of each unit, `(N,)`, where there are strata."""
        return None if self.units is None else self.units.strata

    @property
    def has_runs(self) -> bool:
        """Whether scores are means over several runs of each system."""
        return isinstance(unlogged(self.table.metric), MeanOfRuns)

    @property
    def is_uneven(self) -> bool:
        """Whether units are groups of unlike sizes."""
        return self.sizes is not None and bool(np.ptp(self.sizes) > 0)

    @property
    def n_segments(self) -> int:
        """N; the segments themselves may be elsewhere."""
        return self.values.shape[1] if self.shard is None else self.shard.n_segments

    def n_differing(self, a: int, b: int) -> int:
        """Count the segments on which the statistics of two systems differ."""
        if self.differing is not None:
            return int(self.differing[a, b])
        if (a, b) not in self._counted:
            # As they were given: rounding to the grid may tell equal numbers of two systems apart.
            differs = np.any(self.table.values[a] != self.table.values[b], axis=1)
            self._counted[a, b] = int(np.count_nonzero(differs))
        return self._counted[a, b]

    @cached_property
    def influence(self) -> Floats:
        """Influence of every segment, or group, on every score, `(S, N)`."""
        metric = self.table.metric
        with np.errstate(invalid="ignore", over="ignore"):
            if isinstance(self.values, StratumRows):
                return self.values.influence(metric.gradient(self.totals))
            return np.concatenate(
                [influence.influence_values(metric, rows[None]) for rows in self.values]
            )

    @property
    def degrees(self) -> float:
        """Degrees of freedom of a t interval, at most."""
        return variances.degrees_of(self.n_segments, self.sizes, self.codes)

    @property
    def flip_degrees(self) -> float:
        """Degrees that tie a flipped difference to its standard error."""
        return variances.flip_degrees_of(self.n_segments, self.sizes, self.codes)

    @property
    def unbiased(self) -> Floats:
        """Influence values whose sum of squares is a squared standard error, `(S, N)`."""
        return np.stack([variances.unbiased(v, self.sizes, self.codes) for v in self.influence])

    def moved(self, a: int, b: int) -> Floats:
        """Return what moves from system b to a when the segments of each half swap, `(B, k)`."""
        assert self.moves is not None
        first, second = (self.moves[:, i - 1] if i else 0.0 for i in (a, b))
        return np.asarray(second - first)


def bootstrap(
    tables: list[SegmentStatistics],
    plan: Plan,
    units: Units | None = None,
    always: bool = False,
) -> list[Sample]:
    """Resample all systems under all metrics with one weight matrix."""
    units = Units(tables) if units is None else units
    check_fits(plan, tables, units)
    names = distinct_names([table.metric for table in tables])
    values = [
        on_grid(t.values, [f"{c} of {t.metric.name}" for c in t.metric.columns]) for t in tables
    ]
    n_segments = tables[0].n_segments
    kind, n_draws = as_kind(plan.kind, plan.n_draws, n_segments)
    weights = recipe(n_segments, plan.seed, kind, n_draws)
    if units.strata is not None:
        weights = Stratified(n_segments, plan.seed, units.strata)
    # Resampling segments says nothing of other runs.
    idle = plan.method in ("t", "hall") or isinstance(tables[0].metric, MeanOfRuns)
    n_resamples = 0 if idle and not always else plan.n_resamples
    totals = [_totals(table, v, units) for table, v in zip(tables, values, strict=True)]
    # The corpus first: what is wrong with a score shows in few numbers.
    scores = [
        finite_scores(t, table, "the corpus") for t, table in zip(totals, tables, strict=True)
    ]
    found = resampled.replicates(tables, values, weights, units.strata, n_resamples, plan)
    samples = []
    for i, (table, (totals_b, replicates)) in enumerate(zip(tables, found, strict=True)):
        block: Any = values[i]
        if isinstance(table.metric, OfStrata) and units.strata is not None:
            block = StratumRows(block, units.strata)
        _check_finite(replicates, table, "a resample")
        if n_draws is not None:
            # The spread of a score goes with 1/√N: what m segments do is brought to what N do.
            shrink = np.sqrt(n_draws / n_segments)
            replicates = np.asarray(scores[i] + shrink * (replicates - scores[i]))
        sample = Sample(table, names[i], block, totals[i], scores[i], replicates, totals_b, weights)
        drawn = replace(sample, sizes=units.sizes, units=units, segments=units.segments[i])
        samples.append(replace(drawn, outcomes=as_outcomes(table)))
    return samples


def _totals(table: SegmentStatistics, values: NDArray[Any], units: Units) -> Floats:
    """Return summed statistics, `(S, k)`, or those of all strata, `(S, T k)`."""
    if isinstance(table.metric, OfStrata) and units.strata is not None:
        return StratumRows(values, units.strata).totals()
    return np.asarray(np.sum(values, axis=1, dtype=np.float64))


def swap(samples: list[Sample], plan: Plan) -> list[Sample]:
    """Add the totals of random halves, the same halves for all systems and metrics.

    Swapping moves differences: those to the first system are all that is needed.
    """
    moves = resampled.swapped([sample.values for sample in samples], plan)
    return [replace(sample, moves=move) for sample, move in zip(samples, moves, strict=True)]


def finite_scores(totals: Floats, table: SegmentStatistics, where: str) -> Floats:
    """Return the scores of totals, or name the system that has none."""
    return _check_finite(scores_of(table.metric, totals), table, where)


def _check_finite(scores: Floats, table: SegmentStatistics, where: str) -> Floats:
    if not np.all(np.isfinite(scores)):
        column = int(np.argwhere(~np.isfinite(scores))[0][-1])
        raise InputError(
            f"{table.metric.name} of {where} of system {table.systems[column]!r} is not finite; "
            f"define the score for every total, for example where a denominator is 0"
        )
    return scores


def distinct_names(metrics: list[Metric]) -> list[str]:
    """Return what to call each metric; two with one name are told apart by their signatures."""
    names = [metric.name for metric in metrics]
    full = [
        f"{name} ({metric.signature})" if names.count(name) > 1 else name
        for name, metric in zip(names, metrics, strict=True)
    ]
    if len(set(full)) < len(full):
        raise InputError(f"metrics must differ, got {', '.join(names)}")
    return full


def method_of(sample: Sample, plan: Plan, pair: tuple[int, ...]) -> str:
    """Return the interval of a score or of a difference: what was asked for, or what fits.

    Shares of segments have intervals made for them. Differences have the t interval with Hall's
    correction, whose standard error is that of the test; scores the expanded percentile interval,
    which follows their skewness (`benchmarks/calibration` has the coverage of each).
    """
    if plan.method != "auto":
        return plan.method
    plain = (plan.kind, plan.n_draws) == ("multinomial", None)
    if sample.outcomes is not None and plain:
        differences = "nam-blackwelder" if sample.outcomes.of_ratios else "tango"
        return "wilson" if len(pair) == 1 else differences
    if sample.has_runs:
        return "hall"
    if sample.table.metric.biased and len(pair) == 1:
        return "basic"
    return "hall" if len(pair) > 1 and plain and sample.shard is None else "expanded"


def bounds(
    sample: Sample, plan: Plan, replicates: Floats, observed: Floats, pair: tuple[int, ...]
) -> tuple[float, float, float]:
    """Return low, high and standard error of a system's score, or of a pair's difference."""
    # What is not finite is reported below, by name.
    with np.errstate(invalid="ignore", over="ignore"):
        (low, high), error = _bounds(sample, plan, replicates, observed, pair)
    found = float(np.squeeze(low)), float(np.squeeze(high)), float(error)
    if not np.all(np.isfinite(found)):
        names = " and ".join(repr(sample.table.systems[i]) for i in pair)
        raise InputError(
            f"method {method_of(sample, plan, pair)!r} gives no finite interval for {sample.name} "
            f"of {names}: "
            f"the score or its gradient is not finite near the totals; use 'expanded'"
        )
    return found


def _bounds(
    sample: Sample, plan: Plan, replicates: Floats, observed: Floats, pair: tuple[int, ...]
) -> tuple[intervals.Bounds, Floats]:
    level, n = plan.confidence_level, sample.n_segments
    method, metric = method_of(sample, plan, pair), sample.table.metric
    if method in ("t", "hall", "studentized", *COUNTED) or sample.codes is not None:
        moves, error, degrees = influences(sample, pair)
    if sample.outcomes is not None and method in COUNTED:
        effect = design_effect(sample, pair, error)
        return sample.outcomes.interval(pair, level, effect), error
    if method in ("t", "hall"):
        width, degrees = widened(sample, pair, moves, error, degrees)
        if method == "hall":
            skew = skewness.skewness(moves)
            return skewness.interval(observed, width, degrees, level, skew, len(moves)), error
        return intervals.student_t(observed, width, degrees + 1, level), error
    spread = np.asarray(np.std(replicates, ddof=1)) if sample.codes is None else error
    if method == "percentile":
        return intervals.percentile(replicates, level), spread
    if method == "basic":
        return intervals.basic(replicates, observed, level), spread
    if method == "bca":
        scores = influence.jackknife_scores(metric, sample.values[list(pair)])
        jackknife = scores[-1] - scores[0] if len(pair) > 1 else scores[0]
        return intervals.bca(replicates, observed, jackknife, level), spread
    if method == "studentized":
        errors = _replicate_errors(sample, pair)
        return intervals.studentized(replicates, errors, observed, error, level), spread
    has_tails = metric.heavy_tails and len(pair) == 1 and sample.shard is None
    known = skewness.degrees_of_spread(moves_of(sample, pair)) if has_tails else np.inf
    if sample.codes is not None:
        factor = variances.widening(moves, sample.sizes, sample.codes)
        bounds = intervals.widened_percentile(replicates, factor, min(degrees, known), level)
    else:
        bounds = intervals.expanded_percentile(replicates, n, level, known)
    if has_tails:
        moves, width, degrees = influences(sample, pair)
        skew = skewness.skewness(moves)
        other = skewness.interval(observed, width, degrees, level, skew, len(moves))
        bounds = np.minimum(bounds[0], other[0]), np.maximum(bounds[1], other[1])
    shares = metric.shares(sample.totals[pair[0]]) if len(pair) == 1 else None
    if shares is not None:
        bounds = proportions.widened_by_shares(bounds, observed, shares, level)
    return bounds, spread


def widened(
    sample: Sample,
    pair: tuple[int, ...],
    moves: Floats,
    error: Floats,
    degrees: float,
    unseen: bool = True,
) -> tuple[Floats, float]:
    """Return standard error and degrees of a difference, with what the data leave uncertain.

    Where few segments differ (`unseen`), few have a class, or a few make the spread.
    """
    if len(pair) == 1 or sample.n_differing(*pair) == 0:
        return error, degrees
    metric = sample.table.metric
    if metric.heavy_tails:
        degrees = min(degrees, skewness.degrees_of_spread(moves))
    if sample.sizes is not None:
        return error, degrees
    if unseen and sample.n_differing(*pair) < FEW_DIFFERING:
        error = np.maximum(influence.standard_error(influence.with_unseen(moves)), error)
    return variances.with_few_items(error, metric, sample.totals[list(pair)]), degrees


def design_effect(
    sample: Sample, pair: tuple[int, ...], error: Floats, ratio: float = 1.0
) -> float:
    """Return the squared ratio of an error within strata to that of segments drawn freely."""
    free = influence.standard_error(moves_of(sample, pair, ratio))
    # Without spread within strata, or at all, as many segments as there are.
    sure = sample.codes is None or not (error > 0 and free > 0)
    return 1.0 if sure else float(error / free) ** 2


def influences(
    sample: Sample, pair: tuple[int, ...], ratio: float = 1.0
) -> tuple[Floats, Floats, float]:
    """Return influence values `(N,)` on a score or difference, its standard error and degrees.

    Of a pair, the difference of the second score and `ratio` times the first.
    """
    moves = moves_of(sample, pair, ratio)
    moves, error, degrees = variances.of_units(moves, sample.sizes, sample.codes)
    if sample.has_runs:
        rows = sample.values[list(pair)]
        error, degrees = variances.with_runs(sample.table.metric, rows, error, degrees, ratio)
    return moves, error, degrees


def moves_of(sample: Sample, pair: tuple[int, ...], ratio: float = 1.0) -> Floats:
    """Return influence values on a score or difference, `(N,)`, centred over all units."""
    values = sample.influence
    if len(pair) == 1:
        return np.asarray(values[pair[0]])
    return np.asarray(values[pair[-1]] - ratio * values[pair[0]])


def _replicate_errors(sample: Sample, pair: tuple[int, ...]) -> Floats:
    """Return the standard error within each resample, of a score or of a difference, `(B,)`."""
    signs = (-1.0, 1.0) if len(pair) > 1 else (1.0,)
    gradients = [
        sign * sample.table.metric.gradient(sample.bootstrap[:, i])
        for sign, i in zip(signs, pair, strict=True)
    ]
    assert sample.weights is not None
    return bootstrap_errors(
        sample.weights,
        np.concatenate([sample.values[i] for i in pair], axis=1),
        np.concatenate(gradients, axis=1),
    )
