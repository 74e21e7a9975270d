"""p-values of approximate randomisation: how often swaps make a difference as large.

The null hypothesis is that the two systems are exchangeable: which of them made which output might
as well have been decided by a coin (Noreen, 1989; Riezler and Maxwell, 2005).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def randomization_pvalue(
    observed: float,
    shuffled: Floats,
    alternative: str = "two-sided",
    tolerance: float = 0.0,
    exact: bool = False,
) -> float:
    """Return the share of swaps after which the difference is at least as extreme.

    Of differences after swaps, `(B,)`. Ties count, up to a tolerance, and so does the observed
    arrangement, (count + 1)/(B + 1) (Phipson and Smyth, 2010); it is among all swaps, of which
    the p-value is `exact`, count/B.
    """
    if alternative == "two-sided":
        observed, shuffled = abs(observed), np.abs(shuffled)
    elif alternative == "less":
        observed, shuffled = -observed, -shuffled
    count = int(np.count_nonzero(shuffled >= observed - tolerance))
    return count / len(shuffled) if exact else (count + 1) / (len(shuffled) + 1)


def tie_tolerance(score: float, n_segments: int) -> float:
    """Return how far differences of scores of this size may lie apart and still be ties.

    A relative distance of 1e-12, and what rounding N statistics to the exact grid may move.
    """
    return (1e-12 + 2.0**-51 * n_segments) * abs(score)


def monte_carlo_error(pvalue: float, n_resamples: int) -> float:
    """Return the standard error of a p-value that B resamples leave, √(p(1-p)/B)."""
    return float(np.sqrt(pvalue * (1 - pvalue) / n_resamples))
