"""Paired tests of scores: SciPy, exact enumeration, the definition, and `compare`."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import evalstats as es

ALTERNATIVES = ["two-sided", "greater", "less"]
# The 8 pairs of a worked example; 108 of 256 sign patterns are as extreme as these differences.
X1 = [0.81, 0.77, 0.90, 0.64, 0.70, 0.85, 0.66, 0.91]
X2 = [0.83, 0.80, 0.88, 0.71, 0.72, 0.84, 0.70, 0.86]


def scores_pair(seed, n):
    return np.random.default_rng(seed).normal(size=(2, n)).round(1)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_exact_permutation_is_scipys(alternative):
    x1, x2 = scores_pair(0, 9)
    expected = stats.permutation_test(
        (x1, x2),
        lambda a, b: np.mean(a - b),
        permutation_type="samples",
        alternative=alternative,
        n_resamples=np.inf,
    )
    result = es.paired_permutation_test(x1, x2, alternative=alternative, exact=True)
    assert result.exact
    assert (result.pvalue_error, result.n_resamples) == (0.0, 2 ** np.count_nonzero(x1 != x2))
    assert result.pvalue == pytest.approx(expected.pvalue)
    assert result.difference == pytest.approx(expected.statistic)


def test_a_worked_example():
    assert es.paired_permutation_test(X1, X2).pvalue == 108 / 256
    assert es.paired_permutation_test(X1, X2, alternative="less").pvalue == 54 / 256


@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=1, max_size=8))
def test_the_two_tails_meet(pairs):
    """Exactly, greater + less = 1 + P(tie), and two-sided is symmetric in x1 and x2."""
    x1, x2 = zip(*pairs, strict=True)
    p = {
        a: es.paired_permutation_test(x1, x2, alternative=a, exact=True).pvalue
        for a in ALTERNATIVES
    }
    swapped = es.paired_permutation_test(x2, x1, exact=True).pvalue
    assert p["two-sided"] == swapped
    assert p["greater"] == es.paired_permutation_test(x2, x1, alternative="less", exact=True).pvalue
    assert p["greater"] + p["less"] > 1
    if sum(x1) != sum(x2):
        assert p["two-sided"] == 2 * min(p["greater"], p["less"])


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_drawn_permutation_agrees_with_the_exact_one(alternative):
    """20,000 draws, 5 Monte-Carlo standard errors: false alarm below 1e-6 a case."""
    x1, x2 = scores_pair(1, 14)
    exact = es.paired_permutation_test(x1, x2, alternative=alternative, exact=True)
    drawn = es.paired_permutation_test(
        x1, x2, alternative=alternative, exact=False, n_resamples=20_000
    )
    assert not drawn.exact
    assert 0 < drawn.pvalue_error < 0.004
    assert abs(drawn.pvalue - exact.pvalue) < 5 * drawn.pvalue_error + 1e-4


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_the_bootstrap_by_its_definition(alternative):
    # Whole numbers: ties are ties.
    x1, x2 = (10 * scores_pair(2, 12)).round()
    drawn = es.bootstrap_weights(12, 500, rng=4) @ (x1 - x2)
    below, above = np.count_nonzero(drawn <= 0), np.count_nonzero(drawn >= 0)
    assert below + above > 500
    count = {"two-sided": min(below, above), "greater": below, "less": above}[alternative]
    result = es.paired_bootstrap_test(x1, x2, alternative=alternative, n_resamples=500, rng=4)
    sides = 2 if alternative == "two-sided" else 1
    tail = np.sqrt(11 / 12) * stats.norm.ppf((count + 1) / 501)
    assert count > 0
    assert result.pvalue == pytest.approx(sides * stats.t.cdf(tail, 11))
    assert result.difference == pytest.approx(np.mean(x1 - x2))


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("test", ["ar", "bootstrap"])
@pytest.mark.parametrize("n", [4, 8, 40])
def test_the_same_number_as_compare(test, alternative, n):
    x1, x2 = scores_pair(3, n)
    (difference,) = es.compare(
        {"2": x2, "1": x1}, None, es.Mean("x"), test=test, alternative=alternative, rng=7
    )
    function = es.paired_permutation_test if test == "ar" else es.paired_bootstrap_test
    result = function(x1, x2, alternative=alternative, rng=7)
    assert (result.pvalue, result.exact) == (difference.pvalue, difference.exact)
    assert result.difference == pytest.approx(difference.difference)


def test_identical_scores_and_one_segment():
    for function in (es.paired_permutation_test, es.paired_bootstrap_test):
        assert function(X1, list(X1)).pvalue == 1.0
        # Four differences of one sign: no test says more than their 16 sign patterns.
        assert function([2.0, 3, 4, 5], [1.0] * 4).pvalue == 2 / 16
    assert es.paired_permutation_test([3.0], [1.0]).pvalue == 1.0
    assert es.paired_permutation_test([3.0], [1.0], alternative="greater").pvalue == 0.5


def test_enumeration_is_the_default_where_it_is_no_dearer():
    assert es.paired_permutation_test(X1, X2, n_resamples=256).exact
    assert not es.paired_permutation_test(X1, X2, n_resamples=255).exact
    assert not es.paired_permutation_test(X1, X2, exact=False).exact
    # Where the scores are equal there is no sign to flip.
    assert es.paired_permutation_test([1, 2, 3], [1, 2, 4]).n_resamples == 2


def test_seeded():
    def pvalue(rng):
        return es.paired_bootstrap_test(X1, X2, n_resamples=999, rng=rng).pvalue

    assert pvalue(1) == pvalue(1)
    assert len({pvalue(seed) for seed in range(1, 6)}) > 1
    assert pvalue(np.random.default_rng(1)) == pvalue(np.random.default_rng(1))
    assert pvalue(None) != pvalue(None) or pvalue(None) != pvalue(None)
    result = es.paired_bootstrap_test(X1, X2, n_resamples=999, rng=None)
    assert pvalue(result.seed) == result.pvalue


@pytest.mark.parametrize("function", [es.paired_permutation_test, es.paired_bootstrap_test])
@pytest.mark.parametrize(
    "arguments, message",
    [
        (([1, 2], [1, 2, 3]), "x1 and x2 must be the same length.* got 2 and 3"),
        (([], []), "x1 is empty"),
        (([1, float("nan")], [1, 2]), r"x1\[1\] is nan"),
        (("12", [1, 2]), "x1 must be a list of numbers"),
        (([[1], [2]], [1, 2]), r"x1 must have shape \(N,\)"),
    ],
)
def test_bad_scores(function, arguments, message):
    with pytest.raises(es.InputError, match=message):
        function(*arguments)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: es.paired_bootstrap_test([1], [2]), "x1 has 1 score; the bootstrap needs at"),
        (lambda: es.paired_bootstrap_test(X1, X2, n_resamples=0), "n_resamples must be at least 1"),
        (lambda: es.paired_bootstrap_test(X1, X2, rng=-1), "rng must be a non-negative int"),
        (lambda: es.paired_bootstrap_test(X1, X2, alternative="x"), "alternative must be one of"),
        (lambda: es.paired_permutation_test(X1, X2, exact="yes"), "exact must be True or False"),
        (
            lambda: es.paired_permutation_test(range(1, 22), [0] * 21, exact=True),
            r"exact needs all 2\^21 sign patterns",
        ),
    ],
)
def test_bad_options(call, message):
    with pytest.raises(es.InputError, match=message):
        call()


class TestFaces:
    """What SciPy's results offer: a statistic, an interval, two values to unpack."""

    @pytest.mark.parametrize("alternative", ALTERNATIVES)
    def test_the_interval_is_scipys(self, alternative):
        x1, x2 = scores_pair(5, 40)
        expected = stats.ttest_rel(x1, x2, alternative=alternative)
        for test in (es.paired_permutation_test, es.paired_bootstrap_test):
            result = test(x1, x2, alternative=alternative)
            for level in (0.9, 0.95):
                found = result.confidence_interval(level)
                assert (found.low, found.high) == pytest.approx(
                    tuple(expected.confidence_interval(level)), rel=1e-9
                )
            assert result.confidence_interval() == result.confidence_interval(0.95)

    def test_a_statistic_and_a_pvalue_unpack(self):
        result = es.paired_permutation_test(X1, X2)
        statistic, pvalue = result
        assert (statistic, pvalue) == (result.statistic, result.pvalue)
        assert result.statistic == result.difference == pytest.approx(np.mean(X1) - np.mean(X2))

    def test_one_segment_has_no_interval(self):
        with pytest.raises(es.InputError, match="one segment says nothing about uncertainty"):
            es.paired_permutation_test([1.0], [2.0]).confidence_interval()
        with pytest.raises(es.InputError, match="confidence_level must be between 0 and 1"):
            es.paired_permutation_test(X1, X2).confidence_interval(95)
