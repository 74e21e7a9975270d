"""Edit distances and longest common subsequences of many pairs at once, with bit vectors.

Both fill a matrix that compares the first i tokens of one sequence with every prefix of the other.
Neighbours in a row differ by at most 1, so a row is one or two vectors of bits, and a few
operations on words of 64 bits compute the next row.

- *Edit distance* (Levenshtein, 1966), for WER and CER: neighbours differ by -1, 0 or +1, so a row
  is stored as `up`, the columns that are one more than their left neighbour, and `down`, the
  columns that are one less; about twenty operations (Myers, 1999; the form of Hyyrö, 2003).
- *Longest common subsequence*, for ROUGE-L and -Lsum: neighbours differ by 0 or 1, so a row is one
  vector with a 0 at each increase (Crochemore, Iliopoulos, Pinzon and Reid, 2001; the form of
  Hyyrö, 2004). To find the common tokens, the table itself is needed.

The longer sequence of a pair gives the columns, 64 to a word, the shorter one the rows. Word b of a
row depends on word b - 1 of the same row, so word b is computed one step later than word b - 1.
Then all words of all pairs take a step together, here for 3 rows of 2 words:

    step     0      1      2      3
    word 0   row 1  row 2  row 3
    word 1          row 1  row 2  row 3

Time is O(n m / 64) per pair. Memory is bounded by blocks of pairs: a million short segments need no
more than a thousand. One pair of 100,000 tokens takes seconds and memory linear in its length,
except for the bit vectors of tokens (at most 4096 of them).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evalstats.text.ids import group_tokens
from evalstats.text.ragged import (
    Bits,
    Flags,
    Index,
    Lines,
    Ragged,
    active_counts,
    expand,
    offsets_of,
    slices,
)

#: Number of tokens of pairs computed together.
_BLOCK_TOKENS = 1 << 18
#: Larger pairs are computed row by row, with each row as a Python integer.
_BLOCK_WORDS = 1 << 22
#: Number of bit vectors of tokens kept for such a pair.
_KEPT = 1 << 12
#: A table with at most this many entries per token is faster than sorting the tokens.
_ENTRIES = 4
#: Number of table entries filled at once, so that they stay in a core's cache, and number of tokens
#: of pairs of lines compared at once.
_BLOCK_ENTRIES, _BLOCK_LINES = 1 << 18, 1 << 20
_ONE = np.uint64(1)
_TOP = np.uint64(63)
#: The steps back through a table.
_UP, _LEFT, _BOTH = 0, 1, 2


def levenshtein(hyps: Ragged, refs: Ragged) -> Index:
    """Edit distance of every (hypothesis, reference) pair, (n,), with unit costs.

    >>> from evalstats.text.tokenization import characters
    >>> hypotheses, references = ["kitten", "", "same"], ["sitting", "ab", "same"]
    >>> levenshtein(characters(hypotheses), characters(references)).tolist()
    [3, 2, 0]
    """
    against_nothing = np.maximum(hyps.lengths, refs.lengths)
    return of_pairs(hyps, refs, against_nothing, _distances, _long_distance)


def _distances(layout: Layout) -> Index:
    """Distances of the pairs of a block, (k,)."""
    # Each free bit of the first word lowers the value by one, so that the first column begins at 0.
    down = np.zeros(len(layout.lead), dtype=np.uint64)
    down[layout.first[:-1]] = (_ONE << layout.free) - _ONE
    up = ~down
    # Column 0 rises by one in every row; this change enters the first word of a pair from the left.
    # Every other word receives the change of the last column of the word before.
    lead, follow = layout.lead, _ONE - layout.lead
    rise, fall = lead.copy(), np.zeros_like(lead)
    score = np.zeros(len(lead), dtype=np.int64)
    spare = np.empty((5, len(lead)), dtype=np.uint64)
    for active in layout.active:
        match, zero, above, below, extra = spare[:, :active]
        ups, downs, enter, leave = (x[:active] for x in (up, down, rise, fall))
        layout.take_matches(match)
        np.bitwise_or(match, leave, out=match)
        np.bitwise_and(match, ups, out=zero)
        zero += ups
        zero ^= ups
        zero |= match
        zero |= downs
        np.bitwise_or(zero, ups, out=above)
        np.invert(above, out=above)
        above |= downs
        np.bitwise_and(zero, ups, out=below)
        np.add(above, above, out=extra)
        extra |= enter
        np.add(below, below, out=ups)
        ups |= leave
        np.bitwise_and(extra, zero, out=downs)
        extra |= zero
        np.invert(extra, out=extra)
        ups |= extra
        # The highest bits are the change of the last column, the input of the next word.
        above >>= _TOP
        below >>= _TOP
        score[:active] += above.view(np.int64)
        score[:active] -= below.view(np.int64)
        np.bitwise_and(above[:-1], follow[1:active], out=enter[1:])
        np.bitwise_or(enter, lead[:active], out=enter)
        np.bitwise_and(below[:-1], follow[1:active], out=leave[1:])
    return layout.columns + score[layout.first[1:] - 1]


def _long_distance(rows: Index, columns: Index) -> int:
    """Distance of one pair, with rows of one long integer each."""
    m = len(columns)
    full, top = (1 << m) - 1, m - 1
    up, down, distance = full, 0, m
    for match in match_integers(rows, columns):
        zero = ((((match & up) + up) ^ up) | match | down) & full
        above = down | (full ^ (zero | up))
        below = zero & up
        distance += (above >> top) - (below >> top)
        above = ((above << 1) | 1) & full
        down = above & zero
        up = ((below << 1) & full) | (full ^ (above | zero))
    return distance


def common_lengths(hyps: Ragged, refs: Ragged) -> Index:
    """Length of a longest common subsequence of every (hypothesis, reference) pair, (n,).

    >>> from evalstats.text.tokenization import characters
    >>> common_lengths(characters(["kitten", "", "abcb"]), characters(["sitting", "a", "bdcab"]))
    array([4, 0, 3])
    """
    return of_pairs(hyps, refs, np.zeros(len(hyps), dtype=np.int64), _lengths, _long_length)


def _lengths(layout: Layout) -> Index:
    """Lengths of the pairs of a block, (k,)."""
    level = np.full(len(layout.lead), ~np.uint64(0))
    carried = np.zeros_like(level)
    spare = np.empty((3, len(level)), dtype=np.uint64)
    overflow = np.empty((2, len(level)), dtype=np.bool_)
    inner = layout.lead == 0
    for active in layout.active:
        match, rising, total = spare[:, :active]
        first, second = overflow[:, :active]
        levels, enter = level[:active], carried[:active]
        layout.take_matches(match)
        np.bitwise_and(match, levels, out=rising)
        # The sum carries from one word of a row into the next.
        np.add(levels, rising, out=total)
        np.less(total, levels, out=first)
        total += enter
        np.less(total, enter, out=second)
        first |= second
        levels ^= rising
        levels |= total
        np.logical_and(first[:-1], inner[1:active], out=second[1:])
        enter[1:] = second[1:]
    return np.add.reduceat(np.bitwise_count(~level).astype(np.int64), layout.first[:-1])


def _long_length(rows: Index, columns: Index) -> int:
    """Length of one pair, with rows of one long integer each."""
    level = full = (1 << len(columns)) - 1
    for match in match_integers(rows, columns):
        rising = level & match
        level = ((level + rising) | (level ^ rising)) & full
    return (full ^ level).bit_count()


def summary_hits(hyps: Lines, refs: Lines) -> Index:
    """Count the tokens of every reference that its hypothesis has in order, line by line, (n,).

    A token of a reference counts if it is in the common subsequence of its line with any line of
    the hypothesis (the union of Lin, 2004, section 3.2), and equal tokens count at most as often as
    in the hypothesis. Among several common subsequences, the choice is the same as in rouge_score.
    """
    several = (hyps.counts > 1) | (refs.counts > 1)
    single, unions = np.flatnonzero(~several), np.flatnonzero(several)
    hits = np.zeros(len(several), dtype=np.int64)
    # For one line on each side the union is the common subsequence itself.
    hits[single] = common_lengths(hyps.take(single).texts, refs.take(single).texts)
    hyps, refs = hyps.take(unions), refs.take(unions)
    is_common = np.zeros(len(refs.lines.values), dtype=np.bool_)
    owner = np.repeat(np.arange(len(refs.counts)), refs.counts)
    partners = hyps.counts[owner]
    tokens = hyps.texts.lengths[owner] + refs.lines.lengths * partners
    for part in slices(tokens, _BLOCK_LINES):
        line = np.repeat(np.arange(part.start, part.stop), partners[part])
        other = expand(hyps.edges[:-1][owner[part]], partners[part])
        ref = refs.lines.take(line)
        places = expand(refs.lines.offsets[:-1][line], refs.lines.lengths[line])
        is_common[places[common_tokens(hyps.lines.take(other), ref)]] = True
    groups = group_tokens(hyps.texts, refs.texts)
    marked = np.bincount(groups.ref[is_common], minlength=len(groups.pair))
    np.add.at(hits, unions[groups.pair], np.minimum(marked, groups.hyp_count))
    return hits


def common_tokens(hyps: Ragged, refs: Ragged) -> Flags:
    """Mark the tokens of every reference that are in one common subsequence of its pair, (T_ref,).

    Going back from the end of both, equal tokens are paired. Otherwise a token of the hypothesis is
    skipped if only this keeps the length, or else a token of the reference, as in rouge_score.
    """
    n, m = refs.lengths, hyps.lengths
    marks = np.zeros(len(refs.values), dtype=np.bool_)
    pairs = np.flatnonzero((n > 0) & (m > 0))
    size = np.maximum(n, m)
    pairs = pairs[np.argsort(size[pairs], kind="stable")]
    for part in slices(size[pairs] ** 2, _BLOCK_ENTRIES):
        places = pairs[part]
        moves = _moves(_filled(refs.take(places), -1), _filled(hyps.take(places), -2))
        pair, i, j = np.arange(len(places)), n[places] - 1, m[places] - 1
        while len(pair):
            move = moves[i, pair, j]
            is_match = move == _BOTH
            marks[refs.offsets[places[pair[is_match]]] + i[is_match]] = True
            i, j = i - (move != _LEFT), j - (move != _UP)
            going = (i >= 0) & (j >= 0)
            pair, i, j = pair[going], i[going], j[going]
    return marks


def _filled(texts: Ragged, filling: int) -> Index:
    """Return the tokens of k texts in rows of one length, (k, longest)."""
    lengths = texts.lengths
    rows = np.full((len(texts), int(lengths.max())), filling, dtype=np.int64)
    rows[np.arange(rows.shape[1]) < lengths[:, None]] = texts.values
    return rows


def _moves(rows: Index, columns: Index) -> NDArray[np.uint8]:
    """Return how a path goes back from every entry, `(k, n)` and `(k, m)` to `(n, k, m)`."""
    moves = np.empty((rows.shape[1], *columns.shape), dtype=np.uint8)
    table = np.zeros((len(rows), columns.shape[1] + 1), dtype=np.int32)
    for i in range(rows.shape[1]):
        same = columns == rows[:, i, None]
        below = table.copy()
        np.maximum(below[:, 1:], table[:, :-1] + same, out=below[:, 1:])
        np.maximum.accumulate(below, axis=1, out=below)
        moves[i] = below[:, :-1] > table[:, 1:]
        moves[i][same] = _BOTH
        table = below
    return moves


class Layout(NamedTuple):
    """The k pairs of a block, with W words in a row together, sorted by falling number of steps.

    `bits` are the vectors of tokens, `vectors` gives the start of the vector of each row, and
    `cursor`, (W,), the row that each word has reached. `block` is the number of a word in its pair,
    `lead` 1 for the first word of a pair and 0 for the others, (W,); `first` where the words of
    each pair start, (k + 1,). The `columns` of a pair end at the highest bit of its last word, and
    leave the lowest `free` bits of its first word, (k,). `active` is the number of words computed
    in each step, always the first ones.
    """

    bits: Bits
    vectors: Index
    cursor: Index
    block: Index
    lead: Bits
    first: Index
    columns: Index
    free: Bits
    active: list[int]

    def take_matches(self, out: Bits) -> None:
        """Write which columns equal the row of each active word, `(active,)`, and step on."""
        n = len(out)
        vector = self.vectors.take(self.cursor[:n], mode="clip")
        vector += self.block[:n]
        # All indices are in range; with a check, NumPy would fill a copy of `out`.
        np.take(self.bits, vector, out=out, mode="clip")
        self.cursor[:n] += 1


def of_pairs(
    hyps: Ragged,
    refs: Ragged,
    against_nothing: Index,
    of_block: Callable[[Layout], Index],
    of_long: Callable[[Index, Index], int],
) -> Index:
    """Return a symmetric number for every (hypothesis, reference) pair, (n,).

    `against_nothing` gives the numbers for pairs with an empty side; `of_block` computes the
    numbers of a block of pairs, and `of_long` the number of one pair with long rows.
    """
    n, m = hyps.lengths, refs.lengths
    short, long = np.minimum(n, m), np.maximum(n, m)
    numbers: Index = against_nothing.copy()
    both = Ragged(
        np.concatenate([hyps.values, refs.values]),
        np.concatenate([hyps.offsets[:-1], refs.offsets + len(hyps.values)]),
    )
    swap = n > m
    rows = np.arange(len(n)) + np.where(swap, len(n), 0)
    columns = np.arange(len(n)) + np.where(swap, 0, len(n))
    words = (long + 63) // 64
    large = short * words > _BLOCK_WORDS
    for pair in np.flatnonzero(large):
        one, other = (both.rows(side[pair], side[pair] + 1).values for side in (rows, columns))
        numbers[pair] = of_long(one, other)
    pairs = np.flatnonzero((short > 0) & ~large)
    pairs = pairs[np.argsort(-(short + words)[pairs], kind="stable")]
    # The memory of a pair is at most one bit vector per distinct token.
    for part in slices(np.maximum(n + m, short * words // 16)[pairs], _BLOCK_TOKENS):
        places = pairs[part]
        numbers[places] = of_block(_layout(both.take(rows[places]), both.take(columns[places])))
    return numbers


def _layout(rows: Ragged, columns: Ragged) -> Layout:
    """Return the layout of pairs, sorted by falling number of rows plus words of columns."""
    n, m = rows.lengths, columns.lengths
    words = (m + 63) // 64
    bits, vector = _match_vectors(rows, columns, words)
    # Word b is b steps late; before and after its rows it gets words without a match.
    padding = offsets_of(n + 2 * (words - 1))
    padded = np.zeros(int(padding[-1]), dtype=np.int64)
    padded[expand(padding[:-1] + words - 1, n)] = vector
    first = offsets_of(words)
    block = expand(np.zeros_like(words), words)
    return Layout(
        bits=bits,
        vectors=padded,
        cursor=np.repeat(padding[:-1] + words - 1, words) - block,
        block=block,
        lead=(block == 0).astype(np.uint64),
        first=first,
        columns=m,
        free=(64 * words - m).astype(np.uint64),
        active=first[active_counts(n + words - 1)].tolist(),
    )


def _match_vectors(rows: Ragged, columns: Ragged, words: Index) -> tuple[Bits, Index]:
    """Return bit vectors of all pairs, (W,), and the start of each token's vector, (T,).

    A vector marks the columns whose token equals the token of a row. The first vector is empty and
    is used for all tokens without an equal one.
    """
    in_rows, in_columns, n_tokens = _shared_tokens(rows, columns)
    size = np.zeros(n_tokens, dtype=np.int64)
    size[in_columns] = np.repeat(words, columns.lengths)
    alone = np.ones(n_tokens, dtype=np.bool_)
    alone[in_rows] = False
    size[alone] = 0
    empty = int(words.max())
    vector = np.where(size > 0, np.cumsum(size) - size + empty, 0)
    bits = np.zeros(empty + int(size.sum()), dtype=np.uint64)
    start = vector[in_columns]
    used = np.flatnonzero(start)
    column = expand(64 * words - columns.lengths, columns.lengths)[used]
    place = start[used] + (column >> 6)
    np.bitwise_or.at(bits, place, _ONE << (column & 63).astype(np.uint64))
    return bits, vector[in_rows]


def _shared_tokens(hyps: Ragged, refs: Ragged) -> tuple[Index, Index, int]:
    """Return a number for every token of pairs, (T_hyp,) and (T_ref,), and an upper bound.

    Equal tokens of a pair have the same number, tokens of different pairs never do; no segment may
    be empty. If ids are small, as for characters, the number is the id plus the ids used by earlier
    pairs: [0, 1], [2] against [1], [0, 2] gives [0, 1, 4] and [1, 2, 4], below 5.
    """
    sides = hyps, refs
    lowest = min(int(side.values.min(initial=0)) for side in sides)
    highest = np.maximum(*(np.maximum.reduceat(s.values, s.offsets[:-1]) for s in sides))
    n_tokens = len(hyps.values) + len(refs.values)
    if lowest < 0 or highest.sum(dtype=np.float64) > _ENTRIES * n_tokens:
        groups = group_tokens(hyps, refs)
        return groups.hyp, groups.ref, len(groups.pair)
    base = offsets_of(highest + 1)
    hyp, ref = (np.repeat(base[:-1], side.lengths) + side.values for side in sides)
    return hyp, ref, int(base[-1])


def match_integers(rows: Index, columns: Index) -> Iterator[int]:
    """Yield for every row of one pair the equal columns: bit j of an integer is column j."""
    matches = lru_cache(_KEPT)(
        lambda token: int.from_bytes(
            np.packbits(columns == token, bitorder="little").tobytes(), "little"
        )
    )
    return map(matches, rows.tolist())
