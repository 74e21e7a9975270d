"""Poisson counts from random bytes: exact in their probabilities, and in what is drawn."""

import numpy as np
import pytest
from scipy import stats

from evalstats.resampling.poisson import LARGEST, LEFT_OVER, Inversion, byte_table, poisson_counts


@pytest.mark.parametrize("mean", [0.0, 1e-300, 1e-6, 0.01, 0.25, 0.8, 0.9667, 0.9999, 1.0])
def test_bytes_and_the_rest_are_poisson(mean):
    """Shares of bytes plus shares of thresholds are the probabilities, to 2^-60."""
    table = byte_table(mean)
    counts = np.frombuffer(table.counts, dtype=np.uint8)
    assert len(counts) == 256
    left_over = np.count_nonzero(counts == LEFT_OVER) / 256
    edges = [0, *(int(t) for t in table.rest.thresholds), 2**64]
    second = np.diff(np.array(edges, dtype=object)).astype(float) / 2.0**64
    for k in range(LARGEST + 1):
        share = np.count_nonzero(counts == k) / 256
        if k < len(second):
            share += left_over * second[k]
        assert share == pytest.approx(stats.poisson.pmf(k, mean), rel=1e-10, abs=2.0**-60)
    if left_over:
        assert table.rest.counts(np.array([2**64 - 1], dtype=np.uint64))[0] <= LARGEST


def test_inversion_counts_thresholds():
    """At every threshold, one below, and for random bits."""
    parts = [3, 0, 5, 10**6, 1, 0, 2, 10**9]
    at = Inversion.of(parts).thresholds
    total = sum(parts)
    assert at.tolist() == [sum(parts[: k + 1]) * 2**64 // total for k in range(len(parts) - 1)]
    random = np.random.default_rng(1).integers(0, 1 << 64, 100, np.uint64)
    for bits in [*at.tolist(), *(at - np.uint64(1)).tolist(), *random.tolist()]:
        expected = sum(bits >= int(t) for t in at)
        assert Inversion.of(parts).counts(np.array([bits], dtype=np.uint64)).tolist() == [expected]


@pytest.mark.parametrize(
    "mean, shape", [(0.96, (30, 20_000)), (1.0, (30_000, 8)), (0.3, (21, 8)), (0.002, (9, 10**5))]
)
def test_counts_are_poisson_by_chi_square(mean, shape):
    """All cells, the first and last of each row, and the last row; false alarm 1e-4. Seed 11."""
    counts = poisson_counts(mean, np.random.default_rng(11), shape)
    assert counts.shape == shape
    for sample in (counts.ravel(), counts[:, 0], counts[:, -1], counts[-1]):
        last = int(np.flatnonzero(len(sample) * stats.poisson.sf(np.arange(-1, 9), mean) >= 5)[-1])
        if last:
            observed = np.bincount(np.minimum(sample, last), minlength=last + 1)
            shares = stats.poisson.pmf(np.arange(last), mean)
            shares = np.append(shares, 1 - shares.sum())
            assert stats.chisquare(observed, shares * len(sample)).pvalue > 1e-4


def test_left_over_bytes_are_anywhere():
    """Counts of 5 or more, which no byte means: chi-square over 64 places. Seed 12.

    False alarm 1e-4; cells of several blocks, the last of them short.
    """
    counts = poisson_counts(1.0, np.random.default_rng(12), (64, 12_345))
    assert max(byte_table(1.0).counts[: byte_table(1.0).n_owned]) == 4
    observed = np.count_nonzero(counts >= 5, axis=1)
    assert stats.chisquare(observed).pvalue > 1e-4
    assert observed.sum() == pytest.approx(counts.size * stats.poisson.sf(4, 1.0), rel=0.1)


def test_a_mean_of_zero_is_zeros():
    assert not np.any(poisson_counts(0.0, np.random.default_rng(1), (3, 1600)))
