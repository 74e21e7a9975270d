"""AlpacaEval: `annotations.json`, the preferences of an annotator between two outputs.

A preference is 1 where the first output is better, 2 where the second is, 1.5 (or 0) for a tie, or
any number between 1 and 2. The score of the second, whose system is that of the log, is the
preference less 1: a win is 1, a tie 0.5. A preference that is not there is missing.
"""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalstats.errors import InputError
from evalstats.logs.formats.lacking import fewer
from evalstats.logs.log import Log, Wanted, log_of
from evalstats.logs.rows import Answers, Key, Rows, as_scores, mean_rows
from evalstats.logs.settings import arguments_of
from evalstats.logs.sources import (
    Source,
    as_label,
    as_name,
    dotted,
    require,
    require_text,
    text_blocks,
)
from evalstats.metrics import Mean

NAME = "AlpacaEval"

_FILE = "annotations.json"
_METRIC = "win_rate"


def is_ours(source: Source) -> bool:
    """Return whether a file is a list of preferences, or a folder has one."""
    if source.path.is_dir():
        return any(path.name == _FILE for path in source.files)
    first = source.json[0] if isinstance(source.json, list) and source.json else None
    return isinstance(first, dict) and first.keys() >= {"instruction", "preference"}


def read(source: Source, wanted: Wanted) -> Log:
    """Return the win rates of each second system against each first."""
    paths = [source.path]
    if source.path.is_dir():
        paths = [path for path in source.files if path.name == _FILE]
    return log_of(
        source.path,
        NAME,
        chain.from_iterable(_rows(path, source.at(path).json, wanted) for path in paths),
    )


def _rows(path: Path, annotations: list[Any], wanted: Wanted) -> list[Rows]:
    """Return the rows of one file, by pair of systems; several annotators are filters."""
    by_pair = defaultdict[tuple[str, str, str], Answers](lambda: Answers(str(path), "annotation"))
    seen = Counter[tuple[str, ...]]()
    for i, record in enumerate(annotations):
        where = f"{path}, annotation {i}"
        instruction = require_text(record, "instruction", where=where)
        one, two = (require_text(record, f"generator_{n}", where=where) for n in (1, 2))
        pair = (as_name(one), as_name(two), as_name(as_label(record.get("annotator")) or "none"))
        item = as_name(instruction)
        answer = (*pair, item)
        seen[answer] += 1
        labels = {"dataset": as_label(record.get("dataset"))}
        labels |= {wish: dotted(record, wish) for wish in wanted.labels}
        values = {_METRIC: require(record, "preference", where=where)}
        by_pair[pair].add(i, item, labels, values, seen[answer])
    n_annotators = len({annotator for _, _, annotator in by_pair})
    stated = _reported(path)
    rows = []
    for (one, two, annotator), answers in by_pair.items():
        key = Key(f"against {one}", _METRIC, annotator if n_annotators > 1 else "")
        if not wanted.has(key):
            continue
        items, scores = answers.items(), _scores(answers)
        rate, n = stated.get(two, (None, None))
        rows.append(
            Rows(
                key,
                two,
                Mean(_METRIC),
                items,
                answers.pairs(_METRIC, items, mean_rows(scores)),
                reported=rate,
                lacking=fewer("preferences", n, int(np.sum(~np.isnan(scores)))),
                path=str(path),
                settings=arguments_of({"annotator": annotator}),
            )
        )
    return rows


def _scores(answers: Answers) -> NDArray[np.float64]:
    """Return preferences as scores of the second system `(n,)`, NaN where there is none."""

    def where(i: int) -> str:
        return f"{answers.where}, annotation {answers.lines[i]}, preference"

    preferences = as_scores(list(answers.values[_METRIC].values()), where)
    # Older versions wrote a tie as 0.
    preferences[preferences == 0] = 1.5
    wrong = np.flatnonzero((preferences < 1) | (preferences > 2))
    if len(wrong):
        found = preferences[wrong[0]]
        raise InputError(f"{where(int(wrong[0]))} must be 0, or from 1 to 2, got {found:g}")
    return preferences - 1


def _reported(path: Path) -> dict[str, tuple[float | None, int | None]]:
    """Return the win rate of each system, and of how many preferences, in the leaderboard beside.

    A row of that may be of another run, where the leaderboard was given and not computed.
    """
    beside = path.with_name("leaderboard.csv")
    if not beside.is_file():
        return {}
    stated: dict[str, tuple[float | None, int | None]] = {}
    for row in csv.DictReader(chain.from_iterable(text_blocks(beside))):
        rate, n = row.get("win_rate"), row.get("n_total")
        stated[as_name(row.get("") or "none")] = (
            _number(rate, 100),
            None if (count := _number(n)) is None else round(count),
        )
    return stated


def _number(text: Any, scale: float = 1.0) -> float | None:
    """Return a number of a table divided by `scale`, None where there is none."""
    try:
        number = float(text) / scale
    except (TypeError, ValueError):
        return None
    return number if abs(number) < 1e300 else None
