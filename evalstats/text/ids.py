"""Words as integer ids that hypotheses and references share.

A one-character token is its code point, a longer word is ``0x110000`` plus its number in a
dictionary. The ids are exact (no hashing), and opaque to what follows: equal ids, equal words.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import count, repeat

import numpy as np

from evalstats.text.characters import UNICODE, text_blocks
from evalstats.text.ragged import IntArray, Ragged, concatenate, offsets_of
from evalstats.text.tokenization import Tokens

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


#: Id of the mark that stands between two texts; words of `learn_words` start at 1.
_MARK_ID = 0


def learn_words(texts: Sequence[str], lowercase: bool) -> tuple[Ragged, Vocabulary]:
    """Give an id to every word between whitespace, in one pass over all texts at once.

    The texts are joined by a mark that no text contains, split by one `str.split`, and told apart
    by where the mark's id is. The space on either side of the mark ends words, and keeps
    `str.lower` from looking across (a final sigma depends on its neighbours).

    Returns
    -------
    ids : Ragged
    vocabulary : dict
        To read the hypotheses with; holds the mark.
    """
    blocks = list(text_blocks(texts))
    mark = "\0"
    while any(mark in "".join(block) for block in blocks):
        mark += "\0"
    growing: defaultdict[str, int] = defaultdict(count(1).__next__, {mark: _MARK_ID})
    parts = [
        _between_marks(map(growing.__getitem__, _joined_words(block, mark, lowercase)))
        for block in blocks
    ]
    return concatenate(parts), dict(growing)


def look_up_words(texts: Sequence[str], lowercase: bool, vocabulary: Vocabulary) -> Ragged:
    """Return the ids of words between whitespace; words that no reference has share one id."""
    mark = next(word for word, number in vocabulary.items() if number == _MARK_ID)
    parts = []
    for block in text_blocks(texts):
        if mark in "".join(block):
            parts.append(_line_by_line(block, lowercase, vocabulary))
        else:
            words = _joined_words(block, mark, lowercase)
            parts.append(_between_marks(map(vocabulary.get, words, repeat(len(vocabulary)))))
    return concatenate(parts)


def _joined_words(texts: Sequence[str], mark: str, lowercase: bool) -> list[str]:
    joined = f" {mark} ".join(texts)
    return (joined.lower() if lowercase else joined).split()


def _between_marks(numbers: Iterable[int | None]) -> Ragged:
    ids = np.fromiter(numbers, dtype=np.int32)
    marks = np.flatnonzero(ids == _MARK_ID)
    edges = np.concatenate(([0], marks - np.arange(len(marks)), [len(ids) - len(marks)]))
    return Ragged(ids[ids != _MARK_ID], edges)


def _line_by_line(texts: Sequence[str], lowercase: bool, vocabulary: Vocabulary) -> Ragged:
    """Look up words of texts that contain the mark; a word that is the mark is unknown."""
    lists = [(text.lower() if lowercase else text).split() for text in texts]
    offsets = offsets_of(np.fromiter(map(len, lists), dtype=np.int64, count=len(lists)))
    unknown = len(vocabulary)
    numbers = (vocabulary.get(word, unknown) or unknown for words in lists for word in words)
    return Ragged(np.fromiter(numbers, dtype=np.int32, count=int(offsets[-1])), offsets)
