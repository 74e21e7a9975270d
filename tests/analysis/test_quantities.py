"""Quantities are arrays: scores, differences and recoveries of any systems, in blocks of any size."""

import numpy as np
import pytest
from scipy.stats import t as student_t

import evalstats as es
from evalstats.analysis import pairs as of_pairs
from evalstats.analysis.design import Units
from evalstats.analysis.options import Options
from evalstats.analysis.pairs import Recovery
from evalstats.analysis.scores import Stratum, drawn, of_strata
from evalstats.analysis.tasks import Task, as_task
from evalstats.metrics.base import MetricSignature

RNG = np.random.default_rng(8)
N, B = 60, 499
ROWS = RNG.gamma(2.0, size=(4, N)) + 0.3 * np.arange(4)[:, None]
STRATA = np.repeat(["a", "b", "c"], (10, 20, 30)).tolist()
MEAN = es.Mean("m")


def scores_of(rows=ROWS, metric=MEAN, method="bootstrap", **task):
    names = [f"s{i}" for i in range(len(rows))]
    table = es.extract(dict(zip(names, rows, strict=True)), metric=metric)
    options = Options(n_resamples=B, rng=3, method=method)
    (scores,) = Task([table], **task).drawn(options)
    return scores


def test_differences_are_rows_less_rows():
    scores = scores_of()
    a, b = [0, 3, 1], [1, 0, 2]
    pairs = scores.pairs(a, b)
    np.testing.assert_array_equal(pairs.value, scores.value[b] - scores.value[a])
    np.testing.assert_array_equal(pairs.influence, scores.influence[b] - scores.influence[a])
    np.testing.assert_array_equal(pairs.replicates, scores.replicates[b] - scores.replicates[a])
    np.testing.assert_array_equal(pairs.n_differing, [N] * 3)
    # A mean's standard error, and that of a difference of means.
    for q, (i, j) in enumerate(zip(a, b, strict=True)):
        error, factor, degrees = pairs.spreads[q]
        assert error == pytest.approx(np.std(ROWS[j] - ROWS[i], ddof=1) / N**0.5)
        assert (factor, degrees) == pytest.approx(((N / (N - 1)) ** 0.5, N - 1))


def test_replicates_are_weights_times_statistics():
    scores = scores_of()
    expected = es.bootstrap_weights(N, B, 3) @ ROWS.T / N
    np.testing.assert_allclose(scores.replicates, expected.T, rtol=1e-12)


def test_a_mean_of_strata_is_a_weighted_sum_of_quantities():
    """Values, influence and standard errors are sums over strata, which have scores of their own."""
    weights = {"a": 1.0, "b": 2.0, "c": 5.0}
    scores = scores_of(strata=STRATA, aggregate=weights)
    labels = np.array(STRATA)
    value, variance = np.zeros(4), np.zeros(4)
    for label, weight in weights.items():
        part = scores_of(ROWS[:, labels == label])
        value += weight / 8 * part.value
        variance += (weight / 8) ** 2 * np.array([spread.error**2 for spread in part.spreads])
        at = scores.influence[:, labels == label]
        np.testing.assert_allclose(at, weight / 8 * part.influence, rtol=1e-9)
    np.testing.assert_allclose(scores.value, value, rtol=1e-12)
    errors = [spread.error for spread in scores.spreads]
    np.testing.assert_allclose(errors, variance**0.5, rtol=1e-12)
    assert np.all(np.abs(np.mean(scores.replicates, axis=1) - value) < 4 * variance**0.5 / B**0.5)


def test_by_t_an_interval_and_a_p_value_are_those_of_a_paired_t_test():
    pairs = scores_of(method="t").pairs([0], [2])
    moved = ROWS[2] - ROWS[0]
    error = np.std(moved, ddof=1) / N**0.5
    expected = np.mean(moved) + np.array([-1, 1]) * student_t.ppf(0.975, N - 1) * error
    np.testing.assert_allclose(pairs.interval(0, 0.05), expected, rtol=1e-9)
    null = 0.2
    p = 2 * student_t.sf(abs(np.mean(moved) - null) / error, N - 1)
    assert pairs.pvalue(0, null) == pytest.approx(p, rel=1e-9)
    assert (*pairs.names(0), pairs.draws.n) == ("t", "t", 0)


@pytest.mark.parametrize("task", [{}, {"strata": STRATA}, {"groups": [i // 3 for i in range(N)]}])
@pytest.mark.parametrize("kind", ["numbers", "0/1"])
def test_how_many_pairs_are_in_memory_changes_no_bit(task, kind, monkeypatch):
    rows = ROWS if kind == "numbers" else (ROWS > 2).astype(float)
    table = es.extract({f"s{i}": row for i, row in enumerate(rows)}, metric=MEAN)
    every = es.compare(table, n_resamples=B, margin=0.4, **task)
    monkeypatch.setattr(of_pairs, "_TOGETHER", 1)
    assert es.compare(table, n_resamples=B, margin=0.4, **task) == every


def test_few_units_that_differ_limit_what_is_known():
    rows = np.tile(ROWS[0], (2, 1))
    rows[1, :4] += [1.0, 2.0, 1.5, 1.2]
    pairs = scores_of(rows).pairs([0], [1])
    assert pairs.n_differing.tolist() == [4]
    assert pairs.spreads[0].degrees == 3
    # Four units can be swapped in 2^4 ways.
    assert pairs.pvalue(0) >= 2 * 0.5**4
    assert pairs.interval(0, 0.1)[0] <= 0
    same = scores_of(rows[[0, 0]]).pairs([0], [1])
    assert (same.pvalue(0), same.spreads[0].error) == (1.0, 0.0)


@pytest.mark.parametrize("method", ["bootstrap", "t"])
def test_the_bound_of_a_recovery_is_where_its_test_turns(method):
    scores = scores_of(method=method)
    recovery = Recovery(scores, 0, 1)
    bound = recovery.bound(0.05)
    assert 0 < bound < 1.2
    for share in np.clip([bound - 0.02, bound + 0.02], 0.01, 1):
        assert (recovery.kept_pvalue(share) <= 0.05) == (share < bound)
    # The opposite is shown where much less is kept.
    assert recovery.lost_pvalue(0.9) > 0.5


def test_a_score_may_rest_on_any_strata():
    """Two metrics in one score, each on units of its own."""
    first, second = es.Mean("x"), es.Ratio("y")
    values = RNG.integers(1, 9, size=(2, 30, 2))
    ones = np.stack([ROWS[:2, :30], np.ones((2, 30))], axis=-1)
    strata = [
        Stratum(first, ones, ones, ones, np.arange(30), np.arange(30), 0.25),
        Stratum(second, values, values, values, np.arange(30, 60), np.arange(30, 60), 0.75),
    ]
    units = Units(60, codes=np.repeat([0, 1], 30))
    known = {"name": "both", "metric_name": "both", "higher_is_better": True}
    signature = MetricSignature.of("custom")
    scores = of_strata(strata, units, systems=("A", "B"), signature=signature, **known)
    (scores,) = drawn([scores], Options(n_resamples=B))
    ratios = values[..., 0].sum(axis=1) / values[..., 1].sum(axis=1)
    expected = 0.25 * ROWS[:2, :30].mean(axis=1) + 0.75 * second.score(values.sum(axis=1))
    np.testing.assert_allclose(scores.value, expected, rtol=1e-12)
    assert second.score(values.sum(axis=1)) == pytest.approx(ratios, rel=1e-9)
    errors = np.array([spread.error for spread in scores.spreads])
    np.testing.assert_allclose(np.std(scores.replicates, axis=1), errors, rtol=0.15)


@pytest.mark.parametrize("paired_runs", [False, True])
def test_a_share_of_several_runs_is_that_of_their_scores(paired_runs):
    """Runs, like units, add a share of what they add to the whole."""
    runs = RNG.normal(size=(2, 3, 20)) + RNG.normal(size=(2, 3, 1)) + 5
    half = runs * np.array([0.5, 1.0])[:, None, None]
    options, spreads = Options(paired_runs=paired_runs), []
    for rows, share in ((runs, 0.5), (half, 1.0)):
        task = as_task(dict(zip("AB", rows.tolist(), strict=True)), metrics=MEAN, executor=1)
        (scores,) = task.drawn(options)
        spreads.append(scores.pairs([0], [1], share).spreads[0])
    np.testing.assert_allclose(*spreads, rtol=1e-9)


def test_where_few_resamples_reach_a_difference_holm_decides():
    rows = np.random.default_rng(22).normal(size=(3, 40)) + np.array([[0.0], [0.55], [0.2]])
    differences = es.compare(dict(zip("ABC", rows, strict=True)), metrics=MEAN).differences
    alone = [d.pvalue for d in differences]
    least, adjusted = min(zip(alone, (d.pvalue_adjusted for d in differences), strict=True))
    assert 3e-4 < least < 1.5e-3
    # Half a per cent of the resamples is more than Holm's p-value.
    assert adjusted == pytest.approx(3 * least)
