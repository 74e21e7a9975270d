"""Rows of bits for many pairs of sequences at once: what edit distances and subsequences share.

Both fill a matrix that compares the first i tokens of one sequence with every prefix of the other.
Neighbours in a row differ by so little that a row is one or two vectors of bits, and few operations
on words of 64 bits turn a row into the next.

The longer sequence of a pair gives the columns, 64 to a word, the shorter one the rows. Word b of a
row depends on word b - 1 of the same row, so that word b works one step later than word b - 1.
Then all words of all pairs take a step together, here for 3 rows of 2 words:

    step     0      1      2      3
    word 0   row 1  row 2  row 3
    word 1          row 1  row 2  row 3

Time is O(n m / 64) a pair. Memory is bounded by blocks of pairs, so that a million short segments
need no more than a thousand; one pair of 100,000 tokens takes seconds and memory linear in its
length, except for the bit vectors of tokens (at most 4096 of them).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from evalstats.text.ids import group_tokens
from evalstats.text.ragged import Bits, Index, Ragged, active_counts, expand, offsets_of, slices

_BLOCK_TOKENS = 1 << 18
# Pairs whose rows together have more words take one row after the other as a Python integer.
_BLOCK_WORDS = 1 << 22
# So many bit vectors of tokens are kept of such a pair.
_KEPT = 1 << 12
# Tables with so many entries for a token take less time than sorting the tokens.
_ENTRIES = 4
_ONE = np.uint64(1)


class Layout(NamedTuple):
    """The k pairs of a block, with W words in a row together, sorted by falling number of steps.

    `bits` are the vectors of tokens, `vectors` where those of all rows start, and `cursor`, (W,),
    at which row each word is. `block` is the number of a word in its pair, `lead` 1 for the first
    word of a pair and 0 for the others, (W,); `first` where the words of each pair start, (k + 1,).
    The `columns` of a pair end at the highest bit of its last word, and leave the lowest `free`
    bits of its first word, (k,). `active` are the words that work in each step: the first so many.
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
        # All are in range; NumPy would fill a copy of `out` to check that.
        np.take(self.bits, vector, out=out, mode="clip")
        self.cursor[:n] += 1


def of_pairs(
    hyps: Ragged,
    refs: Ragged,
    against_nothing: Index,
    of_block: Callable[[Layout], Index],
    of_long: Callable[[Index, Index], int],
) -> Index:
    """Return a number of every (hypothesis, reference) pair, (n,), that is the same either way.

    `against_nothing` are those of pairs with an empty side; `of_block` returns those of a block of
    pairs, `of_long` that of the tokens of one pair whose rows are long.
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
    # A bit vector for every distinct token of both sides bounds the memory of a pair.
    for part in slices(np.maximum(n + m, short * words // 16)[pairs], _BLOCK_TOKENS):
        places = pairs[part]
        numbers[places] = of_block(_layout(both.take(rows[places]), both.take(columns[places])))
    return numbers


def _layout(rows: Ragged, columns: Ragged) -> Layout:
    """Return the layout of pairs sorted by falling sum of rows and words of columns."""
    n, m = rows.lengths, columns.lengths
    words = (m + 63) // 64
    bits, vector = _match_vectors(rows, columns, words)
    # Word b is b steps late: words without a match before and after its rows fill its time.
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
    """Return bit vectors of all pairs, (W,), and where that of every token of `rows` starts, (T,).

    A vector marks the columns whose token equals the token of a row. One empty vector stands in
    front and serves all tokens without an equal one.
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
    """Return a number of every token of pairs, (T_hyp,) and (T_ref,), and what all are below.

    Equal tokens of a pair have the same number, tokens of different pairs never; none of the
    segments is empty. Of small ids, as those of characters, it is the id above those of the pairs
    before: [0, 1], [2] against [1], [0, 2] gives [0, 1, 4] and [1, 2, 4], below 5.
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
    """Yield for every row of one pair which columns equal it: bit j of an integer is column j."""

    @lru_cache(_KEPT)
    def matches(token: int) -> int:
        packed = np.packbits(columns == token, bitorder="little")
        return int.from_bytes(packed.tobytes(), "little")

    return map(matches, rows.tolist())
