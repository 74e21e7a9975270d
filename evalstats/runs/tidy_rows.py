"""Scores in rows, one a system, item and metric, made into tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evalstats.errors import InputError
from evalstats.metrics import Mean, Metric, Ratio
from evalstats.runs.items import Items, Key, with_missing
from evalstats.runs.tidy_columns import Columns
from evalstats.runs.tidy_roles import direction

#: Systems that a message names.
_NAMED = 3


class Codes(NamedTuple):
    """Names by number: the number of each row, and the different names."""

    of_rows: NDArray[np.intp]
    names: list[str]

    def at(self, row: Any) -> str:
        """Return the name of a row."""
        return self.names[int(self.of_rows[row])]


def coded(names: Sequence[str]) -> Codes:
    """Return names by number, in order of first appearance."""
    numbers = {name: i for i, name in enumerate(dict.fromkeys(names))}
    found = np.fromiter(map(numbers.__getitem__, names), dtype=np.intp, count=len(names))
    return Codes(found, list(numbers))


@dataclass(frozen=True)
class Scores:
    """The scores of a table, a row each, whatever form they came in.

    Attributes
    ----------
    table : Columns
        N rows, for messages.
    rows : ndarray, shape (n,)
        In which row of the table each score is.
    values : ndarray, shape (n, 1) or (n, 2)
        Scores, or numerators and denominators; NaN where one is missing.
    systems, metrics : Codes
        Of n scores.
    tasks, filters, segments : Codes
        Of N rows of the table.
    labels : mapping of str to Codes
        The same.
    counts_errors : bool
        Whether numerators are of what should be few.
    """

    table: Columns
    rows: NDArray[np.intp]
    values: NDArray[np.float64]
    systems: Codes
    metrics: Codes
    tasks: Codes
    filters: Codes
    segments: Codes
    labels: Mapping[str, Codes]
    counts_errors: bool = False

    def told_apart(self) -> tuple[Scores, str]:
        """Return scores that occur once each, and the label that this took: "document", or ""."""
        beside = [self.tasks.of_rows[self.rows], self.filters.of_rows[self.rows]]
        beside += [self.systems.of_rows, self.metrics.of_rows]
        own = self.segments.of_rows
        repeated = _repeated(_numbered([*beside, own[self.rows]]))
        if repeated is None:
            return self, ""
        for name, label in self.labels.items():
            both = _numbered([label.of_rows, own])
            if _repeated(_numbered([*beside, both[self.rows]])) is None:
                _, first = np.unique(both, return_index=True)
                names = [f"{label.at(i)}/{self.segments.at(i)}" for i in first]
                return replace(self, segments=Codes(both, names)), name
        one, two, n = repeated
        table, rows = self.table, self.rows
        what = "1 score" if n == 1 else f"{n:,} scores"
        raise InputError(
            f"{table.path} has {what} more than once: that of system "
            f"{self.systems.at(one)!r} for segment {self.segments.at(rows[one])!r} under "
            f"{self.metrics.at(one)!r} is in {table.where(int(rows[one]))} and in "
            f"{table.where(int(rows[two]))}; give each once (where segments are numbered within "
            f"documents, call the column of these 'document')"
        )

    def items(self, skipped: list[str]) -> Iterator[Items]:
        """Yield one table a task, filter and metric; the metrics of a task have the same items."""
        tasks, filters = self.tasks.of_rows, self.filters.of_rows
        for t, f in dict.fromkeys(zip(tasks.tolist(), filters.tolist(), strict=True)):
            here = np.flatnonzero(((tasks == t) & (filters == f))[self.rows])
            rows = self.rows[here]
            found, first, places = np.unique(
                self.segments.of_rows[rows], return_index=True, return_inverse=True
            )
            ids = [self.segments.names[i] for i in found.tolist()]
            labels = {
                name: self._of_items(name, label, rows, first, places)
                for name, label in self.labels.items()
            }
            metrics = self.metrics.of_rows[here]
            for m in dict.fromkeys(metrics.tolist()):
                key = Key(self.tasks.names[t], self.metrics.names[m], self.filters.names[f])
                some = metrics == m
                made = self._table(key, here[some], places[some], ids, skipped)
                if made is not None:
                    yield replace(made, labels=labels)

    def _table(
        self,
        key: Key,
        chosen: NDArray[np.intp],
        places: NDArray[np.intp],
        ids: list[str],
        skipped: list[str],
    ) -> Items | None:
        """Return the table of some scores, whose items are in these places."""
        values, systems = self.values[chosen], self.systems.of_rows[chosen]
        there = ~np.isnan(values[:, 0])
        known = np.unique(systems[there])
        for s in np.setdiff1d(systems, known):
            skipped.append(f"{key} of {self.systems.names[s]}, which has no score")
        if not len(known):
            return None
        block = np.full((len(known), len(ids), values.shape[1]), np.nan)
        block[np.searchsorted(known, systems[there]), places[there]] = values[there]
        names = tuple(self.systems.names[s] for s in known)
        name, higher = direction(key.metric, float(np.max(values[there, 0])))
        metric: Metric = Mean(name, higher)
        if values.shape[1] == 2:
            metric = Ratio(name, higher_is_better=higher and not self.counts_errors)
        gone = np.isnan(block[:, :, 0])
        rows = np.nan_to_num(block) if values.shape[1] == 2 else with_missing(block[:, :, 0])[0]
        return Items(
            key._replace(metric=name), metric, names, ids, rows, incomplete=_lacking(gone, names)
        )

    def _of_items(
        self,
        name: str,
        label: Codes,
        rows: NDArray[np.intp],
        first: NDArray[np.intp],
        places: NDArray[np.intp],
    ) -> list[str]:
        """Return one label an item, or say which item has two."""
        codes = label.of_rows[rows]
        unlike = np.flatnonzero(codes != codes[first][places])
        if len(unlike):
            i, j = int(rows[unlike[0]]), int(rows[first[places[unlike[0]]]])
            raise InputError(
                f"{self.table.path}: {name} of segment {self.segments.at(i)!r} is "
                f"{label.at(j)!r} in {self.table.where(j)} and {label.at(i)!r} in "
                f"{self.table.where(i)}; a segment has one"
            )
        return [label.names[code] for code in codes[first].tolist()]


def _numbered(codes: Sequence[NDArray[np.intp]]) -> NDArray[np.intp]:
    """Return one number for equal rows of several codes, from 0 on without gaps."""
    whole = np.zeros(len(codes[0]), dtype=np.intp)
    for part in codes:
        if part.any():
            # Numbered anew at each step, so that products stay small.
            whole = whole * (int(part.max()) + 1) + part
            whole = np.unique(whole, return_inverse=True)[1].astype(np.intp)
    return whole


def _repeated(codes: NDArray[np.intp]) -> tuple[int, int, int] | None:
    """Return two places of a number that occurs twice, and how many numbers do."""
    counts = np.bincount(codes)
    if np.all(counts <= 1):
        return None
    one, two = np.flatnonzero(counts[codes] > 1)[0], 0
    two = int(np.flatnonzero(codes == codes[one])[1])
    return int(one), two, int(np.sum(counts > 1))


def _lacking(gone: NDArray[np.bool_], systems: tuple[str, ...]) -> str:
    """Say how many scores are missing, and whose."""
    counts = np.sum(gone, axis=1)
    which = np.flatnonzero(counts)
    if not len(which):
        return ""
    whose = ", ".join(f"{counts[s]:,} of {systems[s]}" for s in which[:_NAMED])
    more = f" and others of {len(which) - _NAMED} more" if len(which) > _NAMED else ""
    n = int(np.sum(counts))
    verb = "is" if n == 1 else "are"
    return f"{n:,} of {gone.size:,} scores {verb} missing ({whose}{more})"
