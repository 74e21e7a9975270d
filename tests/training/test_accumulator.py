"""Accumulator: any split, any order, any rank gives the bits of one process."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from itertools import pairwise
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import evalstats as es
from tests.conftest import nasty_corpora
from tests.helpers import refuses

METRICS = [es.BLEU(), es.CHRF(word_order=2), es.TER(), es.WER(), es.BLEU(effective_order=True)]


def accumulated(metric, hypotheses, references, rows, ids):
    """Collect the given rows, one batch."""
    part = es.Accumulator(metric)
    part.update(
        [hypotheses[i] for i in rows],
        None if references is None else [references[i] for i in rows],
        [int(i) for i in rows] if ids else None,
    )
    return part


def same(a, b):
    """Whether two accumulators agree in every bit."""
    first, second = (x.estimate(n_resamples=20) for x in (a, b))
    assert (a.compute(), len(a)) == (b.compute(), len(b))
    assert a.compute() == first.score
    assert first.to_dict() == second.to_dict()
    assert np.array_equal(first.replicates, second.replicates)
    assert np.array_equal(a.statistics().values, b.statistics().values)
    assert a.statistics().cautions == b.statistics().cautions


@st.composite
def parts(draw, n, padded):
    """Split 0..n-1 into shuffled parts, some of them empty, some numbers twice where padded."""
    rows = draw(st.permutations(range(n)))
    rows = [*rows, *draw(st.lists(st.sampled_from(rows), max_size=3))] if padded else rows
    cuts = sorted(draw(st.lists(st.integers(0, len(rows)), max_size=4)))
    edges = [0, *cuts, len(rows)]
    return [rows[a:b] for a, b in pairwise(edges)]


@settings(max_examples=10)
@given(st.data(), nasty_corpora, st.sampled_from(METRICS), st.booleans())
def test_any_split_and_any_order_of_merging_gives_the_same_bits(data, corpus, metric, ids):
    hypotheses, references = (column * 2 for column in corpus)
    check_splits(data, metric, hypotheses, references, ids)


def check_splits(data, metric, hypotheses, references, ids):
    whole = accumulated(metric, hypotheses, references, range(len(hypotheses)), ids)
    split = data.draw(parts(len(hypotheses), padded=ids))
    pieces = [accumulated(metric, hypotheses, references, rows, ids) for rows in split]
    pieces = [pickle.loads(pickle.dumps(piece)) for piece in data.draw(st.permutations(pieces))]
    same(whole, reduce(es.Accumulator.merge, pieces))


@settings(max_examples=20)
@given(
    st.data(),
    st.lists(st.floats(-1e6, 1e6, allow_subnormal=False), min_size=2, max_size=20),
    st.booleans(),
)
def test_fractions_are_summed_exactly_too(data, scores, ids):
    check_splits(data, es.Mean("judge"), scores, None, ids)


@pytest.mark.parametrize("metric", ["bleu", "wer"])
def test_with_ids_it_is_estimate_on_the_whole_corpus(sample, metric):
    texts, references = sample.systems["baseline"], sample.references
    order = np.random.default_rng(0).permutation(len(texts))
    parts = [accumulated(metric, texts, references, rows, True) for rows in np.split(order, 8)]
    merged = reduce(es.Accumulator.merge, parts)
    expected = es.estimate(texts, references, metric, n_resamples=200)
    found = merged.estimate(n_resamples=200)
    assert merged.compute() == expected.score == found.score
    assert (found.low, found.high) == (expected.low, expected.high)
    # Without ids the rows come in another order, and the score is the same.
    assert accumulated(metric, texts, references, order, False).compute() == expected.score


def test_padding_counts_once_with_ids_and_twice_without():
    hypotheses, references = ["a b", "c"], ["a b", "d"]
    for ids, n in ((True, 2), (False, 3)):
        padded = accumulated("ter", hypotheses, references, [0, 1, 1], ids)
        assert len(padded) == n
        assert padded.compute() == pytest.approx(100 / 3 if ids else 50)


def test_of_two_outputs_of_an_id_one_is_kept_whatever_the_order():
    """Both orders of the same words have the same statistics, and one of them is a reference."""
    texts = [["b a"] * 12, ["a b"] * 12]
    parts = [accumulated("bleu", outputs, ["a c", "b c"] * 6, range(12), True) for outputs in texts]
    kept = [reduce(es.Accumulator.merge, (es.Accumulator("bleu"), *several))._collected()[2]
            for several in (parts, parts[::-1])]  # fmt: skip
    assert kept[0].tolist() == kept[1].tolist()


def test_names_are_ids():
    parts = [es.Accumulator("wer") for _ in range(2)]
    parts[0].update(["a"], ["b"], ids=["doc-1"])
    # NumPy's own strings would lose the NUL.
    parts[1].update(["a", "c c"], ["b", "c c"], ids=np.array(["doc-1", "doc-1\0"], dtype=object))
    assert pickle.loads(pickle.dumps(parts[0].merge(parts[1]))).ids == ["doc-1", "doc-1\0"]


def test_threads_lose_no_batch():
    part = es.Accumulator(es.Mean("m"))

    def work(first):
        for i in range(first, first + 50):
            part.update(np.full(5, float(i)), ids=range(5 * i, 5 * i + 5))
            len(part)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(0, 200, 50)))
    assert len(part) == 1000
    assert part.compute() == np.mean(np.arange(200))


def test_one_id_with_two_statistics_is_an_error():
    """What ranks do that number their segments from 0 each."""
    ranks = [es.Accumulator("wer") for _ in range(2)]
    for rank, texts in zip(ranks, (["a", "b"], ["c c", "d"]), strict=True):
        rank.update(texts, ["a", "b"], ids=[0, 1])
    refuses(
        r"id 0 was passed before with .* references; ids must be", ranks[0].merge(ranks[1]).compute
    )
    other = accumulated("wer", ["a", "b"], ["a", "c"], range(2), True)
    with pytest.raises(
        es.InputError, match="id 1 was passed before with different statistics or references"
    ):
        other.merge(accumulated("wer", ["a", "b"], ["a", "d"], range(2), True)).compute()


def test_it_says_of_texts_what_extract_says(sample):
    """Half of them empty, all the same, tokenised, in another script; good ones without a word."""
    references = [entry[0] for entry in sample.references]
    texts = sample.systems["baseline"]
    khmer = ["ថ្ងៃនេះអាកាសធាតុល្អណាស់", "យើងទៅសួនច្បារជាមួយគ្នា"] * 20
    cases = {
        "empty": (["", "\u200b"] * 15 + texts[30:], references),
        "alike": (["Error: rate limit"] * 480, references),
        "spaced": ([f"{text} ." for text in texts], references),
        "shifted": (["", *texts[:-1]], references),
        "unread": (khmer[::-1], khmer),
        "right": (["yes"] * 12, ["yes", "no"] * 6),
        "absent": (["yes"] * 12, [["no", "yes"], ["up", "down"]] * 6),
        "blank": (["", "a"] * 10, ["", "b"] * 10),
        "good": (texts, references),
    }
    for name, (outputs, gold) in cases.items():
        part = accumulated("bleu", outputs, gold, range(len(outputs)), True)
        (said,) = [part.statistics("A").cautions]
        expected = es.extract({"A": outputs}, gold, "bleu").cautions
        assert {x: [c.kind for c in several] for x, several in said.items()} == {
            x: [c.kind for c in several] for x, several in expected.items()
        }, name
        assert bool(said) == (name in ("empty", "alike", "shifted", "spaced", "unread"))


def test_what_is_said_of_scripts_is_the_same_for_any_split():
    """Of forty texts a few are kept, the same ones."""
    texts = [f"ថ្ងៃនេះ{'អាកាសធាតុល្អណាស់' * i}" for i in range(1, 41)]
    parts = [accumulated("bleu", texts, texts, rows, True) for rows in (range(25), range(25, 40))]
    whole = accumulated("bleu", texts, texts, range(40), True).statistics().cautions
    assert "letters on average" in whole[""][0]
    for pair in (parts, parts[::-1]):
        merged = reduce(es.Accumulator.merge, (es.Accumulator("bleu"), *pair))
        assert merged.statistics().cautions == whole


def test_a_pickle_is_small(sample):
    part = accumulated("bleu", sample.systems["copy"], sample.references, range(480), True)
    # One byte a count, two an id, ten for texts.
    assert len(pickle.dumps(part)) < 480 * (10 + 8 + 4) + 2000


def test_reset_and_empty():
    part = es.Accumulator("bleu")
    part.update([], [])
    part.update([], [], ids=[])
    assert len(part) == 0
    assert part.ids is None
    refuses("no segments yet; call update first", part.compute)
    part.update(["a"], ["a"])
    part.reset()
    assert len(part.merge(es.Accumulator("bleu"))) == 0
    assert "BLEU" in repr(part)


def test_a_bad_batch_changes_nothing():
    part = es.Accumulator("bleu")
    part.update(["a b c d"], ["a b c d"], ids=[3])
    cases = [
        ((["a"], ["a"]), "ids must be passed either for all segments or for none"),
        ((["a"], ["a"], ["x"]), "all integers or all strings; these do"),
        ((["a"], ["a"], [1, 2]), "ids has 2 entries but hypotheses has 1"),
        ((["a", "b"], ["a", "b"], [1, "2"]), "got int, str"),
        ((["a"], ["a"], [True]), "got bool"),
        ((["a"], ["a"], [2**70]), "fit into 64 bits"),
        ((["a"], ["a", "b"], [1]), "references"),
        (("a", ["a"], [1]), "bare str"),
    ]
    for arguments, message in cases:
        refuses(message, part.update, *arguments)
    refuses(r"the same metric, got BLEU.* and TER", part.merge, es.Accumulator("ter"))
    with pytest.raises(es.InputTypeError, match="must be an Accumulator, got list"):
        part.merge([])
    assert (len(part), part.compute()) == (1, pytest.approx(100))


def test_streams_in_square_batches_are_noticed(sample):
    """As many streams as segments: lengths cannot tell the layouts apart, texts can."""
    right, wrong = es.Accumulator("chrf"), es.Accumulator("chrf")
    pairs = list(zip(sample.systems["baseline"], sample.references, strict=True))[:24]
    batches = [tuple(zip(*pairs[i : i + 2], strict=True)) for i in range(0, len(pairs), 2)]

    def fill(part, layout):
        for texts, entries in batches:
            part.update(texts, layout(zip(*entries, strict=True)))

    fill(right, lambda streams: list(zip(*streams, strict=True)))
    with pytest.warns(UserWarning, match=r"look like sacreBLEU's layout.*from_streams") as seen:
        fill(wrong, list)
    assert {Path(warned.filename) for warned in seen} == {Path(__file__)}
    assert wrong.compute() < right.compute()
    # Whoever says what it is is not asked.
    fill(wrong, lambda streams: es.References(list(streams)))
