"""The composer: what estimate, compare and extract accept, promise and refuse."""

import numpy as np
import pytest

import evalstats as es
from tests import naive
from tests.helpers import bad_cases, cases

MEAN = es.Mean("score")


@pytest.fixture(scope="module")
def statistics(sample):
    return [es.extract(sample.systems, sample.references, metric) for metric in ("bleu", "chrf")]


def test_statistics_in_place_of_texts_give_the_same(sample, statistics):
    from_texts = es.compare(sample.systems, sample.references, ["bleu", "chrf"], n_resamples=99)
    assert from_texts.to_dict() == es.compare(statistics, n_resamples=99).to_dict()
    alone = es.estimate(sample.systems["copy"], sample.references, "bleu", n_resamples=99)
    several = es.estimate(statistics, n_resamples=99)
    assert np.array_equal(several[1].replicates, alone.replicates)
    assert (several[1].system, several[1].metric) == ("copy", "BLEU")
    assert len(several) == 8


def test_replicates_are_sacrebleus_score_of_each_resample(sample):
    """The whole path against the obvious one: choose the segments, call sacreBLEU."""
    texts, references = sample.systems["baseline"][:30], sample.references[:30]
    result = es.estimate(texts, references, "bleu", n_resamples=20, rng=3)
    twin = naive.sacrebleu_twin(es.BLEU())
    drawn = es.bootstrap_weights(30, 20, rng=3)
    for weights, replicate in zip(drawn, result.replicates, strict=True):
        chosen = np.repeat(np.arange(30), weights)
        streams = naive.streams([references[i] for i in chosen])
        score = twin.corpus_score([texts[i] for i in chosen], streams).score
        assert replicate == pytest.approx(score, abs=1e-9)


def test_all_pairs_and_a_baseline_agree(statistics):
    pairs = es.compare(statistics, n_resamples=500)
    base = es.compare(statistics, baseline="copy", n_resamples=500)
    assert len(pairs) == 2 * 6
    assert len(base) == 2 * 3
    assert [(d.baseline, d.system) for d in base][:3] == [
        ("copy", "baseline"), ("copy", "slightly-better"), ("copy", "clearly-better")
    ]  # fmt: skip
    by_pair = {(d.metric, d.baseline, d.system): d for d in pairs}
    for difference in list(base)[1:3]:
        same = by_pair[difference.metric, "copy", difference.system]
        assert same.pvalue == difference.pvalue
        assert (same.low, same.high) == (difference.low, difference.high)
        assert difference.pvalue <= difference.pvalue_adjusted <= same.pvalue_adjusted
        assert difference.low <= difference.difference <= difference.high


DOCUMENTS, DOMAINS = [i // 5 for i in range(60)], [i // 5 % 3 for i in range(60)]


@cases(
    ({}, {"method": "t", "adjustment": "holm"}),
    ({"groups": DOCUMENTS}, {"adjustment": "benjamini-hochberg"}),
    ({"groups": DOCUMENTS, "strata": DOMAINS}, {}),
    ({"strata": DOMAINS, "aggregate": "macro"}, {"method": "t"}),
    ({"groups": DOCUMENTS}, {}),
    ({"strata": DOMAINS, "aggregate": "macro"}, {}),
)
def test_the_order_of_systems_changes_no_bit_but_signs(units, options):
    rng = np.random.default_rng(3)
    marks = {name: rng.random(60) < p for name, p in zip("ABC", (0.5, 0.6, 0.7), strict=True)}
    means = {name: rng.normal(i / 9, 1, 60) for i, name in enumerate("ABC")}
    for systems in (marks, means):
        given = {**systems, "D": systems["C"]}
        found = []
        for names in ("ABCD", "CADB"):
            some = {name: given[name] for name in names}
            result = es.compare(some, None, MEAN, n_resamples=99, **units, **options)
            found.append(directed(result))
        assert found[0] == found[1]


def directed(result):
    """Return what a comparison says of each two systems, the first by name less the second."""
    found = {}
    for d in result:
        shown = (d.difference, d.low, d.high)
        if d.baseline < d.system:
            shown = (-d.difference, -d.high, -d.low)
        tested = d.pvalue, d.pvalue_adjusted, d.standard_error, d.n_differing
        found[frozenset((d.baseline, d.system))] = shown + tested
    ranked = [] if result.adjustment == "benjamini-hochberg" else result.ranking()
    ranks = ("rank", "low", "high", "simultaneous_low", "simultaneous_high", "cluster")
    return found, {s.system: [getattr(s, name) for name in ranks] for s in ranked}


def test_groups_are_resampled_whole(sample, statistics):
    options = {"groups": sample.documents, "n_resamples": 500}
    by_document = es.compare(statistics, baseline="baseline", **options)
    names = list(dict.fromkeys(sample.documents))
    assert "unit:group" in by_document.signatures[0]
    # The same as giving each document's sums by hand.
    places = [np.flatnonzero(np.array(sample.documents) == name) for name in names]
    summed = np.stack([statistics[0].values[:, p].sum(axis=1) for p in places], axis=1)
    table = es.SegmentStatistics(summed, statistics[0].systems, "bleu")
    for a, b in zip(by_document.estimates, es.estimate(table, n_resamples=500), strict=False):
        assert (a.n_segments, a.unit) == (len(names), "group")
        np.testing.assert_array_equal(a.replicates, b.replicates)


def test_options_may_be_written_with_capitals_and_blanks():
    scores = {name: np.random.default_rng(i).normal(size=30) for i, name in enumerate("ABC")}
    found = es.compare(
        scores, metrics=MEAN, n_resamples=20,
        method="T", alternative="Two sided", adjustment="Benjamini_Hochberg",
    )  # fmt: skip
    assert (found.method, found.test) == ("t", "t")
    assert (found.alternative, found.adjustment) == ("two-sided", "benjamini-hochberg")


def test_the_seed_in_the_signature_makes_the_result_again(statistics):
    result = es.compare(statistics[0], rng=None, n_resamples=99)
    again = es.compare(statistics[0], rng=result.seed, n_resamples=99)
    assert f"seed:{result.seed}|" in result.signatures[0]
    assert result.to_dict() == again.to_dict()
    assert es.compare(statistics[0], rng=0, n_resamples=99).seed == 0


def test_two_settings_of_one_metric_are_told_apart(sample):
    result = es.estimate(
        sample.systems["baseline"][:50], sample.references[:50],
        [es.BLEU(), es.BLEU(tokenize="char")], n_resamples=20,
    )  # fmt: skip
    assert len({e.metric for e in result}) == 2
    assert "tok:char" in result[1].metric


def test_generators_are_read_once_for_all_metrics():
    texts = ["a cat sat on a mat", "the dog"]
    result = es.estimate((t for t in texts), texts, ["bleu", "chrf"], n_resamples=10)
    assert [e.score for e in result] == [100, 100]


A = ["a b c d", "e f g h"]
PAIR = {"A": A, "B": A}


@bad_cases(
    (([A, A], A), {}, "hypotheses must be a dict from system names to outputs"),
    (({"A": A}, A), {}, "compare requires at least 2 systems, got 1"),
    (({"A": A, "B": A[:1]}, A), {}, "same number of segments: 'A' has 2, 'B' has"),
    (({"A": A, "B": ["x", None]}, A), {}, r"system 'B': hypotheses\[1\] must be"),
    (({"A": A, "B": "xy"}, A), {}, "hypotheses of system 'B' must be a list of"),
    (({"A": [], "B": []}, []), {}, "system 'A': hypotheses is empty"),
    ((PAIR, A, "rouge"), {}, r"metric must be one of .*'rouge'.*=evalstats.Mean\('rouge'\)"),
    ((PAIR, A, []), {}, "metrics is empty"),
    (
        (PAIR, A, ["bleu", "bleu"]),
        {},
        "metrics must have different names, but these are BLEU, BLEU",
    ),
    ((PAIR, A), {"baseline": "C"}, "baseline must be one of A, B; got"),
    ((PAIR, A), {"method": "hall"}, "method must be one of bootstrap, t; got 'hall'"),
    ((PAIR, A), {"adjustment": "bonferroni"}, "one of max-t, holm, benjamini-hochberg, none"),
    ((PAIR, A), {"alternative": "x"}, "alternative must be one of two-"),
    (({"": A, "B": A}, A), {}, "system names must be non-empty text, got ''"),
    ((PAIR, A), {"confidence_level": 95}, "must be between 0 and 1, got 95"),
    (
        (PAIR, A),
        {"groups": ["x"]},
        "groups has 1 label for 2 segments; pass one label per segment",
    ),
    ((PAIR, A), {"groups": ["x", "x"]}, "at least 2 groups are required"),
    ((PAIR, A), {"groups": "ab"}, "groups must be a list of labels, one per segment"),
)
def test_bad_input(arguments, options):
    es.compare(*arguments, **options)


@bad_cases(
    ((A, A), {"method": "normal"}, "method must be one of bootstrap, t; got"),
    ((A[:1], A[:1]), {}, "at least 2 segments are required"),
    (("ab", A), {}, "hypotheses of system 'system' must be a list of segments"),
    (([1.0, float("nan")], None, MEAN), {}, r"scores\[1\] is nan"),
)
def test_bad_input_of_estimates(arguments, options):
    es.estimate(*arguments, **options)


ONES = np.ones((2, 3, 2))
TER, OTHER = es.SegmentStatistics(ONES, ["A", "B"], "ter"), es.Mean("x")


@bad_cases(
    ((ONES[0], ["A", "B"], "ter"), r"\(S, N, k\) = \(2, N, 2\)"),
    ((ONES, ["A"], "ter"), r"\(1, N, 2\) for 1 system and TER, got"),
    ((ONES, ["A", "B"], "bleu"), r"\(2, N, 10\) for 2 systems and"),
    ((ONES, ["A", "A"], "ter"), "must be unique, but .A. occurs more than"),
    ((ONES * np.nan, ["A", "B"], "ter"), r"values\[0, 0, 0\] is nan"),
    ((ONES[:, :0], ["A", "B"], "ter"), "values has no segments"),
    (([[[1, 2], [1]]], ["A"], "ter"), "values must be a single array of num"),
    (([["x"]], ["A"], "ter"), "values must be numbers, got"),
    ((ONES, "AB", "ter"), "systems must be a list of names, got a"),
)
def test_bad_statistics(arguments):
    es.SegmentStatistics(*arguments)


LEFT_OUT = "metrics must be left out .*SegmentStatistics, which already have TER"


@bad_cases(
    (TER, {"references": ["r"]}, "references must be left out"),
    *((TER, {"metrics": metrics}, LEFT_OUT) for metrics in ("chrf", "bleu", ["bleu"])),
    ([TER, es.SegmentStatistics(ONES, ["B", "A"], OTHER)], {},
     "must have the same systems in the same order, got .* for TER and .* for x"),
    ([TER, es.SegmentStatistics(ONES[:, 1:], ["A", "B"], OTHER)], {},
     "must have the same segments, got 3 for TER and 2 for x"),
)  # fmt: skip
def test_statistics_that_do_not_go_together(given, options):
    es.compare(given, **options)


def test_statistics_are_a_copy_that_cannot_be_written():
    values = ONES.copy()
    statistics = es.SegmentStatistics(values, ["A", "B"], "ter")
    values[:] = np.nan
    assert np.all(np.isfinite(statistics.values))
    with pytest.raises(ValueError, match="read-only"):
        statistics.values[0] = 1
    assert len(es.compare(statistics, metrics="ter", n_resamples=9)) == 1
