"""Random streams, and rows of counts drawn from them, exactly.

*Streams.* Each batch of rows has a stream of its own, all of them from one seed.

*Poisson counts from one random byte each.* Of the 256 values of a byte, each count k owns as many
as fit into its probability p_k, which is floor(256 p_k), the smaller counts the smaller values: a
count is the number of edges that a byte reaches. About 1.5 % of the values are left over. A byte
that has one of these is replaced with a draw from what the other values leave of the distribution,
by 64 random bits: the number of thresholds that they reach. Probabilities are worked out in
integers, so that no machine's exponential function has a say in the counts.

*Multinomial rows from Poisson counts.* Independent Poisson counts of one mean are multinomial given
their sum m. Adding ``draws - m`` uniform draws makes them multinomial(draws), whatever rule chose
m, as long as it looks at the sum alone. So: draw Poisson counts of a mean a little too small, draw
rows whose sum is too large again, and top the others up. Few indices are drawn, and no row depends
on another.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import accumulate
from math import floor, sqrt

import numpy as np
from numpy.typing import NDArray

#: Counts beyond this are left out: their probability is below 10**-89 for a mean of at most 1.
LARGEST = 63
#: Probabilities are multiples of 2**-192.
_ONE = 1 << 192
#: Counts drawn at a time: what is done with them stays within a core's own cache.
_BLOCK = 1 << 18
#: How far below the draws the sum of a row is on average, in standard deviations: 8 % of the rows
#: are drawn again then. Drawing more of them costs what topping up more often would.
_DEVIATIONS = 1.4
#: Means are multiples of 1/1024, so that few tables of bytes are made.
_MEANS = 1 << 10


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


def random_bytes(rng: np.random.Generator, size: int) -> NDArray[np.uint8]:
    """Draw random bytes, the same on machines of either byte order."""
    words: NDArray[np.uint64] = rng.bit_generator.random_raw(-(-size // 8))
    return words.astype("<u8", copy=False).view(np.uint8)[:size]


@lru_cache(maxsize=256)
def byte_table(mean: float) -> tuple[tuple[int, ...], int, NDArray[np.uint64]]:
    """Return how bytes map to Poisson counts of a mean in [0, 1]: edges, `n_owned`, thresholds.

    Values of a byte from the k-th edge on mean a count of k or more, and those from `n_owned` on
    are left over: 64 random bits mean as many as the thresholds that they reach.

    >>> byte_table(1.0)[:2]
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
    # How many 64-bit numbers mean at most 0, 1, 2, ..., in proportion to what is left of each. That
    # of the last one is 2**64, which no 64 bits reach.
    rest = [256 * term % whole for term in terms]
    last = max((k for k, part in enumerate(rest) if part), default=0)
    left = max(sum(rest), 1)
    thresholds = [(s << 64) // left for s in accumulate(rest[:last])]
    return tuple(edges[:n_edges]), edges[-1], np.array(thresholds, dtype=np.uint64)


def poisson_counts(
    mean: float, rng: np.random.Generator, shape: tuple[int, ...]
) -> NDArray[np.uint8]:
    """Draw independent Poisson counts of a mean in [0, 1]."""
    edges, n_owned, thresholds = byte_table(mean)
    counts = np.empty(shape, dtype=np.uint8)
    cells = counts.reshape(-1)
    for start in range(0, cells.size, _BLOCK):
        block = cells[start : start + _BLOCK]
        uniform = random_bytes(rng, block.size)
        np.greater_equal(uniform, edges[0], out=block.view(np.bool_))
        for edge in edges[1:]:
            block += uniform >= edge
        again = np.flatnonzero(uniform >= n_owned)
        bits = rng.bit_generator.random_raw(len(again))
        block[again] = np.searchsorted(thresholds, bits, side="right")
    return counts


def multinomial_rows(
    rng: np.random.Generator, n_rows: int, draws: int, n_segments: int
) -> NDArray[np.uint8]:
    """Draw independent multinomial(draws; 1/n, ..., 1/n) rows, `(R, n)`.

    A count above 255 would not fit. A count is binomial(draws, 1/n); of at most n draws it exceeds
    255 with probability below 10^-490.
    """
    most = (draws - _DEVIATIONS * sqrt(draws)) / n_segments
    mean = min(1.0, max(0.0, floor(_MEANS * most) / _MEANS))
    # The narrowest accumulator that holds the sum is the fastest. A sum of 2n has probability below
    # 10^-5000 where it is beyond 2^16.
    wide = np.uint16 if n_segments < 1 << 15 else np.uint32
    rows = poisson_counts(mean, rng, (n_rows, n_segments))
    # Signed, so that what is too much is below 0.
    sums = np.int64(draws)
    missing = sums - rows.sum(axis=1, dtype=wide)
    while len(waiting := np.flatnonzero(missing < 0)):
        rows[waiting] = poisson_counts(mean, rng, (len(waiting), n_segments))
        missing[waiting] = sums - rows[waiting].sum(axis=1, dtype=wide)
    cells = np.repeat(n_segments * np.arange(n_rows), missing)
    # NumPy draws small integers from fewer bits.
    narrow = np.uint16 if n_segments <= 1 << 16 else np.int64
    cells += rng.integers(n_segments, size=len(cells), dtype=narrow)
    # A uint8 increment keeps NumPy on its fast path; a Python int is ten times slower.
    np.add.at(rows.reshape(-1), cells, np.uint8(1))
    return rows
