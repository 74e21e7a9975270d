"""The checks of a run: their records, the computation of one more, and all of them as JSON.

*The level of a check.* All looks of a run compare with the same best step, and successive
checkpoints resemble each other, so their test statistics are correlated. Bonferroni's inequality
ignores that and wastes half of the significance level. As in `evalstats.designs.spending` the
level is spent look by look (Lan and DeMets, 1983) on the joint distribution of the looks: there the
items of one comparison grow, and correlations are known; here sign flips of the segments' influence
values draw from it.

*The best of many scores.* The highest of J noisy scores lies above the truth on average, even if
each of them is right on average (the winner's curse). To measure that, each bootstrap resample
chooses its best candidate, which is scored on the segments that are not in the resample (bootstrap
bias correction; Tsamardinos, Greasidou and Borboudakis, 2018; Efron, 1983). The correction is the
mean over resamples of

    score of the reported winner - score of the resample's winner,  both out of the bag.

If one candidate is clearly best, every resample chooses it and the correction is 0. If all are
equal, the correction is the mean by which the maximum lies above the truth. The choice of a
resample depends on earlier candidates only through its best score so far, so a few numbers per
resample are kept, however many candidates come.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import ldexp
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.design import Aggregate, Units
from evalstats.analysis.scores import Outcomes, as_outcomes
from evalstats.checks import integer, share
from evalstats.designs.spending import N_DRAWS, DrawnLooks, next_look, spent, steady
from evalstats.errors import InputError
from evalstats.inference import student
from evalstats.inference.student import Spread
from evalstats.metrics import Metric, written
from evalstats.resampling.weighted import ExactProduct, exact_grid, recipe
from evalstats.resampling.weights import batches
from evalstats.results import tabular
from evalstats.results.convert import Share, record_of
from evalstats.results.records import Record
from evalstats.statistics.segments import SegmentStatistics

#: Segments are flipped in at most so many sets. More sets take longer and change no level.
_MOST_SETS = 256
#: The signs of eight sets for each value of an octet, `(8, 256)`.
_SIGNS = 1.0 - 2 * np.unpackbits(np.arange(256, dtype=np.uint8)[None], axis=0)
#: At most so many weights are turned into out-of-bag weights at once.
_BLOCK_WEIGHTS = 1 << 24
Floats = NDArray[np.float64]


class StepScore(NamedTuple):
    """A step and its corpus score."""

    step: int
    score: float


class Basis(NamedTuple):
    """Which interval and test a check has, and on how many segments they rest.

    `interval` is that of the score: "t", or "wilson" of 0/1 scores; `test` that of the p-value:
    "t", or "mcnemar" of 0/1 scores, `None` at the first check. `n_differing` segments, or groups,
    differ from those of the step it is compared with; `kurtosis` is that of their influence values
    on the difference, 3 of normal ones, and `None` where no t test decides or nothing varies.
    """

    interval: str
    test: str | None = None
    n_differing: int = 0
    kurtosis: float | None = None

    @property
    def worth(self) -> float:
        """The effective number of segments that differ, (Σu²)²/Σu⁴ of influence values u."""
        return self.n_differing / self.kurtosis if self.kurtosis else float(self.n_differing)


@dataclass(frozen=True)
class Checkpoint(Record):
    """The result of one evaluation of a run.

    The *best* step is the last real improvement, or the first step until there is one, and later
    steps are compared with it. The *highest* step is the one with the best score so far.

    Attributes
    ----------
    step : int
        The step that was checked.
    metric : str
        Name of the metric.
    score, low, high, standard_error : float
        Corpus score with its t interval from influence values (Wilson's of 0/1 scores).
    compared_with : int or None
        The best step before this one; `None` at the first check.
    difference, difference_low, difference_high : float
        Score minus the score of that step, with the interval of what the test does not reject
        (Tango's for 0/1 scores); 0 at the first check. Intervals are not corrected for looking
        again and again.
    pvalue : float
        One-sided p-value of "no better than that step", in (0, 1]; 1 at the first check.
    level : float
        How small the p-value of a real improvement must be at this look; 0 at the first check.
    improved : bool
        Whether this is a real improvement; `False` at the first check, which has no predecessor.
    best : StepScore
        The best step after this check, with its score.
    highest : StepScore
        The step with the best score so far, the earlier one where two are equal.
    checks_without_improvement : int
        Checks since the best step.
    should_stop : bool
        Whether these have used up the patience.
    higher_is_better : bool
        Direction of the metric.
    confidence_level : float
        Coverage that the intervals aim at.
    basis : Basis
        Which interval and test these are, and on how many segments the test rests.

    Examples
    --------
    >>> import evalstats as es
    >>> monitor = es.Monitor(metric=es.Mean("acc"))
    >>> check = monitor.check(100, [1, 0, 1, 1, 0, 1])
    >>> check.step, round(check.score, 2)
    (100, 0.67)
    """

    step: int
    metric: str
    score: float
    low: float
    high: float
    standard_error: float
    compared_with: int | None
    difference: float
    difference_low: float
    difference_high: float
    pvalue: Share
    level: Share
    improved: bool
    best: StepScore
    highest: StepScore
    checks_without_improvement: int
    should_stop: bool
    higher_is_better: bool
    confidence_level: Share
    basis: Basis

    def to_log(self, prefix: str = "") -> dict[str, float]:
        """Return a flat dictionary of floats, for TensorBoard or Weights & Biases.

        The keys are the same at every check: the metric's name as it is asked for (``chrf`` of
        chrF2, and blanks as underscores), and that name with ``_low``,
        ``_high``, ``_difference``, ``_pvalue``, ``_improved``, ``_best``, ``_best_step`` and
        ``_checks_without_improvement``.

        Parameters
        ----------
        prefix : str
            Before each key, for example ``"eval/"``.
        """
        name = prefix + log_name(self.metric)
        keys = ("low", "high", "difference", "pvalue", "improved", "checks_without_improvement")
        values = {f"_{key}": getattr(self, key) for key in keys}
        values |= {"": self.score, "_best": self.best.score, "_best_step": self.best.step}
        return {name + key: float(value) for key, value in values.items()}

    def __str__(self) -> str:
        decimals = tabular.decimals([self.standard_error])
        score = tabular.number(self.score, decimals)
        bounds = tabular.interval(self.low, self.high, decimals)
        text = f"step {self.step}: {self.metric} {score} {bounds}"
        if self.compared_with is None:
            return text
        verdict = "real improvement" if self.improved else "no real improvement"
        difference = tabular.number(self.difference, decimals, sign=True)
        return (
            f"{text}, {difference} against step {self.compared_with}, "
            f"p = {self.pvalue:.2g} (level {self.level:.2g}): {verdict}"
        )

    def _title(self) -> str:
        return f"step {self.step}, {self.metric}"


@dataclass(frozen=True)
class Selected(Record):
    """The checkpoint with the best score, corrected for having been chosen.

    `step` has the best `score` of all under `metric`, which is too good on average, since it was
    chosen for being the best; `standard_error` is from influence values. `corrected` is the score
    less the `optimism`, at least 0 (plus, where lower scores are better), with its t interval from
    `low` to `high` at `confidence_level`. `agreement` is the share of the resamples that choose the
    same step, in [0, 1], and `n_checks` among how many it was chosen.

    Examples
    --------
    >>> import evalstats as es
    >>> monitor = es.Monitor(metric=es.Mean("acc"))
    >>> for step, marks in enumerate(([1, 0, 1, 1, 0, 1], [1, 1, 1, 1, 0, 1])):
    ...     _ = monitor.check(step, marks)
    >>> monitor.selected.step, monitor.selected.n_checks
    (1, 2)
    """

    step: int
    metric: str
    score: float
    standard_error: float
    corrected: float
    low: float
    high: float
    optimism: float
    agreement: float
    n_checks: int
    confidence_level: float

    def __str__(self) -> str:
        decimals = tabular.decimals([self.standard_error])
        return (
            f"{self._title()} {tabular.number(self.score, decimals)}, "
            f"corrected {tabular.number(self.corrected, decimals)} "
            f"{tabular.interval(self.low, self.high, decimals)}"
        )

    def _title(self) -> str:
        return f"step {self.step}, best of {self.n_checks}: {self.metric}"


def log_name(metric: str) -> str:
    """Return a metric's name as a key of a log: "chrf" of chrF2, "word_perplexity"."""
    return "_".join(written(metric).split())


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
        n_draws = self.spent(1) * N_DRAWS
        if n_draws < 1:
            most = int(self.expected_checks * n_draws)
            fewer = f"expect at most {most:,} checks (more may come), or " if most else ""
            least = 1.05 * level / n_draws
            raise InputError(
                f"significance_level {level:g} over expected_checks {self.expected_checks:,} is "
                f"{n_draws:.2g} of {N_DRAWS:,} sign flips a check, too little to call anything an "
                f"improvement; {fewer}give a significance_level of at least {least:.2g}"
            )

    def spent(self, look: int) -> float:
        """Return the level that so many looks may spend together; 0 for no look.

        In equal parts of the looks that are expected, and less than α for any number of them, so
        that nobody needs to know when the run will end.
        """
        return spent(DrawnLooks(), look / self.expected_checks, self.significance_level, steady)

    def outcomes(self, *rows: NDArray[Any]) -> Outcomes | None:
        """Return which segments score 1 in each of the rows `(n_segments, k)`, if all are 0/1."""
        names = tuple(f"step {i}" for i in range(len(rows)))
        table = SegmentStatistics(np.stack(rows), names, self.metric)
        return as_outcomes(table, Units(len(rows[0]), sizes=self.sizes), Aggregate())

    def stops(self, checks_without_improvement: int) -> bool:
        """Return whether the patience is used up."""
        return self.patience is not None and checks_without_improvement >= self.patience


def flipped(influence: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    """Return sums of the influence values under random signs, `(N,) -> (R,)`."""
    centred = influence - np.mean(influence)
    # Neighbours go to different sets: segments of a document resemble each other.
    n_sets = min(len(centred), _MOST_SETS)
    sets = np.bincount(np.arange(len(centred)) % n_sets, centred, minlength=-(-n_sets // 8) * 8)
    scale = float(np.max(np.abs(sets)))
    if not scale > 0:
        return np.zeros(N_DRAWS)
    # Sums of whole numbers are exact, so that equal draws stay equal.
    octets = np.rint(sets / scale * 2**20).reshape(-1, 8)
    drawn = np.random.default_rng(seed).bytes(len(octets) * N_DRAWS)
    sums = np.zeros(N_DRAWS)
    # Eight signs at a time, in a table of the sums of their 256 choices.
    for added, signs in zip(
        octets @ _SIGNS, np.frombuffer(drawn, np.uint8).reshape(-1, N_DRAWS), strict=True
    ):
        sums += added[signs]
    return sums


class OutOfBag:
    """Bootstrap resamples with the segments that each left out: rows of `bootstrap_weights`.

    Those that left no segment out are dropped; they occur for two or three segments.
    """

    def __init__(self, n_segments: int, n_resamples: int, seed: int) -> None:
        drawn = batches(recipe(n_segments, seed), n_resamples)
        weights = np.concatenate([rows for _, rows in drawn])
        self.n_segments = n_segments
        self._weights = weights[np.any(weights == 0, axis=1)]

    def __len__(self) -> int:
        """Return the number of resamples that left something out."""
        return len(self._weights)

    def scores(self, metric: Metric, statistics: NDArray[Any]) -> tuple[Floats, Floats]:
        """Return scores of statistics `(N, k)` in and out of every resample, `(B,)` each."""
        product = ExactProduct(exact_grid(statistics), 255)
        size = max(1, _BLOCK_WEIGHTS // self.n_segments)
        blocks = [self._weights[i : i + size] for i in range(0, len(self), size)]
        totals = [product(self._weights)]
        totals += [product((rows == 0).astype(rows.dtype)) for rows in blocks]
        scores = metric.score(np.concatenate(totals, axis=1).T)
        if not np.all(np.isfinite(scores)):
            raise InputError(
                f"{metric.name} of a resample is not finite; define the score for every total, "
                f"for example where a denominator is 0"
            )
        return scores[: len(self)], scores[len(self) :]


@dataclass(frozen=True)
class BestSoFar:
    """The best candidate so far, on all segments and in each of B resamples.

    `step` and `score` are those of the winner on all segments, and `out_of_bag` `(B,)` its scores
    on those that each resample left out. `winners` `(B,)` has the winner in each resample, the
    earlier one where two are equal, and the other two the scores of these.
    """

    step: int
    score: float
    out_of_bag: Floats
    winners: NDArray[np.int64]
    winners_in_bag: Floats
    winners_out_of_bag: Floats

    def update(
        self, step: int, score: float, in_bag: Floats, out_of_bag: Floats, higher_is_better: bool
    ) -> BestSoFar:
        """Return the best so far after one more candidate."""
        sign = 1 if higher_is_better else -1
        won = sign * in_bag > sign * self.winners_in_bag
        after = replace(
            self,
            winners=np.where(won, step, self.winners),
            winners_in_bag=np.where(won, in_bag, self.winners_in_bag),
            winners_out_of_bag=np.where(won, out_of_bag, self.winners_out_of_bag),
        )
        if sign * score > sign * self.score:
            after = replace(after, step=step, score=score, out_of_bag=out_of_bag)
        return after

    def optimism(self, higher_is_better: bool) -> float:
        """Return the correction of the winner's score, at least 0."""
        if not len(self.winners):
            return 0.0
        sign = 1 if higher_is_better else -1
        return max(0.0, sign * float(np.mean(self.out_of_bag - self.winners_out_of_bag)))

    @property
    def agreement(self) -> float:
        """The share of resamples that choose the same winner."""
        return float(np.mean(self.winners == self.step)) if len(self.winners) else 1.0


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
    looks: DrawnLooks = field(default_factory=DrawnLooks)
    segment_ids: str | None = None  # a hash of them, where statistics came with some

    def after(self, step: int, outputs: Outputs, rules: Rules, bags: OutOfBag) -> History:
        """Return the history with one more check."""
        metric, best, looks = rules.metric, self.best, self.looks
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
            at, draws = len(self.checks) / rules.expected_checks, flipped(gain, rules.seed)
            level, looks = next_look(looks, at, rules.significance_level, steady, draws)
            improved = compared.pvalue <= level
            if improved:
                # Later looks compare with another step.
                looks = DrawnLooks(rules.spent(len(self.checks)))
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
        return History((*self.checks, check), kept, so_far, looks, ids)

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
            "surviving": np.packbits(self.looks.surviving).tobytes().hex(),
            "spent_before": self.looks.before,
            "segment_ids": self.segment_ids,
        }

    @classmethod
    def of_state(cls, state: Mapping[str, Any], rules: Rules) -> History:
        """Return the history that the method `state` described."""
        if not state["checks"]:
            return cls()
        checks = tuple(
            record_of(Checkpoint, record, f"state.checks[{i}]")
            for i, record in enumerate(state["checks"])
        )
        rows, so_far = np.array(state["best_rows"]), state["so_far"]
        arrays: dict[str, Any] = {name: np.array(of) for name, of in so_far.items()}
        octets = np.frombuffer(bytes.fromhex(state["surviving"]), dtype=np.uint8)
        looks = DrawnLooks(state["spent_before"], np.unpackbits(octets).astype(np.bool_))
        arrays |= {name: so_far[name] for name in ("step", "score")}
        ids = state["segment_ids"]
        return cls(checks, Best.of(rules, rows), BestSoFar(**arrays), looks, ids)


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
