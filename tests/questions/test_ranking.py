"""Rankings: definitions, published numbers, what the verdicts say, and what cannot be ranked."""

import csv
import re
from collections import defaultdict
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import evalstats as es
from evalstats.analysis import pairs
from evalstats.analysis.design import Units
from evalstats.pictures.report import document
from evalstats.questions import ranking as r
from tests.conftest import WMT
from tests.helpers import cases, refuses
from tests.markup import Markup

MEAN = es.Mean("marks")
DA = WMT / "wmt22" / "cs-en" / "human-da.tsv"


@st.composite
def verdicts(draw, most=7):
    """Verdicts that no two systems contradict: i better than j or j than i or neither."""
    n = draw(st.integers(1, most))
    signs = draw(st.lists(st.sampled_from([-1, 0, 1]), min_size=n * n, max_size=n * n))
    upper = np.triu(np.array(signs).reshape(n, n), 1)
    return (upper == 1) | (upper == -1).T


def letters_of(tier):
    return set(re.findall(r"[a-z]\d*", tier))


@settings(max_examples=40)
@given(verdicts())
def test_two_systems_share_a_letter_exactly_where_neither_is_better(better):
    shown = [letters_of(x) for x in r.letters(better, np.arange(len(better)))]
    assert all(shown)
    for (i, a), (j, b) in combinations(enumerate(shown), 2):
        assert bool(a & b) == (not better[i, j] and not better[j, i])
    # And no letter can be left out.
    holders = {x: {i for i, word in enumerate(shown) if x in word} for x in set().union(*shown)}
    for x, held in holders.items():
        assert not any(held <= other for y, other in holders.items() if y != x)


def test_letters_go_on_after_z():
    order = np.arange(40)
    shown = r.letters(order[:, None] < order, order)
    assert (shown[0], shown[25], shown[26], len(set(shown))) == ("a", "z", "a1", 40)


@settings(max_examples=40)
@given(verdicts(most=5))
def test_rank_intervals_hold_the_ranks_of_every_order_that_the_verdicts_allow(better):
    """Of verdicts that do not go round in circles: all orders, one by one."""
    better = np.triu(better)
    n = len(better)
    orders, pairs = permutations(range(n)), list(combinations(range(n), 2))
    allowed = [o for o in orders if not any(better[o[b], o[a]] for a, b in pairs)]
    places = 1 + np.argsort(allowed, axis=1)
    found = r.rank_intervals(better)
    assert np.all(found[:, 0] <= places.min(axis=0))
    assert np.all(found[:, 1] >= places.max(axis=0))


@settings(max_examples=40)
@given(verdicts(most=5))
def test_clusters_part_where_all_before_are_better_than_all_after(better):
    n = len(better)
    found = r.significant_clusters(better, np.arange(n))
    ends = [all(better[i, j] for i in range(k) for j in range(k, n)) for k in range(1, n)]
    assert np.diff(found).tolist() == [int(end) for end in ends]


def wmt22(marks):
    """Clusters of names as WMT22's script of rank-sum tests counts wins, without evalstats."""
    means = {name: np.nanmean(x) for name, x in marks.items()}
    order, found = sorted(means, key=means.get, reverse=True), [[]]
    least = n = len(order)
    for i, a in enumerate(order, 1):
        lower = [marks[b][~np.isnan(marks[b])] for b in order if means[a] > means[b]]
        own = marks[a][~np.isnan(marks[a])]
        least = min(
            least, sum(stats.mannwhitneyu(own, b, alternative="greater")[1] < 0.05 for b in lower)
        )
        found[-1].append(a)
        found += [[]] if least == n - i else []
    return [cluster for cluster in found if cluster]


def wmt25(marks):
    """The same of WMT25's script of signed-rank tests, by ranges of ranks."""
    order = sorted(marks, key=lambda name: np.nanmean(marks[name]), reverse=True)

    def is_better(a, b):
        apart = [x for x in marks[a] - marks[b] if not np.isnan(x)]
        return stats.wilcoxon(apart, alternative="greater").pvalue < 0.05 / 2

    ranges = []
    for i, a in enumerate(order):
        start = end = i + 1
        for b in order[:i][::-1]:
            if is_better(b, a):
                break
            start -= 1
        for b in order[i + 1 :]:
            if is_better(a, b):
                break
            end += 1
        ranges.append((start, end))
    found = [[]]
    for i, a in enumerate(order, 1):
        found[-1].append(a)
        if all(end <= i for _, end in ranges[:i]) and all(low > i for low, _ in ranges[i:]):
            found.append([])
    return [cluster for cluster in found if cluster]


@pytest.mark.parametrize(("clusters", "script"), [("wmt", wmt22), ("wmt25", wmt25)])
@pytest.mark.parametrize("sign", [1, -1])
def test_clusters_of_wmt_are_those_of_its_scripts(clusters, script, sign):
    """Defect: "as in the tables of WMT", which rest on tests that are not adjusted."""
    numbers = set()
    for seed in range(8):
        rng = np.random.default_rng(seed)
        noise = rng.normal(0, 0.6, 80) + rng.normal(0, 1, (7, 80))
        marks = noise + rng.uniform(0, 2.5, (7, 1))
        marks[rng.random(marks.shape) < 0.1] = np.nan
        values = np.stack([sign * np.nan_to_num(marks), ~np.isnan(marks)], axis=-1)
        table = es.SegmentStatistics(values, [f"s{i}" for i in range(7)], es.Mean("z", sign > 0))
        groups = None if sign > 0 else np.arange(80) // 2
        ranking = es.compare(table, groups=groups, n_resamples=99).ranking(clusters=clusters)
        found = defaultdict(list)
        for one in ranking:
            found[one.cluster].append(one.system)
        assert list(found.values()) == script(dict(zip(table.systems, marks, strict=True)))
        assert ranking.clusters == clusters
        assert "without adjustment for the 21 pairs" in ranking.notes[-1]
        numbers.add(len(found))
    assert len(numbers) > 2


@pytest.mark.thorough
@pytest.mark.skipif(not DA.exists(), reason=f"needs {DA}")
def test_clusters_of_wmt22_are_four():
    """They had been two; the script's wins are those that the organisers published."""
    columns = {"item": "segment", "z": "score"}
    options = {"columns": columns, "directions": {"z": "higher"}, "n_resamples": 99}
    marks = defaultdict(dict)
    for row in csv.DictReader(DA.read_text(encoding="utf-8").splitlines(), delimiter="\t"):
        marks[row["system"]][row["item"]] = float(row["z"])
    expected = wmt22({name: np.array(list(x.values())) for name, x in marks.items()})
    assert [len(cluster) for cluster in expected] == [1, 8, 1, 2]
    for more in ({"missing": "available"}, {"paired": False}):
        ranking = es.compare_logs(DA, **options, **more).ranking(clusters="wmt")
        assert [{x.system for x in ranking if x.cluster == i + 1} for i in range(4)] == [
            set(cluster) for cluster in expected
        ]


def test_clusters_of_wmt_need_scores_of_segments():
    texts = {
        name: ["a cat sat", "it is so", end] for name, end in zip("AB", ["x", "y"], strict=True)
    }
    result = es.compare(texts, texts["A"], "chrf", n_resamples=99)
    refuses(
        r"^leave clusters out: 'wmt' tests .*chrF2 is not a mean of", result.ranking, clusters="wmt"
    )


def test_the_probability_to_be_first_is_shared_by_ties():
    replicates = np.array([[1.0, 2.0, 2.0], [3.0, 1.0, 0.0]])
    assert r.probability_first(replicates).tolist() == [0.5, 0.25, 0.25]
    assert r.probability_first(replicates, False).tolist() == [0.5, 0.0, 0.5]


def test_ranks_are_scipys():
    marks = np.random.default_rng(1).integers(0, 5, size=(40, 3, 7)) / 3
    np.testing.assert_array_equal(r.ranks(marks, False), stats.rankdata(marks, axis=-1))
    np.testing.assert_array_equal(r.ranks(marks), stats.rankdata(-marks, axis=-1))


def _plain(name):
    names = {"Shy-hunyuan-MT": "Shy", "CommandA-WMT": "CommandA-MT"}
    return names.get(name, name.removesuffix("[M]").removesuffix("-pre."))


def leaderboard(seed=0, n=150, gaps=(0.0, 0.02, 0.5, 0.55, 1.5)):
    """Systems whose true marks fall by the gaps, on segments that are hard for all."""
    rng = np.random.default_rng(seed)
    hard = rng.normal(size=n)
    return {f"s{i}": 5 - gap + hard + rng.normal(scale=0.8, size=n) for i, gap in enumerate(gaps)}


def compare(values, **options):
    return es.compare(values, metrics=MEAN, **{"n_resamples": 999, **options})


def test_ranks_tiers_and_clusters_are_what_the_verdicts_leave():
    result = compare(leaderboard())
    ranking = result.ranking()
    sure = {frozenset((d.system, d.baseline)): d.winner for d in result if result.significant(d)}
    for a in ranking:
        won = [winner == a.system for pair, winner in sure.items() if a.system in pair]
        found = (a.simultaneous_low, a.simultaneous_high)
        assert found == (1 + won.count(False), len(ranking) - won.count(True))
        # A family of its own comparisons is smaller, and max-T of it finds no less.
        assert found[0] <= a.low <= a.high <= found[1]
        for b in ranking:
            shares = bool(letters_of(a.tier) & letters_of(b.tier))
            assert shares == (frozenset((a.system, b.system)) not in sure)
            assert a.cluster >= b.cluster or not shares
    assert [r.rank for r in ranking] == [1, 2, 3, 4, 5]
    assert ranking["s4"].low == 5
    first = next(iter(ranking)).system
    others = {r.system for r in ranking if r.system != first}
    assert set(ranking.tied) == {s for s in others if frozenset((first, s)) not in sure}
    assert sum(r.probability_first for r in ranking) == pytest.approx(1)
    with pytest.raises(es.InputError, match="system must be one of s"):
        ranking["x"]


def test_lower_is_better_turns_the_order_round():
    values, errors = leaderboard(), es.Mean("errors", higher_is_better=False)
    turned = {name: 10 - x for name, x in values.items()}
    up, down = es.compare(values, metrics=MEAN), es.compare(turned, metrics=errors)
    for a, b in zip(up.ranking(), down.ranking(), strict=True):
        assert (a.system, a.low, a.high, a.tier) == (b.system, b.low, b.high, b.tier)


@cases({"adjustment": "holm", "method": "t"}, {"groups": np.arange(60) // 2})
def test_systems_a_point_apart_have_their_own_ranks(options):
    """Defect: one of them had the ranks 1 to 5 of 5, with a RuntimeWarning."""
    noise = np.random.default_rng(1).normal(size=(5, 60)) / 5
    systems = {f"s{i}": x - i for i, x in enumerate(noise)}
    for place, x in enumerate(compare(systems, **options).ranking(), 1):
        assert {x.low, x.high, x.simultaneous_low, x.simultaneous_high, x.rank} == {place}
        assert (x.cluster, x.tier) == (place, "abcde"[place - 1])


@cases(
    ({"n": 50, "n_resamples": 99}, "There are only 50 segments. Below 100"),
    ({"seed": 7, "n": 110, "n_resamples": 199}, "s3 vs s2 (marks): p = 0.0"),
    ({"groups": np.arange(200) // 50}, "There are only 4 groups, so evalstats uses a t test"),
)
def test_a_ranking_says_what_keeps_its_systems_together(options, note):
    options = {"seed": 0, "n": 200, **options}
    values = leaderboard(options.pop("seed"), options.pop("n"))
    ranking = compare(values, **options).ranking()
    assert sum(note in found for found in ranking.notes) == 1
    assert note in str(ranking)


def test_without_resampled_scores_no_probability_is_made_up():
    ranking = compare(leaderboard(), method="t").ranking()
    assert {r.probability_first for r in ranking} == {None}
    assert " -\n" in ranking.to_text(verbose=True)


@cases(
    ({"baseline": "s0"}, {}, "a ranking requires all pairs; leave baseline out"),
    ({"alternative": "greater"}, {}, "two-sided"),
    ({"adjustment": "none"}, {}, "one of max-t, holm; got 'none'"),
    ({}, {"metric": "bleu"}, "metric must be one of marks; got 'bleu'"),
    ({}, {"clusters": "wmt22"}, "clusters must be one of simultaneous, wmt, wmt25; got"),
    ({"paired": False}, {"clusters": "wmt25"},
     "^clusters must be 'wmt', .* each system has its own$"),
)  # fmt: skip
def test_what_cannot_be_ranked(options, asked, message):
    result = compare(leaderboard(n=40), n_resamples=99, **options)
    refuses(message, result.ranking, **asked)


def test_more_than_eight_tiers_are_numbers_in_the_place_of_letters():
    """Twenty-five systems of noise and a trend share so many letters that nobody reads them."""
    rng = np.random.default_rng(7)
    base = rng.normal(size=150)
    scores = {f"s{i:02}": base + 0.06 * i + rng.normal(size=150) for i in range(25)}
    result = es.compare(scores, metrics=es.Mean("m"), n_resamples=199, adjustment="holm")
    ranking = result.ranking()
    assert len({x for one in ranking for x in letters_of(one.tier)}) > 8
    (table,) = ranking._tables()
    place = table.header.index("better than")
    for one, row in zip(ranking, table.rows, strict=True):
        wins = [d for d in result if result.significant(d) and d.winner == one.system]
        assert row[place] == f"{len(wins)} of 24"
    assert "tier" not in table.header
    assert "tier" in ranking.to_csv().splitlines()[0]
    assert max(map(len, ranking.to_text(findings=False).splitlines()[:20])) < 100
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    axes = ranking.plot()
    assert {row[place] for row in table.rows} <= {t.get_text() for t in axes.texts}
    assert axes.get_xticks().tolist() == [1, 5, 10, 15, 20, 25]
    assert table.rows[0][place] in Markup(document(ranking)).texts["td"]
    # Few tiers have letters.
    few = es.compare(dict(list(scores.items())[::12]), metrics=es.Mean("m")).ranking()
    assert "tier" in few._tables()[0].header


def test_a_table_says_which_are_worse_and_no_others():
    """The third of six, whose scores vary ten times as much, is worse than none; 5 is between."""
    rng = np.random.default_rng(0)
    base = rng.normal(size=200)
    scores = {f"s{i}": base + 0.1 * rng.normal(size=200) - 0.2 * i for i in range(6)}
    scores["s2"] = 10 * rng.normal(size=200)
    scores["s2"] += np.mean(scores["s1"]) - 0.05 - np.mean(scores["s2"])
    result = es.compare(scores, metrics=es.Mean("m"), n_resamples=199)
    table = result._tables()[0]
    column = [row[table.header.index("better than")] for row in table.rows]
    assert column == ["4 of 5", "3 of 5", "0 of 5", "2 of 5", "1 of 5", "0 of 5"]
    won = [d.winner for d in result if result.significant(d)]
    assert column == [f"{won.count(f's{i}')} of 5" for i in range(6)]
    few = es.compare({name: scores[name] for name in ("s0", "s1", "s2")}, metrics=es.Mean("m"))
    table = few._tables()[0]
    column = [row[table.header.index("better than")] for row in table.rows]
    won = [
        {d.system, d.baseline} - {d.winner} for d in few if d.winner == "s0" and few.significant(d)
    ]
    assert column[0] == ", ".join(*won)


def test_pairs_are_resampled_once_and_some_at_a_time(monkeypatch):
    """Those of a ranking in the comparison, of which all systems are families of their own."""
    rng, held, drawn = np.random.default_rng(5), [], pairs._totals
    systems = {f"s{i:02}": rng.normal(size=40) for i in range(30)}
    monkeypatch.setattr(pairs, "_totals", lambda *of: (held.append(len(of[-1])), drawn(*of))[-1])
    comparison = es.compare(systems, metrics=es.Mean("m"), n_resamples=99)
    spreads, spread = [], Units.spread
    monkeypatch.setattr(Units, "spread", lambda *of: (spreads.append(of), spread(*of))[-1])
    assert comparison.ranking().to_dict()
    assert len(spreads) <= 30  # those of the systems
    assert sum(held) == 30 + 30 * 29 // 2
    assert max(held) <= 30 + 256


def test_a_line_below_a_table_of_latex_does_not_touch_its_rule():
    latex = compare(leaderboard(n=40), n_resamples=99).ranking().to_latex()
    assert "\\par\\smallskip{\\footnotesize " in latex
