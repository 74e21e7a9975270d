"""evaluatio 0.5.2 under `evalstats.compat.evaluatio`: its numbers, and errors for its silences.

Every number here that is called evaluatio's comes from a run of the package (0.5.2, its wheel from
PyPI), 10^6 resamples where it draws. `test_compat_evaluatio_live.py` runs it side by side.
"""

import importlib
import math

import numpy as np
import pytest
import sacrebleu
from evalstats.compat.evaluatio.effect_size.cohen import cohens_d_independent, cohens_d_paired
from evalstats.compat.evaluatio.inference.ci import (
    ConfidenceInterval,
    bootstrap_confidence_interval,
    error_rate_ci,
)
from evalstats.compat.evaluatio.inference.hypothesis import (
    paired_bootstrap_test,
    paired_permutation_test,
)
from evalstats.compat.evaluatio.inference.multiple_testing import (
    MultipleTestingResult,
    bonferroni_correction,
    holm_correction,
)
from evalstats.compat.evaluatio.metrics import bleu, cer, chrf, pier, uer, wer

import evalstats as es
from evalstats.compat.evaluatio.alignment import Alignment, optimal_alignment

NAN, INF = float("nan"), float("inf")

REFERENCES = ["the cat sat on the mat", "it is raining again today", "we went home early", "",
              "no  one\tcame"]  # fmt: skip
HYPOTHESES = ["the cat sits on mat", "it rained again today", "we went home", "a b", "no one came"]
X1 = [0.81, 0.77, 0.90, 0.64, 0.70, 0.85, 0.66, 0.91]
X2 = [0.83, 0.80, 0.88, 0.71, 0.72, 0.84, 0.70, 0.86]
COUNTS, EXPOSURE = [1, 0, 3, 2, 0, 1, 4, 2], [4, 5, 6, 4, 5, 6, 9, 3]
ROWS = [
    ["the cat sat on the mat", "a cat sat on a mat"],
    ["it is raining again today", "it rains again today"],
    ["we went home early", "we left early"],
    ["no", "none"],
]
GOOD = ["the cat sits on the mat", "it is raining again", "we went home", "no"]
BAD = ["a cat sits on a mat", "it rained today", "we are going home late", "no"]
PVALUES = [0.03, 0.04, 0.001, 0.8, 0.02]

#: Every public function, by module.
FUNCTIONS = {
    "alignment": ["optimal_alignment"],
    "effect_size.cohen": ["cohens_d_independent", "cohens_d_paired"],
    "inference.ci": ["bootstrap_confidence_interval", "error_rate_ci"],
    "inference.hypothesis": ["paired_bootstrap_test", "paired_permutation_test"],
    "inference.multiple_testing": ["bonferroni_correction", "holm_correction"],
    "metrics.bleu": ["bleu_bootstrap_test", "bleu_ci"],
    "metrics.cer": [f"character_{what}" for what in
                    ("edit_distance_per_pair", "error_rate", "error_rate_ci", "error_rate_per_pair")],
    "metrics.chrf": ["chrf_ci", "chrf_permutation_test"],
    "metrics.pier": ["poi_edit_distance", "poi_error_rate"],
    "metrics.uer": [f"universal_{what}" for what in
                    ("edit_distance_per_pair", "error_rate", "error_rate_ci", "error_rate_per_pair")],
    "metrics.wer": [f"word_{what}" for what in
                    ("edit_distance_per_pair", "error_rate", "error_rate_ci", "error_rate_per_pair")],
}  # fmt: skip


@pytest.mark.parametrize("module, names", FUNCTIONS.items(), ids=FUNCTIONS)
def test_modules_and_names(module, names):
    found = importlib.import_module(f"evalstats.compat.evaluatio.{module}")
    assert set(names) <= set(found.__all__)
    for name in found.__all__:
        assert getattr(found, name).__doc__


def test_wer_and_cer():
    assert wer.word_edit_distance_per_pair(REFERENCES, HYPOTHESES) == [2, 2, 1, 2, 0]
    assert wer.word_error_rate_per_pair(REFERENCES, HYPOTHESES) == [
        0.3333333333333333, 0.4, 0.25, INF, 0.0]  # fmt: skip
    assert wer.word_error_rate(REFERENCES, HYPOTHESES) == 0.3888888888888889
    assert cer.character_edit_distance_per_pair(REFERENCES, HYPOTHESES) == [6, 6, 6, 3, 2]
    assert cer.character_error_rate_per_pair(REFERENCES, HYPOTHESES) == [
        0.2727272727272727, 0.24, 0.3333333333333333, INF, 0.16666666666666666]  # fmt: skip
    assert cer.character_error_rate(REFERENCES, HYPOTHESES) == 0.2987012987012987
    # The information separators are no whitespace in Unicode; Python would split there.
    assert wer.word_edit_distance_per_pair(["a\x1cb", "a\x85b"], ["a b", "a b"]) == [2, 0]


@pytest.mark.parametrize(
    "prefix, module", [("word", wer), ("character", cer), ("universal", uer)], ids=["w", "c", "u"]
)
def test_empty_references(prefix, module):
    """evaluatio's own tests ask for NaN where there is nothing on either side."""
    empty, full = ([""], ["a"]) if prefix != "universal" else ([[]], [["a"]])
    per_pair = getattr(module, f"{prefix}_error_rate_per_pair")
    rate = getattr(module, f"{prefix}_error_rate")
    assert per_pair(empty, full) == [INF]
    assert math.isnan(per_pair(empty, empty)[0])
    assert rate(empty, full) == INF
    assert math.isnan(rate(empty, empty))
    assert math.isnan(rate([], []))
    assert per_pair([], []) == []
    assert getattr(module, f"{prefix}_edit_distance_per_pair")([], []) == []


def test_uer():
    references = [["hello", "world"], ["cymru", "am", "byth"], ["croeso", "i", "gymru"]]
    hypotheses = [["hello", "byd"], ["gymru", "ap", "dydd"], ["croeso", "i", "gymru"]]
    assert uer.universal_error_rate(references, hypotheses) == 0.5
    assert uer.universal_error_rate_per_pair(references, hypotheses) == [0.5, 1.0, 0.0]
    mixed = [1, True, 1.0, NAN, "1", [1]]
    assert uer.universal_edit_distance_per_pair([mixed], [[1.0, 1, True, NAN, 1, [1]]]) == [2]
    # evaluatio takes lists only; tuples and generators are as good.
    assert (
        uer.universal_error_rate(((w for w in r) for r in references), map(tuple, hypotheses))
        == 0.5
    )


def test_alignment():
    def spans(reference, hypothesis, **how):
        found = optimal_alignment(list(reference), list(hypothesis), **how)
        return [(a.index, a.start, a.end) for a in found]

    assert spans("abc", "abxc") == [(0, 0, 1), (1, 1, 2), (2, 2, 4)]
    assert spans("abc", "c") == [(0, 0, 1), (1, 0, 1), (2, 0, 1)]
    assert spans("c", "abc") == [(0, 0, 3)]
    assert spans("aab", "ab") == [(0, 0, 1), (1, 1, 2), (2, 1, 2)]
    assert spans("kitten", "sitting")[-1] == (5, 5, 7)
    assert spans("intention", "execution") == [
        (0, 0, 1), (1, 1, 2), (2, 2, 3), (3, 2, 3), (4, 3, 4), (5, 4, 6), (6, 6, 7), (7, 7, 8),
        (8, 8, 9)]  # fmt: skip
    assert spans("", "a") == spans("a", "") == []
    assert optimal_alignment(["a"], ["b"]) == [Alignment(index=0, start=0, end=1)]
    # With the fewest edits: a missing token has an empty span, an inserted one is in none.
    assert spans("abc", "abxc", optimal=True) == [(0, 0, 1), (1, 1, 2), (2, 3, 4)]
    assert spans("abc", "c", optimal=True) == [(0, 0, 0), (1, 0, 0), (2, 0, 1)]
    assert spans("abc", "ac", optimal=True) == [(0, 0, 1), (1, 1, 1), (2, 1, 2)]


def test_pier():
    def errors(reference, hypothesis, points, **how):
        flags = [point == "T" for point in points]
        return pier.poi_edit_distance(list(reference), list(hypothesis), flags, **how)

    assert errors("aaaa", "baaaab", "TFFT") == 2
    assert errors("aaba", "caca", "FFTF") == 1
    assert errors("kitten", "sitting", "TTTTTT") == 3
    assert errors("intention", "execution", "TFTFTFTFT") == 3
    assert errors("aaaa", "", "FTTF") == 2
    assert errors("", "", "") == 0
    assert pier.poi_error_rate([list("aaaa")], [list("abaa")], [[False, True, True, False]]) == 0.5
    assert math.isnan(pier.poi_error_rate([["a"]], [["b"]], [[False]]))
    assert math.isnan(pier.poi_error_rate([], [], []))
    # What its path overlooks, and the count with the fewest edits.
    assert (errors("aa", "a", "TT"), errors("aa", "a", "TT", optimal=True)) == (0, 1)
    assert errors("aaaa", "baaaab", "TFFT", optimal=True) == 0


def test_pier_flags_belong_to_the_reference():
    """evaluatio's rate wants them for the hypothesis, against its documentation and its distance."""
    references, hypotheses, flags = [list("abc")], [list("ax")], [[False, True, True]]
    assert pier.poi_error_rate(references, hypotheses, flags) == 1.0
    assert pier.poi_edit_distance(references[0], hypotheses[0], flags[0]) == 2
    # Its number, 0.5 for these two flags, with the first two arguments swapped.
    assert pier.poi_error_rate([list("ab")], [list("abc")], [[True, True]]) == 0.5


def test_effect_sizes():
    assert cohens_d_independent(X1, X2) == pytest.approx(-0.1384318659686041, rel=1e-12)
    assert cohens_d_independent([1, 2, 3, 4], [2, 3, 4, 5, 7]) == pytest.approx(-1.0108002630179573)
    assert cohens_d_paired(X1, X2) == pytest.approx(-0.33154882463308083, rel=1e-12)
    assert (es.cohens_d, es.cohens_d_paired) == (cohens_d_independent, cohens_d_paired)


def test_corrections():
    holm, bonferroni = holm_correction(PVALUES), bonferroni_correction(PVALUES, alpha=0.2)
    assert isinstance(holm, MultipleTestingResult)
    assert holm.adjusted_pvalues.tolist() == [0.09, 0.09, 0.005, 0.8, 0.08]
    assert holm.rejected.tolist() == [False, False, True, False, False]
    assert (holm.method, holm.alpha) == ("holm", 0.05)
    assert bonferroni.adjusted_pvalues.tolist() == [0.15, 0.2, 0.005, 1.0, 0.1]
    # At most alpha, not below it.
    assert bonferroni.rejected.tolist() == [True, True, True, False, True]
    assert (bonferroni.method, bonferroni.alpha) == ("bonferroni", 0.2)
    assert holm_correction([]).rejected.tolist() == []
    assert holm_correction(p for p in [0.0, 1.0]).adjusted_pvalues.tolist() == [0.0, 1.0]


def test_pvalues_are_evaluatios():
    """10^5 draws of each against evaluatio's 10^6: 5 standard errors, false alarm below 1e-6."""
    cases = [
        (paired_bootstrap_test(X1, X2, 99_999), 0.3434),
        (paired_permutation_test(X1, X2, 99_999), 0.42193),
        (paired_permutation_test(X1, X2, 99_999, exact=True), 0.421875),
        (paired_permutation_test(X2, X1, 99_999, False), 0.2109),
        # Exact. evaluatio gave 0.8049: sums that are equal but for rounding are no ties there.
        (paired_permutation_test(X1, X2, 99_999, False), 0.8359375),
        (chrf.chrf_permutation_test(ROWS, GOOD, BAD, 99_999), 0.2499),
        (chrf.chrf_permutation_test(ROWS, GOOD, BAD, 99_999, False), 0.1249),
        # Exact, by enumerating the 256 resamples; evaluatio gave 0.06353 and 0.06297.
        (bleu.bleu_bootstrap_test(ROWS, GOOD, BAD, 99_999), 0.0625),
    ]
    for i, (ours, theirs) in enumerate(cases):
        error = math.sqrt(theirs * (1 - theirs) * 1.1e-5)
        assert abs(ours - theirs) < 5 * error + 1e-4, i
    # Five equal signs: evaluatio gives the least p-value there is.
    documented = [0.85, 0.90, 0.78, 0.92, 0.88], [0.80, 0.85, 0.75, 0.88, 0.82]
    assert paired_bootstrap_test(*documented, 99_999) == 1e-5


def test_intervals_are_evaluatios():
    """The distributions are discrete: at 10^5 draws a bound is evaluatio's or its neighbour."""
    ci = bootstrap_confidence_interval(X1, 99_999, 0.05)
    assert ci.mean == pytest.approx(0.78)
    assert (ci.lower, ci.upper) == pytest.approx((0.71125, 0.8475), abs=0.0013)
    ci = error_rate_ci(COUNTS, EXPOSURE, 99_999, 0.05)
    assert ci.mean == 0.30952380952380953
    assert (ci.lower, ci.upper) == pytest.approx((0.15384615384615385, 0.4520), abs=0.003)
    kept = [i for i, reference in enumerate(REFERENCES) if reference]
    pair = [REFERENCES[i] for i in kept], [HYPOTHESES[i] for i in kept]
    ci = wer.word_error_rate_ci(*pair, 99_999, 0.1)
    assert ci == pytest.approx((0.2777777777777778, 0.14285714285714285, 0.36363636363636365))
    ci = cer.character_error_rate_ci(*pair, 99_999, 0.1)
    # 0.9492 of the resamples are below that upper bound: its neighbour 0.3 is as good.
    assert ci == pytest.approx((0.2597402597402597, 0.21621621621621623, 0.303030303), abs=0.0031)
    ci = uer.universal_error_rate_ci(*([t.split() for t in texts] for texts in pair), 99_999, 0.1)
    assert ci == pytest.approx((0.2777777777777778, 0.14285714285714285, 0.36363636363636365))
    ci = bleu.bleu_ci(ROWS, GOOD, 99_999, 0.05)
    assert ci == pytest.approx((57.07577482357837, 31.20400055952817, 100.0))


def test_bounds_are_order_statistics():
    """floor(α/2·B) and floor((1 - α/2)·B), from 0: three numbers, every resample known."""
    x, B, alpha = [1.0, 2.0, 4.0], 200, 0.1
    ordered = np.sort(es.bootstrap_weights(3, B, 9) @ x / 3)
    ci = bootstrap_confidence_interval(x, B, alpha, rng=9)
    assert (ci.lower, ci.upper) == pytest.approx((ordered[10], ordered[190]))
    # The last index is clamped, and one resample is its own interval.
    ci = bootstrap_confidence_interval(x, 1, 1e-17, rng=9)
    assert ci.lower == ci.upper
    totals = es.bootstrap_weights(8, B, 9) @ np.stack([COUNTS, EXPOSURE], axis=1)
    ordered = np.sort(totals[:, 0] / totals[:, 1])
    ci = error_rate_ci(COUNTS, EXPOSURE, B, alpha, rng=9)
    assert (ci.lower, ci.upper) == (ordered[10], ordered[190])


def test_paired_bootstrap_written_out():
    differences = np.array(X1) - X2
    mean = differences.mean()
    moved = es.bootstrap_weights(8, 500, 9) @ differences / 8 - mean
    count = np.count_nonzero(np.abs(moved) >= abs(mean) - 1e-12)
    assert paired_bootstrap_test(X1, X2, 500, rng=9) == (count + 1) / 501
    assert paired_bootstrap_test(X1, X1, 99) == 1.0


def test_chrf_intervals_have_evaluatios_draws():
    """Deterministic in `seed`; evaluatio's arithmetic is float32."""
    ci = chrf.chrf_ci(ROWS, GOOD, 1000, 0.05)
    assert ci == pytest.approx((70.58561265392773, 65.18347930908203, 78.20545959472656), abs=2e-5)
    for metric in (sacrebleu.CHRF(word_order=2), es.CHRF(word_order=2)):
        ci = chrf.chrf_ci(ROWS, GOOD, 999, 0.1, metric, 7)
        expected = (71.98601156758785, 67.79341888427734, 78.26232147216797)
        assert ci == pytest.approx(expected, abs=2e-5)
    other = chrf.chrf_ci(ROWS, GOOD, 1000, 0.05, rng=1)
    assert other == chrf.chrf_ci(ROWS, GOOD, 1000, 0.05, rng=1)
    assert other.mean == pytest.approx(70.58561265392773)
    replicates = es.estimate(GOOD, ROWS, "chrf", n_resamples=1000, rng=1).replicates
    assert (other.lower, other.upper) == pytest.approx(np.quantile(replicates, [0.025, 0.975]))


RESAMPLED = {
    "mean": lambda **how: bootstrap_confidence_interval(np.arange(30.0) ** 2, 50, 0.1, **how),
    "rate": lambda **how: error_rate_ci(range(30), range(30, 60), 50, 0.1, **how),
    "bootstrap": lambda **how: paired_bootstrap_test(X1, X2, 500, **how),
    "permutation": lambda **how: paired_permutation_test(X1, X2, 500, **how),
    "wer": lambda **how: wer.word_error_rate_ci(REFERENCES[:3] * 9, HYPOTHESES[:3] * 9, 50, 0.1, **how),
    "cer": lambda **how: cer.character_error_rate_ci(REFERENCES * 9, HYPOTHESES * 9, 50, 0.1, **how),
    "uer": lambda **how: uer.universal_error_rate_ci([[0] * (k + 3) for k in range(20)], [[0, 1]] * 20, 50, 0.1, **how),
    "bleu_ci": lambda **how: bleu.bleu_ci(ROWS * 5, GOOD * 5, 50, 0.1, **how),
    "bleu_test": lambda **how: bleu.bleu_bootstrap_test(ROWS, GOOD, BAD, 2000, **how),
    "chrf_ci": lambda **how: chrf.chrf_ci(ROWS * 5, GOOD * 5, 50, 0.1, **how),
    "chrf_test": lambda **how: chrf.chrf_permutation_test(ROWS, GOOD, BAD, 2000, **how),
}  # fmt: skip


@pytest.mark.parametrize("call", RESAMPLED.values(), ids=RESAMPLED)
def test_everything_resampled_is_seeded(call):
    assert call() == call()
    assert call(rng=1) == call(rng=1)
    assert len({call(rng=seed) for seed in range(6)}) > 1
    assert call(rng=np.random.default_rng(3)) == call(rng=np.random.default_rng(3))
    assert len({call(rng=None) for _ in range(6)}) > 1
    with pytest.raises(es.InputError, match="rng must be"):
        call(rng=-1)
    with pytest.raises(TypeError):
        call(rng="12345")


@pytest.mark.parametrize(
    "call, message",
    [
        # Truncated or out of order in evaluatio, without a word.
        (lambda: error_rate_ci([1], [1, 2], 10, 0.05), "counts, exposure must be the same length, got 1, 2"),
        (lambda: chrf.chrf_ci(ROWS[:3], GOOD, 10, 0.05), "references has 3 entries but hypotheses has 4"),
        (lambda: chrf.chrf_ci(ROWS, GOOD, 10, 1.5), "alpha must be between 0 and 1, got 1.5"),
        (lambda: chrf.chrf_permutation_test(ROWS, GOOD, BAD[:3], 10), "hypotheses1, hypotheses2 must be the same length, got 4, 3"),
        (lambda: chrf.chrf_permutation_test(ROWS[:3], GOOD, BAD, 10), "references has 3 entries"),
        (lambda: pier.poi_error_rate([["a"], ["b"]], [["a"], ["b"]], [[True]]), "references, hypotheses, points_of_interest must be the same length, got 2, 2, 1"),
        # NaN that came out significant, or went through.
        (lambda: paired_bootstrap_test([1.0, NAN], [1.0, 2.0], 99), r"x1\[1\] is nan; scores must be finite"),
        (lambda: paired_permutation_test([1.0, 2.0], [NAN, 2.0], 99), r"x2\[0\] is nan"),
        (lambda: paired_bootstrap_test([1.0], [0.0], 99), "x1 has 1 score; the bootstrap needs at least two"),
        (lambda: holm_correction([NAN, 0.1]), r"pvalues\[0\] is nan"),
        # Panics.
        (lambda: bootstrap_confidence_interval([], 10, 0.05), "x is empty"),
        (lambda: bootstrap_confidence_interval([1.0, NAN], 10, 0.05), r"x\[1\] is nan"),
        (lambda: error_rate_ci([0, 1], [0, 3], 100, 0.05), "exposure is 0 in 1 of 2 segments, and one resample had neither"),
        (lambda: wer.word_error_rate_ci(["", "c"], ["", "c"], 100, 0.05), "exposure is 0 in 1 of 2"),
        (lambda: pier.poi_edit_distance([], ["a"], []), "references is empty; a point of interest is"),
        # Its ValueErrors.
        (lambda: bootstrap_confidence_interval(X1, 0, 0.05), "iterations must be at least 1, got 0"),
        (lambda: bootstrap_confidence_interval(X1, 10, 0.0), "alpha must be between 0 and 1, got 0"),
        (lambda: bootstrap_confidence_interval(X1, 10, 1), "alpha must be between 0 and 1, got 1"),
        (lambda: bootstrap_confidence_interval(X1, 10, NAN), "alpha must be a finite number"),
        (lambda: error_rate_ci([], [], 10, 0.05), "counts is empty"),
        (lambda: error_rate_ci([-1], [1], 10, 0.05), r"counts\[0\] must not be negative, got -1"),
        (lambda: wer.word_error_rate(["a"], ["a", "b"]), "references, hypotheses must be the same length, got 1, 2"),
        (lambda: wer.word_error_rate_ci([], [], 10, 0.05), "counts is empty"),
        (lambda: cer.character_error_rate(["a"], []), "must be the same length, got 1, 0"),
        (lambda: uer.universal_error_rate([["a"]], []), "must be the same length, got 1, 0"),
        (lambda: paired_bootstrap_test([1, 2], [1], 9), "x1 and x2 must be the same length"),
        (lambda: paired_permutation_test([], [], 9), "x1 is empty"),
        (lambda: paired_permutation_test([1, 2], [1, 3], 0), "iterations must be at least 1"),
        (lambda: holm_correction(PVALUES, 0), "alpha must be between 0 and 1, got 0"),
        (lambda: bonferroni_correction(PVALUES, 1), "alpha must be between 0 and 1, got 1"),
        (lambda: holm_correction([0.4, -0.1]), r"pvalues\[1\] must be between 0 and 1, got -0.1"),
        (lambda: bonferroni_correction([1.1]), r"pvalues\[0\] must be between 0 and 1, got 1.1"),
        (lambda: holm_correction([[0.1, 0.2]]), r"pvalues must have shape \(N,\)"),
        (lambda: pier.poi_edit_distance(["a"], ["a"], [True, False]), "points_of_interest must have one flag for each of the 1 tokens"),
        (lambda: pier.poi_error_rate([list("abc")], [list("ab")], [[True] * 2]), r"points_of_interest\[0\] must have one flag for each of the 3 tokens"),
        (lambda: chrf.chrf_ci([["a"], ["b", "c"]], ["a", "b"], 9, 0.05), "same number of references for every segment, got 1 to 2"),
        (lambda: chrf.chrf_ci(ROWS, GOOD, 9, 0.05, None, -1), "seed must be at least 0, got -1"),
    ],
)  # fmt: skip
def test_errors_name_the_argument(call, message):
    with pytest.raises(es.InputError, match=message):
        call()


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: wer.word_error_rate("ab", "ab"), "references must be a list of strings, got a bare str"),
        (lambda: wer.word_error_rate(["a"], [None]), r"hypotheses\[0\] must be a string, got NoneType"),
        (lambda: cer.character_error_rate([1], ["a"]), r"references\[0\] must be a string, got int"),
        (lambda: uer.universal_error_rate(["ab"], [["a"]]), r"references\[0\] must be a list of tokens"),
        (lambda: optimal_alignment("ab", ["a"]), "references must be a list of tokens, got a bare str"),
        (lambda: pier.poi_edit_distance(["a"], "a", [True]), "hypotheses must be a list of tokens"),
        (lambda: pier.poi_edit_distance(["a"], ["a"], [1]), r"points_of_interest\[0\] must be True or F"),
        (lambda: error_rate_ci([1.5], [1], 10, 0.05), "counts must be integers, got float64"),
        (lambda: paired_permutation_test([1, 2], [2, 3], 9, "x"), "two_tailed must be True or False"),
        (lambda: paired_permutation_test([1, 2], [2, 3], 9.0), "iterations must be an integer"),
        (lambda: cohens_d_independent(["a", "b"], [1, 2]), "x1 must be numbers"),
        (lambda: chrf.chrf_ci(ROWS, GOOD, 9, 0.05, "chrf"), "chrf must be a sacrebleu.CHRF, an evalst"),
        (lambda: bleu.bleu_ci(ROWS, "ab", 9, 0.05), "got a bare str"),
    ],
)  # fmt: skip
def test_wrong_types_stay_type_errors(call, message):
    with pytest.raises(TypeError, match=message):
        call()


def test_results_are_what_they_were():
    ci = bootstrap_confidence_interval([0.5, 0.75], 10, 0.5)
    assert isinstance(ci, ConfidenceInterval)
    assert repr(ci).startswith("ConfidenceInterval(mean=0.625, lower=")
    assert type(wer.word_edit_distance_per_pair(["a"], ["b"])[0]) is int
    assert type(wer.word_error_rate_per_pair(["a"], ["b"])[0]) is float
    assert type(wer.word_error_rate(["a"], ["b"])) is float
    assert type(pier.poi_error_rate([["a"]], [["b"]], [[True]])) is float
    for value in (paired_bootstrap_test(X1, X2, 9), cohens_d_paired(X1, X2), ci.mean, ci.lower):
        assert type(value) is float
