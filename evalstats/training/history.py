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
    `barred` is the kind of the note with which a check is not a real improvement: "empty" outputs,
    or outputs that are all "alike", if the best step has none; texts "unread" by the metric;
    "missing" scores. It is empty if there is none.
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
    notes : tuple of str
        What may make the score invalid.

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

        The keys are the same at every check: the metric's name as it is asked for (``chrf`` of
        chrF2, and blanks as underscores), and that name with ``_low``, ``_high``,
        ``_difference``, ``_pvalue``, ``_level``, ``_improved``, ``_best``, ``_best_step`` and
        ``_checks_without_improvement``.

        Parameters
        ----------
        prefix : str
            Before each key, for example ``"eval/"``.
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


def out_of_bag_weights(n_segments: int, n_resamples: int, seed: int) -> NDArray[Any]:
    """Return rows of `bootstrap_weights` that left some segment out, `(B, N)`.

    The others are dropped; they occur for two or three segments.
    """
    weights = np.concatenate([x for _, x in batches(Multinomial(n_segments, seed), n_resamples)])
    return np.asarray(weights[np.any(weights == 0, axis=1)])


def bag_scores(metric: Metric, rows: NDArray[Any], weights: NDArray[Any]) -> tuple[Floats, Floats]:
    """Return scores of statistics `(N, k)` in and out of every resample, `(B,)` each."""
    product = ExactProduct(exact_grid(rows), 255)
    size = max(1, _BLOCK_WEIGHTS // weights.shape[1])
    blocks = [weights[i : i + size] for i in range(0, len(weights), size)]
    totals = [product(weights)]
    totals += [product((block == 0).astype(block.dtype)) for block in blocks]
    scores = metric.score(np.concatenate(totals, axis=1).T)
    if not np.all(np.isfinite(scores)):
        raise InputError(
            f"{metric.name} of a resample is not finite; define the score for every total, for "
            f"example where a denominator is 0"
        )
    return scores[: len(weights)], scores[len(weights) :]


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


#: Interval and one-sided p-value of the difference between a step and the best one; and `test`,
#: `n_differing` and `kurtosis` of the `Basis`.
Compared: TypeAlias = tuple[tuple[float, float, float], tuple[str | None, int, float | None]]
#: Those of the first step.
FIRST: Compared = ((0.0, 0.0, 1.0), (None, 0, None))


@dataclass(frozen=True, eq=False)
class Step:
    """One step: its statistics `(N, k)`, score, influence values `(N,)` and their spread.

    Of segments or groups; `sizes` are the segments of each group, where there are groups.
    """

    metric: Metric
    rows: NDArray[Any]
    sizes: NDArray[np.int64] | None
    score: float
    influence: Floats
    spread: Spread

    @classmethod
    def of(cls, metric: Metric, rows: NDArray[Any], sizes: NDArray[np.int64] | None) -> Step:
        """Return score, influence values and spread of the statistics of one step."""
        score = float(metric.score(np.sum(rows, axis=0, dtype=np.float64)))
        (values,) = student.influence_values(metric, rows[None])
        spread = student.spread(values, sizes)
        if not np.all(np.isfinite((score, spread.error))):
            raise InputError(
                f"{metric.name} or its gradient is not finite; define the score for every total, "
                f"for example where a denominator is 0"
            )
        return cls(metric, rows, sizes, score, values, spread)

    def interval(self, segments: NDArray[Any], alpha: float) -> tuple[str, tuple[float, float]]:
        """Return what the interval of the score is called, and the interval.

        `segments` are the statistics before they were grouped.
        """
        outcomes = outcomes_of(self.metric, self.sizes, segments)
        if outcomes is not None:
            return "wilson", outcomes.score_interval(0, self.influence, alpha)
        return "t", student.interval(self.score, self.spread.error, self.spread.degrees, alpha)

    def compared(self, best: Step, alpha: float) -> Compared:
        """Test the hypothesis that this step is no better than the best one.

        By a paired t test on influence values: the p-value is the larger of those of t and of
        Hall's (1992) skewness-corrected t, since which of the two is too small depends on the side
        of a long tail, and the interval holds all differences that neither of them rejects. 0/1
        scores have Tango's interval and McNemar's test. No p-value is below 2^-m for m units that
        differ, the smallest that swapping them can give.
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
        # Doubles end at 2^-1074.
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

    So a check that is interrupted changes nothing.
    """

    checks: tuple[Checkpoint, ...] = ()
    best: Step | None = None
    so_far: BestSoFar | None = None
    looks: DrawnLooks = field(default_factory=DrawnLooks)
    segment_ids: str | None = None  # a hash of them, where statistics came with some

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
    def of_state(
        cls, state: Mapping[str, Any], metric: Metric, sizes: NDArray[np.int64] | None
    ) -> History:
        """Return the history that the method `state` described."""
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
