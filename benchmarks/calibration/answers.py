"""What the trials of one cell found: how often each thing happened, of how many trials.

A record is plain data for JSON: ``{"cell", "trials", "seconds", "rates", "lengths", "refused",
"notes"}``. Keys of rates say what was asked: ``"test|default|two-sided"`` has the shares of
p-values at most .05 and .01, ``"difference|t"`` and ``"score|t"`` the coverage of an interval.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from typing import Any

LEVELS = (0.05, 0.01)
#: A p-value of (k + 1)/(B + 1) may miss a level by rounding.
ROUNDING = 1e-12

Record = dict[str, Any]


class Answers:
    """Counts of what happened, by key."""

    def __init__(self) -> None:
        self._sums: defaultdict[str, list[float]] = defaultdict(list)
        self._numbers: Counter[str] = Counter()
        self._lengths: defaultdict[str, list[float]] = defaultdict(list)
        self._refused: Counter[str] = Counter()
        self._notes: Counter[str] = Counter()

    def happened(self, key: str, *shares: float) -> None:
        """Count one trial: whether each of the things under a key happened (0 to 1)."""
        sums = self._sums[key]
        sums[:] = [a + b for a, b in zip(sums or [0.0] * len(shares), shares, strict=True)]
        self._numbers[key] += 1

    def pvalue(self, key: str, pvalue: float) -> None:
        """Count a p-value that is, or is not, at most each of the levels."""
        self.happened(key, *(float(pvalue <= level + ROUNDING) for level in LEVELS))

    def length(self, key: str, length: float) -> None:
        """Keep the length of an interval."""
        self._lengths[key].append(length)

    def refused(self, key: str) -> None:
        """Count an error that said why nothing can be said."""
        self._refused[key] += 1

    def note(self, note: str) -> None:
        """Count a note; whatever numbers are in it, it is the same note."""
        self._notes[re.sub(r"\d[\d.,]*", "#", note)] += 1

    def record(self, cell: str, trials: int, seconds: float) -> Record:
        """Return everything as plain data."""
        return {
            "cell": cell,
            "trials": trials,
            "seconds": round(seconds, 1),
            "rates": {
                key: [round(total / self._numbers[key], 4) for total in sums]
                for key, sums in self._sums.items()
            },
            "lengths": {
                key: float(f"{sum(values) / len(values):.4g}")
                for key, values in self._lengths.items()
            },
            "refused": {key: round(n / trials, 4) for key, n in self._refused.items()},
            "notes": {note: round(n / trials, 4) for note, n in self._notes.items()},
        }


def standard_error(rate: float, trials: int) -> float:
    """Return the Monte-Carlo error of a rate that `trials` trials gave."""
    return math.sqrt(max(rate * (1 - rate), 0.0) / trials)
