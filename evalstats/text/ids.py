"""One integer for equal tokens, shared by hypotheses and references.

The V distinct tokens of the references are numbered 1 to V; every other token of a hypothesis gets
V + 1. Such tokens match nothing and statistics need only their number, so the vocabulary does not
grow with the hypotheses and serves every system. The ids are exact: nothing is hashed to them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import count, repeat
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evalstats.text.characters import UNICODE
from evalstats.text.ragged import Ragged, concatenate
from evalstats.text.references import References
from evalstats.text.tokenization import Tokens


class Vocabulary(NamedTuple):
    """The tokens of the references.

    Attributes
    ----------
    words : dict
        The W tokens that are not single characters, numbered -1, -2, ...
    ids : int32 array
        ``ids[W + c]`` is the id of word number c < 0, or of the character with code point c; the
        last entry is that of every unknown token.
    """

    words: dict[str, int]
    ids: NDArray[np.int32]


def shared_ids(
    refs: References,
    texts: Sequence[str],
    tokenize: Callable[..., Iterable[Tokens]],
    *options: Hashable,
) -> tuple[Ragged, Ragged]:
    """Return the token ids of N hypotheses and of all R references.

    ``tokenize(texts, *options)`` yields the tokens of all texts in blocks, as
    `tokenization.tokenize_blocks` does. Those of the references are computed at the first call
    with the same `tokenize` and `options`, and kept in `refs`.
    """
    ids, vocabulary = refs.prepared(
        ("ids", tokenize, *options), lambda refs: learn_ids(tokenize(refs.texts, *options))
    )
    return look_up_ids(tokenize(texts, *options), vocabulary), ids


def learn_ids(blocks: Iterable[Tokens]) -> tuple[Ragged, Vocabulary]:
    """Return the ids of references, and the vocabulary to look up those of hypotheses with."""
    growing: defaultdict[str, int] = defaultdict(count(-1, -1).__next__)
    # The dictionary's own look-up numbers a new word without leaving C.
    found = _numbers(blocks, lambda words: map(growing.__getitem__, words))
    places = found.values + len(growing)
    present = np.zeros(int(places.max(initial=0)) + 2, dtype=np.bool_)
    present[places] = True
    known = np.flatnonzero(present)
    ids = np.full(len(present), len(known) + 1, dtype=np.int32)
    ids[known] = np.arange(1, len(known) + 1)
    return Ragged(ids[places], found.offsets), Vocabulary(dict(growing), ids)


def look_up_ids(blocks: Iterable[Tokens], vocabulary: Vocabulary) -> Ragged:
    """Return the ids of hypotheses; all tokens that no reference has share one."""
    words, ids = vocabulary
    found = _numbers(blocks, lambda tokens: map(words.get, tokens, repeat(UNICODE)))
    # Code points beyond those of the references clip to the last entry, and unknown words do.
    return Ragged(ids.take(found.values + len(words), mode="clip"), found.offsets)


def _numbers(
    blocks: Iterable[Tokens], number: Callable[[list[str]], Iterable[int | None]]
) -> Ragged:
    """Return the code point of every token of one character, and the number of every other."""

    def of_block(tokens: Tokens) -> Ragged:
        if not tokens.words:
            return Ragged(tokens.characters, tokens.offsets)
        numbers = tokens.characters.copy()
        longer = np.flatnonzero(numbers < 0)
        numbers[longer] = np.fromiter(number(tokens.words), dtype=np.int32, count=len(longer))
        return Ragged(numbers, tokens.offsets)

    return concatenate([of_block(tokens) for tokens in blocks])
