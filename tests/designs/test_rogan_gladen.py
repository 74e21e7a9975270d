"""Rates under a judge who errs: published numbers, people's labels, and the delta method."""

import numpy as np
import pytest

import evalstats as es
from tests.helpers import score_of


@pytest.mark.parametrize(
    ("n_yes", "n", "sens", "spec", "expected"),
    [
        # 150 cows, brucellosis; 151 children, Helicobacter pylori (Moujaber et al., 2008); three
        # herds, tuberculosis. A rate below 0 is 0.
        (23, 150, 0.96, 0.89, 5.1),
        (6, 151, 0.964, 0.927, 0),
        (8, 210, 0.60, 0.90, 0.00),
        (12, 189, 0.65, 0.95, 2.25),
        (7, 124, 0.70, 0.99, 6.73),
    ],
)
def test_rogan_gladen_of_published_numbers(n_yes, n, sens, spec, expected):
    """Cases per 100 in the examples of R's epiR, help page of epi.prev; they name all numbers."""
    totals = [n, n_yes, 1000, 1000 * sens, 1000, 1000 * spec]
    digits = len(str(expected).partition(".")[2])
    assert round(100 * float(es.RoganGladen().score(totals)), digits) == expected


def test_a_corrected_rate_is_at_most_1():
    assert es.RoganGladen().score([150, 149, 100, 96, 100, 89]) == 1


def test_where_the_judge_is_useless_the_gradient_is_that_of_the_labels():
    """Of 3 yes in 8: by yes 5/64, by no -3/64; the judge's columns say nothing."""
    totals = [100.0, 50.0, 3.0, 1.5, 5.0, 2.5]
    assert es.RoganGladen().score(totals) == 3 / 8
    assert es.RoganGladen().gradient(totals) == pytest.approx([0, 0, 5 / 64, 0, -3 / 64, 0])


def judged(n, n_labels, rate, sens, spec, rng):
    """Draw a judge's marks and people's labels of the first few."""
    people = (rng.random(n) < rate).astype(float)
    judge = np.where(people, rng.random(n) < sens, rng.random(n) >= spec).astype(int)
    people[n_labels:] = np.nan
    return np.stack([judge, people], axis=1)


def test_all_labels_give_their_own_rate_and_few_correct_the_judge():
    rng = np.random.default_rng(5)
    rows = judged(4000, 4000, 0.3, 0.8, 0.7, rng)
    rate, people = es.RoganGladen(pairs=True), rows[:, 1].mean()
    assert score_of(rate, rows) == pytest.approx(people)
    assert score_of(es.RoganGladen(), rows[:, 0], rows[:, 1]) == pytest.approx(people)
    some = es.estimate(judged(4000, 800, 0.3, 0.8, 0.7, rng), metric=rate, n_resamples=199)
    assert some.low < 0.3 < some.high
    assert not any("hardly tells" in note for note in some.notes)


def test_errors_are_those_of_rogan_and_gladen():
    """Their formula for p, sens and spec from independent samples, by the delta method."""
    n, n_yes, n_no = 1500, 300, 200
    p, sens, spec = 0.4, 0.9, 0.75
    parts = np.array([n, p * n, n_yes, sens * n_yes, n_no, spec * n_no])
    slopes = es.RoganGladen().gradient(parts)
    # The variances of three binomials, by the slope of the number of successes of each.
    spread = np.array([p * (1 - p) * n, sens * (1 - sens) * n_yes, spec * (1 - spec) * n_no])
    found = np.sum(slopes[[1, 3, 5]] ** 2 * spread)
    top, bottom = p + spec - 1, sens + spec - 1
    rate = top / bottom
    expected = (
        p * (1 - p) / n
        + rate**2 * sens * (1 - sens) / n_yes
        + (1 - rate) ** 2 * spec * (1 - spec) / n_no
    ) / bottom**2
    assert found == pytest.approx(expected)


def test_a_judge_who_hardly_tells_is_a_note():
    rng = np.random.default_rng(6)
    systems = {
        name: judged(600, 200, 0.3, sens, 0.6, rng)
        for name, sens in (("sees", 0.9), ("blind", 0.45))
    }
    found = es.compare(systems, metrics=es.RoganGladen(pairs=True), n_resamples=99)
    (note,) = [note for note in found.notes if "hardly tells" in note]
    assert note.startswith("corrected rate of blind: the judge hardly tells yes from no (sens")
    alone = es.estimate(systems["blind"], metric=es.RoganGladen(pairs=True), n_resamples=99)
    assert any("hardly tells yes from no" in note for note in alone.notes)
    # Of few labels of one kind that is not known.
    rare = judged(600, 60, 0.95, 0.9, 0.9, rng)
    assert 0 < np.sum(rare[:, 1] == 0) < 10
    found = es.estimate(rare, metric=es.RoganGladen(pairs=True), n_resamples=99)
    assert any("fewer than 10 labels are yes, or no" in note for note in found.notes)


def test_without_yes_or_no_the_labels_are_the_rate():
    rate = es.RoganGladen()
    assert rate.score([10, 2, 0, 0, 3, 1]) == 0
    assert rate.score([10, 8, 3, 1, 0, 0]) == 1
    # The judge says yes as often to either.
    assert rate.score([10, 5, 4, 2, 2, 1]) == pytest.approx(4 / 6)


REFUSED = [
    (lambda: es.RoganGladen().statistics([1, 2], [1, None]), r"hypotheses\[1\] must be 0 or 1"),
    (
        lambda: es.RoganGladen().statistics([1, 0], [1, "y"]),
        r"references\[1\] must be 0, 1 or None",
    ),
    (lambda: es.RoganGladen().statistics([1, 0], [None, None]), "references has no label; give"),
    (lambda: es.RoganGladen(True).statistics([[1, 0], [1]]), r"hypotheses\[1\] must be a pair"),
]


@pytest.mark.parametrize("call, message", REFUSED, ids=[message for _, message in REFUSED])
def test_what_cannot_be_is_refused(call, message):
    with pytest.raises(es.InputError, match=message):
        call()
