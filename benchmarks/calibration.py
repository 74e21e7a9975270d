"""Measure how often each test rejects a true null hypothesis.

The null is made from real systems: each segment's two outputs are swapped at random, which makes
the two pseudo-systems exchangeable by construction. A test that holds what it promises rejects
5 % of the time at 0.05. Beside ours stand the formulas of sacreBLEU (`--paired-bs`, `--paired-ar`)
and of evaluatio's `bleu_bootstrap_test`, on the same replicates.

    python -m benchmarks.calibration [--trials 2000] [--resamples 999] [--pair en-de]
"""

from __future__ import annotations

import argparse
from itertools import combinations

import numpy as np

import evalstats as es
from benchmarks.corpora import corpus
from evalstats.inference import significance
from evalstats.resampling.totals import bootstrap_totals, swap_totals

LEVELS = (0.01, 0.05, 0.10)


def pvalues(metric, first, second, n_resamples, seed):
    """Return each test's p-value of one pair of pseudo-systems."""
    statistics = es.SegmentStatistics(np.stack([first, second]), ["A", "B"], metric)
    options = {"n_resamples": n_resamples, "rng": seed, "method": "t"}
    ours, centred = (
        next(iter(es.compare(statistics, test=test, **options))).pvalue
        for test in ("ar", "bootstrap")
    )
    k = first.shape[1]
    columns = np.concatenate([first, second], axis=1).astype(float)
    observed = float(statistics.scores[1] - statistics.scores[0])

    def differences(totals):
        return metric.score(totals[:, k:]) - metric.score(totals[:, :k])

    replicates = differences(bootstrap_totals(columns, n_resamples, seed))
    halves = swap_totals(columns, n_resamples, seed)
    moved = np.roll(halves, k, axis=1) - halves
    shuffled = differences(columns.sum(axis=0) + moved)
    return {
        "evalstats ar (default)": ours,
        "evalstats bootstrap": centred,
        "sacreBLEU --paired-ar": significance.strict_randomization_pvalue(observed, shuffled),
        "sacreBLEU --paired-bs": significance.moses_bootstrap_pvalue(observed, replicates),
        "evaluatio bleu_bootstrap_test": significance.reversal_pvalue(observed, replicates),
    }


def main() -> None:
    """Print the share of rejections of each test."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--trials", type=int, default=2000)
    parser.add_argument("--resamples", type=int, default=999)
    parser.add_argument("--pair", default="en-de")
    parser.add_argument("--metric", default="bleu")
    parser.add_argument("--seed", type=int, default=2026)
    options = parser.parse_args()
    label, systems, references = corpus(options.pair)
    statistics = es.extract(systems, references, options.metric)
    # Identical systems stay identical when swapped: they say nothing of a test.
    pairs = [
        (a, b)
        for a, b in combinations(range(len(systems)), 2)
        if np.any(statistics.values[a] != statistics.values[b])
    ]
    rng = np.random.default_rng(options.seed)
    found: dict[str, list[float]] = {}
    for trial in range(options.trials):
        a, b = pairs[rng.integers(len(pairs))]
        swap = rng.integers(2, size=(statistics.n_segments, 1), dtype=bool)
        first = np.where(swap, statistics.values[b], statistics.values[a])
        second = np.where(swap, statistics.values[a], statistics.values[b])
        for name, p in pvalues(statistics.metric, first, second, options.resamples, trial).items():
            found.setdefault(name, []).append(p)
    print(
        f"{label}, {statistics.metric.name}, {statistics.n_segments} segments, "
        f"{options.trials} true null hypotheses, {options.resamples} resamples each\n"
    )
    print("share of p <= " + "".join(f"{level:>22.2f}" for level in LEVELS) + f"{'largest p':>12}")
    for name, values in found.items():
        p = np.array(values)
        cells = []
        for level in LEVELS:
            share = np.mean(p <= level + 1e-12)
            error = np.sqrt(share * (1 - share) / len(p))
            cells.append(f"{share:8.3f} ± {error:.3f}")
        print(f"{name:31s}" + "     ".join(cells) + f"{p.max():12.3f}")


if __name__ == "__main__":
    main()
