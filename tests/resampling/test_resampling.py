"""Weights and totals: the right distribution, exact sums, the same bits in every version."""

import json
import tracemalloc
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import evalstats as es
from evalstats.designs.swaps import Halves, all_swap_totals
from evalstats.resampling.weighted import (
    ExactProduct,
    bootstrap_totals,
    bootstrap_weights,
    exact_grid,
    stratum_totals,
    weighted_totals,
)
from evalstats.resampling.weights import Multinomial, Stratified, as_seed, batches, places_of
from tests.helpers import bad_cases

KINDS = {"multinomial": lambda n: Multinomial(n, 3), "halves": lambda n: Halves(n, 3)}
GOLDEN = json.loads((Path(__file__).parents[1] / "golden_resampling.json").read_text())


def swap_totals(statistics, n_resamples, seed):
    return weighted_totals(Halves(len(statistics), seed), statistics, n_resamples)


def drawn_rows(weights, n_rows):
    return np.concatenate([rows for _, rows in batches(weights, n_rows)])


@pytest.mark.parametrize("n_segments", [1, 7, 400, 33_000])
@pytest.mark.parametrize("kind", KINDS)
def test_row_b_is_row_b(kind, n_segments):
    """Batches follow one another, each with rows of its own; fewer rows are the first of more."""
    recipe = KINDS[kind](n_segments)
    n_rows = recipe.batch_rows + 2
    places = [b for some, _ in batches(recipe, n_rows) for b in range(some.start, some.stop)]
    assert places == list(range(n_rows))
    rows = drawn_rows(recipe, n_rows)
    assert rows.shape == (n_rows, n_segments)
    if n_segments > 7:
        assert len({row.tobytes() for row in rows}) == n_rows
    if isinstance(recipe, Multinomial):
        assert np.all(rows.sum(axis=1, dtype=np.int64) == n_segments)
    for few in (1, recipe.batch_rows, recipe.batch_rows + 1):
        np.testing.assert_array_equal(drawn_rows(recipe, few), rows[:few])


@pytest.mark.parametrize("golden", GOLDEN["weights"], ids=lambda g: str(g["n"]))
def test_golden_weights(golden):
    """The same bits on every platform and in every version: results can be made again."""
    weights = bootstrap_weights(golden["n"], 700, golden["seed"])
    assert weights[[0, 1, 699], : len(golden["rows"][0])].tolist() == golden["rows"]


def test_golden_replicates(sample):
    """Scores pass through exp and log, which may differ by a last bit between platforms."""
    table = es.extract({"a": sample.systems["baseline"]}, sample.references)
    result = es.estimate(table, n_resamples=5000)
    totals = bootstrap_totals(table.values[0], 5000)
    assert totals[GOLDEN["resamples"]].tolist() == GOLDEN["totals"]
    swapped = swap_totals(table.values[0], 5000, 12345)
    assert swapped[GOLDEN["resamples"]].tolist() == GOLDEN["halves"]
    found = result.replicates[GOLDEN["resamples"]]
    np.testing.assert_allclose(found, GOLDEN["replicates"], rtol=1e-13)


def test_seeds():
    fixed = bootstrap_weights(20, 10, rng=0)
    assert not np.array_equal(fixed, bootstrap_weights(20, 10, rng=1))
    assert np.array_equal(bootstrap_weights(20, 10), bootstrap_weights(20, 10, rng=12345))
    generator = np.random.default_rng(3)
    first, second = (bootstrap_weights(20, 10, rng=generator) for _ in range(2))
    assert not np.array_equal(first, second)
    again = bootstrap_weights(20, 10, rng=np.random.default_rng(3))
    assert np.array_equal(first, again)
    assert as_seed(None) != as_seed(None)


def test_swaps_are_fair_coins_and_all_swaps_all_subsets():
    """Each segment is swapped half the time, independently; 5 standard errors."""
    halves = swap_totals(np.eye(9), 10_000, seed=3)
    assert np.max(np.abs(halves.mean(axis=0) - 0.5)) < 5 * 0.5 / np.sqrt(10_000)
    assert np.max(np.abs(np.corrcoef(halves.T) - np.eye(9))) < 5 / np.sqrt(10_000)
    totals = all_swap_totals(np.diag([1.0, 10, 100]))
    assert sorted(totals.sum(axis=1)) == [0, 1, 10, 11, 100, 101, 110, 111]
    assert all_swap_totals(np.empty((0, 2))).tolist() == [[0.0, 0.0]]


@pytest.mark.parametrize("totals, kind", [(bootstrap_totals, Multinomial), (swap_totals, Halves)])
def test_sums_do_not_depend_on_their_order(totals, kind):
    rng = np.random.default_rng(1)
    rows = drawn_rows(kind(301, 9), 500).astype(float)
    for statistics in (
        rng.integers(0, 10**9, size=(301, 7)).astype(float),
        rng.random((301, 7)) * 10.0 ** np.arange(-3, 4),
        rng.integers(-50, 50, size=(301, 7)).astype(float),
    ):
        grid, order = exact_grid(statistics), rng.permutation(301)
        expected = rows[:, order] @ grid[order]
        assert np.array_equal(totals(grid, 500, 9), expected)


def test_exact_grid_keeps_integers_and_moves_others_by_less_than_a_sum_would():
    rng = np.random.default_rng(0)
    columns = rng.integers(0, 99, 1000), rng.random(1000), rng.random(1000) * 1e-9
    values = np.stack(columns, axis=1)
    grid = exact_grid(values)
    assert np.array_equal(grid[:, 0], values[:, 0])
    assert np.max(np.abs(grid - values) / values.max(axis=0)) < 1000 * 2.0**-52
    assert np.all(np.sum(grid, axis=0) == np.sum(grid[::-1], axis=0))


@pytest.mark.parametrize(
    "n_segments, n_resamples, n_columns",
    [(2, 40, 130), (100, 23, 1), (2037, 170, 130), (60_000, 15, 10)],
)
def test_tiles_and_precisions_change_nothing(n_segments, n_resamples, n_columns):
    """Many tiles, many columns, numbers of every kind, against sums of 64-bit integers."""
    rng, ends = np.random.default_rng(n_columns), (50, 3000, 2**23, 2**30)
    kinds = [(0, end) for end in ends]
    kinds += [(-50, 50), (-(2**20), 2**20), (-(2**20) - 1, -(2**20))]
    chosen = [kinds[(j + n_resamples) % 7] for j in range(n_columns)]
    statistics = np.stack([rng.integers(*kind, n_segments) for kind in chosen], axis=1)
    for totals, weights in (
        (bootstrap_totals, bootstrap_weights(n_segments, n_resamples, rng=1)),
        (swap_totals, drawn_rows(Halves(n_segments, 1), n_resamples).astype(np.int64)),
    ):
        expected = weights @ statistics
        np.testing.assert_array_equal(totals(statistics, n_resamples, 1), expected)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64, np.uint64])
def test_integers_of_every_width_are_counted_exactly(dtype):
    """The ends of the range and numbers near them, one column each, against Python's integers."""
    info = np.iinfo(dtype)
    low, high = max(info.min, -(2**40)), min(info.max, 2**40)
    draws = np.random.default_rng(1).integers(0, 3, size=2000)
    columns = [low + draws, high - draws, np.where(draws > 1, low, high)]
    statistics = np.stack(columns, axis=1).astype(dtype)
    expected = bootstrap_weights(2000, 20, 3).astype(object) @ statistics.astype(object)
    assert bootstrap_totals(statistics, 20, 3).tolist() == expected.tolist()


@pytest.mark.parametrize("more", [1, 2, 3])
def test_the_first_sum_that_single_precision_has_not(more):
    """257 segments whose sum is 2**24 - 1, and a little more: redone in double precision."""
    statistics = np.array([[65_535]] * 256 + [[255], [more]])
    assert statistics[:-1].sum() == 2**24 - 1
    totals = ExactProduct(statistics, 255)(np.ones((24, 258), dtype=np.uint8))
    assert np.all(totals == 2**24 - 1 + more)


@pytest.mark.parametrize("shuffled", [False, True])
def test_strata_of_one_size_are_summed_together(shuffled):
    """Each stratum of three sizes by itself, in double precision where its sums need that."""
    rng = np.random.default_rng(2)
    codes = np.repeat(np.arange(9), [3, 40, 3, 7, 40, 3, 3, 7, 3])
    codes = rng.permutation(codes) if shuffled else codes
    weights = Stratified(len(codes), 4, codes)
    parts = [(p, rng.integers(0, 1 << 18, size=(len(p), 2))) for p in places_of(codes)]
    found = stratum_totals(weights, parts, 500, None, partial(np.stack, axis=1))
    rows = np.concatenate([rows for _, rows in batches(weights, 500)]).astype(np.int64)
    for t, (places, statistics) in enumerate(parts):
        assert np.all(rows[:, places].sum(axis=1) == len(places))
        np.testing.assert_array_equal(found[:, t], rows[:, places] @ statistics)


@pytest.mark.parametrize("scale", [5e-324, 1e-300, 1e13, 1e100])
@pytest.mark.parametrize("whole", [False, True])
def test_numbers_of_any_size_are_summed(scale, whole):
    values = np.random.default_rng(1).integers(1, 1000, size=30).astype(float)
    scores = scale * (values if whole else values + 0.5)
    result = es.estimate(scores, None, es.Mean("score"), n_resamples=200)
    assert result.low <= result.score <= result.high
    assert result.score == pytest.approx(scores.mean(), rel=1e-6 if scale > 1e-309 else 1)


def test_memory_does_not_grow_with_the_number_of_resamples():
    """The weights of 500 resamples would be ten times the 3 MB that 50 need."""
    table, peaks = np.random.default_rng(0).integers(0, 40, size=(50_000, 2)), []
    for n_resamples in (50, 500):
        tracemalloc.start()
        bootstrap_totals(table, n_resamples, executor=1)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0]


@bad_cases(
    ([1, 2, 3], r"statistics must be numbers of shape \(N, k\), got int64 values of shape \(3,\)"),
    ([["a"]], r"got strings of shape \(1, 1\)"),
    ([[1.0, np.nan]], "statistics must be finite"),
    ([[1e308], [1.5e308]], "statistics are too large: their sum is not a finite"),
    (np.full((3, 1), 2**52), r"sums of integers beyond 2\*\*53"),
)
def test_bad_statistics_are_named(statistics):
    bootstrap_totals(statistics, 10)


@bad_cases(
    ({"n_segments": 0}, "n_segments must be at least 1, got 0"),
    ({"n_resamples": 0}, "n_resamples must be at least 1, got 0"),
    ({"rng": -1}, "rng must be a non-negative int, got -1"),
    ({"rng": "1"}, "rng must be an int, a numpy.random.Gen"),
)
def test_bad_options_are_named(options):
    bootstrap_weights(**{"n_segments": 3, "n_resamples": 1, **options})
