"""Scores of resamples, for all systems and metrics of a call from the same weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.options import Options
from evalstats.analysis.scored import Scored
from evalstats.analysis.units import Units
from evalstats.resampling.strata import Stratified, stratum_totals
from evalstats.resampling.totals import recipe, weighted_totals
from evalstats.resampling.weights import Weights

Floats = NDArray[np.float64]
#: What is made of totals, `(R, K)` a block; it may have to travel to other processes.
Then = Callable[[Sequence[Floats]], list[Floats]]


def rows_of(units: Units, seed: int) -> Weights:
    """Return how the rows of weights are drawn: freely, or within strata."""
    return recipe(units.n, seed) if units.codes is None else Stratified(units.n, seed, units.codes)


def replicates(scored: Sequence[Scored], n_resamples: int, options: Options) -> list[Floats]:
    """Return the scores of all resamples, `(B, S)` for each metric."""
    if n_resamples == 0:
        return [np.empty((0, len(s.systems))) for s in scored]
    weights = rows_of(scored[0].units, options.seed)
    return totals_scored(scored, weights, n_resamples, options, partial(_scores, scored))


def totals_scored(
    scored: Sequence[Scored], weights: Weights, n_resamples: int, options: Options, then: Then
) -> list[Floats]:
    """Return what `then` makes of the totals of resamples, `(R, S, k)` a block and metric."""
    if len(scored[0].blocks) == 1:
        columns = _stack([s.blocks[0].rows for s in scored])
        totals = weighted_totals(weights, columns, n_resamples, options.executor)
        return list(then([totals]))
    # Totals of many strata take much memory: they are scored as they come, and not kept.
    parts = [
        (scored[0].blocks[t].places, _stack([s.blocks[t].rows for s in scored]))
        for t in range(len(scored[0].blocks))
    ]
    found = stratum_totals(weights, parts, n_resamples, options.executor, partial(_joined, then))
    widths = np.cumsum([len(s.systems) for s in scored])[:-1]
    return np.split(found, widths, axis=1)


def _scores(scored: Sequence[Scored], totals: Sequence[Floats]) -> list[Floats]:
    """Return scores of systems under all metrics from totals of all blocks, `(R, K)` each."""
    apart = [split(scored, t, block) for t, block in enumerate(totals)]
    return [s.score([x[i] for x in apart], "a resample") for i, s in enumerate(scored)]


def _joined(then: Then, totals: Sequence[Floats]) -> Floats:
    """Return what is made of totals side by side, `(R, M S)`."""
    return np.concatenate(then(totals), axis=1)


def split(scored: Sequence[Scored], t: int, totals: Floats) -> list[Floats]:
    """Take totals `(R, K)` of block t apart again, `(R, S, k)` for each metric."""
    shapes = [s.blocks[t].rows.shape[::2] for s in scored]
    parts = np.split(totals, np.cumsum([a * b for a, b in shapes])[:-1], axis=1)
    return [p.reshape(len(totals), *shape) for p, shape in zip(parts, shapes, strict=True)]


def _stack(values: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Put the statistics of all systems and metrics side by side, `(N, K)`."""
    columns = [v.transpose(1, 0, 2).reshape(v.shape[1], -1) for v in values]
    return columns[0] if len(columns) == 1 else np.concatenate(columns, axis=1)
