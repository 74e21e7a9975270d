"""COMET: what `comet-score --to_json` and `comet-compare --to_json` wrote of several systems."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from evalstats.logs.log import Log, Wanted, log_of
from evalstats.logs.rows import Key, as_scores, numbered
from evalstats.logs.sources import Source, fingerprint, get, without_suffix

NAME = "COMET"


def is_ours(source: Source) -> bool:
    """Return whether a file is one of the two forms."""
    return _is_compared(source.json) or _is_scored(source.json)


def _is_compared(document: Any) -> bool:
    """Return whether JSON is of `comet-compare`: the scores of each "translation"."""
    first = get(document, "translations")
    return isinstance(first, list) and bool(first) and get(first[0], "scores") is not None


def _is_scored(document: Any) -> bool:
    """Return whether JSON is of `comet-score`: a list of segments under the name of each file."""
    first = next(iter(document.values()), None) if isinstance(document, dict) else None
    segment = first[0] if isinstance(first, list) and first else None
    return isinstance(segment, dict) and "COMET" in segment and "mt" in segment


class _System(NamedTuple):
    """What a file says of a system: n scores, and n texts each, None where there is none."""

    name: str
    scores: list[Any]
    sources: list[Any]
    references: list[Any]

    def labels(self) -> dict[str, list[str]]:
        """Return hashes of the texts, n each, empty for what is no text."""
        texts = {"source_hash": self.sources, "reference_hash": self.references}
        return {
            name: [_hash(text) for text, _ in zip(of, self.scores, strict=True)]
            for name, of in texts.items()
        }


def _hash(text: object) -> str:
    """Return the hash of a text without blanks around it, empty for what is no text."""
    return fingerprint(text.strip()) if isinstance(text, str) else ""


def read(source: Source, wanted: Wanted) -> Log:
    """Return the scores of all systems; items are named by the number of their line, from 1."""
    where, key = str(source.path), Key("", "COMET")
    systems = list((_compared if _is_compared(source.json) else _scored)(source.json))
    short = [without_suffix(system.name) for system in systems]
    are_short = len(set(short)) == len(short)
    scores = []
    for system, name in zip(systems, short, strict=True):

        def at(i: int, name: str = system.name) -> str:
            return f"{where}, score {i + 1} of {name}"

        values = as_scores(system.scores, at)
        scores.append((name if are_short else system.name, values, system.labels()))
    return log_of(where, NAME, numbered(where, key, scores) if wanted.has(key) else [])


def _scored(document: Any) -> Iterator[_System]:
    """Yield what each file has: a source, an output, a reference and a score a segment."""
    for name, segments in document.items():
        scores = [segment["COMET"] for segment in segments]
        sources, references = ([s.get(key) for s in segments] for key in ("src", "ref"))
        yield _System(name, scores, sources, references)


def _compared(document: Any) -> Iterator[_System]:
    """Yield what each translation has; sources and references are the same for all."""
    for translation in document["translations"]:
        scores = translation["scores"]
        sources, references = (
            document.get(key) or [None] * len(scores) for key in ("source", "reference")
        )
        yield _System(translation["name"], scores, sources, references)
