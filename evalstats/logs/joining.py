"""`compare_logs`, `estimate_logs`: logs joined by task and item; human scores and battles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypedDict, cast

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.comparison import Comparison
from evalstats.analysis.design import (
    Aggregated,
    Labels,
    NamedTotal,
    as_units,
    names_of_labels,
    unit_name,
)
from evalstats.analysis.options import Options, PairOptions, ScoreOptions
from evalstats.analysis.suite import Suite
from evalstats.checks import also_called, choice, flag, listed, plain, shown, taking
from evalstats.designs.arenas.battles import ASKED, BattleTable, BradleyTerry, both_bad_notes
from evalstats.designs.trials.metrics import Trials
from evalstats.errors import Argument, InputError
from evalstats.logs.formats import arenas
from evalstats.logs.formats.roles import as_columns
from evalstats.logs.log import Average, Log, Patterns, Wanted, as_patterns
from evalstats.logs.missing import (
    MISSING,
    Note,
    allowed_changes,
    change_notes,
    common_item_notes,
    complete,
    notes_on,
    run_notes,
    same_items,
    sentences,
    shared_tasks,
    whole_runs,
    without_errors,
    without_twins,
)
from evalstats.logs.pivot import Pivot, epochs_of, pivots_of, usual_epochs
from evalstats.logs.reading import (
    Logs,
    OneLog,
    distinguished,
    of_runs,
    places_of,
    read_several,
    told_apart,
)
from evalstats.logs.rows import Key, Rows, as_directions, check_patterns, matches, natural
from evalstats.logs.sources import without_suffix
from evalstats.metrics import Mean, Ratio
from evalstats.results.estimates import Estimates
from evalstats.results.records import counted, distinct, first_few, plural
from evalstats.statistics.segments import SegmentStatistics

if TYPE_CHECKING:
    from typing_extensions import Unpack

#: Metrics with a name that can be changed.
_RENAMED = (Mean, Ratio, Trials)


class LogOptions(TypedDict, total=False):
    """Options for selecting and reading logs."""

    task: Patterns
    metric: Patterns
    filter: Patterns
    system: Patterns
    groups: Labels
    strata: Labels
    aggregate: Aggregated | None
    missing: Literal["error", "failure", "intersect", "available"] | None
    epochs: str | Sequence[str] | None
    directions: Mapping[str, str] | None
    columns: Mapping[str, str | None] | None
    human: OneLog | None


class EstimatedLogs(LogOptions, ScoreOptions, total=False):
    """Options of `estimate_logs`."""


class ComparedLogs(LogOptions, PairOptions, total=False):
    """Options of `compare_logs`."""

    by: Labels
    paired: bool


@also_called(systems="logs", metrics="metric", seed="rng")
@taking(ComparedLogs)
def compare_logs(logs: Logs, **options: Unpack[ComparedLogs]) -> Comparison:
    """Compare systems by their logs, joined by the ids of their items.

    Parameters
    ----------
    logs : sequence or mapping of Log, path or frame, or one of them
        Logs of at least two systems, in any number of files and folders; logs of one system on
        different tasks are joined. A mapping gives names to logs of one system each; a list as a
        value has the logs of its runs.
    task, metric, filter : str or sequence of str, optional
        What to compare, with shell patterns; by default everything.
    system : str or sequence of str, optional
        The systems in order, also with patterns.
    groups, strata : str or sequence, optional
        Labels of the items, by name: a column of a table, or a path of keys in the log
        (``"doc.passage_id"``). Or one label per item, if items are numbered by lines, or sorted by
        name. Strata are only for one task; several tasks are strata themselves.
    by : str or sequence, optional
        Labels of one task: results per domain, and whether domains differ, as in `Comparison.by`.
    aggregate
        The total over several tasks, as in `Suite`; for one task as in `compare`.
    missing : {"error", "failure", "intersect", "available"}, optional
        What to do if systems have different items, metrics or tasks: refuse (``"error"``), or
        compare what all have (``"intersect"``). ``"available"`` takes means of the scores that
        exist. Notes report how many were left out. With ``"failure"``, answers without a 0/1 score,
        and items without an answer, count as failed. By default errors count as in their harness
        (SWE-bench, τ-bench, promptfoo, DeepEval: as failed), and anything else that is missing is
        refused.
    epochs : {"mean", "runs", "pass^K", "pass@K", "flips"}, or a list, optional
        How to treat several answers to an item, as in `read_log`; by default as in the first log.
        Each value of a list is a metric: ``["pass^1", "pass^4"]``.
    directions, columns : mapping, optional
        As in `read_log`: ``{"judge": "lower"}`` and ``{"mine": "score"}``.
    human : path, frame, Log or str, optional
        Human scores of a random sample of the items, if the logs have a judge's scores: a
        table, joined by item ids and names of systems, or the name of a column of the logs. The
        result is prediction-powered (`evalstats.Judged`). With several metrics each is a judge, and
        human scores correct all of them together.
    paired : bool
        `False` if the systems answered different items: each is then a separate sample, as in
        `compare`.
    **options
        As in `compare`, or, for several tasks, in `Suite.compare`.

    Returns
    -------
    Comparison
        The comparison on one task, or on several with their total.

    Raises
    ------
    InputError
        If logs cannot be read or joined, or if options do not work with several tasks.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> path, rows = Path(mkdtemp(), "judge.csv"), "id,system,score a,A,3 a,B,4 b,A,4 b,B,5"
    >>> _ = path.write_text(rows.replace(" ", chr(10)))
    >>> (d,) = compare_logs(path)
    >>> print(f"{d.system} - {d.baseline}: {d.difference:.2f}")
    B - A: 1.00
    """
    suite, by, asked = _suite_of(logs, options, 2)
    comparison = suite.compare(**asked)
    return comparison if by is None else comparison.by(by)


@also_called(systems="logs", metrics="metric", seed="rng")
@taking(EstimatedLogs)
def estimate_logs(logs: Logs, **options: Unpack[EstimatedLogs]) -> Estimates:
    """Score one or several systems on one or several tasks, with intervals.

    Parameters
    ----------
    logs, task, metric, filter, system, missing, epochs, directions, columns, human
        As in `compare_logs`.
    groups, strata, aggregate
        As in `compare_logs`.
    **options
        As in `evalstats.estimate`, or, for several tasks, in `Suite.estimate`.

    Returns
    -------
    Estimates
        An `Estimate` for each task, metric and system, and then the totals.

    Raises
    ------
    InputError
        If logs cannot be read or joined, or if options do not work with several tasks.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> path, rows = Path(mkdtemp(), "judge.csv"), "id,system,score a,A,3 a,B,4 b,A,4 b,B,5"
    >>> _ = path.write_text(rows.replace(" ", chr(10)))
    >>> [f"{e.system} {e.score:.2f}" for e in estimate_logs(path)]
    ['A 3.50', 'B 4.50']
    """
    suite, _, asked = _suite_of(logs, options)
    return suite.estimate(**asked)


def _suite_of(
    logs: Logs, options: Mapping[str, Any], least: int = 1
) -> tuple[Suite, Any, dict[str, Any]]:
    """Return the tasks of logs of at least `least` systems, the labels `by`, and other options."""
    asked = dict(options)
    known = asked.keys() & {*LogOptions.__annotations__, "by", "paired"}
    of_logs = {name: asked.pop(name) for name in known}
    labels = {name: of_logs.pop(name, None) for name in ("groups", "strata", "by")}
    aggregate, systems = of_logs.pop("aggregate", None), of_logs.pop("system", None)
    logged = joined(logs, systems=systems, labels=labels, **of_logs)
    if least > 1:
        logged.several()
    suite = Suite.of(
        logged.tasks,
        logged.totals if aggregate is None else aggregate,
        logged.labels.get("groups"),
        logged.labels.get("strata"),
        logged.notes,
        logged.texts,
        of_logs.get("paired", True),
    )
    return suite, logged.labels.get("by"), asked


class Joined(NamedTuple):
    """Logs that were joined.

    `tasks` has one table per metric for each task, with the same segments; `paths` has the system
    of each log with only one, by path; `totals` are the totals of groups that the logs average;
    `unread` lists what was left out of the logs, and why; `texts` has the questions, targets and
    answers of each task, one per segment: ``{"arc": {"question": [...], "gpt": [...]}}``. `labels`
    has the name, in the tables, of each requested label, by purpose.
    """

    tasks: dict[str, list[SegmentStatistics]]
    notes: Sequence[str] = ()
    paths: Mapping[str, str] = MappingProxyType({})
    totals: tuple[NamedTotal, ...] = ()
    unread: tuple[str, ...] = ()
    texts: Mapping[str, Mapping[str, Sequence[str]]] = MappingProxyType({})
    labels: Mapping[str, Any] = MappingProxyType({})

    def several(self) -> Joined:
        """Return the same, or raise with the reason if logs have only one system."""
        tables = next(iter(self.tasks.values()))
        systems = distinct(name for table in tables for name in table.systems)
        why = f"; left out: {first_few(self.unread)}" if self.unread else ""
        if len(self.paths) > 1:
            paths = first_few(self.paths, " and ")
            why += f"; {paths} all belong to it. If they are different systems, pass names for them"
        metrics = distinct(table.metric.name for table in tables)
        is_table = all(path.endswith((".csv", ".tsv")) for path in self.paths)
        if len(systems) < 2 and len(metrics) > 1 and is_table:
            columns = Argument("columns", dict.fromkeys(metrics, "system_score"))
            why += f"; if {', '.join(map(repr, metrics))} are systems, not metrics, pass "
            raise InputError(
                f"at least 2 systems are required, got only {systems[0]!r}{why}", columns
            )
        if len(systems) < 2 and why:
            raise InputError(f"at least 2 systems are required, got only {systems[0]!r}{why}")
        return self


def joined(
    logs: Logs,
    *,
    task: Patterns = None,
    metric: Patterns = None,
    filter: Patterns = None,
    systems: Patterns = None,
    labels: Mapping[str, Labels] = MappingProxyType({}),
    missing: str | None = None,
    epochs: str | Sequence[str] | None = None,
    directions: Mapping[str, str] | None = None,
    columns: Mapping[str, str | None] | None = None,
    allow_changes: Patterns | None = "*",
    human: OneLog | None = None,
    paired: bool = True,
    strengths: BradleyTerry | None = None,
    called_apart: bool = False,
) -> Joined:
    """Return the tables of all systems by task, joined by id; parameters as in `compare_logs`.

    `labels` are `groups`, `strata` and so on, by purpose. Systems named after their files may be
    `called_apart`, by the difference of these names. For battles, `strengths` is the scale of
    strengths, also for two systems, which otherwise have win rates. Systems that are not paired
    each have their own tables with their own items. Tasks with different settings are noted, and
    refused unless `allow_changes`, as in `gate`, lists the difference.
    """
    if missing is not None:
        choice(missing, MISSING, "missing")
    allowed = allowed_changes(allow_changes)
    asked = tuple(chain.from_iterable(map(_names_in, labels.values())))
    wanted = Wanted.of(task, metric, filter, asked, as_columns(columns))
    read, unread = read_several(logs, wanted)
    if read and all(log.format == arenas.NAME for log in read):
        _refuse_for_battles({"human": human, "epochs": epochs, **labels})
        places = places_of(read, as_patterns(systems, "system"))
        battles = _of_arena(read, places, asked, strengths)
        return battles._replace(unread=unread, labels=_labelled([], labels)[1])
    is_higher, column = as_directions(directions), _human_column(human)
    metrics = [one.key.metric for log in read for one in log.rows]
    check_patterns(is_higher, metrics, "directions", "metric ")
    people: dict[str, list[SegmentStatistics]] = {}
    if human is not None:
        # The direction of scores comes from the judge's.
        how: dict[str, Any] = {"directions": {"*": "higher"}, "missing": "available"}
        if column is not None:
            how |= {"task": task, "metric": column, "systems": systems}
        source = human if column is None else logs
        people = joined(source, columns=columns, epochs="mean", **how).tasks
    read = distinguished(of_runs(_without(read, column)))
    read = told_apart(read) if called_apart else read
    read = [log.directed(is_higher).counting(missing) for log in read]
    ways = epochs_of(read[0].epochs if epochs is None else epochs)
    places = places_of(read, as_patterns(systems, "system"))
    chosen = [log.less(lambda rows: rows.system not in places) for log in read]
    notes = notes_on(chosen)
    if missing is None and not wanted.metric:
        chosen = without_errors(chosen, notes)
    rows = shared_tasks(chosen, places, missing, notes)
    rows = rows if wanted.metric else without_twins(rows, notes)
    pivots = _pivots(rows, ways, missing, human is not None, flag(paired, "paired"), notes)
    pivots, named = _labelled(pivots, labels)
    changes = change_notes(pivots, allowed)
    averages = [one for log in chosen for one in log.averages if one.system in places]
    parts = [_tables(side, averages, wanted.task, missing, notes) for side in pivots]
    whole = _merged(parts)
    if human is not None:
        # A column that is read is not reported as left out.
        notes = [note for note in notes if f"column {column!r}" not in note.line]
        whole = whole._replace(tasks=_corrected(whole.tasks, people, notes))
    common = [line for part in parts for line in common_item_notes(part.tasks)]
    return whole._replace(
        notes=list(dict.fromkeys([*changes, *sentences(notes), *common])),
        paths={log.path: log.systems[0] for log in chosen if len(log.systems) == 1},
        unread=unread,
        labels=named,
    )


def _pivots(
    rows: Mapping[Key, list[Rows]],
    ways: Sequence[str],
    missing: str | None,
    are_judged: bool,
    are_paired: bool,
    notes: list[Note],
) -> list[dict[Key, Pivot]]:
    """Return the pivots of all systems by key, or of each separately, with notes on runs."""
    why = ""
    if not are_judged and (not ways or (ways[0] == "runs" and missing == "intersect")):
        rows = whole_runs(rows, notes)
    if not ways:
        way, why = usual_epochs([one for of_key in rows.values() for one in of_key])
        if way == "runs" and are_judged:
            way, why = "mean", "human scores are for single answers"
        ways = (way,)
    pivots = pivots_of(rows, ways, are_paired)
    notes += run_notes([one for side in pivots for one in side.values()], ways, why)
    return pivots


def _labelled(
    pivots: list[dict[Key, Pivot]], labels: Mapping[str, Labels]
) -> tuple[list[dict[Key, Pivot]], dict[str, Any]]:
    """Return pivots with labels given by place, and the names of all labels."""
    named: dict[str, Any] = {}
    taken = list(chain.from_iterable(map(_names_in, labels.values())))
    for argument, given in labels.items():
        if given is None:
            continue
        by_name = given if isinstance(given, Mapping) else {}
        if not by_name and _names_in(given):
            named[argument] = given
            continue
        names = []
        otherwise = {"by": "stratum"}.get(argument, argument.removesuffix("s"))
        for kind, values in (by_name or {unit_name(given, otherwise): given}).items():
            names.append(values if isinstance(values, str) else argument if kind in taken else kind)
            if isinstance(values, str):
                continue
            cells = listed(values, argument, "labels")
            pivots = [
                {key: one.labelled(names[-1], cells, argument) for key, one in side.items()}
                for side in pivots
            ]
        taken += names
        named[argument] = names if by_name else names[0]
    return pivots, named


def _names_in(labels: Any) -> tuple[str, ...]:
    """Return the one or two labels given by name."""
    if isinstance(labels, str):
        return (labels,)
    if isinstance(labels, Mapping):
        return tuple(name for name in labels.values() if isinstance(name, str))
    return names_of_labels(labels, 0)


def _tables(
    pivots: Mapping[Key, Pivot],
    averages: Sequence[Average],
    asked: Sequence[str],
    missing: str | None,
    notes: list[Note],
) -> Joined:
    """Return the tables of pivots; missing items or scores are refused or noted."""
    by_task = _by_task({key: complete(pivot, missing, notes) for key, pivot in pivots.items()})
    tasks: dict[str, list[SegmentStatistics]] = {}
    texts: dict[str, dict[str, list[str]]] = {}
    placed: dict[Key, tuple[str, SegmentStatistics]] = {}
    for name, tables in by_task.items():
        n = len({item for key in tables for item in pivots[key].ids})
        tasks[name] = same_items(name, n, list(tables.values()), missing, notes)
        texts[name] = _texts(pivots[next(iter(tables))], tasks[name][0])
        placed |= {key: (name, table) for key, table in tables.items()}
    return Joined(tasks, totals=_totals(averages, placed, asked), texts=texts)


def _by_task(tables: Mapping[Key, SegmentStatistics]) -> dict[str, dict[Key, SegmentStatistics]]:
    """Return the tables of each task by key; several filters of the same answers are its metrics.

    A total over tasks would count such answers twice, so filters become metrics.
    """
    filters: dict[tuple[str, tuple[str, ...] | None], set[str]] = {}
    for key, table in tables.items():
        filters.setdefault((key.task, table.segment_ids), set()).add(key.filter)
    are_metrics = any(len(names) > 1 for names in filters.values())
    n_parts = Counter(task for task, _ in filters)
    tasks: dict[str, dict[Key, SegmentStatistics]] = {}
    for key, table in tables.items():
        is_shared = len(filters[key.task, table.segment_ids]) > 1
        if not is_shared and not (are_metrics and n_parts[key.task] == 1):
            tasks.setdefault(key.part, {})[key] = table
            continue
        if key.part != key.task and isinstance(table.metric, _RENAMED):
            plain: Any = table.metric
            metric = replace(plain, name=f"{plain.name} ({key.filter})")
            table = replace(table, metric=metric, metric_signature="")
        tasks.setdefault(key.task, {})[key] = table
    for name, of_task in tasks.items():
        metric_name, n = Counter(t.metric.name for t in of_task.values()).most_common(1)[0]
        if n > 1:
            raise InputError(
                f"{name} has {metric_name} for the same items twice; choose one filter"
            )
    return {name: tasks[name] for name in sorted(tasks, key=natural)}


def _totals(
    averages: Sequence[Average],
    placed: Mapping[Key, tuple[str, SegmentStatistics]],
    asked: Sequence[str],
) -> tuple[NamedTotal, ...]:
    """Return the totals of the largest groups whose tasks are all compared.

    `placed` has the name of the task in the comparison, and the table, for each task, metric and
    filter. If two groups have the same tasks, the one named in the patterns `asked` is used.
    """
    by_key: dict[Key, list[Average]] = {}
    for average in sorted(averages, key=lambda one: not matches(one.key.task, asked)):
        by_key.setdefault(average.key, []).append(average)
    totals: dict[tuple[str, frozenset[str]], NamedTotal] = {}
    for total in filter(None, (_total(same, placed) for same in by_key.values())):
        totals.setdefault((total.metric, frozenset(total.tasks)), total)
    return tuple(
        total
        for (metric, tasks), total in totals.items()
        if not any(metric == other and tasks < larger for other, larger in totals)
    )


def _total(
    averages: Sequence[Average], placed: Mapping[Key, tuple[str, SegmentStatistics]]
) -> NamedTotal | None:
    """Return the total of one group, metric and filter for which all systems have an average.

    None if systems average different tasks or with different weights, or if not all tasks are
    compared.
    """
    group = averages[0].key
    keys = [group._replace(task=task) for task in averages[0].tasks]
    same_tasks = len({frozenset(one.tasks) for one in averages}) == 1
    shared = set.intersection(*(set(one.weights) for one in averages))
    if len(keys) < 2 or not same_tasks or not shared or not placed.keys() >= set(keys):
        return None
    tables = {placed[key][0]: placed[key][1] for key in keys}
    metrics = {table.metric.name for table in tables.values()}
    if len(metrics) > 1 or len(tables) < len(keys):
        return None
    # A filter that is not a metric is part of the names of tasks.
    name = group.part if placed[keys[0]][0] == keys[0].part else group.task
    weights: str | dict[str, float] = "micro" if "micro" in shared else "macro"
    if weights == "micro" and not all(isinstance(t.metric, Mean) for t in tables.values()):
        weights = {task: float(table.n_segments) for task, table in tables.items()}
    return NamedTotal(name, metrics.pop(), tuple(tables), weights)


def _texts(pivot: Pivot, table: SegmentStatistics) -> dict[str, list[str]]:
    """Return questions, targets, and the first answers of each system, one per segment."""
    columns: dict[str, list[str]] = {}
    for part in pivot.parts:
        items = part.rows.items
        first = dict(zip(reversed(items.ids), reversed(range(len(items.ids))), strict=True))
        places = [first.get(item) for item in table.segment_ids or ()]
        for kind, texts in items.texts.items():
            name = part.rows.system if kind == "answer" else kind
            if name not in columns and kind != "prompt":
                columns[name] = ["" if i is None else texts[i] for i in places]
    return columns


def _merged(sides: Sequence[Joined]) -> Joined:
    """Return the tables of all sides by task; the names of tasks must be the same."""
    first, *others = sides
    if not others:
        return first
    for side in others:
        if odd := side.tasks.keys() ^ first.tasks.keys():
            names = ", ".join(sorted(odd))
            raise InputError(
                "different filters were used, so some tasks exist only for some systems "
                f"({names}); choose one filter"
            )
    tasks = {name: [table for side in sides for table in side.tasks[name]] for name in first.tasks}
    # Questions and answers of different systems cannot be compared.
    return Joined(tasks, totals=first.totals if {x.totals for x in sides} == {first.totals} else ())


def _human_column(human: OneLog | None) -> str | None:
    """Return the metric with human scores, or None if they are a separate log."""
    if not isinstance(human, str) or Path(human).exists():
        return None
    if without_suffix(human) != human:
        raise InputError(
            "must be a file with human scores, or a column of the table: there is no file "
            f"{shown(human)}",
            argument="human",
        )
    return human


def _without(logs: Sequence[Log], column: str | None) -> list[Log]:
    """Return logs without the metric with human scores."""
    kept = [log.less(lambda rows: rows.key.metric == column) for log in logs]
    if logs and not any(log.rows for log in kept):
        raise InputError(
            f"must be a column beside the judge's scores, but {column} is the only metric",
            argument="human",
        )
    return [log for log in kept if log.rows]


def _corrected(
    tasks: Mapping[str, Sequence[SegmentStatistics]],
    people: Mapping[str, Sequence[SegmentStatistics]],
    notes: list[Note],
) -> dict[str, list[SegmentStatistics]]:
    """Return a judge's statistics, by task, corrected with human scores; omissions are noted.

    People's scores without a task are used for a single task.
    """
    judged = {}
    for task, tables in tasks.items():
        named = people.get(task, people.get(""))
        if named is None:
            what = f"has no scores of task {task!r}, only of {', '.join(map(shown, people))}"
            raise InputError(what, argument="human")
        # Systems that are not paired have one table each.
        metrics = distinct(table.metric.name for table in tables)
        fitting = [table for table in named if table.metric.name in metrics] or named
        if wrong := _unlike_people(tables, fitting, metrics):
            raise InputError(wrong, argument="human")
        (labels,) = fitting
        several: dict[tuple[str, ...], list[SegmentStatistics]] = {}
        for table in tables:
            several.setdefault(table.systems, []).append(table)
        judged[task] = [_judged(judges, labels, notes) for judges in several.values()]
    return judged


def _unlike_people(
    tables: Sequence[SegmentStatistics], people: Sequence[SegmentStatistics], metrics: Sequence[str]
) -> str:
    """Return why human scores cannot correct scores of judges with these metrics, or ""."""
    names, known = ", ".join(metrics), people[0].systems
    if len(people) > 1:
        theirs = ", ".join(table.metric.name for table in people)
        must = f"must be human scores for one metric, but they are for {theirs}"
        return f"{must} (the judge's are for {names}); choose one metric"
    if len({table.metric.higher_is_better for table in tables}) > 1:
        must = "requires judges whose scores have the same direction"
        return f"{must}, but {names} differ; choose one metric"
    for metric in (table.metric for table in (*tables, *people)):
        if not isinstance(metric, Mean):
            return f"requires a mean of scores, but {metric.name} is not one"
    for system in chain.from_iterable(table.systems for table in tables):
        if system not in known:
            said = f"has no scores of {system!r}, only of {', '.join(map(repr, known))}"
            how = "use one row per item and system (id,system,score), or one column per system"
            return said if len(known) > 1 else f"{said}; {how}"
    return ""


def _judged(
    tables: Sequence[SegmentStatistics], people: SegmentStatistics, notes: list[Note]
) -> SegmentStatistics:
    """Return statistics of judges and people, joined by item ids; omissions are noted.

    Each judge has a table of the same items.
    """
    table = tables[0]
    assert table.segment_ids is not None
    assert people.segment_ids is not None
    places = {item: i for i, item in enumerate(table.segment_ids)}
    known = [i for i, item in enumerate(people.segment_ids) if item in places]
    if not known:
        raise InputError(
            "and the logs have no items in common; their first ids are "
            f"{shown(people.segment_ids[0])} and {shown(table.segment_ids[0])}",
            argument="human",
        )
    if n_unknown := len(people.segment_ids) - len(known):
        line = f"Human scores of {counted(n_unknown, table.unit)} are left out, because no log "
        line += "has them"
        notes.append(Note("people", line))
    rows: NDArray[Any] = np.zeros(table.values.shape)
    systems = [people.systems.index(name) for name in table.systems]
    at = [places[people.segment_ids[i]] for i in known]
    rows[:, at] = people.values[systems][:, known]
    # Items without a score of a judge are not used for this judge.
    scored = [values[..., 1:] > 0 for values in (rows, *(one.values for one in tables))]
    labelled = np.all(scored, axis=0).astype(np.float64)
    for name, marks in zip(table.systems, labelled[..., 0], strict=True):
        n = int(np.sum(marks))
        if not 0 < n < len(marks):
            raise InputError(
                f"must have scores of some, but not all, items of {name!r}, got {n:,} of "
                f"{len(marks):,}",
                argument="human",
            )
    # Few logs have human scores, or battles.
    from evalstats.designs.judges import Judged, joined_rows

    values = joined_rows(labelled, rows, *(one.values.astype(np.float64) for one in tables))
    names = " + ".join(one.metric.name for one in tables)
    inner = Mean(names, table.metric.higher_is_better) if len(tables) > 1 else table.metric
    metric = Judged(inner, judges=len(tables))
    return replace(table, values=values, metric=metric, metric_signature="")


def _refuse_for_battles(given: Mapping[str, Any]) -> None:
    """Raise for options that only work with scores of items, such as labels by place."""
    for name, value in given.items():
        if value is not None and not (name in ("groups", "strata", "by") and _names_in(value)):
            what = "applies only to scores of items, but these are battles; leave it out"
            raise InputError(what, argument=name)


def _of_arena(
    logs: Sequence[Log],
    places: Mapping[str, int],
    labels: Sequence[str],
    strengths: BradleyTerry | None,
) -> Joined:
    """Return battles: win rates of two systems, or the table of strengths of several."""
    from evalstats.designs.arenas.arena import linked, position_notes, win_rates

    table = _battles(logs, places)
    n, notes = len(table.points), sentences(notes_on(logs))
    are_rates = strengths is None and len(places) == 2 and n > 0
    # Strengths have their own note on errors with prompts and voters.
    is_told = bool(labels) or (bool(table.both_labels) and not are_rates)
    for name, cells in () if is_told else table.labels.items():
        n_asked = len(set(cells))
        # Several battles may share a prompt.
        if plain(name) in ASKED and "" not in cells and 1 < n_asked < n:
            notes.append(
                f"{n:,} battles are about {n_asked:,} different {plural(name)}. If a new test "
                f'would use new ones, pass groups="{name}".'
            )
            break
    if are_rates:
        by_battle = () if labels else position_notes(table, as_units(n, None, None), Options())
        notes += [*table.notes, *by_battle, *table.tie_notes]
        return Joined({"": [win_rates(table)]}, notes)
    # A summary replaces statistics.
    table = linked(replace(table, metric=strengths or table.metric))
    return Joined({"": [cast(SegmentStatistics, table)]}, notes)


def _battles(logs: Sequence[Log], systems: Mapping[str, int]) -> BattleTable:
    """Return the battles between some systems, given with their numbers, with all labels.

    Two rows of one item are a battle, one row per system.
    """
    pairs: dict[tuple[int, str], list[tuple[int, float]]] = {}
    labels: dict[str, dict[tuple[int, str], Hashable]] = {}
    for i, log in enumerate(logs):
        for one in log.rows:
            if one.system not in systems:
                continue
            keys = [(i, item) for item in one.items.ids]
            for key, score in zip(keys, one.values[:, 0].tolist(), strict=True):
                pairs.setdefault(key, []).append((systems[one.system], score))
            for name, cells in one.items.labels.items():
                labels.setdefault(name, {}).update(zip(keys, cells, strict=True))
    # A battle against an excluded system has one row here.
    both = {key: rows for key, rows in pairs.items() if len(rows) == 2}
    kept = {name: [cells.get(key, "") for key in both] for name, cells in labels.items()}
    numbers = np.array([[n for n, _ in rows] for rows in both.values()], dtype=np.intp)
    points = np.array([2 * rows[0][1] for rows in both.values()], dtype=np.int8)
    numbers = numbers.reshape(-1, 2)
    shown_first = [systems.get(str(name), -1) for name in kept.pop(arenas.SHOWN_FIRST, ())]
    if has_order := len(shown_first) == len(numbers) and min(shown_first, default=0) >= 0:
        turned = numbers[:, 1] == shown_first
        numbers[turned] = numbers[turned, ::-1]
        points[turned] = 2 - points[turned]
    return BattleTable(
        tuple(systems),
        numbers,
        points,
        labels=kept,
        has_order=has_order,
        notes=both_bad_notes(kept.get(arenas.WINNER, ())),
    )
