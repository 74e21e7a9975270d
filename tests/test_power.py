"""Power: what the default test finds, against numbers of other tools, sums and simulation."""

import json
from math import comb

import numpy as np
import pytest
from evalstats.inference.proportions import mcnemar_pvalue

import evalstats as es
from evalstats.cli import main
from evalstats.inference.power import least_size, mcnemar_power, spread_interval, t_power

MARKS, ACCURACY = es.Mean("marks"), es.Mean("accuracy")


def pilot(first, second, metric=MARKS):
    rows = [metric.statistics(np.asarray(x, dtype=float)) for x in (first, second)]
    return es.SegmentStatistics(rows, ["old", "new"], metric)


def normal_pilot(n=400, shift=0.1):
    """Differences with the quantiles of a normal distribution, standard deviation 1."""
    from scipy.special import ndtri

    values = ndtri((np.arange(n) + 0.5) / n)
    return pilot(np.zeros(n), values / values.std(ddof=1) + shift)


def counted_pilot(gained, lost, n):
    first, second = np.zeros((2, n))
    second[:gained] = 1
    first[gained : gained + lost] = 1
    return pilot(first, second, ACCURACY)


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


def test_power_of_t_rises_to_1_and_stays():
    for degrees in (1, 10, 4999, 1e6):
        found = [t_power(shift, degrees, 0.05) for shift in (0, 1, 3, 10, 100, 1e4, 1e8)]
        assert found[0] == pytest.approx(0.05)
        assert np.all(np.diff(found) >= 0)
        assert found[-1] == pytest.approx(1)


def test_power_of_mcnemar_is_that_of_duffy():
    # Duffy (1984), as R's MESS has it in its tests:
    # power_mcnemar_test(144, paid=.25, psi=45/25, method="exact", alternative="one.sided",
    # sig.level=.025)$power, to two digits.
    assert round(mcnemar_power(144, 0.45, 0.25, 0.025, "greater"), 2) == 0.80


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("n", [1, 5, 6, 23])
def test_power_of_mcnemar_is_the_sum_over_all_tables(n, alternative):
    for gained, lost, level in ((0.3, 0.1, 0.05), (0.1, 0.0, 0.05), (0.25, 0.25, 0.3), (1, 0, 0.1)):
        expected = sum(
            comb(n, b) * comb(n - b, c) * gained**b * lost**c * (1 - gained - lost) ** (n - b - c)
            for b in range(n + 1)
            for c in range(n + 1 - b)
            if mcnemar_pvalue(b, c, alternative) <= level
        )
        found = mcnemar_power(n, gained, lost, level, alternative)
        assert found == pytest.approx(expected, abs=1e-12)


def test_power_of_mcnemar_on_many_segments_is_nearly_that_of_z():
    n, gained, lost = 10**6, 0.0510, 0.05
    z = (gained - lost) * np.sqrt(n / (gained + lost))
    assert mcnemar_power(n, gained, lost, 0.05) == pytest.approx(t_power(z, 1e9, 0.05), abs=2e-3)


def test_spread_interval_is_chi_square_and_wider_for_long_tails():
    rng = np.random.default_rng(3)
    # 2,000 samples of 50: nominal 95 %; below 1,853 or above 1,940 with probability under 1e-4.
    covered = 0
    for values in rng.normal(size=(2000, 50)):
        low, high = spread_interval(values, 49, 0.95)
        covered += low * values.std(ddof=1) <= 1 <= high * values.std(ddof=1)
    assert 1853 <= covered <= 1960
    # χ² quantiles of 49 degrees of freedom in tables: 31.555 and 70.222.
    flat = np.linspace(-1, 1, 50)
    assert spread_interval(flat, 49, 0.95) == pytest.approx(
        (np.sqrt(49 / 70.222), np.sqrt(49 / 31.555)), abs=1e-4
    )
    tailed = spread_interval(rng.standard_t(3, size=50), 49, 0.95)
    assert tailed[0] < np.sqrt(49 / 70.222)
    assert tailed[1] > np.sqrt(49 / 31.555)


def test_pilot_of_normal_differences_has_the_power_of_t():
    # Of 1,999 draws a share of 0.8 has a standard error of 0.009, and the least difference of
    # 0.8 %; five of these are 4 %. TTestPower().solve_power(nobs=..., alpha=.05, power=.8).
    for n, expected in ((100, 0.2829117119690806), (400, 0.1404)):
        (found,) = es.power(normal_pilot(), n_segments=n, difference=0.2, n_resamples=1999)
        assert found.standard_deviation == pytest.approx(1)
        assert found.minimum == pytest.approx(expected, rel=0.04)
        assert found.needed == pytest.approx(198.15, rel=0.08)
    assert found.power == pytest.approx(0.979, abs=0.016)  # TTestPower().power(.2, 400, .05)


def test_large_test_sets_have_the_power_of_t():
    (found,) = es.power(
        normal_pilot(),
        difference=0.05,
        n_segments=5209,
        significance_level=0.01,
        alternative="greater",
        power=0.9,
        n_resamples=99,
    )
    assert found.power == pytest.approx(0.9, abs=1e-3)
    assert found.minimum == pytest.approx(0.05, rel=1e-3)
    assert found.needed == 5210


def test_curve_is_monotone_and_meets_what_is_needed():
    (found,) = es.power(normal_pilot(), difference=0.1, n_resamples=999)
    minimums = np.array(found.minimums, dtype=float)
    assert np.all(np.diff(minimums) < 0)
    assert np.all(np.diff(found.powers) > -0.03)
    assert found.sizes[0] < found.needed < found.sizes[-1]
    for n, power in zip(found.sizes, found.powers, strict=True):
        assert (power >= 0.8) == (n >= found.needed)
    assert found.minimum_low < found.minimum < found.minimum_high
    assert found.power_low < found.power < found.power_high
    assert found.needed_low < found.needed < found.needed_high


def test_skewed_pilot_finds_less_on_the_side_without_a_tail():
    def least(table, alternative):
        (found,) = es.power(table, n_segments=50, alternative=alternative, n_resamples=999)
        return found.minimum

    values = np.random.default_rng(0).exponential(size=200) ** 2
    up, down = pilot(np.zeros(200), values), pilot(values, np.zeros(200))
    # Hall's correction wants more where the values have no long tail: too few of them were drawn.
    assert least(up, "less") > 1.5 * least(up, "greater")
    assert least(down, "greater") == pytest.approx(least(up, "less"), rel=1e-6)


def test_counted_pilot_has_the_exact_power():
    result = es.power(counted_pilot(30, 20, 500), difference=0.05)
    (found,) = result
    assert (found.test, found.discordant) == ("mcnemar", 0.1)
    assert found.power == pytest.approx(mcnemar_power(500, 0.075, 0.025, 0.05))
    assert mcnemar_power(found.needed, 0.075, 0.025, 0.05) >= 0.8
    assert mcnemar_power(found.needed - 1, 0.075, 0.025, 0.05) < 0.8
    least = found.minimum
    assert mcnemar_power(500, 0.05 + least / 2, 0.05 - least / 2, 0.05) == pytest.approx(0.8)
    assert "McNemar's exact test" in str(result)
    # More segments have to differ than do in the pilot.
    (found,) = es.power(counted_pilot(30, 20, 500), difference=0.2)
    assert found.power == pytest.approx(mcnemar_power(500, 0.2, 0, 0.05))


def test_too_few_segments_find_nothing():
    result = es.power(counted_pilot(30, 20, 500), n_segments=5, difference=0.1)
    (found,) = result
    assert found.minimum is None
    assert found.power == 0
    assert "none: so few segments find no difference" in str(result)


def test_groups_of_one_are_segments_and_groups_need_fewer_of_more(sample):
    systems = {name: sample.systems[name] for name in ("baseline", "slightly-better")}
    table = es.extract(systems, sample.references, "chrf")
    single = es.power(table, groups=range(480), n_resamples=499)
    assert single.pairs[0].minimum == pytest.approx(
        es.power(table, n_resamples=499).pairs[0].minimum, rel=1e-3
    )
    by_document = es.power(table, groups=sample.documents, difference=1, n_resamples=499)
    assert (by_document.unit, by_document.n_pilot) == ("group", len(set(sample.documents)))
    (found,) = by_document
    assert found.needed < 480
    assert "groups needed" in str(by_document)


def test_comparison_plans_what_its_systems_would(sample):
    systems = {name: sample.systems[name] for name in ("baseline", "slightly-better")}
    compared = es.compare(systems, sample.references, "chrf", n_resamples=99)
    planned = compared.power(difference=1, n_resamples=499)
    direct = es.power(systems, sample.references, "chrf", difference=1, n_resamples=499)
    assert planned.to_dict() == direct.to_dict()
    with pytest.raises(es.InputError, match=r"power must be between the significance level 0\.05"):
        compared.power(power=0.01)


def test_result_in_all_forms(sample):
    pandas = pytest.importorskip("pandas")
    result = es.power(
        {name: text for name, text in sample.systems.items() if name != "copy"},
        sample.references,
        ["chrf", "ter"],
        baseline="baseline",
        difference=1,
        n_resamples=99,
    )
    assert len(result) == 4
    assert json.loads(result.to_json()) == result.to_dict()
    text = str(result)
    for word in ("least difference", "power for 1", "segments needed", "Assumes that differences"):
        assert word in text
        assert word in result.to_html()
        assert word in result.to_markdown()
        assert word in result.to_latex()
    frame = result.to_dataframe()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame["system"]) == ["slightly-better", "clearly-better"] * 2
    assert frame["needed"].dtype.kind == "i"
    assert "p" in next(iter(result))._repr_html_()


def test_figure_shows_power_or_least_differences(sample):
    pytest.importorskip("matplotlib").use("Agg")
    systems = {name: sample.systems[name] for name in ("baseline", "slightly-better")}
    table = es.extract(systems, sample.references, "chrf")
    asked = es.power(table, difference=1, n_resamples=99)
    axes = asked.plot()
    assert axes.get_ylabel() == "power"
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), asked.pairs[0].powers)
    open_question = es.power(table, n_resamples=99)
    axes = open_question.plot("chrf2")
    assert "least difference in chrF2" in axes.get_ylabel().replace("\n", " ")
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), open_question.pairs[0].minimums)
    with pytest.raises(es.InputError, match="metric must be one of chrF2; got 'bleu'"):
        asked.plot("bleu")
    many = es.SegmentStatistics(
        np.random.default_rng(0).integers(1, 9, (4, 30, 2)), list("abcd"), es.Ratio("r")
    )
    with pytest.raises(es.InputError, match="6 pairs are too many lines"):
        es.power(many, n_resamples=19).plot()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"difference": -1}, "difference must be above 0, got -1: it is a size"),
        ({"difference": 0}, "difference must be above 0, got 0"),
        ({"difference": np.nan}, "difference must be a finite number"),
        ({"power": 0.05}, "power must be between the significance level 0.05, .* got 0.05"),
        ({"power": 1}, "power must be between .* and 1; got 1"),
        ({"power": 0.1, "significance_level": 0.2}, "significance level 0.2"),
        ({"n_segments": 1}, "n_segments must be at least 2, got 1"),
        ({"alternative": "better"}, "alternative must be one of"),
        ({"baseline": "C"}, "baseline must be one of old, new; got 'C'"),
        ({"groups": ["a"] * 400}, "at least 2 groups"),
    ],
)
def test_bad_input_is_named(options, message):
    with pytest.raises(es.InputError, match=message):
        es.power(normal_pilot(), **options)


def test_a_copy_among_the_systems_is_left_out_and_named(sample):
    systems = {name: sample.systems[name] for name in ("baseline", "slightly-better", "copy")}
    result = es.compare(systems, sample.references, "chrf", n_resamples=99)
    (note,) = [note for note in result.power(n_resamples=99).notes if "left out" in note]
    assert note == (
        "copy and baseline (chrF2) have identical statistics on every segment, which say nothing "
        "of power, and are left out."
    )
    plan = es.power(systems, sample.references, ["bleu", "chrf"], n_resamples=99)
    assert [(p.metric, p.system, p.baseline) for p in plan] == [
        (metric, *pair)
        for metric in ("BLEU", "chrF2")
        for pair in (("slightly-better", "baseline"), ("copy", "slightly-better"))
    ]
    (note,) = [note for note in plan.notes if "left out" in note]
    assert note.startswith("2 pairs, copy and baseline (BLEU) for one, have identical statistics")


def test_pilots_that_say_nothing_are_refused():
    ones = np.ones(20)
    with pytest.raises(es.InputError, match="power needs at least 2 systems, got 1"):
        es.power({"A": ["a"]}, ["a"])
    with pytest.raises(es.InputError, match=r"'new' and 'old' have identical marks .* nothing v"):
        es.power(pilot(ones, ones))
    with pytest.raises(es.InputError, match="differ by the same on every segment under marks"):
        es.power(pilot(ones, 1.5 * ones))
    with pytest.raises(es.InputError, match="at least 2 segments are needed"):
        es.power(pilot([1], [2]))
    shard = es.resample_shard(counted_pilot(9, 3, 40), range(40), n_resamples=9)
    with pytest.raises(es.InputError, match="a Shard keeps totals only"):
        es.power(shard)
    with pytest.raises(es.InputError, match="this comparison holds no statistics"):
        es.compare(shard, test="bootstrap", n_resamples=9, rng=shard.seed).power()


def test_command_line_plans(tmp_path, capsys):
    path = str(tmp_path / "pilot.npz")
    normal_pilot().save(path)
    settings = ["--difference", "0.2", "--segments", "200", "--resamples", "999"]
    assert main(["power", path, *settings, "-f", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    expected = es.power(normal_pilot(), difference=0.2, n_segments=200, n_resamples=999)
    assert found == expected.to_dict()
    assert main(["power", path, "--difference", "-1"]) == 2
    assert "difference must be above 0" in capsys.readouterr().err


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("metric", "pair", "n"),
    [
        ("bleu", ("Online-B", "OpenNMT"), 100),
        ("chrf", ("Online-A", "OpenNMT"), 100),
        ("0/1", ("Online-B", "OpenNMT"), 300),
    ],
)
def test_predicted_power_is_what_the_default_test_has(en_de, metric, pair, n):
    from benchmarks.power import Case, predicted, simulated

    from benchmarks.calibration.populations import Source

    # 600 trials (seed 12345) have a standard error of 2.04 points at most; beyond 3 points of
    # error, which are allowed, and 4 of these lies a false alarm with probability below 1e-4.
    case = Case(Source("real", "en-de", metric, *pair), n)
    assert abs(simulated(case, 600) - predicted(case)) < 0.03 + 4 * 0.0204


@pytest.mark.thorough
def test_power_of_perplexities_knows_that_a_few_documents_decide():
    """1,000 comparisons of 100 documents, seed 8, and 1,999 draws: standard errors of 1.0 and 0.7
    points, so that 4.5 points are missed with probability 4e-4. Degrees of freedom of n - 1 predict
    7 points too many.
    """
    rng, metric = np.random.default_rng(8), es.Perplexity("word")
    words = np.ceil(np.exp(5 + 1.5 * rng.normal(size=20_000)))
    nats = 3 * np.exp(0.25 * rng.normal(size=20_000))
    worse = nats * np.exp(rng.normal(0.01, 0.05, 20_000))
    values = np.array([metric.statistics(np.stack([-words * x, words], 1)) for x in (nats, worse)])
    pilot = es.SegmentStatistics(values, ["old", "new"], metric)
    size = float(pilot.scores[1] - pilot.scores[0])
    (found,) = es.power(pilot, difference=size, n_segments=100, n_resamples=1999)
    rejected = []
    for trial in range(1000):
        some = values[:, rng.integers(20_000, size=100)]
        table = es.SegmentStatistics(some, ["old", "new"], metric)
        (d,) = es.compare(table, method="hall", n_resamples=199, rng=trial)
        rejected.append(d.pvalue <= 0.05)
    assert found.power == pytest.approx(np.mean(rejected), abs=0.045)
