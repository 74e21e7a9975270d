"""Adjust the p-values of several comparisons made at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def bonferroni(pvalues: ArrayLike) -> Floats:
    """Multiply by the number of comparisons; controls the family-wise error rate (Dunn, 1961)."""
    p = np.asarray(pvalues, dtype=np.float64)
    return np.minimum(p * p.size, 1.0)


def holm(pvalues: ArrayLike) -> Floats:
    """Step down from the smallest; controls the family-wise error rate (Holm, 1979).

    The i-th smallest p-value is multiplied by m - i + 1, and no adjusted value may be below one
    that comes before it. Never larger than Bonferroni's.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).round(2).tolist()
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(pvalues, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1))
    adjusted = np.empty(p.shape)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def holm_over(parts: ArrayLike, pvalues: ArrayLike) -> Floats:
    """Adjust p-values over parts within each of which they are adjusted already.

    Holm's method (1979) with parts in place of hypotheses: the i-th smallest p-value is multiplied
    by the number of parts of which it or a larger one is left. Where the first false claim is made,
    all parts with a true null hypothesis are left; if the probability of a false claim in one
    part is at most its p-value, as of step-down max-T, that of any is at most α, however the parts
    depend on one another. With one p-value a part it is Holm's method, with one part it changes
    nothing.

    Examples
    --------
    >>> holm_over(["a", "a", "b"], [0.01, 0.04, 0.03]).round(2).tolist()
    [0.02, 0.06, 0.06]
    """
    p = np.asarray(pvalues, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    in_order = np.asarray(parts)[order]
    # A part is left until its last place is passed.
    _, last = np.unique(in_order[::-1], return_index=True)
    left = np.searchsorted(np.sort(p.size - 1 - last), np.arange(p.size))
    stepped = np.maximum.accumulate(p[order] * (last.size - left))
    adjusted = np.empty(p.shape)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def benjamini_hochberg(pvalues: ArrayLike) -> Floats:
    """Step up from the largest; controls the false discovery rate (Benjamini and Hochberg, 1995).

    The i-th smallest p-value is multiplied by m/i, and no adjusted value may be above one that
    comes after it. Proved for independent and for positively dependent p-values (Benjamini and
    Yekutieli, 2001). The same as `scipy.stats.false_discovery_control`, without loading it.
    """
    p = np.asarray(pvalues, dtype=np.float64)
    order = np.argsort(-p, kind="stable")
    stepped = np.minimum.accumulate(p[order] * p.size / np.arange(p.size, 0, -1))
    adjusted = np.empty(p.shape)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def unadjusted(pvalues: ArrayLike) -> Floats:
    """Return the p-values as they are."""
    return np.array(pvalues, dtype=np.float64)


ADJUSTMENTS = {
    "holm": holm,
    "benjamini-hochberg": benjamini_hochberg,
    "bonferroni": bonferroni,
    "none": unadjusted,
}
