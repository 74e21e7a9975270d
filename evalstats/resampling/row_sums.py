"""Sums of rows of counts, up to eight at a time.

Counts are bytes. Words of four or eight of them, added as integers, add the bytes in each place, as
long as no place goes beyond 255: so few words are added at once that random counts of a mean of at
most 1 never do.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Words added at once, at most. That so many Poisson counts of mean 1 sum to more than 255, has a
#: probability below 10^-47.
_MOST_WORDS = 85
#: Rows shorter than these are made of smaller words, which leave less room, or of single bytes.
_SHORT_ROW, _SHORTEST_ROW = 400, 32


@lru_cache(maxsize=256)
def _words(n_counts: int) -> tuple[type, int, int]:
    """Return the type of a word, how many groups of them a row has, and words in a group."""
    word: type = np.uint32 if n_counts < _SHORT_ROW else np.uint64
    if n_counts < _SHORTEST_ROW:
        word = np.uint8
    n_words = -(-n_counts // np.dtype(word).itemsize)
    n_groups = -(-n_words // _MOST_WORDS)
    return word, n_groups, -(-n_words // n_groups)


def row_width(n_counts: int) -> int:
    """Return the length of a row with room for so many counts: three more, or 2.3 %, at most.

    Examples
    --------
    >>> row_width(2037)
    2040
    """
    word, n_groups, length = _words(n_counts)
    return np.dtype(word).itemsize * n_groups * length


def row_sums(counts: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Sum the counts of each row, which has the length that `row_width` says.

    Parameters
    ----------
    counts : ndarray of uint8, shape (B, W), C-contiguous
        Poisson, of a mean of at most 1, and zeros.

    Returns
    -------
    ndarray of int64, shape (B,)

    Examples
    --------
    >>> row_sums(np.ones((2, row_width(2037)), dtype=np.uint8))
    array([2040, 2040])
    """
    word, n_groups, length = _words(counts.shape[1])
    words: NDArray[Any] = counts.view(word).reshape(len(counts), n_groups, length)
    places = np.einsum("bgw->bg", words).view(np.uint8)
    # The narrowest accumulator that holds the sum is the fastest.
    narrow = np.uint16 if 255 * places.shape[1] < 1 << 16 else np.uint32
    sums: NDArray[Any] = np.einsum("bp->b", places, dtype=narrow)
    return sums.astype(np.int64)
