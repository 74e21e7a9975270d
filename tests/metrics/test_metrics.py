"""What holds for every metric, stated once; text metrics are sacreBLEU's to the last count."""

from importlib.util import find_spec
from itertools import product

import numpy as np
import pytest

import evalstats as es
from evalstats.designs.raters import RATERS_MEASURES
from evalstats.metrics.base import Metric
from evalstats.metrics.confusion import MEASURES, RATES
from evalstats.metrics.ratios import MeanOfRuns
from evalstats.statistics.segments import unit_scores
from tests import naive
from tests.conftest import SACREBLEU_METRICS, TEXT_METRICS, metric_id

N = 300
RNG = np.random.default_rng(5)
CLASSES = ("a", "b", "c")
F1 = es.Ratio("F1", columns=("tp", "fp", "fn"), numerator=(2, 0, 0), denominator=(2, 1, 1))
X, P = RNG.random((2, N))
Y, HIT = X + RNG.random(N), RNG.integers(2, size=N)
DISTRIBUTIONS = RNG.dirichlet(np.ones(3), N)
GOLD, PREDICTED = (np.array(CLASSES)[RNG.integers(3, size=N)].tolist() for _ in range(2))
LABELLED = [None if i % 2 else int(v) for i, v in enumerate((X + HIT > 0.8).tolist())]
PAIRS = np.stack([P, HIT + 0.5], axis=1)
#: Metrics whose outputs are no text, with outputs and references for each.
NUMBERS = [
    (es.Mean("COMET"), X),
    (es.Mean("MQM", higher_is_better=False), X),
    (es.Ratio("rate", scale=100), PAIRS),
    (F1, RNG.integers(9, size=(N, 3))),
    (es.Perplexity("word", nll=True), PAIRS),
    (es.Perplexity("item"), -X),
    (es.BitsPerUnit("byte"), -PAIRS * [1, -1]),
    *((es.Confusion(CLASSES, m, "b" if m in RATES else None), PREDICTED, GOLD) for m in MEASURES),
    (es.Confusion(CLASSES, "macro-f1", absent="omit"), PREDICTED, GOLD),
    (es.Confusion(CLASSES, "macro-iou", absent="omit"), PREDICTED, GOLD),
    (es.Confusion(CLASSES, multilabel=True), [set(x) for x in PREDICTED], [set(x) for x in GOLD]),
    (es.Confusion(CLASSES, matrices=True), RNG.integers(9, size=(N, 3, 3))),
    (es.Correlation(), X, Y),
    (es.Correlation(centre=[1, -2]), X, Y),
    (es.RMSE(), X, Y),
    (es.Brier(), P, HIT),
    (es.Brier(CLASSES), DISTRIBUTIONS, GOLD),
    (es.ECE(3), np.stack([P, HIT], axis=1)),
    *(
        (es.Agreement(None if m == "interval-alpha" else CLASSES, m), first, second)
        for m in RATERS_MEASURES
        for first, second in [(X, Y) if m == "interval-alpha" else (PREDICTED, GOLD)]
    ),
    (es.Agreement(CLASSES, "ordinal-alpha", True), np.stack([PREDICTED, GOLD], axis=1)),
]
RUNS = [(MeanOfRuns(es.RMSE(), 2), [X, P], Y), (MeanOfRuns(F1, 2), [PAIRS[:, [0, 1, 1]]] * 2)]
TABLES = {metric_id(metric): (metric, items) for metric, *items in [*NUMBERS, *RUNS]}
METRICS = [*TEXT_METRICS, *(metric for metric, _ in TABLES.values())]

every_metric = pytest.mark.parametrize("metric", METRICS, ids=metric_id)
sacrebleus = pytest.mark.parametrize("metric", SACREBLEU_METRICS, ids=metric_id)


# Every metric.


@every_metric
def test_scores_leave_totals_alone_and_rows_to_themselves(metric):
    totals = np.random.default_rng(3).integers(0, 40, size=(2, 3, len(metric.columns)))
    for dtype in (np.int64, np.float64):
        given = totals.astype(dtype)
        given.setflags(write=False)
        scores, gradients = metric.score(given), metric.gradient(given)
        np.testing.assert_array_equal(given, totals)
        assert scores.shape == (2, 3)
        assert gradients.shape == totals.shape
        for index in np.ndindex(2, 3):
            np.testing.assert_array_equal(scores[index], metric.score(given[index]))
    # Nothing at all scores a number.
    zeros = np.zeros((2, len(metric.columns)))
    expected = 1 if isinstance(metric, es.Perplexity) else 0
    np.testing.assert_allclose(metric.score(zeros), expected, atol=1e-12)
    assert not np.any(metric.gradient(zeros))


@every_metric
def test_a_unit_alone_has_a_score_or_an_error_says_that_it_has_none(metric):
    rows = np.random.default_rng(5).integers(1, 40, size=(2, 6, len(metric.columns)))
    between = (es.Correlation, es.ECE, es.Agreement)
    single = metric.metric if isinstance(metric, MeanOfRuns) else metric
    is_counted = isinstance(single, es.Confusion) and single.measure != "accuracy"
    of_whole_items = is_counted and (single.multilabel or single.matrices)
    if isinstance(single, between) or (is_counted and not of_whole_items):
        with pytest.raises(es.InputError, match="only defined for several units together"):
            unit_scores(metric, rows)
        return
    scores = unit_scores(metric, rows)
    for index in np.ndindex(2, 6):
        assert scores[index] == metric.score(rows[index])


@every_metric
def test_gradient_is_the_derivative(metric, sample):
    texts = sample.systems["baseline"][:N], sample.references[:N]
    _, items = TABLES.get(metric_id(metric), (metric, texts))
    totals = metric.statistics(*items).reshape(5, N // 5, -1).sum(axis=1)
    expected = Metric.gradient(metric, totals)
    np.testing.assert_allclose(metric.gradient(totals), expected, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(metric.gradient(totals[0]), expected[0], rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("smooth", ["exp", "floor", "add-k"])
def test_bleu_gradient_in_corners(smooth):
    metric = es.BLEU(smooth_method=smooth)
    totals = np.array([20.0, 25, 9, 4, 0, 0, 20, 16, 12, 8])
    with np.errstate(invalid="ignore"):
        numeric = Metric.gradient(metric, totals)
    # The matches that are zero are a jump, not a slope: there the two differ by design.
    columns = [0, 1, 2, 3, 6, 7, 8, 9]
    np.testing.assert_allclose(metric.gradient(totals)[columns], numeric[columns], rtol=1e-6)
    # As long as the reference: a longer one would cost, a shorter one gives nothing.
    totals[1] = 20
    assert metric.gradient(totals)[:2].tolist() == [0, 0]
    assert metric.gradient(totals + np.eye(10)[1])[1] < 0


@pytest.mark.parametrize("metric", [metric for metric, *_ in NUMBERS], ids=metric_id)
def test_files_rebuild_the_metric_and_rows_of_numbers_are_no_runs(metric, tmp_path):
    _, items = TABLES[metric_id(metric)]
    table = es.SegmentStatistics([metric.statistics(*items)], ["A"], metric)
    table.save(tmp_path / "a.npz")
    found = es.SegmentStatistics.load(tmp_path / "a.npz")
    assert found == table
    assert found.metric == metric
    outputs, *references = items
    for given, is_run in ((outputs, False), ([outputs, outputs], True)):
        found = es.estimate(given, *references, metric=metric, method="t")
        assert found.n_segments == N
        assert (found.run_error is not None) == is_run


# Metrics of text.


def test_identical_text_gets_exactly_the_best_score(text_metric):
    texts = ["one two three four five six seven eight nine ten", "the cat sat on the mat today ok"]
    score = text_metric.score(text_metric.statistics(texts, texts).sum(axis=0))
    assert score == text_metric.bounds[text_metric.higher_is_better]


@sacrebleus
def test_signature_is_sacrebleus(metric):
    twin = naive.sacrebleu_twin(metric)
    twin.num_refs = 1
    theirs = dict(part.split(":") for part in str(twin.get_signature()).split("|"))
    ours = dict(part.split(":") for part in metric.signature.split("|"))
    assert ours.pop("sacrebleu") == theirs.pop("version")
    assert theirs.pop("nrefs") == "1"
    # The order is ours: sacreBLEU's signature does not tell it.
    ours.pop("order", None)
    assert ours == theirs


def possible_totals(metric, rng):
    """Draw totals as statistics can be: matches at most n-grams, n-grams falling by order."""
    if isinstance(metric, es.TER):
        return [rng.integers(1, 10), rng.integers(90) / 10]
    if isinstance(metric, es.CHRF):
        hyp, ref = rng.integers(10, size=(2, metric.char_order + metric.word_order))
        match = rng.integers(np.minimum(hyp, ref) + 1)
        return np.stack([hyp, ref, match], axis=1).ravel()
    total = np.sort(rng.integers(10, size=metric.max_ngram_order))[::-1]
    return [*rng.integers(13, size=2), *rng.integers(total + 1), *total]


SMOOTHING = [("exp", None), ("none", None), ("floor", None), ("floor", 0.0), ("floor", 0.5)]
SMOOTHING += [("add-k", None), ("add-k", 0.0), ("add-k", 0.3)]
BLEUS = product(SMOOTHING, [1, 2, 4, 9], [False, True])
CHRFS = product([(6, 0), (6, 2), (1, 0), (0, 1)], [0, 0.5, 1, 2, 3], [False, True])


def test_scores_for_every_setting_are_sacrebleus():
    rng = np.random.default_rng(8)
    metrics = [
        *(es.BLEU(False, None, *smooth, order, whole) for smooth, order, whole in BLEUS),
        *(es.CHRF(*orders, beta, eps_smoothing=eps) for orders, beta, eps in CHRFS),
        es.TER(),
    ]
    for metric in metrics * 4:
        totals = np.array(possible_totals(metric, rng), dtype=float)
        expected = naive.sacrebleu_score(metric, totals.tolist())
        assert metric.score(totals) == pytest.approx(expected, abs=1e-9), (metric, totals)


@pytest.mark.parametrize("step", [33, pytest.param(1, marks=pytest.mark.thorough)])
def test_wmt_published_scores(published_scores, en_de, en_zh, step):
    """Published scores of both pairs, BLEU and chrF, references A, B and both."""
    sets = {"en-de": en_de, "en-zh": en_zh}
    references = {(pair, r): sets[pair].prepared(r) for pair in sets for r in ("A", "B", "all")}
    assert len(published_scores) == 132
    for row in published_scores[::step]:
        kind, label = row["metric"].split("-")
        metric = es.CHRF() if kind == "chrf" else es.BLEU(trg_lang=row["pair"][-2:])
        hypotheses = sets[row["pair"]].systems[row["system"]]
        rows = metric.statistics(hypotheses, references[row["pair"], label])
        found = float(metric.score(rows.sum(axis=0)))
        assert found == pytest.approx(float(row["score"]), abs=1e-9)


@pytest.mark.parametrize("language, module", [("ja", "MeCab"), ("ko", "mecab_ko")])
def test_tokenizer_whose_extra_is_missing(language, module):
    if find_spec(module):
        assert es.BLEU(trg_lang=language).tokenizer == f"{language}-mecab"
    else:
        with pytest.raises(es.MissingExtraError, match=rf"requires .*sacrebleu\[{language}\]"):
            es.BLEU(trg_lang=language)


# Metrics of one's own, and names.


class Harmonic(Metric):
    """A custom metric without a gradient of its own."""

    name = "harmonic"
    columns = ("a", "b")
    uses_references = False

    def statistics(self, hypotheses, references=None):
        return np.asarray(hypotheses, dtype=float)[hypotheses[0][0] < 0 :]

    def score(self, totals):
        with np.errstate(divide="ignore"):
            return 2 / (1 / totals[..., 0] + 1 / totals[..., 1])


def test_a_custom_metric_that_misses_segments_or_scores_no_number_is_refused():
    found = es.estimate([[1, 2], [3, 2]], None, Harmonic(), method="t")
    assert "custom:Harmonic" in found.signature
    with pytest.raises(es.InputError, match=r"shape \(N, k\) = \(3, 2\), got \(2, 2\)"):
        es.estimate([[-1, 2], [3, 2], [3, 2]], None, Harmonic())
    with pytest.raises(es.InputError, match="harmonic of the corpus of system 'A' is not finite"):
        es.compare({"A": [[1, -1]] * 3, "B": [[1, 1]] * 3}, None, Harmonic())


@pytest.mark.parametrize(
    ("name", "higher"),
    [
        *dict.fromkeys(
            ("loss", "WER", "word perplexity", "latency_ms", "error rate"), False
        ).items(),
        *dict.fromkeys(
            ("COMET", "judge", "win rate", "no error", "loss of accuracy"), True
        ).items(),
    ],
)
def test_the_direction_of_scores_follows_from_their_name_unless_it_is_given(name, higher):
    for kind in (es.Mean, es.Ratio):
        assert kind(name).higher_is_better is higher
        assert kind(name) == kind(name, higher_is_better=higher)
        assert kind(name, higher_is_better=not higher).higher_is_better is not higher


@pytest.mark.parametrize("name", ["loss", "WER", "latency_ms", "COMET", "win rate"])
def test_a_mean_and_a_column_of_one_name_have_one_direction(name):
    rows = [{"model": m, "item": i, name: i % 5 + (m == "new")} for m in "ab" for i in range(20)]
    (d,) = es.compare_logs(rows, metric=name, baseline="a")
    assert d.higher_is_better is es.Mean(name).higher_is_better


def test_mean_and_ratio_by_hand():
    assert es.Mean("x").score([6.0, 4.0]) == 1.5
    assert F1.score([3, 1, 2]) == pytest.approx(2 * 3 / (2 * 3 + 1 + 2))
    assert es.Ratio("r", scale=100, zero_division=7).score([[1, 4], [1, 0]]).tolist() == [25, 7]
    assert F1.signature == "ratio:1*(2*tp)/(2*tp+1*fp+1*fn)"
