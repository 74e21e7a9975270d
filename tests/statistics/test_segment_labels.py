"""Statistics that know ids and labels of their segments: aligned, selected, grouped, kept in files."""

from dataclasses import replace

import numpy as np
import pytest

import evalstats as es
from tests.helpers import bad_cases, refuses

MEAN = es.Mean("COMET")
LABELS = {"document": ("x", "x", "y", "y"), "domain": ("news", "news", "news", "law")}


def made(scores=(0.5, 0.25, 1.0, 0.75), name="A", ids=("1", "2", "3", "4"), labels=LABELS, **more):
    rows = [[[score, 1.0] for score in scores]]
    return es.SegmentStatistics(rows, [name], MEAN, segment_ids=ids, labels=labels, **more)


def column(table):
    return table.values[:, :, 0].tolist()


@bad_cases(
    ({"document": ["x"]}, r"labels\['document'\] has 1 label for 4 segments"),
    ({"document": "xxyy"}, r"labels\['document'\] must be a list of strings, .* bare str"),
    ({"document": [1, 2, 3, 4]}, r"labels\['document'\] must be strings, got 1"),
    ({"document": ["x\n", "x", "x", "x"]}, r"labels\['document'\] must be printable text"),
    ({"": ["x"] * 4}, "names of labels must be non-empty text"),
    ([("document", ["x"] * 4)], "labels must be a mapping from names to one string per segment,"),
)
def test_labels_are_checked(labels):
    made(labels=labels)


def test_align_brings_segments_into_one_order():
    one, two = made(), made((4, 3, 2, 1), "B", ("4", "3", "2", "1"), {"document": tuple("yyxx")})
    first, second = es.SegmentStatistics.align(one, two)
    assert first is one
    assert second.segment_ids == one.segment_ids
    assert column(second) == [[1, 2, 3, 4]]
    joined = es.SegmentStatistics.join(first, second)
    assert joined.labels == second.labels == {"document": LABELS["document"]}
    other = made((1, 2, 3), "B", ("2", "9", "1"), {})
    first, second = es.SegmentStatistics.align(one, other, missing="intersect")
    assert first.segment_ids == second.segment_ids == ("1", "2")
    assert (column(first), column(second)) == ([[0.5, 0.25]], [[3, 1]])


@bad_cases(
    ([made(ids=tuple("2913"))], "error", r"1 of 5 are missing in the table of A \('9'\)"),
    ([made((1, 2), ids=("2", "1"), labels={})], "error", r"2 of 4 are .* \('3', '4'\)"),
    ([made(range(7), ids=tuple("abcdefg"), labels={})], "error",
     r"7 of 11 are missing in the table of A \('a', 'b', 'c'\)"),
    ([made(ids=tuple("abcd"))], "intersect", "no segments in common; their segment_ids begin"),
    ([made(name="B", ids=None)], "error", r"align requires segment_ids, .*table 1 \(B\) has"),
    ([made()], "drop", "missing must be one of error, intersect; got 'drop'"),
)  # fmt: skip
def test_align_says_what_is_missing(tables, missing):
    es.SegmentStatistics.align(made(), *tables, missing=missing)


def test_labels_that_differ_are_refused():
    other = made(name="B", labels={"document": ("x", "x", "y", "z")})
    message = r"1 of 4 differ: document of segment '4' is 'y' for .* and 'z' for"
    for call in (es.SegmentStatistics.align, es.SegmentStatistics.join):
        refuses(message, call, made(), other)
    refuses("align requires at least one SegmentStatistics", es.SegmentStatistics.align)


def test_labels_that_join_select_and_groups_keep():
    joined = es.SegmentStatistics.join(made(), made(name="B", labels={"domain": LABELS["domain"]}))
    assert joined.labels == {"domain": LABELS["domain"]}
    table = made(fingerprint="sha256:x")
    part = table.select([3, 0])
    assert (part.segment_ids, part.fingerprint) == (("4", "1"), None)
    assert part.labels == {"document": ("y", "x"), "domain": ("law", "news")}
    assert column(part) == [[0.75, 0.5]]
    assert table.select(range(4)) is table
    grouped = made().grouped(LABELS["document"])
    assert (grouped.labels, grouped.segment_ids) == ({"document": ("x", "y")}, None)
    assert grouped.values.tolist() == [[[0.75, 2], [1.75, 2]]]


@pytest.fixture
def both():
    rng = np.random.default_rng(3)
    rows = np.stack([rng.random((2, 40)), np.ones((2, 40))], axis=-1)
    documents = tuple(f"d{i // 4}" for i in range(40))
    labels = {"document": documents, "domain": ("news",) * 20 + ("law",) * 20}
    return es.SegmentStatistics(rows, ["A", "B"], MEAN, labels=labels)


def test_groups_and_strata_are_named(both):
    """A name means the labels that the statistics have: the same numbers as the labels themselves."""
    named = {"groups": "document", "strata": "domain", "n_resamples": 99}
    given = {**named, "groups": both.labels["document"], "strata": both.labels["domain"]}
    of_labels = es.compare(both, **given)
    for found in (es.compare(both, **named), es.compare([both], **named)):
        assert found.differences == of_labels.differences
        # And units have the name of the label.
        assert "10 documents" in str(found)
        assert found.estimates[0] == replace(
            of_labels.estimates[0], **{n: getattr(found.estimates[0], n) for n in
                                       ("unit", "signature", "notes")})  # fmt: skip
    assert "10 groups" in str(of_labels)
    planned = es.power(both, groups="document")
    assert planned.pairs == es.power(both, groups=both.labels["document"]).pairs


@pytest.mark.parametrize("ask", [es.compare, es.estimate, es.power])
def test_groups_without_such_a_label(both, ask):
    gaps = replace(both, labels={"d": ("",) * 3 + ("x",) * 37})
    for table, name, message in (
        (both, "topic", "is not a label of the segments, which have"),
        (gaps, "d", ": 3 of 40 segments have no label; label every segment"),
    ):
        refuses(f"groups='{name}'.?{message}", ask, table, groups=name)
    with pytest.raises(es.InputTypeError, match=r"groups must be a list of labels, .* bare str"):
        es.estimate(["a"] * 3, ["a"] * 3, groups="document")


@bad_cases(
    ([], "segments is empty; pass at least one number"),
    ("01", "segments must be a list of numbers"),
    ([0, 4], "segments must be from 0 to 3, got 4"),
    ([-1], "segments must be from 0 to 3, got -1"),
    ([True, False, True], "segments must be whole numbers"),
    (["a"], r"segments must be whole numbers, got \['a'\]"),
    ([0, 0], "segment_ids must be unique, but '1' occurs more than once"),
)
def test_only_segments_that_are_there_are_selected(segments):
    made().select(segments)
