"""Quantities are arrays: scores, differences and recoveries of any systems, in blocks of any size."""

import numpy as np
import pytest

import evalstats as es
from evalstats.analysis import pairs as of_pairs
from evalstats.analysis.design import Units
from evalstats.analysis.options import Options
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


def test_replicates_are_weights_times_statistics():
    scores = scores_of()
    expected = es.bootstrap_weights(N, B, 3) @ ROWS.T / N
    np.testing.assert_allclose(scores.replicates, expected.T, rtol=1e-12)


@pytest.mark.parametrize("task", [{}, {"strata": STRATA}, {"groups": [i // 3 for i in range(N)]}])
@pytest.mark.parametrize("kind", ["numbers", "0/1"])
def test_how_many_pairs_are_in_memory_changes_no_bit(task, kind, monkeypatch):
    rows = ROWS if kind == "numbers" else (ROWS > 2).astype(float)
    table = es.extract({f"s{i}": row for i, row in enumerate(rows)}, metric=MEAN)
    every = es.compare(table, n_resamples=B, margin=0.4, **task)
    monkeypatch.setattr(of_pairs, "_TOGETHER", 1)
    assert es.compare(table, n_resamples=B, margin=0.4, **task) == every


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
