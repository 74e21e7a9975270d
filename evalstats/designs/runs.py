"""Several runs of a system, side by side: one score, their mean."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Sized
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.scores import Pair, Scores
from evalstats.errors import InputError
from evalstats.inference import student
from evalstats.inference.student import Runs
from evalstats.metrics.ratios import MeanOfRuns
from evalstats.resampling.executors import Workers
from evalstats.statistics.extraction import Metrics, as_systems, extract_all, is_list
from evalstats.statistics.segments import SegmentStatistics

Floats = NDArray[np.float64]
#: Limits of scores of several runs, whose variances are added up.
_SMALLEST, _LARGEST = 1e-130, 1e130


def extract_runs(
    systems: object,
    references: object = None,
    metrics: Metrics = "bleu",
    workers: Workers = 1,
    segment_ids: object = None,
) -> list[SegmentStatistics]:
    """Extract the statistics of R runs of every system, `(S, N, R k)`, one table per metric.

    A system has R lists of N outputs each, or an array `(R, N)` of scores, with the same R of at
    least 2 for all. Its score is the mean of the runs' scores (`MeanOfRuns`), and its error covers
    other segments and other runs.

    >>> from evalstats import Mean
    >>> seeds = {"A": [[1, 0, 1], [1, 1, 1]], "B": [[0, 0, 1], [1, 0, 0]]}
    >>> (table,) = extract_runs(seeds, metrics=Mean("accuracy"))
    >>> table.values.shape, table.scores.round(2).tolist()
    ((2, 3, 4), [0.83, 0.33])
    """
    named = as_systems(systems)
    counts = {name: len(runs) if is_list(runs) else 0 for name, runs in named.items()}
    for name, count in counts.items():
        if count < 2 or not all(map(is_list, named[name])):
            raise InputError(
                f"hypotheses of system {name!r} must contain at least 2 runs, each a list of "
                "outputs, because other entries of hypotheses are runs. The "
                "variance between runs cannot be estimated from one run."
            )
    n_references = len(references) if isinstance(references, Sized) else None
    n_runs = _same_number(counts)
    for name, runs in named.items():
        _check_lists(name, runs, n_references)
    flat = {
        f"{name} run {i + 1}": run for name, runs in named.items() for i, run in enumerate(runs)
    }
    names = [name for name in named for _ in range(n_runs)]
    tables = extract_all(flat, references, metrics, workers, segment_ids)
    return [as_runs(table, names) for table in tables]


def _check_lists(name: str, runs: Sequence[Sequence[Any]], n_references: int | None) -> None:
    """Refuse lists that are not runs, each of all N segments, although they would be read as runs.

    `runs` are the lists of a system; `n_references` is `None` when there are no references.
    """
    sizes = {len(run) for run in runs}
    first = runs[0][0] if len(runs[0]) else None
    if n_references is not None and sizes != {n_references} and len(runs) == n_references:
        entry = f"system {name!r}: hypotheses[0] is a list"
        if sizes == {1}:
            raise InputError(f"{entry} of one output; pass the outputs themselves as strings")
        if isinstance(first, str):
            raise InputError(
                f"{entry} of {len(runs[0])} strings. Pass one string per segment (for lists of "
                f"words, ' '.join(words)), or several runs as lists of {n_references} outputs "
                "each."
            )
    if n_references is None and len(sizes) == 1 and len(runs) > min(sizes):
        n = min(sizes)
        raise InputError(
            f"hypotheses of system {name!r} contains {len(runs):,} lists of {n:,}, which would "
            f"be {len(runs):,} runs of {n:,} segments. If these are {len(runs):,} items with "
            f"{n:,} answers each, pass the mean of each item, or use the metric "
            "evalstats.PassAll(1) for 0/1 answers. To pass them as runs, use one list per run: "
            "list(zip(*answers))."
        )


def _same_number(counts: Mapping[str, int]) -> int:
    """Return the number of runs, which all systems share."""
    (first, n_runs), *others = counts.items()
    for name, count in others:
        if count != n_runs:
            raise InputError(
                f"all systems must have the same number of runs, got {n_runs} of {first!r} and "
                f"{count} of {name!r}; leave some runs out, or add some"
            )
    return n_runs


def as_runs(table: SegmentStatistics, names: Sequence[str]) -> SegmentStatistics:
    """Return statistics whose rows are runs, of systems with these names."""
    counts = Counter(names)
    n_runs = _same_number(counts)
    places = np.array([[i for i, called in enumerate(names) if called == name] for name in counts])
    # (S, R, N, k) to (S, N, R k).
    wide = np.moveaxis(table.values[places], 1, 2).reshape(len(counts), table.n_segments, -1)
    metric = MeanOfRuns(table.metric, n_runs)
    known = (table.reference_label, table.fingerprint, table.segment_ids)
    cautions = {"": table.cautions.get("", ())}
    for run, name in zip(table.systems, names, strict=True):
        cautions[name] = (*cautions.get(name, ()), *table.cautions.get(run, ()))
    return SegmentStatistics(wide, tuple(counts), metric, *known, cautions=cautions)


def with_runs(scores: Scores) -> Scores:
    """Return scores with the scores of each run, `(S, R)`, and their influence, `(S, R, N)`."""
    n, n_units = len(scores.systems), scores.units.n
    n_runs = scores.strata[0].metric.n_runs  # type: ignore[attr-defined]
    of_runs, influence = np.zeros((n, n_runs)), np.zeros((n, n_runs, n_units))
    for stratum in scores.strata:
        metric, rows = stratum.by_run(stratum.rows)
        for i, statistics in enumerate(rows.astype(np.float64), stratum.system or 0):
            moves = student.influence_values(metric, statistics)
            of_runs[i] += stratum.weight * metric.score(np.sum(statistics, axis=1))
            influence[i][:, np.arange(n_units)[stratum.places]] = stratum.weight * moves
    for i, system in enumerate(scores.systems):
        size = max(float(np.max(np.abs(x[i]))) for x in (of_runs, influence))
        if size > 0 and not _SMALLEST < size < _LARGEST:
            raise InputError(
                f"{scores.metric_name} of several runs must be between {_SMALLEST:g} and "
                f"{_LARGEST:g} so that squares do not overflow, got {size:.3g} for {system!r}; "
                "rescale the scores"
            )
    runs = [(mean_squares(*one),) for one in zip(of_runs, influence, strict=True)]
    return replace(scores, runs=runs, by_run=(of_runs, influence))


def mean_squares(scores: Floats, influence: Floats) -> Runs:
    """Return the mean square between R runs, the part due to segments, and R."""
    return *student.mean_squares(scores, influence), len(scores)


def runs_of_pairs(scores: Scores, pairs: Sequence[Pair], share: float) -> list[tuple[Runs, ...]]:
    """Return mean squares of the runs of both systems, or of the difference if runs are paired.

    The difference is the system minus this share of its baseline.
    """
    assert scores.by_run is not None
    if scores.paired_runs:
        differences = ((x[b] - share * x[a] for x in scores.by_run) for a, b in pairs)
        return [(mean_squares(*both),) for both in differences]
    return [
        (*scores.runs[b], *((share**2 * r, share**2 * e, n) for r, e, n in scores.runs[a]))
        for a, b in pairs
    ]


def check_runs(several: Sequence[Scores], are_paired: bool) -> None:
    """Refuse paired runs without several runs, and metrics with different runs."""
    with_runs = [scores.by_run is not None for scores in several]
    if are_paired and not several[0].is_paired:
        raise InputError(
            "requires several runs of systems with the same segments, but these systems are "
            "unpaired",
            argument="paired_runs",
        )
    if are_paired and not any(with_runs):
        raise InputError(
            "requires several runs of each system, but each has one run; leave it out",
            argument="paired_runs",
        )
    if any(with_runs) and not all(with_runs):
        raise InputError("all metrics must have the same runs, but some have none")
