"""Columns and frames of pandas, polars and pyarrow, recognised without importing them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalstats.checks import is_from, is_missing, listed

_OF_ARROW = ("Table", "RecordBatch")


def columns_of(value: object) -> list[tuple[Any, Any]] | None:
    """Return the names and columns of a frame, and None for anything else."""
    frame: Any = value
    if is_from("pandas", frame, "DataFrame"):
        # By position: a name may occur twice, which is not for this function to judge.
        return [(name, frame.iloc[:, j]) for j, name in enumerate(frame.columns)]
    if is_from("polars", frame, "DataFrame"):
        return [(column.name, column) for column in frame.get_columns()]
    if is_from("pyarrow", frame, *_OF_ARROW):
        return list(zip(frame.schema.names, frame.columns, strict=True))
    return None


def table_columns(value: object) -> list[tuple[Any, Any]] | None:
    """Return the names and columns of a frame, or of a list of rows, and None for anything else.

    >>> table_columns([{"segment": 1, "acc": 0.5}, {"segment": 2}])
    [('segment', [1, 2]), ('acc', [0.5, None])]
    """
    if not isinstance(value, list) or not value or not all(isinstance(x, Mapping) for x in value):
        return columns_of(value)
    names = dict.fromkeys(name for row in value for name in row)
    return [(name, [row.get(name) for row in value]) for name in names]


def as_rows(frame: Any) -> NDArray[Any]:
    """Return the cells of a frame, a row a row."""
    if is_from("pyarrow", frame, *_OF_ARROW):
        return np.stack([np.asarray(column) for column in frame.columns], axis=1)
    return np.asarray(frame.to_numpy())


def listed_texts(value: object, name: str, content: str) -> list[Any]:
    """Return what should be texts as a list; what is missing in a column is None."""
    texts = listed(value, name, content)
    if is_from("pandas", value) or is_from("polars", value):
        return [None if is_missing(text) else text for text in texts]
    return texts
