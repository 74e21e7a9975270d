"""Sources whose last system was run on a drawn part of the items, and what that is worth."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import evalstats as es
from benchmarks.calibration import questions
from benchmarks.calibration.populations import Real
from benchmarks.calibration.samples import Happened, Rng, Sample
from benchmarks.calibration.simulated import Made, sample

T: dict[str, Any] = {"method": "t", "test": "t", "executor": 1}


@dataclass(frozen=True)
class Part:
    """Of a source's systems all are known but the last, which is compared with the one before."""

    source: Real | Made
    share: float
    how: str

    @property
    def corpus(self) -> str:
        """The test set that it needs, or ""."""
        return self.source.corpus

    def __str__(self) -> str:
        return str(self.source)

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
        truth = {name: of[-2:] for name, of in whole.truth.items()}
        return Sample(plan.data(parts), truth, whole.labels, (plan, pairs), T)


def tests(sample: Sample, seed: int) -> Happened:
    """Ask as of all systems; and what the plan promised, in proportion to what was found."""
    yield from questions.tests(sample, seed)
    plan, pairs = sample.whole
    found = [es.compare(of, **sample.labels, **T) for of in (list(sample.tables), pairs)]
    n = pairs[0].n_segments
    for part, whole in zip(*(x.differences for x in found), strict=True):
        of = plan.worth[part.metric]
        scores = [x.estimates[part.metric, part.system] for x in found]
        for rate, worth, (one, other) in (
            ("worth of a difference", of.difference, (part, whole)),
            ("worth of a score", of.score, scores),
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
