"""Several runs of a system: their mean score, and the errors of segments and of runs."""

import numpy as np
import pytest
from scipy import stats

import evalstats as es
from evalstats.designs.runs import extract_runs
from evalstats.metrics.ratios import MeanOfRuns
from tests.conftest import first
from tests.helpers import bad_cases

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
    (table,) = extract_runs({"A": outputs}, sample.references, "bleu")
    assert table.metric == MeanOfRuns(es.BLEU(), 3)
    direct = es.BLEU().statistics(outputs[0], sample.references)
    assert np.array_equal(table.values[0, :, : direct.shape[1]], direct)
    again = es.estimate(table)
    assert (again.score, again.low, again.high) == (found.score, found.low, found.high)


def test_runs_keep_what_is_known_of_their_texts(sample):
    outputs = sample.systems["baseline"]
    empty = [text if i % 2 else "" for i, text in enumerate(outputs)]
    references = [[*entry, ""] for entry in sample.references]
    runs = {"A": [empty, outputs], "B": [outputs, empty]}
    (table,) = extract_runs(runs, references, "bleu")
    alone = es.extract({"A": outputs}, references, "bleu")
    assert (table.fingerprint, table.cautions[""]) == (alone.fingerprint, alone.cautions[""])
    for name, run in (("A", 1), ("B", 2)):
        (said,) = table.cautions[name]
        assert said == f"Caution: 240 of 480 outputs of {name} run {run} are empty."


def two_way(y):
    """Return the mean squares of 4 runs, of 30 segments and of both at once, and a mean's degrees."""
    mean, by_run, by_segment = y.mean(), y.mean(axis=1), y.mean(axis=0)
    run = 30 * np.sum((by_run - mean) ** 2) / 3
    segment = 4 * np.sum((by_segment - mean) ** 2) / 29
    both = np.sum((y - by_run[:, None] - by_segment + mean) ** 2) / (3 * 29)
    return run, segment, both, (segment + run - both) ** 2 / (segment**2 / 29 + run**2 / 3)


def test_variance_is_that_of_a_two_way_analysis():
    """Mean squares of segments, runs and both at once, from their sums."""
    rng = np.random.default_rng(3)
    y = simulated(rng, 4, 30, 0.5, 0.3, 0.4)["A"]
    ms_run, ms_segment, ms_both, degrees = two_way(y)
    found = es.estimate(y, None, MARKS)
    assert found.standard_error**2 == pytest.approx((ms_segment + ms_run - ms_both) / 120)
    assert found.segment_error**2 == pytest.approx(ms_segment / 120)
    assert found.run_error**2 == pytest.approx((ms_run - ms_both) / 120)
    plain = es.estimate(y, None, MARKS, method="t")
    half = stats.t.ppf(0.975, degrees) * found.standard_error
    assert (plain.low, plain.high) == pytest.approx((y.mean() - half, y.mean() + half))


def components(x, y):
    """Return error, degrees and p of the difference of two means over runs, term by term."""
    n_runs, n = x.shape
    square = np.var(y.mean(axis=0) - x.mean(axis=0), ddof=1) / n
    total, squares, of_runs = square, square**2 / (n - 1), 0.0
    for marks in (x, y):
        between = np.var(marks.mean(axis=1), ddof=1) / n_runs
        rest = marks - marks.mean(axis=0) - marks.mean(axis=1, keepdims=True) + marks.mean()
        together = np.sum(rest**2) / ((n_runs - 1) * (n - 1)) / n_runs / n
        of_runs += between - together
        squares += between**2 / (n_runs - 1)
    if of_runs <= 0:
        total, squares = square, square**2 / (n - 1)
    else:
        total += of_runs
    degrees = max(total**2 / squares, n_runs - 1)
    distance = abs(y.mean() - x.mean()) / total**0.5
    return total**0.5, degrees, 2 * stats.t.sf(distance, degrees)


@pytest.mark.parametrize("method", ["bootstrap", "t"])
@pytest.mark.parametrize("run", [0.1, 0.65])
def test_the_difference_of_two_means_over_runs_has_two_variance_components(run, method):
    marks = simulated(np.random.default_rng(6), 4, 60, run, 1, 2, shift=1.3)
    error, degrees, p = components(*marks.values())
    result = es.compare(marks, metrics=MARKS, method=method)
    (d,) = result
    assert (d.test, d.method, d.exact, result.test) == ("t", "t", False, "t")
    assert (d.standard_error, d.pvalue) == pytest.approx((error, p))
    half = stats.t.ppf(0.975, degrees) * error
    assert (d.low, d.high) == pytest.approx((d.difference - half, d.difference + half))
    (note,) = [note for note in result.notes if "from segments alone" in note]
    assert "the standard error from" in note
    shifted = stats.t.sf((d.difference + 0.1) / error, degrees)
    (margin,) = es.compare(marks, metrics=MARKS, method=method, margin=0.1)
    assert margin.pvalue_not_worse == pytest.approx(shifted)


RUNS, OTHERS = [[1, 0], [1, 1]], [[1, 0], [1, 2]]


@bad_cases(
    (RUNS, [*RUNS, [0, 1]], {}, "same number of runs, got 2 of 'A' and 3 of 'B'"),
    (RUNS, [1, 0], {}, "system 'B' must contain at least 2 runs"),
    ([[1, 0]], [[1, 1]], {}, "system 'A' must contain at least 2 runs"),
    (RUNS, [[1, 0], [1]], {}, "same number of segments.*'B run 2' has 1"),
)
def test_bad_runs(first, second, options):
    es.compare({"A": first, "B": second}, metrics=MARKS, **options)


@bad_cases(
    (lambda: es.estimate([["a cat"], ["a dog"]], ["a cat", "a dog"]), "list of one output"),
    (lambda: MeanOfRuns(MeanOfRuns(MARKS, 2), 2), "metric must score a single run,"),
    (lambda: MeanOfRuns(MARKS, 1), "n_runs must be at least 2"),
    (lambda: MeanOfRuns(MARKS, 2).statistics([[1, 0]]), "must have 2 runs, got 1"),
    (lambda: MeanOfRuns(MARKS, 2).statistics([[1, 0], [1]]), "segments, got 2, 1"),
)
def test_bad_metrics_of_runs(call):
    call()


def prompts(rng, n_runs, n_segments, own=0.0):
    """Return marks of two systems asked with the same prompts, whose effects are shared."""
    shared = rng.normal(size=(n_runs, 1)) + rng.normal(size=(n_runs, n_segments))
    of_item = rng.normal(size=n_segments)
    return {
        name: of_item
        + shared
        + rng.normal(size=n_segments)
        + own * rng.normal(size=(n_runs, 1))
        + rng.normal(size=(n_runs, n_segments))
        for name in "AB"
    }


def test_paired_runs_are_a_two_way_analysis_of_the_differences():
    marks = prompts(np.random.default_rng(11), 4, 30, own=1.0)
    y = marks["B"] - marks["A"]
    ms_run, ms_segment, ms_both, degrees = two_way(y)
    (d,) = es.compare(marks, metrics=MARKS, paired_runs=True)
    assert d.test == d.method == "t"
    assert d.standard_error**2 == pytest.approx((ms_segment + ms_run - ms_both) / 120)
    assert d.pvalue == pytest.approx(2 * stats.t.sf(abs(y.mean()) / d.standard_error, degrees))
    result = es.compare(marks, metrics=MARKS, paired_runs=True)
    assert "paired:runs" in result.signatures[0]
    assert "share a prompt or seed" in result.describe()
    apart = es.compare(marks, metrics=MARKS)
    for one, other in zip(apart.estimates, result.estimates, strict=True):
        assert one.standard_error == pytest.approx(other.standard_error)


@pytest.mark.parametrize("n_runs", first(1, [2, 3, 5]))
def test_what_prompts_do_to_both_systems_is_no_error(n_runs):
    """Of 100 pairs that differ at .05 with a probability of .05, 13 and more do with .0015."""
    rng = np.random.default_rng([12, n_runs])
    rejected, lengths, before = 0, [], []
    for _ in range(100):
        marks = prompts(rng, n_runs, 60)
        (d,) = es.compare(marks, metrics=MARKS, paired_runs=True, n_resamples=999)
        rejected += d.pvalue <= 0.05
        lengths.append(d.high - d.low)
        if len(before) < 5:
            (apart,) = es.compare(marks, metrics=MARKS)
            before.append(apart.high - apart.low)
    assert rejected <= 12
    true = 2 * 1.96 * np.sqrt(2 * (1 + 1 / n_runs) / 60)
    assert 0.95 < np.median(lengths) / true < 1.2
    assert np.median(before) > 3 * np.median(lengths)


def test_a_share_of_paired_runs_is_held_within_runs():
    """A recovery is a test of new - r·base in each run."""
    marks = {name: 10 + x for name, x in prompts(np.random.default_rng(13), 3, 40).items()}
    (d,) = es.compare(marks, metrics=MARKS, paired_runs=True, recovery=0.9)
    share = {"A": 0.9 * marks["A"], "B": marks["B"]}
    (known,) = es.compare(share, metrics=MARKS, paired_runs=True, alternative="greater")
    assert d.pvalue_not_worse == pytest.approx(known.pvalue, rel=0.4)
    (apart,) = es.compare(marks, metrics=MARKS, recovery=0.9)
    assert apart.pvalue_not_worse > 100 * known.pvalue


def test_paired_runs_need_runs():
    with pytest.raises(es.InputError, match="paired_runs requires several runs of each system"):
        es.compare({"A": [1.0, 2, 3], "B": [2.0, 2, 3]}, metrics=MARKS, paired_runs=True)


def test_no_interval_of_runs_leaves_the_scores_that_there_can_be():
    runs = [["a b c d e", "a b c d f"], ["a b x d e", "y b c d e"]]
    (score,) = es.estimate({"A": runs}, ["a b c d e", "a b c d e"], "bleu")
    assert 0 <= score.low < score.score < score.high <= 100
