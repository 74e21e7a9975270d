"""Jobs over processes; results are kept line by line, and finished jobs are not done again."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from benchmarks.calibration.jobs import Job

#: By cell and rate, how much happened, and of how many trials.
Counts = dict[str, dict[str, list[float]]]


def measure(job: Job) -> tuple[Counts, float]:
    """Run all trials of a job; return counts and seconds of processor time."""
    start, sums = time.process_time(), dict[str, dict[str, list[float]]]()
    for trial in range(job.trials):
        drawn = job.source.draw(job.n, np.random.default_rng([job.seed, trial]))
        for metric, rate, happened, *total in job.question(drawn, trial):
            cell = sums.setdefault(f"{job.name} / {metric}", {})
            count = cell.setdefault(rate, [0.0, 0.0, 0])
            count[0] += float(happened)
            count[1] += float(*total) if total else 1.0
            count[2] += 1
    if not sums:
        raise ValueError("none of the trials was asked anything")
    return {cell: _counts(rates) for cell, rates in sums.items()}, time.process_time() - start


def _counts(sums: dict[str, list[float]]) -> dict[str, list[float]]:
    """Return how much happened, of how many trials, from sums of that and of what it was part of.

    A length is a share of sums, times the trials; there is none where nothing ever varied.
    """
    return {rate: [a if b == n else a * n / b, n] for rate, (a, b, n) in sums.items() if b}


def read(output: Path) -> dict[str, tuple[int, Counts]]:
    """Return trials and counts by job; of a job that is there twice, the last."""
    lines = output.read_text(encoding="utf-8").splitlines() if output.is_file() else []
    records = map(json.loads, lines)
    return {record["job"]: (record["trials"], record["cells"]) for record in records}


def run(jobs: Iterable[Job], output: Path, workers: int) -> int:
    """Measure what is missing and append it to the file; return how many jobs failed."""
    known, failed, start = read(output), 0, time.perf_counter()
    missing = [x for x in jobs if x.name not in known or known[x.name][0] < x.trials]
    # A core is one process's: its linear algebra must not take the others'.
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    with (
        output.open("a", encoding="utf-8") as file,
        ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool,
    ):
        futures = {pool.submit(measure, job): job for job in missing}
        for done, future in enumerate(as_completed(futures), 1):
            job = futures[future]
            if (error := future.exception()) is not None:
                failed += 1
                print(f"FAILED {job.name}: {type(error).__name__}: {error}", flush=True)
                continue
            counts, seconds = future.result()
            record = {"job": job.name, "trials": job.trials, "cells": counts}
            print(json.dumps(record, ensure_ascii=False), file=file, flush=True)
            total = time.perf_counter() - start
            print(f"{total:6.0f} s {done}/{len(missing)} {seconds:6.1f} s  {job.name}", flush=True)
    return failed
