"""Paired tests, as in ``evaluatio.inference.hypothesis``; see `evalstats.analysis.paired`.

`x1` and `x2` are finite scores of two systems, segment by segment.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from evalstats.analysis import paired
from evalstats.checks import flag
from evalstats.compat.evaluatio.inference.ci import resamples
from evalstats.resampling.weights import Rng

__all__ = ["paired_bootstrap_test", "paired_permutation_test"]


def paired_bootstrap_test(
    x1: Iterable[float], x2: Iterable[float], iterations: int, *, rng: Rng = 12345
) -> float:
    """Return the two-sided p-value of the centred bootstrap, for two segments or more.

    Examples
    --------
    >>> paired_bootstrap_test([0.9, 0.5, 0.7, 0.8], [0.8, 0.6, 0.6, 0.8], 999) > 0.05
    True
    """
    return paired.centred_bootstrap_test(
        cast(Any, x1), cast(Any, x2), "two-sided", resamples(iterations), rng
    ).pvalue


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
