"""How rows of weights are drawn: each row says how much every segment counts in one resample.

*Row b is row b.* Rows come in batches whose sizes depend on N alone, and every batch has a random
stream of its own, keyed by the seed and the number of the batch. It is drawn as a whole, or row by
row, so that neither the number of resamples nor blocks, threads, executors or machines change a
result.
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
from evalstats.poisson import point_density, poisson_counts, random_bytes
from evalstats.scratch import Scratch

# A string: NumPy loads its random numbers at the first mention, and importing us should not.
Rng: TypeAlias = "int | np.random.Generator | None"

#: Rows of one BLAS call: a multiple of what its kernels work on at once.
ROW_GROUP = 24
#: So many rows fall into batches of equal size, and 1,000 resamples nearly fill some of them too.
_ROWS = 10_080
_BATCH_ROWS = sorted(ROW_GROUP * j for j in range(1, 421) if _ROWS % (ROW_GROUP * j) == 0)
#: Rows in each batch up to there, at most: where segments are few, some thousand resamples should
#: not wait for many more, and all threads should have some.
_EARLY_ROWS = 5_040
#: Weights in a batch. A megabyte fits a core's own cache and outlasts what a thread switch costs.
_BATCH_WEIGHTS = 1 << 20
#: Rows share what each tile of segments costs besides: where N is large a batch has so many of
#: them, as long as it has no more weights than this.
_SHARING_ROWS = 168
_LARGE_BATCH_WEIGHTS = 1 << 25
#: Rows shorter than this are summed by `einsum`, which does less for each row.
_SHORT_ROW = 400
#: Weights drawn at once: a batch, and the rows that are dropped.
_DRAWN_WEIGHTS = _BATCH_WEIGHTS + _BATCH_WEIGHTS // 4


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
        size = self.batch_rows
        early = min(size, _EARLY_ROWS)
        return min(batch, _ROWS // early) * early + max(0, batch - _ROWS // early) * size

    def n_batches(self, n_resamples: int) -> int:
        """Return how many batches have so many rows."""
        size = self.batch_rows
        early = min(size, _EARLY_ROWS)
        return -(-min(n_resamples, _ROWS) // early) + -(-max(0, n_resamples - _ROWS) // size)

    @property
    def batch_rows(self) -> int:
        """Rows in a batch, the early ones aside; depends on the kind and on N alone."""
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
        seed = np.random.SeedSequence(self.seed, spawn_key=(self.stream, batch))
        return np.random.Generator(np.random.PCG64(seed))


@cache
def _batch_rows(n_segments: int) -> int:
    sharing = min(_SHARING_ROWS, _LARGE_BATCH_WEIGHTS // n_segments)
    most = max(_BATCH_WEIGHTS // n_segments, sharing)
    return max((rows for rows in _BATCH_ROWS if rows <= most), default=ROW_GROUP // 2)


@dataclass(frozen=True)
class Multinomial(Weights):
    """The bootstrap (Efron, 1979): how often each segment was drawn, with replacement.

    `draws` is the sum of a row: N for the bootstrap, fewer for the m-out-of-n bootstrap (Bickel,
    Götze and van Zwet, 1997).

    The rows are exact although no indices are drawn. Independent Poisson counts are multinomial
    given their sum m. Adding `draws - m` uniform draws makes them multinomial(draws), whatever rule
    chose m, as long as it looks at the sum alone. So: Poisson counts with a mean a little too
    small, rows whose sum is too large dropped, the others topped up. A count above 255, which
    would not fit, has probability below N/255!, or 10^-490.
    """

    draws: int

    stream = 0

    @property
    def total(self) -> int:
        """The sum of a row."""
        return self.draws

    def batch(self, number: int, n_rows: int, scratch: Scratch) -> NDArray[np.uint8]:
        """Return the first rows of a batch, which is drawn as if all of it were asked for."""
        n, draws = self.n_segments, self.draws
        rng, (mean, tries) = self._generator(number), _poisson_mean(draws, n)
        size = self.first_row(number + 1) - self.first_row(number)
        rows = scratch.array("rows", (size, n), np.uint8)
        step = max(1, _DRAWN_WEIGHTS // n)
        done = 0
        while done < n_rows:
            wanted = size - done
            shape = min(step, int(tries * wanted) + 4), n
            counts = poisson_counts(mean, shape, rng, scratch)
            missing = draws - _row_sums(counts)
            good = np.flatnonzero(missing >= 0)[:wanted]
            kept = rows[done : done + len(good)]
            np.take(counts, good, axis=0, out=kept, mode="clip")
            missing = missing[good]
            drawn = np.repeat(np.arange(0, len(good) * n, n), missing)
            # NumPy draws small integers from fewer bits.
            drawn += rng.integers(n, size=len(drawn), dtype=np.uint16 if n < 1 << 16 else np.int64)
            # A uint8 increment keeps NumPy on its fast path; a Python int is ten times slower.
            np.add.at(kept.reshape(-1), drawn, np.uint8(1))
            done += len(good)
        return rows[:n_rows]


#: How far below the draws the sum of a row is on average, in standard deviations, and how many rows
#: are then tried for each that is not too large, with a little to spare.
_TRIES = {0.8: 1.28, 1.0: 1.2, 1.2: 1.14, 1.5: 1.085, 1.6: 1.07, 1.7: 1.06, 1.8: 1.05}


@cache
def _poisson_mean(draws: int, n_segments: int) -> tuple[float, float]:
    """Return the cheapest mean of the Poisson counts, and how many rows to try for each."""
    root = sqrt(draws)
    costs = {}
    for deviations, tries in _TRIES.items():
        mean = max(0.0, (draws - deviations * root) / n_segments)
        # Compared with a count: a cell that is overwritten, a draw that is added.
        cells = n_segments * (tries + 12 * point_density(mean))
        costs[mean, tries] = cells + 8 * root * (deviations + 2 * (tries - 1))
    return min(costs, key=costs.__getitem__)


def _row_sums(counts: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Sum the counts of each row."""
    n = counts.shape[1]
    # The narrowest accumulator that holds the sum is the fastest. Short rows fit, whatever they
    # hold; that a longer one sums to more than twice its length has probability below 10^-170.
    narrow = np.uint16 if 2 * n < 1 << 16 else np.uint32
    if n < _SHORT_ROW:
        sums: NDArray[Any] = np.einsum("ij->i", counts, dtype=narrow)
    else:
        sums = np.add.reduce(counts, axis=1, dtype=narrow)
    return sums.astype(np.int64)


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
        bits = random_bytes(self._generator(number), n_rows * width).reshape(n_rows, width)
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
        return max(1, super().batch_rows // ROW_GROUP)

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
