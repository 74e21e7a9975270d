"""Claims under several metrics at once."""

import numpy as np
import pytest

import evalstats as es


def compared(shift=0.3, **options):
    rng = np.random.default_rng(11)
    old = rng.normal(size=60)
    tables = [
        es.extract({"old": old, "new": old + sign * s + rng.normal(size=60)}, metric=metric)
        for metric, s, sign in (
            (es.Mean("first"), shift, 1),
            (es.Mean("cost", higher_is_better=False), 0.5, -1),
        )
    ]
    return es.compare(tables, n_resamples=999, **options)


@pytest.mark.parametrize("test", ["bootstrap", "t"])
@pytest.mark.parametrize("shift", [0.1, -1.0])
def test_it_is_the_largest_of_one_sided_tests(test, shift):
    """An intersection-union test at the level itself (Berger, 1982)."""
    claims = compared(shift, test=test, baseline="old")
    claim = claims.joint("new")
    # Better is a greater score and a smaller cost.
    sides = [compared(shift, test=test, alternative=side) for side in ("greater", "less")]
    expected = [sides[0].differences[0].pvalue, sides[1].differences[1].pvalue]
    assert claim.pvalues == pytest.approx(expected, abs=2e-3)
    assert claim.pvalue == max(claim.pvalues)
    assert claim.significant == all(p <= 0.05 for p in expected)
    # A loss under one metric is enough to show nothing.
    assert shift > 0 or claim.pvalue > 0.99
    assert claims.joint("new", metrics=["COST"]).significant
    other = claims.joint("old", "new")
    assert other.pvalues == pytest.approx([1 - p for p in claim.pvalues], abs=1e-6)
    assert str(other).startswith("old is not shown to be better than new under each of first, cost")


def test_it_is_said_in_every_form():
    claim = compared().joint("new", "old")
    said = "new is better than old under each of first, cost at 0.05: one-sided p"
    assert str(claim).startswith(said)
    assert claim.to_dict()["significant"]
    header, *rows = claim.to_csv().splitlines()
    assert header == '"system","baseline","metric","pvalue"'
    assert [float(row.rpartition(",")[2]) for row in rows] == list(claim.pvalues)


@pytest.mark.parametrize("arguments, message", [
    (("nobody", "old"), "system must be one of old, new; got 'nobody'"),
    (("new", "old", ["chrf"]), "metric must be one of first, cost; got 'chrf'"),
    (("new", "old", []), "metrics and task must not be empty"),
    (("new", "old", "cost"), "metrics must be a list of names, got the str"),
])  # fmt: skip
def test_bad_input(arguments, message):
    with pytest.raises(es.InputError, match=message):
        compared().joint(*arguments)
    with pytest.raises(es.InputError, match="compare with alternative='two-sided', got 'greater'"):
        compared(alternative="greater").joint("new", "old")


@pytest.mark.parametrize("test", ["bootstrap", "t", "ar"])
def test_the_worse_system_and_identical_ones_have_the_p_value_of_their_side(test):
    rng = np.random.default_rng(3)
    old = rng.normal(size=60)
    scores = {"old": old, "new": old - 0.1 + rng.normal(size=60), "copy": old.copy()}
    options = {"metrics": es.Mean("x"), "baseline": "old", "test": test, "n_resamples": 1999}
    both = es.compare(scores, **options)
    greater = es.compare(scores, alternative="greater", **options)
    assert both.joint("new").pvalue > 0.5
    # A few resamples of 1,999; those of approximate randomisation are random on either side.
    error = 0.03 if test == "ar" else 2e-3
    assert both.joint("new").pvalue == pytest.approx(greater["new"].pvalue, abs=error)
    assert both.joint("copy").pvalue == greater["copy"].pvalue == 1
