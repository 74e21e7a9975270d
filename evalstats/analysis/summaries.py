"""Summaries: sums that stand in the place of the statistics of segments, and what is drawn of them.

The class of a summary names the module of its `Maker`, which is loaded when one is met.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar, Protocol

from evalstats.analysis.aggregates import Aggregate, Aggregated
from evalstats.analysis.drawn import Drawn
from evalstats.analysis.options import Options
from evalstats.analysis.units import Labels


class Named(Protocol):
    """What is known of a metric whose scores are made elsewhere."""

    @property
    def name(self) -> str:
        """What tables call it."""

    @property
    def signature(self) -> str:
        """What identifies its numbers."""


class Summary(Protocol):
    """What every summary says of itself, whatever sums it keeps."""

    #: The module that has its `Maker`, as `MAKER`.
    made_in: ClassVar[str]

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of the S systems."""

    @property
    def metrics(self) -> Sequence[Named]:
        """The metrics whose sums it keeps, at least one."""

    @property
    def n_segments(self) -> int:
        """How many units there are."""

    @property
    def unit(self) -> str:
        """What one unit is: "segment", or what groups are called."""


@dataclass(frozen=True)
class Maker:
    """How summaries of one type become *drawn*; `Any` is that type."""

    kind: type[Any]
    #: What it keeps in the place of segments, for messages: "totals".
    keeps: str
    #: Summaries of a call, one or several, its aggregate and options -> what is drawn for each
    #: metric.
    drawn: Callable[[Sequence[Any], Aggregated, Options], list[Drawn]]
    #: Summary, checked options of the call, and those of `n_resamples` and `rng` that the caller
    #: asked for -> options with what the summary has decided; what it cannot do is refused.
    decide: Callable[[Any, Options, Mapping[str, int]], Options]
    #: Summaries of tasks by name, and what is made of their scores -> a total, named after the
    #: first metric; without it there are no suites and gates of such summaries.
    total: Callable[[Mapping[str, Any], Aggregate], Drawn] | None = None
    #: Summary, and labels for its groups and strata -> the same with these; without it, labels are
    #: refused.
    design: Callable[[Any, Labels, Labels], Any] | None = None

    @property
    def name(self) -> str:
        """What messages call a summary: "a Shard"."""
        return f"a {self.kind.__name__}"

    @property
    def why(self) -> str:
        """Why something is not known: "a Shard keeps totals only"."""
        return f"{self.name} keeps {self.keeps} only"


def maker_of(value: object) -> Maker | None:
    """Return the maker of a summary, or of several of one type; `None` where something else came.

    >>> maker_of([1, 0]) is None
    True
    """
    several = value if isinstance(value, (list, tuple)) and value else [value]
    module = getattr(type(several[0]), "made_in", None)
    if module is None:
        return None
    maker: Maker = import_module(module).MAKER
    return maker if all(isinstance(one, maker.kind) for one in several) else None


def summaries_of(value: Summary | Sequence[Summary]) -> list[Summary]:
    """Return a summary, or several, as a list."""
    return list(value) if isinstance(value, (list, tuple)) else [value]  # type: ignore[list-item]
