"""Formulas of other tools beside our tests, on exchangeable systems and the same resamples.

Outputs of two of the systems are swapped at random, segment by segment. The formulas are those of
sacreBLEU 2.6 (`--paired-bs`, `--paired-ar`) and of evaluatio 0.5. A cell is a test.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import evalstats as es
from benchmarks.calibration.samples import N_RESAMPLES, Happened, Sample, rejected

TESTS = ("bootstrap", "t", "ar")
LEVELS = {"p ≤ .01": 0.01, "p ≤ .05": 0.05, "p ≤ .10": 0.10}


def tests(sample: Sample, seed: int) -> Happened:
    """Say how each test answers."""
    (table,), rng = sample.tables, np.random.default_rng(seed)
    first, second = table.values[rng.permutation(len(table.systems))[:2]]
    # Identical systems stay identical when swapped: they say nothing of a test.
    if np.array_equal(first, second):
        return
    swap = rng.integers(2, size=(table.n_segments, 1), dtype=bool)
    pair = np.stack([np.where(swap, second, first), np.where(swap, first, second)])
    for name, p in _pvalues(pair, table.metric, seed).items():
        for rate, level in LEVELS.items():
            yield name, rate, rejected(p, level)
        yield name, "p > .60", p > 0.60


def _pvalues(pair: NDArray, metric: es.Metric, seed: int) -> dict[str, float]:
    sample = Sample([es.SegmentStatistics(pair, ("A", "B"), metric)], {})
    found = {f"evalstats, {x}": sample.compared(seed, test=x).differences[0].pvalue for x in TESTS}
    pair, n = pair.astype(float), pair.shape[1]
    weights = es.bootstrap_weights(n, N_RESAMPLES, seed).astype(float)
    kept = np.random.default_rng(seed).integers(2, size=(N_RESAMPLES, n)).astype(float)
    score = metric.score
    observed = float(np.diff(score(pair.sum(axis=1)))[0])
    replicates = score(weights @ pair[1]) - score(weights @ pair[0])
    totals = kept @ pair[0] + (1 - kept) @ pair[1]
    swapped = score(pair.sum(axis=(0, 1)) - totals) - score(totals)
    folded = np.abs(replicates)
    counted = {
        "sacreBLEU 2.6 --paired-ar": np.abs(swapped) > abs(observed),
        "sacreBLEU 2.6 --paired-bs": folded - np.mean(folded) > abs(observed),
        "evaluatio 0.5 bleu_bootstrap_test": (replicates if observed > 0 else -replicates) <= 0,
    }
    return found | {key: (np.sum(x) + 1) / (N_RESAMPLES + 1) for key, x in counted.items()}
