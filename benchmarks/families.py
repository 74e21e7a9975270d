"""Print how often many comparisons at once make any false claim, made from real systems.

    python -m benchmarks.families [--trials 1000] [--cells REGEX] [--cost]

Trials draw segments (or documents) with replacement from WMT22 en-de (9 systems), WMT24 en-es (9
good ones) or WMT25 en-ar (26 of its systems, scores of neural metrics), and ask `compare` for all
pairs with its defaults. Null hypotheses are made of these systems in three ways:

- *exchangeable*: the outputs of some systems are permuted within every segment;
- *equal*: the scores of these systems are equal and all that is unlike about them stays, because
  segments (or documents) are drawn with unequal probabilities (exponential tilting; WMT22, WMT24),
  or because a constant is added to every score of a system (WMT25);
- *real*: none; only intervals are measured.

*complete* nulls hold for all systems, *partial* ones for every three, in order of their score.
"error" is how often any pair of equal systems is called different at 0.05, "coverage" how often all
simultaneous 95 % intervals hold what they should.
"""

from __future__ import annotations

import argparse
import csv
import re
import resource
import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import evalstats as es
from benchmarks.calibration.texts import texts
from benchmarks.corpora import WMT, corpus
from evalstats.statistics.names import group_codes

WMT25 = WMT.parent / "wmt25" / "en-ar_EG" / "scores.tsv"
WMT25_METRICS = (
    "CometKiwi-XL",
    "GEMBA-ESA-CMDA",
    "GEMBA-ESA-GPT4.1",
    "MetricX-24-Hybrid-XL",
    "XCOMET-XL",
)
#: Good systems that are no copies of one another.
WMT24_SYSTEMS = (
    "Claude-3.5",
    "CommandR-plus",
    "Dubformer",
    "GPT-4",
    "Gemini-1.5-Pro",
    "IOL-Research",
    "ONLINE-A",
    "ONLINE-B",
    "ONLINE-G",
)


@dataclass(frozen=True)
class Cell:
    """What is measured: `null` is "exchangeable", "equal" or "real"; `size` systems are a cluster.

    `n` segments are drawn in a trial, or documents.
    """

    source: str
    metric: str
    null: str
    n: int
    size: int = 0  # 0: all systems
    documents: bool = False
    test: str = "studentized"
    n_systems: int = 26  # of WMT25; WMT22 has 9
    n_resamples: int = 999

    def __str__(self) -> str:
        unit = "documents" if self.documents else "segments"
        kind = {0: "complete", 3: "partial"}[self.size]
        kind = "" if self.null == "real" else f" {kind}"
        test = "" if self.test == "studentized" else f", {self.test}"
        return f"{self.source} {self.metric}, {self.null}{kind}, {self.n} {unit}{test}"


@dataclass(frozen=True)
class Outcome:
    """Shares of trials with any false claim, and with all differences inside their intervals."""

    error: float
    coverage: float
    trials: int

    def __str__(self) -> str:
        spread = [np.sqrt(p * (1 - p) / self.trials) for p in (self.error, self.coverage)]
        return f"{self.error:.3f} ± {spread[0]:.3f}  {self.coverage:.3f} ± {spread[1]:.3f}"


def cells() -> list[Cell]:
    """Return all of them."""
    found = [Cell("wmt22", "bleu", "exchangeable", n) for n in (200, 500)]
    found.append(Cell("wmt22", "bleu", "exchangeable", 200, 3))
    found += [Cell("wmt22", "bleu", "equal", 200, size) for size in (0, 3)]
    found += [Cell("wmt22", "chrf", "equal", n, 3) for n in (200, 500)]
    found += [Cell("wmt22", "ter", "equal", n) for n in (200, 500)]
    found.append(Cell("wmt22", "bleu", "real", 200))
    kiwi, metricx, gemba = "CometKiwi-XL", "MetricX-24-Hybrid-XL", "GEMBA-ESA-GPT4.1"
    found += [Cell("wmt25", kiwi, "exchangeable", 332, size) for size in (0, 3)]
    found += [Cell("wmt25", kiwi, "equal", n, size) for n in (50, 332) for size in (0, 3)]
    found += [Cell("wmt25", metricx, "equal", 100), Cell("wmt25", gemba, "equal", 100, 3)]
    found.append(Cell("wmt25", kiwi, "real", 332))
    found += [Cell("wmt25", kiwi, "exchangeable", n, 0, documents=True) for n in (20, 40, 80)]
    found.append(Cell("wmt25", kiwi, "equal", 80, 0, documents=True))
    found += [Cell("wmt24", "bleu", "exchangeable", n, 0, documents=True) for n in (20, 40)]
    found += [Cell("wmt24", "bleu", "equal", n, 0, documents=True) for n in (20, 40, 80)]
    found += [Cell("wmt24", "chrf", "equal", n, 3, documents=True) for n in (20, 80)]
    found.append(Cell("wmt24", "ter", "equal", 40, 3, documents=True))
    found += [Cell("wmt24", metric, "real", 50) for metric in ("chrf", "ter")]
    found.append(Cell("wmt24", "ter", "real", 200))
    found += [Cell("wmt24", metric, "real", 40, documents=True) for metric in ("bleu", "ter")]
    return found


def wmt25(metric: str, n_systems: int | None = None) -> tuple[es.SegmentStatistics, list[str]]:
    """Return scores on the paragraphs that all systems have, and the paragraphs' documents."""
    with WMT25.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    keys = list(dict.fromkeys((row["document"], row["paragraph"]) for row in rows))
    systems = list(dict.fromkeys(row["system"] for row in rows))
    place = {key: i for i, key in enumerate(keys)}
    scores = np.full((len(systems), len(keys)), np.nan)
    for row in rows:
        if row[metric]:
            i = systems.index(row["system"])
            scores[i, place[row["document"], row["paragraph"]]] = float(row[metric])
    whole = np.all(np.isfinite(scores), axis=0)
    kept = [document for (document, _), there in zip(keys, whole, strict=True) if there]
    mean, some = es.Mean(metric), systems[:n_systems]
    table = np.stack([mean.statistics(row[whole]) for row in scores[: len(some)]])
    return es.SegmentStatistics(table, tuple(some), mean), kept


def statistics(cell: Cell) -> tuple[es.SegmentStatistics, list[str] | None]:
    """Return the population that a cell draws from, systems in order of their score."""
    documents: list[str] | None = None
    if cell.source == "wmt25":
        table, documents = wmt25(cell.metric, cell.n_systems)
    elif cell.source == "wmt24":
        en_es = texts("en-es")
        some = {name: en_es.systems[name] for name in WMT24_SYSTEMS}
        table, documents = es.extract(some, en_es.references, cell.metric), en_es.documents
    else:
        _, systems, references = corpus("en-de")
        table = es.extract(systems, references, cell.metric)
    order = np.argsort(table.scores)
    names = tuple(table.systems[i] for i in order)
    return es.SegmentStatistics(table.values[order], names, table.metric), documents


def clusters(n_systems: int, size: int) -> NDArray[np.intp]:
    """Return the number of every system's cluster."""
    return np.arange(n_systems) // (size or n_systems)


def shifted(table: es.SegmentStatistics, cluster: NDArray[np.intp]) -> es.SegmentStatistics:
    """Add a constant to every score of a system, so that means within a cluster are equal."""
    means = np.array([np.mean(table.scores[cluster == c]) for c in cluster])
    values = table.values + np.stack([means - table.scores, 0 * means], axis=1)[:, None]
    return es.SegmentStatistics(values, table.systems, table.metric)


def tilted(table: es.SegmentStatistics, cluster: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return probabilities of segments with which the scores within a cluster are equal.

    Newton's method on the dual of the relative entropy, with the scores linearised at the totals
    that the probabilities give.
    """
    values = table.values.astype(float)
    n = values.shape[1]
    pairs = [(i, i + 1) for i in range(len(cluster) - 1) if cluster[i] == cluster[i + 1]]
    multipliers, chances = np.zeros(len(pairs)), np.full(n, 1 / n)
    for _ in range(200):
        totals = n * np.einsum("n,snk->sk", chances, values)
        scores = table.metric.score(totals)
        gaps = np.array([scores[b] - scores[a] for a, b in pairs])
        if np.max(np.abs(gaps)) < 1e-9 * np.max(np.abs(scores)):
            return chances
        lines = n * np.einsum("snk,sk->sn", values, table.metric.gradient(totals))
        moves = np.array([lines[b] - lines[a] for a, b in pairs])
        moves -= (moves @ chances)[:, None]
        step = np.linalg.solve((moves * chances) @ moves.T, gaps)
        multipliers -= step * min(1.0, 2.0 / max(1e-9, np.max(np.abs(step @ moves))))
        exponents = multipliers @ moves
        chances = np.exp(exponents - np.max(exponents))
        chances /= np.sum(chances)
    raise ValueError(f"no probabilities make the systems equal under {table.metric.name}")


def measure(cell: Cell, trials: int, seed: int = 1) -> Outcome:
    """Draw, compare, and count."""
    table, documents = statistics(cell)
    cluster = clusters(len(table.systems), cell.size)
    rng = np.random.default_rng(seed)
    labels = np.arange(table.n_segments)
    if cell.documents:
        assert documents is not None
        labels = group_codes(documents, table.n_segments)
    members = [np.flatnonzero(labels == i) for i in range(labels.max() + 1)]
    chances = None
    if cell.null == "equal" and cell.source == "wmt25":
        table = shifted(table, cluster)
    elif cell.null == "equal":
        chances = tilted(table.grouped(labels.tolist()), cluster)
    weights = np.ones(table.n_segments) if chances is None else chances[labels]
    truth = np.einsum("n,snk->sk", weights, table.values)
    if cell.null == "exchangeable":
        # The expectation of a permuted output is that of the cluster.
        truth = np.stack([truth[cluster == c].mean(axis=0) for c in cluster])
    scores = table.metric.score(truth)
    errors = covered = 0
    for trial in range(trials):
        drawn = rng.choice(len(members), size=cell.n, p=chances)
        rows = np.concatenate([members[i] for i in drawn])
        groups = np.repeat(np.arange(cell.n), [len(members[i]) for i in drawn])
        values = table.values[:, rows]
        if cell.null == "exchangeable":
            # One order of a cluster for all of a document.
            keys = rng.random((len(cluster), cell.n))[:, groups] + cluster[:, None]
            values = np.take_along_axis(values, np.argsort(keys, axis=0)[..., None], axis=0)
        result = es.compare(
            es.SegmentStatistics(values, table.systems, table.metric),
            test=cell.test,
            n_resamples=cell.n_resamples,
            intervals="simultaneous",
            groups=groups if cell.documents else None,
            rng=seed * 1_000_000 + trial,
        )
        places = [(table.systems.index(d.baseline), table.systems.index(d.system)) for d in result]
        errors += any(
            result.significant(d) and cell.null != "real" and cluster[a] == cluster[b]
            for d, (a, b) in zip(result, places, strict=True)
        )
        slack = 1e-6 * np.max(np.abs(scores))
        covered += all(
            d.low - slack <= scores[b] - scores[a] <= d.high + slack
            for d, (a, b) in zip(result, places, strict=True)
        )
    return Outcome(errors / trials, covered / trials, trials)


def cost() -> None:
    """Print what 780 pairs under three metrics take, and 16,110 pairs of means; statistics given.

    The 40 systems are mixtures of the real ones: 70 % of one, the rest from all of them.
    """
    rng = np.random.default_rng(1)
    _, systems, references = corpus("en-de")
    tables = []
    for metric in ("bleu", "chrf", "ter"):
        real = es.extract(systems, references, metric)
        s, n = len(real.systems), real.n_segments
        other = np.random.default_rng(2).integers(s, size=(40, n))
        kept = np.random.default_rng(3).random((40, n)) < 0.7
        chosen = np.where(kept, (np.arange(40) % s)[:, None], other)
        values = real.values[chosen, np.arange(n)]
        names = tuple(f"system-{i}" for i in range(40))
        tables.append(es.SegmentStatistics(values, names, real.metric))
    tasks = rng.normal(size=41) + rng.normal(0, 0.1, (180, 41)) + np.linspace(0, 0.5, 180)[:, None]
    mean = es.Mean("mean of tasks")
    suite = es.SegmentStatistics(
        np.stack([mean.statistics(row) for row in tasks]), [f"m{i}" for i in range(180)], mean
    )
    for label, given in (("40 systems, BLEU, chrF, TER", tables), ("180 systems, 41 tasks", suite)):
        start, used = time.perf_counter(), time.process_time()
        result = es.compare(given)
        seconds, used = time.perf_counter() - start, time.process_time() - used
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        found = sum(result.significant(d) for d in result)
        print(
            f"{label}: {len(result)} comparisons, {found} significant, {seconds:.1f} s "
            f"({used:.1f} s of processors), peak memory {peak:.2f} GB"
        )


def main() -> None:
    """Print a line for each cell."""
    parser = argparse.ArgumentParser(prog="benchmarks.families", description=__doc__)
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--cells", default="", metavar="REGEX")
    parser.add_argument("--cost", action="store_true", help="time and memory instead")
    options = parser.parse_args()
    if options.cost:
        return cost()
    print(f"{'null hypothesis':60s}any error      coverage of all")
    for cell in cells():
        if re.search(options.cells, str(cell)):
            print(f"{cell!s:60s}{measure(cell, options.trials)}", flush=True)


if __name__ == "__main__":
    main()
