"""What Inspect makes of several answers to an item beside their mean: its reducers, by name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from math import comb, nan
from statistics import median

import numpy as np
from numpy.typing import NDArray

from evalstats.logs.rows import Items
from evalstats.metrics import pass_at_k

#: What makes one score of those of the answers to an item, in the order of their epochs; NaN where
#: they are too few.
Reducer = Callable[[list[float]], float]

#: What counts as right where answers are counted, as in Inspect.
_RIGHT = 1.0
_COUNTING = re.compile(r"(at_least|pass_at|pass_k)_([1-9]\d*)")


def reducer_of(name: object) -> Reducer | None:
    """Return the reducer that a log names, such as "pass_at_2"; None where it is not known."""
    known: dict[object, Reducer] = {"median": median, "mode": _mode, "max": max}
    if name in known:
        return known[name]
    match = _COUNTING.fullmatch(name) if isinstance(name, str) else None
    if match is None:
        return None
    kind, k = match[1], int(match[2])

    def counted(scores: list[float]) -> float:
        n, right = len(scores), sum(score >= _RIGHT for score in scores)
        if kind == "at_least":
            return float(right >= k)
        if n < k:
            return nan
        return (
            float(pass_at_k(n, right, k)[0]) if kind == "pass_at" else comb(right, k) / comb(n, k)
        )

    return counted


def _mode(scores: list[float]) -> float:
    """Return the score that occurs most often, of several the first."""
    return Counter(scores).most_common(1)[0][0]


def reduced(
    items: Items, values: NDArray[np.float64], reducer: Reducer
) -> tuple[Items, NDArray[np.float64]]:
    """Return items with one score each, `(n, 2) -> (N, 2)`, from those of all answers to them.

    An item without any score is missing where one of its answers is, and else was not scored.
    """
    first = [i for i, name in enumerate(items.ids) if i == 0 or name != items.ids[i - 1]]
    rows = np.zeros((len(first), 2))
    for row, answers in zip(rows, np.split(values, first[1:]), strict=True):
        scores = answers[answers[:, 1] == 1, 0].tolist()
        score = reducer(scores) if scores else nan
        if score == score:
            row[:] = score, 1.0
        elif np.isnan(answers).any() and not scores:
            row[:] = nan
    return items.at(first), rows
