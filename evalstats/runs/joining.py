"""Several runs side by side: the same task under the same metric, items matched by their ids."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from evalstats.checks import choice, label
from evalstats.errors import InputError, InputTypeError
from evalstats.metrics import Mean, Ratio
from evalstats.runs.classes import with_same_classes
from evalstats.runs.items import Key
from evalstats.runs.reading import read_run
from evalstats.runs.run import Patterns, Run
from evalstats.statistics.segments import SegmentStatistics
from evalstats.text.frames import columns_of

#: A run, or where to read one; a frame of pandas or polars is a table of scores.
OneRun = Run | str | os.PathLike[str] | Any
Runs = OneRun | Sequence[OneRun] | Mapping[str, OneRun]

MISSING = ("error", "intersect", "available")
#: Lines by kind: of each there will be one note.
_Notes = defaultdict[str, list[str]]
#: Lines of a kind that a note has; more are counted.
_NAMED = 3
#: Labels that say what an item asks, whatever its task.
_OF_ITEMS = ("doc_hash", "item_hash", "sample_hash")
#: Metrics that can leave out the scores that are missing.
_AVAILABLE = (Mean, Ratio)


class Joined(NamedTuple):
    """Runs side by side.

    Attributes
    ----------
    tasks : dict of str to list of SegmentStatistics
        All metrics of a task, which have the same segments.
    notes : list of str
        What was left out, and which scores of the logs are not those of their items.
    """

    tasks: dict[str, list[SegmentStatistics]]
    notes: list[str]


def joined(
    runs: Runs,
    *,
    task: Patterns = None,
    metric: Patterns = None,
    filter: Patterns = None,
    labels: Sequence[str] = (),
    missing: str = "error",
) -> Joined:
    """Return the tables of all runs by task, joined by id.

    `missing` says what to do about items or scores that a run lacks, and about tasks and metrics:
    ``"error"`` refuses them, ``"intersect"`` keeps what all have, ``"available"`` refuses items but
    takes the mean of the scores that there are.
    """
    choice(missing, MISSING, "missing")
    found = _read(runs, task, metric, filter, labels)
    keys = list(dict.fromkeys(key for run in found for key in run.tables))
    shared = [key for key in keys if all(key in run.tables for run in found)]
    notes: _Notes = defaultdict(list)
    for run in found:
        notes["scores of logs"] += run.disagreements
        if run.skipped:
            notes[f"of {run.path}"].append(f"Left out of {run.path}: {_some(run.skipped)}")
    if len(shared) < len(keys):
        notes["unshared"] += _unshared(keys, shared, found, missing)
    tasks = _by_task({key: _complete(key, found, missing, notes) for key in shared})
    for name, tables in tasks.items():
        tasks[name] = _same_items(name, tables, missing, notes)
    return Joined(tasks, [f"{_some(lines)}." for lines in notes.values() if lines])


def asked_twice(tasks: Mapping[str, list[SegmentStatistics]]) -> list[str]:
    """Return a note on tasks that have items in common, as variants of one benchmark do."""
    first: dict[str, str] = {}
    shared: Counter[tuple[str, str]] = Counter()
    for name, tables in tasks.items():
        hashes = [tables[0].labels[kind] for kind in _OF_ITEMS if kind in tables[0].labels]
        for item in dict.fromkeys(hashes[0] if hashes else ()):
            if item and first.setdefault(item, name) != name:
                shared[first[item], name] += 1
    lines = [f"{one} and {two} have {n:,} items in common" for (one, two), n in shared.items()]
    if not lines:
        return []
    return [f"{_some(lines)}: a total takes them for different ones, so that it looks too sure."]


def _some(lines: Sequence[str]) -> str:
    """Return the first of several lines, and how many more there are."""
    lines = list(dict.fromkeys(lines))
    more = [f"and {len(lines) - _NAMED:,} more"] if len(lines) > _NAMED else []
    return "; ".join([*lines[:_NAMED], *more])


def _by_task(found: Mapping[Key, SegmentStatistics]) -> dict[str, list[SegmentStatistics]]:
    """Return the tables of each task.

    Several filters of the same answers are metrics of one task, since a total over tasks takes the
    items of each to be others; then filters are metrics in other tasks as well.
    """
    filters: dict[tuple[str, tuple[str, ...] | None], set[str]] = {}
    for key, table in found.items():
        filters.setdefault((key.task, table.segment_ids), set()).add(key.filter)
    are_metrics = any(len(some) > 1 for some in filters.values())
    parts = Counter(task for task, _ in filters)
    tasks: dict[str, list[SegmentStatistics]] = {}
    for key, table in found.items():
        is_shared = len(filters[key.task, table.segment_ids]) > 1
        if is_shared or (are_metrics and parts[key.task] == 1):
            table = _named(table, key)
            tasks.setdefault(key.task, []).append(table)
        else:
            tasks.setdefault(key.part, []).append(table)
    for name, tables in tasks.items():
        (metric, n), *_ = Counter(table.metric.name for table in tables).most_common(1)
        if n > 1:
            raise InputError(
                f"{name} has {metric} of the same items under several filters; choose one of them"
            )
    return tasks


def _named(table: SegmentStatistics, key: Key) -> SegmentStatistics:
    """Return a table whose metric has the filter in its name, where it has a name of its own."""
    if not key.has_filter or not isinstance(table.metric, (Mean, Ratio)):
        return table
    metric = replace(table.metric, name=f"{table.metric.name} ({key.filter})")
    return replace(table, metric=metric, metric_signature="")


def _read(
    runs: Runs, task: Patterns, metric: Patterns, filter: Patterns, labels: Sequence[str]
) -> list[Run]:
    """Return runs whose systems all have names of their own."""
    if isinstance(runs, Mapping):
        given = [(label(name, "names of runs"), run) for name, run in runs.items()]
    elif isinstance(runs, (str, os.PathLike, Run)) or columns_of(runs) is not None:
        given = [("", cast(OneRun, runs))]
    elif isinstance(runs, Sequence):
        given = [("", run) for run in runs]
    else:
        raise InputTypeError(f"runs must be a path, a Run, or several, got {type(runs).__name__}")
    if not given:
        raise InputError("runs is empty; give at least one")
    found = []
    for name, run in given:
        if not isinstance(run, Run):
            run = read_run(run, task=task, metric=metric, filter=filter, labels=labels)
        elif task or metric or filter:
            run = run.select(task, metric, filter)
        if name:
            if len(run.systems) > 1:
                raise InputError(
                    f"{run.path} has {len(run.systems)} systems, which have names; give it in a "
                    f"list, without {name!r}"
                )
            run = run.renamed({run.systems[0]: name, run.name: name})
        found.append(run)
    known = {name: None for run in found for t in run.tables.values() for name in t.labels}
    for wish in labels:
        if wish not in known:
            raise InputError(
                f"{wish!r} is no label of the items; they have {', '.join(known) or 'none'}. What "
                f"else a log says of them is one after read_run(..., labels={wish!r})"
            )
    names = [name for run in found for name in run.systems]
    if len(set(names)) < len(names):
        found = _told_apart(found, names)
    return found


def _told_apart(runs: list[Run], names: list[str]) -> list[Run]:
    """Name runs of one model by where they were read: what differs in their paths."""
    if any(len(run.systems) > 1 for run in runs):
        repeated = next(name for i, name in enumerate(names) if name in names[:i])
        raise InputError(
            f"system {repeated!r} is in several of the runs; a system is in one, and where the "
            f"columns of a table are metrics, one of them is 'system'"
        )
    paths = [Path(run.path).absolute().parts for run in runs]
    if len(set(paths)) < len(paths):
        raise InputError(
            f"{runs[0].path} is given more than once; runs of one path have to have names"
        )
    shared = _n_alike(paths)
    ends = _n_alike([parts[::-1] for parts in paths])
    own = ["/".join(p[shared : len(p) - ends]) or p[-1] for p in paths]
    return [
        run.renamed({run.systems[0]: name, run.name: name})
        for run, name in zip(runs, own, strict=True)
    ]


def _n_alike(paths: list[tuple[str, ...]]) -> int:
    """Return with how many equal parts all paths begin."""
    return sum(1 for _ in takewhile(lambda parts: len(set(parts)) == 1, zip(*paths, strict=False)))


def _unshared(keys: list[Key], shared: list[Key], runs: list[Run], missing: str) -> list[str]:
    lines = []
    for run in runs:
        gone = [str(key) for key in keys if key not in run.tables]
        if gone:
            more = f" and {len(gone) - 3:,} more" if len(gone) > 3 else ""
            lines.append(f"{run.path} has no {', '.join(gone[:3])}{more}")
    if not shared:
        raise InputError(f"the runs have no task and metric in common: {'; '.join(lines)}")
    if missing != "intersect":
        raise InputError(
            f"all runs must have the same tasks and metrics, but {'; '.join(lines)}; choose with "
            f"task and metric, or compare what all have with missing='intersect'"
        )
    return [f"Left out, since {line}" for line in lines]


def _complete(key: Key, runs: list[Run], missing: str, notes: _Notes) -> SegmentStatistics:
    """Return one table of all systems, with the items that all have."""
    tables = []
    for run in runs:
        table, lacking = run.tables[key], run.incomplete.get(key)
        if lacking:
            if missing == "error":
                raise InputError(
                    f"{run.path}, {key}: {lacking}; complete it, or compare what there is with "
                    f"missing='intersect'{_or_available(table)}"
                )
            gaps = _gaps(table)
            # The comparison itself notes the gaps of means that stay.
            is_noted = isinstance(table.metric, Mean) and np.any(gaps)
            if missing == "intersect" or not is_noted:
                notes["incomplete"].append(f"{key}: {lacking} in {run.path}")
            if missing == "intersect":
                table = _whole(key, table, gaps)
        tables.append(table)
    union = {name for run in runs for name in run.tables[key].segment_ids or ()}
    for run, table in zip(runs, tables, strict=True):
        # What a run was never asked is not missing from it.
        if run.is_limited and len(union) > table.n_segments:
            notes["limited"].append(f"{key}: {run.name} was limited to {table.n_segments:,} items")
    asked = [
        set(t.segment_ids or ()) for run, t in zip(runs, tables, strict=True) if run.is_limited
    ]
    try:
        if asked and missing != "intersect":
            only = set.intersection(*asked)
            if not only:
                raise InputError("the runs were limited to different items, and none is in all")
            tables = [_among(table, only) for table in tables]
        tables = with_same_classes(SegmentStatistics.align(*tables, missing=_of_align(missing)))
        whole = SegmentStatistics.join(*tables)
    except InputError as error:
        raise type(error)(f"{key}: {error}") from None
    if len(union) > whole.n_segments:
        left = len(union) - whole.n_segments
        notes["left out"].append(
            f"{key}: {left:,} of {len(union):,} items are left out, which not all have"
        )
    return whole


def _of_align(missing: str) -> str:
    return "intersect" if missing == "intersect" else "error"


def _or_available(table: SegmentStatistics) -> str:
    is_mean = isinstance(table.metric, _AVAILABLE)
    return ", or missing='available' for means of the scores that there are" if is_mean else ""


def _gaps(table: SegmentStatistics) -> NDArray[np.bool_]:
    """Return for which segments a system has no score: its row is zeros, `(N,)`."""
    if not isinstance(table.metric, _AVAILABLE):
        return np.zeros(table.n_segments, dtype=np.bool_)
    return np.asarray(np.any(np.all(table.values == 0, axis=2), axis=0))


def _whole(key: Key, table: SegmentStatistics, gaps: NDArray[np.bool_]) -> SegmentStatistics:
    if np.all(gaps):
        raise InputError(f"{key}: no item has a score of every system")
    return table.select(np.flatnonzero(~gaps).tolist())


def _among(table: SegmentStatistics, ids: set[str]) -> SegmentStatistics:
    return table.select([i for i, name in enumerate(table.segment_ids or ()) if name in ids])


def _same_items(
    task: str, tables: list[SegmentStatistics], missing: str, notes: _Notes
) -> list[SegmentStatistics]:
    """Return tables of several metrics with the items that all of them have."""
    if len({table.segment_ids for table in tables}) < 2:
        return tables
    sizes = ", ".join(f"{table.n_segments:,} of {table.metric.name}" for table in tables)
    if missing != "intersect":
        raise InputError(
            f"{task or 'the metrics'}: there are {sizes}; compare metrics of the same items, or "
            f"what all have with missing='intersect'"
        )
    found = list(SegmentStatistics.align(*tables, missing="intersect"))
    have = f"{found[0].n_segments:,} items have all, of {sizes}"
    notes["metrics"].append(f"{task or 'All metrics'}: {have}")
    return found
