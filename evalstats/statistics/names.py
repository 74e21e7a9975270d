"""Names of systems and of segments, and labels of groups, checked."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from evalstats.checks import is_missing, label, listed
from evalstats.errors import InputError, InputTypeError


def as_names(systems: object) -> tuple[str, ...]:
    """Return different, non-empty system names, or say what is wrong with them."""
    names = [label(name, "system names") for name in listed(systems, "systems", "names")]
    _check_different(names, "system names")
    if not names:
        raise InputError("systems is empty; give at least one")
    return tuple(names)


def as_segment_ids(ids: object, n_segments: int) -> tuple[str, ...]:
    """Return N different names of segments, or say what is wrong with them."""
    names = listed(ids, "segment_ids", "strings, one a segment")
    for name in names:
        if not isinstance(name, str):
            raise InputTypeError(f"segment_ids must be strings, got {type(name).__name__} {name!r}")
        if name:
            label(name, "segment_ids")
    _check_count(names, "segment_ids", "name", n_segments)
    _check_different(names, "segment_ids")
    return tuple(names)


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
        raise InputTypeError(f"{name} must hold hashable labels: {error}") from None
    # Only different labels are looked at, since that takes time.
    missing = next((codes.index(n) for value, n in numbers.items() if is_missing(value)), None)
    if missing is not None:
        raise InputError(
            f"{name}[{missing}] is {labels[missing]!r}: every segment needs a label; give those "
            f"without one a label each, or leave the segments out"
        )
    return np.array(codes, dtype=np.intp)


def _check_count(entries: Sequence[object], name: str, kind: str, n_segments: int) -> None:
    if len(entries) != n_segments:
        raise InputError(
            f"{name} has {len(entries)} {kind}s but there are {n_segments} segments; "
            f"give one {kind} per segment"
        )


def _check_different(names: Sequence[str], what: str) -> None:
    if len(set(names)) < len(names):
        first = {name: i for i, name in reversed(list(enumerate(names)))}
        repeated = next(name for i, name in enumerate(names) if first[name] < i)
        raise InputError(f"{what} must differ, got {repeated!r} more than once")
