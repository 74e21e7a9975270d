"""Names of systems and of segments, and labels of groups, checked."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from unicodedata import category

import numpy as np
from numpy.typing import NDArray

from evalstats.checks import listed
from evalstats.errors import InputError, InputTypeError

#: Control characters, lone surrogates, line and paragraph separators.
_UNPRINTABLE = ("Cc", "Cs", "Zl", "Zp")


def as_names(systems: object) -> tuple[str, ...]:
    """Return different, non-empty system names, or say what is wrong with them."""
    names = listed(systems, "systems", "names")
    for name in names:
        if not isinstance(name, str) or not name:
            raise InputTypeError(f"system names must be non-empty strings, got {name!r}")
        if any(category(c) in _UNPRINTABLE for c in name):
            raise InputError(f"system names must be printable text on one line, got {name!r}")
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
    _check_count(names, "segment_ids", "name", n_segments)
    _check_different(names, "segment_ids")
    return tuple(names)


def group_codes(groups: Iterable[Hashable], n_segments: int) -> NDArray[np.intp]:
    """Return the number of the group of each segment, `(N,)`, in order of first appearance."""
    labels = listed(groups, "groups", "labels, one a segment")
    _check_count(labels, "groups", "label", n_segments)
    numbers: dict[Hashable, int] = {}
    try:
        codes = [numbers.setdefault(label, len(numbers)) for label in labels]
    except TypeError as error:
        raise InputTypeError(f"groups must hold hashable labels: {error}") from None
    return np.array(codes, dtype=np.intp)


def _check_count(entries: Sequence[object], name: str, kind: str, n_segments: int) -> None:
    if len(entries) != n_segments:
        raise InputError(
            f"{name} has {len(entries)} {kind}s but there are {n_segments} segments; "
            f"give one {kind} per segment"
        )


def _check_different(names: Sequence[str], what: str) -> None:
    if len(set(names)) < len(names):
        repeated = next(name for i, name in enumerate(names) if name in names[:i])
        raise InputError(f"{what} must differ, got {repeated!r} more than once")
