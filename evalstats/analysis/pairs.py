"""Two systems under one metric: the p-value of any null value, the interval, and what is claimed.

A recovery of r is held against `new - r·base`, with the factor and the degrees of freedom of the
difference (after Fieller, 1954).

A large p-value of a difference is no evidence that there is none. Where two systems are said to be
alike the null hypothesis is that they differ by the margin or more; two one-sided tests reject it
(Schuirmann, 1987; Lakens, 2017) where the interval of confidence 1 - 2·level lies within it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.drawn import Drawn, Effect
from evalstats.analysis.options import Options
from evalstats.analysis.scores import Counts
from evalstats.errors import InputError
from evalstats.inference import bootstrap, fieller, student
from evalstats.inference.bootstrap import Bounds
from evalstats.inference.draws import monte_carlo_error
from evalstats.inference.student import Spread

Floats = NDArray[np.float64]
#: Scores with fewer different values lie on a lattice.
_FEW_VALUES = 10


class Studentised(NamedTuple):
    """What a family of pairs needs of one: its difference and standard error; not its replicates.

    `is_drawn` says whether it varies and resamples say how much.
    """

    drawn: Drawn
    a: int
    b: int
    value: float
    spread: Spread
    is_drawn: bool


@dataclass(frozen=True, eq=False)
class PairTest:
    """System b against system a of what was drawn, by the options of a comparison.

    It holds the replicates of the difference: those of all pairs at once would take much room.
    """

    drawn: Drawn
    a: int
    b: int
    options: Options

    @cached_property
    def difference(self) -> Effect:
        """The score of b less that of a."""
        return self.drawn.difference(self.a, self.b)

    @cached_property
    def scores(self) -> fieller.Pair:
        """Both scores, the baseline's first, with the standard errors of each and of b - a."""
        base, new = self.drawn.effects[self.a], self.drawn.effects[self.b]
        errors = base.spread.error, new.spread.error, self.spread.error
        return fieller.Pair(base.value, new.value, *errors)

    @cached_property
    def counts(self) -> Counts | None:
        """What is counted, where differences of shares have the default test."""
        influence = self.difference.influence
        if self.options.method != "bootstrap" or influence is None:
            return None
        return self.drawn.of.counted(self.a, self.b, influence)

    @property
    def spread(self) -> Spread:
        """Standard error, factor and degrees of freedom of the difference."""
        return self.difference.spread

    @cached_property
    def n_differing(self) -> int:
        """On how many units their statistics differ."""
        return self.drawn.differ(self.a, self.b)[0]

    @property
    def by_t(self) -> bool:
        """Whether t decides alone."""
        return self.difference.is_by_t

    @property
    def test(self) -> str:
        """Which test decides."""
        if self.counts is not None:
            return self.counts.test
        return "t" if self.by_t else "bootstrap"

    @property
    def method(self) -> str:
        """Which interval it has."""
        if self.options.method != "bootstrap":
            return self.options.method
        if self.counts is not None:
            return self.counts.method
        return "t" if self.by_t else "bootstrap"

    def pvalue(self, null: float = 0.0, alternative: str | None = None) -> float:
        """Return the p-value of a null value of the difference."""
        side = self.options.alternative if alternative is None else alternative
        if null == 0 and self.n_differing == 0:
            return 1.0
        if self.counts is not None:
            return self.counts.pvalue(null, side)
        effect = self.difference
        t = student.standardised(effect.value - null, effect.spread.error)
        p = self._decided(lambda: effect.replicates - null, t, side)
        # A null value between no difference and the observed one is not rejected before that is.
        is_between = 0 <= null / effect.value <= 1 if effect.value else null == 0
        return max(p, self._floor(2 if side == "two-sided" else 1)) if is_between else p

    def kept(self, alpha: float) -> float:
        """Return the bound below which every share of the baseline is kept, at a one-sided level α.

        A resample keeps a share where it keeps every smaller one.
        """
        by_t = fieller.kept(self.scores, student.quantile(self.spread.degrees, 2 * alpha))
        if self.by_t:
            return by_t
        base, new = self.drawn.replicates[[self.a, self.b]]
        # Equal but for rounding.
        new = np.where(self.difference.replicates == 0, base, new)
        # new - r·base > 0 holds of every r where base is 0 and new above, and of none where both
        # are 0.
        none = np.where(new > 0, np.inf, -np.inf)
        shares = np.divide(new, base, where=base > 0, out=none)
        return bootstrap.interval(shares, self.spread, 2 * alpha, lambda: (by_t, np.inf))[0]

    def kept_pvalue(self, share: float) -> float:
        """Return the one-sided p-value of b <= r·a for this share r, or any smaller one."""
        t, _ = fieller.t_between(self.scores, 0.0, share)
        less = self.drawn.difference(self.a, self.b, share)

        def distances() -> Floats:
            return np.asarray(np.minimum(self.drawn.replicates[self.b], less.replicates))

        p = self._decided(distances, t, "greater")
        return p if share < 1 else max(p, self._floor(1))

    def lost_pvalue(self, share: float) -> float:
        """Return the one-sided p-value of b >= r·a for this share r, or any from there to 1."""
        _, t = fieller.t_between(self.scores, share, 1.0)
        less = self.drawn.difference(self.a, self.b, share)

        def distances() -> Floats:
            return np.asarray(np.maximum(self.difference.replicates, less.replicates))

        return max(self._decided(distances, t, "less"), self._floor(1))

    def _decided(self, distances: Callable[[], Floats], t: float, alternative: str) -> float:
        """Return the p-value of replicates less a null value, and of t standard errors from it."""
        by_t = partial(student.pvalue, t, 1.0, self.spread.degrees, alternative)
        if self.by_t:
            return by_t()
        return bootstrap.pvalue(distances(), self.spread, by_t, alternative)

    def _floor(self, sides: int) -> float:
        """Return the smallest p-value of no difference: m units can be swapped in 2^m ways."""
        least = self.drawn.of.least(self.a, self.b)
        return min(1.0, sides * (0.5**self.n_differing if least is None else least))

    def interval(self, alpha: float) -> Bounds:
        """Return the interval of the difference, of confidence 1 - α."""
        if self.counts is not None:
            return self.counts.interval(alpha)
        method = self.options.method
        low, high = self.difference.interval(method, alpha)
        if method != "percentile" and alpha < self._floor(2):
            return min(low, 0.0), max(high, 0.0)
        return low, high

    @property
    def studentised(self) -> Studentised:
        """The difference over its standard error, for a family of pairs."""
        is_drawn = bool(self.drawn.draws.n and self.n_differing)
        is_drawn = is_drawn and self.spread.error > 0
        is_drawn = is_drawn and self.spread.degrees >= bootstrap.LEAST_DEGREES
        value = self.drawn.effects[self.b].value - self.drawn.effects[self.a].value
        return Studentised(self.drawn, self.a, self.b, value, self.spread, is_drawn)

    def fields(self, pvalue: float, bounds: Bounds) -> dict[str, Any]:
        """Return the fields of a `Difference` that other pairs and tasks say nothing of."""
        drawn, options, outcomes = self.drawn, self.options, self.drawn.of.outcomes
        gained, lost = (None, None) if outcomes is None else outcomes.changes(self.a, self.b)
        baseline, system = drawn.of.systems[self.a], drawn.of.systems[self.b]
        base, new = float(drawn.scores[self.a]), float(drawn.scores[self.b])
        standard_error = self.spread.error
        pvalue_error = 0.0
        if self.test == "bootstrap" and self.n_differing:
            # A count of one side makes it; that of identical systems is 1 whatever is drawn.
            share = pvalue / options.sides
            pvalue_error = options.sides * monte_carlo_error(share, options.n_resamples)
        if not np.all(np.isfinite((*bounds, standard_error))):
            raise InputError(
                f"there is no finite interval for {drawn.of.name} of {baseline!r} and "
                f"{system!r}: the score or its gradient is not finite near the totals; define the "
                f"score for every total"
            )
        # Unpaired systems share no unit; of several runs more units would leave the runs' error.
        n_units = drawn.units.n if drawn.of.is_paired else self.n_differing
        return {
            "metric": drawn.of.name,
            "baseline": baseline,
            "system": system,
            "baseline_score": base,
            "system_score": new,
            "low": bounds[0],
            "high": bounds[1],
            "standard_error": standard_error,
            "pvalue": pvalue,
            "pvalue_error": pvalue_error,
            "n_differing": self.n_differing,
            "n_units": None if drawn.runs else n_units,
            "higher_is_better": drawn.of.higher_is_better,
            "test": self.test,
            "method": self.method,
            "gained": gained,
            "lost": lost,
        }


def claims_of(pair: PairTest) -> dict[str, float]:
    """Return what can be claimed about the margin, or the recovery: fields of a `Difference`.

    They lack adjusted p-values; where nothing can be claimed there are none.
    """
    options, of = pair.options, pair.drawn.of
    base, new = (float(pair.drawn.scores[i]) for i in (pair.a, pair.b))
    if not options.is_limited or _is_unbounded(pair):
        return {}
    if options.recovery is not None:
        # No share is kept of a score below 0; `Difference.unanswered` says so.
        return {} if min(base, new) < 0 else _recovered(pair, base, options.recovery)
    margin, counts, higher = options.margin, pair.counts, of.higher_is_better
    assert margin is not None
    if counts is not None and margin >= counts.scale:
        raise InputError(
            f"must be below {counts.scale:g}, the whole scale of {of.name}; got {margin:g}",
            argument="margin",
        )
    low, high = pair.interval(2 * options.significance_level)
    above, below = pair.pvalue(-margin, "greater"), pair.pvalue(margin, "less")
    return {
        "equivalence_bound": max(-low, high),
        "loss_bound": -low if higher else high,
        "pvalue_equivalence": max(above, below),
        "pvalue_not_worse": above if higher else below,
        "pvalue_worse": pair.pvalue(-margin, "less") if higher else pair.pvalue(margin, "greater"),
    }


def _is_unbounded(pair: PairTest) -> bool:
    """Return whether scores of few values all differ alike, or not: others may differ otherwise."""
    drawn = pair.drawn
    if pair.counts is not None or pair.spread.error > 0:
        return False
    if not drawn.has_segments:
        return drawn.of.has_few_values
    blocks = drawn.segments.blocks
    values = np.concatenate([np.unique(block.plain) for block in blocks])
    is_text = blocks[0].metric.uses_references and blocks[0].metric.reads_text
    return not is_text and len(np.unique(values)) < _FEW_VALUES


def _recovered(pair: PairTest, base: float, recovery: float) -> dict[str, float]:
    """Return the test of new <= r·base, or of errors base <= r·new, and the largest r."""
    turned, level = not pair.drawn.of.higher_is_better, pair.options.significance_level
    if pair.counts is not None:
        # Items are counted, and a loss of (1 - r)·base is the limit: where no item differs
        # new - r·base would have no error at all.
        low, high = pair.interval(2 * level)
        null, sides = (recovery - 1) * base, ("greater", "less")
        # Of a baseline of 0 every share is kept by a score above 0, and none by one of 0.
        kept = 1 + low / base if base > 0 else float(low > 0)
        if turned:
            null, sides = (1 / recovery - 1) * base, ("less", "greater")
            kept = base / (base + high) if base + high > 0 else 0.0
        return {
            "recovery_bound": float(np.clip(kept, 0.0, 1.0)),
            "pvalue_not_worse": pair.pvalue(null, sides[0]),
            "pvalue_worse": pair.pvalue(null, sides[1]),
        }
    pair = replace(pair, a=pair.b, b=pair.a) if turned else pair
    bound = float(np.clip(pair.kept(level), 0.0, 1.0))
    if bound == 1 and pair.kept_pvalue(1.0) > level:
        # All shares below 1 are kept, and 1, which is the null value of no difference, is not.
        bound = float(np.nextafter(1.0, 0.0))
    return {
        "recovery_bound": bound,
        "pvalue_not_worse": pair.kept_pvalue(recovery),
        "pvalue_worse": pair.lost_pvalue(recovery),
    }
