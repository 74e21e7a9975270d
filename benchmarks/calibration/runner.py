"""Cells over processes; results are kept line by line, and finished cells are not done again."""

from __future__ import annotations

import json
import os
import sys
import time
import traceback
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

from benchmarks.calibration import gates, pairs, peers, runs
from benchmarks.calibration.answers import Record
from benchmarks.calibration.cells import Cell
from benchmarks.calibration.populations import Source, population
from benchmarks.calibration.runs import Run


def measure(cell: Cell) -> Record:
    """Run all trials of a cell."""
    start = time.perf_counter()
    if isinstance(cell.source, Run):
        answers = runs.measure(cell.source, cell.trials, cell.seed)
    elif not isinstance(cell.source, Source):
        answers = peers.measure(cell.source, cell.trials, cell.seed)
    elif cell.part == "gates":
        answers = gates.measure(population(cell.source), cell.n, cell.null, cell.trials, cell.seed)
    else:
        drawn_from = population(cell.source)
        answers = pairs.measure(drawn_from, cell.n, cell.unit, cell.trials, cell.seed)
    return answers.record(cell.name, cell.trials, time.perf_counter() - start)


def read(output: Path) -> dict[str, Record]:
    """Return what was measured by cell; of a cell that is there twice, more trials win."""
    found: dict[str, Record] = {}
    if output.is_file():
        for line in output.read_text(encoding="utf-8").splitlines():
            try:
                record = json.loads(line)
            except json.JSONDecodeError:
                # The last line of a run that was killed.
                continue
            known = found.get(record["cell"])
            if known is None or record["trials"] >= known["trials"]:
                found[record["cell"]] = record
    return found


def run(cells: Iterable[Cell], output: Path, workers: int) -> int:
    """Measure what is missing and append it to `output`; return how many cells failed."""
    known = read(output)
    missing = [
        cell for cell in cells if cell.name not in known or known[cell.name]["trials"] < cell.trials
    ]
    # Long ones first, so that no process works alone for long at the end.
    missing.sort(
        key=lambda cell: -cell.trials * (cell.n + 500) * (20 if cell.part == "runs" else 1)
    )
    done = failed = 0
    output.parent.mkdir(parents=True, exist_ok=True)
    torn = output.is_file() and not (b"\n" + output.read_bytes()).endswith(b"\n")
    with output.open("a", encoding="utf-8") as file:
        # What a killed run has left of a line must not swallow the next one.
        file.write("\n" if torn else "")
        for cell, record in _measured(missing, workers):
            done += 1
            if isinstance(record, BaseException):
                failed += 1
                print(
                    f"{cell.name}\n{''.join(traceback.format_exception(record))}", file=sys.stderr
                )
                continue
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
            file.flush()
            print(f"{done}/{len(missing)} {record['seconds']:7.1f} s  {cell.name}", flush=True)
    return failed


def _measured(missing: list[Cell], workers: int) -> Iterator[tuple[Cell, Record | BaseException]]:
    """Yield cells as they are finished, with what was found or what went wrong."""
    if workers == 1:
        for cell in missing:
            try:
                yield cell, measure(cell)
            except Exception as error:
                yield cell, error
        return
    # A core is one process's: its linear algebra must not take the others'.
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        futures: dict[Future[Record], Cell] = {pool.submit(measure, cell): cell for cell in missing}
        for future in as_completed(futures):
            error = future.exception()
            yield futures[future], error if error is not None else future.result()
