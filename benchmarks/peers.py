"""Print how much faster resampling is than elsewhere, with the statistics given.

All in one run, on all cores. evaluatio (Rust, the extra `peers`) is measured where it is installed.

    python -m benchmarks.peers [--repeats 7]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from itertools import combinations
from typing import Any

import numpy as np
import sacrebleu.metrics as sacre
from sacrebleu import significance
from scipy import stats

import evalstats as es
from benchmarks.corpora import corpus
from benchmarks.ratios import best_times

B = 10_000


def some(table: es.SegmentStatistics, n_systems: int) -> es.SegmentStatistics:
    """Return the first systems of a table."""
    return es.SegmentStatistics(
        table.values[:n_systems], table.systems[:n_systems], table.metric, table.reference_label
    )


def ours(table: es.SegmentStatistics) -> dict[str, Callable[[], object]]:
    """Return what is measured of ours: an interval, a paired test, all pairs."""
    one, two = some(table, 1), some(table, 2)

    pairs = f"{len(table.systems)} systems, all pairs"
    return {
        "interval": lambda: es.estimate(one, n_resamples=B),
        "paired test": lambda: es.compare(two, n_resamples=B),
        f"{pairs}, Holm": lambda: es.compare(table, adjustment="holm", n_resamples=B),
        f"{pairs}, max-T": lambda: es.compare(table, n_resamples=B),
    }


def evaluatios(table: es.SegmentStatistics) -> dict[str, Callable[[], object]]:
    """Return the same three of evaluatio; all pairs are so many of its tests."""
    rust = import_module("evaluatio._bindings")

    def rows(i: int) -> list[Any]:
        return [
            rust.BLEUSufficientStats(row[2:6], row[6:10], row[0], row[1])
            for row in table.values[i].tolist()
        ]

    systems = [rows(i) for i in range(len(table.systems))]
    return {
        "evaluatio: interval": lambda: rust.bleu_ci(systems[0], B, 0.05),
        "evaluatio: paired test": lambda: rust.bleu_bootstrap_test(systems[0], systems[1], B),
        "evaluatio: all pairs": lambda: [
            rust.bleu_bootstrap_test(a, b, B) for a, b in combinations(systems, 2)
        ],
    }


def others(table: es.SegmentStatistics) -> dict[str, Callable[[], object]]:
    """Return an interval of SciPy's, and sacreBLEU's resampling of two systems."""
    values = table.values[0]

    def score(index: np.ndarray, axis: int) -> np.ndarray:
        return table.metric.score(values[index].sum(axis=-2))

    segments = np.arange(len(values))
    metric = sacre.BLEU(references=[["a"]])
    rows = [block.tolist() for block in table.values[:2]]
    return {
        "scipy: interval": lambda: stats.bootstrap(
            (segments,), score, n_resamples=B, batch=100, method="percentile", vectorized=True
        ),
        "sacreBLEU: two systems": lambda: [
            significance._bootstrap_resample(block, metric, B) for block in rows
        ],
    }


def main() -> None:
    """Print times and ratios."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    label, systems, references = corpus()
    table = es.extract(dict(list(systems.items())[:9]), references)
    print(f"{label}, BLEU, {table.n_segments} segments, {B} resamples, ms\n")
    times = best_times(ours(table), options.repeats)
    theirs = best_times(others(table), 2)
    if find_spec("evaluatio"):
        theirs |= best_times(evaluatios(table), 3)
    for name, seconds in times.items():
        print(f"{name:34s}{1000 * seconds:12.1f}")
    print()
    interval, paired, holm, max_t = times
    against = {
        "scipy: interval": (interval,),
        "sacreBLEU: two systems": (paired,),
        "evaluatio: interval": (interval,),
        "evaluatio: paired test": (paired,),
        "evaluatio: all pairs": (holm, max_t),
    }
    for name, seconds in theirs.items():
        print(f"{name:34s}{1000 * seconds:12.1f}")
        for mine in against[name]:
            print(f"  / {mine:30s}{seconds / times[mine]:12.2f}")


if __name__ == "__main__":
    main()
