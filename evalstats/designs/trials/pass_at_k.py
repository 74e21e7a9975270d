"""pass@k: the chance that one of k answers is right, from n answers to each problem."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalstats.checks import as_numbers, check_same_length, integer
from evalstats.errors import InputError


def pass_at_k(n: ArrayLike, c: ArrayLike, k: int) -> NDArray[np.float64]:
    r"""Return the unbiased estimate of pass@k of each problem (Chen et al., 2021).

    .. math:: 1 - \binom{n - c}{k} \Big/ \binom{n}{k}

    for n answers, c of them right: the share of subsets of k answers with a right one. Give the
    result to `Mean`: problems are resampled, which carries the chance in their answers too.

    Parameters
    ----------
    n : int or array_like of int
        Answers to each problem, at least k; one number where it is the same for all.
    c : array_like of int, shape (N,)
        Right ones among them, 0 to n.
    k : int
        At least 1.

    More right answers than answers, and fewer answers than k, raise an `InputError`.

    Examples
    --------
    >>> pass_at_k(10, [0, 3, 10], k=1).round(4).tolist()
    [0.0, 0.3, 1.0]
    >>> from evalstats import Mean, estimate
    >>> scores = pass_at_k([10, 10, 5, 10], [0, 3, 5, 1], k=2)
    >>> round(estimate(scores, metric=Mean("pass@2"), n_resamples=99).score, 4)
    0.4333
    """
    integer(k, "k", 1)
    right = _counts(c, "c")
    answers = np.broadcast_to(_counts(n, "n"), right.shape) if np.ndim(n) == 0 else _counts(n, "n")
    check_same_length(n=answers, c=right)
    for i in np.flatnonzero(right > answers)[:1]:
        raise InputError(f"c[{i}] must be at most n, got {right[i]:g} right of {answers[i]:g}")
    for i in np.flatnonzero(answers < k)[:1]:
        raise InputError(
            f"n must be at least k: problem {i} has {answers[i]:g} answers, which do not tell "
            f"pass@{k}; sample more, or take a smaller k"
        )
    return np.asarray(1 - share_of_subsets(answers - right, answers, k))


def share_of_subsets(
    some: NDArray[np.float64], of: NDArray[np.float64], k: int
) -> NDArray[np.float64]:
    """Return the share of subsets of k among so many that lie within some, `(N,)` each.

    C(some, k) / C(of, k), one drawn after the other: the products stay in [0, 1].
    """
    share = np.ones(some.shape)
    for drawn in range(k):
        share *= np.maximum(some - drawn, 0) / (of - drawn)
    return share


def _counts(values: ArrayLike, name: str) -> NDArray[np.float64]:
    counts = as_numbers(np.atleast_1d(np.asarray(values)), name, None)
    for i in np.flatnonzero((counts < 0) | (counts != np.rint(counts)))[:1]:
        raise InputError(f"{name}[{i}] must be a number of answers, got {counts[i]:g}")
    return counts
