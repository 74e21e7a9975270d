"""Scores of systems under one metric, made of the statistics of their segments, `(S, N, k)`.

A score is that of the totals of all segments, or a weighted mean of the scores of strata, or tasks:
Σ w·f(totals). `of_strata` makes quantities of it, `drawn` lets them be resampled, all systems and
metrics of a call with the same rows of weights. What comes without statistics (moments, battles)
is made as `Scores` too, and says by `None`, or by no replicates, what it does not know.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalstats.analysis.counts import Counter, Counts, Outcomes, as_outcomes
from evalstats.analysis.design import Aggregate, SummedUnits, Units
from evalstats.analysis.options import Options
from evalstats.analysis.quantities import Quantities, less
from evalstats.errors import InputError
from evalstats.inference import student
from evalstats.inference.draws import Draws
from evalstats.inference.student import Runs
from evalstats.metrics import Mean, Metric, scores_of
from evalstats.metrics.base import Correction, MetricSignature
from evalstats.metrics.ratios import MeanOfRuns
from evalstats.resampling.weighted import (
    on_grid,
    stratum_totals,
    weighted_totals,
    without_rounding,
)
from evalstats.resampling.weights import Multinomial, Stratified, Weights, places_of
from evalstats.results.records import Caution, counted, distinct, plural
from evalstats.results.signatures import Signature
from evalstats.statistics.segments import SegmentStatistics, missing_scores
from evalstats.text.tokenization import target_language

Floats = NDArray[np.float64]
#: A baseline and a system, by their places.
Pair = tuple[int, int]
#: Sizes of scores of several runs, whose variances are added up.
_SMALLEST, _LARGEST = 1e-130, 1e130
#: So many totals of resamples are scored together.
_KEPT = 2**24
#: So many influence values and replicates of pairs are in memory together.
_TOGETHER = 1 << 18


@dataclass(frozen=True, eq=False)
class Stratum:
    """Statistics of units that are scored together, and the weight of their score."""

    metric: Metric
    rows: NDArray[Any]  # (S, n, k), on the exact grid
    plain: NDArray[Any]  # (S, n, k), before they were rounded to the grid
    segments: NDArray[Any]  # (S, m, k), of single segments
    places: Any = ...  # which of the N units these are
    segment_places: Any = ...
    weight: float = 1.0
    system: int | None = None  # the only one that it has, where systems are on units of their own

    @cached_property
    def totals(self) -> Floats:
        """Summed statistics, `(S, k)`."""
        return np.asarray(np.sum(self.rows, axis=1, dtype=np.float64))

    def score(self, totals: Floats) -> Floats:
        """Return the scores of totals, `(..., k) -> (...)`."""
        return scores_of(self.metric, totals)

    def by_run(self, rows: NDArray[Any]) -> tuple[Metric, NDArray[Any]]:
        """Return the metric of one run, and rows by run, `(S, n, R k) -> (S, R, n, k)`."""
        if isinstance(self.metric, MeanOfRuns):
            return self.metric.metric, self.metric.of_runs(rows)
        return self.metric, rows[:, None]

    @property
    def is_of_singles(self) -> bool:
        """Whether strata of one unit, or of one unit in each run, are drawn together here."""
        metric = self.metric
        return isinstance(metric.metric if isinstance(metric, MeanOfRuns) else metric, ScoreSum)


class ScoreSum(Metric):
    """A sum of scores, of strata of one unit that are drawn together."""

    name = "score"
    columns = ("score",)
    uses_references = False

    def statistics(self, hypotheses: Any, references: Any = None) -> Floats:
        """Return scores as they are, `(N, 1)`."""
        return np.asarray(hypotheses, np.float64)[:, None]

    def score(self, totals: ArrayLike) -> Floats:
        """Return the sum, `(..., 1) -> (...)`."""
        return np.asarray(totals)[..., 0]

    def gradient(self, totals: ArrayLike) -> Floats:
        """Return 1, `(..., 1) -> (..., 1)`."""
        return np.ones(np.shape(totals))


@dataclass(frozen=True, eq=False)
class KnownPairs:
    """What is known of all pairs, `(S, S)` each, where no statistics are here to count."""

    differing: NDArray[np.int64]  # units on which they differ
    #: What these are worth, where that is not their number; NaN where rounding hides a variance.
    worth: Floats | None = None
    floor: Floats | None = None  # smallest one-sided p-values, where no units are swapped
    counter: Counter | None = None  # what counts differences, where that is not the outcomes


@dataclass(frozen=True, eq=False, kw_only=True)
class Scores(Quantities):
    """The scores of S systems under one metric: quantities with names."""

    name: str  # what tables call the metric, or the average
    metric_name: str  # what messages and signatures call it
    systems: tuple[str, ...]
    higher_is_better: bool
    signature: MetricSignature  # of the metric and of what is made of strata
    reference_label: str | None = None
    strata: tuple[Stratum, ...] = ()  # the statistics: one, or one for each stratum, or system
    samples: tuple[Scores, ...] = ()  # those of each system, where systems have their own units
    by_run: tuple[Floats, Floats] | None = None  # scores (S, R) and influence (S, R, N) of runs
    paired_runs: bool = False  # run r of all systems has the same prompt or seed
    outcomes: Outcomes | None = None  # where scores are shares of the same segments
    known: KnownPairs | None = None  # of pairs, where that is not counted in the statistics
    missing: NDArray[np.int64] | None = None  # (S, 2) scores that lack, and that would be there
    answers: Floats | None = None  # as `SegmentStatistics.answers`
    corrections: tuple[Correction, ...] = ()  # where people's labels correct a judge's scores
    bounds: tuple[float, float] = Metric.bounds  # of scores, which no interval exceeds
    cautions: tuple[Caution, ...] = ()  # what may make the scores invalid
    battles: tuple[int, ...] = ()  # of each system, where scores are of these
    notes: tuple[str, ...] = ()  # what is not known of pairs
    origin: tuple[str, ...] = ()  # sentences on how scores came about

    @property
    def is_paired(self) -> bool:
        """Whether all systems have the same units, drawn together."""
        return not self.samples

    @property
    def has_segments(self) -> bool:
        """Whether the statistics behind the scores are here, of systems on the same segments."""
        return bool(self.strata) and self.is_paired

    @property
    def n_runs(self) -> int | None:
        """How many runs of each system there are, if several."""
        return None if self.by_run is None else self.by_run[0].shape[1]

    @property
    def together(self) -> Sequence[Scores]:
        """The systems that are drawn together; several where each has its own units."""
        if self.is_paired:
            return [self]
        alone = (self.taken([i]) for i in range(len(self.systems)))
        both = zip(self.samples, alone, strict=True)
        return [
            replace(sample, draws=replicated.draws, method=replicated.method)
            for sample, replicated in both
        ]

    def draws_of(self, i: int) -> Draws:
        """Return the replicates of a system, `(B,)`."""
        # Nothing of this may hold the whole, or both stay in memory until a collection.
        draws = self.draws
        return Draws(draws.n, lambda: draws.values[i])

    def score(self, totals: Sequence[Floats], where: str, system: int | None = None) -> Floats:
        """Return scores of the totals of all strata, `(..., S, k)` each; all must be finite.

        Where a `system` is named, the totals are its own, `(..., k)`, and so is the score.
        """
        scores: list[Any] = [0.0] * (1 if self.is_paired else len(self.systems))
        for stratum, of_stratum in zip(self.strata, totals, strict=True):
            # One after the other: in a product of matrices, sums depend on how many rows there are.
            scores[stratum.system or 0] += stratum.weight * stratum.score(of_stratum)
        together = scores[0] if len(scores) == 1 else np.concatenate(scores, axis=-1)
        return self.check_finite(np.asarray(together), where, system)

    def check_finite(self, scores: Floats, where: str, system: int | None = None) -> Floats:
        """Return scores whose last axis is that of the systems, or which are all of one system."""
        if not np.all(np.isfinite(scores)):
            column = int(np.argwhere(~np.isfinite(scores))[0][-1]) if system is None else system
            metric = self.strata[0].metric if self.strata else Metric
            units, segments = plural(self.units.unit), plural(self.units.segment)
            more = f"more {units}" if units == segments else f"{segments} of more {units}"
            raise InputError(
                f"{self.metric_name} of {where} of system {self.systems[column]!r} "
                + metric.undefined.format(n=self.units.n, units=units, more=more)
            )
        return scores

    def differs(self, a: int, b: int) -> NDArray[np.bool_]:
        """Say on which units the statistics of two systems differ, `(N,)`."""
        marks = np.empty(self.units.n, dtype=np.bool_)
        for stratum in self.strata:
            # Rounding to the grid may tell equal numbers of two systems apart.
            marks[stratum.places] = np.any(stratum.plain[a] != stratum.plain[b], axis=1)
        return marks

    def differ(self, a: int, b: int) -> tuple[int, float]:
        """Return on how many units two systems differ, and what these are worth."""
        if (known := self.known) is not None:
            n = int(known.differing[a, b])
            return n, float(n if known.worth is None else known.worth[a, b])
        if (a, b) not in self._differ:
            marks = self.differs(a, b)
            self._differ[a, b] = int(np.count_nonzero(marks)), self.units.worth(marks)
        return self._differ[a, b]

    @cached_property
    def _differ(self) -> dict[Pair, tuple[int, float]]:
        """What is known of pairs up to now: intervals, families and notes ask for it."""
        return {}

    def counts_of(self, a: int, b: int, influence: Floats | None) -> Counts | None:
        """Return what counts the difference of two shares with this influence, `(N,)`, if any."""
        counter: Counter | None = None if self.outcomes is None else self.outcomes.counted
        counter = counter if self.known is None else self.known.counter
        return None if counter is None or influence is None else counter(a, b, influence)

    def pairs(self, a: Sequence[int], b: Sequence[int], share: float = 1.0) -> Quantities:
        """Return the scores of systems b less this share of those of systems a, P each."""
        a, b = list(a), list(b)
        places = list(zip(a, b, strict=True))
        differ = [self.differ(*place) for place in places]
        for (i, j), (_, worth) in zip(places, differ, strict=True):
            if np.isnan(worth):
                raise InputError(
                    f"{self.metric_name} of {self.systems[i]!r} and {self.systems[j]!r} differs "
                    f"too little: beside sums of squares, rounding hides the variance of the "
                    f"difference; give the rows, or before they are summed subtract from both what "
                    f"they share (of each segment the baseline's score, say), in a unit near 1"
                )
        n_differing = np.array([n for n, _ in differ], dtype=np.int64)
        influence = unseen = None
        if self.influence is not None:
            influence = self.influence[b] - share * self.influence[a]
        if self.unseen is not None:
            # Of the same units that of one system, of others that of both.
            unseen = np.maximum(self.unseen[b], share**2 * self.unseen[a])
        counts: list[Counts | None] = []
        if self.method == "bootstrap" and influence is not None and share == 1:
            counts = [self.counts_of(*x, u) for x, u in zip(places, influence, strict=True)]
        draws, value, n = self.draws, self.value, self.units.n
        floor = None if self.known is None else self.known.floor
        return Quantities(
            self.units,
            value[b] - share * value[a],
            influence,
            Draws(draws.n, lambda: less(draws.values, value, a, b, share, n)),
            unseen,
            self._runs_of(places, share),
            n_differing,
            # Where nothing differs nothing says how much it could.
            np.array([worth or np.inf for _, worth in differ]),
            np.float64(0.5) ** n_differing if floor is None else floor[a, b],
            counts,
            self.method,
        )

    def pair(self, a: int, b: int, share: float = 1.0) -> Quantities:
        """Return the score of system b less this share of that of system a, alone."""
        return self.pairs([a], [b], share)

    def taken(self, systems: Sequence[int]) -> Quantities:
        """Return the scores of some systems, without names."""
        at, draws = list(systems), self.draws
        return Quantities(
            self.units,
            self.value[at],
            None if self.influence is None else self.influence[at],
            Draws(draws.n, lambda: draws.values[at]),
            None if self.unseen is None else self.unseen[at],
            [self.runs[i] for i in at] if self.runs else (),
            method=self.method,
        )

    def _runs_of(self, places: Sequence[Pair], share: float) -> list[tuple[Runs, ...]]:
        """Return mean squares of runs of both systems, or if runs are paired of the difference."""
        if self.by_run is None:
            return []
        if self.paired_runs:
            differences = ((x[b] - share * x[a] for x in self.by_run) for a, b in places)
            return [(mean_squares(*both),) for both in differences]
        return [
            (*self.runs[b], *((share**2 * r, share**2 * e, n) for r, e, n in self.runs[a]))
            for a, b in places
        ]

    def blocks(self, places: Sequence[Pair]) -> Iterator[Sequence[Pair]]:
        """Yield so many pairs as may be in memory together."""
        step = max(1, _TOGETHER // (self.units.n + self.draws.n))
        yield from (places[i : i + step] for i in range(0, len(places), step))

    def signed(self, analysis: Mapping[str, str | None]) -> Signature:
        """Return what identifies the numbers that an analysis makes of it."""
        labels = ",".join(distinct(str(one.n_labelled) for one in self.corrections))
        known = {"nrefs": self.reference_label or None, "labels": labels or None}
        units, strata = self.units, len(self.units.labels)
        unit = "+".join(side.unit for side in units.sides)
        drawn = {
            "by": units.part if units.part != "task" else None,
            "strata": str(strata) if strata else None,
            "unit": unit,
            "from": units.segment if units.segment != unit else None,
        }
        return Signature.create(self.metric_name, self.signature, {**known, **analysis, **drawn})


def mean_squares(scores: Floats, influence: Floats) -> Runs:
    """Return what varies between R runs, what is not the runs' own in it, and R."""
    return *student.mean_squares(scores, influence), len(scores)


def influence_of(
    strata: Sequence[Stratum], n_systems: int, n: int, of_segments: bool = False
) -> Floats:
    """Return influence values of n units on every score, `(S, N)`, or of their segments."""
    values = np.zeros((n_systems, n))
    with np.errstate(invalid="ignore", over="ignore"):
        for stratum in strata:
            at = stratum.segment_places if of_segments else stratum.places
            rows = stratum.segments if of_segments else stratum.rows
            # One system at a time: as floats, statistics are wide.
            for i, statistics in enumerate(rows, stratum.system or 0):
                moves = student.influence_values(stratum.metric, statistics[None])[0]
                values[i, at] = stratum.weight * moves
    return values


def of_strata(strata: Sequence[Stratum], units: Units, **known: Any) -> Scores:
    """Return the scores of systems with these statistics, of which nothing is drawn yet.

    `known` are further fields of `Scores`.
    """
    n = len(known["systems"])
    scores = Scores(units, np.empty(0), None, undrawn(n), strata=tuple(strata), **known)
    # The whole corpus first: it shows in no time what is wrong with a score.
    value = scores.score([stratum.totals for stratum in strata], "the corpus")
    if (chances := _chances(scores)) is not None:
        return _of_trials(replace(scores, value=value), chances)
    influence = influence_of(strata, n, units.n)
    by_run = _by_run(scores)
    return replace(
        scores,
        value=value,
        influence=influence if np.all(np.isfinite(influence)) else None,
        runs=[] if by_run is None else [(mean_squares(*one),) for one in zip(*by_run, strict=True)],
        by_run=by_run,
        missing=_missing(strata, n),
    )


def _missing(strata: Sequence[Stratum], n_systems: int) -> NDArray[np.int64]:
    """Return how many scores each system lacks, and how many it would have, `(S, 2)`."""
    lacking = np.zeros((n_systems, 2), dtype=np.int64)
    for stratum in strata:
        if stratum.metric.columns == Mean.columns:
            first = stratum.system or 0
            systems = slice(first, first + len(stratum.segments))
            lacking[systems, 0] += missing_scores(stratum.metric, stratum.segments)
            lacking[systems, 1] += stratum.segments.shape[1]
    return lacking


def _by_run(scores: Scores) -> tuple[Floats, Floats] | None:
    """Return the score of each system in each run, `(S, R)`, and influence values, `(S, R, N)`."""
    first = scores.strata[0].metric
    if not isinstance(first, MeanOfRuns):
        return None
    n, n_units = len(scores.systems), scores.units.n
    of_runs, influence = np.zeros((n, first.n_runs)), np.zeros((n, first.n_runs, n_units))
    for stratum in scores.strata:
        metric, rows = stratum.by_run(stratum.rows)
        for i, statistics in enumerate(rows.astype(np.float64), stratum.system or 0):
            moves = student.influence_values(metric, statistics)
            of_runs[i] += stratum.weight * metric.score(np.sum(statistics, axis=1))
            influence[i][:, np.arange(n_units)[stratum.places]] = stratum.weight * moves
    for i, system in enumerate(scores.systems):
        size = max(float(np.max(np.abs(x[i]))) for x in (of_runs, influence))
        if size > 0 and not _SMALLEST < size < _LARGEST:
            raise InputError(
                f"{scores.metric_name} of several runs must lie between {_SMALLEST:g} and "
                f"{_LARGEST:g}, where squares are numbers, got {size:.3g} for "
                f"{system!r}; take another unit"
            )
    return of_runs, influence


def _chances(scores: Scores) -> Floats | None:
    """Return the variance of each score by trials, `(S,)`, where items are all there are."""
    of_strata = [[x.metric.chance(rows) for rows in x.segments] for x in scores.strata]
    known = [[x for x in chances if x is not None] for chances in of_strata]
    if not any(known):
        return None
    has_all = all(len(x) == len(scores.systems) for x in known)
    if scores.units.sizes is not None or not scores.is_paired or not has_all:
        raise InputError(
            "'all' takes items that both systems have, without groups, and a mean over them; leave "
            "it out",
            argument="items",
        )
    weights = [stratum.weight for stratum in scores.strata]
    return np.asarray(np.square(weights) @ np.array(known))


def _of_trials(scores: Scores, chances: Floats) -> Scores:
    """Return what trials alone say of scores with these variances: nothing is resampled."""
    n, n_systems = scores.units.n, len(chances)
    places, sums = np.zeros(n_systems, dtype=np.intp), np.array([[n, n, n]])
    called = scores.units.called
    units = SummedUnits(n, *called, labels=scores.units.labels, places=places, sums=sums)
    note = (
        f"{scores.name}: these {counted(n, units.unit)} are all there are, and chance is only in "
        f"their trials. t decides."
    )
    # A coordinate for each system: the trials of two have nothing in common.
    coordinates = np.diag(np.sqrt(chances * (n - 1) / n))
    return replace(scores, units=units, outcomes=None, influence=coordinates, origin=(note,))


def refuse_fixed(scores: Scores, asking: str) -> None:
    """Refuse what is about other items, where these are all there are."""
    if scores.has_segments and not scores.units.has_values:
        raise InputError(
            f"'all': {asking} is about other items, and these are all there are; leave it out",
            argument="items",
        )


def of_table(
    table: SegmentStatistics, name: str, units: Units, aggregate: Aggregate, task: str, **known: Any
) -> Scores:
    """Return the scores of a table under its metric, which tables of results call `name`."""
    metric, tag = table.metric, aggregate.tag
    # What was seen in texts, and whether the metric suits the language of the task.
    said = [one for name in ("", *table.systems) for one in table.cautions.get(name, ())]
    if why := metric.unsuited(target_language(task)):
        said.append(Caution(f"{metric.name}: {why}.", "texts"))
    signature = MetricSignature.of(table.metric_signature)
    of_units = table if units.members is None else table.grouped(units.members)
    plain = without_rounding(of_units.values)
    rows = on_grid(plain, [f"{c} of {metric.name}" for c in metric.columns])
    strata: tuple[Stratum, ...] = (Stratum(metric, rows, plain, table.values),)
    outcomes = as_outcomes(table, units, () if tag is None else aggregate.weights)
    segment_strata = units.segment_strata
    if units.strata is not None and segment_strata is not None and tag is not None:
        apart = [
            Stratum(metric, rows[:, p], plain[:, p], table.values[:, q], p, q, weight)
            for p, q, weight in zip(
                places_of(units.strata), places_of(segment_strata), aggregate.weights, strict=True
            )
        ]
        strata = _with_singles_joined(apart, units, aggregate.label)
    return of_strata(
        strata,
        units,
        name=name if tag is None else f"{aggregate.label} {name}",
        metric_name=metric.name,
        systems=table.systems,
        higher_is_better=metric.higher_is_better,
        signature=signature if tag is None else signature.tagged(tag),
        reference_label=table.reference_label,
        outcomes=outcomes,
        bounds=metric.bounds,
        answers=table.answers,
        cautions=distinct(said),
        **known,
    )


def _with_singles_joined(
    strata: Sequence[Stratum], units: Units, aggregate: str
) -> tuple[Stratum, ...]:
    """Put strata of one unit into one stratum of their weighted scores.

    None of them is in every resample, so that they are drawn as one stratum.
    """
    singles = [t for t, stratum in enumerate(strata) if stratum.rows.shape[1] == 1]
    if not singles or len(strata) == 1:
        return tuple(strata)
    if len(singles) == 1:
        label = units.labels[singles[0]] if units.labels else singles[0]
        raise InputError(
            f": aggregate {aggregate!r} needs at least 2 {plural(units.unit)} in each "
            f"stratum, or several strata of one; {label!r} has 1: join it with another",
            argument="strata",
        )
    scores, moves = [], []
    for stratum in (strata[t] for t in singles):
        metric, rows = stratum.by_run(stratum.rows)
        totals = np.asarray(np.sum(rows, axis=2, dtype=np.float64))
        scores.append(stratum.weight * scores_of(metric, totals))
        # What each segment adds to the score of its own stratum, in each run.
        _, segments = stratum.by_run(stratum.segments)
        values = [student.influence_values(metric, of_system) for of_system in segments]
        moves.append(stratum.weight * np.stack(values).swapaxes(1, 2))
    of_runs, n_runs = isinstance(strata[0].metric, MeanOfRuns), scores[0].shape[1]
    joined = Stratum(
        MeanOfRuns(ScoreSum(), n_runs) if of_runs else ScoreSum(),
        rows=on_grid(np.stack(scores, axis=1), ["score"] * n_runs),
        plain=np.stack(scores, axis=1),
        segments=np.concatenate(moves, axis=1),
        places=np.concatenate([strata[t].places for t in singles]),
        segment_places=np.concatenate([strata[t].segment_places for t in singles]),
    )
    return (*(strata[t] for t in range(len(strata)) if t not in singles), joined)


def drawn(several: Sequence[Scores], options: Options) -> list[Scores]:
    """Return scores under several metrics, all resampled with one weight matrix when asked."""
    _check_runs(several, options)
    first = several[0]
    # Resampling segments says nothing of other runs, and no rows draw groups of two labels.
    is_by_t = first.by_run is not None or len(first.units.sides) > 1
    n_resamples = 0 if is_by_t else options.n_drawn

    @cache
    def replicates() -> list[Floats]:
        weights, then = rows_of(first.units, options.seed), partial(_scores, several)
        scores = totals_scored(several, weights, n_resamples, options, then)
        ends = np.cumsum([len(scores.systems) for scores in several])[:-1]
        return [frozen(scores) for scores in np.split(scores, ends, axis=1)]

    resampled = []
    for i, scores in enumerate(several):
        draws = Draws(n_resamples, lambda i=i: replicates()[i])  # type: ignore[misc]
        if not n_resamples or not scores.units.has_values:
            draws = undrawn(len(scores.systems))
        method, paired_runs = options.method, options.paired_runs
        resampled.append(replace(scores, draws=draws, method=method, paired_runs=paired_runs))
    return resampled


def _check_runs(several: Sequence[Scores], options: Options) -> None:
    """Refuse pairs of runs where there are none, and metrics with other runs."""
    with_runs = [scores.by_run is not None for scores in several]
    if options.paired_runs and not several[0].is_paired:
        raise InputError(
            "is for several runs of systems with the same segments, and these are unpaired",
            argument="paired_runs",
        )
    if options.paired_runs and not any(with_runs):
        raise InputError(
            "is for several runs of each system, and there is one of each; leave it out",
            argument="paired_runs",
        )
    if any(with_runs) and not all(with_runs):
        raise InputError("all metrics must have the same runs, got some without")


def rows_of(units: Units, seed: int) -> Weights:
    """Return how the rows of weights are drawn: freely, or within strata."""
    if units.codes is None:
        return Multinomial(units.n, seed)
    return Stratified(units.n, seed, units.codes)


def totals_scored(
    several: Sequence[Scores], weights: Weights, n_resamples: int, options: Options, then: Any
) -> Floats:
    """Return what `then` makes of the totals of resamples, those of all metrics side by side.

    It takes totals `(R, K)` of each stratum, and makes `(R, W)`; it may have to travel to other
    processes.
    """
    parts = []
    for t, stratum in enumerate(several[0].strata):
        # The statistics of all systems and metrics side by side, `(N, K)`.
        rows = [scores.strata[t].rows for scores in several]
        columns = [v.transpose(1, 0, 2).reshape(v.shape[1], -1) for v in rows]
        together = columns[0] if len(columns) == 1 else np.concatenate(columns, axis=1)
        parts.append((stratum.places, together))
    if len(parts) == 1 and n_resamples * parts[0][1].shape[1] <= _KEPT:
        scores: Floats = then(
            [weighted_totals(weights, parts[0][1], n_resamples, options.executor)]
        )
        return scores
    # Totals of many strata, or columns, take much memory: they are scored as they come.
    return stratum_totals(weights, parts, n_resamples, options.executor, then)


def _scores(several: Sequence[Scores], totals: Sequence[Floats]) -> Floats:
    """Return scores of systems under all metrics from totals of all strata, `(R, K)` each."""
    apart = [split(several, t, of_stratum) for t, of_stratum in enumerate(totals)]
    scores = [one.score([x[i] for x in apart], "a resample") for i, one in enumerate(several)]
    return scores[0] if len(scores) == 1 else np.concatenate(scores, axis=1)


def split(several: Sequence[Scores], t: int, totals: Floats) -> list[Floats]:
    """Take totals `(R, K)` of stratum t apart again, `(R, S, k)` for each metric."""
    shapes = [scores.strata[t].rows.shape[::2] for scores in several]
    parts = np.split(totals, np.cumsum([a * b for a, b in shapes])[:-1], axis=1)
    return [p.reshape(len(totals), *shape) for p, shape in zip(parts, shapes, strict=True)]


def undrawn(n_systems: int) -> Draws:
    """Return no replicates, `(S, 0)`."""
    return Draws.of(np.empty((n_systems, 0)))


def frozen(replicates: Floats) -> Floats:
    """Return replicates `(B, S)` as `(S, B)`, which nobody can write to."""
    rows = np.ascontiguousarray(replicates.T)
    rows.setflags(write=False)
    return rows


def distinct_names(metrics: Sequence[Metric]) -> list[str]:
    """Return what to call each metric; two with one name are told apart by their signatures."""
    names = [metric.name for metric in metrics]
    full = [
        f"{name} ({metric.signature})" if names.count(name) > 1 else name
        for name, metric in zip(names, metrics, strict=True)
    ]
    if len(set(full)) < len(full):
        raise InputError(f"must differ, got {', '.join(names)}", argument="metrics")
    return full
