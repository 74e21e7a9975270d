"""Groups of lm-evaluation-harness: tasks by one name, whose total is the score that it reports."""

import json
import random

import pytest

import evalstats as es
from evalstats import cli
from tests.conftest import WMT
from tests.harness_logs import answers, line, write

SIZES = {"mmlu_law": 60, "mmlu_history": 40, "mmlu_physics": 20, "mmlu_math": 12}
MEMBERS = {
    "mmlu": ["mmlu_humanities", "mmlu_stem"],
    "mmlu_humanities": ["mmlu_law", "mmlu_history"],
    "mmlu_stem": ["mmlu_physics", "mmlu_math"],
}
LEAVES = {
    "mmlu": tuple(SIZES),
    "mmlu_humanities": ("mmlu_law", "mmlu_history"),
    "mmlu_stem": ("mmlu_physics", "mmlu_math"),
}
REAL = WMT / "runs" / "lm_eval_dummy" / "run_1"


def aggregate_subtask_metrics(metrics, sizes, weight_by_size):
    """Return what lm_eval.api.metrics 0.4.13 does under this name."""
    if not weight_by_size:
        sizes = [1] * len(sizes)
    return sum(m * s for m, s in zip(metrics, sizes, strict=True)) / sum(sizes)


def exams(folder, model, *, arc=False, changed=None):
    """Write a run of nested groups: acc is weighted by size, as in MMLU, and acc_norm is not."""
    rng, samples, scores = random.Random(model), {}, {}
    for task, n in {**SIZES, **({"arc": 30} if arc else {})}.items():
        samples[task] = [
            line(i, {name: float(rng.random() < 0.6) for name in ("acc", "acc_norm")}, i,
                 doc_hash=f"{task} {i}", prompt_hash=f"{task} {i}")
            for i in range(n)
        ]  # fmt: skip
        scores[task] = {
            f"{name},none": sum(record[name] for record in samples[task]) / n
            for name in ("acc", "acc_norm")
        }
    stated = {}
    for group, tasks in LEAVES.items():
        sizes = [SIZES[task] for task in tasks]
        stated[group] = {
            f"{name},none": aggregate_subtask_metrics(
                [scores[task][f"{name},none"] for task in tasks], sizes, name == "acc"
            )
            for name in ("acc", "acc_norm")
        }
    stated["mmlu"] |= changed or {}
    path = write(folder, samples, scores, model=f"acme/{model}", group_subtasks=MEMBERS)
    record = json.loads(path.read_text())
    record["results"] |= stated
    for task in LEAVES["mmlu_stem"]:
        record["configs"][task]["tag"] = ["sciences", "mmlu_physics"]
    path.write_text(json.dumps(record))
    return folder, stated


def totals(result):
    return {(e.task, e.metric, e.system): e.score for e in result.totals}


def test_a_group_is_its_tasks_with_the_total_that_the_harness_prints(tmp_path):
    (base, of_base), (_, of_tuned) = (exams(tmp_path, name) for name in ("base", "tuned"))
    for group, leaves in LEAVES.items():
        found = es.compare_logs(base, task=group, n_resamples=99)
        assert {d.task for d in found.rows} == set(leaves)
        assert totals(found.estimates) == pytest.approx(
            {
                (group, name, f"acme/{model}"): stated[group][f"{name},none"]
                for model, stated in (("base", of_base), ("tuned", of_tuned))
                for name in ("acc", "acc_norm")
            },
            rel=1e-12,
        )
        kinds = {e.metric: e.aggregate for e in found.estimates.totals}
        assert kinds == {"acc": "micro", "acc_norm": "macro"}
    # Without a task the whole log is the largest group, and of a log that was read likewise.
    expected = totals(es.estimate_logs(tmp_path, task="mmlu", n_resamples=99))
    log = es.read_log(tmp_path)
    for source, options in ((tmp_path, {}), (log, {}), (log, {"task": "mmlu*"})):
        assert totals(es.estimate_logs(source, n_resamples=99, **options)) == expected
    assert log.groups == {"sciences": LEAVES["mmlu_stem"], **LEAVES}
    assert es.read_log(tmp_path, task="sciences").tasks == ("mmlu_math", "mmlu_physics")
    with pytest.raises(
        es.InputError, match=r"no task 'mmlo'; available: mmlu_history, .* mean 'mmlu'"
    ):
        es.compare_logs(tmp_path, task="mmlo")
    asked = es.estimate_logs(tmp_path, task="mmlu", aggregate="macro", n_resamples=99)
    assert {task for task, _, _ in totals(asked)} == {"all 4 tasks"}


def test_a_group_beside_other_tasks_has_its_total_and_the_total_is_over_all(tmp_path):
    exams(tmp_path, "base", arc=True)
    _, stated = exams(tmp_path, "tuned", arc=True)
    found = es.compare_logs(tmp_path, metric="acc", n_resamples=99)
    assert [d.task for d in found.totals] == ["mmlu", "all 5 tasks"]
    assert found.estimates["mmlu", "acme/tuned"].score == pytest.approx(stated["mmlu"]["acc,none"])
    assert found["acme/tuned"].task == "all 5 tasks"
    assert found.ranking().task == "all 5 tasks"
    assert found.ranking(task="mmlu").task == "mmlu"
    two = es.compare_logs(tmp_path, task=["mmlu_stem", "mmlu_humanities", "arc"], n_resamples=99)
    assert {d.task for d in two.totals} == {"mmlu", "all 5 tasks"}


def test_show_has_the_score_of_the_group_beside_the_reported_one(tmp_path, typed):
    folder, stated = exams(tmp_path, "base")
    lines = typed("show", folder).splitlines()
    for group, own in stated.items():
        score = f"{own['acc,none']:.6g}"
        (row,) = [x.split() for x in lines if x.split()[:2] == [group, "acc"]]
        n = sum(SIZES[task] for task in LEAVES[group])
        assert row == [group, "acc", "acme/base", str(n), score, score]
    record = es.read_log(folder).to_dict()
    assert len(record["tables"]) == 8
    assert len(record["group_scores"]) == 6
    # Of a part of the tasks there is not a score of the group.
    assert "mmlu_stem" not in str(es.read_log(folder, task=["mmlu_law", "mmlu_math"]))


def test_a_group_that_is_no_mean_of_its_tasks_is_told_and_no_total(tmp_path):
    folder, _ = exams(tmp_path, "base", changed={"acc,none": 0.9})
    exams(tmp_path, "tuned")
    said = "mmlu: acc of acme/base: the log reports 0.9, but its 4 tasks give"
    assert said in es.read_log(folder).disagreements[0]
    found = es.compare_logs(folder, n_resamples=99)
    assert said in found.notes[0]
    expected = ("mmlu", "acc_norm"), ("mmlu_humanities", "acc"), ("mmlu_stem", "acc")
    assert [(d.task, d.metric) for d in found.totals] == [*expected, ("all 4 tasks", "acc")]


def test_a_group_of_corpus_scores_is_their_mean_with_weights(tmp_path):
    nats = {"news": [(-10.0, 4), (-30.0, 5)], "law": [(-8.0, 2), (-9.0, 9), (-20.0, 7)]}
    samples = {
        task: [line(i, {"word_perplexity": row}, f"{task} {i}") for i, row in enumerate(rows)]
        for task, rows in nats.items()
    }
    tables = {
        name: es.Perplexity("word").score(list(map(sum, zip(*[(-a, b) for a, b in rows], strict=True))))
        for name, rows in nats.items()
    }  # fmt: skip
    scores = {name: {"word_perplexity,none": float(x)} for name, x in tables.items()}
    path = write(tmp_path, samples, scores, group_subtasks={"lm": ["news", "law"]})
    record = json.loads(path.read_text())
    stated = aggregate_subtask_metrics([tables["news"], tables["law"]], [2, 3], True)
    record["results"]["lm"] = {"word_perplexity,none": float(stated)}
    path.write_text(json.dumps(record))
    (total,) = es.estimate_logs(tmp_path, task="lm", n_resamples=99).totals
    assert (total.task, total.aggregate) == ("lm", "weighted")
    assert total.score == pytest.approx(float(stated), rel=1e-12)


def test_a_group_is_gated_as_one(tmp_path, capsys):
    exams(tmp_path / "a", "base")
    exams(tmp_path / "b", "tuned")
    gate = es.gate(tmp_path / "b", tmp_path / "a", metric="acc", task="mmlu", recovery=0.3)
    assert [check.task for check in gate][-1] == "mmlu"
    found = es.assert_not_worse(tmp_path / "b", tmp_path / "a", metric="acc", task="mmlu_stem")
    assert found.checks[-1].task == "mmlu_stem"
    call = ["gate", str(tmp_path / "b"), "--baseline", str(tmp_path / "a"), "--task", "mmlu"]
    cli.main([*call, "-m", "acc", "--recovery", "0.3"])
    assert "\nmmlu " in capsys.readouterr().out


def test_filters_of_a_group(tmp_path):
    samples = {
        task: [*answers([1, 0, 1, 1], "strict"), *answers([1, 1, 1, n], "loose")]
        for task, n in (("a", 0), ("b", 1))
    }
    loose = {"a": 0.75, "b": 1}
    scores = {task: {"acc,strict": 0.75, "acc,loose": x} for task, x in loose.items()}
    path = write(tmp_path, samples, scores, group_subtasks={"both": ["a", "b"]})
    record = json.loads(path.read_text())
    record["results"]["both"] = {"acc,strict": 0.75, "acc,loose": 0.875}
    path.write_text(json.dumps(record))
    found = es.estimate_logs(tmp_path, task="both", n_resamples=99)
    expected = {("both", "acc (strict)", 0.75), ("both", "acc (loose)", 0.875)}
    assert {(e.task, e.metric, e.score) for e in found.totals} == expected


@pytest.mark.skipif(not REAL.is_dir(), reason=f"needs the logs in {REAL}")
def test_the_group_of_a_real_run():
    found = es.estimate_logs(REAL, task="my_group", metric="acc", n_resamples=99)
    (total,) = found.totals
    assert (total.task, total.score) == ("my_group", pytest.approx(0.38333333333333336, rel=1e-12))
    ((key, stated),) = es.read_log(REAL).group_scores.items()
    assert (key[0].task, stated) == ("my_group", 0.38333333333333336)
