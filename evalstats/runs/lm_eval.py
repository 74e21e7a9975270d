"""lm-evaluation-harness: the folder with `results_*.json` and `samples_*.jsonl`.

A run is a results file and the files of samples with the same time stamp beside it, one a task.
What the harness scores is in the samples, so that all scores are computed from them
(`harness_tasks`); the results file says how, and what came out.
"""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from typing import Any

from evalstats.checks import shown
from evalstats.errors import InputError
from evalstats.runs.harness_results import Results
from evalstats.runs.harness_tasks import HarnessTask
from evalstats.runs.items import Items
from evalstats.runs.run import Run, run_of
from evalstats.runs.sources import Source, json_lines, read_json
from evalstats.runs.wanted import Wanted

NAME = "lm-evaluation-harness"

_STAMP = r"_(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?)"
_SAMPLES = re.compile(rf"samples_(.+){_STAMP}\.jsonl(?:\.gz)?", re.DOTALL)
#: With --output_path a.json, results are in a_<time stamp>.json.
_RESULTS = re.compile(rf".+{_STAMP}\.json", re.DOTALL)


def is_ours(source: Source) -> bool:
    """Return whether a folder has files of results or samples, or one is such a file."""
    if source.path.is_dir():
        return any(_SAMPLES.fullmatch(p.name) or _is_results(p) for p in source.files)
    if source.suffix == ".jsonl":
        return "doc_id" in source.first and not {"metrics", "resps", "doc_hash"}.isdisjoint(
            source.first
        )
    record = source.json
    return (
        isinstance(record, dict)
        and isinstance(record.get("results"), dict)
        and not {"configs", "n-samples", "lm_eval_version", "n-shot"}.isdisjoint(record)
    )


def _is_results(path: Path) -> bool:
    return path.name.startswith("results_") and _RESULTS.fullmatch(path.name) is not None


def read(source: Source, wanted: Wanted) -> Run:
    """Return what is in it."""
    skipped: list[str] = []
    results_path, samples = _files(source, skipped)
    results = Results(read_json(results_path) if results_path else {})
    if results_path is None:
        skipped.append(
            "the results file of the same time stamp, which is not there: no score is checked, and "
            "lines that are missing are not noticed"
        )
    folder = (results_path or next(iter(samples.values()))).parent
    tasks = _named(samples, results, skipped)
    asked = {task: path for task, path in tasks.items() if wanted.has_task(task)}
    if not asked:
        there = ", ".join(map(shown, list(tasks)[:9]))
        raise InputError(
            f"{source.path} has no samples of {' '.join(wanted.tasks)}; it has {there}"
        )
    skipped += [
        f"{task}: there is no file of its samples (--log_samples)"
        for task in results.tasks
        if task not in tasks and wanted.has_task(task) and source.suffix != ".jsonl"
    ]
    name = results.model or folder.name or str(source.path)
    found: list[Items] = []
    n_items: dict[str, int] = {}
    for task, path in asked.items():
        read_task = HarnessTask(task, results, wanted, str(path))
        for line, record in json_lines(path):
            read_task.add(record, line)
        found += read_task.items(name, skipped)
        n_items[task] = read_task.n_items
    groups, odd = results.groups(found)
    skipped += odd
    return run_of(
        name,
        str(source.path),
        NAME,
        found,
        skipped=skipped,
        groups=groups,
        is_limited=results.is_limited(n_items),
    )


def _files(source: Source, skipped: list[str]) -> tuple[Path | None, dict[str, Path]]:
    """Return the results file, if there is one, and files of samples by the name in them."""
    if source.path.is_dir():
        folder, stamp = _newest(source, skipped)
    else:
        folder = source.path.parent
        match = _SAMPLES.fullmatch(source.path.name) or _RESULTS.fullmatch(source.path.name)
        stamp = match[match.lastindex or 0] if match else ""
    beside = sorted(p for p in folder.iterdir() if p.is_file()) if stamp else []
    samples = {
        match[1]: p for p in beside if (match := _SAMPLES.fullmatch(p.name)) and match[2] == stamp
    }
    all_results = [p for p in beside if (match := _RESULTS.fullmatch(p.name)) and match[1] == stamp]
    if source.suffix == ".json":
        all_results = [source.path]
    elif source.suffix == ".jsonl":
        match = _SAMPLES.fullmatch(source.path.name)
        samples = {match[1] if match else source.path.stem: source.path}
    if len(all_results) > 1:
        raise InputError(
            f"{folder} has several results files of {stamp}: "
            f"{', '.join(p.name for p in all_results)}; give one of them"
        )
    if not samples:
        raise InputError(
            f"{source.path} has no samples (samples_<task>_<time stamp>.jsonl) beside its results; "
            f"run lm_eval with --log_samples, or evaluate(..., log_samples=True)"
            + "".join(f"; not read: {text}" for text in skipped)
        )
    return (all_results[0] if all_results else None), samples


def _newest(source: Source, skipped: list[str]) -> tuple[Path, str]:
    """Return the one folder with a run, and the time stamp of its last."""
    stamps: dict[Path, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for path in source.files:
        match = _SAMPLES.fullmatch(path.name)
        if match or _is_results(path):
            match = match or _RESULTS.fullmatch(path.name)
            assert match is not None
            stamps[path.parent][match[match.lastindex or 0]].append(path.name)
    if len(stamps) > 1:
        folders = ", ".join(str(folder.relative_to(source.path)) for folder in list(stamps)[:9])
        raise InputError(
            f"{source.path} has runs in {len(stamps)} folders, one a model: {folders}; give one "
            f"of them"
        )
    ((folder, found),) = stamps.items()
    newest = max(found)
    for stamp in sorted(set(found) - {newest}):
        # What was run at another time may be of another model, or of other settings.
        skipped.append(
            f"the run of {stamp}, {len(found[stamp])} files, which is older than that of {newest}; "
            f"to read it, give its results file or a file of its samples"
        )
    return folder, newest


def _named(samples: dict[str, Path], results: Results, skipped: list[str]) -> dict[str, Path]:
    """Return files by task: in names of files, what is no letter, digit or _ may be a _."""
    names: dict[str, list[str]] = defaultdict(list)
    for task in results.tasks:
        for name in {task, re.sub(r"\W", "_", task)}:
            names[name].append(task)
    found: dict[str, Path] = {}
    for name, path in samples.items():
        tasks: list[Any] = names.get(name) or [name]
        if len(tasks) > 1:
            skipped.append(f"{path.name}, which may be of any of {', '.join(map(shown, tasks))}")
        else:
            found[tasks[0]] = path
    return found
