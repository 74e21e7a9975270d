"""Tests for a run that looks again and again for something better than the best so far.

Two parts. The p-value of one look costs one pass over the statistics. How much of the significance
level each look may spend is fixed in advance, so that all looks of a run together spend no more
than the whole of it.
"""

from __future__ import annotations

from math import ldexp

import numpy as np
from numpy.typing import NDArray

from evalstats.errors import InputError
from evalstats.metrics import Metric


def spent_level(look: int, significance_level: float, expected_looks: int) -> float:
    """Return the level that look number j = 1, 2, ... may spend, αH/((H+j-1)(H+j)).

    The sum over the first J looks is αJ/(H+J): half of α for the H looks that are expected, and
    less than α for any number of them, so that nobody needs to know when the run will end. Where
    each look holds its level, Bonferroni's inequality bounds the false claims of the whole run
    by α (an alpha-spending rule; Foster and Stine, 2008).

    Examples
    --------
    >>> [round(spent_level(j, 0.05, 20), 5) for j in (1, 20, 50)]
    [0.00238, 0.00064, 0.00021]
    """
    h = expected_looks
    return significance_level * h / ((h + look - 1) * (h + look))


def improvement_pvalue(
    metric: Metric, best: NDArray[np.float64], new: NDArray[np.float64]
) -> float:
    """Return the one-sided p-value of "the new rows score no better", two tables `(N, k)`.

    The paired t test of what each segment contributes to the difference, ∇f(T)·(new_i - best_i),
    the gradient being that at the mean T of both totals, where the two would be if they were
    equal. Under the null hypothesis that the two are exchangeable segment by segment, which is
    that of approximate randomisation, these contributions are symmetric about zero; for symmetric
    contributions the tails of t tend to be lighter than they are for normal ones, whatever the
    distribution, so that the test errs on the safe side (Efron, 1969). No p-value is below 2^-n
    for n segments that differ, the smallest that swapping them can give.

    Identical statistics give exactly 1.

    Raises
    ------
    InputError
        Where the gradient is not finite.
    """
    from scipy.special import stdtr

    n_segments = len(best)
    n_differing = int(np.count_nonzero(np.any(best != new, axis=1)))
    if n_differing == 0:
        return 1.0
    gradient = metric.gradient((np.sum(best, axis=0) + np.sum(new, axis=0)) / 2)
    contributions = np.subtract(new, best, dtype=np.float64) @ gradient
    if not np.all(np.isfinite(contributions)):
        raise InputError(
            f"the gradient of {metric.name} is not finite; define the score for every total, for "
            f"example where a denominator is 0"
        )
    if not metric.higher_is_better:
        contributions = -contributions
    mean = float(np.mean(contributions))
    error = float(np.std(contributions, ddof=1)) / n_segments**0.5
    # Every segment moved by the same amount: only their number says how sure that is.
    tail = float(stdtr(n_segments - 1, -mean / error)) if error > 0 else float(mean <= 0)
    return max(tail, ldexp(1.0, -n_differing))
