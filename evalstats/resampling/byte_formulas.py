"""Counts that are nearly Poisson, from a random byte each, by arithmetic.

A byte u becomes ``((a·u join u) shift c) // d``, all modulo 256: four passes at the speed of
memory, whatever the counts are; comparing with every threshold takes two passes for each. The
values of a byte go to the counts in numbers that come near Poisson probabilities, and `poisson`
makes up for the difference. Multiplying is what mixes the bits of a byte: no few of them decide a
count, which rows of bytes that share must rely on (`random_bytes`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

#: Found by `benchmarks/byte_formulas.py`, which says of what they are the best: the mean for which
#: they are meant, a, join, shift, c and d. The first makes everything 0.
_TABLE = (
    (0.0, 0, "and", "xor", 0, 1),
    (0.05, 3, "and", "xor", 0, 211),
    (0.1, 3, "and", "xor", 0, 170),
    (0.15, 3, "and", "xor", 0, 163),
    (0.2, 85, "or", "xor", 153, 121),
    (0.25, 51, "and", "xor", 38, 118),
    (0.3, 51, "and", "xor", 18, 105),
    (0.35, 17, "and", "add", 254, 105),
    (0.4, 11, "and", "add", 11, 104),
    (0.45, 5, "or", "add", 91, 122),
    (0.5, 5, "and", "add", 29, 111),
    (0.55, 149, "and", "xor", 18, 81),
    (0.6, 31, "or", "xor", 224, 80),
    (0.65, 5, "or", "add", 58, 113),
    (0.7, 5, "and", "xor", 112, 114),
    (0.75, 51, "and", "xor", 64, 74),
    (0.78, 51, "or", "xor", 191, 73),
    (0.79, 85, "and", "add", 53, 72),
    (0.81, 153, "and", "xor", 70, 74),
    (0.82, 73, "and", "xor", 71, 75),
    (0.84, 59, "and", "xor", 70, 74),
    (0.85, 55, "and", "xor", 74, 77),
    (0.87, 157, "and", "xor", 66, 73),
    (0.88, 15, "and", "xor", 65, 73),
    (0.89, 29, "and", "xor", 64, 72),
    (0.91, 91, "or", "xor", 185, 73),
    (0.92, 13, "and", "xor", 66, 75),
    (0.93, 13, "or", "xor", 183, 77),
    (0.94, 11, "and", "xor", 65, 75),
    (0.96, 199, "or", "add", 82, 72),
    (0.99, 213, "and", "add", 61, 73),
    (0.9925, 213, "and", "add", 61, 73),
    (0.995, 213, "and", "add", 61, 73),
)
_OPERATIONS = {
    "add": np.add,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}


@dataclass(frozen=True)
class ByteFormula:
    """How a byte becomes a count.

    Attributes
    ----------
    mean : float
        Of the Poisson distribution that is meant, 0 to 1.
    multiplier, constant, divisor : int
    join, shift : str
        Operations on bytes: what is done with the multiple and the byte, and with the constant.
    """

    mean: float
    multiplier: int
    join: str
    shift: str
    constant: int
    divisor: int

    def count(self, uniform: NDArray[np.uint8], counts: NDArray[np.uint8]) -> None:
        """Write the count of each byte into an array of the same shape."""
        np.multiply(uniform, np.uint8(self.multiplier), out=counts)
        _OPERATIONS[self.join](counts, uniform, out=counts)
        _OPERATIONS[self.shift](counts, np.uint8(self.constant), out=counts)
        np.floor_divide(counts, np.uint8(self.divisor), out=counts)

    @property
    def seats(self) -> list[int]:
        """How many of the 256 bytes become each count.

        Examples
        --------
        >>> nearest_formula(0.96).seats
        [100, 96, 46, 14]
        """
        counts = np.empty(256, dtype=np.uint8)
        self.count(np.arange(256, dtype=np.uint8), counts)
        return [int(n) for n in np.bincount(counts)]


_FORMULAS = tuple(ByteFormula(*row) for row in _TABLE)


def nearest_formula(mean: float) -> ByteFormula:
    """Return the formula that is meant for the nearest mean."""
    return min(_FORMULAS, key=lambda formula: abs(formula.mean - mean))


@lru_cache(maxsize=256)
def convenient_mean(most: float) -> float:
    """Return the largest mean for which there is a formula, up to a number of at least 0.

    Examples
    --------
    >>> convenient_mean(0.9667)
    0.96
    """
    return max(formula.mean for formula in _FORMULAS if formula.mean <= most)
