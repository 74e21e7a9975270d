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

from tests.mutants import MUTANTS, ROOT, Mutant, file_of

#: Seconds after which a mutant that hangs is dead.
LONGEST = 900
_FAILED, _PASSED = (1, 2), 0


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
    command = [sys.executable, "-m", "pytest", *options, *map(file_of, tests)]
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
    if done.returncode != _PASSED:
        raise FileNotFoundError(f"{' '.join(command)}:\n{said}")
    return "", said


def killer(original: Path, mutant: Mutant) -> str:
    """Return the first test that fails with a mutant, "" if it survives."""
    with tempfile.TemporaryDirectory(prefix="mutant-") as name:
        folder = shutil.copytree(original, Path(name) / "copy")
        target = folder / mutant.file
        target.write_text(mutated(target.read_text("utf-8"), mutant), encoding="utf-8")
        found, _ = run_tests(folder, mutant.tests)
    said = f"died ({found})" if found else "SURVIVED"
    print(f"{mutant.file}: {mutant.promise}: {said}", flush=True)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("regex", nargs="?", default="")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--unchecked", action="store_true", help="tests pass without any mutant")
    given = parser.parse_args()
    chosen = [m for m in MUTANTS if re.search(given.regex, " ".join((m.file, m.promise, *m.tests)))]
    if not chosen:
        parser.error(f"no mutant matches {given.regex!r}")
    with tempfile.TemporaryDirectory(prefix="mutants-") as name:
        hidden = shutil.ignore_patterns(".*", "__pycache__")
        original = shutil.copytree(ROOT, Path(name) / "original", ignore=hidden)
        for mutant in chosen:
            mutated((original / mutant.file).read_text("utf-8"), mutant)
        if not given.unchecked:
            names = sorted({test for mutant in chosen for test in mutant.tests})
            failed, said = run_tests(original, names)
            if failed:
                print(said, "The tests fail without any mutant.", sep="\n", file=sys.stderr)
                return 2
        with ThreadPoolExecutor(given.jobs) as threads:
            killers = list(threads.map(partial(killer, original), chosen))
    left = [mutant for mutant, found in zip(chosen, killers, strict=True) if not found]
    dead = len(chosen) - len(left)
    print(f"{dead} of {len(chosen)} died ({dead / len(chosen):.0%})")
    for mutant in left:
        print(f"\n{mutant.file}: {mutant.promise}\n  - {mutant.old}\n  + {mutant.new}")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
