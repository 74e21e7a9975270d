"""Statistics on the grid where their sums are exact, refused where that would move a result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalstats.errors import InputError
from evalstats.resampling.products import exact_grid

#: The share of a standard error by which rounding may move a mean.
_MOST_MOVED = 0.01


def on_grid(values: NDArray[Any], names: Sequence[str]) -> NDArray[Any]:
    """Round statistics to the grid on which sums are exact, `(S, N, k) -> (S, N, k)`.

    Refuse numbers that have a large offset in common and vary little, where that would move what a
    system's numbers say, or its difference to the first system. `names` are those of the k columns.
    """
    if values.dtype.kind in "iu":
        return values
    n_systems, n_segments, k = values.shape
    columns = values.transpose(1, 0, 2).reshape(n_segments, -1)
    grid = exact_grid(columns)
    if grid is columns:
        return values
    grid = grid.reshape(n_segments, n_systems, k).transpose(1, 0, 2)
    for j in np.flatnonzero(np.any(grid != values, axis=(0, 1))):
        _check_rounding(values[..., j], grid[..., j], names[int(j)])
    return np.ascontiguousarray(grid)


def _check_rounding(values: NDArray[Any], grid: NDArray[Any], name: str) -> None:
    """Raise where rounding moves a mean, `(S, N) -> (S,)`, by a share of its standard error."""
    # Squares of large or small numbers are none; a power of two rounds nothing.
    unit = float(np.ldexp(1.0, int(np.frexp(np.max(np.abs(values)))[1]) - 1))
    values, grid = values / unit, grid / unit
    # Both differences are exact, or nearly so: numbers next to each other are subtracted.
    moved = grid - values
    # Of equal numbers, np.std has a rounding error for a spread.
    spread = np.where(np.ptp(values, axis=1) > 0, np.std(values, axis=1), 0.0)
    differences = values[1:] - values[:1]
    size = np.sqrt(np.mean(differences**2, axis=1))
    for scale, error in ((spread, moved), (size, moved[1:] - moved[:1])):
        n = error.shape[1]
        worst = np.sqrt(n * np.mean(error, axis=1) ** 2 + np.mean(error**2, axis=1))
        if np.any((scale > 0) & (worst > _MOST_MOVED * scale)):
            offset = unit * float(np.mean(values))
            raise InputError(
                f"{name} is too large for its spread: sums of {n:,} numbers around {offset:.3g} "
                f"round away what tells them apart; subtract what all have in common first"
            )
