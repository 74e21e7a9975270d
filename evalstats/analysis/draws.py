"""Draws of segments from a pilot: which true difference each would show to be one.

A draw's difference lies somewhere about the pilot's. Moved with the true difference, it becomes
significant from some size of that on, by the t test with Hall's correction.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis import sampling
from evalstats.analysis.plan import Plan
from evalstats.analysis.sampling import Sample
from evalstats.errors import InputError
from evalstats.inference import power, skewness
from evalstats.resampling.totals import recipe, weighted_totals

Floats = NDArray[np.float64]
Pair = tuple[int, int]
#: Differences less the pilot's, their standard errors, and the skewness of the segments' shares.
Draws = tuple[Floats, Floats, Floats]

#: Up to so many segments every draw has influence values of its own; beyond, those of the pilot do.
_FEW = 300
#: Numbers in memory at a time.
_BLOCK = 1 << 22
#: Of one group's share in the segments that are drawn; few groups may be unlike in size.
_LARGEST_SHARE = 0.9


def degrees_for(n: int, n_pilot: int, degrees_of_freedom: float) -> float:
    """Return the degrees of freedom of n groups like the pilot's; of segments, n - 1."""
    return max((degrees_of_freedom + 1) * n / n_pilot - 1, 1e-3)


def found_from(
    sample: Sample, pairs: Sequence[Pair], n: int, plan: Plan, level: float, alternative: str
) -> Iterator[tuple[Floats, Floats]]:
    """Yield the true differences from which on draws of n segments are significant, both ways."""
    from scipy.special import stdtrit

    tail = level / 2 if alternative == "two-sided" else level
    many = _few(sample, pairs, n, plan) if n <= _FEW else _many(sample, pairs, n, plan)
    for pair, (centred, errors, skew) in zip(pairs, many, strict=True):
        _, _, degrees = sampling.influences(sample, pair)
        degrees = degrees_for(n, sample.values.shape[1], degrees)
        quantile = -float(stdtrit(degrees, tail))
        # As in the default test, the more careful of t and Hall's transformation decides.
        above = np.maximum(quantile, skewness.untransformed(quantile, skew, n))
        below = np.minimum(-quantile, skewness.untransformed(-quantile, skew, n))
        yield (
            power.found_from(centred, errors, above),
            power.found_from(centred, errors, below),
        )


def _few(sample: Sample, pairs: Sequence[Pair], n: int, plan: Plan) -> Iterator[Draws]:
    """Yield what `compare` would compute of each draw."""
    metric, (n_systems, n_pilot, k) = sample.table.metric, sample.values.shape
    rng = np.random.default_rng([plan.seed, n])
    step = max(1, _BLOCK // (n * n_systems * k))
    parts: list[list[Draws]] = [[] for _ in pairs]
    for done in range(0, plan.n_resamples, step):
        drawn = rng.integers(n_pilot, size=(min(step, plan.n_resamples - done), n))
        rows = sample.values[:, drawn].astype(np.float64)  # (S, R, n, k)
        totals = np.sum(rows, axis=2)
        scores = _finite(metric.score(totals), sample, n)
        moves = n * np.einsum("srnk,srk->srn", rows, metric.gradient(totals))
        for part, (a, b) in zip(parts, pairs, strict=True):
            values = moves[b] - moves[a]
            values -= np.mean(values, axis=1, keepdims=True)
            squares = values**2
            variance = np.mean(squares, axis=1)
            if sample.sizes is None:
                errors = np.sqrt(variance / (n - 1))
            else:
                sizes = sample.sizes[drawn]
                shares = sizes / np.sum(sizes, axis=1, keepdims=True)
                errors = np.sqrt(np.mean(squares / (1 - shares), axis=1) / n)
            centred = scores[b] - scores[a] - (sample.scores[b] - sample.scores[a])
            third = np.mean(squares * values, axis=1)
            part.append((centred, errors, _skewness(third, variance)))
    for part in parts:
        centred, errors, skew = (np.concatenate(column) for column in zip(*part, strict=True))
        yield centred, errors, skew


def _many(sample: Sample, pairs: Sequence[Pair], n: int, plan: Plan) -> Iterator[Draws]:
    """Yield nearly the same, from sums over draws of the pilot's influence values."""
    n_systems, n_pilot, k = sample.values.shape
    # In points of the score, of one segment.
    moves = n_pilot * np.stack([sampling.influences(sample, pair)[0] for pair in pairs], axis=1)
    squares, divisor = moves**2, n - 1
    if sample.sizes is not None:
        # The bias-reduced variance divides by one less than the groups in its own way.
        shares, divisor = sample.sizes / (n * np.mean(sample.sizes)), n
        squares = squares / (1 - np.minimum(shares, _LARGEST_SHARE))[:, None]
    statistics = sample.values.transpose(1, 0, 2).reshape(n_pilot, -1).astype(np.float64)
    sums = _sums(np.concatenate([statistics, moves, squares, moves**3], axis=1), n, plan)
    totals, *blocks = np.split(sums, n_systems * k + len(pairs) * np.arange(3), axis=1)
    totals = totals.reshape(-1, n_systems, k)
    scores = _finite(sample.table.metric.score(totals), sample, n)
    gradients = n * sample.table.metric.gradient(totals)
    for i, (a, b) in enumerate(pairs):
        first, second, third = (block[:, i] / n for block in blocks)
        variance = np.maximum(second - first**2, 0.0)
        errors = np.sqrt(variance * _bends(sample, (a, b), gradients) / divisor)
        centred = scores[:, b] - scores[:, a] - (sample.scores[b] - sample.scores[a])
        third = third - 3 * first * second + 2 * first**3
        yield centred, errors, _skewness(third, variance)


def _skewness(third: Floats, variance: Floats) -> Floats:
    return np.divide(third, variance**1.5, where=variance > 0, out=np.zeros_like(variance))


def _finite(scores: Floats, sample: Sample, n: int) -> Floats:
    if not np.all(np.isfinite(scores)):
        raise InputError(
            f"{sample.table.metric.name} of {n} segments drawn from the pilot is not finite; "
            f"define the score for every total, for example where a denominator is 0"
        )
    return scores


def _bends(sample: Sample, pair: Pair, gradients: Floats) -> Floats:
    """Return by how much the variance changes where the gradient does, `(B, S, k) -> (B,)`.

    BLEU has two gradients at a length ratio of 1, and draws fall on either side.
    """
    rows = np.concatenate([sample.values[i] for i in pair], axis=1).astype(np.float64)
    rows -= np.mean(rows, axis=0)
    covariance = rows.T @ rows / len(rows)
    signs = np.array([[-1.0], [1.0]])

    def variance(gradient: Floats) -> Floats:
        flat = (signs * gradient).reshape(*gradient.shape[:-2], -1)
        return np.asarray(np.einsum("...i,...i->...", flat @ covariance, flat))

    pilot = len(rows) * sample.table.metric.gradient(sample.totals[list(pair)])
    change = variance(gradients[:, list(pair)]) / variance(pilot)
    # Few segments may leave a draw without a gradient, where the score is not smooth.
    return np.where(np.isfinite(change), change, 1.0)


def _sums(columns: Floats, n: int, plan: Plan) -> Floats:
    """Sum columns over draws of n segments, with replacement, `(N, K) -> (B, K)`."""
    n_pilot = len(columns)
    if n <= n_pilot:
        weights = recipe(n_pilot, plan.seed, "multinomial", n)
        return weighted_totals(weights, columns, plan.n_resamples, plan.executor)
    # More draws than segments: counts of segments are drawn at once, not one by one.
    rng = np.random.default_rng([plan.seed, n])
    shares = np.full(n_pilot, 1 / n_pilot)
    step = max(1, _BLOCK // n_pilot)
    blocks = [
        rng.multinomial(n, shares, size=min(step, plan.n_resamples - done)).astype(float) @ columns
        for done in range(0, plan.n_resamples, step)
    ]
    return np.concatenate(blocks)
