"""Effects: a score, or a difference or ratio of scores, with what each unit adds to it.

Differences, shares and ratios are operators: what is done to the number is done to its replicates,
and by the chain rule to its influence values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.units import Units
from evalstats.inference import bootstrap, fieller, student
from evalstats.inference.bootstrap import Bounds
from evalstats.inference.randomisation import tie_tolerance
from evalstats.inference.student import Runs, Spread

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Effect:
    """A number, what each unit adds to it, and what resamples make of it.

    `a - b`, `r * a` and `a / b` are effects too. What is not known is `None`, or has no replicates.
    """

    value: float
    influence: Floats | None  # (N,), or coordinates (C,) of `SummedUnits`
    replicates: Floats  # (B,), or (0,)
    units: Units
    runs: tuple[Runs, ...] = ()  # of each system (`student.mean_squares`)
    worth: float = np.inf  # Kish's number of the units on which two systems differ

    def __sub__(self, other: Effect) -> Effect:
        influence = None
        if self.influence is not None and other.influence is not None:
            influence = self.influence - other.influence
        replicates = self.replicates - other.replicates
        # What rounding leaves of equal scores is no difference.
        tie = tie_tolerance(max(abs(self.value), abs(other.value)), self.units.n)
        replicates[np.abs(replicates) <= tie] = 0.0
        value = self.value - other.value
        return Effect(value, influence, replicates, self.units, runs=(*self.runs, *other.runs))

    def __rmul__(self, factor: float) -> Effect:
        return replace(
            self,
            value=factor * self.value,
            influence=None if self.influence is None else factor * self.influence,
            replicates=factor * self.replicates,
            runs=tuple((factor**2 * r, factor**2 * e, n) for r, e, n in self.runs),
        )

    def __truediv__(self, other: Effect) -> Quotient:
        difference = self - other
        # Equal but for rounding.
        top = np.where(difference.replicates == 0, other.replicates, self.replicates)
        bottom = other.replicates
        # a - r·b > 0 holds of every r where b is 0 and a above, and of none where both are 0.
        none = np.where(top > 0, np.inf, -np.inf)
        replicates = np.divide(top, bottom, where=bottom > 0, out=none)
        with np.errstate(divide="ignore", invalid="ignore"):
            value = float(np.float64(self.value) / other.value)
        return Quotient(
            value, None, replicates, self.units, terms=(self, other), difference=difference
        )

    @cached_property
    def of_units(self) -> Spread:
        """Standard error, factor and degrees of freedom, those of all units.

        Without influence values the error is that of the replicates, widened by the factor of
        units that are alike; it is not a number where there are none.
        """
        if self.influence is not None:
            return self.units.spread(self.influence)
        _, factor, degrees = self.units.alike
        drawn, unit = np.nan, float(student.unit_of(self.replicates))
        if len(self.replicates):
            drawn = unit * float(np.std(self.replicates / unit, ddof=1))
        return Spread(factor * drawn, factor, degrees)

    @cached_property
    def spread(self) -> Spread:
        """The same, of several runs with their own part, where the units' variance is estimated.

        Two systems that differ on few units know no more of it than these say.
        """
        degrees = max(min(self.of_units.degrees, self.worth - 1), 1.0)
        return student.with_runs(self.of_units._replace(degrees=degrees), self.runs)

    def by_t(self, alpha: float) -> Bounds:
        """Return the t interval of confidence 1 - α."""
        error, _, degrees = self.spread
        return student.interval(self.value, error, degrees, alpha)

    def interval(
        self, method: str, alpha: float, without: Callable[[], Floats] | None = None
    ) -> Bounds:
        """Return an interval of confidence 1 - α; BCa needs the values without each segment."""
        if method == "percentile":
            return bootstrap.percentile(self.replicates, 1 - alpha)
        if method == "bca" and without is not None:
            return bootstrap.bca(self.replicates, self.value, without(), 1 - alpha)
        if method == "t":
            return self.by_t(alpha)
        return bootstrap.interval(self.replicates, self.spread, alpha, lambda: self.by_t(alpha))


@dataclass(frozen=True, eq=False, kw_only=True)
class Quotient(Effect):
    """A score over another: with the spread of their difference, and with Fieller's t interval."""

    terms: tuple[Effect, Effect]  # what is divided, and by what
    difference: Effect

    @property
    def spread(self) -> Spread:
        """That of the difference."""
        return self.difference.spread

    def by_t(self, alpha: float) -> Bounds:
        """Return Fieller's interval of confidence 1 - α."""
        return self.at(student.quantile(self.spread.degrees, alpha))

    def at(self, quantile: float) -> Bounds:
        """Return Fieller's interval at a quantile of t."""
        return fieller.interval(self.scores, quantile)

    @property
    def scores(self) -> fieller.Pair:
        """Both scores with their standard errors."""
        (new, base), both = self.terms, self.difference
        return fieller.Pair(
            base.value, new.value, base.spread.error, new.spread.error, both.spread.error
        )
