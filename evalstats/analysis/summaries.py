"""What comes in the place of statistics: sums of a corpus, or who won battles."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from evalstats.analysis.design import Aggregate, Aggregated, Labels
from evalstats.analysis.options import Options
from evalstats.analysis.scores import Scores
from evalstats.errors import InputError


class Summary(ABC):
    """What stands in the place of statistics, as sums of a corpus, or who won battles.

    A subclass says what is drawn of it; the core asks nothing else.
    """

    #: What it keeps in the place of segments, for messages: "sums and products".
    keeps: ClassVar[str]
    #: Whether nothing is drawn of it, so that t decides.
    is_by_t: ClassVar[bool] = False
    #: Whether tasks of such summaries have totals, and so suites and gates.
    has_totals: ClassVar[bool] = False

    systems: tuple[str, ...]
    metric: Any  # of which name and signature are asked
    unit: str  # "segment", or what groups are called

    @property
    @abstractmethod
    def n_segments(self) -> int:
        """How many units there are."""

    @property
    def name(self) -> str:
        """What messages call it: "a Moments"."""
        return f"a {type(self).__name__}"

    @property
    def why(self) -> str:
        """Why something is not known: "a Moments keeps sums and products only"."""
        return f"{self.name} keeps {self.keeps} only"

    @abstractmethod
    def drawn(self, name: str, aggregate: Aggregated, options: Options) -> Scores:
        """Return the scores of the systems; tables call the metric by this name."""

    @classmethod
    def total(cls, tasks: Mapping[str, Any], aggregate: Aggregate) -> Scores:
        """Return a total over summaries of tasks by name, named after the first metric."""
        raise NotImplementedError

    def labelled(self, groups: Labels, strata: Labels) -> Summary:
        """Return the same with labels for groups and strata, which most summaries have decided."""
        for name, labels in (("groups", groups), ("strata", strata)):
            if labels is not None:
                raise InputError(f"must be left out when {self.name} is given", argument=name)
        return self


def summaries_of(value: object) -> list[Any]:
    """Return a summary, or several of one type, as a list, which is empty for anything else.

    >>> summaries_of([1, 0])
    []
    """
    several = list(value) if isinstance(value, (list, tuple)) else [value]
    is_one_type = len({type(summary) for summary in several}) == 1
    return several if is_one_type and isinstance(several[0], Summary) else []
