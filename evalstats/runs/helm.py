"""HELM: `per_instance_stats.json`, with the `run_spec.json` and `stats.json` beside it.

HELM adds up what a metric found for every instance and divides by how often it found something;
of several train trials it takes the mean. What it derives from several instances (the worst of the
perturbations, perplexity, calibration) is not in the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from evalstats.checks import shown
from evalstats.errors import InputError
from evalstats.runs.epochs import by_question
from evalstats.runs.items import Items, Key, number
from evalstats.runs.run import Run, run_of
from evalstats.runs.sources import Source, at, entry, read_json
from evalstats.runs.wanted import Wanted

NAME = "HELM"

_FILE = "per_instance_stats.json"
#: What HELM counts beside the scores; read where a metric is asked for by name.
_HOUSEKEEPING = re.compile(
    r"num_.*|finish_reason_.*|training_.*_cost|inference_.*runtime.*|batch_size|prompt_truncated|"
    r"max_prob|logprob"
)
_LOWER_IS_BETTER = re.compile(r"inference_.*|training_.*|.*perplexity|toxic_frac|edit_distance")
#: What of a perturbation is no setting.
_PLAIN = ("name", "robustness", "fairness", "computed_on")


def is_ours(source: Source) -> bool:
    """Return whether a folder has statistics of instances, or a file looks like them."""
    if source.path.is_dir():
        return any(path.name == _FILE for path in source.files)
    if source.path.name == _FILE:
        return True
    first = source.json[0] if isinstance(source.json, list) and source.json else None
    return at(first, "instance_id") is not None and at(first, "stats") is not None


def read(source: Source, wanted: Wanted) -> Run:
    """Return a table for each statistic, split and perturbation."""
    paths = [p for p in source.files if source.path.is_file() or p.name == _FILE]
    models: dict[str, Path] = {}
    items: list[Items] = []
    skipped: list[str] = []
    for path in paths:
        spec = read_json(path.with_name("run_spec.json")) if _has(path, "run_spec.json") else None
        task, model = _names(path, spec)
        models.setdefault(model, path)
        if wanted.has_task(task):
            items += _items(path, Key(task, ""), model, wanted, skipped)
    if len(models) > 1:
        raise InputError(
            f"{source.path} has runs of {len(models)} models, {', '.join(map(shown, models))}; "
            f"give the runs of one"
        )
    return run_of(next(iter(models)), str(source.path), NAME, items, skipped=skipped)


def _has(path: Path, name: str) -> bool:
    return path.with_name(name).is_file()


def _names(path: Path, spec: Any) -> tuple[str, str]:
    """Return the scenario, without the model among its settings, and the model."""
    name = at(spec, "name")
    name = name if isinstance(name, str) else path.resolve().parent.name
    scenario, _, settings = name.partition(":")
    parts = [part for part in settings.split(",") if part]
    model = at(spec, "adapter_spec", "model")
    if not isinstance(model, str):
        named = [part.partition("=")[2] for part in parts if part.startswith("model=")]
        model = named[0] if named else name
    kept = [part for part in parts if not part.startswith(("model=", "model_deployment="))]
    return ":".join(filter(None, [scenario, ",".join(kept)])), model


def _items(
    path: Path, task: Key, model: str, wanted: Wanted, skipped: list[str]
) -> Iterator[Items]:
    found: dict[Key, dict[tuple[str, int], tuple[float, float]]] = {}
    asked: dict[str, dict[tuple[str, int], None]] = {}
    unasked: dict[str, None] = {}
    records = read_json(path)
    if not isinstance(records, list):
        raise InputError(f"{path} must be a list of instances, got {shown(records, 60)}")
    for i, record in enumerate(records):
        where = f"{path}, instance {i}"
        name, trial = entry(record, "instance_id", where=where), record.get("train_trial_index", 0)
        if not isinstance(name, str) or not isinstance(trial, int):
            raise InputError(f"{where} must have a name and the number of its trial")
        for stat in _listed(entry(record, "stats", where=where), where):
            key = _key(stat, task, where)
            asked.setdefault(key.filter, {})[name, trial] = None
            if not wanted.metrics and _HOUSEKEEPING.fullmatch(key.metric):
                unasked[key.metric] = None
            elif wanted.has(key):
                total, count = (number(at(stat, n), f"{where}, {n}") for n in ("sum", "count"))
                row = (total, count)
                if found.setdefault(key, {}).setdefault((name, trial), row) is not row:
                    raise InputError(f"{where} has {key} again; a log has each item once")
    if unasked:
        skipped.append(f"what HELM counts beside the scores: {', '.join(unasked)}")
    stated, sizes = _stated(path, task, model)
    for key, given in found.items():
        answers = list(asked[key.filter])
        rows = np.array([given.get(answer, (np.nan, np.nan)) for answer in answers])
        if np.any(rows[:, 1] < 0):
            raise InputError(f"{path}, {key} has a negative count")
        if not np.any(rows[:, 1] > 0):
            skipped.append(f"{key}, which has no values")
            continue
        one, n_empty = by_question(
            key, model, answers, rows, labels={}, as_runs=wanted.as_runs,
            higher_is_better=not _LOWER_IS_BETTER.fullmatch(key.metric),
        )  # fmt: skip
        if n_empty:
            skipped.append(f"{n_empty:,} items of {key}, which have no value")
        size, n = sizes.get(key.filter), len({name for name, _ in answers})
        gone = f"there were {size:g} instances, {n:,} are there" if size not in (None, n) else ""
        why = "; ".join(filter(None, [gone, one.incomplete]))
        yield replace(one, logged=stated.get(key, {}), incomplete=why)


def _key(stat: Any, task: Key, where: str) -> Key:
    """Return what a statistic is about; split and perturbation are the filter."""
    name = entry(stat, "name", "name", where=where)
    change = at(stat, "name", "perturbation")
    parts = [at(stat, "name", "split"), at(stat, "name", "sub_split"), at(change, "name")]
    if isinstance(change, Mapping):
        others = {key: value for key, value in change.items() if key not in _PLAIN}
        parts += [f"{key}={others[key]}" for key in sorted(others)]
        if change.get("computed_on") not in (None, "perturbed"):
            parts.append(change["computed_on"])
    if not isinstance(name, str):
        raise InputError(f"{where}: the name of a statistic must be text, got {shown(name, 60)}")
    return Key(task.task, name, ", ".join(str(part) for part in parts if part is not None))


def _stated(
    path: Path, task: Key, model: str
) -> tuple[dict[Key, dict[str, float]], dict[str, float]]:
    """Return the means that HELM states, and the numbers of instances."""
    if not _has(path, "stats.json"):
        return {}, {}
    beside = path.with_name("stats.json")
    means: dict[Key, dict[str, float]] = {}
    sizes: dict[str, float] = {}
    for i, stat in enumerate(_listed(read_json(beside), str(beside))):
        where = f"{beside}, statistic {i}"
        key, mean = _key(stat, task, where), at(stat, "mean")
        if mean is not None:
            means[key] = {model: number(mean, f"{where}, mean")}
            if key.metric == "num_instances":
                sizes[key.filter] = means[key][model]
    return means, sizes


def _listed(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise InputError(f"{where}: statistics must be a list, got {shown(value, 60)}")
    return value
