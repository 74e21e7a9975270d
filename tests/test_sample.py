"""The bundled sample corpus is what its generator writes, and is what its README says."""

from collections import Counter
from pathlib import Path

import pytest
import sacrebleu

from evalstats.data import generate as sample

DATA = Path(sample.__file__).resolve().parent
REFERENCES = ["reference.A.txt", "reference.B.txt"]
SYSTEMS = [
    f"systems/{name}.txt" for name in ("baseline", "copy", "slightly-better", "clearly-better")
]
TYPOGRAPHIC = set("£€°äöüÄÖÜßáéÉ")


def read(name) -> list[str]:
    """Return the lines of a shipped file."""
    text = (DATA / name).read_bytes().decode("utf-8")
    assert text.endswith("\n")
    return text[:-1].split("\n")


def bleu(hypothesis: list[str], *references: list[str]) -> float:
    """Return the corpus BLEU score."""
    return float(sacrebleu.corpus_bleu(hypothesis, list(references)).score)


@pytest.fixture(scope="module")
def generated() -> dict[str, str]:
    """Return the files the generator makes."""
    return sample.generate()


def test_regenerating_gives_the_shipped_bytes(generated):
    assert set(generated) == {*REFERENCES, *SYSTEMS, "documents.tsv"}
    for name, text in generated.items():
        assert (DATA / name).read_bytes() == text.encode("utf-8"), name


def test_command_writes_the_shipped_bytes(tmp_path):
    sample.main([str(tmp_path)])
    for name in [*REFERENCES, *SYSTEMS, "documents.tsv"]:
        assert (tmp_path / name).read_bytes() == (DATA / name).read_bytes(), name


def test_another_seed_gives_other_text(generated):
    other = sample.generate(sample.SEED + 1)
    assert all(other[name] != generated[name] for name in [*REFERENCES, *SYSTEMS])


@pytest.mark.parametrize("name", [*REFERENCES, *SYSTEMS])
def test_lines_are_clean(name):
    lines = read(name)
    assert len(lines) == sample.N_SEGMENTS == 480
    for line in lines:
        assert line
        assert line == line.strip()
        assert "  " not in line
        assert not set(line) & set("{}|$\t\r")
        assert all(char.isascii() or char in TYPOGRAPHIC for char in line), line


@pytest.mark.parametrize("name", REFERENCES)
def test_no_segment_occurs_twice_in_a_reference(name):
    lines = read(name)
    assert len(set(lines)) == len(lines)


@pytest.mark.parametrize("name", REFERENCES)
def test_sentence_lengths_vary(name):
    lengths = [len(line.split()) for line in read(name)]
    assert min(lengths) <= 4
    assert max(lengths) >= 35
    assert 11 <= sum(lengths) / len(lengths) <= 16


def test_documents():
    rows = [tuple(line.split("\t")) for line in read("documents.tsv")]
    assert len(rows) == sample.N_SEGMENTS
    sizes = Counter(rows)
    assert len(sizes) == 40
    assert min(sizes.values()) >= 6
    assert max(sizes.values()) <= 18
    assert Counter(domain for domain, _ in sizes) == dict.fromkeys(
        ["news", "travel", "howto", "support"], 10
    )
    # The segments of a document are consecutive.
    changes = [row for row, before in zip(rows, [None, *rows[:-1]], strict=True) if row != before]
    assert len(changes) == len(sizes)


def test_references_are_two_renderings():
    a, b = (read(name) for name in REFERENCES)
    assert 35 <= bleu(a, b) <= 55


def test_copy_is_byte_identical():
    baseline, copy = ((DATA / name).read_bytes() for name in SYSTEMS[:2])
    assert baseline == copy


def test_systems_are_ordered_as_their_error_rates():
    assert (
        sample.BASELINE_ERROR_RATE
        > sample.SLIGHTLY_BETTER_ERROR_RATE
        > sample.CLEARLY_BETTER_ERROR_RATE
    )
    references = [read(name) for name in REFERENCES]
    baseline, copy, slightly, clearly = (bleu(read(name), *references) for name in SYSTEMS)
    assert 30 <= baseline <= 40
    assert copy == baseline
    assert 0.4 <= slightly - baseline <= 0.9
    assert 4 <= clearly - baseline <= 6


def test_all_files_together_are_small():
    files = [path for path in DATA.rglob("*") if path.suffix in {".txt", ".tsv", ".py", ".md"}]
    assert sum(path.stat().st_size for path in files) < 350_000
