"""What ended with an error fails, as its harness counts it; what is left out bars a gate."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binomtest

import evalstats as es
from evalstats.cli import main
from evalstats.logs.joining import joined
from evalstats.logs.missing import common_item_notes
from tests.agent_logs import deepeval_run, tau_trials
from tests.helpers import refuses


def agents(folder, crashes, n=200):
    """Write SWE-bench's reports of two agents that resolve the same, but for new crashes."""
    rng = np.random.default_rng(3)
    right = rng.random(n) < 0.6
    for name, is_crash in (("old", np.zeros(n, bool)), ("new", rng.permutation(n) < crashes)):
        ids = np.array([f"a__a-{i}" for i in range(n)])
        ended = {"resolved": right & ~is_crash, "unresolved": ~right & ~is_crash, "error": is_crash}
        lists = {f"{kind}_ids": ids[at].tolist() for kind, at in ended.items()}
        counts = {"total_instances": n, "resolved_instances": len(lists["resolved_ids"])}
        report = {**counts, "submitted_ids": ids.tolist(), **lists}
        (folder / f"{name}.json").write_text(json.dumps(report))
    return folder / "new.json", folder / "old.json"


def gated(arguments, path):
    """Return the exit code of a gate at a margin of 5 points, its text and its JUnit."""
    code = main(["gate", *map(str, arguments), "--margin", "0.05", "-o", str(path / "g.xml"),
                 "-o", str(path / "g.md")])  # fmt: skip
    return code, (path / "g.md").read_text(), (path / "g.xml").read_text()


def test_a_gate_over_crashes_fails_and_without_them_it_cannot_pass(tmp_path):
    new, old = agents(tmp_path, 60)
    arguments = [new, "--baseline", old]
    code, text, xml = gated(arguments, tmp_path)
    said = "of 200 instances 60 ended with an error: counted as failed."
    assert (code, said in text, said in xml) == (1, True, True)
    expected = json.loads(new.read_text())["resolved_instances"] / 200
    assert es.compare_logs([old, new], n_resamples=9).estimates["new"].score == expected
    arguments += ["--missing", "intersect"]
    code, text, xml = gated(arguments, tmp_path)
    one_side = "resolved: 60 of 200 instances are left out, because some systems lack them: new lacks 60 of 200 instances and old 0 of 200, more than chance would explain (p = 1.7e-18)"
    assert (code, one_side in text, one_side in xml) == (3, True, True)
    assert gated([*arguments, "--allow-changes", "missing"], tmp_path)[0] == 0
    # In Python likewise, and of means of what there is.
    asked = {"margin": 0.05, "n_resamples": 99}
    for missing in ("intersect", "available"):
        found = es.gate(new, old, missing=missing, **asked)
        assert (found.verdict, "allow_changes='missing'" in found.reasons[0]) == ("undecided", True)
        assert es.Gate.from_json(found.to_json()) == found
        assert "on either side" not in found._findings()[0].said
        assert es.gate(new, old, missing=missing, allow_changes="missing", **asked).exit_code == 0


def test_few_crashes_on_both_sides_bar_no_gate(tmp_path):
    new, old = agents(tmp_path, 4)
    code, text, xml = gated([new, "--baseline", old, "--missing", "intersect"], tmp_path)
    assert code == 0
    assert "4 of 200 instances are left out, because some systems lack them." in text
    assert "4 of 200 instances are left out" in xml
    assert "lacks" not in text


def without(n_old, n_new, path, *, are_apart, n=200):
    """Write tables of two systems of which some rows are not there; return their paths."""
    rows = {"old": range(n_old, n), "new": range(n_new, n)}
    if not are_apart:
        lines = [f"{i},{s},{int(i % 3 > 0)}" for s in rows for i in rows[s]]
        (path / "both.csv").write_text("\n".join(["id,system,score", *lines]))
        return [path / "both.csv", "--baseline", "old"]
    for name, ids in rows.items():
        lines = [f"{i},{int(i % 3 > 0)}" for i in ids]
        (path / f"{name}.csv").write_text("\n".join(["id,score", *lines]))
    return [path / "new.csv", "--baseline", path / "old.csv"]


@pytest.mark.parametrize("are_apart", [True, False])
def test_a_truncated_baseline_does_not_fail_so_that_the_gate_passes(tmp_path, are_apart):
    """Defect: with missing="failure", a baseline that lacked 81 of 200 rows lost to its copy."""
    for n_old, code in ((81, 3), (3, 0)):
        given = without(n_old, 0, tmp_path, are_apart=are_apart)
        found, text, _ = gated([*given, "--missing", "failure"], tmp_path)
        said = f"old lacks {n_old} of 200 items and new 0 of 200, more than chance would explain"
        assert (found, said in text) == (code, code == 3)
        assert f"old has no answer to {n_old} of 200 items: counted as failed." in text
    given = without(81, 0, tmp_path, are_apart=are_apart)
    allowed = ["--missing", "failure", "--allow-changes", "missing"]
    assert gated([*given, *allowed], tmp_path)[0] == 0


@pytest.mark.parametrize("missing", ["failure", "intersect"])
def test_ids_that_differ_only_in_case_bar_a_gate(tmp_path, missing):
    """Defect: each system failed on, or lost, a third of the items, and the gate passed."""
    for name, letter in (("old", "q"), ("new", "Q")):
        lines = [f"{letter if i % 3 == 0 else 'q'}{i},{int(i % 4 > 0)}" for i in range(300)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["id,score", *lines]))
    new, old = tmp_path / "new.csv", tmp_path / "old.csv"
    asked = {"missing": missing, "margin": 0.4, "n_resamples": 99}
    found = es.gate(new, old, **asked)
    assert found.verdict == "undecided"
    said = "if 'Q0' and 'q0' are the same item, write ids in the same way"
    assert any(note.startswith("Caution") and said in note for note in found.notes)
    assert es.gate(new, old, allow_changes="missing", **asked).verdict == "passed"


def test_the_only_system_that_lacks_items_cannot_pass(tmp_path):
    """Defect: a gate with a number to reach passed on the items that had not crashed."""
    lines = [f"{i},{'' if i < 20 else int(i % 4 > 0)}" for i in range(200)]
    (tmp_path / "new.csv").write_text("\n".join(["id,score", *lines]))
    for missing, verdict in (("intersect", "undecided"), ("failure", "passed")):
        found = es.gate(tmp_path / "new.csv", at_least=0.5, missing=missing, n_resamples=99)
        assert found.verdict == verdict
        assert "some systems" not in found.to_text()
    found = es.gate(tmp_path / "new.csv", at_least=0.5, missing="available", n_resamples=99)
    assert "20 of 200 items of new have no score, and they may differ" in found.reasons[0]
    found = es.gate(tmp_path / "new.csv", at_least=0.5, missing="intersect", n_resamples=99)
    said = "score: 20 of 200 items are left out: new lacks 20 of 200 items, and they may differ"
    assert any(note.startswith(f"Caution: {said}") for note in found.notes)


@pytest.mark.parametrize(("n_lost", "n_both"), [(30, 20), (28, 22), (40, 0)])
def test_items_that_both_lack_do_not_tell_who_lacks_more(n_lost, n_both):
    """One system lacks n_lost items, the other n_both of these: SciPy's sign test of the others."""
    lost = {"A": n_lost, "B": n_both}
    rows = [{"id": i, "system": system, "score": "" if i < n else float(i % 3 > 0)}
            for i in range(200) for system, n in lost.items()]  # fmt: skip
    p = binomtest(0, n_lost - n_both).pvalue
    said = f"A lacks {n_lost} of 200 items and B {n_both} of 200, more than chance would explain (p = {p:.2g})"
    notes = " ".join(es.compare_logs(rows, missing="intersect", n_resamples=9).notes)
    assert (said in notes, "more than chance" in notes) == (p <= 0.01, p <= 0.01)


def test_items_of_two_tasks_that_have_no_hash_are_not_the_same():
    def hashed(*hashes):
        table = es.extract({"A": [1.0, 0.0]}, metric=es.Mean("acc"))
        return [replace(table, labels={"doc_hash": hashes})]

    assert not common_item_notes({"law": hashed("", "a"), "art": hashed("", "b")})
    (note,) = common_item_notes({"law": hashed("b", "a"), "art": hashed("", "b")})
    assert note.startswith("law and art have 1 segment in common.")


def test_failure_counts_what_has_no_score_of_any_table(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("segment,A,B\n1,1,0\n2,,1\n3,1,1\n4,0,\n5,1,1\n")
    with pytest.raises(es.InputError, match="2 of 10 scores are missing"):
        es.compare_logs(path, columns={"A": "system_score", "B": "system_score"})
    found = es.compare_logs(path, missing="failure", n_resamples=9)
    assert [e.score for e in found.estimates] == [0.6, 0.6]
    assert found.notes[0].startswith("Caution: A: 1 of 5 answers have no score; B: 1 of 5")
    path.write_text("id,system,score\n1,A,1\n2,A,0\n3,A,1\n1,B,1\n2,B,1\n")
    found = es.compare_logs(path, missing="failure", n_resamples=9)
    assert {e.system: e.score for e in found.estimates} == {"A": 2 / 3, "B": 2 / 3}
    # Where no item has a score of both, they may be other items.
    for lines, is_apart in (("1,1,\n2,,1\n3,,0\n", True), ("1,1,\n2,1,1\n3,,0\n", False)):
        path.write_text(f"segment,A,B\n{lines}")
        said = "scores are missing.*paired=False" if is_apart else "missing((?!paired=False).)*$"
        refuses(said, es.compare_logs, path)
    path.write_text("segment,A,B\n1,0.5,0\n2,,1\n")
    refuses("1 of 4 scores is missing", es.compare_logs, path, missing="failure")


def test_items_that_metrics_lack_are_counted_together(tmp_path, refused):
    judges = ["gpt-judge", "other-judge"]
    lines = [f"id,system,{','.join(judges)}"]
    # Each lacks 5 of 50 items, and both one of these.
    for i in range(50):
        scores = ["" if i % 10 == k or i == 7 else "1" for k in range(2)]
        lines += [f"{i},{system},{','.join(scores)}" for system in "AB"]
    path = tmp_path / "x.csv"
    path.write_text("\n".join(lines))
    said = f"pass --higher-is-better {' '.join(judges)}, or --lower"
    assert said in refused("compare", path)
    asked = {"directions": {"*judge": "higher"}, "missing": "intersect"}
    found = es.compare_logs(path, **asked, n_resamples=99)
    assert {e.n_segments for e in found.estimates} == {39}
    assert found.notes[0] == (
        "Caution: All metrics: 11 of 50 items are left out, because all metrics must have the same "
        "items (there are 44 of gpt-judge, 44 of other-judge)."
    )


def test_a_trial_without_a_score_is_refused_unless_the_caller_says_how_it_counts(tmp_path):
    """Defect: it was left out of the mean of its item without a word, even with missing="error"."""
    lines = ["system,id,trial,score"]
    lines += [f"{s},{i},{t},{(i + t) % 2}" for s in "AB" for i in range(40) for t in range(3)]
    empty = [line.replace("A,7,1,0", "A,7,1,") for line in lines]
    deleted, path = tmp_path / "deleted.csv", tmp_path / "empty.csv"
    deleted.write_text("\n".join(x for x in lines if x != "A,7,1,0"))
    path.write_text("\n".join(empty))
    for missing in (None, "error"):
        said = "1 of 240 scores is missing.*intersect.*or count failures with missing='failure'"
        refuses(said, es.compare_logs, path, missing=missing)
    # With a system per column, a cell is a row.
    pairs = [f"{i},{t},{'' if i == 7 == 7 * t else t % 2},1" for i in range(40) for t in range(3)]
    (tmp_path / "wide.csv").write_text("\n".join(["id,trial,A,B", *pairs]))
    refuses("1 of 240 scores is missing", es.compare_logs, tmp_path / "wide.csv")
    # A trial of one system may all have crashed, but a run without any score was not done.
    gone = [re.sub("(A,.*,1,).", r"\1", line) for line in lines]
    (tmp_path / "gone.csv").write_text("\n".join(gone))
    refuses("40 of 240 scores are missing", es.compare_logs, tmp_path / "gone.csv")
    (tmp_path / "gone.csv").write_text("\n".join(gone).replace("trial", "seed"))
    notes = es.compare_logs(tmp_path / "gone.csv", n_resamples=99).notes
    assert "the first 2 of 3 runs of B are used" in notes[0]
    for missing in ("intersect", "available"):
        found = es.compare_logs(path, missing=missing, n_resamples=99)
        assert found.notes[0].startswith("Caution: score: 1 of 240 scores is missing (1 of A)")
        assert list(found) == list(es.compare_logs(deleted, n_resamples=99))
        assert found.estimates["A"].score == pytest.approx(0.5 + 1 / 3 / 40)
    for given in (path, deleted):
        failed = es.compare_logs(given, missing="failure", n_resamples=99)
        assert failed.estimates["A"].score == pytest.approx(0.5)
        assert "A: 1 of 120 answers have no score: counted as failed" in failed.notes[0]
        refuses("item '7' has 2 trials, but score", es.compare_logs, given, epochs="pass^3")
    path.write_text("\n".join(re.sub("(A,7,.,).", r"\1", line) for line in lines))
    refuses("3 of 240 scores are missing", es.compare_logs, path)


def test_one_crash_in_many_trials_leaves_pass_k_possible(tmp_path):
    trials = tau_trials([[1.0, 1.0, 0.0]] * 4, errors={(1, 0)})
    path = tmp_path / "a.json"
    path.write_text(json.dumps(trials))
    (score,) = es.estimate_logs(path, epochs="pass^4")
    assert score.score == pytest.approx(1 / 3)
    for said in ("count 1 trial without a score as failed, pass missing", "has 3 trials"):
        refuses(said, es.estimate_logs, path, epochs="pass^4", missing="available")


def test_labels_that_are_no_random_sample_stand_first_and_bar_a_gate(tmp_path, refused):
    """People labelled what the judge had failed: the caution is in every form, and decides."""
    rng = np.random.default_rng(5)
    lines = ["id,system,score,human"]
    for system in ("A", "B"):
        judge = rng.random(400) < 0.7
        labelled = (~judge & (rng.random(400) < 0.6)) | (rng.random(400) < 0.02)
        people = [int(rng.random() < 0.6) if is_labelled else "" for is_labelled in labelled]
        lines += [f"{i},{system},{int(judge[i])},{people[i]}" for i in range(400)]
    path = tmp_path / "x.csv"
    path.write_text("\n".join(lines))
    asked = {"metric": "score", "human": "human", "directions": {"score": "higher"}}
    found = es.compare_logs(path, baseline="A", n_resamples=99, **asked)
    said = "the judge scores them differently from the others (p = "
    for form in (found.to_text(), found.to_markdown(), found.to_latex()):
        assert form.index("Caution") < form.index(said)
    assert found._below()[0][0].startswith("Caution: score: the labelled items")
    arguments = ["gate", path, "--baseline", "A", "-m", "score", "--human", "human", "--margin",
                 "0.5", "-o", tmp_path / "x.xml"]  # fmt: skip
    assert main(list(map(str, arguments))) == 3
    assert said in (tmp_path / "x.xml").read_text()
    assert main(list(map(str, [*arguments, "--allow-changes", "labels"]))) == 0
    state = ["--state", tmp_path / "s.json", "--looks", "2", "--of", "900"]
    assert "--allow-changes labels" in refused(*arguments[:-2], *state)
    assert not (tmp_path / "s.json").exists()


def test_deepevals_gate_over_crashes_fails_by_what_has_passed(tmp_path):
    """Defect: the grades of the tests that crashed were missing, and the gate was refused."""
    for name, scores in (("old", [0.9] * 60), ("new", [0.9] * 30 + [None] * 30)):
        (tmp_path / f"{name}.json").write_text(json.dumps(deepeval_run(scores)))
    code, text, xml = gated([tmp_path / "new.json", "--baseline", tmp_path / "old.json"], tmp_path)
    assert code == 1
    for form in (text, xml):
        assert "30 of 60 test cases ended with an error" in form
        assert "Answer Relevancy is left out, because 30 scores ended with an error." in form
    asked = {"metric": "Answer Relevancy", "n_resamples": 9}
    with pytest.raises(es.InputError, match="30 scores ended with an error"):
        es.compare_logs([tmp_path / "old.json", tmp_path / "new.json"], **asked)


@pytest.mark.parametrize("crashed", ["blank", "dropped"])
def test_trials_that_crashed_on_one_side_bar_a_gate(tmp_path, crashed):
    """Defect: a gate passed over trials that only one side lacks.

    Seed 3; the caution comes by chance with probability 0 if no trial crashes, below 0.01 if some
    of both systems do.
    """
    rng = np.random.default_rng(3)
    passed = rng.random((2, 100, 4)) < 0.5
    passed[1] = passed[0]
    is_crash = rng.random((100, 4)) < 0.12
    for s, name in enumerate(["old", "new"]):
        lines = ["scenario,trial,passed"]
        for i, t in np.ndindex(100, 4):
            if not (s and is_crash[i, t]):
                lines.append(f"t{i},{t},{int(passed[s, i, t])}")
            elif crashed == "blank":
                lines.append(f"t{i},{t},")
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n")
    new, old = tmp_path / "new.csv", tmp_path / "old.csv"
    missing = "intersect" if crashed == "blank" else None
    given = [new, "--baseline", old, *(["--missing", missing] if missing else [])]
    code, text, _ = gated(given, tmp_path)
    n = int(np.sum(is_crash))
    said = f"new lacks {n} of 400 answers and old 0 of 400"
    assert (code, said in text) == (3, True)
    assert ("keep their rows" in text) == (crashed == "dropped")
    compared = es.compare_logs([old, new], baseline="old", n_resamples=99, missing=missing)
    assert said in " ".join(compared.cases().notes)
    assert gated([*given, "--allow-changes", "missing"], tmp_path)[0] == 0
    code, text, _ = gated([new, "--baseline", old, "--missing", "failure"], tmp_path)
    assert ("counted as failed" in text) == (crashed == "blank")
    assert ("answers and old" in text) == (crashed == "dropped")
    asked = {"at_least": 0.2, "n_resamples": 99, "missing": "intersect"}
    assert es.gate(new, **asked).verdict == "undecided"
    assert es.gate(old, **asked).verdict == "passed"
    # Systems may have unlike numbers of answers, and some items more of them.
    with (tmp_path / "new.csv").open("w") as file:
        file.write("scenario,trial,passed\n")
        file.writelines(f"t{i},{t},1\n" for i in range(100) for t in range(3 if i % 9 else 8))
    assert es.gate(new, old, margin=0.05, n_resamples=99).verdict == "passed"


def trials_of(tmp_path, name, missing):
    """Write 40 tasks with 3 trials; those in `missing` have no score, or no row."""
    rows = ["task,trial,passed"]
    for i in range(40):
        rows += [f"t{i},{k},{(i + k) % 2}" for k in range(2)]
        rows += {"row": [], "score": [f"t{i},2,"]}.get(missing if i == 5 else "", [f"t{i},2,1"])
    path = tmp_path / f"{name}.csv"
    path.write_text("\n".join(rows))
    return str(path)


def test_missing_trials_are_counted_as_the_message_says(tmp_path):
    """Defect: an error on missing trials did not name missing="failure"."""
    for missing, names in (("row", "ab"), ("score", "cd")):
        paths = [trials_of(tmp_path, name, missing) for name in names]
        said = (
            "To count 1 trial without a score" if missing == "score" else "without a score in the"
        )
        refuses(f"{said}.*pass missing='failure'", es.compare_logs, paths, epochs="pass^3")
    counted = es.compare_logs(paths, epochs="pass^3", missing="failure", n_resamples=99)
    assert counted.estimates[0].n_segments == 40


def test_items_that_are_numbered_from_0_and_from_1_are_said(tmp_path):
    """Defect: with missing="intersect" each item was paired with the one before."""

    def paths_of(*firsts, n=60):
        for first in firsts:
            rows = [f"{i + first},{i % 3 > 0:d}" for i in range(n)]
            (tmp_path / f"{'ab'[first]}.csv").write_text("\n".join(["id,correct", *rows]))
        return [tmp_path / "a.csv", tmp_path / "b.csv"]

    said = "if a numbers items from 0 and b from 1, number them alike"
    # The advice to compare the shared ids would pair other items.
    refuses(f"{said}$", es.compare_logs, paths_of(0, 1))
    for missing in ("intersect", "failure"):
        found = es.compare_logs(paths_of(0, 1), missing=missing, n_resamples=9)
        assert any(said in note and note.kind == "missing" for note in found.notes[:3])
    # One system lacks the first item.
    paths = paths_of(0, n=61)
    found = es.compare_logs(paths, missing="intersect", n_resamples=9)
    assert not any("number them alike" in note for note in found.notes)


@pytest.mark.parametrize("epochs", ["mean", "pass^2", "runs"])
def test_items_that_a_file_lacks_are_failures_of_all_its_trials(tmp_path, epochs):
    """Defect: items that one of two files lacks were refused if items have several trials."""
    paths = {name: tmp_path / f"{name}.csv" for name in "abw"}
    for name, path in paths.items():
        rows = [f"t{i},{trial},{(i + trial) % 4 > 0 if name == 'a' or i % 5 else 0:d}"
                for i in range(40) for trial in range(3) if i % 5 or name != "b"]  # fmt: skip
        path.write_text("\n".join(["id,trial,correct", *rows]))
    pairs = [[paths["a"], paths[name]] for name in "bw"]
    refuses("8 of 40 are missing .*count failures with missing='failure'",
            es.compare_logs, pairs[0], epochs=epochs)  # fmt: skip
    found, whole = (
        es.compare_logs(pair, epochs=epochs, missing="failure", n_resamples=99) for pair in pairs
    )
    assert "Caution: correct: b has no answer to 8 of 40 items: counted as failed." in found.notes
    for one, other in zip(found.estimates, whole.estimates, strict=True):
        assert (one.score, one.low, one.high) == (other.score, other.low, other.high)
    one, other = (joined(pair, epochs=epochs, missing="failure").tasks[""][0] for pair in pairs)
    np.testing.assert_array_equal(one.values, other.values)
    np.testing.assert_array_equal(one.answers, other.answers)


def test_runs_are_only_offered_if_they_are_possible(tmp_path):
    """Defect: a note offered epochs="runs", which is refused with unequal numbers of trials."""
    for missing, names in (("row", "ab"), ("", "cd")):
        paths = [trials_of(tmp_path, name, missing) for name in names]
        notes = " ".join(es.compare_logs(paths, n_resamples=99).notes)
        assert "are averaged" in notes
        assert ('(use epochs="runs" to include their spread)' in notes) == (missing == "")
    assert es.compare_logs(paths, epochs="runs", n_resamples=99)


def test_answers_that_are_lacking_are_counted_beside_the_largest_number_of_all(tmp_path):
    """Defect: with a fifth of three trials gone, most items had two, and few answers lacked."""
    rows = ["system,item,trial,passed"]
    for i, trial in np.ndindex(60, 3):
        rows += [f"A,{i},{trial},1"] + [f"B,{i},{trial},1"] * (trial < 2 or i < 20)
    (tmp_path / "runs.csv").write_text("\n".join(rows) + "\n")
    notes = " ".join(es.compare_logs(tmp_path / "runs.csv", n_resamples=99).notes)
    assert "B lacks 40 of 180 answers and A 0 of 180" in notes
