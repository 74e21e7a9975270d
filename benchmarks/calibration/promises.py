"""The promised range of each kind of cell, and the rates outside."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.stats import binom, norm

from benchmarks.calibration.runner import Counts

Bounds = dict[str, tuple[float, float]]


#: How long intervals are at most, of a normal estimate whose error is known, and which rows are
#: longer: few units, few failures, and runs that share prompts whose own spread is nothing.
LENGTH = 1.3
LONGER = {
    "documents / real, 10 documents": 2.5,
    "documents / real, 20 documents": 1.7,
    "documents / equal, 20 documents": 1.9,
    "crossed / 60 prompts, spread 0.7, 5 raters": 1.6,
    "crossed / 60 prompts, spread 0.0, 5 raters": 1.8,
    "runs / 2 runs": 3.5,
    "runs / 3 runs": 1.6,
    "paired runs / 2 prompts, own 0.0": 4.3,
    "paired runs / 3 prompts, own 0.0": 2.0,
    "0/1 / N = 12 / shares (0.8": 1.4,
    "0/1 / N = 12 / shares (0.95": 3.0,
    "0/1 / N = 100 / shares (0.95": 1.4,
    "0/1 / 20 groups, 100 items / shares 0.8": 1.4,
    "0/1 / 20 groups, 100 items / shares 0.95": 2.3,
    "0/1 / 20 groups, 160 items": 1.5,
    "0/1 / 90 groups of 20, a third alike / shares 0.98": 1.35,
    "0/1 / 90 groups of 20, a third alike / shares 0.99": 1.7,
    "totals / 0/1, 10 + 1000 items": 2.5,
    "totals / 0/1, 500 + 500 items, 0.4 % drawn again": 2.2,
    "totals / 0/1, 150 + 150 items, 1 % drawn again": 2.7,
}


def _covered(least: float, most: float) -> Bounds:
    """Return bounds of both coverages; lengths are bounded too."""
    lengths = {f"{name} length": (0.0, LENGTH) for name in ("difference", "score")}
    return {"difference": (least, most), "score": (least, most), **lengths}


PROMISES: dict[str, Bounds] = {
    "pairs": {
        "p ≤ .05": (0.03, 0.07),
        "p ≤ .01": (0.0, 0.02),
        "greater": (0.0, 0.08),
        "less": (0.0, 0.08),
        **_covered(0.925, 0.975),
    },
    "documents": _covered(0.93, 1.0),
    "totals": _covered(0.93, 1.0),
    "families": {"any false claim": (0.0, 0.07)},
    "arenas": {"any false claim": (0.0, 0.07), "score": (0.93, 1.0)},
    "crossed": {"p ≤ .05": (0.0, 0.07), **_covered(0.93, 1.0)},
    "few differing": {"p ≤ .05": (0.0, 0.06), "difference length": (0.0, LENGTH)},
    "0/1": _covered(0.93, 1.0),
    "gates": {"wrong pass": (0.0, 0.065), "wrong failure": (0.0, 0.065), "right pass": (0.95, 1.0)},
    "numbers": {"wrong pass": (0.0, 0.07), "wrong failure": (0.0, 0.07)},
    "groups": {"p ≤ .05": (0.0, 0.07), "difference": (0.93, 1.0)},
    "looks": {"wrong pass": (0.0, 0.06), "wrong failure": (0.0, 0.07)},
    "Monitor": {"false improvement": (0.0, 0.05), "score of the chosen": (0.93, 1.0)},
    "ranks": {"one rank": (0.93, 1.0), "all ranks": (0.93, 1.0)},
    "runs": _covered(0.93, 1.0),
    "paired runs": _covered(0.93, 1.0),
    "unpaired": {"p ≤ .05": (0.02, 0.07), **_covered(0.93, 0.98)},
    # A judge's errors that few labels show make intervals longer than they need to be.
    "judged": {"p ≤ .05": (0.01, 0.07), "difference": (0.93, 1.0), "score": (0.93, 1.0)},
    "metrics": {"p ≤ .05": (0.03, 0.07), "p ≤ .01": (0.0, 0.02)},
    "plans": {
        "p ≤ .05": (0.03, 0.07),
        "difference": (0.935, 1.0),
        "score": (0.935, 1.0),
        **dict.fromkeys(("worth of a difference", "worth of a score"), (0.8, 1.2)),
    },
    "brackets": {"held": (0.7, 1.0)},
    "prediction": {"prediction": (0.92, 1.0)},
    "tails": _covered(0.925, 1.0),
    # Of rare passes intervals of scores are too short.
    "trials": {"p ≤ .05": (0.0, 0.07), "difference": (0.93, 1.0), "score": (0.9, 1.0)},
    "cases": {"any false case": (0.0, 0.05), "found": (0.9, 1.0)},
}
#: What must hold of the mean over all cells of a kind that have bounds of their own.
MEANS: dict[str, Bounds] = {"brackets": {"held": (0.88, 0.97)}}
#: How far a predicted power may be off.
POWER = 0.04
#: A rate that is on its bound is so far beyond it by chance with at most this probability.
FAR = 1e-6
#: Of many rates near their bounds some are outside by chance; what is less probable has a reason.
UNLIKELY = 0.05
#: Why rates are outside that chance does not explain, by how their names begin.
REASONS = {
    "paired runs / 2 prompts, own 0.0": "two prompts may vary so little that the variance between "
    "them is estimated as 0",
    "brackets / 100 segments / wmt24/en-es, IOL-Research and Mistral-Large / TER": "on a few "
    "segments in a thousand a system loops, and a pilot of 100 mostly has none of them",
}


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
        """Its Monte-Carlo standard error; of a length that of the error that it is divided by."""
        if self.is_length:
            return self.value * float(np.sqrt((np.pi / 2 - 1) / self.trials))
        return float(np.sqrt(self.value * (1 - self.value) / self.trials))

    @property
    def is_length(self) -> bool:
        """Whether it is no share of trials."""
        return self.rate.endswith(" length") or self.rate.startswith("worth")

    @property
    def promised(self) -> str:
        """The bounds, as a reader would put them."""
        if self.cell.startswith("power /"):
            return f"predicted ± {POWER}"
        if self.low > 0 and self.high < 1:
            return f"{self.low:g} to {self.high:g}"
        return f"≥ {self.low:g}" if self.low else f"≤ {self.high:g}"

    @property
    def outside(self) -> bool:
        """Whether it is beyond a bound."""
        return not self.low <= self.value <= self.high

    @property
    def chance(self) -> float:
        """How probable it is that a rate on the bound is as far beyond it."""
        if self.is_length:
            return float(norm.sf((self.value - self.high) / self.error))
        count = self.value * self.trials
        above = binom.sf(np.floor(count) - 1, self.trials, self.high) if self.high < 1 else 1
        below = binom.cdf(np.ceil(count), self.trials, self.low) if self.low > 0 else 1
        return float(min(above, below))

    @property
    def why(self) -> str:
        """Why it is outside: a reason, or chance; empty if neither is known."""
        name = f"{self.cell}: {self.rate}"
        reason = next((why for start, why in REASONS.items() if name.startswith(start)), "")
        return reason or (f"chance, {self.chance:.2f}" if self.chance >= UNLIKELY else "")


def held(results: Counts) -> list[Held]:
    """Return all rates of which something is promised."""
    rows = []
    for cell, counts in results.items():
        rates = {rate: total / trials for rate, (total, trials) in counts.items()}
        for rate, (low, high) in _bounds(cell, rates).items():
            if rate in rates:
                rows.append(Held(cell, rate, rates[rate], int(counts[rate][1]), low, high))
    return rows + list(_means(rows))


def _means(rows: list[Held]) -> Iterator[Held]:
    """Yield the means that something is promised of, as if of one large cell."""
    for kind, bounds in MEANS.items():
        for rate, (low, high) in bounds.items():
            cells = [x for x in rows if (x.cell.split(" / ")[0], x.rate) == (kind, rate)]
            if cells:
                value = float(np.mean([x.value for x in cells]))
                trials, name = sum(x.trials for x in cells), f"{kind} / mean / all / all metrics"
                yield Held(name, f"{rate}, mean", value, trials, low, high)


def _bounds(cell: str, rates: dict[str, float]) -> Bounds:
    kind, row, _, metric = cell.split(" / ")
    if kind == "power" and "documents" not in row:
        return {"found": (rates["predicted"] - POWER, rates["predicted"] + POWER)}
    if kind == "peers":
        return {"p ≤ .05": (0.03, 0.07)} if metric.startswith("evalstats") else {}
    # Documents that are worth fewer than thirty carry no claims of a family, of those of very
    # different sizes nothing can be planned, and few segments on which checkpoints fall far carry
    # no claim of a run.
    if kind == "looks" and row.startswith("far falls"):
        return {} if "single" in row else {"wrong pass without a note": (0.0, 0.07)}
    if kind == "metrics" and metric == "PA":  # few values, of which many swaps have the same
        return {"p ≤ .05": (0.0, 0.07)}
    limits = {"Monitor": "every step falls", "families": "documents", "brackets": "documents"}
    if kind in limits and limits[kind] in row:
        return {}
    longer = next((most for row, most in LONGER.items() if cell.startswith(row)), LENGTH)
    bounds = PROMISES.get(kind, {})
    return {x: (b[0], longer) if x.endswith(" length") else b for x, b in bounds.items()}
