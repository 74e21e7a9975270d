"""What figures show of results: marks in panels, which matplotlib draws, or a report in SVG."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evalstats.results import tabular
from evalstats.results.lookup import of_metric
from evalstats.results.records import (
    Difference,
    by_metric,
    contrast_of,
    counted,
    distinct,
    has_tasks,
    is_mixed,
    whole_sizes,
)
from evalstats.results.signatures import part_name

if TYPE_CHECKING:
    from evalstats.analysis.comparison import Comparison
    from evalstats.results.estimates import Estimate


@dataclass(frozen=True)
class Limit:
    """A margin in points, or a recovery, a share of the baseline; of a gate about a loss alone."""

    margin: float | None = None
    recovery: float | None = None
    of_loss: bool = False

    @property
    def label(self) -> str:
        """What a figure says of its dashed lines; nothing where there is no limit."""
        if self.margin is not None:
            of = "a loss of " if self.of_loss else "margin ±"
            return f"dashed: {of}{self.margin:g}"
        return "" if self.recovery is None else f"dashed: {self.recovery:g} of the baseline kept"

    def bounds(self, d: Difference) -> tuple[float, float] | None:
        """Return where the limits are on the axis of the contrast, infinite on a side without one.

        Of a loss it is on the side where the system is worse: below 0 where higher is better.
        `None` where there is no limit, or none that says something of this pair.
        """
        base = d.baseline_score
        if self.margin is not None:
            low, high = -self.margin, self.margin
        elif self.recovery is None or min(base, d.system_score) < 0:
            return None
        else:
            contrast = contrast_of(d.contrast)
            low, high = (contrast.of(x, base) for x in (self.recovery * base, base / self.recovery))
        if self.recovery is not None or self.of_loss:
            return (low, inf) if d.higher_is_better else (-inf, high)
        return low, high


@dataclass(frozen=True)
class Mark:
    """A row of a figure: a value with its interval.

    `kind` is "better", "worse", "open" or "plain"; `wider` an interval around the interval;
    `limits` how far a loss may go, infinite on a side without a limit; `beside` what stands behind
    the name. matplotlib shows `label` where the name is another.
    """

    name: str
    value: float
    low: float
    high: float
    kind: str = "plain"
    is_total: bool = False
    limits: tuple[float, float] | None = None
    wider: tuple[float, float] | None = None
    replicates: Sequence[float] | NDArray[np.float64] = ()
    beside: str = ""
    label: str = ""

    @property
    def ends(self) -> list[float]:
        """The limits that there are."""
        return [x for x in self.limits or () if isfinite(x)]

    def band(self, null: float | None) -> tuple[float, float] | None:
        """Return what lies within the limits, from the null value where a side has none."""
        if self.limits is None:
            return None
        low, high = (x if isfinite(x) else null or 0.0 for x in self.limits)
        return low, high


@dataclass(frozen=True)
class Forest:
    """What is drawn in the rows of a table: marks on one axis, in a cell before the column `at`.

    A row has no mark, one, or one of each of the `series`. `label` says what the axis is, `sides`
    what lies left and right of the null value; an axis of ranks `is_whole`.
    """

    marks: tuple[tuple[Mark, ...], ...]
    at: int
    label: str
    null: float | None = None
    sides: tuple[str, str] | None = None
    is_whole: bool = False
    series: tuple[str, ...] = ()


@dataclass(frozen=True)
class Panel:
    """Marks on one axis, with what stands above and below them.

    A report has `title` and `about`, and folds many rows away under `folded`, counting those of
    other panels of the same (`times`); matplotlib has `heading` and the lines `below`. An axis of
    ranks `is_whole`.
    """

    marks: Sequence[Mark]
    title: str
    about: str
    heading: str = ""
    below: Sequence[str] = ()
    null: float | None = None
    is_whole: bool = False
    folded: str = ""
    times: int = 1


def oriented(comparison: Comparison, found: Iterable[Difference]) -> list[Difference]:
    """Return differences as figures show them: of all pairs the better system first, then by size.

    Against a baseline, and of one-sided tests, they have a direction of their own.
    """
    directed = comparison.baseline is not None or comparison.alternative != "two-sided"
    turned = [d if directed or d.winner != d.baseline else d.turned() for d in found]
    return sorted(turned, key=lambda d: -d.value if d.higher_is_better else d.value)


def metric_groups(records: Sequence[Any], metric: str | None) -> list[list[Any]]:
    """Return the records of each metric, or of one; all where a total is of several."""
    if metric is not None:
        return [of_metric(records, metric)]
    return [list(records)] if is_mixed(records) else list(by_metric(records).values())


def metric_of(rows: Sequence[Any]) -> str:
    """Return the only metric of rows with its direction, or ``scores ↑``."""
    metrics = distinct(row.metric for row in rows if row.aggregate is None)
    shown = metrics[0] if len(metrics) == 1 else "scores" if metrics else rows[0].metric
    return f"{shown} {tabular.direction(rows[0].higher_is_better)}"


def size_of(rows: Sequence[Estimate]) -> str:
    """Return how many tasks there are, or how large the only one is."""
    if has_tasks(rows):
        tasks = {row.task for row in rows if row.aggregate is None}
        return counted(len(tasks), part_name(rows))
    is_one_size = len({row.n_segments for row in rows}) == 1
    one = counted(rows[0].n_segments, rows[0].unit)
    return one if is_one_size else whole_sizes(rows)
