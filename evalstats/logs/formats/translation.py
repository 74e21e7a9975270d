"""Translations and transcripts: COMET, mt-metrics-eval, WMT's automatic scores and meeteval.

COMET's are the files of `comet-score --to_json` and `comet-compare --to_json` for several systems,
or the printed output of `comet-score`. Files with one number per line have the scores of one system
each. A line of mt-metrics-eval's `.seg.score` files is a system and a score, or "None". Systems
come in blocks of unnamed segments, in the order of the test set. WMT has one file of JSON lines per
system; a line is a document of a language pair, with a list of scores of its paragraphs for each
metric. For all of these, higher is better. meeteval's `*_per_reco.json` have the errors and the
length of every session.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from evalstats.checks import shown
from evalstats.errors import InputError
from evalstats.logs.fields import as_label, fingerprint, first_of, get, has, require
from evalstats.logs.formats.tables import as_floats
from evalstats.logs.log import Format, Reading
from evalstats.logs.rows import Answers, Items, Key, Rows, as_scores, number, numbered
from evalstats.logs.sources import Source, beside, json_lines, text_blocks, without_suffix
from evalstats.metrics import Mean, Ratio
from evalstats.metrics.directions import direction

_CALLED = "segment", "task"
#: A column of a table may have a number as its name.
_TABLES = (".csv", ".tsv", ".json", ".jsonl")
_PRINTED = re.compile(r"(.+)\tSegment (\d+)\tscore: (-?[\d.]+|nan)\b")
_MEETEVAL_NAME = re.compile(r"(.+)_([A-Za-z0-9]+)_per_reco\.json(?:\.gz)?")
#: The name of the result of each of meeteval's commands, by the name of its file.
_ERROR_RATES = {
    "wer": "WER",
    "cpwer": "cpWER",
    "orcwer": "ORC-WER",
    "mimower": "MIMO-WER",
    "tcpwer": "tcpWER",
    "tcorcwer": "tcORC-WER",
    "tcmimower": "tcMIMO-WER",
    "dicpwer": "DI-cpWER",
}
#: Errors and length: in words, or in seconds for scores of speakers.
_WORDS = (("insertions", "deletions", "substitutions"), "length")
_SPEAKERS = (
    ("missed_speaker_time", "falarm_speaker_time", "speaker_error_time"),
    "scored_speaker_time",
)


def _is_compared(document: Any) -> bool:
    """Return whether JSON is from `comet-compare`: the scores of each "translation"."""
    return get(first_of(get(document, "translations")), "scores") is not None


def _is_comet(source: Source) -> bool:
    """Return whether a file is from `comet-compare`, or from `comet-score`: segments by file.

    The output of `comet-score` begins with lines about the model.
    """
    document = source.json
    if document is None:
        return any(map(_PRINTED.match, source.head.decode("utf-8", "replace").splitlines()))
    first = next(iter(document.values()), None) if isinstance(document, dict) else None
    return _is_compared(document) or has(first_of(first), "COMET", "mt")


def _comet(reading: Reading) -> list[Rows]:
    """Return the scores of all systems; items are named by the number of their line, from 1."""
    where, key, document = str(reading.source.path), Key("", "COMET"), reading.source.json
    if document is None:
        document = _printed(reading.source.path)
    # Name, scores and unit of each system.
    systems: list[tuple[str, list[Any], dict[str, Any]]] = []
    if _is_compared(document):
        texts = {kind: document.get(kind) for kind in ("source", "reference")}
        systems += ((one["name"], one["scores"], texts) for one in document["translations"])
    else:
        for name, segments in document.items():
            texts = {"source": [one.get("src") for one in segments]}
            texts["reference"] = [one.get("ref") for one in segments]
            systems.append((name, [one["COMET"] for one in segments], texts))
    names = [without_suffix(name) for name, _, _ in systems]
    if len(set(names)) < len(names):
        names = [name for name, _, _ in systems]
    rows = []
    for short, (name, scores, texts) in zip(names, systems, strict=True):

        def at(i: int, name: str = name) -> str:
            return f"{where}, score {i + 1} of {name}"

        labels = {
            f"{kind}_hash": [fingerprint(x.strip()) if isinstance(x, str) else "" for x in lines]
            for kind, lines in texts.items()
            if lines
        }
        rows.append((short, as_scores(scores, at), labels))
    return numbered(where, key, rows)


def _printed(path: Path) -> dict[str, list[dict[str, Any]]]:
    """Return the printed output of `comet-score` in the form of its JSON: segments by file."""
    systems = defaultdict[str, list[dict[str, Any]]](list)
    for i, line in enumerate(chain.from_iterable(text_blocks(path)), 1):
        if match := _PRINTED.match(line):
            name, segment, score = match.groups()
            n_before, where = len(systems[name]), f"{path}, line {i}"
            if n_before != int(segment):
                what = f"the next segment of {shown(name, 60)} must be {n_before}, got {segment}"
                raise InputError(f"{where}: {what}; number the segments from 0, in order")
            systems[name].append({"COMET": number(float(score), where)})
    return systems


def _are_numbers(source: Source) -> bool:
    """Return whether most of the first lines of a file are numbers, or missing values.

    If a single line is not a number, an error names it later.
    """
    if source.path.is_dir() or source.suffix in _TABLES:
        return False
    lines = source.head.decode("utf-8-sig", "replace").splitlines(keepends=True)
    whole = [line.strip().replace(",", ".") for line in lines if line.endswith("\n")] or lines
    numbers = [as_floats([line])[1] is None for line in whole]
    return any(whole) and sum(numbers) > len(numbers) / 2


def _numbers(reading: Reading) -> list[Rows]:
    """Return the scores of a system, ``comet/A.txt``; the folder is named after the metric."""
    path = reading.source.path
    folder, lines = path.absolute().parent.name, list(chain.from_iterable(text_blocks(path)))
    key = Key("", folder if direction(folder) is not None else "score")
    scores, bad = as_floats([line.strip() for line in lines])
    if bad is not None:
        got = shown(lines[bad].strip(), 60)
        raise InputError(f"{path}, line {bad + 1} must be a number such as 0.5, got {got}")
    (rows,) = numbered(str(path), key, [(without_suffix(path), scores, {})])
    return [replace(rows, metric=Mean(key.metric, direction(key.metric) is True))]


def _has_blocks(source: Source) -> bool:
    """Return whether a file has a name as in mt-metrics-eval."""
    return source.path.name.endswith(".seg.score")


def _mt_metrics_eval(reading: Reading) -> Iterator[Rows]:
    """Yield the scores of each file, which is named after its metric: "COMET-refA.seg.score"."""
    folder = reading.source.path
    for path in reading.files:
        inner = path.relative_to(folder).parent if folder.is_dir() else Path()
        task = "" if inner == Path() else inner.as_posix()
        key = Key(task, path.name.removesuffix(".seg.score"))
        if not reading.wanted.has(key):
            continue
        scores: dict[str, list[float]] = {}
        last = None
        for i, line in enumerate(chain.from_iterable(text_blocks(path)), 1):
            if not line.strip():
                continue
            where = f"{path}, line {i}"
            try:
                name, text = line.split()
                score = float("nan" if text == "None" else text)
            except ValueError:
                got = shown(line, 60)
                raise InputError(f"{where} must be a system and its score, got {got}") from None
            if name != last and name in scores:
                raise InputError(
                    f"{where}: the scores of {shown(name, 60)} continue after another system's "
                    "scores, but segments are identified by their order; keep the scores of "
                    "each system together"
                )
            last = name
            scores.setdefault(name, []).append(score)
        yield from numbered(str(path), key, [(name, scores[name], {}) for name in scores])


def _is_wmt(source: Source) -> bool:
    """Return whether a file begins with a document and lists of scores."""
    return has(source.first, "language_pair", "document_id", "metric_scores")


def _wmt(reading: Reading) -> Iterator[Rows]:
    """Yield the scores of each file, which is named after its system."""
    for path in reading.files:
        tasks = defaultdict[str, Answers](partial(Answers, str(path)))
        for n, record in json_lines(path):
            where = f"{path}, line {n}"
            task = require(record, "language_pair", where=where, kind=str)
            document = require(record, "document_id", where=where, kind=str)
            labels = {"document": document, "domain": as_label(record.get("domain"))}
            wishes = (name for name in reading.wanted.labels if name not in labels)
            labels |= {name: as_label(record.get(name)) for name in wishes}
            scores_of = require(record, "metric_scores", where=where)
            names = [name for name in scores_of if reading.wanted.has(Key(task, name))]
            # One list per metric, with the scores of the same paragraphs.
            for i, scores in enumerate(zip(*(scores_of[name] for name in names), strict=True), 1):
                kept = dict(zip(names, scores, strict=True))
                tasks[task].add(n, f"{document}/{i}", labels, kept)
        for task, answers in tasks.items():
            items = answers.items()
            for name in answers.values:
                yield answers.rows(Key(task, name), without_suffix(path), items)


def _is_meeteval(source: Source) -> bool:
    """Return whether a file has numbers of errors and words by session."""
    first = next(iter(source.json.values()), None) if isinstance(source.json, dict) else None
    # That rate is null for a session without words.
    sizes = (get(first, _WORDS[1]), get(first, _SPEAKERS[1]))
    return has(first, "error_rate") and any(isinstance(size, (int, float)) for size in sizes)


def _meeteval(reading: Reading) -> Iterator[Rows]:
    """Yield errors and lengths of all sessions."""
    path, sessions = reading.source.path, reading.source.json
    match = _MEETEVAL_NAME.fullmatch(path.name)
    name = _ERROR_RATES.get(match[2], match[2].upper()) if match else "error rate"
    values = []
    for session_name, session in sessions.items():
        where = f"{path}, {session_name}"
        parts, size = _SPEAKERS if _SPEAKERS[1] in session else _WORDS
        length = number(require(session, size, where=where), f"{where}, {size}")
        names = ("errors",) if "errors" in session else parts
        errors = sum(number(session.get(part) or 0, f"{where}, {part}") for part in names)
        if errors < 0 or length < 0:
            raise InputError(f"{where}: errors and {size} must not be negative")
        # The ratio of the two must be the reported rate.
        rate = session.get("error_rate")
        if length and not np.isclose(number(rate, f"{where}, error_rate"), errors / length):
            raise InputError(
                f"{where}: {errors:g} errors divided by {length:g} is {errors / length:.10g}, "
                f"but error_rate is {shown(rate, 60)}"
            )
        values.append((errors, length))
    items, whole = Items.of(path, list(sessions)), path.name.replace("_per_reco", "")
    stated = get(beside(path, whole), "error_rate")
    yield Rows(
        Key("", name),
        match[1] if match else without_suffix(path),
        Ratio(name, columns=("errors", "length"), higher_is_better=False),
        items,
        np.array(values)[items.order],
        None if stated is None else number(stated, f"{path.with_name(whole)}, error_rate"),
    )


COMET = Format("COMET", ".json .txt .log .out .tsv", _is_comet, _comet, called=_CALLED)
NUMBERS = Format("one number per line", "", _are_numbers, _numbers, called=_CALLED)
MT_METRICS_EVAL = Format(
    "mt-metrics-eval", ".score", _has_blocks, _mt_metrics_eval, _has_blocks, called=_CALLED
)
WMT = Format("WMT's automatic scores", ".jsonl", _is_wmt, _wmt, _is_wmt, called=_CALLED)
MEETEVAL = Format("meeteval", ".json", _is_meeteval, _meeteval, called=("session", "task"))
