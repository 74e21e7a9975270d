"""Tables of scores that people have: long or wide, in files or frames, whole or not."""

import csv
import gzip
import json
import re
from collections import defaultdict
from types import SimpleNamespace

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings

import evalstats as es
from evalstats.cli import main
from evalstats.logs.rows import Key
from evalstats.metrics.ratios import MeanOfRuns
from tests import log_files
from tests.conftest import WMT
from tests.helpers import bad_cases, cases, refuses
from tests.log_files import direction, text_of

HEADER, *LONG = csv.reader(log_files.LONG.splitlines())
KEY = Key("", "COMET")


@pytest.fixture
def read(tmp_path):
    """Read a text as a file of this name."""

    def from_text(text, name="scores.csv", **options):
        path = tmp_path / name
        data = text if isinstance(text, bytes) else text.encode("utf-8")
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return es.read_log(path, **options)

    return from_text


def check_long(run):
    table = run.tables[KEY]
    assert table.systems == ("A", "B")
    assert table.segment_ids == ("s1", "s2", "s10")
    assert table.labels == {"document": ("d1", "d1", "d2")}
    assert table.values[:, :, 0].tolist() == [[0.5, 0.25, 1.0], [0.75, 0.5, 0.25]]
    assert table.metric == es.Mean("COMET")
    assert not run.incomplete
    assert not run.skipped


@cases(
    ("scores.CSV", lambda text: text),
    ("scores.csv.gz", lambda text: text),
    ("scores.csv", lambda text: text.replace(",", ";")),
    ("scores.tsv", lambda text: text.replace(",", "\t")),
    ("scores.csv", lambda text: text.replace(",", "\t")),
    ("scores.csv", lambda text: "\ufeff" + text),
    ("scores.csv", lambda text: text.replace("\n", "\r\n").rstrip()),
    ("scores.csv", lambda text: text.replace("\n", "\r")),
    ("scores.tsv", lambda text: text.replace("\n", "\r").replace(",", "\t")),
    ("scores.csv", lambda text: text.replace("\n", "\n\n")),
    ("scores.csv", lambda text: text.replace("COMET", '"COMET"')),
    ("scores.tsv", lambda text: '"' + text.replace(",", '"\t"').replace("\n", '"\n"')[:-1]),
    ("scores.csv", lambda text: text.replace("system,segment,score", "SYS,Item ID,Value")),
    ("scores.csv", lambda text: text.replace("system,segment", "SYS,SID")),
    ("scores.csv", lambda text: text.replace(",", " , ")),
)
def test_spellings_of_one_table(name, change, read):
    check_long(read(change(text_of(LONG, HEADER)), name))


def test_json_lines_are_a_table(read):
    inner = {"doc": {"passage_id": 7, "x": [1]}, "topic": ["law", 0]}
    lines = [json.dumps({**dict(zip(HEADER, row, strict=True)), **inner}) for row in LONG]
    run = read("\ufeff" + "\n\n".join(lines), "scores.jsonl.gz", labels="doc.passage_id")
    labels = run.tables[KEY].labels
    assert labels["doc.passage_id"] == ("7", "7", "7")
    assert labels["topic"] == ('["law", 0]',) * 3
    good = {"system": "A", "segment": 1, "score": 1}
    for bad, message in (
        ({**good, "segment": None}, "line 3: 'segment' must be the name of a segment"),
        ([1], "line 3 must be a JSON object"),
        ({**good, "score": [1]}, "line 3: 'score' must be a number"),
        ({**good, "score": 10**400}, "line 3: 'score' must be a number"),
    ):
        refuses(message, read, f"{json.dumps(good)}\n\n{json.dumps(bad)}", "scores.jsonl")


def test_wide_tables_have_a_column_a_metric_or_a_system(read):
    run = read(
        "system,segment,COMET,TER ↓,ours ↑\nA,1,0.5,20,3\nB,1,0.25,10,4\nA,2,1,0,5\nB,2,1,0,5"
    )
    assert [key.metric for key in run.tables] == ["COMET", "TER", "ours"]
    assert [t.metric.higher_is_better for t in run.tables.values()] == [True, False, True]
    assert run.tables[Key("", "TER")].scores.tolist() == [10, 5]
    expected = es.SegmentStatistics(
        [[[1, 1], [3, 1]], [[2, 1], [5, 1]]], ["x", "y"], es.Mean("BLEU"), segment_ids=["1", "2"]
    )
    assert dict(read("id,metric,x,y\n1,BLEU,1,2\n2,BLEU,3,5").tables) == {Key("", "BLEU"): expected}
    assert read("id,x,y\n1,1,2\n2,3,5").tables[Key("", "score")].systems == ("x", "y")


def test_a_table_of_one_system_has_the_name_of_its_file(read):
    for text in ("id,score\na,1\nb,2", "id,COMET,BLEU\na,1,3\nb,2,4", "id,quality\na,1\nb,2"):
        run = read(text, "model-7b.v2.csv")
        assert run.systems == ("model-7b.v2",)
    assert list(run.tables) == [Key("", "quality")]
    assert read("id,score\na,1\nb,2", name="scores.csv").systems == ("scores",)


@pytest.mark.parametrize(
    "header, higher", [("correct,total", True), ("Errors,Words", False), ("sum,count", None)]
)
def test_sums_are_ratios(read, header, higher):
    name = header.replace(",", "/")
    text = f"system,utt,{header}\nA,1,1,10\nA,2,3,20\nB,1,0,10\nB,2,2,20"
    directions = {name: "lower"} if higher is None else None
    (table,) = read(text, directions=directions).tables.values()
    assert table.metric == es.Ratio(name, higher_is_better=bool(higher))
    assert table.scores.tolist() == pytest.approx([4 / 30, 2 / 30])


@cases(
    (
        [
            "word_perplexity", "eval_loss", "WER norm", "TER ↓", "MAE", "bits_per_byte",
            "Fluency errors", "cpWER", "error rate", "MetricX-24", "failed",
            "hallucination_score", "Hallucination rate", "harmfulness", "bias score", "cost_usd",
            "response time (s)",
        ],
        False,
    ),
    (
        [
            "COMET-22-refA", "chrF++", "F1", "exact_match", "ours ↑", "score", "GEMBA-ESA",
            "loss of accuracy ↑", "rouge1", "passed", "success", "resolved", "win_rate",
            "harmless score", "reference-free COMET", "first-time accuracy", "BLEU no case",
        ],
        True,
    ),
    (["judge", "quality", "loss of accuracy", "tower", "year", "sum", "not_harmful score"], None),
)  # fmt: skip
def test_directions_are_what_names_say_or_asked_for(names, higher, read):
    for name in names:
        text = f"system,id,metric,score\nA,1,{name},4.5\n"
        if higher is None:
            words = rf"directions=\{{'{name}': 'higher'\}}, or directions=\{{'{name}': 'lower'\}}"
            refuses(words, direction, read(text))
            assert not direction(read(text, directions={name: "lower"}))
        else:
            assert direction(read(text)) is higher, name
    # Errors with the sign turned
    assert direction(read("system,id,MetricX-24\nA,1,-4.5\n"))


def test_a_column_that_is_not_asked_for_replaces_none_that_is(read):
    def metrics(header, **options):
        log = read(f"{header}\nA,1,0.5,20,3\nB,1,0.25,10,4\n", **options)
        return [key.metric for key in log.tables], log.skipped

    assert metrics("system,segment,chrF,duration,cost")[0] == ["chrF"]
    assert metrics("system,segment,COMET,errors,words") == (
        ["COMET"],
        ("column 'errors': scores are in 'COMET' (metric=\"errors/words\" reads it)",
         "column 'words': scores are in 'COMET' (metric=\"errors/words\" reads it)"),
    )  # fmt: skip
    words = "errors/words"
    assert metrics("system,segment,COMET,errors,words", metric=words)[0] == [words]
    assert metrics("system,segment,BLEU,year,judge")[0] == ["BLEU"]
    assert metrics("system,segment,BLEU,year,judge", metric="judge")[0] == ["judge"]
    assert metrics("system,segment,score,COMET,length")[0] == ["score", "COMET"]
    assert metrics("system,segment,score,sum,count")[0] == ["score"]
    assert metrics("system,segment,mine,ours,year")[0] == ["mine", "ours"]
    assert es.read_log.__name__ == "read_log"


@pytest.mark.parametrize("nothing", ["", "NA", "NaN", "None", "null", "N/A", "<NA>", None])
def test_missing_scores_are_counted_and_left_out_of_means(read, nothing):
    lost = [(*LONG[1][:2], nothing, *LONG[1][3:])] * (nothing is not None)
    run = read(text_of([LONG[0], *lost, *LONG[2:]], HEADER))
    assert run.incomplete == {KEY: "1 of 6 scores is missing (1 of A)"}
    assert run.tables[KEY].values[0].tolist() == [[0.5, 1], [0, 0], [1, 1]]
    assert run.tables[KEY].scores[0] == 0.75


def test_of_many_systems_some_are_named_that_miss_scores(read):
    many = [(f"S{i}", "1", 1, "m", "d") for i in range(6)] + [("all", "1", 1, "m", "d")]
    run = read(text_of([*many, ("all", "2", 1, "m", "d"), ("none", "2", "", "m", "d")], HEADER))
    expected = "6 of 14 scores are missing (1 of S0, 1 of S1, 1 of S2 and others of 3 more)"
    assert run.incomplete[Key("", "m")] == expected
    assert run.skipped == ("m of none, because it has no score",)


def test_segments_numbered_within_documents(read):
    text = "system,document,line,score\nA,x,1,1\nA,y,1,2\nA,x,2,3\nA,x,10,4\n"
    run = read(text)
    (table,) = run.tables.values()
    assert table.segment_ids == ("x/1", "x/2", "x/10", "y/1")
    assert table.labels["document"] == ("x", "x", "x", "y")
    assert run.format == "table of scores, items are document/line"
    assert "items are document/line" in str(run)


def test_several_answers_to_a_segment_are_epochs(read):
    scores = np.random.default_rng(3).integers(2, size=(2, 3, 9))  # of systems, epochs, segments
    places = np.random.default_rng(4).permutation(list(np.ndindex(2, 3, 9)))
    rows = [["AB"[s], n, epoch + 1, scores[s, epoch, n]] for s, epoch, n in places]
    header = ["system", "segment", "epoch", "accuracy"]
    (mean,) = read(text_of(rows, header)).tables.values()
    assert mean.values[:, :, 0].tolist() == pytest.approx(scores.mean(axis=1))
    (runs,) = read(text_of(rows, header), epochs="runs").tables.values()
    assert runs.metric == MeanOfRuns(es.Mean("accuracy"), 3)
    assert np.array_equal(runs.values[:, :, ::2], scores.transpose(0, 2, 1))
    rows[5][2] = "first"
    refuses(r"line 7: 'epoch' must be .*'first'", read, text_of(rows, header))


@pytest.mark.parametrize("name", ["seed", "Run", "trial", "repeat", "run_id"])
def test_runs_and_seeds_are_epochs_where_segments_have_several_scores(read, name):
    rows = [[s, n, seed, (s == "A") * n / seed] for s in "AB" for n in (1, 2) for seed in (7, 11)]
    header = ["system", "segment", name, "accuracy"]
    told, expected = (
        read(text_of(rows, [h.replace(name, called) for h in header]), epochs="runs")
        for called in (name, "epoch")
    )
    assert dict(told.tables) == dict(expected.tables)
    # Of a system each, they are nothing that items have in common.
    once = [[s, n, "AB".index(s), 0.5 * n] for s in "AB" for n in (1, 2)]
    (table,) = read(text_of(once, header)).tables.values()
    assert table.values[:, :, 0].tolist() == [[0.5, 1.0], [0.5, 1.0]]
    # Runs may have names; one that is empty is refused.
    texts = [[*row[:2], f"x{row[2]}", row[3]] for row in rows]
    assert dict(read(text_of(texts, header), epochs="runs").tables) == dict(expected.tables)
    refuses("has two scores", read, text_of([[*texts[0][:2], "", 1], *texts[1:]], header))
    grouped = read(text_of([[*row[:2], row[1] % 2, 1] for row in once], header), labels=name)
    assert grouped.rows[0].items.labels[name] == ("1", "0")


@pytest.mark.parametrize(
    ("cells", "expected"),
    [("CIPN", [1, 0, 0.5, 0]), (["yes", "No", "YES", "no"], [1, 0, 1, 0]), (["C", "", "I", "C"], [1, 0, 0, 1])],
)  # fmt: skip
def test_grades_are_scores_that_are_better_when_higher(read, cells, expected):
    rows = [[s, n, cell] for s in "AB" for n, cell in enumerate(cells)]
    for name in ("score", "acc"):
        (table,) = read(text_of(rows, ["system", "segment", name])).tables.values()
        assert table.values[0, :, 0].tolist() == expected
        assert table.metric.higher_is_better
    (table,) = read(text_of(rows, ["system", "segment", "judge"]), metric="judge").tables.values()
    assert table.metric.higher_is_better


def test_texts_that_may_be_grades_are_not_taken_for_scores(read):
    # Letters of choices, and labels of yes and no, beside scores.
    rows = [[n, "ABCI"[n], ["yes", "no"][n % 2], n / 4, n / 8] for n in range(4)]
    log = read(text_of(rows, ["id", "answer", "seen", "gpt", "llama"]))
    assert log.systems == ("gpt", "llama")
    grades = [[n, "CI"[n % 2], "IC"[n % 2]] for n in range(4)]
    log = read(text_of(grades, ["id", "gpt", "llama"]))
    assert log.systems == ("gpt", "llama")
    refuses(r"line 2: 'score' must be a number .* got 'C'", read, "id,score\na,C\nb,maybe\n")


def test_a_frame_of_inspect_goes_in():
    pd = pytest.importorskip("pandas")
    rows = [
        {"sample_id": f"{model}{i}{epoch}", "eval_id": model, "model": f"m/{model}",
         "task_name": "arc", "task_version": 1, "task_arg_fewshot": 0, "id": str(i), "epoch": epoch,
         "input": "?", "target": "A", "metadata_level": i, "score_match": "CI"[(i + epoch) % 2],
         "score_judge": 0.25 * i, "score_judge_explanation": "since", "total_tokens": 70 * i,
         "total_time": 1.5, "error": ""}
        for model in "ab" for i in range(5) for epoch in (1, 2)
    ]  # fmt: skip
    frame = pd.DataFrame(rows)
    log = es.read_log(frame, labels="metadata_level")
    assert log.systems == ("m/a", "m/b")
    keys = [("arc", "score_match", ""), ("arc", "score_judge", "")]
    assert [tuple(key) for key in log.tables] == keys
    assert [table.scores.tolist() for table in log.tables.values()] == [[0.5, 0.5], [0.5, 0.5]]
    assert log.tables["arc", "score_match", ""].segment_ids == tuple("01234")
    assert log.rows[0].items.labels["metadata_level"][:4] == ("0", "0", "1", "1")
    assert len(list(es.compare_logs(frame, metric="score_match", n_resamples=9))) == 1


@pytest.mark.parametrize("epoch", ["1e300", "-1e16", "0.5"])
def test_an_epoch_is_a_whole_number_that_can_be_counted(read, epoch):
    text = f"id,epoch,score\na,1,0.5\na,{epoch},0.25\n"
    message = f"'epoch' must be a whole number, the number of the answer, got '?{epoch}".replace
    refuses(message("+", r"\+"), read, text)
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"id": ["a", "a"], "epoch": [1.0, float(epoch)], "score": [0.5, 0.25]})
    refuses("the frame, row 1: 'epoch' must be a whole number", es.read_log, frame)


def test_labels_are_kept_by_name_or_when_asked_for(read):
    text = "system,id,score,Domain,colour,prompt_hash,source,time\nA,1,1,news,red,7f,The cat,9\n"
    run = read(text)
    (table,) = run.tables.values()
    assert {name: labels[0] for name, labels in table.labels.items() if name != "source_hash"} == {
        "Domain": "news",
        "prompt_hash": "7f",
    }
    assert len(table.labels["source_hash"][0]) == 16
    expected = ["column 'colour', which is text", "column 'time'"]
    assert [line.split(":")[0] for line in run.skipped] == expected
    (table,) = read(text, labels=["colour", "domain"]).tables.values()
    assert (table.labels["colour"], table.labels["domain"]) == (("red",), ("news",))
    refuses(r"scores.csv: the items have no label 'shape'; available", read, text, labels="shape")


@bad_cases(
    ("", r"has no rows below its header"),
    ("system,id,score\nA,1,x\n",
     r"line 2: 'score' must be a number such as 0.5, or empty .* got 'x'"),
    ("system,id,score\n\nA,1,1\n\nA,2,1_0\n", r"line 5: 'score' must be .* got '1_0'"),
    ("system,id,score\nA,1,inf\n", r"line 2: 'score' must be .* got 'inf'"),
    ("system,id,score\nA,1,٣\n", r"line 2: 'score' must be .* got '٣'"),
    ('system,id,score\nA,1,"0,5"\n', r"line 2: 'score' must be .* got '0,5'"),
    ("system,id,score\nA,1,1\n,2,1\n", r"line 3: 'system' must be the name of a system, got ''"),
    ("system,id,score\nA,,1\n", r"line 2: 'id' must be the name of a segment, got ''"),
    ("system,id,score\nA,1,1\nA,2,1,4\n", r"line 3 must have 3 cells, one per column of the header, got 4"),
    ('system,id,score\nA,"1,1\n', r"line 2: unexpected end of data"),
    ('system,id,score\nA,"1"x,1\n', r"line 2: .*expected after"),
    ("system,id,score\nA,1,1\nA,2,1\nA,1,2\n",
     "has two scores for system 'A', segment '1' and.* in line 2 and line 4. Keep only one"),
    ("system,id,id,score\nA,1,1,1\n", r"has two columns called 'id'"),
    (
        "system,model,id,score\nA,A,1,1\n",
        r"several columns for the system: 'system', 'model'; choose one with columns=\{'system': 'system'\}",
    ),
    ("system,score\nA,1\nA,2\n", r"has no column that names the segments, among 'system', 'score'"),
    ("model,acc\nA,.71\nB,.74\n", r"one row per model, such as averages, .* score of each item"),
    ("model,seed,acc\nA,1,.7\nA,2,.7\nB,1,.8\n", r"one row per model and seed, such as averages"),
    ("model,lp,acc\nA,x,.7\nA,y,.7\nB,x,.8\n", r"one row per model and lp, such as averages"),
    ("system,id,text\nA,1,x\n", r"has no column of scores \(numbers such as 0\.5\) among 'system'"),
    (
        "id,COMET,mine\n1,1,2\n",
        r"has columns that could be systems or metrics: 'COMET', 'mine'. For systems pass "
        r"columns=\{'COMET': 'system_score', 'mine': 'system_score'\}, and for metrics "
        r"columns=\{'COMET': 'score', 'mine': 'score'\}",
    ),
    ("system,id,score,document\nA,1,1,x\nB,1,1,y\n",
     r"document of segment '1' is 'x' in line 2 and 'y' in line 3; a segment can have only one"),
    ("system,id,m\nA,1,1\nA,2,2\nA,3,x\n", "line 4: 'm' must be a number like the others in this"),
    ("system,id,score\nA,a\u200bb,1\n", r"scores.csv, column 'id': ids must be printable text"),
    ("id;A;B\n1;0,5;0,6\n", r"has no column of scores \(numbers such as 0\.5\) among 'id',"),
    ("system,id,score\n" + "A,%d,1e308\n" * 9 % tuple(range(9)), r"score: the scores are so large"),
    (b"system,id,score\nA,\xff,1\n", r"is not UTF-8: line 2 contains byte 0xff\. Save it as UTF-8"),
)  # fmt: skip
def test_bad_tables_are_refused(text, read):
    read(text)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_are_tables(library):
    frames = pytest.importorskip(library)
    if library == "pyarrow":
        frames = SimpleNamespace(DataFrame=frames.table)
    columns = dict(zip(HEADER, map(list, zip(*LONG, strict=True)), strict=True))
    check_long(es.read_log(frames.DataFrame(columns)))
    if library == "pandas":
        check_long(es.read_log(frames.DataFrame(columns).set_index(["system", "segment"])))
    wide = frames.DataFrame({"id": [1.0, 2.0], "x": [0.5, None], "y": [True, False]})
    run = es.read_log(wide)
    assert run.tables[Key("", "score")].segment_ids == ("1", "2")
    assert run.incomplete == {Key("", "score"): "1 of 4 scores is missing (1 of x)"}
    found = es.compare_logs(wide, missing="available", n_resamples=99)
    assert [e.score for e in found.estimates] == [0.5, 0.5]
    with pytest.raises(es.InputError, match="the frame, row 1: 'score' must be a number"):
        es.read_log(frames.DataFrame({"id": [1, 2], "score": ["1", "x"]}), name="mine")


@cases(
    # Ids come before texts.
    ("question_id,question,score\nq1,What?,1\nq2,Who?,0", {"score": {"q1": 1, "q2": 0}}),
    ("id,prompt,score\nq1,What?,1\nq2,Who?,0", {"score": {"q1": 1, "q2": 0}}),
    ("line,document,score\n1,x,1\n2,x,0", {"score": {"1": 1, "2": 0}}),
    ("doc_id,seg_id,score\nd,q1,1\nd,q2,0", {"score": {"q1": 1, "q2": 0}}),
    # The index that pandas writes is not a score, and yes and no are numbers.
    (",id,BLEU\n0,x,10\n1,y,20", {"BLEU": {"x": 10, "y": 20}}),
    ("id,correct\n1,True\n2,False\n3,true", {"correct": {"1": 1, "2": 0, "3": 1}}),
    # Between tabs, texts may hold quotes.
    ('id\thypothesis\tscore\n1\t"Yes\t1\n2\tthe "end"\t2', {"score": {"1": 1, "2": 2}}),
    (f"id,score,text\n1,1,{'x' * 200_000}\n", {"score": {"1": 1}}),
    # Tasks and filters are tables of their own; language pairs are tasks.
    ("id,task,filter,score\n1,x,none,1\n1,y,none,2\n1,y,flexible,3",
     {"x: score": {"1": 1}, "y: score": {"1": 2}, "y (flexible): score": {"1": 3}}),
    ("lp,id,score\nen-de,1,3\nen-zh,1,5", {"en-de: score": {"1": 3}, "en-zh: score": {"1": 5}}),
    ("lp,task,id,score\nen-de,a,1,3", {"a: score": {"1": 3}}),
)  # fmt: skip
def test_what_columns_are(text, expected, read):
    limit = csv.field_size_limit()
    tables = read(text).tables
    assert {
        str(key): dict(zip(t.segment_ids, t.values[0, :, 0].tolist(), strict=True))
        for key, t in tables.items()
    } == expected
    assert csv.field_size_limit() == limit


def wmt25():
    path = WMT / "wmt25" / "en-ar_EG" / "scores.tsv"
    if not path.is_file():
        pytest.skip("needs ../shared/data")
    return path


@pytest.mark.thorough
def test_wmt25_is_read_with_its_missing_scores():
    run = es.read_log(wmt25())
    assert [t.values.shape for t in run.tables.values()] == [(37, 332, 2)] * 5
    lost = "2 of 12,284 scores are missing (1 of Llama-3.1-8B, 1 of TowerPlus-72B)"
    assert run.incomplete == {Key("", "GEMBA-ESA-CMDA"): lost}
    assert set(next(iter(run.tables.values())).labels) == {"document", "domain"}
    scores = defaultdict(list)
    with open(wmt25(), encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            scores[row["system"]].append([float(row[key.metric] or "nan") for key in run.tables])
    for j, table in enumerate(run.tables.values()):
        expected = [np.nanmean(scores[system], axis=0)[j] for system in table.systems]
        assert table.scores == pytest.approx(expected, rel=1e-12)


_names = st.text(
    st.characters(min_codepoint=33, max_codepoint=0x3FF, categories=["L", "N", "P", "S"]),
    min_size=1,
)
_scores = st.floats(-1e6, 1e6, width=32)


@settings(max_examples=30)
@given(
    st.lists(_names, min_size=1, max_size=3, unique=True),
    st.lists(_names, min_size=1, max_size=4, unique=True),
    st.data(),
)
def test_what_is_written_is_read(tmp_path_factory, systems, segments, data):
    """Any names, any order of rows; rows that are lost are counted, and none is there twice."""
    cells = [(s, i, data.draw(_scores)) for s in systems for i in segments]
    kept = data.draw(st.permutations(cells))[: data.draw(st.integers(1, len(cells)))]
    path = tmp_path_factory.mktemp("any") / "scores.csv"

    def read(rows):
        text = text_of(rows, ("system", "segment", "score"))
        path.write_text(text, encoding="utf-8", newline="")
        return es.read_log(path)

    run = read(kept)
    (table,) = run.tables.values()
    names = [(system, segment) for system in table.systems for segment in table.segment_ids]
    found = dict(zip(names, table.values.reshape(-1, 2), strict=True))
    assert {name: row[0] for name, row in found.items() if row[1]} == {r[:2]: r[2] for r in kept}
    assert bool(run.incomplete) == (len(kept) < len(found))
    refuses("has two scores", read, [*kept, data.draw(st.sampled_from(kept))])


def judged(judges=("claude", "gpt"), n=30):
    marks = np.random.default_rng(2).integers(1, 6, (2, n, len(judges)))
    return [
        {"system": s, "segment": i, "judge": judge, "score": int(marks[a, i, j])}
        for a, s in enumerate("AB")
        for i in range(n)
        for j, judge in enumerate(judges)
    ]


def test_a_column_of_judges_is_named_and_is_metrics_or_is_averaged():
    # Defect: "has two scores", and no word of the column that tells the rows apart.
    rows = judged()
    refuses(r"differ in 'judge': pass columns=\{'judge'", es.read_log, rows)
    log = es.read_log(rows, columns={"judge": "metric"}, directions={"*": "higher"})
    assert [key.metric for key in log.tables] == ["gpt", "claude"][::-1]
    averaged = es.estimate_logs(rows, columns={"judge": "epoch"})
    mean = np.mean([row["score"] for row in rows if row["system"] == "A"])
    assert averaged["A"].score == pytest.approx(mean)
    refuses("^((?!differ in).)*$", es.read_log, [{**row, "judge": "gpt"} for row in rows])


def test_rows_of_python_are_a_table():
    # Defect: only frames of pandas, polars and pyarrow were.
    rows = judged(["gpt"])
    log, frame = es.read_log(rows), es.read_log(pd.DataFrame(rows))
    assert dict(log.tables) == dict(frame.tables)
    with pytest.raises(es.InputTypeError, match="path must be a path or a data frame, got list"):
        es.read_log([*rows, 3])


def test_wmts_assessments_are_separated_by_blanks(tmp_path):
    """Defect: "no column that names the segments, among 'SYS SID RAW.SCR Z.SCR N'"."""
    path = tmp_path / "ad-seg-scores-cs-en.csv"
    lines = ["SYS SID RAW.SCR Z.SCR N ", *(f"{s} {i} 8{i} -0.{i} 2 " for s in "AB" for i in "123")]
    path.write_text("\n".join(lines) + "\n")
    log = es.read_log(path)
    assert [key.metric for key in log.tables] == ["RAW.SCR", "Z.SCR"]
    assert log.tables["", "Z.SCR", ""].values[1, :, 0].tolist() == [-0.1, -0.2, -0.3]
    assert es.compare_logs(log, metric="Z*", n_resamples=9).estimates[0].higher_is_better
    path.write_text("\n".join([*lines, "A 4 1"]))
    refuses("line 8 must have 5 cells, one per column of the header, got 3", es.read_log, path)


@pytest.mark.parametrize("suffix", ["tsv", "csv", None])
def test_a_wide_table_needs_no_names_of_segments(suffix, tmp_path):
    cells = {"gpt": [0.5, 1, None, 3], "llama": [1, 0.25, 1, 2]}
    given = [dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True)]
    if suffix is not None:
        rows = ["gpt\tllama", *(f"{a or ''}\t{b}" for a, b in zip(*cells.values(), strict=True))]
        given = tmp_path / f"wide.{suffix}"
        given.write_text("\n".join(rows))
    result = es.compare_logs(given, missing="intersect", n_resamples=9)
    assert [(e.system, e.n_segments) for e in result.estimates] == [("gpt", 3), ("llama", 3)]
    assert "items have no names, so they are numbered by row" in str(result)
    assert "items are its rows" in str(es.read_log(given))


@pytest.mark.parametrize("column", [["x", "y", "z"], [4, 8, 6], ["a", 1, 2]])
def test_a_column_that_may_name_segments_is_asked_about(column):
    rows = [{"uid": uid, "gpt": 0.5, "llama": 1.5} for uid in column]
    refuses("has no column that names the segments, among 'uid'", es.read_log, rows)


@cases(
    "wort,system,score\nx,A,1\ny,A,0\nx,B,0\ny,B,1\n",
    "system,model,id,score\nA,x,1,1\nA,x,2,0\nB,x,1,0\nB,x,2,1\n",
    "id,COMET,mine\n1,1,2\n2,0.5,1\n",
)
def test_what_a_message_on_columns_says_is_what_helps(text, tmp_path, refused):
    path = tmp_path / "x.csv"
    path.write_text(text)
    command = ["compare", str(path), "--higher-is-better", "*", "--resamples", "99"]
    said = re.search(r"--columns ([^,;]+)", refused(*command))[1]
    assert main([*command, "--columns", *said.split()]) == 0


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_domains_of_a_frame_and_which_call_reads_it(library):
    frames = pytest.importorskip(library)
    rng = np.random.default_rng(1)
    columns = {
        "model": ["A", "B"] * 60,
        "item": np.repeat(np.arange(60), 2).tolist(),
        "category": np.repeat(["x", "y", "z"], 40).tolist(),
        "score": rng.random(120).tolist(),
    }
    frame = (frames.table if library == "pyarrow" else frames.DataFrame)(columns)
    options = {"baseline": "A", "n_resamples": 99}
    found = es.compare_logs(frame, by="category", **options)
    assert found.tasks == ("x", "y", "z")
    assert list(found) == list(es.compare_logs(frame, **options).by("category"))
    of_a_list = es.compare_logs(frame, by=columns["category"][::2], **options)
    assert (of_a_list.rows, of_a_list[-1].task) == (found.rows, "all 3 strata")
    for ask in (es.compare, es.estimate):
        with pytest.raises(es.InputTypeError, match=r"numbers \('item'\).* compare_logs or"):
            ask(frame)
