"""Several comparisons at once: adjusted p-values, and maxima of differences.

Step-down max-T (Westfall and Young, 1993; Romano and Wolf, 2005, 2016) computes how often the
largest of all differences, each over its own standard error, is as large if no difference is real.
Rejected differences no longer count for this maximum.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

#: The smallest share of resamples used as a p-value is one in this many. Below it, resamples of few
#: units have heavier tails than t, and of many units too few are as large.
ONE_IN = 200
#: Pairs with null values in memory together; values this close, relative to size, are ties.
_TOGETHER, TIE = 256, 1e-9


def holm(pvalues: ArrayLike) -> Floats:
    """Multiply the i-th smallest of m p-values by m - i + 1, and keep their order (Holm, 1979).

    >>> holm([0.01, 0.04, 0.03]).round(2).tolist()
    [0.03, 0.06, 0.06]
    """
    return holm_over(np.arange(np.size(pvalues)), pvalues)


def holm_over(parts: ArrayLike, pvalues: ArrayLike) -> Floats:
    """Adjust p-values over parts, within which they are already adjusted.

    Holm's method (1979) with parts instead of hypotheses: the i-th smallest p-value is multiplied
    by the number of parts with this or a larger p-value left. If p-values within parts control the
    probability of any false claim, as in step-down max-T, so do these, for any dependence between
    parts.

    >>> holm_over(["a", "a", "b"], [0.01, 0.04, 0.03]).round(2).tolist()
    [0.02, 0.06, 0.06]
    """
    p = np.asarray(pvalues, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    in_order = np.asarray(parts)[order]
    # A part counts until its last place is passed.
    _, last = np.unique(in_order[::-1], return_index=True)
    left = np.searchsorted(np.sort(p.size - 1 - last), np.arange(p.size))
    adjusted = np.empty(p.shape)
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * (last.size - left)), 1.0)
    return adjusted


def benjamini_hochberg(pvalues: ArrayLike) -> Floats:
    """Step up from the largest; controls the false discovery rate (Benjamini and Hochberg, 1995).

    The i-th smallest p-value is multiplied by m/i, and adjusted values are made monotone. Valid for
    independent and for positively dependent p-values (Benjamini and Yekutieli, 2001).
    """
    p = np.asarray(pvalues, dtype=np.float64)
    order = np.argsort(-p, kind="stable")
    # The factor first: it is 1 for the largest, and rounding cannot reduce a p-value.
    stepped = np.minimum.accumulate(p[order] * (p.size / np.arange(p.size, 0, -1)))
    adjusted = np.empty(p.shape)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


#: Adjustments that only need p-values.
ADJUSTMENTS: dict[str, Callable[[ArrayLike], Floats]] = {
    "holm": holm,
    "benjamini-hochberg": benjamini_hochberg,
    "none": np.array,
}


def step_down(
    null: Callable[[NDArray[np.intp]], Floats],
    observed: Floats,
    n_resamples: int,
    places: Sequence[Sequence[int]],
) -> tuple[list[NDArray[np.int64]], Floats]:
    """Count, in families, the resamples with a maximum of at least each observed value.

    From observed values T `(P,)`, null values T* `(p, B)`, which `null` returns for some pairs, and
    the `places` of the pairs of each of F families: #{max_l T*_l >= T_j} over the pairs l of the
    family with T_l <= T_j, F arrays; and the maxima over each whole family, `(F, B)`.
    """
    largest = np.full((len(places), n_resamples), -np.inf)
    counts = [np.empty(len(members), dtype=np.int64) for members in places]
    holders: list[list[tuple[int, int]]] = [[] for _ in observed]
    for family, members in enumerate(places):
        for i, j in enumerate(members):
            holders[j].append((family, i))
    order = np.argsort(observed, kind="stable")
    for together in np.split(order, range(_TOGETHER, len(order), _TOGETHER)):
        for j, values in zip(together, null(together), strict=True):
            least = observed[j] - TIE * abs(observed[j])
            for family, i in holders[j]:
                np.maximum(largest[family], values, out=largest[family])
                counts[family][i] = np.count_nonzero(largest[family] >= least)
        del values  # a view that would keep all of them in memory
    return counts, largest


def monotone(pvalues: Floats, observed: Floats) -> Floats:
    """Make p-values monotone in the observed values."""
    order = np.argsort(-observed, kind="stable")
    stepped = np.maximum.accumulate(pvalues[order])
    ties = TIE * np.abs(observed)
    return np.asarray(stepped[np.searchsorted(-observed[order], ties - observed, "right") - 1])
