"""The checks of a run so far, the computation of one more, and both as JSON and back.

All looks of a run compare with the same best step, and successive checkpoints resemble each
other, so their test statistics are correlated. Bonferroni's inequality ignores that and wastes half
of the significance level. As in `evalstats.designs.looks.spending` the level is spent look by look
(Lan and DeMets, 1983) on the joint distribution of the looks: there the items of one comparison
grow, and correlations are known; here sign flips of the segments' influence values draw from it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isclose, ldexp
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.design import Aggregate, Units
from evalstats.analysis.scores import Outcomes, as_outcomes
from evalstats.checks import integer, share, shown
from evalstats.designs.looks.spending import LEAST_LEVEL, spent, steady
from evalstats.errors import InputError
from evalstats.inference import student
from evalstats.inference.student import Spread
from evalstats.metrics import Metric
from evalstats.results.convert import record_of
from evalstats.statistics.segments import SegmentStatistics
from evalstats.training.check_records import Basis, Checkpoint, Selected, StepScore
from evalstats.training.selection import BestSoFar, OutOfBag

#: Sign flips behind a boundary; the first look of fifty spends some thirty of them.
N_FLIPS = 1 << 15
#: Segments are flipped in at most so many sets. More sets take longer and change no level.
_MOST_SETS = 256
#: The signs of eight sets for each value of an octet, `(8, 256)`.
_SIGNS = 1.0 - 2 * np.unpackbits(np.arange(256, dtype=np.uint8)[None], axis=0)
_HASH = re.compile("[0-9a-f]{64}")
#: By how much a score may differ that another machine computed, in standard errors or relatively.
_ROUNDING = 1e-6


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
        """Return the level that so many looks may spend together; 0 for no look.

        In equal parts of the looks that are expected, and less than α for any number of them, so
        that nobody needs to know when the run will end.
        """
        return spent(look / self.expected_checks, self.significance_level, steady)

    def outcomes(self, *rows: NDArray[Any]) -> Outcomes | None:
        """Return which segments score 1 in each of the rows `(n_segments, k)`, if all are 0/1."""
        names = tuple(f"step {i}" for i in range(len(rows)))
        table = SegmentStatistics(np.stack(rows), names, self.metric)
        return as_outcomes(table, Units(len(rows[0]), sizes=self.sizes), Aggregate())

    def stops(self, checks_without_improvement: int) -> bool:
        """Return whether the patience is used up."""
        return self.patience is not None and checks_without_improvement >= self.patience


@dataclass(frozen=True)
class Boundary:
    """Which draws under the null hypothesis have crossed no level since the last improvement.

    A new boundary starts after each real improvement, since later looks compare with another step.

    Attributes
    ----------
    before : float
        The level that was spent before the first look of this boundary.
    surviving : ndarray of bool, shape (R,)
        Whether each draw has crossed none.
    """

    before: float = 0.0
    surviving: NDArray[np.bool_] = field(default_factory=lambda: np.ones(N_FLIPS, dtype=np.bool_))

    def look(
        self, influence: NDArray[np.float64], spent: float, seed: int
    ) -> tuple[float, Boundary]:
        """Return the level of one more look, and the boundary after it.

        As many of the surviving draws cross as the spent level allows, those with the largest
        values. The level of the look is the share of all draws that are as large, and 2^-40 where
        less than one draw may cross.

        Parameters
        ----------
        influence : ndarray, shape (N,)
            Of each segment on the improvement: positive where the new step is better.
        spent : float
            What the looks of the run may spend together up to this one, `Rules.spent`.
        seed : int
            Of the flips, the same for all looks of a run.
        """
        draws = _flipped(influence, seed)
        n_surviving = int(np.count_nonzero(self.surviving))
        allowed = round((spent - self.before) * N_FLIPS) - (N_FLIPS - n_surviving)
        due = min(max(allowed, 0), n_surviving)
        if not np.any(draws):
            # Every segment changed by the same amount, so all draws are 0.
            return max(due / (N_FLIPS + 1), LEAST_LEVEL), self
        left = draws[self.surviving]
        stay = len(left) - due
        # Draws that tie with one that stays do not cross: no more is spent than is allowed.
        crossed = draws > (np.partition(left, stay - 1)[stay - 1] if stay > 0 else -np.inf)
        # Over R + 1, as every p-value that is counted.
        level = float(np.count_nonzero(crossed)) / (N_FLIPS + 1)
        return max(level, LEAST_LEVEL), Boundary(self.before, self.surviving & ~crossed)


def _flipped(influence: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    """Return sums of the influence values under random signs, `(N,) -> (R,)`."""
    centred = influence - np.mean(influence)
    # Neighbours go to different sets: segments of a document resemble each other.
    n_sets = min(len(centred), _MOST_SETS)
    sets = np.bincount(np.arange(len(centred)) % n_sets, centred, minlength=-(-n_sets // 8) * 8)
    scale = float(np.max(np.abs(sets)))
    if not scale > 0:
        return np.zeros(N_FLIPS)
    # Sums of whole numbers are exact, so that equal draws stay equal.
    octets = np.rint(sets / scale * 2**20).reshape(-1, 8)
    drawn = np.random.default_rng(seed).bytes(len(octets) * N_FLIPS)
    sums = np.zeros(N_FLIPS)
    # Eight signs at a time, in a table of the sums of their 256 choices.
    for added, signs in zip(
        octets @ _SIGNS, np.frombuffer(drawn, np.uint8).reshape(-1, N_FLIPS), strict=True
    ):
        sums += added[signs]
    return sums


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


@dataclass(frozen=True)
class History:
    """Everything that a check changes, in one object, which is replaced after each check.

    So a check that is interrupted changes nothing.
    """

    checks: tuple[Checkpoint, ...] = ()
    best: Best | None = None
    so_far: BestSoFar | None = None
    boundary: Boundary = field(default_factory=Boundary)
    segment_ids: str | None = None  # a hash of them, where statistics came with some

    def after(self, step: int, outputs: Outputs, rules: Rules, bags: OutOfBag) -> History:
        """Return the history with one more check."""
        metric, best, boundary = rules.metric, self.best, self.boundary
        new = Best.of(rules, outputs.rows)
        in_bag, out_of_bag = bags.scores(metric, outputs.rows)
        alpha, spread = 1 - rules.confidence_level, new.spread
        if outputs.outcomes is not None:
            interval, bounds = "wilson", outputs.outcomes.score_interval(0, new.influence, alpha)
        else:
            bounds = student.interval(new.score, spread.error, spread.degrees, alpha)
            interval = "t"
        previous, so_far = self.checks[-1] if self.checks else None, self.so_far
        now = standing = StepScore(step, new.score)
        difference, compared, level = 0.0, Compared(), 0.0
        improved, waited = False, 0
        if previous is None or best is None or so_far is None:
            winners = np.full(len(in_bag), step, dtype=np.int64)
            so_far = BestSoFar(step, new.score, out_of_bag, winners, in_bag, out_of_bag)
        else:
            better = metric.higher_is_better
            so_far = so_far.update(step, new.score, in_bag, out_of_bag, better)
            difference = new.score - previous.best.score
            compared = _compared(best, new, difference, rules)
            gain = (1 if better else -1) * (new.influence - best.influence)
            level, boundary = boundary.look(gain, rules.spent(len(self.checks)), rules.seed)
            improved = compared.pvalue <= level
            if improved:
                boundary = Boundary(rules.spent(len(self.checks)))
            else:
                standing, waited = previous.best, previous.checks_without_improvement + 1
        check = Checkpoint(
            **now._asdict(),
            metric=metric.name,
            low=bounds[0],
            high=bounds[1],
            standard_error=spread.error,
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
            basis=Basis(interval, *compared[3:]),
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

    def state(self) -> dict[str, Any]:
        """Return the history as plain Python values for JSON."""
        so_far = {} if self.so_far is None else vars(self.so_far)
        return {
            "checks": [check.to_dict() for check in self.checks],
            "best_rows": None if self.best is None else self.best.rows.tolist(),
            "so_far": {
                name: value.tolist() if isinstance(value, np.ndarray) else value
                for name, value in so_far.items()
            },
            "surviving": np.packbits(self.boundary.surviving).tobytes().hex(),
            "spent_before": self.boundary.before,
            "segment_ids": self.segment_ids,
        }

    @classmethod
    def of_state(
        cls,
        state: Mapping[str, Any],
        rules: Rules,
        n_units: int | None,
        bags: Callable[[int], OutOfBag],
    ) -> History:
        """Return the history that `state` described, which may have come from anywhere.

        So every number is validated: a damaged state is refused when it is loaded, not some checks
        later. `n_units` is how many segments or groups there are, where that is known, and `bags`
        makes the resamples of so many.

        Raises
        ------
        InputError
            Where a value is not of its type or in its range, or does not fit the others; for a
            missing one a `KeyError`.
        """
        if not state["checks"] and state["best_rows"] is None:
            return cls()
        rows, k = np.array(state["best_rows"]), len(rules.metric.columns)
        if rows.dtype.kind not in "if" or rows.ndim != 2 or rows.shape[1] != k or len(rows) < 2:
            raise InputError(
                f"state.best_rows are {rows.dtype} of shape {rows.shape}, not (N, {k})"
            )
        if not np.all(np.isfinite(rows)):
            raise InputError("state.best_rows must be finite")
        if n_units is not None and len(rows) != n_units:
            raise InputError(f"state.best_rows has {len(rows)} rows, expected {n_units}")
        rules.metric.check_statistics(rows)
        checks = _checks(state["checks"], rules, len(rows))
        best, standing = Best.of(rules, rows), checks[-1].best
        slack = _ROUNDING * (best.spread.error + abs(standing.score))
        if not isclose(best.score, standing.score, rel_tol=0, abs_tol=slack):
            raise InputError(f"state.best_rows have not the score of step {standing.step}")
        so_far = _best_so_far(state["so_far"], checks, len(bags(len(rows))))
        octets = np.frombuffer(bytes.fromhex(state["surviving"]), dtype=np.uint8)
        if 8 * len(octets) != N_FLIPS:
            raise InputError(
                f"state.surviving must be {N_FLIPS:,} sign flips, got {8 * len(octets):,}"
            )
        improved = [i for i, check in enumerate(checks) if check.improved]
        before = rules.spent(improved[-1]) if improved else 0.0
        if state["spent_before"] != before:
            raise InputError(f"state.spent_before must be {before:g} after these checks")
        ids = state["segment_ids"]
        if ids is not None and not _HASH.fullmatch(ids):
            raise InputError(f"state.segment_ids must be 64 hexadecimal digits, got {shown(ids)}")
        boundary = Boundary(before, np.unpackbits(octets).astype(np.bool_))
        return cls(checks, best, so_far, boundary, ids)


def _compared(best: Best, new: Best, difference: float, rules: Rules) -> Compared:
    """Test the hypothesis that the new step is no better than the best one.

    By a paired t test on influence values: the p-value is the larger of those of t and of Hall's
    (1992) skewness-corrected t, since which of the two is too small depends on the side of a long
    tail, and the interval holds all differences that neither of them rejects. 0/1 scores have
    Tango's interval and McNemar's test. No p-value is below 2^-m for m units that differ, the
    smallest that swapping them can give.
    """
    differs = np.any(best.rows != new.rows, axis=1)
    m = int(np.count_nonzero(differs))
    influence = new.influence - best.influence
    side = "greater" if rules.metric.higher_is_better else "less"
    outcomes, alpha = rules.outcomes(best.rows, new.rows), 1 - rules.confidence_level
    if outcomes is not None:
        counted = outcomes.counted(0, 1, influence)
        bounds, pvalue = counted.interval(alpha), counted.pvalue(0.0, side)
    else:
        spread = student.spread(influence, rules.sizes)
        sizes = np.ones(len(new.rows)) if rules.sizes is None else rules.sizes
        worth = student.kish(sizes[differs]) if m else np.inf
        spread = spread._replace(degrees=max(min(spread.degrees, worth - 1), 1.0))
        bounds = (difference, difference)
        pvalue = student.pvalue(difference, spread.error, spread.degrees, side)
        # Where every segment changed by the same amount nothing is skew.
        if spread.error > 0:
            skewness = student.skewness(influence)
            corrected = hall(difference / spread.error, skewness)
            pvalue = max(pvalue, student.pvalue(corrected, 1.0, spread.degrees, side))
            t = student.quantile(spread.degrees, alpha)
            below = max(t, hall_inverse(t, skewness)) * spread.error
            above = max(t, -hall_inverse(-t, skewness)) * spread.error
            bounds = (difference - below, difference + above)
    # Doubles end at 2^-1074.
    pvalue = max(pvalue, ldexp(1.0, -min(m, 1074))) if m else 1.0
    if outcomes is not None:
        return Compared(*bounds, pvalue, "mcnemar", m)
    return Compared(*bounds, pvalue, "t", m, student.kurtosis(influence, m))


def _checks(found: Sequence[Any], rules: Rules, n_units: int) -> tuple[Checkpoint, ...]:
    """Return the records of checks that can have followed one another under the rules."""
    checks = tuple(
        record_of(Checkpoint, record, f"state.checks[{i}]") for i, record in enumerate(found)
    )
    metric, previous = rules.metric, None
    for i, check in enumerate(checks):
        now = StepScore(check.step, check.score)
        expected: dict[str, Any] = {
            "metric": metric.name,
            "higher_is_better": metric.higher_is_better,
            "compared_with": None,
            "difference": 0.0,
            "improved": False,
            "best": now,
            "highest": now,
            "checks_without_improvement": 0,
        }
        if previous is not None:
            better = check.score - previous.highest.score
            expected |= {
                "compared_with": previous.best.step,
                "difference": check.score - previous.best.score,
                "improved": check.pvalue <= check.level,
                "highest": now
                if (better if metric.higher_is_better else -better) > 0
                else previous.highest,
            }
            if not check.improved:
                expected["best"] = previous.best
                expected["checks_without_improvement"] = previous.checks_without_improvement + 1
            if check.step <= previous.step:
                raise InputError(f"state.checks[{i}].step must be larger than {previous.step}")
        for name, value in expected.items():
            if getattr(check, name) != value:
                raise InputError(f"state.checks[{i}].{name} does not fit the other fields")
        # A kurtosis is at most the number of values.
        n, kurtosis = check.basis.n_differing, check.basis.kurtosis or 0.0
        if not (n <= n_units and 0 <= kurtosis <= n * (1 + _ROUNDING)):
            raise InputError(f"state.checks[{i}].basis does not fit the number of segments")
        previous = check
    return checks


def _best_so_far(found: Any, checks: Sequence[Checkpoint], n_bags: int) -> BestSoFar:
    """Return the best of each resample, which must be one of the steps that were checked."""
    step, score = checks[-1].highest
    if (found["step"], found["score"]) != (step, score) or isinstance(found["step"], bool):
        raise InputError(f"state.so_far must be of step {step}, the highest of the checks")
    arrays: dict[str, NDArray[Any]] = {}
    for name in ("out_of_bag", "winners", "winners_in_bag", "winners_out_of_bag"):
        values = np.array(found[name])
        kinds = "i" if name == "winners" else "if"
        if n_bags and (values.dtype.kind not in kinds or not np.all(np.isfinite(values))):
            raise InputError(f"state.so_far.{name} must be finite numbers")
        if values.shape != (n_bags,):
            raise InputError(
                f"state.so_far.{name} must be {n_bags} numbers, one a resample, got an array of "
                f"shape {values.shape}"
            )
        arrays[name] = values.astype(np.int64 if name == "winners" else np.float64)
    if not np.all(np.isin(arrays["winners"], [check.step for check in checks])):
        raise InputError("state.so_far.winners must be steps that were checked")
    return BestSoFar(step, score, **arrays)


def hall(t: float, skewness: float) -> float:
    r"""Return a t statistic corrected for skewness, whose distribution is nearer to that of t.

    Hall's (1992) monotone cubic transformation, with s = γ̂/√N from `skewness`:

    .. math:: g(t) = t + \frac{s}{6} (2 t^2 + 1) + \frac{s^2}{27} t^3

    Where values far above the mean are rare (s > 0), t is far below 0 too often and far above it
    too seldom; g moves it up. Hall's paper is "On the removal of skewness by transformation",
    *JRSS B* 54.

    >>> round(hall(2.0, 0.1), 4), round(hall(-2.0, 0.1), 4)
    (2.153, -1.853)
    """
    scaled = skewness * t
    # A product may be infinite, where a power of a float is an error.
    return t * (1 + scaled / 3 + scaled * scaled / 27) + skewness / 6


def hall_inverse(g: float, skewness: float) -> float:
    """Return the t that `hall` turns into g, by Hall's (1992) closed form.

    >>> round(hall_inverse(hall(-3.5, 0.4), 0.4), 12)
    -3.5
    """
    moved = g - skewness / 6
    # (1 + st/3)³ = 1 + s(g - s/6), solved for t by c³ - 1 = (c - 1)(c² + c + 1): s may be 0.
    root = float(np.cbrt(1 + skewness * moved))
    return 3 * moved / (root**2 + root + 1)
