"""Approximate randomisation: p-values of plain differences after random swaps of two outputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.options import Options
from evalstats.analysis.sampling import Pair, Sample, split, totals_scored
from evalstats.analysis.scored import Scored
from evalstats.inference.randomisation import randomization_pvalue, tie_tolerance
from evalstats.resampling.totals import all_swap_totals
from evalstats.resampling.weights import Halves

Floats = NDArray[np.float64]


def swapped_pvalues(
    sample: Sample, pairs: Sequence[Pair], options: Options
) -> list[tuple[float, bool]]:
    """Return the p-value of each pair, and whether all swaps of it were enumerated."""
    enumerated = [2 ** sample.differ(*pair)[0] <= options.n_resamples for pair in pairs]
    drawn = [pair for pair, exact in zip(pairs, enumerated, strict=True) if not exact]
    columns = iter(_random(sample, drawn, options).T if drawn else ())
    found = []
    for (a, b), exact in zip(pairs, enumerated, strict=True):
        first, second = sample.scores[[a, b]]
        tie = tie_tolerance(max(abs(first), abs(second)), sample.units.n)
        shuffled = _all(sample.of, (a, b)) if exact else next(columns)
        p = randomization_pvalue(second - first, shuffled, options.alternative, tie, exact)
        found.append((p, exact))
    return found


def _random(sample: Sample, pairs: Sequence[Pair], options: Options) -> Floats:
    """Return differences after random swaps, `(B, P)`: the same swaps for all pairs."""
    # What moves from one system to another follows from what moves to the first.
    blocks = [
        replace(block, rows=_wide(block.rows) - _wide(block.rows[:1])) for block in sample.of.blocks
    ]
    moving = replace(sample.of, blocks=tuple(blocks))
    rows = Halves(sample.units.n, options.seed)
    then = partial(_differences, sample.of, pairs)
    (found,) = totals_scored([moving], rows, options.n_resamples, options, then)
    return found


def _differences(of: Scored, pairs: Sequence[Pair], totals: Sequence[Floats]) -> list[Floats]:
    """Return differences from totals of random halves less those of the first system."""
    halves = [split([of], t, block)[0] for t, block in enumerate(totals)]
    found = [
        _difference(of, (a, b), [half[:, b] - half[:, a] for half in halves]) for a, b in pairs
    ]
    return [np.stack(found, axis=1)]


def _all(of: Scored, pair: Pair) -> Floats:
    """Return differences after all swaps, `(2^m,)`, the first of which swaps nothing."""
    (a, b), differs = pair, of.differs(*pair)
    swaps = all_swap_totals(np.eye(int(np.count_nonzero(differs))))
    column = np.cumsum(differs) - 1
    moved = []
    for block in of.blocks:
        here = differs[block.places]
        rows = _wide(block.rows[:, here])
        moved.append(swaps[:, column[block.places][here]] @ (rows[b] - rows[a]))
    return _difference(of, pair, moved)


def _difference(of: Scored, pair: Pair, moved: Sequence[Floats]) -> Floats:
    """Return the difference after statistics `(R, k)` a block moved from system b to a."""
    first, second = (
        of.score(
            [block.totals[i] + side * m for block, m in zip(of.blocks, moved, strict=True)],
            "swapped outputs",
            i,
        )
        for i, side in zip(pair, (1.0, -1.0), strict=True)
    )
    return second - first


def _wide(values: NDArray[Any]) -> NDArray[Any]:
    # Narrow integers could overflow.
    return values.astype(np.int64 if values.dtype.kind in "iu" else np.float64, copy=False)
