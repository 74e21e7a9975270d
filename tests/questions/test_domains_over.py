"""Strata as a sample of strata: mean differences, and where that in another lies."""

import json

import numpy as np
import pytest
from scipy import stats

import evalstats as es

MARKS = es.Mean("marks")
COST = es.Mean("cost", higher_is_better=False)
BY_T = {"test": "t", "method": "t", "adjustment": "none"}


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


def test_the_interval_for_another_stratum_holds_its_difference():
    """400 independent systems against a constant, five strata that vary, and a sixth.

    Of 400 the share held has a standard error of .011 at .95: outside .906 to .994 once in 16,000
    seeds. The interval of the mean holds it about .69 of the time.
    """
    rng = np.random.default_rng(12)
    effects = rng.normal(size=400)[:, None] + rng.normal(size=(400, 6))
    segments = np.repeat(effects, 8, axis=1) + rng.normal(size=(400, 48))
    scores = {"none": np.zeros(40)} | {f"s{i}": row[:40] for i, row in enumerate(segments)}
    labels = np.repeat(list("abcde"), 8)
    found = es.compare(scores, metrics=MARKS, baseline="none", **BY_T).over(labels)
    sixth = segments[:, 40:].mean(axis=1)
    rows = list(zip(found, sixth, strict=True))
    held = np.mean([m.predicted_low <= x <= m.predicted_high for m, x in rows])
    assert held == pytest.approx(0.95, abs=0.044)
    assert np.mean([m.low <= x <= m.high for m, x in rows]) < 0.8


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


def shard():
    table = es.extract(in_strata(1, 2, 3)[0], metric=MARKS)
    return es.resample_shard(table, range(6), n_resamples=9, resolution=2**-20)


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
    with pytest.raises(es.InputError, match="over needs the statistics of every segment, and a Sh"):
        es.compare(shard()).over(LABELS)
    with pytest.raises(es.InputError, match="and there are 2; give 'task', or compare a task alon"):
        of_two_tasks().over(LABELS)
    result = es.compare(SCORES, metrics=MARKS, n_resamples=9)
    with pytest.raises(es.InputError, match="this comparison was read from a file"):
        es.Comparison.from_json(result.to_json()).over(LABELS)
    metrics = {"x": MARKS, "y": COST}
    tasks = {t: es.extract(SCORES, metric=metric) for t, metric in metrics.items()}
    with pytest.raises(es.InputError, match="that at least 2 tasks have; marks, cost has 1 task"):
        es.Suite(tasks).compare(n_resamples=9).over("task")
    several = es.compare(SCORES, metrics=OfSeveral("mark"), **BY_T)
    with pytest.raises(es.InputError, match="of system 'old' in 'd0' is not finite; join that st"):
        several.over(LABELS)
    alone = es.compare(SCORES, metrics=MARKS, strata=list("aabbcd"), aggregate="macro", **BY_T)
    with pytest.raises(es.InputError, match="drawn together as one score; compare without strata"):
        alone.over(LABELS)


def test_strata_that_share_groups_say_that_other_groups_are_another_question():
    """300 trials without an effect find one in .51 of them: prompts are the same in all turns."""
    rng = np.random.default_rng(3)
    scores = {name: rng.normal(size=60) for name in "AB"}
    turns, prompts = np.repeat(list("xyz"), 20), np.tile(np.arange(20), 3)
    result = es.compare(scores, metrics=MARKS, groups=prompts, **BY_T)
    for found in (result.over(turns), result.by(turns).over("task")):
        said = "Caution: groups lie in several strata, whose differences share them"
        assert found.notes[0].startswith(said)
        assert str(found).startswith(said)
        assert es.OverStrata.from_json(found.to_json()) == found
    alone = es.compare(scores, metrics=MARKS, groups=np.arange(60) // 2, **BY_T)
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
