"""Plans of items and trials: against brute force, and against simulated pilots."""

import numpy as np
import pytest
from scipy import stats

import evalstats as es
from tests.designs.test_trials import log

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
    assert (same.minimum, same.power, same.needed) == pytest.approx(
        (plain.minimum, plain.power, plain.needed)
    )
    (more,) = es.power(systems, metrics=es.PassAll(1), difference=0.1, trials=8)
    assert more.needed < plain.needed


def test_the_trials_of_a_plan_are_those_of_items_with_an_answer(tmp_path):
    rows = np.random.default_rng(2).integers(0, 2, (2, 20, 4)).astype(object)
    rows[:, ::2] = ""
    paths = [log(tmp_path / f"{x}.csv", own, x) for x, own in zip("ab", rows, strict=True)]
    found = es.compare_logs(paths, missing="available", n_resamples=9)
    assert "|trials:4|" in str(found.power(difference=0.1, price=(10, 1)))


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
    assert {k: known[k] for k in (1, 2, 3, 4, 5)} == {
        k: pytest.approx(p) for p, k, _ in designs[:5]
    }


def test_a_plan_finds_as_often_as_it_says():
    """A design of 100 items and 2 trials, planned from a large pilot with 5: 1,500 evaluations.

    The power that is foretold lies within four standard errors of what the t test does (seed 4).
    """
    (plan,) = es.power(
        pilot(4, 5000, 5), metrics=es.PassAll(1), difference=0.05, n_segments=100, trials=2
    )
    first, second = (rows.mean(axis=1) for rows in pilot(5, 150_000, 2).values())
    tests = stats.ttest_1samp((second - first).reshape(1500, 100), 0, axis=1)
    found = np.mean(tests.pvalue <= 0.05)
    assert plan.power == pytest.approx(found, abs=4 * (0.25 / 1500) ** 0.5)


def test_the_table_says_what_is_cheapest(tmp_path, capsys):
    from evalstats.cli import main

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
    lines = "\n".join(
        [
            "system,id,trial,reward",
            *(
                f"{name},{i},{j},{x}"
                for name, rows in systems.items()
                for i, one in enumerate(rows)
                for j, x in enumerate(one)
            ),
        ]
    )
    path = tmp_path / "pilot.csv"
    path.write_text(lines, encoding="utf-8")
    assert main(["power", str(path), "--difference", "0.05", "--price", "10,1"]) == 0
    assert said in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["power", str(path), "--price", "10"])
    assert "--price: expected two prices, such as 10,1; got '10'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("metric", "options", "message"),
    [
        (es.PassAll(3), {"trials": 3}, r"trials of pass\^3 needs a pilot with at least 6 trials"),
        (es.PassAll(1), {"price": (1, 1)}, "price needs the difference"),
        (es.PassAll(1), {"difference": 0.1, "price": (0, 0)}, "price must be two numbers of at"),
        (es.PassAll(1), {"difference": 0.1, "price": (1,)}, "price must be two numbers of at"),
        (es.PassAll(1), {"difference": 0.1, "price": (1, -1)}, "price must be .*-1"),
        (es.PassAll(1), {"trials": 0}, "trials must be at least 1, got 0"),
        (es.PassAll(1), {"trials": 2, "groups": [0, 1] * 20}, "and this is .* of groups"),
    ],
)
def test_what_cannot_be_planned_says_so(metric, options, message):
    with pytest.raises(es.InputError, match=message):
        es.power(pilot(6, 40, 4), metrics=metric, **options)


def test_a_pilot_of_single_answers_is_refused(tmp_path):
    path = log(tmp_path / "a.csv", [[1], [0], [1]], ["a", "b"])
    (table,) = es.read_log(path).tables.values()
    with pytest.raises(es.InputError, match="trials needs a pilot with several trials of an item"):
        es.power(table, trials=2)
