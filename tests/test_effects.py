"""Cohen's d against its formula, SciPy's t statistics, and without any spread."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import evalstats as es

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
        assert es.cohens_d(x1, x2) == pytest.approx(expected, rel=1e-9, abs=1e-12)
        assert es.cohens_d(x2, x1) == pytest.approx(-expected, rel=1e-9, abs=1e-12)
    x1, x2 = np.array(x1[:4]), np.array(x2[:4])
    if np.var(x1 - x2) > 0:
        expected = stats.ttest_rel(x1, x2).statistic / math.sqrt(4)
        assert es.cohens_d_paired(x1, x2) == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("function", [es.cohens_d, es.cohens_d_paired])
def test_without_spread(function):
    assert function([3, 3], [1, 1]) == math.inf
    assert function([0.1] * 3, [0.3] * 3) == -math.inf
    assert math.isnan(function([0.1] * 3, [0.1] * 3))


def test_rounding_is_no_spread():
    """0.85 - 0.80 and 0.90 - 0.85 differ in the last bit; the shift is 0.05 everywhere."""
    x2 = np.array([0.80, 0.85, 0.10, 0.33])
    x1 = np.array([0.85, 0.90, 0.15, 0.38])
    assert np.std(x1 - x2, ddof=1) > 0
    assert es.cohens_d_paired(x1, x2) == math.inf
    # A spread that is small but real counts.
    assert es.cohens_d_paired([1e-9, 2e-9], [0, 0]) == pytest.approx(3 / math.sqrt(2))


@pytest.mark.parametrize(
    ("function", "x1", "x2", "message"),
    [
        (es.cohens_d, [1], [1, 2], "x1 has 1 score; a standard deviation needs at least t"),
        (es.cohens_d, [], [1], "x1 is empty"),
        (es.cohens_d, [1, math.nan], [1, 2], r"x1\[1\] is nan; scores must be finite"),
        (es.cohens_d_paired, [1], [1], "x1 has 1 score"),
        (es.cohens_d_paired, [1, 2, 3], [1, 5], "x1 and x2 must be the same length.*3 and"),
    ],
)
def test_bad_input(function, x1, x2, message):
    with pytest.raises(es.InputError, match=message):
        function(x1, x2)
