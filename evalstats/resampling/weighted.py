"""Rows of weights, and the totals they give: `weights @ statistics`, `(B, N) @ (N, k) -> (B, k)`.

One matrix serves every system and every metric of a call, so all comparisons are paired by
construction. Batches of rows are drawn and multiplied wherever there is room for them; no choice of
where changes a bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalstats.checks import also_called, integer, refuse_masked, shown
from evalstats.errors import InputError
from evalstats.resampling.executors import Workers, as_workers, pieces_of, run_all
from evalstats.resampling.products import ExactProduct, exact_grid
from evalstats.resampling.weights import (
    TOGETHER,
    Bayesian,
    Halves,
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

#: More resamples than this settle nothing that fewer would not.
MOST_RESAMPLES = 10_000_000
#: So many totals are scored together: 32 megabytes.
_MOST_TOTALS = 1 << 22
KINDS = ("multinomial", "bayesian")


def recipe(
    n_segments: int, seed: int, kind: str = "multinomial", n_draws: int | None = None
) -> Weights:
    """Return how the rows of a bootstrap are drawn, or say what no row can be."""
    if kind not in KINDS:
        raise InputError(f"kind of weights must be one of {', '.join(KINDS)}; got {shown(kind)}")
    if n_draws is None:
        n_draws = n_segments
    elif kind == "multinomial":
        n_draws = integer(n_draws, "n_draws", 1, n_segments)
    else:
        raise InputError(f"n_draws is for multinomial weights, and these are {kind}")
    if kind == "bayesian":
        return Bayesian(n_segments, seed)
    return Multinomial(n_segments, seed, n_draws)


@also_called(seed="rng")
def bootstrap_weights(
    n_segments: int,
    n_resamples: int,
    rng: Rng = 12345,
    *,
    kind: str = "multinomial",
    n_draws: int | None = None,
) -> NDArray[Any]:
    """Draw bootstrap resamples as rows of weights, `(B, N)`.

    Multinomial weights say how often a segment was drawn, with replacement (Efron, 1979), and sum
    to N, or to `n_draws`. Bayesian weights are uniform over all weights that sum to N (Rubin,
    1981). The same `n_segments` and the same seed give the same rows in every call, the rows that
    `estimate` and `compare` use, so that systems evaluated on different days stay paired.

    Parameters
    ----------
    n_segments : int
        N, at least 1.
    n_resamples : int
        B, at least 1.
    rng : int or numpy.random.Generator, optional
        Seed or generator; `None` asks for fresh entropy.
    kind : {"multinomial", "bayesian"}
        What a row is.
    n_draws : int, optional
        Segments drawn for a multinomial row, 1 to N; N by default. Fewer are the m-out-of-n
        bootstrap (Bickel, Götze and van Zwet, 1997).

    Returns
    -------
    ndarray of int64, shape (B, N)
        Of float64 for Bayesian weights, which are multiples of a power of two.

    Raises
    ------
    InputError
        For a number out of range, more weights than there is memory for, an unknown kind, or
        `n_draws` for Bayesian weights.

    Examples
    --------
    >>> weights = bootstrap_weights(n_segments=5, n_resamples=1000, rng=1)
    >>> weights.shape, set(weights.sum(axis=1).tolist())
    ((1000, 5), {5})
    """
    n_segments = integer(n_segments, "n_segments", 1)
    n_resamples = integer(n_resamples, "n_resamples", 1, MOST_RESAMPLES)
    weights = recipe(n_segments, as_seed(rng), kind, n_draws)
    try:
        rows = np.empty((n_resamples, n_segments), dtype=np.int64)
    except (MemoryError, ValueError):
        raise InputError(
            f"{n_resamples:,} rows of {n_segments:,} weights do not fit into memory "
            f"({8e-9 * n_resamples * n_segments:,.0f} GB); estimate and compare draw them in blocks"
        ) from None
    for resamples, drawn in batches(weights, n_resamples):
        rows[resamples] = drawn
    return rows if weights.scale == 1 else rows * weights.scale


@also_called(seed="rng")
def bootstrap_totals(
    statistics: ArrayLike,
    n_resamples: int,
    rng: Rng = 12345,
    *,
    kind: str = "multinomial",
    n_draws: int | None = None,
    executor: Workers = None,
) -> Floats:
    """Sum statistics over each of B bootstrap resamples, `(N, k) -> (B, k)`.

    What `bootstrap_weights(N, B, rng) @ statistics` gives, exact in every bit and without the
    matrix ever being in memory.

    Parameters
    ----------
    statistics : array_like, shape (N, k)
        Integers are counted exactly, other numbers on the grid of `exact_grid`.
    n_resamples, rng, kind, n_draws
        As in `bootstrap_weights`, whose rows these are.
    executor : concurrent.futures.Executor, or int, optional
        Where to work: an executor (threads, processes, Dask, MPI), so many threads of this process,
        or all its cores. Changes no bit of the result.

    Returns
    -------
    ndarray of float64, shape (B, k)

    Raises
    ------
    InputError
        For statistics that are not a table of finite numbers, or too large to be counted exactly;
        for a number out of range.

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
        raise InputError(
            f"statistics must be numbers of shape (N, k), got {table.dtype} of {table.shape}"
        )
    if table.dtype.kind == "f" and not np.all(np.isfinite(table)):
        raise InputError("statistics must be finite")
    n_resamples = integer(n_resamples, "n_resamples", 1, MOST_RESAMPLES)
    weights = recipe(len(table), as_seed(rng), kind, n_draws)
    return weighted_totals(weights, table, n_resamples, executor)


def swap_totals(statistics: NDArray[Any], n_resamples: int, seed: int) -> Floats:
    """Sum statistics over B random halves of the segments, `(N, k) -> (B, k)`.

    With systems A and B stacked in the columns, `total_A - half_A + half_B` is the total of A after
    the segments of that half were swapped.
    """
    return weighted_totals(Halves(len(statistics), seed), statistics, n_resamples)


def all_swap_totals(statistics: NDArray[Any]) -> Floats:
    """Sum statistics over all 2^n subsets of n segments, `(n, k) -> (2^n, k)`."""
    totals = np.zeros((1, statistics.shape[1]))
    for row in statistics:
        # Every subset so far, without this segment and with it.
        totals = np.concatenate([totals, totals + row])
    return totals


def weighted_totals(
    weights: Weights, statistics: NDArray[Any], n_resamples: int, executor: Workers = None
) -> Floats:
    """Sum statistics with each of B rows of weights, `(N, k) -> (B, k)`.

    The totals of one column are neighbours in memory, as scores go through them.
    """
    product = ExactProduct(exact_grid(statistics, weights.total), weights.largest)
    columns = over_batches(product, weights, n_resamples, executor, axis=1)
    if weights.scale != 1:
        columns *= weights.scale
    return np.asarray(columns.T)


def stratum_totals(
    weights: Weights,
    parts: Sequence[tuple[NDArray[np.intp], NDArray[Any]]],
    n_resamples: int,
    executor: Workers,
    then: Callable[[list[Floats]], Floats],
) -> Floats:
    """Sum statistics within each stratum, with each of B rows of weights, and score the sums.

    A part has the places of the units of a stratum, `(n,)`, and their statistics, `(n, K)`. `then`
    makes `(R, ...)` of the totals of R resamples, `(R, K)` a stratum: the scores of many strata
    take less memory than their totals. Returns `(B, ...)`.
    """
    products = stacked_products(weights, parts)
    return over_batches(partial(_scored, products, then), weights, n_resamples, executor)


#: Strata of one size together: their numbers, the places of their units, one stratum after the
#: other, and the product with their statistics.
Stacked: TypeAlias = "list[tuple[list[int], Places, ExactProduct]]"


def stacked_products(
    weights: Weights, parts: Sequence[tuple[NDArray[np.intp], NDArray[Any]]]
) -> Stacked:
    """Return products with the statistics of strata, those of one shape in one call."""
    products, every = [], np.arange(weights.n_segments)
    # Strata may be tasks, each with columns of its own.
    of_columns: dict[int, list[int]] = {}
    for t, (_, statistics) in enumerate(parts):
        of_columns.setdefault(statistics.shape[1], []).append(t)
    for numbers in of_columns.values():
        sizes = [len(parts[t][1]) for t in numbers]
        for places in alike(sizes, TOGETHER // weights.batch_rows):
            some = [numbers[i] for i in places]
            grids = [exact_grid(parts[t][1], weights.total) for t in some]
            product = ExactProduct(np.stack(grids), weights.largest)
            products.append((some, joined([every[parts[t][0]] for t in some]), product))
    return products


def _scored(
    products: Stacked, then: Callable[[list[Floats]], Floats], rows: NDArray[Any]
) -> Floats:
    n_columns, scored = sum(math.prod(product.shape[::2]) for *_, product in products), []
    for some_rows in np.array_split(rows, -(-len(rows) * n_columns // _MOST_TOTALS)):
        totals: dict[int, Floats] = {}
        for some, places, product in products:
            found = np.ascontiguousarray(product(some_rows[:, places]).swapaxes(1, 2))
            totals.update(zip(some, found, strict=True))
        scored.append(then([totals[t] for t in range(len(totals))]))
    return np.concatenate(scored)


def over_batches(
    work: Callable[[NDArray[Any]], Floats],
    weights: Weights,
    n_resamples: int,
    executor: Workers,
    axis: int = 0,
) -> Floats:
    """Return what some work makes of all rows of weights `(R, N)`, joined along an axis."""
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
