"""Texts and corpora that are hard on tokenisers and counters."""

from __future__ import annotations

import random

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
    "the", "cat", "Hello", "(hi)", "...", "--", "ΟΔΟΣ", "ΟΔΟΣ ", "K", "ﬁ", "e\u0301", "👩\u200d🚀",
    "مرحبا", "'s", "$5", "№5",
)  # fmt: skip
DENSE = ("a", "b", "a", "b", "c", " ")  # many matches and repetitions
CLASSES = ("a", "1", ".", ",", "-", " ", "!", "中")


def text(rng: random.Random, longest: int = 60) -> str:
    """Draw one text, often short, sometimes long."""
    pieces = rng.choice((PIECES, PIECES, DENSE, CLASSES))
    length = min(longest, rng.choice((0, 1, 2, 3, 5, 8, 13, 30, 60)))
    glue = rng.choice(("", "", " "))
    return glue.join(rng.choices(pieces, k=length))


def perturbed(rng: random.Random, line: str) -> str:
    """Draw a text that shares n-grams with ``line``."""
    cut = rng.randrange(len(line) + 1)
    return rng.choice(
        [
            line, text(rng), line[cut:] + line[:cut], line + rng.choice(PIECES) + line[:cut],
            line[:cut] + rng.choice(PIECES) + line[cut + 1 :],
        ]
    )  # fmt: skip


def corpus(
    rng: random.Random, segments: int = 20, longest: int = 60
) -> tuple[list[str], list[list[str | None]]]:
    """Draw hypotheses and one to four references for each, `None` for an absent one."""
    n = min(segments, rng.choice((1, 1, 2, 3, 5, 9, 20)))
    most = rng.choice((1, 1, 2, 3, 4))
    hypotheses = [text(rng, longest) for _ in range(n)]
    references: list[list[str | None]] = [
        [perturbed(rng, line)[: 2 * longest] for _ in range(rng.randint(1, most))]
        for line in hypotheses
    ]
    if rng.random() < 0.3:
        references[0].insert(0, None)
    return hypotheses, references
