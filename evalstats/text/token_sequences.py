"""Segments that are tokenised already: sequences of words, subwords, phones, any objects.

Two tokens are the same where ``==`` says so. Tokens with a hash become integers first, so that
edit distances of a whole corpus are counted at once; segments with tokens that have none (lists,
objects that define ``__eq__`` alone) or that differ from themselves (NaN) are compared token by
token.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalstats.checks import listed


def token_segments(value: object, name: str) -> list[list[Any]]:
    """Return sequences of tokens as lists, refusing bare strings."""
    return [
        listed(tokens, f"{name}[{i}]", "tokens")
        for i, tokens in enumerate(listed(value, name, "token sequences"))
    ]


def matches(hypothesis: list[Any], reference: list[Any]) -> NDArray[np.bool_]:
    """Return which tokens of two sequences are the same, `(H, R)`."""
    (hyp, ref), exceptions = numbered([hypothesis], [reference])
    if exceptions:
        return compared_pairwise(hypothesis, reference)
    return np.equal.outer(np.array(hyp[0], dtype=np.int64), np.array(ref[0], dtype=np.int64))


def compared_pairwise(hypothesis: list[Any], reference: list[Any]) -> NDArray[np.bool_]:
    """Return the same by ``==`` for every pair of tokens."""
    same = [[bool(r == h) for r in reference] for h in hypothesis]
    return np.array(same, dtype=np.bool_).reshape(len(hypothesis), len(reference))


def numbered(*sides: list[list[Any]]) -> tuple[list[list[list[int]]], set[int]]:
    """Give equal tokens one number, and say in which segments numbers cannot stand for ``==``."""
    known: defaultdict[Hashable, int] = defaultdict(count().__next__)
    exceptions: set[int] = set()
    numbered = []
    for side in sides:
        segments = []
        for i, tokens in enumerate(side):
            try:
                segments.append([known[token] for token in tokens])
            except TypeError:
                exceptions.add(i)
                segments.append([])
        numbered.append(segments)
    odd = {number for token, number in known.items() if token != token}
    if odd:
        for segments in numbered:
            exceptions.update(i for i, ids in enumerate(segments) if not odd.isdisjoint(ids))
    return numbered, exceptions


def edit_table(same: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the edit distances of all pairs of prefixes, `(H, R) -> (H + 1, R + 1)`.

    Row by row. Insertions along a row are a running minimum: a token that costs one more for every
    step costs the same at every step once the number of steps is subtracted.
    """
    n_hyp, n_ref = same.shape
    steps = np.arange(n_ref + 1)
    table = np.empty((n_hyp + 1, n_ref + 1), dtype=np.int64)
    table[0] = steps
    for i in range(n_hyp):
        row = table[i] + 1
        np.minimum(row[1:], table[i, :-1] + ~same[i], out=row[1:])
        np.minimum.accumulate(row - steps, out=row)
        table[i + 1] = row + steps
    return table
