"""Times and memory: of alternatives that take turns, and of programs by themselves."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

from evalstats.resampling.executors import usable_cores

ROOT = Path(__file__).resolve().parents[1]
BYTECODE = Path(tempfile.gettempdir(), "evalstats-benchmarks-bytecode")
#: What the results are named with; peers are measured where they are installed.
PACKAGES = ("numpy", "scipy", "sacrebleu", "evaluatio", "nltk", "jiwer", "lm-eval")
#: A small process between this one and a program, because a program's peak begins with the memory
#: of the process that started it.
_RUNNER = """
import json, resource, subprocess, sys, time
start = time.perf_counter()
done = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE)
seconds = time.perf_counter() - start
used = resource.getrusage(resource.RUSAGE_CHILDREN)
usage = [seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024]
print(json.dumps([usage, done.stdout.decode()]))
sys.exit(done.returncode)
"""


class Usage(NamedTuple):
    """What a program took: seconds, processor seconds, peak memory in MB."""

    seconds: float
    processor: float
    megabytes: float


def best_times(
    alternatives: dict[str, Callable[[], object]], repeats: int, seconds: float = 20.0
) -> dict[str, float]:
    """Return the best time of each alternative in seconds.

    They take turns, and each keeps its best time: the machine's speed drifts, and what disturbs a
    run only ever makes it longer. One that has taken so many seconds in all is not run again.
    """
    times: dict[str, list[float]] = {name: [] for name in alternatives}
    for _ in range(repeats):
        for name, run in alternatives.items():
            if sum(times[name]) < seconds:
                start = time.perf_counter()
                run()
                times[name].append(time.perf_counter() - start)
    return {name: min(taken) for name, taken in times.items()}


def program(
    arguments: Sequence[str], folder: Path | str | None = None, library: Path = ROOT
) -> Usage:
    """Run a program to its end, with the library of a folder; CalledProcessError where it fails."""
    return _run(arguments, folder, library)[0]


def python(code: str, folder: Path | str | None = None) -> Usage:
    """Run Python code in a process of its own."""
    return program([sys.executable, "-c", code], folder)


def printed(code: str, folder: Path | str = ROOT, library: Path = ROOT) -> Any:
    """Run Python code in a process of its own, and return the JSON that it prints."""
    return json.loads(_run([sys.executable, "-c", code], folder, library)[1])


def _run(arguments: Sequence[str], folder: Path | str | None, library: Path) -> tuple[Usage, str]:
    # Whoever keeps bytecode waits once for the compiler.
    kept = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(BYTECODE)}
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", _RUNNER, *arguments],
        cwd=folder,
        env={**os.environ, **kept, "PYTHONPATH": str(library)},
        stdout=subprocess.PIPE,
        check=True,
    )
    usage, output = json.loads(done.stdout)
    return Usage(*usage), output


def forget_tokens() -> None:
    """Empty the caches that sacreBLEU's tokenisers keep from one run to the next."""
    from sacrebleu.tokenizers import tokenizer_13a, tokenizer_re, tokenizer_ter, tokenizer_zh

    for cached in (
        tokenizer_13a.Tokenizer13a.__call__,
        tokenizer_re.TokenizerRegexp.__call__,
        tokenizer_zh.TokenizerZh.__call__,
        tokenizer_zh.TokenizerZh._is_chinese_char,
        tokenizer_ter.TercomTokenizer.__call__,
    ):
        cached.cache_clear()


def machine() -> str:
    """Return what was measured on: processor, cores, versions."""
    names = []
    for package in PACKAGES:
        try:
            names.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    python_version = f"Python {platform.python_version()}"
    return ", ".join([_processor(), f"{usable_cores()} cores", python_version, *names])


def _processor() -> str:
    described = Path("/proc/cpuinfo")
    if described.is_file():
        for line in described.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
