"""Poisson counts that become multinomial rows: which are dropped, and what they become."""

import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse, stats

from evalstats.resampling import multinomial_rows
from evalstats.resampling.byte_formulas import _FORMULAS
from evalstats.resampling.multinomial_rows import complete, fill_poisson, mean_for, share_dropped
from evalstats.resampling.poisson import room_for
from evalstats.resampling.random_bytes import random_bytes
from evalstats.resampling.row_sums import row_width
from evalstats.resampling.scratch import Scratch
from evalstats.resampling.totals import bootstrap_weights

SIZES = [2, 3, 5, 10, 30, 100, 300, 1000, 2037, 3000, 10_000, 10**5, 10**6, 10**8]


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("part", [1.0, 0.5, 0.1])
def test_enough_spare_rows(n, part):
    """As many as are dropped, and not many more."""
    draws = max(1, int(part * n))
    mean = mean_for(draws, n)
    assert mean in [formula.mean for formula in _FORMULAS]
    dropped = stats.poisson.sf(draws, mean * n)
    assert dropped <= share_dropped(draws, n) <= 2 * dropped + 0.015
    assert dropped < 0.09


def test_no_draws_no_counts():
    assert mean_for(1, 10) == 0.0
    assert share_dropped(1, 10) == 0.0
    assert mean_for(1, 1) == 0.0


@pytest.mark.parametrize("n, n_spare", [(9, 0), (9, 700), (100, 30)])
def test_rows_have_sums_of_their_own(n, n_spare):
    """Two sums in turn, or one where there are spare rows: all are multinomial.

    Chi-square of the first and the last cell; false alarm 1e-4 each. Seed 5.
    """
    n_rows, rng = 6000, np.random.default_rng(5)
    sums = np.where(np.arange(n_rows + n_spare) % 2, 3 * n // 4, n)
    if n_spare:
        sums[:] = n
    mean = mean_for(int(sums.min()), n)
    uniform = random_bytes(rng, (n_rows + n_spare, row_width(n)))
    cells = np.empty(room_for(uniform.size), dtype=np.uint8)
    rows = fill_poisson(mean, uniform, n, rng, cells)
    assert rows.shape == uniform.shape
    assert not np.any(rows[:, n:])
    complete(rows, n_rows, sums, mean, n, rng, Scratch())
    assert not np.any(rows[:n_rows, n:])
    np.testing.assert_array_equal(rows[:n_rows].sum(axis=1), sums[:n_rows])
    for total in set(sums.tolist()):
        cells = rows[:n_rows][sums[:n_rows] == total, :n]
        for cell in (0, n - 1):
            observed = np.bincount(np.minimum(cells[:, cell], 4), minlength=5)
            shares = stats.binom.pmf(np.arange(4), total, 1 / n)
            expected = len(cells) * np.append(shares, 1 - shares.sum())
            assert stats.chisquare(observed, expected).pvalue > 1e-4


@pytest.fixture
def tables(monkeypatch):
    """Return a list of the shapes of all sparse tables that are made."""
    made = []
    make = sparse.csr_array

    def watched(table, shape):
        made.append(shape)
        return make(table, shape=shape)

    monkeypatch.setattr(sparse, "csr_array", watched)
    return made


@pytest.mark.parametrize("n", [1, 9, 100, 400])
def test_sparse_tables_count_the_same_draws(n, tables, monkeypatch):
    """Whether a batch of short rows is large enough for them, changes no row."""
    monkeypatch.setattr(multinomial_rows, "_MANY_DRAWS", 1 << 62)
    plain = bootstrap_weights(n, 1500, 7)
    assert not tables
    monkeypatch.setattr(multinomial_rows, "_MANY_DRAWS", 0)
    np.testing.assert_array_equal(bootstrap_weights(n, 1500, 7), plain)
    assert tables
    assert np.all(plain.sum(axis=1) == n)


def test_sparse_tables_are_for_large_batches_of_short_rows(tables):
    """The first 10,080 resamples do without, whatever N is."""
    for n in (20, 100, 300, 370, 400, 420, 2037):
        bootstrap_weights(n, 10_080, 1)
    bootstrap_weights(500, 12_000, 1)
    assert not tables
    bootstrap_weights(100, 12_000, 1)
    assert tables == [(20_160, 100)]


def test_few_resamples_do_not_import_sparse_tables():
    code = (
        "import sys, evalstats as es; es.bootstrap_weights(100, 10_080);"
        "assert 'scipy.sparse' not in sys.modules; es.bootstrap_weights(100, 10_081);"
        "assert 'scipy.sparse' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
