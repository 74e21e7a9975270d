"""The limits of a margin or a recovery on the axis of a figure: how far a loss may go."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite

from evalstats.results.records import Difference, contrast_of


@dataclass(frozen=True)
class Limit:
    """A margin in points, or a recovery, a share of the baseline; of a gate about a loss alone."""

    margin: float | None = None
    recovery: float | None = None
    of_loss: bool = False

    @property
    def label(self) -> str:
        """What a figure says of its dashed lines; nothing where there is no limit."""
        if self.margin is not None:
            of = "a loss of " if self.of_loss else "margin ±"
            return f"dashed: {of}{self.margin:g}"
        return "" if self.recovery is None else f"dashed: {self.recovery:g} of the baseline kept"

    def bounds(self, d: Difference) -> tuple[float, float] | None:
        """Return where the limits are on the axis of the contrast, infinite on a side without one.

        Of a loss it is on the side where the system is worse: below 0 where higher is better.
        `None` where there is no limit, or none that says something of this pair.
        """
        base = d.baseline_score
        if self.margin is not None:
            low, high = -self.margin, self.margin
        elif self.recovery is None or min(base, d.system_score) < 0:
            return None
        else:
            contrast = contrast_of(d.contrast)
            low, high = (contrast.of(x, base) for x in (self.recovery * base, base / self.recovery))
        if self.recovery is not None or self.of_loss:
            return (low, inf) if d.higher_is_better else (-inf, high)
        return low, high

    def band(self, d: Difference) -> tuple[float, float] | None:
        """Return what lies within the limits, from the null value where a side has none."""
        found = self.bounds(d)
        if found is None:
            return None
        low, high = (x if isfinite(x) else d.null for x in found)
        return low, high
