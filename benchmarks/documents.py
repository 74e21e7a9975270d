"""The results of speed, cost and patience, and the documents that are filled from them.

    <!-- measured: speed :: texts to answer -->
    <!-- end -->

A table is `speed` with a part (and "b8866916"), `patience`, or `growth` and `cost` with metrics or
an axis; `took` is one row of `speed`, in a sentence. The marks of calibration are filled too.
"""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from benchmarks.calibration import tables
from benchmarks.calibration.runner import Counts
from benchmarks.measure import BEFORE, ROOT

RESULTS = Path(__file__).with_name("results.json")
_PART = re.compile(r"<!-- (measured|calibration): (.*?) -->.*?<!-- end -->", re.DOTALL)

Results = dict[str, Any]
OURS = "evalstats"


def load() -> Results:
    """Return the committed results: of each part the machine and its rows."""
    return json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.is_file() else {}


def save(results: Results) -> None:
    """Write results, with three digits that count."""
    text = json.dumps(_rounded(results), ensure_ascii=False, indent=1, sort_keys=True)
    # A row is a line.
    text = re.sub(r"\n {4,}", " ", text)
    RESULTS.write_text(text + "\n", encoding="utf-8")


def differing() -> dict[Path, str]:
    """Return the files whose marked parts are not what the results say, and what they should be."""
    files = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    files += [RESULTS.with_name("README.md"), tables.RESULTS.with_name("README.md")]
    results, calibration = load(), tables.load()
    texts = {path: path.read_text(encoding="utf-8") for path in files if "_build" not in path.parts}
    right = {path: filled(text, results, calibration) for path, text in texts.items()}
    return {path: text for path, text in right.items() if text != texts[path]}


def write() -> None:
    """Fill all documents, and draw the figures that show results."""
    for path, text in differing().items():
        path.write_text(text, encoding="utf-8")
        print(f"filled {path}")
    figures = [sys.executable, str(ROOT / "docs" / "draw.py"), "noise"]
    subprocess.run(figures, check=True, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)})


def filled(text: str, results: Results, calibration: Counts) -> str:
    """Return a text with its marked parts filled."""

    def part(match: re.Match[str]) -> str:
        origin, (kind, *names) = match[1], match[2].split(" :: ")
        if origin == "calibration":
            made = tables.made(calibration, kind, *names)
        else:
            made = KINDS[kind](results, *names)
        return f"<!-- {origin}: {match[2]} -->{made}<!-- end -->"

    return _PART.sub(part, text)


def speed(results: Results, part: str, *also: str) -> str:
    """Return milliseconds, peak MB, and how many times as long peers and perhaps `BEFORE` take."""
    rows = [row for row in results["speed"]["rows"] if row["part"] == part]
    every = dict.fromkeys([OURS, *(name for row in rows for name in row["seconds"])])
    names = [name for name in every if name != BEFORE or name in also]
    lines = []
    for row in rows:
        times, cells = row["seconds"], dict.fromkeys(names, "")
        for name in times.keys() & cells.keys():
            s = times[name]
            cells[name] = f"{_digits(1000 * s)} ms, {_digits(row['megabytes'][name])} MB"
            cells[name] += f" ({_digits(s / times[OURS])} ×)" if name != OURS else ""
        lines.append([row["what"], *cells.values()])
    return tables.markdown(["", *names], lines)


def took(results: Results, what: str, *names: str) -> str:
    """Return what a row of `speed` took each, as words: "0.09 s, and 4.9 s"."""
    (row,) = (row for row in results["speed"]["rows"] if row["what"].endswith(what))
    seconds = [row["seconds"][name] for name in names]
    return ", and ".join(f"{s:.2g} s" if s >= 0.05 else f"{1000 * s:.2g} ms" for s in seconds)


def linear(results: Results) -> str:
    """Return how processor time grows with what there is, and the exponent of that."""
    rows = [row for row in results["speed"]["rows"] if row["part"] == "growth"]
    lines = []
    for few, many in zip(rows[::2], rows[1::2], strict=True):
        times = few["seconds"][OURS], many["seconds"][OURS]
        exponent = math.log(times[1] / times[0]) / math.log(many["size"] / few["size"])
        sizes = f"{few['size']:,} to {many['size']:,} {few['grows']}"
        peak = f"{_digits(many['megabytes'][OURS])} MB"
        lines.append([sizes, *(f"{_digits(s)} s" for s in times), f"{exponent:.2f}", peak])
    return tables.markdown(["", "few", "many", "exponent", "peak"], lines)


def growth(results: Results, *metrics: str) -> str:
    """Return seconds and peak memory of extraction, a row a metric."""
    measured = results["cost"]["tables"]
    sizes = [f"{cell['size']:,}" for cell in measured[metrics[0]]]
    lines = [
        [name, *(f"{x['seconds']:.3g} s, {x['megabytes']:,.0f} MB" for x in measured[name])]
        for name in metrics
    ]
    return tables.markdown(["segments", *sizes], lines)


def cost(results: Results, axis: str) -> str:
    """Return what a weight costs along one axis."""
    lines = [
        [
            f"{x['size']:,}",
            *(f"{1e9 * x[key]:.2f}" for key in ("seconds", "floor")),
            f"{x['megabytes']:,.0f}",
        ]
        for x in results["cost"]["tables"][axis]
    ]
    return tables.markdown([axis, "ns a weight", "floor", "peak MB"], lines)


def patience(results: Results, what: str = "table") -> str:
    """Return how soon changes of a run are found, and the true scores of what is kept."""
    rows = results["patience"]["rows"]
    if what == "standard error":
        return _digits(sum(x[what] for x in rows) / len(rows))
    patiences = sorted(rows[0]["stopped"], key=int)
    lines = []
    for x in rows:
        shares = [count / x["runs"] for count in (x["found"], *map(x["stopped"].get, patiences))]
        share_found, *ended = [f"{share:.3f}".removeprefix("0") for share in shares]
        # At the median check half of the runs have found it; where fewer ever do there is none.
        median = f"{x['found after']:.3g}" if shares[0] > 0.5 else ""
        kept = [f"{round(x[key][0], 2) + 0.0:+.2f}" for key in ("best step", "highest step")]
        lines.append([x["what"], share_found, median, *ended, *kept])
    ends = [f"patience={p} ends before" for p in patiences]
    header = ["BLEU", "found", "median check", *ends, "`best_step` keeps", "`selected` keeps"]
    return tables.markdown(header, lines)


KINDS: dict[str, Callable[..., str]] = {
    "machine": lambda results, part: results[part]["machine"],
    "speed": speed,
    "took": took,
    "linear": linear,
    "growth": growth,
    "cost": cost,
    "patience": patience,
    "packages": lambda _: Path(__file__).with_name("packages.md").read_text(encoding="utf-8"),
}


def _digits(value: float) -> str:
    """Return a number with the three digits that count."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(x) for key, x in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [_rounded(x) for x in value]
    return float(f"{value:.3g}") if isinstance(value, float) else value
