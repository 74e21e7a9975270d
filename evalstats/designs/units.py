"""Other kinds of units: segments with two labels each, and units known only by sums.

Two labels, such as the prompt and the rater, are both samples. If units are elsewhere, sums of
squares and products replace them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.design import (
    Called,
    Codes,
    Labels,
    Units,
    as_units,
    check_enough,
    errors_of,
    grouped,
    unit_name,
)
from evalstats.checks import shown
from evalstats.errors import InputError
from evalstats.inference import student
from evalstats.inference.student import Spread
from evalstats.results.notes import span
from evalstats.results.records import counted, plural

if TYPE_CHECKING:
    from evalstats.designs.moments import Moments
    from evalstats.metrics import Metric


@dataclass(frozen=True, eq=False, kw_only=True)
class CrossedUnits(Units):
    """N segments with two labels each. Rows of weights cannot draw both, so t is used."""

    first: Units
    second: Units
    both: Units  # segments that share both labels

    @property
    def plain(self) -> bool:
        """Whether single segments are drawn freely."""
        return False

    @property
    def sides(self) -> tuple[Units, ...]:
        """The groups of both labels."""
        return self.first, self.second

    @cached_property
    def alike(self) -> Spread:
        """The spread if the variation is unknown: as for the label with fewer groups."""
        return min((side.alike for side in self.sides), key=lambda alike: alike.degrees)

    def spread(
        self, influence: NDArray[np.float64], added: NDArray[np.float64] | None = None
    ) -> Spread:
        """Return error, factor and degrees of freedom of a quantity with these values, `(N,)`.

        The variance is V(first) + V(second) - V(both), and at least V(both), with the degrees of
        freedom of the fewer groups (Cameron, Gelbach and Miller, 2011).
        """
        spreads = [grouped(side, influence) for side in (*self.sides, self.both)]
        unit = max(one.error for one in spreads) or 1.0
        first, second, both = ((one.error / unit) ** 2 for one in spreads)
        error = unit * max(first + second - both, both) ** 0.5
        return Spread(error, 1.0, min(one.degrees for one in spreads[:2]))

    def worth(self, marks: NDArray[np.bool_]) -> float:
        """Return Kish's number for the label with fewer groups among these segments, `(N,)`."""
        counts = [np.bincount(side.of_segments[marks], minlength=side.n) for side in self.sides]
        return min(side.worth(n > 0) for side, n in zip(self.sides, counts, strict=True))

    def notes(self, name: str, influence: NDArray[np.float64]) -> list[str]:
        """Return notes on the units, and on standard errors compared with one label's."""
        errors, ratios = errors_of(self, influence), []
        for side in self.sides:
            alone = errors_of(side, influence)
            times = span((errors[alone > 0] / alone[alone > 0]).tolist() or [1.0], ".2f")
            ratios.append(f"{times} times as large as with {plural(side.unit)} alone")
        return [
            f"{name}: standard errors account for "
            f"{' and '.join(counted(side.n, side.unit) for side in self.sides)} (Cameron, "
            f"Gelbach and Miller, 2011). They are {' and '.join(ratios)}. The t test has the "
            "degrees of freedom of the smaller number."
        ]


def as_crossed(
    n_segments: int, groups: Mapping[Any, Labels], strata: Labels, called: Called
) -> Units:
    """Return the units of segments with two labels each, given by name."""
    if len(groups) != 2:
        raise InputError(
            f"must have two labels per segment, got {len(groups)} ({shown(list(groups))}); to "
            "pass a single label, put it in a list",
            argument="groups",
        )
    sides = []
    for name, labels in groups.items():
        try:
            side = as_units(n_segments, labels, strata, unit_name(str(name)), called)
        except InputError as error:
            raise error.within(f"label {name!r}") from None
        check_enough(side.n, side.unit)
        sides.append(side)
    pairs = zip(*(side.of_segments.tolist() for side in sides), strict=True)
    both = as_units(n_segments, list(pairs), strata)
    alone = as_units(n_segments, None, strata, called=called)
    return CrossedUnits(**vars(alone), first=sides[0], second=sides[1], both=both)


#: Eigenvalues below this share of the largest are rounding.
_NOTHING = 1e-15


@dataclass(frozen=True, eq=False, kw_only=True)
class SummedUnits(Units):
    """N units elsewhere, known by their sums of squares and products.

    Instead of influence values a quantity has C coordinates, centred within strata, with the same
    inner products. So differences and shares are differences and shares of coordinates, and single
    units are unknown.
    """

    has_values: ClassVar[bool] = False
    places: Codes  # (C,) stratum of each coordinate
    sums: NDArray[np.int64]  # (T, 3) units, their segments, and the squares of these, by stratum

    @property
    def n_strata(self) -> int:
        """Number of strata."""
        return len(self.sums)

    @property
    def n_segments(self) -> int:
        """Number of segments, whatever the units are."""
        return int(np.sum(self.sums[:, 1]))

    @cached_property
    def alike(self) -> Spread:
        """The spread if the variation is unknown, without an error."""
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

    They are eigenvectors, each times the root of its eigenvalue.
    """
    if not np.all(np.isfinite(inner)):
        return np.full(inner.shape, np.nan)
    values, vectors = np.linalg.eigh((inner + inner.T) / 2)
    kept = np.where(values > _NOTHING * np.max(np.abs(values)), values, 0.0)
    return np.asarray(vectors * np.sqrt(kept))


def bounds_of_sums(metric: Metric, parts: Sequence[Moments]) -> tuple[float, float]:
    """Return the bounds of scores: 0 and the scale of a share where all are known to be 0 or 1.

    Of whole numbers, Σx² = Σx holds of 0 and 1 alone. Sums of groups do not show it.
    """
    columns = metric.outcome_columns()
    if columns is None or columns[2] <= 0:
        return metric.bounds
    for part in parts:
        sums, products = part.sums[0], part.from_offsets(0.0).products[0]
        right, counted = (i + len(sums[0]) * np.arange(len(sums)) for i in columns[:2])
        n_right, n = sums[:, columns[0]], sums[:, columns[1]]
        equal = [(right, right, n_right), (right, counted, n_right), (counted, counted, n)]
        is_whole = not np.any(part.offsets % 1)
        if not is_whole or any(np.any(products[a, b] != total) for a, b, total in equal):
            return metric.bounds
    return 0.0, columns[2]
