"""p-values of approximate randomisation: how often swaps make a difference as large.

The null hypothesis is that the two systems are exchangeable: which of them made which output might
as well have been decided by a coin (Noreen, 1989; Riezler and Maxwell, 2005). Ties count, and so
does the observed arrangement itself, (count + 1)/(B + 1), without which a test rejects too often
(Phipson and Smyth, 2010).
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


def monte_carlo_error(pvalue: float, n_resamples: int) -> float:
    """Return the standard error of a p-value that B resamples leave, √(p(1-p)/B)."""
    return float(np.sqrt(pvalue * (1 - pvalue) / n_resamples))
