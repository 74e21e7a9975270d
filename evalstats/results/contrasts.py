"""How two scores are contrasted: their difference, their ratio, or the logarithm of the ratio."""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

from evalstats.results.convert import one_of

CONTRASTS = ("difference", "ratio", "log-ratio")
ContrastName = Annotated[str, one_of(CONTRASTS)]


class Contrast(NamedTuple):
    """What a contrast is called, as an option and in tables, and its value for equal scores."""

    name: str
    column: str
    of_pair: str
    of_cells: str
    sign: str
    null: float

    def of(self, system: float, baseline: float) -> float:
        """Return the contrast of two scores; of ratios both must be above 0."""
        if self.name == "difference":
            return system - baseline
        ratio = system / baseline
        return ratio if self.name == "ratio" else math.log(ratio)

    def turned(self, value: float) -> float:
        """Return the contrast of the same scores the other way round."""
        return 1 / value if self.name == "ratio" else -value

    def to(self, baseline: str | None) -> str:
        """Return what a title says of a baseline, or nothing."""
        between = "from" if self.name == "difference" else "to"
        return "" if baseline is None else f" {between} {baseline}"

    @property
    def within(self) -> str:
        """The word between the contrast and its metric."""
        return "in" if self.name == "difference" else "of"

    @property
    def is_signed(self) -> bool:
        """Whether tables show its sign."""
        return self.null == 0


_ALL = (
    Contrast(
        name="difference",
        column="difference",
        of_pair="differences, system - baseline",
        of_cells="difference row - column",
        sign="−",
        null=0.0,
    ),
    Contrast(
        name="ratio",
        column="ratio",
        of_pair="ratios, system / baseline",
        of_cells="ratio row / column",
        sign="/",
        null=1.0,
    ),
    Contrast(
        name="log-ratio",
        column="log ratio",
        of_pair="log ratios, ln(system / baseline)",
        of_cells="ln(row / column)",
        sign="/",
        null=0.0,
    ),
)


def contrast_of(name: str) -> Contrast:
    """Return the contrast of one of these names."""
    return _ALL[CONTRASTS.index(name)]
