"""The one rule: an interval is the set of null values that are not rejected, whatever was drawn."""

import numpy as np
import pytest
from scipy.special import ndtr, ndtri, stdtr, stdtrit
from scipy.stats import ttest_rel

import evalstats as es
from evalstats.inference import bootstrap, student
from evalstats.inference.student import Spread

LEVELS = (0.5, 0.9, 0.95, 0.999)


def table(rng, n, kind):
    """Return statistics of three systems on n segments: a mean, or a ratio of sums of counts."""
    if kind == "mean":
        skill = rng.gamma(2.0, size=n)
        rows = [skill + rng.normal(0.1 * s, 0.5, n) for s in range(3)]
        return es.extract(dict(zip("ABC", rows, strict=True)), metric=es.Mean("m"))
    lengths = rng.integers(1, 40, n)
    hits = [rng.binomial(lengths, 0.5 + 0.03 * s) for s in range(3)]
    values = np.stack([np.stack([h, lengths], axis=1) for h in hits])
    return es.SegmentStatistics(values, list("ABC"), es.Ratio("hits"))


def few_differ(rng, n):
    """Return 0 to 6 differing segments of counts."""
    base = rng.integers(1, 9, n)
    other = base.copy()
    m = int(rng.integers(0, 7))
    other[:m] += rng.integers(1, 5, m)
    return es.extract({"A": base, "B": other}, metric=es.Mean("m"))


def design(rng, n):
    """Return groups of any sizes, strata of any sizes, and an average over them, or nothing."""
    asked = {}
    choice = rng.integers(6)
    if choice in (1, 3):
        asked["groups"] = np.sort(rng.integers(0, max(2, n // 3), n)).tolist()
    if choice in (2, 4, 5):
        asked["strata"] = rng.integers(0, 4, n).tolist()
        sizes = np.bincount(asked["strata"])
        if choice != 2 and not np.any(sizes[sizes > 0] == 1):
            asked["aggregate"] = "macro"
    return asked


def agree(d, low, high, level, null=0.0):
    """Assert that the interval leaves the null value out exactly where p is at most 1 - level."""
    rejected, out = d.pvalue <= 1 - level + 1e-12, not low <= null <= high
    assert rejected == out, (d, level)


@pytest.mark.parametrize("seed", range(24))
def test_an_interval_is_what_is_not_rejected(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.choice([3, 6, 8, 15, 40, 120]))
    kind = rng.choice(["mean", "ratio", "few", "marks"])
    if kind == "few":
        given = few_differ(rng, n)
    elif kind == "marks":
        marks = {s: (rng.random(n) < 0.5 + 0.1 * i).astype(int) for i, s in enumerate("AB")}
        given = es.extract(marks, metric=es.Mean("acc"))
    else:
        given = table(rng, n, kind)
    asked = {**design(rng, n), "n_resamples": int(rng.choice([99, 999])), "rng": seed}
    contrasts = ["difference"] if kind == "marks" else ["difference", "ratio", "log-ratio"]
    for level in LEVELS:
        found = {}
        for contrast in contrasts:
            try:
                result = es.compare(given, contrast=contrast, confidence_level=level, **asked)
            except es.InputError:
                # Of few units nothing bounds a ratio, or a resample scores 0.
                assert contrast != "difference"
                continue
            for d in result:
                agree(d, d.low, d.high, level, d.null)
                # A ratio, its logarithm and the difference have one p-value.
                assert d.pvalue == found.setdefault(d.system + d.baseline, d.pvalue)


def test_margins_and_recoveries_are_bounds_of_intervals():
    rng = np.random.default_rng(5)
    for _ in range(20):
        given = table(rng, int(rng.choice([8, 30, 100])), "ratio")
        one, two = (es.compare(given, confidence_level=c, n_resamples=499) for c in (0.95, 0.9))
        for margin in (0.01, 0.05, 0.1):
            claimed = es.compare(given, margin=margin, n_resamples=499)
            for d, wide, narrow in zip(claimed, one, two, strict=True):
                assert (d.low, d.high) == (wide.low, wide.high)
                assert (d.margin_test.equivalence_bound, d.margin_test.loss_bound) == (
                    max(-narrow.low, narrow.high),
                    -narrow.low,
                )
                assert (d.margin_test.pvalue_not_worse <= 0.05) == (-margin < narrow.low)
                assert (d.margin_test.pvalue_worse <= 0.05) == (narrow.high < -margin)
                inside = -margin < narrow.low and narrow.high < margin
                assert (d.margin_test.pvalue_equivalence <= 0.05) == inside
        ratio = es.compare(given, contrast="ratio", confidence_level=0.9, n_resamples=499)
        kept = es.compare(given, recovery=0.95, n_resamples=499)
        for d, r in zip(kept, ratio, strict=True):
            assert d.margin_test.recovery_bound == pytest.approx(min(r.low, 1.0))
            assert (d.margin_test.pvalue_not_worse <= 0.05) == (r.low > 0.95)


def test_the_formula_itself():
    """One pair of segments, as the method page writes it."""
    rng = np.random.default_rng(1)
    x, y = rng.gamma(2.0, size=(2, 50))
    (d,) = es.compare({"x": x, "y": y}, metrics=es.Mean("m"), n_resamples=999, rng=7)
    weights = es.bootstrap_weights(50, 999, 7)
    drawn = np.sort(weights @ y / 50 - weights @ x / 50)
    f, nu = np.sqrt(50 / 49), 49
    k = int(np.floor(1000 * ndtr(f * stdtrit(nu, 0.025))))
    assert (d.low, d.high) == pytest.approx((drawn[k - 1], drawn[-k]), abs=1e-12)
    q = (min(np.sum(drawn <= 0), np.sum(drawn >= 0)) + 1) / 1000
    assert d.pvalue == pytest.approx(2 * stdtr(nu, ndtri(q) / f), rel=1e-12)
    assert d.standard_error == pytest.approx(np.std(y - x, ddof=1) / np.sqrt(50))
    (t,) = es.compare({"x": x, "y": y}, metrics=es.Mean("m"), test="t", method="t")
    truth = ttest_rel(y, x)
    assert t.pvalue == pytest.approx(truth.pvalue, rel=1e-9)
    assert (t.low, t.high) == pytest.approx(tuple(truth.confidence_interval()), rel=1e-9)


def test_one_sided_tests_are_one_sided_intervals():
    rng = np.random.default_rng(2)
    for n in (5, 12, 60):
        x, y = rng.normal(size=(2, n))
        given = es.extract({"x": x, "y": y + 0.3}, metric=es.Mean("m"))
        (two,) = es.compare(given, confidence_level=0.9)
        (greater,) = es.compare(given, alternative="greater")
        (less,) = es.compare(given, alternative="less")
        assert (greater.pvalue <= 0.05) == (two.low > 0)
        assert (less.pvalue <= 0.05) == (two.high < 0)


def test_what_means_nothing_changes_nothing():
    """Groups of one, one constant stratum, macro over it, systems in another order."""
    rng = np.random.default_rng(3)
    for kind in ("mean", "ratio"):
        given = table(rng, 40, kind)
        plain = es.compare(given)
        for asked in (
            {"groups": range(40)},
            {"strata": ["all"] * 40},
            {"strata": ["all"] * 40, "aggregate": "macro"},
            {"groups": range(40), "strata": ["all"] * 40},
        ):
            for d, e in zip(es.compare(given, **asked), plain, strict=True):
                assert (d.difference, d.low, d.high) == (e.difference, e.low, e.high)
                assert (d.pvalue, d.pvalue_adjusted) == (e.pvalue, e.pvalue_adjusted)
        turned = es.compare(es.SegmentStatistics(given.values[::-1], list("CBA"), given.metric))
        for d in plain:
            e = turned.difference(d.metric, d.baseline, d.system)
            assert (e.difference, e.low, e.high) == (-d.difference, -d.high, -d.low)
            assert (e.pvalue, e.pvalue_adjusted) == (d.pvalue, d.pvalue_adjusted)
        rows = es.Suite({"task": given}).compare()
        assert [d.pvalue for d in rows] == [d.pvalue for d in plain]


def test_marks_in_a_trivial_design_are_as_they_are():
    rng = np.random.default_rng(4)
    marks = {s: rng.integers(0, 2, 30) for s in "AB"}
    (d,) = es.compare(marks, metrics=es.Mean("acc"))
    for asked in ({"groups": range(30)}, {"strata": [0] * 30, "aggregate": "macro"}):
        (e,) = es.compare(marks, metrics=es.Mean("acc"), **asked)
        assert (d.low, d.high, d.pvalue) == (e.low, e.high, e.pvalue)


def test_rows_in_another_order_change_only_what_is_drawn():
    """Groups, strata and segments shuffled together: errors and t are the same."""
    rng = np.random.default_rng(6)
    given = table(rng, 60, "ratio")
    strata, groups = np.repeat([0, 1, 2], 20), np.repeat(np.arange(15), 4)
    order = rng.permutation(60)
    moved = es.SegmentStatistics(given.values[:, order], given.systems, given.metric)
    for names in (("strata",), ("groups",), ("strata", "groups")):
        labels = {"strata": strata, "groups": groups}
        asked = {name: labels[name].tolist() for name in names}
        other = {name: labels[name][order].tolist() for name in names}
        for method in ("t", "bootstrap"):
            both = zip(
                es.compare(given, method=method, test=method, **asked),
                es.compare(moved, method=method, test=method, **other),
                strict=True,
            )
            for d, e in both:
                assert d.standard_error == pytest.approx(e.standard_error, rel=1e-12)
                close = 1e-9 if method == "t" else 0.1 * d.standard_error
                assert (d.low, d.high) == pytest.approx((e.low, e.high), abs=close)
                assert d.pvalue == pytest.approx(e.pvalue, abs=1e-9 if method == "t" else 0.02)


def test_one_segment_more_in_a_document_moves_nothing_by_much():
    """Defect: 12 documents of 6, one segment less in one: p was .180, then .052."""
    rng = np.random.default_rng(8)
    x = rng.normal(size=72)
    y = x + np.repeat(rng.normal(0.25, 0.5, 12), 6) + rng.normal(0, 0.3, 72)
    groups = np.repeat(np.arange(12), 6)
    (whole,) = es.compare({"x": x, "y": y}, metrics=es.Mean("m"), groups=groups)
    (less,) = es.compare({"x": x[1:], "y": y[1:]}, metrics=es.Mean("m"), groups=groups[1:])
    assert less.pvalue == pytest.approx(whole.pvalue, rel=0.4)
    assert less.low == pytest.approx(whole.low, abs=0.2 * whole.standard_error)


def test_kish_welch_and_satterthwaite():
    """Degrees of freedom of two samples are Welch's; sizes count by Kish's number."""
    rng = np.random.default_rng(9)
    a, b = rng.normal(0, 1, 12), rng.normal(0, 3, 7)
    u = np.concatenate([(a - a.mean()) / 12, (b - b.mean()) / 7])
    codes = np.repeat([0, 1], [12, 7])
    va, vb = a.var(ddof=1) / 12, b.var(ddof=1) / 7
    found = student.spread(u, None, codes)
    assert found.error == pytest.approx(np.sqrt(va + vb))
    assert found.degrees == pytest.approx((va + vb) ** 2 / (va**2 / 11 + vb**2 / 6))
    sizes = np.array([9, 3, 3, 3])
    g = 18**2 / (81 + 27)
    grouped = student.spread(np.array([0.3, -0.1, -0.1, -0.1]), sizes)
    assert grouped.error == pytest.approx(np.sqrt((0.09 + 0.03) * g / (g - 1)))
    assert grouped.degrees == pytest.approx(g - 1)


def test_few_units_have_t_and_a_floor():
    x = np.arange(4.0)
    (d,) = es.compare({"x": x, "y": x + [1, 2, 1, 2.5]}, metrics=es.Mean("m"))
    assert (d.test, d.method) == ("t", "t")
    assert d.pvalue == 2 * 0.5**4
    one = es.estimate([0.2, 0.4, 0.7], None, es.Mean("m"))
    assert one.method == "t"
    # Three units differ of 2,000: they say what they can, and no more.
    y = np.zeros(2000)
    y[:3] = 1.0
    (few,) = es.compare({"x": np.zeros(2000), "y": y + 0.0}, metrics=es.Mean("m"), test="t")
    assert few.pvalue >= 0.25
    (same,) = es.compare({"x": x, "y": x}, metrics=es.Mean("m"))
    assert (same.pvalue, same.low, same.high) == (1.0, 0.0, 0.0)


def test_ranks_are_exact_where_rounding_could_tell():
    rng = np.random.default_rng(10)
    for _ in range(200):
        spread = Spread(1.0, float(rng.uniform(1, 2)), float(rng.uniform(5, 500)))
        b = int(rng.choice([99, 999, 9999]))
        alpha = float(rng.uniform(0.001, 0.3))
        k = bootstrap.rank(alpha, b, spread)
        # At the p-value of a count itself, that count is the bound.
        p = bootstrap.widened((k + 1) / (b + 1), spread)
        assert bootstrap.rank(p, b, spread) == k + 1
        assert k == 0 or bootstrap.widened(k / (b + 1), spread) <= alpha
