"""Perplexity, correlation, RMSE, Brier score, ECE, pass@k: the oracles' numbers, what is refused."""

import math
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

import evalstats as es

N_TABLES = [30, pytest.param(1000, marks=pytest.mark.thorough)]


def sklearn(module="metrics"):
    name = f"sklearn.{module}"
    return pytest.importorskip(name, reason="scikit-learn is a test extra")


def score(metric, *items):
    return float(metric.score(metric.statistics(*items).sum(axis=0)))


def test_perplexity_of_a_coin():
    # Ten fair coins a word: 2^10 equally likely words.
    rows = [(-n * 10 * math.log(2), n) for n in (3, 5, 12)]
    assert score(es.Perplexity("word"), rows) == pytest.approx(1024)
    assert score(es.BitsPerUnit("word"), rows) == pytest.approx(10)
    losses = [(-ll, n) for ll, n in rows]
    assert score(es.Perplexity("word", nll=True), losses) == pytest.approx(1024)


def test_perplexity_of_items_is_the_harness_perplexity():
    found = [-0.3, -2.5, -0.01]
    assert score(es.Perplexity("item"), found) == pytest.approx(math.exp(-np.mean(found)))
    assert es.Perplexity("item").name == "perplexity"


def test_a_perplexity_beyond_all_numbers_is_refused_by_name():
    with pytest.raises(es.InputError, match=r"word perplexity of the corpus .* is not finite"):
        es.estimate([[-1e4, 2], [-1e4, 3]], metric=es.Perplexity("word"))


@pytest.mark.parametrize("n_tables", N_TABLES)
def test_correlation_and_rmse_are_those_of_scipy_and_scikit_learn(n_tables):
    metrics, rng = sklearn(), np.random.default_rng(0)
    for _ in range(n_tables):
        x, y = rng.normal(rng.normal(0, 50, 2)[:, None], 1, (2, int(rng.integers(2, 50))))
        x = x + rng.normal() * y
        assert score(es.Correlation(), x, y) == pytest.approx(stats.pearsonr(x, y)[0], abs=1e-9)
        expected = metrics.root_mean_squared_error(y, x)
        assert score(es.RMSE(), x, y) == pytest.approx(expected)


@pytest.mark.parametrize("n_tables", N_TABLES)
def test_brier_scores_are_those_of_scikit_learn(n_tables):
    metrics, rng = sklearn(), np.random.default_rng(1)
    for _ in range(n_tables):
        k, n = int(rng.integers(3, 6)), int(rng.integers(2, 40))
        probabilities = rng.dirichlet(np.ones(k), n)
        gold = rng.integers(k, size=n)
        expected = metrics.brier_score_loss(gold, probabilities, labels=range(k))
        assert score(es.Brier(range(k)), probabilities, gold) == pytest.approx(expected)
        happened = gold == 0
        expected = metrics.brier_score_loss(happened, probabilities[:, 0], pos_label=True)
        assert score(es.Brier(), probabilities[:, 0], happened) == pytest.approx(expected)


@pytest.mark.parametrize("n_tables", N_TABLES)
def test_ece_is_that_of_scikit_learns_calibration_curve(n_tables):
    curve, rng = sklearn("calibration").calibration_curve, np.random.default_rng(2)
    for _ in range(n_tables):
        n, bins = int(rng.integers(1, 200)), int(rng.integers(1, 20))
        # On the edges of bins too.
        confidence = rng.choice([rng.random(n), rng.integers(bins + 1, size=n) / bins])
        right = rng.random(n) < confidence
        right[0] = not right[-1] if n > 1 else right[0]
        if len(set(right)) < 2:
            continue
        shares, means = curve(right, confidence, n_bins=bins)
        edges = np.linspace(0, 1, bins + 1)
        place = np.searchsorted(edges[1:-1], confidence)
        counts = np.bincount(place)[np.unique(place)]
        expected = np.sum(counts * np.abs(shares - means)) / n
        pairs = np.stack([confidence, right], axis=1)
        assert score(es.ECE(bins), pairs) == pytest.approx(expected, abs=1e-12)


def test_ece_by_hand():
    # Two bins: (0.25 + 0.5) for one right answer, 0.75 for none, and the last bin is empty.
    pairs = [(0.25, 1), (0.5, 0), (0.75, 0), (0.0, 0)]
    assert score(es.ECE(2), pairs) == pytest.approx((0.25 + 0.75) / 4)
    assert score(es.ECE(4), [(0.5, 1)]) == 0.5


def test_brier_score_of_lm_evaluation_harness():
    """Its formula: the mean over items of the sum over classes of squared distances to one-hot."""
    rng = np.random.default_rng(3)
    predictions, gold = rng.dirichlet(np.ones(4), 50), rng.integers(4, size=50)
    expected = np.mean(np.sum((predictions - np.eye(4)[gold]) ** 2, axis=1))
    assert score(es.Brier(range(4)), predictions, gold) == pytest.approx(expected)
    two = np.stack([1 - predictions[:, 0], predictions[:, 0]], axis=1)
    happened = (gold == 0).astype(int)
    twice = 2 * score(es.Brier(), predictions[:, 0], happened)
    assert score(es.Brier([0, 1]), two, happened) == pytest.approx(twice)


def test_pass_at_k_is_the_share_of_subsets_with_a_right_answer():
    for n in range(1, 7):
        for k in range(1, n + 1):
            expected = [
                np.mean([min(subset) < c for subset in combinations(range(n), k)])
                for c in range(n + 1)
            ]
            found = es.pass_at_k(n, range(n + 1), k)
            np.testing.assert_allclose(found, expected, atol=1e-12)


def test_pass_at_k_of_many_answers():
    n, c = np.array([1000, 10_000, 200]), np.array([1, 7, 200])
    for k in (1, 10, 100):
        exact = [
            1 - math.comb(a - b, k) / math.comb(a, k)
            for a, b in zip(n.tolist(), c.tolist(), strict=True)
        ]
        np.testing.assert_allclose(es.pass_at_k(n, c, k), exact, rtol=1e-11)


def test_numbers_without_spread_do_not_correlate():
    for constant in (0.0, 0.1, -1 / 3, 1e7 + 0.1):
        totals = es.Correlation().statistics([constant] * 7, range(7)).sum(axis=0)
        assert es.Correlation().score(totals) == 0
        assert not np.any(es.Correlation().gradient(totals))
    # Half of all resamples of three marks, two of them alike, have one value or one pair only.
    found = es.estimate([1, 1, 2], [1, 2, 3], es.Correlation(), n_resamples=200)
    assert np.all(np.abs(found.replicates) <= 1)
    assert 0 in found.replicates


def test_perfect_correlation_is_1_and_no_more():
    rng = np.random.default_rng(0)
    for _ in range(200):
        x = rng.normal(rng.normal(0, 100), 1, 9)
        assert 1 - 1e-9 < score(es.Correlation(), 3 * x + 1, x) <= 1


def test_large_numbers_that_vary_little_need_a_centre():
    x, y = np.random.default_rng(0).normal(size=(2, 100))
    with pytest.raises(
        es.InputError, match=r"hypotheses lie around 1e\+06 and vary by .*centre=\("
    ):
        es.estimate(x + 1e6, y + 1e6, es.Correlation())
    centred = es.Correlation(centre=(1e6, 1e6))
    expected = es.estimate(x, y, es.Correlation(), n_resamples=99)
    found = es.estimate(x + 1e6, y + 1e6, centred, n_resamples=99)
    assert found.score == pytest.approx(expected.score, abs=1e-9)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-8)
    assert "centre:1e+06,1e+06" in found.signature


def test_standard_error_of_a_correlation_is_that_of_theory():
    """Of bivariate normal numbers it is (1 - r²)/√n; seed 4, within 10 % of it at n = 4,000."""
    x, noise = np.random.default_rng(4).normal(size=(2, 4000))
    found = es.estimate(x + noise, x, es.Correlation(), method="t")
    assert found.standard_error == pytest.approx((1 - found.score**2) / 4000**0.5, rel=0.1)


def test_errors_without_any_are_0():
    found = es.estimate([1.0, 2.0], [1.0, 2.0], es.RMSE(), n_resamples=99)
    assert (found.score, found.low, found.high) == (0, 0, 0)


@pytest.mark.parametrize(
    "metric, row, message",
    [
        (es.Mean("x"), [-1, -1], "has a negative count"),
        (es.RMSE(), [-1, 1], "is negative, but squares are not"),
        (es.Brier(), [-1, 1], "is negative, but squares are not"),
        (es.Perplexity(), [-1, 1], "is negative, but likelihoods are at most 1"),
        (es.Correlation(), [1, 0, 0, -1, 1, 0], "has a negative square"),
        (es.ECE(1), [1, 1, -1], "is negative, but items are counted"),
        (es.ECE(1), [1, 2, 0], "has more in a bin than its items"),
        (es.Confusion([0, 1], "f1"), [2, 1, 1], "has more right than there are"),
        (es.Confusion([0, 1], "accuracy"), [2, 1], "has more right than there are"),
        (es.Confusion([0, 1], "accuracy"), [0.5, 1], "is not a whole number, but accuracy counts"),
    ],
    ids=repr,
)
def test_statistics_that_cannot_be(metric, row, message):
    with pytest.raises(es.InputError, match=rf"statistics\[0.*{message}"):
        metric.check_statistics(np.array([row]))


PROBABILITIES = np.random.default_rng(0).dirichlet(np.ones(3), 60).tolist()
ROWS = [(row[0], 1) for row in PROBABILITIES]


@pytest.mark.parametrize(
    "metric, outputs, gold",
    [
        (es.Brier(range(3)), PROBABILITIES, [0, 1, 2] * 20),
        (es.ECE(), ROWS, None),
        (es.Perplexity("token", nll=True), ROWS, None),
        (es.Correlation(), [row[0] for row in ROWS], range(60)),
    ],
    ids=repr,
)
def test_rows_of_numbers_are_no_runs(metric, outputs, gold):
    one = es.compare({"A": outputs, "B": outputs[::-1]}, gold, metric, n_resamples=99)
    assert [e.n_segments for e in one.estimates] == [60, 60]
    assert one.estimates[0].run_error is None
    runs = {"A": [outputs, outputs[::-1]], "B": [outputs[::-1]] * 2}
    assert es.compare(runs, gold, metric).estimates[0].run_error is not None


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: es.Perplexity("sentence"), "unit must be one of word, byte, .*'sentence'"),
        (lambda: es.Perplexity(nll="yes"), "nll must be True or False"),
        (lambda: es.Perplexity().statistics([[-1, 2], [3, 4]]),
         r"log-likelihoods\[1\] is 3, and a log-likelihood must be at most 0; say nll=True"),
        (lambda: es.BitsPerUnit(nll=True).statistics([[-1, 2]]),
         r"log-likelihoods\[0\] is -1, and a negative log-likelihood must be at least 0; say nll=F"),
        (lambda: es.Perplexity("word").statistics([[-1, 2], [-1, 0]]),
         r"log-likelihoods\[1\] has 0 words; every row must be \(log-likelihood, number of words\)"),
        (lambda: es.Perplexity("word").statistics([-1, -2]), r"must have shape \(N, 2\), got \(2,\)"),
        (lambda: es.Perplexity("item").statistics([[-1, 2]]), r"must have shape \(N,\), got \(1, 2"),
        (lambda: es.Perplexity("item").statistics([-1, float("-inf")]), r"\[1\] is -inf; scores"),
        (lambda: es.Perplexity().statistics([]), "log-likelihoods is empty"),
        (lambda: es.Correlation("spearman"), "only Pearson's correlation is a function of sums"),
        (lambda: es.Correlation(centre=3), "centre must be two numbers, got 3"),
        (lambda: es.Correlation(centre=(1, "a")), "centre must be a number, got str 'a'"),
        (lambda: es.Correlation().statistics([1, 2], [1]), "must be the same length, got 2, 1"),
        (lambda: es.Correlation().statistics([1, 2]), "references is None; give gold numbers"),
        (lambda: es.RMSE().statistics([1, "a"], [1, 2]), "hypotheses must be numbers"),
        (lambda: es.RMSE().statistics([1, 2], [1, float("nan")]), r"references\[1\] is nan; scores"),
        (lambda: es.Brier().statistics([1.5], [1]), r"hypotheses\[0\] is 1.5, and a probability"),
        (lambda: es.Brier().statistics([0.5], [2]), r"references\[0\] is 2, which is none of .* 0, 1"),
        (lambda: es.Brier().statistics([0.5]), "references is None; give outcomes, 0 or 1"),
        (lambda: es.Brier(["a"]), "labels must be all classes, at least 2"),
        (lambda: es.Brier("ab"), "labels must be a list of labels, got a bare str"),
        (lambda: es.Brier([0, 1]).statistics([[0.5, 0.4]], [1]), r"hypotheses\[0\] sums to 0.9, and"),
        (lambda: es.Brier([0, 1]).statistics([[0.5, 0.5]], [7]), r"references\[0\] is 7, which is none"),
        (lambda: es.Brier([0, 1]).statistics([0.5], [1]), r"must have shape \(N, 2\), got \(1,\)"),
        (lambda: es.Brier([0, 1]).statistics([[2, -1]], [1]), r"hypotheses\[0, 0\] is 2, and a prob"),
        (lambda: es.ECE(0), "bins must be at least 1, got 0"),
        (lambda: es.ECE(10**6), "bins must be at most 10000"),
        (lambda: es.ECE().statistics([(90, 1)]), r"hypotheses\[0, 0\] is 90, .* divided by 100"),
        (lambda: es.ECE().statistics([(0.9, 0.5)]), r"hypotheses\[0\] is correct 0.5 times; every"),
        (lambda: es.ECE().statistics([0.9]), r"hypotheses must have shape \(N, 2\), got \(1,\)"),
        (lambda: es.pass_at_k(5, [6], 1), r"c\[0\] must be at most n, got 6 right of 5"),
        (lambda: es.pass_at_k([5, 2], [1, 1], 3), "n must be at least k: problem 1 has 2 answers"),
        (lambda: es.pass_at_k(5, [1], 0), "k must be at least 1, got 0"),
        (lambda: es.pass_at_k(5, [1.5], 1), r"c\[0\] must be a number of answers, got 1.5"),
        (lambda: es.pass_at_k(5, [-1], 1), r"c\[0\] must be a number of answers, got -1"),
        (lambda: es.pass_at_k([5, 5], [1], 1), "n and c must be the same length, .* got 2 and 1"),
        (lambda: es.pass_at_k(5, [], 1), "c is empty"),
    ],
)  # fmt: skip
def test_bad_input(make, message):
    with pytest.raises(es.InputError, match=message):
        make()
