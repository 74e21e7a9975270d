"""DeepEval: a test run in JSON, or what `evaluate` returned.

A metric that ended with an error has no score. A test case that failed for nothing else has neither
passed nor failed; DeepEval counts it as failed. What is better under a metric is told by which of
its scores pass: those above its threshold, or those below.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from evalstats.checks import is_missing
from evalstats.errors import InputError
from evalstats.logs.formats.format import Format, Reading, ended, fewer, rows_of
from evalstats.logs.rows import Answers, Key, Rows, is_finite
from evalstats.logs.settings import arguments_of
from evalstats.logs.sources import (
    Source,
    as_label,
    as_name,
    fingerprint,
    get,
    paths_of,
    require_text,
    without_suffix,
)
from evalstats.logs.words import direction

#: What a test case as a whole has: whether it passed.
_PASSED = "passed"
#: Names that DeepEval gives to test cases which have none.
_NUMBERED = re.compile(r"(conversational_)?test_case_\d+")
_CASES = ("testCases", "conversationalTestCases", "test_results")
#: What a case says of what was asked and expected.
_ASKED = ("input", "expectedOutput", "expected_output", "scenario", "expectedOutcome")


def _is_deepeval(source: Source) -> bool:
    """Return whether a file has test cases with metrics."""
    run = get(source.json, "testRunData") or source.json
    first = [case for name in _CASES for case in _objects(get(run, name))[:1]]
    return any({"metricsData", "metrics_data", "success"} & case.keys() for case in first)


def _objects(value: Any) -> list[Any]:
    """Return the objects of a list, none of anything else."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _deepeval(reading: Reading) -> Iterator[Rows]:
    """Yield the scores of each metric, and whether test cases passed."""
    source, where = reading.source, str(reading.source.path)
    run = get(source.json, "testRunData") or source.json
    answers, seen = Answers(where, "test case"), Counter[str]()
    errors: dict[str, list[Any]] = defaultdict(list)
    # Whether the scores of a metric that pass are the high ones, as far as each says it.
    sides: dict[str, set[bool]] = defaultdict(set)
    cases = [case for name in _CASES for case in run.get(name) or []]
    for i, (case, (item, asked)) in enumerate(zip(cases, _items(cases, where), strict=True)):
        values = _values(case, f"{where}, test case {i}", errors, sides)
        answers.paths = answers.paths or paths_of(case, "metadata")
        seen[item] += 1
        answers.add(i, item, reading.labels(case, item_hash=asked), values, seen[item])
    if not cases:
        return
    items, model = answers.items(), get(run.get("hyperparameters"), "model")
    named = run.get("identifier") or (model if isinstance(model, str) else None)
    system = as_name(str(named)) if named else without_suffix(source.path)
    counts = [run.get(name) for name in ("testPassed", "testFailed")]
    n_whole = sum(counts) if all(isinstance(n, int) for n in counts) else None
    n_there = sum(isinstance(case.get("success"), bool) for case in cases)
    for metric, scores in answers.values.items():
        key = Key("", metric)
        if not reading.wanted.has(key):
            continue
        # Test cases need not all have the same metrics; one with an error has it, without a score.
        means = answers.means(metric, items)
        means[[place not in scores for place in items.order]] = 0.0
        lost, higher = ended("scores", errors[metric]), direction(metric)
        if metric == _PASSED:
            more, higher = " alone, which DeepEval counts as failures", True
            lost = ended("test cases", errors[metric], more)
            stated = counts[0] / n_whole if n_whole else None
        else:
            stated = _stated(run, metric)
            higher = next(iter(sides[metric])) if len(sides[metric]) == 1 else higher
        yield rows_of(
            answers,
            key,
            system,
            items,
            means,
            higher=higher,
            reported=stated,
            lacking=[fewer("test cases", n_whole, n_there), lost],
            settings=arguments_of({"dataset": run.get("datasetAlias")}),
        )


def _items(cases: Sequence[Any], where: str) -> list[tuple[str, str]]:
    """Return the name of the item of each test case, and a hash of what was asked and expected.

    The name is that of the case. Cases without a name of theirs that ask the same are answers to
    the first of them, and where cases of one name ask different things a hash is added to it.
    """
    items = []
    first: dict[str, str] = {}
    hashes: dict[str, set[str]] = defaultdict(set)
    for i, case in enumerate(cases):
        name = as_name(require_text(case, "name", where=f"{where}, test case {i}"))
        texts = filter(None, [as_label(case.get(key)) for key in _ASKED])
        asked = fingerprint(*texts)
        if _NUMBERED.fullmatch(name) and asked:
            name = first.setdefault(asked, name)
        items.append((name, asked))
        hashes[name].add(asked)
    return [
        (f"{name} {asked[:8]}".strip() if len(hashes[name]) > 1 else name, asked)
        for name, asked in items
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
        error = data.get("error")
        if is_missing(error) and (score is None or success is None):
            error = "no score"
        if not is_missing(error):
            errors[name].append(error)
            values[name], first = None, first if data.get("flaky") else first or error
            continue
        values[name] = score
        has_failed |= success is False and not data.get("flaky")
        if not (is_finite(score) and is_finite(threshold)):
            continue
        if score != threshold:
            sides[name].add((score > threshold) is bool(success))
        elif success and threshold in (0, 1):
            # A strict threshold is the best score there is: 1 where more is better, 0 where less.
            sides[name].add(threshold == 1)
    passed = case.get("success")
    if not (passed is None or isinstance(passed, bool)):
        raise InputError(f"{where}: success must be true or false, got {passed!r}")
    if first is not None and not has_failed:
        errors[_PASSED].append(first)
        passed = None
    return values if _PASSED in values else {_PASSED: passed, **values}


def _stated(run: Any, metric: str) -> float | None:
    """Return the mean of the scores that the run states for a metric, None where it states none."""
    # The scores of spans are among those of the run.
    if any(case.get("trace") for case in run.get("testCases") or []):
        return None
    stated = [one for one in _objects(run.get("metricsScores")) if one.get("metric") == metric]
    scores = stated[0].get("scores") if len(stated) == 1 else None
    if not scores or not all(map(is_finite, scores)):
        return None
    return float(sum(scores) / len(scores))


DEEPEVAL = Format("DeepEval", ".json", _is_deepeval, _deepeval)
