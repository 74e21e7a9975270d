"""Run programs, and measure their processor time and peak memory."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from evalstats.resampling.executors import usable_cores

ROOT = Path(__file__).resolve().parents[1]
#: The earlier commit that jobs are measured beside.
BEFORE = "b8866916"
BYTECODE = Path(tempfile.gettempdir(), "evalstats-benchmarks-bytecode")
#: What the results are named with; peers are measured where they are installed.
PACKAGES = ("numpy", "scipy", "sacrebleu", "evaluatio", "nltk", "jiwer", "arena-rank")
#: A small process between this one and a program, because a program's peak begins with the memory
#: of the process that started it.
_RUNNER = """
import json, resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
usage = [used.ru_utime + used.ru_stime, used.ru_maxrss / 1024]
print(json.dumps([usage, done.stdout.decode()]))
sys.exit(done.returncode)
"""


def program(arguments: Sequence[str], folder: Path, library: Sequence[Path]) -> tuple[float, float]:
    """Return processor seconds and peak MB of a program, which has modules of some folders."""
    return _run(arguments, folder, library)[0]


def printed(code: str, folder: Path = ROOT, library: Sequence[Path] = (ROOT,)) -> Any:
    """Run Python code in a process of its own, and return the JSON that it prints."""
    return json.loads(_run([sys.executable, "-c", code], folder, library)[1])


def _run(
    arguments: Sequence[str], folder: Path, library: Sequence[Path]
) -> tuple[tuple[float, float], str]:
    # Whoever keeps bytecode waits once for the compiler.
    kept = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(BYTECODE)}
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", _RUNNER, *arguments],
        cwd=folder,
        env={**os.environ, **kept, "PYTHONPATH": os.pathsep.join(map(str, library))},
        stdout=subprocess.PIPE,
        check=True,
    )
    usage, output = json.loads(done.stdout)
    return tuple(usage), output


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
