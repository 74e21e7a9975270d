"""What a suite of tasks finds: scores and differences of every task, and of all in total."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from evalstats.results import suite_layout, suite_plots, suite_reading
from evalstats.results.forms import Result
from evalstats.results.records import ComparisonRecord, Difference, distinct, plain_record
from evalstats.results.report import Table
from evalstats.results.suite_records import TaskDifference, TaskEstimate, only

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class SuiteEstimates(Result, Sequence[TaskEstimate]):
    """Scores of systems on every task and in total, a sequence of `TaskEstimate`.

    Attributes
    ----------
    estimates : tuple of TaskEstimate
        Task by task, in each metric by metric, and then the totals.
    tasks : tuple of str
        Names of the tasks.
    aggregate : str or None
        What the totals are; `None` where there is none.
    notes : tuple of str
        What a careful reader should know.
    """

    estimates: tuple[TaskEstimate, ...]
    tasks: tuple[str, ...]
    aggregate: str | None = None
    notes: tuple[str, ...] = field(default=(), repr=False)

    def __getitem__(self, index: Any) -> Any:
        """Return the estimate of a place; for a slice, a tuple."""
        return self.estimates[index]

    def __len__(self) -> int:
        """Return the number of estimates, totals among them."""
        return len(self.estimates)

    @property
    def rows(self) -> tuple[TaskEstimate, ...]:
        """The estimates of tasks, without the totals."""
        return tuple(e for e in self.estimates if e.aggregate is None)

    @property
    def totals(self) -> tuple[TaskEstimate, ...]:
        """The totals: one of each system and metric."""
        return tuple(e for e in self.estimates if e.aggregate is not None)

    def estimate(
        self, task: str, metric: str | None = None, system: str | None = None
    ) -> TaskEstimate:
        """Return the score on a task; metric and system can be left out where there is one."""
        return only(self.rows, "estimate", task=task, metric=metric, system=system)

    def total(self, metric: str | None = None, system: str | None = None) -> TaskEstimate:
        """Return the total; metric and system can be left out where there is one."""
        return only(self.totals, "total", metric=metric, system=system)

    def to_dict(self) -> dict[str, Any]:
        """Return tasks and estimates as plain Python values."""
        return {
            "tasks": list(self.tasks),
            "aggregate": self.aggregate,
            "estimates": [e.to_dict() for e in self.estimates],
            "notes": list(self.notes),
        }

    @classmethod
    def from_json(cls, text: str) -> SuiteEstimates:
        """Return what `to_json` wrote; see `Comparison.from_json`."""
        return suite_reading.estimates_from(cls, text)

    def plot(self, metric: str | None = None, ax: Axes | None = None) -> Axes:
        """Draw a row a task, with the interval of each system, and the total at the bottom."""
        return suite_plots.scores(self, metric, ax)

    def _records(self) -> list[dict[str, Any]]:
        return [_task_first(record) for e in self.estimates for record in e._records()]

    def _tables(self, digits: int | None = None) -> list[Table]:
        return suite_layout.score_tables(self.estimates, digits)

    def _footer(self) -> list[str]:
        return [*self.notes, *distinct(e.signature for e in self.estimates)]


@dataclass(frozen=True)
class SuiteComparison(ComparisonRecord, Result):
    """Differences of systems on every task and in total; iterating gives `TaskDifference`.

    Attributes
    ----------
    estimates : SuiteEstimates
        The scores.
    differences : tuple of TaskDifference
        Task by task, in each metric by metric and pair by pair, and then the totals.
    tasks : tuple of str
        Names of the tasks.
    aggregate : str or None
        What the totals are; `None` where there is none.
    family : {"metric", "all"}
        Whether the tasks' rows are adjusted for one another within each metric, or all together.
        Totals are a family of their own.
    baseline, test, method, alternative, adjustment, confidence_level, n_resamples, seed, \
signatures, notes, significance_level, margin, recovery, contrast
        As of a `Comparison`.
    """

    estimates: SuiteEstimates
    differences: tuple[TaskDifference, ...]
    tasks: tuple[str, ...] = ()
    aggregate: str | None = None
    family: str = "metric"

    def __iter__(self) -> Iterator[TaskDifference]:
        """Iterate over the differences of tasks, and then the totals."""
        return iter(self.differences)

    def __len__(self) -> int:
        """Return the number of differences, totals among them."""
        return len(self.differences)

    @property
    def rows(self) -> tuple[TaskDifference, ...]:
        """The differences on tasks, without the totals."""
        return tuple(d for d in self.differences if d.aggregate is None)

    @property
    def totals(self) -> tuple[TaskDifference, ...]:
        """The totals: one of each pair and metric."""
        return tuple(d for d in self.differences if d.aggregate is not None)

    def difference(
        self,
        task: str,
        metric: str | None = None,
        system: str | None = None,
        baseline: str | None = None,
    ) -> TaskDifference:
        """Return the difference on a task; what is the same everywhere can be left out."""
        named = {"task": task, "metric": metric, "system": system, "baseline": baseline}
        return only(self.rows, "difference", **named)

    def total(
        self,
        metric: str | None = None,
        system: str | None = None,
        baseline: str | None = None,
    ) -> TaskDifference:
        """Return the difference in total; what is the same everywhere can be left out."""
        return only(self.totals, "total", metric=metric, system=system, baseline=baseline)

    @cached_property
    def _sizes(self) -> Counter[tuple[bool, str]]:
        return Counter(map(self._family_of, self.differences))

    @cached_property
    def _tasks_of(self) -> Counter[tuple[bool, str]]:
        found = {(self._family_of(d), d.task) for d in self.differences}
        return Counter(family for family, _ in found)

    def _family_of(self, difference: Difference) -> tuple[bool, str]:
        is_total = getattr(difference, "aggregate", None) is not None
        return is_total, "" if self.family == "all" else difference.metric

    def n_compared(self, difference: Difference) -> int:
        """Return how many rows, or totals, are counted together with this one."""
        return self._sizes[self._family_of(difference)]

    def n_multiplied(self, difference: Difference) -> int:
        """Return what the adjustment multiplies the smallest p-value by."""
        if self.adjustment != "max-t":
            return super().n_multiplied(difference)
        return self._tasks_of[self._family_of(difference)]

    def to_dict(self) -> dict[str, Any]:
        """Return settings, estimates and differences as plain Python values."""
        plain = plain_record(self)
        texts = {name: plain.pop(name) for name in ("signatures", "notes")}
        return {
            **{k: v for k, v in plain.items() if k not in ("estimates", "differences")},
            "estimates": [e.to_dict() for e in self.estimates],
            "differences": [
                {**d.to_dict(), "significant": self.significant(d), "claim": self.claim(d)}
                for d in self.differences
            ],
            **texts,
        }

    @classmethod
    def from_json(cls, text: str) -> SuiteComparison:
        """Return what `to_json` wrote, checked as `Comparison.from_json` does.

        Examples
        --------
        >>> import evalstats as es
        >>> marks = {"A": [0, 1, 1, 0, 1], "B": [1, 1, 1, 0, 1]}
        >>> task = es.extract(marks, metric=es.Mean("acc"))
        >>> result = es.Suite({"x": task, "y": task}).compare()
        >>> es.SuiteComparison.from_json(result.to_json()) == result
        True
        """
        return suite_reading.comparison_from(cls, SuiteEstimates, text)

    def plot(
        self,
        metric: str | None = None,
        system: str | None = None,
        baseline: str | None = None,
        ax: Axes | None = None,
    ) -> Axes:
        """Draw a forest plot of one pair: a row a task, the total at the bottom.

        A filled dot is a significant difference (adjusted p-value), blue where the system is better
        and vermillion where it is worse; the total is a diamond. More than 120 rows raise an
        `InputError`.
        """
        return suite_plots.differences(self, metric, system, baseline, ax)

    def plot_scores(self, metric: str | None = None, ax: Axes | None = None) -> Axes:
        """Draw the scores with their intervals: `SuiteEstimates.plot`."""
        return self.estimates.plot(metric, ax)

    def _records(self) -> list[dict[str, Any]]:
        return [_task_first(record) for record in self.to_dict()["differences"]]

    def _tables(self, digits: int | None = None) -> list[Table]:
        return suite_layout.difference_tables(self, self.differences, digits)

    def _footer(self) -> list[str]:
        return [*self.notes, *self.signatures]


def _task_first(record: dict[str, Any]) -> dict[str, Any]:
    return {name: record[name] for name in ("task", "aggregate")} | record
