"""Results as Markdown tables, a row a cell; every test and every interval is a column."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from benchmarks.calibration.answers import Record, standard_error
from benchmarks.calibration.cells import Cell
from benchmarks.calibration.promises import outside
from benchmarks.calibration.texts import LABELS

Results = list[tuple[Cell, Record]]
FIRST = ("null", "population", "metric", "N", "trials")


def tests(results: Results) -> str:
    """Rejection rates at .05 and .01 of every test where no difference is real."""
    chosen = [(c, r) for c, r in results if c.part == "pairs" and c.null != "real difference"]
    return _of_tests(chosen, "±")


def power(results: Results) -> str:
    """Rejection rates where the difference is real."""
    return _of_tests(
        [(c, r) for c, r in results if c.part == "pairs" and c.null == "real difference"], ""
    )


def differences(results: Results) -> str:
    """Coverage and mean length of every interval of a difference."""
    return _of_intervals(results, "difference")


def scores(results: Results) -> str:
    """Coverage and mean length of every interval of a score."""
    return _of_intervals(results, "score")


def gates(results: Results) -> str:
    """How often the gate is wrong, and how often it says that it cannot tell."""
    rows = []
    for cell, record in results:
        if cell.part == "gates":
            kind = (
                f"passes a loss of its {cell.null}"
                if cell.null in ("margin", "recovery")
                else "fails equal scores"
            )
            rate = record["rates"]["gate"][0]
            refused = record["refused"].get("gate", 0.0)
            error = _number(standard_error(rate, record["trials"]))
            columns = [kind, f"{_number(rate)} ± {error}", _number(refused)]
            rows.append([*_first(cell, record), *columns, *_outside(cell, record)])
    return markdown([*FIRST, "wrong when it", "wrong", "refused", "outside"], rows)


def runs(results: Results) -> str:
    """How many runs have a false improvement, and in how many a real one is found in ten checks."""
    rows = []
    for cell, record in results:
        if cell.part == "runs":
            kind, population = str(cell.source).split("/", 1)
            columns = []
            for key in ("false improvement", "found"):
                rate = record["rates"].get(key, [None])[0]
                error = "" if rate is None else _number(standard_error(rate, record["trials"]))
                columns.append("" if rate is None else f"{_number(rate)} ± {error}")
            first = [kind, label(population), *_first(cell, record)[2:]]
            rows.append([*first, *columns, *_outside(cell, record)])
    return markdown(["run", *FIRST[1:], "false improvement", "found", "outside"], rows)


def notes(results: Results) -> str:
    """Say what the notes are where failures are rare, and in which share of trials they come."""
    rows = [
        [*_first(cell, record), _number(share), text]
        for cell, record in results
        if cell.null == "rare failures"
        for text, share in record["notes"].items()
    ]
    return markdown([*FIRST, "share", "note"], rows)


def broken(results: Results) -> str:
    """All cells outside, one line each."""
    found = [f"- {c.name}: {'; '.join(o)}" for c, r in results if (o := outside(c, r))]
    return "\n".join(found) or "None."


def markdown(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a Markdown table: words to the left, numbers to the right."""
    header = list(header)
    words = ("null", "run", "population", "metric", "outside", "note", "wrong when it", "test")
    words += ("interval of", "method")
    lines = [header, [":--" if name in words else "--:" for name in header], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


TABLES: Mapping[str, Callable[[Results], str]] = {
    "tests": tests,
    "power": power,
    "differences": differences,
    "scores": scores,
    "gates": gates,
    "runs": runs,
    "notes": notes,
    "outside": broken,
}


def _of_tests(results: Results, error: str) -> str:
    names = _second("test|", results)
    sides = ("greater", "less")
    header = [*FIRST, *names]
    header += [f"{name} {s}" for name in names for s in sides if name == "default" or s == sides[0]]
    rows = []
    for cell, record in results:
        columns = [_rates(record, f"test|{name}|two-sided") for name in names]
        for name in names:
            for side in sides if name == "default" else sides[:1]:
                columns.append(_rates(record, f"test|{name}|{side}"))
        if error:
            columns.append(_number(standard_error(0.05, record["trials"])))
        rows.append([*_first(cell, record), *columns, *_outside(cell, record, "test")])
    return markdown([*header, *([error] if error else []), "outside"], rows)


def _of_intervals(results: Results, what: str) -> str:
    chosen = [(cell, record) for cell, record in results if cell.part == "pairs"]
    names = _second(f"{what}|", chosen)
    rows = []
    for cell, record in chosen:
        columns = []
        for name in names:
            rate = record["rates"].get(f"{what}|{name}")
            length = record["lengths"].get(f"{what}|{name}", 0.0)
            columns.append("" if rate is None else f"{_number(rate[0])} ({length:.3g})")
        error = _number(standard_error(0.95, record["trials"]))
        rows.append([*_first(cell, record), *columns, error, *_outside(cell, record, what)])
    return markdown([*FIRST, *names, "±", "outside"], rows)


def _first(cell: Cell, record: Record) -> list[str]:
    unit = " documents" if cell.unit == "documents" else ""
    population = label(str(cell.source))
    return [cell.null, population, cell.metric, f"{cell.n}{unit}", str(record["trials"])]


def label(population: str) -> str:
    name, _, rest = population.partition(", ")
    return f"{LABELS.get(name, name)}, {rest}" if rest else LABELS.get(name, name)


def _second(prefix: str, results: Results) -> list[str]:
    """Return the names after a prefix, in the order in which they come."""
    keys = (key for _, record in results for key in record["rates"] if key.startswith(prefix))
    return list(dict.fromkeys(key.split("|")[1] for key in keys))


def _rates(record: Record, key: str) -> str:
    rates = record["rates"].get(key)
    refused = record["refused"].get(key, 0)
    said = "" if rates is None else " ".join(map(_number, rates))
    return said + (f" (refused {_number(refused)})" if refused else "")


def _number(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")


def _outside(cell: Cell, record: Record, what: str = "") -> list[str]:
    sides = ("default ", "power ") if what == "test" else (what,)
    return ["; ".join(text for text in outside(cell, record) if text.startswith(sides))]
