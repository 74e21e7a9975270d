"""Approximate randomisation: p-values of differences when outputs of two systems are swapped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.drawn import Drawn, Pair, split, totals_scored
from evalstats.analysis.options import Options
from evalstats.analysis.scores import Segments
from evalstats.inference.randomisation import (
    randomization_pvalue,
    tie_tolerance,
)
from evalstats.resampling.weighted import all_swap_totals
from evalstats.resampling.weights import Halves

Floats = NDArray[np.float64]


def swapped_pvalues(
    drawn: Drawn, pairs: Sequence[Pair], options: Options
) -> list[tuple[float, bool]]:
    """Return the p-value of each pair after random swaps of two outputs (Noreen, 1989).

    With each comes whether all swaps of it were enumerated.
    """
    segments = drawn.segments
    enumerated = [2 ** drawn.differ(*pair)[0] <= options.n_resamples for pair in pairs]
    random = [pair for pair, exact in zip(pairs, enumerated, strict=True) if not exact]
    columns: Floats = np.empty((0, 0))
    if random:
        # What moves from one system to another follows from what moves to the first; the same
        # swaps are for all pairs.
        blocks = [replace(b, rows=_wide(b.rows) - _wide(b.rows[:1])) for b in segments.blocks]
        moving = replace(segments, blocks=tuple(blocks))
        rows = Halves(segments.units.n, options.seed)
        then = partial(_swapped_differences, segments, random)
        columns = totals_scored([moving], rows, options.n_resamples, options, then)
    each, pvalues = iter(columns.T), []
    for (a, b), exact in zip(pairs, enumerated, strict=True):
        first, second = drawn.scores[[a, b]]
        tie = tie_tolerance(max(abs(first), abs(second)), drawn.units.n)
        shuffled = _all_swapped(segments, (a, b)) if exact else next(each)
        p = randomization_pvalue(second - first, shuffled, options.alternative, tie, exact)
        pvalues.append((p, exact))
    return pvalues


def _swapped_differences(
    segments: Segments, pairs: Sequence[Pair], totals: Sequence[Floats]
) -> Floats:
    """Return differences from totals of random halves less those of the first system."""
    halves = [split([segments], t, block)[0] for t, block in enumerate(totals)]
    each = [
        _swapped_difference(segments, (a, b), [half[:, b] - half[:, a] for half in halves])
        for a, b in pairs
    ]
    return np.stack(each, axis=1)


def _all_swapped(segments: Segments, pair: Pair) -> Floats:
    """Return differences after all swaps, `(2^m,)`, the first of which swaps nothing."""
    (a, b), differs = pair, segments.differs(*pair)
    swaps = all_swap_totals(np.eye(int(np.count_nonzero(differs))))
    column = np.cumsum(differs) - 1
    moved = []
    for block in segments.blocks:
        here = differs[block.places]
        rows = _wide(block.rows[:, here])
        moved.append(swaps[:, column[block.places][here]] @ (rows[b] - rows[a]))
    return _swapped_difference(segments, pair, moved)


def _swapped_difference(segments: Segments, pair: Pair, moved: Sequence[Floats]) -> Floats:
    """Return the difference after statistics `(R, k)` a block moved from system b to a."""
    first, second = (
        segments.score(
            [block.totals[i] + side * m for block, m in zip(segments.blocks, moved, strict=True)],
            "swapped outputs",
            i,
        )
        for i, side in zip(pair, (1.0, -1.0), strict=True)
    )
    return second - first


def _wide(values: NDArray[Any]) -> NDArray[Any]:
    """Return integers that do not overflow when they are added up, or floats."""
    return values.astype(np.int64 if values.dtype.kind in "iu" else np.float64, copy=False)
