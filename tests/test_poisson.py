"""Poisson counts from bytes and points: exact in their probabilities, and in what is drawn."""

import math

import numpy as np
import pytest
from scipy import stats

from evalstats.resampling import poisson
from evalstats.resampling.poisson import LARGEST, Inversion, byte_code, poisson_counts, room_for
from evalstats.resampling.random_bytes import random_bytes

MEANS = [1e-6, 0.01, 0.25, 0.8, 0.9667, 0.9999, 1.0]


def point_density(mean):
    """Return how many points there are for each cell."""
    return poisson._rest(mean, byte_code(mean).formula.seats)[1] / poisson._ONE


def probabilities(inversion):
    """Return the probability of 0, 1, ..., as its 64 bits have it."""
    edges = [0, *(int(t) for t in inversion.thresholds), 2**64]
    return np.diff(np.array(edges, dtype=object)).astype(float) / 2.0**64


@pytest.mark.parametrize("mean", MEANS)
def test_bytes_and_the_rest_are_poisson(mean):
    """A cell without points, of probability c, has its byte's count; others have the rest's."""
    code = byte_code(mean)
    shares = np.array(code.formula.seats) / 256
    rest = probabilities(code.rest)
    spared = math.exp(-point_density(mean))
    for k in range(LARGEST + 1):
        share = spared * shares[k] if k < len(shares) else 0.0
        share += (1 - spared) * rest[k] if k < len(rest) else 0.0
        assert share == pytest.approx(stats.poisson.pmf(k, mean), rel=1e-10, abs=2.0**-60)


@pytest.mark.parametrize("mean", MEANS)
def test_points_are_poisson(mean):
    expected = poisson._REGION * point_density(mean)
    shares = probabilities(byte_code(mean).points)
    np.testing.assert_allclose(
        shares, stats.poisson.pmf(np.arange(len(shares)), expected), rtol=1e-9, atol=2.0**-60
    )


def draw(mean, shape, rng):
    """Return Poisson counts; the array begins with what they must overwrite."""
    size = math.prod(shape)
    counts = np.full(room_for(size), 99, dtype=np.uint8)
    poisson_counts(mean, random_bytes(rng, shape), rng, counts)
    return counts[:size].reshape(shape)


def test_a_mean_of_zero_is_zeros():
    counts = draw(0.0, (3, 16), np.random.default_rng(1))
    assert not np.any(counts)
    assert byte_code(0.0).formula.seats == [256]
    assert point_density(0.0) == 0.0


def test_inversion_is_a_search():
    """The guide changes nothing: at every threshold and one below, and for random bits."""
    parts = [3, 0, 5, 10**6, 1, 0, 2, 10**9]
    inversion = Inversion.of(parts)
    at = inversion.thresholds
    bits = np.concatenate(
        [at, at - np.uint64(1), np.random.default_rng(1).integers(0, 1 << 64, 1000, np.uint64)]
    )
    expected = np.searchsorted(at, bits, side="right")
    np.testing.assert_array_equal(inversion.counts(bits), expected)
    np.testing.assert_array_equal(inversion.numbers(bits), expected)
    assert {0, 2, 3, 4, 6, 7} >= set(expected.tolist()) >= {2, 3, 7}
    total = sum(parts)
    exact = [sum(parts[: k + 1]) * 2**64 // total for k in range(len(parts) - 1)]
    assert at.tolist() == exact


@pytest.mark.parametrize("mean, shape", [(0.96, (50, 20_000)), (1.0, (20_000, 8)), (0.3, (7, 8))])
def test_counts_are_poisson_by_chi_square(mean, shape):
    """All cells, and the first and last of each row; false alarm 1e-4 each. Seed 11."""
    rng = np.random.default_rng(11)
    counts = np.concatenate([draw(mean, shape, rng) for _ in range(3)])
    for sample in (counts.ravel(), counts[:, 0], counts[:, -1], counts[-1]):
        last = 6 if len(sample) > 50_000 else 2 if len(sample) > 40 else 1
        observed = np.bincount(np.minimum(sample, last), minlength=last + 1)
        shares = stats.poisson.pmf(np.arange(last), mean)
        shares = np.append(shares, 1 - shares.sum())
        assert stats.chisquare(observed, shares * len(sample)).pvalue > 1e-4


@pytest.mark.parametrize("size", [5, 8192, 8192 + 5, 3 * 8192 - 1])
def test_points_fall_on_the_last_cells_too(size):
    """Counts of 5 or more, which no byte means, in the last five cells. Seed 13.

    5 standard errors: 1e-6.
    """
    rng = np.random.default_rng(13)
    n_draws = 40_000 if size < 100 else 4000
    ends = np.array([draw(1.0, (1, size), rng)[0, -5:] for _ in range(n_draws)])
    expected = ends.size * stats.poisson.sf(4, 1.0)
    assert abs(np.sum(ends >= 5) - expected) < 5 * np.sqrt(expected)
    assert abs(np.sum(ends[:, -1] >= 5) - expected / 5) < 5 * np.sqrt(expected / 5)


def test_points_fall_everywhere_alike():
    """Where a count of 5 or more is, which no byte means: chi-square over 64 places, seed 12.

    False alarm 1e-4.
    """
    counts = draw(1.0, (64, 100_000), np.random.default_rng(12))
    observed = np.count_nonzero(counts >= 5, axis=1)
    assert stats.chisquare(observed).pvalue > 1e-4
    assert observed.sum() == pytest.approx(6_400_000 * stats.poisson.sf(4, 1.0), rel=0.05)


def test_every_region_has_a_number_of_its_own():
    """Variance over mean of the points in 600 regions: 5 standard errors, 1e-6. Seed 14.

    With a mean of 0.995 no byte means 4 or more, so a count of 4 is a point.
    """
    mean = 0.995
    assert len(byte_code(mean).formula.seats) == 4
    found = np.sum(draw(mean, (600, 8192), np.random.default_rng(14)) >= 4, axis=1)
    expected = 1 - stats.poisson.sf(3, mean)
    assert abs(np.var(found, ddof=1) / np.mean(found) - expected) < 5 * np.sqrt(2 / 600)


@pytest.mark.parametrize("size", [1, 8191, 8192, 8193])
def test_points_have_room(size):
    """A region begins where the one before it ends, and the last one may begin with the last."""
    assert room_for(size) >= -(-size // poisson._REGION) * poisson._REGION
    uniform = np.zeros(size, dtype=np.uint8)
    with pytest.raises(ValueError, match=f"room for {size + 8191} cells, got {size + 8190}"):
        poisson_counts(0.9, uniform, np.random.default_rng(1), np.empty(size + 8190, np.uint8))
