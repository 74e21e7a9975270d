"""What figures show of results: marks in panels, which matplotlib draws, or a report in SVG."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
    by_pair,
    contrast_of,
    counted,
    distinct,
    has_tasks,
    is_mixed,
    kind_of,
    metric_name,
    oriented,
    ranked,
    size,
    whole_sizes,
)

if TYPE_CHECKING:
    from evalstats.analysis.comparison import Comparison
    from evalstats.results.estimates import Estimate

#: What stands below marks that are open though their intervals leave the null value out.
_APART = "open beside the line: p is adjusted, the interval is not"


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


def size_of(rows: Sequence[Any]) -> str:
    """Return how many tasks there are, or how large the only one is."""
    if has_tasks(rows):
        return counted(len({row.task for row in rows if row.aggregate is None}), "task")
    is_one_size = len({row.n_segments for row in rows}) == 1
    return size(rows[0]) if is_one_size else whole_sizes(rows)


def significance(comparison: Comparison, found: Sequence[Difference]) -> str:
    """Return what is significant: ``p (max-t) ≤ 0.05``."""
    several = any(comparison.adjusted.n_compared(d) > 1 for d in found)
    return f"{comparison.adjusted.pvalue_name(several)} ≤ {comparison.significance_level:g}"


def score_panel(rows: Sequence[Estimate], system: str = "") -> Panel:
    """Return scores with their intervals: a row a system, or of one system a row a task."""
    marks = [
        Mark(
            e.task if system else e.system,
            e.score,
            e.low,
            e.high,
            is_total=e.aggregate is not None,
            replicates=e.replicates,
        )
        for e in rows
    ]
    level = tabular.level(rows[0].confidence_level)
    above = "; above: scores of the resamples" if len(rows[0].replicates) else ""
    title = f"{f'{system}, ' if system else ''}{metric_name(rows[0])}"
    below = [f"{metric_of(rows)}, {level}"]
    heading = f"Scores, {size_of(rows)}"
    return Panel(marks, title, f"{level}{above}", heading, below, folded=title)


def score_panels(estimates: Sequence[Estimate]) -> Iterator[Panel]:
    """Yield a panel a metric with the best system first, or of tasks one a system."""
    for rows in by_metric(estimates).values():
        if has_tasks(rows):
            for system in distinct(e.system for e in rows):
                yield score_panel([e for e in rows if e.system == system], system)
        else:
            yield score_panel(ranked(rows))


def difference_panel(comparison: Comparison, found: Sequence[Difference]) -> Panel:
    """Return differences with their intervals: a row a pair, or of one pair a row a task."""
    c, by_task, first = comparison, has_tasks(found), found[0]
    contrast, limit = contrast_of(c.contrast), Limit(c.margin, c.recovery)
    pairs = [f"{d.system} {contrast.sign} {d.baseline}" for d in found]
    names = [d.task if by_task else d.system for d in found] if by_task or c.baseline else pairs
    marks = [
        Mark(name, d.value, d.low, d.high, kind_of(c, d), d.aggregate is not None, limit.bounds(d))
        for name, d in zip(names, found, strict=True)
    ]
    level = tabular.level(c.confidence_level)
    more = [limit.label] if limit.label else []
    more += [_APART] if any(map(c.adjusted.is_apart, found)) else []
    of = pairs[0] if by_task else f"{contrast.column}s"
    of += f" {contrast.to} {c.baseline}" if c.baseline and not by_task else ""
    heading = of if by_task else f"{of[0].upper()}{of[1:]}"
    rows = found if by_task else [e for e in c.estimates if e.metric == first.metric]
    axis = f"{contrast.column} {contrast.within} {metric_of(found)}, {level}"
    return Panel(
        marks,
        title=metric_name(first),
        about="; ".join([f"{of}, {level}", "filled: significant", *more]),
        heading=f"{heading}, {size_of(rows)}",
        below=[axis, f"filled: {significance(c, found)}", *more],
        null=contrast.null,
        folded=f"{metric_name(first)}: {of}",
    )


def difference_panels(comparison: Comparison) -> Iterator[Panel]:
    """Yield a panel a metric with the largest difference first, or of tasks one a pair."""
    for found in by_metric(comparison.differences).values():
        pairs = by_pair(found)
        if has_tasks(found):
            for rows in pairs.values():
                yield difference_panel(comparison, rows)
        else:
            yield difference_panel(
                comparison, found if len(pairs) == 1 else oriented(comparison, found)
            )
