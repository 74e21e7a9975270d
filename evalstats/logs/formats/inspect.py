"""Inspect: logs in `.json` and in `.eval`, one, or a folder of those of any models.

"C", "I", "P" and "N" are 1, 0, 0.5 and 0, as in Inspect's ``value_to_float``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evalstats.checks import is_missing, shown
from evalstats.errors import InputError
from evalstats.logs.formats.inspect_reducers import Reducer, reduced, reducer_of
from evalstats.logs.log import Log, Wanted, log_of
from evalstats.logs.rows import Answers, Key, Rows, is_finite, mean_rows, number
from evalstats.logs.settings import arguments_of, settings_of
from evalstats.logs.sources import (
    Source,
    dotted,
    fingerprint,
    get,
    opened_zip,
    paths_of,
    read_json,
    require,
    require_text,
    zip_json,
)
from evalstats.logs.words import direction
from evalstats.metrics import Mean

NAME = "Inspect"

#: How a log in JSON begins.
_LOG = re.compile(rb'\s*\{.*?"eval"\s*:\s*\{', re.DOTALL)
#: How much of a text the summaries in an `.eval` log surely have.
_KEPT = 1000
_LETTERS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
_BOOLEANS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
#: What a log calls a mean, and reducers of epochs that, over one epoch, are the answer itself.
_MEANS = ("accuracy", "mean")
_OF_ONE = ("median", "mode", "max")


def is_ours(source: Source) -> bool:
    """Return whether a file is a log, or a folder has one."""
    if source.path.is_dir():
        return any(map(_is_log, source.files))
    if source.suffix == ".eval":
        return True
    return source.suffix == ".json" and isinstance(get(source.json, "eval", "task"), str)


def _is_log(path: Path) -> bool:
    """Return whether a file is a log, by its name or its first bytes; it is not read."""
    if path.suffix != ".json":
        return path.suffix == ".eval"
    return bool(_LOG.match(Source(path).head))


def read(source: Source, wanted: Wanted) -> Log:
    """Return the scores of all samples, of each scorer, task and model."""
    logs: dict[tuple[str, str], list[_Stored]] = {}
    for path in source.files:
        if path.suffix == ".eval":
            log = _from_eval(path, wanted.labels)
        elif path == source.path or _is_log(path):
            record = source.json if path == source.path else read_json(path)
            log = _stored(path, record, record.get("samples"))
        else:
            continue
        if wanted.has_task(log.task):
            logs.setdefault((log.model, log.task), []).append(log)
    rows: list[Rows] = []
    skipped: list[str] = []
    for tries in logs.values():
        *others, chosen = sorted(tries, key=_newest_last)
        rows += _rows(chosen, wanted, skipped)
        is_done = chosen.header.get("status") == "success"
        kept = f"{chosen.path} is the newest {'finished ' if is_done else ''}log of {chosen.task}"
        for log in others:
            is_alike = _settings(log.header) == _settings(chosen.header)
            more = "" if is_alike else ", and was asked otherwise"
            skipped.append(f"{log.path}, since {kept} by {chosen.model}{more}")
    return log_of(source.path, NAME, rows, skipped=skipped)


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


def _rows(log: _Stored, wanted: Wanted, skipped: list[str]) -> Iterator[Rows]:
    """Yield the rows of one log by score; scores that cannot be read are added to `skipped`."""
    answers = _answers(log, wanted.labels)
    items, n = answers.items(), len(answers.ids)
    stated = _reported(log)
    lacking = _lacking(log)
    asked = get(log.header, "eval", "config")
    is_part = any(get(asked, name) is not None for name in ("limit", "sample_id"))
    if not answers.values:
        skipped.append(f"{log.path}, whose samples have no scores; {lacking or 'it is complete'}")
    for metric, values in answers.values.items():
        views = _views(metric, stated.get(metric, []), max(answers.epochs), wanted, skipped)
        views = {name: v for name, v in views.items() if wanted.has(Key(log.task, metric, name))}
        if not views:
            continue
        scores = _scores(values, f"{log.path}, {metric} of sample ", answers.ids)
        if isinstance(scores, str):
            skipped.append(f"{Key(log.task, metric)}, since {scores} is no score")
            continue
        is_whole = len(values) == n and None not in values.values()
        is_accuracy = any(one.is_accuracy for one in stated.get(metric, []))
        higher = True if is_accuracy else _direction(metric, values)
        pairs = answers.pairs(metric, items, scores)
        for name, view in views.items():
            of_view = (
                (items, pairs) if view.reducer is None else reduced(items, pairs, view.reducer)
            )
            yield Rows(
                Key(log.task, metric, name),
                log.model,
                Mean(metric, higher is not False),
                *of_view,
                reported=view.mean,
                lacking=lacking,
                is_limited=is_part and not lacking and is_whole,
                is_directed=higher is not None,
                path=str(log.path),
                settings=_settings(log.header),
            )


def _scores(values: Mapping[int, Any], where: str, ids: Sequence[str]) -> NDArray[np.float64] | str:
    """Return the values of a score as statistics `(n, 2)`, or the first of them that is none."""
    named = ((x, f"{where}{shown(ids[i], 60)}") for i, x in values.items())
    scores = [math.nan if x is None else _as_number(x, name) for x, name in named]
    others = [x for x, score in zip(values.values(), scores, strict=True) if score is None]
    if others:
        return shown(others[0], 60)
    statistics = mean_rows(scores)  # type: ignore[arg-type]
    # A sample that was not scored on purpose counts for nothing.
    statistics[[x is not None and x != x for x in values.values()]] = 0.0
    return statistics


class _Stated(NamedTuple):
    """A score that a log states: by which reducer of epochs, the mean over items, what it is."""

    reducer: object
    mean: float | None
    is_accuracy: bool


class _View(NamedTuple):
    """How several answers to an item become one score, None for their mean; what the log states."""

    reducer: Reducer | None = None
    mean: float | None = None


def _views(
    metric: str, stated: Sequence[_Stated], n_epochs: int, wanted: Wanted, skipped: list[str]
) -> dict[str, _View]:
    """Return how a log reduces the epochs of a score, by filter, which is "" for the mean.

    As in ``{"pass_at_2": ...}``. Where the log has no mean, there is one for who asks for the
    filter "mean". A reducer that is not known is named in `skipped`.
    """
    views: dict[str, _View] = {}
    for one in stated:
        reducer = reducer_of(one.reducer)
        if one.reducer in (None, "mean", *(_OF_ONE if n_epochs == 1 else ())):
            views[""] = _View(
                None, one.mean if one.mean is not None else views.get("", _View()).mean
            )
        elif reducer is not None:
            views[str(one.reducer)] = _View(reducer, one.mean)
        else:
            by = shown(one.reducer, 60)
            skipped.append(f"the log's own {metric}, which reduces epochs by {by}")
    if not views:
        return {"": _View()}
    return views if "" in views or not wanted.filter else {**views, "mean": _View()}


def _settings(header: Any) -> dict[str, str]:
    """Return how the task was asked: its version, its dataset and its arguments."""
    spec = get(header, "eval")
    passed = get(spec, "task_args_passed")
    version, dataset = get(spec, "task_version"), get(spec, "dataset", "name")
    arguments = arguments_of(get(spec, "task_args") if passed is None else passed)
    return {**settings_of(version=version, dataset=dataset), **arguments}


def _answers(log: _Stored, wishes: Sequence[str]) -> Answers:
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
        labels = {"item_hash": _asked(sample), **{wish: dotted(sample, wish) for wish in wishes}}
        answers.add(i, name, labels, values, sample.get("epoch", 1), texts=_texts(sample))
    # Where scores have several values, one NaN stands for all of them.
    for scorer, whole in list(answers.values.items()):
        inner = [of for name, of in answers.values.items() if name.startswith(f"{scorer}.")]
        if inner and all(value != value for value in whole.values()):
            del answers.values[scorer]
            for values_of_key in inner:
                values_of_key |= whole
    return answers


def _direction(metric: str, values: dict[int, Any]) -> bool | None:
    """Return whether more is better, None where nothing says it.

    It is where all values are texts, such as "C" and "I", or true and false; else the name says it.
    """
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
    named = _LETTERS.get(value, _BOOLEANS.get(value.lower()))
    if named is not None:
        return named
    with suppress(ValueError):
        return as_float if np.isfinite(as_float := float(value)) else None
    return None


def _texts(sample: Any) -> dict[str, str]:
    """Return what was asked last, expected and answered, as far as a sample has it."""
    asked, targets = sample.get("input"), sample.get("target")
    if isinstance(asked, list):
        asked = get(asked[-1], "content") if asked else ""
    scores = sample.get("scores") or {}
    answers = [get(score, "answer") for score in scores.values()]
    answers.append(get(sample, "output", "completion"))
    answer = next((one for one in answers if isinstance(one, str) and one), "")
    parts = targets if isinstance(targets, list) else [targets]
    return {
        "question": asked if isinstance(asked, str) else "",
        "target": ", ".join(part for part in parts if isinstance(part, str)),
        "answer": answer,
    }


def _asked(sample: Any) -> str:
    """Return a hash of what was asked and expected, of as much as summaries of samples have too."""
    targets = sample.get("target")
    texts = [sample.get("input"), *(targets if isinstance(targets, list) else [targets])]
    return fingerprint(*(one[:_KEPT] for one in texts if isinstance(one, str)))


def _lacking(log: _Stored) -> str:
    """Return a line on what is wrong with a log: its status, samples that it lacks, errors.

    It is empty where nothing is.
    """
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


class _Stored(NamedTuple):
    """A log as its file has it: the header, which says what was run, and the samples."""

    path: Path
    header: Any
    samples: list[Any]
    task: str
    model: str


def _from_eval(path: Path, wishes: Sequence[str]) -> _Stored:
    """Return a log from a zip file.

    Of its samples the summaries are read, which are small; where labels are asked for the samples
    themselves are, since summaries cut texts.
    """
    with opened_zip(path) as archive:
        names = archive.namelist()
        start = [n for n in ("header.json", "_journal/start.json") if n in names]
        if not start:
            raise InputError(f"{path} has no header.json; it is not a log of Inspect")
        header = zip_json(archive, start[0])
        full = [name for name in names if re.fullmatch(r"samples/.*\.json", name)]
        if "summaries.json" in names and not (wishes and full):  # None of a log that was cut off.
            return _stored(path, header, zip_json(archive, "summaries.json"))
        return _stored(path, header, [zip_json(archive, name) for name in full])


def _stored(path: Path, header: Any, samples: Any) -> _Stored:
    """Return a log of its header and samples, which must name a task, a model and be there."""
    task, model = (require_text(header, "eval", key, where=str(path)) for key in ("task", "model"))
    if not isinstance(samples, list) or not samples:
        raise InputError(f"{path} has no samples; let Inspect log them (log_samples)")
    return _Stored(path, header, samples, task, model)


def _reported(log: _Stored) -> dict[str, list[_Stated]]:
    """Return the scores that the log states, by the name of the score: ``{"match": [...]}``."""
    scores = get(log.header, "results", "scores")
    stated: dict[str, list[_Stated]] = {}
    for score in scores if isinstance(scores, list) else []:
        metrics = get(score, "metrics")
        if not isinstance(metrics, dict):
            continue
        name, scorer = score.get("name"), score.get("scorer")
        whole = str(name) if scorer in (None, name) else f"{scorer}.{name}"
        # Without the package that defines it.
        values = {key.rpartition("/")[2]: get(one, "value") for key, one in metrics.items()}
        mean = next((float(values[kind]) for kind in _MEANS if is_finite(values.get(kind))), None)
        one = _Stated(score.get("reducer"), mean, "accuracy" in values)
        stated.setdefault(whole, []).append(one)
    return stated
