"""What holds for every metric: the contract stated once, run on every member."""

import numpy as np
import pytest

import evalstats as es
from evalstats.metrics import as_metric
from evalstats.metrics.base import Metric
from evalstats.metrics.confusion import MEASURES, RATES
from tests.conftest import TEXT_METRICS, metric_id

HYPOTHESES = ["The cat sat on a mat.", "It's 3.14, (really)!", "", "你好 世界", "ok"]
REFERENCES = [["The cat sat on the mat."], ["It is 3.14 (really)!", "Pi."], ["x"], ["你好，世界"],
              ["ok", ""]]  # fmt: skip

F1 = es.Ratio("F1", columns=("tp", "fp", "fn"), numerator=(2, 0, 0), denominator=(2, 1, 1))
CLASSES = ("a", "b", "c")
RNG = np.random.default_rng(5)
X, P = RNG.random((2, 300))
Y, DISTRIBUTIONS, HIT = (
    X + RNG.random(300),
    RNG.dirichlet(np.ones(3), 300),
    RNG.integers(2, size=300),
)
GOLD, PREDICTED = (np.array(CLASSES)[RNG.integers(3, size=300)].tolist() for _ in range(2))
PAIRS = np.stack([P, HIT + 0.5], axis=1)
#: Metrics whose outputs are no text, and 300 outputs and references for each.
NUMBERS = [
    *((es.Mean("COMET"), X), (es.Mean("MQM", higher_is_better=False), X)),
    *((es.Ratio("rate", scale=100), PAIRS), (F1, RNG.integers(9, size=(300, 3)))),
    *((es.Perplexity("word", nll=True), PAIRS), (es.Perplexity("item"), -X)),
    (es.BitsPerUnit("byte"), -PAIRS * [1, -1]),
    *((es.Confusion(CLASSES, m, "b" if m in RATES else None), PREDICTED, GOLD) for m in MEASURES),
    *(
        (es.Confusion(CLASSES, m, absent="omit"), PREDICTED, GOLD)
        for m in ("macro-f1", "macro-iou")
    ),
    (es.Confusion(CLASSES, multilabel=True), [set(x) for x in PREDICTED], [set(x) for x in GOLD]),
    (es.Confusion(CLASSES, matrices=True), RNG.integers(9, size=(300, 3, 3))),
    *((es.Correlation(), X, Y), (es.Correlation(centre=[1, -2]), X, Y), (es.RMSE(), X, Y)),
    *((es.Brier(), P, HIT), (es.Brier(CLASSES), DISTRIBUTIONS, GOLD)),
    (es.ECE(3), np.stack([P, HIT], axis=1)),
]
RUNS = [(es.MeanOfRuns(es.RMSE(), 2), [X, P], Y), (es.MeanOfRuns(F1, 2), [PAIRS[:, [0, 1, 1]]] * 2)]
METRICS = [*TEXT_METRICS, *(metric for metric, *_ in [*NUMBERS, *RUNS])]


def with_items(rows):
    return pytest.mark.parametrize(
        "metric, items", [pytest.param(m, items, id=metric_id(m)) for m, *items in rows]
    )


class Harmonic(Metric):
    """A custom metric without a gradient of its own."""

    name = "harmonic"
    columns = ("a", "b")

    def statistics(self, hypotheses, references=None):
        return np.asarray(hypotheses, dtype=float)

    def score(self, totals):
        totals = np.asarray(totals, dtype=float)
        return 2 / (1 / totals[..., 0] + 1 / totals[..., 1])


def random_totals(metric, rng, shape=()):
    """Draw totals at which the score is smooth: no zero, no order without n-grams."""
    totals = rng.integers(40, 90, size=(*shape, len(metric.columns))).astype(float)
    if isinstance(metric, es.BLEU):
        order = metric.max_ngram_order
        totals[..., 2 + order :] += 100
        totals[..., 0] = 60 + 0.25 * rng.random(shape)
    if isinstance(metric, es.CHRF):
        totals[..., 2::3] /= 2
    return totals


def test_statistics_do_not_depend_on_order_or_neighbours(text_metric):
    rows = text_metric.statistics(HYPOTHESES, REFERENCES)
    order = [3, 1, 4, 0, 2]
    shuffled = text_metric.statistics(
        [HYPOTHESES[i] for i in order], [REFERENCES[i] for i in order]
    )
    np.testing.assert_array_equal(shuffled, rows[order])
    for i in range(5):
        alone = text_metric.statistics([HYPOTHESES[i]], [REFERENCES[i]])
        np.testing.assert_array_equal(alone, rows[[i]])


def test_identical_text_gets_exactly_the_best_score(text_metric):
    texts = ["one two three four five six seven eight nine ten", "the cat sat on the mat today ok"]
    score = text_metric.score(text_metric.statistics(texts, texts).sum(axis=0))
    assert score == (100.0 if text_metric.higher_is_better else 0.0)


def test_duplicating_the_corpus_changes_nothing(text_metric):
    # Long matches, so that every order has some and no smoothing acts.
    hypotheses = ["one two three four five six seven eight", "the cat sat on the mat"]
    references = ["one two three four five six seven nine", "the cat sat on a mat"]
    totals = text_metric.statistics(hypotheses, references).sum(axis=0)
    if getattr(text_metric, "smooth_method", "") == "add-k":
        pytest.skip("add-k smoothing adds the same amount to any corpus")
    assert text_metric.score(2 * totals) == pytest.approx(float(text_metric.score(totals)))


@pytest.mark.parametrize("metric", METRICS, ids=metric_id)
def test_inputs_are_not_changed(metric):
    totals = np.random.default_rng(0).integers(0, 9, size=(4, len(metric.columns)))
    for dtype in (np.int64, np.float64):
        given = totals.astype(dtype)
        given.setflags(write=False)
        metric.score(given)
        metric.gradient(given)
        np.testing.assert_array_equal(given, totals)


def assert_derivative(metric, totals):
    expected = Metric.gradient(metric, totals)
    np.testing.assert_allclose(metric.gradient(totals), expected, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(metric.gradient(totals[0]), expected[0], rtol=1e-5, atol=1e-7)


def test_gradient_is_the_derivative(text_metric):
    assert_derivative(text_metric, random_totals(text_metric, np.random.default_rng(5), (30,)))


@with_items([*NUMBERS, *RUNS])
def test_gradient_is_the_derivative_on_tables(metric, items):
    assert_derivative(metric, metric.statistics(*items).reshape(5, 60, -1).sum(axis=1))


@with_items(NUMBERS)
def test_files_rebuild_the_metric(metric, items, tmp_path):
    table = es.SegmentStatistics([metric.statistics(*items)], ["A"], metric)
    table.save(tmp_path / "a.npz")
    found = es.SegmentStatistics.load(tmp_path / "a.npz")
    assert found == table
    assert found.metric == metric


def test_bleu_gradient_at_the_kink_is_that_without_penalty():
    """As long as the reference: a longer reference would cost, a shorter one gives nothing."""
    totals = es.BLEU().statistics(["a b c d e f"], ["a b c d e x"])[0]
    gradient = es.BLEU().gradient(totals)
    assert totals[0] == totals[1]
    assert (gradient[0], gradient[1]) == (0, 0)
    assert es.BLEU().gradient(totals + np.eye(10)[1])[1] < 0


def test_numeric_gradient_makes_no_total_negative():
    assert np.all(np.isfinite(Metric.gradient(es.RMSE(), [0.0, 4.0])))


@pytest.mark.parametrize("smooth", ["exp", "floor", "add-k"])
def test_bleu_gradient_where_smoothing_acts(smooth):
    metric = es.BLEU(smooth_method=smooth)
    totals = np.array([20.0, 25, 9, 4, 0, 0, 20, 16, 12, 8])
    gradient = metric.gradient(totals)
    with np.errstate(invalid="ignore"):
        numeric = Metric.gradient(metric, totals)
    # The matches that are zero are a jump, not a slope: there the two differ by design.
    smooth_columns = [0, 1, 2, 3, 6, 7, 8, 9]
    np.testing.assert_allclose(gradient[smooth_columns], numeric[smooth_columns], rtol=1e-6)


@pytest.mark.parametrize("metric", METRICS, ids=metric_id)
def test_nothing_at_all_scores_a_number(metric):
    zeros = np.zeros((2, len(metric.columns)))
    expected = 1 if isinstance(metric, es.Perplexity) else 0
    np.testing.assert_allclose(metric.score(zeros), expected, atol=1e-12)
    assert not np.any(metric.gradient(zeros))


def test_custom_metric_through_everything():
    rng = np.random.default_rng(2)
    systems = {name: rng.random((50, 2)) + 1 for name in "AB"}

    class NoReferences(Harmonic):
        uses_references = False

    for method in ("bootstrap", "bca", "t"):
        result = es.compare(systems, None, NoReferences(), method=method, n_resamples=200)
        (difference,) = result
        assert difference.low < difference.difference < difference.high
        assert "custom:NoReferences" in result.signatures[0]


def test_custom_metric_that_misses_segments_is_refused():
    class Short(Harmonic):
        uses_references = False

        def statistics(self, hypotheses, references=None):
            return super().statistics(hypotheses)[1:]

    with pytest.raises(es.InputError, match=r"must return shape \(N, k\) = \(3, 2\), got \(2, 2\)"):
        es.estimate(np.ones((3, 2)), None, Short())


def test_custom_metric_whose_score_is_not_finite_is_refused():
    class Bad(Harmonic):
        uses_references = False

        def score(self, totals):
            return np.full(np.shape(totals)[:-1], np.nan)

    with pytest.raises(es.InputError, match="harmonic of the corpus of system 'A' is not finite"):
        es.compare({"A": np.ones((3, 2)), "B": np.ones((3, 2))}, None, Bad())


def test_mean_and_ratio_values():
    assert es.Mean("x").score([6.0, 4.0]) == 1.5
    assert F1.score([3, 1, 2]) == pytest.approx(2 * 3 / (2 * 3 + 1 + 2))
    assert es.Ratio("r", scale=100, zero_division=7).score([[1, 4], [1, 0]]).tolist() == [25, 7]
    assert F1.signature == "ratio:1*(2*tp)/(2*tp+1*fp+1*fn)"


def test_metrics_by_name():
    assert as_metric("bleu") == as_metric("BLEU") == es.BLEU()
    assert as_metric("chrf++") == es.CHRF(word_order=2)
    assert as_metric("ter") == es.TER()


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: es.BLEU(smooth_method="exponential"), "smooth_method must be one of none, floor"),
        (lambda: es.BLEU(smooth_value=-1), "smooth_value must be a finite number of at least 0"),
        (lambda: es.BLEU(smooth_value=float("nan")), "smooth_value must be a finite number"),
        (lambda: es.BLEU(max_ngram_order=0), "max_ngram_order must be at least 1, got 0"),
        (lambda: es.BLEU(max_ngram_order=2.0), "max_ngram_order must be an integer, got float 2.0"),
        (lambda: es.BLEU(max_ngram_order=10**6), "max_ngram_order must be at most 1000"),
        (lambda: es.BLEU(trg_lang=["zh"]), r"trg_lang must be a string, got \['zh'\]"),
        (lambda: es.BLEU(tokenize=""), "tokenize must be one of none, zh, .*; got ''"),
        (lambda: es.BLEU(lowercase="yes"), "lowercase must be True or False, got str 'yes'"),
        (lambda: es.BLEU(tokenize="moses"), "tokenize must be one of none, zh, .*; got 'moses'"),
        (lambda: es.CHRF(char_order=0), "char_order and word_order are both 0"),
        (lambda: es.CHRF(char_order=-1), "char_order must be at least 0"),
        (lambda: es.CHRF(beta=-1), "beta must be a finite number of at least 0"),
        (lambda: es.TER(normalized=1), "normalized must be True or False"),
        (lambda: es.Mean(""), "name must be non-empty text"),
        (lambda: es.Ratio("r", numerator=(1,)), "numerator needs one coefficient for each"),
        (lambda: es.Ratio("r", columns="ab"), "columns must be a list of names, got 'ab'"),
        (lambda: as_metric("blue"), "metric must be one of bleu, .*; got 'blue'"),
        (lambda: as_metric(es.BLEU), r"metric must be an object, got the class: write BLEU\(\)"),
        (lambda: as_metric(3), "metric must be a name or a Metric object, got int"),
        (lambda: es.Mean("x").statistics([1, float("nan")]), r"scores\[1\] is nan; scores must be"),
        (lambda: es.Mean("x").statistics([1, float("inf")]), r"scores\[1\] is inf; scores must be"),
        (lambda: es.Mean("x").statistics(["a"]), "scores must be numbers, one row a segment, got"),
        (lambda: es.Mean("x").statistics([[1, 2]]), r"scores must have shape \(N,\), got \(1, 2\)"),
        (lambda: es.Mean("x").statistics([]), "scores is empty"),
        (lambda: es.Ratio("x").statistics([1, 2]), r"numbers must have shape \(N, 2\), got \(2,\)"),
        (lambda: es.Ratio("x").statistics([[1, 2], [1]]), "numbers must be numbers of one shape"),
    ],
)  # fmt: skip
def test_bad_parameters(make, message):
    with pytest.raises(es.InputError, match=message):
        make()


@pytest.mark.parametrize("name, extra", [("ja-mecab", r"sacrebleu\[ja\]"), ("ko-mecab", r"\[ko\]")])
def test_tokenizer_whose_extra_is_missing(name, extra):
    module = {"ja-mecab": "MeCab", "ko-mecab": "mecab_ko"}[name]
    try:
        __import__(module)
    except ImportError:
        with pytest.raises(es.MissingExtraError, match=f"tokenize='{name}' needs .*{extra}"):
            es.BLEU(tokenize=name)
    else:
        assert es.BLEU(tokenize=name).tokenizer == name
