"""tau-bench: trajectories of one agent, a JSON list with a trial of a task each.

A trial that ended with an exception has the reward 0 in the file. Here its reward is missing, and
the log says how many there are.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from evalstats.checks import is_missing
from evalstats.errors import InputError
from evalstats.logs.formats.lacking import ended, fewer
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
    require,
    without_suffix,
)
from evalstats.metrics import Mean

NAME = "tau-bench"

_KEY = Key("", "reward")
_KEYS = {"task_id", "reward", "info", "trial"}
#: How a file begins.
_TRIAL = re.compile(rb'\s*\[\s*\{\s*"task_id"\s*:\s*\d+\s*,\s*"reward"\s*:')
#: What tau-bench calls a file: agent, range of tasks (0 to -1 is all), user, time.
_NAME = re.compile(r"(.+)_range_(-?\d+)-(-?\d+)_user-(.+)_\d+")


def is_ours(source: Source) -> bool:
    """Return whether a file is a list of trials, or a folder has one."""
    if source.path.is_dir():
        return bool(json_files(source, _TRIAL))
    first = source.json[0] if isinstance(source.json, list) and source.json else None
    return isinstance(first, dict) and first.keys() >= _KEYS


def read(source: Source, wanted: Wanted) -> Log:
    """Return the rewards of all files; agents are called by what tau-bench calls their files."""
    paths = json_files(source, _TRIAL) if wanted.has(_KEY) else []
    names = {path: without_suffix(path) for path in paths}
    agents = {path: _agent(name) for path, name in names.items()}
    if len(set(agents.values())) == len(agents):
        names = agents
    return log_of(
        source.path,
        NAME,
        [_rows(path, source.at(path).json, names[path], wanted) for path in paths],
    )


def _agent(name: str) -> str:
    """Return the agent in the name of a file, less its suffix; any other name as it is."""
    match = _NAME.fullmatch(name)
    return match[1] if match else name


def _rows(path: Path, trials: Any, system: str, wanted: Wanted) -> Rows:
    """Return the rewards of one file."""
    answers = Answers(str(path), "trial")
    asked: dict[str, str] = {}
    for i, trial in enumerate(trials):
        item = str(require(trial, "task_id", where=f"{path}, trial {i}"))
        asked[item] = asked.get(item) or _asked(get(trial, "info", "task"))
    errors = []
    for i, trial in enumerate(trials):
        where = f"{path}, trial {i}"
        item, reward = str(trial["task_id"]), require(trial, "reward", where=where)
        error = get(trial, "info", "error")
        if not is_missing(error):
            errors.append(error)
            reward = None
        labels = {"task_hash": asked[item], **{wish: dotted(trial, wish) for wish in wanted.labels}}
        number = require(trial, "trial", where=where)
        if not isinstance(number, int):
            raise InputError(f"{where}: trial must be a whole number, got {number!r}")
        answers.add(i, item, labels, {"reward": reward}, number)
    items = answers.items()
    n_trials = len(set(answers.ids)) * len(set(answers.epochs))
    lacking = "; ".join(filter(None, [fewer("trials", n_trials, len(trials)), _ended(errors)]))
    match = _NAME.fullmatch(without_suffix(path))
    return Rows(
        _KEY,
        system,
        Mean("reward"),
        items,
        answers.means("reward", items),
        lacking=lacking,
        is_limited=match is not None and match.group(2, 3) != ("0", "-1") and not lacking,
        path=str(path),
        settings=arguments_of({"user": match[4]} if match else None),
    )


def _ended(errors: list[Any]) -> str:
    """Return a line on trials that ended with an error; empty where none did."""
    said = ended("trials", errors)
    return f"{said}, which tau-bench counts as failures" if said else ""


def _asked(task: Any) -> str:
    """Return a hash of what the user wants, and of the actions that are right; empty for none."""
    texts = [as_label(get(task, key)) for key in ("instruction", "actions", "outputs")]
    return fingerprint(*texts) if any(texts) else ""
