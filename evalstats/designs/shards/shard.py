"""A shard's part of every resampled total: kept, saved, loaded, and added up without rounding.

Its segments have ids, 64-bit numbers that are kept as sorted runs: nothing is counted twice. How
scores vary with each segment is not known, so that there are no influence values.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from evalstats.analysis.design import Aggregated, Units
from evalstats.analysis.drawn import NO_SEGMENTS, Drawn, Maker, frozen, refuse_options
from evalstats.analysis.options import Options
from evalstats.analysis.scores import Scored, distinct_names
from evalstats.checks import also_called, choice, integer, label, listed, real, refuse_masked, shown
from evalstats.errors import Argument, InputError, InputTypeError
from evalstats.metrics import Metric, as_metric, scores_of
from evalstats.metrics.base import MetricSignature
from evalstats.metrics.ratios import MeanOfRuns
from evalstats.resampling.weighted import MOST_RESAMPLES
from evalstats.resampling.weights import MOST_SEED
from evalstats.results.records import plural
from evalstats.statistics.interchange import is_same_metric, made_by, rebuilt
from evalstats.statistics.segments import as_names

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]
Ids: TypeAlias = NDArray[np.uint64]
#: Bits of a row in the id of a row of a file; the others are of a hash of the file's name.
_ROW_BITS = 28

#: Partial totals stay below this, so that the sum of two cannot wrap around.
MOST = 2**62
UNITS = ("segment", "group")
_ID_KINDS = ("integer", "string", "row")
_FORMAT = "evalstats shard 1"
_Metrics: TypeAlias = "str | Metric | Sequence[str | Metric]"
#: Fields of a shard that its file's header holds as they are.
_PLAIN = ("n_segments", "seed", "n_resamples", "unit", "resolution", "id_kind")
_SHARED = (*_PLAIN[1:], "systems", "weights", "shard_sizes")
#: Fields that hold an array for each metric.
_ARRAYS = ("totals", "resampled", "differing")
#: Empty resamples of a Poisson bootstrap that are expected at most.
_EMPTY_RESAMPLES = 0.1


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
    totals, resampled : tuple of ndarray of int64, shapes (S, k) and (B, S, k)
        Observed and resampled totals under each metric, in units of `resolution`.
    differing : tuple of ndarray of int64, shape (S, S)
        On how many segments the statistics of two systems differ, under each metric.
    id_runs : ndarray of uint64, shape (R, 2)
        The ids, sorted, as runs of consecutive numbers: the first and the last of each.
    id_kind : {"integer", "string", "row"}
        What the ids were; strings, and names of files, are kept as hashes.
    seed, n_resamples, unit, resolution
        As in `resample_shard`.
    shard_sizes, shards : tuple of int
        Sizes of all shards where weights are two-stage multinomial, empty for Poisson weights; and
        which of these shards were added up.
    missing : tuple of ndarray of int64, shape (S,)
        How many segments have no score, under each metric; empty where a file of an earlier version
        was added up, which does not say.

    Examples
    --------
    >>> import evalstats as es
    >>> table = es.extract({"A": [3, 4, 5], "B": [3, 5, 5]}, metric=es.Mean("marks"))
    >>> shard = es.resample_shard(table, range(3), n_resamples=99)
    >>> shard.systems, shard.n_segments
    (('A', 'B'), 3)
    """

    #: The module of its `evalstats.analysis.drawn.Maker`.
    made_in: ClassVar[str] = "evalstats.designs.shards.shard"

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
    missing: tuple[Integers, ...] = ()

    def __post_init__(self) -> None:
        # Everything that a file could claim and that does not hold together is caught here.
        as_names(self.systems)
        integer(self.n_segments, "n_segments", 1)
        integer(self.seed, "seed", 0, MOST_SEED)
        integer(self.n_resamples, "n_resamples", 2, MOST_RESAMPLES)
        choice(self.unit, UNITS, "unit")
        choice(self.id_kind, _ID_KINDS, "id_kind")
        as_resolution(self.resolution)
        self._check_sizes()
        each = (self.reference_labels, self.totals, self.resampled, self.differing)
        if not self.metrics or any(len(values) != len(self.metrics) for values in each):
            raise InputError("a shard needs labels and totals for each of at least one metric")
        for text in self.reference_labels:
            if text is not None:
                label(text, "reference_labels")
        n_systems = len(self.systems)
        for i, metric in enumerate(self.metrics):
            one = (n_systems, len(metric.columns))
            shapes = (one, (self.n_resamples, *one), (n_systems, n_systems))
            for arrays, shape in zip(each[1:], shapes, strict=True):
                array: Any = arrays[i]
                if array.dtype != np.int64 or array.shape != shape:
                    raise InputError(
                        f"a shard of {n_systems} systems under {metric.name} needs int64 arrays "
                        f"of shape {shape}, got {array.dtype} {array.shape}"
                    )
                if _too_large(array):
                    raise InputError(
                        f"totals of {metric.name} reach 2**62 units and cannot be counted exactly; "
                        f"give resample_shard a coarser resolution"
                    )
                array.setflags(write=False)
            differing = self.differing[i]
            counted = differing.min() >= 0 and differing.max() <= self.n_segments
            if not counted or np.any(differing != differing.T) or np.any(differing.diagonal()):
                raise InputError(
                    f"differing must count segments, 0 to {self.n_segments}, the same for both "
                    f"systems of a pair"
                )
        for counts in self.missing:
            is_count = counts.dtype == np.int64 and counts.shape == (n_systems,)
            if not is_count or np.any(counts < 0) or np.any(counts > self.n_segments):
                raise InputError(
                    f"missing must count segments, 0 to {self.n_segments}, of each system"
                )
            counts.setflags(write=False)
        if len(self.missing) not in (0, len(self.metrics)):
            raise InputError("missing must be counted under each metric, or under none")
        check_runs(self.id_runs, self.n_segments)
        self.id_runs.setflags(write=False)

    def _check_sizes(self) -> None:
        """Refuse shards that are not among all, and sizes that do not add up."""
        sizes, members = self.shard_sizes, self.shards
        for size in sizes:
            integer(size, "shard_sizes", 1, MOST)
        for j in members:
            integer(j, "shards", 0, len(sizes) - 1)
        if bool(sizes) != bool(members) or len(set(members)) < len(members):
            raise InputError(
                f"shards must be different numbers of shard_sizes, got {list(members)}"
            )
        if sizes and sum(sizes[j] for j in members) != self.n_segments:
            raise InputError(
                f"n_segments is {self.n_segments}, which is not what shard_sizes add up to"
            )

    def __eq__(self, other: object) -> bool:
        """Return whether all fields are equal; of metrics, sacreBLEU's version does not count."""
        if not isinstance(other, Shard):
            return NotImplemented
        names = (*_ARRAYS, "missing")
        arrays = (chain(*(getattr(shard, name) for name in names)) for shard in (self, other))
        return (
            _unlike(self, other, ("n_segments", "reference_labels", "shards", *_SHARED)) is None
            and np.array_equal(self.id_runs, other.id_runs)
            and len(self.missing) == len(other.missing)
            and all(map(np.array_equal, *arrays))
        )

    def __hash__(self) -> int:
        return hash((self.systems, self.n_segments, self.seed, self.n_resamples, self.shards))

    def __repr__(self) -> str:
        metrics = ", ".join(metric.name for metric in self.metrics)
        return (
            f"<Shard of {self.n_segments} {plural(self.unit)}, {len(self.systems)} systems, "
            f"{metrics}: "
            f"{self.n_resamples} resamples, {self.weights} weights, seed {self.seed}>"
        )

    @property
    def weights(self) -> str:
        """Which weights were drawn: "poisson" or "two-stage"."""
        return "two-stage" if self.shard_sizes else "poisson"

    def __add__(self, other: Shard) -> Shard:
        """Add up two shards; see `merge_shards`."""
        if not isinstance(other, Shard):
            return NotImplemented
        return merge_shards([self, other])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the shard to a file, whole or not at all: NumPy's `.npz`, without pickles."""
        from evalstats.statistics.archives import write_archive

        write_archive(path, *self._members())

    def to_bytes(self) -> bytes:
        """Return the bytes of the file that `save` writes, for engines that move bytes."""
        from evalstats.statistics.archives import archive_bytes

        return archive_bytes(*self._members())

    def _members(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the header and the arrays of a file."""
        header = {
            "format": _FORMAT,
            "systems": list(self.systems),
            "metrics": [_identity(metric) for metric in self.metrics],
            "classes": [made_by(metric) for metric in self.metrics],
            "reference_labels": list(self.reference_labels),
            **{name: getattr(self, name) for name in _PLAIN},
        }
        numbers = range(len(self.metrics))
        arrays: dict[str, NDArray[Any]] = {
            "id_runs": self.id_runs,
            "shard_sizes": np.array(self.shard_sizes, dtype=np.int64),
            "shards": np.array(self.shards, dtype=np.int64),
            **{f"{field}_{i}": getattr(self, field)[i] for i in numbers for field in _ARRAYS},
            **{f"missing_{i}": counts for i, counts in enumerate(self.missing)},
        }
        return header, arrays

    @classmethod
    @also_called(metrics="metric")
    def load(cls, path: str | os.PathLike[str], metric: _Metrics | None = None) -> Shard:
        """Read what `save` wrote.

        `metric` is the metric of the shard, or a list of them in its order. It may be left out
        where all are evalstats' own, whose options the file holds, but not the code that scores. A
        file that cannot be read, is damaged, is not a shard's or is of other metrics raises an
        `InputError`.
        """
        from evalstats.statistics.archives import read_archive

        return cls._read(str(path), *read_archive(path), metric)

    @classmethod
    @also_called(metrics="metric")
    def from_bytes(cls, data: bytes, metric: _Metrics | None = None) -> Shard:
        """Return the shard of which `to_bytes` made these bytes; `metric` is that of `load`."""
        from evalstats.statistics.archives import from_archive_bytes

        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise InputTypeError(f"must be bytes, got {type(data).__name__}", argument="data")
        return cls._read("data", *from_archive_bytes(bytes(data)), metric)

    @classmethod
    def _read(
        cls,
        path: str,
        header: dict[str, Any],
        arrays: dict[str, NDArray[Any]],
        metric: _Metrics | None,
    ) -> Shard:
        """Return the shard in the members of a file, which messages call so."""
        metrics = _as_metrics(path, header, metric)
        if header.get("format") != _FORMAT:
            raise InputError(f"{path} is not a shard that this version wrote: no {_FORMAT!r}")
        identities = [_identity(item) for item in metrics]
        if header.get("metrics") != identities:
            raise InputError(
                f"{path} holds {_described(header.get('metrics'))}, "
                f"but metric is {_described(identities)}"
            )
        try:
            labels = listed(header["reference_labels"], "reference_labels", "strings or null")
            numbers = range(len(metrics))
            each: dict[str, Any] = {name: header[name] for name in _PLAIN}
            # Files of earlier versions do not say what is missing.
            names = (*_ARRAYS, "missing") if "missing_0" in arrays else _ARRAYS
            each |= {name: tuple(arrays[f"{name}_{i}"] for i in numbers) for name in names}
            found = cls(
                systems=as_names(header["systems"]),
                metrics=metrics,
                reference_labels=tuple(labels),
                id_runs=arrays["id_runs"],
                shard_sizes=tuple(arrays["shard_sizes"].tolist()),
                shards=tuple(arrays["shards"].tolist()),
                **each,
            )
            known = {"id_runs", "shard_sizes", "shards"}
            known |= {f"{name}_{i}" for name in names for i in numbers}
            if unknown := sorted(set(arrays) - known):
                raise InputError(f"{unknown[0]!r} is no part of a shard")
            for i, own in enumerate(metrics):
                for totals in (found.totals[i], found.resampled[i]):
                    own.check_statistics(totals * found.resolution)
            return found
        except KeyError as error:
            raise InputError(f"{path} is not a whole shard: {error} is missing") from None
        except (InputError, TypeError) as error:
            raise InputError(f"{path} is damaged: {error}") from None


def merge_shards(shards: Iterable[Shard]) -> Shard:
    """Add up shards: the same result, bit for bit, in every order and grouping.

    Parameters
    ----------
    shards : iterable of Shard
        At least one; of the same systems and metrics, drawn with the same seed.

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
        if (name := _unlike(parts[0], part)) is not None:
            raise InputError(
                f"shards must have the same {name}, got {getattr(parts[0], name)!r} in shards[0] "
                f"and {getattr(part, name)!r} in shards[{i}]"
            )
    added: dict[str, Any] = {n: _added([getattr(part, n) for part in parts]) for n in _ARRAYS}
    if all(part.missing for part in parts):
        added["missing"] = _added([part.missing for part in parts])
    else:
        added["missing"] = ()
    labels = zip(*(part.reference_labels for part in parts), strict=True)
    return replace(
        parts[0],
        n_segments=sum(part.n_segments for part in parts),
        reference_labels=tuple(each[0] if len(set(each)) == 1 else "var" for each in labels),
        **added,
        id_runs=merged_runs([part.id_runs for part in parts], parts[0].id_kind),
        shards=tuple(sorted(j for part in parts for j in part.shards)),
    )


def as_resolution(value: object) -> float:
    """Return a power of two, at most 1, or say what came instead."""
    resolution = real(value, "resolution", 0.0)
    if not 1 / MOST <= resolution <= 1 or np.frexp(resolution)[0] != 0.5:
        raise InputError(
            f"resolution must be a power of two that is at most 1 and at least 2**-62, such as "
            f"2**-20, got {value}"
        )
    return resolution


def _unlike(one: Shard, other: Shard, names: Sequence[str] = _SHARED) -> str | None:
    """Return the first of these fields, or "metrics", that is not the same in two shards."""
    for name in names:
        if getattr(one, name) != getattr(other, name):
            return name
    same = all(map(is_same_metric, one.metrics, other.metrics))
    return None if same and len(one.metrics) == len(other.metrics) else "metrics"


def _added(parts: list[tuple[Integers, ...]]) -> tuple[Integers, ...]:
    """Add up the arrays of all parts, metric by metric."""
    totals = [np.array(array) for array in parts[0]]
    for arrays in parts[1:]:
        for total, array in zip(totals, arrays, strict=True):
            # Both are below 2**62: their sum does not wrap around, and `Shard` refuses it beyond.
            if not _too_large(total):
                total += array
    return tuple(totals)


def _too_large(totals: Integers) -> bool:
    return bool(np.any(totals >= MOST) or np.any(totals <= -MOST))


def _identity(metric: Metric) -> list[Any]:
    """Return what a file says of a metric."""
    return [metric.name, metric.signature, list(metric.columns)]


def _as_metrics(
    path: str, header: Mapping[str, Any], metric: _Metrics | None
) -> tuple[Metric, ...]:
    """Return the metrics that were asked for, or those of the file."""
    if metric is not None:
        asked = [metric] if isinstance(metric, (str, Metric)) else listed(metric, "metric", "names")
        return tuple(as_metric(item) for item in asked)
    classes = header.get("classes")
    is_known = isinstance(classes, list) and all(isinstance(each, dict) for each in classes)
    if not is_known or not all(each.get("class") for each in classes or ()):
        raise InputError(
            f"{path} does not say how to make its metrics, {_described(header.get('metrics'))}; "
            f"give ",
            Argument("metric"),
        )
    try:
        return tuple(rebuilt(each) for each in classes or ())
    except InputError as error:
        raise InputError(f"{path} is damaged: {error}") from None


def _described(identities: Any) -> str:
    try:
        described = ", ".join(f"{name} {signature}" for name, signature, _ in identities)
        return described if len(described) <= 500 else f"{described[:500]}..."
    except (TypeError, ValueError, RecursionError):
        return "no metrics"


def as_ids(ids: object, n_segments: int) -> tuple[Ids, str]:
    """Return ids as 64-bit numbers, in the order given, and what they were."""
    given: Sequence[Any] | NDArray[Any]
    if isinstance(ids, tuple) and list(map(type, ids)) == [str, int]:
        file, first = ids
        last = first + n_segments - 1
        if first < 0 or last >= 1 << _ROW_BITS:
            raise InputError(
                f"ids of rows must be from 0 to {(1 << _ROW_BITS) - 1:,}, got {first:,} to "
                f"{last:,} of {shown(file)}; number the segments yourself"
            )
        # One run of numbers.
        start = (_hashed(file) >> _ROW_BITS << _ROW_BITS) + first
        return np.arange(start, start + n_segments, dtype=np.uint64), "row"
    refuse_masked(ids, "ids")
    if isinstance(ids, range) and len(ids) and max(ids[0], ids[-1]) < 2**63:
        ids = np.arange(ids.start, ids.stop, ids.step)
    if (
        isinstance(ids, np.ndarray)
        and ids.ndim == 1
        and ids.dtype.kind in "iu"
        and np.all(ids >= 0)
    ):
        given, kind, numbers = ids, "integer", ids.astype(np.uint64)
    else:
        given = ids if isinstance(ids, range) else listed(ids, "ids", "integers or strings")
        kind = "string" if len(given) and isinstance(given[0], str) else "integer"
        each = (_number(value, i, kind) for i, value in enumerate(given))
        numbers = np.fromiter(each, dtype=np.uint64)
    if len(numbers) != n_segments:
        raise InputError(
            f"ids has {len(numbers)} entries but there are {n_segments} segments; "
            f"give one id per segment"
        )
    order = np.argsort(numbers, kind="stable")
    again = np.flatnonzero(numbers[order][1:] == numbers[order][:-1])
    if len(again):
        i, j = (int(k) for k in order[again[0] : again[0] + 2])
        # Different strings have the same hash by a rare chance.
        raise InputError(
            f"ids must differ, but ids[{i}] and ids[{j}] are the same 64-bit number: "
            f"{shown(given[i])} and {shown(given[j])}"
        )
    return numbers, kind


def _hashed(name: str) -> int:
    """Return 64 bits of BLAKE2b of a name."""
    from hashlib import blake2b

    # Lone surrogates are ids like any other.
    digest = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def _number(value: object, i: int, kind: str) -> int:
    if kind == "string" and isinstance(value, str):
        return _hashed(value)
    if kind == "string" or isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise InputTypeError(
            f"ids must be all integers or all strings, but ids[{i}] is {value!r} "
            f"({type(value).__name__})"
        )
    if not 0 <= value < 2**64:
        raise InputError(f"ids[{i}] is {value}; ids must be in [0, 2**64)")
    return int(value)


def joined(runs: Ids) -> Ids:
    """Return sorted runs, `(R, 2)`, of which those that touch become one."""
    first, last = runs.T
    starts = np.concatenate([[True], first[1:] - last[:-1] != 1])
    ends = np.concatenate([starts[1:], [True]])
    return np.stack([first[starts], last[ends]], axis=1)


def check_runs(runs: Ids, n_segments: int) -> None:
    """Raise unless these are sorted runs, `(R, 2)`, of as many ids as there are segments."""
    if runs.dtype != np.uint64 or runs.ndim != 2 or runs.shape[1] != 2 or len(runs) == 0:
        raise InputError(f"id_runs must be uint64 of shape (R, 2), got {runs.dtype} {runs.shape}")
    first, last = runs.T
    if np.any(last < first) or np.any(first[1:] <= last[:-1]):
        raise InputError("id_runs must be sorted runs that do not overlap")
    # The sum cannot wrap around: runs that do not overlap have at most 2**64 numbers.
    n_ids = len(runs) + int(np.sum(last - first))
    if n_ids != n_segments:
        raise InputError(f"there are {n_ids} ids for {n_segments} segments")


def merged_runs(shards: Sequence[Ids], kind: str) -> Ids:
    """Return the runs of all shards as one set, or say which two shards share an id."""
    runs = np.concatenate(shards)
    owners = np.repeat(np.arange(len(shards)), [len(part) for part in shards])
    order = np.argsort(runs[:, 0], kind="stable")
    first, last = runs[order].T
    shared = np.flatnonzero(first[1:] <= last[:-1])
    if len(shared):
        at = int(shared[0])
        i, j = sorted(owners[order[at : at + 2]].tolist())
        number = int(first[at + 1])
        name = f"id {number}" if kind == "integer" else f"the string whose hash is {number:#018x}"
        if kind == "row":
            file, row = number >> _ROW_BITS, number & ((1 << _ROW_BITS) - 1)
            name = f"row {row} of the file whose hash is {file:#x}"
        raise InputError(
            f"shards[{i}] and shards[{j}] share a segment: {name} is in both; "
            f"every segment must be counted once"
        )
    return joined(runs[order])


def from_shards(shards: Sequence[Shard], aggregate: Aggregated, options: Options) -> list[Drawn]:
    """Return the scores of the only shard under each of its metrics; its resamples are drawn."""
    if len(shards) > 1:
        raise InputError(f"got {len(shards)} shards; add them up first, with merge_shards")
    if aggregate != "micro":
        raise InputError("must be 'micro' where a Shard is given", argument="aggregate")
    (shard,) = shards
    missing = sorted(set(range(len(shard.shard_sizes))) - set(shard.shards))
    if missing:
        raise InputError(
            f"{len(missing)} of {len(shard.shard_sizes)} shards are missing, the first is "
            f"{missing[0]}: merge all of them; with shard_sizes only the whole is a resample"
        )
    if shard.weights == "poisson":
        # A resample is empty with probability e^-N, and the score of nothing means nothing.
        expected = shard.n_resamples * np.exp(-float(shard.n_segments))
        if expected > _EMPTY_RESAMPLES:
            raise InputError(
                f"{shard.n_segments} segments are too few for Poisson weights, which leave about "
                f"{expected:.1g} of {shard.n_resamples} resamples empty; give shard_sizes to "
                f"resample_shard"
            )
    if any(isinstance(metric, MeanOfRuns) for metric in shard.metrics):
        raise InputError(
            "several runs of each system need the statistics of every segment, and a Shard keeps "
            "totals only; give SegmentStatistics, or a Shard of one run"
        )
    names = distinct_names(list(shard.metrics))
    return [_drawn(shard, i, name) for i, name in enumerate(names)]


def decide(shard: Shard, options: Options, asked: Mapping[str, int]) -> Options:
    """Return the options with the resamples and the seed of a shard."""
    why = f"needs the statistics of every segment, and {MAKER.why}; leave it out"
    refuse_options(options, NO_SEGMENTS, why)
    for name, decided in (("n_resamples", shard.n_resamples), ("rng", shard.seed)):
        if name in asked and asked[name] != decided:
            raise InputError(
                "must be left out when a Shard is given: it was resampled with "
                f"{name}={decided}, got {asked[name]}",
                argument=name,
            )
    return replace(options, n_resamples=shard.n_resamples, seed=shard.seed)


MAKER = Maker(Shard, "totals", from_shards, decide)


def _drawn(shard: Shard, i: int, name: str) -> Drawn:
    """Return the scores under the i-th metric, which tables call by this name."""
    metric = shard.metrics[i]
    totals, resampled = (
        np.asarray(x[i] * shard.resolution, dtype=np.float64)
        for x in (shard.totals, shard.resampled)
    )
    scored = Scored(
        name=name,
        metric_name=metric.name,
        systems=shard.systems,
        higher_is_better=metric.higher_is_better,
        signature=MetricSignature.of(metric.signature),
        reference_label=shard.reference_labels[i],
        units=Units(shard.n_segments, shard.unit),
        bounds=metric.bounds,
        undefined=metric.undefined,
    )
    replicates = scored.check_finite(scores_of(metric, resampled), "a resample")
    scores = scored.check_finite(scores_of(metric, totals), "the corpus")
    if shard.weights == "poisson":
        _check_scale_free(metric, totals, scores, replicates, shard.n_segments)
    return Drawn(
        scored,
        scores,
        frozen(replicates),
        differing=shard.differing[i],
        n_missing=shard.missing[i] if shard.missing else None,
        weights=shard.weights,
        resolution=shard.resolution,
    )


def _check_scale_free(
    metric: Metric, totals: Floats, scores: Floats, replicates: Floats, n_segments: int
) -> None:
    """Raise where a varying number of segments would make intervals wider by over 5 %.

    A Poisson resample has N ± √N segments. To first order that adds D/√N to the standard error,
    in squares, where D is the derivative of the score by the logarithm of a factor on all totals.
    """
    doubled = metric.score(2 * totals)
    added = ((doubled - scores) / np.log(2)) ** 2 / n_segments
    if np.any(added > (1.05**2 - 1) * np.var(replicates, axis=0, ddof=1) + 1e-18):
        raise InputError(
            f"{metric.name} changes when all totals are doubled, so that Poisson weights, which "
            f"vary the number of segments, overstate its uncertainty; give shard_sizes to "
            f"resample_shard"
        )
