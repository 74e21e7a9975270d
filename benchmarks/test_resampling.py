"""Weights drawn our way against the textbook way: `pytest benchmarks --benchmark-only`."""

from __future__ import annotations

import numpy as np
import pytest

from evalstats.resampling import bootstrap_totals

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
