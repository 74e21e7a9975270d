"""Tercom's shift candidates for many pairs at once.

A block of hypothesis words that occurs in the reference may move to where the reference has it, if
both places contain errors. The candidates follow sacreBLEU's `_shift` exactly, except for their
order: the best is a maximum over distinct ranks, and the limit of candidates depends on the count.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evalstats.text.equal_tokens import Groups
from evalstats.text.ragged import Index, Ragged, expand, offsets_of, slices
from evalstats.text.tercom.beam import Path

MAX_SHIFT_SIZE = 10
MAX_SHIFT_DISTANCE = 50
MAX_CANDIDATES = 1000
_MATCHES = 1 << 19


class Alignment(NamedTuple):
    """Where k hypotheses and references stand to each other along a path.

    Attributes
    ----------
    slot
        Offsets into `place` and `ref_wrong`, (k+1,); every pair has `ref_lengths + 1` entries.
    place
        Hypothesis words consumed before reference word x is reached.
    steps
        Running count of entries of `place` that differ from their left neighbour.
    hyp_wrong
        Running count of hypothesis words not kept, (T+1,).
    ref_wrong
        Running count of reference words not kept, before word x.
    """

    slot: Index
    place: Index
    steps: Index
    hyp_wrong: Index
    ref_wrong: Index


class Candidates(NamedTuple):
    """Shifts (C,): `length` words from `start` move to `target`, as sacreBLEU numbers them.

    Attributes
    ----------
    which
        Index of the hypothesis, (C,).
    start, length, target
        The shift, (C,) each.
    cuts
        The same shift as an exchange of two neighbouring blocks, (C, 3).
    """

    which: Index
    start: Index
    length: Index
    target: Index
    cuts: Index


def align(path: Path, tokens: Ragged, ref_lengths: Index) -> Alignment:
    """Turn paths into alignments; `ref_lengths` (k,)."""
    lengths = tokens.lengths
    slot = offsets_of(ref_lengths + 1)
    base = np.repeat(slot[:-1], lengths)
    consumed = np.bincount(base + path.before + 1, minlength=int(slot[-1]) + 1)[: slot[-1]]
    # The last slot of a pair would count into the first of the next one.
    first = np.zeros(int(slot[-1]) + 1, dtype=np.bool_)
    first[slot] = True
    place = np.cumsum(np.where(first[:-1], 0, consumed))
    place -= np.repeat(place[slot[:-1]], ref_lengths + 1)
    steps = np.cumsum(np.diff(place, prepend=0) != 0)
    wrong = np.ones(int(slot[-1]) + 1, dtype=np.int64)
    wrong[(base + path.before + 1)[path.kept]] = 0
    wrong[slot] = 0
    hyp_wrong = offsets_of(1 - path.kept.astype(np.int64))
    return Alignment(slot, place, steps, hyp_wrong, np.cumsum(wrong[:-1]))


def find_candidates(
    groups: Groups,
    tokens: Ragged,
    ref_offsets: Index,
    alignment: Alignment,
    checked: Index,
) -> tuple[Candidates, Index]:
    """List the shifts to try, and count them.

    Parameters
    ----------
    groups
        Groups of equal tokens; `tokens` and `groups.ref` hold them.
    tokens
        The hypotheses, (k,).
    ref_offsets
        Where the reference of every hypothesis starts and ends in `groups.ref`, (k, 2).
    alignment
        Of the same k pairs.
    checked
        Candidates of earlier rounds, (k,).

    Returns
    -------
    Candidates
        None for a hypothesis that reaches `MAX_CANDIDATES`: sacreBLEU stops there and drops the
        round, so that its shifts need not be tried.
    Index
        Candidates including `checked`, or at least `MAX_CANDIDATES`, (k,).
    """
    lengths = tokens.lengths
    which = np.repeat(np.arange(len(lengths)), lengths)
    start = expand(np.zeros_like(lengths), lengths)
    first, count = _near(groups, tokens, start, np.diff(ref_offsets, axis=1)[which, 0])
    checked = checked.copy()
    parts = [np.zeros((4, 0), dtype=np.int64)]
    # In blocks of matches, so that a long segment of one word takes no more memory than others;
    # after the first block it has too many candidates already.
    for part in slices(count, _MATCHES):
        token = np.flatnonzero(checked[which[part]] < MAX_CANDIDATES) + part.start
        position = groups.positions[expand(first[token], count[token])]
        token = np.repeat(token, count[token])
        near = np.abs(position - start[token]) <= MAX_SHIFT_DISTANCE
        token, position = token[near], position[near]
        grown = _grow(groups, tokens, ref_offsets, alignment, token, which[token], position)
        slot = alignment.slot[grown[0]] + grown[2]
        targets = 1 + alignment.steps[slot + grown[3]] - alignment.steps[slot]
        np.add.at(checked, grown[0], targets)
        parts.append(grown)
    found = np.concatenate(parts, axis=1)
    found = found[:, checked[found[0]] < MAX_CANDIDATES]
    return _expand_targets(found, alignment, lengths), checked


def _near(groups: Groups, tokens: Ragged, start: Index, ref_lengths: Index) -> tuple[Index, Index]:
    """Range in `groups.positions` of the places a word may move to, (T,) each.

    The range contains all of them, but more than those only in short segments.
    """
    first, count = groups.first[tokens.values], groups.ref_count[tokens.values]
    far = (count > 1) & (np.maximum(start, ref_lengths) > MAX_SHIFT_DISTANCE)
    if far.any():
        group, word = tokens.values[far], start[far]
        scale = int(groups.positions.max()) + int(word.max()) + 2 * MAX_SHIFT_DISTANCE
        key = np.repeat(np.arange(len(groups.first)), groups.ref_count) * scale + groups.positions
        low = group * scale + np.maximum(word - MAX_SHIFT_DISTANCE, 0)
        high = group * scale + word + MAX_SHIFT_DISTANCE
        first[far] = np.searchsorted(key, low)
        count[far] = np.searchsorted(key, high, side="right") - first[far]
    return first, count


def _grow(
    groups: Groups,
    tokens: Ragged,
    ref_offsets: Index,
    alignment: Alignment,
    token: Index,
    which: Index,
    position: Index,
) -> Index:
    """Extend matches of one word, (M,), and keep what is worth a shift.

    Returns rows `which, start, position, length`, one column for every length of every match.
    """
    start = token - tokens.offsets[which]
    word = ref_offsets[which, 0] + position
    slot = alignment.slot[which] + position
    aligned = alignment.place[slot + 1] - 1
    # Words left in both sequences, including the first of the match.
    room = np.minimum(tokens.lengths[which] - start, ref_offsets[which, 1] - word)
    found = []
    for length in range(1, MAX_SHIFT_SIZE + 1):
        tried = (
            (alignment.hyp_wrong[token + length] > alignment.hyp_wrong[token])
            & (alignment.ref_wrong[slot + length] > alignment.ref_wrong[slot])
            & ((aligned < start) | (aligned >= start + length))
        )
        lengths = np.full(np.count_nonzero(tried), length)
        found.append(np.stack([which[tried], start[tried], position[tried], lengths]))
        more = np.flatnonzero(room > length)
        more = more[tokens.values[token[more] + length] == groups.ref[word[more] + length]]
        if not len(more):
            break
        token, which, start, position, word, slot, aligned, room = (
            x[more] for x in (token, which, start, position, word, slot, aligned, room)
        )
    return np.concatenate(found, axis=1)


def _expand_targets(found: Index, alignment: Alignment, hyp_lengths: Index) -> Candidates:
    """Give every match (4, M) its distinct targets."""
    which, start, position, length = found
    repeat = np.repeat(np.arange(len(which)), length + 1)
    offset = expand(np.zeros_like(length), length + 1)
    slot = alignment.slot[which[repeat]] + position[repeat] + offset
    new = (offset == 0) | (alignment.place[slot] != alignment.place[slot - 1])
    repeat, target = repeat[new], alignment.place[slot[new]]
    which, start, length = which[repeat], start[repeat], length[repeat]
    end = start + length
    # Up to the end of the block, a target moves the block by target - start words; beyond, it is
    # a place between words.
    cuts = np.stack([start, end, np.where(target > end, target, target + length)], axis=1)
    cuts[:, 2] = np.minimum(cuts[:, 2], hyp_lengths[which])
    left = target < start
    cuts[left] = np.stack([target, start, end], axis=1)[left]
    moves = (cuts[:, 0] < cuts[:, 1]) & (cuts[:, 1] < cuts[:, 2])
    return Candidates(which[moves], start[moves], length[moves], target[moves], cuts[moves])
