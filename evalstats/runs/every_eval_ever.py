"""Every Eval Ever: JSON lines of instances, and what the file beside says of all of them.

A line has one score of one sample (schema 0.2, `instance_level_eval.schema.json`); the file beside,
without "_samples" and with ".json", has the direction of the scores, their means and the number of
lines.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from evalstats.checks import is_missing, shown
from evalstats.errors import InputError
from evalstats.runs.epochs import by_question, rows_of
from evalstats.runs.items import Items, Key, as_score, is_finite
from evalstats.runs.run import Run, run_of
from evalstats.runs.sources import (
    Source,
    at,
    dotted,
    entry,
    fingerprint,
    json_lines,
    read_json,
    text_at,
)
from evalstats.runs.wanted import Wanted

NAME = "Every Eval Ever"

_KEYS = ("model_id", "evaluation_name", "sample_id", "evaluation")


class _Instance(NamedTuple):
    """What is kept of a line."""

    sample: str
    score: float
    labels: tuple[str, ...]
    has_error: bool


def is_ours(source: Source) -> bool:
    """Return whether the first line of a file of JSON lines is an instance."""
    return all(key in source.first for key in _KEYS)


def read(source: Source, wanted: Wanted) -> Run:
    """Return a table for each evaluation, or for each of its results where it has several."""
    found: dict[tuple[str, str], list[_Instance]] = {}
    models: dict[str, None] = {}
    n_lines = 0
    for i, record in json_lines(source.path):
        where, n_lines = f"{source.path}, line {i}", n_lines + 1
        task = text_at(record, "evaluation_name", where=where)
        models[text_at(record, "model_id", where=where)] = None
        if wanted.has_task(task):
            result = record.get("evaluation_result_id")
            one = (task, "" if result is None else str(result))
            found.setdefault(one, []).append(_instance(record, wanted.labels, where))
    if len(models) > 1:
        raise InputError(
            f"{source.path} has {len(models)} models, {', '.join(map(shown, models))}; give one a "
            f"file"
        )
    (model,) = models
    beside = _beside(source)
    total = at(beside, "detailed_evaluation_results", "total_rows")
    lacking = ""
    if total is not None and total != n_lines:
        lacking = f"there were {shown(total, 60)} instances, {n_lines:,} are there"
    items: list[Items] = []
    for (task, result), instances in found.items():
        about = _about(beside, task, result)
        # The id of a result may name the run as well, so it is a name only where there are several.
        several = sum(name == task for name, _ in found) > 1
        metric = at(about, "metric_config", "metric_id") or result
        key = Key(task, "score", str(metric) if several else "")
        if wanted.has(key):
            items.append(_items(key, model, instances, about, lacking, wanted))
    return run_of(model, str(source.path), NAME, items)


def _instance(record: dict[str, Any], labels: tuple[str, ...], where: str) -> _Instance:
    score = as_score(entry(record, "evaluation", "score", where=where), f"{where}, score")
    given = record.get("sample_hash")
    raw, references = at(record, "input", "raw"), at(record, "input", "reference")
    if given is None and isinstance(raw, str):
        texts = references if isinstance(references, list) else [references]
        given = fingerprint(raw, *(text for text in texts if isinstance(text, str)))
    return _Instance(
        text_at(record, "sample_id", where=where),
        score,
        ("" if given is None else str(given), *(dotted(record, path) for path in labels)),
        not is_missing(record.get("error")),
    )


def _items(
    key: Key, model: str, instances: list[_Instance], about: Any, lacking: str, wanted: Wanted
) -> Items:
    columns = zip(*(one.labels for one in instances), strict=True)
    labels = dict(zip(("sample_hash", *wanted.labels), columns, strict=True))
    scores = np.array([one.score for one in instances])
    items, _ = by_question(
        key,
        model,
        [(one.sample, 1) for one in instances],
        rows_of(np.where(np.isnan(scores), np.inf, scores)),
        labels={name: given for name, given in labels.items() if any(given)},
        higher_is_better=at(about, "metric_config", "lower_is_better") is not True,
    )
    n_errors = sum(one.has_error for one in instances)
    errors = f"{n_errors:,} instances ended with an error" if n_errors else ""
    mean = at(about, "score_details", "score")
    return replace(
        items,
        logged={model: float(mean)} if is_finite(mean) else {},
        incomplete="; ".join(filter(None, [lacking, items.incomplete, errors])),
    )


def _beside(source: Source) -> Any:
    """Return what the file of the whole evaluation holds, if it is there."""
    name = source.path.name.removesuffix(".gz").removesuffix(".jsonl").removesuffix("_samples")
    path = source.path.with_name(f"{name}.json")
    return read_json(path) if path.is_file() else None


def _about(beside: Any, task: str, result: str) -> Any:
    """Return what the file beside says of one result; nothing where it says so of several."""
    given = at(beside, "evaluation_results")
    given = given if isinstance(given, list) else []
    found = [one for one in given if at(one, "evaluation_name") == task]
    named = [one for one in found if result and at(one, "evaluation_result_id") == result]
    return (named or found)[0] if len(named or found) == 1 else None
