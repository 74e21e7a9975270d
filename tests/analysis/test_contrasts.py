"""Ratios of scores: against Fieller, SciPy and resamples, and in every form of a result."""

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy import stats

import evalstats as es
from evalstats.errors import InputError

COST = es.Mean("cost", higher_is_better=False)


def documents(rng, n, factors, noise=0.1):
    """Return statistics of documents whose perplexities differ by about these factors."""
    difficulty, tokens = rng.gamma(3, 0.7, size=n) + 0.5, rng.integers(20, 200, size=n)
    rows = [
        np.stack([(difficulty + np.log(f) + rng.normal(0, noise, n)) * tokens, tokens], axis=1)
        for f in factors
    ]
    names = [f"q{i}" for i in range(len(factors))]
    return es.SegmentStatistics(np.stack(rows), names, es.Perplexity())


TABLE = documents(np.random.default_rng(18), 600, [1.0, 1.02, 1.1])
KINDS = ("difference", "ratio", "log-ratio")


@cache
def compared(contrast):
    return es.compare(TABLE, contrast=contrast, n_resamples=999)


@pytest.mark.parametrize("n", [6, 12, 80])
def test_t_intervals_of_means_are_fiellers(n):
    """All r for which a paired t test does not reject y = r·x; r = 1 is that of the difference."""
    rng = np.random.default_rng(n)
    x = rng.gamma(2, 3, size=n) + 1
    y = x * rng.uniform(0.8, 1.3, size=n)
    options = {"metrics": COST, "method": "t", "test": "t"}
    (d,) = es.compare({"x": x, "y": y}, contrast="ratio", **options)
    assert d.value == pytest.approx(y.mean() / x.mean())
    degrees = n - 1
    for r, side in ((d.low, 1), (d.high, -1)):
        # The degrees of freedom, n - 1, and no more than the difference has.
        t = stats.ttest_rel(y, r * x).statistic
        assert t == pytest.approx(side * stats.t.ppf(0.975, degrees), rel=1e-6)
    expected = stats.ttest_rel(y, x).pvalue
    assert d.pvalue == pytest.approx(max(expected, 2 * 0.5**n), rel=1e-9)
    (log,) = es.compare({"x": x, "y": y}, contrast="log-ratio", **options)
    by_hand = stats.sem(y / y.mean() - x / x.mean())
    assert (log.value, log.standard_error) == pytest.approx((np.log(d.value), by_hand), rel=1e-6)


def test_the_interval_is_that_of_resampled_ratios():
    result = compared("ratio")
    for d in result:
        base, new = (
            result.estimates["token perplexity", s].replicates for s in (d.baseline, d.system)
        )
        k = int(1000 * stats.norm.cdf(np.sqrt(600 / 599) * stats.t.ppf(0.025, 599)))
        drawn = np.sort(new / base)
        assert (d.low, d.high) == (drawn[k - 1], drawn[-k])
        # 999 resamples know a standard deviation to 2.2 %; linearisation adds as much.
        assert d.standard_error == pytest.approx(np.std(drawn, ddof=1), rel=0.12)


DESIGNS = [
    *({"method": method, "test": test}
      for method in ("bootstrap", "t", "percentile", "bca", "simultaneous")
      for test in ("bootstrap", "t", "ar")),
    {"strata": np.repeat(["a", "b"], 40)},
    {"strata": np.repeat(["a", "b"], 40), "aggregate": "macro"},
    {"groups": np.repeat(range(20), 4)},
]  # fmt: skip


@pytest.mark.parametrize("options", DESIGNS)
def test_a_ratio_its_logarithm_and_the_difference_have_one_p_value(options):
    some = replace(TABLE, values=TABLE.values[:, :80])
    results = [es.compare(some, contrast=c, n_resamples=199, **options) for c in KINDS]
    for d, ratio, log in zip(*results, strict=True):
        found = (ratio.value, ratio.low, ratio.high)
        assert found == pytest.approx(tuple(np.exp([log.value, log.low, log.high])))
        assert ratio.low < ratio.value < ratio.high
        assert ratio.standard_error == pytest.approx(ratio.value * log.standard_error)
        # To first order the difference over the baseline's score.
        expected = d.standard_error / d.baseline_score
        assert ratio.standard_error == pytest.approx(expected, rel=0.2)
        assert d.pvalue == ratio.pvalue == log.pvalue
        assert d.pvalue_adjusted == ratio.pvalue_adjusted == log.pvalue_adjusted
        assert ratio.value == pytest.approx(ratio.system_score / ratio.baseline_score)
        assert (d.null, ratio.null, log.null) == (0.0, 1.0, 0.0)


def test_runs_add_their_relative_errors():
    rng = np.random.default_rng(11)
    easy = rng.gamma(4, 2, size=200)
    runs = {
        name: [easy + shift + rng.normal(0, 0.3) + rng.normal(0, 1, 200) for _ in range(4)]
        for name, shift in (("x", 1.0), ("y", 2.0))
    }
    result = es.compare(runs, metrics=COST, contrast="log-ratio")
    means = {name: np.mean(some, axis=0) for name, some in runs.items()}
    (alone,) = es.compare(means, metrics=COST, contrast="log-ratio", n_resamples=99)
    added = [(e.run_error / e.score) ** 2 for e in result.estimates]
    (d,) = result
    assert min(added) > 0
    assert d.standard_error == pytest.approx(np.sqrt(alone.standard_error**2 + sum(added)))
    assert d.low < d.value < d.high


def test_scores_that_are_not_above_zero_have_no_ratio():
    zero = {"A": [0.0, 0, 0, 0], "B": [1.0, 2, 3, 1]}
    with pytest.raises(InputError, match=r"contrast='ratio' needs scores above 0, and .*'A' is 0"):
        es.compare(zero, metrics=COST, contrast="ratio")
    for scores in ([-1.0, 4, 3, 2, 2, 1, 1], [0.0] * 9 + [5.0]):
        below = {"A": scores, "B": np.arange(len(scores)) + 1.0}
        with pytest.raises(InputError, match="above 0, and cost of a resample is not; give method"):
            es.compare(below, metrics=COST, contrast="log-ratio")
    with pytest.raises(InputError, match=r"margin is a difference in points.*give recovery"):
        es.compare(TABLE, contrast="ratio", margin=0.1)
    with pytest.raises(InputError, match="contrast must be one of difference, ratio, log-ratio"):
        es.compare(TABLE, contrast="quotient")

    # A denominator that is not told from 0 leaves no interval; nor do all at once of few groups.
    rare = {"A": [0.0] * 29 + [5.0], "B": [4.0] + [0.0] * 29}
    few = dict(zip("ABCD", np.random.default_rng(1).lognormal(size=(4, 20)), strict=True))
    groups = np.repeat(range(4), [12, 4, 3, 1])
    for scores, options in (
        (rare, {"method": "t", "test": "t"}),
        (few, {"groups": groups, "method": "simultaneous"}),
    ):
        with pytest.raises(
            InputError, match=r"no finite interval for cost of 'A' and 'B'.*the rat"
        ):
            es.compare(scores, metrics=COST, contrast="ratio", **options)


@pytest.mark.parametrize(("contrast", "column"), [("ratio", "ratio"), ("log-ratio", "log ratio")])
def test_every_form_says_what_is_shown(contrast, column):
    result = compared(contrast)
    d = result.differences[-1]
    plain = json.loads(result.to_json())
    assert plain["contrast"] == plain["differences"][0]["contrast"] == contrast
    assert plain["differences"][-1]["value"] == d.value
    one = es.compare(TABLE, contrast=contrast, baseline="q0", n_resamples=99)
    for text in (str(result), result.to_markdown(), result.to_html(), result.to_latex(), str(one)):
        assert column in text
        assert "system - baseline" not in text
    assert f"|contrast:{contrast}|" in result.signatures[0]
    # The better system is named first.
    shown = f"{1 / d.value:.4f}" if contrast == "ratio" else f"{-d.value:+.4f}"
    assert shown in str(result)
    null = "1" if contrast == "ratio" else "0"
    assert any(note.endswith(f"p tests whether the {column} is {null}.") for note in result.notes)
    assert result.ranking().systems[0].score == min(e.score for e in result.estimates)


def test_a_matrix_has_ratios_of_rows_to_columns():
    table = documents(np.random.default_rng(0), 300, [1, 1.2, 1.4, 1.6, 1.8])
    result = es.compare(table, contrast="ratio", n_resamples=99)
    assert "Intervals of the ratios" in str(result)
    lines = str(result).split("ratio row / column")[1].splitlines()
    (first,) = [line for line in lines if line.startswith("1")]
    shown = [float(cell.rstrip("*")) for cell in first.split()[2:]]
    scores = sorted(e.score for e in result.estimates)
    assert shown == pytest.approx([scores[0] / s for s in scores[1:]], abs=1e-3)


def test_scores_that_are_equal_but_for_rounding_have_a_ratio_of_1():
    parts = np.random.default_rng(0).integers(1, 9, 12)
    rows = [np.stack([x * parts, 3 * x * parts], axis=-1) for x in (0.1, 0.3)]
    table = es.SegmentStatistics(np.stack(rows), ["A", "B"], es.Ratio("edits"))
    (d,) = es.compare(table, contrast="ratio", method="percentile", n_resamples=99)
    assert d.baseline_score != d.system_score == pytest.approx(d.baseline_score, rel=1e-12)
    assert (d.low, d.high) == (1, 1)
