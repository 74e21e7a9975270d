"""Agreement of raters: published numbers, peers, and every pair of ratings."""

import numpy as np
import pytest

import evalstats as es
from evalstats.designs import raters
from evalstats.designs.raters import RATERS_MEASURES
from tests.helpers import score_of

#: Krippendorff (2011), "Computing Krippendorff's alpha-reliability", section D: 12 units, 4 raters.
TABLE = [
    *([1, 1, None, 1], [2, 2, 3, 2], [3, 3, 3, 3], [3, 3, 3, 3], [2, 2, 2, 2], [1, 2, 3, 4]),
    *([4, 4, 4, 4], [1, 1, 2, 1], [2, 2, 2, 2], [None, 5, 5, 5], [None, None, 1, 1]),
    [None, None, 3, None],
]
#: He prints .743, .815 and .849; digits beyond are those of the packages krippendorff 0.9.0 and,
#: for AC1, irrCAC 0.4.4.
PUBLISHED = {
    "alpha": 0.743421052631579,
    "ordinal-alpha": 0.8153875037548814,
    "interval-alpha": 0.8491071428571428,
    "ac1": 0.775444068127,
}


def of(measure, **options):
    return es.Agreement(None if measure == "interval-alpha" else range(1, 6), measure, **options)


@pytest.mark.parametrize("measure", PUBLISHED)
def test_the_published_example(measure):
    expected = PUBLISHED[measure]
    assert score_of(of(measure, ratings=True), TABLE) == pytest.approx(expected, abs=1e-12)
    # Empty rows and raters change nothing.
    more = [[*row, None] for row in [*TABLE, [None] * 4]]
    assert score_of(of(measure, ratings=True), more) == pytest.approx(PUBLISHED[measure], abs=1e-12)


def test_kappas_are_scikit_learns():
    metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is a test extra")
    rng = np.random.default_rng(0)
    for _ in range(12):
        k, n = int(rng.integers(2, 6)), int(rng.integers(5, 40))
        first = rng.integers(k, size=n)
        second = np.where(rng.random(n) < 0.5, first, rng.integers(k, size=n))
        for weights, measure in ((None, "kappa"), *((w, f"{w}-kappa") for w in WEIGHTS)):
            options = {"labels": range(k), "weights": weights}
            expected = metrics.cohen_kappa_score(first, second, **options)
            found = score_of(es.Agreement(range(k), measure), first, second)
            assert found == pytest.approx(np.nan_to_num(expected), abs=1e-12)


WEIGHTS = ("linear", "quadratic")


def test_alpha_of_every_pair_of_ratings():
    """By its definition: all pairs within units against all pairs of ratings."""
    rng = np.random.default_rng(1)
    units = [[int(r) if r else None for r in rng.integers(5, size=4)] for _ in range(25)]
    told = [[r for r in row if r] for row in units]
    told = [row for row in told if len(row) > 1]
    values = [r for row in told for r in row]
    below = {c: sum(v < c for v in values) + sum(v == c for v in values) / 2 for c in range(1, 6)}
    apart = {
        "alpha": lambda c, k: c != k,
        "ordinal-alpha": lambda c, k: (below[c] - below[k]) ** 2,
        "interval-alpha": lambda c, k: (c - k) ** 2,
    }
    for measure, delta in apart.items():
        seen = sum(sum(delta(c, k) for c in row for k in row) / (len(row) - 1) for row in told)
        chance = sum(delta(c, k) for c in values for k in values) / (len(values) - 1)
        expected = 1 - seen / chance
        assert score_of(of(measure, ratings=True), units) == pytest.approx(expected, abs=1e-12)


def test_two_lists_are_rows_of_two():
    first, second = np.random.default_rng(2).integers(1, 6, size=(2, 40))
    for measure in PUBLISHED:
        pairs = np.stack([first, second], axis=1)
        assert score_of(of(measure), first, second) == score_of(of(measure, ratings=True), pairs)
    kappa = score_of(es.Confusion(range(1, 6), "kappa"), first, second)
    assert score_of(of("kappa"), first, second) == pytest.approx(kappa, abs=1e-12)


@pytest.mark.parametrize("measure", RATERS_MEASURES)
def test_perfect_agreement_is_1_and_nothing_to_agree_on_is_0(measure):
    ratings = [1, 2, 3, 3]
    assert score_of(of(measure), ratings, ratings) == 1
    same = score_of(of(measure), [2, 2], [2, 2])
    # To AC1 all the same is agreement.
    assert same == (1 if measure == "ac1" else 0)


@pytest.mark.parametrize("measure", RATERS_MEASURES)
def test_ratings_that_are_all_the_same_are_a_note(measure):
    same, other = [2, 2, 2], [1, 2, 3]
    text = str(es.estimate({"same": same, "other": other}, same, of(measure)))
    said = [line for line in text.splitlines() if "all ratings are the same" in line]
    assert len(said) == (measure != "ac1")
    assert all(" of same: " in line for line in said)


def test_a_rating_a_line_becomes_rows():
    lines = [
        (f"unit {i}", f"rater {j}", str(rating))
        for i, row in enumerate(TABLE)
        for j, rating in enumerate(row)
        if rating is not None
    ]
    np.random.default_rng(0).shuffle(lines)
    rows = es.ratings_by_item(*zip(*lines, strict=True))
    assert (len(rows), len(rows[0])) == (12, 4)
    labels = [str(k) for k in range(1, 6)]
    found = score_of(es.Agreement(labels, ratings=True), rows)
    assert found == pytest.approx(PUBLISHED["alpha"], abs=1e-12)


REFUSED = [
    (lambda: es.Agreement(measure="alpha"), "labels must list all labels for measure 'alpha'"),
    (lambda: es.Agreement([1, 2], "interval-alpha"), "labels must be left out, because ratings for"),
    (lambda: es.Agreement([1, 2], "fleiss"), "measure must be one of kappa, linear-kappa"),
    (lambda: es.Agreement([1, 2], "kappa", True), "ratings=True cannot be used with 'kappa', which compares two raters"),
    (lambda: score_of(es.Agreement([1, 2]), [1, 3], [1, 2]), r"hypotheses\[1\] is 3, .*not one of"),
    (lambda: score_of(es.Agreement([1, 2]), [1, 2], [1, None]), r"references\[1\] is None"),
    (lambda: score_of(of("alpha", ratings=True), [[1, 2], [None, 9]]), r"hypotheses\[1\]\[1\] is 9"),
    (lambda: score_of(of("alpha", ratings=True), [[1, 2], [1]]), r"hypotheses\[1\] has 1 and"),
    (lambda: score_of(of("alpha", ratings=True), [[1, None], [None, 2]]), "no item with two ratings"),
    (lambda: score_of(of("interval-alpha"), [1, 2], [1, None]), r"references\[1\] is missing"),
    (lambda: score_of(of("interval-alpha"), [1e9, 1e9 + 1], [1e9, 1e9]), "Subtract 1e.09 from all"),
    (lambda: es.ratings_by_item([1, 1], [2, 2], [3, 3]), r"ratings\[1\] is a second rating of item"),
    (lambda: es.ratings_by_item([], [], []), "items is empty; pass at least one line"),
]  # fmt: skip


@pytest.mark.parametrize("call, message", REFUSED, ids=[message for _, message in REFUSED])
def test_what_cannot_be_is_refused(call, message):
    with pytest.raises(es.InputError, match=message):
        call()


def test_rows_of_numbers_are_one_array(monkeypatch):
    rows = [[1, 2.5, None], [float("nan"), 3, 4], [0.1, 7, 2]]
    metric = es.Agreement(measure="interval-alpha", ratings=True)
    as_given = [[v if v is None else np.float64(v) for v in row] for row in rows]
    one_by_one = metric.statistics(as_given)
    monkeypatch.setattr(raters, "as_scores", None)
    np.testing.assert_array_equal(metric.statistics(rows), one_by_one)
