"""Standard errors of few groups, or of groups of unlike sizes (documents).

A t interval of G groups has G - 1 degrees of freedom only where the groups are of one size. The
bias-reduced variance CR2 and Satterthwaite's degrees of freedom (Bell and McCaffrey, 2002; Imbens
and Kolesár, 2016) hold otherwise too; here they are those of a mean, which influence values make of
every score. For groups of one size they are the ordinary ones.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def standard_error(influence: Floats, sizes: NDArray[np.int64]) -> Floats:
    """Return √(Σ ℓ_g² / (1 - n_g/N)), `(..., G) -> (...)`.

    Parameters
    ----------
    influence : ndarray, shape (..., G)
        Influence of each group on a score, centred.
    sizes : ndarray, shape (G,)
        Segments of each group, n_g.
    """
    shares = sizes / np.sum(sizes)
    return np.asarray(np.sqrt(np.sum(influence**2 / (1 - shares), axis=-1)))


def degrees_of_freedom(sizes: NDArray[np.int64]) -> float:
    """Return the degrees of freedom of that standard error, at most G - 1.

    Satterthwaite's would suppose that all segments vary alike. In real test sets documents of many
    segments have short ones, which vary less, and the t test would reject 1 % of true null
    hypotheses at 0.05 where G - 1 rejects up to 11 % (WMT24 en-es, 10 to 20 documents of 1 to 76
    segments). The geometric mean of both is between.

    Examples
    --------
    >>> print(round(degrees_of_freedom(np.array([5, 5, 5, 5])), 6))
    3.0
    >>> print(round(degrees_of_freedom(np.array([76, 2, 1, 1])), 1))
    1.8
    """
    return float(np.sqrt((len(sizes) - 1) * satterthwaite(sizes)))


def satterthwaite(sizes: NDArray[np.int64]) -> float:
    """Return the degrees of freedom of that standard error where all segments vary alike.

    Examples
    --------
    >>> print(round(satterthwaite(np.array([76, 2, 1, 1])), 1))
    1.1
    """
    shares = sizes / np.sum(sizes)
    # Σ_g n_g² + Σ_{g≠h} (n_g n_h)² / (N² (1 - n_g/N)(1 - n_h/N)), over N².
    weighted = shares**2 / (1 - shares)
    squares = np.sum(shares**2) + np.sum(weighted) ** 2 - np.sum(weighted**2)
    return float(1 / squares)


def effective_number(sizes: NDArray[np.int64]) -> float:
    """Return of how many groups of one size a mean would be as precise, N²/Σn_g² (Kish, 1965)."""
    return float(np.sum(sizes) ** 2 / np.sum(sizes.astype(np.float64) ** 2))
