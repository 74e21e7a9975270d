"""Random bytes, and many rows of them from few.

The exclusive or of two independent rows of random bytes is a row of random bytes. So I rows and J
others make I·J rows, at a fifth of what drawing them costs, *any three of which are independent*:
rows are the edges of a bipartite graph, edges are dependent only if there is a cycle among them,
and the shortest cycle has four (Joffe, 1974, has the idea). Hence whatever is computed from each
row, its average over all rows has the variance it would have if all were independent: that takes
pairs. Dependence begins with the fourth moments.
"""

from __future__ import annotations

from functools import cache
from math import isqrt, prod

import numpy as np
from numpy.typing import NDArray

from evalstats.scratch import Scratch

Words = NDArray[np.uint64]

#: Bytes in a row at least, so that NumPy spends its time on bytes.
_LEAST_BYTES = 1 << 11
#: Bytes of the J rows at most, which are kept while they are used.
_MOST_SHARED_BYTES = 1 << 22


def random_words(rng: np.random.Generator, size: int) -> Words:
    """Draw 64 random bits each."""
    return rng.integers(0, 1 << 64, size=size, dtype=np.uint64)


def random_bytes(rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.uint8]:
    """Draw random bytes, five times as fast as `Generator.bytes`; from whole words."""
    size = prod(shape)
    words = random_words(rng, -(-size // 8))
    return words.astype("<u8", copy=False).view(np.uint8)[:size].reshape(shape)


class SharedBytes:
    """Rows of N random bytes from fewer of them, in order and a step at a time.

    Parameters
    ----------
    rng : numpy.random.Generator
        Not to be used for other things than these bytes and what each step's rows need besides.
    n_rows : int
        How many rows there are.
    n_bytes : int
        N, of each.
    """

    def __init__(self, rng: np.random.Generator, n_rows: int, n_bytes: int) -> None:
        self._rng = rng
        self._n_bytes = n_bytes
        self._grouped, n_others = _arrangement(n_rows, n_bytes)
        self._others = random_bytes(rng, (n_others, self._grouped * n_bytes))
        self.unit = self._grouped * n_others

    def next(self, n_rows: int, n_spare: int, scratch: Scratch) -> NDArray[np.uint8]:
        """Return the next rows, a multiple of `unit`, and spare ones, which share nothing.

        `(n_rows + n_spare, N)`, in the scratch.
        """
        rows = scratch.array("uniform", (n_rows + n_spare, self._n_bytes), np.uint8)
        length = self._grouped * self._n_bytes
        ones = random_bytes(self._rng, (n_rows // self.unit, 1, length))
        shared = rows[:n_rows].reshape(len(ones), len(self._others), length)
        np.bitwise_xor(ones, self._others, out=shared)
        rows[n_rows:] = random_bytes(self._rng, (n_spare, self._n_bytes))
        return rows


@cache
def _arrangement(n_rows: int, n_bytes: int) -> tuple[int, int]:
    """Return how many rows are taken as one, and how many of these are shared, J.

    The product divides the number of rows.
    """
    divisors = [d for d in range(1, n_rows + 1) if n_rows % d == 0]
    grouped = next((d for d in divisors if d * n_bytes >= _LEAST_BYTES), n_rows)
    most = min(isqrt(n_rows // grouped), _MOST_SHARED_BYTES // (grouped * n_bytes))
    shared = max((d for d in divisors if d <= most and n_rows % (grouped * d) == 0), default=1)
    return grouped, shared
