"""lm-evaluation-harness: folders with `results_*.json` and `samples_*.jsonl`, one a model.

A run is a results file and the files of samples with the same time stamp beside it, one a task.
What the harness scores is in the samples, so that all scores are computed from them
(`lm_eval_samples`); the results file says how, and what came out.
"""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

from evalstats.errors import InputError
from evalstats.logs.formats.lm_eval_samples import Results, TaskSamples
from evalstats.logs.log import Log, Wanted, log_of
from evalstats.logs.rows import Key, Rows
from evalstats.logs.sources import Source, differing, json_lines, read_json

NAME = "lm-evaluation-harness"

_STAMP = r"_(?P<stamp>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?)"
_SAMPLES = re.compile(rf"samples_(.+){_STAMP}\.jsonl(?:\.gz)?", re.DOTALL)
#: With --output_path a.json, results are in a_<time stamp>.json.
_RESULTS = re.compile(rf".+{_STAMP}\.json", re.DOTALL)


class _Run(NamedTuple):
    """The files of one run: that of its results, None where there is none, and samples by task."""

    folder: Path
    results: Path | None
    samples: dict[str, Path]


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


def _is_results(path: Path) -> re.Match[str] | None:
    """Return the match of the name of a results file, whose group "stamp" is its time stamp."""
    return _RESULTS.fullmatch(path.name) if path.name.startswith("results_") else None


def read(source: Source, wanted: Wanted) -> Log:
    """Return the newest run of every model."""
    skipped: list[str] = []
    runs = _runs(source, skipped) if source.path.is_dir() else [_beside(source)]
    rows: list[Rows] = []
    groups: dict[str, tuple[str, ...]] = {}
    group_scores: dict[tuple[Key, str], float] = {}
    known = [Results(read_json(run.results) if run.results else {}) for run in runs]
    names = _names(runs, known)
    for i, (run, results) in enumerate(zip(runs, known, strict=True)):
        if run.results is None:
            lost = "no score is checked, and lines that are missing are not noticed"
            skipped.append(f"the results file of {names[i]}, which is not there: {lost}")
        opened = wanted.opened(results.groups)
        rows_of_run = _read(source, run, results, names[i], opened, skipped)
        rows += rows_of_run
        tasks = {one.key.task for one in rows_of_run}
        groups |= {group: of for group, of in results.groups.items() if not tasks.isdisjoint(of)}
        group_scores |= {(key, names[i]): x for key, x in results.group_scores().items()}
    return log_of(
        source.path, NAME, rows, skipped=skipped, groups=groups, group_scores=group_scores
    )


def _names(runs: list[_Run], known: list[Results]) -> list[str]:
    """Return the models of runs, those of one name called by what differs in their folders."""
    names = [results.model or run.folder.name for results, run in zip(known, runs, strict=True)]
    again = [i for i, name in enumerate(names) if names.count(name) > 1]
    if again:
        apart = differing([runs[i].folder.absolute().parts for i in again])
        for i, name in zip(again, apart, strict=True):
            names[i] = name or names[i]
    return names


def _read(
    source: Source, run: _Run, results: Results, model: str, wanted: Wanted, skipped: list[str]
) -> list[Rows]:
    """Return the rows of the tasks of one run that are wanted."""
    # In names of files, what is no letter, digit or _ may be a _.
    names = {re.sub(r"\W", "_", task): task for task in results.tasks}
    names |= {task: task for task in results.tasks}
    tasks = {names.get(name, name): path for name, path in run.samples.items()}
    for task in results.tasks if source.suffix != ".jsonl" else ():
        if task not in tasks and wanted.has_task(task):
            skipped.append(f"{task}: there is no file of its samples (--log_samples)")
    rows: list[Rows] = []
    for task, path in tasks.items():
        if wanted.has_task(task):
            samples = TaskSamples(task, results, wanted, str(path))
            for line, record in json_lines(path):
                samples.add(record, line)
            rows += samples.rows(model or str(source.path), skipped)
    return rows


def _beside(source: Source) -> _Run:
    """Return the run of one file: the file, and what has its time stamp in the same folder."""
    path = source.path
    of_task = _SAMPLES.fullmatch(path.name)
    match = of_task or _RESULTS.fullmatch(path.name)
    run = _of_stamp(path.parent, match["stamp"]) if match else _Run(path.parent, None, {})
    if source.suffix == ".jsonl":
        return run._replace(samples={of_task[1] if of_task else path.stem: path})
    return _with_samples(path, run._replace(results=path), [])


def _with_samples(path: Path, run: _Run, skipped: list[str]) -> _Run:
    """Return a run that has files of samples, or say how to write them and what was not read."""
    if not run.samples:
        raise InputError(
            f"{path} has no samples (samples_<task>_<time stamp>.jsonl) beside its results; "
            f"run lm_eval with --log_samples, or evaluate(..., log_samples=True)"
            + "".join(f"; not read: {text}" for text in skipped)
        )
    return run


def _of_stamp(folder: Path, stamp: str) -> _Run:
    """Return the files of one time stamp in a folder."""
    beside = sorted(p for p in folder.iterdir() if p.is_file())
    named = [(match, p) for p in beside if (match := _SAMPLES.fullmatch(p.name))]
    samples = {match[1]: p for match, p in named if match["stamp"] == stamp}
    named = [(match, p) for p in beside if (match := _RESULTS.fullmatch(p.name))]
    results = [p for match, p in named if match["stamp"] == stamp]
    return _Run(folder, results[0] if results else None, samples)


def _runs(source: Source, skipped: list[str]) -> list[_Run]:
    """Return the newest run of each model, in each folder; others are named in `skipped`."""
    stamps: dict[Path, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for path in source.files:
        match = _SAMPLES.fullmatch(path.name) or _is_results(path)
        if match:
            stamps[path.parent][match["stamp"]] += 1
    runs = []
    for folder, n_files in stamps.items():
        newest = max(n_files)
        chosen: dict[str, _Run] = {}
        left = []
        for stamp in sorted(n_files, reverse=True):
            run = _of_stamp(folder, stamp)
            model = Results(read_json(run.results)).model if run.results else ""
            # What was run at another time may be of other settings; another model is another.
            if not chosen or (model and "" not in chosen and model not in chosen and run.samples):
                chosen[model] = run
                continue
            older = f"{n_files[stamp]} files, which is older than that of {newest}"
            how = "to read it, give its results file or a file of its samples"
            left.append(f"the run of {stamp}, {older}; {how}")
        for run in chosen.values():
            if run.samples or len(stamps) == 1:
                runs.append(_with_samples(source.path, run, left[::-1]))
            else:
                skipped.append(f"{run.results}: there are no samples beside it (--log_samples)")
        skipped += left[::-1]
    return runs or [_with_samples(source.path, _Run(source.path, None, {}), skipped)]
