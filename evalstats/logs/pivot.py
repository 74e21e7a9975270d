"""The pivot: rows of all systems for one metric become a table, `(S, N, k)`, by item id.

Several answers to an item become their mean, runs of the system, or trials of a metric.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, compress, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.design import Called, label_codes
from evalstats.checks import listed, shown
from evalstats.designs.trials.metrics import EPOCHS, Trials, trials_named
from evalstats.errors import Argument, InputError
from evalstats.inference.student import mean_squares
from evalstats.logs.rows import ITEM, TARGET, Items, Key, Rows, natural_order
from evalstats.metrics import Confusion, Mean, Metric, Ratio
from evalstats.metrics.ratios import MeanOfRuns
from evalstats.results.records import counted, only
from evalstats.statistics.guards import may_be_of_wholes
from evalstats.statistics.segments import SegmentStatistics, check_count

#: Names in a log for one score made from all answers to an item.
_REDUCED = re.compile(r"median|mode|max|(at_least|pass_at|pass_k)_\d+")
#: Tolerance of the score of a successful trial around 1.
_NEAR = 1e-6


def epochs_of(given: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return the ways to treat several answers, each a metric; empty for None."""
    if given is None:
        return ()
    ways = (given,) if isinstance(given, str) else tuple(listed(given, "epochs", "words"))
    for way in ways:
        as_trials(way)
    if len(ways) > 1 and (len(set(ways)) < len(ways) or "runs" in ways):
        raise InputError(
            "must be one way to count answers, or several different ways that do not include "
            f"'runs', got {', '.join(ways)}",
            argument="epochs",
        )
    return ways


def usual_epochs(rows: Sequence[Rows]) -> tuple[str, str]:
    """Return the default for answers of these systems, "runs" or "mean".

    They are runs if columns number runs, and every item of every table has the same number of them;
    otherwise the second text is the reason why runs are averaged.
    """
    rows = [one.without_absent(keep_items=True) for one in rows]
    if not any(one.items.are_runs and len(one.items.epochs) for one in rows):
        return "mean", ""
    counts = {n_runs(one) if one.items.are_runs else 1 for one in rows}
    if None in counts:
        return "mean", "not every item has every run"
    if len(counts) > 1:
        numbers = ", ".join(map(str, sorted(filter(None, counts))))
        return "mean", f"systems and tasks have different numbers of runs: {numbers}"
    if any(np.any(one.is_gone) for one in rows):
        return "mean", "some have no score"
    return "runs", ""


def n_runs(rows: Rows) -> int | None:
    """Return the number of answers per item; None if items have different ones."""
    numbers = rows.items.epochs
    if not len(numbers):
        return 1
    n, *others = set(Counter(rows.items.ids).values())
    return None if others or np.any(numbers.reshape(-1, n) != numbers[:n]) else n


def epochs_differ(rows: Rows) -> float:
    """Return the p-value of the F test that means of epochs are equal.

    From items with a score in every epoch, in a two-way analysis of items and epochs; 1 without
    such items.
    """
    numbers, there = rows.items.epochs, ~rows.is_gone
    if not len(numbers) or not isinstance(rows.metric, Mean):
        return 1.0
    there &= rows.values[:, 1] != 0
    items, places = np.unique(rows.items.ids, return_inverse=True)
    epochs, columns = np.unique(numbers, return_inverse=True)
    if len(items) * len(epochs) > 4 * len(numbers):
        return 1.0
    scores = np.full((len(epochs), len(items)), np.nan)
    scores[columns[there], places[there]] = rows.values[there, 0]
    scores = scores[:, ~np.isnan(scores).any(axis=0)]
    n_epochs, n = scores.shape
    if n < 2 or n_epochs < 2:
        return 1.0
    means = np.mean(scores, axis=1, keepdims=True)
    between, within = mean_squares(means[:, 0], (scores - means) / n)
    if not within > 0:
        return 0.0 if between > 0 else 1.0
    from scipy.special import fdtrc

    return float(fdtrc(n_epochs - 1, (n_epochs - 1) * (n - 1), between / within))


def as_trials(epochs: object, score: str = "") -> Trials | None:
    """Return the metric of trials, named after the score: "acc pass^4".

    `None` for "mean" and "runs".
    """
    if epochs in ("mean", "runs"):
        return None
    if (metric := trials_named(epochs, score)) is not None:
        return metric
    raise InputError(
        f"must be one of {', '.join(EPOCHS)} (with a number for K, such as pass^4), got "
        f"{shown(epochs, 60)}",
        argument="epochs",
    )


class ItemScores(NamedTuple):
    """The rows of one system by item: answers to an item are averaged, side by side, or counted.

    `values` are `(N, k)`, NaN if a score is missing; `n_answers` are the fewest and the most
    answers to an item, `n_runs` the number side by side, `n_unscored` the number of items left out,
    and `repeats` `(N, 3)` the number of scored answers of each item, their sum, and the sum of
    their squares.
    """

    rows: Rows
    items: Items
    values: NDArray[Any]
    n_answers: tuple[int, int] = (1, 1)
    n_runs: int = 1
    n_unscored: int = 0
    repeats: NDArray[np.float64] | None = None

    def failure(self, metric: Metric) -> NDArray[Any]:
        """Return the statistics of an item to which all answers of the system are wrong."""
        if isinstance(metric, Trials):
            row: NDArray[Any] = metric.counted([max(self.n_answers)], [0])[0]
            return row
        return np.tile((0.0, 1.0), self.n_runs)


def item_scores(rows: Rows, epochs: str = "mean") -> ItemScores:
    """Return rows by item: several answers to it are averaged, or are runs, or are trials.

    A deliberately unscored answer is left out of the average; an item is left out if it has no
    other answer, or if one of its runs is unscored.
    """
    ids, gone = rows.items.ids, rows.is_gone
    scored = ~gone
    if isinstance(rows.metric, Mean):
        scored &= rows.values[:, 1] != 0
    items = ItemScores(rows, rows.items, rows.values)
    kept = scored | gone
    if len(rows.items.epochs):
        first = np.flatnonzero([i == 0 or ids[i] != ids[i - 1] for i in range(len(ids))])
        counts = np.diff([*first, len(ids)])
        for name, labels in rows.items.labels.items():
            for i, j in enumerate(np.repeat(first, counts).tolist()):
                if labels[i] != labels[j]:
                    raise InputError(
                        f"{rows.path}, {rows.key}: answers to {shown(ids[j], 60)} differ in "
                        f"{name!r}: {shown(labels[j], 60)} and {shown(labels[i], 60)}"
                    )
        n, most = int(counts.min()), int(counts.max())
        firsts = rows.items.at(first.tolist(), are_alone=True)
        items = items._replace(items=firsts, n_answers=(n, most))
        if epochs == "runs":
            if n_runs(rows) is None:
                raise InputError(
                    f"{rows.path}, {rows.key}: ",
                    Argument("epochs", "runs"),
                    " requires the same answers (numbers and runs) for every item, but there "
                    f"are {n} to {most}; average them with ",
                    Argument("epochs", "mean"),
                )
            # The runs of each item side by side, (N K, k) -> (N, K k).
            items = items._replace(values=rows.values.reshape(len(counts), -1), n_runs=n)
            kept = np.logical_and.reduceat(kept, first)
        else:
            # The mean of the scored answers to each item; without any it is NaN.
            values = np.where(scored[:, None], rows.values, 0.0)
            with np.errstate(over="ignore"):
                powers = [scored, values[:, 0], values[:, 0] ** 2]
                repeats = np.add.reduceat(np.stack(powers, axis=1, dtype=float), first, axis=0)
            n_scored = repeats[:, 0]
            values = np.add.reduceat(values, first, axis=0) / np.maximum(n_scored, 1)[:, None]
            values[n_scored == 0] = np.nan
            kept = (repeats[:, 0] > 0) | np.logical_or.reduceat(gone, first)
            items = items._replace(values=values, repeats=repeats)
    if not np.all(kept):
        items = items._replace(
            items=items.items.at(np.flatnonzero(kept).tolist()),
            values=items.values[kept],
            repeats=None if items.repeats is None else items.repeats[kept],
            n_unscored=int(np.sum(~kept)),
        )
    trials = as_trials(epochs, rows.metric.name)
    return items if trials is None else _counted(items, trials)


def _counted(items: ItemScores, metric: Trials) -> ItemScores:
    """Return items with the statistics of a metric of trials, NaN if no answer has a score."""
    repeats = items.repeats
    if repeats is None:
        there = ~np.isnan(items.values).any(axis=1)
        repeats = np.stack([there, np.where(there, items.values[:, 0], 0.0)], axis=1, dtype=float)
    ids, there = items.items.ids, repeats[:, 0] > 0
    values, names = np.full((len(ids), len(metric.columns)), np.nan), list(compress(ids, there))
    try:
        values[there] = metric.counted(repeats[there, 0], repeats[there, 1], names)
    except InputError as error:
        short = ids[int(np.flatnonzero(repeats[:, 0] < metric.fewest)[0])]
        of_item = np.array([name == short for name in items.rows.items.ids])
        advice = ". If a trial crashed, keep its row without a score in the file and pass "
        if n_gone := int(np.sum(of_item & items.rows.is_gone)):
            advice = f". To count {counted(n_gone, 'trial')} without a score as failed, pass "
        where = f"{items.rows.path}, {items.rows.key}: "
        raise InputError(where, *error.parts, advice, Argument("missing", "failure")) from None
    return items._replace(values=values, repeats=None)


class Pivot(NamedTuple):
    """Rows of S systems by item.

    `ids` are all N items that any system has, `places` the places of each system's items among
    them; `is_there` and `is_gone`, `(S, N)`, are whether a system has an item, and whether it lacks
    a score.
    """

    key: Key
    metric: Metric
    parts: tuple[ItemScores, ...]
    ids: tuple[str, ...]
    places: list[NDArray[np.intp]]
    is_there: NDArray[np.bool_]
    is_gone: NDArray[np.bool_]
    labels: dict[str, list[str]]

    def table(
        self, kept: NDArray[np.bool_] | None = None, is_failed: NDArray[np.bool_] | None = None
    ) -> SegmentStatistics:
        """Return the table of the items to keep, `(N,)`; a missing item is a row of zeros.

        In items in `is_failed` `(S, N)` all answers have failed.
        """
        kept = np.ones(len(self.ids), dtype=np.bool_) if kept is None else kept
        is_kept = kept.tolist()
        shape = (len(self.parts), len(self.ids), len(self.metric.columns))
        values = np.zeros(shape, dtype=np.result_type(*(part.values for part in self.parts)))
        for block, part, places in zip(values, self.parts, self.places, strict=True):
            rows, narrow, whole = part.values, part.rows.metric, self.metric
            if isinstance(narrow, Confusion) and isinstance(whole, Confusion) and narrow != whole:
                # Counts are 0 for classes that only other systems have.
                wider = np.zeros((len(rows), len(whole.labels), 3), dtype=rows.dtype)
                columns = [whole.labels.index(name) for name in narrow.labels]
                wider[:, columns] = rows.reshape(len(rows), -1, 3)
                rows = wider.reshape(len(rows), -1)
            block[places] = rows
        values[self.is_gone] = 0
        is_failed = np.zeros_like(self.is_there) if is_failed is None else is_failed
        for block, part, failed in zip(values, self.parts, is_failed, strict=True):
            if np.any(failed):
                block[failed] = part.failure(self.metric)
        return SegmentStatistics(
            values if np.all(kept) else values[:, kept],
            tuple(part.rows.system for part in self.parts),
            self.metric,
            segment_ids=tuple(compress(self.ids, is_kept)),
            labels={name: tuple(compress(cells, is_kept)) for name, cells in self.labels.items()},
            repeats=self._repeats(kept, is_failed),
            unit=self.called[0],
            part=self.called[1],
        )

    @property
    def called(self) -> Called:
        """The names of an item and of a task, if the logs of all systems agree."""
        words = zip(*(part.rows.called for part in self.parts), strict=True)
        unit, part = map(only, words, ("item", "task"))
        return unit, part

    def labelled(self, name: str, labels: Sequence[Hashable], argument: str) -> Pivot:
        """Return the same with one more label with this name, given by place.

        If ids are numbers, they are line numbers of the labels, from 1, or from 0 if an id is "0".
        Otherwise labels follow the order of the items, if it is the order of their names for all
        systems.
        """
        label_codes(labels, len(labels), argument)
        names = [str(name).replace("\t", "/") for name in labels]
        numbers = [int(x) for x in self.ids if x.isdecimal() and len(x) < 16]
        first = 0 if 0 in numbers else 1
        are_lines = len(numbers) == len(self.ids) and max(numbers) - first < len(names)
        has_heading = len(names) == len(self.ids) + 1 and names.count(names[0]) == 1
        if are_lines and not (has_heading and max(numbers) - first == len(names) - 2):
            names = [names[i - first] for i in numbers]
        elif len(names) != len(self.ids):
            check_count(names, argument, "label", len(self.ids), self.called[0])
        elif any(np.any(np.diff(part.rows.items.order) < 0) for part in self.parts):
            raise InputError(
                f"is a list of labels, but items have names ({shown(self.ids[0])}), and their "
                f"order in {self.parts[0].rows.path or 'the log'} is different. Pass the name of "
                "a label, such as a column.",
                argument=argument,
            )
        return self._replace(labels={**self.labels, name: names})

    def _repeats(
        self, kept: NDArray[np.bool_], is_failed: NDArray[np.bool_]
    ) -> NDArray[np.float64] | None:
        """Return sums of the answers behind means, `(S, N, 3)`, if any item has several."""
        if not isinstance(self.metric, Mean) or all(part.repeats is None for part in self.parts):
            return None
        repeats = np.zeros((len(self.parts), len(self.ids), 3))
        for block, part, places in zip(repeats, self.parts, self.places, strict=True):
            if part.repeats is None:
                # One answer to each item, scored or not.
                scores = np.where(np.isnan(part.values), 0.0, part.values)
                block[places, :2] = scores[:, ::-1]
                block[places, 2] = np.minimum(np.abs(scores[:, 0]), 1e150) ** 2
            else:
                block[places] = part.repeats
        repeats[..., 0] += is_failed * np.array([[max(part.n_answers)] for part in self.parts])
        # Squares of very large scores overflow.
        return repeats[:, kept] if np.all(np.isfinite(repeats)) else None


def _rounded(values: NDArray[Any]) -> NDArray[Any]:
    """Return numbers, rounded if within 1e-6 of a whole number, as in tau-bench."""
    whole = np.round(values)
    return np.where(np.abs(values - whole) <= _NEAR, whole, values)


def pivoted(rows: Sequence[Rows], epochs: str | None = None, metric: Metric | None = None) -> Pivot:
    """Return the rows of several systems with one key side by side.

    Without `epochs`, `usual_epochs` is used. `metric` is the metric of all systems, if there are
    others.
    """
    rows = [one.without_absent(keep_items=True) for one in rows]
    metric = _shared_metric(rows) if metric is None else metric
    for one in rows if epochs not in (None, "mean") else ():
        if _REDUCED.fullmatch(one.key.filter):
            raise InputError(
                (
                    f"{one.path}, {one.key} has only one score for several answers; to use the "
                    "individual answers, pass "
                ),
                Argument("filter", "mean"),
            )
    epochs = usual_epochs(rows)[0] if epochs is None else epochs
    key, trials, why = rows[0].key, as_trials(epochs, metric.name), ""
    for one in rows if trials is not None else ():
        if not isinstance(metric, Mean):
            why = f"{metric.name} is not a mean of scores"
        elif not metric.higher_is_better:
            why = f"lower is better for {metric.name}"
        elif not np.all(np.isin(_rounded(one.values[~one.is_gone][:, 0]), (0, 1))):
            why = f"scores of {metric.name} are not all 0 or 1"
        if why:
            raise InputError(
                f"{one.path}, {one.key}: ",
                Argument("epochs", epochs),
                f" counts the answers with a score of 1, but {why}; average them with ",
                Argument("epochs", "mean"),
            )
    if trials is not None:
        rows = [replace(one, values=_rounded(one.values)) for one in rows]
    parts = tuple(item_scores(one, epochs) for one in rows)
    metric = metric if trials is None else trials
    runs = {part.n_runs: part.rows.system for part in parts}
    if len(runs) > 1:
        counts = ", ".join(f"{n} of {system}" for n, system in runs.items())
        raise InputError(
            f"{key}: ",
            Argument("epochs", "runs"),
            f" requires the same number of answers for all systems, got {counts}; average them "
            "with ",
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


def pivots_of(
    rows_of: Mapping[Key, Sequence[Rows]], epochs: Sequence[str], paired: bool
) -> list[dict[Key, Pivot]]:
    """Return the pivots of all systems by key, or of each one if they are not paired.

    Each of several `epochs` is a metric: the metric of a key is then "reward pass^4".
    """
    _check_directed(rows_of.values())
    # Items that only other systems have in a table are not a system's items.
    alone = {
        key: [one.without_absent(keep_items=False) for one in rows]
        for key, rows in (() if paired else rows_of.items())
    }
    metrics = {key: _shared_metric(rows) for key, rows in alone.items()}
    n_sides = 1 if paired else len(next(iter(alone.values())))
    sides: list[dict[Key, Pivot]] = [{} for _ in range(n_sides)]
    for way, key in product(epochs, rows_of):
        for i, side in enumerate(sides):
            of_side = (rows_of[key],) if paired else ([alone[key][i]],)
            pivot = pivoted(*of_side, way, metrics.get(key))
            side[key if len(epochs) == 1 else key._replace(metric=pivot.metric.name)] = pivot
    return sides


def items_of(parts: Sequence[ItemScores]) -> tuple[tuple[str, ...], list[NDArray[np.intp]]]:
    """Return the ids of all systems in natural order, and the places of each system's ids.

    For ids ("1", "3") and ("1", "2") the result is ("1", "2", "3") and places [0, 2] and [0, 1].
    """
    columns = [part.items.ids for part in parts]
    if all(ids == columns[0] for ids in columns):
        return columns[0], [np.arange(len(columns[0]))] * len(parts)
    union = list(dict.fromkeys(chain.from_iterable(columns)))
    known = {union[i]: place for place, i in enumerate(natural_order(union))}
    return tuple(known), [np.array([known[name] for name in ids], np.intp) for ids in columns]


def shared_labels(parts: Sequence[ItemScores]) -> dict[str, list[str]]:
    """Return the labels that all systems have, of all items: ``{"document": ["d1", "d1", "d2"]}``.

    Raise if two systems have different labels for an item.
    """
    by_item: dict[str, list[str]] = {}
    ids, _ = items_of(parts)
    for name, first in parts[0].items.labels.items():
        if not all(name in part.items.labels for part in parts):
            continue
        if all(part.items.ids == ids and part.items.labels[name] == first for part in parts):
            by_item[name] = list(first)
            continue
        known: dict[str, str] = {}
        for part in parts:
            of_item = dict(zip(part.items.ids, part.items.labels[name], strict=True))
            unlike = [
                item for item, value in of_item.items() if known.setdefault(item, value) != value
            ]
            if unlike and may_be_of_wholes(name):
                known.clear()
                break
            if unlike and not (name == ITEM and _have_other_prompts(parts)):
                raise InputError(
                    f"{part.rows.key}: {len(unlike)} of {len(of_item)} items differ: {name} of "
                    f"item {unlike[0]!r} is {shown(known[unlike[0]])}, but "
                    f"{shown(of_item[unlike[0]])} for {part.rows.system}"
                )
        if known:
            by_item[name] = [known[item] for item in ids]
    return by_item


def _have_other_prompts(parts: Sequence[ItemScores]) -> bool:
    """Return whether items with different questions are the same, with different prompts.

    True if expected answers are equal, a system's prompts differ for all items or for none, and no
    two items have the same question, which would suggest another order.
    """
    targets: dict[str, str] = {}
    asked: dict[str, set[str]] = {}
    for items in (part.items for part in parts):
        hashes = dict(zip(items.ids, items.labels[ITEM], strict=True))
        wanted = dict(zip(items.ids, items.labels.get(TARGET, ()), strict=False))
        are_known = {hashed in asked[item] for item, hashed in hashes.items() if item in asked}
        if len(are_known) > 1 or any(targets.setdefault(i, x) != x for i, x in wanted.items()):
            return False
        for item, hashed in hashes.items():
            asked.setdefault(item, set()).add(hashed)
    every = [hashed for hashes in asked.values() for hashed in hashes]
    return (
        len(set(every)) == len(every) and targets.keys() == asked.keys() and all(targets.values())
    )


def _check_directed(rows: Iterable[Sequence[Rows]]) -> None:
    """Raise if the direction of some metrics is unknown; their rows are given by metric."""
    unknown = [same for same in rows if not any(one.is_directed for one in same)]
    if unknown:
        names = dict.fromkeys(same[0].key.metric for same in unknown)
        raise InputError(
            f"{unknown[0][0].path}: evalstats does not know whether higher or lower values of "
            f"{', '.join(names)} are better; pass ",
            Argument("directions", dict.fromkeys(names, "higher")),
            ", or ",
            Argument("directions", dict.fromkeys(names, "lower")),
        )


def _shared_metric(rows: Sequence[Rows]) -> Metric:
    """Return the one metric of all systems.

    A system without a known direction takes it from another, and classes are joined. Raise if no
    direction is known, or if metrics differ.
    """
    _check_directed([rows])
    directed = next(one for one in rows if one.is_directed)
    metrics = [one.metric for one in rows]
    for i, metric in enumerate(metrics):
        if not rows[i].is_directed and isinstance(metric, (Mean, Ratio)):
            metrics[i] = replace(metric, higher_is_better=directed.metric.higher_is_better)
    known = {metric.labels for metric in metrics if isinstance(metric, Confusion)}
    classes = {name for labels in known for name in labels}
    # Classes of different types come from different questions.
    if len(known) > 1 and len({type(name) for name in classes}) == 1:
        labels = tuple(sorted(classes))
        metrics = [replace(m, labels=labels) if isinstance(m, Confusion) else m for m in metrics]
    compared = [(type(m), m.name, m.signature, m.columns, m.higher_is_better) for m in metrics]
    for one, metric, traits in zip(rows, metrics, compared, strict=True):
        if traits != compared[0]:
            raise InputError(
                f"{one.key}: the metric of {one.system} is {shown(metric)}, but the metric of "
                f"{rows[0].system} is {shown(metrics[0])}"
            )
    return metrics[0]
