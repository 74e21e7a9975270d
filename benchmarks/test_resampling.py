"""What the mechanisms of the engine are worth: `pytest benchmarks --benchmark-only`.

Each is measured against the plain way, by itself and as part of whole calls.
"""

from __future__ import annotations

import numpy as np
import pytest

import evalstats as es
from benchmarks.corpora import corpus
from evalstats.resampling import executors, multinomial_rows, products
from evalstats.resampling.poisson import poisson_counts
from evalstats.resampling.products import ExactProduct
from evalstats.resampling.totals import bootstrap_totals

N, B = 2037, 2000


def plain(statistics: np.ndarray, n_resamples: int, seed: int) -> np.ndarray:
    """Draw indices, count them, multiply."""
    rng = np.random.default_rng(seed)
    n = len(statistics)
    totals = []
    for start in range(0, n_resamples, 128):
        rows = min(128, n_resamples - start)
        index = rng.integers(n, size=(rows, n)) + n * np.arange(rows)[:, None]
        weights = np.bincount(index.ravel(), minlength=rows * n).reshape(rows, n)
        totals.append(weights.astype(np.float32) @ statistics.astype(np.float32))
    return np.concatenate(totals)


def multinomial(statistics: np.ndarray, n_resamples: int, seed: int) -> np.ndarray:
    """Use NumPy's own multinomial."""
    n = len(statistics)
    weights = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=n_resamples)
    return weights @ statistics


@pytest.mark.benchmark(group=f"{B} resamples of {N} segments")
@pytest.mark.parametrize("draw", [bootstrap_totals, plain, multinomial])
def test_bootstrap_totals(benchmark, draw):
    statistics = np.random.default_rng(0).integers(0, 40, size=(N, 20)).astype(np.float64)
    benchmark(draw, statistics, B, 1)


def numpys(mean: float, rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    """Use NumPy's own Poisson numbers."""
    return rng.poisson(mean, size=shape)


@pytest.mark.benchmark(group="a million Poisson counts")
@pytest.mark.parametrize("draw", [poisson_counts, numpys])
def test_poisson_counts(benchmark, draw):
    benchmark(draw, 0.96, np.random.default_rng(1), (504, N))


@pytest.mark.benchmark(group="products of 504 rows: in exact single precision, and in double")
@pytest.mark.parametrize("product", ["exact", "double"])
@pytest.mark.parametrize("n_columns", [10, 20, 90])
def test_products(benchmark, n_columns, product):
    rng = np.random.default_rng(0)
    weights = rng.integers(0, 4, size=(504, N), dtype=np.uint8)
    statistics = rng.integers(0, 40, size=(N, n_columns))
    if product == "exact":
        benchmark(ExactProduct(statistics, 255), weights)
    else:
        benchmark(lambda: weights.astype(np.float64) @ statistics.astype(np.float64))


def numpys_bytes(mean: float, rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Use NumPy's own Poisson numbers, as the engine wants them."""
    return rng.poisson(mean, size=shape).astype(np.uint8)


#: What takes the place of each mechanism; one that no job misses by a quarter can go.
WITHOUT = {
    "nothing": [],
    "Poisson counts from bytes": [(multinomial_rows, "poisson_counts", numpys_bytes)],
    "single precision": [(products, "_SINGLE_LIMIT", 0.0)],
    "small BLAS calls": [(products, "_CALL_SIZE", 1 << 60), (products, "ROW_GROUP", 504)],
    "threads": [(executors, "usable_cores", lambda: 1)],
}


@pytest.fixture(scope="module")
def jobs():
    """Return an interval, all pairs of nine systems, and a large product."""
    _, systems, references = corpus()
    table = es.extract(dict(list(systems.items())[:9]), references)
    one = es.SegmentStatistics(table.values[:1], table.systems[:1], table.metric)
    large = np.random.default_rng(0).integers(0, 40, size=(100_000, 20))
    return {
        "interval": lambda: es.estimate(one),
        "all pairs": lambda: es.compare(table),
        "100,000 x 1,000": lambda: bootstrap_totals(large, 1000, 12345),
    }


@pytest.mark.benchmark(group="whole calls, without one mechanism")
@pytest.mark.parametrize("job", ["interval", "all pairs", "100,000 x 1,000"])
@pytest.mark.parametrize("without", WITHOUT)
def test_whole_calls(benchmark, monkeypatch, jobs, job, without):
    for place, name, value in WITHOUT[without]:
        monkeypatch.setattr(place, name, value)
    benchmark(jobs[job])
