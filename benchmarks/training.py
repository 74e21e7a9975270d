"""Hold `Monitor` to what it promises: false alarms, the winner's curse, and what a check costs.

A run is made from two real systems: at every check, each segment's output comes from the second
with a probability that is the quality of the checkpoint. Where it stays the same no check is better
than another and all differences are noise. Each run draws its segments anew.

    python -m benchmarks.training [--runs 500] [--checks 50] [--seed 2026] [--price]

`--price` prints instead how soon a rise of BLEU is found.
"""

from __future__ import annotations

import argparse
import time
from functools import partial
from itertools import product

import numpy as np

import evalstats as es
from benchmarks.calibration.runs import Run, qualities
from benchmarks.corpora import corpus

METRICS = ("bleu", "chrf", "ter")
#: A rise is looked for in so many checks, and tabulated for these.
LONGEST = 20
WITHIN = (1, 3, 5, 10, LONGEST)


def checkpoints(values, shares, rng):
    """Yield the statistics of one checkpoint after the other, `(N, k)`."""
    for share in shares:
        from_second = rng.random(values.shape[1]) < share
        yield np.where(from_second[:, None], values[1], values[0])


def watch(values, metric, shares, rng, **options):
    """Return a monitor that has watched a run."""
    # Statistics are given: of the references only their number matters.
    monitor = es.Monitor([""] * values.shape[1], metric, **options)
    for step, rows in enumerate(checkpoints(values, shares, rng)):
        monitor.check(step, es.SegmentStatistics(rows[None], ["run"], metric))
    return monitor


def plateaus(values, metric, n_runs, n_checks, seed):
    """Watch runs of pure noise; return a table, one row a run."""
    sign = 1 if metric.higher_is_better else -1
    truth = float(metric.score(values.sum(axis=(0, 1))))
    rows = []
    for run in range(n_runs):
        rng = np.random.default_rng([seed, run])
        drawn = values[:, rng.integers(values.shape[1], size=values.shape[1])]
        expected = float(metric.score(drawn.sum(axis=(0, 1))))
        monitor = watch(drawn, metric, [0.5] * n_checks, rng)
        later, chosen = monitor.checks[1:], monitor.chosen
        rows.append(
            {
                "false new best": any(check.improved for check in later),
                "highest so far": any(check.highest_step == check.step for check in later),
                "p <= 0.05": any(check.pvalue <= 0.05 for check in later),
                "optimism": sign * (chosen.score - expected),
                "after correction": sign * (chosen.corrected - expected),
                "covered": chosen.low <= truth <= chosen.high,
            }
        )
    return {name: np.array([row[name] for row in rows], dtype=float) for name in rows[0]}


def rises(values, metric, n_runs, n_checks, seed):
    """Return how often a plateau after a rise has a false new best, and is reached by a true one.

    Ten checks rise from the first system to halfway between the two, the rest stay there. A new
    best is false where the step that it was compared with is of the plateau as well.
    """
    rise = np.linspace(0, 0.5, 10, endpoint=False)
    shares = [*rise, *[0.5] * (n_checks - len(rise))]
    false, true = [], []
    for run in range(n_runs):
        rng = np.random.default_rng([seed, 1, run])
        drawn = values[:, rng.integers(values.shape[1], size=values.shape[1])]
        checks = watch(drawn, metric, shares, rng).checks
        claims = [check for check in checks if check.improved]
        false.append(any(check.compared_with >= len(rise) for check in claims))
        true.append(bool(claims))
    return np.mean(false), np.mean(true)


def jumps(values, metric, jump, after, n_runs, seed):
    """Return after how many checks a rise by so many points is found, `(runs,)`; NaN for never.

    The score rises at once, after so many checks of a plateau, and then stays; a run ends 20
    checks later. Found in the first check after the rise is 1.
    """
    run = Run("jump", "", metric.name, "", "", values.shape[1], jump=jump, after=1)
    low, high = qualities(run, values, metric)[:2]
    found = np.full(n_runs, np.nan)
    for i in range(n_runs):
        rng = np.random.default_rng([seed, 2, i])
        drawn = values[:, rng.integers(values.shape[1], size=values.shape[1])]
        shares = [low] * after + [high] * LONGEST
        checks = watch(drawn, metric, shares, rng, n_resamples=2).checks
        claims = [check.step for check in checks if check.improved and check.step >= after]
        found[i] = claims[0] - after + 1 if claims else np.nan
    return found


def costs(systems, references, metric, repeats):
    """Return the time of extraction alone and of a whole check, in milliseconds.

    Best times of each of the systems, averaged; which of the two comes first alternates.
    """
    refs = es.References(references)
    monitor = es.Monitor(refs, metric)
    texts = list(systems.values())
    best = np.full((2, len(texts)), np.inf)
    for step in range(repeats * len(texts)):
        system = step % len(texts)
        runs = [
            partial(monitor.metric.statistics, texts[system], refs),
            partial(monitor.check, step, texts[system]),
        ]
        for which in (0, 1) if step // len(texts) % 2 else (1, 0):
            start = time.perf_counter()
            runs[which]()
            best[which, system] = min(best[which, system], time.perf_counter() - start)
    return 1000 * best.mean(axis=1)


def _two(systems, references):
    """Return the systems with the lowest and the highest BLEU."""
    table = es.extract(systems, references)
    names = [table.systems[i] for i in (table.scores.argmin(), table.scores.argmax())]
    return {name: systems[name] for name in names}


def main() -> None:
    """Print rates, biases and times."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--checks", type=int, default=50)
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--segments", type=int, default=2000)
    parser.add_argument("--price", action="store_true", help="how soon a rise of BLEU is found")
    options = parser.parse_args()
    label, systems, references = corpus()
    two = _two(systems, references)
    n = len(references)
    print(f"{label}, {' and '.join(two)}, {n} segments, {options.runs} runs, seed {options.seed}\n")
    if options.price:
        table = es.extract(two, references)
        print(f"points  after   share found within {', '.join(map(str, WITHIN))} checks")
        for jump, after in product((0.3, 0.5, 1.0), (1, 5, 30)):
            found = jumps(table.values, table.metric, jump, after, options.runs, options.seed)
            shares = [np.mean(found <= most) for most in WITHIN]
            print(f"{jump:6.1f}{after:7d}   {'  '.join(f'{s:.3f}' for s in shares)}", flush=True)
        return
    for name in METRICS:
        table = es.extract(two, references, name)
        values, metric = table.values, table.metric
        found = plateaus(values, metric, options.runs, options.checks, options.seed)
        print(f"{metric.name}, plateau of {options.checks} checks, share of runs with")
        for key, what in (
            ("false new best", "a real improvement, falsely"),
            ("p <= 0.05", "an uncorrected p <= 0.05"),
            ("highest so far", "a highest score so far"),
        ):
            share = np.mean(found[key])
            error = np.sqrt(share * (1 - share) / options.runs)
            print(f"  {what:32s}{share:8.3f} ± {error:.3f}")
        print("  score of the chosen checkpoint against its expectation")
        for key in ("optimism", "after correction"):
            error = np.std(found[key]) / np.sqrt(options.runs)
            print(f"  {key:32s}{np.mean(found[key]):8.3f} ± {error:.3f}")
        print(f"  {'interval of it covers the truth':32s}{np.mean(found['covered']):8.3f}")
        false, true = rises(values, metric, options.runs, options.checks, options.seed)
        print(f"{metric.name}, a rise of 10 checks and then a plateau, share of runs with")
        print(f"  {'a false new best':32s}{false:8.3f}\n  {'any new best':32s}{true:8.3f}\n")

    repeated = -(-options.segments // n)
    many = {key: (texts * repeated)[: options.segments] for key, texts in two.items()}
    many_references = (references * repeated)[: options.segments]
    print(f"{options.segments} segments, best of 30, milliseconds")
    for name in METRICS:
        extraction, check = costs(many, many_references, name, 30)
        print(
            f"  {name:6s} extraction {extraction:7.1f}   check {check:7.1f}   "
            f"ratio {check / extraction:.2f}"
        )


if __name__ == "__main__":
    main()
