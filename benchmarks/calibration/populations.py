"""Populations of real systems, from which a trial draws, and their true scores.

Of a population everything is known: the statistics of its systems on all segments, and the
probability of each. Null hypotheses are made of real systems in two ways:

- *exchangeable*: in every unit that is drawn the systems' outputs change places at random;
- *equal*: all that is unlike about the systems stays, but units are drawn with unequal
  probabilities, the nearest to equal ones (exponential tilting) at which all scores are the same.
  Published scores, which are means, are moved by a constant instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

import evalstats as es
from benchmarks.calibration.samples import Floats, Rng, Sample
from benchmarks.corpora import published, texts

#: A segment of at most so many word errors per reference word counts as right.
RIGHT = 0.4


@dataclass(frozen=True)
class Real:
    """A source; `null` is "exchangeable", "equal" or "real", which is neither.

    No systems are all of them, ("first 26",) so many. Where `differ` is not 0 the second system has
    the first one's outputs on all segments of a sample but so many. Where `right` is not 0, such a
    share of each system's outputs are the reference, and the words of all others are in random
    order: as in a low-resource language, few segments hold most of the n-grams that match.
    """

    corpus: str
    metrics: tuple[str, ...]
    systems: tuple[str, ...] = ()
    null: str = "real"
    unit: str = "segments"
    differ: int = 0
    right: float = 0.0

    def __str__(self) -> str:
        return f"{self.corpus}, {' and '.join(self.systems) or 'all systems'}"

    def draw(self, n: int, rng: Rng) -> Sample:
        """Return n units drawn with replacement."""
        whole = population(self)
        drawn = np.searchsorted(np.cumsum(whole.chances)[:-1], rng.random(n), side="right")
        rows = np.concatenate([whole.members[i] for i in drawn])
        units = np.repeat(np.arange(n), [len(whole.members[i]) for i in drawn])
        order = np.argsort(rng.random((len(whole.tables[0].systems), n)), axis=0)[:, units, None]
        tables = []
        for table in whole.tables:
            values = table.values[:, rows]
            if self.null == "exchangeable":
                values = np.take_along_axis(values, order, axis=0)
            if self.differ:
                values[1, self.differ :] = values[0, self.differ :]
            tables.append(es.SegmentStatistics(values, table.systems, table.metric))
        labels = {"groups": units} if self.unit == "documents" else {}
        return Sample(tables, whole.scores, labels, whole)


@dataclass(frozen=True, eq=False)
class Population:
    """Statistics of the same systems on all segments, units of segments, and their probability."""

    tables: tuple[es.SegmentStatistics, ...]
    members: tuple[NDArray[np.intp], ...]
    chances: Floats
    scores: dict[str, Floats]
    codes: NDArray[np.intp]  # the unit of each segment


@lru_cache
def population(source: Real) -> Population:
    """Make the population of a source."""
    arguments = source.corpus, source.systems, source.right
    tables = [statistics(metric, *arguments) for metric in source.metrics]
    codes = np.arange(tables[0].n_segments)
    if source.unit == "documents":
        codes = np.unique(np.array(_documents(source.corpus)), return_inverse=True)[1]
    members = tuple(np.split(np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes))[:-1]))
    chances = np.full(len(members), 1 / len(members))
    if source.null == "equal" and source.corpus.startswith("wmt25/"):
        tables = [_moved(table) for table in tables]
    elif source.null == "equal":
        chances = tilted([_summed(table, members) for table in tables])
    totals = [np.einsum("n,snk->sk", len(members) * chances[codes], t.values) for t in tables]
    if source.null == "exchangeable":
        totals = [np.broadcast_to(x.mean(axis=0), x.shape) for x in totals]
    scores = {t.metric.name: t.metric.score(x) for t, x in zip(tables, totals, strict=True)}
    return Population(tuple(tables), members, chances, scores, codes)


@lru_cache(maxsize=256)
def statistics(
    metric: str, corpus: str, systems: tuple[str, ...], right: float = 0.0
) -> es.SegmentStatistics:
    """Return statistics; "0/1" counts segments with few word errors as right."""
    if corpus.startswith("wmt25/"):
        names, scores, _ = published(corpus, metric)
        mean, chosen_names = es.Mean(metric), _named(names, systems)
        rows = [mean.statistics(scores[names.index(name)]) for name in chosen_names]
        return es.SegmentStatistics(np.stack(rows), chosen_names, mean)
    sources = texts(corpus)
    outputs = {name: sources.systems[name] for name in _named(list(sources.systems), systems)}
    if right:
        outputs = {
            name: _scarce(texts, sources.references, right, np.random.default_rng(seed))
            for seed, (name, texts) in enumerate(outputs.items())
        }
    chosen = es.BLEU(trg_lang="zh") if (corpus[-3:], metric) == ("-zh", "bleu") else metric
    table = es.extract(outputs, sources.references, "wer" if metric == "0/1" else chosen)
    if metric != "0/1":
        return table
    errors, words = (table.values[..., table.metric.columns.index(c)] for c in ("edits", "ref_len"))
    share = es.Mean("0/1")
    rows = [share.statistics(x) for x in (errors <= RIGHT * words).astype(float)]
    return es.SegmentStatistics(np.stack(rows), table.systems, share)


def _scarce(outputs: list[str], references: list[str], right: float, rng: Rng) -> list[str]:
    """Return such a share of outputs as the reference, and the others' words in random order."""
    kept = rng.random(len(outputs)) < right
    mixed = [" ".join(rng.permutation(output.split())) for output in outputs]
    return np.where(kept, references, mixed).tolist()


def _named(names: list[str], systems: tuple[str, ...]) -> tuple[str, ...]:
    if systems and systems[0].startswith("first "):
        return tuple(names[: int(systems[0].removeprefix("first "))])
    return systems or tuple(names)


def _documents(corpus: str) -> list[str]:
    if corpus.startswith("wmt25/"):
        return published(corpus, "CometKiwi-XL")[2]
    return texts(corpus).documents or []


def _summed(
    table: es.SegmentStatistics, members: tuple[NDArray[np.intp], ...]
) -> es.SegmentStatistics:
    values = np.stack([table.values[:, rows].sum(axis=1) for rows in members], axis=1)
    return es.SegmentStatistics(values, table.systems, table.metric)


def _moved(table: es.SegmentStatistics) -> es.SegmentStatistics:
    """Add a constant to all scores of a system, so that all systems have the same mean."""
    constants = np.mean(table.scores) - table.scores
    values = table.values + np.stack([constants, 0 * constants], axis=1)[:, None]
    return es.SegmentStatistics(values, table.systems, table.metric)


def tilted(tables: list[es.SegmentStatistics]) -> Floats:
    """Return probabilities of units under which all systems score the same, in every table.

    Newton's method on the dual of the relative entropy, with the scores linearised at the totals
    that the probabilities give.
    """
    n = tables[0].n_segments
    multipliers, chances = np.zeros(sum(len(t.systems) - 1 for t in tables)), np.full(n, 1 / n)
    for _ in range(300):
        gaps, moves = [], []
        for table in tables:
            totals = n * np.einsum("n,snk->sk", chances, table.values)
            scale = np.max(np.abs(table.scores))
            gaps += (np.diff(table.metric.score(totals)) / scale).tolist()
            lines = np.einsum("snk,sk->sn", table.values, table.metric.gradient(totals))
            moves.append(n * np.diff(lines, axis=0) / scale)
        if np.max(np.abs(gaps)) < 1e-9:
            return chances
        directions = np.concatenate(moves)
        directions -= (directions @ chances)[:, None]
        step = np.linalg.lstsq((directions * chances) @ directions.T, np.array(gaps))[0]
        multipliers -= step * min(1.0, 2.0 / max(1e-9, np.max(np.abs(step @ directions))))
        exponents = multipliers @ directions
        chances = np.exp(exponents - np.max(exponents))
        chances /= np.sum(chances)
    raise ValueError(f"no probabilities make {', '.join(tables[0].systems)} equal")
