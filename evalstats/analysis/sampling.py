"""Systems under one metric: their scores, with influence values and replicates, as effects.

Scores, differences, ratios, totals over tasks and composites are the same kind of thing. What is
done to the numbers is done to their replicates, and by the chain rule to their influence values;
all systems and metrics of a call have the same resamples.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.options import Options
from evalstats.analysis.scored import Scored
from evalstats.analysis.units import Units
from evalstats.errors import Argument, InputError
from evalstats.inference import bootstrap, student
from evalstats.inference.bootstrap import Bounds
from evalstats.inference.randomisation import tie_tolerance
from evalstats.inference.student import Runs, Spread
from evalstats.metrics.averages import MeanOfRuns
from evalstats.resampling.strata import Stratified, stratum_totals
from evalstats.resampling.totals import recipe, weighted_totals
from evalstats.resampling.weights import Weights
from evalstats.results.signatures import Signature

Floats = NDArray[np.float64]
Pair = tuple[int, int]
#: Sizes of scores of several runs, whose variances are added up.
_SMALLEST, _LARGEST = 1e-130, 1e130
#: What is made of totals, `(R, K)` a block; it may have to travel to other processes.
Then = Callable[[Sequence[Floats]], list[Floats]]


@dataclass(frozen=True, eq=False)
class Effect:
    """A number, what each unit adds to it, and what resamples make of it."""

    value: float
    influence: Floats | None  # (N,); of units that are elsewhere, or no derivatives, nothing
    replicates: Floats  # (B,)
    units: Units
    runs: tuple[Runs, ...] = ()  # of each system (`student.mean_squares`)
    worth: float = np.inf  # Kish's number of the units on which two systems differ

    @cached_property
    def of_units(self) -> Spread:
        """Standard error, factor and degrees of freedom, those of all units.

        Without influence values the error is that of the replicates, widened by the factor of
        units that are alike; it is not a number where there are none.
        """
        if self.influence is not None:
            return self.units.spread(self.influence)
        _, factor, degrees = self.units.alike
        drawn, unit = np.nan, float(student.unit_of(self.replicates))
        if len(self.replicates):
            drawn = unit * float(np.std(self.replicates / unit, ddof=1))
        return Spread(factor * drawn, factor, degrees)

    @cached_property
    def spread(self) -> Spread:
        """The same, of several runs with their own part, where the units' variance is estimated.

        Two systems that differ on few units know no more of it than these say.
        """
        degrees = max(min(self.of_units.degrees, self.worth - 1), 1.0)
        return student.with_runs(self.of_units._replace(degrees=degrees), self.runs)

    def by_t(self, alpha: float) -> Bounds:
        """Return the t interval of confidence 1 - α."""
        error, _, degrees = self.spread
        return student.interval(self.value, error, degrees, alpha)

    def interval(
        self, method: str, alpha: float, without: Callable[[], Floats] | None = None
    ) -> Bounds:
        """Return an interval of confidence 1 - α; BCa needs the values without each segment."""
        if method == "percentile":
            return bootstrap.percentile(self.replicates, 1 - alpha)
        if method == "bca" and without is not None:
            return bootstrap.bca(self.replicates, self.value, without(), 1 - alpha)
        if method == "t":
            return self.by_t(alpha)
        return bootstrap.interval(self.replicates, self.spread, alpha, lambda: self.by_t(alpha))


@dataclass(frozen=True, eq=False)
class Sample:
    """What was observed, and what resampling made of it: the effects of S systems."""

    of: Scored
    scores: Floats  # (S,)
    replicates: Floats  # (S, B)
    differing: NDArray[np.int64] | None = None  # (S, S) numbers of units, of a shard
    weights: str = "multinomial"
    resolution: float = 1.0
    _differs: dict[Pair, tuple[int, float]] = field(default_factory=dict, repr=False)
    _last: dict[tuple[int, int, float], Effect] = field(default_factory=dict, repr=False)

    @property
    def units(self) -> Units:
        """What was drawn."""
        return self.of.units

    @property
    def is_elsewhere(self) -> bool:
        """Whether segments are in shards, of which only totals are here."""
        return self.differing is not None

    def signature(self, analysis: Mapping[str, str | None]) -> Signature:
        """Return what identifies the numbers that an analysis makes of it."""
        fields = {"nrefs": self.of.reference_label or None, **analysis}
        strata = len(self.units.labels)
        fields |= {"strata": str(strata) if strata else None, "unit": self.units.unit}
        return Signature.create(self.of.metric_name, self.of.signature, fields)

    @cached_property
    def influence(self) -> Floats | None:
        """Influence of every unit on every score, `(S, N)`, where it is known and finite."""
        found = None if self.is_elsewhere else self.of.influence()
        return found if found is not None and np.all(np.isfinite(found)) else None

    @cached_property
    def segment_influence(self) -> Floats:
        """The same of single segments, whatever was drawn, `(S, n_segments)`."""
        return self.of.influence(of_segments=True)

    @cached_property
    def effects(self) -> list[Effect]:
        """The score of every system."""
        own = [None] * len(self.scores) if self.influence is None else self.influence
        return [
            Effect(float(score), own[i], self.replicates[i], self.units, self._runs(i))
            for i, score in enumerate(self.scores)
        ]

    def _runs(self, i: int) -> tuple[Runs, ...]:
        metric = self.of.blocks[0].metric
        if not isinstance(metric, MeanOfRuns):
            return ()
        statistics = metric.of_runs(self.of.blocks[0].rows[i].astype(np.float64))
        scores = metric.metric.score(np.sum(statistics, axis=1))
        values = student.influence_values(metric.metric, statistics)
        size = max(float(np.max(np.abs(scores))), float(np.max(np.abs(values))))
        if size > 0 and not _SMALLEST < size < _LARGEST:
            raise InputError(
                f"{self.of.metric_name} of several runs must lie between {_SMALLEST:g} and "
                f"{_LARGEST:g}, where squares are numbers, got {size:.3g} for "
                f"{self.of.systems[i]!r}; take another unit"
            )
        return ((*student.mean_squares(scores, values), metric.n_runs),)

    def without_each(self, *systems: int) -> Floats:
        """Return the scores of some systems without each unit in turn, `(p, N)`."""
        block = self.of.blocks[0]
        return student.jackknife_scores(block.metric, block.rows[list(systems)])

    def differ(self, a: int, b: int) -> tuple[int, float]:
        """Return on how many units two systems differ, and what these are worth."""
        if self.differing is not None:
            n = int(self.differing[a, b])
            return n, float(n)
        if (a, b) not in self._differs:
            found = self.of.differs(a, b)
            self._differs[a, b] = int(np.count_nonzero(found)), self.units.worth(found)
        return self._differs[a, b]

    def difference(self, a: int, b: int, ratio: float = 1.0) -> Effect:
        """Return the score of system b less `ratio` times that of system a."""
        asked = a, b, ratio
        if asked not in self._last:
            # The last one is asked for again; replicates of all pairs would take much room.
            self._last.clear()
            self._last[asked] = self._difference(*asked)
        return self._last[asked]

    def _difference(self, a: int, b: int, ratio: float) -> Effect:
        first, second = self.effects[a], self.effects[b]
        influence = None
        if first.influence is not None and second.influence is not None:
            influence = second.influence - ratio * first.influence
        drawn = second.replicates - ratio * first.replicates
        # What rounding leaves of equal scores is no difference.
        tie = tie_tolerance(max(abs(first.value), abs(second.value)), self.units.n)
        drawn[np.abs(drawn) <= tie] = 0.0
        value = second.value - ratio * first.value
        runs = [(ratio * ratio * x, ratio * ratio * y, n) for x, y, n in first.runs]
        # Where nothing differs nothing says how much it could.
        worth = self.differ(a, b)[1] or np.inf
        return Effect(value, influence, drawn, self.units, runs=(*second.runs, *runs), worth=worth)


def resample(scored: Sequence[Scored], options: Options) -> list[Sample]:
    """Resample all systems under all metrics with one weight matrix."""
    check_fits(scored, options)
    # The whole corpus first: it shows in no time what is wrong with a score.
    scores = [s.score([block.totals for block in s.blocks], "the corpus") for s in scored]
    # Resampling segments says nothing of other runs.
    if options.n_drawn == 0 or scored[0].has_runs:
        found = [np.empty((0, len(s.systems))) for s in scored]
    else:
        weights, then = rows_of(scored[0].units, options.seed), partial(_scores, scored)
        found = totals_scored(scored, weights, options.n_resamples, options, then)
    return [Sample(s, x, frozen(r)) for s, x, r in zip(scored, scores, found, strict=True)]


def rows_of(units: Units, seed: int) -> Weights:
    """Return how the rows of weights are drawn: freely, or within strata."""
    return recipe(units.n, seed) if units.codes is None else Stratified(units.n, seed, units.codes)


def totals_scored(
    scored: Sequence[Scored], weights: Weights, n_resamples: int, options: Options, then: Then
) -> list[Floats]:
    """Return what `then` makes of the totals of resamples, `(R, S, k)` a block and metric."""
    if len(scored[0].blocks) == 1:
        columns = _stack([s.blocks[0].rows for s in scored])
        totals = weighted_totals(weights, columns, n_resamples, options.executor)
        return list(then([totals]))
    # Totals of many strata take much memory: they are scored as they come, and not kept.
    parts = [
        (scored[0].blocks[t].places, _stack([s.blocks[t].rows for s in scored]))
        for t in range(len(scored[0].blocks))
    ]
    found = stratum_totals(weights, parts, n_resamples, options.executor, partial(_joined, then))
    widths = np.cumsum([len(s.systems) for s in scored])[:-1]
    return np.split(found, widths, axis=1)


def _scores(scored: Sequence[Scored], totals: Sequence[Floats]) -> list[Floats]:
    """Return scores of systems under all metrics from totals of all blocks, `(R, K)` each."""
    apart = [split(scored, t, block) for t, block in enumerate(totals)]
    return [s.score([x[i] for x in apart], "a resample") for i, s in enumerate(scored)]


def _joined(then: Then, totals: Sequence[Floats]) -> Floats:
    """Return what is made of totals side by side, `(R, M S)`."""
    return np.concatenate(then(totals), axis=1)


def split(scored: Sequence[Scored], t: int, totals: Floats) -> list[Floats]:
    """Take totals `(R, K)` of block t apart again, `(R, S, k)` for each metric."""
    shapes = [s.blocks[t].rows.shape[::2] for s in scored]
    parts = np.split(totals, np.cumsum([a * b for a, b in shapes])[:-1], axis=1)
    return [p.reshape(len(totals), *shape) for p, shape in zip(parts, shapes, strict=True)]


def _stack(values: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Put the statistics of all systems and metrics side by side, `(N, K)`."""
    columns = [v.transpose(1, 0, 2).reshape(v.shape[1], -1) for v in values]
    return columns[0] if len(columns) == 1 else np.concatenate(columns, axis=1)


def frozen(replicates: Floats) -> Floats:
    """Return replicates `(B, S)` as `(S, B)`, which nobody can write to."""
    rows = np.ascontiguousarray(replicates.T)
    rows.setflags(write=False)
    return rows


def check_fits(scored: Sequence[Scored], options: Options) -> None:
    """Refuse options that say nothing of strata, or of runs."""
    units, with_runs = scored[0].units, [s.has_runs for s in scored]
    if units.codes is not None and options.method == "bca":
        raise InputError(
            "'bca' is that of one sample; where strata are given use 'bootstrap', 'percentile' or "
            "'t'",
            argument="method",
        )
    if not any(with_runs):
        return
    if not all(with_runs):
        raise InputError("all metrics must have the same runs, got some without")
    for name, known in (
        ("method", ("bootstrap", "t", "simultaneous")),
        ("test", ("bootstrap", "t")),
    ):
        if getattr(options, name) not in known:
            raise InputError(
                f"{getattr(options, name)!r} says nothing of other runs; where there are several "
                f"runs of each system leave ",
                Argument(name),
                " out, and t decides",
                argument=name,
            )
