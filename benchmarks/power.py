"""Compare predicted with simulated power of the default test, on real pairs of systems.

    python -m benchmarks.power [--trials 2000]

The whole test set is the population and the pilot: `es.power` predicts from it how often the pair's
true difference is found on N segments (or documents), and `es.compare` is asked on so many drawn
from it with replacement. 0/1 scores: a segment counts as right up to 0.4 word errors a word.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

import evalstats as es
from benchmarks.calibration.populations import Population, Source, population
from benchmarks.calibration.texts import LABELS, available, texts
from evalstats.inference.influence import influence_values, standard_error
from evalstats.inference.power import t_power

#: Powers that are worth asking about, and sizes.
LEAST, MOST = 0.3, 0.95
SIZES = {"segments": (100, 300, 1000), "documents": (30, 100)}
ONE_SIDED = (100, 300)
METRICS = ("bleu", "chrf", "0/1")
SEED, LEVEL = 12345, 0.05
#: As many resamples as `compare` draws by default, where few leave the verdict open.
FEW, ALL, CERTAIN, UNLIKELY = 399, 9999, 0.01, 0.2


class Case(NamedTuple):
    """A pair of systems, and a size of test set; one-sided is on the side of the difference."""

    source: Source
    n: int
    unit: str = "segments"
    sides: int = 2

    @property
    def alternative(self) -> str:
        """Of the test."""
        first, second = population(self.source).scores
        if self.sides == 2:
            return "two-sided"
        return "greater" if second > first else "less"


def table(drawn_from: Population) -> es.SegmentStatistics:
    """Return the statistics of both systems on all segments."""
    return es.SegmentStatistics(drawn_from.values, ["old", "new"], drawn_from.metric)


def predicted(case: Case) -> float:
    """Return what `es.power` says of the pair's true difference."""
    drawn_from = population(case.source)
    groups = drawn_from.documents if case.unit == "documents" else None
    size = float(abs(drawn_from.scores[1] - drawn_from.scores[0]))
    (pair,) = es.power(
        table(drawn_from),
        difference=size,
        n_segments=case.n,
        groups=groups,
        alternative=case.alternative,
        executor=1,
    )
    return float(pair.power or 0.0)


def _about(case: Case) -> float:
    """Return what the noncentral t distribution says, a first look at segments."""
    drawn_from = population(case.source)
    moves = influence_values(drawn_from.metric, drawn_from.values.astype(float))
    error = standard_error(moves[1] - moves[0]) * np.sqrt(moves.shape[1] / case.n)
    difference = drawn_from.scores[1] - drawn_from.scores[0]
    level = LEVEL * 2 / case.sides
    return t_power(float(difference / error), case.n - 1, level) if error > 0 else 0.0


def simulated(case: Case, trials: int) -> float:
    """Return how often the default test finds the difference on segments drawn with replacement."""
    drawn_from = population(case.source)
    found = 0
    for trial in range(trials):
        rng, groups = np.random.default_rng([SEED, case.n, trial]), None
        if case.unit == "documents":
            values, groups = drawn_from.draw_documents(case.n, rng)
        else:
            values = drawn_from.draw(case.n, rng)
        drawn = es.SegmentStatistics(values, ["old", "new"], drawn_from.metric)
        settings: dict[str, Any] = {"groups": groups, "rng": trial, "executor": 1}
        settings["alternative"] = case.alternative
        settings["confidence_level"] = 1 - LEVEL * 2 / case.sides
        (difference,) = es.compare(drawn, n_resamples=FEW, **settings)
        # Where the t test of segments does not reject, the default interval of this level holds
        # zero, and nothing is found; of 0/1 scores nothing is drawn.
        counted = difference.test == "mcnemar"
        if groups is None and not counted and difference.low <= 0 <= difference.high:
            continue
        if not counted and CERTAIN < difference.pvalue < UNLIKELY:
            (difference,) = es.compare(drawn, n_resamples=ALL, **settings)
        found += difference.pvalue <= LEVEL
    return found / trials


def cases(
    corpora: Sequence[str] = ("en-de", "en-es"), each: int = 3, metrics: Sequence[str] = METRICS
) -> Iterator[tuple[Case, float]]:
    """Yield cases of interesting power with what is predicted, so many of each kind.

    Pairs are taken in a random order, so that skewed and even ones come as they are.
    """
    for corpus in (c for c in corpora if available(c)):
        names = list(texts(corpus).systems)
        pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
        order = np.random.default_rng(SEED).permutation(len(pairs))
        for metric in metrics:
            kinds = [(unit, n, 2) for unit, sizes in SIZES.items() for n in sizes]
            for unit, n, sides in [*kinds, *(("segments", n, 1) for n in ONE_SIDED)]:
                if unit == "documents" and (texts(corpus).documents is None or metric == "0/1"):
                    continue
                left = each
                for i in order:
                    case = Case(Source("real", corpus, metric, *pairs[i]), n, unit, sides)
                    if not left or (unit == "segments" and not 0.2 < _about(case) < 0.98):
                        continue
                    if LEAST <= (power := predicted(case)) <= MOST:
                        left -= 1
                        yield case, power


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--trials", type=int, default=2000)
    parser.add_argument("--each", type=int, default=3, help="pairs of each kind")
    options = parser.parse_args()
    error = 100 * 0.5 / np.sqrt(options.trials)
    print(f"{options.trials} trials; Monte-Carlo standard error up to {error:.1f} points")
    print("| test set | score | size | pair | predicted | simulated |")
    print("|:--|:--|--:|:--|--:|--:|")
    misses = []
    for case, power in cases(each=options.each):
        rate, source = simulated(case, options.trials), case.source
        misses.append(rate - power)
        print(
            f"| {LABELS[source.corpus]} | {source.metric} | {case.n} {case.unit}"
            f"{', one-sided' if case.sides == 1 else ''} | "
            f"{source.first}, {source.second} | {power:.3f} | {rate:.3f} |",
            flush=True,
        )
    points = 100 * np.array(misses)
    print(
        f"{len(points)} cases: simulated less predicted {points.mean():+.1f} points on average, "
        f"from {points.min():+.1f} to {points.max():+.1f}"
    )


if __name__ == "__main__":
    main()
