"""Whether a difference differs from task to task, or from domain to domain."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from evalstats.errors import InputError
from evalstats.questions.domains.welch import welch
from evalstats.results import tabular
from evalstats.results.convert import Count, NotNegative, Share
from evalstats.results.forms import Several
from evalstats.results.records import Difference, Record, by_metric, by_pair
from evalstats.results.tabular import Column, Table, table_of

#: The comparison that is taken apart.
C = TypeVar("C", bound="ByTask")


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


class ByTask:
    """What a comparison says of tasks, or strata, one beside another."""

    def heterogeneity(self) -> Heterogeneity:
        """Test whether each difference is the same on all tasks: Welch's test (1951).

        Of each pair and metric the differences on k tasks are held against their weighted mean,
        with their own standard errors; of two tasks it is the square of Welch's t. Tasks on which
        two systems are the same have no error, and are left out. Each test stands by itself.

        Raises
        ------
        InputError
            Where no pair differs on 2 tasks, and of several runs of each system.

        Notes
        -----
        Measured where the true difference is the same in four domains whose scores spread by 0.5
        to 2, how often p <= .05: means of 20, 30 and 300 normal scores a domain .052, .048 and .050
        (10,000 samples each, ± .004);
        BLEU of two systems of WMT22 en-de whose outputs were swapped at random, in four domains of
        100 segments, .037 (1,000 samples, ± .013).

        Examples
        --------
        >>> import evalstats as es
        >>> from evalstats.data import load_sample
        >>> sample = load_sample()
        >>> pair = {name: sample.systems[name] for name in ("baseline", "clearly-better")}
        >>> result = es.compare(pair, sample.references, "chrf").by(sample.domains)
        >>> print(result.heterogeneity()[0])
        clearly-better - baseline (chrF2) on 4 tasks: F(3, ...) = ..., p = 0...
        """
        tests = [test for of_pair in _apart(self) if (test := _tested(of_pair)) is not None]
        if not tests:
            raise InputError("heterogeneity() needs pairs that differ on at least 2 tasks")
        return Heterogeneity(tuple(tests))

    def by(self: C, labels: str | Iterable[Hashable]) -> C:
        """Compare within each stratum: a `Comparison` with a row a stratum, and the whole below.

        What the strata are is looked at one by one, as the tasks of a suite are: p-values allow for
        all of them. The last row is the score of all segments together, which are drawn within
        strata. A note says whether the difference differs between strata (`heterogeneity`).

        Parameters
        ----------
        labels : str or sequence
            The name of a label that the segments have; or labels, one a segment, such as domains.

        Raises
        ------
        InputError
            For fewer than 2 strata, or 2 units in one; an average over strata; and a comparison of
            several tasks, of a `Shard` or from JSON.

        Examples
        --------
        >>> import evalstats as es
        >>> from evalstats.data import load_sample
        >>> sample = load_sample()
        >>> result = es.compare(sample.systems, sample.references, "chrf", baseline="baseline")
        >>> result.by(sample.domains).tasks
        ('news', 'travel', 'howto', 'support')
        """
        asked: Any = self
        found: C = asked._asked().by(asked, labels)
        return found


def heterogeneity_notes(comparison: Any) -> list[str]:
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


def _apart(comparison: Any) -> list[list[Difference]]:
    """Return the differences of each pair and metric on all tasks."""
    every = by_metric(comparison.rows).values()
    return [group for rows in every for group in by_pair(rows).values()]


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
