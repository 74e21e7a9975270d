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
    many = tuple(np.array(x) for x in ([0.5, 0.5], [0.2, 1.0], [20.0, 70.0]))
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
