"""Multinomial rows from Poisson counts, exactly.

Independent Poisson counts of one mean are multinomial given their sum m. Adding ``draws - m``
uniform draws makes them multinomial(draws), whatever rule chose m, as long as it looks at the sum
alone. So: Poisson counts of a mean a little too small, rows whose sum is too large dropped, the
others topped up.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import NDArray

from evalstats.resampling.byte_formulas import convenient_mean
from evalstats.resampling.poisson import poisson_counts, room_for
from evalstats.resampling.random_bytes import random_bytes
from evalstats.resampling.row_sums import row_sums
from evalstats.resampling.scratch import Scratch

#: How far below the draws the sum of a row is on average, in standard deviations, at least: 8 % of
#: the rows are dropped then. Drawing more of them costs what topping up more often would.
_LEAST_DEVIATIONS = 1.4
#: Where draws are so many, and rows so short that they have fewer than so many of them, SciPy's
#: sparse tables count them. They do not hold the interpreter's lock, and take four fifths of the
#: time (`benchmarks/test_resampling.py`). Importing them takes 50 ms, once, which the first 10,080
#: resamples do without: their batches have at most 4,536 rows, and 4,536 x 32 draws are too few.
_MANY_DRAWS = 150_000
_LONG_RUN = 32


def mean_for(n_draws: int, n_segments: int) -> float:
    """Return the mean of the Poisson counts of rows with at least so many draws, 0 to 1."""
    most = (n_draws - _LEAST_DEVIATIONS * sqrt(n_draws)) / n_segments
    return convenient_mean(max(0.0, most))


def share_dropped(n_draws: int, n_segments: int) -> float:
    """Return a bound of the share of rows whose sum exceeds the draws, near it where it matters.

    The tail of a normal distribution beyond z is below 1 / (2 + 2z⁴) for z in 1.2 to 3. Arithmetic
    is the same on every machine; an error function need not be.
    """
    expected = mean_for(n_draws, n_segments) * n_segments
    if not expected:
        return 0.0
    variances = (n_draws - expected) * (n_draws - expected) / expected
    return 1 / (2 + 2 * variances * variances)


def fill_poisson(
    mean: float,
    uniform: NDArray[np.uint8],
    n_segments: int,
    rng: np.random.Generator,
    cells: NDArray[np.uint8],
) -> NDArray[np.uint8]:
    """Return rows of Poisson counts, from a random byte each, with zeros beyond the segments.

    `uniform` and the rows are of the same shape, `(R, W)`, W as `row_sums.row_width` has it. The
    rows are the first cells; there are as many cells as `poisson.room_for` says.
    """
    poisson_counts(mean, uniform, rng, cells)
    rows = cells[: uniform.size].reshape(uniform.shape)
    rows[:, n_segments:] = 0
    return rows


def complete(
    rows: NDArray[np.uint8],
    n_rows: int,
    sums: int | NDArray[np.int64],
    mean: float,
    n_segments: int,
    rng: np.random.Generator,
    scratch: Scratch,
) -> None:
    """Give the first rows of Poisson counts their sums, as multinomial rows have them.

    What replaces a row that is dropped comes from bytes that no other row shares; otherwise which
    row it is would depend on more than itself, and its distribution too.

    Parameters
    ----------
    rows : ndarray of uint8, shape (R, W)
        As `fill_poisson` leaves them; those beyond the first `n_rows` are spare.
    n_rows : int
    sums : int, or ndarray of int64 with shape (R,)
        Draws of all rows, or of each where none is spare: a spare row has the sum of all.
    mean : float
        Of the counts.
    n_segments : int
        N, at most W.
    rng : numpy.random.Generator
    scratch : Scratch
    """
    width = rows.shape[1]
    missing = sums - row_sums(rows)
    waiting = np.flatnonzero(missing[:n_rows] < 0)
    spare = n_rows + np.flatnonzero(missing[n_rows:] >= 0)[: len(waiting)]
    filled, waiting = waiting[: len(spare)], waiting[len(spare) :]
    rows[filled], missing[filled] = rows[spare], missing[spare]
    while len(waiting):
        uniform = random_bytes(rng, (len(waiting), width))
        cells = scratch.array("others", (room_for(uniform.size),), np.uint8)
        others = fill_poisson(mean, uniform, n_segments, rng, cells)
        short = (sums[waiting] if isinstance(sums, np.ndarray) else sums) - row_sums(others)
        fits = short >= 0
        rows[waiting[fits]], missing[waiting[fits]] = others[fits], short[fits]
        waiting = waiting[~fits]
    _draw_more(rows[:n_rows], missing[:n_rows], n_segments, rng, scratch)


def _draw_more(
    rows: NDArray[np.uint8],
    draws: NDArray[np.int64],
    n_segments: int,
    rng: np.random.Generator,
    scratch: Scratch,
) -> None:
    """Add so many uniform draws to each row."""
    n_rows, width = rows.shape
    n_draws = int(draws.sum())
    # NumPy draws small integers from fewer bits.
    narrow = np.uint16 if n_segments < 1 << 16 else np.int64
    if n_draws < _MANY_DRAWS or n_draws >= _LONG_RUN * n_rows:
        cells = np.repeat(np.arange(0, n_rows * width, width), draws.astype(np.intp, copy=False))
        cells += rng.integers(n_segments, size=n_draws, dtype=narrow)
        # A uint8 increment keeps NumPy on its fast path; a Python int is ten times slower.
        np.add.at(rows.reshape(-1), cells, np.uint8(1))
        return
    from scipy.sparse import csr_array

    # SciPy looks through numbers that are not int32.
    ends = np.zeros(n_rows + 1, dtype=np.int32)
    np.cumsum(draws, out=ends[1:])
    drawn = rng.integers(n_segments, size=n_draws, dtype=narrow).astype(np.int32)
    table = csr_array((np.ones(n_draws, dtype=np.uint8), drawn, ends), shape=rows.shape)
    counts = scratch.array("drawn", rows.shape, np.uint8)
    table.toarray(out=counts)
    rows += counts
