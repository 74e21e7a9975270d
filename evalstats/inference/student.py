"""Standard errors with their degrees of freedom, and the t intervals and t tests made of them.

A score of units that were drawn (segments, or groups of them) varies by what each unit adds to it,
its influence value. Everything here follows from the sums of squares of these values within
strata: the standard error, the factor by which resamples spread too little, and how many degrees of
freedom so few units, or units of so unlike sizes, leave.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


class Spread(NamedTuple):
    """How much a quantity varies.

    Attributes
    ----------
    error : float
        Standard error.
    factor : float
        The standard error over that of resamples, at least 1.
    degrees : float
        Degrees of freedom of the standard error, at least 1.
    """

    error: float
    factor: float
    degrees: float


def kish(sizes: ArrayLike) -> float:
    """Return how many units of one size are worth as much as these, (Σs)²/Σs² (Kish, 1965).

    Examples
    --------
    >>> kish([5, 5, 5]), round(kish([76, 2, 1, 1]), 2)
    (3.0, 1.11)
    """
    given = np.asarray(sizes, dtype=np.float64)
    return float(np.sum(given) ** 2 / np.sum(given**2))


def spread(
    influence: Floats,
    sizes: NDArray[np.int64] | None = None,
    codes: NDArray[np.intp] | None = None,
) -> Spread:
    r"""Return standard error, factor and degrees of freedom of a quantity, from influence values.

    .. math:: \mathrm{se}^2 = \sum_t w_t, \quad w_t = \frac{g_t}{g_t - 1} \sum_{i \in t} u_i^2,
        \quad f^2 = \frac{\sum_t w_t}{\sum_i u_i^2},
        \quad \nu = \frac{(\sum_t w_t)^2}{\sum_t w_t^2 / (g_t - 1)}

    with the influence values u centred within strata, Kish's (1965) number g of the units of a
    stratum, and ν after Welch (1947) and Satterthwaite (1946). For segments that is the ordinary
    standard error, √(N/(N - 1)) and N - 1. Where nothing varies, f and ν are those of all units.

    Parameters
    ----------
    influence : ndarray, shape (N,)
        Of every unit on the quantity; with weights of strata in it, where it is an average.
    sizes : ndarray of int, shape (N,), optional
        Segments of each unit; all alike by default.
    codes : ndarray of int, shape (N,), optional
        Stratum of each unit, of two units or more; one stratum by default.

    Examples
    --------
    >>> error, factor, degrees = spread(np.array([-0.5, 0.5, -0.5, 0.5]))
    >>> round(error, 4), round(factor, 4), degrees
    (1.1547, 1.1547, 3.0)
    """
    strata = np.zeros(len(influence), dtype=np.intp) if codes is None else codes
    numbers = _numbers(strata, sizes)
    squares = np.bincount(strata, weights=centred(influence, codes) ** 2)
    variances = squares * numbers / (numbers - 1)
    total = float(np.sum(variances))
    if not total > 0:
        g = float(len(influence)) if sizes is None else kish(sizes)
        return Spread(total**0.5, (g / (g - 1)) ** 0.5, max(g - 1, 1.0))
    # Of shares: fourth powers of large or small scores are no numbers.
    degrees = 1 / float(np.sum((variances / total) ** 2 / (numbers - 1)))
    return Spread(total**0.5, (total / float(np.sum(squares))) ** 0.5, max(degrees, 1.0))


def unbiased(
    influence: Floats,
    sizes: NDArray[np.int64] | None = None,
    codes: NDArray[np.intp] | None = None,
) -> Floats:
    """Return influence values whose sum of squares is the squared error, `(..., N) -> (..., N)`."""
    strata = np.zeros(influence.shape[-1], dtype=np.intp) if codes is None else codes
    numbers = _numbers(strata, sizes)
    return np.asarray(centred(influence, codes) * np.sqrt(numbers / (numbers - 1))[strata])


def _numbers(strata: NDArray[np.intp], sizes: NDArray[np.int64] | None) -> Floats:
    """Return Kish's number of the units of each stratum."""
    if sizes is None:
        return np.bincount(strata).astype(np.float64)
    each = sizes.astype(np.float64)
    return np.asarray(np.bincount(strata, each) ** 2 / np.bincount(strata, each**2))


def centred(influence: Floats, codes: NDArray[np.intp] | None = None) -> Floats:
    """Return influence values less their mean within each stratum, `(..., N) -> (..., N)`."""
    if codes is None:
        return np.asarray(influence - np.mean(influence, axis=-1, keepdims=True))
    counts = np.bincount(codes)
    rows = influence.reshape(-1, influence.shape[-1])
    means = np.stack([np.bincount(codes, weights=row) / counts for row in rows])
    return np.asarray(influence - means[:, codes].reshape(influence.shape))


def interval(value: float, error: float, degrees: float, alpha: float) -> tuple[float, float]:
    """Return θ ± t_ν·se of confidence 1 - α."""
    half = quantile(degrees, alpha) * error
    return value - half, value + half


def quantile(degrees: float, alpha: float) -> float:
    """Return the t that is exceeded on either side with probability α together."""
    from scipy.special import ndtri, stdtrit

    return -float(ndtri(alpha / 2) if np.isinf(degrees) else stdtrit(degrees, alpha / 2))


def pvalue(distance: float, error: float, degrees: float, alternative: str = "two-sided") -> float:
    """Return the p-value of a distance from a null value, t with so many degrees of freedom.

    Without a standard error any distance is infinitely many of them. Infinitely many degrees of
    freedom make it a normal deviate.
    """
    t = float(np.copysign(np.inf, distance)) if distance else 0.0
    if error > 0:
        t = distance / error
    if alternative == "two-sided":
        return min(1.0, 2 * _tail(-abs(t), degrees))
    return _tail(-t if alternative == "greater" else t, degrees)


def _tail(t: float, degrees: float) -> float:
    from scipy.special import ndtr, stdtr

    return float(ndtr(t) if np.isinf(degrees) else stdtr(degrees, t))


def mean_squares(scores: Floats, influence: Floats) -> tuple[float, float]:
    r"""Return the variance of the mean of R runs, and what segments and runs do together in it.

    Scores vary with the segment, with the run (its seed) and with both at once, as in a two-way
    analysis of variance with random effects (Searle, Casella and McCulloch, 1992, chapter 4):

    .. math:: \mathrm{Var} = \frac{\sigma_s^2}{N} + \frac{\sigma_r^2}{R} + \frac{\sigma_e^2}{RN}.

    Parameters
    ----------
    scores : ndarray, shape (R,)
        Corpus score of each run, R at least 2.
    influence : ndarray, shape (R, N)
        Of each segment on the score of each run, centred over segments.

    Returns
    -------
    tuple of float
        Estimates of (σ_r² + σ_e²/N)/R, which has R - 1 degrees of freedom, and of σ_e²/RN.
    """
    n_runs, n = influence.shape
    between = float(np.var(scores, ddof=1)) / n_runs
    apart = influence - np.mean(influence, axis=0)
    together = n / (n - 1) * float(np.sum(apart**2)) / (n_runs - 1) / n_runs
    return between, together


def with_runs(segments: Spread, runs: Sequence[tuple[float, float, int]]) -> Spread:
    """Return the spread of means over runs from that of segments and two mean squares a system.

    The spread between segments holds the first and the last term of `mean_squares`, the spread
    between runs the second and the last: the last is taken off once. Degrees of freedom are
    Satterthwaite's (1946), each source with its whole mean square, and at least R - 1.

    Parameters
    ----------
    segments : Spread
        Of the mean over runs.
    runs : sequence of (float, float, int)
        `mean_squares` of each system, and its number of runs R.

    Examples
    --------
    >>> found = with_runs(Spread(3.0, 1.0, 999.0), [(16.0, 0.0, 5)])
    >>> found.error, round(found.degrees, 2)
    (5.0, 9.75)
    """
    total = segments.error**2 + sum(max(between - both, 0.0) for between, both, _ in runs)
    scale = total or 1.0
    squares = (segments.error**2 / scale) ** 2 / segments.degrees
    squares += sum((between / scale) ** 2 / (n - 1) for between, _, n in runs)
    degrees = (total / scale) ** 2 / squares if squares > 0 else 0.0
    fewest = min(n for _, _, n in runs) - 1.0
    return Spread(total**0.5, segments.factor, max(degrees, fewest))
