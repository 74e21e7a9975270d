"""Replicates of a quantity, drawn on first use; ties, and Monte-Carlo errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
T = TypeVar("T", float, NDArray[np.float64])


class Draws:
    """Quantities in `n` resamples, `(..., n)`, drawn on first use and then kept.

    The time of drawing does not matter: rows of weights follow from a seed.

    >>> draws = Draws(3, lambda: np.arange(3.0))
    >>> draws.n, draws.are_made, draws.values.tolist(), draws.are_made
    (3, False, [0.0, 1.0, 2.0], True)
    """

    def __init__(
        self, n: int, make: Callable[[], Floats] | None, values: Floats | None = None
    ) -> None:
        self.n: int = n
        self._make, self._values = make, values

    @classmethod
    def of(cls, values: Floats) -> Draws:
        """Return draws of known replicates."""
        return cls(values.shape[-1], None, values)

    @property
    def are_made(self) -> bool:
        """Whether replicates exist and were already drawn."""
        return self.n > 0 and self._values is not None

    @property
    def values(self) -> Floats:
        """The replicates."""
        make = self._make
        if make is not None:
            # Two threads may both draw them, with the same result.
            self._values = make()
            # Releases statistics that are no longer needed.
            self._make = None
        assert self._values is not None
        return self._values

    def taken(self, places: Any) -> Draws:
        """Return the draws of some quantities, by their places."""
        return Draws(self.n, lambda: self.values[places]) if self.n else self

    def __reduce__(self) -> tuple[Callable[[Floats], Draws], tuple[Floats]]:
        # Only the replicates are pickled, not the function that draws them.
        return Draws.of, (self.values,)


#: For quantities that are not resampled.
NONE = Draws.of(np.empty(0))


def tie_tolerance(score: T, n_segments: int) -> T:
    """Return the tolerance for ties between differences of scores of this size, or sizes.

    A relative distance of 1e-12, plus the rounding of N statistics to the exact grid.
    """
    return (1e-12 + 2.0**-51 * n_segments) * abs(score)


def monte_carlo_error(pvalue: float, n_resamples: int) -> float:
    """Return the Monte-Carlo standard error of a p-value from B resamples, √(p(1-p)/B)."""
    return float(np.sqrt(pvalue * (1 - pvalue) / n_resamples))
