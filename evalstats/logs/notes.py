"""Notes on logs that are joined: lines of one kind become one sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from evalstats.logs.log import Log
from evalstats.logs.words import first_few
from evalstats.statistics.segments import SegmentStatistics

#: Labels that say what an item asks, whatever its task.
_OF_ITEMS = ("doc_hash", "item_hash", "sample_hash")


class Note(NamedTuple):
    """A line for the notes. Lines of the same kind and ending are printed as one sentence."""

    kind: str
    line: str
    ending: str = "."


def sentences(notes: Iterable[Note]) -> list[str]:
    """Return one sentence for each kind and ending of notes, in order of their first lines."""
    lines: dict[tuple[str, str], list[str]] = {}
    for note in notes:
        lines.setdefault((note.kind, note.ending), []).append(note.line)
    return [f"{first_few(of_kind)}{ending}" for (_, ending), of_kind in lines.items()]


def notes_on(logs: Sequence[Log]) -> list[Note]:
    """Return what is said of logs that have rows: scores that differ, and what was left out."""
    used = [log for log in logs if log.rows]
    notes = [Note("scores", line) for log in used for line in log.disagreements]
    for log in used:
        if log.skipped:
            line = f"Left out of {log.path}: {first_few(log.skipped)}"
            notes.append(Note(f"of {log.path}", line))
    return notes


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
