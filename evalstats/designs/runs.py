"""Several runs of a system, side by side: one score, their mean."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Sized

import numpy as np

from evalstats.errors import InputError
from evalstats.metrics.ratios import MeanOfRuns
from evalstats.resampling.executors import Workers
from evalstats.statistics.extraction import Metrics, Progress, as_systems, extract_all, is_list
from evalstats.statistics.guards import check_run_lists
from evalstats.statistics.segments import SegmentStatistics


def extract_runs(
    systems: object,
    references: object = None,
    metrics: Metrics = "bleu",
    progress: Progress | None = None,
    workers: Workers = 1,
    segment_ids: object = None,
) -> list[SegmentStatistics]:
    """Extract the statistics of R runs of every system, `(S, N, R k)`, a table a metric.

    A system has R lists of N outputs each, or an array `(R, N)` of scores, the same R of at least 2
    for all. Its score is the mean of the runs' scores (`MeanOfRuns`), and its error that of other
    segments and of other runs.

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
                f"hypotheses of system {name!r} must be at least 2 runs, each a list of outputs, "
                f"since those of another system, or its first, are a list: the error that runs "
                f"add cannot be had from one"
            )
    n_references = len(references) if isinstance(references, Sized) else None
    n_runs = _same_number(counts)
    for name, runs in named.items():
        check_run_lists(name, runs, n_references)
    flat = {
        f"{name} run {i + 1}": run for name, runs in named.items() for i, run in enumerate(runs)
    }
    names = [name for name in named for _ in range(n_runs)]
    tables = extract_all(flat, references, metrics, progress, workers, segment_ids)
    return [as_runs(table, names) for table in tables]


def _same_number(counts: Mapping[str, int]) -> int:
    """Return the number of runs, which all systems share."""
    (first, n_runs), *others = counts.items()
    for name, count in others:
        if count != n_runs:
            raise InputError(
                f"all systems must have the same number of runs, got {n_runs} of {first!r} and "
                f"{count} of {name!r}"
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
