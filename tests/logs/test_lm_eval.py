"""Logs of lm-evaluation-harness: the scores that it logged, and nothing else without a word."""

import gzip
import json
import math
import re

import pytest

import evalstats as es
from tests import harness_logs as logs
from tests.conftest import WMT, metric_id
from tests.harness_logs import answers, line, mixed, write
from tests.helpers import cases, refuses
from tests.log_files import refused

REAL = WMT / "runs"
needs_real = pytest.mark.skipif(not REAL.is_dir(), reason=f"needs the logs in {REAL}")
DUMMY = [REAL / "lm_eval_dummy" / name for name in ("run_1", "run_2")]


def scores(run):
    return {str(key): table.scores.tolist() for key, table in run.tables.items()}


def rewritten(path, change):
    """Change the lines of a file, or the record in it."""
    if path.suffix == ".jsonl":
        records = [json.loads(text) for text in path.read_text("utf-8").splitlines()]
        records = change(records) or records
        path.write_text("".join(json.dumps(r) + "\n" for r in records), "utf-8")
    else:
        record = json.loads(path.read_text("utf-8"))
        path.write_text(json.dumps(change(record) or record), "utf-8")


# Real logs


@needs_real
@pytest.mark.parametrize("folder", DUMMY, ids=lambda path: path.name)
def test_every_score_of_a_real_run_is_the_logged_one(folder):
    run = es.read_log(folder)
    found = {key: float(table.scores[0]) for key, table in run.tables.items()}
    assert len(found) == 10
    assert run.disagreements == ()
    assert run.skipped == ()
    assert run.incomplete == {}
    assert run.groups == {"my_group": ("my_mc", "my_bin")}
    record = json.loads(next(folder.rglob("results*.json")).read_text("utf-8"))
    stated = {
        (task, *name.split(",")): value
        for task, own in record["results"].items()
        for name, value in own.items()
        if "," in name and "_stderr" not in name and task != "my_group"
    }
    assert {tuple(key): value for key, value in found.items()} == pytest.approx(stated, rel=1e-12)


@needs_real
def test_a_real_log_of_which_a_part_is_there_says_so():
    run = es.read_log(REAL / "lm_eval")
    ((key, table),) = run.tables.items()
    assert (key.task, key.metric, table.n_segments) == ("math_perturbed_full", "exact_match", 10)
    assert run.incomplete[key] == "10 samples, but n-samples in the results file is 5,000"
    assert "math_rephrased_full: there is no file of its samples" in run.skipped[0]
    refuses(r"10 samples, but n-samples .* is 5,000", es.estimate_logs, REAL / "lm_eval")


# What is in a run


def test_files_of_one_time_belong_together(tmp_path):
    results = mixed(tmp_path)
    path = next(tmp_path.rglob("samples_mt*"))
    assert len(es.read_log(path).reported) == 3
    path.with_suffix(".jsonl.gz").write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    for given in (tmp_path, results):
        assert len(es.read_log(given).reported) == 6
    # Results of another time are not mixed with samples.
    results = results.rename(results.with_name("results_2025-01-01T00-00-00.json"))
    assert any("2025-01-01T00-00-00, 1 files" in text for text in es.read_log(tmp_path).skipped)
    results.unlink()
    run = es.read_log(tmp_path)
    assert (run.name, run.reported) == ("acme__small", {})
    assert "scores are not checked" in run.skipped[0]
    assert scores(run)["mt: bleu"][0] == pytest.approx(logs.translation_scores()["bleu,none"])
    write(tmp_path, {}, {"qa": {"acc,none": 0.5}}, stamp="2026-03-01T00-00-00")
    refused(tmp_path, f"--log_samples.*; not read: the run of {logs.STAMP}, 3 files")


def test_labels_of_items_make_groups(tmp_path):
    mixed(tmp_path)
    mixed(tmp_path, right=(1, 1, 1, 0), model="acme/large")
    paths = sorted(tmp_path.iterdir())
    result = es.compare_logs(paths, task="qa", groups="doc.passage")
    assert "2 passages" in str(result)
    refused(paths[0], "have no label 'doc.page'", labels="doc.page")
    rewritten(next(paths[0].glob("samples_qa*")), lambda r: r[2].update(doc={}))
    refuses("1 of 4 segments have no", es.estimate_logs, paths[0], task="qa", groups="doc.passage")


def test_the_newest_run_is_read_and_others_are_named(tmp_path):
    mixed(tmp_path, right=(0, 0, 0, 0))
    mixed(tmp_path, stamp="2026-02-01T00-00-00")
    old = "2026-01-31T23-59-59.999999"
    write(tmp_path, {"old": answers([1, 1])}, {"old": {"acc,none": 1.0}}, stamp=old)
    run = es.read_log(tmp_path)
    assert scores(run)["qa: acc"] == [0.75]
    assert "old" not in run.tasks
    named = [text.split(",")[0] for text in run.skipped]
    assert named == [f"the run of {logs.STAMP}", f"the run of {old}"]
    older = next(tmp_path.rglob(f"results_{logs.STAMP}.json"))
    assert scores(es.read_log(older))["qa: acc"] == [0.0]
    # In names of files there is a _ for what they cannot have.
    rewritten(older, lambda r: json.loads(json.dumps(r).replace('"qa"', '"q:a"')))
    path = next(tmp_path.rglob(f"samples_qa_{logs.STAMP}*"))
    path.rename(path.with_name(path.name.replace("qa", "q_a")))
    assert "q:a" in es.read_log(older).tasks


# Filters


def test_filters_are_tables_of_their_own(tmp_path):
    def forget(records):
        for record in records:
            del record["filter"], record["metrics"]

    lines = [*answers([1, 0, 0], "strict-match", "exact_match")]
    lines += answers([1, 1, 0], "flexible-extract", "exact_match")
    named = {"exact_match,strict-match": 1 / 3, "exact_match,flexible-extract": 2 / 3}
    write(tmp_path / "two", {"gsm8k": lines}, {"gsm8k": named})
    run = es.read_log(tmp_path / "two")
    shares = {"strict-match": [1 / 3], "flexible-extract": [2 / 3]}
    assert scores(run) == {f"gsm8k ({name}): exact_match": x for name, x in shares.items()}
    assert run.incomplete == {}
    # Older logs do not name them in lines.
    rewritten(next((tmp_path / "two").rglob("samples*")), forget)
    refused(tmp_path / "two", "line 1 must name its filter")
    path = mixed(tmp_path / "one").parent
    rewritten(next(path.glob("samples_qa*")), forget)
    assert scores(es.read_log(path, task="qa")) == {"qa: acc": [0.75]}


# Damage


@cases(
    (lambda r: r[0].pop("doc_id"), "line 1 has no 'doc_id'"),
    (lambda r: r[1].pop("acc"), "line 2 has no 'acc'"),
    (lambda r: r[1].update(acc="yes"), "line 2: acc must be numbers, got 'yes'"),
    (lambda r: r[1].update(acc=math.inf), "acc: the scores are so large"),
    (lambda r: r[1].update(filter=[]), "does not have the structure of lm-evaluation-harness"),
)
def test_lines_that_are_damaged_are_named(change, words, tmp_path):
    mixed(tmp_path)
    rewritten(next(tmp_path.rglob("samples_qa*")), lambda r: [change(r), r][1])
    refused(tmp_path, words)


def test_what_some_lines_lack_is_told(tmp_path):
    lines = answers([1, 0, 1, 1])
    lines[1]["acc"], lines[3]["acc"] = None, math.nan
    lines[2]["metrics"].append("acc_hard")
    lines[2]["acc_hard"] = 1.0
    named = {"qa": {"acc,none": 1.0, "acc_hard,none": 1.0}}
    write(
        tmp_path,
        {"qa": lines, "mt": []},
        {**named, "mt": {}},
        aggregations={"qa": {"acc": "nanmean"}},
    )
    run = es.read_log(tmp_path)
    assert run.incomplete == {("qa", "acc", "none"): "2 of 4 scores are missing"}
    assert run.disagreements == ()
    assert run.tables["qa", "acc_hard", "none"].segment_ids == ("2",)
    (said,) = run.skipped
    assert said.startswith("mt: ")
    assert said.endswith("has no lines")
    (found,) = es.estimate_logs(tmp_path, metric="acc", missing="available")
    assert found.score == 1.0


@pytest.mark.parametrize(
    "limit, original, n_lines, expected",
    [(4, 100, 4, True), (None, 100, 4, False), (9, 4, 4, False), (4, 100, 3, False)],
)
def test_a_limit_says_that_a_part_was_asked_for(tmp_path, limit, original, n_lines, expected):
    path = mixed(tmp_path)
    rewritten(path, lambda r: r["config"].update(limit=limit))
    rewritten(path, lambda r: r["n-samples"]["qa"].update(original=original))
    rewritten(next(tmp_path.rglob("samples_qa*")), lambda r: r[:n_lines])
    (rows,) = es.read_log(tmp_path, task="qa").rows
    assert rows.is_limited is expected


# Aggregations


def one(tmp_path, rows, stated, aggregation, metric="score", **more):
    """Return the run of one task, with one metric."""
    lines = [line(i, {metric: row}, i) for i, row in enumerate(rows)]
    given = {"t": {metric: aggregation}} if aggregation else None
    named = {"t": {f"{metric},none": stated}}
    write(tmp_path, {"t": lines}, named, aggregations=given, **more)
    return es.read_log(tmp_path)


PAIRS = [[0, 0], [0, 1], [1, 1], [1, 1], [1, 0], [0, 0], [1, 1], [0, 0]]
# Right 1: 3, predicted 1: 4, gold 1: 4. F1 = 6/8; MCC = (3·3 − 1·1)/√(4·4·4·4).
MULTI = [[0, 0], [1, 1], [2, 2], [2, 1], [2, 2], [0, 2], [1, 1], [2, 2]]
# F1 of the classes: 2/3, 4/5, 6/8.


@cases(
    ("mean", "acc", [1.0, 0, True, False], 0.5, es.Mean("acc")),
    ("nanmean", "acc", [1.0, 0, 0.25], 1.25 / 3, es.Mean("acc")),
    (None, "match", [1.0, 0, 0.25], 1.25 / 3, es.Mean("match")),
    (None, "perplexity", [-1.0, -2.0, -4.5], math.exp(2.5), es.Perplexity("item")),
    ("perplexity", "ppl", [-1.0, -2.0, -4.5], math.exp(2.5), es.Perplexity("item")),
    (None, "byte_perplexity", [[-9.0, 4], [0, 2]], math.exp(1.5), es.Perplexity("byte")),
    ("weighted_perplexity", "ppl", [[-9.0, 4], [0, 2]], math.exp(1.5), es.Perplexity("token")),
    (None, "bits_per_byte", [[-9.0, 4], [0, 2]], 1.5 / math.log(2), es.BitsPerUnit("byte")),
    (None, "f1", PAIRS, 0.75, es.Confusion((0, 1), "f1", absent="omit")),
    (None, "mcc", PAIRS, 0.5, es.Confusion((0, 1), "mcc", absent="omit")),
    ("matthews_corrcoef", "m", [[1, 1], [1, 1]], 0.0, es.Confusion((0, 1), "mcc", absent="omit")),
    (None, "chrf++", [["ab cd", "ab ce"]], None, es.CHRF(word_order=2)),
    ("bleu", "b", [[["a b c d", "x"], ["a b c d"]]], 100.0, es.BLEU()),
    (None, "brier_score", [[0, [0.5, 0.5]], [1, [0.2, 0.8]]], 0.29, es.Mean("brier_score", False)),
    (None, "brier_score", [[0, "[0.5 0.5]"], [1, "[0.2\n 0.8]"]], 0.29,
     es.Mean("brier_score", False)),
    # Functions of a task's own
    ("def agg(items):\n    return 1", "score", MULTI, (2 / 3 + 4 / 5 + 6 / 8) / 3,
     es.Confusion((0, 1, 2), "macro-f1", absent="omit")),
    ("<function weighted>", "score", MULTI, (2 * 2 / 3 + 2 * 4 / 5 + 4 * 6 / 8) / 8,
     es.Confusion((0, 1, 2), "weighted-f1", absent="omit")),
    ("!function utils.acc", "score", [["a", "b"], ["b", "b"], ["b", "b"], ["c", "c"]], 3 / 4,
     es.Confusion(("a", "b", "c"), "accuracy", absent="omit")),
    ("def agg_inst_level_acc(items):", "inst_acc", [[True], [False, True, True], [True, False]],
     4 / 6, es.Ratio("inst_acc", ("right", "all"))),
    ("def mine(items):", "score", [0.5, 2.0, 4.0], 6.5 / 3, es.Mean("score")),
    ids=lambda value: value if isinstance(value, str) and len(value) < 20 else "",
)  # fmt: skip
def test_aggregations_are_metrics_of_sums(aggregation, metric, rows, stated, expected, tmp_path):
    run = one(tmp_path, rows, stated, aggregation, metric)
    ((key, table),) = run.tables.items()
    assert (key.metric, metric_id(table.metric)) == (metric, metric_id(expected))
    assert table.metric == expected
    assert run.disagreements == ()
    if stated is not None:
        assert table.scores[0] == pytest.approx(stated, rel=1e-12)


@cases(
    ("median", "score", [1, 2, 9], 2, "a median is not a function of sums"),
    ("bypass", "bypass", [None, None], 999, "nothing was scored"),
    ("mean", "acc", [[1], [0]], 0.5, r"its rows should be numbers, but some are \[1\]"),
    (None, "bleu", ["text"], 1, r"should be \[reference, hypothesis\], but some are .text'"),
    (None, "brier_score", [[0, "[0.1 ... 0.9]"]], 1, "should be .gold class, probabilities"),
    (None, "f1", [[0, 2], [1, 1]], 1, "its labels are not 0 and 1"),
    ("def worst(items):\n  return min(items)", "score", [1, 2, 9], 1,
     "aggregated by worst, which is not known"),
    ("<function mine at 0x7f>", "score", [[0, 0], [1, 1]], 1.0,
     "matches several metrics: accuracy, macro-F1, weighted-F1, MCC, kappa, balanced accuracy, F1"),
    ("def x(items)", "score", [1, 2], None, "aggregated by x, and there is no reported score"),
    (None, "unheard", [1, 2, 9], 2,
     "aggregation is not in the log: unheard of the rows is 4.* reports 2"),
)  # fmt: skip
def test_what_is_no_function_of_sums_is_named(aggregation, metric, rows, stated, words, tmp_path):
    lines = [line(i, {"acc_there": 1.0, metric: row}, i) for i, row in enumerate(rows)]
    given = {"t": {metric: aggregation}} if aggregation else None
    own = {f"{metric},none": stated}
    write(tmp_path, {"t": lines}, {"t": {"acc_there,none": 1.0, **own}}, aggregations=given)
    run = es.read_log(tmp_path)
    assert list(run.tables) == [("t", "acc_there", "none")]
    (said,) = run.skipped
    assert said.startswith(f"t: {metric}: ")
    assert re.search(words, said)


def test_a_wrong_direction_in_a_log_does_not_win(tmp_path):
    wrong = {"mt": {"ter": True}, "lm": {"word_perplexity": True}, "qa": {"acc": False}}
    mixed(tmp_path, higher_is_better=wrong)
    found = {
        key.metric: t.metric.higher_is_better for key, t in es.read_log(tmp_path).tables.items()
    }
    assert (found["ter"], found["word_perplexity"], found["acc"]) == (False, False, False)


def test_classes_that_one_run_never_saw_are_no_obstacle(tmp_path):
    aggregation = "def macro_f1(items):"
    one(tmp_path / "a", MULTI, (2 / 3 + 4 / 5 + 6 / 8) / 3, aggregation)
    # F1 of 0: 4/5, of 1: 0; of 2: 8/10; of 7: 0
    other = [[0, 0], [1, 2], [2, 2], [2, 2], [2, 2], [0, 0], [1, 7], [2, 0]]
    expected = (4 / 5 + 0 + 6 / 8 + 0) / 4
    one(tmp_path / "b", other, expected, aggregation)
    found = es.compare_logs(sorted(tmp_path.iterdir()))
    (record,) = found
    assert record.difference == pytest.approx(expected - (2 / 3 + 4 / 5 + 6 / 8) / 3, rel=1e-12)


@cases(
    ({"both": ["a", "b"], "a": [], "b": []}, {"a", "b"}),
    ({"both": ["inner", "a"], "inner": ["b", "inner", "both"]}, {"a", "b"}),
    *(({"both": own}, set()) for own in (["a", "b", "c"], ["both"], [7])),
    ids=["plain", "nested", "not all there", "itself", "no names"],
)
def test_groups_have_the_tasks_below_them(members, expected, tmp_path):
    samples = {"a": answers([1, 0]), "b": answers([1, 1])}
    named = {"a": {"acc,none": 0.5}, "b": {"acc,none": 1.0}}
    path = write(tmp_path, samples, named, group_subtasks=members)
    rewritten(path, lambda r: r["results"].update(both={"acc,none": 0.75}))
    run = es.read_log(tmp_path)
    assert (run.tasks, run.skipped) == (("a", "b"), ())
    assert set(run.groups.get("both", ())) == expected
