"""What a gate compares: a system and its baseline, in whatever form, as tables by task."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, cast

from evalstats.analysis.design import Labels, NamedTotal
from evalstats.analysis.drawn import maker_of
from evalstats.analysis.suite import Groups, Tables
from evalstats.analysis.tasks import Task, as_task, is_extracted, is_statistics, tables_of
from evalstats.designs.unpaired import as_unpaired
from evalstats.errors import InputError, InputTypeError
from evalstats.logs.joining import joined
from evalstats.logs.log import Log
from evalstats.logs.reading import read_log
from evalstats.resampling.executors import Workers
from evalstats.statistics.extraction import Metrics
from evalstats.statistics.files import read_lines
from evalstats.statistics.segments import SegmentStatistics
from evalstats.text.references import table_columns


class GateInput(NamedTuple):
    """What a gate was given: outputs, statistics or a log of the system, or of both systems."""

    hypotheses: Any
    references: Any = None
    metrics: Metrics | None = None
    groups: Groups = None
    strata: Labels = None
    paired: bool = True
    executor: Workers = None


class GateTables(NamedTuple):
    """Tables of two systems by task, the name of one of them, labels, notes, totals of groups."""

    tasks: Tables
    baseline: str
    groups: Groups = None
    strata: Labels = None
    notes: Sequence[str] = ()
    totals: tuple[NamedTotal, ...] = ()


def gate_tables(
    given: GateInput, base: object, name: object, of_logs: Mapping[str, Any]
) -> GateTables:
    """Return the tables of a system and its baseline, one argument for both or for each.

    The baseline is what `base` is, or is called by a name; `of_logs` are arguments of `joined`.
    """
    baseline = base if name is None else name
    _check_baseline(given.hypotheses, baseline, "base" if name is None else "baseline")
    hypotheses, references = _opened(given.hypotheses), _opened(given.references)
    given = given._replace(hypotheses=hypotheses, references=references)
    is_name = False
    if isinstance(baseline, str):
        columns = [name for name, _ in table_columns(hypotheses) or ()]
        is_name = isinstance(hypotheses, Mapping) or is_extracted(hypotheses) or baseline in columns
        # Beside statistics the baseline may be a file.
        if is_statistics(hypotheses) and baseline.endswith((".npz", ".txt", ".txt.gz")):
            is_name = False
    if name is not None and not is_name:
        raise InputTypeError(
            "must be the name of a system in hypotheses, which has both; what is no name is base",
            argument="baseline",
        )
    if not is_name:
        baseline = _opened(baseline)
        are_logs = [
            isinstance(side, (Log, str, os.PathLike)) or table_columns(side) is not None
            for side in (hypotheses, baseline)
        ]
        if all(are_logs):
            return _of_logs(given, [baseline, hypotheses], of_logs)
        if any(are_logs):
            raise InputTypeError(
                "hypotheses and baseline must both be a Log, a path or a frame, or neither; a name "
                "as the baseline goes with hypotheses that are a mapping, or statistics, of both"
            )
    _refuse_of_logs(of_logs)
    if is_name:
        return GateTables(_by_task(given), str(baseline), given.groups, given.strata)
    tables = _of_two_sides(given, baseline)
    return GateTables({"": tables}, tables[0].systems[0], given.groups, given.strata)


def system_tables(given: GateInput, of_logs: Mapping[str, Any]) -> GateTables:
    """Return the tables of one system: outputs or statistics, a log, or tables by task."""
    maker = maker_of(given.hypotheses)
    if maker is not None and maker.total is None:
        raise InputTypeError(
            f"a gate needs the statistics of every segment, and {maker.why}", argument="hypotheses"
        )
    hypotheses = _opened(given.hypotheses)
    given = given._replace(hypotheses=hypotheses, references=_opened(given.references))
    if isinstance(hypotheses, (Log, str, os.PathLike)) or table_columns(hypotheses) is not None:
        return _of_logs(given, [hypotheses], of_logs)
    _refuse_of_logs(of_logs)
    if not isinstance(hypotheses, Mapping) and not is_extracted(hypotheses):
        given = given._replace(hypotheses={"system": hypotheses})
    return GateTables(_by_task(given), "", given.groups, given.strata)


def _refuse_of_logs(of_logs: Mapping[str, Any]) -> None:
    for name, value in of_logs.items():
        if value is not None:
            raise InputError(f"{name} is for logs, and these are texts or statistics; leave it out")


def _check_baseline(hypotheses: Any, baseline: object, argument: str) -> None:
    """Raise for a baseline that is a number, and for sums that say too little of segments."""
    if isinstance(baseline, (int, float)):
        raise InputTypeError(
            f"must be a system, got {baseline}; a score that is to reach a number has no baseline: "
            f"give at_least={baseline}",
            argument=argument,
        )
    maker = maker_of(hypotheses) or maker_of(baseline)
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


def _opened(value: Any) -> Any:
    """Return the statistics in an ``.npz`` file and the lines of a ``.txt``; all else as it is."""
    if not isinstance(value, (str, os.PathLike)):
        return value
    path = os.fspath(value)
    if path.endswith(".npz"):
        return SegmentStatistics.load(path)
    return read_lines(path) if path.removesuffix(".gz").endswith(".txt") else value


def _of_logs(given: GateInput, logs: list[Any], of_logs: Mapping[str, Any]) -> GateTables:
    """Return the tables of a baseline's log and a system's, joined by item id, or of one log."""
    if given.references is not None:
        raise InputError("references must be left out when logs are given: these have their scores")
    metrics: Any = given.metrics
    labels: Any = {"groups": given.groups, "strata": given.strata}
    sides: Any = logs
    if len(logs) == 2 and all(table_columns(log) is not None for log in logs):
        names = [read_log(log).systems for log in logs]
        # Frames have no paths to be called after.
        if names[0] == names[1] and len(names[0]) == 1:
            sides = dict(zip(("baseline", "system"), logs, strict=True))
    asked = {"allow_changes": None, **of_logs, "paired": given.paired}
    found = joined(sides, metric=metrics, labels=labels, **asked)
    if len(logs) == 2:
        found = found.several()
    (first, *_), *_ = found.tasks.values()
    system = first.systems[0]
    return GateTables(found.tasks, system, **found.labels, notes=found.notes, totals=found.totals)


def _by_task(given: GateInput) -> dict[str, list[SegmentStatistics]]:
    """Return the tables of both systems, which are in one argument, on one task or several."""
    systems = given.hypotheses
    are_tasks = isinstance(systems, Mapping) and bool(systems)
    if are_tasks and not given.paired and all(map(is_statistics, systems.values())):
        return {
            task: [tables] if isinstance(tables, SegmentStatistics) else list(tables)
            for task, tables in systems.items()
        }
    if are_tasks and all(map(is_extracted, systems.values())):
        alone = given._replace(groups=None, strata=None)
        return {task: _tables(alone._replace(hypotheses=of)) for task, of in systems.items()}
    return {"": _tables(given)}


def _of_two_sides(given: GateInput, baseline: object) -> list[SegmentStatistics]:
    """Return the tables of outputs or statistics of two systems; either can be either.

    There is one of both systems a metric, or unpaired one of each; the baseline is first.
    """
    sides = {"hypotheses": given.hypotheses, "baseline": baseline}
    for name, value in sides.items():
        if isinstance(value, Mapping):
            raise InputTypeError(
                f"{name} is a mapping: give both systems in one, as hypotheses, and the name of "
                f"one as baseline; scores with names of items are a frame, or a table"
            )
    known = {name: tables_of(value) for name, value in sides.items() if is_statistics(value)}
    if not known:
        outputs = {"baseline": baseline, "system": given.hypotheses}
        return _tables(given._replace(hypotheses=outputs))
    for name, tables in known.items():
        if given.metrics is not None:
            own = ", ".join(repr(table.metric) for table in tables)
            raise InputError(f"metrics must be left out: {name} has its own, {own}")
        if len(tables[0].systems) != 1:
            raise InputError(f"{name} must hold one system, got {list(tables[0].systems)}")
    if len(known) == 2 and given.references is not None:
        raise InputError("references must be left out when SegmentStatistics are given")
    metrics = [table.metric for tables in known.values() for table in tables]
    for name, system in (("baseline", "baseline"), ("hypotheses", "system")):
        if name not in known:
            outputs = {system: sides[name]}
            known[name] = _tables(given._replace(hypotheses=outputs, metrics=metrics))
    old, new = known["baseline"], {table.metric.name: table for table in known["hypotheses"]}
    names = [table.metric.name for table in old]
    if set(names) != set(new):
        raise InputError(
            f"hypotheses and baseline must have the same metrics, got {', '.join(new)} and "
            f"{', '.join(names)}"
        )
    if old[0].systems == known["hypotheses"][0].systems:
        old = [replace(table, systems=(f"{old[0].systems[0]} (baseline)",)) for table in old]
    if not given.paired:
        return [*old, *(new[name] for name in names)]
    return [SegmentStatistics.join(table, new[table.metric.name]) for table in old]


def _tables(given: GateInput) -> list[SegmentStatistics]:
    """Return the statistics of texts, or of what has them, one table a metric, or system."""
    if not given.paired:
        parts = as_unpaired(*given[:3], executor=given.executor).each
        return [t for part in parts if isinstance(part, Task) for t in part.tables]
    labels = {"groups": given.groups, "strata": given.strata}
    task = as_task(*given[:3], **labels, executor=given.executor)
    return cast(list[SegmentStatistics], list(task.statistics))
