"""Resampling within strata: each stratum (a domain, a language, a task) keeps its own size.

Where a test set was put together from so many segments of each kind, another one like it would have
as many of each, and what a score owes to that mixture is no part of its uncertainty.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalstats.resampling.executors import Workers, as_workers, pieces_of, run_all
from evalstats.resampling.multinomial_rows import multinomial_rows
from evalstats.resampling.products import ExactProduct, exact_grid
from evalstats.resampling.weights import Weights, batches

Floats = NDArray[np.float64]


def places_of(codes: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """Return the segments of each stratum, T arrays, from the stratum of each segment, `(N,)`."""
    order = np.argsort(codes, kind="stable")
    return np.split(order, np.cumsum(np.bincount(codes))[:-1])


@dataclass(frozen=True, eq=False)
class Stratified(Weights):
    """The bootstrap within strata: a row is multinomial in each, with as many draws as segments.

    One stratum gives the rows of `Multinomial`.

    Attributes
    ----------
    codes : ndarray of int, shape (N,)
        Number of the stratum of each segment, from 0 on, none left out.
    """

    codes: NDArray[np.intp]

    stream = 0

    @property
    def total(self) -> int:
        """The sum of a row."""
        return self.n_segments

    def _draw(self, rng: np.random.Generator) -> NDArray[np.uint8]:
        rows = np.empty((self.batch_rows, self.n_segments), dtype=np.uint8)
        for places in places_of(self.codes):
            n = len(places)
            rows[:, places] = multinomial_rows(rng, np.full(len(rows), n), n)
        return rows


def stratum_totals(
    weights: Weights,
    parts: Sequence[tuple[NDArray[np.intp], NDArray[Any]]],
    n_resamples: int,
    executor: Workers,
    then: Callable[[list[Floats]], Floats],
) -> Floats:
    """Sum statistics within each stratum, with each of B rows of weights, and score the sums.

    Parameters
    ----------
    weights : Weights
    parts : sequence of (ndarray, ndarray)
        Places of the units of each stratum, `(n,)`, and their statistics, `(n, K)`.
    n_resamples : int
        B.
    executor
        As in `bootstrap_totals`.
    then : callable
        Makes `(R, ...)` of the totals of R resamples, `(R, K)` a stratum: the scores of many strata
        take less memory than their totals.

    Returns
    -------
    ndarray, shape (B, ...)
    """
    workers = as_workers(executor)
    products = [
        (places, ExactProduct(exact_grid(statistics, weights.total), weights.largest))
        for places, statistics in parts
    ]
    work = _Work(weights, products, n_resamples, then)
    pieces = pieces_of(weights.n_batches(n_resamples), workers)
    return np.concatenate(run_all(work, pieces, workers))


@dataclass
class _Work:
    weights: Weights
    products: list[tuple[NDArray[np.intp], ExactProduct]]
    n_resamples: int
    then: Callable[[list[Floats]], Floats]

    def __call__(self, numbers: range) -> Floats:
        return np.concatenate(
            [
                self.then(
                    [np.ascontiguousarray(product(rows[:, p]).T) for p, product in self.products]
                )
                for _, rows in batches(self.weights, self.n_resamples, numbers)
            ]
        )
