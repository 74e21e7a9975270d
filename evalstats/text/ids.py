"""One integer for equal tokens, shared by hypotheses and references.

The V distinct tokens of the references are numbered 1 to V; every other token of a hypothesis gets
V + 1. Such tokens match nothing and statistics need only their number, so the vocabulary does not
grow with the hypotheses and serves every system. The ids are exact: nothing is hashed to them.

Segments may be tokenised already: words, subwords, phones, any objects, compared by ``==``. Tokens
with a hash become integers; segments with tokens that have no hash (lists, objects that define
``__eq__`` only) or that differ from themselves (NaN) are compared token by token.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import count, repeat
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evalstats.checks import entry, listed
from evalstats.text.ragged import Index, Ragged, offsets_of
from evalstats.text.references import References
from evalstats.text.tokenization import UNICODE, Tokens


class Vocabulary(NamedTuple):
    """The tokens of the references.

    `words` are the W tokens that are not single characters, numbered -1, -2, ...; ``ids[W + c]`` is
    the id of word number c < 0, or of the character with code point c, and the last entry is the id
    of all unknown tokens.
    """

    words: dict[str, int]
    ids: NDArray[np.int32]


def shared_ids(
    refs: References,
    texts: Sequence[str],
    tokenize: Callable[..., Iterable[Tokens]],
    *options: Hashable,
) -> tuple[Ragged, Ragged]:
    """Return the token ids of N hypotheses and of all R references.

    ``tokenize(texts, *options)`` yields the tokens of all texts in blocks, as
    `tokenization.tokenize_blocks` does. The tokens of the references are computed at the first call
    with the same `tokenize` and `options`, and kept in `refs`.
    """
    ids, vocabulary = refs.prepared(
        ("ids", tokenize, *options), lambda refs: learn_ids(tokenize(refs.texts, *options))
    )
    return look_up_ids(tokenize(texts, *options), vocabulary), ids


def learn_ids(blocks: Iterable[Tokens]) -> tuple[Ragged, Vocabulary]:
    """Return the ids of references, and the vocabulary to look up hypotheses."""
    growing: defaultdict[str, int] = defaultdict(count(-1, -1).__next__)
    # The dictionary's look-up numbers new words within C code.
    numbers = _numbers(blocks, lambda words: map(growing.__getitem__, words))
    places = numbers.values + len(growing)
    present = np.zeros(int(places.max(initial=0)) + 2, dtype=np.bool_)
    present[places] = True
    known = np.flatnonzero(present)
    ids = np.full(len(present), len(known) + 1, dtype=np.int32)
    ids[known] = np.arange(1, len(known) + 1)
    return Ragged(ids[places], numbers.offsets), Vocabulary(dict(growing), ids)


def look_up_ids(blocks: Iterable[Tokens], vocabulary: Vocabulary) -> Ragged:
    """Return the ids of hypotheses; all tokens that are not in a reference share one id."""
    words, ids = vocabulary
    numbers = _numbers(blocks, lambda tokens: map(words.get, tokens, repeat(UNICODE)))
    # Unknown words and code points above the references' largest are clipped to the last entry.
    return Ragged(ids.take(numbers.values + len(words), mode="clip"), numbers.offsets)


def _numbers(
    blocks: Iterable[Tokens], number: Callable[[list[str]], Iterable[int | None]]
) -> Ragged:
    """Return code points for tokens of one character, and numbers for the others."""
    values, lengths = [np.zeros(0, dtype=np.int32)], [np.zeros(0, dtype=np.int64)]
    for tokens in blocks:
        numbers = tokens.characters
        if tokens.words:
            longer = np.flatnonzero(numbers < 0)
            numbers = numbers.copy()
            numbers[longer] = np.fromiter(number(tokens.words), dtype=np.int32, count=len(longer))
        values.append(numbers)
        lengths.append(np.diff(tokens.offsets))
    return Ragged(np.concatenate(values), offsets_of(np.concatenate(lengths)))


def token_segments(value: object, name: str) -> list[list[Any]]:
    """Return sequences of tokens as lists, refusing bare strings."""
    return [
        listed(tokens, entry(name, i), "tokens")
        for i, tokens in enumerate(listed(value, name, "token sequences"))
    ]


def is_plain(tokens: list[Any]) -> bool:
    """Return whether integers can replace the tokens: all have a hash and equal themselves."""
    try:
        return all(bool(token == token) for token in set(tokens))
    except TypeError:
        return False


def matches(hypothesis: list[Any], reference: list[Any]) -> NDArray[np.bool_]:
    """Return which tokens of two sequences are the same, `(H, R)`."""
    if is_plain(hypothesis) and is_plain(reference):
        known: dict[Any, int] = {}
        numbers = (
            [known.setdefault(t, len(known)) for t in side] for side in (hypothesis, reference)
        )
        return np.equal.outer(*(np.array(side, dtype=np.int64) for side in numbers))
    same = [[bool(r == h) for r in reference] for h in hypothesis]
    return np.array(same, dtype=np.bool_).reshape(len(hypothesis), len(reference))


def edit_table(same: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the edit distances of all pairs of prefixes, `(H, R) -> (H + 1, R + 1)`.

    Row by row. An insertion costs 1 per column, so with the column number subtracted, the best of
    all insertions is a running minimum.
    """
    n_hyp, n_ref = same.shape
    steps = np.arange(n_ref + 1)
    table = np.empty((n_hyp + 1, n_ref + 1), dtype=np.int64)
    table[0] = steps
    for i in range(n_hyp):
        row = table[i] + 1
        np.minimum(row[1:], table[i, :-1] + ~same[i], out=row[1:])
        np.minimum.accumulate(row - steps, out=row)
        table[i + 1] = row + steps
    return table


class Groups(NamedTuple):
    """Groups of equal tokens within each pair of a hypothesis and a reference.

    Edit distances depend only on which tokens of both sides are equal. `hyp` and `ref` are the
    groups of the tokens, (T_hyp,) and (T_ref,); `pair` is the pair of each group, and `hyp_count`
    and `ref_count` count its tokens on either side, (G,). The tokens of group g in the references
    are ``positions[first[g]:first[g] + ref_count[g]]``, ascending positions within their own
    reference; (G,) and (T_ref,).
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
