"""The NLTK adapter against NLTK itself: scores, warnings, errors."""

import doctest
import inspect
import warnings
from fractions import Fraction
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import evalstats as es
from evalstats.compat import nltk as ours
from evalstats.compat.futureagi import BLEUScore
from tests.helpers import cases

METHODS = [f"method{i}" for i in range(8)]
#: Few different tokens, so that n-grams repeat and match; empty and shorter than the order too.
tokens = st.lists(st.sampled_from("abc"), max_size=9)
corpora = st.lists(
    st.tuples(tokens, st.lists(tokens, min_size=1, max_size=4)), min_size=1, max_size=5
)
weight_rows = st.sampled_from(
    [
        (0.25,) * 4, (1,), (0.5, 0.5), (1 / 3,) * 3, (0.2,) * 5, (0, 0, 0, 0, 1), [0.25] * 4,
        (0.1, 0.3, 0.5, 0.1), (1, 1, 1, 1), (0.5, -0.2, 0.1), [(0.25,) * 4],
        [(0.5, 0.5), (0.333, 0.333, 0.334), (0.25,) * 4, (0.2,) * 5],
    ]
)  # fmt: skip


@pytest.fixture(scope="module")
def theirs():
    return pytest.importorskip("nltk.translate.bleu_score")


def outcome(call):
    """Return a result, or the type of the error, and the warnings of a call."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = call()
        except (AssertionError, ArithmeticError, IndexError) as error:
            return type(error), 0
    assert all(issubclass(warning.category, UserWarning) for warning in caught)
    return result, len(caught)


@pytest.mark.parametrize("method", [None, *METHODS])
@settings(max_examples=8)
@given(
    corpora,
    weight_rows,
    st.booleans(),
    st.sampled_from(
        [
            {},
            {"epsilon": 0.02, "alpha": 2, "k": 3.5},
            {"epsilon": 0, "alpha": 0, "k": 0},
            {"epsilon": -1, "alpha": -1, "k": -2},
        ]
    ),
)
def test_every_score_is_nltk_s(theirs, method, corpus, weights, auto_reweigh, parameters):
    hypotheses, references = map(list, zip(*corpus, strict=True))

    def run(module):
        smooth = method and getattr(module.SmoothingFunction(**parameters), method)
        if len(corpus) == 1:
            return module.sentence_bleu(references[0], hypotheses[0], weights, smooth, auto_reweigh)
        return module.corpus_bleu(references, hypotheses, weights, smooth, auto_reweigh)

    expected, n_warnings = outcome(lambda: run(theirs))
    result, n_ours = outcome(lambda: run(ours))
    assert n_ours == n_warnings
    if isinstance(expected, type):
        # IndexError where there are only two orders, ZeroDivisionError where K or alpha is 0.
        assert method in ("method4", "method6", "method7")
        assert issubclass(result, expected)
        assert issubclass(result, es.InputError)
    else:
        assert isinstance(result, list) == isinstance(expected, list)
        np.testing.assert_allclose(result, expected, rtol=1e-12, atol=0)
        assert type(np.ravel(result)[0]) is type(np.ravel(expected)[0])


def test_precisions_are_the_fractions_that_they_were_counted_as():
    half = ours.modified_precision([list("ab")], list("abcd"), 1)
    assert (half.numerator, half.denominator) == (2, 4)
    assert half == Fraction(1, 2) != half + 1
    assert hash(half) == hash(Fraction(1, 2))
    assert ours.closest_ref_length(iter([list("abc"), ["a"]]), 2) == 1
    assert ours.brevity_penalty(3, 0) == 0 < ours.brevity_penalty(3, 2) < 1


def examples_of(module):
    """Yield the doctests of NLTK's BLEU module and its BLEU page, with the import changed."""
    from_text = doctest.DocTestParser().get_doctest
    public = {name: getattr(ours, name) for name in ours.__all__}
    for name in (*ours.__all__, "SmoothingFunction.__init__"):
        source = module
        for part in name.split("."):
            source = getattr(source, part, None)
        text = inspect.getdoc(source) or ""
        if source is not None and ">>>" in text:
            yield from_text(text, dict(public), name, module.__file__, 0)
    page = Path(module.__file__).parents[1] / "test" / "bleu.doctest"
    if page.exists():
        text = page.read_text(encoding="utf-8").replace("nltk.translate.bleu_score", "nltk")
        text = text.replace("nltk.translate", "nltk").replace(
            "from nltk ", "from evalstats.compat.nltk "
        )
        yield from_text(text, {}, "bleu.doctest", str(page), 0)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_nltk_s_own_doctests_pass_with_only_the_import_changed(theirs):
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    examples = list(examples_of(theirs))
    assert {"sentence_bleu", "corpus_bleu", "modified_precision", "brevity_penalty"} <= {
        example.name for example in examples
    }
    for example in examples:
        assert not any("nltk.translate" in part.source for part in example.examples)
        runner.run(example)
    assert runner.failures == 0
    assert runner.tries > 50


def test_warnings_say_which_order_has_no_match_at_the_caller_s_line():
    text, method0 = list("ab"), ours.SmoothingFunction().method0
    for call in (
        lambda: ours.sentence_bleu([text], text),
        lambda: ours.corpus_bleu([[text]], [text], smoothing_function=method0),
        lambda: method0([1, 1, 1, ours.Precision(0, 2)]),
        lambda: BLEUScore({"smooth": "method0"}).compute_one({"response": "a b",
                                                              "expected_text": "a b"}),
    ):  # fmt: skip
        with pytest.warns(UserWarning, match="0 counts of .-gram overlaps") as caught:
            call()
        assert {warning.filename for warning in caught} == {__file__}
        assert "0 counts of 4-gram" in str(caught[-1].message)


def test_smoothing_functions_of_ones_own_are_called_as_nltk_calls_them(theirs):
    seen = {}

    def own(p_n, references=None, hypothesis=None, hyp_len=None, **kwargs):
        seen.update(p_n=list(p_n), references=references, hypothesis=hypothesis, hyp_len=hyp_len)
        return [Fraction(p.numerator + 1, p.denominator + 2) for p in p_n]

    references = [[list("abcd")], [list("abd"), list("xy")]]
    hypotheses = [list("abdc"), list("abd")]
    score = ours.corpus_bleu(references, hypotheses, smoothing_function=own)
    # 7/7, 3/5, 1/3, 0/2: the second sentence has no four-gram, which NLTK counts as one.
    assert [(p.numerator, p.denominator) for p in seen["p_n"]] == [(7, 7), (3, 5), (1, 3), (0, 2)]
    assert all(isinstance(p, Fraction) for p in seen["p_n"])
    assert (seen["references"], seen["hypothesis"]) == (references[-1], hypotheses[-1])
    assert seen["hyp_len"] == 7
    assert score == theirs.corpus_bleu(references, hypotheses, smoothing_function=own)
    strange = theirs.SmoothingFunction().method5
    assert ours.corpus_bleu(references, hypotheses, smoothing_function=strange) == pytest.approx(
        theirs.corpus_bleu(references, hypotheses, smoothing_function=strange), rel=1e-12
    )


@cases(
    (ours.corpus_bleu, ([[["a"]]], []), AssertionError, "got 1 and 0"),
    (ours.corpus_bleu, ([], []), ZeroDivisionError, "hypotheses is empty"),
    (ours.sentence_bleu, ([], ["a"]), es.InputError, "^references is empty"),
    (ours.sentence_bleu, (["a cat"], ["a"]), es.InputTypeError, r"^references\[0\] must"),
    (ours.sentence_bleu, (["a", "cat"], ["a", "cat"]), es.InputTypeError,
     r"list of token lists, got a single token list; use sentence_bleu\(\[reference\], hypothesis\)"),
    (ours.sentence_bleu, ([["a"]], None), es.InputTypeError, "^hypothesis must be a list"),
    (ours.sentence_bleu, ([["a"]], ["a"], ()), es.InputError, "weights is empty"),
    (ours.sentence_bleu, ([list("abc")], list("abc"), (0.5, 0.5), ours.SmoothingFunction().method6),
     AssertionError, "three orders, got the"),
    (ours.sentence_bleu,
     ([list("cb")], list("cb"), ours.UNIFORM, ours.SmoothingFunction(k=0).method4),
     ZeroDivisionError, "a precision is infinite"),
    (ours.modified_precision, ([["a"]], ["a"], 0), es.InputError, "n must be at least 1"),
)  # fmt: skip
def test_errors_are_named(function, arguments, error, message):
    with pytest.raises(error, match=message) as caught:
        function(*arguments)
    assert isinstance(caught.value, es.InputError)


def test_any_ordered_tokens_are_taken():
    for references, hypothesis in (
        ([tuple("abcd")], np.array(list("abcd"))),
        ([[1, 2, 3, 4]], (1, 2, 3, 4)),
    ):
        assert ours.bleu(references, hypothesis) == 1.0
    assert ours.bleu is ours.sentence_bleu
