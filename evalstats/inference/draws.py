"""Replicates of a quantity, drawn when somebody looks; what is a tie, and what chance leaves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
T = TypeVar("T", float, NDArray[np.float64])


class Draws:
    """What quantities are in `n` resamples, `(..., n)`, drawn at the first look and then kept.

    Drawn later they are the same: rows of weights follow from a seed.

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
        """Return replicates that are known."""
        return cls(values.shape[-1], None, values)

    @property
    def are_made(self) -> bool:
        """Whether there are some, and somebody has looked at them."""
        return self.n > 0 and self._values is not None

    @property
    def values(self) -> Floats:
        """The replicates."""
        make = self._make
        if make is not None:
            # Two threads may both draw them: they get the same.
            self._values = make()
            # Statistics that nobody needs any more are let go.
            self._make = None
        assert self._values is not None
        return self._values

    def taken(self, places: Any) -> Draws:
        """Return those of some quantities, by their places."""
        return Draws(self.n, lambda: self.values[places]) if self.n else self

    def __reduce__(self) -> tuple[Callable[[Floats], Draws], tuple[Floats]]:
        # What draws them may not travel; they do.
        return Draws.of, (self.values,)


#: Of what is not resampled.
NONE = Draws.of(np.empty(0))


def tie_tolerance(score: T, n_segments: int) -> T:
    """Return how far differences of scores of this size, or sizes, may lie apart and be ties.

    A relative distance of 1e-12, and what rounding N statistics to the exact grid may move.
    """
    return (1e-12 + 2.0**-51 * n_segments) * abs(score)


def monte_carlo_error(pvalue: float, n_resamples: int) -> float:
    """Return the standard error of a p-value that B resamples leave, √(p(1-p)/B)."""
    return float(np.sqrt(pvalue * (1 - pvalue) / n_resamples))
