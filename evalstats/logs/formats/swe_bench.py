"""SWE-bench: the report of a run, ``MODEL.RUN.json``, which lists instances by how they ended.

Instances with an empty patch were not resolved. Those that ended with an error or for want of the
machine, and those that were not run, are missing; SWE-bench counts them as not resolved.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from evalstats.checks import label, shown
from evalstats.errors import InputError
from evalstats.logs.formats.lacking import fewer
from evalstats.logs.log import Log, Wanted, log_of
from evalstats.logs.rows import Answers, Key, Rows, is_finite
from evalstats.logs.sources import Source, json_files, without_suffix
from evalstats.metrics import Mean

NAME = "SWE-bench"

_KEY = Key("", "resolved")
#: How a report begins.
_REPORT = re.compile(rb'\s*\{\s*"total_instances"\s*:')
#: Lists of instances, and the score of those in it. What is in a later list counts.
_LISTS = {
    "submitted_ids": None,
    "resolved_ids": 1.0,
    "unresolved_ids": 0.0,
    "empty_patch_ids": 0.0,
    "error_ids": None,
    "infra_failure_ids": None,
    "failed_ids": None,
    "pending_ids": None,
    "incomplete_ids": None,
}
#: What is said of those without a score.
_ENDINGS = {
    "submitted_ids": "have no verdict",
    "error_ids": "ended with an error",
    "infra_failure_ids": "failed for want of the machine",
    "failed_ids": "failed to run",
    "pending_ids": "are pending",
    "incomplete_ids": "were not run",
}


def is_ours(source: Source) -> bool:
    """Return whether a file is a report, or a folder has one."""
    if source.path.is_dir():
        return bool(json_files(source, _REPORT))
    report = source.json
    return isinstance(report, dict) and {"resolved_ids", "total_instances"} <= report.keys()


def read(source: Source, wanted: Wanted) -> Log:
    """Return whether instances were resolved, by run; the run is called as its file."""
    paths = json_files(source, _REPORT) if wanted.has(_KEY) else []
    return log_of(source.path, NAME, [_rows(path, source.at(path).json) for path in paths])


def _rows(path: Path, report: Any) -> Rows:
    """Return the verdicts of one report."""
    endings = _endings(report, path)
    answers = Answers(str(path), "instance")
    for i, (item, ending) in enumerate(endings.items()):
        # "django__django-11099" is of the repository django/django.
        labels = {"repo": item.rpartition("-")[0].replace("__", "/")}
        answers.add(i, item, labels, {"resolved": _LISTS[ending]})
    items = answers.items()
    total, n_resolved = report["total_instances"], report.get("resolved_instances")
    counts = {name: sum(ending == name for ending in endings.values()) for name in _ENDINGS}
    lacking = [f"{counts[name]:,} {what}" for name, what in _ENDINGS.items() if counts[name]]
    if lacking:
        lacking[-1] += ", which SWE-bench counts as not resolved"
    lacking.insert(0, fewer("instances", total, len(endings)))
    is_stated = is_finite(total) and is_finite(n_resolved) and total > 0
    return Rows(
        _KEY,
        without_suffix(path),
        Mean("resolved"),
        items,
        answers.means("resolved", items),
        reported=n_resolved / total if is_stated else None,
        lacking="; ".join(filter(None, lacking)),
        path=str(path),
    )


def _endings(report: Any, path: Path) -> dict[str, str]:
    """Return the list in which each instance is, as of ``{"django__django-1": "error_ids"}``."""
    endings: dict[str, str] = {}
    for name in _LISTS:
        ids = report.get(name) or []
        if not isinstance(ids, list):
            raise InputError(f"{path}: {name} must be a list of instances, got {shown(ids, 60)}")
        if len(set(map(str, ids))) < len(ids):
            twice = next(item for i, item in enumerate(ids) if item in ids[:i])
            raise InputError(f"{path} has {shown(twice, 60)} twice in {name}")
        for item in ids:
            if name == "unresolved_ids" and endings.get(item) == "resolved_ids":
                raise InputError(f"{path}: {shown(item, 60)} is in resolved_ids and unresolved_ids")
            endings[label(item, f"{name} of {path}")] = name
    return endings
