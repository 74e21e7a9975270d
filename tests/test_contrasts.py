"""Ratios of scores: against scipy, against sums over all swaps, and in every form of a result."""

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest
from evalstats.inference.proportions import ratio_distance, ratio_interval
from scipy import stats

import evalstats as es
from evalstats.errors import InputError

COST = es.Mean("cost", higher_is_better=False)


class Perplexity(es.Metric):
    name, columns, higher_is_better, uses_references = "perplexity", ("nll", "n"), False, False

    def statistics(self, hypotheses, references=None):
        return np.asarray(hypotheses, dtype=float)

    def score(self, totals):
        totals = np.asarray(totals)
        return np.exp(totals[..., 0] / totals[..., 1])


def documents(rng, n, factors, noise=0.1):
    """Return statistics of documents whose perplexities differ by about these factors."""
    difficulty, tokens = rng.gamma(3, 0.7, size=n) + 0.5, rng.integers(20, 200, size=n)
    rows = [
        np.stack([(difficulty + np.log(f) + rng.normal(0, noise, n)) * tokens, tokens], axis=1)
        for f in factors
    ]
    names = [f"q{i}" for i in range(len(factors))]
    return es.SegmentStatistics(np.stack(rows), names, Perplexity())


TABLE = documents(np.random.default_rng(18), 600, [1.0, 1.02, 1.1])
FORMS = {c: es.compare(TABLE, contrast=c, n_resamples=999) for c in ("ratio", "log-ratio")}


@pytest.mark.parametrize("n", [12, 80, 700])
def test_means_against_scipy(n):
    rng = np.random.default_rng(n)
    x = rng.gamma(2, 3, size=n) + 1
    y = x * rng.uniform(0.8, 1.3, size=n)
    (d,) = es.compare({"x": x, "y": y}, metrics=COST, method="t", contrast="log-ratio")
    by_hand = stats.ttest_1samp(y / y.mean() - x / x.mean() + np.log(y.mean() / x.mean()), 0)
    interval = by_hand.confidence_interval(0.95)
    assert d.value == pytest.approx(np.log(y.mean() / x.mean()))
    assert (d.low, d.high) == pytest.approx(tuple(interval), rel=1e-6)
    # The default test asks a randomisation test as well, and takes the larger.
    assert d.pvalue >= by_hand.pvalue * (1 - 1e-9)
    assert d.difference == pytest.approx(y.mean() - x.mean())


def test_the_standard_error_is_that_of_resampled_log_ratios():
    result = es.compare(TABLE, contrast="log-ratio")
    for d in result:
        ends = [result["perplexity", name].replicates for name in (d.baseline, d.system)]
        # 9,999 resamples know a standard deviation to 0.7 %; linearisation adds as much.
        drawn = np.std(np.log(ends[1] / ends[0]), ddof=1)
        assert d.standard_error == pytest.approx(drawn, rel=0.03)


@pytest.mark.parametrize("method", ["auto", "t", "percentile", "basic", "bca", "studentized"])
def test_a_ratio_is_the_exponential_of_the_log_ratio(method):
    some = replace(TABLE, values=TABLE.values[:, :80])
    pairs = [es.compare(some, contrast=c, method=method, n_resamples=999) for c in FORMS]
    for ratio, log in zip(*pairs, strict=True):
        assert (ratio.value, ratio.low, ratio.high) == pytest.approx(
            tuple(np.exp([log.value, log.low, log.high]))
        )
        assert ratio.standard_error == pytest.approx(ratio.value * log.standard_error)
        assert (ratio.pvalue, ratio.pvalue_adjusted) == (log.pvalue, log.pvalue_adjusted)
        assert ratio.value == pytest.approx(ratio.system_score / ratio.baseline_score)
        assert (ratio.null, log.null) == (1.0, 0.0)


@pytest.mark.parametrize("test", ["studentized", "ar", "bootstrap"])
def test_the_other_way_round_it_is_the_reciprocal(test):
    turned = replace(TABLE, values=TABLE.values[1::-1], systems=("q1", "q0"))
    options = {"contrast": "ratio", "test": test, "n_resamples": 999}
    (one,) = es.compare(replace(TABLE, values=TABLE.values[:2], systems=("q0", "q1")), **options)
    (two,) = es.compare(turned, **options)
    assert (two.value, two.low, two.high) == pytest.approx(
        (1 / one.value, 1 / one.high, 1 / one.low)
    )
    assert one.pvalue == pytest.approx(two.pvalue)


def test_units_of_a_score_change_no_ratio():
    scaled = [
        es.compare({"A": unit * a, "B": unit * b}, metrics=COST, contrast="ratio", n_resamples=999)
        for a, b in [np.random.default_rng(5).gamma(3, 2, size=(2, 60))]
        for unit in (1, 1024)
    ]
    (one,), (many,) = scaled
    assert (one.low, one.high, one.pvalue) == pytest.approx((many.low, many.high, many.pvalue))


def test_randomisation_of_log_ratios_is_that_over_all_swaps():
    x, y = np.random.default_rng(3).gamma(3, 1, size=(2, 8))
    (d,) = es.compare({"x": x, "y": y}, metrics=COST, test="ar", contrast="ratio")
    swapped = [
        abs(np.log(np.where(s, x, y).sum() / np.where(s, y, x).sum()))
        for s in itertools.product([False, True], repeat=8)
    ]
    assert d.exact
    assert d.pvalue == np.mean(np.array(swapped) >= swapped[0] - 1e-12)


def test_the_score_interval_of_a_ratio_is_what_its_test_does_not_reject():
    z = stats.norm.ppf(0.975)
    for both, gained, lost in [(60, 8, 1), (5, 0, 3), (40, 0, 0), (0, 3, 4), (1200, 30, 18)]:
        low, high = ratio_interval(both, gained, lost, 0.95)
        observed = (both + gained) / (both + lost)
        assert low < observed < high
        turned = ratio_interval(both, lost, gained, 0.95)
        assert (1 / high, 1 / low) == pytest.approx(turned)
        for bound, sign, counts in ((low, 1, (gained, lost)), (high, -1, (gained, lost))):
            if bound > 1:
                bound, sign, counts = 1 / bound, -sign, counts[::-1]
            assert ratio_distance(both, *counts, bound) == pytest.approx(sign * z)


def test_correct_answers_keep_mcnemars_test_and_have_the_score_interval():
    rng = np.random.default_rng(8)
    a = rng.integers(0, 2, size=300)
    b = np.where(rng.random(300) < 0.1, 1 - a, a)
    plain, ratio = (
        es.compare({"a": a, "b": b}, metrics=es.Mean("acc"), contrast=c)
        for c in ("difference", "ratio")
    )
    (d,), (r,) = plain, ratio
    assert (r.pvalue, r.test, r.gained, r.lost) == (d.pvalue, "mcnemar", d.gained, d.lost)
    expected = ratio_interval(int((a & b).sum()), d.gained, d.lost, 0.95)
    assert (r.low, r.high) == pytest.approx(expected)
    assert r.method == "nam-blackwelder"
    assert any("Nam and Blackwelder's intervals" in note for note in ratio.notes)


def test_runs_add_their_relative_errors():
    rng = np.random.default_rng(11)
    easy = rng.gamma(4, 2, size=200)
    runs = {
        name: [easy + shift + rng.normal(0, 0.3) + rng.normal(0, 1, 200) for _ in range(4)]
        for name, shift in (("x", 1.0), ("y", 2.0))
    }
    result = es.compare(runs, metrics=COST, method="t", contrast="log-ratio")
    means = {name: np.mean(some, axis=0) for name, some in runs.items()}
    (alone,) = es.compare(means, metrics=COST, method="t", contrast="log-ratio")
    added = [(e.run_error / e.score) ** 2 for e in result.estimates]
    (d,) = result
    assert min(added) > 0
    assert d.standard_error == pytest.approx(np.sqrt(alone.standard_error**2 + sum(added)))


def test_strata_groups_and_shards_have_ratios():
    labels = np.repeat(["a", "b", "c"], 200)
    for options in (
        {"strata": labels},
        {"strata": labels, "aggregate": "macro"},
        {"groups": np.repeat(range(60), 10)},
    ):
        ratio, log = (
            es.compare(TABLE, contrast=c, n_resamples=499, **options)
            for c in ("ratio", "log-ratio")
        )
        for r, d in zip(ratio, log, strict=True):
            ends = [ratio.estimates[name].score for name in (r.baseline, r.system)]
            assert r.value == pytest.approx(ends[1] / ends[0])
            assert r.pvalue == d.pvalue
            assert r.low < r.value < r.high
    shard = es.resample_shard(
        TABLE, [str(i) for i in range(600)], n_resamples=999, resolution=2**-20
    )
    whole = es.compare(shard, test="bootstrap", contrast="ratio")
    plain = es.compare(TABLE, test="bootstrap", method="expanded", contrast="ratio")
    for one, two in zip(whole, plain, strict=True):
        assert (one.low, one.high) == pytest.approx((two.low, two.high), rel=0.02)


def test_simultaneous_intervals_hold_where_the_adjusted_verdict_does():
    alone, together = (
        es.compare(TABLE, contrast="ratio", intervals=i, n_resamples=999)
        for i in ("individual", "simultaneous")
    )
    for one, all_ in zip(alone, together, strict=True):
        assert all_.low < one.low < one.value < one.high < all_.high
        assert one.pvalue_adjusted == all_.pvalue_adjusted >= one.pvalue


def test_a_verdict_is_held_against_an_interval_around_one():
    base = FORMS["ratio"]
    d = base.differences[0]
    for low, high, p, disagrees in [
        (1.01, 1.2, 0.01, False), (0.8, 0.99, 0.01, False), (0.98, 1.2, 0.3, False),
        (0.98, 1.2, 0.01, True), (1.01, 1.2, 0.3, True), (0.5, 0.7, 0.3, True),
    ]:  # fmt: skip
        moved = replace(d, low=low, high=high, pvalue=p, pvalue_adjusted=p)
        result = replace(base, differences=(moved,))
        assert result.disagrees(moved) is disagrees


def test_scores_that_are_not_above_zero_have_no_ratio():
    zero = {"A": [0.0, 0, 0, 0], "B": [1.0, 2, 3, 1]}
    with pytest.raises(InputError, match=r"contrast='ratio' needs scores above 0, and .*'A' is 0"):
        es.compare(zero, metrics=COST, contrast="ratio")
    below = {"A": [-1.0, 4, 3], "B": [1.0, 2, 3]}
    for options in ({"test": "bootstrap"}, {"method": "percentile"}):
        with pytest.raises(InputError, match="above 0, and cost of a resample is not"):
            es.compare(below, metrics=COST, contrast="log-ratio", **options)
    with pytest.raises(InputError, match=r"margin is a difference in points.*give recovery"):
        es.compare(TABLE, contrast="ratio", margin=0.1)
    with pytest.raises(InputError, match="contrast must be one of difference, ratio, log-ratio"):
        es.compare(TABLE, contrast="quotient")


def test_the_default_survives_resamples_whose_score_is_zero():
    rare = {"A": [0.0] * 29 + [5.0], "B": [4.0] + [0.0] * 29}
    (d,) = es.compare(rare, metrics=COST, contrast="ratio", n_resamples=99)
    assert d.low < 0.8 < d.high
    assert d.pvalue > 0.5
    with pytest.raises(InputError, match="swapped outputs of system 'A' is not finite"):
        es.compare(rare, metrics=COST, contrast="ratio", test="ar", n_resamples=99)


def test_recovery_is_the_same_beside_a_ratio():
    plain = es.compare(TABLE, recovery=0.95, n_resamples=999)
    ratio = es.compare(TABLE, recovery=0.95, n_resamples=999, contrast="ratio")
    for one, two in zip(plain, ratio, strict=True):
        assert one.most_recovery == two.most_recovery
        assert (one.pvalue_not_worse, plain.claim(one)) == (two.pvalue_not_worse, ratio.claim(two))


@pytest.mark.parametrize(("contrast", "column"), [("ratio", "ratio"), ("log-ratio", "log ratio")])
def test_every_form_says_what_is_shown(contrast, column):
    result = FORMS[contrast]
    assert es.Comparison.from_json(result.to_json()) == result
    d = result.differences[-1]
    plain = json.loads(result.to_json())
    assert plain["contrast"] == plain["differences"][0]["contrast"] == contrast
    assert plain["differences"][-1][contrast.replace("-", "_")] == d.value
    assert f'"{contrast.replace("-", "_")}"' in result.to_csv().splitlines()[0]
    wide = es.compare(documents(np.random.default_rng(0), 50, [1, 1.1, 1.2, 1.3, 1.4]),
                      contrast=contrast, n_resamples=999)  # fmt: skip
    assert f"intervals of the {column}s" in str(wide)
    one = es.compare(TABLE, contrast=contrast, baseline="q0", n_resamples=999)
    for text in (str(result), result.to_markdown(), result.to_html(), result.to_latex(), str(one)):
        assert column in text
        assert "system - baseline" not in text
    assert f"|contrast:{contrast}|" in result.signatures[0]
    shown = f"{d.value:.4f}" if contrast == "ratio" else f"{d.value:+.4f}"
    assert shown in str(result)
    assert any("the null hypothesis of no difference" in note for note in result.notes)
    assert result.ranking().systems[0].score == min(e.score for e in result.estimates)


def test_a_matrix_has_ratios_of_rows_to_columns():
    table = documents(np.random.default_rng(0), 300, [1, 1.2, 1.4, 1.6, 1.8])
    result = es.compare(table, contrast="ratio", n_resamples=999)
    first = next(line for line in str(result).split("ratio row / column")[1].splitlines()
                 if line.startswith("1"))  # fmt: skip
    shown = [float(cell.rstrip("*†")) for cell in first.split()[2:]]
    scores = sorted(e.score for e in result.estimates)
    assert shown == pytest.approx([scores[0] / s for s in scores[1:]], abs=1e-3)


def test_figures_have_their_line_at_one():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    axes = FORMS["ratio"].plot()
    assert "ratio of perplexity" in axes.get_xlabel()
    lines = {tuple(map(float, line.get_xdata())): line for line in axes.get_lines()}
    assert (1.0, 1.0) in lines
    points = [x[0] for x in lines if len(x) == 1]
    # Each pair with the better system first: all ratios of a perplexity are below 1.
    assert sorted(points) == pytest.approx(
        sorted(min(d.value, 1 / d.value) for d in FORMS["ratio"])
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda plain: plain["differences"][0].update(ratio=1.5), "ratio is not that of its"),
        (lambda plain: plain["differences"][0].update(ratio="1"), "ratio is not that of its"),
        (lambda plain: plain["differences"][0].update(low=-0.1), "scores must be above 0"),
        (lambda plain: plain.update(contrast="difference"), "contrast must be 'difference'"),
        (lambda plain: plain.update(contrast="x"), "contrast must be one of"),
        (lambda plain: plain["differences"][0].update(log_ratio=0.1), "unknown field"),
    ],
)
def test_files_whose_ratios_do_not_fit_are_refused(change, message):
    plain = json.loads(FORMS["ratio"].to_json())
    change(plain)
    with pytest.raises(InputError, match=message):
        es.Comparison.from_json(json.dumps(plain))


def test_files_from_before_there_were_ratios_are_read():
    result = es.compare(TABLE, n_resamples=999)
    plain = json.loads(result.to_json())
    for record in (plain, *plain["differences"]):
        del record["contrast"]
    assert es.Comparison.from_json(json.dumps(plain)) == result


@pytest.mark.thorough
def test_the_interval_of_a_ratio_covers_it():
    """600 samples of 100 documents: outside 92 to 98 % with probability 0.001 by chance."""
    rng, factor, hits = np.random.default_rng(77), 1.05, 0
    # The ratio of corpus perplexities is exactly the factor on average over the noise.
    for _ in range(600):
        table = documents(rng, 100, [1.0, factor], noise=0.3)
        (d,) = es.compare(table, contrast="ratio", n_resamples=2)
        hits += d.low <= factor <= d.high
    assert 0.92 <= hits / 600 <= 0.98


def test_simultaneous_ratios_of_very_few_groups_may_have_no_upper_bound():
    scores = np.random.default_rng(1).lognormal(size=(4, 20))
    systems = dict(zip("ABCD", scores, strict=True))
    result = es.compare(
        systems,
        metrics=es.Mean("m"),
        groups=np.repeat(range(4), [12, 4, 3, 1]),
        contrast="ratio",
        intervals="simultaneous",
    )
    assert all(d.low <= d.system_score / d.baseline_score <= d.high for d in result)
    assert any(d.high == np.inf for d in result)
