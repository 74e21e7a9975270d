"""Whether several estimates with errors of their own are of one quantity: Welch's test."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Welch(NamedTuple):
    """F, its degrees of freedom, and how often it is as large where all quantities are equal."""

    statistic: float
    between: float
    within: float
    pvalue: float


def welch(
    values: NDArray[np.float64], errors: NDArray[np.float64], degrees: NDArray[np.float64]
) -> Welch:
    r"""Return Welch's (1951) test that k means with unlike errors are equal.

    With weights w = 1/se², W = Σw and the weighted mean m:

    .. math:: F = \frac{\sum w (d - m)^2 / (k - 1)}
        {1 + \frac{2 (k - 2)}{k^2 - 1} \sum \frac{(1 - w/W)^2}{\nu}}

    with k - 1 and (k² - 1)/(3Σ(1 - w/W)²/ν) degrees of freedom. Where all ν are infinite,
    (k - 1)·F is Cochran's Q; of k = 2, F is the square of Welch's t. Biometrika 38.

    Parameters
    ----------
    values, errors, degrees : ndarray, shape (k,)
        Estimates, their standard errors, above 0, and the degrees of freedom of these.

    Examples
    --------
    >>> found = welch(np.array([1.0, 2.0, 4.0]), np.array([0.5, 0.5, 1.0]), np.full(3, 30.0))
    >>> print(f"{found.statistic:.2f} {found.within:.1f} {found.pvalue:.3f}")
    3.73 56.8 0.030
    """
    from scipy.special import fdtrc

    k = len(values)
    # Squares of large or small scores are no numbers.
    unit = float(np.max(errors))
    weights = (errors / unit) ** -2.0
    shares = weights / np.sum(weights)
    apart = (values - np.sum(shares * values)) / unit
    lack = float(np.sum((1 - shares) ** 2 / degrees))
    between = float(np.sum(weights * apart**2)) / (k - 1)
    statistic = between / (1 + 2 * (k - 2) / (k * k - 1) * lack)
    within = (k * k - 1) / (3 * lack)
    return Welch(statistic, k - 1.0, within, float(fdtrc(k - 1, within, statistic)))
