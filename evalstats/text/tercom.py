"""Translation edit rate, exactly as sacreBLEU and Tercom compute it, for a whole corpus at once.

TER (Snover and others, 2006) counts word edits after greedy shifts of blocks. In every round the
shift that lowers the edit distance most is applied. Rounds of different pairs are independent, so
all pairs take a round together, and all their candidate shifts are evaluated together.

*Shifts.* A block of hypothesis words that occurs in the reference may move to its place in the
reference, if both places contain errors. The candidates are the same as in sacreBLEU's `_shift`.
Their order differs, but this does not matter: the best one has a unique rank, and the limit of
1,000 depends only on their number.

*Distances*, within a beam. Row i of the distance matrix compares the first i words of the
hypothesis (n words) with every prefix of the reference (m words). sacreBLEU computes it near the
diagonal only, in the columns from `line(i) - beam` up to `line(i) + beam`, the latter excluded,
with `line(i) = floor(i * m / n)`. Everything else counts as infinite. So a row is a window of `2 *
beam` cells, which moves right by `slide` from one row to the next. With m = 8, n = 4 and a beam of
2, rows 2 and 3 are

    column   0  1  2  3  4  5  6  7  8
    row 2          x  x  x  x                line 4
    row 3                x  x  x  x          line 6, slide 2

A cell holds the distance minus its column. This makes row 0 zero, an insertion (a step to the
right) costs nothing, and a row is the running minimum of the values from the row above:

    from the upper left:  value - 1 if the words are equal, value if they differ from above:
    value + 1

A stored row has an infinite cell on its left and some on its right, for the cells that the row
below reads outside the window; so row i + 1 reads `2 * beam + 1` stored cells from `slide` on. All
pairs take a step together. Those with the most rows to compute come first, so that the pairs which
still have a row to compute are always the first ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from evalstats.text.ids import Groups, group_tokens
from evalstats.text.ragged import Flags, Index, Ragged, active_counts, expand, offsets_of, slices

BEAM = 25
MAX_SHIFT_SIZE = 10
MAX_SHIFT_DISTANCE = 50
MAX_CANDIDATES = 1000
_INFINITE = 1 << 29
#: Cells of distance matrices held at a time, four bytes each; padding at most doubles them.
_BLOCK_CELLS = 1 << 21
#: Number of matches of one word extended at a time.
_MATCHES = 1 << 19

Cells = NDArray[np.int32]


def translation_edits(hyps: Ragged, refs: Ragged) -> Index:
    """Edits of every (hypothesis, reference) pair of word sequences, (n,).

    Shifts plus insertions, deletions and substitutions: equal to `num_edits` of sacreBLEU's
    `translation_edit_rate` on every pair, with its beam and its limits. Equal integers are equal
    words. Memory is bounded by blocks of pairs; one long pair needs about 50 cells of four bytes
    for every word of its hypothesis.

    >>> from evalstats.text.tokenization import characters
    >>> translation_edits(characters(["abcd"]), characters(["cdab"])).tolist()
    [1]
    """
    n, m = hyps.lengths, refs.lengths
    edits = np.maximum(n, m)
    both = np.flatnonzero((n > 0) & (m > 0))
    # Columns on either side of the diagonal; sacreBLEU widens them if m > 50 n.
    half = m[both] / n[both] / 2
    beams = np.where(half > BEAM, np.ceil(half + BEAM), BEAM).astype(np.int64)
    for beam in np.unique(beams).tolist():
        pairs = both[beams == beam]
        pairs = pairs[np.argsort(-n[pairs], kind="stable")]
        for part in slices((n[pairs] + 1) * 2 * beam, _BLOCK_CELLS):
            rows = pairs[part]
            edits[rows] = _block(hyps.take(rows), refs.take(rows), beam)
    return edits


def _block(hyps: Ragged, refs: Ragged, beam: int) -> Index:
    """Edits of pairs without empty sides, (k,), sorted by falling length of the hypothesis.

    Shifts are applied until none lowers the edits.
    """
    groups = group_tokens(hyps, refs)
    shared = np.minimum(groups.hyp_count, groups.ref_count)
    common = np.bincount(groups.pair, shared, minlength=len(hyps)).astype(np.int64)
    # The distance of the bags of words is the least possible for any order of the words. Without a
    # common word it is the distance.
    least = np.maximum(hyps.lengths, refs.lengths) - common
    edits: Index = least.copy()
    pairs = np.flatnonzero(common)
    hyps = Ragged(groups.hyp, hyps.offsets).take(pairs)
    refs = Ragged(groups.ref, refs.offsets).take(pairs)
    checked = np.zeros(len(pairs), dtype=np.int64)
    for shifts in count():
        if not len(pairs):
            break
        rows = Rows(hyps, refs, beam)
        edits[pairs] = shifts + rows.distance
        # A shift costs one edit, so at one above the least there is nothing to gain.
        keep = np.flatnonzero(rows.distance > least[pairs] + 1)
        path = rows.path(keep)
        pairs, hyps, refs = pairs[keep], hyps.take(keep), refs.take(keep)
        alignment = align(path, hyps, refs.lengths)
        options, checked = find_candidates(groups, hyps, refs, alignment, checked[keep])
        gain = rows.distance[keep][options.which]
        for part in slices(np.full(len(gain), 4 * beam), _BLOCK_CELLS):
            gain[part] -= rows.swapped(keep[options.which[part]], options.cuts[part])
        best = _best(options, gain)
        moved = options.which[best]
        pairs, refs, checked = pairs[moved], refs.take(moved), checked[moved]
        hyps = hyps.take(moved)
        owner = np.repeat(np.arange(len(hyps)), hyps.lengths)
        start = hyps.offsets[owner]
        place = unswap(np.arange(len(owner)) - start, options.cuts[best][owner]) + start
        hyps = Ragged(hyps.values[place], hyps.offsets)
    return edits


def _best(shifts: Candidates, gain: Index) -> Index:
    """Index of the best shift of every hypothesis that has one with a gain.

    Tercom ranks by gain, then the longest block, the leftmost block, the leftmost target.
    """
    good = np.flatnonzero(gain > 0)
    which = shifts.which[good]
    order = np.lexsort(
        (shifts.target[good], shifts.start[good], -shifts.length[good], -gain[good], which)
    )
    first = np.ones(len(order), dtype=np.bool_)
    first[1:] = which[order][1:] != which[order][:-1]
    return good[order[first]]


class Alignment(NamedTuple):
    """The alignment of k hypotheses and references along a path.

    In this pair the path deletes `sat`, replaces `the` by `big` and inserts `sat`::

        hypothesis    sat  on  the  mat   .        hyp_wrong    0  1  1  2  2
        reference      .   on  big  mat  sat       ref_wrong    0  0  1  1  2

        reference word x    on  big  mat  sat  (end)
        place                0    2    3    4    4
        steps                0    1    2    3    3

    Reference word 3, `sat`, is wrong, and so is word 0 of the hypothesis: the word may move to
    `place[3]` or `place[4]`. Both are 4, so there is one target: the number of steps between the
    two, plus one.

    """

    #: The start of each pair's entries in `place`, `steps` and `ref_wrong`, (k+1,); every pair has
    #: an entry for each reference word and one for the end.
    slot: Index
    #: Number of hypothesis words consumed before reference word x.
    place: Index
    #: Running count of entries of `place` that differ from their left neighbour.
    steps: Index
    #: Running count of hypothesis words not kept, (T+1,).
    hyp_wrong: Index
    #: Running count of reference words not kept, before word x.
    ref_wrong: Index


class Candidates(NamedTuple):
    """Shifts (C,): `length` words of the hypothesis `which` move from `start` to `target`.

    Numbers are as in sacreBLEU. `cuts` are the same shifts as exchanges of two neighbouring blocks,
    (C, 3).
    """

    which: Index
    start: Index
    length: Index
    target: Index
    cuts: Index


def align(path: Path, tokens: Ragged, ref_lengths: Index) -> Alignment:
    """Turn paths into alignments; `ref_lengths` (k,)."""
    entries = ref_lengths + 1
    slot = offsets_of(entries)
    reached = np.repeat(slot[:-1], tokens.lengths) + path.before
    place = np.searchsorted(reached, np.arange(slot[-1]))
    place -= np.repeat(tokens.offsets[:-1], entries)
    wrong = np.ones(int(slot[-1]), dtype=np.bool_)
    wrong[reached[path.kept]] = False
    wrong[slot[1:] - 1] = False
    steps = np.cumsum(np.diff(place, prepend=0) != 0)
    return Alignment(slot, place, steps, offsets_of(~path.kept), offsets_of(wrong))


def find_candidates(
    groups: Groups, tokens: Ragged, refs: Ragged, alignment: Alignment, checked: Index
) -> tuple[Candidates, Index]:
    """List the shifts to try for k hypotheses, and count them with the shifts of earlier rounds.

    Hypotheses and references hold `groups` of equal tokens. `checked`, (k,), counts the candidates
    of earlier rounds. If there are `MAX_CANDIDATES` in all, none is listed, because sacreBLEU then
    drops the round.
    """
    lengths = tokens.lengths
    which = np.repeat(np.arange(len(lengths)), lengths)
    start = expand(np.zeros_like(lengths), lengths)
    # The equal reference words within reach. Their positions ascend within a group, and groups
    # ascend: together they are one sorted key.
    scale = int(groups.positions.max()) + int(start.max(initial=0)) + 2 * MAX_SHIFT_DISTANCE
    key = np.repeat(np.arange(len(groups.first)), groups.ref_count) * scale + groups.positions
    low = tokens.values * scale + np.maximum(start - MAX_SHIFT_DISTANCE, 0)
    high = tokens.values * scale + start + MAX_SHIFT_DISTANCE
    first = np.searchsorted(key, low)
    n_equal = np.searchsorted(key, high, side="right") - first
    checked = checked.copy()
    parts = [np.zeros((4, 0), dtype=np.int64)]
    # In blocks of matches, to bound memory for a long segment of a single repeated word; after the
    # first block it already has too many candidates.
    for part in slices(n_equal, _MATCHES):
        token = np.flatnonzero(checked[which[part]] < MAX_CANDIDATES) + part.start
        position = groups.positions[expand(first[token], n_equal[token])]
        token = np.repeat(token, n_equal[token])
        grown = _grow(tokens, refs, alignment, token, which[token], position)
        slot = alignment.slot[grown[0]] + grown[2]
        targets = 1 + alignment.steps[slot + grown[3]] - alignment.steps[slot]
        np.add.at(checked, grown[0], targets)
        parts.append(grown)
    shifts = np.concatenate(parts, axis=1)
    shifts = shifts[:, checked[shifts[0]] < MAX_CANDIDATES]
    return _expand_targets(shifts, alignment, lengths), checked


def _grow(
    tokens: Ragged, refs: Ragged, alignment: Alignment, token: Index, which: Index, position: Index
) -> Index:
    """Extend matches of one word, (M,), and keep those that can be shifted.

    Returns rows `which, start, position, length`, one column for every length of every match.
    """
    start = token - tokens.offsets[which]
    word = refs.offsets[which] + position
    slot = alignment.slot[which] + position
    aligned = alignment.place[slot + 1] - 1
    # Words left in both sequences, including the first of the match.
    room = np.minimum(tokens.lengths[which] - start, refs.lengths[which] - position)
    shifts = []
    for length in range(1, MAX_SHIFT_SIZE + 1):
        tried = (
            (alignment.hyp_wrong[token + length] > alignment.hyp_wrong[token])
            & (alignment.ref_wrong[slot + length] > alignment.ref_wrong[slot])
            & ((aligned < start) | (aligned >= start + length))
        )
        lengths = np.full(np.count_nonzero(tried), length)
        shifts.append(np.stack([which[tried], start[tried], position[tried], lengths]))
        more = np.flatnonzero(room > length)
        more = more[tokens.values[token[more] + length] == refs.values[word[more] + length]]
        if not len(more):
            break
        token, which, start, position, word, slot, aligned, room = (
            x[more] for x in (token, which, start, position, word, slot, aligned, room)
        )
    return np.concatenate(shifts, axis=1)


def _expand_targets(shifts: Index, alignment: Alignment, hyp_lengths: Index) -> Candidates:
    """Give every match (4, M) its distinct targets."""
    which, start, position, length = shifts
    repeat = np.repeat(np.arange(len(which)), length + 1)
    offset = expand(np.zeros_like(length), length + 1)
    slot = alignment.slot[which[repeat]] + position[repeat] + offset
    new = (offset == 0) | (alignment.place[slot] != alignment.place[slot - 1])
    repeat, target = repeat[new], alignment.place[slot[new]]
    which, start, length = which[repeat], start[repeat], length[repeat]
    end = start + length
    # Up to the end of the block, a target moves the block by target - start words; beyond the
    # block, a target is a place between words.
    cuts = np.stack([start, end, np.where(target > end, target, target + length)], axis=1)
    cuts[:, 2] = np.minimum(cuts[:, 2], hyp_lengths[which])
    left = target < start
    cuts[left] = np.stack([target, start, end], axis=1)[left]
    moves = (cuts[:, 0] < cuts[:, 1]) & (cuts[:, 1] < cuts[:, 2])
    return Candidates(which[moves], start[moves], length[moves], target[moves], cuts[moves])


class Path(NamedTuple):
    """The operations that Tercom prefers among the optimal ones.

    For every hypothesis word, `before` is the number of reference words consumed before it, and
    `kept` is whether an equal word matches it, (T,).
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
        # Row 0 is complete. The cells that row 1 reads are stored, from the first cell on. This
        # cell is finite only if m > beam * n, and then the rows below slide past it.
        self._slide[hyps.offsets[:-1]] = 0
        # The word of column c is word c - 1. Window cells outside the reference have no effect:
        # columns left of 0 are infinite, and no path leads back from columns beyond m.
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
        self.distance: Index = self._last(state, every)

    def swapped(self, which: Index, cuts: Index) -> Index:
        """Distances after exchanging two neighbouring blocks of a hypothesis, (C,).

        `which` is the pair that is changed, (C,). With `cuts`, `[start, middle, stop]`, the words
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
        """Replace stored rows in place by the rows below, step by step, to the last row.

        `state` is row `cuts[:, 0]` of every hypothesis, (C, stride), sorted by falling number of
        steps; `pair` and `cuts` are as in `swapped`. Yields the step, and the number of rows
        replaced, which are the first ones.
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
