"""Which types of summaries may stand in the place of statistics: a line for each maker."""

from __future__ import annotations

from collections.abc import Sequence

from evalstats.analysis import from_moments, sharded, strengths
from evalstats.analysis.summaries import Maker, Summary

MAKERS = (sharded.MAKER, from_moments.MAKER, strengths.MAKER)


def maker_of(value: object) -> Maker | None:
    """Return the maker of a summary, or of several of one type; `None` where something else came.

    >>> maker_of([1, 0]) is None
    True
    """
    several = value if isinstance(value, (list, tuple)) and value else [value]
    makers = (m for m in MAKERS if all(isinstance(one, m.kind) for one in several))
    return next(makers, None)


def summaries_of(value: Summary | Sequence[Summary]) -> list[Summary]:
    """Return a summary, or several, as a list."""
    return list(value) if isinstance(value, (list, tuple)) else [value]  # type: ignore[list-item]
