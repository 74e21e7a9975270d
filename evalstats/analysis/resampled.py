"""Totals and scores of resamples, for all systems and metrics of a call from the same weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.plan import Plan
from evalstats.analysis.units import StratumRows, StratumScores, by_system
from evalstats.metrics import scores_of
from evalstats.metrics.averages import OfStrata
from evalstats.resampling.strata import stratum_totals
from evalstats.resampling.totals import swap_totals, weighted_totals
from evalstats.resampling.weights import Halves, Weights
from evalstats.statistics.segments import SegmentStatistics

Floats = NDArray[np.float64]


def replicates(
    tables: list[SegmentStatistics],
    values: list[NDArray[Any]],
    weights: Weights,
    codes: NDArray[np.intp] | None,
    n_resamples: int,
    plan: Plan,
) -> list[tuple[Floats, Floats]]:
    """Return the totals of all resamples and their scores, for each metric.

    Totals of many strata take much memory: they are scored as they come, and not kept.
    """
    averages = [table.metric for table in tables if isinstance(table.metric, OfStrata)]
    if n_resamples == 0:
        totals = [np.empty((0, *v.shape[::2])) for v in values]
        return [(t, np.empty((0, t.shape[1]))) for t in totals]
    if codes is None or not averages:
        tell = plan.tell("resampling")
        found = weighted_totals(weights, _stack(values), n_resamples, plan.executor, tell=tell)
        totals = _split(values, found)
        return [(t, scores_of(table.metric, t)) for t, table in zip(totals, tables, strict=True)]
    scores = StratumScores(averages, len(tables[0].systems))
    found = stratum_totals(weights, _stack(values), codes, n_resamples, plan.executor, scores)
    return [(np.empty((0, 0, 0)), part) for part in np.split(found, len(tables), axis=1)]


def swapped(values: list[NDArray[Any]], plan: Plan) -> list[Floats]:
    """Return totals of random halves, less those of the first system, `(B, S - 1, k)` a metric."""
    rows = values[0]
    if not isinstance(rows, StratumRows):
        differences = [_differences(v) for v in values]
        totals = swap_totals(
            _stack(differences),
            plan.n_resamples,
            plan.seed,
            executor=plan.executor,
            tell=plan.tell("swapping"),
        )
        return _split(differences, totals)
    differences = [_differences(v.narrow) for v in values if isinstance(v, StratumRows)]
    weights, columns = Halves(rows.shape[1], plan.seed), _stack(differences)
    found = stratum_totals(weights, columns, rows.codes, plan.n_resamples, plan.executor)
    widths = np.cumsum([len(v) * v.shape[2] for v in differences])[:-1]
    parts = np.split(found, widths, axis=2)
    return [by_system(part, len(v)) for v, part in zip(differences, parts, strict=True)]


def _differences(values: NDArray[Any]) -> NDArray[Any]:
    """Return statistics less those of the first system, `(S, N, k) -> (S - 1, N, k)`."""
    # Narrow integers could overflow.
    wide = values.astype(np.int64 if values.dtype.kind in "iu" else np.float64, copy=False)
    return wide[1:] - wide[:1]


def _stack(values: list[NDArray[Any]]) -> NDArray[Any]:
    """Put the statistics of all systems and metrics side by side, `(N, K)`."""
    columns = [v.transpose(1, 0, 2).reshape(v.shape[1], -1) for v in values]
    return columns[0] if len(columns) == 1 else np.concatenate(columns, axis=1)


def _split(values: list[NDArray[Any]], totals: Floats) -> list[Floats]:
    """Take resampled totals `(B, K)` apart again, `(B, S, k)` for each metric."""
    widths = [len(v) * v.shape[2] for v in values]
    parts = np.split(totals, np.cumsum(widths)[:-1], axis=1)
    return [p.reshape(len(totals), *v.shape[::2]) for p, v in zip(parts, values, strict=True)]
