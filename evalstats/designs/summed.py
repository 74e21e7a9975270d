"""Units that are elsewhere, of which sums of squares and products are known."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.design import Codes, Units
from evalstats.inference import student
from evalstats.inference.student import Spread

#: Eigenvalues below this share of the largest are what rounding leaves of none.
_NOTHING = 1e-15


@dataclass(frozen=True, eq=False, kw_only=True)
class SummedUnits(Units):
    """N units that are elsewhere, of which sums of squares and products are known.

    In the place of influence values a quantity has C coordinates, centred within strata, of which
    the inner products are those of influence values. So differences and shares are differences and
    shares of coordinates, and nothing is known of a single unit.
    """

    has_values: ClassVar[bool] = False
    places: Codes  # (C,) stratum of each coordinate
    sums: NDArray[np.int64]  # (T, 3) units, their segments, and the squares of these, by stratum

    @property
    def n_strata(self) -> int:
        """Within how many strata units are drawn."""
        return len(self.sums)

    @property
    def n_segments(self) -> int:
        """How many segments there are, whatever is drawn."""
        return int(np.sum(self.sums[:, 1]))

    @cached_property
    def alike(self) -> Spread:
        """What the units are worth where nothing is known of how they vary; without an error."""
        return self.spread(np.zeros(len(self.places)))

    def spread(
        self, influence: NDArray[np.float64], added: NDArray[np.float64] | None = None
    ) -> Spread:
        """Return error, factor and degrees of freedom of a quantity with coordinates, `(C,)`."""
        unit = float(student.unit_of(influence))
        weights = (influence / unit) ** 2
        squares = np.bincount(self.places, weights, len(self.sums)).astype(np.float64)
        _, sizes, of_sizes = self.sums.astype(np.float64).T
        worth = float(np.sum(sizes) ** 2 / np.sum(of_sizes))
        return student.of_squares(squares, sizes**2 / of_sizes, unit, worth)


def coordinates(inner: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return coordinates of S quantities with these inner products, `(S, S) -> (S, S)`.

    They are eigenvectors, each with the root of its eigenvalue.
    """
    if not np.all(np.isfinite(inner)):
        return np.full(inner.shape, np.nan)
    values, vectors = np.linalg.eigh((inner + inner.T) / 2)
    kept = np.where(values > _NOTHING * np.max(np.abs(values)), values, 0.0)
    return np.asarray(vectors * np.sqrt(kept))
