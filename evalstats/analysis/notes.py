"""What a careful reader of a result should know, in a sentence each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.plan import MID_P
from evalstats.analysis.sampling import FEW_DIFFERING, Sample
from evalstats.inference.clusters import effective_number
from evalstats.inference.influence import influence_values
from evalstats.inference.skewness import skewness
from evalstats.results.records import Difference
from evalstats.results.results import Comparison

#: Below these, intervals cover less than they say and tests see little.
_FEW_SEGMENTS = 100
_FEW_GROUPS = 30
#: A mean of N numbers of skewness g is not near normal where N < 25 g² (Cochran, 1977).
_COCHRAN = 25
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


def comparison_notes(
    result: Comparison, samples: Sequence[Sample], n_pairs: int
) -> tuple[str, ...]:
    """Say what limits the verdicts: ties, few differences, skewness, resamples, disagreement."""
    notes = [
        f"{d.system} and {d.baseline} have identical {d.metric} statistics on every segment: p = 1."
        for d in result
        if d.n_differing == 0
    ]
    counted = sorted({d.metric for d in result if d.test.startswith("mcnemar")})
    if counted:
        which = "mid-p" if result.test == MID_P else "exact"
        notes.append(
            f"{', '.join(counted)}: 0/1 scores, McNemar's {which} test; method 'auto' takes "
            f"Wilson's and Tango's intervals."
        )
    notes += _floor_notes(result, samples[0], n_pairs)
    notes += _about(
        [
            d
            for d in result
            if 0 < d.n_differing < FEW_DIFFERING and not d.test.startswith("mcnemar")
        ],
        "differ on fewer than 10 segments, so that the interval is rough and the p-value large",
    )
    skewed = [(d, sample) for sample in samples for d in result if d.metric == sample.name]
    notes += _about(
        [d for d, sample in skewed if d.method in ("t", "hall") and _is_skewed(sample, d)],
        "differ by a lot on a few segments (a skewed difference), so that interval and p-value "
        "depend on how many of these there happen to be",
    )
    notes += _close_calls(result)
    marked = sum(result.disagrees(d) for d in result)
    if marked:
        why = (
            "the verdict is that of the adjusted p-value, the interval counts one comparison"
            if n_pairs > 1
            else "test and interval are two approximations, and this is near the level"
        )
        notes.append(f"† In {marked} of {len(result)} verdict and interval disagree: {why}.")
    return tuple(notes)


def _floor_notes(result: Comparison, sample: Sample, n_pairs: int) -> Iterator[str]:
    """Say when no p-value can reach the level, whatever the data."""
    sides = 2 if result.alternative == "two-sided" else 1
    level = result.significance_level
    m = 1 if result.adjustment == "none" else n_pairs
    times = f", times {m} comparisons" if m > 1 else ""
    by_units = sides * 0.5**sample.n_segments
    if result.test != "bootstrap" and by_units * m > level:
        yield (
            f"{sample.n_segments} units cannot give a p-value below {by_units:.2g}{times}: no "
            f"difference can be significant at {level:g}, whatever the data."
        )
    elif m / (result.n_resamples + 1) > level and not all(d.exact for d in result):
        yield (
            f"With {n_pairs} comparisons and {result.n_resamples} resamples no p-value adjusted "
            f"by {result.adjustment} can reach {level:g}: use more resamples."
        )


def _is_skewed(sample: Sample, d: Difference) -> bool:
    """Return whether the influence on a difference is too skewed for its t interval."""
    if sample.shard is not None or d.n_differing < FEW_DIFFERING:
        return False
    pair = [sample.table.systems.index(name) for name in (d.baseline, d.system)]
    first, second = influence_values(sample.table.metric, sample.values[pair].astype(np.float64))
    return len(first) < _COCHRAN * skewness(second - first) ** 2


def _about(found: Sequence[Difference], what: str) -> Iterator[str]:
    names = [f"{d.system} and {d.baseline} ({d.metric})" for d in found]
    if len(names) > _NAMED:
        yield f"{len(names)} pairs {what}."
    elif names:
        yield f"{'; '.join(names)} {what}."


def _close_calls(result: Comparison) -> Iterator[str]:
    level = result.significance_level
    for d in result:
        # The verdict uses the adjusted p-value, whose error grows as it did.
        error = d.pvalue_error * d.pvalue_adjusted / d.pvalue
        if error > 0 and abs(d.pvalue_adjusted - level) < 2 * error:
            yield (
                f"{d.system} vs {d.baseline} ({d.metric}): p = {d.pvalue_adjusted:.4f} ± "
                f"{error:.4f} (Monte-Carlo standard error) is too close to {level:g} to call; "
                f"use more resamples."
            )
