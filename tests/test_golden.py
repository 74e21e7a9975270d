"""Golden comparisons: numbers, signatures, tables and messages of many calls are what they were.

They say that nothing changed, not that it is right. Where a change is meant,

    python -m tests.test_golden

writes `golden_comparisons.json` again; read what differs before you commit it. The JSON of a few
results stays as it was first written, since later versions have to read it.
"""

import json
import math
import os
import re
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import evalstats as es
from tests.golden_cases import cases, write_logs

FILE = Path(__file__).with_name("golden_comparisons.json")
#: SciPy's functions differ in the last bits from version to version.
RTOL = 1e-9
#: The noncentral t of `Power` differs from SciPy 1.13 to 1.17 by up to 4e-6 (powers that are nearly 1).
POWER_RTOL = 1e-5
_VERSION = re.compile(r"\b(evalstats(?:-text)?|numpy|sacrebleu)([: ])\d[\w.+,]*")
#: Lines no longer than this are not worth a number.
SHORT = 12
#: Cases whose JSON stays as it was first written: later versions read it.
KEPT = ("margin 0.5", "suite macro, scores", "gate margin", "power")
#: What the text has, and what follows from other fields.
ELSEWHERE = {"notes", "signature", "signatures", "value", "n_differing", "baseline_score"}
ELSEWHERE |= {"system_score", "confidence_level", "significance_level"}


def unversioned(text: str) -> str:
    return _VERSION.sub(r"\1\2X", text)


def columns(records: list[dict[str, Any]]) -> dict[str, Any]:
    """Return records as columns; one value stands for a column of equal ones, `None` is left out."""
    flat = [flattened(record) for record in records]
    found = {}
    for name in dict.fromkeys(key for record in flat for key in record):
        values = [record.get(name) for record in flat]
        value = values[0] if all(same(v, values[0]) for v in values) else values
        if value not in (None, "", []):
            found[name] = value
    return found


def flattened(record: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in record.items():
        if name in ELSEWHERE or value is None:
            continue
        if isinstance(value, dict):
            found |= flattened(value, f"{prefix}{name}.")
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            found[prefix + name] = columns(value)
        else:
            found[prefix + name] = value
    return found


def observed(case) -> dict[str, Any]:
    """Return what a call returns, or raises, as JSON holds it."""
    try:
        result = case()
    except (es.InputError, es.InputTypeError, AssertionError) as error:
        return {"raised": type(error).__name__, "text": unversioned(str(error)).splitlines()}
    if isinstance(result, str):
        return {"text": unversioned(result).splitlines()}
    if isinstance(result, list):
        return {"text": [unversioned(line) for line in result]}
    text = result.to_text(verbose=True) if hasattr(result, "to_text") else ""
    values = {"": type(result).__name__, **flattened(result.to_dict())}
    return {"values": values, "text": unversioned(text).splitlines()}


def rounded(value: Any) -> Any:
    """Return JSON with numbers of 11 digits, which take less room."""
    if isinstance(value, float):
        return float(f"{value:.11g}")
    if isinstance(value, dict):
        return {key: rounded(inner) for key, inner in value.items()}
    return [rounded(inner) for inner in value] if isinstance(value, list) else value


def same(one: Any, other: Any, rtol: float = RTOL) -> bool:
    """Return whether two values of JSON are equal, numbers but for their last bits."""
    if isinstance(one, dict) and isinstance(other, dict):
        return list(one) == list(other) and all(same(one[key], other[key], rtol) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        pairs = zip(one, other, strict=False)
        return len(one) == len(other) and all(same(*pair, rtol) for pair in pairs)
    if isinstance(one, float) and isinstance(other, (int, float)):
        return math.isclose(one, other, rel_tol=rtol)
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("golden")
    write_logs(folder)
    return folder


GOLDEN: dict[str, Any] = {"cases": {}, "json": {}, "lines": []}
if FILE.exists():
    GOLDEN = json.loads(FILE.read_text(encoding="utf-8"))


def text_of(case: dict[str, Any]) -> list[str]:
    """Return the lines of a case, some of which stand among those that several have."""
    return [GOLDEN["lines"][x] if isinstance(x, int) else x for x in case["text"]]


@pytest.mark.parametrize("name", GOLDEN["cases"])
def test_nothing_changes(name, logs, monkeypatch):
    # So that messages have no other folder's name.
    monkeypatch.chdir(logs)
    expected, found = GOLDEN["cases"][name], observed(cases()[name])
    assert found["text"] == text_of(expected)
    assert list(found) == list(expected)
    if "values" in expected:
        is_power = expected["values"][""] == "Power"
        # The second half shows where they differ.
        assert (
            same(found["values"], expected["values"], POWER_RTOL if is_power else RTOL)
            or found["values"] == expected["values"]
        )
    assert found.get("raised") == expected.get("raised")


def test_every_case_of_the_file_is_there():
    assert list(GOLDEN["cases"]) == list(cases())


@pytest.mark.parametrize("name", GOLDEN["json"])
def test_json_of_earlier_versions_loads(name):
    kept = GOLDEN["json"][name]
    result = getattr(es, kept["class"]).from_json(json.dumps(kept["result"]))
    assert holds(result.to_dict(), kept["result"])
    assert result.to_text(verbose=True)


def holds(whole: Any, part: Any) -> bool:
    """Return whether a value of JSON has all that another has; later versions may add fields."""
    if isinstance(part, dict):
        # The words of a reason are each version's own.
        names = [key for key in part if key != "reason"]
        return all(key in whole and holds(whole[key], part[key]) for key in names)
    if isinstance(part, list):
        return len(whole) == len(part) and all(map(holds, whole, part))
    return bool(whole == part)


def compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def write() -> None:
    """Write the golden file."""
    with tempfile.TemporaryDirectory() as folder:
        write_logs(Path(folder))
        before = os.getcwd()
        os.chdir(folder)
        made = {name: rounded(observed(case)) for name, case in cases().items()}
        results = {name: cases()[name]() for name in KEPT if name not in GOLDEN["json"]}
        os.chdir(before)
    written = {n: {"class": type(r).__name__, "result": r.to_dict()} for n, r in results.items()}
    kept = {**GOLDEN["json"], **written}
    counts = Counter(line for case in made.values() for line in case["text"])
    shared = [line for line, n in counts.items() if n > 1 and len(line) > SHORT]
    numbers = {line: i for i, line in enumerate(shared)}
    for case in made.values():
        case["text"] = [numbers.get(line, line) for line in case["text"]]
    # A case a line.
    parts = [
        ",\n".join(f"{compact(name)}: {compact(value)}" for name, value in some.items())
        for some in (made, kept)
    ]
    lines = ",\n".join(map(compact, shared))
    text = (
        f'{{"cases": {{\n{parts[0]}\n}},\n"json": {{\n{parts[1]}\n}},\n"lines": [\n{lines}\n]}}\n'
    )
    FILE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write()
