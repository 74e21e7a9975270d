"""Bootstrap intervals, as in ``evaluatio.inference.ci``."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.bleu import ConfidenceInterval
from evalstats.checks import as_scores, check_same_length
from evalstats.compat.evaluatio._arguments import fraction, resamples
from evalstats.errors import InputError, InputTypeError
from evalstats.metrics import Mean
from evalstats.resampling.totals import bootstrap_totals
from evalstats.resampling.weights import Rng

__all__ = ["ConfidenceInterval", "bootstrap_confidence_interval", "error_rate_ci"]


def bootstrap_confidence_interval(
    x: Iterable[float], iterations: int, alpha: float, *, rng: Rng = 12345
) -> ConfidenceInterval:
    """Return the mean with a percentile bootstrap interval.

    Parameters
    ----------
    x : iterable of float
        Finite scores, at least one.
    iterations : int
        Resamples, at least 1.
    alpha : float
        In (0, 1): 0.05 gives a 95 % interval.
    rng : int or numpy.random.Generator, optional
        Seed or generator; `None` asks for fresh entropy.

    Raises
    ------
    InputError
        For empty input, NaN or infinity, `iterations` or `alpha` out of range.

    Examples
    --------
    >>> ci = bootstrap_confidence_interval([0.4, 0.7, 0.5, 0.9], 1000, 0.05)
    >>> print(round(ci.mean, 3), round(ci.lower, 3), round(ci.upper, 3))
    0.625 0.45 0.8
    """
    n_resamples, level = resamples(iterations), fraction(alpha, "alpha")
    metric = Mean("mean")
    statistics = metric.statistics(as_scores(x, "x"))
    totals = bootstrap_totals(statistics, n_resamples, rng)
    return _interval(float(metric.score(np.sum(statistics, axis=0))), metric.score(totals), level)


def error_rate_ci(
    counts: Iterable[int],
    exposure: Iterable[int],
    iterations: int,
    alpha: float,
    *,
    rng: Rng = 12345,
) -> ConfidenceInterval:
    """Return sum of counts over sum of exposures, with a percentile bootstrap interval.

    Parameters
    ----------
    counts, exposure : iterable of int
        Errors and tokens of every segment, not negative.
    iterations : int
        Resamples, at least 1.
    alpha : float
        In (0, 1): 0.05 gives a 95 % interval.
    rng : int or numpy.random.Generator, optional
        Seed or generator; `None` asks for fresh entropy.

    Raises
    ------
    InputError
        For differing lengths, empty input, numbers out of range, or a resample without errors and
        without exposure, whose rate 0/0 is none.

    Examples
    --------
    >>> ci = error_rate_ci([1, 0, 3, 2, 0, 1], [4, 5, 6, 4, 5, 6], 1000, 0.05)
    >>> print(round(ci.mean, 3), round(ci.lower, 3), round(ci.upper, 3))
    0.233 0.071 0.406
    """
    n_resamples, level = resamples(iterations), fraction(alpha, "alpha")
    columns = [_counts(counts, "counts"), _counts(exposure, "exposure")]
    check_same_length(counts=columns[0], exposure=columns[1])
    statistics = np.stack(columns, axis=1)
    totals = bootstrap_totals(statistics, n_resamples, rng)
    replicates = rates(totals)
    if np.any(np.isnan(replicates)):
        raise InputError(
            f"exposure is 0 in {np.count_nonzero(columns[1] == 0)} of {len(statistics)} segments, "
            f"and one resample had neither exposure nor errors: 0/0 is no rate; leave them out"
        )
    return _interval(float(rates(np.sum(statistics, axis=0))), replicates, level)


def rates(statistics: NDArray[np.generic]) -> NDArray[np.float64]:
    """Return errors per token, `(..., 2) -> (...)`: infinite without tokens, NaN for nothing."""
    numbers = np.asarray(statistics, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(numbers[..., 0] / numbers[..., 1])


def _counts(value: Iterable[int], name: str) -> NDArray[np.int64]:
    array = np.asarray(value if isinstance(value, np.ndarray) else list(value))
    if array.size and array.dtype.kind not in "bui":
        raise InputTypeError(f"{name} must be integers, got {array.dtype} values")
    numbers = as_scores(array, name)
    if np.any(numbers < 0):
        i = int(np.flatnonzero(numbers < 0)[0])
        raise InputError(f"{name}[{i}] must not be negative, got {array[i]}")
    return array.astype(np.int64)


def _interval(observed: float, replicates: NDArray[np.float64], alpha: float) -> ConfidenceInterval:
    """Return evaluatio's percentile interval: order statistics ⌊α/2·B⌋ and ⌊(1 - α/2)·B⌋."""
    n = len(replicates)
    low, high = (min(int(np.floor(share * n)), n - 1) for share in (alpha / 2, 1 - alpha / 2))
    ordered = np.partition(replicates, [low, high])
    return ConfidenceInterval(observed, float(ordered[low]), float(ordered[high]))
