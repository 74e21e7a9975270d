"""What the checks of a run have left behind, and what one more check makes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalstats.checks import integer, share
from evalstats.errors import InputError
from evalstats.inference import influence, intervals
from evalstats.metrics import Metric
from evalstats.training.records import Check, Chosen
from evalstats.training.selection import Bags, Contest
from evalstats.training.sequential import improvement_pvalue, spent_level


@dataclass(frozen=True)
class Rules:
    """What a monitor judges by, checked; `Monitor` says what each of them means."""

    metric: Metric
    patience: int | None
    significance_level: float
    expected_checks: int
    confidence_level: float

    def __post_init__(self) -> None:
        patience = self.patience
        vars(self).update(
            patience=None if patience is None else integer(patience, "patience", 1),
            significance_level=share(self.significance_level, "significance_level"),
            expected_checks=integer(self.expected_checks, "expected_checks", 1),
            confidence_level=share(self.confidence_level, "confidence_level"),
        )


@dataclass(frozen=True)
class Best:
    """The last real improvement, or the first step."""

    step: int
    score: float
    rows: NDArray[Any]  # (N, k)
    influence: NDArray[np.float64]  # (N,)


@dataclass(frozen=True)
class History:
    """Everything that a check changes. Replaced as a whole, so that a check happens or does not."""

    checks: tuple[Check, ...] = ()
    best: Best | None = None
    contest: Contest | None = None

    def after(self, step: int, rows: NDArray[Any], rules: Rules, bags: Bags) -> History:
        """Return the history with one more check, of statistics `(N, k)`."""
        metric = rules.metric
        score, own, error = _estimated(metric, rows)
        in_bag, out_of_bag = bags.scores(metric, rows)
        low, high = _interval(score, error, len(rows), rules)
        if self.best is None or self.contest is None:
            contest = Contest.opened(step, score, in_bag, out_of_bag)
            compared_with, improved, waited = None, False, 0
            best = Best(step, score, rows, own)
            difference, bounds, pvalue, level = 0.0, (0.0, 0.0), 1.0, 0.0
        else:
            better = metric.higher_is_better
            contest = self.contest.entered(step, score, in_bag, out_of_bag, better)
            compared_with = self.best.step
            difference = score - self.best.score
            spread = float(influence.standard_error(own - self.best.influence))
            bounds = _interval(difference, spread, len(rows), rules)
            pvalue = improvement_pvalue(metric, self.best.rows, rows)
            level = spent_level(len(self.checks), rules.significance_level, rules.expected_checks)
            # Far from a linear score the p-value may see an improvement that the score does not.
            improved = pvalue <= level and (difference > 0 if better else difference < 0)
            best = Best(step, score, rows, own) if improved else self.best
            waited = 0 if improved else self.checks[-1].checks_without_improvement + 1
        check = Check(
            step=step,
            metric=metric.name,
            score=score,
            low=low,
            high=high,
            standard_error=error,
            compared_with=compared_with,
            difference=difference,
            difference_low=bounds[0],
            difference_high=bounds[1],
            pvalue=pvalue,
            level=level,
            improved=improved,
            best_step=best.step,
            best_score=best.score,
            highest_step=contest.step,
            highest_score=contest.score,
            checks_without_improvement=waited,
            should_stop=rules.patience is not None and waited >= rules.patience,
            higher_is_better=metric.higher_is_better,
            confidence_level=rules.confidence_level,
        )
        return History((*self.checks, check), best, contest)

    def chosen(self) -> Chosen:
        """Return the checkpoint with the best score, corrected for the choosing."""
        contest = self.contest
        if contest is None:
            raise InputError("there is nothing to choose from yet; call check first")
        check = next(c for c in self.checks if c.step == contest.step and c.score == contest.score)
        optimism = contest.optimism(check.higher_is_better)
        moved = -optimism if check.higher_is_better else optimism
        return Chosen(
            step=contest.step,
            metric=check.metric,
            score=contest.score,
            standard_error=check.standard_error,
            corrected=contest.score + moved,
            low=check.low + moved,
            high=check.high + moved,
            optimism=optimism,
            agreement=contest.agreement,
            n_checks=len(self.checks),
            confidence_level=check.confidence_level,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values."""
        return {
            "checks": [check.to_dict() for check in self.checks],
            "best_rows": None if self.best is None else self.best.rows.tolist(),
            "contest": None if self.contest is None else self.contest.to_dict(),
        }

    @classmethod
    def from_dict(cls, state: Mapping[str, Any], metric: Metric) -> History:
        """Return what `to_dict` wrote; KeyError, TypeError or ValueError where it did not."""
        checks = tuple(Check(**check) for check in state["checks"])
        if not checks:
            return cls()
        rows = np.array(state["best_rows"])
        score, values, _ = _estimated(metric, rows)
        best = Best(checks[-1].best_step, score, rows, values)
        return cls(checks, best, Contest.from_dict(state["contest"]))


def _estimated(metric: Metric, rows: NDArray[Any]) -> tuple[float, NDArray[np.float64], float]:
    """Return the score, each segment's influence on it `(N,)`, and its standard error."""
    score = float(metric.score(np.sum(rows, axis=0, dtype=np.float64)))
    (values,) = influence.influence_values(metric, rows[None])
    error = float(influence.standard_error(values))
    if not np.all(np.isfinite((score, error))):
        raise InputError(
            f"{metric.name} or its gradient is not finite; define the score for every total, "
            f"for example where a denominator is 0"
        )
    return score, values, error


def _interval(observed: float, error: float, n_segments: int, rules: Rules) -> tuple[float, float]:
    low, high = intervals.student_t(
        np.float64(observed), np.float64(error), n_segments, rules.confidence_level
    )
    return float(low), float(high)
