"""The normal distribution and t, beside SciPy's."""

from math import inf, nan

import numpy as np
import pytest
import scipy
from scipy import special

from evalstats.inference.distributions import (
    noncentral_t_above,
    normal_cdf,
    normal_quantile,
    t_cdf,
    t_quantile,
)

DEGREES = [1, 1.5, 2, 5, 7.3, 30, 49.9, 50, 99, 300, 2036, 1e4, 1e6, 1e8, inf]
X = [-0.0, 0.01, 0.3, 1, 1.7, 2, 2.449, 2.45, 3, 4.5, 7, 12, 20, 30]
#: As a share of the number: SciPy's own error is 1e-13 where there are many degrees of freedom, and
#: 1e-8 before version 1.17.
IS_OLD = tuple(map(int, scipy.__version__.split(".")[:2])) < (1, 17)
CLOSE = 2e-8 if IS_OLD else 3e-13
P = [1e-100, 1e-30, 1e-9, 1e-4, 0.0005, 0.005, 0.025, 0.1, 0.25, 0.4, 0.49, 0.5]


@pytest.mark.parametrize("degrees", DEGREES)
def test_t_and_its_quantiles_are_those_of_scipy(degrees):
    scipy_cdf, scipy_quantile = special.stdtr, special.stdtrit
    if degrees == inf:
        scipy_cdf, scipy_quantile = (lambda _, x: special.ndtr(x)), (lambda _, p: special.ndtri(p))
    for x in X:
        assert t_cdf(-x, degrees) == pytest.approx(scipy_cdf(degrees, -x), rel=CLOSE, abs=1e-300)
        assert t_cdf(x, degrees) == pytest.approx(1 - t_cdf(-x, degrees), rel=1e-15)
    assert [t_quantile(1 - p, degrees) for p in (0.25, 0.125)] == [
        -t_quantile(p, degrees) for p in (0.25, 0.125)
    ]
    for p in P:
        expected = scipy_quantile(degrees, p)
        if np.isfinite(expected):
            assert t_quantile(p, degrees) == pytest.approx(expected, rel=CLOSE, abs=1e-15)


def test_the_normal_distribution_is_that_of_scipy():
    x = np.linspace(-37, 8, 500)
    found = [normal_cdf(value) for value in x.tolist()]
    np.testing.assert_allclose(found, special.ndtr(x), rtol=CLOSE)
    p = [*P, *np.random.default_rng(0).random(500).tolist()]
    found = [normal_quantile(value) for value in p]
    np.testing.assert_allclose(found, special.ndtri(p), rtol=CLOSE, atol=1e-15)


@pytest.mark.parametrize("degrees", [1, 3.5, 1000, inf])
def test_the_ends_are_certain_and_what_is_no_number_is_none(degrees):
    assert [t_cdf(x, degrees) for x in (-inf, -1e200, 1e200, inf)] == [0, 0, 1, 1]
    assert (t_quantile(0.0, degrees), t_quantile(1.0, degrees)) == (-inf, inf)
    assert np.isnan(t_cdf(nan, degrees))


@pytest.mark.parametrize("degrees", [0.1, 0.3, 0.5, 1, 1.5, 2, 3, 5, 30, 300, 1e6])
def test_quantiles_of_the_least_probabilities_are_numbers_or_limits(degrees):
    """SciPy's quantiles are wrong there: its probabilities are not."""
    for p in (1e-290, 1e-200, 1e-100, 1e-50, 1e-16):
        x = t_quantile(p, degrees)
        if x < -1e150:  # SciPy squares it
            known = special.gamma((degrees + 1) / 2) / special.gamma(degrees / 2) / np.sqrt(np.pi)
            size = (np.log(known) + (degrees / 2 - 1) * np.log(degrees) - np.log(p)) / degrees
            assert x == pytest.approx(-np.exp(size) if size < 709 else -inf, rel=1e-10)
        else:
            assert special.stdtr(degrees, x) == pytest.approx(p, rel=1e-10, abs=1e-300)
    # Of the very least, no nearer to 0 than those of greater ones.
    assert t_quantile(5e-324, degrees) <= t_quantile(1e-300, degrees) <= t_quantile(1e-290, degrees)


@pytest.mark.parametrize("p", [5e-324, 1e-310, 1e-300])
def test_the_least_normal_quantiles_are_those_of_scipy(p):
    assert normal_quantile(p) == pytest.approx(special.ndtri(p), rel=1e-15)


def test_a_noncentral_t_of_infinite_degrees_is_normal():
    for shift in (-3.0, 0.0, 2.5, 50.0):
        assert noncentral_t_above(1.96, shift, inf) == normal_cdf(shift - 1.96)


@pytest.mark.parametrize("degrees", [1.7, 3, 10, 49, 199.5, 2036])
def test_a_noncentral_t_is_that_of_scipy(degrees):
    """To 2e-8: SciPy 1.17 is 5e-9 off, and before it where it is near 1 1e-5."""
    for level in (0.05, 0.001):
        critical = -t_quantile(level, degrees)
        for shift in (-3.0, -0.5, 0.0, 1.0, 2.5, 6.0, critical):
            expected = special.nctdtr(degrees, -shift, -critical)
            found = noncentral_t_above(critical, shift, degrees)
            assert found == pytest.approx(expected, abs=2e-5 if IS_OLD else 2e-8)
        central = noncentral_t_above(critical, 0.0, degrees)
        assert central == pytest.approx(level, rel=1e-10)
