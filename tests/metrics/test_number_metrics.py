"""Scores of classes and of numbers: the oracles' values, special cases, and what is refused."""

import math
import sys
import warnings
from functools import partial

import numpy as np
import pytest
from scipy import stats

import evalstats as es
from evalstats.metrics import as_metric
from evalstats.metrics.confusion import MEASURES, RATES
from tests.helpers import bad_cases, cases, refuses, score_of

metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is a test extra")
calibration = pytest.importorskip("sklearn.calibration")

LABELS = ("owl", "cat", "dog", "eel")
n_tables = pytest.mark.parametrize("n", [12, pytest.param(500, marks=pytest.mark.thorough)])


# Classes.


def truths(gold, predicted, labels, single=True):
    """Return scikit-learn's scores, undefined ones 0; of single rates, those of the second class."""
    found = {"accuracy": metrics.accuracy_score(gold, predicted)}
    quick = {"assume_finite": True, "skip_parameter_validation": True}
    with warnings.catch_warnings(), sys.modules["sklearn"].config_context(**quick):
        warnings.simplefilter("ignore")
        for average in (None, "macro", "micro", "weighted"):
            options = {"labels": labels, "average": average, "zero_division": 0}
            four = [
                *metrics.precision_recall_fscore_support(gold, predicted, **options)[:3],
                metrics.jaccard_score(gold, predicted, **options),
            ]
            for rate, value in zip(("precision", "recall", "f1", "iou"), four, strict=True):
                found[f"{average}-{rate}" if average else rate] = value if average else value[1]
        if single:
            kappa = metrics.cohen_kappa_score(gold, predicted, labels=labels)
            found["kappa"] = np.nan_to_num(kappa)
            found["mcc"] = metrics.matthews_corrcoef(gold, predicted)
            found["balanced-accuracy"] = metrics.balanced_accuracy_score(gold, predicted)
    return found


def metric_of(measure, n_labels=4, **options):
    positive = LABELS[1] if measure in RATES else None
    return es.Confusion(LABELS[:n_labels], measure, positive, **options)


@n_tables
def test_single_labels_score_as_in_scikit_learn(n):
    """Some classes rare or absent, few items or many."""
    rng = np.random.default_rng(0)
    for table in range(n):
        k, size = 2 + table % 3, int(rng.integers(1, 60))
        gold = rng.choice(k, size=size, p=rng.dirichlet(np.full(k, 0.5)))
        wrong = rng.random(size) < rng.random()
        predicted = np.where(wrong, rng.integers(k, size=size), gold)
        if rng.random() < 0.05:
            predicted[:] = gold[:] = gold[0]
        gold, predicted = ([LABELS[i] for i in codes] for codes in (gold, predicted))
        expected = truths(gold, predicted, LABELS[:k])
        assert expected.keys() == set(MEASURES)
        for measure, value in expected.items():
            found = score_of(metric_of(measure, k), predicted, gold)
            assert found == pytest.approx(value, abs=1e-12), (measure, gold, predicted)


@n_tables
def test_label_sets_score_as_in_scikit_learn(n):
    rng = np.random.default_rng(7)
    for _ in range(n):
        gold, predicted = rng.random((2, int(rng.integers(1, 10)), 4)) < rng.random()
        sets = [[{LABELS[k] for k in np.flatnonzero(row)} for row in x] for x in (predicted, gold)]
        for measure, value in truths(gold.astype(int), predicted.astype(int), None, False).items():
            found = score_of(metric_of(measure, multilabel=True), *sets)
            assert found == pytest.approx(value, abs=1e-12), measure


def test_matrices_score_as_all_their_items():
    rng = np.random.default_rng(3)
    gold, predicted = rng.integers(3, size=(2, 5, 40))
    pairs = zip(gold, predicted, strict=True)
    images = np.stack([metrics.confusion_matrix(g, p, labels=range(3)) for g, p in pairs])
    for measure in ("miou", "micro-f1", "accuracy", "kappa"):
        whole = score_of(es.Confusion(range(3), measure), predicted.ravel(), gold.ravel())
        metric = es.Confusion(range(3), measure, matrices=True)
        assert score_of(metric, images) == pytest.approx(whole)


def test_which_classes_count():
    binary = es.Confusion([0, 1], "f1")
    assert binary.signature == "confusion:f1|classes:2|positive:1"
    gold, predicted = ["owl", "cat", "cat"], ["owl", "cat", "dog"]
    omitted = es.Confusion(LABELS, "macro-f1", absent="omit")
    expected = metrics.f1_score(gold, predicted, average="macro")
    assert score_of(omitted, predicted, gold) == pytest.approx(expected)


def test_labels_may_be_numbers_names_arrays_and_columns():
    pandas = pytest.importorskip("pandas")
    gold, predicted = np.array([1, 2, 2, 0, 1, 0]), np.array([1, 2, 0, 0, 1, 1])
    as_text = [np.array(LABELS)[codes].tolist() for codes in (predicted, gold)]
    columns = pandas.Series(predicted), pandas.Series(gold)
    found = {score_of(es.Confusion(range(3)), *items) for items in ((predicted, gold), columns)}
    assert found == {score_of(es.Confusion(LABELS[:3]), *as_text)}
    # A class is its label, whatever the place that it has among them.
    for k in range(3):
        expected = metrics.f1_score(gold == k, predicted == k)
        one = es.Confusion([2, 0, 1], "f1", positive=k)
        assert score_of(one, predicted, gold) == pytest.approx(expected)


def test_accuracy_is_a_share_of_items_and_has_their_methods():
    gold, *outputs = np.random.default_rng(0).integers(3, size=(3, 200))
    systems = dict(zip("AB", outputs, strict=True))
    measures = [es.Confusion(range(3), measure) for measure in ("macro-f1", "accuracy")]
    f1, accuracy = es.compare(systems, gold, measures, n_resamples=99)
    assert (f1.metric, f1.method, accuracy.method) == ("macro-F1", "bootstrap", "tango")
    marks = {name: (found == gold).astype(float) for name, found in systems.items()}
    (same,) = es.compare(marks, metrics=es.Mean("accuracy"))
    assert (same.low, same.high, same.pvalue) == (accuracy.low, accuracy.high, accuracy.pvalue)


def test_perplexity():
    # Ten fair coins a word: 2^10 equally likely words.
    rows = [(-n * 10 * math.log(2), n) for n in (3, 5, 12)]
    assert score_of(es.Perplexity("word"), rows) == pytest.approx(1024)
    assert score_of(es.BitsPerUnit("word"), rows) == pytest.approx(10)
    items = np.array([0.3, 2.5, 0.01])
    assert score_of(es.Perplexity("item", nll=True), items) == pytest.approx(math.exp(items.mean()))
    with pytest.raises(es.InputError, match=r"word perplexity of the corpus .* is not finite"):
        es.estimate([[-1e4, 2], [-1e4, 3]], metric=es.Perplexity("word"))


@n_tables
def test_numbers_score_as_in_scipy_and_scikit_learn(n):
    rng = np.random.default_rng(0)
    for _ in range(n):
        x, y = rng.normal(rng.normal(0, 50, 2)[:, None], 1, (2, int(rng.integers(2, 50))))
        x = x + rng.normal() * y
        assert score_of(es.Correlation(), x, y) == pytest.approx(stats.pearsonr(x, y)[0], abs=1e-9)
        assert score_of(es.RMSE(), x, y) == pytest.approx(metrics.root_mean_squared_error(y, x))
        k, size = int(rng.integers(3, 6)), int(rng.integers(2, 40))
        shares, gold = rng.dirichlet(np.ones(k), size), rng.integers(k, size=size)
        expected = metrics.brier_score_loss(gold, shares, labels=range(k))
        assert score_of(es.Brier(range(k)), shares, gold) == pytest.approx(expected)
        happened = gold == 0
        expected = metrics.brier_score_loss(happened, shares[:, 0], pos_label=True)
        assert score_of(es.Brier(), shares[:, 0], happened) == pytest.approx(expected)


@n_tables
def test_ece_is_that_of_scikit_learns_calibration_curve(n):
    rng = np.random.default_rng(2)
    for _ in range(n):
        size, bins = int(rng.integers(2, 200)), int(rng.integers(1, 20))
        # On the edges of bins too.
        confidence = rng.choice([rng.random(size), rng.integers(bins + 1, size=size) / bins])
        right = rng.random(size) < confidence
        right[0] = not right[-1]
        shares, means = calibration.calibration_curve(right, confidence, n_bins=bins)
        place = np.searchsorted(np.linspace(0, 1, bins + 1)[1:-1], confidence)
        counts = np.bincount(place)[np.unique(place)]
        expected = np.sum(counts * np.abs(shares - means)) / size
        pairs = np.stack([confidence, right], axis=1)
        assert score_of(es.ECE(bins), pairs) == pytest.approx(expected, abs=1e-12)


def test_extremes_of_a_correlation():
    for constant in (0.0, 0.1, 1e7 + 0.1):
        totals = es.Correlation().statistics([constant] * 7, range(7)).sum(axis=0)
        assert es.Correlation().score(totals) == 0
        assert not np.any(es.Correlation().gradient(totals))
    # Half of all resamples of three marks, two of them alike, have one value or one pair only.
    found = es.estimate([1, 1, 2], [1, 2, 3], es.Correlation(), n_resamples=200)
    assert np.all(np.abs(found.replicates) <= 1)
    assert 0 in found.replicates
    for x in np.random.default_rng(0).normal(100, 1, (50, 9)):
        assert 1 - 1e-9 < score_of(es.Correlation(), 3 * x + 1, x) <= 1


def test_large_numbers_that_vary_little_need_a_centre():
    x, y = np.random.default_rng(0).normal(size=(2, 100))
    with pytest.raises(es.InputError, match=r"hypotheses have mean 1e\+06.*centre=\("):
        es.estimate(x + 1e6, y + 1e6, es.Correlation())
    centred = es.Correlation(centre=(1e6, 1e6))
    expected = es.estimate(x, y, es.Correlation(), n_resamples=99)
    found = es.estimate(x + 1e6, y + 1e6, centred, n_resamples=99)
    for name in ("score", "low", "high"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name), abs=1e-8)
    assert "centre:1e+06,1e+06" in found.signature


YES_NO = es.Confusion(["no", "yes"])
SETS = es.Confusion(["no", "yes"], multilabel=True)
COUNTS = es.Confusion(["no", "yes"], matrices=True)


@cases(
    (es.Mean("x"), [-1, -1], "has a negative count"),
    (es.Perplexity(), [-1, 1], "is negative, but likelihoods are at most 1"),
    (es.Correlation(), [1, 0, 0, -1, 1, 0], "has a negative square"),
    (es.ECE(1), [1, 1, -1], "is negative, but items are counted"),
    (es.ECE(1), [1, 2, 0], "has a sum in a bin that exceeds its number of items"),
    (es.Confusion([0, 1], "f1"), [2, 1, 1], "has more correct labels than labels"),
    (es.Confusion([0, 1], "accuracy"), [0.5, 1], "is not a whole number"),
    (es.TER(), [0.5, 1], "is not a whole number"),
    ids=repr,
)
def test_statistics_that_cannot_be(metric, row, message):
    refuses(rf"statistics\[0.*{message}", metric.check_statistics, np.array([row]))


@bad_cases(
    (partial(es.BLEU, trg_lang=["zh"]), (), "trg_lang must be a string"),
    (es.BLEU, (False, ""), "tokenize must be one of none, zh, .*; got ''"),
    (es.CHRF, (0,), "char_order and word_order cannot both be 0"),
    (partial(es.Ratio, numerator=(1,)), ("r",), "numerator must contain one coefficient"),
    (as_metric, (es.BLEU,), r"metric must be an object.* use BLEU\(\)"),
    (es.Confusion, (["a"],), r"labels .* at least 2, got \['a'\]"),
    (es.Confusion, (["a", "a"],), "labels must be unique, but 'a' occurs twice"),
    (es.Confusion, (["a", "b"], "f1"), "positive must be one of the labels"),
    (es.Confusion, ([0, 1], "mcc", 1), "positive must be left out .* 'mcc'"),
    (es.Confusion, ([0, 1], "mcc", None, True), "'mcc' requires items with one"),
    (es.Confusion, ([0, 1], "macro-f1", None, True, True), "cannot both be"),
    (es.Correlation, ("spearman",), "Only Pearson's .* is a function of sums"),
    (es.Correlation, ("pearson", 3), "centre must be two numbers, got 3"),
    (es.pass_at_k, (5, [6], 1), r"c\[0\] must be at most n, got 6 right answers of 5"),
    (es.pass_at_k, ([5, 2], [1, 1], 3), "at least k, but problem 1 has 2 answers"),
    (es.Monitor, (None, es.Confusion([0, 1], "mcc")), "references is None, but MCC requires one"),
)
def test_parameters_that_do_not_fit(kind, arguments):
    kind(*arguments)


@bad_cases(
    (YES_NO, (["yes", "maybe"], ["yes", "no"]), r"\[1\] is 'maybe', .* 2 labels"),
    (YES_NO, (["yes", "no"], ["yes", None]), r"references\[1\] is None, which"),
    (YES_NO, (["yes"], None), "references is None; pass gold labels"),
    (SETS, ([["yes"]], [["ja"]]), r"references\[0\]\[0\] is 'ja', which"),
    (SETS, ([["no", "no"]], [["no"]]), r"hypotheses\[0\] contains a label twice:"),
    (COUNTS, ([[1, 2]],), r"must have shape \(N, 2, 2\), one confusion"),
    (COUNTS, ([[[1, 2], [3, 0.5]]],), r"hypotheses\[0, 1, 1\] is 0.5, but counts must"),
    (
        es.Perplexity(),
        ([[-1, 2], [3, 4]],),
        r"\[1\] is 3, .*0; if your numbers have the opposite sign, pass nll=True",
    ),
    (es.BitsPerUnit(nll=True), ([[-1, 2]],), r"\[0\] is -1, .*pass nll=False"),
    (es.Perplexity("word"), ([[-1, 2], [-1, 0]],), r"s\[1\] has 0 words"),
    (es.Brier(), ([1.5], [1]), r"hypotheses\[0\] is 1.5, but a probability"),
    (es.Brier(), ([0.5], [2]), r"references\[0\] is 2, which .* 0, 1"),
    (es.Brier([0, 1]), ([[0.5, 0.4]], [1]), r"hypotheses\[0\] sums to 0.9"),
    (es.ECE(), ([(0.9, 0.5)],), r"hypotheses\[0\] has correct=0.5"),
)
def test_items_that_do_not_fit(metric, items):
    metric.statistics(*items)
