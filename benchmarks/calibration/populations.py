"""Populations: the statistics of two systems on all segments, and draws of segments from them.

What a population holds is all there is: its scores are the truth that intervals must cover and
tests must find, and a trial sees a few of its segments, drawn with replacement.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

import evalstats as es
from benchmarks.calibration import equality
from benchmarks.calibration.manipulations import MANIPULATIONS, equal_degree
from benchmarks.calibration.texts import texts

#: A segment of at most so many word errors per reference word counts as right.
RIGHT = 0.4
ACCURACY = es.Mean("accuracy")
MARKS = es.Mean("marks")
#: Micro-averaged F1 of words, a ratio of sums.
F1 = es.Ratio("F1", columns=("tp", "fp", "fn"), numerator=(2, 0, 0), denominator=(2, 1, 1))
#: Rows of a population that is not made from texts.
N_SYNTHETIC = 4000


@dataclass(frozen=True)
class Source:
    """What a population is made of.

    `kind` is "real" (two systems as they are), "exchangeable", "recentred" (`equality`),
    "manipulated" or "synthetic". A manipulated one equals a manipulation of `first` at a fixed
    degree, "cut .1", or `first` as it is, to another of `second` at the degree that makes their
    scores equal, "lengthened". Without `second` it is of the same system.
    A synthetic one is named by `first` and `second`.
    """

    kind: str
    corpus: str
    metric: str
    first: str = ""
    second: str = ""
    fixed: str = ""
    tuned: str = ""

    def __str__(self) -> str:
        if self.tuned:
            sides = (f"{self.first} {self.fixed}".strip(), f"{self.second} {self.tuned}".strip())
            return f"{self.corpus}, {sides[0]} against {sides[1]}"
        between = ", " if self.kind == "synthetic" else " against "
        return f"{self.corpus}, {self.first}" + (between + self.second if self.second else "")


@dataclass(frozen=True)
class Population:
    """Statistics of two systems on all M segments, `(2, M, k)`; documents as numbers."""

    values: NDArray
    metric: es.Metric
    documents: NDArray | None = None

    @property
    def scores(self) -> NDArray:
        """True scores, `(2,)`."""
        return self.metric.score(self.values.sum(axis=1, dtype=float))

    def draw(self, n: int, rng: np.random.Generator) -> NDArray:
        """Return n segments drawn with replacement, `(2, n, k)`."""
        return self.values[:, rng.integers(self.values.shape[1], size=n)]

    def draw_documents(self, n: int, rng: np.random.Generator) -> tuple[NDArray, NDArray]:
        """Return all segments of n documents drawn with replacement, and the number of each."""
        if self.documents is None:
            raise ValueError("this population has no documents")
        order = np.argsort(self.documents, kind="stable")
        sizes = np.bincount(self.documents)
        starts = np.cumsum(sizes) - sizes
        drawn = rng.integers(len(sizes), size=n)
        segments = np.concatenate([order[starts[d] : starts[d] + sizes[d]] for d in drawn])
        return self.values[:, segments], np.repeat(np.arange(n), sizes[drawn])


@lru_cache(maxsize=64)
def population(source: Source) -> Population:
    """Make a population."""
    if source.kind == "synthetic":
        return _synthetic(source)
    if source.tuned:
        rows, metric = _manipulated(source)
        if source.kind == "exchangeable":
            return Population(equality.exchangeable(rows), metric)
        return Population(equality.recentred(rows, metric), metric)
    tables = [statistics(source.corpus, name, source.metric) for name in systems(source)]
    rows, metric = np.stack([table for table, _ in tables]), tables[0][1]
    labels = texts(source.corpus).documents
    documents = None if labels is None else np.unique(labels, return_inverse=True)[1]
    if source.kind == "exchangeable":
        rows = equality.exchangeable(rows)
        if documents is not None:
            documents = np.concatenate([documents, documents + documents.max() + 1])
    elif source.kind == "recentred":
        m = rows.shape[1]
        rows = equality.recentred(rows, metric)
        # A segment that was left out belongs to no document any more.
        documents = documents if rows.shape[1] == m else None
    return Population(rows, metric, documents)


def systems(source: Source) -> tuple[str, str]:
    """Return the names of both systems."""
    return source.first, source.second or source.first


@lru_cache(maxsize=256)
def statistics(corpus: str, system: str, metric: str) -> tuple[NDArray, es.Metric]:
    """Return the statistics of one system's outputs, `(M, k)`, and their metric."""
    return extracted(corpus, texts(corpus).systems[system], metric)


def extracted(corpus: str, outputs: list[str], metric: str) -> tuple[NDArray, es.Metric]:
    """Return the statistics of outputs, `(M, k)`, and their metric."""
    chosen: es.Metric | str = {"0/1": "wer", "F1": "bleu"}.get(metric, metric)
    if corpus == "en-zh" and chosen == "bleu":
        chosen = es.BLEU(trg_lang="zh")
    table = es.extract({"it": outputs}, _references(corpus), chosen)
    rows = table.values[0]
    if metric == "0/1":
        errors, words = (rows[:, table.metric.columns.index(c)] for c in ("edits", "ref_len"))
        return ACCURACY.statistics((errors <= RIGHT * words).astype(float)), ACCURACY
    if metric == "F1":
        length, wanted, right = (
            rows[:, table.metric.columns.index(c)] for c in ("sys_len", "ref_len", "correct_1")
        )
        return F1.statistics(np.stack([right, length - right, wanted - right], axis=1)), F1
    return rows, table.metric


@lru_cache
def _references(corpus: str) -> es.References:
    return es.References(texts(corpus).references)


def _manipulated(source: Source) -> tuple[NDArray, es.Metric]:
    """Return two systems, the second manipulated until it is as good as the first."""
    first, second = (texts(source.corpus).systems[name] for name in systems(source))
    if source.fixed:
        kind, degree = source.fixed.split()
        first = MANIPULATIONS[kind](first, float(degree))
    rows, metric = extracted(source.corpus, first, source.metric)
    target = metric.score(rows.sum(axis=0, dtype=float))
    sign = 1 if metric.higher_is_better else -1

    def manipulated(degree: float) -> NDArray:
        outputs = MANIPULATIONS[source.tuned](second, degree)
        return extracted(source.corpus, outputs, source.metric)[0]

    def worse_by(degree: float) -> float:
        score = metric.score(manipulated(degree).sum(axis=0, dtype=float))
        return float(sign * (target - score))

    return np.stack([rows, manipulated(equal_degree(worse_by))]), metric


def _synthetic(source: Source) -> Population:
    """Return a population that no text is behind: marks with rare failures, lost 0/1 items."""
    rng, m = np.random.default_rng(equality.SEED), N_SYNTHETIC
    if source.first == "rare failures":
        # 2 % of one system's segments lose 5 points; where scores are equal the others gain.
        pair = 8 + rng.normal(0, 0.3, (2, m))
        failing = ("of the old", "of the new", "of the new, a loss").index(source.second) > 0
        pair[int(failing), : m // 50] -= 5
        if "loss" not in source.second:
            pair[int(failing)] += np.mean(pair[1 - failing]) - np.mean(pair[int(failing)])
        return Population(np.stack([MARKS.statistics(x) for x in pair]), MARKS)
    if source.first == "marks":
        level = rng.normal(8, 1, m)
        marks = np.clip(level + rng.normal(0, 0.7, (2, m)), 0, 10)
        rows = np.stack([MARKS.statistics(x) for x in marks])
        return Population(equality.exchangeable(rows), MARKS)
    # "breaks .05 fixes .025": shares of the items that only one of the two has right.
    _, broken, _, fixed = source.first.split()
    old, new = np.ones((2, m))
    new[: round(float(broken) * m)] = 0
    old[m - round(float(fixed) * m) :] = 0
    return Population(np.stack([ACCURACY.statistics(old), ACCURACY.statistics(new)]), ACCURACY)
