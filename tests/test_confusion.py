"""Scores of classification: scikit-learn's numbers, and what is refused."""

import sys
import warnings

import numpy as np
import pytest

import evalstats as es
from evalstats.metrics.confusion import MEASURES, RATES

LABELS = ("owl", "cat", "dog", "eel")


def sklearn():
    return pytest.importorskip("sklearn.metrics", reason="scikit-learn is a test extra")


def truths(gold, predicted, labels, single=True):
    """Return scikit-learn's scores, undefined ones 0; of single rates, those of the second class."""
    metrics = sklearn()
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


def random_table(rng, labels):
    """Draw gold and predicted labels: some classes rare or absent, few items or many."""
    n = int(rng.integers(1, 60))
    shares = rng.dirichlet(np.full(len(labels), 0.5))
    gold = rng.choice(len(labels), size=n, p=shares)
    wrong = rng.random(n) < rng.random()
    predicted = np.where(wrong, rng.integers(len(labels), size=n), gold)
    if rng.random() < 0.05:
        predicted[:] = gold[:] = gold[0]
    return [labels[i] for i in gold], [labels[i] for i in predicted]


def score(metric, *items):
    return float(metric.score(metric.statistics(*items).sum(axis=0)))


def metric_of(measure, n_labels=4, **options):
    positive = LABELS[1] if measure in RATES else None
    return es.Confusion(LABELS[:n_labels], measure, positive, **options)


N_TABLES = [
    20,
    pytest.param(300, marks=pytest.mark.thorough),
    pytest.param(1000, marks=pytest.mark.slow),
]


@pytest.mark.parametrize("n_tables", N_TABLES)
def test_single_labels_score_as_in_scikit_learn(n_tables):
    rng = np.random.default_rng(0)
    for table in range(n_tables):
        labels = LABELS[: 2 + table % 3]
        gold, predicted = random_table(rng, labels)
        expected = truths(gold, predicted, labels)
        assert expected.keys() == set(MEASURES)
        for measure, value in expected.items():
            found = score(metric_of(measure, len(labels)), predicted, gold)
            assert found == pytest.approx(value, abs=1e-12), (measure, gold, predicted)


@pytest.mark.parametrize("n_tables", [20, pytest.param(300, marks=pytest.mark.thorough)])
def test_label_sets_score_as_in_scikit_learn(n_tables):
    rng = np.random.default_rng(7)
    for _ in range(n_tables):
        gold, predicted = rng.random((2, int(rng.integers(1, 10)), 4)) < rng.random()
        sets = [[{LABELS[k] for k in np.flatnonzero(row)} for row in x] for x in (predicted, gold)]
        for measure, value in truths(gold.astype(int), predicted.astype(int), None, False).items():
            found = score(metric_of(measure, multilabel=True), *sets)
            assert found == pytest.approx(value, abs=1e-12), measure


def test_binary_scores_of_0_and_1_need_no_positive_class():
    metrics = sklearn()
    gold, predicted = [0, 1, 1, 0, 1, 1], [0, 1, 0, 1, 1, 1]
    assert score(es.Confusion([0, 1], "f1"), predicted, gold) == metrics.f1_score(gold, predicted)
    assert es.Confusion([0, 1], "f1").signature == "confusion:f1|classes:2|positive:1"
    assert score(es.Confusion([0, 1], "mcc"), predicted, gold) == pytest.approx(
        metrics.matthews_corrcoef(gold, predicted)
    )


def test_classes_that_are_nowhere_can_be_left_out_as_scikit_learn_does_without_labels():
    metrics = sklearn()
    gold, predicted = ["owl", "cat", "cat"], ["owl", "cat", "dog"]
    omitted = es.Confusion(LABELS, "macro-f1", absent="omit")
    assert score(omitted, predicted, gold) == pytest.approx(
        metrics.f1_score(gold, predicted, average="macro")
    )
    assert score(es.Confusion(LABELS, "macro-f1"), predicted, gold) == pytest.approx(
        metrics.f1_score(gold, predicted, average="macro", labels=LABELS, zero_division=0)
    )


def test_pixels_counted_an_image_score_as_all_pixels():
    metrics = sklearn()
    rng = np.random.default_rng(3)
    gold, predicted = rng.integers(3, size=(2, 5, 40))
    images = np.stack(
        [
            metrics.confusion_matrix(g, p, labels=range(3))
            for g, p in zip(gold, predicted, strict=True)
        ]
    )
    for measure in ("miou", "micro-f1", "accuracy", "kappa", "weighted-iou"):
        whole = score(es.Confusion(range(3), measure), predicted.ravel(), gold.ravel())
        metric = es.Confusion(range(3), measure, matrices=True)
        assert score(metric, images) == pytest.approx(whole)
    found = es.compare({"A": images, "B": images[:, ::-1]}, None, metric, n_resamples=99)
    assert found.estimates[0].n_segments == 5


def test_published_example():
    """The README of jacobgil/confidenceinterval; errors by the delta method, and of resamples."""
    gold = [0, 1, 2, 2, 2, 1, 1, 1, 0, 2, 2, 1, 0, 2, 2, 1, 2, 2, 1, 1]
    predicted = [0, 1, 0, 0, 2, 1, 1, 1, 0, 2, 2, 1, 0, 1, 2, 1, 2, 2, 1, 1]
    published = {
        "macro-precision": (0.8296, 0.0809, 0.0893),
        "macro-recall": (0.8889, 0.0524, 0.0847),
        "macro-f1": (0.8304, 0.0891, 0.1028),
    }
    for measure, (value, delta, resampled) in published.items():
        metric = es.Confusion([0, 1, 2], measure)
        found = es.estimate(predicted, gold, metric, method="t")
        assert round(found.score, 4) == value
        # Ours divides by N - 1.
        assert round(found.standard_error * np.sqrt(19 / 20), 4) == delta
        found = es.estimate(predicted, gold, metric)
        assert np.std(found.replicates) == pytest.approx(resampled, rel=0.03)
    mcc = es.Confusion([0, 1, 2], "mcc")
    assert round(es.estimate(predicted, gold, mcc).score, 4) == 0.7899


@pytest.mark.parametrize("measure", MEASURES)
def test_one_class_only_scores_a_number(measure):
    metric = metric_of(measure)
    totals = metric.statistics(["cat"] * 3, ["cat"] * 3).sum(axis=0)
    assert np.isfinite(metric.score(totals))
    assert np.all(np.isfinite(metric.gradient(totals)))


def test_labels_may_be_numbers_names_arrays_and_columns():
    pandas = pytest.importorskip("pandas")
    gold, predicted = np.array([1, 2, 2, 3, 1, 3]), np.array([1, 2, 3, 3, 1, 1])
    numbers = es.estimate(predicted, gold, es.Confusion([1, 2, 3]))
    names = [["", "one", "two", "three"][i] for i in gold], ["", "one", "two", "three"]
    as_text = es.estimate(
        [names[1][i] for i in predicted], names[0], es.Confusion(names[1][1:], "macro-f1")
    )
    series = es.estimate(pandas.Series(predicted), pandas.Series(gold), es.Confusion((1, 2, 3)))
    assert numbers.score == as_text.score == series.score
    assert (numbers.low, numbers.high) == (as_text.low, as_text.high)


def test_two_systems_are_compared_under_several_measures():
    rng = np.random.default_rng(0)
    gold = rng.integers(3, size=200)
    systems = {
        name: np.where(rng.random(200) < share, gold, rng.integers(3, size=200))
        for name, share in {"A": 0.4, "B": 0.8}.items()
    }
    measures = [es.Confusion(range(3), measure) for measure in ("macro-f1", "mcc", "accuracy")]
    result = es.compare(systems, gold, measures, n_resamples=999)
    assert [d.metric for d in result] == ["macro-F1", "MCC", "accuracy"]
    assert all(d.pvalue < 0.01 and 0 < d.low < d.difference < d.high for d in result)
    # Accuracy is a share of items, and has the methods of such shares.
    expected = list(result)[2]
    assert expected.method == "tango"
    marks = {name: (found == gold).astype(float) for name, found in systems.items()}
    (same,) = es.compare(marks, metrics=es.Mean("accuracy"), n_resamples=999)
    assert (same.low, same.high, same.pvalue) == (expected.low, expected.high, expected.pvalue)


def test_text_metrics_and_classes_share_a_call():
    gold = ["yes", "no", "no", "yes"] * 5
    predicted = ["yes", "no", "yes", "yes"] * 5
    metrics = ["chrf", es.Confusion(["no", "yes"], "f1", "yes")]
    found = es.estimate({"A": predicted}, gold, metrics, n_resamples=99)
    assert [e.metric for e in found] == ["chrF2", "F1"]
    assert found[1].score == pytest.approx(0.8)


def test_runs_of_label_lists_are_runs():
    gold = [0, 1, 0, 1, 1, 0]
    runs = {"A": [gold, [1, 1, 0, 1, 1, 0]], "B": [gold, [0, 0, 0, 1, 1, 0]]}
    result = es.compare(runs, gold, es.Confusion([0, 1], "f1"))
    assert result.estimates[0].run_error is not None
    sets = {name: [[{v} for v in run] for run in found] for name, found in runs.items()}
    multilabel = es.Confusion([0, 1], "macro-f1", multilabel=True)
    assert es.compare(sets, [{v} for v in gold], multilabel).estimates[0].run_error is not None
    flat = {name: found[1] for name, found in sets.items()}
    assert es.compare(flat, [{v} for v in gold], multilabel).estimates[0].run_error is None


def test_batches_add_up():
    gold, predicted = ["a", "b", "a", "b"], ["a", "b", "b", "b"]
    metric = es.Confusion(["a", "b"], "mcc")
    collected = es.Accumulator(metric)
    collected.update(predicted[:3], gold[:3])
    collected.update(predicted[3:], gold[3:])
    assert collected.compute() == score(metric, predicted, gold)
    with pytest.raises(es.InputError, match="got MCC, whose references are no text; give its scor"):
        es.Monitor(gold, metric)


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: es.Confusion("ab"), "labels must be a list of labels, got a bare str"),
        (lambda: es.Confusion(["a"]), r"labels must be all classes, at least 2, got \['a'\]"),
        (lambda: es.Confusion(["a", "a"]), "labels must differ, got 'a' twice"),
        (lambda: es.Confusion([0.5, 1]), r"labels\[0\] must be a string or an integer, got 0.5"),
        (lambda: es.Confusion(["a\n", "b"]), r"labels\[0\] must be printable text on one line"),
        (lambda: es.Confusion("ab", 3), "labels must be a list"),
        (lambda: es.Confusion(["a", "b"], "macro"), "measure must be one of accuracy, .*'macro'"),
        (lambda: es.Confusion(["a", "b"], "f1"), "positive must be one of the labels for .*'f1'"),
        (lambda: es.Confusion(["a", "b"], "f1", "c"), "labels for measure 'f1', got 'c'"),
        (lambda: es.Confusion([0, 1], "mcc", 1), "positive must be left out for measure 'mcc'"),
        (lambda: es.Confusion([0, 1], "mcc", multilabel=True), "'mcc' is of items with one label"),
        (lambda: es.Confusion([0, 1], absent="nan"), "absent must be one of zero, omit"),
        (lambda: es.Confusion([0, 1], multilabel=1), "multilabel must be True or False"),
        (lambda: es.Confusion([0, 1], multilabel=True, matrices=True), "cannot both be True"),
    ],
)  # fmt: skip
def test_bad_parameters(make, message):
    with pytest.raises(es.InputError, match=message):
        make()


YES_NO = es.Confusion(["no", "yes"])
SETS = es.Confusion(["no", "yes"], multilabel=True)
COUNTS = es.Confusion(["no", "yes"], matrices=True)


@pytest.mark.parametrize(
    "metric, items, message",
    [
        (YES_NO, (["yes", "maybe"], ["yes", "no"]),
         r"hypotheses\[1\] is 'maybe', which is none of the 2 labels 'no', 'yes'; add it to"),
        (YES_NO, (["yes", "no"], ["yes", None]), r"references\[1\] is None, which is none of"),
        (YES_NO, (["yes", 1], ["yes", "no"]), r"hypotheses\[1\] is 1, which is none of"),
        (YES_NO, (["yes", ["no"]], ["yes", "no"]), r"hypotheses\[1\] is \['no'\], which is none"),
        (YES_NO, (["yes"], ["yes", "no"]), "must be the same length, got 1, 2"),
        (YES_NO, (["yes"], None), "references is None; give gold labels, one for each of the"),
        (YES_NO, ("yes", ["yes"]), "hypotheses must be a list of predictions, got a bare str"),
        (YES_NO, ([], []), "hypotheses is empty; give at least one segment"),
        (SETS, (["yes"], [["yes"]]), r"hypotheses\[0\] must be a list of labels, got a bare str"),
        (SETS, ([["yes"]], [["ja"]]), r"references\[0\]\[0\] is 'ja', which is none of the 2"),
        (SETS, ([["no", "no"]], [["no"]]), r"hypotheses\[0\] has a label twice"),
        (COUNTS, ([[1, 2]],), r"hypotheses must have shape \(N, 2, 2\), one confusion matrix"),
        (COUNTS, ([[[1, 2], [3]]],), r"hypotheses must have shape \(N, 2, 2\)"),
        (COUNTS, ([[[1, 2], [3, -1]]],), r"hypotheses\[0, 1, 1\] is -1; counts are 0, 1, 2"),
        (COUNTS, ([[[1, 2], [3, 0.5]]],), r"hypotheses\[0, 1, 1\] is 0.5; counts are 0, 1, 2"),
        (COUNTS, (np.zeros((0, 2, 2)),), "hypotheses is empty"),
    ],
)  # fmt: skip
def test_bad_items(metric, items, message):
    with pytest.raises(es.InputError, match=message):
        metric.statistics(*items)


def test_a_system_with_an_unknown_label_is_named():
    with pytest.raises(es.InputError, match=r"system 'B': hypotheses\[0\] is 'x', which is none"):
        es.compare({"A": ["no", "no"], "B": ["x", "no"]}, ["no", "no"], YES_NO)
