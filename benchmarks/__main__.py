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
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks import cost, documents, patience, speed
from benchmarks.calibration.__main__ import main as calibration
from benchmarks.measure import machine

PARTS = ("speed", "cost", "patience", "calibration")


def main(arguments: list[str] | None = None) -> int:
    """Return 0, or 1 where the calibration is far outside of what is promised."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--quick", action="store_true", help="two minutes, from the sample")
    parser.add_argument("--repeats", type=int, default=3, help="the best of so many (default 3)")
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.parts) - set(PARTS))
    if unknown:
        parser.error(f"unknown part {', '.join(unknown)}: expected some of {', '.join(PARTS)}")
    parts = options.parts or PARTS
    results = documents.load()
    print(machine())
    if "speed" in parts:
        results["speed"] = part(speed.rows(options.quick, 1 if options.quick else options.repeats))
    if "cost" in parts:
        results["cost"] = {"machine": machine(), "tables": cost.tables(options.quick)}
    if "patience" in parts:
        results["patience"] = part(patience.rows(options.quick))
    failed = _calibration(options.quick) if "calibration" in parts else 0
    if not options.quick:
        documents.save(results)
        documents.write()
    return failed


def part(rows: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Measure rows, print each, and name the machine."""
    kept = []
    for row in rows:
        print("; ".join(f"{key}: {value}" for key, value in row.items()), flush=True)
        kept.append(row)
    return {"machine": machine(), "rows": kept}


def _calibration(quick: bool) -> int:
    with tempfile.TemporaryDirectory() as folder:
        output = ["--output", str(Path(folder, "cells.jsonl"))]
        if quick:
            return calibration(["--subset", "--scale", "0.25", *output])
        return calibration(output) or calibration([*output, "--tables"])


if __name__ == "__main__":
    sys.exit(main())
