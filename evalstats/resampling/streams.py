"""Random streams, and rows of counts drawn from them, exactly.

*Streams.* Each batch of rows has its own stream, all from one seed.

*Poisson counts from one random byte each.* The distribution of a count is a mixture (Marsaglia,
1963; Walker, 1977), ``p_k = (1 - e) c_k / 256 + e r_k``. In the first part each count k owns c_k of
the 256 values of a byte, the smaller counts the smaller values, so that a count is the number of
edges that its byte reaches. The second part, e < 2%, is what bytes cannot give: cells that a
random point hits are drawn again from r. Poisson(h) points fall on each 1,024 cells, each of them
on any cell, so that a cell is hit with probability e = 1 - exp(-h / 1024), whatever happens to
others. The whole number h is the smallest with which no r_k is below 0.

The number of points, and a count that is drawn again, is the number of thresholds that 64 random
bits reach: probabilities are multiples of 2**-64. Thresholds are computed with integers, so that
counts do not depend on the exponential function of a machine.

*Multinomial rows from Poisson counts.* Independent Poisson counts of one mean are multinomial,
given their sum m. Adding ``draws - m`` uniform draws makes them multinomial(draws), for any rule
that chooses m by the sum alone. So: draw Poisson counts with a slightly smaller mean, draw rows
whose sum is too large again, and top up the others. Few indices are drawn, and rows are
independent.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate, pairwise
from math import floor, sqrt

import numpy as np
from numpy.typing import NDArray

#: Terms of Poisson distributions are multiples of 2**-192.
_ONE = 1 << 192
#: Number of cells that share their points.
_CELLS = 1 << 10
#: Counts drawn at a time, so that work on them stays within a core's cache.
_BLOCK = 1 << 18
#: How far below the draws the sum of a row is on average, in standard deviations: 8% of the rows
#: are drawn again then. Drawing more of them costs what topping up more often would.
_DEVIATIONS = 1.4
#: Means are multiples of 1/1024, so that few tables of bytes are made.
_MEANS = 1 << 10


def generator(seed: int, key: tuple[int, ...], number: int) -> np.random.Generator:
    """Return a generator at the beginning of a stream: stream `number` of a key.

    Streams are NumPy's: `SeedSequence(seed, spawn_key=(*key, number))` seeds PCG64.

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


def thresholds(shares: Sequence[int]) -> NDArray[np.uint64]:
    """Return what 64 random bits are compared with, to draw the numbers 0, 1, ... in such shares.

    >>> thresholds([1, 2, 1]) / 2.0**64
    array([0.25, 0.75])
    """
    whole = max(1, sum(shares))
    reached = [(s << 64) // whole for s in accumulate(shares)]
    # No number is left that only the last of all words would mean.
    return np.array([limit for limit in reached if limit < 2**64 - 1], dtype=np.uint64)


def numbers_of(limits: NDArray[np.uint64], rng: np.random.Generator, size: int) -> NDArray[np.intp]:
    """Draw independent numbers, each of them how many `thresholds` 64 random bits reach."""
    return np.searchsorted(limits, rng.bit_generator.random_raw(size), side="right")


@lru_cache(maxsize=256)
def poisson_terms(mean: float) -> tuple[int, ...]:
    """Return λ^k/k!, to which Poisson probabilities are proportional, in multiples of 2**-192."""
    numerator, denominator = mean.as_integer_ratio()
    terms = [_ONE]
    while terms[-1]:
        terms.append(terms[-1] * numerator // (denominator * len(terms)))
    return tuple(terms)


@lru_cache(maxsize=256)
def byte_table(mean: float) -> tuple[tuple[int, ...], NDArray[np.uint64], NDArray[np.uint64]]:
    """Return how Poisson counts of a mean in [0, 1] are drawn: edges, and two lists of thresholds.

    A byte means a count of k or more from the k-th edge on. The first thresholds are for the number
    of points on 1,024 cells, the others for a count that is drawn again.

    >>> byte_table(1.0)[0]
    (96, 192, 240)
    """
    terms = poisson_terms(mean)
    whole = sum(terms) * _ONE
    for n_points in range(_CELLS):
        # 256 p_k / (1 - e), rounded down, until these are all values of a byte.
        scale = 256 * sum(poisson_terms(n_points / _CELLS))
        edges = [min(n, 256) for n in accumulate(term * scale // whole for term in terms)]
        if edges[-1] == 256:
            break
    owned = [edge - before for before, edge in pairwise([0, *edges])]
    rest = [term * scale - n * whole for term, n in zip(terms, owned, strict=True)]
    n_edges = max(1, sum(edge < 256 for edge in edges))
    points = thresholds(poisson_terms(float(n_points)))
    return tuple(edges[:n_edges]), points, thresholds(rest)


def poisson_counts(
    mean: float, rng: np.random.Generator, shape: tuple[int, ...]
) -> NDArray[np.uint8]:
    """Draw independent Poisson counts of a mean in [0, 1]."""
    edges, points, rest = byte_table(mean)
    counts = np.empty(shape, dtype=np.uint8)
    cells = counts.reshape(-1)
    for start in range(0, cells.size, _BLOCK):
        block = cells[start : start + _BLOCK]
        uniform = random_bytes(rng, block.size)
        np.greater_equal(uniform, edges[0], out=block.view(np.bool_))
        for edge in edges[1:]:
            # Bytes are added fast; truth values would be converted first.
            block += (uniform >= edge).view(np.uint8)
        firsts = np.arange(0, block.size, _CELLS)
        hit = np.repeat(firsts, numbers_of(points, rng, len(firsts)))
        hit += random_bytes(rng, 2 * len(hit)).view("<u2") % _CELLS
        # The last cells may be fewer than 1,024.
        hit = hit[hit < block.size]
        block[hit] = numbers_of(rest, rng, len(hit))
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
