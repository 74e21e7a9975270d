"""`read_log`: recognise the format of a file or folder, and read it; also for several logs."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from evalstats.checks import also_called, label, listed, meant
from evalstats.designs.arenas.battles import columns_of_battles
from evalstats.errors import InputError, InputTypeError
from evalstats.logs.formats import FORMATS, arenas, tables
from evalstats.logs.formats.roles import as_columns
from evalstats.logs.log import Log, Patterns, Wanted
from evalstats.logs.pivot import as_trials
from evalstats.logs.rows import Items, Key, Rows, as_directions, check_patterns, matches, natural
from evalstats.logs.sources import Source, differing, readable, without_suffix
from evalstats.metrics import Mean
from evalstats.metrics.directions import direction
from evalstats.results.records import first_few
from evalstats.results.records import listed as in_words
from evalstats.statistics.files import apart
from evalstats.text.references import table_columns

#: A log, or its path; a frame (pandas, polars, pyarrow) is a table of scores.
OneLog = Log | str | os.PathLike[str] | Any
Logs = OneLog | Sequence[OneLog] | Mapping[str, OneLog | Sequence[OneLog]]
#: Number of files of a folder to examine for an error message.
_LOOKED_AT = 20


@also_called(metrics="metric")
def read_log(
    path: Any,
    *,
    task: Patterns = None,
    metric: Patterns = None,
    filter: Patterns = None,
    labels: str | Sequence[str] = (),
    epochs: str | None = None,
    directions: Mapping[str, str] | None = None,
    columns: Mapping[str, str | None] | None = None,
    name: str | None = None,
) -> Log:
    """Read a log of one or several systems, or a table of scores: rows of every item.

    Parameters
    ----------
    path : str or path, or frame
        A file, or the folder that a harness wrote; the format is recognised from the contents. See
        the table of formats in the documentation. A frame (pandas, polars, pyarrow) is a table.
    task, metric, filter : str or sequence of str, optional
        What to read, with shell patterns: ``"mmlu*"``.
    labels : str or sequence of str
        Labels to keep for each item, as the path of keys in the log, ``"doc.passage_id"``, for
        `groups` and `strata`. Tables always keep their group columns.
    epochs : {"mean", "runs", "pass^K", "pass@K", "flips"}, optional
        Several answers to one item are averaged, with the item as the unit; or they are runs of a
        system (`MeanOfRuns`), whose spread is included; or trials of `PassAll`, ``"pass^4"``, of
        `PassAny`, ``"pass@2"``, or of `FlipRate`, with a score of 1 for a right answer. By default
        answers numbered by a column `seed` or `run` are runs, if every item has all of them, and
        others (`epoch`, `trial`, `repeat`) are averaged.
    directions : mapping of str to {"higher", "lower"}, optional
        The better direction of a metric, if its name does not show it: ``{"judge": "higher"}``.
    columns : mapping of str to str, optional
        The roles of columns of a table, if their names do not show them: ``{"mine": "score"}``.
        Each is ``"system"``, ``"segment"``, ``"score"`` (each of several columns is a metric),
        ``"numerator"`` and ``"denominator"``, ``"metric"``, ``"task"``, ``"filter"``, ``"epoch"``,
        ``"run"``, ``"label"``, ``"system_score"`` (the scores of the system that the column is
        named after), or None, which leaves it out. If you name columns of scores, no others are
        used. For battles ``"model_a"``, ``"model_b"`` and ``"winner"``.
    name : str, optional
        Name of the system, instead of the one in the log.

    Returns
    -------
    Log
        Print it to see the tables, what was left out and why, and whether the scores of the log
        agree with its items.

    Raises
    ------
    InputError
        If the log cannot be read, is truncated, has an item twice, or has an unknown format; and
        for a task, metric, filter or label that does not exist, with a list of existing ones.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> path, rows = Path(mkdtemp(), "judge.csv"), "id,system,score a,A,3 a,B,4 b,A,4 b,B,5"
    >>> _ = path.write_text(rows.replace(" ", chr(10)))
    >>> len(read_log(path).rows)
    2
    """
    paths = [labels] if isinstance(labels, str) else listed(labels, "labels", "paths of keys")
    wanted = Wanted.of(task, metric, filter, tuple(paths), as_columns(columns))
    (log,) = _read_all([path], wanted)
    if epochs is not None:
        as_trials(epochs)
    log = replace(log, epochs=epochs).directed(as_directions(directions))
    return log if name is None else _named(log, name)


def _read_all(logs: Sequence[Any], wanted: Wanted) -> list[Log]:
    """Return the requested rows of each log; raise if no log has them."""
    are_read = [isinstance(one, Log) for one in logs]
    if wanted.columns and all(are_read):
        raise InputError(
            "applies only to tables that have not been read yet; pass it to read_log",
            argument="columns",
        )
    parts = [_read(one, wanted) for one in logs]
    rows = [row for log in parts for row in log.rows]
    where = parts[0].path if len(parts) == 1 else "logs"
    try:
        wanted.check(rows, rows, where, [name for log in parts for name in log.groups])
    except InputError:  # For the message, everything has to be read.
        everything = wanted._replace(task=(), metric=(), filter=(), labels=())
        wholes = [_read(one, everything) for one in logs]
        there = [row for log in wholes for row in log.rows]
        wanted.check(rows, there, where, [name for log in wholes for name in log.groups])
    known = dict.fromkeys(name for one in rows for name in one.items.labels)
    for name in wanted.labels:
        if name not in known:
            paths = dict.fromkeys(path for one in rows for path in one.items.paths)
            labels = meant(name, [*known, *paths])
            # A log that was read before does not keep other labels.
            more = (
                f"; to keep other labels, use read_log(..., labels={name!r})"
                if any(are_read)
                else ""
            )
            raise InputError(f"{where}: the items have no label {name!r}; {labels}{more}")
    return parts


def _read(log: Any, wanted: Wanted) -> Log:
    """Return the requested rows of a path, a frame or a log, which may be none."""
    if isinstance(log, Log):
        return log.part(wanted)
    if (columns := table_columns(log)) is not None:
        names = [name for name, _ in columns]
        is_arena = columns_of_battles(names) is not None or arenas.are_named(wanted.columns)
        return arenas.read_frame(log, wanted) if is_arena else tables.read_frame(log, wanted)
    if not isinstance(log, (str, os.PathLike)):
        raise InputTypeError(f"path must be a path or a data frame, got {type(log).__name__}")
    if not str(log):
        raise InputError("path is empty; pass a file or a folder")
    source, path = Source(Path(log)), str(log)
    kind = next((one for one in FORMATS if one.is_ours(source)), None)
    if kind in (None, tables.TABLE) and arenas.are_named(wanted.columns):
        kind = arenas.ARENA
    if kind is None:
        raise _unknown(path, source)
    if wanted.columns and kind not in (tables.TABLE, arenas.ARENA):
        raise InputError(
            f"applies only to tables of scores, but {path} is a log of {kind.name}",
            argument="columns",
        )
    try:
        whole = kind.read(source, wanted)
    except InputError as error:
        if path in str(error):
            raise
        raise error.within(path) from None
    # Values of a wrong kind have no message of their own.
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise InputError(
            f"{path} does not have the structure of {kind.name} ({type(error).__name__}: "
            f"{error}); write the file again, or report this if the file is complete"
        ) from error
    if not whole.rows and not any(wanted[:3]):
        why = first_few(whole.skipped) or "no item has a score"
        raise InputError(f"{path} is read as {kind.name}, but has no valid scores ({why})")
    return whole


def _unknown(path: str, source: Source) -> InputError:
    """Return the error about a file or folder of no format."""
    if source.path.is_file():
        # For example a file with compression other than gzip.
        with readable(source.path) as file:
            file.read(1)
    elif not source.files:
        return InputError(f"{path} is a folder without files")
    for part in map(Source, source.files[:_LOOKED_AT] if source.path.is_dir() else ()):
        # Some formats are only read from single files, because a folder does not identify systems.
        if inner := next((one for one in FORMATS if one.is_ours(part)), None):
            is_table = inner == tables.TABLE
            what = "tables" if is_table else f"logs of {inner.name}"
            whose = "each counts as one system, unless it has columns 'system' and 'task'"
            return InputError(
                f"{path} is a folder; pass {what} as files, such as "
                f"{part.path}{f'; {whose}' if is_table else ''}"
            )
    formats = in_words(one.name for one in FORMATS)
    return InputError(f"the format of {path} is unknown; evalstats reads {formats}")


def _named(log: Log, name: str) -> Log:
    """Return the log of one system under another name."""
    if len(log.systems) > 1:
        raise InputError(
            f"name applies only to a log with one system, but {log.path} has {len(log.systems)}, "
            "which already have names"
        )
    return log.renamed({log.systems[0]: label(name, "name")})


def read_several(logs: Logs, wanted: Wanted) -> tuple[list[Log], tuple[str, ...]]:
    """Return the logs with requested rows, or raise if there are none; and what is left out."""
    if isinstance(logs, (str, os.PathLike, Log)) or table_columns(logs) is not None:
        logs = [logs]
    if isinstance(logs, Mapping):
        by_name = {
            label(name, "names of logs"): (
                value
                if isinstance(value, (list, tuple)) and table_columns(value) is None
                else [value]
            )
            for name, value in logs.items()
        }
        names = [name for name, runs in by_name.items() for _ in runs]
        sources = list(chain.from_iterable(by_name.values()))
    elif isinstance(logs, Sequence):
        names, sources = [""] * len(logs), list(logs)
    else:
        raise InputTypeError(
            f"logs must be a path or a Log, or several of them, got {type(logs).__name__}"
        )
    if not sources:
        raise InputError("logs is empty; pass at least one log")
    wanted = wanted._replace(are_files=len(sources) > 1)
    parts = list(zip(names, _read_all(sources, wanted), strict=True))
    left_out = tuple(
        line
        for _, log in parts
        for line in (*log.skipped, *([] if log.rows or log.skipped else [f"all of {log.path}"]))
    )
    given = [name for name, log in parts if log.rows]
    kept = of_metrics([log for _, log in parts if log.rows])
    named = [_named(log, name) if name else log for name, log in zip(given, kept, strict=True)]
    runs = {name: [log for log, n in zip(named, given, strict=True) if n == name] for name in given}
    return (list(map(as_runs, runs.values())) if all(given) else named), left_out


def as_runs(logs: Sequence[Log]) -> Log:
    """Return the log of one system from logs that each have one run of it."""
    if len(logs) == 1:
        return logs[0]
    if len({log.path for log in logs}) < len(logs):
        raise InputError(
            f"{logs[0].path} is passed more than once; pass a different log for each run"
        )
    by_key = [{one.key: one for one in log.rows} for log in logs]
    rows = []
    for key in dict.fromkeys(chain.from_iterable(by_key)):
        if gone := [log.path for log, known in zip(logs, by_key, strict=True) if key not in known]:
            on = f" on {key.part!r}" if key.part else ""
            said = f"{gone[0]} has no {key.metric} scores{on}, but other runs of the system do"
            raise InputError(said)
        parts = [known[key] for known in by_key]
        if again := [part.path for part in parts if len(part.items.epochs)]:
            raise InputError(f"{again[0]} has several answers per item; pass it as a single log")
        rows.append(_run_after_run(parts))
    return replace(logs[0], rows=tuple(rows), group_scores={}, skipped=())


def _run_after_run(parts: Sequence[Rows], *, are_runs: bool = True) -> Rows:
    """Return the rows of several runs on one task as one, with the numbers of the runs."""
    first, all_items = parts[0], [part.items for part in parts]
    sizes = [len(items.ids) for items in all_items]
    have_common = len(set().union(*(items.ids for items in all_items))) < sum(sizes)

    def together(of_runs: Sequence[Mapping[str, tuple[str, ...]]]) -> dict[str, list[str]]:
        shared = [name for name in of_runs[0] if all(name in known for known in of_runs)]
        return {name: [x for known in of_runs for x in known[name]] for name in shared}

    items = Items.of(
        first.path,
        [name for items in all_items for name in items.ids],
        together([items.labels for items in all_items]),
        # Parts without a common item are one run.
        np.repeat(range(len(parts)), sizes).tolist() if have_common else (),
        together([items.texts for items in all_items]),
        first.items.paths,
    )
    marks = [
        x.is_failed if x.is_failed is not None else np.zeros(len(x.values), bool) for x in parts
    ]
    is_failed = np.concatenate(marks)[items.order]
    return replace(
        first,
        items=replace(items, are_runs=are_runs),
        values=np.concatenate([part.values for part in parts])[items.order],
        reported=None,
        lacking="; ".join(dict.fromkeys(part.lacking for part in parts if part.lacking)),
        is_failed=is_failed if np.any(is_failed) else None,
        failed="; ".join(part.failed for part in parts if part.failed),
        is_absent=None,
        run="",
    )


def of_runs(logs: list[Log]) -> list[Log]:
    """Return logs; the rows of a system in several tables are its runs, if a column numbers them.

    For example one table per seed, each with the columns `model` and `seed`.
    """
    parts: dict[tuple[str, Key], list[Rows]] = defaultdict(list)
    for one in chain.from_iterable(log.rows for log in logs):
        parts[one.system, one.key].append(one.without_absent(keep_items=False))
    whole: dict[tuple[str, Key], Rows] = {}
    for place, rows in parts.items():
        runs = {one.run for one in rows if not one.is_column}
        if 1 < len(rows) == len(runs) and "" not in runs:
            rows.sort(key=lambda one: natural(one.run))
            whole[place] = _run_after_run(rows, are_runs=rows[0].items.are_runs)
    rest = [log.less(lambda one: (one.system, one.key) in whole) for log in logs]
    rest[0] = replace(rest[0], rows=(*rest[0].rows, *whole.values()))
    return [log for log in rest if log.rows]


def of_metrics(logs: list[Log]) -> list[Log]:
    """Return logs; if tables share columns of scores, tables are systems and columns metrics."""
    wide = [log for log in logs if all(one.is_column for one in log.rows)]
    names = Counter(name for log in wide for name in log.systems)
    again = {name for name, n in names.items() if n > 1}
    are_metrics = [log in wide and not again.isdisjoint(log.systems) for log in logs]
    return [
        replace(log, rows=tuple(map(_as_metric, log.rows))) if are else log
        for log, are in zip(logs, are_metrics, strict=True)
    ]


def _as_metric(one: Rows) -> Rows:
    """Return the scores of a column read as a system as scores of a metric."""
    known = direction(one.system)
    return replace(
        one,
        key=one.key._replace(metric=one.system),
        system=without_suffix(one.path),
        metric=Mean(one.system, known is not False),
        is_directed=known is not None,
        is_column=False,
    )


def distinguished(logs: list[Log]) -> list[Log]:
    """Return logs; equal systems on equal tasks are named by the difference of their paths.

    For ``runs/old/gpt.json`` and ``runs/new/gpt.json``, both with a system "gpt", the systems are
    named "old" and "new".
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
            f"{first.path} is passed more than once; name the logs: {{'one': ..., 'two': ...}}"
        )
    renamed = list(logs)
    for i, name in zip(again, differing(paths), strict=True):
        short, systems = name.removesuffix(Path(name).name) + without_suffix(name), logs[i].systems
        called = [short if len(systems) == 1 else f"{short}/{system}" for system in systems]
        renamed[i] = logs[i].renamed(dict(zip(systems, called, strict=True)))
    return renamed


def told_apart(logs: list[Log]) -> list[Log]:
    """Return logs; systems named after their files get the difference of these names."""
    of_files = {log.systems[0] for log in logs if log.systems == (without_suffix(log.path),)}
    called = dict(zip(sorted(of_files), apart(sorted(of_files)), strict=True))
    others = {name for log in logs for name in log.systems} - of_files
    if not others.isdisjoint(called.values()):
        return logs
    return [log.renamed(called) for log in logs]


def places_of(logs: Sequence[Log], patterns: tuple[str, ...]) -> dict[str, int]:
    """Return the requested systems, in the order of the patterns, with their places."""
    names = list(dict.fromkeys(name for log in logs for name in log.systems))
    check_patterns(patterns, names, "system")
    chosen = [name for pattern in patterns for name in names if matches(name, [pattern])]
    return {name: i for i, name in enumerate(dict.fromkeys(chosen if patterns else names))}
