"""Approximate randomisation: p-values of plain differences after random swaps of two outputs."""

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
from evalstats.inference.randomisation import randomization_pvalue, tie_tolerance
from evalstats.resampling.weighted import all_swap_totals
from evalstats.resampling.weights import Halves

Floats = NDArray[np.float64]


def swapped_pvalues(
    drawn: Drawn, pairs: Sequence[Pair], options: Options
) -> list[tuple[float, bool]]:
    """Return the p-value of each pair, and whether all swaps of it were enumerated."""
    enumerated = [2 ** drawn.differ(*pair)[0] <= options.n_resamples for pair in pairs]
    random = [pair for pair, exact in zip(pairs, enumerated, strict=True) if not exact]
    columns = iter(_random(drawn.segments, random, options).T if random else ())
    pvalues = []
    for (a, b), exact in zip(pairs, enumerated, strict=True):
        first, second = drawn.scores[[a, b]]
        tie = tie_tolerance(max(abs(first), abs(second)), drawn.units.n)
        shuffled = _all(drawn.segments, (a, b)) if exact else next(columns)
        p = randomization_pvalue(second - first, shuffled, options.alternative, tie, exact)
        pvalues.append((p, exact))
    return pvalues


def _random(segments: Segments, pairs: Sequence[Pair], options: Options) -> Floats:
    """Return differences after random swaps, `(B, P)`: the same swaps for all pairs."""
    # What moves from one system to another follows from what moves to the first.
    blocks = [
        replace(block, rows=_wide(block.rows) - _wide(block.rows[:1])) for block in segments.blocks
    ]
    moving = replace(segments, blocks=tuple(blocks))
    rows = Halves(segments.units.n, options.seed)
    then = partial(_differences, segments, pairs)
    (differences,) = totals_scored([moving], rows, options.n_resamples, options, then)
    return differences


def _differences(
    segments: Segments, pairs: Sequence[Pair], totals: Sequence[Floats]
) -> list[Floats]:
    """Return differences from totals of random halves less those of the first system."""
    halves = [split([segments], t, block)[0] for t, block in enumerate(totals)]
    each = [
        _difference(segments, (a, b), [half[:, b] - half[:, a] for half in halves])
        for a, b in pairs
    ]
    return [np.stack(each, axis=1)]


def _all(segments: Segments, pair: Pair) -> Floats:
    """Return differences after all swaps, `(2^m,)`, the first of which swaps nothing."""
    (a, b), differs = pair, segments.differs(*pair)
    swaps = all_swap_totals(np.eye(int(np.count_nonzero(differs))))
    column = np.cumsum(differs) - 1
    moved = []
    for block in segments.blocks:
        here = differs[block.places]
        rows = _wide(block.rows[:, here])
        moved.append(swaps[:, column[block.places][here]] @ (rows[b] - rows[a]))
    return _difference(segments, pair, moved)


def _difference(segments: Segments, pair: Pair, moved: Sequence[Floats]) -> Floats:
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
    # Narrow integers could overflow.
    return values.astype(np.int64 if values.dtype.kind in "iu" else np.float64, copy=False)
