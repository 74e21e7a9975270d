"""Effect sizes, as in ``evaluatio.effect_size.cohen``: differences in standard deviations.

A p-value shrinks as segments are added; an effect size does not. Both functions take the scores
of two systems and return x1 against x2: positive where x1 is larger.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalstats.checks import as_paired_scores, as_scores
from evalstats.errors import InputError

__all__ = ["cohens_d", "cohens_d_independent", "cohens_d_paired"]

#: A standard deviation this small beside the scores is what rounding leaves of none at all.
_NO_SPREAD = 8 * np.finfo(np.float64).eps


def cohens_d(x1: ArrayLike, x2: ArrayLike) -> float:
    r"""Return Cohen's d of two independent samples.

    .. math:: d = \frac{\bar x_1 - \bar x_2}{s}, \quad
        s^2 = \frac{(n_1 - 1) s_1^2 + (n_2 - 1) s_2^2}{n_1 + n_2 - 2}

    with the variances :math:`s_i^2` over :math:`n_i - 1` (Cohen, 1988, "Statistical Power Analysis
    for the Behavioral Sciences", 2nd edition, section 2.5).

    Parameters
    ----------
    x1, x2 : array_like of float, shapes (N1,) and (N2,)
        At least two finite scores each; the lengths may differ.

    Returns
    -------
    float
        In standard deviations. Without any spread it is infinite, with the sign of the
        difference, or NaN where the means are equal too: 0/0 has no size.

    Raises
    ------
    InputError
        For fewer than two scores, NaN or infinity, or another shape.

    Examples
    --------
    >>> round(cohens_d([1, 2, 3, 4], [2, 3, 4, 5]), 4)
    -0.7746
    """
    first, second = as_scores(x1, "x1"), as_scores(x2, "x2")
    for scores, name in ((first, "x1"), (second, "x2")):
        _check_enough(len(scores), name)
    pooled = np.sum((first - np.mean(first)) ** 2) + np.sum((second - np.mean(second)) ** 2)
    spread = np.sqrt(pooled / (len(first) + len(second) - 2))
    difference = np.mean(first) - np.mean(second)
    return _standardised(float(difference), float(spread), first, second)


#: evaluatio's name for it.
cohens_d_independent = cohens_d


def cohens_d_paired(x1: ArrayLike, x2: ArrayLike) -> float:
    r"""Return Cohen's d of two systems' scores on the same segments.

    .. math:: d_z = \bar d / s_d, \quad d_i = x_{1i} - x_{2i}

    with the standard deviation of the differences over N - 1 (Cohen, 1988, section 2.3.5; Lakens,
    2013, "Calculating and reporting effect sizes to facilitate cumulative science", equation 6).
    Not on the scale of `cohens_d`: what the systems find hard together cancels.

    Parameters
    ----------
    x1, x2 : array_like of float, shape (N,)
        At least two finite scores, segment by segment.

    Returns
    -------
    float
        In standard deviations of the differences. Where all differences are equal it is infinite,
        or NaN where they are all 0.

    Raises
    ------
    InputError
        For differing lengths, fewer than two scores, NaN or infinity, or another shape.

    Examples
    --------
    >>> cohens_d_paired([1, 2, 3, 4], [0, 3, 4, 5])
    -0.5
    """
    pairs = as_paired_scores(x1, x2)
    _check_enough(len(pairs), "x1")
    differences = pairs[:, 0] - pairs[:, 1]
    spread = float(np.std(differences, ddof=1))
    return _standardised(float(np.mean(differences)), spread, *pairs.T)


def _check_enough(n: int, name: str) -> None:
    if n < 2:
        raise InputError(f"{name} has {n} score; a standard deviation needs at least two")


def _standardised(difference: float, spread: float, *scores: NDArray[np.float64]) -> float:
    """Divide a difference by a standard deviation, either of which may be rounding alone."""
    rounding = _NO_SPREAD * max(float(np.max(np.abs(x))) for x in scores)
    if spread > rounding:
        return difference / spread
    return float(np.copysign(np.inf, difference)) if abs(difference) > rounding else float("nan")
