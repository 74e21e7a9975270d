"""meeteval: `*_per_reco.json`, the errors and the length of every session."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from evalstats.checks import shown
from evalstats.errors import InputError
from evalstats.logs.log import Log, Wanted, log_of
from evalstats.logs.rows import Items, Key, Rows, number
from evalstats.logs.sources import Source, get, read_json, require, without_suffix
from evalstats.metrics import Ratio

NAME = "meeteval"

_NAME = re.compile(r"(.+)_([A-Za-z0-9]+)_per_reco\.json(?:\.gz)?")
#: What each of the commands calls its result, by the name of its file.
_METRICS = {
    "wer": "WER",
    "cpwer": "cpWER",
    "orcwer": "ORC-WER",
    "mimower": "MIMO-WER",
    "tcpwer": "tcpWER",
    "tcorcwer": "tcORC-WER",
    "tcmimower": "tcMIMO-WER",
    "dicpwer": "DI-cpWER",
}
#: Errors and length: of words, and in seconds where speakers are scored.
_WORDS = (("insertions", "deletions", "substitutions"), "length")
_SPEAKERS = (
    ("missed_speaker_time", "falarm_speaker_time", "speaker_error_time"),
    "scored_speaker_time",
)


def is_ours(source: Source) -> bool:
    """Return whether a file says of sessions how many errors there are in how many words."""
    first = next(iter(source.json.values()), None) if isinstance(source.json, dict) else None
    if not isinstance(first, dict) or "error_rate" not in first:
        return False
    # That rate is null for a session without words.
    return any(isinstance(first.get(size), (int, float)) for size in (_WORDS[1], _SPEAKERS[1]))


def read(source: Source, wanted: Wanted) -> Log:
    """Return errors and lengths of all sessions."""
    match = _NAME.fullmatch(source.path.name)
    system = match[1] if match else without_suffix(source.path)
    name = _METRICS.get(match[2], match[2].upper()) if match else "error rate"
    key, rows = Key("", name), []
    if wanted.has(key):
        values = [_row(session, f"{source.path}, {name}") for name, session in source.json.items()]
        items = Items.of(source.path, list(source.json))
        metric = Ratio(name, columns=("errors", "length"), higher_is_better=False)
        stated = _reported(source.path)
        rows = [Rows(key, system, metric, items, np.array(values)[items.order], stated)]
    return log_of(source.path, NAME, rows)


def _row(session: Any, where: str) -> tuple[float, float]:
    """Return the errors and the length of a session, whose ratio must be the stated rate."""
    parts, size = _SPEAKERS if _SPEAKERS[1] in session else _WORDS
    length = number(require(session, size, where=where), f"{where}, {size}")
    names = ("errors",) if "errors" in session else parts
    errors = sum(number(session.get(name) or 0, f"{where}, {name}") for name in names)
    if errors < 0 or length < 0:
        raise InputError(f"{where}: errors and {size} must not be negative")
    rate = session.get("error_rate")
    if length and not np.isclose(number(rate, f"{where}, error_rate"), errors / length):
        raise InputError(
            f"{where}: {errors:g} errors of {length:g} are {errors / length:.10g}, error_rate says "
            f"{shown(rate, 60)}"
        )
    return errors, length


def _reported(path: Path) -> float | None:
    """Return the error rate of all sessions from the file beside, if there is one."""
    beside = path.with_name(path.name.replace("_per_reco", ""))
    rate = get(read_json(beside), "error_rate") if beside != path and beside.is_file() else None
    return None if rate is None else number(rate, f"{beside}, error_rate")
