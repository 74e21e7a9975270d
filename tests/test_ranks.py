"""Ranks, letters, clusters and composites against their definitions and published numbers."""

import csv
import re
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalstats.inference import ranks as r

from .conftest import WMT


@st.composite
def verdicts(draw, most=7):
    """Verdicts that no two systems contradict: i better than j or j than i or neither."""
    n = draw(st.integers(1, most))
    signs = draw(st.lists(st.sampled_from([-1, 0, 1]), min_size=n * n, max_size=n * n))
    upper = np.triu(np.array(signs).reshape(n, n), 1)
    return (upper == 1) | (upper == -1).T


def letters_of(tier):
    return set(re.findall(r"[a-z]\d*", tier))


@given(verdicts())
def test_two_systems_share_a_letter_exactly_where_neither_is_better(better):
    shown = [letters_of(x) for x in r.letters(better, np.arange(len(better)))]
    for i, a in enumerate(shown):
        assert a
        for j, b in enumerate(shown):
            assert i == j or bool(a & b) == (not better[i, j] and not better[j, i])


@given(verdicts())
def test_no_letter_can_be_left_out(better):
    shown = [letters_of(x) for x in r.letters(better, np.arange(len(better)))]
    holders = {x: {i for i, word in enumerate(shown) if x in word} for x in set().union(*shown)}
    for x, held in holders.items():
        assert not any(held <= other for y, other in holders.items() if y != x)


def test_letters_go_on_after_z():
    n = 40
    order = np.arange(n)
    better = order[:, None] < order
    shown = r.letters(better, order)
    assert (shown[0], shown[25], shown[26]) == ("a", "z", "a1")
    assert len(set(shown)) == n


@given(verdicts())
def test_rank_intervals_hold_the_true_ranks_of_every_order_that_the_verdicts_allow(better):
    intervals = r.rank_intervals(better)
    n = len(better)
    assert np.all(intervals[:, 0] == [1 + sum(better[:, i]) for i in range(n)])
    assert np.all(intervals[:, 1] == [n - sum(better[i]) for i in range(n)])


@given(verdicts())
def test_clusters_part_where_all_before_are_better_than_all_after(better):
    n = len(better)
    found = r.clusters(better, np.arange(n))
    ends = [all(better[i, j] for i in range(k) for j in range(k, n)) for k in range(1, n)]
    assert np.diff(found).tolist() == [int(end) for end in ends]


def test_the_probability_to_be_first_is_shared_by_ties():
    replicates = np.array([[1.0, 2.0, 2.0], [3.0, 1.0, 0.0]])
    assert r.probability_first(replicates).tolist() == [0.5, 0.25, 0.25]
    assert r.probability_first(replicates, False).tolist() == [0.5, 0.0, 0.5]


def test_borda_is_the_mean_rank():
    scores = np.array([[30.0, 5.0], [40.0, 7.0], [20.0, 5.0]])
    found = r.borda(scores, np.array([True, False]))
    assert found.tolist() == [(2 + 1.5) / 2, (1 + 3) / 2, (3 + 1.5) / 2]


def test_autorank_of_wmt25_is_the_organisers():
    """All 37 systems of en-ar_EG to the 0.05 that the organisers' rounding allows."""
    folder = WMT / "wmt25" / "en-ar_EG"
    if not folder.is_dir():
        pytest.skip("needs ../shared/data")
    sums = defaultdict(list)
    with open(folder / "scores.tsv", encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        metrics = rows.fieldnames[4:]
        for row in rows:
            sums[row["system"]].append([float(row[m] or "nan") for m in metrics])
    names = sorted(sums)
    means = np.array([np.nanmean(sums[name], axis=0) for name in names])
    found = dict(zip(names, r.autorank(means, np.ones(len(metrics), bool)), strict=True))
    with open(folder / "published-autorank.tsv", encoding="utf-8", newline="") as file:
        published = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    assert len(published) == len(names) == 37
    for row in published:
        (name,) = [n for n in names if _plain(row["system"]) == n]
        assert found[name] == pytest.approx(float(row["AutoRank"]), abs=0.05)


def _plain(name):
    names = {"Shy-hunyuan-MT": "Shy", "CommandA-WMT": "CommandA-MT"}
    return names.get(name, name.removesuffix("[M]").removesuffix("-pre."))


def test_autorank_of_equal_systems_is_1():
    assert r.autorank(np.ones((4, 2)), np.array([True, True])).tolist() == [1, 1, 1, 1]
