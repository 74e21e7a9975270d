"""One task under one metric, as a format found it, checked and put in order."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeGuard

import numpy as np
from numpy.typing import NDArray

from evalstats.checks import is_missing, shown
from evalstats.errors import InputError
from evalstats.metrics import Metric
from evalstats.statistics.segments import SegmentStatistics

_NUMBERS = re.compile(r"(\d+)", re.ASCII)


class Key(NamedTuple):
    """What a table of a run is about; what a format does not have is an empty string."""

    task: str
    metric: str
    filter: str = ""

    @property
    def has_filter(self) -> bool:
        """Whether there is one; lm-evaluation-harness calls that "none" where there is not."""
        return self.filter not in ("", "none")

    @property
    def part(self) -> str:
        """The task and the filter as one name."""
        return f"{self.task} ({self.filter})".strip() if self.has_filter else self.task

    def __str__(self) -> str:
        """Return the three as one name."""
        return f"{self.part}: {self.metric}" if self.part else self.metric


@dataclass(frozen=True, eq=False)
class Items:
    """The statistics that a log has of one task under one metric, in the order of the log.

    Attributes
    ----------
    key : Key
    metric : Metric
    systems : tuple of str
    ids : sequence of str
        N names of items, which may come in any order, but each once.
    rows : ndarray, shape (S, N, k)
    labels : mapping of str to sequence of str
        What else the log says of items: groups, and hashes that tell whether two logs speak of the
        same item.
    logged : mapping of str to float
        The score that the log states, by system, where it states one.
    incomplete : str
        What the log should have and has not, in words: "2 scores are missing".
    """

    key: Key
    metric: Metric
    systems: tuple[str, ...]
    ids: Sequence[str]
    rows: NDArray[Any]
    labels: Mapping[str, Sequence[str]] = field(default_factory=dict)
    logged: Mapping[str, float] = field(default_factory=dict)
    incomplete: str = ""

    def table(self) -> SegmentStatistics:
        """Return the statistics in the natural order of the ids.

        Resamples know segments by number: the same items give the same numbers however a log is
        shuffled.
        """
        order = natural_order(self.ids)
        repeated = [
            self.ids[i]
            for i, j in zip(order[1:], order, strict=False)
            if self.ids[i] == self.ids[j]
        ]
        if repeated:
            raise InputError(
                f"{self.key} has {_times(len(repeated))} more than once, "
                f"{', '.join(map(shown, dict.fromkeys(repeated[:3])))} among them; a log has each "
                f"item once"
            )
        return SegmentStatistics(
            self.rows[:, order],
            self.systems,
            self.metric,
            segment_ids=tuple(self.ids[i] for i in order),
            labels={name: tuple(given[i] for i in order) for name, given in self.labels.items()},
        )


def _times(n: int) -> str:
    return "1 item" if n == 1 else f"{n:,} items"


def natural(name: str) -> tuple[Any, ...]:
    """Return what to sort names by, so that "item 9" is before "item 10"."""
    parts = _NUMBERS.split(name)
    # Texts and numbers take turns, so that only like is compared with like. Strings of digits are
    # compared by length first: no number is too long.
    numbers = [(len(part.lstrip("0")), part.lstrip("0")) for part in parts[1::2]]
    return (tuple(zip(parts[::2], [*numbers, (0, "")], strict=True)), name)


def natural_order(names: Sequence[str]) -> list[int]:
    """Return the places of names in their natural order."""
    if not all(name.isdecimal() and name.isascii() for name in names):
        return sorted(range(len(names)), key=[natural(name) for name in names].__getitem__)
    # Most logs number their items: the same order, without a million small tuples.
    digits = [name.lstrip("0") for name in names]
    order = sorted(range(len(names)), key=names.__getitem__)
    order.sort(key=digits.__getitem__)
    order.sort(key=[len(own) for own in digits].__getitem__)
    return order


def number(value: object, where: str) -> float:
    """Return a finite number; true and false are 1 and 0."""
    if not isinstance(value, (bool, int, float)):
        raise InputError(f"{where} must be a number, got {shown(value, 60)}")
    try:
        found = float(value)
    except OverflowError:
        found = np.inf
    if not np.isfinite(found):
        raise InputError(f"{where} must be a finite number, got {shown(value, 60)}")
    return found


def averaged(
    ids: Sequence[Hashable], scores: Sequence[float]
) -> tuple[list[Any], NDArray[np.float64], int]:
    """Average several answers to one question, which is the unit: different ids, means, answers.

    Means are in order of first appearance; the last is the largest number of answers to one.
    """
    codes: dict[Hashable, int] = {}
    where = np.array([codes.setdefault(name, len(codes)) for name in ids], dtype=np.intp)
    counts = np.bincount(where)
    return list(codes), np.bincount(where, weights=scores) / counts, int(counts.max(initial=0))


def is_finite(value: object) -> TypeGuard[float]:
    """Return whether a value is a number, of a size that sums can hold."""
    return isinstance(value, (int, float)) and abs(value) < 1e300


def with_missing(scores: NDArray[np.float64]) -> tuple[NDArray[np.float64], str]:
    """Return rows of `Mean`, `(S, N) -> (S, N, 2)`, and how many scores are missing (NaN).

    A missing score is the row (0, 0): the mean is over those that there are.
    """
    there = ~np.isnan(scores)
    rows = np.stack([np.where(there, scores, 0.0), there.astype(np.float64)], axis=-1)
    gone = int(np.sum(~there))
    if not gone:
        return rows, ""
    what = "1 score is missing" if gone == 1 else f"{gone:,} scores are missing"
    return rows, what


def as_score(value: object, where: str) -> float:
    """Return a number, or NaN for what stands for none."""
    if value is None or is_missing(value) or value == "":
        return float("nan")
    return number(value, where)
