"""Frames where lists go: a column is a list, a frame is systems or reference streams."""

from types import SimpleNamespace

import numpy as np
import pytest

import evalstats as es
from evalstats.compat.evaluatio import paired
from tests.helpers import refuses

A = ["the cat sat on a mat", "it is raining again", "no more of that"]
B = ["a cat sat on the mat", "it rains", "no more of this"]
FIRST = ["the cat sat on the mat", "it rains again", "no more"]
SECOND = ["a cat sat there", None, "enough of that"]


@pytest.fixture(params=["pandas", "polars"])
def named_columns(request):
    return pytest.importorskip(request.param)


@pytest.fixture(params=["pandas", "polars", "pyarrow"])
def library(request):
    module = pytest.importorskip(request.param)
    if request.param == "pyarrow":
        return SimpleNamespace(DataFrame=lambda of=(): module.table(dict(of)), Series=module.array)
    return module


@pytest.fixture
def pd():
    return pytest.importorskip("pandas")


def test_frames_and_columns_are_lists(library):
    systems = library.DataFrame({"A": A, "B": B})
    streams = library.DataFrame({"first": FIRST, "second": SECOND})
    expected = es.compare({"A": A, "B": B}, es.from_streams(FIRST, SECOND), n_resamples=99)
    for outputs in (systems, {"A": systems["A"], "B": systems["B"]}):
        for references in (
            streams,
            es.References(streams),
            es.from_streams(streams["first"], streams["second"]),
        ):
            result = es.compare(outputs, references, n_resamples=99)
            assert result.to_json() == expected.to_json()
    assert es.estimate(systems["A"], streams["first"], n_resamples=9).system == "system"
    assert es.extract(systems, streams, "ter").systems == ("A", "B")
    assert es.SentenceBLEU().scores(systems["A"], streams["first"]).shape == (3,)


def test_frames_of_scores(library):
    scores = library.DataFrame({"A": [0.5, 0.25, 1.0], "B": [1.0, 0.5, 0.5]})
    assert es.estimate(scores, metric=es.Mean("m")).estimates[1].score == pytest.approx(2 / 3)
    counts = library.DataFrame({"tp": [1, 2, 3], "n": [4, 4, 4]})
    table = es.extract({"A": counts}, metric=es.Ratio("precision"))
    assert table.values.tolist() == [[[1, 4], [2, 4], [3, 4]]]
    documents = library.Series(["x", "x", "y"])
    assert es.estimate(scores, metric=es.Mean("m"), groups=documents).estimates[0].n_segments == 2


def test_what_is_missing_in_a_column(library):
    gap = library.Series(["a b", None, "c"])
    with pytest.raises(
        es.InputTypeError, match=r"hypotheses\[1\] must be a string, got (nan|None); an em"
    ):
        es.estimate(gap, A)
    refuses(r"references\[1\] is None, so segment 1 has no reference", es.estimate, A, gap)
    with pytest.raises(es.InputError, match=r"scores\[1\] is (missing|nan)"):
        es.estimate(library.Series([1.0, None, 2.0]), metric=es.Mean("m"))
    with pytest.raises(es.InputError, match=r"segment 1 has no reference"):
        es.References(library.DataFrame({"a": gap, "b": gap}))


def test_frames_that_are_no_systems(library):
    refuses("systems is empty; pass at least one", es.estimate, library.DataFrame(), A)
    with pytest.raises(
        es.InputError,
        match="references must have as many entries as hypotheses, one per segment, got 2 and 3",
    ):
        es.estimate(A, library.DataFrame({"a": FIRST[:2]}))
    refuses("streams is empty", es.estimate, A, library.DataFrame())


class TestIndexes:
    """Rows are paired by position; labels that say otherwise are not passed over."""

    def test_shuffled_rows_are_refused(self, pd):
        column = pd.Series(FIRST)
        shuffled = column.sort_values()
        other = pd.Series(A)
        for call in (
            lambda: es.estimate(other, shuffled),
            lambda: es.estimate(other, es.References(shuffled)),
            lambda: es.compare({"A": other, "B": shuffled}, FIRST),
            lambda: es.compare(pd.DataFrame({"A": A, "B": B}), shuffled),
            lambda: es.extract({"A": A}, other, segment_ids=shuffled),
            lambda: es.BLEU().statistics(other, shuffled),
            lambda: es.SentenceBLEU().scores(other, shuffled),
            lambda: es.from_streams(column, shuffled),
            lambda: es.estimate(other, FIRST, groups=shuffled),
            lambda: es.Monitor(column).check(0, shuffled),
            lambda: es.Monitor(column, groups=shuffled),
            lambda: es.Accumulator("wer").update(other, es.References(shuffled)),
            lambda: es.Accumulator("wer").update(other, FIRST, ids=shuffled),
            lambda: es.bleu_ci(column, shuffled, 99, 0.05),
            lambda: es.bleu_bootstrap_test(FIRST, other, shuffled, 99),
        ):
            refuses(r"have the same index.*Row 0 is [01] in the first.*align", call)
        x = pd.Series([1.0, 2.0, 3.0])
        refuses("x1 and x2 must have the same index", paired.paired_permutation_test, x, x[::-1])

    def test_indexes_that_agree_are_accepted(self, pd):
        shuffled = pd.DataFrame({"A": A, "B": B, "r": FIRST}).sort_values("A")
        again = shuffled.reset_index(drop=True)
        # Without an index there is nothing that could disagree.
        plain = {"A": list(shuffled["A"]), "B": shuffled["B"].to_numpy()}
        results = [
            es.compare(systems, references, n_resamples=9).to_json()
            for systems, references in (
                (shuffled[["A", "B"]], shuffled["r"]),
                (again[["A", "B"]], again["r"]),
                (plain, shuffled["r"]),
            )
        ]
        assert len(set(results)) == 1

    def test_columns_of_one_name(self, pd):
        frame = pd.DataFrame(np.array([A, B]).T, columns=["A", "A"])
        refuses(
            "system names must be unique, but 'A' occurs more than once", es.compare, frame, FIRST
        )
        with pytest.raises(es.InputError, match="system names must be non-empty text, got 0"):
            es.compare(pd.DataFrame(np.array([A, B]).T), FIRST)


def test_a_column_of_references_is_no_system(named_columns):
    """Defect: a whole frame was taken at its word, and the references had BLEU 100."""
    frame = named_columns.DataFrame({"A": ["a b", "c d"], "B": ["a", "c d"], "ref": ["a b", "c d"]})
    for ask in (es.compare, es.estimate):
        refuses("references is column 'ref' of the data frame", ask, frame, frame["ref"], "chrf")
        with pytest.raises(es.InputError, match="groups is column 'B' of the data frame"):
            ask(frame, ["a b", "c d"], "chrf", groups=frame["B"])


@pytest.mark.parametrize(("name", "first"), [("index", 0), ("id", 1), ("Unnamed: 0", 0)])
def test_a_column_of_row_numbers_is_no_system(named_columns, name, first):
    """Defect: pandas' reset_index() made a system with the best scores of all."""
    scores = {"A": [0.5, 0.25, 1.0], "B": [0.5, 0.75, 0.5]}
    frame = named_columns.DataFrame({name: [first + i for i in range(3)], **scores})
    for ask in (es.compare, es.estimate):
        refuses(f"hypotheses has a column '{name}' with the numbers of the rows", ask, frame,
                metrics=es.Mean("acc"))  # fmt: skip
    named = named_columns.DataFrame({name: [0.5, 0.25, 1.0], "B": scores["B"]})
    assert len(es.estimate(named, metrics=es.Mean("acc"))) == 2
