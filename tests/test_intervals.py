"""Intervals equal SciPy's where it has them, and formulas written out where it has not."""

import numpy as np
import pytest
from scipy import stats
from scipy.stats._resampling import BootstrapResult

import evalstats as es
from evalstats.inference import bootstrap, influence

LEVELS = [0.5, 0.9, 0.95, 0.999]
METHODS = ["bootstrap", "percentile", "bca", "t"]
X = es.Mean("x")


@pytest.fixture(scope="module", params=[es.BLEU(), es.CHRF(), es.TER()], ids=lambda m: m.name)
def table(request, sample):
    metric = request.param
    rows = metric.statistics(sample.systems["baseline"][:90], sample.references[:90])
    return es.SegmentStatistics(rows[None], ["A"], metric)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("method", ["percentile", "BCa"])
def test_estimate_gives_scipys_intervals(table, method, level):
    """SciPy makes its interval of our replicates, with its own jackknife."""
    metric, (rows,) = table.metric, table.values
    result = es.estimate(table, method=method, n_resamples=500, confidence_level=level)
    expected = stats.bootstrap(
        (np.arange(len(rows)),),
        lambda index, axis: metric.score(rows[index].sum(axis=-2)),
        n_resamples=0, bootstrap_result=BootstrapResult(None, result.replicates, None),
        method=method, confidence_level=level, vectorized=True,
    )  # fmt: skip
    found = (result.low, result.high)
    assert found == pytest.approx(tuple(expected.confidence_interval), rel=1e-12)


@pytest.mark.parametrize("level", LEVELS)
def test_the_default_is_hesterbergs_expanded_percentile_interval(table, level):
    result = es.estimate(table, n_resamples=999, confidence_level=level)
    tail = stats.norm.cdf(np.sqrt(90 / 89) * stats.t.ppf((1 - level) / 2, 89))
    assert result.method == "bootstrap"
    drawn = np.sort(result.replicates)
    if 1000 * tail < 1:
        # Beyond the outermost replicate t has a say.
        t = es.estimate(table, method="t", confidence_level=level)
        expected = min(drawn[0], t.low), max(drawn[-1], t.high)
    else:
        expected = drawn[int(1000 * tail) - 1], drawn[-int(1000 * tail)]
    assert (result.low, result.high) == expected


def test_standard_errors_are_those_of_the_jackknife_and_of_resamples(table):
    """For smooth scores of 90 segments all estimate the same; 3,999 resamples err by 1.1 %."""
    result = es.estimate(table, n_resamples=3999)
    left_out = influence.jackknife_scores(table.metric, table.values)[0]
    jackknife = np.sqrt(89 / 90 * np.sum((left_out - left_out.mean()) ** 2))
    assert result.standard_error == pytest.approx(jackknife, rel=0.03)
    drawn = np.std(result.replicates, ddof=1) * np.sqrt(90 / 89)
    assert result.standard_error == pytest.approx(drawn, rel=0.1)


def test_t_interval_of_a_mean_is_the_textbooks():
    scores = np.random.default_rng(0).normal(size=25)
    result = es.estimate(scores, None, X, method="t", confidence_level=0.9)
    expected = stats.ttest_1samp(scores, 0).confidence_interval(0.9)
    assert (result.low, result.high) == pytest.approx((expected.low, expected.high))
    assert result.standard_error == pytest.approx(stats.sem(scores))
    assert result.replicates.size == 0


@pytest.mark.parametrize("n", [2, 3, 5, 6])
def test_fewer_units_than_six_have_t(n):
    scores = np.random.default_rng(n).gamma(2, size=(2, n))
    given = dict(zip("AB", scores, strict=True))
    result, by_t = (
        es.compare(given, metrics=X, method=m, test=m, n_resamples=1999) for m in ("bootstrap", "t")
    )
    (d,), (t,) = result, by_t
    assert (d.test, d.method) == (("t", "t") if n < 6 else ("bootstrap", "bootstrap"))
    assert ((d.low, d.high) == (t.low, t.high)) == (n < 6)
    assert (d.pvalue == t.pvalue) == (n < 6)
    assert (d.exact, d.pvalue_error > 0) == (False, n == 6)
    assert {e.method for e in result.estimates} == {d.method}


def test_few_groups_have_t_whatever_their_number_of_segments():
    """Sixteen of which one has most segments are worth fewer than six."""
    groups = np.repeat(np.arange(16), [90, *[2] * 15])
    scores = dict(zip("AB", np.random.default_rng(1).normal(size=(2, 120)), strict=True))
    result = es.compare(scores, metrics=X, groups=groups, n_resamples=99)
    (d,) = result
    assert (d.test, d.method) == ("t", "t")
    sums = np.bincount(groups, scores["A"] - scores["A"].mean())
    kish = 120**2 / (90**2 + 15 * 4)
    error = np.sqrt(kish / (kish - 1) * np.sum(sums**2)) / 120
    half = stats.t.ppf(0.975, max(kish - 1, 1)) * error
    mean = scores["A"].mean()
    assert result.estimates[0].low == pytest.approx(mean - half)
    assert "16 groups of 2 to 90 segments are worth about 1.8 of one size" in result.notes[0]


def test_bca_stays_finite_where_all_replicates_lie_on_one_side():
    low, high = bootstrap.bca(np.linspace(1, 2, 99), 0.0, np.arange(10.0), 0.95)
    assert 1 <= low <= high <= 2


@pytest.mark.parametrize("method", METHODS)
def test_no_spread_gives_a_point(method):
    result = es.estimate([0.25] * 20, None, X, method=method, n_resamples=50)
    assert (result.low, result.high, result.standard_error) == (0.25, 0.25, 0.0)
    (d,) = es.compare({"A": [0.25] * 20, "B": [0.75] * 20}, None, X, method=method, n_resamples=50)
    assert (d.low, d.high) == (0.5, 0.5)
    # All that is known: 20 segments differ.
    assert d.pvalue == 2 * 0.5**20


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("level", [5e-324, 1e-9, 1 - 1e-12, np.nextafter(1, 0)])
def test_levels_at_both_ends_of_the_range(method, level):
    scores = np.random.default_rng(0).random(30)
    result = es.estimate(scores, None, X, method=method, confidence_level=level, n_resamples=99)
    assert -np.inf < result.low <= result.high < np.inf


class Root(es.Metric):
    name, columns, uses_references = "root", ("sum", "count"), False

    def statistics(self, hypotheses, references=None):
        return np.stack([hypotheses, np.ones(len(hypotheses))], axis=-1)

    def score(self, totals):
        return np.sqrt(np.asarray(totals)[..., 0] / np.asarray(totals)[..., 1])

    def gradient(self, totals):
        return np.full(np.shape(totals), 1e308)


def test_an_interval_that_is_not_finite_is_refused():
    """Where the gradient is none, and nothing is drawn that could stand in."""
    with pytest.raises(es.InputError, match="no finite interval for root of 'system': the score"):
        es.estimate(np.arange(9.0), None, Root(), method="t")
    pair = {"A": np.arange(9.0), "B": np.arange(9.0) + 1}
    with pytest.raises(es.InputError, match="no finite interval for root of 'A' and 'B': the scor"):
        es.compare(pair, None, Root(), method="t", test="t")
    with pytest.raises(es.InputError, match="root of a resample of system 'system' is not finite"):
        es.estimate([-3.0, *[1.0] * 8], None, Root())
