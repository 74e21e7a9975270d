"""Segments that are tokenised already: sequences of words, subwords, phones, any objects.

Two tokens are the same where ``==`` says so. Tokens with a hash become integers first, so that
edit distances of a whole corpus are counted at once; segments with tokens that have none (lists,
objects that define ``__eq__`` alone) or that differ from themselves (NaN) are compared token by
token.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sized
from itertools import chain, count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalstats.errors import InputError
from evalstats.metrics.texts import listed


def token_edits(
    hypotheses: Iterable[Iterable[Any]], references: Iterable[Iterable[Any]]
) -> NDArray[np.int64]:
    """Return edits and reference length of every segment, `(N, 2)`: the statistics of a rate.

    Edits are the fewest insertions, deletions and substitutions of tokens (Levenshtein, 1966).
    With `Ratio` they give an error rate over tokens of any kind, in `estimate` and `compare` too.

    Parameters
    ----------
    hypotheses, references : iterable of iterables
        One sequence of tokens per segment, of any type, compared by ``==``; equal tokens must have
        equal hashes, as Python demands.

    Returns
    -------
    ndarray of int64, shape (N, 2)
        Edits, and tokens of the reference.

    Raises
    ------
    InputError
        For differing lengths.
    InputTypeError
        For a bare string where a sequence of tokens is expected.

    Examples
    --------
    >>> rows = token_edits([["h", "ə", "l", "əʊ"]], [["h", "ɛ", "l", "əʊ"]])
    >>> rows.tolist()
    [[1, 4]]
    >>> from evalstats import Ratio
    >>> print(Ratio("phone error rate", higher_is_better=False).score(rows.sum(axis=0)))
    0.25
    """
    hyps, refs = token_segments(hypotheses, "hypotheses"), token_segments(references, "references")
    check_same_length(references=refs, hypotheses=hyps)
    from evalstats.metrics.alignment import edit_table
    from evalstats.metrics.edits import levenshtein
    from evalstats.metrics.ragged import Ragged, offsets_of

    rows = np.zeros((len(refs), 2), dtype=np.int64)
    rows[:, 1] = [len(tokens) for tokens in refs]
    numbers, exceptions = _numbers(hyps, refs)
    alike = np.array([i for i in range(len(refs)) if i not in exceptions], dtype=np.int64)
    if len(alike):
        packed = [
            Ragged(
                np.fromiter(chain.from_iterable(side[i] for i in alike), dtype=np.int64),
                offsets_of(np.array([len(side[i]) for i in alike])),
            )
            for side in numbers
        ]
        rows[alike, 0] = levenshtein(*packed)
    for i in exceptions:
        rows[i, 0] = edit_table(_compared(hyps[i], refs[i]))[-1, -1]
    return rows


def token_segments(value: object, name: str) -> list[list[Any]]:
    """Return sequences of tokens as lists, refusing bare strings."""
    return [
        listed(tokens, f"{name}[{i}]", "tokens")
        for i, tokens in enumerate(listed(value, name, "token sequences"))
    ]


def check_same_length(**lists: Sized) -> None:
    """Refuse lists of different lengths, with all of these in the message."""
    lengths = [len(entries) for entries in lists.values()]
    if len(set(lengths)) > 1:
        raise InputError(
            f"{', '.join(lists)} must be the same length, got {', '.join(map(str, lengths))}"
        )


def matches(hypothesis: list[Any], reference: list[Any]) -> NDArray[np.bool_]:
    """Return which tokens of two sequences are the same, `(H, R)`."""
    (hyp, ref), exceptions = _numbers([hypothesis], [reference])
    if exceptions:
        return _compared(hypothesis, reference)
    return np.equal.outer(np.array(hyp[0], dtype=np.int64), np.array(ref[0], dtype=np.int64))


def _compared(hypothesis: list[Any], reference: list[Any]) -> NDArray[np.bool_]:
    """Return the same by ``==`` for every pair of tokens."""
    same = [[bool(r == h) for r in reference] for h in hypothesis]
    return np.array(same, dtype=np.bool_).reshape(len(hypothesis), len(reference))


def _numbers(*sides: list[list[Any]]) -> tuple[list[list[list[int]]], set[int]]:
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
