"""Families of comparisons: p-values adjusted for all pairs at once.

The largest of all differences, each over its own standard error, is resampled with all systems
together (step-down max-T; Romano and Wolf, 2005, 2016). Where fewer than half a per cent of the
resamples reach a difference, Holm's method (1979) says how small its p-value is. It also goes over
tasks, and over claims of likeness.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.drawn import Drawn, rows_of
from evalstats.analysis.options import Options
from evalstats.analysis.pairs import Studentised
from evalstats.inference import bootstrap, families, student
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
Errors = Callable[[Sequence[Studentised]], Floats]
#: Which systems are subtracted in p pairs, from which others, in which unit `(p, 1)`.
_Apart: TypeAlias = "tuple[list[int], list[int], Floats]"


def errors_within(drawn: Drawn, options: Options) -> Errors | None:
    """Return what gives the standard errors of pairs within resamples; without influence nothing.

    √Σ_t (Q*_t - S*_t²/n_t) with the resampled sums S* of influence values and Q* of their squares
    in each stratum. Without strata sums of influence values are drawn once.
    """
    if drawn.influence is None or not drawn.units.has_values:
        return None
    units = drawn.units
    values = student.unbiased(drawn.influence, units.sizes, units.codes)
    unit = student.unit_of(values)
    values = values / unit
    sums: list[Floats] = []

    def errors(pairs: Sequence[Studentised]) -> Floats:
        first, second = [pair.a for pair in pairs], [pair.b for pair in pairs]
        moved = values[second] - values[first]
        scale = student.unit_of(moved, axis=1)
        squares = np.square(moved / scale)
        if units.codes is not None:
            apart = first, second, scale
            return np.sqrt(_within_strata(drawn, options, values, squares, apart)) * (scale * unit)
        if sums:
            variance = _totals(drawn, options, squares)
        else:
            # Both with the same rows of weights, which take as long to draw.
            both = _totals(drawn, options, np.concatenate([values, squares]))
            sums.append(both[: len(values)].copy())
            variance = both[len(values) :]
        variance -= np.square((sums[0][second] - sums[0][first]) / scale) / units.n
        return np.asarray(np.sqrt(np.maximum(variance, 0.0)) * (scale * unit))

    return errors


def _totals(drawn: Drawn, options: Options, values: Floats) -> Floats:
    """Return resampled sums of values of units, `(p, N) -> (p, B)`."""
    # Above the least of them no number is negative, and single precision will do. As weights
    # sum to N in every resample, what is below cancels out.
    least = np.min(values, axis=1, keepdims=True)
    whole, steps = _whole_numbers((values - least).T)
    rows, n_resamples = rows_of(drawn.units, options.seed), drawn.draws.n
    totals = weighted_totals(rows, whole, n_resamples, options.executor)
    totals -= np.sum(whole, axis=0)
    totals *= steps
    totals += np.sum(values, axis=1)
    return np.asarray(totals.T)


def _within_strata(
    drawn: Drawn, options: Options, values: Floats, squares: Floats, apart: _Apart
) -> Floats:
    """Return squared errors of pairs in strata, `(p, B)`, of whose values rows are drawn once."""
    n_systems, rows = len(values), rows_of(drawn.units, options.seed)
    whole, steps = _whole_numbers(np.concatenate([values, squares]).T)
    assert drawn.units.codes is not None
    parts = [(p, whole[p, :n_systems]) for p in places_of(drawn.units.codes)]
    of_squares = ExactProduct(exact_grid(whole[:, n_systems:]), rows.largest)
    work = partial(_variances, stacked_products(rows, parts), of_squares, apart, steps)
    variance = over_batches(work, rows, drawn.draws.n, options.executor, axis=1)
    return np.maximum(variance, 0.0, out=variance)


def _variances(
    of_values: Stacked, of_squares: ExactProduct, apart: _Apart, steps: Floats, rows: NDArray[Any]
) -> Floats:
    """Return Σ_t (Q*_t - S*_t²/n_t) of pairs in some resamples, `(p, R)`."""
    first, second, scale = apart
    n_systems = len(steps) - len(first)
    variance = of_squares(rows) * steps[n_systems:, None]
    for some, places, product in of_values:
        sums = product(rows[:, places]) * steps[:n_systems, None]
        # Of many pairs and strata differences take much memory.
        few = max(1, _MOST_SUMS // (len(some) * len(rows)))
        for i in range(0, len(first), few):
            here = slice(i, i + few)
            moved = (sums[:, second[here]] - sums[:, first[here]]) / scale[here]
            variance[here] -= np.sum(np.square(moved), axis=0) / product.shape[1]
    return variance


def adjusted(
    pairs: Sequence[Studentised], pvalues: Floats, adjustment: str, options: Options
) -> tuple[Floats, dict[Drawn, Floats]]:
    """Adjust the p-values of a family of pairs, `(P,) -> (P,)`; none is below its own.

    The pairs are those under one metric, or under several with the same resamples. With them come,
    by metric, p-values that are adjusted within the pairs of each system alone, `(S, S)`, a row a
    system, which ranks ask for: what resamples say of a pair is drawn once.
    """
    own: dict[tuple[Drawn, int], list[int]] = {}
    for i, pair in enumerate(pairs):
        for system in (pair.a, pair.b):
            own.setdefault((pair.drawn, system), []).append(i)
    places = [range(len(pairs)), *own.values()]
    together, *alone = adjusted_within(places, pairs, pvalues, adjustment, options)
    by_metric = {pair.drawn: np.ones((len(pair.drawn.scores),) * 2) for pair in pairs}
    for ((drawn, system), some), stepped in zip(own.items(), alone, strict=True):
        others = [pairs[i].a + pairs[i].b - system for i in some]
        by_metric[drawn][system, others] = stepped
    return together, by_metric


def adjusted_within(
    places: Sequence[Sequence[int]],
    pairs: Sequence[Studentised],
    pvalues: Floats,
    adjustment: str,
    options: Options,
) -> list[Floats]:
    """Adjust the p-values of pairs within several families, which may share pairs.

    `places` has for each family those of its pairs. What resamples say of a pair is computed once.
    """
    alone = [pvalues[list(some)] for some in places]
    if adjustment != "max-t":
        return [families.ADJUSTMENTS[adjustment](p) for p in alone]
    # What is not drawn, or does not vary, knows nothing of the others.
    found = [families.holm(p) for p in alone]
    drawn = [i for i, pair in enumerate(pairs) if pair.is_drawn]
    if not drawn or max(map(len, places)) == 1:
        return found
    varying = [pairs[i] for i in drawn]
    sign = {"two-sided": 0, "greater": 1, "less": -1}[options.alternative]
    within, number = _errors_by_metric(varying, options), {i: n for n, i in enumerate(drawn)}
    known = [[number[i] for i in some if i in number] for some in places]
    counted, largest = _largest(varying, sign, within, known)
    fewest, n, sizes = _fewest(largest[0]), len(largest[0]) + 1, _sizes(varying, sign)
    # Standard errors that are the same in all resamples say nothing of how uncertain they are.
    sides, widened = options.sides, bootstrap.widened
    for here, some, reached, p, stepped in zip(places, known, counted, alone, found, strict=True):
        counts = families.monotone(np.float64(1) + reached, sizes[some])
        of_known = [varying[i] for i in some]
        shares = np.array(
            [
                share if within[pair.drawn] else widened(float(share) / sides, pair.spread, sides)
                for share, pair in zip(np.maximum(counts, fewest) / n, of_known, strict=True)
            ]
        )
        # At each level one of the two decides: at levels below the smallest share Holm's.
        is_known = [i in number for i in here]
        together = np.where(counts > fewest, shares, np.minimum(shares, stepped[is_known]))
        stepped[is_known] = np.maximum(together, p[is_known])
    return found


def _sizes(pairs: Sequence[Studentised], sign: int) -> Floats:
    """Return the differences over their standard errors, `(P,)`; a sign of 0 is of both sides."""
    t = np.array([pair.value / pair.spread.error for pair in pairs])
    return np.asarray(t * sign if sign else np.abs(t))


def _errors_by_metric(pairs: Sequence[Studentised], options: Options) -> dict[Drawn, Errors | None]:
    """Return the standard errors within resamples under each metric."""
    return {drawn: errors_within(drawn, options) for drawn in {pair.drawn: 0 for pair in pairs}}


def _largest(
    pairs: Sequence[Studentised],
    sign: int,
    within: Mapping[Drawn, Errors | None],
    places: Sequence[Sequence[int]],
) -> tuple[list[NDArray[np.int64]], Floats]:
    """Return how many resamples reach each pair of families, and their largest: `step_down`."""
    errors = np.array([pair.spread.error for pair in pairs])
    n = pairs[0].drawn.draws.n

    def moves(pair: Studentised) -> Floats:
        return pair.drawn.difference(pair.a, pair.b).replicates - pair.value

    def null(places: NDArray[np.intp]) -> Floats:
        # Without errors of their own resamples have that of the sample.
        scale = np.repeat(errors[places, None], n, axis=1)
        for drawn, of_metric in within.items():
            here = [i for i, j in enumerate(places) if pairs[j].drawn is drawn]
            if here and of_metric is not None:
                scale[here] = of_metric([pairs[places[i]] for i in here])
        # A resample that misses the few units on which two systems differ says nothing of them.
        np.maximum(scale, errors[places, None] / 2, out=scale)
        moved = np.stack([moves(pairs[j]) for j in places])
        moved /= scale
        return np.asarray(moved * sign if sign else np.abs(moved))

    return families.step_down(null, _sizes(pairs, sign), n, places)


def _fewest(largest: Floats) -> int:
    """Return the number of resamples, of so many largest differences `(B,)`, that can be a p-value.

    50 of B = 9,999, and 1 of B = 199 and fewer.
    """
    return max((len(largest) + 1) // ONE_IN, 1)


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


class Tested(NamedTuple):
    """A pair under one metric that was tested within its task, or total."""

    task: str
    aggregate: str | None
    fields: Mapping[str, Any]  # of its `Difference`
    claims: Mapping[str, float]  # of what is shown of a loss, as fields too
    adjusted: float  # its p-value for all pairs of the task

    @property
    def metric(self) -> str:
        """The name of the metric."""
        return str(self.fields["metric"])


def families_of(tests: Sequence[Tested]) -> list[list[int]]:
    """Return the places of the tests that are adjusted together.

    These are the rows of all tasks under one metric, or under all where a total is of several; and,
    apart, the totals.
    """
    found: dict[Any, list[int]] = {}
    mixed = is_mixed(tests)
    for i, one in enumerate(tests):
        key = one.aggregate is not None, "" if mixed else one.metric
        found.setdefault(key, []).append(i)
    return list(found.values())


def adjusted_over_tasks(tests: Sequence[Tested], adjustment: str) -> list[float]:
    """Adjust p-values over tasks, within each metric, or all together; totals apart."""
    pvalues = [one.adjusted for one in tests]
    for places in families_of(tests):
        some = [tests[i] for i in places]
        if adjustment == "max-t":
            # Within each task, or total, that is done.
            parts = [part_of(one.task, one.aggregate, one.metric) for one in some]
            stepped = families.holm_over(parts, [one.adjusted for one in some])
        else:
            stepped = families.ADJUSTMENTS[adjustment]([one.fields["pvalue"] for one in some])
        for i, p in zip(places, stepped.tolist(), strict=True):
            pvalues[i] = p
    return pvalues


def claims_made(tests: Sequence[Tested], adjustment: str, level: float) -> list[dict[str, Any]]:
    """Return what is shown of a loss, fields of differences: tests, bounds, and the claim.

    Claims of equivalence are adjusted among themselves, and so are those of no loss; max-T, which
    is about differences from 0, is Holm's method here. What cannot be claimed of a pair counts all
    the same, with a p-value of 1: whether it can was seen in the data.
    """
    adjust = families.ADJUSTMENTS["holm" if adjustment == "max-t" else adjustment]
    made: list[dict[str, Any]] = [dict(one.claims) for one in tests]
    for places in families_of(tests):
        for name in CLAIMS:
            known = [tests[i].claims.get(name) for i in places]
            stepped = adjust([1.0 if p is None else p for p in known]).tolist()
            for i, p, q in zip(places, known, stepped, strict=True):
                if p is not None:
                    made[i][f"{name}_adjusted"] = q
    for fields in made:
        kept, equivalent = (fields.get(f"{name}_adjusted") for name in CLAIMS)
        fields["claim"] = loss_claim(kept, equivalent, level)
    return made
