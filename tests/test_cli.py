"""The command line: the API in words, one line where that cannot be, streams and files at their edges."""

import gzip
import io
import json
import os
import subprocess
import sys

import pytest

import evalstats as es
from evalstats import cli
from evalstats.results import signatures
from evalstats.text import sacrebleu
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


@pytest.fixture
def typed(run_here):
    """Run what is typed; return what it prints."""

    def typed(*arguments):
        code, out, err = run_here(*arguments)
        assert (code, err) == (0, "")
        return out

    return typed


@pytest.fixture
def refused(run_here):
    """Run what is typed; return the one line that says what is wrong with it."""

    def refused(*arguments):
        code, out, err = run_here(*arguments)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert err.startswith("evalstats")
        return err

    return refused


def program(*arguments, **options):
    """Run as a program; return exit code, stdout and stderr."""
    done = subprocess.run(
        [sys.executable, "-m", "evalstats", *arguments],
        capture_output=True, encoding="utf-8", check=False, timeout=120, **options,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def given(sample, here):
    (here / "domains.txt").write_text("".join(f"{d}\n" for d in sample.domains), encoding="utf-8")
    return {name: sample.systems[name] for name in SYSTEMS}, sample.references


def ranking(*given, **options):
    return es.compare(*given, **options).ranking()


@pytest.mark.parametrize(
    "command, ask, words, options",
    [
        ("compare", es.compare,
         "--test ar --resamples 99 --seed 0 --method percentile --alternative less --adjustment holm "
         "--confidence-level 0.9 --groups docs.txt",
         {"test": "ar", "n_resamples": 99, "rng": 0, "method": "percentile", "alternative": "less",
          "adjustment": "holm", "confidence_level": 0.9, "groups": "documents"}),
        ("compare", es.compare, "--adjust max-t --method simultaneous --resamples 199 --baseline copy",
         {"n_resamples": 199, "method": "simultaneous", "baseline": "copy"}),
        ("compare", es.compare, "--recovery 0.9 --contrast ratio --method bca --resamples 99",
         {"recovery": 0.9, "contrast": "ratio", "method": "bca", "n_resamples": 99}),
        ("compare", es.compare, "--margin 2 --test t --method t",
         {"margin": 2, "test": "t", "method": "t"}),
        *[("estimate", es.estimate,
           f"--strata domains.txt --groups docs.txt --resamples 99 --aggregate {aggregate}",
           {"strata": "domains", "groups": "documents", "n_resamples": 99, "aggregate": aggregate})
          for aggregate in ("micro", "macro")],
        ("rank", ranking, "--adjustment holm --resamples 99", {"adjustment": "holm", "n_resamples": 99}),
        ("power", es.power,
         "--difference 1 --segments 900 --power 0.9 --significance-level 0.01 --alternative greater "
         "--baseline copy",
         {"difference": 1, "n_segments": 900, "power": 0.9, "significance_level": 0.01,
          "alternative": "greater", "baseline": "copy"}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_a_command_is_a_call(typed, given, sample, command, ask, words, options):
    out = typed(command, *REFS, *INPUT, "-m", "ter", "-f", "json", *words.split())
    labels = {k: getattr(sample, v) for k, v in options.items() if k in ("strata", "groups")}
    expected = ask(*given, "ter", **{**options, **labels})
    assert json.loads(out) == json.loads(expected.to_json())


def test_compare_as_a_program(given):
    code, out, err = program("compare", *REFS, *INPUT, "-m", "bleu", "chrf", "--baseline", "copy")
    assert (code, err) == (0, "")
    assert out == f"{es.compare(*given, ['bleu', 'chrf'], baseline='copy')}\n"


def test_a_composite_is_a_ranking_of_all_metrics(typed):
    asked = ("rank", *REFS, *INPUT, "-m", "bleu", "chrf", "--resamples", "99")
    out = typed(*asked)
    assert "Ranks by BLEU" in out
    assert "Ranks by chrF2" in out
    assert typed(*asked, "--composite", "borda").startswith("Ranks by Borda")


def test_formats_and_output_files(typed, here):
    asked = ("estimate", *REFS, *INPUT, "--names", "x", "y", "z", *FEW)
    assert typed(*asked, "-f", "markdown", "-o", "result.md") == ""
    text = (here / "result.md").read_text(encoding="utf-8")
    assert text.startswith("**BLEU ↑")
    assert "| z |" in text
    lines = typed("compare", *REFS, *INPUT, "-m", "chrF2++", "TER", "-f", "csv", *FEW).split("\n")
    assert lines[0].startswith('"task","aggregate","metric","baseline","system"')
    assert {line.split(",")[2] for line in lines[1:-1]} == {'"chrF2++"', '"TER"'}


def test_metric_options_carry_sacrebleus_names(typed, sample):
    out = typed(
        "estimate", *REFS, "-i", "baseline.txt", "-m", "bleu", "chrf++", "chrf", "ter", "-tok",
        "intl", "-lc", "-s", "floor", "-sv", "0.2", "--max-ngram-order", "3", "--effective-order",
        "--chrf-beta", "3", "--chrf-lowercase", "--chrf-whitespace", "--chrf-eps-smoothing",
        "--ter-normalized", "--ter-case-sensitive", "-f", "json", *FEW,
    )  # fmt: skip
    chrf = {"beta": 3, "lowercase": True, "whitespace": True, "eps_smoothing": True}
    expected = [
        es.BLEU(tokenize="intl", lowercase=True, smooth_method="floor", smooth_value=0.2,
                max_ngram_order=3, effective_order=True),
        es.CHRF(word_order=2, **chrf),
        es.CHRF(**chrf),
        es.TER(normalized=True, case_sensitive=True),
    ]  # fmt: skip
    for found, metric in zip(json.loads(out)["estimates"], expected, strict=True):
        rows = metric.statistics(sample.systems["baseline"], sample.references)
        assert found["score"] == pytest.approx(float(metric.score(rows.sum(axis=0))))
        assert metric.signature in found["signature"]


def test_demo(typed):
    for line in typed("demo").split("\n"):
        if line.startswith("copy ") and "[" in line:
            assert "1.0000" in line
        if line.startswith("clearly-better "):
            assert line.endswith("  better")
            assert line.split("]")[2].split()[0] == "<0.0001"


def test_a_repeated_flag_adds_to_what_came_before(typed):
    expected = typed("estimate", *REFS, *INPUT, "-m", "bleu", "ter", "--names", *"xyz", *FEW)
    parts = [("-r", "ref.A.txt"), ("-i", *INPUT[1:3]), ("--names", "x"), ("-m", "bleu"),
             ("-r", "ref.B.txt"), ("-i", INPUT[3]), ("--names", "y", "z"), ("-m", "ter")]  # fmt: skip
    assert typed("estimate", *(word for part in parts for word in part), *FEW) == expected


def test_the_target_language_chooses_the_tokeniser_or_is_refused(typed, refused):
    for pair, tokenizer in (("en-zh", "zh"), ("en-ZH", "zh"), ("zh-en", "13a"), ("EN-de", "13a")):
        assert f"|tok:{tokenizer}|" in typed(*ONE, "-l", pair)
    for pair in ("zh", "en_zh", "zh-", "en-zh-TW", "", "en zh", "english-chinese"):
        assert "SRC-TRG" in refused(*ONE, "-l", pair)


def test_sacrebleus_test_set_from_its_cache(tmp_path, monkeypatch, sample, typed, refused):
    """Two test sets where sacreBLEU would have cached them, WMT22 with its texts only."""
    for name, fields in (
        ("wmt17", ("src", "ref", "docid", "genre", "origlang")),
        ("wmt22", ("src", "ref-A")),
    ):
        (tmp_path / name).mkdir()
        lines = "\n".join(row[0] for row in sample.references) + "\n"
        for field in fields:
            (tmp_path / name / f"{name}.en-de.{field}").write_text(lines, encoding="utf-8")
    monkeypatch.setenv("SACREBLEU", str(tmp_path))
    # Nothing may be downloaded in a test.
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
    asked = ("estimate", "-i", "baseline.txt", *FEW)
    from_file = typed(*asked, "-r", "ref.A.txt")
    for name in ("wmt17", "wmt22"):
        # sacreBLEU reads the place of its cache when it is imported.
        assert program(*asked, "-t", name, "-l", "en-de") == (0, from_file, "")
    code, _, error = program(*asked, "-t", "wmt16", "-l", "en-de")
    assert code == 2
    assert "test set wmt16/en-de is not cached and could not be downloaded" in error


def test_files_are_read_as_sacrebleu_reads_them(tmp_path):
    from evalstats.statistics.files import read_lines

    path = tmp_path / "x.txt"
    path.write_bytes("a \r\n\n\u2028b\u0085c\rd\x0b\ne".encode())
    assert read_lines(str(path)) == ["a", "", "\u2028b\u0085c\rd", "e"]
    zipped = tmp_path / "x.txt.gz"
    zipped.write_bytes(gzip.compress("ä\n".encode()))
    assert read_lines(str(zipped)) == ["ä"]


def test_files_of_statistics_compare_like_the_texts(typed, here):
    for name in SYSTEMS:
        extract = ("extract", *REFS, "-i", f"{name}.txt", "-o", f"{name}.npz")
        assert typed(*extract) == ""
    saved = [f"{name}.npz" for name in SYSTEMS]
    options = ("--baseline", "baseline", "--groups", "docs.txt", "--resamples", "99")
    expected = typed("compare", *REFS, *INPUT, *options)
    assert typed("compare", *saved, *options) == typed("compare", *options, *saved) == expected
    expected = typed("estimate", *REFS, *INPUT, "-f", "json")
    assert typed("estimate", *saved, "-f", "json") == expected
    (here / "ids.txt").write_text("\n".join(f"s{i}" for i in range(480)), encoding="utf-8")
    typed("extract", *REFS, *INPUT, "-m", "chrf", "-cw", "2", "--ids", "ids.txt", "-o", "all.npz")
    table = es.SegmentStatistics.load(here / "all.npz")
    assert (table.metric, table.systems) == (es.CHRF(word_order=2), SYSTEMS)
    assert table.segment_ids[:2] == ("s0", "s1")


@pytest.fixture(scope="module")
def bad_files(files):
    (files / "empty.txt").write_bytes(b"")
    (files / "latin1.txt").write_bytes("ok\nna\xefve\n".encode("latin-1"))
    (files / "short.txt").write_text("one\n", encoding="utf-8")
    (files / "sub").mkdir()
    (files / "sub" / "copy.txt").write_text("one\n", encoding="utf-8")
    (files / "broken.gz").write_bytes(b"not gzip")
    (files / "corrupt.gz").write_bytes(b"\x1f\x8b\x08\x00garbage-garbage-garbage")
    (files / "domains.txt").write_text("a\nb\n" * 240, encoding="utf-8")


COMPARE, ESTIMATE = ("compare", *REFS, *INPUT), ("estimate", *REFS, "-i", "copy.txt")


@pytest.mark.usefixtures("bad_files")
@pytest.mark.parametrize(
    "arguments, message",
    [
        (("compare", *REFS, "-i", "nothing.txt", "copy.txt"), "cannot read nothing.txt: No such file or direc"),
        (("compare", *REFS, "-i", "sub", "copy.txt"), "cannot read sub: Is a directory"),
        (("compare", *REFS, "-i", "broken.gz", "copy.txt"), "cannot read broken.gz: Not a gzipped file"),
        (("compare", *REFS, "-i", "corrupt.gz", "copy.txt"), "cannot read corrupt.gz: "),
        ((*COMPARE, "-o", "table.xyz"), "-o table.xyz does not say its form; end it in one of .txt"),
        ((*COMPARE, "-o", "table.tex", "-f", "csv"), "-o table.tex is a file of latex, but -f asks for csv"),
        ((*COMPARE, "--systems", "cpoy"), "there is no 'cpoy'"),
        ((*COMPARE, "--baseline", "cpoy"), "there are baseline, copy, clearly-better; did you mean 'copy'?"),
        (("comapre",), "did you mean 'compare'?"),
        ((*COMPARE, "--caption", "x"), "--caption is for LaTeX: -f latex, or -o FILE.tex"),
        (("gate", *COMPARE[1:], "--baseline", "copy", "--margin", "1"), "there are baseline, copy, clearly-better: choose with --systems"),
        (("gate", *ESTIMATE[1:], "--baseline", "baseline.txt", "--margin", "-1"), "metric says which side is a loss\n"),
        (("compare", *REFS, "-i", "no\nfile", "copy.txt", "--names", "x", "y"), "cannot read no\\nfile: No such"),
        (("compare", *REFS, "-i", "empty.txt", "copy.txt"), "empty.txt is empty; expected one segment a line"),
        (("compare", *REFS, "-i", "latin1.txt", "copy.txt"), "latin1.txt is not UTF-8: byte 0xef in line 2"),
        (("compare", *REFS, "-i", "short.txt", "copy.txt"), "short.txt has 1 lines but the references have 480"),
        (("compare", "-r", "ref.A.txt", "short.txt", *INPUT), "references must have the same number of lines"),
        (("compare", *REFS, "-i", "copy.txt", "sub/copy.txt"), "system name 'copy' comes from both copy.txt and"),
        (("compare", *REFS), "outputs are missing: give -i FILE"),
        (("compare", *INPUT), "references are missing: give -r FILE ..., or -t NAME -l SRC-TRG"),
        *[((command, *REFS, "-i", "copy.txt"), f"evalstats {command}: error: {command} needs at least 2 systems, got 1")
          for command in ("compare", "rank", "power")],
        (("compare", *INPUT, "-t", "wmt22"), "-t/--test-set needs -l/--language-pair"),
        (("compare", *INPUT, "-t", "wmt1", "-l", "en-de"), "test set 'wmt1' is not one of sacreBLEU's"),
        (("compare", *INPUT, "-t", "wmt22", "-l", "en-xx"), "language pair 'en-xx' is not in wmt22; it has"),
        ((*COMPARE, "-t", "wmt22"), "give either -r/--references or -t/--test-set, not both"),
        ((*COMPARE, "--names", "a", "b\nc", "d"), "system names must be printable text on one"),
        ((*COMPARE, "--names", "x"), "--names needs one name for each of the 3 inputs, got 1"),
        ((*COMPARE, "--baseline", "x"), "--baseline: there is no 'x'; there are baseline, copy"),
        ((*COMPARE, "--resamples", "10000000000000"), "--resamples must be at most 10000000"),
        ((*COMPARE, "--resamples", "1"), "--resamples must be at least 2, got 1"),
        ((*COMPARE, "--resamples", "x"), "argument --resamples: invalid int value: 'x'"),
        ((*COMPARE, "--resample", "99"), "unrecognized arguments: --resample"),
        ((*COMPARE, "--seed", "-3"), "--seed must be at least 0, got -3"),
        ((*COMPARE, "--seed", "1", "--seed", "1"), "argument --seed: is given more than once"),
        ((*COMPARE, "--confidence-level", "2"), "confidence_level must be between 0 and 1"),
        ((*COMPARE, "--significance-level", "0.1"), "unrecognized arguments: --significance-level"),
        ((*COMPARE, "--test", "x"), "argument --test: there is no 'x'; there are bootstrap, t, ar"),
        ((*ESTIMATE, "--method", "simultaneous"), "argument --method: there is no 'simultaneous'"),
        ((*COMPARE, "--groups", "short.txt"), "groups has 1 labels but there are 480 segments"),
        ((*ESTIMATE, "--strata", "short.txt"), "strata has 1 labels but there are 480 segments"),
        ((*COMPARE, "--strata", "docs.txt", "--groups", "domains.txt"), "each group must lie in one stratum"),
        ((*COMPARE, "--aggregate", "macro"), "--aggregate macro needs strata"),
        ((*COMPARE, "-m", "rouge"), "metric must be one of bleu, chrf, chrf++, ter, wer, cer; got 'rouge'"),
        ((*COMPARE, "-m", "bleu", "bleu"), "-m must name different metrics, got bleu bleu"),
        ((*COMPARE, "-m", "chrf", "chrf++", "-cw", "2"), "-m must name different metrics, got chrf chrf++"),
        ((*COMPARE, "-m", "chrf++", "-cw", "0"), "--chrf-word-order 0 contradicts -m chrf++, which has 2"),
        ((*COMPARE, "-l", "en-de", "--trg-lang", "zh"), "--trg-lang zh contradicts -l en-de"),
        ((*COMPARE, "-tok", "moses"), "tokenize must be one of none, zh"),
        ((*COMPARE, "-s", "x"), "argument -s/--smooth-method: there is no 'x'"),
        ((*COMPARE, "-s", "floor", "-sv", "-1"), "smooth_value must be a finite number of at least 0"),
        ((*COMPARE, "-sv", "0.2"), "--smooth-value has no effect with --smooth-method exp; give floor"),
        ((*COMPARE, "--max-ngram-order", "100000"), "max_ngram_order must be at most 1000"),
        ((*COMPARE, "--chrf-beta", "3"), "--chrf-beta has no effect without -m chrf"),
        ((*COMPARE, "-m", "ter", "-lc"), "--lowercase has no effect without -m bleu"),
        (("rank", *COMPARE[1:], "--composite", "borda", "--adjust", "holm"),
         "--adjustment has no effect with --composite, which has max-T of its own"),
        (("audit", *COMPARE[1:], "--groups", "docs.txt"), "unrecognized arguments: --groups"),
        (("compare", "x.npz"), "cannot read x.npz: No such file"),
        (("compare", "x.npz", "-m", "bleu"), "-m says nothing of x.npz"),
        (("estimate", "x.npz", "--chrf-beta", "1"), "--chrf-beta is for texts"),
        (("estimate", "copy.txt"), "copy.txt is neither statistics (.npz) nor a log or a table of scores; give outputs"),
        (("extract", *REFS, *INPUT, "-o", "x.txt"), "-o must end in .npz, got x.txt"),
        (("extract", *REFS, *INPUT, "-m", "bleu", "ter", "-o", "x.npz"), "-m needs one metric"),
        (("estimate", "-r", "-", "-i", "-"), "can be read once"),
        (("estimate", "--a\nb\x1b[2J\u202e"), "--a\\nb\\x1b[2J\\u202e"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_one_line(refused, arguments, message):
    assert message in refused(*arguments)


def test_a_file_name_that_is_not_text_is_named_in_the_error():
    code, out, err = program("estimate", *REFS, "-i", b"odd\xff.txt")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "cannot read odd" in err


def test_dash_is_standard_input(here, typed, refused, monkeypatch):
    class Input:
        buffer = io.BytesIO((here / "copy.txt").read_bytes())

    asked = ("estimate", *REFS, "-i", "-", *FEW)
    expected = typed(*ONE, "--names", "stdin")
    monkeypatch.setattr(sys, "stdin", Input)
    assert typed(*asked) == expected
    monkeypatch.setattr(sys, "stdin", None)
    assert "standard input is closed" in refused(*asked)


@pytest.fixture
def no_work(monkeypatch):
    def extract_files(*arguments):
        raise AssertionError("the work began")

    monkeypatch.setattr("evalstats.cli.inputs.extract_files", extract_files)


@pytest.mark.usefixtures("no_work")
def test_a_destination_is_tried_before_the_work(refused):
    for command in ("compare", "estimate", "audit"):
        for path in ("nowhere/x.txt", "x" * 300 + ".md"):
            assert "cannot write" in refused(command, *REFS, *INPUT, "-o", path)
    assert "cannot write" in refused("extract", *REFS, "-i", "copy.txt", "-o", "nowhere/x.npz")


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize(
    "path", ["copy.txt", "./copy.txt", "ref.B.txt", "docs.txt", "alias.txt", "linked.txt"]
)
def test_a_destination_is_no_input(here, refused, path):
    for alias, make in (("alias.txt", os.symlink), ("linked.txt", os.link)):
        if not (here / alias).exists():
            make(here / "copy.txt", here / alias)
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


def test_without_a_command_there_is_help(typed):
    assert "compare" in typed()
    assert typed() == typed("--help")
    assert typed("--version") == f"evalstats {es.__version__}\n"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
@pytest.mark.parametrize(
    "arguments, redirection, code, message",
    [
        (ONE, "> /dev/full", 2, "cannot write standard output: No space left on device"),
        (("--help",), "> /dev/full", 2, "cannot write standard output: No space left on device"),
        (ONE, ">&-", 2, "evalstats estimate: error: standard output is closed; give -o FILE"),
        (ONE, ">&- 2>&-", 2, ""),
        (ONE, "2>&-", 0, ""),
        (("estimate",), "2>&-", 2, ""),
        # A reader that has seen enough.
        (ONE, "| true; exit 0", 0, ""),
    ],
)
def test_broken_outputs_end_quietly(arguments, redirection, code, message):
    done = subprocess.run(
        f"{sys.executable} -m evalstats {' '.join(arguments)} {redirection}",
        shell=True, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == code
    assert message in done.stderr
    assert done.stderr.count("\n") == bool(message)


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


def test_without_metadata_everything_works_and_the_version_says_so(typed, monkeypatch):
    from importlib import metadata

    def version(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", version)
    caches = (signatures.version, sacrebleu.version)
    for cache in caches:
        cache.cache_clear()
    try:
        assert es.__version__ == f"{signatures.VERSION}+uninstalled"
        assert "+uninstalled" in typed("--version")
        assert f"evalstats:{signatures.VERSION}+uninstalled" in typed(*ONE)
        assert typed("extract", *REFS, "-i", "copy.txt", "-o", "uninstalled.npz") == ""
        assert typed("estimate", "uninstalled.npz", *FEW)
    finally:
        for cache in caches:
            cache.cache_clear()


def test_a_gate_of_texts(run_here, here):
    asked = (
        "gate",
        "-i",
        "clearly-better.txt",
        *REFS,
        "--baseline",
        "baseline.txt",
        *FEW[:1],
        "99",
    )
    code, out, _ = run_here(*asked, "--margin", "1")
    assert code == 0
    assert out.startswith("PASSED: clearly-better against baseline")
    code, out, _ = run_here(*asked[:2], "baseline.txt", *REFS, "--baseline", "clearly-better.txt",
                            "--recovery", "0.99", "-m", "chrf", "-f", "json")  # fmt: skip
    assert code == 1
    assert json.loads(out)["checks"][0]["verdict"] == "failed"


def test_a_sentence_for_the_method_section(typed, given):
    out = typed("compare", *REFS, *INPUT, "-m", "chrf", "--describe", *FEW)
    assert out == f"{es.compare(*given, 'chrf', n_resamples=9).describe()}\n"


@pytest.mark.parametrize(
    "suffix, start", [("png", b"\x89PNG"), ("pdf", b"%PDF"), ("svg", b"<?xml")]
)
def test_a_figure_is_written_by_its_suffix(typed, here, suffix, start):
    pytest.importorskip("matplotlib")
    for metrics, *command in (
        (["bleu"], "compare"),
        (["bleu", "chrf"], "compare"),
        (["ter"], "rank"),
    ):
        asked = (*command, *REFS, *INPUT, "-m", *metrics, "-o", f"figure.{suffix}", *FEW)
        assert typed(*asked) == ""
        assert (here / f"figure.{suffix}").read_bytes().startswith(start)


def test_a_float_of_latex_has_its_caption_and_label(typed, here):
    typed(*ONE, "-o", "table.tex", "--caption", "Ours & theirs", "--label", "tab:ours")
    written = (here / "table.tex").read_text(encoding="utf-8")
    assert r"\caption{Ours \& theirs}" in written
    assert r"\label{tab:ours}" in written


def test_help_lists_the_tokenisers(typed):
    from evalstats.cli.metrics import TOKENIZERS

    assert set(TOKENIZERS) >= set(sacrebleu.tokenizer_names())
    assert "|".join(TOKENIZERS[:5]) in typed("compare", "--help")


def test_every_help_begins_with_two_examples_that_parse(typed):
    import shlex

    from evalstats.cli.parser import COMMANDS, parser

    for name in COMMANDS:
        _, *lines = typed(name, "--help").splitlines()
        examples = [line.strip() for line in lines[1:3]]
        assert all(line.startswith(f"evalstats {name}") for line in examples)
        for line in examples:
            assert parser().parse_args(shlex.split(line)[1:]).command == name
