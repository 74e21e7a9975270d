"""Sufficient statistics of BLEU and chrF from token ids.

The references of a test set are prepared once and serve every system. Lengths determine all
counts but the clipped matches, and those come from `matching`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evalstats.text.ngram_index import NgramIndex, build_index, count_matches
from evalstats.text.ragged import IntArray, Ragged, blocks, offsets_of

Statistics = NDArray[np.int64]

# None of these bounds changes a count. A chunk of the corpus holds about so many tokens of the
# references (more of them leave the cache and gain nothing), at most so many segments (their
# number takes bits of every key), and is matched with about so many tokens of hypotheses at once.
CHUNK_TOKENS = 1 << 18
CHUNK_SEGMENTS = 1 << 12
HYPOTHESIS_TOKENS = 1 << 21

# Indices are kept for the next system up to this size; a larger corpus keeps its ids only and
# indexes one chunk at a time for every system, so that memory stays bounded.
KEPT_BYTES = 1 << 29


@dataclass(frozen=True)
class _Chunk:
    """Segments ``start`` to ``stop``, with their index if it is kept."""

    start: int
    stop: int
    index: NgramIndex | None


@dataclass(frozen=True)
class PreparedReferences:
    """The references of N segments, ready to be matched; made by `prepare_references`.

    Attributes
    ----------
    references : Ragged
        R texts of dense ids 1 to V.
    owner : (R,) int64 array
        Segment of every reference, ascending.
    first : (N,) int64 array
        First reference of every segment.
    order : int
        Largest n-gram order; 0 counts nothing.
    merged : bool
        The references of a segment are one group (BLEU); otherwise each is its own (chrF).
    dense : (largest id + 2,) int32 array
        Dense id of every id; ids beyond the table clip to its end, which like every id that no
        reference has maps to ``2**bits - 1``.
    bits : int
        Bits of a dense id.
    """

    references: Ragged
    owner: NDArray[np.int64]
    first: NDArray[np.int64]
    order: int
    merged: bool
    dense: NDArray[np.int32]
    bits: int
    chunks: tuple[_Chunk, ...]

    @property
    def segments(self) -> int:
        """N, the number of segments."""
        return len(self.first)

    @property
    def single(self) -> bool:
        """Whether every segment has one reference."""
        return len(self.owner) == len(self.first)


def prepare_references(
    references: Ragged,
    owner: NDArray[np.int64],
    max_order: int,
    *,
    merged: bool,
) -> PreparedReferences:
    """Prepare references for any number of systems, O(T log T) for T tokens.

    Parameters
    ----------
    references : Ragged
        R texts of non-negative ids.
    owner : (R,) int64 array
        Segment of every reference: ascending from 0 to N - 1, none missing.
    max_order : int
        Largest n-gram order, at least 0.
    merged : bool
        Clip at the largest count over the references of a segment (BLEU), or match each reference
        by itself (chrF).
    """
    steps = np.diff(owner, prepend=-1)
    if len(owner) != len(references) or np.any((steps < 0) | (steps > 1)):
        raise ValueError(
            f"owner must ascend from 0 without gaps, one entry for each of the {len(references)} "
            f"references; got {len(owner)} entries. Give every segment at least one reference."
        )
    dense, bits = _dense_table(references.values)
    ids = Ragged(dense[references.values], references.offsets)
    prepared = PreparedReferences(
        ids, owner, np.flatnonzero(steps), max_order, merged, dense, bits, ()
    )
    # An index holds a key, and a number and a limit for each order.
    keep = len(ids.values) * (8 + 12 * max_order) <= KEPT_BYTES
    chunks = [
        _Chunk(start, stop, _index(prepared, start, stop) if keep else None)
        for start, stop in _chunk_ranges(prepared)
    ]
    return PreparedReferences(
        ids, owner, prepared.first, max_order, merged, dense, bits, tuple(chunks)
    )


def clipped_matches(hypotheses: Ragged, prepared: PreparedReferences) -> Statistics:
    """Count clipped n-gram matches.

    Parameters
    ----------
    hypotheses : Ragged
        N texts of ids.
    prepared : PreparedReferences

    Returns
    -------
    (N, order) int64 array if the references are merged, otherwise (R, order)
    """
    parts = [np.zeros((0, prepared.order), dtype=np.int64)]
    # Without merging, a hypothesis meets each of its references as a group of its own.
    paired = not (prepared.merged or prepared.single)
    for chunk in prepared.chunks:
        index = chunk.index or _index(prepared, chunk.start, chunk.stop)
        texts = hypotheses.rows(chunk.start, chunk.stop)
        low, high = _reference_range(prepared, chunk.start, chunk.stop)
        text = prepared.owner[low:high] - chunk.start if paired else np.arange(len(texts))
        # One range as a rule: chunks are bounded by the references, this by the hypotheses.
        sizes = offsets_of(texts.lengths[text])
        for start, stop in blocks(sizes, HYPOTHESIS_TOKENS, len(text)):
            part = texts.take(text[start:stop]) if paired else texts.rows(start, stop)
            ids = prepared.dense.take(part.values, mode="clip")
            parts.append(count_matches(index, Ragged(ids, part.offsets), first=start))
    return np.concatenate(parts)


def bleu_statistics(hypotheses: Ragged, prepared: PreparedReferences) -> Statistics:
    """Compute the statistics of BLEU in sacreBLEU's layout.

    Parameters
    ----------
    hypotheses : Ragged
        N texts of word ids.
    prepared : PreparedReferences
        Merged.

    Returns
    -------
    (N, 2 + 2 * order) int64 array
        ``[sys_len, ref_len, correct_1 ... correct_order, total_1 ... total_order]``.
    """
    _check_segments(hypotheses, prepared)
    lengths = hypotheses.lengths
    return np.column_stack(
        (
            lengths,
            _closest_length(lengths, prepared),
            clipped_matches(hypotheses, prepared),
            _totals(lengths, prepared.order),
        )
    )


def chrf_pair_statistics(hypotheses: Ragged, prepared: PreparedReferences) -> Statistics:
    """Count the n-grams of every pair of a hypothesis and one of its references.

    Returns
    -------
    (R, order, 3) int64 array
        ``[hyp, ref, match]``; as in sacreBLEU, hyp is 0 where the reference has no n-gram.
    """
    _check_segments(hypotheses, prepared)
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
    """Keep the statistics of the reference with the best score, the first of equals.

    ``(R, k) -> (N, k)``; one unit in the last place of a score would choose another reference.
    """
    if prepared.single:
        return pairs
    scores = score(pairs)
    best = np.maximum.reduceat(scores, prepared.first)
    equal = np.flatnonzero(scores == best[prepared.owner])
    return pairs[equal[np.searchsorted(prepared.owner[equal], np.arange(prepared.segments))]]


def _check_segments(hypotheses: Ragged, prepared: PreparedReferences) -> None:
    if len(hypotheses) != prepared.segments:
        raise ValueError(
            f"hypotheses has {len(hypotheses)} texts but the references have "
            f"{prepared.segments} segments; give one hypothesis per segment"
        )


def _dense_table(values: IntArray) -> tuple[NDArray[np.int32], int]:
    """Renumber the distinct ids from 1 in ascending order; small numbers need few bits."""
    present = np.zeros(int(values.max(initial=0)) + 2, dtype=np.bool_)
    present[values] = True
    known = np.flatnonzero(present)
    # 0 is past the end of a reference, the largest number is what no reference has.
    bits = (len(known) + 1).bit_length()
    dense = np.full(len(present), (1 << bits) - 1, dtype=np.int32)
    dense[known] = np.arange(1, len(known) + 1)
    return dense, bits


def _reference_range(prepared: PreparedReferences, start: int, stop: int) -> tuple[int, int]:
    first = prepared.first
    return int(first[start]), int(first[stop]) if stop < len(first) else len(prepared.owner)


def _chunk_ranges(prepared: PreparedReferences) -> Iterator[tuple[int, int]]:
    offsets = prepared.references.offsets
    return blocks(np.append(offsets[prepared.first], offsets[-1]), CHUNK_TOKENS, CHUNK_SEGMENTS)


def _index(prepared: PreparedReferences, start: int, stop: int) -> NgramIndex:
    low, high = _reference_range(prepared, start, stop)
    owner = prepared.owner[low:high] - start
    return build_index(
        prepared.references.rows(low, high),
        owner if prepared.merged else np.arange(high - low),
        groups=stop - start if prepared.merged else high - low,
        order=prepared.order,
        bits=prepared.bits,
    )


def _totals(lengths: IntArray, order: int) -> Statistics:
    """Count the n-grams of texts by their lengths, (n,) -> (n, order)."""
    return np.asarray(np.maximum(lengths[:, None] - np.arange(order), 0))


def _closest_length(lengths: NDArray[np.int64], prepared: PreparedReferences) -> Statistics:
    """Return the reference length closest to each hypothesis, the shorter of two equals, (N,)."""
    references = prepared.references.lengths
    if prepared.single or not prepared.segments:
        return references
    distance = np.abs(lengths[prepared.owner] - references)
    # Ordered by distance, then by length: lengths are below 2**31.
    closest = np.minimum.reduceat(distance << 32 | references, prepared.first)
    return np.asarray(closest & 0xFFFFFFFF)
