"""Weights times statistics, `(R, N) @ (N, K) -> (R, K)`, exactly.

Statistics lie on a grid on which all sums are exact in double precision, so that a total does not
depend on the order of summation. Where integers are small enough, the same sums are exact in
single precision too, at twice the speed; that is checked after the fact, which costs nothing: no
partial sum of nonnegative integers exceeds the final one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalstats.errors import InputError
from evalstats.scratch import Scratch
from evalstats.weights import ROW_GROUP

#: Sums of integers are exact in a float of p bits while all of them stay below 2**p.
_SINGLE_LIMIT = float(2**24)
_DOUBLE_BITS = 53
_LEAST_EXPONENT = -1074
#: Multiplications in one BLAS call. OpenBLAS keeps products below this size on the calling thread
#: (twice 65536 times its GEMM_MULTITHREAD_THRESHOLD); its own threads and ours would fight for the
#: cores.
_CALL_SIZE = (1 << 19) - 1
#: Columns in one BLAS call, so that enough rows and segments remain.
_CALL_COLUMNS = 128
#: Statistics kept in single precision beside the given ones; beyond, tiles are converted as needed.
_KEPT_STATISTICS = 1 << 25


def exact_grid(statistics: NDArray[Any], weight_total: int | None = None) -> NDArray[Any]:
    """Round statistics to a grid on which weighted sums are exact, `(N, k) -> (N, k)`.

    Whole numbers are on it as long as their sums have 53 bits. Other columns are rounded to
    multiples of a power of two chosen so that the sum of the weights, w (N by default), times the
    largest value has 53 bits: no value moves by more than w·2^-53 of the largest in its column,
    for w = N what one ordinary summation may err by. No sum depends on its order.

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
        off |= np.array([not np.all(column == np.rint(column)) for column in statistics.T])
    if not np.any(off):
        return statistics
    values = np.array(statistics, dtype=np.float64)
    for j in np.flatnonzero(off):
        # Columns of huge or tiny numbers keep their own scale.
        step = np.ldexp(1.0, max(int(bits[j]) - _DOUBLE_BITS, _LEAST_EXPONENT))
        values[:, j] = np.rint(values[:, j] / step) * step
    return values


class ExactProduct:
    """Multiply blocks of weights by the same statistics.

    Parameters
    ----------
    statistics : ndarray, shape (N, K)
        On the grid of `exact_grid`.
    largest : int
        No weight exceeds it.
    """

    def __init__(self, statistics: NDArray[Any], largest: int) -> None:
        # Systems share the lengths of a reference, and BLEU counts words twice.
        groups = _equal_columns(statistics)
        fits = _fits_single(statistics, largest)
        single = [group for group in groups if fits[group[0]]]
        double = [group for group in groups if not fits[group[0]]]
        self.n_columns = statistics.shape[1]
        self._parts = [
            (some, _Part(statistics, [g[0] for g in some], dtype))
            for some, dtype in ((single, np.float32), (double, np.float64))
            if some
        ]

    def __call__(
        self, weights: NDArray[Any], totals: NDArray[np.float64], scratch: Scratch
    ) -> None:
        """Write the totals of a block of weights `(R, N)`, transposed, `(K, R)`."""
        for groups, part in self._parts:
            found = part.totals(weights, scratch)
            for column, group in zip(found.T, groups, strict=True):
                for j in group:
                    totals[j] = column


def _equal_columns(statistics: NDArray[Any]) -> list[list[int]]:
    """Group the numbers of columns with the same content."""
    sums = np.asarray(np.sum(statistics, axis=0, dtype=np.float64))
    groups: list[list[int]] = []
    for j in range(statistics.shape[1]):
        for group in groups:
            i = group[0]
            if sums[i] == sums[j] and np.array_equal(statistics[:, i], statistics[:, j]):
                group.append(j)
                break
        else:
            groups.append([j])
    return groups


def _fits_single(statistics: NDArray[Any], largest: int) -> NDArray[np.bool_]:
    """Which columns single precision counts exactly, or shows afterwards that it did not, `(K,)`.

    Signed numbers have no such check; they need sums so small that nothing can happen.
    """
    if largest > 255:
        return np.zeros(statistics.shape[1], dtype=np.bool_)
    fits = np.asarray(np.max(statistics, axis=0).astype(np.float64) < _SINGLE_LIMIT)
    for j in np.flatnonzero(fits & (np.min(statistics, axis=0) < 0)):
        # Narrow integers have no absolute value of their least.
        total = np.sum(np.abs(statistics[:, j].astype(np.float64)))
        fits[j] = largest * total < _SINGLE_LIMIT
    if statistics.dtype.kind == "f":
        fits &= np.array([np.all(column == np.rint(column)) for column in statistics.T])
    return fits


class _Part:
    """Some columns, in one precision.

    Segments are taken a tile at a time, so that one BLAS call stays small and a weight matrix of
    any width is converted within fast memory; the sum over tiles is in double precision.
    """

    def __init__(self, statistics: NDArray[Any], columns: list[int], dtype: type) -> None:
        self._dtype = dtype
        # All of them share the memory of the statistics.
        everything = len(columns) == statistics.shape[1]
        self._statistics = statistics if everything else statistics[:, columns]
        if self._statistics.size <= _KEPT_STATISTICS:
            self._statistics = np.ascontiguousarray(self._statistics, dtype=dtype)

    def totals(self, weights: NDArray[Any], scratch: Scratch) -> NDArray[Any]:
        n_segments, n_columns = self._statistics.shape
        size = _CALL_SIZE // (min(len(weights), ROW_GROUP) * min(n_columns, _CALL_COLUMNS))
        if n_segments <= size:
            return self._tile(weights, slice(0, n_segments), self._dtype, scratch)
        totals = scratch.array("totals", (len(weights), n_columns), np.float64)
        totals[...] = 0
        for start in range(0, n_segments, size):
            tile = slice(start, min(start + size, n_segments))
            totals += self._tile(weights[:, tile], tile, self._dtype, scratch)
        return totals

    def _tile(
        self, weights: NDArray[Any], tile: slice, dtype: type, scratch: Scratch
    ) -> NDArray[Any]:
        """Return the totals over some segments, in the scratch."""
        block = scratch.array("block", weights.shape, dtype)
        block[...] = weights
        statistics: NDArray[Any] = np.asarray(self._statistics[tile], dtype=dtype)
        n_rows, n_columns = len(weights), statistics.shape[1]
        product = scratch.array("product", (n_rows, n_columns), dtype)
        for start in range(0, n_columns, _CALL_COLUMNS):
            columns = slice(start, start + _CALL_COLUMNS)
            _by_groups(block, statistics[:, columns], product[:, columns])
        if dtype is np.float32 and np.max(product) >= _SINGLE_LIMIT:
            return self._tile(weights, tile, np.float64, scratch)
        return product


def _by_groups(weights: NDArray[Any], statistics: NDArray[Any], out: NDArray[Any]) -> None:
    """Multiply each group of rows in a BLAS call of its own, `(R, T) @ (T, K) -> (R, K)`."""
    whole = len(weights) - len(weights) % ROW_GROUP
    if whole:
        # Splitting an axis never copies.
        grouped = (whole // ROW_GROUP, ROW_GROUP, -1)
        np.matmul(weights[:whole].reshape(grouped), statistics, out=out[:whole].reshape(grouped))
    if whole < len(weights):
        np.matmul(weights[whole:], statistics, out=out[whole:])
