"""Predicted and gold values: pairs of one length, class labels, confusion matrices of items."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalstats.checks import (
    check_same_index,
    check_same_length,
    label,
    listed,
    refuse_masked,
    shown,
)
from evalstats.errors import InputError, InputTypeError

#: Names and numbers; a file can hold them.
Label = str | int


def as_labels(labels: object) -> tuple[Label, ...]:
    """Return at least two different labels, strings or integers, in their order."""
    found = [
        v.item() if isinstance(v, np.generic) else v for v in listed(labels, "labels", "labels")
    ]
    for i, value in enumerate(found):
        if isinstance(value, str):
            label(value, f"labels[{i}]")
        elif not isinstance(value, int):
            raise InputTypeError(f"labels[{i}] must be a string or an integer, got {shown(value)}")
    if len(set(found)) < len(found):
        twice = next(value for i, value in enumerate(found) if value in found[:i])
        raise InputError(f"labels must differ, got {shown(twice)} twice")
    if len(found) < 2:
        raise InputError(f"labels must be all classes, at least 2, got {shown(found)}")
    return tuple(found)


def checked_pair(hypotheses: object, references: object, what: str) -> tuple[list[Any], list[Any]]:
    """Return predictions and gold values as lists of one length, or say what does not fit."""
    check_same_index({"hypotheses": hypotheses, "references": references})
    if references is None:
        raise InputTypeError(f"references is None; give {what}, one for each of the hypotheses")
    predicted = listed(hypotheses, "hypotheses", "predictions")
    gold = listed(references, "references", what)
    check_same_length(hypotheses=predicted, references=gold)
    if not predicted:
        raise InputError("hypotheses is empty; give at least one segment")
    return predicted, gold


def codes_of(values: Iterable[Any], labels: Sequence[Label], name: str) -> NDArray[np.intp]:
    """Return the place in `labels` of each value, `(N,)`; 1, 1.0 and True are the same label."""
    place = {known: i for i, known in enumerate(labels)}
    codes = []
    for i, value in enumerate(values):
        try:
            codes.append(place[value])
        except (KeyError, TypeError):  # another label, or a list, say
            known = ", ".join(map(repr, labels[:10])) + (", ..." if len(labels) > 10 else "")
            raise InputError(
                f"{name}[{i}] is {shown(value)}, which is none of the {len(labels)} labels "
                f"{known}; add it to labels, or map it to one of them"
            ) from None
    return np.array(codes, dtype=np.intp)


def members_of(rows: Sequence[Any], labels: Sequence[Label], name: str) -> NDArray[np.bool_]:
    """Return which labels each row, a collection of labels, has: `(N, K)`."""
    held = [
        list(row) if isinstance(row, (set, frozenset)) else listed(row, f"{name}[{i}]", "labels")
        for i, row in enumerate(rows)
    ]
    found = np.zeros((len(rows), len(labels)), dtype=np.bool_)
    for i, row in enumerate(held):
        found[i, codes_of(row, labels, f"{name}[{i}]")] = True
        if np.count_nonzero(found[i]) < len(row):
            raise InputError(f"{name}[{i}] has a label twice: {shown(row)}; name each label once")
    return found


def counts_of(matrices: object, n_labels: int) -> Sequence[NDArray[Any]]:
    """Return hits, predicted and gold `(N, K)`, correct and items `(N,)`, of matrices of counts."""
    refuse_masked(matrices, "hypotheses")
    try:
        array = np.asarray(matrices)
    except ValueError:  # rows of several lengths
        array = np.empty(0, dtype=object)
    expected = f"(N, {n_labels}, {n_labels}), one confusion matrix of counts an item"
    if array.dtype.kind not in "iuf" or array.ndim != 3 or array.shape[1:] != (n_labels,) * 2:
        raise InputError(
            f"hypotheses must have shape {expected}, got {array.dtype} values of shape "
            f"{array.shape}"
        )
    if not len(array):
        raise InputError("hypotheses is empty; give at least one segment")
    # Narrow numbers of counts, as pixels of a large image, cannot hold their sums.
    array = array.astype(np.float64) if array.dtype.kind == "f" else array
    countable = (array >= 0) & (array == np.rint(array)) & (array < np.float64(2**53))
    for place in np.argwhere(~countable)[:1].tolist():
        raise InputError(f"hypotheses{place} is {array[tuple(place)]}; counts are 0, 1, 2, ...")
    array = array.astype(np.int64)
    hits = np.diagonal(array, axis1=1, axis2=2)
    return hits, array.sum(axis=1), array.sum(axis=2), hits.sum(axis=1), array.sum(axis=(1, 2))
