"""Statistics of BLEU and chrF from token ids.

The references of a test set are prepared once and serve every system. Lengths determine all
counts but the clipped matches, and those come from `ngram_index`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from evalstats.text.ids import shared_ids
from evalstats.text.ngram_index import NgramIndex, build_index, count_matches
from evalstats.text.ragged import IntArray, Ragged, blocks, offsets_of
from evalstats.text.references import References
from evalstats.text.tokenization import Tokens

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
class PreparedReferences:
    """The references of N segments, ready to be matched.

    `references` are R texts of ids 1 to V, `owner` the segment of each, ascending from 0 to N - 1,
    `order` the largest n-gram order (0 counts nothing). If `merged`, matches are clipped at the
    largest count over the references of a segment (BLEU); if not, each reference is by itself.
    """

    references: Ragged
    owner: NDArray[np.int64]
    order: int
    merged: bool

    @cached_property
    def edges(self) -> NDArray[np.int64]:
        """Segment i has the references ``edges[i]`` to ``edges[i + 1]``, (N + 1,)."""
        return np.append(np.flatnonzero(np.diff(self.owner, prepend=-1)), len(self.owner))

    @property
    def first(self) -> NDArray[np.int64]:
        """First reference of every segment, (N,)."""
        return self.edges[:-1]

    @property
    def single(self) -> bool:
        """Whether every segment has one reference."""
        return len(self.owner) == len(self.first)

    @cached_property
    def chunks(self) -> list[tuple[int, int]]:
        """Ranges of segments that are indexed together."""
        tokens = self.references.offsets[self.edges]
        return list(blocks(tokens, CHUNK_TOKENS, CHUNK_SEGMENTS))

    def index(self, chunk: int) -> NgramIndex:
        """Return the n-gram index of a chunk, from memory if all of them fit."""
        # An index holds a key, and a number and a limit for each order.
        if len(self.references.values) * (8 + 12 * self.order) <= KEPT_BYTES:
            return self._kept[chunk]
        return self._index(*self.chunks[chunk])

    @cached_property
    def _kept(self) -> list[NgramIndex]:
        return [self._index(start, stop) for start, stop in self.chunks]

    @cached_property
    def _bits(self) -> int:
        # 0 is past the end of a reference, the largest number is what no reference has.
        return (int(self.references.values.max(initial=0)) + 1).bit_length()

    def _index(self, start: int, stop: int) -> NgramIndex:
        low, high = self.edges[[start, stop]].tolist()
        return build_index(
            self.references.rows(low, high),
            self.owner[low:high] - start if self.merged else np.arange(high - low),
            groups=stop - start if self.merged else high - low,
            order=self.order,
            bits=self._bits,
        )


def shared_ngrams(
    refs: References,
    texts: Sequence[str],
    order: int,
    merged: bool,
    tokenize: Callable[..., Iterable[Tokens]],
    *options: Hashable,
) -> tuple[Ragged, PreparedReferences]:
    """Return the ids of N hypotheses, as `shared_ids`, and the references ready to be matched.

    What is prepared is kept in `refs`, for the next system.
    """
    hyps, ids = shared_ids(refs, texts, tokenize, *options)
    key = ("n-grams", order, merged, tokenize, *options)
    return hyps, refs.prepared(key, lambda refs: PreparedReferences(ids, refs.owner, order, merged))


def clipped_matches(hypotheses: Ragged, prepared: PreparedReferences) -> Statistics:
    """Count clipped n-gram matches, `(N, order)` if merged, otherwise `(R, order)`."""
    parts = [np.zeros((0, prepared.order), dtype=np.int64)]
    # Without merging, a hypothesis meets each of its references as a group of its own.
    paired = not (prepared.merged or prepared.single)
    for chunk, (first, last) in enumerate(prepared.chunks):
        index = prepared.index(chunk)
        texts = hypotheses.rows(first, last)
        low, high = prepared.edges[[first, last]]
        text = prepared.owner[low:high] - first if paired else np.arange(len(texts))
        # One range as a rule: chunks are bounded by the references, this by the hypotheses.
        sizes = offsets_of(texts.lengths[text])
        for start, stop in blocks(sizes, HYPOTHESIS_TOKENS, len(text)):
            part = texts.take(text[start:stop]) if paired else texts.rows(start, stop)
            parts.append(count_matches(index, part, first=start))
    return np.concatenate(parts)


def bleu_statistics(hypotheses: Ragged, prepared: PreparedReferences) -> Statistics:
    """Compute the statistics of BLEU against merged references, `(N, 2 + 2 * order)`.

    The layout is sacreBLEU's: sys_len, ref_len, correct_1 ..., total_1 ...
    """
    lengths = hypotheses.lengths
    closest = _closest_length(lengths, prepared)
    matches = clipped_matches(hypotheses, prepared)
    return np.column_stack((lengths, closest, matches, _totals(lengths, prepared.order)))


def chrf_pair_statistics(hypotheses: Ragged, prepared: PreparedReferences) -> Statistics:
    """Count the n-grams of every pair of a hypothesis and one of its references, `(R, order, 3)`.

    Those of the hypothesis, those of the reference, matches; as in sacreBLEU, the first is 0 where
    the reference has no n-gram.
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
    """Keep the statistics of the reference with the best score, the first of equals.

    ``(R, k) -> (N, k)``; one unit in the last place of a score would choose another reference.
    """
    if prepared.single:
        return pairs
    # By segment, then by falling score; of equals the first stays first.
    ranked = np.lexsort((-score(pairs), prepared.owner))
    return pairs[ranked[prepared.first]]


def _totals(lengths: IntArray, order: int) -> Statistics:
    """Count the n-grams of texts by their lengths, (n,) -> (n, order)."""
    return np.asarray(np.maximum(lengths[:, None] - np.arange(order), 0))


def _closest_length(lengths: NDArray[np.int64], prepared: PreparedReferences) -> Statistics:
    """Return the reference length closest to each hypothesis, the shorter of two equals, (N,)."""
    references = prepared.references.lengths
    if prepared.single:
        return references
    distance = np.abs(lengths[prepared.owner] - references)
    # Ordered by distance, then by length: lengths are below 2**31.
    closest = np.minimum.reduceat(distance << 32 | references, prepared.first)
    return np.asarray(closest & 0xFFFFFFFF)
