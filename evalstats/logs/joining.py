"""Logs side by side: names of systems, the policy for what is missing, and what to say of it."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evalstats.checks import choice, label, meant
from evalstats.errors import Argument, InputError, InputTypeError
from evalstats.logs.files import without_suffix
from evalstats.logs.log import Log, Patterns, Wanted, as_patterns, by_key, lacking
from evalstats.logs.pivot import Pivot, pivoted
from evalstats.logs.reading import EPOCHS, named, read_all
from evalstats.logs.rows import Key, Rows, natural
from evalstats.logs.words import as_directions, matches, some
from evalstats.metrics import Mean, Ratio
from evalstats.statistics.segments import SegmentStatistics
from evalstats.text.frames import columns_of

#: A log, or where to read one; a frame (pandas, polars, pyarrow) is a table of scores.
OneLog = Log | str | os.PathLike[str] | Any
Logs = OneLog | Sequence[OneLog] | Mapping[str, OneLog]

MISSING = ("error", "intersect", "available")
#: Labels that say what an item asks, whatever its task.
_OF_ITEMS = ("doc_hash", "item_hash", "sample_hash")


class _Note(NamedTuple):
    """One line that is said; all lines of one kind and ending make one note."""

    kind: str
    line: str
    ending: str = "."


class Joined(NamedTuple):
    """Tables of each task, of the same segments; notes; the system of each path that has one."""

    tasks: dict[str, list[SegmentStatistics]]
    notes: list[str]
    paths: dict[str, str]


def joined(
    logs: Logs,
    *,
    task: Patterns = None,
    metric: Patterns = None,
    filter: Patterns = None,
    systems: Patterns = None,
    labels: Sequence[str | None] = (),
    missing: str = "error",
    epochs: str | None = None,
    directions: Mapping[str, str] | None = None,
) -> Joined:
    """Return the tables of all systems by task, joined by id; parameters as in `compare_logs`."""
    choice(missing, MISSING, "missing")
    wanted = Wanted.of(task, metric, filter)._replace(labels=tuple(name for name in labels if name))
    found = _named_apart(_read(logs, wanted))
    given = as_directions(directions)
    metrics = [one.key.metric for log in found for one in log.rows]
    _check_patterns(given, metrics, "directions", "metric ")
    found = [log.directed(given) for log in found]
    epochs = found[0].epochs if epochs is None else choice(epochs, EPOCHS, "epochs")
    names = _chosen(found, as_patterns(systems, "systems"))
    found = [
        replace(log, rows=tuple(one for one in log.rows if one.system in names)) for log in found
    ]
    rows = [one for log in found for one in log.rows]
    by = by_key(sorted(rows, key=lambda one: (natural(one.key.task), names[one.system])))
    used = [log for log in found if log.rows]
    notes = [_Note("scores", line) for log in used for line in log.disagreements]
    notes += [
        _Note(f"of {log.path}", f"Left out of {log.path}: {some(log.skipped)}")
        for log in used
        if log.skipped
    ]
    shared = {key: own for key, own in by.items() if len(own) == len(names)}
    if len(shared) < len(by):
        notes += [_Note("unshared", line) for line in _unshared(by, shared, names, missing)]
    whole = {
        key: _complete(pivoted(own, epochs == "runs"), missing, notes)
        for key, own in shared.items()
    }
    tasks = _by_task(whole)
    for name, own_tables in tasks.items():
        tasks[name] = _same_items(name, own_tables, missing, notes)
    paths = {log.path: log.systems[0] for log in found if len(log.systems) == 1}
    return Joined(tasks, _said(notes) + asked_twice(tasks), paths)


def _said(notes: Iterable[_Note]) -> list[str]:
    """Return one sentence for each kind and ending of notes, in order of their first lines."""
    lines: dict[tuple[str, str], list[str]] = {}
    for note in notes:
        lines.setdefault((note.kind, note.ending), []).append(note.line)
    return [f"{some(own)}{ending}" for (_, ending), own in lines.items()]


def _read(logs: Logs, wanted: Wanted) -> list[Log]:
    """Return the logs that have what is wanted, or say that none has."""
    if isinstance(logs, (str, os.PathLike, Log)) or columns_of(logs) is not None:
        logs = [logs]
    if isinstance(logs, Mapping):
        given = [(label(name, "names of logs"), log) for name, log in logs.items()]
    elif isinstance(logs, Sequence):
        given = [("", log) for log in logs]
    else:
        raise InputTypeError(f"logs must be a path, a Log, or several, got {type(logs).__name__}")
    if not given:
        raise InputError("logs is empty; give at least one")
    parts = read_all([one for _, one in given], wanted)
    found = zip(given, parts, strict=True)
    return [named(log, name) if name else log for (name, _), log in found if log.rows]


def _check_patterns(
    patterns: Iterable[str], names: Iterable[str], argument: str, kind: str = ""
) -> None:
    names = dict.fromkeys(names)
    for pattern in patterns:
        if not any(matches(name, [pattern]) for name in names):
            raise InputError(
                f": there is no {kind}{pattern!r}; {meant(pattern, names)}", argument=argument
            )


def _named_apart(logs: list[Log]) -> list[Log]:
    """Return logs, those of the same tasks and systems called by what differs in their paths."""
    having: dict[tuple[str, Key], set[int]] = defaultdict(set)
    for i, log in enumerate(logs):
        for one in log.rows:
            having[one.system, one.key].add(i)
    again = sorted({i for own in having.values() if len(own) > 1 for i in own})
    if not again:
        return logs
    paths = {i: Path(logs[i].path).absolute().parts for i in again}
    if len(set(paths.values())) < len(paths):
        first = logs[again[0]]
        raise InputError(
            f"{first.path} is given more than once; name the logs: {{'one': ..., 'two': ...}}"
        )
    given = list(paths.values())
    shared = _n_alike(given)
    ends = min(_n_alike([p[::-1] for p in given]), min(map(len, given)) - shared)
    own = {i: "/".join(p[shared : len(p) - ends]) for i, p in paths.items()}
    if not all(own.values()) or len(set(own.values())) < len(own):
        own = {i: "/".join(p[shared:]) for i, p in paths.items()}
    found = list(logs)
    for i, name in own.items():
        short, systems = name.removesuffix(Path(name).name) + without_suffix(name), logs[i].systems
        called = [short if len(systems) == 1 else f"{short}/{system}" for system in systems]
        found[i] = logs[i].renamed(dict(zip(systems, called, strict=True)))
    return found


def _n_alike(paths: list[tuple[str, ...]]) -> int:
    """Return with how many equal parts all paths begin."""
    return sum(1 for _ in takewhile(lambda parts: len(set(parts)) == 1, zip(*paths, strict=False)))


def _chosen(logs: Sequence[Log], patterns: tuple[str, ...]) -> dict[str, int]:
    """Return the systems that are wanted, in the order of the patterns, with their places."""
    names = list(dict.fromkeys(name for log in logs for name in log.systems))
    _check_patterns(patterns, names, "systems")
    chosen = [name for pattern in patterns for name in names if matches(name, [pattern])]
    return {name: i for i, name in enumerate(dict.fromkeys(chosen if patterns else names))}


def _unshared(
    by: Mapping[Key, list[Rows]], shared: Mapping[Key, list[Rows]], names: Mapping[str, int],
    missing: str,
) -> list[str]:  # fmt: skip
    """Return what not all systems have, or refuse it."""
    there = {(key, one.system) for key, own in by.items() for one in own}
    gone = {name: [str(key) for key in by if (key, name) not in there] for name in names}
    lines = [f"{name} has no {some(own, ', ')}" for name, own in gone.items() if own]
    if not shared:
        raise InputError(f"the systems have no task and metric in common: {some(lines)}")
    if missing != "intersect":
        raise InputError(
            f"all systems must have the same tasks and metrics, but {some(lines)}; choose with "
            f"task, metric or systems, or compare what all have with ",
            Argument("missing", "intersect"),
        )
    return [f"Left out, since {line}" for line in lines]


def _complete(pivot: Pivot, missing: str, notes: list[_Note]) -> SegmentStatistics:
    """Return one table of all systems with the items that all have, or refuse what is missing."""
    key, rows = pivot.key, [part.rows for part in pivot.parts]
    for path in dict.fromkeys(one.path for one in rows):
        what = lacking([one for one in rows if one.path == path])
        if what and missing == "error":
            raise InputError(
                f"{path}, {key}: {what}; complete it, or compare what there is with ",
                Argument("missing", "intersect"),
                ", or means with ",
                Argument("missing", "available"),
            )
        # The comparison itself notes the gaps of means that stay.
        is_noted = isinstance(rows[0].metric, Mean) and bool(np.any(pivot.is_gone))
        if what and (missing == "intersect" or not is_noted):
            notes.append(_Note("incomplete", f"{key}: {what} in {path}"))
    kept = _there(pivot, missing, notes)
    if missing == "intersect":
        kept &= ~pivot.is_gone.any(axis=0)
        if not np.any(kept):
            raise InputError(f"{key}: no item has a score of every system")
    if not np.all(kept):
        n = f"{int(np.sum(~kept)):,} of {len(kept):,}"
        notes.append(_Note("left out", f"{key}: {n} items are left out, which not all have"))
    n_answers = [n for part in pivot.parts for n in part.n_answers]
    if max(n_answers) > 1:
        several = "-".join(map(str, dict.fromkeys((min(n_answers), max(n_answers)))))
        how = "averaged, so that the item is the unit (epochs='runs' counts their spread)"
        if pivot.parts[0].n_runs > 1:
            how = "as runs of the system, whose spread counts"
        line = f"{key.part or key}: {len(pivot.ids):,} items, {several} answers each"
        notes.append(_Note("answers", line, f", {how}."))
    return pivot.table(kept)


def _there(pivot: Pivot, missing: str, notes: list[_Note]) -> NDArray[np.bool_]:
    """Return which items are in the logs of all systems, or refuse those that are not, `(N,)`."""
    key, n = pivot.key, len(pivot.ids)
    systems = [part.rows.system for part in pivot.parts]
    asked = np.ones(n, dtype=np.bool_)
    for part, there in zip(pivot.parts, pivot.is_there, strict=True):
        # What a system was never asked is not missing from it.
        if part.rows.is_limited and not np.all(there):
            asked &= there
            n_own = f"{len(part.ids):,} items"
            notes.append(_Note("limited", f"{key}: {part.rows.system} was limited to {n_own}"))
    if not np.any(asked):
        raise InputError(f"{key}: the systems were limited to different items, and none is in all")
    for system, there in zip(systems, pivot.is_there, strict=True):
        gone = np.flatnonzero(asked & ~there)
        if len(gone) and missing != "intersect":
            raise InputError(
                f"{key}: all systems must have the same items: {len(gone):,} of "
                f"{int(np.sum(asked)):,} are not in that of {system} "
                f"({', '.join(repr(pivot.ids[i]) for i in gone[:3])}); complete it, or compare "
                f"what all have with ",
                Argument("missing", "intersect"),
            )
    shared = np.asarray(pivot.is_there.all(axis=0))
    if not np.any(shared):
        firsts = (f"{part.ids[0]!r} for {part.rows.system}" for part in pivot.parts)
        raise InputError(
            f"{key}: no item is in the logs of all systems: ids begin with {', '.join(firsts)}"
        )
    return shared


def _by_task(found: Mapping[Key, SegmentStatistics]) -> dict[str, list[SegmentStatistics]]:
    """Return the tables of each task; several filters of the same answers are its metrics.

    A total over tasks would count such answers twice; then filters are metrics everywhere.
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
            tasks.setdefault(key.task, []).append(_with_filter(table, key))
        else:
            tasks.setdefault(key.part, []).append(table)
    for name, own in tasks.items():
        (metric, n), *_ = Counter(table.metric.name for table in own).most_common(1)
        if n > 1:
            raise InputError(f"{name} has {metric} of the same items twice; choose one filter")
    return {name: tasks[name] for name in sorted(tasks, key=natural)}


def _with_filter(table: SegmentStatistics, key: Key) -> SegmentStatistics:
    """Return a table whose metric has the filter in its name, where it has a name of its own."""
    if not key.has_filter or not isinstance(table.metric, (Mean, Ratio)):
        return table
    metric = replace(table.metric, name=f"{table.metric.name} ({key.filter})")
    return replace(table, metric=metric, metric_signature="")


def _same_items(
    task: str, tables: list[SegmentStatistics], missing: str, notes: list[_Note]
) -> list[SegmentStatistics]:
    """Return tables of several metrics with the items that all of them have."""
    if len({table.segment_ids for table in tables}) < 2:
        return tables
    sizes = ", ".join(f"{table.n_segments:,} of {table.metric.name}" for table in tables)
    if missing != "intersect":
        raise InputError(
            f"{task or 'the metrics'}: there are {sizes}; compare metrics of the same items, or "
            f"what all have with ",
            Argument("missing", "intersect"),
        )
    found = list(SegmentStatistics.align(*tables, missing="intersect"))
    have = f"{found[0].n_segments:,} items have all, of {sizes}"
    notes.append(_Note("metrics", f"{task or 'All metrics'}: {have}"))
    return found


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
    return [f"{some(lines)}: a total takes them for different ones, so that it looks too sure."]
