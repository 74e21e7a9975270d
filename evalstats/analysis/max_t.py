"""Families of comparisons: p-values adjusted, and intervals that hold, for all pairs at once.

The largest of all differences, each over its own standard error, is resampled with all systems
together (step-down max-T; Romano and Wolf, 2005, 2016). Where fewer than half a per cent of the
resamples reach a difference, Holm's method (1979) says how small its p-value is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.drawn import Drawn, rows_of
from evalstats.analysis.options import Options
from evalstats.analysis.pairs import Compared, logarithms
from evalstats.inference import bootstrap, families, student
from evalstats.inference.bootstrap import Bounds
from evalstats.resampling.weighted import stratum_totals, weighted_totals
from evalstats.resampling.weights import places_of

Floats = NDArray[np.float64]

#: One resample in so many is the smallest share that is a p-value. Beyond it the resamples of few
#: units have heavier tails than t, and of many units too few are as large.
_ONE_IN = 200

#: A sum of values in steps has so many bits in single precision, whose 24 leave room for weights,
#: and its largest value so many.
_SINGLE_BITS, _LARGEST_BITS = 22, 16
#: Of more segments than these each value would have too few bits, and double precision is taken.
_SINGLE_SEGMENTS = 1 << 14
#: A sum of values in steps has so many bits in double precision.
_DOUBLE_BITS = 52


#: Standard errors of differences within each resample: of p pairs `(p, B)`.
Errors = Callable[[Sequence[Compared]], Floats]


def errors_within(drawn: Drawn, options: Options) -> Errors | None:
    """Return what gives the standard errors of pairs within resamples; without influence nothing.

    √Σ_t (Q*_t - S*_t²/n_t) with the resampled sums S* of influence values and Q* of their squares
    in each stratum. Sums of influence values are drawn once.
    """
    if drawn.influence is None or not drawn.units.has_values:
        return None
    units = drawn.units
    values = student.unbiased(drawn.influence, units.sizes, units.codes)
    unit = student.unit_of(values)
    values = values / unit
    sums: list[tuple[int, Floats]] = []

    def errors(pairs: Sequence[Compared]) -> Floats:
        first, second = [pair.a for pair in pairs], [pair.b for pair in pairs]
        moved = values[second] - values[first]
        scale = student.unit_of(moved, axis=1)
        squares = np.square(moved / scale)
        if sums:
            variance = _totals(drawn, options, squares)
        elif units.codes is None:
            # Both with the same rows of weights, which take as long to draw.
            both = _totals(drawn, options, np.concatenate([values, squares]))
            of_values, variance = np.split(both, [len(values)])
            sums.append((units.n, of_values))
        else:
            sums.extend(_totals_of_strata(drawn, options, values))
            variance = _totals(drawn, options, squares)
        for n, of_values in sums:
            variance -= np.square((of_values[second] - of_values[first]) / scale) / n
        return np.asarray(np.sqrt(np.maximum(variance, 0.0)) * (scale * unit))

    return errors


def _totals(drawn: Drawn, options: Options, values: Floats) -> Floats:
    """Return resampled sums of values of units, `(p, N) -> (p, B)`."""
    # Above the least of them no number is negative, and single precision will do. As weights
    # sum to N in every resample, what is below cancels out.
    least = np.min(values, axis=1, keepdims=True)
    whole, steps = _whole_numbers((values - least).T)
    rows, n_resamples = rows_of(drawn.units, options.seed), drawn.replicates.shape[1]
    totals = weighted_totals(rows, whole, n_resamples, options.executor)
    moved = (totals - np.sum(whole, axis=0)) * steps
    return np.asarray(moved.T + np.sum(values, axis=1, keepdims=True))


def _totals_of_strata(drawn: Drawn, options: Options, values: Floats) -> list[tuple[int, Floats]]:
    """Return the number of units of each stratum, and resampled sums in it, `(S, B)`."""
    whole, steps = _whole_numbers(values.T)
    assert drawn.units.codes is not None
    places = places_of(drawn.units.codes)
    parts = [(p, whole[p]) for p in places]
    rows, n_resamples = rows_of(drawn.units, options.seed), drawn.replicates.shape[1]
    stacked = partial(np.stack, axis=1)
    totals = stratum_totals(rows, parts, n_resamples, options.executor, stacked)
    return [(len(p), (totals[:, t] * steps).T) for t, p in enumerate(places)]


def adjusted(
    pairs: Sequence[Compared],
    pvalues: Floats,
    adjustment: str,
    errors: Errors | None = None,
) -> Floats:
    """Adjust the p-values of a family of pairs, `(P,) -> (P,)`; none is below its own.

    The pairs are those under one metric, or under several with the same resamples and options.
    Families of one metric may share the standard errors within resamples.
    """
    if adjustment != "max-t":
        return families.ADJUSTMENTS[adjustment](pvalues)
    if len(pairs) == 1:
        return pvalues
    # What is not drawn, or does not vary, knows nothing of the others.
    stepped = families.holm(pvalues)
    drawn = _drawn(pairs)
    if drawn:
        varying = [pairs[i] for i in drawn]
        sign = {"two-sided": 0, "greater": 1, "less": -1}[pairs[0].options.alternative]
        within = _errors_within(varying, errors)
        reached, largest = _largest(varying, sign, within)
        counts = families.monotone(np.float64(1) + reached, _sizes(varying, sign))
        fewest = _fewest(largest)
        shares = np.maximum(counts, fewest) / (len(largest) + 1)
        # Standard errors that are the same in all resamples say nothing of how uncertain they are.
        shares = np.array(
            [
                share if within[pair.drawn] else _widened(float(share), pair)
                for share, pair in zip(shares, varying, strict=True)
            ]
        )
        # At each level one of the two decides: at levels below the smallest share Holm's.
        small = np.minimum(shares, stepped[drawn])
        together = np.where(counts > fewest, shares, small)
        stepped[drawn] = np.maximum(together, pvalues[drawn])
    return stepped


def simultaneous(pairs: Sequence[Compared]) -> list[Bounds]:
    """Return intervals that hold for all pairs of a family at once.

    D ± c·se with c the k-th largest of the largest differences, the last whose adjusted p-value is
    at most α, and never shorter than the interval of the pair alone. Where α is below the smallest
    share of resamples, c is Bonferroni's where that is larger.
    """
    alpha, n_pairs = pairs[0].options.alpha, len(pairs)
    critical = [student.quantile(pair.spread.degrees, alpha / n_pairs) for pair in pairs]
    drawn = _drawn(pairs)
    if drawn and n_pairs > 1:
        varying = [pairs[i] for i in drawn]
        within = _errors_within(varying)
        largest = np.sort(_largest(varying, 0, within)[1])
        fewest = _fewest(largest)
        for i in drawn:
            share = alpha
            if within[pairs[i].drawn] is None:
                share = 2 * bootstrap.tail(alpha, pairs[i].spread)
            k = int((len(largest) + 1) * share)
            beyond = max(float(largest[-fewest]), critical[i])
            critical[i] = float(largest[-k]) if k >= fewest else beyond
    return [_joined(pair, c) for pair, c in zip(pairs, critical, strict=True)]


def _joined(pair: Compared, critical: float) -> Bounds:
    """Return the interval of so many standard errors, or that of the pair alone if it is longer."""
    alone = pair.interval(pair.options.alpha)
    if pair.n_differing == 0:
        return alone
    if pair.options.contrast == "difference":
        half = critical * pair.spread.error
        low, high = pair.value - half, pair.value + half
    else:
        low, high = pair.ratio.at(critical)
    if pair.options.contrast == "log-ratio":
        low, high = logarithms((low, high))
    return min(low, alone[0]), max(high, alone[1])


def _widened(share: float, pair: Compared) -> float:
    """Return the p-value of a share of resamples, widened as that of the pair alone is."""
    sides = pair.options.sides
    return bootstrap.widened(share / sides, pair.spread, sides)


def _drawn(pairs: Sequence[Compared]) -> list[int]:
    """Return the places of pairs that vary and whose resamples say how much."""
    return [
        i
        for i, pair in enumerate(pairs)
        if pair.drawn.replicates.size and pair.n_differing
        if pair.spread.error > 0 and not pair.by_t
    ]


def _sizes(pairs: Sequence[Compared], sign: int) -> Floats:
    """Return the differences over their standard errors, `(P,)`; a sign of 0 is of both sides."""
    t = np.array([pair.value / pair.spread.error for pair in pairs])
    return np.asarray(t * sign if sign else np.abs(t))


def _errors_within(
    pairs: Sequence[Compared], errors: Errors | None = None
) -> dict[Drawn, Errors | None]:
    """Return the standard errors within resamples, metric by metric."""
    if errors is not None:
        return {pairs[0].drawn: errors}
    metrics = dict.fromkeys(pair.drawn for pair in pairs)
    return {drawn: errors_within(drawn, pairs[0].options) for drawn in metrics}


def _largest(
    pairs: Sequence[Compared], sign: int, within: Mapping[Drawn, Errors | None]
) -> tuple[NDArray[np.int64], Floats]:
    """Return for each pair how many resamples reach it, and the largest of each, as `step_down`."""
    errors = np.array([pair.spread.error for pair in pairs])
    n = pairs[0].drawn.replicates.shape[1]

    def null(places: NDArray[np.intp]) -> Floats:
        # Without errors of their own resamples have that of the sample.
        scale = np.repeat(errors[places, None], n, axis=1)
        for drawn, of_metric in within.items():
            here = [i for i, j in enumerate(places) if pairs[j].drawn is drawn]
            if here and of_metric is not None:
                scale[here] = of_metric([pairs[places[i]] for i in here])
        # A resample that misses the few units on which two systems differ says nothing of them.
        np.maximum(scale, errors[places, None] / 2, out=scale)
        moved = np.stack([pairs[j].difference.replicates - pairs[j].value for j in places])
        moved /= scale
        return np.asarray(moved * sign if sign else np.abs(moved))

    return families.step_down(null, _sizes(pairs, sign), n)


def _fewest(largest: Floats) -> int:
    """Return the number of resamples, of so many largest differences `(B,)`, that can be a p-value.

    50 of B = 9,999, and 1 of B = 199 and fewer.
    """
    return max((len(largest) + 1) // _ONE_IN, 1)


def _whole_numbers(columns: Floats) -> tuple[Floats, Floats]:
    """Round columns to whole numbers of steps, so few that their weighted sums are exact.

    Squares have so few that single precision, which is faster, holds their sums: a sum then errs by
    some √N/2^23 of itself, 5e-6 for 2,000 segments.
    """
    n, size = len(columns), np.sum(np.abs(columns), axis=0)
    steps = size / (2.0**_DOUBLE_BITS - n)
    if n <= _SINGLE_SEGMENTS:
        single = np.maximum(size / 2.0**_SINGLE_BITS, np.max(columns, axis=0) * 2.0**-_LARGEST_BITS)
        steps = np.where(np.min(columns, axis=0) < 0, steps, single)
    whole = np.divide(columns, steps, where=steps > 0, out=np.zeros(columns.shape))
    return np.rint(whole), steps
