"""Strengths of systems from who beat whom: the model of Bradley and Terry (1952).

System i beats j with probability 1/(1 + exp(θ_j - θ_i)). A tie is half a win of each, or has a
probability of its own (Davidson, 1970). `wins[..., i, j]` is how often i beat j, with half of
their ties.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: After a step as small as this the next one would be its square; after so many no likelihood is
#: largest.
_SMALL_STEP, _MOST_STEPS = 1e-6, 30
#: A strength moves by so much in a step at most: far from its maximum a likelihood is flat.
_LARGEST_STEP = 2.0


class Fit(NamedTuple):
    """Strengths `(..., S)` of mean 0, Davidson's log ν `(...)`, and whether both are finite.

    `position` is what being shown first adds to the log odds.
    """

    strengths: Floats
    ties: Floats
    is_finite: NDArray[np.bool_]
    position: float = 0.0


class Slope(NamedTuple):
    """Derivatives of log likelihoods by strengths and, last, by log ν where ties have a ν.

    `gradient` is `(..., p)` and `information` `(..., p, p)`, with p = S, or S + 1.
    """

    gradient: Floats
    information: Floats


def expected(
    strengths: Floats, ties: Floats | None = None, position: float = 0.0
) -> tuple[Floats, Floats | None]:
    """Return the expected score of i against j, and the probability of a tie, `(..., S, S)`.

    `position` is added to the log odds of i, which is shown first.

    Without `ties` a tie is half a win, and has no probability. With `ties`, log ν `(...)`, it is
    ν√(π_i π_j)/(π_i + π_j + ν√(π_i π_j)), where π = exp θ (Davidson, 1970).

    >>> score, tie = expected(np.log([3.0, 1.0]), np.log(2.0))
    >>> score.round(4)[0, 1], tie.round(4)[0, 1]    # (3 + √3)/(4 + 2√3), 2√3/(4 + 2√3)
    (np.float64(0.634), np.float64(0.4641))
    """
    odds = np.exp(strengths)
    first, second = odds[..., :, None], odds[..., None, :]
    if position:
        first = first * np.exp(position)
    if ties is None:
        return first / (first + second), None
    root = np.exp(strengths / 2)
    even = np.exp(ties)[..., None, None] * (root[..., :, None] * root[..., None, :])
    every = first + second + even
    return (first + even / 2) / every, even / every


def fit(wins: Floats, ties: Floats | None = None, start: Fit | None = None) -> Fit:
    """Return the strengths of largest likelihood, `(R, S, S) -> (R, S)`, by Newton's method.

    Where wins do not link all systems in both directions no strengths are largest: `is_finite` says
    so, and what is returned is where the steps had come.

    Parameters
    ----------
    wins : ndarray, shape (R, S, S)
        Wins of i against j, with half of their ties.
    ties : ndarray, shape (R,), optional
        Numbers of ties, where these have Davidson's (1970) parameter.
    start : Fit, optional
        Strengths `(S,)` from which to start; by default all are equal.

    Examples
    --------
    >>> found = fit(np.array([[[0.0, 3.0], [1.0, 0.0]]]))
    >>> found.strengths.round(4).tolist(), found.is_finite.tolist()    # log(3)/2
    ([[0.5493, -0.5493]], [True])
    """
    n, size = wins.shape[:2]
    strengths, nu = np.zeros((n, size)), np.zeros(n)
    if start is not None:
        strengths[:], nu[:] = start.strengths, start.ties
    # Without a win, or without a loss, a strength has no bounds.
    left = np.flatnonzero(np.all((wins.sum(axis=2) > 0) & (wins.sum(axis=1) > 0), axis=1))
    if ties is not None:
        left = left[ties[left] > 0]
    is_finite = np.zeros(n, dtype=np.bool_)
    for _ in range(_MOST_STEPS):
        of_ties = None if ties is None else ties[left]
        at = Fit(strengths[left], nu[left], np.ones(len(left), dtype=np.bool_))
        slopes = slope(wins[left], of_ties, at)
        steps = solved(slopes.information, slopes.gradient[..., None])[..., 0]
        sizes = np.max(np.abs(steps), axis=1)
        steps *= (_LARGEST_STEP / np.maximum(sizes, _LARGEST_STEP))[:, None]
        strengths[left] += steps[:, :size]
        if ties is not None:
            nu[left] += steps[:, size]
        is_done = sizes < _SMALL_STEP
        is_finite[left[is_done]] = True
        left = left[~is_done]
        if not len(left):
            break
    return Fit(strengths, nu, is_finite)


def fit_position(points: Floats, battles: Floats) -> tuple[Fit, Floats]:
    """Return strengths `(S,)`, what being shown first adds to the log odds, and H⁻¹ of both.

    θ_i - θ_j + β are the log odds that i, shown first, beats j (Davidson and Beaver, 1977).
    `points[i, j]` is how often it did, with half of the ties, in `battles[i, j]`, both `(S, S)`.

    >>> points, battles = np.array([[0.0, 6.0], [4.0, 0.0]]), np.array([[0.0, 8.0], [8.0, 0.0]])
    >>> found, _ = fit_position(points, battles)
    >>> found.strengths.round(4).tolist(), round(found.position, 4)    # log(3)/4, log(3)/2
    ([0.2747, -0.2747], 0.5493)
    """
    size = len(points)
    at, inverse = np.zeros(size + 1), np.empty((size + 1, size + 1))
    for _ in range(_MOST_STEPS):
        score, _ = expected(at[:size], position=at[size])
        missed, varying = points - battles * score, battles * score * (1 - score)
        gradient = np.append(missed.sum(axis=1) - missed.sum(axis=0), missed.sum())
        both, across = varying + varying.T, varying.sum(axis=1) - varying.sum(axis=0)
        information = np.empty_like(inverse)
        information[:size, :size] = np.diag(both.sum(axis=1)) - both + 1 / size
        information[:size, size] = information[size, :size] = across
        information[size, size] = varying.sum()
        inverse = solved(information, np.eye(size + 1))
        step = inverse @ gradient
        largest = float(np.max(np.abs(step)))
        at += step * (_LARGEST_STEP / max(largest, _LARGEST_STEP))
        if not largest >= _SMALL_STEP:
            break
    is_finite = np.array(largest < _SMALL_STEP)
    return Fit(at[:size], np.zeros(()), is_finite, float(at[size])), inverse


def slope(wins: Floats, ties: Floats | None, at: Fit) -> Slope:
    """Return the derivatives at some strengths, `(..., S, S) -> (..., p)` and `(..., p, p)`.

    The information of strengths is diag(Σ_j n_ij v_ij) - n_ij v_ij + 11ᵀ/S, with the n_ij battles
    of a pair and the variance v_ij of a score; the last term holds the mean at 0.
    """
    size = wins.shape[-1]
    score, tie = expected(at.strengths, None if ties is None else at.ties)
    battles = wins + np.swapaxes(wins, -1, -2)
    gradient = np.sum(wins - battles * score, axis=-1)
    information = score * (score - 1)
    if tie is not None:
        information += tie / 4
    information *= battles
    places = np.arange(size)
    information[..., places, places] = 0.0
    information[..., places, places] = -np.sum(information, axis=-1)
    information += 1 / size
    if ties is None or tie is None:
        return Slope(gradient, information)
    # Each pair is there twice.
    of_ties = ties - np.sum(battles * tie, axis=(-1, -2)) / 2
    across = np.sum(battles * tie * (0.5 - score), axis=-1)
    second = np.sum(battles * tie * (1 - tie), axis=(-1, -2)) / 2
    wide = np.empty((*gradient.shape[:-1], size + 1, size + 1))
    wide[..., :size, :size] = information
    wide[..., :size, size] = wide[..., size, :size] = across
    wide[..., size, size] = second
    return Slope(np.concatenate([gradient, of_ties[..., None]], axis=-1), wide)


def one_step(wins: Floats, ties: Floats | None, start: Fit, inverse: Floats) -> Floats:
    """Return strengths one step away from those of the sample, `(R, S, S) -> (R, S)`.

    θ̂ + H⁻¹Σx(y - p) with the inverse information H⁻¹ `(p, p)` of the sample: to first order the
    strengths of a resample, and finite whatever was drawn (Schucany and Wang, 1991).
    """
    n, size = wins.shape[:2]
    at = Fit(np.tile(start.strengths, (n, 1)), np.full(n, start.ties), np.ones(n, dtype=np.bool_))
    steps = np.einsum("rp,ps->rs", slope(wins, ties, at).gradient, inverse[:, :size])
    return np.asarray(start.strengths + steps)


def solved(matrices: Floats, right: Floats) -> Floats:
    """Return A⁻¹b of positive definite matrices, `(..., p, p)` and `(..., p, m) -> (..., p, m)`.

    By elimination, which such matrices need no pivots for. LAPACK's last bits depend on the number
    of its threads. Of matrices that have no inverse the result is no number, or anything.

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

    Strengths are finite where there is one set: where, of any two groups of systems, each has won
    against the other (Ford, 1957).

    >>> unlinked(np.array([[0.0, 2.0, 1.0], [1.0, 0.0, 3.0], [0.0, 0.0, 0.0]]))    # 2 lost all
    [[0, 1], [2]]
    """
    from scipy.sparse.csgraph import connected_components

    n, codes = connected_components(wins > 0, connection="strong")
    sets = [np.flatnonzero(codes == i).tolist() for i in range(n)]
    return sorted(sets, key=lambda members: (-len(members), members))
