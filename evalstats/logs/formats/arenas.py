"""Arenas: tables of battles (LMArena, MT-bench, arena-hard), as CSV, TSV, JSON, JSON lines, frame.

A row says which of two systems was preferred: columns model_a, model_b and winner. In logs of
judges there are two games, with the places of both systems swapped: MT-bench's count as a win where
both say so, and else as a tie, as FastChat counts them; arena-hard's are two battles, of which
``A>>B`` is one as ``A>B`` is, where arena-hard itself writes it down three times.
Each system has a row for every battle of its own: 1, 1/2 or 0.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from evalstats.designs.arenas.battles import BattleTable, columns_of_battles, simple, table_of
from evalstats.errors import InputError
from evalstats.logs.formats.columns import Columns, as_names, delimiter_of, of_csv, of_frame
from evalstats.logs.log import Log, Wanted, log_of
from evalstats.logs.rows import Items, Key, Rows, mean_rows
from evalstats.logs.sources import Source, as_label, dotted, json_lines
from evalstats.metrics import Mean

NAME = "arena (model_a, model_b, winner)"
#: What the share of wins is called, of which ties are a half.
METRIC = "win rate"

_TABLES = (".csv", ".tsv")
#: What MT-bench's two games and arena-hard's judgments have.
_MT_BENCH = ("model_1", "model_2", "g1_winner", "g2_winner")
_ARENA_HARD = ("model", "games")
#: Where arena-hard does not say it, its first system is this one.
_BASELINE = "baseline"
#: What arena-hard's judges say of A and B, and who won.
_VERDICTS = {"A>>B": "a", "A>B": "a", "A=B": "tie", "B>A": "b", "B>>A": "b"}
#: Labels that tables have anyway: what was asked, who judged, and of what kind it is.
ASKED = ("questionid", "promptid", "question", "prompt", "instruction", "uid")
_LABELS = (
    *ASKED,
    *("judge", "voter", "voterid", "user", "userid", "evaluator", "language", "category", "turn"),
)
#: The label that keeps who won, as it is written.
WINNER = "winner"


def is_ours(source: Source) -> bool:
    """Return whether a file is a table of battles, or has the games of a judge."""
    return _is_ours(_names(source))


def has_battles(names: Sequence[Any]) -> bool:
    """Return whether columns are those of battles."""
    return columns_of_battles(names) is not None


def _is_ours(names: Sequence[str]) -> bool:
    known = set(names)
    return has_battles(names) or known.issuperset(_MT_BENCH) or known.issuperset(_ARENA_HARD)


def _names(source: Source) -> list[str]:
    """Return the names of the columns of a table, or of the keys of its first row."""
    if source.suffix in _TABLES:
        line = source.head.decode("utf-8-sig", "replace").partition("\n")[0]
        cells = csv.reader([line], delimiter=delimiter_of(line, source.suffix))
        return [name.strip() for name in next(cells, [])]
    if source.suffix == ".json":
        rows = source.json if isinstance(source.json, list) else []
        return list(rows[0]) if rows and isinstance(rows[0], dict) else []
    return list(source.first)


def read(source: Source, wanted: Wanted) -> Log:
    """Return the battles of a file."""
    path = str(source.path)
    if source.suffix in _TABLES:
        return _log(of_csv(source.path, source.suffix), wanted)
    if source.suffix == ".json":
        rows = enumerate(source.json, 1)
        return _log(_columns(path, rows, wanted.labels, "row"), wanted)
    return _log(_columns(path, json_lines(source.path), wanted.labels, "line"), wanted)


def read_frame(frame: Any, wanted: Wanted) -> Log:
    """Return the battles of a frame of pandas, polars or pyarrow."""
    return _log(of_frame(frame), wanted)


def _columns(
    path: str, rows: Iterator[tuple[int, Any]], labels: Sequence[str], unit: str
) -> Columns:
    """Return the columns of objects, of which a judge's games are several battles each."""
    records, lines = [], []
    for line, record in rows:
        if not isinstance(record, dict):
            raise InputError(f"{path}, {unit} {line} must be a JSON object")
        inner = {name: dotted(record, name) for name in labels if name not in record}
        for battle in _battles(record):
            of = {k: as_label(v) if isinstance(v, (list, dict)) else v for k, v in battle.items()}
            records.append({**of, **inner})
            lines.append(line)
    names = list(dict.fromkeys(name for record in records for name in record))
    return Columns(path, {n: [one.get(n) for one in records] for n in names}, lines, unit)


def _battles(record: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the battles of a row: the row itself, or the games of a judge."""
    if set(record).issuperset(_MT_BENCH):
        both = {record["g1_winner"], record["g2_winner"]}
        rest = {k: v for k, v in record.items() if k not in _MT_BENCH}
        winner = both.pop() if len(both) == 1 else None if "error" in both else "tie"
        names = {"model_a": record["model_1"], "model_b": record["model_2"]}
        yield {**rest, **names, "winner": None if winner == "error" else winner}
    elif set(record).issuperset(_ARENA_HARD) and isinstance(record["games"], list):
        rest = {k: v for k, v in record.items() if k not in (*_ARENA_HARD, "baseline")}
        sides = [record.get("baseline") or _BASELINE, record["model"]]
        # The second game has the answers in the other order.
        for game, order in zip(record["games"][:2], (sides, sides[::-1]), strict=False):
            score = game.get("score") if isinstance(game, dict) else None
            battle = {"model_a": order[0], "model_b": order[1], "winner": _VERDICTS.get(str(score))}
            yield {**rest, **battle}
    else:
        yield dict(record)


def _log(table: Columns, wanted: Wanted) -> Log:
    """Return the rows of all systems, two for every battle."""
    known = columns_of_battles(table.cells)
    if known is None:
        raise InputError(f"{table.path} has no columns model_a, model_b and winner")
    places = [i for i, who in enumerate(table.cells[known[2]]) if who is not None and who != ""]

    def named(column: str) -> list[str]:
        return as_names([table.cells[column][i] for i in places])

    def where(i: int) -> str:
        return table.where(places[i])

    try:
        first, second, winner = map(named, known)
        battles = table_of(first, second, winner, where)
    except InputError as error:
        raise error.within(table.path) from None
    asked_for = {simple(name): name for name in wanted.labels}
    labels = {WINNER: named(known[2])}
    for column in table.cells:
        if column not in known and simple(column) in (*_LABELS, *asked_for):
            labels[asked_for.get(simple(column), column)] = named(column)
    n, n_gone = len(table.lines), len(table.lines) - len(places)
    skipped = [f"{n_gone:,} of {n:,} battles, which name no winner"] if n_gone else []
    rows = _rows(table.path, battles, labels) if wanted.has(Key("", METRIC)) else []
    return log_of(table.path, NAME, rows, skipped=skipped)


def _rows(path: str, battles: BattleTable, labels: Mapping[str, Sequence[str]]) -> Iterator[Rows]:
    """Yield the rows of each system: its battles, which are called by their numbers, from 1 on."""
    for number, system in enumerate(battles.systems):
        is_there = battles.pairs == number
        at = np.flatnonzero(is_there.any(axis=1))
        points = np.where(is_there[at, 0], battles.points[at], 2 - battles.points[at])
        labels_at = {name: [of[i] for i in at.tolist()] for name, of in labels.items()}
        items = Items.of(path, [str(i + 1) for i in at], labels_at)
        yield Rows(Key("", METRIC), system, Mean(METRIC), items, mean_rows(points / 2))
