"""Intervals of classes, likelihoods and numbers hold the true score as often as they say."""

import numpy as np
import pytest
from scipy import stats

import evalstats as es
from benchmarks import coverage
from evalstats.inference import intervals, proportions, skewness


@pytest.mark.thorough
@pytest.mark.parametrize("case", ["binary", "ten, rarest 1 %", "documents, σ = 1"])
def test_default_intervals_cover(case):
    """600 trials, seed 12345: of an interval that covers 95 %, fewer than 552 or more than 586 hold
    the truth with probability 0.001; of one that covers 90 %, fewer than 552 with 0.94."""
    chosen = coverage.CASES[case]
    for whole in coverage.tables(chosen._replace(metrics=chosen.metrics[:2])):
        found = coverage.measure(whole, 600)
        assert 552 / 600 <= found.covered <= 586 / 600, whole.metric


def rare(right):
    """Return predictions of 200 items, of which five have the rare class and so many are right."""
    gold = ["common"] * 195 + ["rare"] * 5
    predicted = ["rare"] * 10 + ["common"] * 185 + ["rare"] * right + ["common"] * (5 - right)
    return predicted, gold


@pytest.mark.parametrize("right", [0, 5])
def test_a_rare_class_that_is_all_right_or_all_wrong_is_still_uncertain(right):
    metric = es.Confusion(["common", "rare"], "recall", "rare")
    found = es.estimate(*rare(right), metric, n_resamples=999)
    low, high = proportions.wilson(right, 5, 0.95)
    assert found.score == right / 5
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-9)
    macro = es.estimate(*rare(right), es.Confusion(metric.labels, "macro-recall"), n_resamples=999)
    assert macro.high - macro.low > (high - low) / 2


def test_systems_that_agree_on_a_rare_class_may_differ_on_others_of_it():
    """As Bonett and Price (2012): two items more, on which the systems differ either way."""
    (predicted, gold), metric = rare(3), es.Confusion(["common", "rare"], "recall", "rare")
    other = ["common" if i < 10 else label for i, label in enumerate(predicted)]
    (found,) = es.compare({"A": predicted, "B": other}, gold, metric)
    assert found.difference == 0
    assert found.high == -found.low == pytest.approx(stats.t.ppf(0.975, 199) * 2**0.5 / 7)
    same = es.compare({"A": predicted, "B": list(predicted)}, gold, metric)
    assert [(d.low, d.high) for d in same] == [(0, 0)]


def test_classes_of_many_items_leave_intervals_as_they_are():
    rng = np.random.default_rng(0)
    gold = rng.integers(3, size=300)
    predicted = np.where(rng.random(300) < 0.7, gold, rng.integers(3, size=300))
    found = es.estimate(predicted, gold, es.Confusion(range(3)), n_resamples=999)
    expected = intervals.expanded_percentile(found.replicates, 300, 0.95)
    assert (found.low, found.high) == expected


def test_no_interval_becomes_shorter_by_what_few_items_leave_uncertain():
    few = tuple(np.array(x) for x in ([0.5, 0.5], [0.2, 1.0], [0.0, 7.0]))
    for bounds in [(0.5, 0.7), (0.62, 0.7), (0.3, 0.58)]:
        low, high = proportions.widened_by_shares(bounds, 0.6, few, 0.95)
        assert low < min(bounds[0], 0.6)
        assert high > max(bounds[1], 0.6)
    many = tuple(np.array(x) for x in ([0.5, 0.5], [0.2, 0.98], [20.0, 70.0]))
    assert proportions.widened_by_shares((0.5, 0.7), 0.6, many, 0.95) == (0.5, 0.7)


def test_degrees_of_a_spread_are_those_of_normal_values_or_fewer():
    rng = np.random.default_rng(0)
    assert skewness.degrees_of_spread(rng.normal(size=10_000)) == pytest.approx(9999, rel=0.1)
    assert skewness.degrees_of_spread(rng.choice([-1.0, 1.0], size=50)) == 49
    assert skewness.degrees_of_spread(np.zeros(50)) == 49
    # All the spread is one value's.
    assert skewness.degrees_of_spread(np.eye(50)[0]) == pytest.approx(2, rel=0.1)


def test_a_long_document_widens_the_interval_of_a_perplexity():
    rng = np.random.default_rng(1)
    rows = np.stack([-rng.gamma(9, 30, size=80), np.full(80, 100.0)], axis=1)
    rows[0] *= 40
    found = es.estimate(rows, metric=es.Perplexity("word"), n_resamples=999)
    low, high = intervals.expanded_percentile(found.replicates, 80, 0.95)
    assert found.low <= low
    assert found.high > high


def test_calibration_error_has_the_basic_interval():
    rng = np.random.default_rng(0)
    confidence = rng.random(200)
    pairs = np.stack([confidence, rng.random(200) < confidence], axis=1)
    found = es.estimate(pairs, metric=es.ECE(10), n_resamples=999)
    assert found.method == "basic"
    # Resamples of a calibrated system score worse than itself.
    assert np.mean(found.replicates) > found.score
    assert found.low < np.quantile(found.replicates, 0.025)
    (difference,) = es.compare({"A": pairs, "B": pairs[::-1]}, metrics=es.ECE(10), n_resamples=99)
    assert difference.method == "hall"


@pytest.mark.parametrize(
    "measure", ["f1", "recall", "macro-f1", "weighted-precision", "mcc", "kappa"]
)
@pytest.mark.parametrize("all_right", [True, False])
def test_many_items_that_are_all_right_or_all_wrong_are_still_uncertain(measure, all_right):
    gold = np.repeat([0, 1], 50)
    metric = es.Confusion([0, 1], measure)
    found = es.estimate(gold if all_right else 1 - gold, gold, metric, n_resamples=99)
    low, high = proportions.wilson(50 * all_right, 50, 0.95)
    if measure == "recall":
        assert (found.low, found.high) == pytest.approx((low, high))
    # Between the share of one class, of both, and twice that: chance agrees on half.
    assert (high - low) / 2 < found.high - found.low < 2 * (high - low)
    assert found.score in ((found.high,) if all_right else (found.low,))


def test_kappa_and_mcc_say_of_all_items_what_wilson_does():
    """1 - kappa is the share of wrong items over that expected by chance, here 1/2; so is MCC."""
    gold = np.repeat([0, 1], 50)
    low, _ = proportions.wilson(100, 100, 0.95)
    for measure in ("kappa", "mcc"):
        found = es.estimate(gold, gold, es.Confusion([0, 1], measure), n_resamples=99)
        assert found.low == pytest.approx(1 - (1 - low) / 0.5)


def rare_classes(rng, measure="balanced-accuracy"):
    """Return a table of two equal systems on 500 items, of which about two have the rarest class."""
    metric = es.Confusion(range(10), measure)
    shares = [0.996 / 9] * 9 + [0.004]
    gold = rng.choice(10, size=500, p=shares)
    others = rng.choice(10, size=(2, 500), p=shares)
    systems = np.where(rng.random((2, 500)) < 0.75, gold, others)
    rows = [metric.statistics(predicted, gold) for predicted in systems]
    return es.SegmentStatistics(rows, ["A", "B"], metric)


@pytest.mark.parametrize("contrast", ["difference", "log-ratio"])
def test_where_the_interval_of_a_rare_class_holds_0_the_test_finds_nothing(contrast):
    rng = np.random.default_rng(2)
    for _ in range(60):
        (d,) = es.compare(rare_classes(rng), contrast=contrast, n_resamples=99)
        assert d.pvalue > 0.05 or not d.low < 0 < d.high


def heavy(metric, rng, n):
    """Return the rows of two systems that are alike, and of which a few segments decide."""
    if isinstance(metric, es.Perplexity):
        words = np.exp(rng.normal(5, 1.5, n))
        return [np.stack([words * np.exp(0.2 * x), words], axis=1) for x in rng.normal(size=(2, n))]
    gold = np.exp(rng.normal(size=n))
    return [metric.statistics(gold * np.exp(rng.normal(0, 0.5, n)), gold) for _ in "AB"]


HEAVY = [es.Perplexity("word"), es.RMSE(), es.Correlation()]


@pytest.mark.parametrize("metric", HEAVY, ids=lambda m: m.name)
def test_differences_and_their_tests_know_of_heavy_tails(metric):
    rows = np.array(heavy(metric, np.random.default_rng(3), 300))
    table = es.SegmentStatistics(rows, ["A", "B"], metric)
    totals = rows.sum(axis=1)
    first, second = np.einsum("snk,sk->sn", rows, metric.gradient(totals))
    moves = second - first - np.mean(second - first)
    degrees = skewness.degrees_of_spread(moves)
    assert degrees < 150
    (d,) = es.compare(table, method="t", margin=1e-3, n_resamples=99)
    reach = stats.t.ppf(0.975, degrees) * np.std(moves, ddof=1) * 300**0.5
    assert (d.high - d.low) / 2 == pytest.approx(reach)
    by_t = 2 * stats.t.sf(abs(d.difference / d.standard_error), degrees)
    assert d.pvalue >= by_t * (1 - 1e-9)
    shifted = (d.difference - 1e-3) / d.standard_error
    assert d.pvalue_not_worse in (
        pytest.approx(stats.t.cdf(shifted, degrees)),
        pytest.approx(stats.t.sf(shifted + 2e-3 / d.standard_error, degrees)),
    )


@pytest.mark.parametrize("metric", HEAVY, ids=lambda m: m.name)
def test_scores_with_heavy_tails_reach_as_far_as_halls_interval(metric):
    rows = heavy(metric, np.random.default_rng(3), 100)[0]
    found = es.estimate(es.SegmentStatistics([rows], ["A"], metric), n_resamples=999)
    hall = es.estimate(es.SegmentStatistics([rows], ["A"], metric), method="hall")
    plain = intervals.expanded_percentile(found.replicates, 100, 0.95)
    assert found.low <= min(hall.low, plain[0])
    assert found.high >= max(hall.high, plain[1])


@pytest.mark.thorough
def test_exchangeable_systems_differ_rarely_where_a_few_segments_decide():
    """400 pairs of 500 segments, seed 6: of a test at 0.05, more than 37 rejections have probability
    1e-4; with flipped influence values in place of swaps there were 44.
    """
    rng, found, metric = np.random.default_rng(6), [], es.Correlation()
    for trial in range(400):
        table = es.SegmentStatistics(np.array(heavy(metric, rng, 500)), ["A", "B"], metric)
        (d,) = es.compare(table, n_resamples=199, rng=trial)
        found.append(d.pvalue <= 0.05)
    assert np.sum(found) <= 37


@pytest.mark.thorough
def test_equal_systems_differ_rarely_on_a_class_of_two_items():
    """300 pairs of 500 items, seed 7: of a test at 0.05, more than 31 rejections have probability
    1e-4; without what two items leave uncertain there were about 48.
    """
    rng, found = np.random.default_rng(7), []
    for trial in range(300):
        (d,) = es.compare(rare_classes(rng), n_resamples=199, rng=trial)
        found.append(d.pvalue <= 0.05)
    assert np.sum(found) <= 31
