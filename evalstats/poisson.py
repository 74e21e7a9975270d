"""Poisson counts from one random byte each, exactly.

Of the 256 values of a byte every count owns some, and what a byte cannot express comes from 64
more random bits. Two ways: `byte_table` leaves a few values over, for weights that must come from
bits of their own. `poisson_counts` fills whole tables and needs no second look at them: its bytes
express a part c of the distribution, and cells are overwritten with a draw from the rest where a
Poisson number of random points hits them, which spares a cell with probability c.

Probabilities are worked out in integers, so that no machine's exponential function has a say in
the counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil

import numpy as np
from numpy.typing import NDArray

from evalstats.random_bytes import Words, random_words
from evalstats.scratch import Scratch

#: The byte that stands for no count yet.
LEFT_OVER = 255
#: Counts beyond this are left out: their probability is below 10**-89 for a mean of at most 1.
LARGEST = 63
_FRACTION_BITS = 192
_ONE = 1 << _FRACTION_BITS
#: Leading bits by which a count is looked up; few of their values are cut by a threshold.
_GUIDE_BITS = 10
#: Cells for which a number of points is drawn at once: about a hundred points.
_REGION = 1 << 13


@dataclass(frozen=True)
class Inversion:
    """A distribution on 0, 1, 2, ... by the inverse of its distribution function.

    Attributes
    ----------
    thresholds : ndarray of uint64
        64 random bits u mean the number of thresholds at or below u.
    """

    thresholds: Words
    _guide: NDArray[np.uint8]

    @classmethod
    def of(cls, parts: list[int]) -> Inversion:
        """Return the distribution that is proportional to the parts."""
        # The last threshold is 2**64, which no 64 bits reach.
        last = max((k for k, part in enumerate(parts) if part), default=0)
        cumulated = np.cumsum(np.array(parts, dtype=object)).tolist()
        exact = [(part << 64) // max(cumulated[-1], 1) for part in cumulated[:last]]
        thresholds = np.array(exact, dtype=np.uint64)
        first = np.arange(1 << _GUIDE_BITS, dtype=np.uint64) << np.uint64(64 - _GUIDE_BITS)
        last_of = first | np.uint64((1 << (64 - _GUIDE_BITS)) - 1)
        low, high = (np.searchsorted(thresholds, bits, side="right") for bits in (first, last_of))
        guide = np.where((low == high) & (low < LEFT_OVER), low, LEFT_OVER)
        return cls(thresholds, guide.astype(np.uint8))

    def numbers(self, bits: Words) -> NDArray[np.int64]:
        """Return a number for each of some 64 random bits."""
        return np.searchsorted(self.thresholds, bits, side="right")

    def counts(self, bits: Words) -> NDArray[np.uint8]:
        """Return the same numbers, which are counts, five times as fast for many."""
        counts: NDArray[np.uint8] = self._guide[bits >> np.uint64(64 - _GUIDE_BITS)]
        cut = np.flatnonzero(counts == LEFT_OVER)
        counts[cut] = self.numbers(bits[cut])
        return counts


@dataclass(frozen=True)
class ByteTable:
    """What the values of a byte stand for, with a few values left over."""

    counts: bytes  # count of each of the 256 values, or LEFT_OVER
    rest: Inversion  # counts of the bytes left over


@lru_cache(maxsize=256)
def byte_table(mean: float) -> ByteTable:
    """Return how bytes map to Poisson counts of a mean in [0, 1].

    Examples
    --------
    >>> [byte_table(1.0).counts.count(k) for k in (0, 1, 2, 3, 4, LEFT_OVER)]
    [94, 94, 47, 15, 3, 3]
    """
    terms = _terms(*mean.as_integer_ratio(), LARGEST)
    whole = sum(terms)
    counts = bytes(k for k, term in enumerate(terms) for _ in range(256 * term // whole))
    return ByteTable(
        counts + bytes([LEFT_OVER]) * (256 - len(counts)),
        Inversion.of([256 * term % whole for term in terms]),
    )


@dataclass(frozen=True)
class ByteCode:
    """Poisson counts as a mixture: bytes, and a rest that overwrites some of them.

    Attributes
    ----------
    edges : tuple of uint8
        Bytes at which the count rises.
    points : Inversion
        Numbers of points in a region.
    rest : Inversion
        Counts where points are.
    """

    edges: tuple[np.uint8, ...]
    points: Inversion
    rest: Inversion


@lru_cache(maxsize=256)
def byte_code(mean: float) -> ByteCode:
    """Return how to draw Poisson counts of a mean in [0, 1].

    Examples
    --------
    >>> [int(edge) for edge in byte_code(1.0).edges]
    [96, 191, 238, 253]
    """
    seats, rest, density = _mixture(mean)
    edges = np.cumsum(seats)[: np.count_nonzero(seats) - 1]
    expected = _REGION * density
    return ByteCode(
        tuple(map(np.uint8, edges)),
        Inversion.of(_terms(expected, _ONE, 40 + 2 * ceil(expected / _ONE))),
        Inversion.of(rest),
    )


@lru_cache(maxsize=256)
def _mixture(mean: float) -> tuple[list[int], list[int], int]:
    """Return the values of a byte for each count, what they leave of it, and points for a cell.

    Values are given to counts as seats are to parties by Jefferson's method, which makes the least
    probability of a count for each of its values as large as it can be. Every value is worth as
    much as the worst one; what a count has beyond that is its rest. The points are in fixed point.
    """
    terms = _terms(*mean.as_integer_ratio(), LARGEST)
    whole = sum(terms)
    seats = [256 * term // whole for term in terms]
    while sum(seats) < 256:
        k = max(range(len(terms)), key=lambda k: (terms[k] << 64) // (seats[k] + 1))
        seats[k] += 1
    seated = [k for k, values in enumerate(seats) if values]
    worst = min(seated, key=lambda k: Fraction(terms[k], seats[k]))
    rest = [seats[worst] * t - s * terms[worst] for s, t in zip(seats, terms, strict=True)]
    return seats, rest, _minus_log(sum(rest) * _ONE // (seats[worst] * whole))


def _terms(numerator: int, denominator: int, largest: int) -> list[int]:
    """Return what Poisson probabilities of a mean are proportional to: λ^k/k!, scaled."""
    terms = [_ONE]
    for k in range(1, largest + 1):
        terms.append(terms[-1] * numerator // (denominator * k))
    return terms


def _minus_log(missing: int) -> int:
    """Return -log(1 - x) for x well below 1, in fixed point: x + x²/2 + x³/3 + ..."""
    power, total, j = missing, 0, 0
    while power:
        j += 1
        total += power // j
        power = power * missing >> _FRACTION_BITS
    return total


def poisson_counts(
    mean: float,
    uniform: NDArray[np.uint8],
    rng: np.random.Generator,
    counts: NDArray[np.uint8],
    scratch: Scratch,
) -> None:
    """Draw Poisson counts of a mean in [0, 1].

    Parameters
    ----------
    mean : float
    uniform : ndarray of uint8, any shape
        A random byte for each.
    rng : numpy.random.Generator
        For the points and what is there.
    counts : ndarray of uint8, same shape, C-contiguous
        Where the counts go.
    scratch : Scratch
    """
    code = byte_code(mean)
    beyond = scratch.array("beyond", uniform.shape, np.bool_)
    # Comparing and adding bytes runs at the speed of memory and lets other threads run.
    if code.edges:
        np.greater_equal(uniform, code.edges[0], out=counts.view(np.bool_))
    else:
        counts[...] = 0
    for edge in code.edges[1:]:
        np.greater_equal(uniform, edge, out=beyond)
        np.add(counts, beyond.view(np.uint8), out=counts)
    n_regions = -(-uniform.size // _REGION)
    n_points = int(code.points.numbers(random_words(rng, n_regions)).sum())
    points = rng.integers(n_regions * _REGION, size=n_points)
    # Points fall anywhere in whole regions; beyond the cells they do nothing.
    points = points[points < uniform.size]
    counts.reshape(-1)[points] = code.rest.counts(random_words(rng, len(points)))
