"""The numbers that statistics can be."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalstats.checks import as_floats, refuse_masked
from evalstats.errors import InputError, InputTypeError
from evalstats.metrics import Mean, Metric


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
