"""Tables of scores: CSV, TSV, JSON lines or a frame, long or wide.

Long: a row a score, with columns for the system, the segment, the score (or numerator and
denominator) and perhaps the metric, task and groups. Wide: a row an item with one column a metric,
where there is a column of systems; else with one column a system.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalstats.errors import InputError
from evalstats.runs.items import Key
from evalstats.runs.run import Run, run_of
from evalstats.runs.sources import Source, fingerprint
from evalstats.runs.tidy_columns import Columns, as_floats, as_names, of_file, of_frame
from evalstats.runs.tidy_roles import Roles, is_metric, plain, roles_of
from evalstats.runs.tidy_rows import Codes, Scores, coded
from evalstats.runs.wanted import Wanted

NAME = "table of scores (CSV, TSV, JSON lines)"

_HOW = (
    "name one column 'system', one 'segment' and one 'score' (and 'metric' where there are "
    "several), or give one column a metric beside 'system' and 'segment'"
)


def is_ours(source: Source) -> bool:
    """Return whether a file is a table; JSON lines are, where they are no other format."""
    return source.suffix in (".csv", ".tsv") or bool(source.first)


def read(source: Source, wanted: Wanted) -> Run:
    """Return the scores of a file."""
    table = of_file(source.path, source.suffix, wanted.labels)
    name = source.path.name
    for suffix in (".gz", source.suffix):
        name = name[: -len(suffix)] if suffix and name.lower().endswith(suffix) else name
    return _run(table, name, "table of scores", wanted)


def read_frame(frame: Any, wanted: Wanted, name: str = "scores") -> Run:
    """Return the scores of a frame of pandas or polars."""
    return _run(of_frame(frame), name, "frame", wanted)


def _run(table: Columns, name: str, format: str, wanted: Wanted) -> Run:
    roles = roles_of(table.path, table.cells, wanted.labels)
    if roles.segment is None:
        raise InputError(
            f"{table.path} has no column that names the segments, among "
            f"{', '.join(map(repr, table.cells))}; call one 'segment', or add one"
        )
    skipped = [f"column {column!r}, whose part another has" for column in roles.spare]
    scores, apart = _scores(table, roles, name, wanted, skipped).told_apart()
    if apart:
        format = f"{format}, items are {apart}/{roles.segment}"
    return run_of(name, table.path, format, list(scores.items(skipped)), skipped=skipped)


def _codes(table: Columns, column: str | None, part: str, default: str = "") -> Codes:
    """Return the names in a column, of which none may be empty; or one name for all rows."""
    if column is None:
        n = len(next(iter(table.cells.values())))
        return Codes(np.zeros(n, dtype=np.intp), [default])
    found = coded(as_names(table.cells[column]))
    if "" in found.names:
        row = int(np.argmax(found.of_rows == found.names.index("")))
        raise table.refused(row, column, f"the name of a {part}")
    return found


def _scores(table: Columns, roles: Roles, name: str, wanted: Wanted, skipped: list[str]) -> Scores:
    """Return the scores of a table, long or wide."""
    systems = _codes(table, roles.system, "system", name)
    metrics = _codes(table, roles.metric, "metric", "score")
    n = len(systems.of_rows)
    if roles.score is not None or roles.has_sums:
        rows, values = np.arange(n), _long_values(table, roles)
        skipped += [f"column {column!r}, which is no label" for column in roles.others]
        if roles.metric is None and roles.has_sums:
            metrics = Codes(metrics.of_rows, [f"{roles.numerator}/{roles.denominator}"])
    else:
        columns, numbers = _numeric(table, roles, wanted, skipped)
        rows, values = np.tile(np.arange(n), len(columns)), np.concatenate(numbers)[:, None]
        of_columns = Codes(np.repeat(np.arange(len(columns)), n), columns)
        if _are_systems(table, roles, columns):
            systems, metrics = of_columns, Codes(metrics.of_rows[rows], metrics.names)
        else:
            systems, metrics = Codes(systems.of_rows[rows], systems.names), of_columns
    return Scores(
        table,
        rows,
        values,
        systems,
        metrics,
        _codes(table, roles.task, "task"),
        _codes(table, roles.filter, "filter"),
        _codes(table, roles.segment, "segment"),
        _labels(table, roles, wanted),
        roles.counts_errors,
    )


def _long_values(table: Columns, roles: Roles) -> NDArray[np.float64]:
    if roles.score is not None and roles.has_sums:
        raise InputError(
            f"{table.path} has scores in {roles.score!r} and sums in {roles.numerator!r} and "
            f"{roles.denominator!r}; leave one of them out"
        )
    columns = [roles.score] if roles.score else [roles.numerator, roles.denominator]
    values = np.stack([_numbers(table, column) for column in columns if column], axis=1)
    values[np.any(np.isnan(values), axis=1)] = np.nan
    return values


def _are_systems(table: Columns, roles: Roles, columns: list[str]) -> bool:
    """Return whether the columns of a wide table are systems, and not metrics."""
    if roles.system is not None:
        if roles.metric is not None:
            raise InputError(
                f"{table.path} has {roles.system!r} and {roles.metric!r} and beside them "
                f"{', '.join(map(repr, columns))}: call the column of scores 'score'"
            )
        return False
    if roles.metric is not None:
        return True
    n_metrics = sum(map(is_metric, columns))
    if 0 < n_metrics < len(columns):
        raise InputError(
            f"{table.path} has {', '.join(map(repr, columns))}, which may be systems or metrics: "
            f"add a column 'system' that names the system if they are metrics, or a column "
            f"'metric' that names the metric if they are systems"
        )
    return not n_metrics and len(columns) > 1


def _numbers(table: Columns, column: str) -> NDArray[np.float64]:
    found, bad = as_floats(table.cells[column])
    if bad is not None:
        raise table.refused(bad, column, "a number such as 0.5, or empty where it is missing")
    return found


def _numeric(
    table: Columns, roles: Roles, wanted: Wanted, skipped: list[str]
) -> tuple[list[str], list[NDArray[np.float64]]]:
    """Return the columns that hold numbers: scores of a wide table."""
    chosen, numbers = [], []
    for column in roles.others:
        found, bad = as_floats(table.cells[column])
        n_numbers = int(np.sum(~np.isnan(found)))
        if not n_numbers and bad is None:
            skipped.append(f"column {column!r}, which is empty")
        elif bad is None:
            chosen.append(column)
            numbers.append(found)
        elif n_numbers < len(found) / 2 or not wanted.has(Key("", column)):
            skipped.append(f"column {column!r}, which is text")
        else:
            raise table.refused(bad, column, "a number as others of the column are, or empty")
    if not chosen:
        raise InputError(
            f"{table.path} has no column of scores, that is of numbers such as 0.5, among "
            f"{', '.join(map(repr, table.cells))}; {_HOW}"
        )
    return chosen, numbers


def _labels(table: Columns, roles: Roles, wanted: Wanted) -> dict[str, Codes]:
    """Return labels of all rows by name, under the name by which they are asked for."""
    asked_for = {plain(name): name for name in wanted.labels}
    found = {asked_for.get(plain(c), c): coded(as_names(table.cells[c])) for c in roles.labels}
    for column in roles.asked:
        codes = coded(as_names(table.cells[column]))
        if all(_is_number(name) for name in codes.names):
            continue
        name = {"src": "source", "ref": "reference"}.get(plain(column), column)
        found[f"{name}_hash"] = Codes(codes.of_rows, [fingerprint(text) for text in codes.names])
    return found


def _is_number(name: str) -> bool:
    return as_floats([name])[1] is None
