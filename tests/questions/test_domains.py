"""Differences within strata, and whether they are alike."""

import numpy as np
import pytest
from scipy import stats

import evalstats as es
from evalstats.questions.domains import welch
from tests.helpers import refuses

MEAN = es.Mean("m")
BY_T = {"method": "t"}


def scores(n=80, gap=0.0, seed=1):
    rng = np.random.default_rng(seed)
    base = rng.normal(size=n)
    domain = np.repeat(["news", "chat"], [n - n // 4, n // 4])
    return {"A": base, "B": base + rng.normal(size=n) + gap * (domain == "chat")}, domain


def test_of_two_it_is_welchs_t_and_of_equal_errors_cochrans_q():
    rng = np.random.default_rng(3)
    x, y = rng.normal(0, 1, 12), rng.normal(0.5, 3, 30)
    errors = np.array([np.std(s, ddof=1) / len(s) ** 0.5 for s in (x, y)])
    statistic, _, within, pvalue = welch(
        np.array([x.mean(), y.mean()]), errors, np.array([11.0, 29.0])
    )
    expected = stats.ttest_ind(x, y, equal_var=False)
    assert statistic == pytest.approx(expected.statistic**2)
    assert within == pytest.approx(expected.df)
    assert pvalue == pytest.approx(expected.pvalue)
    values, errors = rng.normal(size=6), rng.uniform(0.5, 2, 6)
    statistic, _, _, pvalue = welch(values, errors, np.full(6, 1e8))
    weights = errors**-2
    q = np.sum(weights * (values - np.sum(weights * values) / np.sum(weights)) ** 2)
    assert 5 * statistic == pytest.approx(q)
    assert pvalue == pytest.approx(stats.chi2.sf(q, 5), rel=1e-6)
    statistic, _, within, pvalue = welch(values, errors, np.full(6, np.inf))
    assert pvalue == pytest.approx(stats.chi2.sf(q, 5))
    assert (statistic, within) == (pytest.approx(q / 5), np.inf)
    for scale in (1e-200, 1e200):
        assert welch(scale * values, scale * errors, np.full(6, 9.0)) == pytest.approx(
            welch(values, errors, np.full(6, 9.0))
        )


def test_welchs_published_example_of_several_groups():
    """Against statsmodels' formula, written out: three groups of unlike size and spread."""
    rng = np.random.default_rng(4)
    groups = [rng.normal(m, s, n) for m, s, n in ((0, 1, 9), (1, 2, 15), (0.3, 0.5, 6))]
    n, k = np.array(list(map(len, groups))), 3
    means = np.array([g.mean() for g in groups])
    w = n / np.array([g.var(ddof=1) for g in groups])
    grand = np.sum(w * means) / np.sum(w)
    lack = np.sum((1 - w / np.sum(w)) ** 2 / (n - 1))
    f = np.sum(w * (means - grand) ** 2) / (k - 1) / (1 + 2 * (k - 2) / (k**2 - 1) * lack)
    statistic, _, within, pvalue = welch(means, w**-0.5, n - 1.0)
    assert statistic == pytest.approx(f)
    assert within == pytest.approx((k**2 - 1) / (3 * lack))
    assert pvalue == pytest.approx(stats.f.sf(f, 2, within))


@pytest.mark.parametrize("grouped", [False, True])
def test_a_stratum_is_what_its_segments_say_and_the_last_row_is_the_whole(grouped):
    given, domain = scores()
    groups = np.arange(80) // 2 if grouped else None
    whole = es.compare(given, metrics=MEAN, groups=groups, **BY_T)
    found = whole.by(domain)
    assert [d.task for d in found] == ["news", "chat", "both strata"]
    for name in ("news", "chat"):
        inside = domain == name
        own = None if groups is None else groups[inside]
        part = {system: values[inside] for system, values in given.items()}
        (d,) = es.compare(part, metrics=MEAN, groups=own, **BY_T)
        row = found.difference(task=name)
        assert (row.difference, row.low, row.high) == (d.difference, d.low, d.high)
        assert row.pvalue == d.pvalue
        assert found.estimates[name, "m", "A"].score == pytest.approx(np.mean(part["A"]))
    total = found.difference()
    (stratified,) = es.compare(given, metrics=MEAN, groups=groups, strata=domain, **BY_T)
    assert total.difference == pytest.approx(whole[0].difference)
    assert total.standard_error == pytest.approx(stratified.standard_error)
    assert {e.unit for e in found.estimates} == {"group" if grouped else "segment"}


def test_texts_and_labels_of_statistics_are_taken_apart(sample):
    pair = {name: sample.systems[name] for name in ("baseline", "clearly-better")}
    result = es.compare(pair, sample.references, ["bleu", "chrf"], n_resamples=99)
    found = result.by(sample.domains)
    inside = [domain == "howto" for domain in sample.domains]
    part = {n: [t for t, here in zip(x, inside, strict=True) if here] for n, x in pair.items()}
    references = [r for r, here in zip(sample.references, inside, strict=True) if here]
    expected = es.compare(part, references, ["bleu", "chrf"], n_resamples=99)
    for metric in ("bleu", "chrf"):
        row, own = found.difference(metric, task="howto"), expected.difference(metric)
        assert (row.difference, row.low, row.high) == (own.difference, own.low, own.high)
    table = es.extract(pair, sample.references, "chrf")
    table = es.SegmentStatistics(
        table.values, table.systems, table.metric, labels={"domain": tuple(sample.domains)}
    )
    labelled = es.compare(table, n_resamples=99).by("domain")
    assert labelled.tasks == found.tasks


def test_a_difference_that_differs_is_told_in_a_note_and_a_test():
    given, domain = scores(400, gap=2.0)
    found = es.compare(given, metrics=MEAN, **BY_T).by(domain)
    (test,) = found.heterogeneity()
    a, b = (given["B"][domain == name] - given["A"][domain == name] for name in ("news", "chat"))
    expected = stats.ttest_ind(a, b, equal_var=False)
    assert test.pvalue == pytest.approx(expected.pvalue, rel=1e-6)
    assert (test.n_tasks, test.between) == (2, 1)
    assert test.within == pytest.approx(expected.df)
    assert found.notes[0].startswith("The difference varies between strata (Welch's test, 1951): B")
    assert str(test) in found.notes[0]
    assert es.Comparison.from_json(found.to_json()).heterogeneity() == found.heterogeneity()
    assert "between strata?" in str(found.heterogeneity())
    # The table shows the better system first, and the note speaks of the same difference.
    turned = es.compare({name: given[name] for name in "BA"}, metrics=MEAN, **BY_T).by(domain)
    assert "B - A" in turned._tables()[0].title
    assert ": B - A (" in turned.notes[0]
    same, domain = scores(400)
    found = es.compare(same, metrics=MEAN, **BY_T).by(domain)
    assert found.notes[0].startswith("No evidence that the difference varies between strata")
    three = {**given, "C": given["A"] + np.random.default_rng(2).normal(size=400)}
    found = es.compare(three, metrics=MEAN, **BY_T).by(domain)
    assert found.notes[0].startswith("2 of 3 differences vary between strata (Welch")


def test_a_stratum_where_all_change_alike_is_not_left_out_silently():
    """Of 0/1 scores its score interval has a length; of others the test names it."""
    rng = np.random.default_rng(1)
    base = np.r_[np.zeros(30), rng.random(60) < 0.5]
    new = np.r_[np.ones(30), rng.random(60) < 0.5]
    given, domain = {"base": base, "new": new}, np.repeat(["A", "B", "C"], 30)
    found = es.compare(given, metrics=MEAN).by(domain)
    (test,) = found.heterogeneity()
    assert (test.n_tasks, test.without) == (3, ())
    assert test.pvalue < 1e-6
    assert found.notes[0].startswith("The difference varies between strata")
    found = es.compare(given, metrics=MEAN, **BY_T).by(domain)
    (test,) = found.heterogeneity()
    assert (test.n_tasks, test.without) == (2, ("A",))
    said = "p = 0.096, without A (no standard error there)."
    assert found.notes[0].endswith(said)
    assert found.notes[0].startswith("No evidence that the difference varies between the other")
    assert said in str(found.heterogeneity())
    # Nothing says how a difference of 0 everywhere, or of one number, differs.
    for other in (base, base + 0.5, base + 0.1, base + 1):
        found = es.compare({"base": base, "new": other}, metrics=MEAN).by(domain)
        refuses("vary across segments on at least 2 tasks", found.heterogeneity)


def test_what_cannot_be_taken_apart_is_refused():
    given, domain = scores()
    result = es.compare(given, metrics=MEAN, **BY_T)
    moments = es.Moments.of(es.extract(given, metric=MEAN))
    for call, message in (
        (lambda: result.by(["x"] * 80), "by requires at least 2 strata, but all segments are in 'x'"),
        (lambda: result.by(domain[:-1]), "by has 79 labels"),
        (lambda: result.by("domain"), "by='domain' is not a label of the segments, which have no labels"),
        (lambda: result.by(["x", *["y"] * 79]), "at least 2 segments are required.* got 1"),
        (lambda: result.by(domain).by(domain),
            "by can only split a single task, but there are several, which already have their "
            "own rows. Leave it out, or compare a single task."),
        (lambda: es.compare(moments).by(domain), "by requires the statistics of every segment"),
        (lambda: es.Comparison.from_json(result.to_json()).by(domain), "read from a file"),
        (lambda: es.compare(given, metrics=MEAN, strata=domain, aggregate="macro").by(domain),
         "by can only split a score of all segments together"),
        (lambda: result.heterogeneity(), r"heterogeneity\(\) requires pairs whose differences vary"),
        (lambda: es.compare({k: [v, v[::-1]] for k, v in given.items()},
                            metrics=MEAN).by(domain).heterogeneity(), "share the runs of each"),
    ):  # fmt: skip
        refuses(message, call)


def test_groups_in_several_strata_are_drawn_whole():
    """Prompts with two turns: the total has 60 prompts, as the comparison, not 120."""
    rng = np.random.default_rng(0)
    effects, turns = rng.normal(0.15, 1, 60), ["t1"] * 60 + ["t2"] * 60
    base = rng.normal(size=120)
    given = {"a": base, "b": base + np.tile(effects, 2) + rng.normal(0, 0.1, 120)}
    whole = es.compare(given, metrics=MEAN, groups=[*range(60)] * 2, **BY_T)
    found = whole.by(turns)
    (total,) = found.totals
    assert (total.task, total.n_units) == ("both strata", whole[0].n_units)
    assert (total.pvalue, total.low, total.high) == (whole[0].pvalue, whole[0].low, whole[0].high)
    (alone,) = es.compare({k: v[:60] for k, v in given.items()}, metrics=MEAN, **BY_T)
    assert found.difference(task="t1").low == alone.low
    assert "Groups in several strata were resampled whole." in found.notes[0]
    assert "with 60 groups in all. Totals are the score of all strata together, and groups are " \
        "resampled whole." in found.describe()  # fmt: skip
    for result in (found, es.Comparison.from_json(found.to_json())):
        refuses("requires independent strata, but these share groups", result.heterogeneity)


@pytest.mark.parametrize("labels, message", [
    ([1] * 20 + ["1"] * 60, r"{} contains 1 \(int\) and '1' \(str\)"),
    (["a\nb"] * 20 + ["c"] * 60, r"{} must be printable text on one line, got 'a\\nb'"),
    (["\x1b"] * 20 + ["c"] * 60, r"{} must be printable text on one line, got '\\x1b'"),
    ([" "] * 20 + ["c"] * 60, r"{}\[0\] is ' ', but every segment requires a label"),
    (["\ud800"] * 20 + ["c"] * 60, r"{} must be printable text on one line, got '\\ud800'"),
])  # fmt: skip
def test_strata_have_names(labels, message):
    result = es.compare(scores()[0], metrics=MEAN, **BY_T)
    refuses(message.format("by"), result.by, labels)


def test_no_stratum_or_task_is_called_as_its_total():
    given, domain = scores()
    result = es.compare(given, metrics=MEAN, **BY_T)
    table = es.extract(given, metric=MEAN)
    message = "a task or stratum is called '{}', which is the name of the total"
    with pytest.raises(es.InputError, match=message.format("both strata")):
        result.by(["both strata" if name == "chat" else name for name in domain])
    for call in ("estimate", "compare"):
        with pytest.raises(es.InputError, match=message.format("both tasks")):
            getattr(es.Suite({"both tasks": table, "b": table}), call)()
    # Where there is no such total the name is free.
    assert result.by(["macro" if name == "chat" else name for name in domain]).totals
    assert es.Suite({"macro": table}).compare(**BY_T)
