"""Approximate randomisation: p-values of plain differences after random swaps of two outputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.options import Options
from evalstats.analysis.resampled import split, totals_scored
from evalstats.analysis.sampling import Pair, Sample
from evalstats.analysis.scored import Scored
from evalstats.inference import randomisation
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
        observed = float(sample.scores[b] - sample.scores[a])
        largest = float(np.max(np.abs(sample.scores[[a, b]])))
        tie = randomisation.tie_tolerance(largest, sample.units.n)
        shuffled = _all(sample, (a, b)) if exact else next(columns)
        test = (
            randomisation.exact_randomization_pvalue
            if exact
            else randomisation.randomization_pvalue
        )
        found.append((test(observed, shuffled, options.alternative, tie), exact))
    return found


def _random(sample: Sample, pairs: Sequence[Pair], options: Options) -> Floats:
    """Return differences after random swaps, `(B, P)`: the same swaps for all pairs."""
    # What moves from one system to another follows from what moves to the first.
    moving = replace(sample.of, blocks=tuple(
        replace(block, rows=_wide(block.rows) - _wide(block.rows[:1])) for block in sample.of.blocks
    ))  # fmt: skip
    rows = Halves(sample.units.n, options.seed)
    (found,) = totals_scored(
        [moving], rows, options.n_resamples, options, _Shuffled(sample.of, pairs)
    )
    return found


def _all(sample: Sample, pair: Pair) -> Floats:
    """Return differences after all swaps, `(2^m,)`, the first of which swaps nothing."""
    (a, b), of = pair, sample.of
    wide = np.zeros((sample.units.n, sum(block.rows.shape[2] for block in of.blocks)))
    ends = np.cumsum([block.rows.shape[2] for block in of.blocks])
    for block, end in zip(of.blocks, ends, strict=True):
        own = wide[:, end - block.rows.shape[2] : end]
        own[block.places] = _wide(block.rows[b]) - _wide(block.rows[a])
    moved = np.split(all_swap_totals(wide[of.differs(a, b)]), ends[:-1], axis=1)
    return _difference(of, (a, b), moved)


@dataclass
class _Shuffled:
    """Differences of pairs from totals of random halves less those of the first system."""

    of: Scored
    pairs: Sequence[Pair]

    def __call__(self, totals: Sequence[Floats]) -> list[Floats]:
        halves = [split([self.of], t, block)[0] for t, block in enumerate(totals)]
        found = [
            _difference(self.of, (a, b), [half[:, b] - half[:, a] for half in halves])
            for a, b in self.pairs
        ]
        return [np.stack(found, axis=1)]


def _difference(of: Scored, pair: Pair, moved: Sequence[Floats]) -> Floats:
    """Return the difference after statistics `(R, k)` a block moved from system b to a."""
    a, b = pair
    ends = [
        of.score([side * m + block.totals[i] for m, block in zip(moved, of.blocks, strict=True)],
                 "swapped outputs", i)
        for i, side in ((a, 1.0), (b, -1.0))
    ]  # fmt: skip
    return ends[1] - ends[0]


def _wide(values: NDArray[Any]) -> NDArray[Any]:
    # Narrow integers could overflow.
    return values.astype(np.int64 if values.dtype.kind in "iu" else np.float64, copy=False)
