"""What verdicts on all pairs say of ranks: intervals, letters, clusters, composite scores.

``better[i, j]`` says that system i is significantly better than system j.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Verdicts = NDArray[np.bool_]


def ranks(scores: ArrayLike, higher_is_better: bool = True) -> Floats:
    """Return ranks along the last axis, 1 the best; systems that tie share the mean rank.

    Examples
    --------
    >>> ranks([30.0, 42.0, 30.0, 25.0]).tolist()
    [2.5, 1.0, 2.5, 4.0]
    """
    from scipy.stats import rankdata

    values = np.asarray(scores, dtype=np.float64)
    return np.asarray(rankdata(-values if higher_is_better else values, axis=-1))


def rank_intervals(better: Verdicts) -> NDArray[np.int64]:
    """Return the best and the worst rank that each system may have, `(S, S) -> (S, 2)`.

    A system ranks behind all that are significantly better and before all that are significantly
    worse (Mogstad, Romano, Shaikh and Wilhelm, 2024, "Inference for Ranks", Review of Economic
    Studies 91). The intervals hold with the probability with which no verdict is false: all at
    once where the verdicts are family-wise, one of them where its row and column are.

    Examples
    --------
    >>> rank_intervals(np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]], bool)).tolist()
    [[1, 2], [1, 2], [3, 3]]
    """
    ahead, behind = better.sum(axis=0), better.sum(axis=1)
    return np.stack([1 + ahead, len(better) - behind], axis=1).astype(np.int64)


def letters(better: Verdicts, order: NDArray[np.intp]) -> list[str]:
    """Return the compact letter display: two systems share a letter where neither is better.

    Insert and absorb (Piepho, 2004, "An algorithm for a letter-based representation of all-pairwise
    comparisons", Journal of Computational and Graphical Statistics 13). The letter a is that of the
    first system in `order`; after z come a1, b1 and so on.

    Examples
    --------
    >>> better = np.array([[0, 0, 1], [0, 0, 0], [0, 0, 0]], bool)
    >>> letters(better, np.arange(3))
    ['a', 'ab', 'b']
    """
    places = {int(system): place for place, system in enumerate(order)}
    columns = [frozenset(places)]
    for i, j in zip(*np.nonzero(better | better.T), strict=True):
        if i < j:
            split = [c - {int(x)} if {int(i), int(j)} <= c else c for c in columns for x in (i, j)]
            distinct = list(dict.fromkeys(split))
            columns = [c for c in distinct if not any(c < other for other in distinct)]
    columns.sort(key=lambda column: sorted(places[system] for system in column))
    names = [_letter(i) for i in range(len(columns))]
    return [
        "".join(name for name, column in zip(names, columns, strict=True) if system in column)
        for system in range(len(better))
    ]


def _letter(number: int) -> str:
    rounds, place = divmod(number, 26)
    return chr(ord("a") + place) + (str(rounds) if rounds else "")


def clusters(better: Verdicts, order: NDArray[np.intp]) -> NDArray[np.int64]:
    """Return the cluster of each system, 1 the best, `(S,)`.

    A cluster ends where every system so far is significantly better than every system after it, as
    in the tables of the WMT shared tasks (Kocmi et al., 2022).

    Examples
    --------
    >>> better = np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]], bool)
    >>> clusters(better, np.arange(3)).tolist()
    [1, 1, 2]
    """
    sorted_ = better[np.ix_(order, order)]
    found = np.empty(len(order), dtype=np.int64)
    number = 1
    for place, system in enumerate(order):
        if place and np.all(sorted_[:place, place:]):
            number += 1
        found[system] = number
    return found


def probability_first(replicates: Floats, higher_is_better: bool = True) -> Floats:
    """Return in which share of the resamples each system scores best, `(B, S) -> (S,)`.

    Systems that tie share a resample. The shares add up to 1.
    """
    values = replicates if higher_is_better else -replicates
    best = values == np.max(values, axis=1, keepdims=True)
    return np.asarray(np.mean(best / best.sum(axis=1, keepdims=True), axis=0))


def autorank(scores: Floats, higher_is_better: NDArray[np.bool_]) -> Floats:
    """Return AutoRank, `(..., S, M) -> (..., S)`; 1 is the best and S the worst.

    WMT25's composite (Kocmi et al., 2025): each metric's scores less their median, over the
    distance of their best from their quartile towards the worst; the mean over metrics; mapped
    linearly so that the best system has 1 and the worst has S. A metric under which those do not
    differ says nothing and adds 0.
    """
    values = np.where(higher_is_better, scores, -scores)
    median = np.median(values, axis=-2, keepdims=True)
    low = np.quantile(values, 0.25, axis=-2, keepdims=True)
    spread = np.max(values, axis=-2, keepdims=True) - low
    scaled = np.divide(values - median, spread, where=spread > 0, out=np.zeros(values.shape))
    mean = np.mean(scaled, axis=-1)
    best, worst = (f(mean, axis=-1, keepdims=True) for f in (np.max, np.min))
    share = np.divide(best - mean, best - worst, where=best > worst, out=np.zeros(mean.shape))
    return np.asarray(1 + (mean.shape[-1] - 1) * share)


def borda(scores: Floats, higher_is_better: NDArray[np.bool_]) -> Floats:
    """Return the mean rank over the metrics, `(..., S, M) -> (..., S)`; 1 is the best there is.

    Borda's count but for the scale: the number of systems less the mean rank.
    """
    values = np.where(higher_is_better, scores, -scores)
    return np.asarray(np.mean(ranks(np.moveaxis(values, -1, -2)), axis=-2))
