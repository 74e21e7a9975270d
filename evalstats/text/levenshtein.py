"""Edit distance (Levenshtein 1966) of many pairs of sequences at once, for WER and CER.

Row i of the distance matrix compares the first i tokens of one sequence with every prefix of the
other. Neighbours in a row differ by -1, 0 or +1, so that a row is two bit vectors: `up`, the
columns that are one more than their left neighbour, and `down`, those that are one less. About
twenty operations on words of 64 bits turn a row into the next (Myers 1999; the form of Hyyrö 2003).

The longer sequence of a pair gives the columns, 64 to a word, the shorter one the rows. Word b of a
row depends on word b - 1 of the same row, so that word b works one step later than word b - 1.
Then all words of all pairs take a step together, here for 3 rows of 2 words:

    step     0      1      2      3
    word 0   row 1  row 2  row 3
    word 1          row 1  row 2  row 3
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from evalstats.text.ids import group_tokens
from evalstats.text.ragged import Bits, Index, Ragged, active_counts, expand, offsets_of, slices

_BLOCK_TOKENS = 1 << 18
# Pairs whose rows together have more words take one row after the other as a Python integer.
_BLOCK_WORDS = 1 << 22
# So many bit vectors of tokens are kept of such a pair.
_KEPT = 1 << 12
_ONE = np.uint64(1)
_TOP = np.uint64(63)


def levenshtein(hyps: Ragged, refs: Ragged) -> Index:
    """Edit distance of every (hypothesis, reference) pair, (n,), with unit costs.

    Time is O(n m / 64) a pair. Memory is bounded by blocks of pairs, so that a million short
    segments need no more than a thousand; one pair of 100,000 tokens takes seconds and memory
    linear in its length, except for the bit vectors of tokens (at most 4096 of them).

    >>> from evalstats.text.characters import characters
    >>> hypotheses, references = ["kitten", "", "same"], ["sitting", "ab", "same"]
    >>> levenshtein(characters(hypotheses), characters(references)).tolist()
    [3, 2, 0]
    """
    n, m = hyps.lengths, refs.lengths
    short, long = np.minimum(n, m), np.maximum(n, m)
    distances: Index = long.copy()
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
        distances[pair] = _long_distance(one, other)
    pairs = np.flatnonzero((short > 0) & ~large)
    pairs = pairs[np.argsort(-(short + words)[pairs], kind="stable")]
    # A bit vector for every distinct token of both sides bounds the memory of a pair.
    for part in slices(np.maximum(n + m, short * words // 16)[pairs], _BLOCK_TOKENS):
        some = pairs[part]
        distances[some] = _distances(both.take(rows[some]), both.take(columns[some]))
    return distances


def _distances(rows: Ragged, columns: Ragged) -> Index:
    """Distances of pairs sorted by falling sum of rows and words of columns, (k,)."""
    n, m = rows.lengths, columns.lengths
    words = (m + 63) // 64
    bits, vector = _match_vectors(rows, columns, words)
    # Word b is b steps late: words without a match before and after its rows fill its time.
    padding = offsets_of(n + 2 * (words - 1))
    padded = np.zeros(int(padding[-1]), dtype=np.int64)
    padded[expand(padding[:-1] + words - 1, n)] = vector
    first = offsets_of(words)
    block = expand(np.zeros_like(words), words)
    cursor = np.repeat(padding[:-1] + words - 1, words) - block
    # The columns end at the highest bit of the last word. The bits that this leaves free in the
    # first word fall by one each, so that the first column begins at 0.
    down = np.zeros(len(block), dtype=np.uint64)
    down[first[:-1]] = (_ONE << (64 * words - m).astype(np.uint64)) - _ONE
    up = ~down
    # Column 0 rises by one in every row, which enters the first word of a pair from the left;
    # into every other word enters the change of the last column of the word before.
    lead = (block == 0).astype(np.uint64)
    follow = _ONE - lead
    rise, fall = lead.copy(), np.zeros_like(lead)
    score = np.zeros(len(block), dtype=np.int64)
    spare = np.empty((5, len(block)), dtype=np.uint64)
    for active in first[active_counts(n + words - 1)].tolist():
        match, zero, above, below, extra = spare[:, :active]
        ups, downs, enter, leave = (x[:active] for x in (up, down, rise, fall))
        np.take(bits, padded[cursor[:active]] + block[:active], out=match)
        cursor[:active] += 1
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
        # The highest bits are the change of the last column, which the next word continues.
        above >>= _TOP
        below >>= _TOP
        score[:active] += above.view(np.int64)
        score[:active] -= below.view(np.int64)
        np.multiply(above[:-1], follow[1:active], out=enter[1:])
        np.bitwise_or(enter, lead[:active], out=enter)
        np.multiply(below[:-1], follow[1:active], out=leave[1:])
    return m + score[first[1:] - 1]


def _match_vectors(rows: Ragged, columns: Ragged, words: Index) -> tuple[Bits, Index]:
    """Return bit vectors of all pairs, (W,), and where that of every token of `rows` starts, (T,).

    A vector marks the columns whose token equals the token of a row. One empty vector stands in
    front and serves all tokens without an equal one.
    """
    groups = group_tokens(rows, columns)
    size = np.where((groups.hyp_count > 0) & (groups.ref_count > 0), words[groups.pair], 0)
    empty = int(words.max())
    vector = np.where(size > 0, np.cumsum(size) - size + empty, 0)
    bits = np.zeros(empty + int(size.sum()), dtype=np.uint64)
    group = np.repeat(np.arange(len(size)), groups.ref_count)
    used = size[group] > 0
    unused = (64 * words - columns.lengths)[groups.pair[group]]
    column = (groups.positions + unused)[used]
    place = vector[group][used] + (column >> 6)
    np.bitwise_or.at(bits, place, _ONE << (column & 63).astype(np.uint64))
    return bits, vector[groups.hyp]


def _long_distance(rows: Index, columns: Index) -> int:
    """Distance of one pair, with rows of one long integer each."""

    @lru_cache(_KEPT)
    def matches(token: int) -> int:
        packed = np.packbits(columns == token, bitorder="little")
        return int.from_bytes(packed.tobytes(), "little")

    m = len(columns)
    full, top = (1 << m) - 1, m - 1
    up, down, distance = full, 0, m
    for match in map(matches, rows.tolist()):
        zero = ((((match & up) + up) ^ up) | match | down) & full
        above = down | (full ^ (zero | up))
        below = zero & up
        distance += (above >> top) - (below >> top)
        above = ((above << 1) | 1) & full
        down = above & zero
        up = ((below << 1) & full) | (full ^ (above | zero))
    return distance
