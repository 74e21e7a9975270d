"""Tables of scores: CSV, TSV, JSON lines or a frame, long or wide.

Long: a row a score, with columns for the system, the segment, the score (or numerator and
denominator) and perhaps the metric, task and groups. Wide: a row an item with one column a metric,
where there is a column of systems; else with one column a system.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evalstats.errors import Argument, InputError
from evalstats.logs.formats.columns import (
    Columns,
    Roles,
    as_floats,
    as_names,
    marks,
    of_csv,
    of_frame,
    of_inspect,
    of_json,
    roles_of,
    score_columns,
)
from evalstats.logs.formats.format import BY_PLACE, Format, Reading
from evalstats.logs.log import Log, Wanted, log_of
from evalstats.logs.rows import Items, Key, Rows, mean_rows
from evalstats.logs.sources import fingerprint, json_lines, without_suffix
from evalstats.logs.words import direction, noun, plain
from evalstats.metrics import Mean, Metric, Ratio

#: Beyond it floats skip numbers.
_MOST_EPOCH = 2**53

#: A segment, and which answer to it: 0 where each has one.
Answer = tuple[str, int]
#: Task, filter, system and metric, as the cells of a row name them; "" where no column does.
Names = tuple[str, str, str, str]


class _Scores(NamedTuple):
    """The scores of a table, and which of its rows has that of which answer.

    `values` are the numbers of each column of scores, `(n, 1)`, or `(n, 2)` of a ratio, by name.
    `rows` has the number of the row of each answer, by what its cells name: ``{("", "", "gpt",
    "BLEU"): {("segment 1", 0): 17}}``. `graded` columns hold grades, of which more are better.
    """

    values: Mapping[str, NDArray[np.float64]]
    are_systems: bool
    rows: Mapping[Names, Mapping[Answer, int]]
    graded: Sequence[str] = ()


def _table(reading: Reading) -> list[Rows]:
    """Return the scores of a file."""
    path, suffix, wanted = reading.source.path, reading.source.suffix, reading.wanted
    if suffix == ".jsonl":
        table = of_json(str(path), json_lines(path), wanted.labels, "line")
    else:
        table = of_csv(path, suffix)
    rows, skipped, apart = _read(table, without_suffix(path), wanted)
    reading.skipped += skipped
    reading.format = f"table of scores{apart}"
    return rows


def read_frame(frame: Any, wanted: Wanted) -> Log:
    """Return the scores of a frame of pandas, polars or pyarrow."""
    table = of_frame(frame)
    rows, skipped, apart = _read(table, "scores", wanted)
    return log_of(table.path, f"frame{apart}", rows, skipped=skipped)


TABLE = Format(
    "table of scores (CSV, TSV, JSON lines)",
    ".csv .tsv .jsonl",
    # JSON lines are a table where they are no other format.
    lambda source: source.suffix != ".jsonl" or bool(source.first),
    _table,
)


def _read(table: Columns, name: str, wanted: Wanted) -> tuple[list[Rows], list[str], str]:
    """Return the scores of a table, what is left out, and what tells segments apart."""
    named = wanted.columns or of_inspect(table.cells)
    roles = roles_of(table.path, table.cells, wanted.labels, named)
    has_names = roles.segment is not None
    if not has_names and not _is_wide(table, roles):
        raise InputError(
            f"{table.path} has no column that names the segments, among "
            f"{', '.join(map(repr, table.cells))}; say which does with ",
            Argument("columns", {[*roles.others, *table.cells][0]: "segment"}),
            ", or add one",
        )
    chosen, are_systems, left_out = score_columns(table, roles, wanted.metric)
    values = {}
    for score, columns in chosen.items():
        numbers = np.stack([table.numbers(column) for column in columns], axis=1)
        # Of a ratio one number is nothing without the other.
        numbers[np.isnan(numbers).any(axis=1)] = np.nan
        values[score] = numbers
    names = [
        _names(table, roles.task, "task"),
        _names(table, roles.filter, "filter"),
        _names(table, roles.system, "system", "" if are_systems else name),
        _names(table, roles.metric, "metric", "score" if are_systems else ""),
    ]
    labels = _labels(table, roles, wanted)
    # Those of rows without names are numbers, from 1 on.
    rows_by_place = list(map(str, range(1, len(table.lines) + 1)))
    segments = _names(table, roles.segment, "segment") if has_names else rows_by_place
    epochs = _epochs(table, roles.epoch or roles.run, named)
    rows, apart = _rows_by_answer(table, names, segments, epochs, labels)
    graded = [name for name, of in chosen.items() if all(marks(table.cells[c]) for c in of)]
    scores = _Scores(values, are_systems, rows, graded)
    kept = [one for one in _rows(table, scores, labels, roles) if wanted.has(one.key)]
    unused = [f"column {column!r}, whose part another has" for column in roles.unused]
    said = f", items are {apart}/{roles.segment}" if apart else "" if has_names else BY_PLACE
    return kept, [*unused, *left_out], said


def _is_wide(table: Columns, roles: Roles) -> bool:
    """Say whether a table has a column of scores for each system, or metric, and no other.

    A column of text, or of whole numbers that all differ, may be the ids of segments.
    """
    if roles.system is not None or roles.metric is not None or not roles.others:
        return False
    for column in roles.others:
        numbers, bad = as_floats(table.cells[column])
        are_ids = len(set(numbers)) == len(numbers) > 2 and np.all(numbers % 1 == 0)
        if bad is not None or are_ids:
            return False
    return True


def _names(table: Columns, column: str | None, part: str, default: str = "") -> list[str]:
    """Return the names in a column, of which none may be empty; or one name for all rows."""
    if column is None:
        return [default] * len(table.lines)
    names = as_names(table.cells[column])
    if "" in names:
        raise table.refused(names.index(""), column, f"the name of a {part}")
    return names


def _epochs(table: Columns, column: str | None, named: Container[str]) -> list[list[int]]:
    """Return which answer to its segment each row is, in the ways in which it may be told.

    Numbers of runs, or of seeds, say it only where segments would else have several scores.
    """
    alone = [0] * len(table.lines)
    is_sure = column is not None and (column in named or plain(column) == "epoch")
    if column is None or not (is_sure or as_floats(table.cells[column])[1] is None):
        return [alone]
    if is_sure and not any(
        as_floats([cell])[1] is None for cell in set(map(str, table.cells[column]))
    ):
        answers = as_names(table.cells[column])
        number_of = {name: i for i, name in enumerate(sorted(set(answers)))}
        return [[number_of[name] for name in answers]]
    numbers = table.numbers(column)
    wrong = np.flatnonzero(~((numbers == np.round(numbers)) & (np.abs(numbers) < _MOST_EPOCH)))
    if len(wrong):
        raise table.refused(int(wrong[0]), column, "a whole number, of which answer this is")
    told = [int(number) for number in numbers]
    return [told] if is_sure else [alone, told]


def _rows_by_answer(
    table: Columns,
    names: list[list[str]],
    segments: list[str],
    epochs: list[list[int]],
    labels: Mapping[str, list[str]],
) -> tuple[dict[Names, dict[Answer, int]], str]:
    """Return the row of each answer as in `_Scores`, and the label that tells segments apart.

    `names` are the four lists that `Names` has one of each of. The first `epochs` are taken that
    leave no answer twice. Where segments still come again under one system and metric they are
    numbered within documents, or another label: "document/segment".
    """
    first: tuple[int, int] | None = None
    for apart, of_rows in product(("", *labels), epochs):
        ids = segments
        if apart:
            ids = [f"{a}/{b}" for a, b in zip(labels[apart], segments, strict=True)]
        rows: dict[Names, dict[Answer, int]] = {}
        n_twice = 0
        answers = list(zip(ids, of_rows, strict=True))
        for row, (answer, *named) in enumerate(zip(answers, *names, strict=True)):
            task, filter, system, metric = named
            other = rows.setdefault((task, filter, system, metric), {}).setdefault(answer, row)
            if other != row:
                n_twice += 1
                first = first or (other, row)
        if not n_twice:
            return rows, apart
    assert first is not None
    one, two = first
    raise InputError(
        f"{table.path} has scores more than once: that of system {names[2][one]!r} for segment "
        f"{segments[one]!r} under {names[3][one] or 'each metric'} is in {table.where(one)} and in "
        f"{table.where(two)}; give each once, or say with ",
        Argument("columns"),
        " which column names the 'system', the documents within which segments are numbered "
        "('label'), or which of several answers this is ('epoch')",
        *_judges(table, names, segments),
    )


def _judges(table: Columns, names: list[list[str]], segments: list[str]) -> tuple[object, ...]:
    """Return the end of a message: which column of names, as of judges, tells all rows apart."""
    n = len(segments)
    telling = {
        column: set(cells)
        for column, given in table.cells.items()
        if len(set(zip(segments, *names, cells := list(map(str, given)), strict=True))) == n
        and not any(as_floats([cell])[1] is None for cell in set(cells))
    }
    if not telling:
        return ()
    column = min(telling, key=lambda name: len(telling[name]))
    said = f"; {column!r} tells them apart: say what it is by "
    return (said, Argument("columns"), ", 'metric' for one metric each, 'epoch' for their mean")


def _rows(
    table: Columns, scores: _Scores, labels: Mapping[str, list[str]], roles: Roles
) -> Iterator[Rows]:
    """Yield the rows of every system and metric, which have the same items in a task and filter."""
    metrics: dict[str, tuple[Metric, bool]] = {}
    unit, part = noun(roles.segment or ""), noun(roles.task or "task")
    by_task: dict[tuple[str, str], dict[tuple[str, str], Mapping[Answer, int]]] = {}
    for (task, filter, system, metric_name), rows in scores.rows.items():
        by_task.setdefault((task, filter), {})[system, metric_name] = rows
    for (task, filter), by_system in by_task.items():
        row_of: dict[Answer, int] = {}
        for answer, row in (pair for rows in by_system.values() for pair in rows.items()):
            first = row_of.setdefault(answer, row)
            for kind, of in labels.items() if first != row else ():
                if of[row] != of[first]:
                    raise InputError(
                        f"{table.path}: {kind} of segment {answer[0]!r} is {of[first]!r} in "
                        f"{table.where(first)} and {of[row]!r} in {table.where(row)}; a segment "
                        f"has one"
                    )
        of_items = {kind: [of[row] for row in row_of.values()] for kind, of in labels.items()}
        ids, epochs = zip(*row_of, strict=True)
        items = Items.of(f"{table.path}, column {roles.segment!r}", ids, of_items, epochs)
        items = replace(items, are_runs=roles.run is not None)
        answers = list(row_of)
        answers = [answers[i] for i in items.order]
        for (column, values), ((system, named), rows) in product(
            scores.values.items(), by_system.items()
        ):
            called = named or column
            if called not in metrics:
                metrics[called] = _metric(called, scores, roles)
            metric, is_directed = metrics[called]
            # Which row has the score of each answer; -1 for one that this system has not.
            places = np.array([rows.get(answer, -1) for answer in answers])
            is_absent = places < 0
            statistics = np.where(is_absent[:, None], np.nan, values[places])
            is_gone = np.isnan(statistics).any(axis=1)
            if len(items.epochs) and np.any(is_gone):
                # An empty answer of several is as one that has no row.
                known = np.array(items.ids)
                is_absent = is_gone & (is_absent | np.isin(known, known[~is_gone]))
            yield Rows(
                Key(task, metric.name, filter),
                column if scores.are_systems else system,
                metric,
                items,
                statistics if statistics.shape[1] == 2 else mean_rows(statistics[:, 0]),
                is_absent=is_absent if np.any(is_absent) else None,
                is_directed=is_directed,
                called=(unit if unit != part else "item", part),
            )


def _metric(name: str, scores: _Scores, roles: Roles) -> tuple[Metric, bool]:
    """Return the metric of this name, less an arrow, and whether its direction is known."""
    parts = [
        values[list(rows.values()), 0]
        for column, values in scores.values.items()
        for (*_, metric), rows in scores.rows.items()
        if (metric or column) == name
    ]
    every = np.concatenate(parts)
    higher = direction(name, None if np.all(np.isnan(every)) else float(np.nanmax(every)))
    if higher is None and (name in scores.graded or len(scores.graded) == len(scores.values)):
        higher = True
    called = name.rstrip("↑↓").strip() or name
    kind: type[Mean] | type[Ratio] = Mean
    if next(iter(scores.values.values())).shape[1] == 2:
        numerator = next((columns[0] for columns in roles.ratio.values()), "")
        higher, kind = direction(numerator) if higher is None else higher, Ratio
    return kind(called, higher_is_better=higher is not False), higher is not None


def _labels(table: Columns, roles: Roles, wanted: Wanted) -> dict[str, list[str]]:
    """Return the labels of all rows; texts that items are asked about are hashes: source_hash."""
    asked_for = {plain(name): name for name in wanted.labels}
    labels = {asked_for.get(plain(c), c): as_names(table.cells[c]) for c in roles.labels}
    for column in roles.hashed:
        texts = as_names(table.cells[column])
        hashes = {text: fingerprint(text) for text in dict.fromkeys(texts)}
        if not all(as_floats([text])[1] is None for text in hashes):
            name = {"src": "source", "ref": "reference"}.get(plain(column), column)
            labels[f"{name}_hash"] = [hashes[text] for text in texts]
    return labels
