"""The level of dependent looks: what a run spends together."""

import json

import numpy as np
import pytest
from scipy import stats

from evalstats.errors import InputError
from evalstats.training.boundaries import Boundary, spent_by


def test_no_number_of_looks_spends_more_than_the_level():
    spent = [spent_by(j, 0.05, 20) for j in range(1, 2000)]
    assert np.all(np.diff(spent) > 0)
    assert spent[19] == pytest.approx(0.045)
    assert spent[-1] < 0.05


def levels(looks, expected, seed=1):
    boundary, found = Boundary.opened(), []
    for j, influence in enumerate(looks, start=1):
        level, boundary = boundary.entered(influence, spent_by(j, 0.05, expected), seed)
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


@pytest.mark.thorough
def test_a_plateau_seldom_claims_an_improvement():
    """300 runs of 20 looks at 0.05: more than 28 claims have probability < 0.001 (seed 7)."""
    rng, claims = np.random.default_rng(7), 0
    for _ in range(300):
        best = rng.normal(size=100)
        boundary, t_of = Boundary.opened(), 10.0
        for j in range(1, 21):
            change = rng.normal(size=100) - best
            t = t_of * change.mean() / change.std(ddof=1)
            level, boundary = boundary.entered(change, spent_by(j, 0.05, 20), 1)
            if stats.t.sf(t, 99) <= level:
                claims += 1
                break
    assert claims <= 28


def test_it_goes_on_from_its_dictionary():
    rng = np.random.default_rng(3)
    first, second = rng.normal(size=(2, 50))
    _, boundary = Boundary.opened(0.01).entered(first, 0.02, 5)
    again = Boundary.from_dict(json.loads(json.dumps(boundary.to_dict())))
    assert again.entered(second, 0.03, 5)[0] == boundary.entered(second, 0.03, 5)[0]
    assert np.array_equal(again.alive, boundary.alive)
    with pytest.raises(InputError, match="must be what to_dict returned"):
        Boundary.from_dict({"alive": "00", "before": 0.0})


def test_no_difference_has_no_level():
    level, boundary = Boundary.opened().entered(np.zeros(9), 0.01, 1)
    assert level == 0.0
    assert boundary.alive.all()
