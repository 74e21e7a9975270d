"""Resampling where the data lives: a shard's part of every resampled total, and sums of parts.

A total is a sum over segments, so it is a sum over shards of sums over their segments. Each shard
draws the weights of its own segments and keeps nothing but B partial totals; adding up the parts
gives the resampled totals of the whole corpus, whose scores are its replicates.

*Poisson weights* (Hanley and MacGibbon, 2006; Chamandy, Muralidharan, Najmi and Naidu, 2012) are
independent, so that no shard needs to know of another, not even how many segments there are. The
weight of a segment in a resample is a function of the seed, the segment's id and the number of
the resample: the sum is the same, bit for bit, however the segments were sharded. What a Poisson
resample leaves open is its number of segments, which is N ± √N. A score that stays the same when
all totals are doubled (a mean, a ratio, BLEU) does not notice. *Two-stage multinomial weights*
are for the other scores and for small N: where all shard sizes are known, they give the ordinary
bootstrap of N segments.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from evalstats.checks import choice, integer, listed, real
from evalstats.errors import InputError, InputTypeError
from evalstats.metrics import Metric, as_metric
from evalstats.resampling.totals import MOST_RESAMPLES
from evalstats.shards.hierarchy import shard_batches
from evalstats.shards.keyed import poisson_blocks
from evalstats.statistics.segment_ids import Ids, as_ids, check_runs, runs_of
from evalstats.statistics.segments import SegmentStatistics, as_names, check_same_segments

Integers: TypeAlias = NDArray[np.int64]

#: Partial totals stay below this, so that the sum of two cannot wrap around.
_MOST = 2**62
#: No weight is larger: a byte holds it.
_LARGEST_WEIGHT = 255
#: Integers below it are exact in a float of 24 or 53 bits, and so are sums that stay below.
_SINGLE_LIMIT = 2.0**24
_DOUBLE_LIMIT = 2.0**53
#: Segments whose weights are multiplied at once in the second stage.
_COLUMNS = 1 << 14
_UNITS = ("segment", "group")
_ID_KINDS = ("integer", "string")
_FORMAT = "evalstats shard 1"
#: Fields of a shard that its file's header holds as they are.
_PLAIN = ("n_segments", "seed", "n_resamples", "unit", "resolution", "id_kind")


@dataclass(frozen=True, eq=False, repr=False)
class Shard:
    """A shard's part of every total, or the sum of several shards' parts.

    `resample_shard` makes one, ``a + b`` and `merge_shards` add them up, and `estimate` and
    `compare` take the sum in the place of the statistics.

    Attributes
    ----------
    systems : tuple of str
        S names.
    metrics : tuple of Metric
        What turns totals into scores.
    reference_labels : tuple of str or None
        Number of references per segment under each metric, for the signature.
    n_segments : int
        N, of all shards that were added up.
    totals : tuple of ndarray of int64, shape (S, k)
        Observed totals under each metric, in units of `resolution`.
    resampled : tuple of ndarray of int64, shape (B, S, k)
        Resampled totals under each metric, in units of `resolution`.
    differing : tuple of ndarray of int64, shape (S, S)
        On how many segments the statistics of two systems differ, under each metric.
    id_runs : ndarray of uint64, shape (R, 2)
        The ids, sorted, as runs of consecutive numbers: the first and the last of each.
    id_kind : {"integer", "string"}
        What the ids were; strings are kept as 64-bit hashes.
    seed, n_resamples : int
        What was drawn.
    unit : {"segment", "group"}
        What a row of the statistics was.
    resolution : float
        Statistics were rounded to multiples of it; a power of two.
    shard_sizes : tuple of int
        Sizes of all shards where weights are two-stage multinomial; empty for Poisson weights.
    shards : tuple of int
        Which of these shards were added up.
    """

    systems: tuple[str, ...]
    metrics: tuple[Metric, ...]
    reference_labels: tuple[str | None, ...]
    n_segments: int
    totals: tuple[Integers, ...]
    resampled: tuple[Integers, ...]
    differing: tuple[Integers, ...]
    id_runs: Ids
    id_kind: str
    seed: int
    n_resamples: int
    unit: str = "segment"
    resolution: float = 1.0
    shard_sizes: tuple[int, ...] = ()
    shards: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        # Everything that a file could claim and that does not hold together is caught here.
        as_names(self.systems)
        integer(self.n_segments, "n_segments", 1)
        integer(self.seed, "seed", 0)
        integer(self.n_resamples, "n_resamples", 2, MOST_RESAMPLES)
        choice(self.unit, _UNITS, "unit")
        choice(self.id_kind, _ID_KINDS, "id_kind")
        _as_resolution(self.resolution)
        _check_sizes(self.shard_sizes, self.shards, self.n_segments)
        each = (self.reference_labels, self.totals, self.resampled, self.differing)
        if not self.metrics or any(len(values) != len(self.metrics) for values in each):
            raise InputError("a shard needs labels and totals for each of at least one metric")
        n_systems = len(self.systems)
        for i, metric in enumerate(self.metrics):
            k = len(metric.columns)
            for arrays, shape in (
                (self.totals, (n_systems, k)),
                (self.resampled, (self.n_resamples, n_systems, k)),
                (self.differing, (n_systems, n_systems)),
            ):
                array = arrays[i]
                if array.dtype != np.int64 or array.shape != shape:
                    raise InputError(
                        f"a shard of {n_systems} systems under {metric.name} needs int64 arrays "
                        f"of shape {shape}, got {array.dtype} {array.shape}"
                    )
                if np.any(array >= _MOST) or np.any(array <= -_MOST):
                    raise InputError(
                        f"totals of {metric.name} reach 2**62 units and cannot be counted exactly; "
                        f"give resample_shard a coarser resolution"
                    )
                array.setflags(write=False)
        check_runs(self.id_runs, self.n_segments)
        self.id_runs.setflags(write=False)

    def __repr__(self) -> str:
        metrics = ", ".join(metric.name for metric in self.metrics)
        return (
            f"<Shard of {self.n_segments} {self.unit}s, {len(self.systems)} systems, {metrics}: "
            f"{self.n_resamples} resamples, {self.weights} weights, seed {self.seed}>"
        )

    @property
    def weights(self) -> str:
        """Which weights were drawn: "poisson" or "two-stage"."""
        return "two-stage" if self.shard_sizes else "poisson"

    @property
    def ids(self) -> Ids:
        """The ids (hashes of ids that were strings), sorted, `(N,)`."""
        first, last = self.id_runs.T
        lengths = (last - first).astype(np.int64) + 1
        starts = np.cumsum(lengths) - lengths
        within = np.arange(self.n_segments) - np.repeat(starts, lengths)
        return np.asarray(np.repeat(first, lengths) + within.astype(np.uint64))

    def __radd__(self, other: object) -> Shard:
        """Let `sum` begin with 0."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __add__(self, other: Shard) -> Shard:
        """Add up two shards; see `merge_shards`."""
        if not isinstance(other, Shard):
            return NotImplemented
        return merge_shards([self, other])

    @staticmethod
    def merge(shards: Iterable[Shard]) -> Shard:
        """Add up shards; see `merge_shards`."""
        return merge_shards(shards)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the shard to a file, whole or not at all: NumPy's `.npz`, without pickles.

        Raises
        ------
        InputError
            Where the file cannot be written.
        """
        # Reading and writing zip files takes longer to load than this file.
        from evalstats.statistics.archives import write_archive

        header = {
            "format": _FORMAT,
            "systems": list(self.systems),
            "metrics": [_identity(metric) for metric in self.metrics],
            "reference_labels": list(self.reference_labels),
            **{name: getattr(self, name) for name in _PLAIN},
        }
        arrays: dict[str, NDArray[Any]] = {
            "id_runs": self.id_runs,
            "shard_sizes": np.array(self.shard_sizes, dtype=np.int64),
            "shards": np.array(self.shards, dtype=np.int64),
        }
        for i in range(len(self.metrics)):
            arrays[f"totals_{i}"] = self.totals[i]
            arrays[f"resampled_{i}"] = self.resampled[i]
            arrays[f"differing_{i}"] = self.differing[i]
        write_archive(path, header, arrays)

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], metric: str | Metric | Sequence[str | Metric]
    ) -> Shard:
        """Read what `save` wrote.

        Parameters
        ----------
        path : str or path-like
        metric : str or Metric, or a list of them
            The metrics of the shard, in its order: the file holds their signatures and names, not
            the code that scores.

        Raises
        ------
        InputError
            For a file that cannot be read, is damaged or is not a shard's, and for other metrics.
        """
        from evalstats.statistics.archives import read_archive

        given = [metric] if isinstance(metric, (str, Metric)) else listed(metric, "metric", "names")
        metrics = tuple(as_metric(item) for item in given)
        header, arrays = read_archive(path)
        if header.get("format") != _FORMAT:
            raise InputError(f"{path} is not a shard that this version wrote: no {_FORMAT!r}")
        identities = [_identity(item) for item in metrics]
        if header.get("metrics") != identities:
            raise InputError(
                f"{path} holds {_described(header.get('metrics'))}, "
                f"but metric is {_described(identities)}"
            )
        try:
            each: dict[str, Any] = {
                field: tuple(_int64(arrays[f"{field}_{i}"]) for i in range(len(metrics)))
                for field in ("totals", "resampled", "differing")
            }
            each |= {name: header[name] for name in _PLAIN}
            return cls(
                systems=tuple(header["systems"]),
                metrics=metrics,
                reference_labels=_labels(header["reference_labels"]),
                id_runs=arrays["id_runs"].astype(np.uint64),
                shard_sizes=tuple(arrays["shard_sizes"].tolist()),
                shards=tuple(arrays["shards"].tolist()),
                **each,
            )
        except KeyError as error:
            raise InputError(f"{path} is not a whole shard: {error} is missing") from None
        except (InputError, TypeError) as error:
            raise InputError(f"{path} is damaged: {error}") from None


def resample_shard(
    statistics: SegmentStatistics | Sequence[SegmentStatistics],
    ids: Iterable[int] | Iterable[str],
    n_resamples: int = 9999,
    rng: int = 12345,
    *,
    unit: str = "segment",
    resolution: float | None = None,
    shard_sizes: Sequence[int] | None = None,
    shard: int | None = None,
) -> Shard:
    """Resample the segments of one shard, where they are.

    Parameters
    ----------
    statistics : SegmentStatistics, or a list of them, one a metric
        Of the shard's segments.
    ids : sequence of int or of str
        A different id for each segment of the *whole* corpus: integers in [0, 2**64), or strings,
        of which 64 bits of BLAKE2b are kept. A `range` is the cheapest.
    n_resamples : int
        B, at least 2; the same for all shards.
    rng : int
        Seed; the same for all shards.
    unit : {"segment", "group"}
        What the rows are: "group" for statistics that were `grouped`, whose ids are the groups'. A
        group must be whole, in one shard.
    resolution : float, optional
        A power of two, at most 1, to multiples of which statistics are rounded, for example
        ``2**-20``. Left out, all statistics must be whole numbers.
    shard_sizes : sequence of int, optional
        Numbers of segments of *all* shards, the same for all shards: draws two-stage multinomial
        weights instead of Poisson ones.
    shard : int, optional
        Which of these this shard is, from 0.

    Returns
    -------
    Shard

    Raises
    ------
    InputError
        For an id that occurs twice, statistics that are not on the grid, and other bad input.

    Notes
    -----
    Sums are sums of integers and therefore exact, which is why statistics must lie on a grid that
    is known beforehand: a grid chosen by looking at the data of one shard would not be that of
    the next. Rounding moves a mean by at most half of `resolution`.

    With Poisson weights the replicates do not depend on the sharding. With two-stage weights they
    do (each shard has streams of its own), and only their distribution is that of the bootstrap.

    References
    ----------
    Hanley and MacGibbon (2006), "Creating non-parametric bootstrap samples using Poisson
    frequencies". Chamandy, Muralidharan, Najmi and Naidu (2012), "Estimating uncertainty for
    massive data streams".

    Examples
    --------
    >>> import evalstats as es
    >>> rows = [[i % 3 > 0, 1] for i in range(600)]
    >>> def part(start, stop):
    ...     statistics = es.SegmentStatistics([rows[start:stop]], ["A"], es.Ratio("accuracy"))
    ...     return es.resample_shard(statistics, range(start, stop), n_resamples=999)
    >>> merged = part(400, 600) + part(0, 400)
    >>> np.array_equal(merged.resampled, part(0, 600).resampled)
    True
    >>> result = es.estimate(merged)
    >>> round(result.score, 3), result.n_segments, 0.015 < result.standard_error < 0.023
    (0.667, 600, True)
    """
    tables = [statistics] if isinstance(statistics, SegmentStatistics) else list(statistics)
    if not tables or not all(isinstance(table, SegmentStatistics) for table in tables):
        raise InputTypeError(
            "statistics must be a SegmentStatistics or a list of them, one a metric; "
            "extract() makes them from texts"
        )
    check_same_segments(tables)
    n_segments = tables[0].n_segments
    n_resamples = integer(n_resamples, "n_resamples", 2, MOST_RESAMPLES)
    if isinstance(rng, np.random.Generator) or rng is None:
        raise InputTypeError("rng must be an int: all shards must be given the same seed")
    seed = integer(rng, "rng", 0)
    choice(unit, _UNITS, "unit")
    sizes, members = _as_sizes(shard_sizes, shard, n_segments)
    numbers, id_kind = as_ids(ids, n_segments)
    grid = 1.0 if resolution is None else _as_resolution(resolution)
    totals = tuple(_observed(table, grid, rounds=resolution is not None) for table in tables)
    id_runs = runs_of(np.sort(numbers))
    add = _Sum(tables, grid, n_resamples)
    if sizes:
        add.by_rows(shard_batches(sizes, members[0], n_resamples, seed))
    else:
        add.by_segments(poisson_blocks(numbers, n_resamples, seed))
    ends = np.cumsum([part.size for part in totals])[:-1]
    resampled = [
        np.ascontiguousarray(part).reshape(n_resamples, *observed.shape)
        for part, observed in zip(np.split(add.totals, ends, axis=1), totals, strict=True)
    ]
    return Shard(
        systems=tables[0].systems,
        metrics=tuple(table.metric for table in tables),
        reference_labels=tuple(table.reference_label for table in tables),
        n_segments=n_segments,
        totals=totals,
        resampled=tuple(resampled),
        differing=tuple(_differing(table) for table in tables),
        id_runs=id_runs,
        id_kind=id_kind,
        seed=seed,
        n_resamples=n_resamples,
        unit=unit,
        resolution=grid,
        shard_sizes=sizes,
        shards=members,
    )


def merge_shards(shards: Iterable[Shard]) -> Shard:
    """Add up shards: the same result, bit for bit, in every order and grouping.

    Parameters
    ----------
    shards : iterable of Shard
        At least one; of the same systems and metrics, drawn with the same seed.

    Returns
    -------
    Shard

    Raises
    ------
    InputError
        When shards do not fit together, or share a segment; the message says which.

    Examples
    --------
    >>> import evalstats as es
    >>> judge = es.SegmentStatistics([[[4, 1], [5, 1]]], ["A"], es.Mean("judge"))
    >>> first, second = (es.resample_shard(judge, ids) for ids in (["a", "b"], ["c", "d"]))
    >>> es.merge_shards([first, second]).n_segments
    4
    >>> es.merge_shards([first, first])
    Traceback (most recent call last):
        ...
    evalstats.errors.InputError: shards[0] and shards[1] share a segment: ...
    """
    parts: list[Shard] = listed(shards, "shards", "Shard objects")
    if not parts:
        raise InputError("shards is empty; give at least one")
    for i, part in enumerate(parts):
        if not isinstance(part, Shard):
            raise InputTypeError(f"shards[{i}] must be a Shard, got {type(part).__name__}")
        _check_fits(part, parts[0], i)
    first = parts[0]
    id_runs = _merged_runs(parts)
    n_metrics = range(len(first.metrics))
    return replace(
        first,
        n_segments=sum(part.n_segments for part in parts),
        reference_labels=tuple(
            _common_label([part.reference_labels[i] for part in parts]) for i in n_metrics
        ),
        totals=tuple(_added([part.totals[i] for part in parts]) for i in n_metrics),
        resampled=tuple(_added([part.resampled[i] for part in parts]) for i in n_metrics),
        differing=tuple(_added([part.differing[i] for part in parts]) for i in n_metrics),
        id_runs=id_runs,
        shards=tuple(sorted(j for part in parts for j in part.shards)),
    )


class _Sum:
    """Resampled totals `(B, K)` of all systems under all metrics, added up without rounding."""

    def __init__(
        self, tables: Sequence[SegmentStatistics], resolution: float, n_resamples: int
    ) -> None:
        self._tables = tables
        self._resolution = resolution
        width = sum(len(table.systems) * table.values.shape[2] for table in tables)
        self.totals = np.zeros((n_resamples, width), dtype=np.int64)

    def by_segments(self, blocks: Iterator[tuple[slice, slice, NDArray[np.uint8]]]) -> None:
        """Add weights that come segments first, all resamples of them before the next."""
        held, product = slice(0, 0), None
        for segments, rows, weights in blocks:
            if product is None or segments != held:
                held, product = segments, self._product(segments)
            self.totals[rows] += product(weights)

    def by_rows(self, batches: Iterator[tuple[slice, NDArray[np.uint8]]]) -> None:
        """Add weights that come resample by resample, for all segments."""
        starts = range(0, self._tables[0].n_segments, _COLUMNS)
        parts = [slice(start, start + _COLUMNS) for start in starts]
        products = [self._product(part) for part in parts]
        for rows, weights in batches:
            for part, product in zip(parts, products, strict=True):
                self.totals[rows] += product(weights[:, part])

    def _product(self, segments: slice) -> Callable[[NDArray[np.uint8]], Integers]:
        """Return weights times the statistics of some segments, exact, as a function."""
        block = np.concatenate(
            [_units(table, segments, self._resolution) for table in self._tables], axis=1
        )
        # The power of two that divides a whole column need not go through the product: whole
        # numbers counted in units of 2**-20 are as small there as they were.
        bits = np.bitwise_or.reduce(block, axis=0)
        common = np.maximum(bits & -bits, 1)
        block //= common
        magnitude = float(np.max(np.sum(np.abs(block), axis=0, dtype=np.float64)))
        if _LARGEST_WEIGHT * magnitude >= _DOUBLE_LIMIT:
            raise InputError(
                "statistics are too large: sums beyond 2**53 units cannot be counted exactly; "
                "give a coarser resolution, or smaller numbers"
            )
        countable = magnitude < _SINGLE_LIMIT and bool(np.all(block >= 0))
        columns: NDArray[Any] = block.astype(np.float32 if countable else np.float64)

        def product(weights: NDArray[np.uint8]) -> Integers:
            totals = weights.astype(columns.dtype) @ columns
            # No partial sum of nonnegative integers exceeds the last: below 2**24 none rounds.
            if countable and np.max(totals) >= _SINGLE_LIMIT:
                totals = weights.astype(np.float64) @ columns.astype(np.float64)
            return np.asarray(totals.astype(np.int64) * common)

        return product


def _units(table: SegmentStatistics, segments: slice, resolution: float) -> Integers:
    """Return statistics as whole numbers of units, all systems side by side, `(n, S k)`."""
    values = table.values[:, segments].transpose(1, 0, 2)
    if values.dtype.kind in "iu":
        units = values.astype(np.int64) * int(1 / resolution)
    else:
        units = np.rint(values.astype(np.float64) / resolution).astype(np.int64)
    return np.asarray(units.reshape(len(units), -1))


def _observed(table: SegmentStatistics, resolution: float, *, rounds: bool) -> Integers:
    """Return the totals in units, `(S, k)`, after a look at every number."""
    totals = np.zeros((len(table.systems), table.values.shape[2]), dtype=np.int64)
    magnitude = np.zeros(totals.shape)
    for start in range(0, table.n_segments, _COLUMNS):
        segments = slice(start, start + _COLUMNS)
        # A power of two divides floats without rounding; what overflows is too large.
        with np.errstate(over="ignore"):
            values = table.values[:, segments].astype(np.float64) / resolution
            magnitude += np.sum(np.abs(values), axis=1)
        if np.any(_LARGEST_WEIGHT * magnitude >= _MOST):
            raise InputError(
                f"statistics of {table.metric.name} are too large to be counted exactly in units "
                f"of {resolution:g}; give a coarser resolution, or smaller numbers"
            )
        fractional = values != np.rint(values)
        if not rounds and np.any(fractional):
            i, n, j = (int(at) for at in np.argwhere(fractional)[0])
            raise InputError(
                f"statistics of {table.metric.name} must be whole numbers, got "
                f"{table.values[i, start + n, j]} for segment {start + n}; give resolution, for "
                f"example 2**-20, and all are rounded to multiples of it: sums that do not depend "
                f"on the sharding need a grid that all shards share"
            )
        totals += np.sum(_units(table, segments, resolution), axis=0).reshape(totals.shape)
    return totals


def _as_resolution(value: object) -> float:
    resolution = real(value, "resolution", 0.0)
    if not 0 < resolution <= 1 or np.frexp(resolution)[0] != 0.5:
        raise InputError(
            f"resolution must be a power of two that is at most 1, such as 2**-20, got {value}"
        )
    return resolution


def _as_sizes(
    shard_sizes: Sequence[int] | None, shard: int | None, n_segments: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the sizes of all shards and which this is; nothing for Poisson weights."""
    if (shard_sizes is None) != (shard is None):
        raise InputError(
            "shard_sizes and shard go together: the sizes of all shards, and which of them this is"
        )
    if shard_sizes is None:
        return (), ()
    sizes = tuple(
        integer(size, f"shard_sizes[{i}]", 1)
        for i, size in enumerate(listed(shard_sizes, "shard_sizes", "sizes"))
    )
    if not sizes:
        raise InputError("shard_sizes is empty; give the sizes of all shards")
    number = integer(shard, "shard", 0, len(sizes) - 1)
    if sizes[number] != n_segments:
        raise InputError(
            f"shard_sizes[{number}] is {sizes[number]} but statistics has {n_segments} segments"
        )
    return sizes, (number,)


def _check_sizes(sizes: tuple[int, ...], members: tuple[int, ...], n_segments: int) -> None:
    for size in sizes:
        integer(size, "shard_sizes", 1)
    for j in members:
        integer(j, "shards", 0, len(sizes) - 1)
    if bool(sizes) != bool(members) or len(set(members)) < len(members):
        raise InputError(f"shards must be different numbers of shard_sizes, got {list(members)}")
    if sizes and sum(sizes[j] for j in members) != n_segments:
        raise InputError(f"n_segments is {n_segments}, which is not what shard_sizes add up to")


def _merged_runs(parts: list[Shard]) -> Ids:
    """Return the ids of all parts, or say which two share one."""
    runs = np.concatenate([part.id_runs for part in parts])
    owners = np.repeat(np.arange(len(parts)), [len(part.id_runs) for part in parts])
    order = np.argsort(runs[:, 0], kind="stable")
    first, last = runs[order].T
    shared = np.flatnonzero(first[1:] <= last[:-1])
    if len(shared):
        at = int(shared[0])
        i, j = sorted(int(owners[order[k]]) for k in (at, at + 1))
        number = int(first[at + 1])
        name = (
            f"id {number}"
            if parts[i].id_kind == "integer"
            else f"the string whose hash is {number:#018x}"
        )
        raise InputError(
            f"shards[{i}] and shards[{j}] share a segment: {name} is in both; "
            f"every segment must be counted once"
        )
    # Runs that touch become one, so that the result does not depend on the order of merging.
    starts = np.concatenate([[True], first[1:] - last[:-1] != 1])
    ends = np.concatenate([starts[1:], [True]])
    return np.stack([first[starts], last[ends]], axis=1)


def _check_fits(part: Shard, first: Shard, i: int) -> None:
    """Raise unless a shard can be added to the first."""
    for name in (
        *("seed", "n_resamples", "systems", "unit", "resolution", "id_kind", "weights"),
        "shard_sizes",
    ):
        here, there = getattr(part, name), getattr(first, name)
        if here != there:
            raise InputError(
                f"shards must have the same {name}, got {there!r} in shards[0] and {here!r} in "
                f"shards[{i}]"
            )
    here, there = ([_identity(m) for m in shard.metrics] for shard in (part, first))
    if here != there:
        raise InputError(
            f"shards must have the same metrics, got {_described(there)} in shards[0] and "
            f"{_described(here)} in shards[{i}]"
        )


def _added(arrays: list[Integers]) -> Integers:
    total = np.array(arrays[0])
    for array in arrays[1:]:
        # Both are below 2**62: the sum does not wrap around, and `Shard` refuses it beyond.
        total += array
        if np.any(total >= _MOST) or np.any(total <= -_MOST):
            break
    return total


def _common_label(labels: list[str | None]) -> str | None:
    """Return the label that all shards have, or "var"."""
    return labels[0] if len(set(labels)) == 1 else "var"


def _differing(table: SegmentStatistics) -> Integers:
    """Count the segments on which two systems differ, for all pairs, `(S, S)`."""
    counts = np.zeros((len(table.systems), len(table.systems)), dtype=np.int64)
    for a, b in combinations(range(len(table.systems)), 2):
        differs = np.any(table.values[a] != table.values[b], axis=1)
        counts[a, b] = counts[b, a] = np.count_nonzero(differs)
    return counts


def _identity(metric: Metric) -> list[Any]:
    """Return what tells a metric from another, as JSON gives it back."""
    return [metric.name, metric.signature, list(metric.columns)]


def _described(identities: Any) -> str:
    try:
        return ", ".join(f"{name} {signature}" for name, signature, _ in identities)
    except (TypeError, ValueError):
        return "no metrics"


def _int64(array: NDArray[Any]) -> Integers:
    return np.asarray(array.astype(np.int64)) if array.dtype.kind == "i" else array


def _labels(labels: Any) -> tuple[str | None, ...]:
    if not isinstance(labels, list) or not all(isinstance(v, (str, type(None))) for v in labels):
        raise InputError(f"reference_labels must be strings or null, got {labels!r}")
    return tuple(labels)
