"""Poisson weights that are a function of a key: the seed, a segment's id, a resample's number.

A shard can be resampled where it lives, in any order, since no weight depends on another segment.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from evalstats.resampling.poisson import LEFT_OVER, byte_table
from evalstats.shards.philox import Key, Words, philox4x32, seed_key

#: Resamples that one block of Philox, 16 bytes, serves.
_GROUP = 16
#: The last word of the counter: what the random words are for.
_BYTES, _SECOND = 0, 1
#: Groups and segments drawn at once; they decide the memory (2 MB) and never a result.
_BLOCK_GROUPS = 16
_BLOCK_SEGMENTS = 1024


def poisson_weights(ids: NDArray[np.uint64], n_resamples: int, seed: int) -> NDArray[np.uint8]:
    """Draw Poisson(1) weights of segments by their ids, `(n,) -> (B, n)`, B below 2**32.

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
    weights = np.empty((n_resamples, len(ids)), dtype=np.uint8)
    for segments, rows, block in poisson_blocks(ids, n_resamples, seed):
        weights[rows, segments] = block
    return weights


def poisson_blocks(
    ids: NDArray[np.uint64], n_resamples: int, seed: int
) -> Iterator[tuple[slice, slice, NDArray[np.uint8]]]:
    """Yield `poisson_weights` block by block: which segments, which resamples, weights `(b, n)`.

    All resamples of some segments come before the next segments. A block is overwritten by the
    one that follows it.
    """
    key = seed_key(seed)
    work = np.empty(5 * _BLOCK_SEGMENTS * _BLOCK_GROUPS, dtype=np.uint64)
    n_groups = -(-n_resamples // _GROUP)
    for first in range(0, len(ids), _BLOCK_SEGMENTS):
        segments = slice(first, min(first + _BLOCK_SEGMENTS, len(ids)))
        for group in range(0, n_groups, _BLOCK_GROUPS):
            groups = np.arange(group, min(group + _BLOCK_GROUPS, n_groups), dtype=np.uint64)
            block = _block(ids[segments], groups, key, work)
            rows = slice(group * _GROUP, min(group * _GROUP + len(block), n_resamples))
            yield segments, rows, block[: rows.stop - rows.start]


def _block(
    ids: NDArray[np.uint64], groups: NDArray[np.uint64], key: Key, work: Words
) -> NDArray[np.uint8]:
    """Return the weights of n segments in 16 G resamples, `(16 G, n)`."""
    low, high = ids & np.uint64(0xFFFFFFFF), ids >> np.uint64(32)
    counter = (low[:, None], high[:, None], groups, _BYTES)
    words = philox4x32(counter, key, _shaped(work, (len(ids), len(groups))))
    little = np.empty((len(ids), len(groups), 4), dtype="<u4")
    for i, word in enumerate(words):
        little[..., i] = word
    table = byte_table(1.0)
    # `translate` looks a byte up three times as fast as NumPy's indexing does.
    drawn = bytearray(little.data).translate(table.counts)
    counts = np.frombuffer(drawn, dtype=np.uint8)
    left_over = np.flatnonzero(counts == LEFT_OVER)
    segment, column = np.divmod(left_over, _GROUP * len(groups))
    resample = column.astype(np.uint64) + groups[0] * np.uint64(_GROUP)
    again = (low[segment], high[segment], resample, _SECOND)
    first, second, _, _ = philox4x32(again, key, _shaped(work, (len(segment),)))
    counts[left_over] = table.left_over(first | (second << np.uint64(32)))
    return np.asarray(counts.reshape(len(ids), -1).T)


def _shaped(work: Words, shape: tuple[int, ...]) -> Words:
    """Return the first part of the memory as five arrays of a shape, without gaps."""
    size = 5 * math.prod(shape)
    # Small blocks may by chance have more bytes left over than their memory was meant for.
    memory = work[:size] if size <= len(work) else np.empty(size, dtype=np.uint64)
    return memory.reshape(5, *shape)
