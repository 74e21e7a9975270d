"""Segments that are tokenised already: sequences of words, subwords, phones, any objects.

Two tokens are the same where ``==`` says so. Tokens with a hash become integers first, so that
edit distances of a whole corpus are counted at once; segments with tokens that have none (lists,
objects that define ``__eq__`` alone) or that differ from themselves (NaN) are compared token by
token.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalstats.checks import listed
from evalstats.text.ids import learn_ids, look_up_ids
from evalstats.text.ragged import Ragged
from evalstats.text.tokenization import from_lists


def token_segments(value: object, name: str) -> list[list[Any]]:
    """Return sequences of tokens as lists, refusing bare strings."""
    return [
        listed(tokens, f"{name}[{i}]", "tokens")
        for i, tokens in enumerate(listed(value, name, "token sequences"))
    ]


def is_plain(tokens: list[Any]) -> bool:
    """Return whether integers can stand for the tokens: all have a hash and equal themselves."""
    try:
        return all(bool(token == token) for token in set(tokens))
    except TypeError:
        return False


def shared_numbers(hyps: list[list[Any]], refs: list[list[Any]]) -> tuple[Ragged, Ragged]:
    """Return the same number for equal tokens of segments that are plain."""
    ids, vocabulary = learn_ids([from_lists(refs)])
    return look_up_ids([from_lists(hyps)], vocabulary), ids


def matches(hypothesis: list[Any], reference: list[Any]) -> NDArray[np.bool_]:
    """Return which tokens of two sequences are the same, `(H, R)`."""
    if is_plain(hypothesis) and is_plain(reference):
        hyp, ref = shared_numbers([hypothesis], [reference])
        return np.equal.outer(hyp.values, ref.values)
    same = [[bool(r == h) for r in reference] for h in hypothesis]
    return np.array(same, dtype=np.bool_).reshape(len(hypothesis), len(reference))


def edit_table(same: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the edit distances of all pairs of prefixes, `(H, R) -> (H + 1, R + 1)`.

    Row by row. An insertion costs 1 per column, so that with the column number subtracted the best
    of all insertions is a running minimum.
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
