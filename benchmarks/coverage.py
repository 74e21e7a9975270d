"""How often intervals of classes, likelihoods and numbers hold the true score.

    python -m benchmarks.coverage [--trials 1000] [--all] [--only ten]

A population of 100,000 items is made up for each case; its score is the truth. Each trial draws N
items with replacement and asks `es.estimate` for the interval of a system, `es.compare` for that of
its difference to another. With `--all` every method is asked, beside the default.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import evalstats as es

N, N_ITEMS, N_RESAMPLES, SEED = 500, 100_000, 999, 12345
METHODS = ("expanded", "percentile", "basic", "bca", "studentized", "t", "hall")
Rng = np.random.Generator
Made = tuple[dict[str, Any], Any]


def labelled(rng: Rng, shares: list[float], *right: list[float]) -> Made:
    """Make gold labels, and systems that are right so often; errors are common classes rather."""
    chances = np.array(shares)
    gold = rng.choice(len(shares), size=N_ITEMS, p=chances)
    systems = {}
    for name, rates in zip("AB", right, strict=True):
        predicted = gold.copy()
        wrong = rng.random(N_ITEMS) >= np.array(rates)[gold]
        for k in range(len(shares)):
            other = np.where(np.arange(len(shares)) == k, 0, chances)
            mine = np.flatnonzero(wrong & (gold == k))
            predicted[mine] = rng.choice(len(shares), size=len(mine), p=other / other.sum())
        systems[name] = predicted
    return systems, gold


def ten(rng: Rng, rare: float, right: float) -> Made:
    """Make ten classes, one of them rare."""
    others = np.linspace(0.95, 0.6, 9)
    shares = [(1 - rare) / 9] * 9 + [rare]
    return labelled(rng, shares, [*others, right], [*others[::-1], right + 0.1])


def documents(rng: Rng, spread: float, difficulty: float) -> Made:
    """Make log-likelihoods of documents whose lengths are log-normal: some are very long."""
    words = np.exp(rng.normal(5, spread, N_ITEMS))
    nats = 3 * np.exp(rng.normal(0, difficulty, N_ITEMS))
    worse = nats * np.exp(rng.normal(0.01, 0.05, N_ITEMS))
    return {name: np.stack([-words * x, words], 1) for name, x in (("A", nats), ("B", worse))}, None


def numbers(rng: Rng, degrees: float) -> Made:
    """Make gold numbers and predictions with errors of a t distribution."""
    gold = rng.normal(size=N_ITEMS)
    return {name: gold + rng.standard_t(degrees, N_ITEMS) for name in "AB"}, gold


def products(rng: Rng, spread: float) -> Made:
    """Make log-normal gold numbers, of which the largest decide, and predictions of them."""
    gold = np.exp(rng.normal(size=N_ITEMS))
    return {name: gold * np.exp(rng.normal(0, spread, N_ITEMS)) for name in "AB"}, gold


def probabilities(rng: Rng, sharper: float) -> Made:
    """Make pairs of confidence and right answers; confidence is too sharp by a factor of logits."""
    logits = rng.normal(0.5, 1.5, N_ITEMS)
    right = rng.random(N_ITEMS) < 1 / (1 + np.exp(-logits))
    stated = {"A": sharper, "B": 1.2 * sharper}
    return {
        name: np.stack([1 / (1 + np.exp(-f * logits)), right], axis=1) for name, f in stated.items()
    }, None


class Case(NamedTuple):
    """A population, and the metrics that are asked of it."""

    name: str
    make: Callable[[Rng], Made]
    metrics: tuple[es.Metric, ...]


BINARY = tuple(es.Confusion([0, 1], m) for m in ("f1", "mcc", "accuracy"))
TEN = (
    es.Confusion(range(10)),
    es.Confusion(range(10), absent="omit"),
    *(es.Confusion(range(10), m) for m in ("weighted-f1", "macro-precision")),
    *(es.Confusion(range(10), m) for m in ("balanced-accuracy", "kappa", "mcc")),
)
LIKELIHOODS = (es.Perplexity("word"), es.BitsPerUnit("word"))
CASES = {
    case.name: case
    for case in (
        Case("binary", lambda g: labelled(g, [0.7, 0.3], [0.9, 0.7], [0.9, 0.8]), BINARY),
        Case("binary, 3 %", lambda g: labelled(g, [0.97, 0.03], [0.985, 0.7], [0.99, 0.7]), BINARY),
        Case(
            "binary, near 1", lambda g: labelled(g, [0.7, 0.3], [0.99, 0.97], [0.985, 0.98]), BINARY
        ),
        Case("ten, rarest 1 %", lambda g: ten(g, 0.01, 0.5), TEN),
        Case("ten, rarest 0.4 %", lambda g: ten(g, 0.004, 0.6), TEN),
        Case("documents, σ = 1", lambda g: documents(g, 1.0, 0.25), LIKELIHOODS),
        Case("documents, σ = 1.5", lambda g: documents(g, 1.5, 0.25), LIKELIHOODS),
        Case("normal errors", lambda g: numbers(g, 100), (es.Correlation(), es.RMSE())),
        Case("heavy errors", lambda g: numbers(g, 5), (es.Correlation(), es.RMSE())),
        Case("log-normal numbers", lambda g: products(g, 0.5), (es.Correlation(), es.RMSE())),
        Case("overconfident", lambda g: probabilities(g, 2.0), (es.ECE(10),)),
        Case("calibrated", lambda g: probabilities(g, 1.0), (es.ECE(10),)),
    )
}


def tables(case: Case) -> Iterator[es.SegmentStatistics]:
    """Yield the statistics of all items under each metric."""
    systems, references = case.make(np.random.default_rng(SEED))
    for metric in case.metrics:
        yield es.extract(systems, references, metric)


class Covered(NamedTuple):
    """Shares of trials, and the mean length of the interval."""

    covered: float
    above: float  # the interval lies above the truth
    below: float
    length: float


def measure(
    whole: es.SegmentStatistics, trials: int, method: str = "auto", n: int = N, of: str = "score"
) -> Covered:
    """Return how often the interval of the first system, or of the difference, holds the truth."""
    truth = float(whole.scores[0] if of == "score" else whole.scores[1] - whole.scores[0])
    values = whole.values[:1] if of == "score" else whole.values
    ask: Callable[..., Any] = es.estimate if of == "score" else es.compare
    found: list[tuple[float, float]] = []
    for trial in range(trials):
        rows: NDArray[Any] = np.random.default_rng([SEED, trial]).integers(N_ITEMS, size=n)
        drawn = es.SegmentStatistics(values[:, rows], whole.systems[: len(values)], whole.metric)
        result = ask(drawn, method=method, n_resamples=N_RESAMPLES, rng=trial)
        (record,) = [result] if of == "score" else result
        found.append((record.low, record.high))
    low, high = np.array(found).T
    above, below = float(np.mean(low > truth)), float(np.mean(high < truth))
    return Covered(1 - above - below, above, below, float(np.mean(high - low)))


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--all", action="store_true", help="every method, and not the default only")
    parser.add_argument("--only", default="", help="cases whose name begins so")
    options = parser.parse_args()
    print("| population | metric | truth | of | method | covers | above | below | length |")
    print("|:--|:--|--:|:--|:--|--:|--:|--:|--:|")
    for case in CASES.values():
        for whole in tables(case) if case.name.startswith(options.only) else ():
            metric = whole.metric
            name = metric.name + (" (omit)" if getattr(metric, "absent", "") == "omit" else "")
            for of in ("score", "difference"):
                for method in ("auto", *(METHODS if options.all else ())):
                    c = measure(whole, options.trials, method, of=of)
                    print(
                        f"| {case.name} | {name} | {whole.scores[0]:.4g} | {of} | {method} "
                        f"| {c.covered:.3f} | {c.above:.3f} | {c.below:.3f} | {c.length:.4g} |",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
