"""The logs that are joined: read, directed, and their systems by names that tell them apart."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from evalstats.checks import label, meant
from evalstats.errors import InputError, InputTypeError
from evalstats.logs.log import Log, Wanted
from evalstats.logs.reading import named, read_all
from evalstats.logs.rows import Key
from evalstats.logs.sources import differing, without_suffix
from evalstats.logs.words import as_directions, matches
from evalstats.text.references import table_columns

#: A log, or where to read one; a frame (pandas, polars, pyarrow) is a table of scores.
OneLog = Log | str | os.PathLike[str] | Any
Logs = OneLog | Sequence[OneLog] | Mapping[str, OneLog]


def wanted_logs(logs: Logs, wanted: Wanted) -> tuple[list[Log], tuple[str, ...]]:
    """Return the logs that have what is wanted, or say that none has; and what is left out."""
    if isinstance(logs, (str, os.PathLike, Log)) or table_columns(logs) is not None:
        logs = [logs]
    if isinstance(logs, Mapping):
        names = [label(name, "names of logs") for name in logs]
        sources = list(logs.values())
    elif isinstance(logs, Sequence):
        names, sources = [""] * len(logs), list(logs)
    else:
        raise InputTypeError(f"logs must be a path, a Log, or several, got {type(logs).__name__}")
    if not sources:
        raise InputError("logs is empty; give at least one")
    parts = list(zip(names, read_all(sources, wanted), strict=True))
    unread = tuple(
        line
        for _, log in parts
        for line in (*log.skipped, *([] if log.rows or log.skipped else [f"all of {log.path}"]))
    )
    return [named(log, name) if name else log for name, log in parts if log.rows], unread


def directed(logs: Sequence[Log], directions: Mapping[str, str] | None) -> list[Log]:
    """Return logs with the directions that the caller gives; each must be of some metric."""
    is_higher = as_directions(directions)
    metrics = [one.key.metric for log in logs for one in log.rows]
    _check_patterns(is_higher, metrics, "directions", "metric ")
    return [log.directed(is_higher) for log in logs]


def named_apart(logs: list[Log]) -> list[Log]:
    """Return logs, those of the same tasks and systems called by what differs in their paths.

    Of ``runs/old/gpt.json`` and ``runs/new/gpt.json``, both of a system "gpt", the systems are
    called "old" and "new".
    """
    having: dict[tuple[str, Key], set[int]] = defaultdict(set)
    for i, log in enumerate(logs):
        for one in log.rows:
            having[one.system, one.key].add(i)
    again = sorted({i for places in having.values() if len(places) > 1 for i in places})
    if not again:
        return logs
    paths = [Path(logs[i].path).absolute().parts for i in again]
    if len(set(paths)) < len(paths):
        first = logs[again[0]]
        raise InputError(
            f"{first.path} is given more than once; name the logs: {{'one': ..., 'two': ...}}"
        )
    apart = list(logs)
    for i, name in zip(again, differing(paths), strict=True):
        short, systems = name.removesuffix(Path(name).name) + without_suffix(name), logs[i].systems
        called = [short if len(systems) == 1 else f"{short}/{system}" for system in systems]
        apart[i] = logs[i].renamed(dict(zip(systems, called, strict=True)))
    return apart


def places_of(logs: Sequence[Log], patterns: tuple[str, ...]) -> dict[str, int]:
    """Return the systems that are wanted, in the order of the patterns, with their places."""
    names = list(dict.fromkeys(name for log in logs for name in log.systems))
    _check_patterns(patterns, names, "systems")
    chosen = [name for pattern in patterns for name in names if matches(name, [pattern])]
    return {name: i for i, name in enumerate(dict.fromkeys(chosen if patterns else names))}


def of_systems(log: Log, names: Container[str]) -> Log:
    """Return the rows of a log that are of these systems, which may be none."""
    return replace(log, rows=tuple(one for one in log.rows if one.system in names))


def _check_patterns(
    patterns: Iterable[str], names: Iterable[str], argument: str, kind: str = ""
) -> None:
    """Raise where a pattern of an argument matches no name; messages call names `kind`."""
    names = dict.fromkeys(names)
    for pattern in patterns:
        if not any(matches(name, [pattern]) for name in names):
            raise InputError(
                f": there is no {kind}{pattern!r}; {meant(pattern, names)}", argument=argument
            )
