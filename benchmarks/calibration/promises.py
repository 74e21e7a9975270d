"""What the library promises of each cell, and which cells are outside.

A rate is outside where it is beyond its bound by more than three Monte-Carlo standard errors; of
some thousand rates that are on their bound, one or two are outside by chance.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.calibration.answers import Record, standard_error
from benchmarks.calibration.cells import Cell

N_ERRORS = 3
#: How often a gate at .05 may be wrong.
GATE = 0.05 + 0.015
FALSE_IMPROVEMENTS = 0.05
#: Of jumps by half a BLEU point after 30 checks, found within 10; it was .38 before.
FOUND = 1.5 * 0.38
POWER_LOST = 0.02


@dataclass(frozen=True)
class Bound:
    """A rate, by its key and its place under that key, and where it must lie."""

    key: str
    place: int
    low: float = 0.0
    high: float = 1.0


def bounds(cell: Cell) -> Iterator[Bound]:
    """Yield what is promised of a cell; nothing where nobody could hold it."""
    if cell.part == "pairs":
        yield from _tests(cell)
        yield from _intervals(cell)
    elif cell.part == "gates" and cell.n >= 10 and "rare failures" not in cell.name:
        # Failures that a few segments happen not to hold are seen by no test and no bound.
        yield Bound("gate", 0, high=GATE)
    elif cell.part == "runs":
        yield Bound("false improvement", 0, high=FALSE_IMPROVEMENTS)
        if getattr(cell.source, "jump", 0) == 0.5 and getattr(cell.source, "after", 0) == 30:
            yield Bound("found", 0, low=FOUND)


def outside(cell: Cell, record: Record) -> list[str]:
    """Return what is outside its bounds, in words."""
    found = []
    for bound in bounds(cell):
        if bound.key not in record["rates"]:
            # Every trial was refused: that is an answer.
            continue
        rate = record["rates"][bound.key][bound.place]
        trials = record["trials"] * (1 - record["refused"].get(bound.key, 0))
        for limit, beyond in ((bound.low, bound.low - rate), (bound.high, rate - bound.high)):
            if beyond > N_ERRORS * standard_error(limit, max(trials, 1)):
                found.append(f"{_words(bound)} {rate:.3f}, promised {_range(bound)}")
    alone, missed = record["rates"].get("default and ar differ", (0.0, 0.0))
    if cell.null == "real difference" and cell.part == "pairs":
        error = math.sqrt(max(alone + missed - (alone - missed) ** 2, 0) / record["trials"])
        if missed - alone - POWER_LOST > N_ERRORS * error:
            found.append(f"power {missed - alone:.3f} below plain AR, promised {POWER_LOST:g}")
    return found


def _tests(cell: Cell) -> Iterator[Bound]:
    keys = [f"test|default|{side}" for side in ("two-sided", "greater", "less")]
    if cell.unit == "documents":
        low, high = (0.0, 0.05) if cell.n < 10 else (0.04, 0.07)
        yield Bound(keys[0], 0, low, high)
    elif cell.null == "exchangeable":
        # An exact test of few 0/1 scores that differ cannot come near its level.
        low = 0.04 if cell.n >= 100 and cell.metric != "0/1" else 0.0
        for key in keys:
            yield Bound(key, 0, low, 0.05)
            yield Bound(key, 1, 0.0, 0.01)
    elif cell.null == "equal scores" and cell.n >= 300:
        low, lower = (0.0, 0.0) if cell.metric == "0/1" else (0.04, 0.005)
        for key in keys:
            yield Bound(key, 0, low, 0.06)
            yield Bound(key, 1, lower, 0.015)
    elif cell.null == "equal scores" and cell.n >= 100:
        for key in keys:
            yield Bound(key, 0, 0.0, 0.075)
            yield Bound(key, 1, 0.0, 0.02)


def _intervals(cell: Cell) -> Iterator[Bound]:
    if cell.null == "rare failures" or cell.n < 10:
        return
    low = 0.925 if cell.n >= 30 else 0.90
    # Where few 0/1 scores are possible an interval cannot be near its level.
    high = 0.975 if cell.n >= 100 and cell.metric != "0/1" else 1.0
    for key in ("difference|default", "score|default"):
        yield Bound(key, 0, low, high)


def _words(bound: Bound) -> str:
    level = " at .01" if bound.place == 1 else ""
    return bound.key.removeprefix("test|").replace("|", " ") + level


def _range(bound: Bound) -> str:
    if bound.low == 0:
        return f"at most {bound.high:g}"
    if bound.high == 1:
        return f"at least {bound.low:g}"
    return f"{bound.low:g} to {bound.high:g}"
