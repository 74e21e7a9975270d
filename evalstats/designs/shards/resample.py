"""Resampling where the data lives: what the weights of one shard's segments make of its totals.

Each shard draws the weights of its own segments and keeps nothing but B partial totals; their sums
over shards are the resampled totals of the whole corpus.

*Poisson weights* are a function of the seed, a segment's id and a resample's number, so that no
shard needs to know of another: the sum is the same, bit for bit, however the segments were sharded.
The words are Philox4x32-10's: a counter-based generator (Salmon, Moraes, Dror and Shaw, 2011,
"Parallel random numbers: as easy as 1, 2, 3") encrypts a counter, and any of its numbers can be had
at once, anywhere, in any order. Only the number of segments in a resample varies, N ± √N, which
scores that stay the same when all totals are doubled (a mean, a ratio, BLEU) do not notice.
*Two-stage multinomial weights* (`shard_batches`) are for the other scores and for small N: where
all shard sizes are known, they give the ordinary bootstrap of N segments. Of the N draws of a
resample, the number that falls into each shard is multinomial(N; n_j/N), which every shard draws
alike from the seed alone. Given these numbers, each shard draws its own segments by itself;
together the rows are multinomial(N; 1/N, ..., 1/N), exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalstats.checks import also_called, choice, integer, listed
from evalstats.designs.shards.shard import (
    MOST,
    UNITS,
    Ids,
    Integers,
    Shard,
    as_ids,
    as_resolution,
    joined,
)
from evalstats.errors import InputError, InputTypeError
from evalstats.resampling.streams import LEFT_OVER, byte_table, generator, multinomial_rows
from evalstats.resampling.weighted import MOST_RESAMPLES
from evalstats.resampling.weights import MOST_SEED
from evalstats.statistics.segments import SegmentStatistics, check_same_segments, missing_scores

#: The first of some segments, which resamples, and weights `(b, n)`.
Block: TypeAlias = tuple[int, slice, NDArray[np.uint8]]

#: No weight is larger: a byte holds it.
_LARGEST_WEIGHT = 255
#: Integers below it are exact in a float of 24 or 53 bits, and so are sums that stay below.
_SINGLE_LIMIT = 2.0**24
_DOUBLE_LIMIT = 2.0**53
#: Segments and resamples that are multiplied at once; they decide the memory, never a result.
_SEGMENTS, _RESAMPLES = 1024, 256
#: First words of the keys of random streams, apart from those of `resampling`.
_STAGE_ONE, _STAGE_TWO = 16, 17
#: Resamples that share a stream of the first stage.
_COUNT_ROWS = 1024
#: Weights in a batch of the second stage, and rows at most; they decide the random streams.
_BATCH_WEIGHTS = 1 << 22
_BATCH_ROWS = 128
#: Resamples that one block of Philox, 16 bytes, serves.
GROUP = 16
#: The last word of the counter: what the random words are for.
_BYTES, _SECOND = 0, 1
#: Words are 32-bit numbers in 64-bit arrays, which hold their products whole.
Words: TypeAlias = NDArray[np.uint64]
Key: TypeAlias = tuple[int, int]
_MULTIPLIERS = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
#: Added to the key after each round: the golden ratio and √3 - 1, in units of 2**-32.
_KEY_STEPS = (0x9E3779B9, 0xBB67AE85)
_HALF, _LOW = np.uint64(32), np.uint64(0xFFFFFFFF)


@also_called(seed="rng")
def resample_shard(
    statistics: SegmentStatistics | Sequence[SegmentStatistics],
    ids: Iterable[int] | Iterable[str] | tuple[str, int],
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
    ids : sequence of int or of str, or tuple of str and int
        A different id for each segment of the *whole* corpus: integers in [0, 2**64), or strings,
        of which 64 bits of BLAKE2b are kept. A `range` is the cheapest. Of a table without ids a
        pair `(file, row)`: the name of a file, a different one for each, and the number of the
        first of the N rows in it.
    n_resamples, rng : int
        B, at least 2, and the seed; the same for all shards.
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
    Sums are of integers, and exact: all shards have one grid, known beforehand, and rounding to it
    moves a mean by at most half of `resolution`. With Poisson weights the replicates do not depend
    on the sharding; with two-stage weights their distribution does not, that of the bootstrap.

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
    seed = integer(rng, "rng", 0, MOST_SEED)
    choice(unit, UNITS, "unit")
    sizes, members = _as_sizes(shard_sizes, shard, n_segments)
    numbers, id_kind = as_ids(ids, n_segments)
    grid = 1.0 if resolution is None else as_resolution(resolution)
    totals = tuple(_observed(table, grid, rounds=resolution is not None) for table in tables)
    if sizes:
        blocks = shard_batches(sizes, members[0], n_resamples, seed)
    else:
        blocks = _by_segments(numbers, n_resamples, seed)
    ends = np.cumsum([observed.size for observed in totals])
    added = np.zeros((n_resamples, ends[-1]), dtype=np.int64)
    # Those of two stages come back to every segment.
    product = lru_cache(maxsize=None if sizes else 1)(partial(_product, tables, grid))
    for start, rows, weights in blocks:
        added[rows] += product(start)(weights)
    resampled = [
        np.ascontiguousarray(part).reshape(n_resamples, *observed.shape)
        for part, observed in zip(np.split(added, ends[:-1], axis=1), totals, strict=True)
    ]
    return Shard(
        systems=tables[0].systems,
        metrics=tuple(table.metric for table in tables),
        reference_labels=tuple(table.reference_label for table in tables),
        n_segments=n_segments,
        totals=totals,
        resampled=tuple(resampled),
        differing=tuple(_differing(table) for table in tables),
        id_runs=joined(np.repeat(np.sort(numbers)[:, None], 2, axis=1)),
        id_kind=id_kind,
        seed=seed,
        n_resamples=n_resamples,
        unit=unit,
        resolution=grid,
        shard_sizes=sizes,
        shards=members,
        missing=tuple(missing_scores(table.metric, table.values) for table in tables),
    )


def _by_segments(ids: Ids, n_resamples: int, seed: int) -> Iterator[Block]:
    """Yield Poisson weights, all resamples of some segments before the next segments."""
    for start in range(0, len(ids), _SEGMENTS):
        some = ids[start : start + _SEGMENTS]
        for first in range(0, n_resamples, _RESAMPLES):
            stop = min(first + _RESAMPLES, n_resamples)
            yield start, slice(first, stop), poisson_weights(some, stop - first, seed, first)


def _product(
    tables: Sequence[SegmentStatistics], resolution: float, start: int
) -> Callable[[NDArray[np.uint8]], Integers]:
    """Return weights times the statistics of the segments from one on, exact, as a function."""
    segments = slice(start, start + _SEGMENTS)
    block = np.concatenate([_units(table, segments, resolution) for table in tables], axis=1)
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
    for start in range(0, table.n_segments, _SEGMENTS):
        segments = slice(start, start + _SEGMENTS)
        # A power of two divides floats without rounding; what overflows is too large.
        with np.errstate(over="ignore"):
            values = table.values[:, segments].astype(np.float64) / resolution
            magnitude += np.sum(np.abs(values), axis=1)
        if np.any(_LARGEST_WEIGHT * magnitude >= MOST):
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
                f"example 2**-20, and all are rounded to multiples of it"
            )
        totals += np.sum(_units(table, segments, resolution), axis=0).reshape(totals.shape)
    return totals


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
    given = listed(shard_sizes, "shard_sizes", "sizes")
    sizes = tuple(integer(size, f"shard_sizes[{i}]", 1) for i, size in enumerate(given))
    if not sizes:
        raise InputError("shard_sizes is empty; give the sizes of all shards")
    number = integer(shard, "shard", 0, len(sizes) - 1)
    if sizes[number] != n_segments:
        raise InputError(
            f"shard_sizes[{number}] is {sizes[number]} but statistics has {n_segments} segments"
        )
    return sizes, (number,)


def _differing(table: SegmentStatistics) -> Integers:
    """Count the segments on which two systems differ, for all pairs, `(S, S)`."""
    counts = np.zeros((len(table.systems), len(table.systems)), dtype=np.int64)
    for a, b in combinations(range(len(table.systems)), 2):
        differs = np.any(table.values[a] != table.values[b], axis=1)
        counts[a, b] = counts[b, a] = np.count_nonzero(differs)
    return counts


def shard_draws(
    shard_sizes: Sequence[int], shard: int, n_resamples: int, seed: int
) -> NDArray[np.int64]:
    """Return how many of the N draws of each resample fall into one shard, `(B,)`.

    Conditional binomials from the first shard on: the numbers of all shards add up to N.

    >>> draws = [shard_draws([5, 20, 10], j, 4, seed=1) for j in range(3)]
    >>> sum(draws).tolist()
    [35, 35, 35, 35]
    """
    n_segments = sum(shard_sizes)
    batches = []
    for batch in range(-(-n_resamples // _COUNT_ROWS)):
        rng = generator(seed, (_STAGE_ONE,), batch)
        to_draw = np.full(_COUNT_ROWS, n_segments)
        to_come = n_segments
        for size in shard_sizes[: shard + 1]:
            drawn = rng.binomial(to_draw, size / to_come)
            to_draw -= drawn
            to_come -= size
        batches.append(drawn)
    return np.concatenate(batches)[:n_resamples]


def shard_batches(
    shard_sizes: Sequence[int], shard: int, n_resamples: int, seed: int
) -> Iterator[Block]:
    """Yield two-stage weights, all segments of some resamples before the next resamples."""
    size = shard_sizes[shard]
    n_rows = max(1, min(_BATCH_ROWS, _BATCH_WEIGHTS // size))
    n_batches = -(-n_resamples // n_rows)
    draws = shard_draws(shard_sizes, shard, n_batches * n_rows, seed)
    for batch in range(n_batches):
        start, stop = batch * n_rows, (batch + 1) * n_rows
        rng = generator(seed, (_STAGE_TWO, shard), batch)
        rows = multinomial_rows(rng, draws[start:stop], size)
        stop = min(stop, n_resamples)
        for first in range(0, size, _SEGMENTS):
            of_block = rows[: stop - start, first : first + _SEGMENTS]
            yield first, slice(start, stop), of_block


def poisson_weights(
    ids: NDArray[np.uint64], n_resamples: int, seed: int, first: int = 0
) -> NDArray[np.uint8]:
    """Draw Poisson(1) weights of segments by their ids, `(n,) -> (B, n)`.

    Of B resamples from the `first` on, a multiple of 16; all numbers of resamples are below 2**32.
    The weight of a segment in a resample is a function of the seed, the segment's id and the
    number of the resample, and of nothing else: neither of the other segments, nor of their
    order, nor of B. The counter of Philox is (id mod 2**32, id // 2**32, b // 16, 0), whose 16
    bytes, in little-endian order, serve 16 resamples; a byte left over is resolved by the first
    64 bits of the counter (id mod 2**32, id // 2**32, b, 1).

    >>> weights = poisson_weights(np.arange(5, dtype=np.uint64), 4, seed=12345)
    >>> alone = poisson_weights(np.array([3], dtype=np.uint64), 4, seed=12345)
    >>> weights.shape, np.array_equal(weights[:, 3], alone[:, 0])
    ((4, 5), True)
    """
    key, table = seed_key(seed), byte_table(1.0)
    low, high = ids & np.uint64(0xFFFFFFFF), ids >> np.uint64(32)
    groups = np.arange(first // GROUP, -(-(first + n_resamples) // GROUP), dtype=np.uint64)
    counter = (low[:, None], high[:, None], groups, _BYTES)
    little = np.empty((len(ids), len(groups), 4), dtype="<u4")
    for i, word in enumerate(philox4x32(counter, key)):
        little[..., i] = word
    # `translate` looks a byte up three times as fast as NumPy's indexing does.
    drawn = bytearray(little.data).translate(table.counts)
    counts = np.frombuffer(drawn, dtype=np.uint8)
    left_over = np.flatnonzero(counts == LEFT_OVER)
    segment, resample = np.divmod(left_over, GROUP * len(groups))
    again = (low[segment], high[segment], first + resample, _SECOND)
    bits, more, _, _ = philox4x32(again, key)
    counts[left_over] = table.left_over(bits | (more << np.uint64(32)))
    return np.asarray(counts.reshape(len(ids), -1).T[:n_resamples])


def seed_key(seed: int) -> Key:
    """Return the key that a seed of any size stands for, two 32-bit words."""
    first, second = np.random.SeedSequence(seed).generate_state(2, np.uint32)
    return int(first), int(second)


def philox4x32(
    counter: tuple[ArrayLike, ArrayLike, ArrayLike, ArrayLike], key: Key
) -> tuple[Words, Words, Words, Words]:
    """Encrypt counters: four words each in, four random words each out, all in [0, 2**32).

    The counters' words may be arrays of shapes that broadcast. The first known answer of the
    authors' own tests:

    >>> [f"{int(word):08x}" for word in philox4x32((0, 0, 0, 0), (0, 0))]
    ['6627e8d5', 'e169c58d', 'bc57ac4c', '9b00dbd8']
    """
    words = np.broadcast_arrays(*counter)
    a, b, c, d = (np.array(word, dtype=np.uint64) for word in words)
    high = np.empty_like(a)
    keys = list(key)
    # Ten passes over each array a round, in place. The low halves of b and d are all that counts
    # between rounds; what is above them is cut off where it would reach a product.
    for _ in range(10):
        a *= _MULTIPLIERS[0]
        c *= _MULTIPLIERS[1]
        for product, word, k in ((c, b, keys[0]), (a, d, keys[1])):
            np.right_shift(product, _HALF, out=high)
            word ^= high
            word ^= np.uint64(k)
            word &= _LOW
        a, b, c, d = b, c, d, a
        keys = [(k + step) & 0xFFFFFFFF for k, step in zip(keys, _KEY_STEPS, strict=True)]
    b &= _LOW
    d &= _LOW
    return a, b, c, d
