"""Longest common subsequences of many pairs of token sequences at once, for ROUGE-L and -Lsum.

Entry (i, j) of a table is the length for the first i tokens of one sequence and the first j of the
other. In a row neighbours differ by 0 or 1, so that a row is one bit vector with a 0 where it rises
(Crochemore, Iliopoulos, Pinzon and Reid, 2001; the form of Hyyrö, 2004). `bit_rows` says how all
pairs take a row together. Which tokens are common needs the table itself.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evalstats.text.bit_rows import Layout, match_integers, of_pairs
from evalstats.text.ids import group_tokens
from evalstats.text.ragged import Flags, Index, Lines, Ragged, expand, slices

# Tables of so many entries are filled at once, which stay in a core's own cache, and so many tokens
# of pairs of lines are compared.
_BLOCK_ENTRIES = 1 << 18
_BLOCK_TOKENS = 1 << 20
# How a path goes back through a table.
_UP, _LEFT, _BOTH = 0, 1, 2


def common_lengths(hyps: Ragged, refs: Ragged) -> Index:
    """Length of a longest common subsequence of every (hypothesis, reference) pair, (n,).

    >>> from evalstats.text.characters import characters
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

    A token of a reference is one if it is in the common subsequence of its line with any line of
    the hypothesis (the union of Lin, 2004, section 3.2); of equal tokens no more count than the
    hypothesis has. Of several common subsequences that of rouge_score is taken.
    """
    hits = np.empty(len(hyps.counts), dtype=np.int64)
    # Of one line with one line the union is a common subsequence, whose tokens both have.
    several = (hyps.counts > 1) | (refs.counts > 1)
    for rows, count in ((~several, _single_hits), (several, _union_hits)):
        places = np.flatnonzero(rows)
        hits[places] = count(hyps.take(places), refs.take(places))
    return hits


def _single_hits(hyps: Lines, refs: Lines) -> Index:
    return common_lengths(hyps.texts, refs.texts)


def _union_hits(hyps: Lines, refs: Lines) -> Index:
    """Count the tokens of references in unions, at most as often as hypotheses have them, (n,)."""
    groups = group_tokens(hyps.texts, refs.texts)
    marked = np.bincount(groups.ref[_in_union(hyps, refs)], minlength=len(groups.pair))
    hits = np.zeros(len(hyps.counts), dtype=np.int64)
    np.add.at(hits, groups.pair, np.minimum(marked, groups.hyp_count))
    return hits


def _in_union(hyps: Lines, refs: Lines) -> Flags:
    """Mark the tokens of references that a line of the hypothesis has in order, (T_ref,)."""
    marks = np.zeros(len(refs.lines.values), dtype=np.bool_)
    owner = np.repeat(np.arange(len(refs.counts)), refs.counts)
    partners = hyps.counts[owner]
    tokens = hyps.texts.lengths[owner] + refs.lines.lengths * partners
    for part in slices(tokens, _BLOCK_TOKENS):
        line = np.repeat(np.arange(part.start, part.stop), partners[part])
        other = expand(hyps.edges[:-1][owner[part]], partners[part])
        ref = refs.lines.take(line)
        places = expand(refs.lines.offsets[:-1][line], refs.lines.lengths[line])
        marks[places[common_tokens(hyps.lines.take(other), ref)]] = True
    return marks


def common_tokens(hyps: Ragged, refs: Ragged) -> Flags:
    """Mark the tokens of every reference that are in one common subsequence of its pair, (T_ref,).

    Going back from the end of both, equal tokens are paired; otherwise a token of the hypothesis is
    left out where only that keeps the length, and else one of the reference, as rouge_score does.
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
