"""Break one promise at a time in a copy, run the tests that concern it, and print what survives.

``python -m tests.mutants [REGEX] [--jobs N]``: all mutants, or those whose file, promise or test
file the regular expression finds. Exit code 1 if one survives. ``record.tsv`` keeps which test
missed each mutant and how long that took; the next run tries that test first.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

from tests.mutants import MUTANTS, ROOT, Mutant, file_of

RECORD = Path(__file__).with_name("record.tsv")
#: Seconds after which a mutant that hangs is dead.
LONGEST = 900
_FAILED, _NO_TESTS, _USAGE = (1, 2), 5, 4


class Fate(NamedTuple):
    """The test that failed, "" if none did, and seconds."""

    killer: str
    seconds: float


def mutated(text: str, mutant: Mutant) -> str:
    """Return a file's text with the mutant in it, which still compiles."""
    if text.count(mutant.old) != 1:
        raise ValueError(f"{mutant.file}: {mutant.old!r} occurs {text.count(mutant.old)} times")
    changed = text.replace(mutant.old, mutant.new)
    compile(changed, mutant.file, "exec")
    return changed


def run_tests(folder: Path, tests: Sequence[str]) -> tuple[str, str]:
    """Return the first test that fails in a copy, "" if none does, and the end of the output."""
    options = ["-x", "-q", "-n", "0", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", *options, *tests]
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONHASHSEED": "0"}
    try:
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, timeout=LONGEST
        )
    except subprocess.TimeoutExpired:
        return "none ended in time", ""
    said = done.stdout[-3000:] + done.stderr[-1000:]
    if done.returncode in _FAILED:
        found = re.search(r"^(?:FAILED|ERROR) ([^\s\[]+)", said, re.MULTILINE)
        return found[1] if found else "unknown", said
    if done.returncode in (_NO_TESTS, _USAGE):
        raise FileNotFoundError(f"{' '.join(command)}:\n{said}")
    return "", said


def fate(original: Path, known: Mapping[Mutant, Fate], mutant: Mutant) -> Fate:
    """Run the test that missed a mutant before, then all that concern it."""
    began = time.monotonic()
    killer = ""
    with tempfile.TemporaryDirectory(prefix="mutant-") as name:
        folder = shutil.copytree(original, Path(name) / "copy")
        target = folder / mutant.file
        target.write_text(mutated(target.read_text("utf-8"), mutant), encoding="utf-8")
        if mutant in known and known[mutant].killer:
            with suppress(FileNotFoundError):  # the test may have another name now
                killer, _ = run_tests(folder, [known[mutant].killer])
        if not killer:
            killer, _ = run_tests(folder, [file_of(test) for test in mutant.tests])
    found = Fate(killer, time.monotonic() - began)
    said = f"died ({killer})" if killer else "SURVIVED"
    print(f"{found.seconds:6.1f} s  {mutant.file}: {mutant.promise}: {said}", flush=True)
    return found


def read_record() -> dict[Mutant, Fate]:
    """Return what became of each mutant that is in the table still."""
    named = {(mutant.file, mutant.promise): mutant for mutant in MUTANTS}
    lines = RECORD.read_text("utf-8").splitlines() if RECORD.exists() else []
    rows = [line.split("\t") for line in lines]
    return {
        named[file, promise]: Fate(killer, float(seconds))
        for file, promise, killer, seconds in rows
        if (file, promise) in named
    }


def write_record(fates: Mapping[Mutant, Fate]) -> None:
    """Write a line a mutant, in the order of the table."""
    lines = [
        f"{m.file}\t{m.promise}\t{fates[m].killer}\t{fates[m].seconds:.1f}\n"
        for m in MUTANTS
        if m in fates
    ]
    RECORD.write_text("".join(lines), encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("regex", nargs="?", default="")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--unchecked", action="store_true", help="tests pass without any mutant")
    given = parser.parse_args()
    chosen = [m for m in MUTANTS if re.search(given.regex, " ".join((m.file, m.promise, *m.tests)))]
    if not chosen:
        parser.error(f"no mutant matches {given.regex!r}")
    fates = read_record()
    with tempfile.TemporaryDirectory(prefix="mutants-") as name:
        hidden = shutil.ignore_patterns(".*", "__pycache__")
        original = shutil.copytree(ROOT, Path(name) / "original", ignore=hidden)
        for mutant in chosen:
            mutated((original / mutant.file).read_text("utf-8"), mutant)
        names = sorted({test for mutant in chosen for test in mutant.tests})
        if not given.unchecked:
            failed, said = run_tests(original, [file_of(test) for test in names])
            if failed:
                print(said, "The tests fail without any mutant.", sep="\n", file=sys.stderr)
                return 2
        with ThreadPoolExecutor(given.jobs) as threads:
            found = threads.map(partial(fate, original, dict(fates)), chosen)
            for mutant, one in zip(chosen, found, strict=True):
                fates[mutant] = one
                write_record(fates)
    left = [mutant for mutant in chosen if not fates[mutant].killer]
    dead = len(chosen) - len(left)
    seconds = sum(fates[mutant].seconds for mutant in chosen)
    print(f"{dead} of {len(chosen)} died ({dead / len(chosen):.0%}) in {seconds:.0f} seconds")
    for mutant in left:
        print(f"\n{mutant.file}: {mutant.promise}\n  - {mutant.old}\n  + {mutant.new}")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
