"""Turn replicates of a difference into p-values.

Every function takes the observed difference and differences under resampling, `(B,)`, and returns
one p-value. The two calibrated tests:

- *Approximate randomisation* (Noreen, 1989) asks how often a difference this large arises when the
  two systems' outputs are swapped at random, segment by segment. Its null hypothesis: the systems
  are exchangeable.
- The *centred paired bootstrap* (Hall and Wilson, 1991; Riezler and Maxwell, 2005) asks how often
  resampling the segments moves the difference by as much as it lies from zero. Its null
  hypothesis: the difference on the population of segments is zero.

Both count ties (`>=`) and the observed arrangement itself, (count + 1)/(B + 1), without which a
test rejects too often (Phipson and Smyth, 2010). The other functions reproduce what other tools
print; their docstrings say what those numbers are.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evalstats.errors import InputError

Floats = NDArray[np.float64]

ALTERNATIVES = ("two-sided", "greater", "less")


def count_as_extreme(
    observed: float, null: Floats, alternative: str, tolerance: float = 0.0
) -> int:
    """Count the null differences that are at least as extreme as the observed one.

    Parameters
    ----------
    observed : float
        Difference between the two systems.
    null : ndarray, shape (B,)
        Differences under the null hypothesis, centred at zero.
    alternative : {"two-sided", "greater", "less"}
        Which differences are extreme.
    tolerance : float
        Differences this close to the observed one are ties: equal sums of integers may give
        scores that differ in the last bit.
    """
    if alternative == "greater":
        return int(np.count_nonzero(null >= observed - tolerance))
    if alternative == "less":
        return int(np.count_nonzero(null <= observed + tolerance))
    if alternative != "two-sided":
        raise InputError(
            f"alternative must be one of {', '.join(ALTERNATIVES)}; got {alternative!r}"
        )
    return int(np.count_nonzero(np.abs(null) >= abs(observed) - tolerance))


def tie_tolerance(score: float, n_segments: int) -> float:
    """Return how far differences of scores of this size may lie apart and still be ties.

    A relative distance of 1e-12, and what rounding N statistics to the exact grid may move.
    """
    return (1e-12 + 2.0**-51 * n_segments) * abs(score)


def randomization_pvalue(
    observed: float, shuffled: Floats, alternative: str = "two-sided", tolerance: float = 0.0
) -> float:
    """Return (count + 1)/(B + 1) over differences after random swaps."""
    count = count_as_extreme(observed, shuffled, alternative, tolerance)
    return (count + 1) / (len(shuffled) + 1)


def exact_randomization_pvalue(
    observed: float, shuffled: Floats, alternative: str = "two-sided", tolerance: float = 0.0
) -> float:
    """Return count/2^n over the differences after all swaps, the observed one among them."""
    return count_as_extreme(observed, shuffled, alternative, tolerance) / len(shuffled)


def centred_bootstrap_pvalue(
    observed: float, replicates: Floats, alternative: str = "two-sided", tolerance: float = 0.0
) -> float:
    """Return (count + 1)/(B + 1) over bootstrap differences moved to the null hypothesis.

    ``|Δ* - Δ| >= |Δ|`` for the two-sided test (Hall and Wilson, 1991, first guideline).
    """
    count = count_as_extreme(observed, replicates - observed, alternative, tolerance)
    return (count + 1) / (len(replicates) + 1)


def expanded_pvalue(pvalue: float, n_segments: int, alternative: str = "two-sided") -> float:
    """Return a bootstrap p-value with the correction that the expanded percentile interval has.

    Replicates spread too little by the factor √((n-1)/n), and normal tails are too short where t
    tails are due: p = 2 T_{n-1}(√((n-1)/n) Φ⁻¹(p*/2)) (after Hesterberg, 2015), without the twos
    for a one-sided test. A p-value of 1 stays 1.
    """
    factor = float(np.sqrt(n_segments / (n_segments - 1)))
    return widened_pvalue(pvalue, factor, n_segments - 1, alternative)


def widened_pvalue(
    pvalue: float, factor: float, degrees_of_freedom: float, alternative: str = "two-sided"
) -> float:
    """Return the same where replicates spread too little by 1/factor."""
    from scipy.special import ndtri, stdtr

    sides = 2 if alternative == "two-sided" else 1
    tail = min(pvalue / sides, 1.0)
    if tail >= 1:
        return 1.0
    return float(min(1.0, sides * stdtr(degrees_of_freedom, float(ndtri(tail)) / factor)))


def student_t_pvalue(t: float, degrees_of_freedom: float, alternative: str = "two-sided") -> float:
    """Return the p-value of a difference over its standard error, t with so many degrees."""
    from scipy.special import stdtr

    if alternative == "two-sided":
        return float(2 * stdtr(degrees_of_freedom, -abs(t)))
    return float(stdtr(degrees_of_freedom, -t if alternative == "greater" else t))


def monte_carlo_error(pvalue: float, n_resamples: int) -> float:
    """Return the standard error of a p-value that B resamples leave, √(p(1-p)/B)."""
    return float(np.sqrt(pvalue * (1 - pvalue) / n_resamples))


def reversal_pvalue(observed: float, replicates: Floats) -> float:
    """Return how often the worse system is at least as good, (count + 1)/(B + 1).

    Koehn (2004), as evaluatio 0.5 computes it. One-sided in a direction that was chosen from the
    data: under a true null hypothesis it falls below 0.05 about 10 % of the time.
    """
    # The better system is the first when the observed difference (second - first) is not positive.
    direction = 1.0 if observed > 0 else -1.0
    count = int(np.count_nonzero(direction * replicates <= 0))
    return (count + 1) / (len(replicates) + 1)


def moses_bootstrap_pvalue(observed: float, replicates: Floats) -> float:
    """Return the p-value of sacreBLEU's `--paired-bs`.

    ``|Δ*|`` minus its own mean, compared with ``|Δ|`` by ``>``. The absolute value comes before the
    centring, which makes the test one-sided in effect: it rejects about 10 % of true null
    hypotheses at 0.05, and calls identical systems different with p = 1/(B + 1).
    """
    folded = np.abs(replicates)
    count = int(np.count_nonzero(folded - np.mean(folded) > abs(observed)))
    return (count + 1) / (len(replicates) + 1)


def strict_randomization_pvalue(observed: float, shuffled: Floats) -> float:
    """Return the p-value of sacreBLEU's `--paired-ar`.

    Compares by `>`: ties count as evidence, and identical systems get p = 1/(B + 1).
    """
    count = int(np.count_nonzero(np.abs(shuffled) > abs(observed)))
    return (count + 1) / (len(shuffled) + 1)
