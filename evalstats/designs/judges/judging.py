"""Judges and people: the weight of the judge's scores, and what these are worth in labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.units import Units, drawn_within
from evalstats.checks import shown
from evalstats.designs.judges.judged import Judged
from evalstats.errors import InputError
from evalstats.inference import student
from evalstats.results.notes import FEW, FEW_GROUPS
from evalstats.results.records import counted, plural
from evalstats.statistics.segments import SegmentStatistics

Floats = NDArray[np.float64]
#: A judge that scores labelled segments so differently from others has a note.
_UNLIKE = 0.01
#: Systems whose agreement with people is a note; of more the first ones are told.
_TOLD = 3


@dataclass(frozen=True)
class Worth:
    """What the judge of one metric is worth, and how far it agrees with people.

    Standard errors are those of `systems`, in their order.
    """

    metric: str
    systems: tuple[str, ...]
    n_labelled: int  # segments, the mean of the systems
    n_segments: int
    weight: float
    n_worth: float  # labels without a judge that would say as much
    bias: tuple[tuple[float, float, float], ...]  # of each system, with its 95 % interval
    correlation: tuple[tuple[float, float, float], ...]
    unlike: float  # the smallest p-value of the judge's scores being alike, Bonferroni's
    n_units: int  # labelled segments, or groups with some, the fewest of any system
    unit: str

    def notes(self) -> Iterator[str]:
        """Say what the labels count as, how judge and people agree, and what is assumed."""
        what = "the difference" if len(self.systems) == 2 else "differences"
        what = "the score" if len(self.systems) == 1 else what
        few = FEW if self.unit == "segment" else FEW_GROUPS
        if self.n_units < few:
            yield (
                f"{self.metric}: only {counted(self.n_units, f'labelled {self.unit}')}: below "
                f"{few}, intervals and p-values are rough; label more."
            )
        yield (
            f"{self.metric}: people's labels of {self.n_labelled:,} of {self.n_segments:,} "
            f"segments correct the judge's of all (prediction-powered, λ = {self.weight:.2f}): for "
            f"{what} they count as {self.n_worth:,.0f} labels would without the judge."
        )
        each = [
            f"{name} correlation {_with_interval(r, False)}, bias {_with_interval(b, True)}"
            for name, r, b in zip(self.systems[:_TOLD], self.correlation, self.bias, strict=False)
        ]
        more = len(self.systems) - _TOLD
        rest = f"; and {counted(more, 'system')} more" if more > 0 else ""
        yield f"{self.metric}, judge against people: {'; '.join(each)}{rest}."
        if self.unlike <= _UNLIKE:
            yield (
                f"{self.metric}: the judge scores labelled segments differently from others "
                f"(p = {self.unlike:.2g}), and intervals hold only where labelled segments are a "
                f"random sample."
            )
        else:
            yield (
                f"{self.metric}: labelled segments have to be a random sample of all; the judge "
                f"scores them like the others (p = {self.unlike:.2g})."
            )


def tuned(
    table: SegmentStatistics, units: Units, by_stratum: bool = False
) -> tuple[SegmentStatistics, Worth | None]:
    """Return statistics whose judge has its weight, and what it is worth; others as they are.

    Where each stratum has a score of its own (`by_stratum`), each needs labels.

    The weight is that of the smallest variance of the score of an only system, and otherwise of the
    differences of all pairs together.
    """
    metric = table.metric
    if not isinstance(metric, Judged):
        return table, None
    rows = table if units.members is None else table.grouped(units.members)
    parts = metric.parts(rows.values)
    people, there, elsewhere = (
        student.influence_values(metric.metric, parts[:, :, i]) for i in range(3)
    )
    if not all(np.all(np.isfinite(x)) for x in (people, there, elsewhere)):
        raise InputError(
            f"{metric.name} of the labelled segments, or of the others, has no finite gradient; "
            f"label more segments"
        )
    if by_stratum:
        _check_strata(table, units)
    n_units = int(np.min(np.sum(rows.values[:, :, 0] > 0, axis=1)))
    if n_units < 2:
        raise InputError(
            f"people's labels under {metric.name} must be those of at least 2 {plural(units.unit)} "
            f"of each system, got {n_units}; label more"
        )
    n_labelled = float(np.mean(np.sum(table.values[:, :, 0], axis=1)))
    weight = metric.weight
    if weight is None:
        whole = student.influence_values(metric.metric, parts[:, :, 1] + parts[:, :, 2])
        weight = _best_weight(people, there, whole, n_labelled / table.n_segments)
    of_people, corrected = (
        student.unbiased(_apart(values), units.sizes, units.codes)
        for values in (people, people + weight * (elsewhere - there))
    )
    alone, left = float(np.sum(of_people**2)), float(np.sum(corrected**2))
    worth = Worth(
        metric=metric.name,
        systems=table.systems,
        n_labelled=round(n_labelled),
        n_segments=table.n_segments,
        weight=weight,
        n_worth=n_labelled * alone / left if left > 0 else n_labelled,
        bias=tuple(_bias(metric, rows, units, there - people)),
        correlation=tuple(
            _correlation(h, f, rows.values[i, :, 0] > 0, units)
            for i, (h, f) in enumerate(zip(people, there, strict=True))
        ),
        unlike=_unlike(metric, rows, units, there - elsewhere),
        n_units=n_units,
        unit=units.unit,
    )
    return replace(table, metric=replace(metric, weight=weight), metric_signature=""), worth


def _check_strata(table: SegmentStatistics, units: Units) -> None:
    """Raise where a stratum has no labels of a system, or nothing else."""
    for code, label in enumerate(units.labels):
        labelled = table.values[:, units.segment_strata == code, 0] > 0
        for system, n in zip(table.systems, np.sum(labelled, axis=1), strict=True):
            if not 2 <= n < labelled.shape[1]:
                raise InputError(
                    f"people's labels under {table.metric.name} must be those of at least 2 "
                    f"segments, and not of all, in each stratum that has a score; {shown(label)} "
                    f"has {n:,} of {labelled.shape[1]:,} of {system!r}"
                )


def _best_weight(people: Floats, there: Floats, whole: Floats, share: float) -> float:
    """Return λ of influence values of people, of the judge there, and of it everywhere, `(S, N)`.

    Cov(h, f)/((1 + n/N)·Var(f)) of n labelled segments and N others, from 0 to 1 (Angelopoulos,
    Duchi and Zrnic, 2023); `share` is n/(n + N).
    """
    people, there, whole = map(_apart, (people, there, whole))
    variance = float(np.sum(whole**2)) / (share * (1 - share))
    best = float(np.sum(people * there)) / variance if variance > 0 else 0.0
    return min(max(best, 0.0), 1.0)


def _apart(influence: Floats) -> Floats:
    """Return what distinguishes systems, `(S, N)`: values less their mean; of one, the values."""
    return influence if len(influence) == 1 else influence - np.mean(influence, axis=0)


def within_labels(units: Units, tables: Sequence[SegmentStatistics]) -> Units:
    """Return units that are drawn within labelled and others, where each is one of the two.

    Systems may have labels of other segments: a stratum is then a pattern of systems.
    """
    labelled = [t.values[:, :, 0] > 0 for t in tables if isinstance(t.metric, Judged)]
    if not labelled:
        return units
    patterns = np.concatenate(labelled).T
    strata = units.segment_strata
    keys = patterns if strata is None else np.column_stack([patterns, strata])
    codes = np.unique(keys, axis=0, return_inverse=True)[1].ravel()
    if units.members is not None:
        first = np.unique(units.members, return_index=True)[1]
        if np.any(codes != codes[first][units.members]):
            # Groups of labelled and other segments are drawn as they are.
            return units
        codes = codes[first]
    return replace(units, codes=drawn_within(codes))


def _bias(
    metric: Judged, rows: SegmentStatistics, units: Units, influence: Floats
) -> Iterator[tuple[float, float, float]]:
    """Yield the judge's score less people's, of labelled segments, with its 95 % t interval."""
    people, there, _ = np.moveaxis(metric.metric.score(metric.parts(rows.totals)), -1, 0)
    for value, values in zip(there - people, influence, strict=True):
        error, _, degrees = units.spread(values)
        yield float(value), *student.interval(float(value), error, degrees, 0.05)


def _correlation(
    people: Floats, judge: Floats, both: NDArray[np.bool_], units: Units
) -> tuple[float, float, float]:
    """Return Pearson's correlation of what labelled units add to both scores, with its interval.

    By Fisher's transformation (1921) and the delta method, whatever the units are.
    """
    if np.count_nonzero(both) < 3:
        return np.nan, -1.0, 1.0
    x, y = people[both] - people[both].mean(), judge[both] - judge[both].mean()
    scale = np.sqrt(np.sum(x**2) * np.sum(y**2))
    if not scale > 0:
        return np.nan, -1.0, 1.0
    r = float(np.clip(np.sum(x * y) / scale, -1, 1))
    influence = np.zeros(len(people))
    influence[both] = x * y / scale - r * (x**2 / np.sum(x**2) + y**2 / np.sum(y**2)) / 2
    error, _, degrees = units.spread(influence)
    if abs(r) == 1 or not error > 0:
        return r, r, r
    low, high = student.interval(np.arctanh(r), error / (1 - r**2), degrees, 0.05)
    return r, float(np.tanh(low)), float(np.tanh(high))


def _unlike(metric: Judged, rows: SegmentStatistics, units: Units, influence: Floats) -> float:
    """Return the p-value of a judge that scores labelled segments as it does others."""
    _, there, elsewhere = np.moveaxis(metric.metric.score(metric.parts(rows.totals)), -1, 0)
    pvalues = []
    for value, values in zip(there - elsewhere, influence, strict=True):
        error, _, degrees = units.spread(values)
        pvalues.append(student.pvalue(float(value), error, degrees))
    return min(1.0, len(pvalues) * min(pvalues))


def _with_interval(numbers: tuple[float, float, float], sign: bool) -> str:
    """Return ``0.61 [0.47, 0.72]``."""
    value, low, high = (f"{x:+.2f}" if sign else f"{x:.2f}" for x in numbers)
    return f"{value} [{low}, {high}]"
