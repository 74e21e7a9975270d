"""How soon `Monitor` finds a rise, how often its patience ends before, and which step to keep.

A run is 31 checks of a checkpoint whose segments' outputs come from one of two systems at random,
with a probability that is its quality. So its true score is known: that of the two systems'
statistics mixed in that proportion. The score is the same at all checks, or it changes:

- *at once*: by so many points after the first check;
- *steadily*: by so many points from the first check to the last, the same at each.

Each run draws its segments anew, with replacement.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

import evalstats as es
from benchmarks.calibration.samples import checkpoints
from benchmarks.corpora import available, texts

SEED = 2027
N_RUNS, N_CHECKS = 200, 31
PATIENCES = (3, 5, 10)
RISES = (0.3, 0.5, 1.0)
#: A rise, or a fall, in points of BLEU, and how it comes about.
ROWS = (*product(("at once", "steadily"), RISES), ("steadily", -0.5))
REAL = ("wmt22/en-de", ("OpenNMT", "Online-B"))
BUNDLED = ("sample", ("baseline", "clearly-better"))


class Course:
    """Runs whose true scores change in one way.

    Parameters
    ----------
    table : SegmentStatistics
        Of two systems; a quality of 0 is the first, of 1 the second.
    kind : str
        "at once" or "steadily".
    rise : float
        In points of the metric, from the first check to the last; negative for a fall.
    """

    def __init__(self, table: es.SegmentStatistics, kind: str, rise: float) -> None:
        self.table = table
        shares = np.linspace(0, 1, 20_001)
        scores = self.true_scores(shares)
        middle = scores[len(scores) // 2]
        steps = np.arange(N_CHECKS)
        reached = np.minimum(steps, 1) if kind == "at once" else steps / (N_CHECKS - 1)
        wanted = middle + rise * (reached - 0.5)
        self.qualities = shares[np.argmin(np.abs(scores - wanted[:, None]), axis=1)]
        self.truth = self.true_scores(self.qualities) - wanted[0]

    def true_scores(self, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the scores of checkpoints of such qualities, on all segments."""
        first, second = self.table.values.sum(axis=1, dtype=np.float64)
        return self.table.metric.score(first + (second - first) * shares[:, None])

    def watched(self, run: int) -> es.Monitor:
        """Return a monitor that has watched a run to its end."""
        rng = np.random.default_rng([SEED, run])
        n = self.table.n_segments
        drawn = replace(self.table, values=self.table.values[:, rng.integers(n, size=n)])
        references = es.References([""] * n)
        # Which step has the highest score does not depend on the resamples of its correction.
        monitor = es.Monitor(references, self.table.metric, n_resamples=2, rng=run)
        for step, outputs in enumerate(checkpoints(drawn, self.qualities, rng, references)):
            monitor.check(step, outputs)
        return monitor


def rows(quick: bool) -> Iterator[dict[str, Any]]:
    """Measure every row: counts of runs, the median check, and true scores of what is kept."""
    name, systems = BUNDLED if quick or not available(REAL[0]) else REAL
    source = texts(name)
    table = es.extract({k: source.systems[k] for k in systems}, source.references, "bleu")
    n_runs = 3 if quick else N_RUNS
    for kind, rise in ROWS:
        course = Course(table, kind, rise)
        yield {"what": f"{rise:+g} {kind}", "runs": n_runs, **measured(course, n_runs)}


def measured(course: Course, n_runs: int) -> dict[str, Any]:
    """Return what happened in so many runs.

    A run that never finds an improvement has the check after its last as the first that does.
    Scores are true ones, in points above that of the first step.
    """
    firsts, best, highest, errors = [], [], [], []
    for run in range(n_runs):
        monitor = course.watched(run)
        improved = [check.step for check in monitor.checks if check.improved]
        firsts.append(improved[0] if improved else N_CHECKS)
        best.append(course.truth[monitor.best_step])
        highest.append(course.truth[monitor.selected.step])
        last = monitor.checks[-1]
        errors.append((last.difference_high - last.difference_low) / 2 / 1.96)
    return {
        "found after": float(np.median(firsts)),
        "found": sum(first < N_CHECKS for first in firsts),
        # At check P after the first one P checks have passed without an improvement.
        "stopped": {str(p): sum(first > p for first in firsts) for p in PATIENCES},
        "best step": [float(np.mean(best)), float(np.std(best) / n_runs**0.5)],
        "highest step": [float(np.mean(highest)), float(np.std(highest) / n_runs**0.5)],
        "standard error": float(np.mean(errors)),
    }
