"""Logs side by side: names of systems, the policy for what is missing, and what to say of it."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.aggregates import NamedTotal
from evalstats.analysis.arena import win_rates
from evalstats.analysis.strengths import linked
from evalstats.checks import choice, flag, label, meant, shown
from evalstats.errors import Argument, InputError, InputTypeError
from evalstats.logs.battles import battles_of, group_notes, is_arena
from evalstats.logs.epochs import as_epochs
from evalstats.logs.formats.columns import as_columns
from evalstats.logs.groups import Average, totals_of
from evalstats.logs.log import Log, Patterns, Wanted, as_patterns, by_key, lacking
from evalstats.logs.people import corrected
from evalstats.logs.pivot import Answered, Pivot, pivoted, pivoted_apart
from evalstats.logs.reading import named, read_all
from evalstats.logs.rows import Key, Rows, natural
from evalstats.logs.settings import allowed_changes, told_changes
from evalstats.logs.sources import differing, without_suffix
from evalstats.logs.words import as_directions, first_few, matches
from evalstats.metrics import ICC, FlipRate, Mean, PassAll, PassAny, Ratio, Trials
from evalstats.results.records import distinct
from evalstats.statistics.segments import SegmentStatistics
from evalstats.text.frames import table_columns

#: A log, or where to read one; a frame (pandas, polars, pyarrow) is a table of scores.
OneLog = Log | str | os.PathLike[str] | Any
Logs = OneLog | Sequence[OneLog] | Mapping[str, OneLog]

MISSING = ("error", "intersect", "available")
#: What to do where systems share no item.
_UNPAIRED = ("if these are other items, compare the systems with ", Argument("paired", False))
#: Metrics that can be called otherwise.
_RENAMED = (Mean, Ratio, PassAll, PassAny, FlipRate, ICC)
#: Labels that say what an item asks, whatever its task.
_OF_ITEMS = ("doc_hash", "item_hash", "sample_hash")


class _Note(NamedTuple):
    """A line for the notes. Lines of the same kind and ending are printed as one sentence."""

    kind: str
    line: str
    ending: str = "."


class Joined(NamedTuple):
    """Logs that were joined.

    `tasks` has one table a metric of each task, all of the same segments; `paths` has the system of
    each log that holds only one, by its path; `totals` are those of groups that the logs average;
    `unread` says what of the logs was left out, and why; `texts` has the questions, targets and
    answers of each task, one a segment: ``{"arc": {"question": [...], "gpt": [...]}}``.
    """

    tasks: dict[str, list[SegmentStatistics]]
    notes: list[str]
    paths: dict[str, str]
    totals: tuple[NamedTotal, ...] = ()
    unread: tuple[str, ...] = ()
    texts: Mapping[str, Mapping[str, Sequence[str]]] = MappingProxyType({})

    def several(self) -> Joined:
        """Return the same, or say what is in the way of two systems where a log was not read."""
        tables = next(iter(self.tasks.values()))
        systems = distinct(name for table in tables for name in table.systems)
        if len(systems) < 2 and self.unread:
            raise InputError(
                f"at least 2 systems are needed, got {systems[0]!r} alone; left out: "
                f"{first_few(self.unread)}"
            )
        return self


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
    columns: Mapping[str, str | None] | None = None,
    allow_changes: Patterns | None = "*",
    human: OneLog | None = None,
    paired: bool = True,
) -> Joined:
    """Return the tables of all systems by task, joined by id; parameters as in `compare_logs`.

    Of systems that are not paired each has tables of its own, with its own items. Tasks that were
    not asked alike are noted, and refused where `allow_changes`, as in `gate`, does not name what
    differs.
    """
    choice(missing, MISSING, "missing")
    allowed = allowed_changes(allow_changes)
    wanted = Wanted.of(task, metric, filter)
    wanted = wanted._replace(
        labels=tuple(name for name in labels if name), columns=as_columns(columns)
    )
    read, unread = _read(logs, wanted)
    if is_arena(read):
        _check_of_arena(human=human, epochs=epochs)
        return _of_arena(read, as_patterns(systems, "systems"), wanted.labels, unread)
    every = _directed(_named_apart(read), directions)
    epochs = every[0].epochs if epochs is None else as_epochs(epochs)
    places = _places(every, as_patterns(systems, "systems"))
    chosen = [_of_systems(log, places) for log in every]
    notes = _notes_of(chosen)
    shared = _shared(chosen, places, missing, notes)
    if flag(paired, "paired"):
        sides = [{key: pivoted(rows, epochs) for key, rows in shared.items()}]
    else:
        apart = {key: pivoted_apart(rows, epochs) for key, rows in shared.items()}
        sides = [{key: of[i] for key, of in apart.items()} for i in range(len(places))]
    changes = told_changes(_asked(sides), allowed)
    averages = [one for log in chosen for one in log.averages if one.system in places]
    found = [_tasks_of(pivots, averages, wanted.task, missing, notes) for pivots in sides]
    tasks = _together([of_side for of_side, _, _ in found])
    _, totals, texts = found[0]
    if len(found) > 1:
        # Questions and answers of one system say nothing of those of another.
        texts = {}
        totals = totals if all(of_side[1] == totals for of_side in found) else ()
    paths = {log.path: log.systems[0] for log in chosen if len(log.systems) == 1}
    if human is not None:
        column = _column_of(human)
        selected: dict[str, Any] = {"task": task, "metric": column, "systems": systems}
        of_people = joined(
            human if column is None else logs,
            missing="available",
            epochs="mean",
            # Which scores are better the judge's say.
            directions={"*": "higher"},
            columns=columns,
            **(selected if column else {}),
        )
        unknown: list[str] = []
        tasks = corrected(tasks, of_people.tasks, unknown)
        # A column that is read is not left out.
        notes = [note for note in notes if f"column {column!r}" not in note.line]
        notes += [_Note("people", line) for line in unknown]
    said = dict.fromkeys([*changes, *_sentences(notes)])
    for of_side, _, _ in found:
        said |= dict.fromkeys(asked_twice(of_side))
    return Joined(tasks, list(said), paths, totals, unread, texts)


def _asked(sides: Sequence[Mapping[Key, Pivot]]) -> Iterator[tuple[str, list[Answered]]]:
    """Yield each task with what all systems answered.

    Systems that are not paired were asked other prompts, whatever their items are called.
    """
    for key in sides[0]:
        parts = [part for pivots in sides for part in pivots[key].parts]
        yield key.task, parts if len(sides) == 1 else [p._replace(prompts=()) for p in parts]


def _tasks_of(
    pivots: Mapping[Key, Pivot],
    averages: Sequence[Average],
    asked: Sequence[str],
    missing: str,
    notes: list[_Note],
) -> tuple[dict[str, list[SegmentStatistics]], tuple[NamedTotal, ...], dict[str, Any]]:
    """Return the tables of each task, the totals of groups that the logs average, and texts."""
    tables = {key: _complete(pivot, missing, notes) for key, pivot in pivots.items()}
    by_task = _by_task(tables)
    tasks = {
        name: _same_items(name, list(of_task.values()), missing, notes)
        for name, of_task in by_task.items()
    }
    placed = {key: (name, table) for name, own in by_task.items() for key, table in own.items()}
    texts = {name: _texts(pivots[next(iter(own))], tasks[name][0]) for name, own in by_task.items()}
    return tasks, totals_of(averages, placed, asked), texts


def _together(
    sides: Sequence[Mapping[str, list[SegmentStatistics]]],
) -> dict[str, list[SegmentStatistics]]:
    """Return the tables of all sides by task, which have to be called alike."""
    for side in sides[1:]:
        if set(side) != set(sides[0]):
            odd = ", ".join(sorted(set(side) ^ set(sides[0])))
            raise InputError(f"filters make tasks of some systems alone ({odd}); choose one filter")
    return {name: [table for side in sides for table in side[name]] for name in sides[0]}


def _texts(pivot: Pivot, table: SegmentStatistics) -> dict[str, list[str]]:
    """Return questions, targets, and the first answers of each system, one a segment."""
    columns: dict[str, list[str]] = {}
    for part in pivot.parts:
        items = part.rows.items
        for kind, texts in items.texts.items():
            of = dict(zip(reversed(items.ids), reversed(texts), strict=True))
            name = part.rows.system if kind == "answer" else kind
            columns.setdefault(name, [of.get(item, "") for item in table.segment_ids or ()])
    return columns


def _column_of(human: OneLog) -> str | None:
    """Return the name of a column of people's scores, None of a table of them."""
    if not isinstance(human, str) or Path(human).exists():
        return None
    if without_suffix(human) != human:
        raise InputError(
            f"must be a file of people's scores, or a column of the table: there is no file "
            f"{shown(human)}",
            argument="human",
        )
    return human


def _check_of_arena(**asked: object) -> None:
    """Raise where something is asked of battles that only scores of items have."""
    for name, value in asked.items():
        if value is not None:
            raise InputError(
                "is for scores of items, and these are battles; leave it out", argument=name
            )


def _of_arena(
    logs: Sequence[Log], patterns: tuple[str, ...], labels: Sequence[str], unread: tuple[str, ...]
) -> Joined:
    """Return battles: of two systems their win rates, and of several the table of strengths."""
    places = _places(logs, patterns)
    table = battles_of(logs, places)
    notes = [*_sentences(_notes_of(logs)), *([] if labels else group_notes(table))]
    if len(places) == 2 and len(table.points):
        notes += [*table.notes, *table.tie_notes]
        return Joined({"": [win_rates(table)]}, notes, {}, unread=unread)
    # A summary stands in the place of statistics.
    strengths = cast(SegmentStatistics, linked(table))
    return Joined({"": [strengths]}, notes, {}, unread=unread)


def _directed(logs: Sequence[Log], directions: Mapping[str, str] | None) -> list[Log]:
    """Return logs with the directions that the caller gives; each must be of some metric."""
    is_higher = as_directions(directions)
    metrics = [one.key.metric for log in logs for one in log.rows]
    _check_patterns(is_higher, metrics, "directions", "metric ")
    return [log.directed(is_higher) for log in logs]


def _of_systems(log: Log, names: Container[str]) -> Log:
    """Return the rows of a log that are of these systems, which may be none."""
    return replace(log, rows=tuple(one for one in log.rows if one.system in names))


def _notes_of(logs: Sequence[Log]) -> list[_Note]:
    """Return what is said of logs that have rows: scores that differ, and what was left out."""
    used = [log for log in logs if log.rows]
    notes = [_Note("scores", line) for log in used for line in log.disagreements]
    for log in used:
        if log.skipped:
            line = f"Left out of {log.path}: {first_few(log.skipped)}"
            notes.append(_Note(f"of {log.path}", line))
    return notes


def _sentences(notes: Iterable[_Note]) -> list[str]:
    """Return one sentence for each kind and ending of notes, in order of their first lines."""
    lines: dict[tuple[str, str], list[str]] = {}
    for note in notes:
        lines.setdefault((note.kind, note.ending), []).append(note.line)
    return [f"{first_few(of_kind)}{ending}" for (_, ending), of_kind in lines.items()]


def _read(logs: Logs, wanted: Wanted) -> tuple[list[Log], tuple[str, ...]]:
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


def _check_patterns(
    patterns: Iterable[str], names: Iterable[str], argument: str, kind: str = ""
) -> None:
    """Raise where a pattern of an argument is that of no name, of this kind."""
    names = dict.fromkeys(names)
    for pattern in patterns:
        if not any(matches(name, [pattern]) for name in names):
            raise InputError(
                f": there is no {kind}{pattern!r}; {meant(pattern, names)}", argument=argument
            )


def _named_apart(logs: list[Log]) -> list[Log]:
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


def _places(logs: Sequence[Log], patterns: tuple[str, ...]) -> dict[str, int]:
    """Return the systems that are wanted, in the order of the patterns, with their places."""
    names = list(dict.fromkeys(name for log in logs for name in log.systems))
    _check_patterns(patterns, names, "systems")
    chosen = [name for pattern in patterns for name in names if matches(name, [pattern])]
    return {name: i for i, name in enumerate(dict.fromkeys(chosen if patterns else names))}


def _shared(
    logs: Sequence[Log], places: Mapping[str, int], missing: str, notes: list[_Note]
) -> dict[Key, list[Rows]]:
    """Return the rows of each task and metric that all systems have, in the order of the systems.

    Others are left out with a note, or refused.
    """
    rows = [one for log in logs for one in log.rows]
    rows.sort(key=lambda one: (natural(one.key.task), places[one.system]))
    rows_of = by_key(rows)
    shared = {key: of_key for key, of_key in rows_of.items() if len(of_key) == len(places)}
    if len(shared) == len(rows_of):
        return shared
    there = {(one.key, one.system) for one in rows}
    gone = {name: [str(key) for key in rows_of if (key, name) not in there] for name in places}
    lines = [f"{name} has no {first_few(keys, ', ')}" for name, keys in gone.items() if keys]
    if not shared:
        raise InputError(
            f"the systems have no task and metric in common: {first_few(lines)}; choose one ",
            Argument("task"),
            *_example(rows_of),
            ", or ",
            Argument("systems"),
            " that share some",
        )
    if missing != "intersect":
        raise InputError(
            f"all systems must have the same tasks and metrics, but {first_few(lines)}; choose "
            f"with task, metric or systems, or compare what all have with ",
            Argument("missing", "intersect"),
        )
    notes += [_Note("unshared", f"Left out, since {line}") for line in lines]
    return shared


def _example(rows_of: Mapping[Key, Sequence[Rows]]) -> tuple[object, ...]:
    """Return the end of a message: a task of some systems, the most of all, if there are several.

    Of ten language pairs one is named, by its argument: ``(" at a time, such as ", task='cs-de')``.
    """
    largest = max(rows_of, key=lambda key: len(rows_of[key]))
    n = len(rows_of[largest])
    if n < 2 or not largest.task or len({key.task for key in rows_of}) < 2:
        return ()
    return (" at a time, such as ", Argument("task", largest.task), f" (of {n} systems)")


def _complete(pivot: Pivot, missing: str, notes: list[_Note]) -> SegmentStatistics:
    """Return one table of all systems with the items that all have, or refuse what is missing."""
    notes += _lacking_notes(pivot, missing)
    kept = _there(pivot, missing, notes)
    if missing == "intersect":
        kept &= ~pivot.is_gone.any(axis=0)
        if not np.any(kept):
            raise InputError(f"{pivot.key}: no item has a score of every system")
    if not np.all(kept):
        n = f"{int(np.sum(~kept)):,} of {len(kept):,}"
        notes.append(_Note("left out", f"{pivot.key}: {n} items are left out, which not all have"))
    notes += _answers_notes(pivot)
    return pivot.table(kept)


def _lacking_notes(pivot: Pivot, missing: str) -> list[_Note]:
    """Return a note on each log that lacks items or scores, or refuse it."""
    rows = [part.rows for part in pivot.parts]
    # The comparison itself notes the gaps of means that stay.
    is_noted = isinstance(rows[0].metric, Mean) and bool(np.any(pivot.is_gone))
    notes = []
    for path in dict.fromkeys(one.path for one in rows):
        what = lacking([one for one in rows if one.path == path])
        if what and missing == "error":
            has_shared = np.any((pivot.is_there & ~pivot.is_gone).all(axis=0))
            raise InputError(
                f"{path}, {pivot.key}: {what}; complete it, or compare what there is with ",
                Argument("missing", "intersect"),
                ", or means with ",
                Argument("missing", "available"),
                *(() if has_shared else ("; ", *_UNPAIRED)),
            )
        if what and (missing == "intersect" or not is_noted):
            notes.append(_Note("incomplete", f"{pivot.key}: {what} in {path}"))
    return notes


def _answers_notes(pivot: Pivot) -> list[_Note]:
    """Return a note on what several answers to an item become, none where each has one."""
    n_answers = [n for part in pivot.parts for n in part.n_answers]
    if max(n_answers) == 1:
        return []
    several = "-".join(map(str, dict.fromkeys((min(n_answers), max(n_answers)))))
    how = "averaged, so that the item is the unit (epochs='runs' counts their spread)"
    if isinstance(pivot.metric, Trials):
        how = "as trials of the item, which is the unit"
    elif pivot.parts[0].n_runs > 1:
        how = "as runs of the system, whose spread counts"
    key = pivot.key.part or pivot.key
    line = f"{key}: {len(pivot.ids):,} items, {several} answers each"
    return [_Note("answers", line, f", {how}.")]


def _there(pivot: Pivot, missing: str, notes: list[_Note]) -> NDArray[np.bool_]:
    """Return which items are in the logs of all systems, or refuse those that are not, `(N,)`."""
    is_asked = _asked_of_all(pivot, notes)
    if not np.any(pivot.is_there.all(axis=0)):
        firsts = ", ".join(f"{part.ids[0]!r} for {part.rows.system}" for part in pivot.parts)
        what = f"no item is in the logs of all systems: ids begin with {firsts}"
        raise InputError(f"{pivot.key}: {what}; ", *_UNPAIRED)
    for part, there in zip(pivot.parts, pivot.is_there, strict=True):
        gone = np.flatnonzero(is_asked & ~there)
        if len(gone) and missing != "intersect":
            raise InputError(
                f"{pivot.key}: all systems must have the same items: {len(gone):,} of "
                f"{int(np.sum(is_asked)):,} are not in that of {part.rows.system} "
                f"({', '.join(repr(pivot.ids[i]) for i in gone[:3])}); complete it, or compare "
                f"what all have with ",
                Argument("missing", "intersect"),
            )
    return np.asarray(pivot.is_there.all(axis=0))


def _asked_of_all(pivot: Pivot, notes: list[_Note]) -> NDArray[np.bool_]:
    """Return which items all systems were asked, `(N,)`: not those that a limit spared one of them.

    What a system was never asked is not missing from it. A note names each limit.
    """
    is_asked = np.ones(len(pivot.ids), dtype=np.bool_)
    for part, there in zip(pivot.parts, pivot.is_there, strict=True):
        if part.rows.is_limited and not np.all(there):
            is_asked &= there
            line = f"{pivot.key}: {part.rows.system} was limited to {len(part.ids):,} items"
            notes.append(_Note("limited", line))
    if not np.any(is_asked):
        raise InputError(
            f"{pivot.key}: the systems were limited to different items, and none is in all; ",
            *_UNPAIRED,
        )
    return is_asked


def _by_task(
    tables: Mapping[Key, SegmentStatistics],
) -> dict[str, dict[Key, SegmentStatistics]]:
    """Return the tables of each task by key; several filters of the same answers are its metrics.

    A total over tasks would count such answers twice; then filters are metrics everywhere.
    """
    filters: dict[tuple[str, tuple[str, ...] | None], set[str]] = {}
    for key, table in tables.items():
        filters.setdefault((key.task, table.segment_ids), set()).add(key.filter)
    are_metrics = any(len(names) > 1 for names in filters.values())
    n_parts = Counter(task for task, _ in filters)
    tasks: dict[str, dict[Key, SegmentStatistics]] = {}
    for key, table in tables.items():
        is_shared = len(filters[key.task, table.segment_ids]) > 1
        if is_shared or (are_metrics and n_parts[key.task] == 1):
            tasks.setdefault(key.task, {})[key] = _with_filter(table, key)
        else:
            tasks.setdefault(key.part, {})[key] = table
    for name, of_task in tasks.items():
        metric, n = Counter(table.metric.name for table in of_task.values()).most_common(1)[0]
        if n > 1:
            raise InputError(f"{name} has {metric} of the same items twice; choose one filter")
    return {name: tasks[name] for name in sorted(tasks, key=natural)}


def _with_filter(table: SegmentStatistics, key: Key) -> SegmentStatistics:
    """Return a table whose metric has the filter in its name, where it has a name of its own."""
    if not key.has_filter or not isinstance(table.metric, _RENAMED):
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
    aligned = list(SegmentStatistics.align(*tables, missing="intersect"))
    have = f"{aligned[0].n_segments:,} items have all, of {sizes}"
    notes.append(_Note("metrics", f"{task or 'All metrics'}: {have}"))
    return aligned


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
    return [
        f"{first_few(lines)}: a total takes them for different ones, so that it looks too sure."
    ]
