"""Marked parts of Markdown files that results fill: tables between comments, and single numbers.

    <!-- calibration: summary :: peers -->
    <!-- end -->
    at most <!-- calibration: percent :: CELL :: KEY :: PLACE --> <!-- end --> of the trials

Kinds are "table" (`tables`), "summary" (`summaries`), "percent" and "share" (one rate: the name of
its cell, its key, its place under the key).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path

from benchmarks.calibration.answers import Record
from benchmarks.calibration.cells import Cell, listed
from benchmarks.calibration.summaries import NUMBERS, SUMMARIES
from benchmarks.calibration.tables import TABLES, Results

ROOT = Path(__file__).resolve().parents[2]
RESULTS = Path(__file__).with_name("results.json")
_PART = re.compile(r"<!-- calibration: (.*?) -->(.*?)<!-- end -->", re.DOTALL)


def files() -> list[Path]:
    """Return all files that may have marked parts."""
    found = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    return [*found, ROOT / "benchmarks" / "README.md", Path(__file__).with_name("README.md")]


def filled(text: str, results: Results) -> str:
    """Return a text with its marked parts filled."""

    def part(match: re.Match[str]) -> str:
        kind, *arguments = match[1].split(" :: ")
        if kind in NUMBERS:
            value = NUMBERS[kind](results, *arguments)
        elif kind in ("table", "summary"):
            value = f"\n\n{(TABLES | SUMMARIES)[arguments[0]](results)}\n\n"
        else:
            raise ValueError(f"marked part of an unknown kind: {match[1]!r}")
        return f"<!-- calibration: {match[1]} -->{value}<!-- end -->"

    return _PART.sub(part, text)


def fill(paths: Iterable[Path], results: Results) -> list[Path]:
    """Fill marked parts; return the files that have changed."""
    changed = differing(paths, results)
    for path in changed:
        path.write_text(filled(path.read_text(encoding="utf-8"), results), encoding="utf-8")
    return changed


def differing(paths: Iterable[Path], results: Results) -> list[Path]:
    """Return the files whose marked parts are not what the results say."""
    return [
        path
        for path in paths
        if (text := path.read_text(encoding="utf-8")) != filled(text, results)
    ]


def load(path: Path = RESULTS) -> Results:
    """Return the committed results, in the order of the cells."""
    if not path.is_file():
        return []
    return _in_order(json.loads(path.read_text(encoding="utf-8")))


def save(records: dict[str, Record], path: Path = RESULTS) -> Results:
    """Write results, a line a cell; those of cells that are no more are left out."""
    results = _in_order(records)
    lines = []
    for cell, record in results:
        kept = {key: value for key, value in record.items() if key not in ("cell", "seconds")}
        if cell.null != "rare failures":
            kept["notes"] = {}
        line = json.dumps(kept, ensure_ascii=False, separators=(",", ":"))
        lines.append(f"{json.dumps(cell.name, ensure_ascii=False)}:{line}")
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    return load(path)


def _in_order(records: dict[str, Record]) -> list[tuple[Cell, Record]]:
    return [(cell, records[cell.name]) for cell in listed() if cell.name in records]
