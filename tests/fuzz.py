"""Corpora that are hard on tokenisers and counters, and the comparison with sacreBLEU.

`python -m tests.fuzz 10000 [seed]` compares that many random corpora under random options.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence

import numpy as np
from sacrebleu.metrics import BLEU, CHRF

import evalstats as es
from evalstats.text import characters, ngram_index, ngrams
from tests.naive import streams

TOKENIZERS = ("13a", "zh", "char", "none", "intl")

# Everything that a tokeniser, `str.split`, `str.lower` or the separators could treat specially.
PIECES = (
    *"aAbBcC xyzÄßİıΣσς012345.,-",
    *"  ..,,--11",
    *"!\"#$%&'()*+/:;<=>?@[\\]^_`{|}~",
    *"\n\r\t\v\f\0\x1c\x1d\x1e\x1f\x7f\x85\xa0\xad",
    *"\u2028\u2029\u200b\u200a\u2007\u202f\u205f\u3000\u180e\ufeff\u1680\u200d",
    *"。,、「」0123·…–—“”’€£¥→★☀✂½²Ⅷ٣٫٬़",
    *"中文字符漢\u20000\u2a6d6\u2f80\u2fa1\u2010\u2001\u2a6d\u2a6e\u3400\u4db5\u4db6豈",
    *"😀🎉👩\ud800\udfff\udc00\ud83d\ude00\U00020000\U0010ffff",
    "<skipped>", "&lt;skipped&gt;", "-\n", "- \n", "-\n\n", "&quot;", "&amp;", "&lt;", "&gt;",
    "&amp;quot;", "&amp;lt;", "&AMP;", "&", "&;", "1.5", "1,000.5", "1..5", "1...5", "a..5", "5.-1",
    "the", "cat", "Hello", "(hi)", "...", "--", "ΟΔΟΣ", "ΟΔΟΣ ", "K", "ﬁ",
)  # fmt: skip
DENSE = ("a", "b", "a", "b", "c", " ")  # many matches and repetitions
CLASSES = ("a", "1", ".", ",", "-", " ", "!", "中")


def text(rng: random.Random) -> str:
    """Draw one text, often short, sometimes long."""
    pieces = rng.choice((PIECES, PIECES, DENSE, CLASSES))
    length = rng.choice((0, 1, 2, 3, 5, 8, 13, 30, 60))
    glue = rng.choice(("", "", " "))
    return glue.join(rng.choices(pieces, k=length))


def perturbed(rng: random.Random, line: str) -> str:
    """Draw a text that shares n-grams with ``line``."""
    kind = rng.randrange(6)
    if kind == 0:
        return line
    if kind == 1:
        return text(rng)
    cut = rng.randrange(len(line) + 1)
    if kind == 2:
        return line[cut:] + line[:cut]
    if kind == 3:
        return line + rng.choice(PIECES) + line[:cut]
    return line[:cut] + rng.choice(PIECES) + line[cut + 1 :]


def corpus(rng: random.Random) -> tuple[list[str], list[list[str]]]:
    """Draw hypotheses and one to four references for each."""
    segments = rng.choice((1, 1, 2, 3, 5, 9, 20))
    most = rng.choice((1, 1, 2, 3, 4))
    hypotheses = [text(rng) for _ in range(segments)]
    references = [
        [perturbed(rng, line) for _ in range(rng.randint(1, most))] for line in hypotheses
    ]
    return hypotheses, references


def check_bleu(
    hypotheses: Sequence[str], references: Sequence[Sequence[str]], **options: object
) -> None:
    """Compare BLEU statistics; options are ``tokenize``, ``lowercase``, ``max_ngram_order``."""
    metric = BLEU(**options)
    expected = metric._extract_corpus_statistics(hypotheses, streams(references))
    actual = es.BLEU(**options).statistics(hypotheses, references)
    np.testing.assert_array_equal(actual, expected)


def check_chrf(
    hypotheses: Sequence[str], references: Sequence[Sequence[str]], **options: object
) -> None:
    """Compare chrF statistics, and segment scores to the last bit."""
    metric, ours = CHRF(**options), es.CHRF(**options)
    expected = metric._extract_corpus_statistics(hypotheses, streams(references))
    actual = ours.statistics(hypotheses, references)
    np.testing.assert_array_equal(actual, expected)
    assert ours.score(actual).tolist() == [metric._compute_f_score(row) for row in expected]


def bleu_options(rng: random.Random) -> dict[str, object]:
    """Draw options of BLEU."""
    return {
        "tokenize": rng.choice(TOKENIZERS),
        "lowercase": rng.random() < 0.3,
        "max_ngram_order": rng.choice((4, 4, 1, 2, 3, 5, 6, 7, 8, 9)),
    }


def chrf_options(rng: random.Random) -> dict[str, object]:
    """Draw options of chrF."""
    char_order, word_order = rng.choice((6, 6, 0, 1, 2, 3, 8, 10)), rng.choice((0, 2, 1, 3, 4))
    return {
        "char_order": char_order if word_order else max(char_order, 1),
        "word_order": word_order,
        "lowercase": rng.random() < 0.3,
        "whitespace": rng.random() < 0.3,
        "beta": rng.choice((2, 2, 1, 3, 0.5, 1.7, 1e6, 10**9)),
        "eps_smoothing": rng.random() < 0.3,
    }


BOUNDS = (
    (characters, "BLOCK_CHARACTERS"),
    (characters, "BLOCK_TEXTS"),
    (ngrams, "CHUNK_TOKENS"),
    (ngrams, "CHUNK_SEGMENTS"),
    (ngrams, "HYPOTHESIS_TOKENS"),
    (ngrams, "KEPT_BYTES"),
)


def set_bounds(rng: random.Random) -> None:
    """Draw tiny memory bounds, and few bits for a key, so that every split happens."""
    for module, name in BOUNDS:
        setattr(module, name, rng.choice((1, 3, 10, 50, 1 << 20)))
    ngram_index.WORD = rng.choice((64, 64, 48, 32))


def check_corpus(rng: random.Random, bounds: bool = False) -> None:
    """Compare one random corpus under random options, and on request random memory bounds."""
    if bounds:
        set_bounds(rng)
    hypotheses, references = corpus(rng)
    bleu, chrf = bleu_options(rng), chrf_options(rng)
    try:
        check_bleu(hypotheses, references, **bleu)
        check_chrf(hypotheses, references, **chrf)
    except Exception:
        print(f"{bleu} {chrf}\n{hypotheses!r}\n{references!r}")
        raise


def main(corpora: int, seed: int = 0) -> None:
    """Compare random corpora; stop at the first difference."""
    for number in range(corpora):
        check_corpus(random.Random(f"{seed}/{number}"), bounds=True)
    print(f"{corpora} corpora, seed {seed}: identical")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
