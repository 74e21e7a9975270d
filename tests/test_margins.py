"""Equivalence, non-inferiority and recovery: what is claimed, how surely, and how it is shown."""

from functools import lru_cache
from math import comb

import numpy as np
import pytest
from evalstats.inference.proportions import ratio_distance, tango, tango_distance
from evalstats.inference.skewness import transformed
from scipy.optimize import minimize_scalar
from scipy.stats import norm, t

import evalstats as es
from evalstats.cli import main

MEAN = es.Mean("judge")
ERRORS = es.Mean("errors", higher_is_better=False)


def pair(n=60, shift=0.0, noise=0.5, seed=1):
    rng = np.random.default_rng(seed)
    old = 5 + rng.normal(size=n)
    return {"old": old, "new": old + shift + rng.normal(scale=noise, size=n)}


def outcomes(both, gained, lost, neither):
    old = np.repeat([1.0, 0, 1, 0], [both, gained, lost, neither])
    return {"old": old, "new": np.repeat([1.0, 1, 0, 0], [both, gained, lost, neither])}


def one(scores, metric=MEAN, **options):
    result = es.compare(scores, metrics=metric, baseline="old", n_resamples=199, **options)
    return result, result.differences[0]


def test_two_one_sided_t_tests():
    scores = pair(shift=-0.1)
    moved = scores["new"] - scores["old"]
    error = moved.std(ddof=1) / np.sqrt(len(moved))
    above, below = (t.sf((0.25 + s * moved.mean()) / error, len(moved) - 1) for s in (1, -1))
    result, d = one(scores, margin=0.25, method="t")
    assert d.pvalue_not_worse == pytest.approx(above, rel=1e-9)
    assert d.pvalue_equivalence == pytest.approx(max(above, below), rel=1e-9)
    # The interval of confidence 1 - 2α is the same test.
    half = t.ppf(0.95, len(moved) - 1) * error
    assert d.least_loss == pytest.approx(half - moved.mean(), rel=1e-9)
    assert d.least_margin == pytest.approx(abs(moved.mean()) + half, rel=1e-9)
    assert result.claim(d) == "equivalent"


@pytest.mark.parametrize("method", ["t", "hall", "auto"])
@pytest.mark.parametrize("scores", [pair(12, 0.2), pair(40, -0.3, 2.0), outcomes(30, 3, 6, 20)])
def test_p_values_and_smallest_margins_agree(scores, method):
    _, d = one(scores, margin=0.5, method=method)
    for claimable, name in ((d.least_margin, "equivalence"), (d.least_loss, "not_worse")):
        if claimable <= 0:
            continue
        for factor, shown in ((0.999, False), (1.001, True)):
            _, near = one(scores, margin=claimable * factor, method=method)
            assert (getattr(near, f"pvalue_{name}") < 0.05) == shown


@pytest.mark.parametrize("method", ["percentile", "expanded", "basic", "bca"])
def test_intervals_without_a_p_value(method):
    result, d = one(pair(), margin=0.5, method=method)
    _, narrow = one(pair(), method=method, confidence_level=0.9)
    assert d.least_margin == max(-narrow.low, narrow.high)
    assert (d.pvalue_equivalence, d.pvalue_not_worse) == (None, None)
    assert result.claim(d) == "equivalent"


def test_claims_in_each_direction():
    for metric, sign in ((MEAN, 1), (ERRORS, -1)):
        for shift, claim in ((1.0, "not worse"), (0.0, "equivalent"), (-1.0, "not shown")):
            result, d = one(pair(shift=sign * shift), metric, margin=0.4)
            assert result.claim(d) == claim
            result, d = one(pair(shift=sign * shift), metric, recovery=0.95)
            assert result.claim(d) == ("not shown" if shift < 0 else "not worse")
    # Too little is known of these.
    result, d = one(pair(n=5, noise=2.0), margin=0.4)
    assert result.claim(d) == "not shown"


def test_tangos_test_at_the_margin():
    _, d = one(outcomes(60, 4, 9, 27), margin=0.1)
    assert d.pvalue_not_worse == pytest.approx(norm.sf(tango_distance(4, 9, 100, -0.1)))
    low, high = tango(4, 9, 100, 0.9)
    assert (d.least_loss, d.least_margin) == (-low, max(-low, high))
    assert (d.gained, d.lost, d.method) == (4, 9, "tango")


@pytest.mark.parametrize("counts", [(60, 8, 1), (60, 1, 8), (5, 3, 3), (30, 0, 2), (30, 0, 0)])
@pytest.mark.parametrize("ratio", [0.5, 0.9, 0.99, 1.0])
def test_the_ratio_of_proportions_has_its_likelihood_at_the_maximum(counts, ratio):
    both, gained, lost = counts
    n = sum(counts)

    def shares(alone):
        return ratio - (1 + ratio) * alone, alone, ratio * alone + 1 - ratio

    def minus_likelihood(alone):
        each = zip(counts, shares(alone), strict=True)
        return -sum(k * np.log(max(p, 1e-300)) for k, p in each if k)

    found = minimize_scalar(
        minus_likelihood, bounds=(0, ratio / (1 + ratio)), options={"xatol": 1e-12}
    ).x
    variance = n * ratio * (found + shares(found)[2])
    expected = (both + gained - ratio * (both + lost)) / np.sqrt(variance) if variance > 1e-6 else 0
    assert ratio_distance(both, gained, lost, ratio) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("metric", [MEAN, ERRORS], ids=["higher", "lower"])
def test_recovery_is_linear_in_the_scores(metric):
    scores = pair(shift=-0.05 if metric is MEAN else 0.05)
    more, less = ("new", "old") if metric is MEAN else ("old", "new")
    moved = scores[more] - 0.97 * scores[less]
    statistic = moved.mean() / (moved.std(ddof=1) / np.sqrt(60))
    _, d = one(scores, metric, recovery=0.97, method="t")
    assert d.pvalue_not_worse == pytest.approx(t.sf(statistic, 59), rel=1e-9)
    _, d = one(scores, metric, recovery=0.97)
    z = (moved - moved.mean()) / moved.std()
    corrected = t.sf(transformed(statistic, np.mean(z**3), 60), 59)
    assert d.pvalue_not_worse == pytest.approx(max(t.sf(statistic, 59), corrected), rel=1e-9)


@pytest.mark.parametrize("scores", [pair(30, -0.2), outcomes(40, 2, 4, 14)], ids=["marks", "0/1"])
def test_the_largest_recovery_that_can_be_claimed(scores):
    _, d = one(scores, recovery=0.5)
    assert 0.5 < d.most_recovery < 1
    for factor, claim in ((0.999, "not worse"), (1.001, "not shown")):
        result, near = one(scores, recovery=d.most_recovery * factor)
        assert result.claim(near) == claim
        assert near.most_recovery == d.most_recovery


def test_recovery_of_texts_and_documents(sample):
    texts = {name: sample.systems[name] for name in ("baseline", "clearly-better", "copy")}
    result = es.compare(
        texts, sample.references, ["bleu", "ter"], baseline="baseline", recovery=0.9,
        groups=sample.documents, n_resamples=99,
    )  # fmt: skip
    assert {result.claim(d) for d in result} == {"not worse"}
    assert all(d.most_recovery > 0.99 for d in result)


def test_every_form_says_it(sample):
    pandas = pytest.importorskip("pandas")
    for options in ({"margin": 0.2}, {"recovery": 0.97}):
        scores = {**pair(), "third": pair(shift=-1.0)["new"]}
        result = es.compare(scores, metrics=MEAN, baseline="old", n_resamples=99, **options)
        claims = [result.claim(d) for d in result]
        assert claims == [("equivalent" if "margin" in options else "not worse"), "not shown"]
        name = "margin 0.2" if "margin" in options else "recovery 0.97"
        lines = str(result).split("\n")
        assert lines[2].split("  ")[-1].strip() == name
        assert any(line.startswith("third") and line.endswith("not shown") for line in lines)
        assert sum(name in note for note in result.notes) == 1
        assert f"|{name.replace(' ', ':')}|" in result.signatures[0]
        for text in (result.to_markdown(), result.to_html(), result.to_latex()):
            assert "not shown" in text
        again = es.Comparison.from_json(result.to_json())
        assert again == result
        frame = result.to_dataframe()
        assert isinstance(frame, pandas.DataFrame)
        assert list(frame["claim"]) == claims
    scores = {name: pair(seed=i)["new"] for i, name in enumerate("abcdef")}
    pairs = es.compare(scores, metrics=MEAN, margin=5, n_resamples=99)
    assert str(pairs).count("  equivalent\n") == 15


def test_json_that_does_not_fit_is_refused():
    result, _ = one(pair(), margin=0.5)
    for old, new, message in (
        ('"claim": "equivalent"', '"claim": "not shown"', "claim does not fit its bounds"),
        ('"margin": 0.5', '"margin": -0.5', "margin must be from"),
        ('"recovery": null', '"recovery": 0.5', "exclude each other"),
    ):
        text = result.to_json()
        assert old in text
        with pytest.raises(es.InputError, match=message):
            es.Comparison.from_json(text.replace(old, new))


def test_flips_both_ways():
    scores = outcomes(60, 14, 6, 20)
    _, d = one(scores)
    assert (d.gained, d.lost) == (14, 6)
    assert d.pvalue == pytest.approx(2 * sum(comb(20, k) for k in range(7)) / 2**20)
    text = str(one(scores)[0])
    assert "gained, lost" in text
    assert " 14, 6 " in text
    assert (one(pair())[1].gained, one(pair())[1].lost) == (None, None)
    assert "gained" not in str(one(pair())[0])
    # Where all are listed in a matrix, its cells have no room for them.
    assert one(scores, ERRORS)[1].gained == 14


def test_equal_scores_of_few_values_claim_nothing():
    marks = np.arange(40.0) % 5
    for options in ({"margin": 1.0}, {"recovery": 0.9}):
        result, d = one({"old": marks, "new": marks}, **options)
        assert result.claim(d) == "not shown"
        with pytest.raises(es.InputError, match=f"or leave out {next(iter(options))}"):
            es.assert_not_worse(marks, marks, metric=MEAN, **options)
    # Nothing differs on 40 segments: that bounds how many do elsewhere.
    result, d = one(outcomes(40, 0, 0, 0), margin=0.1)
    assert result.claim(d) == "equivalent"
    assert 0.05 < d.least_margin < 0.1
    result, d = one(outcomes(40, 0, 0, 0), recovery=0.99)
    assert (result.claim(d), d.most_recovery < 0.95) == ("not shown", True)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"margin": 0}, "margin must be above 0, got 0: .* leave it out"),
        ({"margin": -1.0}, "margin must be above 0, got -1.0: it is a size, and the metric says"),
        ({"margin": float("nan")}, "margin must be a finite number, got nan"),
        ({"margin": "1"}, "margin must be a number, got str '1'"),
        ({"margin": True}, "margin must be a number, got bool True"),
        ({"recovery": 0}, "recovery must be a share above 0 and at most 1, got 0"),
        ({"recovery": 1.01}, "recovery must be a share above 0 and at most 1, got 1.01"),
        ({"recovery": -0.5}, "recovery must be a share above 0 and at most 1, got -0.5"),
        ({"recovery": 0.9, "margin": 1}, "give either margin or recovery, not both"),
        ({"margin": 1, "significance_level": 0.5}, "significance_level must be between 0 and 0.5"),
    ],
)
def test_bad_input(options, message):
    with pytest.raises(es.InputError, match=message):
        es.compare(pair(), metrics=MEAN, **options)
    with pytest.raises(es.InputError, match=message):
        es.assert_not_worse(*pair().values(), None, MEAN, **options)


def test_limits_that_no_scores_could_miss_are_refused():
    with pytest.raises(es.InputError, match="margin must be below 1, the whole scale of judge"):
        one(outcomes(30, 1, 2, 3), margin=1)
    below = {"old": -np.arange(20.0), "new": -np.arange(20.0) - 0.1}
    with pytest.raises(es.InputError, match=r"judge of 'old' is -9\.5; give margin"):
        one(below, recovery=0.9)


def test_a_shard_has_margins_but_no_recovery():
    table = es.SegmentStatistics.join(*(
        es.extract({name: s}, metric=MEAN) for name, s in pair(300).items()
    ))  # fmt: skip
    shard = es.merge_shards([es.resample_shard(table, range(300), 999, resolution=2**-20)])
    result = es.compare(shard, test="bootstrap", margin=0.5)
    assert [result.claim(d) for d in result] == ["equivalent"]
    with pytest.raises(es.InputError, match="recovery needs the statistics of every segment"):
        es.compare(shard, test="bootstrap", recovery=0.9)


def test_a_gate_with_a_recovery():
    scores = pair(200, -0.1)
    passed = es.assert_not_worse(scores["new"], scores["old"], None, MEAN, recovery=0.95)
    assert 0.95 < passed.most_recovery < 1
    with pytest.raises(AssertionError) as caught:
        es.assert_not_worse(scores["new"], scores["old"], None, MEAN, recovery=0.99)
    lines = str(caught.value).split("\n")
    assert lines[0].endswith(", a recovery of 0.99 is not shown")
    assert (
        lines[4] == f"  recovery    {passed.most_recovery:.4f} is the largest that can be claimed"
    )
    assert "note" not in str(caught.value)


def test_the_command_line(files, capsys):
    command = ["compare", "-i", *(str(files / f"{n}.txt") for n in ("baseline", "copy"))]
    command += ["-r", str(files / "ref.A.txt"), "--baseline", "baseline", "--resamples", "99"]
    assert main([*command, "--margin", "0.5"]) == 0
    assert "  margin 0.5\n" in capsys.readouterr().out
    assert main([*command, "--recovery", "0.9", "-m", "ter"]) == 0
    assert "identical  not worse\n" in capsys.readouterr().out
    assert main([*command, "--margin", "-1"]) == 2
    assert "error: margin must be above 0, got" in capsys.readouterr().err


@lru_cache
def resolved():
    """Outcomes of nine systems with the totals of a leaderboard; most solve the same problems."""
    rng = np.random.default_rng(17)
    ease = rng.normal(size=500)
    totals = (396, 396, 394, 388, 387, 384, 384, 382, 378)
    solved = {}
    for i, total in enumerate(totals):
        outcome = np.zeros(500)
        outcome[np.argsort(-ease - rng.normal(scale=0.5, size=500))[:total]] = 1
        solved[f"{i + 1}. with {total}"] = outcome
    return solved


def test_a_leaderboard_of_five_hundred_problems():
    """SWE-bench Verified: its first eight systems cannot be told apart."""
    result = es.compare(resolved(), metrics=es.Mean("resolved"), n_resamples=999)
    assert [e.score for e in result.estimates] == [
        s / 500 for s in (396, 396, 394, 388, 387, 384, 384, 382, 378)
    ]
    first_eight = set(list(resolved())[:8])
    for d in result:
        k, n = min(d.gained, d.lost), d.gained + d.lost
        tail = 2 * sum(comb(n, i) for i in range(k + 1)) / 2**n
        assert d.pvalue == pytest.approx(min(1, tail), rel=1e-12)
        assert d.gained - d.lost == round(500 * d.difference)
        if {d.system, d.baseline} <= first_eight:
            assert not result.significant(d)


@pytest.mark.thorough
@pytest.mark.parametrize("metric, n", [("bleu", 30), ("0/1", 30), ("ter", 100)])
def test_wrong_passes_of_a_recovery(metric, n, request):
    request.getfixturevalue("en_de")
    from benchmarks.calibration import gates
    from benchmarks.calibration.populations import Source, population

    source = Source("real", "en-de", metric, "Online-B", "OpenNMT")
    record = gates.measure(population(source), n, "recovery", 500, 5).record("", 500, 0.0)
    # Promised: 0.05 and 1.5 points. At a true 0.065, Binomial(500) is above 54 by chance 1e-4.
    assert record["rates"]["gate"][0] <= 54 / 500


def test_strata_and_runs_have_their_own_errors():
    """p-values and the bounds of the interval are those of what was drawn."""
    rng = np.random.default_rng(8)
    strata = np.repeat([0, 1, 2], 40)
    old = strata + rng.normal(size=120)
    cases = [
        ({"old": old, "new": old + rng.normal(size=120) - 0.1 * strata}, {"strata": strata}),
        ({"old": rng.random(120) < 0.8, "new": rng.random(120) < 0.8}, {"strata": strata}),
        ({name: old + rng.normal(size=(4, 120)) for name in ("old", "new")}, {}),
    ]
    for scores, options in cases:
        scores = {name: np.asarray(s, dtype=float) + 0 for name, s in scores.items()}
        _, d = one(scores, margin=0.9, **options)
        _, narrow = one(scores, confidence_level=0.9, **options)
        assert (d.least_margin, d.least_loss) == (max(-narrow.low, narrow.high), -narrow.low)
        for limit, value in (("margin", d.least_loss), ("recovery", None)):
            if limit == "recovery":
                _, d = one(scores, recovery=0.9, **options)
                value = d.most_recovery
                assert 0 < value < 1
            _, near = one(scores, **{limit: value}, **options)
            assert near.pvalue_not_worse == pytest.approx(0.05, abs=1e-4)
