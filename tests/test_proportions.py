"""Intervals and tests of 0/1 scores, against SciPy, the score equation and exact enumeration."""

import numpy as np
import pytest
from evalstats.inference.proportions import mcnemar_pvalue, tango, wilson
from scipy import optimize, stats

from evalstats.errors import InputError


@pytest.mark.parametrize("n", [1, 2, 10, 137])
@pytest.mark.parametrize("level", [0.8, 0.95, 0.999])
def test_wilson_is_scipys(n, level):
    for k in {0, 1, n // 2, n}:
        interval = stats.binomtest(k, n).proportion_ci(level, method="wilson")
        assert wilson(k, n, level) == pytest.approx(tuple(interval), abs=1e-12)


@pytest.mark.parametrize("gained, lost, n", [(7, 3, 40), (1, 0, 10), (12, 2, 50), (40, 9, 50)])
def test_tango_bounds_solve_the_score_equation(gained, lost, n):
    """The restricted maximum of the likelihood comes from an optimiser here, not from the formula."""

    def likelihood(lost_share, difference):
        cells = np.array([lost_share + difference, lost_share, 1 - 2 * lost_share - difference])
        counts = np.array([gained, lost, n - gained - lost])
        return -np.sum(counts[counts > 0] * np.log(np.maximum(cells[counts > 0], 1e-300)))

    for difference in tango(gained, lost, n, 0.95):
        low, high = max(0.0, -difference), (1 - difference) / 2
        found = optimize.minimize_scalar(
            likelihood, (low, high), (low, high), args=(difference,), method="bounded",
            options={"xatol": 1e-12},
        )  # fmt: skip
        variance = n * (2 * found.x + difference * (1 - difference))
        z = (gained - lost - n * difference) / np.sqrt(variance)
        assert abs(z) == pytest.approx(stats.norm.ppf(0.975), rel=1e-4)


def test_tango_agrees_with_mcnemars_test_at_zero():
    # The score test of Δ = 0 is (b - c)²/(b + c).
    for gained in range(15):
        for lost in range(15 - gained):
            low, high = tango(gained, lost, 40, 0.95)
            z = abs(gained - lost) / max(1, gained + lost) ** 0.5
            assert (low > 0 or high < 0) == (z > stats.norm.ppf(0.975))


def test_tango_at_the_ends_and_mirrored():
    assert tango(5, 0, 5, 0.95)[1] == 1.0
    assert tango(0, 5, 5, 0.95)[0] == -1.0
    for b, c, n in [(3, 1, 9), (0, 0, 4), (2, 0, 30)]:
        low, high = tango(b, c, n, 0.9)
        assert (-high, -low) == pytest.approx(tango(c, b, n, 0.9), abs=1e-9)
        assert low < (b - c) / n < high


@pytest.mark.parametrize("p_gained, p_lost", [(0.02, 0.02), (0.05, 0.02), (0.2, 0.1), (0.1, 0.0)])
@pytest.mark.parametrize("n", [10, 30, 100])
def test_tango_covers_by_exact_enumeration(n, p_gained, p_lost):
    covered = 0.0
    for b in range(n + 1):
        here = stats.binom.pmf(b, n, p_gained)
        for c in range(n - b + 1):
            probability = here * stats.binom.pmf(c, n - b, p_lost / (1 - p_gained))
            if probability > 1e-7:
                low, high = tango(b, c, n, 0.95)
                covered += probability * (low <= p_gained - p_lost <= high)
    assert covered > 0.93


def test_mcnemar_is_the_sign_test():
    for gained in range(9):
        for lost in range(9):
            if gained + lost:
                for alternative in ("two-sided", "greater", "less"):
                    expected = stats.binomtest(gained, gained + lost, 0.5, alternative).pvalue
                    assert mcnemar_pvalue(gained, lost, alternative) == pytest.approx(expected)
    assert mcnemar_pvalue(0, 0) == 1.0
    assert mcnemar_pvalue(0, 0, mid=True) == 1.0


def test_mid_p_is_the_p_value_less_half_the_observed_split():
    for gained, lost in [(8, 1), (1, 8), (3, 3), (0, 5)]:
        n = gained + lost
        split = stats.binom.pmf(gained, n, 0.5)
        mid = mcnemar_pvalue(gained, lost, "greater", mid=True)
        assert mid == pytest.approx(mcnemar_pvalue(gained, lost, "greater") - split / 2)
    assert mcnemar_pvalue(3, 3, mid=True) == 1.0


def test_an_unknown_alternative_is_refused():
    with pytest.raises(InputError, match=r"alternative must be one of .*; got .larger."):
        mcnemar_pvalue(1, 2, "larger")
