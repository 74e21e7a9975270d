"""Replicates are drawn when somebody looks at them, and say so in the signature."""

import gc
import pickle
import weakref
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest

import evalstats as es
from evalstats.analysis import scores
from tests.helpers import cases

ACCURACY = es.Mean("accuracy")
RNG = np.random.default_rng(3)
PAIR = {name: (RNG.random(200) < share).astype(float) for name, share in (("A", 0.6), ("B", 0.7))}
THREE = {**PAIR, "C": (RNG.random(200) < 0.9).astype(float)}
GRADES = {name: values + RNG.normal(size=200) for name, values in PAIR.items()}


@pytest.fixture
def drawn_rows(monkeypatch):
    """Record the metrics of every draw."""
    calls, draw = [], scores.totals_scored

    def recorded(scored, *arguments):
        calls.append([s.name for s in scored])
        return draw(scored, *arguments)

    monkeypatch.setattr(scores, "totals_scored", recorded)
    return calls


def suite():
    table = es.extract(PAIR, metric=ACCURACY)
    return es.Suite({"law": table, "history": table})


@cases(
    lambda: es.estimate(PAIR, metric=ACCURACY),
    lambda: es.compare(PAIR, metrics=ACCURACY, margin=0.1),
    lambda: es.compare(PAIR, metrics=ACCURACY).power(difference=0.1),
    lambda: suite().compare(),
    lambda: es.SequentialTest(400, metric=ACCURACY).look(PAIR["B"], PAIR["A"]),
    lambda: es.gate(PAIR, None, metrics=ACCURACY, baseline="A", margin=0.2),
    lambda: es.compare(GRADES, metrics=es.Mean("grade"), groups=[i % 4 for i in range(200)]),
    ids=["scores", "pair", "power", "suite", "look", "gate", "t of few"],
)
def test_what_counts_or_t_decide_draws_nothing(ask, drawn_rows):
    found = ask()
    assert not drawn_rows
    assert "|n:" not in str(found)
    assert "|seed:" not in str(found)


def test_drawn_later_they_are_the_same(drawn_rows):
    found = es.estimate(PAIR, metric=ACCURACY)
    again = pickle.loads(pickle.dumps(found))
    assert len(drawn_rows) == 1
    assert found == again
    weights = es.bootstrap_weights(len(PAIR["A"]), 9999)
    for one, other in zip(found, again, strict=True):
        expected = weights @ np.asarray(PAIR[one.system]) / len(PAIR["A"])
        np.testing.assert_allclose(one.replicates, expected)
        np.testing.assert_array_equal(other.replicates, one.replicates)
        assert one.to_json() == other.to_json()


def test_who_needs_them_draws_and_says_so(drawn_rows):
    three = es.compare(THREE, metrics=ACCURACY, n_resamples=199)
    assert drawn_rows
    assert all("|n:199|" in line for line in three.signatures)
    pair = es.compare(PAIR, metrics=ACCURACY, n_resamples=199)
    assert "|n:" not in pair.signatures[0]
    # How often a system is first is counted in resamples.
    assert "|n:199|seed:12345|" in pair.ranking().signature


def test_an_executor_may_have_gone_since():
    with ThreadPoolExecutor(2) as pool:
        found = es.estimate(PAIR["A"], metric=ACCURACY, n_resamples=500, executor=pool)
    with pytest.warns(RuntimeWarning, match="Its lost work is done in this process"):
        late = found.replicates
    alone = es.estimate(PAIR["A"], metric=ACCURACY, n_resamples=500)
    np.testing.assert_array_equal(late, alone.replicates)


@pytest.mark.parametrize(
    "ask", [es.estimate, es.compare, partial(es.estimate, method="t")], ids=["scores", "pair", "t"]
)
def test_who_lets_go_of_a_result_lets_go_of_its_statistics(ask):
    """Without a collection of garbage, which knows nothing of how large arrays are."""
    gc.collect()
    gc.disable()
    try:
        table = es.extract(PAIR, metric=ACCURACY)
        known, result = weakref.ref(table.values), ask(table)
        del table, result
        assert known() is None
    finally:
        gc.enable()


def test_planning_draws_nothing(drawn_rows):
    rng = np.random.default_rng(9)
    names = ("first", "second", "third")
    tasks = {
        task: [
            es.extract({s: rng.normal(size=40) for s in "ABC"}, metric=es.Mean(name))
            for name in names
        ]
        for task in ("x", "y")
    }
    result = es.Suite(tasks).compare(n_resamples=99)
    # Each task at once, and a total for each metric.
    assert len(drawn_rows) == 5
    drawn_rows.clear()
    plan = result.power(task="x", metric="first", difference=0.5)
    assert drawn_rows == []
    alone = es.power(tasks["x"][0], difference=0.5)
    assert [p.needed for p in plan] == [p.needed for p in alone]
