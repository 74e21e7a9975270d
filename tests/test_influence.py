"""Which segments drive a difference: what happens without those that are named."""

import json

import numpy as np
import pytest

import evalstats as es

MEAN = es.Mean("judge")


def without(systems, ids, *others):
    """Leave out the segments with these numbers."""
    kept = [i for i in range(len(next(iter(systems.values())))) if str(i) not in set(ids)]
    return {name: [rows[i] for i in kept] for name, rows in systems.items()}, *(
        [rows[i] for i in kept] for rows in others
    )


def verdict(systems, references=None, metric=MEAN, **options):
    """Return the difference, and whether its interval, which is the test, excludes 0."""
    # Of 0/1 scores McNemar's test.
    (d,) = es.compare(systems, references, metric, n_resamples=99, **options)
    excluded = d.low > 0 or d.high < 0
    return d, d.pvalue <= 0.05 if d.gained is not None else excluded


@pytest.mark.parametrize(
    "metric, system",
    [
        ("bleu", "clearly-better"),
        ("bleu", "slightly-better"),
        ("chrf", "slightly-better"),
        pytest.param("ter", "clearly-better", marks=pytest.mark.thorough),
    ],
)
def test_the_segments_that_are_named_do_what_is_said(sample, metric, system):
    pair = {name: sample.systems[name] for name in ("baseline", system)}
    result = es.compare(pair, sample.references, metric, n_resamples=99)
    (d,) = result
    found = result.influence(d.metric, system, "baseline")
    for n_fewer, opposite in ((0, True), (1, False)):
        ids = found.sign_without[: len(found.sign_without) - n_fewer]
        rest, references = without(pair, ids, sample.references)
        again, _ = verdict(rest, references, metric)
        assert (np.sign(again.difference) == -np.sign(d.difference)) == opposite
    was = verdict(pair, sample.references, metric)[1]
    assert was == (found.pvalue <= 0.05)
    for n_fewer, changed in ((0, True), (1, False)):
        ids = found.verdict_without[: len(found.verdict_without) - n_fewer]
        rest, references = without(pair, ids, sample.references)
        again, now = verdict(rest, references, metric)
        assert (now != was) == changed
        assert np.sign(again.difference) == np.sign(d.difference)


def test_the_figure_has_a_bar_for_each_of_the_ten_segments_of_the_table():
    pytest.importorskip("matplotlib").use("Agg")
    rng = np.random.default_rng(5)
    pair = {name: rng.normal(size=40) for name in "AB"}
    found = es.compare(pair, metrics=MEAN, n_resamples=99).influence("judge", "B", "A")
    axes = found.plot()
    assert [x.get_text() for x in axes.get_yticklabels()] == list(found.ids[:10])
    assert [bar.get_width() for bar in axes.patches] == list(found.values[:10])
    assert axes.get_title(loc="right") == "judge ↑, B − A"
    few = es.compare({"A": [1.0, 2, 3], "B": [2.0, 1, 4]}, metrics=MEAN, n_resamples=9)
    assert len(few.influence("judge", "B", "A").plot().patches) == 3


def test_groups(sample):
    pair = {name: sample.systems[name] for name in ("baseline", "clearly-better")}
    # Labels may come one by one.
    result = es.compare(
        pair, sample.references, "chrf", groups=iter(sample.documents), n_resamples=99
    )
    found = result.influence("chrF2", "clearly-better", "baseline")
    assert sorted(found.ids) == sorted(set(sample.documents))
    assert found.unit == "group"
    assert found.texts == ()
    gone = [str(i) for i, label in enumerate(sample.documents) if label in found.sign_without]
    rest, references, groups = without(pair, gone, sample.references, sample.documents)
    again, _ = verdict(rest, references, "chrf", groups=groups)
    assert again.difference < 0 < found.difference


def test_gained_and_lost_segments():
    # 14 gained, 3 lost: p = 2 P(X <= 3 of 17) = 0.0127; with 12 gained 0.0352, with 11 0.0574.
    old = np.repeat([0.0, 1, 1], [14, 3, 43])
    new = np.repeat([1.0, 0, 1], [14, 3, 43])
    result = es.compare({"old": old, "new": new}, metrics=MEAN)
    found = result.influence("judge", "new", "old")
    assert found.pvalue == result.differences[0].pvalue
    assert len(found.verdict_without) == 3
    assert len(found.sign_without) == 12
    assert set(found.sign_without) <= set(map(str, range(14)))
    result = es.compare({"old": new, "new": old}, metrics=es.Mean("e", higher_is_better=False))
    found = result.influence("e", "new", "old")
    assert (len(found.verdict_without), len(found.sign_without)) == (3, 12)
    # One more than three gained is not significant; without lost ones it becomes so at six to none.
    old, new = np.repeat([0.0, 1, 1], [6, 2, 30]), np.repeat([1.0, 0, 1], [6, 2, 30])
    found = es.compare({"old": old, "new": new}, metrics=MEAN).influence("judge", "new", "old")
    assert sorted(found.verdict_without) == ["6", "7"]
    assert found.pvalue_without == 2 / 2**6


def test_what_no_removal_changes():
    scores = {"A": np.arange(20.0), "B": np.arange(20.0) + 1 + np.arange(20) % 2}
    found = es.compare(scores, metrics=MEAN, n_resamples=99).influence("judge", "B", "A")
    assert found.sign_without is None
    assert "No number of segments that speak for B decides who is better." in str(found)
    same = es.compare({"A": [1.0, 2, 3], "B": [1.0, 2, 3]}, metrics=MEAN)
    found = same.influence("judge", "B", "A")
    assert (found.sign_without, found.verdict_without, found.pvalue) == (None, None, 1.0)
    assert "The scores are equal" in str(found)
    two = es.compare({"A": [1.0, 2], "B": [3.0, 5]}, metrics=MEAN).influence("judge", "B", "A")
    assert two.sign_without is None


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


def test_ids_and_texts_in_every_form(sample):
    pair = {name: sample.systems[name] for name in ("baseline", "clearly-better")}
    result = es.compare(pair, sample.references, "bleu", n_resamples=99)
    found = result.influence("bleu", "clearly-better", "baseline")
    first = int(found.ids[0])
    assert found.texts[0] == tuple(pair[name][first] for name in ("baseline", "clearly-better"))
    assert len(found.texts) == 10
    line = next(line for line in str(found).split("\n") if line.startswith(f"{first} "))
    assert pair["baseline"][first][:40] in line
    assert len(str(found).split("\n")[4]) < 160
    assert "Broderick" in found.to_markdown()
    assert "<table>" in found.to_html()
    assert r"\begin{tabular}" in found.to_latex()
    read = json.loads(found.to_json())
    assert read["ids"] == list(found.ids)
    assert read["sign_without"] == list(found.sign_without)
    rows = found.to_csv().splitlines()
    assert rows[0] == '"segment","influence"'
    assert len(rows) == 481
    # Statistics have names of their own, and no texts.
    names = [f"s{i}" for i in range(480)]
    table = es.extract(pair, sample.references, "bleu", segment_ids=names)
    named = es.compare(table, n_resamples=99).influence("BLEU", "clearly-better", "baseline")
    assert named.ids == tuple(f"s{i}" for i in found.ids)
    assert named.texts == ()


def test_a_result_without_statistics_says_so():
    result = es.compare({"A": [1.0, 2, 4], "B": [1.5, 2, 3]}, metrics=MEAN, n_resamples=99)
    with pytest.raises(es.InputError, match="holds no statistics of segments"):
        es.Comparison.from_json(result.to_json()).influence("judge", "B", "A")
    with pytest.raises(es.InputError, match="with the opposite sign"):
        result.influence("judge", "A", "B")


def test_runs_lose_segments_of_all():
    rng = np.random.default_rng(4)
    scores = {name: rng.normal(size=(3, 40)) + i for i, name in enumerate("AB")}
    found = es.compare(scores, metrics=MEAN, n_resamples=99).influence("judge", "B", "A")
    rest = {
        name: np.delete(s, [int(i) for i in found.sign_without], 1) for name, s in scores.items()
    }
    assert es.compare(rest, metrics=MEAN, n_resamples=99).differences[0].difference < 0


@pytest.mark.parametrize("aggregate", ["micro", "macro", {"easy": 3, "hard": 1, "odd": 2}])
@pytest.mark.parametrize("metric", ["bleu", "chrf"])
def test_segments_within_strata_do_what_is_said(sample, aggregate, metric):
    pair = {name: sample.systems[name] for name in ("baseline", "clearly-better")}
    strata = ["easy", "hard", "hard", "hard"] * 119 + ["odd"] * 4
    settings = {"aggregate": aggregate}
    result = es.compare(pair, sample.references, metric, strata=strata, n_resamples=99, **settings)
    (d,) = result
    found = result.influence(d.metric, "clearly-better", "baseline")
    assert found.n_strata == 3
    assert "Two segments of each of 3 strata stay." in str(found)
    was = verdict(pair, sample.references, metric, strata=strata, **settings)[1]
    assert was == (found.pvalue <= 0.05)
    for without_ids, is_sign in ((found.sign_without, True), (found.verdict_without, False)):
        for n_fewer, does in ((0, True), (1, False)):
            ids = without_ids[: len(without_ids) - n_fewer]
            rest, references, labels = without(pair, ids, sample.references, strata)
            again, now = verdict(rest, references, metric, strata=labels, **settings)
            changed = again.difference < 0 if is_sign else now != was
            assert changed == does
            assert again.metric == d.metric


def test_each_stratum_keeps_two():
    # The whole difference is in one stratum, of which two have to stay.
    scores = {"A": np.arange(20.0), "B": np.arange(20.0) + np.repeat([5.0, -0.1], [4, 16])}
    strata = np.repeat(["few", "many"], [4, 16])
    result = es.compare(scores, metrics=MEAN, strata=strata, aggregate="macro", n_resamples=99)
    found = result.influence("macro judge", "B", "A")
    assert found.sign_without is None
    freely = es.compare(scores, metrics=MEAN, n_resamples=99).influence("judge", "B", "A")
    assert set(freely.sign_without) == {"0", "1", "2", "3"}


def test_groups_within_strata(sample):
    pair = {name: sample.systems[name] for name in ("baseline", "clearly-better")}
    # Each document lies in one stratum, that of its first segment.
    first = dict(zip(reversed(sample.documents), reversed(sample.domains), strict=True))
    given = sample.documents, [first[label] for label in sample.documents]
    settings = {"aggregate": "macro", "n_resamples": 99}
    result = es.compare(
        pair, sample.references, "chrf", groups=given[0], strata=given[1], **settings
    )
    (d,) = result
    found = result.influence(d.metric, "clearly-better", "baseline")
    assert found.unit == "group"
    for n_fewer, opposite in ((0, True), (1, False)):
        ids = found.sign_without[: len(found.sign_without) - n_fewer]
        gone = [str(i) for i, label in enumerate(sample.documents) if label in ids]
        rest, references, groups, strata = without(pair, gone, sample.references, *given)
        again = es.compare(rest, references, "chrf", groups=groups, strata=strata, **settings)
        assert (again.differences[0].difference < 0) == opposite
