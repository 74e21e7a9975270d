"""What a careful reader of a result should know, in a sentence each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil

import numpy as np

from evalstats.analysis.margins import claim_notes
from evalstats.analysis.sampling import Sample
from evalstats.analysis.scored import Scored
from evalstats.analysis.units import Units
from evalstats.inference.bootstrap import LEAST_DEGREES
from evalstats.inference.randomisation import monte_carlo_error
from evalstats.metrics import Mean
from evalstats.results.records import ComparisonRecord, Difference, EstimateRecord

#: Below these, intervals cover less than they say and tests see little.
FEW = {"segment": 100, "group": 30}
#: Below it, on how many units systems differ is what is uncertain.
FEW_DIFFERING = 10
#: Pairs that a note names; more are counted.
_NAMED = 3

_RATIOS = {
    "ratio": "Ratios are system / baseline; their p-values are those of the differences.",
    "log-ratio": "Log ratios are ln(system / baseline); their p-values are those of the "
    "differences.",
}


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
    notes = (*size_notes(sample.units), *gap_notes([sample.of]), *_floor_notes(result, found))
    return (*notes, *_close_calls(result, found, f"{sample.of.name}: the"))


def pair_notes(
    result: ComparisonRecord, differences: Sequence[Difference], unit: str
) -> Iterator[str]:
    """Say what limits the verdicts on pairs."""
    same = [d for d in differences if d.n_differing == 0]
    yield from _about(same, f"have identical statistics on every {unit}: p = 1")
    counted = sorted({d.metric for d in differences if d.test == "mcnemar"})
    if counted:
        yield (
            f"{', '.join(counted)}: 0/1 scores, with McNemar's test, and the intervals of Wilson "
            f"and Tango."
        )
    yield from _floor_notes(result, differences)
    few = [d for d in differences if 0 < d.n_differing < FEW_DIFFERING and d.test != "mcnemar"]
    yield from _about(
        few, f"differ on fewer than 10 {unit}s, so that the interval is rough and the p-value large"
    )
    yield from _close_calls(result, differences)


def contrast_notes(contrast: str) -> tuple[str, ...]:
    """Say what a ratio is, and what its p-value is of."""
    return (_RATIOS[contrast],) if contrast in _RATIOS else ()


def size_notes(units: Units) -> Iterator[str]:
    """Say when there are too few segments, or groups, to be sure of much."""
    degrees, few = units.alike.degrees, FEW[units.unit]
    worth = ""
    if units.sizes is not None and units.codes is None and degrees + 1 < 0.8 * units.n:
        worth = (
            f"{units.n} groups of {units.sizes.min()} to {units.sizes.max()} segments are worth "
            f"about {degrees + 1:.1f} of one size"
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
        counts = sum(np.sum(block.segments[:, :, 1] == 0, axis=1) for block in of.blocks)
        lacking = [f"{n:,} of {s}" for n, s in zip(counts, of.systems, strict=True) if n]
        if lacking:
            more = f" and others of {len(lacking) - _NAMED} more" if len(lacking) > _NAMED else ""
            n = int(np.sum(counts))
            all_of = sum(block.segments.shape[0] * block.segments.shape[1] for block in of.blocks)
            yield (
                f"{of.metric_name}: {n:,} of {all_of:,} scores {'is' if n == 1 else 'are'} missing "
                f"({', '.join(lacking[:_NAMED])}{more}); means are over those that there are."
            )


def design_notes(estimates: Sequence[EstimateRecord]) -> tuple[str, ...]:
    """Say what documents, and runs, add to the errors of scores: one line a metric."""
    notes = []
    for metric in dict.fromkeys(e.metric for e in estimates):
        some = [e for e in estimates if e.metric == metric]
        found = [f"{metric}:"]
        effects = [e.design_effect for e in some if e.design_effect is not None]
        if effects:
            sizes = [e.effective_size for e in some if e.effective_size is not None]
            found.append(
                f"grouped errors are {_span([e**0.5 for e in effects], '.2f')} times those of "
                f"independent segments (design effect {_span(effects, '.2f')}), of which these "
                f"are worth {_span(sizes, '.0f')}."
            )
        runs = [e.run_error for e in some if e.run_error is not None]
        alone = [e.segment_error for e in some if e.segment_error is not None]
        if runs:
            found.append(
                f"standard errors from segments {_span(alone, '.3g')}, from runs "
                f"{_span(runs, '.3g')}."
            )
        if len(found) > 1:
            notes.append(" ".join(found))
    return tuple(notes)


def _span(values: Sequence[float], form: str) -> str:
    """Return ``1.20``, or ``1.20 to 1.60``."""
    low, high = format(min(values), form), format(max(values), form)
    return low if low == high else f"{low} to {high}"


def _floor_notes(result: ComparisonRecord, found: Sequence[Difference]) -> Iterator[str]:
    """Say when no p-value can reach the level, whatever the data."""
    level = result.significance_level
    opened = [d for d in found if d.n_differing and result.is_open(d)]
    if not opened:
        return
    m = max(result.n_multiplied(d) for d in opened)
    times = f", times {m} comparisons" if m > 1 else ""
    drawn = [d for d in opened if result.floor_of(d) * m <= level]
    if drawn:
        yield (
            f"With {result.n_resamples} resamples{times} no p-value can reach {level:g} whatever "
            f"the data: use n_resamples of at least {ceil(m / level - 1e-9) - 1}."
        )
    units = [d for d in opened if d not in drawn]
    yield from _about(
        units,
        f"differ on so few {result.estimates[0].unit}s that no p-value{times} can reach "
        f"{level:g}, whatever the data",
    )


def _about(found: Sequence[Difference], what: str) -> Iterator[str]:
    names = [f"{d.system} and {d.baseline} ({d.metric})" for d in found]
    if len(names) > _NAMED:
        yield f"{len(names)} pairs {what}."
    elif names:
        yield f"{'; '.join(names)} {what}."


def _close_calls(
    result: ComparisonRecord, found: Sequence[Difference], the: str = "The"
) -> Iterator[str]:
    """Say which verdicts another seed might turn."""
    level, close = result.significance_level, []
    for d in found:
        error = d.pvalue_error
        if result.adjustment == "max-t" and d.pvalue_adjusted > d.pvalue:
            error = monte_carlo_error(d.pvalue_adjusted, result.n_resamples)
        elif error:
            # The verdict uses the adjusted p-value, whose error grows as it did.
            error *= d.pvalue_adjusted / d.pvalue
        if error and not result.is_open(d) and abs(d.pvalue_adjusted - level) < 2 * error:
            close.append((d, error))
    if len(close) > 1:
        yield (
            f"{the} p-values of {len(close)} pairs are within two Monte-Carlo standard errors of "
            f"{level:g}, too close to {level:g} to call: use more resamples."
        )
    for d, error in close if len(close) == 1 else ():
        yield (
            f"{d.system} vs {d.baseline} ({d.metric}): p = {d.pvalue_adjusted:.4f} ± "
            f"{error:.4f} (Monte-Carlo standard error) is too close to {level:g} to call; "
            f"use more resamples."
        )
