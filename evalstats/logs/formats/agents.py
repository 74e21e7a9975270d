"""Agents and applications: tau-bench, tau2-bench and SWE-bench, promptfoo and DeepEval.

Errors count as in the benchmark, and the log reports their number: a trial of tau-bench has the
reward 0, an instance of SWE-bench is not resolved, a test of promptfoo or DeepEval has failed.
Trials that tau2-bench does not evaluate are missing. A file has one agent, and a folder may have
several.

promptfoo writes `results.json`, of any version, and JSON lines of results. A system is a provider
with a prompt. Tests are identified by their content, since each repetition has its own number;
tests with the same content are answers to one item.

DeepEval has a test run in JSON, or the return value of `evaluate`. A metric that ended with an
error has no score. The direction of a metric follows from the scores that pass: above its
threshold, or below.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from evalstats.checks import is_missing, label, shown
from evalstats.errors import InputError
from evalstats.logs.fields import (
    as_label,
    as_name,
    fingerprint,
    first_of,
    get,
    has,
    paths_of,
    require,
)
from evalstats.logs.log import Format, Reading, begins, ended, fewer, settings_of
from evalstats.logs.rows import Answers, Key, Rows, is_finite
from evalstats.logs.sources import Source, json_lines, read_json, without_suffix
from evalstats.metrics.directions import direction

#: tau-bench's file names: agent, range of tasks (0 to -1 is all), user, time.
_NAME = re.compile(r"(.+)_range_(-?\d+)-(-?\d+)_user-(.+)_\d+")
#: Names of published files, with the domain of their tasks: gpt-4o-airline, or airline.
_DOMAIN = re.compile(r"(?:(.+)[-_])?(airline|retail|telecom)", re.IGNORECASE)
#: tau2-bench's description of a run: the agent and the environment.
_TAU2_INFO = ("agent_info", "environment_info")
#: Terminations that tau2-bench does not evaluate (`NON_EVALUABLE_TERMINATION_REASONS`).
_UNSCORED = ("infrastructure_error", "context_window_exceeded", "unexpected_error")
#: SWE-bench's lists of instances, with their score, or a phrase if they have none. Later lists take
#: precedence.
_LISTS: dict[str, float | str] = {
    "submitted_ids": "have no verdict",
    "resolved_ids": 1.0,
    "unresolved_ids": 0.0,
    "empty_patch_ids": 0.0,
    "error_ids": "ended with an error",
    "infra_failure_ids": "failed because of the infrastructure",
    "failed_ids": "failed to run",
    "pending_ids": "are pending",
    "incomplete_ids": "were not run",
}


def _asked(task: Any, *keys: str) -> str:
    """Return a hash of the user's request and the right actions; empty if they are missing."""
    texts = [as_label(get(task, key)) for key in keys]
    return fingerprint(*texts) if any(texts) else ""


def _tau_bench(reading: Reading) -> Iterator[Rows]:
    """Yield the rewards of each file; agents are named as in tau-bench's file names.

    The domain, which is the task, is only in the file name. The agent of ``airline.json`` is named
    after the folder.
    """
    named: dict[Path, tuple[str, str]] = {}
    for path in reading.files:
        name = without_suffix(path)
        match = _DOMAIN.fullmatch(name)
        agent = (match[1] or path.absolute().parent.name or name) if match else name
        named[path] = (match[2].lower() if match else "", agent)
    parts = {path: _NAME.fullmatch(agent) for path, (_, agent) in named.items()}
    short = {path: (named[path][0], part[1]) for path, part in parts.items() if part}
    short = {**named, **short}
    if len(set(short.values())) == len(short):
        named = short
    for path, match in parts.items():
        answers, errors, asked = Answers(str(path), "trial"), [], dict[str, str]()
        for i, trial in enumerate(reading.json(path)):
            where, error = f"{path}, trial {i}", get(trial, "info", "error")
            item, task = str(require(trial, "task_id", where=where)), get(trial, "info", "task")
            asked[item] = asked.get(item) or _asked(task, "instruction", "actions", "outputs")
            score = require(trial, "reward", where=where)
            if not is_missing(error):
                errors.append(error)
                score = None
            number = require(trial, "trial", where=where, kind=int)
            labels = reading.labels(trial, task_hash="")
            answers.add(i, item, labels, {"reward": score}, number)
        answers.labels["task_hash"] = [asked[item] for item in answers.ids]
        n, n_whole = len(answers.ids), len(asked) * len(set(answers.epochs))
        lacking = fewer("trials", n_whole, n)
        yield answers.rows(
            Key(named[path][0], "reward"),
            named[path][1],
            lacking=[lacking],
            failed=ended("trials", errors, n),
            is_limited=match is not None and match.group(2, 3) != ("0", "-1") and not lacking,
            settings=settings_of({"user": match[4]} if match else None),
        )


def _tau2_bench(reading: Reading) -> Iterator[Rows]:
    """Yield the rewards of each file, one agent in one domain."""
    for path in reading.files:
        where, results = str(path), reading.json(path)
        about = require(results, "info", where=where)
        key = Key(str(require(about, "environment_info", "domain_name", where=where)), "reward")
        tasks = {str(task["id"]): task for task in results.get("tasks") or []}
        simulations = results.get("simulations") or results.get("simulation_index")
        if not simulations:
            files = sorted((path.parent / "simulations").glob("*.json"))
            simulations = [read_json(file) for file in files]
        if not isinstance(simulations, list) or not simulations:
            raise InputError(
                f"{path} has no simulations, and there is no folder 'simulations' beside it"
            )
        answers, reasons = Answers(where, "simulation"), Counter[str]()
        for i, one in enumerate(simulations):
            at, ending = f"{where}, simulation {i}", one.get("termination_reason")
            item = str(require(one, "task_id", where=at))
            trial = require({"trial": one.get("trial") or 0}, "trial", where=at, kind=int)
            reward = get(one, *(("reward_info",) if "reward_info" in one else ()), "reward")
            if reward is None or ending in _UNSCORED:
                reward = None
                reasons[str(ending)] += 1
            task = tasks.get(item)
            hashed = _asked(task, "user_scenario", "evaluation_criteria")
            labels = reading.labels({**one, "task": task}, task_hash=hashed)
            answers.add(i, item, labels, {key.metric: reward}, trial)
        n_trials = get(about, "num_trials")
        n_whole = n_trials * len(tasks) if isinstance(n_trials, int) and tasks else None
        lacking = [fewer("simulations", n_whole, len(simulations))]
        if n := reasons.total():
            counts = ", ".join(f"{count:,} {reason}" for reason, count in reasons.most_common())
            were = f"{n:,} simulations were" if n > 1 else "1 simulation was"
            lacking.append(f"{were} not evaluated ({counts})")
        agent = get(about, "agent_info", "llm") or get(about, "audio_native_config", "model")
        agent = str(agent or require(about, "agent_info", "implementation", where=where))
        settings = settings_of({"user": get(about, "user_info", "llm")})
        yield answers.rows(key, agent, lacking=lacking, settings=settings)


def _swe_bench(reading: Reading) -> Iterator[Rows]:
    """Yield whether instances were resolved, for each report ``MODEL.RUN.json``."""
    for path in reading.files:
        report, answers = reading.json(path), Answers(str(path), "instance")
        # The list of each instance: {"django__django-1": "error_ids"}.
        endings: dict[str, str] = {}
        for name in _LISTS:
            ids = report.get(name) or []
            if not isinstance(ids, list):
                got = shown(ids, 60)
                raise InputError(f"{path}: {name} must be a list of instances, got {got}")
            for item, n in Counter(map(str, ids)).items():
                if n > 1:
                    raise InputError(f"{path} has {shown(item, 60)} twice in {name}")
                if name == "unresolved_ids" and endings.get(item) == "resolved_ids":
                    both = f"{shown(item, 60)} is in resolved_ids and unresolved_ids"
                    raise InputError(f"{path}: {both}")
            endings |= {label(item, f"{name} of {path}"): name for item in ids}
        if not endings:
            raise InputError(f"{path} does not list any instances")
        # Submitted instances that are in no other list were not requested, and are not counted.
        total, n_whole = report["total_instances"], len(endings)
        unasked = [item for item, name in endings.items() if name == "submitted_ids"]
        is_part = is_finite(total) and n_whole - len(unasked) <= total < n_whole
        if is_part and unasked:
            endings = {item: name for item, name in endings.items() if item not in {*unasked}}
            line = f"{len(unasked):,} of {n_whole:,} submitted instances of {path}, but the "
            reading.skipped.append(f"{line}report counts {total:,}")
        for i, (item, ending) in enumerate(endings.items()):
            # "django__django-11099" belongs to the repository django/django.
            labels = {"repo": item.rpartition("-")[0].replace("__", "/")}
            score = _LISTS[ending]
            answers.add(i, item, labels, {"resolved": None if isinstance(score, str) else score})
        counts = Counter(endings.values())
        unscored = [(counts[name], what) for name, what in _LISTS.items() if isinstance(what, str)]
        failed = ", ".join(f"{n:,} {what}" for n, what in unscored if n)
        if failed:
            failed = f"of {len(endings):,} instances {failed}"
        n_resolved = report.get("resolved_instances")
        is_stated = is_finite(total) and is_finite(n_resolved) and total > 0
        yield answers.rows(
            Key("", "resolved"),
            without_suffix(path),
            reported=n_resolved / total if is_stated else None,
            lacking=[lacking := fewer("instances", total, len(endings))],
            failed=failed,
            is_limited=is_part and not lacking,
        )


TAU_BENCH = Format(
    "tau-bench",
    ".json",
    lambda source: has(first_of(source.json), "task_id", "reward", "info", "trial"),
    _tau_bench,
    begins(rb'\s*\[\s*\{\s*"task_id"\s*:\s*\d+\s*,\s*"reward"\s*:'),
    ("task", "domain"),
)
TAU2_BENCH = Format(
    "tau2-bench",
    ".json",
    lambda source: all(get(source.json, "info", name) is not None for name in _TAU2_INFO),
    _tau2_bench,
    begins(rb'\s*\{\s*"timestamp"\s*:[^,{]*,\s*"info"\s*:\s*\{\s*"git_commit"'),
    ("task", "domain"),
)
SWE_BENCH = Format(
    "SWE-bench",
    ".json",
    lambda source: has(source.json, "resolved_ids", "total_instances"),
    _swe_bench,
    begins(rb'\s*\{\s*"total_instances"\s*:'),
    ("instance", "task"),
)


_PASSED, _SCORE = "passed", "score"
#: promptfoo's reason of a failure: an error, not an assertion.
_ERROR = 2
#: Fields of an assertion with its content.
_ASSERTED = ("type", "value", "threshold", "metric", "weight")
#: Names in the statistics of all results, by the names in the statistics of one prompt.
_STATS = {"testPassCount": "successes", "testFailCount": "failures", "testErrorCount": "errors"}
#: Names that DeepEval gives to unnamed test cases.
_NUMBERED = re.compile(r"(conversational_)?test_case_\d+")
_CASES = ("testCases", "conversationalTestCases", "test_results")
#: Fields of a case with the question and the expected answer.
_ASKED = ("input", "expectedOutput", "expected_output", "scenario", "expectedOutcome")


def _results(document: Any) -> list[Any]:
    """Return the results of tests, which were one level higher in the first version."""
    inner = get(document, "results", "results")
    results = get(document, "results") if inner is None else inner
    return results if isinstance(results, list) else []


def _is_promptfoo(source: Source) -> bool:
    """Return whether a file has results of tests."""
    if source.suffix == ".jsonl":
        return has(source.first, "promptIdx", "testIdx", "success")
    return has(first_of(_results(source.json)), "prompt", "success")


class _Column(NamedTuple):
    """The results of one provider with one prompt, each with its place and the content of its test.

    `number` is the number of the prompt, which differs between providers, or None.
    """

    provider: str
    prompt: str
    number: int | None
    results: list[tuple[int, Any, str]]


def _test_of(record: Any, where: str) -> tuple[str, str, str]:
    """Return a hash of the content of a result's test, its description and its variables."""
    test = record.get("testCase") or {}
    given = get(test, "vars") or record.get("vars") or {}
    if not isinstance(given, dict):
        raise InputError(f"{where}: vars must be an object, got {shown(given, 60)}")
    variables = {name: given[name] for name in sorted(given) if not name.startswith("__")}
    said = ", ".join(f"{name}={as_label(value)}" for name, value in variables.items())
    description = as_label(get(test, "description") or record.get("description"))
    asserted = [{name: get(one, name) for name in _ASSERTED} for one in get(test, "assert") or []]
    asked = fingerprint(as_label(variables), description, as_label(asserted))
    return asked, description, said or "test"


def _column_of(record: Any, where: str) -> _Column:
    """Return the column of a result, without results."""
    prompt = as_label(get(record, "prompt", "label") or get(record, "prompt", "display"))
    given = record.get("provider")
    name = get(given, "label") or get(given, "id") or given
    provider = name if isinstance(name, str) and name.strip() else "provider"
    number = record.get("promptIdx")
    if number is not None and not isinstance(number, int):
        raise InputError(f"{where}: promptIdx must be a whole number, got {shown(number, 60)}")
    return _Column(provider, prompt, number, [])


def _systems(columns: Sequence[_Column]) -> list[str]:
    """Return the name of each system: its provider, and its prompt if there are several."""
    providers = [as_name(column.provider) for column in columns]
    if len(set(providers)) == len(providers):
        return providers
    seen, names = Counter[str](), []
    for provider, column in zip(providers, columns, strict=True):
        name = f"{provider}, {as_name(column.prompt or 'prompt', most=40)}"
        seen[name] += 1
        names.append(f"{name} ({seen[name]})" if seen[name] > 1 else name)
    return names


def _test_names(tests: Mapping[str, tuple[str, str]]) -> dict[str, str]:
    """Return the names of tests by the hash of their content: descriptions, or else variables."""
    counts = Counter(description for description, _ in tests.values())
    names = {}
    for asked, (description, variables) in tests.items():
        is_told = description and counts[description] == 1
        parts = [description] if is_told else [description, variables]
        names[asked] = ": ".join(as_name(part) for part in parts if part)
    twice = Counter(names.values())
    return {
        asked: f"{name} {asked[:8]}" if twice[name] > 1 else name for asked, name in names.items()
    }


def _values(result: Any, errors: list[Any], where: str) -> dict[str, Any]:
    """Return whether a test passed, its score and its named scores; an error goes to `errors`."""
    reason, error = result.get("failureReason"), result.get("error")
    is_error = reason == _ERROR if reason is not None else error and not result.get("gradingResult")
    if is_error:
        errors.append(error or "no message")
        return {_PASSED: None, _SCORE: None}
    passed = require(result, "success", where=where, kind=bool)
    values = {_PASSED: passed, _SCORE: result.get("score")}
    named = result.get("namedScores") or {}
    return values | {as_name(n): x for n, x in named.items() if as_name(n) not in values}


def _prompts(document: Any) -> list[Any]:
    """Return a document's entries for prompts."""
    inner = get(document, "results")
    return get(inner, "prompts") or get(inner, "table", "head", "prompts") or []


def _stated(column: _Column, document: Any, is_alone: bool) -> Any:
    """Return promptfoo's statistics of a prompt, or of all results if it is the only one."""
    prompts, number, stated = _prompts(document), column.number, None
    if number is not None and 0 <= number < len(prompts):
        stated = get(prompts[number], "metrics")
    if stated is None and is_alone:
        stats = get(document, "results", "stats") or get(document, "stats")
        stated = {name: get(stats, called) for name, called in _STATS.items()}
    return stated


def _order(result: tuple[int, Any, str]) -> int:
    """Return the number of the test of a result, 0 if it has none."""
    number = result[1].get("testIdx")
    return number if isinstance(number, int) else 0


def _promptfoo(reading: Reading) -> Iterator[Rows]:
    """Yield whether tests passed, their scores and their named scores, of each system."""
    source, where = reading.source, str(reading.source.path)
    records, document = _results(source.json), source.json
    if source.suffix == ".jsonl":
        records = [record for _, record in json_lines(source.path)]
    columns, tests = dict[Any, _Column](), dict[str, tuple[str, str]]()
    # The metrics of all results of a test.
    metrics = defaultdict[str, set[str]](lambda: {_PASSED, _SCORE})
    for i, record in enumerate(records):
        require(record, "success", where=f"{where}, result {i}")
        column = _column_of(record, f"{where}, result {i}")
        asked, description, variables = _test_of(record, f"{where}, result {i}")
        tests[asked] = description, variables
        place = column[:2] if column.number is None else column.number
        columns.setdefault(place, column).results.append((i, record, asked))
        metrics[asked].update(map(as_name, record.get("namedScores") or {}))
    names = _test_names(tests)
    ordered = [columns[place] for place in (sorted(columns) if _prompts(document) else columns)]
    for column, system in zip(ordered, _systems(ordered), strict=True):
        answers, errors = Answers(where, "result"), list[Any]()
        numbers, seen = set[Any](), Counter[str]()
        for i, record, asked in sorted(column.results, key=_order):
            number = record.get("testIdx")
            if number is not None and number in numbers:
                raise InputError(f"{where} contains test {shown(number, 60)} of {system} twice")
            numbers.add(number)
            item = names[asked]
            seen[item] += 1
            values = _values(record, errors, f"{where}, result {i}")
            answers.paths = answers.paths or paths_of(record, "vars", "metadata")
            labels = reading.labels(record, test_hash=asked)
            raw = as_label(get(record, "prompt", "raw"))
            texts = {"prompt": fingerprint(raw) if raw else ""}
            answers.add(i, item, labels, values, seen[item], texts)
        stated = _stated(column, document, len(columns) == 1)
        items, counts = answers.items(), [get(stated, name) for name in _STATS]
        whole = sum(counts) if all(map(is_finite, counts)) else None
        lost, repetitions = fewer("tests", whole, len(answers.ids)), sorted(seen.values())
        if whole is None and repetitions[0] < repetitions[-1]:
            lost = f"tests have {repetitions[0]} to {repetitions[-1]} repetitions"
        failed = ended("tests", errors, len(answers.ids))
        totals = {_PASSED: counts[0], _SCORE: get(stated, "score")}
        for metric in answers.values:
            total, means = totals.get(metric), answers.means(metric, items)
            hashes = answers.labels["test_hash"]
            # A test without an assertion of the metric is unscored.
            means[[metric not in metrics[hashes[j]] for j in items.order]] = 0.0
            # promptfoo counts errors as failed tests, with a score of 0.
            is_counted = metric in totals
            yield answers.rows(
                Key("", metric),
                system,
                items,
                means,
                reported=total / whole if whole and is_finite(total) else None,
                lacking=[lost, failed if np.isnan(means).any() and not is_counted else ""],
                failed=failed if is_counted else "",
            )


PROMPTFOO = Format("promptfoo", ".json .jsonl", _is_promptfoo, _promptfoo, called=("test", "task"))


def _is_deepeval(source: Source) -> bool:
    """Return whether a file has test cases with metrics."""
    run = get(source.json, "testRunData") or source.json
    first = [case for name in _CASES for case in _objects(get(run, name))[:1]]
    return any({"metricsData", "metrics_data", "success"} & case.keys() for case in first)


def _objects(value: Any) -> list[Any]:
    """Return the objects of a list, or nothing for other values."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _deepeval(reading: Reading) -> Iterator[Rows]:
    """Yield the rows of each run; runs with equal names in a folder are named after their files."""
    files = [reading.source.path.absolute()] if len(reading.files) == 1 else reading.files
    names = [without_suffix(file) for file in files]
    runs = [reading.json(path) for path in reading.files]
    runs = [get(run, "testRunData") or run for run in runs]
    systems = []
    for run, name in zip(runs, names, strict=True):
        model = get(run.get("hyperparameters"), "model")
        named = run.get("identifier") or (model if isinstance(model, str) else None)
        systems.append(as_name(str(named)) if named else name)
    systems = systems if len(set(systems)) == len(systems) else names
    for path, run, system in zip(reading.files, runs, systems, strict=True):
        yield from _deepeval_run(reading, str(path), run, system)


def _deepeval_run(reading: Reading, where: str, run: Any, system: str) -> Iterator[Rows]:
    """Yield the scores of each metric, and whether test cases passed."""
    answers, seen = Answers(where, "test case"), Counter[str]()
    errors: dict[str, list[Any]] = defaultdict(list)
    # Whether high scores pass, for each metric for which it is known.
    sides: dict[str, set[bool]] = defaultdict(set)
    cases = [case for name in _CASES for case in run.get(name) or []]
    for i, (case, (item, asked)) in enumerate(zip(cases, _named(cases, where), strict=True)):
        values = _scores_of(case, f"{where}, test case {i}", errors, sides)
        answers.paths = answers.paths or paths_of(case, "metadata")
        seen[item] += 1
        answers.add(i, item, reading.labels(case, item_hash=asked), values, seen[item])
    if not cases:
        return
    items, counts = answers.items(), [run.get(name) for name in ("testPassed", "testFailed")]
    n_whole = sum(counts) if all(isinstance(n, int) for n in counts) else None
    n_there = sum(isinstance(case.get("success"), bool) for case in cases)
    for metric, scores in answers.values.items():
        # Test cases may have different metrics; a metric with an error has no score.
        means = answers.means(metric, items)
        means[[place not in scores for place in items.order]] = 0.0
        side, lost, failed = sides[metric], ended("scores", errors[metric]), ""
        higher = side.copy().pop() if len(side) == 1 else direction(metric)
        stated = _mean_stated(run, metric)
        if metric == _PASSED:
            lost, failed, higher = "", ended("test cases", errors[metric], len(cases)), True
            stated = counts[0] / n_whole if n_whole else None
        yield answers.rows(
            Key("", metric),
            system,
            items,
            means,
            higher=higher,
            reported=stated,
            lacking=[fewer("test cases", n_whole, n_there), lost],
            failed=failed,
            settings=settings_of({"dataset": run.get("datasetAlias")}),
        )


def _named(cases: Sequence[Any], where: str) -> list[tuple[str, str]]:
    """Return the item's name for each test case, and a hash of question and expected answer.

    The name is the name of the case. Unnamed cases with the same content are answers to the first
    of them. If cases with equal names have different content, a hash is added to the name.
    """
    items = []
    first: dict[str, str] = {}
    hashes: dict[str, set[str]] = defaultdict(set)
    for i, case in enumerate(cases):
        name = as_name(require(case, "name", where=f"{where}, test case {i}", kind=str))
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


def _scores_of(
    case: Any, where: str, errors: dict[str, list[Any]], sides: dict[str, set[bool]]
) -> dict[str, Any]:
    """Return the scores of a test case and whether it passed; fill `errors`, `sides` by metric."""
    values: dict[str, Any] = {}
    has_failed, first = False, None
    for data in case.get("metricsData") or case.get("metrics_data") or []:
        name = as_name(require(data, "name", where=where, kind=str))
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
            # A strict threshold is the best score: 1 if higher is better, else 0.
            sides[name].add(threshold == 1)
    passed = case.get("success")
    if passed is not None:
        require(case, "success", where=where, kind=bool)
    if first is not None and not has_failed:
        errors[_PASSED].append(first)
        passed = None
    return values if _PASSED in values else {_PASSED: passed, **values}


def _mean_stated(run: Any, metric: str) -> float | None:
    """Return the mean of a metric's scores that the run reports, or None."""
    # The scores of spans are included in the run's.
    if any(case.get("trace") for case in run.get("testCases") or []):
        return None
    stated = [one for one in _objects(run.get("metricsScores")) if one.get("metric") == metric]
    scores = stated[0].get("scores") if len(stated) == 1 else None
    if not scores or not all(map(is_finite, scores)):
        return None
    return float(sum(scores) / len(scores))


DEEPEVAL = Format(
    "DeepEval",
    ".json",
    _is_deepeval,
    _deepeval,
    begins(rb'\s*\{.*"(testRunData|testCases|conversationalTestCases)"\s*:', re.DOTALL),
    ("test case", "task"),
)
