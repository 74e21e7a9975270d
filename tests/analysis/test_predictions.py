"""Another test set: where its score lies, and how likely its difference has the same sign."""

from math import sqrt

import numpy as np
import pytest
from scipy import stats

import evalstats as es
from tests.conftest import first
from tests.helpers import refuses

MARKS = es.Mean("marks")
RNG = np.random.default_rng(21)
SCORES = RNG.normal(5, 2, size=40)


def shares(values, scale=1.0, **options):
    pairs = np.stack([values, np.ones(len(values))], axis=1)
    return es.estimate(pairs, None, es.Ratio("acc", scale=scale), n_resamples=2, **options)


@pytest.mark.parametrize("n", [None, 1, 40, 1000])
def test_a_mean_of_others_has_the_textbooks_interval(n):
    """Mean ± t·s·√(1/N + 1/n)."""
    found = es.estimate(SCORES, None, MARKS, method="t").prediction(n)
    half = stats.t.ppf(0.975, 39) * SCORES.std(ddof=1) * sqrt(1 / 40 + 1 / (n or 40))
    assert found == pytest.approx((SCORES.mean() - half, SCORES.mean() + half), rel=1e-12)
    assert (found.low, found.high) == found


def test_each_bound_has_its_own_distance():
    e = es.estimate(np.exp(SCORES), None, MARKS, n_resamples=299)
    low, high = e.prediction(10)
    assert low == pytest.approx(e.score - sqrt(5) * (e.score - e.low), rel=1e-12)
    assert high == pytest.approx(e.score + sqrt(5) * (e.high - e.score), rel=1e-12)
    assert e.high - e.score > 1.2 * (e.score - e.low)


@pytest.mark.parametrize("share", first(1, [0.8, 0.5, 0.95]))
def test_shares_of_other_items_lie_in_it_by_enumeration(share):
    """All numbers right of 100 items, and of 100 or 300 others, with their probabilities."""
    weights = stats.binom.pmf(np.arange(101), 100, share)
    found = [shares(np.arange(100) < k) for k in range(101)]
    for n in (100, 300):
        held = [_held(e.prediction(n), n, share) for e in found]
        alone = [_held((e.low, e.high), n, share) for e in found]
        assert weights @ held == pytest.approx(0.95, abs=0.01)
        assert weights @ alone < (0.83 if n == 100 else 0.92)


def _held(bounds, n, share):
    values = np.arange(n + 1) / n
    inside = (values >= bounds[0] - 1e-12) & (values <= bounds[1] + 1e-12)
    return stats.binom.pmf(np.arange(n + 1), n, share) @ inside


@pytest.mark.parametrize("scale", [1.0, 100.0])
@pytest.mark.parametrize("options", [
    {}, {"groups": np.arange(60) // 4}, {"strata": np.arange(60) // 30, "aggregate": "macro"},
])  # fmt: skip
def test_shares_stay_on_their_scale(scale, options):
    for k in (0, 1, 30, 59, 60):
        e = shares(np.arange(60)[::-1] < k, scale, **options)
        low, high = e.prediction(2)
        assert 0 <= low <= e.low <= e.score <= e.high <= high <= scale * (1 + 1e-9)
        if k == 59:
            assert high == scale


def test_of_several_runs_other_items_leave_the_error_of_the_runs():
    runs = RNG.normal(size=(4, 1)) + RNG.normal(size=(4, 50))
    e = es.estimate({"A": runs}, metric=MARKS)[0]
    half = (e.high - e.low) / 2
    segments = e.standard_error**2 - e.run_error**2
    for n in (10, 50, 10**9):
        low, high = e.prediction(n)
        expected = sqrt(1 + (e.run_error**2 + segments * 50 / n) / e.standard_error**2)
        assert (high - low) / 2 == pytest.approx(half * expected, rel=1e-9)
    assert e.run_error > e.segment_error


def test_a_total_counts_the_items_of_all_tasks():
    sizes = {"x": 30, "y": 90}
    tasks = {t: es.extract({"A": RNG.normal(size=n)}, metric=MARKS) for t, n in sizes.items()}
    e = es.Suite(tasks).estimate(method="t")["A"]
    assert e.aggregate == "macro"
    low, high = e.prediction(30)
    assert high - low == pytest.approx(sqrt(5) * (e.high - e.low), rel=1e-12)


def test_the_probability_of_the_same_sign():
    scores = {"A": SCORES, "B": SCORES + RNG.normal(0.1, 1, size=40), "C": SCORES}
    result = es.compare(scores, metrics=MARKS, n_resamples=99)
    d = result["B", "A"]
    for n, factor in ((None, 2), (40, 2), (10, 5), (400, 1.1)):
        expected = stats.norm.cdf(abs(d.difference) / (d.standard_error * sqrt(factor)))
        assert d.probability(n) == pytest.approx(expected, rel=1e-12)
        assert d.turned().probability(n) == pytest.approx(expected, rel=1e-12)
    assert result["C", "A"].probability() == 0.5
    # Of errors the sign of the number counts, too; a constant gain never turns.
    (e,) = es.compare({"A": SCORES, "B": SCORES - 1}, metrics=es.Mean("e", higher_is_better=False))
    assert e.probability(1) == 1.0


def test_the_probability_is_right_on_average_where_any_difference_is_as_likely():
    """400 independent systems against a constant; true means uniform, three errors either way.

    The share of other test sets with the same sign has a standard error of at most .021: off by
    four of them once in 16,000 seeds. Without √(1 + N/n) the probabilities are .1 too high.
    """
    rng = np.random.default_rng(5)
    true = rng.uniform(-3, 3, size=400) / sqrt(40)
    scores = {f"s{i}": mean + rng.normal(size=40) for i, mean in enumerate(true)}
    made = {"none": np.zeros(40), **scores}
    by_t = {"method": "t", "adjustment": "none"}
    result = es.compare(made, metrics=MARKS, baseline="none", **by_t)
    others = true + rng.normal(size=400) / sqrt(10)
    same = [np.sign(d.difference) == np.sign(x) for d, x in zip(result, others, strict=True)]
    predicted = np.array([d.probability(10) for d in result])
    error = sqrt(np.sum(predicted * (1 - predicted))) / 400
    assert np.mean(same) == pytest.approx(np.mean(predicted), abs=4 * error)
    alone = np.mean([stats.norm.cdf(abs(d.difference) / d.standard_error) for d in result])
    assert alone - np.mean(predicted) > 4 * error


@pytest.mark.parametrize("n, message", [
    (0, "n must be at least 1, got 0"),
    (2.5, "n must be an integer, got float 2.5"),
])  # fmt: skip
def test_bad_numbers_of_units(n, message):
    d = es.compare({"A": SCORES, "B": SCORES[::-1]}, metrics=MARKS, n_resamples=9)[0]
    for ask in (es.estimate(SCORES, None, MARKS, n_resamples=9).prediction, d.probability):
        refuses(message, ask, n)


def test_the_error_of_several_runs_is_not_of_units_alone():
    runs = {name: RNG.normal(size=(3, 20)) for name in "AB"}
    (d,) = es.compare(runs, metrics=MARKS)
    refuses("n cannot be used with several runs", d.probability, 20)
    assert (d.n_differing, d.n_units) == (20, None)
