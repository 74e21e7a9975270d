"""Sums of statistics and of their products instead of segments, for very large corpora.

Nothing is drawn: t tests only need the covariance of the statistics. For scores with gradients G of
systems, `(S, K)`, and the covariance C of their statistics in a stratum, the inner products of
influence values are the entries of GCGᵀ. Its eigenvectors, times the roots of the eigenvalues, are
coordinates with the same inner products, `(S, S)`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from hashlib import blake2b
from itertools import combinations, combinations_with_replacement
from operator import add
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalstats.analysis.design import (
    Aggregate,
    Aggregated,
    Labels,
    as_aggregate,
    as_units,
    names_of_labels,
    unit_name,
    without_singles,
)
from evalstats.analysis.options import Options
from evalstats.analysis.scores import KnownPairs, Scores
from evalstats.analysis.tasks import Summary, labels_of
from evalstats.checks import also_called, choice, finite_array, label, listed, whole_array
from evalstats.designs.units import SummedUnits, bounds_of_sums, coordinates
from evalstats.errors import InputError, InputTypeError
from evalstats.metrics import Mean, Metric, as_metric, scores_of
from evalstats.metrics.base import LabelledMetric, MetricSignature
from evalstats.metrics.ratios import MeanOfRuns
from evalstats.resampling.weights import places_of
from evalstats.results.records import Caution, counted, plural
from evalstats.statistics.interchange import (
    as_target,
    is_same_metric,
    metric_of,
    metric_record,
    plain_cautions,
)
from evalstats.statistics.segments import SegmentStatistics, as_cautions, as_names, summed_within

Floats = NDArray[np.float64]
_FORMAT = "evalstats moments 1"
#: Fields stored in a file as they are, and as arrays.
_PLAIN = ("systems", "strata", "unit")
_ARRAYS = ("n", "sums", "products", "differing", "sizes", "offsets", "group_ids")
#: Tolerance for rounding, as a share of sums of squares.
_ROUNDING = 1e-9

#: Names within the query, chosen so that no user's table has them.
_SEGMENTS, _UNITS, _OFFSETS = "evalstats_segments", "evalstats_units", "evalstats_offsets"
#: The columns before the sums.
FIRST = ("unit", "stratum", "n", "n_null", "n_split", "n_segments", "n_squares")

#: The largest bound on rounding, as a share of a difference's variance; actual rounding is a tenth.
_MOST_ROUNDING = 0.2
_FLOAT = np.finfo(np.float64)
#: Units summed at once; for more, BLAS starts threads that wait for one another.
_BLOCK = 1 << 10
#: Sums of whole numbers below this leave ten bits for further computation.
_EXACT = 2.0**43


@dataclass(frozen=True, eq=False, repr=False)
class Moments(Summary):
    """Sums of statistics and of their products, instead of the statistics of segments.

    For a score of sums, with its gradient g, the variance of the influence values is gᵀCg, where C
    is the covariance of the statistics: t intervals and t tests need n, Σx and Σxxᵀ, but not the
    rows. `estimate`, `compare`, `power`, `gate` and `Suite` accept moments instead of statistics
    and then always use t (``method="t"``). Nothing can be resampled, and results about single
    segments are not available. ``a + b`` adds up moments of different segments; whether they are
    different is not checked.

    Parameters
    ----------
    systems : sequence of str
        S different names.
    metric : Metric or str
        The metric of the statistics, with k columns.
    n : int, or sequence of T of them
        Number of segments (or groups) in each stratum.
    sums : array_like, shape (S, k), or (T, S, k)
        Σx: statistics of each system, summed.
    products : array_like, shape (S·k, S·k), or (T, S·k, S·k)
        Σ(x - o)(x - o)ᵀ: products of the statistics of all systems side by side (system by system),
        minus the offsets, summed. For groups, statistics are summed within a group first.
    differing : array_like, shape (S, S), or (3, S, S), optional
        Number of units on which the statistics of two systems differ, which limits the degrees of
        freedom; for groups also the number of segments in these units, and the sum of its squares.
        Without it, two systems are assumed to differ on all units, and a note says so.
    strata : sequence of str, optional
        T names of strata. Each unit lies in one stratum, and ``aggregate`` combines the strata.
    unit : str
        Name of a unit: "segment", or the name of the groups.
    sizes : array_like, shape (2,), or (T, 2), optional
        For groups: their number of segments, and the sum of the squares of the number of segments
        of each group. By default all groups have the same size.
    offsets : array_like, shape (S, k), optional
        o, by default 0: numbers near the means of the statistics. They are subtracted so that
        products do not lose digits.
    group_ids : ndarray of uint64, optional
        Hashes of the labels of the groups, which `of` keeps: ``a + b`` refuses a group that is in
        both.
    cautions : mapping of str to sequence of str or Caution, optional
        Reasons why the statistics may be invalid, as in `SegmentStatistics`.

    Raises
    ------
    InputError
        If shapes or numbers do not match, for example if a sum of squares is too small.

    Notes
    -----
    The covariance is a difference, Σxxᵀ - ΣxΣxᵀ/n. If the mean of numbers is many times their
    spread, it loses digits, so `of` and `moments_query` subtract offsets from statistics that are
    not counts. Counts are summed exactly. Systems are not compared if rounding may be a fifth of
    the variance of their difference. This variance is then below about 1e-13 of the mean square
    (for 200 segments).

    Examples
    --------
    >>> rows = np.array([[1, 1, 0, 1], [1, 1, 1, 1], [0, 1, 1, 1], [0, 1, 1, 1]])
    >>> import evalstats as es
    >>> a = es.Moments(["A", "B"], es.Ratio("share"), 4, rows.sum(0).reshape(2, 2), rows.T @ rows)
    >>> (difference,) = es.compare(a + a)
    >>> difference.difference, round(difference.standard_error, 4), difference.test
    (0.25, 0.3134, 't')
    """

    keeps: ClassVar[str] = "sums and products"
    is_by_t: ClassVar[bool] = True
    has_totals: ClassVar[bool] = True

    systems: tuple[str, ...]
    metric: Metric
    n: NDArray[np.int64]
    sums: Floats
    products: Floats
    differing: NDArray[np.int64] | None = None
    strata: tuple[str, ...] = ()
    unit: str = "segment"
    sizes: NDArray[np.int64] | None = None
    offsets: Floats | float = 0.0
    group_ids: NDArray[np.uint64] | None = None
    cautions: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        metric, systems = as_metric(self.metric), as_names(self.systems)
        if isinstance(metric, MeanOfRuns):
            raise InputError("moments do not support several runs; pass SegmentStatistics")
        unit = label(self.unit, "unit")
        strata = tuple(label(s, "strata") for s in listed(self.strata, "strata", "names"))
        if len(set(strata)) < len(strata):
            raise InputError("must have different names", argument="strata")
        n_strata, n_systems, width = max(len(strata), 1), len(systems), len(metric.columns)
        side = n_systems * width
        n = whole_array(self.n, "n", (n_strata,))
        sums = finite_array(self.sums, "sums", (n_strata, n_systems, width))
        products = finite_array(self.products, "products", (n_strata, side, side))
        sizes = np.stack([n, n], axis=1)
        if self.sizes is not None:
            sizes = whole_array(self.sizes, "sizes", (n_strata, 2))
        if np.any(n < 1) or np.any(sizes < n[:, None]) or np.any(sizes[:, 1] < sizes[:, 0]):
            raise InputError(
                f"must be at least 1 and at most sizes, got {n.tolist()} and {sizes.tolist()}",
                argument="n",
            )
        offsets = np.asarray(self.offsets)
        if not offsets.ndim:
            offsets = np.full(sums.shape[1:], offsets)
        (offsets,) = finite_array(offsets, "offsets", (1, n_systems, width))
        metric.check_statistics(sums)
        # Values that are not finite are refused with the products.
        with np.errstate(over="ignore", invalid="ignore"):
            deviations = sums - n[:, None, None] * offsets
        _check_products(n, deviations.reshape(n_strata, side), products)
        differing = self.differing
        if differing is not None:
            differing = _as_differing(differing, n_systems, int(np.sum(n)))
        ids = self.group_ids
        if ids is not None:
            given = np.asarray(ids)
            is_fitting = given.dtype.kind in "iu" and given.shape == (np.sum(n),)
            if not is_fitting or np.any(given[1:] <= given[:-1]) or given[0] < 0:
                message = "must be whole numbers, one per group, different and sorted"
                raise InputError(message, argument="group_ids")
            ids = given.astype(np.uint64)
            ids.setflags(write=False)
        for array in (n, sums, products, sizes, offsets):
            array.setflags(write=False)
        # The class is frozen.
        vars(self).update(systems=systems, metric=metric, n=n, sums=sums, products=products)
        vars(self).update(differing=differing, strata=strata, sizes=sizes, offsets=offsets)
        vars(self).update(unit=unit, group_ids=ids, cautions=as_cautions(self.cautions))

    @classmethod
    def of(
        cls, statistics: SegmentStatistics, *, groups: Labels = None, strata: Labels = None
    ) -> Moments:
        """Sum the statistics of one partition of a corpus.

        Parameters
        ----------
        statistics : SegmentStatistics
            Of the partition's segments, (S, N, k), under one metric.
        groups : sequence, optional
            One label (a document, a speaker) per segment, or the name of such a label of the
            statistics: statistics are summed within a group first. Each group must lie within one
            partition, so partition the corpus by this label.
        strata : sequence, optional
            One label (a domain, a language) per segment, or a name. Strata with the same name are
            one stratum across partitions. Each group must lie in one stratum.

        Returns
        -------
        Moments
            Moments of the partition; ``a + b`` are the moments of two partitions.

        Raises
        ------
        InputError
            For labels that do not match, groups with two labels, several runs of each system, and
            metrics that need more than sums (with human labels, or with fixed items).

        Examples
        --------
        >>> import evalstats as es
        >>> table = es.extract({"A": [3, 4, 5, 4], "B": [3, 5, 5, 5]}, metric=es.Mean("quality"))
        >>> parts = es.Moments.of(table.select([0, 1])) + es.Moments.of(table.select([2, 3]))
        >>> es.compare(parts)[0].pvalue == es.compare(table, method="t")[0].pvalue
        True
        """
        if not isinstance(statistics, SegmentStatistics):
            raise InputTypeError(
                f"must be SegmentStatistics of a single metric, got {type(statistics).__name__}. "
                "Create them with extract, and compute separate moments for each metric.",
                argument="statistics",
            )
        metric, values = statistics.metric, statistics.values
        if isinstance(metric, LabelledMetric) or metric.chance(values[0]) is not None:
            raise InputError(
                f": moments do not support {metric.name}; compare the statistics themselves",
                argument="statistics",
            )
        if isinstance(groups, Mapping) or names_of_labels(groups, statistics.n_segments):
            raise InputError("must contain one label per segment", argument="groups")
        labels, of_strata = (
            labels_of([statistics], given, name)
            for given, name in ((groups, "groups"), (strata, "strata"))
        )
        labels = None if labels is None else listed(labels, "groups", "labels, one per segment")
        units = as_units(statistics.n_segments, labels, of_strata)
        sizes = np.ones(units.n, dtype=np.int64)
        ids = None
        if units.members is not None:
            assert labels is not None
            values, sizes = summed_within(values, units.members), np.bincount(units.members)
            hashes = [_hashed(str(name)) for name in dict.fromkeys(labels)]
            ids = np.sort(np.array(hashes, dtype=np.uint64))
        codes = np.zeros(units.n, dtype=np.intp) if units.strata is None else units.strata
        # Whole numbers stay whole, so that they are summed exactly; counts are not changed.
        is_whole = np.all(values == np.rint(values), axis=1)
        means = np.mean(values, axis=1, dtype=np.float64)
        offsets = np.where(is_whole, 0.0 if metric.counts else np.rint(means), means)
        parts = [_summed(values, sizes, places, offsets) for places in places_of(codes)]
        n, of_sizes, sums, products, differing = map(np.stack, zip(*parts, strict=True))
        return cls(
            systems=statistics.systems,
            metric=metric,
            n=n,
            sums=sums,
            products=products,
            differing=np.sum(differing, axis=0),
            strata=tuple(map(str, units.labels)),
            unit=statistics.unit if units.members is None else unit_name(groups),
            sizes=of_sizes,
            offsets=offsets,
            group_ids=ids,
            cautions=statistics.cautions,
        )

    @classmethod
    def from_rows(
        cls,
        rows: Iterable[Mapping[str, Any] | Sequence[Any]],
        systems: Sequence[str],
        metric: Metric | str,
    ) -> Moments:
        """Return the moments in the answer of `moments_query`.

        Parameters
        ----------
        rows : iterable of sequences, or of mappings of names of columns to numbers
            The rows of the answer, one per stratum, with all columns, as the engine returns them.
        systems, metric
            As for the query.

        Raises
        ------
        InputError
            If the rows do not come from that query, if statistics, groups or strata are null in the
            table, if there are no segments, or if a group lies in several strata.
        """
        known, n_systems = as_metric(metric), len(as_names(systems))
        width = len(known.columns)
        read = [_as_row(row, n_systems, width) for row in rows]
        if not read:
            raise InputError("is empty, because the query found no segments", argument="rows")
        units, names, numbers = zip(*read, strict=True)
        if len(read) > 1 and (None in names or len(set(map(str, names))) < len(names)):
            raise InputError("must have one named row per stratum", argument="rows")
        # Two of the columns before the sums are not numbers.
        first, side = len(FIRST) - 2, n_systems * width
        shape = -1, n_systems, width
        values, above = np.stack(numbers), np.triu_indices(side)
        n, sizes = values[:, 0], values[:, first - 2 : first]
        ends = np.cumsum([first, side, side, len(above[0])])
        _, offsets, sums, products, differing = np.split(values, ends, axis=1)
        squares = np.zeros((len(read), side, side))
        squares[:, above[0], above[1]] = squares[:, above[1], above[0]] = products
        counts = np.zeros((3, n_systems, n_systems), dtype=np.int64)
        pairs = np.triu_indices(n_systems, 1)
        counts[:, pairs[0], pairs[1]] = np.sum(differing, axis=0).reshape(-1, 3).T
        return cls(
            systems=tuple(systems),
            metric=known,
            n=n,
            sums=(sums + n[:, None] * offsets).reshape(shape),
            products=squares,
            differing=counts + np.swapaxes(counts, 1, 2),
            strata=() if names == (None,) else tuple(map(str, names)),
            unit=str(units[0]),
            sizes=sizes,
            offsets=offsets.reshape(shape)[0],
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the moments to a file that ends in ``.npz``, whole or not at all.

        The file contains numbers, names and the metric's configuration, but no pickle.
        """
        from evalstats.statistics.archives import write_archive

        header = {name: getattr(self, name) for name in _PLAIN}
        header |= {"format": _FORMAT, "metric": metric_record(self.metric)}
        header |= {"cautions": plain_cautions(self.cautions)} if self.cautions else {}
        arrays = {name: getattr(self, name) for name in _ARRAYS}
        known = {name: array for name, array in arrays.items() if array is not None}
        write_archive(as_target(path), header, known)

    @classmethod
    @also_called(metrics="metric")
    def load(cls, path: str | os.PathLike[str], metric: Metric | str | None = None) -> Moments:
        """Read what `save` wrote.

        Safe for files from strangers: nothing is unpickled, and memory stays in proportion to the
        length of the file. `metric` is needed if it is not one of evalstats' own. A file that is
        damaged or has another metric raises an `InputError`.
        """
        from evalstats.statistics.archives import read_archive

        try:
            header, arrays = read_archive(path, "iuf")
            if header.get("format") != _FORMAT:
                raise InputError(f"it is not a file in the format {_FORMAT}")
            fields: dict[str, Any] = {**{name: header.get(name) for name in _PLAIN}, **arrays}
            if set(arrays) - set(_ARRAYS) or {"n", "sums", "products"} - set(arrays):
                raise InputError(f"it has {', '.join(arrays)}")
            cautions: Any = header.get("cautions", {})
            return cls(metric=metric_of(header, metric), cautions=cautions, **fields)
        except InputError as error:
            raise error.within(f"cannot load moments from {str(path)!r}") from None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Moments):
            return NotImplemented
        return (
            all(getattr(self, name) == getattr(other, name) for name in _PLAIN)
            and is_same_metric(self.metric, other.metric)
            and all(np.array_equal(getattr(self, name), getattr(other, name)) for name in _ARRAYS)
        )

    def __hash__(self) -> int:
        return hash((self.systems, self.strata, self.unit, self.n_segments))

    def __repr__(self) -> str:
        strata = f" in {len(self.strata)} strata" if self.strata else ""
        return (
            f"<Moments of {counted(self.n_segments, self.unit)}{strata}, "
            f"{len(self.systems)} systems, {self.metric.name}>"
        )

    @property
    def n_segments(self) -> int:
        """N, the number of units: segments, or groups."""
        return int(np.sum(self.n))

    @property
    def counts(self) -> NDArray[np.int64]:
        """Number of units, sum of their segments, and sum of squares, per stratum, `(T, 3)`."""
        assert self.sizes is not None
        return np.concatenate([self.n[:, None], self.sizes], axis=1)

    @property
    def metric_signature(self) -> str:
        """The signature of the metric."""
        return self.metric.signature

    def apart(self) -> list[Moments]:
        """Return the moments of each stratum, without the numbers of differing units."""
        names = ("n", "sums", "products", "sizes")
        return [
            replace(
                self,
                **{name: getattr(self, name)[t : t + 1] for name in names},
                differing=None,
                strata=(),
                group_ids=None,
            )
            for t in range(len(self.n))
        ]

    def drawn(self, name: str, aggregate: Aggregated, options: Options) -> Scores:
        """Return the scores of the systems, without replicates."""
        applied = as_aggregate(aggregate, self.strata)
        scores = _of_strata(self.apart(), self.strata, applied, self.differing, self.unit)
        return replace(scores, name=name if applied.tag is None else f"{applied.label} {name}")

    @classmethod
    def total(cls, tasks: Mapping[str, Moments], aggregate: Aggregate) -> Scores:
        """Return a total over tasks; each is one stratum of moments and may have its own metric."""
        for name, task in tasks.items():
            if task.strata:
                raise InputError(
                    f"task {name!r} has strata, but in a total the tasks are the strata; pass "
                    "moments without strata"
                )
        counts = [task.differing for task in tasks.values() if task.differing is not None]
        known = np.sum(counts, axis=0) if len(counts) == len(tasks) else None
        units = {task.unit for task in tasks.values()}
        unit = units.pop() if len(units) == 1 else "group"
        return _of_strata(list(tasks.values()), tuple(tasks), aggregate, known, unit)

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
            raise InputError("moments must have the same metric, and strata in both or neither")
        ids = None
        if self.group_ids is not None and other.group_ids is not None:
            if n := len(np.intersect1d(self.group_ids, other.group_ids)):
                raise InputError(
                    f"{counted(n, 'group')} occur in both moments, but each group must belong to "
                    "a single partition. Partition the corpus by the label of its groups."
                )
            ids = np.sort(np.concatenate([self.group_ids, other.group_ids]))
        names = list(dict.fromkeys((*self.strata, *other.strata)))
        added: dict[str, Any] = {}
        other = other.from_offsets(self.offsets)
        for summed in ("n", "sums", "products", "sizes"):
            mine, theirs = getattr(self, summed), getattr(other, summed)
            total = np.zeros((max(len(names), 1), *mine.shape[1:]), dtype=mine.dtype)
            for part, values in ((self, mine), (other, theirs)):
                total[[names.index(name) for name in part.strata] or [0]] += values
            added[summed] = total
        differing = None
        if self.differing is not None and other.differing is not None:
            differing = self.differing + other.differing
        cautions = {"": _all_cautions([self, other])}
        added |= {"differing": differing, "group_ids": ids, "cautions": cautions}
        return replace(self, **added, strata=tuple(names))

    def from_offsets(self, offsets: Floats | float) -> Moments:
        """Return the same moments with other offsets, `(S, k)`."""
        moved = np.ravel(self.offsets - offsets)
        if not np.any(moved):
            return self
        deviations = (self.sums - self.n[:, None, None] * self.offsets).reshape(len(self.n), -1)
        products = self.products + self.n[:, None, None] * np.outer(moved, moved)
        crossed = deviations[:, :, None] * moved
        products += crossed + np.swapaxes(crossed, 1, 2)
        return replace(self, products=products, offsets=offsets)


def _all_cautions(parts: Iterable[Moments]) -> tuple[Caution, ...]:
    """Return the cautions of several moments, each once."""
    said = (as_cautions(part.cautions).values() for part in parts)
    return tuple(dict.fromkeys(one for systems in said for several in systems for one in several))


def _hashed(name: str) -> int:
    """Return 64 bits of BLAKE2b of a name, the same on every machine."""
    digest = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big")


def _summed(
    values: NDArray[Any], sizes: NDArray[np.int64], places: NDArray[np.intp], offsets: Floats
) -> tuple[int, NDArray[np.int64], Floats, Floats, NDArray[np.int64]]:
    """Return n, sizes (2,), Σx (S, k), products and differing (3, S, S) of units (S, N, k).

    Block by block, so that little memory is needed and sums of floats lose few bits.
    """
    n_systems, _, width = values.shape
    sums, differing = np.zeros(n_systems * width), np.zeros((3, n_systems, n_systems), np.int64)
    products = np.zeros((len(sums), len(sums)))
    for start in range(0, len(places), _BLOCK):
        units = places[start : start + _BLOCK]
        block = values[:, units]
        rows = (block - offsets[:, None]).transpose(1, 0, 2).reshape(len(units), -1)
        sums += np.sum(rows, axis=0)
        products += rows.T @ rows
        counts = np.stack([np.ones_like(sizes[units]), sizes[units], sizes[units] ** 2])
        for a in range(n_systems - 1):
            differs = np.any(block[a] != block[a + 1 :], axis=2)
            differing[:, a, a + 1 :] += counts @ differs.T
    differing += np.swapaxes(differing, 1, 2)
    of_sizes = np.array([np.sum(sizes[places]), np.sum(sizes[places] ** 2)])
    # BLAS may round the two sides of the diagonal differently if numbers are not whole.
    products = (products + products.T) / 2
    sums = sums.reshape(n_systems, width) + len(places) * offsets
    return len(places), of_sizes, sums, products, differing


def _as_differing(values: ArrayLike, n_systems: int, n: int) -> NDArray[np.int64]:
    """Return units, segments and squares, `(3, S, S)`, of units that differ."""
    shape = (n_systems, n_systems)
    given = np.asarray(values)
    given = np.stack([given] * 3) if given.shape == shape else given
    counts = whole_array(given, "differing", (3, *shape))
    is_count = counts.min() >= 0 and counts[0].max() <= n and np.all(counts[0] <= counts[1])
    mirrored, same = np.swapaxes(counts, 1, 2), np.einsum("cii->ci", counts)
    if not is_count or np.any(counts != mirrored) or np.any(same):
        raise InputError(
            f"must contain numbers of units from 0 to {n}, and be symmetric", argument="differing"
        )
    counts.setflags(write=False)
    return counts


def _check_products(n: NDArray[np.int64], sums: Floats, products: Floats) -> None:
    """Refuse products `(T, K, K)` that n numbers with these sums `(T, K)` cannot have."""
    if np.any(products != np.swapaxes(products, 1, 2)):
        raise InputError("must be symmetric", argument="products")
    squares = np.einsum("tii->ti", products)
    # The mean of squares is at least the square of the mean (Cauchy-Schwarz).
    least = sums**2 / n[:, None]
    if np.any(squares < least * (1 - _ROUNDING)):
        t, i = (int(at) for at in np.argwhere(squares < least * (1 - _ROUNDING))[0])
        raise InputError(
            f"are impossible for {n[t]} numbers that sum to {sums[t, i]:g}, because their squares "
            f"sum to at least {least[t, i]:g}, got {squares[t, i]:g}; pass Σ(x - o)(x - o)ᵀ",
            argument="products",
        )


@also_called(metrics="metric")
def moments_query(
    table: str | Sequence[str],
    systems: Sequence[str],
    metric: Metric | str,
    columns: Mapping[str, Sequence[str | int]],
    *,
    groups: str | None = None,
    strata: str | None = None,
    quote: str = '"',
) -> str:
    """Return the SQL query whose answer `Moments.from_rows` takes, one row per stratum.

    The table has one row per segment, with the statistics of all systems side by side. The query is
    standard SQL (CTEs, ``GROUP BY``, ``SUM``, ``CASE``), in doubles: whole numbers are summed
    exactly up to 2^53. For columns that are not counts, a second pass subtracts the means first.

    Parameters
    ----------
    table : str, or sequence of str
        Its name, with parts separated by dots ("schema.scores"), or the parts.
    systems : sequence of str
        S names, in the order of the moments.
    metric : Metric or str
        The metric of these k columns.
    columns : mapping of str to sequence of str
        For each system the names of its k columns, in the order of ``metric.columns``. A whole
        number is a constant: for the mean of the scores in a column "q", pass ``("q", 1)``.
    groups, strata : str, optional
        Name of a column of labels: units are groups of segments; strata are rows of the answer.
    quote : {'"', '`'}
        The quote for names: a backtick for BigQuery, Spark SQL and MySQL.

    Raises
    ------
    InputError
        For systems without columns, a number of columns that differs from the metric's, and names
        that cannot be quoted.

    Examples
    --------
    >>> from evalstats import Mean
    >>> query = moments_query(
    ...     "scores", ["A", "B"], Mean("q"), {"A": ["a", 1], "B": ["b", 1]}, strata="domain"
    ... )
    >>> query[:query.index(", 1e0 *")]
    'WITH evalstats_segments AS (SELECT "domain" AS stratum, 1 AS size'
    """
    names, known = as_names(systems), as_metric(metric)
    choice(quote, ('"', "`"), "quote")
    parts = table.split(".") if isinstance(table, str) else listed(table, "table", "names")
    whole = ".".join(_quoted(part, quote, "table") for part in parts)
    given = _columns(columns, names, known, quote)
    labels, unit, grouped, source = [], "segment", "", _SEGMENTS
    if groups is not None:
        labels.append(_quoted(groups, quote, "groups"))
        unit, grouped, source = unit_name(groups), f"{labels[0]} AS label_of_group, ", _UNITS
    stratum = strata_of = "NULL"
    by = ""
    if strata is not None:
        stratum, strata_of = "stratum", _quoted(strata, quote, "strata")
        labels.append(strata_of)
        by = " GROUP BY stratum ORDER BY stratum"
    width = len(known.columns)
    numbers = [f"c{i}" for i in range(len(given))]
    as_numbers = ", ".join(f"1e0 * {x} AS {c}" for x, c in zip(given, numbers, strict=True))
    is_null = " OR ".join(f"{x} IS NULL" for x in [*labels, *dict.fromkeys(given)])
    ctes = [
        f"{_SEGMENTS} AS (SELECT {strata_of} AS stratum, {grouped}1 AS size, {as_numbers}, "
        f"CASE WHEN {is_null} THEN 1 ELSE 0 END AS is_null, 0 AS is_split FROM {whole})"
    ]
    if groups is not None:
        sums = ", ".join(f"SUM({c}) AS {c}" for c in numbers)
        ctes.append(
            f"{_UNITS} AS (SELECT MIN(stratum) AS stratum, COUNT(*) AS size, {sums}, "
            f"SUM(is_null) AS is_null, "
            f"CASE WHEN MIN(stratum) <> MAX(stratum) THEN 1 ELSE 0 END AS is_split "
            f"FROM {_SEGMENTS} GROUP BY label_of_group)"
        )
    entries = ["'" + unit.replace("'", "''") + "'", stratum]
    # Repeated terms have the same text, so that engines compute them once.
    sizes = ("1", "1", "1") if groups is None else ("1", "size", "1e0 * size * size")
    entries += ["COUNT(*)", "SUM(is_null)", "SUM(is_split)", *(f"SUM({s})" for s in sizes[1:])]
    offsets, centred = ["0"] * len(numbers), numbers
    if not known.counts:
        offsets = [f"MIN(o{i})" for i in range(len(numbers))]
        centred = [f"({c} - o{i})" for i, c in enumerate(numbers)]
        # From the table itself: engines would materialise a query that is used twice.
        rows, of_rows = (whole, given) if groups is None else (_UNITS, numbers)
        # Whole numbers stay whole, so that they are summed exactly, as in `of`.
        offset = "CASE WHEN MAX(ABS({0} - ROUND({0}))) = 0 THEN ROUND({1}) ELSE {1} END AS o{2}"
        means = ", ".join(offset.format(x, f"AVG(1e0 * {x})", i) for i, x in enumerate(of_rows))
        ctes.append(f"{_OFFSETS} AS (SELECT {means} FROM {rows})")
        source = f"{source} CROSS JOIN {_OFFSETS}"
    entries += offsets
    entries += [f"SUM({c})" for c in centred]
    entries += [f"SUM({a} * {b})" for a, b in combinations_with_replacement(centred, 2)]
    of_systems = [numbers[i * width : (i + 1) * width] for i in range(len(names))]
    for first, second in combinations(of_systems, 2):
        differs = " OR ".join(f"{a} <> {b}" for a, b in zip(first, second, strict=True))
        entries += [f"SUM(CASE WHEN {differs} THEN {size} ELSE 0 END)" for size in sizes]
    answer = columns_of(len(names), width)
    made_of = ", ".join(f"{x} AS {name}" for x, name in zip(entries, answer, strict=True))
    return f"WITH {', '.join(ctes)} SELECT {made_of} FROM {source}{by}"


def _columns(
    columns: Mapping[str, Sequence[str | int]], systems: Sequence[str], metric: Metric, quote: str
) -> list[str]:
    """Return the columns of all systems side by side, as SQL."""
    if not isinstance(columns, Mapping) or set(columns) != set(systems):
        raise InputError(
            f"must list the columns of each system: {', '.join(systems)}", argument="columns"
        )
    names: list[str] = []
    for system in systems:
        given = listed(columns[system], "columns", "names")
        if len(given) != len(metric.columns):
            raise InputError(
                f"must contain {len(metric.columns)} names per system "
                f"({', '.join(metric.columns)}), got {len(given)} for {system!r}",
                argument="columns",
            )
        for column in given:
            is_number = isinstance(column, int) and not isinstance(column, bool)
            names.append(str(column) if is_number else _quoted(column, quote, "columns"))
    return names


def _quoted(name: object, quote: str, argument: str) -> str:
    """Return the name of a column as SQL, with quotes in the name escaped.

    >>> print(_quoted('a"b', '"', "columns"), _quoted("a b", "`", "columns"))
    "a""b" `a b`
    """
    if not isinstance(name, str):
        raise InputTypeError(f"must be names, got {name!r}", argument=argument)
    # Backslashes are escapes in BigQuery only.
    if not name or not name.isprintable() or (quote == "`" and set(name) & {"`", "\\"}):
        raise InputError(
            f"contains {name!r}, which cannot be quoted with {quote}; rename it in a view",
            argument=argument,
        )
    return quote + name.replace(quote, 2 * quote) + quote


def columns_of(n_systems: int, width: int) -> list[str]:
    """Return the names of the columns of the query, in order.

    >>> columns_of(2, 1)[9:]
    ['sum_0', 'sum_1', 'product_0_0', 'product_0_1', 'product_1_1', 'units_0_1', 'segments_0_1', \
'squares_0_1']
    """
    columns, differing = range(n_systems * width), ("units", "segments", "squares")
    return [
        *FIRST,
        *(f"offset_{i}" for i in columns),
        *(f"sum_{i}" for i in columns),
        *(f"product_{i}_{j}" for i, j in combinations_with_replacement(columns, 2)),
        *(f"{x}_{a}_{b}" for a, b in combinations(range(n_systems), 2) for x in differing),
    ]


def _as_row(
    row: Mapping[str, Any] | Sequence[Any], n_systems: int, width: int
) -> tuple[Any, Any, Floats]:
    """Return unit, stratum (or `None`) and numbers of a row of the answer, or raise."""
    names = columns_of(n_systems, width)
    # Rows of BigQuery and Spark have columns by name and by number.
    values: list[Any] = []
    values += [row.get(name) for name in names] if isinstance(row, Mapping) else row
    if len(values) != len(names):
        raise InputError(
            f"must have the {len(names)} columns of moments_query for {n_systems} systems with "
            f"{width} columns each, got {len(values)}",
            argument="row",
        )
    known: dict[str, Any] = dict(zip(names, values, strict=True))
    where = "" if known["stratum"] is None else f"of stratum {known['stratum']!r}"
    if not known["n"]:
        raise InputError("contains no segments; check the query", argument="row")
    nulls = "row", "with NULL; exclude them with WHERE, or fill them in"
    splits = "group", "in several strata, but each group must belong to a single stratum"
    for name, (unit, why) in {"n_null": nulls, "n_split": splits}.items():
        if known[name]:
            n = counted(int(known[name]), unit)
            raise InputError(f"{where}: the query found {n} {why}", argument="row")
    try:
        numbers = np.array([float(known[name]) for name in names[2:]])
    except (TypeError, ValueError) as error:
        raise InputTypeError(f"must contain numbers ({error})", argument="row") from None
    return known["unit"], known["stratum"], numbers


def _of_strata(
    parts: Sequence[Moments],
    labels: tuple[str, ...],
    aggregate: Aggregate,
    differing: NDArray[np.int64] | None,
    unit: str,
) -> Scores:
    """Return the scores of moments of one stratum each, with `differing` as in `Moments`."""
    systems, metric = parts[0].systems, parts[0].metric
    n_units, n_systems = sum(part.n_segments for part in parts), len(systems)
    scores, strata, slopes = _scored(parts, labels, aggregate, unit)
    counts, worths, notes = _differing(differing, n_units, n_systems, unit)
    with np.errstate(invalid="ignore", over="ignore"):
        pairs = [_inner(g, stratum) for g, stratum in zip(slopes, strata, strict=True)]
        inner, rounding = np.sum(pairs, axis=0)
        is_hidden = _hidden(inner, rounding, parts) & (counts > 0)
    # Rounding would make equal systems differ.
    apart = np.concatenate([coordinates(products) for products, _ in pairs], axis=1)
    influence = apart[np.argmin(counts, axis=1)]
    # The segments of each system without a score, which a mean does not count.
    n_missing = np.zeros(n_systems, dtype=np.int64)
    for part in parts:
        if part.metric.columns == Mean.columns:
            n_scored = np.rint(part.sums[0, :, 1]).astype(np.int64)
            n_missing += np.maximum(part.counts[0, 1] - n_scored, 0)
    signature = MetricSignature.of(metric.signature)
    is_grouped = any(part.counts[0, 0] < part.counts[0, 1] for part in parts)
    units = SummedUnits(
        n_units,
        unit,
        "segment" if is_grouped else unit,
        labels=labels,
        places=np.repeat(np.arange(len(strata)), n_systems),
        sums=np.concatenate([stratum.counts for stratum in strata]),
    )
    of_moments = Scores(
        units,
        scores,
        influence if np.all(np.isfinite(influence)) else None,
        name=metric.name,
        metric_name=metric.name,
        systems=systems,
        higher_is_better=metric.higher_is_better,
        bounds=bounds_of_sums(metric, parts),
        empty_score=metric.empty_score,
        signature=signature if aggregate.tag is None else signature.tagged(aggregate.tag),
        known=KnownPairs(counts, np.where(is_hidden, np.nan, worths)),
        notes=notes,
        cautions=_all_cautions(parts),
        missing=np.stack([n_missing, np.full_like(n_missing, units.n_segments)], axis=1),
    )
    of_moments.check_finite(scores, "the corpus")
    return of_moments


def _scored(
    parts: Sequence[Moments], labels: tuple[str, ...], aggregate: Aggregate, unit: str
) -> tuple[Floats, Sequence[Moments], Sequence[Floats]]:
    """Return scores, `(S,)`, the strata, and their gradients, `(S, k)`.

    With micro averages, strata of one unit are merged, as in `Units`.
    """
    counts = np.array([part.n_segments for part in parts])
    if aggregate.label == "micro":
        metric, together = parts[0].metric, without_singles(counts)
        totals = np.sum([part.sums[0] for part in parts], axis=0)
        places = (np.flatnonzero(together == t) for t in range(int(together.max()) + 1))
        strata = [reduce(add, [parts[int(t)] for t in joined]) for joined in places]
        return scores_of(metric, totals), strata, [metric.gradient(totals)] * len(strata)
    if np.any(counts == 1):
        raise InputError(
            f": aggregate {aggregate.label!r} of Moments requires at least 2 {plural(unit)} in "
            f"each stratum, but {labels[int(np.argmin(counts))]!r} has 1; merge it with another",
            argument="strata",
        )
    weighted = list(zip(aggregate.weights, parts, strict=True))
    scores = sum(share * scores_of(part.metric, part.sums[0]) for share, part in weighted)
    gradients = [share * part.metric.gradient(part.sums[0]) for share, part in weighted]
    return np.asarray(scores), parts, gradients


def _differing(
    known: NDArray[np.int64] | None, n_units: int, n_systems: int, unit: str
) -> tuple[NDArray[np.int64], Floats, tuple[str, ...]]:
    """Return the number of differing units per pair, the effective number, `(S, S)`, and a note."""
    if known is None:
        note = (
            f"These moments do not include the number of {plural(unit)} on which two systems "
            "differ, so the t test assumes that they differ on all. Pass differing if you know it."
        )
        counts = n_units * (1 - np.eye(n_systems, dtype=np.int64))
        return counts, counts.astype(np.float64), (note,) if n_systems > 1 else ()
    units, segments, squares = known
    worths = np.divide(
        segments.astype(np.float64) ** 2, squares, out=np.zeros(units.shape), where=squares > 0
    )
    return units, worths, ()


def _inner(slopes: Floats, moments: Moments) -> tuple[Floats, Floats]:
    """Return inner products of influence values, `(S, S)`, and bounds on their rounding.

    `slopes` are the gradients, `(S, k)`. A sum of n products has a relative error of about ε√n/4.
    """
    n_systems, width = slopes.shape
    n = float(moments.n[0])
    deviations = (moments.sums[0] - n * moments.offsets).ravel()
    covariance = moments.products[0] - np.outer(deviations, deviations) / n
    # The gradient of each system by its own statistics; 0 by the others'.
    wide = np.zeros((n_systems, n_systems, width))
    wide[np.arange(n_systems), np.arange(n_systems)] = slopes
    rows = wide.reshape(n_systems, n_systems * width)
    sizes = np.abs(rows) @ np.abs(moments.products[0]) @ np.abs(rows).T
    return rows @ covariance @ rows.T, _FLOAT.eps * n**0.5 / 4 * sizes


def _hidden(inner: Floats, rounding: Floats, parts: Sequence[Moments]) -> NDArray[np.bool_]:
    """Return the pairs for which rounding hides the variance of the difference, `(S, S)`.

    Systems with equal sums count as equal if their difference is within rounding.
    """
    squares, unknown = np.diag(inner), np.diag(rounding)
    variance = squares[:, None] + squares - inner - inner.T
    unknown = unknown[:, None] + unknown + rounding + rounding.T + _FLOAT.eps * np.sum(squares)
    sums = np.concatenate([part.sums[0] for part in parts], axis=1)
    is_equal = np.all(sums[:, None] == sums, axis=2) & (variance <= unknown)
    # Products of small scores may be 0, and sums of whole numbers are exact.
    is_known = (unknown < _MOST_ROUNDING * variance) & (unknown > _FLOAT.tiny)
    products = [part.products for part in parts]
    is_exact = all(np.all((p == np.rint(p)) & (np.abs(p) < _EXACT)) for p in products)
    return np.asarray(np.isfinite(variance) & ~is_equal & ~is_known & (not is_exact))
