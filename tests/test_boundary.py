"""The level of dependent looks: what a run spends together."""

import numpy as np
import pytest
from scipy import stats

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


def test_the_first_look_has_the_level_that_it_may_spend():
    influence = np.random.default_rng(0).normal(size=300)
    (level,) = levels([influence], 20)
    assert level == pytest.approx(spent_by(1, 0.05, 20), abs=2 / 2**15)


def test_equal_looks_cost_nothing():
    """The same step again cannot claim anything new: the whole level goes to one look."""
    influence = np.random.default_rng(0).normal(size=300)
    found = levels([influence] * 20, 20)
    assert found[-1] == pytest.approx(spent_by(20, 0.05, 20), abs=2 / 2**15)


def test_independent_looks_cost_what_they_spend():
    rng = np.random.default_rng(2)
    found = levels(list(rng.normal(size=(20, 400))), 20)
    assert np.all(found < 1.5 * 0.05 * 0.9 / 20)
    assert np.sum(found) == pytest.approx(0.045, abs=0.004)


def first_claim(rng, n_before, n_after, jump=0.0):
    """The first look that is an improvement, or none: jumps are in standard errors."""
    best, boundary = rng.normal(size=100), Boundary.start()
    for j in range(1, n_before + n_after + 1):
        change = rng.normal(size=100) - best
        moved = change + jump * (j > n_before) * np.sqrt(2 / 100)
        level, boundary = boundary.look(moved, spent_by(j, 0.05, 50), 1)
        if stats.ttest_1samp(moved, 0, alternative="greater").pvalue <= level:
            return j
    return None


@pytest.mark.thorough
def test_a_plateau_seldom_claims_an_improvement():
    """300 runs of 20 looks at 0.018: more than 14 claims have probability < 0.001 (seed 7)."""
    rng = np.random.default_rng(7)
    assert sum(first_claim(rng, 20, 0) is not None for _ in range(300)) <= 14


@pytest.mark.thorough
def test_a_jump_after_a_plateau_is_found():
    """2.17 standard errors after 30 looks: 0.65 within ten; fewer than 48 of 100: 0.0003."""
    rng = np.random.default_rng(8)
    found = [first_claim(rng, 30, 10, 2.17) for _ in range(100)]
    assert sum(at is not None and at > 30 for at in found) >= 48


def test_segments_that_all_moved_alike_spend_nothing():
    level, boundary = Boundary.start().look(np.zeros(9), 0.01, 1)
    assert level == pytest.approx(0.01, abs=1 / 2**15)
    assert boundary.surviving.all()
