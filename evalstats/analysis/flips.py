"""Influence values with random signs, whose sums are differences under the null hypothesis.

One product serves all systems under all metrics, and thereby every pair of them: a difference of
two sums is the sum of the differences.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.plan import Plan
from evalstats.analysis.sampling import Sample
from evalstats.resampling.totals import swap_totals

Floats = NDArray[np.float64]

#: Sums of influence values below 2^24 are exact in single precision; beyond so many segments that
#: would leave a value too few of these bits.
_SINGLE_BITS, _SINGLE_SEGMENTS, _DOUBLE_BITS = 24, 1 << 14, 52


def flip(samples: list[Sample], plan: Plan) -> list[Sample]:
    """Add sums of influence values with random signs, the same for all systems and metrics.

    The signs are those of `swap`: -1 in the random half. Where the influence on a score is not
    finite anywhere there are none.
    """
    found = [np.all(np.isfinite(sample.influence)) for sample in samples]
    columns = [s.unbiased.T for s, finite in zip(samples, found, strict=True) if finite]
    if not columns:
        return samples
    whole, steps = whole_numbers(np.concatenate(columns, axis=1))
    halves = swap_totals(whole, plan.n_resamples, plan.seed, executor=plan.executor)
    sums = (np.sum(whole, axis=0) - 2 * halves) * steps
    parts = iter(np.split(sums, np.cumsum([c.shape[1] for c in columns])[:-1], axis=1))
    return [
        replace(sample, flips=next(parts)) if finite else sample
        for sample, finite in zip(samples, found, strict=True)
    ]


def whole_numbers(columns: Floats) -> tuple[Floats, Floats]:
    """Round columns to whole numbers of steps, so few that their sums are exact and fast."""
    n = len(columns)
    # In single precision a value then has N/2^25 of the mean size for an error, 1/8,000 of 2,000.
    bits = _SINGLE_BITS if n <= _SINGLE_SEGMENTS else _DOUBLE_BITS
    steps = np.sum(np.abs(columns), axis=0) / (2.0**bits - n)
    whole = np.divide(columns, steps, where=steps > 0, out=np.zeros(columns.shape))
    return np.rint(whole), steps
