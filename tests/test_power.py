"""Power by formula, against published numbers, other tools and simulation."""

import json

import numpy as np
import pytest
from scipy import stats
from scipy.special import ndtri

import evalstats as es
from evalstats.analysis.planning import Planner
from evalstats.cli import main
from evalstats.inference import student
from evalstats.inference.counts import tango_distance
from evalstats.inference.power import (
    items_within,
    least_difference,
    least_size,
    mcnemar_power,
    spread_bounds,
    t_power,
)

MARKS, ACCURACY = es.Mean("marks"), es.Mean("accuracy")


def quantiles(n):
    """Return n normal quantiles, of variance 1."""
    values = ndtri((np.arange(n) + 0.5) / n)
    return values / values.std(ddof=1)


def normal(n=400, shift=0.1):
    return {"old": np.zeros(n), "new": quantiles(n) + shift}


def counted(gained, lost, n):
    marks = np.zeros((2, n))
    marks[1, :gained] = marks[0, gained : gained + lost] = 1
    return dict(zip(("old", "new"), marks, strict=True))


def plan(marks, metric=MARKS, **options):
    (found,) = es.power(marks, metrics=metric, **options)
    return found


def of_runs(n_runs, n, run, segment, both):
    """Return a pilot of runs whose mean squares are what these deviations lead to expect."""
    rng, marks = np.random.default_rng(0), {}
    of_segments = np.sqrt(2) * np.hypot(segment, both / np.sqrt(n_runs)) * quantiles(n)
    run_scores = np.hypot(run, both / np.sqrt(n)) * quantiles(n_runs)
    for i, name in enumerate(("old", "new")):
        apart = rng.normal(size=(n_runs, n))
        apart -= apart.mean(axis=0)
        apart -= apart.mean(axis=1, keepdims=True)
        apart *= both / np.sqrt(np.sum(apart**2) / ((n_runs - 1) * (n - 1)))
        marks[name] = i * rng.permutation(of_segments) + run_scores[:, None] + apart
    return marks


# statsmodels 0.14: TTestPower().power(effect_size, nobs, alpha, alternative=...)
@pytest.mark.parametrize(
    ("effect", "n", "level", "alternative", "expected"),
    [
        (0.2, 100, 0.05, "two-sided", 0.508264806621038),
        (0.2, 100, 0.05, "greater", 0.6336177553523548),
        (-0.2, 100, 0.05, "less", 0.6336177553523548),
        (0.5, 10, 0.01, "two-sided", 0.1026975095395999),
    ],
)
def test_power_of_t_is_that_of_statsmodels(effect, n, level, alternative, expected):
    assert t_power(effect * n**0.5, n - 1, level, alternative) == pytest.approx(expected, abs=1e-9)


# statsmodels 0.14: TTestPower().solve_power(effect_size=..., alpha=..., power=..., ...)
@pytest.mark.parametrize(
    ("effect", "level", "target", "alternative", "expected"),
    [
        (0.2, 0.05, 0.8, "two-sided", 198.150820955562),
        (0.05, 0.01, 0.9, "greater", 5209.481732776848),
    ],
)
def test_segments_needed_are_those_of_statsmodels(effect, level, target, alternative, expected):
    n = least_size(lambda n: t_power(effect * n**0.5, n - 1, level, alternative), target)
    assert n == int(np.ceil(expected))
    found = plan(
        normal(), difference=effect, significance_level=level, power=target, alternative=alternative
    )
    assert found.needed == n


def test_power_of_t_rises_to_1_and_stays():
    shifts = [0, *np.arange(0.25, 9, 0.25), *np.geomspace(9, 1e8, 40)]
    for degrees in (1, 1.5, 10, 30.5, 1000, 99_000, 1e6):
        for level in (0.05, 1e-4):
            found = [t_power(shift, degrees, level) for shift in shifts]
            assert found[0] == pytest.approx(level)
            assert np.all(np.diff(found) >= -1e-12)
            assert found[-1] == pytest.approx(1)
    for degrees, stretch in ((5, 1.0), (80, 1.2)):
        exact = stats.nct.sf(stretch * stats.t.isf(0.05, degrees), degrees, 2.5)
        assert t_power(2.5, degrees, 0.05, "greater", stretch) == pytest.approx(exact, abs=1e-9)


def test_mcnemar_has_the_sizes_of_connor():
    # Connor (1987), as R's MESS has it in its tests: power_mcnemar_test(paid=.05, psi=45/5,
    # power=.8)$n rounds to 22 and, one-sided, to 17.
    assert mcnemar_power(0.4, 0.5, 22, 0.05) == pytest.approx(0.8, abs=0.01)
    assert mcnemar_power(0.4, 0.5, 17, 0.05, "greater") == pytest.approx(0.8, abs=0.01)
    # powerandsamplesize.com, McNemar's z-test, 2-sided: ceiling(n) = 23.
    assert least_size(lambda n: mcnemar_power(0.4, 0.5, n, 0.05), 0.8) == 23


@pytest.mark.parametrize(("n", "psi"), [(50, 0.3), (100, 0.2), (300, 0.1), (1319, 0.04)])
def test_mcnemar_is_close_to_the_sum_over_all_tables(n, psi):
    """Of tests with some fifteen discordant items or more: within 4 points."""
    size = 2.5 * np.sqrt(psi / n)
    m = np.arange(1, n + 1)[:, None]
    gained = np.arange(n + 1)
    rejected = np.abs(2 * gained - m) >= 1.959964 * np.sqrt(m)
    tables = stats.binom.pmf(m, n, psi) * stats.binom.pmf(gained, m, (1 + size / psi) / 2)
    exact = np.sum(tables[rejected])
    assert mcnemar_power(size, psi, n, 0.05) == pytest.approx(exact, abs=0.04)


def test_items_within_a_margin_find_it_four_times_out_of_five():
    # 20,000 draws, seed 5: a standard error of 0.3 points; the normal approximation is 2 off.
    n = int(np.ceil(items_within(0.01, 0.04, 0.05, 0.8)))
    drawn = np.random.default_rng(5).multinomial(n, [0.02, 0.02, 0.96], size=20_000)
    tables, times = np.unique(drawn[:, :2], axis=0, return_counts=True)
    passed = [tango_distance(*table, n, -0.01) >= 1.644854 for table in tables]
    assert np.sum(times[passed]) / 20_000 == pytest.approx(0.8, abs=0.03)
    # Nothing differs: Wilson's upper bound of a share of 0 of n items is the margin.
    assert items_within(0.01, 0.0, 0.05, 0.8) == pytest.approx(1.644854**2 * 99, rel=1e-6)
    assert items_within(1e-300, 0.04, 0.05, 0.8) == np.inf


def test_normal_differences_have_the_power_of_t():
    # TTestPower().solve_power(nobs=..., alpha=.05, power=.8), and .power(.2, 400, .05).
    for n, expected in ((100, 0.2829117119690806), (400, 0.1404)):
        found = plan(normal(), n_segments=n, difference=0.2)
        assert found.minimum == pytest.approx(expected, rel=1e-3)
        assert (found.needed, found.test) == (199, "t")
        # χ² quantiles of 399 degrees of freedom: 345.55 and 456.24.
        for bound, quantile in ((found.minimum_low, 456.24), (found.minimum_high, 345.55)):
            assert bound == pytest.approx(found.minimum * np.sqrt(399 / quantile), rel=1e-4)
    assert found.standard_deviation == pytest.approx(1)
    assert found.power == pytest.approx(0.979, abs=1e-3)
    # Tables have 31.555 and 70.222 for 49 degrees of freedom.
    assert spread_bounds(49, 0.95) == pytest.approx(np.sqrt([49 / 70.222, 49 / 31.555]), abs=1e-4)


def test_curve_is_monotone_and_meets_what_is_needed():
    for marks, metric in ((normal(), MARKS), (counted(30, 20, 500), ACCURACY)):
        found = plan(marks, metric, difference=0.05)
        assert np.all(np.diff(found.minimums) < 0)
        assert np.all(np.diff(found.powers) >= 0)
        assert found.sizes[0] < found.needed < found.sizes[-1]
        for n, power in zip(found.sizes, found.powers, strict=True):
            assert (power >= 0.8) == (n >= found.needed)
        for name in ("minimum", "power", "needed"):
            low, value, high = (getattr(found, name + end) for end in ("_low", "", "_high"))
            assert low < value < high
        assert plan(marks, metric, difference=found.minimum).power == pytest.approx(0.8)


def test_0_1_scores_have_the_power_of_mcnemar():
    found = plan(counted(30, 20, 500), ACCURACY, difference=0.05)
    assert (found.test, found.discordant) == ("mcnemar", 0.1)
    assert found.power == pytest.approx(mcnemar_power(0.05, 0.1, 500, 0.05))
    # Wilson's interval of 50 in 500.
    assert found.power_low == pytest.approx(mcnemar_power(0.05, 0.12936, 500, 0.05), abs=1e-4)
    # More segments have to differ than do in the pilot.
    found = plan(counted(30, 20, 500), ACCURACY, difference=0.2)
    assert found.power == pytest.approx(mcnemar_power(0.2, 0.2, 500, 0.05))
    result = es.power(counted(30, 20, 500), metrics=ACCURACY, n_segments=3, difference=0.1)
    assert result.pairs[0].minimum is None
    assert "none: so few segments find no difference" in str(result)
    assert plan(counted(1, 0, 2), ACCURACY, difference=1, n_segments=4).power == pytest.approx(1)


def test_items_in_groups_count_as_their_effective_number():
    single, fourfold = counted(30, 20, 500), counted(120, 80, 2000)
    found = plan(fourfold, ACCURACY, groups=np.arange(2000) // 4, difference=0.05)
    assert found.discordant == 0.1
    # Four equal items are one: their number is 500 · 499/500, and t has 24 less 1 degrees.
    differing = 50
    power = mcnemar_power(0.05, 0.1, 499, 0.05, degrees_of_freedom=differing - 1)
    assert found.power == pytest.approx(power)
    assert found.power == pytest.approx(plan(single, ACCURACY, difference=0.05).power, abs=0.02)


def test_groups_are_counted(sample):
    table = es.extract(pair(sample), sample.references, "chrf")
    single = es.power(table, groups=range(480), difference=1)
    assert single.pairs[0] == es.power(table, difference=1).pairs[0]
    result = es.power(table, groups=sample.documents, difference=1)
    assert (result.unit, result.n_pilot) == ("group", len(set(sample.documents)))
    assert result.pairs[0].needed < 480
    assert "groups needed" in str(result)


def pair(sample):
    return {name: sample.systems[name] for name in ("baseline", "slightly-better")}


def test_strata_grow_in_proportion():
    values, strata = np.repeat(quantiles(200), 2), np.tile(["x", "y"], 200)
    marks = {"old": np.zeros(400), "new": 0.1 + values + 3 * np.where(strata == "x", 1, -1)}
    # TTestPower().solve_power(.2, alpha=.05, power=.8): 198.15, of variance 1 within strata.
    assert plan(marks, strata=strata, difference=0.2).needed == 199
    assert plan(marks, difference=0.2).needed == pytest.approx(1980, rel=0.01)
    # Shares s_t of n segments: the variance of a mean of T means is Σ σ_t²/(s_t n)/T².
    some = np.flatnonzero((strata == "x") | (np.arange(400) % 4 == 1))
    apart = [marks["new"][some][strata[some] == t] for t in "xy"]
    variance = sum(np.var(d, ddof=1) / (len(d) / 300) for d in apart) / 4
    kept = {name: x[some] for name, x in marks.items()}
    found = plan(kept, strata=strata[some], aggregate="macro", difference=0.08)
    n = (ndtri(0.975) + ndtri(0.8)) ** 2 * variance / 0.08**2
    assert found.needed == pytest.approx(n, rel=0.01)
    assert found.metric == "macro marks"
    assert plan(marks, strata=["all"] * 400, difference=1) == plan(marks, difference=1)


def test_segments_needed_by_runs_are_those_of_miller():
    """n = (z + z)² (ω² + σ_A²/K + σ_B²/K)/δ² (Miller, 2024, section 5), K answers to a question."""
    marks = of_runs(4, 500, 0.0, 0.4, 0.9)
    for runs, more in ((50, 1.02), (3, 1.3)):
        found = plan(marks, difference=0.05, runs=runs)
        n = (ndtri(0.975) + ndtri(0.8)) ** 2 * (2 * 0.16 + 2 * 0.81 / runs) / 0.05**2
        # The formula knows that runs add nothing. A test of three runs does not.
        assert found.needed == pytest.approx(more * n, rel=0.03)
        assert found.of_runs.run_deviation == pytest.approx(0, abs=1e-6)
    alike = {"old": np.zeros((3, 400)), "new": np.tile(0.1 + quantiles(400), (3, 1))}
    assert plan(alike, difference=0.2).needed == 199
    assert plan(alike, difference=0.2).of_runs.run_deviation == 0


@pytest.mark.parametrize("runs", [3, 10])
def test_runs_alone_have_the_power_of_welch(runs):
    """Where segments hardly vary, runs are two samples: 20,000 of SciPy's tests (seed 1) have a
    standard error of 0.4 points; with 3 points that are allowed, a false alarm has probability
    below 1e-6.
    """
    size = 3.6 / np.sqrt(runs)
    found = plan(of_runs(8, 50, 1.0, 0.01, 0.01), difference=size, runs=runs)
    first, second = np.random.default_rng(1).normal(size=(2, 20_000, runs))
    pvalues = stats.ttest_ind(second + size, first, axis=1, equal_var=False).pvalue
    assert found.power == pytest.approx(np.mean(pvalues <= 0.05), abs=0.05)


@pytest.mark.parametrize(
    ("runs", "n", "run", "both"), [(3, 100, 0.0, 0.5), (3, 60, 0.1, 0.5), (5, 200, 0.02, 1.0)]
)
def test_runs_are_found_as_often_as_predicted(runs, n, run, both):
    """2,000 tests, seed 3, of runs that vary as the pilot's; a standard error of 1.1 points. Beyond
    3 points, which are allowed, lie 4 of these: a false alarm has probability below 1e-4.
    """
    found = plan(of_runs(6, 300, run, 0.3, both), n_segments=n, runs=runs)
    rng, rejected = np.random.default_rng(3), 0
    for _ in range(2000):
        y = 0.3 * rng.normal(size=(2, 1, n)) + run * rng.normal(size=(2, runs, 1))
        y += both * rng.normal(size=(2, runs, n))
        means = y.mean(axis=2)
        squares = [student.mean_squares(m, x) for m, x in zip(means, (y - means[:, :, None]) / n)]
        difference = y[1].mean(axis=0) - y[0].mean(axis=0) + found.minimum
        spread = student.spread((difference - difference.mean()) / n)
        spread = student.with_runs(spread, [(*s, runs) for s in squares])
        p = student.pvalue(difference.mean(), spread.error, spread.degrees)
        rejected += p <= 0.05
    assert rejected / 2000 == pytest.approx(0.8, abs=0.03 + 4 * 0.011)


def test_more_segments_do_not_make_up_for_runs():
    marks = of_runs(5, 200, 0.3, 0.3, 0.5)
    result = es.power(marks, metrics=MARKS, n_segments=1000, difference=0.4)
    (found,), of = result, result.pairs[0].of_runs
    assert (found.needed, of.limit > 0.4, found.power < 0.8) == (None, True, True)
    assert "with 5 runs of each system no number of segments finds 0.4" in str(result)
    for n, runs in ((10**9, of.fewest_runs), (1000, of.runs_needed)):
        for r, is_enough in ((runs, True), (runs - 1, False)):
            asked = plan(marks, n_segments=n, runs=r, difference=0.4)
            assert (asked.power >= 0.8) == is_enough
    assert of.runs_needed_low < of.runs_needed < of.runs_needed_high
    assert plan(marks, runs=2 * of.fewest_runs, difference=0.4).needed < 1000
    # Two runs leave more open than ten.
    few, many = (plan(of_runs(r, 100, 0.3, 0.3, 0.3), runs=5) for r in (2, 10))
    assert few.minimum == pytest.approx(many.minimum, rel=0.1)
    assert few.minimum_high / few.minimum_low > 4 * many.minimum_high / many.minimum_low


def test_comparisons_and_shards_are_pilots(sample):
    table = es.extract(pair(sample), sample.references, "chrf")
    compared = es.compare(table, n_resamples=99)
    direct = es.power(table, difference=1)
    assert compared.power(difference=1).to_dict() == direct.to_dict()
    with pytest.raises(es.InputError, match=r"power must be between the significance level 0\.05"):
        compared.power(power=0.01)
    with pytest.raises(es.InputError, match="was read from a file"):
        es.Comparison.from_json(compared.to_json()).power()
    # The error of 999 resamples has one of 2.2 %; four of these are 9 %.
    shard = es.resample_shard(table, range(480), n_resamples=999)
    for found in (es.power(shard, difference=1), es.compare(shard).power(difference=1)):
        assert found.pairs[0].minimum == pytest.approx(direct.pairs[0].minimum, rel=0.09)
    runs = es.extract_runs(of_runs(3, 60, 0.2, 0.3, 0.5), metric=MARKS)
    found = es.compare(runs).power(difference=0.5, runs=6)
    assert found.to_dict() == es.power(runs, difference=0.5, runs=6).to_dict()
    assert (found.n_runs, found.pilot_runs) == (6, 3)


@pytest.mark.parametrize("limit", [{"margin": 0.05}, {"recovery": 0.98}])
def test_planner_says_what_shows_that_nothing_is_lost(limit):
    rng = np.random.default_rng(2)
    old = rng.normal(3, 1, 400)
    marks = {"old": old, "new": old + 0.2 * quantiles(400)}
    planner = es.compare(marks, metrics=MARKS, n_resamples=9, **limit).planner
    assert isinstance(planner, Planner)
    ratio = limit.get("recovery", 1)
    values = marks["new"] - ratio * old
    distance = limit.get("margin", (1 - ratio) * old.mean())
    n = least_size(
        lambda n: t_power(distance * n**0.5 / values.std(ddof=1), n - 1, 0.05, "greater"), 0.8
    )
    assert planner.needed_within(0.05, 0.8) == pytest.approx(n, abs=1)


def test_result_in_all_forms(sample):
    pytest.importorskip("pandas")
    pytest.importorskip("matplotlib").use("Agg")
    systems = {**pair(sample), "clearly-better": sample.systems["clearly-better"]}
    options = {"baseline": "baseline", "difference": 1}
    result = es.power(systems, sample.references, ["chrf", "ter"], **options)
    assert json.loads(result.to_json()) == result.to_dict()
    for word in ("least difference", "power for 1", "segments needed", "Assumes that differences"):
        for text in (str(result), result.to_html(), result.to_markdown(), result.to_latex()):
            assert word in text
    frame = result.to_dataframe()
    assert list(frame["system"]) == ["slightly-better", "clearly-better"] * 2
    assert frame["needed"].dtype.kind == "i"
    axes = result.plot("chrf2")
    assert axes.get_ylabel() == "power"
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), result.pairs[0].powers)
    with pytest.raises(es.InputError, match="metric must be one of chrF2, TER; got 'bleu'"):
        result.plot("bleu")
    seeds = es.power(of_runs(4, 60, 0.2, 0.3, 0.5), metrics=MARKS)
    of = seeds.pairs[0].of_runs
    assert of.run_minimums[of.runs.index(4)] == seeds.pairs[0].minimum
    assert seeds.to_dict()["pairs"][0]["limit"] == of.limit
    axes = seeds.plot(over="runs")
    assert "least difference in marks" in axes.get_ylabel().replace("\n", " ")
    assert list(axes.lines[0].get_ydata()) == list(of.run_minimums)
    for word in ("std. dev. of runs", "by number of runs", "4 runs (pilot 4)"):
        assert word in str(seeds)
    with pytest.raises(es.InputError, match="over must be one of segments, runs; got 'time'"):
        seeds.plot(over="time")
    with pytest.raises(es.InputError, match="over='runs' needs a pilot with several runs"):
        result.plot(over="runs")
    with pytest.raises(es.InputError, match="6 pairs are too many lines"):
        es.power(dict(zip("abcd", np.random.default_rng(0).random((4, 30)))), metrics=MARKS).plot()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"difference": -1}, "difference must be above 0, got -1: it is a size"),
        ({"difference": np.nan}, "difference must be a finite number"),
        ({"power": 0.05}, "power must be between the significance level 0.05, .* got 0.05"),
        ({"power": 1}, "power must be between .* and 1; got 1"),
        ({"power": 0.1, "significance_level": 0.2}, "significance level 0.2"),
        ({"n_segments": 1}, "n_segments must be at least 2, got 1"),
        ({"alternative": "better"}, "alternative must be one of"),
        ({"baseline": "C"}, "baseline must be one of old, new; got 'C'"),
        ({"groups": ["a"] * 6}, "at least 2 groups"),
        ({"runs": 1}, "runs must be at least 2, got 1"),
        ({"runs": 3}, "runs needs a pilot with several runs of each system"),
        ({"strata": list("xxyyzz"), "n_segments": 5}, "at least 6, two segments of each of 3 str"),
        ({"aggregate": "macro"}, "aggregate='macro' needs strata"),
    ],
)
def test_bad_input_is_named(options, message):
    with pytest.raises(es.InputError, match=message):
        plan(normal(6), **options)


def test_pilots_that_say_nothing_are_left_out_or_refused(sample):
    systems = {**pair(sample), "copy": sample.systems["copy"]}
    found = es.power(systems, sample.references, ["bleu", "chrf"])
    assert [(p.metric, p.system, p.baseline) for p in found] == [
        (metric, *names)
        for metric in ("BLEU", "chrF2")
        for names in (("slightly-better", "baseline"), ("copy", "slightly-better"))
    ]
    (note,) = [note for note in found.notes if "left out" in note]
    assert note.startswith("2 pairs, copy and baseline (BLEU) for one, have identical statistics")
    ones = np.ones(20)
    with pytest.raises(es.InputError, match="power needs at least 2 systems, got 1"):
        es.power({"A": ["a"]}, ["a"])
    with pytest.raises(es.InputError, match="'new' and 'old' have identical statistics on every"):
        plan({"old": ones, "new": ones})
    with pytest.raises(es.InputError, match="differ by the same on every segment under marks"):
        plan({"old": ones, "new": 1.5 * ones})
    with pytest.raises(es.InputError, match="at least 2 segments are needed"):
        plan({"old": [1.0], "new": [2.0]})


def test_command_line_plans(tmp_path, capsys):
    table, path = es.extract(normal(), metric=MARKS), str(tmp_path / "pilot.npz")
    table.save(path)
    assert main(["power", path, "--difference", "0.2", "--segments", "200", "-f", "json"]) == 0
    expected = es.power(table, difference=0.2, n_segments=200).to_dict()
    assert json.loads(capsys.readouterr().out) == expected
    assert main(["power", path, "--difference", "-1"]) == 2
    assert "difference must be above 0" in capsys.readouterr().err


@pytest.mark.thorough
@pytest.mark.parametrize(("n", "size"), [(30, 0.5), (150, 0.2)])
def test_compare_finds_as_often_as_predicted(n, size):
    """1,000 comparisons, seed 4: a standard error of 1.6 points at most; beyond 2 points, which are
    allowed, lie 4 of these: a false alarm has probability below 1e-4.
    """
    rng, rejected = np.random.default_rng(4), 0
    for trial in range(1000):
        marks = {"old": np.zeros(n), "new": rng.normal(size, 1, n)}
        (d,) = es.compare(marks, metrics=MARKS, n_resamples=499, rng=trial)
        rejected += d.pvalue <= 0.05
    found = plan(normal(), n_segments=n, difference=size)
    assert rejected / 1000 == pytest.approx(found.power, abs=0.02 + 4 * 0.016)
