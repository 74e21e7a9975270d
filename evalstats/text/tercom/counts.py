"""Translation edit rate, exactly as sacreBLEU computes it, for a whole corpus at once.

TER (Snover et al. 2006) counts word edits after greedy shifts of blocks. In every round the shift
that lowers the beam edit distance most is applied. Rounds of different pairs are independent:
here, all pairs take a round together, and all their candidate shifts are measured together.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol, TypeVar

import numpy as np

from evalstats.text.equal_tokens import Groups, group_tokens
from evalstats.text.ragged import Flags, Index, Ragged, slices
from evalstats.text.tercom.beam import BEAM, NARROW, WINDOW, BitBeam, Path, beam_is_idle, unswap
from evalstats.text.tercom.shifts import Candidates, align, find_candidates
from evalstats.text.tercom.widebeam import WideBeam

_BLOCK_TOKENS = 1 << 17
_BLOCK_STEPS = 1 << 19
_LONGEST_IN_WORDS = 4096


def translation_edits(hyps: Ragged, refs: Ragged) -> Index:
    """Edits of every (hypothesis, reference) pair of word sequences, (n,).

    Equals `num_edits` of sacreBLEU's `translation_edit_rate` on every pair, with its beam and its
    limits. Words are integers; equal integers are equal words.

    Parameters
    ----------
    hyps, refs
        Sequences of n pairs.

    Returns
    -------
    Index
        Shifts plus insertions, deletions and substitutions, (n,).

    Examples
    --------
    >>> from evalstats.text.characters import characters
    >>> translation_edits(characters(["abcd"]), characters(["cdab"])).tolist()
    [1]
    """
    n, m = hyps.lengths, refs.lengths
    edits = np.maximum(n, m)
    alone, kept = lone_words(hyps, refs)
    edits[alone] -= kept
    # Neighbours of similar length waste no steps.
    order = np.setdiff1d(np.flatnonzero((n > 0) & (m > 0)), alone, assume_unique=True)
    order = order[np.argsort(-n[order], kind="stable")]
    for part in slices((n + m)[order], _BLOCK_TOKENS):
        rows = order[part]
        edits[rows] = _block(hyps.take(rows), refs.take(rows))
    return edits


def lone_words(hyps: Ragged, refs: Ragged) -> tuple[Index, Flags]:
    """Pairs of one word against a short reference, (k,), and whether the reference has the word.

    One word cannot be shifted, and the beam leaves short references whole, so that all words of
    the reference but that one are edits. Whole sentences are one word where a language has no
    spaces.
    """
    m = refs.lengths
    alone = np.flatnonzero((hyps.lengths == 1) & (m > 0) & (m < BEAM))
    words = refs.take(alone)
    equal = words.values == np.repeat(hyps.values[hyps.offsets[alone]], m[alone])
    return alone, np.logical_or.reduceat(equal, words.offsets[:-1]) if len(alone) else equal


class _HasDistance(Protocol):
    @property
    def distance(self) -> Index: ...


R = TypeVar("R", bound=_HasDistance)


class _Beam(Protocol[R]):
    """Beam distances of k pairs, their preferred paths, and those of changed hypotheses."""

    def rows(self, tokens: Ragged, pairs: Index, /) -> R: ...

    def path(self, rows: R, tokens: Ragged, pairs: Index, keep: Index, /) -> Path: ...

    def swapped(
        self, rows: R, tokens: Ragged, pairs: Index, which: Index, cuts: Index, /
    ) -> Index: ...


class _Block(NamedTuple):
    """Pairs without empty sides, (N,): groups, lengths, and bounds.

    `least` is the distance of the bags of words, and no order of the words does better. One above
    it, a shift is an edit that saves an edit: taken or not, the sum is the same.
    """

    groups: Groups
    n: Index
    m: Index
    ref_offsets: Index
    least: Index


def _block(hyps: Ragged, refs: Ragged) -> Index:
    """Edits of pairs without empty sides, (N,)."""
    groups = group_tokens(hyps, refs)
    n, m = hyps.lengths, refs.lengths
    common = np.zeros(len(n), dtype=np.int64)
    np.add.at(common, groups.pair, np.minimum(groups.hyp_count, groups.ref_count))
    block = _Block(groups, n, m, refs.offsets, np.maximum(n, m) - common)
    tokens = Ragged(groups.hyp, hyps.offsets)
    # Without a common word nothing can be kept or shifted, and the pseudo-diagonal, which the beam
    # always contains, has as many replacements as there can be.
    edits = np.where(common == 0, np.maximum(n, m), -1)

    narrow = np.flatnonzero((edits < 0) & (m <= NARROW))
    if len(narrow):
        beam = BitBeam(groups, n, m, narrow, sliding=False)
        _greedy(block, beam, tokens, narrow, edits, beam_is_idle)
    sliding = np.flatnonzero((edits < 0) & (m <= WINDOW * n) & (m <= _LONGEST_IN_WORDS))
    if len(sliding):
        beam = BitBeam(groups, n, m, sliding, sliding=True)
        _greedy(block, beam, tokens, sliding, edits)
    for pair in np.flatnonzero(edits < 0):
        wide = WideBeam(groups.ref[refs.offsets[pair] : refs.offsets[pair + 1]], int(n[pair]))
        _greedy(block, wide, tokens, np.array([pair]), edits)
    return edits


def _greedy(
    block: _Block,
    beam: _Beam[R],
    tokens: Ragged,
    pairs: Index,
    edits: Index,
    applies: Callable[[Index, Index, Index], Flags] | None = None,
) -> None:
    """Shift until nothing improves; write into `edits` (N,) those of `pairs` (k,).

    Pairs for which `applies(n, m, distance)` is false before the first shift are left out.
    """
    tokens = tokens.take(pairs)
    checked = np.zeros(len(pairs), dtype=np.int64)
    shifts = 0
    while len(pairs):
        rows = beam.rows(tokens, pairs)
        distance = rows.distance
        open_ = distance > block.least[pairs] + 1
        if shifts == 0 and applies is not None:
            decided = applies(block.n[pairs], block.m[pairs], distance)
            edits[pairs[decided]] = distance[decided]
            open_ &= decided
        else:
            edits[pairs] = shifts + distance
        keep = np.flatnonzero(open_)
        if not len(keep):
            return
        here = pairs[keep]
        kept = tokens.take(keep)
        alignment = align(beam.path(rows, tokens, pairs, keep), kept, block.m[here])
        ref_offsets = np.stack([block.ref_offsets[here], block.ref_offsets[here + 1]], axis=1)
        found, checked = find_candidates(block.groups, kept, ref_offsets, alignment, checked[keep])
        which = keep[found.which]
        steps = block.n[pairs[which]] - found.cuts[:, 0]
        gain = distance[which]
        for part in slices(steps, _BLOCK_STEPS):
            gain[part] -= beam.swapped(rows, tokens, pairs, which[part], found.cuts[part])
        best = _best(found, gain)
        moved = found.which[best]
        tokens = _apply(kept.take(moved), found.cuts[best])
        pairs, checked = here[moved], checked[moved]
        shifts += 1


def _best(found: Candidates, gain: Index) -> Index:
    """Index of the best shift of every hypothesis that has one with a gain.

    Tercom ranks by gain, then the longest block, the leftmost block, the leftmost target.
    """
    good = np.flatnonzero(gain > 0)
    which = found.which[good]
    order = np.lexsort(
        (found.target[good], found.start[good], -found.length[good], -gain[good], which)
    )
    first = np.ones(len(order), dtype=np.bool_)
    first[1:] = which[order][1:] != which[order][:-1]
    return good[order[first]]


def _apply(tokens: Ragged, cuts: Index) -> Ragged:
    """Exchange two neighbouring blocks in every sequence, `cuts` (k, 3)."""
    lengths = tokens.lengths
    who = np.repeat(np.arange(len(lengths)), lengths)
    row = np.arange(len(who)) - tokens.offsets[who]
    return Ragged(tokens.values[unswap(row, cuts[who]) + tokens.offsets[who]], tokens.offsets)
