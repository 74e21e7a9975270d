"""HELM, Every Eval Ever and OpenAI evals.

HELM's `per_instance_stats.json` has `run_spec.json` and `stats.json` beside it. HELM adds up what a
metric found for every instance and divides by how often it found something; of several train trials
it takes the mean. What it derives from several instances (the worst of the perturbations,
perplexity, calibration) is not in the file.

Every Eval Ever has a line of JSON for one score of one sample (schema 0.2,
`instance_level_eval.schema.json`). The file beside, without "_samples" and with ".json", has the
direction of the scores, their means and the number of lines.

`oaieval` writes a line of JSON for what was run and one for each event. The events "match" and
"metrics" have scores of a sample; several of one kind are answers to it. A sample that has other
events only, such as an error, has no score. The final report may be anywhere below the first line,
since events are written in blocks.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from evalstats.checks import is_missing, shown
from evalstats.errors import InputError
from evalstats.logs.formats.format import (
    Format,
    Reading,
    arguments_of,
    beside,
    ended,
    fewer,
    first_of,
    has,
    rows_of,
    settings_of,
)
from evalstats.logs.rows import Answers, Key, Rows, direction, number
from evalstats.logs.sources import (
    Source,
    as_label,
    fingerprint,
    get,
    json_lines,
    require,
    require_text,
)

_HELM_FILE = "per_instance_stats.json"
#: What HELM counts beside the scores; read where a metric is asked for by name.
_HOUSEKEEPING = re.compile(
    r"num_.*|finish_reason_.*|training_.*_cost|inference_.*runtime.*|batch_size|prompt_truncated|"
    r"max_prob|logprob"
)
_LOWER_IS_BETTER = re.compile(r"inference_.*|training_.*|.*perplexity|toxic_frac|edit_distance")
#: The keys of a perturbation in `stats` that are not settings of it, such as its probability.
_PLAIN = ("name", "robustness", "fairness", "computed_on")


def _helm(reading: Reading) -> Iterator[Rows]:
    """Yield the rows of each statistic, split and perturbation, of all models."""
    for path in reading.files:
        spec = beside(path, "run_spec.json")
        # Of "mmlu:subject=law,model=gpt" the task is "mmlu:subject=law": the model is no setting.
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
            items = answers.items()
            size, n, lacking = means.get(Key(task, "num_instances", part)), len(set(items.ids)), []
            if size is not None and size != n:
                lacking = [f"there were {size:g} instances, {n:,} are there"]
            of_part = partial(rows_of, answers, lacking=lacking, settings=settings)
            for metric, rows in answers.values.items():
                key = Key(task, metric, part)
                values = answers.pairs(metric, items, list(rows.values()))
                higher = False if _LOWER_IS_BETTER.fullmatch(metric) else direction(metric)
                stated = means.get(key)
                yield of_part(key, model, items, values, higher=higher, reported=stated)


def _instances(path: Path, task: str, reading: Reading) -> dict[str, Answers]:
    """Return what metrics added up for each instance, and how often, by filter."""
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
                    raise InputError(f"{where} has {key} again; a log has each item once")
        for filter, of_filter in sums.items():
            parts[filter].add(i, name, {}, of_filter, trial or 0)
    if unasked:
        reading.skipped.append(f"what HELM counts beside the scores: {', '.join(unasked)}")
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
    """Return whether a file is called as HELM's, or has statistics of instances."""
    if source.path.name == _HELM_FILE:
        return True
    first = first_of(source.json)
    return get(first, "instance_id") is not None and get(first, "stats") is not None


def _every_eval_ever(reading: Reading) -> Iterator[Rows]:
    """Yield the scores of each evaluation, or of each of its results where it has several."""
    path, wanted = reading.source.path, reading.wanted
    # By model, task and id of the result.
    answers = defaultdict[tuple[str, str, str], Answers](lambda: Answers(str(path)))
    n_lines = 0
    for i, record in json_lines(path):
        where, n_lines = f"{path}, line {i}", n_lines + 1
        task = require_text(record, "evaluation_name", where=where)
        model = require_text(record, "model_id", where=where)
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
        of = (model, task, "" if result is None else str(result))
        answers[of].add(i, require_text(record, "sample_id", where=where), labels, values)
    name = path.name.removesuffix(".gz").removesuffix(".jsonl").removesuffix("_samples")
    whole = beside(path, f"{name}.json")
    lost = fewer("instances", get(whole, "detailed_evaluation_results", "total_rows"), n_lines)
    for (model, task, result), of_result in answers.items():
        about = _about(get(whole, "evaluation_results"), task, result)
        # The id of a result may name the run as well, so it is a name only where there are several.
        is_one_of = sum(other[:2] == (model, task) for other in answers) > 1
        metric = get(about, "metric_config", "metric_id") or result
        key = Key(task, "score", str(metric) if is_one_of else "")
        if not wanted.has(key):
            continue
        n = sum(not is_missing(error) for error in of_result.values["error"].values())
        lacking = [lost, f"{n:,} instances ended with an error" if n else ""]
        lower = get(about, "metric_config", "lower_is_better")
        higher = not lower if isinstance(lower, bool) else direction(task)
        are_right = of_result.values["is_correct"].values()
        if higher is None and all(isinstance(one, bool) for one in are_right):
            higher = True  # More is more correct.
        mean = get(about, "score_details", "score")
        yield rows_of(of_result, key, model, higher=higher, reported=mean, lacking=lacking)


def _about(results: Any, task: str, result: str) -> Any:
    """Return what the file beside says of a result, None where it could mean several."""
    stated = results if isinstance(results, list) else []
    of_task = [one for one in stated if get(one, "evaluation_name") == task]
    named = [one for one in of_task if result and get(one, "evaluation_result_id") == result]
    return (named or of_task)[0] if len(named or of_task) == 1 else None


@dataclass
class _Run:
    """What a file of `oaieval` says: how it was run, the final report, the events of each sample.

    `values` has the scores by sample and number of the answer: ``{("t.0", 1): {"accuracy": 1}}``.
    """

    spec: Any = None
    report: Any = None
    values: dict[tuple[str, int], dict[str, Any]] = field(default_factory=dict)
    asked: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    events: dict[str, dict[str, Any]] = field(default_factory=lambda: defaultdict(dict))
    errors: list[Any] = field(default_factory=list)


def _openai_run(path: Path) -> _Run:
    """Return what a file says."""
    run, counts = _Run(), Counter[tuple[str, str]]()
    for n, line in json_lines(path):
        where = f"{path}, line {n}"
        if "spec" in line:
            if run.spec is not None:
                raise InputError(f"{where}: another run begins; give each run a file")
            run.spec = line["spec"]
            continue
        if "final_report" in line:
            if run.report is not None:
                raise InputError(f"{where}: another final report; give each run a file")
            run.report = line["final_report"]
            continue
        sample, kind = (require_text(line, key, where=where) for key in ("sample_id", "type"))
        data: Any = line.get("data")
        run.events[sample][kind] = data
        if kind == "error":
            run.errors.append(get(data, "message") or data)
        elif kind == "raw_sample":
            run.asked[sample].add(as_label(data))
        counts[sample, kind] += 1
        place = sample, counts[sample, kind]
        if kind == "match":
            # As reports call the mean of matches, unless "metrics" have a number of that name.
            is_right = {"accuracy": require(data, "correct", where=f"{where}, data")}
            run.values[place] = is_right | run.values.get(place, {})
            run.asked[sample].add(as_label(get(data, "expected")))
        elif kind == "metrics":
            if not isinstance(data, dict):
                raise InputError(f"{where}: data must be an object, got {shown(data, 60)}")
            run.values[place] = run.values.get(place, {}) | data
    return run


def _is_run(source: Source) -> bool:
    """Return whether a file begins with what `oaieval` ran."""
    return get(source.first, "spec", "completion_fns") is not None


def _openai_evals(reading: Reading) -> Iterator[Rows]:
    """Yield the rows of each run by metric; what is no number is left out."""
    for path in reading.files:
        run = _openai_run(path)
        task = require_text(run.spec, "eval_name", where=f"{path}, spec")
        names = require(run.spec, "completion_fns", where=f"{path}, spec")
        system = ", ".join(map(str, names)) if isinstance(names, list) else str(names)
        answers = Answers(str(path), "sample")
        scored = {sample for sample, _ in run.values}
        places = [*run.values, *((sample, 1) for sample in run.events if sample not in scored)]
        for i, (sample, n) in enumerate(places):
            asked = fingerprint(*sorted(run.asked.get(sample, [])))
            labels = reading.labels(run.events[sample], sample_hash=asked)
            answers.add(i, sample, labels, run.values.get((sample, n), {}), n)
        items = answers.items()
        lacking = [ended("samples", run.errors)]
        if run.report is None:
            lacking.append("there is no final report, so that the run did not end")
        is_part = get(run.spec, "run_config", "max_samples") is not None and not any(lacking)
        settings = arguments_of(get(run.spec, "run_config", "eval_spec", "args"))
        of_run = partial(rows_of, answers, lacking=lacking, settings=settings)
        for metric, scores in answers.values.items():
            key = Key(task, metric)
            if not reading.wanted.has(key):
                continue
            numbers = (bool, int, float, type(None))
            other = next((x for x in scores.values() if not isinstance(x, numbers)), None)
            if other is not None:
                reading.skipped.append(f"{key}, since {shown(other, 60)} is no score")
                continue
            higher, stated = direction(metric), get(run.report, metric)
            is_limited = is_part and len(scores) == len(answers.ids) and None not in scores.values()
            yield of_run(key, system, items, higher=higher, reported=stated, is_limited=is_limited)


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
