"""Files that are not what they are taken for: refused, or said, with what to do."""

import json
import random
import re
import shlex
from dataclasses import replace

import pytest

import evalstats as es
from evalstats.cli import main
from evalstats.data import load_sample
from tests.agent_logs import promptfoo_results, swe_report
from tests.helpers import cases, refuses
from tests.log_files import inspect_log, written

SENTENCES = [f"the {noun} sat on the mat today" for noun in ("cat", "dog", "hen", "cow")] * 10
OUTPUTS = [text.replace("sat", "sits") if i % 3 else text for i, text in enumerate(SENTENCES)]
HEADER = "has no header: its first line,"


def typed(capsys, *call):
    """Return the exit code of a call, and all that it says."""
    code = main([str(word) for word in call])
    printed = capsys.readouterr()
    return code, printed.out + printed.err


def lines(path, texts):
    path.write_text("".join(f"{text}\n" for text in texts))
    return path


HEADLESS = {
    "scores": "0.71,0.73\n0.65,0.70\n0.80,0.79\n",
    "flags": "1,0\n0,1\n1,1\n0,0\n",
    "counted flags": "0,1\n1,1\n0,0\n",
    "a name first": "A\t1\t0\nB\t1\t1\nC\t0\t1\n",
    "long": "q1,gpt,0.5\nq2,gpt,0.7\nq1,llama,0.4\nq2,llama,0.9\n",
    "grades": "q1,gpt,C\nq2,gpt,I\nq1,llama,C\nq2,llama,C\n",
    "true": "q1,gpt,True\nq2,gpt,False\n",
    "semicolons": "q1;gpt;1e-3\nq2;gpt;2e-3\n",
    "negative": "seg-1,-0.5\nseg-2,0.25\n",
    "twice": "1,1\n0,1\n1,0\n",
    "flags of documents": "doc1,0,1\ndoc2,1,1\ndoc3,0,0\n",
}


@pytest.mark.parametrize("name", HEADLESS)
def test_a_table_without_a_header_is_refused(tmp_path, name, refused):
    path = tmp_path / ("x.tsv" if "\t" in HEADLESS[name] else "x.csv")
    path.write_text(HEADLESS[name])
    said = refused("compare", path)
    assert HEADER in said
    assert "such as id,system,score" in said
    refused("gate", path, "--baseline", path, "--margin", "1")


@cases(
    "id,0.5,1.0\na,0.1,0.2\nb,0.5,0.3\n",  # thresholds of items that have names
    ",0,1\n0,0.5,0.25\n1,0.5,0.75\n",  # a frame without names of columns
    ",0,1\n0,1,0\n1,1,1\n",
    "0,1,2\n0.5,0.1,0.2\n0.6,0.3,0.1\n",
    "id,0,1,2\na,0,1,1\nb,1,0,1\n",
    "gpt-4.5,llama-3\n0.5,0.25\n0.25,1\n",
    "Word,BLEU\nWord,0.5\nother,0.25\n",
    "question,A,B\nx,1,0\ny,0,1\n",
)
def test_a_header_is_one(text, tmp_path, capsys):
    path = tmp_path / "x.csv"
    path.write_text(text)
    assert HEADER not in typed(capsys, "show", path)[1]


def test_a_frame_without_a_header_is_refused():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(es.InputError, match=r"the frame has no header.*header=None"):
        es.compare_logs(pandas.DataFrame({"0.71": [0.65, 0.8], "0.73": [0.7, 0.79]}))
    flags = pandas.DataFrame([[0, 1], [1, 1], [0, 0]])
    assert es.compare_logs(flags, n_resamples=9).estimates[0].system == "0"


def test_a_column_of_scores_alone_is_a_table(tmp_path):
    paths = [tmp_path / f"{name}.csv" for name in "xy"]
    for path, scores in zip(paths, ([0.5, 0.25, 0.75], [0.5, 0.5, 1.0]), strict=True):
        lines(path, ["score", *scores])
    assert [e.score for e in es.estimate_logs(paths)] == pytest.approx([0.5, 2 / 3])


def records(texts, **more):
    return [json.dumps({"id": i, "prediction": text, **more}) for i, text in enumerate(texts)]


@cases(
    ("x.jsonl", records(OUTPUTS), "JSON lines with 'id', 'prediction'. Write"),
    ("x.txt", records(OUTPUTS), "Write the values of 'prediction' to a file,"),
    ("x.txt", [*records(OUTPUTS[:-1]), '{"error": 1, "id": 9}'],
     "If it contains scores, pass it as a log, without -i."),
    ("x.jsonl", [json.dumps(text) for text in OUTPUTS], "JSON lines with 'text in quotes'"),
    ("x.csv", ["id,output", *(f"{i},{x}" for i, x in enumerate(OUTPUTS[1:]))], "is a table"),
    ("x.tsv", ["idx\tmt", *(f"{i}\t{x}" for i, x in enumerate(OUTPUTS[1:]))], "idx, mt"),
)  # fmt: skip
def test_records_given_as_texts_are_refused(name, content, what, tmp_path, refused):
    path, others = lines(tmp_path / name, content), lines(tmp_path / "b.txt", OUTPUTS)
    references = lines(tmp_path / "r.txt", SENTENCES)
    gate = ("gate", "-i", path, "--baseline", others, "-r", references, "--margin", "99")
    for call in (("estimate", "-i", path, "-r", references), gate, ("estimate", "-i", others,
                 "-r", path)):  # fmt: skip
        assert what in refused(*call)
    refuses("must contain texts", es.estimate, content, SENTENCES, "chrf")


def test_json_and_code_that_are_the_texts_are_scored():
    asked = [json.dumps({"name": text, "n": i}) for i, text in enumerate(SENTENCES)]
    made = [json.dumps({"name": text, "n": i, **({"x": 1} if i == 3 else {})})
            for i, text in enumerate(OUTPUTS)]  # fmt: skip
    assert es.estimate(made, asked, "chrf").score > 50
    code = [f"{{ x: {i}, y, z }}" for i in range(40)]
    assert es.estimate(code, code, "chrf").score == 100
    lists = [f"id, {i}, {text}" for i, text in enumerate(SENTENCES)]
    assert es.estimate(lists[1:] + ["no list"], lists[1:] + ["no list"], "chrf").score == 100


def ragas(path, seed, names=("faithfulness", "answer_relevancy")):
    """Write an export of two scores of 30 questions."""
    rng = random.Random(seed)
    rows = [f"q{i},{rng.random():.3f},{rng.random():.3f}" for i in range(30)]
    return lines(path, [f"user_input,{','.join(names)}", *rows])


@pytest.mark.parametrize("form", ["_seed{}", "-s{}", ".run{}", "_rep{}", ".Seed-{}", " run_{}"])
@pytest.mark.parametrize("is_text", [False, True])
def test_files_with_the_names_of_runs_are_noted(form, is_text, tmp_path, capsys):
    """The advice makes two systems of six files; other numbers are not runs."""
    suffix = ".txt" if is_text else ".csv"
    files = {f"{name}{form.format(k)}": (name, k) for name in ("old", "new") for k in (1, 2, 3)}
    files |= {f"{name}{k}": (name, k) for name in ("v", "gpt-", "chess") for k in (1, 2)}
    paths = []
    for file, (name, k) in files.items():
        texts = random.Random(f"{name}{k}").sample(OUTPUTS, len(OUTPUTS))
        scores = [f"q{i},{len(text) % 3 and 1}" for i, text in enumerate(texts)]
        paths.append(
            lines(tmp_path / f"{file}{suffix}", texts if is_text else ["id,correct", *scores])
        )
    runs, others = paths[:6], paths[6:]
    call = ["compare", "--resamples", "99"]
    if is_text:
        call += ["-r", lines(tmp_path / "r.txt", SENTENCES), "-m", "chrf", "-i"]
    said = " ".join(typed(capsys, *call, *runs)[1].split())
    a, b = (f"old{form.format(k)}" for k in (1, 2))
    assert f"{a} and {b} look like runs of one system, but count as systems; if they" in said
    (advice,) = re.findall(r"pass (--names( old){3}( new){3})", said)
    code, said = typed(capsys, *call, *runs, *shlex.split(advice[0]))
    assert code == 0
    assert "3 runs" in said
    for some in (runs, others):
        named = ["--names", *"abcdef"] if some is runs else []
        assert "look like runs" not in typed(capsys, *call, *some, *named)[1]
    assert "look like runs" not in typed(capsys, *call, *runs[:2])[1]


def test_equal_columns_of_several_files_are_metrics(tmp_path, capsys, refused):
    old, new = (ragas(tmp_path / f"{name}.csv", i) for i, name in enumerate(("old", "new")))
    call = ("compare", old, new, "--columns", "user_input=segment", "--resamples", "99")
    said = refused(*call)
    advice = re.search(r"pass (--higher-is-better [^,]+),", said)[1].split()
    code, said = typed(capsys, *call, *advice)
    assert code == 0
    assert "faithfulness, answer_relevancy ↑" in said
    assert all(f"{name} " in said for name in ("old", "new"))
    gate = ("gate", new, "--baseline", old, "--margin", "0.9", *call[3:])
    refused(*gate)
    assert typed(capsys, *gate, *advice)[0] == 0
    asked = {"columns": {"user_input": "segment"}, "directions": {"*": "higher"}}
    named = es.compare_logs({"one": old, "two": new}, n_resamples=9, **asked)
    expected = [("one", "faithfulness"), ("two", "faithfulness")]
    assert [(e.system, e.metric) for e in named.estimates[:2]] == expected
    # Other columns in each are systems, and so is what is said to be one.
    other = ragas(tmp_path / "other.csv", 3, ("gpt", "llama"))
    mixed = es.estimate_logs([old, other], columns={"user_input": "segment"})
    assert {e.metric for e in mixed} == {"score"}
    assert typed(capsys, "estimate", old, *call[3:5], "-m", "faithfulness",
                 "--higher-is-better", "*")[0] == 0  # fmt: skip


def test_blank_labels_and_absent_references(tmp_path, capsys, refused):
    first = lines(tmp_path / "r1.txt", SENTENCES)
    second = lines(tmp_path / "r2.txt", [text if i % 2 else "" for i, text in enumerate(OUTPUTS)])
    both = lines(tmp_path / "r.tsv", [f"{a}\t{a}" if i % 2 else a for i, a in enumerate(OUTPUTS)])
    out = lines(tmp_path / "o.txt", [text[:25] for text in OUTPUTS])
    groups = lines(tmp_path / "g.txt", ["a", "", *["b"] * 38])
    call = ("estimate", "-i", out, "--resamples", "99", "-f", "json", "-r")
    said = "g.txt, line 2 is blank; every segment requires a label"
    assert said in refused(*call, first, "--groups", groups)
    said = typed(capsys, *call, first, second)[1]
    assert "--blank-is-absent on the command line" in said
    said = typed(capsys, *call, first, second, "--blank-is-absent")[1]
    given = [[a, b or None] for a, b in zip(SENTENCES, es.read_lines(second), strict=True)]
    expected = es.estimate(es.read_lines(out), given, "bleu", n_resamples=99)
    assert json.loads(said)["estimates"][0]["score"] == expected.score
    assert "empty reference" not in said
    assert "nrefs:var" in said
    said = refused(*call, both, "--num-refs", "2")
    advice = re.search(r"if the others are missing, pass (\S+)", said)[1]
    assert typed(capsys, *call, both, "--num-refs", "2", advice)[0] == 0
    assert "requires several references" in refused(*call, first, "--blank-is-absent")


def test_failures_that_are_offered_are_counted(tmp_path, capsys, refused):
    """2 of 8 samples ended with an error: 2 of 8 are right against 3 of 8."""
    for name, values in (("a", "CCIIIIII"), ("b", "CCCIIIII")):
        log = inspect_log(list(values))
        log["eval"]["model"] = name
        for sample in log["samples"][6:] if name == "a" else ():
            del sample["scores"]
            sample["error"] = {"message": "timeout"}
        written(tmp_path / f"{name}.json", log)
    call = ("compare", tmp_path / "a.json", tmp_path / "b.json", "-f", "json")
    said = refused(*call)
    advice = re.search(r"count failures with (--missing failure)", said)[1].split()
    code, said = typed(capsys, *call, *advice)
    assert code == 0
    assert [e["score"] for e in json.loads(said)["estimates"]] == [0.25, 0.375]


def test_a_part_of_the_instances_of_swe_bench(tmp_path):
    report = swe_report(resolved=[1], unresolved=[2])
    report["submitted_ids"] = [f"django__django-{i}" for i in range(1, 7)]
    log = es.read_log(written(tmp_path / "m.run.json", report))
    assert not log.disagreements
    assert "Left out: 4 of 6 submitted instances" in str(log)
    (table,) = log.tables.values()
    assert table.n_segments == 2
    # Where the report counts them they failed.
    whole = es.read_log(written(tmp_path / "n.run.json", {**report, "total_instances": 6}))
    assert next(iter(whole.tables.values())).n_segments == 6


def asked_otherwise(folder, name, change):
    log = inspect_log(list("CICIIC"))
    log["eval"]["model"] = name
    log["plan"] = {"steps": [{"solver": "generate", "params": {}}]}
    change(log)
    return written(folder / f"{name}.json", log)


def rephrased(log):
    for sample in log["samples"]:
        sample["input"] = f"Think first. {sample['input']}"


def with_template(log):
    step = {"solver": "prompt_template", "params": {"template": "Think. {prompt}", "n": 3}}
    log["plan"]["steps"].insert(0, step)


@cases(
    (rephrased, "6 of 6 prompts differ"),
    (with_template, "solvers generate (old) against prompt_template, generate (new), "
     "prompt_template template its default against Think. {prompt}"),
)  # fmt: skip
def test_prompts_that_differ_in_inspect_are_named(change, what, tmp_path, capsys, refused):
    old = asked_otherwise(tmp_path, "old", lambda log: None)
    new = asked_otherwise(tmp_path, "new", change)
    call = ("gate", new, "--baseline", old, "--margin", "0.99")
    said = refused(*call)
    assert what in said
    advice = re.search(r"accept the difference with (--allow-changes prompts)", said)[1].split()
    assert typed(capsys, *call, *advice)[0] in (0, 3)
    said = str(es.compare_logs([old, new], n_resamples=9))
    assert "Caution: The systems were run with different settings" in said
    assert what in said


def test_other_questions_are_no_other_prompts(tmp_path):
    def turned(log):
        log["samples"] = log["samples"][::-1]
        for i, sample in enumerate(log["samples"], 1):
            sample["id"] = i

    def expecting(log):
        rephrased(log)
        log["samples"][0]["target"] = "B"

    old = asked_otherwise(tmp_path, "old", lambda log: None)
    for change in (turned, expecting):
        with pytest.raises(es.InputError, match="item_hash of item"):
            es.compare_logs([old, asked_otherwise(tmp_path, "new", change)])


def test_prompts_that_differ_in_promptfoo_are_named(tmp_path, capsys, refused):
    answers = [[[i % 2 == 0]] for i in range(12)]
    old = written(tmp_path / "old.json", promptfoo_results(answers, 1, ("gpt",)))
    results = promptfoo_results(answers, 1, ("gpt",))
    for result in results["results"]["results"]:
        result["prompt"]["raw"] += ", kindly"
    new = written(tmp_path / "new.json", results)
    call = ("gate", new, "--baseline", old, "--margin", "0.99")
    assert "12 of 12 prompts differ" in refused(*call)
    assert typed(capsys, *call, "--allow-changes", "prompts")[0] in (0, 3)


@pytest.mark.parametrize("column", ["document", "passage_id", "Dialogue ID", "conversation", "doc"])
def test_documents_that_no_groups_name_are_a_caution(tmp_path, capsys, column):
    def table(document):
        rng = random.Random(1)
        rows = [f"{s},{document(i)},{i},{rng.random():.3f}" for s in "AB" for i in range(48)]
        return lines(tmp_path / "x.csv", [f"system,{column},segment,score", *rows])

    path = table(lambda i: f"d{i // 12}")
    within = es.compare_logs(path, strata=[i % 2 for i in range(48)], n_resamples=99)
    assert any("48 segments come from 4" in note for note in within.notes)
    said = " ".join(typed(capsys, "compare", path, "--resamples", "99")[1].split())
    advice = re.search(r"Caution: 48 segments come from 4 .+?\. Pass (--groups .+?)\. ", said)[1]
    said = typed(capsys, "compare", path, *shlex.split(advice), "--resamples", "99")[1]
    assert "Caution: 48" not in said
    for document in (lambda i: f"d{i}", lambda i: "d"):
        found = es.compare_logs(table(document), n_resamples=99)
        assert not any("independent" in note for note in found.notes)


def test_an_output_too_many_is_no_run_of_all_items(tmp_path, capsys, refused):
    references = lines(tmp_path / "r.txt", SENTENCES)
    for name in "ab":
        lines(tmp_path / f"{name}.txt", OUTPUTS if name == "a" else SENTENCES)
    plan, of_texts = tmp_path / "plan.json", ("-r", references, "-i")
    texts = (*of_texts, tmp_path / "a.txt", tmp_path / "b.txt", "-m", "chrf")
    assert typed(capsys, "plan", *texts, "--items", "12", "-o", plan)[0] == 0
    drawn = set(json.loads(plan.read_text())["drawn"])
    other = next(i for i in range(40) if i not in drawn)
    part = [text if i in {*drawn, other} else "" for i, text in enumerate(OUTPUTS)]
    call = ("compare", *of_texts, tmp_path / "a.txt", lines(tmp_path / "n.txt", part), "-m", "chrf",
            "--plan", plan, "--resamples", "99")  # fmt: skip
    said = refused(*call)
    where = f"(the first is line {other + 1})"
    assert f"has outputs in 1 of 28 lines that are not in {plan} {where}" in said
    part[other] = ""
    lines(tmp_path / "n.txt", part)
    code, said = typed(capsys, *call)
    assert (code, "are empty" in said) == (0, False)
    # Of the lines that were drawn half are empty.
    half = sorted(drawn)[:6]
    lines(tmp_path / "n.txt", ["" if i in half else text for i, text in enumerate(part)])
    assert "6 of 12 outputs of n are empty" in typed(capsys, *call)[1]
    gate = ("gate", *call[1:4], tmp_path / "n.txt", "--baseline", *call[4:5], *call[6:])
    assert typed(capsys, *gate, "--margin", "60")[0] == 3


def test_documents_in_files_of_statistics_are_a_caution(tmp_path, capsys):
    rng, path = random.Random(1), tmp_path / "x.npz"
    scores = {name: [rng.random() for _ in range(48)] for name in "AB"}
    table = es.extract(scores, metric=es.Mean("q"))
    table = replace(table, labels={"document": [f"d{i // 12}" for i in range(48)]})
    table.save(path)
    said = "48 segments come from 4 documents but count as independent"
    for result in (es.compare(table, n_resamples=99), es.gate(path, baseline="A", margin=0.5)):
        assert [said in note for note in result.notes if note.startswith("Caution")] == [True]
    assert not any(said in note for note in es.compare(table, groups="document").notes)
    call = ("compare", path, "--resamples", "99")
    assert f"Caution: {said}" in " ".join(typed(capsys, *call)[1].split())
    assert "Caution: 48" not in typed(capsys, *call, "--groups", "document")[1]


@cases("repo", "User ID", "source_file", "chapter", "speaker", "ticket", "url")
def test_parts_of_other_wholes_are_a_caution_unless_labels_may_be_kinds(kind, tmp_path):
    """Defect: nothing was said of such columns, and equal systems differed at p = 0.0007."""
    for n_wholes, is_said in ((3, False), (120, False), (115, False), (1, False), (25, True)):
        rows = [(i, f"w{i % n_wholes}", s, i % 7) for i in range(120) for s in "AB"]
        path = wide(tmp_path / "x.csv", rows, f"id,{kind},system,score")
        notes = " ".join(es.compare_logs(path, n_resamples=99).notes)
        assert (f"120 items come from {n_wholes} " in notes) == is_said
    assert "come from" not in str(es.compare_logs(path, groups=kind, n_resamples=99))


def test_a_column_of_judges_of_answers_is_no_label_of_items(tmp_path):
    """A column such as `user` may name who judged the answer, in one table and in two."""
    rows = [(i, f"u{(i + k) % 25}", s, i % 7) for i in range(100) for k, s in enumerate("AB")]
    path = wide(tmp_path / "x.csv", rows, "id,user,system,score")
    assert "come from" not in str(es.compare_logs(path, n_resamples=99))
    refuses("user of segment '0' is", es.compare_logs, path, groups="user")
    paths = [
        wide(tmp_path / f"{name}.csv", [row[:2] + row[3:] for row in rows if row[2] == name],
             "id,user,score") for name in "AB"
    ]  # fmt: skip
    assert "come from" not in str(es.compare_logs(paths, n_resamples=99))
    # Without a column of items, a column of files is not left out, so that rows are not the items.
    path = wide(tmp_path / "y.csv", [(f"{i}.wav", i % 2, i % 3) for i in range(9)], "file,A,B")
    refuses("columns={'file': 'segment'}", es.compare_logs, path)


def test_a_table_in_place_of_labels_is_refused(tmp_path, refused):
    """Defect: without its heading, each row of it was a group of its own."""
    path = wide(tmp_path / "x.csv", flags())
    for lines_of in (
        [f"{i},d{i // 9}" for i in range(120)],
        ["id,d", *(f"{i},d" for i in range(120))],
    ):
        said = refused("compare", path, "--groups", lines(tmp_path / "lab.csv", lines_of))
        assert "lab.csv looks like a table" in said
        assert "Pass a file with one label per line" in said


def test_trials_of_a_log_that_makes_one_score_of_them_are_asked_for(tmp_path, capsys, refused):
    log = inspect_log(random.Random(3).choices("CI", k=60), epochs=3)
    log["results"]["scores"][0]["reducer"] = "mode"
    for epochs in ("pass^2", "runs"):
        call = ("estimate", written(tmp_path / "x.json", log), "--epochs", epochs)
        said = refused(*call)
        (advice,) = re.findall(
            r"has only one score for several answers; to use the individual answers, pass (--.+)$",
            said,
        )
        code, said = typed(capsys, *call, *shlex.split(advice))
        assert code == 0
        assert "the 3 answers to each of the 20 samples" in " ".join(said.split())
    assert typed(capsys, *call[:2])[0] == 0


# Smaller things


def test_logs_without_samples_or_scores_are_left_out_of_a_folder(tmp_path):
    written(tmp_path / "a.json", inspect_log(list("CICI")))
    for name, change in (("b", lambda log: log["samples"].clear()), ("c", lambda log: [
            sample.pop("scores") for sample in log["samples"]])):  # fmt: skip
        log = inspect_log(list("CICI"), model=name)
        change(log)
        written(tmp_path / f"{name}.json", log)
    found = es.read_log(tmp_path)
    assert found.systems == ("mockllm/model",)
    assert ["no samples" in line or "no scores" in line for line in found.skipped] == [True, True]
    refuses(
        r"b.json has no samples; run Inspect with log_samples", es.read_log, tmp_path / "b.json"
    )


def test_rewards_that_are_nearly_1_are_successes(tmp_path):
    rows = [f"t{i},A,{e},{0.9999995 if i else e}" for i in range(5) for e in (0, 1)]
    path = lines(tmp_path / "x.csv", ["id,system,epoch,reward", *rows])
    assert es.estimate_logs(path, epochs="pass^2")[0].score == pytest.approx(0.8)


def test_metrics_that_are_the_same_on_every_test_are_one(tmp_path):
    results = promptfoo_results([[[i % 2 == 0, i % 3 == 0]] for i in range(12)], 1)
    for result in results["results"]["results"]:
        result["score"] = int(result["success"])
    path = written(tmp_path / "x.json", results)
    found = es.compare_logs(path, n_resamples=99)
    assert {d.metric for d in found} == {"passed"}
    assert "score is left out, because it equals passed on every test." in found.notes
    every = es.compare_logs(path, metric="*", n_resamples=9)
    assert {d.metric for d in every} == {"passed", "score"}


@cases(
    ("estimate -r o.txt -i o.txt -m wer -lc", "; did you mean --wer-lowercase?"),
    ("compare -r o.txt -i o.txt ./o.txt", "o.txt is given more than once; leave one out"),
    ("estimate -r o.txt -i u.txt", "u.txt is encoded as UTF-16; save it as UTF-8"),
    ("show u.csv", "u.csv is encoded as UTF-16; save it as UTF-8"),
    ("show comma.txt", "comma.txt, line 1 must be a number such as 0.5, got '0,71'"),
    ("show mean.comet", "mean.comet, line 3 must be a number such as 0.5, got 'Mean: 0.6'"),
    ("estimate twice.jsonl --epochs pass@2", "'epoch' (the number of an answer)"),
)
def test_messages_say_what_to_do(call, what, tmp_path, monkeypatch, refused):
    monkeypatch.chdir(tmp_path)
    lines(tmp_path / "o.txt", OUTPUTS)
    for name in ("u.txt", "u.csv"):
        (tmp_path / name).write_text("id,system,score\n1,A,2\n", encoding="utf-16")
    lines(tmp_path / "comma.txt", ["0,71", "0,65"])
    lines(tmp_path / "mean.comet", ["0.71", "0.65", "Mean: 0.6"])
    lines(tmp_path / "twice.jsonl", ['{"task_id": "a", "passed": true}'] * 2)
    assert what in refused(*call.split())


@pytest.mark.parametrize("suffix", ["score", "comet", "txt", "out", "gz.x"])
def test_one_number_a_line_is_read_whatever_its_name(tmp_path, suffix):
    path = lines(tmp_path / f"x.{suffix}", [0.5, 0.75])
    assert es.estimate_logs(path)[0].score == 0.625


@pytest.mark.parametrize("name", ["x.json", "x.jsonl", "x.ndjson"])
@pytest.mark.parametrize("is_list", [False, True])
def test_tables_of_objects(tmp_path, name, is_list):
    rows = [{"model": m, "question_id": i, "score": i % 2} for m in "AB" for i in range(4)]
    texts = [json.dumps(row) for row in rows]
    path = tmp_path / (name if not is_list else "list.json")
    path.write_text(json.dumps(rows, indent=1) if is_list else "\n".join(texts))
    assert [e.score for e in es.estimate_logs(path)] == [0.5, 0.5]


def wide(path, rows, header="item,old,new"):
    return lines(path, [header, *(",".join(map(str, row)) for row in rows)])


def flags(n=120, seed=0):
    rng = random.Random(seed)
    return [(i, int(rng.random() < 0.6), int(rng.random() < 0.7)) for i in range(n)]


@cases("Average", "TOTAL", "macro avg", "Mean:", "overall", "N", "Std. Dev.", "Summe", "平均")
def test_a_row_that_summarises_others_is_refused(name, tmp_path, refused):
    """Defect: a last row N, after the row Average, made both rows items, and so did a first row."""
    for rows, line in (([*flags(), (name, 0.61, 0.7)], 122), ([(name, 0.61, 0.7), *flags()], 2)):
        said = refused("compare", wide(tmp_path / "x.csv", rows))
        assert f"line {line} is '{name}', which looks like a summary of the other rows" in said
        assert "Delete this row" in said
    rows = [(s, *row[:2]) for s in ("a", "b") for row in [*flags(), (name, 0.61)]]
    refused("compare", wide(tmp_path / "y.csv", rows, "system,item,passed"))


@cases("compare", "estimate", "rank")
def test_a_table_of_results_is_not_read_as_scores(command, tmp_path, capsys, refused):
    """Defect: the ranks of systems were offered as the ids of items."""
    scores, path = wide(tmp_path / "x.csv", flags()), tmp_path / "results.csv"
    assert typed(capsys, command, scores, "-o", path)[0] == 0
    assert "results.csv contains results that evalstats wrote" in refused("show", path)


def test_a_row_with_such_a_word_among_others_is_an_item(tmp_path, capsys):
    for name in ("all-1", "meaning", "Totals of 2020"):
        path = wide(tmp_path / "x.csv", [*flags(), (name, 1, 0)])
        assert typed(capsys, "compare", path)[0] == 0
    path = wide(tmp_path / "x.csv", [*flags()[:9], ("all", 1, 0), *flags()[9:]])
    assert typed(capsys, "compare", path)[0] == 0


@cases("delta", "Difference", "gain (%)", "improvement", "Δ")
def test_a_column_of_differences_is_not_a_system(name, tmp_path, capsys):
    rows = [(i, a, b, b - a) for i, a, b in flags()]
    path = wide(tmp_path / "x.csv", rows, f"item,old,new,{name}")
    code, said = typed(capsys, "compare", path)
    assert code == 0
    assert f"column '{name}': scores are in 'old', 'new'" in said.replace("\n", " ")
    named = ["--columns", "item=segment", f"{name}=system_score", "old=system_score"]
    assert typed(capsys, "compare", path, *named)[0] == 0
    path = wide(tmp_path / "y.csv", rows, "item,delta force,new,gains")
    assert len(es.estimate_logs(path, n_resamples=9)) == 3


def stands_in(scores, name="x"):
    """Return the cautions about numbers that stand for no score, of old and new scores."""
    found = es.compare({"old": scores[0], "new": scores[1]}, metric=es.Mean(name), n_resamples=9)
    return [note for note in found.notes if getattr(note, "kind", "") == "scale"]


def with_odd(values, odd, every):
    return [odd if i % every == 0 else value for i, value in enumerate(values)]


def floats(n=120, seed=1):
    return random.Random(seed).choices([x / 10 for x in range(400, 950)], k=n)


def rated(n=120, seed=1, least=1, most=5):
    return random.Random(seed).choices(range(least, most + 1), k=n)


FLAGS = [list(column) for column in zip(*flags(), strict=True)][1:]


@cases(
    (FLAGS[0], -1, 10, "12 of 120 scores of new are -1, but the others are 0 or 1."),
    (FLAGS[0], -1, 3, "40 of 120 scores of new are -1"),
    (FLAGS[0], 73, 120, "1 of 120 scores of new is 73, but the others are 0 or 1."),
    (floats(), 999, 25, "5 of 120 scores of new are 999, but the others are from 4"),
    (floats(), -99, 25, "are -99"),
    (rated(), -1, 25, "are -1, but the others are from 1 to 5. If -1 stands for no score"),
    (rated(), 99, 25, "are 99"),
    ([x / 100 for x in floats()], -1, 25, "are -1"),
)
def test_numbers_that_stand_for_no_score_are_said(values, odd, every, what):
    (said,) = stands_in([values, with_odd(values, odd, every)])
    assert what in said
    assert ("missing=" in said) == (values is FLAGS[0])


@cases(
    FLAGS,
    [with_odd(x, 0.5, 10) for x in FLAGS],
    [rated(seed=i, least=-1, most=1) for i in (1, 2)],  # losses, ties and wins
    [rated(seed=i, least=-1, most=3) for i in (1, 2)],
    [rated(seed=i, least=0, most=2) for i in (1, 2)],
    [[-1, -1, *rated(118, seed=i, least=-5, most=0)] for i in (1, 2)],  # errors by their weight
    [floats(), with_odd(floats(), 99, 25)],
    [floats(), with_odd(floats(), 999, 120)],
    [floats(), with_odd([x * 10 for x in floats()], 1000, 9)],
    [[-1] * 5 + [0] * 115, [0] * 120],
    [[1] * 120, [1] * 120],
)
def test_no_word_on_numbers_that_are_scores(old, new):
    assert not stands_in([old, new])


def test_ids_that_are_written_in_two_ways_are_said(tmp_path, refused):
    for name, forms in {
        "'7' and '007'": ("{:03d}", "{}"),
        "'q0' and 'Q 0'": ("q{}", "Q {}"),
    }.items():
        paths = [tmp_path / "old.csv", tmp_path / "new.csv"]
        for path, form in zip(paths, forms, strict=True):
            wide(path, [(form.format(i), int(i % 3 == 0)) for i in range(7, 120)], "item,passed")
            if "q" in form.lower():
                wide(path, [(form.format(i), i % 2) for i in range(20)], "item,passed")
        assert f"if {name} are the same item" in refused("compare", *paths)
    wide(paths[0], [(i, 1) for i in range(9)], "item,passed")
    wide(paths[1], [(i, 1) for i in range(7)], "item,passed")
    assert "are the same item" not in refused("compare", *paths)


def test_an_error_in_some_outputs_is_said():
    sample = load_sample()
    outputs, references = sample.systems["baseline"], sample.references

    def said(odd, every, gold=references):
        texts = with_odd(outputs, odd, every)
        notes = es.estimate(texts, gold, "chrf", n_resamples=9).notes
        return [note for note in notes if "the same text" in note]

    (note,) = said("ERROR: rate limit exceeded", 15)
    assert "32 of 480 outputs of system are the same text ('ERROR: rate limit exceeded')" in note
    assert note.kind == "texts"
    assert not said("ERROR: rate limit exceeded", 30)
    assert not said("yes", 15)
    assert not said("not at all", 15, with_odd(references, "not at all", 15))
    assert not said("not at all", 15, with_odd(references, "not so much", 15))
    assert not said(outputs[0], 480)
