"""What a careful reader of a result should know: what the data say, beside the records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.sampling import Effect, Pair, Sample
from evalstats.analysis.scored import Scored
from evalstats.inference import student
from evalstats.inference.bootstrap import LEAST_DEGREES
from evalstats.inference.student import kish
from evalstats.metrics import Mean
from evalstats.results.notes import (
    FEW_DIFFERING,
    NAMED,
    Concentration,
    Limits,
    limit_notes,
    uneven_notes,
)
from evalstats.statistics.values import missing_scores

#: The largest tenth of the units, ten at most, that hold so much of a variance are a note. Measured
#: on samples of 20 to 2,000 segments: BLEU of systems that get few n-grams right at all is seen in
#: .67 to 1.00 of the samples of up to 300, BLEU, chrF and TER of good systems in at most .05.
_LARGEST, _MUCH = 10, 0.85


def limits_of(
    task: str,
    scored: Sequence[Scored],
    aggregate: str | None = None,
    gaps: bool = True,
    held: Sequence[Concentration] = (),
) -> Limits:
    """Return what limits all that is said of a task; `held` are variances that few units hold."""
    units = scored[0].units
    degrees = units.alike.degrees
    sizes: tuple[int, ...] = ()
    worth = degrees + 1
    if units.sizes is not None and units.codes is None:
        sizes, worth = (int(units.sizes.min()), int(units.sizes.max())), kish(units.sizes)
    missing = tuple(gap_notes(scored)) if gaps else ()
    few = degrees < LEAST_DEGREES
    return Limits(
        task=task,
        aggregate=aggregate,
        n=units.n,
        unit=units.unit,
        worth=worth,
        sizes=sizes,
        by_t=few,
        gaps=missing,
        held=tuple(held),
    )


def size_notes(
    of: Scored, gaps: bool = False, held: Sequence[Concentration] = ()
) -> tuple[str, ...]:
    """Say when there are too few segments, or groups, to be sure of much."""
    limits = [limits_of("", [of], gaps=gaps, held=held)]
    return (*limit_notes(limits), *uneven_notes(limits))


def held_by_few(sample: Sample, pairs: Sequence[Pair] | None = None) -> list[Concentration]:
    """Return the pairs, or without pairs the systems, whose variance few units hold.

    Shares are counted, and rest on no variance that was estimated; the error of several runs has
    another source, documents have their note, and segments that are elsewhere no influence values.
    """
    of, influence = sample.of, sample.influence
    is_other = of.outcomes is not None or of.has_runs or sample.units.sizes is not None
    if influence is None or is_other:
        return []
    found = []
    for a, b in [(None, i) for i in range(len(of.systems))] if pairs is None else pairs:
        values, n = influence[b], sample.units.n
        worth = np.inf
        if a is not None:
            values = values - influence[a]
            n, worth = sample.differ(a, b)
        # Of fewer that differ another note speaks.
        if a is None or n >= FEW_DIFFERING:
            largest, share = _largest(Effect(0.0, values, np.empty(0), sample.units, worth=worth))
            if share > _MUCH:
                names = of.systems[b], None if a is None else of.systems[a]
                found.append(Concentration(of.name, *names, largest, share))
    return found


def _largest(effect: Effect) -> tuple[int, float]:
    """Return how many units are a tenth, at most ten, and which share of the variance they hold.

    A tenth of as many as the degrees of freedom count: those that differ, and in strata fewer. Ten
    of thirty hold much of any variance.
    """
    assert effect.influence is not None
    units = effect.units
    values = student.unbiased(effect.influence, units.sizes, units.codes)
    # Squares of very large and very small scores are no numbers.
    squares = (values / (np.max(np.abs(values)) or 1.0)) ** 2
    largest = min(_LARGEST, ceil((effect.spread.degrees + 1) / _LARGEST))
    total = float(np.sum(squares))
    held = float(np.sum(np.partition(squares, -largest)[-largest:]))
    return largest, held / total if total > 0 else 0.0


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
