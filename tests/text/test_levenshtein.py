"""Batched edit distances and common subsequences against rapidfuzz and jiwer."""

from __future__ import annotations

import jiwer
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import LCSseq, Levenshtein

import evalstats as es
from evalstats.text import levenshtein
from tests.pairs import packed, random_pairs


def measure(pairs, found=levenshtein.levenshtein):
    return found(*packed(pairs)).tolist()


@pytest.mark.parametrize(
    "limits",
    [{}, {"_BLOCK_TOKENS": 100}, {"_BLOCK_WORDS": 0, "_KEPT": 3}, {"_ENTRIES": 0}],
    ids=str,
)
@pytest.mark.parametrize("longest", [3, 63, 64, 65, 129, 200])
def test_equals_rapidfuzz(monkeypatch, longest, limits):
    """Either way round, in blocks, with the integers of very long pairs, and of sorted tokens."""
    for name, value in limits.items():
        monkeypatch.setattr(levenshtein, name, value)
    pairs = random_pairs(longest, 20, longest)
    pairs += [([1] * longest, [1] * longest), ([1] * longest, [2] * longest), ([], [1] * longest)]
    for found, oracle in (
        (levenshtein.levenshtein, Levenshtein.distance),
        (levenshtein.common_lengths, LCSseq.similarity),
    ):
        expected = [oracle(h, r) for h, r in pairs]
        assert measure(pairs, found) == expected
        assert measure([(r, h) for h, r in pairs], found) == expected


def test_any_integers_are_tokens():
    assert measure([]) == []
    big = 2**62
    assert measure([([-5, big, 7], [big, 7, -big]), ([big], [big])]) == [2, 0]


text = st.text(st.sampled_from("ab \u00a0\u3000é\U0001f600\n"), max_size=15)


def fewest(hypothesis, references, split):
    """Return edits and length of the closest reference, the shorter one on a tie."""
    return min(
        [Levenshtein.distance(split(hypothesis), split(r)), len(split(r))] for r in references
    )


@settings(max_examples=25)
@given(st.lists(st.tuples(text, st.lists(text, min_size=1, max_size=4)), min_size=1, max_size=6))
def test_texts(segments):
    hyps, refs = map(list, zip(*segments, strict=True))
    upper = [h.upper() for h in hyps], [[r.upper() for r in several] for several in refs]
    lines = (es.CER, lambda text: list(text.rstrip("\r\n")))
    for metric, split in ((es.WER, str.split), lines):
        expected = [fewest(h, several, split) for h, several in segments]
        assert metric().statistics(hyps, refs).tolist() == expected
        assert metric(lowercase=True).statistics(*upper).tolist() == expected


def test_empty_sides():
    rows = es.WER().statistics(["a b", "", "", "x"], ["", "a b c", "", "\t"])
    assert rows.tolist() == [[2, 0], [3, 3], [0, 0], [1, 0]]
    assert es.WER().score(rows).tolist() == [100, 100, 0, 100]
    assert es.WER().score(rows.sum(axis=0)) == 200
    # A lone surrogate is one character.
    assert es.CER().statistics(["a\ud800"], ["\ud800"]).tolist() == [[1, 1]]
    # Lines as `readlines` gives them: 10.3% of a perfect text.
    assert es.CER().statistics(["a b\r\n", "c\nd"], ["a b", "c d\n"]).tolist() == [[0, 3], [1, 3]]


@pytest.mark.parametrize("pair", ["en_de", "en_zh"])
def test_real_system(request, pair):
    test_set = request.getfixturevalue(pair)
    # jiwer splits at U+0020 only; the definition here is `str.split`.
    sides = (next(iter(test_set.systems.values())), test_set.references["A"])
    hyps, refs = ([" ".join(x.split()) for x in side[::8]] for side in sides)
    for metric, process in ((es.WER(), jiwer.process_words), (es.CER(), jiwer.process_characters)):
        rows, out = metric.statistics(hyps, refs), process(refs, hyps)
        assert rows[:, 0].sum() == out.substitutions + out.insertions + out.deletions
        assert rows[:, 1].sum() == out.hits + out.substitutions + out.deletions
