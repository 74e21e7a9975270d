"""HELM, Every Eval Ever, OpenAI evals and Inspect.

HELM's `per_instance_stats.json` has `run_spec.json` and `stats.json` beside it. HELM divides the
sum of a metric's values over instances by their number, and averages several train trials.
Statistics derived from several instances (the worst of the perturbations, perplexity, calibration)
are not in the file.

Every Eval Ever has a line of JSON for one score of one sample (schema 0.2,
`instance_level_eval.schema.json`). The file with the same name without "_samples", in ".json", has
the direction of the scores, their means and the number of lines.

`oaieval` writes one line of JSON for the run and one for each event. The events "match" and
"metrics" have scores of a sample; several events of one kind are several answers. A sample with
only other events, such as an error, has no score. The final report may be anywhere below the first
line, since events are written in blocks.

Inspect writes logs in `.json` and in `.eval`: one log, or a folder of logs of any models. "C", "I",
"P" and "N" are 1, 0, 0.5 and 0, as in its ``value_to_float``.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path
from statistics import median, mode
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evalstats.checks import is_missing, shown
from evalstats.designs.trials.metrics import pass_at_k
from evalstats.errors import InputError
from evalstats.logs.fields import (
    as_label,
    as_name,
    fingerprint,
    first_of,
    get,
    has,
    paths_of,
    require,
)
from evalstats.logs.formats.tables import GRADES
from evalstats.logs.log import PROMPTS, Format, Reading, ended, fewer, settings_of
from evalstats.logs.rows import (
    ITEM,
    TARGET,
    Answers,
    Items,
    Key,
    Rows,
    as_scores,
    is_finite,
    mean_rows,
    number,
)
from evalstats.logs.sources import Source, beside, json_lines, opened_zip, zip_json
from evalstats.metrics.directions import direction

_HELM_FILE = "per_instance_stats.json"
#: HELM's counts that are not scores; only read if requested by name.
_HOUSEKEEPING = re.compile(
    r"num_.*|finish_reason_.*|training_.*_cost|inference_.*runtime.*|batch_size|prompt_truncated|"
    r"max_prob|logprob"
)
_LOWER_IS_BETTER = re.compile(r"inference_.*|training_.*|.*perplexity|toxic_frac|edit_distance")
#: The keys of a perturbation in `stats` that are not its settings, such as its probability.
_PLAIN = ("name", "robustness", "fairness", "computed_on")


def _helm(reading: Reading) -> Iterator[Rows]:
    """Yield the rows of each statistic, split and perturbation, of all models."""
    for path in reading.files:
        spec = beside(path, "run_spec.json")
        # Of "mmlu:subject=law,model=gpt" the task is "mmlu:subject=law": the model is not a
        # setting.
        name = str(get(spec, "name") or path.resolve().parent.name)
        scenario, _, arguments = name.partition(":")
        parts = [one for one in arguments.split(",") if one]
        named = [one.partition("=")[2] for one in parts if one.startswith("model=")]
        model = str(get(spec, "adapter_spec", "model") or [*named, name][0])
        kept = [one for one in parts if not one.startswith(("model=", "model_deployment="))]
        task = ":".join(filter(None, [scenario, ",".join(kept)]))
        if not reading.wanted.has_task(task):
            continue
        settings = settings_of(shots=get(spec, "adapter_spec", "max_train_instances"))
        by_filter = _instances(path, task, reading)
        means: dict[Key, float] = {}
        for i, stat in enumerate(beside(path, "stats.json") or []):
            where = f"{path.with_name('stats.json')}, statistic {i}"
            key, mean = _key(stat, task, where), get(stat, "mean")
            if mean is not None:
                means[key] = number(mean, f"{where}, mean")
        for part, answers in by_filter.items():
            items, size = answers.items(), means.get(Key(task, "num_instances", part))
            n_whole = None if size is None else round(size)
            lacking = fewer("instances", n_whole, len(set(items.ids)))
            for metric, sums in answers.values.items():
                yield answers.rows(
                    Key(task, metric, part),
                    model,
                    items,
                    answers.pairs(metric, items, list(sums.values())),
                    higher=False if _LOWER_IS_BETTER.fullmatch(metric) else direction(metric),
                    reported=means.get(Key(task, metric, part)),
                    lacking=[lacking],
                    settings=settings,
                )


def _instances(path: Path, task: str, reading: Reading) -> dict[str, Answers]:
    """Return sums and counts of metrics for each instance, by filter."""
    parts = defaultdict[str, Answers](lambda: Answers(str(path), "instance"))
    wanted, unasked = reading.wanted, dict[str, None]()
    for i, record in enumerate(reading.json(path)):
        where = f"{path}, instance {i}"
        name, trial = require(record, "instance_id", where=where), record.get("train_trial_index")
        sums: dict[str, dict[str, tuple[float, ...]]] = {}
        for stat in require(record, "stats", where=where):
            key = _key(stat, task, where)
            of_filter = sums.setdefault(key.filter, {})
            if not wanted.metric and _HOUSEKEEPING.fullmatch(key.metric):
                unasked[key.metric] = None
            elif wanted.has(key):
                row = tuple(number(get(stat, n), f"{where}, {n}") for n in ("sum", "count"))
                if of_filter.setdefault(key.metric, row) is not row:
                    raise InputError(
                        f"{where} repeats {key}, but a log must contain each item only once"
                    )
        for filter, of_filter in sums.items():
            parts[filter].add(i, name, {}, of_filter, trial or 0)
    if unasked:
        reading.skipped.append(f"HELM's counts that are not scores: {', '.join(unasked)}")
    return parts


def _key(stat: Any, task: str, where: str) -> Key:
    """Return task, metric and filter of a statistic: its split and perturbation, "test, typos"."""
    name = require(stat, "name", "name", where=where)
    change = get(stat, "name", "perturbation")
    parts = [get(stat, "name", "split"), get(stat, "name", "sub_split"), get(change, "name")]
    if isinstance(change, Mapping):
        others = {key: value for key, value in change.items() if key not in _PLAIN}
        parts += [f"{key}={others[key]}" for key in sorted(others)]
        if change.get("computed_on") not in (None, "perturbed"):
            parts.append(change["computed_on"])
    return Key(task, name, ", ".join(str(part) for part in parts if part is not None))


def _is_helm(source: Source) -> bool:
    """Return whether a file has HELM's name, or statistics of instances."""
    if source.path.name == _HELM_FILE:
        return True
    first = first_of(source.json)
    return get(first, "instance_id") is not None and get(first, "stats") is not None


def _every_eval_ever(reading: Reading) -> Iterator[Rows]:
    """Yield the scores of each evaluation, or of each result if it has several."""
    path, wanted = reading.source.path, reading.wanted
    # By model, task and id of the result.
    answers = defaultdict[tuple[str, str, str], Answers](lambda: Answers(str(path)))
    n_lines = 0
    for i, record in json_lines(path):
        where, n_lines = f"{path}, line {i}", n_lines + 1
        task = require(record, "evaluation_name", where=where, kind=str)
        model = require(record, "model_id", where=where, kind=str)
        if not wanted.has_task(task):
            continue
        asked, raw = record.get("sample_hash"), get(record, "input", "raw")
        if asked is None and isinstance(raw, str):
            expected = get(record, "input", "reference")
            texts = [raw, *(expected if isinstance(expected, list) else [expected])]
            asked = fingerprint(*(text for text in texts if isinstance(text, str)))
        labels = reading.labels(record, sample_hash="" if asked is None else str(asked))
        values = {
            "score": require(record, "evaluation", "score", where=where),
            "is_correct": get(record, "evaluation", "is_correct"),
            "error": record.get("error"),
        }
        result = record.get("evaluation_result_id")
        place = (model, task, "" if result is None else str(result))
        answers[place].add(i, require(record, "sample_id", where=where, kind=str), labels, values)
    name = path.name.removesuffix(".gz").removesuffix(".jsonl").removesuffix("_samples")
    whole = beside(path, f"{name}.json")
    lost = fewer("instances", get(whole, "detailed_evaluation_results", "total_rows"), n_lines)
    for (model, task, result), of_result in answers.items():
        about = _about(get(whole, "evaluation_results"), task, result)
        # The id of a result may also contain the run, so it is only used if there are several.
        is_one_of = sum(other[:2] == (model, task) for other in answers) > 1
        metric = get(about, "metric_config", "metric_id") or result
        errors = [x for x in of_result.values["error"].values() if not is_missing(x)]
        lacking = [lost, ended("instances", errors)]
        lower = get(about, "metric_config", "lower_is_better")
        higher = not lower if isinstance(lower, bool) else direction(task)
        are_right = of_result.values["is_correct"].values()
        if higher is None and all(isinstance(one, bool) for one in are_right):
            higher = True  # More is more correct.
        yield of_result.rows(
            Key(task, "score", str(metric) if is_one_of else ""),
            model,
            higher=higher,
            reported=get(about, "score_details", "score"),
            lacking=lacking,
        )


def _about(results: Any, task: str, result: str) -> Any:
    """Return the entry for a result in the other file, or None if it is ambiguous."""
    stated = results if isinstance(results, list) else []
    of_task = [one for one in stated if get(one, "evaluation_name") == task]
    named = [one for one in of_task if result and get(one, "evaluation_result_id") == result]
    return (named or of_task)[0] if len(named or of_task) == 1 else None


#: Lines that a file of `oaieval` has only once.
_ONCE = {"spec": "the beginning of another run", "final_report": "another final report"}


def _is_run(source: Source) -> bool:
    """Return whether a file begins with `oaieval`'s description of a run."""
    return get(source.first, "spec", "completion_fns") is not None


def _openai_evals(reading: Reading) -> Iterator[Rows]:
    """Yield the rows of each run by metric; values that are not numbers are left out."""
    for path in reading.files:
        about: dict[str, Any] = {}
        # By sample and number of the answer: {("t.0", 1): {"accuracy": 1}}.
        scored: dict[tuple[str, int], dict[str, Any]] = {}
        asked, events = defaultdict[str, set[str]](set), defaultdict[str, dict[str, Any]](dict)
        counts, errors = Counter[tuple[str, str]](), list[Any]()
        for n, line in json_lines(path):
            where, once = f"{path}, line {n}", _ONCE.keys() & line.keys()
            for name in once:
                if name in about:
                    raise InputError(
                        f"{where} contains {_ONCE[name]}; write each run to its own file"
                    )
                about[name] = line[name]
            if once:
                continue
            sample, kind = (require(line, k, where=where, kind=str) for k in ("sample_id", "type"))
            data: Any = line.get("data")
            events[sample][kind] = data
            counts[sample, kind] += 1
            place = sample, counts[sample, kind]
            if kind == "error":
                errors.append(get(data, "message") or data)
            elif kind == "raw_sample":
                asked[sample].add(as_label(data))
            elif kind == "match":
                # The name of the mean of matches in reports, unless "metrics" contain this name.
                is_right = {"accuracy": require(data, "correct", where=f"{where}, data")}
                scored[place] = is_right | scored.get(place, {})
                asked[sample].add(as_label(get(data, "expected")))
            elif kind == "metrics":
                given = require(line, "data", where=where, kind=dict)
                scored[place] = scored.get(place, {}) | given
        spec = about.get("spec")
        task = require(spec, "eval_name", where=f"{path}, spec", kind=str)
        names = require(spec, "completion_fns", where=f"{path}, spec")
        system = ", ".join(map(str, names)) if isinstance(names, list) else str(names)
        answers = Answers(str(path), "sample")
        for sample in events:
            scored.setdefault((sample, 1), {})
        for i, ((sample, n), values) in enumerate(scored.items()):
            hashed = fingerprint(*sorted(asked[sample]))
            answers.add(i, sample, reading.labels(events[sample], sample_hash=hashed), values, n)
        items, lacking = answers.items(), ended("samples", errors)
        if "final_report" not in about:
            lacking += "; " if lacking else ""
            lacking += "there is no final report, so the run did not finish"
        is_part = get(spec, "run_config", "max_samples") is not None and not lacking
        for metric, scores in answers.values.items():
            key, numbers = Key(task, metric), (bool, int, float, type(None))
            odd = [x for x in scores.values() if not isinstance(x, numbers)]
            if odd and reading.wanted.has(key):
                reading.skipped.append(f"{key}, since {shown(odd[0], 60)} is not a score")
            is_whole = len(scores) == len(items.ids) and None not in scores.values()
            if not odd:
                yield answers.rows(
                    key,
                    system,
                    items,
                    higher=direction(metric),
                    reported=get(about.get("final_report"), metric),
                    lacking=[lacking],
                    is_limited=is_part and is_whole,
                    settings=settings_of(get(spec, "run_config", "eval_spec", "args")),
                )


HELM = Format(
    "HELM",
    ".json",
    _is_helm,
    _helm,
    lambda source: source.path.name == _HELM_FILE,
    ("instance", "task"),
)
EVERY_EVAL_EVER = Format(
    "Every Eval Ever",
    ".jsonl",
    lambda source: has(source.first, "model_id", "evaluation_name", "sample_id", "evaluation"),
    _every_eval_ever,
    called=("instance", "task"),
)
OPENAI_EVALS = Format("OpenAI evals", ".jsonl", _is_run, _openai_evals, _is_run, ("sample", "task"))


#: How a log in JSON begins.
_INSPECT = re.compile(rb'\s*\{.*?"eval"\s*:\s*\{', re.DOTALL)
#: Number of characters of a text that summaries in an `.eval` log always contain.
_KEPT = 1000
_BOOLEANS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
#: Names of a mean in a log, and reducers that, over one epoch, are the answer itself.
_MEANS = ("accuracy", "mean")
_OF_ONE = ("median", "mode", "max")
#: Reducers that count the answers with a score of 1.
_COUNTING = re.compile(r"(at_least|pass_at|pass_k)_([1-9]\d*)")

#: Functions from the scores of an item's answers, in the order of epochs, to one score; NaN if
#: there are too few.
_Reducer = Callable[[list[float]], float]


def _is_inspect(source: Source) -> bool:
    """Return whether a file is a log, by its name or its first bytes, without reading it."""
    if source.path.suffix != ".json":
        return source.path.suffix == ".eval"
    return bool(_INSPECT.match(source.head))


class _Stored(NamedTuple):
    """The contents of a log's file: the header, which describes the run, and the samples."""

    path: Path
    header: Any
    samples: list[Any]
    task: str
    model: str


def _stored(path: Path, reading: Reading) -> _Stored:
    """Return a log, which must name a task and a model and have samples.

    In a zip file, the small summaries are read; if labels are requested, the samples themselves,
    since summaries cut texts.
    """
    if path.suffix != ".eval":
        header = reading.json(path)
        samples = header.get("samples")
    else:
        with opened_zip(path) as archive:
            names = archive.namelist()
            start = [n for n in ("header.json", "_journal/start.json") if n in names]
            if not start:
                raise InputError(f"{path} is not a log of Inspect, because it has no header.json")
            header = zip_json(archive, start[0])
            full = [name for name in names if re.fullmatch(r"samples/.*\.json", name)]
            # A log that was cut off has no summaries.
            if "summaries.json" in names and not (reading.wanted.labels and full):
                samples = zip_json(archive, "summaries.json")
            else:
                samples = [zip_json(archive, name) for name in full]
    task, model = (
        require(header, "eval", key, where=str(path), kind=str) for key in ("task", "model")
    )
    return _Stored(path, header, samples if isinstance(samples, list) else [], task, model)


def _inspect(reading: Reading) -> Iterator[Rows]:
    """Yield the scores of all samples, of each scorer, task and model."""
    logs: dict[tuple[str, str], list[_Stored]] = {}
    for path in reading.files:
        log, lost = _stored(path, reading), "has no samples; run Inspect with log_samples"
        if not log.samples and len(reading.files) == 1:
            raise InputError(f"{path} {lost}")
        if not log.samples:
            reading.skipped.append(f"{path}, which {lost}")
        elif reading.wanted.has_task(log.task):
            logs.setdefault((log.model, log.task), []).append(log)
    for tries in logs.values():
        *others, chosen = sorted(tries, key=_newest_last)
        yield from _inspect_rows(chosen, reading)
        is_done = chosen.header.get("status") == "success"
        kept = f"{chosen.path} is the newest {'finished ' if is_done else ''}log of {chosen.task}"
        for log in others:
            is_alike = _settings(log.header) == _settings(chosen.header)
            more = "" if is_alike else ", and its prompts were different"
            reading.skipped.append(f"{log.path}, since {kept} by {chosen.model}{more}")


def _newest_last(log: _Stored) -> tuple[bool, datetime, str]:
    """Return a sort key for logs of one task and model: finished logs come last."""
    created = datetime.min.replace(tzinfo=timezone.utc)
    stated = get(log.header, "eval", "created")
    if isinstance(stated, str):
        with suppress(ValueError):
            # Python before 3.11 does not accept the Z.
            created = datetime.fromisoformat(re.sub("[zZ]$", "+00:00", stated))
    if created.tzinfo is None:
        created = created.replace(tzinfo=timezone.utc)
    return log.header.get("status") == "success", created, str(log.path)


def _inspect_rows(log: _Stored, reading: Reading) -> Iterator[Rows]:
    """Yield the rows of one log by score; scores that cannot be read are left out."""
    answers = _inspect_answers(log, reading)
    lacking, items = _lacking(log), answers.items()
    asked = get(log.header, "eval", "config")
    is_part = any(get(asked, name) is not None for name in ("limit", "sample_id")) and not lacking
    if not answers.values:
        why = lacking or "it is complete"
        reading.skipped.append(f"{log.path}, whose samples have no scores; {why}")
    for metric, values in answers.values.items():
        by_filter, is_accuracy = _views(log, metric, max(answers.epochs), reading)
        keys = {name: Key(log.task, metric, name) for name in by_filter}
        if not any(map(reading.wanted.has, keys.values())):
            continue
        numbers = {i: None if x is None else _as_number(x) for i, x in values.items()}
        pairs = _pairs(answers, items, metric, numbers)
        others = [x for i, x in values.items() if x is not None and numbers[i] is None]
        if others:
            said = f"since {shown(others[0], 60)} is not a score"
            reading.skipped.append(f"{Key(log.task, metric)}, {said}")
            continue
        # Texts such as "C" and "I", and true and false, have a known direction.
        are_texts = all(isinstance(x, (str, bool)) or x is None for x in values.values())
        are_graded = any(isinstance(x, str) and x in GRADES for x in values.values())
        is_known = is_accuracy or are_texts or (direction(metric) is None and are_graded)
        is_whole = len(values) == len(answers.ids) and None not in values.values()
        for name, (reducer, mean) in by_filter.items():
            yield answers.rows(
                keys[name],
                log.model,
                *((items, pairs) if reducer is None else _reduced(items, pairs, reducer)),
                higher=True if is_known else direction(metric),
                reported=mean,
                lacking=[lacking],
                is_limited=is_part and is_whole,
                settings=_settings(log.header),
            )


def _pairs(
    answers: Answers, items: Items, metric: str, numbers: Mapping[int, object]
) -> NDArray[np.float64]:
    """Return the numbers of a score as statistics of all answers, `(n, 2)`."""
    places = list(numbers)

    def where(i: int) -> str:
        return f"{answers.where}, {metric} of sample {shown(answers.ids[places[i]], 60)}"

    statistics = mean_rows(as_scores(list(numbers.values()), where))
    # A sample that was deliberately not scored does not count.
    statistics[[x is not None and x != x for x in numbers.values()]] = 0.0
    return answers.pairs(metric, items, statistics)


def _as_number(value: object) -> float | None:
    """Return a score as Inspect reads it, NaN if unscored, None if it is not a score."""
    if not isinstance(value, str):
        return value if isinstance(value, (bool, int, float)) else None
    named = GRADES.get(value, _BOOLEANS.get(value.lower()))
    if named is not None:
        return named
    with suppress(ValueError):
        return as_float if math.isfinite(as_float := float(value)) else None
    return None


def _views(
    log: _Stored, metric: str, n_epochs: int, reading: Reading
) -> tuple[dict[str, tuple[_Reducer | None, float | None]], bool]:
    """Return how a log reduces epochs, with its reported mean over items, by filter.

    As in ``{"pass_at_2": (..., 0.5)}``; the mean of epochs is None, with the filter "". If the log
    does not report this mean, it is available by the filter "mean". Unknown reducers are left out.
    The second value is whether the score is called accuracy.
    """
    views: dict[str, tuple[_Reducer | None, float | None]] = {}
    is_accuracy, scores = False, get(log.header, "results", "scores")
    for score in scores if isinstance(scores, list) else []:
        metrics, name, scorer = (get(score, key) for key in ("metrics", "name", "scorer"))
        whole = str(name) if scorer in (None, name) else f"{scorer}.{name}"
        if not isinstance(metrics, dict) or whole != metric:
            continue
        # If the package that defines it is not installed.
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
    """Return the reducer with this name, such as "pass_at_2", or None if it is unknown."""
    known: dict[object, _Reducer] = {"median": median, "mode": mode, "max": max}
    match = _COUNTING.fullmatch(str(name))
    if match is None:
        return known.get(name)
    kind, k = match[1], int(match[2])

    def counted(scores: list[float]) -> float:
        n, right = len(scores), sum(score >= 1 for score in scores)
        if kind == "at_least":
            return float(right >= k)
        if n < k:
            return math.nan
        is_all = kind == "pass_k"
        return math.comb(right, k) / math.comb(n, k) if is_all else float(pass_at_k(n, right, k)[0])

    return counted


def _reduced(
    items: Items, values: NDArray[np.float64], reducer: _Reducer
) -> tuple[Items, NDArray[np.float64]]:
    """Return items with one score each, from the scores of all answers, `(n, 2) -> (N, 2)`."""
    first = [i for i, name in enumerate(items.ids) if i == 0 or name != items.ids[i - 1]]
    rows = np.zeros((len(first), 2))
    for row, answers in zip(rows, np.split(values, first[1:]), strict=True):
        scores = answers[answers[:, 1] == 1, 0].tolist()
        score = reducer(scores) if scores else math.nan
        if score == score:
            row[:] = score, 1.0
        elif not scores and np.isnan(answers).any():
            row[:] = math.nan  # Otherwise, all of its answers were deliberately not scored.
    return items.at(first, are_alone=True), rows


def _settings(header: Any) -> dict[str, str]:
    """Return the settings of the task: version, dataset, arguments, solvers and their templates."""
    spec, steps = get(header, "eval"), get(header, "plan", "steps")
    passed = get(spec, "task_args_passed")
    version, dataset = get(spec, "task_version"), get(spec, "dataset", "name")
    arguments = get(spec, "task_args") if passed is None else passed
    known = settings_of(arguments, version=version, dataset=dataset)
    steps = [one for one in steps if isinstance(one, dict)] if isinstance(steps, list) else []
    if steps:
        known[f"{PROMPTS}.solvers"] = ", ".join(as_label(one.get("solver")) for one in steps)
    for step in steps:
        params = step.get("params")
        for name, text in params.items() if isinstance(params, dict) else ():
            if isinstance(text, str) and text.strip():
                known[f"{PROMPTS}.{as_label(step.get('solver'))} {name}"] = as_name(text)
    return known


def _inspect_answers(log: _Stored, reading: Reading) -> Answers:
    """Return the samples, with the values of every score: "match", or "judge.style"."""
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
        labels, texts = _said_of(sample)
        labels = reading.labels(sample, **labels)
        answers.add(i, name, labels, values, sample.get("epoch", 1), texts=texts)
    # If a score has several values, a single NaN stands for all of them.
    for scorer, whole in list(answers.values.items()):
        names = [name for name in answers.values if name.startswith(f"{scorer}.")]
        if names and all(value != value for value in whole.values()):
            del answers.values[scorer]
            for name in names:
                answers.values[name] |= whole
    return answers


def _said_of(sample: Any) -> tuple[dict[str, str], dict[str, str]]:
    """Return the hashes of a sample, and its texts, as `Items` has them."""
    question, targets = sample.get("input"), sample.get("target")
    targets = targets if isinstance(targets, list) else [targets]
    expected = [text for text in targets if isinstance(text, str)]
    # Hashes of the part that summaries of samples also contain.
    kept = [text[:_KEPT] for text in expected]
    prompt = [question[:_KEPT]] if isinstance(question, str) else []
    hashes = {ITEM: fingerprint(*prompt, *kept), TARGET: fingerprint(*kept) if any(kept) else ""}
    if isinstance(question, list):
        question = get(question[-1], "content") if question else ""
    said = [get(score, "answer") for score in (sample.get("scores") or {}).values()]
    said.append(get(sample, "output", "completion"))
    return hashes, {
        "question": question if isinstance(question, str) else "",
        "target": ", ".join(expected),
        "answer": next((one for one in said if isinstance(one, str) and one), ""),
        "prompt": fingerprint(*prompt),
    }


def _lacking(log: _Stored) -> str:
    """Return a line on problems of a log (status, samples, errors), or ""."""
    status, n_samples = log.header.get("status"), len(log.samples)
    why = [] if status == "success" else [f"the log's status is {shown(status, 60)}"]
    if log.header.get("invalidated"):
        why.append("the log was invalidated")
    total = get(log.header, "results", "total_samples")
    if total is not None and total != n_samples:
        why.append(f"the log reports {shown(total, 60)} samples, but has {n_samples:,}")
    errors = [error for sample in log.samples if not is_missing(error := sample.get("error"))]
    why.append(ended("samples", [get(error, "message") or error for error in errors]))
    return "; ".join(filter(None, why))


INSPECT = Format(
    "Inspect",
    ".eval .json",
    lambda source: source.suffix == ".eval" or isinstance(get(source.json, "eval", "task"), str),
    _inspect,
    _is_inspect,
    ("sample", "task"),
)
