"""Break one promise at a time in a copy, run the tests that concern it, and print what survives.

``python -m tests.mutants [REGEX] [--jobs N]``: all mutants, or those whose file, promise or test
file the regular expression finds. Exit code 1 if one survives.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from tests.mutants.mutants import MUTANTS, Mutant

ROOT = Path(__file__).resolve().parents[2]
#: Seconds after which a mutant that hangs is dead.
LONGEST = 900
_COPIED = ("evalstats", "tests", "benchmarks", "docs", "pyproject.toml", "README.md", "LICENSE")


def copied(folder: Path) -> Path:
    """Copy what tests need into a folder."""
    for name in _COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name)
        elif source.exists():
            shutil.copy2(source, folder / name)
    return folder


def mutated(text: str, mutant: Mutant) -> str:
    """Return a file's text with the mutant in it."""
    if text.count(mutant.old) != 1 or mutant.old == mutant.new:
        raise ValueError(
            f"{mutant.file}: {mutant.old!r} must occur once, and be replaced by something else; "
            f"found {text.count(mutant.old)} times"
        )
    return text.replace(mutant.old, mutant.new)


def run_tests(folder: Path, tests: Sequence[str]) -> tuple[bool, str]:
    """Return whether the tests pass in a copy, and the end of what they print."""
    files = [f"tests/test_{name}.py" for name in tests]
    options = ["-x", "-q", "-n", "0", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", *options, *files]
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONHASHSEED": "0"}
    try:
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, timeout=LONGEST
        )
    except subprocess.TimeoutExpired:
        return False, "stopped: it took too long"
    if done.returncode not in (0, 1, 2):  # no tests, or no pytest
        raise RuntimeError(f"{' '.join(command)}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.returncode == 0, done.stdout[-2000:]


def survives(original: Path, mutant: Mutant) -> bool:
    """Return whether the tests that concern a mutant pass with it."""
    with tempfile.TemporaryDirectory(prefix="mutant-") as name:
        folder = Path(name)
        shutil.copytree(original, folder, dirs_exist_ok=True)
        target = folder / mutant.file
        target.write_text(mutated(target.read_text("utf-8"), mutant), encoding="utf-8")
        passed, _ = run_tests(folder, mutant.tests)
    print("SURVIVED" if passed else "died    ", f"{mutant.file}: {mutant.promise}", flush=True)
    return passed


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("regex", nargs="?", default="")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    described = ((m, " ".join((m.file, m.promise, *m.tests))) for m in MUTANTS)
    chosen = [mutant for mutant, text in described if re.search(given.regex, text)]
    if not chosen:
        parser.error(f"no mutant matches {given.regex!r}")
    with tempfile.TemporaryDirectory(prefix="mutants-") as name:
        original = copied(Path(name))
        for mutant in chosen:
            mutated((original / mutant.file).read_text("utf-8"), mutant)
        passed, said = run_tests(original, sorted({t for m in chosen for t in m.tests}))
        if not passed:
            print(said, "The tests fail without any mutant.", sep="\n", file=sys.stderr)
            return 2
        with ThreadPoolExecutor(given.jobs) as threads:
            found = list(threads.map(partial(survives, original), chosen))
    left = [mutant for mutant, alive in zip(chosen, found, strict=True) if alive]
    dead = len(chosen) - len(left)
    print(f"{dead} of {len(chosen)} died ({dead / len(chosen):.0%})")
    for mutant in left:
        print(f"\n{mutant.file}: {mutant.promise}\n  - {mutant.old}\n  + {mutant.new}")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
