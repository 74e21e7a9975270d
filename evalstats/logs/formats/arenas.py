"""Pairwise preferences: tables of battles (LMArena, MT-bench, arena-hard), and AlpacaEval.

A row of a table (CSV, TSV, JSON, JSON lines, a frame) has a preference between two systems: columns
model_a, model_b and winner. In logs of judges there are two games, with the two systems in swapped
order. MT-bench's count as a win if both agree, and otherwise as a tie, as in FastChat. arena-hard's
are two battles; ``A>>B`` counts once, like ``A>B``, although arena-hard itself repeats it three
times. Each system has a row for each of its battles: 1, 1/2 or 0.

AlpacaEval's `annotations.json` has the preferences of an annotator between two outputs: 1 if the
first output is better, 2 if the second is, 1.5 (or 0) for a tie, or any number between 1 and 2. The
score of the second output's system, which is the log's system, is the preference minus 1: a win is
1, a tie 0.5.
"""

from __future__ import annotations

import csv
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from evalstats.checks import is_missing, plain
from evalstats.designs.arenas.battles import ASKED, VOTERS, columns_of_battles, table_of
from evalstats.errors import Argument, InputError
from evalstats.logs.fields import as_label, as_name, first_of, has, require
from evalstats.logs.formats.roles import OF_BATTLES, check_named
from evalstats.logs.formats.tables import (
    Columns,
    as_floats,
    as_names,
    delimiter_of,
    of_csv,
    of_frame,
    of_json,
)
from evalstats.logs.log import Format, Log, Reading, Wanted, fewer, log_of, settings_of
from evalstats.logs.rows import Answers, Items, Key, Rows, mean_rows, number, taken
from evalstats.logs.sources import Source, json_lines, text_blocks
from evalstats.metrics import Mean
from evalstats.results.records import counted

NAME = "arena (model_a, model_b, winner)"
#: Name of the share of wins, with ties as a half.
METRIC = "win rate"

_TABLES = (".csv", ".tsv")
#: Fields of MT-bench's two games and arena-hard's judgments.
_MT_BENCH = ("model_1", "model_2", "g1_winner", "g2_winner")
_ARENA_HARD = ("model", "games")
#: arena-hard's verdicts on A and B, and the winner.
_VERDICTS = {"A>>B": "a", "A>B": "a", "A=B": "tie", "B>A": "b", "B>>A": "b"}
#: Labels that are always kept: the question, the judge, and the category.
_LABELS = (*ASKED, *VOTERS, "language", "category", "turn")
#: Names of columns that tell a battle from any other.
_OF_ONE = ("timestamp", "tstamp", "time", "datetime", "createdat", "battleid", "judgmentid", "uuid")
#: The label that keeps the winner as it is written.
WINNER = "winner"
#: The label that keeps which system was shown first, if known.
SHOWN_FIRST = "shown first"


def are_named(columns: Mapping[str, str | None]) -> bool:
    """Return whether a caller's roles of columns are roles of battles."""
    return not set(OF_BATTLES).isdisjoint(columns.values())


def _is_arena(source: Source) -> bool:
    """Return whether a table's header, or its first row, has battles or a judge's games."""
    if source.suffix in _TABLES:
        line = re.split("[\r\n]", source.head.decode("utf-8-sig", "replace"), maxsplit=1)[0]
        names = [name.strip(' "') for name in line.split(delimiter_of(line, source.suffix))]
    else:
        first = first_of(source.json) if source.suffix == ".json" else source.first
        names = list(first) if isinstance(first, dict) else []
    games = (_MT_BENCH, _ARENA_HARD)
    return columns_of_battles(names) is not None or any(
        set(names).issuperset(keys) for keys in games
    )


def _arena(reading: Reading) -> Iterator[Rows]:
    """Yield the battles of a file."""
    source, path = reading.source, str(reading.source.path)
    if source.suffix in _TABLES:
        table = of_csv(source.path, source.suffix)
    else:
        unit = "row" if source.suffix == ".json" else "line"
        rows = enumerate(source.json, 1) if unit == "row" else json_lines(source.path)
        table = of_json(path, _battles(rows, f"{path}, {unit}"), reading.wanted.labels, unit)
    return _rows(table, reading.wanted, reading.skipped)


def read_frame(frame: Any, wanted: Wanted) -> Log:
    """Return the battles of a frame of pandas, polars or pyarrow."""
    table, skipped = of_frame(frame), list[str]()
    rows = [one for one in _rows(table, wanted, skipped) if wanted.has(one.key)]
    return log_of(table.path, NAME, rows, skipped=skipped)


def _battles(
    rows: Iterable[tuple[int, Any]], where: str
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the number of each row with its battles: the row itself, or a judge's games."""
    for line, record in rows:
        if not isinstance(record, dict):
            raise InputError(f"{where} {line} must be a JSON object")
        if has(record, *_MT_BENCH):
            both = {record["g1_winner"], record["g2_winner"]}
            rest = {k: v for k, v in record.items() if k not in _MT_BENCH}
            winner = both.pop() if len(both) == 1 else None if "error" in both else "tie"
            names = {"model_a": record["model_1"], "model_b": record["model_2"]}
            winner = None if winner == "error" else winner
            # Both orders count as one battle.
            yield line, {**rest, **names, "winner": winner, SHOWN_FIRST: ""}
        elif has(record, *_ARENA_HARD) and isinstance(record["games"], list):
            rest = {k: v for k, v in record.items() if k not in (*_ARENA_HARD, "baseline")}
            # The default of the first system.
            sides = [record.get("baseline") or "baseline", record["model"]]
            # The second game has the answers in the other order.
            for game, order in zip(record["games"][:2], (sides, sides[::-1]), strict=False):
                score = game.get("score") if isinstance(game, dict) else None
                names = {"model_a": order[0], "model_b": order[1]}
                yield line, {**rest, **names, "winner": _VERDICTS.get(str(score))}
        else:
            yield line, record


def _rows(table: Columns, wanted: Wanted, skipped: list[str]) -> Iterator[Rows]:
    """Yield the rows of each system: its battles, numbered from 1."""
    roles = wanted.columns
    check_named(table.path, list(table.cells), roles)
    if others := [str(role) for role in roles.values() if role not in (*OF_BATTLES, "label", None)]:
        raise InputError(
            f"for battles must assign the roles {', '.join(OF_BATTLES)} or label, got "
            f"{', '.join(others)}",
            argument="columns",
        )
    cells = {c: table.cells[c] for c in table.cells if roles.get(c, "") in ("", "label")}
    # The caller's roles come last, since the last of two names counts.
    cells |= {str(role): table.cells[name] for name, role in roles.items() if role in OF_BATTLES}
    table, known = table._replace(cells=cells), columns_of_battles(cells)
    if known is None:
        raise InputError(
            f"{table.path} must have the columns model_a, model_b and winner, got "
            f"{', '.join(map(repr, cells))}; assign their roles with ",
            Argument("columns", {"left": "model_a"}),
        )
    _refuse_copies(table)
    places = [i for i, who in enumerate(table.cells[known[2]]) if who is not None and who != ""]

    def named(column: str) -> list[str]:
        return as_names([table.cells[column][i] for i in places])

    first, second, winner = map(named, known)
    try:
        battles = table_of(first, second, winner, lambda i: table.where(places[i]))
    except InputError as error:
        raise error.within(table.path) from None
    named_labels = [name for name, role in roles.items() if role == "label"]
    asked_for = {plain(name): name for name in (*named_labels, *wanted.labels)}
    is_said = SHOWN_FIRST in table.cells
    # Direction and reported scores are only known for battles.
    labels = {WINNER: winner, SHOWN_FIRST: [""] * len(places) if is_said else first}
    for column in table.cells:
        if column not in known and plain(column) in (*_LABELS, *asked_for):
            labels[asked_for.get(plain(column), column)] = named(column)
    n, n_gone = len(table.lines), len(table.lines) - len(places)
    if n_gone:
        skipped.append(f"{n_gone:,} of {n:,} battles, which have no winner")
    for i, system in enumerate(battles.systems):
        is_there = battles.pairs == i
        at = np.flatnonzero(is_there.any(axis=1))
        points = np.where(is_there[at, 0], battles.points[at], 2 - battles.points[at])
        items = Items.of(table.path, [str(i + 1) for i in at], taken(labels, at.tolist()))
        yield Rows(Key("", METRIC), system, Mean(METRIC), items, mean_rows(points / 2))


def _refuse_copies(table: Columns) -> None:
    """Refuse battles that are the same in every column, if these have the time or an id."""
    if not any(plain(column) in _OF_ONE for column in table.cells):
        return
    first: dict[tuple[Any, ...], int] = {}
    rows = list(zip(*table.cells.values(), strict=True))
    again = [i for i, row in enumerate(rows) if first.setdefault(row, i) != i]
    if again:
        one, two = table.where(first[rows[again[0]]]), table.where(again[0])
        raise InputError(
            f"{table.path} has {counted(len(again), 'battle')} more than once, the same in every "
            f"column, such as in {one} and {two}; delete the copies"
        )


ARENA = Format(NAME, ".csv .tsv .json .jsonl", _is_arena, _arena)


def _alpaca_eval(reading: Reading) -> Iterator[Rows]:
    """Yield the win rates of each second system against each first; annotators are filters."""
    metric = "win_rate"
    for path in reading.files:
        empty = partial(Answers, str(path), "annotation")
        by_pair = defaultdict[tuple[str, str, str], Answers](empty)
        seen = Counter[tuple[str, ...]]()
        for i, record in enumerate(reading.json(path)):
            where = f"{path}, annotation {i}"
            item = as_name(require(record, "instruction", where=where, kind=str))
            one, two = (require(record, f"generator_{n}", where=where, kind=str) for n in (1, 2))
            annotator = as_name(as_label(record.get("annotator")) or "none")
            pair = as_name(one), as_name(two), annotator
            answer = (*pair, item)
            seen[answer] += 1
            labels = reading.labels(record, dataset=as_label(record.get("dataset")))
            score = _win(require(record, "preference", where=where), f"{where}, preference")
            by_pair[pair].add(i, item, labels, {metric: score}, seen[answer])
        n_annotators = len({annotator for _, _, annotator in by_pair})
        stated = _leaderboard(path.with_name("leaderboard.csv"))
        for (first, second, annotator), answers in by_pair.items():
            rate, n = stated.get(second, (None, None))
            n_there = sum(score is not None for score in answers.values[metric].values())
            yield answers.rows(
                Key(f"against {first}", metric, annotator if n_annotators > 1 else ""),
                second,
                reported=rate,
                lacking=[fewer("preferences", n, n_there)],
                settings=settings_of({"annotator": annotator}),
            )


def _win(preference: object, where: str) -> float | None:
    """Return a preference as the score of the second system, or None."""
    if preference == "" or is_missing(preference):
        return None
    # Older versions wrote a tie as 0.
    score = number(preference, where) or 1.5
    if not 1 <= score <= 2:
        raise InputError(f"{where} must be 0, or from 1 to 2, got {score:g}")
    return score - 1


def _leaderboard(path: Path) -> dict[str, tuple[float | None, int | None]]:
    """Return win rates and numbers of preferences by system, perhaps from another run."""
    stated = {}
    for row in csv.DictReader(chain.from_iterable(text_blocks(path))) if path.is_file() else ():
        numbers, _ = as_floats([row.get(name) for name in ("win_rate", "n_total")])
        rate, n = (x if x is not None and abs(x) < 1e300 else None for x in numbers.tolist())
        name = as_name(row.get("") or "none")
        stated[name] = None if rate is None else rate / 100, None if n is None else round(n)
    return stated


ALPACA_EVAL = Format(
    "AlpacaEval",
    ".json",
    lambda source: has(first_of(source.json), "instruction", "preference"),
    _alpaca_eval,
    lambda source: source.path.name == "annotations.json",
    ("instruction", "task"),
)
