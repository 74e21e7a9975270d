"""Monitor: its numbers are those of estimate and compare, its rates are what it promises."""

import json
import re
from contextlib import suppress

import numpy as np
import pytest
from scipy import stats

import evalstats as es
from evalstats.data import load_sample
from evalstats.designs.spending import DrawnLooks, next_look, steady
from evalstats.inference import student
from evalstats.inference.counts import tango
from evalstats.training.history import flipped
from tests.helpers import cases, refuses


def noise(seed, n_checks, n_segments=100, spread=1.0):
    """Segment scores of checkpoints that are all equally good, `(checks, N)`; the truth is 0."""
    rng = np.random.default_rng(seed)
    difficulty = rng.normal(size=n_segments)
    return difficulty + spread * rng.normal(size=(n_checks, n_segments)), difficulty.mean()


def watched(scores, metric=None, **options):
    monitor = es.Monitor(None, metric or es.Mean("judge"), **options)
    for step, row in enumerate(scores):
        monitor.check(step, row)
    return monitor


# What a check says


@pytest.mark.parametrize("metric", ["bleu", "wer"])
def test_numbers_are_those_of_estimate_and_compare(sample, metric):
    names = ("baseline", "slightly-better", "clearly-better", "baseline")
    monitor = es.Monitor(sample.references, metric)
    checks = [monitor.check(10 * i, sample.systems[name]) for i, name in enumerate(names)]
    for check, name in zip(checks, names, strict=True):
        expected = es.estimate(sample.systems[name], sample.references, metric, method="t")
        assert check.score == expected.score
        assert (check.low, check.high) == pytest.approx((expected.low, expected.high), abs=1e-9)
        assert check.standard_error == pytest.approx(expected.standard_error)
    assert [check.improved for check in checks] == [False, False, True, False]
    assert [check.compared_with for check in checks] == [None, 0, 0, 20]
    assert [check.best.step for check in checks] == [0, 0, 20, 20]
    assert [check.highest.step for check in checks] == [0, 10, 20, 20]
    result = es.compare(sample.systems, sample.references, metric, method="t", baseline="baseline")
    differences = {d.system: d for d in result}
    for check, name in zip(checks[1:3], names[1:3], strict=True):
        d = differences[name]
        assert check.difference == pytest.approx(d.difference, abs=1e-12)
        # Not below half of the two-sided one; what is wider than t is so on the side of a long tail.
        assert d.pvalue / 2 * (1 - 1e-9) <= check.pvalue < 2 * d.pvalue
        wider = np.array([d.low - check.difference_low, check.difference_high - d.high])
        assert np.min(wider) == pytest.approx(0, abs=1e-9)
        assert 1e-4 < np.max(wider) < 0.3 * (d.high - d.low)
    assert checks[2].difference * (1 if checks[2].higher_is_better else -1) > 0
    assert checks[3].difference == -checks[2].difference
    assert checks[3].pvalue == pytest.approx(1, abs=1e-3)


def halls(t, gained):
    """Hall's (1992) statistic as his paper has it, with SciPy's skewness."""
    n, skewness = len(gained), stats.skew(gained)
    return t + skewness / np.sqrt(n) * (t**2 / 3 + 1 / 6) + skewness**2 / n * t**3 / 27


@pytest.mark.parametrize("tail", [-1, 0, 1])
def test_pvalue_of_a_mean_is_the_larger_of_the_paired_t_tests_and_halls(tail):
    (a, b), _ = noise(1, 2)
    b = b + tail * np.random.default_rng(2).exponential(2, size=100) - 2 * tail
    t, plain = stats.ttest_rel(b, a, alternative="greater")
    corrected = stats.t.sf(halls(t, b - a), 99)
    found = watched([a, b]).last
    assert found.pvalue == pytest.approx(max(plain, corrected))
    # Gains with a long tail are more than t says, losses with one less.
    assert tail == 0 or (plain > corrected) == (tail > 0)
    lower = es.Mean("x", higher_is_better=False)
    assert watched([a, b], lower).last.pvalue == pytest.approx(1 - min(plain, corrected))
    # What the interval leaves out one of the two rejects.
    error, q = stats.sem(b - a), stats.t.isf(0.025, 99)
    for bound, beyond in ((found.difference_low, 1), (found.difference_high, -1)):
        least = beyond * ((b - a).mean() - bound) / error
        assert min(least, beyond * halls(beyond * least, b - a)) == pytest.approx(q)


def test_halls_statistic_has_the_t_distribution_that_t_has_not():
    """Means of 40 exponential numbers: each of four rates is off by .011 in one of 1,000 seeds."""
    x = np.random.default_rng(0).exponential(size=(8_000, 40))
    t = (x.mean(axis=1) - 1) / stats.sem(x, axis=1)
    skewness = np.array([student.skewness(row) for row in x])
    assert skewness == pytest.approx(stats.skew(x, axis=1) / np.sqrt(40))
    g = np.array([student.hall(*pair) for pair in zip(t, skewness, strict=True)])
    q = stats.t.isf(0.05, 39)
    rates = [[np.mean(side * found >= q) for side in (-1, 1)] for found in (t, g)]
    assert rates[0] == pytest.approx([0.097, 0.019], abs=0.011)
    assert rates[1] == pytest.approx([0.068, 0.039], abs=0.011)
    back = [student.hall_inverse(*pair) for pair in zip(g, skewness, strict=True)]
    assert back == pytest.approx(t, abs=1e-9)


def test_skewness_and_kurtosis_are_scipys_whatever_the_scale():
    x = np.random.default_rng(1).exponential(size=200)
    for scale in (1e-300, 1, 1e300):
        assert student.skewness(x * scale) * 200**0.5 == pytest.approx(stats.skew(x))
        assert student.kurtosis(x * scale, 200) == pytest.approx(stats.kurtosis(x) + 3)
    assert (student.skewness(np.ones(3)), student.kurtosis(np.ones(3), 3)) == (0, None)
    # Where t overflows the corrected one is as infinite, and on the same side.
    assert (student.hall(1e200, -0.5), student.hall(-1e200, 0.5)) == (np.inf, -np.inf)


def test_a_run_says_where_few_segments_decide():
    """Each step fails on 2% of its own of N = 200; of 2,000 that is enough, and normal noise is."""
    rng = np.random.default_rng(0)
    for n, fails, noted in ((200, 0.02, True), (2000, 0.02, False), (200, 0, False)):
        fallen = 80 * (rng.random((12, n)) < fails)
        run = watched(85 + 5 * rng.normal(size=(12, n)) - fallen)
        said = "200 segments differ from the best step, and about \\d+ of them make up most of the difference"
        assert [bool(re.search(said, note)) for note in run.notes] == [True] * noted
        assert all(note in str(run) for note in run.notes)
        basis = run.last.basis
        assert (basis.test, basis.n_differing) == ("t", n)
        assert basis.worth == pytest.approx(n / basis.kurtosis)
        assert fails or basis.kurtosis < 5


def test_a_first_step_that_never_fails_is_no_bad_step():
    """Later steps gain .1 and fall by 5 on 2% of 1,000: that k or fewer fall has an exact p.

    t calls it an improvement where they are few by chance. So have 40 - k or more falls of the
    first step, after which one without any looks better.
    """
    for k in (3, 5, 8, 10):
        few, many = (np.where(np.arange(1000) < n, -4.9, 0.1) for n in (k, 40 - k))
        exact = stats.binom.cdf(k, 1000, 0.02)
        assert stats.ttest_1samp(few, 0, alternative="greater").pvalue < exact / 10
        assert watched([np.zeros(1000), few]).last.pvalue >= exact
        exact = stats.binom.sf(40 - k - 1, 1000, 0.02)
        assert watched([many, np.zeros(1000)]).last.pvalue >= exact


SHARE = es.Ratio("share", ["right", "asked"], [1, 0], [0, 1], scale=100)


@pytest.mark.parametrize("metric", [es.Mean("accuracy"), SHARE])
@pytest.mark.parametrize("grouped", [False, True])
def test_shares_have_wilsons_interval_as_in_estimate(metric, grouped):
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(12), [1, 2, 3, 4, 5, 5] * 2) if grouped else None
    answers = (rng.random((2, 40)) < [[0.5], [0.9]]) * 1.0
    steps = [*answers, np.ones(40)]
    if type(metric) is es.Ratio:
        steps = [np.stack([x, np.ones(40)], axis=1) for x in steps]
    monitor = watched(steps, metric, groups=groups)
    for check, step in zip(monitor.checks, steps, strict=True):
        expected = es.estimate(step, metric=metric, groups=groups)
        assert (check.low, check.high) == pytest.approx((expected.low, expected.high), rel=1e-12)
        assert check.basis.interval == expected.method == "wilson"
    # Groups count by their sums, whose differences are no answers.
    test = "paired-t-hall" if grouped else "mcnemar"
    assert f"|test:{test}|alt:improvement|ci:wilson|" in monitor.signature
    assert monitor.last.high == (100 if type(metric) is es.Ratio else 1)


def test_the_signature_says_what_decided():
    run = watched([[1.0, 0.0, 1.0, 0.0]])
    assert "test:" not in run.signature
    assert "test:" not in watched([]).signature
    assert "ci:wilson" in run.signature
    run.check(1, [0.0, 0.0, 1.0, 1.0])
    assert "|test:mcnemar|alt:improvement|ci:wilson|" in run.signature
    run.check(2, [0.5, 0.0, 1.0, 1.0])
    assert "|test:mcnemar+paired-t-hall|alt:improvement|ci:t+wilson|" in run.signature
    assert "|test:paired-t-hall|alt:improvement|ci:t|" in watched(noise(1, 2)[0]).signature


@pytest.mark.parametrize("sign", [1, -1])
def test_segments_that_are_right_or_wrong_are_counted(sign):
    metric = es.Mean("accuracy", higher_is_better=sign > 0)
    best, new = (np.arange(30) < 20) * 1.0, (np.arange(30) % 15 < 13) * 1.0
    best, new = (best, new) if sign > 0 else (1 - best, 1 - new)
    gained, lost = sorted((np.sum(new > best), np.sum(new < best)), reverse=True)
    check = watched([best, new], metric).last
    # McNemar's test, one-sided.
    expected = stats.norm.sf((gained - lost) / np.sqrt(gained + lost))
    assert check.pvalue == pytest.approx(expected)
    bounds = tango(gained, lost, 30, stats.norm.isf(0.025))[::sign]
    found = check.difference_low, check.difference_high
    assert found == pytest.approx([sign * bound for bound in bounds])
    same = watched([best, best], metric).last
    assert same.pvalue == 1
    assert same.difference_low < 0 < same.difference_high


@cases(
    (np.zeros(8), np.zeros(8), 1),
    # Every segment better by the same amount: 8 coins that all fell on one side.
    (np.zeros(8), np.full(8, 2.0), 2**-8),
    (np.full(8, 2.0), np.zeros(8), 1),
    (np.zeros(8), 2 * np.eye(8)[0], 0.5),
    (np.zeros(100), np.full(100, 2.0), 2**-100),
    # The t tail is 0 in double precision, and a p-value never is.
    (np.zeros(2000), 3 + np.arange(2000) % 7, 2**-1074),
)
def test_where_segments_say_little_or_all(first, second, pvalue):
    monitor = watched([first, second])
    assert (monitor.last.pvalue, monitor.last.improved) == (pvalue, pvalue < 0.0001)
    again = watched([])
    again.load_state_dict(json.loads(json.dumps(monitor.state_dict())))
    assert again.checks == monitor.checks


def test_lower_is_better():
    scores = noise(4, 6)[0]
    scores[3:] -= 3
    metrics = {1: es.Mean("judge", higher_is_better=False), -1: es.Mean("judge")}
    up, down = (watched(sign * scores, metric) for sign, metric in metrics.items())
    assert [check.improved for check in up.checks] == [i == 3 for i in range(6)]
    for a, b in zip(up.checks, down.checks, strict=True):
        assert (a.score, a.pvalue, a.highest.step) == (-b.score, b.pvalue, b.highest.step)
        # One-sided p <= 0.025 where the 95% interval is on the better side of 0, and only there.
        assert (b.difference_low > 0) == (a.difference_high < 0) == (a.pvalue <= 0.025)
    assert up.selected.corrected == -down.selected.corrected > up.selected.score


def test_a_run_says_where_it_stands(sample):
    """Copies are no improvement; logs are flat floats with the same keys; the table marks the best."""
    monitor = es.Monitor(sample.references, "chrf++", patience=3)
    assert "no checks yet" in str(monitor)
    names = ("baseline", "clearly-better", *["clearly-better"] * 4)
    logs = [monitor.check(i, sample.systems[name]).to_log("eval/") for i, name in enumerate(names)]
    assert all(log.keys() == logs[0].keys() for log in logs)
    assert all(type(value) is float for log in logs for value in log.values())
    assert [log["eval/chrf++_improved"] for log in logs] == [0, 1, 0, 0, 0, 0]
    checks, selected = monitor.checks, monitor.selected
    assert logs[1]["eval/chrf++"] == checks[1].score
    assert 0 < logs[1]["eval/chrf++_pvalue"] <= logs[1]["eval/chrf++_level"] == checks[1].level
    assert [check.pvalue for check in checks[2:]] == [1] * 4
    assert [check.checks_without_improvement for check in checks] == [0, 0, 1, 2, 3, 4]
    assert [check.should_stop for check in checks] == [False] * 4 + [True] * 2
    assert (monitor.should_stop, monitor.best_step) == (True, 1)
    assert (selected.step, selected.optimism, selected.agreement) == (1, 0, 1)
    (best,) = (line for line in str(monitor).splitlines() if line.startswith("*  "))
    assert best.split()[1:3] == ["1", f"{checks[1].score:.2f}"]
    assert str(selected) in str(monitor)
    assert "then 4 checks of 3 without a real improvement: stop." in str(monitor)
    assert str(monitor).startswith("6 checks\n")
    for record in (checks[1], selected):
        assert json.loads(json.dumps(record.to_dict())).keys() == vars(record).keys()
        page = record._repr_html_()
        assert all(f">{name}</th>" in page.replace("<wbr>", "") for name in record.to_dict())
        assert str(record) in page
    assert str(checks[1]).endswith(": real improvement")
    # Statistics of one step, and less than a kilobyte a check.
    assert len(json.dumps(monitor.state_dict())) < 100_000


def test_one_check_is_not_checks_and_a_long_table_says_what_it_leaves_out():
    run = watched(noise(3, 2)[0], patience=4)
    assert "then 1 check of 4 without a real improvement." in str(run)
    assert str(watched(noise(3, 1)[0])).startswith("1 check\n")
    # The first step is the best, and two between it and the last twenty are left out.
    long = str(watched(noise(3, 23)[0]))
    assert long.startswith("21 of 23 checks: the best, real improvements and the last 20\n")


def test_the_table_marks_every_real_improvement():
    table = str(watched(noise(3, 4)[0] + 9 * np.array([[0], [1], [2], [1]])))
    assert [line[0] for line in table.splitlines()[4:8]] == [" ", "+", "*", " "]
    assert "\n* best step, + real improvement\n" in table


def test_documents_vary_as_a_whole(sample):
    texts, options = sample.systems["baseline"], {"groups": sample.documents}
    monitor = es.Monitor(sample.references, "bleu", **options)
    check = monitor.check(0, texts)
    expected = es.estimate(texts, sample.references, "bleu", method="t", **options)
    assert (check.score, check.low) == (expected.score, pytest.approx(expected.low))
    assert "unit:group" in monitor.signature


def test_statistics_are_checked_like_their_texts(sample):
    texts, references = sample.systems["baseline"], sample.references

    def collected(references):
        part = es.Accumulator("chrf")
        for rows in np.array_split(np.random.default_rng(5).permutation(480), 7):
            part.update([texts[i] for i in rows], [references[i] for i in rows], ids=rows)
        return part, es.extract({"x": texts}, references, "chrf")

    expected = es.Monitor(references, "chrf").check(1, texts)
    for made in collected(references):
        assert es.Monitor(references, "chrf").check(1, made) == expected
    for others in (references[1:] + references[:1], [pair[:1] for pair in references]):
        for made in collected(others):
            with pytest.raises(es.InputError, match="with the references of the monitor"):
                es.Monitor(references, "chrf").check(0, made)


# What a run is promised (how often, `benchmarks/calibration` counts)


@pytest.mark.parametrize(
    "seed, ahead, n_rows, n", [(7, 0, 50, 30), (7, 5, 50, 30), (84, 0, 2, 30), (3, 0, 50, 3)]
)
def test_the_contest_is_what_all_rows_at_once_would_give(seed, ahead, n_rows, n):
    """A clear winner needs no correction; in two resamples of seed 84 it would raise the score."""
    scores, _ = noise(seed, 12, n_segments=n)
    scores[4] += ahead
    weights = es.bootstrap_weights(n, n_rows, 3)
    # Of three segments some resamples leave none out, and say nothing.
    weights = weights[np.any(weights == 0, axis=1)]
    assert (len(weights) < n_rows) == (n == 3)
    in_bag = weights @ scores.T / n
    out = weights == 0
    out_of_bag = out @ scores.T / out.sum(axis=1, keepdims=True)
    chosen, winners = scores.mean(axis=1).argmax(), in_bag.argmax(axis=1)
    expected = np.mean(out_of_bag[:, chosen] - out_of_bag[np.arange(len(winners)), winners])
    assert (expected < 0) == (seed == 84)
    found = watched(scores, n_resamples=n_rows, rng=3).selected
    assert found.step == chosen
    assert found.optimism == pytest.approx(max(0, expected), abs=1e-12)
    assert found.agreement == np.mean(winners == chosen)
    if ahead:
        assert (found.step, found.optimism, found.agreement) == (4, 0, 1)


# The level of dependent looks: what a run spends together


def test_no_number_of_looks_spends_more_than_the_level():
    found = [0.05 * steady(j / 20) for j in range(1, 2000)]
    assert np.all(np.diff(found) > 0)
    assert found[19] == pytest.approx(0.045)
    assert found[-1] < 0.05


def levels(looks, expected):
    so_far, found = DrawnLooks(), []
    for j, influence in enumerate(looks, start=1):
        level, so_far = next_look(so_far, j / expected, 0.05, steady, flipped(influence, 1))
        found.append(level)
    return np.array(found)


def test_equal_looks_cost_nothing():
    """The same step again cannot claim anything new: the whole level goes to one look."""
    influence = np.random.default_rng(0).normal(size=300)
    found, whole = levels([influence] * 9, 9), [0.05 * steady(j / 9) for j in (1, 9)]
    assert found[[0, -1]] == pytest.approx(whole, abs=2 / 2**15)


def test_independent_looks_cost_what_they_spend():
    rng = np.random.default_rng(2)
    found = levels(list(rng.normal(size=(9, 400))), 9)
    assert np.all(found < 1.5 * 0.05 * 0.9 / 9)
    assert np.sum(found) == pytest.approx(0.045, abs=0.004)


def test_segments_that_all_moved_alike_spend_nothing():
    level, so_far = DrawnLooks().arriving(flipped(np.ones(9), 1)).spending(0.01)
    assert level == pytest.approx(0.01, abs=1 / 2**15)
    assert so_far.surviving.all()


def test_no_look_is_without_a_level():
    """After a thousand checks less than one sign flip is due, and a clear step is still seen."""
    draws = flipped(np.random.default_rng(0).normal(size=50), 1)
    level, _ = next_look(DrawnLooks(0.05 * steady(20)), 20.02, 0.05, steady, draws)
    assert 0 < level < 1e-9


# Interruption and restart


def test_an_interrupted_check_did_not_happen():
    """Ctrl-C at every scoring within a check, one after the other."""
    left = 0

    class Slow(es.Mean):
        def score(self, totals):
            nonlocal left
            left -= 1
            if left == 0:
                raise KeyboardInterrupt
            return super().score(totals)

    scores = noise(0, 2, n_segments=6)[0]
    run, done = (watched(scores[:1], Slow("judge"), n_resamples=5) for _ in range(2))
    before, expected = run.state_dict(), done.check(1, scores[1])
    for left in range(1, 9):
        n = left
        with suppress(KeyboardInterrupt):
            run.check(1, scores[1])
            break
        assert run.state_dict() == before
    assert n > 2
    assert (run.last, run.state_dict()) == (expected, done.state_dict())


@pytest.mark.parametrize("at", [0, 1, 7, 12])
def test_a_restart_changes_nothing(at):
    scores = noise(8, 12)[0] + np.linspace(0, 1, 12)[:, None]
    whole, first, second = (watched(scores[:n], patience=4) for n in (12, at, 0))
    second.load_state_dict(json.loads(json.dumps(first.state_dict(), allow_nan=False)))
    for step in range(at, 12):
        second.check(step, scores[step])
    assert (second.checks, second.selected) == (whole.checks, whole.selected)
    assert second.state_dict() == whole.state_dict()


@cases(
    ((["a"],), {"patience": 0}, "patience must be at least 1"),
    ((["a"],), {"significance_level": 1.0}, "significance_level must be between 0 and 1"),
    ((["a"],), {"significance_level": 1e-5}, "use a significance_level of at least 0.0018"),
    ((["a"],), {"expected_checks": 10**6}, "expect at most 1,474 checks"),
    ((["a"],), {"groups": [1, 2]}, "groups has 2 labels for 1 segment"),
    ((None,), {}, "references is None, but BLEU requires one entry"),
    ((), {"metric": "chrf"}, "references is None, but chrF2 requires one entry"),
    ((["a"], es.Mean("x")), {}, "references must be None, because x does not use any"),
)
def test_bad_options(arguments, options, message):
    refuses(message, es.Monitor, *arguments, **options)
    # What the messages say helps.
    es.Monitor(["a"], significance_level=0.0018)
    es.Monitor(["a"], expected_checks=1474)


def test_bad_checks_change_nothing():
    references, metric = ["a b", "c"], "wer"
    monitor = es.Monitor(references, metric)
    with pytest.raises(es.InputError, match="no checks to choose from yet"):
        _ = monitor.selected
    assert (monitor.last, monitor.best_step, monitor.should_stop) == (None, None, False)
    part = es.Accumulator(metric)
    part.update(["a", "c"], references)
    cases = [
        ((-1, ["a", "c"]), "step must be at least 0"),
        ((0, es.extract({"A": ["a", "c"], "B": ["a", "b"]}, references, metric)),
         "one system, got 2"),
        ((0, es.extract({"A": ["a"]}, ["a b"], metric)), "hypotheses must have 2 segments, as in the references or in earlier checks, got 1"),
        ((0, es.extract({"A": ["a", "c"]}, references, "cer")), "must be statistics of WER"),
        ((0, part), "Accumulator must have ids, which are the positions 0 to N - 1 of all"),
    ]  # fmt: skip
    for arguments, message in cases:
        refuses(message, monitor.check, *arguments)
    assert monitor.checks == ()
    refuses("at least 2 segments or groups", es.Monitor(["a"], metric).check, 0, ["a"])
    scores = watched([[1.0, 2.0], [1.0, 3.0]])
    refuses(r"must have 2 segments, as in .* earlier checks", scores.check, 2, [1.0, 2.0, 3.0])
    for step in (1, 0):
        refuses(f"step must be larger than 1, .* got {step}. If", scores.check, step, [1.0, 2.0])
    assert len(scores.checks) == 2


# States


@cases(
    ({"metric": "chrf"}, "monitor with metric"),
    ({"references": [["a", "b"], ["c"]]}, "with references"),
    ({"groups": [1, 1]}, "monitor with references or groups"),
    ({"significance_level": 0.1}, "with significance_level 0.05"),
    ({"rng": 1}, "monitor with rng"),
)
def test_a_state_of_another_monitor_is_refused(other, message):
    options = {"references": [["a"], ["b", "c"]], "metric": "wer"}
    monitor = es.Monitor(**options)
    for step in range(4):
        monitor.check(step, ["a", "b"])
    refuses(message, es.Monitor(**{**options, **other}).load_state_dict, monitor.state_dict())
    # These two may change.
    changed = es.Monitor(**options, patience=3, confidence_level=0.9)
    changed.load_state_dict(monitor.state_dict())
    assert (monitor.should_stop, changed.should_stop) == (False, True)


def test_what_is_no_state_is_refused():
    monitor = watched(noise(2, 3)[0])
    before = monitor.state_dict()
    changed = {**before, "spent_before": 0.01}
    for other, message in (
        ({**before, "version": 2}, "version 2, expected 6. It was written by another version"),
        ({**before, "options": None}, "must be what state_dict returned"),
        (
            {**before, "checks": []},
            "exactly what state_dict returned, but a part of it was changed",
        ),
        (changed, "returned, but a part of it was changed"),
        *((nothing, "must be what state_dict returned") for nothing in (None, [], {})),
    ):
        refuses(message, monitor.load_state_dict, other)
    assert monitor.state_dict() == before
    # What stands beside it in a file is no part of it.
    monitor.load_state_dict({**before, "labels": "x"})


def places(value, path=()):
    """Yield the path of every value within, containers too."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in pairs:
        yield (*path, key)
        if isinstance(inner, (dict, list)):
            yield from places(inner, (*path, key))


ODD = [None, True, "x", "", -1, 0, 7, 1.5, float("nan"), float("inf"), 1e308, 10**400, [], [0], {}]


@pytest.mark.parametrize("every", [37, pytest.param(1, marks=pytest.mark.thorough)])
def test_a_damaged_state_is_refused(every):
    """Every place of a real state with odd values, an entry too few and an entry too many."""
    scores, _ = noise(0, 4, n_segments=12)
    scores[2] += 50
    options = {"n_resamples": 5, "patience": 2}
    whole = json.dumps(watched(scores[:3], **options).state_dict())
    cases = [(path, odd) for path in places(json.loads(whole)) for odd in (*ODD, "less", "more")]
    after = watched([], **options)
    for path, odd in cases[::every]:
        state = json.loads(whole)
        inner = state
        for key in path[:-1]:
            inner = inner[key]
        old = inner[path[-1]]
        if odd in ("less", "more") and isinstance(old, list):
            odd = old[:-1] if odd == "less" else [*old, *old[-1:]]
        inner[path[-1]] = odd
        if json.dumps(state) != whole:
            refuses("state", after.load_state_dict, state)
    assert after.checks == ()


def test_another_version_of_sacrebleu_is_the_same_metric(monkeypatch):
    """After an upgrade: states, statistics and accumulators of before it are still good."""
    references, outputs = ["a b c d", "b c d e", "c d"], ["a b c d", "b c", "c d e"]
    monitor, part = es.Monitor(references, "bleu"), es.Accumulator("bleu")
    part.update(outputs, references, ids=range(3))
    monitor.check(0, part)
    state, before = monitor.state_dict(), es.BLEU().signature
    monkeypatch.setattr("evalstats.metrics.bleu.sacrebleu_version", lambda: "9.9")
    assert es.BLEU().signature != before
    after = es.Monitor(references, es.BLEU())
    after.load_state_dict(state)
    assert after.check(1, part).score == state["checks"][0]["score"]
    assert len(es.Accumulator("bleu").merge(part)) == 3
    assert after.check(2, es.extract({"x": outputs}, references, "bleu")).pvalue == 1


def test_segment_ids_stay_in_order():
    ids, metric = ["x", "y", "z"], es.Mean("judge")

    def table(names):
        return es.SegmentStatistics([[[1, 1], [2, 1], [3, 1]]], ["run"], metric, segment_ids=names)

    first, second = es.Monitor(None, metric), es.Monitor(None, metric)
    first.check(0, table(ids))
    second.load_state_dict(json.loads(json.dumps(first.state_dict())))
    for watch in (first, second):
        refuses("must have the same segment_ids as earlier", watch.check, 1, table(ids[::-1]))
        assert watch.check(1, table(ids)).pvalue == 1
        assert watch.check(2, [1.0, 2.0, 3.0]).pvalue == 1


def test_a_score_that_is_not_finite_is_reported():
    class Broken(es.Ratio):
        def score(self, totals):
            totals = np.asarray(totals, dtype=float)
            with np.errstate(invalid="ignore", divide="ignore"):
                return totals[..., 0] / totals[..., 1]

    monitor = es.Monitor(None, Broken("broken"))
    refuses("broken of a resample is not finite", monitor.check, 0, [[1, 1], [0, 0], [0, 0]])
    assert monitor.checks == ()
    # Nothing is left of the failed check, not even the number of its segments.
    assert monitor.check(0, [[1, 1], [2, 2]]).score == 1


def test_what_was_spent_before_an_improvement_stays_spent():
    scores = np.random.default_rng(0).normal(size=(3, 200))
    run = es.Monitor(None, es.Mean("m"))
    _, second, third = (run.check(i, row + 3 * i) for i, row in enumerate(scores))
    assert second.improved
    # One look of fifty, not two.
    assert 0 < third.level < 1.1 * 0.05 * 0.9 / 50


# Gold labels


def test_labels_are_monitored_as_statistics_of_them_are(tmp_path):
    # Defect: "metric must read text or need no references".
    rng = np.random.default_rng(6)
    gold, metric = rng.choice(["no", "yes"], 120), es.Confusion(["no", "yes"], "macro-f1")
    outputs = [np.where(rng.random(120) < share, gold, "no") for share in (0.2, 0.5, 0.9)]
    monitor, other = es.Monitor(gold, metric), es.Monitor(gold, metric)
    for step, of_step in enumerate(outputs):
        check = monitor.check(step, of_step)
        assert check == other.check(step, es.extract({"A": of_step}, gold, metric))
        assert check.score == es.estimate(of_step, gold, metric).score
    assert monitor.best_step == 2
    resumed = es.Monitor(list(gold), metric)
    resumed.load_state_dict(json.loads(json.dumps(monitor.state_dict())))
    assert repr(resumed) == repr(monitor)
    with pytest.raises(es.InputError, match="monitor with references or groups"):
        es.Monitor(gold[::-1], metric).load_state_dict(monitor.state_dict())
    sets = es.Confusion(["no", "yes"], "macro-f1", multilabel=True)
    orders = ["no", "yes"], ["yes", "no"]
    prepared = [es.Monitor([set(names)] * 5, sets).references for names in orders]
    assert prepared[0].fingerprint == prepared[1].fingerprint


TEXTS, GOLD = load_sample().systems["baseline"], [x[0] for x in load_sample().references]
BABBLE = [f"{text} {'no ' * 60}" for text in TEXTS]
KHMER = ["ថ្ងៃនេះអាកាសធាតុល្អណាស់", "យើងទៅសួនច្បារជាមួយគ្នា"] * 20


@pytest.mark.parametrize("form", ["texts", "accumulator"])
@cases(
    (BABBLE, [""] * 480, GOLD, "empty"),
    (BABBLE, ["Error: rate limit"] * 480, GOLD, "alike"),
    (["x y z", "z y x"] * 20, KHMER, KHMER, "unread"),
    (BABBLE, ["", *TEXTS[:-1]], GOLD, "shifted"),
    (["", *BABBLE[:-1]], ["", *TEXTS[:-1]], GOLD, "shifted"),
    (BABBLE, TEXTS, GOLD, ""),
    # Fewer empty outputs than before.
    ([""] * 480, [""] * 100 + GOLD[100:], GOLD, ""),
)
def test_no_improvement_is_real_that_was_not_measured(first, second, references, kind, form):
    """Fewer words are fewer errors, and no words are the fewest."""

    def given(texts):
        part = es.Accumulator("wer")
        part.update(texts, references, range(len(texts)))
        return texts if form == "texts" else part

    monitor, resumed = es.Monitor(references, "wer"), es.Monitor(references, "wer")
    monitor.check(1, given(first))
    check = monitor.check(2, given(second))
    assert (check.pvalue <= check.level, check.improved) == (True, not kind)
    assert check.basis.barred == kind
    assert all(note in str(check) and note in monitor.notes for note in check.notes)
    assert bool(check.notes) == (kind != "" or second[0] == "")
    resumed.load_state_dict(json.loads(json.dumps(monitor.state_dict())))
    assert resumed.notes == monitor.notes
    found = [one.check(3, given(references)).to_dict() for one in (resumed, monitor)]
    assert found[0] == found[1]


def test_a_step_that_lacks_its_failures_is_no_improvement():
    right = np.random.default_rng(0).random(400) < 0.6
    values = np.stack([right, np.ones(400)], axis=1)[None]
    lacking = np.where((np.cumsum(~right) < 60)[:, None] & ~right[:, None], 0, values)
    monitor = es.Monitor(metric=es.Mean("acc"))
    for step, rows in enumerate((values, lacking)):
        check = monitor.check(step, es.SegmentStatistics(rows, ["a"], es.Mean("acc")))
    assert check.pvalue <= check.level
    assert (check.improved, check.basis.barred) == (False, "missing")
    assert "a lacks 59 of 400 segments and step 0 0 of 400" in check.notes[0]
