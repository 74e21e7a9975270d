"""Differences within strata, over them as a sample of strata, and whether they are alike."""

import csv
import io
import json

import numpy as np
import pytest
from scipy import stats

import evalstats as es
from evalstats.cli import main
from evalstats.questions.domains import welch

MEAN = es.Mean("m")
BY_T = {"method": "t", "test": "t"}


def scores(n=80, gap=0.0, seed=1):
    rng = np.random.default_rng(seed)
    base = rng.normal(size=n)
    domain = np.repeat(["news", "chat"], [n - n // 4, n // 4])
    return {"A": base, "B": base + rng.normal(size=n) + gap * (domain == "chat")}, domain


def test_of_two_it_is_welchs_t_and_of_equal_errors_cochrans_q():
    rng = np.random.default_rng(3)
    x, y = rng.normal(0, 1, 12), rng.normal(0.5, 3, 30)
    errors = np.array([np.std(s, ddof=1) / len(s) ** 0.5 for s in (x, y)])
    found = welch(np.array([x.mean(), y.mean()]), errors, np.array([11.0, 29.0]))
    expected = stats.ttest_ind(x, y, equal_var=False)
    assert found.statistic == pytest.approx(expected.statistic**2)
    assert found.within == pytest.approx(expected.df)
    assert found.pvalue == pytest.approx(expected.pvalue)
    values, errors = rng.normal(size=6), rng.uniform(0.5, 2, 6)
    found = welch(values, errors, np.full(6, 1e8))
    weights = errors**-2
    q = np.sum(weights * (values - np.sum(weights * values) / np.sum(weights)) ** 2)
    assert 5 * found.statistic == pytest.approx(q)
    assert found.pvalue == pytest.approx(stats.chi2.sf(q, 5), rel=1e-6)
    endless = welch(values, errors, np.full(6, np.inf))
    assert endless.pvalue == pytest.approx(stats.chi2.sf(q, 5))
    assert (endless.statistic, endless.within) == (pytest.approx(q / 5), np.inf)
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
    found = welch(means, w**-0.5, n - 1.0)
    assert found.statistic == pytest.approx(f)
    assert found.within == pytest.approx((k**2 - 1) / (3 * lack))
    assert found.pvalue == pytest.approx(stats.f.sf(f, 2, found.within))


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
    assert found.notes[0].startswith(
        "The difference differs between strata (Welch's test, 1951): B"
    )
    assert str(test) in found.notes[0]
    assert es.Comparison.from_json(found.to_json()).heterogeneity() == found.heterogeneity()
    assert "between strata?" in str(found.heterogeneity())
    # The table shows the better system first, and the note speaks of the same difference.
    turned = es.compare({name: given[name] for name in "BA"}, metrics=MEAN, **BY_T).by(domain)
    assert "B - A" in turned._tables()[0].title
    assert ": B - A (" in turned.notes[0]
    same, domain = scores(400)
    found = es.compare(same, metrics=MEAN, **BY_T).by(domain)
    assert found.notes[0].startswith("The difference is not shown to differ between strata")
    three = {**given, "C": given["A"] + np.random.default_rng(2).normal(size=400)}
    found = es.compare(three, metrics=MEAN, **BY_T).by(domain)
    assert found.notes[0].startswith("2 of 3 differences are not the same in all strata (Welch")


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
    assert found.notes[0].startswith("The difference differs between strata")
    found = es.compare(given, metrics=MEAN, **BY_T).by(domain)
    (test,) = found.heterogeneity()
    assert (test.n_tasks, test.without) == (2, ("A",))
    said = "p = 0.0960, without A, where the difference has no error."
    assert found.notes[0].endswith(said)
    assert found.notes[0].startswith("The difference is not shown to differ between the other")
    assert said in str(found.heterogeneity())
    # Nothing says how a difference of 0 everywhere, or of one number, differs.
    for other in (base, base + 0.5, base + 0.1, base + 1):
        found = es.compare({"base": base, "new": other}, metrics=MEAN).by(domain)
        with pytest.raises(es.InputError, match="at least 2 tasks, not by the same on all"):
            found.heterogeneity()


def test_what_cannot_be_taken_apart_is_refused():
    given, domain = scores()
    result = es.compare(given, metrics=MEAN, **BY_T)
    moments = es.Moments.of(es.extract(given, metric=MEAN))
    for call, message in (
        (lambda: result.by(["x"] * 80), "by needs at least 2 strata, and all segments are in 'x'"),
        (lambda: result.by(domain[:-1]), "by has 79 labels"),
        (lambda: result.by("domain"), "by='domain' is no label of the segments; they have none"),
        (lambda: result.by(["x", *["y"] * 79]), "at least 2 segments are needed.* got 1"),
        (lambda: result.by(domain).by(domain), "by takes one task apart, and there are several"),
        (lambda: es.compare(moments).by(domain), "by needs the statistics of every segment"),
        (lambda: es.Comparison.from_json(result.to_json()).by(domain), "read from a file"),
        (lambda: es.compare(given, metrics=MEAN, strata=domain, aggregate="macro").by(domain),
         "by takes a score of all segments together apart"),
        (lambda: result.heterogeneity(), r"heterogeneity\(\) needs pairs that differ on at least 2"),
        (lambda: es.compare({k: [v, v[::-1]] for k, v in given.items()},
                            metrics=MEAN).by(domain).heterogeneity(), "share the runs of each"),
    ):  # fmt: skip
        with pytest.raises(es.InputError, match=message):
            call()


def test_the_command_line_shows_domains(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    given, domain = scores(gap=2.0)
    rows = zip(*given.values(), domain, strict=True)
    lines = [f"{i},m,{a},{b},{d}" for i, (a, b, d) in enumerate(rows)]
    text = "\n".join(["segment,metric,A,B,domain", *lines]) + "\n"
    (tmp_path / "scores.csv").write_text(text, encoding="utf-8")
    asked = ["compare", "scores.csv", "--higher-is-better", "m", "--resamples", "99"]
    assert main([*asked, "--by", "domain", "-f", "csv"]) == 0
    found = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["task"] for row in found] == ["news", "chat", "both domains"]
    assert main([*asked, "--by", "domain", "--over", "domain"]) == 2
    assert "--by shows each domain, and --over means of them" in capsys.readouterr().err


def test_groups_in_several_strata_are_drawn_whole():
    """Prompts with two turns: the total has 60 prompts, as the comparison, not 120."""
    rng = np.random.default_rng(0)
    effects, turns = rng.normal(0.15, 1, 60), ["t1"] * 60 + ["t2"] * 60
    base = rng.normal(size=120)
    given = {"a": base, "b": base + np.tile(effects, 2) + rng.normal(0, 0.1, 120)}
    whole = es.compare(given, metrics=MEAN, groups=[*range(60)] * 2, **BY_T)
    found = whole.by(turns)
    (total,) = found.totals
    assert (total.task, total.units) == ("both strata", whole[0].units)
    assert (total.pvalue, total.low, total.high) == (whole[0].pvalue, whole[0].low, whole[0].high)
    (alone,) = es.compare({k: v[:60] for k, v in given.items()}, metrics=MEAN, **BY_T)
    assert found.difference(task="t1").low == alone.low
    assert "Groups that lie in several strata were drawn whole" in found.notes[0]
    assert "with 60 groups in all. Totals are the score of all strata together; groups are " \
        "drawn whole." in found.describe()  # fmt: skip
    for result in (found, es.Comparison.from_json(found.to_json())):
        with pytest.raises(es.InputError, match="tests independent strata, and these share groups"):
            result.heterogeneity()


@pytest.mark.parametrize("labels, message", [
    ([1] * 20 + ["1"] * 60, r"{} must differ in print, got 1 \(int\) and '1' \(str\)"),
    (["a\nb"] * 20 + ["c"] * 60, r"{} must be printable text on one line, got 'a\\nb'"),
    (["\x1b"] * 20 + ["c"] * 60, r"{} must be printable text on one line, got '\\x1b'"),
    ([" "] * 20 + ["c"] * 60, "{} must be non-empty text, got ' '"),
    (["\ud800"] * 20 + ["c"] * 60, r"{} must be printable text on one line, got '\\ud800'"),
])  # fmt: skip
@pytest.mark.parametrize("asked", ["by", "over"])
def test_strata_have_names(asked, labels, message):
    result = es.compare(scores()[0], metrics=MEAN, **BY_T)
    with pytest.raises(es.InputError, match=message.format(asked)):
        getattr(result, asked)(labels)


def test_no_stratum_or_task_is_called_as_its_total():
    given, domain = scores()
    result = es.compare(given, metrics=MEAN, **BY_T)
    table = es.extract(given, metric=MEAN)
    message = "a task, or stratum, is called '{}', which is the name of a total over all of them"
    with pytest.raises(es.InputError, match=message.format("both strata")):
        result.by(["both strata" if name == "chat" else name for name in domain])
    for call in ("estimate", "compare"):
        with pytest.raises(es.InputError, match=message.format("both tasks")):
            getattr(es.Suite({"both tasks": table, "b": table}), call)()
    # Where there is no such total the name is free.
    assert result.by(["macro" if name == "chat" else name for name in domain]).totals
    assert es.Suite({"macro": table}).compare(**BY_T)


# Over strata

MARKS = es.Mean("marks")
COST = es.Mean("cost", higher_is_better=False)
BY_T_ALONE = {**BY_T, "adjustment": "none"}


def in_strata(*differences):
    """Return two systems with these differences in strata of one segment and more."""
    gains = np.repeat(differences, np.arange(1, len(differences) + 1))
    old = np.random.default_rng(2).integers(0, 9, size=len(gains)) / 4
    labels = [f"d{i}" for i in np.repeat(range(len(differences)), range(1, len(differences) + 1))]
    return {"old": old, "new": old + gains}, labels


def test_an_example_by_hand():
    """Differences 1, 2, 3, 6: mean 3, variance 14/3; t of 3 degrees of freedom is 3.18245."""
    scores, labels = in_strata(1, 2, 3, 6)
    (found,) = es.compare(scores, metrics=MARKS, n_resamples=99).over(labels)
    assert found.strata == ("d0", "d1", "d2", "d3")
    assert found.differences == pytest.approx((1, 2, 3, 6))
    assert (found.n_strata, found.n_same_sign) == (4, 4)
    error = np.sqrt(14 / 3 / 4)
    assert (found.difference, found.standard_error) == pytest.approx((3, error))
    assert (found.low, found.high) == pytest.approx(
        (3 - 3.182446305 * error, 3 + 3.182446305 * error)
    )
    half = 3.182446305 * np.sqrt(14 / 3 * 5 / 4)
    assert (found.predicted_low, found.predicted_high) == pytest.approx((3 - half, 3 + half))
    level = {"confidence_level": 0.8, "n_resamples": 99}
    (found,) = es.compare(scores, metrics=MARKS, **level).over(np.array(labels))
    assert found.high == pytest.approx(3 + stats.t.ppf(0.9, 3) * error)


def test_the_difference_in_a_stratum_is_that_of_its_segments(small):
    """Of every metric, whatever is drawn, and of the average over the same strata too."""
    table = es.extract(small.systems, small.references, "bleu")
    runs = {name: np.random.default_rng(i).normal(size=(3, 60)) for i, name in enumerate("AB")}
    order = np.random.default_rng(7).permutation(60)
    domains = ["news", "web", "talks"] * 20
    table = table.select(order)
    cases = [
        ([table, es.extract(small.systems, small.references, "ter").select(order)], {}),
        ([table], {"groups": [small.documents[i] for i in order]}),
        ([table], {"strata": domains, "aggregate": "macro"}),
        ([table], {"strata": np.arange(60) % 3, "aggregate": "macro"}),
        ([es.extract_runs(runs, metric=MARKS)], {}),
    ]
    for tables, options in cases:
        result = es.compare(tables, n_resamples=9, **options)
        for found, d in zip(result.over(domains), result, strict=True):
            assert (found.metric, found.system, found.baseline) == (d.metric, d.system, d.baseline)
            own = next(t for t in tables if d.metric.endswith(t.metric.name))
            for name, difference in zip(found.strata, found.differences, strict=True):
                scores = own.select([i for i in range(60) if domains[i] == name]).scores
                a, b = (scores[own.systems.index(s)] for s in (d.baseline, d.system))
                assert difference == pytest.approx(b - a, abs=1e-9)
    # The mean over strata is the macro average.
    macro = es.compare(table, strata=domains, aggregate="macro", n_resamples=9)
    for found, d in zip(macro.over(domains), macro, strict=True):
        assert found.difference == pytest.approx(d.difference, abs=1e-9)


def test_tasks_are_strata_too():
    rng = np.random.default_rng(6)
    marks = {t: {s: rng.normal(size=20) for s in "ABC"} for t in "xyz"}
    tasks = {
        t: [es.extract(marks[t], metric=MARKS), es.extract(marks[t], metric=COST)] for t in "xy"
    }
    tasks["z"] = [es.extract(marks["z"], metric=MARKS), es.extract(marks["z"], metric=es.Mean("f"))]
    result = es.Suite(tasks).compare(n_resamples=9)
    found = result.over("task")
    assert [(m.metric, m.strata) for m in found] == [("marks", tuple("xyz"))] * 3 + [
        ("cost", ("x", "y"))
    ] * 3
    for m in found:
        own = [result.difference(m.metric, m.system, m.baseline, t) for t in m.strata]
        assert m.differences == tuple(d.difference for d in own)
    assert "f: of one task, and left out." in found.notes
    assert "With 2 tasks t has 1 degree of freedom, and intervals are wide" in str(found)


def test_it_is_shown_in_every_form(tmp_path):
    scores, labels = in_strata(1, -0.5, 3)
    table = es.extract(scores, metric=COST)
    table = es.SegmentStatistics(table.values, table.systems, COST, labels={"domain_id": labels})
    result = es.compare([table], n_resamples=99)
    found = result.over("domain_id")
    assert found.by == "domain"
    text = str(found)
    assert text.startswith("cost ↓ (lower is better), over 3 domains\n")
    assert " [another domain]  same sign\n" in text
    assert " 2 of 3\n" in text
    assert "With 3 domains t has 2 degrees of freedom, and intervals are wide. Use more." in text
    assert es.OverStrata.from_json(found.to_json()) == found
    assert json.loads(found.to_json())["means"][0]["n_same_sign"] == 2
    assert '"domain: d0","domain: d1","domain: d2"' in found.to_csv()
    assert "another domain" in found._repr_html_()
    found.report(tmp_path / "over.html")
    assert "another domain" in (tmp_path / "over.html").read_text("utf-8")
    assert found.signatures == result.signatures
    many, labels = in_strata(1, 2, 3, 4, 5)
    assert "Only" not in str(es.compare(many, metrics=MARKS, n_resamples=9).over(labels))
    same = es.compare({"A": many["old"], "B": many["old"]}, metrics=MARKS, n_resamples=9)
    assert same.over(labels)._tables()[0].rows[0][3:] == ("-", "-", "0 of 5")


def moments():
    return es.Moments.of(es.extract(in_strata(1, 2, 3)[0], metric=MARKS))


def of_two_tasks():
    table = es.extract(in_strata(1, 2, 3)[0], metric=MARKS)
    return es.Suite({"x": table, "y": table}).compare(n_resamples=9)


SCORES, LABELS = in_strata(1, 2, 3)


@pytest.mark.parametrize("made, by, message", [
    (SCORES, ["a"] * 6, "over needs at least 2 strata, and all segments are in .a.; give "),
    (SCORES, LABELS[:5], "over has 5 labels but there are 6 segments"),
    (SCORES, [*LABELS[:5], None], r"over\[5\] is None: every segment needs a label"),
    (SCORES, "domain", "over='domain' is no label of the segments; they have none"),
    (es.extract(SCORES, metric=MARKS), "domain", "over='domain' is no label of the segments; the"),
    (SCORES, 7, "over must be a list of labels, one a segment, got int"),
])  # fmt: skip
def test_bad_labels(made, by, message):
    given = {} if isinstance(made, es.SegmentStatistics) else {"metrics": MARKS}
    with pytest.raises(es.InputError, match=message):
        es.compare(made, n_resamples=9, **given).over(by)


class OfSeveral(es.Mean):
    def score(self, totals):
        return np.where(np.asarray(totals)[..., 1] > 1, super().score(totals), np.nan)


def test_what_has_no_strata_says_so():
    with pytest.raises(es.InputError, match="over needs the statistics of every segment, and a Mo"):
        es.compare(moments()).over(LABELS)
    with pytest.raises(es.InputError, match="and there are 2; give 'task', or compare a task alon"):
        of_two_tasks().over(LABELS)
    result = es.compare(SCORES, metrics=MARKS, n_resamples=9)
    with pytest.raises(es.InputError, match="this comparison was read from a file"):
        es.Comparison.from_json(result.to_json()).over(LABELS)
    metrics = {"x": MARKS, "y": COST}
    tasks = {t: es.extract(SCORES, metric=metric) for t, metric in metrics.items()}
    with pytest.raises(es.InputError, match="that at least 2 tasks have; marks, cost has 1 task"):
        es.Suite(tasks).compare(n_resamples=9).over("task")
    several = es.compare(SCORES, metrics=OfSeveral("mark"), **BY_T_ALONE)
    with pytest.raises(es.InputError, match="of system 'old' in 'd0' is not finite; join that st"):
        several.over(LABELS)
    alone = es.compare(
        SCORES, metrics=MARKS, strata=list("aabbcd"), aggregate="macro", **BY_T_ALONE
    )
    with pytest.raises(es.InputError, match="drawn together as one score; compare without strata"):
        alone.over(LABELS)


def test_strata_that_share_groups_say_that_other_groups_are_another_question():
    """300 trials without an effect find one in .51 of them: prompts are the same in all turns."""
    rng = np.random.default_rng(3)
    scores = {name: rng.normal(size=60) for name in "AB"}
    turns, prompts = np.repeat(list("xyz"), 20), np.tile(np.arange(20), 3)
    result = es.compare(scores, metrics=MARKS, groups=prompts, **BY_T_ALONE)
    for found in (result.over(turns), result.by(turns).over("task")):
        said = "Caution: groups lie in several strata, whose differences share them"
        assert found.notes[0].startswith(said)
        assert str(found).startswith(said)
        assert es.OverStrata.from_json(found.to_json()) == found
    alone = es.compare(scores, metrics=MARKS, groups=np.arange(60) // 2, **BY_T_ALONE)
    assert alone.over(turns).notes == ()


@pytest.mark.parametrize("is_paired", [False, True])
def test_strata_share_the_runs_of_each_system(is_paired):
    """The mean over strata varies with the runs too, in a two-way analysis of strata and runs."""
    rng, domain = np.random.default_rng(14), np.repeat(list("uvwxyz"), 20)
    seeds = {n: rng.normal(size=(3, 120)) + rng.normal(size=(3, 1)) for n in "AB"}
    result = es.compare(seeds, metrics=MARKS, paired_runs=is_paired)
    (found,) = result.over(domain)
    means = {n: of.reshape(3, 6, 20).mean(axis=2) for n, of in seeds.items()}
    total = np.var(means["B"].mean(axis=0) - means["A"].mean(axis=0), ddof=1) / 6
    for x in [means["B"] - means["A"]] if is_paired else means.values():
        rest = x - x.mean(axis=0) - x.mean(axis=1, keepdims=True) + x.mean()
        total += np.var(x.mean(axis=1), ddof=1) / 3 - np.sum(rest**2) / (2 * 5) / 18
    assert found.standard_error == pytest.approx(total**0.5)
    assert found.low < 0 < found.high
    tasks = {
        d: es.extract_runs({n: of[:, domain == d] for n, of in seeds.items()}, metric=MARKS)
        for d in "uvwxyz"
    }
    (of_tasks,) = es.Suite(tasks).compare(paired_runs=is_paired).over("task")
    assert of_tasks.standard_error == pytest.approx(found.standard_error)
    (alone,) = es.compare({n: of.mean(axis=0) for n, of in seeds.items()}, metrics=MARKS).over(
        domain
    )
    assert alone.high - alone.low < 0.5 * (found.high - found.low)
