"""Approximate randomisation against all swaps, one by one; and what every test promises."""

from itertools import product

import numpy as np
import pytest

import evalstats as es
from evalstats.analysis.compare import compared
from evalstats.analysis.comparison import Evaluation
from evalstats.analysis.options import Options
from evalstats.analysis.tasks import as_pairs, as_task
from evalstats.designs.swaps import randomization_pvalue, swapped_pvalues

X = es.Mean("x")
TESTS = ["ar", "bootstrap", "t"]
ALTERNATIVES = ["two-sided", "greater", "less"]


def extreme(values, alternative):
    """Return the share of null differences at least as extreme as the first of them."""
    fold = {"two-sided": np.abs, "greater": np.positive, "less": np.negative}[alternative]
    return np.mean(fold(values) >= fold(values[0]) - 1e-9)


def compare(hypotheses, references=None, metrics=None, *, test="ar", baseline=None, **asked):
    """Compare systems by approximate randomisation, or as `es.compare` does by another method."""
    if test != "ar":
        return es.compare(hypotheses, references, metrics, method=test, baseline=baseline, **asked)
    design = {name: asked.pop(name) for name in ("groups", "strata", "aggregate") if name in asked}
    options = Options(swapped=swapped_pvalues, **asked)
    task = as_task(hypotheses, references, metrics, executor=options.executor, **design)
    pairs = as_pairs(task.systems, baseline)
    return compared(Evaluation([task], pairs, options), baseline)


@pytest.mark.parametrize("aggregate", ["micro", "macro"])
@pytest.mark.parametrize("groups", [None, np.array([0, 1, 0, 1, 2, 3, 4, 5])])
def test_swaps_in_groups_and_strata_are_all_of_them(aggregate, groups):
    """Words and edits of eight outputs: whole groups are swapped, and strata scored apart."""
    rng, outputs = np.random.default_rng(4), np.arange(8)
    words = rng.integers(4, 9, size=(2, 8))
    rows = np.stack([rng.binomial(words, 0.4) + 1, words], axis=-1)
    table, strata = es.SegmentStatistics(rows, ["A", "B"], es.Ratio("edits")), outputs % 2
    moved = outputs if groups is None else groups

    def score(chosen):
        parts = [chosen] if aggregate == "micro" else [chosen[strata == t] for t in (0, 1)]
        return np.mean([p[:, 0].sum() / p[:, 1].sum() for p in parts])

    found = []
    for swap in product([0, 1], repeat=int(moved.max()) + 1):
        first = np.array(swap)[moved]
        found.append(score(rows[1 - first, outputs]) - score(rows[first, outputs]))
    asked = {"strata": strata, "groups": groups, "aggregate": aggregate}
    for alternative in ALTERNATIVES:
        (d,) = compare(table, alternative=alternative, **asked)
        assert d.exact
        assert d.difference == pytest.approx(found[0])
        assert d.pvalue == extreme(np.array(found), alternative)
    # One resample fewer than there are swaps, and they are drawn: 5 Monte-Carlo standard errors.
    fewer = 2**d.n_differing - 1
    (drawn,) = compare(table, n_resamples=fewer, **asked)
    assert not drawn.exact
    close = 5 * drawn.pvalue_error + 1 / fewer
    assert drawn.pvalue == pytest.approx(extreme(np.array(found), "two-sided"), abs=close)


@pytest.mark.parametrize("test", TESTS)
def test_identical_systems_have_p_exactly_one(small, test):
    texts = small.systems["baseline"]
    for alternative in ALTERNATIVES:
        result = compare(
            {"A": texts, "B": list(texts)}, small.references, ["bleu", "chrf"],
            test=test, alternative=alternative, n_resamples=99,
        )  # fmt: skip
        for d in result:
            assert d.pvalue == d.pvalue_adjusted == 1.0
            assert (d.difference, d.low, d.high, d.winner) == (0, 0, 0, None)


@pytest.mark.parametrize("test", TESTS)
def test_what_every_test_says(test):
    a, b = np.array([1.0, 0.5] * 10), np.array([0.5, 1.0] * 10)
    (d,) = compare({"A": a, "B": b}, None, X, test=test)
    # Equal scores, but not identical ones.
    assert d.pvalue == 1.0
    large = 1.7e9 + np.random.default_rng(0).normal(size=100)
    (d,) = compare({"A": large, "B": large + 1}, None, es.Mean("time"), test=test)
    assert d.pvalue < 0.001
    better, p = {"A": a[:12], "B": b[:12] + 0.75}, {}
    for alternative in ALTERNATIVES:
        (d,) = compare(better, None, X, test=test, alternative=alternative)
        p[alternative] = d.pvalue
    assert p["greater"] < p["two-sided"] < 0.001
    assert p["less"] > 0.999


def test_equal_segments_stay_equal_whatever_the_others_are():
    """200 scores, five of them different: 2^5 swaps are enumerated, though the largest differ."""
    a = np.random.default_rng(0).random(200)
    b = a + 3.0 * (np.arange(200) < 5)
    for test, exact in (("ar", True), ("bootstrap", False), ("t", False)):
        (d,) = compare({"A": a, "B": b}, None, X, test=test)
        assert (d.n_differing, d.exact) == (5, exact)
        # All five for B: no test goes below what five swaps can say.
        assert d.pvalue >= 2 / 2**5
        assert d.pvalue == 2 / 2**5 or not exact


@pytest.mark.parametrize("alternative, count", [("two-sided", 3), ("greater", 2), ("less", 3)])
def test_ties_count_as_evidence_against_a_difference(alternative, count):
    """And so does the observed arrangement (Phipson and Smyth, 2010)."""
    null = np.array([0.5, -0.5, 0.1, 0.7])
    assert randomization_pvalue(0.5, null, alternative) == (count + 1) / 5
    assert randomization_pvalue(0.5, null, alternative, exact=True) == count / 4
    # One more that is equal but for rounding, with a tolerance.
    nearly = np.append(null, 0.5 - 1e-15 if alternative != "less" else 0.5 + 1e-15)
    assert randomization_pvalue(0.5, nearly, alternative, 1e-12) == (count + 2) / 6


def test_as_many_swaps_as_resamples_are_enumerated():
    base = np.arange(5.0)
    new = base + [1, 2, 4, 0, 0]
    for n, exact in ((8, True), (7, False)):
        (d,) = compare({"A": base, "B": new}, metrics=X, test="ar", n_resamples=n)
        assert (d.pvalue_error == 0) == exact
        assert not exact or d.pvalue == 2 / 8
