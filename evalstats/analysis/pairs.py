"""Pairs of systems for one metric: rows of a table, claims of equivalence, families of p-values.

A large p-value of a difference is not evidence that there is none. For a claim of equivalence the
null hypothesis is a difference of the margin or more; two one-sided tests reject it (Schuirmann,
1987; Lakens, 2017) if the interval of confidence 1 - 2·level lies within the margin.

P-values are adjusted for all pairs at once: the largest of all differences, each over its own
standard error, is resampled with all systems together (step-down max-T; Romano and Wolf, 2005,
2016). If fewer than half a per cent of the resamples reach a difference, its p-value comes from
Holm's method (1979), which is also used over tasks, and for claims of equivalence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.counts import Counts
from evalstats.analysis.options import Options
from evalstats.analysis.quantities import Quantities, less
from evalstats.analysis.scores import Pair, Scores
from evalstats.errors import InputError
from evalstats.inference import bootstrap, families, fieller, student
from evalstats.inference.draws import monte_carlo_error
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
from evalstats.results.records import is_mixed, loss_claim

Floats = NDArray[np.float64]
#: Scores with fewer different values lie on a lattice.
_FEW_VALUES = 10
#: Number of influence values and replicates of pairs in memory together.
_TOGETHER = 1 << 18
#: Bits of a sum of values in steps in single precision (24 minus room for weights), and of its
#: largest value.
_SINGLE_BITS, _LARGEST_BITS = 22, 16
#: With more segments, values would have too few bits, so double precision is used.
_SINGLE_SEGMENTS = 1 << 14
#: Bits of a sum of values in steps in double precision.
_DOUBLE_BITS = 52
#: Number of sums of strata subtracted at once.
_MOST_SUMS = 1 << 18
#: Standard errors of differences within each resample, `(p, B)` for p pairs.
_Errors = Callable[[Sequence[Pair]], Floats]
#: The systems of p pairs to subtract, the others, and their units `(p, 1)`.
_Apart: TypeAlias = "tuple[list[int], list[int], Floats]"
#: Claims whose p-values are adjusted, each kind separately.
CLAIMS = ("pvalue_not_worse", "pvalue_equivalence")


@dataclass(frozen=True, eq=False)
class PairTest:
    """System b against system a, by the options of a comparison, for questions about a pair."""

    scores: Scores
    a: int
    b: int
    options: Options

    @cached_property
    def difference(self) -> Quantities:
        """The score of b minus the score of a."""
        return self.scores.pairs([self.a], [self.b])

    @property
    def counts(self) -> Counts | None:
        """The test, if the scores are shares."""
        return self.difference.counted(0)

    @property
    def n_differing(self) -> int:
        """Number of units on which their statistics differ."""
        return self.scores.differ(self.a, self.b)[0]

    @cached_property
    def row(self) -> dict[str, Any]:
        """The fields of its `Difference`, with the names of its test and its interval."""
        return row_of(self.scores, (self.a, self.b), self.difference, 0, self.options)


def row_of(
    scores: Scores, pair: Pair, differences: Quantities, q: int, options: Options
) -> dict[str, Any]:
    """Return the fields of a `Difference` that do not depend on other pairs and tasks.

    For a pair (baseline, system), whose difference is number q; with claims, if there is a limit.
    """
    baseline, system = (scores.systems[i] for i in pair)
    assert differences.n_differing is not None
    n_differing = int(differences.n_differing[q])
    test, method = differences.names(q)
    pvalue = differences.pvalue(q, 0.0, options.alternative)
    low, high = differences.interval(q, options.alpha)
    error, pvalue_error = differences.spreads[q].error, 0.0
    if test == "bootstrap" and n_differing:
        # From a count of one side; for identical systems it is always 1.
        share = pvalue / options.sides
        pvalue_error = options.sides * monte_carlo_error(share, options.n_resamples)
    if not np.all(np.isfinite((low, high, error))):
        raise InputError(
            f"{scores.name} of {baseline!r} and {system!r} has no finite interval, because the "
            "score or its gradient is not finite near the totals. Define the score for all "
            "possible totals."
        )
    # Unpaired systems do not share units; with several runs, the runs' error does not depend on
    # units.
    n_units = scores.units.n if scores.is_paired else n_differing
    outcomes = scores.outcomes
    gained, lost = (None, None) if outcomes is None else outcomes.changes(*pair)
    claims = _claims(scores, pair, differences, q, options) if options.is_limited else {}
    return {
        "metric": scores.name,
        "baseline": baseline,
        "system": system,
        "baseline_score": float(scores.value[pair[0]]),
        "system_score": float(scores.value[pair[1]]),
        "low": low,
        "high": high,
        "standard_error": error,
        "pvalue": pvalue,
        "pvalue_error": pvalue_error,
        "n_differing": n_differing,
        "n_units": None if scores.by_run else n_units,
        "higher_is_better": scores.higher_is_better,
        "test": test,
        "method": method,
        "gained": gained,
        "lost": lost,
        **claims,
    }


def _claims(
    scores: Scores, pair: Pair, differences: Quantities, q: int, options: Options
) -> dict[str, float]:
    """Return the claims about the margin, or the recovery: fields of a `Difference`.

    Without adjusted p-values; empty if nothing can be claimed.
    """
    counts, higher = differences.counted(q), scores.higher_is_better
    if counts is None and _is_unbounded(scores, differences.spreads[q].error):
        return {}
    level, margin, kept = options.significance_level, options.margin, options.recovery
    base, new = (float(scores.value[i]) for i in pair)
    # A loss is beyond the limit on one side; not worse is the other side.
    worse, better = ("less", "greater") if higher else ("greater", "less")
    if kept is not None and min(base, new) < 0:
        # A score below 0 has no shares to keep; see `Difference.unanswered`.
        return {}
    if kept is not None and counts is None:
        recovery = Recovery(scores, *(pair if higher else pair[::-1]))
        return {
            "recovery_bound": recovery.bound(level),
            "pvalue_not_worse": recovery.kept_pvalue(kept),
            "pvalue_worse": recovery.lost_pvalue(kept),
        }
    lowest, highest = scores.bounds if counts is None else (0.0, counts.scale)
    if margin is not None and margin >= highest - lowest:
        raise InputError(
            f"must be below {highest - lowest:g}, because {scores.name} ranges from {lowest:g} "
            f"to {highest:g}; got {margin:g}",
            argument="margin",
        )
    low, high = differences.interval(q, 2 * level)
    limit = margin
    if kept is not None:
        # For counts, the limit is a loss of (1 - r)·base: if no item differs, new - r·base would
        # not have an error.
        limit = (1 - kept) * base if higher else (1 / kept - 1) * base
    assert limit is not None
    lost = -limit if higher else limit
    claims = {
        "pvalue_not_worse": differences.pvalue(q, lost, better),
        "pvalue_worse": differences.pvalue(q, lost, worse),
    }
    if margin is not None:
        other = differences.pvalue(q, -lost, worse)
        return claims | {
            "equivalence_bound": max(-low, high),
            "loss_bound": -low if higher else high,
            "pvalue_equivalence": max(claims["pvalue_not_worse"], other),
        }
    # With a baseline of 0, a score above 0 keeps every share, and a score of 0 none.
    share = 1 + low / base if base > 0 else float(low > 0)
    if not higher:
        share = base / (base + high) if base + high > 0 else 0.0
    return claims | {"recovery_bound": float(np.clip(share, 0.0, 1.0))}


def _is_unbounded(scores: Scores, error: float) -> bool:
    """Return whether scores with few values all differ equally, so that nothing bounds others."""
    if error > 0:
        return False
    if not scores.has_segments:
        # A battle has few possible results.
        return bool(scores.battles)
    values = np.concatenate([np.unique(stratum.plain) for stratum in scores.strata])
    metric = scores.strata[0].metric
    is_text = metric.uses_references and metric.reads_text
    return not is_text and len(np.unique(values)) < _FEW_VALUES


@dataclass(frozen=True, eq=False)
class Recovery:
    """The share of a baseline's score that a system keeps.

    A share r is tested with `new - r·base`, with the factor and the degrees of freedom of the
    difference (after Fieller, 1954).
    """

    scores: Scores
    base: int  # places of the baseline, and of the system
    new: int

    @cached_property
    def difference(self) -> Quantities:
        """The score of the system minus the score of the baseline."""
        return self.scores.pairs([self.base], [self.new])

    @cached_property
    def _pair(self) -> fieller.Pair:
        ends, spreads = [self.base, self.new], self.scores.spreads
        errors = (*(spreads[i].error for i in ends), self.difference.spreads[0].error)
        return fieller.Pair(*self.scores.value[ends].tolist(), *errors)

    def bound(self, level: float) -> float:
        """Return the bound, 0 to 1, below which every share is kept, at a one-sided level.

        A resample keeps a share if it keeps every smaller one.
        """
        both, spread = self.difference, self.difference.spreads[0]
        by_t = bound = fieller.kept(self._pair, student.quantile(spread.degrees, 2 * level))
        if not both.is_by_t(0):
            base, new = self.scores.replicates[[self.base, self.new]]
            # Equal except for rounding.
            new = np.where(both.replicates[0] == 0, base, new)
            # new - r·base > 0 holds for every r if base is 0 and new above, for none if both are 0.
            none = np.where(new > 0, np.inf, -np.inf)
            shares = np.divide(new, base, where=base > 0, out=none)
            bound = bootstrap.interval(shares, spread, 2 * level, lambda: (by_t, np.inf))[0]
        bound = float(np.clip(bound, 0.0, 1.0))
        if bound == 1 and self.kept_pvalue(1.0) > level:
            # All shares below 1 are kept, but 1, the null value of no difference, is not.
            return float(np.nextafter(1.0, 0.0))
        return bound

    def kept_pvalue(self, share: float) -> float:
        """Return the one-sided p-value of new <= r·base for this share r, or any smaller one."""
        t, _ = fieller.t_between(self._pair, 0.0, share)

        def distances() -> Floats:
            return np.asarray(np.minimum(self.scores.replicates[self.new], self._less(share)))

        p = self.difference.decided(0, distances, t, "greater")
        return p if share < 1 else max(p, self.difference.least(0, "greater"))

    def lost_pvalue(self, share: float) -> float:
        """Return the one-sided p-value of new >= r·base for this share r, or any up to 1."""
        _, t = fieller.t_between(self._pair, share, 1.0)

        def distances() -> Floats:
            return np.asarray(np.maximum(self.difference.replicates[0], self._less(share)))

        p = self.difference.decided(0, distances, t, "less")
        return max(p, self.difference.least(0, "less"))

    def _less(self, share: float) -> Floats:
        """Return new - r·base in resamples, `(B,)`."""
        return np.asarray(self.scores.pairs([self.base], [self.new], share).replicates[0])


def family_of(
    scores: Scores, pairs: Sequence[Pair], adjustment: str, options: Options
) -> tuple[list[dict[str, Any]], Floats]:
    """Return the fields of the `Difference` of all pairs for a metric, adjusted together.

    Also p-values adjusted over the pairs of each system, `(S, S)`, one row per system, for ranks,
    so that pairs are only resampled once.
    """
    rows: list[dict[str, Any]] = []
    spreads: list[Spread] = []
    step = max(1, _TOGETHER // (scores.units.n + scores.draws.n))
    for start in range(0, len(pairs), step):
        # Replicates of differences are not kept.
        block = pairs[start : start + step]
        a, b = zip(*block, strict=True)
        differences = scores.pairs(a, b)
        rows += [row_of(scores, pair, differences, q, options) for q, pair in enumerate(block)]
        spreads += differences.spreads
    swapped = options.swapped(scores, pairs, options) if options.swapped else ()
    for fields, (p, error) in zip(rows, swapped, strict=False):
        fields |= {"test": "ar", "pvalue": p, "pvalue_error": error}
    n_systems = len(scores.systems)
    of_systems = [[i for i, pair in enumerate(pairs) if s in pair] for s in range(n_systems)]
    places = [list(range(len(pairs))), *of_systems]
    pvalues = np.array([fields["pvalue"] for fields in rows])
    if adjustment == "max-t" and len(pairs) > 1:
        stepped = _max_t(scores, pairs, rows, spreads, places, options)
    else:
        adjust = families.ADJUSTMENTS["none" if len(pairs) == 1 else adjustment]
        stepped = [adjust(pvalues[members]) for members in places]
    within = np.ones((n_systems, n_systems))
    for system, (members, of_system) in enumerate(zip(of_systems, stepped[1:], strict=True)):
        within[system, [sum(pairs[i]) - system for i in members]] = of_system
    for fields, p in zip(rows, stepped[0].tolist(), strict=True):
        fields["pvalue_adjusted"] = p
    return rows, within


def _max_t(
    scores: Scores,
    pairs: Sequence[Pair],
    rows: Sequence[dict[str, Any]],
    spreads: Sequence[Spread],
    places: Sequence[Sequence[int]],
    options: Options,
) -> list[Floats]:
    """Adjust p-values within several families of pairs by step-down max-T.

    Pairs that are not drawn, or do not vary, have Holm's p-value.
    """
    names = ("pvalue", "standard_error", "n_differing")
    pvalues, error, n_differing = (np.array([row[name] for row in rows]) for name in names)
    stepped = [families.holm(pvalues[members]) for members in places]
    degrees = np.array([spread.degrees for spread in spreads])
    is_drawn = (n_differing > 0) & (error > 0) & (degrees >= bootstrap.LEAST_DEGREES)
    varying, n_resamples = np.flatnonzero(is_drawn), scores.draws.n
    if not n_resamples or not len(varying):
        return stepped
    sign = {"two-sided": 0, "greater": 1, "less": -1}[options.alternative]
    error, within = error[varying], _errors_within(scores, options)
    a, b = (np.array(side)[varying] for side in zip(*pairs, strict=True))
    value = scores.value[b] - scores.value[a]

    def sided(t: Floats) -> Floats:
        return np.asarray(t * sign if sign else np.abs(t))

    def null(members: NDArray[np.intp]) -> Floats:
        moved = less(scores.replicates, scores.value, a[members], b[members], 1.0, scores.units.n)
        moved -= value[members, None]
        # Without their own errors, resamples have the sample's.
        scale = error[members, None]
        if within is not None:
            # A resample without the few units on which two systems differ does not count.
            errors = within(list(zip(a[members], b[members], strict=True)))
            scale = np.maximum(errors, scale / 2, out=errors)
        moved /= scale
        return sided(moved)

    sizes = sided(value / error)
    number = {int(i): n for n, i in enumerate(varying)}
    known = [[number[i] for i in members if i in number] for members in places]
    reached, _ = families.step_down(null, sizes, n_resamples, known)
    fewest, sides = max((n_resamples + 1) // families.ONE_IN, 1), options.sides
    for members, varied, n_reached, holm in zip(places, known, reached, stepped, strict=True):
        counts = families.monotone(np.float64(1) + n_reached, sizes[varied])
        shares = np.maximum(counts, fewest) / (n_resamples + 1)
        if within is None:
            # Errors that are equal in all resamples do not show their uncertainty.
            of_pairs = zip(shares.tolist(), varying[varied], strict=True)
            wider = [bootstrap.widened(x / sides, spreads[i], sides) for x, i in of_pairs]
            shares = np.array(wider)
        # At each level one of the two is used: Holm's below the smallest share.
        is_known = is_drawn[members]
        together = np.where(counts > fewest, shares, np.minimum(shares, holm[is_known]))
        holm[is_known] = np.maximum(together, pvalues[members][is_known])
    return stepped


def _errors_within(scores: Scores, options: Options) -> _Errors | None:
    """Return a function for standard errors of pairs within resamples; `None` without influence.

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
            # Both with the same rows of weights, since drawing takes as long.
            both = _totals(scores, options, np.concatenate([values, squares]))
            sums.append(both[: len(values)].copy())
            variance = both[len(values) :]
        variance -= np.square((sums[0][second] - sums[0][first]) / scale) / units.n
        return np.asarray(np.sqrt(np.maximum(variance, 0.0)) * (scale * unit))

    return errors


def _totals(scores: Scores, options: Options, values: Floats) -> Floats:
    """Return resampled sums of values of units, `(p, N) -> (p, B)`."""
    # Relative to their minimum, numbers are nonnegative, and single precision is enough. Since
    # weights sum to N in every resample, the minimum cancels.
    least = np.min(values, axis=1, keepdims=True)
    whole, steps = _whole_numbers((values - least).T)
    rows = scores.units.weights(options.rng)
    totals = weighted_totals(rows, whole, scores.draws.n, options.executor)
    totals -= np.sum(whole, axis=0)
    totals *= steps
    totals += np.sum(values, axis=1)
    return np.asarray(totals.T)


def _within_strata(
    scores: Scores, options: Options, values: Floats, squares: Floats, apart: _Apart
) -> Floats:
    """Return squared errors of pairs in strata, `(p, B)`, drawing rows once."""
    n_systems, rows = len(values), scores.units.weights(options.rng)
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
        # For many pairs and strata, differences take much memory.
        few = max(1, _MOST_SUMS // (len(strata) * len(rows)))
        for i in range(0, len(first), few):
            here = slice(i, i + few)
            moved = (sums[:, second[here]] - sums[:, first[here]]) / scale[here]
            variance[here] -= np.sum(np.square(moved), axis=0) / product.shape[1]
    return variance


def _whole_numbers(columns: Floats) -> tuple[Floats, Floats]:
    """Round columns to whole numbers of steps, small enough for exact weighted sums.

    Squares are small enough for sums in single precision, which is faster: a sum then has a
    relative error of about √N/2^23, 5e-6 for 2,000 segments.
    """
    n, size = len(columns), np.sum(np.abs(columns), axis=0)
    steps = size / (2.0**_DOUBLE_BITS - n)
    if n <= _SINGLE_SEGMENTS:
        single = np.maximum(size / 2.0**_SINGLE_BITS, np.max(columns, axis=0) * 2.0**-_LARGEST_BITS)
        steps = np.where(np.min(columns, axis=0) < 0, steps, single)
    whole = np.divide(columns, steps, where=steps > 0, out=np.zeros(columns.shape))
    return np.rint(whole), steps


class Row(NamedTuple):
    """A pair for one metric on a task, or in total, with the fields of its `Difference`."""

    task: str
    aggregate: str | None
    metric: str
    fields: dict[str, Any]


def adjust_over_tasks(rows: Sequence[Row], adjustment: str, options: Options) -> None:
    """Adjust the p-values of rows and of claims over tasks, and set the claims.

    The rows of all tasks for one metric belong together, or for all metrics if a total combines
    several; totals are a separate family. Claims of equivalence are adjusted among themselves, and
    so are claims of no loss; they use Holm's method instead of max-T, which is for differences from
    0. Pairs without a claim count with a p-value of 1, because whether a claim is possible depends
    on the data.
    """
    together: dict[Any, list[Row]] = {}
    mixed = is_mixed(rows)
    for row in rows:
        together.setdefault((row.aggregate is None, mixed or row.metric), []).append(row)
    of_claims = "holm" if options.adjustment == "max-t" else options.adjustment
    for family in together.values():
        if adjustment == "max-t":
            # Within each task, or total, they are already adjusted.
            parts = [row.task for row in family]
            stepped = families.holm_over(parts, [row.fields["pvalue_adjusted"] for row in family])
        else:
            stepped = families.ADJUSTMENTS[adjustment]([row.fields["pvalue"] for row in family])
        for row, p in zip(family, stepped.tolist(), strict=True):
            row.fields["pvalue_adjusted"] = p
        for name in CLAIMS if options.is_limited else ():
            claimed = [row.fields.get(name, 1.0) for row in family]
            adjusted = families.ADJUSTMENTS[of_claims](claimed).tolist()
            for row, p in zip(family, adjusted, strict=True):
                if name in row.fields:
                    row.fields[f"{name}_adjusted"] = p
    for row in rows if options.is_limited else ():
        kept, equivalent = (row.fields.get(f"{name}_adjusted") for name in CLAIMS)
        row.fields["claim"] = loss_claim(kept, equivalent, options.significance_level)
