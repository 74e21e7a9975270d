"""Logs side by side: joined by task and item, with battles of arenas and people's scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, cast

from evalstats.analysis.design import NamedTotal
from evalstats.checks import choice, flag, shown
from evalstats.designs.arenas.arena import win_rates
from evalstats.designs.arenas.battles import BradleyTerry
from evalstats.designs.arenas.strengths import linked
from evalstats.errors import InputError
from evalstats.logs.battles import battles_of, group_notes, is_arena
from evalstats.logs.epochs import as_epochs
from evalstats.logs.formats.columns import as_columns
from evalstats.logs.groups import Average, totals_of
from evalstats.logs.log import Log, Patterns, Wanted, as_patterns
from evalstats.logs.missing import MISSING, complete, same_items, shared_tasks
from evalstats.logs.notes import Note, asked_twice, notes_on, sentences
from evalstats.logs.people import corrected
from evalstats.logs.pivot import Answered, Pivot, pivoted, pivoted_apart
from evalstats.logs.rows import Key, Rows, natural
from evalstats.logs.settings import allowed_changes, told_changes
from evalstats.logs.sources import without_suffix
from evalstats.logs.systems import (
    Logs,
    OneLog,
    directed,
    named_apart,
    of_systems,
    places_of,
    wanted_logs,
)
from evalstats.logs.words import first_few
from evalstats.metrics import ICC, FlipRate, Mean, PassAll, PassAny, Ratio
from evalstats.results.records import distinct
from evalstats.statistics.segments import SegmentStatistics

#: Metrics that can be called otherwise.
_RENAMED = (Mean, Ratio, PassAll, PassAny, FlipRate, ICC)


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
    strengths: BradleyTerry | None = None,
) -> Joined:
    """Return the tables of all systems by task, joined by id; parameters as in `compare_logs`.

    Of battles `strengths` says what they are, of two systems too, which else have win rates. Of
    systems that are not paired each has tables of its own, with its own items. Tasks that were
    not asked alike are noted, and refused where `allow_changes`, as in `gate`, does not name what
    differs.
    """
    choice(missing, MISSING, "missing")
    allowed = allowed_changes(allow_changes)
    wanted = Wanted.of(task, metric, filter)
    wanted = wanted._replace(
        labels=tuple(name for name in labels if name), columns=as_columns(columns)
    )
    read, unread = wanted_logs(logs, wanted)
    if is_arena(read):
        _check_of_arena(human=human, epochs=epochs)
        chosen_systems = as_patterns(systems, "systems")
        return _of_arena(read, chosen_systems, wanted.labels, unread, strengths)
    every = directed(named_apart(read), directions)
    epochs = every[0].epochs if epochs is None else as_epochs(epochs)
    places = places_of(every, as_patterns(systems, "systems"))
    chosen = [of_systems(log, places) for log in every]
    notes = notes_on(chosen)
    rows = shared_tasks(chosen, places, missing, notes)
    sides = _sides(rows, epochs, len(places), flag(paired, "paired"))
    changes = told_changes(_asked(sides), allowed)
    averages = [one for log in chosen for one in log.averages if one.system in places]
    tables = [_tables(pivots, averages, wanted.task, missing, notes) for pivots in sides]
    tasks, totals, texts = _together(tables)
    paths = {log.path: log.systems[0] for log in chosen if len(log.systems) == 1}
    if human is not None:
        column = _column_of(human)
        people = _of_people(logs, human, column, task, systems, columns)
        unknown: list[str] = []
        tasks = corrected(tasks, people, unknown)
        # A column that is read is not left out.
        notes = [note for note in notes if f"column {column!r}" not in note.line]
        notes += [Note("people", line) for line in unknown]
    twice = [line for side in tables for line in asked_twice(side.tasks)]
    said = list(dict.fromkeys([*changes, *sentences(notes), *twice]))
    return Joined(tasks, said, paths, totals, unread, texts)


def _of_people(
    logs: Logs,
    human: OneLog,
    column: str | None,
    task: Patterns,
    systems: Patterns,
    columns: Mapping[str, str | None] | None,
) -> dict[str, list[SegmentStatistics]]:
    """Return people's scores by task, which are a column of the logs, or a log of their own."""
    selected: dict[str, Any] = {"task": task, "metric": column, "systems": systems}
    return joined(
        human if column is None else logs,
        missing="available",
        epochs="mean",
        # Which scores are better is the judge's to say.
        directions={"*": "higher"},
        columns=columns,
        **(selected if column else {}),
    ).tasks


def _sides(
    rows_of: Mapping[Key, Sequence[Rows]], epochs: str, n_systems: int, is_paired: bool
) -> list[dict[Key, Pivot]]:
    """Return one pivot of all systems for each task and metric; unpaired, such a dict a system."""
    if is_paired:
        return [{key: pivoted(rows, epochs) for key, rows in rows_of.items()}]
    apart = {key: pivoted_apart(rows, epochs) for key, rows in rows_of.items()}
    return [{key: pivots[i] for key, pivots in apart.items()} for i in range(n_systems)]


def _asked(sides: Sequence[Mapping[Key, Pivot]]) -> Iterator[tuple[str, list[Answered]]]:
    """Yield each task with what all systems answered.

    Systems that are not paired were asked other prompts, whatever their items are called.
    """
    for key in sides[0]:
        parts = [part for pivots in sides for part in pivots[key].parts]
        yield key.task, parts if len(sides) == 1 else [p._replace(prompts=()) for p in parts]


class _Tables(NamedTuple):
    """The tables of each task, the totals of groups that the logs average, and the texts."""

    tasks: dict[str, list[SegmentStatistics]]
    totals: tuple[NamedTotal, ...]
    texts: dict[str, dict[str, list[str]]]


def _tables(
    pivots: Mapping[Key, Pivot],
    averages: Sequence[Average],
    asked: Sequence[str],
    missing: str,
    notes: list[Note],
) -> _Tables:
    """Return the tables of pivots, with what is missing refused or noted."""
    tables = {key: complete(pivot, missing, notes) for key, pivot in pivots.items()}
    by_task = _by_task(tables)
    tasks = {
        name: same_items(name, list(of_task.values()), missing, notes)
        for name, of_task in by_task.items()
    }
    placed = {key: (name, table) for name, of in by_task.items() for key, table in of.items()}
    texts = {name: _texts(pivots[next(iter(of))], tasks[name][0]) for name, of in by_task.items()}
    return _Tables(tasks, totals_of(averages, placed, asked), texts)


def _together(sides: Sequence[_Tables]) -> _Tables:
    """Return the tables of all sides by task; these have to have tasks of the same names."""
    first, *others = sides
    if not others:
        return first
    for side in others:
        if set(side.tasks) != set(first.tasks):
            odd = ", ".join(sorted(set(side.tasks) ^ set(first.tasks)))
            raise InputError(f"filters make tasks of some systems alone ({odd}); choose one filter")
    tasks = {name: [table for side in sides for table in side.tasks[name]] for name in first.tasks}
    totals = first.totals if all(side.totals == first.totals for side in others) else ()
    # Questions and answers of one system say nothing of those of another.
    return _Tables(tasks, totals, {})


def _texts(pivot: Pivot, table: SegmentStatistics) -> dict[str, list[str]]:
    """Return questions, targets, and the first answers of each system, one a segment."""
    columns: dict[str, list[str]] = {}
    for part in pivot.parts:
        items = part.rows.items
        first = dict(zip(reversed(items.ids), reversed(range(len(items.ids))), strict=True))
        places = [first.get(item) for item in table.segment_ids or ()]
        for kind, texts in items.texts.items():
            name = part.rows.system if kind == "answer" else kind
            if name not in columns:
                columns[name] = ["" if i is None else texts[i] for i in places]
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
    logs: Sequence[Log],
    patterns: tuple[str, ...],
    labels: Sequence[str],
    unread: tuple[str, ...],
    strengths: BradleyTerry | None,
) -> Joined:
    """Return battles: of two systems their win rates, and of several the table of strengths."""
    places = places_of(logs, patterns)
    table = battles_of(logs, places)
    notes = [*sentences(notes_on(logs)), *([] if labels else group_notes(table))]
    if strengths is None and len(places) == 2 and len(table.points):
        notes += [*table.notes, *table.tie_notes]
        return Joined({"": [win_rates(table)]}, notes, {}, unread=unread)
    # A summary stands in the place of statistics.
    table = linked(replace(table, metric=strengths or table.metric))
    return Joined({"": [cast(SegmentStatistics, table)]}, notes, {}, unread=unread)


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
