"""What is special to HELM, Every Eval Ever, COMET, mt-metrics-eval, meeteval and WMT's files."""

from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest

import evalstats as es
from evalstats.logs import formats, reading
from evalstats.logs.log import Format
from evalstats.metrics.ratios import MeanOfRuns
from tests import log_files
from tests.conftest import WMT
from tests.helpers import cases, refuses
from tests.log_files import (
    comet_compared,
    comet_scored,
    documents,
    evaluation,
    helm,
    instances,
    refused,
    stat,
    the_table,
    written,
)

RUN = WMT / "runs" / "helm"


# HELM


@pytest.mark.skipif(not RUN.is_dir(), reason=f"needs the run in {RUN}")
def test_every_statistic_of_a_real_run_is_the_one_that_helm_states():
    log = es.read_log(RUN, metric="*", directions={"*": "higher"})
    assert (log.systems, log.tasks) == (("openai/gpt2",), ("narrative_qa",))
    assert len(log.tables) == len(log.reported) == 46
    assert log.disagreements == ()
    assert not log.incomplete
    scores = es.read_log(RUN / "per_instance_stats.json", filter="test")
    assert [key.metric for key in scores.tables] == [
        "exact_match", "quasi_exact_match", "f1_score", "rouge_l", "bleu_1", "bleu_4"
    ]  # fmt: skip


def test_splits_and_perturbations_of_helm_are_filters(tmp_path):
    helm(tmp_path / "run", [[1, 0, 0.5]], stated=0.5)
    log = es.read_log(tmp_path / "run")
    assert {key[:]: table.scores.tolist() for key, table in log.tables.items()} == {
        ("mmlu:subject=law", "f1", "test"): [0.5],
        ("mmlu:subject=law", "f1", "test, typos, prob=0.1"): [0.25],
    }
    assert log.skipped == ("HELM's counts that are not scores: num_bytes",)
    counted = es.read_log(tmp_path / "run", metric="num_*").tables
    refuses("whether higher or lower values of num_bytes are better", list, counted.values())


def test_trials_of_helm_are_averaged_or_runs(tmp_path):
    path = helm(tmp_path, [[1, 0, 0.5], [0, 0, 1]], stated=2.5 / 6)
    (table, _) = es.read_log(path).tables.values()
    assert table.values[0].tolist() == [[0.5, 1], [0, 1], [0.75, 1]]
    log = es.read_log(path, epochs="runs", filter="test")
    assert the_table(log).metric == MeanOfRuns(es.Mean("f1"), 2)
    assert not log.disagreements


def test_counts_weigh_as_in_helm_and_what_is_missing_is_said(tmp_path):
    path = helm(tmp_path, [[1, 0, 0.5]], stated=0.5)
    records = [
        {"instance_id": f"id{i}", "stats": [stat("f1", total, count)]}
        for i, (total, count) in enumerate([(2, 3), (1, 1), (0, 0)])
    ]
    log = es.read_log(written(path, records))
    assert the_table(log).scores == [0.75]
    assert log.skipped[0].startswith("1 of 3 instances of ")
    assert the_table(log).segment_ids == ("id0", "id1")
    records[1]["stats"] = [stat("bleu", 1)]
    found = es.read_log(written(path, records[:2]), metric="f1").incomplete.values()
    assert list(found) == ["the log reports 3 instances, but has 2; 1 of 2 scores is missing"]
    records[0]["stats"] *= 2
    refused(
        written(path, records),
        r"instance 0 repeats .*\(test\): f1, but a log must contain each item only once",
    )


def test_names_of_helm_are_in_the_run_or_its_folder(tmp_path):
    for subject in ("law", "physics"):
        helm(tmp_path / subject, [[1, 0]], task=f"mmlu:subject={subject}")
    assert es.read_log(tmp_path).tasks == ("mmlu:subject=law", "mmlu:subject=physics")
    (tmp_path / "law" / "run_spec.json").unlink()
    (tmp_path / "law").rename(tmp_path / "boolq:model=openai_gpt2")
    log = es.read_log(tmp_path / "boolq:model=openai_gpt2")
    assert (log.name, log.tasks) == ("openai_gpt2", ("boolq",))


# Every Eval Ever


def test_instances_are_scores_of_one_result_or_several(tmp_path):
    path, beside = tmp_path / "5b_samples.jsonl", evaluation(0.75, 3, lower_is_better=True)
    written(path.with_name("5b.json"), beside)
    log = es.read_log(written(path, instances([1, 0, 0.5])), labels="metadata.subject")
    table = the_table(log)
    assert (log.name, log.tasks) == ("openai/gpt2", ("gsm8k",))
    assert table.segment_ids == ("gsm8k_0", "gsm8k_1", "gsm8k_2")
    assert table.values[0, :, 0].tolist() == [1, 0, 0.5]
    assert table.labels["metadata.subject"] == ("algebra", "logic", "algebra")
    assert not table.metric.higher_is_better
    assert "the log reports 0.75, but its items give 0.5" in log.disagreements[0]
    records = instances([1, 0, 1, 0])
    records[0].update(error="timeout", evaluation={"score": None})
    (found,) = es.read_log(written(path, records)).incomplete.values()
    said = "the log reports 3 instances, but has 4; 1 instance ended with an error, the first with 'timeout'; 1 of 4 scores"
    assert found.startswith(said)
    of = {"accuracy": [1, 0], "f1": [0.5, 0.25]}
    some = [r for name, own in of.items() for r in instances(own, evaluation_result_id=f"{name}_1")]
    assert [k.filter for k in es.read_log(written(path, some)).tables] == ["accuracy_1", "f1_1"]
    (whole,) = beside["evaluation_results"]
    beside["evaluation_results"] = [
        {**whole, "evaluation_result_id": f"{name}_1", "metric_config": {"metric_id": name},
         "score_details": {"score": sum(own) / 2}}
        for name, own in of.items()
    ]  # fmt: skip
    written(path.with_name("5b.json"), beside)
    log = es.read_log(path)
    assert [key.filter for key in log.tables] == ["accuracy", "f1"]
    assert (len(log.reported), log.disagreements) == (2, ())


# COMET


def test_both_forms_of_comet_are_one(tmp_path):
    forms = comet_scored, comet_compared
    paths = [written(tmp_path / f"{form.__name__}.json", form()) for form in forms]
    first, second = (the_table(es.read_log(path)) for path in paths)
    assert first == second
    assert first.systems == ("sys-1.5", "sys2")
    assert (first.metric, first.segment_ids) == (es.Mean("COMET"), ("1", "2", "3"))
    assert sorted(first.labels) == ["reference_hash", "source_hash"]
    assert first.values[:, :, 0].tolist() == list(log_files.COMET.values())
    content = comet_scored()
    for segment in content["sys-1.5.txt"] + content["out/sys2.txt"]:
        del segment["ref"]
    content["sys-1.5.txt"][0]["COMET"] = None
    log = es.read_log(written(tmp_path / "qe.json", content))
    assert list(the_table(log).labels) == ["source_hash"]
    assert list(log.incomplete.values()) == ["1 of 6 scores is missing (1 of sys-1.5)"]


def test_what_comet_prints_is_what_it_writes(tmp_path):
    """Defect: it was none of the formats."""
    (tmp_path / "x.tsv").write_text(log_files.comet_printed())
    written(tmp_path / "x.json", log_files.comet_scored())
    printed, whole = (es.read_log(tmp_path / f"x.{kind}") for kind in ("tsv", "json"))
    assert printed.systems == whole.systems == ("sys-1.5", "sys2")
    tables = printed.tables["", "COMET", ""], whole.tables["", "COMET", ""]
    assert tables[0].values.tolist() == tables[1].values.tolist()


def test_one_number_a_line_has_the_metric_of_its_folder(tmp_path):
    """Defect: "give outputs as -i"."""
    for name, scores in {"comet/A": "0.5\nnan\n1e-0\n", "comet/B": "1\n2\n3", "x/A": "1\n"}.items():
        path = tmp_path / f"{name}.txt"
        path.parent.mkdir(exist_ok=True)
        path.write_text(scores)
    paths = [tmp_path / "comet" / f"{name}.txt" for name in "AB"]
    found = es.compare_logs(paths, missing="available", n_resamples=9)
    assert [(e.system, e.metric, e.score) for e in found.estimates] == [
        ("A", "comet", 0.75), ("B", "comet", 2.0)
    ]  # fmt: skip
    assert es.read_log(tmp_path / "x/A.txt").rows[0].key == ("", "score", "")


# mt-metrics-eval


def test_score_files_have_blocks_of_systems(tmp_path):
    folder = tmp_path / "metric-scores" / "en-de"
    folder.mkdir(parents=True)
    for name in ("BLEU-refA.seg", "COMET-22-refA.seg", "BLEU-refA.sys", "BLEU-refA.domain"):
        text = log_files.seg_scores({"sysA": [0.5, 0.25, 1e-3], "sysB": [-1, "None", 0]})
        (folder / f"{name}.score").write_text(text)
    log = es.read_log(folder, metric="COMET*")
    table = the_table(log)
    assert (table.systems, table.metric) == (("sysA", "sysB"), es.Mean("COMET-22-refA"))
    assert table.values[1].tolist() == [[-1, 1], [0, 0], [0, 1]]
    assert list(log.incomplete.values()) == ["1 of 6 scores is missing (1 of sysB)"]
    assert [str(key) for key in es.read_log(folder).tables] == ["BLEU-refA", "COMET-22-refA"]
    assert es.read_log(tmp_path / "metric-scores").tasks == ("en-de",)
    human = folder / "en-de.mqm.seg.score"
    human.write_text(log_files.seg_scores({"sysA": [-0.5, -1], "refA": ["None", "None"]}))
    log = es.read_log(human)
    assert (log.systems, log.skipped) == (
        ("sysA",),
        ("en-de.mqm of refA, because it has no score",),
    )


# meeteval


def test_sessions_of_meeteval(tmp_path):
    path = written(tmp_path / "hyp_cpwer_per_reco.json", log_files.sessions())
    table = the_table(es.read_log(path))
    assert (table.systems, table.metric.name) == (("hyp",), "cpWER")
    assert not table.metric.higher_is_better
    assert table.segment_ids == ("S01", "S02", "S10")
    assert table.values[0].tolist() == [[1, 20], [6, 40], [2, 0]]
    written(tmp_path / "hyp_cpwer.json", {"error_rate": 0.2})
    assert "the log reports 0.2, but its items give 0.15" in es.read_log(path).disagreements[0]
    content = {
        name: {"error_rate": wrong / 60, "scored_speaker_time": 60.0, "missed_speaker_time": wrong,
               "falarm_speaker_time": 0, "speaker_error_time": 0}
        for name, wrong in (("S1", 6.0), ("S2", 3.0))
    }  # fmt: skip
    table = the_table(es.read_log(written(tmp_path / "hyp_der_per_reco.json", content)))
    assert (table.metric.name, table.scores.tolist()) == ("DER", pytest.approx([9 / 120]))


# Damage, which `test_logs_agents.py` does


WRONG = {
    ("samples.jsonl", lambda: instances([1, 0])): [
        (lambda r: r[1].update(sample_id=3), "line 2: sample_id must be text, got 3"),
        (lambda r: r[1].update(evaluation={}), "line 2 has no 'evaluation.score'"),
        (lambda r: r[1].update(evaluation={"score": "?"}), "line 2, score must be a number"),
        (lambda r: r.append([1]), "line 3 must be a JSON object"),
    ],
    ("x.json", comet_scored): [
        (lambda d: d["out/sys2.txt"][2].pop("COMET"), "not have the structure of COMET .*'COMET'"),
        (lambda d: d["sys-1.5.txt"][0].update(COMET="?"), "score 1 of sys-1.5.txt must be a number"),
        (lambda d: d["sys-1.5.txt"][1].update(src="?"), "source_hash of item '2' is .* for sys2"),
    ],
    ("x.json", comet_compared): [
        (lambda d: d.update(source=["x"]), "not have the structure of COMET"),
        (lambda d: d["translations"][1].update(name="sys-1.5.txt"), "of sys-1.5.txt twice"),
    ],
    ("x_per_reco.json", log_files.sessions): [
        (lambda d: d["S02"].update(length=50), "6 errors divided by 50 is 0.12, but error_rate is 0.15"),
        (lambda d: d["S01"].pop("length"), "S01 has no 'length'"),
        (lambda d: d["S01"].update(errors=-1), "must not be negative"),
    ],
    ("A.jsonl", documents): [
        (lambda d: d[1]["metric_scores"].update(x=[1, 2]), "not have the structure of WMT's"),
        (lambda d: d[1].update(metric_scores={"x": ["high"]}), "line 2, x must be a number"),
    ],
}  # fmt: skip


@cases(
    ("x.seg.score", "a 1\na 2\nb 1\n", "must have the same segments, got 2 of 'a', 1 of 'b'"),
    ("x.seg.score", "a 1\nb 2\na 1\nb 1\n", "line 3: the scores of 'a' continue after another"),
    ("x.seg.score", "a 1\na 1 2\n", "line 2 must be a system and its score"),
    ("x.seg.score", "a 1\na x\n", "line 2 must be a system and its score, got 'a x"),
    (
        "x.seg.score",
        "a None\n",
        r"is read as mt-metrics-eval, but has no valid scores \(x of a",
    ),
    ("x.seg.score", "\n", "has no valid scores"),
    ("x.txt", "1\n" * 3000 + "x\n", "line 3001 must be a number such as 0.5, got 'x'"),
    ("x.txt", "a\n1\n", "x.txt is unknown; evalstats reads lm-eval"),
    ("x.log", "a\tSegment 1\tscore: 0.5\n", "the next segment of 'a' must be 0, got 1"),
    ("x.json", "[" * 10**5, "nested too deeply|not JSON"),
    ("x.json", '{"a": 1', "is not JSON, or was cut short"),
    ("x.json", '{"a": 1, "b": 2, "a": 1}', "has 'a' twice"),
    ("x.jsonl", b'{"a": "\xff"}', "line 1 is not JSON, or was cut short"),
)
def test_texts_that_are_wrong_are_an_error(name, text, message, tmp_path):
    (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    refused(tmp_path / name, message)


# WMT's automatic scores


def test_paragraphs_of_wmt_are_items_of_their_documents(tmp_path):
    for name in "AB":
        written(tmp_path / f"{name}.jsonl", documents(name))
    log = es.read_log(tmp_path)
    assert log.tasks == ("cs-de_DE", "en-ar_EG")
    assert log.systems == ("A", "B")
    table = log.tables["cs-de_DE", "GEMBA-ESA", ""]
    assert table.segment_ids == ("doc0/1", "doc0/2", "doc1/1", "doc2/1", "doc2/2", "doc2/3")
    assert table.labels["document"] == ("doc0", "doc0", "doc1", "doc2", "doc2", "doc2")
    first, *_ = documents("B")
    assert table.values[1, :2, 0].tolist() == first["metric_scores"]["GEMBA-ESA"]
    result = es.compare_logs(tmp_path, task="cs*", groups="document", n_resamples=99)
    assert "3 documents" in str(result)


def test_every_format_of_a_module_is_asked_and_has_a_name_of_its_own():
    folder = Path(formats.__file__).parent
    modules = [import_module(f"{formats.__name__}.{path.stem}") for path in folder.glob("*.py")]
    found = {id(one) for module in modules for one in vars(module).values() if is_format(one)}
    assert found == {id(one) for one in formats.FORMATS}
    assert len({one.name for one in formats.FORMATS}) == len(formats.FORMATS)


def is_format(value):
    return isinstance(value, Format)


@cases(
    ("scores.csv", log_files.LONG.encode()),
    ("scores.jsonl", b'{"system": "A", "segment": "1", "score": 0.5}'),
    ("log.eval", log_files.as_eval(log_files.inspect_log(["C", "I"]))),
    ids=["csv", "jsonl", "eval"],
)
def test_of_a_file_only_the_formats_of_its_kind_are_asked(name, content, tmp_path, monkeypatch):
    asked = []

    def fits(format):
        def noted(source):
            asked.append(format)
            return format.fits(source)

        return noted

    noting = [replace(one, fits=fits(one)) for one in formats.FORMATS]
    monkeypatch.setattr(reading, "FORMATS", noting)
    path = tmp_path / name
    path.write_bytes(content)
    es.read_log(path)
    assert asked
    assert all(path.suffix in one.suffixes.split() for one in asked if one.suffixes)
