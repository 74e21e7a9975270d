"""Scores of systems for one metric, from the statistics of their segments, `(S, N, k)`.

A score is computed from the totals of all segments, or is a weighted mean of the scores of strata
or tasks: Σ w·f(totals). `of_strata` makes quantities, and `drawn` resamples them, for all systems
and metrics of a call with the same rows of weights. Summaries without statistics (moments, battles)
become `Scores` too, with `None`, or no replicates, for unknown parts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalstats.analysis.counts import Counter, Counts, Outcomes, as_outcomes
from evalstats.analysis.design import Aggregate, Units
from evalstats.analysis.options import Options
from evalstats.analysis.quantities import Quantities, less
from evalstats.errors import InputError
from evalstats.inference import student
from evalstats.inference.draws import NONE, Draws
from evalstats.inference.student import Runs
from evalstats.metrics import Mean, Metric, scores_of
from evalstats.metrics.base import Correction, LabelledMetric, MetricSignature
from evalstats.metrics.ratios import MeanOfRuns
from evalstats.resampling.weighted import (
    on_grid,
    stratum_totals,
    weighted_totals,
    without_rounding,
)
from evalstats.resampling.weights import Weights, places_of
from evalstats.results.records import Caution, distinct, plural
from evalstats.results.signatures import Signature
from evalstats.statistics.guards import ungrouped
from evalstats.statistics.segments import SegmentStatistics, missing_scores
from evalstats.text.tokenization import target_language

Floats = NDArray[np.float64]
#: A baseline and a system, by their places.
Pair = tuple[int, int]
#: Number of totals of resamples scored together.
_KEPT = 2**24


@dataclass(frozen=True, eq=False)
class Stratum:
    """Statistics of units that are scored together, and the weight of their score."""

    metric: Metric
    rows: NDArray[Any]  # (S, n, k), on the exact grid
    plain: NDArray[Any]  # (S, n, k), before rounding to the grid
    segments: NDArray[Any]  # (S, m, k), of single segments
    places: Any = ...  # the places of these among the N units
    segment_places: Any = ...
    weight: float = 1.0
    system: int | None = None  # the only system, if systems have their own units

    @cached_property
    def totals(self) -> Floats:
        """Summed statistics, `(S, k)`."""
        return np.asarray(np.sum(self.rows, axis=1, dtype=np.float64))

    def by_run(self, rows: NDArray[Any]) -> tuple[Metric, NDArray[Any]]:
        """Return the metric of one run, and rows by run, `(S, n, R k) -> (S, R, n, k)`."""
        if isinstance(self.metric, MeanOfRuns):
            return self.metric.metric, self.metric.of_runs(rows)
        return self.metric, rows[:, None]

    @property
    def is_of_singles(self) -> bool:
        """Whether this merges strata of one unit, or of one unit in each run."""
        metric = self.metric
        return isinstance(metric.metric if isinstance(metric, MeanOfRuns) else metric, ScoreSum)


class ScoreSum(Metric):
    """A sum of scores of strata of one unit, which are merged."""

    name = "score"
    columns = ("score",)
    uses_references = False

    def statistics(self, hypotheses: Any, references: Any = None) -> Floats:
        """Return scores unchanged, `(N, 1)`."""
        return np.asarray(hypotheses, np.float64)[:, None]

    def score(self, totals: ArrayLike) -> Floats:
        """Return the sum, `(..., 1) -> (...)`."""
        return np.asarray(totals)[..., 0]

    def gradient(self, totals: ArrayLike) -> Floats:
        """Return 1, `(..., 1) -> (..., 1)`."""
        return np.ones(np.shape(totals))


@dataclass(frozen=True, eq=False)
class KnownPairs:
    """Facts about all pairs, `(S, S)` each, if there are no statistics."""

    differing: NDArray[np.int64]  # units on which they differ
    #: Their effective number, if different; NaN if rounding hides a variance.
    worth: Floats | None = None
    floor: Floats | None = None  # smallest one-sided p-values, without swaps
    counter: Counter | None = None  # tests of differences, if not from outcomes
    skewness: float = 0.0  # of all differences, for the correction of t


@dataclass(frozen=True, eq=False, kw_only=True)
class Scores(Quantities):
    """The scores of S systems for one metric: quantities with names."""

    name: str  # name of the metric, or average, in tables
    metric_name: str  # name in messages and signatures
    systems: tuple[str, ...]
    higher_is_better: bool
    signature: MetricSignature  # of the metric, with strata and runs
    reference_label: str | None = None
    strata: tuple[Stratum, ...] = ()  # one, or one per stratum or system
    samples: tuple[Scores, ...] = ()  # one per system, if systems have their own units
    by_run: tuple[Floats, Floats] | None = None  # scores (S, R) and influence (S, R, N) of runs
    paired_runs: bool = False  # run r of all systems has the same prompt or seed
    outcomes: Outcomes | None = None  # if scores are shares of the same segments
    known: KnownPairs | None = None  # of pairs, if not from the statistics
    missing: NDArray[np.int64] | None = None  # (S, 2) missing scores, and all scores
    answers: Floats | None = None  # as `SegmentStatistics.answers`
    corrections: tuple[Correction, ...] = ()  # if people's labels correct a judge's scores
    bounds: tuple[float, float] = Metric.bounds  # of scores, for all intervals
    empty_score: float | None = None  # as in `Metric`
    cautions: tuple[Caution, ...] = ()  # what may make the scores invalid
    battles: tuple[int, ...] = ()  # of each system, for scores from battles
    notes: tuple[str, ...] = ()  # unknown facts about pairs
    origin: tuple[str, ...] = ()  # sentences on the origin of scores

    @property
    def is_paired(self) -> bool:
        """Whether all systems have the same units, drawn together."""
        return not self.samples

    @property
    def has_segments(self) -> bool:
        """Whether statistics are available, for systems on the same segments."""
        return bool(self.strata) and not self.samples

    @property
    def ends(self) -> tuple[float, float]:
        """The bounds; the score of empty outputs is one of them if there is no worst score."""
        low, high = self.bounds
        if self.empty_score is None:
            return low, high
        return (self.empty_score, high) if self.higher_is_better else (low, self.empty_score)

    @property
    def n_runs(self) -> int | None:
        """Number of runs of each system, if several."""
        return None if self.by_run is None else self.by_run[0].shape[1]

    @property
    def together(self) -> Sequence[Scores]:
        """The systems resampled together; several entries if each has its own units."""
        return self.samples or [self]

    def score(self, totals: Sequence[Floats], where: str, system: int | None = None) -> Floats:
        """Return scores of the totals of all strata, `(..., S, k)` each; all must be finite.

        With a `system`, the totals are its own, `(..., k)`, and so is the score.
        """
        scores: list[Any] = [0.0] * (len(self.samples) or 1)
        for stratum, of_stratum in zip(self.strata, totals, strict=True):
            # One after the other: in a matrix product, sums would depend on the number of rows.
            scores[stratum.system or 0] += stratum.weight * scores_of(stratum.metric, of_stratum)
        together = scores[0] if len(scores) == 1 else np.concatenate(scores, axis=-1)
        return self.check_finite(np.asarray(together), where, system)

    def check_finite(self, scores: Floats, where: str, system: int | None = None) -> Floats:
        """Return finite scores; the last axis is systems, or all belong to one system."""
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
        """Return the units on which the statistics of two systems differ, `(N,)`."""
        marks = np.empty(self.units.n, dtype=np.bool_)
        for stratum in self.strata:
            # Rounding to the grid may make equal numbers of two systems differ.
            marks[stratum.places] = np.any(stratum.plain[a] != stratum.plain[b], axis=1)
        return marks

    def differ(self, a: int, b: int) -> tuple[int, float]:
        """Return the number of units on which two systems differ, and the effective number."""
        if (known := self.known) is not None:
            n = int(known.differing[a, b])
            return n, float(n if known.worth is None else known.worth[a, b])
        if (a, b) not in self._differ:
            marks = self.differs(a, b)
            self._differ[a, b] = int(np.count_nonzero(marks)), self.units.worth(marks)
        return self._differ[a, b]

    @cached_property
    def _differ(self) -> dict[Pair, tuple[int, float]]:
        """Cache for pairs, used by intervals, families and notes."""
        return {}

    def counts_of(self, a: int, b: int, influence: Floats | None) -> Counts | None:
        """Return the test of a difference of two shares with this influence, `(N,)`, or `None`."""
        counter: Counter | None = None if self.outcomes is None else self.outcomes.counted
        counter = counter if self.known is None else self.known.counter
        return None if counter is None or influence is None else counter(a, b, influence)

    def pairs(self, a: Sequence[int], b: Sequence[int], share: float = 1.0) -> Quantities:
        """Return the scores of systems b minus this share of the scores of systems a, P each."""
        a, b = list(a), list(b)
        places = list(zip(a, b, strict=True))
        n_differing, worth = np.array([self.differ(*pair) for pair in places]).T
        for i, j in np.array(places)[np.isnan(worth)][:1]:
            raise InputError(
                f"{self.metric_name} of {self.systems[i]!r} and {self.systems[j]!r} differ too "
                "little: rounding of the sums of squares hides the variance of the difference. "
                "Pass the rows instead, or subtract a common part (such as the baseline's score "
                "of each segment) before you sum, on a scale near 1."
            )
        influence = unseen = None
        counts: list[Counts | None] = []
        if self.influence is not None:
            influence = self.influence[b] - share * self.influence[a]
            if self.method == "bootstrap" and share == 1:
                counts = [self.counts_of(*x, u) for x, u in zip(places, influence, strict=True)]
        if self.unseen is not None:
            # One system's floor on the same units, both systems' on different ones.
            unseen = np.maximum(self.unseen[b], share**2 * self.unseen[a])
        runs: Sequence[tuple[Runs, ...]] = ()
        if self.by_run is not None:
            from evalstats.designs.runs import runs_of_pairs

            runs = runs_of_pairs(self, places, share)
        draws, value, n = self.draws, self.value, self.units.n
        floor = None if self.known is None else self.known.floor
        return Quantities(
            self.units,
            value[b] - share * value[a],
            influence,
            Draws(draws.n, lambda: less(draws.values, value, a, b, share, n)),
            unseen,
            runs,
            n_differing.astype(np.int64),
            # If nothing differs, nothing is known about possible differences.
            np.where(worth == 0, np.inf, worth),
            0.5**n_differing if floor is None else floor[a, b],
            counts,
            self.method,
            0.0 if self.known is None else self.known.skewness,
        )

    def signed(self, analysis: Mapping[str, str | None]) -> Signature:
        """Return the signature of the numbers of an analysis."""
        labels = ",".join(distinct(str(one.n_labelled) for one in self.corrections))
        units, strata = self.units, len(self.units.labels)
        unit = "+".join(side.unit for side in units.sides)
        known = {
            "nrefs": self.reference_label or None,
            "labels": labels or None,
            **analysis,
            "by": units.part if units.part != "task" else None,
            "strata": str(strata) if strata else None,
            "unit": unit,
            "from": units.segment if units.segment != unit else None,
        }
        return Signature.create(self.metric_name, self.signature, known)


def of_strata(strata: Sequence[Stratum], units: Units, **known: Any) -> Scores:
    """Return the scores of systems with these statistics, without replicates.

    `known` are further fields of `Scores`.
    """
    n = len(known["systems"])
    scores = Scores(units, np.empty(0), None, strata=tuple(strata), **known)
    # The whole corpus first, because it quickly shows problems of a score.
    value = scores.score([stratum.totals for stratum in strata], "the corpus")
    influence, missing = np.zeros((n, units.n)), np.zeros((n, 2), dtype=np.int64)
    for stratum in strata:
        first = stratum.system or 0
        with np.errstate(invalid="ignore", over="ignore"):
            # One system at a time, to save memory for floats.
            for i, rows in enumerate(stratum.rows, first):
                (moves,) = student.influence_values(stratum.metric, rows[None])
                influence[i, stratum.places] = stratum.weight * moves
        if stratum.metric.columns == Mean.columns:
            systems = slice(first, first + len(stratum.segments))
            missing[systems, 0] += missing_scores(stratum.metric, stratum.segments)
            missing[systems, 1] += stratum.segments.shape[1]
    is_known = bool(np.all(np.isfinite(influence)))
    scores = replace(
        scores, value=value, influence=influence if is_known else None, missing=missing
    )
    if any(x.metric.chance(x.segments[0]) is not None for x in strata):
        from evalstats.designs.trials.cases import fixed

        return fixed(scores)
    if isinstance(strata[0].metric, MeanOfRuns):
        from evalstats.designs.runs import with_runs

        return with_runs(scores)
    return scores


def of_table(
    table: SegmentStatistics, name: str, units: Units, aggregate: Aggregate, task: str
) -> Scores:
    """Return the scores of a table for its metric; `name` is the metric's name in tables."""
    by_stratum, tag = bool(units.labels) and aggregate.label != "micro", aggregate.tag
    correction = None
    if isinstance(table.metric, LabelledMetric):
        table, correction, unseen = table.metric.tuned(table, units, by_stratum)
    else:
        unseen = table.metric.unseen(table, units)
    metric = table.metric
    # Cautions about texts, and whether the metric suits the language of the task.
    said = [one for system in ("", *table.systems) for one in table.cautions.get(system, ())]
    if why := metric.unsuited(target_language(task)):
        said.append(Caution(f"{metric.name}: {why}.", "texts"))
    if units.members is None and len(units.sides) == 1:
        said += ungrouped(table.labels, table.unit)
    signature = MetricSignature.of(table.metric_signature)
    of_units = table if units.members is None else table.grouped(units.members)
    plain = without_rounding(of_units.values)
    rows = on_grid(plain, [f"{c} of {metric.name}" for c in metric.columns])
    strata = [Stratum(metric, rows, plain, table.values)]
    if units.strata is not None and units.segment_strata is not None and tag is not None:
        places = places_of(units.strata), places_of(units.segment_strata)
        strata = [
            Stratum(metric, rows[:, p], plain[:, p], table.values[:, q], p, q, weight)
            for p, q, weight in zip(*places, aggregate.weights, strict=True)
        ]
        strata = _with_singles_joined(strata, units, aggregate.label)
    return of_strata(
        strata,
        units,
        name=name if tag is None else f"{aggregate.label} {name}",
        metric_name=metric.name,
        systems=table.systems,
        higher_is_better=metric.higher_is_better,
        signature=signature if tag is None else signature.tagged(tag),
        reference_label=table.reference_label,
        outcomes=as_outcomes(table, units, () if tag is None else aggregate.weights),
        bounds=metric.bounds_of(table.values),
        empty_score=metric.empty_score,
        answers=table.answers,
        cautions=distinct(said),
        corrections=() if correction is None else (correction,),
        unseen=unseen,
    )


def _with_singles_joined(strata: Sequence[Stratum], units: Units, aggregate: str) -> list[Stratum]:
    """Merge strata of one unit into one stratum of their weighted scores.

    Not all of them are in every resample, so they are drawn as one stratum.
    """
    singles = [stratum for stratum in strata if stratum.rows.shape[1] == 1]
    others = [stratum for stratum in strata if stratum.rows.shape[1] > 1]
    if not singles or len(strata) == 1:
        return list(strata)
    if len(singles) == 1:
        t = strata.index(singles[0])
        label = units.labels[t] if units.labels else t
        raise InputError(
            f": aggregate {aggregate!r} requires at least 2 {plural(units.unit)} in each stratum "
            f"(or several strata with one), but {label!r} has 1. Merge it with another stratum.",
            argument="strata",
        )
    scores, moves = [], []
    for stratum in singles:
        metric, rows = stratum.by_run(stratum.rows)
        totals = np.asarray(np.sum(rows, axis=2, dtype=np.float64))
        scores.append(stratum.weight * scores_of(metric, totals))
        # The influence of each segment on its own stratum, in each run.
        _, segments = stratum.by_run(stratum.segments)
        values = [student.influence_values(metric, of_system) for of_system in segments]
        moves.append(stratum.weight * np.stack(values).swapaxes(1, 2))
    plain, n_runs = np.stack(scores, axis=1), scores[0].shape[1]
    of_runs = isinstance(strata[0].metric, MeanOfRuns)
    joined = Stratum(
        MeanOfRuns(ScoreSum(), n_runs) if of_runs else ScoreSum(),
        on_grid(plain, ["score"] * n_runs),
        plain,
        np.concatenate(moves, axis=1),
        np.concatenate([stratum.places for stratum in singles]),
        np.concatenate([stratum.segment_places for stratum in singles]),
    )
    return [*others, joined]


def drawn(several: Sequence[Scores], options: Options) -> list[Scores]:
    """Return scores for several metrics, all resampled with one weight matrix on demand."""
    first, n_resamples = several[0], options.n_resamples
    if options.paired_runs or any(scores.by_run is not None for scores in several):
        from evalstats.designs.runs import check_runs

        check_runs(several, options.paired_runs)
    if options.method == "t" or first.by_run is not None or len(first.units.sides) > 1:
        # Resampling segments does not cover other runs, and rows cannot draw two labels.
        n_resamples = 0

    @cache
    def replicates() -> list[Floats]:
        weights, then = first.units.weights(options.rng), partial(_scored, several)
        scores = totals_scored(several, weights, n_resamples, options, then)
        ends = np.cumsum([len(scores.systems) for scores in several])[:-1]
        return [frozen(scores) for scores in np.split(scores, ends, axis=1)]

    how: dict[str, Any] = {"method": options.method, "paired_runs": options.paired_runs}
    resampled = []
    for i, scores in enumerate(several):
        draws = Draws(n_resamples, lambda i=i: replicates()[i])  # type: ignore[misc]
        if not n_resamples or not scores.units.has_values:
            draws = NONE
        samples = (
            replace(sample, draws=draws.taken([s]), **how)
            for s, sample in enumerate(scores.samples)
        )
        resampled.append(replace(scores, draws=draws, samples=tuple(samples), **how))
    return resampled


def totals_scored(
    several: Sequence[Scores], weights: Weights, n_resamples: int, options: Options, then: Any
) -> Floats:
    """Return `then` applied to the totals of resamples, of all metrics side by side.

    It maps totals `(R, K)` of each stratum to `(R, W)`; it may be sent to other processes.
    """
    parts = []
    for t, stratum in enumerate(several[0].strata):
        # The statistics of all systems and metrics side by side, `(N, K)`.
        rows = [scores.strata[t].rows for scores in several]
        columns = [v.transpose(1, 0, 2).reshape(v.shape[1], -1) for v in rows]
        together = columns[0] if len(columns) == 1 else np.concatenate(columns, axis=1)
        parts.append((stratum.places, together))
    if len(parts) == 1 and n_resamples * parts[0][1].shape[1] <= _KEPT:
        totals = weighted_totals(weights, parts[0][1], n_resamples, options.executor)
        return np.asarray(then([totals]))
    # Totals of many strata, or columns, take much memory, so they are scored immediately.
    return stratum_totals(weights, parts, n_resamples, options.executor, then)


def _scored(several: Sequence[Scores], totals: Sequence[Floats]) -> Floats:
    """Return scores of systems for all metrics from totals of all strata, `(R, K)` each."""
    scores, start = [], [0] * len(totals)
    for one in several:
        of_metric = []
        for t, (stratum, of_stratum) in enumerate(zip(one.strata, totals, strict=True)):
            n_systems, _, k = stratum.rows.shape
            here = slice(start[t], start[t] + n_systems * k)
            start[t] = here.stop
            of_metric.append(of_stratum[:, here].reshape(len(of_stratum), n_systems, k))
        scores.append(one.score(of_metric, "a resample"))
    return scores[0] if len(scores) == 1 else np.concatenate(scores, axis=1)


def frozen(replicates: Floats) -> Floats:
    """Return replicates `(B, S)` as a read-only array `(S, B)`."""
    rows = np.ascontiguousarray(replicates.T)
    rows.setflags(write=False)
    return rows


def widest_bounds(several: Sequence[Scores]) -> tuple[float, float]:
    """Return bounds that are valid for several scores, and for their weighted mean."""
    low, high = zip(*(one.bounds for one in several), strict=True)
    return min(low), max(high)


def refuse_fixed(scores: Scores, asking: str) -> None:
    """Refuse questions about other items if items are fixed."""
    if scores.has_segments and not scores.units.has_values:
        raise InputError(
            f"must be left out: 'all' treats the items as fixed, but {asking} is about new items",
            argument="items",
        )


def distinct_names(metrics: Sequence[Metric]) -> list[str]:
    """Return the name of each metric; signatures are added to equal names."""
    names = [metric.name for metric in metrics]
    full = [
        f"{name} ({metric.signature})" if names.count(name) > 1 else name
        for name, metric in zip(names, metrics, strict=True)
    ]
    if len(set(full)) < len(full):
        raise InputError(
            f"must have different names, but these are {', '.join(names)}", argument="metrics"
        )
    return full
