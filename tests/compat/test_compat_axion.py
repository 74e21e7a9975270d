"""The axion adapter: axion's scores (from its formula, and its documentation's runs), and fixes."""

import asyncio
import math

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import evalstats as es
from evalstats.compat import axion
from tests.conftest import nasty_texts
from tests.helpers import bad_cases

#: Few different words, in either case, so that n-grams match; with empty texts.
texts = st.one_of(
    st.lists(st.sampled_from(["a", "A", "b", "c"]), max_size=9).map(" ".join), nasty_texts
)


def run(call):
    return asyncio.run(call)


def score(metric, actual, expected):
    item = axion.DatasetItem(actual_output=actual, expected_output=expected)
    return run(metric.execute(item)).score


def naive_axion(actual, expected, n_grams=4, case_sensitive=False, smoothing=True):
    """axion's sentence BLEU, step by step."""
    if not case_sensitive:
        actual, expected = actual.lower(), expected.lower()
    candidate, reference = actual.split(), expected.split()
    product = 1.0
    for n in range(1, n_grams + 1):
        grams = [tuple(candidate[i : i + n]) for i in range(len(candidate) - n + 1)]
        known = [tuple(reference[i : i + n]) for i in range(len(reference) - n + 1)]
        if not grams:
            return 0.0
        clipped = sum(min(grams.count(g), known.count(g)) for g in set(grams))
        product *= (clipped + smoothing) / (len(grams) + smoothing)
    if product == 0:
        return 0.0
    shorter = len(candidate) <= len(reference)
    penalty = math.exp(1 - len(reference) / len(candidate)) if shorter else 1.0
    return penalty * product ** (1 / n_grams)


@settings(max_examples=20)
@given(texts, texts, st.integers(1, 5), st.booleans(), st.booleans())
def test_scores_are_axion_s(actual, expected, n_grams, case_sensitive, smoothing):
    metric = axion.SentenceBLEU(n_grams, case_sensitive, smoothing)
    naive = naive_axion(actual, expected, n_grams, case_sensitive, smoothing)
    found = score(metric, actual, expected)
    # Both round to four digits; a tie may fall either way.
    assert found == round(found, 4) == pytest.approx(naive, abs=5.1e-5)


#: Texts of axion's documentation, with the scores of its code (the documentation's are estimates).
DOCUMENTED = [
    ("The cat sat on the mat.", "The cat is sitting on the mat.", 0.4139),
    ("The quick brown fox jumped over the lazy dog.",
     "The quick brown fox jumps over the lazy dog.", 0.6580),
    ("Deep learning needs big data to train properly.",
     "Machine learning models require large datasets for training.", 0.1604),
    ("The Eiffel Tower is located in the French capital city.", "Paris is the capital of France.",
     0.1499),
]  # fmt: skip


#: A metric, a candidate, its references, and axion's score, or what the keyword makes of it.
SCORES = [
    (axion.SentenceBLEU(), "the cat", "the cat", 0.0),
    (axion.SentenceBLEU(effective_order=True), "the cat", "the cat", 1.0),
    (axion.SentenceBLEU(), "a b c d", "", 0.3021),
    (axion.SentenceBLEU(), None, "a", 0.0),
    (axion.SentenceBLEU(), "a b c d", ["x y z w", "a b c d"], 1.0),
    *((axion.SentenceBLEU(), *row) for row in DOCUMENTED),
    (axion.LevenshteinRatio(), "tide", "diet", 0.25),
    (axion.LevenshteinRatio(), "diet", "tide", 0.5),
    (axion.LevenshteinRatio(case_sensitive=True), "HELLO", "hello", 0.0),
    (axion.LevenshteinRatio(), "kitten", "sitting", 0.6154),
    (axion.LevenshteinRatio(edit_distance=True), "kitten", "sitting", 0.5714),
    (axion.LevenshteinRatio(edit_distance=True), "HELLO", ["bye", "hello"], 1.0),
]


@pytest.mark.parametrize("metric, actual, expected, value", SCORES)
def test_scores_by_hand(metric, actual, expected, value):
    assert score(metric, actual, expected) == value


def results_of(items, metrics, thresholds=None, **options):
    """What the runner finds, item by item."""
    return run(axion.MetricRunner(metrics, thresholds).execute_batch(items, **options))


def test_thresholds_by_class_or_name_and_defaults():
    item = {"actual_output": "a b c d x", "expected_output": "a b c d e", "split": "test"}
    value = score(axion.SentenceBLEU(), item["actual_output"], item["expected_output"])
    # Of what axion's metrics take for models nothing is needed.
    bleu = axion.SentenceBLEU(threshold=value, model_name="m", llm=None)

    def verdicts(thresholds=None, metric=bleu):
        (found,) = results_of([item], [metric, axion.LevenshteinRatio()], thresholds)
        return [(s.name, s.threshold, s.passed) for s in found.score_results]

    assert verdicts() == [("Sentence BLEU", value, True), ("Levenshtein Ratio", 0.2, True)]
    for name in ("SentenceBLEU", "SentenceBleu", "sentence_bleu", "Sentence BLEU"):
        assert verdicts({name: 0.99})[0] == ("Sentence BLEU", 0.99, False)
    named = axion.SentenceBLEU(metric_name="mine", threshold=None)
    assert verdicts(metric=named)[0] == ("mine", 0.5, True)
    assert verdicts({"mine": 0.99}, named)[0] == ("mine", 0.99, False)


def test_a_batch_is_its_items_one_by_one_and_bad_ones_lose_nothing(sample):
    actual, known = sample.systems["baseline"][:9], sample.references[:9]
    dataset = axion.Dataset(
        [axion.DatasetItem(a, list(e)) for a, e in zip(actual, known, strict=True)]
    )
    metric = axion.SentenceBLEU()
    expected = [run(metric.execute(item)).score for item in dataset.items]
    bad = [axion.DatasetItem(3, "a", id="bad"), axion.DatasetItem("a", [])]
    dataset.items[4:4] = bad
    found = results_of(dataset, [metric, axion.LevenshteinRatio()], show_progress=False)
    scores = [[s.score for s in r.score_results] for r in found]
    assert [row[0] for row in scores[:4] + scores[6:]] == expected
    assert np.isnan(scores[4:6]).all()
    verdict = found[4].score_results[0]
    assert (verdict.passed, verdict.id) == (None, found[4].test_case.id) == (None, "bad")
    assert verdict.explanation.endswith("actual_output must be a string or None, got int")
    assert "expected_output must be" in found[5].score_results[0].explanation
    assert math.isnan(results_of(bad, [metric])[0].score)
    assert results_of([], [metric]) == []
    with pytest.raises(es.InputTypeError, match="actual_output must be a string"):
        run(metric.execute(bad[0]))


def test_data_frames_are_taken():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"query": ["?"], "actual_output": ["a b"], "expected_output": ["a b"]})
    (found,) = results_of(frame, [axion.LevenshteinRatio()])
    assert (found.score, found.test_case.query) == (1.0, "?")


def test_a_result_is_said_in_a_sentence():
    # axion's documentation calls it so, its code does not.
    assert axion.MetricRunner.run is axion.MetricRunner.execute_batch
    result = run(axion.SentenceBLEU().execute(axion.DatasetItem(*DOCUMENTED[0][:2])))
    expected = "score: 0.4139\n6 tokens against 7; matches of 1- to 4-grams: 5/6, 3/5, 1/4, 0/3"
    assert result.pretty() == expected


BLEU = axion.SentenceBLEU()


@bad_cases(
    (lambda: axion.SentenceBLEU(n_grams=0), "n_grams must be at least 1, got 0"),
    (lambda: axion.SentenceBLEU(treshold=0.5), "SentenceBLEU has no option 'treshold'"),
    (lambda: results_of([], [axion.SentenceBLEU]), r"metrics\[0\] must be a metric"),
    (lambda: results_of([], [BLEU], {"BLEU": 1}), "'BLEU'; the metrics are Sentence BLEU"),
    (lambda: results_of("a", [BLEU]), "evaluation_inputs must be a list"),
    (
        lambda: results_of([{"actual": "a"}], [BLEU]),
        r"evaluation_inputs\[0\] has no key 'actual_output'; its",
    ),
    (lambda: run(BLEU.execute("a")), "item must be a DatasetItem or a dict, got str"),
    (
        lambda: axion.TestResult(axion.DatasetItem(), []).score,
        "score needs exactly one metric, got 0",
    ),
)
def test_errors_are_named(call):
    call()
