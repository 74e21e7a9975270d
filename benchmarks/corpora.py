"""Real test sets, if their files are at hand, and the bundled sample, which always is.

Looked for in $EVALSTATS_DATA, then in ./data.
"""

from __future__ import annotations

import csv
import os
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from evalstats.data import load_sample


class TestSet(NamedTuple):
    """Outputs by system, one reference a segment, and each segment's document where known."""

    label: str
    systems: dict[str, list[str]]
    references: list[str]
    documents: list[str] | None


@lru_cache
def texts(name: str) -> TestSet:
    """Read a test set by its name, "wmt22/en-de" or "sample"; FileNotFoundError says what to do."""
    if name == "sample":
        sample = load_sample()
        first = [references[0] for references in sample.references]
        return TestSet("bundled sample", dict(sample.systems), first, sample.documents)
    year, pair = name.split("/")
    systems, references, documents = _files(name) or _missing(name)
    labels = None if documents is None else [x.split("\t")[-1] for x in _lines(documents)]
    # WMT24's files begin with a line that is no segment, but marks them as a test set.
    first = int(_lines(references)[0].startswith("CANARY") or "canary" in (labels or [""])[0])
    outputs = {key: _lines(path)[first:] for key, path in sorted(systems.items())}
    label = f"{year.upper()} {pair}"
    return TestSet(label, outputs, _lines(references)[first:], labels and labels[first:])


def available(name: str) -> bool:
    """Return whether the files of a test set are at hand; what is simulated always is."""
    if name in ("", "sample"):
        return True
    if name.startswith("wmt25/"):
        return _found(f"{name}/scores.tsv") is not None
    return _files(name) is not None


def corpus(name: str = "wmt22/en-de") -> tuple[str, dict[str, list[str]], list[str]]:
    """Return a label, outputs by system and references; of the sample where files are missing."""
    source = texts(name if available(name) else "sample")
    return source.label, source.systems, source.references


def lengthened(source: list[str], n: int) -> list[str]:
    """Return n different texts: the vocabulary grows as that of real text does (Heaps, 1978)."""
    return [f"{source[i % len(source)]} {int(i**0.7)}" for i in range(n)]


@lru_cache
def published(name: str, metric: str) -> tuple[list[str], NDArray[np.float64], list[str]]:
    """Return systems, their scores (S, N) on the paragraphs that all have, and the documents."""
    path = _found(f"{name}/scores.tsv") or _missing(name)
    with path.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    paragraphs = {key: i for i, key in enumerate(dict.fromkeys(map(_paragraph, rows)))}
    systems = {key: i for i, key in enumerate(dict.fromkeys(row["system"] for row in rows))}
    scores = np.full((len(systems), len(paragraphs)), np.nan)
    for row in rows:
        if row[metric]:
            scores[systems[row["system"]], paragraphs[_paragraph(row)]] = float(row[metric])
    whole = np.isfinite(scores).all(axis=0)
    kept = [document for (document, _), x in zip(paragraphs, whole, strict=True) if x]
    return list(systems), scores[:, whole], kept


def _paragraph(row: dict[str, str]) -> tuple[str, str]:
    return row["document"], row["paragraph"]


def _found(path: str) -> Path | None:
    roots = [Path(os.environ.get("EVALSTATS_DATA", "data")), Path("data")]
    return next((root / path for root in roots if (root / path).exists()), None)


def _files(name: str) -> tuple[dict[str, Path], Path, Path | None] | None:
    folder = _found(name)
    references = sorted(folder.glob("reference.*.txt")) if folder is not None else []
    if folder is None or not references:
        return None
    systems = {path.stem: path for path in folder.glob("systems/*.txt")}
    return systems, references[0], _found(f"{name}/documents.tsv")


def _lines(path: Path) -> list[str]:
    return path.read_bytes().decode("utf-8").split("\n")[:-1]


def _missing(name: str) -> NoReturn:
    year, pair = name.split("/")
    if year == "wmt25":
        raise FileNotFoundError(
            f"no {name}/scores.tsv in $EVALSTATS_DATA or ./data: columns system, document, domain, "
            f"paragraph, and one a metric, from github.com/wmt-conference/wmt25-general-mt"
        )
    raise FileNotFoundError(
        f"no {name} in $EVALSTATS_DATA or ./data. Take from "
        f"mt-metrics-eval (github.com/google-research/mt-metrics-eval), {year}: "
        f"system-outputs/{pair}/*.txt as {name}/systems/, references/{pair}.refA.txt as "
        f"{name}/reference.A.txt and documents/{pair}.docs as {name}/documents.tsv"
    )
