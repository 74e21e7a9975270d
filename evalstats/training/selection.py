"""By how much the best of many scores is too good, and its correction.

The highest of J noisy scores lies above the truth on average, even if each of them is right on
average (the winner's curse). To measure that, each bootstrap resample chooses its best candidate,
which is scored on the segments that are not in the resample (bootstrap bias correction;
Tsamardinos, Greasidou and Borboudakis, 2018; the out-of-bag idea is Efron's, 1983). The correction
is the mean over resamples of

    score of the reported winner - score of the resample's winner,  both out of the bag.

If one candidate is clearly best, every resample chooses it and the correction is 0. If all are
equal, the correction is the mean by which the maximum lies above the truth.

The choice of a resample depends on earlier candidates only through its best score so far. So a few
numbers per resample are kept, however many candidates come.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalstats.errors import InputError
from evalstats.metrics import Metric
from evalstats.resampling.weighted import ExactProduct, exact_grid, recipe
from evalstats.resampling.weights import batches

Floats = NDArray[np.float64]

#: At most so many weights are turned into out-of-bag weights at once.
_BLOCK_WEIGHTS = 1 << 24


class OutOfBag:
    """Bootstrap resamples with the segments that each left out.

    Parameters
    ----------
    n_segments, n_resamples, seed : int
        The resamples are the rows of `bootstrap_weights`. Those that left no segment out are
        dropped; they occur for two or three segments.
    """

    def __init__(self, n_segments: int, n_resamples: int, seed: int) -> None:
        drawn = batches(recipe(n_segments, seed), n_resamples)
        weights = np.concatenate([rows for _, rows in drawn])
        self.n_segments = n_segments
        self._weights = weights[np.any(weights == 0, axis=1)]

    def __len__(self) -> int:
        """Return the number of resamples that left something out."""
        return len(self._weights)

    def scores(self, metric: Metric, statistics: NDArray[Any]) -> tuple[Floats, Floats]:
        """Return scores of statistics `(N, k)` in and out of every resample, `(B,)` each."""
        product = ExactProduct(exact_grid(statistics), 255)
        size = max(1, _BLOCK_WEIGHTS // self.n_segments)
        blocks = [self._weights[i : i + size] for i in range(0, len(self), size)]
        totals = [product(self._weights)]
        totals += [product((rows == 0).astype(rows.dtype)) for rows in blocks]
        scores = metric.score(np.concatenate(totals, axis=1).T)
        if not np.all(np.isfinite(scores)):
            raise InputError(
                f"{metric.name} of a resample is not finite; define the score for every total, "
                f"for example where a denominator is 0"
            )
        return scores[: len(self)], scores[len(self) :]


@dataclass(frozen=True)
class BestSoFar:
    """The best candidate so far, on all segments and in each of B resamples.

    Attributes
    ----------
    step : int
        The winner on all segments.
    score : float
        Its score there.
    out_of_bag : ndarray, shape (B,)
        Its scores on the segments that each resample left out.
    winners : ndarray of int, shape (B,)
        The winner in each resample; the earlier one where two are equal.
    winners_in_bag, winners_out_of_bag : ndarray, shape (B,)
        The scores of these winners.
    """

    step: int
    score: float
    out_of_bag: Floats
    winners: NDArray[np.int64]
    winners_in_bag: Floats
    winners_out_of_bag: Floats

    def update(
        self, step: int, score: float, in_bag: Floats, out_of_bag: Floats, higher_is_better: bool
    ) -> BestSoFar:
        """Return the best so far after one more candidate."""
        sign = 1 if higher_is_better else -1
        won = sign * in_bag > sign * self.winners_in_bag
        after = replace(
            self,
            winners=np.where(won, step, self.winners),
            winners_in_bag=np.where(won, in_bag, self.winners_in_bag),
            winners_out_of_bag=np.where(won, out_of_bag, self.winners_out_of_bag),
        )
        if sign * score > sign * self.score:
            after = replace(after, step=step, score=score, out_of_bag=out_of_bag)
        return after

    def optimism(self, higher_is_better: bool) -> float:
        """Return the correction of the winner's score, at least 0."""
        if not len(self.winners):
            return 0.0
        sign = 1 if higher_is_better else -1
        return max(0.0, sign * float(np.mean(self.out_of_bag - self.winners_out_of_bag)))

    @property
    def agreement(self) -> float:
        """The share of resamples that choose the same winner."""
        return float(np.mean(self.winners == self.step)) if len(self.winners) else 1.0
