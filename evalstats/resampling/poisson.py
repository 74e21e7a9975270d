"""Poisson counts from one random byte each, exactly.

Of the 256 values of a byte every count owns some, and what a byte cannot express comes from 51 or
64 more random bits. Two ways: `byte_table` leaves a few values over, for weights that must come
from bits of their own. `poisson_counts` fills whole tables and needs no second look at them: its
bytes (`byte_formulas`) express a part c of the distribution, and cells are overwritten with a draw
from the rest where a Poisson number of random points hits them, which spares a cell with
probability c.

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

from evalstats.resampling.byte_formulas import ByteFormula, nearest_formula
from evalstats.resampling.random_bytes import Words, random_words

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
        first = (bits >> np.uint64(64 - _GUIDE_BITS)).view(np.int64)
        counts: NDArray[np.uint8] = self._guide.take(first.astype(np.intp, copy=False))
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
    """Poisson counts as a mixture: counts of bytes, and a rest that overwrites some of them.

    Attributes
    ----------
    formula : ByteFormula
        Counts of bytes.
    points : Inversion
        Numbers of points in a region.
    rest : Inversion
        Counts where points are.
    """

    formula: ByteFormula
    points: Inversion
    rest: Inversion


@lru_cache(maxsize=256)
def byte_code(mean: float) -> ByteCode:
    """Return how to draw Poisson counts of a mean in [0, 1]."""
    formula = nearest_formula(mean)
    rest, density = _rest(mean, formula.seats)
    expected = _REGION * density
    return ByteCode(
        formula,
        Inversion.of(_terms(expected, _ONE, 40 + 2 * ceil(expected / _ONE))),
        Inversion.of(rest),
    )


def _rest(mean: float, seats: list[int]) -> tuple[list[int], int]:
    """Return what the bytes leave of the distribution, and points for a cell.

    Every byte is worth as much as those of the count that has too many; what the other counts have
    beyond that is their rest. The points are in fixed point.
    """
    terms = _terms(*mean.as_integer_ratio(), LARGEST)
    seats = seats + [0] * (len(terms) - len(seats))
    seated = [k for k, values in enumerate(seats) if values]
    worst = min(seated, key=lambda k: Fraction(terms[k], seats[k]))
    rest = [seats[worst] * t - s * terms[worst] for s, t in zip(seats, terms, strict=True)]
    return rest, _minus_log(sum(rest) * _ONE // (seats[worst] * sum(terms)))


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
) -> None:
    """Draw Poisson counts of a mean in [0, 1].

    Parameters
    ----------
    mean : float
        Where `byte_formulas.convenient_mean` has it, few cells have points, and it is fast.
    uniform : ndarray of uint8, any shape, C-contiguous
        A random byte for each.
    rng : numpy.random.Generator
        For the points and what is there.
    counts : ndarray of uint8, 1-D, C-contiguous
        The counts go to the first cells, and anything to as many others as `room_for` has.
    """
    size = uniform.size
    if len(counts) < room_for(size):
        raise ValueError(f"counts must have room for {room_for(size)} cells, got {len(counts)}")
    code = byte_code(mean)
    code.formula.count(uniform.reshape(-1), counts[:size])
    n_regions = -(-size // _REGION)
    in_region = code.points.numbers(random_words(rng, n_regions))
    # The last 13 bits of a word say where in its region a point is; the first 51 say what is there.
    words = random_words(rng, int(in_region.sum()))
    there = code.rest.counts(words)
    words &= np.uint64(_REGION - 1)
    points = np.repeat(np.arange(0, n_regions * _REGION, _REGION), in_region)
    points += words.view(np.int64)
    counts[points] = there


def room_for(n_cells: int) -> int:
    """Return how many cells `poisson_counts` needs: the points of the last region are anywhere."""
    return n_cells + _REGION - 1
