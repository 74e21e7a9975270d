"""Resampling within strata: each stratum (a domain, a language, a task) keeps its own size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalstats.resampling.executors import Workers
from evalstats.resampling.multinomial_rows import multinomial_rows
from evalstats.resampling.products import ExactProduct, exact_grid
from evalstats.resampling.weighted import over_batches
from evalstats.resampling.weights import Weights

Floats = NDArray[np.float64]


def places_of(codes: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """Return the segments of each stratum, T arrays, from the stratum of each segment, `(N,)`."""
    order = np.argsort(codes, kind="stable")
    return np.split(order, np.cumsum(np.bincount(codes))[:-1])


@dataclass(frozen=True, eq=False)
class Stratified(Weights):
    """The bootstrap within strata: a row is multinomial in each, with as many draws as segments.

    `codes` `(N,)` are the strata of the segments, from 0 on, none left out. One stratum gives the
    rows of `Multinomial`.
    """

    codes: NDArray[np.intp]

    stream = 0

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

    A part has the places of the units of a stratum, `(n,)`, and their statistics, `(n, K)`. `then`
    makes `(R, ...)` of the totals of R resamples, `(R, K)` a stratum: the scores of many strata
    take less memory than their totals. Returns `(B, ...)`.
    """
    products = [
        (places, ExactProduct(exact_grid(statistics, weights.total), weights.largest))
        for places, statistics in parts
    ]
    return over_batches(_Work(products, then), weights, n_resamples, executor)


@dataclass
class _Work:
    products: list[tuple[NDArray[np.intp], ExactProduct]]
    then: Callable[[list[Floats]], Floats]

    def __call__(self, rows: NDArray[Any]) -> Floats:
        totals = (product(rows[:, places]) for places, product in self.products)
        return self.then([np.ascontiguousarray(found.T) for found in totals])
