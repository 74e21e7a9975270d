"""promptfoo: `results.json` of any version, and JSON lines of results.

A system is a provider with a prompt. Tests are known by what they ask, since each repetition has a
number of its own; those that ask the same are answers to one item. A test that ended with an error
is neither passed nor failed; promptfoo's own rate counts it as failed.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import numpy as np

from evalstats.checks import shown
from evalstats.errors import InputError
from evalstats.logs.formats.lacking import ended, fewer
from evalstats.logs.log import Log, Wanted, log_of
from evalstats.logs.rows import Answers, Key, Rows, is_finite
from evalstats.logs.sources import (
    Source,
    as_label,
    as_name,
    dotted,
    fingerprint,
    get,
    json_lines,
    paths_of,
    require,
)
from evalstats.metrics import Mean

NAME = "promptfoo"

_PASSED, _SCORE = "passed", "score"
#: promptfoo's reason of a failure: an error, not an assertion.
_ERROR = 2
#: What of an assertion says what is asserted.
_ASSERTED = ("type", "value", "threshold", "metric", "weight")


def is_ours(source: Source) -> bool:
    """Return whether a file has results of tests."""
    if source.suffix == ".jsonl":
        return {"promptIdx", "testIdx", "success"} <= source.first.keys()
    results = _results(source.json)
    first = results[0] if results else None
    return isinstance(first, dict) and {"prompt", "success"} <= first.keys()


def _results(document: Any) -> list[Any]:
    """Return the results of tests, which the first version had one level higher."""
    inner = get(document, "results", "results")
    results = get(document, "results") if inner is None else inner
    return results if isinstance(results, list) else []


class _Column(NamedTuple):
    """The results of one provider with one prompt.

    `stated` are promptfoo's numbers of all of them, None where there are none.
    """

    provider: str
    prompt: str
    results: list[Any]
    stated: Any


def read(source: Source, wanted: Wanted) -> Log:
    """Return whether tests passed, their scores and their named scores, of each system."""
    if source.suffix == ".jsonl":
        results = [record for _, record in json_lines(source.path)]
    else:
        results = _results(source.json)
    where = str(source.path)
    columns = _columns(results, source.json, where)
    tests = _tests([one for column in columns for one in column.results], where)
    rows: list[Rows] = []
    for column, system in zip(columns, _systems(columns), strict=True):
        rows += _rows(column, system, tests, where, wanted)
    return log_of(where, NAME, rows)


def _columns(results: list[Any], document: Any, where: str) -> list[_Column]:
    """Return results by the number of their prompt, which differs between providers.

    The first version has no numbers: there the provider and the label of the prompt take its place.
    """
    inner = get(document, "results")
    prompts = get(inner, "prompts") or get(inner, "table", "head", "prompts") or []
    by_prompt: dict[Any, list[Any]] = {}
    for i, one in enumerate(results):
        at = f"{where}, result {i}"
        require(one, "success", where=at)
        label = as_label(get(one, "prompt", "label") or get(one, "prompt", "display"))
        number = one.get("promptIdx")
        if number is not None and not isinstance(number, int):
            raise InputError(f"{at}: promptIdx must be a whole number, got {shown(number, 60)}")
        place = (_provider(one), label) if number is None else number
        by_prompt.setdefault(place, []).append(one)
    columns = []
    for place, ones in sorted(by_prompt.items()) if prompts else by_prompt.items():
        label = as_label(get(ones[0], "prompt", "label") or get(ones[0], "prompt", "display"))
        stated = None
        if isinstance(place, int) and 0 <= place < len(prompts):
            stated = get(prompts[place], "metrics")
        columns.append(_Column(_provider(ones[0]), label, ones, stated))
    if len(columns) == 1 and columns[0].stated is None:
        stats = get(inner, "stats") or get(document, "stats")
        counts = {f"test{name}Count": get(stats, of) for name, of in _STATS.items()}
        columns = [columns[0]._replace(stated=counts)]
    return columns


#: What the statistics of all results have, by what those of one prompt call it.
_STATS = {"Pass": "successes", "Fail": "failures", "Error": "errors"}


def _provider(result: Any) -> str:
    """Return the label of a provider, or else its id."""
    provider = result.get("provider")
    name = get(provider, "label") or get(provider, "id") or provider
    return name if isinstance(name, str) and name.strip() else "provider"


def _systems(columns: list[_Column]) -> list[str]:
    """Return the name of each system: its provider, and its prompt where there are several."""
    providers = [as_name(column.provider) for column in columns]
    if len(set(providers)) == len(providers):
        return providers
    prompts = [as_name(column.prompt or "prompt", most=40) for column in columns]
    pairs = list(zip(providers, prompts, strict=True))
    seen = Counter[tuple[str, str]]()
    names = []
    for pair in pairs:
        seen[pair] += 1
        names.append(", ".join(pair) + (f" ({seen[pair]})" if seen[pair] > 1 else ""))
    return names


class _Test(NamedTuple):
    """A test: the name of its item, and the metrics that any of its results has."""

    name: str
    metrics: set[str]


def _tests(results: list[Any], where: str) -> dict[str, _Test]:
    """Return the tests by the hash of what they ask.

    A test is called by its description, or else by its variables; by both where tests of one
    description differ.
    """
    texts: dict[str, tuple[str, str]] = {}
    metrics: dict[str, set[str]] = {}
    for i, one in enumerate(results):
        test, variables = one.get("testCase") or {}, _variables(one, f"{where}, result {i}")
        description = as_label(get(test, "description") or one.get("description"))
        said = ", ".join(f"{name}={as_label(value)}" for name, value in variables.items())
        asked = _asked(one, where)
        texts.setdefault(asked, (description, said or "test"))
        named = {as_name(name) for name in one.get("namedScores") or {}}
        metrics.setdefault(asked, {_PASSED, _SCORE}).update(named)
    counts = Counter(description for description, _ in texts.values())
    names = {}
    for asked, (description, said) in texts.items():
        parts = [description] if description and counts[description] == 1 else [description, said]
        names[asked] = ": ".join(as_name(part) for part in parts if part)
    twice = Counter(names.values())
    return {
        asked: _Test(f"{name} {asked[:8]}" if twice[name] > 1 else name, metrics[asked])
        for asked, name in names.items()
    }


def _variables(result: Any, where: str) -> dict[str, Any]:
    """Return the variables of a test."""
    variables = get(result, "testCase", "vars") or result.get("vars") or {}
    if not isinstance(variables, dict):
        raise InputError(f"{where}: vars must be an object, got {shown(variables, 60)}")
    return {name: variables[name] for name in sorted(variables) if not name.startswith("__")}


def _asked(result: Any, where: str) -> str:
    """Return a hash of the variables, the description and the assertions of a test."""
    test = result.get("testCase") or {}
    asserted = get(test, "assert") or []
    kept = [{name: get(one, name) for name in _ASSERTED} for one in asserted]
    description = get(test, "description") or result.get("description")
    parts = (_variables(result, where), description, kept)
    return fingerprint(*map(as_label, parts))


def _rows(
    column: _Column, system: str, tests: dict[str, _Test], where: str, wanted: Wanted
) -> list[Rows]:
    """Return the rows of one system by metric; a test without an assertion of it is unscored."""
    answers = Answers(where, "result")
    errors: list[Any] = []
    numbers = dict[Any, int]()
    seen = Counter[str]()
    for i, one in sorted(enumerate(column.results), key=lambda pair: (_number(pair[1]), pair[0])):
        number = one.get("testIdx")
        if number is not None and numbers.setdefault(number, i) != i:
            raise InputError(f"{where} has the test {shown(number, 60)} of {system} twice")
        asked = _asked(one, where)
        item = tests[asked].name
        seen[item] += 1
        labels = {"test_hash": asked, **{w: dotted(one, w) for w in wanted.labels}}
        answers.paths = answers.paths or paths_of(one, "vars", "metadata")
        answers.add(i, item, labels, _values(one, errors, f"{where}, result {i}"), seen[item])
    items, counts = answers.items(), [get(column.stated, f"test{kind}Count") for kind in _STATS]
    whole = sum(n for n in counts if isinstance(n, int)) if all(map(is_finite, counts)) else None
    said = ended("tests", errors)
    said = f"{said}, which promptfoo counts as failures" if said else ""
    lost = _uneven(seen) if whole is None else fewer("tests", whole, len(answers.ids))
    stated = {_PASSED: counts[0], _SCORE: get(column.stated, "score")}
    rows = []
    for metric in answers.values:
        key, total = Key("", metric), stated.get(metric)
        if wanted.has(key):
            rate = total / whole if whole and is_finite(total) else None
            values = answers.means(metric, items)
            asked_of = answers.labels["test_hash"]
            values[[metric not in tests[asked_of[j]].metrics for j in items.order]] = 0.0
            lacking = "; ".join(filter(None, [lost, said if np.isnan(values).any() else ""]))
            rows.append(Rows(key, system, Mean(metric), items, values, rate, lacking, path=where))
    return rows


def _uneven(counts: Counter[str]) -> str:
    """Return a line on tests that were not repeated as often as others; empty where all were."""
    fewest, most = min(counts.values()), max(counts.values())
    return f"tests have {fewest} to {most} repetitions" if fewest < most else ""


def _number(result: Any) -> int:
    """Return the number of a test, 0 where it has none."""
    number = result.get("testIdx")
    return number if isinstance(number, int) else 0


def _values(result: Any, errors: list[Any], where: str) -> dict[str, Any]:
    """Return whether a test passed, its score and its named scores; an error is added to `errors`.

    Versions without a reason of failures have an error and no grading where a provider failed.
    """
    reason, error = result.get("failureReason"), result.get("error")
    is_error = reason == _ERROR if reason is not None else error and not result.get("gradingResult")
    if is_error:
        errors.append(error or "no message")
        return {_PASSED: None, _SCORE: None}
    passed = result["success"]
    if not isinstance(passed, bool):
        raise InputError(f"{where}: success must be true or false, got {shown(passed, 60)}")
    values = {_PASSED: passed, _SCORE: result.get("score")}
    named = result.get("namedScores") or {}
    return values | {as_name(n): x for n, x in named.items() if as_name(n) not in values}
