"""Logs and tables of scores on the command line."""

import json

import pytest

import evalstats as es
from tests.conftest import SYSTEMS, WMT
from tests.test_logs_tables import wmt25

SCORES = """system,segment,metric,score,document
A,1,acc,1,x
A,2,acc,0,x
A,3,acc,1,y
A,4,acc,1,y
B,1,acc,1,x
B,2,acc,1,x
B,3,acc,0,y
B,4,acc,1,y
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scores.csv").write_text(SCORES, encoding="utf-8")
    for name in "ab":
        lines = [line for line in SCORES.splitlines() if line[0] in ("s", name.upper())]
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    judged = SCORES.replace("acc", "judge")
    (tmp_path / "judge.csv").write_text(judged, encoding="utf-8")
    es.SegmentStatistics([[[1, 1], [0, 1]]], ["A"], es.Mean("m")).save(tmp_path / "x.npz")
    return tmp_path


@pytest.fixture
def shown(run_here):
    """Run what is typed; return what it finds."""

    def shown(*arguments):
        code, out, err = run_here(*arguments, "--resamples", "99", "-f", "json")
        assert (code, err) == (0, "")
        return json.loads(out)

    return shown


def test_compare_and_estimate_are_the_apis(folder, shown):
    expected = es.compare_logs("scores.csv", n_resamples=99)
    assert shown("compare", "scores.csv") == expected.to_dict()
    assert shown("compare", "a.csv", "b.csv") == expected.to_dict()
    grouped = es.compare_logs("scores.csv", groups="document", baseline="B", n_resamples=99)
    assert grouped.estimates[0].n_segments == 2
    options = ("--groups", "document", "--baseline", "B")
    assert shown("compare", "scores.csv", *options) == grouped.to_dict()
    strata = es.estimate_logs("scores.csv", strata="document", aggregate="macro", n_resamples=99)
    options = ("--strata", "document", "--aggregate", "macro")
    assert shown("estimate", "scores.csv", *options) == strata.to_dict()


def test_names_are_those_of_runs(folder, shown):
    found = shown("compare", "a.csv", "b.csv", "--names", "new", "old")
    assert {e["system"] for e in found["estimates"]} == {"new", "old"}


def test_rank_and_power(folder, run_here):
    code, out, _ = run_here("rank", "scores.csv", "--resamples", "99", "--metric", "acc")
    assert code == 0
    assert out.startswith("Ranks by acc")
    code, out, _ = run_here("power", "a.csv", "b.csv", "--segments", "99")
    assert code == 0
    assert out.startswith("acc ↑, 99 segments (pilot 4)")


def test_which_part_of_a_run(folder, run_here, shown):
    table = "model,id,task,filter,acc\nm,1,x,none,1\nm,2,x,none,0\nm,1,x,strict,0\nm,2,x,strict,0\n"
    (folder / "run.csv").write_text(table, encoding="utf-8")
    for options in (["--filter", "none"], ["--metric", "acc,none"], ["--metric", "a*,n*"]):
        found = shown("estimate", "run.csv", "--task", "x", *options)
        assert [e["score"] for e in found["estimates"]] == [0.5]
    code, _, err = run_here("estimate", "run.csv", "--task", "y")
    assert code == 2
    assert "run.csv: there is no task 'y'; there are x" in err
    (folder / "run.csv").write_text(table.replace("2,x,strict", "3,x,strict"), encoding="utf-8")
    assert shown("estimate", "run.csv")["estimates"][-1]["aggregate"] == "macro"


def test_several_tasks_are_a_suite(folder, run_here, shown):
    tasks = SCORES.replace("system,", "task,system,")
    rows = [f"{t},{line}" for t in "xy" for line in SCORES.splitlines()[1:]]
    (folder / "tasks.csv").write_text("\n".join([tasks.splitlines()[0], *rows]), encoding="utf-8")
    for command, ask in (("compare", es.compare_logs), ("estimate", es.estimate_logs)):
        for options in ({}, {"aggregate": "macro"}, {"task": ["x"]}):
            typed = [f for name, value in options.items() for f in (f"--{name}", *listed(value))]
            expected = ask("tasks.csv", n_resamples=99, **options)
            assert shown(command, "tasks.csv", *typed) == expected.to_dict()
    code, _, err = run_here("power", "tasks.csv")
    assert code == 2
    assert "--task and --filter must choose one of x, y" in err


def listed(value):
    return value if isinstance(value, list) else [value]


def test_a_gate_for_one_metric(folder, run_here):
    (folder / "c.csv").write_text("system,id,acc,f1\nC,1,1,5\nC,2,0,5\n", encoding="utf-8")
    (folder / "d.csv").write_text("system,id,acc,f1\nD,1,1,1\nD,2,0,1\n", encoding="utf-8")
    asked = ("gate", "d.csv", "--baseline", "c.csv", "--metric", "acc", "--margin", "0.5")
    code, out, _ = run_here(*asked)
    assert code == 3
    assert "UNDECIDED: D against C" in out
    assert "f1" not in out
    assert [run_here(*asked, "--undecided", x)[0] for x in ("pass", "fail")] == [0, 1]
    code, out, err = run_here(*asked[:3], "nowhere.csv", *asked[4:])
    assert (code, out) == (2, "")
    assert "gate needs at least 2 systems" in err
    code, _, err = run_here("gate", "scores.csv", "--baseline", "Bee", "--recovery", "0.9")
    assert "--baseline: there is no 'Bee'; there are A, B" in err


def test_a_baseline_is_a_name_or_a_path(folder, shown, run_here):
    named = shown("compare", "a.csv", "b.csv", "--baseline", "B")
    for path in ("b.csv", "./b.csv"):
        assert shown("compare", "a.csv", "b.csv", "--baseline", path) == named
    (folder / "runs").mkdir()
    (folder / "b.csv").rename(folder / "runs" / "b.csv")
    assert shown("compare", "a.csv", "runs/b.csv", "--baseline", "b.csv") == named
    _, out, _ = run_here("gate", "scores.csv", "--baseline", "B", "--margin", "0.9")
    assert "A against B" in out


def test_systems_are_chosen_and_put_in_order(folder, shown):
    found = shown("estimate", "scores.csv", "--systems", "B", "A")
    assert [e["system"] for e in found["estimates"]] == ["B", "A"]


def test_show_prints_what_was_found(folder, run_here):
    code, out, _ = run_here("show", "scores.csv", "a.csv")
    assert code == 0
    assert out == f"{es.read_log('scores.csv')}\n\n{es.read_log('a.csv')}\n"
    code, out, _ = run_here("show", "scores.csv", "-o", "out.txt")
    assert (code, out) == (0, "")
    assert (folder / "out.txt").read_text(encoding="utf-8").startswith("scores (table of scores")


def test_missing_scores_are_refused_left_out_or_passed_over(folder, run_here, shown):
    (folder / "gap.csv").write_text(SCORES.replace("B,4,acc,1", "B,4,acc,"), encoding="utf-8")
    code, _, err = run_here("compare", "gap.csv")
    assert code == 2
    assert "gap.csv, acc: 1 of 8 scores is missing (1 of B); complete it, or" in err
    found = shown("compare", "gap.csv", "--missing", "intersect")
    assert [e["n_segments"] for e in found["estimates"]] == [3, 3]
    found = shown("compare", "gap.csv", "--missing", "available")
    assert [e["score"] for e in found["estimates"]] == pytest.approx([3 / 4, 2 / 3])
    assert any("1 of 8 scores is missing (1 of B)" in note for note in found["notes"])


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("compare", "scores.csv", "x.npz"), "give files of statistics (.npz) or logs, not both"),
        (
            ("compare", "scores.csv", "-i", "a.txt"),
            "give either scores.csv or texts as -i, not both",
        ),
        (("compare", "scores.csv", "-m", "bleu"), "there is no metric 'bleu'; there are acc"),
        (("rank", "scores.csv", "--tokenize", "char"), "--tokenize is for texts"),
        (("compare", "scores.csv", "--scores", "a.csv"), "--scores is for texts"),
        (("compare", "x.npz", "--scores", "a.csv"), "--scores is for texts: x.npz has its own"),
        (("compare", "x.npz", "--task", "x"), "--task says nothing of x.npz"),
        (("compare", "-i", "a.txt", "--missing", "error"), "--missing is for logs and tables"),
        (
            ("compare", "a.csv", "b.csv", "--names", "x"),
            "--names needs a name of its own for each of the 2 logs",
        ),
        (
            ("compare", "a.csv", "b.csv", "--names", "x", "x"),
            "--names needs a name of its own for each of the 2 logs",
        ),
        (("compare", "scores.csv", "--names", "x"), "scores.csv has 2, which have names"),
        (("compare", "scores.csv", "--groups", "docs.txt"), "the items have no label 'docs.txt'"),
        (("compare", "a.csv"), "compare needs at least 2 systems"),
        (("compare", "none.csv"), "cannot read none.csv: it does not exist"),
        (("compare", "."), ". is none of the formats that can be read"),
        (("compare", "a.txt"), "a.txt is neither statistics (.npz) nor a log"),
        (("compare", "-"), "- is neither statistics (.npz) nor a log"),
        (("audit", "scores.csv"), "sacreBLEU has BLEU, chrF and TER, and no acc"),
        (
            ("compare", "scores.csv", "--metric", "acuracy"),
            "there are acc; did you mean 'acc'?",
        ),
        (("compare", "scores.csv", "--systems", "C"), "there is no 'C'"),
        (
            ("compare", "judge.csv"),
            "is not known; give --higher-is-better judge, or --lower-is-better judge",
        ),
        (("compare", "a.csv", "a.csv"), "a.csv is given more than once; give --names"),
        (("show",), "show needs a path"),
        (("compare", "scores.csv", "-o", "scores.csv"), "-o scores.csv is the input scores.csv"),
    ],
)
def test_what_cannot_be_mixed_is_one_line(folder, run_here, arguments, message):
    code, out, err = run_here(*arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err


def scores_of(sample, first=1, names=SYSTEMS):
    rows = [
        f"{name},{i + first},{(7 * i + j) % 10}"
        for j, name in enumerate(names)
        for i in range(len(sample.references))
    ]
    return "\n".join(["system,line,COMET", *rows])


@pytest.fixture
def beside(files, run_here, monkeypatch):
    """Put scores beside texts; return what `estimate` prints."""
    monkeypatch.chdir(files)

    def beside(scores, *options):
        (files / "scores.csv").write_text(scores, encoding="utf-8")
        inputs = [f"{name}.txt" for name in SYSTEMS]
        return run_here(
            "estimate", "-i", *inputs, "-r", "ref.A.txt", "-m", "ter", "--scores", "scores.csv",
            "--resamples", "99", *options,
        )  # fmt: skip

    return beside


def test_scores_stand_beside_metrics_of_texts(beside, sample):
    code, out, _ = beside(scores_of(sample), "-f", "json")
    assert code == 0
    found = json.loads(out)["estimates"]
    assert [e["metric"] for e in found] == ["TER"] * 3 + ["COMET"] * 3
    turned = [f"{name}.txt" for name in reversed(SYSTEMS)]
    other = json.loads(beside(scores_of(sample, 0, turned), "-f", "json")[1])["estimates"]
    assert [e["score"] for e in other[3:]] == [e["score"] for e in reversed(found[3:])]


def test_scores_of_other_references_do_not_go_with_texts(files, beside, sample):
    lines = (files / "ref.A.txt").read_text(encoding="utf-8").splitlines()
    segments = [{"mt": "-", "ref": f"{line} ", "COMET": i / 480} for i, line in enumerate(lines)]
    judge = scores_of(sample).replace("COMET", "judge score")
    for reference, code in ((lines[6], 0), ("another", 2)):
        segments[6]["ref"] = reference
        scores = json.dumps(dict.fromkeys(SYSTEMS, segments))
        (files / "comet.json").write_text(scores, encoding="utf-8")
        found, _, err = beside(judge, "--scores", "comet.json")
        assert found == code
    assert (
        "scores (COMET) of other references than the texts: 1 of 480 differ, that of line 7" in err
    )


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda s: s.replace("copy,", "other,"), "has no scores (COMET) of 'copy'; it has"),
        (lambda s: s.replace(",480,", ",481,"), "must be named by the numbers of their lines"),
        (lambda s: "\n".join(r for r in s.split("\n") if ",480," not in r), "of 479 segments but"),
    ],
)
def test_scores_that_do_not_fit_texts(beside, sample, change, message):
    code, _, err = beside(change(scores_of(sample)))
    assert code == 2
    assert message in err


@pytest.mark.thorough
def test_autorank_of_wmt25_in_one_command(run_here):
    """Documents as groups, two missing scores: the organisers' scale to their 0.05."""
    options = ("--groups", "document", "--missing", "available", "--composite", "autorank")
    code, out, _ = run_here("rank", str(wmt25()), *options, "--resamples", "99", "-f", "json")
    assert code == 0
    found = {s["system"]: s["score"] for s in json.loads(out)["systems"]}
    published = WMT / "wmt25" / "en-ar_EG" / "published-autorank.tsv"
    lines = [line.split("\t") for line in published.read_text(encoding="utf-8").splitlines()[1:]]
    assert len(lines) == len(found) == 37
    names = {"Shy-hunyuan-MT": "Shy", "CommandA-WMT": "CommandA-MT"}
    for name, score, *_ in lines:
        plain = names.get(name, name.removesuffix("[M]").removesuffix("-pre."))
        assert found[plain] == pytest.approx(float(score), abs=0.05)
    assert any("2 of 12,284 scores are missing" in note for note in json.loads(out)["notes"])


def test_names_that_look_like_arguments_stay_as_they_are(tmp_path, monkeypatch, run_here):
    monkeypatch.chdir(tmp_path)
    rows = [f"{name},{i},{i % 2}" for name in ("lr=0.1", "seed=2") for i in range(3)]
    (tmp_path / "s.csv").write_text("\n".join(["system,id,acc", *rows]), encoding="utf-8")
    _, out, _ = run_here("estimate", "s.csv", "--resamples", "9")
    assert [line.split()[0] for line in out.splitlines()[4:6]] == ["lr=0.1", "seed=2"]
    code, _, err = run_here("compare", "s.csv", "--baseline", "lr=0.2")
    assert code == 2
    assert "no 'lr=0.2'; there are lr=0.1, seed=2" in err
