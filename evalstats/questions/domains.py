"""Differences within domains, whether they are equal, and joint claims.

A joint claim is about several metrics or tasks: "better under BLEU and chrF".
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.compare import compared
from evalstats.analysis.comparison import Comparison, Evaluation
from evalstats.analysis.design import Codes, Labels, label_codes, refuse_crossed, unit_name
from evalstats.analysis.scores import Scores, refuse_fixed
from evalstats.analysis.tasks import Task, Total, as_totals, labels_of, name_of_all, refuse_namesake
from evalstats.checks import label
from evalstats.errors import Argument, InputError
from evalstats.inference import student
from evalstats.inference.draws import tie_tolerance
from evalstats.results import tabular
from evalstats.results.convert import Count, Level, NotNegative, Share
from evalstats.results.forms import Finding, Result, Several
from evalstats.results.notes import WHOLE
from evalstats.results.records import (
    Difference,
    Record,
    counted,
    distinct,
    first_few,
    has_tasks,
    listed,
    of_metric,
    of_pair,
    of_task,
    oriented,
    plural,
)
from evalstats.results.signatures import part_name
from evalstats.results.tabular import Column, Table, table_of
from evalstats.statistics.segments import SegmentStatistics

T = TypeVar("T")


@dataclass(frozen=True)
class TaskTest(Record):
    """Welch's (1951) test that the difference of a pair is the same on k tasks, for one metric.

    Attributes
    ----------
    metric, system, baseline : str
        The differences tested, system minus baseline.
    n_tasks : int
        k, the number of tasks on which the difference has a standard error.
    statistic, between, within : float
        F with its degrees of freedom: k - 1, and the denominator's.
    pvalue : float
        p-value for this pair and metric only.
    without : tuple of str
        Tasks that are left out because the difference is the same on all segments, without an
        error.
    kind : str
        Name of the parts: "task", or a label such as "domain".

    Examples
    --------
    >>> import evalstats as es
    >>> scores = {"A": [3.0, 4, 5, 4, 3, 5], "B": [3.5, 4.2, 5, 4.4, 3.2, 4.1]}
    >>> by = es.compare(scores, metrics=es.Mean("quality")).by(["x", "x", "x", "y", "y", "y"])
    >>> print(by.heterogeneity()[0])
    B - A (quality) on 2 strata: F(1, 2.5) = 0.60, p = 0.50
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
        pair = f"{self.system} - {self.baseline} ({self.metric})"
        test = f"F({self.between:g}, {self.within:.1f}) = {self.statistic:.2f}"
        on = counted(self.n_tasks, self.kind)
        said = f"{pair} on {on}: {test}, {tabular.p_is(self.pvalue)}"
        if self.without:
            said += f", without {listed(self.without, 4)} (no standard error there)"
        return said

    def _title(self) -> str:
        on = counted(self.n_tasks, self.kind)
        return f"{self.system} - {self.baseline}, {self.metric}, on {on}"


@dataclass(frozen=True, repr=False)
class Heterogeneity(Several[TaskTest]):
    """Whether differences differ between tasks; iterating yields a `TaskTest` per pair and metric.

    Attributes
    ----------
    tests : tuple of TaskTest
        One record per pair and metric.

    Examples
    --------
    >>> import evalstats as es
    >>> scores = {"A": [3.0, 4, 5, 4, 3, 5], "B": [3.5, 4.2, 5, 4.4, 3.2, 4.1]}
    >>> by = es.compare(scores, metrics=es.Mean("quality")).by(["x", "x", "x", "y", "y", "y"])
    >>> [test.system for test in by.heterogeneity()]
    ['B']
    """

    tests: tuple[TaskTest, ...]

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
            ("p", ">", lambda t: tabular.pvalue(t.pvalue, digits=digits)),
        ]
        title = f"Does the difference vary between {kinds}? (Welch, 1951)"
        return [table_of(title, self.tests, columns)]

    def _notes(self) -> list[str]:
        return [f"{test}." for test in self.tests if test.without]


def heterogeneity_of(comparison: Comparison) -> Heterogeneity:
    """Test whether each difference is the same on all tasks: Welch's test (1951).

    For each pair and metric, the differences on k tasks are compared with their weighted mean,
    using their standard errors; with two tasks F is the square of Welch's t. A difference that is
    the same on all segments of a task has no error, so the task is left out (`without`); for 0/1
    scores the error comes from the score interval. The tests are not adjusted for each other.

    Raises
    ------
    InputError
        If no pair differs on 2 tasks, or if there are several runs of each system.

    Notes
    -----
    Measured with the same true difference in four domains, with standard deviations of 0.5 to 2:
    share of p <= .05 for means of 20, 30 and 300 normal scores per domain .052, .048 and .050
    (10,000 samples each, ± .004); BLEU of two systems of WMT22 en-de whose outputs were swapped at
    random, in four domains of 100 segments, .037 (1,000 samples, ± .013).

    Examples
    --------
    >>> import evalstats as es
    >>> from evalstats.data import load_sample
    >>> sample = load_sample()
    >>> pair = {name: sample.systems[name] for name in ("baseline", "clearly-better")}
    >>> result = es.compare(pair, sample.references, "chrf").by(sample.domains)
    >>> print(result.heterogeneity()[0])
    clearly-better - baseline (chrF2) on 4 strata: F(3, ...) = ..., p = 0...
    """
    if any(d.aggregate == WHOLE for d in comparison.totals):
        raise InputError(
            "heterogeneity() requires independent strata, but these share groups; pass labels "
            "to by() that keep each group in a single stratum"
        )
    tests, kind = [], part_name(comparison.estimates)
    by_place: dict[tuple[str, str, str], list[Difference]] = {}
    for d in comparison.rows:
        by_place.setdefault((d.metric, d.system, d.baseline), []).append(d)
    for place, rows in by_place.items():
        errors = [(d, *_error(d, comparison.confidence_level)) for d in rows]
        known = [(d.difference, error, degrees) for d, error, degrees in errors if error > 0]
        if len(known) < 2 or not any(d.n_differing for d in rows):
            continue
        without = tuple(d.task for d, error, _ in errors if not error > 0)
        tests.append(TaskTest(*place, len(known), *welch(*np.array(known).T), without, kind))
    if not tests and any(e.run_error is not None for e in comparison.estimates):
        raise InputError(
            "heterogeneity() requires independent strata, but these share the runs of each "
            "system. To test only these runs, pass the means of the runs."
        )
    if not tests:
        raise InputError(
            "heterogeneity() requires pairs whose differences vary across segments on at least "
            "2 tasks"
        )
    return Heterogeneity(tuple(tests))


def _error(d: Difference, confidence_level: float) -> tuple[float, float]:
    """Return the standard error of a difference (0 if there is none) and its degrees of freedom.

    If all 0/1 scores change alike, the score interval still has a length, which gives an error.
    """
    if d.n_units is None:
        return 0.0, 0.0
    degrees, alpha = float(d.n_units - 1), float(f"{1 - confidence_level:.12g}")
    of_interval = (d.high - d.low) / 2 / student.quantile(degrees, alpha)
    sizes = d.baseline_score, d.system_score
    rounding = tie_tolerance(max(map(abs, sizes)), 0)
    errors = (error for error in (d.standard_error, of_interval) if error > rounding)
    return next(errors, 0.0), degrees


def heterogeneity_notes(comparison: Comparison) -> list[str]:
    """Return a note on which differences differ between strata."""
    try:
        tests = list(comparison.heterogeneity())
    except InputError:
        return []
    # As in the table, which may show the better system first.
    rows = oriented(comparison, comparison.differences)
    shown = {(d.metric, d.system, d.baseline) for d in rows}
    for i, test in enumerate(tests):
        if (test.metric, test.system, test.baseline) not in shown:
            tests[i] = replace(test, system=test.baseline, baseline=test.system)
    level = comparison.significance_level
    sure, kinds = [test for test in tests if test.pvalue <= level], plural(tests[0].kind)
    if len(tests) == 1:
        (one,) = tests
        what = "The difference varies" if sure else "No evidence that the difference varies"
        where = f"the other {kinds}" if one.without else kinds
        return [f"{what} between {where} (Welch's test, 1951): {one}."]
    said = f"{len(sure)} of {len(tests)} differences vary between {kinds}"
    said = said if sure else f"No evidence that any difference varies between {kinds}"
    said += f" (Welch's test, 1951, at level {level:g} for each pair and metric)"
    return [f"{said}{f': {first_few(map(str, sure))}' if sure else ''}."]


def welch(
    values: NDArray[np.float64], errors: NDArray[np.float64], degrees: NDArray[np.float64]
) -> tuple[float, float, float, float]:
    r"""Return Welch's (1951) test that k means with different errors are equal.

    With weights w = 1/se², W = Σw and the weighted mean m:

    .. math:: F = \frac{\sum w (d - m)^2 / (k - 1)}
        {1 + \frac{2 (k - 2)}{k^2 - 1} \sum \frac{(1 - w/W)^2}{\nu}}

    with k - 1 and (k² - 1)/(3Σ(1 - w/W)²/ν) degrees of freedom. If all ν are infinite, (k - 1)·F is
    Cochran's Q; for k = 2, F is the square of Welch's t. Biometrika 38.

    Parameters
    ----------
    values, errors, degrees : ndarray, shape (k,)
        Estimates, their standard errors (above 0), and the degrees of freedom of the errors.

    Returns
    -------
    tuple of float
        F, its two degrees of freedom, and the p-value.

    Examples
    --------
    >>> f, _, within, pvalue = welch(np.array([1.0, 2, 4]), np.array([0.5, 0.5, 1]), np.full(3, 30))
    >>> print(f"{f:.2f} {within:.1f} {pvalue:.3f}")
    3.73 56.8 0.030
    """
    from scipy.special import chdtrc, fdtrc

    k = len(values)
    # Scaled, so that squares do not overflow.
    unit = float(np.max(errors))
    weights = (errors / unit) ** -2.0
    shares = weights / np.sum(weights)
    apart = (values - np.sum(shares * values)) / unit
    lack = float(np.sum((1 - shares) ** 2 / degrees))
    between = float(np.sum(weights * apart**2)) / (k - 1)
    statistic = between / (1 + 2 * (k - 2) / (k * k - 1) * lack)
    within = (k * k - 1) / (3 * lack) if lack > 0 else np.inf
    pvalue = fdtrc(k - 1, within, statistic) if lack > 0 else chdtrc(k - 1, (k - 1) * statistic)
    return statistic, k - 1.0, within, float(pvalue)


def by_stratum(comparison: Comparison, labels: str | Iterable[Hashable]) -> Comparison:
    """Compare within each stratum: a `Comparison` with one row per stratum, and the total below.

    Strata are treated like the tasks of a suite: p-values are adjusted for all of them. The last
    row is the score of all segments together, drawn within strata. A note says whether the
    difference differs between strata (`heterogeneity`). If groups lie in several strata (a prompt
    in several languages), each row has a part of them, the last row draws them whole, as the
    comparison does, and strata are not tested against each other.

    Parameters
    ----------
    labels : str or sequence
        The name of a label of the segments; or labels, one per segment, such as domains.

    Raises
    ------
    InputError
        For fewer than 2 strata; fewer than 2 units in one; strata that differ only in type (1 and
        "1") or have the name of the total; an average over strata; and a comparison of several
        tasks, of `Moments` or from JSON.

    Examples
    --------
    >>> import evalstats as es
    >>> from evalstats.data import load_sample
    >>> sample = load_sample()
    >>> result = es.compare(sample.systems, sample.references, "chrf", baseline="baseline")
    >>> result.by(sample.domains).tasks
    ('news', 'travel', 'howto', 'support')
    """
    evaluation = comparison.evaluation
    if len(comparison.tasks) > 1:
        raise InputError(
            "can only split a single task, but there are several, which already have their own "
            "rows. Leave it out, or compare a single task.",
            argument="by",
        )
    of_rows = [evaluation.with_segments(d, "by") for d in comparison.differences]
    task, scores = of_rows[0][0], {one.name: one for _, one in of_rows}
    for one in scores.values():
        refuse_fixed(one, "by")
    assert isinstance(task, Task)
    units = of_rows[0][1].units
    given = labels_of(task.statistics, labels, "by")
    codes, kinds = label_codes(given, units.n_segments, "by")
    names = [label(str(kind), "by") for kind in kinds]
    if len(names) < 2:
        raise InputError(
            f"requires at least 2 strata, but all segments are in {names[0]!r}; pass labels with "
            "several values",
            argument="by",
        )
    tasks = taken_apart(list(scores.values()), codes, names, task, unit_name(labels, "stratum"))
    totals: list[Task | Total] = []
    in_both = units.of_segments * (int(codes.max()) + 1) + codes
    if np.unique(in_both).size > units.n:
        # If strata share groups, the total is drawn as before, not within them.
        name = name_of_all([stratum.statistics[0] for stratum in tasks])
        refuse_namesake(name, names)
        totals.append(replace(task, name=name, aggregate="micro", total=WHOLE))
    else:
        groups: dict[str, Labels] = {part.name: part.groups for part in tasks if part.groups}
        totals += as_totals({part.name: list(part.statistics) for part in tasks}, "micro", groups)
    known = evaluation.pairs, evaluation.options, evaluation.notes
    result = compared(Evaluation([*tasks, *totals], *known), comparison.baseline)
    return result.noting(*heterogeneity_notes(result))


def taken_apart(
    several: Sequence[Scores], codes: Codes, names: Sequence[str], whole: Task, part: str
) -> list[Task]:
    """Return a task for each stratum; `part` is the word for a stratum.

    Segments keep the names and texts that they have in the whole task.
    """
    if any(len(scores.strata) > 1 for scores in several):
        raise InputError(
            "can only split a score of all segments together, but this score is an average over "
            "strata; leave aggregate out",
            argument="by",
        )
    units, ids = several[0].units, whole.segment_names()
    refuse_crossed(units, "by")
    within = None if units.members is None else units.unit
    groups = whole.unit_names() if within else []
    tasks: list[Task] = []
    for code, name in enumerate(names):
        places = np.flatnonzero(codes == code).tolist()
        tables = [
            SegmentStatistics(
                scores.strata[0].segments[:, places],
                scores.systems,
                scores.strata[0].metric,
                reference_label=scores.reference_label,
                labels={within: _at(groups, places)} if within else {},
                segment_ids=_at(ids, places),
                unit=whole.statistics[0].unit,
                part=part,
            )
            for scores in several
        ]
        outputs = {system: _at(texts, places) for system, texts in whole.outputs.items()}
        references = _at(whole.references, places) if whole.references else ()
        tasks.append(Task(tables, name, groups=within, outputs=outputs, references=references))
    return tasks


def _at(values: Sequence[T], places: Sequence[int]) -> tuple[T, ...]:
    return tuple(values[i] for i in places)


@dataclass(frozen=True, repr=False)
class JointClaim(Result):
    """A claim that one system is better than another under each of several metrics.

    Attributes
    ----------
    system, baseline : str
        The better system, and the one it is compared with.
    metrics : tuple of str
        The metrics; with several tasks, after the name of the task.
    pvalues, pvalue : tuple of float, float
        One-sided p-value for each metric, for this pair only, and their largest: half of the
        two-sided p-value if the system is better, and 1 minus that half if it is worse
        (``compare(alternative=...)`` counts the resamples of one side, with the same result up to
        one or two of them). For identical systems it is 1.
    significance_level : float
        Level of the comparison.

    Examples
    --------
    >>> import evalstats as es
    >>> scores = {"A": [3.0, 4, 5, 4, 3, 5], "B": [4.0, 5, 6, 4.9, 4, 6]}
    >>> result = es.compare(scores, metrics=es.Mean("quality"))
    >>> result.joint("B", "A").significant
    True
    """

    system: str
    baseline: str
    metrics: tuple[str, ...]
    pvalues: tuple[Share, ...]
    pvalue: Share
    significance_level: Level

    derived = ("significant",)

    @property
    def significant(self) -> bool:
        """Whether the claim is significant: the p-value is at most the level."""
        return self.pvalue <= self.significance_level

    def __str__(self) -> str:
        shown = "" if self.significant else "No evidence that "
        rows = zip(self.metrics, self.pvalues, strict=True)
        return (
            f"{shown}{self.system} is better than {self.baseline} under each of "
            f"{', '.join(self.metrics)} at level {self.significance_level:g}: one-sided "
            f"{tabular.p_is(self.pvalue, self.significance_level)}, the largest of "
            + ", ".join(
                f"{tabular.pvalue(p, self.significance_level)} ({metric})" for metric, p in rows
            )
        )

    def __repr__(self) -> str:
        return str(self)

    def _records(self) -> list[dict[str, Any]]:
        names = {"system": self.system, "baseline": self.baseline}
        rows = zip(self.metrics, self.pvalues, strict=True)
        return [{**names, "metric": metric, "pvalue": p} for metric, p in rows]

    def _tables(self, digits: int | None = None) -> list[Table]:
        rows = [*zip(self.metrics, self.pvalues, strict=True), ("all of them", self.pvalue)]
        columns: list[tabular.Column] = [
            ("metric", "<", lambda line: line[0]),
            (
                "one-sided p",
                ">",
                lambda line: tabular.pvalue(line[1], self.significance_level, digits),
            ),
        ]
        title = f"{self.system} better than {self.baseline}"
        return [table_of(title, rows, columns, n_totals=1)]

    def _notes(self) -> list[str]:
        return [str(self)]


def joint_claim(
    comparison: Comparison,
    system: str,
    baseline: str | None = None,
    metrics: Sequence[str] | None = None,
    task: str | Sequence[str] | None = None,
) -> JointClaim:
    """Test whether a system is better under all of several metrics, or on all of several tasks.

    The claim "better under BLEU *and* chrF" holds at the level if each of the two holds at this
    level: its p-value is the largest of the one-sided ones (an intersection-union test; Berger,
    1982). It is for this pair only; adjust the p-values of several pairs.

    Parameters
    ----------
    system, baseline : str
        The better system and the other one; the pair may be compared in either order.
    metrics : sequence of str, optional
        Metrics of the comparison, by default all.
    task : str or sequence of str, optional
        Tasks, all of which must show it; by default the total, if there is one.

    Raises
    ------
    InputError
        If the pair was not compared, or if the alternative is one-sided.

    Examples
    --------
    >>> import evalstats as es
    >>> from evalstats.data import load_sample
    >>> sample = load_sample()
    >>> pair = {name: sample.systems[name] for name in ("baseline", "clearly-better")}
    >>> result = es.compare(pair, sample.references, ["bleu", "chrf"], n_resamples=999)
    >>> print(result.joint("clearly-better", "baseline"))
    clearly-better is better than baseline under each of BLEU, chrF2 at level 0.05: ...
    """
    baseline = comparison.baseline if baseline is None else baseline
    names = [task] if task is None or isinstance(task, str) else task
    tasks = [of_task(comparison.differences, name) for name in names]
    if isinstance(metrics, str):
        raise InputError(f"must be a list of names, got the string {metrics!r}", argument="metrics")
    # Each pair is compared once, in one of two orders.
    turned = any((d.system, d.baseline) == (baseline, system) for d in comparison)
    pair = (baseline, system) if turned else (system, baseline)
    differences = [
        of_pair(of_metric(of_one_task, metric), *pair)
        for of_one_task in tasks
        for metric in (distinct(d.metric for d in of_one_task) if metrics is None else metrics)
    ]
    if not differences:
        raise InputError("metrics and task must not be empty")
    if comparison.alternative != "two-sided":
        raise InputError(
            "joint() requires a two-sided comparison, because it uses one side of its p-values; "
            "compare with ",
            Argument("alternative", "two-sided"),
            f" instead of {comparison.alternative!r}",
        )
    first, named = differences[0], has_tasks(differences)
    pvalues = []
    for d in differences:
        # One-sided p-value, from the two-sided one.
        one_sided = d.pvalue / 2 if d.winner == system else 1 - d.pvalue / 2
        pvalues.append(1.0 if d.n_differing == 0 else one_sided)
    return JointClaim(
        system=system,
        baseline=first.baseline if first.system == system else first.system,
        metrics=tuple(f"{d.task}: {d.metric}" if named else d.metric for d in differences),
        pvalues=tuple(pvalues),
        pvalue=max(pvalues),
        significance_level=comparison.significance_level,
    )
