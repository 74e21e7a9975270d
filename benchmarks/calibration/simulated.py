"""Sources without texts: simulated scores of two systems on the same items."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

import evalstats as es
from benchmarks.calibration.samples import Floats, Rng, Sample
from evalstats.designs.arenas.battles import BattleTable
from evalstats.designs.judges import joined_rows
from evalstats.metrics.ratios import MeanOfRuns


@dataclass(frozen=True)
class Made:
    """A source that is a function of n, a generator and further arguments."""

    make: Callable[..., Sample]
    arguments: tuple[Any, ...] = ()
    label: str = "simulated"
    corpus: str = ""

    def __str__(self) -> str:
        return self.label

    def draw(self, n: Any, rng: Rng) -> Sample:
        """Return a sample of n items, or of groups, strata or tasks of n items each."""
        return self.make(n, rng, *self.arguments)


def table(scores: Floats) -> es.SegmentStatistics:
    """Return the statistics of scores `(S, N)`, whose corpus score is their mean."""
    metric, names = es.Mean("score"), tuple("ABCDEFGHI"[: len(scores)])
    return es.SegmentStatistics(np.stack([metric.statistics(x) for x in scores]), names, metric)


def sample(scores: Floats, *true: float, **labels: NDArray) -> Sample:
    """Return scores `(S, N)` as a sample; true means are 0 where nothing else is said."""
    return Sample([table(scores)], {"score": np.array(true or [0.0] * len(scores))}, labels)


def numbers(n: int, rng: Rng, kind: str) -> Sample:
    """Draw numbers whose true means are both 0; all but "normal" have far values or long tails."""
    return sample(_numbers(n, rng, kind))


def _numbers(n: int, rng: Rng, kind: str) -> Floats:
    level = rng.normal(size=n)
    if kind == "normal":
        return level + 0.7 * rng.normal(size=(2, n))
    if kind == "skewed":
        return np.stack([rng.exponential(size=n) - 1 + level / 2, 0.3 * rng.normal(size=n)])
    if kind == "Student's t":
        return level + rng.standard_t(3, size=(2, n))
    sigma = float(kind.removeprefix("lognormal "))
    return np.stack([0.3 * level, np.exp(rng.normal(0, sigma, n)) - np.exp(sigma**2 / 2)])


def towards_worst(n: int, rng: Rng, kind: str) -> Sample:
    """Draw scores of one system with a mean of 0, of which few lie far below the others."""
    if kind == "marks":
        return sample(rng.choice(5, (1, n), p=(0.03, 0.07, 0.15, 0.35, 0.4)) - 3.02, 0.0)
    if kind == "beta (5, 1)":
        return sample(rng.beta(5, 1, (1, n)) - 5 / 6, 0.0)
    if kind == "far falls":
        usual = 0.1 + 0.3 * rng.normal(size=(1, n))
        return sample(usual - 5.0 * (rng.random((1, n)) < 0.02), 0.0)
    return sample(-_numbers(n, rng, kind)[1:], 0.0)


def far(n: int, rng: Rng, kind: str) -> Sample:
    """Draw equal systems, of which the second falls far on some items, and gains on the others."""
    base = rng.normal(size=n)
    if kind == "2 % of the items":
        gain = 0.1 + 0.3 * rng.normal(size=n) - 5 * (rng.random(n) < 0.02)
    else:
        tail = {"exponential": rng.exponential(size=n), "lognormal": rng.lognormal(size=n)}[kind]
        gain = {"exponential": 1.0, "lognormal": np.exp(0.5)}[kind] - tail
    return sample(np.stack([base, base + gain]))


def family(n: int, rng: Rng, n_systems: int) -> Sample:
    """Draw normal scores of equal systems, each with noise of its own size."""
    noise = rng.normal(size=(n_systems, n)) * np.linspace(0.3, 1.5, n_systems)[:, None]
    return sample(rng.normal(size=n) + noise)


def arena(
    n: int, rng: Rng, n_systems: int, size: int, spread: float, voters: tuple[int, float] = (0, 0.0)
) -> Sample:
    """Draw `each` battles of equal systems on each of n prompts, which favour some of them.

    So many voters of random battles favour some as well, with a standard deviation of their own.
    """
    effects, prompts = spread * rng.normal(size=(n, n_systems)), np.repeat(np.arange(n), size)
    first = rng.integers(n_systems, size=len(prompts))
    second = (first + 1 + rng.integers(n_systems - 1, size=len(prompts))) % n_systems
    favour, labels = effects[prompts], {"prompt": prompts.tolist()}
    n_voters, of_voters = voters
    if n_voters:
        who = rng.integers(n_voters, size=len(prompts))
        favour = favour + (of_voters * rng.normal(size=(n_voters, n_systems)))[who]
        labels["voter"] = who.tolist()
    at = np.arange(len(prompts))
    odds = np.exp(favour[at, second] - favour[at, first])
    points = np.where(rng.random(len(prompts)) * (1 + odds) < 1, 2, 0)
    table = BattleTable(
        tuple(f"system {i}" for i in range(n_systems)),
        np.stack([first, second], axis=1),
        points.astype(np.int8),
        groups=labels if n_voters else labels["prompt"],
        unit="prompt",
    )
    return Sample([table], {"Bradley-Terry": np.zeros(n_systems)})


def crossed(n: int, rng: Rng, n_raters: int, of_prompts: float, of_raters: float) -> Sample:
    """Draw scores of equal systems on n prompts by each rater, all of whom sway each system."""
    labels = {"prompt": np.repeat(np.arange(n), n_raters), "rater": np.tile(range(n_raters), n)}
    scores = rng.normal(size=(2, n * n_raters))
    for spread, codes in zip((of_prompts, of_raters), labels.values(), strict=True):
        scores += spread * rng.normal(size=(2, codes.max() + 1))[:, codes]
    return sample(scores)._replace(labels={"groups": labels})


def judged(n: int, rng: Rng, labelled: int, kind: str) -> Sample:
    """Draw equal systems by a judge that likes the second one, and people's labels of some items.

    Scores are 0/1, numbers, or 0/1 in groups of four items, which are labelled together. A judge
    that is "partial 0.04" is right but on such a part of the items, which it passes for B. Two
    judges of numbers have errors of their own; two that are "both partial 0.04" pass the same.
    """
    size = 4 if kind == "groups" else 1
    known = np.repeat(rng.permutation(n) < labelled, size)
    others = []
    if kind in ("numbers", "two judges"):
        right = 3 + 0.7 * rng.normal(size=n) + 0.7 * rng.normal(size=(2, n))
        by_judge, true = right + 0.8 * rng.normal(size=(2, n)) + np.array([[0.0], [0.4]]), 3.0
        if kind == "two judges":
            others = [right + 0.8 * rng.normal(size=(2, n))]
    else:
        true = 0.95 if kind == "0/1 near .95" else 0.7
        alike = rng.random(n) < 0.5
        common = np.where(alike, rng.random((2, n)) < true, np.nan)
        common = np.repeat(common, size, axis=1)
        right = np.where(np.isnan(common), rng.random(common.shape) < true, common)
        likes = np.array([[0.9, 0.1], [0.95, 0.35]])
        by_judge = rng.random(right.shape) < np.where(right == 1, likes[:, :1], likes[:, 1:])
        if "partial" in kind:
            odd = rng.random(n) < float(kind.split()[-1]) / (1 - true)
            by_judge = np.stack([right[0], (right[1] == 1) | odd])
        if kind.startswith("both"):
            by_judge, *others = (by_judge != (rng.random((2, n)) < 0.004) for _ in range(2))
    mean = es.Mean("score")
    scores = [right, by_judge, *others]
    rows = [np.stack([mean.statistics(x) for x in parts.astype(float)]) for parts in scores]
    marks = np.broadcast_to(known[None, :, None], (2, len(known), 1)).astype(float)
    metric = es.Judged(mean, judges=len(rows) - 1)
    table = es.SegmentStatistics(joined_rows(marks, *rows), ("A", "B"), metric)
    labels = {"groups": np.repeat(np.arange(n), size)} if size > 1 else {}
    return Sample([table], {"score": np.full(2, true)}, labels)


def documents(n: int, rng: Rng) -> Sample:
    """Draw scores in n documents of log-normal sizes, alike within a document."""
    groups = np.repeat(np.arange(n), np.ceil(np.exp(rng.normal(1, 1, size=n))).astype(int))
    alike = 0.6 * rng.normal(size=(2, n))[:, groups]
    return sample(alike + 0.8 * rng.normal(size=(2, len(groups))), groups=groups)


def few_differ(n: int, rng: Rng, m: int, sizes: str) -> Sample:
    """Draw scores that differ on m items, on each of them either way alike."""
    scores = np.tile(rng.normal(size=n), (2, 1))
    far = rng.exponential(size=m) if sizes == "exponential" else rng.lognormal(size=m)
    scores[1, :m] += np.where(rng.random(m) < 0.5, far, -far)
    return sample(scores)


def shares(n: int, rng: Rng, first: float, second: float) -> Sample:
    """Draw 0/1 scores."""
    return sample(_right(n, rng, first, second), first, second)


def grouped(sizes: tuple[int, ...], rng: Rng, first: float, second: float) -> Sample:
    """Draw 0/1 scores in groups of these sizes, within which items are correlated by .3."""
    groups = np.repeat(np.arange(len(sizes)), sizes)
    common = _right(len(sizes), rng, first, second)[:, groups]
    alone = _right(len(groups), rng, first, second)
    right = np.where(rng.random(len(groups)) < np.sqrt(0.3), common, alone)
    return sample(right, first, second, groups=groups)


def lost(
    shape: tuple[int, int], rng: Rng, loss: float, whole: float, changed: float = 0.0
) -> Sample:
    """Draw groups of like sizes, all right, of which a second system loses such a share.

    Of that loss the part `whole` is that of whole groups, and the rest of single answers. Of the
    answers in other groups such a share is only right of the first, or only of the second.
    """
    of_groups = loss * whole
    alone = rng.random(shape) < (loss - of_groups) / (1 - of_groups)
    luck = rng.random(shape)
    is_whole = (rng.random(shape[0]) < of_groups)[:, None]
    first = is_whole | alone | (luck >= changed)
    second = ~is_whole & ~alone & ~((luck >= changed) & (luck < 2 * changed))
    groups = np.repeat(np.arange(shape[0]), shape[1])
    true = 1 - changed * (1 - of_groups) * (1 - (loss - of_groups) / (1 - of_groups))
    scores = np.stack([first.ravel(), second.ravel()]).astype(float)
    return sample(scores, true, true - loss, groups=groups)


def alike(shape: tuple[int, int], rng: Rng, share: float, part: float) -> Sample:
    """Draw 0/1 scores of groups of like sizes, in such a part of which all answers are alike."""
    scores = rng.random((2, *shape)) < share
    all_one = rng.random((2, shape[0])) < part
    scores = np.where(all_one[..., None], scores[..., :1], scores).reshape(2, -1)
    groups = np.repeat(np.arange(shape[0]), shape[1])
    return sample(scores.astype(float), share, share, groups=groups)


def stratified(sizes: tuple[int, ...], rng: Rng, *pairs: tuple[float, float]) -> Sample:
    """Draw 0/1 scores in strata of these sizes and these shares."""
    right = [_right(n, rng, *pair) for n, pair in zip(sizes, pairs, strict=True)]
    labels = np.repeat(np.arange(len(sizes)), sizes)
    true = np.array(sizes) @ np.array(pairs) / sum(sizes)
    return sample(np.concatenate(right, axis=1), *true, strata=labels)


def _right(n: int, rng: Rng, first: float, second: float) -> Floats:
    luck = rng.random((2, n))
    # Half of the time what is hard for one is hard for the other.
    luck[1] = np.where(rng.random(n) < 0.5, *luck)
    return (luck < [[first], [second]]).astype(float)


def total(sizes: tuple[int, ...], rng: Rng, kind: str, *true: float) -> Sample:
    """Draw tasks of these sizes: of numbers, or of 0/1 scores with two true shares."""
    draw = [_right(n, rng, *true) if true else _numbers(n, rng, kind) for n in sizes]
    tasks = {f"task {i}": table(scores) for i, scores in enumerate(draw)}
    return Sample(tasks, {"score": np.array(true or [0.0, 0.0])})


def redrawn(sizes: tuple[int, ...], rng: Rng, share: float, changed: float) -> Sample:
    """Draw tasks of 0/1 scores with this true share, of which such a part is drawn once more."""
    tasks = {}
    for i, n in enumerate(sizes):
        old, new = rng.random((2, n)) < share
        new = np.where(rng.random(n) < changed, new, old)
        tasks[f"task {i}"] = table(np.stack([old, new]).astype(float))
    return Sample(tasks, {"score": np.array([share, share])})


def several_runs(n: int, rng: Rng, n_runs: int, spread: float) -> Sample:
    """Draw several runs of each system; a run's own mean has such a standard deviation."""
    shift = spread * rng.normal(size=(2, n_runs, 1))
    return _of_runs(rng.normal(size=n) + shift + 0.7 * rng.normal(size=(2, n_runs, n)))


def _of_runs(runs: Floats, **options: Any) -> Sample:
    mean = MeanOfRuns(es.Mean("score"), runs.shape[1])
    values = np.stack([mean.statistics(list(system)) for system in runs])
    table = es.SegmentStatistics(values, ("A", "B"), mean)
    return Sample([table], {"score": np.zeros(2)}, options=options)


def prompts(n: int, rng: Rng, n_runs: int, sd: float) -> Sample:
    """Draw runs whose prompts both systems have; what one adds for a system alone varies so."""
    shared = rng.normal(size=n) + rng.normal(size=(n_runs, 1)) + rng.normal(size=(n_runs, n))
    apart = rng.normal(size=(2, 1, n)) + sd * rng.normal(size=(2, n_runs, 1))
    return _of_runs(shared + apart + rng.normal(size=(2, n_runs, n)), paired_runs=True)


def trials(n: int, rng: Rng, n_trials: int, *shape: float) -> Sample:
    """Draw trials of n items by two systems with the same rates, which have a beta distribution.

    What is true is so of its moments E[p^j] = ∏ (a + i)/(a + b + i), i below j.
    """
    a, b = shape
    right = rng.binomial(1, rng.beta(a, b, n)[None, :, None], (2, n, n_trials))
    i = np.arange(4)
    all_of, none_of = (np.cumprod((x + i) / (a + b + i)) for x in (a, b))
    mean = all_of[0]
    flips = 1 - all_of - none_of
    true = {
        es.PassAll(1): mean,
        es.PassAll(2): all_of[1],
        es.PassAll(4): all_of[3],
        es.PassAny(2): 1 - none_of[1],
        es.FlipRate(2): flips[1],
    }
    if n_trials == len(i):
        true[es.FlipRate()] = flips[3]
    return _of_trials(right, true)


def _of_trials(right: NDArray, true: dict[Any, float]) -> Sample:
    systems = dict(zip("AB", right.astype(int), strict=True))
    tables = [es.extract(systems, metric=metric) for metric in true]
    return Sample(tables, {m.name: np.full(2, x) for m, x in true.items()})


def fixed(n: int, rng: Rng, n_trials: int, *shape: float) -> Sample:
    """Draw trials of n items that are all there are, by two systems with the same rates."""
    rates = rng.beta(*shape, n)
    right = rng.random((2, n, n_trials)) < rates[:, None]
    return _of_trials(right, {es.PassAll(k, items="all"): np.mean(rates**k) for k in (1, 2, 4)})


def items(n: int, rng: Rng, kind: str) -> Sample:
    """Draw items that count unequally, from a population of 100,000."""
    whole = _population(kind)
    values = whole.values[:, rng.integers(whole.n_segments, size=n)]
    drawn = es.SegmentStatistics(values, whole.systems, whole.metric)
    return Sample([drawn], {whole.metric.name: whole.scores})


@lru_cache
def _population(kind: str, n: int = 100_000) -> es.SegmentStatistics:
    rng = np.random.default_rng(12345)
    if kind == "macro-F1":  # of ten classes, one of 1 %
        gold = rng.choice(10, size=n, p=[0.11] * 9 + [0.01])
        guesses = rng.integers(10, size=(2, n))
        labels = np.where(rng.random((2, n)) < [[0.8], [0.75]], gold, guesses)
        return es.extract(dict(zip("AB", labels, strict=True)), gold, es.Confusion(range(10)))
    deviation = rng.normal(size=n)
    words = np.ceil(np.exp(5 + deviation))
    difficulty = 0.25 * rng.normal(size=n) + (0.25 * deviation if "hard" in kind else 0)
    nats = 3 * np.exp(difficulty + rng.normal([[0], [0.01]], [[0.0], [0.05]], (2, n)))
    systems = {name: np.stack([-words * x, words], 1) for name, x in zip("AB", nats, strict=True)}
    return es.extract(systems, metric=es.Perplexity("word"))
