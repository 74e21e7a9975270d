"""What a careful reader of a result should know: what the data say, beside the records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from evalstats.analysis.sampling import Sample
from evalstats.analysis.scored import Scored
from evalstats.analysis.units import Units
from evalstats.inference.bootstrap import LEAST_DEGREES
from evalstats.inference.student import kish
from evalstats.metrics import Mean
from evalstats.results.notes import (
    NAMED,
    Limits,
    close_calls,
    design_notes,
    floor_notes,
    limit_notes,
    uneven_notes,
)
from evalstats.results.records import Difference
from evalstats.results.results import Comparison, Estimate


def limits_of(task: str, samples: Sequence[Sample], aggregate: str | None = None) -> Limits:
    """Return what limits all that is said of a task."""
    return _limits(samples[0].units, task, aggregate, gap_notes([s.of for s in samples]))


def _limits(
    units: Units, task: str = "", aggregate: str | None = None, gaps: Iterable[str] = ()
) -> Limits:
    degrees = units.alike.degrees
    sizes: tuple[int, ...] = ()
    worth = degrees + 1
    if units.sizes is not None and units.codes is None:
        sizes, worth = (int(units.sizes.min()), int(units.sizes.max())), kish(units.sizes)
    return Limits(
        task,
        aggregate,
        units.n,
        units.unit,
        worth,
        sizes,
        degrees < LEAST_DEGREES,
        tuple(gaps),
    )


def own_notes(of: Scored, estimates: Sequence[Estimate]) -> tuple[str, ...]:
    """Say what limits the intervals of scores under one metric."""
    limits = [_limits(of.units, gaps=gap_notes([of]))]
    return (*limit_notes(limits), *uneven_notes(limits), *design_notes(estimates))


def size_notes(units: Units) -> Iterator[str]:
    """Say when there are too few segments, or groups, to be sure of much."""
    limits = [_limits(units)]
    yield from (*limit_notes(limits), *uneven_notes(limits))


def ranking_notes(
    result: Comparison, found: Sequence[Difference], sample: Sample
) -> tuple[str, ...]:
    """Say what limits the verdicts under a metric, on which its ranks rest."""
    notes = (*floor_notes(result, found), *size_notes(sample.units), *gap_notes([sample.of]))
    return (*notes, *close_calls(result, found, f"{sample.of.name}: the"))


def gap_notes(scored: Sequence[Scored]) -> Iterator[str]:
    """Say how many scores are missing, whose mean is over those that there are: one line each."""
    for of in [of for of in scored if of.blocks[0].metric.columns == Mean.columns]:
        # Strata of one unit have a score each, and no gap.
        counted = [block for block in of.blocks if block.metric.columns == Mean.columns]
        counts = sum(np.sum(block.segments[:, :, 1] == 0, axis=1) for block in counted)
        lacking = [f"{n:,} of {s}" for n, s in zip(counts, of.systems, strict=True) if n]
        if lacking:
            more = f" and others of {len(lacking) - NAMED} more" if len(lacking) > NAMED else ""
            n = int(np.sum(counts))
            all_of = sum(block.segments.shape[0] * block.segments.shape[1] for block in counted)
            yield (
                f"{of.metric_name}: {n:,} of {all_of:,} scores {'is' if n == 1 else 'are'} missing "
                f"({', '.join(lacking[:NAMED])}{more}); means are over those that there are."
            )
