"""Several runs of a system: their mean score, and the errors of segments and of runs."""

import numpy as np
import pytest
from scipy import stats

import evalstats as es
from evalstats.inference import runs
from evalstats.inference.influence import influence_values

MARKS = es.Mean("marks")


def simulated(rng, n_runs, n_segments, run, segment, both, shift=0.0):
    """Return marks of two systems, `(R, N)` each, from normal effects of these sizes."""
    common = rng.normal(size=n_segments)
    return {
        name: level
        + common
        + segment * rng.normal(size=n_segments)
        + run * rng.normal(size=(n_runs, 1))
        + both * rng.normal(size=(n_runs, n_segments))
        for name, level in (("A", 0.0), ("B", shift))
    }


def test_score_is_the_mean_of_the_runs(sample):
    outputs = [sample.systems[name] for name in ("baseline", "copy", "clearly-better")]
    found = es.estimate(outputs, sample.references, "bleu")
    alone = [es.estimate(run, sample.references, "bleu", method="t").score for run in outputs]
    assert found.score == pytest.approx(np.mean(alone), rel=1e-12)
    assert found.metric == "BLEU"
    assert "runs:3" in found.signature
    assert found.replicates.size == 0


def test_lists_and_statistics_are_the_same(sample):
    systems = {
        "A": [sample.systems["baseline"], sample.systems["copy"]],
        "B": [sample.systems["clearly-better"], sample.systems["baseline"]],
    }
    table = es.extract_runs(systems, sample.references, "chrf")
    assert table.metric == es.MeanOfRuns(es.CHRF(), 2)
    direct = es.CHRF().statistics(sample.systems["clearly-better"], sample.references)
    assert np.array_equal(table.values[1, :, : direct.shape[1]], direct)
    by_text = es.compare(systems, sample.references, "chrf", n_resamples=200)
    assert by_text.to_dict() == es.compare(table, n_resamples=200).to_dict()


def test_statistics_of_runs_are_kept_in_files(tmp_path):
    table = es.extract_runs({"A": [[1, 0, 1], [1, 1, 1]]}, metric=MARKS)
    table.save(tmp_path / "runs.npz")
    again = es.SegmentStatistics.load(tmp_path / "runs.npz", es.MeanOfRuns(MARKS, 2))
    assert np.array_equal(again.values, table.values)


def test_ratios_have_runs_of_rows():
    rows = [[[1, 2], [3, 4], [0, 1]], [[2, 2], [1, 4], [1, 1]]]
    found = es.estimate(rows, None, es.Ratio("share"))
    assert found.score == pytest.approx((4 / 7 + 4 / 7) / 2)


def test_variance_is_that_of_a_two_way_analysis():
    """Mean squares of segments, runs and both at once, from their sums."""
    rng = np.random.default_rng(3)
    y = simulated(rng, 4, 30, 0.5, 0.3, 0.4)["A"]
    mean, by_run, by_segment = y.mean(), y.mean(axis=1), y.mean(axis=0)
    ms_run = 30 * np.sum((by_run - mean) ** 2) / 3
    ms_segment = 4 * np.sum((by_segment - mean) ** 2) / 29
    ms_both = np.sum((y - by_run[:, None] - by_segment + mean) ** 2) / (3 * 29)
    found = es.estimate(y, None, MARKS)
    assert found.standard_error**2 == pytest.approx((ms_segment + ms_run - ms_both) / 120)
    assert found.segment_error**2 == pytest.approx(ms_segment / 120)
    assert found.run_error**2 == pytest.approx((ms_run - ms_both) / 120)
    degrees = (ms_segment + ms_run - ms_both) ** 2 / (ms_segment**2 / 29 + ms_run**2 / 3)
    plain = es.estimate(y, None, MARKS, method="t")
    half = stats.t.ppf(0.975, degrees) * found.standard_error
    assert (plain.low, plain.high) == pytest.approx((mean - half, mean + half))


def test_runs_that_do_not_differ_add_nothing():
    rng = np.random.default_rng(4)
    one = rng.random(50)
    found, alone = (
        es.estimate([one, one, one], None, MARKS),
        es.estimate(one, None, MARKS, method="t"),
    )
    assert found.run_error == 0
    assert found.standard_error == pytest.approx(alone.standard_error)
    assert found.score == pytest.approx(alone.score)


def test_difference_counts_runs_of_both_systems():
    rng = np.random.default_rng(6)
    pair = simulated(rng, 5, 200, 0.3, 0.2, 0.2)
    result = es.compare(pair, metrics=MARKS)
    (difference,) = result.differences
    # What each system's runs are worth, without what segments and runs do together.
    means = {name: y.mean(axis=1) for name, y in pair.items()}
    between = sum(np.var(m, ddof=1) / 5 for m in means.values())
    assert difference.standard_error > 0.9 * np.sqrt(between)
    # A test that holds the runs to be fixed is sure of what five runs cannot show.
    fixed = es.compare({n: y.mean(axis=0) for n, y in pair.items()}, metrics=MARKS)
    assert fixed.differences[0].pvalue < 0.001 < difference.pvalue
    assert difference.high - difference.low > 3 * (
        fixed.differences[0].high - fixed.differences[0].low
    )
    (note,) = [note for note in result.notes if "from runs" in note]
    assert "from segments" in note


def test_several_systems_are_adjusted_by_holm():
    rng = np.random.default_rng(8)
    systems = {
        f"{i}{n}": y for i in range(2) for n, y in simulated(rng, 3, 40, 0.2, 0.2, 0.2).items()
    }
    result = es.compare(systems, metrics=MARKS, n_resamples=199)
    assert result.adjustment == "holm"
    smallest = min(result, key=lambda d: d.pvalue)
    assert smallest.pvalue_adjusted == pytest.approx(min(1, 6 * smallest.pvalue))
    wide = es.compare(systems, metrics=MARKS, n_resamples=199, intervals="simultaneous", method="t")
    sixth = es.compare(
        systems, metrics=MARKS, n_resamples=199, confidence_level=1 - 0.05 / 6, method="t"
    )
    for a, b in zip(wide, sixth, strict=True):
        assert (a.low, a.high) == pytest.approx((b.low, b.high))


@pytest.mark.parametrize(
    ("n_runs", "run", "both"),
    [(2, 0.0, 1.0), (3, 0.1, 1.0), (3, 0.5, 0.3), (5, 0.05, 0.3), (10, 0.1, 0.5)],
)  # fmt: skip
def test_level_is_held(n_runs, run, both):
    """1,000 pairs of equal systems, 100 segments, seed 9: a test at 5 % rejects more than 78 with
    probability below 1e-4. Nothing is promised from below: where runs add nothing it is careful.
    """
    rng, trials, rejected = np.random.default_rng(9), 1000, 0
    for _ in range(trials):
        moves, scores, added = 0.0, [], []
        for y in simulated(rng, n_runs, 100, run, 0.3, both).values():
            influence = (y - y.mean(axis=1, keepdims=True)) / 100
            added.append((*runs.run_variance(y.mean(axis=1), influence), n_runs))
            scores.append(y.mean())
            moves = influence.mean(axis=0) - moves
        segment_error = np.sqrt(100 / 99 * np.sum(moves**2))
        error, degrees = runs.combined(segment_error, 99, added)
        rejected += 2 * stats.t.sf(abs(scores[1] - scores[0]) / error, degrees) <= 0.05
    assert rejected <= 78


@pytest.mark.thorough
@pytest.mark.parametrize("run", [0.0, 0.15])
def test_intervals_cover_and_tests_hold(run):
    """300 trials of `compare`, 4 runs of 60 segments, seed 2, at 95 % and 5 %: more than 31 misses
    or rejections have probability below 1e-4.
    """
    rng, missed = np.random.default_rng(2), np.zeros(3)
    for _ in range(300):
        pair = simulated(rng, 4, 60, run, 0.3, 0.5, shift=1.0)
        result = es.compare(pair, metrics=MARKS, n_resamples=199)
        (d,), a = result.differences, result.estimates[0]
        pair["B"] -= 1.0
        null = es.compare(pair, metrics=MARKS, n_resamples=199).differences[0]
        missed += [not d.low <= 1 <= d.high, not a.low <= 0 <= a.high, null.pvalue <= 0.05]
    assert np.all(missed <= 31), missed


def test_bleu_of_runs_spreads_as_said(sample):
    """Runs that are mixtures of two systems: the error of one run's mean is that of many."""
    rng = np.random.default_rng(7)
    tables = [
        es.extract({"x": sample.systems[name]}, sample.references).values[0]
        for name in ("baseline", "clearly-better")
    ]
    picks = rng.random((2000, 1)) * np.ones(480) > rng.random((2000, 480))
    scores = es.BLEU().score(
        np.einsum("rn,nk->rk", picks, tables[1]) + np.einsum("rn,nk->rk", ~picks, tables[0])
    )
    few = np.where(picks[:40, :, None], tables[1], tables[0])
    influence = influence_values(es.BLEU(), few.astype(float))
    added, between = runs.run_variance(scores[:40], influence)
    assert 0 < added < between
    # Of 40 runs: the variance of their mean, within a third (4 standard errors are 0.9).
    assert added * 40 == pytest.approx(np.var(scores), rel=0.5)


@pytest.mark.parametrize(
    ("systems", "settings", "message"),
    [
        ({"A": [[1, 0], [1, 1]], "B": [[1, 0], [1, 1], [0, 1]]}, {}, "same number of runs, got 2 of 'A' and 3 of 'B'"),
        ({"A": [[1, 0], [1, 1]], "B": [1, 0]}, {}, "system 'B' must be at least 2 runs"),
        ({"A": [[1, 0]], "B": [[1, 1]]}, {}, "system 'A' must be at least 2 runs"),
        ({"A": [[1, 0], [1, 1]], "B": [[1, 0], [1]]}, {}, "same number of segments.*'B run 2' has 1"),
        ({"A": [[1, 0], [1, 1]], "B": [[1, 0], [1, 2]]}, {"test": "ar"}, "test 'ar' says nothing of other runs"),
        ({"A": [[1, 0], [1, 1]], "B": [[1, 0], [1, 2]]}, {"test": "bootstrap"}, "test 'bootstrap' says nothing"),
        ({"A": [[1, 0], [1, 1]], "B": [[1, 0], [1, 2]]}, {"method": "percentile"}, "method 'percentile' resamples segments"),
        ({"A": [[1, 0, 1, 1]] * 2, "B": [[1, 0, 1, 1]] * 2}, {"strata": list("xxyy"), "aggregate": "macro"}, "several runs of each"),
    ],
)  # fmt: skip
def test_bad_input(systems, settings, message):
    with pytest.raises(es.InputError, match=message):
        es.compare(systems, metrics=MARKS, **settings)


def test_texts_in_lists_of_one_are_named():
    with pytest.raises(es.InputError, match="references has 2 entries"):
        es.estimate([["a cat"], ["a dog"]], ["a cat", "a dog"])
    with pytest.raises(es.InputError, match="metric must be that of one run"):
        es.MeanOfRuns(es.MeanOfRuns(MARKS, 2), 2)
    with pytest.raises(es.InputError, match="n_runs must be at least 2"):
        es.MeanOfRuns(MARKS, 1)
    with pytest.raises(es.InputError, match="hypotheses must have 2 runs, got 1"):
        es.MeanOfRuns(MARKS, 2).statistics([[1, 0]])
    with pytest.raises(es.InputError, match="same number of segments, got 2, 1"):
        es.MeanOfRuns(MARKS, 2).statistics([[1, 0], [1]])
