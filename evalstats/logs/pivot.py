"""The one pivot: rows of all systems under one metric become a table, `(S, N, k)`, by item id."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import compress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evalstats.checks import shown
from evalstats.errors import Argument, InputError
from evalstats.logs.epochs import OfTrials, of_trials
from evalstats.logs.rows import Key, Rows, natural_order
from evalstats.logs.words import ask_direction
from evalstats.metrics import Confusion, Mean, Metric, Ratio
from evalstats.metrics.ratios import MeanOfRuns
from evalstats.statistics.segments import SegmentStatistics


class Answered(NamedTuple):
    """The rows of one system by item: its answers to each averaged, side by side, or counted.

    `values` are `(N, k)`, NaN where a score is missing; `n_answers` has the fewest and the most to
    an item, `n_runs` how many are side by side, `n_unscored` how many items were left out, and
    `repeats` `(N, 3)` how many scored answers each item has, their sum, and that of their squares.
    """

    rows: Rows
    ids: tuple[str, ...]
    values: NDArray[Any]
    labels: Mapping[str, tuple[str, ...]]
    n_answers: tuple[int, int] = (1, 1)
    n_runs: int = 1
    n_unscored: int = 0
    prompts: tuple[str, ...] = ()
    repeats: NDArray[np.float64] | None = None

    def at(self, places: Sequence[int]) -> Answered:
        """Return the items at these places, in this order."""
        labels = {name: tuple(values[i] for i in places) for name, values in self.labels.items()}
        ids = tuple(self.ids[i] for i in places)
        prompts = tuple(self.prompts[i] for i in places) if self.prompts else ()
        at = self._replace(ids=ids, labels=labels, prompts=prompts)
        repeats = None if self.repeats is None else self.repeats[list(places)]
        return at._replace(values=self.values[list(places)], repeats=repeats)


def answered(rows: Rows, epochs: str = "mean") -> Answered:
    """Return rows by item: several answers to it are averaged, or are runs, or are trials.

    An answer that was not scored on purpose is left out of the average; an item without any other,
    or one of whose runs it is, is left out as a whole.
    """
    ids, values, gone = rows.items.ids, rows.values, rows.is_gone
    scored = ~gone
    if isinstance(rows.metric, Mean):
        scored &= values[:, 1] != 0
    by_item = Answered(rows, ids, values, rows.items.labels, prompts=rows.items.prompts)
    kept, trials = scored | gone, of_trials(epochs, rows.metric.name)
    if len(rows.items.epochs):
        first = np.flatnonzero([i == 0 or ids[i] != ids[i - 1] for i in range(len(ids))])
        counts = np.diff([*first, len(ids)])
        _check_same_labels(rows, np.repeat(first, counts).tolist())
        n_answers = (int(counts.min()), int(counts.max()))
        by_item = by_item.at(first.tolist())._replace(n_answers=n_answers)
        if epochs == "runs":
            by_item = by_item._replace(values=_side_by_side(rows, counts), n_runs=n_answers[0])
            kept = np.logical_and.reduceat(kept, first)
        else:
            values, repeats = _averaged(rows, scored, first)
            kept = (repeats[:, 0] > 0) | np.logical_or.reduceat(gone, first)
            by_item = by_item._replace(values=values, repeats=repeats)
    if not np.all(kept):
        by_item = by_item.at(np.flatnonzero(kept).tolist())
        by_item = by_item._replace(n_unscored=int(np.sum(~kept)))
    return by_item if trials is None else _counted(by_item, trials)


def _averaged(
    rows: Rows, scored: NDArray[np.bool_], first: NDArray[np.intp]
) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Return the mean statistics of the scored answers to each item, and `Answered.repeats`.

    Items begin at the places `first`; one without any score is NaN.
    """
    values = np.where(scored[:, None], rows.values, 0.0)
    scores = values[:, 0]
    with np.errstate(over="ignore"):
        repeats = np.stack([scored, scores, scores**2], axis=1, dtype=np.float64)
        repeats = np.add.reduceat(repeats, first, axis=0)
    n_scored = np.add.reduceat(scored, first, dtype=np.int64)
    values = np.add.reduceat(values, first, axis=0) / np.maximum(n_scored, 1)[:, None]
    values[n_scored == 0] = np.nan
    return values, repeats


def _check_outcomes(rows: Sequence[Rows], metric: Metric, epochs: str) -> None:
    """Raise where answers cannot be counted as right or wrong."""
    for one in rows:
        if not isinstance(metric, Mean):
            why = f"{metric.name} is no mean of scores"
        elif not metric.higher_is_better:
            why = f"lower is better of {metric.name}"
        elif not np.all(np.isin(one.values[~one.is_gone][:, 0], (0, 1))):
            why = f"scores of {metric.name} are not all 0 or 1"
        else:
            continue
        raise InputError(
            f"{one.path}, {one.key}: ",
            Argument("epochs", epochs),
            f" counts the answers with a score of 1, but {why}; average them with ",
            Argument("epochs", "mean"),
        )


def _counted(part: Answered, metric: OfTrials) -> Answered:
    """Return items with the statistics of a metric of trials, NaN where no answer has a score."""
    repeats = part.repeats
    if repeats is None:
        there = ~np.isnan(part.values).any(axis=1)
        repeats = np.stack([there, np.where(there, part.values[:, 0], 0.0)], axis=1, dtype=float)
    values = np.full((len(part.ids), len(metric.columns)), np.nan)
    there = repeats[:, 0] > 0
    names = list(compress(part.ids, there.tolist()))
    try:
        values[there] = metric.counted(repeats[there, 0], repeats[there, 1], names)
    except InputError as error:
        raise error.within(f"{part.rows.path}, {part.rows.key}") from None
    return part._replace(values=values, repeats=None)


def _side_by_side(rows: Rows, counts: NDArray[Any]) -> NDArray[Any]:
    """Return the statistics of the runs of each item side by side, `(N K, k) -> (N, K k)`."""
    n, epochs = int(counts.min()), rows.items.epochs
    if n < int(counts.max()) or np.any(epochs.reshape(-1, n) != epochs[:n]):
        raise InputError(
            f"{rows.path}, {rows.key}: ",
            Argument("epochs", "runs"),
            f" needs the same number of answers to every item, got {n} to {counts.max()}, or "
            f"others; average them with ",
            Argument("epochs", "mean"),
        )
    return rows.values.reshape(len(counts), -1)


def _check_same_labels(rows: Rows, of_first: list[int]) -> None:
    """Raise where an answer has other labels than the first to its item.

    `of_first` has the place of that first answer for each of the n answers: ``[0, 0, 0, 3, 3]``.
    """
    for name, values in rows.items.labels.items():
        for i, j in enumerate(of_first):
            if values[i] != values[j]:
                raise InputError(
                    f"{rows.path}, {rows.key}: answers to {shown(rows.items.ids[j], 60)} differ "
                    f"in {name!r}: {shown(values[j], 60)} and {shown(values[i], 60)}"
                )


class Pivot(NamedTuple):
    """Rows of S systems by item.

    `ids` are all N items that any system has, `places` where those of each are among them;
    `is_there` and `is_gone`, `(S, N)`, say whether a system has an item, and whether without score.
    """

    key: Key
    metric: Metric
    parts: tuple[Answered, ...]
    ids: tuple[str, ...]
    places: list[NDArray[np.intp]]
    is_there: NDArray[np.bool_]
    is_gone: NDArray[np.bool_]
    labels: dict[str, list[str]]

    def table(self, kept: NDArray[np.bool_] | None = None) -> SegmentStatistics:
        """Return the table of the items to keep, `(N,)`; one that is missing is a row of zeros."""
        kept = np.ones(len(self.ids), dtype=np.bool_) if kept is None else kept
        is_kept = kept.tolist()
        shape = (len(self.parts), len(self.ids), len(self.metric.columns))
        values = np.zeros(shape, dtype=np.result_type(*(part.values for part in self.parts)))
        for block, part, places in zip(values, self.parts, self.places, strict=True):
            block[places] = _widened(part.values, part.rows.metric, self.metric)
        values[self.is_gone] = 0
        return SegmentStatistics(
            values if np.all(kept) else values[:, kept],
            tuple(part.rows.system for part in self.parts),
            self.metric,
            segment_ids=tuple(compress(self.ids, is_kept)),
            labels={name: tuple(compress(of, is_kept)) for name, of in self.labels.items()},
            repeats=self._repeats(kept),
        )

    def _repeats(self, kept: NDArray[np.bool_]) -> NDArray[np.float64] | None:
        """Return the answers that scores are means of, `(S, N, 3)`, where any item has several."""
        if all(part.repeats is None for part in self.parts) or not isinstance(self.metric, Mean):
            return None
        repeats = np.zeros((len(self.parts), len(self.ids), 3))
        every = [part.repeats for part in self.parts if part.repeats is not None]
        if not all(np.all(np.isfinite(one)) for one in every):
            # Squares of very large scores are no numbers.
            return None
        for block, part, places in zip(repeats, self.parts, self.places, strict=True):
            if part.repeats is None:
                # One answer to each item, scored or not.
                scores = np.where(np.isnan(part.values), 0.0, part.values)
                block[places, :2] = scores[:, ::-1]
                block[places, 2] = np.minimum(np.abs(scores[:, 0]), 1e150) ** 2
            else:
                block[places] = part.repeats
        return repeats[:, kept]


def pivoted(rows: Sequence[Rows], epochs: str = "mean") -> Pivot:
    """Return the rows of several systems under one key side by side."""
    rows = [one.present(of_items=True) for one in rows]
    return _pivot(rows, epochs, _shared_metric(rows))


def pivoted_apart(rows: Sequence[Rows], epochs: str = "mean") -> list[Pivot]:
    """Return the rows of each system under one key alone, all under the same metric.

    What only other systems have in a table is none of its items.
    """
    rows = [one.present(of_items=False) for one in rows]
    metric = _shared_metric(rows)
    return [_pivot([one], epochs, metric) for one in rows]


def _pivot(rows: Sequence[Rows], epochs: str, metric: Metric) -> Pivot:
    key, trials = rows[0].key, of_trials(epochs, metric.name)
    if trials is not None:
        _check_outcomes(rows, metric, epochs)
    parts = tuple(answered(one, epochs) for one in rows)
    metric = metric if trials is None else trials
    runs = {part.n_runs: part.rows.system for part in parts}
    if len(runs) > 1:
        counts = ", ".join(f"{n} of {system}" for n, system in runs.items())
        raise InputError(
            f"{key}: ",
            Argument("epochs", "runs"),
            f" needs the same number of answers of all systems, got {counts}; average them with ",
            Argument("epochs", "mean"),
        )
    if parts[0].n_runs > 1:
        metric = MeanOfRuns(metric, parts[0].n_runs)
    ids, places = items_of(parts)
    is_there, is_gone = np.zeros((2, len(parts), len(ids)), dtype=np.bool_)
    for s, part in enumerate(parts):
        is_there[s, places[s]] = True
        is_gone[s, places[s]] = np.isnan(part.values).any(axis=1)
    return Pivot(key, metric, parts, ids, places, is_there, is_gone, shared_labels(parts))


def items_of(parts: Sequence[Answered]) -> tuple[tuple[str, ...], list[NDArray[np.intp]]]:
    """Return the ids of all systems in their natural order, and the places of those of each system.

    Of ids ("1", "3") and ("1", "2") these are ("1", "2", "3") and places [0, 2] and [0, 1].
    """
    ids = parts[0].ids
    if all(part.ids == ids for part in parts):
        return ids, [np.arange(len(ids))] * len(parts)
    union = list(dict.fromkeys(name for part in parts for name in part.ids))
    ids = tuple(union[i] for i in natural_order(union))
    known = {name: i for i, name in enumerate(ids)}
    return ids, [np.array([known[name] for name in part.ids], dtype=np.intp) for part in parts]


def shared_labels(parts: Sequence[Answered]) -> dict[str, list[str]]:
    """Return the labels that all systems have, of all items: ``{"document": ["d1", "d1", "d2"]}``.

    Raise where two systems have different labels for an item.
    """
    by_item: dict[str, list[str]] = {}
    ids, _ = items_of(parts)
    for name in parts[0].labels:
        if not all(name in part.labels for part in parts):
            continue
        first = parts[0].labels[name]
        if all(part.ids == ids and part.labels[name] == first for part in parts):
            by_item[name] = list(first)
            continue
        known: dict[str, str] = {}
        for part in parts:
            of_item = dict(zip(part.ids, part.labels[name], strict=True))
            unlike = [
                item for item, value in of_item.items() if known.setdefault(item, value) != value
            ]
            if unlike:
                raise InputError(
                    f"{part.rows.key}: {len(unlike)} of {len(of_item)} items are not the same: "
                    f"{name} of item {unlike[0]!r} is {shown(known[unlike[0]])}, but "
                    f"{shown(of_item[unlike[0]])} for {part.rows.system}"
                )
        by_item[name] = [known[item] for item in ids]
    return by_item


def _shared_metric(rows: Sequence[Rows]) -> Metric:
    """Return the one metric of all systems.

    Systems whose direction is not known take that of another, and classes are those of all. Raise
    where no direction is known, or metrics differ.
    """
    directed = next((one for one in rows if one.is_directed), None)
    if directed is None:
        raise ask_direction(rows[0].key.metric, rows[0].path)
    metrics = [one.metric for one in rows]
    for i, metric in enumerate(metrics):
        if not rows[i].is_directed and isinstance(metric, (Mean, Ratio)):
            metrics[i] = replace(metric, higher_is_better=directed.metric.higher_is_better)
    metrics = _with_same_classes(metrics)
    for one, metric in zip(rows, metrics, strict=True):
        if _identity(metric) != _identity(metrics[0]):
            raise InputError(
                f"{one.key}: the metric of {one.system} is {shown(metric)}, but that of "
                f"{rows[0].system} is {shown(metrics[0])}"
            )
    return metrics[0]


def _identity(metric: Metric) -> tuple[object, ...]:
    """Return what metrics must have in common for their scores to be compared."""
    return (type(metric), metric.name, metric.signature, metric.columns, metric.higher_is_better)


def _with_same_classes(metrics: list[Metric]) -> list[Metric]:
    """Return metrics over classes with the classes of all, where these are of one type."""
    known = {metric.labels for metric in metrics if isinstance(metric, Confusion)}
    union = {name for labels in known for name in labels}
    if len(known) < 2 or len({type(name) for name in union}) > 1:
        return metrics
    whole = tuple(sorted(union))
    return [replace(m, labels=whole) if isinstance(m, Confusion) else m for m in metrics]


def _widened(values: NDArray[Any], of: Metric, whole: Metric) -> NDArray[Any]:
    """Return the statistics of `of` `(N, k)` as those of `whole`, which may have more classes.

    Counts of classes that `of` does not have are 0; statistics of other metrics stay as they are.
    """
    if not (isinstance(of, Confusion) and isinstance(whole, Confusion)) or of == whole:
        return values
    wider = np.zeros((len(values), len(whole.labels), 3), dtype=values.dtype)
    wider[:, [whole.labels.index(name) for name in of.labels]] = values.reshape(len(values), -1, 3)
    return wider.reshape(len(values), -1)
