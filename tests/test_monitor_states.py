"""States of a Monitor that were changed: the same run as before, or one clear error."""

import copy
import json
import random

import numpy as np
import pytest

import evalstats as es

JUNK = [
    None, True, False, 0, 1, -1, 7, 0.5, -0.0, 1e-300, 1e308, float("inf"), float("nan"), 2**53 + 1,
    2**70, 10**400, "", "x", "1", "1e3", "\x1b[2J\u202e", "é" * 5000, [], [1, 2], [[1.0, 1.0]], {},
    {"a": 1}, b"ff", object, np.array([1, 2]), np.float64(0.5), np.int64(3),
]  # fmt: skip


def runs():
    """Functions that make a monitor, how many checks it had, and outputs for any step."""
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(12, 14)) + np.linspace(0, 4, 12)[:, None]
    texts = [[" ".join(rng.choice(list("abcd"), 6)) for _ in range(9)] for _ in range(6)]
    zeros = np.zeros((6, 8))
    return [
        (lambda: es.Monitor(None, es.Mean("judge"), n_resamples=20), 8, scores),
        (lambda: es.Monitor(texts[0], "bleu", n_resamples=20, patience=2), 4, texts[1:]),
        (
            lambda: es.Monitor(texts[0], "chrf", n_resamples=20, groups=[i // 2 for i in range(9)]),
            3,
            texts[1:],
        ),
        (lambda: es.Monitor([""] * 8, "wer", n_resamples=20), 3, [[""] * 8] * 5),
        (lambda: es.Monitor(None, es.Mean("right"), n_resamples=20), 2, zeros),
        (lambda: es.Monitor(None, es.Mean("judge"), n_resamples=20), 0, scores),
    ]


def watched(make, outputs, first, last):
    monitor = make()
    for step in range(first, last):
        monitor.check(step, outputs[step])
    return monitor


def places(value, path=()):
    """Yield the way to every value inside, long lists only here and there."""
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], (*path, key))
    elif isinstance(value, list):
        for i in range(0, len(value), max(1, len(value) // 5)):
            yield from places(value[i], (*path, i))


def mutated(state, rng):
    """Return a copy with one change somewhere."""
    state = copy.deepcopy(state)
    path = rng.choice([path for path in places(state) if path])
    inside = state
    for key in path[:-1]:
        inside = inside[key]
    key, value = path[-1], inside[path[-1]]
    kind = rng.randrange(6)
    if kind == 0:
        del inside[key]
    elif kind == 1 and isinstance(value, list) and value:
        at = rng.randrange(len(value))
        inside[key] = rng.choice([value[:at], value + value[at:], value[::-1], value[at:] + value])
    elif kind == 2 and isinstance(value, (int, float)):
        inside[key] = rng.choice(
            [value + 1, -value, value * (1 + 1e-9), value / 2, str(value), value + 1e-12]
        )
    elif kind == 3 and isinstance(value, str) and value:
        at = rng.randrange(len(value))
        inside[key] = value[:at] + rng.choice("0123456789abcdef?\n") + value[at + 1 :]
    elif kind == 4 and isinstance(inside, list):
        other = rng.randrange(len(inside))
        inside[key], inside[other] = inside[other], inside[key]
    else:
        inside[key] = rng.choice(JUNK)
    return state


def load(monitor, state):
    """Load a state; whether it was taken. If not, one line says why and nothing has changed."""
    before = monitor.state_dict()
    try:
        monitor.load_state_dict(state)
    except es.InputError as error:
        message = str(error)
        assert len(message) < 600
        assert message.isprintable()
        assert monitor.state_dict() == before
        return False
    return True


@pytest.mark.parametrize("case", range(6))
def test_a_changed_state_is_the_same_run_or_refused(case):
    make, n_checks, outputs = runs()[case]
    first = watched(make, outputs, 0, n_checks)
    state = json.loads(json.dumps(first.state_dict()))
    whole = watched(make, outputs, 0, n_checks + 1)
    rng, n_taken = random.Random(case), 0
    for _ in range(100):
        changed, monitor = mutated(state, rng), make()
        if load(monitor, changed):
            n_taken += 1
            monitor.check(n_checks, outputs[n_checks])
            assert monitor.checks == whole.checks
            assert monitor.selected == whole.selected
    # Some changes are none: 0.0 for 0, the confidence level.
    assert n_taken < 20


def test_whole_numbers_may_have_become_floats():
    make, n_checks, outputs = runs()[1]
    first, second = watched(make, outputs, 0, n_checks), make()
    state = first.state_dict()
    state["best_rows"] = np.array(state["best_rows"], dtype=float).tolist()
    second.load_state_dict(state)
    assert second.check(n_checks, outputs[n_checks]) == first.check(n_checks, outputs[n_checks])


def test_another_version_of_sacrebleu_is_the_same_metric(monkeypatch):
    """After an upgrade: states, statistics and accumulators of before it are still good."""
    references, outputs = ["a b c d", "b c d e", "c d"], ["a b c d", "b c", "c d e"]
    monitor = es.Monitor(references, "bleu")
    part = es.Accumulator("bleu")
    part.update(outputs, references, ids=range(3))
    monitor.check(0, part)
    state = monitor.state_dict()
    mine = es.BLEU.signature.fget

    class Upgraded(es.BLEU):
        name = "BLEU"
        signature = property(lambda self: mine(self).replace("sacrebleu:", "sacrebleu:9."))

    assert Upgraded().signature != es.BLEU().signature
    after = es.Monitor(references, Upgraded())
    after.load_state_dict(state)
    assert after.check(1, part).score == state["checks"][0]["score"]
    assert len(es.Accumulator(Upgraded()).merge(part)) == 3
    assert after.check(2, es.extract({"x": outputs}, references, "bleu")).pvalue == 1


def test_segment_ids_stay_in_order():
    ids, metric = ["x", "y", "z"], es.Mean("judge")

    def table(names):
        return es.SegmentStatistics([[[1, 1], [2, 1], [3, 1]]], ["run"], metric, segment_ids=names)

    first, second = es.Monitor(None, metric), es.Monitor(None, metric)
    first.check(0, table(ids))
    second.load_state_dict(json.loads(json.dumps(first.state_dict())))
    for monitor in (first, second):
        with pytest.raises(es.InputError, match="must have the segment_ids of the earlier checks"):
            monitor.check(1, table(ids[::-1]))
        assert monitor.check(1, table(ids)).pvalue == 1
        assert monitor.check(2, [1.0, 2.0, 3.0]).pvalue == 1
