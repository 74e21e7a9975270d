"""The command line: measure cells, render results, check what the documents say."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from benchmarks import documents
from benchmarks.calibration import runner, tables
from benchmarks.calibration.jobs import jobs
from benchmarks.calibration.promises import FAR, held


def main(arguments: list[str] | None = None) -> int:
    """Return 0, or 1 where a job failed or has no cell, or a document or a rate is far off."""
    parser = argparse.ArgumentParser(prog="benchmarks.calibration", description=__doc__)
    parser.add_argument("--output", type=Path, help="JSON lines, appended to; finished jobs stay")
    parser.add_argument("--subset", action="store_true", help="a minute, needs no files")
    parser.add_argument("--cells", default="", metavar="REGEX", help="only jobs with such names")
    parser.add_argument("--scale", type=float, default=1.0, help="times as many trials")
    parser.add_argument("--workers", type=int, default=2, help="processes")
    parser.add_argument("--tables", action="store_true", help="--output becomes results and tables")
    parser.add_argument("--check", action="store_true", help="do documents say what results say?")
    options = parser.parse_args(arguments)
    if options.check:
        results, differing = tables.load(), documents.differing()
        known = {cell.rpartition(" / ")[0] for cell in results}
        named = {job.name for job in jobs(every=True)}
        for name in sorted(named - known):
            print(f"no cell of the job {name}")
        for name in sorted(known - named):
            print(f"no job of the cells {name}")
        for path in differing:
            print(f"{path} differs from the results; python -m benchmarks.calibration --tables")
        print(f"{len(results)} cells; outside what is promised:\n{tables.outside(results)}")
        unexplained = any(x.outside and not x.why for x in held(results))
        return int(bool(differing) or known != named or unexplained)
    if options.tables:
        if options.output:
            known = runner.read(options.output)
            listed = [known[job.name][1] for job in jobs(every=True) if job.name in known]
            tables.save({cell: counts for cells in listed for cell, counts in cells.items()})
        documents.write()
        return 0
    if options.output is None:
        parser.error("--output is needed: the file that results are appended to")
    if options.subset:
        options.scale *= 0.4
    chosen = [
        job._replace(trials=max(1, round(job.trials * options.scale)))
        for job in jobs(options.subset)
        if re.search(options.cells, job.name)
    ]
    failed = runner.run(chosen, options.output, options.workers)
    known = runner.read(options.output)
    results = {c: x for job in chosen if job.name in known for c, x in known[job.name][1].items()}
    far = [x for x in held(results) if x.chance < FAR]
    print(f"\n{len(results)} cells, {failed} jobs failed; outside:\n{tables.outside(results)}")
    return int(bool(failed or (options.subset and far)))


if __name__ == "__main__":
    sys.exit(main())
