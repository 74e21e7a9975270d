"""How tasks were asked: versions, shots, datasets, prompts, and what differs between systems."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import Any, NamedTuple

import numpy as np

from evalstats.checks import shown
from evalstats.errors import Argument, InputError
from evalstats.logs.log import Patterns, as_patterns
from evalstats.logs.pivot import Answered, items_of
from evalstats.logs.words import first_few, matches

#: What a log says of how a task was asked, with how a value is written.
_WRITTEN = {"shots": "{}-shot", "version": "version {}", "dataset": "dataset {}"}
_ARGUMENT, _PROMPTS = "arguments", "prompts"
#: What `allow_changes` takes, beside patterns of these.
CHANGES = (*_WRITTEN, _ARGUMENT, _PROMPTS)
#: The value of an argument that a task was not given.
_DEFAULT = "its default"


class _Changes(NamedTuple):
    """What differs between systems on one task.

    `lines` has a phrase for each setting, ``{"version": "version 1 (A) against 2 (B)"}``; of
    `n_items` `n_prompts` were asked with other prompts.
    """

    task: str
    lines: Mapping[str, str]
    n_prompts: int
    n_items: int


def settings_of(**values: object) -> dict[str, str]:
    """Return settings as text, without those that are not known: ``{"version": "1.0"}``.

    A dataset that is a path says where it was on one machine, and not what it is.
    """
    known = {
        name: f"{value:g}" if isinstance(value, float) else str(value)
        for name, value in values.items()
        if value not in (None, "", "N/A")
    }
    if PurePath(known.get("dataset", "")).is_absolute():
        del known["dataset"]
    return known


def arguments_of(arguments: object) -> dict[str, str]:
    """Return arguments of a task as settings: of ``{"cot": 1}``, ``{"arguments.cot": "1"}``."""
    if not isinstance(arguments, Mapping):
        return {}
    return {
        f"{_ARGUMENT}.{name}": shown(arguments[name], 60) for name in sorted(arguments, key=str)
    }


def allowed_changes(given: Patterns) -> tuple[str, ...]:
    """Return the kinds of changes that a caller allows, which are named or matched by patterns."""
    patterns = as_patterns(given, "allow_changes")
    for pattern in patterns:
        if not any(matches(kind, [pattern]) for kind in CHANGES):
            raise InputError(
                f"must be of {', '.join(CHANGES)}, or '*'; got {pattern!r}",
                argument="allow_changes",
            )
    return tuple(kind for kind in CHANGES if matches(kind, patterns))


def told_changes(
    asked: Iterable[tuple[str, Sequence[Answered]]], allowed: Sequence[str]
) -> list[str]:
    """Return a note on tasks that were not asked alike, or refuse what is not `allowed`.

    Of each task its name and what each system answered.
    """
    by_task: dict[str, _Changes] = {}
    for task, parts in asked:
        # All metrics of a task are of the same answers.
        if task not in by_task:
            by_task[task] = _changes(task, parts)
    changed = [one for one in by_task.values() if one.lines or one.n_prompts]
    if not changed:
        return []
    text = first_few([_said(alike) for alike in _alike(changed)])
    kinds = [kind for kind in CHANGES if any(_has(one, kind) for one in changed)]
    refused = [kind for kind in kinds if kind not in allowed]
    if refused:
        raise InputError(
            f"the systems were not asked alike: {text}; run them alike, or accept it with ",
            Argument("allow_changes", kinds),
        )
    return [f"Not asked alike, so that more than the systems differs: {text}."]


def _has(changes: _Changes, kind: str) -> bool:
    """Return whether something of a kind differs."""
    if kind == _PROMPTS:
        return changes.n_prompts > 0
    return any(name.partition(".")[0] == kind for name in changes.lines)


def _changes(task: str, parts: Sequence[Answered]) -> _Changes:
    """Return what differs between the systems of one task."""
    settings = [(part.rows.system, part.rows.settings) for part in parts]
    names = dict.fromkeys(name for _, known in settings for name in known)
    arguments = {name: f"{name.partition('.')[2]} {{}}" for name in names if name not in _WRITTEN}
    lines: dict[str, str] = {}
    first: list[list[str]] = []
    for name, written in {**_WRITTEN, **arguments}.items():
        by_value: dict[str, list[str]] = {}
        for system, known in settings:
            value = known.get(name, _DEFAULT if name in arguments else "")
            if value:
                by_value.setdefault(value, []).append(system)
        if len(by_value) > 1:
            systems = list(by_value.values())
            # Who is meant is said once where all settings divide the systems alike.
            lines[name] = _against(written, by_value, is_named=systems != first)
            first = first or systems
    return _Changes(task, lines, *_other_prompts(parts))


def _against(written: str, by_value: Mapping[str, Sequence[str]], is_named: bool) -> str:
    """Return "version 1 (A) against 2 (B, C)", with the systems in brackets where it is asked."""
    values = [written.format(value) for value in by_value]
    word, _, _ = written.partition("{}")
    values[1:] = [value.removeprefix(word) for value in values[1:]]
    if is_named:
        systems = (first_few(names, ", ") for names in by_value.values())
        values = [f"{value} ({who})" for value, who in zip(values, systems, strict=True)]
    return " against ".join(values)


def _other_prompts(parts: Sequence[Answered]) -> tuple[int, int]:
    """Return how many items two systems were asked with other prompts, and how many items both."""
    parts = [part for part in parts if part.prompts]
    if len(parts) < 2:
        return 0, 0
    ids, places = items_of(parts)
    first = np.full(len(ids), "", dtype=object)
    shared, others = np.zeros((2, len(ids)), dtype=np.bool_)
    for part, of_part in zip(parts, places, strict=True):
        prompts = np.full(len(ids), "", dtype=object)
        prompts[of_part] = part.prompts
        both = (first != "") & (prompts != "")
        shared |= both
        others |= both & (prompts != first)
        first = np.where(first == "", prompts, first)
    return int(np.sum(others)), int(np.sum(shared))


def _alike(changes: Sequence[_Changes]) -> list[list[_Changes]]:
    """Return tasks by what differs on them."""
    by_change: dict[Any, list[_Changes]] = {}
    for one in changes:
        by_change.setdefault((*one.lines.items(), one.n_prompts > 0), []).append(one)
    return list(by_change.values())


def _said(alike: Sequence[_Changes]) -> str:
    """Return a line on what differs between systems, for tasks on which the same differs.

    As in "law, history: 0-shot (A) against 5-shot (B), 20 of 20 prompts differ".
    """
    lines = list(alike[0].lines.values())
    if alike[0].n_prompts:
        n_prompts, n_items = sum(one.n_prompts for one in alike), sum(one.n_items for one in alike)
        lines.append(f"{n_prompts:,} of {n_items:,} prompts differ")
    tasks = first_few([one.task for one in alike if one.task], ", ")
    return f"{tasks}: {', '.join(lines)}" if tasks else ", ".join(lines)
