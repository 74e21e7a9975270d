"""Multinomial rows from Poisson counts, exactly.

Independent Poisson counts of one mean are multinomial given their sum m. Adding ``draws - m``
uniform draws makes them multinomial(draws), whatever rule chose m, as long as it looks at the sum
alone. So: draw Poisson counts of a mean a little too small, draw rows whose sum is too large
again, and top the others up. Few indices are drawn, and no row depends on another.
"""

from __future__ import annotations

from math import floor, sqrt

import numpy as np
from numpy.typing import NDArray

from evalstats.resampling.poisson import poisson_counts

#: How far below the draws the sum of a row is on average, in standard deviations: 8 % of the rows
#: are drawn again then. Drawing more of them costs what topping up more often would.
_DEVIATIONS = 1.4
#: Means are multiples of 1/1024, so that few tables of bytes are made.
_MEANS = 1 << 10


def multinomial_rows(
    rng: np.random.Generator, sums: NDArray[np.int64], n_segments: int
) -> NDArray[np.uint8]:
    """Draw independent multinomial(m; 1/n, ..., 1/n) rows, `(R, n)`, with sums m of `(R,)`.

    A count above 255 would not fit. A count is binomial(m, 1/n); where m is n, or the share of n
    of N segments in N draws, it exceeds 255 with probability below 10^-490.
    """
    mean = _mean_for(int(np.min(sums)), n_segments)
    rows = poisson_counts(mean, rng, (len(sums), n_segments))
    missing = sums - _row_sums(rows)
    while len(waiting := np.flatnonzero(missing < 0)):
        rows[waiting] = poisson_counts(mean, rng, (len(waiting), n_segments))
        missing[waiting] = sums[waiting] - _row_sums(rows[waiting])
    cells = np.repeat(n_segments * np.arange(len(rows)), missing)
    # NumPy draws small integers from fewer bits.
    narrow = np.uint16 if n_segments <= 1 << 16 else np.int64
    cells += rng.integers(n_segments, size=len(cells), dtype=narrow)
    # A uint8 increment keeps NumPy on its fast path; a Python int is ten times slower.
    np.add.at(rows.reshape(-1), cells, np.uint8(1))
    return rows


def _mean_for(n_draws: int, n_segments: int) -> float:
    """Return the mean of the Poisson counts of rows with at least so many draws, 0 to 1."""
    most = (n_draws - _DEVIATIONS * sqrt(n_draws)) / n_segments
    return min(1.0, max(0.0, floor(_MEANS * most) / _MEANS))


def _row_sums(rows: NDArray[np.uint8]) -> NDArray[np.int64]:
    # The narrowest accumulator that holds the sum is the fastest. A sum of 2n has probability below
    # 10^-5000 where it is beyond 2^16.
    narrow = np.uint16 if rows.shape[1] < 1 << 15 else np.uint32
    sums: NDArray[np.int64] = rows.sum(axis=1, dtype=narrow).astype(np.int64)
    return sums
