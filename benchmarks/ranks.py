"""How often intervals of ranks hold the true ranks of real systems.

A population is a test set with all its systems; their ranks by its scores are the truth. A trial
sees a few of its segments, drawn with replacement. `python -m benchmarks.ranks [--trials 300]`
"""

from __future__ import annotations

import argparse

import numpy as np

import evalstats as es
from benchmarks.calibration.answers import standard_error
from benchmarks.calibration.populations import statistics
from benchmarks.calibration.texts import available, texts

#: Resamples of a trial.
N_RESAMPLES = 399
CELLS = [
    (corpus, metric, n)
    for corpus, metric in (
        ("en-de", "bleu"),
        ("en-de", "chrf"),
        ("en-es", "bleu"),
        ("sample", "bleu"),
    )
    for n in (50, 300)
]


def measure(corpus: str, metric: str, n: int, trials: int) -> tuple[float, float, int]:
    """Return how often one rank, and all ranks, are covered; and the number of systems."""
    names = sorted(texts(corpus).systems)
    found = [statistics(corpus, name, metric) for name in names]
    values, kind = np.stack([rows for rows, _ in found]), found[0][1]
    scores = kind.score(values.sum(axis=1, dtype=float))
    # Of systems that tie every place among them is true.
    best = 1 + np.sum(scores > scores[:, None], axis=1)
    worst = np.sum(scores >= scores[:, None], axis=1)
    one = every = 0
    for trial in range(trials):
        rng = np.random.default_rng([2026, trial])
        drawn = values[:, rng.integers(values.shape[1], size=n)]
        table = es.SegmentStatistics(drawn, names, kind)
        result = es.compare(table, n_resamples=N_RESAMPLES, rng=trial, method="t")
        ranking = result.ranking()
        low, high = np.array([(ranking[name].low, ranking[name].high) for name in names]).T
        one += np.mean((low <= best) & (worst <= high))
        both = [(ranking[x].simultaneous_low, ranking[x].simultaneous_high) for x in names]
        low, high = np.array(both).T
        every += np.all((low <= best) & (worst <= high))
    return float(one / trials), float(every / trials), len(names)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=300)
    trials = parser.parse_args().trials
    print("| population | metric | systems | N | a rank alone | all ranks at once |")
    print("| :-- | :-- | --: | --: | --: | --: |")
    for corpus, metric, n in CELLS:
        if available(corpus):
            one, every, n_systems = measure(corpus, metric, n, trials)
            error = standard_error(every, trials)
            cells = (corpus, metric, n_systems, n, f"{one:.3f}", f"{every:.3f} ± {error:.3f}")
            print("| " + " | ".join(map(str, cells)) + " |", flush=True)


if __name__ == "__main__":
    main()
