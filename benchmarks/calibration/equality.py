"""Two systems whose population scores are equal, made from two whose scores are not.

*Exchangeable*: the population holds every segment twice, once with the two outputs swapped. A draw
from it is a draw of segments with a coin toss on each: whose output is whose says nothing.

*Recentred*: a few segments' outputs are swapped between the two systems, until their scores are
equal; all other segments, and what is unlike about the systems, stay. In an order fixed by the
seed, segments on which the better system is better are swapped until the scores are closest; then
the single swap that brings them closest, again and again. Where scores lie on a lattice and an odd
number of units remains, the segment whose removal brings them closest is left out.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evalstats import Metric

SEED = 2026
#: How far equal scores may lie apart, as a share of the score: 0.002 of 40 BLEU.
TOLERANCE = 5e-5


def exchangeable(values: NDArray) -> NDArray:
    """Return a population of exchangeable systems under any metric, `(2, M, k) -> (2, 2M, k)`."""
    return np.concatenate([values, values[::-1]], axis=1)


def recentred(values: NDArray, metric: Metric, most_swaps: int = 50) -> NDArray:
    """Return a population of systems with equal scores, `(2, M, k) -> (2, M, k)`."""
    values = values.copy()
    totals = values.sum(axis=1, dtype=float)
    moved = np.subtract(values[1], values[0], dtype=float)
    # What swapping a segment takes from the gap, to first order.
    parts = moved @ metric.gradient(totals).sum(axis=0)
    order = np.random.default_rng(SEED).permutation(len(parts))
    order = order[np.sign(parts[order]) == np.sign(_gaps(metric, totals, 0.0))]
    if len(order):
        gaps = np.abs(_gaps(metric, totals, np.cumsum(moved[order], axis=0)))
        _swap(values, order[: 1 + np.argmin(gaps)])
    for _ in range(most_swaps):
        totals = values.sum(axis=1, dtype=float)
        gaps = np.abs(_gaps(metric, totals, np.subtract(values[1], values[0], dtype=float)))
        if np.min(gaps) >= abs(_gaps(metric, totals, 0.0)):
            break
        _swap(values, [np.argmin(gaps)])
    if not equal(values, metric):
        gaps = np.abs(np.diff(metric.score(values.sum(axis=1, keepdims=True) - values), axis=0))
        values = np.delete(values, np.argmin(gaps), axis=1)
    return values


def equal(values: NDArray, metric: Metric) -> bool:
    """Return whether the two population scores are equal, but for the tolerance."""
    first, second = metric.score(values.sum(axis=1, dtype=float))
    return bool(abs(second - first) <= TOLERANCE * max(1.0, abs(first)))


def _gaps(metric: Metric, totals: NDArray, moved: NDArray | float) -> NDArray:
    """Return second minus first score after `moved` went from the second to the first."""
    return metric.score(totals[1] - moved) - metric.score(totals[0] + moved)


def _swap(values: NDArray, segments: NDArray | list[int]) -> None:
    values[:, segments] = values[::-1][:, segments]
