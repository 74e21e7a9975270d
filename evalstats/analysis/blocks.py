"""Statistics as they are scored: one block of all units, or one for each stratum of an average."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalstats.analysis.aggregates import Aggregate
from evalstats.analysis.units import Units
from evalstats.errors import InputError
from evalstats.inference.influence import influence_values
from evalstats.metrics import Metric, scores_of
from evalstats.resampling.grid import on_grid
from evalstats.resampling.strata import places_of
from evalstats.statistics.segments import SegmentStatistics

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Block:
    """Statistics of some units, and what scores their totals.

    Attributes
    ----------
    metric : Metric
    rows : ndarray, shape (S, n, k)
        On the exact grid.
    given : ndarray, shape (S, n, k)
        The same as they were given.
    segments : ndarray, shape (S, m, k)
        Those of single segments.
    places, segment_places : ndarray of int, or ...
        Which of the N units these are, and which segments; all by default.
    """

    metric: Metric
    rows: NDArray[Any]
    given: NDArray[Any]
    segments: NDArray[Any]
    places: Any = ...
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
        Block(metric, rows[:, p], given.values[:, p], table.values[:, q], p, q)
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
            f"strata: aggregate {aggregate.label!r} needs at least 2 {units.unit}s in each "
            f"stratum, or several strata of one; {label!r} has 1: join it with another"
        )
    weights = aggregate.weights
    sums = [weights[t] * scores_of(blocks[t].metric, blocks[t].totals) for t in alone]
    values = np.stack(sums, axis=1)[:, :, None]
    places = np.concatenate([blocks[t].places for t in alone])
    segments = np.concatenate([blocks[t].segment_places for t in alone])
    # What each segment adds to the score of its own stratum.
    moves = [weights[t] * influence_values(blocks[t].metric, blocks[t].segments) for t in alone]
    spread = np.concatenate(moves, axis=1)[:, :, None]
    joined = Block(Singles(), on_grid(values, ["score"]), values, spread, places, segments)
    others = [t for t in range(len(blocks)) if t not in alone]
    kept = tuple(blocks[t] for t in others)
    return (*kept, joined), Aggregate(aggregate.label, (*(weights[t] for t in others), 1.0))
