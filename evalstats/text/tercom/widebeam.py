"""Tercom's beam edit distance for one pair, row by row: beams and segments too large for words.

sacreBLEU widens the beam where the reference is more than fifty times as long as the hypothesis.
The rows here are plain integers, so that any width is possible;
`tercom_beam.BitBeam` is faster by far.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evalstats.text.ragged import Flags, Index, Ragged
from evalstats.text.tercom.beam import BEAM, Path, unswap

_CELLS = 1 << 20
_INFINITE = 1 << 29


class WideRows(NamedTuple):
    """All rows of one pair inside the beam.

    Attributes
    ----------
    distance
        Beam distance, (1,).
    rows
        Row i from column `low[i]`, (n+1, width); infinite where it ends.
    slanted, halting
        Cells left diagonally, and cells not left to the left, (n+1, width).
    """

    distance: Index
    rows: NDArray[np.int32]
    slanted: Flags
    halting: Flags


class WideBeam:
    """Beam distances between one reference, as groups (m,), and orders of n words."""

    def __init__(self, ref: Index, n: int) -> None:
        m = len(ref)
        ratio = m / n
        beam = BEAM if ratio / 2 <= BEAM else math.ceil(ratio / 2 + BEAM)
        line = np.floor(np.arange(n + 1) * ratio).astype(np.int64)
        self._low = np.maximum(line - beam, 0)
        self._high = np.minimum(line + beam, m + 1)
        self._high[n] = m + 1
        # Row 0 is complete, but row 1 sees no more of it than this.
        self._low[0] = max(self._low[1] - 1, 0)
        self._high[0] = self._high[1]
        self._width = int((self._high - self._low).max())
        self._ref = ref
        self._n = n

    def rows(self, tokens: Ragged, pairs: Index) -> WideRows:
        """Compute all rows of one hypothesis, an order of its words."""
        hyp = tokens.values
        shape = self._n + 1, self._width
        rows = np.full(shape, _INFINITE, dtype=np.int32)
        slanted = np.zeros(shape, dtype=np.bool_)
        halting = np.zeros(shape, dtype=np.bool_)
        rows[0, : self._high[0] - self._low[0]] = np.arange(self._low[0], self._high[0])
        for i in range(1, self._n + 1):
            row, slant, up = self._next(i, rows[i - 1 : i], hyp[i - 1 : i])
            size = row.shape[1]
            rows[i, :size] = row[0]
            slanted[i, :size] = row[0] == slant[0]
            halting[i, :size] = slanted[i, :size] | (row[0] == up[0])
        distance = rows[self._n, len(self._ref) - self._low[self._n]]
        return WideRows(np.array([distance], dtype=np.int64), rows, slanted, halting)

    def swapped(
        self, rows: WideRows, tokens: Ragged, pairs: Index, which: Index, cuts: Index
    ) -> Index:
        """Distances after exchanging two neighbouring blocks, `cuts` (C, 3) -> (C,)."""
        hyp = tokens.values
        result = np.empty(len(cuts), dtype=np.int64)
        order = np.argsort(cuts[:, 0], kind="stable")
        step = max(_CELLS // self._width, 1)
        for begin in range(0, len(cuts), step):
            part = order[begin : begin + step]
            start = cuts[part, 0]
            state = np.full((len(part), self._width), _INFINITE, dtype=np.int32)
            for i in range(int(start[0]) + 1, self._n + 1):
                first, active = np.searchsorted(start, [i - 1, i])
                state[first:active] = rows.rows[i - 1]
                source = unswap(np.full(active, i - 1), cuts[part[:active]])
                row, _, _ = self._next(i, state[:active], hyp[source])
                state[:active, : row.shape[1]] = row
                state[:active, row.shape[1] :] = _INFINITE
            result[part] = state[:, len(self._ref) - self._low[self._n]]
        return result

    def path(self, rows: WideRows, tokens: Ragged, pairs: Index, keep: Index) -> Path:
        """Trace the preferred operations back from the last cell, or nothing without `keep`."""
        if not len(keep):
            return Path(keep, keep.astype(np.bool_))
        before = np.empty(self._n, dtype=np.int64)
        kept = np.empty(self._n, dtype=np.bool_)
        column = len(self._ref)
        for i in range(self._n, 0, -1):
            low = int(self._low[i])
            at = int(np.flatnonzero(rows.halting[i, : column - low + 1])[-1])
            slant = bool(rows.slanted[i, at])
            column = low + at - slant
            before[i - 1] = column
            # A diagonal step is free exactly where the words are equal.
            value = rows.rows[i - 1, column - self._low[i - 1]] if slant else -1
            kept[i - 1] = slant and value == rows.rows[i, at]
        return Path(before, kept)

    def _next(
        self, i: int, previous: NDArray[np.int32], words: Index
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
        """Compute row i (k, size) after `previous` (k, width), and its two costs from there."""
        low, high = int(self._low[i]), int(self._high[i])
        size, slide = high - low, low - int(self._low[i - 1])
        seen = np.full((len(words), size + 1), _INFINITE, dtype=np.int32)
        # Column c of `seen` is column low - 1 + c of the matrix.
        begin = slide - 1
        source = previous[:, max(begin, 0) : max(begin + size + 1, 0)]
        offset = max(-begin, 0)
        seen[:, offset : offset + source.shape[1]] = source[:, : size + 1 - offset]
        differs = np.ones((len(words), size), dtype=np.int32)
        column = max(low, 1)
        differs[:, column - low :] = self._ref[column - 1 : high - 1] != words[:, None]
        slant = seen[:, :-1] + differs
        up = seen[:, 1:] + 1
        # Steps to the left add one a column: a running minimum of the costs minus the column.
        count = np.arange(size, dtype=np.int32)
        row = np.minimum.accumulate(np.minimum(slant, up) - count, axis=1) + count
        return row, slant, up
