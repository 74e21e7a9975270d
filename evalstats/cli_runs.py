"""Logs and tables of scores on the command line: which, what of them, beside which texts."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evalstats.command_line import METRIC_OPTIONS
from evalstats.destination import STANDARD
from evalstats.errors import InputError
from evalstats.logs.files import fingerprint, without_suffix
from evalstats.logs.joining import Joined, joined
from evalstats.logs.log import Log
from evalstats.logs.reading import read_log
from evalstats.statistics.files import Lines
from evalstats.statistics.segments import SegmentStatistics

#: Options that say which part of a run is meant.
_PARTS = ("task", "metric", "filter", "missing")
#: Those of texts that runs have no use for, by their flags.
_TEXTS = {"-i": "input", "-r": "references", "-t": "test_set", "-l": "language_pair",
          "-m": "metrics", "--scores": "scores"}  # fmt: skip


@dataclass(frozen=True)
class Shown:
    """Runs as they are printed."""

    runs: Sequence[Log]

    def __str__(self) -> str:
        """Return what each of them has."""
        return "\n\n".join(map(str, self.runs))


def are_given(options: argparse.Namespace) -> bool:
    """Return whether paths are those of runs, and not files of statistics; checks what goes along.

    Raises
    ------
    InputError
        For both together, and for options that say nothing of what was given.
    """
    paths = getattr(options, "statistics", None) or []
    runs = [path for path in paths if Path(path).suffix != ".npz"]
    if runs and len(runs) < len(paths):
        other = next(path for path in paths if path not in runs)
        raise InputError(
            f"{other} is a file of statistics and {runs[0]} is not; give one kind, and the scores "
            f"of texts as --scores"
        )
    for path in runs:
        if path == STANDARD or path.removesuffix(".gz").endswith(".txt"):
            raise InputError(
                f"{path} is neither statistics (.npz) nor a log or a table of scores; give outputs "
                f"as -i"
            )
    if runs:
        refuse_texts(options, f"{runs[0]} has its own", ("names",))
        return True
    if getattr(options, "scores", None) and paths:
        raise InputError(f"--scores goes with texts (-i), not with {paths[0]}")
    if not getattr(options, "scores", None):
        for name in _PARTS:
            if getattr(options, name, None):
                raise InputError(f"--{name} is for logs and tables of scores, and none is given")
    return False


def refuse_texts(options: argparse.Namespace, why: str, allowed: Sequence[str] = ()) -> None:
    """Refuse options that are about texts."""
    texts = {**_TEXTS, "--names": "names"}
    for names in METRIC_OPTIONS.values():
        texts.update({"--" + name.replace("_", "-"): name for name in names})
    for flag, name in texts.items():
        if name not in allowed and getattr(options, name, None) is not None:
            raise InputError(f"{flag} is for texts: {why}")


def given(options: argparse.Namespace) -> Any:
    """Return where the runs are, by name where names are given."""
    paths, names = options.statistics, options.names
    if names is None:
        return paths
    if len(names) != len(paths):
        raise InputError(
            f"--names needs one name for each of the {len(paths)} runs, got {len(names)}"
        )
    if len(set(names)) < len(names):
        raise InputError(f"--names must differ, got {' '.join(names)}")
    return dict(zip(names, paths, strict=True))


def part(options: argparse.Namespace) -> dict[str, Any]:
    """Return which part of the runs is wanted; ``acc,none`` is a metric and a filter."""
    found = {name: getattr(options, name) for name in _PARTS[:3]}
    return {**found, "missing": options.missing or "error"}


def tables(options: argparse.Namespace, labels: Sequence[str]) -> Joined:
    """Return the runs side by side, for what is about one task."""
    found = joined(given(options), labels=labels, **part(options))
    if len(found.tasks) > 1:
        raise InputError(f"--task and --filter must choose one of {', '.join(found.tasks)}")
    return found


def show(options: argparse.Namespace) -> Shown:
    """Read runs and show what is in them."""
    if not options.runs:
        raise InputError("show needs a path: that of a log or a table of scores")
    chosen = {name: value for name, value in part(options).items() if name != "missing"}
    return Shown([read_log(path, **chosen) for path in options.runs])


def beside(
    options: argparse.Namespace, of_texts: list[SegmentStatistics], references: list[Lines]
) -> list[SegmentStatistics]:
    """Return scores of the same systems and lines as texts, one table a metric."""
    names, n = of_texts[0].systems, of_texts[0].n_segments
    chosen = part(options)
    missing = chosen.pop("missing")
    runs = [read_log(path, **chosen) for path in options.scores]
    alike: dict[tuple[Any, ...], list[Log]] = {}
    for run in runs:
        alike.setdefault(tuple(run.tables), []).append(run)
    found = [table for some in alike.values() for t in joined(some, missing=missing).tasks.values()
             for table in t]  # fmt: skip
    where = ", ".join(options.scores)
    return [_of_lines(table, names, n, where, references) for table in found]


def _of_lines(
    table: SegmentStatistics, names: Sequence[str], n: int, where: str, references: list[Lines]
) -> SegmentStatistics:
    """Return the rows of some systems, whose segments are named by the numbers of lines."""
    places = _places(table, names, where)
    known = [tuple(str(i + first) for i in range(table.n_segments)) for first in (0, 1)]
    if table.segment_ids not in known:
        ids = ", ".join(map(repr, (table.segment_ids or ("nothing",))[:3]))
        raise InputError(
            f"{where}: segments of {table.metric.name} must be named by the numbers of their lines "
            f"to go with texts, from 0 or 1 on, but begin with {ids}"
        )
    if table.n_segments != n:
        raise InputError(
            f"{where} has scores ({table.metric.name}) of {table.n_segments:,} segments but the "
            f"texts have {n:,} lines"
        )
    hashes = table.labels.get("reference_hash")
    if hashes and references:
        texts = zip(*(lines.texts(0, n) for lines in references), strict=True)
        own = [{fingerprint(text.strip()) for text in line} for line in texts]
        same = [asked in known for asked, known in zip(hashes, own, strict=True)]
        if not all(same):
            raise InputError(
                f"{where} has scores ({table.metric.name}) of other references than the texts: "
                f"{same.count(False):,} of {n:,} differ, that of line {same.index(False) + 1} first"
            )
    return replace(
        table, values=table.values[places], systems=tuple(names), segment_ids=None, labels={}
    )


def _places(table: SegmentStatistics, names: Sequence[str], where: str) -> list[int]:
    """Return which systems of a table are meant, by name or by file name."""
    known: Mapping[str, int] = {
        **{without_suffix(name): i for i, name in enumerate(table.systems)},
        **{name: i for i, name in enumerate(table.systems)},
    }
    gone = [name for name in names if name not in known]
    if gone:
        raise InputError(
            f"{where} has no scores ({table.metric.name}) of {', '.join(map(repr, gone))}; it has "
            f"{', '.join(map(repr, table.systems))}: give --names"
        )
    return [known[name] for name in names]
