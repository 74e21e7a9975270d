"""Brent's method, beside SciPy's."""

from math import exp

import pytest
from scipy.optimize import brentq

from evalstats.inference.counts import root, tango_distance

FUNCTIONS = {
    "cubic": lambda x: x**3 - 0.3,
    "exponential": lambda x: exp(3 * x) - 1.5,
    "jump": lambda x: -1.0 if x < 0.3 else 2.0,
    "line": lambda x: x - 0.25,
    "falling": lambda x: 0.7 - x * x,
    "score statistic": lambda x: tango_distance(7, 3, 40, x) + 1.96,
    "at an end": lambda x: x - 0.1,
}


@pytest.mark.parametrize("width", [2e-12, 1e-3])
@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=list(FUNCTIONS))
def test_a_root_is_that_of_scipy(function, width):
    assert root(function, 0.1, 0.99, width) == brentq(function, 0.1, 0.99, xtol=width)
