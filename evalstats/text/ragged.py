"""Ragged integer arrays: the token ids of n texts in one flat array.

All later steps work on flat arrays: a few NumPy passes for the whole corpus instead of a Python
call per segment.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.signedinteger[Any]]
Index = NDArray[np.int64]
Bits = NDArray[np.uint64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Ragged:
    """Token ids of n texts: text i is ``values[offsets[i]:offsets[i + 1]]``.

    `values`, (T,), are nonnegative; `offsets`, (n + 1,), do not decrease, from 0 to T.
    """

    values: IntArray
    offsets: NDArray[np.int64]

    def __len__(self) -> int:
        """Return n, the number of texts."""
        return len(self.offsets) - 1

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Number of tokens of every text, (n,)."""
        return self.offsets[1:] - self.offsets[:-1]

    def rows(self, start: int, stop: int) -> Ragged:
        """Return texts ``start`` to ``stop``; the values are a view."""
        offsets = self.offsets[start : stop + 1]
        return Ragged(self.values[offsets[0] : offsets[-1]], offsets - offsets[0])

    def take(self, rows: NDArray[np.int64]) -> Ragged:
        """Return the texts numbered ``rows`` (repeats allowed), (n,) -> (len(rows),)."""
        lengths = self.lengths[rows]
        places = expand(self.offsets[:-1][rows], lengths)
        return Ragged(self.values[places], offsets_of(lengths))


@dataclass(frozen=True)
class Lines:
    """The lines of n texts: text i has `lines` ``edges[i]`` to ``edges[i + 1]``."""

    lines: Ragged
    edges: NDArray[np.int64]

    @property
    def counts(self) -> NDArray[np.int64]:
        """Number of lines of every text, (n,)."""
        return np.diff(self.edges)

    @property
    def texts(self) -> Ragged:
        """The texts, with the tokens of all their lines."""
        return Ragged(self.lines.values, self.lines.offsets[self.edges])

    def take(self, rows: NDArray[np.int64]) -> Lines:
        """Return the texts numbered ``rows``, (n,) -> (len(rows),)."""
        counts = self.counts[rows]
        return Lines(self.lines.take(expand(self.edges[:-1][rows], counts)), offsets_of(counts))


def offsets_of(lengths: IntArray | NDArray[np.bool_]) -> NDArray[np.int64]:
    """Turn lengths (or flags, to count them) into offsets, (n,) -> (n + 1,)."""
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def expand(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Concatenate ``arange(starts[i], starts[i] + lengths[i])`` over i, (n,) -> (sum,)."""
    offsets = offsets_of(lengths)
    return np.asarray(np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], lengths))


def blocks(offsets: NDArray[np.int64], limit: int, most: int) -> Iterator[tuple[int, int]]:
    """Split n rows into consecutive ranges ``start <= row < stop``, none of them empty.

    A range has at most `most` rows and a size of at most `limit`; `offsets` are the cumulative
    sizes of the rows, (n + 1,). A larger row gets a range of its own.
    """
    start, n = 0, len(offsets) - 1
    while start < n:
        fitting = int(np.searchsorted(offsets, offsets[start] + limit, side="right")) - 1
        stop = min(max(fitting, start + 1), start + most, n)
        yield start, stop
        start = stop


def slices(costs: Index, limit: int) -> Iterator[slice]:
    """Split items (n,) into consecutive slices of at most `limit` total cost, or of one item."""
    for start, stop in blocks(offsets_of(costs), limit, max(len(costs), 1)):
        yield slice(start, stop)


def active_counts(steps: Index) -> Index:
    """Count the items, sorted by falling steps (n,), that are active at every step, (S,)."""
    ends = np.cumsum(np.bincount(steps))[:-1]
    return len(steps) - ends
