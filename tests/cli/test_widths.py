"""Nothing that the command line prints is wider than its terminal, from 80 columns on."""

import io
import shlex
import sys
from pathlib import Path

import pytest

import evalstats as es
from evalstats.cli.flags import COMMANDS
from evalstats.results import widths
from evalstats.results.tabular import Page, Table, table_of

OLD_NEW = "-r ref.txt -i old.txt new.txt --resamples 99"
PRINTED = [
    "demo",
    "demo --verbose",
    f"compare {OLD_NEW} --describe",
    f"compare {OLD_NEW}",
    f"compare {OLD_NEW} --baseline old -m bleu chrf wer --margin 1 --verbose",
    f"compare {OLD_NEW} --scores comet.csv --missing intersect",
    f"compare {OLD_NEW} --by domains.txt",
    f"compare {OLD_NEW} --groups documents.txt --method t",
    "compare -r ref.txt -i systems/A.txt systems/B.txt systems/C.txt systems/D.txt systems/E.txt "
    "systems/F.txt --resamples 99",
    f"compare {OLD_NEW} --names {'long-' * 12}1-of-them {'long-' * 12}2-of-them -m bleu wer",
    "compare logs/ --verbose",
    "compare logs/ --baseline acme/base --recovery 0.9",
    "compare arena.csv --verbose --resamples 99",
    "compare answers.csv --human labels.csv --baseline base --resamples 99",
    "rank -r ref.txt -i systems/A.txt systems/B.txt systems/C.txt -m bleu chrf --resamples 99",
    "rank -r ref.txt -i systems/A.txt systems/B.txt systems/C.txt -m bleu chrf --resamples 99 "
    "--clusters simultaneous --verbose",
    "rank arena.csv --resamples 99",
    "gate -i new.txt --baseline old.txt -r ref.txt --margin 1 --resamples 99 --verbose",
    "gate logs/ --systems acme/tuned --baseline acme/base --recovery 0.9 --verbose",
    "gate agent-100.csv --systems new --baseline old --of 400 --margin 0.1 --state state.json",
    "power -r ref.txt -i old.txt new.txt --difference 1 -m bleu chrf --verbose",
    "power agents/new.csv agents/old.csv --difference 0.05 --trials 8 --price 10,1",
    f"estimate {OLD_NEW} -m bleu chrf wer",
    "estimate logs/ --verbose",
    "show logs/ comet.csv judge.csv --verbose",
    "cases agents/new.csv --baseline agents/old.csv --verbose",
    *("--help", *(f"{name} --help" for name in COMMANDS)),
    *(f"{name} --help-all" for name in COMMANDS),
]


@pytest.mark.usefixtures("short_demo")
@pytest.mark.parametrize("words", PRINTED)
def test_nothing_is_wider_than_its_terminal(words, examples_folder, run_here, monkeypatch):
    monkeypatch.chdir(examples_folder)
    for columns in (40, 60, 80):
        monkeypatch.setenv("COLUMNS", str(columns))
        (examples_folder / "state.json").unlink(missing_ok=True)
        code, out, err = run_here(*shlex.split(words))
        assert code in (0, 1, 3, 4), err
        assert out.count("Use a wider terminal") <= 1
        wide = [line for line in out.splitlines() if widths.of(line) > columns]
        # Of help the examples are lines to copy.
        assert not wide or ("--help" in words and columns < 80), columns


def test_a_file_is_the_same_on_every_terminal(examples_folder, typed, monkeypatch):
    monkeypatch.chdir(examples_folder)
    texts = []
    for columns in ("60", "200"):
        monkeypatch.setenv("COLUMNS", columns)
        typed(*f"compare {OLD_NEW} --baseline old -o found.txt -o found.md".split())
        texts.append(
            [(examples_folder / f"found.{end}").read_text("utf-8") for end in ("txt", "md")]
        )
    assert texts[0] == texts[1]
    monkeypatch.delenv("COLUMNS")
    piped = typed(*f"compare {OLD_NEW} --baseline old".split())
    # Files have whole signatures.
    assert piped.splitlines()[:-1] == texts[0][0].splitlines()[:-1]
    expected = f"seed 12345 · evalstats {es.__version__} · --verbose for the signature"
    assert piped.splitlines()[-1] == expected


def test_errors_are_as_wide_as_the_terminal_and_break_no_path_and_no_option(
    run_here, monkeypatch, tmp_path
):
    missing = str(tmp_path / f"{'examples_folder-' * 9}of-no-file.txt")
    calls = (
        ("compare", "-r", missing, "-i", missing, missing),
        ("compare", "--metrc", "bleu"),
        ("gate", "-r", "ref.txt", "-i", "a.txt", "--baseline", "b.txt"),
    )
    for words in calls:
        monkeypatch.delenv("COLUMNS", raising=False)
        code, _, whole = run_here(*words)
        assert (code, whole.count("\n")) == (2, 1)
        monkeypatch.setenv("COLUMNS", "60")
        _, _, lines = run_here(*words)
        assert lines.split() == whole.split()
        assert 2 <= lines.count("\n") <= 9
        # A word is whole, however long.
        assert all(len(line) <= 60 or " " not in line for line in lines.split("\n"))
    assert lines.count("--margin, ") == 1


def test_print_asks_the_terminal_that_it_prints_on(sample, monkeypatch):
    result = es.compare(sample.systems, sample.references, baseline="baseline", n_resamples=99)
    monkeypatch.setenv("COLUMNS", "80")
    # COLUMNS says nothing to what is no terminal, such as a file or a doctest.
    assert str(result) == result.to_text()
    screen = io.StringIO()
    monkeypatch.setattr(screen, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stdout", screen)
    assert str(result) == result.to_text(width=80) != result.to_text()


def scores(width, name="system", spare=("[95%]", "p")):
    columns = [
        ("system", "<", lambda i: f"{name}-{i}"),
        ("score", ">", lambda _: "29.26"),
        ("[95%]", ">", lambda _: "[27.37, 31.16]"),
        ("mean difference", ">", lambda _: "+0.47"),
        ("p", ">", lambda _: "0.5084"),
    ]
    return Page([table_of("title", range(2), columns, spare=spare)]).text(width).splitlines()


def test_headers_are_folded_then_columns_go_in_order_and_one_line_says_which():
    assert scores(60)[2] == "system    score           [95%]  mean difference       p"
    folded = scores(54)
    assert folded[2] == "                                      mean"
    assert folded[3] == "system    score          [95%]  difference       p"
    without = scores(40)
    assert without[2] == "system    score  mean difference       p"
    assert " ".join(without).endswith(
        "The column 'score [95%]' is hidden because the table is too wide. Use a wider terminal or write "
        "to a file."
    )
    assert "The columns 'score [95%]' and 'p' are hidden" in " ".join(
        scores(40, name="a-longer-name-of-a")
    )


def test_names_are_cut_in_the_middle_where_they_still_differ():
    """Full-width letters take two cells, marks none, and what fits is whole."""
    assert list(map(widths.of, ("AB", "ＡＢ", "中文", "e\u0301"))) == [2, 4, 4, 1]
    assert widths.cut(["12345678901", "ＡＢＣＤＥ1"], [11, 11]) == ["12345678901", "ＡＢＣＤＥ1"]
    table = Table(
        "t", ("system", "n"), tuple((f"{'a' * 60}{i}{'b' * 60}", "1") for i in "xy"), "<>"
    )
    cut = [line.split()[0] for line in table.lines(40)[0][-2:]]
    assert len(set(cut)) == 2
    assert max(map(widths.of, cut)) <= 37
    assert cut[0].startswith("…x")


def test_two_columns_of_names_leave_room_for_every_other_column():
    rows = tuple((f"{x * 20}-a", f"{x * 20}-b", "[-10.25, +10.25]", "no evidence") for x in "xyz")
    table = Table("t", ("system", "baseline", "[95% interval]", "verdict"), rows, "<<><")
    lines = table.lines(40)[0]
    assert max(map(len, lines)) <= 40
    assert len([line for line in lines if "-a" in line and "-b" in line]) == 6


def test_names_behind_a_place_are_cut_as_well():
    """Defect: tables that begin with "rank" went on below themselves."""
    marks = {f"{'a-long-name-' * 5}{i}": [i * 0.1, 1.0, 2.0, 3.0] for i in range(4)}
    result = es.compare(marks, metrics=es.Mean("mark"), n_resamples=9)
    for shown in (result.ranking(),):
        lines = shown.to_text(width=60).split("\n")
        rows = [line for line in lines if "…" in line and line.split()[0].isdigit()]
        assert len(rows) >= 4
        assert max(map(len, rows)) <= 60


def test_verdicts_are_whole_where_names_are_cut(examples_folder, typed, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.chdir(examples_folder)
    found = typed("compare", "logs/")
    assert [line for line in found.splitlines() if line.startswith("both …ks")]
    assert sum(line.endswith("  no evidence") for line in found.splitlines()) == 2


def test_a_header_that_is_a_name_is_folded_within(examples_folder, typed, monkeypatch):
    """Defect: at 80 columns two systems were called acme/t…ed, and a column differ…ce."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(examples_folder)
    lines = typed("compare", "logs/").splitlines()
    place = next(i for i, line in enumerate(lines) if line.startswith("task"))
    assert lines[place - 1].split() == ["acme/", "acme/", "p"]
    assert lines[place].split()[:4] == ["task", "base", "tuned", "difference"]


def test_scores_go_before_names_of_tasks_are_cut():
    """Defect: of 57 tasks a terminal showed mmlu_…cs six times."""
    tasks = [f"a_task_with_a_rather_long_name_{i}" for i in "xyz"]
    columns = [("task", "<", tasks), ("old", ">", ["0.1"] * 3), ("new", ">", ["0.2"] * 3)]
    columns += [("difference", ">", ["+0.1"] * 3)]
    table = table_of("t", range(3), columns, last=(1, 2))
    lines, left_out = table.lines(48)
    assert left_out == ["old", "new"]
    assert [line.split()[0] for line in lines[-3:]] == tasks
    assert table.lines(80)[1] == []
    # Names are cut if there is no room for them alone.
    assert "…" in table.lines(40)[0][-1]


def test_a_number_that_all_rows_have_is_a_note():
    """Defect: a column of counts went if all were equal, and nothing had the count."""
    columns = [("task", "<", ["a", "b"]), ("items", ">", ["300"] * 2), ("score", ">", ["1", "2"])]
    table = table_of("t", range(2), columns, spare=["items"]).brief()
    assert table.header == ("task", "score")
    assert table.notes == ("items: 300 in each row",)
    assert table_of("t", range(2), columns, details=["score"]).brief().header == ("task", "items")


def test_a_table_of_numbers_alone_goes_on_below_itself():
    header = ("#", *(f"system {i}" for i in range(9)))
    rows = tuple((str(i), *(f"{i}.{j}{i}{j}" for j in range(9))) for i in range(2))
    table = Table("t", header, rows, ">" * 10)
    lines = table.lines(40)[0]
    assert max(map(len, lines)) <= 40
    shown = " ".join(lines)
    assert all(cell in shown for row in rows for cell in row)


@pytest.mark.parametrize("name", ["系统系统系统系统系统系统系统系统系统", "e\u0301" * 40])
def test_wide_and_combining_signs_are_counted_as_they_are_shown(name):
    table = Table("t", ("a", "b"), ((name, "1"), ("x", "2")), "<>", notes=(name * 9,))
    assert max(map(widths.of, table.lines(40)[0])) <= 40


def test_tables_of_scores_are_called_by_what_tells_their_files_apart(tmp_path, typed, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files = [f"generaltest2022.en-cs.hyp.{name}.cs.csv" for name in ("Online-W", "CUNI")]
    for i, path in enumerate(files):
        rows = "".join(f"{n},{(n * (i + 3)) % 7}\n" for n in range(9))
        Path(path).write_text(f"segment,acc\n{rows}", encoding="utf-8")
    options = ["--higher-is-better", "acc", "--resamples", "99", "-f", "csv"]
    for baseline in ("CUNI", files[1], "generaltest2022.en-cs.hyp.CUNI.cs"):
        assert ',"CUNI","Online-W",' in typed("compare", *files, "--baseline", baseline, *options)
    # Python has the names of the files, and so has who gives names.
    (difference,) = es.compare_logs(files, directions={"acc": "higher"}, n_resamples=99)
    assert difference.system.startswith("generaltest2022")
    named = typed("compare", *files, "--names", "x.a.y", "x.b.y", *options)
    assert '"x.b.y"' in named


def test_sentences_in_a_pipe_are_lines_of_100_columns(examples_folder, typed, monkeypatch):
    monkeypatch.chdir(examples_folder)
    monkeypatch.delenv("COLUMNS", raising=False)
    words = f"compare {OLD_NEW} --groups documents.txt --verbose".split()
    above, table, below = typed(*words).split("\n\n")
    assert above.startswith("No evidence that new differs from old in BLEU")
    assert "no evidence" in table
    *notes, signature = below.splitlines()
    assert len(notes) >= 2
    assert len(signature) > 100
    assert max(map(len, (*above.splitlines(), *notes))) <= 100


def test_no_line_ends_between_a_sign_and_its_number():
    """Defect: a line ended in "p <", and the next began with 0.0001."""
    for width in range(40, 60):
        lines = widths.wrapped("The difference is far from 0, with p < 0.0001 and n = 480.", width)
        assert " ".join(lines).endswith("with p < 0.0001 and n = 480.")
        assert any("p < 0.0001" in line for line in lines)
        assert any("n = 480" in line for line in lines)
