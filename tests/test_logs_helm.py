"""HELM's statistics of instances."""

import json
import random

import pytest

import evalstats as es
from tests import mutations
from tests.conftest import WMT

RUN = WMT / "runs" / "helm"
real = pytest.mark.skipif(not RUN.is_dir(), reason=f"needs the run in {RUN}")


def stat(name, total, count=1, split="test", **context):
    return {"name": {"name": name, "split": split, **context}, "count": count, "sum": total}


def written(folder, trials, *, stated=None, name="mmlu:subject=law,model=openai_gpt2"):
    """Write a run: for every trial the sums of `f1`, instance by instance."""
    folder.mkdir(exist_ok=True)
    records = [
        {"instance_id": f"id{i}", "train_trial_index": trial, "stats": [
            stat("f1", value), stat("num_bytes", 7), stat("f1", value / 2, perturbation={
                "name": "typos", "robustness": True, "computed_on": "perturbed", "prob": 0.1})]}
        for trial, values in enumerate(trials)
        for i, value in enumerate(values)
    ]  # fmt: skip
    (folder / "per_instance_stats.json").write_text(json.dumps(records))
    spec = {"name": name, "adapter_spec": {"model": "openai/gpt2"}}
    (folder / "run_spec.json").write_text(json.dumps(spec))
    if stated is not None:
        stats = [{**stat("f1", stated), "mean": stated}, {**stat("num_instances", 3), "mean": 3.0}]
        (folder / "stats.json").write_text(json.dumps(stats))
    return folder


@real
def test_every_statistic_of_a_real_run_is_the_one_that_helm_states():
    run = es.read_log(RUN, metric="*")
    assert run.systems == ("openai/gpt2",)
    assert run.tasks == ("narrative_qa",)
    assert len(run.tables) == 46
    assert all(key in run.reported for key in run.tables)
    assert run.disagreements == ()
    assert not run.incomplete
    scores = es.read_log(RUN / "per_instance_stats.json", filter="test")
    assert [key.metric for key in scores.tables] == [
        "exact_match", "quasi_exact_match", "f1_score", "rouge_l", "bleu_1", "bleu_4"
    ]  # fmt: skip


def test_splits_and_perturbations_are_filters(tmp_path):
    run = es.read_log(written(tmp_path / "run", [[1, 0, 0.5]], stated=0.5))
    assert [(key.task, key.metric, key.filter) for key in run.tables] == [
        ("mmlu:subject=law", "f1", "test"),
        ("mmlu:subject=law", "f1", "test, typos, prob=0.1"),
    ]
    assert [table.scores.tolist() for table in run.tables.values()] == [[0.5], [0.25]]
    assert run.skipped == ("what HELM counts beside the scores: num_bytes",)
    assert es.read_log(tmp_path / "run", metric="num_*").tables
    assert not run.disagreements
    assert es.read_log(written(tmp_path / "run", [[1, 0, 0]], stated=0.5)).disagreements


def test_trials_are_averaged_or_runs(tmp_path):
    written(tmp_path / "run", [[1, 0, 0.5], [0, 0, 1]], stated=2.5 / 6)
    (table, _) = es.read_log(tmp_path / "run").tables.values()
    assert table.values[0].tolist() == [[0.5, 1], [0, 1], [0.75, 1]]
    run = es.read_log(tmp_path / "run", epochs="runs", filter="test")
    (table,) = run.tables.values()
    assert table.metric == es.MeanOfRuns(es.Mean("f1"), 2)
    assert not run.disagreements


def test_counts_weigh_as_in_helm(tmp_path):
    records = [
        {"instance_id": f"id{i}", "stats": [stat("accuracy", total, count)]}
        for i, (total, count) in enumerate([(2, 3), (1, 1), (0, 0)])
    ]
    path = tmp_path / "per_instance_stats.json"
    path.write_text(json.dumps(records))
    run = es.read_log(path)
    (table,) = run.tables.values()
    assert table.scores == [0.75]
    assert "1 items of" in run.skipped[0]
    assert table.segment_ids == ("id0", "id1")


def test_what_is_missing_is_said(tmp_path):
    folder = written(tmp_path / "run", [[1, 0, 0.5]], stated=0.5)
    path = folder / "per_instance_stats.json"
    records = json.loads(path.read_text())
    path.write_text(json.dumps(records[:2]))
    run = es.read_log(folder, filter="test")
    assert list(run.incomplete.values()) == ["there were 3 instances, 2 are there"]
    del records[0]["stats"][0]
    path.write_text(json.dumps(records))
    assert "1 score is missing" in es.read_log(folder, filter="test").incomplete.values()
    path.write_text(json.dumps([*records, records[1]]))
    with pytest.raises(es.InputError, match="a log has each item once"):
        es.read_log(folder)


def test_a_folder_has_the_runs_of_one_model(tmp_path):
    for subject in ("law", "physics"):
        written(tmp_path / subject, [[1, 0]], name=f"mmlu:subject={subject},model=openai_gpt2")
    run = es.read_log(tmp_path, filter="test")
    assert run.tasks == ("mmlu:subject=law", "mmlu:subject=physics")
    spec = {"name": "mmlu:subject=law", "adapter_spec": {"model": "another"}}
    (tmp_path / "law" / "run_spec.json").write_text(json.dumps(spec))
    with pytest.raises(es.InputError, match="has runs of 2 models"):
        es.read_log(tmp_path)
    (tmp_path / "law" / "run_spec.json").unlink()
    (tmp_path / "law").rename(tmp_path / "boolq:model=openai_gpt2")
    run = es.read_log(tmp_path / "boolq:model=openai_gpt2")
    assert (run.name, run.tasks) == ("openai_gpt2", ("boolq",))


def test_the_order_does_not_matter(tmp_path):
    folder = written(tmp_path / "run", [[1, 0, 0.5, 0.2], [0, 0, 1, 1]])
    before = es.read_log(folder).tables
    path = folder / "per_instance_stats.json"
    records = json.loads(path.read_text())
    random.Random(5).shuffle(records)
    path.write_text(json.dumps(records))
    after = es.read_log(folder).tables
    assert all(after[key] == table for key, table in before.items())


def _fuzz(folder, count):
    written(folder, [[1, 0, 0.5], [0, 0, 1]], stated=2.5 / 6)
    path = folder / "per_instance_stats.json"
    mutations.fuzz(path, path.read_bytes(), count, filter="test")


def test_mutated_statistics_are_errors_or_say_so(tmp_path):
    _fuzz(tmp_path / "run", 60)


@pytest.mark.thorough
def test_many_mutated_statistics(tmp_path):
    _fuzz(tmp_path / "run", 2000)


@real
@pytest.mark.thorough
def test_many_mutations_of_a_real_run(tmp_path):
    for name in ("run_spec.json", "stats.json"):
        (tmp_path / name).write_bytes((RUN / name).read_bytes())
    data = (RUN / "per_instance_stats.json").read_bytes()
    mutations.fuzz(tmp_path / "per_instance_stats.json", data, 300)
