"""Domains: differences within strata, over them, and whether they are alike.

Over strata, these are a sample of strata, and t is that of their differences.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.compare import compared
from evalstats.analysis.comparison import Comparison, Evaluation
from evalstats.analysis.design import Codes, Labels, label_codes, refuse_crossed, unit_name
from evalstats.analysis.drawn import Drawn, refuse_fixed
from evalstats.analysis.scores import Segments, is_score_sum, run_by_run
from evalstats.analysis.tasks import Task, Total, as_totals, labels_of, name_of_all
from evalstats.checks import label
from evalstats.errors import InputError
from evalstats.inference import student
from evalstats.inference.randomisation import tie_tolerance
from evalstats.inference.student import Spread
from evalstats.metrics import scores_of
from evalstats.results import tabular
from evalstats.results.convert import Count, FreeText, Level, NotNegative, Share, check_bounds
from evalstats.results.forms import Finding, Several
from evalstats.results.marks import Forest, Mark
from evalstats.results.notes import WHOLE
from evalstats.results.records import (
    Caution,
    Difference,
    Record,
    by_metric,
    by_pair,
    counted,
    distinct,
    first_few,
    listed,
    oriented,
    plural,
)
from evalstats.results.signatures import part_name
from evalstats.results.tabular import Column, Table, table_of
from evalstats.statistics.segments import SegmentStatistics, summed_within

if TYPE_CHECKING:
    from evalstats.pictures.figures import Panels

Floats = NDArray[np.float64]
#: Metric, system and baseline.
Key = tuple[str, str, str]
#: Below so many strata t has so few degrees of freedom that intervals are very wide.
_FEW = 5
T = TypeVar("T")


@dataclass(frozen=True)
class MeanDifference(Record):
    """A pair's differences under one metric in k strata, and their mean.

    Attributes
    ----------
    metric, system, baseline : str
        Whose differences they are, system minus baseline.
    strata, differences : tuple of str, tuple of float
        Name of each stratum, and the difference of the corpus scores of its segments.
    difference, standard_error : float
        The mean of the differences, m, and s/√k with their standard deviation s. Of several runs
        of each system s/√k has the part of the runs added, as in `compare`.
    low, high : float
        Interval of the mean over all such strata, m ± t·s/√k, with k - 1 degrees of freedom.
    predicted_low, predicted_high : float
        Where the difference in one more stratum lies, m ± t·s·√(1 + 1/k).
    higher_is_better : bool
        Direction of the metric.

    Examples
    --------
    >>> import evalstats as es
    >>> marks = {"A": [3.0, 4, 5, 4, 3, 5], "B": [3.5, 4.5, 5, 4.4, 3.2, 5.1]}
    >>> (d,) = es.compare(marks, metrics=es.Mean("marks")).over(["x", "x", "y", "y", "z", "z"])
    >>> [round(x, 2) for x in d.differences], round(d.difference, 2), d.n_same_sign
    ([0.5, 0.2, 0.15], 0.28, 3)
    """

    metric: str
    system: str
    baseline: str
    strata: tuple[FreeText, ...]
    differences: tuple[float, ...]
    difference: float
    standard_error: float
    low: float
    high: float
    predicted_low: float
    predicted_high: float
    higher_is_better: bool

    derived = ("n_strata", "n_same_sign")

    @property
    def n_strata(self) -> int:
        """k, how many strata there are."""
        return len(self.differences)

    @property
    def n_same_sign(self) -> int:
        """In how many of them the difference has the sign of the mean."""
        return sum(d * self.difference > 0 for d in self.differences)

    def _check(self) -> None:
        check_bounds(self)
        check_bounds(self, "predicted_low", "predicted_high")
        mean, most = fsum(self.differences) / self.n_strata, max(map(abs, self.differences))
        if len(self.strata) != self.n_strata or abs(mean - self.difference) > 1e-9 * most:
            raise InputError("strata, differences and difference, their mean, do not fit")

    @property
    def kind(self) -> str:
        """What the interval says of the system: "better", "worse" or "open"."""
        if self.low <= 0 <= self.high:
            return "open"
        return "better" if (self.difference > 0) == self.higher_is_better else "worse"

    def _title(self) -> str:
        return f"{self.system} - {self.baseline}, {self.metric}, over {self.n_strata} strata"


@dataclass(frozen=True, repr=False)
class OverStrata(Several[MeanDifference]):
    """Differences with strata as the units; iterating gives `MeanDifference`.

    Attributes
    ----------
    by : str
        What the strata are: the name of a label, "task", or "stratum".
    means : tuple of MeanDifference
        Of each pair under each metric, in the order of the comparison.
    confidence_level : float
        Of both intervals.
    signatures, notes : tuple of str
        As of the comparison.

    Examples
    --------
    >>> import evalstats as es
    >>> marks = {"A": [3.0, 4, 5, 4, 3, 5], "B": [3.5, 4.5, 5, 4.4, 3.2, 5.1]}
    >>> over = es.compare(marks, metrics=es.Mean("marks")).over(["x", "x", "y", "y", "z", "z"])
    >>> over.by, len(over), over.means[0].strata
    ('stratum', 1, ('x', 'y', 'z'))
    """

    by: str
    means: tuple[MeanDifference, ...]
    confidence_level: Level
    signatures: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def plot(self, ax: Panels | None = None) -> Panels:
        """Draw the tables: mean differences with both intervals."""
        from evalstats.pictures import plots

        return plots.tables(self._tables(), ax)

    def _rows(self) -> Sequence[MeanDifference]:
        return self.means

    def _headline(self) -> str:
        pairs = distinct(f"{d.system} against {d.baseline}" for d in self.means)
        return f"{first_few(pairs, ', ')}, over {counted(self.means[0].n_strata, self.by)}"

    def _finding(self, row: MeanDifference) -> Finding:
        """Say whether the mean difference is shown, and what another stratum would have."""
        places, level = tabular.decimals([row.standard_error]), tabular.level(self.confidence_level)
        value, *ends = (
            tabular.number(x, places, True)
            for x in (row.difference, row.low, row.high, row.predicted_low, row.predicted_high)
        )
        of = f"{row.metric} over {counted(row.n_strata, self.by)}"
        said = f"{row.system} is {row.kind} than {row.baseline} by {value.lstrip('+-−')} {of}"
        if row.kind == "open":
            said = f"No evidence that {row.system} differs from {row.baseline} in {of}"
        line = (
            f"The mean difference is {value}, {level} {ends[0]} to {ends[1]}; in another {self.by} "
            f"it would be {ends[2]} to {ends[3]}."
        )
        return Finding(said, row.kind, [line])

    def _records(self) -> list[dict[str, Any]]:
        """Return a row a pair and metric, with a column a stratum."""
        strata = distinct(name for d in self.means for name in d.strata)
        found = []
        for d, row in zip(self.means, super()._records(), strict=True):
            own = dict(zip(d.strata, d.differences, strict=True))
            found.append(row | {f"{self.by}: {name}": own.get(name) for name in strata})
        return found

    def _tables(self, digits: int | None = None) -> list[Table]:
        return [self._table(some, digits) for some in by_metric(self.means).values()]

    def _table(self, some: Sequence[MeanDifference], digits: int | None) -> Table:
        places = tabular.decimals([d.standard_error for d in some], digits)
        level = tabular.level(self.confidence_level)

        def within(low: float, high: float) -> str:
            # Where no stratum tells two systems apart nothing was measured.
            return tabular.interval(low, high, places, sign=True) if low or high else "-"

        columns: list[Column] = [
            ("system", "<", lambda d: d.system),
            ("baseline", "<", lambda d: d.baseline),
            ("mean difference", ">", lambda d: tabular.number(d.difference, places, sign=True)),
            (f"[{level}]", ">", lambda d: within(d.low, d.high)),
            (f"[another {self.by}]", ">", lambda d: within(d.predicted_low, d.predicted_high)),
            ("same sign", ">", lambda d: f"{d.n_same_sign} of {d.n_strata}"),
        ]
        first = some[0]
        title = f"{first.metric} {tabular.which_is_better(first.higher_is_better)}, "
        title += f"over {counted(first.n_strata, self.by)}"

        def draw() -> Forest:
            marks = [
                (
                    Mark(
                        d.difference,
                        d.low,
                        d.high,
                        d.kind,
                        wider=(d.predicted_low, d.predicted_high),
                    ),
                )
                for d in some
            ]
            sides = ("worse", "better") if first.higher_is_better else ("better", "worse")
            label = f"mean difference, {level}; thin: another {self.by}"
            return Forest(tuple(marks), 2, label, null=0.0, sides=sides)

        return table_of(title, some, columns, draw=draw)

    def _notes(self) -> list[str]:
        units, few = plural(self.by), min(d.n_strata for d in self.means)
        said = [
            f"The {units} are taken for a sample of {units}. The first interval is about the mean "
            f"over all such {units}, the second about one more. Pairs are not adjusted for each "
            f"other."
        ]
        if few < _FEW:
            t = f"t has {few - 1} degree{'s' if few > 2 else ''} of freedom"
            said.append(f"With {counted(few, self.by)} {t}, and intervals are wide. Use more.")
        return [*said, *self.notes]


def over(
    comparison: Comparison, evaluation: Evaluation, by: str | Iterable[Hashable]
) -> OverStrata:
    """Return mean differences over strata: the tasks, or what labels of segments make."""
    own: dict[Key, dict[str, float]] = {}
    by_run: dict[Key, list[Floats]] = {}
    if isinstance(by, str) and by == "task" and len(comparison.tasks) > 1:
        for d in comparison.rows:
            own.setdefault((d.metric, d.system, d.baseline), {})[d.task] = d.difference
            if d.units.n_units is None:
                drawn = evaluation.scores_of(evaluation.part_of(d))[d.metric]
                runs = [drawn.runs[drawn.of.systems.index(s)] for s in (d.baseline, d.system)]
                scores = np.stack([one.scores for (one,) in runs])
                by_run.setdefault((d.metric, d.system, d.baseline), []).append(scores)
        single = distinct(metric for (metric, _, _), of in own.items() if len(of) < 2)
        some = [d for d in comparison.rows if d.metric not in single]
        if not some:
            raise InputError(
                "over('task') needs a metric that at least 2 tasks have; "
                f"{', '.join(single)} has 1 task each"
            )
        part = part_name(comparison.estimates)
        notes = (f"{', '.join(single)}: of one {part}, and left out.",) if single else ()
        if any(d.aggregate == WHOLE for d in comparison.totals):
            notes = (*_shared(part), *notes)
        return _found(comparison, part, some, own, _squares(by_run, evaluation), notes)
    if len(comparison.tasks) > 1:
        raise InputError(
            "takes labels of the segments of one task, and there are "
            f"{len(comparison.tasks)}; give 'task', or compare a task alone",
            argument="over",
        )
    drawn_of, codes, names, _ = labelled(comparison, evaluation, by, "over")
    by = unit_name(by, "stratum")
    by_stratum = {name: _of_strata(one.segments, codes, names) for name, one in drawn_of.items()}
    for d in comparison.differences:
        systems, scores = drawn_of[d.metric].of.systems, by_stratum[d.metric]
        both = scores[[systems.index(name) for name in (d.baseline, d.system)]]
        a, b = np.mean(both, axis=1)
        key = d.metric, d.system, d.baseline
        own[key] = dict(zip(names, (b - a).tolist(), strict=True))
        if both.shape[1] > 1:
            by_run[key] = list(np.moveaxis(both, 2, 0))
    is_split = next(iter(drawn_of.values())).units.are_split(codes)
    said, squares = _shared(by) if is_split else (), _squares(by_run, evaluation)
    return _found(comparison, by, comparison.differences, own, squares, said)


def _squares(
    by_run: Mapping[Key, Sequence[Floats]], evaluation: Evaluation
) -> dict[Key, list[student.Runs]]:
    """Return mean squares of the runs of each pair, with strata in the place of segments.

    `by_run` has the scores of a baseline and a system in each of R runs, `(2, R)`, of each stratum.
    """
    squares = {}
    for key, scores in by_run.items():
        if len({of.shape for of in scores}) > 1:
            raise InputError("tasks have different numbers of runs; compare them apart")
        base, new = np.stack(scores, axis=-1)
        sides = [new - base] if evaluation.options.paired_runs else [base, new]
        means = [np.mean(x, axis=1, keepdims=True) for x in sides]
        squares[key] = [
            (*student.mean_squares(mean[:, 0], (x - mean) / x.shape[1]), len(x))
            for x, mean in zip(sides, means, strict=True)
        ]
    return squares


def _shared(stratum: str) -> tuple[str, ...]:
    """Say what is not known of strata that share groups."""
    said = (
        f"groups lie in several {plural(stratum)}, whose differences share them. The intervals "
        f"are about other {plural(stratum)} of these groups, not about other groups."
    )
    return (Caution(said, "groups"),)


def _of_strata(of: Segments, codes: Codes, names: Sequence[str]) -> Floats:
    """Return the corpus score of each system in each run and stratum, `(S, R, k)`."""
    first = of.blocks[0]
    if any(is_score_sum(block.metric) for block in of.blocks):
        raise InputError(
            "needs the statistics of every segment, and strata of one unit were drawn "
            "together as one score; compare without strata",
            argument="over",
        )
    # The blocks of an average over strata, one after the other, in the order of the segments.
    places = [np.arange(len(codes))[block.segment_places] for block in of.blocks]
    order = np.argsort(np.concatenate(places), kind="stable")
    segments = np.concatenate([block.segments for block in of.blocks], axis=1)[:, order]
    metric, totals = run_by_run(first.metric, summed_within(segments, codes))
    scores = scores_of(metric, totals.astype(np.float64))
    if not np.all(np.isfinite(scores)):
        i, _, j = np.argwhere(~np.isfinite(scores))[0]
        raise InputError(
            f"{of.metric_name} of system {of.systems[i]!r} in {names[j]!r} is not finite; join "
            f"that stratum with another"
        )
    return scores


def _found(
    comparison: Comparison,
    by: str,
    some: Sequence[Difference],
    own: Mapping[Key, Mapping[str, float]],
    squares: Mapping[Key, Sequence[student.Runs]],
    notes: tuple[str, ...] = (),
) -> OverStrata:
    """Return the means of `own`: of a pair under a metric, the difference in each stratum.

    `squares` are those of its runs, where there are several.
    """
    level, means = comparison.confidence_level, []
    alpha = float(f"{1 - level:.12g}")
    # Of several tasks each pair has one row here.
    firsts = {(d.metric, d.system, d.baseline): d for d in reversed(some)}
    for key, of in own.items():
        if (d := firsts.get(key)) is None:
            continue
        values, k = np.array(list(of.values())), len(of)
        # Squares of large or small scores are no numbers.
        unit = float(student.unit_of(values))
        shares = values / unit
        mean, spread = float(np.mean(shares)) * unit, float(np.std(shares, ddof=1)) * unit
        errors = spread / k**0.5, spread * (1 + 1 / k) ** 0.5
        of_mean, of_another = (
            student.with_runs(Spread(error, 1.0, k - 1), squares.get(key, ())) for error in errors
        )
        low, high = student.interval(mean, of_mean.error, of_mean.degrees, alpha)
        # It holds more than the mean, however sure its error is.
        degrees = min(of_mean.degrees, of_another.degrees)
        below, above = student.interval(mean, of_another.error, degrees, alpha)
        means.append(
            MeanDifference(
                metric=d.metric,
                system=d.system,
                baseline=d.baseline,
                strata=tuple(of),
                differences=tuple(values.tolist()),
                difference=mean,
                standard_error=of_mean.error,
                low=low,
                high=high,
                predicted_low=below,
                predicted_high=above,
                higher_is_better=d.higher_is_better,
            )
        )
    signatures = tuple(distinct(comparison.signature_of(d) for d in some))
    return OverStrata(by, tuple(means), level, signatures, notes)


@dataclass(frozen=True)
class TaskTest(Record):
    """Welch's (1951) test that a pair's difference is the same on k tasks, under one metric.

    Attributes
    ----------
    metric, system, baseline : str
        Whose differences they are, system minus baseline.
    n_tasks : int
        k, tasks on which the difference has an error.
    statistic, between, within : float
        F with its degrees of freedom, k - 1 and those of the errors.
    pvalue : float
        Of this pair and metric alone.
    without : tuple of str
        Tasks that are left out, since the difference has no error there: it is the same on all
        segments.
    kind : str
        What these are: "task", or after a label "domain".

    Examples
    --------
    >>> import evalstats as es
    >>> marks = {"A": [3.0, 4, 5, 4, 3, 5], "B": [3.5, 4.2, 5, 4.4, 3.2, 4.1]}
    >>> by = es.compare(marks, metrics=es.Mean("marks")).by(["x", "x", "x", "y", "y", "y"])
    >>> print(by.heterogeneity()[0])
    B - A (marks) on 2 strata: F(1, 2.5) = 0.60, p = 0.5042
    """

    metric: str
    system: str
    baseline: str
    n_tasks: Count
    statistic: NotNegative
    between: NotNegative
    within: NotNegative
    pvalue: Share
    without: tuple[str, ...] = ()
    kind: str = "task"

    def __str__(self) -> str:
        of = f"{self.system} - {self.baseline} ({self.metric})"
        test = f"F({self.between:g}, {self.within:.1f}) = {self.statistic:.2f}"
        on = counted(self.n_tasks, self.kind)
        said = f"{of} on {on}: {test}, {tabular.p_is(self.pvalue)}"
        if self.without:
            said += f", without {listed(self.without, 4)}, where the difference has no error"
        return said

    def _title(self) -> str:
        on = counted(self.n_tasks, self.kind)
        return f"{self.system} - {self.baseline}, {self.metric}, on {on}"


@dataclass(frozen=True, repr=False)
class Heterogeneity(Several[TaskTest]):
    """Whether differences differ between tasks; iterating gives a `TaskTest` a pair and metric.

    Examples
    --------
    >>> import evalstats as es
    >>> marks = {"A": [3.0, 4, 5, 4, 3, 5], "B": [3.5, 4.2, 5, 4.4, 3.2, 4.1]}
    >>> by = es.compare(marks, metrics=es.Mean("marks")).by(["x", "x", "x", "y", "y", "y"])
    >>> [test.system for test in by.heterogeneity()]
    ['B']
    """

    tests: tuple[TaskTest, ...]

    def _rows(self) -> Sequence[TaskTest]:
        return self.tests

    def _finding(self, row: TaskTest) -> Finding:
        return Finding(str(row))

    def _tables(self, digits: int | None = None) -> list[Table]:
        kinds = plural(self.tests[0].kind)
        columns: list[Column] = [
            ("metric", "<", lambda t: t.metric),
            ("system", "<", lambda t: t.system),
            ("baseline", "<", lambda t: t.baseline),
            (kinds, ">", lambda t: str(t.n_tasks)),
            ("F", ">", lambda t: f"{t.statistic:.2f}"),
            ("degrees", ">", lambda t: f"{t.between:g}, {t.within:.1f}"),
            ("p", ">", lambda t: tabular.pvalue(t.pvalue)),
        ]
        title = f"Does the difference differ between {kinds}? (Welch, 1951)"
        return [table_of(title, self.tests, columns)]

    def _notes(self) -> list[str]:
        return [f"{test}." for test in self.tests if test.without]


def heterogeneity(comparison: Comparison) -> Heterogeneity:
    """Do what `Comparison.heterogeneity` does."""
    if any(d.aggregate == WHOLE for d in comparison.totals):
        raise InputError(
            "heterogeneity() tests independent strata, and these share groups; give by() labels "
            "that keep each group in one stratum"
        )
    every = by_metric(comparison.rows).values()
    tests = []
    for rows in (group for of_metric in every for group in by_pair(of_metric).values()):
        each = [(d, *_error(d, comparison.confidence_level)) for d in rows]
        known = [(d.value, error, degrees) for d, error, degrees in each if error > 0]
        if len(known) < 2 or not any(d.n_differing for d in rows):
            continue
        found = welch(*np.array(known).T)
        without = tuple(d.task for d, error, _ in each if not error > 0)
        d = rows[0]
        kind = part_name(comparison.estimates)
        tests.append(TaskTest(d.metric, d.system, d.baseline, len(known), *found, without, kind))
    if not tests and any(e.run_error is not None for e in comparison.estimates):
        raise InputError(
            "heterogeneity() tests independent strata, and these share the runs of each system; "
            "give means of the runs, to ask it of these runs alone"
        )
    if not tests:
        raise InputError(
            "heterogeneity() needs pairs that differ on at least 2 tasks, not by the same on all "
            "segments"
        )
    return Heterogeneity(tuple(tests))


def _error(d: Difference, confidence_level: float) -> tuple[float, float]:
    """Return the standard error of a difference, 0 where there is none, and its degrees of freedom.

    Of 0/1 scores that all change alike the score interval still has a length, and so an error.
    """
    if d.units.n_units is None:
        return 0.0, 0.0
    degrees, alpha = float(d.units.n_units - 1), float(f"{1 - confidence_level:.12g}")
    of_interval = (d.high - d.low) / 2 / student.quantile(degrees, alpha)
    sizes = (d.baseline_score, d.system_score) if d.contrast == "difference" else (1.0, d.value)
    rounding = tie_tolerance(max(map(abs, sizes)), 0)
    errors = (error for error in (d.standard_error, of_interval) if error > rounding)
    return next(errors, 0.0), degrees


def heterogeneity_notes(comparison: Comparison) -> list[str]:
    """Say which differences differ between strata, or that there is no evidence of it."""
    try:
        found = comparison.heterogeneity()
    except InputError:
        return []
    # As the table has them, which may show the better system first.
    rows = oriented(comparison, comparison.differences)
    shown = {(d.metric, d.system, d.baseline) for d in rows}
    tests = [
        test
        if (test.metric, test.system, test.baseline) in shown
        else replace(test, system=test.baseline, baseline=test.system)
        for test in found
    ]
    level = comparison.significance_level
    sure, kinds = [test for test in tests if test.pvalue <= level], plural(tests[0].kind)
    if len(tests) == 1:
        (one,) = tests
        what = "differs" if sure else "is not shown to differ"
        where = f"the other {kinds}" if one.without else kinds
        return [f"The difference {what} between {where} (Welch's test, 1951): {one}."]
    said = f"{len(sure)} of {len(tests)} differences are not the same in all {kinds}"
    said = said if sure else f"No difference is shown to differ between {kinds}"
    said += f" (Welch's test, 1951, at {level:g}, of each pair and metric by itself)"
    return [f"{said}{f': {first_few(map(str, sure))}' if sure else ''}."]


class Welch(NamedTuple):
    """F, its degrees of freedom, and how often it is as large where all quantities are equal."""

    statistic: float
    between: float
    within: float
    pvalue: float


def welch(
    values: NDArray[np.float64], errors: NDArray[np.float64], degrees: NDArray[np.float64]
) -> Welch:
    r"""Return Welch's (1951) test that k means with unlike errors are equal.

    With weights w = 1/se², W = Σw and the weighted mean m:

    .. math:: F = \frac{\sum w (d - m)^2 / (k - 1)}
        {1 + \frac{2 (k - 2)}{k^2 - 1} \sum \frac{(1 - w/W)^2}{\nu}}

    with k - 1 and (k² - 1)/(3Σ(1 - w/W)²/ν) degrees of freedom. Where all ν are infinite,
    (k - 1)·F is Cochran's Q; of k = 2, F is the square of Welch's t. Biometrika 38.

    Parameters
    ----------
    values, errors, degrees : ndarray, shape (k,)
        Estimates, their standard errors, above 0, and the degrees of freedom of these.

    Examples
    --------
    >>> found = welch(np.array([1.0, 2.0, 4.0]), np.array([0.5, 0.5, 1.0]), np.full(3, 30.0))
    >>> print(f"{found.statistic:.2f} {found.within:.1f} {found.pvalue:.3f}")
    3.73 56.8 0.030
    """
    from scipy.special import chdtrc, fdtrc

    k = len(values)
    # Squares of large or small scores are no numbers.
    unit = float(np.max(errors))
    weights = (errors / unit) ** -2.0
    shares = weights / np.sum(weights)
    apart = (values - np.sum(shares * values)) / unit
    lack = float(np.sum((1 - shares) ** 2 / degrees))
    between = float(np.sum(weights * apart**2)) / (k - 1)
    statistic = between / (1 + 2 * (k - 2) / (k * k - 1) * lack)
    within = (k * k - 1) / (3 * lack) if lack > 0 else np.inf
    pvalue = fdtrc(k - 1, within, statistic) if lack > 0 else chdtrc(k - 1, (k - 1) * statistic)
    return Welch(statistic, k - 1.0, within, float(pvalue))


def labelled(
    comparison: Comparison, evaluation: Evaluation, labels: str | Iterable[Hashable], asking: str
) -> tuple[dict[str, Drawn], Codes, list[str], Task]:
    """Return what is drawn under each metric, each segment's stratum, their names, the task."""
    each = [evaluation.with_segments(d, asking) for d in comparison.differences]
    task, drawn = each[0]
    for _, one in each:
        refuse_fixed(one, asking)
    assert isinstance(task, Task)
    given = labels_of(task.tables, labels, asking)
    codes, found = label_codes(given, drawn.units.n_segments, asking)
    names = [label(str(one), asking) for one in found]
    if len(names) < 2:
        raise InputError(
            f"needs at least 2 strata, and all segments are in {names[0]!r}; give labels that tell "
            f"domains apart",
            argument=asking,
        )
    return {one.of.name: one for _, one in each}, codes, names, task


def by_stratum(
    comparison: Comparison, evaluation: Evaluation, labels: str | Iterable[Hashable]
) -> Comparison:
    """Return the comparison with a row for each stratum that the labels make."""
    if len(comparison.tasks) > 1:
        raise InputError(
            "takes one task apart, and there are several, which have rows of their own; leave "
            "it out, or compare a task alone",
            argument="by",
        )
    drawn, codes, names, task = labelled(comparison, evaluation, labels, "by")
    part = unit_name(labels, "stratum")
    tasks = taken_apart(list(drawn.values()), codes, names, task, part)
    units = next(iter(drawn.values())).units
    totals: list[Task | Total] = []
    if units.are_split(codes):
        # What shares groups is no stratum of the total, which is the whole as it was drawn.
        name = name_of_all([of.tables[0] for of in tasks])
        totals.append(replace(task, name=name, aggregate="micro", total=WHOLE))
    else:
        of_tasks: dict[str, Labels] = {of.name: of.groups for of in tasks if of.groups}
        totals += as_totals({of.name: list(of.tables) for of in tasks}, "micro", of_tasks)
    parts = [*tasks, *totals]
    of_strata = Evaluation(parts, evaluation.pairs, evaluation.options, evaluation.notes)
    result = compared(of_strata, comparison.baseline)
    return result.noting(*heterogeneity_notes(result))


def taken_apart(
    drawn: Sequence[Drawn], codes: Codes, names: Sequence[str], whole: Task, part: str
) -> list[Task]:
    """Return a task for each stratum, which is called a `part`.

    Segments keep the names and texts that they have in the whole task.
    """
    segments = [one.segments for one in drawn]
    if any(len(of.blocks) > 1 for of in segments):
        raise InputError(
            "takes a score of all segments together apart, and this one is an average over "
            "strata; leave aggregate out",
            argument="by",
        )
    units, ids = drawn[0].units, whole.segment_names()
    refuse_crossed(units, "by")
    within = None if units.members is None else units.unit
    groups = whole.unit_names() if within else []
    tasks: list[Task] = []
    for code, name in enumerate(names):
        places = np.flatnonzero(codes == code).tolist()
        tables = [
            SegmentStatistics(
                of.blocks[0].segments[:, places],
                of.systems,
                of.blocks[0].metric,
                reference_label=of.reference_label,
                labels={within: _at(groups, places)} if within else {},
                segment_ids=_at(ids, places),
                unit=whole.tables[0].unit,
                part=part,
            )
            for of in segments
        ]
        outputs = {system: _at(texts, places) for system, texts in whole.outputs.items()}
        references = _at(whole.references, places) if whole.references else ()
        tasks.append(Task(tables, name, groups=within, outputs=outputs, references=references))
    return tasks


def _at(values: Sequence[T], places: Sequence[int]) -> tuple[T, ...]:
    return tuple(values[i] for i in places)
