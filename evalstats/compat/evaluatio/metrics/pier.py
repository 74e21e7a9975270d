"""Point-of-interest error rate, as in ``evaluatio.metrics.pier``; see `evalstats.poi_errors`.

Tokens are of any type and compared by ``==``. Points of interest are flags, one for each token of
the reference, as evaluatio's documentation has it and its `poi_edit_distance` does. Its
`poi_error_rate` wants them for the hypothesis: swap the first two arguments to get that number.
Another number of flags raises an `InputError`, as does an empty reference with a hypothesis.

evaluatio counts along a path that does not always have the fewest edits: of a repeated word, one
may be missing without being an error. ``optimal=True`` counts along a path that has.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalstats.checks import check_same_length, flag, listed
from evalstats.compat.evaluatio.alignment import lowest_path
from evalstats.errors import InputError
from evalstats.metrics.alignment import as_points, at_points, shortest_path
from evalstats.text.token_sequences import matches, token_segments

__all__ = ["poi_edit_distance", "poi_error_rate"]


def poi_edit_distance(
    references: Iterable[Any],
    hypotheses: Iterable[Any],
    points_of_interest: Iterable[bool],
    *,
    optimal: bool = False,
) -> int:
    """Return the errors at points of interest of one pair.

    Examples
    --------
    >>> poi_edit_distance(["no", "no"], ["no"], [True, True])
    0
    >>> poi_edit_distance(["no", "no"], ["no"], [True, True], optimal=True)
    1
    """
    ref = listed(references, "references", "tokens")
    hyp = listed(hypotheses, "hypotheses", "tokens")
    points = as_points(points_of_interest, len(ref), "points_of_interest")
    if hyp and not ref:
        raise InputError("references is empty; a point of interest is a token of the reference")
    return _errors(hyp, ref, points, flag(optimal, "optimal"))


def poi_error_rate(
    references: Iterable[Iterable[Any]],
    hypotheses: Iterable[Iterable[Any]],
    points_of_interest: Iterable[Iterable[bool]],
    *,
    optimal: bool = False,
) -> float:
    """Return errors per point of interest of all pairs, NaN where there is no such point.

    Examples
    --------
    >>> poi_error_rate([["a", "b", "c"]], [["a", "x"]], [[False, True, True]])
    1.0
    """
    refs = token_segments(references, "references")
    hyps = token_segments(hypotheses, "hypotheses")
    flags = listed(points_of_interest, "points_of_interest", "flags, one list a segment")
    check_same_length(references=refs, hypotheses=hyps, points_of_interest=flags)
    best = flag(optimal, "optimal")
    masks = [
        as_points(row, len(ref), f"points_of_interest[{i}]")
        for i, (row, ref) in enumerate(zip(flags, refs, strict=True))
    ]
    errors = sum(_errors(*pair, best) for pair in zip(hyps, refs, masks, strict=True))
    n_points = sum(int(np.count_nonzero(mask)) for mask in masks)
    return errors / n_points if n_points else float("nan")


def _errors(hyp: list[Any], ref: list[Any], points: NDArray[np.bool_], optimal: bool) -> int:
    if not hyp:
        # Every token of the reference is missing, on any path.
        return int(np.count_nonzero(points))
    same = matches(hyp, ref)
    return at_points(shortest_path(same) if optimal else lowest_path(same), same, points)
