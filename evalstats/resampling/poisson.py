"""Poisson counts from one random byte each, exactly.

Of the 256 values of a byte, each count k owns as many as fit into its probability p_k, which is
floor(256 p_k), the smaller counts the smaller values: a count is the number of edges that a byte
reaches. About 1.5 % of the values are left over. A byte that has one of these is replaced with a
draw from what the other values leave of the distribution, by 64 random bits: the number of
thresholds that they reach.

Probabilities are worked out in integers, so that no machine's exponential function has a say in
the counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from evalstats.resampling.streams import random_bytes, random_words

#: Counts beyond this are left out: their probability is below 10**-89 for a mean of at most 1.
LARGEST = 63
#: What `ByteTable.counts` has for a value that is left over.
LEFT_OVER = 255
#: Probabilities are multiples of 2**-192.
_ONE = 1 << 192
#: Counts drawn at a time: what is done with them stays within a core's own cache.
_BLOCK = 1 << 18


@dataclass(frozen=True)
class ByteTable:
    """What the 256 values of a byte stand for.

    Values from the k-th edge on mean a count of k or more, and those from `n_owned` on are left
    over; the thresholds are those of 64 random bits.
    """

    edges: tuple[int, ...]
    n_owned: int
    thresholds: NDArray[np.uint64]

    @property
    def counts(self) -> bytes:
        """Return the count of each of the 256 values, or `LEFT_OVER`."""
        counts = np.searchsorted(self.edges, np.arange(self.n_owned), side="right")
        return bytes(counts.tolist()).ljust(256, bytes([LEFT_OVER]))

    def left_over(self, bits: NDArray[np.uint64]) -> NDArray[np.uint8]:
        """Return the counts of bytes that are left over, by 64 random bits each."""
        return np.searchsorted(self.thresholds, bits, side="right").astype(np.uint8)


@lru_cache(maxsize=256)
def byte_table(mean: float) -> ByteTable:
    """Return how bytes map to Poisson counts of a mean in [0, 1].

    >>> byte_table(1.0).edges, byte_table(1.0).n_owned
    ((94, 188, 235, 250), 253)
    """
    numerator, denominator = mean.as_integer_ratio()
    # λ^k/k!, to which the probabilities are proportional.
    terms = [_ONE]
    for k in range(1, LARGEST + 1):
        terms.append(terms[-1] * numerator // (denominator * k))
    whole = sum(terms)
    owned = [256 * term // whole for term in terms]
    edges = list(accumulate(owned))
    n_edges = max(1, sum(n > 0 for n in owned) - 1)
    rest = thresholds([256 * term % whole for term in terms])
    return ByteTable(tuple(edges[:n_edges]), edges[-1], rest)


def thresholds(parts: list[int]) -> NDArray[np.uint64]:
    """Return how many 64-bit numbers mean at most 0, 1, 2, ..., in proportion to the parts."""
    # That of the last part is 2**64, which no 64 bits reach.
    last = max((k for k, part in enumerate(parts) if part), default=0)
    total = max(sum(parts), 1)
    return np.array([(s << 64) // total for s in accumulate(parts[:last])], dtype=np.uint64)


def poisson_counts(
    mean: float, rng: np.random.Generator, shape: tuple[int, ...]
) -> NDArray[np.uint8]:
    """Draw independent Poisson counts of a mean in [0, 1]."""
    table = byte_table(mean)
    counts = np.empty(shape, dtype=np.uint8)
    cells = counts.reshape(-1)
    for start in range(0, cells.size, _BLOCK):
        block = cells[start : start + _BLOCK]
        uniform = random_bytes(rng, block.size)
        np.greater_equal(uniform, table.edges[0], out=block.view(np.bool_))
        for edge in table.edges[1:]:
            block += uniform >= edge
        again = np.flatnonzero(uniform >= table.n_owned)
        block[again] = table.left_over(random_words(rng, len(again)))
    return counts
