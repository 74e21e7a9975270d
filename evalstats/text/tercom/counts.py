"""Translation edit rate, exactly as sacreBLEU computes it, for a whole corpus at once.

TER (Snover et al. 2006) counts word edits after greedy shifts of blocks. In every round the shift
that lowers the beam edit distance most is applied. Rounds of different pairs are independent:
here, all pairs take a round together, and all their candidate shifts are measured together.
"""

from __future__ import annotations

from itertools import count

import numpy as np

from evalstats.text.ids import Groups, group_tokens
from evalstats.text.ragged import Index, Ragged, slices
from evalstats.text.tercom.beam import Rows, beam_widths, unswap
from evalstats.text.tercom.shifts import Candidates, align, find_candidates

# Cells of distance matrices held at a time, four bytes each; padding at most doubles them.
_BLOCK_CELLS = 1 << 21


def translation_edits(hyps: Ragged, refs: Ragged) -> Index:
    """Edits of every (hypothesis, reference) pair of word sequences, (n,).

    Shifts plus insertions, deletions and substitutions: equal to `num_edits` of sacreBLEU's
    `translation_edit_rate` on every pair, with its beam and its limits. Equal integers are equal
    words. Memory is bounded by blocks of pairs; one long pair needs about 50 cells of four bytes
    for every word of its hypothesis.

    >>> from evalstats.text.characters import characters
    >>> translation_edits(characters(["abcd"]), characters(["cdab"])).tolist()
    [1]
    """
    n, m = hyps.lengths, refs.lengths
    edits = np.maximum(n, m)
    both = np.flatnonzero((n > 0) & (m > 0))
    beams = beam_widths(n[both], m[both])
    for beam in np.unique(beams).tolist():
        pairs = both[beams == beam]
        pairs = pairs[np.argsort(-n[pairs], kind="stable")]
        for part in slices((n[pairs] + 1) * 2 * beam, _BLOCK_CELLS):
            rows = pairs[part]
            edits[rows] = _block(hyps.take(rows), refs.take(rows), beam)
    return edits


def _block(hyps: Ragged, refs: Ragged, beam: int) -> Index:
    """Edits of pairs without empty sides, (k,), sorted by falling length of the hypothesis."""
    groups = group_tokens(hyps, refs)
    shared = np.minimum(groups.hyp_count, groups.ref_count)
    common = np.bincount(groups.pair, shared, minlength=len(hyps)).astype(np.int64)
    # The distance of the bags of words: no order of the words does better. Without a common word
    # nothing can be kept or shifted, so that it is reached.
    least = np.maximum(hyps.lengths, refs.lengths) - common
    edits: Index = least.copy()
    pairs = np.flatnonzero(common)
    hyps = Ragged(groups.hyp, hyps.offsets).take(pairs)
    refs = Ragged(groups.ref, refs.offsets).take(pairs)
    edits[pairs] = _greedy(groups, hyps, refs, beam, least[pairs])
    return edits


def _greedy(groups: Groups, hyps: Ragged, refs: Ragged, beam: int, least: Index) -> Index:
    """Shift until nothing improves; return the edits, (k,), none of them below `least`."""
    edits: Index = least.copy()
    pairs = np.arange(len(hyps))
    checked = np.zeros(len(pairs), dtype=np.int64)
    for shifts in count():
        if not len(pairs):
            break
        rows = Rows(hyps, refs, beam)
        edits[pairs] = shifts + rows.distance
        # A shift that saves one edit is one edit: one above the least, nothing can be gained.
        keep = np.flatnonzero(rows.distance > least[pairs] + 1)
        path = rows.path(keep)
        pairs, hyps, refs = pairs[keep], hyps.take(keep), refs.take(keep)
        alignment = align(path, hyps, refs.lengths)
        found, checked = find_candidates(groups, hyps, refs, alignment, checked[keep])
        gain = rows.distance[keep][found.which]
        for part in slices(np.full(len(gain), 4 * beam), _BLOCK_CELLS):
            gain[part] -= rows.swapped(keep[found.which[part]], found.cuts[part])
        best = _best(found, gain)
        moved = found.which[best]
        hyps = _apply(hyps.take(moved), found.cuts[best])
        pairs, refs, checked = pairs[moved], refs.take(moved), checked[moved]
    return edits


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
