"""The checks of a run: their records, the computation of a new one, and all of them as JSON.

*The level of a check.* All looks of a run compare with the same best step, and successive
checkpoints are similar, so their test statistics are correlated. Bonferroni's inequality ignores
that and wastes half of the significance level. As in `evalstats.designs.spending`, the level is
spent look by look (Lan and DeMets, 1983), using the joint distribution of the looks. There, the
items of one comparison grow and correlations are known; here, sign flips of the segments' influence
values sample the distribution.

*The best of many scores.* The highest of J noisy scores is above its true score on average, even if
each score is unbiased (the winner's curse). To estimate this bias, each bootstrap resample chooses
its best candidate, which is scored on the segments that are not in the resample (bootstrap bias
correction; Tsamardinos, Greasidou and Borboudakis, 2018; Efron, 1983). The correction is the mean
over resamples of

    score of the reported winner - score of the resample's winner,  both out of the bag.

If one candidate is clearly best, every resample chooses it and the correction is 0. If all are
equal, the correction is the mean bias of the maximum. The choice of a resample depends on earlier
candidates only through its best score so far, so only a few numbers per resample are kept, for any
number of candidates.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import ldexp
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.counts import Outcomes, as_outcomes
from evalstats.analysis.design import Units
from evalstats.designs.spending import N_DRAWS, DrawnLooks
from evalstats.errors import InputError
from evalstats.inference import student
from evalstats.inference.student import Spread
from evalstats.metrics import Metric, written
from evalstats.resampling.weighted import ExactProduct, exact_grid
from evalstats.resampling.weights import Multinomial, batches
from evalstats.results import tabular
from evalstats.results.convert import Share, record_of
from evalstats.results.records import Record
from evalstats.statistics.segments import SegmentStatistics

#: Maximum number of sets of segments to flip. More sets take longer and do not change levels.
_MOST_SETS = 256
#: The signs of eight sets for each value of an octet, `(8, 256)`.
_SIGNS = 1.0 - 2 * np.unpackbits(np.arange(256, dtype=np.uint8)[None], axis=0)
#: Maximum number of weights converted to out-of-bag weights at once.
_BLOCK_WEIGHTS = 1 << 24
Floats = NDArray[np.float64]


class StepScore(NamedTuple):
    """A step and its corpus score."""

    step: int
    score: float


class Basis(NamedTuple):
    """The interval and test of a check, and the number of segments behind them.

    `interval` names the interval of the score: "t", or "wilson" for 0/1 scores. `test` names the
    test: "t", or "mcnemar" for 0/1 scores, and `None` at the first check. `n_differing` segments,
    or groups, differ from the step with which this one is compared. `kurtosis` is the kurtosis of
    their influence values on the difference (3 for a normal distribution), and `None` if no t test
    is used or nothing varies. `barred` is the kind of a note that rules out a real improvement:
    "empty" outputs, or outputs that are all "alike", if the best step has none; texts "unread" by
    the metric; outputs "shifted" against the references; "missing" scores. Without such a note
    it is empty.
    """

    interval: str
    test: str | None = None
    n_differing: int = 0
    kurtosis: float | None = None
    barred: str = ""

    @property
    def worth(self) -> float:
        """The effective number of segments that differ, (Σu²)²/Σu⁴ of influence values u."""
        return self.n_differing / self.kurtosis if self.kurtosis else float(self.n_differing)


@dataclass(frozen=True)
class Checkpoint(Record):
    """The result of one evaluation in a run.

    The *best* step is the last real improvement, or the first step until there is one, and later
    steps are compared with it. The *highest* step is the one with the best score so far.

    Attributes
    ----------
    step : int
        The step that was checked.
    metric : str
        Name of the metric.
    score, low, high, standard_error : float
        Corpus score with its t interval from influence values (Wilson's for 0/1 scores).
    compared_with : int or None
        The best step before this one; `None` at the first check.
    difference, difference_low, difference_high : float
        Score minus the score of that step, with the interval of differences that the test does not
        reject (Tango's for 0/1 scores); 0 at the first check. Intervals are not corrected for
        repeated looks.
    pvalue : float
        One-sided p-value of "no better than that step", in (0, 1]; 1 at the first check.
    level : float
        Largest p-value of a real improvement at this look; 0 at the first check.
    improved : bool
        Whether this is a real improvement; `False` at the first check, which has no predecessor.
    best : StepScore
        The best step after this check, with its score.
    highest : StepScore
        The step with the best score so far; if two are equal, the earlier one.
    checks_without_improvement : int
        Checks since the best step.
    should_stop : bool
        Whether the patience is used up.
    higher_is_better : bool
        Direction of the metric.
    confidence_level : float
        Nominal coverage of the intervals.
    basis : Basis
        The interval and the test, and the number of segments behind the test.
    notes : tuple of str
        Reasons why the score may be invalid.

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
    notes: tuple[str, ...] = ()

    def to_log(self, prefix: str = "") -> dict[str, float]:
        """Return a flat dictionary of floats, for TensorBoard or Weights & Biases.

        The keys are the same at every check: the metric's name as given (``chrf`` for chrF2, with
        underscores for blanks), and this name with ``_low``, ``_high``, ``_difference``,
        ``_pvalue``, ``_level``, ``_improved``, ``_best``, ``_best_step`` and
        ``_checks_without_improvement``.

        Parameters
        ----------
        prefix : str
            Prefix of each key, for example ``"eval/"``.
        """
        name = prefix + log_name(self.metric)
        keys = ("low", "high", "difference", "pvalue", "level", "improved")
        values = {f"_{key}": getattr(self, key) for key in (*keys, "checks_without_improvement")}
        values |= {"": self.score, "_best": self.best.score, "_best_step": self.best.step}
        return {name + key: float(value) for key, value in values.items()}

    def __str__(self) -> str:
        decimals = tabular.decimals([self.standard_error])
        score = tabular.number(self.score, decimals)
        bounds = tabular.interval(self.low, self.high, decimals)
        text = f"step {self.step}: {self.metric} {score} {bounds}"
        notes = "".join(f"\n{note}" for note in self.notes)
        if self.compared_with is None:
            return text + notes
        verdict = "real improvement" if self.improved else "no real improvement"
        difference = tabular.number(self.difference, decimals, sign=True)
        return (
            f"{text}, {difference} against step {self.compared_with}, "
            f"p = {self.pvalue:.2g} (level {self.level:.2g}): {verdict}{notes}"
        )

    def _title(self) -> str:
        return f"step {self.step}, {self.metric}"


@dataclass(frozen=True)
class Selected(Record):
    """The checkpoint with the best score, corrected for selection.

    `step` has the best `score` of all checks for `metric`, which is too good on average because it
    was chosen for being the best; `standard_error` is from influence values. `corrected` is the
    score minus the `optimism` (plus, if lower scores are better), which is at least 0, with its t
    interval from `low` to `high` at `confidence_level`. `agreement` is the share of the resamples
    that choose the same step, in [0, 1], and `n_checks` the number of checks to choose from.

    Examples
    --------
    >>> import evalstats as es
    >>> monitor = es.Monitor(metric=es.Mean("acc"))
    >>> for step, scores in enumerate(([1, 0, 1, 1, 0, 1], [1, 1, 1, 1, 0, 1])):
    ...     _ = monitor.check(step, scores)
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
    """Return a metric's name as a key of a log: "chrf" for chrF2, "word_perplexity"."""
    return "_".join(written(metric).split())


def flipped(influence: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    """Return sums of the influence values with random signs, `(N,) -> (R,)`."""
    centred = influence - np.mean(influence)
    # Neighbours go to different sets, because segments of a document are similar.
    n_sets = min(len(centred), _MOST_SETS)
    sets = np.bincount(np.arange(len(centred)) % n_sets, centred, minlength=-(-n_sets // 8) * 8)
    scale = float(np.max(np.abs(sets)))
    if not scale > 0:
        return np.zeros(N_DRAWS)
    # Sums of integers are exact, so equal draws stay equal.
    octets = np.rint(sets / scale * 2**20).reshape(-1, 8)
    drawn = np.random.default_rng(seed).bytes(len(octets) * N_DRAWS)
    sums = np.zeros(N_DRAWS)
    # Eight signs at a time, from a table of the sums for their 256 choices.
    for added, signs in zip(
        octets @ _SIGNS, np.frombuffer(drawn, np.uint8).reshape(-1, N_DRAWS), strict=True
    ):
        sums += added[signs]
    return sums


def out_of_bag_weights(n_segments: int, n_resamples: int, seed: int) -> NDArray[Any]:
    """Return rows of `bootstrap_weights` that leave some segment out, `(B, N)`.

    Other rows occur only for two or three segments and are dropped.
    """
    weights = np.concatenate([x for _, x in batches(Multinomial(n_segments, seed), n_resamples)])
    return np.asarray(weights[np.any(weights == 0, axis=1)])


def bag_scores(metric: Metric, rows: NDArray[Any], weights: NDArray[Any]) -> tuple[Floats, Floats]:
    """Return scores of statistics `(N, k)` in and out of each resample, `(B,)` each."""
    product = ExactProduct(exact_grid(rows), 255)
    size = max(1, _BLOCK_WEIGHTS // weights.shape[1])
    blocks = [weights[i : i + size] for i in range(0, len(weights), size)]
    totals = [product(weights)]
    totals += [product((block == 0).astype(block.dtype)) for block in blocks]
    scores = metric.score(np.concatenate(totals, axis=1).T)
    if not np.all(np.isfinite(scores)):
        raise InputError(
            f"{metric.name} of a resample is not finite; define the score for all possible "
            "totals, including denominators of 0"
        )
    return scores[: len(weights)], scores[len(weights) :]


@dataclass(frozen=True)
class BestSoFar:
    """The best candidate so far, on all segments and in each of B resamples.

    `step` and `score` belong to the winner on all segments, and `out_of_bag` `(B,)` has its scores
    on the segments that each resample left out. `winners` `(B,)` has the winner in each resample
    (the earlier one if two are equal), and the other two have the scores of these winners.
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
        """Return the best so far, updated with one more candidate."""
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


#: Interval and one-sided p-value of the difference between a step and the best one; then `test`,
#: `n_differing` and `kurtosis` of the `Basis`.
Compared: TypeAlias = tuple[tuple[float, float, float], tuple[str | None, int, float | None]]
#: The same for the first step.
FIRST: Compared = ((0.0, 0.0, 1.0), (None, 0, None))


@dataclass(frozen=True, eq=False)
class Step:
    """One step: its statistics `(N, k)`, score, influence values `(N,)` and their spread.

    Units are segments or groups; `sizes` are the numbers of segments per group.
    """

    metric: Metric
    rows: NDArray[Any]
    sizes: NDArray[np.int64] | None
    score: float
    influence: Floats
    spread: Spread

    @classmethod
    def of(cls, metric: Metric, rows: NDArray[Any], sizes: NDArray[np.int64] | None) -> Step:
        """Return the score, influence values and spread of the statistics of one step."""
        score = float(metric.score(np.sum(rows, axis=0, dtype=np.float64)))
        (values,) = student.influence_values(metric, rows[None])
        spread = student.spread(values, sizes)
        if not np.all(np.isfinite((score, spread.error))):
            raise InputError(
                f"{metric.name} or its gradient is not finite; define the score for all possible "
                "totals, including denominators of 0"
            )
        return cls(metric, rows, sizes, score, values, spread)

    def interval(self, segments: NDArray[Any], alpha: float) -> tuple[str, tuple[float, float]]:
        """Return the name of the interval of the score, and the interval.

        `segments` are the statistics before grouping.
        """
        outcomes = outcomes_of(self.metric, self.sizes, segments)
        if outcomes is not None:
            return "wilson", outcomes.score_interval(0, self.influence, alpha)
        return "t", student.interval(self.score, self.spread.error, self.spread.degrees, alpha)

    def compared(self, best: Step, alpha: float) -> Compared:
        """Test the hypothesis that this step is no better than the best one.

        A paired t test on influence values: the p-value is the larger of two, from t and from
        Hall's (1992) skewness-corrected t, because either can be too small, depending on the side
        of a long tail. The interval contains all differences that neither test rejects. 0/1 scores
        have Tango's interval and McNemar's test. No p-value is below 2^-m for m units that differ,
        the smallest p-value of a test that swaps them.
        """
        differs = np.any(best.rows != self.rows, axis=1)
        m, difference = int(np.count_nonzero(differs)), self.score - best.score
        influence = self.influence - best.influence
        outcomes = outcomes_of(self.metric, self.sizes, best.rows, self.rows)
        side = "greater" if self.metric.higher_is_better else "less"
        kurtosis = None
        if outcomes is not None:
            counted = outcomes.counted(0, 1, influence)
            bounds, pvalue = counted.interval(alpha), counted.pvalue(0.0, side)
        else:
            kurtosis = student.kurtosis(influence, m)
            spread = student.spread(influence, self.sizes)
            sizes = np.ones(len(self.rows)) if self.sizes is None else self.sizes
            worth = student.kish(sizes[differs]) if m else np.inf
            degrees = max(min(spread.degrees, worth - 1), 1.0)
            skewness = student.skewness(influence)
            bounds = student.interval(difference, spread.error, degrees, alpha, skewness)
            pvalue = student.pvalue(difference, spread.error, degrees, side, skewness)
        # The smallest double is 2^-1074.
        pvalue = max(pvalue, ldexp(1.0, -min(m, 1074))) if m else 1.0
        return (*bounds, pvalue), ("t" if outcomes is None else "mcnemar", m, kurtosis)


def outcomes_of(
    metric: Metric, sizes: NDArray[np.int64] | None, *rows: NDArray[Any]
) -> Outcomes | None:
    """Return which segments score 1 in each of the rows `(N, k)`, if all are 0/1 scores."""
    names = tuple(f"step {i}" for i in range(len(rows)))
    table = SegmentStatistics(np.stack(rows), names, metric)
    return as_outcomes(table, Units(len(rows[0]), sizes=sizes))


@dataclass(frozen=True)
class History:
    """Everything that a check changes, in one object, which is replaced after each check.

    So an interrupted check changes nothing.
    """

    checks: tuple[Checkpoint, ...] = ()
    best: Step | None = None
    so_far: BestSoFar | None = None
    looks: DrawnLooks = field(default_factory=DrawnLooks)
    segment_ids: str | None = None  # a hash of them, if statistics have any

    def selected(self) -> Selected:
        """Return the checkpoint with the best score, corrected for selection."""
        so_far = self.so_far
        if so_far is None:
            raise InputError("there are no checks to choose from yet; call check first")
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
    def of_state(
        cls, state: Mapping[str, Any], metric: Metric, sizes: NDArray[np.int64] | None
    ) -> History:
        """Return the history from the values of `state`."""
        if not state["checks"]:
            return cls()
        checks = tuple(
            record_of(Checkpoint, record, f"state.checks[{i}]")
            for i, record in enumerate(state["checks"])
        )
        so_far = state["so_far"]
        arrays: dict[str, Any] = {name: np.array(values) for name, values in so_far.items()}
        arrays |= {name: so_far[name] for name in ("step", "score")}
        octets = np.frombuffer(bytes.fromhex(state["surviving"]), dtype=np.uint8)
        looks = DrawnLooks(state["spent_before"], np.unpackbits(octets).astype(np.bool_))
        best = Step.of(metric, np.array(state["best_rows"]), sizes)
        return cls(checks, best, BestSoFar(**arrays), looks, state["segment_ids"])
