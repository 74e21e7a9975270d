"""Columns derived from others: the same sums, exactly, whatever the columns are."""

import numpy as np
import pytest

import evalstats as es
from evalstats.resampling import totals as resampling
from evalstats.resampling.column_relations import column_relations
from evalstats.resampling.products import ExactProduct, exact_grid
from evalstats.resampling.scratch import Scratch


def counts(n_segments, n_short, seed=1):
    """Return words, pairs and triples of words, matches, and the same words again."""
    rng = np.random.default_rng(seed)
    words = rng.integers(5, 60, size=n_segments)
    words[:n_short] = rng.integers(0, 3, size=n_short)
    columns = [words, np.maximum(words - 1, 0), np.maximum(words - 2, 0), words // 2, words]
    return np.stack(columns, axis=1)


def relations(statistics, is_sum):
    countable = np.ones(statistics.shape[1], dtype=bool)
    return column_relations(statistics, countable, is_sum=is_sum)


def test_n_grams_are_derived_from_words():
    bases, derived = relations(counts(1000, 4), is_sum=True)
    assert bases == [0, 3]
    assert [(one.column, one.base, one.constant) for one in derived] == [
        (1, 0, -1.0),
        (2, 0, -2.0),
        (4, 0, 0.0),
    ]
    assert set(derived[1].segments.tolist()) <= {0, 1, 2, 3}


def test_the_columns_of_bleu_and_chrf_that_need_a_product(sample):
    """Words, references' words and four numbers of matches; for chrF characters and six."""
    systems = {name: sample.systems[name] for name in ("baseline", "slightly-better")}
    references = [first for first, _ in sample.references]
    for metric, needed in (("bleu", 1 + 2 * 5), ("chrf", 1 + 2 * 7)):
        table = es.extract(systems, references, metric)
        columns = np.concatenate(list(table.values), axis=1)
        # Shorter segments than the longest n-gram are exceptions.
        columns = columns[np.all(table.values[:, :, [-1, 2][metric == "chrf"]] > 5, axis=0)]
        bases, derived = relations(columns, is_sum=True)
        assert len(bases) == needed
        assert len(bases) + len(derived) == columns.shape[1]


def test_sparse_columns_are_multiplied():
    """Few exceptions each, but all segments together: nothing would be spared."""
    rng = np.random.default_rng(1)
    statistics = np.zeros((2000, 100), dtype=np.int64)
    statistics[np.arange(2000), rng.integers(0, 100, size=2000)] = 1
    _, derived = relations(statistics, is_sum=True)
    together = {segment for one in derived for segment in one.segments.tolist()}
    assert len(together) <= 2000 // 64
    rows = resampling.bootstrap_weights(2000, 20, 1)
    totals = resampling.bootstrap_totals(statistics, 20, 1)
    np.testing.assert_array_equal(totals, rows @ statistics)


def test_constants_need_weights_of_one_sum():
    bases, derived = relations(counts(1000, 4), is_sum=False)
    assert bases == [0, 1, 2, 3]
    assert [(one.column, one.base) for one in derived] == [(4, 0)]


def test_many_exceptions_are_a_column_of_their_own():
    bases, _ = relations(counts(1000, 200), is_sum=True)
    assert bases == [0, 1, 2, 3]


@pytest.mark.parametrize("n_short", [0, 1, 15, 300])
@pytest.mark.parametrize("n_segments", [1, 2, 7, 1000])
@pytest.mark.parametrize("kind", ["multinomial", "bayesian", "halves"])
def test_sums_are_those_of_a_plain_product(kind, n_segments, n_short):
    """Against Python's integers; the weights of halves have no common sum."""
    statistics = counts(n_segments, min(n_short, n_segments))
    weights = (
        resampling.Halves(n_segments, 5)
        if kind == "halves"
        else resampling.recipe(n_segments, 5, kind)
    )
    rows = weights.batch(0, 20, Scratch()).astype(object)
    expected = (rows @ statistics.astype(object)).astype(float) * weights.scale
    totals = resampling.weighted_totals(weights, statistics, 20)
    np.testing.assert_array_equal(totals, expected)
    one_by_one = [
        resampling.weighted_totals(weights, statistics[:, j : j + 1], 20)[:, 0]
        for j in range(statistics.shape[1])
    ]
    np.testing.assert_array_equal(totals, np.stack(one_by_one, axis=1))


@pytest.mark.parametrize("scale", [1.0, 0.1, 1e-300, 2.0**40, 1e150, 1e300])
@pytest.mark.parametrize("shift", [0.0, 1.0, 0.5, -3.0])
def test_numbers_that_are_no_counts(scale, shift):
    """Columns apart by a constant give, to the bit, what they give alone."""
    values = np.random.default_rng(1).integers(1, 100, size=(200, 1)) * scale
    statistics = exact_grid(np.concatenate([values, values + shift, values], axis=1))
    together = resampling.bootstrap_totals(statistics, 50, 3)
    for j in range(3):
        alone = resampling.bootstrap_totals(statistics[:, j : j + 1], 50, 3)
        np.testing.assert_array_equal(together[:, j : j + 1], alone)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.uint64])
def test_integers_at_the_ends_of_their_range(dtype):
    info = np.iinfo(dtype)
    low, high = max(info.min, -(2**43)), min(info.max, 2**43)
    column = np.where(np.arange(300) % 3 == 0, low, high - 1).astype(dtype)
    statistics = np.stack([column, column + dtype(1), column], axis=1)
    rows = resampling.bootstrap_weights(300, 30, 2).astype(object)
    totals = resampling.bootstrap_totals(statistics, 30, 2)
    np.testing.assert_array_equal(totals, (rows @ statistics.astype(object)).astype(float))


@pytest.mark.parametrize("largest", [50, 2**20])
@pytest.mark.parametrize("n_segments", [1, 100, 1820, 1821, 2037, 3000, 5461])
@pytest.mark.parametrize("n_rows", [1, 23, 24, 25, 170])
def test_any_number_of_rows_segments_and_columns(n_rows, n_segments, largest):
    """Padding with zeros, groups of rows and a rest, tiles, single and double precision."""
    rng = np.random.default_rng(n_rows)
    weights = rng.integers(0, 4, size=(n_rows, n_segments), dtype=np.uint8)
    scratch = Scratch()
    for n_columns in (1, 2, 3, 5, 6, 7, 8, 9, 11, 130):
        statistics = rng.integers(0, largest, size=(n_segments, n_columns))
        statistics[:, ::3] %= 50
        totals = np.empty((n_columns, n_rows))
        ExactProduct(statistics, 255, 3 * n_segments)(weights, totals, scratch)
        np.testing.assert_array_equal(totals.T, weights.astype(np.int64) @ statistics)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_the_scratch_holds_does_not_matter(dtype):
    weights = np.ones((48, 2037), dtype=np.uint8)
    statistics = np.ones((2037, 12)) * np.arange(1, 13) * (1 if dtype is np.float32 else 2**30)
    scratch, totals = Scratch(), np.empty((12, 48))
    scratch.array("block", (200_000,), dtype).fill(np.nan)
    product = ExactProduct(statistics, 255, 2037)
    product(weights, totals, scratch)
    np.testing.assert_array_equal(totals[:, 0], weights[0] @ statistics)


@pytest.mark.parametrize("more", [1, 2, 3])
def test_the_first_sum_that_single_precision_has_not(more):
    statistics = np.array([[2**24 - 1], [more]])
    totals = np.empty((1, 24))
    ExactProduct(statistics, 255, 2)(np.ones((24, 2), dtype=np.uint8), totals, Scratch())
    assert np.all(totals == 2**24 - 1 + more)


def test_exceptions_beyond_single_precision():
    base = np.random.default_rng(1).integers(0, 50, size=3000) + 2**26
    other = base.copy()
    other[5:9] -= 2**24 + np.array([1, 3, 5, 7])
    rows = np.random.default_rng(2).integers(0, 3, size=(30, 3000), dtype=np.uint8)
    totals = np.empty((2, 30))
    product = ExactProduct(np.stack([base, other], axis=1), 255, 6000)
    assert len(product._derived) == 1
    product(rows, totals, Scratch())
    np.testing.assert_array_equal(totals[1], rows.astype(np.int64) @ other)


@pytest.mark.parametrize("n_segments", [1, 100, 2037, 30_000])
def test_products_stay_on_the_calling_thread(n_segments):
    """OpenBLAS starts threads of its own from 2^19 multiplications on."""
    for n_columns in (1, 8, 12, 130):
        statistics = np.random.default_rng(1).integers(0, 9, size=(n_segments, n_columns))
        for part in ExactProduct(statistics, 255, n_segments)._parts:
            assert part._group * part._tile * min(part._n_columns, 128) < 2**19


def test_constants_too_large_to_add_exactly():
    """A constant times N beyond 2^53 would be rounded: such a column is multiplied itself."""
    largest = 3_002_399_751_580_000
    column = np.array([largest, largest - 1, largest - 2])
    statistics = np.stack([column, column - (2 * largest - 1)], axis=1)
    for order in ([0, 1], [1, 0]):
        rows = resampling.bootstrap_weights(3, 50, 1).astype(object)
        expected = (rows @ statistics[:, order].astype(object)).astype(float)
        totals = resampling.bootstrap_totals(statistics[:, order], 50, 1)
        np.testing.assert_array_equal(totals, expected)


@pytest.mark.parametrize("n_rows", [24, 30, 100])
def test_tiles_add_up_in_double_precision(n_rows):
    """Each tile's sums fit single precision, and those of several tiles do not."""
    rng = np.random.default_rng(1)
    weights = rng.integers(0, 3, size=(n_rows, 30_000), dtype=np.uint8)
    statistics = rng.integers(0, 3000, size=(30_000, 8))
    totals = np.empty((8, n_rows))
    ExactProduct(statistics, 255, 2 * 30_000)(weights, totals, Scratch())
    expected = weights.astype(np.int64) @ statistics
    assert expected.min() > 2**24
    np.testing.assert_array_equal(totals.T, expected)
