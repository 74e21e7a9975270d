"""What is missing: tasks, items and scores that not all systems have, refused or left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from evalstats.errors import Argument, InputError
from evalstats.logs.log import Log, by_key, lacking
from evalstats.logs.notes import Note
from evalstats.logs.pivot import Pivot
from evalstats.logs.rows import Key, Rows, natural
from evalstats.logs.words import first_few
from evalstats.metrics import Mean, Trials
from evalstats.statistics.segments import SegmentStatistics

MISSING = ("error", "intersect", "available")
#: What to do where systems share no item.
_UNPAIRED = ("if these are other items, compare the systems with ", Argument("paired", False))


def shared_tasks(
    logs: Sequence[Log], places: Mapping[str, int], missing: str, notes: list[Note]
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
    notes += [Note("unshared", f"Left out, since {line}") for line in lines]
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


def complete(pivot: Pivot, missing: str, notes: list[Note]) -> SegmentStatistics:
    """Return one table of all systems with the items that all have, or refuse what is missing."""
    notes += _lacking_notes(pivot, missing)
    kept = _there(pivot, missing, notes)
    if missing == "intersect":
        kept &= ~pivot.is_gone.any(axis=0)
        if not np.any(kept):
            raise InputError(f"{pivot.key}: no item has a score of every system")
    if not np.all(kept):
        n = f"{int(np.sum(~kept)):,} of {len(kept):,}"
        notes.append(Note("left out", f"{pivot.key}: {n} items are left out, which not all have"))
    notes += _answers_notes(pivot)
    return pivot.table(kept)


def _lacking_notes(pivot: Pivot, missing: str) -> list[Note]:
    """Return a note on each log that lacks items or scores; with `missing` "error" refuse it."""
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
            notes.append(Note("incomplete", f"{pivot.key}: {what} in {path}"))
    return notes


def _there(pivot: Pivot, missing: str, notes: list[Note]) -> NDArray[np.bool_]:
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


def _asked_of_all(pivot: Pivot, notes: list[Note]) -> NDArray[np.bool_]:
    """Return which items all systems were asked, `(N,)`: not those that a limit spared one of them.

    What a system was never asked is not missing from it. A note names each limit.
    """
    is_asked = np.ones(len(pivot.ids), dtype=np.bool_)
    for part, there in zip(pivot.parts, pivot.is_there, strict=True):
        if part.rows.is_limited and not np.all(there):
            is_asked &= there
            line = f"{pivot.key}: {part.rows.system} was limited to {len(part.ids):,} items"
            notes.append(Note("limited", line))
    if not np.any(is_asked):
        raise InputError(
            f"{pivot.key}: the systems were limited to different items, and none is in all; ",
            *_UNPAIRED,
        )
    return is_asked


def _answers_notes(pivot: Pivot) -> list[Note]:
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
    return [Note("answers", line, f", {how}.")]


def same_items(
    task: str, tables: list[SegmentStatistics], missing: str, notes: list[Note]
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
    notes.append(Note("metrics", f"{task or 'All metrics'}: {have}"))
    return aligned
