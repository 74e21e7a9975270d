"""Alignment, as in ``evaluatio.alignment``; see `evalstats.align`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalstats.checks import flag, listed
from evalstats.metrics.alignment import GAP, shortest_path
from evalstats.text.token_sequences import edit_table, matches

__all__ = ["Alignment", "optimal_alignment"]


@dataclass(frozen=True)
class Alignment:
    """The span of the hypothesis, `end` exclusive, for the token at `index` of the reference."""

    index: int
    start: int
    end: int


def optimal_alignment(
    references: Iterable[Any], hypotheses: Iterable[Any], *, optimal: bool = False
) -> list[Alignment]:
    """Return the span of the hypothesis for every token of the reference, in its order.

    Tokens are of any type and compared by ``==``; without tokens on either side there is no span.
    evaluatio's spans do not always come from an alignment with the fewest edits (`lowest_path`).
    ``optimal=True`` gives those that do: one token each, or an empty span where the token is
    missing; inserted tokens are in none.

    Examples
    --------
    >>> for optimal in (False, True):
    ...     spans = optimal_alignment(list("abc"), list("abxc"), optimal=optimal)
    ...     print([(a.index, a.start, a.end) for a in spans])
    [(0, 0, 1), (1, 1, 2), (2, 2, 4)]
    [(0, 0, 1), (1, 1, 2), (2, 3, 4)]
    """
    ref = listed(references, "references", "tokens")
    hyp = listed(hypotheses, "hypotheses", "tokens")
    if not ref or not hyp:
        return []
    same = matches(hyp, ref)
    path = shortest_path(same) if flag(optimal, "optimal") else lowest_path(same)
    # A token that is missing stands after the hypothesis tokens before it.
    after = np.maximum.accumulate(np.where(path[:, 0] == GAP, 0, path[:, 0] + 1))
    spans = []
    for index in range(len(ref)):
        steps = np.flatnonzero(path[:, 1] == index)
        positions = path[steps, 0]
        start = int(after[steps[0]]) if positions[0] == GAP else int(positions[0])
        spans.append(Alignment(index, start, int(after[steps[-1]])))
    return spans


def lowest_path(same: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the path of evaluatio 0.5 from the last pair of tokens to the first, `(L, 2)`.

    It steps to the neighbour with the smallest distance, whatever the step itself costs; of equals
    it leaves out a token of the hypothesis first, then one of the reference, then one of both. The
    path pairs tokens without gaps, may have a token in several pairs, and does not always have the
    fewest edits: of a repeated word, one that is missing is paired with the one that is there.
    """
    table = edit_table(same).tolist()
    i, j = same.shape
    path = []
    while i and j:
        path.append((i - 1, j - 1))
        above, left, corner = table[i - 1][j], table[i][j - 1], table[i - 1][j - 1]
        lowest = min(above, left, corner)
        if above == lowest:
            i -= 1
        elif left == lowest:
            j -= 1
        else:
            i, j = i - 1, j - 1
    return np.array(path[::-1], dtype=np.int64).reshape(-1, 2)
