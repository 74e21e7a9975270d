"""Batched TER against sacreBLEU: the same integers for every pair, distance by distance."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import lib_ter
from sacrebleu.metrics.lib_ter import BeamEditDistance, translation_edit_rate
from sacrebleu.metrics.ter import TER

import evalstats as es
from evalstats.text.equal_tokens import group_tokens
from evalstats.text.ragged import Index, Ragged, offsets_of
from evalstats.text.tercom import counts as tercom
from evalstats.text.tercom import shifts
from evalstats.text.tercom.beam import BEAM, NARROW, BitBeam, beam_is_idle
from evalstats.text.tercom.counts import translation_edits
from evalstats.text.tercom.widebeam import WideBeam

Pair = tuple[list[int], list[int]]
BEAMS = ["chosen", "sliding", "wide"]


def pack(sequences: Sequence[Sequence[int]]) -> Ragged:
    lengths = np.array([len(x) for x in sequences], dtype=np.int64)
    return Ragged(np.array([v for x in sequences for v in x], dtype=np.int64), offsets_of(lengths))


def measure(pairs: Sequence[Pair]) -> list[int]:
    edits: list[int] = translation_edits(
        pack([h for h, _ in pairs]), pack([r for _, r in pairs])
    ).tolist()
    return edits


def expected(pairs: Sequence[Pair]) -> list[int]:
    return [oracle(tuple(hyp), tuple(ref)) for hyp, ref in pairs]


@cache
def oracle(hyp: tuple[int, ...], ref: tuple[int, ...]) -> int:
    """Edits according to sacreBLEU; slow, and asked for every implementation of the beam."""
    return translation_edit_rate(words(hyp), words(ref))[0]


def words(numbers: Sequence[int]) -> list[str]:
    return [str(number) for number in numbers]


def shuffle_blocks(rng: random.Random, sequence: list[int], times: int) -> list[int]:
    for _ in range(times):
        a, b, c = sorted(rng.randint(0, len(sequence)) for _ in range(3))
        sequence = sequence[:a] + sequence[b:c] + sequence[a:b] + sequence[c:]
    return sequence


def random_pairs(seed: int, count: int, longest: int) -> list[Pair]:
    """Unrelated sequences, and references whose blocks were moved before they were edited."""
    rng = random.Random(seed)
    pairs = []
    for _ in range(count):
        size = rng.choice([1, 2, 3, 5, 8, 15, 30, 100])
        hyp = [rng.randrange(size) for _ in range(rng.randint(0, longest))]
        ref = [rng.randrange(size) for _ in range(rng.randint(0, longest))]
        if rng.random() < 0.6:
            ref = shuffle_blocks(rng, hyp, rng.randint(0, 4))
            for _ in range(rng.randint(0, 8)):
                place = rng.randint(0, len(ref))
                ref[place : place + rng.randint(0, 1)] = [rng.randrange(size)] * rng.randint(0, 1)
        pairs.append((hyp, ref))
    return pairs


def displaced_pairs(seed: int, count: int, longest: int) -> list[Pair]:
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


def use(monkeypatch: pytest.MonkeyPatch, beam: str) -> None:
    """Send every pair through one implementation of the beam, where it can."""
    if beam != "chosen":
        monkeypatch.setattr(tercom, "NARROW", 0)
    if beam == "wide":
        monkeypatch.setattr(tercom, "_LONGEST_IN_WORDS", 0)


tokens = st.lists(st.integers(0, 4), max_size=14)


@given(st.lists(st.tuples(tokens, tokens), max_size=6))
@settings(max_examples=300, deadline=None)
def test_equals_sacrebleu_on_small_pairs(pairs: list[Pair]) -> None:
    assert measure(pairs) == expected(pairs)


@pytest.mark.parametrize("beam", BEAMS)
@pytest.mark.parametrize("longest", [8, 30, 70])
def test_equals_sacrebleu(monkeypatch: pytest.MonkeyPatch, longest: int, beam: str) -> None:
    use(monkeypatch, beam)
    pairs = random_pairs(longest, 1200 // longest, longest)
    assert measure(pairs) == expected(pairs)


@pytest.mark.parametrize("beam", BEAMS)
def test_paths_along_the_edge_of_the_beam(monkeypatch: pytest.MonkeyPatch, beam: str) -> None:
    use(monkeypatch, beam)
    pairs = displaced_pairs(1, 30, 45)
    assert measure(pairs) == expected(pairs)


def test_limits_are_those_of_sacrebleu() -> None:
    ours = BEAM, shifts.MAX_SHIFT_SIZE, shifts.MAX_SHIFT_DISTANCE, shifts.MAX_CANDIDATES
    assert ours == (
        lib_ter._BEAM_WIDTH,
        lib_ter._MAX_SHIFT_SIZE,
        lib_ter._MAX_SHIFT_DIST,
        lib_ter._MAX_SHIFT_CANDIDATES,
    )


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("_MAX_SHIFT_SIZE", "MAX_SHIFT_SIZE"),
        ("_MAX_SHIFT_DIST", "MAX_SHIFT_DISTANCE"),
        ("_MAX_SHIFT_CANDIDATES", "MAX_CANDIDATES"),
    ],
)
def test_limits_bite_at_the_same_point(
    monkeypatch: pytest.MonkeyPatch, name: str, other: str
) -> None:
    pairs = random_pairs(8, 60, 20)
    results = set()
    for limit in range(1, 25):
        monkeypatch.setattr(lib_ter, name, limit)
        monkeypatch.setattr(shifts, other, limit)
        edits = [translation_edit_rate(words(h), words(r))[0] for h, r in pairs]
        assert measure(pairs) == edits
        results.add(tuple(edits))
    assert len(results) > 3


def test_ranking_of_shifts() -> None:
    # Columns: hypothesis, gain, length, start, target. The best of hypothesis 3 gains nothing.
    table = np.array(
        [
            [0, 1, 9, 0, 0],
            [0, 2, 1, 5, 5],
            [1, 2, 1, 0, 0],
            [1, 2, 2, 7, 3],
            [2, 1, 1, 4, 9],
            [2, 1, 1, 3, 9],
            [2, 1, 1, 3, 8],
            [3, 0, 5, 0, 0],
        ]
    )
    which, gain, length, start, target = table.T
    found = shifts.Candidates(which, start, length, target, np.zeros((8, 3), dtype=np.int64))
    assert tercom._best(found, gain).tolist() == [1, 3, 6]


def test_idle_beam_contains_every_optimal_path() -> None:
    """The proof of `beam_is_idle`, cell by cell.

    A path through cell (i, j) costs at least |j - i| + |(m - j) - (n - i)|; every cell where that
    is at most the distance must lie inside the beam.
    """
    for n in range(1, 130):
        i = np.arange(1, n + 1)
        for m in range(1, NARROW + 1):
            distance = 2 * BEAM + 9
            while not beam_is_idle(np.array([n]), np.array([m]), np.array([distance]))[0]:
                distance -= 1
            if distance < abs(n - m):
                continue
            line = np.floor(i * (m / n)).astype(int)
            low, high = np.maximum(line - BEAM, 0), np.minimum(line + BEAM, m + 1)
            high[-1] = m + 1
            lowest = np.maximum(i - (distance - (m - n)) // 2, 0)
            highest = np.minimum(i + (distance + (m - n)) // 2, m)
            assert (low <= lowest).all()
            assert (highest < high).all()


def test_long_pairs() -> None:
    # Three words of alphabet reach 1,000 candidates; hundreds of words are too far apart to shift.
    pairs = random_pairs(1, 5, 200)
    rng = random.Random(2)
    for size in (3, 2000):
        hyp = [rng.randrange(size) for _ in range(130)]
        pairs += [(hyp, hyp[60:] + hyp[:60]), (hyp, shuffle_blocks(rng, hyp, 3)), (hyp, hyp[::-1])]
    assert measure(pairs) == expected(pairs)


@pytest.mark.parametrize("beam", BEAMS)
@pytest.mark.parametrize(
    ("n", "m"),
    [(1, 49), (1, 50), (1, 51), (1, 63), (1, 64), (1, 120), (2, 100), (2, 101), (2, 130), (3, 151)]
    + [(5, 249), (5, 260), (7, 93), (20, 190), (60, 5), (120, 1), (90, 30), (30, 66), (49, 50)],
)
def test_length_ratios(monkeypatch: pytest.MonkeyPatch, n: int, m: int, beam: str) -> None:
    use(monkeypatch, beam)
    rng = random.Random(n * 1000 + m)
    pairs = []
    for size in (2, 4, 30):
        for _ in range(3):
            hyp = [rng.randrange(size) for _ in range(n)]
            pairs.append((hyp, [rng.randrange(size) for _ in range(m)]))
            # The hypothesis inside the reference, where the beam may not see it.
            place = rng.randint(0, max(m - n, 0))
            pairs.append((hyp, [99] * place + hyp[:m] + [99] * max(m - n - place, 0)))
    assert measure(pairs) == expected(pairs)


def test_empty_sides() -> None:
    pairs: list[Pair] = [([], []), ([1, 2], []), ([], [1, 2, 3]), ([1], [1])]
    assert measure(pairs) == expected(pairs) == [0, 2, 3, 0]
    assert measure([]) == []


def test_neighbours_do_not_matter() -> None:
    pairs = random_pairs(9, 40, 70)
    together = measure(pairs)
    assert together == [measure([pair])[0] for pair in pairs]


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = random_pairs(4, 30, 80)
    together = measure(pairs)
    monkeypatch.setattr(tercom, "_BLOCK_TOKENS", 300)
    monkeypatch.setattr(tercom, "_BLOCK_STEPS", 70)
    monkeypatch.setattr(shifts, "_MATCHES", 50)
    assert measure(pairs) == together


def test_inputs_are_not_changed() -> None:
    hyps, refs = (pack([pair[side] for pair in random_pairs(3, 50, 60)]) for side in (0, 1))
    arrays = (hyps.values, hyps.offsets, refs.values, refs.offsets)
    copies = [array.copy() for array in arrays]
    translation_edits(hyps, refs)
    for array, copy in zip(arrays, copies, strict=True):
        np.testing.assert_array_equal(array, copy)


@pytest.mark.parametrize("kind", ["narrow", "sliding", "wide"])
def test_rows_and_paths(kind: str) -> None:
    """Distances and preferred paths equal sacreBLEU's beam, before any shift."""
    rng = random.Random(7)
    pairs = [(h, r) for h, r in random_pairs(6, 300, 90) if h and r and len(r) <= 50 * len(h)]
    pairs += [([rng.randrange(3)] * k, [rng.randrange(3)] * 40 * k) for k in (1, 2, 3)]
    pairs += [(h, r) for h, r in displaced_pairs(2, 150, 60) if len(r) <= 50 * len(h)]
    hyps, refs = pack([h for h, _ in pairs]), pack([r for _, r in pairs])
    n, m = hyps.lengths, refs.lengths
    groups = group_tokens(hyps, refs)
    every = np.arange(len(pairs))
    seen = 0
    if kind == "wide":
        for i, (hyp, ref) in enumerate(pairs):
            wide = WideBeam(groups.ref[refs.offsets[i] : refs.offsets[i + 1]], len(hyp))
            one = Ragged(groups.hyp[hyps.offsets[i] : hyps.offsets[i + 1]], np.array([0, len(hyp)]))
            rows = wide.rows(one, every[:1])
            path = wide.path(rows, one, every[:1], every[:1])
            check_path(hyp, ref, int(rows.distance[0]), path.before, path.kept)
        return
    chosen = np.flatnonzero(m <= 63) if kind == "narrow" else every
    beam = BitBeam(groups, n, m, chosen, sliding=kind == "sliding")
    lengths = n[chosen]
    values = np.concatenate([groups.hyp[hyps.offsets[i] : hyps.offsets[i + 1]] for i in chosen])
    tokens = Ragged(values, offsets_of(lengths))
    bits = beam.rows(tokens, chosen)
    path = beam.path(bits, tokens, chosen, np.arange(len(chosen)))
    idle = beam_is_idle(lengths, m[chosen], bits.distance)
    for k, i in enumerate(chosen.tolist()):
        if kind == "narrow" and not idle[k]:
            continue
        seen += 1
        part = slice(tokens.offsets[k], tokens.offsets[k + 1])
        check_path(*pairs[i], int(bits.distance[k]), path.before[part], path.kept[part])
    assert seen > 100


def check_path(
    hyp: list[int], ref: list[int], distance: int, before: Index, kept: np.ndarray
) -> None:
    reference_distance, operations = BeamEditDistance(words(ref))(words(hyp))
    assert distance == reference_distance
    column = 0
    steps = []
    for operation in operations:
        if operation != "i":
            steps.append((column, operation == " "))
        column += operation != "d"
    assert list(zip(before.tolist(), kept.tolist(), strict=True)) == steps


def test_rows_of_the_cache_do_not_depend_on_the_past() -> None:
    """The premise: sacreBLEU's cache returns what it would compute without it."""
    rng = random.Random(3)
    for _ in range(60):
        size = rng.choice([2, 4, 20])
        ref = words([rng.randrange(size) for _ in range(rng.randint(1, 90))])
        hyp = [rng.randrange(size) for _ in range(rng.randint(1, 90))]
        cached = BeamEditDistance(ref)
        for _ in range(10):
            hyp = shuffle_blocks(rng, hyp, 1)
            assert cached(words(hyp)) == BeamEditDistance(ref)(words(hyp))


texts = st.text(st.sampled_from("abAB ab .,'s-&#39;\u00a0中文。\n"), max_size=30)


@given(
    st.lists(st.tuples(texts, st.lists(texts, min_size=1, max_size=4)), min_size=1, max_size=4),
    st.tuples(st.booleans(), st.booleans(), st.booleans(), st.booleans()),
)
@settings(max_examples=300, deadline=None)
def test_corpus_statistics(
    segments: list[tuple[str, list[str]]], options: tuple[bool, bool, bool, bool]
) -> None:
    names = ["normalized", "no_punct", "asian_support", "case_sensitive"]
    keywords: dict[str, Any] = dict(zip(names, options, strict=True))
    hyps, refs = [h for h, _ in segments], [r for _, r in segments]
    metric = TER(**keywords)
    streams: Any = [[r[i] if i < len(r) else None for r in refs] for i in range(4)]
    theirs = metric._extract_corpus_statistics(hyps, streams)
    assert es.TER(**keywords).statistics(hyps, refs).tolist() == theirs


def test_references_are_tokenised_twice() -> None:
    """The normalisation of a reference runs twice, and is not idempotent."""
    hyps, refs = ["squire's , eine"], ["Squire's, eine"]
    assert es.TER(normalized=True).statistics(hyps, refs)[0, 1] == 4
    assert TER(normalized=True)._extract_corpus_statistics(hyps, [refs])[0][1] == 4


def test_default_tokenizer_is_lower_and_split() -> None:
    """The premises of the fast paths: lower-casing is idempotent, makes no white space, and makes
    longer one character only; no space lies above the ideographic one."""
    for code in range(0x110000):
        lower = chr(code).lower()
        assert lower.lower() == lower
        assert any(c.isspace() for c in lower) == chr(code).isspace()
        assert len(lower) == (2 if code == 0x130 else 1)
        assert not chr(code).isspace() or code <= 0x3000


sentences = st.text(st.sampled_from("中文句子aAİiΣσ\u0307"), min_size=1, max_size=4)
lines = st.one_of(sentences, sentences, texts, st.lists(sentences, max_size=30).map(" ".join))


@given(st.lists(st.tuples(lines, st.lists(lines, min_size=1, max_size=3)), max_size=4))
@example([("İ", ["i\u0307", "I"])])
@example([("a", ["a " * 3 + "b " * 30])])
@settings(max_examples=300, deadline=None)
def test_sentences_of_one_word(segments: list[tuple[str, list[str]]]) -> None:
    """Most pairs are decided by the lengths of words; the filler makes them the majority."""
    filler = [("中文", ["句子。"])] * 12
    hyps = [h for h, _ in segments + filler]
    refs = [r for _, r in segments + filler]
    streams: Any = [[r[i] if i < len(r) else None for r in refs] for i in range(3)]
    for case_sensitive in (False, True):
        theirs = TER(case_sensitive=case_sensitive)._extract_corpus_statistics(hyps, streams)
        assert es.TER(case_sensitive=case_sensitive).statistics(hyps, refs).tolist() == theirs


SETTINGS = [
    ("en_de", {}),
    ("en_zh", {}),
    ("en_es", {}),
    ("en_de", {"normalized": True, "no_punct": True}),
    ("en_zh", {"normalized": True, "asian_support": True}),
]


@pytest.mark.parametrize(("pair", "options"), SETTINGS)
def test_real_system(request, pair: str, options: dict[str, Any]) -> None:
    test_set = request.getfixturevalue(pair)
    hyps = next(iter(test_set.systems.values()))[::25]
    refs = test_set.references["A"][::25]
    theirs = TER(**options)._extract_corpus_statistics(hyps, [refs])
    assert es.TER(**options).statistics(hyps, refs).tolist() == theirs


@pytest.mark.slow
@pytest.mark.parametrize(("pair", "options"), SETTINGS)
def test_all_systems(request, pair: str, options: dict[str, Any]) -> None:
    test_set = request.getfixturevalue(pair)
    for streams in ([list(refs)] for refs in test_set.references.values()):
        theirs, prepared = TER(references=streams, **options), es.References(streams[0])
        for hyps in test_set.systems.values():
            expected = theirs._extract_corpus_statistics(hyps, None)
            assert es.TER(**options).statistics(hyps, prepared).tolist() == expected
