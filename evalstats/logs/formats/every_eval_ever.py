"""Every Eval Ever: JSON lines of instances, and what the file beside says of all of them.

A line has one score of one sample (schema 0.2, `instance_level_eval.schema.json`); the file beside,
without "_samples" and with ".json", has the direction of the scores, their means and the number of
lines.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from evalstats.checks import is_missing, shown
from evalstats.logs.log import Log, Wanted, log_of
from evalstats.logs.rows import Answers, Key, Rows, is_finite
from evalstats.logs.sources import (
    Source,
    dotted,
    fingerprint,
    get,
    json_lines,
    read_json,
    require,
    require_text,
)
from evalstats.logs.words import direction
from evalstats.metrics import Mean

NAME = "Every Eval Ever"

_KEYS = ("model_id", "evaluation_name", "sample_id", "evaluation")


def is_ours(source: Source) -> bool:
    """Return whether the first line of a file of JSON lines is an instance."""
    return all(key in source.first for key in _KEYS)


def read(source: Source, wanted: Wanted) -> Log:
    """Return the scores of each evaluation, or of each of its results where it has several."""
    path = str(source.path)
    # By model, task and id of the result.
    answers = defaultdict[tuple[str, str, str], Answers](lambda: Answers(path))
    n_lines = 0
    for i, record in json_lines(source.path):
        where, n_lines = f"{path}, line {i}", n_lines + 1
        task = require_text(record, "evaluation_name", where=where)
        model = require_text(record, "model_id", where=where)
        result = record.get("evaluation_result_id")
        of = (model, task, "" if result is None else str(result))
        if wanted.has_task(task):
            labels = {"sample_hash": _asked(record)}
            labels |= {wish: dotted(record, wish) for wish in wanted.labels}
            values = {
                "score": require(record, "evaluation", "score", where=where),
                "is_correct": get(record, "evaluation", "is_correct"),
                "error": record.get("error"),
            }
            answers[of].add(i, require_text(record, "sample_id", where=where), labels, values)
    name = source.path.name.removesuffix(".gz").removesuffix(".jsonl").removesuffix("_samples")
    beside = source.path.with_name(f"{name}.json")
    whole = read_json(beside) if beside.is_file() else None
    n_whole = get(whole, "detailed_evaluation_results", "total_rows")
    lacking = ""
    if n_whole is not None and n_whole != n_lines:
        lacking = f"there were {shown(n_whole, 60)} instances, {n_lines:,} are there"
    rows = []
    for of, of_result in answers.items():
        model, task, result = of
        about = _about(whole, task, result)
        # The id of a result may name the run as well, so it is a name only where there are several.
        is_one_of = sum(other[:2] == of[:2] for other in answers) > 1
        metric = get(about, "metric_config", "metric_id") or result
        key = Key(task, "score", str(metric) if is_one_of else "")
        if wanted.has(key):
            rows.append(_rows(key, model, of_result, about, lacking))
    return log_of(source.path, NAME, rows)


def _asked(record: dict[str, Any]) -> str:
    """Return the hash of what was asked and expected: that of the line, or one of its texts."""
    stated = record.get("sample_hash")
    raw, texts = get(record, "input", "raw"), get(record, "input", "reference")
    if stated is None and isinstance(raw, str):
        texts = texts if isinstance(texts, list) else [texts]
        return fingerprint(raw, *(text for text in texts if isinstance(text, str)))
    return "" if stated is None else str(stated)


def _rows(key: Key, model: str, answers: Answers, about: Any, lacking: str) -> Rows:
    """Return the rows of one result; `about` is what the file beside says of it, or None."""
    items = answers.items()
    n = sum(not is_missing(error) for error in answers.values["error"].values())
    errors = f"{n:,} instances ended with an error" if n else ""
    lower = get(about, "metric_config", "lower_is_better")
    higher = not lower if isinstance(lower, bool) else direction(key.task)
    are_correct = answers.values["is_correct"].values()
    if higher is None and all(isinstance(one, bool) for one in are_correct):
        higher = True  # More is more correct.
    mean = get(about, "score_details", "score")
    return Rows(
        key,
        model,
        Mean(key.metric, higher is not False),
        items,
        answers.means("score", items),
        reported=float(mean) if is_finite(mean) else None,
        lacking="; ".join(filter(None, [lacking, errors])),
        is_directed=higher is not None,
    )


def _about(beside: Any, task: str, result: str) -> Any:
    """Return what the file beside says of a result, None where it could mean several.

    Entries are those of the task, and among them the one of this id, where ids are stated.
    """
    results = get(beside, "evaluation_results")
    results = results if isinstance(results, list) else []
    of_task = [one for one in results if get(one, "evaluation_name") == task]
    named = [one for one in of_task if result and get(one, "evaluation_result_id") == result]
    return (named or of_task)[0] if len(named or of_task) == 1 else None
