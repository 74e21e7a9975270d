"""Two metrics that are equally near to people: of WMT25, with GEMBA for people, or made up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import evalstats as es
from benchmarks.calibration.samples import N_RESAMPLES, Happened, Rng, Sample, rejected
from benchmarks.corpora import published

PUBLISHED = ("GEMBA-ESA-GPT4.1", "MetricX-24-Hybrid-XL", "CometKiwi-XL")


@dataclass(frozen=True)
class Metrics:
    """People's scores of ten systems, and two metrics', whose segments or scores change places."""

    corpus: str = ""
    swapped: str = "segments"

    def __str__(self) -> str:
        return self.corpus or "simulated"

    def draw(self, n: int, rng: Rng) -> Sample:
        """Return n segments: people's scores, and metrics' by name."""
        if self.corpus:
            scores = np.stack([published(self.corpus, metric)[1] for metric in PUBLISHED])
            systems = rng.permutation(scores.shape[1])[:10]
            scores = scores[:, systems][..., rng.integers(scores.shape[2], size=n)]
        else:
            quality = np.linspace(0, 0.5, 10)[:, None] + rng.normal(size=n)
            scores = np.multiply.outer([1, 0.8, 0.3], quality) + rng.normal(size=(3, 10, n))
        people, *both = scores / np.std(scores, axis=(1, 2), keepdims=True)
        swap = rng.random((1 if self.swapped == "segments" else 10, n)) < 0.5
        first, second = np.where(swap, both[::-1], both)
        human, a, b = ({str(i): x for i, x in enumerate(of)} for of in (people, first, second))
        return Sample([human, {"A": a, "B": b}], {})


def tests(sample: Sample, seed: int) -> Happened:
    """Ask of each measure whether two metrics differ."""
    for measure in ("spa", "pa", "acc_eq"):
        asked = es.meta(*sample.tables, measure, n_resamples=N_RESAMPLES, rng=seed, executor=1)
        for rate, level in (("p ≤ .05", 0.05), ("p ≤ .01", 0.01)):
            yield asked[0].metric, rate, rejected(asked[0].pvalue, level)
