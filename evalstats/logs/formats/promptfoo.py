"""promptfoo: `results.json` of any version, and JSON lines of results.

A system is a provider with a prompt. Tests are known by what they ask, since each repetition has a
number of its own; those that ask the same are answers to one item. A test that ended with an error
is neither passed nor failed; promptfoo's own rate counts it as failed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from evalstats.checks import shown
from evalstats.errors import InputError
from evalstats.logs.formats.format import Format, Reading, ended, fewer, first_of, has, rows_of
from evalstats.logs.rows import Answers, Key, Rows, is_finite
from evalstats.logs.sources import (
    Source,
    as_label,
    as_name,
    fingerprint,
    get,
    json_lines,
    paths_of,
    require,
)

_PASSED, _SCORE = "passed", "score"
#: promptfoo's reason of a failure: an error, not an assertion.
_ERROR = 2
#: What of an assertion says what is asserted.
_ASSERTED = ("type", "value", "threshold", "metric", "weight")
#: What the statistics of all results have, by what those of one prompt call it.
_STATS = {"testPassCount": "successes", "testFailCount": "failures", "testErrorCount": "errors"}


def _results(document: Any) -> list[Any]:
    """Return the results of tests, which the first version had one level higher."""
    inner = get(document, "results", "results")
    results = get(document, "results") if inner is None else inner
    return results if isinstance(results, list) else []


def _is_promptfoo(source: Source) -> bool:
    """Return whether a file has results of tests."""
    if source.suffix == ".jsonl":
        return has(source.first, "promptIdx", "testIdx", "success")
    return has(first_of(_results(source.json)), "prompt", "success")


class _Result(NamedTuple):
    """A result: its place in the file, the number of its test, and what the test says and asks."""

    record: Any
    place: int
    order: int
    description: str
    variables: str
    asked: str


def _read(record: Any, place: int, where: str) -> _Result:
    """Return a result with its number, 0 where it has none, and a hash of what its test asks."""
    test = record.get("testCase") or {}
    given = get(test, "vars") or record.get("vars") or {}
    if not isinstance(given, dict):
        raise InputError(f"{where}: vars must be an object, got {shown(given, 60)}")
    variables = {name: given[name] for name in sorted(given) if not name.startswith("__")}
    said = ", ".join(f"{name}={as_label(value)}" for name, value in variables.items())
    description = as_label(get(test, "description") or record.get("description"))
    asserted = [{name: get(one, name) for name in _ASSERTED} for one in get(test, "assert") or []]
    asked = fingerprint(as_label(variables), description, as_label(asserted))
    number = record.get("testIdx")
    order = number if isinstance(number, int) else 0
    return _Result(record, place, order, description, said or "test", asked)


class _Column(NamedTuple):
    """The results of one provider with one prompt.

    `stated` are promptfoo's numbers of all of them, None where there are none.
    """

    provider: str
    prompt: str
    results: list[_Result]
    stated: Any


def _columns(records: Sequence[Any], document: Any, where: str) -> list[_Column]:
    """Return results by the number of their prompt, which differs between providers.

    The first version has no numbers: there the provider and the label of the prompt take its place.
    """
    inner = get(document, "results")
    prompts = get(inner, "prompts") or get(inner, "table", "head", "prompts") or []
    columns: dict[Any, _Column] = {}
    for i, record in enumerate(records):
        at = f"{where}, result {i}"
        require(record, "success", where=at)
        label = as_label(get(record, "prompt", "label") or get(record, "prompt", "display"))
        given = record.get("provider")
        name = get(given, "label") or get(given, "id") or given
        provider = name if isinstance(name, str) and name.strip() else "provider"
        number = record.get("promptIdx")
        if number is not None and not isinstance(number, int):
            raise InputError(f"{at}: promptIdx must be a whole number, got {shown(number, 60)}")
        stated = None
        if number is not None and 0 <= number < len(prompts):
            stated = get(prompts[number], "metrics")
        place = (provider, label) if number is None else number
        column = columns.setdefault(place, _Column(provider, label, [], stated))
        column.results.append(_read(record, i, at))
    if len(columns) == 1 and next(iter(columns.values())).stated is None:
        stats = get(inner, "stats") or get(document, "stats")
        counts = {name: get(stats, of) for name, of in _STATS.items()}
        return [column._replace(stated=counts) for column in columns.values()]
    return [columns[place] for place in (sorted(columns) if prompts else columns)]


def _systems(columns: Sequence[_Column]) -> list[str]:
    """Return the name of each system: its provider, and its prompt where there are several."""
    providers = [as_name(column.provider) for column in columns]
    if len(set(providers)) == len(providers):
        return providers
    seen = Counter[tuple[str, str]]()
    names = []
    for provider, column in zip(providers, columns, strict=True):
        pair = provider, as_name(column.prompt or "prompt", most=40)
        seen[pair] += 1
        names.append(", ".join(pair) + (f" ({seen[pair]})" if seen[pair] > 1 else ""))
    return names


def _test_names(results: Sequence[_Result]) -> dict[str, str]:
    """Return the names of the tests, by the hash of what they ask.

    A test is called by its description, or else by its variables; by both where tests of one
    description differ.
    """
    tests = {one.asked: one for one in results}
    counts = Counter(one.description for one in tests.values())
    names = {}
    for asked, one in tests.items():
        is_told = one.description and counts[one.description] == 1
        parts = [one.description] if is_told else [one.description, one.variables]
        names[asked] = ": ".join(as_name(part) for part in parts if part)
    twice = Counter(names.values())
    return {
        asked: f"{name} {asked[:8]}" if twice[name] > 1 else name for asked, name in names.items()
    }


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


def _promptfoo(reading: Reading) -> Iterator[Rows]:
    """Yield whether tests passed, their scores and their named scores, of each system."""
    source, where = reading.source, str(reading.source.path)
    if source.suffix == ".jsonl":
        records: list[Any] = [record for _, record in json_lines(source.path)]
    else:
        records = _results(source.json)
    columns = _columns(records, source.json, where)
    every = [one for column in columns for one in column.results]
    names = _test_names(every)
    # The metrics that any result of a test has.
    metrics: dict[str, set[str]] = {asked: {_PASSED, _SCORE} for asked in names}
    for one in every:
        metrics[one.asked].update(map(as_name, one.record.get("namedScores") or {}))
    for column, system in zip(columns, _systems(columns), strict=True):
        answers, errors = Answers(where, "result"), list[Any]()
        numbers, seen = set[Any](), Counter[str]()
        for one in sorted(column.results, key=lambda one: one.order):
            number = one.record.get("testIdx")
            if number is not None and number in numbers:
                raise InputError(f"{where} has the test {shown(number, 60)} of {system} twice")
            numbers.add(number)
            item = names[one.asked]
            seen[item] += 1
            values = _values(one.record, errors, f"{where}, result {one.place}")
            labels = reading.labels(one.record, test_hash=one.asked)
            answers.paths = answers.paths or paths_of(one.record, "vars", "metadata")
            answers.add(one.place, item, labels, values, seen[item])
        items, counts = answers.items(), [get(column.stated, name) for name in _STATS]
        whole = sum(counts) if all(map(is_finite, counts)) else None
        if whole is not None:
            lost = fewer("tests", whole, len(answers.ids))
        else:
            fewest, most = min(seen.values()), max(seen.values())
            lost = f"tests have {fewest} to {most} repetitions" if fewest < most else ""
        said = ended("tests", errors, ", which promptfoo counts as failures")
        stated = {_PASSED: counts[0], _SCORE: get(column.stated, "score")}
        for metric in answers.values:
            key, total = Key("", metric), stated.get(metric)
            if not reading.wanted.has(key):
                continue
            means = answers.means(metric, items)
            hashes = answers.labels["test_hash"]
            # A test without an assertion of the metric is unscored.
            means[[metric not in metrics[hashes[j]] for j in items.order]] = 0.0
            yield rows_of(
                answers,
                key,
                system,
                items,
                means,
                reported=total / whole if whole and is_finite(total) else None,
                lacking=[lost, said if np.isnan(means).any() else ""],
            )


PROMPTFOO = Format("promptfoo", ".json .jsonl", _is_promptfoo, _promptfoo)
