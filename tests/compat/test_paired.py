"""Paired tests and effect sizes of scores: SciPy, exact enumeration, formulas, and `compare`."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import evalstats as es
from evalstats.compat.evaluatio import paired
from evalstats.compat.evaluatio.scores import cohens_d, cohens_d_paired
from tests.designs.test_swaps import compare
from tests.helpers import bad_cases, refuses

PERMUTATION = paired.paired_permutation_test
ALTERNATIVES = ["two-sided", "greater", "less"]
X1 = [0.81, 0.77, 0.90, 0.64, 0.70, 0.85, 0.66, 0.91]
X2 = [0.83, 0.80, 0.88, 0.71, 0.72, 0.84, 0.70, 0.86]


def scores_pair(seed, n):
    return np.random.default_rng(seed).normal(size=(2, n)).round(1)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_exact_permutation_is_scipys(alternative):
    x1, x2 = scores_pair(0, 9)
    expected = stats.permutation_test(
        (x1, x2), lambda a, b: np.mean(a - b), permutation_type="samples",
        alternative=alternative, n_resamples=np.inf,
    )  # fmt: skip
    result = paired.paired_permutation_test(x1, x2, alternative=alternative, exact=True)
    assert result.exact
    assert (result.pvalue_error, result.n_resamples) == (0.0, 2 ** np.count_nonzero(x1 != x2))
    statistic, pvalue = result
    assert (statistic, pvalue) == (result.statistic, result.pvalue)
    assert (statistic, pvalue) == pytest.approx((expected.statistic, expected.pvalue))


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("n", [4, 40])
def test_the_same_number_as_swaps(alternative, n):
    x1, x2 = scores_pair(3, n)
    (difference,) = compare(
        {"2": x2, "1": x1}, None, es.Mean("x"), test="ar", alternative=alternative, rng=7
    )
    result = paired.paired_permutation_test(x1, x2, alternative=alternative, rng=7)
    assert (result.pvalue, result.exact) == (difference.pvalue, difference.exact)
    assert result.difference == pytest.approx(difference.difference)


def test_enumeration_is_the_default_where_it_is_no_dearer():
    assert paired.paired_permutation_test(X1, X2, n_resamples=256).exact
    assert not paired.paired_permutation_test(X1, X2, n_resamples=255).exact
    assert not paired.paired_permutation_test(X1, X2, exact=False).exact
    # Where the scores are equal there is no sign to flip.
    assert paired.paired_permutation_test([1, 2, 3], [1, 2, 4]).n_resamples == 2


@pytest.mark.parametrize("test", ["bootstrap", "ar"])
def test_no_other_draws_would_change_the_p_value_of_identical_systems(test):
    """Defect: it is 1 exactly, and its Monte-Carlo standard error was .01."""
    scores = np.arange(20.0)
    (d,) = compare({"A": scores, "B": scores}, metrics=es.Mean("points"), test=test)
    assert (d.pvalue, d.pvalue_error) == (1, 0)


def test_identical_scores_and_one_segment():
    assert PERMUTATION(X1, list(X1)).pvalue == 1.0
    # Four differences of one sign: no test says more than their 16 sign patterns.
    assert PERMUTATION([2.0, 3, 4, 5], [1.0] * 4).pvalue == 2 / 16
    alone = PERMUTATION([3.0], [1.0], alternative="greater")
    assert alone.pvalue == 0.5
    refuses("one segment; pass at least two", alone.confidence_interval)


def test_the_seed_of_a_result_makes_it_again():
    result = PERMUTATION(X1, X2, n_resamples=99, rng=None)
    again = PERMUTATION(X1, X2, n_resamples=99, rng=result.seed)
    assert result.pvalue == again.pvalue


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_the_interval_is_scipys(alternative):
    x1, x2 = scores_pair(5, 40)
    expected = stats.ttest_rel(x1, x2, alternative=alternative)
    result = PERMUTATION(x1, x2, alternative=alternative)
    for found, level in ((result.confidence_interval(), 0.95),
                         (result.confidence_interval(0.9), 0.9)):  # fmt: skip
        interval = tuple(expected.confidence_interval(level))
        assert (found.low, found.high) == pytest.approx(interval, rel=1e-9)
    refuses("confidence_level must be between 0 and 1", result.confidence_interval, 95)


scores = st.lists(st.integers(-50, 50), min_size=4, max_size=12)


# SciPy warns of samples without spread of their own.
@pytest.mark.filterwarnings("ignore:Precision loss:RuntimeWarning")
@settings(max_examples=25)
@given(scores, scores)
def test_they_are_t_statistics_rescaled(x1, x2):
    """d = t·√(1/n1 + 1/n2) of two samples, and d_z = t/√n of paired ones."""
    if np.var(x1) + np.var(x2) > 0:
        t = stats.ttest_ind(x1, x2).statistic
        expected = t * math.sqrt(1 / len(x1) + 1 / len(x2))
        assert cohens_d(x1, x2) == pytest.approx(expected, rel=1e-9, abs=1e-12)
        assert cohens_d(x2, x1) == pytest.approx(-expected, rel=1e-9, abs=1e-12)
    x1, x2 = np.array(x1[:4]), np.array(x2[:4])
    if np.var(x1 - x2) > 0:
        expected = stats.ttest_rel(x1, x2).statistic / math.sqrt(4)
        assert cohens_d_paired(x1, x2) == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("function", [cohens_d, cohens_d_paired])
def test_without_spread(function):
    assert function([3, 3], [1, 1]) == math.inf
    assert function([0.1] * 3, [0.3] * 3) == -math.inf
    assert math.isnan(function([0.1] * 3, [0.1] * 3))


def test_rounding_is_no_spread():
    """0.85 - 0.80 and 0.90 - 0.85 differ in the last bit; the shift is 0.05 everywhere."""
    x2 = np.array([0.80, 0.85, 0.10, 0.33])
    x1 = np.array([0.85, 0.90, 0.15, 0.38])
    assert np.std(x1 - x2, ddof=1) > 0
    assert cohens_d_paired(x1, x2) == math.inf
    # A spread that is small but real counts.
    assert cohens_d_paired([1e-9, 2e-9], [0, 0]) == pytest.approx(3 / math.sqrt(2))


@bad_cases(
    (PERMUTATION, [1, 2, 3], {}, "x1 and x2 must have the same length.* got 3 and 8"),
    (PERMUTATION, [], {}, "x1 is empty"),
    (PERMUTATION, [1, float("nan")], {}, r"x1\[1\] is nan"),
    (PERMUTATION, [[1], [2]], {}, r"x1 must have shape \(N,\)"),
    (cohens_d, [1], {}, "x1 has 1 score, but a standard deviation requires at least two"),
    (cohens_d, X1, {"x2": [1]}, "x2 has 1 score"),
    (cohens_d_paired, [1], {"x2": [1]}, "x1 has 1 score"),
    (cohens_d_paired, [1, 2, 3], {}, "x1 and x2 must have the same length.*3 and"),
    (PERMUTATION, X1, {"n_resamples": 0}, "n_resamples must be at least 1"),
    (PERMUTATION, X1, {"alternative": "x"}, "alternative must be one of"),
    (PERMUTATION, X1, {"exact": "yes"}, "exact must be True or False"),
    (PERMUTATION, range(1, 22), {"x2": [0] * 21, "exact": True},
     r"exact requires all 2\^21 sign patterns"),
)  # fmt: skip
def test_bad_input(function, x1, options):
    function(x1, **{"x2": X2, **options})
