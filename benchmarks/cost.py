"""Show what resampling costs: per weight as N, B, S and k grow, with threads, and its floor.

Every measurement is of `bootstrap_totals` on random statistics, in a process of its own, on all
cores unless it says otherwise. The floor is what this machine cannot go below: a byte written for
every weight, and the product of single-precision matrices of these sizes, measured one after the
other in the same process.

    python -m benchmarks.cost [--plot resampling.png] [--large]
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np

import evalstats as es
from evalstats.resampling.executors import usable_cores

N, B, K = 2037, 10_000, 10
WEIGHTS = 20_000_000
N_GRID = [100, 300, 1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000]
B_GRID = [100, 300, 1000, 3000, 10_000, 30_000]
#: Columns: systems times statistics of each. BLEU has 10.
K_GRID = [2, 5, 10, 20, 50, 90, 180, 360]
LARGE = (10_000_000, 1000)
#: The product of the floor has so many weights, in rows of so many segments at most.
FLOOR_WEIGHTS, FLOOR_SEGMENTS = 1 << 22, 4096


def statistics(n_segments: int, n_columns: int) -> np.ndarray:
    """Return counts as small as those of text."""
    rng = np.random.default_rng(0)
    return rng.integers(0, 40, size=(n_segments, n_columns), dtype=np.int32)


def best(run: Callable[[], object], seconds: float = 1.0) -> float:
    """Return the least time of as many runs as fit, three at least."""
    times: list[float] = []
    while len(times) < 3 or sum(times) < seconds:
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def floor(n_segments: int, n_resamples: int, n_columns: int) -> float:
    """Return seconds to write bytes and for the product alone, on as many cores as there are.

    Long rows are cut: a product of few long rows is slower than one of many short ones.
    """
    rng = np.random.default_rng(0)
    width = min(n_segments, FLOOR_SEGMENTS)
    rows = FLOOR_WEIGHTS // width
    weights = np.ones((rows, width), dtype=np.float32)
    columns = np.ones((width, n_columns), dtype=np.float32)
    counts = np.empty((rows, width), dtype=np.uint8)
    others = rng.integers(0, 256, size=counts.shape, dtype=np.uint8)
    writing = best(lambda: np.bitwise_xor(others[0], others, out=counts))
    product = best(lambda: weights @ columns)
    # BLAS uses all cores already; writing is shared out.
    return (writing / usable_cores() + product) * n_segments * n_resamples / (rows * width)


def measure(n_segments: int, n_resamples: int, n_columns: int, threads: int | None) -> list[float]:
    """Return seconds, the floor in seconds, and the peak memory in MB."""
    table = statistics(n_segments, n_columns)
    seconds = best(lambda: es.bootstrap_totals(table, n_resamples, 1, executor=threads))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return [seconds, floor(n_segments, n_resamples, n_columns), peak]


def apart(*arguments: object) -> list[float]:
    """Measure in a process of its own."""
    code = (
        f"import json; from benchmarks.cost import measure; print(json.dumps(measure{arguments}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return list(json.loads(done.stdout))


def resamples_for(n_segments: int) -> int:
    """Return how many resamples make about the same number of weights, 1,000 at least."""
    return max(1000, WEIGHTS // n_segments)


def table_of(label: str, cases: list[tuple[int, int, int]], shown: int) -> list[list[float]]:
    """Measure the cases and print a table, nanoseconds per weight; return its numbers."""
    print(f"{label:>12s}{'ms':>10s}{'ns/weight':>11s}{'floor':>8s}{'MB':>7s}")
    rows = []
    for case in cases:
        seconds, least, peak = apart(*case, None)
        weights = case[0] * case[1]
        rows.append([case[shown], 1e9 * seconds / weights, 1e9 * least / weights, peak])
        print(
            f"{case[shown]:12,d}{1000 * seconds:10.1f}{rows[-1][1]:11.2f}{rows[-1][2]:8.2f}"
            f"{peak:7.0f}",
            flush=True,
        )
    print()
    return rows


def plot(tables: dict[str, list[list[float]]], path: str) -> None:
    """Draw nanoseconds per weight beside the floor, a panel for each table."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise SystemExit("the plot needs matplotlib: pip install 'evalstats-text[plot]'") from error
    figure = Figure(figsize=(7.2, 2.6), layout="constrained")
    panels = figure.subplots(1, len(tables), sharey=True)
    for axes, (label, rows) in zip(panels, tables.items(), strict=True):
        sizes, ours, least, _ = zip(*rows, strict=True)
        axes.loglog(sizes, ours, "o-", color="#0072B2", label="measured")
        axes.loglog(sizes, least, "s:", color="#D55E00", label="bytes written + product")
        axes.set_xlabel(label)
        axes.grid(alpha=0.3, which="both")
    panels[0].set_ylabel("ns per weight, all cores")
    panels[0].set_yticks([0.2, 0.5, 1, 2, 5], labels=["0.2", "0.5", "1", "2", "5"])
    panels[0].yaxis.set_minor_formatter("")
    panels[0].legend(frameon=False, fontsize=8, loc="upper center")
    figure.suptitle("What a weight costs", fontsize=10)
    figure.savefig(path, dpi=160)


def main() -> None:
    """Print the tables; draw them when asked to."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--plot", metavar="FILE", help="draw the tables (extra `plot`)")
    parser.add_argument("--large", action="store_true", help="10,000,000 segments, 1,000 resamples")
    options = parser.parse_args()
    if options.large:
        seconds, _, peak = apart(*LARGE, K, None)
        print(
            f"{LARGE[0]:,} segments, {LARGE[1]:,} resamples, {K} columns: "
            f"{seconds:.1f} s, peak {peak:.0f} MB"
        )
        return
    print(f"{usable_cores()} cores; {K} columns and {N:,} segments where nothing else is said\n")
    tables = {
        "segments N": table_of("N", [(n, resamples_for(n), K) for n in N_GRID], 0),
        "resamples B": table_of("B", [(N, b, K) for b in B_GRID], 1),
        "columns S·k": table_of("S·k", [(N, B, k) for k in K_GRID], 2),
    }
    print(f"{'threads':>12s}{'ms':>10s}{'speed-up':>10s}")
    alone = None
    for threads in range(1, usable_cores() + 1):
        seconds = apart(N, B, K, threads)[0]
        alone = alone or seconds
        print(f"{threads:12d}{1000 * seconds:10.1f}{alone / seconds:10.2f}")
    if options.plot:
        plot(tables, options.plot)


if __name__ == "__main__":
    main()
