"""What is resampled: segments or groups of them, freely or within strata, which may be averaged."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.plan import Plan
from evalstats.checks import listed, real
from evalstats.errors import InputError
from evalstats.metrics.averages import (
    FunctionOfStrata,
    MeanOfRuns,
    MeanOfStrata,
    OfStrata,
    tagged,
)
from evalstats.resampling.strata import places_of
from evalstats.statistics.names import group_codes
from evalstats.statistics.segments import SegmentStatistics

Labels: TypeAlias = "Iterable[Hashable] | None"
Aggregate: TypeAlias = "str | Mapping[Any, float] | Callable[[NDArray[np.float64]], Any]"

AGGREGATES = ("micro", "macro")


@dataclass(frozen=True, eq=False)
class Units:
    """The N units of a resample.

    Attributes
    ----------
    segments : list of SegmentStatistics
        The tables of segments, before they were summed within groups; one a metric.
    sizes : ndarray, shape (N,), or None
        Segments of each group, where there are groups.
    strata : ndarray, shape (N,), or None
        Number of the stratum of each unit, where there are strata.
    segment_strata : ndarray, or None
        The same of each segment.
    """

    segments: list[SegmentStatistics]
    sizes: NDArray[np.int64] | None = None
    strata: NDArray[np.intp] | None = None
    segment_strata: NDArray[np.intp] | None = None

    @property
    def grouped(self) -> bool:
        """Whether units are groups."""
        return self.sizes is not None


def as_units(
    tables: Sequence[SegmentStatistics], groups: Labels, strata: Labels, aggregate: Aggregate
) -> tuple[list[SegmentStatistics], Units]:
    """Return the statistics of what is resampled, and what that is; `aggregate` makes the score."""
    n_segments = tables[0].n_segments
    if strata is None:
        if not isinstance(aggregate, str) or aggregate != "micro":
            raise InputError(f"aggregate={aggregate!r} needs strata: give one label a segment")
        codes = None
        segments = list(tables)
    else:
        codes, labels = _codes(strata, n_segments, "strata")
        segments = [_averaged(table, labels, aggregate) for table in tables]
    if groups is None:
        if codes is not None:
            _check_members(codes, labels, "segment")
        return segments, Units(segments, None, codes, codes)
    members, names = _codes(groups, n_segments, "groups")
    grouped = [table.grouped(members) for table in segments]
    sizes = np.bincount(members)
    if codes is None:
        return grouped, Units(segments, sizes)
    first = np.unique(members, return_index=True)[1]
    apart = np.flatnonzero(codes != codes[first][members])
    if len(apart):
        i = int(apart[0])
        g = int(members[i])
        raise InputError(
            f"each group must lie in one stratum, but group {names[g]!r} is in "
            f"{labels[codes[first[g]]]!r} (segment {first[g]}) and in {labels[codes[i]]!r} "
            f"(segment {i})"
        )
    _check_members(codes[first], labels, "group")
    return grouped, Units(segments, sizes, codes[first], codes)


def check_fits(plan: Plan, tables: Sequence[SegmentStatistics], units: Units) -> None:
    """Refuse options that say nothing of strata, or of runs."""
    if units.strata is not None and (plan.kind, plan.n_draws) != ("multinomial", None):
        raise InputError("weights and n_draws must be left out where strata are given")
    if units.strata is not None and plan.method in ("bca", "studentized"):
        raise InputError(
            f"method {plan.method!r} is that of one sample; where strata are given use 'expanded', "
            f"'percentile', 'basic', 't' or 'hall'"
        )
    with_runs = [isinstance(table.metric, MeanOfRuns) for table in tables]
    if any(with_runs) and not all(with_runs):
        raise InputError("all metrics must have the same runs, got some without")
    if any(with_runs) and plan.method not in ("auto", "t", "hall"):
        raise InputError(
            f"method {plan.method!r} resamples segments and says nothing of other runs; where "
            f"there are several runs of each system use 'auto', 't' or 'hall'"
        )


def check_test(test: str, tables: Sequence[SegmentStatistics]) -> None:
    """Refuse tests that hold the runs of a system to be all that there could be."""
    if test != "studentized" and any(isinstance(table.metric, MeanOfRuns) for table in tables):
        raise InputError(
            f"test {test!r} says nothing of other runs; where there are several runs of each "
            f"system leave test out"
        )


def _codes(labels: Iterable[Hashable], n: int, name: str) -> tuple[NDArray[np.intp], list[Any]]:
    """Return the number of each segment's label, and the labels in order of first appearance."""
    given = listed(labels, name, "labels, one a segment")
    codes = group_codes(given, n, name)
    return codes, list(dict.fromkeys(given))


def _check_members(codes: NDArray[np.intp], labels: list[Any], unit: str) -> None:
    counts = np.bincount(codes)
    if np.any(counts < 2):
        alone = [repr(labels[i]) for i in np.flatnonzero(counts < 2)]
        others = f" and {len(alone) - 3} more" if len(alone) > 3 else ""
        have = "has 1: join it with another" if len(alone) == 1 else "have 1: join them with others"
        raise InputError(
            f"strata: each stratum needs at least 2 {unit}s to say anything about uncertainty; "
            f"{', '.join(alone[:3])}{others} {have}"
        )


def _averaged(
    table: SegmentStatistics, labels: list[Any], aggregate: Aggregate
) -> SegmentStatistics:
    metric: MeanOfStrata | FunctionOfStrata
    if isinstance(aggregate, str) and aggregate == "micro":
        return table
    if isinstance(table.metric, MeanOfRuns):
        raise InputError("aggregate must be 'micro' where there are several runs of each system")
    if isinstance(aggregate, str) and aggregate == "macro":
        metric = MeanOfStrata(table.metric, (1 / len(labels),) * len(labels))
    elif isinstance(aggregate, Mapping):
        weights = _weights(aggregate, labels)
        metric = MeanOfStrata(table.metric, tuple((weights / weights.sum()).tolist()), "weighted")
    elif callable(aggregate):
        metric = FunctionOfStrata(table.metric, len(labels), aggregate, name_of(aggregate))
    else:
        raise InputError(
            f"aggregate must be 'micro', 'macro' or a mapping from strata to weights, or a "
            f"function of their scores, got {aggregate!r}"
        )
    signature = tagged(table.metric_signature, metric.tag)
    return replace(table, metric=metric, metric_signature=signature)


def name_of(function: Callable[..., Any]) -> str:
    """Return what to call a function."""
    name = getattr(function, "__name__", "function")
    return name if name.isidentifier() else "function"


def _weights(given: Mapping[Any, float], labels: list[Any]) -> NDArray[np.float64]:
    for which, some, others in (("lacks", labels, given), ("has unknown", given, labels)):
        odd = [label for label in some if label not in others]
        if odd:
            raise InputError(f"aggregate {which} {odd[0]!r}; it needs a weight for each stratum")
    weights = np.array([real(given[label], f"aggregate[{label!r}]", 0.0) for label in labels])
    if not np.all(weights > 0):
        raise InputError("weights in aggregate must be above 0; leave the segments out instead")
    return weights


class StratumRows:
    """Statistics of segments in the columns of their strata, `(S, N, T k)`, made when asked for.

    They stand for an array, of which all but k in T k columns of a segment are 0: what is kept is
    `(S, N, k)`.
    """

    def __init__(self, values: NDArray[Any], codes: NDArray[np.intp]) -> None:
        self.narrow, self.codes = values, codes
        self.shape = (*values.shape[:2], values.shape[2] * (int(codes.max()) + 1))
        self.dtype = values.dtype

    def __len__(self) -> int:
        return len(self.narrow)

    def __getitem__(self, systems: Any) -> NDArray[Any]:
        """Return the rows of one system, or of several, as an array."""
        narrow = self.narrow[systems]
        n, k = narrow.shape[-2:]
        wide = np.zeros((*narrow.shape[:-1], self.shape[2] // k, k), dtype=self.dtype)
        wide[..., np.arange(n), self.codes, :] = narrow
        return np.asarray(wide.reshape(*narrow.shape[:-1], -1))

    def influence(self, gradient: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return influence values by the gradient of each score, `(S, T k) -> (S, N)`, centred."""
        slopes = gradient.reshape(len(self), -1, self.narrow.shape[2])
        found = np.stack(
            [
                np.einsum("nk,nk->n", rows, slope[self.codes])
                for rows, slope in zip(self.narrow, slopes, strict=True)
            ]
        )
        return np.asarray(found - np.mean(found, axis=1, keepdims=True))

    def totals(self) -> NDArray[np.float64]:
        """Return the sums over segments, `(S, T k)`."""
        sums = [np.sum(self.narrow[:, p], axis=1, dtype=np.float64) for p in places_of(self.codes)]
        return np.stack(sums, axis=1).reshape(len(self), -1)


@dataclass
class StratumScores:
    """Scores of S systems under M metrics from totals of strata, `(R, T, K) -> (R, M S)`."""

    metrics: list[OfStrata]
    n_systems: int

    def __call__(self, totals: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the scores, metric by metric."""
        widths = [self.n_systems * len(metric.columns) for metric in self.metrics]
        found = []
        for metric, block in zip(
            self.metrics, np.split(totals, np.cumsum(widths)[:-1], axis=2), strict=True
        ):
            found.append(metric.score(by_system(block, self.n_systems)))
        return np.concatenate(found, axis=1)


def by_system(totals: NDArray[np.float64], n_systems: int) -> NDArray[np.float64]:
    """Put the totals of all strata of a system side by side, `(R, T, S k) -> (R, S, T k)`."""
    n, n_strata, _ = totals.shape
    apart = totals.reshape(n, n_strata, n_systems, -1).transpose(0, 2, 1, 3)
    return np.asarray(apart.reshape(n, n_systems, -1))
