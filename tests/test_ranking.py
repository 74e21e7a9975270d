"""Rankings: they say what the verdicts say, cover true ranks, and refuse what cannot be ranked."""

import json
import re

import numpy as np
import pytest

import evalstats as es

MEAN = es.Mean("marks")


def leaderboard(seed=0, n=150, gaps=(0.0, 0.02, 0.5, 0.55, 1.5)):
    """Systems whose true marks fall by the gaps, on segments that are hard for all."""
    rng = np.random.default_rng(seed)
    hard = rng.normal(size=n)
    return {f"s{i}": 5 - gap + hard + rng.normal(scale=0.8, size=n) for i, gap in enumerate(gaps)}


def test_intervals_of_all_ranks_are_what_the_verdicts_leave():
    result = es.compare(leaderboard(), metrics=MEAN)
    ranking = result.ranking()
    for ranked in ranking:
        pairs = [d for d in result if ranked.system in (d.system, d.baseline)]
        sure = [d for d in pairs if result.significant(d)]
        ahead = sum(d.winner != ranked.system for d in sure)
        behind = sum(d.winner == ranked.system for d in sure)
        found = (ranked.simultaneous_low, ranked.simultaneous_high)
        assert found == (1 + ahead, len(ranking) - behind)
        # A family of its own comparisons is smaller, and max-T of it finds no less.
        assert found[0] <= ranked.low <= ranked.high <= found[1]
    assert [r.rank for r in ranking] == [1, 2, 3, 4, 5]
    assert ranking["s4"].low == 5


def test_tiers_clusters_and_ties_are_those_of_the_verdicts():
    result = es.compare(leaderboard(), metrics=MEAN)
    ranking = result.ranking()
    significant = {frozenset((d.system, d.baseline)) for d in result if result.significant(d)}
    for a in ranking:
        for b in ranking:
            shares = set(re.findall(r"[a-z]\d*", a.tier)) & set(re.findall(r"[a-z]\d*", b.tier))
            assert bool(shares) == (frozenset((a.system, b.system)) not in significant)
            if a.cluster < b.cluster:
                assert frozenset((a.system, b.system)) in significant
    first = next(iter(ranking)).system
    assert set(ranking.tied) == {r.system for r in ranking if r.system != first} - {
        name for pair in significant if first in pair for name in pair
    }
    assert sum(r.probability_first for r in ranking) == pytest.approx(1)


def test_lower_is_better_turns_the_order_round():
    values = leaderboard()
    errors = {name: 10 - x for name, x in values.items()}
    up = es.compare(values, metrics=MEAN).ranking()
    down = es.compare(errors, metrics=es.Mean("errors", higher_is_better=False)).ranking()
    assert [r.system for r in up] == [r.system for r in down]
    assert [(r.low, r.high, r.tier) for r in up] == [(r.low, r.high, r.tier) for r in down]


def coverage(n_trials, seed):
    """Return how often rank intervals hold the true rank of a system, and of all systems."""
    gaps = np.array([0.0, 0.0, 0.1, 0.2, 0.2, 0.4])
    # Of systems that tie any place among them is a true rank: the interval must reach them all.
    best = np.array([1 + np.sum(gaps < g) for g in gaps])
    worst = np.array([np.sum(gaps <= g) for g in gaps])
    one, every = 0, 0
    for trial in range(n_trials):
        rng = np.random.default_rng([seed, trial])
        hard = rng.normal(size=80)
        marks = hard - gaps[:, None] + rng.normal(scale=0.5 + gaps[:, None], size=(6, 80))
        systems = {str(i): x for i, x in enumerate(marks)}
        ranking = es.compare(systems, metrics=MEAN, n_resamples=199, rng=trial).ranking()
        held, held_at_once = [], []
        for i in range(6):
            r = ranking[str(i)]
            held.append(r.low <= best[i] and worst[i] <= r.high)
            held_at_once.append(r.simultaneous_low <= best[i] and worst[i] <= r.simultaneous_high)
        one += held[trial % 6]
        every += all(held_at_once)
    return one, every


@pytest.mark.thorough
def test_rank_intervals_cover():
    """400 trials, nominal .95: fewer than 362 hits have a probability below 1e-4 (binomial)."""
    one, every = coverage(400, 11)
    assert one >= 362
    assert every >= 362


def test_a_composite_is_ranked_by_its_own_replicates():
    values = leaderboard()
    other = {name: 2 * x + 1 for name, x in values.items()}
    tables = [
        es.SegmentStatistics(np.stack([m.statistics(x) for x in v.values()]), list(v), m)
        for v, m in ((values, MEAN), (other, es.Mean("doubled")))
    ]
    result = es.compare(tables)

    def total(scores):
        return scores.sum(axis=-1)

    single, both = result.ranking("marks"), result.ranking(composite=total)
    assert both.metric == "total"
    assert [r.system for r in both] == [r.system for r in single]
    # Both metrics say the same: so does their sum, but for bootstrap instead of flips.
    assert [(r.simultaneous_low, r.simultaneous_high) for r in both] == [
        (r.simultaneous_low, r.simultaneous_high) for r in single
    ]
    for name in ("autorank", "borda"):
        ranking = result.ranking(composite=name)
        assert not ranking.higher_is_better
        assert next(iter(ranking)).score == 1
    assert [r.score for r in result.ranking(composite="borda")] == [1, 2, 3, 4, 5]


def test_a_composite_says_which_test_and_adjustment_it_has():
    result = es.compare(leaderboard(), metrics=MEAN, n_resamples=499, adjustment="bonferroni")
    ranking = result.ranking(composite=lambda scores: scores[..., 0])
    assert ranking.metric == "composite"
    assert ranking.signature.startswith("composite of marks|mean|test:bootstrap|")
    assert "|adj:max-t|" in ranking.signature
    assert "|n:499|" in ranking.signature


def test_what_a_composite_made_is_said():
    result = es.compare(leaderboard(n=40), metrics=MEAN, n_resamples=99)
    with pytest.raises(es.InputError, match=r"5 of 5 that it made are nan"):
        result.ranking(composite=lambda scores: scores[..., 0] * np.nan)
    with pytest.raises(es.InputError, match=r"of \(5, 1\) it made \(5, 1\), 5 systems; take means"):
        result.ranking(composite=lambda scores: scores)


@pytest.mark.parametrize(
    ("options", "note"),
    [
        ({"n_resamples": 10}, "With 10 comparisons and 10 resamples no p-value adjusted by max-t"),
        ({"adjustment": "holm", "n_resamples": 99}, "use adjustment 'max-t', or n_resamples of"),
        ({"n": 50, "n_resamples": 99}, "Only 50 segments: below 100"),
        ({"seed": 23, "n_resamples": 999}, "s3 vs s2 (marks): p = 0.0"),
        ({"groups": [i // 50 for i in range(200)]}, "4 groups cannot give a p-value below 0.12"),
    ],
)
def test_a_ranking_says_what_keeps_its_systems_together(options, note):
    values = leaderboard(options.get("seed", 0), options.get("n", 200))
    options = {name: x for name, x in options.items() if name not in ("seed", "n")}
    ranking = es.compare(values, metrics=MEAN, **options).ranking()
    assert sum(note in found for found in ranking.notes) == 1
    assert note in str(ranking)
    assert json.loads(ranking.to_json())["notes"] == list(ranking.notes)


def test_a_ranking_names_skewed_differences_that_widen_it():
    values = leaderboard()
    values["s4"] = values["s1"] + 0.1
    values["s4"][:3] -= 30
    ranking = es.compare(values, metrics=MEAN, n_resamples=199).ranking()
    assert (
        "marks: 4 of 10 pairs differ by a lot on a few segments (a skewed difference), which "
        "widens the intervals of ranks." in ranking.notes
    )


def test_a_composite_says_that_resamples_are_too_few():
    result = es.compare(leaderboard(), metrics=MEAN, n_resamples=10)
    (note,) = result.ranking(composite="borda").notes
    assert note == (
        "With 10 resamples no p-value can reach 0.05 whatever the data: use n_resamples of at "
        "least 19."
    )


def test_every_form_has_all_systems():
    ranking = es.compare(leaderboard(), metrics=MEAN).ranking()
    names = [r.system for r in ranking]
    for text in (str(ranking), ranking.to_markdown(), ranking.to_latex(), ranking.to_html()):
        assert all(name in text for name in names)
    assert [r["system"] for r in json.loads(ranking.to_json())["systems"]] == names
    assert len(ranking.to_csv().splitlines()) == 6
    assert "Tied with the first: 1 (" in str(ranking)


def test_the_figure_has_a_row_a_system():
    pytest.importorskip("matplotlib").use("agg")
    ranking = es.compare(leaderboard(), metrics=MEAN).ranking()
    axes = ranking.plot()
    assert [x.get_text() for x in axes.get_yticklabels()] == [r.system for r in ranking]
    assert [t.get_text() for t in axes.texts] == [r.tier for r in ranking]


def test_no_name_and_no_tier_leaves_the_figure_without_room():
    """A name is no mathematics and breaks into lines; of the letters of a tier some are shown."""
    pytest.importorskip("matplotlib").use("agg")
    rng = np.random.default_rng(1)
    names = ["a$b$", "a very long name of a system that goes on and on", *map(str, range(30))]
    marks = rng.normal(size=200)
    values = {
        name: marks + rng.normal(scale=0.1 + i % 4, size=200) + 0.03 * i
        for i, name in enumerate(names)
    }
    ranking = es.compare(values, metrics=MEAN, n_resamples=499).ranking()
    assert max(len(r.tier) for r in ranking) > 8
    axes = ranking.plot()
    axes.figure.canvas.draw()
    labels = [x.get_text() for x in axes.get_yticklabels()]
    assert r"a\$b\$" in labels
    assert max(len(line) for label in labels for line in label.split("\n")) <= 24
    for text, r in zip(axes.texts, ranking, strict=True):
        shown = text.get_text()
        assert len(shown) <= 8
        assert r.tier.startswith(shown.removesuffix("…"))
    inches = axes.get_window_extent().width / axes.figure.dpi
    assert inches > 1


def test_without_resampled_scores_no_probability_is_made_up():
    ranking = es.compare(leaderboard(), metrics=MEAN, method="t").ranking()
    assert {r.probability_first for r in ranking} == {None}
    assert " -\n" in str(ranking)


@pytest.mark.parametrize(
    "options, asked, message",
    [
        ({"baseline": "s0"}, {}, "a ranking needs all pairs: compare without baseline"),
        ({"alternative": "greater"}, {}, "two-sided"),
        ({"adjustment": "none"}, {}, "one of max-t, holm, bonferroni; this comparison has 'none'"),
        ({}, {"metric": "bleu"}, "metric must be one of marks; got 'bleu'"),
        ({}, {"composite": "sum"}, "composite must be one of autorank, borda; got 'sum'"),
        ({}, {"composite": np.sum}, r"composite must make finite numbers of scores \(..., S, M\)"),
        ({}, {"composite": "borda", "metric": "marks"}, "give metric or composite, not both"),
        ({"method": "t"}, {"composite": "borda"}, "leave method out"),
    ],
)  # fmt: skip
def test_what_cannot_be_ranked(options, asked, message):
    result = es.compare(leaderboard(n=40), metrics=MEAN, n_resamples=99, **options)
    with pytest.raises(es.InputError, match=message):
        result.ranking(**asked)


def test_a_ranking_of_what_was_read_from_json_is_refused():
    result = es.compare(leaderboard(n=40), metrics=MEAN, n_resamples=99)
    with pytest.raises(es.InputError, match="read from a file, which holds no resamples"):
        es.Comparison.from_json(result.to_json()).ranking()
    with pytest.raises(es.InputError, match="system must be one of s"):
        result.ranking()["x"]
