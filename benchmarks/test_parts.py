"""The parts that people tune: `pytest benchmarks --benchmark-only`.

Extraction, whole calls without one mechanism of the engine, and the resamples of shards.
"""

from __future__ import annotations

import numpy as np
import pytest

import evalstats as es
from benchmarks.corpora import corpus
from benchmarks.scale import statistics
from evalstats.resampling import executors, streams, weighted
from evalstats.resampling.weighted import bootstrap_totals


def numpys_bytes(mean: float, rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Use NumPy's own Poisson numbers, as the engine wants them."""
    return rng.poisson(mean, size=shape).astype(np.uint8)


#: What takes the place of each mechanism; one that no job misses by a quarter can go.
WITHOUT = {
    "nothing": [],
    "Poisson counts from bytes": [(streams, "poisson_counts", numpys_bytes)],
    "single precision": [(weighted, "_SINGLE_LIMIT", 0.0)],
    "small BLAS calls": [(weighted, "_CALL_SIZE", 1 << 60), (weighted, "ROW_GROUP", 504)],
    "threads": [(executors, "usable_cores", lambda: 1)],
}


@pytest.fixture(scope="module")
def jobs():
    """Return an interval, all pairs of nine systems, and a large product."""
    _, systems, references = corpus()
    table = es.extract(dict(list(systems.items())[:9]), references)
    one = es.SegmentStatistics(table.values[:1], table.systems[:1], table.metric)
    large = np.random.default_rng(0).integers(0, 40, size=(100_000, 20))
    return {
        "interval": lambda: es.estimate(one),
        "all pairs": lambda: es.compare(table),
        "100,000 x 1,000": lambda: bootstrap_totals(large, 1000, 12345),
    }


@pytest.mark.benchmark(group="whole calls, without one mechanism")
@pytest.mark.parametrize("job", ["interval", "all pairs", "100,000 x 1,000"])
@pytest.mark.parametrize("without", WITHOUT)
def test_whole_calls(benchmark, monkeypatch, jobs, job, without):
    for place, name, value in WITHOUT[without]:
        monkeypatch.setattr(place, name, value)
    benchmark(jobs[job])


@pytest.mark.benchmark(group="texts of one system to statistics")
@pytest.mark.parametrize("metric", ["bleu", "chrf", "chrf++", "ter", "wer", "cer"])
def test_extraction(benchmark, metric):
    _, systems, references = corpus()
    benchmark(es.extract, {"A": next(iter(systems.values()))}, references, metric)


@pytest.mark.benchmark(group="1,000 resamples of 100,000 segments, 20 columns")
@pytest.mark.parametrize("weights", ["poisson", "two-stage", "multinomial"])
def test_shards(benchmark, weights):
    n, b = 100_000, 1000
    values = statistics(n, np.random.default_rng(0))
    table = es.SegmentStatistics(values, ["A", "B"], es.BLEU())
    if weights == "multinomial":
        benchmark(bootstrap_totals, np.concatenate(values, axis=1), b, 1)
    else:
        stages = {"shard_sizes": [n, n], "shard": 0} if weights == "two-stage" else {}
        benchmark(es.resample_shard, table, range(n), b, **stages)
