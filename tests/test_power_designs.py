"""Power of several runs of a system, and within strata: formulas, other tools, simulation."""

import json

import numpy as np
import pytest
from scipy import stats
from scipy.special import ndtri

import evalstats as es
from evalstats.cli import main
from evalstats.inference.power import t_power

MARKS = es.Mean("marks")


def quantiles(n):
    """Return n normal quantiles, of variance 1."""
    values = ndtri((np.arange(n) + 0.5) / n)
    return values / values.std(ddof=1)


def pilot_of_runs(n_runs, n_segments, run, segment, both, shift=0.0):
    """Return the statistics of a pilot whose mean squares are what these sizes lead to expect."""
    rng, marks = np.random.default_rng(0), {}
    of_segments = np.sqrt(2) * np.hypot(segment, both / np.sqrt(n_runs)) * quantiles(n_segments)
    of_runs = np.hypot(run, both / np.sqrt(n_segments)) * quantiles(n_runs)
    for i, name in enumerate(("old", "new")):
        apart = rng.normal(size=(n_runs, n_segments))
        apart -= apart.mean(axis=0)
        apart -= apart.mean(axis=1, keepdims=True)
        apart *= both / np.sqrt(np.sum(apart**2) / ((n_runs - 1) * (n_segments - 1)))
        marks[name] = i * (shift + rng.permutation(of_segments)) + of_runs[:, None] + apart
    return es.extract_runs(marks, metric=MARKS)


def alternating(n):
    """Return two systems in two strata, within which differences have the quantiles of a normal
    distribution; between them lie 6 standard deviations.
    """
    values, strata = np.repeat(quantiles(n // 2), 2), np.tile(["x", "y"], n // 2)
    marks = {"old": np.zeros(n), "new": 0.1 + values + 3 * np.where(strata == "x", 1, -1)}
    return marks, strata


def test_segments_needed_by_runs_are_those_of_miller():
    """n = (z + z)² (ω² + σ_A²/K + σ_B²/K)/δ² (Miller, 2024, section 5), K answers to a question.

    With 1,999 draws a power of 0.8 has a standard error of 0.009, and n one of 2.5 %.
    """
    table = pilot_of_runs(4, 500, 0.0, 0.4, 0.9)
    for runs in (3, 50):
        (found,) = es.power(table, difference=0.05, runs=runs, n_resamples=1999)
        n = (ndtri(0.975) + ndtri(0.8)) ** 2 * (2 * 0.16 + 2 * 0.81 / runs) / 0.05**2
        if runs > 3:
            assert found.needed == pytest.approx(n, rel=0.12)
        else:
            # The formula knows that runs add nothing. A test of three runs does not.
            assert found.needed > 1.2 * n
        assert found.run_deviation == pytest.approx(0, abs=1e-6)


def test_runs_that_do_not_differ_have_the_power_of_one():
    marks = {"old": np.zeros((3, 400)), "new": np.tile(0.1 + quantiles(400), (3, 1))}
    result = es.power(es.extract_runs(marks, metric=MARKS), difference=0.2)
    (found,) = result
    assert found.power == pytest.approx(0.979, abs=0.012)  # statsmodels' TTestPower, .2 and 400
    assert found.needed == pytest.approx(198.15, rel=0.08)  # its solve_power at .8
    assert found.run_deviation == 0
    assert (result.n_runs, result.pilot_runs) == (3, 3)


@pytest.mark.parametrize("runs", [3, 10])
def test_runs_alone_have_the_power_of_welch(runs):
    """Where segments hardly vary, runs are two samples: 20,000 of SciPy's tests, and 4,999 draws,
    have a standard error of 0.8 points; five of these are 4.
    """
    table = pilot_of_runs(8, 50, 1.0, 0.01, 0.01)
    size = 3.6 / np.sqrt(runs)
    (found,) = es.power(table, difference=size, runs=runs)
    first, second = np.random.default_rng(1).normal(size=(2, 20_000, runs))
    pvalues = stats.ttest_ind(second + size, first, axis=1, equal_var=False).pvalue
    assert found.power == pytest.approx(np.mean(pvalues <= 0.05), abs=0.04)


def test_more_segments_do_not_make_up_for_runs():
    table = pilot_of_runs(5, 200, 0.3, 0.3, 0.5)
    settings = {"difference": 0.4, "n_resamples": 499}
    result = es.power(table, n_segments=1000, **settings)
    (found,) = result
    assert found.needed is None
    assert found.limit > 0.4
    assert found.power < 0.8
    assert "with 5 runs of each system no number of segments finds 0.4" in str(result)
    for runs, is_enough in ((found.fewest_runs, True), (found.fewest_runs - 1, False)):
        (asked,) = es.power(table, n_segments=10**9, runs=runs, **settings)
        assert (asked.power >= 0.8) == is_enough
    for runs, is_enough in ((found.runs_needed, True), (found.runs_needed - 1, False)):
        (asked,) = es.power(table, n_segments=1000, runs=runs, **settings)
        assert (asked.power >= 0.8) == is_enough
        assert asked.runs_needed == found.runs_needed
    assert found.runs_needed_low < found.runs_needed < found.runs_needed_high
    (enough,) = es.power(table, runs=2 * found.fewest_runs, **settings)
    assert enough.needed < 1000


def test_two_runs_leave_more_open_than_ten():
    few, many = (
        es.power(pilot_of_runs(runs, 100, 0.3, 0.3, 0.3), runs=5, n_resamples=999).pairs[0]
        for runs in (2, 10)
    )
    assert few.minimum == pytest.approx(many.minimum, rel=0.1)
    assert few.minimum_high / few.minimum_low > 4 * many.minimum_high / many.minimum_low
    assert many.minimum_low < many.minimum < many.minimum_high


def test_curve_of_runs_in_every_form():
    pytest.importorskip("matplotlib").use("Agg")
    result = es.power(pilot_of_runs(4, 60, 0.2, 0.3, 0.5), difference=0.4, n_resamples=999)
    (found,) = result
    assert np.all(np.diff(found.run_minimums) < 0)
    assert found.run_powers[found.runs.index(4)] == found.power
    assert found.run_minimums[found.runs.index(4)] == found.minimum
    assert json.loads(result.to_json()) == result.to_dict()
    for word in ("runs needed", "fewest runs", "by number of runs", "4 runs (pilot 4)"):
        assert word in str(result)
        assert word in result.to_html()
    axes = result.plot(over="runs")
    assert list(axes.lines[0].get_xdata()) == list(found.runs)
    assert list(axes.lines[0].get_ydata()) == list(found.run_powers)
    with pytest.raises(es.InputError, match="over must be one of segments, runs; got 'time'"):
        result.plot(over="time")


def test_comparison_of_runs_plans_what_its_systems_would():
    table = pilot_of_runs(3, 60, 0.2, 0.3, 0.5)
    compared = es.compare(table, n_resamples=99).power(difference=0.5, n_resamples=499, runs=6)
    assert compared.to_dict() == es.power(table, difference=0.5, n_resamples=499, runs=6).to_dict()
    assert compared.n_runs == 6


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"runs": 1}, "runs must be at least 2, got 1"),
        ({"runs": 2.5}, "runs must be an integer"),
        ({"runs": 3}, "runs needs a pilot with several runs of each system"),
        ({"strata": list("xxyyzz"), "n_segments": 5}, "at least 6, two segments of each of 3 str"),
        ({"strata": list("xxyy")}, "strata has 4 labels"),
        ({"strata": list("xxxxxy")}, "each stratum needs at least 2 segments"),
        ({"aggregate": "macro"}, "aggregate='macro' needs strata"),
    ],
)
def test_bad_input_is_named(options, message):
    marks = {"old": [1.0, 2, 3, 1, 2, 3], "new": [2.0, 2, 3, 4, 2, 5]}
    with pytest.raises(es.InputError, match=message):
        es.power(marks, metrics=MARKS, n_resamples=9, **options)
    with pytest.raises(es.InputError, match="over='runs' needs a pilot with several runs"):
        es.power(marks, metrics=MARKS, n_resamples=9).plot(over="runs")


def test_differences_between_strata_cost_nothing():
    marks, strata = alternating(400)
    settings = {"metrics": MARKS, "strata": strata, "n_resamples": 1999}
    (within,) = es.power(marks, difference=0.2, **settings)
    (freely,) = es.power(marks, difference=0.2, **{**settings, "strata": None})
    # statsmodels' TTestPower().solve_power(.2, alpha=.05, power=.8): 198.15, of variance 1.
    assert within.needed == pytest.approx(198.15, rel=0.12)
    assert freely.needed == pytest.approx(1980, rel=0.12)
    (large,) = es.power(marks, difference=0.04, n_segments=5000, **{**settings, "n_resamples": 9})
    error = within.standard_deviation / np.sqrt(5000)
    assert large.power == pytest.approx(t_power(0.04 / error, 4998, 0.05), abs=1e-3)


def test_one_stratum_is_none(sample):
    pair = {name: sample.systems[name] for name in ("baseline", "slightly-better")}
    table = es.extract(pair, sample.references, "chrf")
    for groups in (None, sample.documents):
        settings = {"groups": groups, "difference": 1.0, "n_resamples": 199}
        (found,) = es.power(table, strata=["all"] * 480, **settings)
        (plain,) = es.power(table, **settings)
        assert found.minimums == pytest.approx(plain.minimums, rel=1e-9)
        assert (found.power, found.needed) == (plain.power, plain.needed)


def test_macro_average_needs_what_its_strata_do():
    """Of strata that take the shares s_t of n segments, the variance of a mean of T means is
    Σ σ_t²/(s_t n)/T².
    """
    marks, strata = alternating(400)
    marks["new"] = np.where(strata == "x", 2 * marks["new"], marks["new"])
    kept = np.flatnonzero((strata == "x") | (np.arange(400) % 4 == 1))
    marks, strata = {name: x[kept] for name, x in marks.items()}, strata[kept]
    (found,) = es.power(
        marks, metrics=MARKS, strata=strata, aggregate="macro", difference=0.08, n_resamples=999
    )
    differences = marks["new"] - marks["old"]
    apart = [differences[strata == t] for t in "xy"]
    variance = sum(np.var(d, ddof=1) / (len(d) / 300) for d in apart) / 4
    n = (ndtri(0.975) + ndtri(0.8)) ** 2 * variance / 0.08**2
    assert n > 2000
    assert found.needed == pytest.approx(n, rel=0.01)
    assert found.metric == "macro marks"


def test_runs_within_strata_of_groups(tmp_path, capsys):
    rng = np.random.default_rng(3)
    marks = {name: rng.normal(size=(3, 120)) + i for i, name in enumerate(("old", "new"))}
    strata, groups = np.repeat(["x", "y"], 60), np.arange(120) // 4
    result = es.power(
        marks, metrics=MARKS, strata=strata, groups=groups, difference=0.3, n_resamples=199
    )
    assert (result.unit, result.n_pilot, result.n_runs) == ("group", 30, 3)
    assert "strata:2" in result.signatures[0]
    assert "Each of 2 strata has the share of groups" in str(result)
    assert 0 < result.pairs[0].power < 1
    # The same from the command line, where there is one run of each.
    for name, runs in marks.items():
        rows = "\n".join(" ".join(["a"] * int(5 + 2 * abs(x)) + ["b"]) for x in runs[0])
        (tmp_path / f"{name}.txt").write_text(rows + "\n", encoding="utf-8")
    (tmp_path / "strata.txt").write_text("\n".join(strata) + "\n", encoding="utf-8")
    old, new, labels = (str(tmp_path / f"{name}.txt") for name in ("old", "new", "strata"))
    options = ["--strata", labels, "--aggregate", "macro", "-m", "wer", "--resamples", "99"]
    assert main(["power", "-r", old, "-i", old, new, *options, "-f", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["pairs"][0]["metric"] == "macro WER"


@pytest.mark.thorough
@pytest.mark.parametrize(("runs", "n", "run", "both"), [(2, 100, 0.1, 0.5), (5, 200, 0.02, 1.0)])
def test_predicted_power_of_runs_is_what_the_default_test_has(runs, n, run, both):
    """600 trials, seed 5, have a standard error of 2.04 points at most; beyond 3 points, which are
    allowed, and 4 of these lies a false alarm with probability below 1e-4.
    """
    table, size = pilot_of_runs(6, 300, run, 0.3, both), 0.0
    (found,) = es.power(table, n_segments=n, runs=runs)
    size = 0.9 * found.minimum
    (found,) = es.power(table, n_segments=n, runs=runs, difference=size)
    rng, rejected = np.random.default_rng(5), 0
    for trial in range(600):
        effects = rng.normal(size=(2, n)), rng.normal(size=(2, runs, 1))
        noise = rng.normal(size=(2, runs, n))
        y = 0.3 * effects[0][:, None] + run * effects[1] + both * noise
        marks = {"old": y[0], "new": y[1] + size}
        (d,) = es.compare(marks, metrics=MARKS, n_resamples=399, rng=trial)
        rejected += d.pvalue <= 0.05
    assert abs(rejected / 600 - found.power) < 0.03 + 4 * 0.0204


@pytest.mark.thorough
@pytest.mark.parametrize("aggregate", ["micro", "macro"])
def test_predicted_power_of_strata_is_what_the_default_test_has(sample, aggregate):
    """600 trials, as above: a false alarm has probability below 1e-4."""
    pair = {name: sample.systems[name] for name in ("slightly-better", "clearly-better")}
    table = es.extract(pair, sample.references, "bleu")
    labels, settings = np.array(sample.domains), {"aggregate": aggregate, "executor": 1}
    whole = es.compare(table, strata=labels, n_resamples=99, **settings).differences[0]
    # A quarter of each domain, whose sizes are multiples of four.
    places = [np.flatnonzero(labels == label) for label in dict.fromkeys(labels)]
    counts = [len(p) // 4 for p in places]
    asked = {"difference": abs(whole.difference), "n_segments": sum(counts), **settings}
    (found,) = es.power(table, strata=labels, **asked)
    rng, rejected = np.random.default_rng(6), 0
    for trial in range(600):
        rows = np.concatenate([rng.choice(p, n) for p, n in zip(places, counts, strict=True)])
        drawn = es.SegmentStatistics(table.values[:, rows], table.systems, table.metric)
        (d,) = es.compare(drawn, strata=labels[rows], n_resamples=399, rng=trial, **settings)
        rejected += d.pvalue <= 0.05
    assert 0.3 < found.power < 0.95
    assert abs(rejected / 600 - found.power) < 0.03 + 4 * 0.0204
