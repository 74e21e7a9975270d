"""How tasks were asked: versions, shots, datasets, prompts, and what differs between systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import NamedTuple

import numpy as np

from evalstats.checks import shown
from evalstats.errors import Argument, InputError
from evalstats.logs.log import Patterns, as_patterns
from evalstats.logs.pivot import ItemScores, Pivot, items_of
from evalstats.logs.rows import Key
from evalstats.logs.words import matches
from evalstats.results.records import BARRING, Caution, first_few

#: What a log says of how a task was asked, with how a value is written.
_WRITTEN = {"shots": "{}-shot", "version": "version {}", "dataset": "dataset {}"}
_ARGUMENT, _PROMPTS = "arguments", "prompts"
#: What `allow_changes` takes, beside patterns of these: what differs in how systems were asked, and
#: cautions without which a gate may pass.
CHANGES = (*_WRITTEN, _ARGUMENT, _PROMPTS, *BARRING)
#: The value of an argument that a task was not given.
_DEFAULT = "its default"


class _Changes(NamedTuple):
    """What differs between systems on one task.

    `phrases` has one for each setting, ``{"version": "version 1 (A) against 2 (B)"}``; of `n_items`
    `n_prompts` were asked with other prompts.
    """

    task: str
    phrases: Mapping[str, str]
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


def change_notes(pivots: Sequence[Mapping[Key, Pivot]], allowed: Sequence[str]) -> list[str]:
    """Return a note on tasks that were not asked alike, or refuse what is not `allowed`.

    As in "law, history: 0-shot (A) against 5-shot (B), 20 of 20 prompts differ". Pivots are those
    of all systems, or unpaired of each alone.
    """
    by_task: dict[str, _Changes] = {}
    for key in pivots[0]:
        parts = [part for of in pivots for part in of[key].parts]
        if len(pivots) > 1:
            # Systems that are not paired were asked others, whatever their items are called.
            parts = [part._replace(prompts=()) for part in parts]
        # All metrics of a task are of the same answers.
        if key.task not in by_task:
            by_task[key.task] = _changes(key.task, parts)
    by_change: dict[tuple[object, ...], list[_Changes]] = {}
    for one in by_task.values():
        if one.phrases or one.n_prompts:
            by_change.setdefault((*one.phrases.items(), one.n_prompts > 0), []).append(one)
    if not by_change:
        return []
    lines, changed = [], set()
    for alike in by_change.values():
        changed |= {name.partition(".")[0] for name in alike[0].phrases}
        phrases = list(alike[0].phrases.values())
        if alike[0].n_prompts:
            changed.add(_PROMPTS)
            n_prompts = sum(one.n_prompts for one in alike)
            phrases.append(f"{n_prompts:,} of {sum(one.n_items for one in alike):,} prompts differ")
        tasks = first_few([one.task for one in alike if one.task], ", ")
        lines.append(f"{tasks}: {', '.join(phrases)}" if tasks else ", ".join(phrases))
    kinds = [kind for kind in CHANGES if kind in changed]
    refused = [kind for kind in kinds if kind not in allowed]
    if refused:
        raise InputError(
            f"the systems were not asked alike: {first_few(lines)}; run them alike, or accept it "
            f"with ",
            Argument("allow_changes", kinds),
        )
    said = f"The systems were not asked alike, which may explain a difference: {first_few(lines)}."
    return [Caution(said, "changes")]


def _changes(task: str, parts: Sequence[ItemScores]) -> _Changes:
    """Return what differs between the systems of one task."""
    settings = [(part.rows.system, part.rows.settings) for part in parts]
    names = dict.fromkeys(name for _, known in settings for name in known)
    arguments = {name: f"{name.partition('.')[2]} {{}}" for name in names if name not in _WRITTEN}
    phrases: dict[str, str] = {}
    first: list[list[str]] = []
    for name, written in {**_WRITTEN, **arguments}.items():
        by_value: dict[str, list[str]] = {}
        for system, known in settings:
            value = known.get(name, _DEFAULT if name in arguments else "")
            if value:
                by_value.setdefault(value, []).append(system)
        if len(by_value) < 2:
            continue
        word, _, _ = written.partition("{}")
        values = [written.format(value) for value in by_value]
        values[1:] = [value.removeprefix(word) for value in values[1:]]
        systems = list(by_value.values())
        # Who is meant is said once where all settings divide the systems alike.
        if systems != first:
            values = [
                f"{value} ({first_few(names, ', ')})"
                for value, names in zip(values, systems, strict=True)
            ]
        first = first or systems
        phrases[name] = " against ".join(values)
    return _Changes(task, phrases, *_other_prompts(parts))


def _other_prompts(parts: Sequence[ItemScores]) -> tuple[int, int]:
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
