"""Inspect: logs in `.json` and in `.eval`, one, or a folder of those of any models.

"C", "I", "P" and "N" are 1, 0, 0.5 and 0, as in Inspect's ``value_to_float``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from statistics import median, mode
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evalstats.checks import is_missing, shown
from evalstats.designs.trials.metrics import pass_at_k
from evalstats.errors import InputError
from evalstats.logs.formats.format import Format, Reading, arguments_of, rows_of, settings_of
from evalstats.logs.rows import (
    Answers,
    Items,
    Key,
    Rows,
    as_scores,
    direction,
    is_finite,
    mean_rows,
)
from evalstats.logs.sources import (
    Source,
    fingerprint,
    get,
    opened_zip,
    paths_of,
    require,
    require_text,
    zip_json,
)

#: How a log in JSON begins.
_LOG = re.compile(rb'\s*\{.*?"eval"\s*:\s*\{', re.DOTALL)
#: How much of a text the summaries in an `.eval` log surely have.
_KEPT = 1000
_LETTERS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
_BOOLEANS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
#: What a log calls a mean, and reducers of epochs that, over one epoch, are the answer itself.
_MEANS = ("accuracy", "mean")
_OF_ONE = ("median", "mode", "max")
#: Reducers that count the answers with a score of 1.
_COUNTING = re.compile(r"(at_least|pass_at|pass_k)_([1-9]\d*)")

#: What makes one score of those of the answers to an item, in the order of their epochs; NaN where
#: they are too few.
_Reducer = Callable[[list[float]], float]


def _is_log(source: Source) -> bool:
    """Return whether a file is a log, by its name or its first bytes; it is not read."""
    if source.path.suffix != ".json":
        return source.path.suffix == ".eval"
    return bool(_LOG.match(source.head))


class _Stored(NamedTuple):
    """A log as its file has it: the header, which says what was run, and the samples."""

    path: Path
    header: Any
    samples: list[Any]
    task: str
    model: str


def _stored(path: Path, reading: Reading) -> _Stored:
    """Return a log, which must name a task and a model and have samples.

    Of those in a zip file the summaries are read, which are small; where labels are asked for the
    samples themselves are, since summaries cut texts.
    """
    if path.suffix != ".eval":
        header = reading.json(path)
        samples = header.get("samples")
    else:
        with opened_zip(path) as archive:
            names = archive.namelist()
            start = [n for n in ("header.json", "_journal/start.json") if n in names]
            if not start:
                raise InputError(f"{path} has no header.json; it is not a log of Inspect")
            header = zip_json(archive, start[0])
            full = [name for name in names if re.fullmatch(r"samples/.*\.json", name)]
            # A log that was cut off has no summaries.
            if "summaries.json" in names and not (reading.wanted.labels and full):
                samples = zip_json(archive, "summaries.json")
            else:
                samples = [zip_json(archive, name) for name in full]
    task, model = (require_text(header, "eval", key, where=str(path)) for key in ("task", "model"))
    if not isinstance(samples, list) or not samples:
        raise InputError(f"{path} has no samples; let Inspect log them (log_samples)")
    return _Stored(path, header, samples, task, model)


def _inspect(reading: Reading) -> Iterator[Rows]:
    """Yield the scores of all samples, of each scorer, task and model."""
    logs: dict[tuple[str, str], list[_Stored]] = {}
    for path in reading.files:
        log = _stored(path, reading)
        if reading.wanted.has_task(log.task):
            logs.setdefault((log.model, log.task), []).append(log)
    for tries in logs.values():
        *others, chosen = sorted(tries, key=_newest_last)
        yield from _rows(chosen, reading)
        is_done = chosen.header.get("status") == "success"
        kept = f"{chosen.path} is the newest {'finished ' if is_done else ''}log of {chosen.task}"
        for log in others:
            is_alike = _settings(log.header) == _settings(chosen.header)
            more = "" if is_alike else ", and was asked otherwise"
            reading.skipped.append(f"{log.path}, since {kept} by {chosen.model}{more}")


def _newest_last(log: _Stored) -> tuple[bool, datetime, str]:
    """Return what to sort logs of one task and model by: those that were finished come last."""
    created = datetime.min.replace(tzinfo=timezone.utc)
    stated = get(log.header, "eval", "created")
    if isinstance(stated, str):
        with suppress(ValueError):
            # Python before 3.11 does not know the Z.
            created = datetime.fromisoformat(re.sub("[zZ]$", "+00:00", stated))
    if created.tzinfo is None:
        created = created.replace(tzinfo=timezone.utc)
    return log.header.get("status") == "success", created, str(log.path)


def _rows(log: _Stored, reading: Reading) -> Iterator[Rows]:
    """Yield the rows of one log by score; scores that cannot be read are left out."""
    answers, lacking, settings = _answers(log, reading), _lacking(log), _settings(log.header)
    items, n, n_epochs = answers.items(), len(answers.ids), max(answers.epochs)
    of_log = partial(rows_of, answers, lacking=[lacking], settings=settings)
    asked = get(log.header, "eval", "config")
    is_part = any(get(asked, name) is not None for name in ("limit", "sample_id")) and not lacking
    if not answers.values:
        why = lacking or "it is complete"
        reading.skipped.append(f"{log.path}, whose samples have no scores; {why}")
    for metric, values in answers.values.items():
        by_filter, is_accuracy = _views(log, metric, n_epochs, reading)
        views = {
            key: view
            for name, view in by_filter.items()
            if reading.wanted.has(key := Key(log.task, metric, name))
        }
        if not views:
            continue
        numbers = {i: None if x is None else _as_number(x) for i, x in values.items()}
        pairs = _pairs(answers, items, metric, numbers)
        others = [x for i, x in values.items() if x is not None and numbers[i] is None]
        if others:
            said = f"since {shown(others[0], 60)} is no score"
            reading.skipped.append(f"{Key(log.task, metric)}, {said}")
            continue
        higher = direction(metric)
        # Texts such as "C" and "I", and true and false, say what is better.
        are_texts = all(isinstance(x, (str, bool)) or x is None for x in values.values())
        are_graded = any(isinstance(x, str) and x in _LETTERS for x in values.values())
        if is_accuracy or are_texts or (higher is None and are_graded):
            higher = True
        is_limited = is_part and len(values) == n and None not in values.values()
        for key, (reducer, mean) in views.items():
            of_view = (items, pairs) if reducer is None else _reduced(items, pairs, reducer)
            yield of_log(
                key, log.model, *of_view, higher=higher, reported=mean, is_limited=is_limited
            )


def _pairs(
    answers: Answers, items: Items, metric: str, numbers: Mapping[int, object]
) -> NDArray[np.float64]:
    """Return the numbers of a score as statistics of all answers, `(n, 2)`."""
    places = list(numbers)

    def where(i: int) -> str:
        return f"{answers.where}, {metric} of sample {shown(answers.ids[places[i]], 60)}"

    statistics = mean_rows(as_scores(list(numbers.values()), where))
    # A sample that was not scored on purpose counts for nothing.
    statistics[[x is not None and x != x for x in numbers.values()]] = 0.0
    return answers.pairs(metric, items, statistics)


def _as_number(value: object) -> float | None:
    """Return a score as Inspect reads it, NaN where it is unscored; None for what is no score."""
    if not isinstance(value, str):
        return value if isinstance(value, (bool, int, float)) else None
    named = _LETTERS.get(value, _BOOLEANS.get(value.lower()))
    if named is not None:
        return named
    with suppress(ValueError):
        return as_float if math.isfinite(as_float := float(value)) else None
    return None


def _views(
    log: _Stored, metric: str, n_epochs: int, reading: Reading
) -> tuple[dict[str, tuple[_Reducer | None, float | None]], bool]:
    """Return how a log reduces epochs, with the mean over items that it states, by filter.

    As in ``{"pass_at_2": (..., 0.5)}``; the mean of epochs is None, under the filter "". Where the
    log has no such mean, there is one for who asks for the filter "mean". What is not known is left
    out. The second value says whether the score is called an accuracy.
    """
    views: dict[str, tuple[_Reducer | None, float | None]] = {}
    is_accuracy, scores = False, get(log.header, "results", "scores")
    for score in scores if isinstance(scores, list) else []:
        metrics, name, scorer = (get(score, key) for key in ("metrics", "name", "scorer"))
        whole = str(name) if scorer in (None, name) else f"{scorer}.{name}"
        if not isinstance(metrics, dict) or whole != metric:
            continue
        # Without the package that defines it.
        values = {key.rpartition("/")[2]: get(one, "value") for key, one in metrics.items()}
        mean = next((float(values[kind]) for kind in _MEANS if is_finite(values.get(kind))), None)
        is_accuracy |= "accuracy" in values
        by = score.get("reducer")
        reducer = _reducer(by)
        if by in (None, "mean", *(_OF_ONE if n_epochs == 1 else ())):
            views[""] = None, views.get("", (None, None))[1] if mean is None else mean
        elif reducer is not None:
            views[str(by)] = reducer, mean
        else:
            said = f"which reduces epochs by {shown(by, 60)}"
            reading.skipped.append(f"the log's own {metric}, {said}")
    if "" not in views and (reading.wanted.filter or not views):
        views["mean" if views else ""] = None, None
    return views, is_accuracy


def _reducer(name: object) -> _Reducer | None:
    """Return the reducer that a log names, such as "pass_at_2"; None where it is not known."""
    known: dict[object, _Reducer] = {"median": median, "mode": mode, "max": max}
    if name in known:
        return known[name]
    match = _COUNTING.fullmatch(name) if isinstance(name, str) else None
    if match is None:
        return None
    kind, k = match[1], int(match[2])

    def counted(scores: list[float]) -> float:
        n, right = len(scores), sum(score >= 1 for score in scores)
        if kind == "at_least":
            return float(right >= k)
        if n < k:
            return math.nan
        of_all = math.comb(right, k) / math.comb(n, k)
        return float(pass_at_k(n, right, k)[0]) if kind == "pass_at" else of_all

    return counted


def _reduced(
    items: Items, values: NDArray[np.float64], reducer: _Reducer
) -> tuple[Items, NDArray[np.float64]]:
    """Return items with one score each, `(n, 2) -> (N, 2)`, from those of all answers to them."""
    first = [i for i, name in enumerate(items.ids) if i == 0 or name != items.ids[i - 1]]
    rows = np.zeros((len(first), 2))
    for row, answers in zip(rows, np.split(values, first[1:]), strict=True):
        scores = answers[answers[:, 1] == 1, 0].tolist()
        score = reducer(scores) if scores else math.nan
        if score == score:
            row[:] = score, 1.0
        elif np.isnan(answers).any() and not scores:
            row[:] = math.nan  # Else none of its answers was scored on purpose.
    return items.at(first), rows


def _settings(header: Any) -> dict[str, str]:
    """Return how the task was asked: its version, its dataset and its arguments."""
    spec = get(header, "eval")
    passed = get(spec, "task_args_passed")
    version, dataset = get(spec, "task_version"), get(spec, "dataset", "name")
    arguments = arguments_of(get(spec, "task_args") if passed is None else passed)
    return {**settings_of(version=version, dataset=dataset), **arguments}


def _answers(log: _Stored, reading: Reading) -> Answers:
    """Return the samples, with the values of every score: "match", or "judge.style" of several."""
    answers = Answers(str(log.path), "sample")
    for i, sample in enumerate(log.samples):
        where = f"{log.path}, sample {i}"
        name = str(require(sample, "id", where=where))
        values: dict[str, Any] = {}
        for scorer, score in (sample.get("scores") or {}).items():
            value = require(score, "value", where=f"{where}, score {scorer}")
            parts = value if isinstance(value, dict) else {"": value}
            values |= {f"{scorer}.{key}" if key else scorer: one for key, one in parts.items()}
        answers.paths = answers.paths or paths_of(sample, "metadata")
        question, targets = sample.get("input"), sample.get("target")
        targets = targets if isinstance(targets, list) else [targets]
        # A hash of as much as summaries of samples have too.
        asked = [text[:_KEPT] for text in (question, *targets) if isinstance(text, str)]
        labels = reading.labels(sample, item_hash=fingerprint(*asked))
        if isinstance(question, list):
            question = get(question[-1], "content") if question else ""
        said = [get(score, "answer") for score in (sample.get("scores") or {}).values()]
        said.append(get(sample, "output", "completion"))
        texts = {
            "question": question if isinstance(question, str) else "",
            "target": ", ".join(part for part in targets if isinstance(part, str)),
            "answer": next((one for one in said if isinstance(one, str) and one), ""),
        }
        answers.add(i, name, labels, values, sample.get("epoch", 1), texts=texts)
    # Where scores have several values, one NaN stands for all of them.
    for scorer, whole in list(answers.values.items()):
        inner = [of for name, of in answers.values.items() if name.startswith(f"{scorer}.")]
        if inner and all(value != value for value in whole.values()):
            del answers.values[scorer]
            for values_of_key in inner:
                values_of_key |= whole
    return answers


def _lacking(log: _Stored) -> str:
    """Return a line on what is wrong with a log, its status, samples, errors; else nothing."""
    status, n_samples = log.header.get("status"), len(log.samples)
    why = [] if status == "success" else [f"the log's status is {shown(status, 60)}"]
    if log.header.get("invalidated"):
        why.append("the log was invalidated")
    total = get(log.header, "results", "total_samples")
    if total is not None and total != n_samples:
        why.append(f"the log says {shown(total, 60)} samples, and has {n_samples:,}")
    errors = [error for sample in log.samples if not is_missing(error := sample.get("error"))]
    if errors:
        first = shown(get(errors[0], "message") or errors[0], 80)
        why.append(f"{len(errors):,} samples ended with an error, the first with {first}")
    return "; ".join(why)


INSPECT = Format(
    "Inspect",
    ".eval .json",
    lambda source: source.suffix == ".eval" or isinstance(get(source.json, "eval", "task"), str),
    _inspect,
    _is_log,
    ("sample", "task"),
)
