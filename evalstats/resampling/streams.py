"""Random streams: one of its own for everything that is drawn by itself, all from one seed.

A seed and a few numbers that say what is drawn make a NumPy `SeedSequence`, whose words seed
generators. Hashing them takes longer than using them, while threads wait for the interpreter; so
the words of 64 streams are made at once.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Streams whose seeds are made together, and 64-bit words of a seed.
_GROUP = 64
_WORDS = 4


def generator(seed: int, key: tuple[int, ...], number: int) -> np.random.Generator:
    """Return a generator at the beginning of a stream. It can be neither pickled nor spawned from.

    Parameters
    ----------
    seed : int
        Of everything, at least 0.
    key : tuple of int
        What is drawn: one key for each use of random numbers.
    number : int
        Which stream of this key, at least 0.

    Examples
    --------
    >>> generator(1, (0,), 5).random() == generator(1, (0,), 5).random()
    True
    >>> generator(1, (0,), 5).random() == generator(1, (0,), 6).random()
    False
    """
    words = _words(seed, key, number // _GROUP)[number % _GROUP]
    return np.random.Generator(np.random.PCG64(_given()(words)))


@lru_cache(maxsize=64)
def _words(seed: int, key: tuple[int, ...], group: int) -> NDArray[np.uint64]:
    words = np.random.SeedSequence(seed, spawn_key=(*key, group))
    state: NDArray[Any] = words.generate_state(_GROUP * _WORDS, np.uint64)
    return state.reshape(_GROUP, _WORDS)


@lru_cache(maxsize=1)
def _given() -> type:
    """Return a class of seeds that are given as words."""

    # NumPy loads its random numbers at the first mention, and importing us should not.
    class Given(np.random.bit_generator.ISeedSequence):
        def __init__(self, words: Any) -> None:
            self._words = words

        def generate_state(self, n_words: int, dtype: Any = np.uint32) -> Any:
            """Return the words: PCG64 asks for four of 64 bits."""
            if (n_words, dtype) != (_WORDS, np.uint64):
                raise ValueError(f"these are {_WORDS} words of 64 bits, not {n_words} of {dtype}")
            return self._words

    return Given
