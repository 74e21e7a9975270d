"""Paired tests, as in ``evaluatio.inference.hypothesis``.

`x1` and `x2` are finite scores of two systems, segment by segment. `evalstats.compare` and
`evalstats.paired_bootstrap_test` correct for few segments, which evaluatio's bootstrap does not.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

import numpy as np

from evalstats.checks import as_paired_scores, flag
from evalstats.compat.evaluatio.inference import paired
from evalstats.compat.evaluatio.inference.ci import resamples
from evalstats.errors import InputError
from evalstats.inference.randomisation import randomization_pvalue, tie_tolerance
from evalstats.resampling.grid import on_grid
from evalstats.resampling.totals import bootstrap_totals
from evalstats.resampling.weights import Rng

__all__ = ["paired_bootstrap_test", "paired_permutation_test"]


def paired_bootstrap_test(
    x1: Iterable[float], x2: Iterable[float], iterations: int, *, rng: Rng = 12345
) -> float:
    """Return the two-sided p-value of the centred bootstrap, for two segments or more.

    (count + 1)/(B + 1) over the resamples in which the mean difference moves by at least as much
    as it lies from 0, ``|Δ* - Δ| >= |Δ|`` (Hall and Wilson, 1991, first guideline).

    Examples
    --------
    >>> paired_bootstrap_test([0.9, 0.5, 0.7, 0.8], [0.8, 0.6, 0.6, 0.8], 999) > 0.05
    True
    """
    n_resamples, pairs = resamples(iterations), as_paired_scores(x1, x2)
    n = len(pairs)
    if n < 2:
        raise InputError(
            f"x1 has {n} score; the bootstrap needs at least two segments to say anything about "
            f"uncertainty"
        )
    columns = on_grid(pairs.T[:, :, None], ["x1 or x2"])[..., 0].T
    sums, totals = np.sum(columns, axis=0), bootstrap_totals(columns, n_resamples, rng)
    difference = float((sums[0] - sums[1]) / n)
    moved = (totals[:, 0] - totals[:, 1]) / n - difference
    tolerance = tie_tolerance(float(np.max(np.abs(sums))) / n, n)
    return randomization_pvalue(difference, moved, tolerance=tolerance)


def paired_permutation_test(
    x1: Iterable[float],
    x2: Iterable[float],
    iterations: int,
    two_tailed: bool = True,
    *,
    exact: bool = False,
    rng: Rng = 12345,
) -> float:
    """Return the p-value of random sign flips; with ``two_tailed=False``, for x1 greater than x2.

    With ``exact=True`` all sign patterns of at most 20 differences are enumerated, none drawn.

    Examples
    --------
    >>> x1, x2 = [0.85, 0.90, 0.78, 0.92, 0.88], [0.80, 0.85, 0.75, 0.88, 0.82]
    >>> paired_permutation_test(x1, x2, 9999, exact=True)
    0.0625
    """
    return paired.paired_permutation_test(
        cast(Any, x1),
        cast(Any, x2),
        alternative="two-sided" if flag(two_tailed, "two_tailed") else "greater",
        exact=flag(exact, "exact"),
        n_resamples=resamples(iterations),
        rng=rng,
    ).pvalue
