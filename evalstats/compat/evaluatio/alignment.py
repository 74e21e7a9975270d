"""`evaluatio.alignment` and `evaluatio.metrics.pier`; see `evalstats.metrics.alignment`.

Tokens are of any type and compared by ``==``. evaluatio's path does not always have the fewest
edits: of a repeated word, one may be missing without being an error. Points of interest are flags,
one for each token of the reference, as evaluatio's documentation has it and its
`poi_edit_distance` does. Its `poi_error_rate` wants them for the hypothesis: swap the first two
arguments to get that number.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalstats.checks import check_same_length, listed
from evalstats.metrics.alignment import as_points, at_points
from evalstats.text.ids import edit_table, matches, token_segments

__all__ = ["Alignment", "optimal_alignment"]


@dataclass(frozen=True)
class Alignment:
    """The span of the hypothesis, `end` exclusive, for the token at `index` of the reference."""

    index: int
    start: int
    end: int


def optimal_alignment(references: Iterable[Any], hypotheses: Iterable[Any]) -> list[Alignment]:
    """Return the span of the hypothesis for every token of the reference, in its order.

    Without tokens on either side there is no span.

    Examples
    --------
    >>> [(a.start, a.end) for a in optimal_alignment(list("abc"), list("abxc"))]
    [(0, 1), (1, 2), (2, 4)]
    """
    ref = listed(references, "references", "tokens")
    hyp = listed(hypotheses, "hypotheses", "tokens")
    if not ref or not hyp:
        return []
    path = _lowest_path(matches(hyp, ref))
    spans = [path[path[:, 1] == index, 0].tolist() for index in range(len(ref))]
    return [Alignment(index, span[0], span[-1] + 1) for index, span in enumerate(spans)]


def _lowest_path(same: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the path of evaluatio 0.5 from the last pair of tokens to the first, `(L, 2)`.

    It steps to the neighbour with the smallest distance, whatever the step itself costs; of equals
    it leaves out a token of the hypothesis first, then one of the reference, then one of both. The
    path pairs tokens without gaps, every token at least once.
    """
    table = edit_table(same).tolist()
    i, j = same.shape
    path = []
    while i and j:
        path.append((i - 1, j - 1))
        steps = ((i - 1, j), (i, j - 1), (i - 1, j - 1))
        i, j = min(steps, key=lambda step: table[step[0]][step[1]])
    return np.array(path[::-1], dtype=np.int64).reshape(-1, 2)


def poi_edit_distance(
    references: Iterable[Any], hypotheses: Iterable[Any], points_of_interest: Iterable[bool]
) -> int:
    """Return the errors at points of interest of one pair."""
    ref = listed(references, "references", "tokens")
    hyp = listed(hypotheses, "hypotheses", "tokens")
    points = as_points(points_of_interest, len(ref), "points_of_interest")
    return _errors(hyp, ref, points)


def poi_error_rate(
    references: Iterable[Iterable[Any]],
    hypotheses: Iterable[Iterable[Any]],
    points_of_interest: Iterable[Iterable[bool]],
) -> float:
    """Return errors per point of interest of all pairs, NaN where there is no such point."""
    refs = token_segments(references, "references")
    hyps = token_segments(hypotheses, "hypotheses")
    flags = listed(points_of_interest, "points_of_interest", "flags, one list a segment")
    check_same_length(references=refs, hypotheses=hyps, points_of_interest=flags)
    masks = [
        as_points(row, len(ref), f"points_of_interest[{i}]")
        for i, (row, ref) in enumerate(zip(flags, refs, strict=True))
    ]
    errors = sum(map(_errors, hyps, refs, masks))
    n_points = sum(int(np.count_nonzero(mask)) for mask in masks)
    return errors / n_points if n_points else float("nan")


def _errors(hyp: list[Any], ref: list[Any], points: NDArray[np.bool_]) -> int:
    if not hyp:
        # Every token of the reference is missing, on any path.
        return int(np.count_nonzero(points))
    same = matches(hyp, ref)
    return at_points(_lowest_path(same), same, points)
