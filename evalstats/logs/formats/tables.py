"""Tables of scores: CSV, TSV, JSON lines or a frame, long or wide.

Long: a row a score, with columns for the system, the segment, the score (or numerator and
denominator) and perhaps the metric, task and groups. Wide: a row an item with one column a metric,
where there is a column of systems; else with one column a system.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evalstats.errors import InputError
from evalstats.logs.files import Source, fingerprint, without_suffix
from evalstats.logs.formats.columns import (
    Columns,
    Roles,
    as_floats,
    as_names,
    of_csv,
    of_frame,
    of_json,
    roles_of,
)
from evalstats.logs.log import Log, Wanted, log_of
from evalstats.logs.rows import Items, Key, Rows, mean_rows
from evalstats.logs.words import direction, is_metric, is_never, matches, plain
from evalstats.metrics import Mean, Metric, Ratio

NAME = "table of scores (CSV, TSV, JSON lines)"

#: Beyond it floats skip numbers.
_MOST_EPOCH = 2**53
_HOW = (
    "name one column 'system', one 'segment' and one 'score' (and 'metric' where there are "
    "several), or give one column a metric beside 'system' and 'segment'"
)


def is_ours(source: Source) -> bool:
    """Return whether a file is a table; JSON lines are, where they are no other format."""
    return source.suffix in (".csv", ".tsv") or bool(source.first)


def read(source: Source, wanted: Wanted) -> Log:
    """Return the scores of a file."""
    is_csv = source.suffix in (".csv", ".tsv")
    table = of_csv(source.path, source.suffix) if is_csv else of_json(source.path, wanted.labels)
    return _log(table, without_suffix(source.path), "table of scores", wanted)


def read_frame(frame: Any, wanted: Wanted) -> Log:
    """Return the scores of a frame of pandas, polars or pyarrow."""
    return _log(of_frame(frame), "scores", "frame", wanted)


#: A segment, and which answer to it: 0 where each has one.
Answer = tuple[str, int]


class _Scores(NamedTuple):
    """Where scores are: columns by name, `(n, 1)` or `(n, 2)`, of metrics or of systems.

    `places` are rows by segment and epoch, by task, filter, system and metric, of which columns may
    be one.
    """

    names: list[str]
    values: list[NDArray[np.float64]]
    are_systems: bool
    places: dict[tuple[str, ...], dict[Answer, int]]


def _log(table: Columns, name: str, format: str, wanted: Wanted) -> Log:
    roles = roles_of(table.path, table.cells, wanted.labels)
    if roles.segment is None:
        raise InputError(
            f"{table.path} has no column that names the segments, among "
            f"{', '.join(map(repr, table.cells))}; call one 'segment', or add one"
        )
    skipped = [f"column {column!r}, whose part another has" for column in roles.unused]
    columns, are_systems = _score_columns(table, roles, wanted, skipped)
    names, values = [], []
    for column in columns:
        parts = column if isinstance(column, tuple) else (column,)
        numbers = np.stack([table.numbers(part) for part in parts], axis=1)
        numbers[np.isnan(numbers).any(axis=1)] = np.nan
        values.append(numbers)
        names.append("score" if parts == (roles.score,) else "/".join(parts))
    parts_of = [
        _names(table, roles.task, "task"),
        _names(table, roles.filter, "filter"),
        _names(table, roles.system, "system", "" if are_systems else name),
        _names(table, roles.metric, "metric", "score" if are_systems else ""),
    ]
    labels = _labels(table, roles, wanted)
    segments = _names(table, roles.segment, "segment")
    places, apart = _placed(table, parts_of, segments, _epochs(table, roles.epoch), labels)
    if apart:
        format = f"{format}, items are {apart}/{roles.segment}"
    found = _rows(table, _Scores(names, values, are_systems, places), labels, roles)
    rows = [one for one in found if wanted.has(one.key)]
    return log_of(table.path, format, rows, skipped=skipped)


def _names(table: Columns, column: str | None, part: str, default: str = "") -> list[str]:
    """Return the names in a column, of which none may be empty; or one name for all rows."""
    if column is None:
        return [default] * len(table.lines)
    found = as_names(table.cells[column])
    if "" in found:
        raise table.refused(found.index(""), column, f"the name of a {part}")
    return found


def _epochs(table: Columns, column: str | None) -> list[int]:
    """Return which answer to its segment each row is, 0 where there is no such column."""
    if column is None:
        return [0] * len(table.lines)
    found = table.numbers(column)
    wrong = np.flatnonzero(~((found == np.round(found)) & (np.abs(found) < _MOST_EPOCH)))
    if len(wrong):
        raise table.refused(int(wrong[0]), column, "a whole number, of which answer this is")
    return [int(number) for number in found]


def _placed(
    table: Columns,
    parts: list[list[str]],
    segments: list[str],
    epochs: list[int],
    labels: dict[str, list[str]],
) -> tuple[dict[tuple[str, ...], dict[Answer, int]], str]:
    """Return the row of each score, and the label that tells segments apart: "document", or ""."""
    first: tuple[int, int] | None = None
    for apart in ("", *labels):
        ids = segments
        if apart:
            ids = [f"{a}/{b}" for a, b in zip(labels[apart], segments, strict=True)]
        found: dict[tuple[str, ...], dict[Answer, int]] = {}
        n_twice = 0
        answers = list(zip(ids, epochs, strict=True))
        for row, (answer, *of) in enumerate(zip(answers, *parts, strict=True)):
            other = found.setdefault(tuple(of), {}).setdefault(answer, row)
            if other != row:
                n_twice += 1
                first = first or (other, row)
        if not n_twice:
            return found, apart
    assert first is not None
    one, two = first
    raise InputError(
        f"{table.path} has scores more than once: that of system {parts[2][one]!r} for segment "
        f"{segments[one]!r} under {parts[3][one] or 'each metric'} is in {table.where(one)} and in "
        f"{table.where(two)}; give each once (call the column that names systems 'system', and "
        f"where segments are numbered within documents, the column of these 'document'; where "
        f"segments have several answers, number these in a column 'epoch')"
    )


def _rows(
    table: Columns, scores: _Scores, labels: dict[str, list[str]], roles: Roles
) -> Iterator[Rows]:
    """Yield the rows of every system and metric, which have the same items in a task and filter."""
    metrics: dict[str, tuple[Metric, bool]] = {}
    for task, filter in dict.fromkeys(of[:2] for of in scores.places):
        own = {of[2:]: rows for of, rows in scores.places.items() if of[:2] == (task, filter)}
        first: dict[Answer, int] = {}
        for rows in own.values():
            for answer, row in rows.items():
                other = first.setdefault(answer, row)
                for kind, given in labels.items() if other != row else ():
                    if given[row] != given[other]:
                        raise InputError(
                            f"{table.path}: {kind} of segment {answer[0]!r} is {given[other]!r} in "
                            f"{table.where(other)} and {given[row]!r} in {table.where(row)}; a "
                            f"segment has one"
                        )
        of_items = {kind: [given[row] for row in first.values()] for kind, given in labels.items()}
        column = f", column {roles.segment!r}" if roles.segment else ""
        found = list(first)
        ids, epochs = zip(*found, strict=True)
        items = Items.of(f"{table.path}{column}", ids, of_items, epochs)
        answers = [found[i] for i in items.order]
        for called, values in zip(scores.names, scores.values, strict=True):
            for (system, metric), rows in own.items():
                system = called if scores.are_systems else system
                name = metric or called
                if name not in metrics:
                    metrics[name] = _metric(name, scores, roles)
                made, is_directed = metrics[name]
                at = np.array([rows.get(answer, -1) for answer in answers])
                block = np.where(at[:, None] < 0, np.nan, values[at])
                block = block if block.shape[1] == 2 else mean_rows(block[:, 0])
                key = Key(task, made.name, filter)
                yield Rows(key, system, made, items, block, is_directed=is_directed)


def _metric(name: str, scores: _Scores, roles: Roles) -> tuple[Metric, bool]:
    """Return the metric of this name, less an arrow after it, and if its direction is known."""
    every = np.concatenate([
        values[list(rows.values()), 0]
        for called, values in zip(scores.names, scores.values, strict=True)
        for (*_, metric), rows in scores.places.items()
        if (metric or called) == name
    ])  # fmt: skip
    higher = direction(name, None if np.all(np.isnan(every)) else float(np.nanmax(every)))
    called = name.rstrip("↑↓").strip() or name
    kind: type[Mean] | type[Ratio] = Mean
    if scores.values[0].shape[1] == 2:
        higher, kind = direction(roles.numerator or "") if higher is None else higher, Ratio
    return kind(called, higher_is_better=higher is not False), higher is not None


def _score_columns(
    table: Columns, roles: Roles, wanted: Wanted, skipped: list[str]
) -> tuple[list[Any], bool]:
    """Return the columns of scores, those of metrics first, and whether they are systems."""
    score = [roles.score] if roles.score is not None else []
    sums = [roles.sums] if roles.sums is not None else []
    # Where scores come from elsewhere, sums are left out.
    unused = roles.sums or ()
    if roles.metric is not None and (score or sums):
        others = (*roles.others, *(unused if score else ()))
        return _chosen(score or sums, roles, others, skipped)
    named = [c for c in roles.others if is_metric(c) or matches(c, wanted.metric)]
    is_asked = bool(sums) and matches("/".join(sums[0]), wanted.metric)
    if sums and (is_asked or not (score or named)):
        return _chosen(sums, roles, (*score, *roles.others), skipped)
    numeric = [c for c in roles.others if _is_numeric(table, c, c in named, skipped)]
    named = [c for c in numeric if c in named]
    if roles.metric is None and (score or (named and roles.system is not None)):
        rest = [c for c in numeric if c not in named]
        return _chosen([*score, *named], roles, (*rest, *unused), skipped)
    found = [c for c in numeric if c in named or not is_never(c)] or numeric
    listed = ", ".join(map(repr, found))
    if not found:
        raise InputError(
            f"{table.path} has no column of scores, that is of numbers such as 0.5, among "
            f"{', '.join(map(repr, table.cells))}; {_HOW}"
        )
    _chosen(found, roles, [c for c in numeric if c not in found], skipped)
    if roles.system is None and roles.metric is None and 0 < len(named) < len(found):
        raise InputError(
            f"{table.path} has {listed}, which may be systems or metrics: add a column 'system' "
            f"that names the system if they are metrics, or a column 'metric' that names the "
            f"metric if they are systems"
        )
    are_systems = roles.metric is not None or (len(found) > 1 and not named)
    return found, are_systems and roles.system is None


def _chosen(
    chosen: Sequence[Any], roles: Roles, others: Sequence[str], skipped: list[str]
) -> tuple[list[Any], bool]:
    """Return columns of scores as metrics; the others that hold none are named in `skipped`."""
    names = ", ".join(repr("/".join(c) if isinstance(c, tuple) else c) for c in chosen)
    for column in others:
        asked = "/".join(roles.sums) if roles.sums and column in roles.sums else column
        how = "" if roles.metric is not None else f" (metric={asked!r} reads it)"
        skipped.append(f"column {column!r}: scores are in {names}{how}")
    return list(chosen), False


def _is_numeric(table: Columns, column: str, is_named: bool, skipped: list[str]) -> bool:
    """Return whether a column holds numbers; others are named in `skipped`."""
    found, bad = as_floats(table.cells[column])
    n_numbers = int(np.sum(~np.isnan(found)))
    if bad is None and n_numbers:
        return True
    if bad is not None and n_numbers >= len(found) / 2 and (is_named or not is_never(column)):
        raise table.refused(bad, column, "a number as others of the column are, or empty")
    skipped.append(f"column {column!r}, which is {'text' if bad is not None else 'empty'}")
    return False


def _labels(table: Columns, roles: Roles, wanted: Wanted) -> dict[str, list[str]]:
    """Return labels of all rows by name, under the name by which they are asked for."""
    asked_for = {plain(name): name for name in wanted.labels}
    found = {asked_for.get(plain(c), c): as_names(table.cells[c]) for c in roles.labels}
    for column in roles.hashed:
        texts = as_names(table.cells[column])
        hashes = {text: fingerprint(text) for text in dict.fromkeys(texts)}
        if not all(as_floats([text])[1] is None for text in hashes):
            name = {"src": "source", "ref": "reference"}.get(plain(column), column)
            found[f"{name}_hash"] = [hashes[text] for text in texts]
    return found
