"""Totals with rows of weights: `weights @ statistics`, `(B, N) @ (N, k) -> (B, k)`.

One matrix serves every system and every metric of a call, so all comparisons are paired by
construction. Batches of rows are drawn and multiplied on any worker; the choice does not change a
bit.

Statistics are on a grid on which all sums are exact in double precision, so that a total does not
depend on the order of summation. If integers are small enough, the same sums are exact in single
precision too, at twice the speed; this is checked afterwards, at no cost: no partial sum of
nonnegative integers exceeds the final sum.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalstats.checks import also_called, integer, refuse_masked
from evalstats.errors import InputError
from evalstats.resampling.executors import Workers, as_workers, pieces_of, run_all
from evalstats.resampling.weights import (
    ROW_GROUP,
    TOGETHER,
    Multinomial,
    Places,
    Rng,
    Weights,
    alike,
    as_seed,
    batches,
    joined,
)

Floats = NDArray[np.float64]

#: Maximum number of resamples; more would not change any conclusion.
MOST_RESAMPLES = 10_000_000
#: Number of totals scored together: 32 megabytes.
_MOST_TOTALS = 1 << 22
#: Sums of integers are exact in a float of p bits if all stay below 2**p.
_SINGLE_LIMIT = float(2**24)
_DOUBLE_BITS = 53
_LEAST_EXPONENT = -1074
#: Multiplications in one BLAS call. OpenBLAS computes products below this size on the calling
#: thread (twice 65536 times its GEMM_MULTITHREAD_THRESHOLD); otherwise its threads and ours would
#: compete for the cores.
_CALL_SIZE = (1 << 19) - 1
#: Maximum number of columns in one BLAS call, which leaves enough room for segments.
_CALL_COLUMNS = 128
#: Numbers at most this many steps of double precision apart differ only by rounding.
_STEPS = 4
#: The largest change of a mean by rounding, as a share of its standard error.
_MOST_MOVED = 0.01


@also_called(seed="rng")
def bootstrap_weights(
    n_segments: int,
    n_resamples: int,
    rng: Rng = 12345,
) -> NDArray[np.int64]:
    """Draw bootstrap resamples as rows of weights, `(B, N)`.

    A weight is the number of times a segment was drawn, with replacement (Efron, 1979); weights sum
    to N. The same `n_segments` and seed give the same rows in every call. `estimate` and `compare`
    use these rows too, so systems evaluated on different days stay paired.

    Parameters
    ----------
    n_segments : int
        N, at least 1.
    n_resamples : int
        B, at least 1.
    rng : int or numpy.random.Generator, optional
        Seed or generator; `None` means fresh entropy.

    Returns
    -------
    ndarray of int64, shape (B, N)

    Raises
    ------
    InputError
        For a number out of range, and if the weights do not fit into memory.

    Examples
    --------
    >>> weights = bootstrap_weights(n_segments=5, n_resamples=1000, rng=1)
    >>> weights.shape, set(weights.sum(axis=1).tolist())
    ((1000, 5), {5})
    """
    n_segments = integer(n_segments, "n_segments", 1)
    n_resamples = integer(n_resamples, "n_resamples", 1, MOST_RESAMPLES)
    weights = Multinomial(n_segments, as_seed(rng))
    try:
        rows = np.empty((n_resamples, n_segments), dtype=np.int64)
    except (MemoryError, ValueError):
        raise InputError(
            f"{n_resamples:,} rows of {n_segments:,} weights do not fit into memory "
            f"({8e-9 * n_resamples * n_segments:,.0f} GB); estimate and compare draw them in blocks"
        ) from None
    for resamples, drawn in batches(weights, n_resamples):
        rows[resamples] = drawn
    return rows


@also_called(seed="rng")
def bootstrap_totals(
    statistics: ArrayLike,
    n_resamples: int,
    rng: Rng = 12345,
    *,
    executor: Workers = None,
) -> Floats:
    """Sum statistics over each of B bootstrap resamples, `(N, k) -> (B, k)`.

    Equal to `bootstrap_weights(N, B, rng) @ statistics`, exact in every bit, but the matrix is
    never in memory.

    Parameters
    ----------
    statistics : array_like, shape (N, k)
        Integers are summed exactly, other numbers on the grid of `exact_grid`.
    n_resamples, rng
        As in `bootstrap_weights`, for the same rows.
    executor : concurrent.futures.Executor, or int, optional
        Where to work: an executor (threads, processes, Dask, MPI), a number of threads of this
        process, or by default all its cores. It does not change any bit of the result.

    Returns
    -------
    ndarray of float64, shape (B, k)

    Raises
    ------
    InputError
        For statistics that are not a table of finite numbers or are too large for exact sums; for a
        number out of range.

    Examples
    --------
    >>> from evalstats import Mean
    >>> accuracy = Mean("accuracy")
    >>> totals = bootstrap_totals(accuracy.statistics([1, 0, 1, 1]), n_resamples=1000)
    >>> totals.shape, bool(accuracy.score(totals).std() > 0.2)
    ((1000, 2), True)
    """
    refuse_masked(statistics, "statistics")
    try:
        table = np.asarray(statistics)
    except ValueError as error:
        raise InputError(f"statistics must be numbers of shape (N, k): {error}") from None
    if table.ndim != 2 or not table.size or table.dtype.kind not in "buif":
        kind = "strings" if table.dtype.kind in "US" else f"{table.dtype} values"
        raise InputError(
            f"statistics must be numbers of shape (N, k), got {kind} of shape {table.shape}"
        )
    if table.dtype.kind == "f" and not np.all(np.isfinite(table)):
        raise InputError("statistics must be finite")
    n_resamples = integer(n_resamples, "n_resamples", 1, MOST_RESAMPLES)
    return weighted_totals(Multinomial(len(table), as_seed(rng)), table, n_resamples, executor)


def weighted_totals(
    weights: Weights, statistics: NDArray[Any], n_resamples: int, executor: Workers = None
) -> Floats:
    """Sum statistics with each of B rows of weights, `(N, k) -> (B, k)`.

    The totals of one column are contiguous in memory, because scores use columns.
    """
    product = ExactProduct(exact_grid(statistics), weights.largest)
    columns = over_batches(product, weights, n_resamples, executor, axis=1)
    return np.asarray(columns.T)


def stratum_totals(
    weights: Weights,
    parts: Sequence[tuple[NDArray[np.intp], NDArray[Any]]],
    n_resamples: int,
    executor: Workers,
    then: Callable[[list[Floats]], Floats],
) -> Floats:
    """Sum statistics within each stratum, with each of B rows of weights, and score the sums.

    A part has the positions of the units of a stratum, `(n,)`, and their statistics, `(n, K)`.
    `then` turns the totals of R resamples, `(R, K)` per stratum, into `(R, ...)`, because the
    scores of many strata take less memory than their totals. Returns `(B, ...)`.
    """
    products = stacked_products(weights, parts)
    return over_batches(partial(_scored, products, then), weights, n_resamples, executor)


#: Strata of one size together: their numbers, the positions of their units, stratum by stratum, and
#: the product with their statistics.
Stacked: TypeAlias = "list[tuple[list[int], Places, ExactProduct]]"


def stacked_products(
    weights: Weights, parts: Sequence[tuple[NDArray[np.intp], NDArray[Any]]]
) -> Stacked:
    """Return products with the statistics of strata; strata of one shape share a call."""
    products, every = [], np.arange(weights.n_segments)
    # Strata may be tasks, each with its own columns.
    of_columns: dict[int, list[int]] = {}
    for t, (_, statistics) in enumerate(parts):
        of_columns.setdefault(statistics.shape[1], []).append(t)
    for numbers in of_columns.values():
        sizes = [len(parts[t][1]) for t in numbers]
        for places in alike(sizes, TOGETHER // weights.batch_rows):
            members = [numbers[i] for i in places]
            grids = [exact_grid(parts[t][1], weights.n_segments) for t in members]
            product = ExactProduct(np.stack(grids), weights.largest)
            products.append((members, joined([every[parts[t][0]] for t in members]), product))
    return products


def _scored(
    products: Stacked, then: Callable[[list[Floats]], Floats], rows: NDArray[Any]
) -> Floats:
    n_columns, scored = sum(math.prod(product.shape[::2]) for *_, product in products), []
    for some_rows in np.array_split(rows, -(-len(rows) * n_columns // _MOST_TOTALS)):
        totals: dict[int, Floats] = {}
        for members, places, product in products:
            sums = np.ascontiguousarray(product(some_rows[:, places]).swapaxes(1, 2))
            totals.update(zip(members, sums, strict=True))
        scored.append(then([totals[t] for t in range(len(totals))]))
    return np.concatenate(scored)


def over_batches(
    work: Callable[[NDArray[Any]], Floats],
    weights: Weights,
    n_resamples: int,
    executor: Workers,
    axis: int = 0,
) -> Floats:
    """Return the results of a function on all rows of weights `(R, N)`, joined along an axis."""
    workers = as_workers(executor)
    pieces = pieces_of(weights.n_batches(n_resamples), workers)
    worked = partial(_on_batches, work, weights, n_resamples, axis)
    return np.concatenate(run_all(worked, pieces, workers), axis=axis)


def _on_batches(
    work: Callable[[NDArray[Any]], Floats],
    weights: Weights,
    n_resamples: int,
    axis: int,
    numbers: range,
) -> Floats:
    drawn = batches(weights, n_resamples, numbers)
    return np.concatenate([work(rows) for _, rows in drawn], axis=axis)


def exact_grid(statistics: NDArray[Any], weight_total: int | None = None) -> NDArray[Any]:
    """Round statistics to a grid on which weighted sums are exact, `(N, k) -> (N, k)`.

    Whole numbers are on the grid if their sums fit into 53 bits. Other columns are rounded to
    multiples of a power of two: a value changes by at most w·2^-53 of the largest in its column,
    with the sum w of the weights (N by default); the error of one ordinary sum can be as large.

    Raises
    ------
    InputError
        For arrays of integers whose sums are too large to be exact, and sums that are not finite.
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
    # Weights that sum to more than N are not counts, so their sums need not be exact.
    if is_integer and counts <= len(statistics) and np.any(bits > _DOUBLE_BITS):
        raise InputError("statistics are too large: sums of integers beyond 2**53 are not exact")
    off = bits > _DOUBLE_BITS
    if not is_integer:
        off |= ~_whole(statistics)
    if not np.any(off):
        return statistics
    values = np.array(statistics, dtype=np.float64)
    for j in np.flatnonzero(off):
        # Columns of very large or small numbers keep their scale.
        step = np.ldexp(1.0, max(int(bits[j]) - _DOUBLE_BITS, _LEAST_EXPONENT))
        values[:, j] = np.rint(values[:, j] / step) * step
    return values


def without_rounding(values: NDArray[Any]) -> NDArray[Any]:
    """Make numbers of different systems equal if they differ only by rounding, `(S, N, k)`.

    For example, (.1 + .2 + .3) / 3 and (.3 + .2 + .1) / 3 are the same score. Numbers differ
    only by rounding if they are at most four steps of double precision apart; the lowest of
    them replaces all.
    """
    if values.dtype.kind != "f" or len(values) == 1:
        return values
    order = np.argsort(values, axis=0, kind="stable")
    ranked = np.take_along_axis(values, order, axis=0)
    gaps = np.diff(ranked, axis=0)
    near = (gaps > 0) & (gaps <= _STEPS * np.spacing(np.abs(ranked[1:])))
    if not np.any(near):
        return values
    for s in range(1, len(ranked)):
        ranked[s] = np.where(near[s - 1], ranked[s - 1], ranked[s])
    level = np.empty_like(values)
    np.put_along_axis(level, order, ranked, axis=0)
    return level


def on_grid(values: NDArray[Any], names: Sequence[str]) -> NDArray[Any]:
    """Round statistics to the grid on which sums are exact, `(S, N, k) -> (S, N, k)`.

    Refuse numbers with a large common offset and little variation, if rounding would change a
    system's mean or its difference from the first system. `names` are the names of the k columns.
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
    """Raise an error if rounding changes a mean, `(S, N) -> (S,)`, too much."""
    # Squares of very large or small numbers overflow; scaling by a power of two is exact.
    unit = float(np.ldexp(1.0, int(np.frexp(np.max(np.abs(values)))[1]) - 1))
    values, grid = values / unit, grid / unit
    # Both differences are exact, or nearly so, because the numbers are close to each other.
    moved = grid - values
    # For equal numbers, np.std returns a rounding error.
    spread = np.where(np.ptp(values, axis=1) > 0, np.std(values, axis=1), 0.0)
    differences = values[1:] - values[:1]
    size = np.sqrt(np.mean(differences**2, axis=1))
    for scale, error in ((spread, moved), (size, moved[1:] - moved[:1])):
        n = error.shape[1]
        worst = np.sqrt(n * np.mean(error, axis=1) ** 2 + np.mean(error**2, axis=1))
        if np.any((scale > 0) & (worst > _MOST_MOVED * scale)):
            offset = unit * float(np.mean(values))
            what = name.removeprefix("sum of ")
            raise InputError(
                f"the values of {what} are too large for their spread: differences are lost to "
                f"rounding in sums of {n:,} numbers around {offset:.3g}. Subtract the common "
                "offset first."
            )


def _whole(statistics: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which columns have only whole numbers."""
    if statistics.dtype.kind != "f":
        return np.ones(statistics.shape[1], dtype=np.bool_)
    return np.array([np.all(column == np.rint(column)) for column in statistics.T])


class ExactProduct:
    """Multiply rows of weights, none above `largest`, by statistics on the exact grid.

    Statistics are `(N, K)`, or `(T, n, K)` for T strata of n units each.
    """

    def __init__(self, statistics: NDArray[Any], largest: int) -> None:
        self.shape: tuple[int, ...] = statistics.shape
        stack = statistics.reshape(-1, *self.shape[-2:])
        statistics = statistics.reshape(-1, self.shape[-1])
        least = np.min(statistics, axis=0).astype(np.float64)
        greatest = np.max(statistics, axis=0).astype(np.float64)
        single = _whole(statistics) & (greatest < _SINGLE_LIMIT / largest)
        # Signed numbers cannot be checked afterwards; sums this small are always exact.
        for j in np.flatnonzero(single & (least < 0)):
            total = np.sum(np.abs(statistics[:, j].astype(np.float64)))
            single[j] = largest * total < _SINGLE_LIMIT
        #: Columns, and their statistics in the precision in which they are multiplied.
        self._parts: list[tuple[NDArray[np.intp], NDArray[Any]]] = []
        for dtype, columns in ((np.float32, single), (np.float64, ~single)):
            places = np.flatnonzero(columns)
            for start in range(0, len(places), _CALL_COLUMNS):
                group = places[start : start + _CALL_COLUMNS]
                self._parts.append((group, stack[..., group].astype(dtype, order="C")))

    def __call__(self, weights: NDArray[Any]) -> NDArray[np.float64]:
        """Return the totals of rows of weights, `(R, N) -> (K, R)`, or `(R, T·n) -> (T, K, R)`."""
        *strata, n, n_columns = self.shape
        stack = weights.reshape(len(weights), -1, n).swapaxes(0, 1)
        totals = np.empty((len(stack), n_columns, len(weights)))
        for columns, statistics in self._parts:
            tile = _CALL_SIZE // (ROW_GROUP * len(columns))
            sums = np.zeros((len(stack), len(weights), len(columns)))
            for first in range(0, n, tile):
                segments = slice(first, first + tile)
                sums += _product(stack[..., segments], statistics[:, segments])
            totals[:, columns] = sums.swapaxes(1, 2)
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
