"""Tercom's beam edit distance as bit-parallel rows: one uint64 for each of many pairs.

sacreBLEU computes row i of the matrix only from column `low(i)` to `low(i) + 49`, 25 columns on
either side of the pseudo-diagonal `floor(i * len(reference) / len(hypothesis))`; everything else
is infinite. Fifty columns fit into one word that slides along the diagonal, and infinity can be
imitated exactly by three masks for every row: columns the previous row did not have match nothing,
rise by one each to the right of it, and fall by one to the left of it.

References of up to 63 words need no sliding where the beam provably does not matter. A path of
cost d from corner to corner leaves the diagonal by at most (d + |n - m|) / 2, so the unrestricted
distance d is the beam distance if d + |n - m| <= 46, and every optimal path, hence the one that
the preferences pick, is the same.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evalstats.text.bits import FULL, ONE, Schedule, advance, bits_below, schedule
from evalstats.text.equal_tokens import Groups
from evalstats.text.ragged import Bits, Flags, Index, Ragged, expand, offsets_of

BEAM = 25
WINDOW = 2 * BEAM
NARROW = 63
# A slide is the number of columns the window moves; the first row follows a complete row.
FIRST = WINDOW + 1
_SLIDES = np.arange(FIRST)
# What the slide drops on the left; without a slide column 0 of the window is new relative to the
# neighbour it is about to lose, and counts as dropped.
_DROPPED = np.append(bits_below(np.maximum(_SLIDES, 1)), np.uint64(0))
_RISE = np.append(np.where(_SLIDES == 0, 2, 1), 1)
_SHIFT = np.append(_SLIDES, 0).astype(np.uint64)
_NEW = np.append(~bits_below(WINDOW - _SLIDES), np.uint64(0))
_LOST = np.append((_SLIDES == 0).astype(np.uint64), np.uint64(0))
_KEEP = ~(_NEW | _LOST)
_REACHED = np.append(bits_below(FIRST - _SLIDES), FULL)
_MATCHABLE = _REACHED & ~_LOST


class Rows(NamedTuple):
    """All rows of k pairs, in the layout of `schedule`: entry (t, pair) leads from row t to t+1.

    Attributes
    ----------
    distance
        Beam distance, (k,).
    layout
        Which pair and row an entry belongs to.
    place
        Rank of every pair in the layout, (k,).
    match, zero, above
        Bit vectors of the new row, (E,), as `bits.advance` has them.
    up, down, corner
        The row before, (E,), and the value left of its window.
    """

    distance: Index
    layout: Schedule
    place: Index
    match: Bits
    zero: Bits
    above: Bits
    up: Bits
    down: Bits
    corner: Index


class Path(NamedTuple):
    """The operations that Tercom prefers among the optimal ones.

    Attributes
    ----------
    before
        For every hypothesis word, how many reference words are consumed before it, (T,).
    kept
        Whether the word is matched by an equal one, (T,).
    """

    before: Index
    kept: Flags


class BitBeam:
    """Beam distances of k pairs from bit-parallel rows.

    Parameters
    ----------
    groups
        Groups of equal tokens.
    hyp_lengths, ref_lengths
        Words of every pair, (N,), all positive.
    pairs
        The pairs that will be asked for, (k,).
    sliding
        Whether to restrict rows to the beam. Without, `ref_lengths[pairs]` is at most 63.
    """

    def __init__(
        self,
        groups: Groups,
        hyp_lengths: Index,
        ref_lengths: Index,
        pairs: Index,
        *,
        sliding: bool,
    ) -> None:
        self._n = hyp_lengths
        self._m = ref_lengths
        self._sliding = sliding
        inside = np.zeros(len(hyp_lengths), dtype=np.bool_)
        inside[pairs] = True
        used = inside[groups.pair] & (groups.hyp_count > 0) & (groups.ref_count > 0)
        # One word of columns on the left, for windows that start left of the matrix; the bits of
        # words without a match are the empty row in front.
        words = np.where(sliding, ref_lengths // 64 + 4, 1)
        size = np.where(used, words[groups.pair], 0)
        empty = int(words[pairs].max(initial=1))
        self._row = np.where(used, np.cumsum(size) - size + empty, 0)
        self._bits: Bits = np.zeros(empty + int(size.sum()), dtype=np.uint64)
        token = np.repeat(used, groups.ref_count)
        column = groups.positions[token] + (65 if sliding else 1)
        row = np.repeat(self._row, groups.ref_count)[token]
        bit = np.left_shift(ONE, (column & 63).astype(np.uint64))
        np.bitwise_or.at(self._bits, row + (column >> 6), bit)
        lengths = np.where(inside & sliding, hyp_lengths, 0)
        self._frames = offsets_of(lengths)
        ratio = np.repeat(ref_lengths / np.maximum(hyp_lengths, 1), lengths)
        # float64 and floor as in sacreBLEU: i * (m / n) may fall just short of a whole number.
        line = np.floor(expand(np.ones_like(lengths), lengths) * ratio).astype(np.int64)
        self._low = line - BEAM
        slide = np.diff(line, prepend=0)
        slide[self._frames[:-1][lengths > 0]] = FIRST
        self._slide = slide

    def rows(self, tokens: Ragged, pairs: Index) -> Rows:
        """Compute all rows of pairs (k,) whose hypotheses have the groups `tokens`."""
        layout = schedule(tokens.lengths)
        who = layout.order[layout.rank]
        flat = tokens.values[tokens.offsets[who] + layout.step]
        frame = self._frames[pairs[who]] + layout.step
        first = pairs[layout.order]
        low = self._low[self._frames[first]] if self._sliding else np.zeros_like(first)
        down = bits_below(np.maximum(1 - low, 0))
        corner = np.abs(low - 1)
        match = self._match(flat, frame)
        entries = len(match)
        history = np.empty((4, entries), dtype=np.uint64)
        corners = np.empty(entries if self._sliding else 0, dtype=np.int64)
        distance = self._run(layout, match, frame, (~down, down, corner), first, history, corners)
        place = np.empty_like(layout.order)
        place[layout.order] = np.arange(len(place))
        zero, above, rise, fall = history
        return Rows(distance[place], layout, place, match, zero, above, rise, fall, corners)

    def swapped(self, rows: Rows, tokens: Ragged, pairs: Index, which: Index, cuts: Index) -> Index:
        """Distances after exchanging two neighbouring blocks of a hypothesis, (C,).

        Rows before the first exchanged word are those of `rows`.

        Parameters
        ----------
        rows, tokens, pairs
            The unchanged hypotheses and their rows, (k,).
        which
            The hypothesis that is changed, index into `pairs`, (C,).
        cuts
            `[start, middle, stop]`: words `start:middle` and `middle:stop` change places, (C, 3).
        """
        pair = pairs[which]
        start = cuts[:, 0]
        layout = schedule(self._n[pair] - start)
        change = layout.order[layout.rank]
        row = start[change] + layout.step
        source = unswap(row, cuts[change]) + tokens.offsets[which[change]]
        frame = self._frames[pair[change]] + row
        match = self._match(tokens.values[source], frame)
        known = (rows.layout.starts[start] + rows.place[which])[layout.order]
        corner = rows.corner[known] if self._sliding else np.zeros_like(known)
        state = rows.up[known], rows.down[known], corner
        distance = self._run(layout, match, frame, state, pair[layout.order])
        result = np.empty_like(distance)
        result[layout.order] = distance
        return result

    def path(self, rows: Rows, tokens: Ragged, pairs: Index, keep: Index) -> Path:
        """Trace the preferred operations of the pairs `keep` (indices into `pairs`, ascending).

        Cells are left diagonally if that is optimal, else upwards, else to the left. A row is left
        at the last column, up to where it was entered, that is not left to the left; both kinds
        are bit vectors, so that a step is the highest bit of a word.
        """
        rank = np.sort(rows.place[keep])
        local = rows.layout.order[rank]
        layout = schedule(self._n[pairs[local]])
        entry = rows.layout.starts[layout.step] + rank[layout.rank]
        who = local[layout.rank]
        match = rows.match[entry]
        slanted = match | ~rows.zero[entry]
        halting = slanted | rows.above[entry]
        column = self._m[pairs[local]]
        if self._sliding:
            frame = self._frames[pairs[who]] + layout.step
            low = self._low[frame]
            halting &= _REACHED[self._slide[frame]]
        else:
            low = np.zeros_like(entry)
        left = np.empty_like(entry)
        before = np.empty_like(entry)
        for t in range(len(layout.counts) - 1, -1, -1):
            part = slice(layout.starts[t], layout.starts[t + 1])
            active = column[: layout.counts[t]]
            at = active - low[part]
            word = halting[part] << (63 - at).view(np.uint64)
            # Clearing the bit below the highest keeps the conversion from rounding up.
            word &= ~(word >> ONE)
            at -= 64 - np.frexp(word.astype(np.float64))[1]
            slant = (slanted[part] >> at.view(np.uint64)) & ONE
            left[part] = at
            np.add(at, low[part], out=active)
            active -= slant.view(np.int64)
            before[part] = active
        kept = ((match >> left.view(np.uint64)) & ONE).astype(np.bool_)
        offsets = offsets_of(tokens.lengths[keep])
        target = offsets[np.searchsorted(keep, who)] + layout.step
        path = Path(np.empty_like(before), np.empty_like(kept))
        path.before[target] = before
        path.kept[target] = kept
        return path

    def _match(self, group: Index, frame: Index) -> Bits:
        """Columns of the window that equal a word, for entries (E,)."""
        if not self._sliding:
            return self._bits[self._row[group]]
        column = self._low[frame] + 64
        shift = (column & 63).astype(np.uint64)
        word = self._row[group] + (column >> 6)
        match: Bits = self._bits[word] >> shift
        match |= (self._bits[word + 1] << ONE) << (np.uint64(63) - shift)
        match &= _MATCHABLE[self._slide[frame]]
        return match

    def _run(
        self,
        layout: Schedule,
        match: Bits,
        frame: Index,
        state: tuple[Bits, Bits, Index],
        pair: Index,
        history: Bits | None = None,
        corners: Index | None = None,
    ) -> Index:
        """Advance rows to the end and return distances, by rank."""
        up, down, corner = state
        n = len(up)
        spare = np.empty((3, n), dtype=np.uint64)
        slide = self._slide[frame] if self._sliding else None
        starts = layout.starts.tolist()
        for t, k in enumerate(layout.counts.tolist()):
            part = slice(starts[t], starts[t + 1])
            rise, fall = up[:k], down[:k]
            zero, above, extra = spare[:, :k]
            if history is not None:
                zero, above = history[:2, part]
                history[2, part] = rise
                history[3, part] = fall
            if slide is not None:
                if corners is not None:
                    corners[part] = corner[:k]
                _slide_window(slide[part], rise, fall, corner[:k])
            advance(match[part], rise, fall, zero, above, extra)
        last = self._m[pair]
        if self._sliding:
            last = last - self._low[self._frames[pair] + self._n[pair] - 1]
        else:
            corner = self._n[pair] + 1
        inside = bits_below(last + 1)
        distance: Index = corner + np.bitwise_count(up & inside)
        distance -= np.bitwise_count(down & inside)
        return distance


def _slide_window(slide: Index, up: Bits, down: Bits, corner: Index) -> None:
    """Move windows (k,) to the columns of the next row, in place."""
    dropped = _DROPPED[slide]
    corner += _RISE[slide]
    corner += np.bitwise_count(up & dropped)
    corner -= np.bitwise_count(down & dropped)
    shift, keep = _SHIFT[slide], _KEEP[slide]
    up >>= shift
    up &= keep
    up |= _NEW[slide]
    down >>= shift
    down &= keep
    down |= _LOST[slide]


def unswap(row: Index, cuts: Index) -> Index:
    """Position before the exchange of the word at `row` (E,) after it; `cuts` (E, 3)."""
    start, middle, stop = cuts.T
    moved = np.where(row < start + stop - middle, row + middle - start, row - (stop - middle))
    return np.where((row < start) | (row >= stop), row, moved)


def beam_is_idle(n: Index, m: Index, distance: Index) -> Flags:
    """Whether the beam provably changes neither distance nor path, given the distance without it.

    n, m, distance: (k,). With m <= 24 every row lies inside the beam.
    """
    idle: Flags = (m < BEAM) | (distance + np.abs(n - m) <= 2 * BEAM - 4)
    return idle
