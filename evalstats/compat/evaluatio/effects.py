"""`evaluatio.effect_size.cohen` and `evaluatio.inference.multiple_testing`.

A p-value shrinks as segments are added; an effect size does not. `x1` and `x2` are the scores of
two systems, effects those of x1 against x2: positive where x1 is larger, infinite where nothing
varies, NaN where there is no difference either. Fewer than two scores, other than finite ones, or
p-values outside [0, 1] raise an `InputError`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalstats.checks import as_scores, share
from evalstats.compat.evaluatio.paired import as_paired_scores
from evalstats.errors import InputError
from evalstats.inference.families import holm

Floats = NDArray[np.float64]

#: A standard deviation this small beside the scores is what rounding leaves of none at all.
_NO_SPREAD = 8 * np.finfo(np.float64).eps


def cohens_d(x1: ArrayLike, x2: ArrayLike) -> float:
    r"""Return Cohen's d of two independent samples, which may differ in length.

    .. math:: d = \frac{\bar x_1 - \bar x_2}{s}, \quad
        s^2 = \frac{(n_1 - 1) s_1^2 + (n_2 - 1) s_2^2}{n_1 + n_2 - 2}

    with variances over :math:`n_i - 1` (Cohen, 1988, "Statistical Power Analysis for the
    Behavioral Sciences", section 2.5).

    Examples
    --------
    >>> round(cohens_d([1, 2, 3, 4], [2, 3, 4, 5]), 4)
    -0.7746
    """
    first, second = as_scores(x1, "x1"), as_scores(x2, "x2")
    for scores, name in ((first, "x1"), (second, "x2")):
        if len(scores) < 2:
            raise InputError(f"{name} has 1 score; a standard deviation needs at least two")
    pooled = np.sum((first - np.mean(first)) ** 2) + np.sum((second - np.mean(second)) ** 2)
    spread = np.sqrt(pooled / (len(first) + len(second) - 2))
    difference = np.mean(first) - np.mean(second)
    return _standardised(float(difference), float(spread), first, second)


#: evaluatio's name for it.
cohens_d_independent = cohens_d


def cohens_d_paired(x1: ArrayLike, x2: ArrayLike) -> float:
    r"""Return Cohen's d of two systems' scores on the same segments.

    .. math:: d_z = \bar d / s_d, \quad d_i = x_{1i} - x_{2i}

    with the variance over N - 1 (Cohen, 1988, section 2.3.5). Not on the scale of `cohens_d`: what
    the systems find hard together cancels.

    Examples
    --------
    >>> cohens_d_paired([1, 2, 3, 4], [0, 3, 4, 5])
    -0.5
    """
    pairs = as_paired_scores(x1, x2)
    if len(pairs) < 2:
        raise InputError("x1 has 1 score; a standard deviation needs at least two")
    differences = pairs[:, 0] - pairs[:, 1]
    spread = float(np.std(differences, ddof=1))
    return _standardised(float(np.mean(differences)), spread, *pairs.T)


def _standardised(difference: float, spread: float, *scores: Floats) -> float:
    """Divide a difference by a standard deviation, either of which may be rounding alone."""
    rounding = _NO_SPREAD * max(float(np.max(np.abs(x))) for x in scores)
    if spread > rounding:
        return difference / spread
    return float(np.copysign(np.inf, difference)) if abs(difference) > rounding else float("nan")


@dataclass
class MultipleTestingResult:
    """Adjusted p-values, and which of them are at most `alpha`, the family-wise error rate."""

    rejected: NDArray[np.bool_]
    adjusted_pvalues: Floats
    method: str
    alpha: float


def holm_correction(pvalues: Iterable[float], alpha: float = 0.05) -> MultipleTestingResult:
    """Adjust by Holm's (1979) step-down method."""
    return _corrected(pvalues, alpha, holm, "holm")


def bonferroni_correction(pvalues: Iterable[float], alpha: float = 0.05) -> MultipleTestingResult:
    """Multiply by the number of tests (Dunn, 1961)."""
    return _corrected(pvalues, alpha, lambda p: np.minimum(p * p.size, 1.0), "bonferroni")


def _corrected(
    pvalues: Iterable[float], alpha: float, adjust: Callable[[Floats], Floats], method: str
) -> MultipleTestingResult:
    given = pvalues if isinstance(pvalues, np.ndarray) else list(pvalues)
    # No tests are no error: a script's list may be empty.
    p = as_scores(given, "pvalues") if len(given) else np.empty(0)
    outside = np.flatnonzero((p < 0) | (p > 1))
    if len(outside):
        raise InputError(f"pvalues[{outside[0]}] must be between 0 and 1, got {p[outside[0]]:g}")
    level, adjusted = share(alpha, "alpha"), adjust(p)
    return MultipleTestingResult(adjusted <= level, adjusted, method, level)
