"""Inspect's logs, `.json` and `.eval`."""

import sys
import zipfile

import pytest

import evalstats as es
from evalstats.metrics.ratios import MeanOfRuns
from tests.conftest import WMT
from tests.helpers import cases, refuses
from tests.log_files import as_eval, inspect_file, the_table, zipped
from tests.log_files import inspect_log as log
from tests.log_files import members_of as _members

LOGS = WMT / "runs" / "inspect"
real = pytest.mark.skipif(not LOGS.is_dir(), reason=f"needs the logs in {LOGS}")


@pytest.fixture(params=["log.json", "log.eval"])
def place(request, tmp_path):
    return tmp_path / request.param


@real
def test_real_logs_say_what_they_say():
    for name, model, score, n in (
        ("data_arc_qwen.json", "ollama/qwen2.5:0.5b", 1 / 3, 3),
        ("data_arc_sonnet.json", "anthropic/claude-sonnet-4-0", 1.0, 5),
        ("log_formats.json", "ollama/llama3.1", 0.0, 1),
        ("log_formats.eval", "ollama/llama3.1", 0.0, 1),
    ):
        run = es.read_log(LOGS / name)
        table = the_table(run)
        assert (run.name, table.systems, table.n_segments) == (model, (model,), n)
        assert table.scores == pytest.approx([score])
        assert list(run.reported.values()) == [{model: score}]
        assert run.rows[0].is_limited
        assert run.disagreements == run.skipped == ()
        assert not run.incomplete
    wish = "metadata.label_confidence"
    for labels in ((), wish):
        logs = [es.read_log(LOGS / f"log_formats.{k}", labels=labels) for k in ("json", "eval")]
        assert the_table(logs[0]) == the_table(logs[1])
    assert the_table(logs[0]).labels[wish] == ("0.8860552919198255",)


def test_values_are_read_as_inspect_reads_them(place):
    values = ["C", "I", "P", "N", "yes", "No", "TRUE", "false", True, 0.25, "0.75", 3]
    expected = [1, 0, 0.5, 0, 1, 0, 1, 0, 1, 0.25, 0.75, 3]
    # NaN is unscored, which is left out and counted.
    values.insert(1, float("nan"))
    run = es.read_log(inspect_file(place, log(values, stated=8.5 / 12)))
    table = the_table(run)
    assert table.values[0, :, 0].tolist() == expected
    assert table.segment_ids == ("1", *(str(i) for i in range(3, 14)))
    assert not run.incomplete
    assert run.disagreements == ()
    assert run.skipped == ("1 of 13 samples of arc: choice of mockllm/model, which are unscored",)


def test_scores_of_several_values_are_several_metrics(place):
    values = [{"accuracy": 1, "honesty": "N"}, {"accuracy": 0, "honesty": "C"}, float("nan")]
    content = log(values)
    content["results"]["scores"] = [
        {"name": key, "scorer": "choice", "metrics": {"mean": {"name": "mean", "value": 0.5}}}
        for key in ("accuracy", "honesty")
    ]
    for sample in content["samples"]:
        sample["scores"]["judge"] = {"value": "Paris"}
        sample["scores"]["list"] = {"value": [1, 0]}
    run = es.read_log(inspect_file(place, content))
    scores = {key.metric: table.values[0, :, 0].tolist() for key, table in run.tables.items()}
    assert scores == {"choice.accuracy": [1, 0], "choice.honesty": [0, 1]}
    assert len(run.reported) == 2
    assert run.disagreements == ()
    assert not run.incomplete
    said = ("arc: judge, since 'Paris' is not a score", "arc: list, since [1, 0] is not a score")
    assert run.skipped[:2] == said
    content["samples"][0]["scores"]["judge"]["value"] = float("inf")
    refuses("judge of sample '1' must be a finite", es.read_log, inspect_file(place, content))


def test_epochs_may_be_runs_of_the_system(place):
    values = ["C", "I", "C", "C", "C", "I"]
    run = es.read_log(inspect_file(place, log(values, epochs=2, stated=4 / 6)), epochs="runs")
    table = the_table(run)
    assert table.metric == MeanOfRuns(es.Mean("choice"), 2)
    assert table.values[0].tolist() == [[1, 1, 1, 1], [0, 1, 1, 1], [1, 1, 0, 1]]
    assert not run.disagreements
    found = es.estimate(table)
    by_hand = es.estimate([[1, 0, 1], [1, 1, 0]], None, es.Mean("choice"))
    assert (found.score, found.low, found.high) == (by_hand.score, by_hand.low, by_hand.high)
    content = log(values, epochs=2, stated=1.0)
    content["results"]["scores"][0]["reducer"] = "collect"
    run = es.read_log(inspect_file(place, content))
    assert run.skipped == ("the log's own choice, which reduces epochs by 'collect'",)
    content["samples"][0]["epoch"] = 3
    log_of_two = es.read_log(inspect_file(place, content), epochs="runs")
    said = r"requires the same answers \(numbers and runs\) for every item, but there are 2 to 2; average"
    refuses(said, the_table, log_of_two)
    # The average of the answers to question 3 is that of the one that was scored.
    values[-1] = float("nan")
    run = es.read_log(inspect_file(place, log(values, epochs=2, stated=0.75)))
    assert the_table(run).values[0].tolist() == [[1, 1], [0.5, 1], [1, 1]]
    assert run.disagreements
    # One answer to each question is one run.
    once = the_table(es.read_log(inspect_file(place, log(["C", "I"])), epochs="runs"))
    assert once.metric == es.Mean("choice")


def test_groups_are_labels_of_whole_samples(place):
    inspect_file(place, log(["C", "I", "P", "C"] * 10))
    table = the_table(es.read_log(place, labels="metadata.subject"))
    assert table.labels["metadata.subject"] == ("physics", "law") * 20
    assert "2 subjects" in str(es.estimate_logs(place, groups="metadata.subject"))
    refuses(r"no label 'metadata\.topic'", es.read_log, place, labels="metadata.topic")


@cases(
    (lambda log: log["samples"].pop(), "the log reports 4 samples, but has 3"),
    (lambda log: log.update(status="cancelled"), "the log's status is 'cancelled'"),
    (lambda log: log.update(invalidated=True), "the log was invalidated"),
    (lambda log: log["samples"][0].update(scores={}, error={"message": "!"}),
     "1 sample ended with an error, the first with '!'; 1 of 4 scores is missing"),
    (lambda log: log["samples"][0].update(scores=None), "1 of 4 scores is missing"),
    (lambda log: log["samples"][0]["scores"]["choice"].update(value=None),
     "1 of 4 scores is missing"),
)  # fmt: skip
def test_what_is_missing_is_said_and_refused(change, words, place):
    content = log(["C", "I", "C", "C"])
    content["eval"]["config"]["limit"] = 4
    change(content)
    run = es.read_log(inspect_file(place, content))
    assert list(run.incomplete.values()) == [words]
    assert not run.rows[0].is_limited
    refuses("Complete the log, or compare the existing scores", es.estimate_logs, place)
    (found,) = es.estimate_logs(place, missing="intersect")
    assert found.score >= 0.5


@cases(
    (lambda log: log["samples"][0].pop("id"), "sample 0 has no 'id'"),
    (lambda log: log["samples"][0].update(epoch="1"), r"does not have the structure of Inspect"),
    (lambda log: log["samples"][0].update(scores=[1]), r"does not have the structure of Inspect"),
    (lambda log: log["samples"][0]["scores"]["choice"].pop("value"),
     "sample 0, score choice has no 'value'"),
    (lambda log: log["eval"].update(model=None), "eval.model must be text, got None"),
    (lambda log: log.update(samples=[]), "has no samples; run Inspect with log_samples"),
    (lambda log: (log.update(status="error"), [s.update(scores={}) for s in log["samples"]]),
     "have no scores; the log's status is 'error'"),
)  # fmt: skip
def test_what_is_wrong_is_an_error(change, message, place):
    content = log(["C", "I", "C", "C"])
    change(content)
    refuses(message, es.read_log, inspect_file(place, content))


def test_a_log_that_was_not_finished(tmp_path):
    path = tmp_path / "log.eval"
    path.write_bytes(as_eval(log(["C", "I", "C"]), journal=True))
    run = es.read_log(path)
    assert the_table(run).scores == pytest.approx([2 / 3])
    assert list(run.incomplete.values()) == ["the log's status is None"]


def test_a_folder_has_one_log_of_each_task_and_model(tmp_path):
    inspect_file(tmp_path / "a.json", log(["C", "I"], task="arc"))
    inspect_file(tmp_path / "b.eval", log(["C", "C"], task="mmlu"))
    (tmp_path / "logs.json").write_text("{}")
    run = es.read_log(tmp_path)
    assert run.tasks == ("arc", "mmlu")
    assert es.read_log(tmp_path, task="mm*").tasks == ("mmlu",)


def test_of_a_folder_with_a_rerun_the_newest_finished_log_is_read(tmp_path, typed):
    def run(name, created, values, status="success", version=1):
        content = log(values, status=status)
        content["eval"] |= {"created": created, "task_version": version}
        return inspect_file(tmp_path / name, content)

    # Names and times zones say nothing of what is newer.
    run("d.json", "2026-03-01T10:00:00+00:00", ["I", "I"], version=0)
    newest = run("a.json", "2026-03-01T11:30:00+00:00", ["C", "I"])
    run("c.eval", "2026-03-01T12:00:00+02:00", ["I", "I"])
    failed = run("b.json", "2026-03-02T00:00:00Z", ["C"], status="error")
    read = es.read_log(tmp_path)
    assert the_table(read).scores == [0.5]
    kept = f"since {newest} is the newest finished log of arc by mockllm/model"
    assert sorted(read.skipped) == [
        f"{failed}, {kept}",
        f"{tmp_path / 'c.eval'}, {kept}",
        f"{tmp_path / 'd.json'}, {kept}, and its prompts were different",
    ]
    assert "c.eval, since" in " ".join(typed("show", tmp_path).split())
    assert any("c.eval, since" in note for note in es.estimate_logs(tmp_path).notes)
    # Where none was finished, the newest says so itself.
    for path in (newest, tmp_path / "c.eval", tmp_path / "d.json"):
        path.unlink()
    newest = tmp_path / "e.json"
    newest.write_text(failed.read_text().replace("03-02T00:00:00Z", "03-02T01:00:00"))
    read = es.read_log(tmp_path)
    assert list(read.incomplete.values()) == ["the log's status is 'error'"]
    said = f"{failed}, since {newest} is the newest log of arc by mockllm/model"
    assert read.skipped == (said,)


#: Answers to 4 items in 3 epochs, a column each, and what Inspect 0.3.285 makes of them.
ANSWERS = [["C", "I", "P", "C"], ["I", "I", "P", "I"], ["C", "I", "C", "I"]]
REDUCED = {
    "mode": [1, 0, 0.5, 0], "max": [1, 0, 1, 1], "median": [1, 0, 0.5, 0],
    "at_least_2": [1, 0, 0, 0], "pass_at_2": [1, 0, 2 / 3, 2 / 3], "pass_k_2": [1 / 3, 0, 0, 0],
}  # fmt: skip


def reduced_by(*stated):
    content = log([value for epoch in ANSWERS for value in epoch], epochs=3)
    content["results"]["scores"] = [
        {"name": "choice", "scorer": "choice", "reducer": name,
         "metrics": {"accuracy": {"name": "accuracy", "value": value}}}
        for name, value in stated
    ]  # fmt: skip
    return content


@pytest.mark.parametrize("name", REDUCED)
def test_epochs_are_reduced_as_the_log_says(name, place):
    expected = REDUCED[name]
    inspect_file(place, reduced_by((name, sum(expected) / 4)))
    read = es.read_log(place)
    assert read.disagreements == read.skipped == ()
    ((key, table),) = read.tables.items()
    assert key == ("arc", "choice", name)
    assert table.values[0].tolist() == [[pytest.approx(x), 1] for x in expected]
    (found,) = es.estimate_logs(place, n_resamples=99)
    assert (found.metric, found.score) == ("choice", pytest.approx(sum(expected) / 4))
    # The mean is there for who asks for it, and so are the answers as runs.
    (mean,) = es.estimate_logs(place, filter="mean", n_resamples=99)
    assert mean.score == pytest.approx((2 / 3 + 0 + 2 / 3 + 1 / 3) / 4)
    (table,) = es.read_log(place, filter="mean", epochs="runs").tables.values()
    assert table.metric == MeanOfRuns(es.Mean("choice"), 3)
    inspect_file(place, reduced_by((name, 0.123)))
    assert "the log reports 0.123, but its items give" in es.read_log(place).disagreements[0]


def test_several_reducers_are_several_metrics(place):
    inspect_file(place, reduced_by(("mean", 5 / 12), ("pass_at_2", 7 / 12), ("max", 0.75)))
    read = es.read_log(place)
    assert read.disagreements == ()
    assert [key.filter for key in read.tables] == ["", "pass_at_2", "max"]
    scores = {e.metric: e.score for e in es.estimate_logs(place, n_resamples=99)}
    expected = {"choice": 5 / 12, "choice (pass_at_2)": 7 / 12, "choice (max)": 0.75}
    assert scores == pytest.approx(expected)
    assert es.read_log(place, filter="max").rows[0].reported == 0.75


def test_answers_that_were_not_scored_are_not_reduced(place):
    nan = float("nan")
    values = [*["C", nan, nan, "I"], *[nan, nan, "I", "I"], *["I", nan, "C", "I"]]
    content = log(values, epochs=3)
    content["results"]["scores"][0] |= {"reducer": "pass_at_2"}
    read = es.read_log(inspect_file(place, content))
    # Of question 1 and 3 two answers, of question 2 none.
    assert the_table(read).values[0].tolist() == [[1, 1], [1, 1], [0, 1]]
    assert "1 of 4 samples" in read.skipped[0]


def test_hostile_archives_are_refused(tmp_path):
    good = as_eval(log(["C", "I"]))
    # The entry of header.json in the directory, and that of the first member.
    at, first = good.rindex(b"PK\1\2"), good.index(b"PK\1\2")
    size = int.from_bytes(good[at + 24 : at + 28], "little")

    def changed(place, data):
        return good[: at + place] + data + good[at + place + len(data) :]

    with pytest.warns(UserWarning, match="Duplicate name"):
        twice = zipped([*_members(good), ("header.json", b"{}")])
    for data, message in (
        (b"PK\3\4" + b"x" * 100, "is not a zip file, or was cut short"),
        (b"", "is not a zip file, or was cut short"),
        (good[:-1], "is not a zip file, or was cut short"),
        (zipped([("x.json", b"1")]), "has no header.json"),
        (twice, "several members have the same name"),
        (changed(24, (2**31).to_bytes(4, "little")), "would expand to 2,147,483,648"),
        (changed(24, (size + 1).to_bytes(4, "little")), "is damaged"),
        (changed(8, bytes([good[at + 8] | 1])), "is encrypted|is damaged"),
        # Two entries that point to the same bytes.
        (changed(42, good[first + 42 : first + 46]), "is damaged|overlap"),
    ):
        (tmp_path / "log.eval").write_bytes(data)
        refuses(message, es.read_log, tmp_path / "log.eval")


def _with_method(data, method):
    """Return a zip file of stored members that claims another compression."""
    changed = bytearray(data)
    for mark, offset in ((b"PK\3\4", 8), (b"PK\1\2", 10)):
        at = changed.find(mark)
        while at >= 0:
            changed[at + offset : at + offset + 2] = method.to_bytes(2, "little")
            at = changed.find(mark, at + 1)
    return bytes(changed)


@pytest.mark.skipif(hasattr(zipfile, "ZIP_ZSTANDARD"), reason="Python reads zstd itself")
def test_zstd_needs_an_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "zstandard", None)
    path = tmp_path / "log.eval"
    path.write_bytes(_with_method(as_eval(log(["C"]), zipfile.ZIP_STORED), 93))
    with pytest.raises(es.MissingExtraError, match=r"pip install '.\[inspect\]'"):
        es.read_log(path)


def test_zstd_members_are_read(tmp_path):
    zstandard = pytest.importorskip("zstandard")
    content, pack = log(["C", "I", "C", "P"], stated=0.625), zstandard.ZstdCompressor().compress
    # Inspect writes several frames a member.
    members = [(n, d, pack(d[:50]) + pack(d[50:])) for n, d in _members(as_eval(content))]
    data = _with_method(zipped([(n, p) for n, _, p in members], zipfile.ZIP_STORED), 93)
    path = tmp_path / "log.eval"
    path.write_bytes(_with_contents(data, [d for _, d, _ in members]))
    plain = inspect_file(tmp_path / "plain.eval", content)
    assert the_table(es.read_log(path)) == the_table(es.read_log(plain))
    path.write_bytes(_with_contents(data, [d + b"x" for _, d, _ in members]))
    refuses("is not the declared size", es.read_log, path)


def _with_contents(data, contents):
    """Return a zip file whose directory has the sizes and checksums of these contents."""
    changed, at = bytearray(data), -1
    for content in contents:
        at = changed.find(b"PK\1\2", at + 1)
        changed[at + 16 : at + 20] = zipfile.crc32(content).to_bytes(4, "little")
        changed[at + 24 : at + 28] = len(content).to_bytes(4, "little")
    return bytes(changed)


def test_an_item_none_of_whose_answers_is_scored_is_left_out(place):
    nothing = float("nan")
    values = [nothing, 1, 0, nothing, 1, nothing]
    run = es.read_log(inspect_file(place, log(values, epochs=2, stated=0.5)))
    table = the_table(run)
    assert table.segment_ids == ("2", "3")
    assert table.values[0].tolist() == [[1, 1], [0, 1]]
    assert not run.incomplete
