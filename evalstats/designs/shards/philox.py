"""Philox4x32-10: random words that are a function of a counter and a key, and of nothing else.

A counter-based generator (Salmon, Moraes, Dror and Shaw, 2011, "Parallel random numbers: as easy as
1, 2, 3") encrypts a counter, and any of its numbers can be had at once, anywhere, in any order. Ten
rounds of multiplication and exclusive or pass every test of TestU01's BigCrush.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

#: Words are 32-bit numbers in 64-bit arrays, which hold their products whole.
Words: TypeAlias = NDArray[np.uint64]
Key: TypeAlias = tuple[int, int]

_MULTIPLIERS = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
#: Added to the key after each round: the golden ratio and √3 - 1, in units of 2**-32.
_KEY_STEPS = (0x9E3779B9, 0xBB67AE85)
_HALF, _LOW = np.uint64(32), np.uint64(0xFFFFFFFF)


def seed_key(seed: int) -> Key:
    """Return the key that a seed of any size stands for, two 32-bit words."""
    first, second = np.random.SeedSequence(seed).generate_state(2, np.uint32)
    return int(first), int(second)


def philox4x32(
    counter: tuple[ArrayLike, ArrayLike, ArrayLike, ArrayLike], key: Key
) -> tuple[Words, Words, Words, Words]:
    """Encrypt counters: four words each in, four random words each out, all in [0, 2**32).

    The counters' words may be arrays of shapes that broadcast. The first known answer of the
    authors' own tests:

    >>> [f"{int(word):08x}" for word in philox4x32((0, 0, 0, 0), (0, 0))]
    ['6627e8d5', 'e169c58d', 'bc57ac4c', '9b00dbd8']
    """
    words = np.broadcast_arrays(*counter)
    a, b, c, d = (np.array(word, dtype=np.uint64) for word in words)
    high = np.empty_like(a)
    keys = list(key)
    # Ten passes over each array a round, in place. The low halves of b and d are all that counts
    # between rounds; what is above them is cut off where it would reach a product.
    for _ in range(10):
        a *= _MULTIPLIERS[0]
        c *= _MULTIPLIERS[1]
        for product, word, k in ((c, b, keys[0]), (a, d, keys[1])):
            np.right_shift(product, _HALF, out=high)
            word ^= high
            word ^= np.uint64(k)
            word &= _LOW
        a, b, c, d = b, c, d, a
        keys = [(k + step) & 0xFFFFFFFF for k, step in zip(keys, _KEY_STEPS, strict=True)]
    b &= _LOW
    d &= _LOW
    return a, b, c, d
