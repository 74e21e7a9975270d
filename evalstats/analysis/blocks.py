"""Segments that are here: blocks of their statistics, and the score that is made of the blocks.

One block has all units, or there is one for each stratum of an average.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.aggregates import MICRO, Aggregate
from evalstats.analysis.outcomes import Counts, Outcomes, as_outcomes
from evalstats.analysis.units import Units
from evalstats.designs.judges.judging import Worth
from evalstats.designs.trials.repeats import Repeats
from evalstats.errors import InputError
from evalstats.inference import student
from evalstats.metrics import Mean, Metric, scores_of
from evalstats.metrics.identity import MetricSignature
from evalstats.metrics.ratios import MeanOfRuns
from evalstats.resampling.products import on_grid
from evalstats.resampling.weights import places_of
from evalstats.results.records import plural
from evalstats.statistics.segments import SegmentStatistics
from evalstats.statistics.values import missing_scores

Floats = NDArray[np.float64]


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
    judge: Worth | None = None  # where people's labels correct a judge's
    has_few_values: bool = False  # whether a unit has one of few, as who won, where it is elsewhere

    @property
    def judges(self) -> tuple[Worth, ...]:
        """What judges are worth that people's labels correct."""
        return () if self.judge is None else (self.judge,)

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
            what = f"{self.metric_name} of {where} of system {self.systems[column]!r}"
            if any(setting.startswith("judged:") for setting in self.signature.settings):
                units = plural(self.units.unit)
                more = "more segments" if units == "segments" else f"segments of more {units}"
                raise InputError(
                    f"{what} is not known: it has none of people's labels, or nothing else, since "
                    f"few of {self.units.n:,} {units} have labels; label {more}, or, unless shards "
                    f"are given, take method='t' and test='t'"
                )
            raise InputError(
                f"{what} is not finite; define the score for every total, for example where a "
                f"denominator is 0"
            )
        return scores


@dataclass(frozen=True, eq=False)
class Block:
    """Statistics of units that are scored together.

    Without a metric the one statistic is a score already, and scores are added up.
    """

    metric: Metric | None
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
        return totals[..., 0] if self.metric is None else scores_of(self.metric, totals)

    def influence(self, statistics: NDArray[Any]) -> Floats:
        """Return what each row adds to the score of all, `(S, n, k) -> (S, n)`."""
        if self.metric is None:
            values = statistics[..., 0].astype(np.float64)
            return np.asarray(values - np.mean(values, axis=1, keepdims=True))
        return student.influence_values(self.metric, statistics)


@dataclass(frozen=True, eq=False, kw_only=True)
class Segments(Scored):
    """Statistics of S systems, and how they are scored."""

    blocks: tuple[Block, ...]  # one, or one for each stratum of an average
    aggregate: Aggregate = MICRO  # of the scores of the blocks
    answers: Repeats | None = None  # of a task whose items have several

    def score(self, totals: Sequence[Floats], where: str, system: int | None = None) -> Floats:
        """Return scores of the totals of all blocks, `(..., k)` each; all must be finite."""
        each = (block.score(x) for block, x in zip(self.blocks, totals, strict=True))
        return self.check_finite(self.aggregate.of_each(each), where, system)

    @property
    def runs(self) -> MeanOfRuns | None:
        """The metric, where scores are means over several runs of each system."""
        metric = self.blocks[0].metric
        return metric if isinstance(metric, MeanOfRuns) else None

    def differs(self, a: int, b: int) -> NDArray[np.bool_]:
        """Say on which units the statistics of two systems differ, `(N,)`."""
        marks = np.empty(self.units.n, dtype=np.bool_)
        for block in self.blocks:
            # Rounding to the grid may tell equal numbers of two systems apart.
            marks[block.places] = np.any(block.plain[a] != block.plain[b], axis=1)
        return marks

    @cached_property
    def missing(self) -> tuple[NDArray[np.int64], int]:
        """How many scores each system lacks, `(S,)`, and how many all would have."""
        counts, n_scores = np.zeros(len(self.systems), dtype=np.int64), 0
        for block in self.blocks:
            if block.metric is not None and block.metric.columns == Mean.columns:
                counts += missing_scores(block.metric, block.segments)
                n_scores += block.segments[..., 0].size
        return counts, n_scores

    def by_stratum(self) -> list[tuple[str, int, Floats]]:
        """Return the label of each stratum, how many units it has, and all scores in it, `(S,)`."""
        if self.units.strata is None:
            return []
        scores: dict[int, Floats] = {}
        for block in self.blocks:
            if block.metric is None:
                continue
            # A stratum lies in one block.
            strata = self.units.strata[block.places]
            order = np.argsort(strata, kind="stable")
            numbers, starts = np.unique(strata[order], return_index=True)
            for number, places in zip(numbers.tolist(), np.split(order, starts[1:]), strict=True):
                totals = np.asarray(np.sum(block.rows[:, places], axis=1, dtype=np.float64))
                scores[number] = block.score(totals)
        sizes, labels = np.bincount(self.units.strata).tolist(), self.units.labels
        return [(str(labels[t]), sizes[t], scores[t]) for t in sorted(scores)]

    def influence(self, of_segments: bool = False) -> Floats:
        """Return influence values of units on every score, `(S, N)`, or of their segments."""
        scores = [block.score(block.totals) for block in self.blocks]
        slopes = self.aggregate.slopes(np.stack(scores, axis=-1))
        n = self.units.n_segments if of_segments else self.units.n
        values = np.empty((len(self.systems), n))
        with np.errstate(invalid="ignore", over="ignore"):
            for t, block in enumerate(self.blocks):
                at = block.segment_places if of_segments else block.places
                rows = block.segments if of_segments else block.rows
                # One system at a time: as floats, statistics are wide.
                for i, statistics in enumerate(rows):
                    values[i, at] = slopes[i, t] * block.influence(statistics[None])[0]
        return values

    @cached_property
    def segment_influence(self) -> Floats:
        """Influence of single segments on every score, whatever is drawn, `(S, n_segments)`."""
        return self.influence(of_segments=True)

    def without_each(self, *systems: int) -> Floats:
        """Return the scores of these systems without each unit in turn, `(p, N)`."""
        (block,) = self.blocks
        assert block.metric is not None
        return student.jackknife_scores(block.metric, block.rows[list(systems)])


def segments_of(
    table: SegmentStatistics, name: str, units: Units, aggregate: Aggregate
) -> Segments:
    """Return the segments of a table under its metric, which tables of results call `name`."""
    if isinstance(table.metric, MeanOfRuns) and aggregate.label != "micro":
        raise InputError(
            "must be 'micro' where there are several runs of each system", argument="aggregate"
        )
    metric, tag = table.metric, aggregate.tag
    signature = MetricSignature.of(table.metric_signature)
    blocks, applied = _blocks_of(table, units, aggregate)
    return Segments(
        name=name if tag is None else f"{aggregate.label} {name}",
        metric_name=metric.name,
        systems=table.systems,
        higher_is_better=metric.higher_is_better,
        signature=signature if tag is None else signature.tagged(tag),
        reference_label=table.reference_label,
        units=units,
        outcomes=as_outcomes(table, units, aggregate),
        blocks=blocks,
        aggregate=applied,
        answers=table.answers,
    )


def _blocks_of(
    table: SegmentStatistics, units: Units, aggregate: Aggregate
) -> tuple[tuple[Block, ...], Aggregate]:
    """Return the blocks of a table, and what is made of their scores."""
    metric = table.metric
    of_units = table if units.members is None else table.grouped(units.members)
    rows = on_grid(of_units.values, [f"{c} of {metric.name}" for c in metric.columns])
    whole = Block(metric, rows, of_units.values, table.values)
    if units.strata is None or units.segment_strata is None or aggregate.label == "micro":
        return (whole,), aggregate
    places, segment_places = places_of(units.strata), places_of(units.segment_strata)
    each = [
        Block(
            metric,
            rows=rows[:, p],
            plain=of_units.values[:, p],
            segments=table.values[:, q],
            places=p,
            segment_places=q,
        )
        for p, q in zip(places, segment_places, strict=True)
    ]
    return _singles_joined(each, units, aggregate)


def _singles_joined(
    blocks: Sequence[Block], units: Units, aggregate: Aggregate
) -> tuple[tuple[Block, ...], Aggregate]:
    """Put strata of one unit into one block of their weighted scores.

    None of them is in every resample, so that they are drawn as one stratum.
    """
    alone = [t for t, block in enumerate(blocks) if block.rows.shape[1] == 1]
    if not alone or len(blocks) == 1:
        return tuple(blocks), aggregate
    if len(alone) == 1 or aggregate.function is not None:
        label = units.labels[alone[0]] if units.labels else alone[0]
        raise InputError(
            f": aggregate {aggregate.label!r} needs at least 2 {units.unit}s in each "
            f"stratum, or several strata of one; {label!r} has 1: join it with another",
            argument="strata",
        )
    weights = aggregate.weights
    scores = np.stack([weights[t] * blocks[t].score(blocks[t].totals) for t in alone], axis=1)
    # What each segment adds to the score of its own stratum.
    moves = [weights[t] * blocks[t].influence(blocks[t].segments) for t in alone]
    joined = Block(
        None,
        rows=on_grid(scores[:, :, None], ["score"]),
        plain=scores[:, :, None],
        segments=np.concatenate(moves, axis=1)[:, :, None],
        places=np.concatenate([blocks[t].places for t in alone]),
        segment_places=np.concatenate([blocks[t].segment_places for t in alone]),
    )
    others = [t for t in range(len(blocks)) if t not in alone]
    shares = (*(weights[t] for t in others), 1.0)
    return (*(blocks[t] for t in others), joined), Aggregate(aggregate.label, shares)


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
