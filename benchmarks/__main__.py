"""Measure speed, cost and calibration, and fill the documents from the results.

    python -m benchmarks                 # all there is: hours; results.json and the documents
    python -m benchmarks --quick         # two minutes, from the bundled sample; nothing is written
    python -m benchmarks speed cost      # some of it

Results of one machine are comparable with one another only: measure again what you compare.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from benchmarks import before, cost, documents, patience, programs, speed
from benchmarks.calibration.__main__ import main as calibration
from benchmarks.measure import best_times, machine

Row = dict[str, Any]
PARTS = ("speed", "programs", "cost", "patience", "calibration")


def main(arguments: list[str] | None = None) -> int:
    """Return 0, or 1 where the calibration is far outside of what is promised."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--quick", action="store_true", help="two minutes, from the sample")
    parser.add_argument("--repeats", type=int, default=5, help="the best of so many (default 5)")
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.parts) - set(PARTS))
    if unknown:
        parser.error(f"unknown part {', '.join(unknown)}: expected some of {', '.join(PARTS)}")
    parts = options.parts or PARTS
    results = documents.load()
    print(machine())
    if "programs" in parts:
        results["programs"] = part(_programs(options.quick))
    if "speed" in parts:
        repeats = 1 if options.quick else options.repeats
        results["speed"] = part(_speed(options.quick, repeats))
        results["before"] = part(_before(repeats))
    if "cost" in parts:
        results["cost"] = {"machine": machine(), "tables": cost.tables(options.quick)}
    if "patience" in parts:
        results["patience"] = part(_patience(options.quick))
    failed = _calibration(options.quick) if "calibration" in parts else 0
    if not options.quick:
        documents.save(results)
        documents.write()
    return failed


def part(rows: Iterable[Row]) -> Row:
    """Measure rows, and name the machine."""
    return {"machine": machine(), "rows": list(rows)}


def _programs(quick: bool) -> Iterator[Row]:
    for what, usage in programs.usages(quick):
        print(f"{what}: {usage.seconds:.2f} s, {usage.megabytes:,.0f} MB", flush=True)
        yield {"what": what, **usage._asdict()}


def _speed(quick: bool, repeats: int) -> Iterator[Row]:
    for question in speed.questions(quick):
        times = best_times(question.runs, repeats)
        shown = ", ".join(f"{who} {1000 * seconds:,.1f} ms" for who, seconds in times.items())
        print(f"{question.part}: {question.what}: {shown}", flush=True)
        yield {"part": question.part, "what": question.what, "seconds": times}


def _before(repeats: int) -> Iterator[Row]:
    for row in before.rows(repeats):
        shown = ", ".join(f"{who} {1000 * s:,.4g} ms" for who, s in row["seconds"].items())
        print(f"{row['what']}: {shown}", flush=True)
        yield row


def _patience(quick: bool) -> Iterator[Row]:
    for row in patience.rows(quick):
        print(f"{row['what']}: found in {row['found']} of {row['runs']} runs", flush=True)
        yield row


def _calibration(quick: bool) -> int:
    with tempfile.TemporaryDirectory() as folder:
        output = ["--output", str(Path(folder, "cells.jsonl"))]
        if quick:
            return calibration(["--subset", "--scale", "0.25", *output])
        return calibration(output) or calibration([*output, "--tables"])


if __name__ == "__main__":
    sys.exit(main())
