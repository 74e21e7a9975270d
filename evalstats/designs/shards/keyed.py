"""Poisson weights that are a function of a key: the seed, a segment's id, a resample's number.

A shard can be resampled where it lives, in any order, since no weight depends on another segment.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evalstats.designs.shards.philox import philox4x32, seed_key
from evalstats.resampling.streams import LEFT_OVER, byte_table

#: Resamples that one block of Philox, 16 bytes, serves.
GROUP = 16
#: The last word of the counter: what the random words are for.
_BYTES, _SECOND = 0, 1


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
