"""Rows of bytes that share: any three of them independent, averages as good as of independent ones."""

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from evalstats.resampling.random_bytes import SharedBytes, _arrangement, random_bytes
from evalstats.resampling.scratch import Scratch
from evalstats.resampling.weights import Multinomial

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
    grouped, kept = _arrangement(n_rows, n_bytes)
    assert n_rows % (grouped * kept) == 0
    assert 1 <= kept <= max(1, 2**22 // (grouped * n_bytes))
    assert kept**2 * grouped <= n_rows


@pytest.mark.parametrize("n_rows, n_bytes", [(504, 2037), (504, 2048), (120, 800), (168, 5000)])
def test_any_three_rows_are_independent(n_rows, n_bytes):
    """Rows are sums over GF(2) of rows drawn: no one, two or three of them sum to nothing.

    Independent rows of random bytes do so with a probability below 10^-1900.
    """
    uniform = SharedBytes(np.random.default_rng(1), n_rows, n_bytes)
    assert _arrangement(n_rows, n_bytes)[1] > 1
    rows = uniform.next(n_rows, 5, Scratch())
    assert rows.shape == (n_rows + 5, n_bytes)
    seen = {row.tobytes() for row in rows}
    assert len(seen) == n_rows + 5
    assert bytes(n_bytes) not in seen
    # Some are enough: rows at the same distance share alike.
    some = rows[[*range(40), *range(n_rows - 8, n_rows + 5)]]
    for one, other in combinations(some, 2):
        assert (one ^ other).tobytes() not in seen


def test_rows_are_made_of_fewer_and_spare_ones_are_not():
    """Four rows that are a cycle sum to nothing: sharing is what makes it fast."""
    uniform = SharedBytes(np.random.default_rng(1), 504, 2048)
    rows = uniform.next(504, 9, Scratch())
    assert _arrangement(504, 2048) == (1, 21)
    assert not np.any(rows[3] ^ rows[7] ^ rows[21 * 5 + 3] ^ rows[21 * 5 + 7])
    # As vectors over GF(2), by their first 1,024 bits: 24 + 21 - 1 dimensions, and 9 more.
    bits = np.unpackbits(rows[:, :128], axis=1).astype(np.int64)
    for end, rank in ((504, 44), (513, 53)):
        assert rank_over_two(bits[:end]) == rank


def rank_over_two(rows):
    """Return how many rows of bits are independent, by elimination."""
    left, rank = rows, 0
    while np.any(left):
        left = left[np.any(left, axis=1)]
        pivot = np.argmax(left[0])
        left = left[1:] ^ (left[1:, pivot, None] * left[0])
        rank += 1
    return rank


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


def test_what_one_segment_decides():
    """How often each segment is left out of 504 rows: variance and tails as of a binomial.

    20 seeds of 2,048 segments. Beyond 3 standard errors are 0.27 % of a normal, at most 0.5 % here
    (1 % if counts hung on few bits of a byte); with 41,000 averages the share has a standard error
    of 0.03 %, so a false alarm is below 1e-6.
    """
    n, scratch = 2048, Scratch()
    out = np.array(
        [np.mean(Multinomial(n, seed, n).batch(0, 504, scratch) == 0, axis=0) for seed in range(20)]
    )
    p = (1 - 1 / n) ** n
    z = (out - p) / np.sqrt(p * (1 - p) / 504)
    assert np.var(z) == pytest.approx(1, abs=0.05)
    assert np.mean(np.abs(z) > 3) < 0.005


def test_no_two_rows_are_alike():
    """Correlations of all pairs of a batch's rows: 1/√2048, below 0.13, 6 standard errors: 3e-4."""
    rows = Multinomial(2048, 6, 2048).batch(0, 504, Scratch())
    off = np.corrcoef(rows.astype(float)) - np.eye(504)
    assert np.max(np.abs(off)) < 0.13
    # Rows that share half their bytes, the drawn ones or the kept ones, are no different.
    for apart in (1, 21):
        assert abs(np.mean(np.diagonal(off, apart))) < 5 / np.sqrt(2048 * 483)
