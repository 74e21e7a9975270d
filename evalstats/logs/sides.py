"""What a gate compares: a system and its baseline, in whatever form, as tables by task."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, cast

from evalstats.analysis.aggregates import NamedTotal
from evalstats.analysis.makers import maker_of
from evalstats.analysis.suite import Groups, Tables
from evalstats.analysis.tasks import Task, as_task, is_extracted, is_statistics, tables_of
from evalstats.analysis.units import Labels
from evalstats.designs.unpaired.pairs import as_unpaired
from evalstats.errors import InputError, InputTypeError
from evalstats.logs.joining import joined
from evalstats.logs.log import Log
from evalstats.logs.reading import read_log
from evalstats.resampling.executors import Workers
from evalstats.statistics.extraction import Metrics
from evalstats.statistics.files import read_lines
from evalstats.statistics.segments import SegmentStatistics
from evalstats.text.references import table_columns


class Passed(NamedTuple):
    """What the caller of a gate passed: the system, and perhaps both; labels of segments."""

    hypotheses: Any
    references: Any = None
    metrics: Metrics | None = None
    groups: Groups = None
    strata: Labels = None
    paired: bool = True


class Sides(NamedTuple):
    """Tables of two systems by task, the name of one of them, labels, notes, totals of groups."""

    tasks: Tables
    baseline: str
    groups: Groups = None
    strata: Labels = None
    notes: Sequence[str] = ()
    totals: tuple[NamedTotal, ...] = ()


def sides_of(
    passed: Passed, baseline: object, executor: Workers, of_logs: Mapping[str, Any]
) -> Sides:
    """Return both sides of a gate, which are two systems in one argument, or one in each of two.

    `of_logs` are the arguments of `joined`.
    """
    maker = maker_of(passed.hypotheses) or maker_of(baseline)
    if maker is not None and maker.total is None:
        raise InputTypeError(
            f"a gate needs the statistics of every segment, and {maker.why}; give compare the "
            f"{maker.kind.__name__}, with margin or recovery"
        )
    if maker is not None and not isinstance(baseline, str):
        raise InputTypeError(
            f"baseline must be the name of a system where {maker.name} is given, which has both: "
            f"apart they say nothing of how systems vary together"
        )
    hypotheses, references = _opened(passed.hypotheses), _opened(passed.references)
    passed = passed._replace(hypotheses=hypotheses, references=references)
    if isinstance(baseline, str) and _has_names(passed.hypotheses, baseline):
        _refuse(of_logs)
        return _named(passed, baseline, executor)
    baseline = _opened(baseline)
    if _is_log(passed.hypotheses) or _is_log(baseline):
        if not (_is_log(passed.hypotheses) and _is_log(baseline)):
            raise InputTypeError(
                "hypotheses and baseline must both be a Log, a path or a frame, or neither; a name "
                "as the baseline goes with hypotheses that are a mapping, or statistics, of both"
            )
        return _logs(passed, baseline, of_logs)
    _refuse(of_logs)
    return _apart(passed, baseline, executor)


def _opened(value: Any) -> Any:
    """Return the statistics in an ``.npz`` file and the lines of a ``.txt``; all else as it is."""
    if not isinstance(value, (str, os.PathLike)):
        return value
    path = os.fspath(value)
    if path.endswith(".npz"):
        return SegmentStatistics.load(path)
    return read_lines(path) if path.removesuffix(".gz").endswith(".txt") else value


def _is_log(value: object) -> bool:
    return isinstance(value, (Log, str, os.PathLike)) or table_columns(value) is not None


def _has_names(value: object, baseline: str) -> bool:
    """Return whether a value holds several systems, of which one may be called so."""
    if is_statistics(value) and baseline.endswith((".npz", ".txt", ".txt.gz")):
        return False
    names = [name for name, _ in table_columns(value) or ()]
    return isinstance(value, Mapping) or is_extracted(value) or baseline in names


def _refuse(of_logs: Mapping[str, Any]) -> None:
    for name, value in of_logs.items():
        if value is not None and (name, value) != ("missing", "error"):
            raise InputError(f"{name} is for logs, and these are texts or statistics; leave it out")


def _named(passed: Passed, baseline: str, executor: Workers) -> Sides:
    """Return two systems, on one task or several, of which the baseline is named."""
    systems = passed.hypotheses
    are_tasks = isinstance(systems, Mapping) and systems
    if are_tasks and not passed.paired and all(map(is_statistics, systems.values())):
        return Sides(_listed(systems), baseline, passed.groups, passed.strata)
    if are_tasks and all(map(is_extracted, systems.values())):
        tasks = {
            name: _tables(passed._replace(hypotheses=tables, groups=None, strata=None), executor)
            for name, tables in systems.items()
        }
        return Sides(tasks, baseline, passed.groups, passed.strata)
    return Sides({"": _tables(passed, executor)}, baseline, passed.groups, passed.strata)


def _listed(tasks: Mapping[str, Any]) -> dict[str, list[SegmentStatistics]]:
    """Return the tables of each task, which may be one alone."""
    return {
        name: [of] if isinstance(of, SegmentStatistics) else list(of) for name, of in tasks.items()
    }


def _logs(passed: Passed, baseline: object, of_logs: Mapping[str, Any]) -> Sides:
    """Return two logs, joined by the ids of their items."""
    if passed.references is not None:
        raise InputError("references must be left out when logs are given: these have their scores")
    metrics: Any = passed.metrics
    labels: Any = passed.groups, passed.strata
    sides: Any = [baseline, passed.hypotheses]
    if all(table_columns(side) is not None for side in sides):
        names = [read_log(side).systems for side in sides]
        # Frames have no paths to be called after.
        if names[0] == names[1] and len(names[0]) == 1:
            sides = dict(zip(("baseline", "system"), sides, strict=True))
    asked = {"allow_changes": None, **of_logs, "paired": passed.paired}
    found = joined(sides, metric=metrics, labels=labels, **asked).several()
    (first, *_), *_ = found.tasks.values()
    return Sides(
        found.tasks, first.systems[0], passed.groups, passed.strata, found.notes, found.totals
    )


def _apart(passed: Passed, baseline: object, executor: Workers) -> Sides:
    """Return outputs or statistics of two systems, one in each argument; either can be either."""
    values = {"hypotheses": passed.hypotheses, "baseline": baseline}
    for name, value in values.items():
        if isinstance(value, Mapping):
            raise InputTypeError(
                f"{name} is a mapping: give both systems in one, as hypotheses, and the name of "
                f"one as baseline; scores with names of items are a frame, or a table"
            )
    known = {
        name: _of_one(name, value, passed.metrics)
        for name, value in values.items()
        if is_statistics(value)
    }
    if len(known) == 2 and passed.references is not None:
        raise InputError("references must be left out when SegmentStatistics are given")
    metrics: Metrics | None = passed.metrics
    for tables in known.values():
        metrics = [table.metric for table in tables]
    if not known:
        named = {"baseline": baseline, "system": passed.hypotheses}
        tables = _tables(passed._replace(hypotheses=named), executor)
        return Sides({"": tables}, "baseline", passed.groups, passed.strata)
    passed = passed._replace(metrics=metrics)
    outputs = {"baseline": {"baseline": baseline}, "hypotheses": {"system": passed.hypotheses}}
    old, new = (
        known.get(name) or _tables(passed._replace(hypotheses=outputs[name]), executor)
        for name in ("baseline", "hypotheses")
    )
    tables = _together(old, new, passed.paired)
    return Sides({"": tables}, tables[0].systems[0], passed.groups, passed.strata)


def _together(
    old: list[SegmentStatistics], new: list[SegmentStatistics], is_paired: bool
) -> list[SegmentStatistics]:
    """Return tables of a baseline and a system, one of both a metric, or unpaired one of each.

    The baseline, which is first, is called otherwise where both have one name.
    """
    of_new = {table.metric.name: table for table in new}
    names = [table.metric.name for table in old]
    if set(names) != set(of_new):
        raise InputError(
            f"hypotheses and baseline must have the same metrics, got {', '.join(of_new)} and "
            f"{', '.join(names)}"
        )
    if old[0].systems == new[0].systems:
        name = f"{old[0].systems[0]} (baseline)"
        old = [replace(table, systems=(name,)) for table in old]
    if not is_paired:
        return [*old, *(of_new[name] for name in names)]
    return [SegmentStatistics.join(table, of_new[table.metric.name]) for table in old]


def _tables(passed: Passed, executor: Workers) -> list[SegmentStatistics]:
    """Return the statistics of texts, or of what has them, one table a metric, or system."""
    if not passed.paired:
        parts = as_unpaired(*passed[:3], executor=executor).each
        return [t for part in parts if isinstance(part, Task) for t in part.tables]
    task = as_task(*passed[:3], groups=passed.groups, strata=passed.strata, executor=executor)
    return cast(list[SegmentStatistics], list(task.statistics))


def _of_one(name: str, value: Any, metrics: Metrics | None) -> list[SegmentStatistics]:
    """Return the statistics of one side, one table a metric, which hold one system."""
    tables = tables_of(value)
    if metrics is not None:
        own = ", ".join(repr(table.metric) for table in tables)
        raise InputError(f"metrics must be left out: {name} has its own, {own}")
    if len(tables[0].systems) != 1:
        raise InputError(f"{name} must hold one system, got {list(tables[0].systems)}")
    return tables
