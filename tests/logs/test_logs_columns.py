"""What the columns of a table are, where the caller says it: ``columns={"mine": "score"}``."""

import io

import numpy as np
import pytest

import evalstats as es
from evalstats.logs.joining import joined
from evalstats.logs.rows import Key
from tests import log_files
from tests.helpers import bad_cases, cases, refuses
from tests.log_files import direction, text_of


@pytest.fixture
def read(tmp_path):
    """Read a text as a table."""

    def from_text(text, **options):
        path = tmp_path / "scores.csv"
        path.write_text(text, encoding="utf-8")
        return es.read_log(path, **options)

    return from_text


WIDE = "unit,who,mine,other\n1,A,0.5,3\n1,B,0.25,4\n2,A,1,5\n2,B,0,6"
NAMED = {"unit": "segment", "who": "system"}


@cases(
    ("who,unit,x,genre", {"who": "system", "unit": "segment"}, "system,segment,x,genre"),
    ("a,b,COMET,d", {"a": "system", "b": "segment", "d": "label"}, "system,segment,COMET,d"),
    ("a,b,COMET,d", {"a": "system", "b": "segment", "d": "task"}, "system,segment,COMET,task"),
    ("a,b,COMET,d", {"a": "system", "b": "segment", "d": "filter"}, "system,segment,COMET,filter"),
    ("a,b,score,d", {"a": "system", "b": "segment", "d": "metric"}, "system,segment,score,metric"),
    # Names that say another thing, or the same of two columns
    ("id,line,COMET,x", {"id": "system", "line": "segment"}, "system,segment,COMET,x"),
    ("model,id,COMET,system", {"model": "system", "system": "filter"}, "model,id,COMET,filter"),
    ("system,id,COMET,index", {"index": None}, "system,id,COMET"),
)
def test_named_columns_are_as_if_they_were_called_so(header, columns, same, read):
    rows = [["A", "1", "0.5", "x"], ["B", "1", "0.25", "x"], ["A", "2", "1", "x"]]
    kept = [row[: same.count(",") + 1] for row in rows]
    has_x = ",x," in header or "metric" in same
    options = {"directions": {"x": "higher"}} if has_x else {}
    labels = {"labels": "d"} if "label" in columns.values() else {}
    found = read(text_of(rows, header.split(",")), columns=columns, **options)
    expected = read(text_of(kept, same.split(",")), **options, **labels)
    assert dict(found.tables) == dict(expected.tables)
    assert found.incomplete == expected.incomplete


def test_named_scores_are_all_the_scores_and_keep_their_names(read):
    log = read(WIDE, columns={**NAMED, "mine": "score"}, directions={"mine": "higher"})
    scores = {key.metric: table.scores.tolist() for key, table in log.tables.items()}
    assert scores == {"mine": [0.75, 0.125]}
    assert log.skipped == ("column 'other': by columns=, scores are in 'mine'",)
    # Not even columns that are called like scores, of which there could not be two.
    beside = (
        WIDE.replace("other", "other,score,value")
        .replace("\n", ",0,0\n")
        .replace("value,0,0", "value")
    )
    log = read(f"{beside},0,0", columns={**NAMED, "mine": "score"})
    assert [key.metric for key in log.tables if key.metric] == ["mine"]
    assert "column 'value': by columns=, scores are in 'mine'" in log.skipped
    two = read(WIDE, columns={**NAMED, "mine": "score", "other": "score"})
    assert [key.metric for key in two.tables if key.metric] == ["mine", "other"]
    # As ever, a direction that no name says is asked for, and one that a name says is taken.
    with pytest.raises(es.InputError, match="whether higher or lower values of mine are better"):
        direction(read(WIDE, columns={**NAMED, "mine": "score"}))
    assert direction(read(WIDE.replace("mine", "TER"), columns={**NAMED, "TER": "score"})) is False
    ratio = {**NAMED, "mine": "numerator", "other": "denominator"}
    (table,) = read(WIDE, columns=ratio, directions={"*": "higher"}).tables.values()
    assert table.metric == es.Ratio("mine/other")
    assert table.scores.tolist() == [1.5 / 8, 0.25 / 10]


def test_named_columns_say_whether_they_are_systems_or_metrics(read):
    text = "id,COMET,mine\n1,1,2\n2,3,5\n"
    refuses("that could be systems or metrics", read, text)
    metrics = read(text, columns=dict.fromkeys(["COMET", "mine"], "score"))
    assert [key.metric for key in metrics.tables] == ["COMET", "mine"]
    assert metrics.systems == ("scores",)
    systems = read(text, columns=dict.fromkeys(["COMET", "mine"], "system_score"))
    assert systems.tables[Key("", "score")].systems == ("COMET", "mine")
    assert systems.tables[Key("", "score")].scores.tolist() == [2, 3.5]


def test_named_columns_of_frames_and_of_several_logs():
    pd = pytest.importorskip("pandas")
    frame = pd.read_csv(io.StringIO(WIDE))
    log = es.read_log(frame, columns={**NAMED, "mine": "score"}, directions={"mine": "higher"})
    assert joined(log).tasks[""][0].systems == ("A", "B")
    found = joined(
        frame, columns={**NAMED, "mine": "score"}, directions={"mine": "higher"}, systems="B"
    )
    assert found.tasks[""][0].scores.tolist() == [0.125]
    named = {"columns": {**NAMED, "mine": "score"}, "directions": {"mine": "higher"}}
    expected = es.compare_logs(log, n_resamples=99)
    assert es.compare_logs(frame, **named, n_resamples=99).estimates == expected.estimates
    alone = es.estimate_logs(frame, **named, n_resamples=99).estimates
    assert [e.score for e in alone] == [e.score for e in expected.estimates]
    with pytest.raises(
        es.InputError,
        match="columns applies only to tables that have not been read yet; pass it to read_log",
    ):
        joined(log, columns={"mine": "score"})


@bad_cases(
    ("mine=score",
     r"columns must be a mapping from columns to their roles, such as \{'mine'.* got 'mine=sc"),
    ({"mine": "scores"}, r"columns\['mine'\] must be one of system, .*score.*; got 'scores'"),
    ({3: "score"}, "names in columns must be non-empty text, got 3"),
    ({"mien": "score"}, r"columns: .*scores.csv has no column 'mien'; .* mean 'mine'\?"),
    ({"mine": "segment", "unit": "segment"},
     "columns: only one column can be the segment, got 'mine', 'unit'"),
    ({"mine": "numerator"}, r"columns must name either both a numerator and a denominator \(the score is their ratio\) or neither"),
    ({"mine": "system_score", "other": "score"},
     "columns: all columns of scores must have the same role, got 'score' and 'system_score'"),
    ({"mine": "system_score", "who": "system"}, "no column can have the role 'system'"),
    ({"unit": "label"}, "has no column that names the segments"),
    ({"unit": "segment", "who": "score"}, "line 2: 'who' must be a number"),
)  # fmt: skip
def test_columns_that_cannot_be_so_are_refused(columns, read):
    read(WIDE, columns=columns)


def test_columns_are_for_tables(tmp_path):
    path = log_files.written(tmp_path / "comet.json", log_files.comet_scored())
    with pytest.raises(
        es.InputError, match=r"columns applies only to tables of scores, but .*COMET"
    ):
        es.read_log(path, columns={"mine": "score"})


@pytest.mark.parametrize("column", ["task_id", "scenario"])
def test_trials_of_agents_are_of_tasks(read, column):
    """An agent's task is an item; beside another column of items it may be a benchmark."""
    text = f"{column},trial,passed\n" + "\n".join(f"t{i % 3},{i // 3},{i % 2}" for i in range(6))
    (rows,) = read(text).rows
    assert rows.items.ids == ("t0", "t0", "t1", "t1", "t2", "t2")
    beside = f"{column},id,passed\n" + "\n".join(f"t{i % 2},{i},{i % 2}" for i in range(6))
    (rows,) = read(beside).rows
    assert rows.items.ids == ("0", "1", "2", "3", "4", "5")


TRIALS = "task,trial,passed\n" + "\n".join(f"t{i // 3},{i % 3},{i % 2}" for i in range(12))


def test_a_column_of_tasks_names_the_items_if_no_other_column_does(read):
    """Defect: 150 rows of 50 tasks with 3 trials each were read as 50 benchmarks."""
    for text in (TRIALS, "task,passed\nx,1\ny,0\nz,1\n", "task,A,B\nx,1,0\ny,0,1\n"):
        log = read(text)
        assert log.tasks == ("",)
        assert set(log.rows[0].items.ids) == {line.split(",")[0] for line in text.split()[1:]}
    # The caller may call it a benchmark, and its items are then rows.
    assert len(read(TRIALS, columns={"task": "task"}).tasks) == 4
    # Benchmarks repeat their names without a number of the trial; then a note says how else.
    repeated = "task,A,B\nx,1,0\nx,0,1\ny,1,1\ny,0,0\n"
    result = es.compare_logs(read(repeated), n_resamples=99)
    assert any('use columns={"task": "segment"}' in note for note in result.notes)


def test_a_column_of_scores_is_not_offered_for_the_items(read):
    text = "system,task,passed\nA,x,1\nA,x,0\nB,x,1\nB,x,1\nA,y,1\nA,y,0\nB,y,1\nB,y,1\n"
    said = (
        r"add one, such as 'id'; or, if each task is an item, pass columns=\{'task': "
        r"'segment'\} and"
    )
    with pytest.raises(es.InputError, match=said):
        read(text)


PAIRS = [("yes", "no"), ("pass", "fail"), ("True", "false"), ("right", "wrong")]


@pytest.mark.parametrize("pair", PAIRS)
def test_yes_and_no_and_their_like_are_scores_if_there_are_no_numbers(read, pair):
    lines = [f"{i},{s},{pair[i % 2]}\n" for i in range(4) for s in "AB"]
    text = "".join(["id,system,verdict\n", *lines])
    (table,) = read(text).tables.values()
    assert table.scores.tolist() == [0.5, 0.5]
    assert table.metric.higher_is_better
    beside = text.replace("verdict", "verdict,score").replace(f"{pair[0]}\n", f"{pair[0]},2\n")
    (table,) = read(beside.replace(f"{pair[1]}\n", f"{pair[1]},4\n")).tables.values()
    assert table.scores.tolist() == [3, 3]


@cases(
    ("Agent,Task ID,Attempt,Solved?", 2),
    ("System,Article,Sentence no.,COMET", 2),
    ("Model,Rng Seed,Question,EM", 2),
    ("doc_name,sent_id,system,score", 2),
    ("agent,case,test name,passed", 2),
)
def test_usual_names_of_columns_have_their_roles(header, n, read):
    answers = [("A", 1), ("A", 2), ("B", 1), ("B", 2)]
    values = {"Agent": 0, "System": 0, "Model": 0, "system": 0, "agent": 0}
    rows = []
    for i, (system, number) in enumerate(answers * 2):
        item = i // len(answers)
        cells = {"Attempt": number, "Rng Seed": number, "Sentence no.": number, "sent_id": number}
        cells |= {"Article": f"d{item}", "doc_name": f"d{item}", "test name": f"t{item}.{number}"}
        cells |= {
            "Task ID": item,
            "Question": item,
            "case": f"c{number}",
            **dict.fromkeys(values, system),
        }
        rows.append([str(cells.get(name, i % 2)) for name in header.split(",")])
    log = read(text_of(rows, header.split(",")), directions={"Solved?": "higher", "EM": "higher"})
    assert {rows.system for rows in log.rows} == {"A", "B"}
    assert all(np.sum(~np.isnan(rows.values[:, 0])) == len(answers) for rows in log.rows)


@cases(
    ("Results of May,,\nid,old,new\n1,2,3\n2,3,4", {}, "looks like a title. Delete it"),
    ("id,old,new\n1,74.5%,3.5%\n2,3%,4%", {}, "'old' has numbers such as '74.5%', .* as 74.5"),
    ("id;old;new\n1;74,5;3,5\n2;3,0;4,0", {}, "'old' has numbers such as '74,5', .* as 74.5"),
    ("id,new\n1,Yes\n2,no\n3,maybe", {"new": "score"},
     "line 4: 'new' must be one of yes, .*'maybe'"),
    ("id,new\n1,2\n2,3", {"system": "new"}, "its role, not the role to the column; pass columns={'new': 'system'}"),
    ("Part,Place,COMET\na,1,2\na,2,3\na,3,3\nb,1,4\nb,2,5", {},
     "columns={'Place': 'segment', 'Part': 'label'}"),
    ("id,system,draw,score\n" + "\n".join(f"{i},A,{j},{i}" for i in range(9) for j in range(2)), {},
     "differ in 'draw': pass columns={'draw': 'run'} if .* columns={'draw': 'epoch'} if"),
)  # fmt: skip
def test_a_table_that_cannot_be_read_is_refused_with_what_to_write(text, columns, message, read):
    refuses(message.replace("{", r"\{"), read, text, columns=columns or None)


def test_columns_of_systems_that_have_names_of_metrics_are_offered_as_systems(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("id,old_score,new_score\n1,2,3\n2,3,3\n3,5,5\n", encoding="utf-8")
    columns = {"old_score": "system_score", "new_score": "system_score"}
    refuses(rf"are systems, not metrics, pass columns=\{columns!s}", es.compare_logs, path)
    options = {"columns": columns, "directions": {"score": "higher"}}
    assert es.compare_logs(path, **options).differences[0].difference == pytest.approx(1 / 3)


def test_answers_as_words_and_as_truth_values_in_one_column_are_refused():
    """Defect: a StopIteration came out."""
    rows = [{"id": i, "passed": value} for i, value in enumerate(["yes", True, "no"])]
    message = "'passed' must be one of yes, .* or empty, got 'yes'"
    refuses(message, es.read_log, rows, columns={"passed": "score"})


@cases("ratings", "n_ratings", "num_ratings", "rating count", "Number of raters", "votes")
def test_a_number_of_ratings_is_not_taken_for_scores_beside_others(counts, read):
    """Defect: WMT's `ratings` was the metric, and higher was better; raw and z were left out."""
    rows = [(s, i, i % 7, i / 9, i % 3) for s in "AB" for i in range(12)]
    log = read(text_of(rows, ["system", "item", "raw", "z", counts]))
    assert {one.key.metric for one in log.rows} == {"raw", "z"}
    refuses("values of raw, z are better", es.compare_logs, log)
    # Alone, or if it is asked for, it is read.
    alone = read(text_of([row[:2] + row[4:] for row in rows], ["system", "item", counts]))
    assert {one.key.metric for one in alone.rows} == {counts}
    # A system may have such a letter or word in its name.
    wide = read(text_of([row[1:] for row in rows[:12]], ["item", "yolo-n", "yolo-s", "n-beats"]))
    assert wide.systems == ("yolo-n", "yolo-s", "n-beats")


def test_a_column_of_samples_numbers_the_answers_to_tasks(read):
    """Defect: HumanEval's samples were the items, and its tasks were left out."""
    cells = [(f"t{t}", s, k, (t + k) % 3 > 0) for t in range(9) for s in "AB" for k in range(4)]
    log = read(text_of(cells, ["task_id", "model", "sample_id", "passed"]))
    assert [(len(set(one.items.ids)), len(one.items.ids)) for one in log.rows] == [(9, 36)] * 2
    other = text_of(cells, ["segment", "model", "epoch", "passed"])
    (table,), (same,) = (one.tables.values() for one in (log, read(other)))
    assert np.array_equal(table.values, same.values)
    # A sample of one task is an item, and so is one that the caller names.
    apart = [(t, s, f"{t}.{k}", x) for t, s, k, x in cells]
    log = read(text_of(apart, ["task_id", "model", "sample_id", "passed"]))
    assert len(set(log.rows[0].items.ids)) == 36
    text = text_of([row for row in cells if row[0] == "t1"], ["task_id", "model", "sample_id", "x"])
    assert len(set(read(text, columns={"sample_id": "segment"}).rows[0].items.ids)) == 4


@cases("hex", "number")
def test_a_run_of_each_row_is_a_trial(kind, read):
    """Defect: ids such as 228304a2 were refused, and a seed of each answer was a run of all."""
    cells = [(i * 7 if kind == "number" else f"{i * 7919:08x}", f"t{i // 3}", i % 2)
             for i in range(60)]  # fmt: skip
    log = read(text_of(cells, ["run_id", "id", "passed"]))
    assert not log.rows[0].items.are_runs
    assert len(log.rows[0].items.epochs) == 60
    (found,) = es.estimate_logs(log, epochs="pass^3")
    assert found.n_segments == 20
    assert not any("Caution" in note for note in es.estimate_logs(log).notes)


@cases(("c", "n"), ("num_correct", "num_samples"))
def test_numbers_of_right_answers_are_shares_of_all(right, whole, read):
    """Defect: the right answers of pass@k were a score of their own, and `n` was left out."""
    cells = [(s, i, 10 + i, (i * k) % 10) for i in range(9) for k, s in enumerate("AB", 1)]
    log = read(text_of(cells, ["model", "task", whole, right]))
    assert {one.key.metric for one in log.rows} == {f"{right}/{whole}"}
    found = es.estimate_logs(log, directions={f"{right}/{whole}": "higher"}, n_resamples=9)
    expected = [sum(c for s, *_, c in cells if s == x) / sum(range(10, 19)) for x in "AB"]
    assert [one.score for one in found] == pytest.approx(expected)
    # Columns may also be systems with such names, and numbers may be larger.
    wide = read(text_of([(i, 0.2, i / 9, 1.5) for i in range(9)], ["id", "a", "c", "n"]))
    assert wide.systems == ("a", "c")
    more = read(text_of([(s, i, n, n + 1) for s, i, n, _ in cells], ["model", "id", whole, right]))
    assert "/" not in more.rows[0].key.metric


def test_columns_of_several_files_are_metrics_and_the_files_systems(tmp_path):
    """Defect: two files of passes, latency and cost were refused, as if columns were systems."""
    lines = [f"{i},{i % 3 > 0:d},{500 + i % 7},{i % 5 / 9}" for i in range(90)]
    paths = [tmp_path / "old.csv", tmp_path / "new.csv"]
    for path in paths:
        path.write_text("\n".join(["id,passed,latency_ms,cost", *lines]))
    found = es.compare_logs(paths, n_resamples=9)
    assert [d.metric for d in found] == ["passed", "latency_ms"]
    assert any(
        "column 'cost': scores are in 'passed', 'latency_ms'" in note for note in found.notes
    )
    assert {d.system for d in found} | {d.baseline for d in found} == {"old", "new"}
    assert len(es.compare_logs(paths, metric="passed", n_resamples=9)) == 1
    refuses("could be systems or metrics", es.estimate_logs, paths[:1])
    refuses(
        "there is no metric 'pased'; .*did you mean 'passed'",
        es.compare_logs,
        paths,
        metric="pased",
    )
    # Another column may be a system.
    for path in paths:
        path.write_text(path.read_text().replace("cost", "steps"))
    said = r"could be systems or metrics: .* or only metric=\['passed', 'latency_ms'\]$"
    refuses(said, es.compare_logs, paths)
    assert len(es.compare_logs(paths, metric=["passed", "latency_ms"], n_resamples=9)) == 2


@pytest.mark.parametrize("ending", [".0", ".000"])
def test_ids_that_were_read_as_numbers_are_the_same_ids(ending, tmp_path):
    """Defect: 0 and 0.0, as pandas writes it beside an empty cell, were two items."""
    paths = [tmp_path / "old.csv", tmp_path / "new.csv"]
    for path, end in zip(paths, ("", ending), strict=True):
        path.write_text("\n".join(["id,score", *(f"{i}{end},{i % 3 / 2}" for i in range(12))]))
    assert es.compare_logs(paths, n_resamples=9)[0].verdict == "identical"
    # Beside other ids it is said.
    paths[1].write_text(f"{paths[1].read_text()}\nx,1")
    refuses("if '0' and '0.0+' are the same item", es.compare_logs, paths)
