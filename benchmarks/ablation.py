"""What each mechanism of the resampling engine is worth: calls without it, against calls with it.

Statistics given. The variants take turns; the number is the median over rounds of how many times
as long a call takes without the mechanism.

    python -m benchmarks.ablation [--rounds 15]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from contextlib import ExitStack
from statistics import median
from unittest import mock

import numpy as np

import evalstats as es
from benchmarks.corpora import corpus
from benchmarks.peers import B, some
from evalstats.resampling import executors, multinomial_rows, products


def numpys_poisson(mean: float, rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Draw Poisson counts with NumPy."""
    return rng.poisson(mean, size=shape).astype(np.uint8)


#: What takes the place of each mechanism.
WITHOUT: dict[str, list[tuple[object, str, object]]] = {
    "(nothing: the engine against itself)": [],
    "Poisson counts from bytes (`Generator.poisson`)": [
        (multinomial_rows, "poisson_counts", numpys_poisson)
    ],
    "single precision (double instead)": [(products, "_SINGLE_LIMIT", 0.0)],
    "small BLAS calls (one for 500 rows instead)": [
        (products, "_CALL_SIZE", 1 << 60),
        (products, "ROW_GROUP", 504),
    ],
    "threads (one instead)": [(executors, "usable_cores", lambda: 1)],
}


def jobs() -> dict[str, Callable[[], object]]:
    """Return the reference jobs."""
    _, systems, references = corpus()
    table = es.extract(dict(list(systems.items())[:9]), references)
    one, two = some(table, 1), some(table, 2)
    large = np.random.default_rng(0).integers(0, 40, size=(100_000, 20))
    return {
        "interval": lambda: es.estimate(one, n_resamples=B),
        "two systems": lambda: es.compare(two, test="bootstrap", n_resamples=B),
        "nine, all pairs": lambda: es.compare(table, test="bootstrap", n_resamples=B),
        "100,000 x 1,000": lambda: es.bootstrap_totals(large, 1000),
    }


def seconds(job: Callable[[], object], changes: list[tuple[object, str, object]]) -> float:
    """Return how long a call takes with some things changed."""
    with ExitStack() as stack:
        for place, name, value in changes:
            stack.enter_context(mock.patch.object(place, name, value))
        start = time.perf_counter()
        job()
        return time.perf_counter() - start


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    found = jobs()
    print("| without | " + " | ".join(found) + " |")
    print("|:--|" + "--:|" * len(found))
    for name, changes in WITHOUT.items():
        cells = []
        for job in found.values():
            pairs = [(seconds(job, changes), seconds(job, [])) for _ in range(options.rounds)]
            cells.append(f"{median(without / with_ for without, with_ in pairs):.2f}")
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
