"""SentenceBLEU against sacreBLEU, NLTK's methods, and identities."""

import math
import pickle

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import example, given, settings
from sacrebleu.metrics import BLEU

import evalstats as es
from evalstats.compat.smoothing import NAMED
from tests.conftest import nasty_corpora
from tests.helpers import bad_cases, refuses

#: Few different tokens, so that n-grams repeat and match; empty and shorter than the order too.
token_lists = st.lists(st.sampled_from("abc"), max_size=9)
segments = st.tuples(token_lists, st.lists(token_lists, min_size=1, max_size=4))
corpora = st.lists(segments, min_size=1, max_size=6)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("method", range(8))
@settings(max_examples=8)
@given(corpora, st.integers(1, 6))
def test_methods_of_chen_and_cherry_are_nltks(method, corpus, order):
    """NLTK's methods 5 and 7 look at five-grams whatever the order, method 6 needs three tokens."""
    theirs = pytest.importorskip("nltk.translate.bleu_score")
    order = 4 if method in (5, 7) else order
    bleu = es.SentenceBLEU(order, smoothing=f"method{method}")
    smooth = getattr(theirs.SmoothingFunction(), f"method{method}")
    scores = bleu.scores(*map(list, zip(*corpus, strict=True)))
    for score, (hypothesis, references) in zip(scores, corpus, strict=True):
        assert score == bleu.score(hypothesis, references)
        try:
            expected = theirs.sentence_bleu(references, hypothesis, (1 / order,) * order, smooth)
        except (AssertionError, IndexError):
            assert method == 6
            continue
        assert score == pytest.approx(expected, rel=1e-12, abs=1e-40)


METHODS = st.sampled_from(
    [("none", None), ("exp", None), ("floor", None), ("floor", 0.5), ("add-k", None), ("add-k", 2)]
)


@settings(max_examples=30)
@example(("exp", None), "none", ([""], [[""]]))
@given(METHODS, st.sampled_from(["13a", "none", "char"]), nasty_corpora)
def test_methods_of_sacrebleu_against_sacrebleu(method, tokenize, corpus):
    """One segment by itself is the segment in a test set."""
    bleu = es.SentenceBLEU(smoothing=method[0], smooth_value=method[1], tokenize=tokenize)
    theirs = BLEU(False, False, tokenize, *method, effective_order=True)
    scores = bleu.scores(*corpus)
    for score, hypothesis, references in zip(scores, *corpus, strict=True):
        present = [r for r in references if r is not None]
        assert score == bleu.score(hypothesis, references)
        expected = theirs.sentence_score(hypothesis, present).score / 100
        assert score == pytest.approx(expected, rel=1e-12)


def test_methods_5_to_7_may_exceed_one():
    # p = 2/3 and 2/2, from two references; the trend goes on: (0 + 5 · 1²/(2/3)) / (1 + 5) = 5/4.
    found = es.SentenceBLEU(3, smoothing="method6").score(list("bab"), [list("xab"), list("bax")])
    assert found == pytest.approx((2 / 3 * 5 / 4) ** (1 / 3))
    tokens = list("abcdef")
    for name in ("method5", "method7"):
        assert es.SentenceBLEU(smoothing=name).score(tokens, [tokens]) == pytest.approx(1.1167471)


def test_weights():
    hypothesis, references = "the cat sat on a mat", ["the cat sat on the mat"]
    precisions = np.array([5 / 6, 3 / 5, 2 / 4, 1 / 3])
    rows = [(1.0,), (0.5, 0.5), (0.1, 0.2, 0.3, 0.4)]
    several = es.SentenceBLEU(weights=rows)
    expected = [np.prod(precisions[: len(row)] ** row) for row in rows]
    np.testing.assert_allclose(several.score(hypothesis, references), expected)
    assert several.scores([hypothesis] * 2, [references] * 2).shape == (2, 3)
    one = es.SentenceBLEU(weights=rows[2])
    assert one.score(hypothesis, references) == pytest.approx(expected[2])
    # An order without weight does not matter, even where its precision is zero.
    assert es.SentenceBLEU(weights=(1.0,), smoothing="none").score("a x", "a y") == 0.5


def test_effective_order_rescales_the_weights():
    bleu = es.SentenceBLEU(weights=(0.1, 0.2, 0.3, 0.4), smoothing="none")
    # p = 2/3, 1/2, and for the third order 0, which counts: three tokens have a three-gram.
    assert bleu.score("a b x", "a b c") == 0.0
    assert bleu.score("a b", ["a b c"]) == pytest.approx(math.exp(1 - 3 / 2))
    rescaled = es.SentenceBLEU(3, (0.1, 0.3, 0.6), "floor", smooth_value=0.5).score("a b", "b a")
    assert rescaled == pytest.approx((1.0**0.1 * 0.5**0.3) ** (1 / 0.4))
    # No order of positive weight exists.
    assert es.SentenceBLEU(weights=(0, 0, 0, 1)).score("a b", "a b") == 0.0


def test_case_and_tokenisers():
    assert es.SentenceBLEU(2).score("The CAT", "the cat") == 0.0
    low = es.SentenceBLEU(2, case_sensitive=False)
    assert low.score("The CAT", "the cat") == 1.0
    assert low.score(("The", "CAT"), ["the", "CaT"]) == 1.0
    assert low.scores([["The", "CAT"], [1]], [["the", "CaT"], [[2], [1]]]).tolist() == [1, 1]
    # 13a splits the full stop off, whitespace does not.
    assert es.SentenceBLEU(1).score("mat.", "mat .") == 1.0
    for tokenize in ("none", "whitespace", str.split):
        assert es.SentenceBLEU(1, tokenize=tokenize).score("mat.", "mat .") == 0.0
    characters = es.SentenceBLEU(4, tokenize=list, case_sensitive=False)
    expected = es.SentenceBLEU(4).score(list("kitten"), list("sitting"))
    assert characters.score("KITTEN", "sitting") == expected
    found = characters.scores(["KITTEN", "a"], ["sitting", ["b", None, "A"]])
    assert found.tolist() == [expected, 1.0]


def test_callable_smoothing():
    def half(correct, total):
        return np.where(correct == 0, 0.5, correct) / np.maximum(total, 1)

    floor = es.SentenceBLEU(smoothing="floor", smooth_value=0.5)
    custom = es.SentenceBLEU(smoothing=half)
    texts = ["a b c d", "a c b d", "x"], ["a b c d", "a b c d", "y"]
    np.testing.assert_array_equal(custom.scores(*texts), floor.scores(*texts))
    for wrong, message in (
        (lambda c, t: 0.5, r"must return precisions of shape \(4,\), got \(\)"),
        (lambda c, t: c * np.nan, "precisions of at least 0, but some are negative or NaN"),
        (lambda c, t: c - 2, "precisions of at least 0, but some are negative or NaN"),
    ):
        refuses(message, es.SentenceBLEU(smoothing=wrong).score, "a", "a")


@pytest.mark.parametrize("name", NAMED)
def test_statistics_are_scored_on_any_leading_axes_and_not_changed(name):
    bleu = es.SentenceBLEU(smoothing=name)
    rows = bleu.statistics(["a b c d", "a c b d", "x"], ["a b c d", "a b c d", "y"])
    before = rows.copy()
    scores = bleu.from_statistics(rows)
    np.testing.assert_array_equal(bleu.from_statistics(np.stack([rows, rows])), [scores] * 2)
    np.testing.assert_array_equal(rows, before)


def test_scores_at_the_threshold_pass():
    assert es.SentenceBLEU(threshold=0.5).passed([0.4, 0.5]).tolist() == [False, True]
    refuses("threshold is not set", es.SentenceBLEU().passed, [0.5])


def test_signature_tells_configurations_apart_and_objects_pickle():
    make = es.SentenceBLEU
    made = [make(), make(3), make(4, (0.5, 0.5)), make(smoothing="floor", smooth_value=0.2)]
    made += [make(smoothing=kind) for kind in ("floor", np.divide)]
    made += [make(tokenize=kind) for kind in ("whitespace", str.split)]
    made += [make(case_sensitive=False), make(effective_order=False)]
    assert len({bleu.signature for bleu in made}) == len(made)
    assert made[0].signature.startswith("order:4|case:mixed|eff:yes|tok:13a|smooth:exp|")
    assert len({make(2, kind([0.4, 0.6])) for kind in (list, tuple, np.array)}) == 1
    assert pickle.loads(pickle.dumps(made[3])) == made[3]


OURS = es.SentenceBLEU()
TEXT = es.References(["a"])


@bad_cases(
    (OURS.score, (["a"], []), "the segment has no reference"),
    (OURS.score, (["a"], "a"), "must be a list of token lists"),
    (OURS.score, (["a"], ["the cat"]), "'the cat', which is more than one token"),
    (OURS.score, (["a", ["b"]], [["a"]]), "hypothesis must contain hashable tokens"),
    (OURS.score, (b"a", "a"), "must be a list of tokens, got a bare bytes"),
    (OURS.score, ("a", TEXT), "references contains a whole test set"),
    (OURS.scores, ([["a"], "b"], [["a"], ["b"]]), r"hypotheses\[1\] must be a list"),
    (OURS.scores, ([["a"]], TEXT), "contains strings but hypotheses contains token lists"),
    (OURS.from_statistics, (np.ones((2, 12)),), "must have 10 columns"),
    (es.SentenceBLEU(tokenize=str.lower).score, ("a", "a"), "result of tokenize must"),
)
def test_what_does_not_fit_is_named(function, arguments):
    function(*arguments)


@bad_cases(
    ({"smoothing": "method8"}, "smoothing must be one of none, .*'method8'"),
    ({"tokenize": "14a"}, "tokenize must be one of .*got '14a'"),
    ({"weights": ()}, "weights is empty"),
    ({"weights": (0.5, 0.4)}, "weights must sum to 1, got 0.9"),
    ({"weights": (0.2,) * 5}, "5 entries but max_order is 4; pass"),
    ({"weights": [(1.0,), 0.5]}, "weights mixes numbers and lists"),
    ({"smooth_value": 0.1}, "smooth_value does not apply to 'exp'"),
    ({"smoothing": "floor", "smooth_value": 0}, "must be positive, got 0"),
    ({"smoothing": np.divide, "smooth_value": 1}, "set it in your own function"),
)
def test_bad_options(options):
    es.SentenceBLEU(**options)
