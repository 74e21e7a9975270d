"""P-values of `compare`: randomisation by enumeration, ties, identical systems, the level."""

import numpy as np
import pytest
from scipy import stats

import evalstats as es
from evalstats.inference import randomisation
from tests import naive


def scores_pair(seed, n):
    return np.random.default_rng(seed).normal(size=(2, n)).round(1)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_exact_randomisation_is_scipys_exact_permutation_test(alternative):
    a, b = scores_pair(0, 9)
    (difference,) = es.compare(
        {"A": a, "B": b}, None, es.Mean("x"), test="ar", alternative=alternative, n_resamples=999
    )
    differs = a != b
    expected = stats.permutation_test(
        (b[differs], a[differs]),
        lambda x, y: np.sum(x - y),
        permutation_type="samples",
        alternative=alternative,
    )
    assert difference.exact
    assert difference.pvalue_error == 0
    # SciPy doubles the smaller tail for two-sided; for a symmetric null it is the same.
    assert difference.pvalue == pytest.approx(expected.pvalue)


def test_exact_randomisation_of_bleu_by_brute_force(sample):
    metric = es.BLEU()
    systems = {name: sample.systems[name][:40] for name in ("baseline", "slightly-better")}
    statistics = es.extract(systems, sample.references[:40], metric)
    first, second = statistics.values
    rows = np.flatnonzero(np.any(first != second, axis=1))[:8]
    keep = np.concatenate([np.flatnonzero(np.all(first == second, axis=1)), rows])
    kept = es.SegmentStatistics(statistics.values[:, keep], statistics.systems, metric)
    (difference,) = es.compare(kept, test="ar", n_resamples=256)
    assert difference.exact
    assert difference.n_differing == len(rows) == 8
    everything = naive.all_swap_differences(
        lambda totals: metric.score(totals + first[keep[:-8]].sum(axis=0)),
        first[rows],
        second[rows],
    )
    extreme = np.abs(everything) >= abs(difference.difference) - 1e-9
    assert difference.pvalue == np.mean(extreme)
    # One resample fewer than there are swaps, and they are sampled.
    (sampled,) = es.compare(kept, test="ar", n_resamples=255)
    assert not sampled.exact


def test_sampled_randomisation_agrees_with_exact():
    """8,000 draws of an exact p-value; 5 Monte-Carlo standard errors: false alarm below 1e-6."""
    a, b = scores_pair(1, 13)
    exact, sampled = (
        next(iter(es.compare({"A": a, "B": b}, None, es.Mean("x"), test="ar", n_resamples=n)))
        for n in (2**13, 8000)
    )
    assert exact.exact
    assert not sampled.exact
    assert 0 < sampled.pvalue_error < 0.01
    assert abs(exact.pvalue - sampled.pvalue) < 5 * sampled.pvalue_error + 1e-4


@pytest.mark.parametrize("test", ["ar", "bootstrap"])
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("metric", ["bleu", "chrf"])
def test_identical_systems_have_p_exactly_one(sample, test, alternative, metric):
    texts = sample.systems["baseline"]
    result = es.compare(
        {"A": texts, "B": list(texts)},
        sample.references,
        metric,
        test=test,
        alternative=alternative,
        n_resamples=99,
    )
    (difference,) = result
    assert difference.pvalue == difference.pvalue_adjusted == 1.0
    assert (difference.difference, difference.low, difference.high) == (0, 0, 0)
    assert difference.winner is None
    assert any("identical" in note for note in result.notes)


def test_equal_but_not_identical_systems_have_p_one():
    """Swapping two segments with opposite differences: every arrangement is a tie or beyond."""
    a, b = np.array([1.0, 0.0] * 10), np.array([0.0, 1.0] * 10)
    for test in ("ar", "bootstrap"):
        (difference,) = es.compare({"A": a, "B": b}, None, es.Mean("x"), test=test)
        assert difference.pvalue == 1.0


def test_one_sided_p_values_of_a_winner_and_a_loser(sample):
    systems = {name: sample.systems[name] for name in ("baseline", "clearly-better")}
    for test in ("ar", "bootstrap"):
        greater, less, both = (
            next(iter(es.compare(systems, sample.references, test=test, alternative=alternative)))
            for alternative in ("greater", "less", "two-sided")
        )
        assert greater.pvalue < 2 / 10_000
        assert less.pvalue == 1.0
        assert both.pvalue < 2 / 10_000


def test_reversed_roles_mirror_the_result():
    a, b = scores_pair(5, 60)
    (forward,) = es.compare({"A": a, "B": b}, None, es.Mean("x"))
    (backward,) = es.compare({"B": b, "A": a}, None, es.Mean("x"))
    assert forward.difference == -backward.difference
    assert forward.pvalue == backward.pvalue
    assert (forward.low, forward.high) == pytest.approx((-backward.high, -backward.low))


@pytest.mark.parametrize("alternative, count", [("two-sided", 3), ("greater", 2), ("less", 3)])
def test_ties_count_as_evidence_against_a_difference(alternative, count):
    null = np.array([0.5, -0.5, 0.1, 0.7])
    assert randomisation.count_as_extreme(0.5, null, alternative) == count
    # One more that is equal but for rounding, with a tolerance.
    nearly = np.append(null, 0.5 - 1e-15 if alternative != "less" else 0.5 + 1e-15)
    assert randomisation.count_as_extreme(0.5, nearly, alternative, 1e-12) == count + 1


def test_monte_carlo_error():
    assert randomisation.monte_carlo_error(0.05, 9999) == pytest.approx(0.00218, abs=1e-5)


@pytest.mark.parametrize("test", ["ar", "bootstrap"])
def test_level_under_exchangeability(test):
    """100 true null hypotheses, 60 segments, level 0.1.

    Rejections are binomial(100, p) with p between 0.09 and 0.11; fewer than 2 or more than 22
    has a probability below 1e-3.
    """
    rng = np.random.default_rng(17)
    rejected = 0
    for trial in range(100):
        a, b = rng.gamma(2, size=(2, 60))
        (difference,) = es.compare(
            {"A": a, "B": b}, None, es.Mean("x"), test=test, n_resamples=199, rng=trial, method="t"
        )
        rejected += difference.pvalue <= 0.1
    assert 2 <= rejected <= 22


@pytest.mark.parametrize("test", ["ar", "bootstrap"])
def test_a_clear_difference_of_large_numbers_is_no_tie(test):
    scores = 1.7e9 + np.random.default_rng(0).normal(size=100)
    (difference,) = es.compare({"A": scores, "B": scores + 1}, None, es.Mean("time"), test=test)
    assert difference.pvalue < 0.001


def test_equal_segments_stay_equal_whatever_the_others_are():
    """200 scores, five of them different: 2^5 swaps are enumerated, though the largest differ."""
    a = np.random.default_rng(0).random(200)
    b = a.copy()
    b[:5] += 3
    (difference,) = es.compare({"A": a, "B": b}, None, es.Mean("x"), test="ar")
    assert difference.n_differing == 5
    assert difference.exact
    assert difference.pvalue == 2 / 2**5


def test_unknown_alternative_is_refused_by_the_leaf():
    with pytest.raises(es.InputError, match=r"alternative must be one of .*; got 'Greater'"):
        randomisation.randomization_pvalue(0.1, np.zeros(9), "Greater")
