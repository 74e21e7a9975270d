"""What p-values are adjusted for: families of comparisons, and which levels they can reach."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from evalstats.results.records import COUNTED, Difference


@dataclass(frozen=True, eq=False)
class Adjustment:
    """How the p-values of comparisons are adjusted, and at which level verdicts are made."""

    differences: Sequence[Difference]
    name: str  # "max-t", "holm", "benjamini-hochberg", "none"
    level: float
    alternative: str
    n_resamples: int
    over: str  # "pairs" or "metrics"

    @cached_property
    def is_mixed(self) -> bool:
        """Whether a total is of several metrics, so that those of all tasks are one family."""
        return is_mixed(self.differences)

    @cached_property
    def is_over_metrics(self) -> bool:
        """Whether comparisons under all metrics are one family."""
        return self.over == "metrics" or self.is_mixed

    @cached_property
    def _families(self) -> dict[tuple[bool, str], list[str]]:
        """The tasks, or totals, of the comparisons in each family."""
        parts = defaultdict(list)
        for d in self.differences:
            parts[self._family(d)].append(d.part)
        return parts

    def _family(self, d: Difference) -> tuple[bool, str]:
        return d.aggregate is not None, "" if self.is_over_metrics else d.metric

    def n_compared(self, d: Difference) -> int:
        """Return how many rows, or totals, are adjusted together with this one, itself included."""
        return len(self._families[self._family(d)])

    def factor(self, d: Difference) -> int:
        """Return what the adjustment multiplies the smallest p-value by."""
        if self.name == "max-t":
            return len(set(self._families[self._family(d)]))
        return 1 if self.name == "none" else self.n_compared(d)

    def significant(self, d: Difference) -> bool:
        """Return whether the adjusted p-value is at most the level."""
        return d.pvalue_adjusted <= self.level

    def min_pvalue(self, d: Difference) -> float:
        """Return the smallest p-value of units that can be swapped in so many ways."""
        if d.test in COUNTED:
            return 0.0
        sides = 2.0 if self.alternative == "two-sided" else 1.0
        return min(1.0, sides * 0.5**d.n_differing)

    def cannot_reject(self, d: Difference) -> bool:
        """Return whether too few resamples, or units, keep its p-value above the level."""
        is_drawn = d.test == "ar" and not d.exact
        least = max(is_drawn / (self.n_resamples + 1), self.min_pvalue(d))
        return least * self.factor(d) > self.level and not self.significant(d)

    def is_apart(self, d: Difference) -> bool:
        """Return whether its interval leaves the null value out and its verdict is no evidence."""
        inside = d.low <= d.null <= d.high
        is_open = not self.significant(d) and not self.cannot_reject(d)
        return self.alternative == "two-sided" and is_open and not inside

    def pvalue_name(self, several: bool = True) -> str:
        """Return ``p (max-t)``, the name of the p-value that verdicts are of, or ``p``."""
        return f"p ({self.name})" if several and self.name != "none" else "p"


def is_mixed(records: Iterable[Any]) -> bool:
    """Return whether a total is of several metrics, so that all rows belong together."""
    rows = list(records)
    metrics = {row.metric for row in rows if row.aggregate is None}
    return any(row.metric not in metrics for row in rows)
