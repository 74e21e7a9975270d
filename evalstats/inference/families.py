"""Several comparisons at once: adjusted p-values, and how large the largest difference gets.

Step-down max-T (Westfall and Young, 1993; Romano and Wolf, 2005, 2016) asks how often the largest
of all differences, each over its own standard error, is as large when none is real. What has been
rejected no longer takes part in that maximum.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

#: One resample in so many is the smallest share that is a p-value. Beyond it the resamples of few
#: units have heavier tails than t, and of many units too few are as large.
ONE_IN = 200
#: Pairs whose null values are in memory together; values this close, relative to size, are ties.
_TOGETHER, TIE = 256, 1e-9


def holm(pvalues: ArrayLike) -> Floats:
    """Multiply the i-th smallest of m p-values by m - i + 1, and keep their order (Holm, 1979).

    >>> holm([0.01, 0.04, 0.03]).round(2).tolist()
    [0.03, 0.06, 0.06]
    """
    return holm_over(np.arange(np.size(pvalues)), pvalues)


def holm_over(parts: ArrayLike, pvalues: ArrayLike) -> Floats:
    """Adjust p-values over parts within each of which they are adjusted already.

    Holm's method (1979) with parts in place of hypotheses: the i-th smallest p-value is multiplied
    by the number of parts of which it or a larger one is left. If that of a part holds the
    probability of any false claim in it, as of step-down max-T, so do these, however parts depend
    on one another.

    >>> holm_over(["a", "a", "b"], [0.01, 0.04, 0.03]).round(2).tolist()
    [0.02, 0.06, 0.06]
    """
    p = np.asarray(pvalues, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    in_order = np.asarray(parts)[order]
    # A part is left until its last place is passed.
    _, last = np.unique(in_order[::-1], return_index=True)
    left = np.searchsorted(np.sort(p.size - 1 - last), np.arange(p.size))
    adjusted = np.empty(p.shape)
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * (last.size - left)), 1.0)
    return adjusted


def benjamini_hochberg(pvalues: ArrayLike) -> Floats:
    """Step up from the largest; controls the false discovery rate (Benjamini and Hochberg, 1995).

    The i-th smallest p-value is multiplied by m/i, and no adjusted value may be above one that
    comes after it. Proved for independent and for positively dependent p-values (Benjamini and
    Yekutieli, 2001).
    """
    p = np.asarray(pvalues, dtype=np.float64)
    order = np.argsort(-p, kind="stable")
    # The factor first: it is 1 for the largest, and rounding leaves none below its own.
    stepped = np.minimum.accumulate(p[order] * (p.size / np.arange(p.size, 0, -1)))
    adjusted = np.empty(p.shape)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


#: Adjustments that need nothing but p-values.
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
    """Count in families the resamples whose largest null value is at least each observed one.

    Of observed values T `(P,)`, null values T* `(p, B)`, which `null` returns for some pairs, and
    the `places` of the pairs of each of F families: #{max_l T*_l >= T_j} over the pairs l of the
    family with T_l <= T_j, F arrays; and the maxima over all of each, `(F, B)`.
    """
    largest = np.full((len(places), n_resamples), -np.inf)
    counts = [np.empty(len(some), dtype=np.int64) for some in places]
    holders: list[list[tuple[int, int]]] = [[] for _ in observed]
    for family, some in enumerate(places):
        for i, j in enumerate(some):
            holders[j].append((family, i))
    order = np.argsort(observed, kind="stable")
    for together in np.split(order, range(_TOGETHER, len(order), _TOGETHER)):
        for j, values in zip(together, null(together), strict=True):
            least = observed[j] - TIE * abs(observed[j])
            for family, i in holders[j]:
                np.maximum(largest[family], values, out=largest[family])
                counts[family][i] = np.count_nonzero(largest[family] >= least)
        del values  # a view of all of them, which would be in memory beside the next
    return counts, largest


def monotone(pvalues: Floats, observed: Floats) -> Floats:
    """Let no p-value be below that of an observed value as large."""
    order = np.argsort(-observed, kind="stable")
    stepped = np.maximum.accumulate(pvalues[order])
    ties = TIE * np.abs(observed)
    return np.asarray(stepped[np.searchsorted(-observed[order], ties - observed, "right") - 1])
