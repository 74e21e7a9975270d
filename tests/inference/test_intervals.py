"""Intervals equal SciPy's where it has them, and formulas written out where it has not."""

import numpy as np
import pytest

import evalstats as es
from tests.helpers import cases, refuses

LEVELS = [0.5, 0.95, 0.999]
METHODS = ["bootstrap", "t"]
X = es.Mean("x")


@pytest.fixture(scope="module")
def table(sample):
    metric = es.CHRF()
    rows = metric.statistics(sample.systems["baseline"][:90], sample.references[:90])
    return es.SegmentStatistics(rows[None], ["A"], metric)


@pytest.mark.parametrize("sign", [1, -1])
def test_of_long_tails_the_outermost_replicate_may_be_farther_than_t(sign):
    scores = sign * np.exp(2 * np.random.default_rng(0).normal(size=30))
    drawn, t = (
        es.estimate(scores, None, X, method=m, n_resamples=999, confidence_level=0.999, rng=1)
        for m in ("bootstrap", "t")
    )
    ends = np.min(drawn.replicates), np.max(drawn.replicates)
    assert (drawn.low, drawn.high) == (min(ends[0], t.low), max(ends[1], t.high))
    assert (drawn.low < t.low, drawn.high > t.high) == (sign < 0, sign > 0)


@pytest.mark.parametrize("size", [1, 3])
def test_standard_errors_are_those_of_the_jackknife_and_of_resamples(table, size):
    """For smooth scores of 90 segments all estimate the same; 3,999 resamples err by 1.1%."""
    result = es.estimate(table, groups=np.arange(90) // size, n_resamples=3999)
    rows, n = table.values[0].reshape(90 // size, size, -1).sum(axis=1), 90 // size
    left_out = table.metric.score(rows.sum(axis=0) - rows)
    assert result.standard_error == pytest.approx((n - 1) / n**0.5 * left_out.std(), rel=0.05)
    drawn = np.std(result.replicates, ddof=1) * np.sqrt(n / (n - 1))
    assert result.standard_error == pytest.approx(drawn, rel=0.1)


@cases(
    ([1] * 2, True),
    ([1] * 5, True),
    ([1] * 6, False),
    # Sixteen groups of which one has most segments are worth fewer than six.
    ([90, *[2] * 15], True),
    ([3, *[2] * 15], False),
)
def test_units_worth_fewer_than_six_have_t(sizes, few):
    groups = np.repeat(np.arange(len(sizes)), sizes)
    scores = dict(zip("AB", np.random.default_rng(2).gamma(2, size=(2, len(groups))), strict=True))
    result, by_t = (
        es.compare(scores, metrics=X, method=m, groups=groups, n_resamples=1999)
        for m in ("bootstrap", "t")
    )
    (d,), (t,) = result, by_t
    assert (d.test, d.method) == (("t", "t") if few else ("bootstrap", "bootstrap"))
    assert (((d.low, d.high) == (t.low, t.high)), d.pvalue == t.pvalue) == (few, few)
    assert (d.exact, d.pvalue_error == 0) == (False, few)
    assert {e.method for e in result.estimates} == {d.method}


@pytest.mark.parametrize("method", METHODS)
def test_no_spread_gives_a_point(method):
    result = es.estimate([0.25] * 20, None, X, method=method, n_resamples=50)
    assert (result.low, result.high, result.standard_error) == (0.25, 0.25, 0.0)
    (d,) = es.compare({"A": [0.25] * 20, "B": [0.75] * 20}, None, X, method=method, n_resamples=50)
    assert (d.low, d.high) == (0.5, 0.5)
    # All that is known: 20 segments differ.
    assert d.pvalue == 2 * 0.5**20


def test_units_of_scores_change_nothing():
    """Defect: marks of 1 to 5 divided by 10 had another p-value, .73 in place of .92."""
    asked = {"metrics": X, "n_resamples": 999}
    scores = np.random.default_rng(2).gamma(2, size=(2, 3, 20))
    found = [(scores[:, 0], {"strata": np.arange(20) // 10}), (scores, {})]
    for seed in (3, 85, 185):
        # Few marks: many resamples tie.
        rng = np.random.default_rng(seed)
        a = rng.integers(1, 6, 12)
        found.append((np.stack([a, np.clip(a + rng.integers(-1, 3, 12), 1, 5)]), {}))
    for some, design in found:
        (d,) = es.compare(dict(zip("AB", some, strict=True)), **asked, **design)
        for unit in (2.0**-300, 0.1, 1 / 3):
            (e,) = es.compare(dict(zip("AB", unit * some, strict=True)), **asked, **design)
            moved = (e.low / unit, e.high / unit, e.standard_error / unit, e.pvalue)
            assert moved == pytest.approx((d.low, d.high, d.standard_error, d.pvalue))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("level", [0.5, np.nextafter(1, 0)])
def test_levels_at_both_ends_of_the_range(method, level):
    scores = np.random.default_rng(0).random(30)
    result = es.estimate(scores, None, X, method=method, confidence_level=level, n_resamples=99)
    assert -np.inf < result.low <= result.high < np.inf


class Root(es.Mean):
    """The square root of a mean, whose gradient is no number."""

    def score(self, totals):
        return np.sqrt(super().score(totals))

    def gradient(self, totals):
        return np.full(np.shape(totals), 1e308)


def test_an_interval_that_is_not_finite_is_refused():
    """Where the gradient is none, and nothing is drawn that could stand in."""
    said = "root of {} has no finite interval, because the score or its gradient is not finite"
    refuses(said.format("'system'"), es.estimate, np.arange(9.0), None, Root("root"), method="t")
    pair = {"A": np.arange(9.0), "B": np.arange(9.0) + 1}
    refuses(said.format("'A' and 'B'"), es.compare, pair, None, Root("root"), method="t")
