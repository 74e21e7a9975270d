"""Corrections for multiple testing, as in ``evaluatio.inference.multiple_testing``.

P-values lie in [0, 1]; an empty list has an empty result, and NaN raises an `InputError`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evalstats.checks import as_scores, share
from evalstats.errors import InputError
from evalstats.inference.families import holm

__all__ = ["MultipleTestingResult", "bonferroni_correction", "holm_correction"]

Floats = NDArray[np.float64]


@dataclass
class MultipleTestingResult:
    """Adjusted p-values, and which of them are at most `alpha`, the family-wise error rate."""

    rejected: NDArray[np.bool_]
    adjusted_pvalues: Floats
    method: str
    alpha: float


def holm_correction(pvalues: Iterable[float], alpha: float = 0.05) -> MultipleTestingResult:
    """Adjust by Holm's (1979) step-down method.

    Examples
    --------
    >>> result = holm_correction([0.03, 0.04, 0.001, 0.8, 0.02])
    >>> result.rejected.tolist(), result.adjusted_pvalues.round(3).tolist()
    ([False, False, True, False, False], [0.09, 0.09, 0.005, 0.8, 0.08])
    """
    return _corrected(pvalues, alpha, holm, "holm")


def bonferroni_correction(pvalues: Iterable[float], alpha: float = 0.05) -> MultipleTestingResult:
    """Multiply by the number of tests (Dunn, 1961).

    Examples
    --------
    >>> bonferroni_correction([0.03, 0.04, 0.001, 0.8, 0.02]).adjusted_pvalues.round(3).tolist()
    [0.15, 0.2, 0.005, 1.0, 0.1]
    """
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
