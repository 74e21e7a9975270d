"""What verdicts on all pairs say of ranks: intervals, letters, clusters.

``better[i, j]`` says that system i is significantly better than system j.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Verdicts = NDArray[np.bool_]


def ranks(scores: ArrayLike, higher_is_better: bool = True) -> Floats:
    """Return ranks along the last axis, 1 the best; systems that tie share the mean rank.

    >>> ranks([30.0, 42.0, 30.0, 25.0]).tolist()
    [2.5, 1.0, 2.5, 4.0]
    """
    values = np.asarray(scores, dtype=np.float64)
    values = -values if higher_is_better else values
    places = np.empty(values.shape)
    for i in range(values.shape[-1]):
        score = values[..., i, None]
        before, level = (np.count_nonzero(x, axis=-1) for x in (values < score, values == score))
        places[..., i] = before + (level + 1) / 2
    return places


def rank_intervals(better: Verdicts) -> NDArray[np.int64]:
    """Return the best and the worst rank that each system may have, `(S, S) -> (S, 2)`.

    A system ranks behind all that are significantly better and before all that are significantly
    worse (Mogstad, Romano, Shaikh and Wilhelm, 2024, "Inference for Ranks", Review of Economic
    Studies 91): with the probability with which no verdict is false.

    >>> rank_intervals(np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]], bool)).tolist()
    [[1, 2], [1, 2], [3, 3]]
    """
    ahead, behind = better.sum(axis=0), better.sum(axis=1)
    return np.stack([1 + ahead, len(better) - behind], axis=1).astype(np.int64)


def letters(better: Verdicts, order: NDArray[np.intp]) -> list[str]:
    """Return the compact letter display: two systems share a letter where neither is better.

    Insert and absorb (Piepho, 2004, Journal of Computational and Graphical Statistics 13). The
    letter a is that of the first system in `order`; after z come a1, b1 and so on.

    >>> better = np.array([[0, 0, 1], [0, 0, 0], [0, 0, 0]], bool)
    >>> letters(better, np.arange(3))
    ['a', 'ab', 'b']
    """
    columns = [frozenset(range(len(better)))]
    for pair in np.argwhere(np.triu(better | better.T)).tolist():
        kept = [c for c in columns if not c.issuperset(pair)]
        # No column lies in another, so that a part of one can only lie in one that is kept.
        parts = [c - {x} for c in columns if c.issuperset(pair) for x in pair]
        columns = kept + [part for part in parts if not any(part <= c for c in kept)]
    places = np.argsort(order)
    columns.sort(key=lambda column: sorted(places[list(column)]))
    names = [chr(ord("a") + i % 26) + str(i // 26 or "") for i in range(len(columns))]
    return [
        "".join(name for name, column in zip(names, columns, strict=True) if system in column)
        for system in range(len(better))
    ]


def clusters(better: Verdicts, order: NDArray[np.intp]) -> NDArray[np.int64]:
    """Return the cluster of each system, 1 the best, `(S,)`.

    A cluster ends where every system so far is significantly better than every system after it.
    """
    return _divided(better, order, lambda above, place: bool(np.all(above[:place, place:])))


def wmt_clusters(
    marks: Sequence[Floats], order: NDArray[np.intp], scores: Floats, how: str
) -> NDArray[np.int64]:
    """Return the cluster of each system as WMT's scripts do, 1 the best, `(S,)`.

    `marks` are the scores of the segments of each system, NaN where one is missing, of which more
    are better, as of `scores`, their means.

    "wmt" follows `make_rankings.py` of WMT22 (unmatched segments; those of direct assessments): a
    system of a higher score wins by a rank-sum test (p < .05), and a cluster ends where each system
    so far has won as often as systems remain. "wmt25" follows `08-compute_clusters.py` of WMT25,
    where that has one score a segment (MQM): signed-rank tests of the segments that both have
    (p < .05/2). The ranks of a system end at the nearest system above that is better, and the
    nearest below that is worse; a cluster ends where no ranks reach over its end.
    """
    from scipy import stats

    better = np.zeros((len(order), len(order)), dtype=np.bool_)
    for i, j in combinations(order.tolist(), 2):
        a, b = marks[i], marks[j]
        if how == "wmt25":
            apart = (a - b)[~np.isnan(a - b)]
            # Of two systems that are alike everywhere nothing is to be ranked.
            better[i, j] = bool(np.any(apart)) and (
                stats.wilcoxon(apart, alternative="greater").pvalue < 0.05 / 2
            )
        elif scores[i] > scores[j]:
            a, b = a[~np.isnan(a)], b[~np.isnan(b)]
            better[i, j] = stats.mannwhitneyu(a, b, alternative="greater").pvalue < 0.05
    return _divided(better, order, _nobody_reaches if how == "wmt25" else _all_won)


def _all_won(better: Verdicts, place: int) -> bool:
    """Say whether each of the first systems has won at least as often as there are others."""
    return bool(np.min(better.sum(axis=1)[:place]) >= len(better) - place)


def _nobody_reaches(better: Verdicts, place: int) -> bool:
    """Say whether no system's ranks reach over this place, up to the nearest that differ."""
    above = all(np.any(row[i + 1 : place + 1]) for i, row in enumerate(better[:place]))
    below = (better[place - 1 : i, i] for i in range(place, len(better)))
    return above and all(map(np.any, below))


def _divided(
    better: Verdicts, order: NDArray[np.intp], ends: Callable[[Verdicts, int], bool]
) -> NDArray[np.int64]:
    """Return the cluster of each system; `ends` says of verdicts in order whether one ends."""
    in_order = better[np.ix_(order, order)]
    begins = [place > 0 and ends(in_order, place) for place in range(len(order))]
    return np.asarray(1 + np.cumsum(begins)[np.argsort(order)])


def probability_first(replicates: Floats, higher_is_better: bool = True) -> Floats:
    """Return in which share of the resamples each system scores best, `(B, S) -> (S,)`.

    Systems that tie share a resample. The shares add up to 1.
    """
    values = replicates if higher_is_better else -replicates
    best = values == np.max(values, axis=1, keepdims=True)
    return np.asarray(np.mean(best / best.sum(axis=1, keepdims=True), axis=0))
