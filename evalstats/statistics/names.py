"""Names of systems and of segments, labels and numbers: what statistics hold, checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalstats.checks import (
    MOST_NAME,
    as_floats,
    check_names,
    choice,
    is_missing,
    label,
    listed,
    refuse_masked,
    shown,
)
from evalstats.errors import Argument, InputError, InputTypeError
from evalstats.metrics import Mean, Metric

Labels = Mapping[str, tuple[str, ...]]


def as_names(systems: object) -> tuple[str, ...]:
    """Return different, non-empty system names, or say what is wrong with them."""
    names = [label(name, "system names") for name in listed(systems, "systems", "names")]
    _check_different(names, "system names")
    if not names:
        raise InputError("is empty; give at least one", argument="systems")
    return tuple(names)


def as_segment_ids(ids: object, n_segments: int) -> tuple[str, ...]:
    """Return N different names of segments, or say what is wrong with them."""
    names = listed(ids, "segment_ids", "strings, one a segment")
    for name in names:
        if not isinstance(name, str):
            raise InputTypeError(
                f"must be strings, got {type(name).__name__} {name!r}", argument="segment_ids"
            )
    check_names(names, "segment_ids")
    _check_count(names, "segment_ids", "name", n_segments)
    _check_different(names, "segment_ids")
    return tuple(names)


def as_labels(labels: object, n_segments: int) -> dict[str, tuple[str, ...]]:
    """Return N strings a name, or say what is wrong with them."""
    if labels is not None and not isinstance(labels, Mapping):
        raise InputTypeError(
            f"must be a mapping from names to one string a segment, got {shown(labels)}",
            argument="labels",
        )
    found = {}
    for name, given in (labels or {}).items():
        what = f"labels[{label(name, 'names of labels')!r}]"
        values = listed(given, what, "strings, one a segment")
        _check_count(values, what, "label", n_segments)
        for value in values:
            if not isinstance(value, str):
                raise InputTypeError(f"must be strings, got {shown(value)}", argument=what)
        check_names(values, what)
        found[name] = tuple(values)
    return found


def as_cautions(cautions: object) -> dict[str, tuple[str, ...]]:
    """Return sentences by the system that they are about, or say what is wrong with them."""
    if not isinstance(cautions, Mapping):
        raise InputTypeError(
            f"must be a mapping from systems to sentences, got {shown(cautions)}",
            argument="cautions",
        )
    # They may name systems, whose names may be long.
    return {
        str(name): tuple(
            label(one, "cautions", 2 * MOST_NAME) for one in listed(said, "cautions", "sentences")
        )
        for name, said in cautions.items()
    }


def as_places(segments: object, n_segments: int) -> NDArray[np.intp]:
    """Return numbers of segments, from 0 on, or say what is wrong with them."""
    given = np.asarray(listed(segments, "segments", "numbers"))
    if len(given) == 0:
        raise InputError("segments is empty; give at least one number")
    if given.dtype.kind not in "iu" or given.ndim != 1:
        raise InputTypeError(f"segments must be whole numbers, got {shown(given.tolist(), 60)}")
    outside = given[(given < 0) | (given >= n_segments)]
    if len(outside):
        raise InputError(f"segments must be from 0 to {n_segments - 1}, got {outside[0]}")
    return given.astype(np.intp)


def labels_at(labels: Labels, places: Sequence[int] | NDArray[np.intp]) -> Labels:
    """Return the labels of some segments, by number."""
    return {name: tuple(found[i] for i in places) for name, found in labels.items()}


def labels_of_groups(labels: Labels, codes: NDArray[np.intp], first: NDArray[np.intp]) -> Labels:
    """Return the labels that all segments of a group share with its first, one a group."""
    kept = {}
    for name, found in labels.items():
        if all(found[first[code]] == value for code, value in zip(codes, found, strict=True)):
            kept[name] = found
    return labels_at(kept, first)


def shared_places(
    ids: Sequence[tuple[str, ...]], names: Sequence[str], missing: str
) -> list[NDArray[np.intp]]:
    """Return where each table has the segments that all have, in the order of the first."""
    choice(missing, ("error", "intersect"), "missing")
    if all(own == ids[0] for own in ids):
        return [np.arange(len(ids[0]))] * len(ids)
    places = [{name: i for i, name in enumerate(own)} for own in ids]
    union = dict.fromkeys(name for own in ids for name in own)
    for name, own in zip(names, places, strict=True):
        gone = [segment for segment in union if segment not in own]
        if gone and missing == "error":
            raise InputError(
                f"all tables must have the same segments: {len(gone):,} of {len(union):,} are not "
                f"in that of {name} ({', '.join(map(repr, gone[:3]))}); complete it, or compare "
                f"what all have with ",
                Argument("missing", "intersect"),
            )
    shared = [name for name in ids[0] if all(name in own for own in places)]
    if not shared:
        begin = (f"{own[0]!r} for {name}" for own, name in zip(ids, names, strict=True))
        raise InputError(
            f"tables have no segment in common: segment_ids begin with {' and '.join(begin)}"
        )
    return [np.array([own[name] for name in shared], dtype=np.intp) for own in places]


def group_codes(
    groups: Iterable[Hashable], n_segments: int, name: str = "groups"
) -> NDArray[np.intp]:
    """Return the number of the group of each segment, `(N,)`, in order of first appearance."""
    labels = listed(groups, name, "labels, one a segment")
    _check_count(labels, name, "label", n_segments)
    numbers: dict[Hashable, int] = {}
    try:
        codes = [numbers.setdefault(label, len(numbers)) for label in labels]
    except TypeError as error:
        raise InputTypeError(f"must hold hashable labels: {error}", argument=name) from None
    # Only different labels are looked at, since that takes time.
    missing = next((codes.index(n) for value, n in numbers.items() if is_missing(value)), None)
    if missing is not None:
        raise InputError(
            f"{name}[{missing}] is {labels[missing]!r}: every segment needs a label; give those "
            f"without one a label each, or leave the segments out"
        )
    if labels and isinstance(labels[0], str) and labels[0].startswith("\ufeff"):
        raise InputError(
            f"{name}[0] begins with a byte order mark (U+FEFF), so that it is one more label; "
            f"read labels with read_lines(path, labels=True), or as encoding='utf-8-sig'"
        )
    return np.array(codes, dtype=np.intp)


def _check_count(entries: Sequence[object], name: str, kind: str, n_segments: int) -> None:
    if len(entries) != n_segments:
        raise InputError(
            f"has {len(entries)} {kind}s but there are {n_segments} segments; "
            f"give one {kind} per segment",
            argument=name,
        )


def _check_different(names: Sequence[str], what: str) -> None:
    repeated = next((name for name, n in Counter(names).items() if n > 1), None)
    if repeated is not None:
        raise InputError(f"must differ, got {repeated!r} more than once", argument=what)


def as_values(values: ArrayLike) -> NDArray[Any]:
    """Return finite numbers as a read-only copy, or say what is wrong with them."""
    refuse_masked(values, "values")
    # A copy, and read-only: what was checked stays as it was.
    try:
        array = np.array(values)
    except ValueError as error:
        raise InputError(f"values must be one array of numbers: {error}") from None
    array = as_floats(array, "values")
    if array.dtype.kind not in "buif":
        raise InputTypeError(f"values must be numbers, got {array.dtype} values")
    if array.dtype.kind == "b":
        array = array.astype(np.int64)
    if array.dtype.kind == "f" and not np.all(np.isfinite(array)):
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise InputError(f"values{list(where)} is {array[where]}; statistics must be finite")
    array.setflags(write=False)
    return array


def as_repeats(values: Any, n_systems: int, n_segments: int) -> NDArray[np.float64]:
    """Return counts, sums and sums of squares of answers, `(S, N, 3)`, as a read-only copy."""
    array = np.array(as_floats(np.asarray(values), "repeats"), dtype=np.float64)
    expected = (n_systems, n_segments, 3)
    if array.shape != expected or not np.all(np.isfinite(array)) or np.any(array[..., 0] < 0):
        raise InputError(
            f"repeats must be finite counts, sums and sums of squares of shape {expected}, got "
            f"shape {array.shape}"
        )
    array.setflags(write=False)
    return array


def summed_within(values: NDArray[Any], codes: NDArray[np.intp]) -> NDArray[Any]:
    """Sum statistics within groups, `(S, N, k) -> (S, G, k)`; whole numbers stay whole."""
    kind: type[Any] = np.float64
    if values.dtype.kind in "iu":
        largest = float(np.max(np.sum(np.abs(values.astype(np.float64)), axis=1)))
        kind = np.int64 if largest < 2**63 else np.uint64
        # Sums of floats are rounded: a little less than what may wrap around is refused.
        if largest >= 2**64 or (kind is np.uint64 and np.any(values < 0)):
            raise InputError("values are too large: sums within groups do not fit 64 bits")
    summed = np.zeros((len(values), int(codes.max()) + 1, values.shape[2]), dtype=kind)
    for block, rows in zip(summed, values, strict=True):
        np.add.at(block, codes, rows.astype(kind))
    return summed


def missing_scores(metric: Metric, values: NDArray[Any]) -> NDArray[np.int64]:
    """Count the rows of each system, `(S, N, k) -> (S,)`, whose score is missing.

    Only means know of such: their count is 0.
    """
    if metric.columns != Mean.columns:
        return np.zeros(len(values), dtype=np.int64)
    return np.asarray(np.sum(values[:, :, 1] == 0, axis=1, dtype=np.int64))
