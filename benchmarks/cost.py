"""How cost grows: extraction with N; resampling with N, B and columns; memory.

Every cell is measured in a process of its own. Texts are those of a real test set, again and again
with other numbers. Resampling is `bootstrap_totals` of random counts, beside what a machine cannot
go below: a byte written for every weight, and the product of single-precision matrices.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from itertools import count

import numpy as np

import evalstats as es
from benchmarks.corpora import corpus, lengthened
from benchmarks.measure import printed
from evalstats.resampling.executors import usable_cores

METRICS = ("bleu", "chrf", "chrf++", "ter", "wer")
SIZES = (1000, 10_000, 100_000, 1_000_000)
#: Segments, resamples and columns (systems times statistics of each; BLEU has 10), but for one.
N, B, K = 2037, 10_000, 10
GRIDS = {
    "segments N": (100, 1000, 10_000, 100_000, 1_000_000),
    "columns S·k": (2, 10, 50, 100, 360),
}
WEIGHTS = 20_000_000
#: The product of the floor has so many weights, in rows of so many segments at most.
FLOOR_WEIGHTS, FLOOR_SEGMENTS = 1 << 22, 4096

Cell = dict[str, float]
Table = list[Cell]


def tables(quick: bool = False) -> dict[str, Table]:
    """Measure everything; a table is a list of cells with their `size`."""
    rows: dict[str, Table] = {}
    for metric in METRICS:
        rows[metric] = [
            _apart("extraction", metric, n) | {"size": n} for n in SIZES if n <= 10_000 or not quick
        ]
        print(f"{metric}: {rows[metric][-1]['seconds']:.2f} s for the most segments")
    for label, sizes in GRIDS.items():
        rows[label] = []
        for size in sizes if not quick else sizes[:3]:
            n, b, k = N, B, size
            if label == "segments N":
                n, b, k = size, max(1000, WEIGHTS // size), K
            rows[label].append(_apart("resampling", n, b, k) | {"size": size})
        print(f"{label}: {1e9 * rows[label][-1]['seconds']:.2f} ns a weight")
    return rows


def extraction(metric: str, n_segments: int) -> Cell:
    """Return seconds from lists of strings to statistics, and the peak memory in MB."""
    _, systems, references = corpus()
    hypotheses = lengthened(next(iter(systems.values())), n_segments)
    references = lengthened(references, n_segments)
    es.extract({"warm": hypotheses[:100]}, references[:100], metric)
    seconds = best(lambda: es.extract({"A": hypotheses}, references, metric), 0.3)
    return {"seconds": seconds, "megabytes": _peak()}


def resampling(n_segments: int, n_resamples: int, n_columns: int) -> Cell:
    """Return seconds a weight, those of the floor, and the peak memory in MB."""
    rng = np.random.default_rng(0)
    # Counts as small as those of text.
    table = rng.integers(0, 40, size=(n_segments, n_columns), dtype=np.int32)
    # Rows of one seed are kept between calls; others have to be drawn.
    seeds = count()
    seconds = best(lambda: es.bootstrap_totals(table, n_resamples, next(seeds)))
    return {
        "seconds": seconds / (n_segments * n_resamples),
        "floor": floor(n_segments, n_columns),
        "megabytes": _peak(),
    }


def floor(n_segments: int, n_columns: int) -> float:
    """Return seconds a weight to write bytes, and for the product alone, on all cores.

    Long rows are cut: a product of few long rows is slower than one of many short ones.
    """
    width = min(n_segments, FLOOR_SEGMENTS)
    rows = FLOOR_WEIGHTS // width
    weights = np.ones((rows, width), dtype=np.float32)
    columns = np.ones((width, n_columns), dtype=np.float32)
    counts = np.empty((rows, width), dtype=np.uint8)
    others = np.random.default_rng(0).integers(0, 256, size=counts.shape, dtype=np.uint8)
    writing = best(lambda: np.bitwise_xor(others[0], others, out=counts))
    # BLAS uses all cores already; writing is shared out.
    return (writing / usable_cores() + best(lambda: weights @ columns)) / weights.size


def best(run: Callable[[], object], seconds: float = 1.0) -> float:
    """Return the least time of as many runs as fit, one at least."""
    times: list[float] = []
    while sum(times) < seconds:
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _apart(function: str, *arguments: object) -> Cell:
    code = (
        f"import json; from benchmarks import cost; print(json.dumps(cost.{function}{arguments}))"
    )
    return dict(printed(code))
