"""The Future AGI adapter: the documented example, NLTK's scores, batches with bad items."""

import math

import pytest

import evalstats as es
from evalstats.compat import nltk
from evalstats.compat.futureagi import BLEUScore, TestCase, TextMetricInput
from tests.helpers import bad_cases, cases

CAT = TestCase(response="the cat is on the mat", expected_text="there is a cat on the mat")


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("method", [f"method{i}" for i in range(8)])
@pytest.mark.parametrize("order", [1, 3, 5])
def test_scores_are_nltk_s_on_whitespace_tokens(method, order):
    response, expected = "a b  c a b A.", ["a b c", "b\ta b A."]
    bleu = BLEUScore({"max_n_gram": order, "smooth": method})
    found = bleu.evaluate([TestCase(response, expected)]).eval_results[0].output
    options = (1 / order,) * order, getattr(nltk.SmoothingFunction(), method)
    try:
        score = nltk.sentence_bleu([text.split() for text in expected], response.split(), *options)
    except es.InputError:
        assert method == "method6"
        assert math.isnan(found)
    else:
        assert found == score


def test_both_versions_names_and_dicts():
    expected, text = BLEUScore().evaluate([CAT]).eval_results[0].output, CAT.expected_text
    items = [
        TextMetricInput(response=CAT.response, expected_response=text),
        TestCase(response=CAT.response, expected_text=[text]),
        # Further fields are ignored, as pydantic ignores them.
        TestCase(response=CAT.response, expected_text=text, query="Where?", context=["mat"]),
        {"response": CAT.response, "expected_text": text},
        {"response": CAT.response, "expected_response": [text], "query": "Where?", 3: 4},
    ]
    assert [r.output for r in BLEUScore().evaluate(items).eval_results] == [expected] * 5
    assert BLEUScore().compute_one(items[0]) == {
        "output": expected,
        "reason": "BLEU-4, method1, mode: sentence",
    }
    for mode in ("sentence", "corpus"):
        assert BLEUScore({"mode": mode}).evaluate([]).eval_results == []


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


#: Items that cannot be scored, and why.
BAD = [
    (TestCase(response=None, expected_text="a"), "response must be a string, got NoneType"),
    (TestCase(response="a"), "expected_response (expected_text in version 0.1) is missing"),
    (TestCase(response="a", expected_text=[]), "expected_text is empty, so the item has no"),
    (TestCase(response="a", expected_text=["a", 3]), "expected_text must be a string or a list"),
    (
        TestCase("a", expected_text="a", expected_response="b"),
        "pass either expected_text or expected_r",
    ),
    ({"response": "a", "reference": "a"}, "is missing; the keys are response, reference"),
    ("a", "expected a TestCase or a dict, got str"),
]


def test_one_bad_item_does_not_lose_the_batch():
    items = [CAT, *(item for item, _ in BAD), CAT]
    first, *found, last = BLEUScore().evaluate(items).eval_results
    assert first == last == BLEUScore().evaluate([CAT]).eval_results[0]
    for result, (_, reason) in zip(found, BAD, strict=True):
        assert math.isnan(result.metrics[0].value)
        assert reason in result.reason

    def corpus(items, **config):
        (result,) = BLEUScore({"mode": "corpus", **config}).evaluate(items).eval_results
        return result.output, result.reason

    score, reason = corpus(items)
    assert score == corpus([CAT, CAT])[0]
    assert "2 items; 7 left out: item 1: response must be a string" in reason
    score, reason = corpus([TestCase("a", "a"), None], smooth="method6")
    assert math.isnan(score)
    assert reason.startswith("method6 requires a match of three tokens")
    assert corpus([None])[1].startswith("no item can be scored; 1 left out: item 0: expected")


@cases(
    (None, "", "reference text", 0.0),
    ({"smooth": "method7"}, "a b c d e f", "a b c d e f", 1.1167471),
    # 5/6 and 2/5, six tokens against seven.
    ({"max_n_gram": 2, "weights": [0.8, 0.2]}, CAT.response, CAT.expected_text,
     math.exp(1 - 7 / 6) * (5 / 6) ** 0.8 * (2 / 5) ** 0.2),
)  # fmt: skip
def test_scores_by_hand(config, response, expected, score):
    (result,) = BLEUScore(config).evaluate([TestCase(response, expected)]).eval_results
    assert result.output == result.metrics[0].value == pytest.approx(score)
    assert result.metrics[0].id == result.name == "bleu_score"


@bad_cases(
    ({"mode": "paragraph"}, "mode must be one of sentence, corpus; got 'paragraph'"),
    ({"smooth": "epsilon"}, "smooth must be one of method0, .*; got 'epsilon'"),
    ({"max_n_gram": 0}, "max_n_gram must be at least 1, got 0"),
    ({"weights": [1, 1, 1, 1]}, "weights must sum to 1, got 4"),
    ({"weights": [0.5, 0.5]}, "weights has 2 entries but max_n_gram is 4"),
    ({"weights": [[0.25] * 4] * 4}, "weights must be one list of numbers"),
    ({"weight": [0.25] * 4}, "config has no key 'weight'; available: mode, max_n_gram"),
    ("sentence", "config must be a dict, got str"),
)
def test_bad_configurations_are_named(config):
    BLEUScore(config)


def test_a_batch_must_be_a_list():
    with pytest.raises(es.InputTypeError, match="inputs must be a list of test cases, got TestC"):
        BLEUScore().evaluate(CAT)
