"""Weights drawn our way against the textbook way: `pytest benchmarks --benchmark-only`."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np
import pytest

from evalstats.resampling import multinomial_rows, products, scratch
from evalstats.resampling.byte_formulas import nearest_formula
from evalstats.resampling.poisson import LEFT_OVER, byte_table, poisson_counts, room_for
from evalstats.resampling.products import ExactProduct
from evalstats.resampling.random_bytes import SharedBytes, random_bytes
from evalstats.resampling.row_sums import row_sums, row_width
from evalstats.resampling.streams import generator
from evalstats.resampling.totals import bootstrap_totals, keep_weights

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


def left_over(mean: float, shape: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
    """Draw Poisson counts by looking for the bytes that no count owns."""
    table = byte_table(mean)
    uniform = random_bytes(rng, shape)
    counts = np.frombuffer(table.counts, dtype=np.uint8)[uniform]
    again = np.flatnonzero(counts == LEFT_OVER)
    bits = rng.integers(0, 1 << 64, size=len(again), dtype=np.uint64)
    counts.reshape(-1)[again] = table.rest.counts(bits)
    return counts


def points(mean: float, shape: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
    """Draw them our way."""
    with scratch.borrowed() as memory:
        counts = memory.array("rows", (room_for(prod(shape)),), np.uint8)
        poisson_counts(mean, random_bytes(rng, shape), rng, counts)
        return counts


def numpys(mean: float, shape: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
    """Use NumPy's own Poisson numbers."""
    return rng.poisson(mean, size=shape)


@pytest.mark.benchmark(group="a million Poisson counts")
@pytest.mark.parametrize("draw", [points, left_over, numpys])
def test_poisson_counts(
    benchmark, draw: Callable[[float, tuple[int, int], np.random.Generator], np.ndarray]
):
    benchmark(draw, 0.96, (504, N), np.random.default_rng(1))


def formula(uniform: np.ndarray, counts: np.ndarray, beyond: np.ndarray) -> None:
    """Calculate counts from bytes."""
    nearest_formula(0.96).count(uniform, counts)


def thresholds(uniform: np.ndarray, counts: np.ndarray, beyond: np.ndarray) -> None:
    """Compare bytes with thresholds: the same seats, and one more where 4 has 3 of them."""
    np.greater_equal(uniform, np.uint8(98), out=counts.view(np.bool_))
    for edge in (192, 238, 253):
        np.greater_equal(uniform, np.uint8(edge), out=beyond)
        np.add(counts, beyond.view(np.uint8), out=counts)


@pytest.mark.benchmark(group="a million bytes become counts")
@pytest.mark.parametrize("become", [formula, thresholds])
def test_counts_of_bytes(benchmark, become):
    uniform = random_bytes(np.random.default_rng(1), (504, N))
    benchmark(become, uniform, np.empty_like(uniform), np.empty(uniform.shape, dtype=np.bool_))


def own(rng: np.random.Generator, shape: tuple[int, int], memory: scratch.Scratch) -> np.ndarray:
    """Draw every byte."""
    return random_bytes(rng, shape)


def shared(rng: np.random.Generator, shape: tuple[int, int], memory: scratch.Scratch) -> np.ndarray:
    """Make rows of bytes from fewer."""
    return SharedBytes(rng, *shape).next(shape[0], 0, memory)


@pytest.mark.benchmark(group="two million random bytes, in rows")
@pytest.mark.parametrize("draw", [shared, own])
def test_random_bytes(benchmark, draw):
    benchmark(draw, np.random.default_rng(1), (1008, N), scratch.Scratch())


@pytest.mark.benchmark(group=f"{B} resamples: memory used again, and fresh")
@pytest.mark.parametrize("again", [True, False])
def test_working_memory(benchmark, again, monkeypatch):
    statistics = np.random.default_rng(0).integers(0, 40, size=(N, 10))
    keep_weights(0)
    if not again:
        monkeypatch.setattr(scratch, "_MOST_IDLE", 0)
        scratch._idle.clear()
    benchmark(bootstrap_totals, statistics, B, 1, executor=1)
    keep_weights(1 << 26)


@pytest.mark.benchmark(group="products: columns of zeros fill up to a multiple of 8")
@pytest.mark.parametrize("n_columns", [4, 5, 6, 7, 8, 9, 12, 16])
def test_columns(benchmark, n_columns):
    """Six and eight columns should cost the same, since six are filled up."""
    rng = np.random.default_rng(0)
    block = rng.integers(0, 4, size=(504, N), dtype=np.uint8)
    product = ExactProduct(rng.integers(0, 40, size=(N, n_columns)), 255, 2 * N)
    benchmark(product, block, np.empty((n_columns, 504)), scratch.Scratch())


@pytest.mark.benchmark(group="products: 12 columns as rows, and as columns")
@pytest.mark.parametrize("transposed", [True, False])
def test_transposed_columns(benchmark, transposed, monkeypatch):
    if not transposed:
        monkeypatch.setattr(products, "_TRANSPOSED_COLUMNS", 0)
    rng = np.random.default_rng(0)
    block = rng.integers(0, 4, size=(504, N), dtype=np.uint8)
    product = ExactProduct(rng.integers(0, 40, size=(N, 12)), 255, 2 * N)
    benchmark(product, block, np.empty((12, 504)), scratch.Scratch())


@pytest.mark.benchmark(group="products: BLEU of two systems, and as many unrelated columns")
@pytest.mark.parametrize("related", [True, False])
def test_derived_columns(benchmark, related):
    """Eleven of BLEU's twenty columns need a product."""
    rng = np.random.default_rng(0)
    words = rng.integers(5, 40, size=(3, N))
    if related:
        parts = [
            [
                length,
                words[2],
                *(length // d for d in (2, 3, 4, 5)),
                *(length - j for j in range(4)),
            ]
            for length in words[:2]
        ]
        statistics = np.stack([column for part in parts for column in part], axis=1)
    else:
        statistics = rng.integers(0, 40, size=(N, 20))
    block = rng.integers(0, 4, size=(504, N), dtype=np.uint8)
    product = ExactProduct(statistics, 255, 4 * N, is_sum=True)
    benchmark(product, block, np.empty((20, 504)), scratch.Scratch())


@pytest.mark.benchmark(group="sums of rows")
@pytest.mark.parametrize("n_segments", [100, N])
@pytest.mark.parametrize("add", [row_sums, lambda rows: rows.sum(axis=1, dtype=np.uint16)])
def test_row_sums(benchmark, add, n_segments):
    shape = (3_000_000 // n_segments, row_width(n_segments))
    benchmark(add, np.random.default_rng(0).integers(0, 4, size=shape, dtype=np.uint8))


@pytest.mark.benchmark(group="300,000 draws in rows of 100 segments")
@pytest.mark.parametrize("many", [0, 1 << 62], ids=["sparse", "add.at"])
def test_draws_in_short_rows(benchmark, many, monkeypatch):
    monkeypatch.setattr(multinomial_rows, "_MANY_DRAWS", many)
    rng = np.random.default_rng(0)
    rows = np.zeros((20_000, 100), dtype=np.uint8)
    draws = np.maximum(0, rng.normal(15, 9, size=len(rows)).astype(np.int64))
    memory = scratch.Scratch()

    def draw() -> None:
        # Counts would overflow, were they added to for ever.
        rows.fill(0)
        multinomial_rows._draw_more(rows, draws, 100, rng, memory)

    benchmark(draw)


def apart(seed: int, key: tuple[int, ...], number: int) -> np.random.Generator:
    """Hash the seed for every stream."""
    words = np.random.SeedSequence(seed, spawn_key=(*key, number))
    return np.random.Generator(np.random.PCG64(words))


@pytest.mark.benchmark(group="a generator for each of eight batches, and a new seed every time")
@pytest.mark.parametrize("make", [generator, apart])
def test_generators(benchmark, make):
    seeds = iter(range(1 << 62))

    def draw() -> None:
        seed = next(seeds)
        for number in range(8):
            make(seed, (0,), number)

    benchmark(draw)
