"""Groups of equal tokens within each pair of a hypothesis and a reference.

Edit distances ask one thing of tokens: which of the other side are equal. A group answers it for
all pairs of a corpus after one sort, whatever the tokens are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evalstats.text.ragged import Index, Ragged


class Groups(NamedTuple):
    """Equal tokens of one pair share a group; groups of different pairs are different.

    Attributes
    ----------
    hyp, ref
        Group of every token, (T_hyp,) and (T_ref,).
    pair
        Pair that a group belongs to, (G,).
    hyp_count, ref_count
        Tokens of a group on either side, (G,).
    first, positions
        The tokens of group g in the references are `positions[first[g]:first[g] + ref_count[g]]`,
        ascending positions within their own reference; (G,) and (T_ref,).
    """

    hyp: Index
    ref: Index
    pair: Index
    hyp_count: Index
    ref_count: Index
    first: Index
    positions: Index


def group_tokens(hyps: Ragged, refs: Ragged) -> Groups:
    """Give the tokens of every (hypothesis, reference) pair a group per distinct value.

    Groups are numbered by pair, then by value.
    """
    n_hyp = len(hyps.values)
    values = np.concatenate([hyps.values, refs.values])
    numbers = np.arange(len(hyps))
    pair_of = np.concatenate([np.repeat(numbers, hyps.lengths), np.repeat(numbers, refs.lengths)])
    low, high = int(values.min(initial=0)), int(values.max(initial=0))
    if low < 0 or ((high + 1) * len(hyps)).bit_length() > 63:
        values = np.unique(values, return_inverse=True)[1]
        high = len(values)
    keys, group = np.unique(pair_of * (high + 1) + values, return_inverse=True)
    hyp, ref = group[:n_hyp], group[n_hyp:]
    ref_count = np.bincount(ref, minlength=len(keys))
    position = np.arange(len(ref)) - np.repeat(refs.offsets[:-1], refs.lengths)
    return Groups(
        hyp=hyp,
        ref=ref,
        pair=keys // (high + 1),
        hyp_count=np.bincount(hyp, minlength=len(keys)),
        ref_count=ref_count,
        first=np.cumsum(ref_count) - ref_count,
        positions=position[np.argsort(ref, kind="stable")],
    )
