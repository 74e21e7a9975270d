"""How systems are scored under one metric: blocks of statistics, and what is made of them.

One block has all units, or there is one for each stratum of an average.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalstats.analysis.aggregates import Aggregate
from evalstats.analysis.outcomes import Outcomes, as_outcomes
from evalstats.analysis.units import Units
from evalstats.errors import InputError
from evalstats.inference.student import influence_values
from evalstats.metrics import Metric, scores_of
from evalstats.metrics.averages import MeanOfRuns
from evalstats.metrics.identity import MetricSignature
from evalstats.resampling.grid import on_grid
from evalstats.resampling.strata import places_of
from evalstats.statistics.segments import SegmentStatistics

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Block:
    """Statistics of some units, and what scores their totals."""

    metric: Metric
    rows: NDArray[Any]  # (S, n, k), on the exact grid
    given: NDArray[Any]  # the same as they were given
    segments: NDArray[Any]  # (S, m, k), of single segments
    places: Any = ...  # which of the N units these are
    segment_places: Any = ...

    @cached_property
    def totals(self) -> Floats:
        """Summed statistics, `(S, k)`."""
        return np.asarray(np.sum(self.rows, axis=1, dtype=np.float64))


class Singles(Metric):
    """A weighted sum of the scores of strata of one unit, which are drawn as one stratum."""

    name = "strata of one"
    columns = ("weighted score",)

    def statistics(self, hypotheses: Any, references: Any = None) -> NDArray[Any]:
        """Raise: they are made of statistics."""
        raise NotImplementedError

    def score(self, totals: ArrayLike) -> Floats:
        """Return the sum itself."""
        return np.asarray(totals, dtype=np.float64)[..., 0]

    def gradient(self, totals: ArrayLike) -> Floats:
        """Return ones."""
        return np.ones(np.shape(totals))


def blocks_of(
    table: SegmentStatistics, units: Units, aggregate: Aggregate
) -> tuple[tuple[Block, ...], Aggregate]:
    """Return the blocks of a table, and what is made of their scores."""
    metric = table.metric
    given = table if units.members is None else table.grouped(units.members)
    rows = on_grid(given.values, [f"{c} of {metric.name}" for c in metric.columns])
    whole = Block(metric, rows, given.values, table.values)
    if units.strata is None or units.segment_strata is None or aggregate.label == "micro":
        return (whole,), aggregate
    of_units, of_segments = places_of(units.strata), places_of(units.segment_strata)
    each = [
        Block(
            metric,
            rows=rows[:, p],
            given=given.values[:, p],
            segments=table.values[:, q],
            places=p,
            segment_places=q,
        )
        for p, q in zip(of_units, of_segments, strict=True)
    ]
    return singles_joined(each, units, aggregate)


def singles_joined(
    blocks: Sequence[Block], units: Units, aggregate: Aggregate
) -> tuple[tuple[Block, ...], Aggregate]:
    """Put strata of one unit into one block: none of them is in every resample."""
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
    sums = [weights[t] * scores_of(blocks[t].metric, blocks[t].totals) for t in alone]
    values = np.stack(sums, axis=1)[:, :, None]
    places = np.concatenate([blocks[t].places for t in alone])
    segments = np.concatenate([blocks[t].segment_places for t in alone])
    # What each segment adds to the score of its own stratum.
    moves = [weights[t] * influence_values(blocks[t].metric, blocks[t].segments) for t in alone]
    spread = np.concatenate(moves, axis=1)[:, :, None]
    joined = Block(
        Singles(),
        rows=on_grid(values, ["score"]),
        given=values,
        segments=spread,
        places=places,
        segment_places=segments,
    )
    others = [t for t in range(len(blocks)) if t not in alone]
    kept = tuple(blocks[t] for t in others)
    return (*kept, joined), Aggregate(aggregate.label, (*(weights[t] for t in others), 1.0))


@dataclass(frozen=True, eq=False)
class Scored:
    """Statistics of S systems, and how they are scored; what is drawn of them is `units`."""

    name: str  # what tables call the metric, or the average
    metric_name: str  # what messages and signatures call it
    systems: tuple[str, ...]
    higher_is_better: bool
    signature: MetricSignature  # of the metric and of what is made of strata
    reference_label: str | None
    blocks: tuple[Block, ...]  # one, or one for each stratum of an average
    aggregate: Aggregate  # of the scores of the blocks
    units: Units
    outcomes: Outcomes | None = None  # where scores are shares of segments
    missing: NDArray[np.int64] | None = None  # (S,) scores that segments elsewhere lack

    def score(self, totals: Sequence[Floats], where: str, system: int | None = None) -> Floats:
        """Return scores of the totals of all blocks, `(..., k)` each; all must be finite.

        The last axis is that of the systems, unless they are all of one.
        """
        each = (scores_of(b.metric, t) for b, t in zip(self.blocks, totals, strict=True))
        scores = self.aggregate.of_each(each)
        if not np.all(np.isfinite(scores)):
            column = int(np.argwhere(~np.isfinite(scores))[0][-1]) if system is None else system
            raise InputError(
                f"{self.metric_name} of {where} of system {self.systems[column]!r} is not finite; "
                f"define the score for every total, for example where a denominator is 0"
            )
        return scores

    @property
    def has_runs(self) -> bool:
        """Whether scores are means over several runs of each system."""
        return isinstance(self.blocks[0].metric, MeanOfRuns)

    @property
    def n_segments(self) -> int:
        """How many segments there are, whatever is drawn."""
        members = self.units.members
        return self.units.n if members is None else len(members)

    def differs(self, a: int, b: int) -> NDArray[np.bool_]:
        """Say on which units the statistics of two systems differ, `(N,)`."""
        found = np.empty(self.units.n, dtype=np.bool_)
        for block in self.blocks:
            # As they were given: rounding to the grid may tell equal numbers of two apart.
            found[block.places] = np.any(block.given[a] != block.given[b], axis=1)
        return found

    def by_stratum(self) -> list[tuple[str, int, Floats]]:
        """Return the label of each stratum, how many units it has, and all scores in it, `(S,)`."""
        if self.units.strata is None:
            return []
        found: dict[int, Floats] = {}
        for block in self.blocks:
            if isinstance(block.metric, Singles):
                continue
            # A stratum lies in one block.
            strata = self.units.strata[block.places]
            order = np.argsort(strata, kind="stable")
            numbers, starts = np.unique(strata[order], return_index=True)
            for number, places in zip(numbers.tolist(), np.split(order, starts[1:]), strict=True):
                totals = np.asarray(np.sum(block.rows[:, places], axis=1, dtype=np.float64))
                found[number] = scores_of(block.metric, totals)
        sizes, labels = np.bincount(self.units.strata).tolist(), self.units.labels
        return [(str(labels[t]), sizes[t], found[t]) for t in sorted(found)]

    def influence(self, of_segments: bool = False) -> Floats:
        """Return influence values of units on every score, `(S, N)`, or of their segments."""
        scores = [scores_of(block.metric, block.totals) for block in self.blocks]
        slopes = self.aggregate.slopes(np.stack(scores, axis=-1))
        members = self.units.members
        n = self.units.n if members is None or not of_segments else len(members)
        found = np.empty((len(self.systems), n))
        with np.errstate(invalid="ignore", over="ignore"):
            for t, block in enumerate(self.blocks):
                at = block.segment_places if of_segments else block.places
                rows = block.segments if of_segments else block.rows
                # One system at a time: as floats, statistics are wide.
                for i, statistics in enumerate(rows):
                    values = influence_values(block.metric, statistics[None])[0]
                    found[i, at] = slopes[i, t] * values
        return found


def scored_of(table: SegmentStatistics, name: str, units: Units, aggregate: Aggregate) -> Scored:
    """Return how the systems of a table are scored."""
    if isinstance(table.metric, MeanOfRuns) and aggregate.label != "micro":
        raise InputError(
            "must be 'micro' where there are several runs of each system", argument="aggregate"
        )
    metric, tag = table.metric, aggregate.tag
    signature = MetricSignature.of(table.metric_signature)
    blocks, applied = blocks_of(table, units, aggregate)
    return Scored(
        name=name if tag is None else f"{aggregate.label} {name}",
        metric_name=metric.name,
        systems=table.systems,
        higher_is_better=metric.higher_is_better,
        signature=signature if tag is None else signature.tagged(tag),
        reference_label=table.reference_label,
        blocks=blocks,
        aggregate=applied,
        units=units,
        outcomes=as_outcomes(table, units, aggregate),
    )


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
