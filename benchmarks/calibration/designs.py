"""Sources of other designs: unpaired systems, systems run on a drawn part, metrics as systems.

Of a part it is asked, too, what that is worth; of metrics, whether two are as near to people, of
WMT25 with GEMBA for people, or made up.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import evalstats as es
from benchmarks.calibration.populations import Real
from benchmarks.calibration.questions import tests
from benchmarks.calibration.samples import N_RESAMPLES, Happened, Rng, Sample, rejections
from benchmarks.calibration.simulated import Made, sample
from benchmarks.corpora import published

PUBLISHED = ("GEMBA-ESA-GPT4.1", "MetricX-24-Hybrid-XL", "CometKiwi-XL")
T: dict[str, Any] = {"method": "t", "executor": 1}


@dataclass(frozen=True)
class Apart:
    """A source of two systems, each with a sample of its own."""

    source: Real | Made

    @property
    def corpus(self) -> str:
        """The test set that it needs, or ""."""
        return self.source.corpus

    def __str__(self) -> str:
        return str(self.source)

    def draw(self, sizes: Any, rng: Rng) -> Sample:
        """Return so many units of the first system, and so many others of the second."""
        drawn = [self.source.draw(n, rng) for n in sizes]
        tables = [
            es.SegmentStatistics(table.values[[i]], (table.systems[i],), table.metric)
            for i, sample in enumerate(drawn)
            for table in sample.tables
        ]
        names = tables[0].systems + tables[-1].systems
        labels = {
            kind: {name: sample.labels[kind] for name, sample in zip(names, drawn, strict=True)}
            for kind in drawn[0].labels
        }
        return Sample(tables, drawn[0].truth, labels, drawn[0].whole, {"paired": False})


@dataclass(frozen=True)
class Part(Apart):
    """Of a source's systems all are known but the last, which is compared with the one before."""

    share: float
    how: str

    def draw(self, n: int, rng: Rng) -> Sample:
        """Return the two systems' rows, and as the whole the plan and the rows if all are run."""
        whole, known, pairs, parts = self.source.draw(n, rng), [], [], []
        for table in whole.tables:
            names, values = table.systems, table.values
            known.append(replace(table, values=values[:-1], systems=names[:-1]))
            pairs.append(replace(table, values=values[-2:], systems=names[-2:]))
        n_items = round(self.share * known[0].n_segments)
        plan = es.plan(known, n=n_items, how=self.how, rng=rng, **whole.labels)
        for pair in pairs:
            values = pair.values.copy()
            values[1, np.setdiff1d(np.arange(pair.n_segments), plan.drawn)] = 0
            parts.append(replace(pair, values=values))
        truth = {name: scores[-2:] for name, scores in whole.truth.items()}
        return Sample(plan.data(parts), truth, whole.labels, (plan, pairs), T)


def worth(sample: Sample, seed: int) -> Happened:
    """Ask as of all systems; and what the plan promised, in proportion to what was found."""
    yield from tests(sample, seed)
    plan, pairs = sample.whole
    both = [es.compare(gain, **sample.labels, **T) for gain in (list(sample.tables), pairs)]
    n = pairs[0].n_segments
    for part, whole in zip(*(x.differences for x in both), strict=True):
        gain = plan.worth[part.metric]
        scores = [x.estimates[part.metric, part.system] for x in both]
        for rate, worth, (one, other) in (
            ("worth of a difference", gain.difference, (part, whole)),
            ("worth of a score", gain.score, scores),
        ):
            yield part.metric, rate, worth * one.standard_error**2, n * other.standard_error**2


def agents(n: int, rng: Rng, spread: float, size: int = 1) -> Sample:
    """Draw 0/1 scores of seven equal agents on n tasks, or groups of tasks that are alike."""
    shared = np.repeat(rng.normal(size=n), size) * (1.5 if size > 1 else spread)
    hard = shared + (spread * rng.normal(size=n * size) if size > 1 else 0)
    right = (0.5 + hard + rng.logistic(size=(7, n * size)) > 0).astype(float)
    # The mean over both normal distributions, by quadrature.
    at, weights = np.polynomial.hermite_e.hermegauss(101)
    sd = np.hypot(1.5, spread) if size > 1 else spread
    true = float(np.sum(weights / (1 + np.exp(-0.5 - sd * at))) / np.sum(weights))
    labels = {"groups": np.repeat(np.arange(n), size)} if size > 1 else {}
    return sample(right, *[true] * 7, **labels)


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
        human, a, b = (
            {str(i): x for i, x in enumerate(outputs)} for outputs in (people, first, second)
        )
        return Sample([human, {"A": a, "B": b}], {})


def measures(sample: Sample, seed: int) -> Happened:
    """Ask of each measure whether two metrics differ."""
    for measure in ("spa", "pa", "acc_eq"):
        asked = es.meta(*sample.tables, measure, n_resamples=N_RESAMPLES, rng=seed, executor=1)
        yield from rejections(asked[0].metric, asked[0].pvalue)
