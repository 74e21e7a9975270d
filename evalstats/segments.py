"""The waist of the hourglass: statistics of S systems on N segments, `(S, N, k)`."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from unicodedata import category

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalstats.errors import InputError, InputTypeError
from evalstats.metrics import Metric, as_metric
from evalstats.metrics.texts import listed

#: Control characters, lone surrogates, line and paragraph separators.
_UNPRINTABLE = ("Cc", "Cs", "Zl", "Zp")


@dataclass(frozen=True, eq=False)
class SegmentStatistics:
    """Statistics of every segment of every system under one metric.

    Parameters
    ----------
    values : array_like, shape (S, N, k)
        Finite numbers; one `(N, k)` block per system, rows as `metric.columns` names them.
    systems : sequence of str
        S different names.
    metric : Metric or str
        What turns summed rows into a score.
    reference_label : str, optional
        Number of references per segment for the signature ("1", "2", "var").

    Raises
    ------
    InputError
        When shapes, names or numbers do not fit; the message says which.

    Examples
    --------
    >>> from evalstats import Ratio
    >>> accuracy = SegmentStatistics([[[1, 1], [0, 1], [1, 1]]], ["A"], Ratio("accuracy"))
    >>> accuracy.values.shape, accuracy.totals.tolist(), accuracy.scores.round(3).tolist()
    ((1, 3, 2), [[2.0, 3.0]], [0.667])
    """

    values: NDArray[Any]
    systems: tuple[str, ...]
    metric: Metric
    reference_label: str | None = None

    def __post_init__(self) -> None:
        metric = as_metric(self.metric)
        values = _as_values(self.values)
        systems = as_names(self.systems)
        expected = (len(systems), len(metric.columns))
        if values.ndim != 3 or (values.shape[0], values.shape[2]) != expected:
            raise InputError(
                f"values must have shape (S, N, k) = ({expected[0]}, N, {expected[1]}) for "
                f"{len(systems)} systems and {metric.name}, got {values.shape}"
            )
        if values.shape[1] == 0:
            raise InputError("values has no segments; give at least one")
        for field, value in (("metric", metric), ("values", values), ("systems", systems)):
            object.__setattr__(self, field, value)

    @property
    def n_segments(self) -> int:
        """N, the number of segments (or of groups, after `grouped`)."""
        return int(self.values.shape[1])

    @property
    def totals(self) -> NDArray[np.float64]:
        """Statistics summed over segments, `(S, k)`."""
        return np.asarray(np.sum(self.values, axis=1, dtype=np.float64))

    @property
    def scores(self) -> NDArray[np.float64]:
        """Corpus score of every system, `(S,)`."""
        return self.metric.score(self.totals)

    def grouped(self, groups: Iterable[Hashable]) -> SegmentStatistics:
        """Sum the statistics within groups (documents), `(S, N, k) -> (S, G, k)`.

        Resampling the result resamples whole documents, which is what to do when segments of a
        document resemble each other. Groups keep the order of their first segment.

        Parameters
        ----------
        groups : sequence of hashable
            N labels, one a segment.
        """
        codes = group_codes(groups, self.n_segments)
        summed = np.zeros((len(self.systems), int(codes.max()) + 1, self.values.shape[2]))
        for block, rows in zip(summed, self.values, strict=True):
            np.add.at(block, codes, rows)
        if self.values.dtype.kind in "iu":
            summed = summed.astype(np.int64)
        return SegmentStatistics(summed, self.systems, self.metric, self.reference_label)


def group_codes(groups: Iterable[Hashable], n_segments: int) -> NDArray[np.intp]:
    """Return the number of the group of each segment, `(N,)`, in order of first appearance."""
    labels = listed(groups, "groups", "labels, one a segment")
    if len(labels) != n_segments:
        raise InputError(
            f"groups has {len(labels)} labels but there are {n_segments} segments; "
            f"give one label per segment"
        )
    numbers: dict[Hashable, int] = {}
    try:
        codes = [numbers.setdefault(label, len(numbers)) for label in labels]
    except TypeError as error:
        raise InputTypeError(f"groups must hold hashable labels: {error}") from None
    return np.array(codes, dtype=np.intp)


def as_names(systems: object) -> tuple[str, ...]:
    """Return different, non-empty system names, or say what is wrong with them."""
    names = listed(systems, "systems", "names")
    for name in names:
        if not isinstance(name, str) or not name:
            raise InputTypeError(f"system names must be non-empty strings, got {name!r}")
        if any(category(c) in _UNPRINTABLE for c in name):
            raise InputError(f"system names must be printable text on one line, got {name!r}")
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise InputError(f"system names must differ, got {repeated[0]!r} more than once")
    if not names:
        raise InputError("systems is empty; give at least one")
    return tuple(names)


def _as_values(values: ArrayLike) -> NDArray[Any]:
    # A copy, and read-only: what was checked stays as it was.
    try:
        array = np.array(values)
    except ValueError as error:
        raise InputError(f"values must be one array of numbers: {error}") from None
    if array.dtype.kind not in "buif":
        raise InputTypeError(f"values must be numbers, got {array.dtype} values")
    if array.dtype.kind == "b":
        array = array.astype(np.int64)
    if array.dtype.kind == "f" and not np.all(np.isfinite(array)):
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise InputError(f"values{list(where)} is {array[where]}; statistics must be finite")
    array.setflags(write=False)
    return array


def check_same_segments(tables: Sequence[SegmentStatistics]) -> None:
    """Raise unless all tables have the same systems and the same number of segments."""
    first = tables[0]
    for table in tables[1:]:
        if table.systems != first.systems:
            raise InputError(
                f"all SegmentStatistics must have the same systems in the same order, got "
                f"{list(first.systems)} for {first.metric.name} and {list(table.systems)} for "
                f"{table.metric.name}"
            )
        if table.n_segments != first.n_segments:
            raise InputError(
                f"all SegmentStatistics must have the same segments, got {first.n_segments} for "
                f"{first.metric.name} and {table.n_segments} for {table.metric.name}"
            )
