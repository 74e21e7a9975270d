"""What a careful reader of a result should know: what the data say, beside the records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.scored import Scored
from evalstats.inference.bootstrap import LEAST_DEGREES
from evalstats.inference.student import kish
from evalstats.metrics import Mean
from evalstats.results.notes import NAMED, Limits, limit_notes, uneven_notes
from evalstats.statistics.values import missing_scores


def limits_of(
    task: str, scored: Sequence[Scored], aggregate: str | None = None, gaps: bool = True
) -> Limits:
    """Return what limits all that is said of a task."""
    units = scored[0].units
    degrees = units.alike.degrees
    sizes: tuple[int, ...] = ()
    worth = degrees + 1
    if units.sizes is not None and units.codes is None:
        sizes, worth = (int(units.sizes.min()), int(units.sizes.max())), kish(units.sizes)
    missing = tuple(gap_notes(scored)) if gaps else ()
    few = degrees < LEAST_DEGREES
    return Limits(task, aggregate, units.n, units.unit, worth, sizes, few, missing)


def size_notes(of: Scored, gaps: bool = False) -> tuple[str, ...]:
    """Say when there are too few segments, or groups, to be sure of much."""
    limits = [limits_of("", [of], gaps=gaps)]
    return (*limit_notes(limits), *uneven_notes(limits))


def gap_notes(scored: Sequence[Scored]) -> Iterator[str]:
    """Say how many scores are missing, whose mean is over those that there are: one line each."""
    for of in scored:
        counts, all_of = _gaps(of)
        lacking = [f"{n:,} of {s}" for n, s in zip(counts, of.systems, strict=True) if n]
        if lacking:
            more = f" and others of {len(lacking) - NAMED} more" if len(lacking) > NAMED else ""
            n = int(np.sum(counts))
            yield (
                f"{of.metric_name}: {n:,} of {all_of:,} scores {'is' if n == 1 else 'are'} missing "
                f"({', '.join(lacking[:NAMED])}{more}); means are over those that there are."
            )


def _gaps(of: Scored) -> tuple[NDArray[np.int64], int]:
    """Return how many scores each system lacks, `(S,)`, and of how many of all systems."""
    if of.missing is not None:
        return of.missing, of.missing.size * of.units.n
    # Strata of one unit have a score each, and no gap.
    blocks = [block for block in of.blocks if block.metric.columns == Mean.columns]
    counts = np.zeros(len(of.systems), dtype=np.int64)
    for block in blocks:
        counts += missing_scores(block.metric, block.segments)
    return counts, sum(block.segments[..., 0].size for block in blocks)
