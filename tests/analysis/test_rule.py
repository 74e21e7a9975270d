"""The one rule: an interval is the set of null values that are not rejected, whatever was drawn."""

import ast
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.special import ndtr, ndtri, stdtr, stdtrit
from scipy.stats import ttest_rel

import evalstats as es
from evalstats.inference import bootstrap, student
from evalstats.inference.student import Spread

LEVELS = (0.5, 0.95, 0.999)


def table(rng, n, kind):
    """Return statistics of systems on n segments: means, 0/1 marks, ratios, few that differ."""
    if kind == "mean":
        rows = rng.gamma(2.0, size=n) + rng.normal([[0], [0.1], [0.2]], 0.5, (3, n))
    elif kind == "marks":
        rows = (rng.random((2, n)) < [[0.5], [0.6]]).astype(int)
    elif kind == "few":
        rows = np.tile(rng.integers(1, 9, n), (2, 1))
        m = int(rng.integers(0, min(n, 6) + 1))
        rows[1, :m] += rng.integers(1, 5, m)
    if kind != "ratio":
        return es.extract(dict(zip("ABC", rows, strict=False)), metric=es.Mean("m"))
    lengths = rng.integers(1, 40, n)
    hits = [rng.binomial(lengths, 0.5 + 0.03 * s) for s in range(3)]
    values = np.stack([np.stack([h, lengths], axis=1) for h in hits])
    return es.SegmentStatistics(values, list("ABC"), es.Ratio("hits"))


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


def agree(d, level):
    """Assert that the interval leaves the null value out exactly where p is at most 1 - level."""
    assert (d.pvalue <= 1 - level + 1e-12) == (not d.low <= 0 <= d.high), (d, level)


@pytest.mark.parametrize("seed", range(10))
def test_an_interval_is_what_is_not_rejected(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.choice([3, 6, 8, 15, 40, 120]))
    kind = rng.choice(["mean", "ratio", "few", "marks"])
    given = table(rng, n, kind)
    asked = {**design(rng, n), "n_resamples": int(rng.choice([99, 999])), "rng": seed}
    for level in LEVELS:
        for d in es.compare(given, confidence_level=level, **asked):
            agree(d, level)


@pytest.mark.parametrize("method", ["bootstrap", "t"])
def test_of_few_units_that_all_gain_the_interval_holds_what_the_floor_does_not_reject(method):
    """They can be swapped in 2^n ways, whatever t or replicates say."""
    asked = {"method": method, "n_resamples": 499}
    for n in (3, 5, 9):
        x = np.random.default_rng(n).uniform(1, 1.1, size=(2, n))
        given = es.extract({"A": x[0], "B": x[1] + 1}, metric=es.Mean("m"))
        for level in (*LEVELS, 1 - 2.0 ** (1 - n), 1 - 2.0**-n):
            (d,) = es.compare(given, confidence_level=level, **asked)
            assert d.pvalue >= 2 * 0.5**n
            agree(d, level)


def test_margins_recoveries_and_one_sided_tests_are_bounds_of_intervals():
    rng = np.random.default_rng(5)
    for n in (8, 30, 100):
        given = table(rng, n, "ratio")
        narrow = es.compare(given, confidence_level=0.9, n_resamples=499)
        for margin in (0.01, 0.05, 0.1):
            claimed = es.compare(given, margin=margin, n_resamples=499)
            for of, bound in zip(claimed, narrow, strict=True):
                assert of.equivalence_bound == max(-bound.low, bound.high)
                assert of.loss_bound == -bound.low
                assert (of.pvalue_not_worse <= 0.05) == (-margin < bound.low)
                assert (of.pvalue_worse <= 0.05) == (bound.high < -margin)
                inside = -margin < bound.low and bound.high < margin
                assert (of.pvalue_equivalence <= 0.05) == inside
        for recovery in (0.8, 0.9, 0.95):
            for of in es.compare(given, recovery=recovery, n_resamples=499):
                assert (of.pvalue_not_worse <= 0.05) == (of.recovery_bound > recovery)
        for side in ("greater", "less"):
            sided = es.compare(given, alternative=side, n_resamples=499)
            for d, bound in zip(sided, narrow, strict=True):
                beyond = bound.low > 0 if side == "greater" else bound.high < 0
                assert (d.pvalue <= 0.05) == beyond


@pytest.mark.parametrize("is_whole", [False, True])
def test_the_formula_itself(is_whole):
    """One pair of segments, as the method page writes it; whole marks have resamples at 0."""
    rng = np.random.default_rng(1)
    x, y = rng.gamma(2.0, size=(2, 50))
    if is_whole:
        x, y = np.rint(x), np.rint(x) + rng.choice([-2, -1, 1, 2], 50)
    (d,) = es.compare({"x": x, "y": y}, metrics=es.Mean("m"), n_resamples=999, rng=9)
    weights = es.bootstrap_weights(50, 999, 9)
    drawn = np.sort(weights @ (y - x) / 50)
    assert np.any(drawn == 0) == is_whole
    f, nu = np.sqrt(50 / 49), 49
    k = int(np.floor(1000 * ndtr(f * stdtrit(nu, 0.025))))
    assert (d.low, d.high) == pytest.approx((drawn[k - 1], drawn[-k]), abs=1e-12)
    q = (min(np.sum(drawn <= 0), np.sum(drawn >= 0)) + 1) / 1000
    assert d.pvalue == pytest.approx(2 * stdtr(nu, ndtri(q) / f), rel=1e-12)
    assert d.standard_error == pytest.approx(np.std(y - x, ddof=1) / np.sqrt(50))
    score = es.estimate(y, None, es.Mean("m"), n_resamples=999, rng=9)
    drawn = np.sort(weights @ y / 50)
    assert (score.low, score.high) == pytest.approx((drawn[k - 1], drawn[-k]), abs=1e-12)
    (t,) = es.compare({"x": x, "y": y}, metrics=es.Mean("m"), method="t")
    truth = ttest_rel(y, x)
    assert t.pvalue == pytest.approx(truth.pvalue, rel=1e-9)
    assert (t.low, t.high) == pytest.approx(tuple(truth.confidence_interval()), rel=1e-9)


@pytest.mark.parametrize("kind", ["mean", "ratio", "marks"])
def test_what_means_nothing_changes_nothing(kind):
    """Groups of one, one constant stratum, macro over it, a suite."""
    given, alike = table(np.random.default_rng(3), 40, kind), ["all"] * 40
    plain = es.compare(given)
    for asked in (
        {"groups": range(40)},
        {"strata": alike},
        {"strata": alike, "aggregate": "macro"},
        {"groups": range(40), "strata": alike},
    ):
        for d, e in zip(es.compare(given, **asked), plain, strict=True):
            assert (d.difference, d.low, d.high) == (e.difference, e.low, e.high)
            assert (d.pvalue, d.pvalue_adjusted) == (e.pvalue, e.pvalue_adjusted)
    assert [d.pvalue for d in es.Suite({"task": given}).compare()] == [d.pvalue for d in plain]


def test_rows_in_another_order_change_only_what_is_drawn():
    """Groups, strata and segments shuffled together: errors and t are the same."""
    rng = np.random.default_rng(6)
    given, order = table(rng, 60, "ratio"), rng.permutation(60)
    labels = {"strata": np.repeat([0, 1, 2], 20), "groups": np.repeat(np.arange(15), 4)}
    turned = {name: x[order] for name, x in labels.items()}
    moved = es.SegmentStatistics(given.values[:, order], given.systems, given.metric)
    for method, close in (("t", 1e-9), ("bootstrap", 0.2)):
        one = es.compare(given, method=method, **labels)
        two = es.compare(moved, method=method, **turned)
        for d, e in zip(one, two, strict=True):
            near = close * d.standard_error
            assert d.standard_error == pytest.approx(e.standard_error, rel=1e-12)
            assert (d.low, d.high) == pytest.approx((e.low, e.high), abs=near)
            assert d.pvalue == pytest.approx(e.pvalue, abs=close / 5)


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
    # Runs whose means vary as segments explain add nothing.
    assert student.with_runs(Spread(1.0, 1.0, 99.0), [(10.0, 10.0, 5)]) == (1.0, 1.0, 99.0)


def test_ranks_are_exact_where_rounding_could_tell():
    rng = np.random.default_rng(10)
    for _ in range(50):
        spread = Spread(1.0, float(rng.uniform(1, 2)), float(rng.uniform(5, 500)))
        b = int(rng.choice([99, 999, 9999]))
        alpha = float(rng.uniform(0.001, 0.3))
        k = bootstrap.rank(alpha, b, spread)
        # At the p-value of a count itself, that count is the bound.
        p = bootstrap.widened((k + 1) / (b + 1), spread)
        assert bootstrap.rank(p, b, spread) == k + 1
        assert bootstrap.rank(np.nextafter(p, 0), b, spread) == k
        assert k == 0 or bootstrap.widened(k / (b + 1), spread) <= alpha


def test_at_the_level_is_significant():
    values = table(np.random.default_rng(3), 30, "mean").values[:2]
    pair = es.SegmentStatistics(values, list("AB"), es.Mean("m"))
    result = es.compare(pair, n_resamples=99)
    p = result[0].pvalue
    for level, significant in ((p, True), (np.nextafter(p, 0), False)):
        assert replace(result, significance_level=level).significant(result[0]) == significant


def test_there_is_no_less_than_one_degree_of_freedom():
    found = student.spread(np.array([3.0, -1, -1, -1]), np.array([76, 2, 1, 1]))
    g = student.kish([76, 2, 1, 1])
    assert g < 2
    assert (found.factor, found.degrees) == (pytest.approx((g / (g - 1)) ** 0.5), 1)


def test_an_interval_of_a_score_lies_where_scores_do():
    outputs = ["the cat sat on the mat today", "a dog is here now ok"]
    references = ["the cat sat on the mat today .", "a dog is here now fine ."]
    found = es.estimate({"A": outputs}, references, ["bleu", "ter", "rouge1"])
    assert found["BLEU", "A"].low == 0
    assert found["BLEU", "A"].high == 100
    assert found["TER", "A"].low == 0
    assert found["TER", "A"].high > found["TER", "A"].score
    assert found["ROUGE-1", "A"].high == 1


ROOT = Path(__file__).resolve().parents[2]
NUMERIC = (ast.Constant, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop)
#: Numbers of formulas; the rest are constants, and so is whatever has a name.
OF_FORMULAS = {0, 0.5, 1, 1.5, 2, 3, 4, 6, 8, 27}


def number_of(node):
    """Return the value of an expression of numbers alone, or nothing."""
    if not isinstance(node, ast.expr) or not all(isinstance(x, NUMERIC) for x in ast.walk(node)):
        return None
    value = eval(compile(ast.Expression(node), "", "eval"))
    return value if type(value) in (int, float) else None


def constants_of(node):
    """Yield the numbers in the syntax tree of a module."""
    if (value := number_of(node)) is not None:
        yield from [] if abs(value) in OF_FORMULAS else [value]
        return
    for child in ast.iter_child_nodes(node):
        yield from constants_of(child)
    if isinstance(node, ast.Module):
        values = [x.value for x in node.body if isinstance(x, (ast.Assign, ast.AnnAssign))]
        named = (number_of(x) for value in values for x in getattr(value, "elts", [value]))
        yield from (x for x in named if x is not None)


def test_the_page_of_the_method_has_every_constant():
    page = (ROOT / "docs" / "method.md").read_text(encoding="utf-8")
    _, rows = page.partition("## Constants")[2].partition("## ")[0].split("|:--|:--|:--|\n")
    listed = {}
    for _, file, numbers, _, _ in (row.split("|") for row in rows.strip().splitlines()):
        values = [number_of(ast.parse(x, mode="eval").body) for x in numbers.split("`")[1::2]]
        listed.setdefault(file.strip(" `"), set()).update(values)
    found = {}
    for folder in ("inference", "analysis"):
        for path in sorted((ROOT / "evalstats" / folder).glob("*.py")):
            name = f"{folder}/{path.name}"
            values = set(constants_of(ast.parse(path.read_text(encoding="utf-8"))))
            if values and name != "inference/distributions.py":
                found[name] = values
    assert listed == found
