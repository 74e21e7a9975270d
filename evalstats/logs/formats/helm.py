"""HELM: `per_instance_stats.json`, with the `run_spec.json` and `stats.json` beside it.

HELM adds up what a metric found for every instance and divides by how often it found something;
of several train trials it takes the mean. What it derives from several instances (the worst of the
perturbations, perplexity, calibration) is not in the file.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from evalstats.errors import InputError
from evalstats.logs.log import Log, Wanted, log_of
from evalstats.logs.rows import Answers, Key, Rows, number
from evalstats.logs.settings import settings_of
from evalstats.logs.sources import Source, get, read_json, require
from evalstats.logs.words import direction
from evalstats.metrics import Mean

NAME = "HELM"

_FILE = "per_instance_stats.json"
#: What HELM counts beside the scores; read where a metric is asked for by name.
_HOUSEKEEPING = re.compile(
    r"num_.*|finish_reason_.*|training_.*_cost|inference_.*runtime.*|batch_size|prompt_truncated|"
    r"max_prob|logprob"
)
_LOWER_IS_BETTER = re.compile(r"inference_.*|training_.*|.*perplexity|toxic_frac|edit_distance")
#: The keys of a perturbation in `stats` that are not settings of it, such as its probability.
_PLAIN = ("name", "robustness", "fairness", "computed_on")


def is_ours(source: Source) -> bool:
    """Return whether a folder has statistics of instances, or a file looks like them."""
    if source.path.is_dir():
        return any(path.name == _FILE for path in source.files)
    if source.path.name == _FILE:
        return True
    first = source.json[0] if isinstance(source.json, list) and source.json else None
    return get(first, "instance_id") is not None and get(first, "stats") is not None


def read(source: Source, wanted: Wanted) -> Log:
    """Return the rows of each statistic, split and perturbation, of all models."""
    rows: list[Rows] = []
    skipped: list[str] = []
    for path in (p for p in source.files if source.path.is_file() or p.name == _FILE):
        spec = path.with_name("run_spec.json")
        content = read_json(spec) if spec.is_file() else None
        task, model = _names(path, content)
        if wanted.has_task(task):
            shots = get(content, "adapter_spec", "max_train_instances")
            rows_of_file = _rows(path, task, model, wanted, skipped)
            rows += [replace(one, settings=settings_of(shots=shots)) for one in rows_of_file]
    return log_of(source.path, NAME, rows, skipped=skipped)


def _names(path: Path, spec: Any) -> tuple[str, str]:
    """Return the task and the model, as of "mmlu:subject=law,model=gpt" in the file of the run.

    They are "mmlu:subject=law" and "gpt": the model is no setting of the task.
    """
    name = str(get(spec, "name") or path.resolve().parent.name)
    scenario, _, settings = name.partition(":")
    parts = [part for part in settings.split(",") if part]
    named = [part.partition("=")[2] for part in parts if part.startswith("model=")]
    model = str(get(spec, "adapter_spec", "model") or [*named, name][0])
    kept = [part for part in parts if not part.startswith(("model=", "model_deployment="))]
    return ":".join(filter(None, [scenario, ",".join(kept)])), model


def _rows(path: Path, task: str, model: str, wanted: Wanted, skipped: list[str]) -> Iterator[Rows]:
    """Yield the rows of one file by filter and metric; what is not read is added to `skipped`."""
    parts = defaultdict[str, Answers](lambda: Answers(str(path), "instance"))
    unasked: dict[str, None] = {}
    for i, record in enumerate(read_json(path)):
        where = f"{path}, instance {i}"
        name, trial = require(record, "instance_id", where=where), record.get("train_trial_index")
        # By filter and metric, what a metric added up for this instance, and how often.
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
        skipped.append(f"what HELM counts beside the scores: {', '.join(unasked)}")
    reported, sizes = _reported(path, task)
    for filter, answers in parts.items():
        items = answers.items()
        size, n = sizes.get(filter), len(set(items.ids))
        lacking = f"there were {size:g} instances, {n:,} are there" if size not in (None, n) else ""
        for metric, rows in answers.values.items():
            key, higher = Key(task, metric, filter), direction(metric)
            higher = False if _LOWER_IS_BETTER.fullmatch(metric) else higher
            yield Rows(
                key,
                model,
                Mean(metric, higher is not False),
                items,
                answers.pairs(metric, items, list(rows.values())),
                reported=reported.get(key),
                lacking=lacking,
                is_directed=higher is not None,
                path=str(path),
            )


def _key(stat: Any, task: str, where: str) -> Key:
    """Return the task, metric and filter of a statistic.

    The filter is its split and perturbation: "test, typos, prob=0.1".
    """
    name = require(stat, "name", "name", where=where)
    change = get(stat, "name", "perturbation")
    parts = [get(stat, "name", "split"), get(stat, "name", "sub_split"), get(change, "name")]
    if isinstance(change, Mapping):
        others = {key: value for key, value in change.items() if key not in _PLAIN}
        parts += [f"{key}={others[key]}" for key in sorted(others)]
        if change.get("computed_on") not in (None, "perturbed"):
            parts.append(change["computed_on"])
    return Key(task, name, ", ".join(str(part) for part in parts if part is not None))


def _reported(path: Path, task: str) -> tuple[dict[Key, float], dict[str, float]]:
    """Return the means that HELM states, by key, and the numbers of instances by filter."""
    beside = path.with_name("stats.json")
    means: dict[Key, float] = {}
    sizes: dict[str, float] = {}
    for i, stat in enumerate(read_json(beside) if beside.is_file() else []):
        where = f"{beside}, statistic {i}"
        key, mean = _key(stat, task, where), get(stat, "mean")
        if mean is not None:
            means[key] = number(mean, f"{where}, mean")
            if key.metric == "num_instances":
                sizes[key.filter] = means[key]
    return means, sizes
