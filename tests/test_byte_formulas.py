"""Arithmetic that turns bytes into counts: what it gives, how near it comes, and what it decides."""

import math

import numpy as np
import pytest
from scipy import linalg, stats

from evalstats.resampling import poisson
from evalstats.resampling.byte_formulas import (
    _FORMULAS,
    ByteFormula,
    convenient_mean,
    nearest_formula,
)

FOUND = _FORMULAS[1:]
BYTES = np.arange(256, dtype=np.uint8)
PLAIN = {
    "add": lambda x, y: (x + y) % 256,
    "and": lambda x, y: x & y,
    "or": lambda x, y: x | y,
    "xor": lambda x, y: x ^ y,
}


def point_density(mean, seats):
    """Return how many points there are for each cell."""
    return poisson._rest(mean, seats)[1] / poisson._ONE


def counts_of(formula):
    """Return the counts of the 256 bytes; the array begins with what they must overwrite."""
    counts = np.full(256, 99, dtype=np.uint8)
    formula.count(BYTES, counts)
    return counts


@pytest.mark.parametrize("formula", _FORMULAS, ids=lambda formula: str(formula.mean))
def test_counts_are_what_the_definition_says(formula):
    counts = counts_of(formula)
    for u in range(256):
        joined = PLAIN[formula.join](formula.multiplier * u % 256, u)
        shifted = PLAIN[formula.shift](joined, formula.constant)
        assert counts[u] == shifted // formula.divisor
    assert formula.seats == np.bincount(counts).tolist()
    assert sum(formula.seats) == 256
    table = np.empty((16, 16), dtype=np.uint8)
    formula.count(BYTES.reshape(16, 16), table)
    np.testing.assert_array_equal(table.ravel(), counts)


@pytest.mark.parametrize("formula", FOUND, ids=lambda formula: str(formula.mean))
def test_few_cells_are_left_to_points(formula):
    """With d of the same multiplier and operations, no other constant leaves fewer cells.

    Among those that let no few bits decide, which `benchmarks/byte_formulas.py` asks for.
    """
    density = point_density(formula.mean, formula.seats)
    assert 0 < density < (0.03 if formula.mean >= 0.75 else 0.04)
    shares = stats.poisson.pmf(np.arange(20), formula.mean)
    for constant in range(256):
        other = ByteFormula(**{**vars(formula), "constant": constant})
        counts = counts_of(other)
        seats = np.bincount(counts, minlength=20)[:20]
        if counts.max() < 20 and largest_excess(counts) <= 0.6:
            left = -math.log(256 * np.min(shares[seats > 0] / seats[seats > 0]))
            assert left > density - 1e-9


def test_the_first_makes_everything_zero():
    assert not np.any(counts_of(_FORMULAS[0]))
    assert _FORMULAS[0].seats == [256]
    assert nearest_formula(1e-9) is _FORMULAS[0]


def test_means_are_in_order_and_found():
    means = [formula.mean for formula in _FORMULAS]
    assert means == sorted(set(means))
    assert convenient_mean(0.0) == 0.0
    assert convenient_mean(0.9599999) == 0.94
    assert convenient_mean(0.96) == 0.96
    assert convenient_mean(5.0) == means[-1]
    assert nearest_formula(0.9500001).mean == 0.96
    assert nearest_formula(0.9499999).mean == 0.94


def excess(event):
    """Return the excess kurtosis of the average of what a single byte decides.

    Over I·J rows of bytes that share (`random_bytes`), I and J large. With f̂ the Walsh transform of
    f, the average of f(a_i ^ b_j) is the sum of f̂(s) X_s Y_s, X and Y averages of signs and nearly
    normal: a kurtosis of 3 + 6 Σ f̂⁴ / (Σ f̂²)², 9 where one s has all.
    """
    power = (linalg.hadamard(256) @ (event - event.mean())) ** 2
    return 6 * np.sum(power**2) / np.sum(power) ** 2


def largest_excess(counts):
    """Of the count, and of its being k or more."""
    return max(excess(f) for f in [counts, *(counts >= k for k in range(1, counts.max() + 1))])


@pytest.mark.parametrize("formula", FOUND, ids=lambda formula: str(formula.mean))
def test_no_few_bits_decide_a_count(formula):
    """Nor whether it is k, nor what else is computed from it: some functions at random, seed 1."""
    counts = counts_of(formula)
    assert largest_excess(counts) <= 0.6
    others = np.random.default_rng(1).normal(size=(100, counts.max() + 1))
    for value in [*np.eye(counts.max() + 1), *others]:
        assert excess(value[counts]) <= 0.8


def test_thresholds_would_be_decided_by_few_bits():
    """What formulas avoid: comparing bytes with thresholds, at a mean of 0.96."""
    counts = np.searchsorted([98, 192, 238, 253], BYTES, side="right")
    assert largest_excess(counts) > 1.5


def test_kurtosis_is_what_the_transform_says():
    """Averages over I·J rows that share, against the formula. Seed 21, 5 standard errors: 1e-6.

    A count whose first bit decides it has a kurtosis near 9 (less 1/I and 1/J terms); one of ours
    below 3.7.
    """
    n_columns = 200_000
    rng = np.random.default_rng(21)
    ours, worst = counts_of(nearest_formula(0.96)).astype(float), (BYTES >= 128).astype(float)
    a, b = rng.integers(0, 256, size=(2, 40, n_columns), dtype=np.uint8)
    for f, least, most in ((ours, 2.9, 3.7), (worst, 7.0, 10.0)):
        total = np.zeros(n_columns)
        for one in a:
            total += f[one ^ b].sum(axis=0)
        assert least < stats.kurtosis(total, fisher=False) < most
