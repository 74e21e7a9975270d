"""BLEU and chrF statistics equal sacreBLEU's integers on fuzzed and extreme corpora."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evalstats as es
from evalstats.text import ngrams, tokenization
from tests import fuzz
from tests.fuzz import TOKENIZERS
from tests.naive import sacrebleu_score, sacrebleu_statistics


def check(metric, hypotheses, references):
    """Compare statistics, and chrF's segment scores to the last bit."""
    expected = sacrebleu_statistics(metric, hypotheses, references)
    found = metric.statistics(hypotheses, references)
    np.testing.assert_array_equal(found, expected)
    if isinstance(metric, es.CHRF):
        assert metric.score(found).tolist() == [sacrebleu_score(metric, x) for x in expected]


def any_bleu(rng):
    return es.BLEU(
        tokenize=rng.choice(TOKENIZERS),
        lowercase=rng.random() < 0.3,
        max_ngram_order=rng.choice((4, 4, 1, 2, 3, 5, 6, 7, 8, 9)),
    )


def any_chrf(rng):
    word_order = rng.choice((0, 2, 1, 3, 4))
    return es.CHRF(
        char_order=max(rng.choice((6, 6, 0, 1, 2, 3, 8, 10)), int(not word_order)),
        word_order=word_order,
        lowercase=rng.random() < 0.3,
        whitespace=rng.random() < 0.3,
        beta=rng.choice((2, 2, 1, 3, 0.5, 1.7, 1e6, 10**9)),
        eps_smoothing=rng.random() < 0.3,
    )


@pytest.mark.parametrize("n", [30, pytest.param(1500, marks=pytest.mark.thorough)])
def test_fuzzed_corpora_in_tiny_chunks_and_short_keys(monkeypatch, n):
    """Any options and bounds of memory, and few bits for a key, so that every split happens."""
    for seed in range(n):
        rng = random.Random(seed)
        for name in ("CHUNK_TOKENS", "CHUNK_SEGMENTS", "HYPOTHESIS_TOKENS", "KEPT_BYTES"):
            monkeypatch.setattr(ngrams, name, rng.choice((1, 3, 10, 50, 1 << 20)))
        for name in ("BLOCK_CHARACTERS", "BLOCK_TEXTS"):
            monkeypatch.setattr(tokenization, name, rng.choice((1, 3, 10, 50, 1 << 20)))
        monkeypatch.setattr(ngrams, "WORD", rng.choice((64, 48, 32)))
        corpus = fuzz.corpus(rng)
        for metric in (any_bleu(rng), any_chrf(rng)):
            check(metric, *corpus)


@pytest.mark.parametrize("n", [2000, pytest.param(100_000, marks=pytest.mark.thorough)])
def test_one_long_segment_and_many_empty_ones(n):
    rng = random.Random(1)
    words = [f"w{i}" for i in range(n)]
    other = words[: n // 2] + rng.sample(words, n // 2)
    references = [[" ".join(other), words[5]], ["a", "b a"]]
    check(es.BLEU(tokenize="none", max_ngram_order=9), [" ".join(words), "a b"], references)
    references = [["a " * (n - 9), "a"], ["b"]]
    check(es.CHRF(char_order=10, word_order=2), ["a " * n, ""], references)
    empty = [""] * 20_000
    for metric in (es.BLEU(), es.CHRF(word_order=2)):
        assert not metric.statistics(empty, empty).any()


def test_the_first_of_equal_references_wins():
    # Equal scores, different counts: both references score 0.
    for references in (["x", "xy"], ["xy", "x"], ["", "xy", ""]):
        for eps in (False, True):
            check(es.CHRF(eps_smoothing=eps), ["abc"], [references])


@settings(max_examples=40)
@given(
    counts=st.lists(st.tuples(*[st.integers(0, 50)] * 6), min_size=1),
    beta=st.one_of(st.integers(1, 10**10), st.floats(1e-3, 1e50)),
    eps=st.booleans(),
)
def test_chrf_scores_to_the_last_bit(counts, beta, eps):
    # A match needs an n-gram on both sides.
    rows = [(h1, r1, min(h1, r1, m1), h2, r2, min(h2, r2, m2)) for h1, r1, m1, h2, r2, m2 in counts]
    metric = es.CHRF(char_order=2, beta=beta, eps_smoothing=eps)
    assert metric.score(rows).tolist() == [sacrebleu_score(metric, row) for row in rows]
