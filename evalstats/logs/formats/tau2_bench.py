"""tau2-bench: results of one agent, whose simulations are in the file or in a folder beside it.

Simulations that tau2-bench itself does not evaluate (`NON_EVALUABLE_TERMINATION_REASONS`), that
ended with an exception or have no reward are missing, and the log says how many there are.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from evalstats.errors import InputError
from evalstats.logs.formats.lacking import fewer, unscored
from evalstats.logs.log import Log, Wanted, log_of
from evalstats.logs.rows import Answers, Key, Rows
from evalstats.logs.settings import arguments_of
from evalstats.logs.sources import (
    Source,
    as_label,
    dotted,
    fingerprint,
    get,
    json_files,
    read_json,
    require,
)
from evalstats.metrics import Mean

NAME = "tau2-bench"

_METRIC = "reward"
#: How a file begins.
_RESULTS = re.compile(rb'\s*\{\s*"timestamp"\s*:[^,{]*,\s*"info"\s*:\s*\{\s*"git_commit"')
#: Ends after which there is nothing to evaluate.
_UNSCORED = ("infrastructure_error", "context_window_exceeded", "unexpected_error")


def is_ours(source: Source) -> bool:
    """Return whether a file has results, or a folder has such a file."""
    if source.path.is_dir():
        return bool(json_files(source, _RESULTS))
    about = get(source.json, "info")
    return get(about, "agent_info") is not None and get(about, "environment_info") is not None


def read(source: Source, wanted: Wanted) -> Log:
    """Return the rewards of all files, of each model and domain."""
    paths = json_files(source, _RESULTS)
    found = (_rows(path, source.at(path).json, wanted) for path in paths)
    return log_of(source.path, NAME, [one for one in found if one is not None])


def _rows(path: Path, results: Any, wanted: Wanted) -> Rows | None:
    """Return the rewards of one file, None where its domain is not wanted."""
    where = str(path)
    about = require(results, "info", where=where)
    key = Key(str(require(about, "environment_info", "domain_name", where=where)), _METRIC)
    if not wanted.has(key):
        return None
    tasks = {str(task["id"]): task for task in results.get("tasks") or []}
    simulations = _simulations(path, results)
    answers = Answers(where, "simulation")
    reasons = []
    for i, one in enumerate(simulations):
        item = str(require(one, "task_id", where=f"{where}, simulation {i}"))
        trial, ending = one.get("trial") or 0, one.get("termination_reason")
        if not isinstance(trial, int):
            raise InputError(f"{where}, simulation {i}: trial must be a number, got {trial!r}")
        reward = get(one, "reward_info", "reward") if "reward_info" in one else one.get("reward")
        if reward is None or ending in _UNSCORED:
            reward = None
            reasons.append(str(ending))
        labels = {"task_hash": _asked(tasks.get(item))}
        labels |= {w: dotted({**one, "task": tasks.get(item)}, w) for w in wanted.labels}
        answers.add(i, item, labels, {_METRIC: reward}, trial)
    items = answers.items()
    n_trials = get(about, "num_trials")
    n_whole = n_trials * len(tasks) if isinstance(n_trials, int) and tasks else None
    lacking = [fewer("simulations", n_whole, len(simulations)), unscored("simulations", reasons)]
    return Rows(
        key,
        _agent(about, where),
        Mean(_METRIC),
        items,
        answers.means(_METRIC, items),
        lacking="; ".join(filter(None, lacking)),
        path=where,
        settings=arguments_of({"user": get(about, "user_info", "llm")}),
    )


def _agent(about: Any, where: str) -> str:
    """Return the model of the agent, or what the agent is called where it has none."""
    model = get(about, "agent_info", "llm") or get(about, "audio_native_config", "model")
    return str(model or require(about, "agent_info", "implementation", where=where))


def _simulations(path: Path, results: Any) -> list[Any]:
    """Return the simulations of a file, or where these are in a folder the entries of its index."""
    inside = results.get("simulations") or results.get("simulation_index")
    if not inside:
        files = sorted((path.parent / "simulations").glob("*.json"))
        inside = [read_json(file) for file in files]
    if not isinstance(inside, list) or not inside:
        raise InputError(f"{path} has no simulations, nor has a folder 'simulations' beside it")
    return inside


def _asked(task: Any) -> str:
    """Return a hash of what the user wants and of what is right; empty where that is not there."""
    texts = [as_label(get(task, key)) for key in ("user_scenario", "evaluation_criteria")]
    return fingerprint(*texts) if any(texts) else ""
