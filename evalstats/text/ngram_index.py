"""Clipped n-gram matches of a corpus: one sorted array of the references answers for all orders.

A *window* is the `order` token ids that begin at one position, padded with 0 past the end of a
text. It is packed into one 64-bit integer, the first id in the highest bits, and above it the
*group*: the number of the segment, or of the reference, within which tokens may match. Take order
3, ids of 4 bits, group 1, and the reference "a b a b" with a = 1, b = 2. In hexadecimal::

    position   window   key       sorted keys   numbers of the 1-, 2-, 3-gram
    0          a b a    0x1121    0x1120        0  0  0
    1          b a b    0x1212    0x1121        0  0  1
    2          a b -    0x1120    0x1200        1  1  2
    3          b - -    0x1200    0x1212        1  2  3

Windows that begin with the same k-gram have the same high bits, so in sorted order they are
neighbours, and a k-gram is a run of them. The highest bit in which a key differs from the one
before tells for which k a new run begins; counting the beginnings numbers the k-grams of every
order. (That also numbers "b -", which no hypothesis can match.) How often a k-gram may be matched,
its *limit*, is the largest count in one reference of its group: 2 for "a", 1 for "a b a".

A hypothesis "a b b" has the windows a b b, b b ? and b ? ?, where ? is an id that no reference
has, and the keys 0x1122, 0x122f and 0x12ff. If any reference window shares the first k ids with a
key, so does one of the two neighbours of the place where the key would be inserted: for 0x1122 that
is 0x1121, and the highest differing bit says that they share "a b" and not three ids. So one binary
search finds the longest match, and with it the numbers of the 1- to k-grams that match. Counting
the numbers and clipping each count at its limit gives the matches: 3 of order 1 (a once, b twice,
which is its limit), 1 of order 2 and none of order 3.

If the group and `order` ids do not fit into 64 bits, count in stages. Stage 1 counts orders 1 to a.
Stage 2 replaces the a-gram by its number, which implies the group, and appends the following ids;
it looks only at positions where the a-gram matched. The usual corpus needs one or two stages.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evalstats.text.ragged import Ragged, offsets_of

Keys = NDArray[np.uint64]
Index = NDArray[np.int64]

WORD = 64  # bits of a key


@dataclass(frozen=True)
class _Stage:
    """The reference n-grams of consecutive orders, M distinct windows in G groups."""

    #: Length of the n-gram that the top of a key stands for; 0 if it is the group.
    done: int
    #: Distinct windows, sorted, (M,).
    keys: Keys
    #: For each order the number of the n-gram that a window begins with, (M,) ...
    numbers: tuple[NDArray[np.int32], ...]
    #: ... how often it may be matched, its largest count in one reference of the group, ...
    limits: tuple[Index, ...]
    #: ... and group g has n-grams ``splits[g]`` to ``splits[g + 1]``, (G + 1,).
    splits: tuple[Index, ...]


@dataclass(frozen=True)
class NgramIndex:
    """All n-grams of the references of G groups; made by `build_index`."""

    order: int
    bits: int
    stages: tuple[_Stage, ...]


def build_index(
    references: Ragged, group: Index, *, groups: int, order: int, bits: int
) -> NgramIndex:
    """Index the n-grams of references, O(T log T) for T tokens and every order.

    The references are R texts of ids of at most 32 bits, ``1 <= id < 2**bits - 1``. `group` is the
    group that each belongs to, (R,), ascending, of `groups` groups.
    """
    ids, text = _padded(references, order, fill=0)
    at = np.flatnonzero(ids[: len(text)])
    source = text[at]  # a count is clipped by one reference, not by their sum
    heads = group[source].astype(np.uint64)
    several = bool(np.any(group[1:] == group[:-1]))
    edges = np.arange(groups + 1)  # the heads with which the groups begin
    stages: list[_Stage] = []
    done = 0
    while done < order:
        width = min(order - done, _fitting(int(edges[-1]), bits))
        last = done + width == order
        keys = _pack(heads, ids, at + done, width, bits)
        if several or not last:
            perm = np.argsort(keys)
            keys, at, source = keys[perm], at[perm], source[perm]
        else:
            keys.sort()  # nobody asks for positions: three times as fast
        stage, window = _stage(keys, source if several else None, edges, done, width, bits)
        stages.append(stage)
        done += width
        if not last:
            longer = np.flatnonzero(ids[at + done])  # the text goes on
            at, source = at[longer], source[longer]
            heads = stage.numbers[-1][window[longer]].astype(np.uint64)
            edges = stage.splits[-1]
    return NgramIndex(order, bits, tuple(stages))


def count_matches(index: NgramIndex, hypotheses: Ragged, *, first: int = 0) -> Index:
    """Count the n-grams of hypotheses that the references of their group have, clipped.

    O(T log T) for T tokens of the hypotheses, plus a pass over the index. The n texts are those of
    the groups ``first`` to ``first + n``; the id ``2**bits - 1`` stands for every token that no
    reference has. The result is `(n, order)`.
    """
    n = len(hypotheses)
    matches = np.zeros((n, index.order), dtype=np.int64)
    # Past the end comes the id that no reference has (they have 0 there): nothing matches across.
    ids, text = _padded(hypotheses, index.order, fill=(1 << index.bits) - 1)
    heads = (text + first).astype(np.uint64)
    at: Index | None = None  # None: every position, which spares the gathers
    for stage in index.stages:
        if not len(stage.keys) or not len(heads):
            break
        width = len(stage.numbers)
        last = stage.done + width == index.order
        keys = _pack(heads, ids, stage.done if at is None else at + stage.done, width, index.bits)
        if last:
            keys.sort()  # so that neighbouring look-ups share the cache
        else:
            perm = np.argsort(keys)
            keys, at = keys[perm], perm if at is None else at[perm]
        near, differ = _nearest(stage.keys, keys)
        for j in range(width):
            hit = np.flatnonzero(differ < np.uint64(1 << index.bits * (width - 1 - j)))
            near, differ = near[hit], differ[hit]
            at = None if last or at is None else at[hit]
            number = stage.numbers[j][near]
            counts = np.bincount(number, minlength=len(stage.limits[j]))
            clipped = offsets_of(np.minimum(counts, stage.limits[j]))
            matches[:, stage.done + j] = np.diff(clipped[stage.splits[j][first : first + n + 1]])
        heads = number.astype(np.uint64)
    return matches


def _fitting(heads: int, bits: int) -> int:
    """Return how many ids fit into a key beside a head: one at least, of 31 and 32 bits."""
    # One bit for a single head: shifting a uint64 by 64 bits is undefined.
    return (WORD - max(heads.bit_length(), 1)) // bits


def _padded(texts: Ragged, order: int, *, fill: int) -> tuple[Keys, Index]:
    """Lay texts out with ``order - 1`` fills after each: windows need no test for the end.

    Returns the ids, (L + order,), and the text that a position belongs to, (L,): L counts the
    tokens and the fills between them.
    """
    gap = max(order - 1, 0)
    n = len(texts)
    lengths = texts.lengths
    ids = np.full(len(texts.values) + n * gap + order, fill, dtype=np.uint64)
    shift = np.repeat(np.arange(n) * gap, lengths)
    ids[shift + np.arange(len(shift))] = texts.values
    return ids, np.repeat(np.arange(n), lengths + gap)


def _pack(heads: Keys, ids: Keys, at: Index | int, width: int, bits: int) -> Keys:
    """Pack heads and the ``width`` ids from ``at`` on; an integer means consecutive positions."""
    keys: Keys = heads.copy()
    for j in range(width):
        keys <<= np.uint64(bits)
        keys |= ids[at + j : at + j + len(keys)] if isinstance(at, int) else ids[at + j]
    return keys


def _stage(
    keys: Keys, source: Index | None, edges: Index, done: int, width: int, bits: int
) -> tuple[_Stage, Index]:
    """Find the n-grams in sorted keys; also return the distinct window of every key."""
    new = np.ones(len(keys), dtype=np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=new[1:])
    start = np.flatnonzero(new)
    distinct = keys[start]
    copies = np.diff(np.append(start, len(keys)))
    window = np.cumsum(new) - 1
    differ = distinct[1:] ^ distinct[:-1]
    heads = (distinct >> np.uint64(bits * width)).astype(np.int64)
    begins = np.searchsorted(heads, edges)
    numbers, limits, splits = [], [], []
    for j in range(width):
        # The highest differing bit tells how long a prefix two windows share.
        new = np.ones(len(distinct), dtype=np.bool_)
        np.greater_equal(differ, np.uint64(1 << bits * (width - 1 - j)), out=new[1:])
        number = (np.cumsum(new) - 1).astype(np.int32)
        if source is None:
            limit = np.add.reduceat(copies, np.flatnonzero(new)) if len(copies) else copies
        else:
            limit = _largest_count(number[window], source)
        numbers.append(number)
        limits.append(limit)
        splits.append(offsets_of(new)[begins])
    return _Stage(done, distinct, tuple(numbers), tuple(limits), tuple(splits)), window


def _largest_count(number: NDArray[np.int32], source: Index) -> Index:
    """Return for every n-gram its largest count in one text, given its occurrences."""
    if not len(number):
        return np.zeros(0, dtype=np.int64)
    texts = int(source.max()) + 1
    both, counts = np.unique(number * np.int64(texts) + source, return_counts=True)
    ngram = both // texts
    first = np.flatnonzero(np.diff(ngram, prepend=-1))
    return np.maximum.reduceat(counts, first)


def _nearest(references: Keys, keys: Keys) -> tuple[Index, Keys]:
    """Find for every key the reference key with the longest common prefix, and their XOR."""
    right = np.searchsorted(references, keys)
    left = np.maximum(right - 1, 0)
    np.minimum(right, len(references) - 1, out=right)
    differ_left, differ_right = references[left] ^ keys, references[right] ^ keys
    near = np.where(differ_left < differ_right, left, right)
    return near, np.minimum(differ_left, differ_right)
