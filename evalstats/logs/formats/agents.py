"""Agents: tau-bench, tau2-bench and SWE-bench, of which a file has one agent, or a folder several.

What ended with an error counts as the benchmark counts it, and the log says how much that is: such
a trial of tau-bench has the reward 0, and an instance of SWE-bench is not resolved. What tau2-bench
does not evaluate is missing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evalstats.checks import is_missing, label, shown
from evalstats.errors import InputError
from evalstats.logs.formats.format import (
    Format,
    Reading,
    begins,
    ended,
    fewer,
    first_of,
    has,
    rows_of,
)
from evalstats.logs.rows import Answers, Key, Rows, is_finite
from evalstats.logs.settings import arguments_of
from evalstats.logs.sources import as_label, fingerprint, get, read_json, require, without_suffix

#: How files begin.
_TRIALS = re.compile(rb'\s*\[\s*\{\s*"task_id"\s*:\s*\d+\s*,\s*"reward"\s*:')
_RESULTS = re.compile(rb'\s*\{\s*"timestamp"\s*:[^,{]*,\s*"info"\s*:\s*\{\s*"git_commit"')
_REPORT = re.compile(rb'\s*\{\s*"total_instances"\s*:')
#: What tau-bench calls a file: agent, range of tasks (0 to -1 is all), user, time.
_NAME = re.compile(r"(.+)_range_(-?\d+)-(-?\d+)_user-(.+)_\d+")
#: What published files are called, by the domain of their tasks: gpt-4o-airline, or airline.
_DOMAIN = re.compile(r"(?:(.+)[-_])?(airline|retail|telecom)", re.IGNORECASE)
#: What tau2-bench says of a run: which agent was in which environment.
_TAU2_INFO = ("agent_info", "environment_info")
#: Ends after which tau2-bench evaluates nothing (`NON_EVALUABLE_TERMINATION_REASONS`).
_UNSCORED = ("infrastructure_error", "context_window_exceeded", "unexpected_error")
#: SWE-bench's lists of instances, with the score of those in it, or what is said of those without.
#: What is in a later list counts.
_LISTS: dict[str, float | str] = {
    "submitted_ids": "have no verdict",
    "resolved_ids": 1.0,
    "unresolved_ids": 0.0,
    "empty_patch_ids": 0.0,
    "error_ids": "ended with an error",
    "infra_failure_ids": "failed for want of the machine",
    "failed_ids": "failed to run",
    "pending_ids": "are pending",
    "incomplete_ids": "were not run",
}


def _asked(task: Any, *keys: str) -> str:
    """Return a hash of what a user wants and of what is right; empty where that is not there."""
    texts = [as_label(get(task, key)) for key in keys]
    return fingerprint(*texts) if any(texts) else ""


def _tau_bench(reading: Reading) -> Iterator[Rows]:
    """Yield the rewards of each file; agents are called by what tau-bench calls their files.

    Only the name of a file says the domain, which is the task. The agent of ``airline.json`` is
    called after the folder.
    """
    named: dict[Path, tuple[str, str]] = {}
    for path in reading.files:
        name = without_suffix(path)
        match = _DOMAIN.fullmatch(name)
        agent = (match[1] or path.absolute().parent.name or name) if match else name
        named[path] = (match[2].lower() if match else "", agent)
    parts = {path: _NAME.fullmatch(agent) for path, (_, agent) in named.items()}
    short = {path: (named[path][0], of[1]) if of else named[path] for path, of in parts.items()}
    if len(set(short.values())) == len(short):
        named = short
    for path, match in parts.items():
        key = Key(named[path][0], "reward")
        if not reading.wanted.has(key):
            continue
        trials, answers, asked = reading.json(path), Answers(str(path), "trial"), dict[str, str]()
        for i, trial in enumerate(trials):
            item = str(require(trial, "task_id", where=f"{path}, trial {i}"))
            task = get(trial, "info", "task")
            asked[item] = asked.get(item) or _asked(task, "instruction", "actions", "outputs")
        errors = []
        for i, trial in enumerate(trials):
            where, item = f"{path}, trial {i}", str(trial["task_id"])
            reward, error = require(trial, "reward", where=where), get(trial, "info", "error")
            is_gone = not is_missing(error)
            if is_gone:
                errors.append(error)
            labels = reading.labels(trial, task_hash=asked[item])
            number = require(trial, "trial", where=where)
            if not isinstance(number, int):
                raise InputError(f"{where}: trial must be a whole number, got {number!r}")
            value = None if is_gone else reward
            answers.add(i, item, labels, {key.metric: value}, number)
        n_whole = len(set(answers.ids)) * len(set(answers.epochs))
        lacking = [fewer("trials", n_whole, len(trials))]
        is_part = match is not None and match.group(2, 3) != ("0", "-1") and not any(lacking)
        settings = arguments_of({"user": match[4]} if match else None)
        yield rows_of(
            answers,
            key,
            named[path][1],
            lacking=lacking,
            failed=ended("trials", errors, len(trials)),
            is_limited=is_part,
            settings=settings,
        )


def _tau2_bench(reading: Reading) -> Iterator[Rows]:
    """Yield the rewards of each file: those of one agent in one domain."""
    for path in reading.files:
        where, results = str(path), reading.json(path)
        about = require(results, "info", where=where)
        key = Key(str(require(about, "environment_info", "domain_name", where=where)), "reward")
        if not reading.wanted.has(key):
            continue
        tasks = {str(task["id"]): task for task in results.get("tasks") or []}
        simulations = results.get("simulations") or results.get("simulation_index")
        if not simulations:
            beside = sorted((path.parent / "simulations").glob("*.json"))
            simulations = [read_json(file) for file in beside]
        if not isinstance(simulations, list) or not simulations:
            raise InputError(f"{path} has no simulations, nor has a folder 'simulations' beside it")
        answers, reasons = Answers(where, "simulation"), Counter[str]()
        for i, one in enumerate(simulations):
            item = str(require(one, "task_id", where=f"{where}, simulation {i}"))
            trial, ending = one.get("trial") or 0, one.get("termination_reason")
            if not isinstance(trial, int):
                raise InputError(f"{where}, simulation {i}: trial must be a number, got {trial!r}")
            reward = (
                get(one, "reward_info", "reward") if "reward_info" in one else one.get("reward")
            )
            if reward is None or ending in _UNSCORED:
                reward = None
                reasons[str(ending)] += 1
            task = tasks.get(item)
            hashed = _asked(task, "user_scenario", "evaluation_criteria")
            labels = reading.labels({**one, "task": task}, task_hash=hashed)
            answers.add(i, item, labels, {key.metric: reward}, trial)
        items, n_trials = answers.items(), get(about, "num_trials")
        n_whole = n_trials * len(tasks) if isinstance(n_trials, int) and tasks else None
        lacking = [fewer("simulations", n_whole, len(simulations))]
        if n := sum(reasons.values()):
            counts = ", ".join(f"{count:,} {reason}" for reason, count in reasons.most_common())
            were = f"{n:,} simulations were" if n > 1 else "1 simulation was"
            lacking.append(f"{were} not evaluated ({counts})")
        agent = get(about, "agent_info", "llm") or get(about, "audio_native_config", "model")
        agent = str(agent or require(about, "agent_info", "implementation", where=where))
        settings = arguments_of({"user": get(about, "user_info", "llm")})
        yield rows_of(answers, key, agent, items, lacking=lacking, settings=settings)


def _swe_bench(reading: Reading) -> Iterator[Rows]:
    """Yield whether instances were resolved, of each report ``MODEL.RUN.json``, called as it is."""
    key = Key("", "resolved")
    for path in reading.files if reading.wanted.has(key) else ():
        report, answers = reading.json(path), Answers(str(path), "instance")
        endings = _endings(report, path)
        if not endings:
            raise InputError(f"{path} names no instances")
        for i, (item, ending) in enumerate(endings.items()):
            # "django__django-11099" is of the repository django/django.
            labels = {"repo": item.rpartition("-")[0].replace("__", "/")}
            score = _LISTS[ending]
            answers.add(i, item, labels, {key.metric: None if isinstance(score, str) else score})
        counts = Counter(endings.values())
        named = [(counts[name], what) for name, what in _LISTS.items() if isinstance(what, str)]
        failed = ", ".join(f"{n:,} {what}" for n, what in named if n)
        if failed:
            failed = f"of {len(endings):,} instances {failed}"
        total, n_resolved = report["total_instances"], report.get("resolved_instances")
        is_stated = is_finite(total) and is_finite(n_resolved) and total > 0
        rate = n_resolved / total if is_stated else None
        lacking = [fewer("instances", total, len(endings))]
        system = without_suffix(path)
        yield rows_of(answers, key, system, reported=rate, lacking=lacking, failed=failed)


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


TAU_BENCH = Format(
    "tau-bench",
    ".json",
    lambda source: has(first_of(source.json), "task_id", "reward", "info", "trial"),
    _tau_bench,
    lambda path: begins(path, _TRIALS),
    ("task", "domain"),
)
TAU2_BENCH = Format(
    "tau2-bench",
    ".json",
    lambda source: all(get(source.json, "info", of) is not None for of in _TAU2_INFO),
    _tau2_bench,
    lambda path: begins(path, _RESULTS),
    ("task", "domain"),
)
SWE_BENCH = Format(
    "SWE-bench",
    ".json",
    lambda source: has(source.json, "resolved_ids", "total_instances"),
    _swe_bench,
    lambda path: begins(path, _REPORT),
    ("instance", "task"),
)
