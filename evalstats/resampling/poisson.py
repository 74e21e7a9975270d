"""Poisson counts from one random byte each, exactly.

Of the 256 values of a byte, each count k owns as many as fit into its probability p_k, which is
floor(256 p_k), the smaller counts the smaller values. So a count is the number of thresholds that
a byte reaches. About 1.5 % of the values are left over. A byte that has one of these is replaced
with a draw from what the other values leave of the distribution, by 64 random bits.

Probabilities are worked out in integers, so that no machine's exponential function has a say in
the counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

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
class Inversion:
    """A distribution on 0, 1, 2, ... by the inverse of its distribution function.

    Attributes
    ----------
    thresholds : ndarray of uint64
        64 random bits u mean the number of thresholds at or below u.
    """

    thresholds: NDArray[np.uint64]

    @classmethod
    def of(cls, parts: list[int]) -> Inversion:
        """Return the distribution that is proportional to the parts."""
        # The last threshold is 2**64, which no 64 bits reach.
        last = max((k for k, part in enumerate(parts) if part), default=0)
        cumulated = np.cumsum(np.array(parts, dtype=object)).tolist()
        exact = [(part << 64) // max(cumulated[-1], 1) for part in cumulated[:last]]
        return cls(np.array(exact, dtype=np.uint64))

    def counts(self, bits: NDArray[np.uint64]) -> NDArray[np.uint8]:
        """Return a number for each of some 64 random bits."""
        return np.searchsorted(self.thresholds, bits, side="right").astype(np.uint8)


@dataclass(frozen=True)
class ByteTable:
    """What the 256 values of a byte stand for.

    Attributes
    ----------
    edges : tuple of int
        Values from the k-th edge on mean a count of k or more, k = 1, 2, ...
    n_owned : int
        Values from here on are left over.
    rest : Inversion
        Counts of bytes with these values.
    """

    edges: tuple[int, ...]
    n_owned: int
    rest: Inversion

    @property
    def counts(self) -> bytes:
        """Return the count of each of the 256 values, or `LEFT_OVER`."""
        counts = np.searchsorted(self.edges, np.arange(self.n_owned), side="right")
        return bytes(counts.tolist()).ljust(256, bytes([LEFT_OVER]))


@lru_cache(maxsize=256)
def byte_table(mean: float) -> ByteTable:
    """Return how bytes map to Poisson counts of a mean in [0, 1].

    Examples
    --------
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
    n_edges = max(1, sum(n > 0 for n in owned) - 1)
    edges = np.cumsum(owned).tolist()
    rest = Inversion.of([256 * term % whole for term in terms])
    return ByteTable(tuple(edges[:n_edges]), edges[-1], rest)


def poisson_counts(
    mean: float, rng: np.random.Generator, shape: tuple[int, ...]
) -> NDArray[np.uint8]:
    """Draw independent Poisson counts of a mean in [0, 1]."""
    table = byte_table(mean)
    counts = np.empty(shape, dtype=np.uint8)
    cells = counts.reshape(-1)
    reached = np.empty(min(_BLOCK, cells.size), dtype=np.bool_)
    for start in range(0, cells.size, _BLOCK):
        block = cells[start : start + _BLOCK]
        uniform, flags = random_bytes(rng, block.size), reached[: block.size]
        np.greater_equal(uniform, table.edges[0], out=block.view(np.bool_))
        for edge in table.edges[1:]:
            np.greater_equal(uniform, edge, out=flags)
            np.add(block, flags.view(np.uint8), out=block)
        again = np.flatnonzero(np.greater_equal(uniform, table.n_owned, out=flags))
        block[again] = table.rest.counts(random_words(rng, len(again)))
    return counts
