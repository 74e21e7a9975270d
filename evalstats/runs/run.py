"""`Run`: what a log or a table of scores holds, with what was left out and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

import numpy as np

from evalstats.checks import label, listed
from evalstats.errors import InputError
from evalstats.metrics import Mean
from evalstats.results.report import Table, fragment_html
from evalstats.runs.items import Items, Key
from evalstats.statistics.segments import SegmentStatistics

#: A patterns, or several: ``"mmlu*"``.
Patterns = str | Sequence[str] | None
#: Logs round, and add up in another order.
_RELATIVE, _ABSOLUTE = 1e-6, 1e-9


@dataclass(frozen=True, eq=False)
class Run:
    """What one log, or one table of scores, says: statistics of every item, by task and metric.

    `read_run` makes it; printing it shows what was found, with the scores that were computed here
    beside those in the log, and what was left out and why.

    Attributes
    ----------
    name : str
        Of the model, or of the file where the log names none.
    path : str
        Where it was read.
    format : str
        Whose format it is.
    tables : mapping of (task, metric, filter) to SegmentStatistics
        With ids and labels; items are in the natural order of their ids.
    logged : mapping of (task, metric, filter) to mapping of str to float
        The scores that the log states, by system.
    incomplete : mapping of (task, metric, filter) to str
        What a table lacks: items that the log says there were, or scores of some. `compare_runs`
        and `estimate_runs` refuse these tables unless they are told what to do.
    groups : mapping of str to tuple of str
        Tasks that the log averages, by the name of the average.
    skipped : tuple of str
        What was left out, and why.
    is_limited : bool
        Whether the log says that only a part of the test set was asked for.
    """

    name: str
    path: str
    format: str
    tables: Mapping[Key, SegmentStatistics]
    logged: Mapping[Key, Mapping[str, float]] = field(default_factory=dict)
    incomplete: Mapping[Key, str] = field(default_factory=dict)
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    skipped: tuple[str, ...] = ()
    is_limited: bool = False

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of all systems, in order of first appearance."""
        return tuple(dict.fromkeys(name for t in self.tables.values() for name in t.systems))

    @property
    def tasks(self) -> tuple[str, ...]:
        """Names of all tasks."""
        return tuple(dict.fromkeys(key.task for key in self.tables))

    @property
    def disagreements(self) -> tuple[str, ...]:
        """Scores of the log that are not those of its items, both numbers named."""
        found = []
        for key, table in self.tables.items():
            scores = dict(zip(table.systems, table.scores.tolist(), strict=True))
            for system, stated in self.logged.get(key, {}).items():
                if not np.isclose(scores[system], stated, rtol=_RELATIVE, atol=_ABSOLUTE):
                    found.append(
                        f"{key} of {system}: the log says {stated:.10g}, its items give "
                        f"{scores[system]:.10g}"
                    )
        return tuple(found)

    def select(
        self, task: Patterns = None, metric: Patterns = None, filter: Patterns = None
    ) -> Run:
        """Return the tables whose task, metric and filter match, as shells match file names.

        Raises
        ------
        InputError
            When nothing matches; the message says what there is.
        """
        chosen = [as_patterns(p, n) for p, n in ((task, "task"), (metric, "metric"))]
        chosen.append(as_patterns(filter, "filter"))
        kept = [key for key in self.tables if all(map(matches, key, chosen))]
        if not kept:
            asked = ", ".join(
                f"{name} {' '.join(given)}"
                for name, given in zip(Key._fields, chosen, strict=True)
                if given
            )
            there = "; ".join(map(str, list(self.tables)[:9]))
            raise InputError(f"{self.path} has nothing of {asked or 'anything'}; it has {there}")
        return replace(
            self,
            tables={key: self.tables[key] for key in kept},
            logged={key: self.logged[key] for key in kept if key in self.logged},
            incomplete={key: self.incomplete[key] for key in kept if key in self.incomplete},
        )

    def renamed(self, names: Mapping[str, str]) -> Run:
        """Return the run with other names of systems: ``{"old": "new"}``."""
        tables = {
            key: replace(table, systems=tuple(names.get(name, name) for name in table.systems))
            for key, table in self.tables.items()
        }
        logged = {
            key: {names.get(name, name): score for name, score in scores.items()}
            for key, scores in self.logged.items()
        }
        return replace(self, name=names.get(self.name, self.name), tables=tables, logged=logged)

    def __str__(self) -> str:
        """Return a table of what was found, and lines on what was not."""
        return "\n".join([self._table().text(), *self._footer()])

    def _repr_html_(self) -> str:
        return fragment_html([self._table()], self._footer())

    def __repr__(self) -> str:
        return f"Run({self.name!r}, {self.format}, {len(self.tables)} tables)"

    def _table(self) -> Table:
        rows = []
        for key, table in self.tables.items():
            stated = self.logged.get(key, {})
            for name, score in zip(table.systems, table.scores.tolist(), strict=True):
                logged = f"{stated[name]:.6g}" if name in stated else ""
                size = f"{table.n_segments:,}"
                rows.append((key.task, key.metric, key.filter, name, size, f"{score:.6g}", logged))
        header = ("task", "metric", "filter", "system", "items", "score", "logged")
        used = [j for j in range(len(header)) if any(row[j] for row in rows) or j == 3]
        title = f"{self.name} ({self.format}, {self.path})"
        lines = tuple(tuple(row[j] for j in used) for row in rows)
        align = "".join("<<<<>>>"[j] for j in used)
        return Table(title, tuple(header[j] for j in used), lines, align)

    def _footer(self) -> list[str]:
        lacking = [f"{key}: {what}" for key, what in self.incomplete.items()]
        return [
            *(f"Differs: {line}." for line in self.disagreements),
            *(f"Incomplete: {line}." for line in lacking),
            *(f"Left out: {line}." for line in self.skipped),
        ]


def run_of(
    name: str,
    path: str,
    format: str,
    items: Iterable[Items],
    *,
    skipped: Sequence[str] = (),
    groups: Mapping[str, tuple[str, ...]] | None = None,
    is_limited: bool = False,
) -> Run:
    """Return what a format found as a `Run`, tables by task, metric and filter."""
    found: dict[Key, Items] = {}
    for item in items:
        for part, value in zip(Key._fields, item.key, strict=True):
            if value:
                label(value, part)
        if item.key in found:
            raise InputError(f"{path} has {item.key} twice")
        if item.rows.size and not np.any(item.rows) and isinstance(item.metric, Mean):
            skipped = [*skipped, f"{item.key}, which has no score"]
            continue
        with np.errstate(over="ignore"):
            if not np.all(np.isfinite(np.sum(item.rows, axis=1, dtype=np.float64))):
                raise InputError(f"{path}, {item.key}: scores are so large that no sum holds them")
        found[item.key] = item
    if not found:
        why = "; ".join(skipped[:5]) or "no item has a score"
        raise InputError(f"{path} holds no scores that can be read as {format}: {why}")
    return Run(
        name=label(name, "name of the run"),
        path=path,
        format=format,
        tables={key: item.table() for key, item in found.items()},
        logged={key: dict(item.logged) for key, item in found.items() if item.logged},
        incomplete={key: item.incomplete for key, item in found.items() if item.incomplete},
        groups=dict(groups or {}),
        skipped=tuple(skipped),
        is_limited=is_limited,
    )


def as_patterns(given: Patterns, name: str) -> tuple[str, ...]:
    """Return patterns as a tuple, which is empty where everything is welcome."""
    if given is None:
        return ()
    if isinstance(given, str):
        return (given,)
    return tuple(label(one, name) for one in listed(given, name, "patterns"))


def matches(value: str, patterns: tuple[str, ...]) -> bool:
    """Return whether a name matches one of the patterns, or there are none."""
    return not patterns or any(fnmatchcase(value, pattern) for pattern in patterns)
