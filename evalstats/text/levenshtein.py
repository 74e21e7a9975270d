"""Edit distance (Levenshtein 1966) of many pairs of sequences at once, for WER and CER.

Rows of the matrix are bit vectors (see `bits`). The longer sequence of a pair gives the columns,
64 to a word, the shorter one the rows. Pairs of one word take a row a step. In longer pairs word b
of a row depends on word b - 1 of the same row; delayed by one step for every word, all words of
all pairs can still step together (the blocks of Hyyrö 2003, as a wavefront). A few pairs much
longer than the others would leave the vectors nearly empty; these use Python's long integers.
"""

from __future__ import annotations

import numpy as np

from evalstats.text.bits import ONE, advance, bits_below, schedule
from evalstats.text.equal_tokens import group_tokens
from evalstats.text.ragged import Index, Ragged, expand, offsets_of, slices

_BLOCK_TOKENS = 1 << 18
_BLOCK_WORDS = 1 << 22
# In steps of one long integer (0.7 us): a step of nearly empty vectors, and every 64 columns.
_VECTOR_STEP = 12.0
_INTEGER_WORD = 1 / 64
# Tokens with more places than this keep their bit vector as a long integer.
_SPARSE = 16
_TOP = np.uint64(63)


def levenshtein(hyps: Ragged, refs: Ragged) -> Index:
    """Edit distance of every (hypothesis, reference) pair, (n,), with unit costs.

    Time is O(n m / 64) a pair. Memory is bounded by blocks of pairs, so that a million short
    segments need no more than a thousand; one pair of 100,000 tokens takes seconds and memory
    linear in its length, except for the bit vectors of tokens that recur (at most 4096 of them).

    Parameters
    ----------
    hyps, refs
        Integer sequences of n pairs.

    Returns
    -------
    Index
        Least insertions, deletions and substitutions, (n,).

    Examples
    --------
    >>> from evalstats.text.characters import characters
    >>> hypotheses, references = ["kitten", "", "same"], ["sitting", "ab", "same"]
    >>> levenshtein(characters(hypotheses), characters(references)).tolist()
    [3, 2, 0]
    """
    n, m = hyps.lengths, refs.lengths
    short, long = np.minimum(n, m), np.maximum(n, m)
    distances: Index = long.copy()
    swap = n > m
    values = np.concatenate([hyps.values, refs.values])
    shift = len(hyps.values)
    row_start = np.where(swap, refs.offsets[:-1] + shift, hyps.offsets[:-1])
    column_start = np.where(swap, hyps.offsets[:-1], refs.offsets[:-1] + shift)
    words = (long + 63) // 64
    steps = np.where(words == 1, short, short + words - 1)
    for one in (True, False):
        pairs = np.flatnonzero((short > 0) & ((words == 1) == one))
        pairs = pairs[np.argsort(-steps[pairs], kind="stable")]
        few = _outliers(steps[pairs], words[pairs])
        for pair in pairs[:few]:
            rows = values[row_start[pair] : row_start[pair] + short[pair]]
            columns = values[column_start[pair] : column_start[pair] + long[pair]]
            distances[pair] = _long_distance(rows, columns)
        pairs = pairs[few:]
        # A bit vector for every distinct token of both sides bounds the memory of a pair.
        cost = short[pairs] + long[pairs]
        for part in slices(np.maximum(cost, short[pairs] * words[pairs] // 16), _BLOCK_TOKENS):
            some = pairs[part]
            shorter = _cut(values, row_start[some], short[some])
            longer = _cut(values, column_start[some], long[some])
            distances[some] = (_one_word if one else _wavefront)(shorter, longer)
    return distances


def _cut(values: Index, starts: Index, lengths: Index) -> Ragged:
    """Collect sequences, (k,), from where they start."""
    return Ragged(values[expand(starts, lengths)], offsets_of(lengths))


def _outliers(steps: Index, words: Index) -> int:
    """How many of the pairs, sorted by falling steps (n,), to leave to long integers.

    Their own cost against the steps that the vectors are spared; bit vectors too large for a
    block have no choice.
    """
    if not len(steps):
        return 0
    integer = np.append(0.0, np.cumsum(steps * (1 + words * _INTEGER_WORD)))
    vector = np.append(steps, 0) * _VECTOR_STEP
    huge = np.flatnonzero(steps * words > _BLOCK_WORDS)
    least = int(huge[-1]) + 1 if len(huge) else 0
    return least + int(np.argmin((integer + vector)[least:]))


def _one_word(rows: Ragged, columns: Ragged) -> Index:
    """Distances of pairs with at most 64 columns, (k,)."""
    groups = group_tokens(rows, columns)
    bits = np.zeros(len(groups.pair), dtype=np.uint64)
    token_group = np.repeat(np.arange(len(groups.pair)), groups.ref_count)
    # Columns end at the highest bit. Those left of the first fall towards it, and with column 0
    # they rise by one in every row.
    unused = 64 - columns.lengths
    column = groups.positions + unused[groups.pair[token_group]]
    np.bitwise_or.at(bits, token_group, ONE << column.astype(np.uint64))
    layout = schedule(rows.lengths)
    who = layout.order[layout.rank]
    match = bits[groups.hyp[rows.offsets[who] + layout.step]]
    down = bits_below(unused)[layout.order]
    up = ~down
    spare = np.empty((3, len(up)), dtype=np.uint64)
    starts = layout.starts.tolist()
    for t, k in enumerate(layout.counts.tolist()):
        zero, above, extra = spare[:, :k]
        advance(match[starts[t] : starts[t + 1]], up[:k], down[:k], zero, above, extra)
    distance = rows.lengths + unused
    distance[layout.order] += np.bitwise_count(up)
    distance[layout.order] -= np.bitwise_count(down)
    return distance


def _wavefront(rows: Ragged, columns: Ragged) -> Index:
    """Distances of pairs sorted by falling `rows + words`, (k,), any number of columns."""
    groups = group_tokens(rows, columns)
    n, m = rows.lengths, columns.lengths
    words = (m + 63) // 64
    # Bit vectors of the tokens on both sides, after an empty one for all others.
    size = np.where((groups.hyp_count > 0) & (groups.ref_count > 0), words[groups.pair], 0)
    empty = int(words.max())
    vector = np.where(size > 0, np.cumsum(size) - size + empty, 0)
    bits = np.zeros(empty + int(size.sum()), dtype=np.uint64)
    token_group = np.repeat(np.arange(len(size)), groups.ref_count)
    unused = 64 * words - m
    column = groups.positions + unused[groups.pair[token_group]]
    used = size[token_group] > 0
    place = (vector[token_group] + (column >> 6))[used]
    np.bitwise_or.at(bits, place, ONE << (column[used] & 63).astype(np.uint64))

    # Word b is b rows late, which empty rows before and after the others provide.
    padding = offsets_of(n + 2 * (words - 1))
    padded = np.zeros(int(padding[-1]), dtype=np.int64)
    padded[expand(padding[:-1] + words - 1, n)] = vector[groups.hyp]
    first = offsets_of(words)
    block = expand(np.zeros_like(words), words)
    cursor = np.repeat(padding[:-1] + words - 1, words) - block
    down = np.zeros(len(block), dtype=np.uint64)
    down[first[:-1]] = bits_below(unused)
    up = ~down
    lead = (block == 0).astype(np.uint64)
    follow = ONE - lead
    rise, fall = lead.copy(), np.zeros_like(lead)
    score = np.zeros(len(block), dtype=np.int64)
    spare = np.empty((5, len(block)), dtype=np.uint64)
    for active in first[_counts(n + words - 1)].tolist():
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


def _counts(steps: Index) -> Index:
    """Count the items, sorted by falling steps (k,), that are active at every step."""
    ends = np.cumsum(np.bincount(steps))[:-1]
    return len(steps) - ends


def _long_distance(rows: Index, columns: Index) -> int:
    """Distance of one pair, with rows of one long integer each."""
    size = min(len(rows), len(columns))
    prefix = _common(rows[:size], columns[:size])
    size -= prefix
    rows, columns = rows[prefix:], columns[prefix:]
    suffix = _common(rows[len(rows) - size :][::-1], columns[len(columns) - size :][::-1])
    rows, columns = rows[: len(rows) - suffix], columns[: len(columns) - suffix]
    n, m = len(rows), len(columns)
    if not n or not m:
        return max(n, m)
    order = np.argsort(columns, kind="stable")
    low = np.searchsorted(columns[order], rows).tolist()
    high = np.searchsorted(columns[order], rows, side="right").tolist()
    places = order.tolist()
    often = _SPARSE + (m >> 12)
    masks: dict[int, int] = {}
    full = (1 << m) - 1
    up, down, top = full, 0, m - 1
    distance = m
    for begin, end in zip(low, high, strict=True):
        if end - begin > often:
            if begin not in masks:
                flags = np.zeros(m, dtype=np.bool_)
                flags[order[begin:end]] = True
                packed = np.packbits(flags, bitorder="little")
                masks[begin] = int.from_bytes(packed.tobytes(), "little")
            match = masks[begin]
        else:
            match = 0
            for place in places[begin:end]:
                match |= 1 << place
        zero = ((((match & up) + up) ^ up) | match | down) & full
        above = down | (full ^ (zero | up))
        below = zero & up
        distance += (above >> top) - (below >> top)
        above = ((above << 1) | 1) & full
        down = above & zero
        up = ((below << 1) & full) | (full ^ (above | zero))
    return distance


def _common(left: Index, right: Index) -> int:
    """Length of the common prefix of two sequences of equal length."""
    differs = np.flatnonzero(left != right)
    return int(differs[0]) if len(differs) else len(left)
