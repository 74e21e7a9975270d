"""Predicted and gold values: pairs of one length, and the places of class labels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalstats.checks import check_same_index, check_same_length, label, listed, shown
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
