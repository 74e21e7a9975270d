"""What the checks of a run have left behind, what one more check makes of it, and its state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ldexp
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalstats.checks import integer, share
from evalstats.errors import InputError
from evalstats.inference import counts, student
from evalstats.inference.student import Spread
from evalstats.metrics import Mean, Metric
from evalstats.training.boundary import N_FLIPS, Boundary, spent_by
from evalstats.training.records import Checkpoint, Selected, StepScore
from evalstats.training.selection import BestSoFar, OutOfBag


@dataclass(frozen=True)
class Rules:
    """What a monitor judges by, checked; `Monitor` says what each of them means."""

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
        """Return the level that so many looks may spend together; no look spends none."""
        return spent_by(look, self.significance_level, self.expected_checks)

    def interval(self, observed: float, spread: Spread) -> tuple[float, float]:
        """Return the t interval of a score or of a difference."""
        alpha = 1 - self.confidence_level
        return student.interval(observed, spread.error, spread.degrees, alpha)

    def stops(self, checks_without_improvement: int) -> bool:
        """Return whether the patience is used up."""
        return self.patience is not None and checks_without_improvement >= self.patience


@dataclass(frozen=True)
class Best:
    """The last real improvement, or the first step: statistics `(N, k)` and influence `(N,)`."""

    rows: NDArray[Any]
    score: float
    influence: NDArray[np.float64]
    spread: Spread

    @classmethod
    def of(cls, rules: Rules, rows: NDArray[Any]) -> Best:
        """Return what the statistics of one step say about its score."""
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


@dataclass(frozen=True)
class History:
    """Everything that a check changes. Replaced as a whole, so that a check happens or does not."""

    checks: tuple[Checkpoint, ...] = ()
    best: Best | None = None
    so_far: BestSoFar | None = None
    boundary: Boundary = field(default_factory=Boundary.start)
    segment_ids: str | None = None  # a hash of them, where statistics came with some

    def after(
        self, step: int, rows: NDArray[Any], rules: Rules, bags: OutOfBag, ids: str | None = None
    ) -> History:
        """Return the history with one more check, of statistics `(N, k)`."""
        metric, best, boundary = rules.metric, self.best, self.boundary
        new = Best.of(rules, rows)
        in_bag, out_of_bag = bags.scores(metric, rows)
        low, high = rules.interval(new.score, new.spread)
        previous, so_far = self.checks[-1] if self.checks else None, self.so_far
        now = standing = StepScore(step, new.score)
        difference, bounds, pvalue, level = 0.0, (0.0, 0.0), 1.0, 0.0
        improved, waited = False, 0
        if previous is None or best is None or so_far is None:
            so_far = BestSoFar.start(step, new.score, in_bag, out_of_bag)
        else:
            better = metric.higher_is_better
            so_far = so_far.update(step, new.score, in_bag, out_of_bag, better)
            difference = new.score - previous.best.score
            bounds, pvalue = _compared(best, new, difference, rules)
            gain = (1 if better else -1) * (new.influence - best.influence)
            level, boundary = boundary.look(gain, rules.spent(len(self.checks)), rules.seed)
            improved = pvalue <= level
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
            difference_low=bounds[0],
            difference_high=bounds[1],
            pvalue=pvalue,
            level=level,
            improved=improved,
            best=standing,
            highest=StepScore(so_far.step, so_far.score),
            checks_without_improvement=waited,
            should_stop=rules.stops(waited),
            higher_is_better=bool(metric.higher_is_better),
            confidence_level=rules.confidence_level,
        )
        kept = new if standing is now else best
        return History((*self.checks, check), kept, so_far, boundary, self.segment_ids or ids)

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

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values for JSON."""
        so_far = {} if self.so_far is None else vars(self.so_far)
        return {
            "checks": [check.to_dict() for check in self.checks],
            "best_rows": None if self.best is None else self.best.rows.tolist(),
            "so_far": {
                k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in so_far.items()
            },
            "surviving": np.packbits(self.boundary.surviving).tobytes().hex(),
            "spent_before": self.boundary.before,
            "segment_ids": self.segment_ids,
        }

    @classmethod
    def from_dict(cls, state: Mapping[str, Any], rules: Rules) -> History:
        """Return what `to_dict` described; what has another shape raises an error of Python's."""
        pairs = ("best", "highest")
        checks = tuple(
            Checkpoint(**{**record, **{name: StepScore(*record[name]) for name in pairs}})
            for record in state["checks"]
        )
        if not checks:
            return cls()
        rows = np.array(state["best_rows"])
        if rows.dtype.kind not in "if" or rows.shape[1:] != (len(rules.metric.columns),):
            raise ValueError(f"best_rows are {rows.dtype} of shape {rows.shape}")
        best = Best.of(rules, rows)
        fields: dict[str, Any] = {
            k: np.array(v) if isinstance(v, list) else v for k, v in state["so_far"].items()
        }
        so_far = BestSoFar(**fields)
        shapes = {value.shape for value in fields.values() if isinstance(value, np.ndarray)}
        octets = np.frombuffer(bytes.fromhex(state["surviving"]), dtype=np.uint8)
        if len(shapes) != 1 or len(shapes.pop()) != 1 or 8 * len(octets) != N_FLIPS:
            raise ValueError("numbers of resamples or of sign flips differ")
        boundary = Boundary(np.unpackbits(octets).astype(np.bool_), float(state["spent_before"]))
        return cls(checks, best, so_far, boundary, state["segment_ids"])


def _compared(
    best: Best, new: Best, difference: float, rules: Rules
) -> tuple[tuple[float, float], float]:
    """Return the interval of the difference, and the one-sided p-value of "no better".

    A paired t test on influence values; 0/1 scores have Tango's interval and McNemar's test. No
    p-value is below 2^-m for m units that differ, the smallest that swapping them can give.
    """
    metric, n = rules.metric, len(new.rows)
    alternative = "greater" if metric.higher_is_better else "less"
    differs = np.any(best.rows != new.rows, axis=1)
    m = int(np.count_nonzero(differs))
    if _zeros_and_ones(metric, best.rows) and _zeros_and_ones(metric, new.rows):
        gained = float(np.count_nonzero(new.rows[:, 0] > best.rows[:, 0]))
        lost = m - gained
        quantile = student.quantile(np.inf, 1 - rules.confidence_level)
        distance = counts.tango_distance(gained, lost, n, 0.0)
        bounds = counts.tango(gained, lost, n, quantile)
        found = student.pvalue(distance, 1.0, np.inf, alternative)
    else:
        spread = student.spread(new.influence - best.influence, rules.sizes)
        sizes = np.ones(n) if rules.sizes is None else rules.sizes
        worth = student.kish(sizes[differs]) if m else np.inf
        spread = spread._replace(degrees=max(min(spread.degrees, worth - 1), 1.0))
        bounds = rules.interval(difference, spread)
        # Where every segment moved by the same amount only their number says how sure that is.
        found = student.pvalue(difference, spread.error, spread.degrees, alternative)
    # Doubles end at 2^-1074.
    return bounds, max(found, ldexp(1.0, -min(m, 1074))) if m else 1.0


def _zeros_and_ones(metric: Metric, rows: NDArray[Any]) -> bool:
    # A subclass may score its sums otherwise.
    return type(metric) is Mean and bool(
        np.all(rows[:, 1] == 1) and np.all((rows[:, 0] == 0) | (rows[:, 0] == 1))
    )
