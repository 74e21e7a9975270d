r"""The metric of systems that were run on a part of the items, drawn with known probabilities.

The row of item i is the difference estimator's (Horvitz and Thompson, 1952; Särndal, Swensson and
Wretman, 1992), which Zrnic and Candès (2024) call active inference:

.. math:: \lambda f_i + \frac{\xi_i}{\pi_i} (h_i - \lambda f_i)

with h the statistics of the system, f those that earlier systems let expect, π the probability that
the item is drawn and ξ whether it was. Its sum over the items is unbiased whatever f and λ are. The
systems that were run on all items, as the one that a new one revises, are a second f with its λ.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalstats.designs.judges import bounded_weights, less_mean
from evalstats.errors import Argument, InputError
from evalstats.inference import student
from evalstats.metrics.base import Correction, Floats, Metric, MetricSignature, keep
from evalstats.results.notes import FEW, FEW_GROUPS
from evalstats.results.records import counted, first_few

if TYPE_CHECKING:
    from evalstats.analysis.design import Units
    from evalstats.statistics.segments import SegmentStatistics


@dataclass(frozen=True)
class Planned(Metric):
    """A metric of rows ``(ξ/π, ξ/π·h, (1 - ξ/π)·f, (1 - ξ/π)·g)``; `Plan.data` makes them.

    f are the means of earlier systems, and g those of the systems that were run on all items.

    Parameters
    ----------
    metric : Metric
        What is scored: any metric of sums.
    weight : tuple of float, optional
        λ of f and of g. By default those of the smallest standard error, where systems are scored.
    groups, strata : str
        What the plan drew whole, and within what it drew; "" where that is items, and nothing.
    """

    metric: Metric
    weight: tuple[float, float] | None = None
    groups: str = ""
    strata: str = ""
    name: str = field(init=False)
    higher_is_better: bool = field(init=False)
    columns: tuple[str, ...] = field(init=False)
    reads_text: ClassVar[bool] = False
    undefined: ClassVar[str] = (
        "is not known, since few of {n:,} {units} were run; run {more}, or take method='t' and "
        "test='t'"
    )

    def __post_init__(self) -> None:
        inner = self.metric
        parts = ("run", "expected", "run on all")
        columns = (f"{c} ({of})" for of in parts for c in inner.columns)
        keep(
            self,
            name=inner.name,
            higher_is_better=inner.higher_is_better,
            columns=("weight", *columns),
            bounds=inner.bounds,
        )

    @property
    def signature(self) -> str:
        """Identity: that of the metric, and how items that were not run come in."""
        fixed = "" if self.weight is None else ":" + "+".join(f"{w:.10g}" for w in self.weight)
        return str(MetricSignature.of(self.metric.signature).tagged(f"plan:difference{fixed}"))

    def statistics(self, hypotheses: Any, references: Any = None) -> Floats:
        """Refuse: rows need the plan."""
        raise InputError(f"{self.name} of a part of the items needs their plan; use Plan.data")

    def totals(self, sums: ArrayLike) -> Floats:
        """Return the estimated totals of the metric, `(..., 1 + 3k) -> (..., k)`."""
        run, *each = np.split(np.asarray(sums, np.float64)[..., 1:], 3, axis=-1)
        total = run + sum(w * x for w, x in zip(self._weights, each, strict=True))
        # Counts that were estimated to be negative are none.
        return np.maximum(total, 0.0) if self.metric.counts else total

    def score(self, totals: ArrayLike) -> Floats:
        """Return the score of the estimated totals, `(..., 1 + 3k) -> (...)`."""
        return self.metric.score(self.totals(totals))

    def gradient(self, totals: ArrayLike) -> Floats:
        """Return the gradient of the score, `(..., 1 + 3k)` of the same."""
        slopes = self.metric.gradient(self.totals(totals))
        parts = [weight * slopes for weight in (1.0, *self._weights)]
        return np.concatenate([0 * slopes[..., :1], *parts], axis=-1)

    @property
    def _weights(self) -> tuple[float, float]:
        return (1.0, 0.0) if self.weight is None else self.weight

    def pooled(self, metrics: Sequence[Metric], sizes: Sequence[int]) -> Planned:
        """Return the metric of all segments together, with the mean of the weights of its parts."""
        each = [one._weights for one in metrics if isinstance(one, Planned)]
        first, second = np.average(each, axis=0, weights=sizes).tolist()
        return replace(self, weight=(first, second))

    def labelled(self, statistics: NDArray[Any]) -> NDArray[np.bool_]:
        """Return on which items systems were run, `(..., 1 + 3k) -> (...)`."""
        return np.asarray(statistics[..., 0] > 0)

    def tuned(
        self, table: SegmentStatistics, units: Units, by_stratum: bool
    ) -> tuple[SegmentStatistics, PlanWorth]:
        """Return statistics under the metric with its λ, and what the run items count as.

        λ has the smallest variance of an only system's score, or of the differences of all pairs.
        """
        self._check(table, units, by_stratum)
        rows = table if units.members is None else table.grouped(units.members)
        found = replace(self, weight=self._weights)
        # The slopes of the score hardly depend on λ.
        for _ in range(2 if self.weight is None else 0):
            run, *each = (less_mean(x).ravel() for x in found._influence(rows, units))
            products = [[float(x @ y) for y in each] for x in each]
            weights = bounded_weights([-float(run @ x) for x in each], products)
            found = replace(self, weight=(weights[0], weights[1]))
        worth = found._worth(table, rows, units)
        return replace(table, metric=found, metric_signature=""), worth

    def _check(self, table: SegmentStatistics, units: Units, by_stratum: bool) -> None:
        """Raise where units are parts of what was drawn, or strata others than it was drawn in."""
        drawn, strata = table.labels.get(self.groups), units.segment_strata
        # A domain that was taken apart has no such labels, and units that were checked.
        is_split = bool(drawn) and not _lie_within(drawn or (), units.of_segments)
        if self.groups and (is_split or units.members is None or len(units.sides) > 1):
            raise InputError(
                f"must be the plan's ({self.groups}), or labels each of which has whole ones",
                argument="groups",
            )
        within = table.labels.get(self.strata)
        if strata is None:
            if within is not None:
                raise InputError(
                    "are missing: the plan drew within each of them; give ",
                    Argument("strata", self.strata),
                    argument="strata",
                )
            return
        if within is None or not _lie_within(within, strata):
            drew = f"within each {self.strata}" if self.strata else "from all items together"
            raise InputError(
                f"must be those of the plan, which drew {drew}; give evalstats.plan the strata, or "
                f"leave them out here",
                argument="strata",
            )
        for code, label in enumerate(units.labels) if by_stratum else ():
            n = int(np.min(np.sum(self.labelled(table.values[:, strata == code]), axis=1)))
            if n < 2:
                raise InputError(
                    f"needs at least 2 items of each stratum to be run, and of {label!r} there "
                    f"were {n}; leave it out",
                    argument="aggregate",
                )

    def _influence(self, rows: SegmentStatistics, units: Units) -> list[Floats]:
        """Return what units add to scores by what was run, and is expected at λ = 1, `(S, N)`."""
        slopes = self.metric.gradient(self.totals(rows.totals))
        return [
            student.unbiased(np.einsum("snk,sk->sn", x, slopes), units.sizes, units.codes)
            for x in np.split(rows.values[:, :, 1:].astype(np.float64), 3, axis=-1)
        ]

    def _worth(self, table: SegmentStatistics, rows: SegmentStatistics, units: Units) -> PlanWorth:
        """Return of how many items a score, or difference, would have this variance."""
        run, *each = self._influence(rows, units)
        values = run + sum(w * x for w, x in zip(self._weights, each, strict=True))
        slopes = self.metric.gradient(self.totals(rows.totals))
        added = np.einsum("snk,sk->sn", table.values[:, :, 1 : 1 + slopes.shape[1]], slopes)
        weights, members, n = table.values[:, :, 0], units.of_segments, table.n_segments

        def worth(i: int, j: int | None = None) -> float:
            # What single items add is scaled to all, as if those alone were known.
            single = added[i] if j is None else added[i] - weights[i] * added[j]
            single = single - weights[i] * np.sum(single) / np.sum(weights[i])
            left = float(np.sum((values[i] - (0.0 if j is None else values[j])) ** 2))
            of_units, weight, n_run = (
                np.bincount(members, x, units.n) for x in (single, weights[i], weights[i] > 0)
            )
            known = n_run > 0
            squares = float(np.sum((of_units**2 * n_run)[known] / weight[known]))
            # Where those that were run are alike, they say no less than that.
            most = float(n if squares > 0 else np.sum(n_run))
            return min(n * squares / left, most) if squares * left > 0 else most

        is_run = self.labelled(table.values)
        part, whole = (
            np.flatnonzero(x).tolist() for x in (~is_run.all(axis=1), is_run.all(axis=1))
        )
        n_units = [len(np.unique(members[is_run[i]])) for i in part or whole]
        return PlanWorth(
            metric=self.name,
            n_labelled=int(np.min(np.sum(is_run, axis=1))),
            systems=tuple(table.systems[i] for i in part),
            n_items=n,
            weights=self._weights,
            scores=tuple(map(worth, part)),
            differences=tuple(worth(i, j) for i in part for j in whole),
            n_units=min(n_units),
            unit=units.unit,
            segment=units.segment,
        )


@dataclass(frozen=True)
class PlanWorth(Correction):
    """What systems that were run on a part of the items know of all, under one metric."""

    systems: tuple[str, ...]  # that were run on a part
    n_items: int
    weights: tuple[float, float]
    scores: tuple[float, ...]  # items that would say as much of each system's score
    differences: tuple[float, ...]  # likewise of differences from systems that were run on all
    n_units: int  # that were run, items or groups, the fewest of any system
    unit: str
    segment: str

    def notes(self) -> Iterator[str]:
        """Say on how many items systems were run, and how many they count as."""
        if not self.systems:
            return
        few = FEW if self.unit == self.segment else FEW_GROUPS
        if self.n_units < few:
            yield (
                f"{self.metric}: only {counted(self.n_units, self.unit)} were run: below {few}, "
                f"intervals and p-values are rough; draw more."
            )
        many = len(self.systems) > 1
        known = self.differences or self.scores
        what = "difference" if self.differences else "score"
        what = f"their {what}s count" if many else f"its {what} counts"
        yield (
            f"{self.metric}: {first_few(self.systems, ', ', 3, 'others')} "
            f"{'were' if many else 'was'} run on {self.n_labelled:,} of "
            f"{counted(self.n_items, self.segment)}; "
            f"{what} as {_span(known)} would (difference estimator, λ = "
            f"{self.weights[0]:.2f} of earlier systems, {self.weights[1]:.2f} of those run on all)."
        )


def _lie_within(labels: Sequence[str], codes: NDArray[np.intp]) -> bool:
    """Return whether all that has one label has one code, `(N,)` each."""
    return len(set(zip(labels, codes.tolist(), strict=True))) == len(set(labels))


def _span(values: tuple[float, ...]) -> str:
    low, high = f"{min(values):,.0f}", f"{max(values):,.0f}"
    return low if low == high else f"{low} to {high}"
