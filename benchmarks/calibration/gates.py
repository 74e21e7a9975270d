"""Trials of `assert_not_worse`: wrong failures of equal scores, wrong passes of a true loss.

Without a margin the scores are equal, and every failure is wrong. With one it is the true loss of
the population, and with a recovery the true ratio: every pass is wrong. Errors
that say that nothing can be said are counted apart.
"""

from __future__ import annotations

import numpy as np

import evalstats as es
from benchmarks.calibration.answers import Answers
from benchmarks.calibration.populations import Population

N_RESAMPLES = 399


def measure(population: Population, n: int, null: str, trials: int, seed: int) -> Answers:
    """Put so many samples of n segments to the gate; `null` may be "margin" or "recovery"."""
    answers = Answers()
    metric = population.metric
    gain = float(np.diff(population.scores)[0])
    loss = -gain if metric.higher_is_better else gain
    limits = {}
    if null in ("margin", "recovery"):
        if loss <= 0:
            raise ValueError("the new system must be worse for a margin to be its loss")
        old, new = population.scores
        recovery = new / old if metric.higher_is_better else old / new
        limits = {null: loss if null == "margin" else float(recovery)}
    for trial in range(trials):
        rng = np.random.default_rng([seed, trial])
        old, new = (
            es.SegmentStatistics(rows[None], [name], metric)
            for rows, name in zip(population.draw(n, rng), ("old", "new"), strict=True)
        )
        try:
            es.assert_not_worse(new, old, **limits, n_resamples=N_RESAMPLES, rng=trial)
            passed = True
        except AssertionError:
            passed = False
        except es.InputError:
            answers.refused("gate")
            answers.happened("gate", 0.0)
            continue
        answers.happened("gate", float(passed == bool(limits)))
    return answers
