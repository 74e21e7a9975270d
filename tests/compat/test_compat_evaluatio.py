"""evaluatio 0.5.2 under `evalstats.compat.evaluatio`: its numbers, and errors for its silences.

Every number here that is called evaluatio's comes from a run of the package (0.5.2, its wheel from
PyPI). `live/test_evaluatio.py` runs it side by side.
"""

import numpy as np
import pytest
import sacrebleu

import evalstats as es
from evalstats.compat.evaluatio.alignment import Alignment, optimal_alignment
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
from tests import naive
from tests.helpers import bad_cases, cases, refuses

NAN, INF = float("nan"), float("inf")

REFERENCES = ["the cat sat on the mat", "it is raining again today", "we went home early"]
REFERENCES += ["", "no  one\tcame"]
HYPOTHESES = ["the cat sits on mat", "it rained again today", "we went home", "a b", "no one came"]
TOKENS = [["hello", "world"], ["cymru", "am", "byth"], ["croeso", "i", "gymru"]]
OTHERS = [["hello", "byd"], ["gymru", "ap", "dydd"], ["croeso", "i", "gymru"]]
#: Without the empty reference, of which an interval cannot be had.
KEPT = [[texts[i] for i in (0, 1, 2, 4)] for texts in (REFERENCES, HYPOTHESES)]
SPLIT = [[text.split() for text in texts] for texts in KEPT]
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


def spans(reference, hypothesis):
    found = optimal_alignment(list(reference), list(hypothesis))
    return [(a.index, a.start, a.end) for a in found]


def errors(reference, hypothesis, points):
    flags = [point == "T" for point in points]
    return pier.poi_edit_distance(list(reference), list(hypothesis), flags)


MIXED = [1, True, 1.0, NAN, "1", [1]], [1.0, 1, True, NAN, 1, [1]]
#: Calls without draws, and what evaluatio gives.
NUMBERS = [
    (lambda: wer.word_edit_distance_per_pair(REFERENCES, HYPOTHESES), [2, 2, 1, 2, 0]),
    (lambda: wer.word_error_rate_per_pair(REFERENCES, HYPOTHESES), [1 / 3, 0.4, 0.25, INF, 0]),
    (lambda: wer.word_error_rate(REFERENCES, HYPOTHESES), 0.3888888888888889),
    # evaluatio's own tests ask for NaN where there is nothing on either side.
    (lambda: wer.word_error_rate_per_pair([""], [""]), [NAN]),
    (lambda: cer.character_error_rate([], []), NAN),
    (lambda: cer.character_error_rate_per_pair([], []), []),
    (lambda: uer.universal_error_rate([[]], [["a"]]), INF),
    # The information separators are no whitespace in Unicode; Python would split there.
    (lambda: wer.word_edit_distance_per_pair(["a\x1cb", "a\x85b"], ["a b", "a b"]), [2, 0]),
    (lambda: cer.character_edit_distance_per_pair(REFERENCES, HYPOTHESES), [6, 6, 6, 3, 2]),
    (lambda: cer.character_error_rate_per_pair(REFERENCES, HYPOTHESES),
     [0.2727272727272727, 0.24, 0.3333333333333333, INF, 0.16666666666666666]),
    (lambda: cer.character_error_rate(REFERENCES, HYPOTHESES), 0.2987012987012987),
    (lambda: uer.universal_error_rate(TOKENS, OTHERS), 0.5),
    (lambda: uer.universal_error_rate_per_pair(TOKENS, OTHERS), [0.5, 1.0, 0.0]),
    (lambda: uer.universal_edit_distance_per_pair([MIXED[0]], [MIXED[1]]), [2]),
    # evaluatio takes lists only; tuples and generators are as good.
    (lambda: uer.universal_error_rate((iter(r) for r in TOKENS), map(tuple, OTHERS)), 0.5),
    (lambda: spans("abc", "abxc"), [(0, 0, 1), (1, 1, 2), (2, 2, 4)]),
    (lambda: spans("abc", "c"), [(0, 0, 1), (1, 0, 1), (2, 0, 1)]),
    (lambda: spans("c", "abc"), [(0, 0, 3)]),
    (lambda: spans("kitten", "sitting")[-1], (5, 5, 7)),
    (lambda: [end for *_, end in spans("intention", "execution")], [1, 2, 3, 3, 4, 6, 7, 8, 9]),
    (lambda: spans("ab", "ba"), [(0, 0, 1), (1, 0, 2)]),
    (lambda: spans("", "a") + spans("a", ""), []),
    (lambda: optimal_alignment(["a"], ["b"]), [Alignment(index=0, start=0, end=1)]),
    (lambda: errors("aaaa", "baaaab", "TFFT"), 2),
    (lambda: errors("aaba", "caca", "FFTF"), 1),
    (lambda: errors("kitten", "sitting", "TTTTTT"), 3),
    (lambda: errors("intention", "execution", "TFTFTFTFT"), 3),
    (lambda: errors("aaaa", "", "FTTF"), 2),
    (lambda: pier.poi_error_rate([list("aaaa")], [list("abaa")], [[False, True, True, False]]),
     0.5),
    (lambda: pier.poi_error_rate([["a"]], [["b"]], [[False]]), NAN),
    # Flags belong to the reference, as evaluatio documents it. Its number is that with the first
    # two arguments swapped.
    (lambda: pier.poi_error_rate([list("abc")], [list("ax")], [[False, True, True]]), 1.0),
    (lambda: pier.poi_error_rate([list("ab")], [list("abc")], [[True, True]]), 0.5),
    (lambda: pier.poi_edit_distance([], ["a"], []), 0),
    (lambda: cohens_d_independent(X1, X2), -0.1384318659686041),
    (lambda: cohens_d_paired(X1, X2), -0.33154882463308083),
    (lambda: holm_correction(PVALUES).adjusted_pvalues, [0.09, 0.09, 0.005, 0.8, 0.08]),
    (lambda: bonferroni_correction(PVALUES).adjusted_pvalues, [0.15, 0.2, 0.005, 1.0, 0.1]),
    # At most alpha, not below it.
    (lambda: bonferroni_correction(PVALUES, alpha=0.2).rejected, [True, True, True, False, True]),
    (lambda: holm_correction(p for p in [0.0, 1.0]).adjusted_pvalues, [0.0, 1.0]),
    (lambda: bonferroni_correction([]).adjusted_pvalues, []),
]  # fmt: skip


@pytest.mark.parametrize("call, expected", NUMBERS)
def test_numbers_are_evaluatios(call, expected):
    found = call()
    if isinstance(expected, list) and expected and not isinstance(expected[0], (int, float)):
        assert found == expected
    else:
        assert np.asarray(found) == pytest.approx(np.asarray(expected), rel=1e-12, nan_ok=True)
    assert not isinstance(found, np.generic)


def test_permutations_are_of_all_signs():
    assert paired_permutation_test(X1, X2, 1, exact=True) == 0.421875
    # evaluatio gave 0.8049: sums that are equal but for rounding are no ties there.
    assert paired_permutation_test(X1, X2, 1, False, exact=True) == 0.8359375
    # Five standard errors.
    assert abs(paired_permutation_test(X1, X2, 9999) - 0.421875) < 0.025
    scores = [
        [sacrebleu.sentence_chrf(text, row).score for text, row in zip(texts, ROWS, strict=True)]
        for texts in (GOOD, BAD)
    ]
    for two_tailed in (True, False):
        found = chrf.chrf_permutation_test(ROWS, GOOD, BAD, 99, two_tailed)
        assert found == paired_permutation_test(*scores, 99, two_tailed)


@cases(
    ((1000, 0.05), (70.58561, 65.18348, 78.20546)),
    ((999, 0.1, sacrebleu.CHRF(word_order=2), 7), (71.986013, 67.793419, 78.262321)),
)
def test_chrf_has_evaluatios_draws(arguments, theirs):
    """Deterministic in `seed`; evaluatio's arithmetic is float32."""
    assert chrf.chrf_ci(ROWS, GOOD, *arguments) == pytest.approx(theirs, abs=2e-5)


@cases(
    (wer, "word", KEPT, str.split),
    (cer, "character", KEPT, list),
    (uer, "universal", SPLIT, list),
    ids=["words", "characters", "tokens"],
)
def test_intervals_of_rates_are_those_of_their_counts(module, prefix, pairs, split):
    edits = getattr(module, f"{prefix}_edit_distance_per_pair")(*pairs)
    expected = error_rate_ci(edits, [len(split(text)) for text in pairs[0]], 99, 0.1, rng=3)
    found = getattr(module, f"{prefix}_error_rate_ci")(*pairs, 99, 0.1, rng=3)
    assert found == expected
    assert isinstance(found, ConfidenceInterval)


def test_bounds_are_order_statistics():
    """floor(α/2·B) and floor((1 - α/2)·B), from 0: three numbers, every resample known."""
    x, B, alpha = [1.0, 2.0, 4.0], 199, 0.1
    ordered = np.sort(es.bootstrap_weights(3, B, 9) @ x / 3)
    ci = bootstrap_confidence_interval(x, B, alpha, rng=9)
    assert (ci.lower, ci.upper) == pytest.approx((ordered[9], ordered[189]))
    # The last index is clamped, and one resample is its own interval.
    ci = bootstrap_confidence_interval(x, 1, 1e-17, rng=9)
    assert ci.lower == ci.upper
    totals = es.bootstrap_weights(8, B, 9) @ np.stack([COUNTS, EXPOSURE], axis=1)
    ordered = np.sort(totals[:, 0] / totals[:, 1])
    ci = error_rate_ci(COUNTS, EXPOSURE, B, alpha, rng=9)
    assert (ci.lower, ci.upper) == (ordered[9], ordered[189])
    differences = np.array(X1) - X2
    mean = differences.mean()
    moved = es.bootstrap_weights(8, 500, 9) @ differences / 8 - mean
    count = np.count_nonzero(np.abs(moved) >= abs(mean) - 1e-12)
    assert paired_bootstrap_test(X1, X2, 500, rng=9) == (count + 1) / 501


def replicates(hypotheses, references, effective_order, iterations, rng):
    """Score every resample with sacreBLEU itself."""
    twin = naive.sacrebleu_twin(es.BLEU(effective_order=effective_order))
    scores = []
    for weights in es.bootstrap_weights(len(hypotheses), iterations, rng):
        index = np.repeat(np.arange(len(hypotheses)), weights)
        streams = naive.streams([references[i] for i in index])
        scores.append(twin.corpus_score([hypotheses[i] for i in index], streams).score)
    return np.array(scores)


@pytest.mark.parametrize("effective_order", [True, False])
def test_bleu_by_the_obvious_path(effective_order, sample):
    references = sample.references[:9]
    worse, better = (sample.systems[name][:9] for name in ("clearly-better", "baseline"))
    drawn = [replicates(texts, references, effective_order, 60, 5) for texts in (worse, better)]
    ci = es.bleu_ci(references, worse, 60, 0.1, effective_order, rng=5)
    # The 3rd and the 58th of 60: floor(0.05·59) and ceil(0.95·59), from 0.
    assert (ci.lower, ci.upper) == pytest.approx(np.sort(drawn[0])[[2, 57]], abs=1e-9)
    assert len(set(drawn[0].round(9))) > 54
    twin = naive.sacrebleu_twin(es.BLEU(effective_order=effective_order))
    observed = [twin.corpus_score(t, naive.streams(references)).score for t in (worse, better)]
    assert ci.mean == pytest.approx(observed[0])
    assert observed[0] < observed[1]  # of these nine
    p = (np.count_nonzero(drawn[1] - drawn[0] <= 1e-9) + 1) / 61
    for pair in ((worse, better), (better, worse)):
        assert es.bleu_bootstrap_test(references, *pair, 60, effective_order, rng=5) == p
    assert es.bleu_bootstrap_test(ROWS, iter(GOOD), GOOD, 99) == 1.0
    # Two perfect outputs of two tokens: evaluatio gives 100 either way, sacreBLEU 0 without.
    short = es.bleu_ci([["a b"], ["c d"]], ["a b", "c d"], 10, 0.05, effective_order)
    assert short.mean == (100 if effective_order else 0)


def test_chrf_with_draws_of_ours():
    found = chrf.chrf_ci(ROWS, GOOD, 1000, 0.05, es.CHRF(), rng=1)
    drawn = es.estimate(GOOD, ROWS, "chrf", n_resamples=1000, rng=1).replicates
    assert (found.lower, found.upper) == pytest.approx(np.quantile(drawn, [0.025, 0.975]))


RESAMPLED = {
    "mean": lambda **how: bootstrap_confidence_interval(np.arange(30.0) ** 2, 50, 0.1, **how),
    "rate": lambda **how: error_rate_ci(range(30), range(30, 60), 50, 0.1, **how),
    "bootstrap": lambda **how: paired_bootstrap_test(X1, X2, 500, **how),
    "permutation": lambda **how: paired_permutation_test(X1, X2, 500, **how),
    "wer": lambda **how: wer.word_error_rate_ci(*(t * 9 for t in KEPT), 50, 0.1, **how),
    "cer": lambda **how: cer.character_error_rate_ci(*(t * 9 for t in KEPT), 50, 0.1, **how),
    "uer": lambda **how: uer.universal_error_rate_ci(*(t * 9 for t in SPLIT), 50, 0.1, **how),
    "bleu_ci": lambda **how: bleu.bleu_ci(ROWS * 5, GOOD * 5, 50, 0.1, **how),
    "bleu_test": lambda **how: bleu.bleu_bootstrap_test(ROWS, GOOD, BAD, 2000, **how),
    "chrf_ci": lambda **how: chrf.chrf_ci(ROWS * 5, GOOD * 5, 50, 0.1, **how),
    "chrf_test": lambda **how: chrf.chrf_permutation_test(ROWS, GOOD, BAD, 2000, **how),
}


@pytest.mark.parametrize("call", RESAMPLED.values(), ids=RESAMPLED)
def test_everything_resampled_is_seeded(call):
    assert call() == call()
    assert call(rng=np.random.default_rng(3)) == call(rng=np.random.default_rng(3))
    for seeds in (range(6), [None] * 6):
        assert len({call(rng=seed) for seed in seeds}) > 1
    refuses("rng must be", call, rng=-1)


LENGTHS = "must have the same length, got"


@bad_cases(
    (error_rate_ci, ([1], [1, 2], 10, 0.05), f"counts, exposure {LENGTHS} 1, 2"),
    (error_rate_ci, ([0, 1], [0, 3], 100, 0.05), "exposure is 0 in 1 of 2 segments"),
    (error_rate_ci, ([-1], [1], 10, 0.05), r"counts\[0\] must not be negative, got -1"),
    (bootstrap_confidence_interval, ([1.0, NAN], 10, 0.05), r"x\[1\] is nan"),
    (paired_bootstrap_test, ([1.0], [0.0], 99), "x1 has 1 score, .* at least two"),
    (holm_correction, (PVALUES, 0), "alpha must be between 0 and 1, got 0"),
    (holm_correction, ([0.4, -0.1],), r"pvalues\[1\] must be between 0 and 1, got -0.1"),
    (wer.word_error_rate, (["a"], ["a", "b"]), f"references, hypotheses {LENGTHS} 1, 2"),
    (pier.poi_error_rate, ([["a"], ["b"]], [["a"], ["b"]], [[True]]), f"{LENGTHS} 2, 2, 1"),
    (pier.poi_error_rate, ([list("abc")], [list("ab")], [[True] * 2]), r"interest\[0\] must"),
    (chrf.chrf_ci, (ROWS, GOOD, 9, 0.05, None, -1), "seed must be at least 0, got -1"),
    (chrf.chrf_permutation_test, (ROWS, GOOD, BAD[:3], 10), f"hypotheses2 {LENGTHS} 4, 3"),
    (es.bleu_bootstrap_test, (ROWS, GOOD, BAD[:3], 9), f"hyp1, hyp2 {LENGTHS} 4, 3"),
    (wer.word_error_rate, ("ab", "ab"), "references must be a list of strings"),
    (pier.poi_edit_distance, (["a"], ["a"], [1]), r"interest\[0\] must be True or F"),
    (error_rate_ci, ([1.5], [1], 10, 0.05), "counts must be integers, got float64"),
    (chrf.chrf_ci, (ROWS, GOOD, 9, 0.05, "chrf"), "chrf must be a sacrebleu.CHRF"),
)
def test_errors_name_the_argument(function, arguments):
    function(*arguments)


def test_results_say_what_they_are():
    ci = bootstrap_confidence_interval([0.5, 0.75], 10, 0.5)
    assert repr(ci).startswith("ConfidenceInterval(mean=0.625, lower=")
    assert {type(value) for value in (*ci, paired_bootstrap_test(X1, X2, 9))} == {float}
    holm = holm_correction(PVALUES)
    assert isinstance(holm, MultipleTestingResult)
    assert (holm.method, holm.alpha) == ("holm", 0.05)
