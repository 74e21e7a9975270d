"""Runs: what they hold, and how several are put side by side by the ids of their items."""

import os
from dataclasses import replace

import numpy as np
import pytest

import evalstats as es
from evalstats.runs.items import Items, Key, as_score, natural, natural_order, with_missing
from evalstats.runs.joining import joined
from evalstats.runs.run import run_of

ACC = es.Mean("acc")


def items(scores, *, task="t", name="A", metric=ACC, filter="", **more):
    """Return one task from scores by id."""
    rows = np.array([[[score, 1.0] for score in scores.values()]])
    return Items(Key(task, metric.name, filter), metric, (name,), list(scores), rows, **more)


def run(*tasks, name="A", path=None, **more):
    return run_of(name, path or f"/logs/{name}", "a log", tasks, **more)


def one(scores, name="A", **more):
    """Return a run of one task."""
    labels = more.pop("labels", {})
    limited = more.pop("is_limited", False)
    return run(items(scores, name=name, labels=labels, **more), name=name, is_limited=limited)


HUNDRED = {f"item {i}": float(i % 3 == 0) for i in range(100)}


def test_names_are_sorted_as_people_do():
    names = ["item 10", "item 9", "b", "item 9a", "", "item 010", "10", "9", "item", "٣", "x" * 40]
    expected = ["", "9", "10", "b", "item", "item 9", "item 9a", "item 010", "item 10"]
    assert sorted(names, key=natural)[: len(expected)] == expected
    digits = ["10", "9", "010", "0", "", "00", "123456789012345678901234567890", "1"]
    for given in (digits[:4] + digits[5:], digits, names):
        assert natural_order(given) == sorted(range(len(given)), key=lambda i: natural(given[i]))


def test_items_are_put_in_order():
    shuffled = dict(sorted(HUNDRED.items(), key=lambda pair: hash(pair)))
    labels = {"group": [name[-1] for name in shuffled]}
    table = items(shuffled, labels=labels).table()
    assert table == items(HUNDRED, labels={"group": [name[-1] for name in HUNDRED]}).table()
    assert table.segment_ids == tuple(HUNDRED)
    with pytest.raises(es.InputError, match="t: acc has 2 items more than once, 'a', 'b' among"):
        Items(Key("t", "acc"), ACC, ("A",), list("abcab"), np.ones((1, 5, 2))).table()


def test_filters_of_the_same_answers_are_metrics_of_one_task():
    def gsm(shift, name):
        scores = {f"{i}": float((i + shift) % 3 == 0) for i in range(120)}
        return [items(scores, task="gsm", filter=f, name=name) for f in ("strict", "none", "last")]

    runs = [run(*gsm(shift, name), name=name) for shift, name in enumerate("AB")]
    alone = es.compare_runs(runs, n_resamples=99)
    assert [d.metric for d in alone] == ["acc (strict)", "acc", "acc (last)"]
    assert {e.n_segments for e in alone.estimates} == {120}
    # No total counts an answer twice: its error would be that of independent items.
    other = [
        run(*gsm(i, n), items(HUNDRED, name=n, filter="none"), name=n) for i, n in enumerate("AB")
    ]
    suite = es.compare_runs(other, n_resamples=99)
    assert [(d.task, d.metric) for d in suite.totals] == [("macro", "acc")]
    assert suite.estimates.totals[0].n_segments == 220
    alone = es.compare_runs(other, filter=["strict"], n_resamples=99)
    assert [d.metric for d in alone] == ["acc"]
    # Other tasks join in the total of their filter.
    more = [
        run(*gsm(i, n), items(HUNDRED, name=n, filter="last"), name=n) for i, n in enumerate("AB")
    ]
    totals = es.compare_runs(more, n_resamples=99).totals
    assert [(d.task, d.metric) for d in totals] == [("macro", "acc (last)")]


def test_filters_of_other_items_are_tasks():
    parts = {name: {f"{name} {i}": float(i % 2) for i in range(20)} for name in ("test", "valid")}
    tables = [items(scores, filter=name) for name, scores in parts.items()]
    assert list(joined([run(*tables)]).tasks) == ["t (test)", "t (valid)"]


def test_filters_of_metrics_that_have_no_other_name_are_chosen():
    tables = [
        Items(Key("t", "bleu", name), es.BLEU(), ("A",), ["1"], np.ones((1, 1, 10), dtype=int))
        for name in ("none", "short")
    ]
    with pytest.raises(es.InputError, match="t has BLEU of the same items under several filters"):
        joined([run(*tables)])
    assert list(joined([run(*tables)], filter="short").tasks) == ["t (short)"]


def test_a_system_without_any_score_has_none():
    nothing = items(dict.fromkeys("abc", 0.0))
    nothing = Items(Key("u", "acc"), ACC, ("A",), nothing.ids, 0 * nothing.rows)
    found = run(items(HUNDRED), nothing)
    assert list(found.tables) == [("t", "acc", "")]
    assert found.skipped == ("u: acc, which has no score",)
    with pytest.raises(
        es.InputError, match=r"/logs/A holds no scores .*: u: acc, which has no score"
    ):
        run(nothing)


def test_missing_scores():
    rows, what = with_missing(np.array([[1.0, np.nan, 3.0]]))
    assert rows.tolist() == [[[1, 1], [0, 0], [3, 1]]]
    assert what == "1 score is missing"
    assert with_missing(np.full((2, 1000), np.nan))[1] == "2,000 scores are missing"
    assert with_missing(np.ones((1, 1)))[1] == ""
    for nothing in (None, float("nan"), ""):
        assert np.isnan(as_score(nothing, "here"))
    assert as_score(True, "here") == 1.0
    for bad in ("1", [], {}, float("inf"), 10**400):
        with pytest.raises(es.InputError, match=r"here must be a (finite )?number, got"):
            as_score(bad, "here")


def several():
    return run(
        items(HUNDRED, task="arc"),
        items(HUNDRED, task="mmlu_law", logged={"A": 0.34}),
        items(HUNDRED, task="mmlu_physics", filter="strict", logged={"A": 0.35}),
        skipped=("x: y, since it is no sum",),
        groups={"mmlu": ("mmlu_law", "mmlu_physics")},
    )


def test_what_a_run_says():
    found = several()
    assert found.systems == ("A",)
    assert found.tasks == ("arc", "mmlu_law", "mmlu_physics")
    assert found.disagreements == (
        "mmlu_physics (strict): acc of A: the log says 0.35, its items give 0.34",
    )
    text = str(found)
    assert text.startswith("A (a log, /logs/A)\n")
    assert "task          metric  filter  system  items  score  logged" in text
    assert "Differs: mmlu_physics (strict): acc of A: the log says 0.35, its items give" in text
    assert "Left out: x: y, since it is no sum." in text
    html = found._repr_html_()
    assert "<table" in html
    assert "mmlu_physics" in html
    assert "Differs: mmlu_physics" in html
    assert repr(found) == "Run('A', a log, 3 tables)"


def test_a_run_is_shown_without_columns_that_are_empty():
    text = str(one({"a": 1.0, "b": 0.0}, incomplete="1 of 3 items is missing"))
    assert "system  items  score" in text
    assert "filter" not in text
    assert "logged" not in text
    assert "Incomplete: t: acc: 1 of 3 items is missing." in text


def test_select_takes_part_of_a_run():
    found = several()
    assert found.select("mmlu*").tasks == ("mmlu_law", "mmlu_physics")
    assert found.select(["arc", "mmlu_l*"]).tasks == ("arc", "mmlu_law")
    assert found.select(filter="strict").logged == {
        Key("mmlu_physics", "acc", "strict"): {"A": 0.35}
    }
    message = (
        r"/logs/A has nothing of task x\*, metric f1 em; it has arc: acc; mmlu_law: acc; "
        r"mmlu_physics \(strict\): acc"
    )
    with pytest.raises(es.InputError, match=message):
        found.select("x*", ["f1", "em"])
    with pytest.raises(es.InputTypeError, match="task must be a list of patterns, got int"):
        found.select(3)
    with pytest.raises(es.InputTypeError, match="metric must be non-empty text, got 3"):
        found.select(metric=[3])


def test_renamed_changes_every_name():
    found = several().renamed({"A": "new"})
    assert (found.name, found.systems) == ("new", ("new",))
    assert found.logged[Key("mmlu_law", "acc")] == {"new": 0.34}
    assert len(found.disagreements) == 1


def test_run_of_refuses_what_is_twice_or_nothing():
    with pytest.raises(es.InputError, match="/logs/A has t: acc twice"):
        run(items(HUNDRED), items(HUNDRED))
    with pytest.raises(
        es.InputError, match=r"/logs/A holds no scores .* a log: no item has a score"
    ):
        run()
    with pytest.raises(es.InputError, match="holds no scores that can be read as a log: why; not"):
        run(skipped=("why", "not"))
    with pytest.raises(es.InputError, match="task must be printable text"):
        run(items(HUNDRED, task="a\u202eb"))


def test_the_order_of_items_changes_nothing():
    other = {name: 1 - score for name, score in HUNDRED.items()}
    turned = dict(reversed(other.items()))
    expected = es.compare_runs([one(HUNDRED), one(other, "B")], n_resamples=99)
    found = es.compare_runs([one(HUNDRED), one(turned, "B")], n_resamples=99)
    assert found.to_dict() == expected.to_dict()
    assert not [note for note in found.notes if "left out" in note.lower()]


def test_missing_items_are_refused_or_left_out():
    part = {name: score for name, score in HUNDRED.items() if name not in ("item 3", "item 50")}
    message = (
        r"t: acc: all tables must have the same segments: 2 of 100 are not in that of B "
        r"\('item 3', 'item 50'\); complete it, or compare what all have with missing='intersect'"
    )
    for missing in ("error", "available"):
        with pytest.raises(es.InputError, match=message):
            es.compare_runs([one(HUNDRED), one(part, "B")], missing=missing)
    found = es.compare_runs([one(HUNDRED), one(part, "B")], missing="intersect", n_resamples=99)
    assert found.estimates[0].n_segments == 98
    assert found.notes[0] == "t: acc: 2 of 100 items are left out, which not all have."
    with pytest.raises(es.InputError, match="missing must be one of error, intersect, available"):
        es.compare_runs([one(HUNDRED)], missing="drop")
    with pytest.raises(es.InputError, match="t: acc: tables have no segment in common"):
        es.compare_runs([one(HUNDRED), one({"x": 1.0, "y": 0.0}, "B")], missing="intersect")


def test_an_incomplete_run_is_refused_or_said_to_be_one():
    lacking = one(HUNDRED, "B", incomplete="1 of 101 items is missing")
    message = (
        r"/logs/B, t: acc: 1 of 101 items is missing; complete it, or compare what there is with "
        r"missing='intersect', or missing='available'"
    )
    with pytest.raises(es.InputError, match=message):
        es.compare_runs([one(HUNDRED), lacking])
    for missing in ("intersect", "available"):
        found = es.compare_runs([one(HUNDRED), lacking], missing=missing, n_resamples=99)
        assert found.notes[0] == "t: acc: 1 of 101 items is missing in /logs/B."
        estimated = es.estimate_runs(lacking, missing=missing, n_resamples=99)
        assert estimated.notes[0] == found.notes[0]


def with_gaps():
    scores = np.array([[1.0, np.nan, 0.5, 1.0], [0.5, 0.5, 0.0, np.nan]])
    rows, what = with_missing(scores)
    table = Items(Key("", "acc"), ACC, ("A", "B"), list("abcd"), rows, incomplete=what)
    return run(table, name="table"), scores


def test_gaps_of_a_table():
    table, scores = with_gaps()
    found = es.compare_runs(table, missing="available", n_resamples=99)
    assert [e.score for e in found.estimates] == np.nanmean(scores, axis=1).tolist()
    note = "acc: 2 of 8 scores are missing (1 of A, 1 of B); means are over those that there are."
    assert found.notes.count(note) == 1
    assert found.ranking().notes.count(note) == 1
    assert note in str(found.ranking())
    found = es.compare_runs(table, missing="intersect", n_resamples=99)
    assert [e.score for e in found.estimates] == [0.75, 0.25]
    assert found.notes[:2] == (
        "acc: 2 scores are missing in /logs/table.",
        "acc: 2 of 4 items are left out, which not all have.",
    )


def test_gaps_are_noted_wherever_they_stay():
    rows = np.array([[[1.0, 2], [0, 0], [1, 3]], [[1, 2], [2, 2], [1, 3]]])
    metric = es.Ratio("rate")
    table = Items(Key("", "rate"), metric, ("A", "B"), list("abc"), rows, incomplete="1 is missing")
    found = es.compare_runs(run(table, name="x"), missing="available", n_resamples=99)
    assert found.notes[0] == "rate: 1 is missing in /logs/x."
    assert found.estimates[0].score == 2 / 5
    table, _ = with_gaps()
    doubled = {Key(task, "acc"): table.tables[Key("", "acc")] for task in "xy"}
    lacking = dict.fromkeys(doubled, "2 scores are missing")
    suite = replace(table, tables=doubled, incomplete=lacking)
    what = "acc: 2 of 8 scores are missing (1 of A, 1 of B); means are over those that there are."
    for ask in (es.compare_runs, es.estimate_runs):
        notes = ask(suite, missing="available", n_resamples=99).notes
        assert [note for note in notes if "missing" in note] == [f"x: {what}", f"y: {what}"]
    strata = es.SegmentStatistics(
        doubled[Key("x", "acc")].values, ["A", "B"], ACC, labels={"domain": tuple("xxyy")}
    )
    result = es.compare(strata, strata="domain", aggregate="macro", n_resamples=99)
    assert what in result.notes


def test_nothing_that_all_have():
    rows = with_missing(np.array([[1.0, np.nan], [np.nan, 1.0]]))[0]
    table = Items(Key("", "acc"), ACC, ("A", "B"), ["a", "b"], rows, incomplete="2 are missing")
    with pytest.raises(es.InputError, match="acc: no item has a score of every system"):
        es.compare_runs(run(table), missing="intersect")


def test_statistics_with_gaps_are_counted_by_compare_and_estimate():
    """Rows of (0, 0) count for nothing, as if a mean were over the others alone."""
    rng = np.random.default_rng(7)
    scores = rng.random((2, 60))
    scores[1, ::7] = np.nan
    rows = with_missing(scores)[0]
    table = es.SegmentStatistics(rows, ["A", "B"], ACC)
    result = es.compare(table, n_resamples=999)
    assert result.estimates[1].score == pytest.approx(np.nanmean(scores[1]))
    error = np.nanstd(scores[1], ddof=1) / np.sqrt(np.sum(~np.isnan(scores[1])))
    assert result.estimates[1].standard_error == pytest.approx(error, rel=0.1)
    assert any("9 of 120 scores are missing (9 of B)" in note for note in result.notes)
    assert any("9 of 120" in note for note in es.estimate(table, n_resamples=99)[1].notes)
    moves = result.influence("acc", "B", "A")
    for name, moved in zip(moves.ids, moves.values, strict=True):
        rest = np.nanmean(np.delete(scores, int(name), axis=1), axis=1)
        without = rest[1] - rest[0]
        assert moved == pytest.approx(result.differences[0].difference - without, rel=0.1, abs=1e-4)


def test_limited_runs_are_compared_on_what_was_asked():
    part = dict(list(HUNDRED.items())[:30])
    found = es.compare_runs([one(HUNDRED), one(part, "B", is_limited=True)], n_resamples=99)
    assert found.estimates[0].n_segments == 30
    assert found.notes[:2] == (
        "t: acc: B was limited to 30 items.",
        "t: acc: 70 of 100 items are left out, which not all have.",
    )
    more = {**part, "item x": 1.0}
    with pytest.raises(es.InputError, match=r"1 of 31 are not in that of A \('item x'\)"):
        es.compare_runs([one(HUNDRED), one(more, "B", is_limited=True)])
    ends = dict(list(HUNDRED.items())[60:])
    with pytest.raises(es.InputError, match="t: acc: the runs were limited to different items"):
        es.compare_runs([one(part, is_limited=True), one(ends, "B", is_limited=True)])


def test_labels_that_differ_are_other_items():
    labels = {"doc_hash": [f"h{i}" for i in range(100)]}
    changed = {"doc_hash": ["other", *labels["doc_hash"][1:]]}
    message = (
        "t: acc: all SegmentStatistics must have the same segments, but 1 of 100 differ: doc_hash "
        "of segment 'item 0' is 'h0' for A and 'other' for B"
    )
    runs = [one(HUNDRED, labels=labels), one(HUNDRED, "B", labels=changed)]
    with pytest.raises(es.InputError, match=message):
        es.compare_runs(runs)


def test_groups_are_labels_of_the_items():
    labels = {"doc.id": [f"d{i // 10}" for i in range(100)]}
    runs = [one(HUNDRED, labels=labels), one(HUNDRED, "B", labels=labels)]
    found = es.compare_runs(runs, groups="doc.id", n_resamples=99)
    assert (found.estimates[0].unit, found.estimates[0].n_segments) == ("group", 10)
    with pytest.raises(
        es.InputError,
        match=r"'topic' is no label of the items; they have doc.id. .*read_run\(..., labels='topic'\)",
    ):
        es.compare_runs(runs, groups="topic")


def test_runs_of_one_model_are_named_by_their_paths():
    first = run(items(HUNDRED), path="/logs/base/arc/x.json")
    second = run(items(HUNDRED), path="/logs/new/arc/x.json")
    found = es.compare_runs([first, second], n_resamples=99)
    assert [e.system for e in found.estimates] == ["base", "new"]
    found = es.compare_runs({"one": first, "two": first}, n_resamples=99)
    assert [e.system for e in found.estimates] == ["one", "two"]
    message = "/logs/base/arc/x.json is given more than once; runs of one path have to have names"
    with pytest.raises(es.InputError, match=message):
        es.compare_runs([first, first])
    with pytest.raises(es.InputError, match="system 'A' is in several of the runs; a system is in"):
        es.compare_runs([with_gaps()[0], first])


def test_of_many_tasks_there_is_one_note_a_kind():
    part = dict(list(HUNDRED.items())[:30])
    names = [f"task {i}" for i in range(40)]
    runs = [
        run(*(items(scores, task=t, name=n, logged={n: 0.9}) for t in names), name=n,
            is_limited=n == "B", skipped=[f"{t}: no sum" for t in names])
        for n, scores in (("A", HUNDRED), ("B", part))
    ]  # fmt: skip
    notes = joined(runs).notes
    assert [len(line) < 400 for line in notes] == [True] * 5
    assert notes[0].startswith("task 0: acc of A: the log says 0.9, its items give 0.34; task 1:")
    assert notes[0].endswith("; and 77 more.")
    assert (
        notes[1]
        == "Left out of /logs/A: task 0: no sum; task 1: no sum; task 2: no sum; and 37 more."
    )
    assert notes[3].endswith("task 2: acc: B was limited to 30 items; and 37 more.")
    assert notes[4].count("70 of 100 items are left out") == 3


def test_tasks_that_are_not_shared():
    runs = [several(), run(items(HUNDRED, task="arc", name="B"), name="B")]
    message = (
        r"all runs must have the same tasks and metrics, but /logs/B has no mmlu_law: acc, "
        r"mmlu_physics \(strict\): acc; choose with task and metric, or"
    )
    with pytest.raises(es.InputError, match=message):
        es.compare_runs(runs)
    found = es.compare_runs(runs, missing="intersect", n_resamples=99)
    note = "Left out, since /logs/B has no mmlu_law: acc, mmlu_physics (strict): acc."
    assert note in found.notes
    many = run(*(items(HUNDRED, task=f"x{i}", name="B") for i in range(5)), name="B")
    message = r"no task and metric in common: /logs/A has no x0: acc, x1: acc, x2: acc and 2 more"
    with pytest.raises(es.InputError, match=message):
        es.compare_runs([several(), many], missing="intersect")


def test_disagreements_and_what_was_skipped_are_said():
    runs = [several().select("mmlu_physics"), run(items(HUNDRED, task="mmlu_physics", name="B",
                                                       filter="strict"), name="B")]  # fmt: skip
    notes = es.compare_runs(runs, n_resamples=99).notes
    assert notes[0].startswith("mmlu_physics (strict): acc of A: the log says 0.35, its items")
    assert notes[1] == "Left out of /logs/A: x: y, since it is no sum."


def test_metrics_of_one_task_have_the_same_items():
    part = dict(list(HUNDRED.items())[:90])
    other = es.Mean("f1")
    runs = run(items(HUNDRED), items(part, metric=other))
    with pytest.raises(
        es.InputError, match=r"t: there are 100 of acc, 90 of f1; compare metrics of"
    ):
        es.estimate_runs(runs)
    found = joined(runs, missing="intersect")
    assert [table.n_segments for table in found.tasks["t"]] == [90, 90]
    assert found.notes == ["t: 90 items have all, of 100 of acc, 90 of f1."]


@pytest.mark.parametrize(
    "runs, message",
    [
        (3, "runs must be a path, a Run, or several, got int"),
        ([3], "path must be a path or a frame, got int"),
        ([], "runs is empty; give at least one"),
        ({}, "runs is empty; give at least one"),
        ({3: "x"}, "names of runs must be non-empty text, got 3"),
        (["no/such"], "cannot read no/such: it does not exist"),
        ("", "path is empty; give a file or a folder"),
        ("a\0b", "no path has a null character"),
        ({"x": with_gaps()[0]}, "has 2 systems, which have names; give it in a list, without 'x'"),
    ],
)
def test_what_runs_are(runs, message):
    with pytest.raises(es.InputError, match=message):
        es.compare_runs(runs)


def test_what_read_run_takes(tmp_path):
    path = tmp_path / "run.csv"
    path.write_text("id,score\na,1\nb,0\n", encoding="utf-8")
    assert es.read_run(path, name="mine").systems == ("mine",)
    assert es.read_run(str(path)).systems == ("run",)
    for options, message in (
        ({"epochs": "all"}, "epochs must be one of average, runs; got 'all'"),
        ({"task": "x"}, "has nothing of task x; it has score"),
        ({"labels": 3}, "labels must be a list of paths of keys, got int"),
        ({"labels": ["x"]}, "labels: the items of .* have no 'x'"),
        ({"name": ""}, "name must be non-empty text"),
    ):
        with pytest.raises(es.InputError, match=message):
            es.read_run(path, **options)
    path.write_text("id,x,y\na,1,2\n", encoding="utf-8")
    with pytest.raises(es.InputError, match=r"name is for one system, but .*run.csv has 2"):
        es.read_run(path, name="mine")
    (tmp_path / "notes.md").write_text("x", encoding="utf-8")
    for odd in (tmp_path, tmp_path / "notes.md"):
        with pytest.raises(es.InputError, match="is none of the formats that can be read: lm-ev"):
            es.read_run(odd)


def test_frames_are_runs():
    pd = pytest.importorskip("pandas")
    frames = [pd.DataFrame({"id": ["a", "b"], "score": scores}) for scores in ([1, 0], [1, 1])]
    found = es.compare_runs(dict(zip("xy", frames, strict=True)), n_resamples=99)
    assert [e.score for e in found.estimates] == [0.5, 1.0]
    whole = pd.DataFrame({"id": ["a", "b"], "x": [1, 0], "y": [1, 1]})
    assert [e.score for e in es.compare_runs(whole, n_resamples=99).estimates] == [0.5, 1.0]
    with pytest.raises(es.InputError, match="is given more than once; runs of one path have to"):
        es.compare_runs(frames)


def test_lines_are_read_as_the_command_line_reads_them(tmp_path):
    path = tmp_path / "x.txt"
    path.write_bytes("a \u2028b\r\n\n c".encode())
    assert es.read_lines(path) == es.read_lines(str(path)) == ["a \u2028b", "", " c"]
    for bad, message in ((3, "path must be a path, got int"), ("no", "cannot read no: No such file"),
                         ("a\0b", "cannot read a")):  # fmt: skip
        with pytest.raises(es.InputError, match=message):
            es.read_lines(bad)


def test_what_cannot_be_looked_into_is_refused(tmp_path, monkeypatch):
    with pytest.raises(es.InputError, match=r"cannot read 'xxx.*: .*[Nn]ame"):
        es.read_run("x" * 5000)
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x.seg.score").write_text("A 1\n", encoding="utf-8")
    (tmp_path / "closed").mkdir()
    scandir = os.scandir

    def denied(path):
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", denied)
    with pytest.raises(es.InputError, match=r"cannot read '.*closed': Permission denied"):
        es.read_run(tmp_path)


def test_tasks_with_the_same_items_are_named():
    hashes = {f"item {i}": f"h{i}" for i in range(60)}
    others = {f"item {i}": f"h{i + 50}" for i in range(60)}
    scores = {name: float(i % 2) for i, name in enumerate(hashes)}
    tasks = [
        items(scores, task=task, labels={"doc_hash": list(own.values())})
        for task, own in (("mmlu", hashes), ("mmlu_flan", hashes), ("law", others))
    ]
    note = (
        "mmlu and mmlu_flan have 60 items in common; mmlu and law have 10 items in common: a total "
        "takes them for different ones, so that it looks too sure."
    )
    assert es.estimate_runs(run(*tasks)).notes[0] == note
    assert "in common" not in str(es.estimate_runs(run(tasks[0])))


def test_groups_of_several_tasks_are_those_of_every_item():
    scores = {f"item {i}": float(i % 2) for i in range(6)}
    documents = {"law": list("aabbcc"), "art": ["a", "a", "", "b", "c", "c"]}
    tasks = [items(scores, task=task, labels={"document": own}) for task, own in documents.items()]
    with pytest.raises(
        es.InputError, match="task 'art': groups='document': 1 of 6 segments have none"
    ):
        es.estimate_runs(run(*tasks), groups="document")
    tasks[1] = items(scores, task="art", labels={})
    with pytest.raises(es.InputError, match=r"task .art.: groups='document' is no label"):
        es.estimate_runs(run(*tasks), groups="document")
