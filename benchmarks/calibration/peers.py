"""Trials of other tools' formulas beside ours, on the same resamples.

Two real systems, drawn anew for every trial, have their outputs swapped at random, segment by
segment: exchangeable by construction. Beside our tests stand the formulas of sacreBLEU
(`--paired-bs`, `--paired-ar`) and of evaluatio's `bleu_bootstrap_test`.
"""

from __future__ import annotations

from contextlib import suppress
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

import evalstats as es
from benchmarks.calibration.answers import LEVELS, ROUNDING, Answers
from benchmarks.calibration.pairs import TESTS
from benchmarks.calibration.populations import statistics
from benchmarks.calibration.texts import texts
from evalstats.inference import significance
from evalstats.resampling.totals import bootstrap_totals, swap_totals

N_RESAMPLES = 999
#: Counted besides `LEVELS`: p-values at most the first, and above the second.
AT_MOST, ABOVE = 0.10, 0.60


def measure(corpus: str, trials: int, seed: int) -> Answers:
    """Count rejections of BLEU's null hypotheses on a whole test set."""
    answers = Answers()
    tables = [statistics(corpus, name, "bleu") for name in texts(corpus).systems]
    metric = tables[0][1]
    # Identical systems stay identical when swapped: they say nothing of a test.
    pairs = [(a, b) for (a, _), (b, _) in combinations(tables, 2) if not np.array_equal(a, b)]
    for trial in range(trials):
        rng = np.random.default_rng([seed, trial])
        a, b = pairs[rng.integers(len(pairs))]
        swap = rng.integers(2, size=(len(a), 1), dtype=bool)
        found = pvalues(metric, np.where(swap, b, a), np.where(swap, a, b), trial)
        for name, p in found.items():
            shares = [p <= level + ROUNDING for level in (*LEVELS, AT_MOST)]
            answers.happened(f"peer|{name}", *map(float, [*shares, p > ABOVE]))
    return answers


def pvalues(metric: es.Metric, first: NDArray, second: NDArray, seed: int) -> dict[str, float]:
    """Return each test's p-value of one pair of pseudo-systems."""
    table = es.SegmentStatistics(np.stack([first, second]), ["A", "B"], metric)
    ours = {}
    for name in ("default", *TESTS):
        options = {} if name == "default" else {"test": name}
        # A test for other kinds of scores refuses these.
        with suppress(es.InputError):
            (difference,) = es.compare(table, n_resamples=N_RESAMPLES, rng=seed, **options)
            ours[f"evalstats {name}"] = difference.pvalue
    k = first.shape[1]
    columns = np.concatenate([first, second], axis=1).astype(float)
    observed = float(table.scores[1] - table.scores[0])

    def differences(totals: NDArray) -> NDArray:
        return metric.score(totals[:, k:]) - metric.score(totals[:, :k])

    replicates = differences(bootstrap_totals(columns, N_RESAMPLES, seed))
    halves = swap_totals(columns, N_RESAMPLES, seed)
    shuffled = differences(columns.sum(axis=0) + np.roll(halves, k, axis=1) - halves)
    return ours | {
        "sacreBLEU --paired-ar": significance.strict_randomization_pvalue(observed, shuffled),
        "sacreBLEU --paired-bs": significance.moses_bootstrap_pvalue(observed, replicates),
        "evaluatio bleu_bootstrap_test": significance.reversal_pvalue(observed, replicates),
    }
