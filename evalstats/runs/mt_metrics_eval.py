"""mt-metrics-eval: `.seg.score` files, one or a folder of them.

A line is a system and a score, or "None". Systems come in blocks, and segments have no names: the
order of a block is that of the test set.
"""

from __future__ import annotations

from itertools import chain
from pathlib import Path

import numpy as np

from evalstats.checks import shown
from evalstats.errors import InputError
from evalstats.metrics import Mean
from evalstats.runs.items import Items, Key, number, with_missing
from evalstats.runs.run import Run, run_of
from evalstats.runs.sources import Source, text_blocks
from evalstats.runs.wanted import Wanted

NAME = "mt-metrics-eval"

_ENDING = ".seg.score"


def is_ours(source: Source) -> bool:
    """Return whether a file, or one in the folder, is named as the scores of segments are."""
    return any(path.name.endswith(_ENDING) for path in source.files)


def read(source: Source, wanted: Wanted) -> Run:
    """Return a table for each file; its metric is named as the file is: ``COMET-refA``."""
    items: list[Items] = []
    skipped: list[str] = []
    for path in source.files:
        if not path.name.endswith(_ENDING):
            continue
        folder = path.relative_to(source.path).parent if source.path.is_dir() else Path()
        task = "" if folder == Path() else folder.as_posix()
        key = Key(task, path.name.removesuffix(_ENDING))
        if wanted.has(key):
            items.append(_items(path, key, skipped))
    return run_of(source.path.name, str(source.path), NAME, items, skipped=skipped)


def _items(path: Path, key: Key, skipped: list[str]) -> Items:
    blocks = _blocks(path)
    sizes = {name: len(scores) for name, scores in blocks.items()}
    if len(set(sizes.values())) > 1:
        found = ", ".join(f"{n:,} of {shown(name, 60)}" for name, n in sizes.items())
        raise InputError(f"{path}: all systems must have the same segments, got {found[:500]}")
    empty = [name for name, scores in blocks.items() if np.all(np.isnan(scores))]
    if empty:
        skipped.append(f"{', '.join(empty)} of {key}, which have no scores")
    kept = [name for name in blocks if name not in empty]
    if not kept:
        raise InputError(f"{path} has no scores")
    rows, incomplete = with_missing(np.array([blocks[name] for name in kept]))
    ids = [str(i + 1) for i in range(rows.shape[1])]
    return Items(key, Mean(key.metric), tuple(kept), ids, rows, incomplete=incomplete)


def _blocks(path: Path) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    last = None
    for i, line in enumerate(chain.from_iterable(text_blocks(path)), 1):
        parts, where = line.split(), f"{path}, line {i}"
        if not parts:
            continue
        if len(parts) != 2:
            raise InputError(f"{where} must be a system and its score, got {shown(line, 60)}")
        name, score = parts
        if name != last and name in found:
            raise InputError(
                f"{where}: the scores of {shown(name, 60)} go on after those of another system, "
                f"but segments are known by their order"
            )
        last = name
        found.setdefault(name, []).append(_score(score, where))
    if not found:
        raise InputError(f"{path} is empty")
    return found


def _score(text: str, where: str) -> float:
    if text == "None":
        return float("nan")
    try:
        value: object = float(text)
    except ValueError:
        value = text
    return number(value, where)
