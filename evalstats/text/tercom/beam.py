"""Tercom's edit distance within a beam, for many pairs at once.

Row i of the distance matrix compares the first i words of the hypothesis (n words) with every
prefix of the reference (m words). sacreBLEU computes it near the diagonal only, in the columns from
`line(i) - beam` up to `line(i) + beam`, the latter excluded, where `line(i) = floor(i * m / n)`.
Everything else counts as infinite. So a row is a window of `2 * beam` cells, which `slide`s to the
right from one row to the next. With m = 8, n = 4 and a beam of 2, rows 2 and 3 are

    column   0  1  2  3  4  5  6  7  8
    row 2          x  x  x  x                line 4
    row 3                x  x  x  x          line 6, slide 2

A cell holds the distance minus its column. This makes row 0 zero, an insertion (a step to the
right) costs nothing, and a row is the running minimum of what comes from the row above:

    from the upper left:  value - 1 where the words are equal, value where they differ
    from above:           value + 1

A stored row has an infinite cell on its left and some on its right, for the cells that the row
below reads outside the window; so row i + 1 reads `2 * beam + 1` stored cells from `slide` on. All
pairs take a step together. Those with the most rows to compute come first, so that the pairs which
still have a row to compute are always the first ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from evalstats.text.ragged import Flags, Index, Ragged, active_counts, expand, offsets_of

BEAM = 25
_INFINITE = 1 << 29

Cells = NDArray[np.int32]


def beam_widths(n: Index, m: Index) -> Index:
    """Columns on either side of the diagonal, (k,), which sacreBLEU widens where m > 50 n."""
    half = m / n / 2
    return np.where(half > BEAM, np.ceil(half + BEAM), BEAM).astype(np.int64)


class Path(NamedTuple):
    """The operations that Tercom prefers among the optimal ones.

    For every hypothesis word, `before` is how many reference words are consumed before it, and
    `kept` whether it is matched by an equal one, (T,).
    """

    before: Index
    kept: Flags


class Rows:
    """All rows of k pairs without empty sides, and `distance`, their edit distances, (k,).

    The words of the pairs are integers, sorted by falling length of the hypothesis; all pairs
    share the beam width.
    """

    def __init__(self, hyps: Ragged, refs: Ragged, beam: int) -> None:
        n, m = hyps.lengths, refs.lengths
        self._n, self._m, self._hyps, self._width = n, m, hyps, 2 * beam
        # The arrays with an entry for every row but row 0 share the offsets of the hypotheses.
        # float64 and floor as in sacreBLEU: i * (m / n) may fall just short of a whole number.
        line = np.floor(expand(np.ones_like(n), n) * np.repeat(m / n, n)).astype(np.int64)
        self._low = line - beam
        self._slide = np.diff(line, prepend=0)
        # Row 0 is complete. What row 1 reads of it is stored, from the first cell on. That cell is
        # finite only where m > beam * n, and there the rows below slide past it.
        self._slide[hyps.offsets[:-1]] = 0
        # The word of column c is word c - 1. What the window covers beside the reference changes
        # nothing: columns left of 0 are infinite, and no path leads back from those beyond m.
        edge = np.zeros(beam + 1, dtype=np.int32)
        self._words = np.concatenate([edge, refs.values, edge], dtype=np.int32)
        self._look = np.repeat(refs.offsets[:-1], n) + line
        self._stride = self._width + 1 + int(self._slide.max())

        self._first = offsets_of(n + 1)[:-1]
        self._cells: Cells = np.full((int((n + 1).sum()), self._stride), _INFINITE, dtype=np.int32)
        column = self._low[hyps.offsets[:-1], None] - 1 + np.arange(self._width + 1)
        self._cells[self._first, : self._width + 1] = np.where(column < 0, _INFINITE, 0)
        state = self._cells[self._first]
        every, uncut = np.arange(len(n)), np.zeros((len(n), 3), dtype=np.int64)
        for t, k in self._advance(state, every, uncut):
            self._cells[self._first[:k] + t + 1] = state[:k]
        self.distance = self._last(state, every)

    def swapped(self, which: Index, cuts: Index) -> Index:
        """Distances after exchanging two neighbouring blocks of a hypothesis, (C,).

        `which` is the pair that is changed, (C,); of `cuts`, `[start, middle, stop]`, the words
        `start:middle` and `middle:stop` change places, (C, 3). Rows above them stay as they are.
        """
        order = np.argsort(cuts[:, 0] - self._n[which], kind="stable")
        which, cuts = which[order], cuts[order]
        state = self._cells[self._first[which] + cuts[:, 0]]
        for _ in self._advance(state, which, cuts):
            pass
        distance = np.empty_like(which)
        distance[order] = self._last(state, which)
        return distance

    def path(self, keep: Index) -> Path:
        """Trace the preferred operations of the pairs `keep` back from the last cell.

        Tercom leaves a cell to the upper left if that is optimal, else upwards, else to the left.
        """
        cells, stride = self._cells.ravel(), self._stride
        before = np.empty_like(self._low)
        kept = np.empty(len(before), dtype=np.bool_)
        pair, row, column = keep, self._n[keep], self._m[keep]
        while len(pair):
            entry = self._hyps.offsets[pair] + row - 1
            at = column - self._low[entry]
            here = (self._first[pair] + row) * stride + at + 1
            corner = here - 1 - stride + self._slide[entry]
            equal = self._words[self._look[entry] + at] == self._hyps.values[entry]
            slanted = cells[corner] - equal == cells[here]
            left = ~slanted & (cells[corner + 1] + 1 != cells[here])
            column = column - (slanted | left)
            before[entry] = column
            kept[entry] = slanted & equal
            row = row - ~left
            rest = row > 0
            pair, row, column = pair[rest], row[rest], column[rest]
        words = expand(self._hyps.offsets[keep], self._n[keep])
        return Path(before[words], kept[words])

    def _advance(self, state: Cells, pair: Index, cuts: Index) -> Iterator[tuple[int, int]]:
        """Replace stored rows by those below them in place, step by step, to the last row.

        `state` is row `cuts[:, 0]` of every hypothesis, (C, stride), sorted by falling number of
        steps; `pair` and `cuts` are as in `swapped`. Yields the step, and how many rows it has
        replaced, which are the first.
        """
        windows = sliding_window_view(self._words, self._width)
        above = sliding_window_view(state.ravel(), self._width + 1)
        place = np.arange(len(state)) * self._stride
        offset, start = self._hyps.offsets[pair], cuts[:, 0]
        for t, k in enumerate(active_counts(self._n[pair] - start).tolist()):
            row = start[:k] + t
            entry = offset[:k] + row
            words = self._hyps.values[offset[:k] + unswap(row, cuts[:k])]
            equal = windows[self._look[entry]] == words[:, None]
            seen = above[place[:k] + self._slide[entry]]
            costs = np.minimum(seen[:, :-1] - equal, seen[:, 1:] + 1)
            np.minimum.accumulate(costs, axis=1, out=state[:k, 1 : self._width + 1])
            yield t, k

    def _last(self, state: Cells, pair: Index) -> Index:
        """Read the distances from the last rows, (C, stride) -> (C,)."""
        at = self._m[pair] - self._low[self._hyps.offsets[pair + 1] - 1] + 1
        distance: Index = self._m[pair] + state[np.arange(len(pair)), at]
        return distance


def unswap(row: Index, cuts: Index) -> Index:
    """Position before the exchange of the word at `row` (E,) after it; `cuts` (E, 3)."""
    start, middle, stop = cuts.T
    moved = np.where(row < start + stop - middle, row + middle - start, row - (stop - middle))
    return np.where((row < start) | (row >= stop), row, moved)
