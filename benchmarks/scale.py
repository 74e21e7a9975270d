"""A hundred million segments through the path of shards, one block after the other, on one core.

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.scale             # 1e8 segments, 100 resamples
    OPENBLAS_NUM_THREADS=1 python -m benchmarks.scale 1000000     # as many as you like

The statistics are made up: two systems under BLEU, twenty small whole numbers a segment, drawn anew
for each block, as a worker reads one block after the other. The numbers of the corpus are of no
interest, its size and the seconds are. It prints where the time goes, the most memory that the
process had, and the moments of the same table in DuckDB, where that is installed.
"""

from __future__ import annotations

import resource
import sys
from functools import partial
from importlib.util import find_spec
from time import perf_counter, process_time

import numpy as np
from numpy.typing import NDArray

import evalstats as es

BLOCK, RESAMPLES = 100_000, 100
SYSTEMS = ("A", "B")


def statistics(n: int, rng: np.random.Generator) -> NDArray[np.uint8]:
    """Return the statistics of n made-up segments under BLEU, `(2, n, 10)`."""
    length = rng.integers(8, 40, (1, n), dtype=np.uint8)
    totals = np.stack([length - order for order in range(4)], axis=2)
    right = np.empty((2, n, 4), dtype=np.uint8)
    left = np.broadcast_to(length, (2, n))
    for order in range(4):
        # Of one number of bits a block, so that making them up takes little of the time.
        share = rng.integers(128, 250, (2, n), dtype=np.uint16)
        left = (left * share >> 8).astype(np.uint8)
        right[:, :, order] = np.minimum(left, totals[:, :, order])
    of_all = np.broadcast_to(totals, (2, n, 4))
    lengths = np.broadcast_to(length[:, :, None], (2, n, 2))
    return np.concatenate([lengths, right, of_all], axis=2)


def shards(n: int) -> dict[str, float]:
    """Return the processor's seconds of each stage, and numbers of a comparison of n segments."""
    rng, total = np.random.default_rng(1), None
    seconds = dict.fromkeys(("making up", "resampling", "adding up"), 0.0)
    for start in range(0, n, BLOCK):
        stop, at = min(start + BLOCK, n), process_time()
        table = es.SegmentStatistics(statistics(stop - start, rng), SYSTEMS, "bleu")
        made = process_time()
        shard = es.resample_shard(table, range(start, stop), RESAMPLES)
        resampled = process_time()
        total = shard if total is None else total + shard
        seconds["making up"] += made - at
        seconds["resampling"] += resampled - made
        seconds["adding up"] += process_time() - resampled
    assert total is not None
    (difference,) = es.compare(total)
    size = len(total.to_bytes())
    return {**seconds, "bytes of a shard": size, "standard error": difference.standard_error}


def moments(n: int = 240_000) -> float:
    """Return the seconds of the query of moments over n rows of 20 columns in DuckDB."""
    import duckdb

    values = statistics(n, np.random.default_rng(2))
    columns = {s: [f"{s} {c}" for c in es.BLEU().columns] for s in SYSTEMS}
    rows = {
        name: np.array(values[i, :, j], dtype=np.int64)
        for i, each in enumerate(columns.values())
        for j, name in enumerate(each)
    }
    query = es.moments_query("scores", SYSTEMS, "bleu", columns)
    with duckdb.connect() as connection:
        connection.register("made_up", rows)
        connection.execute("CREATE TABLE scores AS SELECT * FROM made_up")
        ask = partial(connection.execute, query)
        times = []
        for _ in range(3):
            start, cpu = perf_counter(), process_time()
            answer = ask().fetchone()
            times.append((perf_counter() - start, process_time() - cpu))
    (one,) = es.compare(es.Moments.from_row(answer, SYSTEMS, "bleu"))
    (other,) = es.compare(es.SegmentStatistics(values, SYSTEMS, "bleu"), method="t", test="t")
    error = abs(one.standard_error / other.standard_error - 1)
    wall, used = min(times)
    print(
        f"moments of {n:,} rows x 20 columns: {wall:.2f} s, {used:.2f} s of processor time, ",
        end="",
    )
    print(f"error off by {error:.1e}")
    return wall


def main(n: int) -> None:
    """Print what n segments take."""
    start, cpu = perf_counter(), process_time()
    found = shards(n)
    wall, used = perf_counter() - start, process_time() - cpu
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{n:,} segments, {RESAMPLES} resamples, blocks of {BLOCK:,}")
    for name, number in found.items():
        print(f"{name:>18} {number:.6g}")
    print(
        f"{wall:.0f} s, {used:.0f} s of processor time: {n / used:,.0f} segments/s a core, ", end=""
    )
    print(f"{n * RESAMPLES / used / 1e6:.0f} million weights/s, at most {most:.0f} MB")


if __name__ == "__main__":
    main(int(float(sys.argv[1])) if len(sys.argv) > 1 else 100_000_000)
    if find_spec("duckdb"):
        moments()
