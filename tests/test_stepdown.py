"""Step-down max-T against its definition, arch's StepM, and what it is for."""

import numpy as np
import pytest
from evalstats.inference.stepdown import flip_units, step_down, t_of_units
from hypothesis import given
from hypothesis import strategies as st

import evalstats as es
from evalstats.analysis import pairs
from evalstats.resampling.weights import Halves, batches

#: What arch 8.0.0's StepM calls superior on `replicates()`, by size (`test_live_stepm_of_arch`).
STEPM = {
    0.01: [6, 8, 9],
    0.05: [4, 5, 6, 8, 9],
    0.1: [1, 2, 3, 4, 5, 6, 7, 8, 9],
    0.2: [1, 2, 3, 4, 5, 6, 7, 8, 9],
}


def replicates():
    """Return gains of ten models over a benchmark in standard errors, and their null values."""
    rng = np.random.default_rng(16)
    n, k, b = 80, 10, 999
    gains = rng.normal(size=(n, 1)) + rng.normal(size=(n, k)) + np.linspace(0, 0.55, k)
    t = gains / (np.std(gains, axis=0, ddof=1) * np.sqrt(n))
    signs = rng.choice([-1.0, 1.0], size=(b, n))
    return t, signs @ (t - t.mean(axis=0))


def naive(null, observed):
    """Romano and Wolf (2016, algorithm 4.2), one comparison and one resample at a time."""
    order = sorted(range(len(observed)), key=lambda j: -observed[j])
    adjusted, before = [0.0] * len(observed), 0.0
    for place, j in enumerate(order):
        count = 1
        for row in null:
            count += max(row[other] for other in order[place:]) >= observed[j]
        before = max(before, count / (len(null) + 1))
        adjusted[j] = before
    return adjusted


@given(st.integers(0, 10**6), st.sampled_from(["two-sided", "greater", "less"]))
def test_by_its_definition(seed, alternative):
    rng = np.random.default_rng(seed)
    n_systems = int(rng.integers(2, 6))
    deviates = rng.normal(size=(19, n_systems))
    chosen = np.array([(a, b) for a in range(n_systems) for b in range(a + 1, n_systems)])
    errors = rng.uniform(0.5, 2, len(chosen))
    observed = rng.normal(size=len(chosen)) * 1.5
    null = (deviates[:, chosen[:, 1]] - deviates[:, chosen[:, 0]]) / errors
    fold = {"two-sided": np.abs, "greater": np.positive, "less": np.negative}[alternative]
    found, largest = step_down(deviates, chosen, errors, observed, alternative)
    np.testing.assert_allclose(found, naive(fold(null), fold(observed)), rtol=1e-12)
    np.testing.assert_allclose(largest, fold(null).max(axis=1), rtol=1e-12)


def against_a_benchmark():
    gains, null = replicates()
    columns = np.concatenate([np.zeros((len(null), 1)), null], axis=1)
    chosen = np.array([(0, j + 1) for j in range(gains.shape[1])])
    return step_down(columns, chosen, np.ones(len(chosen)), gains.sum(axis=0), "greater")[0]


@pytest.mark.parametrize("size", STEPM)
def test_rejects_what_archs_stepm_does_on_the_same_replicates(size):
    # Its quantile lies between two replicates, ours at one: p <= size + 1/(B + 1).
    assert np.flatnonzero(against_a_benchmark() <= size + 1e-3).tolist() == STEPM[size]


def test_live_stepm_of_arch():
    bootstrap = pytest.importorskip("arch.bootstrap")
    gains, null = replicates()
    n = len(gains)
    for size, expected in STEPM.items():
        step = bootstrap.StepM(
            np.zeros(n), -gains, size=size, block_size=1, reps=len(null), bootstrap="circular"
        )
        step.spa._simulated_vals = np.repeat(null.T[:, :, None] / n, 3, axis=2)
        step.compute()
        assert [int(i) for i in step.superior_models] == expected


def test_units_of_flips_are_a_function_of_t():
    """|D|/√Σd² of values with a mean is what `flip_units` makes of their t."""
    values = np.random.default_rng(2).normal(0.3, 1, 40)
    t = np.mean(values) / (np.std(values, ddof=1) / np.sqrt(40))
    units = flip_units(np.array(t), 39)
    assert float(units) == pytest.approx(np.sum(values) / np.sqrt(np.sum(values**2)), rel=1e-12)
    assert float(t_of_units(units, 39)) == pytest.approx(t, rel=1e-9)
    assert flip_units(np.array([np.inf, 0.0]), 39).tolist() == [pytest.approx(np.sqrt(40)), 0.0]
    assert float(t_of_units(np.array(np.sqrt(40) + 1e-9), 39)) == np.inf


def scores(n_systems=5, n=60, seed=3, gap=0.12):
    rng = np.random.default_rng(seed)
    base = rng.normal(size=n)
    return {f"s{i}": base + rng.normal(size=n) + gap * i for i in range(n_systems)}


MEAN = es.Mean("judge")


def nulls(values, n_resamples, seed, groups=None):
    """Return every |t| of flipped and of resampled centred differences, `(B, P)`, and observed."""
    systems = np.stack(list(values.values()))
    n = systems.shape[1]
    differences = [b - a for i, a in enumerate(systems) for b in systems[i + 1 :]]
    if groups is not None:
        sums = [[d[groups == g].sum() for g in np.unique(groups)] for d in differences]
        differences, n = [np.array(d) for d in sums], len(np.unique(groups))
    rows = [rows for _, rows in batches(Halves(n, seed), n_resamples)]
    signs = 1.0 - 2.0 * np.concatenate(rows)
    draws = es.bootstrap_weights(n, n_resamples, seed)
    flips, resampled = np.empty((2, n_resamples, len(differences)))
    observed = []
    for j, d in enumerate(differences):
        error = np.std(d, ddof=1) / np.sqrt(n)
        observed.append(abs(d.mean()) / error)
        for b in range(n_resamples):
            moved = signs[b] * (d - d.mean())
            flips[b, j] = abs(moved.mean()) / (np.std(moved, ddof=1) / np.sqrt(n))
            moved = np.repeat(d - d.mean(), draws[b])
            own = np.std(moved, ddof=1) / np.sqrt(n)
            resampled[b, j] = abs(moved.mean()) / max(own, error / 2)
    return flips, resampled, observed


@pytest.mark.parametrize("groups", [None, np.arange(60) // 4])
def test_the_default_is_a_double_loop_over_flips_and_resamples(groups):
    values = scores(4)
    result = es.compare(values, metrics=MEAN, n_resamples=199, rng=8, groups=groups)
    assert result.adjustment == "max-t"
    flips, resampled, observed = nulls(values, 199, 8, groups)
    raw = [d.pvalue for d in result]
    expected = np.max([raw, naive(flips, observed), naive(resampled, observed)], axis=0)
    # The values that are resampled are rounded to whole numbers of steps: a tie may turn.
    np.testing.assert_allclose([d.pvalue_adjusted for d in result], expected, atol=1.1 / 200)


def test_of_many_segments_flips_alone_are_asked():
    values = scores(3, 1000, gap=0.04)
    result = es.compare(values, metrics=MEAN, n_resamples=99, rng=8)
    flips, _, observed = nulls(values, 99, 8)
    expected = np.maximum([d.pvalue for d in result], naive(flips, observed))
    np.testing.assert_allclose([d.pvalue_adjusted for d in result], expected, atol=1.1 / 100)


def test_near_copies_do_not_take_the_power_of_all_others():
    """A pair that differs on three segments is without spread in one of twenty resamples."""
    values = scores(6, 200, gap=0.4)
    few = es.compare(values, metrics=MEAN, n_resamples=999)
    for i in range(3):
        close = values["s0"].copy()
        close[i : i + 3] += 0.01
        values[f"close{i}"] = close
    result = es.compare(values, metrics=MEAN, n_resamples=999)
    found = {(d.baseline, d.system) for d in result if result.significant(d)}
    assert {(d.baseline, d.system) for d in few if d.pvalue_adjusted < 0.03} <= found


@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
@pytest.mark.parametrize("test", ["studentized", "ar", "bootstrap"])
def test_every_test_is_adjusted_and_never_below_itself(test, alternative):
    result = es.compare(scores(), metrics=MEAN, test=test, n_resamples=999, alternative=alternative)
    raw = np.array([d.pvalue for d in result])
    adjusted = np.array([d.pvalue_adjusted for d in result])
    assert np.all(adjusted >= raw)
    assert np.any(adjusted > raw)
    t = np.array([d.difference / d.standard_error for d in result])
    order = np.argsort(-(np.abs(t) if alternative == "two-sided" else t))
    assert np.all(np.diff(adjusted[order]) >= 0)


def test_zeros_and_ones_keep_the_exact_test_as_the_floor():
    rng = np.random.default_rng(4)
    values = {f"s{i}": (rng.random(80) < 0.4 + 0.1 * i).astype(float) for i in range(4)}
    result = es.compare(values, metrics=es.Mean("accuracy"), n_resamples=999)
    assert {d.test for d in result} == {"mcnemar"}
    assert all(d.pvalue_adjusted >= d.pvalue for d in result)
    assert any(result.significant(d) for d in result)


def test_one_comparison_is_left_alone_and_copies_are_identical():
    values = scores(2)
    (d,) = es.compare(values, metrics=MEAN, n_resamples=499)
    assert d.pvalue_adjusted == d.pvalue
    result = es.compare(values | {"copy": values["s0"]}, metrics=MEAN, n_resamples=499)
    assert [d.pvalue_adjusted for d in result if {d.system, d.baseline} == {"s0", "copy"}] == [1.0]


def test_neither_threads_nor_other_metrics_change_a_bit():
    values = scores(4, 300)
    one, two = (
        es.compare(values, metrics=MEAN, n_resamples=2999, executor=workers) for workers in (1, 2)
    )
    assert [d.pvalue_adjusted for d in one] == [d.pvalue_adjusted for d in two]
    tables = [
        es.SegmentStatistics(np.stack([m.statistics(x) for x in values.values()]), list(values), m)
        for m in (MEAN, es.Mean("other"))
    ]
    both = es.compare(tables, n_resamples=2999)
    assert [d.pvalue_adjusted for d in both][:6] == [d.pvalue_adjusted for d in one]


def test_a_family_over_all_metrics_asks_for_more():
    values = scores(4)
    rng = np.random.default_rng(9)
    tables = [
        es.SegmentStatistics(
            np.stack([m.statistics(x + noise * rng.normal(size=60)) for x in values.values()]),
            list(values), m,
        )
        for m, noise in ((MEAN, 0), (es.Mean("other"), 2))
    ]  # fmt: skip
    for adjustment in ("max-t", "holm"):
        each, whole = (
            es.compare(tables, n_resamples=999, adjustment=adjustment, family=family)
            for family in ("metric", "all")
        )
        pairs_of = zip(each, whole, strict=True)
        assert all(b.pvalue_adjusted >= a.pvalue_adjusted for a, b in pairs_of)
        assert [d.pvalue_adjusted for d in each] != [d.pvalue_adjusted for d in whole]
        assert "|family:all|" in whole.signatures[0]


def test_flipped_influence_values_give_the_p_values_of_swapped_outputs(sample, monkeypatch):
    table = es.extract(sample.systems, sample.references, "bleu")
    swapped = es.compare(table)
    monkeypatch.setattr(pairs, "_MANY_SEGMENTS", 100)
    flips = es.compare(table)
    for a, b in zip(swapped, flips, strict=True):
        # The same signs: what differs is of order 1/N, and less than the Monte-Carlo error.
        assert abs(a.pvalue - b.pvalue) <= 2 * a.pvalue_error + 1e-4


class WithoutGradient(es.Mean):
    def gradient(self, totals):
        return np.full(np.shape(totals), np.nan)


def test_without_a_gradient_the_bootstrap_stands_in():
    values = scores(4)
    metric = WithoutGradient("judge")
    result = es.compare(values, metrics=metric, test="bootstrap", method="expanded")
    plain = es.compare(values, metrics=MEAN, test="bootstrap", method="expanded")
    assert [d.pvalue_adjusted for d in result] == pytest.approx(
        [d.pvalue_adjusted for d in plain], abs=0.03
    )
    assert all(d.pvalue_adjusted >= d.pvalue for d in result)
    assert any(d.pvalue_adjusted > d.pvalue for d in result)


def test_simultaneous_intervals_are_the_single_step_test_inverted():
    values = scores(5, 40, gap=0.25)
    options = {"metrics": MEAN, "n_resamples": 499, "rng": 8}
    result = es.compare(values, intervals="simultaneous", **options)
    *both, observed = nulls(values, 499, 8)
    largest = [np.sort(null.max(axis=1)) for null in both]
    # The 475th smallest: 25 are as large or larger, and p = 26/500 would be above 0.05.
    expected = max(null[474] for null in largest)
    for d, t in zip(result, observed, strict=True):
        # Hall's correction makes the one side or the other wider.
        sides = d.difference - d.low, d.high - d.difference
        assert min(sides) == pytest.approx(expected * d.standard_error, rel=2e-3)
        single = (max(np.count_nonzero(null >= t) for null in largest) + 1) / 500
        assert (d.low > 0 or d.high < 0) == (single < 0.05)
        # What the interval excludes the step-down test rejects.
        assert result.significant(d) or d.low <= 0 <= d.high
    plain = es.compare(values, **options)
    for wide, narrow in zip(result, plain, strict=True):
        assert wide.low < narrow.low < narrow.high < wide.high
    assert [d.pvalue_adjusted for d in result] == [d.pvalue_adjusted for d in plain]


def test_tables_say_which_intervals_they_show_and_mark_disagreement():
    values = scores(4, 40, gap=0.25)
    for intervals, head in (("individual", "[95 % interval]"), ("simultaneous", "simultaneous]")):
        result = es.compare(values, metrics=MEAN, intervals=intervals, n_resamples=499, rng=8)
        table = str(result).split("differences, ")[1]
        assert head in table.split("\n")[2]
        marked = [d for d in result if result.significant(d) != (d.low > 0 or d.high < 0)]
        assert table.count(" †\n") == len(marked)
        assert result.to_dict()["intervals"] == intervals
    assert "|intervals:simultaneous|" in result.signatures[0]


def test_simultaneous_intervals_of_other_methods_need_replicates_to_read_them_off():
    values = scores(6)
    with pytest.raises(es.InputError, match=r"of 15 comparisons need n_resamples of at least \d+"):
        es.compare(values, metrics=MEAN, intervals="simultaneous", method="basic", n_resamples=999)
    with pytest.raises(es.InputError, match=r"level 0\.95 need n_resamples of at least 19, got 18"):
        es.compare(values, metrics=MEAN, intervals="simultaneous", n_resamples=18)
    wide, narrow = (
        es.compare(values, metrics=MEAN, intervals=kind, method="basic", n_resamples=19_999)
        for kind in ("simultaneous", "individual")
    )
    assert all(a.low < b.low and a.high > b.high for a, b in zip(wide, narrow, strict=True))


def test_many_systems_get_verdicts_and_a_line_for_each_kind_of_note():
    rng = np.random.default_rng(5)
    values = {f"s{i}": rng.normal(size=50) + 0.1 * i for i in range(33)}
    values |= {f"copy{i}": values["s0"] for i in range(3)}
    result = es.compare(values, metrics=MEAN, n_resamples=999)
    assert sum(result.significant(d) for d in result) > 200
    assert len(result.notes) < 7
    assert "6 pairs have identical statistics on every segment: p = 1." in result.notes


def test_what_too_few_resamples_leave_is_not_shown_as_evidence():
    values = scores(8, 60, gap=0.5)
    options = {"metrics": MEAN, "baseline": "s0", "adjustment": "holm"}
    result = es.compare(values, n_resamples=99, **options)
    (note,) = [note for note in result.notes if "can reach" in note]
    assert "n_resamples of at least 139." in note
    rows = [line for line in str(result).split("\n") if line.startswith("s")][2:]
    # An interval cannot contradict a verdict that says nothing.
    assert all(line.split()[-3:] == ["-", "cannot", "tell"] for line in rows)
    assert not any("disagree" in note for note in result.notes)
    assert " 0.07" not in str(result)
    one = es.compare({name: values[name] for name in ("s0", "s7")}, metrics=MEAN, n_resamples=9)
    assert (
        "With 9 resamples no p-value can reach 0.05 whatever the data: use n_resamples of at "
        "least 19." in one.notes
    )
    enough = es.compare(values, n_resamples=139, **options)
    assert any(enough.significant(d) for d in enough)
    assert not any("can reach" in note for note in enough.notes)
    one_less = es.compare(values, n_resamples=138, **options)
    assert not any(one_less.significant(d) for d in one_less)


def test_of_several_runs_no_adjustment_is_advised_that_runs_do_not_have():
    rng = np.random.default_rng(3)
    runs = {f"s{i}": rng.normal(size=(3, 40)) + i for i in range(8)}
    result = es.compare(runs, metrics=MEAN, n_resamples=99)
    assert result.adjustment == "holm"
    (note,) = [note for note in result.notes if "can reach" in note]
    assert note.endswith("whatever the data: use n_resamples of at least 559.")


def test_where_t_decides_alone_no_number_of_resamples_is_asked_for():
    rng = np.random.default_rng(3)
    values = {f"s{i}": rng.normal(size=(3, 90)) + i // 2 for i in range(12)}
    labels = {"groups": [i // 3 for i in range(90)]}
    one = {name: x[0] for name, x in values.items()}
    within = {**labels, "strata": [i // 45 for i in range(90)], "adjustment": "holm"}
    for systems, options in ((values, labels), (one, within)):
        result = es.compare(systems, metrics=MEAN, n_resamples=99, **options)
        assert {d.test for d in result} == {"t"}
        assert "|test:t|" in result.signatures[0]
        assert sum(result.significant(d) for d in result) > 40
        assert not any("can reach" in note for note in result.notes)
        assert not any(result.is_open(d) for d in result)
        assert es.Comparison.from_json(result.to_json()) == result


def test_few_documents_are_no_evidence_either():
    values = scores(3, 60, gap=3)
    result = es.compare(values, metrics=MEAN, groups=np.arange(60) // 12)
    assert not any(result.significant(d) for d in result)
    assert all(d.pvalue_adjusted >= 1 / 16 for d in result)
    assert str(result).count("cannot tell") == 3
    assert any("5 groups cannot give a p-value below 0.062" in note for note in result.notes)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"adjustment": "max"}, "adjustment must be one of max-t, holm"),
        ({"family": "both"}, "family must be one of metric, all"),
        ({"intervals": "joint"}, "intervals must be one of individual, simultaneous"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(es.InputError, match=message):
        es.compare(scores(3), metrics=MEAN, n_resamples=9, **options)


def test_a_missing_score_is_refused():
    values = scores(3)
    values["s1"][7] = np.nan
    with pytest.raises(es.InputError, match=r"system 's1': scores\[7\] is nan; scores must be fin"):
        es.compare(values, metrics=MEAN)
