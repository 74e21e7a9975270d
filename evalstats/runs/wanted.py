"""What of a log is wanted: large ones are read no further than that."""

from __future__ import annotations

from typing import NamedTuple

from evalstats.runs.items import Key
from evalstats.runs.run import matches


class Wanted(NamedTuple):
    """Patterns of what to read; empty ones match everything.

    Attributes
    ----------
    tasks, metrics, filters : tuple of str
        As shells match file names.
    labels : tuple of str
        Paths of keys whose values are kept as labels of the items (`sources.dotted`).
    as_runs : bool
        Whether several answers to one question are runs of a system, rather than averaged.
    """

    tasks: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    filters: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    as_runs: bool = False

    def has_task(self, task: str) -> bool:
        """Return whether a task is wanted."""
        return matches(task, self.tasks)

    def has(self, key: Key) -> bool:
        """Return whether a table is wanted."""
        return all(map(matches, key, self[:3]))
