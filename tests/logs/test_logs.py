"""What holds of every format of logs: recomputed is reported, order is nothing, damage is named."""

import json
import random
import re
import shutil
from dataclasses import replace
from functools import partial
from math import ceil
from pathlib import Path

import numpy as np
import pytest

import evalstats as es
from evalstats.logs.fields import get
from tests import agent_logs, harness_logs, log_files, mutations
from tests.conftest import WMT
from tests.helpers import cases, refuses
from tests.log_files import Written, written


def epochs_log():
    values = ["C", "I", float("nan"), 0.5, "yes", "N"]
    return log_files.inspect_log(values, epochs=2, stated=1.25 / 3)


def text(name, content):
    """Return a writer of a file of this name."""

    def write(folder):
        (folder / name).write_text(content())
        return folder / name

    return write


def document(name, content, **beside):
    """Return a writer of a file of JSON, with others beside it."""

    def write(folder):
        for other, of_other in beside.items():
            written(folder / f"{other}.json", of_other)
        return written(folder / name, content())

    return write


def lm_eval(folder):
    harness_logs.mixed(folder)
    return folder


def wmt(folder):
    for name in ("A-1.5", "B"):
        written(folder / f"{name}.jsonl", log_files.documents(name))
    return folder


def long_lines():
    head, *lines = (line.split(",") for line in log_files.LONG.splitlines())
    return "".join(json.dumps(dict(zip(head, line, strict=True))) + "\n" for line in lines)


def wide():
    rows = [f"{s},{i},0.{i}5,3{i}\n" for s in "AB" for i in "123"]
    return "".join(["system,id,COMET,BLEU\n", *rows])


INSPECT = document("x.json", epochs_log)
EVERY_EVAL_EVER = document(
    "5b_samples.jsonl",
    lambda: log_files.instances([1, 0, 0.5, 0.25]),
    **{"5b": log_files.evaluation(0.4375, 4)},
)
COMET = document("scored.json", log_files.comet_scored)
COMPARED = document("compared.json", log_files.comet_compared)
BLOCKS = {"sysA": [0.5, 0.25, 1e-3], "sysB": [-1, 2, 0]}
HELM = partial(log_files.helm, trials=[[1, 0, 0.5], [0, 0, 1]], stated=2.5 / 6)
MEETEVAL = document("hyp_cpwer_per_reco.json", log_files.sessions, hyp_cpwer={"error_rate": 0.15})
#: What `agent_logs` does not write. In files without names of items the order of rows is that of
#: items; one without a number of items, of one system, does not tell that a row is lost.
FORMATS = {
    "lm-evaluation-harness": Written(lm_eval, is_reported=True),
    "Inspect, json": Written(INSPECT, is_reported=True),
    "Inspect, eval": Written(
        lambda f: log_files.inspect_file(f / "x.eval", epochs_log()), is_reported=True
    ),
    "HELM": Written(HELM, is_reported=True),
    "Every Eval Ever": Written(EVERY_EVAL_EVER, is_reported=True),
    "COMET": Written(COMET, has_order=True),
    "COMET, compared": Written(COMPARED, has_order=True),
    "COMET, printed": Written(
        text("comet.log", log_files.comet_printed), has_order=True, is_counted=False
    ),
    "one number per line": Written(
        text("GPT-4.5.txt", lambda: "0.5\n-1\n0.25\n"), has_order=True, is_counted=False
    ),
    "mt-metrics-eval": Written(
        text("COMET.seg.score", lambda: log_files.seg_scores(BLOCKS)), has_order=True
    ),
    "meeteval": Written(MEETEVAL, is_reported=True),
    "WMT's automatic scores": Written(wmt),
    "table": Written(text("scores.csv", lambda: log_files.LONG)),
    "table, JSON lines": Written(text("scores.jsonl", long_lines)),
    "table, wide": Written(text("wide.csv", wide)),
    **agent_logs.FORMATS,
}
formats = pytest.mark.parametrize("name", FORMATS)


@formats
def test_a_log_says_what_its_items_give_in_every_form(name, tmp_path):
    log = es.read_log(FORMATS[name].write(tmp_path))
    assert log.disagreements == ()
    assert bool(log.reported) is FORMATS[name].is_reported
    assert log.format.startswith(name.partition(",")[0])
    for key, scores in log.reported.items():
        found = log.tables[key]
        assert found.scores == pytest.approx([scores[s] for s in found.systems], rel=1e-9)
    for key, found in log.tables.items():
        ids = found.segment_ids
        assert sorted(ids, key=lambda i: [int(n) for n in re.findall(r"\d+", i)]) == list(ids), key
    assert str(log).startswith(f"{log.name} ({log.format}, {log.path})\n")
    tables = json.loads(log.to_json())["tables"]
    assert len(tables) == sum(len(t.systems) for t in log.tables.values())
    assert len(log.to_csv().splitlines()) == 1 + len(tables)
    for form in (log.to_html(), log.to_markdown(), log.to_latex(), log._repr_html_()):
        assert tables[0]["system"].replace("/", "")[:3] in form.replace("/", "")
    rows = tuple(replace(one, reported=one.reported and one.reported + 0.01) for one in log.rows)
    told = replace(log, rows=rows).disagreements
    assert len(told) == sum(bool(one.reported) for one in rows)


def edited(path, edit):
    """Change the list of lines, samples or sessions of a log, wherever its format has it."""
    if path.is_dir():
        path = min(path.rglob("*.jsonl"), default=path / "tuned" / "annotations.json")
    if path.suffix == ".eval":
        content = epochs_log()
        edit(content["samples"])
        path.write_bytes(log_files.as_eval(content))
        return
    text = path.read_text()
    if path.suffix != ".json":
        head, *rest = ["", *text.splitlines(keepends=True)]
        if path.suffix == ".csv" or rest[0].startswith('{"spec"'):
            head, *rest = rest
        edit(rest)
        path.write_text("".join([head, *rest]))
        return
    content = json.loads(text)
    if "S10" in content:
        sessions = list(content.items())
        edit(sessions)
        content = dict(sessions)
    else:
        edit(answers_of(content))
    path.write_text(json.dumps(content))


def answers_of(content):
    """Return the list of answers in a document: at one of these places, or its first list."""
    if isinstance(content, list):
        return content
    if "translations" in content:
        return content["translations"][0]["scores"]
    places = ["results results", "testCases", "simulations", "resolved_ids", "samples"]
    lists = [*(get(content, *keys.split()) for keys in places), *content.values()]
    return next(one for one in lists if isinstance(one, list))


@pytest.mark.parametrize("name", [n for n in FORMATS if not FORMATS[n].has_order])
def test_the_order_of_rows_changes_no_bit(name, tmp_path):
    path = FORMATS[name].write(tmp_path)
    before = es.read_log(path).tables
    for seed in range(3):
        edited(path, random.Random(seed).shuffle)
        after = es.read_log(path).tables
        assert set(after) == set(before)
        for key, one in before.items():
            places = [after[key].systems.index(system) for system in one.systems]
            assert np.array_equal(after[key].values[places], one.values)
            assert (after[key].segment_ids, after[key].labels) == (one.segment_ids, one.labels)


@pytest.mark.parametrize("name", [n for n in FORMATS if FORMATS[n].is_counted])
def test_what_is_lost_or_doubled_is_refused_or_told(name, tmp_path):
    path = FORMATS[name].write(tmp_path)
    task = "lm" if name == "lm-evaluation-harness" else None

    def is_noticed():
        try:
            es.estimate_logs(path, task=task, n_resamples=99)
        except es.InputError:
            return True
        return bool(es.read_log(path).disagreements)

    assert not is_noticed()
    edited(path, lambda some: some.pop())
    assert is_noticed()
    FORMATS[name].write(tmp_path)
    edited(path, lambda some: some.append(some[0]))
    assert is_noticed() or name == "meeteval"  # Sessions are keys.


@cases(
    (lm_eval, harness_logs.digest({"id": 2, "passage": "p1"}), "doc_hash"),
    (lm_eval, harness_logs.digest(2), "target_hash"),
    (INSPECT, "Question 1", "item_hash"),
    (EVERY_EVAL_EVER, "What is 1 and 2?", "sample_hash"),
    (COMET, "Danke.", "source_hash"),
    (COMPARED, "DANKE.", "reference_hash"),
)
def test_other_questions_under_the_same_ids_are_refused(write, old, label, tmp_path):
    for name in "ab":
        (tmp_path / name).mkdir()
    paths = [write(tmp_path / name) for name in "ab"]
    assert es.compare_logs(paths, n_resamples=99)
    for path in (tmp_path / "b").rglob("*.json*"):
        path.write_text(path.read_text().replace(old, "another"))
    refuses(f"{label} of item", es.compare_logs, paths)


def numbers_of(result):
    """Return the numbers of differences by task, metric and pair, without signs."""
    return {
        (getattr(d, "task", ""), d.metric, frozenset((d.system, d.baseline))): (
            abs(d.difference), d.pvalue, d.pvalue_adjusted, d.standard_error
        )
        for d in [*result, *getattr(result, "totals", ())]
    }  # fmt: skip


def many_models(folder):
    """Write Inspect's own layout: one folder, models and tasks in any order, 3 answers each."""
    rng = random.Random(2)
    for i, (task, model) in enumerate(
        (t, m) for t in ("adding", "arc") for m in ("mockllm/base", "mockllm/tuned")
    ):
        values = [rng.choice("CI") for _ in range(60)]
        content = log_files.inspect_log(values, task=task, model=model, epochs=3)
        log_files.inspect_file(folder / f"2026-0{9 - i}-01T00-00-00_{task}_{i}.eval", content)
    return folder


def test_a_folder_of_several_models_is_several_systems(tmp_path):
    folder = many_models(tmp_path / "logs")
    log = es.read_log(folder)
    assert set(log.systems) == {"mockllm/base", "mockllm/tuned"}
    assert log.tasks == ("adding", "arc")
    assert "samples  answers" in str(log)
    whole = es.compare_logs(folder, n_resamples=99)
    assert {t.system for t in whole} | {t.baseline for t in whole} == set(log.systems)
    assert "the 3 answers to each of the 20 samples are averaged" in " ".join(whole.notes)
    files = sorted(folder.iterdir())
    for given in (files, files[::-1]):
        assert numbers_of(es.compare_logs(given, n_resamples=99)) == numbers_of(whole)
    (alone,) = es.compare_logs(files, task="arc", n_resamples=99)
    (runs,) = es.compare_logs(files, task="arc", epochs="runs", n_resamples=99)
    assert alone.difference == pytest.approx(runs.difference)
    assert runs.standard_error != alone.standard_error
    (turned,) = es.compare_logs(folder, task="arc", system=["*tuned", "*base"], n_resamples=99)
    assert (turned.baseline, turned.system) == ("mockllm/tuned", "mockllm/base")


def test_folders_of_other_harnesses_with_several_models(tmp_path):
    for model in ("acme/small", "acme/large"):
        harness_logs.mixed(tmp_path / "out", model=model)
        log_files.helm(tmp_path / "helm" / model[-5:], [[1, 0, 0.5]], model=model)
    for name in ("out", "helm"):
        assert es.read_log(tmp_path / name).systems == ("acme/large", "acme/small")
        assert len(list(es.compare_logs(tmp_path / name, n_resamples=99)))
    # One file of each time stamp, all in one folder.
    for path in (tmp_path / "out" / "acme__small").iterdir():
        other = path.name.replace(harness_logs.STAMP, "2026-03-04T05-06-07.1")
        shutil.copy(path, tmp_path / "out" / "acme__large" / other)
    log = es.read_log(tmp_path / "out" / "acme__large")
    assert set(log.systems) == {"acme/large", "acme/small"}
    two = [log_files.instances([1, 0], model_id=f"m{i}") for i in "12"]
    path = written(tmp_path / "x_samples.jsonl", [*two[0], *two[1]])
    assert es.read_log(path).systems == ("m1", "m2")


def mutate(path, count, **settings):
    data = path.read_bytes()
    mutations.fuzz(path, data, count, **settings)
    path.write_bytes(data)


@formats
@pytest.mark.parametrize("count", [25, pytest.param(1000, marks=pytest.mark.thorough)])
def test_mutated_files_give_the_same_numbers_or_one_error(name, count, tmp_path):
    path = FORMATS[name].write(tmp_path)
    paths = [path] if path.is_file() else sorted(path.rglob("*.json*"))
    for own in paths:
        if own.suffix != ".eval":
            # HELM confirms the scores that are not of perturbations.
            part = {"filter": "test"} if name == "HELM" else {}
            mutate(
                own,
                ceil(count / len(paths)),
                are_values_confirmed=FORMATS[name].is_reported,
                **part,
            )
    if path.suffix == ".eval":
        _fuzz_archive(path, count)


def _fuzz_archive(path, count):
    rng, original = random.Random(3), es.read_log(path)
    for i in range(count):
        members = log_files.members_of(log_files.as_eval(epochs_log(), journal=bool(i % 2)))
        j = rng.randrange(len(members))
        members[j] = (members[j][0], mutations.mutated(rng, members[j][1]))
        data = log_files.zipped(members)
        path.write_bytes(mutations.mutated_text(rng, data) if rng.random() < 0.4 else data)
        mutations.check(original, path)


@pytest.mark.thorough
@pytest.mark.skipif(not (WMT / "runs").is_dir(), reason=f"needs the logs in {WMT}")
def test_many_mutations_of_real_logs(tmp_path):
    helm_run = WMT / "runs" / "helm"
    for name in ("run_spec.json", "stats.json"):
        shutil.copy(helm_run / name, tmp_path)
    for path, count in (
        (helm_run / "per_instance_stats.json", 300),
        (WMT / "runs" / "inspect" / "data_arc_qwen.json", 300),
        (WMT / "runs" / "inspect" / "log_formats.json", 1000),
    ):
        mutate(Path(shutil.copy(path, tmp_path)), count)
    for folder in (WMT / "runs" / "lm_eval_dummy" / "run_1", WMT / "runs" / "lm_eval"):
        own = tmp_path / folder.name
        own.mkdir()
        for path in folder.rglob("*.json*"):
            lines = path.read_text("utf-8").splitlines(keepends=True)
            short = lines[:20] if path.suffix == ".jsonl" else lines
            (own / path.name).write_text("".join(short), "utf-8")
        for path in sorted(own.iterdir()):
            mutate(path, 300)


def test_what_is_not_there_is_named_with_what_there_is(tmp_path):
    lm_eval(tmp_path)
    for settings, words in (
        ({"metric": "accuracy"}, "there is no metric 'accuracy'; .*did you mean 'acc'"),
        ({"task": "mtt"}, r"there is no task 'mtt'; available: lm, mt, qa; did you mean 'mt'\?"),
        ({"filter": "strict"}, "there is no filter 'strict'; available: none"),
        ({"task": "qa", "metric": "bleu"}, "no scores match task qa, metric bleu; available:"),
        ({"metric": ["acc", "blue"]}, "there is no metric 'blue'; .*did you mean 'bleu'"),
        ({"directions": {"judge": "higher"}}, "directions: there is no metric 'judge'"),
        ({"system": "acme/smal"}, "system: there is no 'acme/smal'.*did you mean 'acme/small'"),
    ):
        refuses(words, es.estimate_logs, tmp_path, **settings)
    assert list(map(str, es.read_log(tmp_path, metric="acc,none").tables)) == ["qa: acc"]


def test_names_are_taken_as_they_are_written(tmp_path):
    content = {
        name: log_files.comet_scored()["sys-1.5.txt"] for name in ("GPT-4", "GPT-4.5", "a/o1.txt")
    }
    assert es.read_log(written(tmp_path / "x.json", content)).systems == ("GPT-4", "GPT-4.5", "o1")
    names = ["-dropout", "+LM", "می\u200cخواهم", "👩\u200d🚀"]
    text = "system,id,document,score\n" + "".join(
        f"{name},{i},سند\u200cها,{i}\n" for name in names for i in (1, 2)
    )
    (tmp_path / "GPT-4.5.csv").write_text(text, encoding="utf-8")
    (found,) = es.read_log(tmp_path / "GPT-4.5.csv").tables.values()
    assert found.systems == tuple(names)
    (tmp_path / "GPT-4.5.csv").write_text("id,score\na,1\nb,0\n")
    assert es.read_log(tmp_path / "GPT-4.5.csv").systems == ("GPT-4.5",)
