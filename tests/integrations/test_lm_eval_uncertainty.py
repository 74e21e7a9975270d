"""Errors for results in the process; `live/test_lm_eval.py` has the real harness."""

import copy
import json
import math

import numpy as np
import pytest

import evalstats as es
from evalstats.integrations.lm_eval import with_uncertainty
from tests import harness_logs as logs
from tests.harness_logs import answers, line, write
from tests.helpers import bad_cases, cases


def results_of(tmp_path, samples, scores, **more):
    """Return results as they are in the process: with samples, and every error N/A."""
    path = write(tmp_path, samples, scores, **more)
    record = json.loads(path.read_text("utf-8"))
    for own in record["results"].values():
        own.update({name.replace(",", "_stderr,"): "N/A" for name in own if "," in name})
    return {**record, "samples": samples}


@pytest.fixture
def results(tmp_path):
    right = [1.0, 0.0, 1.0, 1.0, 0.0]
    return results_of(
        tmp_path,
        {"qa": answers(right), "mt": logs.translations(), "lm": logs.perplexities()},
        {"qa": {"acc,none": 0.6}, "mt": logs.translation_scores(), "lm": logs.perplexity_scores()},
    )


def test_every_error_is_filled_in_and_what_was_given_stays(results):
    before = copy.deepcopy(results)
    filled = with_uncertainty(results, method="t", confidence_level=0.9, n_resamples=999, rng=7)
    assert results == before
    assert filled["samples"] is results["samples"]
    told = filled["uncertainty"]
    assert json.loads(json.dumps(told)) == told
    assert (told["notes"], told["method"], told["confidence_level"]) == ([], "t", 0.9)
    errors = {
        name: value
        for own in filled["results"].values()
        for name, value in own.items()
        if "_stderr" in name
    }
    assert len(errors) == 6
    assert all(value > 0 for value in errors.values())
    expected = np.std([1, 0, 1, 1, 0], ddof=1) / math.sqrt(5)
    assert errors["acc_stderr,none"] == pytest.approx(expected, rel=1e-12)
    rows = es.extract({"a": logs.OUTPUTS}, logs.GERMAN, "bleu")
    interval = es.estimate(rows, method="t", confidence_level=0.9, n_resamples=999, rng=7)
    assert told["tasks"]["mt"]["bleu,none"] == {
        "score": interval.score, "standard_error": es.estimate(rows, method="t").standard_error,
        "low": interval.low, "high": interval.high, "n_items": 4,
    }  # fmt: skip


def test_numbers_and_tuples_of_the_harness_are_understood(tmp_path):
    pairs = [(0, np.int64(1)), (1, np.int64(1)), (1, np.int64(0)), (0, np.int64(0))]
    lines = [
        line(i, {"f1": pair, "acc": np.float64(pair[0] == pair[1]),
                 "brier_score": (pair[0], np.array([0.5, 0.5]))})
        for i, pair in enumerate(pairs)
    ]  # fmt: skip
    record = {
        "results": {"t": {"f1,none": 0.5, "acc,none": 0.5, "brier_score,none": 0.5}},
        "samples": {"t": lines},
    }
    told = with_uncertainty(record)["uncertainty"]
    assert told["notes"] == []
    assert set(told["tasks"]["t"]) == {"f1,none", "acc,none", "brier_score,none"}


@pytest.mark.parametrize(
    "score, expected",
    [(0.7, lambda a, b: math.hypot(4 * a, 6 * b) / 10), (2 / 3, lambda a, b: math.hypot(a, b) / 2)],
    ids=["micro", "macro"],
)  # fmt: skip
def test_groups_have_the_error_of_the_mean_that_they_are(tmp_path, score, expected):
    # 0.5 of 4 items and 5/6 of 6 are 0.7 of all items; the mean of the two is 2/3.
    record = results_of(
        tmp_path,
        {"a": answers([1, 0, 1, 0]), "b": answers([1, 1, 1, 0, 1, 1])},
        {"a": {"acc,none": 0.5}, "b": {"acc,none": 5 / 6}},
        group_subtasks={"both": ["a", "b"]},
    )
    own = {"acc,none": score, "acc_stderr,none": "N/A", "sample_len": 10}
    record["results"]["both"] = own
    record["groups"] = {"both": dict(own)}
    filled = with_uncertainty(record)
    errors = [filled["results"][task]["acc_stderr,none"] for task in "ab"]
    for part in ("results", "groups"):
        found = filled[part]["both"]["acc_stderr,none"]
        assert found == pytest.approx(expected(*errors), rel=1e-12)
    told = filled["uncertainty"]["tasks"]["both"]["acc,none"]
    assert told["high"] - told["score"] == pytest.approx(
        1.959964 * told["standard_error"], rel=1e-6
    )


def test_a_group_that_is_no_mean_of_its_tasks_or_lacks_one_stays_as_it_is(tmp_path):
    record = results_of(
        tmp_path,
        {"a": answers([1, 0]), "b": answers([1, 1, 1, 0])},
        {"a": {"acc,none": 0.5}, "b": {"acc,none": 0.75}},
        group_subtasks={"odd": ["a", "b"], "gone": ["a", "b"]},
    )
    for group, name in (("odd", "acc"), ("gone", "acc_norm")):
        record["results"][group] = {f"{name},none": 0.9, f"{name}_stderr,none": "N/A"}
    record["results"]["b"]["acc_norm,none"] = 0.9
    filled = with_uncertainty(record)
    assert filled["results"]["odd"]["acc_stderr,none"] == "N/A"
    assert filled["results"]["gone"]["acc_norm_stderr,none"] == "N/A"
    first, second = filled["uncertainty"]["notes"]
    assert first == (
        "group odd, acc,none: the log has 0.9, but its tasks give 0.6666666667 and 0.625 over all "
        "items and over tasks"
    )
    assert second == "gone: acc_norm,none: b lacks a standard error"


@cases(
    (lambda r: r["results"]["qa"].update({"acc,none": 0.7}),
     "score is 0.7, but its items give 0.6"),
    (lambda r: r["samples"].update(qa=r["samples"]["qa"][:3]),
     "3 samples, but n-samples in the results file is 5"),
    (lambda r: r["samples"]["qa"].append(r["samples"]["qa"][0]), "has 1 item more than once"),
    (
        lambda r: r.update(
            samples={"qa": r["samples"]["qa"][:1]},
            **{"n-samples": {}},
            results={"qa": {"acc,none": 1.0, "acc_stderr,none": 0.1}},
        ),
        "a standard error requires at least 2 items, got 1",
    ),
)  # fmt: skip
def test_what_cannot_be_said_is_not_said(change, words, results):
    change(results)
    filled = with_uncertainty(results)
    assert filled["results"]["qa"]["acc_stderr,none"] == "N/A"
    (note,) = filled["uncertainty"]["notes"]
    assert note.startswith("qa: ")
    assert words in note


@bad_cases(
    ({"results": {}}, "call it with log_samples=True"),
    (None, "must be the return value"),
    ({"samples": {"a": "text"}}, "samples of a must be a list, got str"),
    ({"samples": {"a": [1]}}, "samples of a, sample 0 must be a mapping, got 1"),
    ({"samples": {"a": [{"doc_id": 0, "filter": "none", "metrics": ["acc"]}]}}, "has no 'acc'"),
)
def test_other_things_are_refused(given):
    with_uncertainty(given)
