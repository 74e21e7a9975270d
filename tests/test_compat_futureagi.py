"""The Future AGI adapter: the documented example, NLTK's scores, batches with bad items."""

import math

import pytest

import evalstats as es
from evalstats.compat import nltk
from evalstats.compat.futureagi import BLEUScore, TestCase, TextMetricInput

CAT = TestCase(response="the cat is on the mat", expected_text="there is a cat on the mat")


def value(config, **fields):
    (result,) = BLEUScore(config).evaluate([TestCase(**fields)]).eval_results
    return result.output


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("method", [f"method{i}" for i in range(8)])
@pytest.mark.parametrize("order", [1, 3, 5])
def test_scores_are_nltk_s_on_whitespace_tokens(method, order):
    response, expected = "a b  c a b A.", ["a b c", "b\ta b A."]
    found = value(
        {"max_n_gram": order, "smooth": method}, response=response, expected_text=expected
    )
    options = (1 / order,) * order, getattr(nltk.SmoothingFunction(), method)
    try:
        score = nltk.sentence_bleu([text.split() for text in expected], response.split(), *options)
    except es.InputError:
        assert method == "method6"
        assert math.isnan(found)
    else:
        assert found == score


def test_both_versions_names_and_dicts():
    expected = BLEUScore().evaluate([CAT]).eval_results[0].output
    text = CAT.expected_text
    items = [
        TextMetricInput(response=CAT.response, expected_response=text),
        TestCase(response=CAT.response, expected_text=[text]),
        {"response": CAT.response, "expected_text": text},
        {"response": CAT.response, "expected_response": [text]},
    ]
    assert [r.output for r in BLEUScore().evaluate(items).eval_results] == [expected] * 4
    assert BLEUScore().compute_one(items[0]) == {
        "output": expected,
        "reason": "BLEU-4, method1, mode: sentence",
    }
    assert BLEUScore().evaluate([]).eval_results == []
    assert BLEUScore({"mode": "corpus"}).evaluate([]).eval_results == []


def test_further_fields_are_ignored_as_pydantic_ignores_them():
    fields = {"response": CAT.response, "expected_response": CAT.expected_text}
    expected = BLEUScore().compute_one(fields)
    assert BLEUScore().compute_one({**fields, "query": "Where?", 3: 4}) == expected
    case = TestCase(**fields, query="Where?", context=["mat"])
    assert BLEUScore().compute_one(case) == expected
    assert case == TestCase(**fields)


def test_corpus_mode_is_one_score_of_the_batch():
    items = [
        CAT,
        TestCase("I am going to the store", ["I will go to the store", "I am going shopping"]),
        TestCase("The weather is nice today", "It is a beautiful day today"),
    ]
    (result,) = BLEUScore({"mode": "corpus"}).evaluate(items).eval_results
    references = [
        [text.split() for text in ([x] if isinstance(x, str) else x)]
        for x in (item.expected_text for item in items)
    ]
    hypotheses = [item.response.split() for item in items]
    smooth = nltk.SmoothingFunction().method1
    assert result.output == nltk.corpus_bleu(references, hypotheses, smoothing_function=smooth)
    sentences = [r.output for r in BLEUScore().evaluate(items).eval_results]
    assert result.output != pytest.approx(sum(sentences) / 3, abs=0.01)
    assert result.reason == "BLEU-4, method1, mode: corpus, 3 items"
    # A corpus of one sentence is that sentence.
    (single,) = BLEUScore({"mode": "corpus"}).evaluate(items[:1]).eval_results
    assert single.output == sentences[0]


def test_one_bad_item_does_not_lose_the_batch():
    items = [
        CAT,
        TestCase(response=None, expected_text="a"),
        TestCase(response="a"),
        TestCase(response="a", expected_text=[]),
        TestCase(response="a", expected_text=["a", 3]),
        TestCase(response="a", expected_text="a", expected_response="b"),
        {"response": "a", "reference": "a"},
        "a",
        CAT,
    ]
    results = BLEUScore().evaluate(items).eval_results
    good = BLEUScore().evaluate([CAT]).eval_results[0].output
    assert [results[0].output, results[-1].output] == [good, good]
    assert all(math.isnan(r.output) and math.isnan(r.metrics[0].value) for r in results[1:-1])
    assert [r.reason for r in results[1:-1]] == [
        "response must be a string, got NoneType",
        "expected_response (expected_text in version 0.1) is needed",
        "expected_text is empty: the item has no reference",
        "expected_text must be a string or a list of strings, got ['a', 3]",
        "give expected_text or expected_response, not both",
        "expected_response (expected_text in version 0.1) is needed; the keys are response, reference",
        "expected a TestCase or a dict, got str",
    ]
    (corpus,) = BLEUScore({"mode": "corpus"}).evaluate(items).eval_results
    two = BLEUScore({"mode": "corpus"}).evaluate([CAT, CAT]).eval_results[0]
    assert corpus.output == two.output
    assert "2 items; 7 left out: item 1: response must be a string" in corpus.reason
    (nothing,) = BLEUScore({"mode": "corpus"}).evaluate([None]).eval_results
    assert math.isnan(nothing.output)
    assert nothing.reason.startswith("no item can be scored; 1 left out: item 0: expected")
    method6 = {"mode": "corpus", "smooth": "method6"}
    (unusable,) = BLEUScore(method6).evaluate([TestCase("a", "a"), None]).eval_results
    assert math.isnan(unusable.output)
    assert "method6 needs a match of three tokens" in unusable.reason
    assert "1 left out: item 1" in unusable.reason


FOX = {
    "response": "The quick brown fox jumps over the lazy dog",
    "expected_text": "The fast brown fox leaps over the sleepy dog",
}
CAT_FIELDS = {"response": CAT.response, "expected_text": CAT.expected_text}
SAME = {"response": "a b c d e f", "expected_text": "a b c d e f"}


@pytest.mark.parametrize(
    "config, fields, expected",
    [
        (None, {"response": "", "expected_text": "reference text"}, 0.0),
        (None, {"response": "hypothesis text", "expected_text": ""}, 0.0),
        (None, SAME, 1.0),
        ({"smooth": "method7"}, SAME, 1.1167471),
        ({"max_n_gram": 2, "smooth": "method2"}, FOX, math.sqrt(6 / 9 * (2 + 1) / (8 + 1))),
        # 5/6 and 2/5, six tokens against seven.
        (
            {"max_n_gram": 2, "weights": [0.8, 0.2]},
            CAT_FIELDS,
            math.exp(1 - 7 / 6) * (5 / 6) ** 0.8 * (2 / 5) ** 0.2,
        ),
    ],
)
def test_scores_by_hand(config, fields, expected):
    (result,) = BLEUScore(config).evaluate([TestCase(**fields)]).eval_results
    assert result.output == result.metrics[0].value == pytest.approx(expected)
    assert result.metrics[0].id == result.name == "bleu_score"


@pytest.mark.parametrize(
    "config, message",
    [
        ({"mode": "paragraph"}, "mode must be one of sentence, corpus; got 'paragraph'"),
        ({"smooth": "epsilon"}, "smooth must be one of method0, .*; got 'epsilon'"),
        ({"max_n_gram": 0}, "max_n_gram must be at least 1, got 0"),
        ({"weights": [1, 1, 1, 1]}, "weights must sum to 1, got 4"),
        ({"weights": [0.5, 0.5]}, "weights has 2 entries but max_n_gram is 4"),
        ({"weights": [[0.25] * 4] * 4}, "weights must be one list of numbers"),
        ({"weight": [0.25] * 4}, "config has no 'weight'; it may have mode, max_n_gram"),
        ("sentence", "config must be a dict, got str"),
    ],
)
def test_bad_configurations_are_named(config, message):
    with pytest.raises(es.InputError, match=message):
        BLEUScore(config)


def test_a_batch_must_be_a_list():
    with pytest.raises(
        es.InputTypeError, match="inputs must be a list of test cases, got TestCase"
    ):
        BLEUScore().evaluate(CAT)
    with pytest.raises(es.InputTypeError, match="response must be a string"):
        BLEUScore().compute_one(TestCase())
