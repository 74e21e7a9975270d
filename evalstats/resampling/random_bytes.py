"""Random bytes, and many rows of them from few.

The exclusive or of two independent rows of random bytes is a row of random bytes. So I rows and J
others make I·J, for a third of what drawing them all costs, *any three of which are independent*:
rows are the edges of a bipartite graph, edges are dependent only if there is a cycle among them,
and the shortest cycle has four (k-wise independence: Joffe, 1974). Hence whatever is computed from
each row, its average over all rows has the variance it would have if all were independent: that
takes pairs. Dependence begins with the fourth moments. It shows where a single byte decides what is
computed, and is linear in few of its bits; so what is done with the bytes should not be
(`byte_formulas`: an average of what a single count decides has a kurtosis of at most 3.8).
"""

from __future__ import annotations

from functools import lru_cache
from math import isqrt, prod

import numpy as np
from numpy.typing import NDArray

from evalstats.resampling.scratch import Scratch

Words = NDArray[np.uint64]

#: Bytes in a row at least, so that NumPy spends its time on bytes.
_LEAST_BYTES = 1 << 11
#: Bytes of the J rows at most, which are kept while they are used.
_MOST_KEPT_BYTES = 1 << 22


def random_words(rng: np.random.Generator, size: int) -> Words:
    """Draw 64 random bits each: what PCG64, a generator of 64 bits, returns, as it is."""
    words: Words = rng.bit_generator.random_raw(size)
    return words


def random_bytes(rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.uint8]:
    """Draw random bytes from whole words, five times as fast as `Generator.bytes` where many."""
    size = prod(shape)
    words = random_words(rng, -(-size // 8))
    return words.astype("<u8", copy=False).view(np.uint8)[:size].reshape(shape)


class SharedBytes:
    """Rows of N random bytes from fewer of them, in order and a step at a time.

    Parameters
    ----------
    rng : numpy.random.Generator
        Whatever else is drawn from it in the meantime is independent of the rows.
    n_rows : int
        How many rows there are.
    n_bytes : int
        N, of each.

    Attributes
    ----------
    unit : int
        Steps are multiples of it; it divides the number of rows.
    """

    def __init__(self, rng: np.random.Generator, n_rows: int, n_bytes: int) -> None:
        self._rng = rng
        self._n_bytes = n_bytes
        self._grouped, n_kept = _arrangement(n_rows, n_bytes)
        self._kept = random_bytes(rng, (n_kept, self._grouped * n_bytes))
        self.unit = self._grouped * n_kept

    def next(self, n_rows: int, n_spare: int, scratch: Scratch) -> NDArray[np.uint8]:
        """Return the next rows, and after them spare ones, which share nothing.

        `(n_rows + n_spare, N)`, in the scratch.
        """
        rows = scratch.array("uniform", (n_rows + n_spare, self._n_bytes), np.uint8)
        drawn = random_bytes(self._rng, (n_rows // self.unit, 1, self._grouped * self._n_bytes))
        sums = rows[:n_rows].reshape(len(drawn), len(self._kept), drawn.shape[2])
        np.bitwise_xor(drawn, self._kept, out=sums)
        rows[n_rows:] = random_bytes(self._rng, (n_spare, self._n_bytes))
        return rows


@lru_cache(maxsize=256)
def _arrangement(n_rows: int, n_bytes: int) -> tuple[int, int]:
    """Return how many rows are taken as one, and how many of these are kept, J.

    The product divides the number of rows.
    """
    divisors = [d for d in range(1, n_rows + 1) if n_rows % d == 0]
    grouped = next((d for d in divisors if d * n_bytes >= _LEAST_BYTES), n_rows)
    most = min(isqrt(n_rows // grouped), _MOST_KEPT_BYTES // (grouped * n_bytes))
    kept = max((d for d in divisors if d <= most and n_rows % (grouped * d) == 0), default=1)
    return grouped, kept
