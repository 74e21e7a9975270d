"""The command line, in this process where possible and as a program where it matters."""

import gzip
import io
import json
import subprocess
import sys

import pytest

import evalstats as es
from evalstats import cli
from tests.conftest import SYSTEMS


def run(files, *arguments):
    """Run in the folder of the files; returns exit code, stdout and stderr."""
    done = subprocess.run(
        [sys.executable, "-m", "evalstats", *arguments],
        cwd=files, capture_output=True, text=True, encoding="utf-8", check=False, timeout=120,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


def call(files, capsys, monkeypatch, *arguments):
    monkeypatch.chdir(files)
    try:
        code = cli.main(arguments)
    except SystemExit as stop:
        code = stop.code
    captured = capsys.readouterr()
    return code, captured.out, captured.err


REFS = ("-r", "ref.A.txt", "ref.B.txt")
INPUT = ("-i", *(f"{name}.txt" for name in SYSTEMS))


def test_compare_as_a_program(files, sample):
    code, out, err = run(
        files, "compare", *REFS, *INPUT, "-m", "bleu", "chrf", "--baseline", "baseline"
    )
    assert (code, err) == (0, "")
    systems = {name: sample.systems[name] for name in SYSTEMS}
    expected = es.compare(systems, sample.references, ["bleu", "chrf"], baseline="baseline")
    assert out == f"{expected}\n"
    assert "copy" in out
    assert "1.0000" in out


def test_json_is_the_apis(files, capsys, monkeypatch, sample):
    code, out, _ = call(
        files, capsys, monkeypatch, "compare", *REFS, *INPUT, "-m", "ter", "--test", "bootstrap",
        "--resamples", "99", "--seed", "0", "--method", "bca", "--alternative", "less",
        "--adjustment", "bonferroni", "--confidence-level", "0.9", "--groups", "docs.txt",
        "-f", "json",
    )  # fmt: skip
    systems = {name: sample.systems[name] for name in SYSTEMS}
    expected = es.compare(
        systems, sample.references, "ter", test="bootstrap", n_resamples=99, rng=0, method="bca",
        alternative="less", adjustment="bonferroni", confidence_level=0.9, groups=sample.documents,
    )  # fmt: skip
    assert code == 0
    assert json.loads(out) == expected.to_dict()


def test_adjustment_family_and_intervals(files, capsys, monkeypatch, sample):
    code, out, _ = call(
        files, capsys, monkeypatch, "compare", *REFS, *INPUT, "-m", "ter", "--adjust", "max-t",
        "--family", "all", "--intervals", "simultaneous", "--resamples", "199", "-f", "json",
    )  # fmt: skip
    systems = {name: sample.systems[name] for name in SYSTEMS}
    expected = es.compare(
        systems, sample.references, "ter", n_resamples=199, family="all", intervals="simultaneous"
    )
    assert code == 0
    assert json.loads(out) == expected.to_dict()


def test_strata_are_the_apis(files, capsys, monkeypatch, sample):
    (files / "domains.txt").write_text("".join(f"{d}\n" for d in sample.domains), encoding="utf-8")
    systems = {name: sample.systems[name] for name in SYSTEMS}
    settings = {"strata": sample.domains, "groups": sample.documents, "n_resamples": 99}
    options = ("--strata", "domains.txt", "--groups", "docs.txt", "--resamples", "99", "-f", "json")
    for aggregate in ("micro", "macro"):
        code, out, _ = call(
            files, capsys, monkeypatch, "estimate", *REFS, *INPUT, "-m", "ter",
            "--aggregate", aggregate, *options,
        )  # fmt: skip
        expected = es.estimate(systems, sample.references, "ter", aggregate=aggregate, **settings)
        assert code == 0
        assert json.loads(out) == expected.to_dict()
    code, _, err = call(
        files, capsys, monkeypatch, "compare", *REFS, *INPUT, "--strata", "docs.txt",
        "--groups", "domains.txt",
    )  # fmt: skip
    assert code == 2
    assert "each group must lie in one stratum" in err
    code, _, err = call(
        files, capsys, monkeypatch, "compare", *REFS, *INPUT, "--aggregate", "macro"
    )
    assert code == 2
    assert "aggregate='macro' needs strata" in err
    (files / "short.txt").write_text("news\n", encoding="utf-8")
    code, _, err = call(
        files, capsys, monkeypatch, "estimate", *REFS, *INPUT, "--strata", "short.txt"
    )
    assert code == 2
    assert "strata has 1 labels but there are 480 segments" in err


def test_estimate_and_output_file(files, capsys, monkeypatch):
    code, out, _ = call(
        files, capsys, monkeypatch, "estimate", *REFS, *INPUT, "--names", "x", "y", "z",
        "-f", "markdown", "-o", "result.md",
    )  # fmt: skip
    assert (code, out) == (0, "")
    text = (files / "result.md").read_text(encoding="utf-8")
    assert text.startswith("**BLEU ↑")
    assert "| z |" in text


def test_metric_options_carry_sacrebleus_names(files, capsys, monkeypatch, sample):
    code, out, _ = call(
        files, capsys, monkeypatch, "estimate", *REFS, "-i", "baseline.txt",
        "-m", "bleu", "chrf++", "chrf", "ter", "-tok", "intl", "-lc", "-s", "floor", "-sv", "0.2",
        "--max-ngram-order", "3", "--effective-order", "--chrf-beta", "3", "--chrf-lowercase",
        "--chrf-whitespace", "--chrf-eps-smoothing", "--ter-normalized", "--ter-case-sensitive",
        "-f", "json", "--resamples", "9",
    )  # fmt: skip
    chrf = {"beta": 3, "lowercase": True, "whitespace": True, "eps_smoothing": True}
    expected = [
        es.BLEU(tokenize="intl", lowercase=True, smooth_method="floor", smooth_value=0.2,
                max_ngram_order=3, effective_order=True),
        es.CHRF(word_order=2, **chrf),
        es.CHRF(**chrf),
        es.TER(normalized=True, case_sensitive=True),
    ]  # fmt: skip
    assert code == 0
    for found, metric in zip(json.loads(out)["estimates"], expected, strict=True):
        rows = metric.statistics(sample.systems["baseline"], sample.references)
        assert found["score"] == pytest.approx(float(metric.score(rows.sum(axis=0))))
        assert metric.signature in found["signature"]


def test_demo(files):
    code, out, err = run(files, "demo")
    assert (code, err) == (0, "")
    for line in out.split("\n"):
        if line.startswith("copy ") and "[" in line:
            assert "1.0000" in line
        if line.startswith("clearly-better "):
            assert line.endswith("  better")
            assert float(line.split("]")[2].split()[0]) < 0.001


def test_language_pair_chooses_the_tokeniser(files, capsys, monkeypatch):
    _, out, _ = call(files, capsys, monkeypatch, "estimate", *REFS, "-i", "copy.txt", "-l", "en-zh",
                     "--resamples", "9")  # fmt: skip
    assert "tok:zh" in out


@pytest.fixture
def cached_test_set(tmp_path, monkeypatch, sample):
    """Put two test sets where sacreBLEU would have cached them, WMT22 with its texts only."""
    for name, fields in (
        ("wmt17", ("src", "ref", "docid", "genre", "origlang")),
        ("wmt22", ("src", "ref-A")),
    ):
        folder = tmp_path / name
        folder.mkdir()
        lines = "\n".join(row[0] for row in sample.references) + "\n"
        for field in fields:
            (folder / f"{name}.en-de.{field}").write_text(lines, encoding="utf-8")
    return tmp_path


def test_sacrebleus_test_set_from_its_cache(files, cached_test_set, monkeypatch):
    monkeypatch.setenv("SACREBLEU", str(cached_test_set))
    arguments = ("estimate", "-i", "baseline.txt", "--resamples", "9")
    # Nothing may be downloaded in a test.
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
    _, from_file, _ = run(files, *arguments, "-r", "ref.A.txt")
    for name in ("wmt17", "wmt22"):
        code, from_cache, err = run(files, *arguments, "-t", name, "-l", "en-de")
        assert (code, err) == (0, "")
        assert from_cache == from_file
    code, _, err = run(files, *arguments, "-t", "wmt16", "-l", "en-de")
    assert code == 2
    assert "test set wmt16/en-de is not cached and could not be downloaded" in err


def test_files_are_read_as_sacrebleu_reads_them(tmp_path):
    from evalstats.statistics.files import read_lines

    path = tmp_path / "x.txt"
    path.write_bytes("a \r\n\n\u2028b\u0085c\rd\x0b\ne".encode())
    assert read_lines(str(path)) == ["a", "", "\u2028b\u0085c\rd", "e"]
    zipped = tmp_path / "x.txt.gz"
    zipped.write_bytes(gzip.compress("ä\n".encode()))
    assert read_lines(str(zipped)) == ["ä"]


@pytest.fixture(scope="module")
def bad_files(files):
    (files / "empty.txt").write_bytes(b"")
    (files / "latin1.txt").write_bytes("ok\nna\xefve\n".encode("latin-1"))
    (files / "short.txt").write_text("one\n", encoding="utf-8")
    (files / "sub").mkdir()
    (files / "sub" / "copy.txt").write_text("one\n", encoding="utf-8")
    (files / "broken.gz").write_bytes(b"not gzip")
    (files / "corrupt.gz").write_bytes(b"\x1f\x8b\x08\x00garbage-garbage-garbage")
    return files


@pytest.mark.parametrize(
    "arguments, message",
    [
        ((*REFS, "-i", "nothing.txt", "copy.txt"), "cannot read nothing.txt: No such file or direc"),
        ((*REFS, "-i", "sub", "copy.txt"), "cannot read sub: Is a directory"),
        ((*REFS, "-i", "broken.gz", "copy.txt"), "cannot read broken.gz: Not a gzipped file"),
        ((*REFS, "-i", "corrupt.gz", "copy.txt"), "cannot read corrupt.gz: "),
        ((*REFS, "-i", "no\nfile", "copy.txt"), "cannot read no\\nfile: No such file"),
        ((*REFS, *INPUT, "--names", "a", "b\nc", "d"), "system names must be printable text on one"),
        ((*REFS, *INPUT, "--resamples", "10000000000000"), "--resamples must be at most 10000000"),
        ((*REFS, *INPUT, "--max-ngram-order", "100000"), "max_ngram_order must be at most 1000"),
        ((*REFS, "-i", "empty.txt", "copy.txt"), "empty.txt is empty; expected one segment a line"),
        ((*REFS, "-i", "latin1.txt", "copy.txt"), "latin1.txt is not UTF-8: byte 0xef in line 2"),
        ((*REFS, "-i", "short.txt", "copy.txt"), "short.txt has 1 lines but the references have 480"),
        (("-r", "ref.A.txt", "short.txt", *INPUT), "references must have the same number of lines"),
        ((*REFS, "-i", "copy.txt", "sub/copy.txt"), "system name 'copy' comes from both copy.txt and"),
        ((*REFS, *INPUT, "--names", "x"), "--names needs one name for each of the 3 inputs, got 1"),
        ((*REFS, *INPUT, "--baseline", "x"), "baseline must be one of baseline, copy, clearly-bet"),
        ((*REFS, "-i", "copy.txt"), "compare needs at least 2 systems, got 1"),
        (INPUT, "references are missing: give -r FILE ..., or -t NAME -l SRC-TRG"),
        ((*REFS, *INPUT, "-t", "wmt22"), "give either -r/--references or -t/--test-set, not both"),
        ((*INPUT, "-t", "wmt22"), "-t/--test-set needs -l/--language-pair"),
        ((*INPUT, "-t", "wmt1", "-l", "en-de"), "test set 'wmt1' is not one of sacreBLEU's"),
        ((*INPUT, "-t", "wmt22", "-l", "en-xx"), "language pair 'en-xx' is not in wmt22; it has"),
        ((*REFS, *INPUT, "-m", "rouge"), "argument -m/--metrics: invalid choice: 'rouge'"),
        ((*REFS, *INPUT, "--test", "x"), "argument --test: invalid choice: 'x'"),
        ((*REFS, *INPUT, "-tok", "moses"), "tokenize must be one of none, zh"),
        ((*REFS, *INPUT, "-s", "x"), "argument -s/--smooth-method: invalid choice: 'x'"),
        ((*REFS, *INPUT, "-s", "floor", "-sv", "-1"), "smooth_value must be a finite number of at least 0"),
        ((*REFS, *INPUT, "--resamples", "1"), "--resamples must be at least 2, got 1"),
        ((*REFS, *INPUT, "--resamples", "x"), "argument --resamples: invalid int value: 'x'"),
        ((*REFS, *INPUT, "--confidence-level", "2"), "confidence_level must be between 0 and 1"),
        ((*REFS, *INPUT, "--seed", "-3"), "--seed must be at least 0, got -3"),
        ((*REFS, *INPUT, "--groups", "short.txt"), "groups has 1 labels but there are 480 segments"),
        ((*REFS, *INPUT, "--chrf-beta", "3"), "--chrf-beta has no effect without -m chrf"),
        ((*REFS, *INPUT, "-m", "ter", "-lc"), "--lowercase has no effect without -m bleu"),
        ((*REFS, *INPUT, "-o", "nowhere/x"), "cannot write nowhere/x: No such file or directory"),
        ((*REFS, *INPUT, "--resample", "99"), "unrecognized arguments: --resample"),
    ],
)  # fmt: skip
def test_bad_input_is_one_line_and_exit_code_2(bad_files, capsys, monkeypatch, arguments, message):
    code, out, err = call(
        bad_files, capsys, monkeypatch, "compare", *(*arguments, "--resamples", "20")
        if "--resamples" not in arguments else arguments,
    )  # fmt: skip
    assert code == 2
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("evalstats")
    assert message in err


def test_audit_does_not_take_groups_that_it_would_ignore(files, capsys, monkeypatch):
    code, _, err = call(files, capsys, monkeypatch, "audit", *REFS, *INPUT, "--groups", "copy.txt")
    assert code == 2
    assert "unrecognized arguments: --groups" in err


def test_a_reader_that_stops_early_is_no_error(files):
    done = subprocess.run(
        f"{sys.executable} -m evalstats demo | head -n 1",
        shell=True, cwd=files, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stderr == ""
    assert done.stdout.startswith("BLEU")


def test_progress_shows_on_a_terminal_when_the_work_is_long():
    for terminal, wait, shown in ((True, 2, True), (True, 0, False), (False, 2, False)):
        stream = io.StringIO()
        stream.isatty = lambda terminal=terminal: terminal
        with cli._Progress(stream) as progress:
            progress._start -= wait
            progress(2, 9, "extracting")
        text = stream.getvalue()
        assert ("extracting 22 %" in text) == shown
        assert text == "" or text.endswith("\r\x1b[K")


def test_a_file_name_that_is_not_text_is_named_in_the_error(files):
    code, out, err = run(files, "estimate", *REFS, "-i", b"odd\xff.txt")
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert "cannot read odd" in err


def extracted(files, capsys, monkeypatch, name, *options):
    """Extract one system into NAME.npz."""
    done = call(
        files, capsys, monkeypatch, "extract", *REFS, "-i", f"{name}.txt", "-o", f"{name}.npz",
        *options,
    )  # fmt: skip
    assert done == (0, "", "")
    return f"{name}.npz"


def test_files_of_statistics_compare_like_the_texts(files, capsys, monkeypatch):
    saved = [extracted(files, capsys, monkeypatch, name) for name in SYSTEMS]
    options = ("--baseline", "baseline", "--groups", "docs.txt", "--resamples", "99")
    _, expected, _ = call(files, capsys, monkeypatch, "compare", *REFS, *INPUT, *options)
    assert call(files, capsys, monkeypatch, "compare", *saved, *options) == (0, expected, "")
    assert call(files, capsys, monkeypatch, "compare", *options, *saved) == (0, expected, "")
    _, expected, _ = call(files, capsys, monkeypatch, "estimate", *REFS, *INPUT, "-f", "json")
    done = call(files, capsys, monkeypatch, "estimate", *saved, "-f", "json")
    assert done == (0, expected, "")


def test_extract_keeps_options_and_ids(files, capsys, monkeypatch):
    (files / "ids.txt").write_text("\n".join(f"s{i}" for i in range(480)), encoding="utf-8")
    path = extracted(
        files, capsys, monkeypatch, "copy", "-m", "chrf", "-cw", "2", "--ids", "ids.txt"
    )
    table = es.SegmentStatistics.load(files / path)
    assert table.metric == es.CHRF(word_order=2)
    assert table.segment_ids[:2] == ("s0", "s1")


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("compare", "x.npz"), "cannot read x.npz: No such file"),
        (("compare", "x.npz", "-m", "bleu"), "-m is for texts: the statistics in x.npz have their"),
        (("compare", "x.npz", "-r", "ref.A.txt"), "-r is for texts"),
        (("estimate", "x.npz", "--chrf-beta", "1"), "--chrf-beta is for texts"),
        (
            ("estimate", "copy.txt"),
            "copy.txt is neither statistics (.npz) nor a log or a table of scores; give outputs",
        ),
        (("compare", *REFS), "outputs are missing: give -i FILE"),
        (("extract", *REFS, *INPUT, "-o", "x.txt"), "-o must end in .npz, got x.txt"),
        (("extract", *REFS, *INPUT, "-o", "no/x.npz"), "cannot write no/x.npz: No such file"),
        (("extract", *REFS, *INPUT, "-m", "bleu", "ter", "-o", "x.npz"), "-m needs one metric"),
    ],
)
def test_bad_use_of_statistics_is_one_line(files, capsys, monkeypatch, arguments, message):
    code, out, err = call(files, capsys, monkeypatch, *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err


def test_printed_names_of_metrics_and_csv(files, capsys, monkeypatch):
    code, out, _ = call(
        files, capsys, monkeypatch, "compare", *REFS, *INPUT, "-m", "chrF2++", "TER", "-f", "csv",
        "--resamples", "99",
    )  # fmt: skip
    lines = out.split("\n")
    assert code == 0
    assert lines[0].startswith('"metric","baseline","system","baseline_score"')
    assert {line.split(",")[0] for line in lines[1:-1]} == {'"chrF2++"', '"TER"'}


def test_rank(files, capsys, monkeypatch):
    """Rankings under each metric, and one of all."""
    asked = ("rank", *REFS, *INPUT, "-m", "bleu", "chrf", "--resamples", "99")
    code, out, _ = call(files, capsys, monkeypatch, *asked)
    assert code == 0
    assert "Ranks by BLEU" in out
    assert "Ranks by chrF2" in out
    code, out, _ = call(files, capsys, monkeypatch, *asked, "--composite", "borda")
    assert code == 0
    assert out.startswith("Ranks by Borda")
    composite = (*asked, "--composite", "borda", "--adjust", "holm")
    code, _, error = call(files, capsys, monkeypatch, *composite)
    assert code == 2
    assert "--adjustment has no effect with --composite, which has max-T of its own" in error
    for command in ("rank", "power"):
        code, _, error = call(files, capsys, monkeypatch, command, *REFS, "-i", "copy.txt")
        assert code == 2
        assert f"evalstats {command}: error: {command} needs at least 2 systems, got 1" in error
