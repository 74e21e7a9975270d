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
    #: What grows, and how large it is: of these only ours is measured.
    grows: str = ""
    size: int = 0


_PYTHON = """
import evalstats as es
read = lambda name: open(name).read().splitlines()
print(es.compare({"a": read("a.txt"), "b": read("b.txt")}, read("ref.txt")))
"""
_PEER = ("-m", "sacrebleu", "ref.txt", "-i", "a.txt", "b.txt", "-m", "bleu", "--paired-bs", "-q")
_SCORES = """
import numpy as np, evalstats as es
def scores(systems, items, seed=0, whole=True):
    rng = np.random.default_rng(seed)
    of = rng.random((1, items)) + 0.3 * rng.random((systems, items))
    of -= 0.01 * np.arange(systems)[:, None]
    return {f"s{i}": (x < 0.7) * 1.0 if whole else x for i, x in enumerate(of)}
def suite(tasks, metric=es.Mean("acc")):
    sizes = np.random.default_rng(3).integers(20, 400, tasks).tolist()
    return es.Suite(
        {f"t{t}": es.extract(scores(3, n, t), metric=metric) for t, n in enumerate(sizes)}
    )
"""
_TWO = ("-r", "ref.txt", "-i", "a.txt", "b.txt")


def _job(what: str, more: str, run: str) -> Job:
    return Job(what, setup=_SCORES + more, run=run)


def _strata(n: int) -> Job:
    more = f"x, labels = scores(2, {8 * n}, whole=False), np.repeat(np.arange({n}), 8).tolist()"
    run = 'es.compare(x, metrics=es.Mean("score"), strata=labels)'
    return _job(f"{n:,} strata of 8 items, 2 systems", more, run)


def _systems(n: int) -> Job:
    run = 'es.compare(x, metrics=es.Mean("score")).ranking()'
    return _job(f"{n} systems, ranked", f"x = scores({n}, 500, whole=False)", run)


JOBS = (
    Job("`evalstats --version`", ("-m", "evalstats", "--version")),
    Job("`evalstats compare`, 50 segments", ("-m", "evalstats", "compare", *_TWO), peer=_PEER),
    Job("`import`, `es.compare`, `print`, 50 segments", ("-c", _PYTHON), peer=_PEER),
    Job("`evalstats compare`, 1,000 0/1 scores", ("-m", "evalstats", "compare", "scores.csv")),
    _job(
        "0/1 scores: `estimate`, 20,000 items",
        "x = scores(1, 20_000)",
        'es.estimate(x, metric=es.Mean("acc"))',
    ),
    _job(
        "0/1 scores: `compare_logs`, 2 × 100,000 items", "", 'es.compare_logs(["0.csv", "1.csv"])'
    ),
    _job("suite of 57 tasks, 3 systems", "tasks = suite(57)", "tasks.compare()"),
    _job("its `ranking()`", "result = suite(57).compare()", "result.ranking()"),
    _strata(1_600),
    _job(
        "`ranking()` of 160 systems",
        'result = es.compare(scores(160, 500, whole=False), metrics=es.Mean("score"))',
        "result.ranking()",
    ),
    _job(
        "arena of 200,000 battles, t",
        "a, b, won = np.random.default_rng(0).integers(50, size=(3, 200_000)).tolist()\n"
        'rows = [(f"m{i}", f"m{i + j % 49 + 1}", "ab"[k % 2]) for i, j, k in zip(a, b, won)]',
        'es.arena(rows, method="t", test="t")',
    ),
    *(
        _job(f"{n:,} tasks, 3 systems", f"tasks = suite({n})", "tasks.compare()")._replace(
            grows="tasks", size=n
        )
        for n in (100, 1_000)
    ),
    *(_strata(n)._replace(grows="strata", size=n) for n in (400, 4_000)),
    *(_systems(n)._replace(grows="pairs of systems", size=n * (n - 1) // 2) for n in (40, 160)),
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
            if before.is_dir() and not job.grows:
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
            row = {"what": job.what, "seconds": seconds, "megabytes": peaks}
            yield row | ({"grows": job.grows, "size": job.size} if job.grows else {})


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
    for x in range(2):
        lines = [f"{i},{int(i * (7 - 2 * x) % 11 < 6 + x)}\n" for i in range(100_000)]
        (folder / f"{x}.csv").write_text("".join(["id,accuracy\n", *lines]), encoding="utf-8")
