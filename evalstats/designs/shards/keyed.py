"""Poisson weights that are a function of a key: the seed, a segment's id, a resample's number.

A shard can be resampled where it lives, in any order, since no weight depends on another segment.
The words are Philox4x32-10's: a counter-based generator (Salmon, Moraes, Dror and Shaw, 2011,
"Parallel random numbers: as easy as 1, 2, 3") encrypts a counter, and any of its numbers can be had
at once, anywhere, in any order. Ten rounds of multiplication and exclusive or pass every test of
TestU01's BigCrush.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalstats.resampling.streams import LEFT_OVER, byte_table

#: Resamples that one block of Philox, 16 bytes, serves.
GROUP = 16
#: The last word of the counter: what the random words are for.
_BYTES, _SECOND = 0, 1
#: Words are 32-bit numbers in 64-bit arrays, which hold their products whole.
Words: TypeAlias = NDArray[np.uint64]
Key: TypeAlias = tuple[int, int]
_MULTIPLIERS = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
#: Added to the key after each round: the golden ratio and √3 - 1, in units of 2**-32.
_KEY_STEPS = (0x9E3779B9, 0xBB67AE85)
_HALF, _LOW = np.uint64(32), np.uint64(0xFFFFFFFF)


def poisson_weights(
    ids: NDArray[np.uint64], n_resamples: int, seed: int, first: int = 0
) -> NDArray[np.uint8]:
    """Draw Poisson(1) weights of segments by their ids, `(n,) -> (B, n)`.

    Of B resamples from the `first` on, a multiple of 16; all numbers of resamples are below 2**32.
    The weight of a segment in a resample is a function of the seed, the segment's id and the
    number of the resample, and of nothing else: neither of the other segments, nor of their
    order, nor of B. The counter of Philox is (id mod 2**32, id // 2**32, b // 16, 0), whose 16
    bytes, in little-endian order, serve 16 resamples; a byte left over is resolved by the first
    64 bits of the counter (id mod 2**32, id // 2**32, b, 1).

    >>> weights = poisson_weights(np.arange(5, dtype=np.uint64), 4, seed=12345)
    >>> alone = poisson_weights(np.array([3], dtype=np.uint64), 4, seed=12345)
    >>> weights.shape, np.array_equal(weights[:, 3], alone[:, 0])
    ((4, 5), True)
    """
    key, table = seed_key(seed), byte_table(1.0)
    low, high = ids & np.uint64(0xFFFFFFFF), ids >> np.uint64(32)
    groups = np.arange(first // GROUP, -(-(first + n_resamples) // GROUP), dtype=np.uint64)
    counter = (low[:, None], high[:, None], groups, _BYTES)
    little = np.empty((len(ids), len(groups), 4), dtype="<u4")
    for i, word in enumerate(philox4x32(counter, key)):
        little[..., i] = word
    # `translate` looks a byte up three times as fast as NumPy's indexing does.
    drawn = bytearray(little.data).translate(table.counts)
    counts = np.frombuffer(drawn, dtype=np.uint8)
    left_over = np.flatnonzero(counts == LEFT_OVER)
    segment, resample = np.divmod(left_over, GROUP * len(groups))
    again = (low[segment], high[segment], first + resample, _SECOND)
    bits, more, _, _ = philox4x32(again, key)
    counts[left_over] = table.left_over(bits | (more << np.uint64(32)))
    return np.asarray(counts.reshape(len(ids), -1).T[:n_resamples])


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
