"""Families of comparisons: p-values adjusted for all pairs at once.

The largest of all differences, each over its own standard error, is resampled with all systems
together (step-down max-T; Romano and Wolf, 2005, 2016). Where fewer than half a per cent of the
resamples reach a difference, Holm's method (1979) says how small its p-value is. It also goes over
tasks, and over claims of likeness.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.options import Options
from evalstats.analysis.quantities import less
from evalstats.analysis.scores import Pair, Scores, rows_of
from evalstats.inference import bootstrap, families, student
from evalstats.inference.student import Spread
from evalstats.resampling.weighted import (
    ExactProduct,
    Stacked,
    exact_grid,
    over_batches,
    stacked_products,
    weighted_totals,
)
from evalstats.resampling.weights import places_of
from evalstats.results.records import ONE_IN, is_mixed, loss_claim, part_of

Floats = NDArray[np.float64]

#: A sum of values in steps has so many bits in single precision, whose 24 leave room for weights,
#: and its largest value so many.
_SINGLE_BITS, _LARGEST_BITS = 22, 16
#: Of more segments than these each value would have too few bits, and double precision is taken.
_SINGLE_SEGMENTS = 1 << 14
#: A sum of values in steps has so many bits in double precision.
_DOUBLE_BITS = 52
#: Sums of strata that are subtracted at once.
_MOST_SUMS = 1 << 18
#: Claims whose p-values are adjusted, each kind by itself.
CLAIMS = ("pvalue_not_worse", "pvalue_equivalence")

#: Standard errors of differences within each resample: of p pairs `(p, B)`.
Errors = Callable[[Sequence[Pair]], Floats]
#: Which systems are subtracted in p pairs, from which others, in which unit `(p, 1)`.
_Apart: TypeAlias = "tuple[list[int], list[int], Floats]"


def errors_within(scores: Scores, options: Options) -> Errors | None:
    """Return what gives the standard errors of pairs within resamples; without influence nothing.

    √Σ_t (Q*_t - S*_t²/n_t) with the resampled sums S* of influence values and Q* of their squares
    in each stratum. Without strata sums of influence values are drawn once.
    """
    if scores.influence is None or not scores.units.has_values:
        return None
    units = scores.units
    values = student.unbiased(scores.influence, units.sizes, units.codes)
    unit = student.unit_of(values)
    values = values / unit
    sums: list[Floats] = []

    def errors(pairs: Sequence[Pair]) -> Floats:
        first, second = [a for a, _ in pairs], [b for _, b in pairs]
        moved = values[second] - values[first]
        scale = student.unit_of(moved, axis=1)
        squares = np.square(moved / scale)
        if units.codes is not None:
            apart = first, second, scale
            return np.sqrt(_within_strata(scores, options, values, squares, apart)) * (scale * unit)
        if sums:
            variance = _totals(scores, options, squares)
        else:
            # Both with the same rows of weights, which take as long to draw.
            both = _totals(scores, options, np.concatenate([values, squares]))
            sums.append(both[: len(values)].copy())
            variance = both[len(values) :]
        variance -= np.square((sums[0][second] - sums[0][first]) / scale) / units.n
        return np.asarray(np.sqrt(np.maximum(variance, 0.0)) * (scale * unit))

    return errors


def _totals(scores: Scores, options: Options, values: Floats) -> Floats:
    """Return resampled sums of values of units, `(p, N) -> (p, B)`."""
    # Above the least of them no number is negative, and single precision will do. As weights
    # sum to N in every resample, what is below cancels out.
    least = np.min(values, axis=1, keepdims=True)
    whole, steps = _whole_numbers((values - least).T)
    rows = rows_of(scores.units, options.seed)
    totals = weighted_totals(rows, whole, scores.draws.n, options.executor)
    totals -= np.sum(whole, axis=0)
    totals *= steps
    totals += np.sum(values, axis=1)
    return np.asarray(totals.T)


def _within_strata(
    scores: Scores, options: Options, values: Floats, squares: Floats, apart: _Apart
) -> Floats:
    """Return squared errors of pairs in strata, `(p, B)`, of whose values rows are drawn once."""
    n_systems, rows = len(values), rows_of(scores.units, options.seed)
    whole, steps = _whole_numbers(np.concatenate([values, squares]).T)
    assert scores.units.codes is not None
    parts = [(p, whole[p, :n_systems]) for p in places_of(scores.units.codes)]
    of_squares = ExactProduct(exact_grid(whole[:, n_systems:]), rows.largest)
    work = partial(_variances, stacked_products(rows, parts), of_squares, apart, steps)
    variance = over_batches(work, rows, scores.draws.n, options.executor, axis=1)
    return np.maximum(variance, 0.0, out=variance)


def _variances(
    of_values: Stacked, of_squares: ExactProduct, apart: _Apart, steps: Floats, rows: NDArray[Any]
) -> Floats:
    """Return Σ_t (Q*_t - S*_t²/n_t) of pairs in some resamples, `(p, R)`."""
    first, second, scale = apart
    n_systems = len(steps) - len(first)
    variance = of_squares(rows) * steps[n_systems:, None]
    for strata, places, product in of_values:
        sums = product(rows[:, places]) * steps[:n_systems, None]
        # Of many pairs and strata differences take much memory.
        few = max(1, _MOST_SUMS // (len(strata) * len(rows)))
        for i in range(0, len(first), few):
            here = slice(i, i + few)
            moved = (sums[:, second[here]] - sums[:, first[here]]) / scale[here]
            variance[here] -= np.sum(np.square(moved), axis=0) / product.shape[1]
    return variance


def adjusted(
    scores: Scores,
    pairs: Sequence[Pair],
    spreads: Sequence[Spread],
    pvalues: Floats,
    adjustment: str,
    options: Options,
) -> tuple[Floats, Floats]:
    """Adjust the p-values of all pairs under a metric, `(P,) -> (P,)`; none is below its own.

    `spreads` are those of the differences. With them come p-values that are adjusted within the
    pairs of each system alone, `(S, S)`, a row a system, which ranks ask for: what resamples say of
    a pair is drawn once.
    """
    n_systems = len(scores.value)
    within = np.ones((n_systems, n_systems))
    if len(pairs) == 1:
        ((a, b),) = pairs
        within[a, b] = within[b, a] = pvalues[0]
        return pvalues, within
    of_systems = [[i for i, pair in enumerate(pairs) if s in pair] for s in range(n_systems)]
    families_ = [list(range(len(pairs))), *of_systems]
    if adjustment != "max-t":
        stepped = [families.ADJUSTMENTS[adjustment](pvalues[places]) for places in families_]
    else:
        stepped = _max_t(scores, pairs, spreads, pvalues, families_, options)
    for system, (places, of_system) in enumerate(zip(of_systems, stepped[1:], strict=True)):
        within[system, [sum(pairs[i]) - system for i in places]] = of_system
    return stepped[0], within


def _max_t(
    scores: Scores,
    pairs: Sequence[Pair],
    spreads: Sequence[Spread],
    pvalues: Floats,
    families_: Sequence[Sequence[int]],
    options: Options,
) -> list[Floats]:
    """Adjust p-values within several families of pairs by step-down max-T.

    What is not drawn, or does not vary, knows nothing of the others, and has Holm's p-value.
    """
    stepped = [families.holm(pvalues[places]) for places in families_]
    error = np.array([spread.error for spread in spreads])
    degrees = np.array([spread.degrees for spread in spreads])
    n_differing = np.array([scores.differ(*pair)[0] for pair in pairs])
    is_drawn = (n_differing > 0) & (error > 0) & (degrees >= bootstrap.LEAST_DEGREES)
    varying = np.flatnonzero(is_drawn)
    n_resamples = scores.draws.n
    if not n_resamples or not len(varying):
        return stepped
    sign = {"two-sided": 0, "greater": 1, "less": -1}[options.alternative]
    error, within = error[varying], errors_within(scores, options)
    a, b = (np.array(side)[varying] for side in zip(*pairs, strict=True))
    value = scores.value[b] - scores.value[a]

    def sided(t: Floats) -> Floats:
        return np.asarray(t * sign if sign else np.abs(t))

    def null(places: NDArray[np.intp]) -> Floats:
        first, second, n = a[places], b[places], scores.units.n
        moved = less(scores.replicates, scores.value, first, second, 1.0, n)
        moved -= value[places, None]
        if within is None:
            # Without errors of their own resamples have that of the sample.
            moved /= error[places, None]
            return sided(moved)
        scale = within(list(zip(first, second, strict=True)))
        # A resample that misses the few units on which two systems differ says nothing of them.
        moved /= np.maximum(scale, error[places, None] / 2, out=scale)
        return sided(moved)

    sizes = sided(value / error)
    number = {int(i): n for n, i in enumerate(varying)}
    known = [[number[i] for i in places if i in number] for places in families_]
    reached, _ = families.step_down(null, sizes, n_resamples, known)
    fewest, sides = max((n_resamples + 1) // ONE_IN, 1), options.sides
    for places, varied, n_reached, holm in zip(families_, known, reached, stepped, strict=True):
        counts = families.monotone(np.float64(1) + n_reached, sizes[varied])
        shares = np.maximum(counts, fewest) / (n_resamples + 1)
        if within is None:
            # Errors that are the same in all resamples do not say how uncertain they are.
            of_pairs = [spreads[varying[i]] for i in varied]
            both = zip(shares.tolist(), of_pairs, strict=True)
            shares = np.array([bootstrap.widened(x / sides, spread, sides) for x, spread in both])
        # At each level one of the two decides: at levels below the smallest share Holm's.
        is_known = [i in number for i in places]
        together = np.where(counts > fewest, shares, np.minimum(shares, holm[is_known]))
        holm[is_known] = np.maximum(together, pvalues[places][is_known])
    return stepped


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


class Row(NamedTuple):
    """A pair under one metric on a task, or in total, with the fields of its `Difference`."""

    task: str
    aggregate: str | None
    metric: str
    fields: dict[str, Any]


def families_of(rows: Sequence[Row]) -> list[list[Row]]:
    """Return the rows that are adjusted together.

    These are the rows of all tasks under one metric, or under all where a total is of several; and,
    apart, the totals.
    """
    together: dict[Any, list[Row]] = {}
    mixed = is_mixed(rows)
    for row in rows:
        together.setdefault((row.aggregate is None, mixed or row.metric), []).append(row)
    return list(together.values())


def adjust_over_tasks(rows: Sequence[Row], adjustment: str) -> None:
    """Adjust the p-values of rows over tasks, within each metric, or all together; totals apart."""
    for family in families_of(rows):
        if adjustment == "max-t":
            # Within each task, or total, that is done.
            parts = [part_of(row.task, row.aggregate, row.metric) for row in family]
            stepped = families.holm_over(parts, [row.fields["pvalue_adjusted"] for row in family])
        else:
            stepped = families.ADJUSTMENTS[adjustment]([row.fields["pvalue"] for row in family])
        for row, p in zip(family, stepped.tolist(), strict=True):
            row.fields["pvalue_adjusted"] = p


def adjust_claims(rows: Sequence[Row], adjustment: str, level: float) -> None:
    """Adjust the p-values of claims, and say which claim is made.

    Claims of equivalence are adjusted among themselves, and so are those of no loss; max-T, which
    is about differences from 0, is Holm's method here. What cannot be claimed of a pair counts all
    the same, with a p-value of 1: whether it can was seen in the data.
    """
    adjust = families.ADJUSTMENTS["holm" if adjustment == "max-t" else adjustment]
    for family in families_of(rows):
        for name in CLAIMS:
            stepped = adjust([row.fields.get(name, 1.0) for row in family]).tolist()
            for row, p in zip(family, stepped, strict=True):
                if name in row.fields:
                    row.fields[f"{name}_adjusted"] = p
    for row in rows:
        kept, equivalent = (row.fields.get(f"{name}_adjusted") for name in CLAIMS)
        row.fields["claim"] = loss_claim(kept, equivalent, level)
