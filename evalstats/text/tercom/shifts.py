"""Tercom's shift candidates for many pairs at once.

A block of hypothesis words that occurs in the reference may move to where the reference has it, if
both places contain errors. The candidates are those of sacreBLEU's `_shift`. Their order differs
and cannot matter: the best one has a unique rank, and the limit of 1,000 depends on their number
only.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evalstats.text.ids import Groups
from evalstats.text.ragged import Index, Ragged, expand, offsets_of, slices
from evalstats.text.tercom.beam import Path

MAX_SHIFT_SIZE = 10
MAX_SHIFT_DISTANCE = 50
MAX_CANDIDATES = 1000
_MATCHES = 1 << 19


class Alignment(NamedTuple):
    """Where k hypotheses and references stand to each other along a path.

    In this pair the path deletes `sat`, replaces `the` by `big` and inserts `sat`::

        hypothesis    sat  on  the  mat   .        hyp_wrong    0  1  1  2  2
        reference      .   on  big  mat  sat       ref_wrong    0  0  1  1  2

        reference word x    on  big  mat  sat  (end)
        place                0    2    3    4    4
        steps                0    1    2    3    3

    Reference word 3, `sat`, is wrong, and so is word 0 of the hypothesis: the word may move to
    `place[3]` or `place[4]`. Both are 4, so that there is one target: as many as steps between
    the two, and one more.

    """

    #: Where the entries of a pair start in `place`, `steps` and `ref_wrong`, (k+1,); every pair
    #: has an entry for each reference word and one for the end.
    slot: Index
    #: Hypothesis words consumed before reference word x is.
    place: Index
    #: Running count of entries of `place` that differ from their left neighbour.
    steps: Index
    #: Running count of hypothesis words not kept, (T+1,).
    hyp_wrong: Index
    #: Running count of reference words not kept, before word x.
    ref_wrong: Index


class Candidates(NamedTuple):
    """Shifts (C,): `length` words of the hypothesis `which` move from `start` to `target`.

    These are numbered as in sacreBLEU. `cuts` are the same shifts as exchanges of two neighbouring
    blocks, (C, 3).
    """

    which: Index
    start: Index
    length: Index
    target: Index
    cuts: Index


def align(path: Path, tokens: Ragged, ref_lengths: Index) -> Alignment:
    """Turn paths into alignments; `ref_lengths` (k,)."""
    entries = ref_lengths + 1
    slot = offsets_of(entries)
    reached = np.repeat(slot[:-1], tokens.lengths) + path.before
    place = np.searchsorted(reached, np.arange(slot[-1]))
    place -= np.repeat(tokens.offsets[:-1], entries)
    wrong = np.ones(int(slot[-1]), dtype=np.bool_)
    wrong[reached[path.kept]] = False
    wrong[slot[1:] - 1] = False
    steps = np.cumsum(np.diff(place, prepend=0) != 0)
    return Alignment(slot, place, steps, offsets_of(~path.kept), offsets_of(wrong))


def find_candidates(
    groups: Groups, tokens: Ragged, refs: Ragged, alignment: Alignment, checked: Index
) -> tuple[Candidates, Index]:
    """List the shifts to try of k hypotheses, and count them with those of earlier rounds.

    Hypotheses and references hold `groups` of equal tokens. `checked` candidates, (k,), were there
    in earlier rounds; where there are `MAX_CANDIDATES` in all, none is listed: sacreBLEU stops
    there and drops the round, so that its shifts need not be tried.
    """
    lengths = tokens.lengths
    which = np.repeat(np.arange(len(lengths)), lengths)
    start = expand(np.zeros_like(lengths), lengths)
    first, count = _near(groups, tokens.values, start)
    checked = checked.copy()
    parts = [np.zeros((4, 0), dtype=np.int64)]
    # In blocks of matches, so that a long segment of one word takes no more memory than others;
    # after the first block it has too many candidates already.
    for part in slices(count, _MATCHES):
        token = np.flatnonzero(checked[which[part]] < MAX_CANDIDATES) + part.start
        position = groups.positions[expand(first[token], count[token])]
        token = np.repeat(token, count[token])
        grown = _grow(tokens, refs, alignment, token, which[token], position)
        slot = alignment.slot[grown[0]] + grown[2]
        targets = 1 + alignment.steps[slot + grown[3]] - alignment.steps[slot]
        np.add.at(checked, grown[0], targets)
        parts.append(grown)
    found = np.concatenate(parts, axis=1)
    found = found[:, checked[found[0]] < MAX_CANDIDATES]
    return _expand_targets(found, alignment, lengths), checked


def _near(groups: Groups, words: Index, start: Index) -> tuple[Index, Index]:
    """First and number of the equal reference words within reach, in `groups.positions`, (T,)."""
    # Positions ascend within a group, and groups ascend: together they are one sorted key.
    scale = int(groups.positions.max()) + int(start.max(initial=0)) + 2 * MAX_SHIFT_DISTANCE
    key = np.repeat(np.arange(len(groups.first)), groups.ref_count) * scale + groups.positions
    low = words * scale + np.maximum(start - MAX_SHIFT_DISTANCE, 0)
    high = words * scale + start + MAX_SHIFT_DISTANCE
    first = np.searchsorted(key, low)
    return first, np.searchsorted(key, high, side="right") - first


def _grow(
    tokens: Ragged,
    refs: Ragged,
    alignment: Alignment,
    token: Index,
    which: Index,
    position: Index,
) -> Index:
    """Extend matches of one word, (M,), and keep what is worth a shift.

    Returns rows `which, start, position, length`, one column for every length of every match.
    """
    start = token - tokens.offsets[which]
    word = refs.offsets[which] + position
    slot = alignment.slot[which] + position
    aligned = alignment.place[slot + 1] - 1
    # Words left in both sequences, including the first of the match.
    room = np.minimum(tokens.lengths[which] - start, refs.lengths[which] - position)
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
        more = more[tokens.values[token[more] + length] == refs.values[word[more] + length]]
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
