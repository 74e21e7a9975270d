"""Sums of rows, several counts at a time, against sums."""

import numpy as np
import pytest
from scipy import stats

from evalstats.resampling.row_sums import _MOST_WORDS, _words, row_sums, row_width

LENGTHS = [*range(1, 40), 339, 340, 341, 397, 399, 400, 401, 680, 681, 2037, 5000, 100_003]


@pytest.mark.parametrize("n", LENGTHS)
def test_sums_are_sums(n):
    """Of Poisson counts of mean 1, with zeros beyond. Seed n."""
    rows = np.zeros((7, row_width(n)), dtype=np.uint8)
    rows[:, :n] = np.random.default_rng(n).poisson(1.0, size=(7, n))
    expected = rows.sum(axis=1, dtype=np.int64)
    found = row_sums(rows)
    assert found.dtype == np.int64
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(row_sums(rows[2:3]), expected[2:3])


@pytest.mark.parametrize("n", [100, 340, 680, 2040, 680 * 40])
def test_places_hold_what_they_can(n):
    """Three in every cell: 255 in a place, which is the most."""
    rows = np.full((3, row_width(n)), 3, dtype=np.uint8)
    np.testing.assert_array_equal(row_sums(rows), 3 * rows.shape[1])


def test_widths_have_room_and_are_their_own():
    for n in [*range(1, 3000), *range(3000, 10**6, 9973)]:
        width = row_width(n)
        assert n <= width <= max(1.023 * n, n + 3)
        assert width == n or n >= 32
        assert row_width(width) == width
        assert _words(width)[2] <= _MOST_WORDS


def test_no_place_overflows():
    """So many counts of mean 1 sum to more than 255 with a probability below 10^-47."""
    assert stats.poisson.logsf(255, _MOST_WORDS) < -47 * np.log(10)
