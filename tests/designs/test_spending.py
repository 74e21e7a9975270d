"""The level of each look: published bounds, the normal distribution, and what is refused."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri
from scipy.stats import multivariate_normal

from evalstats.designs import spending as looks
from evalstats.designs.spending import NormalLooks, levels
from tests.helpers import cases, refuses


def bounds(found):
    return (-ndtri(found)).round(4).tolist()


@cases(
    (2, 0.025, "obrien-fleming", [2.9626, 1.9686]),
    (5, 0.025, "pocock", [2.4380, 2.4268, 2.4102, 2.3966, 2.3860]),
    (8, 0.05, "obrien-fleming", [5.4210, 3.7496, 3.0019, 2.5664, 2.2768, 2.0672, 1.9065, 1.7783]),
)
def test_levels_are_those_of_lan_and_demets(n, alpha, spending, expected):
    assert bounds(levels(np.arange(1, n + 1) / n, alpha, spending)) == expected


@pytest.mark.parametrize(
    ("n", "shape", "constant"),
    [(2, 0.0, 2.178), (5, 0.0, 2.413), (10, 0.0, 2.555)]
    + [(2, 0.5, 1.977), (5, 0.5, 2.040), (10, 0.5, 2.087)],
)
def test_constants_of_jennison_and_turnbull(n, shape, constant):
    """Tables 2.1 and 2.3 of their book (2000): bounds C·(K/k)^shape spend .025 on one side."""
    spent, so_far = 0.0, NormalLooks()
    for k in range(1, n + 1):
        wanted = ndtr(-constant * (n / k) ** shape)

        def excess(total, k=k, wanted=wanted, so_far=so_far):
            return so_far.arriving(k / n).spending(total)[0] - wanted

        spent = brentq(excess, spent + 1e-12, spent + wanted + 1e-12, xtol=1e-10)
        _, so_far = so_far.arriving(k / n).spending(spent)
    # Constants have three decimals, and half of the last is so much.
    assert spent == pytest.approx(0.025, abs=5e-5)


def test_levels_of_any_times_and_any_function_are_those_of_the_normal_distribution():
    at, alpha = np.array([0.2, 0.26, 0.7, 1.0]), 0.04
    found = levels(at, alpha, lambda t: t**2)
    covariance = np.sqrt(np.minimum.outer(at, at) / np.maximum.outer(at, at))
    for j in (2, 4):
        normal = multivariate_normal(cov=covariance[:j, :j], seed=1)
        # Older SciPy takes them as attributes only.
        normal.abseps, normal.releps = 1e-6, 0.0
        assert 1 - normal.cdf(-ndtri(found[:j])) == pytest.approx(alpha * at[j - 1] ** 2, abs=5e-6)


def test_a_look_that_may_spend_nothing_has_no_level_and_later_ones_have_all():
    found = levels([0.5, 1.0], 0.05, lambda t: float(t >= 1))
    assert found[0] == 0
    assert found[1] == pytest.approx(0.05, abs=1e-9)


@cases(
    ([], {"spending": "haybittle"}, None),
    ([0.5], {"spending": "haybittle"}, "spending must be 'obrien-fleming', 'pocock' or a"),
    ([0.5, 0.5], {}, "fractions must be numbers above 0, each larger than the previous one,"),
    ([0.0, 1.0], {}, "fractions must be numbers above 0"),
    ([[0.5]], {}, "fractions must be numbers above 0"),
    (["half"], {}, "fractions must be numbers above 0"),
    ([0.5], {"alpha": 0.6}, "alpha must be between 0 and 0.5, got 0.6"),
    ([0.5], {"spending": lambda t: 2.0}, "spending must return a share of the level from 0 to 1"),
)
def test_bad_plans_are_refused(fractions, options, message):
    asked = {"alpha": 0.05, **options}
    if message is None:
        assert levels(fractions, **asked).size == 0
        return
    refuses(message, levels, fractions, **asked)


def test_the_sequence_is_its_radius_and_its_pvalue_its_dual():
    """Waudby-Smith et al.: one-sided, σ√(2(nρ² + 1)/(n²ρ²)·ln(1 + √(nρ² + 1)/(2α)))."""
    n, alpha, log = 80, 0.03, -2 * np.log(2 * 0.03)
    rho2 = (log + np.log1p(log)) / 200
    scale = np.sqrt(n * rho2 + 1)
    radius = np.sqrt(2 * scale**2 / (n**2 * rho2) * np.log1p(scale / (2 * alpha)))
    level = looks.sequence_level(n, alpha, 200)
    assert -ndtri(level) / np.sqrt(n) == pytest.approx(radius)
    assert looks.sequence_pvalue(level, n, alpha, 200) == pytest.approx(alpha)
    assert looks.sequence_pvalue(0.7, n, alpha, 200) == 1
    assert looks.sequence_pvalue(0.0, n, alpha, 200) < 1e-300


def walks(n_runs, at, seed):
    """Return one-sided p-values of sums of normal numbers at each look, `(n_runs, J)`."""
    steps = np.random.default_rng(seed).normal(size=(n_runs, at[-1]))
    return ndtr(-np.cumsum(steps, axis=1)[:, np.array(at) - 1] / np.sqrt(at))


def test_a_sequence_is_seldom_wrong_however_often_one_looks():
    """4,000 runs of 100 looks; were the rate .05 it would be above .064 with probability 4e-5."""
    at = np.arange(1, 101) * 5
    level = [looks.sequence_level(n, 0.05, 200) for n in at]
    assert 0.005 < np.mean((walks(4000, at, 2) <= level).any(axis=1)) < 0.064
    assert np.mean((walks(4000, at, 2) <= 0.05).any(axis=1)) > 0.2


def test_conditional_power_is_how_often_the_last_look_passes():
    """By drawing the rest: 40,000 draws, outside ± .01 with probability 7e-5."""
    z, t, last = 1.2, 0.4, 0.03
    drift, rest = z / np.sqrt(t), np.random.default_rng(3).normal(size=40_000)
    end = z * np.sqrt(t) + drift * (1 - t) + np.sqrt(1 - t) * rest
    found = looks.conditional_power(float(ndtr(-z)), t, last)
    assert np.mean(end >= -ndtri(last)) == pytest.approx(found, abs=0.01)


def test_a_rule_may_ask_the_looks_so_far(monkeypatch):
    """Haybittle and Peto's: every look before the last has the level of 3 standard errors.

    What that spends depends on the looks so far; the last has what is left, by `scipy.stats`.
    """

    def haybittle_peto(so_far, fraction, alpha):
        return so_far.spent + so_far.beyond(3.0)

    monkeypatch.setitem(looks.SPENDING, "haybittle-peto", haybittle_peto)
    at = np.array([0.25, 0.5, 0.6, 1.0])
    found = -ndtri(levels(at, 0.025, "haybittle-peto"))
    assert found[:3] == pytest.approx([3.0, 3.0, 3.0], abs=1e-7)
    normal = multivariate_normal(cov=np.sqrt(np.minimum.outer(at, at) / np.maximum.outer(at, at)))
    normal.abseps, normal.releps = 1e-6, 0.0
    assert 1 - normal.cdf(found) == pytest.approx(0.025, abs=5e-6)
    # Of a run's looks, whose distribution is drawn, as of a test's.
    draws = np.random.default_rng(1).normal(size=looks.N_DRAWS)
    level, so_far = looks.next_look(looks.DrawnLooks(), 0.5, 0.025, "haybittle-peto", draws)
    assert level == pytest.approx(np.mean(draws > 3), rel=1e-4)
    assert (so_far.n, so_far.spent) == (1, np.mean(draws > 3))
