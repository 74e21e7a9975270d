"""Validators one by one: what is refused, and that what is accepted comes back in one form."""

import pickle
from functools import partial

import numpy as np
import pytest

import evalstats as es
from evalstats import checks
from evalstats.errors import Argument
from evalstats.metrics import as_metric
from tests.helpers import cases, refuses

SCORES = {"A": [1, 2, 3], "B": [2, 2, 4]}
PAIR = {"base": [1, 2, 3], "new": [2, 2, 4]}
NAN, INF = float("nan"), float("inf")
integer, number, share, listed, flag, as_scores = (
    partial(check, name="x", **options)
    for check, options in (
        (checks.integer, {"minimum": 0, "maximum": 9}), (checks.number, {"minimum": 0}),
        (checks.share, {}), (checks.listed, {"content": "strings"}), (checks.flag, {}),
        (checks.as_scores, {}),
    )
)  # fmt: skip


@cases(
    (integer, [True, np.False_, 1.0, "1", None, [1]], "x must be an integer, got .*"),
    (integer, [-1, np.int8(-2)], "x must be at least 0, got -"),
    (integer, [10, 10**5000], "x must be at most 9, got"),
    (flag, [0, 1, "yes", None], "x must be True or False, got"),
    (number, [True, np.True_, "1", None, 1j], "x must be a number, got"),
    (number, [NAN, INF, np.float32("nan"), 10**400, -1, -1e-9], "a finite number of at least 0"),
    (share, [0, 1, 1.5, np.float32(1)], "x must be between 0 and 1, got"),
    (share, [NAN, -0.1], "x must be a finite number"),
    (listed, ["ab", b"ab"], "x must be a list of strings, got a bare .*wrap it in a list"),
    (listed, [{"a": 1}, {"a"}, frozenset("a"), 3, None], "x must be a list of strings, got"),
    (listed, [np.ma.array([1, 2], mask=[0, 1])], r"x\[1\] is masked"),
    (as_scores, [[1, NAN], [1, INF], [1, -INF]], r"x\[1\] is .*but scores must be finite"),
    (as_scores, [[1, None]], r"x\[1\] is missing; pass a number for every segment"),
    (as_scores, [[]], "x is empty; pass at least one segment"),
    (as_scores, [[[1, 2]]], r"x must have shape \(N,\), got \(1, 2\)"),
    (as_scores, ["12", ["1", "2"]], "x must be .*numbers"),
)
def test_what_is_refused(check, values, message):
    for value in values:
        refuses(message, check, value)


def test_what_is_accepted_is_pythons():
    for check, value, expected in (
        (integer, np.int64(9), 9),
        (flag, np.True_, True),
        (number, np.float32(0.1), 0.1),
        (number, np.uint8(3), 3),
        (listed, iter("ab"), ["a", "b"]),
    ):
        found = check(value)
        assert (type(found), found) == (type(expected), expected)


def test_an_error_knows_its_argument_and_spells_those_that_it_mentions():
    error = es.InputError("has gaps; give ", Argument("missing", "intersect"), argument="scores")
    assert str(error) == "scores has gaps; give missing='intersect'"
    assert error.argument == "scores"
    assert error.spelled(lambda a: f"<{a.name}>") == "<scores> has gaps; give <missing>"
    within = es.InputTypeError(": not a list", argument="strata").within("task 'x\n'")
    assert type(within) is es.InputTypeError
    assert str(within) == r"task 'x\n': strata: not a list"
    copy = pickle.loads(pickle.dumps(error))
    assert (str(copy), copy.argument) == (str(error), "scores")
    assert str(es.InputError("of nothing in particular")) == "of nothing in particular"
    assert str(Argument("aggregate", None)) == "aggregate=None"


@cases(
    (lambda: es.compare(SCORES, metrics=es.Mean("m"), n_resamples=1), "n_resamples"),
    (lambda: es.compare(SCORES, metrics=es.Mean("m"), rng=-1), "rng"),
    (lambda: es.compare(SCORES, metrics=es.Mean("m"), groups=["x"]), "groups"),
    (lambda: es.compare(SCORES, metrics=es.Mean("m"), margin=0), "margin"),
    (lambda: es.compare(SCORES, metrics=es.Mean("m"), method="z"), "method"),
    (lambda: es.compare(SCORES, metrics="rouge"), "metric"),
    (lambda: es.compare(SCORES, metrics=[]), "metrics"),
    (lambda: es.BLEU(max_ngram_order=0), "max_ngram_order"),
)
def test_errors_name_the_argument_that_is_at_fault(call, argument):
    with pytest.raises(es.InputError, match=rf"^{argument}\b") as caught:
        call()
    assert caught.value.argument == argument


@cases(
    (lambda: es.compare(SCORES, metrics=es.Mean("m"), method="bootstrp"), "mean 'bootstrap'?"),
    (lambda: es.compare(SCORES, metrics=es.Mean("m"), baseline="system C"), "got 'system C'"),
    (lambda: es.compare(PAIR, metrics=es.Mean("m"), baseline="bsae"), "mean 'base'?"),
    (lambda: es.compare(PAIR, metrics=es.Mean("m"))["m", "bse"], "mean 'base'?"),
    (lambda: as_metric("blue"), "'blue'; did you mean 'bleu'? To use scores that were"),
    (lambda: as_metric("BLEURT"), "'BLEURT'. To use scores that were"),
    (lambda: as_metric(es.SentenceBLEU()), "and evalstats.Mean('SentenceBLEU') as metric"),
)
def test_what_was_probably_meant_is_asked(call, end):
    with pytest.raises(es.InputError) as caught:
        call()
    said = str(caught.value)
    assert end in said
    assert ("did you mean" in said) == ("mean '" in end)


def test_masked_entries_are_refused_however_deep_they_are():
    masked = np.ma.array([1, 2], mask=[0, 1])
    for deep in ([(1, 2), [(3,), masked]], [[1], (2, [masked])], [masked, (1, 2)]):
        refuses(r"x\[.*\]\[1\] is masked", checks.refuse_masked, deep, "x")
