"""Outputs made worse on purpose, each by a degree between 0 and 1; more degree, more damage.

Random numbers are fixed per segment, so that a larger degree damages what a smaller one did, and a
bit more: the score is a nearly monotone function of the degree, which can be searched.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

SEED = 15


def cut(outputs: list[str], degree: float) -> list[str]:
    """Drop that share of the words from the end."""
    return [
        " ".join(words[: len(words) - count])
        for words, count in _counted(outputs, min(degree, 0.9))
    ]


def lengthened(outputs: list[str], degree: float) -> list[str]:
    """Say that share of the words, from the end, once more, as a decoder that loops does."""
    return [
        " ".join(words + (words[-count:] if count else []))
        for words, count in _counted(outputs, degree)
    ]


def near_empty(outputs: list[str], degree: float) -> list[str]:
    """Leave only the first word of that share of the outputs."""
    chosen = np.random.default_rng(SEED).random(len(outputs)) < degree
    return [
        text.split(" ", 1)[0] if empty else text
        for text, empty in zip(outputs, chosen, strict=True)
    ]


def corrupted(outputs: list[str], degree: float) -> list[str]:
    """Replace that share of the words by a word that no reference has."""
    rng = np.random.default_rng(SEED)
    return [
        " ".join(
            "xqzx" if lost else word
            for word, lost in zip(words, rng.random(len(words)) < degree, strict=True)
        )
        for words in map(str.split, outputs)
    ]


MANIPULATIONS: dict[str, Callable[[list[str], float], list[str]]] = {
    "cut": cut,
    "lengthened": lengthened,
    "near-empty": near_empty,
    "corrupted": corrupted,
}


def equal_degree(worse_by: Callable[[float], float], steps: int = 20) -> float:
    """Return the degree at which a manipulated system is as good as another, by bisection.

    `worse_by` says how much worse it is at a degree: below 0 at 0, above 0 at 1.
    """
    low, high = 0.0, 1.0
    if worse_by(low) > 0 or worse_by(high) < 0:
        raise ValueError("no degree between 0 and 1 makes the two systems equal")
    for _ in range(steps):
        middle = (low + high) / 2
        low, high = (middle, high) if worse_by(middle) < 0 else (low, middle)
    return (low + high) / 2


def _counted(outputs: list[str], degree: float) -> list[tuple[list[str], int]]:
    """Return the words of every output and degree times their number, rounded at random."""
    thresholds = np.random.default_rng(SEED).random(len(outputs))
    words = [text.split() for text in outputs]
    return [
        (w, min(len(w), int(degree * len(w) + u))) for w, u in zip(words, thresholds, strict=True)
    ]
