"""Weights by their definition in Python's integers, and in every version the same."""

import json
from pathlib import Path

import numpy as np
import pytest

from evalstats.designs.shards.resample import poisson_weights, seed_key
from evalstats.resampling.streams import LEFT_OVER, byte_table

GOLDEN = json.loads((Path(__file__).parents[1] / "golden_shards.json").read_text(encoding="utf-8"))
ONES = 0xFFFFFFFF


def u64(*values):
    return np.array(values, dtype=np.uint64)


def plain_philox(counter, key):
    """The definition, in Python's integers."""
    c, k = list(counter), list(key)
    for _ in range(10):
        left, right = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(right >> 32) ^ c[1] ^ k[0], right & ONES, (left >> 32) ^ c[3] ^ k[1], left & ONES]
        k = [(k[0] + 0x9E3779B9) & ONES, (k[1] + 0xBB67AE85) & ONES]
    return c


def test_a_weight_depends_on_seed_id_and_resample_alone():
    rng = np.random.default_rng(1)
    ids = rng.integers(0, 2**64, 30, dtype=np.uint64)
    expected = poisson_weights(ids, 333, seed=5)
    assert np.array_equal(poisson_weights(ids, 50, seed=5), expected[:50])
    order = rng.permutation(30)
    assert np.array_equal(poisson_weights(ids[order], 333, seed=5), expected[:, order])
    assert not np.array_equal(poisson_weights(ids, 333, seed=6), expected)
    # Both halves of an id count.
    other = poisson_weights(ids ^ np.uint64(1 << 40), 333, seed=5)
    assert not np.any(np.all(other == expected, axis=0))
    for first in (16, 320):
        later = poisson_weights(ids, 333 - first, seed=5, first=first)
        assert np.array_equal(later, expected[first:])


@pytest.mark.parametrize("golden", GOLDEN["poisson"], ids=lambda g: str(g["seed"]))
def test_golden_weights(golden):
    """A change of these changes everybody's results: it needs a line in the changelog."""
    weights = poisson_weights(u64(*golden["ids"]), len(golden["weights"]), golden["seed"])
    assert weights.tolist() == golden["weights"]


def test_weights_by_the_definition():
    """One byte of Philox each, in Python's integers, and 64 bits more for bytes left over."""
    seed, ids, n_resamples = 3, [5, 2**32 + 5, 2**64 - 1], 600
    key, table = seed_key(seed), byte_table(1.0)
    resolved = 0
    weights = poisson_weights(u64(*ids), n_resamples, seed)
    for j, identity in enumerate(ids):
        low, high = identity & ONES, identity >> 32
        for b in range(n_resamples):
            word = plain_philox([low, high, b // 16, 0], key)[b % 16 // 4]
            count = table.counts[word >> 8 * (b % 4) & 255]
            if count == LEFT_OVER:
                first, second, _, _ = plain_philox([low, high, b, 1], key)
                count = sum(first + (second << 32) >= int(t) for t in table.thresholds)
                resolved += 1
            assert weights[b, j] == count
    assert resolved > 5
