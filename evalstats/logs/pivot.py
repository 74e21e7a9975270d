"""The one pivot: rows of all systems under one metric become a table, `(S, N, k)`, by item id."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evalstats.checks import shown
from evalstats.errors import InputError
from evalstats.logs.rows import Key, Rows, natural_order
from evalstats.logs.words import ask_direction
from evalstats.metrics import Confusion, Mean, Metric, Ratio
from evalstats.metrics.averages import MeanOfRuns
from evalstats.statistics.segments import SegmentStatistics


class Answered(NamedTuple):
    """The items of one system: its answers to each averaged, or side by side.

    Attributes
    ----------
    ids : tuple of str
        N different ids.
    values : ndarray, shape (N, k)
        NaN where a score is missing.
    labels : mapping of str to tuple of str
    n_runs : int
        Runs side by side in `values`.
    n_gone, n_unscored : int
        Answers whose score is missing; items left out since none of their answers was scored.
    n_answers : tuple of int
        The fewest and the most to an item.
    """

    ids: tuple[str, ...]
    values: NDArray[Any]
    labels: Mapping[str, tuple[str, ...]]
    n_runs: int
    n_gone: int
    n_unscored: int
    n_answers: tuple[int, int]


def answered(rows: Rows, as_runs: bool = False) -> Answered:
    """Return rows by item: several answers to it are averaged, or are runs of the system.

    An answer that was not scored on purpose is left out of the average; an item without any other,
    or one of whose runs it is, is left out as a whole.
    """
    items, gone, values = rows.items, rows.is_gone, rows.values
    n_gone = int(np.sum(gone))
    # Without values of its own an answer counts for nothing; a log of Inspect says so by NaN.
    unscored = np.zeros(len(values), dtype=np.bool_)
    if isinstance(rows.metric, Mean):
        unscored = (values[:, 1] == 0) & ~gone
    ids, labels, n_answers = items.ids, items.labels, (1, 1)
    n_runs, kept = 1, ~unscored
    if len(items.epochs):
        first = np.flatnonzero([i == 0 or ids[i] != ids[i - 1] for i in range(len(ids))])
        counts = np.diff([*first, len(ids)])
        n_answers = (int(counts.min()), int(counts.max()))
        labels = _same_labels(rows, first, counts)
        ids = tuple(ids[i] for i in first)
        if as_runs:
            values, kept = _side_by_side(rows, counts, values), _all_of(kept, first)
            n_runs = n_answers[0]
        else:
            counted = np.where((gone | unscored)[:, None], 0.0, values)
            n_scored = np.add.reduceat(~(gone | unscored), first, dtype=np.int64)
            n_gone_each = np.add.reduceat(gone, first, dtype=np.int64)
            values = np.add.reduceat(counted, first, axis=0) / np.maximum(n_scored, 1)[:, None]
            values[(n_scored == 0) & (n_gone_each > 0)] = np.nan
            kept = (n_scored > 0) | (n_gone_each > 0)
    n_unscored = int(np.sum(~kept))
    if n_unscored:
        places = np.flatnonzero(kept).tolist()
        ids, values = tuple(ids[i] for i in places), values[places]
        labels = {name: tuple(own[i] for i in places) for name, own in labels.items()}
    return Answered(ids, values, labels, n_runs, n_gone, n_unscored, n_answers)


def _side_by_side(rows: Rows, counts: NDArray[Any], values: NDArray[Any]) -> NDArray[Any]:
    """Return the statistics of the runs of each item, `(N, K k)`."""
    epochs = rows.items.epochs
    n = int(counts.min())
    if n < int(counts.max()) or np.any(epochs.reshape(-1, n) != epochs[:n]):
        raise InputError(
            f"{rows.path}, {rows.key}: epochs='runs' needs the same number of answers to every "
            f"item, got {n} to {counts.max()}, or others; average them with epochs='mean'"
        )
    return values.reshape(len(counts), -1)


def _all_of(kept: NDArray[np.bool_], first: NDArray[Any]) -> NDArray[np.bool_]:
    return np.asarray(np.logical_and.reduceat(kept, first))


def _same_labels(
    rows: Rows, first: NDArray[Any], counts: NDArray[Any]
) -> dict[str, tuple[str, ...]]:
    """Return one label an item, which all of its answers must have."""
    found = {}
    for name, own in rows.items.labels.items():
        for start, n in zip(first.tolist(), counts.tolist(), strict=True):
            other = next((v for v in own[start + 1 : start + n] if v != own[start]), None)
            if other is not None:
                raise InputError(
                    f"{rows.path}, {rows.key}: answers to {shown(rows.items.ids[start], 60)} "
                    f"differ in {name!r}: {shown(own[start], 60)} and {shown(other, 60)}"
                )
        found[name] = tuple(own[i] for i in first.tolist())
    return found


@dataclass(frozen=True, eq=False)
class Pivot:
    """Rows of S systems by item.

    Attributes
    ----------
    key : Key
    metric : Metric
    rows : tuple of Rows
        One a system.
    parts : tuple of Answered
        The same, by item.
    """

    key: Key
    metric: Metric
    rows: tuple[Rows, ...]
    parts: tuple[Answered, ...]

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """All N items that any system has, in their natural order."""
        first = self.parts[0].ids
        if all(part.ids == first for part in self.parts):
            return first
        union = list(dict.fromkeys(name for part in self.parts for name in part.ids))
        return tuple(union[i] for i in natural_order(union))

    @cached_property
    def places(self) -> list[NDArray[np.intp]]:
        """Where each system's items are among all, which hold them in the same order."""
        known: dict[str, int] = {}
        if any(part.ids != self.ids for part in self.parts):
            known = {name: i for i, name in enumerate(self.ids)}
        return [
            np.array([known[name] for name in part.ids], dtype=np.intp)
            if part.ids != self.ids
            else np.arange(len(self.ids))
            for part in self.parts
        ]

    @cached_property
    def is_there(self) -> NDArray[np.bool_]:
        """Whether the log of a system has an item at all, `(S, N)`."""
        found = np.zeros((len(self.parts), len(self.ids)), dtype=np.bool_)
        for own, places in zip(found, self.places, strict=True):
            own[places] = True
        return found

    @cached_property
    def is_gone(self) -> NDArray[np.bool_]:
        """Whether an item that a log has lacks its score, `(S, N)`."""
        found = np.zeros((len(self.parts), len(self.ids)), dtype=np.bool_)
        for own, part, places in zip(found, self.parts, self.places, strict=True):
            if part.values.dtype.kind == "f":
                own[places] = np.isnan(part.values).any(axis=1)
        return found

    @cached_property
    def labels(self) -> dict[str, list[str]]:
        """What all systems say of the items, and nobody says otherwise."""
        return {
            name: self._label(name)
            for name in self.parts[0].labels
            if all(name in part.labels for part in self.parts)
        }

    def _label(self, name: str) -> list[str]:
        first = self.parts[0].labels[name]
        if all(part.ids == self.ids and part.labels[name] == first for part in self.parts):
            return list(first)
        found: list[str | None] = [None] * len(self.ids)
        for rows, part, places in zip(self.rows, self.parts, self.places, strict=True):
            own = part.labels[name]
            unlike = [i for i, at in enumerate(places.tolist()) if found[at] not in (None, own[i])]
            if unlike:
                i = unlike[0]
                at = int(places[i])
                other = next(
                    r.system for r, there in zip(self.rows, self.is_there, strict=True) if there[at]
                )
                raise InputError(
                    f"{self.key}: {len(unlike)} of {len(own)} items are not the same: {name} of "
                    f"item {self.ids[at]!r} is {shown(found[at])} for {other} and {shown(own[i])} "
                    f"for {rows.system}"
                )
            for at, value in zip(places.tolist(), own, strict=True):
                found[at] = value
        return [value or "" for value in found]

    def table(self, kept: NDArray[np.bool_] | None = None) -> SegmentStatistics:
        """Return the table of some items, `(N,)`; what is missing is a row of zeros."""
        kept = np.ones(len(self.ids), dtype=np.bool_) if kept is None else kept
        kinds = {part.values.dtype for part in self.parts}
        shape = (len(self.parts), len(self.ids), len(self.metric.columns))
        values = np.zeros(shape, dtype=kinds.pop() if len(kinds) == 1 else np.float64)
        for block, rows, part, places in zip(
            values, self.rows, self.parts, self.places, strict=True
        ):
            block[places] = widened(part.values, rows.metric, self.metric)
        values[self.is_gone] = 0
        at = np.flatnonzero(kept).tolist()
        return SegmentStatistics(
            values if len(at) == len(self.ids) else values[:, at],
            tuple(rows.system for rows in self.rows),
            self.metric,
            segment_ids=tuple(self.ids[i] for i in at),
            labels={name: tuple(own[i] for i in at) for name, own in self.labels.items()},
        )


def pivoted(rows: Sequence[Rows], as_runs: bool = False) -> Pivot:
    """Bring the rows of different systems under one key side by side."""
    parts = tuple(answered(one, as_runs) for one in rows)
    metric = _shared_metric(rows)
    runs = {part.n_runs: one.system for one, part in zip(rows, parts, strict=True)}
    if len(runs) > 1:
        found = ", ".join(f"{n} of {system}" for n, system in runs.items())
        raise InputError(
            f"{rows[0].key}: epochs='runs' needs the same number of answers of all systems, got "
            f"{found}; average them with epochs='mean'"
        )
    n_runs = parts[0].n_runs
    return Pivot(
        rows[0].key, MeanOfRuns(metric, n_runs) if n_runs > 1 else metric, tuple(rows), parts
    )


def _shared_metric(rows: Sequence[Rows]) -> Metric:
    """Return the metric of all systems: with one direction, and the classes of all of them."""
    directed = next((one for one in rows if one.is_directed), None)
    if directed is None:
        raise ask_direction(rows[0].key.metric, rows[0].path)
    metrics = [one.metric for one in rows]
    if isinstance(directed.metric, (Mean, Ratio)):
        higher = directed.metric.higher_is_better
        metrics = [
            one.metric if one.is_directed or not isinstance(one.metric, (Mean, Ratio))
            else replace(one.metric, higher_is_better=higher)
            for one in rows
        ]  # fmt: skip
    metrics = with_same_classes(metrics)
    for one, metric in zip(rows, metrics, strict=True):
        if _identity(metric) != _identity(metrics[0]):
            raise InputError(
                f"{one.key}: the metric of {one.system} is {shown(metric)}, but that of "
                f"{rows[0].system} is {shown(metrics[0])}"
            )
    return metrics[0]


def _identity(metric: Metric) -> tuple[object, ...]:
    return (type(metric), metric.name, metric.signature, metric.columns, metric.higher_is_better)


def with_same_classes(metrics: Sequence[Metric]) -> list[Metric]:
    """Return metrics of labels with the classes of all of them; others as they are.

    A log knows only classes that were gold or predicted in it. Not for macro averages that count
    absent classes as 0, whose score would change.
    """
    known = [metric for metric in metrics if isinstance(metric, Confusion)]
    if len(known) < len(metrics) or len({metric.labels for metric in known}) == 1:
        return list(metrics)
    if any(metric.measure.startswith("macro") and metric.absent == "zero" for metric in known):
        return list(metrics)
    union = {name for metric in known for name in metric.labels}
    if len({type(name) for name in union}) > 1:
        return list(metrics)
    return [replace(metric, labels=tuple(sorted(union))) for metric in known]


def widened(values: NDArray[Any], own: Metric, whole: Metric) -> NDArray[Any]:
    """Return counts of classes `(N, k)` among those of more classes; others as they are."""
    if not (isinstance(own, Confusion) and isinstance(whole, Confusion)):
        return values
    if own.labels == whole.labels or len(own.columns) == len(whole.columns):
        return values
    wider = np.zeros((len(values), len(whole.labels), 3), dtype=values.dtype)
    places = [whole.labels.index(name) for name in own.labels]
    wider[:, places] = values.reshape(len(values), -1, 3)
    return wider.reshape(len(values), -1)
