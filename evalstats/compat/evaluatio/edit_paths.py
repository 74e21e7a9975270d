"""Alignments of the tokens of a hypothesis and a reference.

An alignment is a shortest path through the table of edit distances (Wagner and Fischer, 1974).
Among several, going back from the end, pairing is preferred to inserting or deleting.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalstats.checks import check_same_length, listed
from evalstats.errors import InputError, InputTypeError
from evalstats.text.ids import edit_table, matches, token_segments

#: "No token" in an alignment.
GAP = -1


def align(hypothesis: Iterable[Any], reference: Iterable[Any]) -> NDArray[np.int64]:
    """Align two sequences of tokens with the fewest edits, `(L, 2)`.

    Parameters
    ----------
    hypothesis, reference : iterable
        Tokens of any type, compared by ``==``. Time and memory grow with the product of the
        lengths.

    Returns
    -------
    ndarray of int64, shape (L, 2)
        Positions in the hypothesis and in the reference, in order. -1 in the first column is a
        deletion (the hypothesis lacks the token), in the second an insertion.

    Examples
    --------
    >>> align("the big old cat sat".split(), "the cat sat down".split()).tolist()
    [[0, 0], [1, -1], [2, -1], [3, 1], [4, 2], [-1, 3]]
    """
    hyp, ref = listed(hypothesis, "hypothesis", "tokens"), listed(reference, "reference", "tokens")
    return shortest_path(matches(hyp, ref))


def poi_errors(
    hypotheses: Iterable[Iterable[Any]],
    references: Iterable[Iterable[Any]],
    points: Iterable[Iterable[bool]],
) -> NDArray[np.int64]:
    """Return errors at points of interest, and points, of every segment, `(N, 2)`.

    A point of interest is a token of the reference that matters: a name, a word of the other
    language. It is an error if the alignment with the fewest edits deletes or replaces it.
    Insertions do not belong to a reference token. With `Ratio` the rows give the point-of-interest
    error rate, PIER (Ugan, Pham, Bärmann and Waibel, 2025, ICASSP), in `estimate` and `compare`
    too.

    Parameters
    ----------
    hypotheses, references : iterable of iterables
        One sequence of tokens per segment, as in `token_edits`.
    points : iterable of iterables of bool
        One flag per token of the reference, for every segment; values other than bool raise an
        `InputError`.

    Examples
    --------
    >>> hypotheses, references = [["ich", "hab", "das", "feil"]], [["ich", "hab", "das", "file"]]
    >>> poi_errors(hypotheses, references, [[False, False, False, True]]).tolist()
    [[1, 1]]
    """
    hyps, refs = token_segments(hypotheses, "hypotheses"), token_segments(references, "references")
    flags = listed(points, "points", "flags, one list per segment")
    check_same_length(references=refs, hypotheses=hyps, points=flags)
    rows = np.zeros((len(refs), 2), dtype=np.int64)
    for i, (hyp, ref) in enumerate(zip(hyps, refs, strict=True)):
        mask = as_points(flags[i], len(ref), f"points[{i}]")
        same = matches(hyp, ref)
        rows[i] = at_points(shortest_path(same), same, mask), np.count_nonzero(mask)
    return rows


def as_points(value: object, n_tokens: int, name: str) -> NDArray[np.bool_]:
    """Return flags of the tokens of one reference, `(R,)`, or raise an error."""
    flags = listed(value, name, "flags")
    for j, flag in enumerate(flags):
        if not isinstance(flag, (bool, np.bool_)):
            raise InputTypeError(f"{name}[{j}] must be True or False, got {flag!r}")
    if len(flags) != n_tokens:
        raise InputError(
            f"{name} must contain one flag for each of the {n_tokens} tokens of the reference, "
            f"got {len(flags)}"
        )
    return np.array(flags, dtype=np.bool_)


def at_points(path: NDArray[np.int64], same: NDArray[np.bool_], points: NDArray[np.bool_]) -> int:
    """Count the steps of a path that are errors at points of interest, `(L, 2) -> int`."""
    hyp, ref = path[path[:, 1] != GAP].T
    wrong = np.ones(len(ref), dtype=np.bool_)
    present = hyp != GAP
    wrong[present] = ~same[hyp[present], ref[present]]
    return int(np.count_nonzero(wrong & points[ref]))


def shortest_path(same: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return an alignment with the fewest edits, `(H, R) -> (L, 2)`."""
    table = edit_table(same).tolist()
    equal = same.tolist()
    i, j = same.shape
    path = []
    while i or j:
        here = table[i][j]
        if i and j and table[i - 1][j - 1] + (not equal[i - 1][j - 1]) == here:
            i, j = i - 1, j - 1
            path.append((i, j))
        elif i and table[i - 1][j] + 1 == here:
            i -= 1
            path.append((i, GAP))
        else:
            j -= 1
            path.append((GAP, j))
    return np.array(path[::-1], dtype=np.int64).reshape(-1, 2)
