"""The checks of a run so far, and the computation of one more."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ldexp
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.design import Aggregate, Units
from evalstats.analysis.scores import Outcomes, as_outcomes
from evalstats.checks import integer, share
from evalstats.errors import InputError
from evalstats.inference import student
from evalstats.inference.student import Spread
from evalstats.metrics import Metric
from evalstats.statistics.segments import SegmentStatistics
from evalstats.training.boundary import N_FLIPS, Boundary, spent_by
from evalstats.training.check_records import Basis, Checkpoint, Selected, StepScore
from evalstats.training.selection import BestSoFar, OutOfBag


@dataclass(frozen=True)
class Rules:
    """The options of a monitor, validated; the docstring of `Monitor` explains each."""

    metric: Metric
    patience: int | None
    significance_level: float
    expected_checks: int
    confidence_level: float
    seed: int
    sizes: NDArray[np.int64] | None = None  # segments of each group, where there are groups

    def __post_init__(self) -> None:
        patience, level = self.patience, share(self.significance_level, "significance_level")
        vars(self).update(
            patience=None if patience is None else integer(patience, "patience", 1),
            significance_level=level,
            expected_checks=integer(self.expected_checks, "expected_checks", 1),
            confidence_level=share(self.confidence_level, "confidence_level"),
        )
        n_draws = self.spent(1) * N_FLIPS
        if n_draws < 1:
            most = int(self.expected_checks * n_draws)
            fewer = f"expect at most {most:,} checks (more may come), or " if most else ""
            least = 1.05 * level / n_draws
            raise InputError(
                f"significance_level {level:g} over expected_checks {self.expected_checks:,} is "
                f"{n_draws:.2g} of {N_FLIPS:,} sign flips a check, too little to call anything an "
                f"improvement; {fewer}give a significance_level of at least {least:.2g}"
            )

    def spent(self, look: int) -> float:
        """Return the level that so many looks may spend together; 0 for no look."""
        return spent_by(look, self.significance_level, self.expected_checks)

    def units(self, n: int) -> Units:
        """Return the units of a sample of n: segments, or groups of them."""
        return Units(n, sizes=self.sizes)

    def outcomes(self, *rows: NDArray[Any]) -> Outcomes | None:
        """Return which segments score 1 in each of the rows `(n_segments, k)`, if all are 0/1."""
        names = tuple(f"step {i}" for i in range(len(rows)))
        table = SegmentStatistics(np.stack(rows), names, self.metric)
        return as_outcomes(table, self.units(len(rows[0])), Aggregate())

    def stops(self, checks_without_improvement: int) -> bool:
        """Return whether the patience is used up."""
        return self.patience is not None and checks_without_improvement >= self.patience


class Outputs(NamedTuple):
    """The outputs of one step, as statistics."""

    rows: NDArray[Any]  # (N, k), of segments or groups
    ids: str | None = None  # a hash of the segments' ids, if there are any
    outcomes: Outcomes | None = None  # which segments score 1, if all scores are 0 or 1


class Compared(NamedTuple):
    """Interval and one-sided p-value of the difference between a step and the best one."""

    low: float = 0.0
    high: float = 0.0
    pvalue: float = 1.0
    test: str | None = None
    n_differing: int = 0
    kurtosis: float | None = None


@dataclass(frozen=True)
class Best:
    """The best step: its statistics `(N, k)`, score, influence values `(N,)` and their spread."""

    rows: NDArray[Any]
    score: float
    influence: NDArray[np.float64]
    spread: Spread

    @classmethod
    def of(cls, rules: Rules, rows: NDArray[Any]) -> Best:
        """Return score, influence values and spread of the statistics of one step."""
        metric = rules.metric
        score = float(metric.score(np.sum(rows, axis=0, dtype=np.float64)))
        (values,) = student.influence_values(metric, rows[None])
        spread = student.spread(values, rules.sizes)
        if not np.all(np.isfinite((score, spread.error))):
            raise InputError(
                f"{metric.name} or its gradient is not finite; define the score for every total, "
                f"for example where a denominator is 0"
            )
        return cls(rows, score, values, spread)

    def interval(self, outcomes: Outcomes | None, alpha: float) -> tuple[str, tuple[float, float]]:
        """Return name and bounds of the score's interval: Wilson's of 0/1 scores, else t's."""
        if outcomes is not None:
            return "wilson", outcomes.score_interval(0, self.influence, alpha)
        return "t", student.interval(self.score, self.spread.error, self.spread.degrees, alpha)


@dataclass(frozen=True)
class History:
    """Everything that a check changes, in one object, which is replaced after each check.

    So a check that is interrupted changes nothing.
    """

    checks: tuple[Checkpoint, ...] = ()
    best: Best | None = None
    so_far: BestSoFar | None = None
    boundary: Boundary = field(default_factory=Boundary.start)
    segment_ids: str | None = None  # a hash of them, where statistics came with some

    def after(self, step: int, outputs: Outputs, rules: Rules, bags: OutOfBag) -> History:
        """Return the history with one more check."""
        metric, best, boundary = rules.metric, self.best, self.boundary
        new = Best.of(rules, outputs.rows)
        in_bag, out_of_bag = bags.scores(metric, outputs.rows)
        method, (low, high) = new.interval(outputs.outcomes, 1 - rules.confidence_level)
        previous, so_far = self.checks[-1] if self.checks else None, self.so_far
        now = standing = StepScore(step, new.score)
        difference, compared, level = 0.0, Compared(), 0.0
        improved, waited = False, 0
        if previous is None or best is None or so_far is None:
            so_far = BestSoFar.start(step, new.score, in_bag, out_of_bag)
        else:
            better = metric.higher_is_better
            so_far = so_far.update(step, new.score, in_bag, out_of_bag, better)
            difference = new.score - previous.best.score
            compared = _compared(best, new, difference, rules)
            gain = (1 if better else -1) * (new.influence - best.influence)
            level, boundary = boundary.look(gain, rules.spent(len(self.checks)), rules.seed)
            improved = compared.pvalue <= level
            if improved:
                boundary = Boundary.start(rules.spent(len(self.checks)))
            else:
                standing, waited = previous.best, previous.checks_without_improvement + 1
        check = Checkpoint(
            **now._asdict(),
            metric=metric.name,
            low=low,
            high=high,
            standard_error=new.spread.error,
            compared_with=None if previous is None else previous.best.step,
            difference=difference,
            difference_low=compared.low,
            difference_high=compared.high,
            pvalue=compared.pvalue,
            level=level,
            improved=improved,
            best=standing,
            highest=StepScore(so_far.step, so_far.score),
            checks_without_improvement=waited,
            should_stop=rules.stops(waited),
            higher_is_better=bool(metric.higher_is_better),
            confidence_level=rules.confidence_level,
            basis=Basis(method, *compared[3:]),
        )
        kept, ids = new if standing is now else best, self.segment_ids or outputs.ids
        return History((*self.checks, check), kept, so_far, boundary, ids)

    def selected(self) -> Selected:
        """Return the checkpoint with the best score, corrected for the choosing."""
        so_far = self.so_far
        if so_far is None:
            raise InputError("there is nothing to choose from yet; call check first")
        check = next(c for c in self.checks if c.step == so_far.step)
        optimism = so_far.optimism(check.higher_is_better)
        moved = -optimism if check.higher_is_better else optimism
        return Selected(
            step=so_far.step,
            metric=check.metric,
            score=so_far.score,
            standard_error=check.standard_error,
            corrected=so_far.score + moved,
            low=check.low + moved,
            high=check.high + moved,
            optimism=optimism,
            agreement=so_far.agreement,
            n_checks=len(self.checks),
            confidence_level=check.confidence_level,
        )


def _compared(best: Best, new: Best, difference: float, rules: Rules) -> Compared:
    """Test the hypothesis that the new step is no better than the best one.

    By a paired t test on influence values; 0/1 scores have Tango's interval and McNemar's test. No
    p-value is below 2^-m for m units that differ, the smallest that swapping them can give.
    """
    metric, n = rules.metric, len(new.rows)
    differs = np.any(best.rows != new.rows, axis=1)
    m = int(np.count_nonzero(differs))
    influence = new.influence - best.influence
    spread = student.spread(influence, rules.sizes)
    outcomes = rules.outcomes(best.rows, new.rows)
    if outcomes is not None:
        side = "greater" if metric.higher_is_better else "less"
        counted = outcomes.counted(0, 1, influence)
        bounds = counted.interval(1 - rules.confidence_level)
        pvalue = counted.pvalue(0.0, side)
    else:
        sizes = np.ones(n) if rules.sizes is None else rules.sizes
        worth = student.kish(sizes[differs]) if m else np.inf
        spread = spread._replace(degrees=max(min(spread.degrees, worth - 1), 1.0))
        bounds, pvalue = _by_t(difference, spread, influence, rules)
    # Doubles end at 2^-1074.
    pvalue = max(pvalue, ldexp(1.0, -min(m, 1074))) if m else 1.0
    if outcomes is not None:
        return Compared(*bounds, pvalue, "mcnemar", m)
    return Compared(*bounds, pvalue, "t", m, student.kurtosis(influence, m))


def _by_t(
    difference: float, spread: Spread, influence: NDArray[np.float64], rules: Rules
) -> tuple[tuple[float, float], float]:
    """Return the interval of a difference, and the one-sided p-value.

    The p-value is the larger of those of t and of Hall's (1992) skewness-corrected t, since which
    of the two is too small depends on the side of a long tail. The interval holds all differences
    that neither of them rejects.
    """
    side = "greater" if rules.metric.higher_is_better else "less"
    pvalue = student.pvalue(difference, spread.error, spread.degrees, side)
    if not spread.error > 0:
        # Every segment changed by the same amount, so nothing is skew.
        return (difference, difference), pvalue
    skewness = student.skewness(influence)
    corrected = student.hall(difference / spread.error, skewness)
    pvalue = max(pvalue, student.pvalue(corrected, 1.0, spread.degrees, side))
    t = student.quantile(spread.degrees, 1 - rules.confidence_level)
    below = max(t, student.hall_inverse(t, skewness)) * spread.error
    above = max(t, -student.hall_inverse(-t, skewness)) * spread.error
    return (difference - below, difference + above), pvalue
