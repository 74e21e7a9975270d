"""Bit-parallel rows of the edit-distance matrix, one uint64 for each of many pairs.

Row i holds the distances of the first i tokens of the text to every prefix of the pattern. Two
neighbours in a row differ by -1, 0 or +1, so that a row is two bit vectors: `up`, where the next
column is one more, and `down`, where it is one less (Myers 1999; the form of Hyyrö 2003). All
pairs advance by one token of their text with sixteen operations.

Bit 0 is a column left of the first that matters; it enters every row one higher than it entered
the row before, as column 0 of the matrix does.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evalstats.text.ragged import Bits, Index, offsets_of

ONE = np.uint64(1)
FULL = np.uint64(0xFFFFFFFFFFFFFFFF)


class Schedule(NamedTuple):
    """Items that need different numbers of steps, laid out step after step.

    Items are sorted by falling number of steps, so that those still active at step t are the
    first `counts[t]`, and their entries are contiguous: `starts[t]:starts[t + 1]`.

    Attributes
    ----------
    order
        Items by rank, (n,).
    counts, starts
        Active items at each step, (S,), and where their entries start, (S+1,).
    rank, step
        Rank of the item and the step of every entry, (E,).
    """

    order: Index
    counts: Index
    starts: Index
    rank: Index
    step: Index


def schedule(steps: Index) -> Schedule:
    """Lay out items with `steps` (n,) step after step."""
    order = np.argsort(-steps, kind="stable")
    longest = int(steps.max(initial=0))
    below = np.cumsum(np.bincount(steps, minlength=longest + 1))[:longest]
    counts = len(steps) - below
    starts = offsets_of(counts)
    step = np.repeat(np.arange(longest), counts)
    return Schedule(order, counts, starts, np.arange(starts[-1]) - starts[step], step)


def advance(
    match: Bits,
    up: Bits,
    down: Bits,
    zero: Bits,
    above: Bits,
    spare: Bits,
) -> None:
    """Replace rows (k,) by their successors, in place.

    Parameters
    ----------
    match
        Columns whose token equals the new token of the text.
    up, down
        The row; overwritten.
    zero
        Receives the columns that equal their upper left neighbour.
    above
        Receives the columns that are one more than their upper neighbour.
    spare
        Scratch.
    """
    np.bitwise_and(match, up, out=zero)
    np.add(zero, up, out=zero)
    np.bitwise_xor(zero, up, out=zero)
    np.bitwise_or(zero, match, out=zero)
    np.bitwise_or(zero, down, out=zero)
    np.bitwise_or(zero, up, out=above)
    np.invert(above, out=above)
    np.bitwise_or(above, down, out=above)
    np.bitwise_and(zero, up, out=up)
    np.add(up, up, out=up)
    np.add(above, above, out=spare)
    np.bitwise_or(spare, ONE, out=spare)
    np.bitwise_and(spare, zero, out=down)
    np.bitwise_or(spare, zero, out=spare)
    np.invert(spare, out=spare)
    np.bitwise_or(up, spare, out=up)


def bits_below(n: Index) -> Bits:
    """Words with the lowest n bits set, 0 <= n <= 64."""
    words = np.left_shift(ONE, np.minimum(n, 63).astype(np.uint64)) - ONE
    return np.asarray(np.where(n >= 64, FULL, words))
