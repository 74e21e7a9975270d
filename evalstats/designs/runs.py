"""Several runs of a system, side by side: one score, their mean."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Sized
from typing import Any

import numpy as np

from evalstats.checks import also_called
from evalstats.errors import InputError
from evalstats.metrics import Metric
from evalstats.metrics.ratios import MeanOfRuns
from evalstats.resampling.executors import Workers, as_workers
from evalstats.statistics.extraction import Metrics, Progress, as_systems, extract_all, is_list
from evalstats.statistics.guards import check_run_lists
from evalstats.statistics.segments import SegmentStatistics


@also_called(systems="hypotheses", metrics="metric")
def extract_runs(
    hypotheses: Mapping[str, Any],
    references: Any = None,
    metric: str | Metric = "bleu",
    *,
    segment_ids: Sequence[str] | None = None,
    executor: Workers = None,
    progress: Progress | None = None,
) -> SegmentStatistics:
    """Extract the statistics of several runs of every system, `(S, N, R k)`.

    Its score is the mean of the runs' scores (`MeanOfRuns`), and its error that of other segments
    and of other runs. `estimate` and `compare` do the same for lists of runs.

    Parameters
    ----------
    hypotheses : mapping of str to sequence
        R lists of N outputs each, or an array `(R, N)` of scores, the same R >= 2 for all systems.
    references, metric, segment_ids, executor, progress
        As in `extract`.

    Raises
    ------
    InputError
        For bad input, runs of different lengths, or systems with different numbers of runs.

    Notes
    -----
    The page on units has how often equal systems differ, and how long intervals are. Where runs do
    not vary, half of the intervals are as long as those of means of the runs.

    Examples
    --------
    >>> from evalstats import Mean
    >>> seeds = {"A": [[1, 0, 1], [1, 1, 1]], "B": [[0, 0, 1], [1, 0, 0]]}
    >>> table = extract_runs(seeds, metric=Mean("accuracy"))
    >>> table.values.shape, table.scores.round(2).tolist()
    ((2, 3, 4), [0.83, 0.33])
    """
    workers = as_workers(executor)
    (table,) = extract_all_runs(
        hypotheses, references, metric, progress, workers, segment_ids=segment_ids
    )
    return table


def extract_all_runs(
    systems: object,
    references: object,
    metrics: Metrics,
    progress: Progress | None,
    workers: Workers = 1,
    segment_ids: object = None,
) -> list[SegmentStatistics]:
    """Extract all runs of all systems under all metrics, one `SegmentStatistics` a metric."""
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
    places = np.array([[i for i, own in enumerate(names) if own == name] for name in counts])
    # (S, R, N, k) to (S, N, R k).
    wide = np.moveaxis(table.values[places], 1, 2).reshape(len(counts), table.n_segments, -1)
    metric = MeanOfRuns(table.metric, n_runs)
    known = (table.reference_label, table.fingerprint, table.segment_ids)
    cautions = {"": table.cautions.get("", ())}
    for run, name in zip(table.systems, names, strict=True):
        cautions[name] = (*cautions.get(name, ()), *table.cautions.get(run, ()))
    return SegmentStatistics(wide, tuple(counts), metric, *known, cautions=cautions)
