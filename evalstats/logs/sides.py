"""What a gate compares: a system and its baseline, in whatever form, as tables by task."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from evalstats.analysis.aggregates import NamedTotal
from evalstats.analysis.inputs import Given, given_tables, is_statistics, tables_of
from evalstats.analysis.options import Options
from evalstats.analysis.suite import Groups, Tables
from evalstats.analysis.units import Labels
from evalstats.errors import InputError, InputTypeError
from evalstats.logs.joining import joined
from evalstats.logs.log import Log
from evalstats.shards.shard import Shard
from evalstats.statistics.extraction import Metrics
from evalstats.statistics.segments import SegmentStatistics
from evalstats.text.frames import columns_of


class Sides(NamedTuple):
    """Tables of two systems by task, the name of one of them, labels, notes, totals of groups."""

    tasks: Tables
    baseline: str
    groups: Groups = None
    strata: Labels = None
    notes: Sequence[str] = ()
    totals: tuple[NamedTotal, ...] = ()


def sides_of(given: Given, baseline: object, options: Options, of_logs: Mapping[str, Any]) -> Sides:
    """Return both sides of a gate, which are two systems in one argument, or one in each of two.

    `given` holds the system, and perhaps both; `of_logs` are the arguments of `joined`.
    """
    if isinstance(given.hypotheses, Shard) or isinstance(baseline, Shard):
        raise InputTypeError(
            "a gate needs the statistics of every segment, and a Shard keeps totals only; give "
            "compare the Shard, with margin or recovery"
        )
    if isinstance(baseline, str) and _has_names(given.hypotheses, baseline):
        _refuse(of_logs)
        return _named(given, baseline, options)
    if _is_log(given.hypotheses) or _is_log(baseline):
        if not (_is_log(given.hypotheses) and _is_log(baseline)):
            raise InputTypeError(
                "hypotheses and baseline must both be a Log, a path or a frame, or neither; a name "
                "as the baseline goes with hypotheses that are a mapping, or statistics, of both"
            )
        return _logs(given, baseline, of_logs)
    _refuse(of_logs)
    return _apart(given, baseline, options)


def _is_log(value: object) -> bool:
    return isinstance(value, (Log, str, os.PathLike)) or columns_of(value) is not None


def _has_names(value: object, baseline: str) -> bool:
    """Return whether a value holds several systems, of which one may be called so."""
    names = [name for name, _ in columns_of(value) or ()]
    return isinstance(value, Mapping) or is_statistics(value) or baseline in names


def _refuse(of_logs: Mapping[str, Any]) -> None:
    for name, value in of_logs.items():
        if value is not None and (name, value) != ("missing", "error"):
            raise InputError(f"{name} is for logs, and these are texts or statistics; leave it out")


def _named(given: Given, baseline: str, options: Options) -> Sides:
    """Return two systems, on one task or several, of which the baseline is named."""
    systems = given.hypotheses
    if isinstance(systems, Mapping) and systems and all(map(is_statistics, systems.values())):
        tasks = {
            name: given_tables(tables, given.references, given.metrics)
            for name, tables in systems.items()
        }
        return Sides(tasks, baseline, given.groups, given.strata)
    return Sides({"": tables_of(given, options)}, baseline, given.groups, given.strata)


def _logs(given: Given, baseline: object, of_logs: Mapping[str, Any]) -> Sides:
    """Return two logs, joined by the ids of their items."""
    if given.references is not None:
        raise InputError("references must be left out when logs are given: these have their scores")
    metrics: Any = given.metrics
    labels: Any = given.groups, given.strata
    asked = {"allow_changes": None, **of_logs}
    found = joined([baseline, given.hypotheses], metric=metrics, labels=labels, **asked).paired()
    (first, *_), *_ = found.tasks.values()
    return Sides(
        found.tasks, first.systems[0], given.groups, given.strata, found.notes, found.totals
    )


def _apart(given: Given, baseline: object, options: Options) -> Sides:
    """Return outputs or statistics of two systems, one in each argument; either can be either."""
    values = {"hypotheses": given.hypotheses, "baseline": baseline}
    known = {
        name: _of_one(name, value, given.metrics)
        for name, value in values.items()
        if is_statistics(value)
    }
    if len(known) == 2 and given.references is not None:
        raise InputError("references must be left out when SegmentStatistics are given")
    metrics: Metrics | None = given.metrics
    for tables in known.values():
        metrics = [table.metric for table in tables]
    if not known:
        both = {"baseline": baseline, "system": given.hypotheses}
        tables = tables_of(replace(given, hypotheses=both), options)
        return Sides({"": tables}, "baseline", given.groups, given.strata)
    made = replace(given, metrics=metrics)
    outputs = {"baseline": {"baseline": baseline}, "hypotheses": {"system": given.hypotheses}}
    old, new = (
        known.get(name) or tables_of(replace(made, hypotheses=outputs[name]), options)
        for name in ("baseline", "hypotheses")
    )
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
    tables = [SegmentStatistics.join(table, of_new[table.metric.name]) for table in old]
    return Sides({"": tables}, old[0].systems[0], given.groups, given.strata)


def _of_one(name: str, value: Any, metrics: Metrics | None) -> list[SegmentStatistics]:
    """Return the statistics of one side, one table a metric, which hold one system."""
    tables = given_tables(value)
    if metrics is not None:
        own = ", ".join(repr(table.metric) for table in tables)
        raise InputError(f"metrics must be left out: {name} has its own, {own}")
    if len(tables[0].systems) != 1:
        raise InputError(f"{name} must hold one system, got {list(tables[0].systems)}")
    return tables
