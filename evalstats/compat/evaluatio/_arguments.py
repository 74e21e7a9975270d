"""What several of evaluatio's functions ask of their arguments."""

from __future__ import annotations

from evalstats.checks import integer, listed, real
from evalstats.errors import InputError, InputTypeError
from evalstats.resampling.totals import MOST_RESAMPLES


def resamples(iterations: int) -> int:
    """Return the number of resamples, at least 1."""
    return integer(iterations, "iterations", 1, MOST_RESAMPLES)


def fraction(value: float, name: str) -> float:
    """Return a number strictly between 0 and 1."""
    number = real(value, name, 0.0)
    if not 0 < number < 1:
        raise InputError(f"{name} must be between 0 and 1, got {value}")
    return number


def strings(value: object, name: str) -> list[str]:
    """Return a list of strings, which may be empty."""
    texts = listed(value, name, "strings")
    for i, text in enumerate(texts):
        if not isinstance(text, str):
            raise InputTypeError(f"{name}[{i}] must be a string, got {type(text).__name__}")
    return texts
