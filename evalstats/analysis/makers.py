"""Which types of summaries may stand in the place of statistics: a line for each file of one."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from evalstats.analysis.summaries import Maker, Summary

#: Files of designs, each with a `MAKER`.
_FILES = ("designs.shards.sharded", "designs.moments.from_moments", "designs.arenas.strengths")
MAKERS: tuple[Maker, ...] = tuple(import_module(f"evalstats.{name}").MAKER for name in _FILES)


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
