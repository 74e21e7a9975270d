"""Claims of several pairs and tasks: p-values adjusted together, as Holm's method is by hand."""

import numpy as np
import pytest
from scipy import stats

import evalstats as es
from tests.analysis.test_suites import holm_by_hand
from tests.helpers import graded

MARKS = es.Mean("marks")
BY_T = {"method": "t"}
KINDS = ("pvalue_not_worse", "pvalue_equivalence")
HOW = {
    "max-t": holm_by_hand,
    "holm": holm_by_hand,
    "benjamini-hochberg": stats.false_discovery_control,
    "none": list,
}


def check(family, kind, adjustment):
    known = [getattr(d, kind) for d in family]
    found = [getattr(d, f"{kind}_adjusted") for d in family]
    assert found == pytest.approx(list(HOW[adjustment](known)), rel=1e-12)
    assert (adjustment == "none") == (found == known)


@pytest.mark.parametrize("adjustment", HOW)
def test_the_claims_of_all_pairs_and_tasks_are_a_family_and_the_totals_another(adjustment):
    asked = {"margin": 0.4, "n_resamples": 199, "adjustment": adjustment}
    alone = es.compare(graded(4, 60, 0.05), metrics=[MARKS, es.Mean("other")], **asked)
    suite = es.Suite(
        {t: es.extract(graded(4, 60, 0.05, i), metric=MARKS) for i, t in enumerate("xyz")}
    )
    tasks = suite.compare(**asked)
    for kind in KINDS:
        for metric in ("marks", "other"):
            check([d for d in alone if d.metric == metric], kind, adjustment)
        check(tasks.rows, kind, adjustment)
        check(tasks.totals, kind, adjustment)
    assert len(tasks.rows) == 18
    recovered = es.compare({s: x + 9 for s, x in graded(4, 60, 0.05).items()}, metrics=MARKS,
                           recovery=0.95, n_resamples=199, adjustment=adjustment)  # fmt: skip
    check(recovered, "pvalue_not_worse", adjustment)
    assert {d.pvalue_equivalence_adjusted for d in recovered} == {None}


def test_verdicts_are_by_the_adjusted_p_values_and_bounds_are_each_pairs():
    given = graded(5, 60, 0.05)
    many = es.compare(given, metrics=MARKS, margin=0.35, **BY_T)
    each = es.compare(given, metrics=MARKS, margin=0.35, adjustment="none", **BY_T)
    turned = [(a.claim, b.claim) for a, b in zip(each, many, strict=True)]
    assert {("equivalent", "not shown"), ("not worse", "not shown")} <= set(turned)
    for a, b in zip(each, many, strict=True):
        assert a.loss_bound == b.loss_bound
        assert a.pvalue_worse == b.pvalue_worse
        adjusted = b.pvalue_equivalence_adjusted
        assert (b.claim == "equivalent") == (adjusted <= 0.05)
    (note,) = [note for note in many.notes if "margin of 0.35" in note]
    assert "The level is 0.05, adjusted for 10 comparisons (holm)." in note
    assert "the smallest margin that you can claim." in note
    said = "Blackwelder, 1982), adjusted for all comparisons by Holm's method (1979)."
    assert said in many.describe()
    assert "Blackwelder, 1982). " in each.describe()
    (note,) = [note for note in each.notes if "margin of 0.35" in note]
    assert "The level is 0.05 for each comparison." in note
    pair = es.compare(graded(2, 60, 0.05), metrics=MARKS, margin=0.35, **BY_T)
    (note,) = [note for note in pair.notes if "margin of 0.35" in note]
    assert (
        "neither could be shown. The level is 0.05. CSV and JSON contain the smallest margin"
        in note
    )


def test_a_pair_of_which_nothing_can_be_claimed_counts_among_them():
    marks = np.arange(40.0) % 5
    moved = np.roll(marks, 1)
    given = {"A": marks, "B": marks, "C": marks + (moved > 3)}
    result = es.compare(given, metrics=MARKS, margin=1.0, baseline="A", **BY_T)
    assert not result["B"].is_tested
    test = result["C"]
    assert test.pvalue_equivalence_adjusted == 2 * test.pvalue_equivalence
    assert test.pvalue_not_worse_adjusted == 2 * test.pvalue_not_worse


def test_all_claims_of_a_gate_have_to_hold_and_none_is_adjusted():
    rng = np.random.default_rng(1)
    tasks = {}
    for name in "abcdefgh":
        old = rng.normal(size=50)
        tasks[name] = [es.extract({"old": old, "new": old + rng.normal(size=50)}, metric=MARKS)]
    found = es.gate(tasks, "old", margin=0.25, n_resamples=199)
    close = [c for c in found if 0.05 / 8 < c.pvalue_passed <= 0.05]
    assert close
    assert {c.verdict for c in close} == {"passed"}
    for check in found:
        test = check.difference
        assert test.pvalue_not_worse_adjusted == test.pvalue_not_worse
