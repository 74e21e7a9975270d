"""A score held against a fixed number: gates, looks, what is refused."""

import json
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy import stats
from scipy.stats import binom, binomtest, norm, ttest_1samp

import evalstats as es
from evalstats.analysis.counts import Share
from evalstats.data import load_sample
from evalstats.designs.samples import ShareAgainst
from evalstats.questions.power.noncentral import share_power
from tests.helpers import bad_cases, refuses

ACC, SCORE = es.Mean("acc"), es.Mean("score")


def of(successes, n, **options):
    return es.gate(np.arange(n) < successes, metrics=ACC, **options)


def least_passing(n, number):
    return next((k for k in range(n + 1) if of(k, n, at_least=number).verdict == "passed"), n + 1)


@pytest.mark.parametrize(("k", "n", "number"), [(97, 100, 0.9), (61, 100, 0.5), (10, 10, 0.9)])
def test_shares_have_the_score_test_and_wilsons_interval(k, n, number):
    (check,) = of(k, n, at_least=number)
    z = (k / n - number) / np.sqrt(number * (1 - number) / n)
    assert check.pvalue_passed == pytest.approx(norm.sf(z), rel=1e-12)
    assert check.pvalue_failed == pytest.approx(norm.cdf(z), rel=1e-12)
    wilson = binomtest(k, n).proportion_ci(0.9, method="wilson")
    assert (check.low, check.high) == pytest.approx(tuple(wilson), abs=1e-12)
    # So that a verdict and the interval cannot disagree.
    assert (check.verdict == "passed") == (check.low > number)
    # Of a score in per cent, and of another null value, it is the same test.
    percent = es.Ratio("acc", scale=100.0)
    marks = [[x, 1] for x in np.arange(n) < k]
    (scaled,) = es.gate(marks, metrics=percent, at_least=100 * number)
    assert (scaled.low, scaled.high) == pytest.approx((100 * check.low, 100 * check.high))
    assert (scaled.pvalue_passed, scaled.needed) == (check.pvalue_passed, check.needed)
    share = ShareAgainst(100.0, np.inf, Share(k / n, n, 0.0, np.inf), number - 0.05)
    assert share.pvalue(5.0, "greater") == pytest.approx(check.pvalue_passed)
    assert 0 <= share.pvalue(-99.9, "greater") < share.pvalue(100.0, "greater") <= 1


@pytest.mark.parametrize(
    ("number", "n", "wrong"),
    [(0.5, 30, 0.049), (0.5, 100, 0.044), (0.9, 30, 0.042), (0.9, 100, 0.058), (0.99, 100, 0.0)],
)
def test_wrong_passes_of_shares_are_those_of_the_binomial_distribution(number, n, wrong):
    """All outcomes are enumerated: no chance is in it."""
    assert binom.sf(least_passing(n, number) - 1, n, number) == pytest.approx(wrong, abs=5e-4)


@pytest.mark.parametrize("strata", [None, [0, 1] * 20])
def test_a_number_has_the_larger_p_value_of_t_and_of_halls_t(strata):
    """Hall (1992), for scores near their worst: below, those near their best are as t says."""
    worse = 1 - np.random.default_rng(1).lognormal(0, 1, 40) / 10
    codes = np.zeros(40, int) if strata is None else np.array(strata)
    for scores in (worse, -worse):
        u = scores - np.array([np.mean(scores[codes == c]) for c in codes])
        s = np.sum(u**3) / np.sum(u**2) ** 1.5
        number = np.mean(scores) - 0.03
        (check,) = es.gate(scores, metrics=SCORE, at_least=number, strata=strata, n_resamples=9)
        found = es.estimate(scores, metric=SCORE, strata=strata, method="t")
        t, n = 0.03 / found.standard_error, 40 - len(set(codes))
        if strata is None:
            assert t == pytest.approx(ttest_1samp(scores, number).statistic)
        hall = t + s / 6 * (2 * t**2 + 1) + s**2 / 27 * t**3
        expected = stats.t.sf(min(t, hall), n)
        assert (hall < t) == (scores is worse)
        assert check.pvalue_passed == pytest.approx(expected, rel=0.02 if strata else 1e-9)
        assert (check.low > number) == (check.pvalue_passed <= 0.05)
        # At the bound itself the p-value is the level.
        (check,) = es.gate(scores, metrics=SCORE, at_least=check.low, strata=strata)
        assert check.pvalue_passed == pytest.approx(0.05, rel=1e-9)


def test_metrics_of_text_and_few_units_are_held_against_a_number():
    sample = load_sample()
    (check,) = es.gate(sample.systems["baseline"], None, sample.references, "bleu", at_least=36)
    known = es.estimate(sample.systems["baseline"], sample.references, confidence_level=0.9)
    assert (check.low, check.high) == pytest.approx((known.low, known.high), abs=0.15)
    assert "test:t-at-least-36" in check.signature
    assert "seed" not in check.signature
    (check,) = es.gate([0.61, 0.7, 0.55, 0.8, 0.72], metrics=SCORE, at_least=0.5)
    assert check.needed is not None


def test_scores_of_a_judge_that_people_correct_have_the_interval_of_estimate():
    """Few labels, under which the judge is never wrong, leave room for one error."""
    right = np.random.default_rng(4).random(300) < 0.8
    pairs = [(float(x), float(x) if i < 20 else None) for i, x in enumerate(right)]
    table = es.extract({"A": pairs}, metric=es.Judged(ACC))
    (check,) = es.gate(table, at_least=0.5)
    known = es.estimate(table, confidence_level=0.9)
    assert (check.low, check.high) == pytest.approx((known.low, known.high), abs=1e-9)


@pytest.mark.parametrize("right", [0.4, 1.0])
def test_a_number_that_no_outcome_reaches_is_said_whatever_the_score(right):
    """All right pass from z²·.99/.01 = 267.9 items on."""
    few, enough = (of(right * n, n, at_least=0.99) for n in (267, 268))
    said = (
        "with 267 segments, even the best possible score would not pass (at least 0.99, level 0.05)"
    )
    assert few.notes[0] == f"acc: {said}. At least 268 are needed."
    verdicts = ("failed", "failed") if right < 1 else ("undecided", "passed")
    assert (few.verdict, enough.verdict) == verdicts
    assert not any("best possible" in note for note in enough.notes)
    errors = es.Mean("errors", higher_is_better=False)
    for n, is_said in ((267, True), (268, False)):
        found = es.gate(np.arange(n) >= right * n, metrics=errors, at_most=0.01)
        assert any("best possible" in note for note in found.notes) == is_said
    # Of groups the effective number counts.
    found = es.gate(np.ones(400), metrics=ACC, at_least=0.99, groups=np.arange(400) // 4)
    assert "with 100 groups, even the best possible" in found.notes[0]
    assert of(99, 100, at_least=0.95).notes == ()


def test_lower_scores_are_better_of_errors():
    errors = [3.0, 2.5, 4.0, 3.5, 2.0, 3.0, 2.2, 2.8]
    metric = es.Mean("errors", higher_is_better=False)
    assert es.gate(errors, metrics=metric, at_most=4).verdict == "passed"
    assert es.gate(errors, metrics=metric, at_most=2).verdict == "failed"
    refuses(
        r"^at_least applies to metrics for which higher is better, but .* use at_most",
        es.gate,
        errors,
        metrics=metric,
        at_least=4,
    )


def test_groups_count_as_groups():
    scores = np.repeat([1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1], 20)
    groups = np.repeat(np.arange(12), 20)
    alone, grouped = (es.gate(scores, metrics=ACC, at_least=0.8, groups=g) for g in (None, groups))
    assert alone.verdict == "passed"
    assert grouped.verdict == "undecided"


def test_all_tasks_have_to_pass_or_the_total_alone():
    tasks = {
        "law": es.extract({"A": np.arange(100) < 97}, metric=ACC),
        "art": es.extract({"A": np.arange(100) < 88}, metric=ACC),
    }
    found = es.gate(tasks, at_least=0.85)
    assert [(c.task, c.verdict) for c in found] == [
        ("law", "passed"),
        ("art", "undecided"),
        ("both tasks", "passed"),
    ]
    assert found.verdict == "undecided"
    assert es.gate(tasks, at_least=0.85, on="total").verdict == "passed"
    assert [c.n_checks for c in found] == [3, 3, 3]
    assert [c.n_checks for c in es.gate(tasks, at_least=0.85, on="total")] == [1, 1, 1]
    assert found.checks[0].pvalue_failed_adjusted == 1.0


def test_all_metrics_have_to_pass_and_one_missing_score_is_said():
    values = np.ones((1, 100, 2))
    values[0, :40, 0] = 0
    poor = es.SegmentStatistics(values, ["A"], es.Mean("f1"))
    found = es.gate([es.extract({"A": np.arange(100) < 97}, metric=ACC), poor], at_least=0.7)
    assert [(c.metric, c.verdict) for c in found] == [("acc", "passed"), ("f1", "failed")]
    values[0, 0] = 0
    lacking = es.gate(es.SegmentStatistics(values, ["A"], es.Mean("f1")), at_least=0.3)
    assert "Caution: 1 of 100 segments of A has no f1 score, and it may" in lacking.notes[0]
    # A system may be called as the number.
    twice = es.gate({"0.9": np.arange(100) < 97}, metric=ACC, at_least=0.9)
    assert twice.checks[0].difference.baseline == "0.9 (number)"


def test_every_form_says_the_number(tmp_path):
    found = of(93, 100, at_least=0.9)
    assert found.exit_code == 3
    assert es.Gate.from_json(found.to_json()) == found
    text = found.to_text(findings=False)
    assert text.startswith("UNDECIDED: system (required: at least 0.9; level 0.05)")
    assert "We could not show that the true score is at least 0.9 (p = 0.16)" in text
    case = ElementTree.fromstring(found.to_junit().encode())[0][0]
    assert case.text == "system 0.930 [0.876, 0.962], required: at least 0.9"
    found.report(tmp_path / "gate.html")
    assert "at least 0.9" in (tmp_path / "gate.html").read_text(encoding="utf-8")
    with pytest.raises(AssertionError, match="UNDECIDED"):
        es.assert_not_worse(np.arange(100) < 93, metrics=ACC, at_least=0.9)


def test_as_many_items_as_it_needs_show_it():
    """Power of the normal approximation, against the binomial distribution within .03."""
    (check,) = of(93, 100, at_least=0.9)
    (row,) = es.power(np.arange(100) < 93, metrics=ACC, at_least=0.9, difference=0.03)
    assert (row.test, row.baseline, row.needed) == ("score", "0.9", check.needed)
    n = check.needed
    assert share_power(0.9, 0.93, n, 0.05) >= 0.8 > share_power(0.9, 0.93, n - 1, 0.05)
    error = np.sqrt(0.9 * 0.1 / n)
    k = np.ceil(n * (0.9 + norm.isf(0.05) * error))
    assert binom.sf(k - 1, n, 0.93) == pytest.approx(0.8, abs=0.03)


def test_a_rate_of_errors_needs_as_many_items_as_its_mirror_image():
    right = np.arange(100) < 93
    wrong = es.Mean("errors", higher_is_better=False)
    result = es.power(1 - right, metrics=wrong, at_most=0.1, difference=0.03)
    (row,) = result
    assert result.alternative == "less"
    (same,) = es.power(right, metrics=ACC, at_least=0.9, difference=0.03)
    assert (row.needed, row.power) == pytest.approx((same.needed, same.power))


def test_looks_at_one_system_have_the_p_values_of_the_gate():
    rng = np.random.default_rng(1)
    scores = rng.random(400) < 0.95
    test = es.SequentialTest(of=400, looks=8, metric=ACC, at_least=0.9)
    look = test.look(scores[:50])
    (check,) = es.gate(scores[:50], metrics=ACC, at_least=0.9)
    assert look.pvalue == check.pvalue_passed
    state = json.loads(json.dumps(test.state_dict()))
    assert "; required: at least 0.9; level" in str(test.result)
    assert {"number", "score"} <= set(str(test.result).split())
    assert "better score" not in str(test.result) + test.result.to_junit()
    other = es.SequentialTest(of=400, looks=8, metric=ACC, at_least=0.9)
    other.load_state_dict(state)
    assert other.look(scores[:300]) == test.look(scores[:300])
    assert test.result.verdict == "passed"
    with pytest.raises(es.InputError, match=r"test with bound 'at least 0.9', but"):
        es.SequentialTest(of=400, looks=8, metric=ACC, at_least=0.8).load_state_dict(state)


@pytest.mark.thorough
@pytest.mark.parametrize("of", [400, None])
def test_looks_at_a_score_that_is_the_number_pass_seldom(of):
    """600 evaluations, seed 3: of a rate of .05 more than .078 are passed with probability .002."""
    rng, passed = np.random.default_rng(3), 0
    for _ in range(600):
        scores = rng.random(400) < 0.9
        test = es.SequentialTest(of=of, looks=8, metric=ACC, at_least=0.9)
        for n in range(50, 401, 50):
            look = test.look(scores[:n])
            if look.verdict != "go on":
                break
        passed += look.verdict == "passed"
    assert passed <= 0.078 * 600


@pytest.mark.thorough
@pytest.mark.parametrize("n", [30, 100])
def test_means_that_are_the_number_pass_seldom(n):
    """1,000 gates, seed 5: of a rate of .05 more than .072 pass with probability .001."""
    rng, passed = np.random.default_rng(5), 0
    for i in range(1000):
        scores = rng.choice(5, n, p=[0.05, 0.1, 0.15, 0.3, 0.4])
        found = es.gate(scores, metrics=SCORE, at_least=2.9, n_resamples=499, rng=i, executor=1)
        passed += found.verdict == "passed"
    assert passed <= 72


@bad_cases(
    ({"at_least": 0.9, "at_most": 0.9}, "pass either at_least or at_most"),
    ({"at_least": 1.0}, "at_least must be above 0 and below 1, the bounds of acc; got 1"),
    ({"at_least": 0.3, "metrics": "chrf", "hypotheses": ["ab", "cd"], "references": ["ab", "ce"]},
     "at_least is 0.3, but chrF2 ranges from 0 to 100. If you mean 30, pass 30"),
    ({"at_least": 0.9, "margin": 0.1},
     "at_least compares a single system.*but margin requires two systems;"),
    ({"at_least": 0.9, "base": [1, 0, 1]}, "but base requires two systems;"),
    ({"at_least": "0.9"}, "at_least must be a number"),
    ({}, r"a recovery \(the share to keep\) or, without a baseline, at_least"),
    ({"at_least": 0.4, "metrics": SCORE, "hypotheses": [0.5] * 4}, "is the same on all 4 segm"),
)  # fmt: skip
def test_what_has_no_answer_is_refused(options):
    es.gate(**{"hypotheses": [1, 0, 1], "metrics": ACC, **options})


def test_two_systems_and_a_number_are_refused():
    both = {"A": [1, 0, 1], "B": [1, 1, 1]}
    refuses(
        "compares a single system with a number, got A, B", es.gate, both, metrics=ACC, at_least=0.5
    )
    test = es.SequentialTest(metric=ACC, at_least=0.5)
    refuses("base must be the baseline's items so far", test.look, [1, 0, 1], [1, 1, 1])
    with pytest.raises(es.InputError, match="same on all 20 segments, so its uncertainty cannot"):
        es.SequentialTest(metric=SCORE, at_least=0.4).look([0.5] * 20)


def test_the_command_line_needs_no_baseline(tmp_path, refused, typed):
    path = tmp_path / "scores.csv"
    rows = [f"new,{i},{int(i >= 3)}" for i in range(100)]
    path.write_text("\n".join(["system,item,acc", *rows]), encoding="utf-8")
    assert "PASSED: new (required: at least 0.9" in typed("gate", path, "--at-least", "90%")
    state = str(tmp_path / "state.json")
    looks = ["--of", "200", "--state", state]
    assert "new against 0.8 on 100 of 200 items" in typed("gate", path, "--at-least", "0.8", *looks)
    assert "not both" in refused("gate", path, "--at-least", "0.9", "--baseline", "old")
