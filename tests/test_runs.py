"""Several runs of a system: their mean score, and the errors of segments and of runs."""

import numpy as np
import pytest
from scipy import stats

import evalstats as es

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


def components(x, y):
    """Return error, degrees and p of the difference of two means over runs, term by term."""
    n_runs, n = x.shape
    square = np.var(y.mean(axis=0) - x.mean(axis=0), ddof=1) / n
    total, squares = square, square**2 / (n - 1)
    for marks in (x, y):
        between = np.var(marks.mean(axis=1), ddof=1) / n_runs
        rest = marks - marks.mean(axis=0) - marks.mean(axis=1, keepdims=True) + marks.mean()
        together = np.sum(rest**2) / ((n_runs - 1) * (n - 1)) / n_runs / n
        total += max(between - together, 0)
        squares += between**2 / (n_runs - 1)
    degrees = max(total**2 / squares, n_runs - 1)
    distance = abs(y.mean() - x.mean()) / total**0.5
    return total**0.5, degrees, 2 * stats.t.sf(distance, degrees)


def skewed():
    """Return five runs on 40 items, a few of them very hard: errors are .41 of runs, .19 of items."""
    rng = np.random.default_rng(6)
    hard = rng.pareto(1.5, size=40)
    return {
        name: shift + 0.65 * rng.normal(size=(5, 1)) + hard * (1 + 0.3 * rng.normal(size=40))
        + 0.2 * rng.normal(size=(5, 40))
        for name, shift in (("A", 0.0), ("B", 1.3))
    }  # fmt: skip


@pytest.mark.parametrize("marks", [skewed(), simulated(np.random.default_rng(6), 4, 60, 0.1, 1, 2)])
@pytest.mark.parametrize("test", ["bootstrap", "t"])
def test_the_difference_of_two_means_over_runs_has_two_variance_components(marks, test):
    """Defect: a skewed item or two took the power of a test whose error is that of five runs."""
    error, degrees, p = components(*marks.values())
    result = es.compare(marks, metrics=MARKS, test=test)
    (d,) = result
    assert (d.test, d.method, d.exact, result.test) == ("t", "t", False, "t")
    assert (d.standard_error, d.pvalue) == pytest.approx((error, p))
    half = stats.t.ppf(0.975, degrees) * error
    assert (d.low, d.high) == pytest.approx((d.difference - half, d.difference + half))
    (note,) = [note for note in result.notes if "from runs" in note]
    assert "standard errors from segments" in note
    shifted = stats.t.sf((d.difference + 0.1) / error, degrees)
    (margin,) = es.compare(marks, metrics=MARKS, test=test, margin=0.1)
    assert margin.margin_test.pvalue_not_worse == pytest.approx(shifted)


def test_what_fixed_runs_would_be_sure_of_five_runs_cannot_show():
    marks = skewed()
    (d,) = es.compare(marks, metrics=MARKS)
    (fixed,) = es.compare({s: x.mean(axis=0) for s, x in marks.items()}, metrics=MARKS, test="t")
    moved = marks["B"].mean(axis=0) - marks["A"].mean(axis=0)
    assert abs(stats.skew(moved)) > 3
    runs = np.hypot(*(np.std(x.mean(axis=1), ddof=1) / 5**0.5 for x in marks.values()))
    assert (runs, fixed.standard_error) == pytest.approx((0.41, 0.19), abs=0.04)
    assert fixed.pvalue < 1e-4 < d.pvalue < 0.05


@pytest.mark.parametrize(
    ("systems", "settings", "message"),
    [
        ({"A": [[1, 0], [1, 1]], "B": [[1, 0], [1, 1], [0, 1]]}, {}, "same number of runs, got 2 of 'A' and 3 of 'B'"),
        ({"A": [[1, 0], [1, 1]], "B": [1, 0]}, {}, "system 'B' must be at least 2 runs"),
        ({"A": [[1, 0]], "B": [[1, 1]]}, {}, "system 'A' must be at least 2 runs"),
        ({"A": [[1, 0], [1, 1]], "B": [[1, 0], [1]]}, {}, "same number of segments.*'B run 2' has 1"),
        ({"A": [[1, 0], [1, 1]], "B": [[1, 0], [1, 2]]}, {"test": "ar"}, "test 'ar' says nothing of other runs"),
        ({"A": [[1, 0], [1, 1]], "B": [[1, 0], [1, 2]]}, {"method": "percentile"}, "method 'percentile' says nothing of other runs"),
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
