"""The bundled sample corpus is what its README says."""

import shlex
from collections import Counter
from itertools import groupby
from pathlib import Path

import evalstats as es
from evalstats import data
from evalstats.cli import main

DATA = Path(data.__file__).resolve().parent
FILES = ["reference.A.txt", "reference.B.txt", *(f"systems/{name}.txt" for name in data.SYSTEMS)]


def test_lines_are_clean():
    for name in FILES:
        *lines, last = (DATA / name).read_bytes().decode("utf-8").split("\n")
        assert (len(lines), last) == (480, "")
        assert all(line == " ".join(line.split()) != "" for line in lines)


def test_documents(sample):
    rows = list(zip(sample.domains, sample.documents, strict=True))
    sizes = Counter(rows)
    assert (len(rows), len(sizes)) == (480, 40)
    domains = Counter(domain for domain, _ in sizes)
    assert domains == dict.fromkeys(["news", "travel", "howto", "support"], 10)
    # The segments of a document are consecutive.
    assert len(list(groupby(rows))) == len(sizes)


def test_systems_are_ordered_as_their_error_rates(sample):
    baseline, copy, slightly, clearly = (
        es.estimate(texts, sample.references, "bleu", n_resamples=2).score
        for texts in sample.systems.values()
    )
    assert 30 <= baseline <= 40
    assert sample.systems["copy"] == sample.systems["baseline"]
    assert copy == baseline
    assert 0.4 <= slightly - baseline <= 0.9
    assert 4 <= clearly - baseline <= 6


def test_demo_writes_the_files_of_the_pages_and_the_command_to_begin_with(
    tmp_path, monkeypatch, typed
):
    target = tmp_path / "a folder"
    said, there, command = typed("demo", "--files", target).splitlines()
    assert said == f"The example files are in {shlex.quote(str(target))} now. Try them:"
    monkeypatch.chdir(tmp_path)
    assert shlex.split(there) == ["cd", str(target)]
    monkeypatch.chdir(target)
    # In the folder itself there is nowhere to go.
    expected = ["The example files are in . now. Try them:", command]
    assert typed("demo", "--files", ".").splitlines() == expected
    assert "no evidence" in typed(*shlex.split(command)[1:])
    assert {"ref.txt", "comet.csv", "base", "logs"} <= {path.name for path in target.iterdir()}


def test_demo_writes_over_nothing_else_and_draws_no_table(tmp_path, capsys, refused):
    typed = ["demo", "--files", str(tmp_path)]
    assert (main(typed), main(typed)) == (0, 0)
    capsys.readouterr()
    (tmp_path / "ref.txt").write_text("mine\n")
    assert "ref.txt already exists with different content; use a new folder" in refused(*typed)
    assert (tmp_path / "ref.txt").read_text() == "mine\n"
    assert "-o cannot be used with --files, which does not print a table" in refused(
        *typed, "-o", "x.md"
    )
    assert "cannot write" in refused("demo", "--files", tmp_path / "ref.txt" / "x")


def test_the_sample_shows_itself_on_one_line(sample):
    assert repr(sample) == (
        "<Sample of 480 segments with 2 references, systems baseline, copy, slightly-better, "
        "clearly-better, 40 documents, 4 domains>"
    )
