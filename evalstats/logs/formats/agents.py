"""Agents and applications: tau-bench, tau2-bench and SWE-bench, promptfoo and DeepEval.

What ended with an error counts as the benchmark counts it, and the log says how much that is: a
trial of tau-bench has the reward 0, an instance of SWE-bench is not resolved, a test of promptfoo
or DeepEval has failed. What tau2-bench does not evaluate is missing. A file has one agent, or a
folder several.

promptfoo writes `results.json`, of any version, and JSON lines of results. A system is a provider
with a prompt. Tests are known by what they ask, since each repetition has a number of its own;
those that ask the same are answers to one item.

DeepEval has a test run in JSON, or what `evaluate` returned. A metric that ended with an error has
no score. What is better under a metric is told by which of its scores pass: those above its
threshold, or those below.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from evalstats.checks import is_missing, label, shown
from evalstats.errors import InputError
from evalstats.logs.formats.format import (
    Format,
    Reading,
    arguments_of,
    begins,
    ended,
    fewer,
    first_of,
    has,
    rows_of,
)
from evalstats.logs.rows import Answers, Key, Rows, direction, is_finite
from evalstats.logs.sources import (
    Source,
    as_label,
    as_name,
    fingerprint,
    get,
    json_lines,
    paths_of,
    read_json,
    require,
    require_text,
    without_suffix,
)

#: How files begin.
_TRIALS = re.compile(rb'\s*\[\s*\{\s*"task_id"\s*:\s*\d+\s*,\s*"reward"\s*:')
_RESULTS = re.compile(rb'\s*\{\s*"timestamp"\s*:[^,{]*,\s*"info"\s*:\s*\{\s*"git_commit"')
_REPORT = re.compile(rb'\s*\{\s*"total_instances"\s*:')
#: What tau-bench calls a file: agent, range of tasks (0 to -1 is all), user, time.
_NAME = re.compile(r"(.+)_range_(-?\d+)-(-?\d+)_user-(.+)_\d+")
#: What published files are called, by the domain of their tasks: gpt-4o-airline, or airline.
_DOMAIN = re.compile(r"(?:(.+)[-_])?(airline|retail|telecom)", re.IGNORECASE)
#: What tau2-bench says of a run: which agent was in which environment.
_TAU2_INFO = ("agent_info", "environment_info")
#: Ends after which tau2-bench evaluates nothing (`NON_EVALUABLE_TERMINATION_REASONS`).
_UNSCORED = ("infrastructure_error", "context_window_exceeded", "unexpected_error")
#: SWE-bench's lists of instances, with the score of those in it, or what is said of those without.
#: What is in a later list counts.
_LISTS: dict[str, float | str] = {
    "submitted_ids": "have no verdict",
    "resolved_ids": 1.0,
    "unresolved_ids": 0.0,
    "empty_patch_ids": 0.0,
    "error_ids": "ended with an error",
    "infra_failure_ids": "failed for want of the machine",
    "failed_ids": "failed to run",
    "pending_ids": "are pending",
    "incomplete_ids": "were not run",
}


def _asked(task: Any, *keys: str) -> str:
    """Return a hash of what a user wants and of what is right; empty where that is not there."""
    texts = [as_label(get(task, key)) for key in keys]
    return fingerprint(*texts) if any(texts) else ""


def _tau_bench(reading: Reading) -> Iterator[Rows]:
    """Yield the rewards of each file; agents are called by what tau-bench calls their files.

    Only the name of a file says the domain, which is the task. The agent of ``airline.json`` is
    called after the folder.
    """
    named: dict[Path, tuple[str, str]] = {}
    for path in reading.files:
        name = without_suffix(path)
        match = _DOMAIN.fullmatch(name)
        agent = (match[1] or path.absolute().parent.name or name) if match else name
        named[path] = (match[2].lower() if match else "", agent)
    parts = {path: _NAME.fullmatch(agent) for path, (_, agent) in named.items()}
    short = {path: (named[path][0], of[1]) if of else named[path] for path, of in parts.items()}
    if len(set(short.values())) == len(short):
        named = short
    for path, match in parts.items():
        key = Key(named[path][0], "reward")
        if not reading.wanted.has(key):
            continue
        trials, answers, asked = reading.json(path), Answers(str(path), "trial"), dict[str, str]()
        for i, trial in enumerate(trials):
            item = str(require(trial, "task_id", where=f"{path}, trial {i}"))
            task = get(trial, "info", "task")
            asked[item] = asked.get(item) or _asked(task, "instruction", "actions", "outputs")
        errors = []
        for i, trial in enumerate(trials):
            where, item = f"{path}, trial {i}", str(trial["task_id"])
            reward, error = require(trial, "reward", where=where), get(trial, "info", "error")
            is_gone = not is_missing(error)
            if is_gone:
                errors.append(error)
            labels = reading.labels(trial, task_hash=asked[item])
            number = require(trial, "trial", where=where)
            if not isinstance(number, int):
                raise InputError(f"{where}: trial must be a whole number, got {number!r}")
            value = None if is_gone else reward
            answers.add(i, item, labels, {key.metric: value}, number)
        n_whole = len(set(answers.ids)) * len(set(answers.epochs))
        lacking = [fewer("trials", n_whole, len(trials))]
        is_part = match is not None and match.group(2, 3) != ("0", "-1") and not any(lacking)
        settings = arguments_of({"user": match[4]} if match else None)
        yield rows_of(
            answers,
            key,
            named[path][1],
            lacking=lacking,
            failed=ended("trials", errors, len(trials)),
            is_limited=is_part,
            settings=settings,
        )


def _tau2_bench(reading: Reading) -> Iterator[Rows]:
    """Yield the rewards of each file: those of one agent in one domain."""
    for path in reading.files:
        where, results = str(path), reading.json(path)
        about = require(results, "info", where=where)
        key = Key(str(require(about, "environment_info", "domain_name", where=where)), "reward")
        if not reading.wanted.has(key):
            continue
        tasks = {str(task["id"]): task for task in results.get("tasks") or []}
        simulations = results.get("simulations") or results.get("simulation_index")
        if not simulations:
            beside = sorted((path.parent / "simulations").glob("*.json"))
            simulations = [read_json(file) for file in beside]
        if not isinstance(simulations, list) or not simulations:
            raise InputError(f"{path} has no simulations, nor has a folder 'simulations' beside it")
        answers, reasons = Answers(where, "simulation"), Counter[str]()
        for i, one in enumerate(simulations):
            item = str(require(one, "task_id", where=f"{where}, simulation {i}"))
            trial, ending = one.get("trial") or 0, one.get("termination_reason")
            if not isinstance(trial, int):
                raise InputError(f"{where}, simulation {i}: trial must be a number, got {trial!r}")
            reward = (
                get(one, "reward_info", "reward") if "reward_info" in one else one.get("reward")
            )
            if reward is None or ending in _UNSCORED:
                reward = None
                reasons[str(ending)] += 1
            task = tasks.get(item)
            hashed = _asked(task, "user_scenario", "evaluation_criteria")
            labels = reading.labels({**one, "task": task}, task_hash=hashed)
            answers.add(i, item, labels, {key.metric: reward}, trial)
        items, n_trials = answers.items(), get(about, "num_trials")
        n_whole = n_trials * len(tasks) if isinstance(n_trials, int) and tasks else None
        lacking = [fewer("simulations", n_whole, len(simulations))]
        if n := sum(reasons.values()):
            counts = ", ".join(f"{count:,} {reason}" for reason, count in reasons.most_common())
            were = f"{n:,} simulations were" if n > 1 else "1 simulation was"
            lacking.append(f"{were} not evaluated ({counts})")
        agent = get(about, "agent_info", "llm") or get(about, "audio_native_config", "model")
        agent = str(agent or require(about, "agent_info", "implementation", where=where))
        settings = arguments_of({"user": get(about, "user_info", "llm")})
        yield rows_of(answers, key, agent, items, lacking=lacking, settings=settings)


def _swe_bench(reading: Reading) -> Iterator[Rows]:
    """Yield whether instances were resolved, of each report ``MODEL.RUN.json``, called as it is."""
    key = Key("", "resolved")
    for path in reading.files if reading.wanted.has(key) else ():
        report, answers = reading.json(path), Answers(str(path), "instance")
        endings = _endings(report, path)
        if not endings:
            raise InputError(f"{path} names no instances")
        for i, (item, ending) in enumerate(endings.items()):
            # "django__django-11099" is of the repository django/django.
            labels = {"repo": item.rpartition("-")[0].replace("__", "/")}
            score = _LISTS[ending]
            answers.add(i, item, labels, {key.metric: None if isinstance(score, str) else score})
        counts = Counter(endings.values())
        named = [(counts[name], what) for name, what in _LISTS.items() if isinstance(what, str)]
        failed = ", ".join(f"{n:,} {what}" for n, what in named if n)
        if failed:
            failed = f"of {len(endings):,} instances {failed}"
        total, n_resolved = report["total_instances"], report.get("resolved_instances")
        is_stated = is_finite(total) and is_finite(n_resolved) and total > 0
        rate = n_resolved / total if is_stated else None
        lacking = [fewer("instances", total, len(endings))]
        system = without_suffix(path)
        yield rows_of(answers, key, system, reported=rate, lacking=lacking, failed=failed)


def _endings(report: Any, path: Path) -> dict[str, str]:
    """Return the list in which each instance is, as of ``{"django__django-1": "error_ids"}``."""
    endings: dict[str, str] = {}
    for name in _LISTS:
        ids = report.get(name) or []
        if not isinstance(ids, list):
            raise InputError(f"{path}: {name} must be a list of instances, got {shown(ids, 60)}")
        if len(set(map(str, ids))) < len(ids):
            twice = next(item for i, item in enumerate(ids) if item in ids[:i])
            raise InputError(f"{path} has {shown(twice, 60)} twice in {name}")
        for item in ids:
            if name == "unresolved_ids" and endings.get(item) == "resolved_ids":
                raise InputError(f"{path}: {shown(item, 60)} is in resolved_ids and unresolved_ids")
            endings[label(item, f"{name} of {path}")] = name
    return endings


TAU_BENCH = Format(
    "tau-bench",
    ".json",
    lambda source: has(first_of(source.json), "task_id", "reward", "info", "trial"),
    _tau_bench,
    partial(begins, beginning=_TRIALS),
    ("task", "domain"),
)
TAU2_BENCH = Format(
    "tau2-bench",
    ".json",
    lambda source: all(get(source.json, "info", of) is not None for of in _TAU2_INFO),
    _tau2_bench,
    partial(begins, beginning=_RESULTS),
    ("task", "domain"),
)
SWE_BENCH = Format(
    "SWE-bench",
    ".json",
    lambda source: has(source.json, "resolved_ids", "total_instances"),
    _swe_bench,
    partial(begins, beginning=_REPORT),
    ("instance", "task"),
)


_PASSED, _SCORE = "passed", "score"
#: promptfoo's reason of a failure: an error, not an assertion.
_ERROR = 2
#: What of an assertion says what is asserted.
_ASSERTED = ("type", "value", "threshold", "metric", "weight")
#: What the statistics of all results have, by what those of one prompt call it.
_STATS = {"testPassCount": "successes", "testFailCount": "failures", "testErrorCount": "errors"}
#: How the file of a run begins.
_TEST_RUN = re.compile(rb'\s*\{.*"(testRunData|testCases|conversationalTestCases)"\s*:', re.DOTALL)
#: Names that DeepEval gives to test cases which have none.
_NUMBERED = re.compile(r"(conversational_)?test_case_\d+")
_CASES = ("testCases", "conversationalTestCases", "test_results")
#: What a case says of what was asked and expected.
_ASKED = ("input", "expectedOutput", "expected_output", "scenario", "expectedOutcome")


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
    """Return results by the number of their prompt, which differs between providers."""
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
    """Return the names of tests by what they ask: their descriptions, or else their variables."""
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
    """Return whether a test passed, its score and its named scores; an error goes to `errors`."""
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
        failed = ended("tests", errors, len(answers.ids))
        stated = {_PASSED: counts[0], _SCORE: get(column.stated, "score")}
        for metric in answers.values:
            key, total = Key("", metric), stated.get(metric)
            if not reading.wanted.has(key):
                continue
            means = answers.means(metric, items)
            hashes = answers.labels["test_hash"]
            # A test without an assertion of the metric is unscored.
            means[[metric not in metrics[hashes[j]] for j in items.order]] = 0.0
            rate = total / whole if whole and is_finite(total) else None
            # promptfoo counts errors as tests that have failed, with a score of 0.
            is_counted = metric in (_PASSED, _SCORE)
            lacking = [lost, failed if np.isnan(means).any() and not is_counted else ""]
            yield rows_of(
                answers,
                key,
                system,
                items,
                means,
                reported=rate,
                lacking=lacking,
                failed=failed if is_counted else "",
            )


PROMPTFOO = Format("promptfoo", ".json .jsonl", _is_promptfoo, _promptfoo, called=("test", "task"))


def _is_deepeval(source: Source) -> bool:
    """Return whether a file has test cases with metrics."""
    run = get(source.json, "testRunData") or source.json
    first = [case for name in _CASES for case in _objects(get(run, name))[:1]]
    return any({"metricsData", "metrics_data", "success"} & case.keys() for case in first)


def _objects(value: Any) -> list[Any]:
    """Return the objects of a list, none of anything else."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _deepeval(reading: Reading) -> Iterator[Rows]:
    """Yield the rows of each run; runs of one name in a folder are called after their files."""
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
    # Whether the scores of a metric that pass are the high ones, as far as each says it.
    sides: dict[str, set[bool]] = defaultdict(set)
    cases = [case for name in _CASES for case in run.get(name) or []]
    for i, (case, (item, asked)) in enumerate(zip(cases, _named(cases, where), strict=True)):
        values = _scores_of(case, f"{where}, test case {i}", errors, sides)
        answers.paths = answers.paths or paths_of(case, "metadata")
        seen[item] += 1
        answers.add(i, item, reading.labels(case, item_hash=asked), values, seen[item])
    if not cases:
        return
    items = answers.items()
    counts = [run.get(name) for name in ("testPassed", "testFailed")]
    n_whole = sum(counts) if all(isinstance(n, int) for n in counts) else None
    n_there = sum(isinstance(case.get("success"), bool) for case in cases)
    settings = arguments_of({"dataset": run.get("datasetAlias")})
    of_run = partial(rows_of, answers, settings=settings)
    for metric, scores in answers.values.items():
        key = Key("", metric)
        if not reading.wanted.has(key):
            continue
        # Test cases need not all have the same metrics; one with an error has it, without a score.
        means = answers.means(metric, items)
        means[[place not in scores for place in items.order]] = 0.0
        lost, failed, higher = ended("scores", errors[metric]), "", direction(metric)
        if metric == _PASSED:
            lost, failed, higher = "", ended("test cases", errors[metric], len(cases)), True
            stated = counts[0] / n_whole if n_whole else None
        else:
            stated = _mean_stated(run, metric)
            higher = next(iter(sides[metric])) if len(sides[metric]) == 1 else higher
        lacking = [fewer("test cases", n_whole, n_there), lost]
        of_metric = partial(of_run, higher=higher, reported=stated, lacking=lacking)
        yield of_metric(key, system, items, means, failed=failed)


def _named(cases: Sequence[Any], where: str) -> list[tuple[str, str]]:
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


def _scores_of(
    case: Any, where: str, errors: dict[str, list[Any]], sides: dict[str, set[bool]]
) -> dict[str, Any]:
    """Return the scores of a test case and whether it passed; fill `errors`, `sides` by metric."""
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


def _mean_stated(run: Any, metric: str) -> float | None:
    """Return the mean of the scores that the run states for a metric, None where it states none."""
    # The scores of spans are among those of the run.
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
    partial(begins, beginning=_TEST_RUN),
    ("test case", "task"),
)
