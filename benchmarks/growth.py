"""Show how the cost of extraction grows with the number of segments, up to a million.

Prints a table of seconds and peak memory, each size in a process of its own, from lists of strings
to statistics, the references' preparation included; `--plot FILE` draws it (extra `plot`). Texts
are segments of a real test set, with a number in each so that the vocabulary grows as that of real
text does, with a power of the length below one (Heaps, 1978).

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.growth [--sizes 1000 10000 100000 1000000]
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from itertools import pairwise

import evalstats as es
from benchmarks.corpora import corpus

METRICS = {
    "BLEU": es.BLEU(),
    "chrF": es.CHRF(),
    "chrF++": es.CHRF(word_order=2),
    "TER": es.TER(),
    "WER": es.WER(),
}


def texts(n_segments: int) -> tuple[list[str], list[str]]:
    """Return hypotheses and references of that many segments."""
    _, systems, references = corpus()
    hypotheses = next(iter(systems.values()))
    return tuple(  # type: ignore[return-value]
        [f"{source[i % len(source)]} {int(i**0.7)}" for i in range(n_segments)]
        for source in (hypotheses, references)
    )


def measure(name: str, n_segments: int) -> tuple[float, float]:
    """Return seconds (best of three for small sizes) and the peak memory in MB."""
    hypotheses, references = texts(n_segments)
    metric = METRICS[name]
    metric.statistics(hypotheses[:100], references[:100])
    seconds = []
    for _ in range(3 if n_segments <= 10_000 else 1):
        start = time.perf_counter()
        metric.statistics(hypotheses, references)
        seconds.append(time.perf_counter() - start)
    return min(seconds), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def plot(rows: dict[str, list[tuple[float, float]]], sizes: list[int], path: str) -> None:
    """Draw seconds against segments, both logarithmic, with a line of slope one beside them."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise SystemExit("the plot needs matplotlib: pip install 'evalstats-text[plot]'") from error
    figure = Figure(figsize=(5, 3.6), layout="constrained")
    axes = figure.subplots()
    markers = "osD^v"
    for marker, (name, cells) in zip(markers, rows.items(), strict=True):
        axes.loglog(sizes, [seconds for seconds, _ in cells], marker=marker, label=name)
    least = min(cells[0][0] for cells in rows.values())
    axes.loglog(
        sizes, [0.5 * least * n / sizes[0] for n in sizes], "k:", label="linear growth", lw=1
    )
    axes.set_xlabel("segments")
    axes.set_ylabel("seconds, one thread")
    axes.set_title("From text to statistics")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, fontsize=8)
    figure.savefig(path, dpi=160)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 10_000, 100_000, 1_000_000])
    parser.add_argument("--plot", metavar="FILE")
    parser.add_argument("--one", nargs=2, metavar=("METRIC", "N"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.one[0], int(options.one[1]))))
        return
    rows: dict[str, list[tuple[float, float]]] = {}
    print(f"{'seconds (times the size before)':34s}" + "".join(f"{n:>20,}" for n in options.sizes))
    for name in METRICS:
        cells = []
        for n in options.sizes:
            command = [sys.executable, "-m", "benchmarks.growth", "--one", name, str(n)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            cells.append(tuple(json.loads(done.stdout)))
        rows[name] = cells
        times = [seconds for seconds, _ in cells]
        ratios = [""] + [f"(x{b / a:.1f})" for a, b in pairwise(times)]
        shown = [f"{t:.3f} {r}" for t, r in zip(times, ratios, strict=True)]
        print(f"{name:34s}" + "".join(f"{cell:>20s}" for cell in shown), flush=True)
        print(f"{'  peak MB':34s}" + "".join(f"{mb:>20,.0f}" for _, mb in cells), flush=True)
    if options.plot:
        plot(rows, options.sizes, options.plot)


if __name__ == "__main__":
    main()
