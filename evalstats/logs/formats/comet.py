"""COMET: what `comet-score --to_json` and `comet-compare --to_json` wrote of several systems."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evalstats.logs.files import Source, fingerprint, get, without_suffix
from evalstats.logs.log import Log, Wanted, log_of
from evalstats.logs.rows import Key, as_scores, numbered

NAME = "COMET"


def is_ours(source: Source) -> bool:
    """Return whether a file is one of the two forms."""
    return _is_compared(source.json) or _is_scored(source.json)


def _is_compared(found: Any) -> bool:
    first = get(found, "translations")
    return isinstance(first, list) and bool(first) and get(first[0], "scores") is not None


def _is_scored(found: Any) -> bool:
    first = next(iter(found.values()), None) if isinstance(found, dict) else None
    one = first[0] if isinstance(first, list) and first else None
    return isinstance(one, dict) and "COMET" in one and "mt" in one


def read(source: Source, wanted: Wanted) -> Log:
    """Return the scores of all systems; items are named by the number of their line, from 1."""
    where, key = str(source.path), Key("", "COMET")
    given = list((_compared if _is_compared(source.json) else _scored)(source.json))
    short = [without_suffix(name) for name, *_ in given]
    found = []
    for name, scores, *texts in given:
        values = as_scores(scores, lambda i, name=name: f"{where}, score {i + 1} of {name}")  # type: ignore[misc]
        hashed = (
            [
                fingerprint(t.strip()) if isinstance(t, str) else ""
                for t, _ in zip(own, scores, strict=True)
            ]
            for own in texts
        )
        own = name if len(set(short)) < len(short) else without_suffix(name)
        found.append(
            (own, values, dict(zip(("source_hash", "reference_hash"), hashed, strict=True)))
        )
    return log_of(where, NAME, numbered(where, key, found) if wanted.has(key) else [])


#: Name, scores, sources and references of a system.
_Given = Iterator[tuple[str, list[Any], list[Any], list[Any]]]


def _scored(found: Any) -> _Given:
    """Yield what each file has: a source, an output, a reference and a score a segment."""
    for name, segments in found.items():
        scores = [segment["COMET"] for segment in segments]
        sources, references = ([s.get(key) for s in segments] for key in ("src", "ref"))
        yield name, scores, sources, references


def _compared(found: Any) -> _Given:
    """Yield what each translation has; sources and references are the same for all."""
    for one in found["translations"]:
        sources, references = (
            found.get(key) or [None] * len(one["scores"]) for key in ("source", "reference")
        )
        yield one["name"], one["scores"], sources, references
