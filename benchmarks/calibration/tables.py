"""Results as Markdown, in the marked parts of README.md and docs/.

    <!-- calibration: table :: pairs, documents -->
    <!-- end -->
    at most <!-- calibration: percent :: CELL :: RATE --> <!-- end --> of the trials

"measured" in place of "percent" adds the 95% interval and the number of trials. A table is a list
of kinds of cells, or one of `TABLES`. A row is all cells of one name; where these are several it
shows their mean, the least and the most.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from math import fsum
from pathlib import Path

from benchmarks.calibration.promises import held
from benchmarks.calibration.runner import Counts
from evalstats.inference.counts import wilson

RESULTS = Path(__file__).with_name("results.json")
#: Patterns of names of cells and rates, and how a reader would put them.
WORDS = [
    row.split("\t")
    for row in Path(__file__).with_name("words.tsv").read_text(encoding="utf-8").splitlines()
]


def load() -> Counts:
    """Return the committed results."""
    return json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.is_file() else {}


def save(results: Counts) -> None:
    """Write results, a line a cell: how much happened, and of how many trials."""
    lines = []
    for cell, counts in results.items():
        rounded = {rate: [round(total, 2), trials] for rate, (total, trials) in counts.items()}
        line = json.dumps(rounded, ensure_ascii=False, separators=(",", ":"))
        lines.append(f"{json.dumps(cell, ensure_ascii=False)}:{line}")
    RESULTS.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def markdown(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table between empty lines: words in the first column, numbers in the others."""
    header = list(header)
    lines = [header, [":--"] + ["--:"] * (len(header) - 1), *rows]
    return "\n\n" + "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n\n"


def of_kinds(results: Counts, names: str) -> str:
    """Return all rates of some kinds, a row a kind and name of cells; of peers, a row a test."""
    kinds, rows = names.split(", "), dict[str, list[dict[str, list[float]]]]()
    for kind, cell in ((kind, cell) for kind in kinds for cell in results):
        found, row, _, metric = cell.split(" / ")
        if found == kind:
            row = metric if kind == "peers" else f"{kind}: {row}" if len(kinds) > 1 else row
            rows.setdefault(row, []).append(results[cell])
    rates = dict.fromkeys(x for found in rows.values() for c in found for x in c)
    lines = []
    for row, found in rows.items():
        trials = max(int(n) for counts in found for _, n in counts.values())
        shares = [[c[rate][0] / c[rate][1] for c in found if rate in c] for rate in rates]
        lines.append([row, str(len(found)), f"{trials:,}", *map(_spread, shares)])
    header = ["case", "cells", "trials", *rates]
    if all(len(found) == 1 for found in rows.values()):
        for line in (header, *lines):
            del line[1]  # a column of ones
    return markdown(map(in_words, header), ([in_words(line[0]), *line[1:]] for line in lines))


def in_words(name: str) -> str:
    """Return the name of a cell, or of a rate, as `WORDS` puts it."""
    for pattern, words in WORDS:
        name = re.sub(pattern, words, name)
    return name


def promised(results: Counts) -> str:
    """Return what is promised of each kind and rate, and what was measured."""
    rows: dict[tuple[str, str], list] = {}
    for x in held(results):
        rows.setdefault((f"{x.cell.split(' / ')[0]}: {x.rate}", x.promised), []).append(x)
    lines = [
        [*name, str(len(x)), _spread([y.value for y in x]), str(sum(y.outside for y in x))]
        for name, x in rows.items()
    ]
    return markdown(["rate", "promised", "cells", "measured", "outside"], lines)


def outside(results: Counts) -> str:
    """Return the rates outside, one line each."""
    lines = [
        f"- {x.cell}: {x.rate} {_number(x.value)} ± {_number(x.error)}, promised {x.promised} "
        f"({x.why or 'unexplained'})"
        for x in held(results)
        if x.outside
    ]
    return "\n".join(lines) or "None."


TABLES: dict[str, Callable[[Counts], str]] = {
    "promised": promised,
    "outside": lambda results: f"\n\n{outside(results)}\n\n",
}


def made(results: Counts, kind: str, *names: str) -> str:
    """Return what stands in a marked part: a table, or a rate of a cell."""
    if kind in ("percent", "measured"):
        total, trials = results[names[0]][names[1]]
        low, high = wilson(total / trials, trials, 1.959964)
        brackets = f" [{100 * low:.1f}, {100 * high:.1f}] of {trials:,.0f}"
        return f"{100 * total / trials:.1f}%" + brackets * (kind == "measured")
    (name,) = names
    return TABLES[name](results) if name in TABLES else of_kinds(results, name)


def _spread(values: list[float]) -> str:
    if len(values) < 2:
        return "".join(map(_number, values))
    # The same in every Python: from 3.12 on `sum` is more exact.
    mean = fsum(values) / len(values)
    return f"{_number(mean)} ({_number(min(values))}–{_number(max(values))})"


def _number(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")
