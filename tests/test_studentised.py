"""Studentised differences, against influence values of rows that are really swapped."""

from itertools import product

import numpy as np
import pytest
from evalstats.inference.skewness import of_signed, transformed
from evalstats.inference.studentised import (
    Swaps,
    skew_columns,
    studentised_difference,
)
from scipy import stats

import evalstats as es
from evalstats.inference.influence import influence_values, standard_error

METRICS = [es.BLEU(), es.CHRF(), es.TER(), es.WER(), es.Mean("judge"), es.Ratio("rate")]


def tables(metric, sample, n=None):
    """Return the statistics of two unlike systems: one loses words, the other repeats some."""
    if metric.uses_references:
        texts = sample.systems["clearly-better"]
        short = [" ".join(text.split()[: max(1, len(text.split()) * 9 // 10)]) for text in texts]
        long = [f"{text} {text.split()[-1]}" if i % 2 else text for i, text in enumerate(texts)]
        rows = [metric.statistics(texts, sample.references) for texts in (short, long)]
    else:
        rng = np.random.default_rng(3)
        shape = (480,) if metric.name == "judge" else (480, 2)
        rows = [metric.statistics(rng.gamma(a, size=shape)) for a in (2.0, 2.1)]
    return [np.asarray(table[:n], dtype=np.float64) for table in rows]


def brute_force(metric, first, second, swap):
    """Swap the rows, and divide the difference by the standard error of its influence values."""
    swap = swap[:, None]
    pair = np.stack([np.where(swap, second, first), np.where(swap, first, second)])
    scores = metric.score(np.sum(pair, axis=1))
    values = influence_values(metric, pair)
    return (scores[1] - scores[0]) / standard_error(values[1] - values[0])


def after_swaps(metric, first, second, swaps):
    """Return the ratios after swaps `(B, N)`, a few of them at a time."""
    found = Swaps(metric, first, second, swaps @ (second - first))
    for start in range(0, len(swaps), 64):
        some = slice(start, min(start + 64, len(swaps)))
        found.add(some, 1.0 - 2 * swaps[some])
    return found.ratios()


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_the_observed_difference_is_divided_by_its_standard_error(metric, sample):
    first, second = tables(metric, sample)
    expected = brute_force(metric, first, second, np.zeros(len(first), dtype=bool))
    assert studentised_difference(metric, first, second) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
@pytest.mark.parametrize("n", [30, 480])
def test_swapped_differences_are_those_of_swapped_rows(metric, n, sample):
    first, second = tables(metric, sample, n)
    swaps = np.random.default_rng(5).integers(2, size=(200, n)).astype(bool)
    found = after_swaps(metric, first, second, swaps)
    expected = np.array([brute_force(metric, first, second, swap) for swap in swaps])
    np.testing.assert_allclose(found, expected, atol=1e-9, rtol=1e-9)


def test_of_a_mean_they_order_swaps_as_the_differences_do(sample):
    """So that for means and 0/1 scores the test is plain approximate randomisation."""
    metric = es.Mean("judge")
    first, second = tables(metric, sample)
    swaps = np.random.default_rng(6).integers(2, size=(500, len(first)))
    found = after_swaps(metric, first, second, swaps)
    moved = swaps @ (second - first)
    difference = np.mean(second - first, axis=0)[0] - 2 * moved[:, 0] / len(first)
    assert np.array_equal(np.argsort(found), np.argsort(difference))


def test_no_difference_is_zero_and_no_spread_is_far():
    metric = es.Mean("judge")
    ones = metric.statistics(np.ones(5))
    assert studentised_difference(metric, ones, ones) == 0.0
    assert studentised_difference(metric, ones, ones * [[2.0, 1.0]]) == np.inf


def test_unlike_lengths_in_few_documents_are_told_apart(sample):
    """Swaps of long outputs for short ones have a spread of their own, and are not far from it."""
    systems = {
        "baseline": sample.systems["baseline"],
        "long": [f"{text} and so on and so on" for text in sample.systems["baseline"]],
    }
    ends = [200, 210, 240, 250, 260, 300, 320, 350, 380, 400, 430, 440, 470]
    documents = np.searchsorted(ends, np.arange(480), side="right")
    (d,) = es.compare(systems, sample.references, "bleu", groups=documents, n_resamples=999)
    assert abs(d.difference) > 8 * d.standard_error
    assert d.pvalue < 0.01


@pytest.mark.parametrize("amount", [0.1, 1 / 3, 1.0, -0.7])
def test_documents_that_differ_by_the_same_amount_have_the_smallest_pvalue(amount):
    rng = np.random.default_rng(2)
    for n_groups in [2] * 20 + [3, 5, 7]:
        first = rng.normal(size=n_groups)
        systems = {"a": first, "b": first + amount}
        (d,) = es.compare(systems, metrics=es.Mean("m"), groups=range(n_groups))
        assert d.pvalue == 2.0 ** (1 - n_groups)


def hall(t, skew, n):
    """Hall's transformation (1992), as it is printed."""
    return np.sqrt(n) * (((1 + skew * t / (3 * np.sqrt(n))) ** 3 - 1) / skew + skew / (6 * n))


def test_the_skewness_of_an_arrangement_is_that_of_its_rows():
    metric = es.Mean("judge")
    rng = np.random.default_rng(9)
    first, second = (metric.statistics(rng.gamma(a, size=40)) for a in (1.0, 1.3))
    columns = skew_columns(metric, first, second)
    for _ in range(20):
        signs = rng.choice([-1.0, 1.0], size=40)
        skew = stats.skew(signs * (second - first)[:, 0])
        assert float(of_signed(columns, signs @ columns)) == pytest.approx(skew, rel=1e-9)
        assert float(transformed(1.7, skew, 40)) == pytest.approx(hall(1.7, skew, 40), rel=1e-9)
    assert float(of_signed(np.zeros((5, 2)), np.zeros(2))) == 0
    assert transformed(np.array([np.inf, 1.7]), np.array([0.3, 0.0]), 40).tolist() == [np.inf, 1.7]


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_of_groups_all_swaps_are_ordered_by_their_transformed_t(alternative):
    """Edits of two systems in ten documents of unlike sizes, over the same reference words."""
    rng = np.random.default_rng(12)
    sizes = np.array([12, 7, 5, 3, 2, 2, 2, 1, 1, 1])
    groups = np.repeat(np.arange(10), sizes)
    words = rng.integers(5, 30, size=len(groups))
    edits = rng.binomial(words, np.array([[0.3], [0.4]]))
    rate = es.Ratio("rate")
    table = es.SegmentStatistics(
        np.stack([rate.statistics(np.stack([e, words], axis=1)) for e in edits]), ["a", "b"], rate
    )
    (d,) = es.compare(table, groups=groups, alternative=alternative)

    e, w = ([np.bincount(groups, x) for x in rows] for rows in (edits, [words]))
    transformed = []
    for signs in product([1.0, -1.0], repeat=10):
        moved = np.array(signs) * (e[1] - e[0])
        # The influence of a document on a ratio of sums, as Taylor's series has it.
        values = (moved - np.sum(moved) / np.sum(w[0]) * w[0]) / np.sum(w[0])
        t = np.sum(moved) / np.sum(w[0]) / (np.sqrt(10) * np.std(values, ddof=1))
        # Half the words are each system's: the skewness is that of the edits alone.
        transformed.append(hall(t, stats.skew(moved), 10))
    values = np.array(transformed)
    as_extreme = {
        "two-sided": np.abs(values) >= abs(values[0]) - 1e-9,
        "greater": values >= values[0] - 1e-9,
        "less": values <= values[0] + 1e-9,
    }
    assert d.exact
    assert d.pvalue == np.mean(as_extreme[alternative])


def test_groups_of_one_are_segments(sample):
    """Of groups of one size swaps and t are asked as of segments, without a correction of swaps."""
    pair = {name: sample.systems[name][:60] for name in ("baseline", "clearly-better")}
    references = sample.references[:60]
    for metric in ("bleu", "ter"):
        (alone,) = es.compare(pair, references, metric, n_resamples=499)
        (grouped,) = es.compare(pair, references, metric, groups=range(60), n_resamples=499)
        assert grouped.pvalue == alone.pvalue
