"""The mutants, which `mutants.txt` lists: `python -m tests.mutants` runs them.

A block is a line with a file and the tests that concern it ("@ cli/output.py: cli"), then three
lines for each mutant: a promise, a text of the file that occurs once, and what breaks it.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]


class Mutant(NamedTuple):
    """Text of a file that occurs once and what takes its place, the promise, and test files."""

    file: str
    old: str
    new: str
    promise: str
    tests: tuple[str, ...]


@cache
def file_of(test: str) -> str:
    """Return the file of tests with a name: "tests/analysis/test_margins.py" for "margins"."""
    (path,) = ROOT.glob(f"tests/**/test_{test}.py")
    return path.relative_to(ROOT).as_posix()


def read(table: str) -> list[Mutant]:
    """Return the mutants of the text of the table."""
    mutants: list[Mutant] = []
    for block in table.strip().split("\n@ "):
        header, *lines = block.removeprefix("@ ").strip().split("\n")
        file, _, names = header.partition(": ")
        tests = tuple(names.split())
        if len(lines) % 3:
            raise ValueError(f"{file} needs three lines a mutant: a promise, - old, + new")
        for promise, old, new in zip(lines[::3], lines[1::3], lines[2::3], strict=True):
            if old[:2] != "- " or new[:2] != "+ ":
                raise ValueError(f"{file}, {promise!r}: expected - old, + new")
            mutants.append(Mutant(f"evalstats/{file}", old[2:], new[2:], promise, tests))
    return mutants


MUTANTS = read(Path(__file__).with_name("mutants.txt").read_text(encoding="utf-8"))
