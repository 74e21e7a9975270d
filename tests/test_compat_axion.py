"""The axion adapter: axion's scores (from its formula, and its documentation's runs), and fixes."""

import asyncio
import difflib
import math

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

import evalstats as es
from evalstats.compat import axion

from .conftest import nasty_texts

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


@settings(max_examples=30)
@given(texts, texts, st.integers(1, 5), st.booleans(), st.booleans())
def test_scores_are_axion_s(actual, expected, n_grams, case_sensitive, smoothing):
    metric = axion.SentenceBLEU(n_grams, case_sensitive, smoothing)
    naive = naive_axion(actual, expected, n_grams, case_sensitive, smoothing)
    # Both round to four digits; a tie may fall either way.
    assert score(metric, actual, expected) == pytest.approx(naive, abs=5.1e-5)
    assert round(score(metric, actual, expected), 4) == score(metric, actual, expected)


#: Texts of axion's documentation, with the scores of its code (the documentation's are estimates).
DOCUMENTED = [
    ("The cat sat on the mat.", "The cat is sitting on the mat.", 0.4139),
    ("The quick brown fox jumped over the lazy dog.", "The quick brown fox jumps over the lazy dog.", 0.6580),
    ("Deep learning needs big data to train properly.", "Machine learning models require large datasets for training.", 0.1604),
    ("The Eiffel Tower is located in the French capital city.", "Paris is the capital of France.", 0.1499),
]  # fmt: skip


#: A metric, a candidate, its references, and axion's score, or what the keyword makes of it.
SCORES = [
    (axion.SentenceBLEU(), "the cat", "the cat", 0.0),
    (axion.SentenceBLEU(n_grams=2), "the cat", "the cat", 1.0),
    (axion.SentenceBLEU(effective_order=True), "the cat", "the cat", 1.0),
    (axion.SentenceBLEU(), "a b c d", "e", 0.3021),
    (axion.SentenceBLEU(), "a b c d", "", 0.3021),
    (axion.SentenceBLEU(), "", "", 0.0),
    (axion.SentenceBLEU(), None, "a", 0.0),
    (axion.SentenceBLEU(smoothing=False), "a b c d x", "a b c y z", 0.0),
    (axion.SentenceBLEU(), "a b c d", ["x y z w", "a b c d"], 1.0),
    *((axion.SentenceBLEU(), *row) for row in DOCUMENTED),
    *((axion.SentenceBLEU(effective_order=True), *row) for row in DOCUMENTED),
    (axion.LevenshteinRatio(), "tide", "diet", 0.25),
    (axion.LevenshteinRatio(), "diet", "tide", 0.5),
    (axion.LevenshteinRatio(), "kitten", "sitting", 0.6154),
    (axion.LevenshteinRatio(), "", "", 1.0),
    (axion.LevenshteinRatio(), "HELLO", "hello", 1.0),
    (axion.LevenshteinRatio(case_sensitive=True), "HELLO", "hello", 0.0),
    (axion.LevenshteinRatio(edit_distance=True), "kitten", "sitting", 0.5714),
    (axion.LevenshteinRatio(edit_distance=True), "", "", 1.0),
    (axion.LevenshteinRatio(edit_distance=True), "HELLO", ["bye", "hello"], 1.0),
]


@pytest.mark.parametrize("metric, actual, expected, value", SCORES)
def test_scores_by_hand(metric, actual, expected, value):
    assert score(metric, actual, expected) == value


@settings(max_examples=25)
@given(texts, texts)
def test_levenshtein_ratio_is_axion_s_and_edit_distance_is_levenshtein_s(actual, expected):
    ratio = difflib.SequenceMatcher(None, actual.lower(), expected.lower()).ratio()
    assert score(axion.LevenshteinRatio(), actual, expected) == round(ratio, 4)
    exact = axion.LevenshteinRatio(case_sensitive=True, edit_distance=True)
    longer = max(len(actual), len(expected), 1)
    distance = pytest.importorskip("rapidfuzz.distance").Levenshtein.distance(actual, expected)
    assert score(exact, actual, expected) == round(1 - distance / longer, 4)


def test_thresholds_by_class_or_name_and_defaults():
    item = {"actual_output": "a b c d x", "expected_output": "a b c d e"}
    value = score(axion.SentenceBLEU(), item["actual_output"], item["expected_output"])
    bleu, ratio = axion.SentenceBLEU(threshold=value), axion.LevenshteinRatio()

    def verdicts(**thresholds):
        runner = axion.MetricRunner(metrics=[bleu, ratio], thresholds=thresholds)
        (tested,) = run(runner.execute_batch([item]))
        return [(s.name, s.threshold, s.passed) for s in tested.score_results]

    assert verdicts() == [("Sentence BLEU", value, True), ("Levenshtein Ratio", 0.2, True)]
    for name in ("SentenceBLEU", "SentenceBleu", "sentence_bleu", "Sentence BLEU"):
        assert verdicts(**{name: 0.99})[0] == ("Sentence BLEU", 0.99, False)


def test_one_bad_item_does_not_lose_the_batch():
    dataset = axion.Dataset(
        [
            axion.DatasetItem(actual_output="a b c d", expected_output="a b c d", id="first"),
            axion.DatasetItem(actual_output=3, expected_output="a"),
            axion.DatasetItem(actual_output="a", expected_output=[]),
            axion.DatasetItem(actual_output="a b c d", expected_output="a b c d"),
        ]
    )
    runner = axion.MetricRunner([axion.SentenceBLEU(), axion.LevenshteinRatio()])
    results = run(runner.execute_batch(dataset))
    assert [[s.passed for s in r.score_results] for r in results] == [
        [True, True], [None, None], [None, None], [True, True]
    ]  # fmt: skip
    bad = results[1].score_results[0]
    assert math.isnan(bad.score)
    assert bad.explanation == (
        "Error executing metric: actual_output must be a string or None, got int"
    )
    assert results[0].score_results[0].id == results[0].test_case.id == "first"
    assert run(runner.execute_batch([])) == []
    with pytest.raises(es.InputTypeError, match="actual_output must be a string"):
        run(axion.SentenceBLEU().execute(dataset.items[1]))
    only_bad = axion.MetricRunner([axion.SentenceBLEU()])
    assert math.isnan(run(only_bad.execute_batch([dataset.items[1]]))[0].score)


def test_data_frames_are_taken():
    class Frame:  # what the adapter needs of a pandas.DataFrame
        columns = ("query", "actual_output", "expected_output")

        def to_dict(self, orient):
            assert orient == "records"
            return [dict(zip(self.columns, ("?", "a b c d", "a b c d"), strict=True))]

    (tested,) = run(axion.MetricRunner([axion.SentenceBLEU()]).execute_batch(Frame()))
    assert tested.score == 1.0
    assert tested.test_case.query == "?"


def test_a_batch_is_its_items_one_by_one(sample):
    actual, known = sample.systems["baseline"][:50], sample.references[:50]
    items = [axion.DatasetItem(a, list(e)) for a, e in zip(actual, known, strict=True)]
    metric = axion.SentenceBLEU()
    results = run(axion.MetricRunner([metric]).execute_batch(items, show_progress=False))
    assert [r.score for r in results] == [run(metric.execute(item)).score for item in items]


def test_metrics_take_what_axion_s_take():
    metric = axion.SentenceBLEU(metric_name="mine", threshold=None, model_name="m", llm=None)
    assert (metric.name, metric.threshold) == ("mine", 0.5)
    assert axion.LevenshteinRatio(name="edits", threshold=0.9).threshold == 0.9
    runner = axion.MetricRunner([metric], {"mine": 0.1})
    (tested,) = run(runner.execute_batch([axion.DatasetItem("a b", "a c")]))
    assert [(s.name, s.threshold) for s in tested.score_results] == [("mine", 0.1)]


def test_modules_of_axion():
    from evalstats.compat.axion.dataset import DatasetItem
    from evalstats.compat.axion.metrics import SentenceBleu
    from evalstats.compat.axion.metrics.heuristic.bleu import SentenceBLEU
    from evalstats.compat.axion.metrics.heuristic.levenshtein import LevenshteinRatio
    from evalstats.compat.axion.runners import MetricRunner

    assert DatasetItem is axion.DatasetItem
    assert SentenceBLEU is SentenceBleu is axion.SentenceBLEU
    assert (LevenshteinRatio, MetricRunner) == (axion.LevenshteinRatio, axion.MetricRunner)
    # axion's documentation calls it so, its code does not.
    assert MetricRunner.run is MetricRunner.execute_batch
    result = run(SentenceBleu().execute(DatasetItem(*DOCUMENTED[0][:2])))
    assert result.pretty() == (
        "score: 0.4139\n6 tokens against 7; matches of 1- to 4-grams: 5/6, 3/5, 1/4, 0/3"
    )


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: axion.SentenceBLEU(n_grams=0), "n_grams must be at least 1, got 0"),
        (lambda: axion.SentenceBLEU(smoothing="add-one"), "smoothing must be True or False"),
        (lambda: axion.SentenceBLEU(threshold="high"), "threshold must be a number"),
        (lambda: axion.MetricRunner(axion.SentenceBLEU()), "metrics must be a list"),
        (lambda: axion.MetricRunner([axion.SentenceBLEU]), r"metrics\[0\] must be a metric"),
        (
            lambda: axion.MetricRunner([axion.SentenceBLEU()], {"BLEU": 0.5}),
            "thresholds names 'BLEU'; the metrics are SentenceBLEU",
        ),
        (
            lambda: run(axion.MetricRunner([axion.SentenceBLEU()]).execute_batch("a")),
            "evaluation_inputs must be a list",
        ),
        (
            lambda: run(
                axion.MetricRunner([axion.SentenceBLEU()]).execute_batch([{"actual": "a"}])
            ),
            r"evaluation_inputs\[0\] has no 'actual_output'; its keys are actual",
        ),
        (
            lambda: run(axion.SentenceBLEU().execute("a")),
            "item must be a DatasetItem or a dict, got str",
        ),
        (lambda: axion.SentenceBLEU(treshold=0.5), "SentenceBLEU has no option 'treshold'"),
        (lambda: axion.TestResult(axion.DatasetItem(), []).score, "score is ambiguous: 0 metrics"),
    ],
)
def test_errors_are_named(call, message):
    with pytest.raises(es.InputError, match=message):
        call()
