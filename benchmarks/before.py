"""What jobs take, from the first import on or once all is loaded, beside an earlier commit.

A job runs in processes of its own, with this library, with that of the commit `BEFORE`, and with a
peer where there is one; they take turns. Times are of the processor, and memory is the peak.
"""

from __future__ import annotations

import io
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.corpora import corpus
from benchmarks.measure import ROOT, printed, program

BEFORE = "ac87f25"
#: What is timed inside of a process, the best of some.
_INSIDE = """
import json, resource, time
{setup}
taken = []
for _ in range({repeats}):
    start = time.process_time()
    {run}
    taken.append(time.process_time() - start)
print(json.dumps([min(taken), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))
"""


class Job(NamedTuple):
    """A command, which is timed as a whole, or a statement after a setup; a peer's command."""

    what: str
    command: tuple[str, ...] = ()
    setup: str = ""
    run: str = ""
    peer: tuple[str, ...] = ()


_PYTHON = """
import evalstats as es
read = lambda name: open(name).read().splitlines()
print(es.compare({"a": read("a.txt"), "b": read("b.txt")}, read("ref.txt")))
"""
_PEER = ("-m", "sacrebleu", "ref.txt", "-i", "a.txt", "b.txt", "-m", "bleu", "--paired-bs", "-q")
_TWO = ("-r", "ref.txt", "-i", "a.txt", "b.txt")
JOBS = (
    Job("`evalstats --version`", ("-m", "evalstats", "--version")),
    Job("`evalstats compare`, 50 segments", ("-m", "evalstats", "compare", *_TWO), peer=_PEER),
    Job("`import`, `es.compare`, `print`, 50 segments", ("-c", _PYTHON), peer=_PEER),
    Job("`evalstats compare`, 1,000 0/1 scores", ("-m", "evalstats", "compare", "scores.csv")),
)


def rows(repeats: int) -> Iterator[dict[str, Any]]:
    """Measure every job: processor seconds and megabytes of each who does it."""
    with tempfile.TemporaryDirectory() as name:
        folder, before = Path(name, "files"), Path(name, "before")
        folder.mkdir()
        _write(folder)
        archive = ["git", "archive", BEFORE, "evalstats"]
        done = subprocess.run(archive, cwd=ROOT, capture_output=True)
        if done.stdout:  # nothing outside of a clone
            with tarfile.open(fileobj=io.BytesIO(done.stdout)) as files:
                files.extractall(before, filter="data")
        for job in JOBS:
            runs = {"evalstats": (job, ROOT)}
            if before.is_dir():
                runs[BEFORE] = job, before
            if job.peer:
                runs["sacreBLEU"] = job._replace(command=job.peer), ROOT
            found: dict[str, list[tuple[float, float]]] = {who: [] for who in runs}
            # The first run compiles the modules.
            for _ in range(1 + repeats):
                for who, (of, tree) in runs.items():
                    found[who].append(_once(of, folder, tree, repeats))
            seconds = {who: min(x for x, _ in of[1:]) for who, of in found.items()}
            peaks = {who: min(x for _, x in of[1:]) for who, of in found.items()}
            yield {"what": job.what, "seconds": seconds, "megabytes": peaks}


def _once(job: Job, folder: Path, tree: Path, repeats: int) -> tuple[float, float]:
    if job.run:
        code = _INSIDE.format(setup=job.setup, run=job.run, repeats=repeats)
        seconds, megabytes = printed(code, folder, tree)
        return seconds, megabytes
    usage = program([sys.executable, *job.command], folder, tree)
    return usage.processor, usage.megabytes


def _write(folder: Path) -> None:
    """Write 50 segments of two systems, and 1,000 0/1 scores of two."""
    _, systems, references = corpus("sample")
    files = {"ref": references, "a": systems["baseline"], "b": systems["clearly-better"]}
    for name, texts in files.items():
        (folder / f"{name}.txt").write_text("\n".join(texts[:50]) + "\n", encoding="utf-8")
    scores = [f"{i},{int(i * 7 % 11 < 6)},{int(i * 5 % 13 < 8)}\n" for i in range(1000)]
    (folder / "scores.csv").write_text("".join(["item,a,b\n", *scores]), encoding="utf-8")
