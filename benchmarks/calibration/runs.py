"""Whole Monitor runs: false improvements where there is none, and how soon a real one is found.

A checkpoint takes every segment's output from one of two systems at random, with a probability that
is its quality. Where that stays the same all differences between checkpoints are noise. Every run
draws its segments anew. What happens to quality:

- "plateau": nothing.
- "wobble": it stays, but every checkpoint is by chance too short or too long. Both kinds have
  the same BLEU, and length ratios on both sides of 1.
- "rise": ten checkpoints rise to a plateau; only claims within the plateau are false.
- "jump": after some checkpoints it rises at once, by so many points of the metric.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

import evalstats as es
from benchmarks.calibration import equality
from benchmarks.calibration.answers import Answers
from benchmarks.calibration.manipulations import MANIPULATIONS, equal_degree
from benchmarks.calibration.populations import extracted, statistics
from benchmarks.calibration.texts import texts

N_CHECKS = 41
N_RISING = 10
#: Checks after a jump within which it counts as found.
SOON = 10


@dataclass(frozen=True)
class Run:
    """A scenario; `cut` is for a wobble, `jump` (points) and `after` (checks) for a jump."""

    kind: str
    corpus: str
    metric: str
    first: str
    second: str
    n: int
    cut: float = 0.0
    jump: float = 0.0
    after: int = 0

    def __str__(self) -> str:
        what = {"wobble": f" cut {self.cut:g}", "jump": f" +{self.jump:g} after {self.after}"}
        return f"{self.kind}{what.get(self.kind, '')}/{self.corpus}, {self.first}, {self.second}"


def measure(run: Run, trials: int, seed: int) -> Answers:
    """Watch so many runs."""
    answers = Answers()
    kinds, metric = checkpoints(run)
    shares = qualities(run, kinds[0], metric)
    for trial in range(trials):
        rng = np.random.default_rng([seed, trial])
        drawn = kinds[:, :, rng.integers(kinds.shape[2], size=run.n)]
        references = es.References([""] * run.n)
        monitor = es.Monitor(references, metric, rng=trial)
        for step, share in enumerate(shares):
            kind = drawn[rng.integers(len(drawn))]
            rows = np.where(rng.random((run.n, 1)) < share, kind[1], kind[0])
            table = es.SegmentStatistics(
                rows[None], ["run"], metric, fingerprint=references.fingerprint
            )
            monitor.check(step, table)
        claims = [check for check in monitor.checks if check.improved]
        if run.kind == "jump":
            soon = (c for c in claims if run.after <= c.step < run.after + SOON)
            answers.happened("found", float(any(soon)))
            claims = [c for c in claims if c.step < run.after]
        elif run.kind == "rise":
            claims = [c for c in claims if c.compared_with >= N_RISING]
        answers.happened("false improvement", float(bool(claims)))
    return answers


@lru_cache(maxsize=8)
def checkpoints(run: Run) -> tuple[NDArray, es.Metric]:
    """Return the statistics of both systems for each kind of checkpoint, `(kinds, 2, M, k)`."""
    names = (run.first, run.second)
    if run.kind != "wobble":
        tables = [statistics(run.corpus, name, run.metric) for name in names]
        return np.stack([rows for rows, _ in tables])[None], tables[0][1]

    def both(how: str, degree: float) -> NDArray:
        outputs = [MANIPULATIONS[how](texts(run.corpus).systems[name], degree) for name in names]
        return np.stack([extracted(run.corpus, o, run.metric)[0] for o in outputs])

    metric = statistics(run.corpus, run.first, run.metric)[1]
    short = both("cut", run.cut)

    def worse_by(degree: float) -> float:
        totals = [x.sum(axis=(0, 1), dtype=float) for x in (short, both("lengthened", degree))]
        return float(metric.score(totals[0]) - metric.score(totals[1]))

    long = both("lengthened", equal_degree(worse_by))
    # On average a checkpoint is half of each system: their sums are what has to be equal. The
    # number of the segment is carried along, to swap the same segments of each system.
    pairs = np.stack([short.sum(axis=0), long.sum(axis=0)])
    equal = equality.recentred(pairs, metric)
    swapped = np.any(equal[0] != pairs[0], axis=1)
    short[:, swapped], long[:, swapped] = long[:, swapped], short[:, swapped]
    return np.stack([short, long]), metric


def qualities(run: Run, pair: NDArray, metric: es.Metric) -> list[float]:
    """Return the quality of every checkpoint, the share of the second system."""
    if run.kind == "rise":
        rise = np.linspace(0, 0.5, N_RISING, endpoint=False).tolist()
        return [*rise, *[0.5] * (N_CHECKS - N_RISING)]
    if run.kind != "jump":
        return [0.5] * N_CHECKS
    totals = pair.sum(axis=1, dtype=float)

    def score(share: float) -> float:
        return float(metric.score((1 - share) * totals[0] + share * totals[1]))

    # Low and high around the middle, so that both are mixtures.
    low, high = 0.0, 0.5
    for _ in range(40):
        half = (low + high) / 2
        low, high = (
            (half, high) if score(0.5 + half) - score(0.5 - half) < run.jump else (low, half)
        )
    return [*[0.5 - low] * run.after, *[0.5 + low] * SOON]
