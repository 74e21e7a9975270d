"""Statistics of BLEU and chrF from token ids: lengths, and clipped n-gram matches.

The references of a test set are prepared once and serve every system. Lengths determine all counts
but the clipped matches; for these one sorted array of the references is enough for all orders.

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
neighbours, and a k-gram is a run of them. The highest bit in which a key differs from the previous
key shows for which k a new run begins; counting these beginnings numbers the k-grams of every
order. (That also numbers "b -", which no hypothesis can match.) How often a k-gram may be matched,
its *limit*, is the largest count in one reference of its group: 2 for "a", 1 for "a b a".

A hypothesis "a b b" has the windows a b b, b b ? and b ? ?, where ? is an id that no reference has,
and the keys 0x1122, 0x122f and 0x12ff. If any reference window shares the first k ids with a key,
so does one of the two neighbours of the key's insertion point: for 0x1122 this is 0x1121, and the
highest differing bit shows that they share "a b" but not three ids. So one binary search finds the
longest match, and with it the numbers of the 1- to k-grams that match. Counting the numbers and
clipping each count at its limit gives the matches: 3 of order 1 (a once, b twice, which is its
limit), 1 of order 2 and none of order 3.

If the group and `order` ids do not fit into 64 bits, count in stages. Stage 1 counts orders 1 to a.
Stage 2 replaces the a-gram by its number, which implies the group, and appends the following ids;
it looks only at positions where the a-gram matched. The usual corpus needs one or two stages.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evalstats.text.ids import shared_ids
from evalstats.text.ragged import Index, IntArray, Ragged, blocks, offsets_of
from evalstats.text.references import References
from evalstats.text.tokenization import Tokens

Statistics = NDArray[np.int64]
Keys = NDArray[np.uint64]

#: These bounds do not change the counts. They are, in this order: tokens of the references in a
#: chunk of the corpus (larger chunks do not fit into the cache and are not faster), segments in a
#: chunk (their number takes bits of every key), and tokens of hypotheses matched at once.
CHUNK_TOKENS = 1 << 18
CHUNK_SEGMENTS = 1 << 12
HYPOTHESIS_TOKENS = 1 << 21

#: Indices up to this size are kept for the next system. For a larger corpus only ids are kept, and
#: one chunk at a time is indexed for every system, to bound memory.
KEPT_BYTES = 1 << 29
#: Bits of a key.
WORD = 64


class PreparedReferences:
    """The references of N segments, ready to be matched.

    `references` are R texts of ids 1 to V; segment i has the texts ``edges[i]`` to ``edges[i +
    1]``, (N + 1,). `order` is the largest n-gram order (0: none). If `merged`, matches are clipped
    at the largest count over the references of a segment (BLEU); otherwise per reference.
    """

    def __init__(self, references: Ragged, edges: Index, order: int, merged: bool) -> None:
        self.references: Ragged = references
        self.edges: Index = edges
        self.order: int = order
        self.merged: bool = merged
        counts = np.diff(edges)
        #: The segment of each reference, (R,), and whether every segment has one.
        self.owner: Index = np.repeat(np.arange(len(counts)), counts)
        self.single: bool = len(self.owner) == len(counts)
        #: Ranges of segments that are indexed together.
        self.chunks: list[tuple[int, int]] = list(
            blocks(references.offsets[edges], CHUNK_TOKENS, CHUNK_SEGMENTS)
        )
        # 0 marks the end of a reference; the largest id marks tokens that are in no reference.
        self.bits: int = (int(references.values.max(initial=0)) + 1).bit_length()
        self._kept: dict[int, list[_Stage]] = {}

    def index(self, chunk: int) -> list[_Stage]:
        """Return the n-gram index of a chunk, which is kept if all of them fit into memory.

        Without keeping it, chrF of three systems takes 1.7 times as long.
        """
        if chunk in self._kept:
            return self._kept[chunk]
        start, stop = self.chunks[chunk]
        low, high = self.edges[[start, stop]].tolist()
        index = build_index(
            self.references.rows(low, high),
            self.owner[low:high] - start if self.merged else np.arange(high - low),
            groups=stop - start if self.merged else high - low,
            order=self.order,
            bits=self.bits,
        )
        # An index holds a key, and a number and a limit for each order.
        if len(self.references.values) * (8 + 12 * self.order) <= KEPT_BYTES:
            self._kept[chunk] = index
        return index


def shared_ngrams(
    refs: References,
    texts: Sequence[str],
    order: int,
    merged: bool,
    tokenize: Callable[..., Iterable[Tokens]],
    *options: Hashable,
) -> tuple[Ragged, PreparedReferences]:
    """Return the ids of N hypotheses, as `shared_ids`, and the references ready to be matched.

    Prepared references are kept in `refs` for the next system.
    """
    hyps, ids = shared_ids(refs, texts, tokenize, *options)
    key = ("n-grams", order, merged, tokenize, *options)
    return hyps, refs.prepared(key, lambda refs: PreparedReferences(ids, refs.edges, order, merged))


def clipped_matches(hypotheses: Ragged, prepared: PreparedReferences) -> Statistics:
    """Count clipped n-gram matches, `(N, order)` if merged, otherwise `(R, order)`."""
    parts = [np.zeros((0, prepared.order), dtype=np.int64)]
    # Without merging, each (hypothesis, reference) pair is a group of its own.
    paired = not (prepared.merged or prepared.single)
    for chunk, (first, last) in enumerate(prepared.chunks):
        index = prepared.index(chunk)
        texts = hypotheses.rows(first, last)
        low, high = prepared.edges[[first, last]]
        text = prepared.owner[low:high] - first if paired else np.arange(len(texts))
        # Usually one range: chunks are bounded by the references, ranges by the hypotheses.
        sizes = offsets_of(texts.lengths[text])
        for start, stop in blocks(sizes, HYPOTHESIS_TOKENS, len(text)):
            part = texts.take(text[start:stop]) if paired else texts.rows(start, stop)
            parts.append(
                count_matches(index, part, order=prepared.order, bits=prepared.bits, first=start)
            )
    return np.concatenate(parts)


def bleu_statistics(hypotheses: Ragged, prepared: PreparedReferences) -> Statistics:
    """Compute the statistics of BLEU against merged references, `(N, 2 + 2 * order)`.

    The layout is sacreBLEU's: sys_len, ref_len, correct_1 ..., total_1 ... Of several references,
    the one with the closest length is used, and the shorter one on a tie.
    """
    lengths, closest = hypotheses.lengths, prepared.references.lengths
    if not prepared.single:
        distance = np.abs(lengths[prepared.owner] - closest)
        # Ordered by distance, then by length: lengths are below 2**31.
        ordered = np.minimum.reduceat(distance << 32 | closest, prepared.edges[:-1])
        closest = ordered & 0xFFFFFFFF
    matches = clipped_matches(hypotheses, prepared)
    return np.column_stack((lengths, closest, matches, _totals(lengths, prepared.order)))


def chrf_pair_statistics(hypotheses: Ragged, prepared: PreparedReferences) -> Statistics:
    """Count the n-grams of every pair of a hypothesis and one of its references, `(R, order, 3)`.

    The last axis is hypothesis n-grams, reference n-grams and matches. As in sacreBLEU, the first
    is 0 if the reference has no n-gram.
    """
    counts = np.empty((len(prepared.owner), prepared.order, 3), dtype=np.int64)
    counts[..., 1] = _totals(prepared.references.lengths, prepared.order)
    counts[..., 0] = _totals(hypotheses.lengths[prepared.owner], prepared.order)
    counts[..., 0] *= counts[..., 1] > 0
    counts[..., 2] = clipped_matches(hypotheses, prepared)
    return counts


def best_reference(
    pairs: Statistics,
    prepared: PreparedReferences,
    score: Callable[[Statistics], NDArray[np.float64]],
) -> Statistics:
    """Return the statistics of the reference with the best score, the first one on a tie.

    ``(R, k) -> (N, k)``; a change in the last bit of a score could choose another reference.
    """
    if prepared.single:
        return pairs
    # By segment, then by falling score; the sort is stable.
    ranked = np.lexsort((-score(pairs), prepared.owner))
    return pairs[ranked[prepared.edges[:-1]]]


def _totals(lengths: IntArray, order: int) -> Statistics:
    """Count the n-grams of texts by their lengths, (n,) -> (n, order)."""
    return np.asarray(np.maximum(lengths[:, None] - np.arange(order), 0))


class _Stage(NamedTuple):
    """The reference n-grams of consecutive orders, M distinct windows in G groups."""

    #: Length of the n-gram that the top bits of a key represent; 0 if they are the group.
    done: int
    #: Distinct windows, sorted, (M,).
    keys: Keys
    #: For each order the number of the n-gram that a window begins with, (M,) ...
    numbers: tuple[NDArray[np.int32], ...]
    #: ... how often it may be matched, its largest count in one reference of the group, ...
    limits: tuple[Index, ...]
    #: ... and group g has n-grams ``splits[g]`` to ``splits[g + 1]``, (G + 1,).
    splits: tuple[Index, ...]


def build_index(
    references: Ragged, group: Index, *, groups: int, order: int, bits: int
) -> list[_Stage]:
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
        # Number of ids that fit beside a head, at least one, of 31 and 32 bits. A single head takes
        # one bit, since shifting a uint64 by 64 bits is undefined.
        fitting = (WORD - max(int(edges[-1]).bit_length(), 1)) // bits
        width = min(order - done, fitting)
        last = done + width == order
        keys = _pack(heads, ids, at + done, width, bits)
        perm = np.argsort(keys)
        keys, at, source = keys[perm], at[perm], source[perm]
        stage, window = _stage(keys, source if several else None, edges, done, width, bits)
        stages.append(stage)
        done += width
        if not last:
            longer = np.flatnonzero(ids[at + done])  # the text goes on
            at, source = at[longer], source[longer]
            heads = stage.numbers[-1][window[longer]].astype(np.uint64)
            edges = stage.splits[-1]
    return stages


def count_matches(
    index: list[_Stage], hypotheses: Ragged, *, order: int, bits: int, first: int
) -> Index:
    """Count the clipped matches of hypotheses with the references of their group.

    O(T log T) for T tokens of the hypotheses, plus a pass over the index. The n texts belong to the
    groups ``first`` to ``first + n``; the id ``2**bits - 1`` marks tokens that are in no reference.
    The result is `(n, order)`.
    """
    n = len(hypotheses)
    matches = np.zeros((n, order), dtype=np.int64)
    # After the end of a text comes the id of unknown tokens (0 in references), so that nothing
    # matches across texts.
    ids, text = _padded(hypotheses, order, fill=(1 << bits) - 1)
    heads = (text + first).astype(np.uint64)
    at = np.arange(len(text))
    for stage in index:
        if not len(stage.keys) or not len(heads):
            break
        width = len(stage.numbers)
        keys = _pack(heads, ids, at + stage.done, width, bits)
        perm = np.argsort(keys)  # so that neighbouring look-ups share the cache
        keys, at = keys[perm], at[perm]
        # The reference key with the longest common prefix is a neighbour; the XOR shows which.
        right = np.searchsorted(stage.keys, keys)
        left = np.maximum(right - 1, 0)
        np.minimum(right, len(stage.keys) - 1, out=right)
        differ_left, differ = stage.keys[left] ^ keys, stage.keys[right] ^ keys
        near = np.where(differ_left < differ, left, right)
        np.minimum(differ, differ_left, out=differ)
        for j in range(width):
            hit = np.flatnonzero(differ < np.uint64(1 << bits * (width - 1 - j)))
            near, differ, at = near[hit], differ[hit], at[hit]
            number = stage.numbers[j][near]
            counts = np.bincount(number, minlength=len(stage.limits[j]))
            clipped = offsets_of(np.minimum(counts, stage.limits[j]))
            matches[:, stage.done + j] = np.diff(clipped[stage.splits[j][first : first + n + 1]])
        heads = number.astype(np.uint64)
    return matches


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


def _pack(heads: Keys, ids: Keys, at: Index, width: int, bits: int) -> Keys:
    """Pack heads and the ``width`` ids from ``at`` on."""
    keys: Keys = heads.copy()
    for j in range(width):
        keys <<= np.uint64(bits)
        keys |= ids[j:][at]
    return keys


def _stage(
    keys: Keys, source: Index | None, edges: Index, done: int, width: int, bits: int
) -> tuple[_Stage, NDArray[np.int32]]:
    """Find the n-grams in sorted keys; also return the distinct window of every key."""
    new = np.ones(len(keys), dtype=np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=new[1:])
    start = np.flatnonzero(new)
    distinct = keys[start]
    copies = np.diff(np.append(start, len(keys)))
    window = np.cumsum(new, dtype=np.int32) - 1
    differ = distinct[1:] ^ distinct[:-1]
    begins = np.searchsorted(distinct, edges.astype(np.uint64) << np.uint64(bits * width))
    numbers, limits, splits = [], [], []
    for j in range(width):
        # The highest differing bit gives the length of the common prefix of two windows.
        new = np.ones(len(distinct), dtype=np.bool_)
        np.greater_equal(differ, np.uint64(1 << bits * (width - 1 - j)), out=new[1:])
        number = np.cumsum(new, dtype=np.int32) - 1
        first = np.flatnonzero(new)
        if source is not None and len(keys):
            # The largest count of each n-gram in one text.
            n_texts = np.int64(source.max() + 1)
            both, counts = np.unique(number[window] * n_texts + source, return_counts=True)
            begins_ngram = np.flatnonzero(np.diff(both // n_texts, prepend=-1))
            limit = np.maximum.reduceat(counts, begins_ngram)
        else:
            limit = np.add.reduceat(copies, first) if len(copies) else copies
        numbers.append(number)
        limits.append(limit)
        splits.append(np.searchsorted(first, begins))
    return _Stage(done, distinct, tuple(numbers), tuple(limits), tuple(splits)), window
