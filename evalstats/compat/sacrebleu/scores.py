"""sacreBLEU's scores of many totals at once, to the last bit.

sacreBLEU counts `difference > observed`, in its bootstrap in float32. Rounding decides ties, so its
p-values are reproduced only by its own operations in its order and dtype: float32 totals for the
bootstrap, whole numbers for randomisation.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalstats.compat.sacrebleu.twins import kind_of

Array = NDArray[Any]


def scores_of_totals(metric: Any, totals: Array) -> Array:
    """Score totals as `metric`, an object of sacreBLEU, does one by one, `(B, k) -> (B,)`.

    Rows in which nothing is zero are scored together, in sacreBLEU's dtype, the others by it.
    """
    together = {"BLEU": _bleu, "CHRF": _chrf, "TER": _ter}.get(kind_of(metric) or "")
    if together is None:
        return _one_by_one(metric, totals)
    ordinary = np.all(totals > 0, axis=1)
    if np.all(ordinary):
        return together(metric, totals)
    special = _one_by_one(metric, totals[~ordinary])
    found = together(metric, totals[ordinary])
    dtype = np.result_type(found, special) if len(found) else special.dtype
    scores = np.empty(len(totals), dtype=dtype)
    scores[ordinary], scores[~ordinary] = found, special
    return scores


def _one_by_one(metric: Any, totals: Array) -> Array:
    # Copies, since add-k smoothing changes what it is given.
    return np.array([metric._compute_score_from_stats(row.copy()).score for row in totals])


def _bleu(metric: Any, totals: Array) -> Array:
    order = metric.max_ngram_order
    correct, total = totals[:, 2 : 2 + order].copy(), totals[:, 2 + order :].copy()
    if metric.smooth_method == "add-k":
        k = 1 if metric.smooth_value is None else metric.smooth_value
        # Into the array that there is: sacreBLEU loses the fraction of k in whole numbers too.
        for counts in (correct, total):
            counts[:, 1:] = counts[:, 1:] + k
    precisions = 100.0 * correct / total
    logs = _by_one(math.log, precisions.reshape(-1)).reshape(-1, order)
    # Python's own sum, which from 3.12 on carries the rounding error of the addition before.
    mean = _by_one(sum, logs) / order
    lengths = totals[:, :2].astype(np.float64)
    short = lengths[:, 0] < lengths[:, 1]
    penalty = np.ones(len(totals))
    penalty[short] = _by_one(math.exp, 1 - lengths[short, 1] / lengths[short, 0])
    return np.asarray(penalty * _by_one(math.exp, mean))


def _by_one(function: Any, values: Array) -> NDArray[np.float64]:
    """Apply a function of Python's: NumPy's logarithm differs in the last bit, at times."""
    return np.fromiter(map(function, values.tolist()), np.float64, len(values))


def _chrf(metric: Any, totals: Array) -> Array:
    orders, factor = range(metric.order), metric.beta**2
    precision = totals[:, 2::3] / totals[:, 0::3]
    recall = totals[:, 2::3] / totals[:, 1::3]
    if metric.eps_smoothing:
        denominator = factor * precision + recall
        f_scores = (1 + factor) * precision * recall / denominator
        return np.asarray(100 * sum(f_scores[:, n] for n in orders) / metric.order)
    p, r = (sum(part[:, n] for n in orders) / metric.order for part in (precision, recall))
    score = (1 + factor) * p * r
    score /= factor * p + r
    return np.asarray(100 * score)


def _ter(metric: Any, totals: Array) -> Array:
    return np.asarray(100 * (totals[:, 0] / totals[:, 1]))
