"""The command line at its edges: repeated and contradictory options, streams, destinations."""

import os
import subprocess
import sys

import pytest

import evalstats as es
from evalstats import cli
from evalstats.results import signatures
from evalstats.text import sacrebleu
from tests.test_cli import REFS, call, run

FEW = ("--resamples", "9")


def once(files, capsys, monkeypatch, *arguments):
    code, out, err = call(files, capsys, monkeypatch, *arguments)
    assert (code, err) == (0, "")
    return out


def refused(files, capsys, monkeypatch, *arguments):
    code, out, err = call(files, capsys, monkeypatch, *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    return err


def test_a_repeated_flag_adds_to_what_came_before(files, capsys, monkeypatch):
    for whole, in_parts in [
        (("-r", "ref.A.txt", "ref.B.txt"), ("-r", "ref.A.txt", "-r", "ref.B.txt")),
        ((*REFS, "-m", "bleu", "chrf"), (*REFS, "-m", "bleu", "-m", "chrf")),
        ((*REFS, "-i", "baseline.txt"), (*REFS, "-i", "baseline.txt")),
        ((*REFS, "--names", "x", "y"), (*REFS, "--names", "x", "--names", "y")),
    ]:
        first, second = ("-i", "copy.txt", "clearly-better.txt"), ("-i", "copy.txt")
        if "baseline.txt" in whole:
            first, second = first[1:], (*first[:2], "-i")
        expected = once(files, capsys, monkeypatch, "estimate", *whole, *first, *FEW)
        found = once(
            files, capsys, monkeypatch, "estimate", *in_parts, *second, "clearly-better.txt", *FEW
        )
        assert found == expected


@pytest.mark.parametrize(
    "flag", [("--seed", "1"), ("-f", "json"), ("--method", "basic"), ("-l", "en-de")]
)
def test_a_flag_of_one_value_is_given_once(files, capsys, monkeypatch, flag):
    arguments = ("estimate", *REFS, "-i", "copy.txt", *FEW, *flag)
    once(files, capsys, monkeypatch, *arguments)
    assert "is given more than once" in refused(files, capsys, monkeypatch, *arguments, *flag)


def test_the_target_language_is_parsed_or_refused(files, capsys, monkeypatch):
    arguments = ("estimate", *REFS, "-i", "copy.txt", *FEW)
    for pair, tokenizer in (("en-zh", "zh"), ("en-ZH", "zh"), ("zh-en", "13a"), ("EN-de", "13a")):
        out = once(files, capsys, monkeypatch, *arguments, "-l", pair)
        assert f"|tok:{tokenizer}|" in out
    for pair in (
        "zh",
        "en_zh",
        "zh-",
        "-zh",
        "en-zh-TW",
        "en-zh_TW",
        "",
        "en zh",
        "english-chinese",
    ):
        error = refused(files, capsys, monkeypatch, *arguments, f"-l{pair}" if pair else "-l", pair)
        assert "SRC-TRG" in error or "expected one argument" in error or "is given" in error


@pytest.mark.parametrize(
    "options, message",
    [
        (("-sv", "0.2"), "--smooth-value has no effect with --smooth-method exp; give floor"),
        (("-s", "none", "-sv", "0.2"), "--smooth-value has no effect with --smooth-method none"),
        (("-m", "chrf++", "-cw", "0"), "--chrf-word-order 0 contradicts -m chrf++, which has 2"),
        (("-m", "bleu", "bleu"), "-m must name different metrics, got bleu bleu"),
        (("-m", "chrf", "chrf++", "-cw", "2"), "-m must name different metrics, got chrf chrf++"),
        (("-l", "en-de", "--trg-lang", "zh"), "--trg-lang zh contradicts -l en-de"),
    ],
)  # fmt: skip
def test_options_without_effect_and_contradictions_are_refused(
    files, capsys, monkeypatch, options, message
):
    arguments = ("estimate", *REFS, "-i", "copy.txt", *FEW, *options)
    assert message in refused(files, capsys, monkeypatch, *arguments)


def test_dash_is_standard_input(files, capsys, monkeypatch):
    text = (files / "copy.txt").read_bytes()
    expected = run(files, "estimate", *REFS, "-i", "copy.txt", "--names", "stdin", *FEW)
    done = subprocess.run(
        [sys.executable, "-m", "evalstats", "estimate", *REFS, "-i", "-", *FEW],
        cwd=files, input=text, capture_output=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout.decode(), done.stderr.decode()) == expected
    twice = ("estimate", "-r", "-", "-i", "-", *FEW)
    assert "can be read once" in refused(files, capsys, monkeypatch, *twice)
    monkeypatch.setattr(sys, "stdin", None)
    closed = ("estimate", *REFS, "-i", "-", *FEW)
    assert "standard input is closed" in refused(files, capsys, monkeypatch, *closed)


@pytest.fixture
def no_work(monkeypatch):
    def extract_files(*arguments):
        raise AssertionError("the work began")

    monkeypatch.setattr(cli, "extract_files", extract_files)


@pytest.mark.usefixtures("no_work")
def test_a_destination_is_tried_before_the_work(files, capsys, monkeypatch):
    for command in ("compare", "estimate", "audit"):
        arguments = (command, *REFS, "-i", "copy.txt", "baseline.txt", "-o")
        for path in ("nowhere/x", ".", "x" * 300):
            assert "cannot write" in refused(files, capsys, monkeypatch, *arguments, path)
    arguments = ("extract", *REFS, "-i", "copy.txt", "-o", "nowhere/x.npz")
    assert "cannot write" in refused(files, capsys, monkeypatch, *arguments)


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize(
    "path", ["copy.txt", "./copy.txt", "ref.B.txt", "docs.txt", "alias.txt", "linked.txt"]
)
def test_a_destination_is_no_input(files, capsys, monkeypatch, path):
    for alias, make in (("alias.txt", os.symlink), ("linked.txt", os.link)):
        if not (files / alias).exists():
            make(files / "copy.txt", files / alias)
    before = (files / path).read_bytes()
    arguments = ("estimate", *REFS, "-i", "copy.txt", "--groups", "docs.txt", "-o", path)
    assert f"-o {path} is the input" in refused(files, capsys, monkeypatch, *arguments)
    assert (files / path).read_bytes() == before


def test_a_destination_changes_only_when_there_is_a_result(files, capsys, monkeypatch):
    bad = ("estimate", *REFS, "-i", "nothing.txt", "-o")
    refused(files, capsys, monkeypatch, *bad, "new.txt")
    assert not (files / "new.txt").exists()
    (files / "old.txt").write_text("precious", encoding="utf-8")
    refused(files, capsys, monkeypatch, *bad, "old.txt")
    assert (files / "old.txt").read_text(encoding="utf-8") == "precious"
    good = ("estimate", *REFS, "-i", "copy.txt", *FEW, "-o")
    expected = once(files, capsys, monkeypatch, *good, "-")
    assert once(files, capsys, monkeypatch, *good, "old.txt") == ""
    assert (files / "old.txt").read_text(encoding="utf-8") == expected


def test_without_a_command_there_is_help(files, capsys, monkeypatch):
    bare = once(files, capsys, monkeypatch)
    assert bare == once(files, capsys, monkeypatch, "--help")
    assert "compare" in bare
    assert once(files, capsys, monkeypatch, "--version") == f"evalstats {es.__version__}\n"


def test_what_was_typed_cannot_break_the_line(files, capsys, monkeypatch):
    error = refused(files, capsys, monkeypatch, "estimate", "--a\nb\x1b[2J\u202e")
    assert "--a\\nb\\x1b[2J\\u202e" in error


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
@pytest.mark.parametrize(
    "arguments, redirection, code, message",
    [
        ("demo", "> /dev/full", 2, "cannot write standard output: No space left on device"),
        ("--help", "> /dev/full", 2, "cannot write standard output: No space left on device"),
        ("demo", ">&-", 2, "evalstats demo: error: standard output is closed; give -o FILE"),
        ("demo", ">&- 2>&-", 2, ""),
        ("demo", "2>&-", 0, ""),
        ("estimate", "2>&-", 2, ""),
    ],
)
def test_broken_outputs_end_quietly(files, arguments, redirection, code, message):
    done = subprocess.run(
        f"{sys.executable} -m evalstats {arguments} {redirection}",
        shell=True, cwd=files, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == code
    assert "Traceback" not in done.stderr
    assert message in done.stderr
    assert done.stderr.count("\n") == bool(message)


def test_without_metadata_everything_works_and_the_version_says_so(
    files, capsys, monkeypatch, sample
):
    from importlib import metadata

    def version(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", version)
    caches = (signatures.version, sacrebleu.version)
    for cache in caches:
        cache.cache_clear()
    try:
        assert es.__version__ == f"{signatures.VERSION}+uninstalled"
        assert "compare" in once(files, capsys, monkeypatch, "--help")
        assert "+uninstalled" in once(files, capsys, monkeypatch, "--version")
        result = es.estimate(sample.systems["copy"], sample.references, n_resamples=9)
        assert f"evalstats:{signatures.VERSION}+uninstalled" in result.signature
        arguments = ("extract", *REFS, "-i", "copy.txt", "-o", "uninstalled.npz")
        assert once(files, capsys, monkeypatch, *arguments) == ""
        assert once(files, capsys, monkeypatch, "estimate", "uninstalled.npz", *FEW)
    finally:
        for cache in caches:
            cache.cache_clear()


def test_resampling_reports_progress(sample):
    calls = []
    systems = {name: sample.systems[name] for name in ("baseline", "copy", "slightly-better")}
    es.compare(systems, sample.references, progress=lambda *call: calls.append(call))
    for label in ("resampling", "swapping"):
        found = [(done, total) for done, total, name in calls if name == label]
        assert found
        assert found[-1][0] == found[-1][1]
        assert [done for done, _ in found] == [1 + i % found[0][1] for i in range(len(found))]
