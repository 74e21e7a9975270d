"""Adjusted p-values equal SciPy's, and the definitions where SciPy has none."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evalstats.inference import multiplicity

pvalues = st.lists(st.floats(0, 1), min_size=1, max_size=30)


@given(pvalues)
def test_benjamini_hochberg_is_scipys(p):
    expected = stats.false_discovery_control(p)
    np.testing.assert_allclose(multiplicity.benjamini_hochberg(p), expected, rtol=1e-12)


@given(pvalues)
def test_holm_by_its_definition(p):
    """Reject the smallest while p_(i) <= α/(m - i): the adjusted value is the smallest such α."""
    adjusted = multiplicity.holm(p)
    order = np.argsort(p, kind="stable")
    worst = 0.0
    for i, j in enumerate(order):
        worst = max(worst, min(1.0, (len(p) - i) * p[j]))
        assert adjusted[j] == worst


@given(st.lists(st.tuples(st.integers(0, 4), st.floats(0, 1)), min_size=1, max_size=20))
def test_holm_over_parts_by_its_definition(rows):
    """At any level: reject p <= level / (parts that are left), until nothing more is rejected."""
    parts, p = np.array([part for part, _ in rows]), np.array([p for _, p in rows])
    adjusted = multiplicity.holm_over(parts, p)
    for level in (0.01, 0.05, 0.2, *adjusted[adjusted < 1]):
        left = np.ones(len(p), dtype=bool)
        while True:
            found = left & (p * len(set(parts[left].tolist())) <= level)
            if not found.any():
                break
            # One at a time, the smallest first.
            left[np.flatnonzero(left)[np.argmin(p[left])]] = False
        np.testing.assert_array_equal(adjusted <= level, ~left)
    np.testing.assert_array_equal(multiplicity.holm_over(np.zeros(len(p)), p), p)
    np.testing.assert_array_equal(
        multiplicity.holm_over(np.arange(len(p)), p), multiplicity.holm(p)
    )


@given(pvalues)
def test_bonferroni_and_the_order_of_the_methods(p):
    bonferroni = multiplicity.bonferroni(p)
    np.testing.assert_array_equal(bonferroni, np.minimum(np.array(p) * len(p), 1))
    assert np.all(multiplicity.holm(p) <= bonferroni)
    assert np.all(multiplicity.holm(p) >= p)
    assert np.all(multiplicity.benjamini_hochberg(p) <= multiplicity.holm(p) + 1e-15)


def test_a_worked_example_and_no_change_of_the_input():
    # Holm's example as evaluatio documents it, with the values it should have.
    p = np.array([0.04, 0.03, 0.01, 0.09, 0.02])
    before = p.copy()
    assert multiplicity.holm(p) == pytest.approx([0.09, 0.09, 0.05, 0.09, 0.08])
    assert multiplicity.unadjusted(p) is not p
    np.testing.assert_array_equal(p, before)
