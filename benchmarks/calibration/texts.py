"""The test sets: outputs by system, one reference a segment, documents where they are known."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from benchmarks.corpora import WMT
from evalstats.data import load_sample

#: Folders of test sets, and whether line 1 of every file is a canary instead of a segment.
FOLDERS = {
    "en-de": (WMT / "en-de", False),
    "en-zh": (WMT / "en-zh", False),
    "en-es": (WMT.parent / "wmt24" / "en-es", True),
}
LABELS = {
    "en-de": "WMT22 en-de",
    "en-zh": "WMT22 en-zh",
    "en-es": "WMT24 en-es",
    "sample": "bundled sample",
}


@dataclass(frozen=True)
class Texts:
    """A test set."""

    systems: dict[str, list[str]]
    references: list[str]
    documents: list[str] | None


def available(corpus: str) -> bool:
    """Return whether the files of a test set are at hand; what is synthetic always is."""
    return corpus not in FOLDERS or FOLDERS[corpus][0].is_dir()


@lru_cache
def texts(corpus: str) -> Texts:
    """Read a test set."""
    if corpus == "sample":
        sample = load_sample()
        return Texts(dict(sample.systems), [r[0] for r in sample.references], sample.documents)
    folder, canary = FOLDERS[corpus]

    def lines(path: Path) -> list[str]:
        return path.read_bytes().decode("utf-8").split("\n")[int(canary) : -1]

    systems = {path.stem: lines(path) for path in sorted(folder.glob("systems/*.txt"))}
    documents = folder / "documents.tsv"
    labels = None
    if documents.is_file():
        labels = [line.split("\t")[1] for line in lines(documents)]
    return Texts(systems, lines(folder / "reference.A.txt"), labels)
