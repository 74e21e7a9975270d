"""Whole walks of `SequentialTest` and whole runs of `Monitor`: false passes, false improvements.

Of an evaluation that grows:

- *none*: it is asked whether a system is better that is not;
- *margin*: the loss is exactly the margin, so that either verdict is wrong;
- *gain*: it is better, and it is asked how often and on which share of the items that is found;
- *sequence*: a hundred looks without a plan;
- *far*, *far_sequence*: as *none* and *sequence*, and how often no note speaks of rare falls.

Of a run a checkpoint takes each segment's output from one of two systems at random, with a
probability that is its quality; where that stays, all differences between checkpoints are noise:

- *plateau*: nothing happens to it;
- *wobble*: every checkpoint is by chance nearer to one of two unlike systems of equal scores;
- *rise*: ten checkpoints rise to a plateau; only claims within the plateau are false;
- *jump*: after 30 checkpoints it rises at once, by half a point of the metric.

Two more are of simulated scores, with checkpoints that fall far on some 2 % of the segments:

- *unlike*: the first never does; all later ones gain .1 and fall by 5, equally good on average;
- *falls*: each on segments of its own, by 11 to 17 standard deviations of the scores.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache, partial
from typing import Any

import numpy as np

import evalstats as es
from benchmarks.calibration.populations import Population
from benchmarks.calibration.questions import units
from benchmarks.calibration.samples import Happened, Sample, checkpoints

N_CHECKS, N_RISING, AFTER, SOON, JUMP = 41, 10, 30, 10, 0.5


def _watch(sample: Sample, seed: int, n_looks: int, kind: str) -> Happened:
    (table,) = sample.tables
    ((name, (old, new)),) = sample.truth.items()
    limit: dict[str, Any] = {}
    if kind == "margin":
        limit["margin"] = float(old - new if table.metric.higher_is_better else new - old)
    # Counts decide about 0/1 scores; the bootstrap of others has no other levels, and takes longer.
    is_shares = set(np.unique(table.values)) <= {0, 1}
    n, plan = units(sample), None if "sequence" in kind else units(sample)
    method = "bootstrap" if is_shares else "t"
    test = es.SequentialTest(plan, n_looks, table.metric, test=method, rng=seed, **limit)
    labels = sample.labels.get("groups", np.arange(table.n_segments))
    for j in range(1, n_looks + 1):
        stop = int(np.searchsorted(labels, -(-n * j // n_looks)))
        part = es.SegmentStatistics(table.values[:, :stop], table.systems, table.metric)
        groups = {"groups": labels[:stop]} if sample.labels else {}
        look = test.look(part, table.systems[0], **groups)
        if look.verdict != "go on":
            break
    is_wrong = look.pvalue_failed is not None and look.pvalue_failed <= look.level
    if kind == "gain":
        yield name, "found", look.verdict == "passed"
        yield name, "share of items", look.n_units / n
    else:
        yield name, "wrong pass", look.verdict == "passed"
        yield name, "wrong failure", look.verdict == "failed" and is_wrong
    if "far" in kind:
        is_told = any("falls far" in note for note in test.result.notes)
        yield name, "note", is_told
        yield name, "wrong pass without a note", look.verdict == "passed" and not is_told


none, margin, gain, sequence, far, far_sequence = (
    partial(_watch, kind=kind)
    for kind in ("none", "margin", "gain", "sequence", "far", "far sequence")
)


def _run(sample: Sample, seed: int, kind: str) -> Happened:
    (table,), rng = sample.tables, np.random.default_rng(seed)
    references = es.References([""] * table.n_segments)
    monitor = es.Monitor(references, table.metric, rng=seed)
    qualities: Iterable[float] = _qualities(kind, sample.whole)
    if kind == "wobble":
        qualities = (rng.choice([0.25, 0.75]) for _ in qualities)
    for step, checkpoint in enumerate(checkpoints(table, qualities, rng, references)):
        monitor.check(step, checkpoint)
    claims, name = [check for check in monitor.checks if check.improved], table.metric.name
    if kind == "jump":
        yield name, "found", any(AFTER <= c.step < AFTER + SOON for c in claims)
        claims = [c for c in claims if c.step < AFTER]
    elif kind == "rise":
        claims = [c for c in claims if c.compared_with >= N_RISING]
    elif kind == "plateau":
        truth = table.metric.score(sample.whole.tables[0].values.sum(axis=(0, 1)) / 2)
        yield name, "score of the chosen", monitor.selected.low <= truth <= monitor.selected.high
    yield name, "false improvement", bool(claims)


plateau, wobble, rise, jump = (
    partial(_run, kind=kind) for kind in ("plateau", "wobble", "rise", "jump")
)


def _fall(sample: Sample, seed: int, kind: str) -> Happened:
    """Watch scores of segments whose difficulty is that of the sample's first system."""
    (table,), rng = sample.tables, np.random.default_rng(seed)
    difficulty = table.values[0, :, 0]
    monitor = es.Monitor(None, table.metric, rng=seed)
    for step in range(N_CHECKS):
        fallen = rng.random(len(difficulty)) < 0.02
        if kind == "falls":
            usual = difficulty + rng.normal(scale=0.5, size=len(difficulty))
            scores = np.where(fallen, -rng.uniform(11, 17, len(difficulty)), usual)
        else:
            scores = difficulty + (np.where(fallen, -4.9, 0.1) if step else 0.0)
        monitor.check(step, scores)
    yield table.metric.name, "false improvement", any(check.improved for check in monitor.checks)
    yield table.metric.name, "note", bool(monitor.notes)


unlike, falls = partial(_fall, kind="unlike"), partial(_fall, kind="falls")


@lru_cache
def _qualities(kind: str, whole: Population) -> tuple[float, ...]:
    """Return the quality of every checkpoint, the share of the second system."""
    if kind == "rise":
        steps = np.linspace(0, 0.5, N_RISING, endpoint=False).tolist()
        return (*steps, *[0.5] * (N_CHECKS - N_RISING))
    if kind != "jump":
        return (0.5,) * N_CHECKS
    low, high = whole.tables[0].values.sum(axis=1, dtype=float)
    halves = np.linspace(0, 0.5, 5001)[:, None]
    ends = (low + (high - low) * (0.5 + half) for half in (-halves, halves))
    before, after = (whole.tables[0].metric.score(totals) for totals in ends)
    half = float(halves[np.searchsorted(after - before, JUMP), 0])
    return (0.5 - half,) * AFTER + (0.5 + half,) * SOON
