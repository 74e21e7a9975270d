"""How systems are scored under one metric: blocks of statistics, and what is made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.aggregates import Aggregate
from evalstats.analysis.blocks import Block, blocks_of
from evalstats.analysis.outcomes import Outcomes, as_outcomes
from evalstats.analysis.units import Units
from evalstats.errors import InputError
from evalstats.inference.influence import influence_values
from evalstats.metrics import Metric, scores_of
from evalstats.metrics.averages import MeanOfRuns, tagged
from evalstats.statistics.segments import SegmentStatistics

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Scored:
    """Statistics of S systems, and how they are scored; what is drawn of them is `units`.

    Attributes
    ----------
    name : str
        What tables call the metric, or the average.
    metric_name : str
        What messages and signatures call it.
    systems : tuple of str
    higher_is_better : bool
    signature : str
        Of the metric and of what is made of strata.
    reference_label : str or None
    blocks : tuple of Block
        One, or one for each stratum of an average.
    aggregate : Aggregate
        What is made of the scores of the blocks.
    units : Units
    outcomes : Outcomes or None
        Where scores are shares of segments.
    """

    name: str
    metric_name: str
    systems: tuple[str, ...]
    higher_is_better: bool
    signature: str
    reference_label: str | None
    blocks: tuple[Block, ...]
    aggregate: Aggregate
    units: Units
    outcomes: Outcomes | None = None

    def score(self, totals: Sequence[Floats], where: str, system: int | None = None) -> Floats:
        """Return scores of the totals of all blocks, `(..., k)` each; all must be finite.

        The last axis is that of the systems, unless they are all of one.
        """
        each = [scores_of(b.metric, t) for b, t in zip(self.blocks, totals, strict=True)]
        scores = self.aggregate.of(np.stack(each, axis=-1))
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

    def differs(self, a: int, b: int) -> NDArray[np.bool_]:
        """Say on which units the statistics of two systems differ, `(N,)`."""
        found = np.empty(self.units.n, dtype=np.bool_)
        for block in self.blocks:
            # As they were given: rounding to the grid may tell equal numbers of two apart.
            found[block.places] = np.any(block.given[a] != block.given[b], axis=1)
        return found

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
        raise InputError("aggregate must be 'micro' where there are several runs of each system")
    metric, tag = table.metric, aggregate.tag
    blocks, applied = blocks_of(table, units, aggregate)
    return Scored(
        name=name if tag is None else f"{aggregate.label} {name}",
        metric_name=metric.name,
        systems=table.systems,
        higher_is_better=metric.higher_is_better,
        signature=table.metric_signature if tag is None else tagged(table.metric_signature, tag),
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
        raise InputError(f"metrics must differ, got {', '.join(names)}")
    return full
