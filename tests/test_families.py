"""Many systems at once, on real test sets: what is found, and how often falsely."""

import numpy as np
import pytest

import evalstats as es
from benchmarks import families
from tests.conftest import WMT


def rejections(table, n_resamples, adjustment):
    result = es.compare(table, n_resamples=n_resamples, adjustment=adjustment)
    assert all(d.pvalue_adjusted >= d.pvalue for d in result)
    return sum(result.significant(d) for d in result)


@pytest.mark.thorough
@pytest.mark.parametrize("pair", ["en_de", "en_zh"])
@pytest.mark.parametrize("metric", ["bleu", "chrf"])
def test_never_fewer_rejections_than_holm(pair, metric, request):
    test_set = request.getfixturevalue(pair)
    if (pair, metric) == ("en_zh", "bleu"):
        metric = es.BLEU(trg_lang="zh")
    table = es.extract(test_set.systems, test_set.prepared("A"), metric)
    for n_resamples in (999, 9999):
        found = [rejections(table, n_resamples, a) for a in ("max-t", "holm", "bonferroni")]
        assert found[0] >= found[1] >= found[2]
        assert found[0] > 0


def wmt25(metric, *options):
    if not families.WMT25.exists():
        pytest.skip(f"needs the WMT data sets in {WMT}")
    return families.wmt25(metric, *options)


@pytest.mark.thorough
@pytest.mark.parametrize("metric", families.WMT25_METRICS)
def test_a_leaderboard_of_37_systems_gets_its_verdicts(metric):
    table, documents = wmt25(metric)
    result = es.compare(table)
    assert len(result) == 666
    clear = [d for d in result if d.pvalue < 0.01]
    assert len(clear) > 300
    assert sum(result.significant(d) for d in clear) >= 0.8 * len(clear)
    assert len(result.notes) < 8
    # Holm cannot call a single pair.
    assert rejections(table, 9999, "holm") == 0
    grouped = es.compare(table, n_resamples=499, groups=documents)
    found = sum(grouped.significant(d) for d in grouped)
    assert 100 < found < sum(result.significant(d) for d in result)


def test_documents_of_a_leaderboard():
    table, documents = wmt25("XCOMET-XL", 8)
    by_segment, by_document = (
        es.compare(table, n_resamples=999, groups=groups) for groups in (None, documents)
    )
    found = [sum(r.significant(d) for d in r) for r in (by_segment, by_document)]
    assert found[0] > found[1] > 0
    assert by_document.signatures[0].count("unit:group") == 1


@pytest.mark.thorough
@pytest.mark.parametrize(
    "cell",
    [
        families.Cell("wmt22", "ter", "equal", 100, 3, n_resamples=199),
        families.Cell("wmt25", "XCOMET-XL", "exchangeable", 60, n_systems=12, n_resamples=199),
        families.Cell("wmt25", "XCOMET-XL", "equal", 30, 3, True, n_systems=9, n_resamples=199),
    ],
    ids=str,
)
def test_family_wise_error_and_simultaneous_coverage_of_real_systems(cell):
    """Seed 1: a true rate of .05 gives more than 18 of 150 with probability 2e-4."""
    if not families.WMT25.exists():
        pytest.skip(f"needs the WMT data sets in {WMT}")
    found = families.measure(cell, trials=150)
    assert found.error <= 18 / 150
    assert found.coverage >= 132 / 150


def test_simultaneous_intervals_of_outcomes_agree_with_verdicts():
    rng = np.random.default_rng(3)
    excluded = 0
    for n in (20, 60) * 10:
        outcomes = (rng.random((4, n)) < np.linspace(0.4, 0.75, 4)[:, None]).astype(float)
        systems = dict(zip("ABCD", outcomes, strict=True))
        for d in es.compare(
            systems, metrics=es.Mean("m"), n_resamples=999, intervals="simultaneous"
        ):
            assert d.method == "tango"
            if d.low > 0 or d.high < 0:
                excluded += 1
                assert d.pvalue_adjusted <= max(0.05, d.pvalue)
    assert excluded > 10


def test_two_long_documents_alone_show_nothing_of_several_systems():
    """That two documents agree has a probability of 1/2, whatever they say, of each system."""
    sizes = np.repeat([40, 1], [2, 60])
    groups = np.repeat(np.arange(62), sizes)
    scores = 0.3 * np.random.default_rng(0).normal(size=(3, len(groups)))
    scores[1] += groups < 2
    systems = dict(zip("ABC", scores, strict=True))
    result = es.compare(systems, metrics=es.Mean("m"), groups=groups, n_resamples=999)
    # Intervals by t take the variance of two documents for known.
    assert any(d.low > 0 or d.high < 0 for d in result)
    assert min(d.pvalue for d in result) > 0.1
    assert min(d.pvalue_adjusted for d in result) > 0.3


def test_intervals_of_unlike_groups_agree_with_verdicts():
    rng = np.random.default_rng(5)
    sizes = rng.integers(1, 12, size=50)
    groups = np.repeat(np.arange(50), sizes)
    effects = rng.normal(size=(5, 50))[:, groups] + rng.normal(size=(5, len(groups)))
    systems = {name: x + 0.6 * i for i, (name, x) in enumerate(zip("ABCDE", effects, strict=True))}
    result = es.compare(
        systems, metrics=es.Mean("m"), groups=groups, n_resamples=999, intervals="simultaneous"
    )
    verdicts = [result.significant(d) for d in result]
    assert any(verdicts)
    assert not all(verdicts)
    for d, is_significant in zip(result, verdicts, strict=True):
        # Step-down finds more than intervals, which are those of a single step.
        assert is_significant or d.low <= 0 <= d.high


def test_tilting_makes_unlike_systems_equal():
    rng = np.random.default_rng(7)
    metric = es.Mean("score")
    table = es.SegmentStatistics(
        np.stack([metric.statistics(rng.gamma(2 + 0.1 * i, size=300)) for i in range(4)]),
        ["a", "b", "c", "d"],
        metric,
    )
    chances = families.tilted(table, np.array([0, 0, 1, 1]))
    means = table.values[..., 0] @ chances
    assert means[0] == pytest.approx(means[1], rel=1e-8)
    assert means[2] == pytest.approx(means[3], rel=1e-8)
    assert abs(means[0] - means[2]) > 0.05
    assert np.sum(chances) == pytest.approx(1)
