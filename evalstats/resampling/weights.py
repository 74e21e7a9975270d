"""How rows of weights are drawn: a row has the weight of each segment in one resample.

Row b is always the same, and independent of other rows. Rows are drawn in batches whose size
depends only on the kind of weights and on N, and each batch has its own random stream, keyed by the
seed, the kind and the number of the batch. So a row does not depend on the number of resamples,
blocks, threads, executors or machines.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from evalstats.checks import shown
from evalstats.errors import InputError, InputTypeError
from evalstats.resampling.streams import generator, multinomial_rows

# A string, because NumPy loads its random module on first use, and our import should not.
Rng: TypeAlias = "int | np.random.Generator | None"

#: Positions in a row: a slice is not copied.
Places: TypeAlias = "NDArray[np.intp] | slice"

#: The largest seed: more bits are not needed, and signatures and files contain the seed.
MOST_SEED = 2**128 - 1
#: Rows of one BLAS call; a batch has a multiple of this number, so that every call is full.
ROW_GROUP = 24
#: Number of batches kept for the next product with the same rows, and their maximum number of
#: segments, a megabyte. For four systems, drawing them again for max-T takes 1.4 times as long.
_MOST_KEPT, _LARGEST_KEPT = 32, 1 << 15
#: Maximum number of weights of strata of one size together.
TOGETHER = 1 << 19
#: Minimum number of weights in a batch of strata, and per size on average, because each size is a
#: call.
_STRATA_WEIGHTS, _SIZE_WEIGHTS = 1 << 21, 1 << 16
#: Maximum number of rows in a batch, so that few resamples of few segments are fast.
_MOST_ROWS = 85 * ROW_GROUP


def as_seed(rng: Rng) -> int:
    """Return a seed: the int itself, a draw from the generator, or fresh entropy for `None`."""
    if rng is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint64)[0] >> np.uint64(1))
    if isinstance(rng, np.random.Generator):
        return int(rng.integers(2**63))
    if isinstance(rng, (bool, np.bool_)) or not isinstance(rng, (int, np.integer)):
        raise InputTypeError(
            f"must be an int, a numpy.random.Generator or None, got {type(rng).__name__}",
            argument="rng",
        )
    if rng < 0:
        raise InputError(f"must be a non-negative int, got {shown(rng)}", argument="rng")
    if rng > MOST_SEED:
        raise InputError(f"must be below 2**128, got {shown(rng)}", argument="rng")
    return int(rng)


@dataclass(frozen=True)
class Weights:
    """A recipe for rows of weights of N segments, `(B, N)`, for any B."""

    n_segments: int
    seed: int

    #: First word of the key of the random streams, the largest weight, and weights in a batch.
    stream: ClassVar[int]
    largest: ClassVar[int] = 255
    batch_weights: ClassVar[int] = 1 << 20

    @property
    def batch_rows(self) -> int:
        """Return the rows of a batch."""
        n_groups = max(1, self.batch_weights // (ROW_GROUP * self.n_segments))
        return min(ROW_GROUP * n_groups, _MOST_ROWS)

    def n_batches(self, n_resamples: int) -> int:
        """Return the number of batches for a number of rows."""
        return -(-n_resamples // self.batch_rows)

    def batch(self, number: int) -> NDArray[Any]:
        """Return the rows of a batch, `(batch_rows, N)`."""
        return self.draw(generator(self.seed, (self.stream,), number))

    @abstractmethod
    def draw(self, rng: np.random.Generator) -> NDArray[Any]:
        """Draw the rows of a batch."""


@dataclass(frozen=True)
class Multinomial(Weights):
    """The bootstrap (Efron, 1979): the number of times each segment was drawn, with replacement."""

    stream = 0

    def draw(self, rng: np.random.Generator) -> NDArray[np.uint8]:
        """Draw the rows of a batch."""
        return multinomial_rows(rng, self.batch_rows, self.n_segments, self.n_segments)


def places_of(codes: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """Return the segments of each stratum, T arrays, from the stratum of each segment, `(N,)`."""
    order = np.argsort(codes, kind="stable")
    return np.split(order, np.cumsum(np.bincount(codes))[:-1])


def alike(sizes: Sequence[int], most: int) -> list[list[int]]:
    """Return the numbers of strata of one size, up to `most` units together, or one alone.

    >>> alike([3, 5, 3, 3], most=6)
    [[0, 2], [3], [1]]
    """
    of_size: dict[int, list[int]] = {}
    for t, n in enumerate(sizes):
        of_size.setdefault(n, []).append(t)
    lists = []
    for n, members in of_size.items():
        step = max(1, most // n)
        lists += [members[i : i + step] for i in range(0, len(members), step)]
    return lists


def joined(places: Sequence[NDArray[np.intp]]) -> Places:
    """Return the positions of strata one after the other, as a slice if they are contiguous."""
    sequence = np.concatenate(places)
    is_run = sequence[-1] - sequence[0] + 1 == len(sequence) and np.all(np.diff(sequence) == 1)
    return slice(int(sequence[0]), int(sequence[-1]) + 1) if is_run else sequence


@dataclass(frozen=True, eq=False)
class Stratified(Weights):
    """The bootstrap within strata (domains, languages): each stratum keeps its own size.

    A row is multinomial in each stratum, with as many draws as segments. `codes` `(N,)` are the
    strata of the segments, from 0, without gaps. Strata of one size are drawn in one call.
    """

    codes: NDArray[np.intp]

    stream = 0

    @cached_property
    def batch_rows(self) -> int:
        """Return the number of rows in a batch, large enough that a call draws many weights."""
        n_sizes = len(np.unique(np.bincount(self.codes)))
        n_weights = max(_STRATA_WEIGHTS, n_sizes * _SIZE_WEIGHTS)
        return min(ROW_GROUP * max(1, n_weights // (ROW_GROUP * self.n_segments)), _MOST_ROWS)

    @cached_property
    def together(self) -> list[tuple[int, int, Places]]:
        """The strata drawn in one call: their number, their size, and their positions."""
        strata = places_of(self.codes)
        lists = alike([len(places) for places in strata], TOGETHER // self.batch_rows)
        return [(len(x), len(strata[x[0]]), joined([strata[t] for t in x])) for x in lists]

    def draw(self, rng: np.random.Generator) -> NDArray[np.uint8]:
        """Draw the rows of a batch."""
        n_rows = self.batch_rows
        rows = np.empty((n_rows, self.n_segments), dtype=np.uint8)
        for n_strata, n, places in self.together:
            drawn = multinomial_rows(rng, n_rows * n_strata, n, n)
            rows[:, places] = drawn.reshape(n_rows, -1)
        return rows


@lru_cache(maxsize=_MOST_KEPT)
def _kept(weights: Multinomial, number: int) -> NDArray[Any]:
    rows = weights.batch(number)
    rows.setflags(write=False)
    return rows


def batches(
    weights: Weights, n_resamples: int, numbers: range | None = None
) -> Iterator[tuple[slice, NDArray[Any]]]:
    """Yield rows of weights, `(R, N)`, and the numbers of their resamples; some batches, or all."""
    n_batches = weights.n_batches(n_resamples)
    # All rows of a call are kept, or none: with more batches, none would be used again.
    is_small = n_batches <= _MOST_KEPT and weights.n_segments <= _LARGEST_KEPT
    keep = is_small and isinstance(weights, Multinomial)
    for number in range(n_batches) if numbers is None else numbers:
        start = number * weights.batch_rows
        stop = min(start + weights.batch_rows, n_resamples)
        rows = _kept(weights, number) if keep else weights.batch(number)
        yield slice(start, stop), rows[: stop - start]
