"""Every token equals sacreBLEU's, character by character and line by line."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import CHRF
from sacrebleu.metrics.bleu import _get_tokenizer

from evalstats.text import characters, tokenization
from evalstats.text.characters import UNICODE, code_points, string_of, whitespace_table
from evalstats.text.ids import learn_ids, learn_words, look_up_ids, look_up_words
from tests.fuzz import CLASSES, PIECES, TOKENIZERS

# st.text() leaves lone surrogates out.
TEXTS = st.lists(
    st.one_of(
        st.text(st.characters(exclude_categories=())),
        st.lists(st.sampled_from(PIECES)).map("".join),
        st.text("a1.,- !"),
    ),
    max_size=8,
)


def expected(texts, name, lowercase=False):
    # Not the cached call: the corpus of all code points would fill the caches.
    tokenizer = _get_tokenizer(name)()
    return [tokenizer((t.lower() if lowercase else t).rstrip()).split() for t in texts]


def chrf_words(texts, lowercase=False):
    blocks = tokenization.chrf_word_blocks(texts, lowercase)
    return [words for block in blocks for words in block.lists()]


@pytest.mark.parametrize("lowercase", [False, True])
@pytest.mark.parametrize("name", TOKENIZERS)
@given(texts=TEXTS)
@settings(max_examples=100)
def test_fuzzed_unicode(name, lowercase, texts):
    actual = tokenization.tokenize_corpus(texts, name, lowercase).lists()
    assert actual == expected(texts, name, lowercase)


@pytest.mark.parametrize("name", ["13a", "zh", "intl"])
def test_all_short_strings_over_one_character_of_each_class(name):
    # Whatever a rule does depends on classes and neighbours: this is the proof by exhaustion.
    alphabet = CLASSES if name == "zh" else ("a", "1", ".", "-", " ", "$")
    texts = ["".join(t) for n in range(6) for t in itertools.product(alphabet, repeat=n)]
    assert tokenization.tokenize_corpus(texts, name, False).lists() == expected(texts, name)


@pytest.mark.parametrize("name", ["13a", "zh", "intl"])
def test_long_runs_of_punctuation(name):
    runs = ["".join(run) for n in range(1, 8) for run in itertools.product(".,", repeat=n)]
    texts = [c + run + d for run in runs for c in ("", "a", "1", " ") for d in ("", "a", "1", " ")]
    assert tokenization.tokenize_corpus(texts, name, False).lists() == expected(texts, name)


@pytest.mark.parametrize("name", TOKENIZERS)
def test_every_code_point(name):
    # Between letters, after and before a full stop and a digit, at the edges of a line.
    texts = []
    for start in range(0, UNICODE, 64):
        block = [chr(c) for c in range(start, start + 64)]
        texts.append("".join(f"a{c}b{c}.1{c}2.{c}5.6" for c in block))
    for c in map(chr, range(0x3100)):
        texts += [c, f"{c}.", f".{c}", f"{c}a", f"1{c}"]
    assert tokenization.tokenize_corpus(texts, name, False).lists() == expected(texts, name)


def test_whitespace_is_what_split_splits_at():
    table = whitespace_table()
    assert all(table[code] == (not chr(code).split()) for code in range(UNICODE))


@pytest.mark.parametrize("pair", ["en_de", "en_zh", "en_es"])
def test_real_data(request, pair):
    test_set = request.getfixturevalue(pair)
    for texts in (*test_set.references.values(), *test_set.systems.values()):
        some = texts[::15]
        for name in TOKENIZERS:
            assert tokenization.tokenize_corpus(some, name, False).lists() == expected(some, name)
        assert chrf_words(some) == list(map(CHRF()._remove_punctuation, some))


@given(texts=TEXTS, lowercase=st.booleans())
@settings(max_examples=200)
def test_chrf_words(texts, lowercase):
    lowered = [t.lower() for t in texts] if lowercase else texts
    assert chrf_words(texts, lowercase) == list(map(CHRF()._remove_punctuation, lowered))


@given(texts=TEXTS, lowercase=st.booleans(), whitespace=st.booleans())
@settings(max_examples=100)
def test_characters(texts, lowercase, whitespace):
    ragged = characters.characters(texts, lowercase=lowercase, whitespace=whitespace)
    lowered = [t.lower() for t in texts] if lowercase else texts
    kept = lowered if whitespace else ["".join(t.split()) for t in lowered]
    assert [string_of(ragged.rows(i, i + 1).values) for i in range(len(texts))] == kept


def test_code_points_invert():
    text = "".join(map(chr, range(UNICODE)))
    assert np.array_equal(code_points(text), np.arange(UNICODE))
    assert string_of(code_points(text)) == text


@pytest.mark.parametrize("limit", [1, 2, 7, 100])
def test_blocks_change_nothing(monkeypatch, limit):
    texts = ["a.b c", "", "1.", "-1", "\n", "x" * 50, "", "ΟΔΟΣ", "Σ"]
    monkeypatch.setattr(characters, "BLOCK_CHARACTERS", limit)
    for name in TOKENIZERS:
        actual = tokenization.tokenize_corpus(texts, name, True).lists()
        assert actual == expected(texts, name, True)
    assert characters.characters(texts).lengths.tolist() == [4, 0, 2, 2, 0, 50, 0, 4, 1]


def test_other_tokenizers_are_called_line_by_line(monkeypatch):
    monkeypatch.setattr(tokenization, "_RULES", {})
    texts = ["a.b c ", "", "\n", "Hello, world!"]
    for name in ("13a", "intl", "zh"):
        assert tokenization.tokenize_corpus(texts, name, True).lists() == expected(
            texts, name, True
        )


@given(known=TEXTS, new=TEXTS)
@settings(max_examples=200)
def test_ids_are_equal_exactly_where_words_are(known, new):
    def tokens(texts):
        return tokenization.tokenize_corpus(texts, "13a", False)

    ids, vocabulary = learn_ids([tokens(known)])
    before = dict(vocabulary)
    found = look_up_ids([tokens(new)], vocabulary)
    assert vocabulary == before
    words = list(itertools.chain.from_iterable(tokens(known).lists()))
    of = dict(zip(words, ids.values.tolist(), strict=True))
    assert len(set(of.values())) == len(of)
    for word, number in zip(
        itertools.chain.from_iterable(tokens(new).lists()), found.values.tolist(), strict=True
    ):
        assert of.get(word) == number or (word not in of and number not in of.values())


@given(known=TEXTS, new=TEXTS, lowercase=st.booleans())
def test_words_between_whitespace(known, new, lowercase):
    ids, vocabulary = learn_words(known, lowercase)
    found = look_up_words(new, lowercase, vocabulary)
    split = [[(t.lower() if lowercase else t).split() for t in texts] for texts in (known, new)]
    words = dict(zip(itertools.chain.from_iterable(split[0]), ids.values.tolist(), strict=True))
    assert ids.lengths.tolist() == list(map(len, split[0]))
    assert found.lengths.tolist() == list(map(len, split[1]))
    assert len(set(words.values())) == len(words)
    for word, number in zip(
        itertools.chain.from_iterable(split[1]), found.values.tolist(), strict=True
    ):
        assert words.get(word) == number or (word not in words and number not in words.values())


def test_words_that_look_like_the_mark_between_texts():
    ids, vocabulary = learn_words(["\0 \0\0", "", "a\0"], False)
    assert ids.lengths.tolist() == [2, 0, 1]
    assert set(ids.values.tolist()) == {1, 2, 3}
    # Three NULs are the mark then; in a hypothesis they are an unknown word.
    found = look_up_words(["\0\0\0 \0\0", "\0 a\0"], False, vocabulary)
    assert found.lengths.tolist() == [2, 2]
    assert found.values.tolist()[1:] == [2, 1, 3]
    assert found.values[0] not in ids.values


def test_final_sigma_does_not_look_across_texts():
    texts = ["ΟΔΟΣ", "Σ", "ΟΣ Α", "Σ"]
    _, vocabulary = learn_words(texts, True)
    assert set(vocabulary) - {"\0"} == {w for t in texts for w in t.lower().split()}
