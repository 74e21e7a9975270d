"""Strengths of systems from their wins: the model of Bradley and Terry (1952).

System i beats j with probability 1/(1 + exp(θ_j - θ_i)), and a tie is half a win for each.
`wins[..., i, j]` is the number of wins of i against j, plus half of their ties.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: Largest step at which Newton's method stops (the next would be its square), and the most steps;
#: after these, the likelihood has no maximum.
_SMALL_STEP, _MOST_STEPS = 1e-6, 30
#: The largest step of a strength: far from its maximum a likelihood is flat.
_LARGEST_STEP = 2.0


def expected(strengths: Floats) -> Floats:
    """Return the expected score of i against j, `(..., S) -> (..., S, S)`.

    >>> expected(np.log([3.0, 1.0])).round(4).tolist()
    [[0.5, 0.75], [0.25, 0.5]]
    """
    odds = np.exp(strengths)
    first, second = odds[..., :, None], odds[..., None, :]
    return np.asarray(first / (first + second))


def fit(wins: Floats, start: Floats | None = None) -> tuple[Floats, NDArray[np.bool_]]:
    """Return maximum-likelihood strengths, `(R, S, S) -> (R, S)`, and which are finite, `(R,)`.

    By Newton's method; the mean of the strengths is 0. If wins do not link all systems in both
    directions, there is no maximum, and the strengths of the last step are returned.

    Parameters
    ----------
    wins : ndarray, shape (R, S, S)
        Wins of i against j, plus half of their ties.
    start : ndarray, shape (S,), optional
        Strengths from which to start; by default all are equal.

    Examples
    --------
    >>> strengths, is_finite = fit(np.array([[[0.0, 3.0], [1.0, 0.0]]]))
    >>> strengths.round(4).tolist(), is_finite.tolist()    # log(3)/2
    ([[0.5493, -0.5493]], [True])
    """
    n, size = wins.shape[:2]
    strengths = np.zeros((n, size))
    if start is not None:
        strengths[:] = start
    # Without a win, or without a loss, a strength has no bounds.
    left = np.flatnonzero(np.all((wins.sum(axis=2) > 0) & (wins.sum(axis=1) > 0), axis=1))
    is_finite = np.zeros(n, dtype=np.bool_)
    for _ in range(_MOST_STEPS):
        gradient, information = slope(wins[left], strengths[left])
        steps = solved(information, gradient[..., None])[..., 0]
        sizes = np.max(np.abs(steps), axis=1)
        steps *= (_LARGEST_STEP / np.maximum(sizes, _LARGEST_STEP))[:, None]
        strengths[left] += steps
        is_done = sizes < _SMALL_STEP
        is_finite[left[is_done]] = True
        left = left[~is_done]
        if not len(left):
            break
    return strengths, is_finite


def slope(wins: Floats, strengths: Floats) -> tuple[Floats, Floats]:
    """Return the gradient and the information, `(..., S)` and `(..., S, S)`, of log likelihoods.

    The information is diag(Σ_j n_ij v_ij) - n_ij v_ij + 11ᵀ/S, with the n_ij battles of a pair and
    the variance v_ij of a score; the last term keeps the mean at 0.
    """
    size = wins.shape[-1]
    score = expected(strengths)
    battles = wins + np.swapaxes(wins, -1, -2)
    gradient = np.sum(wins - battles * score, axis=-1)
    information = score * (score - 1) * battles
    places = np.arange(size)
    information[..., places, places] = 0.0
    information[..., places, places] = -np.sum(information, axis=-1)
    information += 1 / size
    return gradient, information


def one_step(wins: Floats, strengths: Floats, inverse: Floats) -> Floats:
    """Return strengths one Newton step from the sample's strengths, `(R, S, S) -> (R, S)`.

    θ̂ + H⁻¹Σx(y - p) with the strengths `(S,)` and the inverse information H⁻¹ `(S, S)` of the
    sample: to first order the strengths of a resample, and always finite (Schucany and Wang, 1991).
    """
    gradient, _ = slope(wins, np.tile(strengths, (len(wins), 1)))
    return np.asarray(strengths + np.einsum("rp,ps->rs", gradient, inverse))


def solved(matrices: Floats, right: Floats) -> Floats:
    """Return A⁻¹b of positive definite matrices, `(..., p, p)` and `(..., p, m) -> (..., p, m)`.

    By elimination, which needs no pivots for such matrices; LAPACK's last bits depend on the number
    of threads. For singular matrices the result is undefined.

    >>> solved(np.array([[2.0, 1.0], [1.0, 3.0]]), np.array([[3.0], [4.0]])).tolist()
    [[1.0], [1.0]]
    """
    a = matrices.copy()
    b: Floats = right.copy()
    size = a.shape[-1]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for k in range(size):
            shares = a[..., k + 1 :, k, None] / a[..., k, None, k, None]
            a[..., k + 1 :, k + 1 :] -= shares * a[..., k, None, k + 1 :]
            b[..., k + 1 :, :] -= shares * b[..., k, None, :]
        for k in reversed(range(size)):
            b[..., k, :] /= a[..., k, k, None]
            b[..., :k, :] -= a[..., :k, k, None] * b[..., k, None, :]
    return b


def unlinked(wins: Floats) -> list[list[int]]:
    """Return the sets of systems that have won against one another, the largest first.

    Strengths are finite if there is only one set, that is, if of any two groups of systems each has
    won against the other (Ford, 1957).

    >>> unlinked(np.array([[0.0, 2.0, 1.0], [1.0, 0.0, 3.0], [0.0, 0.0, 0.0]]))    # 2 lost all
    [[0, 1], [2]]
    """
    from scipy.sparse.csgraph import connected_components

    n, codes = connected_components(wins > 0, connection="strong")
    sets = [np.flatnonzero(codes == i).tolist() for i in range(n)]
    return sorted(sets, key=lambda members: (-len(members), members))
