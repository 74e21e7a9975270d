"""Rows of lm-evaluation-harness that are numbers, texts and likelihoods, as metrics of sums.

The harness keeps of each item what its aggregation needs: a number, ``[reference, hypothesis]``,
``[log-likelihood, words]``. Here is for each the metric that makes the same score of sums, and its
statistics. Rows of labels are in `harness_labels`.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from math import fsum, isfinite
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from evalstats.checks import shown
from evalstats.errors import InputError
from evalstats.metrics import BitsPerUnit, Mean, Metric, Perplexity, Ratio
from evalstats.metrics.perplexity import UNITS
from evalstats.runs.items import as_score, number, with_missing


class UnreadableError(Exception):
    """What is aggregated is no function of sums, or none that is known; says why."""


class Rows(NamedTuple):
    """What a log has of its items under one metric.

    Attributes
    ----------
    metric : str
    values : list
    where : callable
        Says where the row of a number is, for messages.
    higher_is_better : bool
        The direction that the log states.
    """

    metric: str
    values: list[Any]
    where: Callable[[int], str]
    higher_is_better: bool

    def wrong(self, i: int, expected: str) -> NoReturn:
        """Say that row i is not what the others are; the first row says what they are at all."""
        found = shown(self.values[i], 60)
        if i == 0:
            raise UnreadableError(f"its rows should be {expected}, but are like {found}")
        raise InputError(f"{self.where(i)} must be {expected}, got {found}")


class Found(NamedTuple):
    """A metric, its statistics `(N, k)`, and what is missing in them, in words."""

    metric: Metric
    statistics: NDArray[Any]
    lacking: str = ""

    @property
    def score(self) -> float:
        """The score of all rows."""
        return float(self.metric.score(np.sum(self.statistics, axis=0, dtype=np.float64)))


def mean(rows: Rows) -> Found:
    """Return 0/1 scores, or any numbers; NaN and null are missing."""
    scores = np.empty(len(rows.values))
    for i, value in enumerate(rows.values):
        if type(value) is float and isfinite(value):
            scores[i] = value
        elif value is None or isinstance(value, (bool, int, float)):
            scores[i] = as_score(value, rows.where(i))
        else:
            rows.wrong(i, "numbers")
    if np.all(np.isnan(scores)):
        raise UnreadableError("no item has a score")
    return Found(Mean(rows.metric, rows.higher_is_better), *with_missing(scores))


def pairs(rows: Rows, expected: str) -> list[Any]:
    """Return rows that are lists of two, or say which is not."""
    for i, row in enumerate(rows.values):
        if not isinstance(row, (list, tuple)) or len(row) != 2:
            rows.wrong(i, expected)
    return rows.values


def texts(metric: Metric) -> Callable[[Rows], Found]:
    """Return a reader of ``[reference or references, hypothesis]``."""

    def read(rows: Rows) -> Found:
        expected = "[reference, hypothesis]"
        references, hypotheses = [], []
        for i, (reference, hypothesis) in enumerate(pairs(rows, expected)):
            if isinstance(hypothesis, list) and len(hypothesis) == 1:
                hypothesis = hypothesis[0]
            own = [reference] if isinstance(reference, str) else reference
            if not isinstance(own, list) or not own or not isinstance(hypothesis, str):
                rows.wrong(i, expected)
            if not all(isinstance(text, str) for text in own):
                rows.wrong(i, expected)
            references.append(own)
            hypotheses.append(hypothesis)
        return Found(metric, metric.statistics(hypotheses, references))

    return read


def per_unit(kind: type[Perplexity] | type[BitsPerUnit]) -> Callable[[Rows], Found]:
    """Return a reader of ``[log-likelihood, units]``."""

    def read(rows: Rows) -> Found:
        unit = rows.metric.partition("_")[0]
        metric = kind(unit) if unit in UNITS else kind("byte" if kind is BitsPerUnit else "token")
        expected = "[log-likelihood, number of units]"
        found = []
        for i, pair in enumerate(pairs(rows, expected)):
            nats, units = (_real(rows, i, value, expected) for value in pair)
            if nats > 0 or units < 0:
                rows.wrong(i, f"{expected}, the first at most 0 and the second at least 0")
            # 0 and not -0 where a text is certain.
            found.append((0.0 - nats, units))
        return Found(metric, np.array(found, dtype=np.float64))

    return read


def perplexity(rows: Rows) -> Found:
    """Return log-likelihoods of items, which count once each."""
    found = [_real(rows, i, value, "log-likelihoods") for i, value in enumerate(rows.values)]
    for i, nats in enumerate(found):
        if nats > 0:
            rows.wrong(i, "log-likelihoods, at most 0")
    return Found(Perplexity("item"), np.array([(0.0 - nats, 1.0) for nats in found]))


def _real(rows: Rows, i: int, value: object, expected: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        rows.wrong(i, expected)
    return number(value, rows.where(i))


def brier(rows: Rows) -> Found:
    """Return the squared distance of each item's probabilities from its gold class, a mean."""
    expected = "[gold class, probabilities of all classes]"
    found = []
    for i, (gold, chances) in enumerate(pairs(rows, expected)):
        if isinstance(chances, str):
            chances = _printed(chances)
        if isinstance(gold, bool) or not isinstance(gold, int) or not isinstance(chances, list):
            rows.wrong(i, expected)
        if not 0 <= gold < len(chances):
            rows.wrong(i, expected)
        given = [_real(rows, i, chance, expected) for chance in chances]
        found.append(fsum((chance - (k == gold)) ** 2 for k, chance in enumerate(given)))
    metric = Mean(rows.metric, higher_is_better=False)
    return Found(metric, metric.statistics(found))


def _printed(array: str) -> list[float] | None:
    """Return the numbers of an array that files have as NumPy prints it, of eight digits."""
    try:
        return [float(part) for part in array.strip("[]").split()]
    except ValueError:
        return None


def share(rows: Rows) -> Found:
    """Return the share of what is right in all lists together: IFEval's instructions."""
    for i, row in enumerate(rows.values):
        if not isinstance(row, list) or not row:
            rows.wrong(i, "lists")
    if not all(isinstance(value, bool) for value in chain.from_iterable(rows.values)):
        rows.wrong(0, "lists of true and false")
    metric = Ratio(rows.metric, ("right", "all"), higher_is_better=rows.higher_is_better)
    return Found(metric, metric.statistics([[sum(row), len(row)] for row in rows.values]))
