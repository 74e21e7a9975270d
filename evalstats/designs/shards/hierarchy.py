"""The multinomial bootstrap of N segments in two stages: over shards, then within each shard.

Of the N draws of a resample, the number that falls into each shard is multinomial(N; n_j/N), which
every shard draws alike from the seed alone. Given these numbers, each shard draws its own segments
by itself; together the rows are multinomial(N; 1/N, ..., 1/N), exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from evalstats.resampling.streams import generator, multinomial_rows

#: First words of the keys of random streams, apart from those of `resampling`.
_STAGE_ONE, _STAGE_TWO = 16, 17
#: Resamples that share a stream of the first stage.
_COUNT_ROWS = 1024
#: Weights in a batch of the second stage, and rows at most; they decide the random streams.
_BATCH_WEIGHTS = 1 << 22
_BATCH_ROWS = 128


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
) -> Iterator[tuple[slice, NDArray[np.uint8]]]:
    """Yield rows of weights of one shard's segments, with the resamples they belong to."""
    size = shard_sizes[shard]
    n_rows = max(1, min(_BATCH_ROWS, _BATCH_WEIGHTS // size))
    n_batches = -(-n_resamples // n_rows)
    draws = shard_draws(shard_sizes, shard, n_batches * n_rows, seed)
    for batch in range(n_batches):
        start, stop = batch * n_rows, (batch + 1) * n_rows
        rng = generator(seed, (_STAGE_TWO, shard), batch)
        rows = multinomial_rows(rng, draws[start:stop], size)
        stop = min(stop, n_resamples)
        yield slice(start, stop), rows[: stop - start]
