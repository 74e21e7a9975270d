"""The command line: measure cells, render results, check what the documents say."""

from __future__ import annotations

import argparse
import re
import sys
from dataclasses import replace
from pathlib import Path

from benchmarks.calibration import marked, runner
from benchmarks.calibration.cells import cells
from benchmarks.calibration.promises import outside


def main(arguments: list[str] | None = None) -> int:
    """Return 0, or 1 where a cell failed, is outside its promise, or a document differs."""
    parser = argparse.ArgumentParser(prog="benchmarks.calibration", description=__doc__)
    parser.add_argument("--output", type=Path, help="JSON lines, appended to; finished cells stay")
    parser.add_argument("--subset", action="store_true", help="two minutes on two cores")
    parser.add_argument("--cells", default="", metavar="REGEX", help="only cells with such names")
    parser.add_argument("--scale", type=float, default=1.0, help="times as many trials")
    parser.add_argument("--workers", type=int, default=2, help="processes")
    parser.add_argument("--list", action="store_true", help="print names of cells and stop")
    parser.add_argument("--tables", action="store_true", help="--output becomes results and tables")
    parser.add_argument("--check", action="store_true", help="do documents say what results say?")
    options = parser.parse_args(arguments)
    if options.check:
        found = marked.differing(marked.files(), marked.load())
        for path in found:
            print(f"{path} differs from the results; python -m benchmarks.calibration --tables")
        return int(bool(found))
    chosen = [
        replace(cell, trials=max(1, round(cell.trials * options.scale)))
        for cell in cells(options.subset)
        if re.search(options.cells, cell.name)
    ]
    if options.list:
        print("\n".join(cell.name for cell in chosen))
        return 0
    if options.tables:
        results = marked.save(runner.read(options.output)) if options.output else marked.load()
        for path in marked.fill(marked.files(), results):
            print(f"filled {path}")
        return 0
    if options.output is None:
        parser.error("--output is needed: the file that results are appended to")
    failed = runner.run(chosen, options.output, options.workers)
    known = runner.read(options.output)
    beyond = [
        f"{cell.name}: {'; '.join(found)}"
        for cell in chosen
        if cell.name in known and (found := outside(cell, known[cell.name]))
    ]
    print(f"\n{len(chosen)} cells, {failed} failed, {len(beyond)} outside what is promised")
    print("\n".join(beyond))
    return int(bool(failed or beyond))


if __name__ == "__main__":
    sys.exit(main())
