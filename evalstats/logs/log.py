"""`Log`, the contents of a log and what was left out; `Format`, a reader of files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, compress
from pathlib import Path, PurePath
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from evalstats.analysis.design import Called
from evalstats.checks import label, listed, meant, shown
from evalstats.errors import InputError
from evalstats.logs.fields import Json, dotted
from evalstats.logs.pivot import ItemScores, item_scores, pivoted, shared_labels
from evalstats.logs.rows import Key, Rows, matches, natural
from evalstats.logs.sources import Source, read_json, without_suffix
from evalstats.metrics import Mean, Metric, Ratio
from evalstats.results.forms import Result
from evalstats.results.records import counted, first_few, only, plural
from evalstats.results.tabular import Table
from evalstats.statistics.segments import SegmentStatistics

#: A pattern, or several: ``"mmlu*"``.
Patterns = str | Sequence[str] | None
_NAMED = 3
#: Tolerance between a score and the one reported in a log.
_RELATIVE, _ABSOLUTE = 1e-6, 1e-9


class Wanted(NamedTuple):
    """The requested rows, by patterns; and the requested labels, by paths of keys (`dotted`).

    `columns` are the roles of columns of tables: ``{"mine": "score"}``. `are_files` is whether
    several files are given, which are systems if columns have names of metrics and costs.
    """

    task: tuple[str, ...] = ()
    metric: tuple[str, ...] = ()
    filter: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    columns: Mapping[str, str | None] = MappingProxyType({})
    are_files: bool = False

    @classmethod
    def of(cls, task: Patterns, metric: Patterns, filter: Patterns, *others: Any) -> Wanted:
        """Return a caller's patterns, each one or several, checked."""
        patterns: list[Any] = [*map(as_patterns, (task, metric, filter), Key._fields)]
        return cls(*patterns, *others)

    def opened(self, groups: Mapping[str, Sequence[str]]) -> Wanted:
        """Return the same with the tasks of the groups that are requested by name."""
        opened = chain.from_iterable(groups[name] for name in groups if matches(name, self.task))
        return self._replace(task=(*self.task, *opened))

    def has_task(self, task: str) -> bool:
        """Return whether a task is requested."""
        return not self.task or matches(task, self.task)

    def has(self, key: Key) -> bool:
        """Return whether the rows of this task, metric and filter are requested."""
        called = zip(_called(key), self[:3], strict=True)
        return all(not wishes or any(matches(n, wishes) for n in names) for names, wishes in called)

    def check(
        self, rows: Sequence[Rows], there: Sequence[Rows], where: str, groups: Iterable[str] = ()
    ) -> None:
        """Raise if a pattern matches nothing, or if no row matches all patterns.

        `rows` are the matching rows, and `there` all rows, for the message; a task may also be one
        of `groups`.
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
                    said = meant(name, names)
                    if part == "metric" and "," in name:
                        said += "; a comma separates a metric from its filter"
                    raise InputError(f"{where}: there is no {part} {name!r}; {said}")
        if not rows:
            wished = ", ".join(
                f"{part} {' '.join(patterns)}" for part, patterns in asked.items() if patterns
            )
            there_is = "; ".join(map(str, list(known)[:9]))
            raise InputError(f"{where}: no scores match {wished}; available: {there_is}")


def _called(key: Key) -> tuple[tuple[str, ...], ...]:
    """Return the names by which a task, a metric and a filter can be asked for.

    A metric also goes by the harness's "acc,none": the result is
    ``(("mmlu",), ("acc", "acc,none"), ("none",))``.
    """
    return (key.task,), (key.metric, f"{key.metric},{key.filter}"), (key.filter,)


class Tables(Mapping[Key, SegmentStatistics]):
    """The table of each key, computed on first use and kept."""

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
    """The score of a group for one metric, as reported in the log and from its tasks.

    `key` has the name of the group as the task. `by_weights` has the mean over all items of its
    tasks, "micro", and the mean of the scores of its tasks, "macro"; `weights` are the ones that
    give the reported score, both if all tasks have the same size.
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
    """The contents of a log or a table of scores: rows of every item, system, task and metric.

    Made by `read_log`. Printing it shows the tables, with the computed scores next to the scores
    reported in the log, and what was left out and why.

    Attributes
    ----------
    path : str
        The path it was read from.
    format : str
        The name of the format.
    rows : tuple of Rows
        Rows by task, in the natural order of their names.
    epochs : str or None
        How `tables` treat several answers to one item, as in `read_log`.
    groups : mapping of str to tuple of str
        Tasks with a common name in the harness: a group, or a tag.
    group_scores : mapping of (Key, str) to float
        The scores of groups reported in the log, by group, metric and filter, and system.
    skipped : tuple of str
        What was left out, and why.

    Examples
    --------
    >>> import evalstats as es
    >>> from pathlib import Path, PurePath
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
        """The name of the only system; with several, the name of the file or folder."""
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

        Items are in the natural order of their ids; an item that a system lacks is a row of zeros.
        Tables are made on first use, which raises an `InputError` if the direction of a metric is
        unknown.
        """
        return Tables(by_key(self.rows), self.epochs)

    @property
    def reported(self) -> dict[Key, dict[str, float]]:
        """The scores reported in the log, by system."""
        stated = by_key(one for one in self.rows if one.reported is not None)
        return {key: {r.system: r.reported or 0.0 for r in rows} for key, rows in stated.items()}

    @property
    def incomplete(self) -> dict[Key, str]:
        """What each table lacks: items that the log reports, or scores."""
        lines = {key: incompleteness(rows) for key, rows in by_key(self.rows).items()}
        return {key: line for key, line in lines.items() if line}

    @property
    def failures(self) -> tuple[str, ...]:
        """Answers without a score that count as failed, as in the harness."""
        failed = [one for one in self.rows if one.failed]
        whose = (", ".join(filter(None, (one.system, one.key.task))) for one in failed)
        lines = (f"{who}: {one.failed}" for who, one in zip(whose, failed, strict=True))
        return tuple(dict.fromkeys(lines))

    @property
    def disagreements(self) -> tuple[str, ...]:
        """Scores of the log that differ from the scores of its items, with both numbers."""
        lines = []
        for one, _, score in self._scored:
            stated = one.reported
            if stated is not None and not np.isclose(score, stated, _RELATIVE, _ABSOLUTE):
                lines.append(
                    f"{one.key} of {one.system}: the log reports {stated:.10g}, but its items give "
                    f"{score:.10g}"
                )
        for group in self.averages:
            if not group.weights:
                micro, macro = group.by_weights.values()
                lines.append(
                    f"{group.key} of {group.system}: the log reports {group.reported:.10g}, but "
                    f"its {len(group.tasks)} tasks give {micro:.10g} over all items and "
                    f"{macro:.10g} over tasks"
                )
        return tuple(lines)

    @cached_property
    def averages(self) -> tuple[Average, ...]:
        """The scores of groups whose tasks are all present, next to the reported scores.

        As in the harness, tasks without the metric do not count in averages.
        """
        scores = {
            (one.key, one.system): (score, len(part.items.ids) + part.n_unscored)
            for one, part, score in self._scored
        }
        tasks, averages = set(self.tasks), []
        for (key, system), stated in self.group_scores.items():
            leaves = self.groups.get(key.task, ())
            asked = {task: (key._replace(task=task), system) for task in leaves}
            there = {task: scores[place] for task, place in asked.items() if place in scores}
            if not there or not tasks.issuperset(leaves):
                continue
            values, sizes = zip(*there.values(), strict=True)
            means = {
                "micro": float(np.average(values, weights=sizes)),
                "macro": float(np.mean(values)),
            }
            are_close = (np.isclose(m, stated, _RELATIVE, _ABSOLUTE) for m in means.values())
            weights = tuple(compress(means, are_close))
            averages.append(Average(key, system, tuple(there), sum(sizes), stated, means, weights))
        return tuple(averages)

    @cached_property
    def _scored(self) -> list[tuple[Rows, ItemScores, float]]:
        """Rows with their items, and the score of all answers with a score."""
        scored = []
        for one in self.rows:
            part = item_scores(one)
            whole = np.nansum(part.values, axis=0, dtype=np.float64)
            scored.append((one, part, float(one.metric.score(whole))))
        return scored

    def part(self, wanted: Wanted) -> Log:
        """Return the requested rows, which may be none."""
        opened = wanted.opened(self.groups)
        return self.less(lambda rows: not opened.has(rows.key))

    def less(self, is_left: Callable[[Rows], bool]) -> Log:
        """Return the log without some rows, which may be all."""
        return replace(self, rows=tuple(rows for rows in self.rows if not is_left(rows)))

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
        """Return the log with the given directions of some metrics."""
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
                raise InputError(f": {what}, is better when {better}", argument="directions")
            is_directed = one.is_directed or is_higher is not None
            rows.append(replace(one, metric=metric, is_directed=is_directed))
        return replace(self, rows=tuple(rows))

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values: the tables, and what was left out."""
        averages = [
            _record(x, x.n_items, "", x.by_weights[x.weights[0]] if x.weights else None)
            for x in self.averages
        ]
        return {
            **{name: getattr(self, name) for name in ("name", "path", "format", "epochs")},
            "tables": self._records(),
            "groups": {name: list(tasks) for name, tasks in self.groups.items()},
            "group_scores": averages,
            "incomplete": {str(key): what for key, what in self.incomplete.items()},
            "failures": list(self.failures),
            "disagreements": list(self.disagreements),
            "skipped": list(self.skipped),
        }

    def _records(self) -> list[dict[str, Any]]:
        return [
            _record(one, len(part.items.ids), "-".join(map(str, dict.fromkeys(part.n_answers))), x)
            for one, part, x in self._scored
        ]

    def __repr__(self) -> str:
        return f"Log({self.name!r}, {self.format}, {len(self.tables)} tables)"

    def _tables(self, digits: int | None = None) -> list[Table]:
        spec = ".6g" if digits is None else f".{digits}f"
        shown = {"items": ",", "score": spec, "reported": spec}
        told = self.to_dict()
        rows = [
            {k: "" if v is None else format(v, shown.get(k, "")) for k, v in record.items()}
            for record in (*told["tables"], *told["group_scores"])
        ]
        # Columns without any content are left out.
        empty = {"filter": ["", "none"], "answers": ["", "1"], "system": [], "items": []}
        empty["score"] = []
        used = [k for k in rows[0] if any(row[k] not in empty.get(k, [""]) for row in rows)]
        sides = "".join(">" if k in (*shown, "answers") else "<" for k in used)
        lines = tuple(tuple(row[k] for k in used) for row in rows)
        units = plural(only((one.called[0] for one in self.rows), "item"))
        header = tuple(units if k == "items" else k for k in used)
        return [Table(f"{self.name} ({self.format}, {self.path})", header, lines, sides)]

    def _below(self, verbose: bool = False, findings: bool = False) -> tuple[list[str], list[str]]:
        # What was left out is always shown.
        return super()._below(True, findings)

    def _notes(self) -> list[str]:
        return [
            *(f"Differs: {line}." for line in self.disagreements),
            *(f"Counted as failed: {line}." for line in self.failures),
            *(f"Incomplete: {key}: {what}." for key, what in self.incomplete.items()),
            *(f"Left out: {line}." for line in self.skipped),
        ]


def _record(one: Rows | Average, n: int, answers: str, score: float | None) -> dict[str, Any]:
    """Return the printed fields of rows, or of an average, of n items."""
    computed = {"items": n, "answers": answers, "score": score, "reported": one.reported}
    return {**one.key._asdict(), "system": one.system, **computed}


def log_of(
    path: object,
    format: str,
    rows: Iterable[Rows],
    skipped: Sequence[str] = (),
    groups: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
    group_scores: Mapping[tuple[Key, str], float] = MappingProxyType({}),
) -> Log:
    """Return the rows read by a format as a `Log`, with tasks in natural order.

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
                raise InputError(
                    f"{path}, {one.key}: the scores are so large that their sum overflows"
                )
        # A deliberately unscored answer is (0, 0) in a mean.
        is_mean = isinstance(one.metric, Mean)
        if np.any(np.nan_to_num(one.values)) if is_mean else not np.all(one.is_gone):
            by_system[one.key, one.system] = replace(one, path=one.path or str(path))
        else:
            left.append(f"{one.key} of {one.system}, because it has no score")
    kept = tuple(sorted(by_system.values(), key=lambda one: natural(one.key.task)))
    of_key: dict[Key, list[ItemScores]] = {}
    for one in kept:
        part = item_scores(one)
        of_key.setdefault(one.key, []).append(part)
        if part.n_unscored:
            whole = counted(part.n_unscored + len(part.items.ids), one.called[0])
            who = f"{one.key} of {one.system}"
            left.append(f"{part.n_unscored:,} of {whole} of {who}, which are unscored")
    for parts in of_key.values():
        shared_labels(parts)  # Labels of an item must agree between the systems of one log.
    return Log(str(path), format, kept, None, dict(groups), dict(group_scores), tuple(left))


def by_key(rows: Iterable[Rows]) -> dict[Key, list[Rows]]:
    """Return the rows of each task, metric and filter, one `Rows` per system."""
    of_key: dict[Key, list[Rows]] = {}
    for one in rows:
        of_key.setdefault(one.key, []).append(one)
    return of_key


def incompleteness(rows: Sequence[Rows]) -> str:
    """Return a line on what logs lack by their own counts, and on missing scores.

    As in "2 of 8 scores are missing (1 of A, 1 of B)"; the line is empty if nothing is missing.
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
        whom = first_few(whose, ", ", _NAMED, " and others of {} more")
        who = f" ({whom})" if len(rows) > 1 else ""
        total = sum(len(one.values) for one in rows)
        lines.append(f"{n:,} of {total:,} scores {'is' if n == 1 else 'are'} missing{who}")
    return "; ".join(lines)


def as_patterns(patterns: Patterns, name: str) -> tuple[str, ...]:
    """Return patterns as a tuple, empty for everything."""
    if patterns is None:
        return ()
    if isinstance(patterns, str):
        return (patterns,)
    return tuple(label(pattern, name) for pattern in listed(patterns, name, "patterns"))


#: Added to the name of a format if items have no names.
BY_PLACE = ", items are its rows"


@dataclass
class Reading:
    """A file or folder being read: its files of the format, and what is requested.

    Besides the rows, a format fills in `skipped`, `groups` and `group_scores` of `Log`, and may
    extend its name in `format`.
    """

    source: Source
    files: list[Path]
    wanted: Wanted
    format: str
    skipped: list[str] = field(default_factory=list)
    groups: dict[str, tuple[str, ...]] = field(default_factory=dict)
    group_scores: dict[tuple[Key, str], float] = field(default_factory=dict)

    def json(self, path: Path) -> Json:
        """Return the contents of one of the files; a single file was read before."""
        return self.source.json if path == self.source.path else read_json(path)

    def labels(self, record: Any, **known: str) -> dict[str, str]:
        """Return the labels of an item: known ones, and requested ones, by paths of keys."""
        return {**known, **{path: dotted(record, path) for path in self.wanted.labels}}


@dataclass(frozen=True)
class Format:
    """A format of logs: `rows` turns its files into rows.

    A single file has the format if it has one of the `suffixes` (".json .jsonl", ignoring
    compression; "" is any) and `fits`; other files are not opened. In a folder, the files that
    `listed` recognises by name or first bytes are read; a format without it reads single files
    only. `called` are the default names of an item and a task.
    """

    name: str
    suffixes: str
    fits: Callable[[Source], bool]
    rows: Callable[[Reading], Iterable[Rows]]
    listed: Callable[[Source], bool] | None = None
    called: Called | None = None

    def files(self, source: Source) -> Iterator[Path]:
        """Yield the files of a folder that are of this format, or the file that is."""
        if not source.path.is_dir():
            if (not self.suffixes or source.suffix in self.suffixes.split()) and self.fits(source):
                yield source.path
        elif self.listed is not None:
            yield from (path for path in source.files if self.listed(Source(path)))

    def is_ours(self, source: Source) -> bool:
        """Return whether a file is of this format, or a folder has such a file."""
        return next(self.files(source), None) is not None

    def read(self, source: Source, wanted: Wanted) -> Log:
        """Return the requested rows of a file or folder of this format."""
        reading = Reading(source, list(self.files(source)), wanted, self.name)
        rows = list(self.rows(reading))
        if self.called is not None:
            rows = [replace(one, called=self.called) for one in rows]
        opened = wanted.opened(reading.groups)
        rows = [one for one in rows if opened.has(one.key)]
        filled = reading.skipped, reading.groups, reading.group_scores
        return log_of(source.path, reading.format, rows, *filled)


def begins(beginning: bytes, flags: int = 0) -> Callable[[Source], bool]:
    """Return a test whether a file is JSON whose first bytes match a pattern."""
    pattern = re.compile(beginning, flags)
    return lambda source: source.suffix == ".json" and pattern.match(source.head) is not None


#: Prefixes of arguments, and of templates of prompts, among settings.
ARGUMENT, PROMPTS = "arguments", "prompts"


def fewer(unit: str, n_stated: object, n_there: int) -> str:
    """Return "there were 8 trials, 6 are there"; empty if they agree, or if no number is stated."""
    if n_stated is None or n_stated == n_there:
        return ""
    return f"the log reports {shown(n_stated, 60)} {unit}, but has {n_there:,}"


def ended(unit: str, errors: Sequence[object], n_whole: int | None = None) -> str:
    """Return "2 of 8 trials ended with an error, the first with 'timeout'"; empty for none."""
    if not errors:
        return ""
    whole = f" of {n_whole:,}" if n_whole is not None else ""
    what = unit.removesuffix("s") if len(errors) == 1 and n_whole is None else unit
    first = shown(errors[0], 80)
    return f"{len(errors):,}{whole} {what} ended with an error, the first with {first}"


def settings_of(arguments: Any = None, **values: object) -> dict[str, str]:
    """Return settings as text, without unknown ones: ``{"version": "1.0"}``.

    Arguments of a task, ``{"cot": 1}``, become settings, ``{"arguments.cot": "1"}``. A dataset that
    is a path is left out, because it depends on the machine.
    """
    known = {
        name: f"{value:g}" if isinstance(value, float) else str(value)
        for name, value in values.items()
        if value not in (None, "", "N/A")
    }
    if PurePath(known.get("dataset", "")).is_absolute():
        del known["dataset"]
    for name in sorted(arguments, key=str) if isinstance(arguments, Mapping) else ():
        known[f"{ARGUMENT}.{name}"] = shown(arguments[name], 60)
    return known
