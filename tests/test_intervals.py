"""Intervals equal SciPy's where it has them, and formulas written out where it has not."""

import numpy as np
import pytest
from scipy import stats
from scipy.stats._resampling import BootstrapResult

import evalstats as es
from evalstats.inference import influence, intervals
from evalstats.resampling.totals import bootstrap_totals

METRICS = [es.BLEU(), es.CHRF(), es.TER()]


@pytest.fixture(scope="module", params=METRICS, ids=lambda metric: metric.name)
def resampled(request, sample):
    """A metric on part of the sample: statistics, observed score and replicates."""
    metric = request.param
    rows = metric.statistics(sample.systems["baseline"][:90], sample.references[:90])
    totals = bootstrap_totals(rows, 999, rng=4)
    return metric, rows, metric.score(rows.sum(axis=0)), metric.score(totals)


def scipy_interval(metric, rows, replicates, method, level):
    """Let SciPy make its interval from our replicates."""
    return stats.bootstrap(
        (np.arange(len(rows)),),
        lambda index, axis: metric.score(rows[index].sum(axis=-2)),
        n_resamples=0, bootstrap_result=BootstrapResult(None, replicates, None),
        method=method, confidence_level=level, vectorized=True,
    )  # fmt: skip


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
@pytest.mark.parametrize("method", ["percentile", "basic", "BCa"])
def test_estimate_gives_scipys_intervals(resampled, method, level):
    metric, rows, _, _ = resampled
    statistics = es.SegmentStatistics(rows[None], ["A"], metric)
    result = es.estimate(statistics, method=method, n_resamples=500, confidence_level=level)
    expected = scipy_interval(metric, rows, result.replicates, method, level)
    assert result.low == pytest.approx(expected.confidence_interval.low, rel=1e-12)
    assert result.high == pytest.approx(expected.confidence_interval.high, rel=1e-12)
    assert result.standard_error == pytest.approx(expected.standard_error, rel=1e-12)


def test_expanded_percentile_is_hesterbergs_formula(resampled):
    _, rows, _, replicates = resampled
    n = len(rows)
    tail = stats.norm.cdf(-np.sqrt(n / (n - 1)) * stats.t.ppf(0.975, n - 1))
    expected = np.quantile(replicates, [tail, 1 - tail])
    np.testing.assert_allclose(intervals.expanded_percentile(replicates, n, 0.95), expected)
    narrow = intervals.percentile(replicates, 0.95)
    assert expected[0] <= narrow[0] < narrow[1] <= expected[1]


def test_t_interval_of_a_mean_is_the_textbooks():
    scores = np.random.default_rng(0).normal(size=25)
    result = es.estimate(scores, None, es.Mean("x"), method="t", confidence_level=0.9)
    expected = stats.ttest_1samp(scores, 0).confidence_interval(0.9)
    assert (result.low, result.high) == pytest.approx((expected.low, expected.high))
    assert result.standard_error == pytest.approx(stats.sem(scores))
    assert result.replicates.size == 0


def test_t_interval_of_a_difference_of_means_is_the_paired_t_interval():
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(2, 30))
    (difference,) = es.compare({"A": a, "B": b}, None, es.Mean("x"), method="t")
    expected = stats.ttest_rel(b, a).confidence_interval(0.95)
    assert (difference.low, difference.high) == pytest.approx((expected.low, expected.high))


def test_bounds_of_the_hall_interval_are_those_of_t_or_solve_halls_cubic():
    scores = np.random.default_rng(5).exponential(size=(2, 40))
    for a, b in (scores, scores[::-1]):
        (d,) = es.compare({"A": a, "B": b**2}, None, es.Mean("x"))
        plain = stats.ttest_rel(b**2, a).confidence_interval(0.95)
        n, skew, error = 40, stats.skew(b**2 - a), stats.sem(b**2 - a)
        assert d.method == "hall"

        def cubic(bound, n=n, skew=skew, error=error, d=d):
            # Hall (1992), as he writes it.
            u = (d.difference - bound) / error / np.sqrt(n)
            return np.sqrt(n) * (u + skew * u**2 / 3 + skew**2 * u**3 / 27 + skew / (6 * n))

        quantile = stats.t.isf(0.025, n - 1)
        # These values are skewed to the right: only the upper bound moves.
        assert skew > 0.5
        assert d.low == pytest.approx(plain.low)
        assert d.high > plain.high
        assert cubic(d.high) == pytest.approx(-quantile)


def test_bounds_of_skewed_differences_are_mirrored_with_them():
    values = np.random.default_rng(6).exponential(size=50)
    (d,) = es.compare({"A": 0 * values, "B": values}, None, es.Mean("x"))
    (mirrored,) = es.compare({"A": values, "B": 0 * values}, None, es.Mean("x"))
    assert (d.low, d.high) == pytest.approx((-mirrored.high, -mirrored.low))


def test_studentized_interval_of_a_mean_written_out():
    scores = np.random.default_rng(2).exponential(size=40)
    statistics = es.SegmentStatistics(es.Mean("x").statistics(scores)[None], ["A"], es.Mean("x"))
    result = es.estimate(statistics, method="studentized", n_resamples=400, rng=8)
    weights = es.bootstrap_weights(40, 400, rng=8)
    means = weights @ scores / 40
    errors = np.sqrt((weights * (scores - means[:, None]) ** 2).sum(axis=1) / 40 / 39)
    pivots = (means - scores.mean()) / errors
    low, high = scores.mean() - np.quantile(pivots, [0.975, 0.025]) * stats.sem(scores)
    assert (result.low, result.high) == pytest.approx((low, high), rel=1e-9)


def test_studentized_difference_is_the_one_of_the_difference():
    """For means, the difference of two systems is a mean of differences: same interval."""
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(2, 30))
    (difference,) = es.compare(
        {"A": a, "B": b}, None, es.Mean("x"), method="studentized", n_resamples=300
    )
    alone = es.estimate(b - a, None, es.Mean("x"), method="studentized", n_resamples=300)
    assert difference.low == pytest.approx(alone.low, rel=1e-9)
    assert difference.high == pytest.approx(alone.high, rel=1e-9)


def test_influence_standard_error_is_near_the_bootstraps(resampled):
    """For smooth scores of 90 segments both estimate the same; 999 resamples err by 2.2 %."""
    metric, rows, _, replicates = resampled
    values = influence.influence_values(metric, rows[None].astype(float))
    assert np.sum(values) == pytest.approx(0, abs=1e-9)
    error = influence.standard_error(values)[0]
    assert error == pytest.approx(np.std(replicates, ddof=1), rel=0.15)


def test_bca_stays_finite_where_all_replicates_lie_on_one_side():
    replicates = np.linspace(1, 2, 99)
    low, high = intervals.bca(replicates, np.array(0.0), np.arange(10.0), 0.95)
    assert 1 <= low <= high <= 2


@pytest.mark.parametrize(
    "method", ["expanded", "percentile", "basic", "bca", "studentized", "t", "hall"]
)
def test_no_spread_gives_a_point(method):
    result = es.estimate([0.5] * 20, None, es.Mean("x"), method=method, n_resamples=50)
    assert (result.low, result.high) == pytest.approx((0.5, 0.5), abs=1e-12)


@pytest.mark.parametrize("method", ["expanded", "t", "studentized"])
def test_coverage_of_a_skewed_mean(method):
    """400 samples of 20 exponentials, nominal 90 %.

    True coverage lies between 0.84 and 0.92 (small samples of a skewed population). Fewer than
    310 or more than 388 hits has a probability below 1e-3 for any coverage in that range.
    """
    rng = np.random.default_rng(6)
    hits = 0
    for trial in range(400):
        scores = rng.exponential(size=20)
        result = es.estimate(
            scores, None, es.Mean("x"), method=method, confidence_level=0.9, n_resamples=199,
            rng=trial,
        )  # fmt: skip
        hits += result.low <= 1 <= result.high
    assert 310 <= hits <= 388


def test_studentized_where_resamples_have_no_spread():
    """One miss in eight: a third of the resamples have none, and lie infinitely far above."""
    scores = np.array([1.0] * 7 + [0.0])
    result = es.estimate(scores, None, es.Mean("accuracy"), method="studentized", n_resamples=500)
    assert result.low == np.min(result.replicates) < result.score < result.high
    (difference,) = es.compare(
        {"A": np.ones(50), "B": np.append(np.ones(49), 0)}, None, es.Mean("x"),
        method="studentized", n_resamples=500,
    )  # fmt: skip
    assert difference.low <= difference.difference <= difference.high


def test_studentized_difference_of_large_integers():
    rng = np.random.default_rng(4)
    counts = {name: rng.integers(10**7, 2 * 10**7, size=(50, 2)) for name in "AB"}
    (difference,) = es.compare(
        counts, None, es.Ratio("rate"), method="studentized", n_resamples=200
    )
    assert difference.low < difference.difference < difference.high


def test_an_interval_that_is_not_finite_is_refused():
    class Root(es.Metric):
        name = "root"
        columns = ("sum", "count")
        uses_references = False

        def statistics(self, hypotheses, references=None):
            return np.stack([hypotheses, np.ones(len(hypotheses))], axis=-1)

        def score(self, totals):
            return np.sqrt(np.asarray(totals)[..., 0] / np.asarray(totals)[..., 1])

        def gradient(self, totals):
            return np.full(np.shape(totals), 1e308)

    with pytest.raises(es.InputError, match="'t' gives no finite interval for root of 'system'"):
        es.estimate(np.arange(9.0), None, Root(), method="t")


@pytest.mark.parametrize(
    "method", ["expanded", "percentile", "basic", "bca", "studentized", "t", "hall"]
)
@pytest.mark.parametrize("level", [5e-324, 1e-9, 1 - 1e-12, np.nextafter(1, 0)])
def test_levels_at_both_ends_of_the_range(method, level):
    scores = np.random.default_rng(0).random(30)
    result = es.estimate(
        scores, None, es.Mean("x"), method=method, confidence_level=level, n_resamples=99
    )
    assert np.isfinite([result.low, result.high]).all()
    assert result.low <= result.high
