"""How long jobs take, and their peak memory, beside an earlier commit and beside peers.

Each who does a job has processes of its own, which take turns. Times are of the processor, all
cores together, and the best of several: what disturbs a run only ever makes it longer.
"""

from __future__ import annotations

import io
import json
import resource
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.jobs import OURS, Job, jobs, write_files
from benchmarks.measure import BEFORE, ROOT, printed, program

#: Who has taken so many seconds is not run again; and within a process.
_ENOUGH, _INSIDE = 6.0, 0.5
#: Of these parts the earlier commit does nothing.
_ALONE = ("parts", "mechanisms", "growth", "moments")


def rows(quick: bool, repeats: int) -> Iterator[dict[str, Any]]:
    """Measure every job: processor seconds and megabytes of each who does it."""
    peers = {who for job in jobs(quick) for who in job.runs if who.replace("-", "_").isidentifier()}
    lacking = {who for who in peers if find_spec(who.replace("-", "_").lower()) is None}
    if lacking:
        print(f"not installed, and left out: {', '.join(sorted(lacking))}")
    with tempfile.TemporaryDirectory() as name:
        folder, before = Path(name, "files"), Path(name, "before")
        folder.mkdir()
        write_files(folder, quick)
        archive = ("git", "archive", BEFORE, "evalstats")
        done = subprocess.run(archive, cwd=ROOT, capture_output=True)
        if done.stdout:  # nothing outside of a clone
            with tarfile.open(fileobj=io.BytesIO(done.stdout)) as files:
                files.extractall(before, filter="data")
        for number, job in enumerate(jobs(quick)):
            trees = {who: [ROOT] for who in job.runs if who not in lacking}
            if before.is_dir() and job.part not in _ALONE:
                trees = {OURS: [ROOT], BEFORE: [before, ROOT], **trees}
            taken: dict[str, list[tuple[float, float]]] = {who: [] for who in trees}
            # The first run compiles the modules.
            for _ in range(1 + repeats):
                for who, library in trees.items():
                    if sum(seconds for seconds, _ in taken[who]) < _ENOUGH:
                        doing = OURS if who == BEFORE else who
                        run = job.runs[doing]
                        call = f"speed.measured{quick, number, doing}"
                        taken[who].append(
                            program([sys.executable, *run], folder, library)
                            if isinstance(run, tuple)
                            else printed(f"from benchmarks import speed; {call}", folder, library)
                        )
            seconds = {who: min(s for s, _ in runs) for who, runs in taken.items()}
            peaks = {who: min(m for _, m in runs) for who, runs in taken.items()}
            row = {"part": job.part, "what": job.what, "grows": job.grows, "size": job.size}
            yield row | {"seconds": seconds, "megabytes": peaks}


def measured(quick: bool, number: int, who: str) -> None:
    """Print the best time of a job in this process, and its peak memory."""
    job: Job = list(jobs(quick))[number]
    prepare = job.runs[who]
    assert not isinstance(prepare, tuple)
    run: Callable[[], object] = prepare()
    times: list[float] = []
    while sum(times) < _INSIDE:
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    print(json.dumps([min(times), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))
