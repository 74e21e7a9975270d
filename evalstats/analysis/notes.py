"""What a careful reader of a result should know: what the data say, beside the records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from evalstats.analysis.sampling import Sample
from evalstats.analysis.scored import Scored
from evalstats.analysis.units import Units
from evalstats.inference.bootstrap import LEAST_DEGREES
from evalstats.inference.student import kish
from evalstats.metrics import Mean
from evalstats.results.notes import (
    FEW,
    NAMED,
    claim_notes,
    close_calls,
    contrast_notes,
    design_notes,
    floor_notes,
    pair_notes,
)
from evalstats.results.records import ComparisonRecord, EstimateRecord


def score_notes(of: Scored, estimates: Sequence[EstimateRecord]) -> tuple[str, ...]:
    """Say what limits the intervals of scores under one metric."""
    return (*size_notes(of.units), *gap_notes([of]), *design_notes(estimates))


def comparison_notes(result: ComparisonRecord, samples: Sequence[Sample]) -> tuple[str, ...]:
    """Say what limits the verdicts: few units, gaps, ties, few differences, resamples."""
    units = samples[0].units
    found = [*size_notes(units)]
    found += design_notes(result.estimates)
    found += gap_notes([sample.of for sample in samples])
    found += contrast_notes(result.contrast)
    found += pair_notes(result, result.differences, units.unit)
    return (*found, *claim_notes(result))


def ranking_notes(result: ComparisonRecord, sample: Sample) -> tuple[str, ...]:
    """Say what limits the verdicts under a metric, on which its ranks rest."""
    found = [d for d in result.differences if d.metric == sample.of.name]
    notes = (*size_notes(sample.units), *gap_notes([sample.of]), *floor_notes(result, found))
    return (*notes, *close_calls(result, found, f"{sample.of.name}: the"))


def size_notes(units: Units) -> Iterator[str]:
    """Say when there are too few segments, or groups, to be sure of much."""
    degrees, few = units.alike.degrees, FEW[units.unit]
    worth = ""
    if units.sizes is not None and units.codes is None and degrees + 1 < 0.8 * units.n:
        worth = (
            f"{units.n} groups of {units.sizes.min()} to {units.sizes.max()} segments are worth "
            f"about {kish(units.sizes):.1f} of one size"
        )
    if degrees < LEAST_DEGREES:
        what = f"{worth}: t" if worth else f"Only {units.n} {units.unit}s: t"
        yield f"{what} decides in place of the bootstrap, and intervals are wide."
    elif degrees + 1 < few:
        what = worth or f"Only {units.n} {units.unit}s"
        yield f"{what}: below {few}, intervals and p-values are rough."
    elif worth:
        yield f"{worth}."


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
