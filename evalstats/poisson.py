"""Poisson counts from one random byte each, exactly.

Of the 256 values of a byte, count k owns floor(256 p_k). The few values left over stand for the
remaining probability, and are resolved by 64 more random bits. Probabilities are worked out in
integers, so that no machine's exponential function has a say in the counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from evalstats.scratch import Scratch

#: The byte that stands for no count yet.
LEFT_OVER = 255
#: Counts beyond this are left out: their probability is below 10**-89 for a mean of at most 1.
LARGEST = 63
_FRACTION_BITS = 192
#: Thresholds that are compared with all numbers, not searched for.
_COMPARED = 6


@dataclass(frozen=True)
class ByteTable:
    """What the values of a byte stand for under one mean."""

    counts: bytes  # count of each of the 256 values, or LEFT_OVER
    edges: tuple[np.uint8, ...]  # bytes at which the count rises; the last is the first left over
    thresholds: NDArray[np.uint64]  # 64 bits u mean the number of thresholds at or below u

    def resolve(self, bits: NDArray[np.uint64]) -> NDArray[np.uint8]:
        """Return the counts of bytes left over, given 64 fresh bits each."""
        counts = np.zeros(len(bits), dtype=np.uint8)
        # A search mispredicts every branch; a few comparisons are several times as fast.
        for threshold in self.thresholds[:_COMPARED]:
            counts += bits >= threshold
        rare = np.flatnonzero(counts == _COMPARED)
        counts[rare] = np.searchsorted(self.thresholds, bits[rare], side="right")
        return counts


@lru_cache(maxsize=64)
def byte_table(mean: float) -> ByteTable:
    """Return how bytes map to Poisson counts of a mean in [0, 1].

    Examples
    --------
    >>> [byte_table(1.0).counts.count(k) for k in (0, 1, 2, 3, 4, LEFT_OVER)]
    [94, 94, 47, 15, 3, 3]
    """
    numerator, denominator = mean.as_integer_ratio()
    # λ^k/k! in units of 2**-192; divided by their sum they are the probabilities.
    terms = [1 << _FRACTION_BITS]
    for k in range(1, LARGEST + 1):
        terms.append(terms[-1] * numerator // (denominator * k))
    whole = sum(terms)
    counts = [k for k, term in enumerate(terms) for _ in range(256 * term // whole)]
    left = [256 * term % whole for term in terms]
    cumulated = np.cumsum(np.array(left, dtype=object)).tolist()
    # The last threshold is 2**64, which no 64 bits reach.
    last = max(k for k, part in enumerate(left) if part) if any(left) else 0
    thresholds = [(part << 64) // max(cumulated[-1], 1) for part in cumulated[:last]]
    edges = [counts.index(k) for k in range(1, counts[-1] + 1)]
    return ByteTable(
        bytes(counts) + bytes([LEFT_OVER]) * (256 - len(counts)),
        (*map(np.uint8, edges), np.uint8(len(counts))) if len(counts) < 256 else (),
        np.array(thresholds, dtype=np.uint64),
    )


def poisson_counts(
    mean: float,
    shape: tuple[int, int],
    counting: np.random.Generator,
    resolving: np.random.Generator,
    scratch: Scratch,
) -> NDArray[np.uint8]:
    """Draw Poisson counts of a mean in [0, 1], into the scratch.

    A row consumes its own part of both streams, so that it does not depend on how many are drawn.

    Parameters
    ----------
    mean : float
    shape : tuple of int
        Rows, and columns: a multiple of 8, whole random words.
    counting, resolving : numpy.random.Generator
        Where bytes, and bits for those left over, come from.
    """
    counts = scratch.array("counts", shape, np.uint8)
    counts[...] = 0
    table = byte_table(mean)
    if not table.edges:  # The mean is 0.
        return counts
    uniform = random_bytes(counting, shape[0], shape[1] // 8)
    beyond = scratch.array("beyond", shape, np.bool_)
    # Comparing and adding bytes runs at the speed of memory and lets other threads run.
    for edge in table.edges[:-1]:
        np.greater_equal(uniform, edge, out=beyond)
        np.add(counts, beyond.view(np.uint8), out=counts)
    np.greater_equal(uniform, table.edges[-1], out=beyond)
    left_over = np.flatnonzero(beyond)
    bits = resolving.integers(0, 1 << 64, size=len(left_over), dtype=np.uint64)
    counts.reshape(-1)[left_over] = table.resolve(bits)
    return counts


def random_bytes(rng: np.random.Generator, n_rows: int, n_words: int) -> NDArray[np.uint8]:
    """Draw random bytes, `(n_rows, 8 n_words)`, five times as fast as `Generator.bytes`."""
    words = rng.integers(0, 1 << 64, size=(n_rows, n_words), dtype=np.uint64)
    return words.astype("<u8", copy=False).view(np.uint8)
