"""Columns and frames of pandas and polars, recognised without importing either."""

from __future__ import annotations

from typing import Any

from evalstats.checks import is_from, is_missing, listed


def columns_of(value: object) -> list[tuple[Any, Any]] | None:
    """Return the names and columns of a frame, and None for anything else."""
    frame: Any = value
    if is_from("pandas", frame, "DataFrame"):
        # By position: a name may occur twice, which is not for this function to judge.
        return [(name, frame.iloc[:, j]) for j, name in enumerate(frame.columns)]
    if is_from("polars", frame, "DataFrame"):
        return [(column.name, column) for column in frame.get_columns()]
    return None


def listed_texts(value: object, name: str, content: str) -> list[Any]:
    """Return what should be texts as a list; what is missing in a column is None."""
    texts = listed(value, name, content)
    if is_from("pandas", value) or is_from("polars", value):
        return [None if is_missing(text) else text for text in texts]
    return texts
