"""What is said to someone who asks logs for what they have not, or have under another name."""

import random
import shutil

import numpy as np
import pytest

import evalstats as es
from evalstats import cli
from evalstats.pictures.report import document
from tests import harness_logs, log_files
from tests.harness_logs import answers, mixed, write
from tests.markup import Markup


def two_scorers(folder):
    """Write logs of two models on two tasks, which have a scorer each."""
    rng = random.Random(1)
    for model in "ab":
        for task, scorer in (("clu", "clustered"), ("sim", "match")):
            log = log_files.inspect_log([rng.choice("CI") for _ in range(40)], task=task)
            log["eval"]["model"] = f"m/{model}"
            log["results"]["scores"] = []
            for i, sample in enumerate(log["samples"]):
                sample |= {"scores": {scorer: sample["scores"]["choice"]}, "input": f"{task} {i}"}
            log_files.inspect_file(folder / f"{model}{task}.json", log)
    return folder


def test_tasks_of_one_metric_each_say_that_nothing_is_adjusted(tmp_path):
    found = es.compare_logs(two_scorers(tmp_path), n_resamples=9)
    assert not found.totals
    assert not any("allows for all rows" in note for note in found.notes)
    assert any("Each task has its own metric" in note for note in found.notes)
    assert "p (adjusted)" not in str(found)
    whole = es.compare_logs(tmp_path, aggregate="macro", n_resamples=9)
    assert "p (adjusted)" in str(whole)
    assert not any("Each task has its own metric" in note for note in whole.notes)


def test_a_comma_is_between_a_metric_and_its_filter(tmp_path, refused, typed):
    two_scorers(tmp_path / "x")
    text = refused("compare", tmp_path / "x", "-m", "clustered,match")
    assert "there is no metric 'clustered,match'; available: clustered, match" in text
    assert "; a comma separates a metric from its filter" in text
    lines = [*answers([1, 0, 1], "strict"), *answers([1, 1, 1], "loose")]
    write(tmp_path / "y", {"qa": lines}, {"qa": {"acc,strict": 2 / 3, "acc,loose": 1.0}})
    assert "0.67" in typed("estimate", tmp_path / "y", "-m", "acc,strict", "--resamples", "9")


def test_labels_that_could_be_asked_for_are_named(tmp_path, refused):
    mixed(tmp_path / "x")
    text = refused("estimate", tmp_path / "x", "--task", "qa", "--groups", "passage")
    said = "available: doc_hash, target_hash, doc.id, doc.passage; did you mean 'doc.passage'"
    assert said in text
    kept = es.estimate_logs(es.read_log(tmp_path / "x", labels="doc.passage"), task="qa")
    assert "items come from 2 passages but count as independent," in str(kept)
    assert 'Pass groups="doc.passage"' in str(kept)
    log_files.inspect_file(tmp_path / "y.json", log_files.inspect_log(["C", "I"]))
    text = refused("estimate", tmp_path / "y.json", "--groups", "metadata.topic")
    assert "available: item_hash, target_hash, metadata.subject" in text


def test_runs_of_one_model_in_a_folder_are_all_called_by_their_paths(tmp_path, capsys, refused):
    for name, right in (("old", (1, 0, 1, 0)), ("new", (1, 1, 1, 0))):
        mixed(tmp_path / "same" / name, right)
    assert es.read_log(tmp_path / "same").systems == ("new", "old")
    old, new = tmp_path / "same" / "old", tmp_path / "same" / "new"
    found = es.compare_logs([old, new], task="qa", n_resamples=9)
    assert found.estimates[0].system == "old"
    call = ["gate", new, "--baseline", old, "--task", "qa", "--margin", "0.9"]
    text = refused(*call, "--names", "old", "new")
    assert f"--names must contain 1 name ({new}), got old new. The baseline" in text
    assert cli.main([*map(str, call), "--names", "mine"]) in (0, 3)
    assert "mine against" in capsys.readouterr().out


def test_a_log_without_samples_is_named_where_a_second_system_lacks(tmp_path, refused):
    mixed(tmp_path / "x" / "a", model="m/a")
    mixed(tmp_path / "x" / "b", model="m/b")
    for path in (tmp_path / "x" / "b").rglob("samples*"):
        path.rename(path.with_name(f"old {path.name}"))
    words = "at least 2 systems are required, got only 'm/a'; left out.*there are no samples besi"
    with pytest.raises(es.InputError, match=words):
        es.compare_logs(tmp_path / "x")
    assert "no samples beside" in refused("compare", tmp_path / "x")
    one, other = (log_files.written(tmp_path / name, log_files.inspect_log("CI", task=name[0]))
                  for name in ("x.json", "y.json"))  # fmt: skip
    text = refused("compare", one, other)
    said = f"{one} and {other} all belong to it. If they are different systems, pass na"
    assert said in text
    shutil.rmtree(tmp_path / "x" / "b")
    mixed(tmp_path / "x" / "b", model="m/b")
    next((tmp_path / "x" / "b").rglob("samples_qa*")).unlink()
    with pytest.raises(es.InputError, match="qa: there is no file of its samples"):
        es.gate(tmp_path / "x" / "b", tmp_path / "x" / "a", task="qa", margin=0.5)


# Questions and answers beside the items that differ


def test_a_report_of_logs_has_questions_and_answers(tmp_path):
    # Defect: influential items were numbers, and what was asked and answered was in the log only.
    paths = []
    for model, right in (("acme/old", [0, 0, 0, 1]), ("acme/new", [1, 1, 1, 1])):
        lines = harness_logs.answers(right)
        for i, line in enumerate(lines):
            choices = {f"gen_args_{k}": {"arg_0": f"Who, {i}?", "arg_1": f" {name}"} for k, name in
                       enumerate(("Ada", "Bob"))}  # fmt: skip
            line |= {"arguments": choices, "target": "Bob"}
            line["filtered_resps"] = [["-2.5", "False"], [str(-3.0 + right[i]), "True"]]
        harness_logs.write(
            tmp_path / model[5:], {"qa": lines}, {"qa": {"acc,none": np.mean(right)}}, model=model
        )
        paths.append(tmp_path / model[5:])
    page = Markup(document(es.compare_logs(paths, n_resamples=99)))
    named = list(zip(page.texts["dt"], page.texts["dd"], strict=True))
    shown = [dict(named[i : i + 4]) for i in range(0, len(named), 4)]
    # Of choices, the one of the highest likelihood.
    flipped = {"question": "Who, 1?", "target": "Bob", "acme/old": "Ada", "acme/new": "Bob"}
    assert flipped in shown
    assert {**flipped, "question": "Who, 3?", "acme/old": "Bob"} in shown
    by_passage = es.compare_logs(paths, groups="doc.passage", n_resamples=99)
    assert "Who, 2?\nWho, 3?" in Markup(document(by_passage)).texts["dd"]


def test_a_report_of_inspects_logs_has_questions_and_answers(tmp_path):
    for model, right in (("m/old", [1, 0, 0, 1]), ("m/new", [1, 1, 1, 1])):
        log = log_files.inspect_log(right, model=model, stated=float(np.mean(right)))
        for sample in log["samples"]:
            long = [{"role": "system", "content": "x"}, {"role": "user", "content": "y" * 900}]
            sample |= {"input": long, "target": ["A", "B"]}
            sample["scores"]["choice"]["answer"] = model
        log_files.written(tmp_path / f"{model[2:]}.json", log)
    page = Markup(document(es.compare_logs(tmp_path, n_resamples=99)))
    question, target, *answers = page.texts["dd"][:4]
    assert question == f"… {'y' * 600}"
    assert (target, sorted(answers)) == ("A, B", ["m/new", "m/old"])
