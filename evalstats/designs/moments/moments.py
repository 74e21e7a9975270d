"""First and second moments of statistics, of which a t interval needs no more: kept, added up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalstats.checks import as_floats, choice, label, listed
from evalstats.designs.moments.query import as_rows
from evalstats.designs.shards.shard import UNITS
from evalstats.errors import InputError
from evalstats.metrics import Metric, as_metric
from evalstats.metrics.ratios import MeanOfRuns
from evalstats.results.records import counted
from evalstats.statistics.interchange import is_same_metric
from evalstats.statistics.names import as_names

Floats = NDArray[np.float64]
#: What rounding may take from sums of squares, as a share of them.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class Moments:
    """Sums of statistics and of their products, in the place of the statistics of segments.

    For a score of sums, with its gradient g, the variance of the influence values is gᵀCg, where C
    is the covariance of the statistics: t intervals and t tests need n, Σx and Σxxᵀ, and no row.
    `estimate`, `compare`, `power`, `gate` and `Suite` take moments in the place of statistics, and
    everything is by t (``method="t", test="t"``), whatever the defaults. Nothing can be drawn, and
    nothing is said of single segments. ``a + b`` adds up moments of different segments; that these
    are different nobody can check (a `Shard` knows its ids).

    Parameters
    ----------
    systems : sequence of str
        S different names.
    metric : Metric or str
        What turns summed statistics into a score, with k columns.
    n : int, or sequence of T of them
        Number of segments, or of groups, in each stratum.
    sums : array_like, shape (S, k), or (T, S, k)
        Σx: statistics of each system, summed.
    products : array_like, shape (S·k, S·k), or (T, S·k, S·k)
        Σxxᵀ: products of the statistics of all systems side by side (system by system), summed. Of
        groups the statistics are summed within a group first.
    differing : array_like, shape (S, S), or (3, S, S), optional
        On how many units the statistics of two systems differ, which limits the degrees of freedom;
        of groups also how many segments these units have, and the sum of the squares of these
        numbers. Without it two systems are taken to differ on all units, and a note says so.
    strata : sequence of str, optional
        T names of strata, the units of which are their segments' own; ``aggregate`` is over these.
    unit : {"segment", "group"}
        What the rows were.
    sizes : array_like, shape (2,), or (T, 2), optional
        Of groups: how many segments they have together, and the sum of the squares of the numbers
        of each. By default all groups count alike.

    Raises
    ------
    InputError
        When shapes or numbers do not fit, such as squares whose sum is too small.

    Notes
    -----
    The covariance is a difference, Σxxᵀ - ΣxΣxᵀ/n: numbers whose mean is many times their spread
    lose digits. Of counts of texts ten digits are left. Systems are not compared where rounding may
    be a fifth of the variance of their difference, which is then below some 1e-13 of the mean
    square (of 200 segments).

    Examples
    --------
    >>> rows = np.array([[1, 1, 0, 1], [1, 1, 1, 1], [0, 1, 1, 1], [0, 1, 1, 1]])
    >>> import evalstats as es
    >>> a = es.Moments(["A", "B"], es.Ratio("share"), 4, rows.sum(0).reshape(2, 2), rows.T @ rows)
    >>> (difference,) = es.compare(a + a)
    >>> difference.difference, round(difference.standard_error, 4), difference.test
    (0.25, 0.3134, 't')
    """

    #: The module of its `evalstats.analysis.drawn.Maker`.
    made_in: ClassVar[str] = "evalstats.designs.moments.from_moments"

    systems: tuple[str, ...]
    metric: Metric
    n: NDArray[np.int64]
    sums: Floats
    products: Floats
    differing: NDArray[np.int64] | None = None
    strata: tuple[str, ...] = ()
    unit: str = "segment"
    sizes: NDArray[np.int64] | None = None

    def __post_init__(self) -> None:
        metric, systems = as_metric(self.metric), as_names(self.systems)
        if isinstance(metric, MeanOfRuns):
            raise InputError("of several runs moments say too little; give SegmentStatistics")
        choice(self.unit, UNITS, "unit")
        strata = tuple(label(s, "strata") for s in listed(self.strata, "strata", "names"))
        if len(set(strata)) < len(strata):
            raise InputError("must differ", argument="strata")
        n_strata, n_systems, width = max(len(strata), 1), len(systems), len(metric.columns)
        side = n_systems * width
        n = _whole(self.n, "n", (n_strata,))
        sums = _floats(self.sums, "sums", (n_strata, n_systems, width))
        products = _floats(self.products, "products", (n_strata, side, side))
        sizes = np.stack([n, n], axis=1)
        if self.sizes is not None:
            sizes = _whole(self.sizes, "sizes", (n_strata, 2))
        if np.any(n < 1) or np.any(sizes < n[:, None]) or np.any(sizes[:, 1] < sizes[:, 0]):
            raise InputError(
                f"must be at least 1, and sizes at least n, got {n.tolist()} and {sizes.tolist()}",
                argument="n",
            )
        metric.check_statistics(sums)
        _check_products(n, sums.reshape(n_strata, side), products)
        differing = self.differing
        if differing is not None:
            differing = _differing(differing, n_systems, int(np.sum(n)))
        for array in (n, sums, products, sizes):
            array.setflags(write=False)
        # The class is frozen.
        vars(self).update(systems=systems, metric=metric, n=n, sums=sums, products=products)
        vars(self).update(differing=differing, strata=strata, sizes=sizes)

    @classmethod
    def from_row(
        cls,
        row: Mapping[str, Any] | Sequence[Any],
        systems: Sequence[str],
        metric: Metric | str,
    ) -> Moments:
        """Return the moments in a row of `moments_query`; of several strata add those of all rows.

        Parameters
        ----------
        row : sequence, or mapping of names of columns to numbers
            As the engine returns it: all columns of the query.
        systems, metric
            Those of the query.

        Raises
        ------
        InputError
            When the row is not one of that query; where statistics, groups or strata are null in
            the table, no segments are left, or a group lies in several strata.
        """
        return cls.from_rows([row], systems, metric)

    @classmethod
    def from_rows(
        cls,
        rows: Iterable[Mapping[str, Any] | Sequence[Any]],
        systems: Sequence[str],
        metric: Metric | str,
    ) -> Moments:
        """Return the moments in all rows of `moments_query`, one a stratum, as `from_row`."""
        known = as_metric(metric)
        read = as_rows(rows, len(as_names(systems)), len(known.columns))
        names = [row.stratum for row in read]
        return cls(
            systems=tuple(systems),
            metric=known,
            n=np.array([row.n for row in read]),
            sums=np.stack([row.sums for row in read]),
            products=np.stack([row.products for row in read]),
            differing=np.sum([row.differing for row in read], axis=0),
            strata=() if names == [None] else tuple(map(str, names)),
            unit=read[0].unit,
            sizes=np.stack([row.sizes for row in read]),
        )

    def __repr__(self) -> str:
        strata = f" in {len(self.strata)} strata" if self.strata else ""
        return (
            f"<Moments of {counted(self.n_segments, self.unit)}{strata}, "
            f"{len(self.systems)} systems, {self.metric.name}>"
        )

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The metric, as all summaries have them."""
        return (self.metric,)

    @property
    def n_segments(self) -> int:
        """N, the number of units: segments, or groups."""
        return int(np.sum(self.n))

    @property
    def counts(self) -> NDArray[np.int64]:
        """Units, their segments, and the squares of these, of each stratum, `(T, 3)`."""
        assert self.sizes is not None
        return np.concatenate([self.n[:, None], self.sizes], axis=1)

    @property
    def metric_signature(self) -> str:
        """The signature of the metric."""
        return self.metric.signature

    def apart(self) -> list[Moments]:
        """Return the moments of each stratum, on how many units systems differ left out."""
        names = ("n", "sums", "products", "sizes")
        each = [
            {name: getattr(self, name)[t : t + 1] for name in names} for t in range(len(self.n))
        ]
        return [replace(self, **one, differing=None, strata=()) for one in each]

    def __add__(self, other: Moments) -> Moments:
        """Add up moments of different segments; strata of one name become one."""
        if not isinstance(other, Moments):
            return NotImplemented
        for name in ("systems", "unit"):
            if getattr(self, name) != getattr(other, name):
                raise InputError(
                    f"moments must have the same {name}, got {getattr(self, name)!r} and "
                    f"{getattr(other, name)!r}"
                )
        if not is_same_metric(self.metric, other.metric) or bool(self.strata) != bool(other.strata):
            raise InputError("moments must have the same metric, and strata both or neither")
        names = list(dict.fromkeys((*self.strata, *other.strata)))
        added: dict[str, Any] = {}
        for field in ("n", "sums", "products", "sizes"):
            mine, theirs = getattr(self, field), getattr(other, field)
            total = np.zeros((max(len(names), 1), *mine.shape[1:]), dtype=mine.dtype)
            for part, values in ((self, mine), (other, theirs)):
                total[[names.index(name) for name in part.strata] or [0]] += values
            added[field] = total
        differing = None
        if self.differing is not None and other.differing is not None:
            differing = self.differing + other.differing
        return replace(self, **added, strata=tuple(names), differing=differing)


def _floats(values: ArrayLike, name: str, shape: tuple[int, ...]) -> Floats:
    """Return finite numbers of a shape, whose first axis may be left out where it is 1."""
    array = as_floats(np.array(values), name)
    if array.dtype.kind not in "buif" or not np.all(np.isfinite(array.astype(np.float64))):
        raise InputError("must be finite numbers", argument=name)
    if shape[0] == 1 and array.shape == shape[1:]:
        array = array[None]
    if array.shape != shape:
        wanted = shape[1:] if shape[0] == 1 else shape
        raise InputError(f"must have shape {wanted}, got {array.shape}", argument=name)
    return np.array(array, dtype=np.float64)


def _whole(values: ArrayLike, name: str, shape: tuple[int, ...]) -> NDArray[np.int64]:
    """Return whole numbers of a shape, as `_floats`."""
    array = _floats(values, name, shape)
    if np.any(array != np.rint(array)) or np.any(np.abs(array) >= 2**53):
        raise InputError("must be whole numbers below 2**53", argument=name)
    return array.astype(np.int64)


def _differing(values: ArrayLike, n_systems: int, n: int) -> NDArray[np.int64]:
    """Return units, segments and squares, `(3, S, S)`, of units that differ."""
    shape = (n_systems, n_systems)
    given = np.asarray(values)
    each = np.stack([given] * 3) if given.shape == shape else given
    counts = _whole(each, "differing", (3, *shape))
    is_count = counts.min() >= 0 and counts[0].max() <= n and np.all(counts[0] <= counts[1])
    mirrored, same = np.swapaxes(counts, 1, 2), np.einsum("cii->ci", counts)
    if not is_count or np.any(counts != mirrored) or np.any(same):
        raise InputError(
            f"must count units, 0 to {n}, the same for both systems of a pair", argument="differing"
        )
    counts.setflags(write=False)
    return counts


def _check_products(n: NDArray[np.int64], sums: Floats, products: Floats) -> None:
    """Refuse products `(T, K, K)` that are not those of n numbers with these sums `(T, K)`."""
    if np.any(products != np.swapaxes(products, 1, 2)):
        raise InputError("must be symmetric: Σxxᵀ", argument="products")
    squares = np.einsum("tii->ti", products)
    # The mean of squares is at least the square of the mean (Cauchy-Schwarz).
    least = sums**2 / n[:, None]
    if np.any(squares < least * (1 - _ROUNDING)):
        t, i = (int(at) for at in np.argwhere(squares < least * (1 - _ROUNDING))[0])
        raise InputError(
            f"cannot be those of {n[t]} numbers that sum to {sums[t, i]:g}: their squares sum to "
            f"at least {least[t, i]:g}, got {squares[t, i]:g}; give Σxxᵀ, not centred",
            argument="products",
        )
