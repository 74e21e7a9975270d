"""Rows of weights, and the totals they give: `weights @ statistics`, `(B, N) @ (N, k) -> (B, k)`.

A resample is a row of weights. Multinomial rows are the bootstrap (Efron, 1979): how often each
segment was drawn. 0/1 rows are approximate randomisation (Noreen, 1989): which segments swap
their outputs between two systems. One matrix serves every system and every metric of a call, so
all comparisons are paired by construction.

Two promises hold for everything here. *Counting is exact*: statistics lie on a grid on which all
sums are exact in floating point, so that a total does not depend on the order of summation.
*Row b is row b*: each batch of rows has a random stream of its own, keyed by the seed and the
batch's number, so that block size, thread count and machine do not change a result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from evalstats.errors import InputError, InputTypeError
from evalstats.metrics.base import integer

#: Sums of integers are exact in a float of p bits while all of them stay below 2**p.
_SINGLE_LIMIT = float(2**24)
_DOUBLE_BITS = 53
#: Weights in a batch, and rows at most; fixed numbers, since batches decide the random streams.
_BATCH_WEIGHTS = 1 << 18
_BATCH_ROWS = 128
#: More resamples than this settle nothing that fewer would not.
MOST_RESAMPLES = 10_000_000
#: Bootstrap weights, of one byte each, kept for the next call with the same segments, resamples
#: and seed: a notebook or a training loop asks again and again. At most two matrices of at most
#: this size are kept; 0 keeps none.
KEPT_WEIGHTS = 1 << 25
#: The byte that stands for no count yet.
_LEFT_OVER = 255
#: Weights in a block; decides the peak memory (five or nine bytes a weight), never a result.
_BLOCK_WEIGHTS = 1 << 23

# Strings: NumPy loads its random numbers at the first mention, and importing us should not.
Rng: TypeAlias = "int | np.random.Generator | None"
_Draw: TypeAlias = "Callable[[np.random.Generator, int, int], NDArray[np.uint8]]"


def as_seed(rng: Rng) -> int:
    """Return a seed: the int itself, a draw from the generator, or fresh entropy for `None`.

    The seed goes into the signature of a result, so that it can be made again even when the
    randomness came from a generator or from the operating system.
    """
    if rng is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint64)[0] >> np.uint64(1))
    if isinstance(rng, np.random.Generator):
        return int(rng.integers(2**63))
    if isinstance(rng, (bool, np.bool_)) or not isinstance(rng, (int, np.integer)):
        raise InputTypeError(
            f"rng must be an int, a numpy.random.Generator or None, got {type(rng).__name__}"
        )
    if rng < 0:
        raise InputError(f"rng must be a non-negative int, got {rng}")
    return int(rng)


def bootstrap_weights(n_segments: int, n_resamples: int, rng: Rng = 12345) -> NDArray[np.int64]:
    """Draw bootstrap resamples as rows of multinomial weights, `(B, N)`.

    Row b says how often each of the N segments was drawn, with replacement, in resample b; every
    row sums to N. The same `n_segments` and the same seed give the same rows in every call, the
    rows that `estimate` and `compare` use, so that systems evaluated on different days stay paired.

    Parameters
    ----------
    n_segments : int
        N, at least 1.
    n_resamples : int
        B, at least 1.
    rng : int or numpy.random.Generator, optional
        Seed or generator; `None` asks for fresh entropy.

    Returns
    -------
    ndarray of int64, shape (B, N)

    Raises
    ------
    InputError
        For a count below 1 or a negative seed.

    References
    ----------
    Efron (1979), "Bootstrap methods: another look at the jackknife".

    Examples
    --------
    >>> weights = bootstrap_weights(n_segments=5, n_resamples=1000, rng=1)
    >>> weights.shape, set(weights.sum(axis=1).tolist())
    ((1000, 5), {5})
    """
    n_segments = integer(n_segments, "n_segments", 1)
    n_resamples = integer(n_resamples, "n_resamples", 1, MOST_RESAMPLES)
    weights = np.empty((n_resamples, n_segments), dtype=np.int64)
    start = 0
    for rows in _batches(_multinomial, 0, n_segments, n_resamples, as_seed(rng)):
        weights[start : start + len(rows)] = rows
        start += len(rows)
    return weights


def bootstrap_totals(
    statistics: NDArray[np.float64], n_resamples: int, seed: int, *, block_rows: int | None = None
) -> NDArray[np.float64]:
    """Sum statistics over each of B bootstrap resamples, `(N, k) -> (B, k)`.

    Parameters
    ----------
    statistics : ndarray, shape (N, k)
        On the grid of `exact_grid`.
    n_resamples, seed : int
        As in `bootstrap_weights`, whose rows these are.
    block_rows : int, optional
        Rows processed at a time; bounds the memory and changes no bit of the result.
    """
    batches = _bootstrap_batches(len(statistics), n_resamples, seed)
    return _totals(batches, statistics, n_resamples, block_rows)


def bootstrap_errors(
    statistics: NDArray[np.float64], gradients: NDArray[np.float64], seed: int
) -> NDArray[np.float64]:
    """Return the standard error of a score within each bootstrap resample, `(B,)`.

    √(N/(N-1) Σ_i w_i (z_i - z̄)²) with the influence values z_i = ∇f(T*)·s_i of the resample, the
    weights being those of `bootstrap_totals`.

    Parameters
    ----------
    statistics : ndarray, shape (N, k)
    gradients : ndarray, shape (B, k)
        Gradient of the score at the totals of each resample.
    seed : int
    """
    n_segments, n_resamples = len(statistics), len(gradients)
    errors = np.empty(n_resamples)
    start = 0
    for weights in _bootstrap_batches(n_segments, n_resamples, seed):
        stop = start + len(weights)
        influence = gradients[start:stop] @ statistics.T
        influence -= (np.einsum("bn,bn->b", weights, influence) / n_segments)[:, None]
        squares = np.einsum("bn,bn,bn->b", weights, influence, influence)
        errors[start:stop] = np.sqrt(n_segments / (n_segments - 1) * squares)
        start = stop
    return errors


def swap_totals(
    statistics: NDArray[np.float64], n_resamples: int, seed: int, *, block_rows: int | None = None
) -> NDArray[np.float64]:
    """Sum statistics over B random halves of the segments, `(N, k) -> (B, k)`.

    Each segment is in a half with probability 1/2. With systems A and B stacked in the columns,
    `total_A - half_A + half_B` is the total of A after the segments of that half were swapped.
    """
    batches = _batches(_coin_flips, 1, len(statistics), n_resamples, seed)
    return _totals(batches, statistics, n_resamples, block_rows)


def all_swap_totals(statistics: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum statistics over all 2^n subsets of n segments, `(n, k) -> (2^n, k)`."""
    totals = np.zeros((1, statistics.shape[1]))
    for row in statistics:
        # Every subset so far, without this segment and with it.
        totals = np.concatenate([totals, totals + row])
    return totals


def exact_grid(statistics: NDArray[np.generic]) -> NDArray[np.float64]:
    """Round statistics to a grid on which sums over N weights are exact, `(N, k) -> (N, k)`.

    Integers are already on it. Other columns are rounded to multiples of a power of two chosen so
    that N times the largest value still has 53 bits: no value moves by more than N·2^-53 of the
    largest in its column, what one ordinary summation may err by, and no sum depends on its order.
    """
    values = np.array(statistics, dtype=np.float64)
    bound = len(values) * np.max(np.abs(values), axis=0, initial=0.0)
    bits = np.frexp(bound)[1]
    if np.any((bits > _DOUBLE_BITS) & np.all(values == np.rint(values), axis=0)):
        raise InputError(
            "statistics are too large: sums of integers beyond 2**53 cannot be counted exactly"
        )
    for j in range(values.shape[1]):
        if np.any(values[:, j] != np.rint(values[:, j])):
            # Columns of huge or tiny numbers keep their own scale.
            step = np.ldexp(1.0, int(bits[j]) - _DOUBLE_BITS)
            values[:, j] = np.rint(values[:, j] / step) * step
    return values


def _totals(
    batches: Iterator[NDArray[np.uint8]],
    statistics: NDArray[np.float64],
    n_resamples: int,
    block_rows: int | None,
) -> NDArray[np.float64]:
    n_segments, n_columns = statistics.shape
    if block_rows is None:
        block_rows = max(1, _BLOCK_WEIGHTS // n_segments)
        block_rows = min(block_rows, max(_BATCH_ROWS, 2 * n_batch_rows(n_segments)))
    product = _ExactProduct(statistics)
    totals = np.empty((n_resamples, n_columns))
    start = 0
    for block in _regroup(batches, block_rows, n_segments):
        totals[start : start + len(block)] = product(block)
        start += len(block)
    return totals


class _ExactProduct:
    """Weights times statistics, exact, in float32 wherever that can be proved.

    No partial sum of nonnegative integers exceeds the final one, so a float32 product is exact
    when every total it gave is below 2**24. Otherwise the block is done again in float64.
    """

    def __init__(self, statistics: NDArray[np.float64]) -> None:
        self._double = statistics
        countable = np.all(statistics >= 0) and np.all(statistics == np.rint(statistics))
        small = countable and np.max(statistics, initial=0.0) < _SINGLE_LIMIT
        self._single = statistics.astype(np.float32) if small else None

    def __call__(self, weights: NDArray[np.uint8]) -> NDArray[np.floating]:
        if self._single is not None:
            totals = weights.astype(np.float32) @ self._single
            if np.max(totals, initial=0.0) < _SINGLE_LIMIT:
                return totals
        return weights.astype(np.float64) @ self._double


def n_batch_rows(n_segments: int) -> int:
    """Return how many rows share a random stream; depends on N alone."""
    return max(1, min(_BATCH_ROWS, _BATCH_WEIGHTS // n_segments))


def _batches(
    draw: _Draw, stream: int, n_segments: int, n_resamples: int, seed: int
) -> Iterator[NDArray[np.uint8]]:
    """Yield rows of weights, batch by batch, B rows in all; batch i has a stream of its own."""
    rows = n_batch_rows(n_segments)
    for i, start in enumerate(range(0, n_resamples, rows)):
        key = np.random.SeedSequence(seed, spawn_key=(stream, i))
        batch = draw(np.random.Generator(np.random.PCG64(key)), rows, n_segments)
        yield batch[: n_resamples - start]


def _bootstrap_batches(n_segments: int, n_resamples: int, seed: int) -> Iterator[NDArray[np.uint8]]:
    """Yield bootstrap weights batch by batch, from memory where they are kept."""
    if n_segments * n_resamples <= KEPT_WEIGHTS:
        return iter(_kept_weights(n_segments, n_resamples, seed))
    return _batches(_multinomial, 0, n_segments, n_resamples, seed)


@lru_cache(maxsize=2)
def _kept_weights(n_segments: int, n_resamples: int, seed: int) -> tuple[NDArray[np.uint8], ...]:
    """Draw all bootstrap weights, or return those that were drawn for the last calls."""
    return tuple(_batches(_multinomial, 0, n_segments, n_resamples, seed))


def _regroup(
    batches: Iterator[NDArray[np.uint8]], block_rows: int, n_segments: int
) -> Iterator[NDArray[np.uint8]]:
    """Yield the same rows in blocks of `block_rows` (the last may be shorter)."""
    held = np.empty((0, n_segments), dtype=np.uint8)
    for batch in batches:
        held = np.concatenate([held, batch]) if len(held) else batch
        while len(held) >= block_rows:
            yield held[:block_rows]
            held = held[block_rows:]
    if len(held):
        yield held


def _coin_flips(rng: np.random.Generator, n_rows: int, n_segments: int) -> NDArray[np.uint8]:
    """Draw 0/1 rows, each entry 1 with probability 1/2."""
    n_bytes = -(-n_segments // 8)
    bits = np.frombuffer(_random_bytes(rng, n_rows * n_bytes), np.uint8, n_rows * n_bytes)
    return np.unpackbits(bits.reshape(n_rows, n_bytes), axis=1, count=n_segments)


def _random_bytes(rng: np.random.Generator, n: int) -> bytearray:
    """Draw at least n random bytes: five times as fast as `Generator.bytes`, by 64 bits each."""
    words = rng.integers(0, 2**64, size=-(-n // 8), dtype=np.uint64)
    return bytearray(words.astype("<u8", copy=False).data)


def _multinomial(rng: np.random.Generator, n_rows: int, n_segments: int) -> NDArray[np.uint8]:
    """Draw rows of multinomial(N; 1/N, ..., 1/N) weights exactly, without drawing N indices a row.

    Independent Poisson counts are multinomial given their sum m. Adding N - m uniform draws makes
    them multinomial(N), whatever rule chose m, as long as it looks at the sum alone. So: Poisson
    counts with a mean a little below 1, rows whose sum exceeds N dropped, the others topped up.
    Several times as fast as drawing indices (`benchmarks/test_resampling.py`). A count above 254,
    which would not fit, has probability below N/255!, or 10^-490.
    """
    # 1.5 standard deviations below 1, 93 % of the rows survive.
    mean = max(0.0, 1.0 - 1.5 / np.sqrt(n_segments))
    rows = np.empty((0, n_segments), dtype=np.uint8)
    missing = np.empty(0, dtype=np.int64)
    while len(rows) < n_rows:
        wanted = n_rows - len(rows)
        counts = _poisson(rng, mean, (wanted + wanted // 10 + 1, n_segments))
        # A uint32 accumulator is twice as fast as an int64 one, and holds 255 * 16 million.
        short = n_segments - counts.sum(axis=1, dtype=np.uint32).astype(np.int64)
        rows = np.concatenate([rows, counts[short >= 0]])
        missing = np.concatenate([missing, short[short >= 0]])
    rows, missing = rows[:n_rows], missing[:n_rows]
    drawn = rng.integers(n_segments, size=int(missing.sum()))
    drawn += np.repeat(np.arange(n_rows) * n_segments, missing)
    # A uint8 increment keeps NumPy on its fast path; a Python int is ten times slower.
    np.add.at(rows.reshape(-1), drawn, np.uint8(1))
    return rows


def _poisson(rng: np.random.Generator, mean: float, shape: tuple[int, int]) -> NDArray[np.uint8]:
    """Draw Poisson counts from one random byte each, exactly.

    Of the 256 values of a byte, count k owns floor(256 p_k); the few left over stand for
    the remaining probability and are resolved by a second, exact draw.
    """
    table, residual = _poisson_table(mean)
    size = shape[0] * shape[1]
    # `translate` looks a byte up three times as fast as NumPy's indexing does.
    counts = np.frombuffer(_random_bytes(rng, size).translate(table), np.uint8, size)
    left_over = np.flatnonzero(counts == _LEFT_OVER)
    uniform = rng.random(len(left_over)) * residual[-1]
    counts[left_over] = np.searchsorted(residual, uniform, side="right")
    return counts.reshape(shape)


@cache
def _poisson_table(mean: float) -> tuple[bytes, NDArray[np.float64]]:
    """Return the count of each byte, and the cumulated probabilities of those left over.

    Counts beyond 63 are left out: their probability is below 10^-89 for a mean of at most 1.
    """
    terms = [np.exp(-mean)]
    for k in range(1, 64):
        terms.append(terms[-1] * mean / k)
    shares = 256 * np.array(terms) / np.sum(terms)
    owned = np.floor(shares)
    table = np.full(256, _LEFT_OVER, dtype=np.uint8)
    given = np.repeat(np.arange(64), owned.astype(np.int64))
    table[: len(given)] = given
    return table.tobytes(), np.cumsum(shares - owned)
