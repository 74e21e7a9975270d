"""Scores of systems: blocks of statistics, and what is made of them; shares that are counted.

Shares are scores of segments that succeed or not (accuracy, pass rates).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalstats.analysis.design import MICRO, Aggregate, Units
from evalstats.analysis.options import Options
from evalstats.errors import InputError
from evalstats.inference import counts, student
from evalstats.inference.student import Spread
from evalstats.metrics import Mean, Metric, scores_of
from evalstats.metrics.base import Correction, MetricSignature
from evalstats.metrics.ratios import MeanOfRuns
from evalstats.resampling.weighted import on_grid
from evalstats.resampling.weights import places_of
from evalstats.results.records import Caution, distinct, plural
from evalstats.statistics.segments import SegmentStatistics, missing_scores
from evalstats.text.tokenization import target_language

Floats = NDArray[np.float64]
#: Items, or groups, with the pooled share that are added to each stratum, and answers that whole
#: groups share and that are added to those that vary (Agresti and Coull, 1998).
_ADDED = 4.0


@dataclass(frozen=True, eq=False, kw_only=True)
class Scored:
    """Whose scores these are, under which metric, on which units."""

    name: str  # what tables call the metric, or the average
    metric_name: str  # what messages and signatures call it
    systems: tuple[str, ...]
    higher_is_better: bool
    signature: MetricSignature  # of the metric and of what is made of strata
    reference_label: str | None
    units: Units
    outcomes: Outcomes | None = None  # where scores are shares of segments
    unseen: Floats | None = None  # (S, N) added to squared influence values; t then decides
    corrections: tuple[Correction, ...] = ()  # where people's labels correct a judge's scores
    bounds: tuple[float, float] = Metric.bounds  # of scores, which no interval exceeds
    undefined: str = Metric.undefined  # what a score is that is no number
    cautions: tuple[Caution, ...] = ()  # what may make the scores invalid
    battles: tuple[int, ...] = ()  # of each system, where scores are of these
    has_few_values: bool = False  # whether a unit has one of few, as who won, where it is elsewhere

    #: Whether all systems have the same units, drawn together.
    is_paired: ClassVar[bool] = True

    @property
    def samples(self) -> Sequence[tuple[Scored, Any]]:
        """The systems that are drawn together, and which units are theirs; several if unpaired."""
        return [(self, ...)]

    @property
    def missing(self) -> NDArray[np.int64]:
        """How many scores each system lacks, and how many it would have, `(S, 2)`."""
        return np.tile([0, self.units.n_segments], (len(self.systems), 1))

    def differ(self, a: int, b: int) -> tuple[int, float]:
        """Return on how many units two systems differ, and what these are worth; all by default."""
        return self.units.n, float(self.units.n)

    def counted(self, a: int, b: int, influence: Floats) -> Counts | None:
        """Return what counts the difference of two shares; nothing where scores are none."""
        return None if self.outcomes is None else self.outcomes.counted(a, b, influence)

    def least(self, a: int, b: int) -> float | None:
        """Return the smallest one-sided p-value, where that is not of units that are swapped."""
        return None

    def check_finite(self, scores: Floats, where: str, system: int | None = None) -> Floats:
        """Return scores whose last axis is that of the systems, or which are all of one system."""
        if not np.all(np.isfinite(scores)):
            column = int(np.argwhere(~np.isfinite(scores))[0][-1]) if system is None else system
            units = plural(self.units.unit)
            segments = plural(self.units.segment)
            more = f"more {units}" if units == segments else f"{segments} of more {units}"
            raise InputError(
                f"{self.metric_name} of {where} of system {self.systems[column]!r} "
                + self.undefined.format(n=self.units.n, units=units, more=more)
            )
        return scores


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


def is_score_sum(metric: Metric) -> bool:
    """Return whether strata of one unit, or of one unit in each run, were drawn together."""
    return isinstance(metric.metric if isinstance(metric, MeanOfRuns) else metric, ScoreSum)


@dataclass(frozen=True, eq=False)
class Block:
    """Statistics of units that are scored together."""

    metric: Metric
    rows: NDArray[Any]  # (S, n, k), on the exact grid
    plain: NDArray[Any]  # (S, n, k), before they were rounded to the grid
    segments: NDArray[Any]  # (S, m, k), of single segments
    places: Any = ...  # which of the N units these are
    segment_places: Any = ...

    @cached_property
    def totals(self) -> Floats:
        """Summed statistics, `(S, k)`."""
        return np.asarray(np.sum(self.rows, axis=1, dtype=np.float64))

    def score(self, totals: Floats) -> Floats:
        """Return the scores of totals, `(..., k) -> (...)`."""
        return scores_of(self.metric, totals)


@dataclass(frozen=True, eq=False, kw_only=True)
class Resampled(Scored):
    """Statistics of S systems that are here, to be resampled."""

    blocks: tuple[Block, ...]  # one, or one for each stratum, or system, of its own

    @abstractmethod
    def score(self, totals: Sequence[Floats], where: str) -> Floats:
        """Return scores of the totals of all blocks, `(..., S)`; all must be finite."""

    @abstractmethod
    def influence(self) -> Floats:
        """Return influence values of units on every score, `(S, N)`."""

    @abstractmethod
    def run_scores(self, i: int) -> tuple[Floats, Floats]:
        """Return the score of a system in each of R runs, `(R,)`, and influence values, `(R, N)`.

        Of strata these are the sums of what the score of each adds, by its slope.
        """

    @property
    def runs(self) -> MeanOfRuns | None:
        """The metric, where scores are means over several runs of each system."""
        metric = self.blocks[0].metric
        return metric if isinstance(metric, MeanOfRuns) else None

    def check_fits(self, options: Options) -> None:
        """Refuse options that say nothing of such systems."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Segments(Resampled):
    """Statistics of S systems on the same segments, and how they are scored."""

    aggregate: Aggregate = MICRO  # of the scores of the blocks
    answers: Floats | None = None  # as `SegmentStatistics.answers`

    def score(self, totals: Sequence[Floats], where: str, system: int | None = None) -> Floats:
        """Return scores of the totals of all blocks, `(..., k)` each; all must be finite."""
        each = (block.score(x) for block, x in zip(self.blocks, totals, strict=True))
        return self.check_finite(self.aggregate.of_each(each), where, system)

    def differ(self, a: int, b: int) -> tuple[int, float]:
        """Return on how many units two systems differ, and what these are worth."""
        marks = self.differs(a, b)
        return int(np.count_nonzero(marks)), self.units.worth(marks)

    def differs(self, a: int, b: int) -> NDArray[np.bool_]:
        """Say on which units the statistics of two systems differ, `(N,)`."""
        marks = np.empty(self.units.n, dtype=np.bool_)
        for block in self.blocks:
            # Rounding to the grid may tell equal numbers of two systems apart.
            marks[block.places] = np.any(block.plain[a] != block.plain[b], axis=1)
        return marks

    @cached_property
    def missing(self) -> NDArray[np.int64]:
        """How many scores each system lacks, and how many it would have, `(S, 2)`."""
        counts = np.zeros((len(self.systems), 2), dtype=np.int64)
        for block in self.blocks:
            if block.metric.columns == Mean.columns:
                counts[:, 0] += missing_scores(block.metric, block.segments)
                counts[:, 1] += block.segments.shape[1]
        return counts

    def influence(self, of_segments: bool = False) -> Floats:
        """Return influence values of units on every score, `(S, N)`, or of their segments."""
        n = self.units.n_segments if of_segments else self.units.n
        values = np.empty((len(self.systems), n))
        with np.errstate(invalid="ignore", over="ignore"):
            for share, block in zip(self.aggregate.shares, self.blocks, strict=True):
                at = block.segment_places if of_segments else block.places
                rows = block.segments if of_segments else block.rows
                # One system at a time: as floats, statistics are wide.
                for i, statistics in enumerate(rows):
                    own = student.influence_values(block.metric, statistics[None])[0]
                    values[i, at] = share * own
        return values

    def run_scores(self, i: int) -> tuple[Floats, Floats]:
        """Return what units add to the score of a system in each run: block by block."""
        parts = []
        for share, block in zip(self.aggregate.shares, self.blocks, strict=True):
            metric, (rows,) = run_by_run(block.metric, block.rows[[i]].astype(np.float64))
            values = student.influence_values(metric, rows)
            parts.append((share * metric.score(np.sum(rows, axis=1)), share * values, block.places))
        influence = np.empty((len(parts[0][0]), self.units.n))
        for _, values, places in parts:
            influence[:, places] = values
        return np.sum([scores for scores, _, _ in parts], axis=0), influence

    @cached_property
    def segment_influence(self) -> Floats:
        """Influence of single segments on every score, whatever is drawn, `(S, n_segments)`."""
        return self.influence(of_segments=True)


def segments_of(
    table: SegmentStatistics, name: str, units: Units, aggregate: Aggregate, task: str = ""
) -> Segments:
    """Return the segments of a table under its metric, which tables of results call `name`."""
    metric, tag = table.metric, aggregate.tag
    # What was seen in texts, and whether the metric suits the language of the task.
    said = [one for name in ("", *table.systems) for one in table.cautions.get(name, ())]
    if why := metric.unsuited(target_language(task)):
        said.insert(0, f"{metric.name}: {why}.")
    are_shares = metric.outcome_columns() is not None
    signature = MetricSignature.of(table.metric_signature)
    of_units = table if units.members is None else table.grouped(units.members)
    rows = on_grid(of_units.values, [f"{c} of {metric.name}" for c in metric.columns])
    applied = aggregate
    blocks: tuple[Block, ...] = (Block(metric, rows, of_units.values, table.values),)
    segment_strata = units.segment_strata
    if units.strata is not None and segment_strata is not None and aggregate.label != "micro":
        each = [
            Block(
                metric,
                rows=rows[:, p],
                plain=of_units.values[:, p],
                segments=table.values[:, q],
                places=p,
                segment_places=q,
            )
            for p, q in zip(places_of(units.strata), places_of(segment_strata), strict=True)
        ]
        blocks, applied = _with_singles_joined(each, units, aggregate)
    return Segments(
        name=name if tag is None else f"{aggregate.label} {name}",
        metric_name=metric.name,
        systems=table.systems,
        higher_is_better=metric.higher_is_better,
        signature=signature if tag is None else signature.tagged(tag),
        reference_label=table.reference_label,
        units=units,
        outcomes=as_outcomes(table, units, aggregate) if are_shares else None,
        bounds=metric.bounds,
        undefined=metric.undefined,
        blocks=blocks,
        aggregate=applied,
        answers=table.answers,
        cautions=tuple(Caution(one, "texts") for one in distinct(said)),
    )


def _with_singles_joined(
    blocks: Sequence[Block], units: Units, aggregate: Aggregate
) -> tuple[tuple[Block, ...], Aggregate]:
    """Put strata of one unit into one block of their weighted scores.

    None of them is in every resample, so that they are drawn as one stratum.
    """
    alone = [t for t, block in enumerate(blocks) if block.rows.shape[1] == 1]
    if not alone or len(blocks) == 1:
        return tuple(blocks), aggregate
    if len(alone) == 1:
        label = units.labels[alone[0]] if units.labels else alone[0]
        raise InputError(
            f": aggregate {aggregate.label!r} needs at least 2 {plural(units.unit)} in each "
            f"stratum, or several strata of one; {label!r} has 1: join it with another",
            argument="strata",
        )
    weights = aggregate.weights
    scores, moves = [], []
    for t in alone:
        metric, rows = run_by_run(blocks[t].metric, blocks[t].rows)
        scores.append(
            weights[t] * scores_of(metric, np.asarray(np.sum(rows, axis=2, dtype=np.float64)))
        )
        # What each segment adds to the score of its own stratum, in each run.
        _, segments = run_by_run(blocks[t].metric, blocks[t].segments)
        values = [student.influence_values(metric, of_system) for of_system in segments]
        moves.append(weights[t] * np.stack(values).swapaxes(1, 2))
    of_runs, n_runs = isinstance(blocks[0].metric, MeanOfRuns), scores[0].shape[1]
    joined = Block(
        MeanOfRuns(ScoreSum(), n_runs) if of_runs else ScoreSum(),
        rows=on_grid(np.stack(scores, axis=1), ["score"] * n_runs),
        plain=np.stack(scores, axis=1),
        segments=np.concatenate(moves, axis=1),
        places=np.concatenate([blocks[t].places for t in alone]),
        segment_places=np.concatenate([blocks[t].segment_places for t in alone]),
    )
    others = [t for t in range(len(blocks)) if t not in alone]
    shares = (*(weights[t] for t in others), 1.0)
    return (*(blocks[t] for t in others), joined), Aggregate(aggregate.label, shares)


def run_by_run(metric: Metric, rows: NDArray[Any]) -> tuple[Metric, NDArray[Any]]:
    """Return the metric of one run, and rows by run, `(S, n, R k) -> (S, R, n, k)`."""
    if isinstance(metric, MeanOfRuns):
        return metric.metric, metric.of_runs(rows)
    return metric, rows[:, None]


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


@dataclass(frozen=True)
class Counts(ABC):
    """The difference of two shares, counted: its score interval and score test."""

    test: ClassVar[str]  # what the test is called, and the interval
    method: ClassVar[str]
    scale: float  # what a share of 1 scores
    degrees: float  # of the error, infinite where segments are drawn freely

    @abstractmethod
    def interval(self, alpha: float) -> tuple[float, float]:
        """Return the interval of confidence 1 - α."""

    @abstractmethod
    def pvalue(self, null: float, alternative: str) -> float:
        """Return the p-value of a null value."""


@dataclass(frozen=True)
class Changes(Counts):
    """Effective numbers of segments gained and lost, and of all: by Tango's method (1998)."""

    gained: float
    lost: float
    n: float
    #: The same with a part of what was lost, and with a part of what was gained, of groups.
    fewer_lost: tuple[Changes, ...] = ()
    fewer_gained: tuple[Changes, ...] = ()

    test = "mcnemar"
    method = "tango"

    def interval(self, alpha: float) -> tuple[float, float]:
        """Return Tango's interval of confidence 1 - α, in Buehler's order (1957).

        Its lower limit is never higher than with fewer losses, its upper never lower than with
        fewer gains.
        """
        quantile = student.quantile(self.degrees, alpha)
        low, high = counts.tango(self.gained, self.lost, self.n, quantile)
        low, high = self.scale * low, self.scale * high
        lows = (one.interval(alpha)[0] for one in self.fewer_lost)
        highs = (one.interval(alpha)[1] for one in self.fewer_gained)
        return min((low, *lows)), max((high, *highs))

    def pvalue(self, null: float, alternative: str) -> float:
        """Return the p-value of Tango's score test, in the same order."""
        if alternative == "two-sided":
            return min(1.0, 2 * min(self.pvalue(null, side) for side in ("greater", "less")))
        distance = counts.tango_distance(self.gained, self.lost, self.n, null / self.scale)
        fewer = self.fewer_lost if alternative == "greater" else self.fewer_gained
        alone = student.pvalue(distance, 1.0, self.degrees, alternative)
        return max((alone, *(one.pvalue(null, alternative) for one in fewer)))


class Share(NamedTuple):
    """The share of segments on which a system succeeds, of an effective number of them."""

    share: float
    n: float
    error: float  # of the score
    degrees: float  # of the error, infinite where segments are drawn freely


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Which segments succeed, what each weighs in the share, and what a share of 1 scores."""

    success: NDArray[np.bool_]  # (S, N)
    scale: float
    weights: Floats | None  # (N,), summing to 1; none where all weigh the same
    units: Units  # what is drawn; segments that are drawn freely count as they are

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
        of = self.share_of(influence, i)
        low, high = counts.wilson(of.share, of.n, student.quantile(of.degrees, alpha))
        return self.scale * low, self.scale * high

    def counted(self, a: int, b: int, influence: Floats) -> Changes:
        """Return what counts the difference of two scores with these influence values, `(N,)`."""
        first, second = self.success[[a, b]]
        gained, lost = second & ~first, first & ~second
        return replace(
            self._changes(gained, lost, influence),
            fewer_lost=tuple(self._changes(gained, part) for part in self._parts(lost)),
            fewer_gained=tuple(self._changes(part, lost) for part in self._parts(gained)),
        )

    def _changes(
        self, gained: NDArray[np.bool_], lost: NDArray[np.bool_], influence: Floats | None = None
    ) -> Changes:
        """Return what counts the segments gained and lost, `(N,)` each."""
        changed = gained.astype(float) - lost
        if influence is None:
            weights = 1 / len(changed) if self.weights is None else self.weights
            values = weights * (changed - np.mean(changed))
            influence = np.asarray(np.bincount(self.units.of_segments, self.scale * values))
        spread = self.units.spread(influence, self._added(changed))
        shares = self._share(gained), self._share(lost)
        n = self._effective(sum(shares) - (shares[0] - shares[1]) ** 2, spread)
        degrees = np.inf if self.units.plain else spread.degrees
        return Changes(self.scale, degrees, n * shares[0], n * shares[1], n)

    def _parts(self, marks: NDArray[np.bool_]) -> Iterator[NDArray[np.bool_]]:
        """Yield none of the marked segments, then those of the groups in which most are marked.

        Of groups with 1, 1 and 5 marks these are none, and the five.
        """
        members = self._groups.members
        if self._groups.sizes is None or members is None or not np.any(marks):
            return
        in_group = np.bincount(members, marks)[members]
        for more in (np.inf, *np.unique(in_group[marks])[:0:-1]):
            yield marks & (in_group >= more)

    @property
    def _groups(self) -> Units:
        """The groups; of two labels those that are more, since t is that of the fewer."""
        return max(self.units.sides, key=lambda side: side.alike.degrees)

    def _share(self, marks: NDArray[np.bool_]) -> float:
        return float(np.mean(marks) if self.weights is None else self.weights @ marks)

    def _added(self, values: Floats) -> Floats | None:
        """Return what is added to Σu² of strata, `(T,)`: of few items, failures may be unseen.

        The variance of a stratum is that of its values (0 and 1, or of a difference -1, 0 and 1)
        with four items more that are as all items are on average: of a share x/n that of
        p̃ = (x + 4·pooled)/(n + 4). Of groups it is four groups. To strata of the same shares
        nothing is added.
        """
        codes, n_segments = self.units.segment_codes, self.success.shape[1]
        if codes is None:
            return None
        weights = np.full(n_segments, 1 / n_segments) if self.weights is None else self.weights
        drawn = codes if self.units.codes is None else self.units.codes
        if len(drawn) < n_segments and self.units.members is not None:
            weights = np.bincount(self.units.members, weights)
        numbers, variances = np.bincount(drawn), []
        for added in (_ADDED, 0.0):
            mean, square = (
                (numbers * np.bincount(codes, powers) / np.bincount(codes) + added * powers.mean())
                / (numbers + added)
                for powers in (values, values**2)
            )
            variances.append(square - mean**2)
        return np.asarray(np.bincount(drawn, weights**2) * (variances[0] - variances[1]))

    def _effective(self, variance: float, spread: Spread) -> float:
        """Return how many freely drawn segments vary as these do (Korn and Graubard, 1998).

        Few successes, or few failures, do not tell how groups hang together: four more, that whole
        groups share, are added to them (Agresti and Coull, 1998). Where nothing varies the number
        is Kish's (1965) of the groups.
        """
        squared = (spread.error / self.scale) ** 2
        found = variance / squared if variance > 0 and squared > 0 else np.inf
        segments = float(self.success.shape[1])
        if self.weights is not None:
            segments = student.kish(self.weights)
        sizes, members = self._groups.sizes, self._groups.members
        if sizes is None:
            return segments if self.units.plain or found == np.inf else found
        # Groups count by what their segments weigh.
        if self.weights is not None and members is not None:
            sizes = np.bincount(members, self.weights)
        groups = student.kish(sizes)
        more = _ADDED / segments
        return min(found, (variance + more) / (squared + more / groups))


def as_outcomes(table: SegmentStatistics, units: Units, aggregate: Aggregate) -> Outcomes | None:
    """Return the outcomes where every segment counts once and scores 0 or 1; else `None`."""
    columns = table.metric.outcome_columns()
    if columns is None:
        return None
    succeeded, counted, scale = columns
    marks, ones = table.values[..., succeeded], table.values[..., counted]
    if scale <= 0 or not np.all(ones == 1) or not np.all((marks == 0) | (marks == 1)):
        return None
    strata, weights = units.segment_strata, None
    if aggregate.label != "micro" and strata is not None and len(aggregate.weights) > 1:
        weights = np.array(aggregate.weights)[strata] / np.bincount(strata)[strata]
    return Outcomes(marks.astype(np.bool_), scale, weights, units)


def joined(parts: list[Outcomes | None], shares: list[float], units: Units) -> Outcomes | None:
    """Return the outcomes of several tasks together, with the share that each has in a total."""
    known = [part for part in parts if part is not None]
    if len(known) < len(parts) or len({part.scale for part in known}) > 1:
        return None
    weights = [
        np.full(p.success.shape[1], w / p.success.shape[1])
        for w, p in zip(shares, known, strict=True)
    ]
    success = np.concatenate([part.success for part in known], axis=1)
    return Outcomes(success, known[0].scale, np.concatenate(weights), units)
