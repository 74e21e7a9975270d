"""Influence values, their standard errors and degrees of freedom, t intervals and t tests.

The variance of a score comes from the influence value of each drawn unit (segment or group).
`docs/method.md` has the formulas.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalstats.inference.distributions import t_cdf, t_quantile
from evalstats.metrics.base import Metric

Floats = NDArray[np.float64]
#: Between-run mean square and interaction from `mean_squares`, and the number of runs.
Runs = tuple[float, float, int]


class Spread(NamedTuple):
    """Standard error, factor over resamples' error, and degrees of freedom (both at least 1)."""

    error: float
    factor: float
    degrees: float


def influence_values(metric: Metric, statistics: NDArray[Any]) -> Floats:
    """Return each segment's influence on the corpus score, `(S, N, k) -> (S, N)`.

    The derivative of the score by the segment's weight (the infinitesimal jackknife; Jaeckel,
    1972), ∇f(T)·s_i, centred. If a score does not change when the corpus is doubled, such as BLEU,
    the values already sum to zero.
    """
    gradient = metric.gradient(np.sum(statistics, axis=1, dtype=np.float64))
    values = np.einsum("snk,sk->sn", statistics.astype(np.float64, copy=False), gradient)
    return np.asarray(values - np.mean(values, axis=1, keepdims=True))


def kish(sizes: ArrayLike) -> float:
    """Return the effective number of units of these sizes, (Σs)²/Σs² (Kish, 1965).

    >>> kish([5, 5, 5]), round(kish([76, 2, 1, 1]), 2)
    (3.0, 1.11)
    """
    given = np.asarray(sizes, dtype=np.float64)
    return float(np.sum(given) ** 2 / np.sum(given**2))


def unit_of(values: Floats, axis: int | None = None) -> Floats:
    """Return a power of two near the largest absolute value, along an axis or of all; 1 for zeros.

    Numbers divided by it are below 2, so their squares do not overflow, and the division is exact.

    >>> float(unit_of(np.array([3e200, 0.0]))) == 2.0**665
    True
    """
    largest = np.max(np.abs(values), axis=axis, keepdims=axis is not None, initial=0.0)
    is_known = np.isfinite(largest) & (largest > 0)
    exponents = np.frexp(np.where(is_known, largest, 1.0))[1]
    return np.asarray(np.ldexp(1.0, exponents - 1))


def spread(
    influence: Floats,
    sizes: NDArray[np.int64] | None = None,
    codes: NDArray[np.intp] | None = None,
    unseen: Floats | None = None,
) -> Spread:
    """Return standard error, factor and degrees of freedom of a quantity.

    With w = Σu²·g/(g - 1) in each stratum: √Σw, √(Σw/Σu²) and (Σw)²/Σ(w²/(g - 1)), with Kish's
    number g of its units (Welch, 1947; Satterthwaite, 1946).

    Parameters
    ----------
    influence : ndarray, shape (N,)
        Influence of every unit on the quantity; u after centring within strata.
    sizes : ndarray of int, shape (N,), optional
        Segments of each unit; equal by default.
    codes : ndarray of int, shape (N,), optional
        Stratum of each unit, of two units or more; one stratum by default.
    unseen : ndarray, shape (T,), optional
        Addition to Σu² of each stratum, if the sample shows too little of its variance.

    Examples
    --------
    >>> error, factor, degrees = spread(np.array([-0.5, 0.5, -0.5, 0.5]))
    >>> round(error, 4), round(factor, 4), degrees
    (1.1547, 1.1547, 3.0)
    """
    strata, numbers = _strata(len(influence), sizes, codes)
    centred = _centred(influence, codes)
    # Squares of large or small scores overflow.
    unit = float(unit_of(centred))
    squares: Floats = np.bincount(strata, weights=(centred / unit) ** 2).astype(np.float64)
    if unseen is not None:
        squares = np.maximum(squares + unseen / unit**2, 0.0)
    every = float(len(influence)) if sizes is None else kish(sizes)
    return of_squares(squares, numbers, unit, every)


def of_squares(squares: Floats, numbers: Floats, unit: float, every: float) -> Spread:
    """Return the spread of a quantity from Σu² of each stratum, in squares of a unit.

    `numbers` is Kish's number of the units of each stratum, `(T,)`, and `every` that of all units.
    """
    variances = squares * numbers / (numbers - 1)
    total = float(np.sum(variances))
    if not total > 0:
        # If nothing varies, the number of all units is used.
        return Spread(total**0.5, (every / (every - 1)) ** 0.5, max(every - 1, 1.0))
    degrees = 1 / float(np.sum((variances / total) ** 2 / (numbers - 1)))
    factor = (total / float(np.sum(squares))) ** 0.5
    return Spread(unit * total**0.5, factor, max(degrees, 1.0))


def variance_degrees(influence: Floats, codes: NDArray[np.intp] | None = None) -> float:
    """Return the degrees of freedom of the variance of a quantity, for any tails.

    An estimated variance with ν degrees of freedom has a relative variance of 2/ν for normal
    values, and of about (γ - 1)/ν for kurtosis γ (after Bonett, 2006), as if it had 2ν/(γ - 1)
    degrees. These are returned, but at most ν from `spread` with equal units. γ is three times Σu⁴
    over its expectation for normal values with these variances, 3 (n - 1)/(n + 1) · (Σu²)²/n in a
    stratum of n.

    Parameters
    ----------
    influence : ndarray, shape (N,)
        Influence of every unit on a quantity, not all equal.
    codes : ndarray of int, shape (N,), optional
        Stratum of each unit, of two units or more; one stratum by default.

    Examples
    --------
    >>> few = np.zeros(100)    # of kurtosis 50
    >>> few[:2] = 1, -1
    >>> round(variance_degrees(few), 2), round(variance_degrees(np.linspace(-1, 1, 100)), 2)
    (3.96, 99.0)
    """
    strata, numbers = _strata(len(influence), None, codes)
    apart = _centred(influence, codes)
    # Fourth powers of large or small scores overflow.
    powers = (apart / np.max(np.abs(apart))) ** 2
    squares = np.bincount(strata, weights=powers)
    normal = np.sum(squares**2 / numbers * (numbers - 1) / (numbers + 1))
    kurtosis = float(np.sum(powers**2) / normal)
    return spread(influence, codes=codes).degrees * min(1.0, 2 / (kurtosis - 1))


def unbiased(
    influence: Floats, sizes: NDArray[np.int64] | None = None, codes: NDArray[np.intp] | None = None
) -> Floats:
    """Return influence values whose sum of squares is the squared error, `(S, N) -> (S, N)`."""
    strata, numbers = _strata(influence.shape[-1], sizes, codes)
    return np.asarray(_centred(influence, codes) * np.sqrt(numbers / (numbers - 1))[strata])


def _strata(
    n: int, sizes: NDArray[np.int64] | None, codes: NDArray[np.intp] | None
) -> tuple[NDArray[np.intp], Floats]:
    """Return the stratum of each unit, and Kish's number of the units of each stratum."""
    strata = np.zeros(n, dtype=np.intp) if codes is None else codes
    if sizes is None:
        return strata, np.bincount(strata).astype(np.float64)
    counts = sizes.astype(np.float64)
    return strata, np.asarray(np.bincount(strata, counts) ** 2 / np.bincount(strata, counts**2))


def _centred(influence: Floats, codes: NDArray[np.intp] | None) -> Floats:
    """Return influence values minus their mean within each stratum, `(..., N) -> (..., N)`."""
    if codes is None:
        return np.asarray(influence - np.mean(influence, axis=-1, keepdims=True))
    rows = np.atleast_2d(influence)
    means = np.stack([np.bincount(codes, weights=row) for row in rows]) / np.bincount(codes)
    return np.asarray(influence - means[:, codes].reshape(influence.shape))


def interval(
    value: float, error: float, degrees: float, alpha: float, skewness: float = 0.0
) -> tuple[float, float]:
    """Return θ ± t_ν·se of confidence 1 - α; with a skewness, also by Hall's t."""
    t = quantile(degrees, alpha)
    below, above = t, t
    if skewness:
        below, above = max(t, hall_inverse(t, skewness)), max(t, -hall_inverse(-t, skewness))
    return value - below * error, value + above * error


def quantile(degrees: float, alpha: float) -> float:
    """Return the two-sided quantile of t for α."""
    return -t_quantile(alpha / 2, degrees)


def standardised(distance: float, error: float) -> float:
    """Return a distance in standard errors; infinite, or 0, without an error.

    >>> standardised(3.0, 2.0), standardised(-3.0, 0.0), standardised(0.0, 0.0)
    (1.5, -inf, 0.0)
    """
    if error > 0:
        return float(distance / error)
    return float(np.copysign(np.inf, distance)) if distance else 0.0


def pvalue(
    distance: float,
    error: float,
    degrees: float,
    alternative: str = "two-sided",
    skewness: float = 0.0,
) -> float:
    """Return the p-value of a distance from a null value, by t with these degrees of freedom.

    With a skewness it is the larger of this and the p-value of Hall's t, because either may be too
    small, depending on the side of a long tail.
    """
    t = standardised(distance, error)
    if skewness and np.isfinite(t):
        corrected = pvalue(hall(t, skewness), 1.0, degrees, alternative)
        return max(pvalue(t, 1.0, degrees, alternative), corrected)
    beyond = {"two-sided": -abs(t), "greater": -t, "less": t}[alternative]
    tail = t_cdf(beyond, degrees)
    return min(1.0, 2 * tail) if alternative == "two-sided" else tail


def hall(t: float, skewness: float) -> float:
    r"""Return a t statistic corrected for skewness, whose distribution is closer to t.

    Hall's (1992) monotone cubic transformation, with s = γ̂/√N from `skewness`:

    .. math:: g(t) = t + \frac{s}{6} (2 t^2 + 1) + \frac{s^2}{27} t^3

    If values far above the mean are rare (s > 0), t is far below 0 too often and far above it too
    rarely; g moves it up. Hall's paper is "On the removal of skewness by transformation", *JRSS B*
    54.

    >>> round(hall(2.0, 0.1), 4), round(hall(-2.0, 0.1), 4)
    (2.153, -1.853)
    """
    scaled = skewness * t
    # Products, because powers of floats raise an error on overflow.
    return t * (1 + scaled / 3 + scaled * scaled / 27) + skewness / 6


def hall_inverse(g: float, skewness: float) -> float:
    """Return the t that `hall` turns into g, by Hall's (1992) closed form.

    >>> round(hall_inverse(hall(-3.5, 0.4), 0.4), 12)
    -3.5
    """
    moved = g - skewness / 6
    # (1 + st/3)³ = 1 + s(g - s/6), solved for t by c³ - 1 = (c - 1)(c² + c + 1): s may be 0.
    root = float(np.cbrt(1 + skewness * moved))
    return 3 * moved / (root**2 + root + 1)


def skewness(influence: Floats, codes: NDArray[np.intp] | None = None) -> float:
    """Return the skewness of a sum of independent units, Σu³/(Σu²)^(3/2), `(N,) -> [-1, 1]`.

    For N identically distributed units it is γ/√N, with γ the skewness of a single one; 0 if
    nothing varies. The influence values u are centred first, within strata if there are any.

    >>> round(skewness(np.array([0.0, 0.0, 0.0, 4.0])), 4)
    0.5774
    """
    shares = _shares(influence, codes)
    squares = float(np.sum(shares**2))
    return float(np.sum(shares**3)) / squares**1.5 if squares > 0 else 0.0


def kurtosis(influence: Floats, n: int) -> float | None:
    """Return the kurtosis of the n units that vary, n·Σu⁴/(Σu²)²; `None` if nothing varies.

    The influence values u, `(N,)`, are centred first. For normal values it is 3.

    >>> kurtosis(np.array([-1.0, 1.0, 0.0, 0.0]), 4)
    2.0
    """
    shares = _shares(influence)
    squares = float(np.sum(shares**2))
    return n * float(np.sum(shares**4)) / squares**2 if squares > 0 else None


def _shares(influence: Floats, codes: NDArray[np.intp] | None = None) -> Floats:
    """Return centred values over the largest, since powers of large or small scores overflow."""
    largest = float(np.max(np.abs(influence)))
    return _centred(influence / largest, codes) if largest > 0 else np.zeros_like(influence)


def mean_squares(scores: Floats, influence: Floats) -> tuple[float, float]:
    """Return the variance of the mean score between R runs, and its part due to interaction.

    Scores `(R,)` and influence values `(R, N)` vary with the segment, with the run (its seed) and
    with both at once, σ_s²/N + σ_r²/R + σ_e²/RN (Searle, Casella and McCulloch, 1992, chapter 4):
    estimates of (σ_r² + σ_e²/N)/R, which has R - 1 degrees of freedom, and of σ_e²/RN.
    """
    n_runs, n = influence.shape
    between = float(np.var(scores, ddof=1)) / n_runs
    apart = influence - np.mean(influence, axis=0)
    together = n / (n - 1) * float(np.sum(apart**2)) / (n_runs - 1) / n_runs
    return between, together


def with_runs(segments: Spread, runs: Sequence[Runs]) -> Spread:
    """Return the spread of means over runs from the spread of segments, σ_s² and σ_e², and runs.

    `runs` has both systems of a difference, or, if runs are paired, only the difference. The common
    part, σ_e²/RN, is subtracted once. The component of the runs, Σσ_r²/R, is estimated by the
    method of moments (Searle, Casella and McCulloch, 1992): it is 0 if means of runs vary no more
    than segments explain. Otherwise degrees of freedom are Satterthwaite's (1946), each source with
    its whole mean square, and at least R - 1.

    >>> found = with_runs(Spread(3.0, 1.0, 999.0), [(16.0, 0.0, 5)])
    >>> found.error, round(found.degrees, 2)
    (5.0, 9.75)
    """
    component = sum(between - both for between, both, _ in runs)
    if component <= 0:
        return segments
    total = segments.error**2 + component
    # Scaled, as in `spread`.
    scale = total
    squares = (segments.error**2 / scale) ** 2 / segments.degrees
    squares += sum((between / scale) ** 2 / (n - 1) for between, _, n in runs)
    degrees = (total / scale) ** 2 / squares if squares > 0 else 0.0
    fewest = min(n for _, _, n in runs) - 1.0
    return Spread(total**0.5, segments.factor, max(degrees, fewest))
