"""References that may be sacreBLEU's layout, one list a stream, in place of one entry a segment."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from evalstats.errors import InputError

#: Rows of a square whose texts are compared: a few say enough.
_ROWS = 8
#: Shorter texts, in different pairs of neighbouring characters, say nothing.
_LEAST_PIECES = 12
#: How much more alike texts must be across rows than within them.
_MARGIN = 0.05


def refuse_streams(rows: Sequence[Any], n_segments: int) -> None:
    """Refuse sacreBLEU's layout where the lengths show that it cannot be anything else."""
    if len(rows) == n_segments or not rows:
        return
    if all(isinstance(row, (list, tuple)) and len(row) == n_segments for row in rows):
        raise InputError(
            f"references looks like sacreBLEU's layout ({len(rows)} streams of {n_segments}); "
            f"expected one entry per segment: use evalstats.from_streams(*references)"
        )


def warn_if_transposed(rows: Sequence[Any]) -> None:
    """Warn where both layouts fit and the texts suggest the other one.

    There are as many segments as references of each. References of one segment resemble each
    other: where texts resemble those of other rows at the same place more than those of their own
    row, rows are streams. (Of two segments of WMT22 with two references each, 96 % are found where
    they are transposed; where they are not, 0.3 % are taken for it.)
    """
    n = len(rows)
    if n < 2 or not all(isinstance(row, (list, tuple)) and len(row) == n for row in rows):
        return
    pieces = [[_pieces(text) for text in row[:_ROWS]] for row in rows[:_ROWS]]
    across = [list(column) for column in zip(*pieces, strict=True)]
    if _likeness(across) > _likeness(pieces) + _MARGIN:
        warnings.warn(
            f"references has {n} entries of {n} texts each, and they look like sacreBLEU's layout: "
            f"{n} streams. They are read as one entry per segment; if they are streams, give "
            f"evalstats.from_streams(*references), if not, evalstats.References(references)",
            stacklevel=callers_level(),
        )


def callers_level() -> int:
    """Return how many calls up the code is that called this library."""
    level, frame = 0, sys._getframe(1)
    while frame.f_back and str(frame.f_globals.get("__name__")).startswith("evalstats."):
        level, frame = level + 1, frame.f_back
    return level + 1


def _pieces(text: object) -> set[str]:
    """Return the pairs of neighbouring characters of a text; none of an absent one."""
    return {a + b for a, b in pairwise(text)} if isinstance(text, str) else set()


def _likeness(rows: Iterable[Sequence[set[str]]]) -> float:
    """Return how alike neighbours in a row are: the mean share of pieces that both have."""
    pairs = [pair for row in rows for pair in pairwise(row) if min(map(len, pair)) >= _LEAST_PIECES]
    return sum(len(a & b) / len(a | b) for a, b in pairs) / max(len(pairs), 1)
