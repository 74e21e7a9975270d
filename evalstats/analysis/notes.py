"""What a careful reader of a result should know, in a sentence each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.plan import MID_P
from evalstats.analysis.sampling import FEW_DIFFERING, Sample
from evalstats.inference.clusters import effective_number
from evalstats.inference.significance import monte_carlo_error
from evalstats.inference.skewness import skewness
from evalstats.metrics import Mean
from evalstats.results.contrasts import CONTRASTS
from evalstats.results.records import ComparisonRecord, Difference
from evalstats.results.results import Comparison, Estimate
from evalstats.statistics.segments import SegmentStatistics

#: Below these, intervals cover less than they say and tests see little.
_FEW_SEGMENTS = 100
_FEW_GROUPS = 30
#: A mean of N numbers of skewness g is not near normal where N < 25 g² (Cochran, 1977).
_COCHRAN = 25
#: Whose intervals count the segments on which 0/1 scores differ.
_COUNTED = dict.fromkeys(CONTRASTS, "Nam and Blackwelder's") | {"difference": "Tango's"}
#: Pairs that a note names; more are counted.
_NAMED = 3


def size_notes(
    n_segments: int, unit: str, sizes: NDArray[np.int64] | None = None
) -> tuple[str, ...]:
    """Say when there are too few segments, or groups, to be sure of much."""
    notes = []
    few = _FEW_SEGMENTS if unit == "segment" else _FEW_GROUPS
    if n_segments < few:
        notes.append(f"Only {n_segments} {unit}s: below {few}, intervals and p-values are rough.")
    if sizes is not None and (effective := effective_number(sizes)) < 0.8 * n_segments:
        notes.append(
            f"{n_segments} groups of {sizes.min()} to {sizes.max()} segments are worth about "
            f"{effective:.1f} of one size."
        )
    return tuple(notes)


def gap_notes(tables: Sequence[SegmentStatistics]) -> tuple[str, ...]:
    """Say how many scores are missing, whose mean is over those that there are: one line each."""
    notes = []
    # Means of strata have these columns as well.
    for table in [table for table in tables if table.metric.columns == Mean.columns]:
        missing = table.values[:, :, 1] == 0
        counts = zip(np.sum(missing, axis=1), table.systems, strict=True)
        lacking = [f"{n:,} of {name}" for n, name in counts if n]
        if lacking:
            more = f" and others of {len(lacking) - _NAMED} more" if len(lacking) > _NAMED else ""
            n = int(np.sum(missing))
            verb = "is" if n == 1 else "are"
            notes.append(
                f"{table.metric.name}: {n:,} of {missing.size:,} scores {verb} missing "
                f"({', '.join(lacking[:_NAMED])}{more}); means are over those that there are."
            )
    return tuple(notes)


def design_notes(estimates: Sequence[Estimate]) -> tuple[str, ...]:
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


def comparison_notes(result: Comparison, samples: Sequence[Sample], unit: str) -> tuple[str, ...]:
    """Say what limits the verdicts: ties, few differences, skewness, resamples, disagreement."""
    notes = list(
        _about(
            [d for d in result if d.n_differing == 0],
            f"have identical statistics on every {unit}: p = 1",
        )
    )
    counted = sorted({d.metric for d in result if d.test.startswith("mcnemar")})
    if counted:
        which = "mid-p" if result.test == MID_P else "exact"
        notes.append(
            f"{', '.join(counted)}: 0/1 scores, McNemar's {which} test; method 'auto' takes "
            f"Wilson's and {_COUNTED[result.contrast]} intervals."
        )
    notes += _floor_notes(result)
    notes += _about(
        [
            d
            for d in result
            if 0 < d.n_differing < FEW_DIFFERING and not d.test.startswith("mcnemar")
        ],
        f"differ on fewer than 10 {unit}s, so that the interval is rough and the p-value large",
    )
    skewed = [(d, sample) for sample in samples for d in result if d.metric == sample.name]
    notes += _about(
        [d for d, sample in skewed if d.method in ("t", "hall") and _is_skewed(sample, d)],
        f"differ by a lot on a few {unit}s (a skewed difference), so that interval and p-value "
        f"depend on how many of these there happen to be",
    )
    notes += _close_calls(result, result.differences)
    marked = [d for d in result if result.disagrees(d)]
    if marked:
        notes.append(
            f"† In {len(marked)} of {len(result)} verdict and interval disagree: "
            f"{_why(result, marked)}."
        )
    return tuple(notes)


def ranking_notes(result: ComparisonRecord, sample: Sample) -> tuple[str, ...]:
    """Say what limits the verdicts under a metric, on which its ranks rest."""
    found = [d for d in result.differences if d.metric == sample.name]
    notes = [*_floor_notes(result)]
    skewed = sum(d.method in ("t", "hall") and _is_skewed(sample, d) for d in found)
    if skewed:
        notes.append(
            f"{sample.name}: {skewed} of {len(found)} pairs differ by a lot on a few "
            f"{result.estimates[0].unit}s (a skewed difference), which widens the intervals of "
            f"ranks."
        )
    return (*notes, *_close_calls(result, found, f"{sample.name}: the"))


def resample_note(level: float, n_resamples: int) -> tuple[str, ...]:
    """Say when no resampled p-value can reach the level, whatever the data."""
    if 1 / (n_resamples + 1) <= level:
        return ()
    return (
        f"With {n_resamples} resamples no p-value can reach {level:g} whatever the data: use "
        f"n_resamples of at least {ceil(1 / level - 1e-9) - 1}.",
    )


def _why(result: Comparison, marked: Sequence[Difference]) -> str:
    """Say why a verdict and an interval may disagree."""
    two = "test and interval are two approximations, and this is near the level"
    if result.intervals == "individual":
        level = result.significance_level
        own = [d for d in marked if (d.pvalue <= level) == result.significant(d)]
        if len(own) == len(marked):
            return two
        also = f"; of {len(own)} the p-value itself does: {two}" if own else ""
        return (
            f"the verdict is that of the adjusted p-value, the interval counts one comparison{also}"
        )
    if result.n_compared(result.differences[0]) == 1:
        return two
    if result.adjustment == "none":
        return "the verdict counts one comparison, the interval all of them"
    return (
        f"the verdict is that of p ({result.adjustment}), the interval allows for all comparisons "
        f"at once, also for those that a step-down test has left behind"
    )


def _floor_notes(result: ComparisonRecord) -> Iterator[str]:
    """Say when no p-value can reach the level, whatever the data."""
    level, m = result.significance_level, result.n_multiplied(result.differences[0])
    unit = result.estimates[0].unit
    times = f", times {m} comparisons" if m > 1 else ""
    floor, n_drawn = result.floor_of_units, result.n_resamples + 1
    if floor * m > level:
        yield (
            f"{result.estimates[0].n_segments} {unit}s cannot give a p-value below {floor:.2g}"
            f"{times}: no difference can be significant at {level:g}, whatever the data."
        )
    elif m / n_drawn > level and any(d.is_drawn for d in result.differences):
        if result.n_compared(result.differences[0]) == 1:
            yield from resample_note(level, result.n_resamples)
            return
        enough = ceil(m / (n_drawn * level) - 1e-9)
        unless = "" if result.adjustment != "benjamini-hochberg" else f", unless {enough} do,"
        # Of several runs max-T is Holm's method already.
        has_runs = result.estimates[0].run_error is not None
        use = "adjustment 'max-t', or " if m > 1 and not has_runs else ""
        yield (
            f"With {result.n_compared(result.differences[0])} comparisons and "
            f"{result.n_resamples} resamples no p-value adjusted by {result.adjustment} can reach "
            f"{level:g}{unless} whatever the data: use {use}n_resamples of at least "
            f"{ceil(m / level - 1e-9) - 1}."
        )


def _is_skewed(sample: Sample, d: Difference) -> bool:
    """Return whether the influence on a difference is too skewed for its t interval."""
    if sample.shard is not None or d.n_differing < FEW_DIFFERING:
        return False
    first, second = (sample.table.systems.index(name) for name in (d.baseline, d.system))
    values = sample.influence[second] - sample.influence[first]
    return len(values) < _COCHRAN * skewness(values) ** 2


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
