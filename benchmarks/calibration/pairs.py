"""Trials of tests and intervals: a sample of two systems, and every question about it.

Tests and intervals are the library's own lists, and "default", which is no argument at all. A call
answers one question of each kind, so that as many calls do as there are tests in all directions.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import Any

import numpy as np

import evalstats as es
from benchmarks.calibration.answers import LEVELS, ROUNDING, Answers
from benchmarks.calibration.populations import Population
from evalstats.analysis.plan import METHODS, TESTS

#: (k + 1)/(B + 1) is .05 and .01 exactly for some k.
N_RESAMPLES = 399
QUESTIONS = (
    ("default", "two-sided"),
    *((test, "two-sided") for test in TESTS),
    ("default", "greater"),
    ("default", "less"),
    *((test, "greater") for test in TESTS),
)
INTERVALS = ("default", *METHODS)
#: Added to the ends of an interval before asking what it covers: scores are sums in floating point.
TIE = 1e-9


def measure(population: Population, n: int, unit: str, trials: int, seed: int) -> Answers:
    """Ask about so many samples of n segments or documents."""
    answers = Answers()
    truth = population.scores
    tie = TIE * max(1.0, float(np.max(np.abs(truth))))
    for trial in range(trials):
        rng = np.random.default_rng([seed, trial])
        groups = None
        if unit == "documents":
            values, groups = population.draw_documents(n, rng)
        else:
            values = population.draw(n, rng)
        table = es.SegmentStatistics(values, ["old", "new"], population.metric)
        found = _Asked(table, groups, trial)
        decided = {}
        for question, method in zip_longest(QUESTIONS, INTERVALS):
            result = found.ask(question, method)
            if question:
                key = f"test|{question[0]}|{question[1]}"
                if (answer := result or found.ask(question, None)) is None:
                    answers.refused(key)
                else:
                    (difference,) = answer
                    answers.pvalue(key, difference.pvalue)
                    if question[1] == "two-sided":
                        decided[question[0]] = difference.pvalue <= LEVELS[0] + ROUNDING
                    if question == QUESTIONS[0]:
                        for note in answer.notes:
                            answers.note(note)
            if method:
                if (answer := result or found.ask(None, method)) is None:
                    answers.refused(f"difference|{method}")
                else:
                    _cover(answers, answer, method, truth, tie)
        if len(decided) > 1 and "ar" in decided and "default" in decided:
            # Whether the default alone found the difference, and whether plain AR alone did.
            a, b = decided["default"], decided["ar"]
            answers.happened("default and ar differ", float(a and not b), float(b and not a))
    return answers


class _Asked:
    """A sample that is asked about."""

    def __init__(self, table: es.SegmentStatistics, groups: Any, seed: int) -> None:
        self.table, self.groups, self.seed = table, groups, seed

    def ask(self, question: tuple[str, str] | None, method: str | None) -> es.Comparison | None:
        """Return a comparison, or None where the library refuses to answer."""
        options: dict[str, Any] = {}
        if question:
            test, options["alternative"] = question
            if test != "default":
                options["test"] = test
        if method and method != "default":
            options["method"] = method
        try:
            return es.compare(
                self.table,
                groups=self.groups,
                n_resamples=N_RESAMPLES,
                rng=self.seed,
                executor=1,
                **options,
            )
        except es.InputError:
            return None


def _cover(
    answers: Answers, answer: es.Comparison, method: str, truth: np.ndarray, tie: float
) -> None:
    """Count whether the intervals cover the true scores and their difference."""
    (difference,) = answer
    true = truth[1] - truth[0]
    answers.happened(
        f"difference|{method}", float(difference.low - tie <= true <= difference.high + tie)
    )
    answers.length(f"difference|{method}", difference.high - difference.low)
    covered = [
        estimate.low - tie <= score <= estimate.high + tie
        for estimate, score in zip(answer.estimates, truth, strict=True)
    ]
    answers.happened(f"score|{method}", float(np.mean(covered)))
    answers.length(f"score|{method}", float(np.mean([e.high - e.low for e in answer.estimates])))
