"""Draws of segments from a pilot: which true difference each would show to be one.

A draw's difference lies somewhere about the pilot's. Moved with the true difference, it becomes
significant from some size of that on, by the t test with Hall's correction. Where there are strata
each grows in proportion, and a draw takes so many segments of each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis import sampling
from evalstats.analysis.plan import Plan
from evalstats.analysis.sampling import Sample
from evalstats.analysis.units import StratumRows
from evalstats.errors import InputError
from evalstats.inference import power, skewness, strata
from evalstats.metrics.averages import MeanOfStrata
from evalstats.resampling.strata import places_of
from evalstats.resampling.totals import recipe, weighted_totals

Floats = NDArray[np.float64]
Pair = tuple[int, int]

#: Up to so many segments every draw has influence values of its own; beyond, those of the pilot do.
_FEW = 300
#: Numbers in memory at a time.
_BLOCK = 1 << 22
#: Of one group's share in the segments that are drawn; few groups may be unlike in size.
_LARGEST_SHARE = 0.9
#: Each stratum has so many units at least.
_LEAST = 2


class Draws(NamedTuple):
    """B draws of n segments: what the t test of each would be made of, `(B,)` each.

    `centred` are differences less the pilot's, `skew` is that of the segments' shares in them.
    """

    centred: Floats
    errors: Floats
    skew: Floats
    degrees: Floats


def degrees_for(n: int, n_pilot: int, degrees_of_freedom: float) -> float:
    """Return the degrees of freedom of n groups like the pilot's; of segments, n - 1."""
    return max((degrees_of_freedom + 1) * n / n_pilot - 1, 1e-3)


def smallest(sample: Sample) -> int:
    """Return the fewest segments that can be planned, two of each stratum."""
    return _LEAST * (1 if sample.codes is None else int(sample.codes.max()) + 1)


def drawn(sample: Sample, pairs: Sequence[Pair], n: int, plan: Plan) -> Iterator[Draws]:
    """Yield draws of n segments for each pair."""
    source = _Source(sample, n, plan)
    yield from _few(source, pairs) if n <= _FEW else _many(source, pairs)


def found_from(draws: Draws, n: int, level: float, alternative: str) -> tuple[Floats, Floats]:
    """Return the true differences from which on draws are significant, above 0 and below."""
    from scipy.special import stdtrit

    tail = level / 2 if alternative == "two-sided" else level
    quantile = -np.asarray(stdtrit(draws.degrees, tail), dtype=np.float64)
    # As in the default test, the more careful of t and Hall's transformation decides.
    above = np.maximum(quantile, skewness.untransformed(quantile, draws.skew, n))
    below = np.minimum(-quantile, skewness.untransformed(-quantile, draws.skew, n))
    return (
        power.found_from(draws.centred, draws.errors, above),
        power.found_from(draws.centred, draws.errors, below),
    )


class _Source:
    """What is drawn from: units of each stratum, or of all together, and n of them."""

    def __init__(self, sample: Sample, n: int, plan: Plan) -> None:
        self.sample, self.n, self.plan = sample, n, plan
        codes = np.zeros(sample.n_segments, dtype=np.intp) if sample.codes is None else sample.codes
        self.codes, self.places = codes, places_of(codes)
        self.pilot = np.bincount(codes)
        self.counts = _allocated(n, self.pilot)
        self.starts = np.cumsum(self.counts) - self.counts
        self.averages = isinstance(sample.table.metric, MeanOfStrata)
        values: Any = sample.values
        #: Statistics of units `(S, N, k)`, not yet in the columns of their strata.
        self.values = values.narrow if isinstance(values, StratumRows) else values

    @cached_property
    def degrees(self) -> Floats:
        """Degrees of freedom of each stratum's variance, `(T,)`."""
        sizes = self.sample.sizes
        members = np.ones(len(self.codes), dtype=np.int64) if sizes is None else sizes
        found = strata.stratum_degrees(members, self.codes)
        each = zip(self.counts, self.pilot, found, strict=True)
        return np.array([degrees_for(n, n_pilot, degrees) for n, n_pilot, degrees in each])

    @cached_property
    def expected(self) -> Floats:
        """Scores that draws lie about, `(S,)`: the pilot's, but for strata in whole segments."""
        sums = np.stack([np.sum(self.values[:, p], axis=1, dtype=float) for p in self.places], 1)
        scale = self.counts / self.pilot * (np.sum(self.pilot) / self.n)
        return self.score(sums * scale[:, None])

    def sum(self, values: NDArray[Any], axis: int = 1) -> Floats:
        """Sum over the units of each stratum that are drawn."""
        if len(self.counts) == 1:  # a good deal faster
            return np.asarray(np.sum(values, axis=axis, keepdims=True))
        return np.asarray(np.add.reduceat(values, self.starts, axis=axis))

    def totals(self, sums: Floats) -> Floats:
        """Return totals of what is scored, from those of strata `(..., T, k)`."""
        if self.averages:
            return sums.reshape(*sums.shape[:-2], -1)
        return np.asarray(np.sum(sums, axis=-2))

    def score(self, sums: Floats) -> Floats:
        """Return scores `(...)` of the totals of strata `(..., T, k)`."""
        metric = self.sample.table.metric
        scores = metric.score(self.totals(sums))
        if not np.all(np.isfinite(scores)):
            raise InputError(
                f"{metric.name} of {self.n} segments drawn from the pilot is not finite; "
                f"define the score for every total, for example where a denominator is 0"
            )
        return scores

    def draws(
        self, differences: Floats, pair: Pair, variances: Floats, skew: Floats, kurtosis: Floats
    ) -> Draws:
        """Return draws from their differences and variances of strata, `(B, T)`."""
        a, b = pair
        variance = np.sum(variances, axis=1)
        rest = np.sum(variances**2 / self.degrees, axis=1)
        most = np.full(len(variance), np.sum(self.degrees))
        degrees = np.divide(variance**2, rest, where=rest > 0, out=most)
        if self.sample.table.metric.heavy_tails:
            # As the test does: `skewness.degrees_of_spread`.
            few = np.divide(2 * self.n, kurtosis - 1, where=kurtosis > 1, out=degrees.copy())
            degrees = np.minimum(degrees, few)
        centred = differences - (self.expected[b] - self.expected[a])
        return Draws(centred, np.sqrt(variance), skew, degrees)


def _allocated(n: int, pilot: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many of n units each stratum has: in proportion, and two at least."""
    exact = n * pilot / np.sum(pilot)
    counts = np.maximum(np.floor(exact), _LEAST).astype(np.int64)
    while np.sum(counts) != n:
        # One at a time, where the share is missed by most.
        missed = exact - counts
        if np.sum(counts) < n:
            counts[np.argmax(missed)] += 1
        else:
            counts[np.argmin(np.where(counts > _LEAST, missed, np.inf))] -= 1
    return counts


def _few(source: _Source, pairs: Sequence[Pair]) -> Iterator[Draws]:
    """Yield what `compare` would compute of each draw."""
    sample, n, plan = source.sample, source.n, source.plan
    metric, (n_systems, _, k) = sample.table.metric, source.values.shape
    rng = np.random.default_rng([plan.seed, n])
    step = max(1, _BLOCK // (n * n_systems * k))
    # What is one number for all of a stratum's units; a stratum of all needs no copies.
    codes = (
        [0] if len(source.counts) == 1 else np.repeat(np.arange(len(source.counts)), source.counts)
    )
    parts: list[list[Draws]] = [[] for _ in pairs]
    for done in range(0, plan.n_resamples, step):
        rows_done = min(step, plan.n_resamples - done)
        drawn = np.concatenate(
            [
                places[rng.integers(len(places), size=(rows_done, count))]
                for places, count in zip(source.places, source.counts, strict=True)
            ],
            axis=1,
        )
        rows = source.values[:, drawn].astype(np.float64)  # (S, R, n, k)
        sums = source.sum(rows, axis=2)
        scores, gradient = source.score(sums), metric.gradient(source.totals(sums))
        if source.averages:
            gradient = gradient.reshape(sums.shape)[:, :, codes]
            moves = np.einsum("srnk,srnk->srn", rows, gradient)
        else:
            moves = np.einsum("srnk,srk->srn", rows, gradient)
        share = 1 / source.counts[codes]
        if sample.sizes is not None:
            sizes = sample.sizes[drawn]
            share = sizes / source.sum(sizes)[:, codes]
        for part, (a, b) in zip(parts, pairs, strict=True):
            values = moves[b] - moves[a]
            values -= (source.sum(values) / source.counts)[:, codes]
            squares = values**2
            variances = source.sum(squares / (1 - share))
            second = np.mean(squares, axis=1)
            skew = _standardised(np.mean(squares * values, axis=1), second, 3)
            kurtosis = _standardised(np.mean(squares**2, axis=1), second, 4)
            part.append(source.draws(scores[b] - scores[a], (a, b), variances, skew, kurtosis))
    for part in parts:
        yield Draws(*(np.concatenate(column) for column in zip(*part, strict=True)))


def _many(source: _Source, pairs: Sequence[Pair]) -> Iterator[Draws]:
    """Yield nearly the same, from sums over draws of the pilot's influence values."""
    sample, n, counts = source.sample, source.n, source.counts
    n_systems, n_pilot, k = source.values.shape
    # In points of the score, of one segment.
    moves = n_pilot * np.stack([sampling.influences(sample, pair)[0] for pair in pairs], axis=1)
    squares, divisors = moves**2, counts - 1
    if sample.sizes is not None:
        # The bias-reduced variance divides by one less than the groups in its own way.
        means = np.bincount(source.codes, weights=sample.sizes) / source.pilot
        shares, divisors = sample.sizes / (counts * means)[source.codes], counts
        squares = squares / (1 - np.minimum(shares, _LARGEST_SHARE))[:, None]
    statistics = source.values.transpose(1, 0, 2).reshape(n_pilot, -1).astype(np.float64)
    columns = np.concatenate([statistics, moves, squares, moves**3, moves**4], axis=1)
    seeds = [source.plan.seed]
    if len(counts) > 1:
        # Strata are drawn independently.
        seeds = np.random.SeedSequence([source.plan.seed, n]).generate_state(len(counts)).tolist()
    each = zip(source.places, counts, seeds, strict=True)
    drawn = np.stack([_sums(columns[p], int(m), s, source.plan) for p, m, s in each], axis=1)
    totals, *blocks = np.split(drawn, n_systems * k + len(pairs) * np.arange(4), axis=2)
    by_system = totals.reshape(*totals.shape[:2], n_systems, k).transpose(0, 2, 1, 3)
    scores = source.score(by_system)
    gradients = n * sample.table.metric.gradient(source.totals(by_system))
    for i, (a, b) in enumerate(pairs):
        first, second, third, fourth = (block[:, :, i] / counts for block in blocks)  # (B, T)
        variance = np.maximum(second - first**2, 0.0)
        bends = _bends(source, (a, b), gradients)[:, None]
        errors = variance * bends * counts**2 / (divisors * n**2)
        fourth = fourth - 4 * first * third + 6 * first**2 * second - 3 * first**4
        third = third - 3 * first * second + 2 * first**3
        together = variance @ counts / n
        skew = _standardised(third @ counts / n, together, 3)
        kurtosis = _standardised(fourth @ counts / n, together, 4)
        yield source.draws(scores[:, b] - scores[:, a], (a, b), errors, skew, kurtosis)


def _standardised(moment: Floats, variance: Floats, power: int) -> Floats:
    """Return a central moment over that power of the standard deviation."""
    return np.divide(
        moment, variance ** (power / 2), where=variance > 0, out=np.zeros_like(variance)
    )


def _bends(source: _Source, pair: Pair, gradients: Floats) -> Floats:
    """Return by how much the variance changes where the gradient does, `(B, S, k) -> (B,)`.

    BLEU has two gradients at a length ratio of 1, and draws fall on either side.
    """
    sample = source.sample
    rows = np.concatenate([sample.values[i] for i in pair], axis=1).astype(np.float64)
    for places in source.places:
        rows[places] -= np.mean(rows[places], axis=0)
    covariance = rows.T @ rows / len(rows)
    signs = np.array([[-1.0], [1.0]])

    def variance(gradient: Floats) -> Floats:
        flat = (signs * gradient).reshape(*gradient.shape[:-2], -1)
        return np.asarray(np.einsum("...i,...i->...", flat @ covariance, flat))

    pilot = len(rows) * sample.table.metric.gradient(sample.totals[list(pair)])
    with np.errstate(invalid="ignore", divide="ignore"):
        change = variance(gradients[:, list(pair)]) / variance(pilot)
    # Few segments may leave a draw without a gradient, where the score is not smooth.
    return np.where(np.isfinite(change), change, 1.0)


def _sums(columns: Floats, n: int, seed: int, plan: Plan) -> Floats:
    """Sum columns over draws of n segments, with replacement, `(N, K) -> (B, K)`."""
    n_pilot = len(columns)
    if n <= n_pilot:
        weights = recipe(n_pilot, seed, "multinomial", n)
        return weighted_totals(weights, columns, plan.n_resamples, plan.executor)
    # More draws than segments: counts of segments are drawn at once, not one by one.
    rng = np.random.default_rng([seed, n])
    shares = np.full(n_pilot, 1 / n_pilot)
    step = max(1, _BLOCK // n_pilot)
    blocks = [
        rng.multinomial(n, shares, size=min(step, plan.n_resamples - done)).astype(float) @ columns
        for done in range(0, plan.n_resamples, step)
    ]
    return np.concatenate(blocks)
