"""The bundled sample corpus is what its README says."""

from collections import Counter
from pathlib import Path

import pytest

import evalstats as es
from evalstats import data

DATA = Path(data.__file__).resolve().parent
FILES = ["reference.A.txt", "reference.B.txt", *(f"systems/{name}.txt" for name in data.SYSTEMS)]


@pytest.mark.parametrize("name", FILES)
def test_lines_are_clean(name):
    text = (DATA / name).read_bytes().decode("utf-8")
    assert text.endswith("\n")
    lines = text[:-1].split("\n")
    assert len(lines) == 480
    for line in lines:
        assert line == " ".join(line.split()) != ""
        assert all(char.isascii() or char in "£€°äöüÄÖÜßáéÉ" for char in line), line
    if name.startswith("reference"):
        assert len(set(lines)) == len(lines)
        lengths = [len(line.split()) for line in lines]
        assert min(lengths) <= 4
        assert max(lengths) >= 35
        assert 11 <= sum(lengths) / len(lengths) <= 16


def test_documents(sample):
    rows = list(zip(sample.domains, sample.documents, strict=True))
    sizes = Counter(rows)
    assert (len(rows), len(sizes)) == (480, 40)
    assert 6 <= min(sizes.values()) <= max(sizes.values()) <= 18
    assert Counter(domain for domain, _ in sizes) == dict.fromkeys(
        ["news", "travel", "howto", "support"], 10
    )
    # The segments of a document are consecutive.
    changes = [row for row, before in zip(rows, [None, *rows[:-1]], strict=True) if row != before]
    assert len(changes) == len(sizes)


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
