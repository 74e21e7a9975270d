"""Every token equals sacreBLEU's, character by character and line by line."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import CHRF
from sacrebleu.metrics.bleu import _get_tokenizer

from evalstats.text import tokenization
from evalstats.text.ids import learn_ids, look_up_ids
from evalstats.text.tokenization import CHRF_WORDS, UNICODE, string_of, whitespace_table
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


def token_lists(blocks):
    return [tokens for block in blocks for tokens in block.lists()]


def tokenized(texts, name, lowercase=False):
    return token_lists(tokenization.tokenize_blocks(texts, name, lowercase))


@pytest.mark.parametrize("name", TOKENIZERS)
@given(texts=TEXTS, lowercase=st.booleans())
@settings(max_examples=20)
def test_fuzzed_unicode(name, lowercase, texts):
    assert tokenized(texts, name, lowercase) == expected(texts, name, lowercase)


@pytest.mark.parametrize("longest", [4, pytest.param(5, marks=pytest.mark.thorough)])
@pytest.mark.parametrize("name", ["13a", "zh", "intl"])
def test_all_short_strings_over_one_character_of_each_class(name, longest):
    # Whatever a rule does depends on classes and neighbours: this is the proof by exhaustion.
    alphabet = CLASSES if name == "zh" else ("a", "1", ".", "-", " ", "$")
    texts = ["".join(t) for n in range(longest + 1) for t in itertools.product(alphabet, repeat=n)]
    assert tokenized(texts, name) == expected(texts, name)


@pytest.mark.parametrize("step", [256, pytest.param(1, marks=pytest.mark.thorough)])
@pytest.mark.parametrize("name", TOKENIZERS)
def test_code_points(name, step):
    # Between letters, beside a full stop and a digit, at the edges of a line.
    texts = []
    for start in range(0, UNICODE, 64 * step):
        block = [chr(c) for c in range(start, start + 64)]
        texts.append("".join(f"a{c}b{c}.1{c}2.{c}5.6" for c in block))
    for c in map(chr, range(0, 0x3100, step)):
        texts += [c, f"{c}.", f".{c}", f"{c}a", f"1{c}"]
    assert tokenized(texts, name) == expected(texts, name)


def test_whitespace_is_what_split_splits_at():
    spaces = np.flatnonzero(whitespace_table())
    assert not "".join(map(chr, spaces)).split()
    others = string_of(np.flatnonzero(~whitespace_table()).astype(np.int32))
    assert others.split() == [others]


@given(texts=TEXTS, lowercase=st.booleans(), whitespace=st.booleans())
@settings(max_examples=25)
def test_words_and_characters_of_chrf(texts, lowercase, whitespace):
    lowered = [t.lower() for t in texts] if lowercase else texts
    words = token_lists(tokenization.tokenize_blocks(texts, CHRF_WORDS, lowercase))
    assert words == list(map(CHRF()._remove_punctuation, lowered))
    lists = token_lists(tokenization.character_blocks(texts, lowercase, whitespace))
    assert lists == [list(t) if whitespace else list("".join(t.split())) for t in lowered]


@pytest.mark.parametrize("limit", [1, 2, 7, 100])
def test_blocks_change_nothing(monkeypatch, limit):
    texts = ["a.b c", "", "1.", "-1", "\n", "x" * 50, "", "ΟΔΟΣ", "Σ"]
    monkeypatch.setattr(tokenization, "BLOCK_CHARACTERS", limit)
    for name in TOKENIZERS:
        assert tokenized(texts, name, True) == expected(texts, name, True)


def test_other_tokenizers_are_called_line_by_line(monkeypatch):
    monkeypatch.setattr(tokenization, "_RULES", {})
    texts = ["a.b c ", "", "\n", "Hello, world!"]
    for name in ("13a", "intl", "zh"):
        assert tokenized(texts, name, True) == expected(texts, name, True)


@given(known=TEXTS, new=TEXTS)
@settings(max_examples=25)
def test_ids_are_equal_exactly_where_tokens_are(known, new):
    ids, vocabulary = learn_ids(tokenization.tokenize_blocks(known, "13a", True))
    found = look_up_ids(tokenization.tokenize_blocks(new, "13a", True), vocabulary)
    theirs, ours = expected(known, "13a", True), expected(new, "13a", True)
    assert ids.lengths.tolist() == list(map(len, theirs))
    assert found.lengths.tolist() == list(map(len, ours))
    of = dict(zip(itertools.chain.from_iterable(theirs), ids.values.tolist(), strict=True))
    assert sorted(of.values()) == list(range(1, len(of) + 1))
    unknown = len(of) + 1
    assert found.values.tolist() == [of.get(token, unknown) for tokens in ours for token in tokens]
