"""How rows of weights are drawn: each row says how much every segment counts in one resample.

*Row b is row b.* Rows come in batches whose size depends on N alone, and every batch has random
streams of its own, keyed by the seed and the number of the batch. A row consumes its own part of
each stream, so that neither the number of resamples nor blocks, threads, executors or machines
change a result.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from math import sqrt
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from evalstats.errors import InputError, InputTypeError
from evalstats.poisson import LEFT_OVER, byte_table, poisson_counts, random_bytes
from evalstats.scratch import Scratch

# A string: NumPy loads its random numbers at the first mention, and importing us should not.
Rng: TypeAlias = "int | np.random.Generator | None"

#: Weights in a batch; fixed, since batches decide the streams. A megabyte fits a core's own cache
#: and outlasts what a thread switch costs.
_BATCH_WEIGHTS = 1 << 20
#: Rows share what each tile of segments costs besides: where N is large a batch has so many of
#: them, as long as it has no more weights than this.
_SHARING_ROWS = 192
_LARGE_BATCH_WEIGHTS = 1 << 26
#: Rows of one BLAS call: a multiple of what its kernels work on at once.
ROW_GROUP = 24


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


@dataclass(frozen=True)
class Weights:
    """A recipe for rows of weights, `(B, N)`; B is up to the caller.

    Attributes
    ----------
    n_segments : int
        N, at least 1.
    seed : int
    """

    n_segments: int
    seed: int

    #: Number of the family of random streams, and what no weight exceeds.
    stream: ClassVar[int]
    largest: ClassVar[int] = 255

    @property
    def batch_rows(self) -> int:
        """Rows in a batch; depends on the kind and on N alone."""
        sharing = min(_SHARING_ROWS, _LARGE_BATCH_WEIGHTS // self.n_segments)
        rows = max(_BATCH_WEIGHTS // self.n_segments, sharing)
        return max(ROW_GROUP // 2, rows // ROW_GROUP * ROW_GROUP)

    @property
    @abstractmethod
    def total(self) -> int:
        """What every row sums to, or at most sums to."""

    @property
    def scale(self) -> float:
        """What turns the integers that are drawn into weights."""
        return 1.0

    @abstractmethod
    def batch(self, number: int, n_rows: int, scratch: Scratch) -> NDArray[Any]:
        """Return the first rows of a batch, `(n_rows, N)`; uses the scratch."""

    def _generators(self, batch: int, count: int) -> list[np.random.Generator]:
        keys = [(self.stream, batch, j) for j in range(count)]
        seeds = [np.random.SeedSequence(self.seed, spawn_key=key) for key in keys]
        return [np.random.Generator(np.random.PCG64(seed)) for seed in seeds]


@dataclass(frozen=True)
class Multinomial(Weights):
    """The bootstrap (Efron, 1979): how often each segment was drawn, with replacement.

    `draws` is the sum of a row: N for the bootstrap, fewer for the m-out-of-n bootstrap (Bickel,
    Götze and van Zwet, 1997).

    The rows are exact although no indices are drawn. Independent Poisson counts are multinomial
    given their sum m. Adding `draws - m` uniform draws makes them multinomial(draws), whatever rule
    chose m, as long as it looks at the sum alone. So: Poisson counts with a mean a little too
    small, rows whose sum is too large dropped, the others topped up. A count above 254, which
    would not fit, has probability below N/255!, or 10^-490.
    """

    draws: int

    stream = 0

    @property
    def total(self) -> int:
        """The sum of a row."""
        return self.draws

    def batch(self, number: int, n_rows: int, scratch: Scratch) -> NDArray[np.uint8]:
        """Return the first rows of a batch."""
        n, draws = self.n_segments, self.draws
        counting, resolving, adding = self._generators(number, 3)
        mean = _poisson_mean(draws, n)
        # Whole words for every row, so that a row does not depend on how many are drawn at once.
        width = 8 * -(-n // 8)
        rows = scratch.array("rows", (n_rows, width), np.uint8)
        step = max(1, _BATCH_WEIGHTS // width)
        done = 0
        while done < n_rows:
            wanted = n_rows - done
            tried = min(step, wanted + wanted // 12 + 4)
            counts = poisson_counts(mean, (tried, width), counting, resolving, scratch)
            counts[:, n:] = 0
            # The narrowest accumulator that holds the sum is the fastest: twice N is out of reach.
            narrow = np.uint16 if 2 * n < 1 << 16 else np.uint32
            missing = draws - np.add.reduce(counts, axis=1, dtype=narrow).astype(np.int64)
            good = np.flatnonzero(missing >= 0)[:wanted]
            kept = rows[done : done + len(good)]
            np.take(counts, good, axis=0, out=kept, mode="clip")
            missing = missing[good]
            drawn = adding.integers(n, size=int(missing.sum()))
            drawn += np.repeat(np.arange(len(good)) * width, missing)
            # A uint8 increment keeps NumPy on its fast path; a Python int is ten times slower.
            np.add.at(kept.reshape(-1), drawn, np.uint8(1))
            done += len(good)
        return rows[:, :n]


@cache
def _poisson_mean(draws: int, n_segments: int) -> float:
    """Return a mean that leaves few rows too large, few draws to add and few bytes left over.

    1.5 standard deviations below, 93 % of the rows survive; a little more or less costs little.
    """
    means = [
        max(0.0, (draws - deviations * sqrt(draws)) / n_segments)
        for deviations in (1.5, 1.4, 1.6, 1.3, 1.7, 1.2, 1.8)
    ]
    return min(means, key=lambda mean: byte_table(mean).counts.count(LEFT_OVER))


@dataclass(frozen=True)
class Halves(Weights):
    """Approximate randomisation (Noreen, 1989): 0/1 rows, which segments swap sides."""

    stream = 1
    largest = 1

    @property
    def total(self) -> int:
        """The largest sum of a row."""
        return self.n_segments

    def batch(self, number: int, n_rows: int, scratch: Scratch) -> NDArray[np.uint8]:
        """Return the first rows of a batch."""
        (flipping,) = self._generators(number, 1)
        bits = random_bytes(flipping, n_rows, -(-self.n_segments // 64))
        return np.unpackbits(bits, axis=1, count=self.n_segments)


@dataclass(frozen=True)
class Bayesian(Weights):
    """The Bayesian bootstrap (Rubin, 1981): gaps between sorted uniform numbers.

    Integers that sum to `total`, 2^16 to 2^17 for every segment, so that they can be counted
    exactly; a weight is off by less than 2^-15 of its mean.
    """

    stream = 2
    largest = 1 << 62

    @property
    def total(self) -> int:
        """The sum of a row."""
        return 1 << (16 + self.n_segments.bit_length())

    @property
    def batch_rows(self) -> int:
        """Rows in a batch: fewer, of 24 bytes a weight."""
        return max(1, super().batch_rows // 24)

    @property
    def scale(self) -> float:
        """Weights have a mean of 1."""
        return self.n_segments / self.total

    def batch(self, number: int, n_rows: int, scratch: Scratch) -> NDArray[np.int64]:
        """Return the first rows of a batch."""
        (cutting,) = self._generators(number, 1)
        cuts = scratch.array("cuts", (n_rows, self.n_segments + 1), np.int64)
        cuts[:, 0], cuts[:, -1] = 0, self.total
        cuts[:, 1:-1] = cutting.integers(self.total, size=(n_rows, self.n_segments - 1))
        cuts.sort(axis=1)
        return np.diff(cuts, axis=1)


def batches(weights: Weights, n_resamples: int) -> Iterator[tuple[int, int, int]]:
    """Yield the number of each batch and which rows it has, ``(number, start, stop)``."""
    size = weights.batch_rows
    for number, start in enumerate(range(0, n_resamples, size)):
        yield number, start, min(start + size, n_resamples)
