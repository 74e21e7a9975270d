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
from typing import Any, NamedTuple, TypeVar

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
from evalstats.metrics.perplexity import UNITS

#: Labels are few; beyond it pairs are texts.
_MOST_LABELS = 200

T = TypeVar("T")


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

    def each(self, expected: str, read: Callable[[Any], T]) -> list[T]:
        """Return what `read` turns every row into.

        Where it cannot read the first row, no row is what was expected (`UnreadableError`); where
        it cannot read a later one, that row is wrong (`InputError`).
        """
        parsed = []
        for i, row in enumerate(self.values):
            try:
                parsed.append(read(row))
            except (TypeError, ValueError, OverflowError):
                got = shown(row, 60)
                if i:
                    where = self.where(i)
                    raise InputError(f"{where} must be {expected}, got {got}") from None
                said = f"its rows should be {expected}, but are like {got}"
                raise UnreadableError(said) from None
        return parsed


class Read(NamedTuple):
    """A metric and its statistics `(n, k)`; NaN where a score is missing."""

    metric: Metric
    statistics: NDArray[Any]

    @property
    def score(self) -> float:
        """The score of all rows."""
        return float(self.metric.score(np.nansum(self.statistics, axis=0, dtype=np.float64)))


_Reader = Callable[[Logged], Read]


def _sums(
    expected: str, of_row: Callable[[Any], tuple[float, float]], metric: Callable[[Logged], Metric]
) -> _Reader:
    """Return a reader of rows that `of_row` turns into two numbers, the statistics of `metric`.

    Messages say that rows should be `expected`.
    """

    def read(rows: Logged) -> Read:
        return Read(metric(rows), np.array(rows.each(expected, of_row), dtype=np.float64))

    return read


def _score(row: Any) -> tuple[float, float]:
    """Return a score, 0/1 or any number, and 1; both are NaN where it is NaN or null."""
    return (math.nan, math.nan) if row is None or row != row else (0.0 + row, 1.0)


def _units(row: Any) -> tuple[float, float]:
    """Return the nats of a text and its units, from ``[log-likelihood, number of units]``."""
    nats, units = row
    return 0.0 - nats, 0.0 + units  # 0 and not -0 where a text is certain


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


def _texts(metric: Metric) -> _Reader:
    """Return a reader of ``[reference or references, hypothesis]``."""

    def texts(row: Any) -> tuple[list[str], str]:
        reference, hypothesis = row
        references = reference if isinstance(reference, list) else [reference]
        if isinstance(hypothesis, list):
            (hypothesis,) = hypothesis
        if not references or not all(isinstance(text, str) for text in (*references, hypothesis)):
            raise TypeError
        return references, hypothesis

    def read(rows: Logged) -> Read:
        references, hypotheses = zip(*rows.each("[reference, hypothesis]", texts), strict=True)
        return Read(metric, metric.statistics(hypotheses, references))

    return read


def _per_unit(kind: type[Perplexity] | type[BitsPerUnit], default: str) -> _Reader:
    """Return a reader of log-likelihoods per unit, which the name says: "word_perplexity"."""

    def metric(rows: Logged) -> Metric:
        unit = rows.metric.partition("_")[0]
        return kind(unit if unit in UNITS else default)

    return _sums("[log-likelihood, number of units]", _units, metric)


def _classes(measure: str, labels: tuple[Any, ...] = ()) -> _Reader:
    """Return a reader of ``[gold label, predicted label]``, all integers or all texts.

    `labels` are the classes, by default those that occur; absent classes are in no average.
    """

    def pair(row: Any) -> list[Any]:
        gold, predicted = (one if isinstance(one, str) else index(one) for one in row)
        return [gold, predicted]

    def read(rows: Logged) -> Read:
        pairs = rows.each("[gold label, predicted label], integers or texts", pair)
        gold, predicted = map(list, zip(*pairs, strict=True))
        there = {*gold, *predicted}
        if labels and not there.issubset(labels):
            raise UnreadableError("its labels are not 0 and 1, of which scikit-learn takes 1")
        if len(there) > _MOST_LABELS or len(set(map(type, there))) > 1:
            raise UnreadableError(f"its rows have more than {_MOST_LABELS} labels, or two kinds")
        if len(there) == 1:  # Classes are at least two.
            (only,) = there
            there.add(f"not {only}" if isinstance(only, str) else int(only == 0))
        metric = Confusion(labels or tuple(sorted(there)), measure, absent="omit")
        return Read(metric, metric.statistics(predicted, gold))

    return read


_MEAN = _sums("numbers", _score, lambda rows: Mean(rows.metric, rows.higher))
#: What a function of a task's own may be.
_OWN = (
    _MEAN,
    _sums(
        "lists of true and false",
        _right,
        lambda rows: Ratio(rows.metric, ("right", "all"), higher_is_better=rows.higher),
    ),
    *map(_classes, ("accuracy", "macro-f1", "weighted-f1", "mcc", "kappa", "balanced-accuracy")),
    _classes("f1", (0, 1)),
)
#: By the names that the harness registers; F1 is that of the label 1, as scikit-learn's.
_READERS: dict[str, _Reader] = {
    "mean": _MEAN,
    "nanmean": _MEAN,
    "bleu": _texts(BLEU()),
    "chrf": _texts(CHRF()),
    "chrf++": _texts(CHRF(word_order=2)),
    "ter": _texts(TER()),
    "perplexity": _sums(
        "log-likelihoods", lambda row: (0.0 - row, 1.0), lambda _: Perplexity("item")
    ),
    "weighted_perplexity": _per_unit(Perplexity, "token"),
    "bits_per_byte": _per_unit(BitsPerUnit, "byte"),
    "brier_score": _sums(
        "[gold class, probabilities of all classes]",
        _distance,
        lambda rows: Mean(rows.metric, False),
    ),
    "f1": _classes("f1", (0, 1)),
    "matthews_corrcoef": _classes("mcc"),
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
    if function in _READERS:
        return _READERS[function](rows)
    named = re.search(r"def\s+(\w+)", function)
    by = f"it is aggregated by {named[1] if named else shown(function, 60)}"
    if stated is None:
        raise UnreadableError(f"{by}, and there is no score to recognise it by")
    candidates = []
    for read in _OWN:
        with suppress(UnreadableError, InputError):
            candidate = read(rows)
            if math.isclose(candidate.score, stated, rel_tol=1e-9, abs_tol=1e-12):
                candidates.append(candidate)
    if not candidates:
        raise UnreadableError(f"{by}, which is not known to be a function of sums")
    if len(candidates) > 1:
        names = ", ".join(candidate.metric.name for candidate in candidates)
        raise UnreadableError(f"{by}, whose score could be any of {names}")
    return candidates[0]
