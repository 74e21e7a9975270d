"""The level of dependent looks: what a run spends together."""

import numpy as np
import pytest

from evalstats.training.boundary import Boundary, spent_by


def test_no_number_of_looks_spends_more_than_the_level():
    spent = [spent_by(j, 0.05, 20) for j in range(1, 2000)]
    assert np.all(np.diff(spent) > 0)
    assert spent[19] == pytest.approx(0.045)
    assert spent[-1] < 0.05


def levels(looks, expected, seed=1):
    boundary, found = Boundary.start(), []
    for j, influence in enumerate(looks, start=1):
        level, boundary = boundary.look(influence, spent_by(j, 0.05, expected), seed)
        found.append(level)
    return np.array(found)


def test_equal_looks_cost_nothing():
    """The same step again cannot claim anything new: the whole level goes to one look."""
    influence = np.random.default_rng(0).normal(size=300)
    found, spent = levels([influence] * 9, 9), [spent_by(j, 0.05, 9) for j in (1, 9)]
    assert found[[0, -1]] == pytest.approx(spent, abs=2 / 2**15)


def test_independent_looks_cost_what_they_spend():
    rng = np.random.default_rng(2)
    found = levels(list(rng.normal(size=(9, 400))), 9)
    assert np.all(found < 1.5 * 0.05 * 0.9 / 9)
    assert np.sum(found) == pytest.approx(0.045, abs=0.004)


def test_segments_that_all_moved_alike_spend_nothing():
    level, boundary = Boundary.start().look(np.zeros(9), 0.01, 1)
    assert level == pytest.approx(0.01, abs=1 / 2**15)
    assert boundary.surviving.all()


def test_no_look_is_without_a_level():
    """After a thousand checks less than one sign flip is due, and a clear step is still seen."""
    spent = [spent_by(j, 0.05, 50) for j in (1000, 1001)]
    influence = np.random.default_rng(0).normal(size=50)
    level, _ = Boundary.start(spent[0]).look(influence, spent[1], 1)
    assert 0 < level < 1e-9
