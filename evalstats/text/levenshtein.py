"""Edit distance (Levenshtein 1966) of many pairs of sequences at once, for WER and CER.

Row i of the distance matrix compares the first i tokens of one sequence with every prefix of the
other. Neighbours in a row differ by -1, 0 or +1, so that a row is two bit vectors: `up`, the
columns that are one more than their left neighbour, and `down`, those that are one less. About
twenty operations on words of 64 bits turn a row into the next (Myers 1999; the form of Hyyrö 2003).
`bit_rows` says how all pairs take them together.
"""

from __future__ import annotations

import numpy as np

from evalstats.text.bit_rows import Layout, match_integers, of_pairs
from evalstats.text.ragged import Index, Ragged

_ONE = np.uint64(1)
_TOP = np.uint64(63)


def levenshtein(hyps: Ragged, refs: Ragged) -> Index:
    """Edit distance of every (hypothesis, reference) pair, (n,), with unit costs.

    >>> from evalstats.text.characters import characters
    >>> hypotheses, references = ["kitten", "", "same"], ["sitting", "ab", "same"]
    >>> levenshtein(characters(hypotheses), characters(references)).tolist()
    [3, 2, 0]
    """
    against_nothing = np.maximum(hyps.lengths, refs.lengths)
    return of_pairs(hyps, refs, against_nothing, _distances, _long_distance)


def _distances(layout: Layout) -> Index:
    """Distances of the pairs of a block, (k,)."""
    # The bits that are free in the first word fall by one each, so that the first column begins
    # at 0.
    down = np.zeros(len(layout.lead), dtype=np.uint64)
    down[layout.first[:-1]] = (_ONE << layout.free) - _ONE
    up = ~down
    # Column 0 rises by one in every row, which enters the first word of a pair from the left;
    # into every other word enters the change of the last column of the word before.
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
        # The highest bits are the change of the last column, which the next word continues.
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
