"""Logs and tables of scores on the command line."""

import json
import random

import pytest

import evalstats as es
from evalstats import cli
from tests.conftest import SYSTEMS, WMT
from tests.test_tidy import wmt25

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
    es.SegmentStatistics([[[1, 1], [0, 1]]], ["A"], es.Mean("m")).save(tmp_path / "x.npz")
    return tmp_path


def call(capsys, *arguments):
    try:
        code = cli.main(arguments)
    except SystemExit as stop:
        code = stop.code
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def shown(capsys, *arguments):
    code, out, err = call(capsys, *arguments, "--resamples", "99", "-f", "json")
    assert (code, err) == (0, "")
    return json.loads(out)


def test_compare_and_estimate_are_the_apis(folder, capsys):
    expected = es.compare_runs("scores.csv", n_resamples=99)
    assert shown(capsys, "compare", "scores.csv") == expected.to_dict()
    assert shown(capsys, "compare", "a.csv", "b.csv") == expected.to_dict()
    grouped = es.compare_runs("scores.csv", groups="document", baseline="B", n_resamples=99)
    assert grouped.estimates[0].n_segments == 2
    options = ("--groups", "document", "--baseline", "B")
    assert shown(capsys, "compare", "scores.csv", *options) == grouped.to_dict()
    strata = es.estimate_runs("scores.csv", strata="document", aggregate="macro", n_resamples=99)
    options = ("--strata", "document", "--aggregate", "macro")
    assert shown(capsys, "estimate", "scores.csv", *options) == strata.to_dict()


def test_names_are_those_of_runs(folder, capsys):
    found = shown(capsys, "compare", "a.csv", "b.csv", "--names", "new", "old")
    assert {e["system"] for e in found["estimates"]} == {"new", "old"}


def test_rank_and_power(folder, capsys):
    code, out, _ = call(capsys, "rank", "scores.csv", "--resamples", "99", "--metric", "acc")
    assert code == 0
    assert out.startswith("Ranks by acc")
    code, out, _ = call(capsys, "power", "a.csv", "b.csv", "--resamples", "99", "--segments", "99")
    assert code == 0
    assert out.startswith("acc ↑, 99 segments (pilot 4)")


def test_which_part_of_a_run(folder, capsys):
    table = "model,id,task,filter,acc\nm,1,x,none,1\nm,2,x,none,0\nm,1,x,strict,0\nm,2,x,strict,0\n"
    (folder / "run.csv").write_text(table, encoding="utf-8")
    for options in (["--filter", "none"], ["--metric", "acc,none"], ["--metric", "a*,n*"]):
        found = shown(capsys, "estimate", "run.csv", "--task", "x", *options)
        assert found["estimates"][0]["score"] == 0.5
    code, _, err = call(capsys, "estimate", "run.csv", "--task", "y")
    assert code == 2
    assert "run.csv has nothing of task y; it has x: acc; x (strict): acc" in err
    (folder / "run.csv").write_text(table.replace("2,x,strict", "3,x,strict"), encoding="utf-8")
    code, _, err = call(capsys, "rank", "run.csv")
    assert code == 2
    assert "--task and --filter must choose one of x, x (strict)" in err


def test_several_tasks_are_a_suite(folder, capsys):
    tasks = SCORES.replace("system,", "task,system,")
    rows = [f"{t},{line}" for t in "xy" for line in SCORES.splitlines()[1:]]
    (folder / "tasks.csv").write_text("\n".join([tasks.splitlines()[0], *rows]), encoding="utf-8")
    for command, ask in (("compare", es.compare_runs), ("estimate", es.estimate_runs)):
        for options in ({}, {"aggregate": "macro"}, {"task": ["x"]}):
            typed = [f for name, value in options.items() for f in (f"--{name}", *listed(value))]
            expected = ask("tasks.csv", n_resamples=99, **options)
            assert shown(capsys, command, "tasks.csv", *typed) == expected.to_dict()
    code, _, err = call(capsys, "power", "tasks.csv")
    assert code == 2
    assert "--task and --filter must choose one of x, y" in err


def listed(value):
    return value if isinstance(value, list) else [value]


def test_a_gate_for_one_metric(folder, capsys):
    (folder / "c.csv").write_text("system,id,acc,f1\nC,1,1,5\nC,2,0,5\n", encoding="utf-8")
    (folder / "d.csv").write_text("system,id,acc,f1\nD,1,1,1\nD,2,0,1\n", encoding="utf-8")
    code, out, _ = call(capsys, "gate", "c.csv", "d.csv", "--margin", "0.5", "--metric", "acc")
    assert code in (0, 3)
    assert "acc" in out
    assert "f1" not in out


def test_show_prints_what_was_found(folder, capsys):
    code, out, _ = call(capsys, "show", "scores.csv", "a.csv")
    assert code == 0
    assert out == f"{es.read_run('scores.csv')}\n\n{es.read_run('a.csv')}\n"
    code, out, _ = call(capsys, "show", "scores.csv", "-o", "out.txt")
    assert (code, out) == (0, "")
    assert (folder / "out.txt").read_text(encoding="utf-8").startswith("scores (table of scores")


def test_missing_scores_are_refused_left_out_or_passed_over(folder, capsys):
    (folder / "gap.csv").write_text(SCORES.replace("B,4,acc,1", "B,4,acc,"), encoding="utf-8")
    code, _, err = call(capsys, "compare", "gap.csv")
    assert code == 2
    assert "gap.csv, acc: 1 of 8 scores is missing (1 of B); complete it, or" in err
    found = shown(capsys, "compare", "gap.csv", "--missing", "intersect")
    assert [e["n_segments"] for e in found["estimates"]] == [3, 3]
    found = shown(capsys, "compare", "gap.csv", "--missing", "available")
    assert [e["score"] for e in found["estimates"]] == pytest.approx([3 / 4, 2 / 3])
    assert any("1 of 8 scores is missing (1 of B)" in note for note in found["notes"])


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("compare", "scores.csv", "x.npz"), "x.npz is a file of statistics and scores.csv is not"),
        (("compare", "scores.csv", "-i", "a.txt"), "-i is for texts: scores.csv has its own"),
        (("compare", "scores.csv", "-m", "bleu"), "-m is for texts: scores.csv has its own"),
        (("rank", "scores.csv", "--tokenize", "char"), "--tokenize is for texts"),
        (("compare", "scores.csv", "--scores", "a.csv"), "--scores is for texts"),
        (("compare", "x.npz", "--scores", "a.csv"), "--scores goes with texts (-i), not with x.np"),
        (("compare", "x.npz", "--task", "x"), "--task is for logs and tables of scores, and none"),
        (("compare", "-i", "a.txt", "--missing", "error"), "--missing is for logs and tables"),
        (("compare", "a.csv", "b.csv", "--names", "x"), "--names needs one name for each of the 2"),
        (("compare", "a.csv", "b.csv", "--names", "x", "x"), "--names must differ, got x x"),
        (("compare", "scores.csv", "--names", "x"), "has 2 systems, which have names"),
        (("compare", "scores.csv", "--groups", "docs.txt"), "have no 'docs.txt'"),
        (("compare", "a.csv"), "compare needs at least 2 systems"),
        (("compare", "none.csv"), "cannot read none.csv: it does not exist"),
        (("compare", "."), ". is none of the formats that can be read"),
        (("compare", "a.txt"), "a.txt is neither statistics (.npz) nor a log"),
        (("compare", "-"), "- is neither statistics (.npz) nor a log"),
        (("audit", "scores.csv"), "scores.csv is not a file of statistics (.npz)"),
        (("show", "x.npz"), "x.npz is none of the formats"),
        (("show",), "show needs a path"),
        (("compare", "scores.csv", "-o", "scores.csv"), "-o scores.csv is the input scores.csv"),
    ],
)
def test_what_cannot_be_mixed_is_one_line(folder, capsys, arguments, message):
    code, out, err = call(capsys, *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err


def beside(files, capsys, monkeypatch, scores, *options):
    monkeypatch.chdir(files)
    (files / "scores.csv").write_text(scores, encoding="utf-8")
    inputs = [f"{name}.txt" for name in SYSTEMS]
    return call(
        capsys, "estimate", "-i", *inputs, "-r", "ref.A.txt", "-m", "ter",
        "--scores", "scores.csv", "--resamples", "99", *options,
    )  # fmt: skip


def scores_of(sample, first=1, names=SYSTEMS):
    rows = [
        f"{name},{i + first},{(7 * i + j) % 10}"
        for j, name in enumerate(names)
        for i in range(len(sample.references))
    ]
    return "\n".join(["system,line,COMET", *rows])


def test_scores_stand_beside_metrics_of_texts(files, capsys, monkeypatch, sample):
    code, out, _ = beside(files, capsys, monkeypatch, scores_of(sample), "-f", "json")
    assert code == 0
    found = [e["metric"] for e in json.loads(out)["estimates"]]
    assert found == ["TER"] * 3 + ["COMET"] * 3
    turned = [f"{name}.txt" for name in reversed(SYSTEMS)]
    other = beside(files, capsys, monkeypatch, scores_of(sample, 0, turned), "-f", "json")[1]
    one, two = (json.loads(text)["estimates"] for text in (out, other))
    assert [e["score"] for e in two[3:]] == [e["score"] for e in reversed(one[3:])]


def test_scores_of_other_references_do_not_go_with_texts(files, capsys, monkeypatch, sample):
    lines = (files / "ref.A.txt").read_text(encoding="utf-8").splitlines()
    segments = [{"mt": "-", "ref": f"{line} ", "COMET": i / 480} for i, line in enumerate(lines)]
    for reference, code in ((lines[6], 0), ("another", 2)):
        segments[6]["ref"] = reference
        scores = json.dumps(dict.fromkeys(SYSTEMS, segments))
        (files / "comet.json").write_text(scores, encoding="utf-8")
        judge = scores_of(sample).replace("COMET", "judge")
        found, _, err = beside(files, capsys, monkeypatch, judge, "--scores", "comet.json")
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
def test_scores_that_do_not_fit_texts(files, capsys, monkeypatch, sample, change, message):
    code, _, err = beside(files, capsys, monkeypatch, change(scores_of(sample)))
    assert code == 2
    assert message in err


@pytest.mark.thorough
def test_autorank_of_wmt25_in_one_command(capsys):
    """Documents as groups, two missing scores: the organisers' scale to their 0.05."""
    options = ("--groups", "document", "--missing", "available", "--composite", "autorank")
    code, out, _ = call(capsys, "rank", str(wmt25()), *options, "--resamples", "99", "-f", "json")
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


#: Options of runs, of texts and of neither, most of them right.
_OPTIONS = [
    ["--task", "x*"], ["--task", "*"], ["--metric", "acc"], ["--metric", "acc,none"],
    ["--metric", "["], ["--filter", ""], ["--groups", "document"], ["--strata", "document"],
    ["--aggregate", "macro"], ["--missing", "intersect"], ["--missing", "available"],
    ["--names", "x", "y"], ["--names", "é"], ["--baseline", "A"], ["--scores", "a.csv"],
    ["-i", "a.csv"], ["-m", "ter"], ["-f", "csv"], ["--margin", "0.1"], ["--method", "t"],
]  # fmt: skip
_PATHS = [
    "scores.csv",
    "a.csv",
    "b.csv",
    "gap.csv",
    "tasks.csv",
    "wide.csv",
    "bad.csv",
    "x.npz",
    ".",
]


def _fuzz(folder, capsys, count):
    rng = random.Random(11)
    (folder / "gap.csv").write_text(SCORES.replace("B,4,acc,1", "B,4,acc,"), encoding="utf-8")
    rows = [f"{t},{line}" for t in "xy" for line in SCORES.splitlines()[1:]]
    header = "task,system,segment,metric,score,document"
    (folder / "tasks.csv").write_text("\n".join([header, *rows]), encoding="utf-8")
    (folder / "wide.csv").write_text("id,A,B,C\n1,1,2,3\n2,2,1,3\n3,1,1,1\n", encoding="utf-8")
    (folder / "bad.csv").write_bytes(b"system,id,score\nA,1,\xff\n")
    codes = []
    for _ in range(count):
        command = rng.choice(("compare", "compare", "estimate", "rank", "power", "show"))
        some = [
            word for option in rng.sample(_OPTIONS, rng.choice((0, 1, 1, 2))) for word in option
        ]
        paths = rng.sample(_PATHS, rng.choice((0, 1, 1, 2)))
        resamples = [] if command == "show" else ["--resamples", "19"]
        code, out, err = call(capsys, command, *paths, *some, *resamples)
        codes.append(code)
        assert (code, bool(out), err) == (0, True, "") or (
            (code, out, err.count("\n")) == (2, "", 1) and "error: " in err
        ), (command, paths, some, err)
    assert {0, 2} == set(codes)


def test_a_result_or_one_line(folder, capsys):
    _fuzz(folder, capsys, 20)


@pytest.mark.thorough
def test_a_result_or_one_line_many_times(folder, capsys):
    _fuzz(folder, capsys, 300)
