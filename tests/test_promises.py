"""What an audit found to be false elsewhere than where it had been measured, and now holds."""

import numpy as np
import pytest
from scipy import stats

import evalstats as es

ACCURACY = es.Mean("accuracy")


def table(*scores, metric=ACCURACY):
    rows = [metric.statistics(np.asarray(x, dtype=float)) for x in scores]
    return es.SegmentStatistics(rows, ["old", "new"][: len(rows)], metric)


def gate(new, old, metric=ACCURACY, **options):
    """Return whether the gate passes; "refused" where it says that nothing can be said."""
    try:
        es.assert_not_worse(new, old, metric=metric, n_resamples=999, **options)
    except AssertionError:
        return "failed"
    except es.InputError:
        return "refused"
    return "passed"


@pytest.mark.parametrize("n", [10, 30])
def test_a_loss_of_the_margin_seldom_passes_for_0_1_scores(n):
    """200 trials, seed 0: of them 20 pass with probability < 0.001 where 5 % do. It was 58 %."""
    rng = np.random.default_rng(0)
    results = [gate(1.0 - (rng.random(n) < 0.05), np.ones(n), margin=0.05) for _ in range(200)]
    assert results.count("passed") < 20


@pytest.mark.parametrize("n", [10, 30])
def test_intervals_of_0_1_differences_cover(n):
    """200 trials, seed 0: fewer than 180 hits have probability < 0.003 at 95 %. It was 33 %."""
    rng, hits = np.random.default_rng(0), 0
    for _ in range(200):
        u = rng.random(n)
        (d,) = es.compare(table(u > 0.05, (u < 0.05) | (u > 0.08)), n_resamples=99)
        hits += d.low <= 0.02 <= d.high
        assert d.low < d.high
    assert hits >= 180


def test_scores_and_differences_of_0_1_marks_have_their_own_methods():
    old, new = np.r_[np.ones(12), np.zeros(8)], np.r_[np.ones(18), np.zeros(2)]
    result = es.compare(table(old, new))
    (d,) = result
    assert (d.test, d.method, d.exact) == ("mcnemar", "tango", True)
    assert d.pvalue == 2 * 0.5**6
    assert {e.method for e in result.estimates} == {"wilson"}
    (mid,) = es.compare(table(old, new), test="mid-p")
    assert (mid.test, mid.pvalue, mid.pvalue_error) == ("mcnemar-mid-p", 0.5**6, 0)
    with pytest.raises(es.InputError, match="'mid-p' is for 0/1 scores, one on each segment, and"):
        es.compare(table(old, new / 2), test="mid-p")
    assert "0/1 scores" in " ".join(result.notes)
    # Perfect scores have an interval, too.
    perfect = es.estimate(table(np.ones(10)))
    assert (round(perfect.low, 3), perfect.high) == (0.722, 1.0)
    rate = es.Ratio("failures %", scale=100.0, higher_is_better=False)
    rows = [rate.statistics(np.stack([x, np.ones(20)], axis=1)) for x in (old, new)]
    (as_percent,) = es.compare(es.SegmentStatistics(rows, ["old", "new"], rate))
    assert as_percent.low == pytest.approx(100 * d.low)


def straddling(sample):
    """Return statistics of two outputs with equal BLEU, one too short and one too long."""
    texts, metric = sample.systems["clearly-better"], es.BLEU()
    references = [r[0] for r in sample.references]
    cut = [" ".join(t.split()[: max(1, round(len(t.split()) * 0.94))]) for t in texts]
    loop = [" ".join(t.split() + t.split()[-round(len(t.split()) * 0.2) :]) for t in texts]
    first, second = (metric.statistics(t, references) for t in (cut, loop))
    # Swapping some segments makes the two scores equal, to 0.02 BLEU.
    for i in np.random.default_rng(1).permutation(len(first)):
        gap = metric.score(second.sum(axis=0)) - metric.score(first.sum(axis=0))
        if abs(gap) < 0.02:
            break
        swapped = first.copy(), second.copy()
        swapped[0][i], swapped[1][i] = second[i], first[i]
        after = metric.score(swapped[1].sum(axis=0)) - metric.score(swapped[0].sum(axis=0))
        if abs(after) < abs(gap):
            first, second = swapped
    return metric, first, second


@pytest.mark.thorough
def test_equal_scores_of_unlike_systems_are_seldom_different(sample):
    """400 trials, seed 2: more than 36 rejections have probability < 0.001 at 5 %."""
    metric, first, second = straddling(sample)
    rng, rejected = np.random.default_rng(2), {"studentized": 0, "ar": 0}
    for trial in range(400):
        rows = rng.integers(len(first), size=480)
        pair = es.SegmentStatistics([first[rows], second[rows]], ["a", "b"], metric)
        for test in rejected:
            (d,) = es.compare(pair, test=test, method="t", n_resamples=399, rng=trial)
            rejected[test] += d.pvalue <= 0.05
    assert rejected["studentized"] <= 36


def test_the_default_test_is_exact_where_few_segments_differ(sample):
    """All 2^6 arrangements, each as if it had been observed: p <= j/64 for j of them."""
    metric = es.BLEU()
    first, second = (
        metric.statistics(sample.systems[name][:60], sample.references[:60])
        for name in ("baseline", "clearly-better")
    )
    differs = np.flatnonzero(np.any(first != second, axis=1))[:6]
    kept = np.r_[np.flatnonzero(np.all(first == second, axis=1)), differs]
    pvalues = []
    for code in range(64):
        a, b = first[kept].copy(), second[kept].copy()
        swap = [j - 6 for j in range(6) if code >> j & 1]
        a[swap], b[swap] = second[kept][swap], first[kept][swap]
        (d,) = es.compare(es.SegmentStatistics([a, b], ["a", "b"], metric))
        assert d.exact
        pvalues.append(d.pvalue)
    assert np.all(np.sort(pvalues) >= np.arange(1, 65) / 64 - 1e-12)


def test_identical_systems_have_no_interval_in_the_table(sample):
    texts = sample.systems["baseline"]
    text = str(es.compare({"a": texts, "b": list(texts)}, sample.references, baseline="a"))
    assert "[0.00, 0.00]" not in text
    assert "identical" in text


def test_documents_that_cannot_give_a_small_p_value_say_so(sample):
    perfect = {
        "baseline": sample.systems["baseline"][:50],
        "x": [r[0] for r in sample.references[:50]],
    }
    groups = [i // 10 for i in range(50)]
    result = es.compare(perfect, sample.references[:50], groups=groups)
    assert "5 groups cannot give a p-value below 0.062" in " ".join(result.notes)
    # The bootstrap said 0.0001; its t correction knows how few documents there are.
    (d,) = es.compare(perfect, sample.references[:50], groups=groups, test="bootstrap")
    assert d.pvalue > 0.002


def test_a_gate_that_could_not_fail_is_an_error():
    rng = np.random.default_rng(0)
    old = rng.normal(size=4)
    with pytest.raises(
        es.InputError, match=r"cannot give a p-value below 0\.062, so that a gate at"
    ):
        es.assert_not_worse(old - 1, old, metric=es.Mean("judge"))
    with pytest.raises(es.InputError, match=r"and 19 resamples cannot give a p-value below 0\.05,"):
        es.assert_not_worse(
            rng.normal(size=50), rng.normal(size=50), metric=es.Mean("judge"),
            n_resamples=19, significance_level=0.01,
        )  # fmt: skip
    with pytest.raises(es.InputError, match="equal on all 20 segments and have few values"):
        es.assert_not_worse(np.full(20, 5.0), np.full(20, 5.0), metric=es.Mean("judge"), margin=1.0)


def test_the_confidence_level_is_not_the_significance_level(sample):
    two = {name: sample.systems[name] for name in ("baseline", "slightly-better")}
    result = es.compare(two, sample.references, confidence_level=0.5)
    assert result.significance_level == 0.05
    assert not result.significant(result.differences[0])
    assert es.compare(two, sample.references, significance_level=0.5).significant(
        result.differences[0]
    )


def test_a_verdict_that_the_interval_contradicts_is_marked(sample):
    """One segment in ten is better by one mark: the interval of one comparison excludes 0."""
    rng = np.random.default_rng(4)
    base = rng.normal(size=100)
    systems = {f"s{j}": base + rng.normal(scale=0.5, size=100) for j in range(6)}
    systems["close"] = base + rng.normal(loc=0.115, scale=0.5, size=100)
    result = es.compare(systems, metrics=es.Mean("judge"))
    marked = [d for d in result if result.disagrees(d)]
    assert marked
    assert all((d.low > 0 or d.high < 0) != result.significant(d) for d in marked)
    assert f"† In {len(marked)} of 21 verdict and interval disagree" in " ".join(result.notes)


def test_the_reason_of_a_disagreement_is_the_one_that_holds():
    """Five of 60 documents differ: no test of swaps goes below 0.0625, adjusted or not."""
    rng = np.random.default_rng(0)
    old = rng.random(300) < 0.8
    new = np.where(rng.random(300) < 0.1, rng.random(300) < 0.9, old)
    systems = {"old": old, "new": new, "other": ~old & new}
    groups = [i // 5 for i in range(300)]
    result = es.compare(systems, metrics=es.Mean("acc"), groups=groups, n_resamples=999)
    (marked,) = [d for d in result if result.disagrees(d)]
    assert marked.pvalue == marked.pvalue_adjusted == 0.0625
    (note,) = [note for note in result.notes if note.startswith("†")]
    assert note.endswith("test and interval are two approximations, and this is near the level.")


def test_few_large_failures_leave_a_note():
    rng = np.random.default_rng(3)
    old = rng.normal(8, 0.3, 60)
    new = old + rng.normal(0, 0.1, 60) - 5 * (np.arange(60) < 2)
    notes = " ".join(es.compare({"old": old, "new": new}, metrics=es.Mean("judge")).notes)
    assert "differ by a lot on a few segments" in notes


def test_few_differing_segments_widen_the_interval_and_say_so():
    old = np.random.default_rng(5).normal(size=200)
    new = old.copy()
    new[:3] += [0.5, 0.4, 0.6]
    result = es.compare({"old": old, "new": new}, metrics=es.Mean("judge"))
    (d,) = result
    assert d.n_differing == 3
    assert d.low < 0 < d.high
    assert "differ on fewer than 10 segments" in " ".join(result.notes)


def test_groups_of_unlike_sizes_have_fewer_degrees_of_freedom():
    rng = np.random.default_rng(6)
    groups = np.repeat(np.arange(6), [60, 4, 4, 4, 4, 4])
    effects = rng.normal(size=6)[groups]
    old, new = rng.normal(size=(2, 80)) + effects
    result = es.compare({"old": old, "new": new}, metrics=es.Mean("judge"), groups=groups)
    assert "6 groups of 4 to 60 segments are worth about 1.7 of one size" in " ".join(result.notes)
    even = es.compare({"old": old, "new": new}, metrics=es.Mean("judge"), groups=np.arange(80) % 6)
    (uneven,), (balanced,) = result, even
    ratio = (uneven.high - uneven.low) / uneven.standard_error
    assert ratio > 1.5 * (balanced.high - balanced.low) / balanced.standard_error


def test_the_default_rejects_only_what_randomisation_and_t_both_reject(sample):
    """One output too short, one too long: the p-value is at least that of the t interval."""
    metric, first, second = straddling(sample)
    second = second.copy()
    second[:60] = metric.statistics(sample.systems["clearly-better"], sample.references)[:60]
    table = es.SegmentStatistics([first, second], ["short", "long"], metric)
    (d,) = es.compare(table)
    t = d.difference / d.standard_error
    assert d.pvalue >= 2 * stats.t.sf(abs(t), len(first) - 1) - 1e-12
    assert (d.low > 0 or d.high < 0) or d.pvalue > 0.05


def test_documents_of_unlike_sizes_are_not_passed_over():
    """300 trials of 10 documents of equal systems, a third of the segments in one of them.

    A test of 5 % has fewer than 4 or more than 31 rejections with a probability below 1e-3. With
    Satterthwaite's degrees of freedom, and with randomisation that has to agree, it was 1 %.
    """
    sizes = [60, 30, 20, 15, 15, 10, 10, 8, 8, 4]
    groups = np.repeat(np.arange(10), sizes)
    rejected = 0
    for trial in range(300):
        rng = np.random.default_rng([8, trial])
        shared = rng.normal(scale=0.5, size=(2, 10))[:, groups]
        marks = shared + rng.normal(size=(2, len(groups)))
        systems = dict(zip("ab", marks, strict=True))
        (d,) = es.compare(
            systems, None, es.Mean("x"), groups=groups, n_resamples=99, rng=trial, method="t"
        )
        rejected += d.pvalue <= 0.05
    assert 4 <= rejected <= 31
