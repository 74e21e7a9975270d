"""Inspect: logs in `.json` and in `.eval`, one, or a folder of those of one model."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from evalstats.checks import is_missing, shown
from evalstats.errors import InputError
from evalstats.runs.epochs import ABSENT, by_question, rows_of
from evalstats.runs.inspect_logs import Log, answer_of, eval_log, json_log
from evalstats.runs.inspect_scores import as_number, columns, stated
from evalstats.runs.items import Items, Key
from evalstats.runs.run import Run, run_of
from evalstats.runs.sources import Source, at, dotted, fingerprint, read_json
from evalstats.runs.wanted import Wanted

NAME = "Inspect"

_LOG = re.compile(rb'\s*\{\s*"(version|eval|status|invalidated)"\s*:')
_EVAL = re.compile(rb'"eval"\s*:\s*\{')
#: How much of a text the summaries in an `.eval` log surely have.
_KEPT = 1000


class _Found(NamedTuple):
    """What a log holds."""

    log: Log
    items: list[Items]
    skipped: list[str]


def is_ours(source: Source) -> bool:
    """Return whether a file is a log, or a folder has one."""
    if source.path.is_dir():
        return any(map(_is_log, source.files))
    if source.suffix == ".eval":
        return True
    return source.suffix == ".json" and isinstance(at(source.json, "eval", "task"), str)


def _is_log(path: Path) -> bool:
    if path.suffix != ".json":
        return path.suffix == ".eval"
    head = Source(path).head
    return bool(_LOG.match(head) and _EVAL.search(head))


def read(source: Source, wanted: Wanted) -> Run:
    """Return the scores of all samples, a table for each scorer."""
    paths = [path for path in source.files if source.path.is_file() or _is_log(path)]
    models: dict[str, Path] = {}
    found: dict[str, list[_Found]] = {}
    for path in paths:
        if path.suffix == ".eval":
            log = eval_log(path, wanted.labels)
        else:
            log = json_log(path, source.json if path == source.path else read_json(path))
        models.setdefault(log.model, path)
        skipped: list[str] = []
        items = list(_items(log, wanted, skipped)) if wanted.has_task(log.task) else []
        found.setdefault(log.task, []).append(_Found(log._replace(samples=[]), items, skipped))
    if len(models) > 1:
        raise InputError(
            f"{source.path} has logs of {len(models)} models, {', '.join(map(shown, models))}; "
            f"give the logs of one"
        )
    kept = [_one(source.path, given) for given in found.values()]
    return run_of(
        next(iter(models)),
        str(source.path),
        NAME,
        [item for one in kept for item in one.items],
        skipped=[line for one in kept for line in one.skipped],
        is_limited=all(_is_limited(one) for one in kept),
    )


def _one(path: Path, given: list[_Found]) -> _Found:
    """Return the log of a task, which may have been tried before."""
    done = [one for one in given if one.log.header.get("status") == "success"]
    if len(given) > 1 and len(done) != 1:
        names = ", ".join(str(one.log.path) for one in given[:3])
        raise InputError(
            f"{path} has {len(given)} logs of {given[0].log.task}, {names}; give one of each task"
        )
    chosen = (done or given)[0]
    others = [
        f"{one.log.path}, since {chosen.log.path} has the same task and was finished"
        for one in given
        if one is not chosen
    ]
    return chosen._replace(skipped=[*chosen.skipped, *others])


def _items(log: Log, wanted: Wanted, skipped: list[str]) -> Iterator[Items]:
    answers = [answer_of(sample, f"{log.path}, sample {i}") for i, sample in enumerate(log.samples)]
    n_questions = len({name for name, _ in answers})
    labels = {"item_hash": [_asked(sample) for sample in log.samples]}
    labels |= {wish: [dotted(sample, wish) for sample in log.samples] for wish in wanted.labels}
    labels = {name: given for name, given in labels.items() if any(given)}
    n_epochs = max(epoch for _, epoch in answers)
    logged, lacking = stated(log.header, log.model, n_epochs, skipped), _lacking(log, answers)
    found_scores = columns(log.header, log.samples, log.path)
    if not found_scores:
        skipped.append(f"{log.path}, whose samples have no scores; {lacking or 'it is complete'}")
    for metric, values in found_scores.items():
        key = Key(log.task, metric)
        if not wanted.has(key):
            continue
        found = {
            i: as_number(value, f"{log.path}, {metric} of sample {shown(answers[i][0], 60)}")
            for i, value in values.items()
            if value is not None
        }
        other = next((i for i, score in found.items() if score is None), None)
        if other is not None:
            skipped.append(f"{key}, since {shown(values[other], 60)} is no score")
            continue
        scores = np.full(len(answers), ABSENT)
        scores[list(found)] = list(found.values())
        items, n_unscored = by_question(
            key, log.model, answers, rows_of(scores), labels=labels, as_runs=wanted.as_runs
        )
        if n_unscored:
            skipped.append(f"{n_unscored:,} of {n_questions:,} items of {key}, which are unscored")
        if items.ids:
            gone = "; ".join(filter(None, [lacking, items.incomplete]))
            yield replace(items, logged=logged.get(metric, {}), incomplete=gone)


def _asked(sample: Any) -> str:
    """Return a hash of what was asked and expected, without messages; summaries cut both."""
    targets = sample.get("target")
    texts = [sample.get("input"), *(targets if isinstance(targets, list) else [targets])]
    return fingerprint(*(one[:_KEPT] for one in texts if isinstance(one, str)))


def _lacking(log: Log, answers: list[tuple[str, int]]) -> str:
    """Return in words what the log should have and has not."""
    status, found = log.header.get("status"), len(answers)
    why = [] if status == "success" else [f"the log's status is {shown(status, 60)}"]
    if log.header.get("invalidated"):
        why.append("the log was invalidated")
    asked = at(log.header, "eval", "dataset", "sample_ids")
    total = at(log.header, "results", "total_samples")
    if isinstance(asked, list):
        ids, epochs = {str(one) for one in asked}, at(log.header, "eval", "config", "epochs")
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


def _is_limited(found: _Found) -> bool:
    asked = at(found.log.header, "eval", "config")
    is_part = any(at(asked, name) is not None for name in ("limit", "sample_id"))
    return is_part and not any(item.incomplete for item in found.items)
