"""Quality gates: how often they fail when they should not, and pass when they should not."""

from dataclasses import replace

import numpy as np
import pytest

import evalstats as es
from tests.helpers import bad_cases

MEAN = es.Mean("judge")
ERRORS = es.Mean("errors", higher_is_better=False)


def failures(shift, n=80, **options):
    """Return in how many of 9 trials the gate fails."""
    count = 0
    for trial in range(9):
        rng = np.random.default_rng([7, trial])
        old = rng.normal(size=n)
        new = old + shift + rng.normal(scale=0.5, size=n)
        try:
            es.assert_not_worse(new, old, None, MEAN, n_resamples=499, rng=trial, **options)
        except AssertionError:
            count += 1
    return count


def test_a_large_loss_is_seen_and_a_small_one_within_the_margin_is_let_through():
    # Standard error 0.5/√80 = 0.056: these are 5 and 9 of them.
    assert failures(-0.3) == 9
    assert failures(-0.3, margin=0.8) == 0
    # Few segments: no evidence of a loss, and none of its absence.
    assert failures(-0.1, n=6, margin=0.2) >= 6
    assert failures(0.0, n=6) <= 3


@pytest.mark.parametrize("metric, sign", [(MEAN, 1), (ERRORS, -1)], ids=["higher", "lower"])
def test_direction(metric, sign):
    worse, better = np.arange(30.0) % 7, np.arange(30.0) % 7 + sign * np.arange(1, 31) / 10
    passed = es.assert_not_worse(better, worse, metric=metric, margin=0.01)
    (check,) = passed
    assert check.difference.winner == "system"
    assert (check.verdict, check.needed is None) == ("passed", False)
    (check,) = es.assert_not_worse(better, worse, metric=metric)
    assert check.difference.pvalue == check.pvalue_failed == 1
    for margin in (None, 0.5):
        with pytest.raises(AssertionError):
            es.assert_not_worse(worse, better, metric=metric, margin=margin)


def test_p_value_and_bound_are_those_of_compare(sample):
    new, old = sample.systems["slightly-better"][:60], sample.systems["baseline"][:60]
    references = sample.references[:60]
    options = {"groups": sample.documents[:60], "n_resamples": 199, "rng": 3}
    (check,) = es.assert_not_worse(new, old, references, "wer", **options)
    (expected,) = es.compare(
        {"baseline": old, "system": new}, references, "wer", baseline="baseline",
        alternative="greater", confidence_level=0.9, **options,
    )  # fmt: skip
    assert check.difference == expected
    assert (check.pvalue_failed, check.pvalue_failed_adjusted) == (expected.pvalue,) * 2
    (same,) = es.assert_not_worse(old, list(old), references, "wer")
    assert same.difference.pvalue == 1


def test_a_saved_baseline(tmp_path, sample):
    path = tmp_path / "v1.npz"
    es.extract({"v1": sample.systems["clearly-better"]}, sample.references, "chrf").save(path)
    old, new = es.SegmentStatistics.load(path), sample.systems["baseline"]
    with pytest.raises(
        AssertionError, match=r"FAILED: system against v1 \(required: no sig[^!]*chrF2 ↑ .* -\d"
    ):
        es.assert_not_worse(new, old, sample.references)
    with pytest.raises(es.InputError, match="must be computed with the same references"):
        es.assert_not_worse(new, old, [r[:1] for r in sample.references])


def test_messages():
    old, new = np.arange(40.0), np.arange(40.0) - np.arange(40) % 3
    for margin, parts in (
        (None, [
            "FAILED: system against baseline (required: no significant loss; level 0.05)\n",
            "18.5", "-0.98", "judge: failed. The loss is significant (p < 0.0001)", "judge|mean|",
        ]),
        (1, [
            "UNDECIDED: system against baseline (allowed loss: below 1; level 0.05)\n",
            "judge: undecided. We could not show that the loss is within the limit (p = 0.4", ". The difference is too uncertain",
            "the smallest margin that you can claim is ",
        ]),
    ):  # fmt: skip
        with pytest.raises(AssertionError) as caught:
            es.assert_not_worse(new, old, None, MEAN, margin=margin)
        places = [str(caught.value).find(part) for part in parts]
        assert -1 not in places
        assert places == sorted(places)


A, B, SHORT = (
    es.extract({name: scores}, metric=MEAN)
    for name, scores in (("A", [1, 2, 3.0]), ("B", [1, 2, 3.0]), ("B", [1.0, 2]))
)


@bad_cases(
    (
        (A, B, None, "ter"),
        {},
        "metrics must be left out when .*SegmentStatistics, which already have",
    ),
    ((A, B, ["r"] * 3), {}, "references must be left out when you pass SegmentStatistics"),
    ((A, B.join(A, B)), {}, r"baseline must contain a single system, got \['A', 'B'\]"),
    ((A, B), {"margin": 0}, "margin must be above 0, got 0. Pass only its size"),
    ((A, B), {"significance_level": 0.5}, "significance_level must be between 0 and 0.5, got"),
    ((A, SHORT), {}, "must have the same segments, got 2 for"),
)
def test_bad_input(arguments, options):
    es.assert_not_worse(*arguments, **options)


def test_statistics_of_one_name_are_told_apart():
    for sides, names in (
        ((A, replace(A)), ("A (baseline)", "A")),
        (([1, 2, 3], A), ("A", "system")),
        ((A, [1, 2, 3]), ("baseline", "A")),
    ):
        (check,) = es.assert_not_worse(*sides)
        assert (check.difference.baseline, check.difference.system) == names
