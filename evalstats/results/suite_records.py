"""Rows of a suite: scores and differences with the task that they are of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from evalstats.errors import InputError
from evalstats.results.records import Difference, distinct
from evalstats.results.report import Table
from evalstats.results.results import Estimate

R = TypeVar("R", bound="TaskEstimate | TaskDifference")


@dataclass(frozen=True)
class TaskEstimate(Estimate):
    """The score of a system on a task, or in total; an `Estimate` without replicates.

    Attributes
    ----------
    task : str
        Name of the task, or of the aggregate.
    aggregate : str or None
        What the total is ("macro", "micro", "weighted" or the name of a function); `None` for a
        task.
    """

    task: str = ""
    aggregate: str | None = None

    def _tables(self, digits: int | None = None) -> list[Table]:
        found = super()._tables(digits)
        return [replace(table, title=f"{self.task}: {table.title}") for table in found]


@dataclass(frozen=True)
class TaskDifference(Difference):
    """A system against a baseline on a task, or in total; a `Difference`.

    Attributes
    ----------
    task, aggregate
        As of a `TaskEstimate`.
    n_segments : int
        Of the task, or of all; groups where these were drawn.
    """

    task: str = ""
    aggregate: str | None = None
    n_segments: int = 0

    def _title(self) -> str:
        return f"{self.task}: {super()._title()}"


def only(rows: Sequence[R], what: str, **given: str | None) -> R:
    """Return the only row whose fields have these values; `None` fits all."""
    asked = {name: value for name, value in given.items() if value is not None}
    found = [row for row in rows if all(getattr(row, k) == v for k, v in asked.items())]
    if len(found) == 1:
        return found[0]
    if not found:
        for name, value in asked.items():
            known = distinct(getattr(row, name) for row in rows)
            if value not in known:
                raise InputError(f"{name} must be one of {', '.join(known)}; got {value!r}")
        raise InputError(f"there is no {what} of {', '.join(map(repr, asked.values()))}")
    apart = [name for name in given if len({getattr(row, name) for row in found}) > 1]
    raise InputError(f"there are {len(found)} such {what}s; say which {' and '.join(apart)}")
