"""Logs and tables of scores become tables by task, alone or beside those of texts."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

from evalstats.cli.flags import OF_BATTLES
from evalstats.cli.output import STANDARD
from evalstats.designs.arenas.battles import BattleTable, BradleyTerry
from evalstats.errors import InputError
from evalstats.logs.joining import Joined, joined
from evalstats.logs.log import Log, log_of
from evalstats.logs.reading import read_log
from evalstats.logs.rows import Items, Key, Rows
from evalstats.logs.sources import fingerprint, without_suffix
from evalstats.results.forms import Result
from evalstats.statistics.files import Lines
from evalstats.statistics.segments import SegmentStatistics


def of_logs(options: argparse.Namespace, labels: Sequence[str]) -> Joined:
    """Read logs and tables of scores, with labels of their items."""
    paths = options.logs
    if wrong := [p for p in paths if p == STANDARD or p.removesuffix(".gz").endswith(".txt")]:
        raise InputError(
            f"{wrong[0]} is neither statistics (.npz) nor a log or a table of scores; give outputs "
            f"as -i"
        )
    if files := [name for name in labels if Path(name).suffix and Path(name).is_file()]:
        raise InputError(
            f"{files[0]} is a file of labels, which goes with texts; of logs and tables give the "
            f"name of a label, such as that of a column"
        )
    wanted = _selection(options)
    if options.command == "gate":
        wanted["allow_changes"] = options.allow_changes
    wanted["paired"] = not getattr(options, "unpaired", None)
    of_strengths = {name: x for name in OF_BATTLES if (x := getattr(options, name, None))}
    if of_strengths:
        wanted["strengths"] = BradleyTerry(**of_strengths)
    found = joined(_named(options), labels=labels, **wanted)
    tables: Iterable[object] = chain.from_iterable(found.tasks.values())
    if of_strengths and not all(isinstance(table, BattleTable) for table in tables):
        raise InputError(
            f"is for battles (columns model_a, model_b, winner), and {paths[0]} has scores of "
            f"items; leave it out",
            argument=next(iter(of_strengths)),
        )
    return found


def shown(options: argparse.Namespace) -> Result:
    """Return what is in logs and files of statistics."""
    if not options.logs:
        raise InputError("show needs a path: that of a log, a table of scores or FILE.npz")
    logs = tuple(_read(path, options) for path in options.logs)
    return logs[0] if len(logs) == 1 else Logs(logs)


def _read(path: str, options: argparse.Namespace) -> Log:
    """Return a log, or a file of statistics, whatever its systems are."""
    if Path(path).suffix == ".npz":
        return _log_of_statistics(path)
    of_several = ("missing", "systems", "human")
    wanted = {name: x for name, x in _selection(options).items() if name not in of_several}
    return read_log(path, **wanted)


def table_with(options: argparse.Namespace, system: str) -> str | None:
    """Return which file among the logs has a system of this name; `None` if none can be read."""
    for path in filter(lambda path: Path(path).is_file(), options.logs):
        try:
            log = _read(path, options)
        except InputError:  # told where it is read for its scores
            continue
        if system in log.systems:
            return str(path)
    return None


@dataclass(frozen=True, eq=False, repr=False)
class Logs(Result):
    """Several logs, one after the other."""

    logs: tuple[Log, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary for each log."""
        return {"logs": [log.to_dict() for log in self.logs]}

    def _rows(self) -> tuple[Log, ...]:
        return self.logs

    def _notes(self) -> list[str]:
        return [f"{log.path}: {note}" for log in self.logs for note in log._notes()]


def _log_of_statistics(path: str) -> Log:
    table = SegmentStatistics.load(path)
    ids = table.segment_ids or tuple(map(str, range(table.n_segments)))
    items, key = Items.of(path, ids, table.labels), Key("", table.metric.name)
    found = zip(table.systems, table.values[:, items.order], strict=True)
    rows = [Rows(key, name, table.metric, items, values) for name, values in found]
    return log_of(path, "statistics", rows)


def _selection(options: argparse.Namespace) -> dict[str, Any]:
    """Return which part of logs is wanted."""
    names = ("task", "filter", "systems", "missing", "epochs", "human")
    found = {name: getattr(options, name, None) for name in names}
    found["metric"] = options.metrics
    better = dict.fromkeys(options.lower_is_better or [], "lower")
    better |= dict.fromkeys(options.higher_is_better or [], "higher")
    found["directions"] = better or None
    found["columns"] = _columns(options.columns)
    return {name: value for name, value in found.items() if value is not None}


def _columns(typed: Sequence[str] | None) -> dict[str, str | None] | None:
    """Return what columns are: of ``["mine=score", "id="]``, ``{"mine": "score", "id": None}``."""
    if typed is None:
        return None
    columns = {}
    for text in typed:
        name, equals, role = text.rpartition("=")
        if not equals:
            raise InputError(f"--columns takes COLUMN=ROLE, such as mine=score, got {text}")
        columns[name] = role or None
    return columns


def _named(options: argparse.Namespace) -> Any:
    paths, names = options.logs, options.names
    if names is None:
        places = [Path(path).absolute() for path in paths]
        again = [path for i, path in enumerate(paths) if places[i] in places[:i]]
        if again:
            raise InputError(f"{again[0]} is given more than once; give --names")
        return paths
    if len(names) != len(paths) or len(set(names)) < len(names):
        raise InputError(
            f"--names needs a name of its own for each of the {len(paths)} logs, got "
            f"{' '.join(names)}; runs of a system are a column 'epoch', with --epochs runs"
        )
    return dict(zip(names, paths, strict=True))


def scores_beside(
    options: argparse.Namespace, of_texts: SegmentStatistics, references: list[Lines]
) -> list[SegmentStatistics]:
    """Return scores of the same systems and lines as texts, one table a metric."""
    wanted = {name: value for name, value in _selection(options).items() if name != "metric"}
    where = ", ".join(options.scores)
    return [
        _of_lines(table, of_texts.systems, of_texts.n_segments, where, references)
        for tables in joined(options.scores, **wanted).tasks.values()
        for table in tables
    ]


def _of_lines(
    table: SegmentStatistics, names: Sequence[str], n: int, where: str, references: list[Lines]
) -> SegmentStatistics:
    """Return the rows of some systems, whose segments are named by the numbers of lines."""
    metric = table.metric.name
    # A table may call a system after its file.
    known_as = {without_suffix(name): i for i, name in enumerate(table.systems)}
    known_as |= {name: i for i, name in enumerate(table.systems)}
    if gone := [name for name in names if name not in known_as]:
        raise InputError(
            f"{where} has no scores ({metric}) of {', '.join(map(repr, gone))}; it has "
            f"{', '.join(map(repr, table.systems))}: give --names"
        )
    known = [tuple(str(i + first) for i in range(table.n_segments)) for first in (0, 1)]
    if table.segment_ids not in known:
        ids = ", ".join(map(repr, (table.segment_ids or ("nothing",))[:3]))
        raise InputError(
            f"{where}: segments of {metric} must be named by the numbers of their lines to go with "
            f"texts, from 0 or 1 on, but begin with {ids}"
        )
    if table.n_segments != n:
        raise InputError(
            f"{where} has scores ({metric}) of {table.n_segments:,} segments but the texts have "
            f"{n:,} lines"
        )
    hashes = table.labels.get("reference_hash")
    if hashes and references:
        texts = zip(*(lines.texts(0, n) for lines in references), strict=True)
        own = [{fingerprint(text.strip()) for text in line} for line in texts]
        same = [asked in known for asked, known in zip(hashes, own, strict=True)]
        if not all(same):
            raise InputError(
                f"{where} has scores ({metric}) of other references than the texts: "
                f"{same.count(False):,} of {n:,} differ, that of line {same.index(False) + 1} first"
            )
    values = table.values[[known_as[name] for name in names]]
    return replace(table, values=values, systems=tuple(names), segment_ids=None, labels={})
