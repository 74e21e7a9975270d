"""Weights times statistics, `(R, N) @ (N, K) -> (R, K)`, exactly.

Statistics lie on a grid on which all sums are exact in double precision, so that a total does not
depend on the order of summation. Where integers are small enough, the same sums are exact in
single precision too, at twice the speed; that is checked after the fact, which costs nothing: no
partial sum of nonnegative integers exceeds the final one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalstats.errors import InputError
from evalstats.resampling.weights import ROW_GROUP

#: Sums of integers are exact in a float of p bits while all of them stay below 2**p.
_SINGLE_LIMIT = float(2**24)
_DOUBLE_BITS = 53
_LEAST_EXPONENT = -1074
#: Multiplications in one BLAS call. OpenBLAS keeps products below this size on the calling thread
#: (twice 65536 times its GEMM_MULTITHREAD_THRESHOLD); its own threads and ours would fight for the
#: cores.
_CALL_SIZE = (1 << 19) - 1
#: Columns in one BLAS call, at most, so that enough of it is left for segments.
_CALL_COLUMNS = 128
#: The share of a standard error by which rounding may move a mean.
_MOST_MOVED = 0.01


def exact_grid(statistics: NDArray[Any], weight_total: int | None = None) -> NDArray[Any]:
    """Round statistics to a grid on which weighted sums are exact, `(N, k) -> (N, k)`.

    Whole numbers are on it as long as their sums have 53 bits. Other columns are rounded to
    multiples of a power of two: no value moves by more than w·2^-53 of the largest in its column,
    with the sum w of the weights (N by default), what one ordinary summation may err by.

    Raises
    ------
    InputError
        For arrays of integers whose sums are too large to count, and sums that are not finite.
    """
    counts = len(statistics) if weight_total is None else weight_total
    largest = np.maximum(
        np.max(statistics, axis=0, initial=0).astype(np.float64),
        -np.min(statistics, axis=0, initial=0).astype(np.float64),
    )
    with np.errstate(over="ignore"):
        bound = counts * largest
    if not np.all(np.isfinite(bound)):
        raise InputError("statistics are too large: their sum is not a finite number")
    bits = np.frexp(bound)[1]
    is_integer = statistics.dtype.kind in "iu"
    # Weights that sum to more than N are no counts, and nothing is counted with them.
    if is_integer and counts <= len(statistics) and np.any(bits > _DOUBLE_BITS):
        raise InputError(
            "statistics are too large: sums of integers beyond 2**53 cannot be counted exactly"
        )
    off = bits > _DOUBLE_BITS
    if not is_integer:
        off |= ~_whole(statistics)
    if not np.any(off):
        return statistics
    values = np.array(statistics, dtype=np.float64)
    for j in np.flatnonzero(off):
        # Columns of huge or tiny numbers keep their own scale.
        step = np.ldexp(1.0, max(int(bits[j]) - _DOUBLE_BITS, _LEAST_EXPONENT))
        values[:, j] = np.rint(values[:, j] / step) * step
    return values


def on_grid(values: NDArray[Any], names: Sequence[str]) -> NDArray[Any]:
    """Round statistics to the grid on which sums are exact, `(S, N, k) -> (S, N, k)`.

    Refuse numbers that have a large offset in common and vary little, where that would move what a
    system's numbers say, or its difference to the first system. `names` are those of the k columns.
    """
    if values.dtype.kind in "iu":
        return values
    n_systems, n_segments, k = values.shape
    columns = values.transpose(1, 0, 2).reshape(n_segments, -1)
    grid = exact_grid(columns)
    if grid is columns:
        return values
    grid = grid.reshape(n_segments, n_systems, k).transpose(1, 0, 2)
    for j in np.flatnonzero(np.any(grid != values, axis=(0, 1))):
        _check_rounding(values[..., j], grid[..., j], names[int(j)])
    return np.ascontiguousarray(grid)


def _check_rounding(values: NDArray[Any], grid: NDArray[Any], name: str) -> None:
    """Raise where rounding moves a mean, `(S, N) -> (S,)`, by a share of its standard error."""
    # Squares of large or small numbers are none; a power of two rounds nothing.
    unit = float(np.ldexp(1.0, int(np.frexp(np.max(np.abs(values)))[1]) - 1))
    values, grid = values / unit, grid / unit
    # Both differences are exact, or nearly so: numbers next to each other are subtracted.
    moved = grid - values
    # Of equal numbers, np.std has a rounding error for a spread.
    spread = np.where(np.ptp(values, axis=1) > 0, np.std(values, axis=1), 0.0)
    differences = values[1:] - values[:1]
    size = np.sqrt(np.mean(differences**2, axis=1))
    for scale, error in ((spread, moved), (size, moved[1:] - moved[:1])):
        n = error.shape[1]
        worst = np.sqrt(n * np.mean(error, axis=1) ** 2 + np.mean(error**2, axis=1))
        if np.any((scale > 0) & (worst > _MOST_MOVED * scale)):
            offset = unit * float(np.mean(values))
            raise InputError(
                f"{name} is too large for its spread: sums of {n:,} numbers around {offset:.3g} "
                f"round away what tells them apart; subtract what all have in common first"
            )


def _whole(statistics: NDArray[Any]) -> NDArray[np.bool_]:
    """Say which columns have whole numbers only."""
    if statistics.dtype.kind != "f":
        return np.ones(statistics.shape[1], dtype=np.bool_)
    return np.array([np.all(column == np.rint(column)) for column in statistics.T])


class ExactProduct:
    """Multiply rows of weights, none above `largest`, by statistics on the exact grid.

    Statistics are `(N, K)`, or those of T strata of n units each, `(T, n, K)`.
    """

    def __init__(self, statistics: NDArray[Any], largest: int) -> None:
        self.shape = statistics.shape
        stack = statistics.reshape(-1, *self.shape[-2:])
        statistics = statistics.reshape(-1, self.shape[-1])
        least = np.min(statistics, axis=0).astype(np.float64)
        greatest = np.max(statistics, axis=0).astype(np.float64)
        single = _whole(statistics) & (greatest < _SINGLE_LIMIT / largest)
        # Signed numbers have no check afterwards; nothing can happen to sums this small.
        for j in np.flatnonzero(single & (least < 0)):
            total = np.sum(np.abs(statistics[:, j].astype(np.float64)))
            single[j] = largest * total < _SINGLE_LIMIT
        #: Columns, and their statistics in the precision in which they are multiplied.
        self._parts: list[tuple[NDArray[np.intp], NDArray[Any]]] = []
        for dtype, columns in ((np.float32, single), (np.float64, ~single)):
            places = np.flatnonzero(columns)
            for start in range(0, len(places), _CALL_COLUMNS):
                some = places[start : start + _CALL_COLUMNS]
                self._parts.append((some, stack[..., some].astype(dtype, order="C")))

    def __call__(self, weights: NDArray[Any]) -> NDArray[np.float64]:
        """Return the totals of rows of weights, `(R, N) -> (K, R)`, or `(R, T·n) -> (T, K, R)`."""
        *strata, n, n_columns = self.shape
        stack = weights.reshape(len(weights), -1, n).swapaxes(0, 1)
        totals = np.empty((len(stack), n_columns, len(weights)))
        for columns, statistics in self._parts:
            tile = _CALL_SIZE // (ROW_GROUP * len(columns))
            found = np.zeros((len(stack), len(weights), len(columns)))
            for first in range(0, n, tile):
                segments = slice(first, first + tile)
                found += _product(stack[..., segments], statistics[:, segments])
            totals[:, columns] = found.swapaxes(1, 2)
        return totals if strata else totals[0]


def _product(weights: NDArray[Any], statistics: NDArray[Any]) -> NDArray[Any]:
    """Multiply rows by statistics of some segments, `(T, R, n) @ (T, n, K) -> (T, R, K)`."""
    n_strata, n_rows, n = weights.shape
    n_calls = -(-n_rows // ROW_GROUP)
    block = np.empty((n_strata, n_calls * ROW_GROUP, n), dtype=statistics.dtype)
    block[:, :n_rows] = weights
    block[:, n_rows:] = 0
    # A call of BLAS for every few rows.
    product: NDArray[Any] = block.reshape(n_strata, n_calls, ROW_GROUP, n) @ statistics[:, None]
    if statistics.dtype == np.float32 and np.max(product) >= _SINGLE_LIMIT:
        return _product(weights, statistics.astype(np.float64))
    return product.reshape(n_strata, -1, product.shape[-1])[:, :n_rows]
