"""Approximate randomisation (Noreen, 1989): how often swaps of outputs give as large a difference.

The null hypothesis is that two systems are exchangeable, as if a coin had decided which of them
made which output (Riezler and Maxwell, 2005). Used by `meta` and `compat`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.options import Options
from evalstats.analysis.scores import Pair, Scores, totals_scored
from evalstats.inference.draws import NONE, monte_carlo_error, tie_tolerance
from evalstats.resampling.streams import random_bytes
from evalstats.resampling.weights import Weights

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Halves(Weights):
    """0/1 rows: which segments swap sides."""

    stream = 1
    largest = 1

    def draw(self, rng: np.random.Generator) -> NDArray[np.uint8]:
        """Draw the rows of a batch."""
        width = -(-self.n_segments // 8)
        bits = random_bytes(rng, self.batch_rows * width).reshape(-1, width)
        return np.unpackbits(bits, axis=1, count=self.n_segments)


def all_swap_totals(statistics: NDArray[Any]) -> Floats:
    """Sum statistics over all 2^n subsets of n segments, `(n, k) -> (2^n, k)`."""
    totals = np.zeros((1, statistics.shape[1]))
    for row in statistics:
        # Every subset so far, without and with this segment.
        totals = np.concatenate([totals, totals + row])
    return totals


def randomization_pvalue(
    observed: float,
    shuffled: Floats,
    alternative: str = "two-sided",
    tolerance: float = 0.0,
    exact: bool = False,
) -> float:
    """Return the share of swaps after which the difference is at least as extreme.

    Given differences after swaps, `(B,)`. Ties count, up to a tolerance, and so does the observed
    arrangement: (count + 1)/(B + 1) (Phipson and Smyth, 2010). If all swaps are enumerated
    (`exact`), they include it, and the p-value is count/B.
    """
    if alternative == "two-sided":
        observed, shuffled = abs(observed), np.abs(shuffled)
    elif alternative == "less":
        observed, shuffled = -observed, -shuffled
    count = int(np.count_nonzero(shuffled >= observed - tolerance))
    return count / len(shuffled) if exact else (count + 1) / (len(shuffled) + 1)


def swapped_pvalues(
    scores: Scores, pairs: Sequence[Pair], options: Options
) -> list[tuple[float, float]]:
    """Return the p-value of each pair after swaps of two outputs, with its Monte-Carlo error.

    If m segments differ and 2^m is at most B, all swaps are enumerated, and the error is 0.
    """
    enumerated = [2 ** scores.differ(*pair)[0] <= options.n_resamples for pair in pairs]
    random = [pair for pair, exact in zip(pairs, enumerated, strict=True) if not exact]
    columns: Floats = np.empty((0, 0))
    if random:
        # Moves to one system follow from moves to the other; all pairs have the same swaps.
        strata = [replace(x, rows=_wide(x.rows) - _wide(x.rows[:1])) for x in scores.strata]
        moving = replace(scores, strata=tuple(strata))
        rows = Halves(scores.units.n, options.rng)
        then = partial(_swapped_differences, replace(scores, draws=NONE), random)
        columns = totals_scored([moving], rows, options.n_resamples, options, then)
    drawn_columns, pvalues = iter(columns.T), []
    for (a, b), exact in zip(pairs, enumerated, strict=True):
        first, second = scores.value[[a, b]].tolist()
        tie = tie_tolerance(max(abs(first), abs(second)), scores.units.n)
        shuffled = _all_swapped(scores, (a, b)) if exact else next(drawn_columns)
        p = randomization_pvalue(second - first, shuffled, options.alternative, tie, exact)
        error = 0.0
        if not exact:
            error = options.sides * monte_carlo_error(p / options.sides, options.n_resamples)
        pvalues.append((p, error))
    return pvalues


def _swapped_differences(scores: Scores, pairs: Sequence[Pair], totals: Sequence[Floats]) -> Floats:
    """Return differences from totals of random halves, minus the first system's."""
    shape = len(totals[0]), len(scores.systems), -1
    halves = [of_stratum.reshape(shape) for of_stratum in totals]
    differences = [
        _swapped_difference(scores, (a, b), [half[:, b] - half[:, a] for half in halves])
        for a, b in pairs
    ]
    return np.stack(differences, axis=1)


def _all_swapped(scores: Scores, pair: Pair) -> Floats:
    """Return differences after all swaps, `(2^m,)`, the first of which swaps nothing."""
    (a, b), differs = pair, scores.differs(*pair)
    swaps = all_swap_totals(np.eye(int(np.count_nonzero(differs))))
    column = np.cumsum(differs) - 1
    moved = []
    for stratum in scores.strata:
        here = differs[stratum.places]
        rows = _wide(stratum.rows[:, here])
        moved.append(swaps[:, column[stratum.places][here]] @ (rows[b] - rows[a]))
    return _swapped_difference(scores, pair, moved)


def _swapped_difference(scores: Scores, pair: Pair, moved: Sequence[Floats]) -> Floats:
    """Return the difference after statistics `(R, k)` of each stratum moved from system b to a."""
    first, second = (
        scores.score(
            [stratum.totals[i] + side * m for stratum, m in zip(scores.strata, moved, strict=True)],
            "swapped outputs",
            i,
        )
        for i, side in zip(pair, (1.0, -1.0), strict=True)
    )
    return second - first


def _wide(values: NDArray[Any]) -> NDArray[Any]:
    """Return integers that do not overflow when they are added up, or floats."""
    return values.astype(np.int64 if values.dtype.kind in "iu" else np.float64, copy=False)
