"""The questions about a sample, and their right answers.

Rates are named as the tables name them: "p ≤ .05" and "p ≤ .01" are rejections of a true null
hypothesis, "greater" and "less" those of one-sided tests at .05; "difference" and "score" say
whether 95 % intervals hold the truth, and their lengths how long these are: 1 is the mean length of
a normal estimate's whose error is known, and in the mean as large.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import evalstats as es
from benchmarks.calibration.samples import (
    N_RESAMPLES,
    NORMAL,
    TIE,
    Happened,
    Sample,
    rejected,
    rejections,
)

METHODS = ("bootstrap", "t")
LEVELS = {"p ≤ .01": 0.01, "p ≤ .05": 0.05, "p ≤ .10": 0.10}


def tests(sample: Sample, seed: int, **options: Any) -> Happened:
    """Ask whether two systems differ, and for intervals."""
    result = sample.compared(seed, **options)
    for d in sample.asked(result.differences):
        truth = sample.truth[d.metric]
        true, slack = float(truth[1] - truth[0]), TIE * max(1.0, float(np.max(np.abs(truth))))
        if abs(true) < slack:
            yield from rejections(d.metric, d.pvalue)
        yield d.metric, "difference", d.low - slack <= true <= d.high + slack
        yield d.metric, "difference length", d.high - d.low, NORMAL * abs(d.difference - true)
        scores = [e for e in sample.asked(result.estimates) if e.metric == d.metric]
        held = [e.low - slack <= x <= e.high + slack for e, x in zip(scores, truth, strict=True)]
        yield d.metric, "score", float(np.mean(held))
        lengths = sum(e.high - e.low for e in scores)
        errors = sum(abs(e.score - x) for e, x in zip(scores, truth, strict=True))
        yield d.metric, "score length", lengths, NORMAL * float(errors)


def another(sample: Sample, seed: int, n: int) -> Happened:
    """Ask whether the score of other segments lies in the intervals that n segments make known."""
    for table in sample.tables:
        whole = table.values[:1]
        first = es.SegmentStatistics(whole[:, :n], table.systems[:1], table.metric)
        estimate = es.estimate(first, n_resamples=N_RESAMPLES, rng=seed)
        others = float(table.metric.score(whole[0, n:].sum(axis=0)))
        low, high = estimate.prediction(whole.shape[1] - n)
        yield estimate.metric, "prediction", low - TIE <= others <= high + TIE
        yield estimate.metric, "interval", estimate.low - TIE <= others <= estimate.high + TIE


def all_tests(sample: Sample, seed: int) -> Happened:
    """Ask for one-sided tests as well, which take turns, greater and less."""
    yield from tests(sample, seed)
    side = ("greater", "less")[seed % 2]
    for d in sample.asked(sample.compared(seed, alternative=side).differences):
        yield d.metric, side, rejected(d.pvalue)


def family(sample: Sample, seed: int) -> Happened:
    """Ask about all pairs of systems that are all equal: any claim is false."""
    pairs = sample.compared(seed).differences
    name = pairs[0].metric
    yield name, "any false claim", any(rejected(d.pvalue_adjusted) for d in pairs)
    yield from rejections(name, *(d.pvalue for d in pairs))


def cases(sample: Sample, seed: int) -> Happened:
    """Ask which items changed: none did, and then the first, from all trials right to none."""
    table = sample.tables[0]
    listed = es.compare(table, method="t").cases()
    yield table.metric.name, "any false case", bool(listed.worse or listed.better)
    values = table.values.copy()
    values[:, 0, 2:] = [[values[0, 0, 1], 1], [0, 0]]
    listed = es.compare(replace(table, values=values), method="t").cases()
    yield table.metric.name, "found", "0" in [case.item for case in listed.worse]


def strengths(sample: Sample, seed: int) -> Happened:
    """Ask about all pairs of equal systems of an arena, and about their strengths, which are 0."""
    yield from family(sample, seed)
    scores = sample.compared(seed).estimates
    held = float(np.mean([e.low <= TIE and e.high >= -TIE for e in scores]))
    yield scores[0].metric, "score", held
    lengths, errors = sum(e.high - e.low for e in scores), sum(abs(e.score) for e in scores)
    yield scores[0].metric, "score length", lengths, NORMAL * errors


def within(sample: Sample, seed: int, size: float) -> Happened:
    """Ask whether equal systems are shown to be within a margin."""
    (d,) = sample.asked(sample.compared(seed, margin=size).differences)
    yield d.metric, "right pass", d.is_tested and rejected(d.pvalue_not_worse)


def _limit(sample: Sample, seed: int, kind: str) -> Happened:
    ((name, (old, new)),) = sample.truth.items()
    tables = sample.tables
    metric = next(iter(tables.values() if isinstance(tables, dict) else tables)).metric
    sign = 1 if metric.higher_is_better else -1
    at = sign * (old - new) if kind == "margin" else (new / old) ** sign
    (d,) = sample.asked(sample.compared(seed, **{kind: float(at)}).differences)
    passed = d.is_tested and rejected(d.pvalue_not_worse)
    failed = d.is_tested and rejected(d.pvalue_worse)
    yield name, "wrong pass", passed
    yield name, "wrong failure", failed
    yield name, "undecided", not passed and not failed


#: Whether the second system loses less than it does, or more.
margin, recovery = partial(_limit, kind="margin"), partial(_limit, kind="recovery")


def number(sample: Sample, seed: int) -> Happened:
    """Ask whether a score reaches the number that it truly is."""
    ((name, true),) = sample.truth.items()
    gate = es.gate(sample.tables[0], at_least=float(true[0]), **sample.labels)
    yield name, "wrong pass", gate.verdict == "passed"
    yield name, "wrong failure", gate.verdict == "failed"


def ranks(sample: Sample, seed: int) -> Happened:
    """Ask for the ranks of real systems, each alone and all at once."""
    ((name, scores),) = sample.truth.items()
    # Of systems that tie every place among them is true.
    best = 1 + np.sum(scores > scores[:, None] + TIE, axis=1)
    worst = np.sum(scores >= scores[:, None] - TIE, axis=1)
    ranking = sample.compared(seed).ranking()
    places = [ranking[system] for system in sample.whole.tables[0].systems]
    low, high = np.array([(r.low, r.high) for r in places]).T
    yield name, "one rank", float(np.mean((low <= best) & (worst <= high)))
    low, high = np.array([(r.simultaneous_low, r.simultaneous_high) for r in places]).T
    yield name, "all ranks", bool(np.all((low <= best) & (worst <= high)))


def power(sample: Sample, seed: int) -> Happened:
    """Ask how often a real difference is found; the pilot of the prediction is the population."""
    (d,) = sample.compared(seed).differences
    yield d.metric, "predicted", predicted(sample.whole, units(sample))
    yield d.metric, "found", rejected(d.pvalue)


def units(sample: Sample) -> int:
    """Return how many segments, or documents, were drawn."""
    return len(set(sample.labels["groups"])) if sample.labels else sample.tables[0].n_segments


def brackets(sample: Sample, seed: int) -> Happened:
    """Ask how well the sample, as a pilot, knows the least difference of its population."""
    for pair in es.power(list(sample.tables), **sample.labels):
        least = minimum(sample.whole, pair.metric, units(sample))
        low, high = pair.minimum_low or 0.0, pair.minimum_high or np.inf
        yield pair.metric, "held", low <= least <= high
        yield pair.metric, "length", (high - low) / least


@lru_cache(maxsize=256)
def minimum(whole: Any, metric: str, n: int) -> float:
    """Return the least difference that n units of a population find."""
    (least,) = (pair.minimum for pair in _planned(whole, n) if pair.metric == metric)
    return float(least or np.nan)


@lru_cache
def predicted(whole: Any, n: int) -> float:
    """Return what `es.power` says of the true difference on n units of a population."""
    ((old, new),) = whole.scores.values()
    return float(_planned(whole, n, difference=float(abs(new - old)))[0].power or 0.0)


def _planned(whole: Any, n: int, **options: Any) -> es.Power:
    """Return what n units of a population find."""
    groups = whole.codes if len(whole.members) < len(whole.codes) else None
    return es.power(list(whole.tables), n_segments=n, groups=groups, **options)


def peers(sample: Sample, seed: int) -> Happened:
    """Ask each test, and the formulas of other tools, of systems that are exchangeable.

    Outputs of two of the systems are swapped at random, segment by segment. The formulas are those
    of sacreBLEU 2.6 (`--paired-bs`, `--paired-ar`) and of evaluatio 0.5. A cell is a test.
    """
    (table,), rng = sample.tables, np.random.default_rng(seed)
    first, second = table.values[rng.permutation(len(table.systems))[:2]]
    # Identical systems stay identical when swapped: they say nothing of a test.
    if np.array_equal(first, second):
        return
    swap = rng.integers(2, size=(table.n_segments, 1), dtype=bool)
    pair = np.stack([np.where(swap, second, first), np.where(swap, first, second)])
    for name, p in _pvalues(pair, table.metric, seed).items():
        for rate, level in LEVELS.items():
            yield name, rate, rejected(p, level)
        yield name, "p > .60", p > 0.60


def _pvalues(pair: NDArray, metric: es.Metric, seed: int) -> dict[str, float]:
    sample = Sample([es.SegmentStatistics(pair, ("A", "B"), metric)], {})
    p = {
        f"evalstats, {method}": sample.compared(seed, method=method).differences[0].pvalue
        for method in METHODS
    }
    pair, n = pair.astype(float), pair.shape[1]
    weights = es.bootstrap_weights(n, N_RESAMPLES, seed).astype(float)
    kept = np.random.default_rng(seed).integers(2, size=(N_RESAMPLES, n)).astype(float)
    score = metric.score
    observed = float(np.diff(score(pair.sum(axis=1)))[0])
    replicates = score(weights @ pair[1]) - score(weights @ pair[0])
    totals = kept @ pair[0] + (1 - kept) @ pair[1]
    swapped = score(pair.sum(axis=(0, 1)) - totals) - score(totals)
    folded = np.abs(replicates)
    counted = {
        "sacreBLEU 2.6 --paired-ar": np.abs(swapped) > abs(observed),
        "sacreBLEU 2.6 --paired-bs": folded - np.mean(folded) > abs(observed),
        "evaluatio 0.5 bleu_bootstrap_test": (replicates if observed > 0 else -replicates) <= 0,
    }
    return p | {key: (np.sum(x) + 1) / (N_RESAMPLES + 1) for key, x in counted.items()}
