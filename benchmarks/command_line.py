"""Print what `evalstats compare` takes for two systems in files: time, processor time, memory.

    python -m benchmarks.command_line [--lines 1000000]

Lines have some twenty tokens: those of the bundled sample, one after the other, with words
exchanged at random, so that no line is there twice.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from evalstats.data import load_sample

_TOKENS = 20


def write_files(folder: Path, n_lines: int) -> None:
    """Write ref.txt, a.txt and b.txt."""
    sample, rng = load_sample(), random.Random(1)
    columns = {
        "ref": [row[0] for row in sample.references],
        "a": sample.systems["baseline"],
        "b": sample.systems["clearly-better"],
    }
    words = " ".join(columns["ref"]).split()
    for name, texts in columns.items():
        with (folder / f"{name}.txt").open("w", encoding="utf-8") as file:
            for i in range(n_lines):
                line = f"{texts[i % len(texts)]} {texts[(7 * i + 1) % len(texts)]}".split()[
                    :_TOKENS
                ]
                for _ in range(2):
                    line[rng.randrange(len(line))] = rng.choice(words)
                file.write(" ".join(line) + "\n")


def main() -> None:
    """Write the files, run the program, print what it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=1_000_000)
    n_lines = parser.parse_args().lines
    with tempfile.TemporaryDirectory() as name:
        write_files(Path(name), n_lines)
        files = ["-r", "ref.txt", "-i", "a.txt", "b.txt"]
        start = time.monotonic()
        program = subprocess.Popen([sys.executable, "-m", "evalstats", "compare", *files], cwd=name)
        _, status, used = os.wait4(program.pid, 0)
        seconds = time.monotonic() - start
    print(
        f"{n_lines:,} lines, exit code {status}: {seconds:.0f} s, processor time "
        f"{used.ru_utime + used.ru_stime:.0f} s, peak memory {used.ru_maxrss / 1024:,.0f} MB"
    )


if __name__ == "__main__":
    main()
