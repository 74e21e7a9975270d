"""DeepEval: a test run in JSON, or what `evaluate` returned.

A metric that ended with an error has no score. A test case that failed for nothing else has neither
passed nor failed; DeepEval counts it as failed. What is better under a metric is told by which of
its scores pass: those above its threshold, or those below.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from evalstats.checks import is_missing
from evalstats.errors import InputError
from evalstats.logs.formats.lacking import ended, fewer
from evalstats.logs.log import Log, Wanted, log_of
from evalstats.logs.rows import Answers, Key, Rows, is_finite
from evalstats.logs.settings import arguments_of
from evalstats.logs.sources import (
    Source,
    as_label,
    as_name,
    dotted,
    fingerprint,
    get,
    paths_of,
    require_text,
    without_suffix,
)
from evalstats.logs.words import direction
from evalstats.metrics import Mean

NAME = "DeepEval"

#: What a test case as a whole has: whether it passed.
_PASSED = "passed"
#: Names that DeepEval gives to test cases which have none.
_NUMBERED = re.compile(r"(conversational_)?test_case_\d+")
_CASES = ("testCases", "conversationalTestCases", "test_results")


def _run(document: Any) -> Any:
    """Return the test run of a document, which may be one in itself."""
    return get(document, "testRunData") or document


def is_ours(source: Source) -> bool:
    """Return whether a file has test cases with metrics."""
    run = _run(source.json)
    cases = [case for name in _CASES for case in _listed(get(run, name))[:1]]
    return any({"metricsData", "metrics_data", "success"} & case.keys() for case in cases)


def _listed(value: Any) -> list[Any]:
    """Return the objects of a list, none of anything else."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def read(source: Source, wanted: Wanted) -> Log:
    """Return the scores of each metric, and whether test cases passed."""
    run, where = _run(source.json), str(source.path)
    answers = Answers(where, "test case")
    errors: dict[str, list[Any]] = {}
    sides: dict[str, set[bool]] = {}
    seen = Counter[str]()
    cases = [case for name in _CASES for case in run.get(name) or []]
    for i, (case, item) in enumerate(zip(cases, _names(cases, where), strict=True)):
        values = _values(case, f"{where}, test case {i}", errors, sides)
        labels = {"item_hash": _asked(case), **{w: dotted(case, w) for w in wanted.labels}}
        answers.paths = answers.paths or paths_of(case, "metadata")
        seen[item] += 1
        answers.add(i, item, labels, values, seen[item])
    n_whole = _n_stated(run)
    n_there = sum(isinstance(case.get("success"), bool) for case in cases)
    lost = fewer("test cases", n_whole, n_there)
    items = answers.items() if cases else None
    rows = []
    for metric in answers.values:
        key = Key("", metric)
        if items is None or not wanted.has(key):
            continue
        # Test cases need not all have the same metrics; one with an error has it, without a score.
        scores = answers.means(metric, items)
        scores[[place not in answers.values[metric] for place in items.order]] = 0.0
        higher = True if metric == _PASSED else _direction(metric, sides.get(metric, set()))
        rows.append(
            Rows(
                key,
                _system(run) or without_suffix(source.path),
                Mean(metric, higher is not False),
                items,
                scores,
                reported=_reported(run, metric, n_whole),
                lacking="; ".join(filter(None, [lost, _ended(errors.get(metric, []), metric)])),
                is_directed=higher is not None,
                path=where,
                settings=arguments_of({"dataset": run.get("datasetAlias")}),
            )
        )
    return log_of(where, NAME, rows)


def _system(run: Any) -> str:
    """Return what a run calls itself, or its model; empty where it names neither."""
    model = get(run.get("hyperparameters"), "model")
    system = run.get("identifier") or (model if isinstance(model, str) else None)
    return as_name(str(system)) if system else ""


def _n_stated(run: Any) -> int | None:
    """Return how many test cases passed or failed, as the run states it; None where it does not."""
    counts = [run.get(name) for name in ("testPassed", "testFailed")]
    return sum(counts) if all(isinstance(n, int) for n in counts) else None


def _asked(case: Any) -> str:
    """Return the hash of what was asked and expected; empty where a case has none of it."""
    names = ("input", "expectedOutput", "expected_output", "scenario", "expectedOutcome")
    texts = [as_label(case.get(name)) for name in names]
    return fingerprint(*filter(None, texts)) if any(texts) else ""


def _names(cases: list[Any], where: str) -> list[str]:
    """Return the name of the item of each test case.

    It is that of the case. Cases without a name of theirs that ask the same are answers to the
    first of them, and where cases of one name ask different things a hash is added to it.
    """
    names: list[str] = []
    first: dict[str, str] = {}
    for i, case in enumerate(cases):
        name = as_name(require_text(case, "name", where=f"{where}, test case {i}"))
        asked = _asked(case)
        if _NUMBERED.fullmatch(name) and asked:
            name = first.setdefault(asked, name)
        names.append(name)
    hashes: dict[str, set[str]] = {}
    for name, case in zip(names, cases, strict=True):
        hashes.setdefault(name, set()).add(_asked(case))
    return [
        f"{name} {_asked(case)[:8]}".strip() if len(hashes[name]) > 1 else name
        for name, case in zip(names, cases, strict=True)
    ]


def _values(
    case: Any, where: str, errors: dict[str, list[Any]], sides: dict[str, set[bool]]
) -> dict[str, Any]:
    """Return the scores of a test case by metric, and whether it passed.

    What ended with an error is added to the `errors` of its metric. To the `sides` of a metric is
    added whether its scores pass above the threshold.
    """
    values: dict[str, Any] = {}
    has_failed, first = False, None
    for data in case.get("metricsData") or case.get("metrics_data") or []:
        name = as_name(require_text(data, "name", where=where))
        if name in values:
            raise InputError(f"{where} has the metric {name!r} twice")
        score, success, threshold = (data.get(key) for key in ("score", "success", "threshold"))
        if (error := _error_of(data)) is not None:
            errors.setdefault(name, []).append(error)
            values[name], first = None, first if data.get("flaky") else first or error
            continue
        values[name] = score
        has_failed |= success is False and not data.get("flaky")
        if is_finite(score) and is_finite(threshold):
            sides.setdefault(name, set()).update(_sides(score, threshold, success))
    passed = _passed(case, where)
    if first is not None and not has_failed:
        errors.setdefault(_PASSED, []).append(first)
        passed = None
    return values if _PASSED in values else {_PASSED: passed, **values}


def _error_of(data: Any) -> Any:
    """Return the error that a metric ended with, or "no score"; None where it has a score."""
    error = data.get("error")
    if not is_missing(error):
        return error
    return "no score" if data.get("score") is None or data.get("success") is None else None


def _passed(case: Any, where: str) -> bool | None:
    """Return whether a test case passed, None where it does not say."""
    passed = case.get("success")
    if passed is None or isinstance(passed, bool):
        return passed
    raise InputError(f"{where}: success must be true or false, got {passed!r}")


def _ended(errors: list[Any], metric: str) -> str:
    """Return a line on scores that ended with an error; empty where none did."""
    if metric != _PASSED or not errors:
        return ended("scores", errors)
    return f"{ended('test cases', errors)} alone, which DeepEval counts as failures"


def _sides(score: float, threshold: float, success: object) -> set[bool]:
    """Return whether a score that passes is a high one, as far as one score says it.

    A strict threshold is the best score there is: 1 where more is better, and 0 where less is.
    """
    if score != threshold:
        return {(score > threshold) is bool(success)}
    return {threshold == 1} if success and threshold in (0, 1) else set()


def _direction(metric: str, sides: set[bool]) -> bool | None:
    """Return whether more is better: what passes says it, or else the name; None for neither."""
    return next(iter(sides)) if len(sides) == 1 else direction(metric)


def _reported(run: Any, metric: str, n_whole: int | None) -> float | None:
    """Return the mean of the scores that the run states for a metric, or the share that passed."""
    if metric == _PASSED:
        return run["testPassed"] / n_whole if n_whole else None
    # The scores of spans are among those of the run.
    if any(case.get("trace") for case in run.get("testCases") or []):
        return None
    stated = [one for one in _listed(run.get("metricsScores")) if one.get("metric") == metric]
    scores = stated[0].get("scores") if len(stated) == 1 else None
    if not scores or not all(map(is_finite, scores)):
        return None
    return float(sum(scores) / len(scores))
