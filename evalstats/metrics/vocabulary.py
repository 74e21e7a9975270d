"""Words as integer ids that hypotheses and references share.

A one-character token is its code point, a longer word is ``0x110000`` plus its number in a
dictionary. The ids are exact (no hashing), and opaque to what follows: equal ids, equal words.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from itertools import count, repeat

import numpy as np

from evalstats.metrics.characters import UNICODE
from evalstats.metrics.ragged import IntArray, Ragged, concatenate
from evalstats.metrics.tokenization import Tokens

Vocabulary = dict[str, int]


def learn_ids(blocks: Iterable[Tokens]) -> tuple[Ragged, Vocabulary]:
    """Give an id to every word of the references, in one pass.

    Returns
    -------
    ids : Ragged
    vocabulary : dict
        To read the hypotheses with.
    """
    growing: defaultdict[str, int] = defaultdict(count(UNICODE).__next__)
    # The dictionary's own look-up numbers a new word without leaving C.
    ids = _ids(blocks, lambda words: map(growing.__getitem__, words))
    return ids, dict(growing)


def look_up_ids(blocks: Iterable[Tokens], vocabulary: Vocabulary) -> Ragged:
    """Return the ids of hypotheses; every word that no reference has gets one unused id.

    Such words match nothing and statistics need only their number, so the vocabulary need not
    grow and stays shared between systems.
    """
    unused = UNICODE + len(vocabulary)
    return _ids(blocks, lambda words: map(vocabulary.get, words, repeat(unused)))


def _ids(blocks: Iterable[Tokens], number: Callable[[list[str]], Iterable[int | None]]) -> Ragged:
    def of_block(tokens: Tokens) -> Ragged:
        ids: IntArray = tokens.characters.copy()
        longer = np.flatnonzero(ids < 0)
        ids[longer] = np.fromiter(number(tokens.words), dtype=np.int32, count=len(longer))
        return Ragged(ids, tokens.offsets)

    return concatenate([of_block(tokens) for tokens in blocks])
