"""Ids of segments as 64-bit numbers, and sets of ids as runs of consecutive ones.

A range of ids, however long, is one run; ids without order cost two numbers each.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from evalstats.checks import listed, refuse_masked, shown
from evalstats.errors import InputError, InputTypeError

Ids: TypeAlias = NDArray[np.uint64]
#: Bits of a row in the id of a row of a file; the others are of a hash of the file's name.
_ROW_BITS = 28


def as_ids(ids: object, n_segments: int) -> tuple[Ids, str]:
    """Return ids as 64-bit numbers, in the order given, and what they were."""
    given: Sequence[Any] | NDArray[Any]
    if isinstance(ids, tuple) and list(map(type, ids)) == [str, int]:
        return _rows_of_file(ids[0], ids[1], n_segments), "row"
    refuse_masked(ids, "ids")
    if isinstance(ids, range) and len(ids) and max(ids[0], ids[-1]) < 2**63:
        ids = np.arange(ids.start, ids.stop, ids.step)
    if (
        isinstance(ids, np.ndarray)
        and ids.ndim == 1
        and ids.dtype.kind in "iu"
        and np.all(ids >= 0)
    ):
        given, kind, numbers = ids, "integer", ids.astype(np.uint64)
    else:
        given = ids if isinstance(ids, range) else listed(ids, "ids", "integers or strings")
        kind = "string" if len(given) and isinstance(given[0], str) else "integer"
        each = (_number(value, i, kind) for i, value in enumerate(given))
        numbers = np.fromiter(each, dtype=np.uint64)
    if len(numbers) != n_segments:
        raise InputError(
            f"ids has {len(numbers)} entries but there are {n_segments} segments; "
            f"give one id per segment"
        )
    order = np.argsort(numbers, kind="stable")
    again = np.flatnonzero(numbers[order][1:] == numbers[order][:-1])
    if len(again):
        i, j = (int(k) for k in order[again[0] : again[0] + 2])
        # Different strings have the same hash by a rare chance.
        raise InputError(
            f"ids must differ, but ids[{i}] and ids[{j}] are the same 64-bit number: "
            f"{shown(given[i])} and {shown(given[j])}"
        )
    return numbers, kind


def _rows_of_file(file: str, first: int, n_segments: int) -> Ids:
    """Return the ids of so many rows of a file from the first on: one run of numbers."""
    last = first + n_segments - 1
    if first < 0 or last >= 1 << _ROW_BITS:
        raise InputError(
            f"ids of rows must be from 0 to {(1 << _ROW_BITS) - 1:,}, got {first:,} to {last:,} of "
            f"{shown(file)}; number the segments yourself"
        )
    start = (_hashed(file) >> _ROW_BITS << _ROW_BITS) + first
    return np.arange(start, start + n_segments, dtype=np.uint64)


def _hashed(name: str) -> int:
    """Return 64 bits of BLAKE2b of a name."""
    from hashlib import blake2b

    # Lone surrogates are ids like any other.
    digest = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def _number(value: object, i: int, kind: str) -> int:
    if kind == "string" and isinstance(value, str):
        return _hashed(value)
    if kind == "string" or isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise InputTypeError(
            f"ids must be all integers or all strings, but ids[{i}] is {value!r} "
            f"({type(value).__name__})"
        )
    if not 0 <= value < 2**64:
        raise InputError(f"ids[{i}] is {value}; ids must be in [0, 2**64)")
    return int(value)


def joined(runs: Ids) -> Ids:
    """Return sorted runs, `(R, 2)`, of which those that touch become one."""
    first, last = runs.T
    starts = np.concatenate([[True], first[1:] - last[:-1] != 1])
    ends = np.concatenate([starts[1:], [True]])
    return np.stack([first[starts], last[ends]], axis=1)


def check_runs(runs: Ids, n_segments: int) -> None:
    """Raise unless these are sorted runs, `(R, 2)`, of as many ids as there are segments."""
    if runs.dtype != np.uint64 or runs.ndim != 2 or runs.shape[1] != 2 or len(runs) == 0:
        raise InputError(f"id_runs must be uint64 of shape (R, 2), got {runs.dtype} {runs.shape}")
    first, last = runs.T
    if np.any(last < first) or np.any(first[1:] <= last[:-1]):
        raise InputError("id_runs must be sorted runs that do not overlap")
    # The sum cannot wrap around: runs that do not overlap have at most 2**64 numbers.
    n_ids = len(runs) + int(np.sum(last - first))
    if n_ids != n_segments:
        raise InputError(f"there are {n_ids} ids for {n_segments} segments")


def merged_runs(shards: Sequence[Ids], kind: str) -> Ids:
    """Return the runs of all shards as one set, or say which two shards share an id."""
    runs = np.concatenate(shards)
    owners = np.repeat(np.arange(len(shards)), [len(part) for part in shards])
    order = np.argsort(runs[:, 0], kind="stable")
    first, last = runs[order].T
    shared = np.flatnonzero(first[1:] <= last[:-1])
    if len(shared):
        at = int(shared[0])
        i, j = sorted(owners[order[at : at + 2]].tolist())
        number = int(first[at + 1])
        name = f"id {number}" if kind == "integer" else f"the string whose hash is {number:#018x}"
        if kind == "row":
            file, row = number >> _ROW_BITS, number & ((1 << _ROW_BITS) - 1)
            name = f"row {row} of the file whose hash is {file:#x}"
        raise InputError(
            f"shards[{i}] and shards[{j}] share a segment: {name} is in both; "
            f"every segment must be counted once"
        )
    return joined(runs[order])
