"""Several comparisons: SciPy, the definitions one resample at a time, and what they promise."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats

import evalstats as es
from evalstats.inference import families
from evalstats.resampling.weights import Stratified, batches
from evalstats.results.notes import Facts, notes_of
from tests.helpers import graded

MEAN = es.Mean("judge")


def scores(n_systems=5, n=60, gap=0.12):
    return graded(n_systems, n, gap)


def compare(values, **options):
    return es.compare(values, metrics=MEAN, **{"n_resamples": 999, **options})


def adjusted(result):
    return np.array([d.pvalue_adjusted for d in result])


def alone(result):
    return np.array([d.pvalue for d in result])


@settings(max_examples=30)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
@example([0.173, 0.1, 0.05])
@example([0.175, 0.175, 0.175])
def test_benjamini_hochberg_is_scipys(p):
    expected = stats.false_discovery_control(p)
    found = families.benjamini_hochberg(p)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert np.all(found >= p)


@settings(max_examples=50)
@given(st.lists(st.tuples(st.integers(0, 9), st.floats(0, 1)), min_size=1, max_size=20))
def test_holm_over_parts_by_its_definition(rows):
    """At any level: reject p <= level / (parts that are left), until nothing more is rejected."""
    parts, p = (np.array(x) for x in zip(*rows, strict=True))
    each = np.arange(len(p))
    for of, found in ((parts, families.holm_over(parts, p)), (each, families.holm(p))):
        for level in (0.01, 0.05, 0.2, *found[found < 1]):
            left = np.ones(len(p), dtype=bool)
            while np.any(left & (p * len(set(of[left].tolist())) <= level)):
                # One at a time, the smallest first.
                left[np.flatnonzero(left)[np.argmin(p[left])]] = False
            np.testing.assert_array_equal(found <= level, ~left)


def naive(null, observed):
    """Romano and Wolf (2016, algorithm 4.2), one pair and one resample at a time: counts."""
    below = [[other for other, x in enumerate(observed) if x <= t] for t in observed]
    reached = zip(observed, below, strict=True)
    return [sum(max(row[j] for j in some) >= t for row in null) for t, some in reached]


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.integers(1, 12))
def test_stepping_down_by_its_definition(seed, n_pairs):
    rng = np.random.default_rng(seed)
    observed, null = rng.normal(size=n_pairs), rng.normal(size=(19, n_pairs))
    family = [range(n_pairs)]
    (counts,), (largest,) = families.step_down(lambda some: null.T[some], observed, 19, family)
    assert counts.tolist() == naive(null, observed)
    np.testing.assert_array_equal(largest, null.max(axis=1))
    p = families.monotone((counts + 1.0) / 20, observed)
    assert p.tolist() == [max(counts[observed >= t] + 1) / 20 for t in observed]


GROUPS, STRATA = np.repeat(np.arange(17), [9, 6, *[3] * 15]), np.repeat([0, 1], 30)


def resampled(values, codes, groups, macro, n_resamples=199):
    """Return |T*| of all pairs and resamples, `(P, B)`, |D|/se, D and se of each."""
    groups = np.arange(60) if groups is None else groups
    names = np.unique(groups)
    sums, sizes = (
        np.array([[x[groups == g].sum() for g in names] for x in some])
        for some in (values, np.ones((1, 60)))
    )
    strata = np.zeros(len(names), dtype=int) if codes is None else codes
    rows = np.concatenate([r for _, r in batches(Stratified(len(names), 8, strata), n_resamples)])
    parts = [np.flatnonzero(strata == t) for t in np.unique(strata)]
    weight = [1 / len(parts) if macro else sizes[0, p].sum() / 60 for p in parts]
    kish = np.array([sizes[0, p].sum() ** 2 / (sizes[0, p] ** 2).sum() for p in parts])

    def mean(rows):
        each = [rows[:, p] @ sums[:, p].T / (rows[:, p] @ sizes[:, p].T) for p in parts]
        return sum(w * x for w, x in zip(weight, each, strict=True))

    found = []
    means, (observed,) = mean(rows), mean(np.ones((1, len(names))))
    for i, j in combinations(range(len(values)), 2):
        u, moved, d = sums[j] - sums[i], means[:, j] - means[:, i], observed[j] - observed[i]
        w, own = 0.0, 0.0
        for p, a, g in zip(parts, weight, kish, strict=True):
            x = a * (u[p] - u[p].sum() / sizes[0, p].sum() * sizes[0, p]) / sizes[0, p].sum()
            w = w + g / (g - 1) * np.sum(x**2)
            own = own + g / (g - 1) * (rows[:, p] @ x**2 - (rows[:, p] @ x) ** 2 / len(p))
        se = np.sqrt(w)
        t = np.abs(moved - d) / np.maximum(np.sqrt(np.maximum(own, 0)), se / 2)
        found.append((t, abs(d) / se, d, se))
    return [np.array(x) for x in zip(*found, strict=True)]


DESIGNS = {
    "segments": {},
    "groups": {"groups": GROUPS},
    "strata": {"strata": STRATA},
    "macro": {"strata": STRATA, "aggregate": "macro"},
}


@pytest.mark.parametrize("design", DESIGNS.values(), ids=DESIGNS)
def test_max_t_is_a_double_loop_over_resamples(design):
    values = scores(4)
    result = compare(values, n_resamples=199, rng=8, **design)
    macro = "aggregate" in design
    rows, labels = np.array(list(values.values())), (design.get("strata"), design.get("groups"))
    null, t, _, se = resampled(rows, *labels, macro)
    assert [d.standard_error for d in result] == pytest.approx(se)
    h = (np.array(naive(null.T, t)) + 1) / 200
    h = np.array([max(h[t >= one]) for one in t])
    # Where no resample in 200 is as large as the observed value, Holm says how small p is.
    p = np.where(h == 1 / 200, np.minimum(h, families.holm(alone(result))), h)
    p = np.maximum(p, alone(result))
    # Sums of influence values are of whole numbers of steps: a tie may turn.
    np.testing.assert_allclose(adjusted(result), p, atol=1.1 / 200)
    assert np.mean(np.isclose(adjusted(result), p)) > 0.8


def test_p_values_where_max_t_hands_over_to_holm_are_explained():
    result = compare(scores(4), n_resamples=1999)
    family = result.adjusted
    rows = [replace(d, pvalue_adjusted=0.005) for d in family.rows[:2]]
    said = []
    for some in (rows, [rows[0], family.rows[1]]):
        differences = (*some, *family.rows[2:])
        limits = result.source.limits
        said.append(" ".join(notes_of(Facts(limits, result.estimates, differences, family))))
    least = (
        "For 2 pairs, p (adjusted) is 0.0050, the smallest value that resamples can give: "
        "fewer than one in 200"
    )
    assert least in said[0]
    assert "fewer than one in 200" not in said[1]


@pytest.mark.parametrize("alternative", ["greater", "less", "two-sided"])
def test_no_adjusted_p_value_is_below_its_own_or_that_of_a_larger_difference(alternative):
    values = {s: -x if alternative == "less" else x for s, x in scores().items()}
    result = compare(values, alternative=alternative)
    assert np.all(adjusted(result) >= alone(result))
    t = np.array([d.difference / d.standard_error for d in result])
    order = np.argsort({"two-sided": -np.abs(t), "greater": -t, "less": t}[alternative])
    assert np.all(np.diff(adjusted(result)[order]) >= 0)
    assert adjusted(result)[order[0]] < 0.05 < adjusted(result)[order[-1]]
    # More is known than Holm's method asks for.
    assert np.sum(adjusted(result)) < np.sum(families.holm(alone(result)))


def test_pairs_that_say_too_little_have_holms():
    values = scores(4, gap=0.4)
    values["copy"], values["close"] = values["s0"], values["s0"].copy()
    values["close"][:4] += 0.01
    result = compare(values, n_resamples=499)
    holm = dict(zip(result, families.holm(alone(result)), strict=True))
    few = [d for d in result if d.n_differing < 6]
    assert sorted(d.n_differing for d in few) == [0, 4, 4]
    assert [d.pvalue_adjusted for d in few] == [holm[d] for d in few]
    # And they do not take the power of the others.
    without = compare({s: values[s] for s in ("s0", "s1", "s2", "s3")})
    surely = {(d.baseline, d.system) for d in without if d.pvalue_adjusted < 0.02}
    assert len(surely) > 2
    assert surely <= {(d.baseline, d.system) for d in result if result.significant(d)}
    two = compare({s: values[s] for s in ("s0", "s1")}, n_resamples=499)
    assert adjusted(two) == alone(two)


def test_where_nothing_is_drawn_it_is_holm():
    runs = {f"s{i}": np.random.default_rng(i).normal(size=(3, 40)) + i / 4 for i in range(5)}
    one = {name: x[0] for name, x in runs.items()}
    for result in (compare(runs), compare(one, method="t")):
        assert result.adjustment == "holm"
        assert "|adj:holm|" in result.signatures[0]
        np.testing.assert_allclose(adjusted(result), families.holm(alone(result)))


def test_neither_threads_nor_other_metrics_change_a_bit():
    tables = [es.extract(scores(4, 300), metric=m) for m in (MEAN, es.Mean("other"))]
    one, two = (es.compare(tables[:1], n_resamples=999, executor=n) for n in (1, 2))
    assert one == two
    both = es.compare(tables, n_resamples=999)
    assert adjusted(both)[:6].tolist() == adjusted(one).tolist()
    for adjustment in ("holm", "benjamini-hochberg", "none"):
        other = es.compare(tables[:1], n_resamples=999, adjustment=adjustment)
        expected = families.ADJUSTMENTS[adjustment](alone(one))
        assert adjusted(other).tolist() == expected.tolist()
        assert f"|adj:{adjustment}|" in other.signatures[0]


class WithoutGradient(es.Mean):
    def gradient(self, totals):
        return np.full(np.shape(totals), np.nan)


def test_without_a_gradient_replicates_stand_in():
    plain, without = (es.compare(scores(4), metrics=m("judge")) for m in (es.Mean, WithoutGradient))
    for a, b in zip(plain, without, strict=True):
        assert b.standard_error == pytest.approx(a.standard_error, rel=0.05)
        assert (b.low, b.high, b.pvalue) == (a.low, a.high, a.pvalue)
        assert b.pvalue <= b.pvalue_adjusted == pytest.approx(a.pvalue_adjusted, abs=0.03)


def test_without_a_gradient_few_units_widen_what_resamples_say():
    """As they widen an interval: errors that are the same in all resamples are not known."""
    rows = np.random.default_rng(1).normal(size=(3, 8)) + np.array([[0.0], [0.8], [0.3]])
    first, *_ = es.compare(dict(zip("ABC", rows, strict=True)), metrics=WithoutGradient("judge"))
    assert first.pvalue_adjusted > 1.5 * first.pvalue


def test_near_copies_take_nothing_from_the_others():
    """Defect: seven segments of a near-copy had a larger t but fewer degrees, and p = .091 for all."""
    rng = np.random.default_rng(12)
    base, jitter, noise = rng.normal(size=300), rng.normal(size=7), rng.normal(size=300)
    few = base.copy()
    few[:7] += 0.001 * (1 + 0.05 * jitter)
    noise = (noise - noise.mean()) / noise.std(ddof=1)
    systems = {"a": base, "few": few, "c": base + noise + 2.614 / np.sqrt(300)}
    result = compare(systems)
    t = [d.difference / d.standard_error for d in result]
    assert t[0] > max(t[1:]) - 0.3
    assert all(map(result.significant, result))


def test_neither_resamples_nor_tasks_set_a_floor_under_a_family():
    """Defect: three systems on 57 tasks of 20 items, seven standard deviations: 0 rows of 114."""
    rng = np.random.default_rng(4)
    tasks = {}
    for t in range(57):
        base = rng.normal(size=20)
        systems = {s: base + 7 * i + rng.normal(size=20) for i, s in enumerate("ABC")}
        tasks[f"t{t}"] = es.extract(systems, metric=MEAN)
    result = es.Suite(tasks).compare(n_resamples=199)
    assert all(result.significant(d) for d in result.rows)
    # No resample is as large, and Holm's p-value is that of the 2^19 swaps of 20 items.
    one = es.compare(tasks["t0"], n_resamples=199)
    assert adjusted(one) == pytest.approx(families.holm(alone(one)))
    assert max(adjusted(one)) == pytest.approx(3 * 0.5**19)


@pytest.mark.parametrize("alpha", [0.05, 0.01, 0.004])
def test_below_one_resample_in_200_holms_method_decides(alpha):
    """At each level one of the two tests decides."""
    values = scores(4, gap=0.35)
    asked = {"metrics": MEAN, "n_resamples": 1999, "rng": 8}
    result = es.compare(values, confidence_level=1 - alpha, **asked)
    null, t, _, _ = resampled(np.array(list(values.values())), None, None, False, 1999)
    h = (np.array(naive(null.T, t)) + 1) / 2000
    h = np.array([max(h[t >= one]) for one in t])
    holm = families.holm(alone(result))
    expected = h <= alpha if alpha >= 1 / 200 else (h <= 1 / 200) & (holm <= alpha)
    assert [one.pvalue_adjusted <= alpha for one in result] == expected.tolist()


def test_ties_count_and_have_one_p_value():
    null = np.array([[1.0, 2.0, 2 - 1e-12, 3.0], [0.0, 0.0, 0.0, 4.0]])
    observed = np.array([2.0, 4.0])
    (counts,), (largest,) = families.step_down(lambda some: null[some], observed, 4, [[0, 1]])
    assert (counts.tolist(), largest.tolist()) == ([3, 1], [1, 2, 2 - 1e-12, 4])
    for p, first, second in (([0.01, 0.04, 0.02], 2.0, 2.0), ([0.04, 0.01, 0.02], 2.0, 2 + 1e-12)):
        found = families.monotone(np.array(p), np.array([first, second, 3.0]))
        assert found.tolist() == [0.04, 0.04, 0.02]
