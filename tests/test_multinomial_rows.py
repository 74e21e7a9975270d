"""Rows are exactly multinomial, and independent of one another, also four at a time."""

import numpy as np
import pytest
from scipy import stats

from evalstats.resampling.multinomial_rows import multinomial_rows
from evalstats.resampling.totals import bootstrap_weights


def chi_square(observed, shares):
    """Return the p-value of counts 0, 1, ...; the last bin is the rest, and expects 5 or more."""
    total = observed.sum()
    tail = total * (1 - np.cumsum(shares))
    last = int(np.flatnonzero(tail >= 5)[-1]) + 1
    pooled = [*observed[:last], observed[last:].sum()]
    return stats.chisquare(pooled, [*(total * shares[:last]), tail[last - 1]]).pvalue


@pytest.mark.parametrize("n_segments, seed", [(2, 1), (5, 2), (40, 3), (700, 4)])
def test_counts_of_a_cell_are_binomial(n_segments, seed):
    """The first and the last cell: chi-square, false alarm 1e-4 each."""
    weights = bootstrap_weights(n_segments, 20_000 if n_segments < 100 else 4_000, rng=seed)
    for cell in (0, n_segments - 1):
        observed = np.bincount(weights[:, cell], minlength=10)
        shares = stats.binom.pmf(np.arange(10), n_segments, 1 / n_segments)
        assert chi_square(observed, shares) > 1e-4


def test_a_row_as_a_whole():
    """All 35 rows of four segments against multinomial probabilities; false alarm 1e-4. Seed 5."""
    n, rows = 4, 50_000
    found, counts = np.unique(bootstrap_weights(n, rows, rng=5), axis=0, return_counts=True)
    theory = {tuple(row): stats.multinomial.pmf(row, n, [1 / n] * n) for row in found.tolist()}
    assert sum(theory.values()) == pytest.approx(1)
    expected = [rows * theory[tuple(row)] for row in found.tolist()]
    assert stats.chisquare(counts, expected).pvalue > 1e-4


#: How far the other three of four rows are from the first: neighbours, within a batch, across
#: batches (of 2,040 rows here), and the corners of rectangles, as rows that share bits would be.
QUADRUPLES = [(1, 2, 3), (511, 1024, 1500), (2040, 4080, 6120), (1, 32, 33), (3, 45, 48)]


@pytest.mark.parametrize("apart", QUADRUPLES)
def test_four_rows_jointly_against_numpys_multinomial(apart):
    """The first cell of four rows, 0, 1 or more: 81 joint outcomes. Seed 7, false alarm 1e-4 each.

    Against the product of binomial probabilities, and against rows of `Generator.multinomial`.
    """
    n, n_rows = 6, 40_960
    ours = bootstrap_weights(n, n_rows + apart[-1], rng=7)[:, 0]
    theirs = np.random.default_rng(7).multinomial(n, [1 / n] * n, size=len(ours))[:, 0]
    found = []
    for cells in (ours, theirs):
        outcomes = np.minimum(cells, 2)
        corners = [outcomes[first : first + n_rows] for first in (0, *apart)]
        # Every row is in one quadruple only, or in few: those that begin far enough apart.
        chosen = np.arange(0, n_rows, 4) if apart == (1, 2, 3) else disjoint(apart, n_rows)
        joint = sum(3**i * corner[chosen] for i, corner in enumerate(corners))
        found.append(np.bincount(joint, minlength=81))
    shares = stats.binom.pmf([0, 1], n, 1 / n)
    shares = np.append(shares, 1 - shares.sum())
    joint = np.einsum("i,j,k,l->ijkl", *[shares] * 4).ravel()
    assert stats.chisquare(found[0], joint * found[0].sum()).pvalue > 1e-4
    assert stats.chi2_contingency(found).pvalue > 1e-4


def disjoint(apart, n_rows):
    """Return first rows of quadruples that have no row in common."""
    taken, chosen = set(), []
    for first in range(n_rows):
        rows = {first, *(first + a for a in apart)}
        if not taken & rows:
            taken |= rows
            chosen.append(first)
    return np.array(chosen)


@pytest.fixture(scope="module")
def many_rows():
    """Return what is left out of batches of 504 rows of 2,048 segments, 20 seeds, `(20, R, N)`."""
    return np.array([bootstrap_weights(2048, 504, rng=seed) == 0 for seed in range(20)])


def test_what_one_segment_decides(many_rows):
    """How often each segment is left out: variance, kurtosis and tails as of a binomial.

    41,000 averages: the standard error of their variance is 0.007, of their kurtosis 0.024, of the
    share beyond 3 standard errors 0.0003. A false alarm is below 1e-5; rows that share bits in
    fours have a kurtosis of 3.14.
    """
    p = (1 - 1 / 2048) ** 2048
    z = (many_rows.mean(axis=1) - p) / np.sqrt(p * (1 - p) / 504)
    assert np.var(z) == pytest.approx(1, abs=0.035)
    assert stats.kurtosis(z.ravel(), fisher=False) == pytest.approx(3, abs=0.12)
    assert np.mean(np.abs(z) > 3) == pytest.approx(0.0027, abs=0.0015)


@pytest.mark.parametrize("apart", [(1, 2, 3), (1, 21, 22), (1, 24, 25), (128, 256, 376)])
def test_products_of_four_rows(many_rows, apart):
    """Fourth moments: the mean product of four centred cells is 0; 5 standard errors: below 1e-6."""
    p = (1 - 1 / 2048) ** 2048
    centred = (many_rows[:4] - p).astype(np.float32)
    size = 504 - apart[-1]
    products = np.prod([centred[:, first : first + size] for first in (0, *apart)], axis=0)
    error = (p * (1 - p)) ** 2 / np.sqrt(products.size)
    assert abs(np.mean(products, dtype=np.float64)) < 5 * error


def test_no_two_rows_are_alike():
    """Correlations of all pairs of a batch's rows: 1/√2048, below 0.13, 6 standard errors: 3e-4."""
    rows = bootstrap_weights(2048, 504, rng=6)
    off = np.corrcoef(rows.astype(float)) - np.eye(504)
    assert np.max(np.abs(off)) < 0.13


@pytest.mark.parametrize("n", [1, 9, 100, 70_000])
def test_rows_have_sums_of_their_own(n):
    """Two sums in turn: all rows are multinomial, those that were drawn again too.

    Chi-square of the first and the last cell; false alarm 1e-4 each. Seed 5.
    """
    n_rows = 6000 if n < 1000 else 40
    sums = np.where(np.arange(n_rows) % 2, max(1, 3 * n // 4), n)
    rows = multinomial_rows(np.random.default_rng(5), sums, n)
    assert rows.shape == (n_rows, n)
    np.testing.assert_array_equal(rows.sum(axis=1), sums)
    for total in set(sums.tolist()) if 1 < n < 1000 else ():
        for cell in (0, n - 1):
            observed = np.bincount(rows[sums == total][:, cell], minlength=10)
            assert chi_square(observed, stats.binom.pmf(np.arange(10), total, 1 / n)) > 1e-4


def test_more_draws_than_segments():
    """A shard may be given more draws than it has segments, or none. Seed 2."""
    sums = np.array([130, 0, 150, 200])
    rows = multinomial_rows(np.random.default_rng(2), sums, 100)
    np.testing.assert_array_equal(rows.sum(axis=1), sums)
