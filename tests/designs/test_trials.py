"""pass^k, pass@k and flip rate: against published numbers and enumeration."""

import re
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

import evalstats as es
from evalstats import cli
from evalstats.designs.runs import extract_runs
from evalstats.designs.trials.cases import Repeats
from evalstats.designs.trials.metrics import chance_in_trials
from evalstats.inference import student
from tests.conftest import first
from tests.helpers import bad_cases, cases, refuses, score_of

#: 4 trials of each of 50 tasks: historical_trajectories/gpt-4o-airline.json of
#: https://github.com/sierra-research/tau-bench. What is published of them: its README (pass^k) and
#: its issue 57 (tasks that flip).
AIRLINE = """
0000 0100 0010 0000 0000 0100 1000 0010 0000 0000 0000 1000 1111 0110 0000 0011 0001 0001 1111 0000
1111 0111 0000 0000 1111 0000 1010 0110 0000 1000 0101 1001 0000 0000 1101 1111 1111 0111 1111 1000
1101 0101 1111 1000 1010 1001 0110 0100 1111 1111
"""
TRIALS = [list(map(int, task)) for task in AIRLINE.split()]
POWERS = [es.PassAll(k) for k in range(1, 5)]
METRICS = [*POWERS, *map(es.PassAny, (1, 3)), es.FlipRate()]


def uneven(seed, n=30, least=3):
    rng = np.random.default_rng(seed)
    rates, sizes = rng.beta(0.7, 0.5, n), rng.integers(least, 8, n)
    return [rng.binomial(1, p, k).tolist() for p, k in zip(rates, sizes, strict=True)]


def test_published_numbers_of_tau_bench():
    published = {"pass^1": 0.42, "pass^2": 0.273, "pass^3": 0.22, "pass^4": 0.2, "flips": 0.52}
    metrics = [*POWERS, es.FlipRate()]
    found = es.estimate({"gpt-4o": TRIALS}, metrics=metrics, n_resamples=999)
    for one in found:
        assert round(one.score, 3) == published[one.metric]
        assert one.low < one.score < one.high
    assert len(found) == 5


@pytest.mark.parametrize("k", [1, 2, 3])
def test_shares_of_subsets_are_those_of_all_subsets(k):
    trials = uneven(1)
    every = [[tuple(s) for s in combinations(one, k)] for one in trials]
    for metric, holds in (
        (es.PassAll(k), all),
        (es.PassAny(k), any),
        *([(es.FlipRate(k), lambda s: len(set(s)) > 1)] if k > 1 else []),
    ):
        expected = np.mean([np.mean([holds(s) for s in subsets]) for subsets in every])
        assert score_of(metric, trials) == pytest.approx(expected, abs=1e-12)
    counts = [len(one) for one in trials], [sum(one) for one in trials]
    assert score_of(es.PassAny(k), trials) == pytest.approx(np.mean(es.pass_at_k(*counts, k)))


def test_flips_of_all_trials_are_the_items_with_both_answers():
    assert score_of(es.FlipRate(), TRIALS) == np.mean([0 < sum(one) < 4 for one in TRIALS])
    assert score_of(es.FlipRate(4), TRIALS) == pytest.approx(score_of(es.FlipRate(), TRIALS))


@pytest.mark.parametrize("metric", METRICS, ids=lambda m: m.name)
def test_gradients_are_those_of_differences_and_arrays_are_lists(metric):
    array = np.array(TRIALS)
    rows = metric.statistics(array)
    np.testing.assert_array_equal(rows, metric.statistics(TRIALS))
    np.testing.assert_array_equal(rows, metric.statistics(array.astype(bool)))
    numbers = es.Metric.gradient(metric, rows.sum(axis=0))
    np.testing.assert_allclose(metric.gradient(rows.sum(axis=0)), numbers, atol=1e-9)
    error = student.spread(student.influence_values(metric, rows[None])[0]).error
    assert error == pytest.approx(es.estimate(TRIALS, metric=metric, method="t").standard_error)


def test_chance_in_trials_is_that_of_scipys_beta_binomial_posterior():
    """Of two unlike numbers of trials: posterior means on a plain grid of 400 x 400, and E p - p².

    The variance of c of n right answers by chance is E p(1 - p)/n, of the rate of an item with so
    many right answers.
    """
    rng = np.random.default_rng(2)
    trials = np.repeat([3, 6], 15)
    right = rng.binomial(trials, rng.beta(1, 0.5, 30))
    grid = (np.arange(400) + 0.5) / 400
    mean, size = grid[:, None], 1 / grid[None, :] - 1
    logs = sum(
        times * stats.betabinom.logpmf(c, n, mean * size, (1 - mean) * size)
        for (n, c), times in Counter(zip(trials.tolist(), right.tolist(), strict=True)).items()
    )
    density = np.exp(logs - logs.max())
    density /= density.sum()
    mean, correlation = float(density.sum(axis=1) @ grid), float(density.sum(axis=0) @ grid)
    rates = (1 / correlation - 1) * np.array([mean, 1 - mean])
    a, b = rates[0] + right, rates[1] + trials - right
    expected = a * b / ((a + b) * (a + b + 1)) / trials
    found = chance_in_trials(trials.astype(float), right.astype(float), 1)
    np.testing.assert_allclose(found, expected, rtol=0.01)


@bad_cases(
    (es.PassAll(3), [[1, 1, 1], [1, 0]], r"hypotheses\[1\] has 2 trials, but pass\^3 requires at"),
    (es.PassAny(2), [[1, 1], [1]], r"hypotheses\[1\] has 1 trial, but pass@2 requires at least 2"),
    (es.FlipRate(2), [[1, 1], []], r"hypotheses\[1\] has 0 trials, but flips@2 requires at"),
    (es.FlipRate(), [[1], [0]], r"flips requires at least 2"),
    (
        es.PassAll(1),
        [[1], [0, 2]],
        r"hypotheses\[1\]\[1\] must be 0 or 1, got 2; use 1 for a right",
    ),
    (es.PassAll(1), [[1], [None]], r"hypotheses\[1\]\[0\] must be 0 or 1, got None; leave out"),
    (es.PassAll(1), np.array([[1, np.nan]]), r"\[0\]\[1\] must be 0 or 1, got .*nan.*; leave"),
    (es.PassAll(1), [[1], ["1"]], r"hypotheses\[1\]\[0\] must be 0 or 1, got '1'"),
    (es.PassAll(1), [1, 0], r"hypotheses\[0\] must be a list of 0 and 1, one per trial, got 1"),
    (es.PassAll(1), ["10", "01"], r"hypotheses\[0\] must be a list of 0 and 1"),
)
def test_what_is_no_trial_is_refused_by_name(metric, trials):
    es.estimate({"A": trials}, metrics=metric)


def test_unlike_numbers_of_trials_need_a_k_for_flips():
    message = r"flips of all trials requires the same number of trials for every item, got 3 to 7.*FlipRate\(3\)"
    refuses(message, es.estimate, uneven(1), metric=es.FlipRate())
    systems = {"A": [[1, 0]] * 5, "B": [[1, 0, 1]] * 5}
    refuses(r"got 2 to 3.*FlipRate\(2\)", es.compare, systems, metrics=es.FlipRate())
    assert len(es.compare(systems, metrics=es.FlipRate(2), n_resamples=99)) == 1


def test_statistics_that_no_trials_have_are_refused():
    for row, message in (
        ([1, 4, 5, 1], "has more right answers than trials"),
        ([1, 4, 1.5, 1], "is not a whole number, but"),
        ([1, 4, 2, -1], "is negative, but"),
    ):
        refuses(message, es.SegmentStatistics, [[row]], ["A"], es.PassAll(2))


def test_outcomes_of_items_are_counted():
    """Where pass^k of an item is 0 or 1, its interval is Wilson's, and the test McNemar's."""
    found = es.estimate(TRIALS, metric=es.PassAll(4))
    low, high = stats.binomtest(10, 50).proportion_ci(method="wilson")
    assert (found.low, found.high) == (pytest.approx(low), pytest.approx(high))
    other = es.compare({"A": TRIALS, "B": TRIALS[::-1]}, metrics=es.PassAll(4))[0]
    assert (found.method, other.test) == ("wilson", "mcnemar")


def log(path, trials, systems=("A",)):
    """Write a table of scores of items with so many trials, and return its path."""
    lines = ["system,id,trial,reward"]
    for system in systems:
        for i, one in enumerate(trials):
            lines += [f"{system},task {i},{j},{x}" for j, x in enumerate(one)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "metric", [es.PassAll(4), es.PassAny(2), es.FlipRate(), es.FlipRate(2)], ids=lambda m: m.name
)
def test_answers_in_logs_are_trials(metric, tmp_path):
    path, epochs = log(tmp_path / "airline.csv", TRIALS), metric.name
    (found,) = es.estimate_logs(path, epochs=epochs, n_resamples=99)
    plain = es.estimate(TRIALS, metric=metric, n_resamples=99)
    assert (found.score, found.low, found.high) == (plain.score, plain.low, plain.high)
    assert found.metric == f"reward {metric.name}"
    (table,) = es.read_log(path, epochs=epochs).tables.values()
    np.testing.assert_array_equal(table.values[0], metric.statistics(TRIALS))


def test_several_k_are_metrics_of_the_same_items(tmp_path, typed):
    path = log(tmp_path / "airline.csv", TRIALS)
    ways = ["mean", *(f"pass^{k}" for k in range(1, 5))]
    found = es.estimate_logs(path, epochs=ways, n_resamples=99)
    assert [e.metric for e in found] == ["reward", *(f"reward {way}" for way in ways[1:])]
    plain = es.estimate(TRIALS, metrics=POWERS, n_resamples=99)
    assert [e.score for e in found[1:]] == [e.score for e in plain]
    assert sum("count as trials" in note for note in found.notes) == 1
    # What comes after the ways to count may be a file.
    other = log(tmp_path / "other.csv", TRIALS[::-1])
    call = ("compare", "--epochs", "pass^1", "pass^4", path, other)
    assert "reward pass^1, reward pass^4" in typed(*call)
    limits = {"margin": 0.5, "n_resamples": 99}
    checks = es.gate(path, other, epochs=["pass^1", "pass^4"], **limits).checks
    assert [check.metric for check in checks] == ["reward pass^1", "reward pass^4"]
    apart = es.compare_logs([path, other], epochs=ways[1:3], paired=False, n_resamples=99)
    assert [d.metric for d in apart] == ["reward pass^1", "reward pass^2"]


@cases(
    (["pass^2", "pass^2"], "1,1", "different ways that do not include .runs., got pass.2, pass.2"),
    (["pass^2", "runs"], "1,1", "different ways that do not include .runs., got pass.2, runs"),
    (4, "1,1", "epochs must be a list of words, got int"),
    ("pass^5", "1,1", r"item 'task 0' has 4 trials, but reward pass\^5 requires at least 5"),
    ("pass^2", "1,0.5", r"epochs='pass\^2' counts the answers with a score of 1, but scores of"),
    ("passes", "1,1", r"epochs must be one of mean, runs, pass\^K, .*, got 'passes'"),
)
def test_answers_that_are_no_trials_are_refused(epochs, scores, message, tmp_path):
    one, two = scores.split(",")
    path = log(tmp_path / "log.csv", [[1, 0, one, two], [0, 0, 0, 1]])
    refuses(message, es.estimate_logs, path, epochs=epochs)


def test_a_mean_in_a_log_knows_its_answers(tmp_path):
    path = log(tmp_path / "log.csv", uneven(3))
    (mean,) = es.read_log(path).tables.values()
    (passes,) = es.read_log(path, epochs="pass^1").tables.values()
    assert mean.values.shape == (1, 30, 2)
    for known, counted in zip(Repeats.of(mean.answers), Repeats.of(passes.answers), strict=True):
        np.testing.assert_array_equal(known, counted)
    part = mean.select([3, 1])
    np.testing.assert_array_equal(part.answers[..., 0], mean.answers[:, [3, 1], 0])
    joined = Repeats.of(es.SegmentStatistics.join(mean).answers)
    np.testing.assert_array_equal(joined.sums, joined.squares)


def test_runs_of_a_mean_are_answers_too():
    runs = np.array(TRIALS).T.tolist()
    (table,) = extract_runs({"A": runs, "B": runs}, metrics=es.Mean("reward"))
    np.testing.assert_array_equal(table.answers[1, :, 1], np.sum(TRIALS, axis=1))
    assert np.all(table.answers[..., 0] == 4)


def test_a_file_holds_trials(tmp_path):
    for metric in METRICS:
        table = es.extract({"A": TRIALS}, metric=metric)
        table.save(tmp_path / "a.npz")
        assert es.SegmentStatistics.load(tmp_path / "a.npz") == table


def test_answers_whose_squares_are_no_numbers_are_averaged_all_the_same(tmp_path):
    path = log(tmp_path / "large.csv", [[1e200, 3e200], [2e200, 5e200]])
    (table,) = es.read_log(path).tables.values()
    assert table.values[0, :, 0].tolist() == [2e200, 3.5e200]
    assert Repeats.of(table.answers) is None


@pytest.fixture(scope="module")
def few_items():
    rng = np.random.default_rng(4)
    rates = rng.beta(0.6, 0.8, (50, 1))
    return {name: (rng.random((50, 4)) < rates).astype(int) for name in "AB"}


@pytest.mark.parametrize("k", first(1, [1, 2]))
def test_of_items_that_are_all_there_are_trials_are_the_only_chance(k):
    """Mean shares of two systems with the same rates on the same 50 items: 60 pairs, t.

    More than 7 of 60 at .05, or more than 9 of 120 scores outside, has probability .02.
    """
    rng = np.random.default_rng(6)
    rejected = outside = 0
    for _ in range(60):
        rates = rng.beta(0.6, 0.8, (50, 1))
        systems = {name: (rng.random((50, 4)) < rates).astype(int) for name in "AB"}
        result = es.compare(systems, metrics=es.PassAll(k, items="all"))
        assert result["B"].test == result["B"].method == "t"
        rejected += result["B"].pvalue <= 0.05
        true = float(np.mean(rates**k))
        outside += sum(not e.low <= true <= e.high for e in result.estimates)
    assert rejected <= 7
    assert outside <= 12


def test_the_error_of_trials_is_that_of_the_pooled_variance_in_them(few_items):
    """Of pass^1 it is near √(Σ s²/K)/N, of both systems together; less than that of items."""
    found = es.compare(few_items, metrics=es.PassAll(1, items="all"))
    within = [(x.var(axis=1, ddof=1) / 4).mean() / 50 for x in few_items.values()]
    errors = [e.standard_error for e in found.estimates]
    assert errors == pytest.approx(np.sqrt(within), rel=0.1)
    assert found["B"].standard_error == pytest.approx(np.hypot(*errors), rel=1e-12)
    drawn_items = es.compare(few_items, metrics=es.PassAll(1), method="t")
    assert errors[0] < 0.7 * drawn_items.estimates[0].standard_error
    said = " ".join(found.notes)
    assert "these 50 items are treated as fixed," in said
    assert "use more" not in said
    assert "items:all" in found.signature_of(found["B"])
    # Of two trials one is wrong where not all are right.
    wrong = {name: 1 - x for name, x in few_items.items()}
    any_of = es.compare(wrong, metrics=es.PassAny(2, items="all"))
    all_of = es.compare(few_items, metrics=es.PassAll(2, items="all"))
    assert any_of["B"].standard_error == pytest.approx(all_of["B"].standard_error, rel=1e-9)


def test_a_total_of_such_items_adds_the_errors_of_its_tasks(few_items):
    table = es.extract(few_items, metric=es.PassAll(2, items="all"))
    alone = es.compare(table)["B"].standard_error
    total = es.Suite({"one": table, "two": table}, "macro").compare()
    both = next(d for d in total if d.aggregate)
    assert both.standard_error == pytest.approx(alone / 2**0.5, rel=1e-2)


@cases(
    (
        lambda t: es.compare(t, groups=[i // 2 for i in range(50)]),
        "items must be left out: 'all' requires items that",
    ),
    (
        lambda t: es.compare(t, paired=False),
        "items must be left out: 'all' requires items that both",
    ),
    (lambda t: es.compare(t).power(difference=0.1), "but power is about new items"),
    (lambda t: es.compare(t).influence(), "but influence is about new items"),
    (lambda t: es.PassAll(1, items="some"), "items must be one of drawn, all; got 'some'"),
)
def test_what_is_about_other_items_is_refused(asked, message, few_items):
    table = es.extract(few_items, metric=es.PassAll(1, items="all"))
    refuses(re.escape(message), asked, table)


def test_pass_at_k_is_the_share_of_subsets_with_a_right_answer():
    for n in range(1, 7):
        for k in range(1, n + 1):
            subsets = list(combinations(range(n), k))
            expected = [np.mean([min(subset) < c for subset in subsets]) for c in range(n + 1)]
            np.testing.assert_allclose(es.pass_at_k(n, range(n + 1), k), expected, atol=1e-12)


# Plans of items and trials: against brute force, and against simulated pilots


ASKED = {"difference": 0.05, "price": (10.0, 1.0)}


def pilot(seed, n_items, n_trials, spread=0.1):
    """Return trials of two systems whose rates on an item differ by a normal with this spread."""
    rng = np.random.default_rng(seed)
    first = rng.uniform(0.2, 0.7, n_items)
    rates = first, np.clip(first + 0.05 + spread * rng.standard_normal(n_items), 0, 1)
    return {
        name: rng.binomial(1, p[:, None], (n_items, n_trials))
        for name, p in zip("ab", rates, strict=True)
    }


def test_variances_are_those_of_items_and_of_trials():
    """By hand from the pilot; and near the truth of a large one: .1, and the root of 2·E[p(1-p)]."""
    systems = pilot(1, 4000, 5)
    (found,) = es.power(systems, metrics=es.PassAll(1), trials=3)
    within = sum(rows.var(axis=1, ddof=1).mean() for rows in systems.values())
    means = [rows.mean(axis=1) for rows in systems.values()]
    total = (means[1] - means[0]).var(ddof=1)
    of = found.of_trials
    assert of.trial_deviation == pytest.approx(within**0.5, rel=1e-9)
    assert of.item_deviation == pytest.approx((total - within / 5) ** 0.5, rel=1e-6)
    # Seed 1; standard errors are .002 and .001.
    assert of.item_deviation == pytest.approx(0.1, abs=0.015)
    assert found.standard_deviation**2 == pytest.approx(of.item_deviation**2 + within / 3)


def test_the_pilots_own_trials_are_the_plan_without_any():
    systems = pilot(2, 80, 4)
    (plain,) = es.power(systems, metrics=es.PassAll(1), difference=0.1)
    (same,) = es.power(systems, metrics=es.PassAll(1), difference=0.1, trials=4)
    expected = (plain.minimum, plain.power, plain.needed)
    assert (same.minimum, same.power, same.needed) == pytest.approx(expected)
    plan = es.power(systems, metrics=es.PassAll(1), difference=0.1, trials=8)
    (more,) = plan
    assert "|trials:8|" in plan.signatures[0]
    assert more.needed < plain.needed


def test_the_trials_of_a_plan_are_those_of_items_with_an_answer(tmp_path):
    rows = np.random.default_rng(2).integers(0, 2, (2, 20, 4)).astype(object)
    rows[:, ::2] = ""
    paths = [log(tmp_path / f"{x}.csv", own, x) for x, own in zip("ab", rows, strict=True)]
    found = es.compare_logs(paths, missing="available", n_resamples=9)
    assert "|trials:4|" in found.power(difference=0.1, price=(10, 1)).signatures[0]


@pytest.fixture(scope="module")
def needed():
    """Return how many items it takes of 1 to 12 trials each."""
    asked = {"metrics": es.PassAll(1), "difference": 0.05}
    systems = pilot(3, 100, 3, spread=0.3)
    return {k: es.power(systems, trials=k, **asked)[0].needed for k in range(1, 13)}


@pytest.mark.parametrize("price", [(10.0, 1.0), (0.0, 1.0), (3.0, 0.0)])
def test_the_cheapest_design_is_that_of_all_designs(price, needed):
    systems = pilot(3, 100, 3, spread=0.3)
    (found,) = es.power(systems, metrics=es.PassAll(1), difference=0.05, price=price)
    designs = [(n * (price[0] + k * price[1]), k, n) for k, n in needed.items()]
    of = found.of_trials
    assert (of.cheapest_price, of.cheapest_trials, of.cheapest_items) == pytest.approx(min(designs))
    known = dict(zip(of.trials, of.prices, strict=True))
    assert [known[k] for _, k, _ in designs[:5]] == pytest.approx([p for p, *_ in designs[:5]])


def test_the_table_says_what_is_cheapest(tmp_path, capsys, typed):
    systems = pilot(5, 40, 4)
    result = es.power(systems, metrics=es.PassAll(1), **ASKED)
    of = result[0].of_trials
    said = f"Cheapest: {of.cheapest_items} items with {of.cheapest_trials} trials each, for "
    assert said in str(result)
    assert es.Power.from_json(result.to_json()) == result
    whole = es.power(systems, metrics=es.PassAll(1), difference=0.05, price=(10, 1))
    assert es.Power.from_json(whole.to_json()).to_json() == result.to_json()
    compared = es.compare(systems, metrics=es.PassAll(1), n_resamples=99)
    assert compared.power(0.05, price=(10.0, 1.0)).pairs == result.pairs
    paths = [log(tmp_path / f"{name}.csv", rows, name) for name, rows in systems.items()]
    assert said in typed("power", *paths, "--difference", "0.05", "--price", "10,1")
    with pytest.raises(SystemExit):
        cli.main(["power", str(paths[0]), "--price", "10"])
    assert "--price: expected two prices, such as 10,1, got '10'" in capsys.readouterr().err


@bad_cases(
    (
        es.PassAll(3),
        {"trials": 3},
        r"trials: planning pass\^3 requires a pilot with at least 6 trials",
    ),
    (es.PassAll(1), {"price": (1, 1)}, "price requires the difference"),
    (es.PassAll(1), {"difference": 0.1, "price": (0, 0)}, "price must be two numbers of at"),
    (es.PassAll(1), {"difference": 0.1, "price": (1,)}, "price must be two numbers of at"),
    (es.PassAll(1), {"difference": 0.1, "price": (1, -1)}, "price must be .*-1"),
    (es.PassAll(1), {"trials": 0}, "trials must be at least 1, got 0"),
    (es.PassAll(1), {"trials": 2, "groups": [0, 1] * 20}, "but this is.* of groups"),
)
def test_what_cannot_be_planned_says_so(metric, options):
    es.power(pilot(6, 40, 4), metrics=metric, **options)


def test_a_pilot_of_single_answers_is_refused(tmp_path):
    path = log(tmp_path / "a.csv", [[1], [0], [1]], ["a", "b"])
    (table,) = es.read_log(path).tables.values()
    said = r"trials requires a pilot with several trials per item; use metrics=evalstats.PassAll\(1\), or the mean of logs with several answers per item"
    refuses(said, es.power, table, trials=2)


@pytest.mark.parametrize("k", [1, 2])
def test_items_that_are_alike_have_the_error_of_their_trials(k):
    """Nine items with two of three right each had an interval of no length."""
    found = es.estimate([[1, 1, 0]] * 9, metric=es.PassAll(k))
    chance = es.PassAll(k, items="all").chance(es.PassAll(k).statistics([[1, 1, 0]] * 9))
    assert found.standard_error**2 == pytest.approx(chance * 9 / 8)
    assert 0 <= found.low < found.score < found.high <= 1
