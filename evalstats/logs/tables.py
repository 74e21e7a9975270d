"""Tables of scores: CSV, TSV, JSON lines or a frame, long or wide.

Long: a row a score, with columns for the system, the segment, the score (or numerator and
denominator) and perhaps the metric, task and groups. Wide: a row an item with one column a metric,
where there is a column of systems; else with one column a system.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evalstats.errors import InputError
from evalstats.logs.columns import Columns, as_floats, as_names, of_file, of_frame
from evalstats.logs.files import Source, fingerprint, without_suffix
from evalstats.logs.log import Log, Wanted, log_of
from evalstats.logs.roles import Roles, roles_of
from evalstats.logs.rows import Items, Key, Rows, mean_rows
from evalstats.logs.words import direction, is_metric, is_never, matches, plain
from evalstats.metrics import Mean, Metric, Ratio

NAME = "table of scores (CSV, TSV, JSON lines)"

_HOW = (
    "name one column 'system', one 'segment' and one 'score' (and 'metric' where there are "
    "several), or give one column a metric beside 'system' and 'segment'"
)


def is_ours(source: Source) -> bool:
    """Return whether a file is a table; JSON lines are, where they are no other format."""
    return source.suffix in (".csv", ".tsv") or bool(source.first)


def read(source: Source, wanted: Wanted) -> Log:
    """Return the scores of a file."""
    table = of_file(source.path, source.suffix, wanted.labels)
    return _log(table, without_suffix(source.path), "table of scores", wanted)


def read_frame(frame: Any, wanted: Wanted, name: str = "scores") -> Log:
    """Return the scores of a frame of pandas or polars."""
    return _log(of_frame(frame), name, "frame", wanted)


def _log(table: Columns, name: str, format: str, wanted: Wanted) -> Log:
    roles = roles_of(table.path, table.cells, wanted.labels)
    if roles.segment is None:
        raise InputError(
            f"{table.path} has no column that names the segments, among "
            f"{', '.join(map(repr, table.cells))}; call one 'segment', or add one"
        )
    skipped = [f"column {column!r}, whose part another has" for column in roles.unused]
    scores, apart = _scores(table, roles, name, wanted, skipped).qualified()
    if apart:
        format = f"{format}, items are {apart}/{roles.segment}"
    rows = [one for one in scores.rows_of() if wanted.has(one.key)]
    return log_of(name, table.path, format, rows, skipped=skipped)


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


def _codes(table: Columns, column: str | None, part: str, default: str = "") -> Codes:
    """Return the names in a column, of which none may be empty; or one name for all rows."""
    if column is None:
        n = len(next(iter(table.cells.values())))
        return Codes(np.zeros(n, dtype=np.intp), [default])
    found = coded(as_names(table.cells[column]))
    if "" in found.names:
        row = int(np.argmax(found.of_rows == found.names.index("")))
        raise table.refused(row, column, f"the name of a {part}")
    return found


def _scores(table: Columns, roles: Roles, name: str, wanted: Wanted, skipped: list[str]) -> Scores:
    """Return the scores of a table, long or wide."""
    systems = _codes(table, roles.system, "system", name)
    metrics = _codes(table, roles.metric, "metric", "score")
    n = len(systems.of_rows)
    columns, are_systems = _score_columns(table, roles, wanted, skipped)
    if columns and isinstance(columns[0], tuple):
        rows = np.arange(n)
        values = np.stack([table.numbers(column) for column in columns[0]], axis=1)
        values[np.any(np.isnan(values), axis=1)] = np.nan
        if roles.metric is None:
            metrics = Codes(metrics.of_rows, ["/".join(columns[0])])
    else:
        single = [str(column) for column in columns]
        rows = np.tile(np.arange(n), len(single))
        values = np.concatenate([table.numbers(column) for column in single])[:, None]
        of_columns = Codes(np.repeat(np.arange(len(single)), n), single)
        systems = Codes(systems.of_rows[rows], systems.names)
        if are_systems:
            systems, metrics = of_columns, Codes(metrics.of_rows[rows], metrics.names)
        elif roles.metric is None:
            called = ["score" if column == roles.score else column for column in single]
            metrics = Codes(of_columns.of_rows, called)
    return Scores(
        table,
        rows,
        values,
        systems,
        metrics,
        _codes(table, roles.task, "task"),
        _codes(table, roles.filter, "filter"),
        _codes(table, roles.segment, "segment"),
        _labels(table, roles, wanted),
        roles.numerator or "",
    )


def _score_columns(
    table: Columns, roles: Roles, wanted: Wanted, skipped: list[str]
) -> tuple[list[str | tuple[str, str]], bool]:
    """Return the columns of scores, and whether they are systems rather than metrics.

    Columns whose names are those of metrics, or that are asked for by name, come before all others;
    of sums (numerator and denominator) there is one pair.
    """
    score = [roles.score] if roles.score is not None else []
    if roles.metric is not None and (score or roles.sums):
        return _told(score or [roles.sums], roles, (*roles.others, *_not(score, roles)), skipped)
    named = [c for c in roles.others if is_metric(c) or matches(c, wanted.metric)]
    is_asked = roles.sums is not None and matches("/".join(roles.sums), wanted.metric)
    if roles.sums is not None and (is_asked or not (score or named)):
        return _told([roles.sums], roles, (*score, *roles.others), skipped)
    numeric = [c for c in roles.others if _is_numeric(table, c, c in named, skipped)]
    named = [c for c in numeric if c in named]
    if roles.metric is None and (score or (named and roles.system is not None)):
        rest = [c for c in numeric if c not in named]
        return _told([*score, *named], roles, (*rest, *_not([], roles)), skipped)
    found = [c for c in numeric if c in named or not is_never(c)] or numeric
    if not found:
        raise InputError(
            f"{table.path} has no column of scores, that is of numbers such as 0.5, among "
            f"{', '.join(map(repr, table.cells))}; {_HOW}"
        )
    listed = ", ".join(map(repr, found))
    _told(found, roles, [c for c in numeric if c not in found], skipped)
    if roles.system is not None and roles.metric is not None:
        raise InputError(
            f"{table.path} has {roles.system!r} and {roles.metric!r} and beside them {listed}: "
            f"call the column of scores 'score'"
        )
    if roles.system is None and roles.metric is None and 0 < len(named) < len(found):
        raise InputError(
            f"{table.path} has {listed}, which may be systems or metrics: add a column 'system' "
            f"that names the system if they are metrics, or a column 'metric' that names the "
            f"metric if they are systems"
        )
    are_systems = roles.metric is not None or (len(found) > 1 and not named)
    return list(found), are_systems and roles.system is None


def _not(score: list[str], roles: Roles) -> tuple[str, ...]:
    """Return the columns of sums where scores come from elsewhere."""
    return roles.sums if roles.sums is not None and (score or roles.metric is None) else ()


def _told(
    chosen: Sequence[Any], roles: Roles, others: Sequence[str], skipped: list[str]
) -> tuple[list[Any], bool]:
    """Return columns of scores as metrics; the others that hold none are named in `skipped`."""
    names = ", ".join(repr("/".join(c) if isinstance(c, tuple) else c) for c in chosen)
    sums = roles.sums or ()
    for column in others:
        asked = "/".join(sums) if column in sums else column
        how = "" if roles.metric is not None else f" (metric={asked!r} reads it)"
        skipped.append(f"column {column!r}: scores are in {names}{how}")
    return list(chosen), False


def _is_numeric(table: Columns, column: str, is_named: bool, skipped: list[str]) -> bool:
    """Return whether a column holds numbers; others are named in `skipped`."""
    found, bad = as_floats(table.cells[column])
    n_numbers = int(np.sum(~np.isnan(found)))
    if bad is None and n_numbers:
        return True
    if bad is not None and n_numbers >= len(found) / 2 and (is_named or not is_never(column)):
        raise table.refused(bad, column, "a number as others of the column are, or empty")
    skipped.append(f"column {column!r}, which is {'text' if bad is not None else 'empty'}")
    return False


def _labels(table: Columns, roles: Roles, wanted: Wanted) -> dict[str, Codes]:
    """Return labels of all rows by name, under the name by which they are asked for."""
    asked_for = {plain(name): name for name in wanted.labels}
    found = {asked_for.get(plain(c), c): coded(as_names(table.cells[c])) for c in roles.labels}
    for column in roles.hashed:
        codes = coded(as_names(table.cells[column]))
        if all(as_floats([name])[1] is None for name in codes.names):
            continue
        name = {"src": "source", "ref": "reference"}.get(plain(column), column)
        found[f"{name}_hash"] = Codes(codes.of_rows, [fingerprint(text) for text in codes.names])
    return found


@dataclass(frozen=True)
class Scores:
    """The scores of a table, whatever form they came in.

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
    numerator : str
        What numerators are, where values are sums.
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
    numerator: str = ""

    def qualified(self) -> tuple[Scores, str]:
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
        no_system = "" if len(self.systems.names) > 1 else "; no column is called 'system'"
        raise InputError(
            f"{table.path} has {what} more than once: that of system "
            f"{self.systems.at(one)!r} for segment {self.segments.at(rows[one])!r} under "
            f"{self.metrics.at(one)!r} is in {table.where(int(rows[one]))} and in "
            f"{table.where(int(rows[two]))}; give each once (where segments are numbered within "
            f"documents, call the column of these 'document'{no_system})"
        )

    def rows_of(self) -> Iterator[Rows]:
        """Yield the rows of every task, filter, metric and system.

        All systems and metrics of a task have the same items.
        """
        tasks, filters = self.tasks.of_rows, self.filters.of_rows
        metrics = [self._metric(m) for m in range(len(self.metrics.names))]
        for t, f in dict.fromkeys(zip(tasks.tolist(), filters.tolist(), strict=True)):
            here = np.flatnonzero(((tasks == t) & (filters == f))[self.rows])
            rows = self.rows[here]
            found, first, places = np.unique(
                self.segments.of_rows[rows], return_index=True, return_inverse=True
            )
            labels = {
                name: self._of_items(name, label, rows, first, places)
                for name, label in self.labels.items()
            }
            ids = [self.segments.names[i] for i in found.tolist()]
            items = Items.of(self.table.path, ids, labels)
            both = list(
                zip(*(c.of_rows[here].tolist() for c in (self.metrics, self.systems)), strict=True)
            )
            numbers = {pair: i for i, pair in enumerate(dict.fromkeys(both))}
            which = np.array([numbers[pair] for pair in both])
            for (m, s), i in numbers.items():
                some = np.flatnonzero(which == i)
                block = np.full((len(ids), self.values.shape[1]), np.nan)
                block[places[some]] = self.values[here[some]]
                block = (block if block.shape[1] == 2 else mean_rows(block[:, 0]))[items.order]
                metric, is_directed = metrics[m]
                key = Key(self.tasks.names[t], metric.name, self.filters.names[f])
                yield Rows(
                    key, self.systems.names[s], metric, items, block, is_directed=is_directed
                )

    def _metric(self, m: int) -> tuple[Metric, bool]:
        """Return metric number m, less an arrow after its name, and if its direction is known."""
        name = self.metrics.names[m]
        values = self.values[self.metrics.of_rows == m, 0]
        largest = float(np.nanmax(values)) if not np.all(np.isnan(values)) else None
        higher = direction(name, largest)
        called = name.rstrip("↑↓").strip() or name
        if self.values.shape[1] == 2:
            higher = direction(self.numerator) if higher is None else higher
            return Ratio(called, higher_is_better=higher is not False), higher is not None
        return Mean(called, higher is not False), higher is not None

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
    one = np.flatnonzero(counts[codes] > 1)[0]
    two = np.flatnonzero(codes == codes[one])[1]
    return int(one), int(two), int(np.sum(counts > 1))
