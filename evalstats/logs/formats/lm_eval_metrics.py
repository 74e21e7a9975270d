"""What lm-evaluation-harness aggregates, as a metric of sums and the statistics of each item.

Aggregations that it registers are known by name; a function of a task's own is recognised by the
score that it made, or not at all.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from contextlib import suppress
from operator import index
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evalstats.checks import shown
from evalstats.errors import InputError
from evalstats.metrics import (
    BLEU,
    CHRF,
    TER,
    BitsPerUnit,
    Confusion,
    Mean,
    Metric,
    Perplexity,
    Ratio,
)
from evalstats.metrics.probabilities import UNITS

#: Labels are few; beyond it pairs are texts.
_MOST_LABELS = 200


class UnreadableError(Exception):
    """The rows of a metric cannot be read as statistics that add up; the message says why."""


class Logged(NamedTuple):
    """The rows of one metric, as the log has them.

    `where(i)` is what messages call row i, and `higher` whether more is better under a mean.
    """

    metric: str
    values: list[Any]
    where: Callable[[int], str]
    higher: bool


class Read(NamedTuple):
    """A metric and its statistics `(n, k)`; NaN where a score is missing."""

    metric: Metric
    statistics: NDArray[Any]

    @property
    def score(self) -> float:
        """The score of all rows."""
        return float(self.metric.score(np.nansum(self.statistics, axis=0, dtype=np.float64)))


class _Aggregation(NamedTuple):
    """How rows, which should be `expected`, become statistics of a metric.

    `of_row` turns a row into two numbers, its statistics; or `are_pairs` of what is right and what
    was answered, which the metric counts.
    """

    expected: str
    of_row: Callable[[Any], tuple[Any, Any]]
    metric: Callable[[Logged, list[tuple[Any, Any]]], Metric]
    are_pairs: bool = False

    def read(self, rows: Logged) -> Read:
        """Return the metric of rows and their statistics.

        Where the first row cannot be read no row is what was expected (`UnreadableError`); where a
        later one cannot, that row is wrong (`InputError`).
        """
        parsed = []
        for i, row in enumerate(rows.values):
            try:
                parsed.append(self.of_row(row))
            except (TypeError, ValueError, OverflowError):
                got = shown(row, 60)
                if i:
                    said = f"{rows.where(i)} must be {self.expected}, got {got}"
                    raise InputError(said) from None
                said = f"its rows should be {self.expected}, but are like {got}"
                raise UnreadableError(said) from None
        metric = self.metric(rows, parsed)
        if not self.are_pairs:
            return Read(metric, np.array(parsed, dtype=np.float64))
        right, answers = map(list, zip(*parsed, strict=True))
        return Read(metric, metric.statistics(answers, right))


def _score(row: Any) -> tuple[float, float]:
    """Return a score, 0/1 or any number, and 1; both are NaN where it is NaN or null."""
    return (math.nan, math.nan) if row is None or row != row else (0.0 + row, 1.0)


def _units(row: Any) -> tuple[float, float]:
    """Return the nats of a text and its units, from ``[log-likelihood, number of units]``."""
    nats, units = row
    return 0.0 - nats, 0.0 + units  # 0 and not -0 where a text is certain


def _unit(rows: Logged, default: str) -> str:
    """Return the unit that the name of a metric says: "word" of "word_perplexity"."""
    unit = rows.metric.partition("_")[0]
    return unit if unit in UNITS else default


def _distance(row: Any) -> tuple[float, float]:
    """Return the squared distance of an item's probabilities from its gold class, and 1."""
    gold, chances = row
    if isinstance(chances, str):  # as NumPy prints an array, of eight digits
        chances = [float(part) for part in chances.strip("[]").split()]
    if gold not in range(len(chances)):
        raise ValueError
    return math.fsum((chance - (k == gold)) ** 2 for k, chance in enumerate(chances)), 1.0


def _right(row: Any) -> tuple[float, float]:
    """Return how many of a list are right, and how many there are: IFEval's instructions."""
    if set(map(type, row)) != {bool}:
        raise TypeError
    return sum(row), len(row)


def _texts(row: Any) -> tuple[list[str], str]:
    """Return references and a hypothesis, from ``[reference or references, hypothesis]``."""
    reference, hypothesis = row
    references = reference if isinstance(reference, list) else [reference]
    if isinstance(hypothesis, list):
        (hypothesis,) = hypothesis
    if not references or not all(isinstance(text, str) for text in (*references, hypothesis)):
        raise TypeError
    return references, hypothesis


def _of_texts(metric: Metric) -> _Aggregation:
    """Return the corpus score of a metric."""
    return _Aggregation("[reference, hypothesis]", _texts, lambda *_: metric, are_pairs=True)


def _labels(row: Any) -> tuple[Any, Any]:
    """Return the gold label and the predicted one, each an integer or a text."""
    gold, predicted = (one if isinstance(one, str) else index(one) for one in row)
    return gold, predicted


def _of_classes(measure: str, classes: tuple[Any, ...] = ()) -> _Aggregation:
    """Return a measure of a classification; without `classes` they are the labels that occur."""

    def confusion(_: Logged, pairs: list[tuple[Any, Any]]) -> Metric:
        there = {label for pair in pairs for label in pair}
        if classes and not there.issubset(classes):
            raise UnreadableError("its labels are not 0 and 1, of which scikit-learn takes 1")
        if len(there) > _MOST_LABELS or len(set(map(type, there))) > 1:
            raise UnreadableError(f"its rows have more than {_MOST_LABELS} labels, or two kinds")
        if len(there) == 1:  # Classes are at least two.
            (only,) = there
            there.add(f"not {only}" if isinstance(only, str) else int(only == 0))
        # Absent classes are in no average.
        return Confusion(classes or tuple(sorted(there)), measure, absent="omit")

    expected = "[gold label, predicted label], integers or texts"
    return _Aggregation(expected, _labels, confusion, are_pairs=True)


_MEAN = _Aggregation("numbers", _score, lambda rows, _: Mean(rows.metric, rows.higher))
_RIGHT = _Aggregation(
    "lists of true and false",
    _right,
    lambda rows, _: Ratio(rows.metric, ("right", "all"), higher_is_better=rows.higher),
)
_MEASURES = ("accuracy", "macro-f1", "weighted-f1", "mcc", "kappa", "balanced-accuracy")
#: What a function of a task's own may be.
_OWN = (_MEAN, _RIGHT, *map(_of_classes, _MEASURES), _of_classes("f1", (0, 1)))
_NATS = "[log-likelihood, number of units]"
#: By the names that the harness registers; F1 is that of the label 1, as scikit-learn's.
_REGISTERED = {
    "mean": _MEAN,
    "nanmean": _MEAN,
    "bleu": _of_texts(BLEU()),
    "chrf": _of_texts(CHRF()),
    "chrf++": _of_texts(CHRF(word_order=2)),
    "ter": _of_texts(TER()),
    "perplexity": _Aggregation(
        "log-likelihoods", lambda row: (0.0 - row, 1.0), lambda *_: Perplexity("item")
    ),
    "weighted_perplexity": _Aggregation(
        _NATS, _units, lambda rows, _: Perplexity(_unit(rows, "token"))
    ),
    "bits_per_byte": _Aggregation(_NATS, _units, lambda rows, _: BitsPerUnit(_unit(rows, "byte"))),
    "brier_score": _Aggregation(
        "[gold class, probabilities of all classes]",
        _distance,
        lambda rows, _: Mean(rows.metric, False),
    ),
    "f1": _of_classes("f1", (0, 1)),
    "matthews_corrcoef": _of_classes("mcc"),
}
_NEVER = {
    "median": "a median is not a function of sums",
    "bypass": "nothing was scored (--predict_only)",
}


def read_as(function: str, rows: Logged, stated: float | None) -> Read:
    """Return the rows as the harness aggregates them.

    `function` is a name, or the source of the task's own aggregation, which logs hold and nobody
    runs: then it is the one metric that gives the score which the log states.
    """
    if function in _NEVER:
        raise UnreadableError(_NEVER[function])
    if function in _REGISTERED:
        return _REGISTERED[function].read(rows)
    named = re.search(r"def\s+(\w+)", function)
    by = f"it is aggregated by {named[1] if named else shown(function, 60)}"
    if stated is None:
        raise UnreadableError(f"{by}, and there is no score to recognise it by")
    candidates = []
    for own in _OWN:
        with suppress(UnreadableError, InputError):
            candidate = own.read(rows)
            if math.isclose(candidate.score, stated, rel_tol=1e-9, abs_tol=1e-12):
                candidates.append(candidate)
    if not candidates:
        raise UnreadableError(f"{by}, which is not known to be a function of sums")
    if len(candidates) > 1:
        names = ", ".join(candidate.metric.name for candidate in candidates)
        raise UnreadableError(f"{by}, whose score could be any of {names}")
    return candidates[0]
