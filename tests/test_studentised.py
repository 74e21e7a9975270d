"""Studentised differences, against influence values of rows that are really swapped."""

import numpy as np
import pytest

import evalstats as es
from evalstats.inference.influence import influence_values, standard_error
from evalstats.inference.studentised import (
    cross_columns,
    studentised_difference,
    studentised_swaps,
)

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


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_the_observed_difference_is_divided_by_its_standard_error(metric, sample):
    first, second = tables(metric, sample)
    expected = brute_force(metric, first, second, np.zeros(len(first), dtype=bool))
    assert studentised_difference(metric, first, second) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
@pytest.mark.parametrize("n, within", [(30, 0.12), (480, 0.004)])
def test_swapped_differences_are_those_of_swapped_rows(metric, n, within, sample):
    first, second = tables(metric, sample, n)
    swaps = np.random.default_rng(5).integers(2, size=(200, n)).astype(bool)
    moved = swaps @ (second - first)
    crossed = swaps @ cross_columns(metric, first, second)
    found = studentised_swaps(metric, first, second, moved, crossed)
    expected = np.array([brute_force(metric, first, second, swap) for swap in swaps])
    # Only the term of order 1/N is approximated.
    np.testing.assert_allclose(found, expected, atol=1e-9, rtol=within)


def test_of_a_mean_they_order_swaps_as_the_differences_do(sample):
    """So that for means and 0/1 scores the test is plain approximate randomisation."""
    metric = es.Mean("judge")
    first, second = tables(metric, sample)
    swaps = np.random.default_rng(6).integers(2, size=(500, len(first)))
    moved = swaps @ (second - first)
    found = studentised_swaps(
        metric, first, second, moved, swaps @ cross_columns(metric, first, second)
    )
    difference = np.mean(second - first, axis=0)[0] - 2 * moved[:, 0] / len(first)
    assert np.array_equal(np.argsort(found), np.argsort(difference))


def test_no_difference_is_zero_and_no_spread_is_far():
    metric = es.Mean("judge")
    ones = metric.statistics(np.ones(5))
    assert studentised_difference(metric, ones, ones) == 0.0
    assert studentised_difference(metric, ones, ones * [[2.0, 1.0]]) == np.inf
