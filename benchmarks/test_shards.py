"""A shard's resamples against those of `estimate`: `pytest benchmarks --benchmark-only`."""

from __future__ import annotations

import numpy as np
import pytest

import evalstats as es
from evalstats.resampling.totals import bootstrap_totals

N, B, K = 100_000, 1000, 10


def ordinary(table: es.SegmentStatistics) -> None:
    """Draw multinomial weights, as `estimate` and `compare` do."""
    columns = table.values.transpose(1, 0, 2).reshape(N, -1).astype(np.float64)
    bootstrap_totals(columns, B, 1)


def poisson(table: es.SegmentStatistics) -> None:
    """Draw Poisson weights by the segments' ids."""
    es.resample_shard(table, range(N), B)


def two_stage(table: es.SegmentStatistics) -> None:
    """Draw multinomial weights of a shard that is half of the corpus."""
    es.resample_shard(table, range(N), B, shard_sizes=[N, N], shard=0)


@pytest.mark.benchmark(group=f"{B} resamples of {N} segments, {2 * K} columns")
@pytest.mark.parametrize("draw", [poisson, two_stage, ordinary])
def test_shards(benchmark, draw):
    values = np.random.default_rng(0).integers(0, 40, size=(2, N, K))
    benchmark(draw, es.SegmentStatistics(values, ["A", "B"], es.BLEU()))
