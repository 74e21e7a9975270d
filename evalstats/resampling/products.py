"""Weights times statistics, `(R, N) @ (N, K) -> (R, K)`, exactly.

Statistics lie on a grid on which all sums are exact in double precision, so that a total does not
depend on the order of summation. Where integers are small enough, the same sums are exact in
single precision too, at twice the speed; that is checked after the fact, which costs nothing: no
partial sum of nonnegative integers exceeds the final one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalstats.errors import InputError
from evalstats.resampling.column_relations import Derived, column_relations
from evalstats.resampling.scratch import Scratch
from evalstats.resampling.weights import ROW_GROUP

#: Sums of integers are exact in a float of p bits while all of them stay below 2**p.
_SINGLE_LIMIT = float(2**24)
_MOST_SINGLE_WEIGHT = 255
#: Weighted sums below this are exact after an addition or two, if they are whole.
_LARGEST_SUM = 2.0**50
_DOUBLE_BITS = 53
_LEAST_EXPONENT = -1074
#: Multiplications in one BLAS call. OpenBLAS keeps products below this size on the calling thread
#: (twice 65536 times its GEMM_MULTITHREAD_THRESHOLD); its own threads and ours would fight for the
#: cores.
_CALL_SIZE = (1 << 19) - 1
#: Groups of rows in one BLAS call, where segments are few.
_MOST_GROUPS = 7
#: Columns in one BLAS call, so that enough rows and segments remain.
_CALL_COLUMNS = 128
#: OpenBLAS works on 8 rows and 4 columns of a result at once, so 12 columns are 8 % faster as rows.
#: It is what two systems of BLEU have (`benchmarks/test_resampling.py`).
_TRANSPOSED_COLUMNS = 12
#: Weights converted at a time, two megabytes. Fewer would fit faster memory, but threads that run
#: more and shorter steps wait for the interpreter's lock more often.
_BLOCK_WEIGHTS = 1 << 19
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
        off |= ~_whole(statistics)
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
    weight_total : int
        No row of weights has a larger sum.
    is_sum : bool
        Whether all rows have this sum.
    """

    def __init__(
        self, statistics: NDArray[Any], largest: int, weight_total: int, *, is_sum: bool = False
    ) -> None:
        self.n_columns = statistics.shape[1]
        least = np.min(statistics, axis=0).astype(np.float64)
        greatest = np.max(statistics, axis=0).astype(np.float64)
        whole = _whole(statistics)
        countable = whole & (weight_total * np.maximum(greatest, -least) < _LARGEST_SUM)
        bases, self._derived = column_relations(statistics, countable, is_sum=is_sum)
        fits = whole & (largest <= _MOST_SINGLE_WEIGHT) & (greatest < _SINGLE_LIMIT)
        for j in np.flatnonzero(fits & (least < 0)):
            # Signed numbers have no check afterwards; nothing can happen to sums this small.
            # Narrow integers have no absolute value of their least.
            total = np.sum(np.abs(statistics[:, j].astype(np.float64)))
            fits[j] = largest * total < _SINGLE_LIMIT
        single = [j for j in bases if fits[j]]
        double = [j for j in bases if not fits[j]]
        self._parts = [
            _Part(statistics, columns, dtype, weight_total * np.max(greatest[columns]))
            for columns, dtype in ((single, np.float32), (double, np.float64))
            if columns
        ]
        self._columns = _as_slice([one.column for one in self._derived])
        self._bases = [one.base for one in self._derived]
        constants = np.array([one.constant for one in self._derived])
        self._constants = constants[:, None] * weight_total
        self._exceptions, differences = _exceptions(self._derived)
        self._exceptional = _Part(differences, list(range(len(self._derived))), np.float64, 0)

    def __call__(
        self, weights: NDArray[Any], totals: NDArray[np.float64], scratch: Scratch
    ) -> None:
        """Write the totals of a block of weights `(R, N)`, transposed, `(K, R)`."""
        for part in self._parts:
            for start, found in part.totals(weights, scratch):
                totals[part.places, start : start + found.shape[1]] = found
        if self._derived:
            # Few and large steps: threads wait for the interpreter's lock at each.
            derived = totals[self._bases] + self._constants
            if len(self._exceptions):
                for start, found in self._exceptional.totals(weights[:, self._exceptions], scratch):
                    derived[:, start : start + found.shape[1]] += found
            totals[self._columns] = derived


def _as_slice(columns: list[int]) -> list[int] | slice:
    """Return the same columns, as a slice where they are neighbours: copies are faster then."""
    if columns and columns == list(range(columns[0], columns[-1] + 1)):
        return slice(columns[0], columns[-1] + 1)
    return columns


def _exceptions(derived: list[Derived]) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return the segments that are an exception for any derived column, and all their differences.

    E segments and D columns: `(E,)` and `(E, D)`.
    """
    segments = np.unique(np.concatenate([[], *(one.segments for one in derived)])).astype(np.intp)
    differences = np.zeros((len(segments), len(derived)))
    for j, one in enumerate(derived):
        differences[np.searchsorted(segments, one.segments), j] = one.more
    return segments, differences


def _whole(statistics: NDArray[Any]) -> NDArray[np.bool_]:
    """Say which columns have whole numbers only."""
    if statistics.dtype.kind != "f":
        return np.ones(statistics.shape[1], dtype=np.bool_)
    return np.array([np.all(column == np.rint(column)) for column in statistics.T])


class _Part:
    """Some columns, in one precision.

    Segments are taken a tile at a time, so that one BLAS call stays small, and rows a block at a
    time, so that weights are converted within fast memory; the sum over tiles is in double
    precision. Tiles are of one size: segments without weight fill the last.

    Parameters
    ----------
    statistics : ndarray, shape (N, ...)
    columns : list of int
        Which columns.
    dtype : type
        The precision, `numpy.float32` or `numpy.float64`.
    largest_sum : float
        No total exceeds it.
    """

    def __init__(
        self, statistics: NDArray[Any], columns: list[int], dtype: type, largest_sum: float
    ) -> None:
        self._dtype = dtype
        self._given = statistics
        self._columns = columns
        #: Where their totals go.
        self.places = _as_slice(columns)
        self._n_columns = _padded(len(columns))
        width = ROW_GROUP * min(max(self._n_columns, 1), _CALL_COLUMNS)
        n_segments = max(1, len(statistics))
        self._n_tiles = -(-n_segments // (_CALL_SIZE // width))
        self._tile = -(-n_segments // self._n_tiles)
        self._group = ROW_GROUP * min(_CALL_SIZE // (width * self._tile), _MOST_GROUPS)
        self._may_be_inexact = dtype is np.float32 and largest_sum >= _SINGLE_LIMIT
        self._kept: NDArray[Any] | None = None
        if len(statistics) * len(columns) <= _KEPT_STATISTICS:
            self._kept = self._converted(slice(0, self._n_tiles), dtype)

    def totals(self, weights: NDArray[Any], scratch: Scratch) -> Iterator[tuple[int, NDArray[Any]]]:
        """Yield where some rows start and their totals, transposed, `(K, rows)`."""
        n_rows = len(weights)
        whole = n_rows - n_rows % self._group
        step = max(1, _BLOCK_WEIGHTS // (self._group * self._tile)) * self._group
        step = _even(whole, step, self._group)
        for start in range(0, whole, step):
            found = self._over_all_tiles(weights[start : min(start + step, whole)], scratch)
            yield start, found[:, : len(self._columns)].T
        if whole < n_rows:
            yield whole, self._over_all_tiles(weights[whole:], scratch)[:, : len(self._columns)].T

    def _over_all_tiles(self, weights: NDArray[Any], scratch: Scratch) -> NDArray[Any]:
        step = max(1, _BLOCK_WEIGHTS // (len(weights) * self._tile))
        if step >= self._n_tiles:
            return self._products(weights, slice(0, self._n_tiles), self._dtype, scratch)
        totals = scratch.array("totals", (len(weights), self._n_columns), np.float64)
        totals[...] = 0
        for start in range(0, self._n_tiles, step):
            tiles = slice(start, min(start + step, self._n_tiles))
            totals += self._products(weights, tiles, self._dtype, scratch)
        return totals

    def _products(
        self, weights: NDArray[Any], tiles: slice, dtype: type, scratch: Scratch
    ) -> NDArray[Any]:
        """Return the totals over some tiles of segments, `(R, K)`, in the scratch.

        Rows in one group, or in whole groups; each group and tile is a BLAS call of its own.
        """
        n_rows, n_tiles = len(weights), tiles.stop - tiles.start
        group = min(n_rows, self._group)
        given = weights[:, tiles.start * self._tile : tiles.stop * self._tile]
        block = scratch.array("block", (n_rows, n_tiles * self._tile), dtype)
        block[:, : given.shape[1]] = given
        if given.shape[1] < block.shape[1]:
            block[:, given.shape[1] :] = 0
        # Splitting an axis never copies.
        parts = block.reshape(n_rows // group, group, n_tiles, self._tile).swapaxes(1, 2)
        statistics = self._converted(tiles, dtype)
        products = self._room(parts.shape[:3], dtype, scratch)
        for first in range(0, self._n_columns, _CALL_COLUMNS):
            columns = slice(first, first + _CALL_COLUMNS)
            np.matmul(parts, statistics[..., columns], out=products[..., columns])
        if dtype is np.float32 and self._may_be_inexact and np.max(products) >= _SINGLE_LIMIT:
            return self._products(weights, tiles, np.float64, scratch)
        if n_tiles > 1:
            products = np.asarray(np.sum(products, axis=1, dtype=np.float64))
        return products.reshape(n_rows, self._n_columns)

    def _room(self, shape: tuple[int, ...], dtype: type, scratch: Scratch) -> NDArray[Any]:
        """Return an array for products, `(G, T, rows, K)`, transposed where BLAS prefers that."""
        n_groups, n_tiles, group = shape
        if self._n_columns != _TRANSPOSED_COLUMNS:
            return scratch.array("product", (n_groups, n_tiles, group, self._n_columns), dtype)
        rows = scratch.array("product", (n_groups, n_tiles, self._n_columns, group), dtype)
        return np.swapaxes(rows, 2, 3)

    def _converted(self, tiles: slice, dtype: type) -> NDArray[Any]:
        """Return the statistics of some tiles, `(T, tile, K)`, filled up with zeros."""
        if self._kept is not None and dtype is self._dtype:
            return self._kept[tiles]
        given = self._given[tiles.start * self._tile : tiles.stop * self._tile]
        n_tiles = tiles.stop - tiles.start
        found: NDArray[Any] = np.zeros((n_tiles * self._tile, self._n_columns), dtype=dtype)
        for j, column in enumerate(self._columns):
            found[: len(given), j] = given[:, column]
        return found.reshape(n_tiles, self._tile, self._n_columns)


def _even(length: int, most: int, unit: int) -> int:
    """Return a multiple of the unit that divides a length into equal steps, at most so long."""
    steps = max(1, -(-length // most))
    return max(1, -(-length // (steps * unit))) * unit


def _padded(n_columns: int) -> int:
    """Return how many columns to multiply: columns of zeros fill what BLAS works on at once.

    It is faster at 8 columns than at 5, 6 or 7 (`benchmarks/test_resampling.py`).
    """
    return n_columns if n_columns % 8 < 3 else -(-n_columns // 4) * 4
