"""Whether a difference differs from task to task, or from domain to domain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evalstats.analysis.comparison import Comparison
from evalstats.errors import InputError
from evalstats.questions.domains.welch import welch
from evalstats.results import tabular
from evalstats.results.convert import Count, NotNegative, Share
from evalstats.results.forms import Finding, Several
from evalstats.results.records import Difference, Record, by_metric, by_pair
from evalstats.results.tabular import Column, Table, table_of


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
    """

    metric: str
    system: str
    baseline: str
    n_tasks: Count
    statistic: NotNegative
    between: NotNegative
    within: NotNegative
    pvalue: Share

    def __str__(self) -> str:
        of = f"{self.system} - {self.baseline} ({self.metric})"
        test = f"F({self.between:g}, {self.within:.1f}) = {self.statistic:.2f}"
        return f"{of} on {self.n_tasks} tasks: {test}, {tabular.p_is(self.pvalue)}"

    def _title(self) -> str:
        return f"{self.system} - {self.baseline}, {self.metric}, on {self.n_tasks} tasks"


@dataclass(frozen=True, repr=False)
class Heterogeneity(Several[TaskTest]):
    """Whether differences differ between tasks; iterating gives a `TaskTest` a pair and metric."""

    tests: tuple[TaskTest, ...]

    def _rows(self) -> Sequence[TaskTest]:
        return self.tests

    def _finding(self, row: TaskTest) -> Finding:
        return Finding(str(row))

    def _tables(self, digits: int | None = None) -> list[Table]:
        columns: list[Column] = [
            ("metric", "<", lambda t: t.metric),
            ("system", "<", lambda t: t.system),
            ("baseline", "<", lambda t: t.baseline),
            ("tasks", ">", lambda t: str(t.n_tasks)),
            ("F", ">", lambda t: f"{t.statistic:.2f}"),
            ("degrees", ">", lambda t: f"{t.between:g}, {t.within:.1f}"),
            ("p", ">", lambda t: tabular.pvalue(t.pvalue)),
        ]
        title = "Does the difference differ between tasks? (Welch, 1951)"
        return [table_of(title, self.tests, columns)]


def heterogeneity(comparison: Comparison) -> Heterogeneity:
    """Do what `Comparison.heterogeneity` does."""
    every = by_metric(comparison.rows).values()
    pairs = [group for rows in every for group in by_pair(rows).values()]
    tests = [test for of_pair in pairs if (test := _tested(of_pair)) is not None]
    if not tests:
        raise InputError("heterogeneity() needs pairs that differ on at least 2 tasks")
    return Heterogeneity(tuple(tests))


def heterogeneity_notes(comparison: Comparison) -> list[str]:
    """Say which differences differ between strata, or that there is no evidence of it."""
    try:
        tests = comparison.heterogeneity()
    except InputError:
        return []
    level = comparison.significance_level
    sure = [test for test in tests if test.pvalue <= level]
    if len(tests) == 1:
        (one,) = tests
        what = "differs" if sure else "is not shown to differ"
        return [f"The difference {what} between strata (Welch’s test, 1951): {one}."]
    said = f"{len(sure)} of {len(tests)} differences differ between strata at {level:g} (Welch’s"
    said += " test, 1951), each by itself"
    return (
        [f"{said}: {'; '.join(map(str, sure[:3]))}{'; ...' if sure[3:] else ''}."]
        if sure
        else [f"{said}."]
    )


def _tested(rows: Sequence[Difference]) -> TaskTest | None:
    """Return the test of a pair under a metric; none where fewer than two tasks have an error."""
    known = [d for d in rows if d.standard_error > 0 and d.units.n_units is not None]
    if len(known) < 2:
        return None
    found = welch(
        np.array([d.value for d in known]),
        np.array([d.standard_error for d in known]),
        np.array([float(d.units.n_units or 2) - 1 for d in known]),
    )
    first = known[0]
    return TaskTest(first.metric, first.system, first.baseline, len(known), *found)
