"""evaluatio's two BLEU functions: its meaning, without its defects. Seeds: test_compat_evaluatio."""

import numpy as np
import pytest

import evalstats as es
from tests import naive

REFERENCES = [["the cat sat on the mat"], ["it is raining again today", "it rains again"],
              ["we went home early"], ["no"]]  # fmt: skip
GOOD = ["the cat sat on the mat", "it is raining again", "we went home", "no"]
BAD = ["a cat sits on a mat", "it rained today", "we are going home late", "no"]


def replicates(hypotheses, effective_order, iterations, rng):
    """Score every resample with sacreBLEU itself."""
    twin = naive.sacrebleu_twin(es.BLEU(effective_order=effective_order))
    scores = []
    for weights in es.bootstrap_weights(len(hypotheses), iterations, rng):
        index = np.repeat(np.arange(len(hypotheses)), weights)
        streams = naive.streams([REFERENCES[i] for i in index])
        scores.append(twin.corpus_score([hypotheses[i] for i in index], streams).score)
    return np.array(scores)


@pytest.mark.parametrize("effective_order", [True, False])
def test_interval_and_test_by_the_obvious_path(effective_order):
    good, bad = (replicates(texts, effective_order, 200, 5) for texts in (GOOD, BAD))
    ci = es.bleu_ci(REFERENCES, BAD, 200, 0.1, effective_order, rng=5)
    # The 10th and the 191st of 200: floor(0.05·199) and ceil(0.95·199), from 0.
    assert (ci.lower, ci.upper) == pytest.approx(np.sort(bad)[[9, 190]], abs=1e-9)
    p = es.bleu_bootstrap_test(REFERENCES, BAD, GOOD, 200, effective_order, rng=5)
    assert p == (np.count_nonzero(good - bad <= 1e-9) + 1) / 201


def test_the_score_is_the_observed_one():
    twin = naive.sacrebleu_twin(es.BLEU(effective_order=True))
    expected = twin.corpus_score(BAD, naive.streams(REFERENCES)).score
    assert es.bleu_ci(REFERENCES, BAD, 50, 0.05).mean == pytest.approx(expected)
    assert es.ConfidenceInterval._fields == ("mean", "lower", "upper")


def test_effective_order_works():
    """Two perfect outputs of two tokens: evaluatio gives 100 either way, sacreBLEU 0 without."""
    texts = ["a b", "c d"]
    assert es.bleu_ci([["a b"], ["c d"]], texts, 10, 0.05, True).mean == 100
    assert es.bleu_ci([["a b"], ["c d"]], texts, 10, 0.05, False).mean == 0


def test_identical_systems_and_a_clear_winner():
    assert es.bleu_bootstrap_test(REFERENCES, GOOD, GOOD, 99) == 1.0
    longer = ["the cat sat on the mat"] * 20
    worse = ["a dog lay on a rug"] * 20
    assert es.bleu_bootstrap_test(longer, longer, worse, 999) == 0.001
    assert es.bleu_bootstrap_test(longer, worse, longer, 999) == 0.001


def test_iterables_are_welcome():
    ci = es.bleu_ci((r for r in REFERENCES), (h for h in BAD), 20, 0.05)
    assert ci == es.bleu_ci(REFERENCES, BAD, 20, 0.05)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: es.bleu_ci(REFERENCES, GOOD[:2], 9, 0.05), "references has 4 entries but hypot"),
        (lambda: es.bleu_ci([], [], 9, 0.05), "hypotheses is empty"),
        (lambda: es.bleu_ci(REFERENCES, GOOD, 0, 0.05), "iterations must be at least 1, got 0"),
        (lambda: es.bleu_ci(REFERENCES, GOOD, 10.0, 0.05), "iterations must be an integer"),
        (lambda: es.bleu_ci(REFERENCES, GOOD, 9, 0.0), "alpha must be between 0 and 1, got 0.0"),
        (lambda: es.bleu_ci(REFERENCES, GOOD, 9, 1), "alpha must be between 0 and 1, got 1"),
        (lambda: es.bleu_ci(REFERENCES, GOOD, 9, float("nan")), "alpha must be a finite number"),
        (
            lambda: es.bleu_bootstrap_test(REFERENCES, GOOD, BAD[:3], 9),
            "hyp1, hyp2 must be the same length, got 4, 3",
        ),
        (lambda: es.bleu_bootstrap_test(REFERENCES[:3], GOOD, BAD, 9), "references has 3 entries"),
        (lambda: es.bleu_bootstrap_test(REFERENCES, GOOD, [None] * 4, 9), r"hyp2\[0\] must be a"),
        (lambda: es.bleu_bootstrap_test(REFERENCES, GOOD, BAD, -1), "iterations must be at least"),
        (lambda: es.bleu_bootstrap_test(REFERENCES, [], [], 9), "hyp1 is empty"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(es.InputError, match=message):
        call()
