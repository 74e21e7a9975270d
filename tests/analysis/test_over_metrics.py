"""One family of all metrics: "better under BLEU or chrF", by the same step-down max-T."""

import json

import numpy as np
import pytest
from scipy import stats

import evalstats as es
from tests.analysis.test_suites import holm_by_hand

N, B = 60, 499
OVER = {"adjust_over": "metrics", "n_resamples": B}


def table(values, name, factor=1.0):
    return es.extract({s: factor * x for s, x in values.items()}, metric=es.Mean(name))


def marks(seed, gap=0.25, n=N):
    rng = np.random.default_rng(seed)
    return {f"s{i}": rng.normal(gap * i, size=n) for i in range(3)}


def one_task(*tables, **options):
    return es.Suite({"x": list(tables)}).compare(**{**OVER, **options})


def naive(tables):
    """Return adjusted p-values of all pairs and metrics, by loops over the whole family."""
    weights = es.bootstrap_weights(N, B, 12345).astype(float)
    sizes, drawn = [], []
    for t in tables:
        for a, b in ((0, 1), (0, 2), (1, 2)):
            d = t.values[b, :, 0] - t.values[a, :, 0]
            u = (d - d.mean()) / N * np.sqrt(N / (N - 1))
            error = np.sqrt(np.sum(u**2))
            own = np.sqrt(weights @ u**2 - (weights @ u) ** 2 / N)
            sizes.append(abs(d.mean()) / error)
            drawn.append(np.abs(weights @ d / N - d.mean()) / np.maximum(own, error / 2))
    order = np.argsort(sizes)[::-1]
    shares, least = np.empty(len(sizes)), 0.0
    for i, j in enumerate(order):
        largest = np.max([drawn[k] for k in order[i:]], axis=0)
        least = max(least, (np.sum(largest >= sizes[j]) + 1) / (B + 1))
        shares[j] = least
    return shares


def test_max_t_is_over_all_pairs_and_metrics():
    tables = [table(marks(1), "first"), table(marks(2, 0.15), "second")]
    found = one_task(*tables)
    shares = naive(tables)
    assert np.sum((shares > 2 / B) & (shares < 1)) >= 3
    for d, share in zip(found, shares, strict=True):
        if share > 1.5 / (B + 1):
            # A sum of squares in single precision may turn one of the counts.
            expected = max(share, d.pvalue)
            assert d.pvalue_adjusted == pytest.approx(expected, abs=1.01 / (B + 1))
        else:
            assert d.pvalue_adjusted <= share
    alone = one_task(*tables, adjust_over="pairs")
    for d, own in zip(found, alone, strict=True):
        assert d.pvalue == own.pvalue
        assert d.pvalue_adjusted >= own.pvalue_adjusted
    assert sum(d.pvalue_adjusted for d in found) > sum(d.pvalue_adjusted for d in alone) + 0.05
    assert {found.adjusted.n_compared(d) for d in found} == {6}
    assert {alone.adjusted.n_compared(d) for d in alone} == {3}
    assert {found.adjusted.factor(d) for d in found} == {1}


def test_a_metric_twice_costs_nothing_but_in_holms_method():
    """The largest of equal values is each of them: max-T knows it, and Holm's method cannot."""
    once, twice = table(marks(4), "first"), table(marks(4), "again", 8.0)
    alone = one_task(once)
    both = one_task(once, twice)
    for d, expected in zip(both, [*alone, *alone], strict=True):
        # Where no resample is as large Holm's method may say less, and that is doubled.
        is_beyond = expected.pvalue_adjusted <= 1 / (B + 1)
        factor = 2 if is_beyond else 1
        assert d.pvalue_adjusted == pytest.approx(factor * expected.pvalue_adjusted, rel=1e-9)
    assert sum(d.pvalue_adjusted > 1 / (B + 1) for d in alone) > 0
    wide = one_task(once, twice, method="simultaneous")
    single = one_task(once, method="simultaneous")
    assert [d.low for d in wide][:3] == pytest.approx([d.low for d in single], rel=1e-12)
    holm = one_task(once, twice, adjustment="holm")
    by_hand = holm_by_hand([d.pvalue for d in alone] * 2)
    assert [d.pvalue_adjusted for d in holm] == pytest.approx(by_hand)


def suite():
    tasks = {t: [table(marks(i), "a"), table(marks(9 + i), "b")] for i, t in enumerate("xyz")}
    return tasks, es.Suite(tasks)


@pytest.mark.parametrize("adjustment", ["max-t", "holm", "benjamini-hochberg", "none"])
def test_over_tasks_and_for_claims_too(adjustment):
    tasks, together = suite()
    asked = {**OVER, "adjustment": adjustment, "margin": 0.6}
    result = together.compare(**asked)
    assert {result.adjusted.n_compared(d) for d in result.rows} == {18}
    assert {result.adjusted.n_compared(d) for d in result.totals} == {6}
    how = {
        "benjamini-hochberg": stats.false_discovery_control,
        "none": list,
    }.get(adjustment, holm_by_hand)
    for family in (result.rows, result.totals):
        tests = [d.margin_test for d in family]
        expected = how([t.pvalue_equivalence for t in tests])
        assert [t.pvalue_equivalence_adjusted for t in tests] == pytest.approx(list(expected))
        if adjustment != "max-t":
            expected = how([d.pvalue for d in family])
            assert [d.pvalue_adjusted for d in family] == pytest.approx(list(expected))
    if adjustment == "max-t":
        own = [d for t in tasks.values() for d in one_task(*t, margin=0.6)]
        # Holm's method over tasks: the p-value of a task at least, three times it at most.
        for d, alone in zip(result.rows, own, strict=True):
            assert alone.pvalue_adjusted <= d.pvalue_adjusted <= 3 * alone.pvalue_adjusted + 1e-12
        least = min(d.pvalue_adjusted for d in own)
        assert min(d.pvalue_adjusted for d in result.rows) == pytest.approx(3 * least)
        # The totals of two metrics are two parts.
        assert {result.adjusted.factor(d) for d in result.totals} == {2}
        pairs = together.compare(**{**asked, "adjust_over": "pairs"})
        least = min(d.pvalue_adjusted for d in pairs.totals)
        assert min(d.pvalue_adjusted for d in result.totals) == pytest.approx(2 * least)


def test_it_is_said_and_signed_and_read_again():
    tables = [table(marks(1), "first"), table(marks(2), "second")]
    found = one_task(*tables)
    assert "p (max-t) is adjusted for all pairs under all metrics." in found.notes
    assert all("|adj:max-t|" in s and "|over:metrics|" in s for s in found.signatures)
    assert "adjusted for all comparisons by step-down max-T" in found.describe()
    assert es.Comparison.from_json(found.to_json()) == found
    plain = one_task(*tables, adjust_over="pairs")
    assert not any("|over:" in s for s in plain.signatures)
    written = json.loads(plain.to_json())
    assert written.pop("adjust_over") == "pairs"
    assert es.Comparison.from_json(json.dumps(written)) == plain
    several = suite()[1].compare(**OVER)
    assert any("tasks and pairs under all metrics" in n for n in several.notes)
    with pytest.raises(es.InputError, match="adjust_over must be one of pairs, metrics; got 'all'"):
        one_task(*tables, adjust_over="all")


def test_one_pair_under_several_metrics_is_a_family():
    values = {name: x for name, x in marks(1).items() if name != "s2"}
    found = one_task(table(values, "first"), table({s: x**3 for s, x in values.items()}, "cubes"))
    assert (found.adjustment, len(found)) == ("max-t", 2)
    assert any(d.pvalue_adjusted > d.pvalue for d in found)
    by_t = one_task(table(values, "first"), table(values, "b"), test="t", method="t")
    assert by_t.adjustment == "holm"
    assert [d.pvalue_adjusted for d in by_t] == pytest.approx([2 * d.pvalue for d in by_t])


def test_compare_takes_it_too():
    tables = [table(marks(1), "first"), table(marks(2, 0.15), "second")]
    result = es.compare(tables, **OVER)
    assert [d.pvalue_adjusted for d in result] == [d.pvalue_adjusted for d in one_task(*tables)]
    assert result.adjusted.n_compared(result[0]) == 6
