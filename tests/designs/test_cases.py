"""Items with trials, each tested by itself: against SciPy, enumeration and simulated nulls."""

import numpy as np
import pytest
from scipy import stats

import evalstats as es
from evalstats.designs.trials.cases import boschloo, fisher, tarone_holm
from evalstats.inference.families import holm
from tests.designs.test_trials import log
from tests.helpers import cases, refuses


def fisher_table(n, m):
    """Return the p-value of each table, `(n + 1, m + 1)`."""
    table = np.empty((n + 1, m + 1))
    for total in range(n + m + 1):
        x = np.arange(max(0, total - m), min(n, total) + 1)
        table[x, total - x] = fisher(n, m, total)
    return table


@pytest.mark.parametrize(("n", "m"), [(5, 5), (4, 7), (1, 6)])
def test_exact_tests_are_those_of_scipy(n, m):
    rng = np.random.default_rng(n)
    for x, y in zip(rng.integers(0, n + 1, 4), rng.integers(0, m + 1, 4), strict=True):
        table = [[x, y], [n - x, m - y]]
        expected = stats.fisher_exact(table).pvalue
        assert fisher_table(n, m)[x, y] == pytest.approx(expected, abs=1e-12)
        # Where a margin is 0 there is nothing to test, and SciPy says NaN.
        expected = np.nan_to_num(stats.boschloo_exact(table).pvalue, nan=1.0)
        assert boschloo(n, m)[x, y] == pytest.approx(min(expected, 1.0), abs=1e-5)


@pytest.mark.parametrize("test", [fisher_table, boschloo])
def test_no_share_makes_an_exact_test_reject_too_often(test):
    """Of every null share, by enumeration of all tables; shares that are not on the grid."""
    for n, m in ((5, 5), (3, 8)):
        table = test(n, m)
        for share in np.linspace(0.003, 0.997, 41):
            first, second = (stats.binom.pmf(np.arange(k + 1), k, share) for k in (n, m))
            chances = first[:, None] * second[None, :]
            for level in np.unique(table.round(12)):
                assert chances[table <= level * (1 + 1e-9)].sum() <= level * 1.001 + 1e-12


def test_tarone_leaves_out_what_cannot_be_as_small():
    p, level = np.array([0.004, 0.03, 0.2, 1.0]), 0.05
    np.testing.assert_allclose(tarone_holm(p, np.zeros(4)), holm(p))
    assert tarone_holm(p, [0.004, 0.03, 0.1, 0.3]).tolist() == [0.004, 0.03, 0.2, 1.0]
    # Tarone (1990) at a level: the smallest K of which at most K tests reach level / K.
    rng = np.random.default_rng(1)
    for _ in range(50):
        least = rng.choice([0.001, 0.008, 0.05, 0.2], 12)
        p = np.maximum(rng.random(12) ** 3, least)
        k = next(k for k in range(1, 13) if np.sum(least <= level / k) <= k)
        assert np.all(tarone_holm(p, least)[p <= level / k] <= level)


def drawn(rng, rates, n_trials):
    """Return right answers of two systems to items with the same rates, `(N,)` each."""
    return rng.binomial(n_trials, rates), rng.binomial(n_trials, rates)


def records(old, new, n_trials):
    """Return the cases of two systems by name, from numbers of right answers."""
    rows = [[[1] * c + [0] * (n_trials - c) for c in counts.tolist()] for counts in (old, new)]
    systems = {"old": rows[0], "new": rows[1]}
    return es.compare(systems, metrics=es.PassAll(1), method="t").cases()


def test_a_case_from_all_to_none_is_found_among_twenty():
    """20 items of 5 trials whose rates are .5, the worst there is: Boschloo's smallest p is 1/512.

    Fisher's is 1/126, and found 67 of 100 such cases (1,000 simulations).
    """
    rng = np.random.default_rng(5)
    for _ in range(10):
        old, new = drawn(rng, np.full(20, 0.5), 5)
        old[7], new[7] = 5, 0
        found = records(old, new, 5)
        assert found.test == "boschloo"
        assert "7" in [case.item for case in found.worse]
        case = next(case for case in found if case.item == "7")
        assert (case.baseline, case.system, str(case)) == (1.0, 0.0, "7 5/5 → 0/5")
        assert case.pvalue == pytest.approx(1 / 512)
        assert case.pvalue_adjusted == pytest.approx(20 / 512)


def test_the_test_is_chosen_by_the_numbers_of_items_and_trials_alone():
    rng = np.random.default_rng(7)
    for n_items, n_trials, expected in ((25, 5, "boschloo"), (26, 5, "fisher"), (3, 3, "fisher")):
        for rate in (0.1, 0.5, 1.0):
            found = records(*drawn(rng, np.full(n_items, rate), n_trials), n_trials)
            assert found.test == expected
    assert found.cases[0].pvalue == 1
    assert "Use 4 trials per item" in " ".join(found.to_text().split())


@pytest.fixture(scope="module")
def agents():
    rng = np.random.default_rng(11)
    rates = rng.beta(2, 1, 20)[:, None]
    old, new = (rng.binomial(1, rates, (20, 5)) for _ in range(2))
    old[[3, 8]], new[[3, 8]] = [[1], [0]], [[0], [1]]
    return {"old": old.tolist(), "new": new.tolist()}


METRICS = [es.PassAll(1), es.PassAll(5), es.PassAny(2), es.FlipRate()]


@pytest.mark.parametrize("metric", METRICS, ids=lambda m: m.name)
def test_every_metric_of_trials_has_the_same_cases(agents, metric):
    found = es.compare(agents, metrics=metric, baseline="old", n_resamples=99).cases()
    said = "1 of 20 items is worse: 3 5/5 → 0/5; 1 of 20 items is better: 8 0/5 → 5/5."
    assert found.sentence == said
    assert [found.verdict(case) for case in found[:3]] == ["worse", "better", "no evidence"]
    assert es.Cases.from_json(found.to_json()) == found
    turned = es.compare(agents, metrics=metric, n_resamples=99).cases(system="old", baseline="new")
    assert [case.item for case in turned.worse] == ["8"]


def test_metrics_of_the_same_trials_are_one(agents):
    found = es.compare(agents, metrics=METRICS, baseline="old", n_resamples=99).cases()
    assert (len(found), found.metric) == (20, "pass^1")
    assert "Overall, new differs from old in pass^1 by " in found.to_text(findings=False)


def test_too_few_trials_to_name_an_item_are_told_and_how_many_would_do():
    """One of 50 items is truly broken; eight others have as many right answers in total."""

    def broken(n_trials):
        half = np.full(50, n_trials // 2)
        half[9:] = n_trials
        old, new = half.copy(), half.copy()
        old[0], new[0] = n_trials, 0
        return records(old, new, n_trials)

    told = [note for note in broken(4).notes if note.startswith("With so few trials, none")]
    assert len(told) == 1
    said = "of 50 items can be significant, because the smallest possible adjusted p-value is 0.26. Use 6 trials"
    assert said in told[0]
    assert not broken(6).notes
    assert [case.item for case in broken(6).worse] == ["0"]


@pytest.mark.parametrize("epochs", ["mean", "runs", "pass^2", "flips"])
def test_logs_have_cases_whatever_answers_become(tmp_path, agents, epochs):
    paths = [log(tmp_path / f"{name}.csv", rows, [name]) for name, rows in agents.items()]
    found = es.compare_logs(paths, epochs=epochs, n_resamples=99).cases()
    assert [str(case) for case in found.worse] == ["task 3 5/5 → 0/5"]


def test_cases_of_several_tasks_are_one_family(tmp_path, agents):
    lines = ["system,task,id,trial,reward"]
    for task in ("retail", "airline"):
        for system, rows in agents.items():
            for i, one in enumerate(rows):
                lines += [f"{system},{task},{i},{j},{x}" for j, x in enumerate(one)]
    path = tmp_path / "two.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    both = es.compare_logs(path, n_resamples=99)
    found = both.cases()
    assert len(found) == 40
    items = {f"{task}: {i}" for task in ("retail", "airline") for i in (3, 8)}
    assert {case.item for case in found[:4]} == items
    assert len(both.cases(task="retail")) == 20
    assert "Overall, new differs from old in mean reward over 2 tasks by " in found.to_text(
        findings=False
    )


def test_answers_where_less_is_better_are_turned(tmp_path, agents):
    path = log(tmp_path / "a.csv", agents["old"], ["old"])
    other = log(tmp_path / "b.csv", agents["new"], ["new"])
    asked = {"columns": {"reward": "score"}, "directions": {"reward": "lower"}}
    found = es.compare_logs([path, other], n_resamples=99, **asked).cases()
    assert [case.item for case in found.worse] == ["task 8"]


@cases(
    ({"a": [1, 0], "b": [1, 1]}, es.Mean("m"), "cases requires several trials per"),
    ({"a": [[1], [0]], "b": [[1], [1]]}, es.PassAll(1), "cases requires several"),
    ({"a": [[1, 2], [0, 3]], "b": [[1, 1], [2, 2]]}, es.Mean("m"), "of 1 .right. or 0"),
)
def test_what_has_no_cases_says_so(systems, metric, message):
    result = es.compare(systems, metrics=metric, method="t")
    refuses(message, result.cases)


def test_the_command_is_the_call(tmp_path, agents, monkeypatch, refused, typed):
    monkeypatch.chdir(tmp_path)
    for name, rows in agents.items():
        log(tmp_path / f"{name}.csv", rows, [name])
    call = ("cases", "new.csv", "--baseline", "old.csv", "--quiet", "--resamples", "99")
    printed = typed(*call).split("seed 12345")[0]
    expected = es.compare_logs(["old.csv", "new.csv"], baseline="old", n_resamples=99).cases()
    shown = expected.to_text(findings=False).replace("to_csv()", "-o all.csv")
    # Lines of sentences end elsewhere in a pipe, and the last line has what is typed.
    assert printed.split() == shown.split("seed 12345")[0].split()
    assert "pass --baseline" in refused("cases", "new.csv", "old.csv")


def test_the_error_of_infinitely_many_trials_is_said_of_means(agents):
    """By hand: the variance of differences of items' means, less the pooled chance in trials."""
    old, new = (np.array(rows, float) for rows in agents.values())
    moved = new.mean(axis=1) - old.mean(axis=1)
    chance = sum(rows.var(axis=1, ddof=1).mean() / 5 for rows in (old, new))
    both = [(x / 20) ** 0.5 for x in (moved.var(ddof=1), moved.var(ddof=1) - chance)]
    said = (
        f"The standard error of a difference is {both[0]:.2g}. With infinitely many trials per item, "
        f"it would be {both[1]:.2g} (Wang, 2025)."
    )
    for metric, is_told in ((es.PassAll(1), True), (es.PassAll(2), False)):
        notes = es.compare(agents, metrics=metric, n_resamples=99).notes
        assert any(said in note for note in notes) == is_told
    assert "Wang" not in " ".join(es.estimate(agents["old"], metric=es.PassAll(1)).notes)


def test_how_much_is_chance_is_said_below_the_table(agents):
    """By hand: the pooled variance of answers over K, of the variance of items' means."""
    old, new = (np.array(rows, float) for rows in agents.values())
    chance = [rows.var(axis=1, ddof=1).mean() / 5 for rows in (old, new)]
    variances = [rows.mean(axis=1).var(ddof=1) for rows in (old, new)]
    scores = [100 * c / variance for c, variance in zip(chance, variances, strict=True)]
    pair = 100 * sum(chance) / (new.mean(axis=1) - old.mean(axis=1)).var(ddof=1)
    expected = (
        f"pass^2: with 5 trials per item, random variation between trials accounts for "
        f"{min(scores):.0f} to {max(scores):.0f}% of the variance of item scores and {pair:.0f}% of the variance of differ"
    )
    assert expected in es.compare(agents, metrics=es.PassAll(2), n_resamples=99).to_text()
    alone = es.estimate(agents["old"], metric=es.PassAll(2), n_resamples=99)
    assert f"accounts for {scores[0]:.0f}% of the variance of item scores." in str(alone)
