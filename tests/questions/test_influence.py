"""Which segments drive a difference, and claims under several metrics at once."""

import sys

import numpy as np
import pytest

import evalstats as es
from evalstats.pictures.report import scores_by_stratum
from tests.helpers import cases, refuses

MEAN = es.Mean("judge")


def without(systems, ids, *others):
    """Leave out the segments with these numbers."""
    kept = [i for i in range(len(next(iter(systems.values())))) if str(i) not in set(ids)]
    return {name: [rows[i] for i in kept] for name, rows in systems.items()}, *(
        [rows[i] for i in kept] for rows in others
    )


def difference(systems, references=None, metric=MEAN, **options):
    (d,) = es.compare(systems, references, metric, method="t", **options)
    return d.difference


def assert_turns(found, pair, references, metric, labels, **settings):
    """Without the units that are named the sign is another, and with the last of them it is not."""
    groups = labels.get("groups")
    for ids, turned in ((found.sign_without, True), (found.sign_without[:-1], False)):
        gone = ids
        if groups is not None:
            gone = [str(i) for i, label in enumerate(groups) if label in ids]
        rest, kept, *others = without(pair, gone, references, *labels.values())
        asked = settings | dict(zip(labels, others, strict=True))
        moved = difference(rest, kept, metric, **asked)
        assert (moved * found.difference < 0) == turned


STRATA = {"strata": ["easy", *["hard"] * 3] * 119 + ["odd"] * 4}


@cases(
    ("bleu", {}, "micro"),
    ("chrf", STRATA, "micro"),
    ("bleu", STRATA, "macro"),
    ("chrf", STRATA, {"easy": 3, "hard": 1, "odd": 2}),
)
def test_the_segments_that_are_named_do_what_is_said(metric, labels, aggregate, sample):
    pair = {name: sample.systems[name] for name in ("baseline", "slightly-better")}
    settings = {**labels, "aggregate": aggregate}
    result = es.compare(pair, sample.references, metric, n_resamples=9, **settings)
    (d,) = result
    found = result.influence()
    assert (found.n_strata, found.pvalue) == (3 if labels else None, d.pvalue)
    assert ("Two segments per stratum are always kept." in str(found)) == bool(labels)
    assert_turns(found, pair, sample.references, metric, labels, aggregate=aggregate)


@pytest.mark.parametrize("in_strata", [False, True])
def test_groups(sample, in_strata):
    pair = {name: sample.systems[name] for name in ("baseline", "clearly-better")}
    labels, settings = {"groups": sample.documents}, {}
    if in_strata:
        # Each document lies in one stratum, that of its first segment.
        first = dict(zip(reversed(sample.documents), reversed(sample.domains), strict=True))
        labels["strata"] = [first[label] for label in sample.documents]
        settings = {"aggregate": "macro"}
    # Labels may come one by one.
    given = {name: iter(values) for name, values in labels.items()}
    result = es.compare(pair, sample.references, "chrf", **given, **settings, n_resamples=9)
    found = result.influence()
    assert sorted(found.ids) == sorted(set(sample.documents))
    assert (found.unit, found.texts) == ("group", ())
    assert_turns(found, pair, sample.references, "chrf", labels, **settings)


def test_gained_and_lost_segments():
    old = np.repeat([0.0, 1, 1], [14, 3, 43])
    new = np.repeat([1.0, 0, 1], [14, 3, 43])
    for pair, metric in (
        ({"old": old, "new": new}, MEAN),
        ({"old": new, "new": old}, es.Mean("e", higher_is_better=False)),
    ):
        found = es.compare(pair, metrics=metric).influence()
        assert len(found.sign_without) == 12
        assert set(found.sign_without) <= set(map(str, range(14)))


def test_what_no_removal_changes():
    scores = {"A": np.arange(20.0), "B": np.arange(20.0) + 1 + np.arange(20) % 2}
    found = es.compare(scores, metrics=MEAN, n_resamples=9).influence()
    assert found.sign_without is None
    assert "B stays better, no matter how many segments that favour it you remove." in str(found)
    same = es.compare({"A": [1.0, 2, 3], "B": [1.0, 2, 3]}, metrics=MEAN).influence()
    assert (same.sign_without, same.pvalue) == (None, 1.0)
    assert "The scores are equal" in str(same)


def test_influence_is_what_a_segment_moves(sample):
    rng = np.random.default_rng(2)
    scores = {"A": rng.normal(size=50), "B": rng.normal(size=50)}
    result = es.compare(scores, metrics=MEAN, n_resamples=99)
    found = result.influence("judge", "B", "A")
    moved = scores["B"] - scores["A"]
    expected = (moved - moved.mean()) / 50
    assert np.allclose([expected[int(i)] for i in found.ids], found.values)
    assert np.all(np.diff(np.abs(found.values)) <= 0)
    error = result.differences[0].standard_error
    assert np.sqrt(50 / 49 * np.sum(np.square(found.values))) == pytest.approx(error)


def test_a_result_without_statistics_says_so():
    result = es.compare({"A": [1.0, 2, 4], "B": [1.5, 2, 3]}, metrics=MEAN, n_resamples=99)
    with pytest.raises(es.InputError, match="read from a file"):
        es.Comparison.from_json(result.to_json()).influence("judge", "B", "A")
    found, turned = result.influence("judge", "B", "A"), result.influence("judge", "A", "B")
    assert turned.difference == -found.difference
    assert turned.values == tuple(-value for value in found.values)


def test_each_stratum_keeps_two():
    # The whole difference is in one stratum, of which two have to stay: one would turn it.
    scores = {"A": np.arange(20.0), "B": np.arange(20.0) + np.repeat([5.0, -4.0, -0.1], [3, 1, 16])}
    strata = np.repeat(["few", "many"], [4, 16])
    result = es.compare(scores, metrics=MEAN, strata=strata, aggregate="macro", n_resamples=99)
    found = result.influence("macro judge", "B", "A")
    assert found.sign_without is None
    freely = es.compare(scores, metrics=MEAN, n_resamples=99).influence("judge", "B", "A")
    assert set(freely.sign_without) < {"0", "1", "2"}


def test_ids_and_texts_are_in_the_table_and_the_figure(sample):
    pair = {name: sample.systems[name] for name in ("baseline", "clearly-better")}
    found = es.compare(pair, sample.references, "bleu", n_resamples=9).influence()
    first = int(found.ids[0])
    assert len(found.texts) == 10
    assert found.texts[0] == tuple(outputs[first] for outputs in pair.values())
    line = next(line for line in str(found).split("\n") if line.startswith(f"{first} "))
    assert pair["baseline"][first][:40] in line
    assert len(line) < 160
    rows = found.to_csv().splitlines()
    assert (rows[0], len(rows)) == ('"segment","influence"', 481)
    # Statistics have names of their own, and no texts.
    names = [f"s{i}" for i in range(480)]
    table = es.extract(pair, sample.references, "bleu", segment_ids=names)
    named = es.compare(table, n_resamples=9).influence()
    assert (named.ids, named.texts) == (tuple(f"s{i}" for i in found.ids), ())
    pytest.importorskip("matplotlib").use("Agg")
    axes = found.plot()
    names = [x.get_text().partition(":")[0] for x in axes.get_yticklabels()]
    assert names == list(found.ids[:10])
    assert [bar.get_width() for bar in axes.patches] == list(found.values[:10])


def test_segments_of_runs_that_no_removal_is_tried_of():
    """Defect: with no segment that can go, the totals of runs had no shape, and it crashed."""
    runs = {"A": [[0.4, 0.3], [0.3, 0.4]], "B": [[0.1, 0.3], [0.3, 0.1]]}
    found = es.compare(runs, metrics=MEAN, n_resamples=9).influence(system="B", baseline="A")
    assert (found.ids, found.sign_without) == (("0", "1"), None)
    assert found.values == pytest.approx((0, 0))


class Counted(es.Ratio):
    """A ratio that counts what it scores."""

    scored = 0

    def score(self, totals):
        Counted.scored += np.asarray(totals)[..., 0].size
        return super().score(totals)


def of_many_strata(n_strata):
    rng = np.random.default_rng(4)
    strata = np.repeat(np.arange(n_strata), 4)
    rows = np.stack([rng.normal(5, 1, (2, len(strata))), np.ones((2, len(strata)))], axis=-1)
    table = es.SegmentStatistics(rows, ("a", "b"), Counted("x"))
    options = {"strata": strata, "aggregate": "macro", "method": "t"}
    return rows, strata, es.compare(table, **options)


def test_a_report_takes_as_long_as_it_has_strata(tmp_path):
    """Each stratum is looked at once: not all of them for each of them."""
    calls, scored = [], []
    for n_strata in (4, 40, 80):
        rows, strata, result = of_many_strata(n_strata)
        n, before = 0, Counted.scored

        def count(_, event, __):
            nonlocal n
            n += event == "call"

        sys.setprofile(count)
        try:
            result.report(tmp_path / "page.html")
        finally:
            sys.setprofile(None)
        calls.append(n)
        scored.append(Counted.scored - before)
        found = scores_by_stratum(result.source.with_segments(result[0], "strata")[1])
        assert [(name, size) for name, size, _ in found] == [(str(t), 4) for t in range(n_strata)]
        expected = [rows[:, strata == t, 0].mean(axis=1) for t in range(n_strata)]
        np.testing.assert_allclose([scores for *_, scores in found], expected)
    # Twice as many, and what a page of any length needs; the first page imports what it needs.
    assert scored[2] <= 2 * scored[1]
    assert calls[2] <= 2 * calls[1]


def two_metrics(shift=0.3, **options):
    rng = np.random.default_rng(11)
    old = rng.normal(size=60)
    tables = [
        es.extract({"old": old, "new": old + sign * s + rng.normal(size=60)}, metric=metric)
        for metric, s, sign in (
            (es.Mean("first"), shift, 1),
            (es.Mean("cost", higher_is_better=False), 0.5, -1),
        )
    ]
    return es.compare(tables, n_resamples=999, **options)


@pytest.mark.parametrize("method", ["bootstrap", "t"])
@pytest.mark.parametrize("shift", [0.1, -1.0])
def test_it_is_the_largest_of_one_sided_tests(method, shift):
    """An intersection-union test at the level itself (Berger, 1982)."""
    claims = two_metrics(shift, method=method, baseline="old")
    claim = claims.joint("new")
    # Better is a greater score and a smaller cost.
    sides = [two_metrics(shift, method=method, alternative=side) for side in ("greater", "less")]
    expected = [sides[0].differences[0].pvalue, sides[1].differences[1].pvalue]
    assert claim.pvalues == pytest.approx(expected, abs=2e-3)
    assert claim.pvalue == max(claim.pvalues)
    assert claim.significant == all(p <= 0.05 for p in expected)
    # A loss under one metric is enough to show nothing.
    assert shift > 0 or claim.pvalue > 0.99
    assert claims.joint("new", metrics=["COST"]).significant
    other = claims.joint("old", "new")
    assert other.pvalues == pytest.approx([1 - p for p in claim.pvalues], abs=1e-6)
    assert str(other).startswith(
        "No evidence that old is better than new under each of first, cost"
    )


def test_it_is_said_in_every_form():
    claim = two_metrics().joint("new", "old")
    said = "new is better than old under each of first, cost at level 0.05: one-sided p"
    assert str(claim).startswith(said)
    assert claim.to_dict()["significant"]
    header, *rows = claim.to_csv().splitlines()
    assert header == '"system","baseline","metric","pvalue"'
    assert [float(row.rpartition(",")[2]) for row in rows] == list(claim.pvalues)


@pytest.mark.parametrize("arguments, message", [
    (("nobody", "old"), "system must be one of old, new; got 'nobody'"),
    (("new", "old", ["chrf"]), "metric must be one of first, cost; got 'chrf'"),
    (("new", "old", []), "metrics and task must not be empty"),
    (("new", "old", "cost"), "metrics must be a list of names, got the string"),
])  # fmt: skip
def test_bad_input(arguments, message):
    refuses(message, two_metrics().joint, *arguments)
    with pytest.raises(
        es.InputError, match="compare with alternative='two-sided' instead of 'greater'"
    ):
        two_metrics(alternative="greater").joint("new", "old")


@pytest.mark.parametrize("method", ["bootstrap", "t"])
def test_the_worse_system_and_identical_ones_have_the_p_value_of_their_side(method):
    rng = np.random.default_rng(3)
    old = rng.normal(size=60)
    scores = {"old": old, "new": old - 0.1 + rng.normal(size=60), "copy": old.copy()}
    options = {"metrics": es.Mean("x"), "baseline": "old", "method": method, "n_resamples": 1999}
    both = es.compare(scores, **options)
    greater = es.compare(scores, alternative="greater", **options)
    assert both.joint("new").pvalue > 0.5
    # A few resamples of 1,999.
    assert both.joint("new").pvalue == pytest.approx(greater["new"].pvalue, abs=2e-3)
    assert both.joint("copy").pvalue == greater["copy"].pvalue == 1
