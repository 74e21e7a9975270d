"""BLEU and chrF statistics equal sacreBLEU's integers on real, fuzzed and extreme corpora."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU, CHRF

import evalstats as es
from evalstats.text import ngram_index
from tests import fuzz
from tests.fuzz import TOKENIZERS, check_bleu, check_chrf
from tests.naive import streams

PAIRS = ("en_de", "en_zh", "en_es")


def reference_sets(test_set, step=1):
    """Return the references of a test set, one set for each stream and one of all streams."""
    sets = [texts[::step] for texts in test_set.references.values()]
    single = [[[text] for text in texts] for texts in sets]
    return single + ([list(map(list, zip(*sets, strict=True)))] if len(sets) > 1 else [])


@pytest.fixture
def bounds(monkeypatch):
    """Restore the bounds that a test draws."""
    for module, name in (*fuzz.BOUNDS, (ngram_index, "WORD")):
        monkeypatch.setattr(module, name, getattr(module, name))


def compare_systems(test_set, name, step):
    """Compare all systems; references are prepared once, so what one leaves behind would show."""
    for references in reference_sets(test_set, step):
        if name == "chrF++":
            theirs, ours = CHRF(word_order=2, references=streams(references)), es.CHRF(word_order=2)
        else:
            theirs = BLEU(tokenize=name, references=streams(references))
            ours = es.BLEU(tokenize=name)
        prepared = es.References(references)
        for system, texts in test_set.systems.items():
            expected = theirs._extract_corpus_statistics(texts[::step], None)
            np.testing.assert_array_equal(
                ours.statistics(texts[::step], prepared), expected, system
            )


@pytest.mark.parametrize("step", [40, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", [*TOKENIZERS, "chrF++"])
@pytest.mark.parametrize("pair", PAIRS)
def test_real_systems(request, pair, name, step):
    compare_systems(request.getfixturevalue(pair), name, step)


@pytest.mark.parametrize("pair", PAIRS)
def test_options_on_real_data(request, pair):
    test_set = request.getfixturevalue(pair)
    hypotheses = next(iter(test_set.systems.values()))[::20]
    references = reference_sets(test_set, 20)[-1]
    check_bleu(hypotheses, references, tokenize="13a", lowercase=True, max_ngram_order=9)
    check_chrf(hypotheses, references, lowercase=True, whitespace=True, beta=1)
    check_chrf(hypotheses, references, char_order=10, word_order=4, eps_smoothing=True)


@pytest.mark.parametrize("n", [100, pytest.param(1500, marks=pytest.mark.thorough)])
def test_fuzzed_corpora_in_tiny_chunks_and_short_keys(bounds, n):
    for seed in range(n):
        fuzz.check_corpus(random.Random(seed), bounds=True)


def check_many_distinct_tokens(n):
    rng = random.Random(1)
    words = [f"w{i}" for i in range(n)]
    other = words[: n // 2] + rng.sample(words, n // 2)
    hypotheses, references = [" ".join(words), "a b"], [[" ".join(other), words[5]], ["a", "b a"]]
    check_bleu(hypotheses, references, tokenize="none", lowercase=False, max_ngram_order=9)


def check_many_distinct_characters(n):
    codes = [chr(c) for c in range(0x110000) if not chr(c).isspace()][:n]
    random.Random(2).shuffle(codes)
    hypothesis = "".join(codes)
    parts = hypothesis[: 7 * n // 10] + hypothesis[n // 5 : 3 * n // 5]
    check_chrf([hypothesis], [[parts, hypothesis[::-1]]], char_order=10)


def check_one_repeated_token(n):
    check_chrf(["a" * n, ""], [["a" * (n - 9), "a"], ["b"]], char_order=10, word_order=2)
    options = {"tokenize": "13a", "lowercase": False, "max_ngram_order": 9}
    check_bleu(["a " * n], [["a " * (n - 9), "a"]], **options)


@pytest.mark.parametrize("n", [10_000, pytest.param(100_000, marks=pytest.mark.thorough)])
@pytest.mark.parametrize(
    "check", [check_many_distinct_tokens, check_many_distinct_characters, check_one_repeated_token]
)
def test_one_long_segment(check, n):
    check(n)


@pytest.mark.parametrize(
    "texts",
    [
        [""],
        ["", "", ""],
        [" ", "\n", "\x1c\x1d", "\u2028", "\x85", "\u3000"],
        ["\0", "\0\0", "a\0b"],
        ["\ud800", "\udfff\ud800", "\ud83d\ude00", "\U0001f600"],
        ["a\nb", "a\rb", "a-\nb", "-\n", "a\u2028b"],
        ["<skipped>", "<skip<skipped>ped>", "&amp;lt;"],
    ],
)
def test_degenerate_texts(texts):
    for name in TOKENIZERS:
        for order in (1, 4, 9):
            options = {"tokenize": name, "lowercase": False, "max_ngram_order": order}
            check_bleu(texts, [texts[::-1]] * len(texts), **options)
            check_bleu(texts, [[text, ""] for text in texts], **options)
    for whitespace in (False, True):
        check_chrf(texts, [[text] for text in texts], word_order=2, whitespace=whitespace)
        check_chrf(texts, [texts[::-1]] * len(texts), word_order=2, whitespace=whitespace)


def test_many_empty_segments():
    texts = [""] * 100_000
    references = es.References(texts)
    assert not es.BLEU().statistics(texts, references).any()
    assert not es.CHRF(word_order=2).statistics(texts, references).any()


def test_many_references_in_one_segment():
    rng = random.Random(3)
    references = [[fuzz.text(rng) for _ in range(200)], ["a b"], ["", "b"]]
    hypotheses = [" ".join(references[0][:5]), "a b a b", "b"]
    check_bleu(hypotheses, references, tokenize="13a", lowercase=False, max_ngram_order=4)
    check_chrf(hypotheses, references, word_order=2)


def test_the_first_of_equal_references_wins():
    # Equal scores, different counts: both references score 0.
    check_chrf(["abc"], [["x", "xy"]])
    check_chrf(["abc"], [["xy", "x"]])
    check_chrf(["abc"], [["", "xy", ""]], eps_smoothing=True)


@given(
    counts=st.lists(st.tuples(*[st.integers(0, 50)] * 6), min_size=1),
    beta=st.one_of(st.integers(1, 10**10), st.floats(1e-3, 1e50)),
    eps=st.booleans(),
)
def test_chrf_scores_to_the_last_bit(counts, beta, eps):
    # A match needs an n-gram on both sides.
    rows = [(h1, r1, min(h1, r1, m1), h2, r2, min(h2, r2, m2)) for h1, r1, m1, h2, r2, m2 in counts]
    theirs = CHRF(char_order=2, beta=beta, eps_smoothing=eps)
    ours = es.CHRF(char_order=2, beta=beta, eps_smoothing=eps)
    assert ours.score(rows).tolist() == [theirs._compute_f_score(row) for row in rows]
