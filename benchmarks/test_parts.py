"""Small parts, timed by pytest-benchmark: ``python -m pytest benchmarks``."""

import numpy as np
import pytest

import evalstats as es
from evalstats.data import load_sample

pytest.importorskip("pytest_benchmark", reason="needs the extra test")
RNG = np.random.default_rng(0)
NUMBERS = {name: RNG.random(200) for name in "AB"}
MARKS = {name: numbers < 0.6 for name, numbers in NUMBERS.items()}
SAMPLE = load_sample()
TEXTS = SAMPLE.systems["baseline"]
TOTALS = RNG.integers(0, 40, (9_999, 10))
PARTS = {
    "compare, 200 0/1 scores": lambda: es.compare(MARKS, metrics=es.Mean("acc")),
    "compare, 200 numbers": lambda: es.compare(NUMBERS, metrics=es.Mean("judge")),
    "statistics of BLEU": lambda: es.BLEU().statistics(TEXTS, SAMPLE.references),
    "scores of 9,999 totals": lambda: es.BLEU().score(TOTALS),
}


@pytest.mark.parametrize("name", PARTS)
def test_a_part(benchmark, name):
    benchmark(PARTS[name])
