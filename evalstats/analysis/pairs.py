"""Two systems under one metric: the row of a table, and what is claimed of their likeness.

A large p-value of a difference is no evidence that there is none. Where two systems are said to be
alike the null hypothesis is that they differ by the margin or more; two one-sided tests reject it
(Schuirmann, 1987; Lakens, 2017) where the interval of confidence 1 - 2·level lies within it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from evalstats.analysis.counts import Counts
from evalstats.analysis.options import Options
from evalstats.analysis.quantities import Quantities, Recovery
from evalstats.analysis.scores import Pair, Scores
from evalstats.errors import InputError
from evalstats.inference.draws import monte_carlo_error

#: Scores with fewer different values lie on a lattice.
_FEW_VALUES = 10


def row_of(
    scores: Scores, pair: Pair, differences: Quantities, q: int, options: Options
) -> dict[str, Any]:
    """Return the fields of a `Difference` that other pairs and tasks say nothing of.

    Of a pair (baseline, system), whose difference is number q of some.
    """
    baseline, system = (scores.systems[i] for i in pair)
    assert differences.n_differing is not None
    n_differing, test = int(differences.n_differing[q]), differences.test_of(q)
    pvalue = differences.pvalue(q, 0.0, options.alternative)
    low, high = differences.interval(q, options.alpha)
    error, pvalue_error = differences.spreads[q].error, 0.0
    if test == "bootstrap" and n_differing:
        # A count of one side makes it; that of identical systems is 1 whatever is drawn.
        share = pvalue / options.sides
        pvalue_error = options.sides * monte_carlo_error(share, options.n_resamples)
    if not np.all(np.isfinite((low, high, error))):
        raise InputError(
            f"there is no finite interval for {scores.name} of {baseline!r} and {system!r}: the "
            f"score or its gradient is not finite near the totals; define the score for every total"
        )
    # Unpaired systems share no unit; of several runs more units would leave the runs' error.
    n_units = scores.units.n if scores.is_paired else n_differing
    outcomes = scores.outcomes
    gained, lost = (None, None) if outcomes is None else outcomes.changes(*pair)
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
        "n_units": None if scores.n_runs else n_units,
        "higher_is_better": scores.higher_is_better,
        "test": test,
        "method": differences.method_of(q),
        "gained": gained,
        "lost": lost,
    }


def claims_of(
    scores: Scores, pair: Pair, differences: Quantities, q: int, options: Options
) -> dict[str, float]:
    """Return what can be claimed about the margin, or the recovery: fields of a `Difference`.

    They lack adjusted p-values; where nothing can be claimed there are none.
    """
    if not options.is_limited or _is_unbounded(scores, differences, q):
        return {}
    if options.recovery is not None:
        base, new = (float(scores.value[i]) for i in pair)
        if min(base, new) < 0:
            # No share is kept of a score below 0; `Difference.unanswered` says so.
            return {}
        if differences.counted(q) is not None:
            return _counted_recovery(scores, base, differences, q, options)
        return _recovery(scores, pair, options)
    margin, counts, higher = options.margin, differences.counted(q), scores.higher_is_better
    assert margin is not None
    if counts is not None and margin >= counts.scale:
        raise InputError(
            f"must be below {counts.scale:g}, the whole scale of {scores.name}; got {margin:g}",
            argument="margin",
        )
    low, high = differences.interval(q, 2 * options.significance_level)
    above = differences.pvalue(q, -margin, "greater")
    below = differences.pvalue(q, margin, "less")
    lost, side = (-margin, "less") if higher else (margin, "greater")
    return {
        "equivalence_bound": max(-low, high),
        "loss_bound": -low if higher else high,
        "pvalue_equivalence": max(above, below),
        "pvalue_not_worse": above if higher else below,
        "pvalue_worse": differences.pvalue(q, lost, side),
    }


def _is_unbounded(scores: Scores, differences: Quantities, q: int) -> bool:
    """Return whether scores of few values all differ alike, or not: others may differ otherwise."""
    if differences.counted(q) is not None or differences.spreads[q].error > 0:
        return False
    if not scores.has_segments:
        # A battle has one of few results.
        return bool(scores.battles)
    values = np.concatenate([np.unique(stratum.plain) for stratum in scores.strata])
    metric = scores.strata[0].metric
    is_text = metric.uses_references and metric.reads_text
    return not is_text and len(np.unique(values)) < _FEW_VALUES


def _counted_recovery(
    scores: Scores, base: float, differences: Quantities, q: int, options: Options
) -> dict[str, float]:
    """Return the test of a recovery of counted items: a loss of (1 - r)·base is the limit.

    Where no item differs new - r·base would have no error at all.
    """
    recovery = options.recovery
    assert recovery is not None
    low, high = differences.interval(q, 2 * options.significance_level)
    null, sides = (recovery - 1) * base, ("greater", "less")
    # Of a baseline of 0 every share is kept by a score above 0, and none by one of 0.
    kept = 1 + low / base if base > 0 else float(low > 0)
    if not scores.higher_is_better:
        null, sides = (1 / recovery - 1) * base, ("less", "greater")
        kept = base / (base + high) if base + high > 0 else 0.0
    return {
        "recovery_bound": float(np.clip(kept, 0.0, 1.0)),
        "pvalue_not_worse": differences.pvalue(q, null, sides[0]),
        "pvalue_worse": differences.pvalue(q, null, sides[1]),
    }


def _recovery(scores: Scores, pair: Pair, options: Options) -> dict[str, float]:
    """Return the test of new <= r·base, or of errors base <= r·new, and the largest r."""
    share = options.recovery
    assert share is not None
    base, new = pair if scores.higher_is_better else pair[::-1]
    both = scores.pair(base, new)
    recovery = Recovery(scores.taken([base, new]), both)
    return {
        "recovery_bound": recovery.bound(options.significance_level),
        "pvalue_not_worse": recovery.kept_pvalue(share),
        "pvalue_worse": recovery.lost_pvalue(share),
    }


@dataclass(frozen=True, eq=False)
class PairTest:
    """System b against system a alone, by the options of a comparison, for questions about one."""

    scores: Scores
    a: int
    b: int
    options: Options

    @cached_property
    def difference(self) -> Quantities:
        """The score of b less that of a."""
        return self.scores.pair(self.a, self.b)

    @property
    def counts(self) -> Counts | None:
        """What is counted, if the scores are shares."""
        return self.difference.counted(0)

    @property
    def n_differing(self) -> int:
        """On how many units their statistics differ."""
        return self.scores.differ(self.a, self.b)[0]

    @cached_property
    def row(self) -> dict[str, Any]:
        """The fields of its `Difference`, with the names of its test and its interval."""
        return row_of(self.scores, (self.a, self.b), self.difference, 0, self.options)

    @property
    def claims(self) -> dict[str, float]:
        """What can be claimed about the limit: fields of a `Difference`."""
        return claims_of(self.scores, (self.a, self.b), self.difference, 0, self.options)
