"""Batched TER against sacreBLEU: the same integers for every pair, distance by distance."""

from __future__ import annotations

import random
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import lib_ter

import evalstats as es
from evalstats.text import tercom
from tests.conftest import first
from tests.naive import sacrebleu_statistics
from tests.pairs import packed, random_pairs


def measure(pairs):
    return list(map(int, tercom.translation_edits(*packed(pairs))))


def expected(pairs):
    return [lib_ter.translation_edit_rate(*(list(map(str, x)) for x in pair))[0] for pair in pairs]


def displaced_pairs(seed, count, longest):
    """Pairs whose common part is so far off the diagonal that the best path hugs the beam."""
    rng = random.Random(seed)
    pairs = []
    for _ in range(count):
        size = rng.choice([2, 3, 5, 30])
        common, one, two = (
            [rng.randrange(size) for _ in range(rng.randint(0, longest))] for _ in range(3)
        )
        hyp, ref = one + common, common + two
        pairs.append((hyp, ref) if rng.random() < 0.5 else (ref, hyp))
    return [(hyp, ref) for hyp, ref in pairs if hyp and ref]


@pytest.mark.parametrize("longest", first(1, [8, 30, 100]))
def test_equals_sacrebleu(monkeypatch, longest):
    pairs = random_pairs(longest, 600 // max(longest, 20), longest)
    # 101 / 2 / 2 + 25 is 50.25, and 51 columns are just enough to keep both words.
    pairs += [([], []), ([1, 2], []), ([], [1, 2, 3]), ([1, 2], [9] * 99 + [1, 2])]
    edits = measure(pairs)
    assert edits == expected(pairs)
    assert measure([]) == []
    # Neighbours and blocks do not matter.
    monkeypatch.setattr(tercom, "_BLOCK_CELLS", 3000)
    monkeypatch.setattr(tercom, "_MATCHES", 50)
    assert measure(pairs) == edits


#: sacreBLEU's limit, where ours is, and values to try.
LIMITS = [
    ("_BEAM_WIDTH", "BEAM", range(2, 10, 2)),
    ("_MAX_SHIFT_SIZE", "MAX_SHIFT_SIZE", range(1, 9, 2)),
    ("_MAX_SHIFT_DIST", "MAX_SHIFT_DISTANCE", range(1, 21, 4)),
    ("_MAX_SHIFT_CANDIDATES", "MAX_CANDIDATES", range(1, 22, 4)),
]


def test_limits_are_those_of_sacrebleu():
    for name, other, _ in LIMITS:
        assert getattr(tercom, other) == getattr(lib_ter, name)


@pytest.mark.parametrize("n", [6, pytest.param(18, marks=pytest.mark.thorough)])
@pytest.mark.parametrize(("name", "other", "limits"), LIMITS)
def test_limits_bite_at_the_same_point(monkeypatch, name, other, limits, n):
    pairs = [pair for pair in random_pairs(8, n, 18) if all(pair)] + displaced_pairs(1, 10, 12)
    # 23 * (52 / 46) is 26 less one bit: the pseudo-diagonal of row 23 is in column 25.
    pairs.append((list(range(46)), list(range(52))))
    results = set()
    for limit in limits:
        monkeypatch.setattr(lib_ter, name, limit)
        monkeypatch.setattr(tercom, other, limit)
        edits = measure(pairs)
        assert edits == expected(pairs)
        results.add(tuple(edits))
    assert len(results) > 2


RATIOS = [(1, 49), (1, 50), (1, 51), (1, 64), (1, 120), (2, 100), (2, 101), (2, 130), (3, 151)]


@pytest.mark.parametrize(("n", "m"), [*RATIOS, (5, 260), (7, 93), (60, 5), (120, 1), (30, 66)])
def test_length_ratios(n, m):
    rng = random.Random(n * 1000 + m)
    hyp = [rng.randrange(30) for _ in range(n)]
    # The hypothesis inside the reference, where the beam may not see it.
    place = rng.randint(0, max(m - n, 0))
    inside = [99] * place + hyp[:m] + [99] * max(m - n - place, 0)
    pairs = [(hyp, [rng.randrange(4) for _ in range(m)]), (hyp, inside)]
    assert measure(pairs) == expected(pairs)


@pytest.mark.thorough
def test_memory_of_long_pairs():
    """Rows hold what the beam sees, not the whole matrix."""
    ref = random.Random(4).choices(range(1000), k=1500)
    other = (ref[:300] + ref[308:315] + ref[300:308] + ref[315:], ref)
    tracemalloc.start()
    edits = measure([([1, 2], list(range(2, 50_000))), other])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # What sacreBLEU says, in two seconds.
    assert edits == [49_998, 1]
    assert peak < 20e6


texts = st.text(st.sampled_from("abAB ab .,'s-&#39;İΣς\u0307\u00a0中文。\n"), max_size=30)


@given(
    st.lists(st.tuples(texts, st.lists(texts, min_size=1, max_size=4)), min_size=1, max_size=4),
    # Support of Asian scripts alone has no effect, and is refused.
    st.tuples(*[st.booleans()] * 4).filter(lambda chosen: any(chosen[:2]) or not chosen[2]),
)
@settings(max_examples=40)
def test_corpus_statistics(segments, options):
    hyps, refs = map(list, zip(*segments, strict=True))
    metric = es.TER(*options)
    expected = sacrebleu_statistics(metric, hyps, refs)
    assert metric.statistics(hyps, refs).tolist() == expected.tolist()


def test_references_are_tokenised_twice():
    """The normalisation of a reference runs twice, and is not idempotent."""
    metric, texts = es.TER(normalized=True), (["squire's , eine"], ["Squire's, eine"])
    assert metric.statistics(*texts)[0, 1] == sacrebleu_statistics(metric, *texts)[0, 1] == 4


@pytest.mark.parametrize("step", [300, pytest.param(50, marks=pytest.mark.thorough)])
@pytest.mark.parametrize("pair", ["en_de", "en_zh", "en_es"])
def test_real_system(request, pair, step):
    test_set = request.getfixturevalue(pair)
    hyps = next(iter(test_set.systems.values()))[::step]
    refs = test_set.references["A"][::step]
    for metric in (es.TER(), es.TER(normalized=True, no_punct=True, asian_support=pair == "en_zh")):
        expected = sacrebleu_statistics(metric, hyps, refs)
        assert metric.statistics(hyps, refs).tolist() == expected.tolist()
