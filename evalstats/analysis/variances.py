"""Standard errors of scores and differences, for what was drawn: segments, groups, strata, runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.units import StratumRows
from evalstats.inference import clusters, influence, runs, strata
from evalstats.metrics import Metric
from evalstats.metrics.averages import MeanOfRuns
from evalstats.metrics.logarithms import unlogged

Floats = NDArray[np.float64]

#: Below it, on how many items of a share systems differ is what is uncertain.
_FEW_ITEMS = 10


def of_units(
    moves: Floats, sizes: NDArray[np.int64] | None, codes: NDArray[np.intp] | None
) -> tuple[Floats, Floats, float]:
    """Return influence values centred as their units were drawn, standard error and degrees.

    Parameters
    ----------
    moves : ndarray, shape (N,)
        Influence values on a score or a difference.
    sizes : ndarray, shape (N,), or None
        Segments of each unit, where units are groups.
    codes : ndarray, shape (N,), or None
        Stratum of each unit, where there are strata.
    """
    if codes is not None:
        moves = strata.centred(moves, codes)
        members = np.ones(len(moves), dtype=np.int64) if sizes is None else sizes
        error, degrees = strata.standard_error(moves, members, codes)
        return moves, error, degrees
    if sizes is not None:
        return moves, clusters.standard_error(moves, sizes), clusters.degrees_of_freedom(sizes)
    return moves, influence.standard_error(moves), len(moves) - 1


def unbiased(
    moves: Floats, sizes: NDArray[np.int64] | None, codes: NDArray[np.intp] | None
) -> Floats:
    """Return influence values `(N,)` whose sum of squares is the squared error of `of_units`."""
    members = np.ones(len(moves), dtype=np.int64) if sizes is None else sizes
    if codes is None:
        return np.asarray(moves / np.sqrt(1 - members / np.sum(members)))
    return np.asarray(strata.centred(moves, codes) / np.sqrt(1 - strata.shares(members, codes)))


def degrees_of(
    n_units: int, sizes: NDArray[np.int64] | None, codes: NDArray[np.intp] | None
) -> float:
    """Return the degrees of freedom of `of_units`: with strata, at most, if all vary alike."""
    if codes is not None:
        members = np.ones(n_units, dtype=np.int64) if sizes is None else sizes
        return float(np.sum(strata.stratum_degrees(members, codes)))
    return n_units - 1 if sizes is None else clusters.degrees_of_freedom(sizes)


def flip_degrees_of(
    n_units: int, sizes: NDArray[np.int64] | None, codes: NDArray[np.intp] | None
) -> float:
    """Return the degrees that tie a flipped difference to its standard error.

    They come from how much single units weigh, and not from how much these vary.
    """
    if codes is not None:
        members = np.ones(n_units, dtype=np.int64) if sizes is None else sizes
        return float(np.sum(strata.satterthwaite(members, codes)))
    return n_units - 1 if sizes is None else clusters.satterthwaite(sizes)


def with_runs(
    metric: Metric, rows: NDArray[Any], error: Floats, degrees: float, ratio: float = 1.0
) -> tuple[Floats, float]:
    """Return standard error and degrees with what runs add, of systems' rows `(P, N, R k)`.

    Of a pair, `ratio` times the first score counts.
    """
    (added, between, n), *others = _added(metric, rows)
    first = (ratio**2 * added, ratio**2 * between, n)
    total, found = runs.combined(float(error), degrees, [first, *others])
    return total, float(found)


def of_runs(metric: Metric, rows: NDArray[Any]) -> float:
    """Return the standard error that the choice of the runs gives, of rows `(1, N, R k)`."""
    return float(np.sqrt(_added(metric, rows)[0][0]))


def _added(metric: Metric, rows: NDArray[Any]) -> list[tuple[float, float, int]]:
    """Return the variance of each system's runs, twice, and their number."""
    n_runs = within_runs(metric).n_runs
    return [(*runs.run_variance(*run), n_runs) for run in _runs(metric, rows)]


def squares_of_runs(metric: Metric, rows: NDArray[Any]) -> Floats:
    """Return the mean squares of `runs.mean_squares`, `(P, 2)`, of rows `(P, N, R k)`."""
    return np.array([runs.mean_squares(*run) for run in _runs(metric, rows)])


def within_runs(metric: Metric) -> MeanOfRuns:
    """Return the mean of runs that a metric is, or is the logarithm of."""
    within = unlogged(metric)
    assert isinstance(within, MeanOfRuns)
    return within


def _runs(metric: Metric, rows: NDArray[Any]) -> Iterator[tuple[Floats, Floats]]:
    """Yield scores `(R,)` and influence values `(R, N)` of each system's runs."""
    within = within_runs(metric)
    for statistics in within.of_runs(rows.astype(np.float64)):
        scores = within.metric.score(np.sum(statistics, axis=1))
        values = influence.influence_values(within.metric, statistics)
        # The derivative of a logarithm is taken at the mean of the runs.
        scale = 1.0 if within is metric else float(1 / np.mean(scores))
        yield scale * scores, scale * values


def with_few_items(error: Floats, metric: Metric, totals: Floats) -> Floats:
    """Return the standard error of a difference with what shares of few items leave uncertain.

    As where few segments differ (Bonett and Price, 2012), two more items of such a share are
    imagined, on which the systems differ, one either way. `totals` are both systems', `(2, k)`.
    """
    shares = metric.shares(totals)
    if shares is None:
        return error
    weights, _, sizes = (np.mean(x, axis=0) for x in shares)
    weight_of_one = np.where(sizes < _FEW_ITEMS, weights / (sizes + 2), 0.0)
    return np.asarray(np.sqrt(error**2 + 2 * np.sum(weight_of_one**2)))


def widening(moves: Floats, sizes: NDArray[np.int64] | None, codes: NDArray[np.intp]) -> float:
    """Return the factor by which resampling within strata understates a standard error."""
    members = np.ones(len(moves), dtype=np.int64) if sizes is None else sizes
    return strata.expansion(moves, members, codes)


def of_segments(
    metric: Metric, rows: NDArray[Any] | StratumRows, codes: NDArray[np.intp] | None
) -> float:
    """Return the standard error if segments were independent, and runs all alike.

    Parameters
    ----------
    rows : ndarray, shape (1, N, k)
        Statistics of a system's segments.
    codes : ndarray, shape (N,), or None
        Their strata.
    """
    if isinstance(rows, StratumRows):
        values = rows.influence(metric.gradient(rows.totals()))[0]
    else:
        values = influence.influence_values(metric, rows.astype(np.float64))[0]
    return float(of_units(values, None, codes)[1])
