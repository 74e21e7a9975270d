"""Input that looks right and is not: what is missing, masked, transposed or too large to tell."""

import inspect
import re
import sys
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

import evalstats as es
from evalstats.compat.evaluatio import paired
from evalstats.metrics.ratios import MeanOfRuns
from tests.conftest import TEXT_METRICS, nasty_corpora
from tests.helpers import cases, refuses

A, B = ["a b c d e", "f g h i j", "k l m n"], ["a b c d x", "f g h y j", "k l m z"]
MASKED = np.ma.array([1.0, 2.0, 999.0], mask=[0, 0, 1])


MISSING = [None, float("nan"), np.datetime64("NaT", "s"), Decimal("nan"), ("d", None), "", " "]


@pytest.mark.parametrize("missing", MISSING, ids=repr)
def test_a_missing_label_is_no_document(missing):
    groups = ["x", missing, "y"]
    for call in (
        lambda: es.estimate(A, B, groups=groups),
        lambda: es.extract({"A": A}, B).grouped(groups),
        lambda: es.Monitor(B, groups=groups),
    ):
        refuses(r"groups\[1\] is .*segment requires a label", call)


@pytest.mark.parametrize("dtype", ["Int64", "category", "datetime64[ns]"])
def test_missing_labels_of_pandas(dtype):
    column = pytest.importorskip("pandas").Series([1, None, 1], dtype=dtype)
    refuses(r"groups\[1\] is .*requires a label", es.estimate, A, B, groups=column)


@pytest.mark.parametrize("groups", [["-", "b", "b"], [("d", 1), ("d", 2), ("d", 1)]])
def test_labels_of_any_other_kind_are_labels(groups):
    assert es.estimate(A, B, groups=groups).unit == "group"


class Masking(es.Mean):
    def statistics(self, hypotheses, references=None):
        return np.ma.masked_greater(super().statistics(hypotheses), 2)


MASK, MEAN = [0, 0, 1], es.Mean("m")


@cases(
    lambda: es.estimate(MASKED, metric=MEAN),
    lambda: es.estimate([MASKED[:2], MASKED[1:]], metric=es.Ratio("m")),
    lambda: es.compare({"A": [1, 2, 3], "B": MASKED}, metrics=MEAN),
    lambda: paired.paired_permutation_test(MASKED, [0, 0, 0]),
    lambda: es.SegmentStatistics(np.ma.stack([MASKED] * 2, axis=1)[None], ["A"], MEAN),
    lambda: es.estimate(np.ma.array(A, mask=MASK), B),
    lambda: es.estimate(A, np.ma.array(B, mask=MASK)),
    lambda: es.estimate(A, B, groups=np.ma.array([1, 1, 2], mask=MASK)),
    lambda: es.Accumulator("bleu").update(A, B, ids=np.ma.array([1, 2, 3], mask=MASK)),
    lambda: es.bootstrap_totals(np.ma.stack([MASKED] * 2, axis=1), 3, 1),
    lambda: es.estimate([1, 2, 3], metric=Masking("m")),
)
def test_a_masked_entry_does_not_count(call):
    refuses(r"\[\d.*\] is masked; remove or fill masked entries", call)


def test_an_array_without_masked_entries_is_an_array():
    assert es.estimate(np.ma.array([1.0, 2.0, 3.0], mask=False), metric=MEAN).score == 2


SEGMENTS = [
    ["the cat sat on the mat", "a cat was sitting on the mat"],
    ["rain is falling again", "it is raining again today"],
]
STREAMS = [list(stream) for stream in zip(*SEGMENTS, strict=True)]
TEXTS = ["the cat sat on a mat", "it is raining again"]
SMALL = [float(i % 3) for i in range(30)]


def warned(call):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        call()
    return found


@pytest.mark.parametrize("call", [
    es.estimate, es.BLEU().statistics, es.TER().statistics, es.SentenceBLEU().scores,
    es.Accumulator("chrf").update,
])  # fmt: skip
def test_a_square_of_streams_is_noticed(call):
    with pytest.warns(UserWarning, match="2 streams. They are read as one entry per") as found:
        call(TEXTS, STREAMS)
    assert found[0].filename == __file__
    # References that are prepared are meant.
    for references in (SEGMENTS, es.from_streams(*STREAMS), es.References(STREAMS)):
        assert not warned(lambda references=references: call(TEXTS, references))


def test_references_cannot_be_changed():
    references = es.References([["a b c d", "x"], "e f g h"])
    assert references.texts == ("a b c d", "x", "e f g h")
    for numbers in (references.counts, references.edges, references.first, references.owner):
        with pytest.raises(ValueError, match="read-only"):
            numbers[0] = 1


class TestOffsets:
    """Numbers with a large offset in common lose, in double precision, what tells them apart."""

    @pytest.mark.parametrize("by", [0, 1])
    def test_what_rounding_would_take_is_refused(self, by):
        a = [1e15 + x for x in SMALL]
        b = [x + by for x in a]
        message = "are too large for their spread: .* in sums of 30 numbers around 1e"
        refuses(
            f"the values of m {message}.*Subtract the", es.compare, {"A": a, "B": b}, metrics=MEAN
        )
        refuses(f"x1 or x2 {message}", paired.paired_permutation_test, a, b)

    def test_offsets_that_sums_can_hold_change_nothing(self):
        x, y = np.random.default_rng(5).normal(size=(2, 500))
        (plain,), (moved,) = (
            es.compare({"A": x + by, "B": y + by}, metrics=MEAN, n_resamples=99) for by in (0, 1e6)
        )
        assert moved.difference == pytest.approx(plain.difference, abs=1e-7)
        assert moved.pvalue == pytest.approx(plain.pvalue, abs=1e-6)

    def test_what_varies_as_much_as_it_is_large_is_accepted(self):
        assert es.estimate([1e16, 1.0, -1e16, 3.0], metric=MEAN).standard_error > 1e15
        (d,) = es.compare({"A": [1e16 + 2.0] * 30, "B": [1e16 + 2.0] * 30}, metrics=MEAN)
        assert d.pvalue == 1


@pytest.mark.skipif(sys.maxsize < 2**40, reason="another error on 32 bits")
def test_weights_beyond_any_memory():
    refuses(r"1,000,000 rows of 10,000,000,000 weights do not", es.bootstrap_weights, 10**10, 10**6)


@settings(max_examples=5)
@given(nasty_corpora)
def test_counts_of_any_text_are_possible(corpus):
    """And so are sums over documents and resamples: what is refused on load is no text's."""
    weights = np.random.default_rng(1).poisson(1, size=(3, len(corpus[0])))
    for metric in TEXT_METRICS:
        rows = metric.statistics(*corpus)
        for made in (rows, weights @ rows, (weights @ rows).astype(float)):
            metric.check_statistics(made)


@cases(
    (es.BLEU(), "correct_1", 7, r"statistics\[0, 0\] has more matches than n-grams"),
    (es.BLEU(), "sys_len", 5, "does not have one unigram per token"),
    (es.BLEU(), "total_4", 6, "has more long n-grams than short ones"),
    (es.BLEU(), "ref_len", -1, "is negative, but BLEU counts"),
    (es.BLEU(), "ref_len", 2.5, "is not a whole number, but BLEU counts"),
    (es.BLEU(), "ref_len", 2.0**60, "is too large to be a count"),
    # More than the reference has, though the output has as many.
    (es.CHRF(), "ref_char_1", 11, "has more matches"),
    (es.CHRF(word_order=2), "hyp_word_2", 0, "has more matches"),
    (es.CHRF(), "ref_char_6", 1.5, "is not a whole number"),
    (es.TER(), "edits", 0.5, "is not a whole number, but TER counts"),
    (es.TER(), "ref_len", -0.5, "is negative"),
    (es.WER(), "ref_len", 0.5, "is not a whole number"),
    (es.CER(), "edits", -1, "is negative"),
)
def test_counts_that_cannot_be_are_refused(metric, column, value, message, tmp_path, monkeypatch):
    rows = metric.statistics(["the cat sat on a mat"], ["the cat sat on the mat"]).astype(float)
    rows[0, metric.columns.index(column)] = value
    refuses(message, es.SegmentStatistics, [rows], ["A"], metric)
    # What this version does not write, a stranger may.
    with monkeypatch.context() as patch:
        patch.setattr(type(metric), "check_statistics", lambda *_: None)
        es.SegmentStatistics([rows], ["A"], metric).save(tmp_path / "x.npz")
    with pytest.raises(es.InputError, match=f"cannot load statistics from .*{message}"):
        es.SegmentStatistics.load(tmp_path / "x.npz")


def test_impossible_counts_of_one_run_are_refused():
    rows = es.BLEU().statistics(["the cat sat on a mat"], ["the cat sat on the mat"])
    runs = np.concatenate([rows, rows], axis=1)
    metric = MeanOfRuns(es.BLEU(), 2)
    assert es.SegmentStatistics([runs], ["A"], metric).n_segments == 1
    runs[0, -1] = 99
    refuses("has more long n-grams than short ones", es.SegmentStatistics, [runs], ["A"], metric)


def test_averaged_references_of_ter_may_be_fractions(tmp_path):
    table = es.extract({"A": ["a b", "c"]}, [["a", "a b"], ["c d", "e"]], "ter")
    assert 1.5 in table.values
    table.save(tmp_path / "x.npz")
    assert np.array_equal(es.SegmentStatistics.load(tmp_path / "x.npz").values, table.values)


@pytest.mark.parametrize("call, message", [
    (lambda: es.BLEU(tokenise="13a"),
        "BLEU has no argument 'tokenise'; available: lowercase, tokenize, smooth_method, .*; "
        "did you mean 'tokenize'"),
    (lambda: es.TER(normalize=True), "TER has no argument 'normalize'.* mean 'normalized'"),
    (lambda: es.Mean("m", higher=True), "Mean has no argument 'higher'.*'higher_is_better'"),
    (lambda: es.SentenceBLEU(tokenise="13a"), "SentenceBLEU has no .* mean 'tokenize'"),
    (lambda: Plain(tokenize="13a"), r"Plain has no options, got \{'tokenize': '13a'\}"),
    (lambda: Plain(3), r"Plain has no options, got \(3,\)"),
    (lambda: es.compare({"A": A}, B, n_resample=9),
        r"compare has no argument 'n_resample'; available: hypotheses, .* and \d+ more; did you "
        r"mean 'n_resamples'"),
    (lambda: es.estimate(A, B, referencs=B), "estimate has .* mean 'references'"),
    (lambda: es.Suite({}, agregate="macro"), "Suite has no .* mean 'aggregate'"),
    (lambda: es.Monitor(B, patiense=3), "Monitor has no .* mean 'patience'"),
    (lambda: paired.paired_permutation_test([1], [2], resamples=3), "paired_permutation_test has no"),
    (lambda: es.read_log("x", tasks="y"), "read_log has no .* mean 'task'"),
])  # fmt: skip
def test_an_argument_that_there_is_not_is_refused_with_those_there_are(call, message):
    with pytest.raises(es.InputTypeError, match=message):
        call()


class Plain(es.Metric):
    """A metric without options, as users write them."""

    name, columns = "plain", ("n",)

    def statistics(self, hypotheses, references=None):
        return np.ones((len(hypotheses), 1))

    def score(self, totals):
        return np.asarray(totals)[..., 0]


class Configured(Plain):
    def __init__(self, *parts, **more):
        self.parts, self.more = parts, more


def test_metrics_of_users_have_the_options_that_they_say():
    assert Plain().name == "plain"
    assert Configured(1, x=2).more == {"x": 2}
    assert inspect.signature(es.Mean).parameters.keys() == {"name", "higher_is_better"}


def test_a_class_in_place_of_a_metric_says_what_it_needs():
    for kind, call in ((es.Mean, "Mean(name=...)"), (es.BLEU, "BLEU()")):
        with pytest.raises(es.InputTypeError, match=re.escape(f"got the class itself; use {call}")):
            es.estimate(A, B, kind)


NUMBERS = [0.5, 0.25, 1]


@pytest.mark.parametrize("scores", [
    [Decimal("0.5"), Decimal("0.25"), Decimal(1)], [Fraction(1, 2), 0.25, True],
    np.array(NUMBERS, dtype=object), tuple(map(Decimal, NUMBERS)),
], ids=repr)  # fmt: skip
def test_numbers_of_any_kind_are_numbers(scores):
    assert es.estimate(scores, metric=MEAN) == es.estimate(NUMBERS, metric=MEAN)
    one, other = ([[[score, 1] for score in some]] for some in (scores, NUMBERS))
    assert es.SegmentStatistics(one, ["A"], MEAN) == es.SegmentStatistics(other, ["A"], MEAN)


@pytest.mark.parametrize("score, message", [
    (Decimal("nan"), r"scores\[1\] is missing"), (Decimal("snan"), r"scores\[1\] is missing"),
    (Decimal("inf"), r"scores\[1\] is inf, but scores must be finite"),
    (10**400, "scores must be finite, got a number above"), (1j, "got object values"),
    (None, r"scores\[1\] is missing"), ({}, "got object values"), ("0.5", "got object values"),
])  # fmt: skip
def test_what_is_no_number_is_refused_in_any_list(score, message):
    refuses(message, es.estimate, [Decimal(1), score, Fraction(1, 2)], metric=MEAN)


def test_references_that_no_metric_uses_are_said_to_have_no_effect():
    said = "references have no effect: m does not use references"
    with pytest.warns(UserWarning, match=said) as found:
        es.estimate([1, 2, 3], B, MEAN)
    assert found[0].filename == __file__
    both = [MEAN, es.Mean("n")]
    with pytest.warns(UserWarning, match="no effect: m, n do not use references; leave them out"):
        es.compare({"A": [1, 2, 3], "B": [1, 2, 4]}, B, both, n_resamples=9)
    # One of two metrics does.
    assert not warned(lambda: es.estimate(A, B, [Plain(), "ter"], n_resamples=9))


def test_a_number_of_400_digits_is_cut_in_a_message():
    for call in (
        lambda: es.estimate(A, B, "1" * 400),
        lambda: es.estimate(A, B, test="1" * 400),
        lambda: es.estimate(A, B).plot("1" * 400),
        lambda: es.compare({"A": A, "B": A}, B)["1" * 400, "A", "B"],
        lambda: es.compare({"A": A, "B": A}, B, baseline="1" * 400),
    ):
        with pytest.raises(es.InputError) as caught:
            call()
        assert len(str(caught.value)) < 500


@pytest.mark.parametrize("ask", [es.compare, es.estimate])
def test_an_error_is_no_confidence(ask):
    """Defect: an interval of confidence 0.05 was printed without a word."""
    scores = {"A": [1.0, 2, 3, 4], "B": [2.0, 3, 1, 5]}
    with pytest.raises(es.InputError, match=r"confidence_level must be at least 0.5, .*mean 0.95"):
        ask(scores, None, es.Mean("m"), confidence_level=0.05)


def test_scores_that_differ_by_rounding_alone_are_identical():
    """Defect: such a pair was an error, "too large for its spread", alone and beside others."""
    a = [(0.1 + 0.2 + 0.3) / 3, 0.25, 0.75, 0.5] * 10
    b = [(0.3 + 0.2 + 0.1) / 3, 0.25, 0.75, 0.5] * 10
    assert a != b
    other = np.random.default_rng(1).random(40).tolist()
    for systems in ({"a": a, "b": b}, {"b": b, "a": a}, {"c": other, "a": a, "b": b}):
        pair = es.compare(systems, metrics=es.Mean("m"), n_resamples=99)["a", "b"]
        assert (pair.difference, pair.pvalue, pair.n_differing) == (0, 1, 0)
        assert pair.verdict == "identical"
    apart = np.array(a) + 1e-9
    pair = es.compare({"a": a, "b": apart}, metrics=es.Mean("m"), n_resamples=99)["a", "b"]
    assert pair.n_differing == 40


def test_names_of_files_and_options_of_reading_say_where_they_belong(tmp_path):
    texts = {"A": "a.txt", "B": "b.txt"}
    refuses(r"if 'a\.txt' is a file, read its lines first", es.compare, texts, ["x", "y"])
    scores = {"A": [1, 0, 1], "B": [0, 1, 1]}
    for ask in (es.compare, es.gate):
        refuses("no argument 'columns'; pass it to read_log", ask, scores, columns={})
    message = "must be the name of a system in hypotheses, .* as base"
    refuses(message, es.gate, ["x", "y"], baseline="main.csv", references=["x", "y"], margin=1)
