"""`read_run`: whose format a file or folder has, and what is in it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from evalstats.checks import also_called, choice, label, listed
from evalstats.errors import InputError, InputTypeError
from evalstats.runs import (
    comet,
    every_eval_ever,
    helm,
    inspect_ai,
    lm_eval,
    meeteval,
    mt_metrics_eval,
    tidy,
)
from evalstats.runs.run import Patterns, Run, as_patterns
from evalstats.runs.sources import Source
from evalstats.runs.wanted import Wanted
from evalstats.text.frames import columns_of


class _Format(Protocol):
    """What every format's file has."""

    @property
    def NAME(self) -> str:  # noqa: N802
        """What messages and tables call it."""

    def is_ours(self, source: Source) -> bool:
        """Return whether a file or folder has this format; looks at little of it."""

    def read(self, source: Source, wanted: Wanted) -> Run:
        """Return what is in it."""


#: In the order in which they are asked.
FORMATS: tuple[_Format, ...] = (
    lm_eval,
    inspect_ai,
    helm,
    every_eval_ever,
    comet,
    mt_metrics_eval,
    meeteval,
    tidy,
)


@also_called(metrics="metric")
def read_run(
    path: Any,
    *,
    task: Patterns = None,
    metric: Patterns = None,
    filter: Patterns = None,
    labels: str | Sequence[str] = (),
    epochs: str = "average",
    name: str | None = None,
) -> Run:
    """Read the log of a run, or a table of scores, as statistics of every item.

    Parameters
    ----------
    path : str or path, or frame
        A file, or the folder that a harness wrote; the format is told by what is in it. See the
        table of formats in the documentation. A frame of pandas or polars is a table of scores.
    task, metric, filter : str or sequence of str, optional
        Which to read, as shells match file names: ``"mmlu*"``.
    labels : str or sequence of str
        What to keep of each item beside its scores, as the path of keys in the log:
        ``"doc.passage_id"``; for `groups` and `strata`. Tables keep their group columns anyway.
    epochs : {"average", "runs"}
        Several answers to one question are averaged, so that the question is the unit; or they are
        runs of a system (`MeanOfRuns`), whose spread counts as well.
    name : str, optional
        Of the system, in place of the one in the log.

    Returns
    -------
    Run
        Print it: it says what was found, what was left out and why, and whether the scores of the
        log are those of its items.

    Raises
    ------
    InputError
        For what cannot be read, is cut short, has an item twice, or is none of the formats.
    """
    wanted = Wanted(
        as_patterns(task, "task"),
        as_patterns(metric, "metric"),
        as_patterns(filter, "filter"),
        (labels,) if isinstance(labels, str) else tuple(listed(labels, "labels", "paths of keys")),
        choice(epochs, ("average", "runs"), "epochs") == "runs",
    )
    run = _read(path, wanted).select(task, metric, filter)
    for wish in wanted.labels:
        known = dict.fromkeys(name for table in run.tables.values() for name in table.labels)
        if wish not in known:
            there = f"; there are {', '.join(known)}" if known else ""
            raise InputError(f"labels: the items of {run.path} have no {wish!r}{there}")
    if name is not None:
        if len(run.systems) > 1:
            raise InputError(f"name is for one system, but {run.path} has {len(run.systems)}")
        run = run.renamed({run.name: label(name, "name"), run.systems[0]: name})
    return run


def _read(given: Any, wanted: Wanted) -> Run:
    if columns_of(given) is not None:
        return tidy.read_frame(given, wanted)
    if not isinstance(given, (str, os.PathLike)):
        raise InputTypeError(f"path must be a path or a frame, got {type(given).__name__}")
    if not str(given):
        raise InputError("path is empty; give a file or a folder")
    source = Source(Path(given))
    for kind in FORMATS:
        if kind.is_ours(source):
            try:
                return kind.read(source, wanted)
            except InputError as error:
                if str(given) in str(error):
                    raise
                raise type(error)(f"{given}: {error}") from None
    names = ", ".join(kind.NAME for kind in FORMATS)
    tables = [path for path in source.files if Source(path).suffix in (".csv", ".tsv", ".jsonl")]
    more = f"; a table is a file, give {tables[0]}" if tables else ""
    raise InputError(f"{given} is none of the formats that can be read: {names}{more}")
