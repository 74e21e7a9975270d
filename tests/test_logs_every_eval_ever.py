"""Every Eval Ever: instances in, the block of uncertainty out."""

import json
import random

import pytest

import evalstats as es
from tests import mutations

#: As in the documentation of the schema, `instance_level_eval.schema.json`, 0.2.
INSTANCE = {
    "schema_version": "0.2.2",
    "evaluation_id": "gsm8k/openai/gpt2/1747312345",
    "model_id": "openai/gpt2",
    "evaluation_name": "gsm8k",
    "sample_hash": None,
    "interaction_type": "single_turn",
    "output": {"raw": ["4"]},
    "messages": None,
    "answer_attribution": [],
    "error": None,
    "metadata": {"subject": "algebra"},
}


def instances(scores, **others):
    return [
        {
            **INSTANCE,
            "sample_id": f"gsm8k_{i}",
            "input": {"raw": f"What is {i} and 2?", "reference": [str(i + 2)]},
            "evaluation": {"score": score, "is_correct": bool(score)},
            "metadata": {"subject": ["algebra", "logic"][i % 2]},
            **others,
        }
        for i, score in enumerate(scores)
    ]


def written(path, records, beside=None):
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    if beside is not None:
        path.with_name(path.name.replace("_samples.jsonl", ".json")).write_text(json.dumps(beside))
    return path


def whole(score, n, lower_is_better=False, **result):
    return {
        "evaluation_results": [
            {"evaluation_name": "gsm8k", "metric_config": {"lower_is_better": lower_is_better},
             "score_details": {"score": score}, **result}
        ],
        "detailed_evaluation_results": {"format": "jsonl", "total_rows": n},
    }  # fmt: skip


@pytest.fixture
def path(tmp_path):
    return tmp_path / "5b_samples.jsonl"


def the_table(run):
    (table,) = run.tables.values()
    return table


def test_instances_are_scores(path):
    run = es.read_log(
        written(path, instances([1, 0, 0.5]), whole(0.5, 3)), labels="metadata.subject"
    )
    table = the_table(run)
    assert (run.format, run.name, run.tasks) == ("Every Eval Ever", "openai/gpt2", ("gsm8k",))
    assert table.segment_ids == ("gsm8k_0", "gsm8k_1", "gsm8k_2")
    assert table.values[0, :, 0].tolist() == [1, 0, 0.5]
    assert table.labels["metadata.subject"] == ("algebra", "logic", "algebra")
    assert list(run.reported.values()) == [{"openai/gpt2": 0.5}]
    assert run.disagreements == ()
    assert not run.incomplete


def test_the_file_beside_has_the_direction_and_the_mean(path):
    run = es.read_log(written(path, instances([1, 0]), whole(0.75, 2, lower_is_better=True)))
    assert not the_table(run).metric.higher_is_better
    assert "the log says 0.75, its items give 0.5" in run.disagreements[0]
    run = es.read_log(written(path, instances([1]), whole(1, 2)))
    assert list(run.incomplete.values()) == ["there were 2 instances, 1 are there"]


def test_several_results_of_a_sample_are_told_apart(path):
    records = [
        *instances([1, 0], evaluation_result_id="accuracy_gpt2"),
        *instances([0.5, 0.25], evaluation_result_id="f1_gpt2"),
    ]
    run = es.read_log(written(path, records))
    assert [key.filter for key in run.tables] == ["accuracy_gpt2", "f1_gpt2"]
    beside = whole(0.5, 4)
    beside["evaluation_results"] = [
        {**beside["evaluation_results"][0], "evaluation_result_id": f"{name}_gpt2",
         "metric_config": {"metric_id": name}, "score_details": {"score": score}}
        for name, score in (("accuracy", 0.5), ("f1", 0.375))
    ]  # fmt: skip
    run = es.read_log(written(path, records, beside))
    assert [key.filter for key in run.tables] == ["accuracy", "f1"]
    assert len(run.reported) == 2
    assert not run.disagreements


def test_samples_must_be_the_same(tmp_path):
    a = written(tmp_path / "a_samples.jsonl", instances([1, 0, 1]))
    others = instances([1, 1, 1], model_id="another")
    random.Random(1).shuffle(others)
    b = written(tmp_path / "b_samples.jsonl", others)
    assert es.compare_logs([a, b])
    others[0]["input"]["raw"] = "Something else?"
    written(b, others)
    with pytest.raises(es.InputError, match="sample_hash"):
        es.compare_logs([a, b])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda r: r.append(r[0]), "item 'gsm8k_0', answer 1, occurs more than once"),
        (lambda r: r[1].pop("sample_id"), "line 2 has no 'sample_id'"),
        (lambda r: r[1].update(sample_id=3), "line 2: sample_id must be text, got 3"),
        (lambda r: r[1].update(evaluation={}), "line 2 has no 'evaluation.score'"),
        (lambda r: r[1].update(evaluation={"score": "high"}), "line 2, score must be a number"),
        (lambda r: r[1].update(model_id="another"), "has 2 models, 'openai/gpt2', 'another'"),
        (lambda r: r.append([1]), "line 3 must be a JSON object"),
    ],
)
def test_what_is_wrong_is_an_error(path, change, message):
    records = instances([1, 0])
    change(records)
    with pytest.raises(es.InputError, match=message):
        es.read_log(written(path, records))


@pytest.mark.parametrize(
    ("others", "words"),
    [
        ({"evaluation": {"score": None}}, "2 scores are missing"),
        ({"error": "timeout"}, "2 instances ended with an error"),
    ],
)
def test_what_is_missing_is_said(path, others, words):
    run = es.read_log(written(path, [*instances([1, 0, 1])[2:], *instances([1, 0], **others)]))
    assert list(run.incomplete.values()) == [words]


def _fuzz(path, count):
    written(path, instances([1, 0, 0.5, 0.25]), whole(0.4375, 4))
    mutations.fuzz(path, path.read_bytes(), count)


def test_mutated_instances_are_errors_or_say_so(path):
    _fuzz(path, 60)


@pytest.mark.thorough
def test_many_mutated_instances_are_errors_or_say_so(path):
    _fuzz(path, 2000)


@pytest.mark.parametrize(
    ("settings", "method"),
    [
        ({}, "wilson"),
        ({"method": "t"}, "t"),
        ({"method": "percentile", "n_resamples": 500}, "percentile"),
        ({"groups": list("aabbccdd")}, "wilson"),
    ],
)
def test_uncertainty_in_the_common_schema(settings, method):
    estimate = es.estimate([1, 0, 1, 1, 0, 1, 1, 1], None, es.Mean("accuracy"), **settings)
    found = json.loads(json.dumps(estimate.to_every_eval_ever()))
    # That of influence values, whatever the interval is made of.
    assert found["standard_error"] == {"value": estimate.standard_error, "method": "analytic"}
    interval = found["confidence_interval"]
    assert (interval["lower"], interval["upper"]) == (estimate.low, estimate.high)
    assert (interval["confidence_level"], interval["method"]) == (0.95, method)
    assert found["num_samples"] == (4 if "groups" in settings else 8)
    assert found.get("num_bootstrap_samples") == settings.get("n_resamples")
