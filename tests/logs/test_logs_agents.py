"""What is special to promptfoo, DeepEval, OpenAI evals, tau-bench, SWE-bench and AlpacaEval."""

import copy
import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evalstats as es
from evalstats.logs import formats
from evalstats.logs.fields import as_name
from tests import agent_logs
from tests.agent_logs import (
    annotations,
    deepeval_run,
    leaderboard,
    oaieval_lines,
    promptfoo_result,
    promptfoo_results,
    swe_report,
    tau2_results,
    tau_trials,
)
from tests.conftest import SIGNS, WMT
from tests.helpers import cases, refuses
from tests.log_files import refused, written
from tests.logs import test_logs_formats

TAU = WMT / "runs" / "tau_bench" / "gpt-4o-airline.json"


def scores_of(log):
    """Return the scores by metric and system."""
    return {
        (key.metric, system): score
        for key, table in log.tables.items()
        for system, score in zip(table.systems, table.scores.tolist(), strict=True)
    }


# promptfoo


def test_repetitions_of_promptfoo_are_answers_to_one_test(tmp_path):
    log = es.read_log(agent_logs.promptfoo(tmp_path), labels="vars.topic")
    assert log.systems == ("openai:gpt-4o", "openai:gpt-4o-mini")
    table = log.tables["", "passed", ""]
    assert table.segment_ids == ("parcel-0", "parcel-1", "parcel-2")
    assert table.values[..., 0].tolist() == [[0.5, 1, 0], [1, 0, 1]]
    assert table.labels["vars.topic"] == ("refund", "parcel", "refund")
    assert "the 2 answers to each of the 3 tests" in " ".join(
        es.compare_logs(log, metric="passed").notes
    )
    assert scores_of(log)["score", "openai:gpt-4o"] == pytest.approx((3 + 3 * 0.25) / 6)


def test_an_error_of_promptfoo_is_a_failure_as_promptfoo_counts_it(tmp_path):
    answers = [[[True], [None]], [[False], [True]], [[None], [None]]]
    content = promptfoo_results(answers, providers=["p"])
    log = es.read_log(written(tmp_path / "r.json", content))
    assert log.tables["", "passed", ""].values[0].tolist() == [[0.5, 1], [0.5, 1], [0, 1]]
    # promptfoo says 2 of 6.
    assert scores_of(log)["passed", "p"] == pytest.approx(1 / 3)
    assert log.disagreements == ()
    said = "3 of 6 tests ended with an error, the first with 'API error: 429 Too Many Requests'"
    assert log.failures == (f"p: {said}",)
    assert f"Counted as failed: p: {said}." in str(log)
    assert log.counting("intersect").rows[0].lacking == said
    # Versions before 0.97 have no reason of a failure.
    for one in content["results"]["results"]:
        del one["failureReason"]
    old = es.read_log(written(tmp_path / "r.json", content))
    assert scores_of(old)["passed", "p"] == pytest.approx(1 / 3)


def test_every_version_of_promptfoo_is_read(tmp_path):
    three = promptfoo_results([[[True]], [[False]], [[True]]], repeat=1, providers=["p"])
    results = three["results"]["results"]
    prompts = three["results"]["prompts"]
    two = {"results": {"version": 2, "results": results, "table": {"head": {"prompts": prompts}},
                       "stats": three["results"]["stats"]}}  # fmt: skip
    one = {"version": 1, "results": copy.deepcopy(results), "stats": three["results"]["stats"]}
    for result in one["results"]:
        for name in ("promptIdx", "testIdx", "testCase", "failureReason"):
            del result[name]
        result["prompt"]["display"] = result["prompt"].pop("label")
    for content in (three, two, one):
        log = es.read_log(written(tmp_path / "r.json", content))
        assert scores_of(log)["passed", "p"] == pytest.approx(2 / 3)
        assert list(log.reported[log.rows[0].key].values()) == [pytest.approx(2 / 3)]
    log = es.read_log(written(tmp_path / "r.jsonl", results))
    assert (scores_of(log)["passed", "p"], log.reported) == (pytest.approx(2 / 3), {})
    again = promptfoo_result(0, 3, 0, "p", True)
    (said, *_) = es.read_log(written(tmp_path / "r.jsonl", [*results, again])).incomplete.values()
    assert said == "tests have 1 to 2 repetitions"


def test_prompts_of_one_provider_are_systems(tmp_path):
    labels = ["Reply politely to {{message}}", "Reply\nbriefly, please: " + "x" * 99]
    prompts = [{"prompt": {"raw": "?", "label": label}} for label in labels]
    found = [promptfoo_result(t, t, p, "p", t >= p) | prompts[p] for t in range(3) for p in (0, 1)]
    log = es.read_log(written(tmp_path / "r.jsonl", found))
    first, second = log.systems
    assert first == "p, Reply politely to {{message}}"
    assert second.startswith("p, Reply briefly, please: xxx")
    assert scores_of(log)["passed", second] == pytest.approx(2 / 3)


def test_tests_of_promptfoo_are_named_by_what_they_say(tmp_path):
    found = [promptfoo_result(i, i, 0, "p", True) for i in range(5)]
    for i, description in enumerate(["same", "same", "other", None, None]):
        found[i]["testCase"]["description"] = description
    found[4]["vars"] = found[4]["testCase"]["vars"] = {"message": "x" * 99, "__evalId": "e1"}
    names = es.read_log(written(tmp_path / "r.jsonl", found)).rows[0].items.ids
    assert sorted(names)[:4] == [
        "message=Where is parcel 3?, topic=parcel", f"message={'x' * 52}... " + names[1][-8:],
        "other", "same: message=Where is parcel 0?, topic=refund",
    ]  # fmt: skip


def test_a_metric_that_a_test_has_not_is_not_missing(tmp_path):
    found = [promptfoo_result(i, i, 0, "p", i > 0, namedScores={"Tone": 1}) for i in range(4)]
    del found[2]["namedScores"]["Tone"]
    log = es.read_log(written(tmp_path / "r.jsonl", found))
    assert (log.incomplete, scores_of(log)["Tone", "p"]) == ({}, 1)
    assert log.skipped == ("1 of 4 tests of Tone of p, which are unscored",)


def test_changed_assertions_are_other_tests(tmp_path):
    for name in "ab":
        written(tmp_path / f"{name}.json", promptfoo_results(agent_logs.ANSWERS, 1))
    paths = [tmp_path / "a.json", tmp_path / "b.json"]
    assert len(list(es.compare_logs(paths, metric="passed", n_resamples=99))) == 6
    paths[1].write_text(paths[1].read_text().replace('"contains"', '"icontains"'))
    with pytest.raises(es.InputError, match=r"test_hash of item 'parcel-0' is .* for b/openai"):
        es.compare_logs(paths, metric="passed")


# DeepEval


def test_scores_of_deepeval_that_ended_with_an_error_are_missing(tmp_path):
    path = written(tmp_path / "x.json", deepeval_run([0.75, None, 0.25, 1.0]))
    log = es.read_log(path, labels="metadata.topic")
    assert log.systems == ("prompt-v2",)
    scores = scores_of(log)
    assert scores["Answer Relevancy", "prompt-v2"] == pytest.approx(2 / 3)
    assert scores["passed", "prompt-v2"] == 0.5
    (relevancy,) = log.incomplete.values()
    said = "1 score ended with an error, the first with 'timed out'; 1 of 4 scores is missing"
    assert relevancy == said
    said = "prompt-v2: 1 of 4 test cases ended with an error, the first with 'timed out'"
    assert (log.failures, log.disagreements) == ((said,), ())
    assert log.rows[0].items.labels["metadata.topic"] == ("refund", "parcel") * 2
    # It failed for another reason as well.
    content = deepeval_run([0.75, None])
    content["testCases"][1]["metricsData"] += [
        {"name": "Tone", "threshold": 0.5, "success": False, "score": 0.0}
    ]
    assert scores_of(es.read_log(written(path, content)))["passed", "prompt-v2"] == 0.5


@cases(
    ([0.9, 0.1], 0.5, [True, False], True),
    ([0.9, 0.1], 0.5, [False, True], False),
    ([1, 1], 1, [True, True], True),
    ([0, 0], 0, [True, True], False),
    ([0.5, 0.5], 0.5, [True, True], None),
)
def test_what_passes_says_the_direction(scores, threshold, passes, higher, tmp_path):
    content = deepeval_run(scores, threshold, name="Tone")
    for case, success in zip(content["testCases"], passes, strict=True):
        case["metricsData"][0]["success"] = success
    log = es.read_log(written(tmp_path / "x.json", content), metric="Tone")
    if higher is None:
        refuses("whether higher or lower values of Tone are better", dict, log.tables)
    else:
        assert log.tables["", "Tone", ""].metric.higher_is_better is higher


def test_a_folder_of_deepeval_has_its_runs(tmp_path):
    """As DEEPEVAL_RESULTS_FOLDER has them, beside the lock and what is hidden."""
    for name, scores in (("old", [0.75, 0.25]), ("new", [0.75, 1.0])):
        folder = tmp_path / name
        folder.mkdir()
        (folder / ".test_run.lock").write_text("")
        written(folder / ".latest_test_run.json", {"testRunData": {"testCases": "none"}})
        written(folder / f"test_run_{name}.json", deepeval_run(scores, identifier=None))
    assert es.read_log(tmp_path / "old").systems == ("gpt-4o",)
    assert es.read_log(tmp_path).systems == ("test_run_new", "test_run_old")
    result = es.compare_logs([tmp_path / "old", tmp_path / "new"], metric="passed", n_resamples=99)
    (row,) = result
    assert (row.system, row.baseline, row.difference) == ("new", "old", 0.5)


def test_forms_and_names_of_deepeval(tmp_path):
    run = deepeval_run([0.75, 0.25])
    results = [
        {"name": case["name"], "input": case["input"], "success": case["success"],
         "metrics_data": case["metricsData"]} for case in run["testCases"]
    ]  # fmt: skip
    del run["identifier"]
    wrapped = {"testRunData": run, "testRunLink": None}
    for content, system in ((run, "gpt-4o"), (wrapped, "gpt-4o"), ({"test_results": results}, "x")):
        log = es.read_log(written(tmp_path / "x.json", content))
        assert scores_of(log) == {("passed", system): 0.5, ("Answer Relevancy", system): 0.5}
    cases = [{**copy.deepcopy(run["testCases"][i]), "name": name} for i, name in
             ((0, "test_case_0"), (0, "test_case_1"), (1, "mine"), (0, "mine"))]  # fmt: skip
    items = es.read_log(written(tmp_path / "x.json", {"testCases": cases})).rows[0].items
    assert (items.ids[-2:], items.epochs.tolist()) == (("test_case_0",) * 2, [1, 1, 1, 2])
    assert all(name.startswith("mine ") for name in items.ids[:2])


# OpenAI evals


def test_what_ended_without_a_score_is_missing_in_openai_evals(tmp_path):
    lines = oaieval_lines([True, None, False, True])
    log = es.read_log(written(tmp_path / "x.jsonl", lines))
    (table,) = log.tables.values()
    assert (log.systems, log.tasks) == (("gpt-4o",), ("test-match.s1.simple-v0",))
    assert table.segment_ids == tuple(f"test-match.s1.{i}" for i in range(4))
    assert table.values[0].tolist() == [[1, 1], [0, 0], [0, 1], [1, 1]]
    assert log.disagreements == ()
    assert list(log.incomplete.values()) == [
        "1 sample ended with an error, the first with 'no answer'; 1 of 4 scores is missing"
    ]
    lines = oaieval_lines([True, False], report=False)
    (said,) = es.read_log(written(tmp_path / "x.jsonl", lines[:-1])).incomplete.values()
    assert said == ("there is no final report, so the run did not finish; 1 of 2 scores is missing")


def test_metrics_of_openai_evals_are_scores(tmp_path):
    lines = oaieval_lines([True, False], max_samples=2)
    lines[1]["final_report"] |= {"score": 0.25, "counts/A": 1}
    values = [{"choice": "A", "score": 0.25, "accuracy": 1}, {"choice": "B", "score": None}]
    event = {**lines[2], "type": "metrics"}
    names = [f"test-match.s1.{i}" for i in range(2)]
    lines += [{**event, "sample_id": x, "data": y} for x, y in zip(names, values, strict=True)]
    log = es.read_log(written(tmp_path / "x.jsonl", lines))
    assert scores_of(log) == {("accuracy", "gpt-4o"): 0.5, ("score", "gpt-4o"): 0.25}
    assert list(log.incomplete.values()) == ["1 of 2 scores is missing"]
    assert log.skipped == ("test-match.s1.simple-v0: choice, since 'A' is not a score",)
    assert [row.is_limited for row in log.rows] == [True, False]
    # Several matches of a sample are answers to it.
    lines = oaieval_lines([True, False])
    again = [{**line, "data": {**line["data"], "correct": True}} for line in (lines[3], lines[5])]
    (table,) = es.read_log(written(tmp_path / "x.jsonl", [*lines, *again])).tables.values()
    assert table.values[0, :, 0].tolist() == [1, 0.5]


# tau-bench and tau2-bench


@pytest.mark.skipif(not TAU.is_file(), reason=f"needs the trajectories in {TAU}")
def test_published_trajectories_of_tau_bench():
    log = es.read_log(TAU)
    (row,) = log.rows
    assert log.incomplete == {}
    # The mean that tau-bench's README has for gpt-4o on airline tasks, pass^1.
    assert scores_of(log) == {("reward", "gpt-4o"): pytest.approx(0.42)}
    assert log.tasks == ("airline",)
    assert len(set(row.items.ids)) == 50
    rewards = row.values[:, 0].reshape(50, 4).sum(axis=1)
    flips = np.mean((rewards > 0) & (rewards < 4))
    assert (np.mean(rewards == 4), flips) == (pytest.approx(0.2), pytest.approx(0.52))


def test_trials_that_ended_with_an_error_are_failures(tmp_path):
    trials = tau_trials([[1.0, 0.0], [0.0, 0.0], [1.0, 0.0]], errors={(1, 0)})
    path = written(tmp_path / agent_logs.TAU_NAME, trials)
    log = es.read_log(path)
    name = "tool-calling-gpt-4o-0.0"
    assert scores_of(log) == {("reward", name): pytest.approx(1 / 3)}
    said = "1 of 6 trials ended with an error, the first with 'RateLimitError'"
    assert (log.failures, log.incomplete) == ((f"{name}: {said}",), {})
    assert np.flatnonzero(log.counting("intersect").rows[0].is_gone).tolist() == [1]
    # What the user wants stands in the other trials.
    assert len(set(log.rows[0].items.labels["task_hash"])) == 2
    (said,) = es.read_log(written(path, trials[:3] + trials[4:])).incomplete.values()
    assert said == "the log reports 6 trials, but has 5"
    part = tmp_path / agent_logs.TAU_NAME.replace("0--1", "0-2")
    assert es.read_log(written(part, tau_trials([[1.0, 0.0]]))).rows[0].is_limited
    whole = es.read_log(written(path, tau_trials([[1.0, 0.0]])))
    assert not whole.rows[0].is_limited
    assert whole.rows[0].settings == {"arguments.user": "'gpt-4o-llm'"}


@pytest.mark.parametrize("layout", ["{agent}/{domain}.json", "{agent}-{domain}.json"])
def test_a_domain_of_tau_bench_is_a_task(tmp_path, monkeypatch, layout):
    for i, agent in enumerate(("gpt-4o", "sonnet")):
        for domain in ("airline", "retail"):
            trials = json.dumps(tau_trials(agent_logs.REWARDS[i:])).replace("You are", domain)
            path = tmp_path / layout.format(agent=agent, domain=domain)
            path.parent.mkdir(exist_ok=True)
            path.write_text(trials)
    paths = sorted(tmp_path.iterdir())
    result = es.compare_logs(paths, baseline="gpt-4o", n_resamples=99)
    assert [d.task for d in result.rows] == ["airline", "retail"]
    assert {d.system for d in result.rows} == {"sonnet"}
    (alone,) = es.compare_logs(paths, task="retail", n_resamples=99)
    assert (alone.system, alone.baseline) == ("sonnet", "gpt-4o")
    # Those of one folder, which is where one is.
    monkeypatch.chdir(tmp_path)
    assert es.read_log(".").systems == ("gpt-4o", "sonnet")


def test_a_file_of_tau_bench_goes_by_its_own_name_too(tmp_path, typed):
    for name in ("gpt-4o-airline", "other-airline"):
        written(tmp_path / f"{name}.json", tau_trials(agent_logs.REWARDS))
    arguments = [str(tmp_path / "gpt-4o-airline.json"), str(tmp_path / "other-airline.json")]
    assert "airline: reward" in typed("compare", *arguments, "--baseline", "gpt-4o-airline")


def test_unlike_tasks_and_users_are_told(tmp_path):
    paths = [tmp_path / f"a{i}_range_0--1_user-{user}_0612.json" for i, user in enumerate("xy")]
    for path in paths:
        written(path, tau_trials(agent_logs.REWARDS))
    notes = " ".join(es.compare_logs(paths, n_resamples=99).notes)
    assert "user 'x' (a0) against 'y' (a1)" in notes
    other = [[1.0, 0.0, 1.0]]
    text = json.dumps(tau_trials(other)).replace("You are", "You never were")
    paths[1].write_text(text)
    refuses("task_hash of item '0'", es.compare_logs, paths)


def test_simulations_that_were_not_evaluated_are_missing(tmp_path):
    ends = {(0, 0): "infrastructure_error", (1, 1): "max_steps", (1, 2): "unexpected_error"}
    content = tau2_results([[0.0, 1.0, 1.0], [1.0, 0.0, 0.0]], ends=ends)
    log = es.read_log(written(tmp_path / "x.json", content), labels="task.user_scenario")
    (table,) = log.tables.values()
    assert (log.systems, log.tasks) == (("gpt-4.1",), ("airline",))
    assert table.values[0, :, 0].tolist() == [1, 0.5, 1]
    assert list(log.incomplete.values()) == [
        "2 simulations were not evaluated (1 infrastructure_error, 1 unexpected_error); 2 of 6 "
        "scores are missing"
    ]
    content["simulations"].pop()
    (said,) = es.read_log(written(tmp_path / "x.json", content)).incomplete.values()
    assert said.startswith(
        "the log reports 6 simulations, but has 5; 1 simulation was not evaluated"
    )


def test_a_task_of_tau2_with_one_text_is_told_from_another(tmp_path):
    """What the user wants, without what is right, or the other way round, is a task as well."""
    for gone in ("user_scenario", "evaluation_criteria"):
        hashes = []
        for text in ("this", "that"):
            content = tau2_results([[1.0], [0.0]])
            (task,) = content["tasks"]
            task |= {"user_scenario": text, "evaluation_criteria": text, gone: None}
            (row,) = es.read_log(written(tmp_path / "x.json", content)).rows
            hashes += row.items.labels["task_hash"]
        assert len(set(hashes)) == 2
        assert all(hashes)


def test_simulations_of_tau2_may_be_in_a_folder(tmp_path):
    content = tau2_results(agent_logs.REWARDS)
    simulations = content.pop("simulations")
    for one in simulations:
        written(tmp_path / "simulations" / f"{one['id']}.json", one)
    written(tmp_path / "results.json", content)
    keys = ("id", "task_id", "trial")
    index = [{k: x[k] for k in keys} | {"reward": x["reward_info"]["reward"]} for x in simulations]
    found = [es.read_log(tmp_path)]
    written(tmp_path / "results.json", {**content, "simulation_index": index})
    found.append(es.read_log(tmp_path))
    found.append(es.read_log(agent_logs.tau2_bench(tmp_path / "whole")))
    assert [scores_of(log) for log in found] == [{("reward", "gpt-4.1"): pytest.approx(0.5)}] * 3
    written(tmp_path / "empty" / "results.json", content)
    said = "has no simulations, and there is no folder 'simulations' beside it"
    refused(tmp_path / "empty", said)


# SWE-bench


def test_instances_that_were_not_run_are_not_resolved_in_swe_bench(tmp_path):
    others = {"empty_patch": [6], "error": [7], "incomplete": [8, 9]}
    report = swe_report(resolved=[1, 2, 3], unresolved=[4, 5], **others)
    report["infra_failure_ids"] = ["django__django-5"]
    log = es.read_log(written(tmp_path / "acme__coder.run-1.json", report))
    assert log.systems == ("acme__coder.run-1",)
    (table,) = log.tables.values()
    assert table.labels["repo"] == ("django/django",) * 9
    assert table.values[0, :, 1].tolist() == [1] * 9
    assert table.values[0, :, 0].tolist() == [1, 1, 1, 0, 0, 0, 0, 0, 0]
    # SWE-bench says 3 of 9.
    assert (log.disagreements, log.incomplete) == ((), {})
    said = "1 ended with an error, 1 failed because of the infrastructure, 2 were not run"
    assert log.failures == (f"acme__coder.run-1: of 9 instances {said}",)
    left_out = log.counting("intersect").rows[0]
    assert np.flatnonzero(left_out.is_gone).tolist() == [4, 6, 7, 8]
    written(tmp_path / "acme__coder.run-2.json", swe_report(resolved=[1, 2], unresolved=[3]))
    assert es.read_log(tmp_path).systems == ("acme__coder.run-1", "acme__coder.run-2")
    found = es.compare_logs(tmp_path, missing="intersect", n_resamples=99)
    assert (found[0].difference, "3 instances" in str(found)) == (pytest.approx(-1 / 3), True)


# AlpacaEval


def test_preferences_are_win_rates_of_the_second_system(tmp_path):
    agent_logs.alpaca_eval(tmp_path)
    log = es.read_log(tmp_path)
    (key,) = log.tables
    assert key[:] == ("against gpt4", "win_rate", "")
    table = log.tables[key]
    assert table.values[0, :, 0].tolist() == [1, 0, 0.5, 0.75]
    assert table.labels["dataset"] == ("helpful_base", "koala") * 2
    assert log.reported == {key: {"tuned": 0.5625}}
    path = written(tmp_path / "annotations.json", annotations([0, None, 2, float("nan"), 1]))
    log = es.read_log(path)
    assert scores_of(log) == {("win_rate", "tuned"): 0.5}
    assert list(log.incomplete.values()) == ["2 of 5 scores are missing"]
    (tmp_path / "leaderboard.csv").write_text(leaderboard({"tuned": (50, 5)}))
    (said,) = es.read_log(path).incomplete.values()
    assert said == "the log reports 5 preferences, but has 3; 2 of 5 scores are missing"


def test_annotators_and_references_are_told_apart(tmp_path):
    both = [*annotations([2, 1]), *annotations([1, 1], annotator="claude")]
    log = es.read_log(written(tmp_path / "annotations.json", both))
    assert {key.filter: table.scores.tolist() for key, table in log.tables.items()} == {
        "claude": [0], "weighted_alpaca_eval_gpt4_turbo": [0.5]}  # fmt: skip
    paths = [
        written(tmp_path / "a" / "annotations.json", annotations([2, 1], "a")),
        written(tmp_path / "b" / "annotations.json", annotations([1, 1], "b", annotator="claude")),
    ]
    notes = " ".join(es.compare_logs(paths, n_resamples=99).notes)
    assert "annotator 'weighted_alpaca_eval_gpt4_turbo' (a) against 'claude' (b)" in notes
    written(paths[1], annotations([1, 1], "b", generator_1="davinci"))
    refuses("against davinci", es.compare_logs, paths)


# All of them


WRONG = {
    ("r.json", lambda: promptfoo_results(agent_logs.ANSWERS)): [
        (lambda c: c["results"]["results"][3].update(testIdx=0), "contains test 0 of openai:gpt-4o-mini twice"),
        (lambda c: c["results"]["results"][3].update(success="yes"), "result 3: success must be true or false, got 'yes'"),
        (lambda c: c["results"]["results"][0].update(promptIdx="0"), "result 0: promptIdx must be a whole number, got '0'"),
    ],
    ("x.json", lambda: deepeval_run([1, 0])): [
        (lambda c: c["testCases"][1].pop("name"), "test case 1 has no 'name'"),
        (lambda c: c["testCases"][1].update(success=2), "test case 1: success must be true or false, got 2"),
        (lambda c: c["testCases"][0]["metricsData"].append(c["testCases"][0]["metricsData"][0]),
         "test case 0 has the metric 'Answer Relevancy' twice"),
    ],
    ("x.jsonl", lambda: oaieval_lines([True, False])): [
        (lambda c: c.append(c[0]),
            "line 7 contains the beginning of another run; write each run to its own file"),
        (lambda c: c[3].pop("sample_id"), "line 4 has no 'sample_id'"),
        (lambda c: c[3]["data"].pop("correct"), "line 4, data has no 'correct'"),
        (lambda c: c.__delitem__(slice(1, None)), "is read as OpenAI evals, but has no valid scores"),
    ],
    ("x.json", lambda: tau_trials([[1.0], [0.0]])): [
        (lambda c: c[1].update(trial=0), "has 1 item more than once"),
        (lambda c: c[1].pop("reward"), "trial 1 has no 'reward'"),
        (lambda c: c[1].update(trial="1"), "trial 1: trial must be a whole number, got '1'"),
    ],
    ("x.json", lambda: tau2_results([[1.0], [0.0]])): [
        (lambda c: c["info"]["environment_info"].clear(), "no 'environment_info.domain_name'"),
        (lambda c: c["simulations"][0].update(trial="a"), "trial must be a whole number, got 'a'"),
    ],
    ("x.json", lambda: swe_report(resolved=[1], unresolved=[2])): [
        (lambda c: c["unresolved_ids"].append("django__django-1"), "'django__django-1' is in resolved_ids and unresolved_ids"),
        (lambda c: c["error_ids"].extend(["a-1", "a-1"]), "has 'a-1' twice in error_ids"),
        (lambda c: c.update(error_ids=3), "error_ids must be a list of instances, got 3"),
    ],
    ("x.json", swe_report): [(lambda c: None, "x.json does not list any instances")],
    ("annotations.json", lambda: annotations([1, 2])): [
        (lambda c: c[1].update(preference=3), "annotation 1, preference must be 0, or from 1 to 2, got 3"),
        (lambda c: c[1].pop("generator_2"), "annotation 1 has no 'generator_2'"),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    "name, content, change, message",
    [
        (*made, *case)
        for made, cases in (*WRONG.items(), *test_logs_formats.WRONG.items())
        for case in cases
    ],
)
def test_what_is_wrong_is_an_error(tmp_path, name, content, change, message):
    found = content()
    change(found)
    refused(written(tmp_path / name, found), message)


def test_other_files_are_told_all_formats(tmp_path):
    path = written(tmp_path / "x.json", {"results": [1, 2], "simulations": []})
    for one in formats.FORMATS:
        refused(path, re.escape(one.name))


@given(st.lists(st.text(SIGNS, max_size=80), min_size=2, max_size=5, unique=True))
def test_texts_as_names_can_be_shown_and_stay_apart(texts):
    names = [as_name(text) for text in texts]
    for name in names:
        es.checks.label(name, "name")
        assert len(name) <= 60 + 12
    blanks = {" ".join(text.split()) for text in texts}
    assert len(set(names)) >= len(blanks)
