"""What several of evaluatio's functions ask of their arguments."""

from __future__ import annotations

from collections.abc import Iterable

from evalstats.checks import check_same_length, integer, listed, real
from evalstats.errors import InputError, InputTypeError
from evalstats.resampling.totals import MOST_RESAMPLES

Texts = Iterable[str]


def resamples(iterations: int) -> int:
    """Return the number of resamples, at least 1."""
    return integer(iterations, "iterations", 1, MOST_RESAMPLES)


def fraction(value: float, name: str) -> float:
    """Return a number strictly between 0 and 1."""
    number = real(value, name, 0.0)
    if not 0 < number < 1:
        raise InputError(f"{name} must be between 0 and 1, got {value}")
    return number


def text_pairs(references: Texts, hypotheses: Texts) -> tuple[list[str], list[str]]:
    """Return two lists of strings of the same length, which may be empty."""
    pairs = {"references": references, "hypotheses": hypotheses}
    lists = {name: listed(value, name, "strings") for name, value in pairs.items()}
    for name, texts in lists.items():
        for i, text in enumerate(texts):
            if not isinstance(text, str):
                raise InputTypeError(f"{name}[{i}] must be a string, got {type(text).__name__}")
    check_same_length(**lists)
    return lists["references"], lists["hypotheses"]
