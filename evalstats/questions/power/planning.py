"""Power of planned test sets: `power`, and the design of each pair from a pilot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import repeat
from math import ceil
from typing import Any

import numpy as np

from evalstats.analysis.comparison import Comparison
from evalstats.analysis.counts import Paired
from evalstats.analysis.design import Aggregated, Labels, refuse_crossed
from evalstats.analysis.estimate import gap_notes, size_notes
from evalstats.analysis.options import Options
from evalstats.analysis.quantities import Quantities
from evalstats.analysis.scores import Floats, Pair, Scores, refuse_fixed
from evalstats.analysis.settings import Alternative
from evalstats.analysis.tasks import as_decided, as_pairs, as_task, is_extracted, systems_of
from evalstats.checks import also_called, integer, real, share
from evalstats.designs.samples import PAIR, Bound, OneSample, ShareAgainst, as_bound
from evalstats.designs.spending import inflation
from evalstats.designs.trials.cases import (
    TrialSpread,
    cheapest_of,
    check_trials,
    cost,
    planned_trials,
    spread_of,
)
from evalstats.errors import Argument, InputError
from evalstats.inference import student
from evalstats.inference.counts import wilson
from evalstats.inference.student import Spread
from evalstats.questions.power import noncentral
from evalstats.questions.power.planned import (
    DesignPower,
    LabelPower,
    PairPower,
    Power,
    RunPower,
    TrialPower,
    assumptions,
)
from evalstats.resampling.executors import Progress, Workers, reporting
from evalstats.results.notes import UNEVEN
from evalstats.results.records import Caution, distinct, of_metric, of_task, plural
from evalstats.statistics.extraction import Metrics
from evalstats.text.references import columns_of

#: Numbers of units and runs beyond which power no longer grows.
ENDLESS = 10**12
#: Below this level t quantiles cannot be computed.
LEAST_LEVEL = 1e-100
#: Squares of numbers between these, and their sums, do not overflow.
_LEAST_SIZE, _LARGEST_SIZE = 1e-140, 1e140
#: Range of the curve relative to the sizes in question, and its numbers of runs.
_REACH, _RUNS = 8, (2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 100)
#: Assumed correlations with a future system, and the most planned looks.
_CORRELATIONS, _MOST_LOOKS = (0.0, 0.5), 1000
#: Numbers of trials per item in the table.
_TRIALS = (1, 2, 3, 4, 5, 8, 10)


@also_called(systems="hypotheses", metric="metrics")
def power(
    hypotheses: Any,
    references: Any = None,
    metrics: Metrics | None = None,
    *,
    difference: float | None = None,
    n_segments: int | None = None,
    power: float = 0.8,
    significance_level: float = 0.05,
    alternative: Alternative = "two-sided",
    baseline: str | None = None,
    groups: Labels = None,
    strata: Labels = None,
    aggregate: Aggregated = "micro",
    runs: int | None = None,
    trials: int | Sequence[int] | None = None,
    price: tuple[float, float] | None = None,
    at_least: float | None = None,
    at_most: float | None = None,
    looks: int | None = None,
    width: float | None = None,
    confidence_level: float = 0.95,
    executor: Workers = None,
    progress: Progress | bool | None = None,
) -> Power:
    r"""Compute which differences a test set can find, and how many segments a difference needs.

    The pilot has the outputs of two systems on some segments, and further segments are assumed to
    vary as much. If it has one system, a comparison is planned with another system that varies as
    much, with a correlation of 0 or 0.5 between the scores of both.

    Parameters
    ----------
    hypotheses, references, metrics, baseline, groups, strata, aggregate, executor, progress
        As in `compare` and `estimate`, for the pilot; if there are groups, sizes are numbers of
        groups, and all strata grow in proportion.
    difference : float, optional
        Size of a true difference, above 0, in points of the score: how often it is found on
        `n_segments`, and how many segments find it with the target power. Choose the least
        difference that matters to you: the pilot's difference adds nothing to its p-value (Hoenig
        and Heisey, 2001).
    n_segments : int, optional
        Number of segments (or groups) of the planned test set; by default the pilot's.
    power : float
        Target power, between `significance_level` and 1.
    significance_level : float
        Level of a single test, from 1e-100 to below 1. For m adjusted tests, use about the level
        over m.
    alternative : {"two-sided", "greater", "less"}
        As in `compare`. If one-sided, the true difference is on the tested side.
    runs : int, optional
        Planned runs of each system, by default the pilot's number. The pilot must have several runs
        of each (as in `compare`).
    trials : int or sequence of int, optional
        Planned answers per item, by default the pilot's number. The pilot must have several
        answers: a metric `PassAll` or `PassAny`, or a mean in a log with epochs. The variance of an
        item is then σ²(items) + σ²(trials)/K; for pass^k and pass@k it follows from the pilot's 2k
        trials or more (Hoeffding, 1948). If there are several numbers, the first is planned.
    price : (float, float), optional
        Price of an item, and of a trial of both systems on it, to find the cheapest design that
        finds the `difference` with the target power.
    at_least, at_most : float, optional
        Instead of a second system: the number that a gate compares the score with, one-sided; the
        `difference` is the distance of the true score beyond it.
    looks : int, optional
        Number of looks at the growing test set, in equal steps, as in `SequentialTest`: how many
        segments they need at most, and on average, for the `difference`.
    width : float, optional
        Width of the interval, from lower to upper bound: how many segments it needs.
    confidence_level : float
        Confidence level of the intervals, in (0, 1). They show how precisely the pilot estimates
        the standard deviation (from the kurtosis of the differences; after Bonett, 2006), or the
        share of segments that differ (Wilson, 1927). For BLEU, chrF and TER, 95% intervals contain
        the truth 90% of the time.

    Returns
    -------
    Power
        Iterating yields a `PairPower` for each pair and metric; `plot` draws the curve.

    Raises
    ------
    InputError
        For bad input, and for two systems with identical statistics. If there are several pairs,
        identical ones are left out, and a note says so.

    Notes
    -----
    The noncentral t distribution, with the noncentrality :math:`\sqrt{n}\,\delta/s` for a pilot's
    standard error of s/√N; for 0/1 scores McNemar's test (Miettinen, 1968; Connor, 1987).
    `docs/power.md` has the formulas, also for several runs.

    Examples
    --------
    >>> from evalstats.data import load_sample
    >>> sample = load_sample()
    >>> pair = {name: sample.systems[name] for name in ("baseline", "slightly-better")}
    >>> (pilot,) = power(pair, sample.references, "chrf", difference=0.5)
    >>> 1.5 < pilot.minimum < 1.8, 4500 < pilot.needed < 6000
    (True, True)
    """
    # Nothing is drawn: t is all that is asked for.
    workers = reporting(executor, progress)
    options = Options(confidence_level, method="t", alternative=alternative, executor=workers)
    bound = as_bound(at_least, at_most)
    is_named = isinstance(hypotheses, Mapping) or is_extracted(hypotheses)
    if not is_named and columns_of(hypotheses) is None:
        hypotheses = {"system": hypotheses}
    systems = systems_of(hypotheses)
    if bound is not None and len(systems) > 1:
        raise InputError(
            f"compares a single system with a number, got {', '.join(systems)}; choose one",
            argument=bound.argument,
        )
    if bound is not None and (trials, price) != (None, None):
        raise InputError(
            "requires trials of two systems, but a number has no trials; leave it out",
            argument="trials" if price is None else "price",
        )
    # Impossible questions are refused before the texts are read.
    side = options.alternative if bound is None else bound.sides[0]
    of_test = significance_level, power, options.confidence_level, side
    asked = Question(*of_test, difference, n_segments, runs, trials, price, looks, width)
    pairs: Sequence[Pair] = [PAIR]
    if bound is None:
        pairs = as_pairs(systems, baseline, "power") if len(systems) > 1 else ()
    options = as_decided(hypotheses, options)
    task = as_task(
        hypotheses,
        references,
        metrics,
        groups=groups,
        strata=strata,
        aggregate=aggregate,
        executor=options.executor,
    )
    part = task if bound is None else OneSample(task, bound)
    return planned(part.drawn(options), pairs, asked, bound)


@dataclass(frozen=True)
class Question:
    """The question: the size of difference, the planned units and runs, the target power."""

    level: float
    target: float
    confidence_level: float
    alternative: str
    difference: float | None = None
    n_segments: int | None = None
    runs: int | None = None
    trials: int | Sequence[int] | None = None
    price: tuple[float, float] | None = None
    looks: int | None = None
    width: float | None = None

    def __post_init__(self) -> None:
        level, size = share(self.level, "significance_level"), self.difference
        if level < LEAST_LEVEL:
            raise InputError(
                f"must be at least {LEAST_LEVEL:g}, because t quantiles cannot be computed below "
                f"it; got {level:g}",
                argument="significance_level",
            )
        if not level < real(self.target, "power", 0.0) < 1:
            raise InputError(
                f"must be between the significance level ({level:g}) and 1, got {self.target}",
                argument="power",
            )
        if size is not None and real(size, "difference", -np.inf) <= 0:
            raise InputError(
                f"must be above 0, got {size}. Pass only its size, and the tested side with ",
                Argument("alternative", "greater"),
                " or ",
                Argument("alternative", "less"),
                argument="difference",
            )
        for name, number in (("n_segments", self.n_segments), ("runs", self.runs)):
            if number is not None:
                integer(number, name, 2, ENDLESS)
        for trials in self.several_trials or (None,):
            check_trials(trials, self.price, size)
        if self.looks is not None:
            integer(self.looks, "looks", 2, _MOST_LOOKS)
        if self.looks is not None and size is None:
            raise InputError(
                "requires the ", Argument("difference"), " to detect", argument="looks"
            )
        if self.width is not None and real(self.width, "width", 0.0) <= 0:
            raise InputError(f"must be above 0, got {self.width}", argument="width")

    def check_fits(self, scores: Scores, bound: Bound | None) -> None:
        """Refuse a difference that is impossible within the bounds of the metric."""
        size, name, (low, high) = self.difference, scores.metric_name, scores.bounds
        if size is None:
            return
        if bound is None and scores.outcomes is not None:
            low, high = 0.0, scores.outcomes.scale
        said = f"{name} lies between {low:g} and {high:g}"
        if bound is None and size > high - low:
            said = f"must be at most {high - low:g}, because {said}; got {size:g}"
            raise InputError(said, argument="difference")
        number = 0.0 if bound is None else bound.number
        reached = number + size * (1 if bound is None or bound.is_least else -1)
        if bound is not None and not low <= reached <= high:
            raise InputError(
                f"would change the score from {number:g} to {reached:g}, but {said}; pass a "
                "smaller one",
                argument="difference",
            )

    @property
    def several_trials(self) -> tuple[int, ...]:
        """The planned numbers of trials; empty without a plan."""
        trials = () if self.trials is None else self.trials
        return tuple(trials) if isinstance(trials, Sequence) else (trials,)

    @property
    def sides(self) -> int:
        """Sides of the test."""
        return 2 if self.alternative == "two-sided" else 1


@dataclass(frozen=True)
class Design:
    """A pair with n units of a pilot, and the assumed variances of further units.

    With R runs of each system the variance of the difference on n units is (σ_s² + Σ σ_e²/R)/n + Σ
    σ_r²/R, with sums over both systems (`student.mean_squares`). For 0/1 scores it follows from the
    share of discordant segments, and the number of segments that a unit counts as. With a `side`,
    the lower or upper bound of the error is used instead: the chi-square interval of a variance
    with `variance_degrees` degrees of freedom.
    """

    asked: Question
    n: int
    degrees: float
    known: float = np.inf
    segment: float = 0.0
    of_runs: tuple[tuple[float, float], ...] = ()  # σ_r² and σ_e²
    n_runs: int = 1
    scale: float = 0.0  # for 0/1 scores
    discordant: float = 0.0
    worth: float = 1.0
    side: int | None = None
    #: For 0/1 scores against a number: the number as a share, and the better side.
    number: float | None = None
    ahead: int = 1

    def power(self, difference: float, n: int, runs: int = 1) -> float:
        """Return the power for a difference of this size on n units with these runs."""
        degrees = max((self.degrees + 1) * n / self.n - 1, 1.0)
        level, sides, items = self.asked.level, self.asked.sides, n * self.worth
        if self.number is not None:
            share = min(max(self.number + self.ahead * difference / self.scale, 0.0), 1.0)
            return noncentral.share_power(self.number, share, items, level, sides, degrees)
        if self.scale:
            size = min(difference / self.scale, 1.0)
            return noncentral.mcnemar_power(size, self.discordant, items, level, sides, degrees)
        segments = Spread(self.deviation(runs) / n**0.5, 1.0, degrees)
        squares = [((r + e / n) / runs, e / n / runs) for r, e in self.of_runs]
        error, degrees, stretch = noncentral.of_runs(segments, [(*s, runs) for s in squares])
        # The same variances, with the precision of the pilot.
        segments = segments._replace(degrees=self.known)
        pilot = student.with_runs(segments, [(*s, self.n_runs) for s in squares]).degrees
        error *= self._sure(pilot)
        return noncentral.t_power(difference / error, degrees, level, sides, stretch)

    def _sure(self, pilot: float) -> float:
        """Return the bound of an error on a side, relative to the pilot's estimate.

        By the chi-square interval of a variance with as many degrees of freedom as the pilot's.
        """
        if self.side is None:
            return 1.0
        from scipy.special import chdtri

        tail = (1 - self.asked.confidence_level) / 2
        return float(np.sqrt(pilot / chdtri(pilot, 1 - tail if self.side else tail)))

    def deviation(self, runs: int) -> float:
        """Return the standard deviation of a unit: the units' part of the error is this over √n."""
        if self.scale:
            share = self.number
            variance = self.discordant if share is None else share * (1 - share)
            return float(self.scale * (variance / self.worth) ** 0.5)
        return float(np.sqrt(self.segment + sum(e for _, e in self.of_runs) / runs))

    def bounds(self) -> tuple[Design, Design]:
        """Return the pair with the least and the largest variance compatible with the pilot."""
        if self.number is not None:
            # The true share is assumed.
            return self, self
        if not self.scale:
            return replace(self, side=0), replace(self, side=1)
        quantile = student.quantile(self.degrees, 1 - self.asked.confidence_level)
        low, high = wilson(self.discordant, self.n * self.worth, quantile)
        return replace(self, discordant=low), replace(self, discordant=high)

    def _error(self, n: int, runs: int) -> float:
        """Return the standard error of the difference."""
        of_runs = sum(r for r, _ in self.of_runs) / runs
        return float(np.hypot(self.deviation(runs) / n**0.5, of_runs**0.5))

    def least(self, n: int, runs: int) -> float | None:
        """Return the least difference that is found with the target power, or `None`."""
        power, error = partial(self.power, n=n, runs=runs), self._error(n, runs)
        return noncentral.least_difference(power, self.asked.target, error)

    def needed(self, difference: float, runs: int = 1) -> int | None:
        """Return how many units find a difference with the target power, or `None`."""
        return noncentral.least_size(lambda n: self.power(difference, n, runs), self.asked.target)

    def narrow(self, width: float, runs: int = 1) -> int | None:
        """Return how many units give an interval of this width, or `None`."""

        def narrowness(n: int) -> float:
            degrees = max((self.degrees + 1) * n / self.n - 1, 1.0)
            quantile = student.quantile(degrees, 1 - self.asked.confidence_level)
            return -2 * quantile * self._error(n, runs) * self._sure(self.known)

        return noncentral.least_size(narrowness, -width)

    def runs_needed(self, difference: float, n: int) -> int | None:
        """Return how many runs of each system find it on n units, or `None`."""
        return noncentral.least_size(lambda r: self.power(difference, n, r), self.asked.target)


def by_t(number: Quantities, asked: Question, scale: float = 1.0) -> Design:
    """Return the variances of a single quantity, times a scale."""
    squares = [(scale**2 * r, scale**2 * e, n) for r, e, n in (number.runs or [()])[0]]
    n, n_runs = number.units.n, squares[0][2] if squares else 1
    error, _, degrees = replace(number, runs=()).spreads[0]
    of_runs = tuple((max(r - e, 0.0) * n_runs, e * n_runs * n) for r, e, _ in squares)
    segment = max((scale * error) ** 2 * n - sum(e for _, e in of_runs) / n_runs, 0.0)
    known, influence = degrees, number.influence
    # If human labels are all equal, an error is added, but no value differs.
    if influence is not None and number.units.has_values and np.ptp(influence) > 0:
        known = min(degrees, student.variance_degrees(influence[0], number.units.codes))
    return Design(asked, n, degrees, known=known, segment=segment, of_runs=of_runs, n_runs=n_runs)


def designed(scores: Scores, pair: Pair, asked: Question) -> Design:
    """Return the design of a pair (baseline, system), which must vary."""
    difference, differ = scores.pairs(pair[:1], pair[1:]), scores.differ(*pair)[0]
    base, new = (scores.systems[i] for i in pair)
    _check_size(difference.influence, scores, f"{new!r} less {base!r}")
    influence, total = difference.influence, scores.units.n
    counts = scores.counts_of(*pair, None if influence is None else influence[0])
    if isinstance(counts, ShareAgainst):
        share, number, ahead = counts.of, counts.number, 1 if scores.higher_is_better else -1
        design = Design(asked, total, share.degrees, scale=counts.scale, number=number)
        return replace(design, worth=share.n / total, ahead=ahead)
    if isinstance(counts, Paired) and differ:
        design = Design(asked, total, counts.degrees, scale=counts.scale, worth=counts.n / total)
        return replace(design, discordant=counts.discordant)
    rounding = 1e-12 * float(np.max(np.abs(scores.value[list(pair)])))
    if difference.spreads[0].error > rounding:
        return by_t(difference, asked)
    raise InputError(
        f"{new!r} and {base!r} {'differ by the same' if differ else 'have identical statistics'} "
        f"on every {scores.units.unit} ({scores.name}), so power cannot be computed; leave one "
        "of them out"
    )


def planned(
    several: Sequence[Scores], pairs: Sequence[Pair], asked: Question, bound: Bound | None = None
) -> Power:
    """Plan for all pairs and metrics, or for a system against a number, as in `power`."""
    for one in several:
        check_smooth(one)
        asked.check_fits(one, bound)
    first, units = several[0], several[0].units
    n, least = asked.n_segments or units.n, 2 * units.n_strata
    pilot_runs = first.n_runs
    if n < least:
        raise InputError(
            f"must be at least {least} (two {plural(units.unit)} for each of {least // 2} "
            f"strata), got {n}",
            argument="n_segments",
        )
    trials = planned_trials(several, asked.several_trials, asked.price)
    if asked.runs and not pilot_runs:
        raise InputError(
            "requires a pilot with several runs of each system, because the variance between "
            "runs cannot be estimated from one; pass lists of runs",
            argument="runs",
        )
    runs = asked.runs or pilot_runs
    rows: list[PairPower] = []
    signatures: list[str] = []
    identical: list[tuple[Scores, Pair]] = []
    for one in several:
        varying = [pair for pair in pairs if one.differ(*pair)[0]] or pairs[:1]
        identical += [(one, pair) for pair in pairs if not one.differ(*pair)[0]]
        rows += [_pair(one, pair, asked, n, (runs, trials)) for pair in varying]
        if not pairs:
            rows += [_alone(one, correlation, asked, n, runs) for correlation in _CORRELATIONS]
        test = {"test": rows[-1].test, "alt": asked.alternative, "level": f"{asked.level:.10g}"}
        test |= {"trials": str(trials)} if trials else {}
        test |= {"looks": f"{asked.looks}-obrien-fleming"} if asked.looks else {}
        signatures.append(str(one.signed({"power": f"{asked.target:.10g}", **test})))
    result = Power(
        pairs=tuple(rows),
        n_pilot=units.n,
        n_segments=n,
        unit=units.unit,
        difference=asked.difference,
        target=asked.target,
        significance_level=asked.level,
        alternative=asked.alternative,
        confidence_level=asked.confidence_level,
        signatures=tuple(signatures),
        n_runs=runs,
        pilot_runs=pilot_runs,
        n_trials=trials,
        price=asked.price,
        n_looks=asked.looks,
        width=asked.width,
    )
    uneven = units.sizes is not None and student.kish(units.sizes) < UNEVEN * units.n
    assumed = assumptions(result, list(map(str, units.labels)), uneven, not units.has_values)
    cautions = distinct(note for note in gap_notes(several) if isinstance(note, Caution))
    left_out = []
    for one, (a, b) in identical[:1]:
        who = f"{one.systems[b]} and {one.systems[a]} ({one.name})"
        who = who if len(identical) == 1 else f"{len(identical)} pairs, such as {who},"
        left_out = [
            f"{who} have identical statistics on every {one.units.unit} and are left out, because "
            "power cannot be computed."
        ]
    return replace(result, notes=(*cautions, *assumed, *left_out, *size_notes(first)))


def power_of(
    comparison: Comparison,
    difference: float | None = None,
    n_segments: int | None = None,
    power: float = 0.8,
    significance_level: float | None = None,
    runs: int | None = None,
    *,
    trials: int | Sequence[int] | None = None,
    price: tuple[float, float] | None = None,
    looks: int | None = None,
    width: float | None = None,
    metric: str | None = None,
    task: str | None = None,
) -> Power:
    """Compute which differences such a test set can find: a `Power`, as `evalstats.power`.

    For one test at `significance_level` (by default the comparison's), not adjusted for several
    tests, with the comparison's alternative, unit, strata and confidence level. With several tasks,
    it is for the total, unless `task` names one.
    """
    source, chosen = comparison.evaluation, of_task(comparison.differences, task)
    chosen = chosen if metric is None else of_metric(chosen, metric)
    level = comparison.significance_level if significance_level is None else significance_level
    of_test = level, power, source.options.confidence_level, source.options.alternative
    asked = Question(*of_test, difference, n_segments, runs, trials, price, looks, width)
    return planned(source.together(chosen), source.pairs, asked)


def check_smooth(scores: Scores) -> None:
    """Refuse scores for which power cannot be planned."""
    if not scores.is_paired:
        raise InputError(
            "power plans one test set for all systems, but each of these systems has its own; "
            "compare them on the same segments"
        )
    # If the gradient is not finite, the replicates vary.
    _check_size(
        scores.replicates if scores.influence is None else scores.influence, scores, "a score"
    )
    refuse_crossed(scores.units, "power")
    refuse_fixed(scores, "power")
    if not all(stratum.metric.is_smooth for stratum in scores.strata):
        raise InputError(
            f"power plans t tests, which are not available for {scores.name} because it is not "
            "smooth; use a measure that is a mean over segments, such as 'acc_eq'"
        )


def _check_size(values: Floats | None, scores: Scores, what: str) -> None:
    """Refuse influence values, or replicates, of any shape, whose squares overflow."""
    size = 0.0 if values is None else float(np.max(np.abs(values), initial=0.0))
    if size and not _LEAST_SIZE < size < _LARGEST_SIZE:
        raise InputError(
            "hypotheses must have scores whose variance can be computed, but a "
            f"{scores.units.unit} changes {what} by {size:.1g} ({scores.name}); rescale the "
            "scores so that they are closer to 1"
        )


def _pair(
    scores: Scores, pair: Pair, asked: Question, n: int, repeats: tuple[int | None, int | None]
) -> PairPower:
    """Return the power of a pair on n units, with the planned runs, or trials per item."""
    plan, (runs, trials), of_trials = designed(scores, pair, asked), repeats, None
    if trials:
        plan = by_t(scores.pairs(pair[:1], pair[1:]), asked)
        spread = spread_of(scores, pair, plan.segment)
        plan, of_trials = plan_of_trials(plan, spread, trials, n)
    base, new = (scores.systems[i] for i in pair)
    observed = float(scores.value[pair[1]] - scores.value[pair[0]])
    record = replace(_record(scores, plan, n, runs, base, new, observed), of_trials=of_trials)
    if not scores.corrections:
        return record
    of_design = replace(record.of_design, of_labels=_of_labels(plan, scores, pair, n))
    return replace(record, of_design=of_design)


def _alone(
    scores: Scores, correlation: float, asked: Question, n: int, runs: int | None
) -> PairPower:
    """Return the power of a system and an equally variable one with this correlation."""
    outcomes, influence, system = scores.outcomes, scores.influence, scores.systems[0]
    if outcomes is None or influence is None:
        plan = by_t(scores, asked, (2 * (1 - correlation)) ** 0.5)
    else:
        share, total = outcomes.share_of(influence[0]), scores.units.n
        plan = Design(asked, total, share.degrees, scale=outcomes.scale, worth=share.n / total)
        discordant = 2 * share.share * (1 - share.share) * (1 - correlation)
        plan = replace(plan, discordant=discordant)
    if not plan.deviation(runs or 1) > 0:
        raise InputError(
            f"{system!r} has the same score on every {scores.units.unit} ({scores.name}), and "
            "power cannot be computed without variance"
        )
    return _record(scores, plan, n, runs, f"another, correlation {correlation:g}", system, 0.0)


def _record(
    scores: Scores, plan: Design, n: int, planned: int | None, base: str, new: str, observed: float
) -> PairPower:
    """Return the power of a design on n units with these runs."""
    asked, runs = plan.asked, planned or 1
    size = asked.difference
    low, high = plan.bounds()
    bounds = _bounded("minimum", [d.least(n, runs) for d in (plan, low, high)])
    if size is not None:
        # The more further units vary, the lower the power.
        bounds |= _bounded("power", [d.power(size, n, runs) for d in (plan, high, low)])
        bounds |= _bounded("needed", [d.needed(size, runs) for d in (plan, low, high)])
    more: dict[str, Any] = {}
    needed = bounds.get("needed")
    if asked.looks is not None and needed:
        times = inflation(asked.looks, asked.level / asked.sides, asked.target)
        more |= {"largest": ceil(times[0] * needed), "expected": ceil(times[1] * needed)}
    if asked.width is not None:
        narrow = [d.narrow(asked.width, runs) for d in (plan, low, high)]
        more |= _bounded("for_width", narrow)
    # Round numbers around the sizes in question, and the planned size itself.
    asked_about = n, scores.units.n, needed or n
    least, most = max(10, min(asked_about) / _REACH), max(asked_about) * _REACH
    sizes = tuple(sorted({n, *_round(least, most)}))
    return PairPower(
        metric=scores.name,
        baseline=base,
        system=new,
        observed=observed,
        standard_deviation=plan.deviation(runs),
        **bounds,
        sizes=sizes,
        minimums=tuple(plan.least(m, runs) for m in sizes),
        powers=() if size is None else tuple(plan.power(size, m, runs) for m in sizes),
        higher_is_better=scores.higher_is_better,
        of_design=DesignPower(
            discordant=plan.discordant if plan.scale and plan.number is None else None,
            number=plan.number,
            **more,
        ),
        of_runs=None if planned is None else _of_runs(plan, n, planned),
    )


def plan_of_trials(
    plan: Design, spread: TrialSpread, trials: int, n: int
) -> tuple[Design, TrialPower]:
    """Return the design of items with these trials, and needs and costs of others."""

    def design_of(k: int) -> Design:
        return replace(plan, segment=spread.variance(k))

    size, price, cheapest = plan.asked.difference, plan.asked.price, None
    needed: dict[int, int | None] = {}
    if size is not None and price is not None:
        cheapest, needed = cheapest_of(lambda k: design_of(k).needed(size), price, spread)
    several = plan.asked.several_trials
    numbers = several if len(several) > 1 else [k for k in (*_TRIALS, trials) if k >= spread.least]
    shown = sorted({*numbers, *([cheapest[0]] if cheapest else [])})
    needs = [needed.get(k) or design_of(k).needed(size) for k in shown] if size is not None else []
    power = TrialPower(
        item_deviation=spread.item**0.5,
        trial_deviation=spread.trial**0.5,
        trials=tuple(shown),
        trial_minimums=tuple(design_of(k).least(n, 1) for k in shown),
        trial_needed=tuple(needs),
        prices=() if price is None else tuple(map(cost, needs, shown, repeat(price))),
        most_trials=spread.most,
        cheapest_trials=cheapest[0] if cheapest else None,
        cheapest_items=cheapest[1] if cheapest else None,
        cheapest_price=cheapest[2] if cheapest else None,
    )
    return design_of(trials), power


def _of_runs(plan: Design, n: int, planned: int) -> RunPower:
    size, bounds = plan.asked.difference, {}
    if size is not None:
        bounds = _bounded("runs_needed", [d.runs_needed(size, n) for d in (plan, *plan.bounds())])
        bounds["fewest_runs"] = plan.runs_needed(size, ENDLESS)
    runs = tuple(sorted({*_RUNS, planned, bounds.get("runs_needed") or planned}))
    return RunPower(
        run_deviation=float(np.sqrt(sum(r for r, _ in plan.of_runs))),
        limit=plan.least(ENDLESS, planned),
        **bounds,
        runs=runs,
        run_minimums=tuple(plan.least(n, r) for r in runs),
        run_powers=() if size is None else tuple(plan.power(size, n, r) for r in runs),
    )


def _of_labels(plan: Design, scores: Scores, pair: Pair, n: int) -> LabelPower | None:
    """Return the power of numbers of human labels of n units, if they correct a judge's."""
    # Few pilots have labels.
    from evalstats.designs.judges import label_spread

    if (spread := label_spread(scores, *pair)) is None:
        return None
    size, pilot = plan.asked.difference, spread.variance(spread.labelled, plan.n) * plan.n
    if not pilot > 0:  # labels that are all equal
        return None

    def with_labels(labels: int) -> Design:
        share = min(labels, n) / spread.labelled * plan.n / n
        variance = spread.variance(min(labels, n), n) * n / pilot
        degrees = (plan.degrees + 1) * share - 1
        return replace(plan, segment=plan.segment * variance, degrees=degrees)

    needed = None
    if size is not None:
        needed = noncentral.least_size(lambda k: with_labels(k).power(size, n), plan.asked.target)
    planned = max(2, round(spread.labelled * n / plan.n))
    numbers = {planned, n, *(m for m in (needed, *_round(planned / 4, n)) if m and 2 <= m <= n)}
    labels = tuple(sorted(numbers))
    return LabelPower(
        labelled=spread.labelled,
        labels=labels,
        label_minimums=tuple(with_labels(k).least(n, 1) for k in labels),
        label_powers=() if size is None else tuple(with_labels(k).power(size, n) for k in labels),
        labels_needed=needed,
    )


def _round(least: float, most: float) -> list[int]:
    """Return the round numbers, with a digit of 1, 2 or 5, between two numbers."""
    numbers = (lead * 10**d for d in range(len(str(int(most)))) for lead in (1, 2, 5))
    return [m for m in numbers if least <= m <= most]


def _bounded(name: str, values: Sequence[float | None]) -> dict[str, Any]:
    return dict(zip((name, f"{name}_low", f"{name}_high"), values, strict=True))
