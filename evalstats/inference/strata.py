"""Standard errors where segments, or groups of them, were drawn within strata.

Strata are independent, and their variances add up: what tells one stratum from another is no part
of the error (Cochran, 1977, chapter 5; for groups within strata Särndal, Swensson and Wretman,
1992, section 4.3). Within each stratum the variance is that of `clusters`, whose shares correct
for few groups and for groups of unlike sizes; for single segments it is n/(n-1) Σ ℓ².
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def centred(influence: Floats, codes: NDArray[np.intp]) -> Floats:
    """Return influence values less their mean within each stratum, `(N,) -> (N,)`."""
    means = _sums(influence, codes) / np.bincount(codes)
    return np.asarray(influence - means[codes])


def shares(sizes: NDArray[np.int64], codes: NDArray[np.intp]) -> Floats:
    """Return the share that each group has in its stratum's segments, `(N,)`."""
    return np.asarray(sizes / np.bincount(codes, weights=sizes)[codes])


def standard_error(
    influence: Floats, sizes: NDArray[np.int64], codes: NDArray[np.intp]
) -> tuple[Floats, float]:
    r"""Return the standard error of a score and its degrees of freedom, both of shape `()`.

    .. math:: \mathrm{se}^2 = \sum_t v_t, \quad v_t = \sum_{g \in t} \ell_g^2 / (1 - n_g/N_t)
        \qquad \nu = \Bigl(\sum_t v_t\Bigr)^2 \Big/ \sum_t v_t^2 / \nu_t

    with the influence values :math:`\ell` centred within strata (`centred`), and ν after
    Satterthwaite (1946) and Welch (1947) from the degrees of freedom of each stratum, those of
    `clusters`.

    Parameters
    ----------
    influence : ndarray, shape (N,)
        Centred within strata.
    sizes : ndarray, shape (N,)
        Segments of each group; ones for single segments.
    codes : ndarray of int, shape (N,)
        The stratum of each.

    Examples
    --------
    Two strata of 4, one of which varies and has 3 degrees of freedom:

    >>> values = np.array([-1.0, 1, -1, 1, 0, 0, 0, 0])
    >>> codes = np.array([0] * 4 + [1] * 4)
    >>> error, degrees = standard_error(values, np.ones(8, dtype=int), codes)
    >>> print(round(float(error) ** 2, 6), round(float(degrees), 6))
    5.333333 3.0
    """
    part = shares(sizes, codes)
    variances = _sums(influence**2 / (1 - part), codes)
    total, degrees = np.sum(variances), stratum_degrees(sizes, codes)
    rest = np.sum(variances**2 / degrees)
    return np.sqrt(total), float(total**2 / rest if rest > 0 else np.sum(degrees))


def stratum_degrees(sizes: NDArray[np.int64], codes: NDArray[np.intp]) -> Floats:
    """Return the degrees of freedom of each stratum's variance, `(T,)`; n - 1 of n segments."""
    return np.asarray(np.sqrt((np.bincount(codes) - 1) * satterthwaite(sizes, codes)))


def satterthwaite(sizes: NDArray[np.int64], codes: NDArray[np.intp]) -> Floats:
    """Return those of each stratum where all segments vary alike, `(T,)`."""
    part = shares(sizes, codes)
    weighted = part**2 / (1 - part)
    squares = _sums(part**2, codes) + _sums(weighted, codes) ** 2 - _sums(weighted**2, codes)
    return np.asarray(1 / squares)


def expansion(influence: Floats, sizes: NDArray[np.int64], codes: NDArray[np.intp]) -> float:
    """Return how much resampling within strata understates a standard error.

    The factor is √(n/(n-1)) where there is one stratum of n segments, and up to √2 for strata of
    two; influence values are centred within strata.
    """
    drawn = np.sum(influence**2)
    error = standard_error(influence, sizes, codes)[0]
    return float(error / np.sqrt(drawn)) if drawn > 0 else 1.0


def _sums(values: Floats, codes: NDArray[np.intp]) -> Floats:
    """Sum over the segments of each stratum, `(N,) -> (T,)`."""
    return np.asarray(np.bincount(codes, weights=values), dtype=np.float64)
