"""Scores of any size: a power of two on all of them changes no p-value, and no bit of one."""

import warnings

import numpy as np
import pandas as pd
import pytest

import evalstats as es
from evalstats.inference.student import spread

POINTS = es.Mean("points")
N = 60


def scores(exponent, n_systems=3):
    """Return scores of noise, times 2^exponent."""
    rng = np.random.default_rng(5)
    items = rng.normal(5, 1, N)
    systems = {f"s{i}": items + rng.normal(0.1 * i, 1, N) for i in range(n_systems)}
    return {name: np.ldexp(own, exponent) for name, own in systems.items()}


def log(systems):
    rows = [(x, str(i), "points", y) for x, own in systems.items() for i, y in enumerate(own)]
    return pd.DataFrame(rows, columns=["system", "segment", "metric", "score"])


def said(result, exponent):
    """Return all that a comparison says of its pairs, in units of the scores."""
    unit = 2.0**exponent
    return [
        (d.pvalue, d.pvalue_adjusted, d.low / unit, d.high / unit, d.standard_error / unit)
        + (() if not d.is_tested else (d.pvalue_not_worse,))
        for d in result
    ]


OPTIONS = [
    *({"method": method} for method in ("bootstrap", "t")),
    *({"adjustment": a} for a in ("holm", "benjamini-hochberg", "none")),
    {"groups": np.arange(N) // 3},
    {"strata": np.arange(N) // 15, "aggregate": "macro"},
    {"recovery": 0.9},
    {"alternative": "greater", "baseline": "s0"},
]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("options", OPTIONS, ids=lambda o: "-".join(o))
def test_a_power_of_two_changes_no_bit(options):
    def compared(exponent, **more):
        systems = scores(exponent)
        result = es.compare(systems, metrics=POINTS, n_resamples=99, **options, **more)
        return said(result, exponent)

    expected = compared(0)
    assert compared(600) == expected
    assert compared(-600) == expected


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("exponent", [-600, 600])
def test_it_changes_no_score_no_margin_no_gate_and_no_check(exponent):
    unit, systems = 2.0**exponent, scores(exponent, 2)
    for method in ("bootstrap", "t"):
        asked = {"metric": POINTS, "method": method, "n_resamples": 99}
        wide, plain = (es.estimate(own, **asked) for own in (systems, scores(0, 2)))
        expected = [(e.low, e.standard_error) for e in plain]
        assert [(e.low / unit, e.standard_error / unit) for e in wide] == expected
    claims, checks, needed = [], [], []
    for size, own in ((unit, systems), (1.0, scores(0, 2))):
        (d,) = es.compare(own, metrics=POINTS, margin=0.5 * size, n_resamples=99)
        claims.append((d.pvalue_equivalence, d.pvalue_worse))
        logs = [log({name: values}) for name, values in own.items()]
        asked = {"n_resamples": 99, "directions": {"points": "higher"}}
        gate = es.gate(logs[1], logs[0], margin=0.5 * size, **asked)
        needed.append([(check.verdict, check.needed) for check in gate.checks])
        monitor = es.Monitor(None, POINTS)
        monitor.check(0, own["s0"])
        monitor.check(1, own["s1"])
        checks.append((monitor.last.pvalue, monitor.last.level, monitor.last.low / size))
    for pair in (claims, checks, needed):
        assert pair[0] == pair[1]


def test_noise_of_tiny_scores_is_noise():
    """Squares of 1e-165 are 0: an error of 0 made a p-value of 1e-15 of them."""
    systems = {name: 1e-165 * own for name, own in scores(0, 2).items()}
    (tiny,) = es.compare(systems, metrics=POINTS, method="t")
    (plain,) = es.compare(scores(0, 2), metrics=POINTS, method="t")
    assert tiny.pvalue == pytest.approx(plain.pvalue, rel=1e-9)
    assert tiny.pvalue > 0.1


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("size", [1e-320, 1e-200, 1e200, 1e304, 1e307])
def test_every_size_has_an_answer_or_one_line(size, tmp_path, run_here):
    path = tmp_path / "scores.csv"
    log({name: size * own for name, own in scores(0, 2).items()}).to_csv(path, index=False)
    asked = ["--higher-is-better", "points", "--quiet", "--resamples", "99"]
    code, out, err = run_here("compare", path, *asked)
    assert (code, err) == (0, "") or (code == 2 and err.count("\n") == 1)
    assert code == 0 or (size == 1e307 and "their sum overflows" in err)
    # Tables have room for all of them.
    assert max(map(len, out.split("\n")[:12])) < 140
    assert size != 1e200 or "e+200" in out


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_variances_of_runs_have_a_range(size):
    runs = {name: [size * own, size * own[::-1]] for name, own in scores(0, 2).items()}
    said = r"points of several runs must be between 1e-130 and 1e\+130.*rescale the scores"
    with pytest.raises(es.InputError, match=said):
        es.compare(runs, metrics=POINTS)


def test_a_spread_of_any_size_is_that_of_its_shares():
    values = np.random.default_rng(1).normal(size=20)
    error, factor, degrees = spread(values)
    assert error == pytest.approx(np.sqrt(20 * np.var(values, ddof=1)))
    for exponent in (-900, 900):
        assert spread(np.ldexp(values, exponent)) == (np.ldexp(error, exponent), factor, degrees)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isnan(spread(np.array([1.0, np.nan])).error)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("weights", [(1e308, 1e308), (5e-324, 5e-324), (2.0, 2.0)])
def test_weights_of_any_size_are_shares(weights):
    tables = {name: es.extract(scores(0, 2), metric=POINTS) for name in ("x", "y")}
    result = es.Suite(tables, dict(zip(tables, weights, strict=True))).estimate(method="t")
    total = [e.score for e in result if e.aggregate]
    assert total == pytest.approx(tables["x"].scores.tolist())
    strata = np.arange(N) % 2
    of_strata, macro = (
        es.estimate(scores(0, 2), metric=POINTS, strata=strata, aggregate=a, n_resamples=99)
        for a in (dict(enumerate(weights)), "macro")
    )
    assert [e.low for e in of_strata] == [e.low for e in macro]


def test_small_scores_beside_large_ones_keep_their_errors():
    """Max-T divides each pair by its error in the same resample, whatever others are."""

    def adjusted(exponent):
        large, small = scores(exponent, 2), scores(0, 2)
        systems = {**large, **{f"small {name}": own for name, own in small.items()}}
        return [d.pvalue_adjusted for d in es.compare(systems, metrics=POINTS, n_resamples=199)]

    # Beside numbers of 2^100 the others are nothing already.
    assert adjusted(600) == pytest.approx(adjusted(100), rel=1e-9)


@pytest.mark.parametrize("exponent", [-700, 600])
def test_other_test_sets_are_of_any_size(exponent):
    """Defect: the prediction of large scores crashed."""
    asked = {"metrics": POINTS, "n_resamples": 99}
    found = {}
    for power in (0, exponent):
        result = es.compare(scores(power, 2), **asked)
        bounds = result.estimates[0].prediction(30)
        found[power] = np.ldexp(bounds, -power)
    np.testing.assert_allclose(found[exponent], found[0], rtol=1e-12)


@pytest.mark.parametrize("method", ["t", "bootstrap"])
def test_pvalues_of_very_large_differences_are_above_0(method):
    """They are in (0, 1], though those of t underflow."""
    noise = np.random.default_rng(0).normal(0, 1e-3, (2, 3000))
    scores = {"a": noise[0], "b": noise[1] + 1}
    result = es.compare(scores, metrics=es.Mean("x"), method=method, n_resamples=99)
    assert 0 < result[0].pvalue <= result[0].pvalue_adjusted < 0.05
    assert "p < 0.0001" in str(result[0]) or method == "bootstrap"
