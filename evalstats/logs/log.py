"""`Log`: what a log or a table of scores holds, with what was left out and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from evalstats.checks import label, listed, meant
from evalstats.errors import InputError
from evalstats.logs.pivot import ItemScores, item_scores, pivoted, shared_labels
from evalstats.logs.rows import Key, Rows, matches, natural
from evalstats.logs.sources import without_suffix
from evalstats.metrics import Mean, Metric, Ratio
from evalstats.results.forms import Result
from evalstats.results.records import counted, first_few, only, plural
from evalstats.results.tabular import Table
from evalstats.statistics.segments import SegmentStatistics

#: A pattern, or several: ``"mmlu*"``.
Patterns = str | Sequence[str] | None
_NAMED = 3
#: How far a score may be from the one that a log states.
_RELATIVE, _ABSOLUTE = 1e-6, 1e-9


class Wanted(NamedTuple):
    """Which rows are wanted, by patterns; what is kept as labels, by paths of keys (`dotted`).

    `columns` are the roles of columns of tables: ``{"mine": "score"}``.
    """

    task: tuple[str, ...] = ()
    metric: tuple[str, ...] = ()
    filter: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    columns: Mapping[str, str | None] = MappingProxyType({})

    @classmethod
    def of(cls, task: Patterns, metric: Patterns, filter: Patterns) -> Wanted:
        """Return the patterns of a caller, each one or several, or say what is wrong with them."""
        return cls(
            as_patterns(task, "task"), as_patterns(metric, "metric"), as_patterns(filter, "filter")
        )

    def opened(self, groups: Mapping[str, Sequence[str]]) -> Wanted:
        """Return the same with the tasks of the groups that are asked for by name."""
        tasks = [task for group, of in groups.items() if matches(group, self.task) for task in of]
        return self._replace(task=(*self.task, *tasks))

    def has_task(self, task: str) -> bool:
        """Return whether a task is wanted."""
        return not self.task or matches(task, self.task)

    def has(self, key: Key) -> bool:
        """Return whether the rows of this task, metric and filter are wanted."""
        return all(
            not patterns or any(matches(name, patterns) for name in names)
            for names, patterns in zip(_called(key), self[:3], strict=True)
        )

    def check(
        self, rows: Sequence[Rows], there: Sequence[Rows], where: str, groups: Iterable[str] = ()
    ) -> None:
        """Raise where a pattern matches nothing, or no row matches all patterns.

        `rows` are those that match, and `there` all, for the message to say what there is; a task
        may also be one of `groups`.
        """
        known = dict.fromkeys(one.key for one in there)
        asked = dict(zip(Key._fields, self[:3], strict=True))
        for j, (part, wishes) in enumerate(asked.items()):
            names = [key[j] for key in known if key[j]]
            called = [n for key in known for n in _called(key)[j]]
            if part == "task":
                names, called = [*names, *groups], [*called, *groups]
            for name in wishes:
                if not any(matches(n, [name]) for n in called):
                    said = meant(name, names) if names else "there is none at all"
                    if part == "metric" and "," in name:
                        said += "; a comma is between a metric and its filter"
                    raise InputError(f"{where}: there is no {part} {name!r}; {said}")
        if not rows:
            wished = ", ".join(
                f"{part} {' '.join(patterns)}" for part, patterns in asked.items() if patterns
            )
            there_is = "; ".join(map(str, list(known)[:9]))
            raise InputError(f"{where}: there is nothing of {wished}, but {there_is}")


def _called(key: Key) -> tuple[tuple[str, ...], ...]:
    """Return the names by which a task, a metric and a filter can be asked for.

    A metric also goes by the harness's "acc,none": the result is
    ``(("mmlu",), ("acc", "acc,none"), ("none",))``.
    """
    return (key.task,), (key.metric, f"{key.metric},{key.filter}"), (key.filter,)


class Tables(Mapping[Key, SegmentStatistics]):
    """The table of each key, which is computed when it is first asked for, and then kept."""

    def __init__(self, rows: Mapping[Key, Sequence[Rows]], epochs: str | None) -> None:
        self._rows, self._epochs = rows, epochs
        self._tables: dict[Key, SegmentStatistics] = {}

    def __getitem__(self, key: Key) -> SegmentStatistics:
        if key not in self._tables:
            self._tables[key] = pivoted(self._rows[key], self._epochs).table()
        return self._tables[key]

    def __iter__(self) -> Iterator[Key]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


class Average(NamedTuple):
    """The score of a group under one metric, as the log states it and as its tasks give it.

    `key` has the name of the group in the place of a task. `by_weights` has the mean over all items
    of its tasks, "micro", and the mean of the scores of its tasks, "macro"; `weights` are those of
    which the mean is the stated score, both where all tasks are of one size.
    """

    key: Key
    system: str
    tasks: tuple[str, ...]
    n_items: int
    reported: float
    by_weights: Mapping[str, float]
    weights: tuple[str, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Log(Result):
    """What a log, or a table of scores, says: rows of every item, system, task and metric.

    `read_log` makes it; printing it shows what was found, with the scores that were computed here
    beside those that the log reports, and what was left out and why.

    Attributes
    ----------
    path : str
        Where it was read.
    format : str
        Whose format it is.
    rows : tuple of Rows
        By task, in the natural order of their names.
    epochs : str or None
        What several answers to one item are in `tables`, as in `read_log`.
    groups : mapping of str to tuple of str
        Tasks that the harness calls by one name: those of a group, or with a tag.
    group_scores : mapping of (Key, str) to float
        The scores of groups that the log states, by group, metric and filter, and system.
    skipped : tuple of str
        What was left out, and why.

    Examples
    --------
    >>> import evalstats as es
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> path, rows = Path(mkdtemp(), "judge.csv"), "id,system,score a,A,3 a,B,4 b,A,4 b,B,5"
    >>> _ = path.write_text(rows.replace(" ", chr(10)))
    >>> [rows.system for rows in es.read_log(path).rows]
    ['A', 'B']
    """

    path: str
    format: str
    rows: tuple[Rows, ...]
    epochs: str | None = None
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    group_scores: Mapping[tuple[Key, str], float] = field(default_factory=dict)
    skipped: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name of the only system; of several, that of the file or folder."""
        return self.systems[0] if len(self.systems) == 1 else without_suffix(self.path) or self.path

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of all systems, in order of first appearance."""
        return tuple(dict.fromkeys(one.system for one in self.rows))

    @property
    def tasks(self) -> tuple[str, ...]:
        """Names of all tasks."""
        return tuple(dict.fromkeys(one.key.task for one in self.rows))

    @cached_property
    def tables(self) -> Mapping[Key, SegmentStatistics]:
        """Statistics with ids and labels, `(S, N, k)`, by (task, metric, filter).

        Items are in the natural order of their ids; what a system lacks is a row of zeros. A table
        is made when it is asked for, which is an `InputError` where its direction is not known.
        """
        return Tables(by_key(self.rows), self.epochs)

    @property
    def reported(self) -> dict[Key, dict[str, float]]:
        """The scores that the log states, by system."""
        stated = by_key(one for one in self.rows if one.reported is not None)
        return {key: {r.system: r.reported or 0.0 for r in rows} for key, rows in stated.items()}

    @property
    def incomplete(self) -> dict[Key, str]:
        """What each table lacks: items that the log says there were, or scores."""
        lines = {key: incompleteness(rows) for key, rows in by_key(self.rows).items()}
        return {key: line for key, line in lines.items() if line}

    @property
    def failures(self) -> tuple[str, ...]:
        """What has no score and counts as failed, as the harness counts it."""
        lines = (
            f"{one.system}{f', {one.key.task}' if one.key.task else ''}: {one.failed}"
            for one in self.rows
            if one.failed
        )
        return tuple(dict.fromkeys(lines))

    @property
    def disagreements(self) -> tuple[str, ...]:
        """Scores of the log that are not those of its items, both numbers named."""
        lines = []
        for one, _, score in self._scored:
            stated = one.reported
            if stated is not None and not np.isclose(score, stated, _RELATIVE, _ABSOLUTE):
                lines.append(
                    f"{one.key} of {one.system}: the log says {stated:.10g}, its items give "
                    f"{score:.10g}"
                )
        for group in self.averages:
            if not group.weights:
                micro, macro = group.by_weights.values()
                lines.append(
                    f"{group.key} of {group.system}: the log says {group.reported:.10g}, its "
                    f"{len(group.tasks)} tasks give {micro:.10g} over all items and {macro:.10g} "
                    f"over tasks"
                )
        return tuple(lines)

    @cached_property
    def averages(self) -> tuple[Average, ...]:
        """The scores of groups of which all tasks are there, beside those that the log states.

        As the harness does, a task that lacks the metric is in no average of it.
        """
        scores = {
            (one.key, one.system): (score, len(part.ids) + part.n_unscored)
            for one, part, score in self._scored
        }
        tasks, averages = set(self.tasks), []
        for (key, system), stated in self.group_scores.items():
            leaves = self.groups.get(key.task, ())
            each = {task: scores.get((key._replace(task=task), system)) for task in leaves}
            there = {task: own for task, own in each.items() if own is not None}
            if there and tasks.issuperset(leaves):
                values, sizes = zip(*there.values(), strict=True)
                means = {"micro": np.average(values, weights=sizes), "macro": np.mean(values)}
                means = {name: float(mean) for name, mean in means.items()}
                weights = tuple(
                    w for w, m in means.items() if np.isclose(m, stated, _RELATIVE, _ABSOLUTE)
                )
                averages.append(
                    Average(key, system, tuple(there), sum(sizes), stated, means, weights)
                )
        return tuple(averages)

    @cached_property
    def _scored(self) -> list[tuple[Rows, ItemScores, float]]:
        """Rows with their items, and the score of all but those whose score is missing."""
        scored = []
        for one in self.rows:
            part = item_scores(one)
            whole = np.nansum(part.values, axis=0, dtype=np.float64)
            scored.append((one, part, float(one.metric.score(whole))))
        return scored

    def part(self, wanted: Wanted) -> Log:
        """Return the rows that are wanted, which may be none."""
        opened = wanted.opened(self.groups)
        return replace(self, rows=tuple(one for one in self.rows if opened.has(one.key)))

    def renamed(self, names: Mapping[str, str]) -> Log:
        """Return the log with other names of systems: ``{"old": "new"}``."""
        rows = tuple(replace(one, system=names.get(one.system, one.system)) for one in self.rows)
        scores = {
            (key, names.get(system, system)): score
            for (key, system), score in self.group_scores.items()
        }
        return replace(self, rows=rows, group_scores=scores)

    def counting(self, missing: str | None) -> Log:
        """Return the log with answers without a score counted as `missing` says (`Rows`)."""
        return replace(self, rows=tuple(one.counting(missing) for one in self.rows))

    def directed(self, directions: Mapping[str, bool]) -> Log:
        """Return the log with the directions of some metrics as they are given."""
        rows = []
        for one in self.rows:
            metric: Metric = one.metric
            matching = (h for p, h in directions.items() if matches(one.key.metric, [p]))
            is_higher = next(matching, None)
            if is_higher is not None and isinstance(metric, (Mean, Ratio)):
                metric = replace(metric, higher_is_better=is_higher)
            elif is_higher is not None and metric.higher_is_better is not is_higher:
                better = "higher" if metric.higher_is_better else "lower"
                what = f"{one.key}, which is {metric.name}"
                raise InputError(f": {what}, is better {better}", argument="directions")
            is_directed = one.is_directed or is_higher is not None
            rows.append(replace(one, metric=metric, is_directed=is_directed))
        return replace(self, rows=tuple(rows))

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values: what was found, and what was left out."""
        groups = [
            {
                **one.key._asdict(),
                "system": one.system,
                "items": one.n_items,
                "answers": "",
                "score": one.by_weights[one.weights[0]] if one.weights else None,
                "reported": one.reported,
            }
            for one in self.averages
        ]
        return {
            **{name: getattr(self, name) for name in ("name", "path", "format", "epochs")},
            "tables": self._records(),
            "groups": {name: list(tasks) for name, tasks in self.groups.items()},
            "group_scores": groups,
            "incomplete": {str(key): what for key, what in self.incomplete.items()},
            "failures": list(self.failures),
            "disagreements": list(self.disagreements),
            "skipped": list(self.skipped),
        }

    def __repr__(self) -> str:
        return f"Log({self.name!r}, {self.format}, {len(self.tables)} tables)"

    def _records(self) -> list[dict[str, Any]]:
        return [
            {
                **one.key._asdict(),
                "system": one.system,
                "items": len(part.ids),
                "answers": "-".join(map(str, dict.fromkeys(part.n_answers))),
                "score": score,
                "reported": one.reported,
            }
            for one, part, score in self._scored
        ]

    def _tables(self, digits: int | None = None) -> list[Table]:
        spec = ".6g" if digits is None else f".{digits}f"
        shown = {"items": ",", "score": spec, "reported": spec}
        told = self.to_dict()
        rows = [
            {k: "" if v is None else format(v, shown.get(k, "")) for k, v in record.items()}
            for record in (*told["tables"], *told["group_scores"])
        ]
        # What says nothing of any row is no column.
        empty = {"filter": ["", "none"], "answers": ["", "1"], "system": [], "items": []}
        empty["score"] = []
        used = [k for k in rows[0] if any(row[k] not in empty.get(k, [""]) for row in rows)]
        sides = "".join(">" if k in (*shown, "answers") else "<" for k in used)
        lines = tuple(tuple(row[k] for k in used) for row in rows)
        units = plural(only((one.called[0] for one in self.rows), "item"))
        header = tuple(units if k == "items" else k for k in used)
        return [Table(f"{self.name} ({self.format}, {self.path})", header, lines, sides)]

    def _below(self, verbose: bool = False) -> tuple[list[str], list[str]]:
        # What was left out is what one wants to see.
        return super()._below(verbose=True)

    def _notes(self) -> list[str]:
        return [
            *(f"Differs: {line}." for line in self.disagreements),
            *(f"Counted as failed: {line}." for line in self.failures),
            *(f"Incomplete: {key}: {what}." for key, what in self.incomplete.items()),
            *(f"Left out: {line}." for line in self.skipped),
        ]


def log_of(
    path: object,
    format: str,
    rows: Iterable[Rows],
    *,
    skipped: Sequence[str] = (),
    groups: Mapping[str, tuple[str, ...]] | None = None,
    group_scores: Mapping[tuple[Key, str], float] | None = None,
) -> Log:
    """Return the rows that a format read as a `Log`, tasks in the natural order of their names.

    Rows without any score are left out, and named in `Log.skipped` after the lines of `skipped`.
    """
    by_system: dict[tuple[Key, str], Rows] = {}
    left = list(skipped)
    for one in rows:
        for kind, value in zip((*Key._fields, "system"), (*one.key, one.system), strict=True):
            if value:
                label(value, kind)
        if (one.key, one.system) in by_system:
            raise InputError(f"{path} has {one.key} of {one.system} twice")
        with np.errstate(over="ignore"):
            if not np.all(np.isfinite(np.nansum(one.values, axis=0, dtype=np.float64))):
                raise InputError(f"{path}, {one.key}: scores are so large that no sum holds them")
        # An answer that was not scored on purpose is (0, 0) of a mean.
        is_mean = isinstance(one.metric, Mean)
        if np.any(np.nan_to_num(one.values)) if is_mean else not np.all(one.is_gone):
            by_system[one.key, one.system] = replace(one, path=one.path or str(path))
        else:
            left.append(f"{one.key} of {one.system}, which has no score")
    kept = tuple(sorted(by_system.values(), key=lambda one: natural(one.key.task)))
    of_key: dict[Key, list[ItemScores]] = {}
    for one in kept:
        part = item_scores(one)
        of_key.setdefault(one.key, []).append(part)
        if part.n_unscored:
            every = counted(part.n_unscored + len(part.ids), one.called[0])
            n = f"{part.n_unscored:,} of {every}"
            left.append(f"{n} of {one.key} of {one.system}, which are unscored")
    for parts in of_key.values():
        shared_labels(parts)  # What systems of one log say of an item must be the same.
    return Log(
        str(path),
        format,
        kept,
        groups=dict(groups or {}),
        group_scores=dict(group_scores or {}),
        skipped=tuple(left),
    )


def by_key(rows: Iterable[Rows]) -> dict[Key, list[Rows]]:
    """Return the rows of each task, metric and filter, one `Rows` a system."""
    of_key: dict[Key, list[Rows]] = {}
    for one in rows:
        of_key.setdefault(one.key, []).append(one)
    return of_key


def incompleteness(rows: Sequence[Rows]) -> str:
    """Return a line on what logs lack by their own account, and on how many scores are missing.

    As in "2 of 8 scores are missing (1 of A, 1 of B)"; the line is empty where nothing is.
    """
    systems: dict[str, list[str]] = {}
    for one in rows:
        if one.lacking:
            systems.setdefault(one.lacking, []).append(one.system)
    lines = [
        f"{what} ({', '.join(names)})" if len(rows) > 1 else what for what, names in systems.items()
    ]
    gone = [(int(np.sum(one.is_gone)), one.system) for one in rows]
    n, whose = sum(n for n, _ in gone), [f"{n:,} of {name}" for n, name in gone if n]
    if n:
        some = first_few(whose, ", ", _NAMED, " and others of {} more")
        who = f" ({some})" if len(rows) > 1 else ""
        total = sum(len(one.values) for one in rows)
        lines.append(f"{n:,} of {total:,} scores {'is' if n == 1 else 'are'} missing{who}")
    return "; ".join(lines)


def as_patterns(patterns: Patterns, name: str) -> tuple[str, ...]:
    """Return patterns as a tuple, which is empty where everything is welcome."""
    if patterns is None:
        return ()
    if isinstance(patterns, str):
        return (patterns,)
    return tuple(label(one, name) for one in listed(patterns, name, "patterns"))
