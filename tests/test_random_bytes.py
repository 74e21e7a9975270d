"""Rows of bytes that share: any three of them independent, averages as good as of independent ones."""

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from evalstats.random_bytes import SharedBytes, _arrangement, random_bytes
from evalstats.scratch import Scratch
from evalstats.weights import Multinomial

SHAPES = [
    (504, 2037),
    (1512, 2037),
    (4536, 100),
    (168, 5000),
    (24, 1_000_000),
    (12, 10**7),
    (21, 3),
]


@pytest.mark.parametrize("n_rows, n_bytes", SHAPES)
def test_an_arrangement_divides_the_rows(n_rows, n_bytes):
    grouped, shared = _arrangement(n_rows, n_bytes)
    assert n_rows % (grouped * shared) == 0
    assert 1 <= shared <= max(1, 2**22 // (grouped * n_bytes))
    assert shared**2 * grouped <= n_rows


@pytest.mark.parametrize("n_rows, n_bytes", [(504, 2037), (504, 2048), (120, 800), (48, 64)])
def test_any_three_rows_are_independent(n_rows, n_bytes):
    """Rows are sums over GF(2) of rows drawn: no one, two or three of them sum to nothing.

    Independent rows of random bytes do so with a probability below 2^-512.
    """
    uniform = SharedBytes(np.random.default_rng(1), n_rows, n_bytes)
    rows = uniform.next(n_rows, 5, Scratch())
    assert rows.shape == (n_rows + 5, n_bytes)
    seen = {row.tobytes() for row in rows}
    assert len(seen) == n_rows + 5
    assert bytes(n_bytes) not in seen
    # Some are enough: rows at the same distance share alike.
    some = rows[[*range(40), *range(n_rows - 8, n_rows + 5)]]
    for one, other in combinations(some, 2):
        assert (one ^ other).tobytes() not in seen


def test_rows_are_made_of_fewer():
    """Four rows that are a cycle sum to nothing: sharing is what makes it fast."""
    uniform = SharedBytes(np.random.default_rng(1), 504, 2048)
    rows = uniform.next(504, 0, Scratch())
    grouped, shared = _arrangement(504, 2048)
    assert (grouped, shared) == (1, 21)
    assert not np.any(rows[3] ^ rows[7] ^ rows[21 * 5 + 3] ^ rows[21 * 5 + 7])


@pytest.mark.parametrize("n_rows, n_bytes", [(504, 2048), (168, 5000), (1008, 104)])
def test_steps_are_the_rows_in_order(n_rows, n_bytes):
    scratch = Scratch()
    uniform = SharedBytes(np.random.default_rng(1), n_rows, n_bytes)
    steps = [uniform.next(uniform.unit, 0, scratch).copy() for _ in range(n_rows // uniform.unit)]
    whole = SharedBytes(np.random.default_rng(1), n_rows, n_bytes).next(n_rows, 0, scratch)
    np.testing.assert_array_equal(np.concatenate(steps), whole)


def test_bytes_are_uniform_by_chi_square():
    """Of all rows, of the spare ones, and of the first column; false alarm 1e-4 each. Seed 3."""
    rows = SharedBytes(np.random.default_rng(3), 1512, 2037).next(1512, 80, Scratch())
    for sample in (
        rows,
        rows[1512:],
        rows[:, 0],
        random_bytes(np.random.default_rng(4), (999, 77)),
    ):
        observed = np.bincount(sample.ravel(), minlength=256)
        assert stats.chisquare(observed).pvalue > 1e-4


def test_averages_vary_as_those_of_independent_rows():
    """The mean of 504 replicates, and the shares beyond 0, 1 and 2 standard deviations.

    Their variances over 400 seeds are those of independent rows: within 5 standard errors, a false
    alarm below 1e-5 in all. Were the 21 or 24 rows that share half their bytes dependent, they
    would be a multiple of it.
    """
    n, n_seeds = 2037, 400
    values = np.random.default_rng(5).gamma(2.0, size=n)
    spread = np.sqrt(n) * np.std(values)
    scratch = Scratch()
    found = []
    for seed in range(n_seeds):
        rows = Multinomial(n, seed, n).batch(0, 504, scratch)
        scores = (rows.astype(np.float32) @ values.astype(np.float32) - values.sum()) / spread
        found.append([np.mean(scores), *(np.mean(scores > limit) for limit in (0, 1, 2))])
    shares = stats.norm.sf([0, 1, 2])
    expected = np.array([1, *(shares * (1 - shares))]) / 504
    ratio = np.var(found, axis=0, ddof=1) / expected
    assert np.all(np.abs(ratio - 1) < 5 * np.sqrt(2 / n_seeds)), ratio


@pytest.mark.parametrize("apart", [1, 21, 22])
def test_rows_that_share_are_uncorrelated(apart):
    """Counts of the same segment in rows that share one half, or none; 5 standard errors: 1e-6."""
    rows = Multinomial(2048, 6, 2048).batch(0, 504, Scratch()).astype(np.float64) - 1
    pairs = rows[:-apart] * rows[apart:]
    assert abs(np.mean(pairs)) < 5 * np.std(pairs) / np.sqrt(pairs.size)
