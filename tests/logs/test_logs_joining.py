"""Logs side by side: by the ids of items, with what is missing refused or said."""

import os
from dataclasses import replace

import pytest

import evalstats as es
from evalstats.logs.joining import joined
from evalstats.logs.rows import Items, Key, Rows, natural, natural_order
from tests.helpers import bad_cases, cases, refuses
from tests.log_files import log, one, rows

HUNDRED = {f"item {i}": float(i % 3 == 0) for i in range(100)}
PART = dict(list(HUNDRED.items())[:30])


def compare(*logs, **options):
    return es.compare_logs(logs if len(logs) > 1 else logs[0], n_resamples=99, **options)


def refused(words, *logs, **options):
    refuses(words, compare, *logs, **options)


def test_names_are_sorted_as_people_do():
    names = ["item 10", "item 9", "b", "item 9a", "", "item", "item 010", "10", "9"]
    expected = ["", "9", "10", "b", "item", "item 9", "item 9a", "item 010", "item 10"]
    assert sorted(names, key=natural) == expected
    digits = ["10", "9", "010", "0", "00", "123456789012345678901234567890", "1", "007"]
    for given in (digits, names):
        assert natural_order(given) == sorted(range(len(given)), key=lambda i: natural(given[i]))


def test_filters_of_the_same_answers_are_metrics_of_one_task():
    def gsm(shift, name):
        scores = {f"{i}": float((i + shift) % 3 == 0) for i in range(120)}
        return [rows(scores, task="gsm", filter=f, name=name) for f in ("strict", "none", "last")]

    alone = compare(*(log(*gsm(i, name), name=name) for i, name in enumerate("AB")))
    assert [d.metric for d in alone] == ["acc (strict)", "acc", "acc (last)"]
    assert {e.n_segments for e in alone.estimates} == {120}
    # No total counts an answer twice: its error would be that of independent items.
    for filter, total in (("none", "acc"), ("last", "acc (last)")):
        more = [rows(HUNDRED, name=name, filter=filter) for name in "AB"]
        logs = [log(*gsm(i, name), more[i], name=name) for i, name in enumerate("AB")]
        assert [(d.task, d.metric) for d in compare(*logs).totals] == [("both tasks", total)]
    assert [d.metric for d in compare(*logs, filter=["strict"])] == ["acc"]
    parts = {name: {f"{name} {i}": float(i % 2) for i in range(20)} for name in ("test", "valid")}
    tables = [rows(scores, filter=name) for name, scores in parts.items()]
    assert list(joined([log(*tables)]).tasks) == ["t (test)", "t (valid)"]
    # What has a name of its own cannot have that of a filter.
    both = [replace(rows(HUNDRED, filter=f), metric=es.Perplexity("item")) for f in "ab"]
    refused("t has perplexity for the same items twice; choose one filter", log(*both))


def several(**more):
    return log(
        rows(HUNDRED, task="mmlu_physics", filter="strict", reported=0.35),
        rows(HUNDRED, task="arc"),
        rows(HUNDRED, task="mmlu_law", reported=0.34),
        skipped=("x: y, since it is no sum",),
        groups={"mmlu": ("mmlu_law", "mmlu_physics")},
        **more,
    )


def test_what_a_log_says():
    found = several()
    said = "mmlu_physics (strict): acc of A: the log reports 0.35, but its items give 0.34"
    assert found.disagreements == (said,)
    assert "task          metric  filter  system  items  score  reported" in str(found)
    for part in (f"Differs: {said}.", "Left out: x: y, since it is no sum."):
        assert part in str(found)
    text = str(one({"a": 1.0, "b": 0.0}, lacking="1 of 3 items is missing"))
    assert "system  items  score\n" in text
    assert "Incomplete: t: acc: 1 of 3 items is missing." in text
    refuses("/logs/A has t: acc of A twice", log, *[rows(HUNDRED)] * 2)
    refuses("task must be printable text", log, rows(HUNDRED, task="a\u202eb"))


def test_missing_items_are_refused_or_left_out():
    part = {name: score for name, score in HUNDRED.items() if name not in ("item 3", "item 50")}
    message = (
        r"t: acc: all systems must have the same items, but 2 of 100 are missing in the log of B "
        r"\('item 3', 'item 50'\). Complete the log, or compare only the shared items with "
        r"missing='intersect'"
    )
    for missing in ("error", "available"):
        refused(message, one(HUNDRED), one(part, "B"), missing=missing)
    found = compare(one(HUNDRED), one(part, "B"), missing="intersect")
    assert found.estimates[0].n_segments == 98
    said = "Caution: t: acc: 2 of 100 items are left out, because some systems lack them."
    assert found.notes[0] == said
    said = "missing must be one of error, failure, intersect, available"
    refused(said, one(HUNDRED), missing="drop")
    logs = one(HUNDRED), one({"x": 1.0, "y": 0.0}, "B")
    refused("t: acc: no item is in the logs of all systems", *logs, missing="intersect")


def test_an_incomplete_log_is_refused_or_said_to_be_one():
    lacking = one(HUNDRED, "B", lacking="1 of 101 items is missing")
    message = "/logs/B, t: acc: 1 of 101 items is missing. Complete the log, or compare the existing scores with missing='intersect', or means with missing='available'"
    refused(message, one(HUNDRED), lacking)
    for missing in ("intersect", "available"):
        scores = es.estimate_logs(lacking, missing=missing, n_resamples=99)
        for found in (compare(one(HUNDRED), lacking, missing=missing), scores):
            assert found.notes[0] == "t: acc: 1 of 101 items is missing in /logs/B."


def with_gaps(**more):
    scores = {"A": (1.0, None, 0.5, 1.0), "B": (0.5, 0.5, 0.0, None)}
    tasks = more.pop("tasks", ("",))
    return log(
        *(rows(dict(zip("abcd", own, strict=True)), name=name, task=task)
          for task in tasks for name, own in scores.items()),
        name="table",
    )  # fmt: skip


def test_gaps_of_a_table():
    found = compare(with_gaps(), missing="available")
    assert [e.score for e in found.estimates] == [2.5 / 3, 1 / 3]
    note = "acc: 2 of 8 scores are missing (1 of A, 1 of B). Means use the remaining scores."
    assert found.notes.count(note) == 1
    assert found.ranking().notes.count(note) == 1
    found = compare(with_gaps(), missing="intersect")
    assert [e.score for e in found.estimates] == [0.75, 0.25]
    assert found.notes[:2] == (
        "acc: 2 of 8 scores are missing (1 of A, 1 of B) in /logs/table.",
        "Caution: acc: 2 of 4 items are left out, because some systems lack them.",
    )
    suite = with_gaps(tasks="xy")
    for ask in (es.compare_logs, es.estimate_logs):
        notes = ask(suite, missing="available", n_resamples=99).notes
        assert [n for n in notes if "missing" in n] == [f"x: {note[:-1]}.", f"y: {note[:-1]}."]
    never = [rows({"a": 1.0, "b": None}), rows({"a": None, "b": 1.0}, name="B")]
    refused("acc: no item has a score of every system", log(*never), missing="intersect")


def test_a_gate_does_not_pass_if_only_one_system_was_limited():
    """Defect: it passed on 40 of 60 items, although a caution said to run the others too."""
    base, new = one(HUNDRED), one(PART, "B", is_limited=True)
    found = es.gate(new, base, margin=0.3, n_resamples=99)
    assert (found.verdict, "--allow" in found.to_text()) == ("undecided", True)
    assert "was limited to 30 items" in found.reasons[0]
    allowed = es.gate(new, base, margin=0.3, n_resamples=99, allow_changes="limited")
    assert allowed.verdict == "passed"
    both = one(PART, is_limited=True), one(PART, "B", is_limited=True)
    assert es.gate(*both, margin=0.3, n_resamples=99).verdict == "passed"


def test_limited_logs_are_compared_on_what_was_asked():
    found = compare(one(HUNDRED), one(PART, "B", is_limited=True))
    assert found.estimates[0].n_segments == 30
    assert found.notes[:2] == (
        "Caution: t: acc: B was limited to 30 items, but other systems have more. Run all systems on the "
        "same items.",
        "t: acc: 70 of 100 items are left out, because some systems lack them.",
    )
    # What nobody was asked is no failure.
    some = one(dict(list(PART.items())[3:]), "C")
    failed = compare(one(PART, "B", is_limited=True), some, one(HUNDRED), missing="failure")
    said = ("t: acc: C has no answer to 3 of 30 items: counted as failed.", [30] * 3)
    assert [e.n_segments for e in failed.estimates] == said[1]
    assert any(said[0] in note for note in failed.notes)
    more = one({**PART, "item x": 1.0}, "B", is_limited=True)
    refused(r"1 of 31 is missing in the log of A \('item x'\)", one(HUNDRED), more)
    ends = one(dict(list(HUNDRED.items())[60:]), "B", is_limited=True)
    refused("t: acc: the systems were limited to different", one(PART, is_limited=True), ends)


def test_labels_that_differ_are_other_items():
    labels = {"hash": [f"h{i}" for i in range(100)], "doc.id": [f"d{i // 10}" for i in range(100)]}
    changed = {**labels, "hash": ["other", *labels["hash"][1:]]}
    words = "t: acc: 1 of 100 items differ: hash of item 'item 0' is 'h0', but 'other'"
    refused(words, one(HUNDRED, labels=labels), one(HUNDRED, "B", labels=changed))
    logs = [one(HUNDRED, labels=labels), one(HUNDRED, "B", labels=labels)]
    found = compare(*logs, groups="doc.id")
    assert (found.estimates[0].unit, found.estimates[0].n_segments) == ("group", 10)
    words = r"have no label 'topic'; available: hash, doc.id; to keep other labels, use read_log\(..., labels='topic'\)"
    refused(words, *logs, groups="topic")


def test_logs_of_one_system_are_joined_or_named_by_their_paths():
    def at(path, name="m", **more):
        return log(rows(HUNDRED, name=name, **more), name=name, path=path)

    def names(*logs, **options):
        return [e.system for e in compare(*logs, **options).estimates]

    assert names(at("/logs/base/x.json"), at("/logs/new/x.json")) == ["base", "new"]
    # The common beginning and the common end overlap.
    assert names(at("/q/a/s.csv"), at("/q/a/a/s.csv")) == ["s", "a/s"]
    assert names(at("/q/GPT-4"), at("/q/GPT-4.5")) == ["GPT-4", "GPT-4.5"]
    first = at("/logs/x.json")
    assert names({"one": first, "two": first}) == ["one", "two"]
    refused("/logs/x.json is passed more than once; name the logs", first, first)
    both = log(rows(HUNDRED), rows(HUNDRED, name="B"), path="/logs/both")
    assert set(names(both, at("/logs/mine", "A"))) == {"both/A", "both/B", "mine"}
    # Of other tasks.
    others = at("/c", "n", task="x"), at("/d", "n", task="y")
    found = compare(at("/a", task="x"), at("/b", task="y"), *others)
    assert {(d.baseline, d.system) for d in found} == {("m", "n")}


def test_systems_are_chosen_and_put_in_order():
    logs = [one(HUNDRED, name) for name in ("gpt-4", "gpt-5", "llama", "o[1]")]
    found = joined(logs, systems=["o[1]", "gpt*"]).tasks["t"][0]
    assert found.systems == ("o[1]", "gpt-4", "gpt-5")


def test_tasks_that_are_not_shared():
    logs = [several(), one(HUNDRED, "B", task="arc")]
    message = (
        r"all systems must have the same tasks and metrics, but B does not have acc on "
        r"'mmlu_law', acc on 'mmlu_physics \(strict\)'. Select what to compare with task, metric or systems, or"
    )
    refused(message, *logs)
    note = "Left out, because B does not have acc on 'mmlu_law', acc on 'mmlu_physics (strict)'."
    assert note in compare(*logs, missing="intersect").notes
    many = log(*(rows(HUNDRED, task=f"x{i}", name="B") for i in range(5)), name="B")
    words = r"any task and metric in common: A does not have acc on 'x0', acc on 'x1', acc on 'x2', and 2 more"
    refused(words, several(), many, missing="intersect")
    refused(
        "Choose one task, or systems that share at least one", several(), many, missing="intersect"
    )
    # Defect: of many language pairs none was named.
    pairs = [log(*(rows(HUNDRED, task=t, name=n) for n in "AB"), name="x") for t in ("cs", "de")]
    pairs += [log(*(rows(HUNDRED, task="uk", name=n) for n in "CDE"), name="y")]
    refused(r"Choose one task at a time, such as task='uk' \(of 3 systems\), or systems", *pairs)


def test_directions_are_asked_for_and_agree():
    def judged(name, metric=None, **more):
        return one(HUNDRED, name, metric=metric or es.Mean("judge"), **more)

    asked = [judged(name, is_directed=False) for name in "AB"]
    refused(
        r"higher or lower values of judge are better; pass directions=\{'judge'",
        *asked,
    )
    for higher in ("higher", "lower"):
        (d,) = compare(*asked, directions={"jud*": higher})
        assert d.higher_is_better is (higher == "higher")
    # One log says what another does not.
    lower = judged("A", es.Mean("judge", False))
    (d,) = compare(lower, asked[1])
    assert not d.higher_is_better
    refused("the metric of B is .* but the metric of A is", lower, judged("B"))
    refused("directions.* must be one of higher, lower", *asked, directions={"judge": "up"})
    refused("directions must be a mapping", *asked, directions="higher")


@bad_cases(
    (3, "logs must be a path or a Log, or several of them, got int"),
    ([3], "path must be a path or a data frame, got int"),
    ([], "logs is empty; pass at least one log"),
    ({3: "x"}, "names of logs must be non-empty text, got 3"),
    (["no/such"], "cannot read no/such: it does not exist"),
    ("", "path is empty; pass a file or a folder"),
    ("a\0b", "cannot read a.*b: it does not exist"),
    (
        {"x": with_gaps()},
        "name applies only to a log with one system, but /logs/table has 2, which already have names",
    ),
)
def test_what_logs_are(logs):
    es.compare_logs(logs)


def test_what_read_log_takes(tmp_path):
    path = tmp_path / "run.csv"
    path.write_text("id,score\na,1\nb,0\n", encoding="utf-8")
    assert es.read_log(path, name="mine").systems == ("mine",)
    assert es.read_log(str(path)).systems == ("run",)
    for options, message in (
        ({"epochs": "all"}, "epochs must be one of mean, runs, pass.K, .* got 'all'"),
        ({"task": "x"}, "there is no task 'x'; none are available"),
        ({"task": 3}, "task must be a list of patterns, got int"),
        ({"metric": [3]}, "metric must be non-empty text, got 3"),
        ({"labels": 3}, "labels must be a list of paths of keys, got int"),
        ({"labels": ["x"]}, "the items have no label 'x'"),
        ({"name": ""}, "name must be non-empty text"),
    ):
        refuses(message, es.read_log, path, **options)
    (tmp_path / "notes.md").write_text("x", encoding="utf-8")
    (tmp_path / "none").mkdir()
    for odd, message in (
        (tmp_path / "notes.md", "is unknown; evalstats reads lm-eval"),
        (
            tmp_path,
            r"is a folder; pass tables as files, such as .*run\.csv; each counts as one system",
        ),
        (tmp_path / "none", "is a folder without files"),
    ):
        refuses(message, es.read_log, odd)


def test_what_cannot_be_looked_into_is_refused(tmp_path, monkeypatch):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x.seg.score").write_text("A 1\n", encoding="utf-8")
    (tmp_path / "closed").mkdir()
    scandir = os.scandir

    def denied(path):
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", denied)
    refuses(r"cannot read '.*closed': Permission denied", es.read_log, tmp_path)


def test_tasks_with_the_same_items_are_named():
    def task(name, first):
        labels = {"doc_hash": [f"h{i + first}" for i in range(60)]}
        return rows({f"item {i}": float(i % 2) for i in range(60)}, task=name, labels=labels)

    tasks = [task("mmlu", 0), task("mmlu_flan", 0), task("law", 50)]
    note = (
        "law and mmlu have 10 items in common; mmlu and mmlu_flan have 50 items in common; law and "
        "mmlu_flan have 10 items in common. A total counts them more than once"
    )
    assert note in es.estimate_logs(log(*tasks)).notes[0]


@pytest.mark.parametrize("name", ["a|b", "a|, c|", "x: y.", "a;b"])
def test_a_path_is_named_in_a_note_as_it_is(tmp_path, name):
    path = tmp_path / f"{name}.csv"
    text = "system,segment,score,comment\nA,1,0.5,good\nB,1,0.4,bad\nA,2,0.3,x\nB,2,0.9,y\n"
    path.write_text(text, encoding="utf-8")
    note = f"These parts of {path} are left out: column 'comment', which is text."
    assert es.compare_logs(path, n_resamples=9).notes.count(note) == 1


def test_metrics_of_different_items_are_intersected_or_refused():
    f1 = es.Mean("f1", higher_is_better=True)
    both = {name: (rows(HUNDRED, name=name), rows(PART, name=name, metric=f1)) for name in "AB"}
    logs = [log(*some, name=name) for name, some in both.items()]
    for missing in ("error", "available"):
        refused(
            "t must have the same items for all metrics, but there are 100 of acc, 30 of f1. Use metrics with the same items, or compare only",
            *logs,
            missing=missing,
        )
    assert {e.n_segments for e in compare(*logs, missing="intersect").estimates} == {30}


def test_classes_of_different_kinds_are_different_metrics():
    logs = []
    for name, labels in (("A", ("no", "yes")), ("B", (0, 1))):
        metric = es.Confusion(labels, "macro-f1")
        key, items = Key("t", metric.name, ""), Items.of("here", ["1", "2"])
        found = Rows(key, name, metric, items, metric.statistics(labels, labels))
        logs.append(log(found, name=name))
    refused("t: .*: the metric of B is Confusion.*, but the metric of A is Confusion", *logs)


def by_place(ids, names="AB"):
    """A table of scores with two systems, rows in the order of these ids."""
    return [{"segment": x, **{n: 0.1 * i + (n == "B") for i, n in enumerate(names)}} for x in ids]


@cases(
    (["1", "2", "3", "4"], "aabb", "aabb"),
    (["4", "2", "1", "3"], "aabb", "aabb"),  # by number, whatever the order
    (["0", "1", "2", "3"], "aabb", "aabb"),
    (["2", "3", "6"], "abcdef", "bcf"),  # people score a part
    (["0", "2", "3"], "abcdef", "acd"),
    (["a", "b", "c"], [1, 1, 2], "112"),
)
def test_labels_by_place_are_those_of_lines(ids, labels, found):
    """Defect: a TypeError; human scores and COMET files could have no documents."""
    table = joined(by_place(ids), directions={"*": "higher"}, labels={"groups": list(labels)})
    assert table.labels == {"groups": "group"}
    assert "".join(table.tasks[""][0].labels["group"]) == found


def test_labels_by_place_are_units_and_domains():
    items = by_place([str(i + 1) for i in range(12)])
    groups, strata = [i // 2 for i in range(12)], ["news"] * 6 + ["talk"] * 6
    options = {"directions": {"*": "higher"}, "groups": groups, "strata": strata}
    rows = zip(items, groups, strata, strict=True)
    plain = [{**row, "doc": str(g), "of": s} for row, g, s in rows]
    named = compare(plain, **options | {"groups": "doc", "strata": "of"})
    for found in (compare(items, **options), compare(items, **options, paired=True)):
        assert (found[0].pvalue, found[0].low) == (named[0].pvalue, named[0].low)
        assert "strata:2|unit:group" in found.signatures[0]
    estimates = es.estimate_logs(items, n_resamples=99, **options)
    assert estimates[0].standard_error == named.estimates[0].standard_error


@cases(
    (["1", "2", "3"], [0, 1], "groups has 2 labels for 3 segments; pass one"),
    (["b", "a", "c"], "aab", r"items have names \('a'\), and.*in the frame"),
    (["1", "2"], [1, "1"], "groups contains 1"),
)
def test_labels_by_place_that_do_not_fit(ids, labels, message):
    refused(message, by_place(ids), directions={"*": "higher"}, groups=list(labels))


def test_battles_have_no_labels_by_place():
    battle = {"model_a": "A", "model_b": "B", "winner": "model_a"}
    refused(
        "groups applies only to scores of items, but these are battles",
        [battle] * 3,
        groups=[1, 1, 2],
    )


def test_a_heading_in_a_file_of_labels_is_named():
    """Defect: a heading was one label too many, or moved all labels by one line."""
    labels = ["document", *(str(i // 10) for i in range(40))]
    said = r"groups has 41 labels for 40 segments; .*\(if the first, 'document', is a heading"
    for ids in (list(range(1, 41)), list(range(40)), [f"item {i:02}" for i in range(40)]):
        refused(said, by_place(ids), directions={"*": "higher"}, groups=labels)
    # A part of the lines may have been run.
    found = compare(
        by_place([1, 2, 4]), directions={"*": "higher"}, groups=["a", "b", "b", "b", "c"]
    )
    assert found.differences[0].n_units == 2


def test_labels_of_people_need_systems():
    judge = [{"id": i, "system": s, "judge": i % 2} for i in range(40) for s in "AB"]
    people = [{"id": i, "label": "yes" if i % 2 else "no"} for i in range(20)]
    refused("human has no scores of 'A', only of .*; use one row per item and system", judge,
            human=es.read_log(people), directions={"*": "higher"})  # fmt: skip
