"""The command line at its edges: a program, its streams, its files, what it says meanwhile."""

import io
import os
import re
import subprocess
import sys
from contextlib import nullcontext
from importlib import metadata

import pytest
from sacrebleu import utils
from sacrebleu.dataset import DATASETS

from evalstats import cli
from evalstats.cli.output import destination
from evalstats.results import signatures
from evalstats.text import tokenization
from tests.conftest import SYSTEMS

REFS = ("-r", "ref.A.txt", "ref.B.txt")
INPUT = ("-i", *(f"{name}.txt" for name in SYSTEMS))
FEW = ("--resamples", "9")
#: One system, little work.
ONE = ("estimate", *REFS, "-i", "copy.txt", *FEW)


@pytest.fixture(autouse=True)
def here(files, monkeypatch):
    monkeypatch.chdir(files)
    return files


def test_a_program_and_a_file_name_that_is_not_text():
    """Exit code and one line, also where the terminal cannot show the name."""
    done = subprocess.run(
        [sys.executable, "-m", "evalstats", *ONE[:-4], "-i", b"odd\xff.txt", *FEW],
        capture_output=True, encoding="utf-8", check=False, timeout=120,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "cannot read odd" in done.stderr


def full():
    return open("/dev/full", "w", encoding="utf-8")


def left():
    """Return a pipe whose reader has seen enough."""
    reader, writer = os.pipe()
    os.close(reader)
    return open(writer, "w", encoding="utf-8")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
@pytest.mark.parametrize(
    "words, stream, make, code, message",
    [
        (["--help"], "stdout", full, 2, "cannot write standard output: No space left on device"),
        (["estimate"], "stdout", nullcontext, 2, "standard output is closed; give -o FILE"),
        (["compare", "--help-all"], "stdout", left, 141, ""),
        (ONE, "stderr", nullcontext, 0, ""),
        (["estimate"], "stderr", nullcontext, 2, ""),
    ],
)
def test_broken_outputs_end_quietly(monkeypatch, capsys, words, stream, make, code, message):
    monkeypatch.setattr(sys, "argv", ["evalstats", *words])
    with make() as made:
        monkeypatch.setattr(sys, stream, made)
        with pytest.raises(SystemExit) as stopped:
            cli.run()
    assert stopped.value.code == code
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == bool(message)


def test_sacrebleus_test_set_from_its_cache(tmp_path, monkeypatch, small, typed, refused):
    """Two test sets where sacreBLEU would have cached them, WMT22 with its texts only."""
    # Nothing may be downloaded in a test.
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
    monkeypatch.setattr(utils, "SACREBLEU_DIR", str(tmp_path))
    lines = "\n".join(row[0] for row in small.references) + "\n"
    for name, fields in (
        ("wmt17", ("src", "ref", "docid", "genre", "origlang")),
        ("wmt22", ("src", "ref-A")),
        ("wmt16", ()),
    ):
        monkeypatch.setattr(DATASETS[name], "_outdir", str(tmp_path / name))
        (tmp_path / name).mkdir()
        for field in fields:
            (tmp_path / name / f"{name}.en-de.{field}").write_text(lines, encoding="utf-8")
    asked = ("estimate", "-i", "baseline.txt", *FEW)
    for name in ("wmt17", "wmt22"):
        assert typed(*asked, "-t", name, "-l", "en-de") == typed(*asked, "-r", "ref.A.txt")
    message = "wmt16/en-de is not cached and could not be downloaded"
    assert message in refused(*asked, "-t", "wmt16", "-l", "en-de")


def test_dash_is_standard_input(here, typed, refused, monkeypatch):
    class Input:
        buffer = io.BytesIO((here / "copy.txt").read_bytes())

    asked = ("estimate", *REFS, "-i", "-", *FEW)
    expected = typed(*ONE, "--names", "stdin")
    monkeypatch.setattr(sys, "stdin", Input)
    assert typed(*asked) == expected
    monkeypatch.setattr(sys, "stdin", None)
    assert "standard input is closed" in refused(*asked)


def test_a_destination_is_tried_before_the_work(refused):
    """No file of references is there: what is said is about the destination, which came first."""
    for path in ("nowhere/x.txt", "x" * 300 + ".md"):
        assert "cannot write" in refused("compare", "-r", "no.txt", *INPUT, "-o", path)
    assert "cannot write" in refused("extract", "-r", "no.txt", *INPUT, "-o", "nowhere/x.npz")


def test_a_destination_is_no_input(here, refused):
    os.symlink(here / "copy.txt", here / "alias.txt")
    os.link(here / "copy.txt", here / "linked.txt")
    for path in ("copy.txt", "./copy.txt", "ref.B.txt", "docs.txt", "alias.txt", "linked.txt"):
        before = (here / path).read_bytes()
        assert f"-o {path} is the input" in refused(*ONE, "--groups", "docs.txt", "-o", path)
        assert (here / path).read_bytes() == before


def test_a_destination_changes_only_when_there_is_a_result(here, typed, refused):
    bad = ("estimate", *REFS, "-i", "nothing.txt", "-o")
    refused(*bad, "new.txt")
    assert not (here / "new.txt").exists()
    (here / "old.txt").write_text("precious", encoding="utf-8")
    refused(*bad, "old.txt")
    assert (here / "old.txt").read_text(encoding="utf-8") == "precious"
    expected = typed(*ONE, "-o", "-")
    assert typed(*ONE, "-o", "old.txt") == ""
    assert (here / "old.txt").read_text(encoding="utf-8") == expected


def test_a_result_goes_to_several_places_and_a_gate_to_the_console_too(here, typed, run_here):
    """Defect: a CI job had to run its gate twice to have a log, a JUnit file and a summary."""
    asked = ("estimate", *REFS, "-i", "copy.txt", "-m", "wer", "bleu", *FEW)
    assert typed(*asked, "-o", "a.md", "-o", "a.csv") == ""
    assert typed(*asked, "-o", "-", "-o", "b.md") == typed(*asked)
    for name, form in (("a.md", "markdown"), ("a.csv", "csv"), ("b.md", "markdown")):
        assert (here / name).read_text(encoding="utf-8") == typed(*asked, "-f", form)
    gate = ("gate", *REFS, "-i", "copy.txt", "--baseline", "clearly-better.txt", "--margin", "1",
            "-m", "wer", *FEW)  # fmt: skip
    code, table, _ = run_here(*gate)
    assert (code, table.startswith("UNDECIDED: copy against clearly-better")) == (3, True)
    assert run_here(*gate, "-o", "gate.xml", "-o", "gate.md", "--digits", "3")[0] == code
    junit = (here / "gate.xml").read_text(encoding="utf-8")
    assert run_here(*gate, "-f", "junit")[1] == junit
    assert run_here(*gate, "-o", "gate.xml") == (code, table, "")
    assert run_here(*gate, "-f", "junit", "-o", "-") == (code, junit, "")
    # No file stays where one of them cannot be made.
    assert run_here(*gate, "-o", "none.xml", "-o", "nowhere/x.md")[0] == 2
    assert not (here / "none.xml").exists()


def test_digits_are_those_that_are_asked_for(here, typed):
    """Defect: one small error gave a whole column six decimals, and nothing could be said."""
    asked = ("compare", *REFS, *INPUT, "-m", "wer", *FEW, "--digits", "1")
    for form in ("text", "markdown", "latex"):
        out = typed(*asked, "-f", form)
        assert re.search(r"\d\.\d\b", out)
        scores = [line for line in out.splitlines() if "baseline" in line]
        assert not re.search(r"\d\.\d\d+.*[\[{]", scores[0])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="POSIX")
def test_a_pipe_is_opened_once_when_there_is_a_result(here):
    """A reader sees that a writer has come and gone."""
    select = pytest.importorskip("select")
    os.mkfifo(here / "pipe")
    reader = os.open(here / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        seen = select.poll()
        seen.register(reader)
        with destination(str(here / "pipe")) as write:
            assert seen.poll(0) == []
            write("text")
        assert os.read(reader, 99) == b"text\n"
    finally:
        os.close(reader)


def test_forms_and_their_files(typed, here):
    assert typed(*ONE, "--names", "x", "-f", "markdown", "-o", "result.md") == ""
    text = (here / "result.md").read_text(encoding="utf-8")
    assert text.startswith("**BLEU ↑")
    assert "| x |" in text
    typed(*ONE, "-o", "table.tex", "--caption", "Ours & theirs", "--label", "tab:ours")
    written = (here / "table.tex").read_text(encoding="utf-8")
    assert r"\caption{Ours \& theirs}" in written
    assert r"\label{tab:ours}" in written


def test_a_figure_is_written_by_its_suffix(typed, here):
    pytest.importorskip("matplotlib")
    for suffix, start, metrics, command in (
        ("svg", b"<?xml", ["wer", "bleu"], "compare"),
        ("png", b"\x89PNG", ["wer"], "rank"),
    ):
        typed(command, *REFS, *INPUT, "-m", *metrics, "-o", f"figure.{suffix}", *FEW)
        assert (here / f"figure.{suffix}").read_bytes().startswith(start)


def test_progress_shows_on_a_terminal_when_the_work_is_long(monkeypatch):
    for terminal, quiet, shown in ((True, 0, True), (True, 60, False), (False, 0, False)):
        stream = io.StringIO()
        stream.isatty = lambda terminal=terminal: terminal
        monkeypatch.setattr(sys, "stderr", stream)
        monkeypatch.setattr("evalstats.cli.output._QUIET_SECONDS", quiet)
        assert cli.main([*ONE, "-o", "progress.txt"]) == 0
        text = stream.getvalue()
        assert ("extracting 100 %" in text and "resampling 100 %" in text) == shown
        assert text == "" or text.endswith("\r\x1b[K")


def test_without_metadata_the_version_says_so(monkeypatch):
    def version(name):
        raise metadata.PackageNotFoundError(name)

    known = tokenization.sacrebleu_version()
    monkeypatch.setattr(metadata, "version", version)
    assert signatures.version.__wrapped__() == f"{signatures.VERSION}+uninstalled"
    assert tokenization.sacrebleu_version.__wrapped__() == known
