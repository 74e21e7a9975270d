"""What is drawn: scores of systems under one metric, with influence values and replicates.

An `Effect` is a score, or a difference of scores or of shares of them: what is done to the number
is done to its replicates and to its influence values.

`from_segments` makes `Drawn`, and so does a `Summary`, which has no segments. Each says by `None`,
or by no replicates, what it does not know. All systems and metrics of a call have the same
resamples.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.design import Aggregate, Aggregated, Labels, SummedUnits, Units
from evalstats.analysis.options import Options
from evalstats.analysis.scores import Resampled, Scored, Segments
from evalstats.errors import InputError
from evalstats.inference import bootstrap, student
from evalstats.inference.bootstrap import Bounds
from evalstats.inference.draws import Draws, tie_tolerance
from evalstats.inference.student import Runs, Spread
from evalstats.resampling.weighted import recipe, stratum_totals, weighted_totals
from evalstats.resampling.weights import Stratified, Weights
from evalstats.results.records import counted, distinct
from evalstats.results.signatures import Signature

Floats = NDArray[np.float64]
Pair = tuple[int, int]
#: Sizes of scores of several runs, whose variances are added up.
_SMALLEST, _LARGEST = 1e-130, 1e130
#: So many totals of resamples are scored together.
_KEPT = 2**24
#: What is made of totals, `(R, K)` a block, `(R, W)`; it may have to travel to other processes.
Then = Callable[[Sequence[Floats]], Floats]


@dataclass(frozen=True, eq=False)
class RunScores:
    """What a score, or a difference, is in each of R runs, and what units add to it there."""

    scores: Floats  # (R,)
    influence: Floats  # (R, N)
    are_paired: bool = False  # run r of all systems has the same prompt or seed

    def __sub__(self, other: RunScores) -> RunScores:
        scores, influence = self.scores - other.scores, self.influence - other.influence
        return replace(self, scores=scores, influence=influence)

    def __rmul__(self, factor: float) -> RunScores:
        return replace(self, scores=factor * self.scores, influence=factor * self.influence)

    @cached_property
    def mean_squares(self) -> Runs:
        """What varies between runs, what is not the runs' own in it, and R."""
        return *student.mean_squares(self.scores, self.influence), len(self.scores)


@dataclass(frozen=True, eq=False)
class Effect:
    """A number, what each unit adds to it, and what resamples make of it.

    `a - b` and `r * a` are effects too. What is not known is `None`, or has no replicates.
    """

    value: float
    influence: Floats | None  # (N,), or coordinates (C,) of `SummedUnits`
    draws: Draws  # (B,), or (0,)
    units: Units
    runs: tuple[RunScores, ...] = ()  # of each system, or of a difference within runs
    unseen: Floats | None = None  # (N,) added to squared influence values; t then decides
    worth: float = np.inf  # Kish's number of the units on which two systems differ

    @property
    def replicates(self) -> Floats:
        """What resamples make of the number, `(B,)`, or `(0,)`; drawn at the first look."""
        return self.draws.values

    def __sub__(self, other: Effect) -> Effect:
        influence = None
        if self.influence is not None and other.influence is not None:
            influence = self.influence - other.influence

        def replicates() -> Floats:
            found = self.replicates - other.replicates
            # What rounding leaves of equal scores is no difference.
            tie = tie_tolerance(max(abs(self.value), abs(other.value)), self.units.n)
            found[np.abs(found) <= tie] = 0.0
            return found

        # Those of both, or where they are paired the difference in each run.
        runs = (*self.runs, *other.runs)
        if any(one.are_paired for one in runs):
            runs = tuple(a - b for a, b in zip(self.runs, other.runs, strict=True))
        unseen = None
        if self.unseen is not None and other.unseen is not None:
            # Of the same units that of one, of others that of both.
            unseen = np.maximum(self.unseen, other.unseen)
        draws = Draws(self.draws.n, replicates)
        return Effect(self.value - other.value, influence, draws, self.units, runs, unseen)

    def __rmul__(self, factor: float) -> Effect:
        return replace(
            self,
            value=factor * self.value,
            influence=None if self.influence is None else factor * self.influence,
            draws=Draws(self.draws.n, lambda: factor * self.replicates),
            runs=tuple(factor * runs for runs in self.runs),
            unseen=None if self.unseen is None else factor**2 * self.unseen,
        )

    @cached_property
    def spread(self) -> Spread:
        """Standard error, factor and degrees of freedom, of several runs with their own part.

        Without influence values the error is that of the replicates, widened by the factor of
        units that are alike; it is not a number where there are none. Two systems that differ on
        few units know no more of the units' variance than these say.
        """
        if self.influence is not None:
            of_units = self.units.spread(self.influence, self.units.summed(self.unseen))
        else:
            _, factor, degrees = self.units.alike
            drawn, unit = np.nan, float(student.unit_of(self.replicates))
            if len(self.replicates):
                drawn = unit * float(np.std(self.replicates / unit, ddof=1))
            of_units = Spread(factor * drawn, factor, degrees)
        degrees = max(min(of_units.degrees, self.worth - 1), 1.0)
        return student.with_runs(of_units._replace(degrees=degrees), self.mean_squares)

    @property
    def mean_squares(self) -> tuple[Runs, ...]:
        """Those of the runs of each system, or of a difference within runs."""
        return tuple(runs.mean_squares for runs in self.runs)

    @property
    def is_by_t(self) -> bool:
        """Whether t decides: nothing is drawn, or of few labels, or units worth fewer than six."""
        is_other = not self.draws.n or self.unseen is not None
        return is_other or self.spread.degrees < bootstrap.LEAST_DEGREES

    def by_t(self, alpha: float) -> Bounds:
        """Return the t interval of confidence 1 - α."""
        error, _, degrees = self.spread
        return student.interval(self.value, error, degrees, alpha)

    def interval(self, method: str, alpha: float) -> Bounds:
        """Return an interval of confidence 1 - α: "bootstrap", "t" or, for `meta`, "percentile"."""
        if method == "percentile":
            return bootstrap.percentile(self.replicates, 1 - alpha)
        if method == "t" or self.is_by_t:
            return self.by_t(alpha)
        return bootstrap.interval(self.replicates, self.spread, alpha, lambda: self.by_t(alpha))


@dataclass(frozen=True, eq=False)
class Drawn:
    """Scores of S systems, how they vary with each unit, and what they are in B resamples."""

    of: Scored
    scores: Floats  # (S,)
    draws: Draws  # (S, B), or (S, 0)
    influence: Floats | None = None  # (S, N), or coordinates (S, C) of `SummedUnits`
    differing: NDArray[np.int64] | None = None  # (S, S) units, where no segments are here to count
    worth: Floats | None = None  # (S, S) what these are worth, where that is not their number
    n_missing: NDArray[np.int64] | None = None  # (S,) scores, where no segments are here to count
    hidden: NDArray[np.bool_] | None = None  # (S, S) pairs whose variance rounding hides
    runs: tuple[tuple[RunScores, ...], ...] = ()  # of each system, where there are several
    notes: tuple[str, ...] = ()  # what its maker does not know of pairs
    origin: tuple[str, ...] = ()  # sentences on how scores came about

    @property
    def replicates(self) -> Floats:
        """Scores of resamples, `(S, B)`, or `(S, 0)`; drawn at the first look."""
        return self.draws.values

    @property
    def units(self) -> Units:
        """What was drawn."""
        return self.of.units

    @property
    def has_segments(self) -> bool:
        """Whether the statistics behind the scores are here, of systems on the same segments."""
        return isinstance(self.of, Segments)

    @property
    def segments(self) -> Segments:
        """The statistics behind the scores, where they are here (`has_segments`)."""
        if not isinstance(self.of, Segments):
            raise TypeError(f"no statistics of segments are behind {self.of.name}")
        return self.of

    @property
    def samples(self) -> list[Drawn]:
        """The same of the systems that are drawn together; several where each has its own units."""
        if self.of.is_paired:
            return [self]
        return [
            Drawn(
                scored,
                self.scores[[i]],
                self._replicates_of([i]),
                None if self.influence is None else self.influence[[i], here],
                runs=self.runs[i : i + 1],
            )
            for i, (scored, here) in enumerate(self.of.samples)
        ]

    def signature(self, analysis: Mapping[str, str | None]) -> Signature:
        """Return what identifies the numbers that an analysis makes of it."""
        labels = ",".join(distinct(str(one.n_labelled) for one in self.of.corrections))
        known = {"nrefs": self.of.reference_label or None, "labels": labels or None}
        fields = {**known, **analysis}
        strata = len(self.units.labels)
        unit = "+".join(side.unit for side in self.units.sides)
        segment, part = self.units.segment, self.units.part
        fields |= {
            "by": part if part != "task" else None,
            "strata": str(strata) if strata else None,
            "unit": unit,
            "from": segment if segment != unit else None,
        }
        return Signature.create(self.of.metric_name, self.of.signature, fields)

    @cached_property
    def effects(self) -> list[Effect]:
        """The score of every system."""
        influence = [None] * len(self.scores) if self.influence is None else self.influence
        runs = self.runs or ((),) * len(self.scores)
        unseen = [None] * len(self.scores) if self.of.unseen is None else self.of.unseen
        return [
            Effect(
                float(score), influence[i], self._replicates_of(i), self.units, runs[i], unseen[i]
            )
            for i, score in enumerate(self.scores)
        ]

    def _replicates_of(self, systems: int | list[int]) -> Draws:
        # Nothing of this may hold the whole, or both stay in memory until a collection.
        draws = self.draws
        return Draws(draws.n, lambda: draws.values[systems])

    def differ(self, a: int, b: int) -> tuple[int, float]:
        """Return on how many units two systems differ, and what these are worth."""
        if self.differing is not None:
            n = int(self.differing[a, b])
            return n, float(n if self.worth is None else self.worth[a, b])
        return self.of.differ(a, b)

    def difference(self, a: int, b: int, share: float = 1.0) -> Effect:
        """Return the score of system b less this share of that of system a."""
        if self.hidden is not None and self.hidden[a, b]:
            raise InputError(
                f"{self.of.metric_name} of {self.of.systems[a]!r} and {self.of.systems[b]!r} "
                f"differs too little: beside sums of squares, rounding hides the variance of the "
                f"difference; give the rows, or before they are summed subtract from both what "
                f"they share (of each segment the baseline's score, say), in a unit near 1"
            )
        base = self.effects[a] if share == 1 else share * self.effects[a]
        # Where nothing differs nothing says how much it could.
        worth = self.differ(a, b)[1] or np.inf
        return replace(self.effects[b] - base, worth=worth)


def from_segments(segments: Sequence[Resampled], options: Options) -> list[Drawn]:
    """Resample all systems under all metrics with one weight matrix."""
    check_fits(segments, options)
    # The whole corpus first: it shows in no time what is wrong with a score.
    scores = [s.score([block.totals for block in s.blocks], "the corpus") for s in segments]
    # Resampling segments says nothing of other runs, and no rows draw groups of two labels.
    is_by_t = segments[0].runs is not None or len(segments[0].units.sides) > 1
    n_resamples = 0 if is_by_t else options.n_drawn

    @cache
    def replicates() -> list[Draws]:
        if not n_resamples:
            return [frozen(np.empty((0, len(s.systems)))) for s in segments]
        weights, then = rows_of(segments[0].units, options.seed), partial(_scores, segments)
        together = totals_scored(segments, weights, n_resamples, options, then)
        widths = [len(s.systems) for s in segments]
        return [frozen(of) for of in np.split(together, np.cumsum(widths)[:-1], axis=1)]

    drawn = []
    for i, (s, of_systems) in enumerate(zip(segments, scores, strict=True)):
        if (chances := _chances(s)) is not None:
            drawn.append(_of_trials(s, of_systems, chances))
            continue
        values, runs = s.influence(), _runs_of(s, options.paired_runs)
        influence = values if np.all(np.isfinite(values)) else None
        draws = Draws(n_resamples, lambda i=i: replicates()[i].values)  # type: ignore[misc]
        drawn.append(Drawn(s, of_systems, draws, influence, runs=runs))
    return drawn


def _chances(s: Resampled) -> Floats | None:
    """Return the variance of each score by trials, `(S,)`, where items are all there are."""
    of_blocks = [[block.metric.chance(rows) for rows in block.segments] for block in s.blocks]
    known = [[x for x in of if x is not None] for of in of_blocks]
    if not any(known):
        return None
    of = s.aggregate if isinstance(s, Segments) and s.units.sizes is None else None
    if of is None or any(len(x) < len(s.systems) for x in known):
        raise InputError(
            "'all' takes items that both systems have, without groups, and a mean over them; leave "
            "it out",
            argument="items",
        )
    return np.asarray(np.square(of.weights or (1.0,)) @ np.array(known))


def _of_trials(s: Resampled, scores: Floats, chances: Floats) -> Drawn:
    """Return what trials alone say of scores with these variances: nothing is resampled."""
    n = s.units.n
    places, sums = np.zeros(len(chances), dtype=np.intp), np.array([[n, n, n]])
    units = SummedUnits(n, *s.units.called, labels=s.units.labels, places=places, sums=sums)
    note = (
        f"{s.name}: these {counted(n, s.units.unit)} are all there are, and chance is only in "
        f"their trials. t decides."
    )
    # A coordinate for each system: the trials of two have nothing in common.
    coordinates = np.diag(np.sqrt(chances * (n - 1) / n))
    of = replace(s, units=units, outcomes=None)
    undrawn = frozen(np.empty((0, len(scores))))
    return Drawn(of, scores, undrawn, coordinates, origin=(note,))


def refuse_fixed(drawn: Drawn, asking: str) -> None:
    """Refuse what is about other items, where these are all there are."""
    if drawn.has_segments and not drawn.units.has_values:
        raise InputError(
            f"'all': {asking} is about other items, and these are all there are; leave it out",
            argument="items",
        )


def _runs_of(segments: Resampled, are_paired: bool) -> tuple[tuple[RunScores, ...], ...]:
    """Return what the scores of each system are in each run, where there are several."""
    if segments.runs is None:
        return ()
    of_runs = []
    for i, system in enumerate(segments.systems):
        scores, values = segments.run_scores(i)
        size = max(float(np.max(np.abs(scores))), float(np.max(np.abs(values))))
        if size > 0 and not _SMALLEST < size < _LARGEST:
            raise InputError(
                f"{segments.metric_name} of several runs must lie between {_SMALLEST:g} and "
                f"{_LARGEST:g}, where squares are numbers, got {size:.3g} for "
                f"{system!r}; take another unit"
            )
        of_runs.append((RunScores(scores, values, are_paired),))
    return tuple(of_runs)


def rows_of(units: Units, seed: int) -> Weights:
    """Return how the rows of weights are drawn: freely, or within strata."""
    return recipe(units.n, seed) if units.codes is None else Stratified(units.n, seed, units.codes)


def totals_scored(
    segments: Sequence[Resampled], weights: Weights, n_resamples: int, options: Options, then: Then
) -> Floats:
    """Return what `then` makes of the totals of resamples, those of all metrics side by side."""
    parts = []
    for t, block in enumerate(segments[0].blocks):
        # The statistics of all systems and metrics side by side, `(N, K)`.
        rows = [s.blocks[t].rows for s in segments]
        columns = [v.transpose(1, 0, 2).reshape(v.shape[1], -1) for v in rows]
        together = columns[0] if len(columns) == 1 else np.concatenate(columns, axis=1)
        parts.append((block.places, together))
    if len(parts) == 1 and n_resamples * parts[0][1].shape[1] <= _KEPT:
        return then([weighted_totals(weights, parts[0][1], n_resamples, options.executor)])
    # Totals of many strata, or columns, take much memory: they are scored as they come.
    return stratum_totals(weights, parts, n_resamples, options.executor, then)


def _scores(segments: Sequence[Resampled], totals: Sequence[Floats]) -> Floats:
    """Return scores of systems under all metrics from totals of all blocks, `(R, K)` each."""
    apart = [split(segments, t, block) for t, block in enumerate(totals)]
    scores = [s.score([x[i] for x in apart], "a resample") for i, s in enumerate(segments)]
    return scores[0] if len(scores) == 1 else np.concatenate(scores, axis=1)


def split(segments: Sequence[Resampled], t: int, totals: Floats) -> list[Floats]:
    """Take totals `(R, K)` of block t apart again, `(R, S, k)` for each metric."""
    shapes = [s.blocks[t].rows.shape[::2] for s in segments]
    parts = np.split(totals, np.cumsum([a * b for a, b in shapes])[:-1], axis=1)
    return [p.reshape(len(totals), *shape) for p, shape in zip(parts, shapes, strict=True)]


def frozen(replicates: Floats) -> Draws:
    """Return replicates `(B, S)` that are known as `(S, B)`, which nobody can write to."""
    rows = np.ascontiguousarray(replicates.T)
    rows.setflags(write=False)
    return Draws.of(rows)


def check_fits(segments: Sequence[Resampled], options: Options) -> None:
    """Refuse options that say nothing of strata, of runs, or of systems that are not paired."""
    segments[0].check_fits(options)
    with_runs = [s.runs is not None for s in segments]
    if not any(with_runs):
        if options.paired_runs:
            raise InputError(
                "is for several runs of each system, and there is one of each; leave it out",
                argument="paired_runs",
            )
        return
    if not all(with_runs):
        raise InputError("all metrics must have the same runs, got some without")


class Summary(ABC):
    """What stands in the place of statistics, as sums of a corpus, or who won battles.

    A subclass says what is drawn of it; the core asks nothing else.
    """

    #: What it keeps in the place of segments, for messages: "sums and products".
    keeps: ClassVar[str]
    #: Whether nothing is drawn of it, so that t decides.
    is_by_t: ClassVar[bool] = False
    #: Whether tasks of such summaries have totals, and so suites and gates.
    has_totals: ClassVar[bool] = False

    systems: tuple[str, ...]
    metric: Any  # of which name and signature are asked
    unit: str  # "segment", or what groups are called

    @property
    @abstractmethod
    def n_segments(self) -> int:
        """How many units there are."""

    @property
    def name(self) -> str:
        """What messages call it: "a Moments"."""
        return f"a {type(self).__name__}"

    @property
    def why(self) -> str:
        """Why something is not known: "a Moments keeps sums and products only"."""
        return f"{self.name} keeps {self.keeps} only"

    @abstractmethod
    def drawn(self, name: str, aggregate: Aggregated, options: Options) -> Drawn:
        """Return the scores of the systems; tables call the metric by this name."""

    @classmethod
    def total(cls, tasks: Mapping[str, Any], aggregate: Aggregate) -> Drawn:
        """Return a total over summaries of tasks by name, named after the first metric."""
        raise NotImplementedError

    def labelled(self, groups: Labels, strata: Labels) -> Summary:
        """Return the same with labels for groups and strata, which most summaries have decided."""
        for name, labels in (("groups", groups), ("strata", strata)):
            if labels is not None:
                raise InputError(f"must be left out when {self.name} is given", argument=name)
        return self


def summaries_of(value: object) -> list[Any]:
    """Return a summary, or several of one type, as a list, which is empty for anything else.

    >>> summaries_of([1, 0])
    []
    """
    several = list(value) if isinstance(value, (list, tuple)) else [value]
    is_one_type = len({type(summary) for summary in several}) == 1
    return several if is_one_type and isinstance(several[0], Summary) else []
