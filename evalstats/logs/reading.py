"""`read_log`: whose format a file or folder has, and what is in it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from evalstats.checks import also_called, choice, label, listed
from evalstats.errors import InputError, InputTypeError
from evalstats.logs import (
    comet,
    every_eval_ever,
    helm,
    inspect,
    lm_eval,
    meeteval,
    mt_metrics_eval,
    tables,
    wmt,
)
from evalstats.logs.files import Source, check_readable
from evalstats.logs.log import Log, Patterns, Wanted
from evalstats.logs.words import as_directions, some
from evalstats.text.frames import columns_of

#: In the order in which they are asked: NAME, `is_ours(source)` and `read(source, wanted)`.
FORMATS: tuple[Any, ...] = (
    lm_eval, inspect, helm, every_eval_ever, comet, mt_metrics_eval, meeteval, wmt, tables,
)  # fmt: skip
EPOCHS = ("mean", "runs")


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
    epochs : {"mean", "runs"}
        Several answers to one item are averaged, so that the item is the unit; or they are runs of
        a system (`MeanOfRuns`), whose spread counts as well.
    directions : mapping of str to {"higher", "lower"}, optional
        What is better under a metric whose name does not say it: ``{"judge": "higher"}``.
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
    wanted = Wanted.of(task, metric, filter)
    wishes = [labels] if isinstance(labels, str) else listed(labels, "labels", "paths of keys")
    (log,) = read_all([path], wanted._replace(labels=tuple(wishes)))
    log = replace(log, epochs=choice(epochs, EPOCHS, "epochs")).directed(as_directions(directions))
    return log if name is None else named(log, name)


def read_all(logs: Sequence[Any], wanted: Wanted) -> list[Log]:
    """Return what is wanted of each log; all of them together must have it."""
    found = [one.part(wanted) if isinstance(one, Log) else read_part(one, wanted) for one in logs]
    rows = [row for log in found for row in log.rows]
    where = found[0].path if len(found) == 1 else "logs"
    try:
        wanted.check(rows, rows, where)
    except InputError:  # To say what there is, everything has to be looked at.
        wholes = [one if isinstance(one, Log) else read_part(one, Wanted()) for one in logs]
        wanted.check(rows, [row for log in wholes for row in log.rows], where)
    known = dict.fromkeys(name for one in rows for name in one.items.labels)
    for wish in wanted.labels:
        if wish not in known:
            there = ", ".join(known) or "none"
            kept = any(isinstance(one, Log) for one in logs)
            more = f"; read_log(..., labels={wish!r}) keeps others" if kept else ""
            raise InputError(f"{where}: the items have no label {wish!r}; they have {there}{more}")
    return found


def named(log: Log, name: str) -> Log:
    """Return the log of one system under another name."""
    if len(log.systems) > 1:
        raise InputError(
            f"name is for one system, but {log.path} has {len(log.systems)}, which have names"
        )
    return log.renamed({log.systems[0]: label(name, "name")})


def read_part(given: Any, wanted: Wanted) -> Log:
    """Return what is wanted of a log, which may be nothing."""
    if columns_of(given) is not None:
        return tables.read_frame(given, wanted)
    if not isinstance(given, (str, os.PathLike)):
        raise InputTypeError(f"path must be a path or a frame, got {type(given).__name__}")
    if not str(given):
        raise InputError("path is empty; give a file or a folder")
    source = Source(Path(given))
    for kind in FORMATS:
        if kind.is_ours(source):
            try:
                log: Log = kind.read(source, wanted)
            except InputError as error:
                if str(given) in str(error):
                    raise
                raise error.within(str(given)) from None
            # What stands where another kind of value should be has no message of its own.
            except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
                raise InputError(
                    f"{given} is not as logs of {kind.NAME} are ({type(error).__name__}: {error}); "
                    f"write it again, or report it if it is whole"
                ) from error
            if not log.rows and wanted.is_all:
                why = some(log.skipped) or "no item has a score"
                raise InputError(f"{given} holds no scores that can be read as {kind.NAME}: {why}")
            return log
    check_readable(source.path)
    names = ", ".join(kind.NAME for kind in FORMATS)
    scores = [path for path in source.files if Source(path).suffix in (".csv", ".tsv", ".jsonl")]
    more = f"; a table is a file, give {scores[0]}" if scores else ""
    raise InputError(f"{given} is none of the formats that can be read: {names}{more}")
