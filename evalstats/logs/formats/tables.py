"""Tables of scores: CSV, TSV, JSON lines or a frame, long or wide, and their columns' roles.

Long: one row per score, with columns for the system, the segment, the score (or numerator and
denominator) and perhaps the metric, task and groups. Wide: one row per item, with one column per
metric if there is a column of systems, and otherwise with one column per system.

Roles come from the caller (`columns`, ``metric="mine"``) or from the names of the columns. Scores
are in columns with a role's name, else with words of metrics in their names, else in any columns of
numbers.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evalstats.checks import is_from, plain, shown
from evalstats.errors import Argument, InputError
from evalstats.logs.fields import as_label, dotted, fingerprint
from evalstats.logs.formats.roles import AGENT_TASKS, KNOWN, SYSTEM_SCORE, Roles, roles_of, without
from evalstats.logs.log import BY_PLACE, Format, Log, Reading, Wanted, log_of
from evalstats.logs.rows import (
    Items,
    Key,
    Rows,
    is_difference,
    is_metric,
    is_never,
    matches,
    mean_rows,
    natural,
    noun,
    taken,
)
from evalstats.logs.sources import MOST_LINE, Source, json_lines, text_blocks, without_suffix
from evalstats.metrics import Mean, Metric, Ratio
from evalstats.metrics.directions import direction
from evalstats.results.records import only
from evalstats.statistics.guards import may_be_of_wholes
from evalstats.text.references import listed_texts, table_columns

#: Values for missing scores, and for yes and no.
_NONE = frozenset(
    [None, "", "NA", "na", "N/A", "n/a", "<NA>", "NaN", "nan", "None", "none", "NULL", "null"]
)
#: Grades of Inspect's scorers, and answers of judges and people.
GRADES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
_ANSWERS = {
    **dict.fromkeys(["yes", "y", "true", "pass", "passed", "correct", "right", "success"], 1.0),
    **dict.fromkeys(["no", "n", "false", "fail", "failed", "incorrect", "wrong", "failure"], 0.0),
}
#: Numbers with a decimal comma, or as percentages.
_OTHER_NUMBER = re.compile(r" *-?\d+(?:[.,]\d+ *%|,\d+| *%) *")
_FLAGS = {"True": 1.0, "true": 1.0, "TRUE": 1.0, "False": 0.0, "false": 0.0, "FALSE": 0.0}

#: An id as pandas writes it if another one is missing.
_WHOLE = re.compile(r"\d+\.0+")
#: Columns of every table of results.
_OF_RESULTS = {"metric", "system", "standard_error", "low", "high"}
#: Names of rows that summarise others, in tables with more items than this.
_SUMMARY = re.compile(
    "(macro|micro|weighted|grand)?(average|avg|mean|total|sum|overall|all|median|n|count|std|stdev|"
    "stddev|sd|standarddeviation|stderr|summe|gesamt|mittelwert|mittel|durchschnitt|anzahl|"
    "standardabweichung|moyenne|somme|écarttype|promedio|suma|平均|平均値|平均值|合計|合计|总计)"
)
_FEWEST_ROWS = 2


#: Names of numbers of right answers, and of all answers, to an item, as in pass@k.
_RIGHT = ("c", "ncorrect", "numcorrect", "npassed", "numpassed")
_ANSWERED = ("n", "nsamples", "numsamples", "ntotal", "numtotal", "ntrials", "numtrials")


class Columns(NamedTuple):
    """A table by columns: N cells each, None if a cell is empty.

    `lines` give the place of each row in the file, counted in `unit`: "line 7".
    """

    path: str
    cells: dict[str, list[Any]]
    lines: Sequence[int]
    unit: str = "line"

    def where(self, row: int) -> str:
        """Return the place of a row: "line 7"."""
        return f"{self.unit} {self.lines[row]}"

    def refused(self, row: int, column: str, expected: str) -> InputError:
        """Return the error about one cell."""
        where, got = f"{self.path}, {self.where(row)}", shown(self.cells[column][row], 60)
        return InputError(f"{where}: {column!r} must be {expected}, got {got}")

    def numbers(self, column: str) -> NDArray[np.float64]:
        """Return the numbers of a column, NaN for those missing."""
        cells = self.cells[column]
        numbers, bad = as_floats(marks(cells) or cells)
        if bad is not None:
            expected = "a number such as 0.5, or empty if the score is missing"
            others = [i for i, x in enumerate(cells) if str(x).lower() not in _ANSWERS]
            if len(others) < len(cells) / 2:
                bad = next((i for i in others if cells[i] not in _NONE), bad)
                expected = f"one of {', '.join(_ANSWERS)}, or empty"
            raise self.refused(bad, column, expected)
        return numbers


def of_frame(frame: Any) -> Columns:
    """Return the columns of a frame of pandas or polars, including a named index."""
    if is_from("pandas", frame, "DataFrame") and any(n is not None for n in frame.index.names):
        frame = frame.reset_index()
    columns = table_columns(frame) or []
    names = [str(name) for name, _ in columns]
    cells = [listed_texts(column, name, "cells") for name, column in columns]
    n = len(cells[0]) if cells else 0
    # Names that are not texts are numbers of unnamed columns.
    if all(isinstance(name, str) for name, _ in columns):
        _check_header("the frame", names, cells)
    return _checked("the frame", names, cells, range(n))._replace(unit="row")


def delimiter_of(header: str, suffix: str) -> str:
    """Return the delimiter of cells: a tab in a ``.tsv`` file, else a tab, ``,`` or ``;``.

    A header of several words without these is from WMT's assessments, delimited by blanks.
    """
    if " " in header.strip() and not any(mark in header for mark in ',;\t"'):
        return " "
    if suffix == ".tsv" or ("\t" in header and "," not in header and ";" not in header):
        return "\t"
    return ";" if ";" in header and "," not in header else ","


def of_csv(path: Path, suffix: str) -> Columns:
    """Return the columns of a table with a header and any delimiter."""
    text: Iterator[str] = chain.from_iterable(text_blocks(path))
    first = next(text, "")
    delimiter = delimiter_of(first, suffix)
    if delimiter == " ":
        # Lines may end with a delimiter.
        first, text = first.rstrip(), (line.rstrip() for line in text)
    # With tabs, quotes are usually part of a text, unless the header is quoted too.
    is_plain = delimiter == "\t" and '"' not in first
    quoting: Any = csv.QUOTE_NONE if is_plain else csv.QUOTE_MINIMAL
    reader = csv.reader(chain([first], text), delimiter=delimiter, quoting=quoting, strict=True)
    rows: list[list[str]] = []
    lines: list[int] = []
    # The limit is global to the process.
    limit = csv.field_size_limit(MOST_LINE)
    try:
        for row in filter(None, reader):
            rows.append(row)
            lines.append(reader.line_num)
            if len(row) != len(rows[0]):
                raise InputError(
                    f"{path}, line {lines[-1]} must have {len(rows[0])} cells, one per column of "
                    f"the header, got {len(row)}"
                )
    except csv.Error as error:
        raise InputError(f"{path}, line {reader.line_num}: {error}") from None
    finally:
        csv.field_size_limit(limit)
    names = [name.strip() for name in rows[0]] if rows else []
    columns = [[row[j] for row in rows[1:]] for j in range(len(names))]
    _check_header(str(path), names, columns)
    return _checked(str(path), names, columns, lines[1:])


def of_json(
    path: str, rows: Iterable[tuple[int, Mapping[str, Any]]], labels: Sequence[str], unit: str
) -> Columns:
    """Return the columns of objects and their lines; lists and objects in cells become JSON."""
    records, lines = [], []
    for line, record in rows:
        inner = {name: dotted(record, name) or None for name in labels if name not in record}
        cells = {k: as_label(v) if isinstance(v, (list, dict)) else v for k, v in record.items()}
        records.append({**cells, **inner})
        lines.append(line)
    names = dict.fromkeys(name for record in records for name in record if name)
    return Columns(path, {n: [one.get(n) for one in records] for n in names}, lines, unit)


def _checked(path: str, names: list[str], cells: list[list[Any]], lines: Sequence[int]) -> Columns:
    """Return columns with different names; an unnamed one is the index that pandas writes."""
    repeated = next((name for i, name in enumerate(names) if name and name in names[:i]), None)
    if repeated is not None:
        raise InputError(f"{path} has two columns called {repeated!r}; rename one of them")
    named = {name: column for name, column in zip(names, cells, strict=True) if name}
    if len(named) == 1 < len(names) - 1 and lines and all(column[0] for column in cells):
        raise InputError(
            f"{path}: the first line contains only {shown(next(iter(named)))} and looks like a "
            "title. Delete it, so that the file begins with the column names."
        )
    if not named or not lines:
        raise InputError(f"{path} has no rows below its header")
    return Columns(path, named, lines)


def _check_header(path: str, names: Sequence[str], cells: Sequence[list[Any]]) -> None:
    """Refuse names of columns that look like a row of values.

    Numbers are not names, and neither are texts that occur among the values of their column, unless
    another name is a known word such as "id" (a column may be named "0.5"). Whole numbers from 0 or
    1 on are names of unnamed columns.
    """
    columns = [(name, column) for name, column in zip(names, cells, strict=True) if column]
    if any(plain(name) in KNOWN for name in names):
        return
    numbers = [
        name
        for name, column in columns
        if _is_number(name.replace(",", ".")) and as_floats(column)[1] is None
    ]
    are_counted = numbers in [list(map(str, range(i, i + len(numbers)))) for i in (0, 1)]
    among = {name: name in set(as_names(column)) for name, column in columns if name}
    texts = [name for name in among if name not in numbers]
    counts = [among[name] for name in numbers]
    are_values = bool(counts) and all(counts) and all(names)
    are_values |= any(among[name] for name in texts) and not any(map(is_metric, texts))
    if are_values or not are_counted:
        raise InputError(
            f"{path} has no header: its first line, {shown(', '.join(names), 60)}, is a row of "
            "scores like the rows below. Add a line above it with the column names, such as "
            "id,system,score (pandas: header=None, names=[...])."
        )


def _is_number(text: str) -> bool:
    """Return whether a text is a number, or true or false, and not a missing value."""
    number = _as_float(text)
    return number is not None and number == number


def as_floats(cells: list[Any]) -> tuple[NDArray[np.float64], int | None]:
    """Return the numbers of cells, NaN for missing ones, and the place of the first other value."""
    # Most columns of scores have only numbers, which is ten times as fast.
    with suppress(TypeError, ValueError, OverflowError):
        numbers = np.array(list(map(float, cells)), dtype=np.float64)
        text = "".join(cell for cell in cells if isinstance(cell, str))
        if text.isascii() and "_" not in text and not np.any(np.isinf(numbers)):
            return numbers, None
    known = list(map(_as_float, cells))
    return np.array(known, dtype=np.float64), known.index(None) if None in known else None


def _as_float(cell: Any) -> float | None:
    """Return the number in a cell, NaN if it is missing, None for anything else."""
    try:
        if cell in _NONE:
            return np.nan
        number = float(_FLAGS.get(cell, cell))
    except (TypeError, ValueError, OverflowError):
        return None
    is_odd = isinstance(cell, str) and ("_" in cell or not cell.isascii())
    return None if is_odd or np.isinf(number) else number


def marks(cells: list[Any]) -> list[float | None] | None:
    """Return grades (C, I, P, N, or yes, no and the like) as numbers; None if any is not one."""
    there = {cell for cell in cells if isinstance(cell, str) and cell not in _NONE}
    known = GRADES if there <= GRADES.keys() else _ANSWERS
    fold = str if known is GRADES else str.lower
    if not there or not all(fold(cell) in known for cell in there):
        return None
    if not all(isinstance(cell, str) or cell is None or cell != cell for cell in cells):
        return None
    return [known[fold(cell)] if cell in there else None for cell in cells]


def as_names(cells: list[Any]) -> list[str]:
    """Return cells as text, stripped; whole numbers have no decimal point."""
    cells = ["" if cell is None else cell for cell in cells]
    whole = (isinstance(cell, float) and cell.is_integer() for cell in cells)
    return [
        str(int(c) if is_whole else c).strip() for c, is_whole in zip(cells, whole, strict=True)
    ]


def of_inspect(cells: Mapping[str, list[Any]]) -> dict[str, str | None]:
    """Return the roles of the columns of Inspect's `samples_df`; empty for other tables."""
    if not {"id", "epoch", "input", "target"}.issubset(cells):
        return {}
    # `sample_id` differs between epochs and logs; `id` comes from the dataset.
    scores = {
        name: "score"
        for name in cells
        if name.startswith("score_") and as_floats(marks(cells[name]) or cells[name])[1] is None
    }
    names = {"model": "system", "task_name": "task", "id": "segment", "epoch": "epoch"}
    named: dict[str, str | None] = {name: role for name, role in names.items() if name in cells}
    return {**named, **scores} if scores else {}


#: Columns of scores by name, as in `Roles`; whether they are systems; why others are left out.
ScoreColumns = tuple[Mapping[str, tuple[str, ...]], bool, list[str]]


def score_columns(table: Columns, roles: Roles, wanted: Wanted) -> ScoreColumns:
    """Return the columns of scores."""
    score, ratio, metrics = roles.score, roles.ratio, wanted.metric
    if roles.named:
        listed = ", ".join(map(repr, roles.named))
        left_out = [
            f"column {column!r}: by columns=, scores are in {listed}"
            for column in (*roles.others, *roles.unused)
        ]
        return roles.named, roles.are_systems, left_out
    sums = [column for columns in ratio.values() for column in columns]
    if roles.metric is not None and score:
        return score, False, _elsewhere(score, roles, (*roles.others, *sums))
    if roles.metric is not None and ratio:
        return ratio, False, _elsewhere(ratio, roles, roles.others)
    wished = [c for c in roles.others if matches(c, metrics)]
    if wished and roles.system is None and roles.metric is None:
        # If a metric is requested, columns are metrics, not systems.
        numeric, left_out = _numeric(table, roles.others, wished)
        chosen = {c: (c,) for c in wished if c in numeric}
        rest = [*score.get("score", ()), *sums, *(c for c in numeric if c not in chosen)]
        return chosen, False, left_out + _elsewhere(chosen, roles, rest)
    asked_for = [c for c in roles.others if is_metric(c) or c in wished]
    # A ratio is requested, or there are no other columns of scores.
    if ratio and (matches("/".join(sums), metrics) or not (score or asked_for)):
        return ratio, False, _elsewhere(ratio, roles, (*score.get("score", ()), *roles.others))
    return _of_numbers(table, roles, asked_for, are_files=wanted.are_files)


def _of_numbers(
    table: Columns, roles: Roles, asked_for: Sequence[str], *, are_files: bool
) -> ScoreColumns:
    """Return the requested columns of numbers, or all that may be scores."""
    numeric, left_out = _numeric(table, roles.others, asked_for)
    if not (numeric or roles.score):
        numeric, left_out = _of_answers(table, roles.others, left_out)
    asked_for = [c for c in numeric if c in asked_for]
    has_names = are_files and _are_costs(without(numeric, asked_for))
    has_names |= roles.system is not None
    if roles.metric is None and (roles.score or (asked_for and has_names)):
        chosen = {**roles.score, **{c: (c,) for c in asked_for}}
        sums = [column for columns in roles.ratio.values() for column in columns]
        rest = [*(c for c in numeric if c not in asked_for), *sums]
        return chosen, False, left_out + _elsewhere(chosen, roles, rest)
    scores = [c for c in numeric if c in asked_for or not is_never(c)] or numeric
    systems = [c for c in scores if not is_difference(c)]
    if roles.system is None and len(systems) > 1:
        scores = systems
    _check_scores(table, roles, scores, asked_for, are_files=are_files)
    chosen = {c: (c,) for c in scores}
    are_systems = roles.metric is not None or (len(scores) > 1 and not asked_for)
    rest = [c for c in numeric if c not in scores]
    return (
        chosen,
        are_systems and roles.system is None,
        left_out + _elsewhere(chosen, roles, rest),
    )


def _are_costs(columns: Iterable[str]) -> bool:
    """Return whether columns beside scores are costs or numbers, and so no systems."""
    return all(is_never(column) or direction(column) is not None for column in columns)


def _check_scores(
    table: Columns,
    roles: Roles,
    scores: Sequence[str],
    asked_for: Sequence[str],
    *,
    are_files: bool,
) -> None:
    """Refuse a table without columns of scores, or with some that may be systems or metrics."""
    if not scores:
        raise InputError(
            f"{table.path} has no column of scores (numbers such as 0.5) among "
            f"{', '.join(map(repr, table.cells))}; name the column of scores with ",
            Argument("columns", {[*table.cells, *roles.others][-1]: "score"}),
            ". Other roles are 'system', 'segment' and, if there are several metrics, 'metric'",
            *_spelling(table),
        )
    if roles.system is None and roles.metric is None and 0 < len(asked_for) < len(scores):
        raise InputError(
            f"{table.path} has columns that could be systems or metrics: "
            f"{', '.join(map(repr, scores))}. For systems pass ",
            Argument("columns", dict.fromkeys(scores, SYSTEM_SCORE)),
            ", and for metrics ",
            Argument("columns", dict.fromkeys(scores, "score")),
            *((", or only ", Argument("metric", list(asked_for))) if are_files else ()),
        )


def _spelling(table: Columns) -> Iterator[str]:
    """Yield the end of a message if the numbers of a column are not written as numbers."""
    for column, cells in table.cells.items():
        number = next((str(cell) for cell in cells if _OTHER_NUMBER.fullmatch(str(cell))), None)
        if number is not None:
            right = number.strip(" %").replace(",", ".")
            yield f"; {column!r} has numbers such as {number!r}, which must be written as {right}"
            return


def _of_answers(
    table: Columns, columns: Sequence[str], left_out: list[str]
) -> tuple[list[str], list[str]]:
    """Return columns of yes and no, or pass and fail, which are scores if there are no numbers."""
    answers = [column for column in columns if marks(table.cells[column])]
    return _numeric(table, columns, answers) if answers else ([], left_out)


def _elsewhere(
    chosen: Mapping[str, tuple[str, ...]], roles: Roles, others: Iterable[str]
) -> list[str]:
    """Return lines on columns that are not used, since others are chosen."""
    listed = ", ".join(repr("/".join(columns)) for columns in chosen.values())
    ratios = {column: name for name, columns in roles.ratio.items() for column in columns}
    lines = []
    for column in others:
        asked = ratios.get(column, column)
        how = "" if roles.metric is not None else f' (metric="{asked}" reads it)'
        lines.append(f"column {column!r}: scores are in {listed}{how}")
    return lines


def _numeric(
    table: Columns, columns: Iterable[str], asked_for: Sequence[str]
) -> tuple[list[str], list[str]]:
    """Return the columns of numbers, and lines on the others."""
    numeric, left_out = [], []
    for column in columns:
        cells = table.cells[column]
        # A column of texts, which may be yes and no, counts as scores if it is requested, and as
        # grades if it contains both right and wrong ones.
        if column in asked_for or {"C", "I"} <= {cell for cell in cells if isinstance(cell, str)}:
            cells = marks(cells) or cells
        numbers, bad = as_floats(cells)
        n_numbers = int(np.sum(~np.isnan(numbers)))
        if bad is None and n_numbers:
            numeric.append(column)
            continue
        is_score = column in asked_for or not is_never(column)
        if bad is not None and n_numbers >= len(numbers) / 2 and is_score:
            raise table.refused(bad, column, "a number like the others in this column, or empty")
        left_out.append(f"column {column!r}, which is {'text' if bad is not None else 'empty'}")
    return numeric, left_out


#: Above this, floats skip integers.
_MOST_EPOCH = 2**53

#: A segment, and the number of the answer: 0 if each has one.
Answer = tuple[str, int]
#: Task, filter, system and metric of a row; "" if there is no column.
Names = tuple[str, str, str, str]


class _Scores(NamedTuple):
    """The scores of a table, and the row of each answer.

    `values` are the numbers of each column of scores, `(n, 1)`, or `(n, 2)` for a ratio, by name.
    `rows` has the row number of each answer, by the names in its cells: ``{("", "", "gpt", "BLEU"):
    {("segment 1", 0): 17}}``. `graded` columns contain grades; higher is better.
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
    elif suffix == ".json":
        table = of_json(str(path), enumerate(reading.source.json, 1), wanted.labels, "object")
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


def _is_table(source: Source) -> bool:
    """Return whether a file is a table; JSON is one if it has objects and no other format fits."""
    if source.suffix == ".json":
        rows = source.json
        return isinstance(rows, list) and bool(rows) and all(isinstance(x, dict) for x in rows)
    return source.suffix != ".jsonl" or bool(source.first)


TABLE = Format("tables of scores (CSV, TSV, JSON)", ".csv .tsv .jsonl .json", _is_table, _table)


def _read(table: Columns, name: str, wanted: Wanted) -> tuple[list[Rows], list[str], str]:
    """Return the scores of a table, what is left out, and what distinguishes segments."""
    if _OF_RESULTS.issubset(table.cells):
        raise InputError(
            f"{table.path} contains results that evalstats wrote (-o), not scores of items. Pass "
            "the table of scores that the results come from. To show results again, write them as "
            "JSON (-o results.json)."
        )
    named = wanted.columns or of_inspect(table.cells)
    roles = roles_of(table.path, table.cells, wanted.labels, named)
    if _are_items(table, roles, named):
        roles = roles._replace(segment=roles.task, task=None)
    roles = _with_trials(table, roles, named)
    roles = roles if roles.score or roles.ratio or wanted.columns else _with_counts(table, roles)
    has_names = roles.segment is not None
    if not has_names and not _is_wide(table, roles):
        _refuse_averages(table, roles)
        raise InputError(
            f"{table.path} has no column that names the segments, among "
            f"{', '.join(map(repr, table.cells))}; ",
            *_likely_ids(table, roles),
        )
    chosen, are_systems, left_out = score_columns(table, roles, wanted)
    values = {}
    for score, columns in chosen.items():
        numbers = np.stack([table.numbers(column) for column in columns], axis=1)
        # A ratio needs both numbers.
        numbers[np.isnan(numbers).any(axis=1)] = np.nan
        values[score] = numbers
    systems = _names(table, roles.system, "system", "" if are_systems else name)
    metrics = _names(table, roles.metric, "metric", "score" if are_systems else "")
    parts = _names(table, roles.task, "task"), _names(table, roles.filter, "filter")
    keys: list[Names] = list(zip(*parts, systems, metrics, strict=True))
    # Rows without names are numbered from 1.
    rows_by_place = list(map(str, range(1, len(table.lines) + 1)))
    segments = _names(table, roles.segment, "segment") if has_names else rows_by_place
    if all(map(_WHOLE.fullmatch, segments)):
        segments = [name.partition(".")[0] for name in segments]
    labels = _labels(table, roles, wanted, list(zip(*parts, segments, strict=True)))
    _refuse_summaries(table, segments)
    epochs = _epochs(table, roles.epoch or roles.run, named)
    rows, apart = _rows_by_answer(table, keys, segments, epochs, labels)
    graded = [n for n, columns in chosen.items() if all(marks(table.cells[c]) for c in columns)]
    scores = _Scores(values, are_systems, rows, graded)
    kept = [one for one in _rows(table, scores, labels, roles) if wanted.has(one.key)]
    unused = [f"column {column!r}, since another column has its role" for column in roles.unused]
    said = f", items are {apart}/{roles.segment}" if apart else "" if has_names else BY_PLACE
    return kept, [*unused, *left_out], said


def _are_items(table: Columns, roles: Roles, named: Container[str]) -> bool:
    """Return whether only a column of tasks names items, with one row per answer, or trial."""
    if roles.segment is not None or roles.task in named or plain(roles.task) not in AGENT_TASKS:
        return False
    columns = (roles.system, roles.metric, roles.filter, roles.task, roles.epoch or roles.run)
    cells = [as_names(table.cells[column]) for column in columns if column is not None]
    return len(set(zip(*cells, strict=True))) == len(table.lines)


def _with_trials(table: Columns, roles: Roles, named: Container[str]) -> Roles:
    """Return roles in which a column of samples numbers the answers to tasks, as in HumanEval.

    It does if a sample occurs in several tasks. And a run that occurs in one row only is a trial.
    """
    tasks = [name for name in roles.unused if plain(name) == "taskid"]
    is_sample = plain(roles.segment) in ("sampleid", "sample") and roles.segment not in named
    if tasks and is_sample and roles.epoch is None and roles.run is None:
        samples = as_names(table.cells[str(roles.segment)])
        pairs = set(zip(samples, as_names(table.cells[tasks[0]]), strict=True))
        if len(pairs) > len(set(samples)):
            unused = without(roles.unused, tasks)
            roles = roles._replace(segment=tasks[0], epoch=roles.segment, unused=unused)
    if roles.run is not None and roles.run not in named:
        runs = as_names(table.cells[roles.run])
        if len(set(runs)) == len(runs):
            roles = roles._replace(epoch=roles.run, run=None)
    return roles


def _with_counts(table: Columns, roles: Roles) -> Roles:
    """Return roles in which the only two columns of numbers are right answers and all: c and n."""
    numeric = [c for c in roles.others if as_floats(table.cells[c])[1] is None]
    right = [c for c in numeric if plain(c) in _RIGHT]
    whole = [c for c in numeric if plain(c) in _ANSWERED]
    if len(numeric) != 2 or len(right) != 1 or len(whole) != 1:
        return roles
    if np.any(table.numbers(right[0]) > table.numbers(whole[0])):
        return roles
    pair = right[0], whole[0]
    return roles._replace(ratio={"/".join(pair): pair}, others=without(roles.others, pair))


def _refuse_summaries(table: Columns, segments: Sequence[str]) -> None:
    """Refuse a first or last row that summarises the others."""
    for row in (0, -1):
        if _SUMMARY.fullmatch(plain(segments[row])) and len(set(segments)) > _FEWEST_ROWS:
            raise InputError(
                f"{table.path}, {table.where(row)} is {segments[row]!r}, which looks like a "
                "summary of the other rows but would count as an item. Delete this row, or rename "
                "it if it is an item."
            )


def _refuse_averages(table: Columns, roles: Roles) -> None:
    """Refuse a table with one row per system, such as of their averages."""
    keys = (roles.system, roles.metric, roles.task, roles.filter, roles.epoch or roles.run)
    columns = [c for c in keys if c is not None]
    rows = set(zip(*(as_names(table.cells[c]) for c in columns), strict=True))
    if roles.system is not None and len(rows) == len(table.lines):
        raise InputError(
            f"{table.path} has one row per {' and '.join(columns)}, such as averages, but tests "
            "need the score of each item; pass a table with one row per item and system"
        )


def _likely_ids(table: Columns, roles: Roles) -> tuple[object, ...]:
    """Return the end of a message: the column with the most different names, if any.

    Columns are preferred that name each row once, alone or within a label. Only whole numbers may
    be ids, since scores may also differ.
    """
    names: dict[str, int] = {}
    others = {roles.system, roles.metric, roles.filter, roles.epoch, roles.run, *roles.score}
    for column in (*roles.others, *roles.hashed, *without(table.cells, map(str, others))):
        numbers, bad = as_floats(table.cells[column])
        cells = set(as_names(table.cells[column]))
        if "" not in cells and (bad is not None or np.all(numbers % 1 == 0)):
            names.setdefault(column, 0 if is_metric(column) else len(cells))
    if not names or max(names.values()) < 2:
        return ("add one, such as 'id'",)
    keys = (roles.system, roles.metric, roles.task, roles.filter, roles.epoch, roles.run)
    known = [column for column in keys if column is not None]

    def is_once(*columns: str) -> bool:
        rows = zip(*(as_names(table.cells[c]) for c in (*known, *columns)), strict=True)
        return len(set(rows)) == len(table.lines)

    ranked = sorted((x for x in names if names[x] > 1), key=names.__getitem__, reverse=True)
    best = next(filter(is_once, ranked), "")
    within = [
        (column, kind)
        for column, kind in product(ranked, (*roles.labels, *ranked))
        if not best and column != kind and is_once(column, kind)
    ]
    if within:
        best, kind = within[0]
        chosen = Argument("columns", {best: "segment", kind: "label"})
        return "choose one with ", chosen, ", or add one"
    best = best or ranked[0]
    chosen = Argument("columns", {best: "segment"})
    if best != roles.task:
        return "choose one with ", chosen, ", or add one"
    trials = f" and add a column 'trial' that numbers the answers to each {best}"
    return "add one, such as 'id'; or, if each ", best, " is an item, pass ", chosen, trials


def _is_wide(table: Columns, roles: Roles) -> bool:
    """Return whether a table has only columns of scores, one per system or metric.

    A column of text, or of whole numbers that all differ, may be the ids of segments.
    """
    columns = [*roles.others, *chain.from_iterable(roles.score.values())]
    if roles.system is not None or roles.metric is not None or not columns:
        return False
    if any(map(may_be_of_wholes, roles.labels)):
        return False
    for column in columns:
        numbers, bad = as_floats(table.cells[column])
        are_ids = len(set(numbers)) == len(numbers) > 2 and np.all(numbers % 1 == 0)
        if bad is not None or are_ids:
            return False
    return True


def _names(table: Columns, column: str | None, part: str, default: str = "") -> list[str]:
    """Return the names in a column, which must not be empty; or one name for all rows."""
    if column is None:
        return [default] * len(table.lines)
    names = as_names(table.cells[column])
    if "" in names:
        raise table.refused(names.index(""), column, f"the name of a {part}")
    return names


def _epochs(table: Columns, column: str | None, named: Container[str]) -> list[list[int]]:
    """Return the numbers of answers to a segment, in all possible ways.

    Numbers of runs, or seeds, are only used if segments would otherwise have several scores.
    """
    alone = [0] * len(table.lines)
    if column is None:
        return [alone]
    is_sure = column in named or plain(column) == "epoch"
    cells = table.cells[column]
    are_numbers = as_floats(cells)[1] is None
    # A few texts among numbers are mistakes.
    if not are_numbers and 2 * sum(_as_float(cell) is None for cell in cells) > len(cells):
        if not is_sure and "" in as_names(cells):
            return [alone]
        answers = _names(table, column, "run or a trial")
        number_of = {name: i for i, name in enumerate(sorted(set(answers), key=natural))}
        told = [number_of[name] for name in answers]
    else:
        numbers = table.numbers(column)
        wrong = ~((numbers == np.round(numbers)) & (np.abs(numbers) < _MOST_EPOCH))
        if np.any(wrong):
            expected = "a whole number, the number of the answer"
            raise table.refused(int(np.flatnonzero(wrong)[0]), column, expected)
        told = [int(number) for number in numbers]
    return [told] if is_sure else [alone, told]


def _rows_by_answer(
    table: Columns,
    keys: list[Names],
    segments: list[str],
    epochs: list[list[int]],
    labels: Mapping[str, list[str]],
) -> tuple[dict[Names, dict[Answer, int]], str]:
    """Return the row of each answer as in `_Scores`, and the label that distinguishes segments.

    The first `epochs` without duplicate answers are used. If segments are still repeated for one
    system and metric, they are numbered within documents, or another label: "document/segment".
    """
    twice: list[tuple[int, int]] = []
    for apart, of_rows in product(("", *labels), epochs):
        ids = (
            [f"{a}/{b}" for a, b in zip(labels[apart], segments, strict=True)]
            if apart
            else segments
        )
        rows: dict[Names, dict[Answer, int]] = {}
        answers = zip(ids, of_rows, strict=True)
        for row, (key, answer) in enumerate(zip(keys, answers, strict=True)):
            other = rows.setdefault(key, {}).setdefault(answer, row)
            if other != row:
                twice.append((other, row))
                break
        else:
            return rows, apart
    one, two = twice[0]
    _, _, system, metric = keys[one]
    raise InputError(
        f"{table.path} has two scores for system {system!r}, segment {segments[one]!r} and "
        f"{metric or 'each metric'}, in {table.where(one)} and {table.where(two)}. Keep only one "
        "of them, or use ",
        Argument("columns"),
        " to name the column that distinguishes them. Its role is 'system', 'label' (the "
        "document within which segments are numbered), 'epoch' (the number of an answer) or "
        "'run' (the number or seed of a run). Add a column if there is none",
        *_telling(table, keys, segments),
    )


def _telling(table: Columns, keys: list[Names], segments: list[str]) -> tuple[object, ...]:
    """Return the end of a message: a column, such as of judges or seeds, that makes rows unique."""
    values = {
        column: set(cells)
        for column, given in table.cells.items()
        if len(set(zip(segments, keys, cells := as_names(given), strict=True))) == len(segments)
    }
    values = {column: cells for column, cells in values.items() if len(cells) < len(segments) / 4}
    if not values:
        return ()
    column = min(values, key=lambda name: len(values[name]))
    one_each, mean, run = (
        Argument("columns", {column: role}) for role in ("metric", "epoch", "run")
    )
    said = f". They differ in {column!r}: pass "
    if all(cell.isdecimal() for cell in values[column]):
        return (
            said,
            run,
            " if it contains the runs of a system, or ",
            mean,
            " if it numbers the answers",
        )
    return (said, one_each, " for one metric per name, or ", mean, " for their mean")


def _rows(
    table: Columns, scores: _Scores, labels: Mapping[str, list[str]], roles: Roles
) -> Iterator[Rows]:
    """Yield the rows of every system and metric, with shared items per task and filter."""
    metrics: dict[str, tuple[Metric, bool]] = {}
    unit, part = noun(roles.segment or ""), noun(roles.task or "task")
    by_task: dict[tuple[str, str], dict[tuple[str, str], Mapping[Answer, int]]] = {}
    for (task, filter, system, metric_name), rows in scores.rows.items():
        by_task.setdefault((task, filter), {})[system, metric_name] = rows
    for (task, filter), by_system in by_task.items():
        row_of: dict[Answer, int] = {}
        for answer, row in (pair for rows in by_system.values() for pair in rows.items()):
            first = row_of.setdefault(answer, row)
            for kind, cells in labels.items() if first != row else ():
                if cells[row] != cells[first]:
                    both = f"{cells[first]!r} in {table.where(first)} and {cells[row]!r} in"
                    raise InputError(
                        f"{table.path}: {kind} of segment {answer[0]!r} is {both} "
                        f"{table.where(row)}; a segment can have only one"
                    )
        of_items = taken(labels, list(row_of.values()))
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
            # The row of each answer; -1 for answers that this system lacks.
            places = np.array([rows.get(answer, -1) for answer in answers])
            is_absent = places < 0
            statistics = np.where(is_absent[:, None], np.nan, values[places])
            if len(items.epochs) and (items.are_runs or scores.are_systems):
                # A run without any score was not done.
                is_there = ~np.isnan(statistics).any(axis=1)
                is_absent |= ~np.isin(items.epochs, items.epochs[is_there])
            yield Rows(
                Key(task, metric.name, filter),
                column if scores.are_systems else system,
                metric,
                items,
                statistics if statistics.shape[1] == 2 else mean_rows(statistics[:, 0]),
                is_absent=is_absent if np.any(is_absent) else None,
                is_directed=is_directed,
                is_column=scores.are_systems and roles.metric is None and not roles.named,
                called=(unit if unit != part else "item", part),
                run=_run_of(table, roles, rows.values()),
            )


def _run_of(table: Columns, roles: Roles, rows: Iterable[int]) -> str:
    """Return the run, or the trial, that all rows of a system have, or ""."""
    cells = table.cells.get(roles.run or roles.epoch or "", [])
    return only(as_names(list({cells[i] for i in rows})), "") if cells else ""


def _metric(name: str, scores: _Scores, roles: Roles) -> tuple[Metric, bool]:
    """Return the metric of this name, without an arrow, and whether its direction is known."""
    parts = [
        values[list(rows.values()), 0]
        for column, values in scores.values.items()
        for (*_, metric), rows in scores.rows.items()
        if (metric or column) == name
    ]
    scored = np.concatenate(parts)
    largest = None if np.all(np.isnan(scored)) else float(np.nanmax(scored))
    higher = direction(name, largest)
    if higher is None and (name in scores.graded or len(scores.graded) == len(scores.values)):
        higher = True
    called = name.rstrip("↑↓").strip() or name
    kind: type[Mean] | type[Ratio] = Mean
    if next(iter(scores.values.values())).shape[1] == 2:
        numerator = next((columns[0] for columns in roles.ratio.values()), "")
        higher, kind = direction(numerator) if higher is None else higher, Ratio
    return kind(called, higher_is_better=higher is not False), higher is not None


def _labels(
    table: Columns, roles: Roles, wanted: Wanted, items: Sequence[object]
) -> dict[str, list[str]]:
    """Return the labels of all rows; texts of items are hashed: source_hash.

    A column that may be a label, or belong to the answers, is one if each item has one value.
    """
    asked_for = {plain(name): name for name in wanted.labels}
    labels = {asked_for.get(plain(c), c): as_names(table.cells[c]) for c in roles.labels}
    n_items = len(set(items))
    for column in filter(may_be_of_wholes, list(labels)):
        is_asked = plain(column) in asked_for or column in wanted.columns
        if not is_asked and len(set(zip(items, labels[column], strict=True))) > n_items:
            del labels[column]
    for column in roles.hashed:
        texts = as_names(table.cells[column])
        hashes = {text: fingerprint(text) for text in dict.fromkeys(texts)}
        if not all(as_floats([text])[1] is None for text in hashes):
            name = {"src": "source", "ref": "reference"}.get(plain(column), column)
            labels[f"{name}_hash"] = [hashes[text] for text in texts]
    return labels
