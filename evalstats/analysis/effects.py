"""An effect: a number with its influence values and its replicates, and arithmetic on all three.

Scores, differences, ratios, totals over tasks and composites are the same kind of thing. What is
done to the numbers is done to their replicates, and by the chain rule to their influence values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.units import Units
from evalstats.inference import student
from evalstats.inference.student import Spread

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Effect:
    """A number, what each unit adds to it, and what resamples make of it.

    Attributes
    ----------
    value : float
    influence : ndarray, shape (N,), or None
        Influence of every unit; `None` where units are elsewhere, or nothing is differentiable.
    replicates : ndarray, shape (B,)
        The value in every resample; B = 0 where nothing was drawn.
    units : Units
        What was drawn.
    runs : tuple of (float, float, int)
        Mean squares of several runs of each system (`student.mean_squares`), and their number.
    worth : float
        Kish's number of the units on which two systems differ; infinite where nothing is compared.
    """

    value: float
    influence: Floats | None
    replicates: Floats
    units: Units
    runs: tuple[tuple[float, float, int], ...] = ()
    worth: float = np.inf

    def __add__(self, other: Effect) -> Effect:
        """Add two effects of the same units."""
        added = replace(
            combined(lambda x: x[..., 0] + x[..., 1], (1.0, 1.0), (self, other)),
            runs=self.runs + other.runs,
        )
        return replace(added, worth=min(self.worth, other.worth))

    def __mul__(self, factor: float) -> Effect:
        """Multiply by a number."""
        made = combined(lambda x: x[..., 0] * factor, (factor,), (self,))
        square = factor * factor
        runs = tuple((square * b, square * both, n) for b, both, n in self.runs)
        return replace(made, runs=runs, worth=self.worth)

    __rmul__ = __mul__

    def __sub__(self, other: Effect) -> Effect:
        """Subtract another effect of the same units."""
        return self + -1.0 * other

    @cached_property
    def spread(self) -> Spread:
        """Standard error, factor and degrees of freedom.

        Two systems that differ on few units know no more than these say. Without influence values
        the error is that of the replicates, widened by the factor of units that are alike; it is
        not a number where there are none.
        """
        if self.influence is None:
            _, factor, degrees = self.units.alike
            drawn = float(np.std(self.replicates, ddof=1)) if len(self.replicates) else np.nan
            found = Spread(factor * drawn, factor, degrees)
        else:
            found = self.units.spread(self.influence)
        degrees = max(min(found.degrees, self.worth - 1), 1.0)
        found = found._replace(degrees=degrees)
        return student.with_runs(found, self.runs) if self.runs else found


def combined(
    function: Callable[[Floats], Floats], slopes: Sequence[float], effects: Sequence[Effect]
) -> Effect:
    """Return a function `(..., n) -> (...)` of n effects, whose derivatives are the slopes."""
    known = [effect.influence for effect in effects if effect.influence is not None]
    influence = None
    if len(known) == len(effects):
        influence = np.asarray(sum(s * u for s, u in zip(slopes, known, strict=True)))
    return Effect(
        float(function(np.array([effect.value for effect in effects]))),
        influence,
        function(np.stack([effect.replicates for effect in effects], axis=-1)),
        effects[0].units,
    )
