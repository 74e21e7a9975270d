"""Streams, Poisson counts and multinomial rows: exact in their probabilities, and independent.

Every false alarm of a chi-square test has probability 1e-4; seeds are fixed.
"""

import numpy as np
import pytest
from scipy import stats

from evalstats.resampling.streams import (
    byte_table,
    generator,
    multinomial_rows,
    poisson_counts,
    random_bytes,
)
from evalstats.resampling.weighted import bootstrap_weights


def chi_square(counts, pmf):
    """Return the p-value of counts against pmf(0), pmf(1), ...; the last bin is the rest."""
    total, shares = len(counts), pmf(np.arange(10))
    tail = total * (1 - np.cumsum(shares))
    last = int(np.flatnonzero(tail >= 5)[-1]) + 1 if np.any(tail >= 5) else 0
    if not last:
        return 1.0
    observed = np.bincount(np.minimum(counts, last), minlength=last + 1)
    return stats.chisquare(observed, [*(total * shares[:last]), tail[last - 1]]).pvalue


def test_streams_are_those_of_numpy_and_every_one_is_another():
    spawned = np.random.SeedSequence(9).spawn(1)[0].spawn(4)[3]
    expected = np.random.Generator(np.random.PCG64(spawned)).integers(1 << 62, size=5)
    np.testing.assert_array_equal(generator(9, (0,), 3).integers(1 << 62, size=5), expected)
    given = [
        (seed, key, number)
        for seed in (0, 1, 2**70)
        for key in ((0,), (1,), (17, 0), (17, 1))
        for number in (*range(50), 10**9)
    ]
    drawn = {tuple(generator(*g).bit_generator.random_raw(2).tolist()) for g in given}
    assert len(drawn) == len(given)


def test_bytes_are_uniform_and_those_of_whole_words():
    words = generator(1, (0,), 0).bit_generator.random_raw(125)
    for size in (0, 1, 7, 8, 9, 1000):
        drawn = random_bytes(generator(1, (0,), 0), size)
        assert drawn.tobytes() == b"".join(int(w).to_bytes(8, "little") for w in words)[:size]
    observed = np.bincount(random_bytes(generator(3, (0,), 0), 10**6), minlength=256)
    assert stats.chisquare(observed).pvalue > 1e-4


def shares(limits):
    """Return the probabilities of 0, 1, ..., of which 64 bits reach so many thresholds."""
    edges = np.array([0, *limits.tolist(), 2**64], dtype=object)
    return np.diff(edges).astype(float) / 2.0**64


@pytest.mark.parametrize("mean", [0.0, 1e-300, 0.01, 0.5, 0.8984375, 0.96875, 1.0])
def test_bytes_and_what_is_drawn_again_are_poisson(mean):
    """Shares of bytes and of thresholds, mixed as points hit cells, to 2^-60; no byte is left."""
    edges, points, rest = byte_table(mean)
    of_points, again = shares(points), shares(rest)
    hits = round(np.arange(len(of_points)) @ of_points)
    expected = stats.poisson.pmf(np.arange(len(of_points)), hits)
    np.testing.assert_allclose(of_points, expected, rtol=1e-10, atol=2.0**-60)
    hit = -np.expm1(-hits / 1024)
    assert hit < 0.02
    owned = np.bincount(np.searchsorted(edges, np.arange(256), side="right"), minlength=50) / 256
    mixed = (1 - hit) * owned + hit * np.pad(again, (0, 50 - len(again)))
    expected = stats.poisson.pmf(np.arange(50), mean)
    np.testing.assert_allclose(mixed, expected, rtol=1e-10, atol=2.0**-60)


@pytest.mark.parametrize(
    "mean, shape",
    [(0.96, (30, 20_000)), (1.0, (30_000, 8)), (0.3, (21, 8)), (0.002, (9, 10**5)), (0.0, (3, 99))],
)
def test_counts_are_poisson(mean, shape):
    """All cells, the first and last of each row, and the last row."""
    counts = poisson_counts(mean, np.random.default_rng(11), shape)
    assert counts.shape == shape
    for some in (counts.ravel(), counts[:, 0], counts[:, -1], counts[-1]):
        assert chi_square(some, lambda k: stats.poisson.pmf(k, mean)) > 1e-4


def test_cells_drawn_again_are_anywhere():
    """Counts of 4 or more, which no byte means, in 64 places of several blocks."""
    counts = poisson_counts(1.0, np.random.default_rng(12), (64, 12_345))
    assert len(byte_table(1.0)[0]) == 3
    observed = np.count_nonzero(counts >= 4, axis=1)
    assert stats.chisquare(observed).pvalue > 1e-4
    assert observed.sum() == pytest.approx(counts.size * stats.poisson.sf(3, 1.0), rel=0.02)


@pytest.mark.parametrize("n", [1, 2, 5, 40, 100, 700, 70_000])
def test_rows_are_multinomial(n):
    """Of N draws and of fewer, cell by cell, with 1e-4 for all of them: rows drawn again as well."""
    n_rows = 3000 if n < 1000 else 20
    for draws in {n, max(1, 3 * n // 4)}:
        rows = multinomial_rows(np.random.default_rng(5), n_rows, draws, n)
        assert rows.shape == (n_rows, n)
        np.testing.assert_array_equal(rows.sum(axis=1), draws)
        for of_cell in rows.T if 1 < n < 1000 else ():
            found = chi_square(of_cell, lambda k, m=draws: stats.binom.pmf(k, m, 1 / n))
            assert found > 1e-4 / n


def test_a_row_as_a_whole():
    """All 35 rows of four segments against multinomial probabilities."""
    n, rows = 4, 50_000
    found, counts = np.unique(bootstrap_weights(n, rows, rng=5), axis=0, return_counts=True)
    shares = np.array([stats.multinomial.pmf(row, n, [1 / n] * n) for row in found])
    assert shares.sum() == pytest.approx(1)
    assert stats.chisquare(counts, rows * shares).pvalue > 1e-4


#: How far the other three of four rows are from the first: neighbours, within a batch, across
#: batches (of 2,040 rows here), and the corners of rectangles, as rows that share bits would be.
QUADRUPLES = [(1, 2, 3), (511, 1024, 1500), (2040, 4080, 6120), (1, 32, 33), (3, 45, 48)]


@pytest.mark.parametrize("apart", QUADRUPLES)
def test_four_rows_are_independent(apart):
    """The first cell of four rows, 0, 1 or more: 81 joint outcomes of quadruples without overlap."""
    n, taken, chosen = 6, set(), []
    cells = np.minimum(bootstrap_weights(n, 40_960 + apart[-1], rng=7)[:, 0], 2)
    for first in range(40_960):
        rows = {first, *(first + a for a in apart)}
        if not taken & rows:
            taken |= rows
            chosen.append(first)
    joint = sum(3**i * cells[np.array(chosen) + a] for i, a in enumerate((0, *apart)))
    shares = stats.binom.pmf([0, 1], n, 1 / n)
    shares = np.append(shares, 1 - shares.sum())
    expected = np.einsum("i,j,k,l->ijkl", *[shares] * 4).ravel() * len(chosen)
    assert stats.chisquare(np.bincount(joint, minlength=81), expected).pvalue > 1e-4
