"""Two metrics that are equally near to people: of WMT25's scores, or made up.

GEMBA's scores stand for people's. Of two unlike metrics *segments* change places at random, with
the scores of all systems, or each of the *scores* by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

import evalstats as es
from benchmarks.calibration.samples import N_RESAMPLES, Floats, Happened, Rng, Sample, rejected
from benchmarks.corpora import published

PUBLISHED = ("GEMBA-ESA-GPT4.1", "MetricX-24-Hybrid-XL", "CometKiwi-XL")
N_SYSTEMS = 10


@dataclass(frozen=True)
class Metrics:
    """A source of people's scores of ten systems, and of two metrics'."""

    corpus: str = ""
    swapped: str = "segments"

    def __str__(self) -> str:
        return self.corpus or "simulated"

    def draw(self, n: int, rng: Rng) -> Sample:
        """Return n segments: people's scores, and metrics' by name."""
        if self.corpus:
            scores = _published(self.corpus)
            systems = rng.permutation(scores.shape[1])[:N_SYSTEMS]
            scores = scores[:, systems][..., rng.integers(scores.shape[2], size=n)]
        else:
            quality = np.linspace(0, 0.5, N_SYSTEMS)[:, None] + rng.normal(size=n)
            shares = np.array([1, 0.8, 0.3])[:, None, None]
            scores = shares * quality + rng.normal(size=(3, N_SYSTEMS, n))
        people, *both = scores / np.std(scores, axis=(1, 2), keepdims=True)
        shape = (1, n) if self.swapped == "segments" else (N_SYSTEMS, n)
        swap = rng.random(shape) < 0.5
        first, second = np.where(swap, both[::-1], both)
        return Sample([_named(people), {"A": _named(first), "B": _named(second)}], {})


@lru_cache
def _published(corpus: str) -> Floats:
    """Return people's scores and metrics', `(3, S, N)`."""
    return np.stack([published(corpus, metric)[1] for metric in PUBLISHED])


def _named(scores: Floats) -> dict[str, Floats]:
    return {f"system {i}": x for i, x in enumerate(scores)}


def tests(sample: Sample, seed: int) -> Happened:
    """Ask of each measure whether two metrics differ."""
    for measure in ("spa", "pa", "acc_eq"):
        asked = es.meta(*sample.tables, measure, n_resamples=N_RESAMPLES, rng=seed, executor=1)
        for d in asked:
            yield d.metric, "p ≤ .05", rejected(d.pvalue)
            yield d.metric, "p ≤ .01", rejected(d.pvalue, 0.01)
