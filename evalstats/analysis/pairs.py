"""Two systems under one metric: the p-value of any null value, the interval, and what is claimed.

A ratio of two scores is held against r as `new - r·base`, with the factor and the degrees of
freedom of the difference (after Fieller, 1954), so that a ratio, its logarithm and the difference
of two scores have one p-value.

A large p-value of a difference is no evidence that there is none. Where two systems are said to be
alike the null hypothesis is that they differ by the margin or more; two one-sided tests reject it
(Schuirmann, 1987; Lakens, 2017) where the interval of confidence 1 - 2·level lies within it.

Approximate randomisation (Noreen, 1989) asks how often swaps of outputs make as large a difference.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.drawn import Drawn, Effect, Pair, Quotient, split, totals_scored
from evalstats.analysis.options import Options
from evalstats.analysis.scores import Counts, Segments
from evalstats.errors import Argument, InputError
from evalstats.inference import bootstrap, fieller, student
from evalstats.inference.bootstrap import Bounds
from evalstats.inference.randomisation import monte_carlo_error, randomization_pvalue, tie_tolerance
from evalstats.inference.student import Spread
from evalstats.resampling.weighted import all_swap_totals
from evalstats.resampling.weights import Halves
from evalstats.results.records import Discordant, UnitCounts

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
    def ratio(self) -> Quotient:
        """The score of b over that of a."""
        base, new = self.drawn.effects[self.a], self.drawn.effects[self.b]
        return replace(new / base, difference=self.difference)

    @cached_property
    def counts(self) -> Counts | None:
        """What is counted, where differences of shares have the default test; ratios have not."""
        plain = self.options.test == "bootstrap" and self.options.contrast == "difference"
        influence = self.difference.influence
        if not plain or influence is None:
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
        return "t" if self.by_t and self.options.test != "ar" else self.options.test

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
        ratio = self.ratio
        by_t = fieller.kept(ratio.scores, student.quantile(self.spread.degrees, 2 * alpha))
        if self.options.test == "t" or self.by_t:
            return by_t
        drawn, spread = ratio.replicates, self.spread
        return bootstrap.interval(drawn, spread, 2 * alpha, lambda: (by_t, np.inf))[0]

    def kept_pvalue(self, share: float) -> float:
        """Return the one-sided p-value of b <= r·a for this share r, or any smaller one."""
        t, _ = fieller.t_between(self.ratio.scores, 0.0, share)
        less = self.drawn.difference(self.a, self.b, share)

        def distances() -> Floats:
            return np.asarray(np.minimum(self.drawn.replicates[self.b], less.replicates))

        p = self._decided(distances, t, "greater")
        return p if share < 1 else max(p, self._floor(1))

    def lost_pvalue(self, share: float) -> float:
        """Return the one-sided p-value of b >= r·a for this share r, or any from there to 1."""
        _, t = fieller.t_between(self.ratio.scores, share, 1.0)
        less = self.drawn.difference(self.a, self.b, share)

        def distances() -> Floats:
            return np.asarray(np.maximum(self.difference.replicates, less.replicates))

        return max(self._decided(distances, t, "less"), self._floor(1))

    def _decided(self, distances: Callable[[], Floats], t: float, alternative: str) -> float:
        """Return the p-value of replicates less a null value, and of t standard errors from it."""
        by_t = partial(student.pvalue, t, 1.0, self.spread.degrees, alternative)
        if self.options.test == "t" or self.by_t:
            return by_t()
        return bootstrap.pvalue(distances(), self.spread, by_t, alternative)

    def _floor(self, sides: int) -> float:
        """Return the smallest p-value of no difference: m units can be swapped in 2^m ways."""
        least = self.drawn.of.least(self.a, self.b)
        return min(1.0, sides * (0.5**self.n_differing if least is None else least))

    def interval(self, alpha: float, method: str | None = None) -> Bounds:
        """Return the interval of the contrast, of confidence 1 - α, by default as it is shown."""
        method = self.options.method if method is None else method
        contrast, counts = self.options.contrast, self.counts
        if counts is not None and method in ("bootstrap", "simultaneous"):
            return counts.interval(alpha)
        effect = self.difference if contrast == "difference" else self.ratio

        def without_each() -> Floats:
            new, base = self.drawn.segments.without_each(self.b, self.a)
            return np.asarray(new - base if contrast == "difference" else new / base)

        found = effect.interval(method, alpha, without_each)
        is_held = counts is None and method not in ("percentile", "bca")
        if is_held and alpha < self._floor(2):
            null = 0.0 if contrast == "difference" else 1.0
            found = min(found[0], null), max(found[1], null)
        return _logarithms(found) if contrast == "log-ratio" else found

    def interval_at(self, critical: float) -> Bounds:
        """Return the interval of so many standard errors, or that of the pair alone if longer."""
        alone = self.interval(self.options.alpha)
        if self.n_differing == 0:
            return alone
        if self.options.contrast == "difference":
            value, half = self.difference.value, critical * self.spread.error
            low, high = value - half, value + half
        else:
            low, high = self.ratio.at(critical)
        if self.options.contrast == "log-ratio":
            low, high = _logarithms((low, high))
        return min(low, alone[0]), max(high, alone[1])

    @property
    def studentised(self) -> Studentised:
        """The difference over its standard error, for a family of pairs."""
        is_drawn = bool(self.drawn.draws.n and self.n_differing)
        is_drawn = is_drawn and self.spread.error > 0
        is_drawn = is_drawn and self.spread.degrees >= bootstrap.LEAST_DEGREES
        value = self.drawn.effects[self.b].value - self.drawn.effects[self.a].value
        return Studentised(self.drawn, self.a, self.b, value, self.spread, is_drawn)

    def fields(self, pvalue: float, bounds: Bounds, exact: bool) -> dict[str, Any]:
        """Return the fields of a `Difference` that other pairs and tasks say nothing of.

        Of an exact p-value no other draws say more.
        """
        drawn, options, outcomes = self.drawn, self.options, self.drawn.of.outcomes
        baseline, system = drawn.of.systems[self.a], drawn.of.systems[self.b]
        base, new = float(drawn.scores[self.a]), float(drawn.scores[self.b])
        standard_error = self.spread.error
        if options.contrast != "difference":
            # Of a ratio by the delta method.
            error = drawn.difference(self.a, self.b, new / base).spread.error
            standard_error = error / (base if options.contrast == "ratio" else new)
        pvalue_error = 0.0
        if self.test in ("bootstrap", "ar") and not exact and self.n_differing:
            # A count of one side makes it; that of identical systems is 1 whatever is drawn.
            share = pvalue / options.sides
            pvalue_error = options.sides * monte_carlo_error(share, options.n_resamples)
        if not np.all(np.isfinite((*bounds, standard_error))):
            raise InputError(
                f"there is no finite interval for {drawn.of.name} of {baseline!r} and "
                f"{system!r}: the score, its gradient or the ratio is not finite near the "
                f"totals; define the score for every total, or leave contrast out"
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
            "units": UnitCounts(self.n_differing, None if drawn.runs else n_units),
            "higher_is_better": drawn.of.higher_is_better,
            "test": self.test,
            "method": self.method,
            "contrast": options.contrast,
            "discordant": None
            if outcomes is None
            else Discordant(*outcomes.changes(self.a, self.b)),
        }


def _logarithms(bounds: Bounds) -> Bounds:
    """Return the logarithms of both bounds."""
    low, high = (float(np.log(x)) if x > 0 else -np.inf for x in bounds)
    return low, high


def check_ratios(drawn: Drawn, options: Options) -> None:
    """Refuse ratios of scores that are not above 0."""
    if options.contrast == "difference":
        return
    contrast = Argument("contrast", options.contrast)
    for name, score in zip(drawn.of.systems, drawn.scores, strict=True):
        if score <= 0:
            raise InputError(
                contrast,
                f" needs scores above 0, and {drawn.of.metric_name} of {name!r} is {score:.6g}; "
                f"leave ",
                Argument("contrast"),
                " out",
            )
    if np.any(drawn.replicates <= 0):
        raise InputError(
            contrast,
            f" needs scores above 0, and {drawn.of.metric_name} of a resample is not; give ",
            Argument("method", "t"),
            " and ",
            Argument("test", "t"),
            ", or leave ",
            Argument("contrast"),
            " out",
        )


def claims_of(pair: PairTest) -> dict[str, float]:
    """Return what can be claimed about the margin, or the recovery: fields of a `MarginTest`.

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
    low, high = _not_rejected(pair)
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


def _not_rejected(pair: PairTest) -> Bounds:
    """Return all differences that the two one-sided tests do not reject."""
    method = "t" if pair.options.test == "t" else "bootstrap"
    return pair.interval(2 * pair.options.significance_level, method)


def _recovered(pair: PairTest, base: float, recovery: float) -> dict[str, float]:
    """Return the test of new <= r·base, or of errors base <= r·new, and the largest r."""
    turned, level = not pair.drawn.of.higher_is_better, pair.options.significance_level
    if pair.counts is not None:
        # Items are counted, and a loss of (1 - r)·base is the limit: where no item differs
        # new - r·base would have no error at all.
        low, high = _not_rejected(pair)
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


def swapped_pvalues(
    drawn: Drawn, pairs: Sequence[Pair], options: Options
) -> list[tuple[float, bool]]:
    """Return the p-value of each pair after random swaps of two outputs.

    With each comes whether all swaps of it were enumerated.
    """
    segments = drawn.segments
    enumerated = [2 ** drawn.differ(*pair)[0] <= options.n_resamples for pair in pairs]
    random = [pair for pair, exact in zip(pairs, enumerated, strict=True) if not exact]
    columns: Floats = np.empty((0, 0))
    if random:
        # What moves from one system to another follows from what moves to the first; the same
        # swaps are for all pairs.
        blocks = [replace(b, rows=_wide(b.rows) - _wide(b.rows[:1])) for b in segments.blocks]
        moving = replace(segments, blocks=tuple(blocks))
        rows = Halves(segments.units.n, options.seed)
        then = partial(_swapped_differences, segments, random)
        columns = totals_scored([moving], rows, options.n_resamples, options, then)
    each, pvalues = iter(columns.T), []
    for (a, b), exact in zip(pairs, enumerated, strict=True):
        first, second = drawn.scores[[a, b]]
        tie = tie_tolerance(max(abs(first), abs(second)), drawn.units.n)
        shuffled = _all_swapped(segments, (a, b)) if exact else next(each)
        p = randomization_pvalue(second - first, shuffled, options.alternative, tie, exact)
        pvalues.append((p, exact))
    return pvalues


def _swapped_differences(
    segments: Segments, pairs: Sequence[Pair], totals: Sequence[Floats]
) -> Floats:
    """Return differences from totals of random halves less those of the first system."""
    halves = [split([segments], t, block)[0] for t, block in enumerate(totals)]
    each = [
        _swapped_difference(segments, (a, b), [half[:, b] - half[:, a] for half in halves])
        for a, b in pairs
    ]
    return np.stack(each, axis=1)


def _all_swapped(segments: Segments, pair: Pair) -> Floats:
    """Return differences after all swaps, `(2^m,)`, the first of which swaps nothing."""
    (a, b), differs = pair, segments.differs(*pair)
    swaps = all_swap_totals(np.eye(int(np.count_nonzero(differs))))
    column = np.cumsum(differs) - 1
    moved = []
    for block in segments.blocks:
        here = differs[block.places]
        rows = _wide(block.rows[:, here])
        moved.append(swaps[:, column[block.places][here]] @ (rows[b] - rows[a]))
    return _swapped_difference(segments, pair, moved)


def _swapped_difference(segments: Segments, pair: Pair, moved: Sequence[Floats]) -> Floats:
    """Return the difference after statistics `(R, k)` a block moved from system b to a."""
    first, second = (
        segments.score(
            [block.totals[i] + side * m for block, m in zip(segments.blocks, moved, strict=True)],
            "swapped outputs",
            i,
        )
        for i, side in zip(pair, (1.0, -1.0), strict=True)
    )
    return second - first


def _wide(values: NDArray[Any]) -> NDArray[Any]:
    """Return integers that do not overflow when they are added up, or floats."""
    return values.astype(np.int64 if values.dtype.kind in "iu" else np.float64, copy=False)
