"""What is drawn of moments: nothing, since t needs no more than the covariance of the statistics.

For scores with gradients G of systems, `(S, K)`, and the covariance C of their statistics in a
stratum, the inner products of influence values are those of GCGᵀ. Its eigenvectors, each with the
root of its eigenvalue, are coordinates with the same inner products, `(S, S)`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from operator import add

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.design import (
    Aggregate,
    Aggregated,
    SummedUnits,
    as_aggregate,
    without_singles,
)
from evalstats.analysis.drawn import Drawn, Maker, frozen
from evalstats.analysis.options import Options
from evalstats.analysis.scores import Scored, distinct_names
from evalstats.designs.moments.moments import Moments
from evalstats.errors import InputError
from evalstats.metrics import Mean, scores_of
from evalstats.metrics.base import MetricSignature
from evalstats.results.records import plural

Floats = NDArray[np.float64]
#: Eigenvalues below this share of the largest are what rounding leaves of none.
_NOTHING = 1e-15
#: What the bound on rounding may be of the variance of a difference; rounding is a tenth of it.
_MOST_ROUNDING = 0.2
_FLOAT = np.finfo(np.float64)
#: Sums of whole numbers below it leave ten bits to what is made of them.
_EXACT = 2.0**43
_UNCOUNTED = (
    "On how many {units} two systems differ is not among these moments, and all are taken for "
    "such, which t's degrees of freedom rest on; give differing."
)


def from_moments(
    several: Sequence[Moments], aggregate: Aggregated, options: Options
) -> list[Drawn]:
    """Return the scores of systems under the metric of each of several moments."""
    if len({one.systems for one in several}) > 1:
        raise InputError("moments of several metrics must have the same systems, in one order")
    found = []
    for one, name in zip(several, distinct_names([one.metric for one in several]), strict=True):
        applied = as_aggregate(aggregate, one.strata)
        drawn = _of_strata(one.apart(), one.strata, applied, one.differing, one.unit)
        name = name if applied.tag is None else f"{applied.label} {name}"
        found.append(replace(drawn, of=replace(drawn.of, name=name)))
    return found


def of_tasks(tasks: Mapping[str, Moments], aggregate: Aggregate) -> Drawn:
    """Return a total over tasks, each the moments of one stratum, perhaps under its own metric."""
    for name, one in tasks.items():
        if one.strata:
            raise InputError(
                f"task {name!r} has strata, and in a total tasks are the strata; give its moments "
                f"without"
            )
    counts = [one.differing for one in tasks.values()]
    here = [x for x in counts if x is not None]
    known = np.sum(here, axis=0) if len(here) == len(counts) else None
    units = {one.unit for one in tasks.values()}
    unit = units.pop() if len(units) == 1 else "group"
    return _of_strata(list(tasks.values()), tuple(tasks), aggregate, known, unit)


def decide(moments: Moments, options: Options, asked: Mapping[str, int]) -> Options:
    """Return the options with t for all that would be drawn."""
    for name, unknown in (("method", ("percentile", "bca")), ("test", ("ar",))):
        if getattr(options, name) in unknown:
            raise InputError(
                f"{getattr(options, name)!r} needs resamples, and {MAKER.why}; leave it out, and t "
                f"decides",
                argument=name,
            )
    for name in asked:
        raise InputError(
            "must be left out when a Moments is given: nothing is drawn of it, and t decides",
            argument=name,
        )
    method = "t" if options.method == "bootstrap" else options.method
    return replace(options, method=method, test="t")


MAKER = Maker(Moments, "sums and products", from_moments, decide, of_tasks)


def _of_strata(
    parts: Sequence[Moments],
    labels: tuple[str, ...],
    aggregate: Aggregate,
    differing: NDArray[np.int64] | None,
    unit: str,
) -> Drawn:
    """Return the scores of moments of one stratum each, `differing` as `Moments` has it."""
    systems, n = parts[0].systems, sum(one.n_segments for one in parts)
    first = parts[0].metric
    scores, drawn, slopes = _scored(parts, labels, aggregate, unit)
    counted, worth, notes = _differing(differing, n, len(systems), unit)
    with np.errstate(invalid="ignore", over="ignore"):
        each = [_inner(g, one) for g, one in zip(slopes, drawn, strict=True)]
        inner, rounding = np.sum(each, axis=0)
        hidden = _hidden(inner, rounding, parts) & (counted > 0)
    # Rounding tells equal systems apart.
    apart = np.concatenate([coordinates(inner) for inner, _ in each], axis=1)
    influence = apart[np.argmin(counted, axis=1)]
    # The segments of each system without a score: those that a mean does not count.
    n_missing = np.zeros(len(systems), dtype=np.int64)
    for one in parts:
        if one.metric.columns == Mean.columns:
            n_scored = np.rint(one.sums[0, :, 1]).astype(np.int64)
            n_missing += np.maximum(one.counts[0, 1] - n_scored, 0)
    signature = MetricSignature.of(first.signature)
    units = SummedUnits(
        n,
        unit,
        labels=labels,
        places=np.repeat(np.arange(len(drawn)), len(systems)),
        sums=np.concatenate([one.counts for one in drawn]),
    )
    scored = Scored(
        name=first.name,
        metric_name=first.name,
        systems=systems,
        higher_is_better=first.higher_is_better,
        signature=signature if aggregate.tag is None else signature.tagged(aggregate.tag),
        reference_label=None,
        units=units,
    )
    return Drawn(
        scored,
        scored.check_finite(scores, "the corpus"),
        frozen(np.empty((0, len(systems)))),
        influence=influence if np.all(np.isfinite(influence)) else None,
        differing=counted,
        worth=worth,
        notes=notes,
        n_missing=n_missing,
        hidden=hidden,
    )


def _scored(
    parts: Sequence[Moments], labels: tuple[str, ...], aggregate: Aggregate, unit: str
) -> tuple[Floats, Sequence[Moments], Sequence[Floats]]:
    """Return scores, `(S,)`, the strata that are drawn within, and the gradients in each, `(S, k)`.

    Micro, strata of one unit are drawn together, as `Units` has it.
    """
    counts = np.array([one.n_segments for one in parts])
    if aggregate.label == "micro":
        metric, together = parts[0].metric, without_singles(counts)
        totals = np.sum([one.sums[0] for one in parts], axis=0)
        places = (np.flatnonzero(together == t) for t in range(int(together.max()) + 1))
        drawn = [reduce(add, [parts[int(t)] for t in strata]) for strata in places]
        return scores_of(metric, totals), drawn, [metric.gradient(totals)] * len(drawn)
    if np.any(counts == 1):
        raise InputError(
            f": aggregate {aggregate.label!r} of a Moments needs at least 2 {plural(unit)} in each "
            f"stratum; {labels[int(np.argmin(counts))]!r} has 1: join it with another",
            argument="strata",
        )
    each = np.stack([scores_of(one.metric, one.sums[0]) for one in parts], axis=-1)
    weights = aggregate.slopes(each)
    gradients = [one.metric.gradient(one.sums[0]) for one in parts]
    return aggregate.of(each), parts, [weights[:, t, None] * g for t, g in enumerate(gradients)]


def _differing(
    known: NDArray[np.int64] | None, n_units: int, n_systems: int, unit: str
) -> tuple[NDArray[np.int64], Floats | None, tuple[str, ...]]:
    """Return on how many units pairs differ, `(S, S)`, what these are worth, and a note."""
    if known is None:
        counts = n_units * (1 - np.eye(n_systems, dtype=np.int64))
        return counts, None, (_UNCOUNTED.format(units=plural(unit)),) if n_systems > 1 else ()
    units, segments, squares = known
    worth = np.divide(
        segments.astype(np.float64) ** 2, squares, out=np.zeros(units.shape), where=squares > 0
    )
    return units, worth, ()


def _inner(slopes: Floats, moments: Moments) -> tuple[Floats, Floats]:
    """Return inner products of influence values, `(S, S)`, and what rounding may be of each.

    `slopes` are the gradients, `(S, k)`. A sum of n products is off by about ε√n/4 of itself.
    """
    n_systems, width = slopes.shape
    n, sums = float(moments.n[0]), moments.sums[0].ravel()
    covariance = moments.products[0] - np.outer(sums, sums) / n
    # Of each system the gradient by its statistics, and 0 by those of others.
    wide = np.zeros((n_systems, n_systems, width))
    wide[np.arange(n_systems), np.arange(n_systems)] = slopes
    rows = wide.reshape(n_systems, n_systems * width)
    sizes = np.abs(rows) @ np.abs(moments.products[0]) @ np.abs(rows).T
    return rows @ covariance @ rows.T, _FLOAT.eps * n**0.5 / 4 * sizes


def _hidden(inner: Floats, rounding: Floats, parts: Sequence[Moments]) -> NDArray[np.bool_]:
    """Say of which pairs rounding hides how their difference varies, `(S, S)`.

    Systems of the same sums are equal, where no more is left of their difference than rounding.
    """
    own, unknown = np.diag(inner), np.diag(rounding)
    variance = own[:, None] + own - inner - inner.T
    unknown = unknown[:, None] + unknown + rounding + rounding.T + _FLOAT.eps * np.sum(own)
    sums = np.concatenate([one.sums[0] for one in parts], axis=1)
    equal = np.all(sums[:, None] == sums, axis=2) & (variance <= unknown)
    # Products of small scores are 0, and sums of whole numbers have no error.
    is_known = (unknown < _MOST_ROUNDING * variance) & (unknown > _FLOAT.tiny)
    products = [one.products for one in parts]
    is_exact = all(np.all((p == np.rint(p)) & (np.abs(p) < _EXACT)) for p in products)
    return np.asarray(np.isfinite(variance) & ~equal & ~is_known & (not is_exact))


def coordinates(inner: Floats) -> Floats:
    """Return coordinates of S quantities with these inner products, `(S, S) -> (S, S)`."""
    if not np.all(np.isfinite(inner)):
        return np.full(inner.shape, np.nan)
    values, vectors = np.linalg.eigh((inner + inner.T) / 2)
    kept = np.where(values > _NOTHING * np.max(np.abs(values)), values, 0.0)
    return np.asarray(vectors * np.sqrt(kept))
