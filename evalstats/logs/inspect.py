"""Inspect: logs in `.json` and in `.eval`, one, or a folder of those of any models.

"C", "I", "P" and "N" are 1, 0, 0.5 and 0, as in Inspect's ``value_to_float``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from evalstats.checks import is_missing, shown
from evalstats.errors import InputError
from evalstats.logs.files import Source, dotted, fingerprint, get, read_json
from evalstats.logs.inspect_logs import (
    Stored,
    answer_of,
    from_eval,
    from_json,
    reported,
    score_columns,
)
from evalstats.logs.log import Log, Wanted, log_of
from evalstats.logs.rows import Items, Key, Rows, mean_rows, number
from evalstats.logs.words import direction
from evalstats.metrics import Mean

NAME = "Inspect"

_LOG = re.compile(rb'\s*\{\s*"(version|eval|status|invalidated)"\s*:')
_EVAL = re.compile(rb'"eval"\s*:\s*\{')
#: How much of a text the summaries in an `.eval` log surely have.
_KEPT = 1000
_LETTERS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
_BOOLEANS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}


class _Found(NamedTuple):
    """What a log holds."""

    path: Path
    is_done: bool
    rows: list[Rows]
    skipped: list[str]


def is_ours(source: Source) -> bool:
    """Return whether a file is a log, or a folder has one."""
    if source.path.is_dir():
        return any(map(_is_log, source.files))
    if source.suffix == ".eval":
        return True
    return source.suffix == ".json" and isinstance(get(source.json, "eval", "task"), str)


def _is_log(path: Path) -> bool:
    if path.suffix != ".json":
        return path.suffix == ".eval"
    head = Source(path).head
    return bool(_LOG.match(head) and _EVAL.search(head))


def read(source: Source, wanted: Wanted) -> Log:
    """Return the scores of all samples, of each scorer, task and model."""
    paths = [path for path in source.files if source.path.is_file() or _is_log(path)]
    found: dict[tuple[str, str], list[_Found]] = {}
    for path in paths:
        if path.suffix == ".eval":
            log = from_eval(path, wanted.labels)
        else:
            log = from_json(path, source.json if path == source.path else read_json(path))
        skipped: list[str] = []
        rows = list(_rows(log, wanted, skipped)) if wanted.has_task(log.task) else []
        one = _Found(path, log.header.get("status") == "success", rows, skipped)
        found.setdefault((log.model, log.task), []).append(one)
    kept = [_one(source.path, task, given) for (_, task), given in found.items()]
    models = dict.fromkeys(model for model, _ in found)
    return log_of(
        next(iter(models)) if len(models) == 1 else source.path.name or str(source.path),
        source.path,
        NAME,
        [row for one in kept for row in one.rows],
        skipped=[line for one in kept for line in one.skipped],
    )


def _one(path: Path, task: str, given: list[_Found]) -> _Found:
    """Return the log of a task and model, which may have been tried before."""
    done = [one for one in given if one.is_done]
    if len(given) > 1 and len(done) != 1:
        names = ", ".join(str(one.path) for one in given[:3])
        raise InputError(
            f"{path} has {len(given)} logs of {task}, {names}; give one of each task and model"
        )
    chosen = (done or given)[0]
    others = [
        f"{one.path}, since {chosen.path} has the same task and was finished"
        for one in given
        if one is not chosen
    ]
    return chosen._replace(skipped=[*chosen.skipped, *others])


def _rows(log: Stored, wanted: Wanted, skipped: list[str]) -> Iterator[Rows]:
    answers = [answer_of(sample, f"{log.path}, sample {i}") for i, sample in enumerate(log.samples)]
    epochs = [epoch for _, epoch in answers]
    labels = {"item_hash": [_asked(sample) for sample in log.samples]}
    labels |= {wish: [dotted(sample, wish) for sample in log.samples] for wish in wanted.labels}
    items = Items.of(log.path, [name for name, _ in answers], labels, epochs)
    (stated, accuracies), lacking = reported(log, max(epochs), skipped), _lacking(log, answers)
    asked = get(log.header, "eval", "config")
    is_part = any(get(asked, name) is not None for name in ("limit", "sample_id"))
    columns = score_columns(log)
    if not columns:
        skipped.append(f"{log.path}, whose samples have no scores; {lacking or 'it is complete'}")
    for metric, values in columns.items():
        key = Key(log.task, metric)
        if not wanted.has(key):
            continue
        where = f"{log.path}, {metric} of sample "
        scores = {
            i: _as_number(value, f"{where}{shown(answers[i][0], 60)}")
            for i, value in values.items()
            if value is not None
        }
        other = next((i for i, score in scores.items() if score is None), None)
        if other is not None:
            skipped.append(f"{key}, since {shown(values[other], 60)} is no score")
            continue
        found = np.full((len(answers), 2), np.nan)
        if scores:
            found[list(scores)] = mean_rows(list(scores.values()))  # type: ignore[arg-type]
        # A sample that was not scored on purpose counts for nothing.
        found[[i for i, score in scores.items() if score != score]] = 0.0
        higher = True if metric in accuracies else _direction(metric, values)
        yield Rows(
            key, log.model, Mean(metric, higher is not False), items, found[items.order],
            stated.get(metric), lacking, is_part and not lacking and len(scores) == len(answers),
            higher is not None, str(log.path),
        )  # fmt: skip


def _direction(metric: str, values: dict[int, Any]) -> bool | None:
    """Return whether more is better: it is where answers are right or wrong."""
    if all(isinstance(value, (str, bool)) or value is None for value in values.values()):
        return True
    named = direction(metric)
    is_graded = any(isinstance(value, str) and value in _LETTERS for value in values.values())
    return True if named is None and is_graded else named


def _as_number(value: object, where: str) -> float | None:
    """Return a score as Inspect reads it, NaN where it is unscored; None for what is no score."""
    if isinstance(value, float) and value != value:
        return value
    if not isinstance(value, str):
        return number(value, where) if isinstance(value, (bool, int, float)) else None
    if value in _LETTERS:
        return _LETTERS[value]
    if value.lower() in _BOOLEANS:
        return _BOOLEANS[value.lower()]
    try:
        found = float(value)
    except ValueError:
        return None
    return found if np.isfinite(found) else None


def _asked(sample: Any) -> str:
    """Return a hash of what was asked and expected, without messages; summaries cut both."""
    targets = sample.get("target")
    texts = [sample.get("input"), *(targets if isinstance(targets, list) else [targets])]
    return fingerprint(*(one[:_KEPT] for one in texts if isinstance(one, str)))


def _lacking(log: Stored, answers: list[tuple[str, int]]) -> str:
    """Return in words what the log should have and has not."""
    status, found = log.header.get("status"), len(answers)
    why = [] if status == "success" else [f"the log's status is {shown(status, 60)}"]
    if log.header.get("invalidated"):
        why.append("the log was invalidated")
    asked = get(log.header, "eval", "dataset", "sample_ids")
    total = get(log.header, "results", "total_samples")
    if isinstance(asked, list):
        ids, epochs = {str(one) for one in asked}, get(log.header, "eval", "config", "epochs")
        if ids != {name for name, _ in answers}:
            n_gone = len(ids - {name for name, _ in answers})
            why.append(f"{n_gone:,} of {len(ids):,} samples that were asked for are missing")
        total = len(ids) * epochs if isinstance(epochs, int) else total
    if total is not None and total != found:
        why.append(f"the log says {shown(total, 60)} samples, and has {found:,}")
    n_errors = sum(not is_missing(sample.get("error")) for sample in log.samples)
    if n_errors:
        why.append(f"{n_errors:,} samples ended with an error")
    return "; ".join(why)
