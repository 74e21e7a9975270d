"""COMET: what `comet-score --to_json` and `comet-compare --to_json` wrote of several systems."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

import numpy as np

from evalstats.checks import shown
from evalstats.errors import InputError
from evalstats.metrics import Mean
from evalstats.runs.items import Items, Key, as_score, with_missing
from evalstats.runs.run import Run, run_of
from evalstats.runs.sources import Source, at, entry, fingerprint
from evalstats.runs.wanted import Wanted

NAME = "COMET"


def is_ours(source: Source) -> bool:
    """Return whether a file is one of the two forms."""
    return _is_compared(source.json) or _is_scored(source.json)


def _is_compared(found: Any) -> bool:
    first = at(found, "translations")
    return isinstance(first, list) and bool(first) and at(first[0], "scores") is not None


def _is_scored(found: Any) -> bool:
    first = next(iter(found.values()), None) if isinstance(found, dict) else None
    one = first[0] if isinstance(first, list) and first else None
    return isinstance(one, dict) and "COMET" in one and "mt" in one


def read(source: Source, wanted: Wanted) -> Run:
    """Return the scores of all systems; items are named by the number of their line, from 1."""
    where = str(source.path)
    of_systems, texts = (_compared if _is_compared(source.json) else _scored)(source.json, where)
    names = [PurePath(name).stem for name in of_systems]
    names = names if len(set(names)) == len(names) else list(of_systems)
    sizes = {name: len(scores) for name, scores in of_systems.items()}
    if len(set(sizes.values())) > 1:
        found = ", ".join(f"{n:,} of {shown(name, 60)}" for name, n in sizes.items())
        raise InputError(f"{where}: all systems must have the same segments, got {found}")
    scores = np.array([
        [as_score(s, f"{where}, score {i + 1} of {name}") for i, s in enumerate(given)]
        for name, given in of_systems.items()
    ])  # fmt: skip
    rows, incomplete = with_missing(scores)
    ids = [str(i + 1) for i in range(scores.shape[1])]
    items = Items(Key("", "COMET"), Mean("COMET"), tuple(names), ids, rows, texts, {}, incomplete)
    return run_of(source.path.stem, where, NAME, [items])


def _scored(found: Any, where: str) -> tuple[dict[str, list[Any]], dict[str, list[str]]]:
    """Return what each file has: a source, an output, a reference and a score a segment."""
    scores: dict[str, list[Any]] = {}
    asked: dict[str, list[tuple[str, str]]] = {}
    for name, segments in found.items():
        if not isinstance(segments, list):
            raise InputError(f"{where}: {shown(name, 60)} must be a list of segments")
        named = [(f"{where}, segment {i + 1} of {name}", s) for i, s in enumerate(segments)]
        scores[name] = [entry(segment, "COMET", where=place) for place, segment in named]
        asked[name] = [(_hash(at(s, "src")), _hash(at(s, "ref"))) for s in segments]
    first, *others = asked
    for name in others:
        for i, (one, two) in enumerate(zip(asked[first], asked[name], strict=False)):
            if one != two:
                raise InputError(
                    f"{where}: segment {i + 1} of {shown(name, 60)} has another source or "
                    f"reference than that of {shown(first, 60)}"
                )
    return scores, _labels(*map(list, zip(*asked[first], strict=True)))


def _compared(found: Any, where: str) -> tuple[dict[str, list[Any]], dict[str, list[str]]]:
    """Return what each translation has; sources and references are the same for all."""
    scores: dict[str, list[Any]] = {}
    for i, one in enumerate(found["translations"]):
        place = f"{where}, translation {i + 1}"
        name, given = entry(one, "name", where=place), entry(one, "scores", where=place)
        if not isinstance(name, str) or not isinstance(given, list):
            raise InputError(f"{place} must have a name and a list of scores")
        if name in scores:
            raise InputError(f"{place} has the name of another, {shown(name, 60)}")
        scores[name] = given
    n = len(next(iter(scores.values())))
    texts = [at(found, key) for key in ("source", "reference")]
    for given in texts:
        if isinstance(given, list) and len(given) != n:
            raise InputError(f"{where} has {len(given):,} sources or references of {n:,} segments")
    hashes = [[_hash(t) for t in given] if isinstance(given, list) else [] for given in texts]
    return scores, _labels(*hashes)


def _labels(sources: list[str], references: list[str]) -> dict[str, list[str]]:
    found = {"source_hash": sources, "reference_hash": references}
    return {name: hashes for name, hashes in found.items() if any(hashes)}


def _hash(text: Any) -> str:
    return fingerprint(text.strip()) if isinstance(text, str) else ""
