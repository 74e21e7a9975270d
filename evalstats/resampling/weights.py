"""How rows of weights are drawn: each row says how much every segment counts in one resample.

*Row b is row b.* Rows come in batches whose sizes depend on N alone, and every batch has a random
stream of its own, keyed by the seed and the number of the batch. It is drawn from its beginning, in
steps that depend on N alone, so that neither the number of resamples nor blocks, threads, executors
or machines change a result.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from evalstats.errors import InputError, InputTypeError
from evalstats.resampling.multinomial_rows import complete, fill_poisson, mean_for, share_dropped
from evalstats.resampling.poisson import room_for
from evalstats.resampling.random_bytes import SharedBytes, random_bytes
from evalstats.resampling.row_sums import row_width
from evalstats.resampling.scratch import Scratch
from evalstats.resampling.streams import generator

# A string: NumPy loads its random numbers at the first mention, and importing us should not.
Rng: TypeAlias = "int | np.random.Generator | None"

#: Rows of one BLAS call: a multiple of what its kernels work on at once.
ROW_GROUP = 24
#: Stages: how many rows they have, and how many rows and weights of these a batch has at most. The
#: first batches are small: some hundred resamples should not wait for thousands. The last stage
#: goes on for ever; its rows are what batches divide.
#: Three megabytes of weights fit the cache that cores share. One would fit a core's own, but
#: threads that run shorter steps wait for the interpreter's lock more often.
_STAGES = (
    (1_008, 1_008, 1 << 20),
    (9_072, 4_536, 3 << 20),
    (20_160, 20_160, 3 << 20),
)
#: Weights drawn at once, where batches have more.
_DRAWN_WEIGHTS = 3 << 20
#: Rows share what each tile of segments costs besides: where N is large a batch has so many of
#: them, as long as it has no more weights than this; half a group of them at least.
_SHARING_ROWS = 168
_LARGE_BATCH_WEIGHTS = 1 << 25


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

    #: Number of the family of random streams, what no weight exceeds, and whether all rows have
    #: the same sum.
    stream: ClassVar[int]
    largest: ClassVar[int] = 255
    has_one_sum: ClassVar[bool] = True

    def first_row(self, batch: int) -> int:
        """Return where a batch begins, which is where the one before it ends."""
        return _first_row(self._batch_rows(), batch)

    def n_batches(self, n_resamples: int) -> int:
        """Return how many batches have so many rows."""
        count = 0
        for (length, *_), rows in zip(_STAGES[:-1], self._batch_rows(), strict=False):
            count += -(-min(n_resamples, length) // rows)
            n_resamples = max(0, n_resamples - length)
        return count - (-n_resamples // self._batch_rows()[-1])

    def _batch_rows(self) -> tuple[int, ...]:
        """Return the rows of a batch in each stage; they depend on the kind and on N alone."""
        return _batch_rows(self.n_segments)

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

    def _generator(self, batch: int) -> np.random.Generator:
        return generator(self.seed, (self.stream,), batch)


@lru_cache(maxsize=256)
def _batch_rows(n_segments: int) -> tuple[int, ...]:
    sharing = min(_SHARING_ROWS, _LARGE_BATCH_WEIGHTS // n_segments)
    return tuple(
        max(
            (
                rows
                for rows in range(ROW_GROUP, most + 1, ROW_GROUP)
                if rows <= max(most_weights // n_segments, sharing)
                # Two threads would take as long for three batches as for four.
                and length % rows == 0
                and length // rows != 3
            ),
            default=ROW_GROUP // 2,
        )
        for length, most, most_weights in _STAGES
    )


@lru_cache(maxsize=1024)
def _first_row(batch_rows: tuple[int, ...], batch: int) -> int:
    start = 0
    for (length, *_), rows in zip(_STAGES, batch_rows, strict=True):
        if batch * rows < length:
            break
        start += length
        batch -= length // rows
    return start + batch * rows


@dataclass(frozen=True)
class Multinomial(Weights):
    """The bootstrap (Efron, 1979): how often each segment was drawn, with replacement.

    `draws` is the sum of a row: N for the bootstrap, fewer for the m-out-of-n bootstrap (Bickel,
    Götze and van Zwet, 1997).

    The rows are exact although few indices are drawn (`multinomial_rows`). A count above 255, which
    would not fit, has probability below N/255!, or 10^-490.

    Any three rows are independent, more need not be (`random_bytes.SharedBytes`): an average over
    the rows has exactly the variance it has over independent ones.
    """

    draws: int

    stream = 0

    @property
    def total(self) -> int:
        """The sum of a row."""
        return self.draws

    def batch(self, number: int, n_rows: int, scratch: Scratch) -> NDArray[np.uint8]:
        """Return the first rows of a batch, the same bits however many are asked for."""
        n, rng = self.n_segments, self._generator(number)
        size = self.first_row(number + 1) - self.first_row(number)
        width, mean = row_width(n), mean_for(self.draws, n)
        uniform = SharedBytes(rng, size, width)
        step = min(max(1, _DRAWN_WEIGHTS // (n * uniform.unit)) * uniform.unit, size)
        # Where hardly any row is dropped, what replaces it is drawn when it is needed.
        n_dropped = share_dropped(self.draws, n) * step
        n_spare = int(n_dropped) + 4 if n_dropped >= 4 else 0
        cells = scratch.array("rows", (room_for((size + n_spare) * width),), np.uint8)
        for start in range(0, n_rows, step):
            stop = min(start + step, size)
            of_bytes = uniform.next(stop - start, n_spare, scratch)
            rows = fill_poisson(mean, of_bytes, n, rng, cells[start * width :])
            complete(rows, stop - start, self.draws, mean, n, rng, scratch)
        return cells[: n_rows * width].reshape(n_rows, width)[:, :n]


@dataclass(frozen=True)
class Halves(Weights):
    """Approximate randomisation (Noreen, 1989): 0/1 rows, which segments swap sides."""

    stream = 1
    largest = 1
    has_one_sum = False

    @property
    def total(self) -> int:
        """The largest sum of a row."""
        return self.n_segments

    def batch(self, number: int, n_rows: int, scratch: Scratch) -> NDArray[np.uint8]:
        """Return the first rows of a batch."""
        # Whole words for a row, so that it does not depend on how many are drawn.
        width = 8 * -(-self.n_segments // 64)
        bits = random_bytes(self._generator(number), (n_rows, width))
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

    def _batch_rows(self) -> tuple[int, ...]:
        """Return the rows of a batch: fewer, of 24 bytes a weight."""
        return tuple(max(1, rows // ROW_GROUP) for rows in super()._batch_rows())

    @property
    def scale(self) -> float:
        """Weights have a mean of 1."""
        return self.n_segments / self.total

    def batch(self, number: int, n_rows: int, scratch: Scratch) -> NDArray[np.int64]:
        """Return the first rows of a batch."""
        cuts = scratch.array("cuts", (n_rows, self.n_segments + 1), np.int64)
        cuts[:, 0], cuts[:, -1] = 0, self.total
        cuts[:, 1:-1] = self._generator(number).integers(
            self.total, size=(n_rows, self.n_segments - 1)
        )
        cuts.sort(axis=1)
        return np.diff(cuts, axis=1)


def batches(weights: Weights, n_resamples: int) -> Iterator[tuple[int, int, int]]:
    """Yield the number of each batch and which rows it has, ``(number, start, stop)``."""
    for number in range(weights.n_batches(n_resamples)):
        stop = min(weights.first_row(number + 1), n_resamples)
        yield number, weights.first_row(number), stop
