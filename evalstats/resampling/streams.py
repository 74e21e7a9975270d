"""Random streams: each batch of rows has one of its own, all of them from one seed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def generator(seed: int, key: tuple[int, ...], number: int) -> np.random.Generator:
    """Return a generator at the beginning of a stream: the number-th of what a key draws.

    Streams are those of NumPy: `SeedSequence(seed, spawn_key=(*key, number))` seeds PCG64.

    >>> generator(1, (0,), 5).random() == generator(1, (0,), 5).random()
    True
    >>> generator(1, (0,), 5).random() == generator(1, (0,), 6).random()
    False
    """
    words = np.random.SeedSequence(seed, spawn_key=(*key, number))
    return np.random.Generator(np.random.PCG64(words))


def random_words(rng: np.random.Generator, size: int) -> NDArray[np.uint64]:
    """Draw 64 random bits each, which is what PCG64 returns at every step."""
    words: NDArray[np.uint64] = rng.bit_generator.random_raw(size)
    return words


def random_bytes(rng: np.random.Generator, size: int) -> NDArray[np.uint8]:
    """Draw random bytes, the same on machines of either byte order."""
    words = random_words(rng, -(-size // 8))
    return words.astype("<u8", copy=False).view(np.uint8)[:size]
