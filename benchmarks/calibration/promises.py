"""What must hold of each kind of cell, and which rates are outside."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.stats import binom

from benchmarks.calibration.runner import Counts

Bounds = dict[str, tuple[float, float]]

COVERED: Bounds = {"difference": (0.93, 1.0), "score": (0.93, 1.0)}
PROMISES: dict[str, Bounds] = {
    "pairs": {
        "p ≤ .05": (0.03, 0.07),
        "p ≤ .01": (0.0, 0.02),
        "greater": (0.0, 0.08),
        "less": (0.0, 0.08),
        "difference": (0.925, 1.0),
        "score": (0.925, 1.0),
    },
    "documents": COVERED,
    "totals": COVERED,
    "families": {"any false claim": (0.0, 0.07), "all intervals hold": (0.93, 1.0)},
    "few differing": {"p ≤ .05": (0.0, 0.06)},
    "0/1": COVERED,
    "gates": {"wrong pass": (0.0, 0.065), "wrong failure": (0.0, 0.065)},
    "Monitor": {"false improvement": (0.0, 0.05), "score of the chosen": (0.93, 1.0)},
    "ranks": {"one rank": (0.93, 1.0), "all ranks": (0.93, 1.0)},
    "runs": COVERED,
    "tails": {"difference": (0.925, 1.0), "score": (0.925, 1.0)},
}
#: How far a predicted power may be off.
POWER = 0.04
#: A rate that is on its bound is so far beyond it by chance with at most this probability.
FAR = 1e-6


class Held(NamedTuple):
    """A rate, and the bounds that it is held to."""

    cell: str
    rate: str
    value: float
    trials: int
    low: float
    high: float

    @property
    def error(self) -> float:
        """Its Monte-Carlo standard error."""
        return float(np.sqrt(self.value * (1 - self.value) / self.trials))

    @property
    def promised(self) -> str:
        """Its bounds, in words."""
        if self.high == 1:
            return f"≥ {self.low:g}"
        exact = f"{self.low:g} to {self.high:g}" if self.low else f"≤ {self.high:g}"
        return f"predicted ± {POWER}" if self.cell.startswith("power /") else exact

    @property
    def outside(self) -> bool:
        """Whether it is beyond a bound."""
        return not self.low <= self.value <= self.high

    @property
    def far_outside(self) -> bool:
        """Whether chance does not explain that it is."""
        count = self.value * self.trials
        above = binom.sf(np.floor(count) - 1, self.trials, self.high) if self.high < 1 else 1
        below = binom.cdf(np.ceil(count), self.trials, self.low) if self.low > 0 else 1
        return bool(min(above, below) < FAR)


def held(results: Counts) -> list[Held]:
    """Return all rates of which something is promised."""
    found = []
    for cell, counts in results.items():
        rates = {rate: total / trials for rate, (total, trials) in counts.items()}
        for rate, (low, high) in _bounds(cell, rates).items():
            if rate in rates:
                found.append(Held(cell, rate, rates[rate], int(counts[rate][1]), low, high))
    return found


def _bounds(cell: str, rates: dict[str, float]) -> Bounds:
    kind, row, _, metric = cell.split(" / ")
    if kind == "power":
        return {"found": (rates["predicted"] - POWER, rates["predicted"] + POWER)}
    if kind == "peers":
        return {"p ≤ .05": (0.03, 0.07)} if metric.startswith("evalstats") else {}
    # Documents that are worth fewer than thirty carry no claims of a family, and few segments on
    # which checkpoints fall far none of a run.
    limits = {"families": "documents", "Monitor": "every step falls"}
    return {} if kind in limits and limits[kind] in row else PROMISES.get(kind, {})
