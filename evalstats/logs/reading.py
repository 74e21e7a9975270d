"""`read_log`: whose format a file or folder has, and what is in it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from evalstats.checks import also_called, label, listed, meant
from evalstats.errors import InputError, InputTypeError
from evalstats.logs.epochs import as_epochs
from evalstats.logs.formats import FORMATS, arenas, tables
from evalstats.logs.formats.columns import as_columns
from evalstats.logs.formats.format import Format
from evalstats.logs.log import Log, Patterns, Wanted
from evalstats.logs.rows import Rows
from evalstats.logs.sources import Source, check_readable
from evalstats.logs.words import as_directions, first_few
from evalstats.text.frames import table_columns


@also_called(metrics="metric")
def read_log(
    path: Any,
    *,
    task: Patterns = None,
    metric: Patterns = None,
    filter: Patterns = None,
    labels: str | Sequence[str] = (),
    epochs: str = "mean",
    directions: Mapping[str, str] | None = None,
    columns: Mapping[str, str | None] | None = None,
    name: str | None = None,
) -> Log:
    """Read a log of one or several systems, or a table of scores: rows of every item.

    Parameters
    ----------
    path : str or path, or frame
        A file, or the folder that a harness wrote; the format is told by what is in it. See the
        table of formats in the documentation. A frame (pandas, polars, pyarrow) is a table.
    task, metric, filter : str or sequence of str, optional
        Which to read, as shells match file names: ``"mmlu*"``.
    labels : str or sequence of str
        What to keep of each item beside its scores, as the path of keys in the log:
        ``"doc.passage_id"``; for `groups` and `strata`. Tables keep their group columns anyway.
    epochs : {"mean", "runs", "pass^K", "pass@K", "flips", "icc"}
        Several answers to one item are averaged, so that the item is the unit; or they are runs of
        a system (`MeanOfRuns`), whose spread counts as well; or trials of `PassAll`, ``"pass^4"``,
        of `PassAny`, ``"pass@2"``, of `FlipRate`, or of `ICC`, with a score of 1 for a right one.
    directions : mapping of str to {"higher", "lower"}, optional
        What is better under a metric whose name does not say it: ``{"judge": "higher"}``.
    columns : mapping of str to str, optional
        What columns of a table are, where their names do not say it: ``{"mine": "score"}``. Each is
        ``"system"``, ``"segment"``, ``"score"`` (of several columns each is a metric),
        ``"numerator"`` and ``"denominator"``, ``"metric"``, ``"task"``, ``"filter"``, ``"epoch"``,
        ``"label"``, ``"system_score"`` (the scores of the system that the column is called after),
        or None, which leaves it out. Where scores are named no other column is one.
    name : str, optional
        Of the system, in place of the one in the log.

    Returns
    -------
    Log
        Print it: it says what was found, what was left out and why, and whether the scores of the
        log are those of its items.

    Raises
    ------
    InputError
        For what cannot be read, is cut short, has an item twice, or is none of the formats; and
        for a task, metric, filter or label that is not there, with what there is.
    """
    paths = [labels] if isinstance(labels, str) else listed(labels, "labels", "paths of keys")
    wanted = Wanted.of(task, metric, filter)
    wanted = wanted._replace(labels=tuple(paths), columns=as_columns(columns))
    (log,) = read_all([path], wanted)
    log = replace(log, epochs=as_epochs(epochs)).directed(as_directions(directions))
    return log if name is None else named(log, name)


def read_all(logs: Sequence[Any], wanted: Wanted) -> list[Log]:
    """Return what is wanted of each log; all of them together must have it."""
    if wanted.columns and all(isinstance(one, Log) for one in logs):
        raise InputError(
            "is for tables that are still to be read; give it to read_log", argument="columns"
        )
    parts = [one.part(wanted) if isinstance(one, Log) else read_part(one, wanted) for one in logs]
    rows, groups = _joined(parts)
    where = parts[0].path if len(parts) == 1 else "logs"
    try:
        wanted.check(rows, rows, where, groups)
    except InputError:  # To say what there is, everything has to be looked at.
        everything = Wanted(columns=wanted.columns)
        wholes = [one if isinstance(one, Log) else read_part(one, everything) for one in logs]
        there, groups = _joined(wholes)
        wanted.check(rows, there, where, groups)
    _check_labels(rows, wanted.labels, where, any(isinstance(one, Log) for one in logs))
    return parts


def _joined(logs: Sequence[Log]) -> tuple[list[Rows], list[str]]:
    """Return the rows of several logs, and the names of their groups."""
    rows = [row for log in logs for row in log.rows]
    return rows, [name for log in logs for name in log.groups]


def _check_labels(rows: Sequence[Rows], names: Sequence[str], where: str, are_read: bool) -> None:
    """Raise where no item has one of the labels.

    Where logs were read before (`are_read`) the label may have been left out then.
    """
    known = dict.fromkeys(name for one in rows for name in one.items.labels)
    for name in names:
        if name not in known:
            paths = dict.fromkeys(path for one in rows for path in one.items.paths)
            there = meant(name, [*known, *paths]).removeprefix("there are ") or "none"
            more = f"; read_log(..., labels={name!r}) keeps others" if are_read else ""
            raise InputError(f"{where}: the items have no label {name!r}; they have {there}{more}")


def named(log: Log, name: str) -> Log:
    """Return the log of one system under another name."""
    if len(log.systems) > 1:
        raise InputError(
            f"name is for one system, but {log.path} has {len(log.systems)}, which have names"
        )
    return log.renamed({log.systems[0]: label(name, "name")})


def read_part(log: Any, wanted: Wanted) -> Log:
    """Return what is wanted of a path or a frame, which may be nothing."""
    if (columns := table_columns(log)) is not None:
        is_arena = arenas.has_battles([name for name, _ in columns])
        read_frame = arenas.read_frame if is_arena else tables.read_frame
        return read_frame(log, wanted)
    if not isinstance(log, (str, os.PathLike)):
        raise InputTypeError(f"path must be a path or a frame, got {type(log).__name__}")
    if not str(log):
        raise InputError("path is empty; give a file or a folder")
    source = Source(Path(log))
    for kind in FORMATS:
        if kind.is_ours(source):
            return _read_as(kind, source, str(log), wanted)
    check_readable(source.path)
    names = ", ".join(kind.name for kind in FORMATS)
    scores = [path for path in source.files if Source(path).suffix in (".csv", ".tsv", ".jsonl")]
    more = f"; a table is a file, give {scores[0]}" if scores else ""
    raise InputError(f"{log} is none of the formats that can be read: {names}{more}")


def _read_as(kind: Format, source: Source, path: str, wanted: Wanted) -> Log:
    """Return what is wanted of a file or folder of this format; messages call it `path`."""
    if wanted.columns and kind is not tables.TABLE:
        raise InputError(
            f"is for tables of scores, but {path} is a log of {kind.name}", argument="columns"
        )
    try:
        log = kind.read(source, wanted)
    except InputError as error:
        if path in str(error):
            raise
        raise error.within(path) from None
    # What stands where another kind of value should be has no message of its own.
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise InputError(
            f"{path} is not as logs of {kind.name} are ({type(error).__name__}: {error}); "
            f"write it again, or report it if it is whole"
        ) from error
    if not log.rows and wanted.is_all:
        why = first_few(log.skipped) or "no item has a score"
        raise InputError(f"{path} holds no scores that can be read as {kind.name}: {why}")
    return log
