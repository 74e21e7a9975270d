"""BLEU's statistics of text that comes as token lists: all segments at once, or one by hand.

Tokens may be anything hashable; equal tokens match. `corpus_statistics` uses the arrays of `BLEU`;
`segment_statistics` counts with dictionaries, which is faster where there is one segment only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalstats.errors import InputError, InputTypeError
from evalstats.text.ids import learn_ids, look_up_ids
from evalstats.text.ngrams import PreparedReferences, bleu_statistics
from evalstats.text.tokenization import from_lists

TokenList = Sequence[Hashable]


def clipped_counts(
    hypothesis: TokenList, references: Sequence[TokenList], n: int
) -> tuple[int, int]:
    """Count the n-grams of a hypothesis: those that match, clipped, and all of them.

    An n-gram matches at most as often as in the reference that has it most often.
    """
    counts = _ngrams(hypothesis, n)
    most: Counter[Any] = Counter()
    for reference in references:
        most |= _ngrams(reference, n)
    return (counts & most).total(), max(len(hypothesis) - n + 1, 0)


def _ngrams(tokens: TokenList, n: int) -> Counter[tuple[Hashable, ...]]:
    return Counter(zip(*(tokens[i:] for i in range(n)), strict=False))


def closest_length(references: Sequence[TokenList], length: int) -> int:
    """Return the reference length closest to `length`, the shorter of two equally close."""
    return min((abs(len(reference) - length), len(reference)) for reference in references)[1]


def segment_statistics(
    hypothesis: TokenList, references: Sequence[TokenList], order: int
) -> NDArray[np.int64]:
    """Count one segment, `(2·order + 2,)` in the layout of `BLEU`."""
    counts = [clipped_counts(hypothesis, references, n) for n in range(1, order + 1)]
    correct, total = zip(*counts, strict=True)
    lengths = len(hypothesis), closest_length(references, len(hypothesis))
    return np.array([*lengths, *correct, *total], dtype=np.int64)


def corpus_statistics(
    hypotheses: Sequence[TokenList], references: Sequence[Sequence[TokenList]], order: int
) -> NDArray[np.int64]:
    """Count N segments at once, `(N, 2·order + 2)` in the layout of `BLEU`."""
    counts = np.fromiter(map(len, references), dtype=np.int64, count=len(references))
    ids, vocabulary = learn_ids([from_lists(chain.from_iterable(references))])
    owner = np.repeat(np.arange(len(references)), counts)
    prepared = PreparedReferences(ids, owner, order, merged=True)
    return bleu_statistics(look_up_ids([from_lists(hypotheses)], vocabulary), prepared)


def as_token_list(value: object, name: str) -> TokenList:
    """Return a list of hashable tokens as it is; text that was not split is refused."""
    if isinstance(value, (str, bytes)):
        raise InputTypeError(
            f"{name} must be a list of tokens, got a bare {type(value).__name__}; "
            f"split it into words, or write list(text) for characters"
        )
    if not isinstance(value, (list, tuple)):
        raise InputTypeError(f"{name} must be a list of tokens, got {type(value).__name__}")
    try:
        set(value)
    except TypeError:
        bad = next(token for token in value if getattr(token, "__hash__", None) is None)
        raise InputTypeError(
            f"{name} must hold hashable tokens such as strings, got a {type(bad).__name__} in it"
        ) from None
    return value


def as_token_lists(value: object, name: str) -> list[TokenList]:
    """Return the references of one segment as token lists; one list of tokens is one reference."""
    if not isinstance(value, (list, tuple)):
        raise InputTypeError(
            f"{name} must be a list of token lists, since the hypothesis is a token list; "
            f"got {type(value).__name__}"
        )
    present = [entry for entry in value if entry is not None]
    if not present:
        raise InputError(f"{name} is {value!r}: the segment has no reference at all")
    if any(isinstance(entry, (list, tuple)) for entry in present):
        return [as_token_list(entry, f"{name}[{j}]") for j, entry in enumerate(present)]
    spaced = [token for token in present if isinstance(token, str) and len(token.split()) != 1]
    if spaced:
        raise InputTypeError(
            f"{name} holds {spaced[0]!r}, which is not one token, but the hypothesis is a token "
            f"list; split every reference into tokens"
        )
    return [as_token_list(present, name)]
