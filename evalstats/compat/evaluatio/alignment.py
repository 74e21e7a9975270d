"""Alignment, as in ``evaluatio.alignment``; see `evalstats.align`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from evalstats.metrics.alignment import GAP, lowest_path, shortest_path
from evalstats.metrics.base import flag
from evalstats.metrics.texts import listed
from evalstats.metrics.tokens import matches

__all__ = ["Alignment", "optimal_alignment"]


@dataclass(frozen=True)
class Alignment:
    """The part of the hypothesis that stands for one token of the reference.

    Attributes
    ----------
    index : int
        Position in the reference.
    start, end : int
        Span in the hypothesis, `end` exclusive.
    """

    index: int
    start: int
    end: int


def optimal_alignment(
    references: Iterable[Any], hypotheses: Iterable[Any], *, optimal: bool = False
) -> list[Alignment]:
    """Return the span of the hypothesis for every token of the reference.

    Parameters
    ----------
    references, hypotheses : iterable
        Tokens of any type, compared by ``==``.
    optimal : bool
        evaluatio's spans do not always come from an alignment with the fewest edits
        (`evalstats.metrics.alignment.lowest_path`). True gives those that do: one token each, or an
        empty span where the token is missing; inserted tokens are in none.

    Returns
    -------
    list of Alignment
        By position in the reference; empty when either side is.

    Raises
    ------
    InputTypeError
        For a bare string: split it into tokens first.

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
