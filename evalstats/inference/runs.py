r"""Two sources of error: which segments were drawn, and which run of a system it was.

Scores of R runs on N segments vary with the segment, with the run (its seed), and with both at
once. As in a two-way analysis of variance with random effects (Searle, Casella and McCulloch,
1992, chapter 4), of the influence values of every run in the place of marks,

.. math:: \mathrm{Var} = \frac{\sigma_s^2}{N} + \frac{\sigma_r^2}{R} + \frac{\sigma_e^2}{RN}.

The spread of a mean over runs between segments estimates the first and the last term, the spread of
the runs' scores the second and the last: the last is taken off once. Resampling segments and runs
independently (the pigeonhole bootstrap) counts it three times (Owen, 2007).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def run_variance(scores: Floats, influence: Floats) -> tuple[float, float]:
    """Return what the choice of runs adds to the variance of their mean score, twice.

    Parameters
    ----------
    scores, influence
        As in `mean_squares`.

    Returns
    -------
    tuple of float
        σ_r²/R, estimated by s²/R less what segments and runs do together, and never below 0; and
        s²/R itself, with the variance s² of the runs' scores, which has R - 1 degrees of freedom.
    """
    between, together = mean_squares(scores, influence)
    return max(between - together, 0.0), between


def mean_squares(scores: Floats, influence: Floats) -> tuple[float, float]:
    """Return the variance of the runs' scores, and what segments and runs do together in it.

    Parameters
    ----------
    scores : ndarray, shape (R,)
        Corpus score of each run, R at least 2.
    influence : ndarray, shape (R, N)
        Influence of each segment on the score of each run, centred over segments.

    Returns
    -------
    tuple of float
        Estimates of (σ_r² + σ_e²/N)/R and of σ_e²/RN.
    """
    n_runs, n_segments = influence.shape
    between = float(np.var(scores, ddof=1)) / n_runs
    apart = influence - np.mean(influence, axis=0)
    together = n_segments / (n_segments - 1) * float(np.sum(apart**2)) / (n_runs - 1) / n_runs
    return between, together


def combined(
    segment_error: Floats | float,
    segment_degrees: Floats | float,
    runs: Sequence[tuple[Floats | float, Floats | float, int]],
) -> tuple[Floats, Floats]:
    """Return a standard error from segments and runs, and its degrees of freedom, both `(...)`.

    Parameters
    ----------
    segment_error, segment_degrees : ndarray, shape (...)
        Of the score, or difference, of means over runs.
    runs : sequence of (ndarray, ndarray, int)
        What `run_variance` says of each system, and its number of runs R.

    Returns
    -------
    tuple of ndarray
        The root of the summed variances; and Satterthwaite's (1946) degrees of freedom, in which
        each source counts with the whole mean square that was estimated, and which are at least
        R - 1. So tests hold their level with as few as three runs, and with two nearly
        (`tests/test_runs.py`).

    Examples
    --------
    >>> error, degrees = combined(3.0, 999.0, [(16.0, 16.0, 5)])
    >>> print(error, round(float(degrees), 2))
    5.0 9.75
    """
    total = np.square(segment_error) + sum(added for added, _, _ in runs)
    squares = np.power(segment_error, 4) / segment_degrees
    squares = squares + sum(np.square(between) / (n - 1) for _, between, n in runs)
    degrees = np.divide(total**2, squares, where=squares > 0, out=np.zeros_like(total))
    return np.sqrt(total), np.maximum(degrees, min(n for _, _, n in runs) - 1.0)
